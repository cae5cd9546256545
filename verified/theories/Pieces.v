(** Functions on [0, 1] that are affine on each of finitely many intervals. *)
Require Import Reals List Lra Lia.
From PolyreluVerified Require Import Networks Numbers.
Import ListNotations.
Open Scope R_scope.

(** * Intervals that are made of intervals with a property *)

Inductive pieces (P : R -> R -> Prop) : R -> R -> Prop :=
| piece a b : a < b -> P a b -> pieces P a b
| join a m b : pieces P a m -> pieces P m b -> pieces P a b.

(** The property holds on all parts of an interval on which it holds. *)
Definition hereditary (P : R -> R -> Prop) : Prop :=
  forall a b c d, a <= c -> c < d -> d <= b -> P a b -> P c d.

Lemma pieces_less P a b : pieces P a b -> a < b.
Proof. induction 1; lra. Qed.

Lemma pieces_part P a b : hereditary P -> pieces P a b ->
  forall c d, a <= c -> c < d -> d <= b -> pieces P c d.
Proof.
  intros H. induction 1 as [a b L Q|a m b F IHF G IHG]; intros c d A B C.
  { apply piece; auto. apply (H a b); auto. }
  destruct (Rle_lt_dec d m); [apply IHF; lra|]. destruct (Rle_lt_dec m c); [apply IHG; lra|].
  apply join with m; [apply IHF|apply IHG]; lra.
Qed.

