(** The class of generic parameters, for two hidden layers and affine outputs (FORMAT.md, section
    3.1). A reviewer has to read the definitions up to [generic].

    The codimension of a cell is the rank of the gradients of its zeros (docs/theory/cells.md); so
    G2, every cell of codimension k has exactly k zeros, says that the gradients of the neurons that
    are 0 at a point are linearly independent. This is how [supertransversal] puts it. *)
Require Import String ZArith NArith Reals List Bool Lra Lia.
From PolyreluVerified Require Import Verdicts Networks Domains Limits Numbers Related Competitors.
From PolyreluVerified Require Import Stacks Scaled.
From PolyreluVerified Require Import Invariants OneSided Replacement Independence.
Import ListNotations.
Open Scope string_scope.
Open Scope list_scope.
Open Scope R_scope.

Definition sum_over (l : list nat) (f : nat -> R) : R := fold_right Rplus 0 (List.map f l).
Definition sum (n : nat) (f : nat -> R) : R := sum_over (seq 0 n) f.

Section Class.
Variables (inputs : nat) (D : domain) (n : net).
Let n1 := width inputs n 1.
Let n2 := width inputs n 2.
Let n3 := width inputs n 3.

(** Preactivations of the two hidden layers at an input. *)
Definition z1 (x : list R) (i : nat) : R :=
  sum inputs (fun k => weight n 1 i k * nth k x 0) + bias n 1 i.
Definition z2 (x : list R) (i : nat) : R :=
  sum n1 (fun j => weight n 2 i j * relu (z1 x j)) + bias n 2 i.

(** 1 if neuron [j] of layer 1 is on, else 0. *)
Definition on (x : list R) (j : nat) : R := if Rlt_dec 0 (z1 x j) then 1 else 0.

(** The entry at input [k] of the gradient of a neuron of layer 2. *)
Definition gradient2 (x : list R) (i k : nat) : R :=
  sum n1 (fun j => weight n 2 i j * (on x j * weight n 1 j k)).

(** G1: the rows of W[1] are linearly independent. *)
Definition independent_rows : Prop := forall c : nat -> R,
  (forall k, (k < inputs)%nat -> sum n1 (fun i => c i * weight n 1 i k) = 0) ->
  forall i, (i < n1)%nat -> c i = 0.

(** G2: the gradients of the neurons that are 0 at a point inside of the domain are linearly
    independent. *)
Definition supertransversal : Prop := forall x, length x = inputs -> interior D x ->
  forall c1 c2 : nat -> R,
  (forall i, (i < n1)%nat -> z1 x i <> 0 -> c1 i = 0) ->
  (forall i, (i < n2)%nat -> z2 x i <> 0 -> c2 i = 0) ->
  (forall k, (k < inputs)%nat ->
     sum n1 (fun i => c1 i * weight n 1 i k) + sum n2 (fun i => c2 i * gradient2 x i k) = 0) ->
  (forall i, (i < n1)%nat -> c1 i = 0) /\ (forall i, (i < n2)%nat -> c2 i = 0).

(** G3: no sum over a nonempty set of neurons of layer 2 vanishes. *)
Definition no_vanishing_sums : Prop := forall (T : nat -> bool) (j : nat),
  (exists i, (i < n2)%nat /\ T i = true) -> (j < n1)%nat ->
  exists o, (o < n3)%nat /\
    sum n2 (fun i => if T i then weight n 3 o i * weight n 2 i j else 0) <> 0.

Definition generic : Prop :=
  depth n = 3%nat /\ relu_last n = false /\
  independent_rows /\ supertransversal /\ no_vanishing_sums.
End Class.

(** * What is checked *)

(** The sublists of a length. *)
Fixpoint choose {A} (s : nat) (l : list A) : list (list A) :=
  match s, l with
  | O, _ => [[]]
  | S _, [] => []
  | S s', x :: l' => List.map (cons x) (choose s' l') ++ choose s l'
  end.

Definition augmented (r : row) : list Z := fst r ++ [snd r].
Definition at_place (rs : list row) (i k : nat) : Z := nth k (augmented (nth i rs no_row)) 0%Z.
Definition minor (rs : list row) (I C : list nat) : matrix :=
  List.map (fun i => List.map (fun k => at_place rs i k) C) I.
Definition transposed_minor (rs : list row) (I C : list nat) : matrix :=
  List.map (fun k => List.map (fun i => at_place rs i k) I) C.

