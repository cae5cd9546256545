(** Theorem line-equal: two hidden layers, the first of width one (FORMAT.md, section 3.3;
    docs/theory/line.md).

    If the rows of the first layers are parallel, both networks are functions of one number [t], the
    input on an axis. They are affine between neighbouring breakpoints, so that it suffices to
    compare them at all breakpoints, and at one point beyond all of them on either side. *)
Require Import ZArith Reals List Bool Lra Lia Psatz.
From PolyreluVerified Require Import Networks Numbers Stacks Scaled OneSided Replacement.
Import ListNotations.
Open Scope R_scope.

(** * What is checked *)

(** The outputs of layers at a point [z/d], as integers over a denominator. *)
Definition affine_at (p : plain) (z : list Z) (d : Z) : list Z :=
  List.map (fun r => (zdot (fst r) z + snd r * d)%Z) (rows p).
Fixpoint outputs_at (s : list plain) (z : list Z) (d : Z) : list Z * Z :=
  match s with
  | [] => (z, d)
  | p :: s' =>
      let a := affine_at p z d in
      match s' with
      | [] => (a, (d * over p)%Z)
      | _ => outputs_at s' (List.map (Z.max 0) a) (d * over p)
      end
  end.

Fixpoint same_quotients (a : list Z) (d : Z) (b : list Z) (e : Z) : bool :=
  match a, b with
  | [], [] => true
  | x :: a', y :: b' => (x * e =? y * d)%Z && same_quotients a' d b' e
  | _, _ => false
  end.

(** A number [t = fst t / snd t], and the input that is [t] on axis [c] and 0 elsewhere. *)
Definition quotient := (Z * Z)%type.
Definition on_axis (m c : nat) (t : quotient) : list Z := update c (fun _ => fst t) (repeat 0%Z m).

Definition equal_at (m c : nat) (one two : list plain) (t : quotient) : bool :=
  let (a, d) := outputs_at one (on_axis m c t) (snd t) in
  let (b, e) := outputs_at two (on_axis m c t) (snd t) in
  (0 <? snd t)%Z && same_quotients a d b e.

Definition positive_below (t : quotient) : quotient :=
  if (snd t <? 0)%Z then ((- fst t)%Z, (- snd t)%Z) else t.

(** Where the first layer, of row [r], or a neuron of the second layer vanishes; [a] is the entry
    of [r] on the axis. *)
Definition breakpoint (a : Z) (first : plain) (r : row) (neuron : row) : option quotient :=
  match fst neuron with
  | [w] =>
      if (w =? 0)%Z then None
      else Some (positive_below (- snd neuron * over first - snd r * w, w * a))%Z
  | _ => None
  end.

Definition breakpoints (a : Z) (first : plain) (r : row) (second : plain) : list quotient :=
  positive_below ((- snd r)%Z, a) ::
  flat_map (fun n => match breakpoint a first r n
    with Some t => [t] | None => [] end) (rows second).

Fixpoint axis_of (j : nat) (w : list Z) : nat :=
  match w with [] => 0%nat | x :: w' => if (x =? 0)%Z then axis_of (S j) w' else j end.

Fixpoint parallel (a : Z) (v : list Z) (b : Z) (w : list Z) : bool :=
  match v, w with
  | [], [] => true
  | x :: v', y :: w' => (x * b =? y * a)%Z && parallel a v' b w'
  | _, _ => false
  end.

