(** The forms of a domain and a network at points: inequalities, then neurons, with their rows over
    coordinates for chosen neurons that are on; and the points of the plane of a domain. *)
Require Import ZArith NArith QArith Qreals Reals List Bool Lra Lia Psatz.
Require Import FunctionalExtensionality.
From PolyreluVerified Require Import Maps Networks Domains RegionLists.
From PolyreluVerified Require Import Numbers LinearForms JointNetwork Coordinates Trees.
From PolyreluVerified Require Import Points RegionTrees Regions Pieces VertexLists KeptForms Cones.
Import ListNotations.
Open Scope R_scope.
Open Scope list_scope.

(** * Forms and signs *)

Definition is_constant (r : rform) : bool := forallb (fun q => (fst q =? 0)%N) (fst r).
Definition constant_of (f : form) : Z := fold_right (fun q s => (snd q + s)%Z) 0%Z f.

(** Signs are 1, 0, or -1. *)
Definition is_sign (e : Z) : Prop := e = 1%Z \/ e = 0%Z \/ e = (-1)%Z.

Lemma sign_is_sign z : is_sign (sign_of z).
Proof. unfold is_sign. destruct (sign_cases z) as [[_ ->]|[[_ ->]|[_ ->]]]; auto. Qed.

Section Rows.
Variables (p : placed) (d : N) (scale : Z) (fs : list form) (sl : list rform).

Definition bounds : list rform := filter (fun r => negb (is_constant r)) sl.
Definition num_bounds : nat := List.length bounds.
Definition num_forms : nat :=
  (num_bounds + num_hidden (layers (network p)) (relu_last (network p)))%nat.
Definition rows (s : list Z) : option (list rform) :=
  match neuron_rows (layers (network p)) (relu_last (network p)) (skipn num_bounds s)
          [(fs, scale)] with
  | Some hs => Some (bounds ++ hs)
  | None => None
  end.

Definition point_at (x : list Q) : option (nmap Z) :=
  match scaled_point (num_inputs p) (area p) x with
  | Some (b, z) => Some (put_coordinates (columns (num_inputs p) (area p)) z (nadd 0%N b E))
  | None => None
  end.

Definition sign_at (point : nmap Z) (r : rform) : option Z :=
  if (0 <? snd r)%Z && over_coordinates d (fst r) then
    match value_at point (fst r) with Some y => Some (Z.sgn y) | None => None end
  else None.

(** At the point in the domain the forms [rs], those for the signs [s], have these signs. *)
Definition check_signs (s : list Z) (rs : list rform) (x : list Q) : bool :=
  match point_at x with
  | Some point =>
      Nat.eqb (List.length rs) num_forms && Nat.eqb (List.length s) num_forms &&
      match mapo (sign_at point) rs with Some t => zs_eqb t s | None => false end
  | None => false
  end.

(** Inequalities without coordinates hold. *)
Definition constants_hold : bool :=
  forallb (fun r => negb (is_constant r) || (0 <=? constant_of (fst r))%Z) sl &&
  forallb (fun r => (0 <? snd r)%Z) sl.

(** * Soundness *)

Hypothesis started : setup (num_inputs p) (area p) = Some (d, scale, fs, sl).

Definition V (x : list R) : N -> R := coordinates (num_inputs p) (area p) d x.
Definition values (x : list R) : list R :=
  List.map (ap (V x)) bounds ++ zs_from (layers (network p)) (relu_last (network p)) [x].

Lemma values_length x : List.length (values x) = num_forms.
Proof. unfold values, num_forms. rewrite app_length, map_length, zs_length. auto. Qed.

Lemma at_plane x : in_plane p x -> (0 < scale)%Z /\
  Forall2 (coord_ok (V x)) (columns (num_inputs p) (area p)) x /\ Forall2 (scaled (V x) scale) fs x
    /\
  Forall2 (fun r row => rep (V x) r (IZR (snd row) - dot (fst row) x)) sl (ineqs (area p)).
