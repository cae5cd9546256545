(** Theorem flip: neurons beside a hidden one are negated (FORMAT.md, section 3.3;
    docs/theory/hidden_hyperplanes.md, Proposition 2).

    The hidden layer [depth + 1] is one neuron with row [w] and a bias at most 0; only its weight
    on neuron [j] is positive. *)
Require Import ZArith Reals List Bool Lra Lia Psatz.
From PolyreluVerified Require Import Networks Numbers Stacks Scaled.
Import ListNotations.
Open Scope R_scope.

(** * What is checked *)

(** The indices ascend and are at least [low]. *)
Fixpoint ascending (low : nat) (l : list nat) : bool :=
  match l with [] => true | k :: l' => Nat.leb low k && ascending (S k) l' end.

(** A mark for each of [n] neurons, from neuron [i] on: the listed ones, in ascending order. *)
Fixpoint marks (i n : nat) (listed : list nat) : list bool :=
  match n with
  | O => []
  | S n' =>
      match listed with
      | [] => false :: marks (S i) n' []
      | k :: rest =>
          if Nat.eqb k i then true :: marks (S i) n' rest else false :: marks (S i) n' listed
      end
  end.

Fixpoint negate_marked (f : list bool) (rs : list row) : list row :=
  match f, rs with
  | b :: f', r :: rs' => (if b then negated r else r) :: negate_marked f' rs'
  | _, _ => []
  end.

(** The sum of the marked rows, times their weights, and [r]. *)
Fixpoint add_marked (f : list bool) (w : list Z) (rs : list row) (r : row) : row :=
  match f, w, rs with
  | b :: f', c :: w', s :: rs' => add_marked f' w' rs' (if b then plus_row 1 r c s else r)
  | _, _, _ => r
  end.

Definition flipped_rows (j : nat) (f : list bool) (w : list Z) (l : plain) : list row :=
  let g := nth j w 0%Z in
  update j (add_marked f w (rows l)) (List.map (times_row g) (negate_marked f (rows l))).