Definition minors_nonzero (m n : nat) (rs : list row) : bool :=
  forallb (fun s =>
    let columns := choose s (seq 0 (S n)) in
    forallb (fun I =>
      forallb (fun C => regular s (minor rs I C) && regular s (transposed_minor rs I C)) columns)
      (choose s (seq 0 m)))
    (seq 1 (min m (S n))).

(** C(m + n, m), as a product of quotients. *)
Fixpoint binomial (n : N) (m : nat) : N :=
  match m with O => 1%N | S m' => (binomial n m' * (n + N.of_nat m) / N.of_nat m)%N end.

(** The rows of W[1], over their greatest common divisor, at the given columns. *)
Definition at_columns (rs : list row) (columns : list nat) : matrix :=
  let g := divisor (flat_map (fun r => fst r) rs) in
  let d := if (g =? 0)%Z then 1%Z else g in
  List.map (fun k => List.map (fun r => nth k (fst r) 0 / d)%Z rs) columns.

(** The sum of every nonempty set of the vectors, added to [so_far], is not 0. *)
Fixpoint sums_nonzero (vectors : list (list Z)) (so_far : list Z) (nonempty : bool) : bool :=
  match vectors with
  | [] => negb nonempty || existsb (fun x => negb (x =? 0)%Z) so_far
  | v :: rest => sums_nonzero rest so_far nonempty && sums_nonzero rest (plus_all so_far v) true
  end.

Definition vectors_of (second third : plain) (j : nat) : list (list Z) :=
  List.map (fun i =>
    let a := nth j (fst (nth i (rows second) no_row)) 0%Z in
    List.map (fun r => nth i (fst r) 0 * a)%Z (rows third))
    (seq 0 (length (rows second))).

Fixpoint ascending_below (low bound : nat) (l : list nat) : bool :=
  match l with
  | [] => true
  | k :: l' => Nat.leb low k && Nat.ltb k bound && ascending_below (S k) bound l'
  end.

Definition max_minors : N := 5000.
Definition max_rows_of_sums : nat := 16.
Definition max_sums : N := 65536.
Definition max_sum_bits : Z := 67108864.

Definition sums_fit (second third : plain) (n1 : nat) : bool :=
  let m := length (rows second) in
  let longest rs := fold_left (fun b (r : row) => most_bits (fst r) b) rs 0%Z in
  let own := num_bits (Z.of_N (N.of_nat m)) in
  let bits := (2 + own + longest (rows second) + longest (rows third))%Z in
  let subsets := (2 ^ N.of_nat m)%N in
  (N.of_nat n1 * subsets <=? max_sums)%N &&
  (bits * Z.of_N (N.of_nat (length (rows third))) * Z.of_N subsets <? max_sum_bits)%Z.

(** Membership of a network in the class, method minors. *)
Definition check_minors (inputs : nat) (s : list plain) (last_relu : bool) (prime : Z)
  (columns : list nat) : answer unit :=
  match s with
  | [first; second; third] =>
      let n1 := length (rows first) in
      let m := length (rows second) in
      require (negb last_relu) "membership: the output is not affine"
      (require (ascending_below 0 inputs columns && Nat.eqb (length columns) n1)
        "membership: columns"
      (require ((1 <? prime)%Z && regular_mod prime n1 (at_columns (rows first) columns))
        "membership: rank of W[1]"
      (within (Nat.leb m max_rows_of_sums) "membership: beyond the limits: rows of W[2]"
      (within (binomial (N.of_nat (S n1)) m <=? max_minors + 1)%N
        "membership: beyond the limits: minors"
      (require (minors_nonzero m n1 (rows second)) "membership: a minor of W[2] is 0"
      (within (sums_fit second third n1) "membership: beyond the limits: sums"
      (require (forallb (fun j => sums_nonzero (vectors_of second third j) [] false) (seq 0 n1))
         "membership: a sum vanishes" (Good tt))))))))
  | _ => Rejected "membership: not three layers"
  end.

(** * What it proves *)

Inductive sub {A} : list A -> list A -> Prop :=
| sub_nil l : sub [] l
| sub_take x a l : sub a l -> sub (x :: a) (x :: l)
| sub_skip x a l : sub a l -> sub a (x :: l).

Lemma choose_complete {A} (a l : list A) : sub a l -> In a (choose (length a) l).
Proof.
  induction 1 as [l|x a l H IH|x a l H IH]; simpl.
  - destruct l; simpl; auto.
  - apply in_or_app. left. apply in_map. auto.
  - destruct a as [|y a]; simpl in *.
    + auto.
    + apply in_or_app. right. auto.