Proof.
  intros [L Q]. destruct (setup_at _ _ _ _ _ _ started) as [S K]. split; auto.
Qed.

Lemma rows_right x s rs : in_plane p x -> rows s = Some rs ->
  Forall2 fc (List.map sign_of (values x)) s \/
  Forall2 fc (List.map (fun r => sign_of (ap (V x) r)) rs) s ->
  List.map (ap (V x)) rs = values x.
Proof.
  intros X. destruct (at_plane x X) as (P & _ & I & _). unfold rows, values.
  destruct (neuron_rows _ _ _ _) as [hs|] eqn:E; [|discriminate]. intros [= <-] C.
  rewrite map_app. f_equal. eapply (rows_ok (V x)); [reflexivity| |exact E|].
  - constructor; [|constructor]. split; auto.
  - destruct C as [C|C]; rewrite map_app in C; apply Forall2_split in C as [_ C];
      rewrite !map_length in C; auto.
Qed.

Lemma sign_pos z : 0 < z -> sign_of z = 1%Z.
Proof. intro. destruct (sign_cases z) as [[? ->]|[[? ->]|[? ->]]]; auto; lra. Qed.
Lemma sign_neg z : z < 0 -> sign_of z = (-1)%Z.
Proof. intro. destruct (sign_cases z) as [[? ->]|[[? ->]|[? ->]]]; auto; lra. Qed.
Lemma sign_zero z : z = 0 -> sign_of z = 0%Z.
Proof. intro. destruct (sign_cases z) as [[? ->]|[[? ->]|[? ->]]]; auto; lra. Qed.

Lemma sign_at_ok point b x r t : 0 < b -> all (fun s z => IZR z = b * V x s) point ->
  sign_at point r = Some t -> (0 < snd r)%Z /\ over_coordinates d (fst r) = true /\
  sign_of (ap (V x) r) = t.
Proof.
  intros B A. unfold sign_at. destruct (Z.ltb_spec 0 (snd r)) as [P|]; [|discriminate].
  destruct (over_coordinates d (fst r)); [|discriminate]. cbn [andb].
  destruct (value_at point (fst r)) as [y|] eqn:E; [|discriminate]. intros [= <-].
  split; auto. split; auto.
  apply (value_at_ok V _ _ _ _ _ A) in E. apply IZR_lt in P. unfold ap.
  assert (IZR y = b * IZR (snd r) * (val (V x) (fst r) / IZR (snd r))) as Q by (rewrite E; field;
    lra).
  set (q := val (V x) (fst r) / IZR (snd r)) in *. assert (0 < b * IZR (snd r)) by nra.
  destruct y as [|y|y]; simpl Z.sgn.
  - apply sign_zero. nra.
  - apply sign_pos. assert (0 < IZR (Z.pos y)) by (apply IZR_lt; lia). nra.
  - apply sign_neg. assert (IZR (Z.neg y) < 0) by (apply IZR_lt; lia). nra.
Qed.

Lemma fc_refl s : Forall2 fc s s.
Proof. induction s; constructor; auto. right; auto. Qed.

Lemma check_signs_ok s rs x : rows s = Some rs -> check_signs s rs x = true ->
  let y := List.map Q2R x in
  in_plane p y /\ in_domain (area p) y /\ List.map sign_of (values y) = s /\
  List.length s = num_forms /\ List.length rs = num_forms /\
  Forall (fun r => (0 < snd r)%Z /\ over_coordinates d (fst r) = true) rs /\
  List.map (ap (V y)) rs = values y.
