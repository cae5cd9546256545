(** What a network looks like near a point (docs/theory/cells.md): a foundation, which supports no
    verdict.

    [cell_flat] and [cell_open] are the second half of Statement 2: the cell of x is an open subset
    of the affine space x + K(x), whose dimension is found in Codimension.v. [signs_stay],
    [local_form], [homogeneous] and [flat_directions] are Statement 3, and [closures] is Statement
    4. Distances are largest differences of entries. As in Cells.v, any skip connections are allowed
    and nothing is assumed to be generic; [ls] may contain the layer of the outputs, whose signs
    change nothing in the layers before it. *)
Require Import ZArith Reals List Bool Lra Lia.
From PolyreluVerified Require Import Networks Numbers Cells.
Import ListNotations.
Open Scope R_scope.

(** * Statements *)

(** No entry differs by more than [e]. *)
Definition close (e : R) : list R -> list R -> Prop := Forall2 (fun a b => Rabs (a - b) <= e).

(** The affine functions of the neurons that are 0 at [x] are 0 at [y]: [y] lies in x + K(x). *)
Definition flat (ls : list layer) (x y : list R) : Prop :=
  Forall2 (Forall2 (fun e z => e = 0%Z -> z = 0)) (sign_vector ls x) (kept_at ls x y).

(** Neuron [i] of layer [l], both counted from 0, in lists by layers; 0 and 1 stand where no neuron
    is. *)
Definition entry (zs : list (list R)) (l i : nat) : R := nth i (nth l zs []) 0.
Definition sign_at (s : list (list Z)) (l i : nat) : Z := nth i (nth l s []) 1%Z.

(** What a layer hands on if the neurons with sign 1 are kept, and [u] is put in for those with
    sign 0. *)
Fixpoint fill (s : list Z) (u : nat -> R) (z : list R) : list R :=
  match s, z with
  | e :: s', a :: z' =>
      (if (e =? 1)%Z then a else if (e =? 0)%Z then u 0%nat else 0) ::
      fill s' (fun j => u (S j)) z'
  | _, _ => []
  end.

(** The preactivations without biases, after layers with the activations [acts], if exactly the
    neurons with sign 1 are kept, and the numbers [u] are put in for those with sign 0. At the
    input 0, for which an empty list stands, they are linear in [u]. *)
Definition pre_linear (acts : list (list R)) (d : Z) (n : neuron) : R :=
  sum_rows acts (snd n) / IZR d.
Fixpoint response (s : list (list Z)) (u : nat -> nat -> R) (ls : list layer)
  (acts : list (list R)) : list (list R) :=
  match s, ls with
  | e :: s', l :: ls' =>
      let z := List.map (pre_linear acts (den l)) (neurons l) in
      z :: response s' (fun k => u (S k)) ls' (acts ++ [fill e (u 0%nat) z])
  | _, _ => []
  end.

Definition unit_at (p : nat * nat) (k j : nat) : R :=
  if (Nat.eqb (fst p) k && Nat.eqb (snd p) j)%bool then 1 else 0.

(** The derivative of neuron [w] with respect to the activation of the zero [u]. *)
Definition coefficient (ls : list layer) (x : list R) (w u : nat * nat) : R :=
  entry (response (sign_vector ls x) (unit_at u) ls [[]]) (fst w) (snd w).

Definition sum_of {A} (P : list A) (f : A -> R) : R := fold_right (fun p s => f p + s) 0 P.

(** * Continuity *)

Lemma dot_close w : exists L, 0 <= L /\ forall e u v, 0 <= e -> close e u v ->
  Rabs (dot w u - dot w v) <= L * e.
Proof.
  induction w as [|c w (L & L0 & H)].
  - exists 0. split; [lra|]. intros e u v E F. simpl. rewrite Rminus_0_r, Rabs_R0. lra.
  - exists (Rabs (IZR c) + L). pose proof (Rabs_pos (IZR c)) as C. split; [lra|].
    intros e u v E F. destruct F as [|a b u v A F]; simpl.
    + rewrite Rminus_0_r, Rabs_R0. nra.
    + specialize (H e u v E F). pose proof (Rabs_mult (IZR c) (a - b)) as M.
      pose proof (Rabs_triang (IZR c * (a - b)) (dot w u - dot w v)) as T.
      replace (IZR c * a + dot w u - (IZR c * b + dot w v))
        with (IZR c * (a - b) + (dot w u - dot w v)) by ring. nra.
