(** Linear functions and their common kernel (docs/theory/cells.md, Statement 2): a foundation,
    which supports no verdict.

    [rank_and_kernel] says that finitely many linear functions on R^n have independent ones among
    them, r in number, of which the others are combinations; and that their common kernel has a
    basis of n - r vectors. [codimension] applies this to the zeros at a point of a network. *)
Require Import ZArith Reals List Bool Lra Lia.
From PolyreluVerified Require Import Networks Numbers Generic Symmetries RealParameters Shallow.
From PolyreluVerified Require Import Sums Cells Neighbourhoods.
Import ListNotations.
Open Scope R_scope.

(** * Statements *)

Definition vector := nat -> R.

Definition linear (n : nat) (g : vector -> R) : Prop := forall c u v w,
  (forall k, (k < n)%nat -> u k = c * v k + w k) -> g u = c * g v + g w.

(** Among the functions [g 0], ..., [g (m - 1)] are [r] independent ones, of which all are
    combinations. *)
Definition has_rank (m : nat) (g : nat -> vector -> R) (r : nat) : Prop :=
  exists chosen : nat -> nat,
    (forall i, (i < r)%nat -> (chosen i < m)%nat) /\
    (forall a, (forall d, sum r (fun i => a i * g (chosen i) d) = 0) ->
       forall i, (i < r)%nat -> a i = 0) /\
    forall i, (i < m)%nat -> exists a, forall d, g i d = sum r (fun j => a j * g (chosen j) d).

(** The vectors at which these functions are 0 have a basis of [s] vectors. *)
Definition kernel_has_dimension (n m : nat) (g : nat -> vector -> R) (s : nat) : Prop :=
  exists b : nat -> vector,
    (forall j i, (j < s)%nat -> (i < m)%nat -> g i (b j) = 0) /\
    (forall a, (forall k, (k < n)%nat -> sum s (fun j => a j * b j k) = 0) ->
       forall j, (j < s)%nat -> a j = 0) /\
    forall d, (forall i, (i < m)%nat -> g i d = 0) ->
      exists a, forall k, (k < n)%nat -> d k = sum s (fun j => a j * b j k).

(** * Proof *)

Lemma sum_last n f : sum (S n) f = sum n f + f n.
Proof. unfold sum. rewrite seq_S, sum_over_end. auto. Qed.

Definition skip (p j : nat) : nat := if Nat.ltb j p then j else S j.

Lemma sum_skip s p f : (p < S s)%nat -> sum (S s) f = f p + sum s (fun j => f (skip p j)).
Proof.
  induction s as [|s IH]; intro P.
  - replace p with 0%nat by lia. unfold sum, sum_over. simpl. ring.
  - rewrite sum_last. destruct (Nat.eq_dec p (S s)) as [->|N].
    + rewrite (sum_ext (S s) (fun j => f (skip (S s) j)) f); [ring|]. intros j J. unfold skip.
      destruct (Nat.ltb_spec j (S s)); [auto|lia].
    + rewrite IH, sum_last by lia. unfold skip at 3. destruct (Nat.ltb_spec s p); [lia|]. ring.
Qed.

Lemma skip_below s p j : (j < s)%nat -> (skip p j < S s)%nat.
Proof. unfold skip. destruct (Nat.ltb_spec j p); lia. Qed.
Lemma skip_differs p j : skip p j <> p.
Proof. unfold skip. destruct (Nat.ltb_spec j p); lia. Qed.
Lemma skip_injective p i j : skip p i = skip p j -> i = j.
Proof. unfold skip. destruct (Nat.ltb_spec i p), (Nat.ltb_spec j p); lia. Qed.

Section Linear.
Variable n : nat.

Lemma linear_sum g : linear n g -> forall r (a : nat -> R) (v : nat -> vector) u,
  (forall k, (k < n)%nat -> u k = sum r (fun i => a i * v i k)) ->
  g u = sum r (fun i => a i * g (v i)).
