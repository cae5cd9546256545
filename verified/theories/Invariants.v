(** Invariants of permutations and positive scalings (FORMAT.md, section 3.5).

    Both networks are walked through together. The invariants of a layer are keys, lists of
    integers, and equal keys get equal names from a table that both networks share; nothing has to
    be known of the table, because the same one is asked for both. *)
Require Import String ZArith Reals List Bool Lra Lia Permutation Sorted Mergesort.
From Coq Require Import FinFun.
From PolyreluVerified Require Import Verdicts Networks Maps Limits Stacks Related.
Import ListNotations.
Open Scope string_scope.
Open Scope list_scope.
Open Scope R_scope.

(** * Sorted lists of pairs are determined by their entries *)

Module Pairs.
  Definition t := (Z * Z)%type.
  Definition leb (p q : t) : bool :=
    (fst p <? fst q)%Z || ((fst p =? fst q)%Z && (snd p <=? snd q)%Z).
  Lemma leb_spec p q :
    leb p q = true <-> (fst p < fst q \/ fst p = fst q /\ snd p <= snd q)%Z.
  Proof.
    unfold leb. rewrite orb_true_iff, andb_true_iff, Z.ltb_lt, Z.eqb_eq, Z.leb_le. tauto.
  Qed.
  Theorem leb_total p q : leb p q = true \/ leb q p = true.
  Proof. rewrite !leb_spec. lia. Qed.
  Lemma leb_trans p q r : leb p q = true -> leb q r = true -> leb p r = true.
  Proof. rewrite !leb_spec. lia. Qed.
  Lemma leb_antisym p q : leb p q = true -> leb q p = true -> p = q.
  Proof. rewrite !leb_spec. destruct p, q; simpl. intros. f_equal; lia. Qed.
End Pairs.
Module Sorting := Sort Pairs.
Definition sorted (l : list (Z * Z)) : list (Z * Z) := Sorting.sort l.

Local Coercion is_true : bool >-> Sortclass.

Lemma strongly_sorted_unique (l m : list (Z * Z)) :
  StronglySorted Pairs.leb l -> StronglySorted Pairs.leb m -> Permutation l m -> l = m.
Proof.
  intro L. revert m. induction L as [|p l L IH Hp]; intros m M P.
  { apply Permutation_nil in P. auto. }
  destruct M as [|q m M Hq]. { apply Permutation_sym, Permutation_nil in P. discriminate. }
  rewrite Forall_forall in Hp, Hq.
  assert (p = q) as <-.
  { pose proof (Permutation_in p P (or_introl eq_refl)) as [->|Ip]; [auto|].
    pose proof (Permutation_in q (Permutation_sym P) (or_introl eq_refl)) as [->|Iq]; [auto|].
    apply Pairs.leb_antisym; [apply Hp | apply Hq]; assumption. }
  f_equal. apply IH; auto. eapply Permutation_cons_inv; eauto.
Qed.

Lemma sorted_permutation l m : Permutation l m -> sorted l = sorted m.
Proof.
  intro P. apply strongly_sorted_unique.
  - apply Sorting.StronglySorted_sort. intros p q r. apply Pairs.leb_trans.
  - apply Sorting.StronglySorted_sort. intros p q r. apply Pairs.leb_trans.
  - eapply Permutation_trans; [apply Permutation_sym, Sorting.Permuted_sort|].
    eapply Permutation_trans; [exact P|apply Sorting.Permuted_sort].
Qed.

(** * Keys *)

(** The greatest common divisor. *)
Fixpoint divisor (l : list Z) : Z :=
  match l with [] => 0%Z | x :: l' => let g := divisor l' in if (g =? 1)%Z then 1%Z
    else Z.gcd x g end.

(** The invariant of a neuron, as an integer multiple of its vector: [front], then what it reads,
    as pairs of a name and a number. *)
Definition key_of (front : list Z) (reads : list (Z * Z)) : list Z :=
  let kept := filter (fun p => negb (snd p =? 0)%Z) reads in
  let found := divisor (front ++ List.map snd kept) in
  let g := if (found =? 0)%Z then 1%Z else found in
  List.map (fun x => x / g)%Z front ++
  flat_map (fun p => [fst p; snd p]) (sorted (List.map (fun p => (fst p, snd p / g)%Z) kept)).

Lemma divisor_spec l : divisor l = fold_right Z.gcd 0%Z l.
Proof.
  induction l as [|x l IH]; simpl; auto. rewrite <- IH.
  destruct (Z.eqb_spec (divisor l) 1) as [->|]; auto.
  rewrite Z.gcd_1_r. auto.
Qed.
Lemma divisor_divides l x : In x l -> (divisor l | x)%Z.
Proof.
  rewrite divisor_spec. induction l as [|y l IH]; simpl; [tauto|]. intros [->|H].
  - apply Z.gcd_divide_l.
  - eapply Z.divide_trans; [apply Z.gcd_divide_r|auto].
Qed.
Lemma divisor_nonneg l : (0 <= divisor l)%Z.
Proof. rewrite divisor_spec. destruct l; simpl; [lia|apply Z.gcd_nonneg]. Qed.
Lemma divisor_zero l : divisor l = 0%Z -> Forall (fun x => x = 0%Z) l.
Proof.
  intro H. apply Forall_forall. intros x I. apply divisor_divides in I. rewrite H in I.
  apply Z.divide_0_l in I. auto.
