(** The cells of a network, point by point (docs/theory/cells.md): a foundation, which supports no
    verdict.

    [same_signs_iff] is Statement 1: where all neurons have the signs that they have at x is where
    the affine functions do that keep the neurons which are active at x; and there they are the
    neurons. [cells_convex] is the first half of Statement 2, and [faces] the part of Statement 4
    that is about segments; Neighbourhoods.v has what follows near a point. Any skip connections are
    allowed, and nothing is assumed to be generic. *)
Require Import ZArith Reals List Bool Lra Lia.
From PolyreluVerified Require Import Networks Numbers.
Import ListNotations.
Open Scope R_scope.

(** * Statements *)

(** The preactivations of the layers [ls], after layers with the activations [acts]. *)
Fixpoint preactivations (ls : list layer) (acts : list (list R)) : list (list R) :=
  match ls with
  | [] => []
  | l :: ls' =>
      let z := List.map (pre acts (den l)) (neurons l) in
      z :: preactivations ls' (acts ++ [List.map relu z])
  end.

(** -1, 0 or 1. *)
Definition sign (z : R) : Z :=
  if Rlt_dec 0 z then 1%Z else if Rlt_dec z 0 then (-1)%Z else 0%Z.
Definition signs (zs : list (list R)) : list (list Z) := List.map (List.map sign) zs.

(** What a neuron hands on if exactly the neurons with sign 1 are kept. *)
Fixpoint keep (s : list Z) (z : list R) : list R :=
  match s, z with
  | e :: s', a :: z' => (if (e =? 1)%Z then a else 0) :: keep s' z'
  | _, _ => []
  end.

(** The preactivations if exactly the neurons with sign 1 are kept. *)
Fixpoint kept (s : list (list Z)) (ls : list layer) (acts : list (list R)) : list (list R) :=
  match s, ls with
  | e :: s', l :: ls' =>
      let z := List.map (pre acts (den l)) (neurons l) in
      z :: kept s' ls' (acts ++ [keep e z])
  | _, _ => []
  end.

Section Cells.
Variable ls : list layer.  (* the hidden layers *)

Definition sign_vector (x : list R) : list (list Z) := signs (preactivations ls [x]).

(** The functions g of the page, for the neurons that are active at [x]. *)
Definition kept_at (x y : list R) : list (list R) := kept (sign_vector x) ls [y].

(** The point at [t] between two points. *)
Fixpoint between (t : R) (x y : list R) : list R :=
  match x, y with a :: x', b :: y' => ((1 - t) * a + t * b) :: between t x' y' | _, _ => [] end.
Fixpoint all_between (t : R) (x y : list (list R)) : list (list R) :=
  match x, y with a :: x', b :: y' => between t a b :: all_between t x' y' | _, _ => [] end.

(** A sign of a face is 0 or the sign of the cell. *)
Definition is_face (face cell : list (list Z)) : Prop :=
  Forall2 (Forall2 (fun e f => e = 0%Z \/ e = f)) face cell.
End Cells.

(** * Proofs *)

Lemma sign_spec z :
  (0 < z /\ sign z = 1%Z) \/ (z < 0 /\ sign z = (-1)%Z) \/ (z = 0 /\ sign z = 0%Z).
Proof.
  unfold sign. destruct (Rlt_dec 0 z); [auto|]. destruct (Rlt_dec z 0); [auto|]. right. right.
  split; [lra|auto].
Qed.

Lemma keep_relu z : forall s, List.map sign z = s -> keep s z = List.map relu z.
Proof.
  induction z as [|a z IH]; intros s <-; auto. cbn [List.map keep]. f_equal; auto.
  destruct (sign_spec a) as [[A ->]|[[A ->]|[A ->]]]; simpl.
  - rewrite relu_pos; lra.
  - rewrite relu_neg; lra.
  - rewrite relu_neg; lra.
Qed.

Lemma same_signs_general ls : forall ax ay, let s := signs (preactivations ls ax) in
  (signs (preactivations ls ay) = s <-> signs (kept s ls ay) = s) /\
  (signs (kept s ls ay) = s -> preactivations ls ay = kept s ls ay).