Qed.

Lemma nth_close e k a b : Forall2 (close e) a b -> close e (nth k a []) (nth k b []).
Proof. intro F. revert k. induction F; intros [|k]; simpl; auto; constructor. Qed.

Lemma sum_rows_close rows : exists L, 0 <= L /\ forall e a b, 0 <= e -> Forall2 (close e) a b ->
  Rabs (sum_rows a rows - sum_rows b rows) <= L * e.
Proof.
  unfold sum_rows. induction rows as [|[k w] rows (L & L0 & H)].
  - exists 0. split; [lra|]. intros e a b E F. simpl. rewrite Rminus_0_r, Rabs_R0. lra.
  - destruct (dot_close w) as (M & M0 & G). exists (M + L). split; [lra|]. intros e a b E F.
    specialize (H e a b E F). specialize (G e _ _ E (nth_close e k a b F)). simpl in *.
    match goal with |- Rabs (?p + ?q - (?r + ?s)) <= _ =>
      replace (p + q - (r + s)) with ((p - r) + (q - s)) by ring;
      pose proof (Rabs_triang (p - r) (q - s)) end. lra.
Qed.

Lemma pre_close d n : exists L, 0 <= L /\ forall e a b, 0 <= e -> Forall2 (close e) a b ->
  Rabs (pre a d n - pre b d n) <= L * e.
Proof.
  destruct (sum_rows_close (snd n)) as (L & L0 & H). exists (L * Rabs (/ IZR d)).
  pose proof (Rabs_pos (/ IZR d)) as D. split; [nra|]. intros e a b E F. specialize (H e a b E F).
  unfold pre. replace (_ / IZR d - _ / IZR d) with
    ((sum_rows a (snd n) - sum_rows b (snd n)) * / IZR d) by (unfold Rdiv; ring).
  rewrite Rabs_mult. nra.
Qed.

Lemma close_more e f u v : e <= f -> close e u v -> close f u v.
Proof. intros L F. induction F; constructor; auto. lra. Qed.

Lemma pres_close d ns : exists L, 0 <= L /\ forall e a b, 0 <= e -> Forall2 (close e) a b ->
  close (L * e) (List.map (pre a d) ns) (List.map (pre b d) ns).
Proof.
  induction ns as [|n ns (L & L0 & H)]. { exists 0. split; [lra|]. intros; constructor. }
  destruct (pre_close d n) as (M & M0 & G). exists (M + L). split; [lra|]. intros e a b E F.
  constructor.
  - specialize (G e a b E F). nra.
  - apply (close_more (L * e)); [nra|]. exact (H e a b E F).
Qed.

(** A function of rows that does not move entries apart. *)
Definition short (f : list R -> list R) : Prop :=
  forall e u v, 0 <= e -> close e u v -> close e (f u) (f v).

(** [preactivations] and [kept] differ in what they do to a layer. *)
Fixpoint passing (fs : list (list R -> list R)) (ls : list layer) (acts : list (list R)) :=
  match fs, ls with
  | f :: fs', l :: ls' =>
      let z := List.map (pre acts (den l)) (neurons l) in z :: passing fs' ls' (acts ++ [f z])
  | _, _ => []
  end.

Lemma passing_close fs : Forall short fs -> forall ls, exists L, 0 <= L /\ forall e a b, 0 <= e ->
  Forall2 (close e) a b -> Forall2 (close (L * e)) (passing fs ls a) (passing fs ls b).
