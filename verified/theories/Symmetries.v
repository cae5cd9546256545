(** What supports the definition of related networks: a network is related to itself, and related
    networks compute the same function. No verdict depends on this file. *)
Require Import ZArith Reals List Bool Lra Lia Permutation.
From Coq Require Import FinFun.
From PolyreluVerified Require Import Networks Numbers Stacks Related Invariants Generic.
Import ListNotations.
Open Scope R_scope.

Theorem related_refl inputs n : related inputs n n.
Proof.
  split; [repeat split; auto|]. exists (fun _ i => i), (fun _ _ => 1).
  split; [|split; [|split]].
  - intros l _. split; [intros i I; auto|intros i j _ _ E; auto].
  - intros. lra.
  - intros. split; auto.
  - intros l i _ _. split; [lra|]. intros j _. field.
Qed.

Lemma dot_sum w u m : length w = m -> length u = m ->
  dot w u = sum m (fun j => IZR (nth j w 0%Z) * nth j u 0).
Proof.
  revert w u. induction m as [|m IH]; intros [|c w] [|x u]; try discriminate; [reflexivity|].
  intros [= L] [= M]. change (dot (c :: w) (x :: u)) with (IZR c * x + dot w u).
  rewrite (IH w u L M). unfold sum, sum_over. simpl. f_equal.
  rewrite <- seq_shift, map_map. reflexivity.
Qed.

Lemma sum_over_permutation l l' f : Permutation l l' -> sum_over l f = sum_over l' f.
Proof. unfold sum_over. induction 1; simpl; lra. Qed.

Lemma sum_permuted m f place : bFun m place -> bInjective m place ->
  sum m (fun j => f (place j)) = sum m f.
Proof.
  intros F I. unfold sum. symmetry.
  assert (Permutation (seq 0 m) (List.map place (seq 0 m))) as P.
  { pose proof (permuted 0%nat (seq 0 m) place) as Q. rewrite seq_length in Q. specialize (Q F I).
    replace (List.map place (seq 0 m))
      with (List.map (fun j => nth (place j) (seq 0 m) 0%nat) (seq 0 m)); auto.
    apply map_ext_in. intros j J. apply in_seq in J. rewrite seq_nth; auto. apply F. lia. }
  rewrite (sum_over_permutation _ _ f P). unfold sum_over. rewrite map_map. reflexivity.
Qed.

Section Layers.
Variables (place : nat -> nat -> nat) (scale : nat -> nat -> R).
Hypothesis positive : forall l i, 0 < scale l i.

(** Activations of a layer of two related networks. *)
Definition moved_numbers (l m : nat) (u u' : list R) : Prop :=
  length u = m /\ length u' = m /\ bFun m (place l) /\ bInjective m (place l) /\
  forall j, (j < m)%nat -> nth j u' 0 = scale l j * nth (place l j) u 0.

Lemma nth_affine p u i : (i < length (rows p))%nat ->
  nth i (affine p u) 0 = dot (fst (nth i (rows p) no_row)) u / IZR (over p) + shift p i.
Proof.
  intro I. unfold affine. rewrite (nth_map_row (fun r => value r u / IZR (over p)) 0) by auto.
  unfold value, shift. lra.
Qed.

Lemma affine_moved l m p q u u' : linked place scale (S l) m p q ->
  (0 < over p)%Z -> Forall (fun r => length (fst r) = m) (rows p) ->
  (0 < over q)%Z -> Forall (fun r => length (fst r) = m) (rows q) ->
  moved_numbers l m u u' -> moved_numbers (S l) (length (rows p)) (affine p u) (affine q u').