Proof.
  induction ls as [|l ls IH]; intros ax ay; simpl; [tauto|].
  set (zx := List.map (pre ax (den l)) (neurons l)).
  set (zy := List.map (pre ay (den l)) (neurons l)).
  destruct (IH (ax ++ [List.map relu zx]) (ay ++ [List.map relu zy])) as [I1 I2].
  assert (List.map sign zy = List.map sign zx ->
    keep (List.map sign zx) zy = List.map relu zy) as K by (intro E; apply keep_relu; auto).
  split; [split|].
  - intros [= E F]. rewrite K, E by auto. f_equal. apply I1. auto.
  - intros [= E F]. rewrite K in F by auto. rewrite E. f_equal. apply I1. auto.
  - intros [= E F]. rewrite K in * by auto. f_equal. apply I2. auto.
Qed.

(** Statement 1. *)
Theorem same_signs_iff ls x y :
  (sign_vector ls y = sign_vector ls x <-> signs (kept_at ls x y) = sign_vector ls x) /\
  (sign_vector ls y = sign_vector ls x -> preactivations ls [y] = kept_at ls x y).
Proof.
  destruct (same_signs_general ls [x] [y]) as [I1 I2]. split; [exact I1|].
  intro H. apply I2, I1, H.
Qed.

(** ** The kept functions are affine *)

Lemma dot_between t w : forall u v, length u = length v ->
  dot w (between t u v) = (1 - t) * dot w u + t * dot w v.
Proof.
  induction w as [|c w IH]; intros [|a u] [|b v] L; try discriminate; simpl; try ring.
  injection L as L. rewrite IH by auto. ring.
Qed.

Lemma nth_all_between t k : forall a b, Forall2 (fun u v : list R => length u = length v) a b ->
  nth k (all_between t a b) [] = between t (nth k a []) (nth k b []) /\
  length (nth k a []) = length (nth k b []).
Proof.
  induction k as [|k IH]; intros a b F; destruct F; simpl; auto.
Qed.

Lemma pre_between t d n a b : Forall2 (fun u v : list R => length u = length v) a b ->
  pre (all_between t a b) d n = (1 - t) * pre a d n + t * pre b d n.
Proof.
  intro F. unfold pre.
  assert (sum_rows (all_between t a b) (snd n) =
    (1 - t) * sum_rows a (snd n) + t * sum_rows b (snd n)) as ->; [|unfold Rdiv; ring].
  unfold sum_rows. induction (snd n) as [|[k w] rows IH]; simpl; [ring|]. rewrite IH.
  destruct (nth_all_between t k a b F) as [-> L]. rewrite dot_between by auto. ring.
Qed.

Lemma map_between {A} t (f g h : A -> R) l : (forall n, h n = (1 - t) * f n + t * g n) ->
  List.map h l = between t (List.map f l) (List.map g l).
Proof. intro H. induction l as [|n l IH]; simpl; auto. rewrite H, IH. auto. Qed.

Lemma keep_between t s : forall u v,
  keep s (between t u v) = between t (keep s u) (keep s v).
Proof.
  induction s as [|e s IH]; intros [|a u] [|b v]; simpl; auto.
  rewrite IH. f_equal. destruct (e =? 1)%Z; ring.
Qed.

Lemma keep_length s : forall u v : list R, length u = length v ->
  length (keep s u) = length (keep s v).
Proof.
  induction s as [|e s IH]; intros [|a u] [|b v]; simpl; try discriminate; auto.
Qed.

Lemma all_between_app t a b u v : length a = length b ->
  all_between t a b ++ [between t u v] = all_between t (a ++ [u]) (b ++ [v]).
Proof.
  revert b. induction a as [|x a IH]; intros [|y b] L; try discriminate; simpl; auto.
  injection L as L. rewrite IH; auto.
Qed.

Lemma kept_between t ls : forall s a b,
  Forall2 (fun u v : list R => length u = length v) a b ->
  kept s ls (all_between t a b) = all_between t (kept s ls a) (kept s ls b).
Proof.
  induction ls as [|l ls IH]; intros [|e s] a b F; simpl; auto.
  rewrite (map_between t (pre a (den l)) (pre b (den l)))
    by (intro; apply pre_between; auto). f_equal.
  rewrite keep_between, all_between_app by (clear - F; induction F; simpl; auto). apply IH.
  apply Forall2_app; auto. constructor; auto. apply keep_length. rewrite !map_length. auto.
Qed.

