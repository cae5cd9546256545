(** Theorem translation: a hidden hyperplane is moved (FORMAT.md, section 3.3;
    docs/theory/hidden_hyperplanes.md, Proposition 1).

    Layers [depth] and [depth + 1] are hidden; neuron [j] of the lower one is the only one with
    positive weights in the upper one, whose biases are at most 0. *)
Require Import ZArith QArith Qreals Reals List Bool Lra Lia Psatz.
From PolyreluVerified Require Import Networks Numbers Stacks Scaled.
Import ListNotations.
Open Scope R_scope.

(** * What is checked *)

(** The shift is [p/q]. *)
Definition row_hides (j : nat) (p q : Z) (r : row) : bool :=
  let w := nth j (fst r) 0%Z in
  (0 <=? w)%Z && others_nonpositive j (fst r) && (snd r <=? 0)%Z && (snd r * q <=? p * w)%Z.

Definition shifted_below (j : nat) (p q : Z) (l : plain) : list row :=
  update j (fun r => (fst r, (snd r + p * over l)%Z)) (List.map (times_row q) (rows l)).

Definition shifted_above (j : nat) (p q : Z) (l : plain) : list row :=
  List.map (fun r => (List.map (Z.mul q) (fst r), (q * snd r - p * nth j (fst r) 0)%Z)) (rows l).

Definition is_translation (c : change) (last_relu : bool) (j : nat) (shift : Q) : bool :=
  let p := Qnum shift in
  let q := Zpos (Qden shift) in
  is_hidden (above c) last_relu &&
  Nat.ltb j (length (rows (lower c))) &&
  forallb (row_hides j p q) (rows (upper c)) &&
  layer_is (lower' c) (shifted_below j p q (lower c)) (q * over (lower c)) &&
  layer_is (upper' c) (shifted_above j p q (upper c)) (q * over (upper c)).

(** * What it proves *)

Lemma translation_number w s r b t : 0 <= w -> r <= b -> b <= 0 -> b <= t * w ->
  relu (w * relu (s + t) + r - t * w) = relu (w * relu s + r).
Proof.
  intros W R B T. unfold relu at 2 4.
  destruct (Rle_lt_dec 0 (s + t)) as [A|A].
  - rewrite (Rmax_left (s + t)) by lra. destruct (Rle_lt_dec 0 s).
    + rewrite (Rmax_left s) by lra. f_equal. ring.
    + rewrite (Rmax_right s) by lra. rewrite !relu_neg; nra.
  - rewrite (Rmax_right (s + t)) by lra. destruct (Rle_lt_dec 0 s).
    + rewrite (Rmax_left s) by lra. rewrite !relu_neg; nra.
    + rewrite (Rmax_right s) by lra. rewrite !relu_neg; nra.
Qed.

Lemma affine_shifted_below j p q l l' u : (0 < q)%Z -> (0 < over l)%Z -> (0 < over l')%Z ->
  layer_is l' (shifted_below j p q l) (q * over l) = true ->
  affine l' u = update j (fun z => z + IZR p / IZR q) (affine l u).
Proof.
  intros Q L L' H. rewrite (layer_is_ok _ _ _ u H) by nia. unfold shifted_below, affine.
  apply IZR_lt in Q, L.
  rewrite (map_update _ j _ (fun z => z + IZR p / IZR q)), map_map.
  - f_equal. apply map_ext. intro r. rewrite value_times, mult_IZR. field. lra.
  - intros r _. unfold value. simpl. rewrite plus_IZR, !mult_IZR. field. lra.
Qed.

Lemma nth_map_relu j l : (j < length l)%nat -> nth j (List.map relu l) 0 = relu (nth j l 0).
Proof.
  intro H. rewrite nth_indep with (d' := relu 0) by (rewrite map_length; auto). apply map_nth.
Qed.

Theorem translation_ok m c last_relu j shift x :
  is_translation c last_relu j shift = true -> length x = m ->
  fits m (below c ++ lower c :: upper c :: above c) ->
  fits m (below c ++ lower' c :: upper' c :: above c) ->
  compute (below c ++ lower' c :: upper' c :: above c) last_relu x =
  compute (below c ++ lower c :: upper c :: above c) last_relu x.
Proof.
  unfold is_translation. intros H X F F'. set (u := reads (below c) x).
  apply andb_prop in H as [H C5]. apply andb_prop in H as [H C4]. apply andb_prop in H as [H C3].
  apply andb_prop in H as [H C2].
  symmetry. apply compute_change. right. split; auto. fold u.
  apply (reads_length _ _ _ x) in F; auto. apply (reads_length _ _ _ x) in F'; auto.
  destruct F as (P1 & F1 & P2 & F2 & _), F' as (P1' & _ & P2' & _ & _).
  assert (0 < Z.pos (Qden shift))%Z as Q by lia.
  generalize dependent (Z.pos (Qden shift)). generalize (Qnum shift). intros p q C3 C4 C5 Q.
  pose proof (affine_shifted_below j p q _ _ u Q P1 P1' C4) as E.
  set (z := affine (lower c) u) in *. assert (length z = length (rows (lower c))) as Lz.
  { unfold z. apply affine_length. }
  apply Nat.ltb_lt in C2. rewrite <- Lz in C2.
  set (a := List.map relu z). assert (Forall (Rle 0) a) as A.
  { apply Forall_forall. intros y I. apply in_map_iff in I as (? & <- & _). apply relu_ge0. }
  set (t := IZR p / IZR q) in *.
  assert (active (lower' c) u = update j (fun _ => relu (nth j z 0 + t)) a) as Ea.
  { unfold active, a. rewrite E. apply map_update. intros y I. f_equal. f_equal.
    symmetry. apply nth_error_nth. auto. }
  unfold active at 1 3. change (active (lower c) u) with a. rewrite Ea.
  rewrite (layer_is_ok _ _ _ _ C5) by nia. unfold affine, shifted_above.
  rewrite !map_map. apply map_ext_in. intros r I.
  rewrite forallb_forall in C3. specialize (C3 r I). unfold row_hides in C3.
  apply andb_prop in C3 as [C3 D4]. apply andb_prop in C3 as [C3 D3].
  apply andb_prop in C3 as [D1 D2].
  apply Z.leb_le, IZR_le in D1, D3, D4. rewrite !mult_IZR in D4.
  pose proof (dot_rest j (fst r) a D2 A) as R. rewrite value_pair.
  rewrite dot_times, dot_update by (unfold a; rewrite map_length; auto).
  rewrite minus_IZR, !mult_IZR. apply IZR_lt in Q, P2.
  set (w := IZR (nth j (fst r) 0%Z)) in *. set (b := IZR (snd r)) in *.
  assert (nth j a 0 = relu (nth j z 0)) as Ej by (apply nth_map_relu; auto). rewrite Ej in *.
  set (s := nth j z 0) in *.
  assert (b <= t * w) as T.
  { unfold t. apply (Rmult_le_reg_r (IZR q)); auto. field_simplify; lra. }
  pose proof (translation_number w s (dot (fst r) a - w * relu s + b) b t D1 ltac:(lra) D3 T) as N.
  replace ((IZR q * (dot (fst r) a + w * (relu (s + t) - relu s)) + (IZR q * b - IZR p * w)) /
    (IZR q * IZR (over (upper c)))) with
    ((w * relu (s + t) + (dot (fst r) a - w * relu s + b) - t * w) / IZR (over (upper c)))
    by (unfold t; field; lra).
  rewrite !relu_over by auto. rewrite N. f_equal. f_equal. unfold value. fold b. ring.
Qed.
