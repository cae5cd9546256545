(** Trees with a region at each leaf (FORMAT.md, section 5.1): steps, and what they prove. *)
Require Import ZArith NArith QArith Qreals Reals List Bool Lra Lia Psatz.
From PolyreluVerified Require Import Maps Networks Domains RegionLists Numbers LinearForms.
From PolyreluVerified Require Import JointNetwork Coordinates Multipliers Trees.
Import ListNotations.
Open Scope R_scope.

(** How a node ends: a split, or a point, as the numerators of 1 and of its coordinates. *)
Inductive region_ending := Cut (s : N) | Region (point : nmap Z).
Definition region_record := (list (list sign) * region_ending)%type.

(** A node that is to come: its inequalities, form / denominator >= 0, and what is known. *)
Definition region_item := (list rform * state)%type.

Section Rule.
(** As in Trees.v; besides all atoms, and of each neuron the preactivation and the activation, as
    forms over one denominator. *)
Variables (d first natoms : N) (atoms : nmap form) (lo hi : nmap Q).
Variables (used : list N) (neurons : list (form * form)).

Definition over_coordinates (f : form) : bool := forallb (fun p => (fst p <=? d)%N) f.

(** The value of a form at a point, over its denominator. *)
Fixpoint value_at (point : nmap Z) (f : form) : option Z :=
  match f with
  | [] => Some 0%Z
  | (s, c) :: f' =>
      let? z := nfind s point in
      let? y := value_at point f' in
      Some (c * z + y)%Z
  end.

Definition strictly_inside (point : nmap Z) (path : list rform) : bool :=
  forallb
    (fun r =>
       match fst r with
       | [] => true
       | f => match value_at point f with Some z => (0 <? z)%Z | None => false end
       end)
    path.

(** With the values of the atoms put in, the preactivation is over coordinates, and the activation
    is 0 or the preactivation. *)
Definition settled (nd : node) (q : form * form) : bool :=
  let z := put_in first (values nd) (fst q) ([], 1%Z) in
  let a := put_in first (values nd) (snd q) ([], 1%Z) in
  over_coordinates (fst z) &&
  match fst a with
  | [] => true
  | _ => match fst (raxpy z (-1) 1 a) with [] => true | _ => false end
  end.

(** One node; the second part of the result is the number of regions found. *)
Definition region_step (stack : list region_item) (r : region_record) :
  option (list region_item * nat) :=
  match stack with
  | [] => None
  | (path, start0) :: rest =>
      let? nd0 := build d first atoms start0 used node0 in
      let? after := rounds d first natoms atoms lo hi used (fst r) start0 nd0 in
      let (st, nd) := after in
      match snd r with
      | Cut s =>
          match nfind s (forms nd) with
          | None | Some ([], _) => None
          | Some (f, e) =>
              let next (b : bool) := ((if b then f else fneg f, e) :: path, child st f e b) in
              let? _ := nfind s atoms in
              if over_coordinates f then Some (next true :: next false :: rest, 0%nat) else None
          end
      | Region point =>
          if strictly_inside point path && forallb (settled nd) neurons
          then Some (rest, 1%nat) else None
      end
  end.

(** * Soundness

    [plane] has the points that fulfil the equations; at each of them [V] gives the values of the
    symbols, and [H] those of the forms of atoms. *)
Variables (plane : list R -> Prop) (V H : list R -> N -> R) (root : list rform).

Definition inside_of (path : list rform) (x : list R) : Prop :=
  Forall (fun r => 0 <= val (V x) (fst r)) path.

Definition vector (x : list R) : list Z := List.map (fun q => sign_of (val (V x) (fst q))) neurons.

Hypothesis bases : forall x, plane x -> base d (V x).
Hypothesis values_of_atoms : forall x, plane x ->
  forall s h, nfind s atoms = Some h -> H x s = val (V x) h /\ V x s = relu (H x s).
Hypothesis sides : forall x, plane x -> inside_of root x -> lo_ok (V x) lo /\ hi_ok (V x) hi.
Hypothesis activations : forall x, plane x ->
  Forall (fun q => val (V x) (snd q) = relu (val (V x) (fst q))) neurons.
Hypothesis atoms_of_neurons : forall s h, nfind s atoms = Some h ->
  exists q g, In q neurons /\ 0 < g /\ forall x, val (V x) (fst q) = g * val (V x) h.
