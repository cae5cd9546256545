(** Ranks of integer matrices by elimination, as far as the method "assignments" of theorem shallow
    needs them (FORMAT.md, section 3.3): rows that are independent, and a rank of more than [j] on
    the common kernel of some rows. Rows that are combinations of real rows as well are spanned in
    the sense of [spans]. *)
Require Import ZArith Reals List Bool Lra Lia.
From PolyreluVerified Require Import Networks Invariants Independence Generic Sums Shallow Doubled.
Import ListNotations.
Open Scope R_scope.

(** * What is computed *)

Fixpoint pivot_from (k : nat) (r : list Z) : option nat :=
  match r with [] => None | x :: r' => if (x =? 0)%Z then pivot_from (S k) r' else Some k end.

(** The first of [n] entries that is not 0. *)
Definition pivot (n : nat) (r : list Z) : option nat :=
  match pivot_from 0 r with Some k => if Nat.ltb k n then Some k else None | None => None end.

(** [a v + b w]; a shorter row goes on with zeros. *)
Fixpoint mix (a : Z) (v : list Z) (b : Z) (w : list Z) : list Z :=
  match v, w with
  | x :: v', y :: w' => (a * x + b * y)%Z :: mix a v' b w'
  | [], _ => List.map (Z.mul b) w
  | _, [] => List.map (Z.mul a) v
  end.

(** Rows over the greatest common divisor of their entries. *)
Definition factor (r : list Z) : Z :=
  let g := divisor r in if (g =? 0)%Z then 1%Z else g.
Definition shrink (r : list Z) : list Z :=
  let g := factor r in if (g =? 1)%Z then r else List.map (fun x => x / g)%Z r.

(** The row with a 0 at place [k], by a multiple of the row [h]. *)
Definition uncut (h : list Z) (k : nat) (r : list Z) : list Z :=
  mix (nth k h 0%Z) r (- nth k r 0%Z) h.
Definition clear (h : list Z) (k : nat) (r : list Z) : list Z :=
  if (nth k r 0 =? 0)%Z then r else shrink (uncut h k r).

(** [size] is at least the number of rows. *)
Fixpoint independent (size n : nat) (rows : matrix) : bool :=
  match size, rows with
  | S size', h :: rows' =>
      match pivot n h with
      | Some k => independent size' n (List.map (clear h k) rows')
      | None => false
      end
  | _, [] => true
  | O, _ => false
  end.

(** The rows on the common kernel of the first ones. *)
Fixpoint on_kernel (size n : nat) (kernel rows : matrix) : matrix :=
  match size, kernel with
  | S size', h :: kernel' =>
      match pivot n h with
      | Some k => on_kernel size' n (List.map (clear h k) kernel') (List.map (clear h k) rows)
      | None => on_kernel size' n kernel' rows
      end
  | _, _ => rows
  end.

Fixpoint some_pivot (n : nat) (rows : matrix) : option (list Z * nat) :=
  match rows with
  | [] => None
  | r :: rows' => match pivot n r with Some k => Some (r, k) | None => some_pivot n rows' end
  end.

(** The rank is more than [j]. *)
Fixpoint rank_above (j n : nat) (rows : matrix) : bool :=
  match some_pivot n rows with
  | None => false
  | Some (h, k) => match j with O => true | S j' => rank_above j' n (List.map (clear h k) rows) end
  end.

(** Columns on which the rank of the rows is the whole one; no theorem needs that it is. *)
Fixpoint pivot_places (size n : nat) (rows : matrix) : list nat :=
  match size, rows with
  | S size', h :: rows' =>
      match pivot n h with
      | Some k => k :: pivot_places size' n (List.map (clear h k) rows')
      | None => pivot_places size' n rows'
      end
  | _, _ => []
  end.

(** Some entry is not 0. *)
Definition is_nonzero (l : list Z) : bool := existsb (fun x => negb (x =? 0)%Z) l.

(** The ratio of some entries is not that of [x] and [y]. *)
Fixpoint differs_from (x y : Z) (a b : list Z) : bool :=
  match a, b with
  | u :: a', v :: b' => negb (x * v =? y * u)%Z || differs_from x y a' b'
  | _, _ => false
  end.

(** [b] is no multiple of [a], which has as many entries. *)
Fixpoint differ (a b : list Z) : bool :=
  match a, b with
  | x :: a', y :: b' =>
      if (x =? 0)%Z then negb (y =? 0)%Z || differ a' b' else differs_from x y a' b'
  | _, _ => false
  end.