Qed.
Lemma sub_filter {A} (P : A -> bool) l : sub (filter P l) l.
Proof. induction l as [|x l IH]; simpl; [constructor|]. destruct (P x); constructor; auto. Qed.
Lemma sub_firstn {A} k (a l : list A) : sub a l -> sub (firstn k a) l.
Proof.
  intro H. revert k. induction H as [l|x a l H IH|x a l H IH]; intros [|k]; simpl; constructor;
    auto.
  apply (IH (S k)).
Qed.
Lemma sub_end {A} (a l : list A) x : sub a l -> sub (a ++ [x]) (l ++ [x]).
Proof.
  induction 1 as [l|y a l H IH|y a l H IH]; simpl; try (constructor; auto; fail).
  induction l as [|y l IH]; simpl; [repeat constructor|apply sub_skip; auto].
Qed.
Lemma sub_in {A} (a l : list A) x : sub a l -> In x a -> In x l.
Proof. induction 1; simpl; intros; [tauto| |right; auto]. destruct H0; auto. Qed.
Lemma sub_length {A} (a l : list A) : sub a l -> (length a <= length l)%nat.
Proof. induction 1; simpl; lia. Qed.

(** ** Sums *)

Lemma sum_over_ext l f g : (forall i, In i l -> f i = g i) -> sum_over l f = sum_over l g.
Proof.
  unfold sum_over. induction l as [|i l IH]; simpl; auto. intro H. rewrite H, IH; auto.
Qed.
Lemma sum_ext n f g : (forall i, (i < n)%nat -> f i = g i) -> sum n f = sum n g.
Proof. intro H. apply sum_over_ext. intros i I. apply in_seq in I. apply H. lia. Qed.
Lemma sum_over_zero l f : (forall i, In i l -> f i = 0) -> sum_over l f = 0.
Proof.
  unfold sum_over. induction l as [|i l IH]; simpl; auto. intro H. rewrite H, IH; auto. lra.
Qed.
Lemma sum_zero n f : (forall i, (i < n)%nat -> f i = 0) -> sum n f = 0.
Proof. intro H. apply sum_over_zero. intros i I. apply in_seq in I. apply H. lia. Qed.
Lemma sum_over_plus l f g : sum_over l (fun i => f i + g i) = sum_over l f + sum_over l g.
Proof. unfold sum_over. induction l as [|i l IH]; simpl; [lra|]. rewrite IH. lra. Qed.
Lemma sum_over_times l a f : sum_over l (fun i => a * f i) = a * sum_over l f.
Proof. unfold sum_over. induction l as [|i l IH]; simpl; [lra|]. rewrite IH. lra. Qed.
Lemma sum_times n a f : sum n (fun i => a * f i) = a * sum n f.
Proof. apply sum_over_times. Qed.
Lemma sum_over_swap l m (f : nat -> nat -> R) :
  sum_over l (fun i => sum_over m (f i)) = sum_over m (fun j => sum_over l (fun i => f i j)).
Proof.
  induction l as [|i l IH].
  - unfold sum_over at 1. simpl. symmetry. apply sum_over_zero. auto.
  - change (sum_over (i :: l) (fun i => sum_over m (f i)))
      with (sum_over m (f i) + sum_over l (fun i => sum_over m (f i))).
    rewrite IH, <- sum_over_plus. apply sum_over_ext. auto.
Qed.
Lemma sum_over_filter l (P : nat -> bool) f : (forall i, In i l -> P i = false -> f i = 0) ->
  sum_over (filter P l) f = sum_over l f.
Proof.
  unfold sum_over. induction l as [|i l IH]; simpl; auto. intro H. destruct (P i) eqn:E; simpl.
  - rewrite IH; auto.
  - rewrite IH, (H i) by auto. lra.
Qed.
Lemma dot_over (e : nat -> Z) (c : nat -> R) l :
  dot (List.map e l) (List.map c l) = sum_over l (fun i => IZR (e i) * c i).
Proof. unfold sum_over. induction l as [|i l IH]; simpl; auto. rewrite IH. auto. Qed.
Lemma sum_over_end l i f : sum_over (l ++ [i]) f = sum_over l f + f i.
Proof.
  unfold sum_over. rewrite map_app, fold_right_app. simpl. induction (List.map f l); simpl; lra.
Qed.

(** ** G1 *)

Lemma at_columns_ok n1 rs columns c : length rs = n1 -> Forall (fun r => True) rs ->
  regular n1 (at_columns rs columns) = true ->
  (forall k, In k columns -> sum n1 (fun i => c i * IZR (nth k (fst (nth i rs no_row)) 0%Z)) = 0) ->
  forall i, (i < n1)%nat -> c i = 0.