Proof.
  intros L. induction r as [|r IH]; intros a v u U.
  - assert (g u = -1 * g u + g u) as E.
    { apply L. intros k K. rewrite U by auto. unfold sum, sum_over. simpl. ring. }
    unfold sum, sum_over. simpl. lra.
  - rewrite sum_last, (L (a r) u (v r) (fun k => sum r (fun i => a i * v i k))).
    + rewrite (IH a v (fun k => sum r (fun i => a i * v i k))) by auto. ring.
    + intros k K. rewrite U, sum_last by auto. ring.
Qed.

Definition unit (i j : nat) : R := if Nat.eqb i j then 1 else 0.

(** [e] is dual to the chosen functions, [b] is in the kernel, [c] are its coordinates. *)
Definition split (m : nat) (g : nat -> vector -> R) (r s : nat) : Prop :=
  exists (chosen : nat -> nat) (e b : nat -> vector) (c : nat -> vector -> R),
    (forall i, (i < r)%nat -> (chosen i < m)%nat) /\
    (forall i j, (i < r)%nat -> (j < r)%nat -> g (chosen i) (e j) = unit i j) /\
    (forall i j, (i < m)%nat -> (j < s)%nat -> g i (b j) = 0) /\
    (forall j, (j < s)%nat -> linear n (c j)) /\
    (forall i j, (i < s)%nat -> (j < s)%nat -> c i (b j) = unit i j) /\
    forall d k, (k < n)%nat ->
      d k = sum r (fun i => g (chosen i) d * e i k) + sum s (fun j => c j d * b j k).

Lemma value_of_split h r s (a c : nat -> R) (e b : nat -> vector) d : linear n h ->
  (forall k, (k < n)%nat -> d k = sum r (fun i => a i * e i k) + sum s (fun j => c j * b j k)) ->
  h d = sum r (fun i => a i * h (e i)) + sum s (fun j => c j * h (b j)).
Proof.
  intros L H.
  rewrite (L 1 d (fun k => sum r (fun i => a i * e i k)) (fun k => sum s (fun j => c j * b j k))).
  - rewrite (linear_sum h L r a e _ (fun k _ => eq_refl)),
      (linear_sum h L s c b _ (fun k _ => eq_refl)). ring.
  - intros k K. rewrite (H k K). ring.
Qed.

Lemma unit_same i : unit i i = 1.
Proof. unfold unit. rewrite Nat.eqb_refl. auto. Qed.
Lemma unit_other i j : i <> j -> unit i j = 0.
Proof. unfold unit. destruct (Nat.eqb_spec i j); tauto. Qed.

Lemma linear_minus g c u v : linear n g -> g (fun k => u k - c * v k) = g u - c * g v.
Proof.
  intro L. rewrite (L (- c) _ v u); [ring|]. intros k _. ring.
Qed.
Lemma linear_times g c v : linear n g -> g (fun k => c * v k) = c * g v.
Proof.
  intro L. assert (g (fun _ => 0) = 0) as Z.
  { assert (g (fun _ => 0) = 1 * g (fun _ => 0) + g (fun _ => 0)) as E;
      [apply L; intros k _; ring|lra]. }
  rewrite (L c _ v (fun _ => 0)), Z; [ring|]. intros k _. ring.
Qed.

Lemma split_start g : split 0 g 0 n.
Proof.
  exists (fun i => i), (fun i => axis i 1), (fun i => axis i 1), (fun j d => d j).
  split; [intros; lia|]. split; [intros; lia|]. split; [intros; lia|]. split; [|split].
  - intros j J t u v w H. auto.
  - intros i j _ _. unfold axis, unit. auto.
  - intros d k K. rewrite (sum_single n k); auto.
    + unfold axis, sum, sum_over. rewrite Nat.eqb_refl. simpl. ring.
    + intros i _ N. unfold axis. destruct (Nat.eqb_spec k i); [lia|ring].
Qed.