Hypothesis near_values : forall e x y s, near e x y -> (s <= d)%N -> 0 < e ->
  Rabs (V y s - V x s) < e.
Hypothesis lines : forall x p, plane x -> plane p -> exists w : R -> list R,
  (forall t, plane (w t) /\
     forall s, (s <= d)%N -> V (w t) s = V x s + t * (V p s - V x s)) /\
  forall e, 0 < e -> exists t0, 0 < t0 /\ forall t, Rabs t <= t0 -> near e x (w t).

(** What the points of a region item say. *)
Definition at_point (point : nmap Z) (x : list R) : Prop :=
  plane x /\ exists b, 0 < b /\ all (fun s z => IZR z = b * V x s) point.

Definition opened (path : list rform) (x : list R) : Prop :=
  plane x /\ exists e, 0 < e /\ forall y, plane y -> near e x y -> inside_of path y.

Definition strict (path : list rform) (x : list R) : Prop :=
  Forall (fun r => fst r <> [] -> 0 < val (V x) (fst r)) path.

(** ** Forms over coordinates *)

Fixpoint weight (f : form) : R :=
  match f with [] => 0 | (_, c) :: f' => Rabs (IZR c) + weight f' end.

Lemma weight_pos f : 0 <= weight f.
Proof. induction f as [|[s c] f IH]; simpl; [lra|]. pose proof (Rabs_pos (IZR c)). lra. Qed.

Lemma val_near e x y f : over_coordinates f = true -> 0 < e -> near e x y ->
  Rabs (val (V y) f - val (V x) f) <= e * weight f.
Proof.
  intros O E K. induction f as [|[s c] f IH]; simpl in *.
  { rewrite Rminus_0_r, Rabs_R0. lra. }
  apply andb_prop in O as [O1 O2]. apply N.leb_le in O1. specialize (IH O2).
  replace (IZR c * V y s + val (V y) f - (IZR c * V x s + val (V x) f))
    with (IZR c * (V y s - V x s) + (val (V y) f - val (V x) f)) by ring.
  eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_mult.
  pose proof (near_values _ _ _ _ K O1 E). pose proof (Rabs_pos (IZR c)). nra.
Qed.

Lemma stays_positive x f : over_coordinates f = true -> 0 < val (V x) f ->
  exists e, 0 < e /\ forall y, near e x y -> 0 < val (V y) f.
Proof.
  intros O P. pose proof (weight_pos f) as W. exists (val (V x) f / (weight f + 1)).
  assert (0 < val (V x) f / (weight f + 1)) as E by (apply Rdiv_lt_0_compat; lra).
  split; auto. intros y K. pose proof (val_near _ _ _ _ O E K) as N.
  set (e := val (V x) f / (weight f + 1)) in *.
  assert (e * (weight f + 1) = val (V x) f) as Q by (unfold e; field; lra).
  unfold Rabs in N. destruct (Rcase_abs _) in N; lra.
Qed.

Lemma val_on_line x p w t f : over_coordinates f = true ->
  (forall s, (s <= d)%N -> V w s = V x s + t * (V p s - V x s)) ->
  val (V w) f = val (V x) f + t * (val (V p) f - val (V x) f).
Proof.
  intros O L. induction f as [|[s c] f IH]; simpl in *; [ring|].
  apply andb_prop in O as [O1 O2]. apply N.leb_le in O1. rewrite (IH O2), (L _ O1). ring.
Qed.

Lemma near_less e e' x y : e <= e' -> near e x y -> near e' x y.
Proof. intros L K. induction K; constructor; auto; lra. Qed.

