(** One hidden layer on all of R^n, where two neurons may have one hyperplane: when the function
    determines the parameters (docs/theory/shallow.md, Claims 3, 4 and 6).

    [assigned_unique]: if the orientations of the neurons of [p] are the only ones that give its
    linear part, in the sense of [assigned], then all real parameters of the same widths with the
    same function are related to it. *)
Require Import ZArith Reals List Bool Lra Lia.
From Coq Require Import FinFun.
From PolyreluVerified Require Import Networks Numbers Generic Symmetries RealParameters Shallow.
Import ListNotations.
Open Scope R_scope.

(** * Forms with one hyperplane *)

Definition is_zero (x : R) : bool := if Req_EM_T x 0 then true else false.

Lemma is_zero_iff x : is_zero x = true <-> x = 0.
Proof. unfold is_zero. destruct (Req_EM_T x 0); split; congruence. Qed.

Definition some_entry (n : nat) (w : nat -> R) : Prop := exists k, (k < n)%nat /\ w k <> 0.

(** An entry that is not 0, and what the other form is times the first one if both have one
    hyperplane. *)
Fixpoint lead (n : nat) (w : nat -> R) : nat :=
  match n with O => O | S n' => if Req_EM_T (w n') 0 then lead n' w else n' end.
Definition ratio (n : nat) (w u : nat -> R) : R := u (lead n w) / w (lead n w).
Definition on (n : nat) (w : nat -> R) (b : R) (u : nat -> R) (a : R) : bool :=
  negb (is_zero (ratio n w u)) && is_zero (a - ratio n w u * b) &&
  forallb (fun k => is_zero (u k - ratio n w u * w k)) (seq 0 n).

Lemma lead_ok n w : some_entry n w -> (lead n w < n)%nat /\ w (lead n w) <> 0.
Proof.
  induction n as [|n IH]; intros (k & K & N); [lia|]. simpl.
  destruct (Req_EM_T (w n) 0) as [E|E]; [|auto]. destruct IH; [|split; auto].
  exists k. split; auto. destruct (Nat.eq_dec k n) as [->|]; [tauto|lia].
Qed.

Lemma on_multiple n w b u a : on n w b u a = true ->
  ratio n w u <> 0 /\ multiple n (ratio n w u) w b u a.
Proof.
  unfold on. intro H. apply andb_prop in H as [H F]. apply andb_prop in H as [N E].
  apply negb_true_iff in N. apply is_zero_iff in E. rewrite forallb_forall in F.
  split. { intro Z. apply is_zero_iff in Z. congruence. } split; [|lra].
  intros k K. specialize (F k). rewrite in_seq in F. specialize (F ltac:(lia)).
  apply is_zero_iff in F. lra.
Qed.

Lemma on_intro n w b u a s : some_entry n w -> s <> 0 -> multiple n s w b u a ->
  on n w b u a = true /\ ratio n w u = s.
Proof.
  intros W S [M E]. destruct (lead_ok n w W) as [L N].
  assert (ratio n w u = s) as R. { unfold ratio. rewrite M by auto. field. auto. }
  split; auto. unfold on. rewrite R. apply andb_true_intro. split; [apply andb_true_intro; split|].
  - apply negb_true_iff. destruct (is_zero s) eqn:Z; auto. apply is_zero_iff in Z. tauto.
  - apply is_zero_iff. lra.
  - apply forallb_forall. intros k K. apply in_seq in K. apply is_zero_iff. rewrite M by lia. ring.
Qed.

Lemma multiple_entry n s w b u a : some_entry n w -> s <> 0 -> multiple n s w b u a ->
  some_entry n u.
Proof.
  intros (k & K & N) S [M _]. exists k. split; auto. rewrite M by auto.
  apply Rmult_integral_contrapositive_currified; auto.
Qed.

Lemma multiple_over n s t w b u a v c : s <> 0 -> multiple n s w b u a -> multiple n t w b v c ->
  multiple n (t / s) u a v c.
Proof.
  intros S [M1 E1] [M2 E2]. split; [intros k K; rewrite M1, M2 by auto|rewrite E1, E2]; field; auto.
Qed.

Lemma multiple_refl n w b : multiple n 1 w b w b.
Proof. split; [intros k _|]; ring. Qed.

