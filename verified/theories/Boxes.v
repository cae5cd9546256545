(** Boxes that hold the activations of a layer (FORMAT.md, section 3.3, bounded-replacement;
    docs/theory/box.md). *)
Require Import String ZArith Reals List Bool Lra Lia Psatz.
From PolyreluVerified Require Import Verdicts Networks Domains Numbers Competitors Limits Stacks
  Scaled Invariants.
Import ListNotations.
Open Scope string_scope.
Open Scope list_scope.
Open Scope R_scope.

(** Ends of coordinates, [None] if infinite, over a common denominator. *)
Record box := Box { lows : list (option Z); highs : list (option Z); box_unit : Z }.

(** The largest value of [w u + b], times the denominator of the box; [None] if infinite. *)
Fixpoint largest (w : list Z) (lows highs : list (option Z)) (total : Z) : option Z :=
  match w, lows, highs with
  | c :: w', l :: lows', h :: highs' =>
      if (c =? 0)%Z then largest w' lows' highs' total else
      match (if (0 <? c)%Z then h else l) with
      | Some e => largest w' lows' highs' (total + c * e)
      | None => None
      end
  | _, _, _ => Some total
  end.

Definition supremum (B : box) (r : row) : option Z :=
  largest (fst r) (lows B) (highs B) (snd r * box_unit B).

(** * What they mean *)

Definition above_low (d : Z) (l : option Z) (x : R) : Prop :=
  match l with Some e => IZR e <= IZR d * x | None => True end.
Definition below_high (d : Z) (h : option Z) (x : R) : Prop :=
  match h with Some e => IZR d * x <= IZR e | None => True end.
Definition in_box (B : box) (u : list R) : Prop :=
  (0 < box_unit B)%Z /\
  Forall2 (above_low (box_unit B)) (lows B) u /\
  Forall2 (below_high (box_unit B)) (highs B) u.

Lemma largest_ok d w : forall ls hs u total m, (0 < d)%Z -> length w = length u ->
  Forall2 (above_low d) ls u -> Forall2 (below_high d) hs u -> largest w ls hs total = Some m ->
  IZR d * dot w u + IZR total <= IZR m.
Proof.
  intros ls hs u total m D. apply IZR_lt in D. revert ls hs u total.
  induction w as [|c w IH]; intros ls hs [|x u] total L Fl Fh; try discriminate.
  { simpl. intros [= <-]. lra. }
  inversion Fl as [|l x' ls' u' Hl Fl']; subst. inversion Fh as [|h x' hs' u' Hh Fh']; subst.
  simpl in *.
  injection L as L. destruct (Z.eqb_spec c 0) as [->|C].
  { intro E. apply (IH _ _ _ _ L Fl' Fh') in E. lra. }
  destruct (Z.ltb_spec 0 c) as [P|P].
  - destruct h as [e|]; [|discriminate]. intro E. apply (IH _ _ _ _ L Fl' Fh') in E.
    rewrite plus_IZR, mult_IZR in E. apply IZR_lt in P. simpl in Hh. nra.
  - destruct l as [e|]; [|discriminate]. intro E. apply (IH _ _ _ _ L Fl' Fh') in E.
    rewrite plus_IZR, mult_IZR in E. apply IZR_le in P. simpl in Hl. nra.
Qed.

Lemma supremum_ok B r u m : in_box B u -> length (fst r) = length u -> supremum B r = Some m ->
  IZR (box_unit B) * value r u <= IZR m.
Proof.
  intros (D & L & H) E S. apply (largest_ok _ _ _ _ u _ _ D E L H) in S. rewrite mult_IZR in S.
  unfold value. lra.
Qed.

(** * The box of the activations of a layer *)

Definition max0 (z : Z) : Z := Z.max z 0.

Definition box_above (B : box) (p : plain) : box :=
  Box (List.map (fun r =>
         match supremum B (negated r) with Some m => Some (max0 (- m)) | None => Some 0%Z end)
         (rows p))
      (List.map (fun r => option_map max0 (supremum B r)) (rows p))
      (box_unit B * over p).

(** The numbers stay below the limit of FORMAT.md. *)
Definition end_of (e : option Z) : Z := match e with Some z => z | None => 0%Z end.
Definition box_bits (B : box) : Z :=
  most_bits (List.map end_of (lows B))
    (most_bits (List.map end_of (highs B)) (num_bits (box_unit B))).

