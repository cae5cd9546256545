(** One hidden layer: the function determines the parameters (docs/theory/shallow.md).

    [shallow_unique]: if all rows and columns are nonzero, no two neurons have one hyperplane, no
    nonempty sum of the matrices v_i w_i vanishes, and each hyperplane has a point in an open set,
    then all real parameters of the same widths with the same function on this set are related. The
    proof follows the page: near a point of one hyperplane that lies on no other one, the function
    bends, and other parameters need a neuron for that; then only orientations are left. *)
Require Import ZArith Reals List Bool Lra Lia.
From Coq Require Import FinFun.
From PolyreluVerified Require Import Networks Numbers Generic Symmetries RealParameters.
Import ListNotations.
Open Scope R_scope.

(** * Finite choices *)

Lemma choose_below {A} (start : A) n (P : nat -> A -> Prop) :
  (forall i, (i < n)%nat -> exists y, P i y) -> exists f, forall i, (i < n)%nat -> P i (f i).
Proof.
  induction n as [|n IH]; intro H. { exists (fun _ => start). intros; lia. }
  destruct IH as [f F]; [auto|]. destruct (H n) as [y Y]; [lia|].
  exists (fun i => if Nat.eqb i n then y else f i). intros i I.
  destruct (Nat.eqb_spec i n) as [->|]; auto. apply F. lia.
Qed.

Lemma zero_below_dec n (f : nat -> R) :
  (forall i, (i < n)%nat -> f i = 0) \/ exists i, (i < n)%nat /\ f i <> 0.
Proof.
  induction n as [|n [IH|(i & I & H)]]; [left; intros; lia| |right; exists i; auto].
  destruct (Req_EM_T (f n) 0) as [E|E]; [|right; eauto]. left. intros i I.
  destruct (Nat.eq_dec i n) as [->|]; auto. apply IH. lia.
Qed.

(** A sum that is not 0 has a term that is not 0. *)
Lemma sum_nonzero n f : sum n f <> 0 -> exists i, (i < n)%nat /\ f i <> 0.
Proof. intro H. destruct (zero_below_dec n f) as [Z|]; auto. destruct H. apply sum_zero. auto. Qed.

Lemma sum_plus n f g : sum n (fun i => f i + g i) = sum n f + sum n g.
Proof. apply sum_over_plus. Qed.
Lemma sum_minus n f g : sum n (fun i => f i - g i) = sum n f - sum n g.
Proof.
  rewrite (sum_ext _ _ (fun i => f i + -1 * g i)) by (intros; ring).
  rewrite sum_plus, sum_times. ring.
Qed.

(** A sum with one term only. *)
Lemma sum_single n j f : (j < n)%nat -> (forall i, (i < n)%nat -> i <> j -> f i = 0) ->
  sum n f = f j.
Proof.
  unfold sum. induction n as [|n IH]; intros J H; [lia|]. rewrite seq_S, sum_over_end. simpl.
  destruct (Nat.eq_dec j n) as [->|N].
  - rewrite sum_over_zero; [lra|]. intros i I. apply in_seq in I. apply H; lia.
  - rewrite IH by (auto; lia). rewrite (H n) by lia. lra.
Qed.

(** * All small positive numbers *)

Definition near (P : R -> Prop) : Prop := exists T, 0 < T /\ forall t, 0 < t < T -> P t.

Lemma near_and P Q : near P -> near Q -> near (fun t => P t /\ Q t).
Proof.
  intros (S & S0 & HS) (T & T0 & HT). exists (Rmin S T). split; [apply Rmin_glb_lt; auto|].
  intros t [L U]. pose proof (Rmin_l S T). pose proof (Rmin_r S T). split; [apply HS|apply HT]; lra.
Qed.

Lemma near_all N (P : nat -> R -> Prop) : (forall j, (j < N)%nat -> near (P j)) ->
  near (fun t => forall j, (j < N)%nat -> P j t).