Lemma near_trans e e' x y z : near e x y -> near e' y z -> near (e + e') x z.
Proof.
  intros K. revert z. induction K as [|a b x y A K IH]; intros z M; inversion M; subst;
    constructor; [|apply IH; auto].
  replace (y0 - a) with ((b - a) + (y0 - b)) by ring.
  eapply Rle_lt_trans; [apply Rabs_triang|]. lra.
Qed.

Lemma near_refl e x : 0 < e -> near e x x.
Proof.
  intro E. induction x; constructor; auto. rewrite Rminus_eq_0, Rabs_R0. auto.
Qed.

Lemma val_fneg_over f : over_coordinates f = true -> over_coordinates (fneg f) = true.
Proof.
  induction f as [|[s c] f IH]; simpl; auto. intro O. apply andb_prop in O as [-> O]. auto.
Qed.

(** ** Open sets of the polyhedron of a node *)

Lemma opened_inside path x : opened path x -> inside_of path x.
Proof. intros (P & e & E & K). apply K; auto. apply near_refl; auto. Qed.

(** The points near an open point are open. *)
Lemma opened_near path x : opened path x -> exists e, 0 < e /\
  forall y, plane y -> near e x y -> opened path y.
Proof.
  intros (P & e & E & K). exists (e / 2). split; [lra|]. intros y Y N. split; auto.
  exists (e / 2). split; [lra|]. intros z Z M. apply K; auto. replace e with (e / 2 + e / 2) by lra.
  eapply near_trans; eauto.
Qed.

Lemma opened_cons path r x : opened path x -> over_coordinates (fst r) = true ->
  0 < val (V x) (fst r) -> opened (r :: path) x.
Proof.
  intros (P & e & E & K) O L. destruct (stays_positive _ _ O L) as (e' & E' & K').
  split; auto. exists (Rmin e e'). split. { apply Rmin_glb_lt; auto. }
  intros y Y N. constructor.
  - apply Rlt_le, K'. eapply near_less; [apply Rmin_r|exact N].
  - apply K; auto. eapply near_less; [apply Rmin_l|exact N].
Qed.

Lemma strict_opened path x : Forall (fun r => over_coordinates (fst r) = true) path -> plane x ->
  strict path x -> opened path x.
Proof.
  intros O P S. induction S as [|r path Hr S IH]; inversion O; subst.
  { split; auto. exists 1. split; [lra|]. intros; constructor. }
  assert (fst r = [] \/ fst r <> []) as [F|F] by (destruct (fst r); [left|right]; congruence).
  - destruct IH as (_ & e & E & K); auto. split; auto. exists e. split; auto. intros y Y N.
    apply Forall_cons; [|apply K; auto]. change (0 <= val (V y) (fst r)). rewrite F. apply Rle_refl.
  - apply opened_cons; auto.
Qed.

(** A form that is nowhere negative, and 0 at one open point, is 0 at all of them. *)
Lemma zero_elsewhere path f x p : over_coordinates f = true ->
  (forall y, plane y -> inside_of path y -> 0 <= val (V y) f) ->
  opened path x -> plane p -> inside_of path p -> val (V x) f = 0 -> val (V p) f = 0.
Proof.
  intros O S (X & e & E & K) P I Z. destruct (lines _ _ X P) as (w & L & T).
  destruct (T _ E) as (t0 & T0 & N). destruct (L (- t0)) as [W Lw].
  assert (near e x (w (- t0))) as Nw. { apply N. rewrite Rabs_Ropp, Rabs_right; lra. }
  pose proof (S _ W (K _ W Nw)) as Q. rewrite (val_on_line _ _ _ _ _ O Lw), Z in Q.
  pose proof (S _ P I). nra.
Qed.

Lemma same_sign path f x p : over_coordinates f = true ->
  (forall y, plane y -> inside_of path y -> 0 <= val (V y) f) ->
  opened path x -> opened path p -> sign_of (val (V x) f) = sign_of (val (V p) f).
Proof.
  intros O S X P. pose proof (zero_elsewhere _ _ x p O S X (proj1 P) (opened_inside _ _ P)) as A.
  pose proof (zero_elsewhere _ _ p x O S P (proj1 X) (opened_inside _ _ X)) as B.
  pose proof (S _ (proj1 X) (opened_inside _ _ X)).
  pose proof (S _ (proj1 P) (opened_inside _ _ P)).
  unfold sign_of. destruct (Rlt_dec 0 (val (V x) f)), (Rlt_dec 0 (val (V p) f)); auto.
  - assert (val (V p) f = 0) as Z by lra. specialize (B Z). lra.
  - assert (val (V x) f = 0) as Z by lra. specialize (A Z). lra.
  - destruct (Rlt_dec (val (V x) f) 0), (Rlt_dec (val (V p) f) 0); auto; lra.
Qed.

Lemma sign_of_scale c x : 0 < c -> sign_of (c * x) = sign_of x.
Proof.
  intro C. unfold sign_of.
  destruct (Rlt_dec 0 (c * x)), (Rlt_dec 0 x), (Rlt_dec (c * x) 0), (Rlt_dec x 0); auto; nra.
Qed.

Lemma sign_of_opp x : sign_of (- x) = (- sign_of x)%Z.
Proof.
  unfold sign_of.
  destruct (Rlt_dec 0 (- x)), (Rlt_dec 0 x), (Rlt_dec (- x) 0), (Rlt_dec x 0); auto; lra.
Qed.

(** ** One node *)

Definition shaped (path : list rform) : Prop :=
  Forall (fun r => over_coordinates (fst r) = true) path /\
  forall y, inside_of path y -> inside_of root y.

(** What is known follows from the inequalities. *)
Definition sound (it : region_item) : Prop :=
  forall y, plane y -> inside_of (fst it) y -> state_ok (V y) (H y) (snd it).

Lemma node_holds path start0 nd0 gs st nd : shaped path -> sound (path, start0) ->
  build d first atoms start0 used node0 = Some nd0 ->
  rounds d first natoms atoms lo hi used gs start0 nd0 = Some (st, nd) ->
  forall y, plane y -> inside_of path y -> state_ok (V y) (H y) st /\ node_ok (V y) (H y) nd.
Proof.
  intros [_ R] S E1 E2 y Y I. destruct (sides y Y (R y I)) as [LO HI]. specialize (S y Y I).
  eapply rounds_ok; eauto. eapply build_ok; eauto. apply node0_ok.
Qed.

Lemma settled_sign path nd q x p :
  (forall y, plane y -> inside_of path y -> node_ok (V y) (H y) nd) -> In q neurons ->
  settled nd q = true -> opened path x -> opened path p ->
  sign_of (val (V x) (fst q)) = sign_of (val (V p) (fst q)).
Proof.
  intros N I S X P. unfold settled in S. apply andb_prop in S as [O S].
  set (z := put_in first (values nd) (fst q) ([], 1%Z)) in *.
  set (a := put_in first (values nd) (snd q) ([], 1%Z)) in *.
  assert (forall y, plane y -> inside_of path y -> rep (V y) z (0 + val (V y) (fst q)) /\
    rep (V y) a (0 + val (V y) (snd q)) /\ val (V y) (snd q) = relu (val (V y) (fst q))) as K.
  { intros y Y J. destruct (N y Y J) as (N1 & _). split; [|split].
    - apply put_in_ok; auto. apply rep_0.
    - apply put_in_ok; auto. apply rep_0.
    - pose proof (activations y Y) as A. rewrite Forall_forall in A. apply A; auto. }
  destruct (K x (proj1 X) (opened_inside _ _ X)) as ([D _] & [E _] & _).
  apply IZR_lt in D. apply IZR_lt in E. clearbody z a.
  assert (forall y, plane y -> inside_of path y ->
    val (V y) (fst z) = IZR (snd z) * val (V y) (fst q)) as Z.
  { intros y Y J. destruct (K y Y J) as ([_ ->] & _). ring. }
  assert (forall y, opened path y ->
    sign_of (val (V y) (fst z)) = sign_of (val (V y) (fst q))) as G.
  { intros y Y. rewrite Z by (apply Y || apply opened_inside, Y). apply sign_of_scale; auto. }
  rewrite <- (G x X), <- (G p P).
  assert ((forall y, plane y -> inside_of path y -> val (V y) (fst q) <= 0) \/
          (forall y, plane y -> inside_of path y -> 0 <= val (V y) (fst q))) as [W|W].
  { destruct (fst a) as [|b f] eqn:F; [left|right]; intros y Y J;
      destruct (K y Y J) as (K1 & K2 & K3).
    - destruct K2 as [_ K2]. rewrite F, K3 in K2. cbn [val] in K2.
      pose proof (Rmax_l (val (V y) (fst q)) 0). unfold relu in *. nra.
    - assert (rep (V y) (raxpy z (-1) 1 a)
        (0 + val (V y) (fst q) + - (0 + val (V y) (snd q)))) as [D' X'].
      { eapply raxpy_ok; eauto; [lia|lra]. }
      destruct (fst (raxpy z (-1) 1 a)); [|discriminate]. cbn [val] in X'. apply IZR_lt in D'.
      rewrite K3 in X'. pose proof (relu_ge0 (val (V y) (fst q))). nra. }
  - assert (forall y, val (V y) (fst z) = - val (V y) (fneg (fst z))) as M.
    { intro y. rewrite val_fneg. ring. }
    rewrite !M, !sign_of_opp. f_equal. apply same_sign with (path := path); auto.
    { apply val_fneg_over; auto. }
    intros y Y J. rewrite val_fneg, Z by auto. specialize (W y Y J). nra.
  - apply same_sign with (path := path); auto. intros y Y J. rewrite Z by auto.
    specialize (W y Y J). nra.
Qed.

Lemma value_at_ok point f z b x : all (fun s z => IZR z = b * V x s) point ->
  value_at point f = Some z -> IZR z = b * val (V x) f.
Proof.
  intro P. revert z. induction f as [|[s c] f IH]; simpl; intro z. { intros [= <-]. ring. }
  destruct (nfind s point) as [y|] eqn:F; [|discriminate].
  destruct (value_at point f) as [w|]; [|discriminate]. intros [= <-].
  apply (nall_find _ _ _ _ P) in F. rewrite plus_IZR, mult_IZR, F, (IH w) by auto. ring.
Qed.

Lemma strictly_inside_ok point path x : at_point point x -> strictly_inside point path = true ->
  strict path x.
Proof.
  intros (_ & b & B & P) S. unfold strictly_inside in S. rewrite forallb_forall in S.
  apply Forall_forall. intros r I N. specialize (S r I). cbv beta in S.
  destruct (fst r) as [|q f] eqn:F; [congruence|].
  destruct (value_at point (q :: f)) as [z|] eqn:E; [|discriminate].
  apply (value_at_ok _ _ _ _ _ P) in E. apply Z.ltb_lt, IZR_lt in S. nra.
Qed.

(** ** All nodes *)

(** The points are in different regions, which are all that the polyhedron of the node has. *)
Definition covers (it : region_item) (points : list (list R)) : Prop :=
  shaped (fst it) -> sound it ->
  points <> [] /\
  Forall (fun p => plane p /\ strict (fst it) p) points /\
  NoDup (List.map vector points) /\
  Forall (fun p => exists e, 0 < e /\ forall y, plane y -> near e p y ->
    inside_of (fst it) y /\ vector y = vector p) points /\
  forall x e, opened (fst it) x -> 0 < e -> exists y p, plane y /\ near e x y /\ In p points /\
    vector y = vector p.

Lemma covers_leaf path start0 nd0 gs st nd point x :
  build d first atoms start0 used node0 = Some nd0 ->
  rounds d first natoms atoms lo hi used gs start0 nd0 = Some (st, nd) ->
  strictly_inside point path = true -> forallb (settled nd) neurons = true -> at_point point x ->
  covers (path, start0) [x].
Proof.
  intros E1 E2 I S X Sh So. cbn [fst] in *.
  pose proof (strictly_inside_ok _ _ _ X I) as St. destruct X as [X _].
  pose proof (strict_opened _ _ (proj1 Sh) X St) as Op.
  assert (forall y, opened path y -> vector y = vector x) as Same.
  { intros y Y. apply map_ext_in. intros q Q. rewrite forallb_forall in S.
    eapply settled_sign; eauto. intros z Z J. eapply node_holds; eauto. }
  split; [discriminate|]. split; [auto|]. split; [repeat constructor; auto|]. split.
  - constructor; auto. destruct (opened_near _ _ Op) as (e & E & K). exists e. split; auto.
    intros y Y N. pose proof (K y Y N). split; auto. apply opened_inside; auto.
  - intros y e Y E. exists y, x. repeat split; auto; try apply Y. apply near_refl; auto. left; auto.
Qed.

Lemma NoDup_both {X} (l m : list X) : NoDup l -> NoDup m -> (forall x, In x l -> ~ In x m) ->
  NoDup (l ++ m).
Proof.
  intros L M N. induction L as [|x l Hx L IH]; simpl; auto. constructor.
  - intro I. apply in_app_or in I as [I|I]; [auto|]. apply (N x); simpl; auto.
  - apply IH. intros y Y. apply N. right; auto.
Qed.

Lemma sign_positive x : 0 < x -> sign_of x = 1%Z.
Proof. intro. unfold sign_of. destruct (Rlt_dec 0 x); [auto|lra]. Qed.

Lemma covers_split path start0 nd0 gs st nd s f e l m :
  build d first atoms start0 used node0 = Some nd0 ->
  rounds d first natoms atoms lo hi used gs start0 nd0 = Some (st, nd) ->
  nfind s (forms nd) = Some (f, e) -> f <> [] -> over_coordinates f = true ->
  (exists h, nfind s atoms = Some h) ->
  covers ((f, e) :: path, child st f e true) l ->
  covers ((fneg f, e) :: path, child st f e false) m ->
  covers (path, start0) (l ++ m).
Proof.
  intros E1 E2 F Nz O (h & Fh) Cl Cm Sh So. cbn [fst] in *.
  pose proof (node_holds _ _ _ _ _ _ Sh So E1 E2) as Node.
  assert (forall y, plane y -> inside_of path y -> rep (V y) (f, e) (H y s)) as Val.
  { intros y Y J. destruct (Node y Y J) as (_ & _ & N2 & _). apply (nall_find _ _ _ _ N2 F). }
  assert (forall g, shaped path -> over_coordinates g = true -> shaped ((g, e) :: path)) as Wf.
  { intros g [S1 S2] G. split; [constructor; auto|]. intros y J. inversion J; auto. }
  destruct Cl as (A1 & A2 & A3 & A4 & A5).
  { apply Wf; auto. }
  { intros y Y J. inversion J as [|? ? J1 J2]; subst. destruct (Node y Y J2) as [S _].
    destruct (Val y Y J2) as [D X]. eapply child_ok; [exact S|exact (conj D X)|]. simpl in *.
    apply IZR_lt in D. nra. }
  destruct Cm as (B1 & B2 & B3 & B4 & B5).
  { apply Wf; auto. apply val_fneg_over; auto. }
  { intros y Y J. inversion J as [|? ? J1 J2]; subst. destruct (Node y Y J2) as [S _].
    destruct (Val y Y J2) as [D X]. eapply child_ok; [exact S|exact (conj D X)|]. simpl in *.
    rewrite val_fneg in J1. apply IZR_lt in D. nra. }
  cbn [fst] in *.
  assert (forall p, In p l -> plane p /\ 0 < val (V p) f) as Pl.
  { intros p I. rewrite Forall_forall in A2. destruct (A2 p I) as [P S]. split; auto.
    inversion S; subst; auto. }
  assert (forall p, In p m -> plane p /\ val (V p) f < 0) as Pm.
  { intros p I. rewrite Forall_forall in B2. destruct (B2 p I) as [P S]. split; auto.
    inversion S as [|? ? S1 S2]; subst. cbn [fst] in S1. rewrite val_fneg in S1.
    enough (fneg f <> []) as M by (specialize (S1 M); lra). destruct f; [congruence|discriminate]. }
  split; [destruct l; [congruence|discriminate]|].
  split. { apply Forall_app. split; eapply Forall_impl; [|exact A2| |exact B2];
    intros p [P S]; split; auto; inversion S; auto. }
  assert (forall p, In p (l ++ m) -> inside_of path p) as In_path.
  { assert (forall g n, Forall (fun p => exists e', 0 < e' /\ forall y, plane y -> near e' p y ->
      inside_of ((g, e) :: path) y /\ vector y = vector p) n -> forall p, plane p -> In p n ->
      inside_of path p) as Q.
    { intros g n N p P I. rewrite Forall_forall in N. destruct (N p I) as (e' & E' & K).
      destruct (K p P (near_refl _ _ E')) as [J _]. inversion J; auto. }
    intros p I. apply in_app_or in I as [I|I]; [eapply (Q f l)|eapply (Q (fneg f) m)]; eauto.
    apply Pl; auto. apply Pm; auto. }
  split.
  { rewrite map_app. apply NoDup_both; auto. intros c C1 C2.
    apply in_map_iff in C1 as (p & <- & I). apply in_map_iff in C2 as (p' & Eq & I').
    destruct (Pl p I) as [P L]. destruct (Pm p' I') as [P' L'].
    destruct (atoms_of_neurons _ _ Fh) as (q & g & Q & G & K).
    assert (sign_of (val (V p') (fst q)) = sign_of (val (V p) (fst q))) as S.
    { clear - Q Eq. unfold vector in Eq. induction neurons as [|n ns IH]; [destruct Q|].
      simpl in Eq. injection Eq as E1 E2. destruct Q as [->|Q]; auto. }
    rewrite !K, !sign_of_scale in S by auto.
    destruct (values_of_atoms _ P _ _ Fh) as [V1 _].
    destruct (values_of_atoms _ P' _ _ Fh) as [V2 _].
    rewrite <- V1, <- V2 in S.
    destruct (Val p P) as [D X]. { apply In_path, in_or_app; auto. }
    destruct (Val p' P') as [D' X']. { apply In_path, in_or_app; auto. }
    cbn [fst snd] in *. apply IZR_lt in D. rewrite (sign_positive (H p s)) in S by nra.
    assert (H p' s < 0) by nra. unfold sign_of in S.
    destruct (Rlt_dec 0 (H p' s)); [lra|]. destruct (Rlt_dec (H p' s) 0); [discriminate|lra]. }
  split. { apply Forall_app. split; eapply Forall_impl; [|exact A4| |exact B4];
    intros p (e' & E' & K); exists e'; split; auto; intros y Y N;
    destruct (K y Y N) as [J ->]; split; auto; inversion J; auto. }
  assert (forall x e', opened path x -> 0 < e' -> 0 < val (V x) f -> exists y p, plane y /\
    near e' x y /\ In p (l ++ m) /\ vector y = vector p) as Pos.
  { intros x e' X E' L. destruct (A5 x e') as (y & p & Y & N & I & Q); auto.
    { apply opened_cons; auto. }
    exists y, p. repeat split; auto. apply in_or_app; auto. }
  intros x e' X E'. destruct (Rtotal_order (val (V x) f) 0) as [L|[L|L]].
  - destruct (B5 x e') as (y & p & Y & N & I & Q); auto.
    { apply opened_cons; auto. apply val_fneg_over; auto. cbn [fst]. rewrite val_fneg. lra. }
    exists y, p. repeat split; auto. apply in_or_app; auto.
  - destruct l as [|p l]; [congruence|]. destruct (Pl p (or_introl eq_refl)) as [P Lp].
    destruct (opened_near _ _ X) as (e1 & E1' & K). destruct (lines _ _ (proj1 X) P) as (w & W & T).
    destruct (T (Rmin e1 (e' / 2))) as (t0 & T0 & N). { apply Rmin_glb_lt; lra. }
    destruct (W t0) as [Pw Lw]. specialize (N t0). rewrite Rabs_right in N by lra.
    specialize (N (Rle_refl _)).
    destruct (Pos (w t0) (e' / 2)) as (y & p' & Y & N' & I & Q); try lra.
    { apply K; auto. eapply near_less; [apply Rmin_l|exact N]. }
    { rewrite (val_on_line _ _ _ _ _ O Lw), L. nra. }
    exists y, p'. repeat split; auto. replace e' with (e' / 2 + e' / 2) by lra.
    eapply near_trans; eauto. eapply near_less; [apply Rmin_r|exact N].
  - apply Pos; auto.
Qed.

(** A point at a leaf stands for a point of the plane. *)
Definition record_ok (r : region_record) : Prop :=
  match snd r with Region point => exists x, at_point point x | Cut _ => True end.

Lemma region_step_ok stack r stack' k : region_step stack r = Some (stack', k) -> record_ok r ->
  forall ls', Forall2 covers stack' ls' ->
  exists ls, Forall2 covers stack ls /\ length (concat ls) = (length (concat ls') + k)%nat.
Proof.
  unfold region_step, record_ok. destruct stack as [|[path start0] rest]; [discriminate|].
  destruct (build _ _ _ _ _ _) as [nd0|] eqn:E1; [|discriminate].
  destruct (rounds _ _ _ _ _ _ _ _ _ _) as [[st nd]|] eqn:E2; [|discriminate].
  destruct (snd r) as [s|point].
  - destruct (nfind s (forms nd)) as [[[|p f] e]|] eqn:F; try discriminate.
    cbv zeta. destruct (nfind s atoms) as [h|] eqn:Fh; [|discriminate].
    destruct (over_coordinates (p :: f)) eqn:O; [|discriminate].
    intros [= <- <-] _ ls' C. inversion C as [|? l ? ls1 C1 C2]; subst.
    inversion C2 as [|? m ? ls2 C3 C4]; subst. exists ((l ++ m) :: ls2). split.
    + constructor; auto. eapply covers_split; eauto. discriminate.
    + simpl. rewrite !app_length. lia.
  - destruct (strictly_inside point path) eqn:I; [|discriminate].
    destruct (forallb (settled nd) neurons) eqn:S; [|discriminate].
    intros [= <- <-] (x & X) ls' C. exists ([x] :: ls'). split.
    + constructor; auto. eapply covers_leaf; eauto.
    + simpl. lia.
Qed.

End Rule.