Qed.
Lemma divisor_scale a l : (0 <= a)%Z -> divisor (List.map (Z.mul a) l) = (a * divisor l)%Z.
Proof.
  intro A. rewrite !divisor_spec. induction l as [|x l IH]; simpl; [lia|].
  rewrite IH, Z.gcd_mul_mono_l, Z.abs_eq; auto.
Qed.
Lemma divisor_permutation l m : Permutation l m -> divisor l = divisor m.
Proof.
  rewrite !divisor_spec. induction 1; simpl; try congruence.
  rewrite !Z.gcd_assoc, (Z.gcd_comm y x). auto.
Qed.

(** ** Positive multiples have equal keys *)

(** [y = r x], and the names are the same. *)
Definition times (r : R) (x y : Z) : Prop := IZR y = r * IZR x.
Definition pair_times (r : R) (p q : Z * Z) : Prop := fst p = fst q /\ times r (snd p) (snd q).

Lemma integer_ratio r xs ys : 0 < r -> Forall2 (times r) xs ys ->
  exists a b, (0 < a)%Z /\ (0 < b)%Z /\ Forall2 (fun x y => a * y = b * x)%Z xs ys.
Proof.
  intros P H.
  assert (Forall2 (fun x y => x = 0 /\ y = 0)%Z xs ys \/
    exists x0 y0, (x0 <> 0)%Z /\ times r x0 y0) as [Z|(x0 & y0 & N & E)].
  { induction H as [|x y xs ys E H [IH|IH]]; auto. destruct (Z.eq_dec x 0) as [->|N].
    - left. constructor; auto. split; auto. unfold times in E. rewrite Rmult_0_r in E.
      apply eq_IZR in E. auto.
    - right. eauto. }
  { exists 1%Z, 1%Z. repeat split; try lia.
    induction Z as [|? ? ? ? [-> ->] _ IH]; constructor; auto.
    inversion H; subst. auto. }
  assert (0 < Z.abs y0)%Z as Y.
  { apply Z.abs_pos. intros ->. unfold times in E. apply N, eq_IZR.
    assert (r * IZR x0 = 0) as Q by lra. apply Rmult_integral in Q as [Q|Q]; lra. }
  exists (Z.abs x0), (Z.abs y0). repeat split; [lia|lia|].
  assert (forall x y, times r x y -> x0 * y = y0 * x)%Z as C.
  { intros x y F. unfold times in *. apply eq_IZR. rewrite !mult_IZR, E, F. ring. }
  assert (Z.sgn x0 = Z.sgn y0) as S.
  { unfold times in E. destruct (Z.sgn_spec x0) as [[? ->]|[[? ->]|[? ->]]]; [|lia|].
    - assert (0 < IZR y0) as Q by (rewrite E; apply Rmult_lt_0_compat; [lra|apply IZR_lt; lia]).
      apply lt_IZR in Q. rewrite Z.sgn_pos; auto.
    - assert (IZR y0 < 0) as Q. { rewrite E. assert (IZR x0 < 0) by (apply IZR_lt; lia). nra. }
      apply lt_IZR in Q. rewrite Z.sgn_neg; auto. }
  clear - C H S N. induction H as [|x y xs ys F H IH]; constructor; auto. apply C in F.
  pose proof (Z.abs_sgn x0) as X. pose proof (Z.abs_sgn y0) as Y'. rewrite <- S in Y'.
  apply Z.mul_reg_r with (Z.sgn x0); [rewrite Z.sgn_null_iff; auto|].
  replace (Z.abs x0 * y * Z.sgn x0)%Z with (Z.abs x0 * Z.sgn x0 * y)%Z by ring.
  replace (Z.abs y0 * x * Z.sgn x0)%Z with (Z.abs y0 * Z.sgn x0 * x)%Z by ring.
  rewrite X, Y'. auto.
Qed.

Lemma quotients_equal g g' a b x y : (0 < a -> 0 < b -> g <> 0 -> (g | x) -> (g' | y) ->
  a * y = b * x -> a * g' = b * g -> y / g' = x / g)%Z.
