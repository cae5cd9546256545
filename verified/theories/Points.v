(** Theorem [point]: two networks differ at a point of a domain (claim not-equivalent). *)
Require Import ZArith NArith QArith Qreals Reals List Bool Lra Lia Psatz.
From PolyreluVerified Require Import Maps Networks Domains Numbers LinearForms JointNetwork.
Import ListNotations.
Open Scope R_scope.

(** * Theorem point *)

(** A common denominator. *)
Definition common (x : list Q) : Z := fold_right (fun q s => Z.lcm (Zpos (Qden q)) s) 1%Z x.

(** The numerator of [q] over the denominator [d]. *)
Definition over (d : Z) (q : Q) : option Z :=
  let k := (d / Zpos (Qden q))%Z in
  if (k * Zpos (Qden q) =? d)%Z then Some (k * Qnum q)%Z else None.

Fixpoint zdot (a b : list Z) : Z :=
  match a, b with c :: a', x :: b' => (c * x + zdot a' b')%Z | _, _ => 0%Z end.

(** The point z / d lies in the domain. *)
Definition contains (D : domain) (d : Z) (z : list Z) : bool :=
  forallb (fun r => (zdot (fst r) z <=? d * snd r)%Z) (ineqs D) &&
  forallb (fun r => (zdot (fst r) z =? d * snd r)%Z) (eqs D).

(** The denominator and the numerators of a point of the domain. *)
Definition scaled_point (n : nat) (D : domain) (x : list Q) : option (Z * list Z) :=
  let d := common x in
  let? z := mapo (over d) x in
  if (0 <? d)%Z && Nat.eqb (length x) n && contains D d z then Some (d, z) else None.

(** Constant forms over a denominator have these values. *)
Fixpoint values_are (D : Z) (fs : list form) (qs : list Q) : bool :=
  match fs, qs with
  | [], [] => true
  | f :: fs', q :: qs' =>
      match f with
      | [] => (Qnum q =? 0)%Z
      | [(0%N, c)] => (c * Zpos (Qden q) =? Qnum q * D)%Z
      | _ => false
      end && values_are D fs' qs'
  | _, _ => false
  end.

Fixpoint qs_equal (a b : list Q) : bool :=
  match a, b with
  | [], [] => true
  | p :: a', q :: b' => Qeq_bool p q && qs_equal a' b'
  | _, _ => false
  end.

(** The network has the outputs f at the point z / d: its forms over constant inputs. *)
Definition values_of (n1 : net) (d : Z) (z : list Z) (f : list Q) : bool :=
  let inputs := [(List.map fconst z, d)] in
  match jrun 0 (fun _ _ => None) 1 (layers n1) (relu_last n1) (St 1 [] E []) inputs with
  | Some (t, (fs, D)) => wf_tab 0 (tab t) && values_are D fs f
  | None => false
  end.

Definition check_point (n : nat) (n1 n2 : net) (D : domain) (x f g : list Q) : bool :=
  match scaled_point n D x with
  | None => false
  | Some (d, z) => values_of n1 d z f && values_of n2 d z g && negb (qs_equal f g)
  end.

Lemma scaled_point_ok n D x d z : scaled_point n D x = Some (d, z) -> (0 < d)%Z /\ length x = n /\
  Forall2 (fun c y => IZR c = IZR d * y) z (List.map Q2R x) /\ in_domain D (List.map Q2R x).
