(** Layers that are given by rows over another denominator, and rows that change. *)
Require Import ZArith Reals List Bool Lra Lia.
From PolyreluVerified Require Import Networks Numbers Stacks.
Import ListNotations.
Open Scope R_scope.

(** * Rows *)

Definition times_row (a : Z) (r : row) : row := (List.map (Z.mul a) (fst r), (a * snd r)%Z).
Definition negated (r : row) : row := (List.map Z.opp (fst r), (- snd r)%Z).

(** [a r + b s]. *)
Fixpoint combined (a : Z) (v : list Z) (b : Z) (w : list Z) : list Z :=
  match v, w with x :: v', y :: w' => (a * x + b * y)%Z :: combined a v' b w' | _, _ => [] end.
Definition plus_row (a : Z) (r : row) (b : Z) (s : row) : row :=
  (combined a (fst r) b (fst s), (a * snd r + b * snd s)%Z).

Lemma dot_times a w u : dot (List.map (Z.mul a) w) u = IZR a * dot w u.
Proof.
  revert u. induction w as [|c w IH]; intros [|x u]; simpl; try lra. rewrite IH, mult_IZR. lra.
Qed.
Lemma dot_negated w u : dot (List.map Z.opp w) u = - dot w u.
Proof.
  revert u. induction w as [|c w IH]; intros [|x u]; simpl; try lra. rewrite IH, opp_IZR. lra.
Qed.
Lemma dot_combined a v b w u : length v = length w ->
  dot (combined a v b w) u = IZR a * dot v u + IZR b * dot w u.
Proof.
  revert w u. induction v as [|x v IH]; intros [|y w] [|z u]; simpl; try discriminate; try lra.
  intros [= L]. rewrite IH, plus_IZR, !mult_IZR by auto. lra.
Qed.

Lemma value_pair w b u : value (w, b) u = dot w u + IZR b.
Proof. reflexivity. Qed.
Lemma value_times a r u : value (times_row a r) u = IZR a * value r u.
Proof. unfold value. simpl. rewrite dot_times, mult_IZR. lra. Qed.
Lemma value_negated r u : value (negated r) u = - value r u.
Proof. unfold value. simpl. rewrite dot_negated, opp_IZR. lra. Qed.
Lemma value_plus a r b s u : length (fst r) = length (fst s) ->
  value (plus_row a r b s) u = IZR a * value r u + IZR b * value s u.
Proof. intro L. unfold value. simpl. rewrite dot_combined, plus_IZR, !mult_IZR by auto. lra. Qed.

(** * One entry changes *)

Fixpoint update {X} (j : nat) (f : X -> X) (l : list X) : list X :=
  match l, j with
  | [], _ => []
  | x :: l', O => f x :: l'
  | x :: l', S j' => x :: update j' f l'
  end.

Lemma update_length {X} j (f : X -> X) l : length (update j f l) = length l.
Proof. revert j. induction l; intros [|j]; simpl; auto. Qed.

Lemma map_update {X Y} (g : X -> Y) j f h l : (forall x, nth_error l j = Some x ->
  g (f x) = h (g x)) ->
  List.map g (update j f l) = update j h (List.map g l).
Proof.
  revert j. induction l as [|x l IH]; intros [|j] H; simpl; auto.
  - rewrite H; auto.
  - rewrite IH; auto.
Qed.

(** Only the weight at [j] may be positive: the other ones are at most 0. *)
Fixpoint others_nonpositive (j : nat) (w : list Z) : bool :=
  match w, j with
  | [], _ => true
  | _ :: w', O => forallb (fun c => c <=? 0)%Z w'
  | c :: w', S j' => (c <=? 0)%Z && others_nonpositive j' w'
  end.

Lemma dot_nonpositive w a : forallb (fun c => c <=? 0)%Z w = true -> Forall (Rle 0) a ->
  dot w a <= 0.