Fixpoint image_box (B : box) (s : list plain) : answer box :=
  match s with
  | [] => Good B
  | p :: s' =>
      within (box_bits B + layer_bits p <=? max_grown_bits)%Z
        "same-function: beyond the limits: a box"
        (image_box (box_above B p) s')
  end.

Lemma max0_relu d e z m x : 0 < d -> 0 < e -> IZR z = IZR m -> d * x <= IZR m ->
  d * e * relu (x / e) <= IZR (max0 z).
Proof.
  intros D E Z H. rewrite relu_over by auto.
  replace (d * e * (relu x / e)) with (d * relu x) by (field; lra).
  unfold max0. assert (IZR z <= IZR (Z.max z 0) /\ 0 <= IZR (Z.max z 0)) as [A B] by (split;
    apply IZR_le; lia).
  unfold relu, Rmax. destruct (Rle_dec x 0); [rewrite Rmult_0_r; lra|lra].
Qed.
Lemma max0_relu_low d e z x : 0 < d -> 0 < e -> IZR z <= d * x ->
  IZR (max0 z) <= d * e * relu (x / e).
Proof.
  intros D E H. rewrite relu_over by auto.
  replace (d * e * (relu x / e)) with (d * relu x) by (field; lra).
  unfold max0. pose proof (relu_ge0 x) as R0. unfold relu in *. pose proof (Rmax_l x 0).
  destruct (Z.max_spec z 0) as [[_ ->]|[_ ->]]; nra.
Qed.

Lemma box_above_ok B p u : in_box B u -> (0 < over p)%Z ->
  Forall (fun r => length (fst r) = length u) (rows p) -> in_box (box_above B p) (active p u).
Proof.
  intros I P F. pose proof I as (D & _). pose proof (IZR_lt _ _ D). pose proof (IZR_lt _ _ P).
  unfold active, affine. split; [simpl; nia|]. simpl. split.
  - clear - I F H H0. induction F as [|r rs L F IH]; simpl; constructor; auto.
    unfold above_low. rewrite mult_IZR. destruct (supremum B (negated r)) as [m|] eqn:S.
    + apply (supremum_ok B _ u) in S; auto; [|simpl; rewrite map_length; auto].
      rewrite value_negated in S.
      apply max0_relu_low; auto. rewrite opp_IZR. lra.
    + apply Rmult_le_pos; [nra|apply relu_ge0].
  - clear - I F H H0. induction F as [|r rs L F IH]; simpl; constructor; auto.
    unfold below_high. rewrite mult_IZR. destruct (supremum B r) as [m|] eqn:S; simpl; auto.
    apply (supremum_ok B _ u) in S; auto. eapply max0_relu; eauto.
Qed.

Lemma image_box_ok s : forall B B' u, in_box B u -> fits (length u) s -> image_box B s = Good B' ->
  in_box B' (reads s u).
Proof.
  induction s as [|p s IH]; simpl; intros B B' u I F. { intros [= <-]. auto. }
  destruct F as (P & F & G). intro E. apply within_good in E as [_ E].
  apply (IH (box_above B p)); auto.
  - apply box_above_ok; auto.
  - rewrite active_length. auto.
Qed.

(** * The box around a domain, from its inequalities in one coordinate *)

(** The only coefficient that is not 0, with its coordinate. *)
Fixpoint lone (j : nat) (w : list Z) : option (nat * Z) :=
  match w with
  | [] => None
  | c :: w' =>
      if (c =? 0)%Z then lone (S j) w'
      else if forallb (fun x => x =? 0)%Z w' then Some (j, c) else None
  end.

(** Coordinate [j] times [a] is at most [c]. *)
Definition sides_of (D : domain) : list (nat * Z * Z) :=
  flat_map (fun r => match lone 0 (fst r) with Some (j, a) => [(j, a, snd r)] | None => [] end)
    (ineqs D).

Definition larger (l : option Z) (z : Z) : option Z :=
  match l with Some e => Some (Z.max e z) | None => Some z end.
Definition smaller (h : option Z) (z : Z) : option Z :=
  match h with Some e => Some (Z.min e z) | None => Some z end.

(** The box over the denominator [d], with one more side. *)
Definition add_side (d : Z) (B : option (list (option Z) * list (option Z))) (side : nat * Z * Z) :=
  match B with
  | None => None
  | Some (ls, hs) =>
      let '(j, a, c) := side in
      let e := (c * d / a)%Z in
      if (e * a =? c * d)%Z then
        if (0 <? a)%Z then Some (ls, update j (fun h => smaller h e) hs)
        else Some (update j (fun l => larger l e) ls, hs)
      else None
  end.

Fixpoint consistent (ls hs : list (option Z)) : bool :=
  match ls, hs with
  | Some l :: ls', Some h :: hs' => (l <=? h)%Z && consistent ls' hs'
  | _ :: ls', _ :: hs' => consistent ls' hs'
  | _, _ => true
  end.

Definition infinite (m : nat) : list (option Z) := repeat None m.

Definition box_of_inputs (m : nat) (D : domain) : option box :=
  let sides := sides_of D in
  let d := fold_left (fun d s => Z.lcm d (snd (fst s) / Z.gcd (snd (fst s)) (snd s))) sides 1%Z in
  match fold_left (add_side d) sides (Some (infinite m, infinite m)) with
  | Some (ls, hs) => if (0 <? d)%Z && consistent ls hs then Some (Box ls hs d) else None
  | None => None
  end.

Lemma lone_dot w : forall j k c u, lone j w = Some (k, c) -> length w = length u ->
  (j <= k)%nat /\ dot w u = IZR c * nth (k - j) u 0 /\ (k - j < length u)%nat /\ (c <> 0)%Z.
Proof.
  induction w as [|x w IH]; intros j k c [|y u]; simpl; try discriminate.
  destruct (Z.eqb_spec x 0) as [->|N].
  - intros E [= L]. destruct (IH _ _ _ u E L) as (A & B & C & D). split; [lia|].
    replace (k - j)%nat with (S (k - S j)) by lia. simpl. rewrite B. split; [lra|split; [lia|auto]].
  - destruct (forallb _ w) eqn:Z; [|discriminate]. intros [= <- <-] L. split; [lia|].
    rewrite Nat.sub_diag. simpl. split; [|split; [lia|auto]].
    assert (dot w u = 0) as ->; [|lra]. clear - Z. revert u.
    induction w as [|x w IH]; intros [|y u]; simpl in *; auto.
    apply andb_prop in Z as [Z1 Z2]. apply Z.eqb_eq in Z1. rewrite Z1, IH by auto. lra.
Qed.

Lemma Forall2_update {X} (P : X -> R -> Prop) j f l u :
  Forall2 P l u -> (forall x, P x (nth j u 0) -> P (f x) (nth j u 0)) -> Forall2 P (update j f l) u.
Proof.
  intro F. revert j. induction F as [|x y l u H F IH]; intros [|j] K; simpl; constructor; auto.
Qed.

Lemma add_side_ok d ls hs ls' hs' j a c x : (0 < d)%Z -> (a <> 0)%Z ->
  Forall2 (above_low d) ls x -> Forall2 (below_high d) hs x -> IZR a * nth j x 0 <= IZR c ->
  add_side d (Some (ls, hs)) (j, a, c) = Some (ls', hs') ->
  Forall2 (above_low d) ls' x /\ Forall2 (below_high d) hs' x.
Proof.
  intros D N L H I. unfold add_side. set (e := (c * d / a)%Z) in *.
  destruct (Z.eqb_spec (e * a) (c * d)) as [E|]; [|discriminate].
  apply IZR_lt in D as D'. apply (f_equal IZR) in E. rewrite !mult_IZR in E.
  destruct (Z.ltb_spec 0 a) as [P|P]; intros [= <- <-]; split; auto.
  - apply Forall2_update; auto. intros h K. apply IZR_lt in P.
    assert (IZR d * nth j x 0 <= IZR e) as M by (apply (Rmult_le_reg_r (IZR a)); auto; rewrite E;
      nra).
    destruct h as [f|]; simpl in *; auto. destruct (Z.min_spec f e) as [[_ ->]|[_ ->]]; auto.
  - apply Forall2_update; auto. intros l K. assert (0 < - a)%Z as Q by lia. apply IZR_lt in Q.
    rewrite opp_IZR in Q.
    assert (IZR e <= IZR d * nth j x 0) as M.
    { apply (Rmult_le_reg_r (- IZR a)); auto. nra. }
    destruct l as [f|]; simpl in *; auto. destruct (Z.max_spec f e) as [[_ ->]|[_ ->]]; auto.
Qed.

Lemma infinite_ok m x (P : option Z -> R -> Prop) : length x = m -> (forall y, P None y) ->
  Forall2 P (infinite m) x.
Proof. intros <- H. unfold infinite. induction x; simpl; constructor; auto. Qed.

Lemma interior_le D x : interior D x -> Forall (fun r => length (fst r) = length x) (ineqs D) ->
  Forall (fun r => dot (fst r) x <= IZR (snd r)) (ineqs D).
Proof.
  intros I _. unfold interior in I. eapply Forall_impl; [|exact I]. intros r [[Z C]|C]; [|lra].
  apply IZR_le in C. assert (dot (fst r) x = 0) as ->; [|lra]. clear - Z. revert x.
  induction Z as [|c w E Z IH]; intros [|y x]; simpl; auto. rewrite IH, E. lra.
Qed.

Lemma box_of_inputs_ok m D B x : box_of_inputs m D = Some B -> length x = m -> interior D x ->
  Forall (fun r => length (fst r) = m) (ineqs D) -> in_box B x.
Proof.
  unfold box_of_inputs. intros H X I R. set (d := fold_left _ (sides_of D) 1%Z) in *.
  destruct (fold_left (add_side d) (sides_of D) _) as [[ls hs]|] eqn:E; [|discriminate].
  destruct (Z.ltb_spec 0 d) as [P|]; [|discriminate]. cbn [andb] in H.
  destruct (consistent ls hs); [|discriminate]. injection H as <-.
  rewrite <- X in R. apply interior_le in I; auto.
  assert (Forall (fun s => (snd (fst s) <> 0)%Z /\
    IZR (snd (fst s)) * nth (fst (fst s)) x 0 <= IZR (snd s)) (sides_of D)) as S.
  { clear - I R. unfold sides_of. induction I as [|r rs I _ IH]; simpl; [constructor|].
    inversion R; subst. apply Forall_app. split; auto.
    destruct (lone 0 (fst r)) as [[j a]|] eqn:L; constructor; auto.
    simpl. apply (lone_dot _ _ _ _ x) in L; auto. destruct L as (_ & L & _ & N).
    rewrite Nat.sub_0_r in L. split; [auto|lra]. }
  assert (Forall2 (above_low d) (infinite m) x /\ Forall2 (below_high d) (infinite m) x) as [F1 F2].
  { split; apply infinite_ok; simpl; auto. }
  split; [auto|]. simpl. clearbody d. clear - S E F1 F2 P. revert F1 F2 E.
  generalize (infinite m) at 1 3 as a. generalize (infinite m) as b. intros b a.
  revert a b. induction S as [|[[j k] c] sides [S0 S1] S IH]; intros a b A B; simpl.
  - intros [= <- <-]. auto.
  - destruct (if (c * d / k * k =? c * d)%Z then _ else None) as [[a' b']|] eqn:Q.
    + destruct (add_side_ok d a b a' b' j k c x P S0 A B S1 Q). apply IH; auto.
    + clear. intro H. exfalso. induction sides as [|s sides IH]; simpl in H; [discriminate|auto].
Qed.

(** * The largest box: R^n, or the orthant behind a hidden layer *)

Definition largest_box (m : nat) (s : list plain) : box :=
  Box (repeat (match s with [] => None | _ => Some 0%Z end) m) (infinite m) 1.

Lemma largest_box_ok s x : in_box (largest_box (length (reads s x)) s) (reads s x).
Proof.
  split; [simpl; lia|]. simpl. split; [|apply infinite_ok; simpl; auto].
  destruct s as [|p s]. { apply infinite_ok; simpl; auto. }
  pose proof (reads_nonneg (p :: s) x ltac:(discriminate)) as F. clear - F.
  induction F as [|y u H F IH]; simpl; constructor; auto. simpl. lra.
Qed.