Lemma pieces_imp (P P' : R -> R -> Prop) a b : pieces P a b ->
  (forall c d, a <= c -> c < d -> d <= b -> P c d -> pieces P' c d) -> pieces P' a b.
Proof.
  induction 1 as [a b L Q|a m b F IHF G IHG]; intro H. { apply H; auto; lra. }
  pose proof (pieces_less _ _ _ F). pose proof (pieces_less _ _ _ G).
  apply join with m; [apply IHF|apply IHG]; intros; apply H; auto; lra.
Qed.

Lemma pieces_both P P' a b : hereditary P -> hereditary P' -> pieces P a b -> pieces P' a b ->
  pieces (fun c d => P c d /\ P' c d) a b.
Proof.
  intros H H'. induction 1 as [a b L Q|a m b F IHF G IHG]; intro K.
  - apply (pieces_imp _ _ _ _ K). intros c d A B C D. apply piece; auto. split; auto.
    apply (H a b); auto.
  - pose proof (pieces_less _ _ _ F). pose proof (pieces_less _ _ _ G).
    apply join with m; [apply IHF|apply IHG]; apply (pieces_part _ a b H' K); lra.
Qed.

(** * Functions *)

Definition affine (f : R -> R) (a b : R) : Prop :=
  exists p q, forall t, a <= t <= b -> f t = p + q * t.

(** Affine, and nowhere negative or nowhere positive. *)
Definition one_sided (f : R -> R) (a b : R) : Prop :=
  affine f a b /\
  ((forall t, a <= t <= b -> 0 <= f t) \/ (forall t, a <= t <= b -> f t <= 0)).

Definition tame (f : R -> R) : Prop := pieces (affine f) 0 1.

Lemma affine_part f : hereditary (affine f).
Proof. intros a b c d A B C (p & q & E). exists p, q. intros t T. apply E. lra. Qed.

Lemma one_sided_part f : hereditary (one_sided f).
Proof.
  intros a b c d A B C [F [G|G]]; (split; [apply (affine_part f a b); auto|]); [left|right];
    intros; apply G; lra.
Qed.

Lemma tame_affine f p q : (forall t, f t = p + q * t) -> tame f.
Proof. intro E. apply piece; [lra|]. exists p, q. auto. Qed.

Lemma tame_const c : tame (fun _ => c).
Proof. apply (tame_affine _ c 0). intro; ring. Qed.

Lemma tame_eq (f g : R -> R) : (forall t, f t = g t) -> tame f -> tame g.
Proof.
  intros E F. apply (pieces_imp _ _ _ _ F). intros c d _ L _ (p & q & H). apply piece; auto.
  exists p, q. intros. rewrite <- E. auto.
Qed.

Lemma tame_plus f g : tame f -> tame g -> tame (fun t => f t + g t).
Proof.
  intros F G. apply (pieces_imp _ _ _ _ (pieces_both _ _ _ _ (affine_part f) (affine_part g) F G)).
  intros c d _ L _ ((p & q & H) & p' & q' & H'). apply piece; auto. exists (p + p'), (q + q').
  intros t T. rewrite H, H' by auto. ring.
Qed.

Lemma tame_scal f c : tame f -> tame (fun t => c * f t).
Proof.
  intro F. apply (pieces_imp _ _ _ _ F). intros a b _ L _ (p & q & H). apply piece; auto.
  exists (c * p), (c * q). intros t T. rewrite H by auto. ring.
Qed.

(** A zero inside an interval divides it. *)
Lemma sides f a b : pieces (affine f) a b -> pieces (one_sided f) a b.
Proof.
  intro F. apply (pieces_imp _ _ _ _ F). intros c d _ L _ (p & q & H).
  assert (forall c' d', c <= c' -> c' < d' -> d' <= d -> 0 <= f c' * f d' ->
    pieces (one_sided f) c' d') as K.
  { intros c' d' C' L' D' S. apply piece; auto. split.
    { exists p, q. intros. apply H. lra. }
    rewrite !H in S by lra.
    destruct (Rle_lt_dec 0 (p + q * c')) as [A|A], (Rle_lt_dec 0 (p + q * d')) as [B|B].
    - left. intros t T. rewrite H by lra. nra.
    - right. intros t T. rewrite H by lra. assert (p + q * c' = 0) by nra. nra.
    - right. intros t T. rewrite H by lra. assert (p + q * d' = 0) by nra. nra.
    - right. intros t T. rewrite H by lra. nra. }
  destruct (Rle_lt_dec 0 (f c * f d)) as [S|S]; [apply K; lra|].
  pose proof S as S'. rewrite !H in S' by lra.
  assert (q <> 0) as Q by (intros ->; nra). set (m := - p / q).
  assert (p + q * m = 0) as M by (unfold m; field; auto).
  assert (c < m < d) as I.
  { assert ((p + q * c) * (p + q * d) = q * q * ((c - m) * (d - m))) as E.
    { replace p with (- q * m) by lra. ring. }
    assert (0 < q * q) by nra. assert ((c - m) * (d - m) < 0) as N by nra.
    destruct (Rle_lt_dec m c), (Rle_lt_dec d m); nra. }
  apply join with m; apply K; try lra; rewrite (H m), M by lra; lra.
Qed.

Lemma tame_relu f : tame f -> tame (fun t => relu (f t)).
Proof.
  intro F. apply (pieces_imp _ _ _ _ (sides _ _ _ F)). intros c d _ L _ [(p & q & H) [P|N]];
    apply piece; auto.
  - exists p, q. intros t T. rewrite relu_pos by auto. auto.
  - exists 0, 0. intros t T. rewrite relu_neg by auto. ring.
Qed.

Lemma all_sides (f : nat -> R -> R) n : (forall i, tame (f i)) ->
  pieces (fun a b => forall i, (i < n)%nat -> one_sided (f i) a b) 0 1.
Proof.
  intro T. induction n as [|n IH]. { apply piece; [lra|]. intros i J. lia. }
  assert (hereditary (fun a b => forall i, (i < n)%nat -> one_sided (f i) a b)) as H.
  { intros a b c d A B C K i J. apply (one_sided_part _ a b); auto. }
  pose proof (pieces_both _ _ _ _ H (one_sided_part (f n)) IH (sides _ _ _ (T n))) as P.
  apply (pieces_imp _ _ _ _ P). intros c d _ L _ [K S]. apply piece; auto. intros i J.
  destruct (PeanoNat.Nat.eq_dec i n) as [->|]; auto. apply K. lia.
Qed.

(** The signs at the ends of an interval are those in the middle of it, or 0. *)
Lemma middle f a b : a < b -> one_sided f a b -> let m := f ((a + b) / 2) in
  (f a = 0 \/ 0 < f a /\ 0 < m \/ f a < 0 /\ m < 0) /\
  (f b = 0 \/ 0 < f b /\ 0 < m \/ f b < 0 /\ m < 0).
Proof.
  intros L [(p & q & H) S]. cbv zeta. rewrite !H in * by lra.
  assert ((0 <= f a /\ 0 <= f b) \/ (f a <= 0 /\ f b <= 0)) as K.
  { destruct S as [S|S]; [left|right]; split; apply S; lra. }
  rewrite !H in K by lra.
  destruct (Req_dec (p + q * a) 0), (Req_dec (p + q * b) 0); split; auto; right;
    destruct K as [K|K]; [left|right|left|right|left|right|left|right]; lra.
Qed.