(** Forms on the hyperplane of a third one are on each other's. *)
Lemma on_both n w b u a v c : some_entry n w -> on n w b u a = true -> on n w b v c = true ->
  on n u a v c = true.
Proof.
  intros W U V. apply on_multiple in U as [S U], V as [T V].
  apply (on_intro n u a v c (ratio n w v / ratio n w u)).
  - apply (multiple_entry n (ratio n w u) w b u a W S U).
  - unfold Rdiv. apply Rmult_integral_contrapositive_currified; auto. apply Rinv_neq_0_compat; auto.
  - eapply multiple_over; eauto.
Qed.

Lemma on_refl n w b : some_entry n w -> on n w b w b = true /\ ratio n w w = 1.
Proof. intro W. exact (on_intro n w b w b 1 W R1_neq_R0 (multiple_refl n w b)). Qed.

(** * Sums of ReLUs that are constant *)

Lemma sum_over_bound l f g h : (forall i, In i l -> Rabs (f i - g i) <= h i) ->
  Rabs (sum_over l f - sum_over l g) <= sum_over l h.
Proof.
  unfold sum_over. induction l as [|i l IH]; simpl; intro H.
  - rewrite Rminus_0_r, Rabs_R0. lra.
  - pose proof (H i (or_introl eq_refl)). specialize (IH (fun j J => H j (or_intror J))).
    match goal with |- Rabs ?x <= _ => replace x with ((f i - g i) +
      (fold_right Rplus 0 (List.map f l) - fold_right Rplus 0 (List.map g l))) by ring end.
    eapply Rle_trans; [apply Rabs_triang|]. lra.
Qed.

Lemma relu_near x y : Rabs (relu (x + y) - relu x) <= Rabs y.
Proof.
  unfold relu, Rabs. destruct (Rle_lt_dec 0 (x + y)), (Rle_lt_dec 0 x);
    rewrite ?(Rmax_left (x + y)), ?(Rmax_right (x + y)), ?(Rmax_left x), ?(Rmax_right x) by lra;
    repeat destruct Rcase_abs; lra.
Qed.

Section Constant.
Variables (n N : nat) (c a : nat -> R) (u : nat -> nat -> R) (K : R).
Hypothesis constant : forall x, sum N (fun t => c t * relu (form n (u t) (a t) x)) = K.

(** No hyperplane bends. *)
Lemma bends_cancel w b : some_entry n w ->
  sum N (fun t => if on n w b (u t) (a t) then c t * Rabs (ratio n w (u t)) else 0) = 0.
Proof.
  intro W. destruct (lead_ok n w W) as [K0 N0]. set (k0 := lead n w) in *.
  destruct (avoiding_point n (fun _ => True) w b N
    (fun j => exists s, multiple n s w b (u j) (a j)) u a) as (x & _ & X & Off).
  { intros x y _. exists 1. split; [lra|auto]. }
  { exists (axis k0 (- b / w k0)). split; auto. rewrite form_axis by auto. field. auto. }
  { intros j J. apply multiple_or_point. auto. }
  set (y := axis k0 ((1 - b) / w k0)).
  assert (form n w b y = 1) as Y by (unfold y; rewrite form_axis by auto; field; auto).
  assert (near (fun t => forall j, (j < N)%nat -> form n (u j) (a j) x <> 0 ->
    bend (form n (u j) (a j) x) (form n (u j) (a j) y - form n (u j) (a j) x) t = 0)) as Near.
  { apply near_all. intros j J. destruct (Req_EM_T (form n (u j) (a j) x) 0) as [E|E].
    - exists 1. split; [lra|tauto].
    - destruct (bend_small _ (form n (u j) (a j) y - form n (u j) (a j) x) E) as (T & T0 & H).
      exists T. auto. }
  destruct (near_some _ Near) as (t & T & Small).
  apply (Rmult_eq_reg_l t); [|lra]. rewrite Rmult_0_r, <- sum_times.
  transitivity (K + K - 2 * K); [|ring].
  rewrite <- (constant (line x y t)) at 1. rewrite <- (constant (line x y (- t))) at 1.
  rewrite <- (constant x), <- sum_times, <- sum_plus, <- sum_minus. apply sum_ext. intros j J.
  rewrite !form_line. set (h := form n (u j) (a j)).
  transitivity (c j * bend (h x) (h y - h x) t); [|unfold bend; ring].
  destruct (Off j J) as [[s M]|Z].
  - unfold h. rewrite !(multiple_form n s _ _ _ _ _ M), X, Y.
    replace (s * 0) with 0 by ring. replace (s * 1 - 0) with s by ring. rewrite bend_zero by lra.
    destruct (Req_EM_T s 0) as [->|S].
    + destruct (on n w b (u j) (a j)) eqn:O; [|rewrite Rabs_R0; ring].
      apply on_multiple in O as [O _]. exfalso. apply O. unfold ratio. fold k0.
      rewrite (proj1 M) by auto. field. auto.
    + destruct (on_intro n w b _ _ s W S M) as [-> ->]. ring.
  - unfold h. rewrite Small by auto. destruct (on n w b (u j) (a j)) eqn:O; [|ring].
    apply on_multiple in O as [_ O]. exfalso. apply Z. rewrite (multiple_form n _ _ _ _ _ x O), X.
    ring.
Qed.

(** No direction has a slope, because far away only slopes count. *)
Lemma far_cancel k s : (k < n)%nat -> sum N (fun t => c t * relu (s * u t k)) = 0.
Proof.
  intro I. set (total := sum N (fun t => c t * relu (s * u t k))).
  set (most := sum N (fun t => Rabs (c t) * Rabs (a t))).
  assert (forall t, 0 < t -> Rabs (K - t * total) <= most) as Bound.
  { intros t T. rewrite <- (constant (axis k (t * s))). unfold total, most. rewrite <- sum_times.
    apply sum_over_bound. intros j _. rewrite form_axis by auto.
    replace (u j k * (t * s) + a j) with (t * (s * u j k) + a j) by ring.
    replace (t * (c j * relu (s * u j k))) with (c j * relu (t * (s * u j k)))
      by (rewrite relu_scale by lra; ring).
    rewrite <- Rmult_minus_distr_l, Rabs_mult. apply Rmult_le_compat_l; [apply Rabs_pos|].
    apply relu_near. }
  destruct (Req_EM_T total 0) as [|N0]; auto. exfalso. pose proof (Rabs_pos_lt _ N0) as Pos.
  pose proof (Rabs_pos K). pose proof (Bound 1 ltac:(lra)). pose proof (Rabs_pos (K - 1 * total)).
  assert (0 < (most + Rabs K + 1) / Rabs total) as T by (apply Rdiv_lt_0_compat; lra).
  specialize (Bound _ T). set (t := (most + Rabs K + 1) / Rabs total) in *.
  assert (Rabs (t * total) = most + Rabs K + 1) as E.
  { rewrite Rabs_mult, (Rabs_right t) by lra. unfold t. field. lra. }
  pose proof (Rabs_triang (t * total - K) K) as Tri. rewrite Rabs_minus_sym in Bound.
  replace (t * total - K + K) with (t * total) in Tri by ring. lra.
Qed.

Lemma slopes_cancel k : (k < n)%nat -> sum N (fun t => c t * u t k) = 0.
Proof.
  intro I. transitivity (0 - 0); [|ring].
  rewrite <- (far_cancel k 1 I) at 1. rewrite <- (far_cancel k (-1) I), <- sum_minus.
  apply sum_ext. intros t _. rewrite Rmult_1_l, (relu_flip (u t k)).
  replace (-1 * u t k) with (- u t k) by ring. ring.
Qed.
End Constant.

(** * Spans *)

(** The first [n] entries are a combination of the listed rows. *)
Fixpoint spans (n : nat) (gs : list (nat -> R)) (row : nat -> R) : Prop :=
  match gs with
  | [] => forall k, (k < n)%nat -> row k = 0
  | g :: gs' => exists c, spans n gs' (fun k => row k - c * g k)
  end.

Lemma spans_ext n gs : forall u v, (forall k, (k < n)%nat -> u k = v k) -> spans n gs u ->
  spans n gs v.
Proof.
  induction gs as [|g gs IH]; simpl; intros u v H S.
  - intros k K. rewrite <- H; auto.
  - destruct S as [c S]. exists c. eapply IH; [|exact S]. intros k K. simpl. rewrite H; auto.
Qed.

(** * Neurons that do not bend *)

Lemma filter_shorter {A} (f : A -> bool) l : (length (filter f l) <= length l)%nat.
Proof. induction l as [|x l IH]; simpl; auto. destruct (f x); simpl; lia. Qed.
Lemma filter_all {A} (f : A -> bool) l x : length (filter f l) = length l -> In x l -> f x = true.
Proof.
  induction l as [|y l IH]; simpl; [tauto|]. pose proof (filter_shorter f l) as S.
  destruct (f y) eqn:F; simpl; intros L [->|I]; auto; lia.
Qed.

Lemma sum_over_split l t f : sum_over l f =
  sum_over (filter (fun j => negb (t j)) l) f + sum_over l (fun j => if t j then f j else 0).
Proof.
  unfold sum_over. induction l as [|i l IH]; simpl; [lra|]. destruct (t i); simpl; rewrite IH; lra.
Qed.

Section Invisible.
Variables (n m : nat) (w : nat -> nat -> R) (b : nat -> R) (v : nat -> nat -> R).
Notation touches i := (fun j => on n (w i) (b i) (w j) (b j)).

(** Neurons whose bends cancel on each hyperplane give linear parts of half their rank. *)
Lemma invisible_rank size : forall L, (length L <= size)%nat ->
  (forall i o, In i L -> some_entry n (w i) -> (o < m)%nat ->
     sum_over L (fun j => if touches i j then v o j * Rabs (ratio n (w i) (w j)) else 0) = 0) ->
  exists gs, (2 * length gs <= length L)%nat /\
    forall o, (o < m)%nat -> spans n gs (fun k => sum_over L (fun j => v o j * w j k)).
Proof.
  induction size as [|size IH]; intros L Len H.
  { destruct L; [|simpl in Len; lia]. exists []. split; simpl; auto. }
  destruct L as [|i L]. { exists []. split; simpl; auto. }
  simpl in Len. destruct (zero_below_dec n (w i)) as [Z|Nz].
  - destruct (IH L ltac:(lia)) as (gs & Lg & S).
    { intros i1 o I W O. specialize (H i1 o (or_intror I) W O). unfold sum_over in *. simpl in H.
      destruct (on n (w i1) (b i1) (w i) (b i)) eqn:T; [|lra]. exfalso.
      apply on_multiple in T as [T _]. apply T. unfold ratio.
      rewrite Z by apply (lead_ok n _ W). apply Rmult_0_l. }
    exists gs. split; [simpl; lia|]. intros o O. eapply spans_ext; [|exact (S o O)].
    intros k K.
    unfold sum_over. simpl. rewrite (Z k K). ring.
  - change (some_entry n (w i)) in Nz. destruct (on_refl n (w i) (b i) Nz) as [Self One].
    set (rest := filter (fun j => negb (touches i j)) (i :: L)).
    assert (rest = filter (fun j => negb (touches i j)) L) as Er
      by (unfold rest; simpl; rewrite Self; auto).
    assert (length rest <= length L)%nat as Lr by (rewrite Er; apply filter_shorter).
    destruct (IH rest ltac:(lia)) as (gs & Lg & S).
    { intros i1 o I W O. apply filter_In in I as [I T].
      etransitivity; [|exact (H i1 o I W O)]. apply sum_over_filter. intros j J F.
      apply negb_false_iff in F. destruct (on n (w i1) (b i1) (w j) (b j)) eqn:F1; auto. exfalso.
      apply negb_true_iff in T. rewrite (on_both n (w j) (b j)) in T; [discriminate| | |].
      - apply on_multiple in F as [F F']. apply (multiple_entry n _ (w i) (b i) _ (b j) Nz F F').
      - apply (on_both n (w i) (b i)); auto.
      - apply (on_both n (w i1) (b i1)); auto. apply on_refl. auto. }
    set (A := fun o => sum_over (i :: L) (fun j =>
      if touches i j then v o j * ratio n (w i) (w j) else 0)).
    assert (forall o k, (k < n)%nat -> sum_over (i :: L) (fun j => v o j * w j k) =
      sum_over rest (fun j => v o j * w j k) + A o * w i k) as Split.
    { intros o k K. rewrite (sum_over_split _ (touches i)). f_equal. unfold A.
      rewrite Rmult_comm, <- sum_over_times. apply sum_over_ext. intros j _.
      destruct (on n (w i) (b i) (w j) (b j)) eqn:T; [|ring].
      apply on_multiple in T as [_ [T _]]. rewrite (T k K). ring. }
    destruct (Nat.eq_dec (length rest) (length L)) as [Full|Less].
    + exists gs. split; [simpl; lia|]. intros o O. eapply spans_ext; [|exact (S o O)].
      intros k K. rewrite Split by auto. enough (A o = 0) as -> by ring.
      assert (forall j, In j L -> on n (w i) (b i) (w j) (b j) = false) as Off.
      { intros j J. rewrite Er in Full. apply negb_true_iff.
        apply (filter_all (fun j => negb (touches i j)) L j Full J). }
      specialize (H i o (or_introl eq_refl) Nz O). unfold A, sum_over in *. simpl in *.
      rewrite Self, One, Rabs_R1 in *.
      change (fold_right Rplus 0 (List.map ?f L)) with (sum_over L f) in *.
      rewrite sum_over_zero in * by (intros j J; rewrite Off; auto). lra.
    + exists (w i :: gs). split; [simpl; lia|]. intros o O. exists (A o).
      eapply spans_ext; [|exact (S o O)]. intros k K. simpl. rewrite Split by auto. ring.
Qed.
End Invisible.

(** * Neurons by planes *)

Definition num_true (P : nat) (f : nat -> bool) : nat := length (filter f (seq 0 P)).

Lemma num_true_sum P f : INR (num_true P f) = sum P (fun k => if f k then 1 else 0).
Proof.
  unfold num_true, sum, sum_over. induction (seq 0 P) as [|k l IH]; simpl; auto.
  destruct (f k); [|rewrite IH; ring]. simpl length. rewrite S_INR, IH. ring.
Qed.

Lemma length_sum {A} (l : list A) : INR (length l) = fold_right Rplus 0 (List.map (fun _ => 1) l).
Proof. induction l as [|x l IH]; auto. simpl length. rewrite S_INR, IH. simpl. ring. Qed.

(** Each entry has at most one place, or is lonely. *)
Section Places.
Variables (P : nat) (T : nat -> nat -> bool).
Hypothesis one_place : forall k k' j, (k < P)%nat -> (k' < P)%nat -> T k j = true ->
  T k' j = true -> k = k'.