Proof.
  induction 1 as [|f fs S _ IH]; intros [|l ls]; simpl;
    try (exists 0; split; [lra|intros; constructor]; fail).
  destruct (pres_close (den l) (neurons l)) as (L & L0 & H). destruct (IH ls) as (M & M0 & G).
  exists (L + M * (1 + L)). split; [nra|]. intros e a b E F. specialize (H e a b E F).
  assert (0 <= L * e) as P by nra. constructor.
  - apply (close_more (L * e)); auto. nra.
  - assert (Forall2 (close (M * ((1 + L) * e)))
      (passing fs ls (a ++ [f (List.map (pre a (den l)) (neurons l))]))
      (passing fs ls (b ++ [f (List.map (pre b (den l)) (neurons l))]))) as K.
    { apply G; [nra|]. apply Forall2_app.
      - clear - F E L0. induction F; constructor; auto. apply (close_more e); auto. nra.
      - constructor; [|constructor]. apply (close_more (L * e)); [nra|]. apply S; auto. }
    clear - K P. induction K as [|u v us vs A K IHK]; constructor; auto.
    apply (close_more (M * ((1 + L) * e))); auto. nra.
Qed.

Lemma relu_short : short (List.map relu).
Proof.
  intros e u v E F. induction F as [|a b u v A F IH]; constructor; auto.
  eapply Rle_trans; [|exact A]. unfold relu, Rmax.
  destruct (Rle_dec a 0), (Rle_dec b 0); unfold Rabs;
    repeat destruct (Rcase_abs _); lra.
Qed.

Lemma keep_short s : short (keep s).
Proof.
  induction s as [|c s IH]; intros e u v E F; simpl; [constructor|].
  destruct F as [|a b u v A F]; constructor.
  - destruct (c =? 1)%Z; auto. rewrite Rminus_0_r, Rabs_R0. auto.
  - apply IH; auto.
Qed.

Lemma kept_passing s : forall ls a, kept s ls a = passing (List.map keep s) ls a.
Proof. induction s as [|e s IH]; intros [|l ls] a; simpl; auto. f_equal. apply IH. Qed.

Lemma preactivations_passing ls : forall a,
  preactivations ls a = passing (List.map (fun _ => List.map relu) ls) ls a.
Proof. induction ls as [|l ls IH]; intro a; simpl; auto. f_equal. apply IH. Qed.

Lemma kept_close s ls : exists L, 0 <= L /\ forall e x y, 0 <= e -> close e x y ->
  Forall2 (close (L * e)) (kept s ls [x]) (kept s ls [y]).
Proof.
  destruct (passing_close (List.map keep s)) with (ls := ls) as (L & L0 & H).
  { apply Forall_forall. intros f I. apply in_map_iff in I as (c & <- & _). apply keep_short. }
  exists L. split; auto. intros e x y E F. rewrite !kept_passing. apply H; auto.
Qed.

Lemma preactivations_close ls : exists L, 0 <= L /\ forall e x y, 0 <= e -> close e x y ->
  Forall2 (close (L * e)) (preactivations ls [x]) (preactivations ls [y]).
Proof.
  destruct (passing_close (List.map (fun _ => List.map relu) ls)) with (ls := ls)
    as (L & L0 & H).
  { apply Forall_forall. intros f I. apply in_map_iff in I as (c & <- & _). apply relu_short. }
  exists L. split; auto. intros e x y E F. rewrite !preactivations_passing. apply H; auto.
Qed.

(** * Signs nearby *)

Lemma sign_near a : exists T, 0 < T /\ forall e b, e < T -> Rabs (a - b) <= e ->
  sign a = 0%Z \/ sign a = sign b.
Proof.
  destruct (Req_EM_T a 0) as [->|N].
  - exists 1. split; [lra|]. intros. left.
    destruct (sign_spec 0) as [[A _]|[[A _]|[_ ->]]]; auto; lra.
  - exists (Rabs a). split; [apply Rabs_pos_lt; auto|]. intros e b E H. right.
    assert (Rabs (a - b) < Rabs a) as K by lra. clear E H.
    destruct (sign_spec a) as [[A ->]|[[A ->]|[A _]]]; [| |tauto];
      destruct (sign_spec b) as [[B ->]|[[B ->]|[B ->]]]; auto; exfalso; revert K;
      unfold Rabs; repeat destruct (Rcase_abs _); lra.
Qed.

Lemma row_near u : exists T, 0 < T /\ forall e v, e < T -> close e u v ->
  Forall2 (fun e f => e = 0%Z \/ e = f) (List.map sign u) (List.map sign v).