Proof.
  induction N as [|N IH]; intro H. { exists 1. split; [lra|]. intros; lia. }
  destruct (near_and _ _ (IH ltac:(auto)) (H N ltac:(lia))) as (T & T0 & HT).
  exists T. split; auto. intros t L j J. destruct (HT t L) as [A B].
  destruct (Nat.eq_dec j N) as [->|]; auto. apply A. lia.
Qed.

Lemma near_some P : near P -> exists t, 0 < t /\ P t.
Proof. intros (T & T0 & H). exists (T / 2). split; [lra|]. apply H. lra. Qed.

(** Numbers [a + b t] that are not constantly 0 are not 0. *)
Lemma near_nonzero a b : a <> 0 \/ b <> 0 -> near (fun t => a + b * t <> 0).
Proof.
  intro H. destruct (Req_EM_T b 0) as [->|B]. { exists 1. split; [lra|]. intros t _. lra. }
  destruct (Req_EM_T a 0) as [->|A].
  - exists 1. split; [lra|]. intros t L E. rewrite Rplus_0_l in E.
    apply Rmult_integral in E as [E|E]; [tauto|lra].
  - assert (a / b <> 0) as Q. { unfold Rdiv. apply Rmult_integral_contrapositive_currified; auto.
      apply Rinv_neq_0_compat; auto. }
    exists (Rabs (a / b)). split; [apply Rabs_pos_lt; auto|]. intros t [L U] E.
    replace (a + b * t) with (b * (t + a / b)) in E by (field; auto).
    apply Rmult_integral in E as [E|E]; [tauto|].
    rewrite Rabs_left in U by lra. lra.
Qed.

(** * Forms on lines *)

Definition line (x y : nat -> R) (t : R) : nat -> R := fun k => x k + t * (y k - x k).
Definition axis (j : nat) (c : R) : nat -> R := fun k => if Nat.eqb k j then c else 0.

Section Forms.
Variable n : nat.
Notation form := (form n).

Lemma form_line w b x y t : form w b (line x y t) = form w b x + t * (form w b y - form w b x).
Proof.
  unfold form, line.
  rewrite (sum_ext _ _ (fun k => w k * x k + (t * (w k * y k) + - t * (w k * x k))))
    by (intros; ring).
  rewrite !sum_plus, !sum_times. ring.
Qed.

Lemma form_axis w b j c : (j < n)%nat -> form w b (axis j c) = w j * c + b.
Proof.
  intro J. unfold form, axis. rewrite (sum_single n j); auto.
  - rewrite Nat.eqb_refl. ring.
  - intros i _ N. destruct (Nat.eqb_spec i j); [tauto|ring].
Qed.

Lemma form_origin w b : form w b (fun _ => 0) = b.
Proof. unfold form. rewrite sum_zero; [ring|]. intros. ring. Qed.

Definition multiple (s : R) (w : nat -> R) (b : R) (u : nat -> R) (a : R) : Prop :=
  (forall k, (k < n)%nat -> u k = s * w k) /\ a = s * b.

Lemma multiple_form s w b u a x : multiple s w b u a -> form u a x = s * form w b x.
Proof.
  intros [H ->]. unfold form. rewrite (sum_ext _ _ (fun k => s * (w k * x k))).
  - rewrite sum_times. ring.
  - intros k K. rewrite H by auto. ring.
Qed.

Lemma multiple_of_values s w b u a : (forall x, form u a x = s * form w b x) -> multiple s w b u a.
Proof.
  intro H. pose proof (H (fun _ => 0)) as O. rewrite !form_origin in O. split; auto.
  intros k K. specialize (H (axis k 1)). rewrite !form_axis in H by auto. lra.
Qed.

(** A form that is no multiple of [w x + b] is not 0 somewhere on its hyperplane. *)
Lemma multiple_or_point w b u a : (exists k, (k < n)%nat /\ w k <> 0) ->
  (exists s, multiple s w b u a) \/ exists z, form w b z = 0 /\ form u a z <> 0.