(** A function that is not 0 on the kernel is a new independent one. *)
Lemma split_pivot m g r s (h := g m) (chosen : nat -> nat) (e b : nat -> vector)
  (c : nat -> vector -> R) p : (forall i, (i <= m)%nat -> linear n (g i)) ->
  (forall i, (i < r)%nat -> (chosen i < m)%nat) ->
  (forall i j, (i < r)%nat -> (j < r)%nat -> g (chosen i) (e j) = unit i j) ->
  (forall i j, (i < m)%nat -> (j < S s)%nat -> g i (b j) = 0) ->
  (forall j, (j < S s)%nat -> linear n (c j)) ->
  (forall i j, (i < S s)%nat -> (j < S s)%nat -> c i (b j) = unit i j) ->
  (forall d k, (k < n)%nat ->
    d k = sum r (fun i => g (chosen i) d * e i k) + sum (S s) (fun j => c j d * b j k)) ->
  (p < S s)%nat -> h (b p) <> 0 -> split (S m) g (S r) s.
Proof.
  intros L Ch De Kb Lc Dc All P N.
  assert (linear n h) as Lh by (apply L; auto).
  set (new := fun k => / h (b p) * b p k).
  assert (h new = 1) as Hn by (unfold new; rewrite linear_times by auto; field; auto).
  assert (forall i, (i < m)%nat -> g i new = 0) as Gn.
  { intros i I. unfold new. rewrite linear_times by (apply L; lia). rewrite Kb by auto. ring. }
  exists (fun i => if Nat.eqb i r then m else chosen i),
    (fun i => if Nat.eqb i r then new else fun k => e i k - h (e i) * new k),
    (fun j k => b (skip p j) k - h (b (skip p j)) * new k), (fun j => c (skip p j)).
  split; [|split; [|split; [|split; [|split]]]].
  - intros i I. destruct (Nat.eqb_spec i r); auto. specialize (Ch i). lia.
  - intros i j I J. destruct (Nat.eqb_spec i r) as [->|Ni], (Nat.eqb_spec j r) as [->|Nj].
    + rewrite unit_same. auto.
    + fold h. rewrite linear_minus, Hn, unit_other by auto. ring.
    + rewrite unit_other by auto. apply Gn, Ch. lia.
    + assert (chosen i < m)%nat as C by (apply Ch; lia).
      rewrite linear_minus, Gn, De by (auto; try lia; apply L; lia). ring.
  - intros i j I J. pose proof (skip_below s p j J) as B. destruct (Nat.eq_dec i m) as [->|Ni].
    + fold h. rewrite linear_minus, Hn by auto. ring.
    + rewrite linear_minus, Gn, Kb by (auto; try lia; apply L; lia). ring.
  - intros j J. apply Lc, skip_below, J.
  - intros i j I J. pose proof (skip_below s p j J). pose proof (skip_below s p i I).
    rewrite linear_minus by auto. unfold new. rewrite linear_times, !Dc by auto.
    rewrite (unit_other (skip p i) p) by apply skip_differs. destruct (Nat.eq_dec i j) as [->|E].
    + rewrite !unit_same. ring.
    + rewrite !unit_other by (auto; intro F; apply E, (skip_injective p); auto). ring.
  - intros d k K. rewrite sum_last, Nat.eqb_refl. fold h.
    pose proof (value_of_split h r (S s) (fun i => g (chosen i) d) (fun j => c j d) e b d Lh
      (All d)) as V.
    pose proof (All d k K) as D. rewrite (sum_skip s p) in V, D by auto.
    rewrite (sum_ext r _ (fun i => g (chosen i) d * e i k +
      - new k * (g (chosen i) d * h (e i)))).
    2: { intros i I. destruct (Nat.eqb_spec i r); [lia|ring]. }
    rewrite (sum_ext s (fun j => c (skip p j) d * (b (skip p j) k - h (b (skip p j)) * new k))
      (fun j => c (skip p j) d * b (skip p j) k + - new k * (c (skip p j) d * h (b (skip p j)))))
      by (intros; ring).
    rewrite !sum_plus, !sum_times, V, D. unfold new. field. auto.
Qed.

Lemma split_exists g m : (forall i, (i < m)%nat -> linear n (g i)) ->
  exists r s, (r + s = n)%nat /\ split m g r s.