Fixpoint all_differ (rs : list (list Z)) : bool :=
  match rs with [] => true | a :: rs' => forallb (differ a) rs' && all_differ rs' end.

(** * Rows as functions *)

Definition reals (r : list Z) (k : nat) : R := IZR (nth k r 0%Z).

Lemma pivot_from_ok r : forall k0,
  match pivot_from k0 r with
  | Some k => (k0 <= k)%nat /\ nth (k - k0) r 0%Z <> 0%Z /\
      forall i, (i < k - k0)%nat -> nth i r 0%Z = 0%Z
  | None => forall i, nth i r 0%Z = 0%Z
  end.
Proof.
  induction r as [|x r IH]; intro k0; simpl. { intros [|i]; auto. }
  destruct (Z.eqb_spec x 0) as [->|N].
  - specialize (IH (S k0)). destruct (pivot_from (S k0) r) as [k|].
    + destruct IH as (L & N & Z). split; [lia|]. replace (k - k0)%nat with (S (k - S k0)) by lia.
      split; auto. intros [|i] I; auto. apply Z. lia.
    + intros [|i]; auto.
  - rewrite Nat.sub_diag. split; [auto|split; [auto|]]. intros; lia.
Qed.

Lemma pivot_some n r k : pivot n r = Some k -> (k < n)%nat /\ reals r k <> 0.
Proof.
  unfold pivot. pose proof (pivot_from_ok r 0) as H. destruct (pivot_from 0 r) as [i|];
    [|discriminate].
  destruct (Nat.ltb_spec i n) as [L|L]; [|discriminate]. intros [= <-]. split; auto.
  destruct H as (_ & H & _). rewrite Nat.sub_0_r in H. apply not_0_IZR. auto.
Qed.

Lemma pivot_none n r k : pivot n r = None -> (k < n)%nat -> reals r k = 0.
Proof.
  unfold pivot, reals. pose proof (pivot_from_ok r 0) as H.
  destruct (pivot_from 0 r) as [i|]; [|intros; rewrite H; auto].
  destruct (Nat.ltb_spec i n) as [L|L]; [discriminate|]. intros _ K.
  destruct H as (_ & _ & H). rewrite H; auto. lia.
Qed.

Lemma nth_times a w k : nth k (List.map (Z.mul a) w) 0%Z = (a * nth k w 0)%Z.
Proof. revert k. induction w as [|x w IH]; intros [|k]; simpl; try lia. apply IH. Qed.

Lemma mix_ok a v b w k : reals (mix a v b w) k = IZR a * reals v k + IZR b * reals w k.
Proof.
  unfold reals. rewrite <- !mult_IZR, <- plus_IZR. f_equal. revert w k.
  induction v as [|x v IH]; intros w k.
  - simpl mix. rewrite nth_times. destruct k; simpl nth; ring.
  - destruct w as [|y w].
    + change (mix a (x :: v) b []) with (List.map (Z.mul a) (x :: v)). rewrite nth_times.
      destruct k; simpl nth; ring.
    + destruct k as [|k]; simpl; auto.
Qed.

Lemma mix_length a v b w n : length v = n -> length w = n -> length (mix a v b w) = n.
Proof.
  intros <-. revert w. induction v as [|x v IH]; intros [|y w] L; try discriminate; auto.
  simpl. f_equal. apply IH. auto.
Qed.

Lemma factor_nonzero r : factor r <> 0%Z.
Proof. unfold factor. destruct (Z.eqb_spec (divisor r) 0); lia. Qed.

Lemma shrink_ok r k : reals r k = IZR (factor r) * reals (shrink r) k.
Proof.
  unfold reals. rewrite <- mult_IZR. f_equal. unfold shrink. pose proof (factor_nonzero r) as N.
  destruct (Z.eqb_spec (factor r) 1) as [->|_]; [ring|].
  destruct (Nat.ltb_spec k (length r)) as [K|K].
  - rewrite (nth_mapped (fun x => x / factor r)%Z _ _ 0%Z) by auto.
    assert (factor r | nth k r 0)%Z as [c E].
    { assert (divisor r | nth k r 0)%Z as D by (apply divisor_divides, nth_In; auto).
      unfold factor. destruct (Z.eqb_spec (divisor r) 0) as [Z|]; auto. exists (nth k r 0)%Z. ring.
      }
    rewrite E. rewrite Z.div_mul by auto. ring.
  - rewrite !nth_overflow; [ring|rewrite map_length; auto|auto].
