(** No nonempty set of the matrices X_i = v_i w_i has the sum 0 (FORMAT.md, section 3.3, method "no
    vanishing subset sum"): both kinds of evidence, modulo a number.

    Matrices are lists of rows of integers. That the modulus is a prime is not used. *)
Require Import String ZArith NArith Reals List Bool Lra Lia.
From PolyreluVerified Require Import Verdicts Maps Networks Limits Stacks Scaled OneSided.
From PolyreluVerified Require Import Invariants Replacement Independence Generic.
Import ListNotations.
Open Scope string_scope.
Open Scope list_scope.
Open Scope R_scope.

(** * What is checked *)

Inductive sums_evidence :=
| Independent (prime : Z) (entries : list (nat * nat))
| Subset_sums (multiplier : Z).

Definition at_ (m : matrix) (i k : nat) : Z := nth k (nth i m []) 0%Z.

(** The rows over their greatest common divisor. *)
Definition primitive (m : matrix) : matrix :=
  let g := divisor (List.concat m) in
  let d := if (g =? 0)%Z then 1%Z else g in
  List.map (List.map (fun x => x / d)%Z) m.

(** The first [n] columns. *)
Fixpoint columns (n : nat) (m : matrix) : matrix :=
  match n with
  | O => []
  | S n' => List.map (fun r => hd 0%Z r) m :: columns n' (List.map (@tl Z) m)
  end.

Fixpoint products (p : Z) (u v : list Z) : list Z :=
  match u, v with
  | x :: u', y :: v' => ((x * y) mod p)%Z :: products p u' v'
  | _, _ => []
  end.

Definition max_determinant : nat := 1024.
Definition max_summands : nat := 40.
Definition large_prime : Z := 2305843009213693951.  (* 2^61 - 1 *)

(** [lower] are the rows w_i of [inputs] numbers, and [upper] those of W[2]. *)
Definition check_entries (inputs : nat) (lower upper : matrix) (p : Z)
  (entries : list (nat * nat)) : answer unit :=
  let q := length lower in
  let ws := columns inputs (List.map (reduce p) lower) in
  let vs := List.map (reduce p) upper in
  require (forallb (fun e => Nat.ltb (fst e) (length upper) && Nat.ltb (snd e) inputs) entries &&
           ascending_below 0 (length upper * inputs)
             (List.map (fun e => fst e * inputs + snd e)%nat entries) &&
           Nat.eqb (length entries) q) "unique: entries"
  (within (Nat.leb q max_determinant) "unique: beyond the limits: a determinant"
  (require ((1 <? p)%Z && regular_mod p q
      (List.map (fun e => products p (nth (fst e) vs []) (nth (snd e) ws [])) entries))
     "unique: a determinant that is 0 modulo the prime" (Good tt))).

(** l_0 + l_1 r + l_2 r^2 + ... *)
Definition horner (p r : Z) (l : list Z) : Z := fold_right (fun x s => (x + r * s) mod p)%Z 0%Z l.

Definition images (inputs : nat) (lower upper : matrix) (p r : Z) : list Z :=
  let power := horner p r (repeat 0%Z (length upper) ++ [1%Z]) in
  products p (List.map (horner p r) (columns (length lower) upper))
    (List.map (horner p power) lower).

(** The sums of the nonempty sets. *)
Fixpoint sums_of (p : Z) (l : list Z) : list Z :=
  match l with
  | [] => []
  | x :: l' =>
      let s := sums_of p l' in
      fold_left (fun all y => ((x + y) mod p)%Z :: all) s ((x mod p)%Z :: s)
  end.

Definition is_in (m : nmap unit) (x : Z) : bool :=
  match nfind (Z.to_N x) m with Some _ => true | None => false end.

(** No sum of the one half is 0, nor one of the other half, nor one of both. The table is looked
    up for all that was put in, so that nothing has to be known of tables. *)
Definition check_halves (p : Z) (first rest : list Z) : bool :=
  let a := sums_of p first in
  let b := sums_of p rest in
  let table := fold_left (fun m x => nadd (Z.to_N x) tt m) a E in
  forallb (is_in table) a && negb (is_in table 0) &&
  forallb (fun y => negb (y =? 0)%Z && negb (is_in table ((p - y) mod p)%Z)) b.

Definition check_images (inputs : nat) (lower upper : matrix) (r : Z) : answer unit :=
  let q := length lower in
  within ((0 <=? r)%Z && (r <? large_prime)%Z) "unique: beyond the limits: a multiplier"
  (within (Nat.leb q max_summands) "unique: beyond the limits: neurons"
  (require (let l := images inputs lower upper large_prime r in
            check_halves large_prime (firstn (Nat.div2 q) l) (skipn (Nat.div2 q) l))
     "unique: a sum that is 0 modulo 2^61 - 1" (Good tt))).

Definition check_sums (inputs : nat) (lower upper : matrix) (e : sums_evidence) : answer unit :=
  match e with
  | Independent p entries => check_entries inputs (primitive lower) (primitive upper) p entries
  | Subset_sums r => check_images inputs (primitive lower) (primitive upper) r
  end.

(** * Sums of integers *)

Definition zsum (n : nat) (f : nat -> Z) : Z := fold_right Z.add 0%Z (List.map f (seq 0 n)).

Lemma IZR_zsum n f : IZR (zsum n f) = sum n (fun i => IZR (f i)).
Proof.
  unfold zsum, sum, sum_over. induction (seq 0 n) as [|i l IH]; simpl; auto.
  rewrite plus_IZR, IH. auto.
Qed.

Lemma zsum_of_sum n f g : sum n (fun i => IZR (f i)) = sum n (fun i => IZR (g i)) ->
  zsum n f = zsum n g.
Proof. intro H. apply eq_IZR. rewrite !IZR_zsum. auto. Qed.

Lemma zsum_divides p n f g : (forall i, (i < n)%nat -> (p | f i - g i)%Z) ->
  (p | zsum n f - zsum n g)%Z.
Proof.
  intro H. unfold zsum.
  assert (forall i, In i (seq 0 n) -> (p | f i - g i)%Z) as K.
  { intros i I. apply in_seq in I. apply H. lia. }
  clear H. induction (seq 0 n) as [|i l IH]; simpl; [apply Z.divide_0_r|].
  replace (f i + fold_right Z.add 0%Z (List.map f l) -
    (g i + fold_right Z.add 0%Z (List.map g l)))%Z with
    ((f i - g i) + (fold_right Z.add 0%Z (List.map f l) - fold_right Z.add 0%Z (List.map g l)))%Z
    by ring.
  apply Z.divide_add_r; [apply K; simpl; auto|]. apply IH. intros; apply K; simpl; auto.
Qed.

Lemma map_seq {A} (l : list A) d : List.map (fun i => nth i l d) (seq 0 (length l)) = l.
Proof.
  induction l as [|x l IH]; auto. simpl. f_equal. rewrite <- seq_shift, map_map. exact IH.
Qed.

Lemma zdot_zsum l t n : length l = n ->
  zdot l (List.map t (seq 0 n)) = zsum n (fun i => nth i l 0 * t i)%Z.
Proof.
  intro L. rewrite <- (map_seq l 0%Z) at 1. rewrite L. unfold zsum.
  induction (seq 0 n) as [|i s IH]; simpl; auto. rewrite IH. auto.
Qed.

(** * Matrices *)

Lemma nth_mapped {A} (f : A -> Z) (l : list A) k d : (k < length l)%nat ->
  nth k (List.map f l) 0%Z = f (nth k l d).
Proof.
  intro K. rewrite nth_indep with (d' := f d) by (rewrite map_length; auto). apply map_nth.
Qed.

Lemma primitive_ok m : exists d, (d <> 0)%Z /\
  forall i k, at_ m i k = (d * at_ (primitive m) i k)%Z.
Proof.
  unfold primitive. set (g := divisor (concat m)). set (d := if (g =? 0)%Z then 1%Z else g).
  assert (d <> 0)%Z as D by (unfold d; destruct (Z.eqb_spec g 0); lia).
  exists d. split; auto. intros i k. unfold at_.
  replace (nth i (List.map (List.map (fun x => x / d)%Z) m) [])
    with (List.map (fun x => x / d)%Z (nth i m []))
    by (symmetry; apply (map_nth (List.map (fun x => x / d)%Z) m [] i)).
  destruct (Nat.ltb_spec k (length (nth i m []))) as [K|K].
  - rewrite (nth_mapped (fun x => x / d)%Z _ _ 0%Z) by auto.
    assert (d | nth k (nth i m []) 0)%Z as [c ->].
    { assert (g | nth k (nth i m []) 0)%Z as G.
      { apply divisor_divides, in_concat. exists (nth i m []). split; [|apply nth_In; auto].
        destruct (Nat.ltb_spec i (length m)) as [I|I]; [apply nth_In; auto|].
        rewrite nth_overflow in K by auto. simpl in K. lia. }
      unfold d. destruct (Z.eqb_spec g 0) as [Z|]; auto. rewrite Z in G.
      apply Z.divide_0_l in G. rewrite G. apply Z.divide_0_r. }
    rewrite Z.div_mul by auto. ring.
  - rewrite !nth_overflow; [ring|rewrite map_length; auto|auto].
Qed.

Lemma primitive_length m : length (primitive m) = length m.
Proof. apply map_length. Qed.

Lemma columns_length n m : length (columns n m) = n.
Proof. revert m. induction n as [|n IH]; intro m; simpl; auto. Qed.

Lemma columns_ok n : forall m k, (k < n)%nat ->
  nth k (columns n m) [] = List.map (fun r => nth k r 0%Z) m.
Proof.
  induction n as [|n IH]; intros m k K; [lia|]. simpl. destruct k as [|k].
  - apply map_ext. intros [|x r]; auto.
  - rewrite IH by lia. rewrite map_map. apply map_ext. intros [|x r]; auto. destruct k; auto.
Qed.

Lemma columns_at n m i k : (k < n)%nat -> at_ (columns n m) k i = at_ m i k.
Proof.
  intro K. unfold at_. rewrite columns_ok by auto.
  destruct (Nat.ltb_spec i (length m)) as [I|I].
  - apply (nth_mapped (fun r => nth k r 0%Z)). auto.
  - rewrite nth_overflow with (l := List.map _ _) by (rewrite map_length; auto).
    rewrite (nth_overflow m) by auto. destruct k; auto.
Qed.

Lemma products_length p u v : length u = length v -> length (products p u v) = length u.
Proof. revert v. induction u as [|x u IH]; intros [|y v]; simpl; try discriminate; auto. Qed.

Lemma products_ok p u : forall v i, length u = length v ->
  nth i (products p u v) 0%Z = ((nth i u 0 * nth i v 0) mod p)%Z.
Proof.
  induction u as [|x u IH]; intros [|y v] [|i]; simpl; try discriminate; auto;
    try (intros; rewrite Zmod_0_l; auto).
Qed.

Lemma mod_divides p x : (p | x mod p - x)%Z.
Proof.
  destruct (Z.eq_dec p 0) as [->|N]. { rewrite Zmod_0_r. exists 0%Z. ring. }
  exists (- (x / p))%Z. rewrite Z.mod_eq by auto. ring.
Qed.

Lemma divides_trans p x y z : (p | x - y)%Z -> (p | y - z)%Z -> (p | x - z)%Z.
Proof.
  intros A B. replace (x - z)%Z with (x - y + (y - z))%Z by ring. apply Z.divide_add_r; auto.
Qed.

Lemma divides_mul p a b c d : (p | a - b)%Z -> (p | c - d)%Z -> (p | a * c - b * d)%Z.
Proof.
  intros [x A] [y B]. exists (x * c + b * y)%Z.
  replace (a * c - b * d)%Z with ((a - b) * c + b * (c - d))%Z by ring. rewrite A, B. ring.
Qed.

(** * Soundness of a determinant *)

(** The indicator of a set, and the sum of the matrices X_i over it at an entry. *)
Definition one_of (T : nat -> bool) (i : nat) : Z := if T i then 1%Z else 0%Z.
Definition total (q : nat) (T : nat -> bool) (lower upper : matrix) (o k : nat) : Z :=
  zsum q (fun i => at_ upper o i * at_ lower i k * one_of T i)%Z.

Lemma reduce_at p m i k : (p | at_ (List.map (reduce p) m) i k - at_ m i k)%Z.
Proof.
  unfold at_.
  replace (nth i (List.map (reduce p) m) []) with (reduce p (nth i m []))
    by (symmetry; apply (map_nth (reduce p) m [] i)). unfold reduce.
  destruct (Nat.ltb_spec k (length (nth i m []))) as [K|K].
  - rewrite (nth_mapped (fun x => x mod p)%Z _ _ 0%Z) by auto. apply mod_divides.
  - rewrite !nth_overflow by (rewrite ?map_length; auto). apply Z.divide_0_r.
Qed.

Lemma entries_ok inputs lower upper p entries T :
  check_entries inputs lower upper p entries = Good tt ->
  Forall (fun r => length r = length lower) upper ->
  (exists i, (i < length lower)%nat /\ T i = true) ->
  (forall o k, (o < length upper)%nat -> (k < inputs)%nat ->
    total (length lower) T lower upper o k = 0%Z) -> False.
Proof.
  unfold check_entries. intros H Wide (i0 & I0 & T0) Zero. apply require_good in H as [E H].
  apply within_good in H as [_ H]. apply require_good in H as [H _].
  apply andb_prop in E as [E _]. apply andb_prop in E as [E _].
  apply andb_prop in H as [P H]. apply Z.ltb_lt in P. set (q := length lower) in *.
  set (t := List.map (one_of T) (seq 0 q)).
  set (m := List.map _ entries) in H.
  assert (forall e, In e entries -> (fst e < length upper)%nat /\ (snd e < inputs)%nat) as Fit.
  { intros e I. rewrite forallb_forall in E. specialize (E e I). apply andb_prop in E as [E1 E2].
    apply Nat.ltb_lt in E1, E2. auto. }
  assert (forall e, In e entries ->
    length (nth (fst e) (List.map (reduce p) upper) []) = q /\
    length (nth (snd e) (columns inputs (List.map (reduce p) lower)) []) = q) as Len.
  { intros e I. destruct (Fit e I) as [F1 F2]. split.
    - rewrite nth_indep with (d' := reduce p []) by (rewrite map_length; auto).
      rewrite map_nth. unfold reduce. rewrite map_length. rewrite Forall_forall in Wide.
      apply Wide, nth_In. auto.
    - rewrite columns_ok by auto. rewrite !map_length. auto. }
  assert (Forall (fun x => (p | x)%Z) t) as F.
  { apply (regular_mod_kernel p q P m t H).
    - unfold m. apply Forall_map, Forall_forall. intros e I. destruct (Len e I) as [L1 L2].
      rewrite products_length; congruence.
    - unfold t. rewrite map_length, seq_length. auto.
    - unfold m. apply Forall_map, Forall_forall. intros e I. destruct (Len e I) as [L1 L2].
      destruct (Fit e I) as [F1 F2]. unfold t.
      rewrite zdot_zsum by (rewrite products_length; congruence).
      replace (zsum q _) with (zsum q (fun i => nth i (products p (nth (fst e) (List.map (reduce p)
        upper) []) (nth (snd e) (columns inputs (List.map (reduce p) lower)) [])) 0 * one_of T i)%Z
        - total q T lower upper (fst e) (snd e))%Z by (rewrite Zero by auto; ring).
      apply zsum_divides. intros i I'. apply divides_mul; [|exists 0%Z; ring].
      rewrite products_ok by congruence. eapply divides_trans; [apply mod_divides|].
      apply divides_mul; [apply reduce_at|].
      fold (at_ (columns inputs (List.map (reduce p) lower)) (snd e) i).
      rewrite columns_at by auto. apply reduce_at. }
  rewrite Forall_forall in F. assert (p | 1)%Z as D.
  { replace 1%Z with (one_of T i0) by (unfold one_of; rewrite T0; auto). apply F, in_map, in_seq.
    lia. }
  apply Z.divide_1_r_nonneg in D; lia.
Qed.

(** * Soundness of sums of halves *)

(** The sum of the numbers that are marked. *)
Fixpoint picked (t : list bool) (l : list Z) : Z :=
  match t, l with b :: t', x :: l' => ((if b then x else 0) + picked t' l')%Z | _, _ => 0%Z end.

Lemma picked_none t : forall l, ~ In true t -> picked t l = 0%Z.
Proof.
  induction t as [|b t IH]; intros [|x l] H; simpl; auto. rewrite IH by (simpl in H; tauto).
  destruct b; simpl in H; tauto.
Qed.

Lemma picked_split k t : forall l,
  (picked (firstn k t) (firstn k l) + picked (skipn k t) (skipn k l) = picked t l)%Z.
Proof.
  revert t. induction k as [|k IH]; intros [|b t] [|x l]; simpl; auto.
  - destruct (skipn k t); auto.
  - rewrite <- (IH t l). ring.
Qed.

Lemma picked_zsum q T : forall l s, length l = q ->
  picked (List.map T (seq s q)) l = zsum q (fun i => nth i l 0 * one_of T (s + i))%Z.
Proof.
  unfold zsum. induction q as [|q IH]; intros [|x l] s L; try discriminate; auto.
  injection L as L. cbn [seq List.map picked fold_right nth]. rewrite IH, Nat.add_0_r by auto.
  rewrite <- (seq_shift q 0), map_map. f_equal.
  - unfold one_of. destruct (T s); ring.
  - f_equal. apply map_ext. intro i. cbn [nth]. do 2 f_equal. lia.
Qed.

Lemma fold_keeps p x s : forall all y, In y all ->
  In y (fold_left (fun all y => ((x + y) mod p)%Z :: all) s all).
Proof. induction s as [|z s IH]; simpl; intros all y I; auto. apply IH. simpl. auto. Qed.

Lemma fold_adds p x s : forall all y, In y s ->
  In ((x + y) mod p)%Z (fold_left (fun all y => ((x + y) mod p)%Z :: all) s all).
Proof.
  induction s as [|z s IH]; simpl; intros all y I; [tauto|]. destruct I as [->|I]; auto.
  apply fold_keeps. simpl. auto.
Qed.

Lemma sums_of_ok p t : (0 < p)%Z -> forall l, length t = length l -> In true t ->
  exists y, In y (sums_of p l) /\ (0 <= y < p)%Z /\ (p | y - picked t l)%Z.
Proof.
  intro P. induction t as [|b t IH]; intros [|x l] L I; try discriminate; simpl in I; [tauto|].
  injection L as L. cbn [sums_of picked].
  destruct (in_dec bool_dec true t) as [J|J].
  - destruct (IH l L J) as (y & Y & R & D). destruct b.
    + exists ((x + y) mod p)%Z. split; [apply fold_adds; auto|].
      split; [apply Z.mod_pos_bound; auto|]. eapply divides_trans; [apply mod_divides|].
      replace (x + y - (x + picked t l))%Z with (y - picked t l)%Z by ring. auto.
    + exists y. split; [apply fold_keeps; simpl; auto|]. split; auto.
  - destruct I as [->|I]; [|tauto]. exists (x mod p)%Z. split; [apply fold_keeps; simpl; auto|].
    split; [apply Z.mod_pos_bound; auto|]. rewrite picked_none, Z.add_0_r by auto.
    apply mod_divides.
Qed.

Lemma small_multiple p y : (0 <= y < p)%Z -> (p | y)%Z -> y = 0%Z.
Proof. intros B [k ->]. assert (k = 0)%Z by nia. subst. ring. Qed.

Lemma check_halves_ok p first rest t1 t2 : (1 < p)%Z -> check_halves p first rest = true ->
  length t1 = length first -> length t2 = length rest -> In true t1 \/ In true t2 ->
  (p | picked t1 first + picked t2 rest)%Z -> False.
Proof.
  unfold check_halves. intros P H L1 L2 N D. set (table := fold_left _ (sums_of p first) E) in H.
  apply andb_prop in H as [H H3]. apply andb_prop in H as [H1 H2].
  rewrite forallb_forall in H1, H3. apply negb_true_iff in H2.
  assert (In true t2 -> exists y, (is_in table ((p - y) mod p) = false)%Z /\ y <> 0%Z /\
    (0 <= y < p)%Z /\ (p | y - picked t2 rest)%Z) as Two.
  { intro I. destruct (sums_of_ok p t2 ltac:(lia) rest L2 I) as (y & Y & R & E).
    specialize (H3 y Y). apply andb_prop in H3 as [Y1 Y2]. apply negb_true_iff in Y1, Y2.
    apply Z.eqb_neq in Y1. exists y. auto. }
  destruct (in_dec bool_dec true t1) as [I1|I1].
  - destruct (sums_of_ok p t1 ltac:(lia) first L1 I1) as (x & X & R & E). specialize (H1 x X).
    destruct (in_dec bool_dec true t2) as [I2|I2].
    + destruct (Two I2) as (y & Y & _ & S & F).
      assert (x = (p - y) mod p)%Z as Eq.
      { assert (p | x + y)%Z as G.
        { replace (x + y)%Z with (x - picked t1 first + (y - picked t2 rest) +
            (picked t1 first + picked t2 rest))%Z by ring.
          apply Z.divide_add_r; [apply Z.divide_add_r|]; auto. }
        apply (Z.mod_unique _ _ (if (y =? 0)%Z then 1%Z else 0%Z)); [lia|].
        destruct (Z.eqb_spec y 0) as [->|Ny].
        - rewrite Z.add_0_r in G. apply small_multiple in G; auto. lia.
        - destruct G as [k G]. assert (k = 1)%Z by nia. subst k. lia. }
      rewrite <- Eq in Y. congruence.
    + rewrite (picked_none t2) in D by auto. assert (x = 0)%Z as Z.
      { apply (small_multiple p); auto.
        replace x with (x - picked t1 first + (picked t1 first + 0))%Z by ring.
        apply Z.divide_add_r; auto. }
      subst. congruence.
  - destruct N as [N|I2]; [tauto|]. destruct (Two I2) as (y & _ & Y & S & F).
    rewrite (picked_none t1) in D by auto. apply Y, (small_multiple p); auto.
    replace y with (y - picked t2 rest + (0 + picked t2 rest))%Z by ring.
    apply Z.divide_add_r; auto.
Qed.

(** [horner] is a linear function modulo [p]. *)
Fixpoint power (r : Z) (o : nat) : Z := match o with O => 1%Z | S o' => (r * power r o')%Z end.

Lemma horner_ok p r l : forall n, length l = n ->
  (p | horner p r l - zsum n (fun o => power r o * nth o l 0)%Z)%Z.
Proof.
  induction l as [|x l IH]; intros [|n] L; try discriminate. { apply Z.divide_0_r. }
  injection L as L. simpl horner. eapply divides_trans; [apply mod_divides|].
  destruct (IH n L) as [c C]. exists (r * c)%Z.
  assert (zsum (S n) (fun o => power r o * nth o (x :: l) 0)%Z =
    x + r * zsum n (fun o => power r o * nth o l 0)%Z)%Z as ->;
    [|rewrite <- Z.mul_assoc, <- C; ring].
  unfold zsum. rewrite <- cons_seq, <- seq_shift. cbn [List.map fold_right]. rewrite map_map.
  cbn [power nth]. f_equal; [ring|]. induction (seq 0 n) as [|i s IHs]; simpl; [ring|].
  rewrite IHs. ring.
Qed.

Lemma images_total inputs lower upper T (a b : nat -> Z) :
  (forall o k, (o < length upper)%nat -> (k < inputs)%nat ->
    total (length lower) T lower upper o k = 0%Z) ->
  zsum (length lower) (fun i => zsum (length upper) (fun o => a o * at_ upper o i) *
    zsum inputs (fun k => b k * at_ lower i k) * one_of T i)%Z = 0%Z.
Proof.
  intro Zero. apply eq_IZR. rewrite IZR_zsum.
  rewrite (sum_ext _ _ (fun i => sum (length upper) (fun o => sum inputs (fun k =>
    IZR (a o) * IZR (b k) * IZR (at_ upper o i * at_ lower i k * one_of T i))))).
  - unfold sum. rewrite sum_over_swap. apply sum_over_zero. intros o O. apply in_seq in O.
    rewrite sum_over_swap. apply sum_over_zero. intros k K. apply in_seq in K.
    rewrite sum_over_times. fold (sum (length lower)
      (fun i => IZR (at_ upper o i * at_ lower i k * one_of T i))).
    rewrite <- IZR_zsum. fold (total (length lower) T lower upper o k).
    rewrite Zero by lia. ring.
  - intros i _. rewrite !mult_IZR, !IZR_zsum. set (t := IZR (one_of T i)).
    set (B := sum inputs (fun k => IZR (b k * at_ lower i k))).
    transitivity (sum (length upper) (fun o => B * t * IZR (a o * at_ upper o i))).
    { rewrite sum_times. ring. }
    apply sum_ext. intros o _.
    transitivity (sum inputs (fun k =>
      t * IZR (a o * at_ upper o i) * IZR (b k * at_ lower i k))).
    { rewrite sum_times. unfold B. ring. }
    apply sum_ext. intros k _. unfold t. rewrite !mult_IZR. ring.
Qed.

Lemma images_ok inputs lower upper r T : check_images inputs lower upper r = Good tt ->
  Forall (fun w => length w = inputs) lower ->
  (exists i, (i < length lower)%nat /\ T i = true) ->
  (forall o k, (o < length upper)%nat -> (k < inputs)%nat ->
    total (length lower) T lower upper o k = 0%Z) -> False.
Proof.
  unfold check_images. intros H Wide (i0 & I0 & T0) Zero. apply within_good in H as [_ H].
  apply within_good in H as [_ H]. apply require_good in H as [H _].
  set (p := large_prime) in *. set (q := length lower) in *.
  set (l := images inputs lower upper p r) in *. set (t := List.map T (seq 0 q)).
  set (next := horner p r (repeat 0%Z (length upper) ++ [1%Z])) in *.
  assert (length (List.map (horner p r) (columns q upper)) =
    length (List.map (horner p next) lower)) as Len.
  { rewrite !map_length, columns_length. auto. }
  assert (length l = q) as Ll.
  { unfold l, images. fold q next. rewrite products_length by exact Len.
    rewrite map_length, columns_length. auto. }
  assert (length t = q) as Lt by (unfold t; rewrite map_length, seq_length; auto).
  apply (check_halves_ok p _ _ (firstn (Nat.div2 q) t) (skipn (Nat.div2 q) t)) in H; auto.
  - reflexivity.
  - rewrite !firstn_length. congruence.
  - rewrite !skipn_length. congruence.
  - apply in_app_or. rewrite firstn_skipn. unfold t. rewrite <- T0. apply in_map, in_seq. lia.
  - rewrite picked_split. unfold t. rewrite picked_zsum by auto.
    pose proof (images_total inputs lower upper T (power r) (power next) Zero) as Total.
    fold q in Total. match type of Total with zsum _ ?g = _ =>
      pose proof (zsum_divides p q (fun i => nth i l 0 * one_of T (0 + i))%Z g) as D end.
    rewrite Total, Z.sub_0_r in D. apply D. clear D. intros i I.
    apply divides_mul; [|exists 0%Z; cbn [Nat.add]; ring].
    change l with (products p (List.map (horner p r) (columns q upper))
      (List.map (horner p next) lower)). rewrite products_ok by exact Len.
    eapply divides_trans; [apply mod_divides|]. apply divides_mul.
    + rewrite (nth_mapped _ _ _ []) by (rewrite columns_length; auto).
      eapply divides_trans; [apply (horner_ok p r _ (length upper))|].
      { rewrite columns_ok, map_length by auto. auto. }
      apply zsum_divides. intros o _. fold (at_ (columns q upper) i o).
      rewrite columns_at by auto. exists 0%Z. ring.
    + rewrite (nth_mapped _ _ _ []) by auto. apply horner_ok. rewrite Forall_forall in Wide.
      apply Wide, nth_In. auto.
Qed.

(** * What the evidence proves *)

Lemma zero_below_dec_z n (f : nat -> Z) :
  (forall i, (i < n)%nat -> f i = 0%Z) \/ exists i, (i < n)%nat /\ f i <> 0%Z.
Proof.
  induction n as [|n [IH|(i & I & H)]]; [left; intros; lia| |right; exists i; auto].
  destruct (Z.eq_dec (f n) 0) as [E|E]; [|right; eauto]. left. intros i I.
  destruct (Nat.eq_dec i n) as [->|]; auto. apply IH. lia.
Qed.

Lemma zero_below_dec_2 m n (f : nat -> nat -> Z) :
  (forall o k, (o < m)%nat -> (k < n)%nat -> f o k = 0%Z) \/
  exists o k, (o < m)%nat /\ (k < n)%nat /\ f o k <> 0%Z.
Proof.
  induction m as [|m [IH|(o & k & O & K & H)]]; [left; intros; lia| |right; exists o, k; auto].
  destruct (zero_below_dec_z n (f m)) as [E|(k & K & E)]; [|right; exists m, k; auto].
  left. intros o k O K. destruct (Nat.eq_dec o m) as [->|]; auto. apply IH; auto. lia.
Qed.

Theorem check_sums_ok inputs lower upper e T : check_sums inputs lower upper e = Good tt ->
  Forall (fun w => length w = inputs) lower ->
  Forall (fun v => length v = length lower) upper ->
  (exists i, (i < length lower)%nat /\ T i = true) ->
  exists o k, (o < length upper)%nat /\ (k < inputs)%nat /\
    sum (length lower) (fun i => if T i then IZR (at_ upper o i) * IZR (at_ lower i k) else 0) <> 0.
Proof.
  intros H Lower Upper N. destruct (zero_below_dec_2 (length upper) inputs
    (total (length lower) T lower upper)) as [Z|(o & k & O & K & D)].
  - exfalso. destruct (primitive_ok lower) as (c & C & Lc), (primitive_ok upper) as (d & D & Ld).
    assert (forall o k, (o < length (primitive upper))%nat -> (k < inputs)%nat ->
      total (length (primitive lower)) T (primitive lower) (primitive upper) o k = 0%Z) as Z'.
    { intros o k. rewrite !primitive_length. intros O K. specialize (Z o k O K).
      apply (Z.mul_reg_l _ _ (c * d)); [lia|]. rewrite Z.mul_0_r, <- Z. apply eq_IZR.
      unfold total. rewrite mult_IZR, !IZR_zsum, <- sum_times. apply sum_ext. intros i _.
      rewrite Lc, Ld, <- mult_IZR. f_equal. ring. }
    assert (forall (n : nat) m, Forall (fun w => length w = n) m ->
      Forall (fun w => length w = n) (primitive m)) as Keep.
    { intros n m F. apply Forall_map. eapply Forall_impl; [|exact F]. intros w <-.
      apply map_length. }
    destruct e as [p entries|r]; simpl in H.
    + eapply (entries_ok inputs _ _ p entries T H); auto; rewrite !primitive_length; auto.
    + eapply (images_ok inputs _ _ r T H); auto; rewrite ?primitive_length; auto.
  - exists o, k. split; [auto|split; [auto|]]. intro E. apply D, eq_IZR. unfold total.
    rewrite IZR_zsum, <- E. apply sum_ext. intros i _. rewrite !mult_IZR. unfold one_of.
    destruct (T i); ring.
Qed.