Proof.
  induction m as [|m IH]; intro L. { exists 0%nat, n. split; auto. apply split_start. }
  destruct IH as (r & s & E & chosen & e & b & c & Ch & De & Kb & Lc & Dc & All); auto.
  destruct (zero_below_dec s (fun j => g m (b j))) as [Z|(p & P & N)].
  - exists r, s. split; auto. exists chosen, e, b, c.
    split; [intros i I; specialize (Ch i I); lia|]. split; auto. split; auto. intros i j I J.
    destruct (Nat.eq_dec i m) as [->|]; auto. apply Kb; auto. lia.
  - destruct s as [|s]; [lia|]. exists (S r), s. split; [lia|].
    apply (split_pivot m g r s chosen e b c p); auto. intros i I. apply L. lia.
Qed.

(** The rank and the dimension of the common kernel add up to [n]. *)
Theorem rank_and_kernel m g : (forall i, (i < m)%nat -> linear n (g i)) ->
  exists r s, (r + s = n)%nat /\ has_rank m g r /\ kernel_has_dimension n m g s.
Proof.
  intro L. destruct (split_exists g m L) as (r & s & E & chosen & e & b & c & Ch & De & Kb & Lc &
    Dc & All). exists r, s. split; auto. split.
  - exists chosen. split; auto. split.
    + intros a A i I. specialize (A (e i)). rewrite (sum_single r i) in A; auto.
      * rewrite De, unit_same in A by auto. lra.
      * intros j J N. rewrite De, unit_other by auto. ring.
    + intros i I. exists (fun j => g i (e j)). intro d.
      rewrite (value_of_split (g i) r s (fun i => g (chosen i) d) (fun j => c j d) e b d)
        by auto.
      rewrite (sum_zero s) by (intros j J; rewrite Kb by auto; ring). rewrite Rplus_0_r.
      apply sum_ext. intros; ring.
  - exists b. split; auto. split.
    + intros a A j J. assert (c j (fun _ => 0) = 0) as Z.
      { assert (c j (fun _ => 0) = 1 * c j (fun _ => 0) + c j (fun _ => 0)) as F;
          [apply Lc; auto; intros; ring|lra]. }
      rewrite (linear_sum (c j) (Lc j J) s a b (fun _ => 0)) in Z
        by (intros k K; rewrite A; auto).
      rewrite (sum_single s j) in Z; auto.
      * rewrite Dc, unit_same in Z by auto. lra.
      * intros i I N. rewrite Dc, unit_other by auto. ring.
    + intros d D. exists (fun j => c j d). intros k K. rewrite (All d k K) at 1.
      rewrite (sum_zero r); [ring|]. intros i I. rewrite D by auto. ring.
Qed.
End Linear.

(** * Zeros of a network *)

(** How fast the affine function of neuron [w] changes in a direction. *)
Definition slope (ls : list layer) (x : list R) (n : nat) (w : nat * nat) (d : vector) : R :=
  entry (response (sign_vector ls x) (fun _ _ => 0) ls [List.map d (seq 0 n)]) (fst w) (snd w).

Lemma dot_mapped n w c (u v z : nat -> R) : forall s,
  (forall k, (s <= k < s + n)%nat -> u k = c * v k + z k) ->
  dot w (List.map u (seq s n)) = c * dot w (List.map v (seq s n)) + dot w (List.map z (seq s n)).
Proof.
  revert w. induction n as [|n IH]; intros [|b w] s H; simpl; try ring.
  rewrite (H s), (IH w (S s)) by (intros; try apply H; lia). ring.
Qed.

Lemma slope_linear ls x n w : linear n (slope ls x n w).
Proof.
  intros c u v z H. apply response_combined; [|intros; ring]. split; [|split]; auto.
  intros [|[|k]] r; simpl; try (destruct r; simpl; ring). apply dot_mapped. intros k K. apply H.
  lia.
Qed.