Proof.
  intros A B G [p ->] [q ->] E F. assert (g' <> 0)%Z by nia.
  rewrite !Z.div_mul by auto. apply Z.mul_reg_r with (b * g)%Z; [nia|].
  replace (p * (b * g))%Z with (b * (p * g))%Z by ring. rewrite <- E, <- F. ring.
Qed.

Lemma key_of_times r front front' e e' g : 0 < r -> Forall2 (times r) front front' ->
  Permutation e g -> Forall2 (pair_times r) g e' -> key_of front e = key_of front' e'.
Proof.
  intros P F Q H. unfold key_of.
  set (keep := fun p : Z * Z => negb (snd p =? 0)%Z).
  assert (Permutation (filter keep e) (filter keep g)) as Qk.
  { clear - Q. induction Q; simpl; auto.
    - destruct (keep x); auto.
    - destruct (keep x), (keep y); auto. apply perm_swap.
    - eapply Permutation_trans; eauto. }
  assert (Forall2 (pair_times r) (filter keep g) (filter keep e')) as Hk.
  { clear - H P. induction H as [|[n x] [n' y] g e' [E T] H IH]; cbn [filter]; auto.
    simpl in E. subst n'. unfold pair_times, times in T. simpl in T.
    change (keep (n, x)) with (negb (x =? 0)%Z). change (keep (n, y)) with (negb (y =? 0)%Z).
    destruct (Z.eqb_spec x 0) as [->|N], (Z.eqb_spec y 0) as [->|M]; simpl; auto.
    - rewrite Rmult_0_r in T. apply eq_IZR in T. tauto.
    - symmetry in T. apply Rmult_integral in T as [T|T]; [lra|]. apply eq_IZR in T. tauto.
    - constructor; auto. split; auto. }
  clear Q H. revert Qk Hk. generalize (filter keep e) (filter keep g) (filter keep e').
  clear e g e'. intros e g e' Q H.
  assert (divisor (front ++ List.map snd e) = divisor (front ++ List.map snd g)) as ->.
  { apply divisor_permutation, Permutation_app_head, Permutation_map. auto. }
  assert (Forall2 (times r) (front ++ List.map snd g) (front' ++ List.map snd e')) as T.
  { apply Forall2_app; auto. clear - H. induction H as [|p q g e' [_ T] H IH]; simpl; auto. }
  destruct (integer_ratio _ _ _ P T) as (a & b & A & B & C). clear T.
  remember (divisor (front ++ List.map snd g)) as d eqn:D.
  remember (divisor (front' ++ List.map snd e')) as d' eqn:D'.
  assert (a * d' = b * d)%Z as E.
  { rewrite D, D', <- !divisor_scale by lia. f_equal. clear - C.
    induction C; simpl; auto. congruence. }
  assert (forall x y, In (x, y) (combine (front ++ List.map snd g) (front' ++ List.map snd e')) ->
    (y / (if d' =? 0 then 1 else d') = x / (if d =? 0 then 1 else d))%Z) as K.
  { intros x y I. pose proof (in_combine_l _ _ _ _ I) as Ix.
    pose proof (in_combine_r _ _ _ _ I) as Iy.
    apply divisor_divides in Ix, Iy. rewrite <- D in Ix. rewrite <- D' in Iy.
    assert (a * y = b * x)%Z as M.
    { clear - C I. induction C as [|x' y' xs ys M C IH]; simpl in I; [tauto|].
      destruct I as [[= <- <-]|I]; auto. }
    destruct (Z.eqb_spec d 0) as [Zd|Nd].
    - assert (d' = 0)%Z as Zd' by nia. rewrite Zd'. rewrite Zd in Ix. rewrite Zd' in Iy. simpl.
      apply Z.divide_0_l in Ix, Iy. subst. auto.
    - assert (d' <> 0)%Z as Nd' by nia. rewrite (proj2 (Z.eqb_neq d' 0) Nd').
      apply (quotients_equal _ _ a b); auto. }
  clear D D' C E A B.
  generalize dependent (if (d =? 0)%Z then 1%Z else d).
  generalize dependent (if (d' =? 0)%Z then 1%Z else d'). clear d d'. intros d' d K.
  f_equal.
  - clear H Q. revert K. generalize (List.map snd g), (List.map snd e'). clear - F. intros l l' K.
    induction F as [|x y front front' _ F IH]; simpl in *; auto. f_equal.
    + symmetry. apply K. auto.
    + apply IH. intros. apply K. auto.
  - f_equal. rewrite (sorted_permutation _ _ (Permutation_map _ Q)). f_equal.
    assert (forall p q, In (p, q) (combine g e') -> (snd q / d' = snd p / d)%Z) as K'.
    { intros p q I. apply K. clear - F H I. induction F as [|x y front front' _ F IH]; simpl; auto.
      induction H as [|p' q' g e' _ H IH]; simpl in *; [tauto|].
      destruct I as [[= <- <-]|I]; auto. }
    clear K F Q. induction H as [|p q g e' [N _] H IH]; simpl in *; auto. f_equal.
    + rewrite (K' p q) by auto. rewrite N. auto.
    + apply IH. intros. apply K'. auto.
Qed.

(** * Layers *)

(** What is known of a layer: a name and a scale for each neuron, the scales over a denominator. *)
Record known := Known { names : list Z; scales : list Z; common : Z }.

Fixpoint products (a b : list Z) : list Z :=
  match a, b with x :: a', y :: b' => (x * y)%Z :: products a' b' | _, _ => [] end.

Definition read (k : known) (r : row) : list (Z * Z) :=
  combine (names k) (products (fst r) (scales k)).

Definition neuron_key (is_last : bool) (k : known) (denominator : Z) (r : row) : list Z :=
  let b := (snd r * common k)%Z in
  key_of (if is_last then [b; common k * denominator] else [b])%Z (read k r).

Definition absolutes (l : list Z) : Z := fold_right (fun x s => (Z.abs x + s)%Z) 0%Z l.
Definition neuron_scale (k : known) (r : row) : Z :=
  (absolutes (products (fst r) (scales k)) + Z.abs (snd r * common k))%Z.

Definition keys (is_last : bool) (k : known) (p : plain) : list (list Z) :=
  List.map (neuron_key is_last k (over p)) (rows p).

Fixpoint compare_keys (a b : list Z) : comparison :=
  match a, b with
  | [], [] => Eq
  | [], _ => Lt
  | _, [] => Gt
  | x :: a', y :: b' => match Z.compare x y with Eq => compare_keys a' b' | c => c end
  end.

(** The names that a table gives, and a table that has one for each key. *)
Definition table := map (list Z) Z.
Definition name_in (t : table) (key : list Z) : Z :=
  match Maps.find compare_keys key t with Some name => name | None => 0%Z end.
Definition enter (found : table * Z) (key : list Z) : table * Z :=
  match Maps.find compare_keys key (fst found) with
  | Some _ => found
  | None => (Maps.add compare_keys key (snd found) (fst found), (snd found + 1)%Z)
  end.
Definition table_of (all_keys : list (list Z)) : table := fst (fold_left enter all_keys (E, 1%Z)).

Definition next (t : table) (found : list (list Z)) (k : known) (p : plain) : known :=
  Known (List.map (name_in t) found) (List.map (neuron_scale k) (rows p)) (common k * over p).

(** The numbers stay below the limit of FORMAT.md. *)
Definition num_bits (z : Z) : Z := if (z =? 0)%Z then 0%Z else (Z.log2 (Z.abs z) + 1)%Z.
Definition most_bits (l : list Z) (m : Z) : Z := fold_left (fun m z => Z.max m (num_bits z)) l m.
Definition layer_bits (p : plain) : Z :=
  fold_left (fun m r => most_bits (fst r) (Z.max m (num_bits (snd r)))) (rows p) (num_bits (over
    p)).
Definition scales_fit (k : known) (p : plain) : bool :=
  (most_bits (scales k) (num_bits (common k)) + layer_bits p <=? max_grown_bits)%Z.

(** The two networks have equal invariants in the layer that is [more] layers above this one. *)
Fixpoint equal_invariants (more : nat) (k k' : known) (s t : list plain) : answer bool :=
  match s, t with
  | p :: s', q :: t' =>
      within (scales_fit k p && scales_fit k' q) "not-related: beyond the limits: long scales" (
      let is_last := match s' with [] => true | _ => false end in
      let found := keys is_last k p in
      let found' := keys is_last k' q in
      let shared := table_of (found ++ found') in
      let above := next shared found k p in
      let above' := next shared found' k' q in
      match more with
      | O =>
          if is_last then Good (zs_eqb (names above) (names above'))
          else
            let multiset l := List.map fst (sorted (List.map (fun n => (n, 0%Z)) l)) in
            Good (zs_eqb (multiset (names above)) (multiset (names above')))
      | S more' => equal_invariants more' above above' s' t'
      end)
  | _, _ => Good true
  end.

(** The inputs are their own names, in order. *)
Fixpoint count_from (k : Z) (m : nat) : list Z :=
  match m with O => [] | S m' => k :: count_from (k + 1) m' end.
Definition inputs_known (m : nat) : known :=
  Known (count_from 0 m) (List.map (fun _ => 1%Z) (count_from 0 m)) 1.

(** The invariants of layer [layer], counted from 1, differ. *)
Definition not_related (inputs layer : nat) (s t : list plain) : answer unit :=
  match layer with
  | O => Rejected "not-related: layer 0"
  | S more =>
      require (Nat.ltb more (List.length s) && Nat.ltb more (List.length t))
        "not-related: not a layer of the networks"
        (and_then (equal_invariants more (inputs_known inputs) (inputs_known inputs) s t)
          (fun equal => require (negb equal) "not-related: equal invariants" (Good tt)))
  end.

(** * Related networks have equal invariants *)

Section Related.
Variables (place : nat -> nat -> nat) (scale : nat -> nat -> R).

Definition no_row : row := ([], 0%Z).
Definition entry (p : plain) (i j : nat) : R :=
  IZR (nth j (fst (nth i (rows p) no_row)) 0%Z) / IZR (over p).
Definition shift (p : plain) (i : nat) : R := IZR (snd (nth i (rows p) no_row)) / IZR (over p).

(** Layer [l] of two related networks; [m] is the width of the layer before. *)
Definition linked (l m : nat) (p q : plain) : Prop :=
  length (rows p) = length (rows q) /\
  bFun (length (rows p)) (place l) /\ bInjective (length (rows p)) (place l) /\
  forall i, (i < length (rows p))%nat ->
    shift q i = scale l i * shift p (place l i) /\
    forall j, (j < m)%nat ->
      entry q i j = scale l i * entry p (place l i) (place (pred l) j) / scale (pred l) j.

(** What is known of a layer of two related networks. *)
Definition agree (l m : nat) (k k' : known) : Prop :=
  (0 < common k)%Z /\ (0 < common k')%Z /\
  length (names k) = m /\ length (scales k) = m /\
  length (names k') = m /\ length (scales k') = m /\
  bFun m (place l) /\ bInjective m (place l) /\
  forall j, (j < m)%nat ->
    nth j (names k') 0%Z = nth (place l j) (names k) 0%Z /\
    IZR (nth j (scales k') 0%Z) * IZR (common k) =
    scale l j * IZR (nth (place l j) (scales k) 0%Z) * IZR (common k').

Hypothesis positive : forall l i, 0 < scale l i.

Lemma products_length a b : length (products a b) = min (length a) (length b).
Proof. revert b. induction a; intros [|y b]; simpl; auto. Qed.
Lemma products_nth a b j : nth j (products a b) 0%Z = (nth j a 0 * nth j b 0)%Z.
Proof.
  revert b j. induction a as [|x a IH]; intros [|y b] [|j]; simpl; auto; try lia.
Qed.

(** A list is a permutation of the entries at places. *)
Lemma permuted {X} (d : X) (l : list X) f : bFun (length l) f -> bInjective (length l) f ->
  Permutation l (List.map (fun j => nth (f j) l d) (seq 0 (length l))).
Proof.
  intros F I. apply (Permutation_nth l _ d). rewrite map_length, seq_length. split; auto.
  exists f. repeat split; auto. intros j J.
  rewrite nth_indep with (d' := nth (f 0%nat) l d) by (rewrite map_length, seq_length; auto).
  rewrite (map_nth (fun j => nth (f j) l d)), seq_nth by auto. reflexivity.
Qed.

Lemma Forall2_nth {X Y} (P : X -> Y -> Prop) a b dx dy : length a = length b ->
  (forall j, (j < length a)%nat -> P (nth j a dx) (nth j b dy)) -> Forall2 P a b.
Proof.
  revert b. induction a as [|x a IH]; intros [|y b]; simpl; try discriminate; auto.
  intros [= L] H. constructor. { apply (H 0%nat). lia. }
  apply IH; auto. intros j J. apply (H (S j)). lia.
Qed.

Section Neuron.
Variables (l m : nat) (k k' : known) (p q : plain) (i : nat).
Hypothesis known_before : agree l m k k'.
Hypothesis links : linked (S l) m p q.
Hypothesis p_fits : (0 < over p)%Z /\ Forall (fun r => length (fst r) = m) (rows p).
Hypothesis q_fits : (0 < over q)%Z /\ Forall (fun r => length (fst r) = m) (rows q).
Hypothesis i_small : (i < length (rows p))%nat.

Let one := nth (place (S l) i) (rows p) no_row.
Let two := nth i (rows q) no_row.
(** The vector of the one neuron times this is the vector of the other one. *)
Let ratio := scale (S l) i * (IZR (over q) * IZR (common k')) / (IZR (over p) * IZR (common k)).

Lemma denominators : 0 < IZR (over p) /\ 0 < IZR (over q) /\ 0 < IZR (common k) /\
  0 < IZR (common k').
Proof.
  destruct known_before as (? & ? & _), p_fits as [? _], q_fits as [? _].
  repeat split; apply IZR_lt; auto.
Qed.

Lemma ratio_positive : 0 < ratio.
Proof.
  pose proof denominators as (? & ? & ? & ?). unfold ratio, Rdiv. pose proof (positive (S l) i).
  repeat apply Rmult_lt_0_compat; auto. apply Rinv_0_lt_compat, Rmult_lt_0_compat; auto.
Qed.

Lemma length_one : length (fst one) = m.
Proof.
  destruct p_fits as [_ F]. rewrite Forall_forall in F. apply F, nth_In.
  destruct links as (_ & B & _). apply B. auto.
Qed.
Lemma length_two : length (fst two) = m.
Proof.
  destruct q_fits as [_ F]. rewrite Forall_forall in F. apply F, nth_In.
  destruct links as (<- & _). auto.
Qed.

Lemma bias_times : times ratio (snd one * common k) (snd two * common k').
Proof.
  destruct links as (_ & _ & _ & H). destruct (H i i_small) as [B _]. unfold shift in B.
  fold one two in B. pose proof denominators as (? & ? & ? & ?). unfold times, ratio.
  rewrite !mult_IZR.
  replace (IZR (snd two)) with (IZR (over q) * (IZR (snd two) / IZR (over q))) by (field; lra).
  rewrite B. field. lra.
Qed.

Lemma read_times j : (j < m)%nat ->
  times ratio (nth (place l j) (products (fst one) (scales k)) 0%Z)
              (nth j (products (fst two) (scales k')) 0%Z).
Proof.
  intro J. destruct links as (_ & _ & _ & H). destruct (H i i_small) as [_ W]. specialize (W j J).
  simpl in W. unfold entry in W. fold one two in W.
  destruct known_before as (_ & _ & _ & _ & _ & _ & _ & _ & N). destruct (N j J) as [_ S].
  pose proof denominators as (? & ? & ? & ?). pose proof (positive l j).
  unfold times, ratio. rewrite !products_nth, !mult_IZR.
  replace (IZR (nth j (fst two) 0%Z))
    with (IZR (over q) * (IZR (nth j (fst two) 0%Z) / IZR (over q))) by (field; lra).
  replace (IZR (nth j (scales k') 0%Z))
    with (IZR (nth j (scales k') 0%Z) * IZR (common k) / IZR (common k)) by (field; lra).
  rewrite W, S. field. lra.
Qed.


Let moved {X} (d : X) (a : list X) := List.map (fun j => nth (place l j) a d) (seq 0 m).

Lemma moved_nth {X} (d : X) a j : (j < m)%nat -> nth j (moved d a) d = nth (place l j) a d.
Proof.
  intro J. unfold moved.
  rewrite nth_indep with (d' := nth (place l 0) a d) by (rewrite map_length, seq_length; auto).
  rewrite (map_nth (fun j => nth (place l j) a d)), seq_nth by auto. reflexivity.
Qed.
Lemma moved_length {X} (d : X) a : length (moved d a) = m.
Proof. unfold moved. rewrite map_length, seq_length. auto. Qed.
Lemma moved_permutation {X} (d : X) a : length a = m -> Permutation a (moved d a).
Proof.
  destruct known_before as (_ & _ & _ & _ & _ & _ & F & J & _). intro L. unfold moved.
  rewrite <- L in F, J |- *. apply permuted; auto.
Qed.

Lemma products_one : length (products (fst one) (scales k)) = m.
Proof.
  destruct known_before as (_ & _ & _ & E & _). rewrite products_length, length_one, E. lia.
Qed.
Lemma products_two : length (products (fst two) (scales k')) = m.
Proof.
  destruct known_before as (_ & _ & _ & _ & _ & E & _). rewrite products_length, length_two, E. lia.
Qed.

Lemma read_related :
  Permutation (read k one) (moved (0, 0)%Z (read k one)) /\
  Forall2 (pair_times ratio) (moved (0, 0)%Z (read k one)) (read k' two).
Proof.
  pose proof products_one as P1. pose proof products_two as P2.
  destruct known_before as (_ & _ & N1 & _ & N2 & _ & _ & _ & H). split.
  - apply moved_permutation. unfold read. rewrite combine_length, P1, N1. lia.
  - apply Forall2_nth with (dx := (0, 0)%Z) (dy := (0, 0)%Z).
    + rewrite moved_length. unfold read. rewrite combine_length, P2, N2. lia.
    + rewrite moved_length. intros j J. rewrite moved_nth by auto. unfold read.
      rewrite !combine_nth by congruence. split; simpl.
      * symmetry. apply H. auto.
      * apply read_times. auto.
Qed.

Lemma key_equal is_last : (is_last = true -> scale (S l) i = 1) ->
  neuron_key is_last k (over p) one = neuron_key is_last k' (over q) two.
Proof.
  intro L. unfold neuron_key. destruct read_related as [P H].
  eapply key_of_times; [apply ratio_positive| |exact P|exact H].
  destruct is_last; repeat constructor; try apply bias_times.
  unfold times, ratio. rewrite L, !mult_IZR by auto. pose proof denominators as (? & ? & ? & ?).
  field. lra.
Qed.

Lemma absolutes_permutation a b : Permutation a b -> absolutes a = absolutes b.
Proof. induction 1; simpl; lia. Qed.
Lemma absolutes_times r a b : 0 < r -> Forall2 (times r) a b -> times r (absolutes a) (absolutes b).
Proof.
  intros P H. unfold times in *. induction H as [|x y a b E H IH]; simpl; [lra|].
  rewrite !plus_IZR, !abs_IZR, IH, E, Rabs_mult, (Rabs_pos_eq r) by lra. ring.
Qed.

Lemma scale_times : times ratio (neuron_scale k one) (neuron_scale k' two).
Proof.
  pose proof ratio_positive as P. unfold neuron_scale.
  rewrite (absolutes_permutation _ _ (moved_permutation 0%Z _ products_one)).
  assert (Forall2 (times ratio) (moved 0%Z (products (fst one) (scales k)))
    (products (fst two) (scales k'))) as H.
  { apply Forall2_nth with (dx := 0%Z) (dy := 0%Z); rewrite moved_length.
    - symmetry. apply products_two.
    - intros j J. rewrite moved_nth by auto. apply read_times. auto. }
  apply (absolutes_times _ _ _ P) in H. pose proof bias_times as B. unfold times in *.
  rewrite !plus_IZR, !abs_IZR, H, B, Rabs_mult, (Rabs_pos_eq ratio) by lra. ring.
Qed.

Lemma next_scale :
  IZR (neuron_scale k' two) * IZR (common k * over p) =
  scale (S l) i * IZR (neuron_scale k one) * IZR (common k' * over q).
Proof.
  pose proof scale_times as S. unfold times in S. rewrite S, !mult_IZR. unfold ratio.
  pose proof denominators as (? & ? & ? & ?). field. lra.
Qed.
End Neuron.

Lemma nth_map_row {X} (f : row -> X) d rs i : (i < length rs)%nat ->
  nth i (List.map f rs) d = f (nth i rs no_row).
Proof.
  intro H. rewrite nth_indep with (d' := f no_row) by (rewrite map_length; auto). apply map_nth.
Qed.

Lemma next_agree l m k k' p q t is_last :
  agree l m k k' -> linked (S l) m p q ->
  (0 < over p)%Z /\ Forall (fun r => length (fst r) = m) (rows p) ->
  (0 < over q)%Z /\ Forall (fun r => length (fst r) = m) (rows q) ->
  (is_last = true -> forall i, scale (S l) i = 1) ->
  agree (S l) (length (rows p)) (next t (keys is_last k p) k p) (next t (keys is_last k' q) k' q).
Proof.
  intros A L P Q E. pose proof L as (N & B & J & _). pose proof A as (C & C' & _).
  destruct P as [P1 P2], Q as [Q1 Q2]. unfold next, keys.
  repeat split; cbn [common names scales]; rewrite ?map_length; auto; try nia.
  - rewrite !map_map, !nth_map_row by (auto; rewrite <- ?N; auto). f_equal. symmetry.
    eapply key_equal; eauto.
  - rewrite !nth_map_row by (auto; rewrite <- ?N; auto). eapply next_scale; eauto.
Qed.

Fixpoint linked_stacks (l m : nat) (s t : list plain) : Prop :=
  match s, t with
  | [], [] => True
  | p :: s', q :: t' =>
      linked (S l) m p q /\
      (s' = [] -> forall i, place (S l) i = i /\ scale (S l) i = 1) /\
      linked_stacks (S l) (length (rows p)) s' t'
  | _, _ => False
  end.

Lemma zs_eqb_refl a : zs_eqb a a = true.
Proof. induction a; simpl; auto. rewrite Z.eqb_refl. auto. Qed.

Lemma linked_equal more : forall l m s t k k' b,
  linked_stacks l m s t -> fits m s -> fits m t -> agree l m k k' ->
  equal_invariants more k k' s t = Good b -> b = true.
Proof.
  induction more as [|more IH]; intros l m [|p s] [|q t] k k' found; simpl; try congruence;
    try tauto;
    intros (L & E & R) (P1 & P2 & P3) (Q1 & Q2 & Q3) A Found;
    apply within_good in Found as [_ Found]; revert Found;
    set (last := match s with [] => true | _ :: _ => false end);
    set (shared := table_of _);
    assert (last = true -> forall i, scale (S l) i = 1) as One by
      (unfold last; destruct s; [intros _ i; apply E; auto|discriminate]);
    pose proof (next_agree l m k k' p q shared last A L (conj P1 P2) (conj Q1 Q2) One) as N.
  - destruct N as (_ & _ & N1 & _ & N2 & _ & B & J & H).
    remember (names (next shared (keys last k p) k p)) as a eqn:Ea.
    remember (names (next shared (keys last k' q) k' q)) as b eqn:Eb.
    unfold next in Ea, Eb. cbn [names] in Ea, Eb. rewrite <- Ea, <- Eb. clear Ea Eb.
    destruct last eqn:Last.
    + intros [= <-]. assert (a = b) as ->; [|apply zs_eqb_refl]. unfold last in Last.
      destruct s; [|discriminate].
      apply (nth_ext _ _ 0%Z 0%Z); [congruence|]. intros j F. rewrite N1 in F.
      destruct (H j F) as [-> _]. rewrite (proj1 (E eq_refl j)). auto.
    + intros [= <-]. assert (Permutation a b) as P.
      { eapply Permutation_trans; [apply (permuted 0%Z); rewrite N1; eauto|].
        assert (List.map (fun j => nth (place (S l) j) a 0%Z) (seq 0 (length a)) = b) as ->; auto.
        apply (nth_ext _ _ 0%Z 0%Z); [rewrite map_length, seq_length; congruence|].
        intros j F. rewrite map_length, seq_length in F. pose proof F as F'. rewrite N1 in F'.
        destruct (H j F') as [-> _].
        rewrite nth_indep with (d' := nth (place (S l) 0) a 0%Z)
          by (rewrite map_length, seq_length; auto).
        rewrite (map_nth (fun j => nth (place (S l) j) a 0%Z)), seq_nth by auto. auto. }
      rewrite (sorted_permutation _ _ (Permutation_map (fun n => (n, 0%Z)) P)). apply zs_eqb_refl.
  - assert (length (rows p) = length (rows q)) as W by exact (proj1 L). rewrite <- W in Q3.
    eapply IH; eauto.
Qed.
End Related.

(** * Networks *)

Lemma plain_layers_nth ls : forall k m s l, plain_layers k m ls = Some s -> (l < length ls)%nat ->
  den (nth l ls no_layer) = over (nth l s (Plain 1 [])) /\
  exists m', rows_of (k + l) m' (neurons (nth l ls no_layer)) = Some (rows (nth l s (Plain 1 []))).
Proof.
  induction ls as [|y ls IH]; simpl; intros k m s l; [lia|].
  destruct (rows_of _ _ _) as [rs|] eqn:E; [|discriminate].
  destruct (plain_layers _ _ _) as [s'|] eqn:F; [|discriminate].
  destruct (0 <? den y)%Z; [|discriminate]. intros [= <-] L. destruct l as [|l]; simpl.
  - split; auto. exists m. rewrite Nat.add_0_r. auto.
  - destruct (IH _ _ _ l F) as [D (m' & G)]; [lia|]. split; auto. exists m'.
    replace (k + S l)%nat with (S k + l)%nat by lia. auto.
Qed.

Lemma rows_of_nth k m ns rs i : rows_of k m ns = Some rs ->
  fst (nth i ns (0%Z, [])) = snd (nth i rs no_row) /\
  row_from k (nth i ns (0%Z, [])) = fst (nth i rs no_row).
Proof.
  intro H. apply rows_of_ok in H. revert i.
  induction H as [|n r ns rs (E & F & _) H IH]; intros [|i]; simpl; auto.
  split; auto. unfold row_from. rewrite E. simpl. rewrite Nat.eqb_refl. auto.
Qed.

Lemma plain_layers_length ls k m s : plain_layers k m ls = Some s -> length s = length ls.
Proof.
  revert k m s. induction ls as [|y ls IH]; simpl; intros k m s. { intros [= <-]. auto. }
  destruct (rows_of _ _ _) as [rs|]; [|discriminate].
  destruct (plain_layers _ _ _) as [s'|] eqn:F; [|discriminate].
  destruct (0 <? den y)%Z; [|discriminate]. intros [= <-]. simpl. f_equal. eauto.
Qed.

Lemma stack_of_layers m n s : stack_of m n = Some s ->
  plain_layers 0 m (layers n) = Some s /\ s <> [].
Proof.
  unfold stack_of. destruct (plain_layers _ _ _) as [[|p s']|]; try discriminate.
  intros [= <-]. split; [auto|discriminate].
Qed.

(** Weights and biases, read off the plain stack. *)
Lemma stack_of_weights m n s l i : stack_of m n = Some s -> (1 <= l <= length s)%nat ->
  bias n l i = shift (nth (pred l) s (Plain 1 [])) i /\
  (forall j, weight n l i j = entry (nth (pred l) s (Plain 1 [])) i j) /\
  width m n l = length (rows (nth (pred l) s (Plain 1 []))).
Proof.
  intros H L. apply stack_of_layers in H as [H _]. pose proof (plain_layers_length _ _ _ _ H) as E.
  destruct (plain_layers_nth _ _ _ _ (pred l) H) as [D (m' & R)]; [lia|].
  unfold bias, weight, width, shift, entry, neuron_at, layer_at. simpl in R.
  destruct (rows_of_nth _ _ _ _ i R) as [B W]. rewrite B, W, D. repeat split.
  destruct l; [lia|]. apply rows_of_length in R. auto.
Qed.

Lemma linked_of_pointwise place scale total : forall s t l m,
  length s = length t -> total = (l + length s)%nat ->
  (forall i, place total i = i /\ scale total i = 1) ->
  (forall d, (d < length s)%nat ->
     linked place scale (S (l + d))
       (match d with O => m | S d' => length (rows (nth d' s (Plain 1 []))) end)
       (nth d s (Plain 1 [])) (nth d t (Plain 1 []))) ->
  linked_stacks place scale l m s t.
Proof.
  induction s as [|p s IH]; intros [|q t] l m; simpl; try discriminate; auto.
  intros [= E] T One H. split; [|split].
  - specialize (H 0%nat). rewrite Nat.add_0_r in H. apply H. lia.
  - intros ->. simpl in T. intro i. replace (S l) with total by lia. auto.
  - apply (IH t (S l)); auto; [lia|]. intros d L. specialize (H (S d)).
    replace (S (S l + d))%nat with (S (l + S d)) by lia.
    destruct d as [|d]; simpl in H |- *; apply H; lia.
Qed.

Lemma related_linked m one two s t : stack_of m one = Some s -> stack_of m two = Some t ->
  related m one two ->
  exists (place : nat -> nat -> nat) (scale : nat -> nat -> R),
    (forall l i, 0 < scale l i) /\ linked_stacks place scale 0 m s t /\
    (forall i, place 0%nat i = i /\ scale 0%nat i = 1) /\ bFun m (place 0%nat) /\
      bInjective m (place 0%nat).
Proof.
  intros S T ((D & _ & W) & place & scale & B & P & E & H). exists place, scale.
  split; [exact P|]. split; [|split; [intro i; apply E; auto|apply (B 0%nat); lia]].
  pose proof (proj1 (stack_of_layers _ _ _ S)) as Ls.
  pose proof (proj1 (stack_of_layers _ _ _ T)) as Lt.
  apply plain_layers_length in Ls, Lt. unfold depth in *.
  assert (forall d, (d <= length s)%nat -> width m one d =
    match d with O => m | S d' => length (rows (nth d' s (Plain 1 []))) end) as Width.
  { intros [|d] L; [reflexivity|]. apply (stack_of_weights m one s (Datatypes.S d) 0); auto. lia. }
  apply (linked_of_pointwise place scale (length s)); [congruence|auto| |].
  { intro i. apply E. right. congruence. }
  intros d L. simpl. pose proof (Width (Datatypes.S d) ltac:(lia)) as Wd. simpl in Wd.
  assert (1 <= Datatypes.S d <= length s)%nat as L1 by lia.
  assert (1 <= Datatypes.S d <= length t)%nat as L2 by lia.
  assert (1 <= Datatypes.S d <= length (layers one))%nat as L3 by lia.
  split; [|split; [|split]].
  - rewrite <- Wd.
    change (length (neurons (layer_at one (Datatypes.S d)))) with (width m one (Datatypes.S d)).
    rewrite W. apply (stack_of_weights m two t (Datatypes.S d) 0 T L2).
  - rewrite <- Wd. apply (B (Datatypes.S d)). lia.
  - rewrite <- Wd. apply (B (Datatypes.S d)). lia.
  - intros i I. rewrite <- Wd in I. destruct (H (Datatypes.S d) i L3 I) as [Hb Hw].
    destruct (stack_of_weights m two t (Datatypes.S d) i T L2) as (Eb & Ew & _).
    destruct (stack_of_weights m one s (Datatypes.S d) (place (Datatypes.S d) i) S L1)
      as (Fb & Fw & _).
    simpl pred in *. rewrite <- Eb, <- Fb. split; auto. intros j J. rewrite <- Ew, <- Fw. apply Hw.
    rewrite Width by lia. auto.
Qed.

Theorem not_related_ok m layer one two s t :
  stack_of m one = Some s -> stack_of m two = Some t ->
  not_related m layer s t = Good tt -> ~ related m one two.
Proof.
  intros S T C Related.
  destruct (related_linked m one two s t S T Related) as (place & scale & P & L & E & B1 & B2).
  unfold not_related in C. destruct layer as [|more]; [discriminate|].
  apply require_good in C as [_ C]. apply and_then_good in C as (b & C & N).
  apply require_good in N as [N _]. apply negb_true_iff in N.
  apply (linked_equal place scale P more 0 m s t) in C; [congruence|exact L| | |].
  - eapply stack_of_fits; eauto.
  - eapply stack_of_fits; eauto.
  - assert (length (count_from 0 m) = m) as Len by (generalize 0%Z; clear; induction m; simpl;
      auto).
    assert (forall j, (j < m)%nat -> nth j (List.map (fun _ => 1%Z) (count_from 0 m)) 0%Z = 1%Z)
      as Ones.
    { intros j J. rewrite nth_indep with (d' := 1%Z) by (rewrite map_length; lia).
      apply (map_nth (fun _ => 1%Z) (count_from 0 m) 0%Z j). }
    unfold inputs_known.
    repeat split; cbn [common names scales]; rewrite ?map_length; auto; try lia.
    + destruct (E j) as [-> _]. auto.
    + destruct (E j) as [-> ->]. rewrite Ones by auto. lra.
Qed.