Proof.
  intros (k0 & K0 & W).
  set (p := axis k0 (- b / w k0)). set (q := axis k0 ((1 - b) / w k0)).
  assert (form w b p = 0) as Hp by (unfold p; rewrite form_axis by auto; field; auto).
  assert (form w b q = 1) as Hq by (unfold q; rewrite form_axis by auto; field; auto).
  set (s := form u a q).
  assert (forall x, form w b x <> 1 -> form u a x <> s * form w b x ->
    exists z, form w b z = 0 /\ form u a z <> 0) as Off.
  { intros x H1 H2. exists (line q x (1 / (1 - form w b x))). rewrite !form_line, Hq. fold s.
    assert (1 - form w b x <> 0) as H3 by lra. split; [field; auto|]. intro E. apply H2.
    apply (f_equal (Rmult (1 - form w b x))) in E. field_simplify in E; auto. lra. }
  assert (forall x, form u a x <> s * form w b x ->
    exists z, form w b z = 0 /\ form u a z <> 0) as At.
  { intros x H. destruct (Req_EM_T (form w b x) 1) as [E|E]; [|eauto].
    destruct (Req_EM_T (form u a p) 0) as [F|F]; [|eauto].
    apply (Off (line p x (1 / 2))); rewrite !form_line, ?Hp, ?F, E; [lra|]. rewrite E in H. lra. }
  destruct (Req_EM_T a (s * b)) as [B|B].
  - destruct (zero_below_dec n (fun k => u k - s * w k)) as [Z|(k & K & N)].
    + left. exists s. split; auto. intros k K. specialize (Z k K). lra.
    + right. apply (At (axis k 1)). rewrite !form_axis by auto. lra.
  - right. apply (At (fun _ => 0)). rewrite !form_origin. auto.
Qed.

(** * A point of a hyperplane that avoids finitely many other ones *)

(** On every line, a set contains what is close to a point of it. *)
Definition open_on_lines (inside : (nat -> R) -> Prop) : Prop := forall x y, inside x ->
  near (fun t => inside (line x y t) /\ inside (line x y (- t))).

Lemma avoiding_point inside w b N (good : nat -> Prop) (u : nat -> nat -> R) (a : nat -> R) :
  open_on_lines inside -> (exists x, inside x /\ form w b x = 0) ->
  (forall j, (j < N)%nat -> good j \/ exists z, form w b z = 0 /\ form (u j) (a j) z <> 0) ->
  exists x, inside x /\ form w b x = 0 /\
    forall j, (j < N)%nat -> good j \/ form (u j) (a j) x <> 0.
Proof.
  intros Open E. induction N as [|N IH]; intro H.
  { destruct E as (x & D & X). exists x. split; [auto|split; auto]. intros; lia. }
  destruct IH as (x & D & X & A); [auto|].
  destruct (H N) as [G|(z & Z & B)]; [lia| |].
  { exists x. split; [auto|split; auto]. intros j J.
    destruct (Nat.eq_dec j N) as [->|]; auto. apply A. lia. }
  set (more := fun j => form (u j) (a j) z - form (u j) (a j) x).
  assert (near (fun t => forall j, (j < S N)%nat -> good j \/ form (u j) (a j) x + more j * t <> 0))
    as Near.
  { apply near_all. intros j J.
    assert (good j \/ form (u j) (a j) x <> 0 \/ more j <> 0) as [G|G].
    { destruct (Nat.eq_dec j N) as [->|]; [|destruct (A j); auto; lia]. unfold more.
      destruct (Req_EM_T (form (u N) (a N) x) 0); [right; right; lra|auto]. }
    - exists 1. split; [lra|auto].
    - destruct (near_nonzero _ _ G) as (T & T0 & F). exists T. auto. }
  destruct (near_some _ (near_and _ _ Near (Open x z D))) as (t & T & F & Inside & _).
  exists (line x z t). split; [auto|]. split. { rewrite form_line, X, Z. ring. }
  intros j J. rewrite form_line, Rmult_comm. apply F; auto.