Theorem kept_affine ls x t y z : length y = length z ->
  kept_at ls x (between t y z) = all_between t (kept_at ls x y) (kept_at ls x z).
Proof.
  intro L. unfold kept_at. rewrite <- kept_between by (constructor; auto). auto.
Qed.

(** ** Segments *)

Lemma sign_between t a b f : 0 <= t < 1 -> sign a = f -> sign b = 0%Z \/ sign b = f ->
  sign ((1 - t) * a + t * b) = f.
Proof.
  intros T <- H. set (c := (1 - t) * a + t * b).
  destruct (sign_spec a) as [[A Ea]|[[A Ea]|[A Ea]]]; rewrite Ea in *;
    destruct (sign_spec b) as [[B Eb]|[[B Eb]|[B Eb]]]; rewrite Eb in H;
    try (destruct H; discriminate);
    destruct (sign_spec c) as [[C ->]|[[C ->]|[C ->]]]; auto; exfalso; unfold c in C; nra.
Qed.

Lemma signs_between t s : 0 <= t < 1 -> forall a b, signs a = s ->
  is_face (signs b) s -> signs (all_between t a b) = s.
Proof.
  intro T. assert (forall u v e, List.map sign u = e ->
    Forall2 (fun e f => e = 0%Z \/ e = f) (List.map sign v) e ->
    List.map sign (between t u v) = e) as Row.
  { induction u as [|a u IH]; intros [|b v] e <- F; simpl in *; inversion F; subst; auto.
    f_equal; auto. apply sign_between; auto. }
  induction s as [|e s IH]; intros [|u a] [|v b] E F; simpl in *; try discriminate; auto;
    inversion F; subst. injection E as E1 E2. f_equal; auto.
Qed.

Lemma face_refl s : is_face s s.
Proof.
  induction s as [|e s IH]; constructor; auto. clear IH. induction e; constructor; auto.
Qed.

(** At a point whose signs are 0 or those of [q], the functions kept at [q] are the neurons. *)
Lemma face_kept ls : forall aq ap, let s := signs (preactivations ls aq) in
  is_face (signs (preactivations ls ap)) s -> preactivations ls ap = kept s ls ap.
Proof.
  induction ls as [|l ls IH]; intros aq ap; simpl; auto. intro F. inversion F; subst.
  f_equal. set (zp := List.map (pre ap (den l)) (neurons l)) in *.
  assert (forall z e, Forall2 (fun e f => e = 0%Z \/ e = f) (List.map sign z) e ->
    keep e z = List.map relu z) as K.
  { induction z as [|a z IHz]; intros e G; simpl in G; inversion G; subst; auto. simpl. f_equal;
      auto. destruct (sign_spec a) as [[A Ea]|[[A Ea]|[A Ea]]]; rewrite Ea in *.
    - match goal with H : _ \/ _ |- _ => destruct H as [H|H]; [discriminate|] end. subst.
      rewrite relu_pos; [auto|lra].
    - match goal with H : _ \/ _ |- _ => destruct H as [H|H]; [discriminate|] end. subst.
      rewrite relu_neg; [auto|lra].
    - rewrite A, relu_neg by lra. destruct (y =? 1)%Z; auto. }
  rewrite K by auto. apply IH. auto.
Qed.

(** Statement 4, for segments: from [q] to a point [p] of a face, all points but [p] have the signs
    of [q]. So [p] is a limit of points of the cell of [q]. *)
Theorem faces ls p q t : length p = length q -> is_face (sign_vector ls p) (sign_vector ls q) ->
  0 <= t < 1 -> sign_vector ls (between t q p) = sign_vector ls q.
Proof.
  intros L F T. apply same_signs_iff. rewrite kept_affine by auto. apply signs_between; auto.
  - apply same_signs_iff. auto.
  - unfold kept_at, sign_vector. rewrite <- face_kept; auto.
Qed.

(** Statement 2, first half: a cell contains the segments between its points. *)
Theorem cells_convex ls x y z t : length y = length z -> 0 <= t < 1 ->
  sign_vector ls y = sign_vector ls x -> sign_vector ls z = sign_vector ls x ->
  sign_vector ls (between t y z) = sign_vector ls x.
Proof.
  intros L T Y Z. rewrite <- Y. apply faces; auto. rewrite Y, Z. apply face_refl.
Qed.
