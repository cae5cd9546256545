(** Square integer matrices with trivial kernels: by elimination, exact or modulo a number.

    [regular] decides whether a matrix has a nonzero kernel vector; modulo [p] it is enough that all
    pivots are prime to [p], so that nothing has to be known of [p] itself. *)
Require Import ZArith Znumtheory Reals List Bool Lra Lia.
From PolyreluVerified Require Import Networks Stacks Scaled Replacement OneSided.
Import ListNotations.
Open Scope R_scope.

Definition matrix := list (list Z).

(** The first row whose first entry is good, and the other rows. *)
Fixpoint take_pivot (good : Z -> bool) (m : matrix) : option (list Z * matrix) :=
  match m with
  | [] => None
  | r :: m' =>
      if match r with x :: _ => good x | [] => false end then Some (r, m')
      else match take_pivot good m' with Some (p, rest) => Some (p, r :: rest) | None => None end
  end.

(** Rows without their first column, after it was cleared. *)
Definition cleared (p : list Z) (r : list Z) : list Z :=
  match p, r with
  | a :: p', x :: r' => combined a r' (- x) p'
  | _, _ => []
  end.

(** The kernel is trivial: [m] has [n] columns. *)
Fixpoint regular (n : nat) (m : matrix) : bool :=
  match n with
  | O => true
  | S n' =>
      match take_pivot (fun x => negb (x =? 0)%Z) m with
      | None => false
      | Some (p, rest) => regular n' (List.map (cleared p) rest)
      end
  end.

Definition reduce (q : Z) (r : list Z) : list Z := List.map (fun x => x mod q)%Z r.

(** The same modulo [q]. *)
Fixpoint regular_mod (q : Z) (n : nat) (m : matrix) : bool :=
  match n with
  | O => true
  | S n' =>
      match take_pivot (fun x => Z.gcd x q =? 1)%Z m with
      | None => false
      | Some (p, rest) => regular_mod q n' (List.map (fun r => reduce q (cleared p r)) rest)
      end
  end.

(** * The exact elimination *)

Definition wide (n : nat) (m : matrix) : Prop := Forall (fun r => length r = n) m.

Lemma take_pivot_ok good m p rest : take_pivot good m = Some (p, rest) ->
  (exists a p', p = a :: p' /\ good a = true) /\ forall P : list Z -> Prop, Forall P m <-> P p /\
    Forall P rest.
Proof.
  revert rest. induction m as [|r m IH]; simpl; intro rest; [discriminate|].
  destruct (match r with x :: _ => good x | [] => false end) eqn:G.
  - intros [= <- <-]. destruct r as [|a r]; [discriminate|]. split; [eauto|]. intro P. split.
    + intro F. inversion F; auto.
    + intros [A B]. auto.
  - destruct (take_pivot good m) as [[p' rest']|] eqn:T; [|discriminate]. intros [= <- <-].
    destruct (IH _ eq_refl) as [A B]. split; auto. intro P. split.
    + intro F. inversion F as [|? ? F1 F2]; subst. apply B in F2 as [F2 F3]. auto.
    + intros [F1 F2]. inversion F2; subst. constructor; auto. apply B. auto.
Qed.

Lemma take_pivot_none good m : take_pivot good m = None ->
  Forall (fun r => match r with x :: _ => good x = false | [] => True end) m.
Proof.
  induction m as [|r m IH]; simpl; [constructor|].
  destruct r as [|x r].
  - destruct (take_pivot good m) as [[? ?]|]; [discriminate|]. constructor; auto.
  - destruct (good x) eqn:G; [discriminate|].
    destruct (take_pivot good m) as [[? ?]|]; [discriminate|]. constructor; auto.
Qed.

Lemma combined_length a v b w : length v = length w -> length (combined a v b w) = length v.
Proof. revert w. induction v as [|x v IH]; intros [|y w]; simpl; try discriminate; auto. Qed.

Lemma cleared_wide n p rest : length p = S n -> wide (S n) rest ->
  wide n (List.map (cleared p) rest).
Proof.
  intros L W. apply Forall_map. eapply Forall_impl; [|exact W]. intros r R. simpl in R.
  destruct p as [|a p], r as [|x r]; try discriminate. simpl in *. rewrite combined_length; lia.
Qed.

(** No real vector but 0 is in the kernel. *)
Lemma regular_kernel n : forall m u, regular n m = true -> wide n m -> length u = n ->
  Forall (fun r => dot r u = 0) m -> Forall (fun x => x = 0) u.
Proof.
  induction n as [|n IH]; intros m u; simpl. { intros _ _ L _.
  destruct u; [constructor|discriminate]. }
  destruct (take_pivot _ m) as [[p rest]|] eqn:T; [|discriminate]. intros R W L K.
  destruct u as [|x u]; [discriminate|]. injection L as L.
  destruct (take_pivot_ok _ _ _ _ T) as [(a & p' & -> & A) Q].
  apply Q in W as [W1 W2]. apply Q in K as [K1 K2]. simpl in W1. injection W1 as W1.
  apply negb_true_iff, Z.eqb_neq in A. pose proof (not_0_IZR _ A) as A'. simpl in K1.
  assert (Forall (fun y => y = 0) u) as U.
  { apply (IH _ u R); auto; [apply cleared_wide; simpl; auto|].
    apply Forall_map. rewrite Forall_forall in K2, W2. apply Forall_forall. intros r I.
    specialize (K2 r I). specialize (W2 r I). destruct r as [|y r]; [discriminate|]. simpl in *.
    injection W2 as W2. rewrite dot_combined, opp_IZR by congruence. nra. }
  constructor; auto.
  assert (dot p' u = 0) as E.
  { clear - U. revert u U. induction p' as [|c w IH]; intros [|z u] U; simpl; auto.
    inversion U; subst.
    rewrite IH by auto. lra. }
  rewrite E in K1. assert (IZR a * x = 0) as M by lra.
  apply Rmult_integral in M as [M|M]; [tauto|auto].
Qed.

(** Otherwise an integer vector is. *)
Definition nonzero (u : list Z) : Prop := Exists (fun x => x <> 0%Z) u.

Lemma zdot_combined a v b w u : length v = length w ->
  zdot (combined a v b w) u = (a * zdot v u + b * zdot w u)%Z.
Proof.
  revert w u. induction v as [|x v IH]; intros [|y w] [|z u]; simpl; try discriminate; try lia.
  intros [= L]. rewrite IH by auto. ring.
Qed.
Lemma zdot_scaled a w u : zdot w (List.map (Z.mul a) u) = (a * zdot w u)%Z.
Proof. revert u. induction w as [|x w IH]; intros [|y u]; simpl; try lia. rewrite IH. ring. Qed.
Lemma zdot_zeros w n : zdot w (repeat 0%Z n) = 0%Z.
Proof. revert n. induction w as [|x w IH]; intros [|n]; simpl; auto. rewrite IH. lia. Qed.

Lemma singular_kernel n : forall m, regular n m = false -> wide n m ->
  exists u, length u = n /\ nonzero u /\ Forall (fun r => zdot r u = 0%Z) m.
Proof.
  induction n as [|n IH]; intros m; simpl; [discriminate|]. intros R W.
  destruct (take_pivot _ m) as [[p rest]|] eqn:T.
  - destruct (take_pivot_ok _ _ _ _ T) as [(a & p' & -> & A) Q]. apply Q in W as [W1 W2].
    injection W1 as W1. apply negb_true_iff, Z.eqb_neq in A.
    destruct (IH _ R) as (u & L & N & K); [apply cleared_wide; simpl; auto|].
    exists ((- zdot p' u)%Z :: List.map (Z.mul a) u). simpl. rewrite map_length. split; [auto|].
    split.
    + apply Exists_cons_tl. clear - N A.
      induction N; simpl; [apply Exists_cons_hd|apply Exists_cons_tl; auto].
      apply Z.neq_mul_0. auto.
    + apply Q. split; simpl.
      * rewrite zdot_scaled. ring.
      * rewrite Forall_map in K. rewrite Forall_forall in K, W2. apply Forall_forall. intros r I.
        specialize (K r I). specialize (W2 r I). destruct r as [|x r]; [discriminate|]. simpl in *.
        injection W2 as W2. rewrite zdot_combined in K by congruence. rewrite zdot_scaled. lia.
  - exists (1%Z :: repeat 0%Z n). simpl. rewrite repeat_length. split; [auto|]. split.
    + apply Exists_cons_hd. lia.
    + apply take_pivot_none in T. eapply Forall_impl; [|exact T]. intros r H.
      destruct r as [|x r]; [reflexivity|].
      apply negb_false_iff, Z.eqb_eq in H. simpl. rewrite H, zdot_zeros. reflexivity.
Qed.

(** * Elimination modulo a number *)

Lemma divide_dot_reduce q r u : (0 < q)%Z -> exists k, zdot (reduce q r) u = (zdot r u + q * k)%Z.
Proof.
  intro Q. revert u. induction r as [|x r IH]; intros [|y u]; simpl; try (exists 0%Z; lia).
  destruct (IH u) as [k E]. exists (k - x / q * y)%Z. rewrite E. rewrite (Z.mod_eq x q) by lia.
  ring.
Qed.

Lemma regular_mod_kernel q n : (1 < q)%Z -> forall m u, regular_mod q n m = true -> wide n m ->
  length u = n -> Forall (fun r => (q | zdot r u)%Z) m -> Forall (fun x => (q | x)%Z) u.
Proof.
  intro Q. induction n as [|n IH]; intros m u; simpl. { intros _ _ L _.
  destruct u; [constructor|discriminate]. }
  destruct (take_pivot _ m) as [[p rest]|] eqn:T; [|discriminate]. intros R W L K.
  destruct u as [|x u]; [discriminate|]. injection L as L.
  destruct (take_pivot_ok _ _ _ _ T) as [(a & p' & -> & A) P].
  apply P in W as [W1 W2]. apply P in K as [K1 K2]. simpl in W1. injection W1 as W1. simpl in K1.
  apply Z.eqb_eq in A.
  assert (Forall (fun y => (q | y)%Z) u) as U.
  { apply (IH _ u R); auto.
    - apply Forall_map. rewrite Forall_forall in W2. apply Forall_forall. intros r I.
      specialize (W2 r I).
      destruct r as [|y r]; [discriminate|]. injection W2 as W2. unfold reduce. rewrite map_length.
      simpl. rewrite combined_length; congruence.
    - apply Forall_map. rewrite Forall_forall in K2, W2. apply Forall_forall. intros r I.
      specialize (K2 r I). specialize (W2 r I). destruct r as [|y r]; [discriminate|].
      injection W2 as W2. destruct (divide_dot_reduce q (cleared (a :: p') (y :: r)) u ltac:(lia))
        as [k ->].
      simpl in *. rewrite zdot_combined by congruence. destruct K1 as [c1 E1], K2 as [c2 E2].
      exists (a * c2 - y * c1 + k)%Z. lia. }
  constructor; auto.
  assert (q | zdot p' u)%Z as E.
  { clear - U. revert u U. induction p' as [|c w IH]; intros [|z u] U; simpl;
      try apply Z.divide_0_r.
    inversion U; subst. apply Z.divide_add_r; auto. apply Z.divide_mul_r. auto. }
  assert (q | a * x)%Z as M by (apply (Z.divide_add_cancel_r _ (zdot p' u)); auto;
    rewrite Z.add_comm; auto).
  apply (Gauss _ a); auto. apply Zgcd_1_rel_prime. rewrite Z.gcd_comm. auto.
Qed.

(** Regular modulo a number is regular. *)
Theorem regular_mod_regular q n m : (1 < q)%Z -> regular_mod q n m = true -> wide n m ->
  regular n m = true.
Proof.
  intros Q R W. destruct (regular n m) eqn:E; auto. exfalso.
  destruct (singular_kernel _ _ E W) as (u & L & N & K).
  remember (Z.to_nat (fold_right (fun x s => (Z.abs x + s)%Z) 0%Z u)) as size eqn:S.
  revert u S L N K. induction size as [size IH] using lt_wf_ind. intros u S L N K.
  assert (Forall (fun x => (q | x)%Z) u) as D.
  { apply (regular_mod_kernel q n Q m); auto. eapply Forall_impl; [|exact K]. intros r ->.
    apply Z.divide_0_r. }
  set (v := List.map (fun x => (x / q)%Z) u).
  assert (u = List.map (Z.mul q) v) as E'.
  { unfold v. rewrite map_map. clear - D Q. induction D as [|x u [k ->] D IH]; simpl; auto.
    rewrite <- IH.
    f_equal. rewrite Z.div_mul by lia. ring. }
  assert (fold_right (fun x s => (Z.abs x + s)%Z) 0%Z u = q * fold_right (fun x s => (Z.abs x +
    s)%Z) 0%Z v)%Z as Size.
  { rewrite E' at 1. clear - Q. induction v as [|x v IH]; simpl; [lia|].
    rewrite IH, Z.abs_mul, (Z.abs_eq q) by lia. ring. }
  assert (0 < fold_right (fun x s => (Z.abs x + s)%Z) 0%Z v)%Z as Pos.
  { assert (0 < fold_right (fun x s => (Z.abs x + s)%Z) 0%Z u)%Z; [|nia]. clear - N.
    assert (forall l, 0 <= fold_right (fun x s => (Z.abs x + s)%Z) 0%Z l)%Z as P by (induction l;
      simpl; lia).
    induction N as [x u H|x u H IH]; simpl; [specialize (P u); lia|lia]. }
  apply (IH (Z.to_nat (fold_right (fun x s => (Z.abs x + s)%Z) 0%Z v))) with (u := v); auto.
  - rewrite S, Size. apply Z2Nat.inj_lt; nia.
  - unfold v. rewrite map_length. auto.
  - rewrite E' in N. clear - N. induction v as [|x v IHv]; simpl in N; inversion N; subst.
    + apply Exists_cons_hd. intros ->. rewrite Z.mul_0_r in *. tauto.
    + apply Exists_cons_tl. apply IHv. assumption.
  - rewrite E' in K. eapply Forall_impl; [|exact K]. simpl. intros r H. rewrite zdot_scaled in H.
    apply Z.mul_eq_0 in H as [H|H]; [lia|auto].
Qed.