Qed.
End Forms.

(** * Second differences *)

(** Of ReLUs of a form that is [c] at a point, and [d] more in a direction. *)
Definition bend (c d t : R) : R := relu (c + t * d) + relu (c + - t * d) - 2 * relu c.

Lemma bend_zero d t : 0 <= t -> bend 0 d t = Rabs d * t.
Proof.
  intro T. unfold bend. rewrite !Rplus_0_l, (relu_neg 0) by lra.
  destruct (Rle_lt_dec 0 d) as [D|D].
  - rewrite Rabs_right by lra. rewrite (relu_pos (t * d)), (relu_neg (- t * d)) by nra. ring.
  - rewrite Rabs_left by lra. rewrite (relu_neg (t * d)), (relu_pos (- t * d)) by nra. ring.
Qed.

Lemma bend_small c d : c <> 0 -> near (fun t => bend c d t = 0).
Proof.
  intro C. exists (Rabs c / (1 + Rabs d)). pose proof (Rabs_pos d). pose proof (Rabs_pos_lt c C).
  split. { apply Rdiv_lt_0_compat; lra. }
  intros t [T1 T2]. apply (Rmult_lt_compat_r (1 + Rabs d)) in T2; [|lra].
  replace (Rabs c / (1 + Rabs d) * (1 + Rabs d)) with (Rabs c) in T2 by (field; lra).
  assert (- (t * Rabs d) <= t * d <= t * Rabs d) as [L U].
  { unfold Rabs. destruct (Rcase_abs d); nra. }
  assert (t * Rabs d < Rabs c) as S by nra. unfold bend.
  destruct (Rle_lt_dec 0 c) as [P|P].
  - rewrite (Rabs_right c) in S by lra. rewrite !relu_pos by lra. ring.
  - rewrite (Rabs_left c) in S by lra. rewrite !relu_neg by lra. ring.
Qed.

(** * Uniqueness *)

Section Unique.
Variables (n q m : nat) (p r : parameters).
Notation W := (weight_of p 1).
Notation B := (bias_of p 1).
Notation V := (weight_of p 2).
Notation W' := (weight_of r 1).
Notation B' := (bias_of r 1).
Notation V' := (weight_of r 2).

Variable inside : (nat -> R) -> Prop.
Hypothesis open : open_on_lines inside.
Hypothesis nonempty : exists x, inside x.
Hypothesis on_hyperplanes : forall i, (i < q)%nat ->
  exists x, inside x /\ form n (W i) (B i) x = 0.
Hypothesis equal : forall x o, inside x -> (o < m)%nat -> output n q p o x = output n q r o x.
Hypothesis rows_nonzero : forall i, (i < q)%nat -> exists k, (k < n)%nat /\ W i k <> 0.
Hypothesis columns_nonzero : forall i, (i < q)%nat -> exists o, (o < m)%nat /\ V o i <> 0.
Hypothesis different : forall i j s, (i < q)%nat -> (j < q)%nat -> i <> j ->
  ~ multiple n s (W i) (B i) (W j) (B j).
Hypothesis no_sums : forall T : nat -> bool, (exists i, (i < q)%nat /\ T i = true) ->
  exists o k, (o < m)%nat /\ (k < n)%nat /\ sum q (fun i => if T i then V o i * W i k else 0) <> 0.

Lemma output_bend (a : parameters) o x y t :
  output n q a o (line x y t) + output n q a o (line x y (- t)) - 2 * output n q a o x =
  sum q (fun i => weight_of a 2 o i *
    bend (hidden n a i x) (hidden n a i y - hidden n a i x) t).
