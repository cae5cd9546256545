(** Real numbers, the ReLU, and rational numbers as numbers of R. *)
Require Import ZArith NArith QArith Qreals Reals List Bool Lra Lia Psatz.
From PolyreluVerified Require Import Networks Maps.
Import ListNotations.
Open Scope R_scope.

(** * The ReLU *)

Lemma relu_pos x : 0 <= x -> relu x = x.
Proof. intro; unfold relu; apply Rmax_left; auto. Qed.

Lemma relu_neg x : x <= 0 -> relu x = 0.
Proof. intro; unfold relu; apply Rmax_right; auto. Qed.

Lemma relu_scale g x : 0 <= g -> relu (g * x) = g * relu x.
Proof.
  intro; unfold relu. destruct (Rle_lt_dec 0 x). rewrite !Rmax_left; nra. rewrite !Rmax_right; nra.
Qed.

Lemma relu_flip x : relu x = x + relu (- x).
Proof.
  unfold relu. destruct (Rle_lt_dec 0 x). rewrite Rmax_left, Rmax_right; lra.
  rewrite Rmax_right, Rmax_left; lra.
Qed.

Lemma relu_ge0 x : 0 <= relu x.
Proof. apply Rmax_r. Qed.

Lemma relu_above x s : 0 <= s <= 1 -> s * x <= relu x.
Proof.
  intro S. destruct (Rle_lt_dec 0 x). rewrite relu_pos; nra. rewrite relu_neg; nra.
Qed.

(** * Signs: [true] is [>= 0], [false] is [<= 0] *)

Definition signed (b : bool) (x : R) := if b then 0 <= x else x <= 0.

Lemma signed_add b x y : signed b x -> signed b y -> signed b (x + y).
Proof.
  destruct b; simpl; lra.
Qed.

(** * Rational numbers *)

Definition qmax (a b : Q) : Q := if Qle_bool a b then b else a.

Lemma qmax_l a b : Q2R a <= Q2R (qmax a b).
Proof.
  unfold qmax. destruct (Qle_bool a b) eqn:E; [|lra]. apply Qle_bool_iff, Qle_Rle in E; auto.
Qed.

Lemma qmax_r a b : Q2R b <= Q2R (qmax a b).
Proof.
  unfold qmax. destruct (Qle_bool a b) eqn:E; [lra|]. assert (b <= a)%Q as F.
  { apply Qlt_le_weak, Qnot_le_lt. rewrite <- Qle_bool_iff, E. discriminate. }
  apply Qle_Rle in F; auto.
Qed.

Lemma qmax_least a b x : Q2R a <= x -> Q2R b <= x -> Q2R (qmax a b) <= x.
Proof.
  unfold qmax.
  destruct (Qle_bool a b); auto.
Qed.

Lemma Q2R_red q : Q2R (Qred q) = Q2R q.
Proof. apply Qeq_eqR, Qred_correct. Qed.

Lemma Q2R_num q : IZR (Zpos (Qden q)) * Q2R q = IZR (Qnum q).
Proof.
  unfold Q2R. field. apply not_0_IZR. lia.

Qed.

Lemma Q2R_Z z : Q2R (inject_Z z) = IZR z.
Proof. unfold Q2R, inject_Z; simpl. field. Qed.

Lemma qle a b : Qle_bool a b = true -> Q2R a <= Q2R b.
Proof.
  intro H.
  apply Qle_Rle, Qle_bool_iff; auto.
Qed.

Lemma Q2R_0 : Q2R 0 = 0.
Proof. unfold Q2R; simpl; lra. Qed.

Lemma Q2R_1 : Q2R 1 = 1.
Proof. unfold Q2R; simpl; lra. Qed.

Definition qmin (a b : Q) : Q := if Qle_bool a b then a else b.

Lemma qmin_least a b x : x <= Q2R a -> x <= Q2R b -> x <= Q2R (qmin a b).
Proof.
  unfold qmin.
  destruct (Qle_bool a b); auto.
Qed.

Lemma scaled_step c D q y z : (0 < D)%Z -> IZR D * z = IZR c * (Q2R q * y) -> IZR
  (D * Zpos (Qden q)) * z = IZR (c * Qnum q) * y.
Proof.
  intros P E. rewrite !mult_IZR, <- Q2R_num.
  replace (IZR D * IZR (Z.pos (Qden q)) * z) with (IZR (Z.pos (Qden q)) * (IZR D * z)) by ring.
  rewrite E. ring.
Qed.

(** A table of lower bounds with one more bound. *)
Definition raise (s : N) (q : Q) (m : nmap Q) :=
  nadd s (match nfind s m with Some p => qmax p q | None => q end) m.

Lemma raise_ok (P : N -> Q -> Prop) s q m : (forall a b, P s a -> P s b -> P s (qmax a b)) -> all P
  m -> P s q -> all P (raise s q m).
Proof.
  intros C M Q. unfold raise. apply nall_add; auto. destruct (nfind s m) eqn:F; auto. apply C; auto.
  apply (nall_find _ _ _ _ M F).
Qed.

(** * Lists *)

(** Go on with a result, if there is one. *)
Notation "'let?' x := e 'in' k" :=
  (match e with Some x => k | None => None end) (at level 200, x pattern, right associativity).

(** All results, if there are any for all entries. *)
Fixpoint mapo {A B} (f : A -> option B) l :=
  match l with
  | [] => Some []
  | a :: l' => let? b := f a in let? m := mapo f l' in Some (b :: m)
  end.

Lemma mapo_ok {A B} (f : A -> option B) l m : mapo f l = Some m -> Forall2 (fun a b => f a = Some b)
  l m.
Proof.
  revert m; induction l as [|a l IH]; simpl; intro m. { intros [= <-]; constructor. }
  destruct (f a) eqn:E; [|discriminate]. destruct (mapo f l); [|discriminate].
  intros [= <-]; constructor; auto.
Qed.

Lemma nth_tl {X} (A : list (list X)) k : (k <> 0)%nat -> nth k A [] = nth (pred k) (tl A) [].
Proof.
  destruct k; [tauto|]. destruct A; simpl; auto. destruct k; auto.
Qed.

Lemma Forall2_left {X Y} (P : X -> Y -> Prop) (Q : X -> Prop) (R : Y -> Prop) l m : Forall2 P l m ->
  (forall a b, P a b -> Q a -> R b) -> Forall Q l -> Forall R m.
Proof.
  intros H I; induction H; intro F; inversion F; subst; constructor; eauto.
Qed.