Proof.
  intros L _ R H i I. unfold at_columns in R.
  set (g := divisor (flat_map (fun r : row => fst r) rs)) in *.
  set (d := if (g =? 0)%Z then 1%Z else g) in *. assert (d <> 0)%Z as D.
  { unfold d. destruct (Z.eqb_spec g 0); lia. }
  apply (regular_kernel n1 _ (List.map c (seq 0 n1))) in R.
  - rewrite Forall_forall in R. apply R. apply in_map, in_seq. lia.
  - apply Forall_map, Forall_forall. intros k _. rewrite map_length. auto.
  - rewrite map_length, seq_length. auto.
  - apply Forall_map, Forall_forall. intros k K. specialize (H k K).
    change (dot (List.map (fun r : row => (nth k (fst r) 0 / d)%Z) rs) (List.map c (seq 0 n1)) = 0).
    replace (List.map (fun r : row => (nth k (fst r) 0 / d)%Z) rs) with
      (List.map (fun i => (nth k (fst (nth i rs no_row)) 0 / d)%Z) (seq 0 n1)).
    + rewrite dot_over. pose proof (not_0_IZR _ D) as D'. apply (Rmult_eq_reg_l (IZR d)); auto.
      rewrite Rmult_0_r, <- sum_over_times. rewrite <- H. apply sum_ext. intros j J.
      rewrite <- Rmult_assoc.
      assert (d | nth k (fst (nth j rs no_row)) 0)%Z as [q ->].
      { assert (g | nth k (fst (nth j rs no_row)) 0)%Z as G.
        { destruct (Nat.ltb_spec k (length (fst (nth j rs no_row)))).
          - apply divisor_divides. apply in_flat_map. exists (nth j rs no_row).
            split; apply nth_In; lia.
          - rewrite nth_overflow by auto. apply Z.divide_0_r. }
        unfold d. destruct (Z.eqb_spec g 0) as [Z|]; auto. rewrite Z in G. apply Z.divide_0_l in G.
        rewrite G.
        apply Z.divide_0_r. }
      rewrite Z.div_mul, mult_IZR by auto. ring.
    + rewrite <- (map_map (fun i => nth i rs no_row) (fun r : row => (nth k (fst r) 0 / d)%Z)).
      f_equal.
      rewrite <- L. clear. induction rs as [|r rs IH] using rev_ind; auto.
      rewrite app_length. simpl. rewrite Nat.add_1_r, seq_S, map_app. simpl. f_equal.
      * rewrite <- IH at 2. apply map_ext_in. intros i I. apply in_seq in I.
        rewrite app_nth1 by lia. auto.
      * rewrite app_nth2, Nat.sub_diag by lia. auto.
Qed.

(** ** G2 *)

Lemma minors_ok m n rs I C : minors_nonzero m n rs = true -> sub I (seq 0 m) ->
  sub C (seq 0 (S n)) ->
  length I = length C -> (1 <= length C)%nat ->
  regular (length C) (minor rs I C) = true /\ regular (length C) (transposed_minor rs I C) = true.
Proof.
  intros H SI SC L P. unfold minors_nonzero in H. rewrite forallb_forall in H.
  pose proof (sub_length _ _ SI) as LI. pose proof (sub_length _ _ SC) as LC.
  rewrite seq_length in LI, LC.
  specialize (H (length C)). rewrite in_seq in H. specialize (H ltac:(lia)).
  rewrite forallb_forall in H. pose proof (choose_complete _ _ SI) as CI. rewrite L in CI.
  specialize (H I CI).
  rewrite forallb_forall in H. specialize (H C (choose_complete _ _ SC)). apply andb_prop in H.
  auto.
Qed.

Lemma regular_minor_kernel rs I C (u : nat -> R) : regular (length C) (minor rs I C) = true ->
  (forall i, In i I -> sum_over C (fun k => IZR (at_place rs i k) * u k) = 0) ->
    forall k, In k C -> u k = 0.
Proof.
  intros R H k K. apply (regular_kernel _ _ (List.map u C)) in R.
  - rewrite Forall_forall in R. apply R, in_map. auto.
  - apply Forall_map, Forall_forall. intros i _. rewrite map_length. auto.
  - apply map_length.
  - apply Forall_map, Forall_forall. intros i Hi. rewrite dot_over. auto.
Qed.
Lemma regular_transposed_kernel rs I C (c : nat -> R) : length I = length C ->
  regular (length C) (transposed_minor rs I C) = true ->
  (forall k, In k C -> sum_over I (fun i => IZR (at_place rs i k) * c i) = 0) ->
    forall i, In i I -> c i = 0.