Proof.
  unfold output, bend.
  rewrite (sum_ext _ (fun i => weight_of a 2 o i * (_ + _ - _)) (fun i =>
    weight_of a 2 o i * relu (hidden n a i (line x y t)) +
    (weight_of a 2 o i * relu (hidden n a i (line x y (- t))) +
     -2 * (weight_of a 2 o i * relu (hidden n a i x))))).
  - rewrite !sum_plus, sum_times. ring.
  - intros i _. unfold hidden. rewrite !form_line. ring.
Qed.

(** The functions bend alike across the hyperplane of neuron [i]. *)
Lemma bend_at i : (i < q)%nat -> exists t d, 0 < t /\
  (forall o, (o < m)%nat -> V o i * t = sum q (fun j => V' o j * d j)) /\
  forall j, (j < q)%nat -> d j = 0 \/
    exists s, s <> 0 /\ multiple n s (W i) (B i) (W' j) (B' j) /\ d j = Rabs s * t.
Proof.
  intro I. destruct (rows_nonzero i I) as (k0 & K0 & N0).
  set (w := fun j => if Nat.ltb j q then W j else W' (j - q)%nat).
  set (b := fun j => if Nat.ltb j q then B j else B' (j - q)%nat).
  destruct (avoiding_point n inside (W i) (B i) (q + q)
    (fun j => exists s, multiple n s (W i) (B i) (w j) (b j)) w b) as (x & D & X & A); auto.
  { intros j J. apply multiple_or_point. eauto. }
  set (y := axis k0 ((1 - B i) / W i k0)).
  assert (form n (W i) (B i) y = 1) as Y by (unfold y; rewrite form_axis by auto; field; auto).
  assert (near (fun t => forall j, (j < q + q)%nat -> form n (w j) (b j) x <> 0 ->
    bend (form n (w j) (b j) x) (form n (w j) (b j) y - form n (w j) (b j) x) t = 0)) as Near.
  { apply near_all. intros j J. destruct (Req_EM_T (form n (w j) (b j) x) 0) as [E|E].
    - exists 1. split; [lra|tauto].
    - destruct (bend_small _ (form n (w j) (b j) y - form n (w j) (b j) x) E) as (T & T0 & H).
      exists T. auto. }
  destruct (near_some _ (near_and _ _ Near (open x y D))) as (t & T & Small & In1 & In2).
  exists t, (fun j => bend (hidden n r j x) (hidden n r j y - hidden n r j x) t).
  split; [auto|]. split.
  - intros o O. rewrite <- (output_bend r), <- !equal, output_bend by auto.
    rewrite (sum_single q i); auto.
    + unfold hidden. rewrite X, Y, Rminus_0_r, bend_zero, Rabs_R1 by lra. ring.
    + intros k K N. specialize (A k ltac:(lia)). specialize (Small k ltac:(lia)). unfold w, b in *.
      destruct (Nat.ltb_spec k q) as [_|]; [|lia]. destruct A as [[s A]|A].
      * destruct (different i k s); auto.
      * unfold hidden. rewrite Small by auto. ring.
  - intros j J. specialize (A (q + j)%nat ltac:(lia)). specialize (Small (q + j)%nat ltac:(lia)).
    unfold w, b in *. destruct (Nat.ltb_spec (q + j) q) as [|_]; [lia|].
    replace (q + j - q)%nat with j in * by lia. destruct A as [[s A]|A]; [|left; apply Small; auto].
    destruct (Req_EM_T s 0) as [Z|Z]; unfold hidden; rewrite !(multiple_form n s _ _ _ _ _ A), X, Y;
      replace (s * 0) with 0 by ring; replace (s * 1 - 0) with s by ring; rewrite bend_zero by lra.
    + left. rewrite Z, Rabs_R0. ring.
    + right. exists s. auto.
Qed.

(** So each neuron has one of the other parameters on its hyperplane. *)
Lemma partner i : (i < q)%nat -> exists j : nat * R,
  (fst j < q)%nat /\ snd j <> 0 /\ multiple n (snd j) (W i) (B i) (W' (fst j)) (B' (fst j)).
Proof.
  intro I. destruct (bend_at i I) as (t & d & T & E & D).
  destruct (columns_nonzero i I) as (o & O & N). specialize (E o O).
  destruct (sum_nonzero q (fun j => V' o j * d j)) as (j & J & F). { rewrite <- E. nra. }
  destruct (D j J) as [Z|(s & S & M & _)]; [destruct F; rewrite Z; ring|]. exists (j, s). auto.
Qed.

Theorem shallow_unique : related_parameters n q m p r.
Proof.
  destruct (choose_below (0%nat, 0) q _ partner) as [f F].
  set (to := fun i => fst (f i)). set (scale := fun i => snd (f i)).
  assert (forall i, (i < q)%nat -> (to i < q)%nat /\ scale i <> 0 /\
    multiple n (scale i) (W i) (B i) (W' (to i)) (B' (to i))) as To by exact F. clearbody to scale.
  clear f F.
  destruct nonempty as [x0 D0].
  (* Neurons with one partner have one hyperplane. *)
  assert (forall i i' j s s', (i < q)%nat -> (i' < q)%nat -> s <> 0 -> s' <> 0 ->
    multiple n s (W i) (B i) (W' j) (B' j) -> multiple n s' (W i') (B i') (W' j) (B' j) -> i = i')
    as One.
  { intros i i' j s s' I I' S S' M M'. destruct (Nat.eq_dec i i') as [|Ne]; auto. exfalso.
    apply (different i i' (s / s') I I' Ne). destruct M as [M1 M2], M' as [M1' M2']. split.
    - intros k K. apply (Rmult_eq_reg_l s'); auto. rewrite <- M1', M1 by auto. field. auto.
    - apply (Rmult_eq_reg_l s'); auto. rewrite <- M2', M2. field. auto. }
  assert (bFun q to) as Bf by (intros i I; apply To; auto).
  assert (bInjective q to) as Bi.
  { intros i i' I I' E. destruct (To i I) as (_ & S & M), (To i' I') as (_ & S' & M').
    rewrite E in M. apply (One i i' (to i') (scale i) (scale i')); auto. }
  destruct (bSurjective_bBijective Bf (proj1 (bInjective_bSurjective Bf) Bi)) as (place & Pf & P).
  (* What the partner gives to the outputs. *)
  assert (forall i o, (i < q)%nat -> (o < m)%nat -> V o i = V' o (to i) * Rabs (scale i)) as Out.
  { intros i o I O. destruct (bend_at i I) as (t & d & T & E & D).
    destruct (To i I) as (J & S & M).
    assert (forall o, (o < m)%nat -> V o i * t = V' o (to i) * d (to i)) as Single.
    { intros o1 O1. rewrite E by auto.
      apply (sum_single q (to i) (fun j => V' o1 j * d j)); auto. intros j J' N.
      destruct (D j J') as [->|(s & S' & M' & _)]; [ring|]. exfalso. apply N.
      destruct (P j J') as [_ E2]. destruct (To (place j) (Pf j J')) as (_ & S2 & M2).
      rewrite E2 in M2. rewrite <- E2. f_equal.
      apply (One _ _ j (scale (place j)) s); auto. }
    destruct (D (to i) J) as [Z|(s & S' & M' & Ds)].
    - destruct (columns_nonzero i I) as (o1 & O1 & N1). specialize (Single o1 O1).
      rewrite Z in Single. exfalso. apply N1. nra.
    - destruct (rows_nonzero i I) as (k & K & N). destruct M as [M _], M' as [M' _].
      specialize (M k K). specialize (M' k K). assert (s = scale i) as Es.
      { apply (Rmult_eq_reg_r (W i k)); auto. congruence. }
      specialize (Single o O). rewrite Ds, Es in Single. apply (Rmult_eq_reg_r t); lra. }
  (* No partner has the other orientation. *)
  set (T := fun i => if Rlt_dec (scale i) 0 then true else false).
  set (rest := fun o x => sum q (fun i => if T i then V o i * form n (W i) (B i) x else 0)).
  assert (forall o x, inside x -> (o < m)%nat -> rest o x = bias_of r 2 o - bias_of p 2 o) as Rest.
  { intros o x D O. pose proof (equal x o D O) as E. unfold output in E.
    rewrite <- (sum_permuted q (fun j => V' o j * relu (hidden n r j x)) to Bf Bi) in E.
    assert (rest o x = sum q (fun i => V o i * relu (hidden n p i x)) -
      sum q (fun i => V' o (to i) * relu (hidden n r (to i) x))) as ->; [|lra].
    rewrite <- sum_minus. apply sum_ext. intros i I.
    destruct (To i I) as (J & S & M). rewrite (Out i o I O).
    unfold hidden. rewrite (multiple_form n _ _ _ _ _ x M).
    set (h := form n (W i) (B i) x). unfold T. destruct (Rlt_dec (scale i) 0) as [L|L].
    - rewrite Rabs_left by auto.
      replace (scale i * h) with (- scale i * - h) by ring.
      rewrite relu_scale by lra. rewrite (relu_flip h). ring.
    - rewrite Rabs_right by lra. rewrite relu_scale by lra. ring. }
  assert (forall i, (i < q)%nat -> T i = false) as Same.
  { intros i I. destruct (T i) eqn:Ti; auto. exfalso.
    destruct (no_sums T) as (o & k & O & K & N); [eauto|]. apply N.
    set (y := fun k' => x0 k' + axis k 1 k').
    destruct (near_some _ (open x0 y D0)) as (t & Tp & D1 & _).
    apply (Rmult_eq_reg_l t); [|lra]. rewrite Rmult_0_r, <- sum_times.
    transitivity (rest o (line x0 y t) - rest o x0).
    - unfold rest. rewrite <- sum_minus. apply sum_ext. intros i' I'.
      rewrite form_line. assert (form n (W i') (B i') y = form n (W i') (B i') x0 + W i' k) as ->.
      { pose proof (form_axis n (W i') 0 k 1 K) as U. unfold form in *. unfold y.
        rewrite (sum_ext _ _ (fun k' => W i' k' * x0 k' + W i' k' * axis k 1 k')) by (intros; ring).
        rewrite sum_plus. lra. }
      destruct (T i'); ring.
    - rewrite !Rest by auto. ring. }
  assert (forall i, (i < q)%nat -> 0 < scale i) as Positive.
  { intros i I. specialize (Same i I). unfold T in Same. destruct (To i I) as (_ & S & _).
    destruct (Rlt_dec (scale i) 0); [discriminate|lra]. }
  exists place, (fun j => scale (place j)).
  split; [auto|split; [|split; [|split]]].
  - intros j j' J J' E. destruct (P j J) as [_ <-], (P j' J') as [_ <-]. congruence.
  - intros j J. apply Positive. auto.
  - intros j J. destruct (P j J) as [_ E]. destruct (To (place j) (Pf j J)) as (_ & _ & M).
    rewrite E in M. destruct M as [M1 M2]. auto.
  - intros o O. split.
    + pose proof (Rest o x0 D0 O) as E. unfold rest in E. rewrite sum_zero in E; [lra|].
      intros i I. rewrite Same; auto.
    + intros j J. pose proof (Out (place j) o (Pf j J) O) as E. destruct (P j J) as [_ F].
      rewrite F in E. specialize (Positive (place j) (Pf j J)). rewrite Rabs_right in E by lra.
      rewrite E. field. lra.
Qed.
End Unique.