Proof.
  intros E C y. unfold check_signs, point_at in C.
  destruct (scaled_point _ _ x) as [[b z]|] eqn:S; [|discriminate].
  apply andb_prop in C as [C T]. apply andb_prop in C as [C1 C2].
  apply Nat.eqb_eq in C1. apply Nat.eqb_eq in C2.
  destruct (mapo _ rs) as [t|] eqn:M; [|discriminate]. apply zs_eqb_ok in T. subst t.
  destruct (scaled_point_ok _ _ _ _ _ S) as (B & L & F & I).
  assert (in_plane p y) as X. { split; [unfold y; rewrite map_length; auto|apply I]. }
  destruct (at_plane y X) as (_ & Co & _). apply IZR_lt in B.
  set (point := put_coordinates _ z _) in M.
  assert (all (fun s z => IZR z = IZR b * V y s) point) as A.
  { apply put_coordinates_ok with (x := y); auto. apply nall_add; [exact Logic.I|].
    unfold V, coordinates. simpl. ring. }
  apply mapo_ok in M.
  assert (Forall (fun r => (0 < snd r)%Z /\ over_coordinates d (fst r) = true) rs /\
    List.map (fun r => sign_of (ap (V y) r)) rs = s) as [G1 G2].
  { clear - M A B. induction M as [|r t rs s H M IH]; simpl; [auto|].
    destruct (sign_at_ok _ _ _ _ _ B A H) as (? & ? & ->). destruct IH as [? ->]. auto. }
  assert (List.map (ap (V y)) rs = values y) as W.
  { apply (rows_right y s rs X E). right. rewrite G2. apply fc_refl. }
  repeat (split; auto). rewrite <- W, map_map. auto.
Qed.
(** ** Points of the plane *)

Lemma line_in_plane x y t : in_plane p x -> in_plane p y -> in_plane p (on_line t x y).
Proof.
  intros [L X] [M Y]. assert (List.length x = List.length y) as LM by congruence. split.
  { rewrite on_line_length; auto. }
  apply Forall_forall. intros r R. rewrite Forall_forall in X, Y.
  rewrite on_line_dot, (X r R), (Y r R) by auto. ring.
Qed.

Lemma V_line x y t s : in_plane p x -> in_plane p y ->
  V (on_line t x y) s = V x s + t * (V y s - V x s).
Proof.
  intros [L X] [M Y]. unfold V, coordinates. destruct (s =? 0)%N; [ring|].
  destruct (s <=? d)%N; [apply on_line_coords; congruence|ring].
Qed.

Lemma ap_line x y t r : in_plane p x -> in_plane p y ->
  ap (V (on_line t x y)) r = ap (V x) r + t * (ap (V y) r - ap (V x) r).
Proof.
  intros X Y. unfold ap, Rdiv.
  assert (val (V (on_line t x y)) (fst r) =
    val (V x) (fst r) + t * (val (V y) (fst r) - val (V x) (fst r))) as ->; [|ring].
  induction (fst r) as [|[s c] f IH]; simpl; [ring|]. rewrite IH, V_line by auto. ring.
Qed.

Lemma V_near e x y s : near e x y -> (s <= d)%N -> 0 < e -> Rabs (V y s - V x s) < e.
Proof.
  intros K L E. unfold V, coordinates. destruct (s =? 0)%N. { rewrite Rminus_eq_0, Rabs_R0. auto. }
  destruct (s <=? d)%N; [apply near_coords; auto|]. rewrite Rminus_eq_0, Rabs_R0. auto.
Qed.

Lemma tame_line x y : List.length x = List.length y -> tame_list (fun t => on_line t x y).
Proof.
  intro L. split. { exists (List.length x). intro. apply on_line_length. auto. }
  revert y L. induction x as [|a x IH]; intros [|b y] L j; try discriminate; simpl.
  { destruct j; apply tame_const. }
  destruct j as [|j]; [|apply IH; simpl in L; congruence].
  apply (tame_affine _ a (b - a)). intro; ring.
Qed.