Proof.
  induction u as [|a u (T & T0 & H)].
  - exists 1. split; [lra|]. intros e v _ F. inversion F. constructor.
  - destruct (sign_near a) as (S & S0 & G). exists (Rmin S T). split; [apply Rmin_glb_lt; auto|].
    intros e v E F. pose proof (Rmin_l S T). pose proof (Rmin_r S T).
    inversion F; subst. constructor; [apply (G e)|apply (H e)]; auto; lra.
Qed.

Lemma signs_near zs : exists T, 0 < T /\ forall e zs', e < T -> Forall2 (close e) zs zs' ->
  is_face (signs zs) (signs zs').
Proof.
  induction zs as [|u zs (T & T0 & H)].
  - exists 1. split; [lra|]. intros e v _ F. inversion F. constructor.
  - destruct (row_near u) as (S & S0 & G). exists (Rmin S T). split; [apply Rmin_glb_lt; auto|].
    intros e v E F. pose proof (Rmin_l S T). pose proof (Rmin_r S T).
    inversion F; subst. constructor; [apply (G e)|apply (H e)]; auto; lra.
Qed.

Lemma small L T : 0 <= L -> 0 < T -> 0 < T / (L + 1) /\ L * (T / (L + 1)) < T.
Proof.
  intros L0 T0. assert (0 < T / (L + 1)) as P by (apply Rdiv_lt_0_compat; lra). split; auto.
  assert ((L + 1) * (T / (L + 1)) = T) by (field; lra). nra.
Qed.

(** Statement 3, first sentence: near [x] all signs of [x] that are not 0 stay. *)
Theorem signs_stay ls x : exists T, 0 < T /\ forall y, close T x y ->
  is_face (sign_vector ls x) (sign_vector ls y).
Proof.
  destruct (preactivations_close ls) as (L & L0 & H).
  destruct (signs_near (preactivations ls [x])) as (T & T0 & G).
  destruct (small L T L0 T0) as [P Q]. exists (T / (L + 1)). split; auto. intros y F.
  apply (G _ _ Q), H; auto. lra.
Qed.

(** * Cells are open in x + K(x) *)

Lemma zeros_of_signs zs : forall s, signs zs = s ->
  Forall2 (Forall2 (fun e z => e = 0%Z -> z = 0)) s zs.
Proof.
  intros s <-. unfold signs. induction zs as [|u zs IH]; constructor; auto. clear IH.
  induction u as [|a u IH]; constructor; auto. intro E.
  destruct (sign_spec a) as [[A B]|[[A B]|[A B]]]; rewrite B in E; auto; discriminate.
Qed.

Lemma flat_signs s : forall zs, is_face s (signs zs) ->
  Forall2 (Forall2 (fun e z => e = 0%Z -> z = 0)) s zs -> signs zs = s.
Proof.
  assert (sign 0 = 0%Z) as Z by (destruct (sign_spec 0) as [[A _]|[[A _]|[_ E]]]; auto; lra).
  induction s as [|e s IH]; intros [|u zs] F G; inversion F; inversion G; subst; auto.
  unfold signs in *. simpl. f_equal; auto.
  match goal with A : Forall2 _ e (List.map sign u), B : Forall2 _ e u |- _ =>
    clear - A B Z; revert u A B end.
  induction e as [|c e IH]; intros [|a u] A B; inversion A; inversion B; subst; auto.
  simpl. f_equal; auto. match goal with H : _ \/ _ |- _ => destruct H as [H|H] end; auto.
  subst. match goal with H : 0%Z = 0%Z -> _ |- _ => rewrite H; auto end.
Qed.

(** Statement 2: the cell of [x] lies in the affine space x + K(x) ... *)
Theorem cell_flat ls x y : sign_vector ls y = sign_vector ls x -> flat ls x y.
Proof. intro H. apply zeros_of_signs, same_signs_iff. auto. Qed.

(** ... and is open in it. *)
Theorem cell_open ls x y : sign_vector ls y = sign_vector ls x ->
  exists T, 0 < T /\ forall z, close T y z -> flat ls x z -> sign_vector ls z = sign_vector ls x.
Proof.
  intro H. apply (proj1 (same_signs_iff ls x y)) in H.
  destruct (kept_close (sign_vector ls x) ls) as (L & L0 & K).
  destruct (signs_near (kept_at ls x y)) as (T & T0 & G).
  destruct (small L T L0 T0) as [P Q]. exists (T / (L + 1)). split; auto. intros z F Z.
  apply same_signs_iff, flat_signs; auto.
  assert (is_face (signs (kept_at ls x y)) (signs (kept_at ls x z))) as I.
  { apply (G _ _ Q), K; auto. lra. }
  rewrite H in I. auto.
Qed.

Lemma flat_between_rows t s : forall u v,
  Forall2 (fun e z => e = 0%Z -> z = 0) s u -> Forall2 (fun e z => e = 0%Z -> z = 0) s v ->
  Forall2 (fun e z => e = 0%Z -> z = 0) s (between t u v).
Proof.
  induction s as [|e s IH]; intros [|a u] [|b v] F G; inversion F; inversion G; subst;
    constructor; auto. intro E. rewrite H2, H8 by auto. ring.
Qed.

(** x + K(x) contains the lines through its points. *)
Theorem flat_lines ls x t y z : length y = length z -> flat ls x y -> flat ls x z ->
  flat ls x (between t y z).
Proof.
  unfold flat. intros L F G. rewrite kept_affine by auto. revert F G.
  generalize (kept_at ls x y) (kept_at ls x z).
  induction (sign_vector ls x) as [|e s IH]; intros [|u a] [|v b] F G; inversion F; inversion G;
    subst; constructor; auto. apply flat_between_rows; auto.
Qed.

(** * The local form is homogeneous *)

Lemma close_length e u v : close e u v -> length u = length v.
Proof. induction 1; simpl; auto. Qed.

(** Statement 3: near [x] the neurons are affine on segments that end in [x]. So those that are 0
    at [x] are positively homogeneous in y - x. *)
Theorem homogeneous ls x : exists T, 0 < T /\ forall y t, close T x y -> 0 <= t < 1 ->
  preactivations ls [between t y x] = all_between t (preactivations ls [y]) (preactivations ls [x]).
Proof.
  destruct (signs_stay ls x) as (T & T0 & H). exists T. split; auto. intros y t C B.
  specialize (H y C). apply close_length in C.
  pose proof (faces ls x y t C H B) as F. apply same_signs_iff in F. rewrite F.
  rewrite kept_affine by auto. f_equal.
  - symmetry. apply same_signs_iff. auto.
  - symmetry. apply (face_kept ls [y] [x]). auto.
Qed.

(** * Closures *)

Lemma some_distance p : forall q, length p = length q -> exists M, 0 <= M /\ close M p q.
Proof.
  induction p as [|a p IH]; intros [|b q] L; try discriminate.
  - exists 0. split; [lra|constructor].
  - injection L as L. destruct (IH q L) as (M & M0 & C). exists (M + Rabs (a - b)).
    pose proof (Rabs_pos (a - b)). split; [lra|]. constructor; [lra|].
    apply (close_more M); auto. lra.
Qed.

Lemma between_close M p q t : 0 <= t < 1 -> close M p q -> close ((1 - t) * M) p (between t q p).
Proof.
  intros B C. induction C as [|a b p q H C IH]; constructor; auto.
  replace (a - ((1 - t) * b + t * a)) with ((1 - t) * (a - b)) by ring.
  rewrite Rabs_mult, Rabs_right by lra. apply Rmult_le_compat_l; lra.
Qed.

(** Statement 4: [p] is a limit of points of the cell of [q] if and only if every sign of [p] is 0
    or the sign of [q]. *)
Theorem closures ls p q : length p = length q ->
  (forall T, 0 < T -> exists z, close T p z /\ sign_vector ls z = sign_vector ls q) <->
  is_face (sign_vector ls p) (sign_vector ls q).
Proof.
  intro L. split.
  - intro H. destruct (signs_stay ls p) as (T & T0 & F). destruct (H T T0) as (z & C & <-). auto.
  - intros F T T0. destruct (some_distance p q L) as (M & M0 & C).
    set (u := T / (M + T)).
    assert (u * (M + T) = T) as U by (unfold u; field; lra).
    assert (0 < u) as U0 by (unfold u; apply Rdiv_lt_0_compat; lra).
    assert (u <= 1) as U1 by nra. exists (between (1 - u) q p). split.
    + apply (close_more ((1 - (1 - u)) * M)); [nra|]. apply between_close; auto. lra.
    + apply faces; auto. lra.
Qed.

(** * The local form *)

(** The preactivations if, in the same way, [u] is put in for the zeros. *)
Fixpoint filled (s : list (list Z)) (u : nat -> nat -> R) (ls : list layer)
  (acts : list (list R)) : list (list R) :=
  match s, ls with
  | e :: s', l :: ls' =>
      let z := List.map (pre acts (den l)) (neurons l) in
      z :: filled s' (fun k => u (S k)) ls' (acts ++ [fill e (u 0%nat) z])
  | _, _ => []
  end.

Lemma keep_fill s : forall z, keep s z = fill s (fun _ => 0) z.
Proof.
  induction s as [|e s IH]; intros [|a z]; simpl; auto. rewrite IH. f_equal.
  destruct (e =? 1)%Z, (e =? 0)%Z; auto.
Qed.

Lemma face_fill z : forall e, Forall2 (fun e f => e = 0%Z \/ e = f) e (List.map sign z) ->
  fill e (fun j => relu (nth j z 0)) z = List.map relu z.
Proof.
  induction z as [|a z IH]; intros e F; inversion F; subst; auto. simpl. f_equal; [|auto].
  match goal with H : _ \/ _ |- _ => destruct H as [->| ->] end; auto.
  destruct (sign_spec a) as [[A ->]|[[A ->]|[A ->]]]; simpl; auto.
  - rewrite relu_pos; lra.
  - rewrite relu_neg; lra.
Qed.

Lemma face_filled ls : forall s ay, is_face s (signs (preactivations ls ay)) ->
  preactivations ls ay = filled s (fun k j => relu (entry (preactivations ls ay) k j)) ls ay.
Proof.
  induction ls as [|l ls IH]; intros s ay F; simpl in *; inversion F; subst; auto. simpl.
  f_equal. set (z := List.map (pre ay (den l)) (neurons l)) in *.
  match goal with |- context [fill ?e ?u z] =>
    replace (fill e u z) with (List.map relu z) by (symmetry; apply face_fill; auto) end.
  exact (IH _ _ ltac:(eassumption)).
Qed.

(** Rows of which one is a multiple of the second plus the third. *)
Definition combined (c : R) (f g h : list R) : Prop :=
  forall w, dot w f = c * dot w g + dot w h.
Definition all_combined (c : R) (f g h : list (list R)) : Prop :=
  length g = length f /\ length h = length f /\
  forall k, combined c (nth k f []) (nth k g []) (nth k h []).

Lemma combined_app c f g h x y z : all_combined c f g h -> combined c x y z ->
  all_combined c (f ++ [x]) (g ++ [y]) (h ++ [z]).
Proof.
  intros (G & H & C) D. split; [|split]; rewrite ?app_length; simpl; try lia. intro k.
  destruct (Nat.lt_total k (length f)) as [L|[L|L]].
  - rewrite !app_nth1 by lia. auto.
  - rewrite !app_nth2 by lia. replace (k - length f)%nat with 0%nat by lia.
    replace (k - length g)%nat with 0%nat by lia. replace (k - length h)%nat with 0%nat by lia.
    auto.
  - rewrite !nth_overflow by (rewrite app_length; simpl; lia). intros [|? ?]; simpl; ring.
Qed.

Lemma sum_rows_combined c f g h rows : all_combined c f g h ->
  sum_rows f rows = c * sum_rows g rows + sum_rows h rows.
Proof.
  intros (_ & _ & C). unfold sum_rows. induction rows as [|[k w] rows IH]; simpl; [ring|].
  rewrite IH, C. ring.
Qed.

Lemma fill_combined c e : forall (ns : list neuron) f g h (u v w : nat -> R),
  (forall n, f n = c * g n + h n) -> (forall j, u j = c * v j + w j) ->
  combined c (fill e u (List.map f ns)) (fill e v (List.map g ns)) (fill e w (List.map h ns)).
Proof.
  induction e as [|s e IH]; intros [|n ns] f g h u v w F U [|b r]; simpl; try ring.
  rewrite (IH ns f g h (fun j => u (S j)) (fun j => v (S j)) (fun j => w (S j)))
    by auto. rewrite F, U. destruct (s =? 1)%Z, (s =? 0)%Z; ring.
Qed.

Lemma nth_combined c (ns : list neuron) f g h i : (forall n, f n = c * g n + h n) ->
  nth i (List.map f ns) 0 = c * nth i (List.map g ns) 0 + nth i (List.map h ns) 0.
Proof. intro F. revert i. induction ns as [|n ns IH]; intros [|i]; simpl; auto; ring. Qed.

Lemma nth_nil {A} k (d : A) : nth k [] d = d.
Proof. destruct k; auto. Qed.

Lemma filled_split s : forall u ls f g h, all_combined 1 f g h -> forall l i,
  entry (filled s u ls f) l i = entry (kept s ls g) l i + entry (response s u ls h) l i.
Proof.
  unfold entry. induction s as [|e s IH]; intros u [|l ls] f g h C k i; simpl;
    try (destruct k, i; simpl; ring).
  assert (forall n, pre f (den l) n = 1 * pre g (den l) n + pre_linear h (den l) n) as P.
  { intro n. unfold pre, pre_linear. rewrite (sum_rows_combined 1 f g h) by auto. unfold Rdiv.
    ring. }
  destruct k as [|k].
  - rewrite (nth_combined 1 (neurons l) _ _ _ i P). ring.
  - apply IH, combined_app; auto. rewrite keep_fill. apply fill_combined; auto. intros. ring.
Qed.

Lemma response_combined c s : forall u v w ls f g h, all_combined c f g h ->
  (forall k j, u k j = c * v k j + w k j) -> forall l i,
  entry (response s u ls f) l i = c * entry (response s v ls g) l i + entry (response s w ls h) l i.
Proof.
  unfold entry. induction s as [|e s IH]; intros u v w [|l ls] f g h C U k i; simpl;
    try (destruct k, i; simpl; ring).
  assert (forall n,
    pre_linear f (den l) n = c * pre_linear g (den l) n + pre_linear h (den l) n) as P.
  { intro n. unfold pre_linear. rewrite (sum_rows_combined c f g h) by auto. unfold Rdiv. ring. }
  destruct k as [|k].
  - apply (nth_combined c (neurons l) _ _ _ i P).
  - apply (IH (fun k => u (S k)) (fun k => v (S k)) (fun k => w (S k))); auto.
    apply combined_app; auto. apply fill_combined; auto.
Qed.

Lemma fill_ext s : forall u v z, (forall j, nth j s 1%Z = 0%Z -> u j = v j) ->
  fill s u z = fill s v z.
Proof.
  induction s as [|e s IH]; intros u v [|a z] H; simpl; auto. f_equal.
  - destruct (e =? 1)%Z; auto. destruct (Z.eqb_spec e 0) as [->|]; auto.
  - apply IH. intros j J. apply H. auto.
Qed.

(** The response at a layer depends on the numbers that are put in at zeros of earlier layers. *)
Lemma response_ext s : forall ls acts u v l,
  (forall k j, (k < l)%nat -> sign_at s k j = 0%Z -> u k j = v k j) -> forall i,
  entry (response s u ls acts) l i = entry (response s v ls acts) l i.
Proof.
  unfold entry. induction s as [|e s IH]; intros [|l ls] acts u v [|k] H i; simpl; auto.
  rewrite (fill_ext e (u 0%nat) (v 0%nat)) by (intros; apply (H 0%nat); [lia|auto]).
  apply IH. intros k' j K J. apply (H (S k')); [lia|auto].