Proof.
  intros (N & B & J & H) P F Q G (U & U' & Bl & Jl & M).
  split; [apply affine_length|]. split; [rewrite affine_length; auto|]. split; [auto|].
  split; [auto|].
  intros i I. pose proof (B i I) as I'. destruct (H i I) as [Hb Hw].
  rewrite !nth_affine by (auto; congruence). rewrite Hb, Rmult_plus_distr_l. f_equal.
  rewrite Forall_forall in F, G. apply IZR_lt in P, Q.
  rewrite (dot_sum _ _ m) by (auto; apply G, nth_In; congruence).
  rewrite (dot_sum _ u m) by (auto; apply F, nth_In; auto).
  rewrite <- (sum_permuted m (fun j =>
    IZR (nth j (fst (nth (place (S l) i) (rows p) no_row)) 0%Z) * nth j u 0) (place l) Bl Jl).
  unfold Rdiv.
  rewrite (Rmult_comm (sum m _) (/ IZR (over q))), (Rmult_comm (sum m _) (/ IZR (over p))).
  rewrite <- Rmult_assoc, <- !sum_times. apply sum_ext. intros j Hj. specialize (Hw j Hj).
  unfold entry in Hw.
  simpl in Hw. rewrite M by auto. pose proof (positive l j).
  replace (/ IZR (over q) * (IZR (nth j (fst (nth i (rows q) no_row)) 0%Z) * (scale l j * nth
    (place l j) u 0)))
    with (IZR (nth j (fst (nth i (rows q) no_row)) 0%Z) / IZR (over q) * scale l j * nth (place l
      j) u 0)
    by (field; lra).
  rewrite Hw. field. lra.
Qed.

Lemma active_moved l m p q u u' : moved_numbers l m (affine p u) (affine q u') ->
  moved_numbers l m (active p u) (active q u').
Proof.
  intros (U & U' & B & J & M). unfold active. repeat split; rewrite ?map_length; auto. intros j Hj.
  assert (forall v k, (k < length v)%nat -> nth k (List.map relu v) 0 = relu (nth k v 0)) as K.
  { intros v k L. rewrite nth_indep with (d' := relu 0) by (rewrite map_length; auto).
    apply map_nth. }
  rewrite !K by (rewrite ?U, ?U'; auto). rewrite M by auto. apply relu_scale, Rlt_le, positive.
Qed.

Lemma linked_compute s : forall l m t u u' last_relu,
  linked_stacks place scale l m s t -> fits m s -> fits m t -> s <> [] -> moved_numbers l m u u' ->
  compute t last_relu u' = compute s last_relu u.
Proof.
  induction s as [|p s IH]; intros l m t u u' last_relu L F G N M; [tauto|].
  destruct t as [|q t]; simpl in L; [tauto|].
  destruct L as (L & E & R), F as (P1 & P2 & P3), G as (Q1 & Q2 & Q3).
  pose proof (affine_moved l m p q u u' L P1 P2 Q1 Q2 M) as A.
  pose proof (active_moved (S l) _ p q u u' A) as C. rewrite <- (proj1 L) in Q3.
  destruct s as [|p2 s]; destruct t as [|q2 t]; try (simpl in R; tauto).
  - simpl. specialize (E eq_refl).
    assert (forall v v', moved_numbers (S l) (length (rows p)) v v' -> v' = v) as Same.
    { intros v v' (V & V' & _ & _ & W). apply (nth_ext _ _ 0 0); [congruence|]. intros j J.
      rewrite W by congruence. destruct (E j) as [-> ->]. lra. }
    destruct last_relu; apply Same; auto.
  - apply (IH (S l) (length (rows p)) (q2 :: t) (active p u) (active q u') last_relu); auto.
    discriminate.
Qed.
End Layers.

Theorem related_computes m one two s t x : stack_of m one = Some s -> stack_of m two = Some t ->
  related m one two -> length x = m -> eval two x = eval one x.
Proof.
  intros S T R X. destruct (related_linked m one two s t S T R)
    as (place & scale & P & L & E & B & J).
  destruct R as ((_ & Last & _) & _).
  rewrite (stack_of_ok _ _ _ x S), (stack_of_ok _ _ _ x T), <- Last.
  apply (linked_compute place scale P s 0 m); auto.
  - eapply stack_of_fits; eauto.
  - eapply stack_of_fits; eauto.
  - apply (stack_of_layers _ _ _ S).
  - repeat split; auto. intros j _. destruct (E j) as [-> ->]. lra.
Qed.