Definition lonely (j : nat) : bool := forallb (fun k => negb (T k j)) (seq 0 P).

Lemma by_places l F : sum_over l F =
  sum P (fun k => sum_over (filter (T k) l) F) + sum_over (filter lonely l) F.
Proof.
  induction l as [|j l IH].
  { unfold sum_over at 1 3. simpl. rewrite sum_zero; [ring|auto]. }
  change (sum_over (j :: l) F) with (F j + sum_over l F). rewrite IH.
  rewrite (sum_ext _ (fun k => sum_over (filter (T k) (j :: l)) F)
    (fun k => (if T k j then F j else 0) + sum_over (filter (T k) l) F)).
  2:{ intros k _. unfold sum_over. simpl. destruct (T k j); simpl; ring. }
  rewrite sum_plus. simpl. destruct (lonely j) eqn:Lo.
  - rewrite (sum_zero P (fun k => if T k j then F j else 0)).
    + unfold sum_over at 4. simpl. fold (sum_over (filter lonely l) F). ring.
    + intros k K. unfold lonely in Lo. rewrite forallb_forall in Lo. specialize (Lo k).
      rewrite in_seq in Lo. specialize (Lo ltac:(lia)). destruct (T k j); [discriminate|auto].
  - assert (exists k, (k < P)%nat /\ T k j = true) as (k & K & Tk).
    { unfold lonely in Lo. apply Bool.not_true_iff_false in Lo.
      destruct (existsb (fun k => T k j) (seq 0 P)) eqn:E.
      - apply existsb_exists in E as (k & K & E). apply in_seq in K. exists k. split; [lia|auto].
      - destruct Lo. apply forallb_forall. intros k K. apply negb_true_iff.
        destruct (T k j) eqn:Tk; auto. exfalso. apply Bool.not_true_iff_false in E. apply E.
        apply existsb_exists. eauto. }
    rewrite (sum_single P k (fun k => if T k j then F j else 0)); auto.
    + rewrite Tk. ring.
    + intros k' K' N. destruct (T k' j) eqn:Tk'; auto. destruct N. eauto.
Qed.
End Places.

Lemma sum_nonneg_zero P f : (forall k, (k < P)%nat -> 0 <= f k) -> sum P f <= 0 ->
  forall k, (k < P)%nat -> f k = 0.
Proof.
  unfold sum. induction P as [|P IH]; intros Pos Le k K; [lia|].
  rewrite seq_S, sum_over_end in Le. simpl in Le.
  assert (0 <= sum_over (seq 0 P) f) as S0.
  { clear - Pos. assert (forall k, In k (seq 0 P) -> 0 <= f k) as H
      by (intros k I; apply in_seq in I; apply Pos; lia).
    unfold sum_over. induction (seq 0 P) as [|k l IH]; simpl; [lra|].
    pose proof (H k (or_introl eq_refl)). specialize (IH (fun j J => H j (or_intror J))). lra. }
  pose proof (Pos P ltac:(lia)). destruct (Nat.eq_dec k P) as [->|]; [lra|].
  apply IH; [auto| |lia]. lra.
Qed.

(** * Uniqueness *)

Section Assigned.
Variables (n q m : nat) (p r : parameters).
Notation W := (weight_of p 1).
Notation B := (bias_of p 1).
Notation V := (weight_of p 2).
Notation W' := (weight_of r 1).
Notation B' := (bias_of r 1).
Notation V' := (weight_of r 2).

(** The hyperplanes of [p], with the neurons on each. *)
Variables (P : nat) (G : nat -> nat -> R) (A : nat -> R).
Variables (plus minus : nat -> nat) (d e : nat -> R) (doubled : nat -> bool).

(** The jump of the gradient at a hyperplane, over its linear part. *)
Definition jump (k o : nat) : R :=
  d k * V o (plus k) + if doubled k then e k * V o (minus k) else 0.

Hypothesis equal : forall x o, (o < m)%nat -> output n q p o x = output n q r o x.
Hypothesis plus_ok : forall k, (k < P)%nat ->
  (plus k < q)%nat /\ 0 < d k /\ multiple n (d k) (G k) (A k) (W (plus k)) (B (plus k)).
Hypothesis minus_ok : forall k, (k < P)%nat -> doubled k = true ->
  (minus k < q)%nat /\ 0 < e k /\ multiple n (- e k) (G k) (A k) (W (minus k)) (B (minus k)).
Hypothesis all_neurons : forall F : nat -> R, sum q F =
  sum P (fun k => F (plus k) + if doubled k then F (minus k) else 0).
Hypothesis planes_nonzero : forall k, (k < P)%nat -> some_entry n (G k).
Hypothesis planes_different : forall k k' s, (k < P)%nat -> (k' < P)%nat -> k <> k' ->
  ~ multiple n s (G k) (A k) (G k') (A k').