Qed.

Lemma nothing_combined c : all_combined c [[]] [[]] [[]].
Proof. split; [|split]; auto. intros [|[|k]] [|b w]; simpl; ring. Qed.

Lemma response_zero s ls l i : entry (response s (fun _ _ => 0) ls [[]]) l i = 0.
Proof.
  pose proof (response_combined 1 s (fun _ _ => 0) (fun _ _ => 0) (fun _ _ => 0) ls _ _ _
    (nothing_combined 1)) as H. specialize (H ltac:(intros; cbv beta; ring) l i). lra.
Qed.

Lemma response_sum s ls l i (c : nat * nat -> R) P :
  entry (response s (fun k j => sum_of P (fun p => c p * unit_at p k j)) ls [[]]) l i =
  sum_of P (fun p => c p * entry (response s (unit_at p) ls [[]]) l i).
Proof.
  induction P as [|p P IH]; [apply response_zero|]. simpl. rewrite <- IH.
  apply response_combined; auto using nothing_combined.
Qed.

Lemma sum_of_units c k j P : NoDup P -> In (k, j) P ->
  sum_of P (fun p => c p * unit_at p k j) = c (k, j).
Proof.
  assert (forall P, ~ In (k, j) P -> sum_of P (fun p => c p * unit_at p k j) = 0) as Zero.
  { induction P0 as [|[a b] Q IH]; simpl; intro N; auto. rewrite IH by tauto. unfold unit_at.
    simpl. destruct (Nat.eqb_spec a k) as [->|]; simpl; [|ring].
    destruct (Nat.eqb_spec b j) as [->|]; simpl; [tauto|ring]. }
  induction 1 as [|[a b] Q N D IH]; simpl; [tauto|]. unfold unit_at at 1. simpl.
  intros [E|I].
  - inversion E; subst. rewrite !Nat.eqb_refl, Zero by auto. simpl. ring.
  - rewrite IH by auto. destruct (Nat.eqb_spec a k) as [->|]; simpl; [|ring].
    destruct (Nat.eqb_spec b j) as [->|]; simpl; [tauto|ring].