Qed.

(** What [clear] does, up to a factor. *)
Definition cleared_of (h : list Z) (k0 : nat) (row : nat -> R) (k : nat) : R :=
  reals h k0 * row k - row k0 * reals h k.
Definition scale_of (h : list Z) (k0 : nat) (r : list Z) : R :=
  if (nth k0 r 0 =? 0)%Z then reals h k0 else IZR (factor (uncut h k0 r)).

Lemma clear_ok h k0 r k : cleared_of h k0 (reals r) k = scale_of h k0 r * reals (clear h k0 r) k.
Proof.
  unfold cleared_of, scale_of, clear. destruct (Z.eqb_spec (nth k0 r 0%Z) 0) as [E|_].
  - replace (reals r k0) with 0 by (unfold reals; rewrite E; auto). ring.
  - rewrite <- shrink_ok. unfold uncut. rewrite mix_ok, opp_IZR. unfold reals. ring.
Qed.

Lemma scale_nonzero h k0 r : reals h k0 <> 0 -> scale_of h k0 r <> 0.
Proof.
  intro H. unfold scale_of. destruct (_ =? _)%Z; auto. apply not_0_IZR, factor_nonzero.
Qed.

(** * Independent rows *)

(** What is left of a sum that vanishes, once its first row was cleared away. *)
Lemma cleared_sum n h k0 p ks (g : nat -> list Z) c : (p < n)%nat ->
  (forall j, (j < n)%nat -> c k0 * reals h j + sum_over ks (fun k => c k * reals (g k) j) = 0) ->
  forall j, (j < n)%nat ->
  sum_over ks (fun k => c k * scale_of h p (g k) * reals (clear h p (g k)) j) = 0.
Proof.
  intros L Z j J. pose proof (Z j J) as Zj. pose proof (Z p L) as Zp.
  transitivity (reals h p * sum_over ks (fun k => c k * reals (g k) j) +
    - reals h j * sum_over ks (fun k => c k * reals (g k) p)).
  - rewrite <- !sum_over_times, <- sum_over_plus. apply sum_over_ext. intros k _.
    rewrite Rmult_assoc, <- clear_ok. unfold cleared_of. ring.
  - replace (sum_over ks (fun k => c k * reals (g k) j)) with (- (c k0 * reals h j)) by lra.
    replace (sum_over ks (fun k => c k * reals (g k) p)) with (- (c k0 * reals h p)) by lra. ring.
Qed.

Lemma independent_ok n size : forall ks (g : nat -> list Z) (c : nat -> R),
  independent size n (List.map g ks) = true ->
  (forall j, (j < n)%nat -> sum_over ks (fun k => c k * reals (g k) j) = 0) ->
  forall k, In k ks -> c k = 0.
Proof.
  induction size as [|size IH]; intros [|k0 ks] g c H Z; try discriminate;
    try (intros k K; destruct K; fail).
  simpl in H. destruct (pivot n (g k0)) as [p|] eqn:Pv; [|discriminate].
  apply pivot_some in Pv as [L N]. rewrite map_map in H.
  assert (forall i, In i ks -> c i = 0) as Rest.
  { intros i I. apply (Rmult_eq_reg_r (scale_of (g k0) p (g i))); [|apply scale_nonzero; auto].
    rewrite Rmult_0_l.
    apply (IH ks (fun i => clear (g k0) p (g i)) (fun i => c i * scale_of (g k0) p (g i)) H); auto.
    apply (cleared_sum n _ k0); auto. }
  intros k [<-|K]; auto. specialize (Z p L). unfold sum_over in Z. simpl in Z.
  change (fold_right Rplus 0 (List.map ?f ks)) with (sum_over ks f) in Z.
  rewrite sum_over_zero in Z by (intros i I; rewrite Rest by auto; ring).
  rewrite Rplus_0_r in Z. apply Rmult_integral in Z as [Z|Z]; [auto|tauto].
Qed.

(** * Spans *)

Section Spans.
Variable n : nat.

Lemma spans_add gs : forall u v, spans n gs u -> spans n gs v -> spans n gs (fun k => u k + v k).
Proof.
  induction gs as [|g gs IH]; simpl; intros u v U V.
  - intros k K. rewrite U, V by auto. ring.
  - destruct U as [c U], V as [d V]. exists (c + d). eapply spans_ext; [|exact (IH _ _ U V)].
    intros k _. simpl. ring.