Proof.
  unfold scaled_point. destruct (mapo _ _) as [z'|] eqn:M; [|discriminate].
  destruct (Z.ltb_spec 0 (common x)) as [P|]; [|discriminate].
  destruct (Nat.eqb_spec (length x) n) as [L|]; [|discriminate]. cbn [andb].
  destruct (contains D (common x) z') eqn:C; [|discriminate]. intros [= <- <-].
  assert (Forall2 (fun c y => IZR c = IZR (common x) * y) z' (List.map Q2R x)) as F.
  { remember (common x) as d eqn:Ed. clear - M. apply mapo_ok in M.
    induction M as [|q c x z H M IH]; simpl; constructor; auto. unfold over in H.
    destruct (Z.eqb_spec (d / Z.pos (Qden q) * Z.pos (Qden q)) d) as [e|]; [|discriminate].
    injection H as <-. rewrite mult_IZR, <- (Q2R_num q). apply (f_equal IZR) in e.
    rewrite mult_IZR in e. rewrite <- e. ring. }
  repeat (split; auto).
  all: assert (forall a, IZR (zdot a z') = IZR (common x) * dot a (List.map Q2R x)) as K by
    (intro a; clear - F; revert a; induction F as [|c y z xs H F IH]; intros [|b a]; simpl;
      try (rewrite Rmult_0_r; auto; fail); rewrite plus_IZR, mult_IZR, IH, H; ring).
  all: apply andb_prop in C as [C1 C2]; rewrite forallb_forall in C1, C2; apply Forall_forall;
    intros r R; apply IZR_lt in P.
  - specialize (C1 r R). apply Z.leb_le, IZR_le in C1. rewrite K, mult_IZR in C1.
    apply Rmult_le_reg_l in C1; auto.
  - specialize (C2 r R). apply Z.eqb_eq, (f_equal IZR) in C2. rewrite K, mult_IZR in C2.
    apply Rmult_eq_reg_l in C2; lra.
Qed.

Lemma values_are_ok v D fs qs xs : v 0%N = 1 -> (0 < D)%Z -> Forall2 (scaled v D) fs xs ->
  values_are D fs qs = true -> xs = List.map Q2R qs.
Proof.
  intros V0 P F. revert qs. apply IZR_lt in P.
  induction F as [|f x fs xs H F IH]; intros [|q qs]; simpl; try discriminate; auto. intro C.
  apply andb_prop in C as [C1 C2]. f_equal; auto.
  unfold scaled in H. pose proof (Q2R_num q) as N.
  assert (0 < IZR (Z.pos (Qden q))) by (apply IZR_lt; lia).
  destruct f as [|[[|s] c] [|? ?]]; try discriminate; apply Z.eqb_eq in C1; simpl in H.
  - rewrite C1 in N. assert (x = 0) by nra. assert (Q2R q = 0) by nra. lra.
  - apply (f_equal IZR) in C1. rewrite !mult_IZR, <- N in C1. rewrite V0 in H.
    assert (IZR c = IZR D * x) as Z by lra. rewrite Z in C1.
    assert (IZR D * IZR (Z.pos (Qden q)) * (x - Q2R q) = 0) as W by lra.
    apply Rmult_integral in W as [W|W]; [|lra]. apply Rmult_integral in W as [W|W]; lra.
Qed.

Lemma values_of_ok n1 d z f x : (0 < d)%Z -> Forall2 (fun c y => IZR c = IZR d * y) z x -> values_of
  n1 d z f = true -> eval n1 x = List.map Q2R f.
Proof.
  unfold values_of. intros P F. destruct (jrun _ _ _ _ _ _ _) as [[t [fs D]]|] eqn:J;
    [|discriminate]. intro C. apply andb_prop in C as [W C].
  assert (base 0 (fun s => if (s =? 0)%N then 1 else 0)) as B0. { split; auto. intros s K.
  destruct (s =? 0)%N; lra. }
  destruct (wf_tab_ok _ _ W _ B0) as (v & Bv & _ & Sv).
  assert (inv (St 1 [] E [])) as I0 by exact Logic.I.
  destruct (jrun_ok _ _ _ _ _ _ _ _ _ _ I0 J) as (_ & _ & K). destruct (K v [x] Bv Sv) as [Q G].
  - split; [|simpl; constructor]. constructor; [|constructor]. split; auto. cbn [fst snd].
    clear - F Bv. induction F; simpl; constructor; auto. unfold scaled. rewrite val_fconst; auto.
    apply Bv.
  - eapply values_are_ok; eauto. apply Bv.
Qed.

Theorem check_point_ok n n1 n2 D x f g : check_point n n1 n2 D x f g = true -> let y := List.map Q2R
  x in
  length y = n /\ in_domain D y /\ eval n1 y = List.map Q2R f /\ eval n2 y = List.map Q2R g /\ eval
    n1 y <> eval n2 y.
Proof.
  unfold check_point. destruct (scaled_point n D x) as [[d z]|] eqn:S; [|discriminate].
  destruct (scaled_point_ok _ _ _ _ _ S) as (P & L & F & I). intro C.
  apply andb_prop in C as [C C3]. apply andb_prop in C as [C1 C2].
  pose proof (values_of_ok _ _ _ _ _ P F C1) as V1.
  pose proof (values_of_ok _ _ _ _ _ P F C2) as V2.
  cbv zeta. rewrite map_length. repeat (split; auto). rewrite V1, V2. intro Eq.
  apply negb_true_iff in C3. rewrite <- Bool.not_true_iff_false in C3. apply C3.
  clear - Eq. revert g Eq. induction f as [|p f IH]; intros [|q g]; simpl; try discriminate; auto.
  intros [= E1 E2]. rewrite IH by auto. apply eqR_Qeq, Qeq_bool_iff in E1. rewrite E1; auto.
Qed.

