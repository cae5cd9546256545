(** Lists of vertices (FORMAT.md, section 5.3; docs/theory/vertices.md): every point of the domain
    lies in the closure of a region around a listed vertex, if all zeros of each vertex are
    independent.

    The proof differs from the page: paths of vertices are not needed. Take a region around a listed
    vertex and a point x in its closure. Among the listed vertices of this closure, take one where
    the sum of the distances from the forms that are 0 at x is least. If it is not 0, some edge of
    the region leads to smaller values of this sum, and the edge ends at another listed vertex; so
    it is 0, and the vertex lies in the closure of the cell of x. Therefore all regions at x are
    around a listed vertex, and so are those at points of cells whose closure contains x. A segment
    from a vertex to any point of the domain goes through finitely many cells, and of two cells that
    follow one another one lies in the closure of the other. *)
Require Import ZArith Reals List Bool Lra Lia.
From PolyreluVerified Require Import Networks Numbers RegionLists.
Import ListNotations.
Open Scope R_scope.

Lemma sign_cases z : (0 < z /\ sign_of z = 1%Z) \/ (z < 0 /\ sign_of z = (-1)%Z) \/
  (z = 0 /\ sign_of z = 0%Z).
Proof.
  unfold sign_of. destruct (Rlt_dec 0 z); [auto|]. destruct (Rlt_dec z 0); [auto|]. right. right.
  split; [lra|auto].
Qed.

Section Lists.
(** Forms, points, and the values of the forms at the points. [kept s] are the affine functions that
    the forms are if exactly the neurons with sign 1 are on. *)
Variables (form point : Type) (forms : list form) (inequality : form -> Prop).
Variables (value : form -> point -> R) (kept : (form -> Z) -> form -> point -> R).
Hypothesis all_forms : forall i, In i forms \/ forall x, value i x = 0.
Hypothesis no_form_twice : NoDup forms.

Definition sg (x : point) (i : form) : Z := sign_of (value i x).
Definition face (e s : form -> Z) : Prop := forall i, e i = 0%Z \/ e i = s i.

Definition inside (x : point) : Prop := forall i, inequality i -> 0 <= value i x.

(** The signs of a region: none is 0, and the inequalities hold. *)
Definition full (s : form -> Z) : Prop :=
  forall i, (s i = 1 \/ s i = -1)%Z /\ (inequality i -> s i = 1%Z).

(** A way in the domain from point to point: the signs of a point and of the next one are those of
    a point between them, or 0. *)
Inductive way : point -> point -> Prop :=
| stay x : way x x
| go x m y z : inside m -> inside y -> face (sg x) (sg m) -> face (sg y) (sg m) -> way y z ->
    way x z.

Hypothesis connected : forall x y, inside x -> inside y -> way x y.

(** ** What the check of a list finds out *)

Variable vertices : list point.
Definition zeros (v : point) : list form :=
  filter (fun i => (sg v i =? 0)%Z) forms.
Definition total {A} (f : A -> R) (l : list A) : R := fold_right (fun a r => f a + r) 0 l.

(** [slope b i] is the slope of form i along the edge of the region [s] on which the zero b of [v]
    is not 0, at the speed at which b moves by 1. The zeros are coordinates. *)
Definition slopes_at (v : point) (s : form -> Z) (slope : form -> form -> R) : Prop :=
  forall i y, kept s i y - kept s i v =
    total (fun b => IZR (s b) * kept s b y * slope b i) (zeros v).

