(** Theorem [shallow]: one hidden layer is determined by the function (claim identifiable among all
    parameters, FORMAT.md, section 3.3).

    The driver reads the evidence and calls [check_shallow]; [shallow_holds] is what an accepted
    certificate proves. *)
Require Import String ZArith NArith QArith Qreals Reals List Bool Lra Lia.
From Coq Require Import FinFun.
From PolyreluVerified Require Import Verdicts Networks Domains Claims Limits Numbers Sentences.
From PolyreluVerified Require Import LinearForms Points Checker.
From PolyreluVerified Require Import Stacks Scaled Related Competitors Invariants Generic.
From PolyreluVerified Require Import Symmetries Refutations RealParameters Shallow Sums.
From PolyreluVerified Require Import Doubled Ranks Assignments.
Import ListNotations.
Open Scope string_scope.
Open Scope list_scope.
Open Scope R_scope.

(** * What is checked *)

(** The point z / d is strictly inside of the domain, and on the hyperplane of a row. *)
Definition strictly_inside (D : domain) (d : Z) (z : list Z) : bool :=
  forallb (fun r =>
    (forallb (Z.eqb 0) (fst r) && (0 <=? snd r)%Z) || (Points.zdot (fst r) z <? d * snd r)%Z)
    (ineqs D).
Definition is_on (d : Z) (z : list Z) (r : row) : bool :=
  (Points.zdot (fst r) z + d * snd r =? 0)%Z.

Fixpoint check_points (p : pair) (rs : list row) (points : list (list Q)) : answer unit :=
  match rs, points with
  | [], [] => Good tt
  | r :: rs', x :: points' =>
      with_point p x
        (require (match scaled_point (inputs p) (place p) x with
                  | Some (d, z) => strictly_inside (place p) d z && is_on d z r
                  | None => false
                  end) "inside: a point on the boundary, or off its hyperplane"
           (check_points p rs' points'))
  | _, _ => Rejected "inside: another number of points"
  end.

(** Points are missing if the domain is R^n. *)
Definition check_inside (p : pair) (rs : list row) (points : option (list (list Q)))
  : answer unit :=
  match points with
  | None => require (match ineqs (place p) with [] => true | _ => false end)
              "inside: no points" (Good tt)
  | Some xs => with_domain p (check_points p rs xs)
  end.

(** [unique] is missing for the method "assignments", for networks with doubled hyperplanes. *)
Definition check_shallow (inputs : nat) (n : net) (D : domain) (points : option (list (list Q)))
  (unique : option sums_evidence) : answer unit :=
  let p := Pair inputs n n D in
  within (well_shaped inputs n) "a wrong shape"
  match stack_of inputs n with
  | Some [lower; upper] =>
      let ws := List.map fst (rows lower) in
      let vs := List.map fst (rows upper) in
      require (negb (relu_last n)) "theorem: the output is not affine"
      (within (rows_fit p) "claim.domain: rows need a coefficient for each input, and a constant"
      (require (match eqs D with [] => true | _ => false end) "claim.domain: equations"
      (and_then (check_inside p (rows lower) points) (fun _ =>
      require (negb (Nat.eqb (length ws) 0) && forallb is_nonzero ws) "visible: a zero row"
      (require (forallb is_nonzero (columns (length ws) vs)) "visible: a zero column"
      (match unique with
       | Some evidence =>
           require (all_differ (List.map augmented (rows lower)))
             "visible: two neurons with one hyperplane" (check_sums inputs ws vs evidence)
       | None =>
           require (match points with None => true | Some _ => false end)
             "unique: no doubled hyperplane on a domain"
             (check_assignments inputs (length vs) (rows lower) (columns (length ws) vs))
       end))))))
  | Some _ => Rejected "theorem: not two layers"
  | None => Unreadable "claim: only plain stacks have claims of this kind"
  end.

(** * Inputs as functions *)

Definition listed (n : nat) (x : nat -> R) : list R := List.map x (seq 0 n).
Definition inside_of (n : nat) (D : domain) (x : nat -> R) : Prop := interior D (listed n x).