Proof.
  revert a. induction w as [|c w IH]; intros [|x a]; simpl; try lra. intros H F.
  apply andb_prop in H as [H1 H2]. inversion F; subst. apply Z.leb_le, IZR_le in H1.
  specialize (IH a H2 ltac:(auto)). nra.
Qed.

Lemma dot_update j y w a : (j < length a)%nat ->
  dot w (update j (fun _ => y) a) = dot w a + IZR (nth j w 0%Z) * (y - nth j a 0).
Proof.
  revert j a. induction w as [|c w IH]; intros [|j] [|x a]; simpl; try lia; intro L; try lra.
  rewrite IH by lia. lra.
Qed.

Lemma dot_rest j w a : others_nonpositive j w = true -> Forall (Rle 0) a ->
  dot w a - IZR (nth j w 0%Z) * nth j a 0 <= 0.
Proof.
  revert j a. induction w as [|c w IH]; intros [|j] [|x a]; simpl; try lra; intros H F.
  - inversion F; subst. pose proof (dot_nonpositive w a H ltac:(auto)). lra.
  - apply andb_prop in H as [H1 H2]. inversion F; subst. apply Z.leb_le, IZR_le in H1.
    specialize (IH j a H2 ltac:(auto)). nra.
Qed.

(** * A layer in another scale *)

Fixpoint same_multiples (a : Z) (v : list Z) (b : Z) (w : list Z) : bool :=
  match v, w with
  | [], [] => true
  | x :: v', y :: w' => (x * a =? y * b)%Z && same_multiples a v' b w'
  | _, _ => false
  end.

(** The layer [p] is given by the rows [rs] over the denominator [d]. *)
Fixpoint same_rows (a : Z) (rs : list row) (b : Z) (ss : list row) : bool :=
  match rs, ss with
  | [], [] => true
  | r :: rs', s :: ss' =>
      same_multiples a (fst r) b (fst s) && (snd r * a =? snd s * b)%Z && same_rows a rs' b ss'
  | _, _ => false
  end.
Definition layer_is (p : plain) (rs : list row) (d : Z) : bool := same_rows (over p) rs d (rows p).

Lemma same_multiples_dot a v b w u : same_multiples a v b w = true ->
  dot v u * IZR a = dot w u * IZR b.
Proof.
  revert w u. induction v as [|x v IH]; intros [|y w]; simpl; try discriminate; intros [|z u] H;
    simpl; try lra.
  apply andb_prop in H as [H1 H2]. apply Z.eqb_eq, (f_equal IZR) in H1. rewrite !mult_IZR in H1.
  specialize (IH _ u H2).
  replace ((IZR x * z + dot v u) * IZR a) with (IZR x * IZR a * z + dot v u * IZR a) by ring.
  rewrite H1, IH. ring.
Qed.

Lemma layer_is_ok p rs d u : layer_is p rs d = true -> (0 < over p)%Z -> (0 < d)%Z ->
  affine p u = List.map (fun r => value r u / IZR d) rs.
Proof.
  unfold layer_is, affine. intros H P D. apply IZR_lt in P, D. revert H. generalize (rows p).
  induction rs as [|r rs IH]; intros [|s ss]; simpl; try discriminate; auto. intro H.
  apply andb_prop in H as [H H3]. apply andb_prop in H as [H1 H2]. f_equal; auto.
  apply (same_multiples_dot _ _ _ _ u) in H1. apply Z.eqb_eq, (f_equal IZR) in H2.
  rewrite !mult_IZR in H2. unfold value.
  apply (Rmult_eq_reg_r (IZR d * IZR (over p))); [field_simplify; lra|].
  apply Rgt_not_eq, Rmult_lt_0_compat; auto.
Qed.

Lemma relu_over x d : 0 < d -> relu (x / d) = relu x / d.
Proof.
  intro D. unfold Rdiv. rewrite Rmult_comm, relu_scale by (apply Rlt_le, Rinv_0_lt_compat; auto).
  ring.
Qed.