(** The edge ends at the listed vertex [v']. *)
Definition ends_at (v : point) (s : form -> Z) (b : form) (v' : point) : Prop :=
  In v' vertices /\ face (sg v') s /\ sg v' b = s b /\
  forall i, In i (zeros v) -> i <> b -> sg v' i = 0%Z.

(** The edge is a ray. *)
Definition is_ray (s : form -> Z) (b : form) (slope : form -> form -> R) : Prop :=
  forall i, 0 <= IZR (s i) * slope b i.

Definition kept_right (s : form -> Z) : Prop :=
  forall x, face (sg x) s -> forall i, value i x = kept s i x.

Definition edges_end (v : point) : Prop :=
  forall s, full s -> face (sg v) s -> kept_right s /\ exists slope, slopes_at v s slope /\
    forall b, In b (zeros v) -> is_ray s b slope \/ exists v', ends_at v s b v'.

Hypothesis checked : forall v, In v vertices -> inside v /\ edges_end v.
Hypothesis one_vertex : vertices <> [].

(** ** Sums *)

Lemma total_nonneg {A} (f : A -> R) l : (forall a, In a l -> 0 <= f a) -> 0 <= total f l.
Proof.
  induction l as [|a l IH]; intro H; simpl; [lra|].
  pose proof (H a (or_introl eq_refl)). assert (0 <= total f l) by (apply IH; firstorder). lra.
Qed.

Lemma total_zero {A} (f : A -> R) l : (forall a, In a l -> 0 <= f a) -> total f l = 0 ->
  forall a, In a l -> f a = 0.
Proof.
  induction l as [|b l IH]; simpl; intros H T a J; [tauto|]. destruct J as [<-|I].
  - pose proof (H b (or_introl eq_refl)).
    assert (0 <= total f l) by (apply total_nonneg; auto). lra.
  - pose proof (H b (or_introl eq_refl)).
    assert (0 <= total f l) by (apply total_nonneg; auto). apply IH; auto. lra.
Qed.

Lemma total_neg {A} (f : A -> R) l : total f l < 0 -> exists a, In a l /\ f a < 0.
Proof.
  induction l as [|b l IH]; simpl; intro T; [lra|].
  destruct (Rlt_dec (f b) 0); [exists b; auto|].
  destruct IH as (a & I & F); [lra|]. exists a; auto.
Qed.

Lemma total_ext {A} (f g : A -> R) l : (forall a, In a l -> f a = g a) -> total f l = total g l.
Proof.
  induction l as [|b l IH]; simpl; intro H; auto. rewrite (H b), IH; auto.
Qed.

Lemma total_plus {A} (f g : A -> R) l : total (fun a => f a + g a) l = total f l + total g l.
Proof. induction l as [|b l IH]; simpl; [ring|]. rewrite IH. ring. Qed.

Lemma total_times {A} c (f : A -> R) l : total (fun a => c * f a) l = c * total f l.
Proof. induction l as [|b l IH]; simpl; [ring|]. rewrite IH. ring. Qed.

Lemma total_swap {A B} (f : A -> B -> R) l m :
  total (fun a => total (f a) m) l = total (fun b => total (fun a => f a b) l) m.
Proof.
  induction l as [|a l IH]; simpl.
  - induction m as [|b m IHm]; simpl; auto. rewrite <- IHm. ring.
  - rewrite IH, <- total_plus. auto.
Qed.

Lemma total_one {A} (f : A -> R) l b : NoDup l -> In b l ->
  (forall a, In a l -> a <> b -> f a = 0) -> total f l = f b.
Proof.
  induction l as [|c l IH]; simpl; intros N I H; [tauto|]. inversion N; subst.
  destruct I as [->|I].
  - rewrite (total_ext f (fun _ => 0 * 0) l).
    + rewrite total_times. ring.
    + intros a J. rewrite H; [ring|auto|]. intros ->. tauto.
  - rewrite IH; auto. rewrite (H c); [ring|auto|]. intros ->. tauto.
Qed.

(** ** The least vertex of a closure *)

Lemma least (f : point -> R) (P : point -> Prop) l : (forall v, P v \/ ~ P v) ->
  (forall v, In v l -> ~ P v) \/
  exists v, In v l /\ P v /\ forall u, In u l -> P u -> f v <= f u.
Proof.
  intro D. induction l as [|a l IH]; [left; intros v []|].
  destruct (D a) as [Pa|Na], IH as [N|(v & I & Q & M)].
  - right. exists a. split; [left; auto|]. split; auto. intros u [<-|J] U; [lra|].
    destruct (N u J U).
  - right. destruct (Rle_lt_dec (f a) (f v)) as [L|L].
    + exists a. split; [left; auto|]. split; auto. intros u [<-|J] U; [lra|].
      pose proof (M u J U). lra.
    + exists v. split; [right; auto|]. split; auto. intros u [<-|J] U; [lra|auto].
  - left. intros v [<-|J]; auto.
  - right. exists v. split; [right; auto|]. split; auto. intros u [<-|J] U; [tauto|auto].
Qed.

Lemma no_form i x : (forall x, value i x = 0) -> sg x i = 0%Z.
Proof.
  intro H. unfold sg. rewrite H. destruct (sign_cases 0) as [[V S]|[[V S]|[V S]]]; auto; lra.
Qed.

Lemma face_dec x s : face (sg x) s \/ ~ face (sg x) s.
Proof.
  set (e := sg x).
  assert (Forall (fun i => e i = 0%Z \/ e i = s i) forms \/
    ~ Forall (fun i => e i = 0%Z \/ e i = s i) forms) as [F|F].
  { destruct (Forall_dec (fun i => e i = 0%Z \/ e i = s i)
      (fun i => ltac:(destruct (Z.eq_dec (e i) 0); [left; auto|];
        destruct (Z.eq_dec (e i) (s i)); [left; auto|right; tauto])) forms); auto. }
  - left. intro i. rewrite Forall_forall in F. destruct (all_forms i); [auto|].
    left. apply no_form. auto.
  - right. intro G. apply F, Forall_forall. intros i _. apply G.
Qed.

Lemma in_zeros v i : In i (zeros v) -> sg v i = 0%Z.
Proof. unfold zeros. rewrite filter_In, Z.eqb_eq. tauto. Qed.

Lemma zero_in v i : In i forms -> sg v i = 0%Z -> In i (zeros v).
Proof. unfold zeros. rewrite filter_In, Z.eqb_eq. tauto. Qed.

Lemma zeros_nodup v : NoDup (zeros v).
Proof. apply NoDup_filter. auto. Qed.

Lemma adjusted s x i : kept_right s -> full s -> face (sg x) s -> 0 <= IZR (s i) * kept s i x.
Proof.
  intros K F C. rewrite <- (K x C). destruct (C i) as [E|E]; unfold sg in E;
    destruct (sign_cases (value i x)) as [[V S]|[[V S]|[V S]]]; rewrite S in E;
    try discriminate; try (rewrite <- E); try rewrite V; lra.
Qed.

Lemma adjusted_zero s x i : kept_right s -> full s -> face (sg x) s -> IZR (s i) * kept s i x = 0 ->
  sg x i = 0%Z.
Proof.
  intros K F C E. rewrite <- (K x C) in E. unfold sg.
  destruct (sign_cases (value i x)) as [[V S]|[[V S]|[V S]]]; auto; exfalso;
    destruct (proj1 (F i)) as [G|G]; rewrite G in E; lra.
Qed.

Lemma zero_kept s x i : kept_right s -> face (sg x) s -> sg x i = 0%Z -> kept s i x = 0.
Proof.
  intros K C E. rewrite <- (K x C). unfold sg in E.
  destruct (sign_cases (value i x)) as [[V S]|[[V S]|[V S]]]; rewrite S in E; congruence.
Qed.

(** The face of [x] in the closure of a region around a listed vertex has a listed vertex. *)
Lemma vertex_of_face s x v0 : full s -> In v0 vertices -> face (sg v0) s -> face (sg x) s ->
  exists v, In v vertices /\ face (sg v) (sg x).
Proof.
  intros F I0 C0 C. destruct (proj2 (checked v0 I0) s F C0) as [K _]. set (tight := zeros x).
  set (l := fun y => total (fun i => IZR (s i) * kept s i y) tight).
  destruct (least l (fun v => face (sg v) s) vertices) as [N|(v & I & Cv & M)].
  { intro v. apply face_dec. }
  { destruct (N v0 I0 C0). }
  exists v. split; auto.
  assert (0 <= l v) as L0 by (apply total_nonneg; intros; apply adjusted; auto).
  assert (l v = 0) as L1.
  2:{ intro i. destruct (all_forms i) as [J|J]; [|left; apply no_form; auto].
      destruct (Z.eq_dec (sg x i) 0) as [E|E].
      - left. apply adjusted_zero with s; auto.
        apply (total_zero (fun i => IZR (s i) * kept s i v) tight); auto.
        + intros; apply adjusted; auto.
        + apply zero_in; auto.
      - destruct (C i) as [E'|E']; [tauto|]. rewrite E'. apply Cv. }
  destruct (Rle_lt_or_eq_dec _ _ L0) as [L|]; auto. exfalso.
  destruct (proj2 (checked v I) s F Cv) as (_ & slope & S & Ed).
  set (along b := total (fun i => IZR (s i) * slope b i) tight).
  assert (forall y, l y - l v =
    total (fun b => IZR (s b) * kept s b y * along b) (zeros v)) as Sum.
  { intro y. unfold l, along.
    replace (total (fun i => IZR (s i) * kept s i y) tight -
             total (fun i => IZR (s i) * kept s i v) tight)
      with (total (fun i => IZR (s i) * (kept s i y - kept s i v)) tight).
    2:{ clear. induction tight as [|i m IH]; simpl; [ring|]. rewrite IH. ring. }
    rewrite (total_ext _ (fun i => total (fun b =>
      IZR (s b) * kept s b y * (IZR (s i) * slope b i)) (zeros v)) tight).
    2:{ intros i _. rewrite S, <- total_times. apply total_ext. intros; ring. }
    rewrite total_swap. apply total_ext. intros b _. apply total_times. }
  assert (l x = 0) as Lx.
  { unfold l. rewrite (total_ext _ (fun _ => 0 * 0)), total_times; [ring|].
    intros i J. apply in_zeros in J. rewrite (zero_kept s x i); auto. ring. }
  destruct (total_neg (fun b => IZR (s b) * kept s b x * along b) (zeros v)) as (b & Ib & Nb).
  { rewrite <- Sum. lra. }
  pose proof (adjusted s x b K F C) as Ab.
  assert (along b < 0) as Down by nra.
  destruct (Ed b Ib) as [Ray|(u & Iu & Cu & Eb & Z)].
  - assert (0 <= along b) by (apply total_nonneg; intros; apply Ray). lra.
  - pose proof (M u Iu Cu) as Mu. pose proof (Sum u) as Su.
    rewrite (total_one _ _ b) in Su; [|apply zeros_nodup|auto|].
    2:{ intros a Ja Na. rewrite (zero_kept s u a); auto. ring. }
    pose proof (adjusted s u b K F Cu) as Au.
    assert (IZR (s b) * kept s b u <> 0) as Nz.
    { intro E. apply adjusted_zero in E; auto. rewrite Eb in E.
      destruct (proj1 (F b)) as [G|G]; rewrite G in E; discriminate. }
    nra.
Qed.

(** ** All points of the domain *)

(** [x] is in the closure of a region around a listed vertex. *)
Definition found (x : point) : Prop :=
  inside x /\ exists v, In v vertices /\ forall i, 0 <= value i v * value i x.

(** The region of a found point, with the sign 1 for the forms that are 0 at both points. *)
Definition region_of (v x : point) (i : form) : Z :=
  if Z.eq_dec (sg v i) 0 then if Z.eq_dec (sg x i) 0 then 1%Z else sg x i else sg v i.

Lemma region_of_ok v x : inside v -> inside x -> (forall i, 0 <= value i v * value i x) ->
  full (region_of v x) /\ face (sg v) (region_of v x) /\ face (sg x) (region_of v x).
Proof.
  intros Dv Dx H. assert (forall i, ((region_of v x i = 1 \/ region_of v x i = -1)%Z /\
    (inequality i -> region_of v x i = 1%Z)) /\ (sg v i = 0%Z \/ sg v i = region_of v x i) /\
    (sg x i = 0%Z \/ sg x i = region_of v x i)) as K.
  { intro i. pose proof (H i). pose proof (Dv i). pose proof (Dx i). unfold region_of, sg.
    destruct (sign_cases (value i v)) as [[V ->]|[[V ->]|[V ->]]],
      (sign_cases (value i x)) as [[W ->]|[[W ->]|[W ->]]]; simpl;
      repeat split; auto; try (intro Q; exfalso; specialize (H1 Q) || specialize (H2 Q));
      try specialize (H1 Q); try specialize (H2 Q); try lra; try nra; exfalso; nra. }
  repeat split; try apply K; intro i; apply K.
Qed.

Lemma face_found s x v : full s -> inside x -> In v vertices -> face (sg v) s -> face (sg x) s ->
  found x.
Proof.
  intros F D I Cv Cx. destruct (proj2 (checked v I) s F Cv) as [K _]. split; auto. exists v.
  split; auto. intro i.
  pose proof (adjusted s v i K F Cv) as A. pose proof (adjusted s x i K F Cx) as B.
  rewrite <- (K v Cv) in A. rewrite <- (K x Cx) in B.
  destruct (proj1 (F i)) as [G|G]; rewrite G in *; nra.
Qed.

(** Points near a found point, whose signs are those of [x] where they are not 0, are found. *)
Lemma near_found x y : found x -> inside y -> face (sg x) (sg y) -> found y.
Proof.
  intros [Dx (v & I & H)] Dy N. destruct (checked v I) as [Dv _].
  destruct (region_of_ok v x Dv Dx H) as (F & Cv & Cx).
  destruct (vertex_of_face _ x v F I Cv Cx) as (u & Iu & Cu). split; auto. exists u. split; auto.
  intro i. pose proof (Cu i) as A. pose proof (N i) as B. unfold sg in *.
  destruct (sign_cases (value i u)) as [[V E]|[[V E]|[V E]]],
    (sign_cases (value i x)) as [[W E']|[[W E']|[W E']]],
    (sign_cases (value i y)) as [[U E'']|[[U E'']|[U E'']]]; rewrite E, E', E'' in *;
    try (destruct A; discriminate); try (destruct B; discriminate); nra.
Qed.

Lemma found_start : exists x, found x.
Proof.
  assert (exists v, In v vertices) as [v I].
  { destruct vertices as [|v l]; [tauto|]. exists v. left. auto. }
  exists v. split; [apply checked; auto|]. exists v. split; auto. intro. nra.
Qed.

(** Points whose signs are those of a found point, or 0, are found. *)
Lemma limit_found m y : found m -> inside y -> face (sg y) (sg m) -> found y.
Proof.
  intros [Dm (v & I & H)] Dy F. split; auto. exists v. split; auto. intro i. specialize (H i).
  pose proof (F i) as G. unfold sg in G.
  destruct (sign_cases (value i v)) as [[V E]|[[V E]|[V E]]],
    (sign_cases (value i y)) as [[W E']|[[W E']|[W E']]],
    (sign_cases (value i m)) as [[U E'']|[[U E'']|[U E'']]]; rewrite E', E'' in G;
    try (destruct G; discriminate); nra.
Qed.

(** Each point of the domain is found. *)
Theorem all_found x : inside x -> found x.
Proof.
  intro D. destruct found_start as (x0 & F0). pose proof (proj1 F0) as D0.
  pose proof (connected x0 x D0 D) as W. clear D D0.
  induction W as [x|x m y z Dm Dy F G W IH]; auto.
  apply IH. apply limit_found with m; auto. apply near_found with x; auto.
Qed.
End Lists.