Qed.

(** Near [x] a neuron is its affine function, plus the response to the activations of the zeros. *)
Lemma local_response ls x y l i : is_face (sign_vector ls x) (sign_vector ls y) ->
  entry (preactivations ls [y]) l i = entry (kept_at ls x y) l i +
    entry (response (sign_vector ls x)
      (fun k j => relu (entry (preactivations ls [y]) k j)) ls [[]]) l i.
Proof.
  intro F. rewrite (face_filled ls _ [y] F) at 1. apply filled_split.
  split; [|split]; auto. intros [|[|k]] [|b w]; simpl; ring.
Qed.

(** Statement 3: z_w = g_w + the sum of c_wu σ(z_u) over the zeros u in earlier layers than w,
    for every neuron w. *)
Theorem local_form ls x : exists T, 0 < T /\ forall y, close T x y -> forall l i P, NoDup P ->
  (forall k j, In (k, j) P <-> (k < l)%nat /\ sign_at (sign_vector ls x) k j = 0%Z) ->
  entry (preactivations ls [y]) l i = entry (kept_at ls x y) l i +
    sum_of P (fun u => coefficient ls x (l, i) u * relu (entry (preactivations ls [y]) (fst u)
      (snd u))).
Proof.
  destruct (signs_stay ls x) as (T & T0 & H). exists T. split; auto. intros y C l i P D Z.
  rewrite (local_response ls x y l i (H y C)) at 1. f_equal.
  set (c := fun p : nat * nat => relu (entry (preactivations ls [y]) (fst p) (snd p))).
  rewrite (response_ext _ _ _ _ (fun k j => sum_of P (fun p => c p * unit_at p k j))).
  - rewrite response_sum. unfold coefficient. simpl. clear. induction P as [|p P IH]; simpl; auto.
    rewrite IH. unfold c. ring.
  - intros k j K J. rewrite sum_of_units; auto. apply Z. auto.
Qed.

(** Statement 3, last sentence: near [x], neurons that are 0 at [x] do not change in directions of
    K(x), in which the affine functions of these neurons do not change. *)
Theorem flat_directions ls x : exists T, 0 < T /\ forall y z, close T x y -> close T x z ->
  (forall l i, sign_at (sign_vector ls x) l i = 0%Z ->
    entry (kept_at ls x z) l i = entry (kept_at ls x y) l i) ->
  forall l i, sign_at (sign_vector ls x) l i = 0%Z ->
    entry (preactivations ls [z]) l i = entry (preactivations ls [y]) l i.
Proof.
  destruct (signs_stay ls x) as (T & T0 & H). exists T. split; auto. intros y z Y Z K l.
  induction l as [l IH] using (well_founded_induction lt_wf). intros i E.
  rewrite (local_response ls x y l i (H y Y)), (local_response ls x z l i (H z Z)). f_equal; auto.
  apply response_ext. intros k j L J. f_equal. auto.
Qed.
