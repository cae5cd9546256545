(** Lists of vertices (FORMAT.md, section 5.3; docs/theory/vertices.md): every point of the domain
    lies in the closure of a region around a listed vertex, if the regions around each vertex are
    known, and their edges end.

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

Definition sg (x : point) (i : form) : Z := sign_of (value i x).
Definition face (e s : form -> Z) : Prop := forall i, e i = 0%Z \/ e i = s i.

Definition inside (x : point) : Prop := forall i, inequality i -> 0 <= value i x.

(** A way in the domain from point to point: the signs of a point and of the next one are those of
    a point between them, or 0. *)
Inductive way : point -> point -> Prop :=
| stay x : way x x
| go x m y z : inside m -> inside y -> face (sg x) (sg m) -> face (sg y) (sg m) -> way y z ->
    way x z.

Hypothesis connected : forall x y, inside x -> inside y -> way x y.

Definition total {A} (f : A -> R) (l : list A) : R := fold_right (fun a r => f a + r) 0 l.

(** ** What the check of a list finds out *)

(** Vertices with their points, and with the signs of the regions around them. A form that is 0 in a
    region has the sign 0. *)
Variables (vertex : Type) (place : vertex -> point) (vertices : list vertex).
Variable around : vertex -> list (form -> Z).

(** The changes of all forms along the edges of a region. Where a sum of multiples of forms is less
    than at the vertex, it is so along some edge. *)
Definition leads (v : vertex) (s : form -> Z) (edges : list (form -> R)) : Prop :=
  forall (w : form -> R) l y, face (sg y) s ->
    total (fun i => w i * (kept s i y - kept s i (place v))) l < 0 ->
    exists e, In e edges /\ total (fun i => w i * e i) l < 0.

(** The edge ends at the listed vertex [v']. *)
Definition ends_at (v : vertex) (s : form -> Z) (e : form -> R) (v' : vertex) : Prop :=
  In v' vertices /\ face (sg (place v')) s /\
  exists t, 0 < t /\ forall i, kept s i (place v') - kept s i (place v) = t * e i.

(** The edge is a ray. *)
Definition is_ray (s : form -> Z) (e : form -> R) : Prop := forall i, 0 <= IZR (s i) * e i.

Definition kept_right (s : form -> Z) : Prop :=
  forall x, face (sg x) s -> forall i, value i x = kept s i x.

(** The region has a point, [v] is in its closure, and all its edges at [v] end. *)
Definition region_ends (v : vertex) (s : form -> Z) : Prop :=
  face (sg (place v)) s /\ kept_right s /\ (exists y, inside y /\ forall i, sg y i = s i) /\
  exists edges, leads v s edges /\
    forall e, In e edges -> is_ray s e \/ exists v', ends_at v s e v'.

(** Near [v], each point is in the closure of a region around it. *)
Definition complete_at (v : vertex) : Prop :=
  forall y, inside y -> face (sg (place v)) (sg y) -> exists s, In s (around v) /\ face (sg y) s.

Hypothesis checked : forall v, In v vertices -> inside (place v) /\ complete_at v /\
  forall s, In s (around v) -> region_ends v s.
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

Lemma total_ext {A} (f g : A -> R) l : (forall a, In a l -> f a = g a) -> total f l = total g l.
Proof.
  induction l as [|b l IH]; simpl; intro H; auto. rewrite (H b), IH; auto.
Qed.

Lemma total_plus {A} (f g : A -> R) l : total (fun a => f a + g a) l = total f l + total g l.
Proof. induction l as [|b l IH]; simpl; [ring|]. rewrite IH. ring. Qed.

Lemma total_times {A} c (f : A -> R) l : total (fun a => c * f a) l = c * total f l.
Proof. induction l as [|b l IH]; simpl; [ring|]. rewrite IH. ring. Qed.

(** ** The least vertex of a closure *)

Lemma least {A} (f : A -> R) (P : A -> Prop) l : (forall v, P v \/ ~ P v) ->
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

(** The zeros of a point. *)
Definition zeros (x : point) : list form := filter (fun i => (sg x i =? 0)%Z) forms.

Lemma in_zeros x i : In i (zeros x) -> sg x i = 0%Z.
Proof. unfold zeros. rewrite filter_In, Z.eqb_eq. tauto. Qed.

Lemma zero_in x i : In i forms -> sg x i = 0%Z -> In i (zeros x).
Proof. unfold zeros. rewrite filter_In, Z.eqb_eq. tauto. Qed.

Lemma value_zero i x : sg x i = 0%Z -> value i x = 0.
Proof.
  unfold sg. destruct (sign_cases (value i x)) as [[V S]|[[V S]|[V S]]]; rewrite S; auto;
    discriminate.
Qed.

Lemma face_trans e f g : face e f -> face f g -> face e g.
Proof.
  intros A B i. destruct (A i) as [E|E]; auto. rewrite E. apply B.
Qed.

Lemma distance s x i : kept_right s -> face (sg x) s ->
  Rabs (value i x) = IZR (s i) * kept s i x.
Proof.
  intros K C. rewrite <- (K x C). destruct (C i) as [E|E].
  - rewrite value_zero by auto. rewrite Rabs_R0. ring.
  - rewrite <- E. unfold sg. destruct (sign_cases (value i x)) as [[V S]|[[V S]|[V S]]]; rewrite S.
    + rewrite Rabs_right by lra. ring.
    + rewrite Rabs_left by lra. ring.
    + rewrite V, Rabs_R0. ring.
Qed.

(** The face of [x] in the closure of a region around a listed vertex has a listed vertex. *)
Lemma vertex_of_face x v0 s0 : In v0 vertices -> In s0 (around v0) -> face (sg x) s0 ->
  exists v, In v vertices /\ face (sg (place v)) (sg x).
Proof.
  intros I0 J0 C0. set (tight := zeros x).
  set (l := fun y => total (fun i => Rabs (value i y)) tight).
  destruct (least (fun v => l (place v)) (fun v => Exists (fun s => face (sg x) s) (around v))
    vertices) as [N|(v & I & P & M)].
  { intro v. induction (around v) as [|s m [IH|IH]].
    - right. intro Q. inversion Q.
    - left. apply Exists_cons_tl. auto.
    - destruct (face_dec x s) as [F|F]; [left; apply Exists_cons_hd; auto|].
      right. intro Q. inversion Q; auto. }
  { exfalso. apply (N v0 I0). apply Exists_exists. exists s0. auto. }
  apply Exists_exists in P as (s & Is & Cx).
  destruct (checked v I) as (Dv & _ & R).
  destruct (R s Is) as (Cv & K & (z & Dz & Ez) & edges & S & Ed).
  exists v. split; auto.
  assert (forall y, 0 <= l y) as L0 by (intro; apply total_nonneg; intros; apply Rabs_pos).
  assert (l (place v) = 0) as L1.
  2:{ intro i. destruct (all_forms i) as [J|J]; [|left; apply no_form; auto].
      destruct (Z.eq_dec (sg x i) 0) as [E|E].
      - left. pose proof (total_zero (fun i => Rabs (value i (place v))) tight
          (fun a _ => Rabs_pos _) L1 i (zero_in x i J E)) as Z0. cbv beta in Z0.
        unfold sg. destruct (sign_cases (value i (place v))) as [[V Sv]|[[V Sv]|[V Sv]]]; auto;
          exfalso; [rewrite Rabs_right in Z0 by lra|rewrite Rabs_left in Z0 by lra]; lra.
      - destruct (Cx i) as [E'|E']; [tauto|]. rewrite E'. apply Cv. }
  destruct (Rle_lt_or_eq_dec _ _ (L0 (place v))) as [L|]; auto. exfalso.
  assert (forall y, face (sg y) s -> l y - l (place v) =
    total (fun i => IZR (s i) * (kept s i y - kept s i (place v))) tight) as Sum.
  { intros y Cy. unfold l.
    rewrite (total_ext _ (fun i => IZR (s i) * kept s i y) tight)
      by (intros; apply distance; auto).
    rewrite (total_ext (fun i => Rabs (value i (place v)))
      (fun i => IZR (s i) * kept s i (place v)) tight) by (intros; apply distance; auto).
    clear. induction tight as [|i m IH]; simpl; [ring|].
    replace (IZR (s i) * (kept s i y - kept s i (place v)) + total _ m) with
      (IZR (s i) * (kept s i y - kept s i (place v)) +
       (total (fun i => IZR (s i) * kept s i y) m -
        total (fun i => IZR (s i) * kept s i (place v)) m)) by (rewrite IH; ring). ring. }
  assert (l x = 0) as Lx.
  { unfold l. rewrite (total_ext _ (fun _ => 0 * 0)), total_times; [ring|].
    intros i J. rewrite value_zero by (apply in_zeros; auto). rewrite Rabs_R0. ring. }
  destruct (S (fun i => IZR (s i)) tight x Cx) as (e & Ie & Down). { rewrite <- Sum by auto. lra. }
  destruct (Ed e Ie) as [Ray|(u & Iu & Cu & t & T & Along)].
  - assert (0 <= total (fun i => IZR (s i) * e i) tight) by (apply total_nonneg; intros; apply Ray).
    lra.
  - destruct (checked u Iu) as (_ & Lu & _).
    assert (Exists (fun s => face (sg x) s) (around u)) as Pu.
    { destruct (Lu z Dz) as (s' & I' & F'). { intro i. rewrite Ez. apply Cu. }
      apply Exists_exists. exists s'. split; auto. apply face_trans with s; auto.
      intro i. rewrite <- Ez. apply F'. }
    pose proof (M u Iu Pu) as Mu. cbv beta in Mu. pose proof (Sum (place u) Cu) as Su.
    rewrite (total_ext _ (fun i => t * (IZR (s i) * e i))), total_times in Su.
    2:{ intros i _. rewrite Along. ring. }
    nra.
Qed.

(** ** All points of the domain *)

(** [x] is in the closure of a region around a listed vertex. *)
Definition found (x : point) : Prop :=
  inside x /\ exists v s, In v vertices /\ In s (around v) /\ face (sg x) s.

(** Points near a found point, whose signs are those of [x] where they are not 0, are found. *)
Lemma near_found x y : found x -> inside y -> face (sg x) (sg y) -> found y.
Proof.
  intros [Dx (v & s & I & Is & C)] Dy N. split; auto.
  destruct (vertex_of_face x v s I Is C) as (u & Iu & Cu). destruct (checked u Iu) as (_ & L & _).
  destruct (L y Dy) as (s' & Is' & C'); [apply face_trans with (sg x); auto|].
  exists u, s'. auto.
Qed.

Lemma found_start : exists x, found x.
Proof.
  assert (exists v, In v vertices) as [v I].
  { destruct vertices as [|v l]; [tauto|]. exists v. left. auto. }
  destruct (checked v I) as (D & L & _). exists (place v). split; auto.
  destruct (L (place v) D) as (s & Is & C). { intro; auto. } exists v, s. auto.
Qed.

(** Points whose signs are those of a found point, or 0, are found. *)
Lemma limit_found m y : found m -> inside y -> face (sg y) (sg m) -> found y.
Proof.
  intros [Dm (v & s & I & Is & C)] Dy F. split; auto. exists v, s. split; auto. split; auto.
  apply face_trans with (sg m); auto.
Qed.

(** Each point of the domain is found. *)
Theorem all_found x : inside x -> found x.
Proof.
  intro D. destruct found_start as (x0 & F0). pose proof (proj1 F0) as D0.
  pose proof (connected x0 x D0 D) as W. clear D D0.
  induction W as [x|x m y z Dm Dy F G W IH]; auto.
  apply IH. apply limit_found with m; auto. apply near_found with x; auto.
Qed.

(** The closure of each cell has a listed vertex. *)
Theorem vertex_below x : inside x -> exists v, In v vertices /\ face (sg (place v)) (sg x).
Proof.
  intro D. destruct (all_found x D) as (_ & v & s & I & Is & C). apply (vertex_of_face x v s); auto.
Qed.
End Lists.