Qed.

Lemma spans_times gs a : forall u, spans n gs u -> spans n gs (fun k => a * u k).
Proof.
  induction gs as [|g gs IH]; simpl; intros u U.
  - intros k K. rewrite U by auto. ring.
  - destruct U as [c U]. exists (a * c). eapply spans_ext; [|exact (IH _ U)]. intros k _. simpl.
    ring.
Qed.

(** Rows may be multiplied by numbers that are not 0. *)
Lemma spans_scaled gs gs' : Forall2 (fun g g' => exists c, forall k, (k < n)%nat -> g k = c * g' k)
  gs gs' -> forall u, spans n gs u -> spans n gs' u.
Proof.
  induction 1 as [|g g' gs gs' [c E] F IH]; simpl; intros u U; auto.
  destruct U as [d U]. exists (d * c). apply IH. eapply spans_ext; [|exact U].
  intros k K. simpl. rewrite E by auto. ring.
Qed.

Section Clear.
Variables (h : list Z) (k0 : nat).
Hypothesis below : (k0 < n)%nat.
Notation clr := (cleared_of h k0).

Lemma spans_cleared gs : forall u, spans n gs u -> spans n (List.map clr gs) (clr u).
Proof.
  induction gs as [|g gs IH]; simpl; intros u U.
  - intros k K. unfold cleared_of. rewrite (U k K), (U k0 below). ring.
  - destruct U as [c U]. exists c. eapply spans_ext; [|exact (IH _ U)]. intros k _.
    unfold cleared_of. ring.
Qed.

(** A row of a span that is cleared away leaves one row less. *)
Lemma spans_less gs : reals h k0 <> 0 -> spans n gs (reals h) ->
  exists gs', length gs = S (length gs') /\ forall u, spans n gs u -> spans n gs' (clr u).