Lemma tame_values x y : in_plane p x -> in_plane p y -> tame_list (fun t => values (on_line t x y)).
Proof.
  intros X Y. unfold values. apply tame_list_app.
  - split. { exists (List.length bounds). intro. apply map_length. }
    intro j. revert j. induction bounds as [|r rs IH]; intros [|j]; simpl; try apply tame_const;
      auto.
    apply (tame_affine _ (ap (V x) r) (ap (V y) r - ap (V x) r)).
    intro t. rewrite ap_line by auto. ring.
  - apply (tame_zs _ _ (fun t => [on_line t x y])). split; [exists 1%nat; auto|].
    intros [|k]. { apply tame_line. destruct X, Y. congruence. }
    assert (forall t, nth (S k) [on_line t x y] [] = []) as N by (intro; destruct k; auto).
    replace (fun t => nth (S k) [on_line t x y] []) with (fun _ : R => @nil R).
    { split; [exists 0%nat; auto|]. intros [|j]; apply tame_const. }
    apply functional_extensionality. intro. auto.
Qed.

(** ** The abstract theorem *)

Definition plane_point := {x : list R | in_plane p x}.
Definition value (i : nat) (x : plane_point) : R := nth i (values (proj1_sig x)) 0.
Definition all_forms : list nat := seq 0 num_forms.
Definition inequality (i : nat) : Prop := (i < num_bounds)%nat.
Definition kept (s : nat -> Z) (i : nat) (y : plane_point) : R :=
  nth i (match rows (List.map s all_forms) with
         | Some rs => List.map (ap (V (proj1_sig y))) rs
         | None => []
         end) 0.

Notation sg := (sg nat plane_point value).
Notation face := (face nat).

Lemma value_out i x : (num_forms <= i)%nat -> value i x = 0.
Proof. intro H. apply nth_overflow. rewrite values_length. auto. Qed.

Lemma forms_or_zero i : In i all_forms \/ forall x, value i x = 0.
Proof.
  destruct (Nat.lt_ge_cases i num_forms) as [H|H].
  - left. apply in_seq. lia.
  - right. intro. apply value_out. auto.
Qed.

Lemma sg_nth x i : sg x i = nth i (List.map sign_of (values (proj1_sig x))) 0%Z.
Proof.
  unfold VertexLists.sg, value. rewrite <- (map_nth sign_of). f_equal. apply sign_zero. auto.
Qed.

Lemma from_nth a : forall k s, (forall i, (i < List.length a)%nat -> fc (nth i a 0%Z) (s (k +
  i)%nat)) ->
  Forall2 fc a (List.map s (seq k (List.length a))).
Proof.
  induction a as [|e a IH]; intros k s H; simpl; constructor.
  - specialize (H 0%nat). rewrite Nat.add_0_r in H. apply H. simpl. lia.
  - apply IH. intros i L. specialize (H (S i)). rewrite Nat.add_succ_r in H. apply H. simpl. lia.
Qed.

Lemma face_list x s : face (sg x) s ->
  Forall2 fc (List.map sign_of (values (proj1_sig x))) (List.map s all_forms).
Proof.
  intro F. unfold all_forms. rewrite <- (values_length (proj1_sig x)), <- (map_length sign_of).
  apply from_nth. intros i _. rewrite <- sg_nth. apply F.
Qed.

Lemma Forall2_in {X Y} (P : X -> Y -> Prop) l m a : Forall2 P l m -> In a l ->
  exists b, In b m /\ P a b.
Proof.
  induction 1 as [|x y l m H F IH]; simpl; [tauto|]. intros [<-|I]; [exists y; auto|].
  destruct (IH I) as (b & J & K). exists b. auto.
Qed.

Lemma nth_ap v rs i : nth i (List.map (ap v) rs) 0 = ap v (nth i rs ([], 1%Z)).
Proof.
  rewrite <- (map_nth (ap v)). f_equal. unfold ap. simpl. field.
Qed.
Lemma constant_val v f : v 0%N = 1 -> forallb (fun q => (fst q =? 0)%N) f = true ->
  val v f = IZR (constant_of f).
Proof.
  intro V0. induction f as [|[s c] f IH]; simpl; auto. intro E. apply andb_prop in E as [E F].
  apply N.eqb_eq in E. subst. rewrite plus_IZR, IH, V0 by auto. ring.