Lemma kept_filled s : forall ls a, kept s ls a = filled s (fun _ _ => 0) ls a.
Proof.
  induction s as [|e s IH]; intros [|l ls] a; simpl; auto. rewrite IH, keep_fill. auto.
Qed.

Definition difference (y x : list R) : vector := fun k => nth k y 0 - nth k x 0.

(** The affine function of a neuron at another point. *)
Lemma slope_ok ls x y n l i : length x = n -> length y = n ->
  entry (kept_at ls x y) l i = entry (kept_at ls x x) l i + slope ls x n (l, i) (difference y x).
Proof.
  intros X Y. unfold kept_at at 1. rewrite kept_filled. unfold slope. simpl fst. simpl snd.
  apply filled_split. split; [|split]; auto.
  intros [|[|k]] w; simpl; try (destruct w; simpl; ring).
  rewrite <- (map_seq y 0), <- (map_seq x 0) at 1. rewrite X, Y. apply dot_mapped. intros k _.
  unfold difference. ring.
Qed.

Lemma kept_shape ls : forall a b, let s := signs (preactivations ls a) in
  Forall2 (fun e z => length e = length z) s (kept s ls b).
Proof.
  induction ls as [|l ls IH]; intros a b; simpl; constructor; [|apply IH].
  rewrite !map_length. auto.
Qed.

Lemma flat_entries ls x y : flat ls x y <->
  forall l i, sign_at (sign_vector ls x) l i = 0%Z -> entry (kept_at ls x y) l i = 0.
Proof.
  unfold flat, sign_at, entry, kept_at.
  pose proof (kept_shape ls [x] [y]) as S. cbv zeta in S.
  change (signs (preactivations ls [x])) with (sign_vector ls x) in S.
  revert S. generalize (kept (sign_vector ls x) ls [y]).
  induction (sign_vector ls x) as [|e s IH]; intros [|z zs] F;
    inversion F as [|? ? ? ? Le Fs]; subst.
  - split; [intros _ l i|constructor]. rewrite !nth_nil. discriminate.
  - assert (Forall2 (fun e z => e = 0%Z -> z = 0) e z <->
      forall i, nth i e 1%Z = 0%Z -> nth i z 0 = 0) as Row.
    { clear - Le. revert z Le. induction e as [|a e IH]; intros [|b z] L; try discriminate.
      - split; [intros _ i|constructor]. rewrite !nth_nil. discriminate.
      - injection L as L. destruct (IH z L) as [A B]. split.
        + intros G [|i]; inversion G; subst; simpl; auto.
        + intro G. constructor; [apply (G 0%nat)|apply B; intros i; apply (G (S i))]. }
    destruct (IH zs Fs) as [A B]. split.
    + intros G. inversion G; subst. intros [|l] i; simpl; [apply Row; auto|apply A; auto].
    + intro G. constructor; [apply Row; intro i; apply (G 0%nat)|].
      apply B. intros l. apply (G (S l)).
Qed.

(** Statement 2: x + K(x) are the points to which no zero at [x] has a slope, and the dimension of
    K(x) is [n] minus the rank of the slopes. *)
Theorem codimension ls x n P : length x = n ->
  (forall l i, In (l, i) P <-> sign_at (sign_vector ls x) l i = 0%Z) ->
  (forall y, length y = n ->
     flat ls x y <-> forall w, In w P -> slope ls x n w (difference y x) = 0) /\
  let g := fun k => slope ls x n (nth k P (0, 0)%nat) in
  exists r s, (r + s = n)%nat /\ has_rank (length P) g r /\
    kernel_has_dimension n (length P) g s.
Proof.
  intros X Z. split.
  - intros y Y. pose proof (cell_flat ls x x eq_refl) as O. rewrite flat_entries in *.
    split.
    + intros F [l i] I. apply Z in I. specialize (F l i I).
      rewrite (slope_ok ls x y n l i X Y), (O l i I) in F. lra.
    + intros F l i I. rewrite (slope_ok ls x y n l i X Y), (O l i I), F; [ring|]. apply Z. auto.
  - apply rank_and_kernel. intros i _. apply slope_linear.
Qed.