Proof.
  intro N. induction gs as [|g gs IH]; simpl; intro Hs; [exfalso; apply N, Hs; auto|].
  destruct Hs as [c Hs]. destruct (Req_EM_T c 0) as [->|C].
  - destruct IH as (gs' & L & H). { eapply spans_ext; [|exact Hs]. intros k _. simpl. ring. }
    exists (clr g :: gs'). simpl. split; [auto|]. intros u [d U]. exists d.
    eapply spans_ext; [|exact (H _ U)]. intros k _. unfold cleared_of. ring.
  - exists (List.map clr gs). rewrite map_length. split; auto. intros u [d U].
    pose proof (spans_cleared gs _ (spans_add gs _ _ U (spans_times gs (- (d / c)) _ Hs))) as S.
    eapply spans_ext; [|exact S]. intros k _. unfold cleared_of. field. auto.
Qed.

Lemma clear_spans gs r : reals h k0 <> 0 -> spans n gs (clr (reals r)) ->
  spans n gs (reals (clear h k0 r)).
Proof.
  intros N S. eapply spans_ext; [|exact (spans_times gs (/ scale_of h k0 r) _ S)].
  intros k _. simpl. rewrite clear_ok. field. apply scale_nonzero. auto.
Qed.
End Clear.

(** The rows on the kernel are spanned by as many other rows. *)
Lemma on_kernel_ok size : forall kernel rows gs, (length kernel <= size)%nat ->
  Forall (fun r => spans n (List.map reals kernel ++ gs) (reals r)) rows ->
  exists gs', length gs' = length gs /\
    Forall (fun r => spans n gs' (reals r)) (on_kernel size n kernel rows).
Proof.
  induction size as [|size IH]; intros [|h kernel] rows gs L F; simpl in *; eauto; [lia|].
  destruct (pivot n h) as [k0|] eqn:Pv.
  - apply pivot_some in Pv as [K0 N].
    destruct (IH (List.map (clear h k0) kernel) (List.map (clear h k0) rows)
      (List.map (cleared_of h k0) gs)) as (gs' & L' & F').
    + rewrite map_length. lia.
    + apply Forall_map. eapply Forall_impl; [|exact F]. intros r [c S].
      apply clear_spans; auto.
      pose proof (spans_cleared h k0 K0 _ _ S) as S'. rewrite map_app in S'.
      apply spans_scaled with (gs := List.map (cleared_of h k0) (List.map reals kernel) ++
        List.map (cleared_of h k0) gs).
      * apply Forall2_app.
        -- rewrite !map_map. clear. induction kernel as [|r kernel IH]; simpl; constructor; auto.
           exists (scale_of h k0 r). intros k _. apply clear_ok.
        -- clear. induction gs as [|g gs IH]; simpl; constructor; auto. exists 1. intros. ring.
      * eapply spans_ext; [|exact S']. intros k _. unfold cleared_of. ring.
    + exists gs'. rewrite L', map_length. auto.
  - apply IH; [lia|]. eapply Forall_impl; [|exact F]. intros r [c S].
    eapply spans_ext; [|exact S]. intros k K. simpl. rewrite (pivot_none n h k Pv K). ring.
Qed.

Lemma some_pivot_ok rows h k : some_pivot n rows = Some (h, k) -> In h rows /\ pivot n h = Some k.
Proof.
  induction rows as [|r rows IH]; simpl; [discriminate|]. destruct (pivot n r) as [i|] eqn:E.
  - intros [= <- <-]. auto.
  - intro H. destruct (IH H). auto.
Qed.

(** Rows that [j] rows span have no rank of more than [j]. *)
Lemma rank_above_ok j : forall gs rows, (length gs <= j)%nat ->
  Forall (fun r => spans n gs (reals r)) rows -> rank_above j n rows = false.
Proof.
  induction j as [|j IH]; intros gs rows L F; simpl;
    destruct (some_pivot n rows) as [[h k]|] eqn:E; auto;
    apply some_pivot_ok in E as [I Pv]; apply pivot_some in Pv as [K N];
    pose proof F as F'; rewrite Forall_forall in F'; specialize (F' h I).
  - exfalso. destruct gs; [|simpl in L; lia]. apply N. apply F'. auto.
  - destruct (spans_less h k K gs N F') as (gs' & L' & H). apply (IH gs'); [lia|].
    apply Forall_map. eapply Forall_impl; [|exact F]. intros r S. apply clear_spans; auto.
Qed.

(** Some entries of rows that are spanned. *)
Lemma spans_select (places : list nat) gs : Forall (fun k => (k < n)%nat) places ->
  forall u, spans n gs u -> spans (length places)
    (List.map (fun g k => g (nth k places 0%nat)) gs) (fun k => u (nth k places 0%nat)).
Proof.
  intro F. induction gs as [|g gs IH]; simpl; intros u U.
  - intros k K. apply U. rewrite Forall_forall in F. apply F, nth_In. auto.
  - destruct U as [c U]. exists c. exact (IH _ U).
Qed.
End Spans.

(** * Rows that are no multiples of each other *)

Lemma differ_ok s a b : Forall2 (fun x y => IZR y = s * IZR x) a b -> differ a b = false.
Proof.
  induction 1 as [|x y a b E H IH]; auto. simpl. destruct (Z.eqb_spec x 0) as [->|N].
  - rewrite Rmult_0_r in E. apply eq_IZR in E. subst. simpl. auto.
  - clear IH N. induction H as [|u v a b F H IH]; auto. simpl. rewrite IH, orb_false_r.
    apply negb_false_iff, Z.eqb_eq, eq_IZR. rewrite !mult_IZR, E, F. ring.
Qed.

Lemma all_differ_ok rs i j : all_differ rs = true -> (i < j)%nat -> (j < length rs)%nat ->
  differ (nth i rs []) (nth j rs []) = true.
Proof.
  revert i j. induction rs as [|a rs IH]; simpl; intros i j H L J; [lia|].
  apply andb_prop in H as [H1 H2]. destruct j as [|j]; [lia|]. destruct i as [|i].
  - rewrite forallb_forall in H1. apply H1, nth_In. lia.
  - apply IH; auto; lia.
Qed.

Lemma is_nonzero_ok l : is_nonzero l = true -> exists k, (k < length l)%nat /\ nth k l 0%Z <> 0%Z.
Proof.
  intro H. apply existsb_exists in H as (x & I & N). apply negb_true_iff, Z.eqb_neq in N.
  apply (In_nth _ _ 0%Z) in I as (k & K & E). exists k. rewrite E. auto.
Qed.

Lemma forall2_of_nth (P : Z -> Z -> Prop) a : forall b, length a = length b ->
  (forall k, (k < length a)%nat -> P (nth k a 0%Z) (nth k b 0%Z)) -> Forall2 P a b.
Proof.
  induction a as [|x a IH]; intros [|y b] L H; try discriminate; constructor.
  - apply (H 0%nat). simpl. lia.
  - injection L as L. apply IH; auto. intros k K. apply (H (S k)). simpl. lia.
Qed.