Hypothesis columns_nonzero : forall i, (i < q)%nat -> exists o, (o < m)%nat /\ V o i <> 0.
Hypothesis visible : forall k, (k < P)%nat -> exists o, (o < m)%nat /\ jump k o <> 0.
Hypothesis independent : forall c : nat -> R,
  (forall j, (j < n)%nat -> sum P (fun k => if doubled k then c k * G k j else 0) = 0) ->
  forall k, (k < P)%nat -> doubled k = true -> c k = 0.

(** Linear parts [E] on the hyperplanes, on some of them with both orientations, on others with the
    one that [eps] says, and few more: they are the own ones. *)
Hypothesis assigned : forall (E : nat -> nat -> R) (both eps : nat -> bool) gs,
  (num_true P both + 2 * length gs <= num_true P doubled)%nat ->
  (forall k o, (k < P)%nat -> (o < m)%nat -> both k = false ->
     E k o = if eps k then jump k o else - jump k o) ->
  (forall o, (o < m)%nat ->
     spans n gs (fun j => sum q (fun i => V o i * W i j) - sum P (fun k => E k o * G k j))) ->
  gs = [] /\ forall k, (k < P)%nat -> doubled k = false -> both k = false /\ eps k = true.

Notation hit k := (fun j => on n (G k) (A k) (W' j) (B' j)).
Notation size k j := (ratio n (G k) (W' j)).

Lemma one_hit k k' j : (k < P)%nat -> (k' < P)%nat -> hit k j = true -> hit k' j = true -> k = k'.
Proof.
  intros K K' H H'. destruct (Nat.eq_dec k k') as [|N]; auto. exfalso.
  apply on_multiple in H as [S M], H' as [S' M'].
  apply (planes_different k k' (size k j / size k' j) K K' N).
  destruct M as [M1 M2], M' as [M1' M2']. split.
  - intros c Hc. apply (Rmult_eq_reg_l (size k' j)); auto. rewrite <- M1', M1 by auto. field. auto.
  - apply (Rmult_eq_reg_l (size k' j)); auto. rewrite <- M2', M2. field. auto.
Qed.

Lemma map_shift (f : nat -> R) s N :
  List.map f (seq s N) = List.map (fun j => f (s + j)%nat) (seq 0 N).
Proof.
  revert s f. induction N as [|N IH]; intros s f; simpl; auto. f_equal; [f_equal; lia|].
  rewrite (IH (S s) f), (IH 1%nat). apply map_ext. intro j. f_equal. lia.
Qed.

Lemma sum_twice f : sum (q + q) f = sum q f + sum q (fun j => f (q + j)%nat).
Proof.
  unfold sum. rewrite seq_app. unfold sum_over. rewrite map_app, fold_right_app, Nat.add_0_l.
  rewrite (map_shift f q). induction (List.map f (seq 0 q)) as [|x l IH]; simpl; [ring|].
  rewrite IH. ring.
Qed.

(** Neurons of both networks, those of the other one with negative outgoing weights. *)
Let first_of {X} (f g : nat -> X) (t : nat) : X := if Nat.ltb t q then f t else g (t - q)%nat.

Lemma sum_both f g : sum (q + q) (first_of f g) = sum q f + sum q g.
Proof.
  rewrite sum_twice. f_equal; apply sum_ext; intros j J; unfold first_of.
  - destruct (Nat.ltb_spec j q); [auto|lia].
  - destruct (Nat.ltb_spec (q + j) q); [lia|]. f_equal. lia.
Qed.

Lemma constant_difference o x : (o < m)%nat ->
  sum (q + q) (fun t => first_of (V o) (fun j => - V' o j) t *
    relu (form n (first_of W W' t) (first_of B B' t) x)) = bias_of r 2 o - bias_of p 2 o.
Proof.
  intro O. transitivity (sum (q + q) (first_of (fun i => V o i * relu (hidden n p i x))
    (fun j => - (V' o j * relu (hidden n r j x))))).
  - apply sum_ext. intros t _. unfold first_of, hidden. destruct (Nat.ltb t q); ring.
  - rewrite sum_both. pose proof (equal x o O) as E. unfold output in E.
    rewrite (sum_ext q (fun j => - _) (fun j => -1 * (V' o j * relu (hidden n r j x))))
      by (intros; ring).
    rewrite sum_times. lra.
Qed.

Lemma equal_bends o w b : (o < m)%nat -> some_entry n w ->
  sum q (fun i => if on n w b (W i) (B i) then V o i * Rabs (ratio n w (W i)) else 0) =
  sum q (fun j => if on n w b (W' j) (B' j) then V' o j * Rabs (ratio n w (W' j)) else 0).
Proof.
  intros O S. pose proof (bends_cancel n (q + q) _ _ _ _ (fun x => constant_difference o x O) w b S)
    as E.
  rewrite (sum_ext _ _ (first_of
    (fun i => if on n w b (W i) (B i) then V o i * Rabs (ratio n w (W i)) else 0)
    (fun j => -1 * if on n w b (W' j) (B' j) then V' o j * Rabs (ratio n w (W' j)) else 0))) in E.
  - rewrite sum_both, sum_times in E. lra.
  - intros t _. unfold first_of. destruct (Nat.ltb t q); destruct (on n w b _ _); ring.
Qed.

Lemma equal_slopes o k : (o < m)%nat -> (k < n)%nat ->
  sum q (fun i => V o i * W i k) = sum q (fun j => V' o j * W' j k).
Proof.
  intros O K. pose proof (slopes_cancel n (q + q) _ _ _ _ (fun x => constant_difference o x O) k K)
    as E.
  rewrite (sum_ext _ _ (first_of (fun i => V o i * W i k) (fun j => -1 * (V' o j * W' j k)))) in E.
  - rewrite sum_both, sum_times in E. lra.
  - intros t _. unfold first_of. destruct (Nat.ltb t q); ring.
Qed.

Lemma on_own k k' s i : (k < P)%nat -> (k' < P)%nat -> s <> 0 ->
  multiple n s (G k') (A k') (W i) (B i) -> on n (G k) (A k) (W i) (B i) = Nat.eqb k k' /\
  (k = k' -> ratio n (G k) (W i) = s).
Proof.
  intros K K' S M. destruct (Nat.eqb_spec k k') as [->|N].
  - destruct (on_intro n _ _ _ _ s (planes_nonzero k' K') S M). auto.
  - split; [|tauto]. destruct (on n (G k) (A k) (W i) (B i)) eqn:O; auto. exfalso.
    apply on_multiple in O as [S' M'].
    apply (planes_different k k' (ratio n (G k) (W i) / s) K K' N).
    destruct M as [M1 M2], M' as [M1' M2']. split.
    + intros c Hc. apply (Rmult_eq_reg_l s); auto. rewrite <- M1, M1' by auto. field. auto.
    + apply (Rmult_eq_reg_l s); auto. rewrite <- M2, M2'. field. auto.
Qed.

(** The neurons of [r] on a hyperplane make its jump. *)
Lemma jump_of_hits k o : (k < P)%nat -> (o < m)%nat ->
  sum_over (filter (hit k) (seq 0 q)) (fun j => V' o j * Rabs (size k j)) = jump k o.
Proof.
  intros K O. rewrite (sum_over_ext (filter _ _) _
    (fun j => if hit k j then V' o j * Rabs (size k j) else 0)).
  2:{ intros j J. apply filter_In in J as [_ ->]. auto. }
  rewrite sum_over_filter by (intros j _ H; rewrite H; auto).
  change (sum_over (seq 0 q)) with (sum q). rewrite <- equal_bends by auto.
  rewrite all_neurons, (sum_single P k); auto.
  - destruct (plus_ok k K) as (_ & D & M). destruct (on_own k k (d k) _ K K ltac:(lra) M) as [T R].
    rewrite Nat.eqb_refl in T. rewrite T, R, Rabs_right by (auto; lra). unfold jump.
    destruct (doubled k) eqn:Dk; [|ring]. destruct (minus_ok k K Dk) as (_ & Ek & M').
    destruct (on_own k k (- e k) _ K K ltac:(lra) M') as [T' R']. rewrite Nat.eqb_refl in T'.
    rewrite T', R', Rabs_left by (auto; lra). ring.
  - intros k' K' N. destruct (plus_ok k' K') as (_ & D & M).
    destruct (on_own k k' (d k') _ K K' ltac:(lra) M) as [T _].
    destruct (Nat.eqb_spec k k'); [congruence|]. rewrite T.
    destruct (doubled k') eqn:Dk; [|ring]. destruct (minus_ok k' K' Dk) as (_ & Ek & M').
    destruct (on_own k k' (- e k') _ K K' ltac:(lra) M') as [T' _].
    destruct (Nat.eqb_spec k k'); [congruence|]. rewrite T'. ring.
Qed.

(** Each neuron lies on a hyperplane. *)
Lemma own_place i : (i < q)%nat -> exists k, (k < P)%nat /\
  (i = plus k \/ doubled k = true /\ i = minus k).
Proof.
  intro I. pose proof (all_neurons (fun j => if Nat.eqb j i then 1 else 0)) as E.
  rewrite (sum_single q i) in E; auto.
  2:{ intros j _ N. destruct (Nat.eqb_spec j i); tauto. }
  rewrite Nat.eqb_refl in E.
  destruct (sum_nonzero P _ ltac:(rewrite <- E; apply R1_neq_R0)) as (k & K & N).
  exists k. split; auto. destruct (Nat.eqb_spec (plus k) i); auto.
  destruct (doubled k); [|lra]. destruct (Nat.eqb_spec (minus k) i); [auto|lra].
Qed.

Lemma num_neurons : INR q = INR P + INR (num_true P doubled).
Proof.
  rewrite num_true_sum. pose proof (all_neurons (fun _ => 1)) as E. rewrite sum_plus in E.
  assert (forall N, sum N (fun _ => 1) = INR N) as Ones.
  { intro N. rewrite <- (seq_length N 0) at 2. rewrite length_sum. reflexivity. }
  rewrite !Ones in E. auto.
Qed.

(** The neurons of [r]: on the hyperplanes of [p], and elsewhere. *)
Definition hits (k : nat) : list nat := filter (hit k) (seq 0 q).
Definition others : list nat := filter (lonely P (fun k => hit k)) (seq 0 q).
Definition both (k : nat) : bool :=
  existsb (fun j => if Rlt_dec 0 (size k j) then true else false) (hits k) &&
  existsb (fun j => if Rlt_dec 0 (size k j) then false else true) (hits k).
Definition positive (k : nat) : bool :=
  existsb (fun j => if Rlt_dec 0 (size k j) then true else false) (hits k).
Definition part (k o : nat) : R := sum_over (hits k) (fun j => V' o j * size k j).

Lemma hits_by_places F : sum q F = sum P (fun k => sum_over (hits k) F) + sum_over others F.
Proof. apply by_places. intros k k' j. apply one_hit. Qed.

Lemma size_nonzero k j : In j (hits k) -> size k j <> 0.
Proof. intro I. apply filter_In in I as [_ I]. apply on_multiple in I as [I _]. auto. Qed.

Lemma part_single k o : (k < P)%nat -> (o < m)%nat -> both k = false ->
  part k o = if positive k then jump k o else - jump k o.
Proof.
  intros K O Bk. rewrite <- jump_of_hits by auto. fold (hits k). unfold both in Bk.
  destruct (positive k) eqn:E; unfold positive in E.
  - rewrite E in Bk. simpl in Bk. apply sum_over_ext. intros j J.
    destruct (Rlt_dec 0 (size k j)) as [L|L]; [rewrite Rabs_right by lra; auto|]. exfalso.
    apply Bool.not_true_iff_false in Bk. apply Bk. apply existsb_exists. exists j. split; auto.
    destruct (Rlt_dec 0 (size k j)); tauto.
  - replace (- sum_over _ _) with (-1 * sum_over (hits k) (fun j => V' o j * Rabs (size k j)))
      by ring.
    rewrite <- sum_over_times. apply sum_over_ext. intros j J.
    destruct (Rlt_dec 0 (size k j)) as [L|L].
    + exfalso. apply Bool.not_true_iff_false in E. apply E. apply existsb_exists. exists j.
      split; auto. destruct (Rlt_dec 0 (size k j)); tauto.
    + pose proof (size_nonzero k j J). rewrite Rabs_left by lra. ring.
Qed.

Lemma num_hits k : (k < P)%nat -> (if both k then 2 else 1) <= INR (length (hits k)).
Proof.
  intro K. destruct (visible k K) as (o & O & N). rewrite <- jump_of_hits in N by auto.
  fold (hits k) in N. unfold both.
  destruct (hits k) as [|j [|j' l]]; [destruct N; reflexivity| |].
  - simpl. destruct (Rlt_dec 0 (size k j)); simpl; lra.
  - simpl length. rewrite !S_INR. pose proof (pos_INR (length l)).
    destruct (_ && _); lra.
Qed.

Lemma count_neurons : INR q = sum P (fun k => INR (length (hits k))) + INR (length others).
Proof.
  pose proof (hits_by_places (fun _ => 1)) as E.
  assert (sum q (fun _ => 1) = INR q) as Q.
  { rewrite <- (seq_length q 0) at 2. rewrite length_sum. reflexivity. }
  rewrite <- Q, E, length_sum. f_equal. apply sum_ext. intros k _. rewrite length_sum. auto.
Qed.

(** So [r] has as many neurons on each hyperplane as [p], and no others. *)
Lemma hits_are_own : forall k, (k < P)%nat -> both k = doubled k /\
  INR (length (hits k)) = (if doubled k then 2 else 1) /\
  (doubled k = false -> positive k = true) /\
  forall o, (o < m)%nat ->
    part k o = d k * V o (plus k) - if doubled k then e k * V o (minus k) else 0.
Proof.
  destruct (invisible_rank n m W' B' V' (length others) others (le_n _)) as (gs & Half & Span).
  { intros i o I S O.
    unfold others. rewrite sum_over_filter.
    - change (sum_over (seq 0 q)) with (sum q). rewrite <- equal_bends by auto. apply sum_zero.
      intros i1 I1. destruct (on n (W' i) (B' i) (W i1) (B i1)) eqn:T; auto. exfalso.
      destruct (own_place i1 I1) as (k & K & Place). apply filter_In in I as [_ I].
      unfold lonely in I. rewrite forallb_forall in I. specialize (I k). rewrite in_seq in I.
      specialize (I ltac:(lia)). apply negb_true_iff in I.
      assert (exists s, s <> 0 /\ multiple n s (G k) (A k) (W i1) (B i1)) as (s & S0 & M).
      { destruct Place as [->|[Dk ->]].
        - destruct (plus_ok k K) as (_ & Pd & M). exists (d k). split; [lra|auto].
        - destruct (minus_ok k K Dk) as (_ & Pe & M). exists (- e k). split; [lra|auto]. }
      rewrite (on_both n (W i1) (B i1)) in I; [discriminate| | |].
      + apply (multiple_entry n s (G k) (A k) _ (B i1)); auto.
      + destruct (on_intro n (G k) (A k) _ _ s (planes_nonzero k K) S0 M) as [T1 _].
        apply (on_both n (G k) (A k)); auto. apply on_refl; auto.
      + apply (on_both n (W' i) (B' i)); auto. apply on_refl; auto.
    - intros j J F. destruct (on n (W' i) (B' i) (W' j) (B' j)) eqn:T; auto. exfalso.
      apply filter_In in I as [_ I]. unfold lonely in I, F. apply Bool.not_true_iff_false in F.
      apply F. apply forallb_forall. intros k K. rewrite forallb_forall in I.
      specialize (I k K). apply negb_true_iff in I. apply negb_true_iff.
      destruct (on n (G k) (A k) (W' j) (B' j)) eqn:T1; auto. exfalso.
      apply in_seq in K. rewrite (on_both n (W' j) (B' j)) in I; [discriminate| | |].
      + pose proof (on_multiple _ _ _ _ _ T1) as [S1 M1].
        apply (multiple_entry n _ (G k) (A k) _ _ (planes_nonzero k ltac:(lia)) S1 M1).
      + apply (on_both n (G k) (A k)); auto.
        * apply planes_nonzero. lia.
        * apply on_refl. apply planes_nonzero. lia.
      + apply (on_both n (W' i) (B' i)); auto. apply on_refl; auto. }
  assert (sum P (fun k => (if both k then 2 else 1) + - INR (length (hits k))) <= 0) as Few.
  { rewrite <- (sum_zero P (fun _ => 0)) by auto. unfold sum, sum_over.
    assert (forall k, In k (seq 0 P) -> (k < P)%nat) as In_P by (intros k I; apply in_seq in I;
      lia).
    induction (seq 0 P) as [|k l IH]; simpl; [lra|]. pose proof (num_hits k (In_P k (or_introl
      eq_refl))).
    specialize (IH (fun j J => In_P j (or_intror J))). destruct (both k); lra. }
  assert (forall f : nat -> bool, sum P (fun k => if f k then 2 else 1)
    = INR P + INR (num_true P f))
    as Twos.
  { intro f. rewrite num_true_sum. rewrite <- (seq_length P 0) at 2. rewrite length_sum.
    change (fold_right Rplus 0 (List.map (fun _ => 1) (seq 0 P))) with (sum P (fun _ => 1)).
    rewrite <- sum_plus. apply sum_ext. intros k _. destruct (f k); ring. }
  rewrite (sum_plus P (fun k => if both k then 2 else 1)) in Few. rewrite Twos in Few.
  rewrite (sum_ext _ (fun k => - _) (fun k => -1 * INR (length (hits k)))) in Few
    by (intros; ring). rewrite sum_times in Few.
  pose proof count_neurons as Count. pose proof num_neurons as Own.
  assert (forall o c, (o < m)%nat -> (c < n)%nat -> sum q (fun i => V o i * W i c) =
    sum P (fun k => part k o * G k c) + sum_over others (fun j => V' o j * W' j c)) as Linear.
  { intros o c O Hc. rewrite equal_slopes, hits_by_places by auto. f_equal. apply sum_ext.
    intros k K. unfold part. rewrite Rmult_comm, <- sum_over_times. apply sum_over_ext.
    intros j J. apply filter_In in J as [_ J]. apply on_multiple in J as [_ [J _]].
    rewrite (J c Hc). ring. }
  destruct (assigned part both positive gs) as [-> Singles].
  { apply INR_le. rewrite plus_INR, mult_INR. change (INR 2) with 2.
    apply le_INR in Half. rewrite mult_INR in Half. change (INR 2) with 2 in Half. lra. }
  { intros k o K O Bk. apply part_single; auto. }
  { intros o O. eapply spans_ext; [|exact (Span o O)]. intros c Hc. simpl.
    rewrite (Linear o c O Hc). ring. }
  simpl in Span.
  set (own := fun k o => d k * V o (plus k) - if doubled k then e k * V o (minus k) else 0).
  assert (forall k o, (k < P)%nat -> (o < m)%nat -> part k o = own k o) as Parts.
  { intros k o K O. destruct (doubled k) eqn:Dk.
    - enough (part k o - own k o = 0) by lra.
      apply (independent (fun k => part k o - own k o)); auto. intros c Hc.
      transitivity (sum P (fun k => part k o * G k c) - sum P (fun k => own k o * G k c)).
      + rewrite <- sum_minus. apply sum_ext. intros k' K'. destruct (doubled k') eqn:Dk'; [ring|].
        destruct (Singles k' K' Dk') as [Bk Pk].
        rewrite (part_single k' o K' O Bk), Pk. unfold own, jump. rewrite Dk'. ring.
      + pose proof (Linear o c O Hc) as L. rewrite (Span o O c Hc), Rplus_0_r in L.
        rewrite <- L, all_neurons, <- sum_minus. apply sum_zero. intros k' K'.
        destruct (plus_ok k' K') as (_ & _ & [M _]). rewrite (M c Hc). unfold own.
        destruct (doubled k') eqn:Dk'; [|ring]. destruct (minus_ok k' K' Dk') as (_ & _ & [M' _]).
        rewrite (M' c Hc). ring.
    - destruct (Singles k K Dk) as [Bk Pk]. rewrite (part_single k o K O Bk), Pk.
      unfold own, jump. rewrite Dk. ring. }
  assert (forall k, (k < P)%nat -> both k = doubled k) as Both.
  { intros k K. destruct (doubled k) eqn:Dk; [|apply Singles; auto].
    destruct (both k) eqn:Bk; auto. exfalso.
    destruct (plus_ok k K) as (Pq & Pd & _), (minus_ok k K Dk) as (Mq & Pe & _).
    destruct (positive k) eqn:Pk.
    - destruct (columns_nonzero _ Mq) as (o & O & N). apply N.
      pose proof (Parts k o K O) as E. rewrite (part_single k o K O Bk), Pk in E.
      unfold own, jump in E. rewrite Dk in E. apply (Rmult_eq_reg_l (e k)); lra.
    - destruct (columns_nonzero _ Pq) as (o & O & N). apply N.
      pose proof (Parts k o K O) as E. rewrite (part_single k o K O Bk), Pk in E.
      unfold own, jump in E. rewrite Dk in E. apply (Rmult_eq_reg_l (d k)); lra. }
  assert (forall k, (k < P)%nat -> INR (length (hits k)) - (if doubled k then 2 else 1) = 0) as
    Sizes.
  { apply sum_nonneg_zero.
    - intros k K. pose proof (num_hits k K) as N. rewrite (Both k K) in N. lra.
    - rewrite sum_minus, Twos. pose proof (pos_INR (length others)). lra. }
  intros k K. split; [auto|]. split; [specialize (Sizes k K); lra|].
  split; [intro Dk; apply Singles; auto|]. intros o O. apply Parts; auto.
Qed.

(** What [r] has for a neuron of [p]: its row times a positive number, its outgoing weights over
    it. *)
Definition partner_of (i : nat) (j : nat * R) : Prop :=
  (fst j < q)%nat /\ 0 < snd j /\ multiple n (snd j) (W i) (B i) (W' (fst j)) (B' (fst j)) /\
  forall o, (o < m)%nat -> V o i = V' o (fst j) * snd j.

Lemma partner_on k i c j : (k < P)%nat -> c <> 0 -> multiple n c (G k) (A k) (W i) (B i) ->
  In j (hits k) -> 0 < size k j / c ->
  (forall o, (o < m)%nat -> c * V o i = V' o j * size k j) -> partner_of i (j, size k j / c).
Proof.
  intros K C M J S E. unfold partner_of. simpl. apply filter_In in J as [J H].
  apply on_multiple in H as [_ H]. apply in_seq in J.
  split; [lia|]. split; [auto|]. split; [eapply multiple_over; eauto|].
  intros o O. apply (Rmult_eq_reg_l c); auto. rewrite E by auto. field. auto.
Qed.

Lemma quotient_sign x y : 0 < x * y -> 0 < x / y.
Proof.
  intro H. assert (y <> 0) as Y by (intros ->; lra).
  replace (x / y) with ((x * y) * (/ y * / y)) by (field; auto).
  apply Rmult_lt_0_compat; auto. assert (/ y <> 0) by (apply Rinv_neq_0_compat; auto). nra.
Qed.

Lemma partners i : (i < q)%nat -> exists j, partner_of i j.
Proof.
  intro I. destruct (own_place i I) as (k & K & Place).
  destruct (hits_are_own k K) as (Both & Num & Single & Parts).
  destruct (plus_ok k K) as (_ & Dp & M).
  destruct (doubled k) eqn:Dk.
  - destruct (minus_ok k K Dk) as (_ & Ep & M').
    assert (exists a b, 0 < size k a /\ size k b < 0 /\ In a (hits k) /\ In b (hits k) /\
      forall F, sum_over (hits k) F = F a + F b) as (a & b & Pa & Nb & Ia & Ib & Two).
    { unfold both in Both. pose proof (fun j => size_nonzero k j) as Nz.
      destruct (hits k) as [|a [|b [|c l]]]; simpl in Num; try lra.
      - pose proof (Nz a (or_introl eq_refl)). pose proof (Nz b (or_intror (or_introl eq_refl))).
        simpl in Both.
        destruct (Rlt_dec 0 (size k a)), (Rlt_dec 0 (size k b)); try discriminate.
        + exists a, b. repeat split; simpl; auto; [lra|]. intro F. unfold sum_over. simpl. ring.
        + exists b, a. repeat split; simpl; auto; [lra|]. intro F. unfold sum_over. simpl. ring.
      - exfalso. pose proof (pos_INR (length l)). destruct l; simpl in *; lra. }
    assert (forall o, (o < m)%nat -> d k * V o (plus k) = V' o a * size k a /\
      - e k * V o (minus k) = V' o b * size k b) as Each.
    { intros o O. pose proof (jump_of_hits k o K O) as J. fold (hits k) in J. rewrite Two in J.
      specialize (Parts o O). unfold part in Parts. rewrite Two in Parts. unfold jump in J.
      rewrite Dk in *. rewrite Rabs_right, Rabs_left in J by lra. lra. }
    destruct Place as [->|[_ ->]].
    + eexists. apply (partner_on k _ (d k) a); auto; [lra| |intros; apply Each; auto].
      apply quotient_sign. nra.
    + eexists. apply (partner_on k _ (- e k) b); auto; [lra| |intros; apply Each; auto].
      apply quotient_sign. nra.
  - destruct Place as [->|[? _]]; [|discriminate].
    specialize (Single eq_refl). unfold positive in Single.
    apply existsb_exists in Single as (a & Ia & Pa). destruct (Rlt_dec 0 (size k a));
      [|discriminate].
    assert (forall F, sum_over (hits k) F = F a) as One.
    { destruct (hits k) as [|b [|c l]]; simpl in Num; [lra| |].
      - destruct Ia as [->|[]]. intro F. unfold sum_over. simpl. ring.
      - pose proof (pos_INR (length l)). destruct l; simpl in *; lra. }
    eexists. apply (partner_on k _ (d k) a); auto; [lra|apply quotient_sign; nra|].
    intros o O. specialize (Parts o O). unfold part in Parts. rewrite One in Parts. lra.
Qed.

Lemma own_injective i i' s : (i < q)%nat -> (i' < q)%nat -> 0 < s ->
  multiple n s (W i) (B i) (W i') (B i') -> i = i'.
Proof.
  intros I I' S M. destruct (own_place i I) as (k & K & Place).
  destruct (own_place i' I') as (k' & K' & Place').
  assert (forall k i, (k < P)%nat -> i = plus k \/ doubled k = true /\ i = minus k ->
    exists c, c <> 0 /\ multiple n c (G k) (A k) (W i) (B i) /\ (0 < c -> i = plus k) /\
      (c < 0 -> i = minus k)) as At.
  { clear - plus_ok minus_ok. intros k i K [->|[Dk ->]].
    - destruct (plus_ok k K) as (_ & D & M). exists (d k). repeat split; try tauto; try lra;
        apply M.
    - destruct (minus_ok k K Dk) as (_ & D & M). exists (- e k).
      repeat split; try tauto; try lra; apply M. }
  destruct (At k i K Place) as (c & C & Mc & C1 & C2).
  destruct (At k' i' K' Place') as (c' & C' & Mc' & C1' & C2').
  assert (multiple n (c * s) (G k) (A k) (W i') (B i')) as Mi.
  { destruct M as [Ma Mb], Mc as [Mca Mcb].
    split; [intros j J; rewrite Ma, Mca by auto|rewrite Mb, Mcb]; ring. }
  assert (c * s <> 0) as Cs by (apply Rmult_integral_contrapositive_currified; lra).
  destruct (on_own k k' c' i' K K' C' Mc') as [T R].
  destruct (on_intro n _ _ _ _ _ (planes_nonzero k K) Cs Mi) as [T' R'].
  rewrite T' in T. symmetry in T. apply Nat.eqb_eq in T. subst k'. specialize (R eq_refl).
  rewrite R' in R. destruct (Rlt_dec 0 c) as [L|L].
  - rewrite C1, C1'; auto. nra.
  - rewrite C2, C2'; auto; nra.
Qed.

Theorem assigned_unique : related_parameters n q m p r.
Proof.
  destruct (choose_below (0%nat, 0) q _ partners) as [f F].
  set (to := fun i => fst (f i)). set (scale := fun i => snd (f i)).
  assert (forall i, (i < q)%nat -> (to i < q)%nat /\ 0 < scale i /\
    multiple n (scale i) (W i) (B i) (W' (to i)) (B' (to i)) /\
    forall o, (o < m)%nat -> V o i = V' o (to i) * scale i) as To by exact F.
  clearbody to scale. clear f F.
  assert (bFun q to) as Bf by (intros i I; apply To; auto).
  assert (bInjective q to) as Bi.
  { intros i i' I I' E. destruct (To i I) as (_ & S & M & _), (To i' I') as (_ & S' & M' & _).
    rewrite E in M. destruct M as [Ma Mb], M' as [Ma' Mb'].
    apply (own_injective i i' (scale i / scale i')); auto.
    - apply Rdiv_lt_0_compat; auto.
    - split.
      + intros j J. apply (Rmult_eq_reg_l (scale i')); [|lra]. rewrite <- Ma', Ma by auto. field.
        lra.
      + apply (Rmult_eq_reg_l (scale i')); [|lra]. rewrite <- Mb', Mb. field. lra. }
  destruct (bSurjective_bBijective Bf (proj1 (bInjective_bSurjective Bf) Bi)) as (place & Pf & Pl).
  exists place, (fun j => scale (place j)).
  split; [auto|split; [|split; [|split]]].
  - intros j j' J J' E. destruct (Pl j J) as [_ <-], (Pl j' J') as [_ <-]. congruence.
  - intros j J. apply To. auto.
  - intros j J. destruct (Pl j J) as [_ E]. destruct (To (place j) (Pf j J)) as (_ & _ & M & _).
    rewrite E in M. destruct M as [M1 M2]. auto.
  - intros o O. split.
    + pose proof (equal (fun _ => 0) o O) as E. unfold output in E.
      rewrite <- (sum_permuted q (fun j => V' o j * relu (hidden n r j (fun _ => 0))) to Bf Bi)
        in E.
      rewrite (sum_ext q (fun i => V o i * relu _)
        (fun i => V' o (to i) * relu (hidden n r (to i) (fun _ => 0)))) in E; [lra|].
      intros i I. destruct (To i I) as (_ & S & M & Out). rewrite (Out o O).
      unfold hidden. rewrite (multiple_form n _ _ _ _ _ _ M), relu_scale by lra. ring.
    + intros j J. destruct (Pl j J) as [_ E]. destruct (To (place j) (Pf j J)) as (_ & S & _ & Out).
      rewrite (Out o O), E. field. lra.
Qed.
End Assigned.