Qed.

Section Constants.
Hypothesis constants : constants_hold = true.

Lemma constants_good :
  Forall (fun r => is_constant r = true -> (0 <= constant_of (fst r))%Z) sl /\
  Forall (fun r => (0 < snd r)%Z) sl.
Proof.
  unfold constants_hold in constants. apply andb_prop in constants as [C1 C2].
  rewrite forallb_forall in C1, C2. split; apply Forall_forall; intros r I.
  - intro Q. specialize (C1 r I). rewrite Q in C1. apply Z.leb_le. auto.
  - apply Z.ltb_lt. auto.
Qed.

Lemma in_domain_iff x : in_plane p x ->
  (in_domain (area p) x <-> Forall (fun r => 0 <= ap (V x) r) bounds).
Proof.
  intro X. destruct (at_plane x X) as (_ & _ & _ & F). destruct X as [_ Q].
  destruct constants_good as (P1 & P2). unfold in_domain, bounds.
  assert (Forall (fun r => dot (fst r) x <= IZR (snd r)) (ineqs (area p)) <->
    Forall (fun r => 0 <= ap (V x) r) sl) as G.
  { clear - F. induction F as [|r row sl rows [D R] F IH]; [split; constructor|].
    assert (ap (V x) r = IZR (snd row) - dot (fst row) x) as E.
    { unfold ap. apply IZR_lt in D. rewrite R. field. lra. }
    split; intro K; inversion K; subst; constructor; try (apply IH; auto); lra. }
  rewrite G. split.
  - intros [K _]. apply Forall_forall. intros r I. apply filter_In in I as [I _].
    rewrite Forall_forall in K. auto.
  - intro K. split; auto. apply Forall_forall. intros r I.
    destruct (is_constant r) eqn:C.
    + rewrite Forall_forall in P1, P2. specialize (P1 r I C). specialize (P2 r I).
      unfold ap. rewrite constant_val by (auto; reflexivity).
      apply IZR_le in P1. apply IZR_lt in P2. apply Rmult_le_pos; auto.
      apply Rlt_le, Rinv_0_lt_compat. auto.
    + rewrite Forall_forall in K. apply K. apply filter_In. rewrite C. auto.
Qed.

Lemma value_bound i x : (i < num_bounds)%nat ->
  value i x = ap (V (proj1_sig x)) (nth i bounds ([], 1%Z)).
Proof.
  intro H. unfold value, values. rewrite app_nth1 by (rewrite map_length; auto). apply nth_ap.
Qed.

Notation inside := (inside nat plane_point inequality value).

Lemma inside_iff x : inside x <-> in_domain (area p) (proj1_sig x).
Proof.
  rewrite in_domain_iff by (apply proj2_sig). unfold VertexLists.inside, inequality. split.
  - intro H. apply Forall_forall. intros r I. apply (In_nth _ _ ([], 1%Z)) in I as (i & L & <-).
    rewrite <- value_bound; auto.
  - intros F i L. rewrite value_bound by auto. rewrite Forall_forall in F. apply F, nth_In. auto.
Qed.

Notation way := (way nat plane_point inequality value).

Lemma way_trans x y z : way x y -> way y z -> way x z.
Proof. induction 1 as [x|x m y' z' Dm Dy F G W IH]; intro K; auto. apply go with m y'; auto. Qed.

(** The signs of a point are those of another one, or 0. *)
Lemma face_of_values (x m : plane_point) : (forall i, (i < num_forms)%nat -> value i x = 0 \/
    0 < value i x /\ 0 < value i m \/ value i x < 0 /\ value i m < 0) ->
  face (sg x) (sg m).
Proof.
  intros H i. unfold VertexLists.sg. destruct (Nat.lt_ge_cases i num_forms) as [L|L].
  - destruct (H i L) as [Z|[[A B]|[A B]]].
    + left. apply sign_zero. auto.
    + right. rewrite !sign_pos; auto.
    + right. rewrite !sign_neg; auto.
  - left. apply sign_zero, value_out. auto.