Lemma nth_listed n x k : (k < n)%nat -> nth k (listed n x) 0 = x k.
Proof.
  intro K. unfold listed. rewrite nth_indep with (d' := x 0%nat)
    by (rewrite map_length, seq_length; auto).
  rewrite map_nth, seq_nth; auto.
Qed.

Lemma dot_line w x y t l : dot w (List.map (line x y t) l) =
  dot w (List.map x l) + t * (dot w (List.map y l) - dot w (List.map x l)).
Proof.
  revert l. induction w as [|c w IH]; intros [|k l]; simpl; try ring. rewrite IH. unfold line. ring.
Qed.

Lemma near_below a b c : a < c -> near (fun t => a + t * b < c /\ a + - t * b < c).
Proof.
  intro L. pose proof (Rabs_pos b). exists ((c - a) / (1 + Rabs b)).
  split. { apply Rdiv_lt_0_compat; lra. }
  intros t [T1 T2]. apply (Rmult_lt_compat_r (1 + Rabs b)) in T2; [|lra].
  replace ((c - a) / (1 + Rabs b) * (1 + Rabs b)) with (c - a) in T2 by (field; lra).
  assert (- (t * Rabs b) <= t * b <= t * Rabs b).
  { unfold Rabs. destruct (Rcase_abs b); nra. }
  split; nra.
Qed.

Lemma inside_open n D : open_on_lines (inside_of n D).
Proof.
  intros x y. unfold inside_of, interior, listed. induction 1 as [|r rs H F IH].
  - exists 1. split; [lra|auto].
  - assert (near (fun t =>
      let ok z := (Forall (fun c => c = 0%Z) (fst r) /\ (0 <= snd r)%Z) \/
        dot (fst r) (List.map z (seq 0 n)) < IZR (snd r) in
      ok (line x y t) /\ ok (line x y (- t)))) as Near.
    { destruct H as [H|H]. { exists 1. split; [lra|simpl; auto]. }
      destruct (near_below _ (dot (fst r) (List.map y (seq 0 n)) -
        dot (fst r) (List.map x (seq 0 n))) _ H) as (T & T0 & K).
      exists T. split; auto. intros t B. destruct (K t B). simpl. rewrite !dot_line. auto. }
    destruct (near_and _ _ Near IH) as (T & T0 & K). exists T. split; auto. intros t B.
    destruct (K t B) as [[A1 A2] [A3 A4]]. split; constructor; auto.
Qed.

Lemma form_ext n w b x y : (forall k, (k < n)%nat -> x k = y k) -> form n w b x = form n w b y.
Proof. intro H. unfold form. f_equal. apply sum_ext. intros k K. rewrite H; auto. Qed.

Lemma output_ext n q p o x y : (forall k, (k < n)%nat -> x k = y k) ->
  output n q p o x = output n q p o y.
Proof.
  intro H. unfold output, hidden. f_equal. apply sum_ext. intros i _.
  rewrite (form_ext n _ _ x y); auto.
Qed.

(** * The function of a network with one hidden layer *)

Section Two_layers.
Variables (m : nat) (n : net) (lower upper : plain).
Hypothesis stack : stack_of m n = Some [lower; upper].
Hypothesis affine_output : relu_last n = false.

Lemma lower_fits : (0 < over lower)%Z /\ Forall (fun r => length (fst r) = m) (rows lower) /\
  (0 < over upper)%Z /\ Forall (fun r => length (fst r) = length (rows lower)) (rows upper).
Proof. pose proof (stack_of_fits _ _ _ stack) as F. simpl in F. tauto. Qed.

Lemma width_lower : width m n 1 = length (rows lower).
Proof. apply (stack_of_weights m n _ 1 0 stack). simpl. lia. Qed.
Lemma width_upper : width m n 2 = length (rows upper).
Proof. apply (stack_of_weights m n _ 2 0 stack). simpl. lia. Qed.
Lemma weight_lower i k : weight n 1 i k = entry lower i k.
Proof. apply (stack_of_weights m n _ 1 i stack). simpl. lia. Qed.
Lemma weight_upper i k : weight n 2 i k = entry upper i k.
Proof. apply (stack_of_weights m n _ 2 i stack). simpl. lia. Qed.
Lemma bias_lower i : bias n 1 i = shift lower i.
Proof. apply (stack_of_weights m n _ 1 i stack). simpl. lia. Qed.
Lemma bias_upper i : bias n 2 i = shift upper i.
Proof. apply (stack_of_weights m n _ 2 i stack). simpl. lia. Qed.

Lemma nth_affine_sum p u i k : (i < length (rows p))%nat -> length u = k ->
  Forall (fun r => length (fst r) = k) (rows p) ->
  nth i (affine p u) 0 = sum k (fun j => entry p i j * nth j u 0) + shift p i.
Proof.
  intros I U F. rewrite nth_affine by auto. f_equal. rewrite Forall_forall in F.
  rewrite (dot_sum _ u k) by (auto; apply F, nth_In; auto). unfold Rdiv.
  rewrite Rmult_comm, <- sum_times. apply sum_ext. intros j _. unfold entry, Rdiv. ring.
Qed.

(** What [output] says is the function of the network. *)
Lemma output_is_eval x o : length x = m -> (o < length (rows upper))%nat ->
  nth o (eval n x) 0 = output m (length (rows lower)) (of_network n) o (fun k => nth k x 0).
Proof.
  intros X O. destruct lower_fits as (_ & L & _ & U).
  rewrite (stack_of_ok _ _ _ x stack), affine_output. cbn [compute].
  rewrite (nth_affine_sum upper _ o (length (rows lower))); auto using active_length.
  unfold output, of_network. cbn [weight_of bias_of]. rewrite bias_upper. f_equal. apply sum_ext.
  intros i I. rewrite weight_upper. f_equal. unfold active.
  rewrite nth_indep with (d' := relu 0) by (rewrite map_length, affine_length; auto).
  rewrite map_nth. f_equal. rewrite (nth_affine_sum lower x i m) by auto.
  unfold hidden, form. cbn [weight_of bias_of]. rewrite bias_lower. f_equal. apply sum_ext.
  intros k _. rewrite weight_lower. auto.
Qed.
End Two_layers.

(** * Soundness *)

Lemma at_rows p i k : at_ (List.map fst (rows p)) i k = nth k (fst (nth i (rows p) no_row)) 0%Z.
Proof. unfold at_. change (@nil Z) with (fst no_row) at 1. rewrite map_nth. auto. Qed.

Lemma entry_at p i k : entry p i k = IZR (at_ (List.map fst (rows p)) i k) / IZR (over p).
Proof. unfold entry. rewrite at_rows. auto. Qed.

Lemma zdot_of_point d z xs w : Forall2 (fun c y => IZR c = IZR d * y) z xs ->
  IZR (Points.zdot w z) = IZR d * dot w xs.
Proof.
  intro F. revert w. induction F as [|c y z xs H F IH]; intros [|b w]; simpl;
    try (rewrite Rmult_0_r; auto; fail). rewrite plus_IZR, mult_IZR, IH, H. ring.
Qed.

Lemma check_points_ok p : forall rs points, check_points p rs points = Good tt ->
  Forall2 (fun r x => length x = inputs p /\ interior (place p) (List.map Q2R x) /\
    value r (List.map Q2R x) = 0) rs points.
Proof.
  induction rs as [|r rs IH]; intros [|x points]; simpl; try discriminate; [constructor|].
  intro H. apply with_point_good in H as [_ H]. apply require_good in H as [E H].
  constructor; auto. clear IH H.
  destruct (scaled_point (inputs p) (place p) x) as [[d z]|] eqn:S; [|discriminate].
  apply scaled_point_ok in S as (P & L & F & _). apply andb_prop in E as [E1 E2].
  pose proof (zdot_of_point d z _ (fst r) F) as V. apply IZR_lt in P.
  split; [auto|]. split.
  - apply Forall_forall. intros s I. unfold strictly_inside in E1. rewrite forallb_forall in E1.
    specialize (E1 s I). apply orb_prop in E1 as [E1|E1].
    + left. apply andb_prop in E1 as [A B]. apply Z.leb_le in B. split; auto.
      apply Forall_forall. intros c C. rewrite forallb_forall in A. symmetry. apply Z.eqb_eq. auto.
    + right. apply Z.ltb_lt, IZR_lt in E1. rewrite (zdot_of_point d z _ _ F), mult_IZR in E1. nra.
  - apply Z.eqb_eq, (f_equal IZR) in E2. rewrite plus_IZR, mult_IZR, V in E2. unfold value.
    apply (Rmult_eq_reg_l (IZR d)); lra.
Qed.

(** An accepted certificate proves its claim. *)
Theorem shallow_holds m n D points unique :
  check_shallow m n D points unique = Good tt -> identifiable m n D.
Proof.
  unfold check_shallow. intro H. apply within_good in H as [Shape H].
  destruct (stack_of m n) as [s|] eqn:St; [|discriminate].
  destruct s as [|lower [|upper [|? ?]]]; try discriminate.
  apply require_good in H as [Last H]. apply negb_true_iff in Last.
  apply within_good in H as [Fit H]. apply require_good in H as [Eqs H].
  apply and_then_good in H as ([] & Inside & H). apply require_good in H as [Rows H].
  apply andb_prop in Rows as [Some_row Rows]. apply require_good in H as [Columns H].
  rewrite map_length in Some_row, Columns.
  apply negb_true_iff, Nat.eqb_neq in Some_row.
  destruct (lower_fits m n lower upper St) as (Dl & Fl & Du & Fu). apply IZR_lt in Dl, Du.
  unfold identifiable. rewrite (width_lower m n lower upper St), (width_upper m n lower upper St).
  split. { split; [auto|]. eapply plain_of_stack; eauto. }
  split. { unfold depth. pose proof (stack_of_layers _ _ _ St) as [P _].
    apply plain_layers_length in P. simpl in P. auto. }
  split; [auto|]. split.
  { unfold rows_fit in Fit. rewrite forallb_app in Fit. apply andb_prop in Fit as [Fit _].
    rewrite forallb_forall in Fit. apply Forall_forall. intros r I. apply Nat.eqb_eq. apply Fit.
    auto. }
  split. { destruct (eqs D); [auto|discriminate]. }
  intros q Equal.
  set (w := length (rows lower)) in *. set (v := length (rows upper)) in *.
  change (w <> 0)%nat in Some_row.
  assert (forall i, (i < w)%nat -> exists k, (k < m)%nat /\ weight n 1 i k <> 0) as Nonzero.
  { intros i I. rewrite forallb_forall in Rows.
    destruct (is_nonzero_ok (fst (nth i (rows lower) no_row))) as (k & K & N).
    { apply Rows, in_map, nth_In. auto. }
    rewrite Forall_forall in Fl. rewrite (Fl _ (nth_In _ no_row I)) in K. exists k. split; auto.
    rewrite (weight_lower m n lower upper St). unfold entry, Rdiv. intro E.
    apply Rmult_integral in E as [E|E].
    - apply N, eq_IZR. auto.
    - revert E. apply Rinv_neq_0_compat. lra. }
  assert (forall i, (i < w)%nat -> exists o, (o < v)%nat /\ weight n 2 o i <> 0) as Nonzero_columns.
  { intros i I. rewrite forallb_forall in Columns.
    assert (is_nonzero (nth i (columns w (List.map fst (rows upper))) []) = true) as C.
    { apply Columns, nth_In. rewrite columns_length. auto. }
    apply is_nonzero_ok in C as (o & O & N). fold (at_ (columns w (List.map fst (rows upper))) i o)
      in N. rewrite columns_at in N by auto.
    rewrite columns_ok, !map_length in O by auto. exists o. split; auto. unfold of_network. simpl.
    rewrite (weight_upper m n lower upper St), entry_at. unfold Rdiv. intro E.
    apply Rmult_integral in E as [E|E].
    + apply N, eq_IZR. auto.
    + revert E. apply Rinv_neq_0_compat. lra. }
  assert (forall x o, inside_of m D x -> (o < v)%nat ->
    output m w (of_network n) o x = output m w q o x) as Equal'.
  { intros x o X O. pose proof (Equal (listed m x) o) as E.
    rewrite (output_is_eval m n lower upper St Last) in E;
      try (unfold listed; rewrite map_length, seq_length; auto); auto.
    rewrite (output_ext m w (of_network n) o x (fun k => nth k (listed m x) 0))
      by (intros; rewrite nth_listed; auto).
    rewrite (output_ext m w q o x (fun k => nth k (listed m x) 0))
      by (intros; rewrite nth_listed; auto).
    symmetry. apply E; auto. unfold listed. rewrite map_length, seq_length. auto. }
  destruct unique as [unique|]; [apply require_good in H as [Differ H]|].
  2:{ apply require_good in H as [Points H]. destruct points as [xs|]; [discriminate|].
    apply require_good in Inside as [Whole _]. rewrite !map_length in H.
    apply (check_assignments_ok m v (rows lower) (columns w (List.map fst (rows upper)))
      (of_network n) q (IZR (over lower)) (IZR (over upper))); auto.
    - intros i k I. simpl. rewrite (weight_lower m n lower upper St). auto.
    - intros i I. simpl. rewrite (bias_lower m n lower upper St). auto.
    - intros o i O I. simpl. rewrite (weight_upper m n lower upper St), entry_at, columns_at; auto.
    - rewrite columns_length. split; auto. apply Forall_forall. intros c I.
      apply (In_nth _ _ []) in I as (i & I & <-). rewrite columns_length in I.
      rewrite columns_ok, !map_length by auto. auto.
    - intros x o O. apply Equal'; auto. unfold inside_of, interior. simpl in Whole.
      destruct (ineqs D); [constructor|discriminate]. }
  assert (forall i x, (i < w)%nat -> length x = m -> value (nth i (rows lower) no_row) x = 0 ->
    form m (weight n 1 i) (bias n 1 i) (fun k => nth k x 0) = 0) as On.
  { intros i x I X V. pose proof (nth_affine_sum lower x i m I X Fl) as E. unfold affine in E.
    rewrite (nth_map_row (fun r => value r x / IZR (over lower)) 0) in E by auto.
    rewrite V in E. unfold form. rewrite (bias_lower m n lower upper St).
    rewrite (sum_ext _ _ (fun j => entry lower i j * nth j x 0))
      by (intros; rewrite (weight_lower m n lower upper St); auto).
    rewrite <- E. unfold Rdiv. ring. }
  assert (forall i, (i < w)%nat -> exists x, inside_of m D x /\
    form m (weight n 1 i) (bias n 1 i) x = 0) as Hyperplanes.
  { intros i I. unfold check_inside in Inside. destruct points as [xs|].
    - apply with_domain_good in Inside as (_ & _ & Inside). apply check_points_ok in Inside.
      simpl in Inside. clear - Inside I On.
      assert (exists x, length x = m /\ interior D (List.map Q2R x) /\
        value (nth i (rows lower) no_row) (List.map Q2R x) = 0) as (x & L & In & V).
      { clear On. unfold w in I. revert i I.
        induction Inside as [|r x rs xs K F IH]; simpl; intros i I; [lia|].
        destruct i as [|i]; [exists x; auto|]. apply IH. lia. }
      exists (fun k => nth k (List.map Q2R x) 0). split.
      + unfold inside_of, listed. rewrite <- L, <- (map_length Q2R x), map_seq. auto.
      + apply On; auto. rewrite map_length. auto.
    - apply require_good in Inside as [None _]. destruct (Nonzero i I) as (k & K & N).
      exists (axis k (- bias n 1 i / weight n 1 i k)). split.
      + unfold inside_of, interior. simpl in None. destruct (ineqs D); [constructor|discriminate].
      + rewrite form_axis by auto. field. auto. }
  assert (forall i j s, (i < w)%nat -> (j < w)%nat ->
    multiple m s (weight n 1 i) (bias n 1 i) (weight n 1 j) (bias n 1 j) ->
    differ (nth i (List.map augmented (rows lower)) [])
      (nth j (List.map augmented (rows lower)) []) = false) as Multiple.
  { intros i j s I J [A B]. apply (differ_ok s).
    assert (forall i, (i < w)%nat -> nth i (List.map augmented (rows lower)) [] =
      augmented (nth i (rows lower) no_row)) as At.
    { intros k K. rewrite nth_indep with (d' := augmented no_row) by (rewrite map_length; auto).
      apply map_nth. }
    rewrite !At by auto. unfold augmented. rewrite Forall_forall in Fl.
    pose proof (Fl _ (nth_In _ no_row I)) as Li. pose proof (Fl _ (nth_In _ no_row J)) as Lj.
    apply Forall2_app.
    - apply forall2_of_nth; [congruence|]. intros k K. rewrite Li in K. specialize (A k K).
      rewrite !(weight_lower m n lower upper St) in A. unfold entry in A.
      apply (Rmult_eq_reg_r (/ IZR (over lower))); [|apply Rinv_neq_0_compat; lra].
      unfold Rdiv in A. rewrite A. ring.
    - constructor; [|constructor]. rewrite !(bias_lower m n lower upper St) in B. unfold shift in B.
      apply (Rmult_eq_reg_r (/ IZR (over lower))); [|apply Rinv_neq_0_compat; lra].
      unfold Rdiv in B. rewrite B. ring. }
  apply (shallow_unique m w v (of_network n) q (inside_of m D)).
  - apply inside_open.
  - destruct (Hyperplanes 0%nat) as (x & X & _); [lia|]. eauto.
  - apply Hyperplanes.
  - exact Equal'.
  - apply Nonzero.
  - exact Nonzero_columns.
  - simpl. intros i j s I J Ne M. destruct (Nat.lt_total i j) as [L|[L|L]]; [|tauto|].
    + pose proof (all_differ_ok _ i j Differ L) as T. rewrite map_length in T.
      rewrite (Multiple i j s) in T by auto. specialize (T J). discriminate.
    + destruct (Nonzero j J) as (k & K & N). destruct M as [A B].
      assert (s <> 0) as Sn. { intros ->. apply N. rewrite A by auto. ring. }
      pose proof (all_differ_ok _ j i Differ L) as T. rewrite map_length in T.
      rewrite (Multiple j i (/ s)) in T; [specialize (T I); discriminate|auto|auto|].
      split; [intros k' K'; rewrite A by auto|rewrite B]; field; auto.
  - intros T N. simpl. destruct (check_sums_ok m _ _ unique T H) as (o & k & O & K & S).
    + apply Forall_map. auto.
    + apply Forall_map. rewrite map_length. auto.
    + rewrite map_length. auto.
    + rewrite map_length in O. exists o, k. split; [auto|split; [auto|]]. intro E. apply S.
      rewrite map_length. fold w. apply (Rmult_eq_reg_l (/ (IZR (over lower) * IZR (over upper)))).
      * rewrite Rmult_0_r. etransitivity; [|exact E]. rewrite <- sum_times.
        apply sum_ext. intros i _. destruct (T i); [|ring].
        rewrite (weight_upper m n lower upper St), (weight_lower m n lower upper St), !entry_at.
        field. lra.
      * apply Rinv_neq_0_compat. nra.
Qed.

(** In particular, networks of this architecture that compute the same function are related. *)
Theorem identifiable_networks m n D two t : identifiable m n D ->
  stack_of m two = Some t -> same_architecture m n two ->
  (forall x, length x = m -> interior D x -> eval two x = eval n x) -> related m n two.
Proof.
  intros (_ & Depth & Last & _ & _ & H) T Same Equal. split; auto.
  destruct Same as (Depth2 & Last2 & Widths). rewrite Depth in Depth2. rewrite Last in Last2.
  pose proof (plain_layers_length _ _ _ _ (proj1 (stack_of_layers _ _ _ T))) as L.
  unfold depth in Depth2. rewrite <- Depth2 in L.
  destruct t as [|lower [|upper [|? ?]]]; try discriminate. clear L.
  destruct (H (of_network two)) as (place & scale & B & I & P & R & O).
  { intros x o X Dx Ho. rewrite <- Equal by auto. rewrite (Widths 1%nat), (Widths 2%nat) in *.
    rewrite (width_upper _ _ _ _ T) in Ho. rewrite (width_lower _ _ _ _ T). symmetry.
    apply (output_is_eval _ _ _ _ T); auto. }
  set (w := width m n 1) in *. cbn [of_network weight_of bias_of] in *.
  exists (fun l i => if Nat.eqb l 1 then place i else i),
    (fun l i => if Nat.eqb l 1 && Nat.ltb i w then scale i else 1). rewrite Depth.
  split; [|split; [|split]].
  - intros l _. destruct (Nat.eqb_spec l 1) as [->|]; [auto|].
    split; [intros i Hi; auto|intros i j _ _ E; auto].
  - intros l i. destruct (Nat.eqb l 1); simpl; [|lra]. destruct (Nat.ltb_spec i w); [auto|lra].
  - intros l i [->| ->]; auto.
  - intros l i Hl Hi. assert (l = 1 \/ l = 2)%nat as [->| ->] by lia; simpl.
    + change (i < w)%nat in Hi. destruct (Nat.ltb_spec i w) as [_|]; [|lia].
      destruct (R i Hi) as [Rb Rw]. split; auto. intros j Hj. rewrite Rw by auto. field.
    + destruct (O i Hi) as [Ob Ow]. split; [rewrite Ob; ring|]. intros j Hj.
      change (j < w)%nat in Hj. destruct (Nat.ltb_spec j w) as [J|]; [|lia].
      rewrite Ow by auto. specialize (P j J). field. lra.
Qed.

(** * The sentence of the claim, as checker.py prints it *)

Definition identifiable_sentence (hash : string) (inputs : nat) (n : net) (D : domain) : string :=
  let whole := place_words inputs D in
  let everywhere := String.eqb whole "R^n" in
  ("Network " ++ hash ++ ", " ++ network_words inputs n ++ ", is identifiable on " ++
  (if everywhere then whole else "the interior of " ++ whole) ++ " among all parameters: " ++
  "all of them that have this architecture and compute the same real function" ++
  (if everywhere then "" else " there") ++
  " are related to it by permuting and positively scaling hidden neurons.")%string.