Definition is_line_equal (m : nat) (one two : list plain) : bool :=
  match one, two with
  | [f; g; h], [f'; g'; h'] =>
      match rows f, rows f' with
      | [r], [r'] =>
          let c := axis_of 0 (fst r) in
          let a := nth c (fst r) 0%Z in
          let a' := nth c (fst r') 0%Z in
          let points := breakpoints a f r g ++ breakpoints a' f' r' g' in
          let big := fold_left (fun b t => (b + Z.abs (fst t))%Z) points 1%Z in
          Nat.ltb c m && negb (a =? 0)%Z && negb (a' =? 0)%Z && parallel a (fst r) a' (fst r') &&
          forallb (fun t => (0 <? snd t)%Z && (Z.abs (fst t) <? big * snd t)%Z) points &&
          forallb (equal_at m c one two) ((big, 1%Z) :: ((- big)%Z, 1%Z) :: points)
      | _, _ => false
      end
  | _, _ => false
  end.

(** * What it proves *)

(** ** Values at rational points *)

Definition stands_for (d : Z) (z : list Z) (u : list R) : Prop :=
  Forall2 (fun c y => IZR c = IZR d * y) z u.

Lemma zdot_stands d w z u : stands_for d z u -> IZR (zdot w z) = IZR d * dot w u.
Proof.
  intro H. revert w. induction H as [|c y z u E H IH]; intros [|x w]; simpl; try lra.
  rewrite plus_IZR, mult_IZR, IH, E. ring.
Qed.

Lemma affine_at_ok p z d u : (0 < over p)%Z -> stands_for d z u ->
  stands_for (d * over p) (affine_at p z d) (affine p u).
Proof.
  intros P H. unfold affine_at, affine. apply IZR_lt in P.
  induction (rows p) as [|r rs IH]; simpl; constructor; auto.
  rewrite plus_IZR, !mult_IZR, (zdot_stands _ _ _ _ H). unfold value. field. lra.
Qed.

Lemma relu_stands d z u : (0 < d)%Z -> stands_for d z u ->
  stands_for d (List.map (Z.max 0) z) (List.map relu u).
Proof.
  intros D H. apply IZR_lt in D. induction H as [|c y z u E H IH]; simpl; constructor; auto.
  unfold relu. destruct (Z.max_spec 0 c) as [[L ->]|[L ->]].
  - apply IZR_lt in L. rewrite Rmax_left; auto. nra.
  - apply IZR_le in L. rewrite Rmax_right; nra.
Qed.

Lemma outputs_at_ok s : forall m z d u, fits m s -> (0 < d)%Z -> stands_for d z u ->
  let (a, e) := outputs_at s z d in (0 < e)%Z /\ stands_for e a (compute s false u).
Proof.
  induction s as [|p s IH]; intros m z d u F D H. { simpl. auto. }
  destruct F as (P & _ & F). pose proof (affine_at_ok p z d u P H) as A.
  assert (0 < d * over p)%Z as D' by nia. simpl. destruct s as [|q s]; [auto|].
  apply (IH _ (List.map (Z.max 0) (affine_at p z d)) (d * over p)%Z (active p u) F D').
  apply relu_stands; auto.
Qed.

Lemma same_quotients_ok a d b e x y : (0 < d)%Z -> (0 < e)%Z -> stands_for d a x ->
  stands_for e b y ->
  same_quotients a d b e = true -> x = y.
Proof.
  intros D E H. apply IZR_lt in D, E. revert b y.
  induction H as [|c s a x Hc H IH]; intros [|c' b] y G; simpl;
    try discriminate; inversion G as [|? s' ? y' Hc' G']; subst; auto.
  intro S. apply andb_prop in S as [S1 S2]. f_equal; [|eauto].
  apply Z.eqb_eq, (f_equal IZR) in S1. rewrite !mult_IZR, Hc, Hc' in S1.
  apply (Rmult_eq_reg_l (IZR d * IZR e)); [lra|]. apply Rgt_not_eq, Rmult_lt_0_compat; auto.
Qed.

(** ** The input that is [t] on axis [c] *)

Definition axis (m c : nat) (t : R) : list R := update c (fun _ => t) (repeat 0 m).
Definition number (t : quotient) : R := IZR (fst t) / IZR (snd t).

Lemma dot_zeros w m : dot w (repeat 0 m) = 0.
Proof. revert m. induction w as [|x w IH]; intros [|m]; simpl; auto. rewrite IH. lra. Qed.
Lemma dot_axis w m c t : (c < m)%nat -> dot w (axis m c t) = IZR (nth c w 0%Z) * t.
Proof.
  intro L. unfold axis. rewrite dot_update by (rewrite repeat_length; auto). rewrite dot_zeros.
  rewrite nth_repeat. lra.
Qed.

Lemma on_axis_stands m c t : (0 < snd t)%Z ->
  stands_for (snd t) (on_axis m c t) (axis m c (number t)).
Proof.
  intro D. apply IZR_lt in D. unfold on_axis, axis. revert c.
  induction m as [|m IH]; intros [|c]; simpl; constructor; try lra; auto; try apply IH.
  - unfold number. field. lra.
  - clear. induction m; simpl; constructor; auto. lra.
Qed.

Lemma equal_at_ok m c one two t : equal_at m c one two t = true -> fits m one -> fits m two ->
  compute one false (axis m c (number t)) = compute two false (axis m c (number t)).
Proof.
  unfold equal_at. intros H F G.
  destruct (outputs_at one (on_axis m c t) (snd t)) as [a d] eqn:A.
  destruct (outputs_at two (on_axis m c t) (snd t)) as [b e] eqn:B.
  apply andb_prop in H as [D H]. apply Z.ltb_lt in D. pose proof (on_axis_stands m c t D) as S.
  pose proof (outputs_at_ok one _ _ _ _ F D S) as V. rewrite A in V.
  pose proof (outputs_at_ok two _ _ _ _ G D S) as W. rewrite B in W.
  destruct V as [V1 V2], W as [W1 W2]. exact (same_quotients_ok _ _ _ _ _ _ V1 W1 V2 W2 H).
Qed.

(** ** Functions that are affine on a set *)

Definition affine_on (I : R -> Prop) (F : R -> R) : Prop :=
  exists m k, forall t, I t -> F t = m * t + k.

(** No point is inside of the set. *)
Definition uncut (I : R -> Prop) (p : R) : Prop :=
  (forall t, I t -> t <= p) \/ (forall t, I t -> p <= t).

Lemma affine_on_relu I m k p : (m <> 0 -> m * p + k = 0 /\ uncut I p) ->
  (forall t, I t -> relu (m * t + k) = m * t + k) \/ (forall t, I t -> relu (m * t + k) = 0).
Proof.
  intro H. destruct (Req_dec m 0) as [->|N].
  - destruct (Rle_lt_dec 0 k).
    + left. intros. apply relu_pos. lra.
    + right. intros. apply relu_neg. lra.
  - destruct (H N) as [E U]. destruct (Rdichotomy _ _ N) as [M|M], U as [U|U].
    + left. intros t T. apply relu_pos. specialize (U t T). nra.
    + right. intros t T. apply relu_neg. specialize (U t T). nra.
    + right. intros t T. apply relu_neg. specialize (U t T). nra.
    + left. intros t T. apply relu_pos. specialize (U t T). nra.
Qed.

Lemma affine_on_dot {X} I (w : list Z) (l : list X) (F : X -> R -> R) :
  (forall x, In x l -> affine_on I (F x)) ->
    affine_on I (fun t => dot w (List.map (fun x => F x t) l)).
Proof.
  revert w. induction l as [|x l IH]; intros [|c w] H; simpl.
  1, 2, 3: exists 0, 0; intros; lra.
  destruct (H x (or_introl eq_refl)) as (m & k & E).
  destruct (IH w (fun y I => H y (or_intror I))) as (m' & k' & E').
  exists (IZR c * m + m'), (IZR c * k + k'). intros t T. rewrite E, E' by auto. ring.
Qed.

(** Two affine functions on a set that agree at two points of it agree on it. *)
Lemma affine_on_equal I F G a b : affine_on I F -> affine_on I G -> I a -> I b -> a <> b ->
  F a = G a -> F b = G b -> forall t, I t -> F t = G t.
Proof.
  intros (m & k & E) (m' & k' & E') A B N Ea Eb t T. rewrite E, E' in * by auto.
  assert (m = m') as ->.
  { apply (Rmult_eq_reg_r (a - b)); [|lra]. lra. }
  assert (k = k') as -> by lra. auto.
Qed.

(** ** One network on the axis *)

Definition no_entry : row := ([], 0%Z).

Lemma positive_below_number t : snd t <> 0%Z -> number (positive_below t) = number t.
Proof.
  intro N. unfold positive_below, number. destruct (Z.ltb_spec (snd t) 0); auto. simpl.
  rewrite !opp_IZR. field. apply not_0_IZR. auto.
Qed.

Lemma network_affine I m c f g h r o : fits m [f; g; h] -> rows f = [r] -> (c < m)%nat ->
  (nth c (fst r) 0 <> 0)%Z ->
  (forall t, In t (breakpoints (nth c (fst r) 0%Z) f r g) -> uncut I (number t)) ->
  affine_on I (fun t => nth o (compute [f; g; h] false (axis m c t)) 0).
Proof.
  intros (P1 & F1 & P2 & F2 & P3 & F3 & _) R C N U. rewrite R in F2. simpl in F2.
  apply IZR_lt in P1, P2, P3. pose proof (not_0_IZR _ N) as N'.
  set (k := IZR (nth c (fst r) 0%Z)) in *.
  set (b := IZR (snd r)). set (d := IZR (over f)) in *.
  assert (forall t, active f (axis m c t) = [relu (k / d * t + b / d)]) as Ef.
  { intro t. unfold active, affine. rewrite R. simpl. do 2 f_equal. unfold value.
    rewrite dot_axis by auto.
    fold k b d. field. lra. }
  assert ((forall t, I t -> relu (k / d * t + b / d) = k / d * t + b / d) \/
          (forall t, I t -> relu (k / d * t + b / d) = 0)) as Y.
  { apply affine_on_relu with (p := - b / k). intro Z. split; [field; lra|].
    replace (- b / k) with (number (positive_below ((- snd r)%Z, nth c (fst r) 0%Z))).
    - apply U. simpl. auto.
    - rewrite positive_below_number by auto. unfold number. simpl. rewrite opp_IZR. reflexivity. }
  assert (forall n, In n (rows g) ->
    affine_on I (fun t => relu (value n (active f (axis m c t)) / IZR (over g)))) as A.
  { intros n In_n. rewrite Forall_forall in F2. pose proof (F2 n In_n) as L.
    destruct (fst n) as [|w [|? ?]] eqn:En; try discriminate.
    assert (forall t, value n (active f (axis m c t)) = IZR w * relu (k / d * t + b / d) + IZR (snd
      n)) as V.
    { intro t. rewrite Ef. unfold value. rewrite En. simpl. ring. }
    set (e := IZR (over g)) in *. set (a := IZR (snd n)) in *. set (v := IZR w) in *.
    destruct Y as [Y|Y].
    - assert ((forall t, I t -> relu (v * (k / d) / e * t + (v * (b / d) + a) / e) = v * (k / d) /
        e * t + (v * (b / d) + a) / e) \/
              (forall t, I t -> relu (v * (k / d) / e * t + (v * (b / d) + a) / e) = 0)) as [Z|Z].
      { apply affine_on_relu with (p := (- a * d - b * v) / (v * k)). intro M.
        assert (w <> 0)%Z as W. { intros ->. apply M. unfold v. simpl. field. lra. }
        pose proof (not_0_IZR _ W) as W'. fold v in W'. split; [field; lra|].
        replace ((- a * d - b * v) / (v * k)) with
          (number (positive_below (- snd n * over f - snd r * w, w * nth c (fst r) 0)%Z)).
        - apply U. unfold breakpoints. right. apply in_flat_map. exists n. split; auto.
          unfold breakpoint. rewrite En. destruct (Z.eqb_spec w 0); [tauto|]. simpl. auto.
        - rewrite positive_below_number by (simpl; nia). unfold number. cbn [fst snd].
          rewrite minus_IZR, !mult_IZR, opp_IZR. reflexivity. }
      + exists (v * (k / d) / e), ((v * (b / d) + a) / e). intros t T. rewrite V, Y by auto.
        rewrite <- Z by auto. f_equal. field. lra.
      + exists 0, 0. intros t T. rewrite V, Y by auto.
        replace ((v * (k / d * t + b / d) + a) / e)
          with (v * (k / d) / e * t + (v * (b / d) + a) / e) by (field; lra).
        rewrite Z by auto. lra.
    - exists 0, (relu ((v * 0 + a) / e)). intros t T. rewrite V, Y by auto. lra. }
  destruct (Nat.ltb_spec o (length (rows h))) as [O|O].
  - assert (In (nth o (rows h) no_entry) (rows h)) as Ih by (apply nth_In; auto).
    set (n := nth o (rows h) no_entry) in *.
    destruct (affine_on_dot I (fst n) (rows g)
      (fun r' t => relu (value r' (active f (axis m c t)) / IZR (over g))) A) as (m' & k' & E).
    exists (m' / IZR (over h)), ((k' + IZR (snd n)) / IZR (over h)). intros t T. specialize (E t T).
    cbn [compute]. unfold affine at 1. rewrite nth_indep with
      (d' := value no_entry (active g (active f (axis m c t))) / IZR (over h))
        by (rewrite map_length; auto).
    rewrite (map_nth (fun r => value r (active g (active f (axis m c t))) / IZR (over h))). fold n.
    unfold value. unfold active at 1. unfold affine at 1. rewrite map_map, E. field. lra.
  - exists 0, 0. intros t T. rewrite nth_overflow; [lra|]. cbn [compute]. rewrite affine_length.
    auto.
Qed.

(** ** Neighbouring points *)

Lemma greatest_below (l : list R) t :
  (forall p, In p l -> t < p) \/ exists a, In a l /\ a <= t /\ forall p, In p l -> p <= a \/ t < p.
Proof.
  induction l as [|q l [IH|(a & A & L & IH)]].
  - left. intros p [].
  - destruct (Rle_lt_dec q t) as [Q|Q].
    + right. exists q. split; [simpl; auto|]. split; auto. intros p [->|P]; [lra|]. right. auto.
    + left. intros p [->|P]; auto.
  - right. destruct (Rle_lt_dec q t) as [Q|Q].
    + destruct (Rle_lt_dec q a) as [M|M].
      * exists a. split; [simpl; auto|]. split; auto. intros p [->|P]; auto.
      * exists q. split; [simpl; auto|]. split; auto. intros p [->|P]; [lra|].
        destruct (IH p P); [left; lra|auto].
    + exists a. split; [simpl; auto|]. split; auto. intros p [->|P]; auto.
Qed.

Lemma least_above (l : list R) t :
  (forall p, In p l -> p < t) \/ exists b, In b l /\ t <= b /\ forall p, In p l -> b <= p \/ p < t.
Proof.
  destruct (greatest_below (List.map Ropp l) (- t)) as [H|(a & A & L & H)].
  - left. intros p P. apply (in_map Ropp) in P. apply H in P. lra.
  - right. apply in_map_iff in A as (b & <- & B). exists b. split; auto. split; [lra|].
    intros p P. apply (in_map Ropp) in P. destruct (H _ P); [left|right]; lra.
Qed.

Theorem equal_on_line (l : list R) (F G : R -> R) big :
  (forall I, (forall p, In p l -> uncut I p) -> affine_on I F /\ affine_on I G) ->
  l <> [] -> (forall p, In p l -> - big < p < big) ->
  (forall p, In p l -> F p = G p) -> F big = G big -> F (- big) = G (- big) ->
  forall t, F t = G t.
Proof.
  intros H N B E Ep En t.
  destruct (greatest_below l t) as [Lo|(a & A & At & Lo)], (least_above l t)
    as [Hi|(b & Bi & Bt & Hi)].
  - destruct l as [|p l]; [tauto|]. specialize (Lo p (or_introl eq_refl)).
    specialize (Hi p (or_introl eq_refl)). lra.
  - set (I := fun s => s <= b). destruct (H I) as [HF HG].
    { intros p P. left. intros s S. unfold I in S. destruct (Hi p P); [lra|]. specialize (Lo p P).
      lra. }
    apply (affine_on_equal I F G b (- big)); auto; unfold I; try lra; specialize (B b Bi); lra.
  - set (I := fun s => a <= s). destruct (H I) as [HF HG].
    { intros p P. right. intros s S. unfold I in S. destruct (Lo p P); [lra|]. specialize (Hi p P).
      lra. }
    apply (affine_on_equal I F G a big); auto; unfold I; try lra; specialize (B a A); lra.
  - destruct (Req_dec a b) as [<-|D]. { replace t with a by lra. auto. }
    set (I := fun s => a <= s <= b). destruct (H I) as [HF HG].
    { intros p P. destruct (Lo p P) as [Q|Q].
      - right. intros s S. unfold I in S. lra.
      - destruct (Hi p P) as [Q'|Q']; [|lra]. left. intros s S. unfold I in S. lra. }
    apply (affine_on_equal I F G a b); auto; unfold I; lra.
Qed.

(** ** Both networks *)

Lemma parallel_dot a v b w u : parallel a v b w = true -> IZR b * dot v u = IZR a * dot w u.
Proof.
  revert w u. induction v as [|x v IH]; intros [|y w]; simpl; try discriminate; intros [|z u] H;
    simpl; try lra.
  apply andb_prop in H as [H1 H2]. apply Z.eqb_eq, (f_equal IZR) in H1. rewrite !mult_IZR in H1.
  specialize (IH _ u H2).
  replace (IZR b * (IZR x * z + dot v u)) with (IZR x * IZR b * z + IZR b * dot v u) by ring.
  rewrite H1, IH. ring.
Qed.

Lemma first_layer_on_axis f r s m c x t last_relu : rows f = [r] -> (c < m)%nat ->
  dot (fst r) x = IZR (nth c (fst r) 0%Z) * t ->
  compute (f :: s) last_relu x = compute (f :: s) last_relu (axis m c t).
Proof.
  intros R C E. assert (affine f x = affine f (axis m c t)) as A.
  { unfold affine. rewrite R. simpl. unfold value. rewrite dot_axis, E by auto. auto. }
  simpl. unfold active. rewrite A. auto.
Qed.

Theorem line_equal_ok m one two x : is_line_equal m one two = true -> length x = m ->
  fits m one -> fits m two -> compute two false x = compute one false x.
Proof.
  unfold is_line_equal. destruct one as [|f [|g [|h [|? ?]]]]; try discriminate.
  destruct two as [|f' [|g' [|h' [|? ?]]]]; try discriminate.
  destruct (rows f) as [|r [|? ?]] eqn:Row; try discriminate.
  destruct (rows f') as [|r' [|? ?]] eqn:Row'; try discriminate.
  set (c := axis_of 0 (fst r)).
  set (points := breakpoints (nth c (fst r) 0%Z) f r g ++ breakpoints (nth c (fst r') 0%Z) f' r'
    g').
  set (big := fold_left (fun b t => (b + Z.abs (fst t))%Z) points 1%Z). intros H X F F'.
  apply andb_prop in H as [H Eq]. apply andb_prop in H as [H Small].
  apply andb_prop in H as [H Par].
  apply andb_prop in H as [H N']. apply andb_prop in H as [C N].
  apply Nat.ltb_lt in C. apply negb_true_iff, Z.eqb_neq in N, N'.
  pose proof (not_0_IZR _ N) as Nr. pose proof (not_0_IZR _ N') as Nr'.
  set (t := dot (fst r) x / IZR (nth c (fst r) 0%Z)).
  rewrite (first_layer_on_axis f r [g; h] m c x t false Row C) by (unfold t; field; auto).
  rewrite (first_layer_on_axis f' r' [g'; h'] m c x t false Row' C).
  2:{ apply (parallel_dot _ _ _ _ x) in Par. unfold t.
      apply (Rmult_eq_reg_l (IZR (nth c (fst r) 0%Z))); auto.
      rewrite <- Par. field. auto. }
  assert (length (rows h) = length (rows h')) as Len.
  { cbn [forallb] in Eq. apply andb_prop in Eq as [Eq _].
    apply (equal_at_ok _ _ _ _ _ Eq F) in F'. apply (f_equal (@length R)) in F'.
    cbn [compute] in F'. rewrite !affine_length in F'. auto. }
  apply (nth_ext _ _ 0 0); [cbn [compute]; rewrite !affine_length; auto|]. intros o _. symmetry.
  rewrite forallb_forall in Eq.
  assert (forall q, In q ((big, 1%Z) :: ((- big)%Z, 1%Z) :: points) ->
    nth o (compute [f; g; h] false (axis m c (number q))) 0 =
    nth o (compute [f'; g'; h'] false (axis m c (number q))) 0) as At.
  { intros q Q. f_equal. apply equal_at_ok; auto. }
  rewrite forallb_forall in Small.
  apply (equal_on_line (List.map number points)
    (fun t => nth o (compute [f; g; h] false (axis m c t)) 0)
    (fun t => nth o (compute [f'; g'; h'] false (axis m c t)) 0) (IZR big)).
  - intros I U. split; eapply network_affine; eauto; intros q Q; apply U, in_map, in_or_app; auto.
  - unfold points, breakpoints. simpl. discriminate.
  - intros p P. apply in_map_iff in P as (q & <- & Q). specialize (Small q Q).
    apply andb_prop in Small as [D S]. apply Z.ltb_lt in D, S. unfold number.
    apply IZR_lt in D. apply IZR_lt in S. rewrite mult_IZR, abs_IZR in S.
    assert (Rabs (IZR (fst q) / IZR (snd q)) < IZR big) as A.
    { unfold Rdiv. rewrite Rabs_mult, (Rabs_pos_eq (/ IZR (snd q))).
      - apply (Rmult_lt_reg_r (IZR (snd q))); auto. rewrite Rmult_assoc, Rinv_l, Rmult_1_r; lra.
      - apply Rlt_le, Rinv_0_lt_compat. auto. }
    apply Rabs_def2 in A. lra.
  - intros p P. apply in_map_iff in P as (q & <- & Q). apply At. simpl. auto.
  - replace (IZR big) with (number (big, 1%Z)) by (unfold number; simpl; field). apply At. simpl.
    auto.
  - replace (- IZR big) with (number ((- big)%Z, 1%Z)) by (unfold number; cbn [fst snd];
      rewrite opp_IZR; field).
    apply At. simpl. auto.
Qed.