Qed.

Lemma on_line_ends a : forall b, List.length a = List.length b -> on_line 0 a b = a /\
  on_line 1 a b = b.
Proof.
  induction a as [|c a IH]; intros [|e b] L; try discriminate; simpl; auto.
  destruct (IH b) as [-> ->]. { simpl in L. congruence. } split; f_equal; ring.
Qed.

Lemma connected x y : inside x -> inside y -> way x y.
Proof.
  intros Dx Dy. destruct x as [x X], y as [y Y].
  assert (List.length x = List.length y) as L by (destruct X, Y; congruence).
  set (w := fun t => exist (in_plane p) (on_line t x y) (line_in_plane x y t X Y)).
  assert (forall t, 0 <= t <= 1 -> inside (w t)) as Dw.
  { intros t T i I. specialize (Dx i I). specialize (Dy i I).
    rewrite value_bound in * by auto. simpl in *. rewrite ap_line by auto. nra. }
  assert (forall u z, (forall i, value i u = value i z) -> inside z -> way u z) as Same.
  { intros u z E Dz. apply go with z z; auto; [| |apply stay]; apply face_of_values; intros i _;
      rewrite ?E; destruct (Rtotal_order (value i z) 0) as [|[|]]; auto. }
  destruct (on_line_ends x y L) as [L0 L1].
  apply way_trans with (w 0).
  { apply Same; [|apply Dw; lra]. intro i. unfold value, w. cbn [proj1_sig]. rewrite L0. auto. }
  apply way_trans with (w 1).
  2:{ apply Same; auto. intro i. unfold value, w. cbn [proj1_sig]. rewrite L1. auto. }
  destruct (tame_values x y X Y) as [_ T].
  pose proof (all_sides (fun i t => value i (w t)) num_forms T) as P.
  assert (forall a b, pieces (fun a b => forall i, (i < num_forms)%nat ->
    one_sided (fun t => value i (w t)) a b) a b -> 0 <= a -> b <= 1 -> way (w a) (w b)) as K.
  { intros a b Q. induction Q as [a b A Q|a m b F IHF G IHG]; intros A0 B1.
    - apply go with (w ((a + b) / 2)) (w b); [apply Dw; lra|apply Dw; lra| | |apply stay];
        apply face_of_values; intros i I; apply (middle _ a b A (Q i I)).
    - pose proof (pieces_less _ _ _ F). pose proof (pieces_less _ _ _ G).
      apply way_trans with (w m); [apply IHF|apply IHG]; lra. }
  apply K; auto; lra.
Qed.

End Constants.

Lemma nth_map_seq (s : nat -> Z) i e : (i < num_forms)%nat -> nth i (List.map s all_forms) e = s i.
Proof.
  intro L. unfold all_forms. rewrite (nth_indep _ e (s 0%nat)) by (rewrite map_length, seq_length;
    auto).
  rewrite map_nth, seq_nth by auto. auto.
Qed.

(** A list of signs as a function. *)
Definition sf (c : list Z) (i : nat) : Z := nth i c 0%Z.

Lemma sf_list c : List.length c = num_forms -> List.map (sf c) all_forms = c.
Proof.
  intro L. apply nth_ext with 0%Z 0%Z.
  { unfold all_forms. rewrite map_length, seq_length. auto. }
  unfold all_forms at 1. rewrite map_length, seq_length. intros i I. rewrite nth_map_seq; auto.
Qed.

Lemma sf_nth c i : List.length c = num_forms -> (i < num_forms)%nat -> sf c i = nth i c 1%Z.
Proof. intros L I. apply nth_indep. lia. Qed.

Lemma skip_bounds (a b : list Z) : List.length a = num_bounds -> skipn num_bounds (a ++ b) = b.
Proof. intro L. rewrite <- L, skipn_app, skipn_all, Nat.sub_diag. auto. Qed.

End Rows.