Definition is_flip (c : change) (last_relu : bool) (j : nat) (flipped : list nat) : bool :=
  match rows (upper c) with
  | [r] =>
      let w := fst r in
      let n := length (rows (lower c)) in
      let f := marks 0 n flipped in
      is_hidden (above c) last_relu &&
      Nat.ltb j n && ascending 0 flipped && forallb (fun k => Nat.ltb k n) flipped &&
      match flipped with [] => false | _ => true end && negb (nth j f false) &&
      (0 <? nth j w 0)%Z && others_nonpositive j w && (snd r <=? 0)%Z &&
      layer_is (lower' c) (flipped_rows j f w (lower c)) (over (lower c) * nth j w 0)%Z &&
      plain_eqb (upper c) (upper' c)
  | _ => false
  end.

(** * What it proves *)

(** With [g > 0] the weight on the neuron at [s], [y] what the flips add, and [p] the sum of all
    other terms, over [-g]. *)
Lemma flip_number g s y p b : 0 < g -> y <= p -> 0 <= p -> b <= 0 ->
  relu (g * (relu (s - y) + y - p) + b) = relu (g * (relu s - p) + b).
Proof.
  intros G Y P B. unfold relu at 2 4.
  destruct (Rle_lt_dec 0 (s - y)) as [A|A]; destruct (Rle_lt_dec 0 s) as [C|C].
  - rewrite (Rmax_left (s - y)), (Rmax_left s) by lra. f_equal. ring.
  - rewrite (Rmax_left (s - y)), (Rmax_right s) by lra. rewrite !relu_neg; nra.
  - rewrite (Rmax_right (s - y)), (Rmax_left s) by lra. rewrite !relu_neg; nra.
  - rewrite (Rmax_right (s - y)), (Rmax_right s) by lra. rewrite !relu_neg; nra.
Qed.

Fixpoint negate_numbers (f : list bool) (z : list R) : list R :=
  match f, z with
  | b :: f', x :: z' => (if b then - x else x) :: negate_numbers f' z'
  | _, _ => []
  end.
Fixpoint marked_sum (f : list bool) (w : list Z) (z : list R) : R :=
  match f, w, z with
  | b :: f', c :: w', x :: z' => (if b then IZR c * x else 0) + marked_sum f' w' z'
  | _, _, _ => 0
  end.

Lemma over_scaled g v d : g <> 0 -> d <> 0 -> g * v / (d * g) = v / d.
Proof. intros. field. auto. Qed.

Lemma relu_neg_arg x : relu (- x) = relu x - x.
Proof. rewrite (relu_flip x). lra. Qed.

Lemma dot_negate_numbers f w z : length f = length z ->
  dot w (List.map relu (negate_numbers f z)) = dot w (List.map relu z) - marked_sum f w z.
Proof.
  revert w z. induction f as [|b f IH]; intros [|c w] [|x z]; simpl; try discriminate; try lra.
  intros [= L]. rewrite IH by auto. destruct b; [rewrite relu_neg_arg|]; lra.
Qed.

Lemma negate_numbers_length f z : length f = length z -> length (negate_numbers f z) = length z.
Proof. revert z. induction f as [|b f IH]; intros [|x z]; simpl; try discriminate; auto. Qed.
Lemma negate_numbers_nth f z j : nth j f false = false -> length f = length z ->
  nth j (negate_numbers f z) 0 = nth j z 0.
Proof.
  revert z j. induction f as [|b f IH]; intros [|x z] [|j]; simpl; try discriminate; auto.
  intros -> _. auto.
Qed.

(** The weights of the other neurons are at most 0. *)
Lemma marked_sum_bound f w z j : others_nonpositive j w = true -> nth j f false = false ->
  length f = length z ->
  dot w (List.map relu z) - IZR (nth j w 0%Z) * relu (nth j z 0) <= marked_sum f w z.
Proof.
  assert (relu 0 = 0) as R0 by (apply relu_pos; lra).
  assert (forall f w z, forallb (fun c => c <=? 0)%Z w = true -> length f = length z ->
    dot w (List.map relu z) <= marked_sum f w z) as K.
  { clear - R0. induction f as [|b f IH]; intros [|c w] [|x z]; simpl; try discriminate; try lra.
    intros H [= L]. apply andb_prop in H as [H1 H2]. apply Z.leb_le, IZR_le in H1.
    specialize (IH w z H2 L). pose proof (relu_ge0 x). pose proof (relu_flip x).
    pose proof (relu_ge0 (- x)). destruct b; nra. }
  revert w z j. induction f as [|b f IH]; intros [|c w] [|x z] [|j]; simpl; try discriminate;
    try (intros; rewrite ?R0; lra).
  - intros H -> [= L]. specialize (K f w z H L). lra.
  - intros H B [= L]. apply andb_prop in H as [H1 H2]. apply Z.leb_le, IZR_le in H1.
    specialize (IH w z j H2 B L). pose proof (relu_ge0 x). pose proof (relu_flip x).
    pose proof (relu_ge0 (- x)). destruct b; nra.
Qed.

Lemma marks_length i n l : length (marks i n l) = n.
Proof.
  revert i l. induction n as [|n IH]; intros i [|k l]; simpl; auto.
  destruct (Nat.eqb k i); simpl; auto.
Qed.

Lemma value_negate f rs d u : length f = length rs ->
  List.map (fun r => value r u / d) (negate_marked f rs) =
  negate_numbers f (List.map (fun r => value r u / d) rs).
Proof.
  revert rs. induction f as [|b f IH]; intros [|r rs]; simpl; try discriminate; auto.
  intros [= L]. rewrite IH by auto. f_equal. destruct b; [rewrite value_negated; lra|auto].
Qed.

Lemma value_add_marked m f w rs d u : Forall (fun r => length (fst r) = m) rs -> d <> 0 ->
  forall r, length (fst r) = m ->
  value (add_marked f w rs r) u =
  value r u + d * marked_sum f w (List.map (fun r => value r u / d) rs).
Proof.
  intros F D. revert w rs F. induction f as [|b f IH]; intros [|c w] [|s rs] F r L; simpl; try lra.
  inversion F; subst. rewrite IH; auto.
  - destruct b; [rewrite value_plus by congruence|]; field_simplify; auto.
  - destruct b; auto. unfold plus_row. simpl.
    assert (forall v v', length v = length v' -> length (combined 1 v c v') = length v) as K.
    { clear. induction v as [|x v IH]; intros [|y v']; simpl; try discriminate; auto. }
    rewrite K; congruence.
Qed.

Theorem flip_ok m c last_relu j flipped x :
  is_flip c last_relu j flipped = true -> length x = m ->
  fits m (below c ++ lower c :: upper c :: above c) ->
  fits m (below c ++ lower' c :: upper' c :: above c) ->
  compute (below c ++ lower' c :: upper' c :: above c) last_relu x =
  compute (below c ++ lower c :: upper c :: above c) last_relu x.
Proof.
  unfold is_flip. intros H X F F'. set (u := reads (below c) x).
  destruct (rows (upper c)) as [|r [|? ?]] eqn:Rows; try discriminate.
  apply andb_prop in H as [H Same]. apply andb_prop in H as [H Layer].
  apply andb_prop in H as [H Bias]. apply andb_prop in H as [H Others].
  apply andb_prop in H as [H Positive]. apply andb_prop in H as [H Unmarked].
  apply andb_prop in H as [H _]. apply andb_prop in H as [H _].
  apply andb_prop in H as [H _]. apply andb_prop in H as [Hidden J].
  apply plain_eqb_ok in Same. rewrite <- Same. symmetry.
  symmetry. pose (c' := Change (below c) (lower' c) (upper c) (lower c) (upper c) (above c)).
  apply (compute_change c' last_relu x). right. split; [exact Hidden|]. simpl. fold u.
  apply (reads_length _ _ _ x) in F; auto. apply (reads_length _ _ _ x) in F'; auto.
  destruct F as (P1 & F1 & P2 & _), F' as (P1' & _).
  set (f := marks 0 (length (rows (lower c))) flipped) in *. fold u in F1.
  assert (length f = length (rows (lower c))) as Lf by apply marks_length.
  apply negb_true_iff in Unmarked. apply Nat.ltb_lt in J.
  apply Z.ltb_lt in Positive. pose proof (IZR_lt _ _ Positive) as G. apply Z.leb_le, IZR_le in Bias.
  set (w := fst r) in *. set (z := affine (lower c) u).
  assert (length z = length (rows (lower c))) as Lz by apply affine_length.
  assert (Forall (Rle 0) (List.map relu z)) as A.
  { apply Forall_forall. intros y I. apply in_map_iff in I as (? & <- & _). apply relu_ge0. }
  set (g := IZR (nth j w 0%Z)) in *. set (y := - marked_sum f w z / g).
  apply IZR_lt in P1. apply IZR_lt in P2.
  assert (affine (lower' c) u = update j (fun s => s - y) (negate_numbers f z)) as E.
  { rewrite (layer_is_ok _ _ _ u Layer) by (auto; apply Z.mul_pos_pos; auto; apply lt_IZR; auto).
    unfold flipped_rows. cbv zeta. rewrite mult_IZR. fold g.
    rewrite (map_update _ j _ (fun s => s - y)), map_map.
    - f_equal. unfold z, affine. rewrite <- value_negate by auto. apply map_ext. intro s.
      rewrite value_times. fold g. apply over_scaled; lra.
    - intros s I. assert (length (fst s) = length u) as Ls.
      { apply nth_error_In in I. apply in_map_iff in I as (s' & <- & I). simpl. rewrite map_length.
        clear - F1 I. revert I. generalize (rows (lower c)) F1.
        induction f as [|b f' IH]; simpl; [tauto|].
        intros [|s rs] Q; simpl; [tauto|]. inversion Q; subst. intros [<-|I]; [|eapply IH; eauto].
        destruct b; auto. simpl. rewrite map_length. auto. }
      rewrite (value_add_marked (length u) f w _ (IZR (over (lower c)))); auto; [|lra].
      fold (affine (lower c) u). fold z. unfold y. clearbody y g z. field. lra. }
  unfold active at 1 3. unfold affine at 1 2. rewrite Rows. simpl. f_equal.
  rewrite !relu_over by auto. f_equal. unfold value. fold w.
  assert (active (lower' c) u =
    update j (fun _ => relu (nth j z 0 - y)) (List.map relu (negate_numbers f z))) as Ea.
  { unfold active. rewrite E. apply map_update. intros s I. f_equal. f_equal.
    rewrite <- (negate_numbers_nth f z j Unmarked) by congruence.
    symmetry. apply nth_error_nth. auto. }
  rewrite Ea, dot_update by (rewrite map_length, negate_numbers_length; congruence).
  rewrite dot_negate_numbers by congruence. change (active (lower c) u) with (List.map relu z).
  fold g.
  assert (nth j (List.map relu (negate_numbers f z)) 0 = relu (nth j z 0)) as ->.
  { rewrite <- (negate_numbers_nth f z j Unmarked) by congruence.
    rewrite nth_indep with (d' := relu 0) by (rewrite map_length, negate_numbers_length;
      congruence).
    apply map_nth. }
  set (s := nth j z 0). set (b := IZR (snd r)) in *.
  pose proof (marked_sum_bound f w z j Others Unmarked ltac:(congruence)) as B1. fold g s in B1.
  pose proof (dot_rest j w (List.map relu z) Others A) as B2. fold g in B2.
  assert (nth j (List.map relu z) 0 = relu s) as Ej.
  { rewrite nth_indep with (d' := relu 0) by (rewrite map_length; congruence). apply map_nth. }
  rewrite Ej in B2. set (d := dot w (List.map relu z)) in *. set (q := marked_sum f w z) in *.
  set (p := - (d - g * relu s) / g).
  assert (g * y = - q) as Gy by (unfold y; clearbody y g; field; lra).
  assert (g * p = - (d - g * relu s)) as Gp by (unfold p; clearbody p y g; field; lra).
  pose proof (flip_number g s y p b G) as N.
  replace (d - q + g * (relu (s - y) - relu s) + b) with (g * (relu (s - y) + y - p) + b) by nra.
  rewrite N; auto.
  - f_equal. nra.
  - apply (Rmult_le_reg_l g); auto. lra.
  - apply (Rmult_le_reg_l g); auto. lra.
Qed.