Proof.
  intros L R H i Hi. rewrite <- L in R. apply (regular_kernel _ _ (List.map c I)) in R.
  - rewrite Forall_forall in R. apply R, in_map. auto.
  - apply Forall_map, Forall_forall. intros k _. rewrite map_length. auto.
  - apply map_length.
  - apply Forall_map, Forall_forall. intros k K. rewrite dot_over. auto.
Qed.

(** Rows [A_i z + a_i] that vanish for [z >= 0] are independent, on the columns where [z > 0] and
    on the column of [a]. *)
Lemma zero_rows_independent m n rs (z c : nat -> R) : minors_nonzero m n rs = true ->
  (forall i, (i < m)%nat ->
     sum n (fun j => IZR (at_place rs i j) * relu (z j)) + IZR (at_place rs i n) <> 0 -> c i = 0) ->
  (forall j, (j < n)%nat -> 0 < z j -> sum m (fun i => IZR (at_place rs i j) * c i) = 0) ->
  forall i, (i < m)%nat -> c i = 0.
Proof.
  intros M Off Col i0 I0.
  set (h := fun i => sum n (fun j => IZR (at_place rs i j) * relu (z j)) + IZR (at_place rs i n)).
  set (zero := fun i => if Req_EM_T (h i) 0 then true else false).
  set (pos := fun j => if Rlt_dec 0 (z j) then true else false).
  set (I := filter zero (seq 0 m)). set (C := filter pos (seq 0 n) ++ [n]).
  assert (sub I (seq 0 m)) as SI by apply sub_filter.
  assert (sub C (seq 0 (S n))) as SC by (rewrite seq_S; apply sub_end, sub_filter).
  assert (1 <= length C)%nat as LC by (unfold C; rewrite app_length; simpl; lia).
  assert (forall i, In i I -> h i = 0) as HI.
  { intros i Hi. apply filter_In in Hi as [_ Hi]. unfold zero in Hi.
    destruct (Req_EM_T (h i) 0); [auto|discriminate]. }
  assert (forall i, (i < m)%nat -> zero i = false -> c i = 0) as HO.
  { intros i Hi Z. apply Off; auto. unfold zero in Z.
    destruct (Req_EM_T (h i) 0); [discriminate|auto]. }
  assert (forall e : nat -> Z, sum_over I (fun i => IZR (e i) * c i) = sum m (fun i => IZR (e i) *
    c i)) as SumI.
  { intro e. apply sum_over_filter. intros i Hi Z. apply in_seq in Hi. rewrite HO by (auto; lia).
    lra. }
  assert (forall i, sum_over (filter pos (seq 0 n)) (fun j => IZR (at_place rs i j) * relu (z j)) =
    sum n (fun j => IZR (at_place rs i j) * relu (z j))) as SumC.
  { intro i. apply sum_over_filter. intros j _ P. unfold pos in P.
    destruct (Rlt_dec 0 (z j)); [discriminate|].
    rewrite relu_neg by lra. lra. }
  destruct (le_lt_dec (length C) (length I)) as [Many|Few].
  - (* more zeros than columns: impossible *)
    exfalso. set (I' := firstn (length C) I).
    assert (length I' = length C) as LI by (apply firstn_length_le; auto).
    destruct (minors_ok _ _ _ I' C M (sub_firstn _ _ _ SI) SC LI LC) as [R _].
    set (u := fun k => if Nat.eqb k n then 1 else relu (z k)).
    assert (u n = 0) as E; [|unfold u in E; rewrite Nat.eqb_refl in E; lra].
    apply (regular_minor_kernel rs I' C u R).
    + intros i Hi. unfold C. rewrite sum_over_end. unfold u at 2. rewrite Nat.eqb_refl, Rmult_1_r.
      rewrite (sum_over_ext _ _ (fun j => IZR (at_place rs i j) * relu (z j))).
      * rewrite SumC. apply HI. clear - Hi. unfold I' in Hi. revert Hi. generalize (length C).
        intro k. revert k.
        induction I as [|x l IH]; intros [|k]; simpl; try tauto. intros [->|H]; eauto.
      * intros j Hj. apply filter_In in Hj as [Hj _]. apply in_seq in Hj. unfold u.
        destruct (Nat.eqb_spec j n); [lia|auto].
    + unfold C. apply in_or_app. simpl. auto.
  - destruct (bool_dec (zero i0) true) as [Z|Z]; [|apply HO; auto; destruct (zero i0); tauto].
    set (C' := firstn (length I) C).
    assert (length C' = length I) as LC' by (apply firstn_length_le; lia).
    assert (In i0 I) as In0 by (apply filter_In; split; auto; apply in_seq; lia).
    assert (1 <= length C')%nat as P.
    { rewrite LC'. destruct I; simpl in *; [tauto|lia]. }
    destruct (minors_ok _ _ _ I C' M SI (sub_firstn _ _ _ SC) (eq_sym LC') P) as [_ R].
    apply (regular_transposed_kernel rs I C' c (eq_sym LC') R); auto.
    intros k K. assert (In k C) as KC.
    { clear - K. unfold C' in K. revert K. generalize (length I). intro l. revert l.
      induction C as [|x m' IH]; intros [|l]; simpl; try tauto. intros [->|H]; eauto. }
    rewrite SumI. unfold C in KC. apply in_app_or in KC as [KC|[<-|[]]].
    + apply filter_In in KC as [K1 K2]. apply in_seq in K1. apply Col; [lia|]. unfold pos in K2.
      destruct (Rlt_dec 0 (z k)); [auto|discriminate].
    + (* the column of the biases *)
      assert (sum m (fun i => c i * h i) = 0) as S0.
      { apply sum_zero. intros i Hi. destruct (bool_dec (zero i) true) as [Zi|Zi].
        - unfold zero in Zi. destruct (Req_EM_T (h i) 0) as [E|]; [rewrite E; lra|discriminate].
        - rewrite HO by (auto; destruct (zero i); tauto). lra. }
      assert (sum m (fun i => c i * h i) = sum m (fun i => sum n (fun j => relu (z j) * (IZR
        (at_place rs i j) * c i)) +
        IZR (at_place rs i n) * c i)) as S1.
      { apply sum_ext. intros i Hi. unfold h. rewrite Rmult_plus_distr_l. f_equal; [|lra].
        unfold sum. rewrite <- sum_over_times. apply sum_over_ext. intros. ring. }
      rewrite S1 in S0. unfold sum in S0. rewrite sum_over_plus, sum_over_swap in S0.
      rewrite (sum_over_zero (seq 0 n)) in S0; [|].
      * unfold sum. lra.
      * intros j Hj. apply in_seq in Hj. rewrite sum_over_times.
        destruct (Rlt_le_dec 0 (z j)) as [Pj|Pj].
        -- fold (sum m (fun i => IZR (at_place rs i j) * c i)). rewrite Col by (auto; lia). lra.
        -- rewrite relu_neg by auto. lra.
Qed.

(** ** G3 *)

Lemma sums_nonzero_ok l : forall so_far ne (T : list bool), sums_nonzero l so_far ne = true ->
  length T = length l -> ne = true \/ In true T ->
  exists o, (nth o so_far 0%Z + fold_right (fun (p : bool * list Z) s => ((if fst p
    then nth o (snd p) 0 else 0) + s)%Z) 0%Z
    (combine T l) <> 0)%Z.
Proof.
  induction l as [|v l IH]; intros so_far ne T; simpl.
  - intros H L N. destruct T; [|discriminate]. simpl. destruct N as [->|[]]. simpl in H.
    apply existsb_exists in H as (x & I & X). apply negb_true_iff, Z.eqb_neq in X.
    apply (In_nth _ _ 0%Z) in I as (o & _ & E). exists o. rewrite E. lia.
  - intros H L N. apply andb_prop in H as [H1 H2]. destruct T as [|b T]; [discriminate|].
    injection L as L. destruct b.
    + destruct (IH _ _ T H2 L (or_introl eq_refl)) as (o & E). exists o. simpl.
      rewrite nth_plus_all in E. lia.
    + destruct (IH _ _ T H1 L) as (o & E); [destruct N as [N|[N|N]]; auto; discriminate|].
      exists o. simpl. lia.
Qed.

Lemma vectors_sum second third j o (T : nat -> bool) :
  IZR (fold_right (fun (p : bool * list Z) s => ((if fst p then nth o (snd p) 0 else 0) + s)%Z) 0%Z
    (combine (List.map T (seq 0 (length (rows second)))) (vectors_of second third j))) =
  sum (length (rows second)) (fun i => if T i
    then IZR (nth i (fst (nth o (rows third) no_row)) 0%Z) *
    IZR (nth j (fst (nth i (rows second) no_row)) 0%Z) else 0).
Proof.
  assert (forall i a, nth o (List.map (fun r : row => nth i (fst r) 0 * a)%Z (rows third)) 0%Z =
    (nth i (fst (nth o (rows third) no_row)) 0 * a)%Z) as K.
  { intros i a. revert o. induction (rows third) as [|r rs IHr]; intros [|o]; simpl; auto;
      destruct i; auto. }
  unfold vectors_of, sum, sum_over.
  induction (seq 0 (length (rows second))) as [|i l IH]; simpl; auto.
  rewrite plus_IZR, IH. f_equal. destruct (T i); auto. rewrite K. apply mult_IZR.
Qed.

(** ** Membership *)

Theorem check_minors_ok m D n s prime columns : stack_of m n = Some s ->
  check_minors m s (relu_last n) prime columns = Good tt -> generic m D n.
Proof.
  intros S H. pose proof (stack_of_fits _ _ _ S) as F.
  pose proof (plain_layers_length _ _ _ _ (proj1 (stack_of_layers _ _ _ S))) as Len.
  unfold check_minors in H. destruct s as [|p1 [|p2 [|p3 [|? ?]]]]; try discriminate.
  apply require_good in H as [Last H]. apply require_good in H as [Cols H].
  apply require_good in H as [Rank H].
  apply within_good in H as [_ H]. apply within_good in H as [_ H].
  apply require_good in H as [Minors H].
  apply within_good in H as [_ H]. apply require_good in H as [Sums _].
  apply andb_prop in Rank as [Prime Rank]. apply Z.ltb_lt in Prime.
  apply andb_prop in Cols as [Asc Count].
  destruct F as (D1 & F1 & D2 & F2 & D3 & F3 & _). apply IZR_lt in D1, D2, D3.
  pose proof (fun i => stack_of_weights m n _ 1 i S ltac:(simpl; lia)) as E1.
  pose proof (fun i => stack_of_weights m n _ 2 i S ltac:(simpl; lia)) as E2.
  pose proof (fun i => stack_of_weights m n _ 3 i S ltac:(simpl; lia)) as E3.
  simpl nth in E1, E2, E3.
  assert (width m n 1 = length (rows p1)) as W1 by apply (E1 0%nat).
  assert (width m n 2 = length (rows p2)) as W2 by apply (E2 0%nat).
  assert (width m n 3 = length (rows p3)) as W3 by apply (E3 0%nat).
  assert (regular (length (rows p1)) (at_columns (rows p1) columns) = true) as Rank'.
  { apply (regular_mod_regular prime); auto. unfold at_columns. apply Forall_map, Forall_forall.
    intros k _. rewrite map_length. auto. }
  assert (independent_rows m n) as G1.
  { unfold independent_rows. rewrite W1. intros c Hc i Hi.
    assert (forall k, In k columns -> (k < m)%nat) as Below.
    { clear - Asc. generalize dependent 0%nat.
      induction columns as [|k l IH]; simpl; intros low A; [tauto|].
      apply andb_prop in A as [A1 A2]. apply andb_prop in A1 as [_ A1]. apply Nat.ltb_lt in A1.
      intros k' [<-|K]; eauto. }
    apply (at_columns_ok (length (rows p1)) (rows p1) columns c eq_refl); auto.
    { apply Forall_forall. auto. }
    intros k K. specialize (Hc k (Below k K)).
    apply (Rmult_eq_reg_l (/ IZR (over p1))); [|apply Rinv_neq_0_compat; lra].
    rewrite Rmult_0_r, <- sum_times, <- Hc. apply sum_ext. intros j J.
    destruct (E1 j) as (_ & -> & _). unfold entry. field. lra. }
  assert (forall x i, (i < length (rows p2))%nat -> z2 m n x i =
    (sum (length (rows p1)) (fun j => IZR (at_place (rows p2) i j) * relu (z1 m n x j)) +
     IZR (at_place (rows p2) i (length (rows p1)))) / IZR (over p2)) as Z2.
  { intros x i Hi. unfold z2. rewrite W1. destruct (E2 i) as (-> & Ew & _).
    unfold shift, at_place, augmented.
    assert (length (fst (nth i (rows p2) no_row)) = length (rows p1)) as L.
    { rewrite Forall_forall in F2. apply F2, nth_In. auto. }
    rewrite app_nth2, L, Nat.sub_diag by lia. simpl. unfold Rdiv. rewrite Rmult_plus_distr_r.
    f_equal.
    rewrite Rmult_comm, <- sum_times. apply sum_ext. intros j J. rewrite Ew, app_nth1 by lia.
    unfold entry. field. lra. }
  split; [unfold depth; rewrite <- Len; reflexivity|]. split; [apply negb_true_iff; auto|].
  split; [exact G1|]. split.
  - unfold supertransversal. rewrite W1, W2. intros x X _ c1 c2 H1 H2 H3.
    set (d := fun j => c1 j + on m n x j * sum (length (rows p2)) (fun i => c2 i * weight n 2 i j)).
    assert (forall j, (j < length (rows p1))%nat -> d j = 0) as Dz.
    { unfold independent_rows in G1. rewrite W1 in G1. apply G1. intros k K. rewrite <- (H3 k K).
      unfold gradient2. rewrite W1. unfold sum, d.
      rewrite (sum_over_ext _ _ (fun i => c1 i * weight n 1 i k +
        sum_over (seq 0 (length (rows p2))) (fun i' => c2 i' * (weight n 2 i' i * (on m n x i *
          weight n 1 i k))))).
      - rewrite sum_over_plus. f_equal. rewrite sum_over_swap. apply sum_over_ext. intros i _.
        rewrite sum_over_times. auto.
      - intros j _. rewrite Rmult_plus_distr_r. f_equal. unfold sum.
        rewrite Rmult_comm, <- Rmult_assoc, <- sum_over_times. apply sum_over_ext. intros. ring. }
    assert (forall j, (j < length (rows p1))%nat -> c1 j = 0) as C1.
    { intros j J. destruct (Req_dec (z1 m n x j) 0) as [E|E]; [|auto].
      specialize (Dz j J). unfold d, on in Dz. rewrite E in Dz. destruct (Rlt_dec 0 0); lra. }
    split; [exact C1|].
    apply (zero_rows_independent (length (rows p2)) (length (rows p1)) (rows p2) (z1 m n x) c2
      Minors).
    + intros i Hi N. apply H2; auto. rewrite Z2 by auto. intro Q. apply N.
      apply (Rmult_eq_reg_r (/ IZR (over p2))); [|apply Rinv_neq_0_compat; lra]. rewrite Rmult_0_l.
      exact Q.
    + intros j J Pos. specialize (Dz j J). unfold d, on in Dz. rewrite (C1 j J) in Dz.
      destruct (Rlt_dec 0 (z1 m n x j)); [|lra].
      apply (Rmult_eq_reg_l (/ IZR (over p2))); [|apply Rinv_neq_0_compat; lra].
      rewrite Rmult_0_r, <- sum_times. rewrite Rplus_0_l, Rmult_1_l in Dz. rewrite <- Dz.
      apply sum_ext. intros i Hi. destruct (E2 i) as (_ & -> & _).
      assert (length (fst (nth i (rows p2) no_row)) = length (rows p1)) as L.
      { rewrite Forall_forall in F2. apply F2, nth_In. auto. }
      unfold entry, at_place, augmented. rewrite app_nth1 by lia. field. lra.
  - unfold no_vanishing_sums. rewrite W1, W2, W3. intros T j (i & Hi & Ti) J.
    rewrite forallb_forall in Sums. specialize (Sums j). rewrite in_seq in Sums.
    specialize (Sums ltac:(lia)).
    destruct (sums_nonzero_ok _ [] false (List.map T (seq 0 (length (rows p2)))) Sums) as (o & N).
    + unfold vectors_of. rewrite !map_length, !seq_length. auto.
    + right. rewrite <- Ti. apply in_map, in_seq. lia.
    + assert (sum (length (rows p2)) (fun i => if T i
        then IZR (nth i (fst (nth o (rows p3) no_row)) 0%Z) *
        IZR (nth j (fst (nth i (rows p2) no_row)) 0%Z) else 0) <> 0) as N'.
      { rewrite <- vectors_sum. apply not_0_IZR. intro Q. apply N. destruct o; simpl; lia. }
      exists o. split.
      * destruct (Nat.ltb_spec o (length (rows p3))) as [O|O]; auto. exfalso. apply N'.
        apply sum_zero.
        intros i' _. rewrite (nth_overflow (rows p3)) by auto.
        assert (nth i' (fst no_row) 0%Z = 0%Z) as -> by (destruct i'; auto). destruct (T i'); lra.
      * intro Q. apply N'. apply (Rmult_eq_reg_l (/ (IZR (over p3) * IZR (over p2)))).
        2:{ apply Rinv_neq_0_compat. nra. }
        rewrite Rmult_0_r, <- sum_times. etransitivity; [|exact Q]. apply sum_ext. intros i' _.
        destruct (T i'); [|lra]. destruct (E3 o) as (_ & -> & _). destruct (E2 i') as (_ & -> & _).
        unfold entry. field. lra.
Qed.
