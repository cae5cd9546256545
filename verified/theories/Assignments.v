(** The method "assignments" of theorem shallow (FORMAT.md, section 3.3): two neurons may have one
    hyperplane, and it is checked for all orientations that no others give the linear part.

    [check_assignments_ok] derives from the check what [assigned_unique] of Doubled.v asks for. *)
Require Import String ZArith NArith Reals List Bool Lra Lia Permutation.
From PolyreluVerified Require Import Verdicts Networks Stacks Invariants Independence Generic.
From PolyreluVerified Require Import OneSided Symmetries RealParameters Shallow Sums Doubled Ranks.
Import ListNotations.
Open Scope string_scope.
Open Scope list_scope.
Open Scope R_scope.

(** * Hyperplanes *)

(** A hyperplane with integer coefficients, the neuron whose row is [plus_by > 0] times them, and
    perhaps one whose row is [- by] times them, [by > 0]. *)
Record plane := Plane {
  normal : list Z; offset : Z;
  plus_at : nat; plus_by : Z;
  minus_at : option (nat * Z) }.

Definition is_doubled (pl : plane) : bool :=
  match minus_at pl with Some _ => true | None => false end.

(** Neuron [i] joins the first hyperplane that is its own, or begins a new one. *)
Fixpoint join (i : nat) (by_ : Z) (w : list Z) (b : Z) (planes : list plane) : list plane :=
  match planes with
  | [] => [Plane w b i by_ None]
  | pl :: rest =>
      if (offset pl =? - b)%Z && zs_eqb (normal pl) (List.map Z.opp w) && negb (is_doubled pl)
      then Plane (normal pl) (offset pl) (plus_at pl) (plus_by pl) (Some (i, by_)) :: rest
      else pl :: join i by_ w b rest
  end.

Fixpoint planes_from (i : nat) (rs : list row) (planes : list plane) : list plane :=
  match rs with
  | [] => planes
  | (w, b) :: rs' =>
      let g := factor (w ++ [b]) in
      planes_from (S i) rs' (join i g (List.map (fun x => x / g)%Z w) (b / g)%Z planes)
  end.

(** The row of a neuron is a multiple of the hyperplane. *)
Definition is_multiple (r : row) (c : Z) (pl : plane) : bool :=
  zs_eqb (fst r) (List.map (Z.mul c) (normal pl)) && (snd r =? c * offset pl)%Z.

Definition plane_fits (rs : list row) (pl : plane) : bool :=
  (0 <? plus_by pl)%Z && is_multiple (nth (plus_at pl) rs no_row) (plus_by pl) pl &&
  match minus_at pl with
  | Some (i, c) => (0 <? c)%Z && is_multiple (nth i rs no_row) (- c) pl
  | None => true
  end.

Definition neurons_of (pl : plane) : list nat :=
  plus_at pl :: match minus_at pl with Some (i, _) => [i] | None => [] end.

(** Every neuron lies on one of the hyperplanes, on one place. *)
Definition all_placed (q : nat) (planes : list plane) : bool :=
  let found := List.concat (List.map neurons_of planes) in
  Nat.eqb (length found) q && forallb (fun i => existsb (Nat.eqb i) found) (seq 0 q).

(** Twice the coefficient C_k, by outputs. [vs] are the columns of W[2]. *)
Definition jumps_of (vs : matrix) (pl : plane) : list Z :=
  let plus := nth (plus_at pl) vs [] in
  match minus_at pl with
  | Some (i, c) => mix (plus_by pl) plus c (nth i vs [])
  | None => List.map (Z.mul (plus_by pl)) plus
  end.

(** * Orientations *)

(** A hyperplane in what is checked: its linear part at some inputs, twice C_k at some outputs. *)
Record side := Side { at_inputs : list Z; at_outputs : list Z; two : bool }.

(** The rows less [s C_k] times the linear part. *)
Fixpoint less (s : Z) (c h : list Z) (rows : matrix) : matrix :=
  match c, rows with
  | x :: c', r :: rows' => mix 1 r (- (s * x)) h :: less s c' h rows'
  | _, _ => rows
  end.

(** All choices of a set D of [t] of the hyperplanes, and of signs on the others; [own] says whether
    they are the network's own so far. *)
Fixpoint every (n j : nat) (sides : list side) (t : nat) (kernel rows : matrix) (own : bool)
  : bool :=
  match sides with
  | [] =>
      negb (Nat.eqb t 0) || (own && Nat.eqb j 0) ||
      rank_above j n (on_kernel (length kernel) n kernel rows)
  | Side h c dbl :: sides' =>
      match t with O => true | S t' => every n j sides' t' (h :: kernel) rows (own && dbl) end &&
      (if Nat.ltb (length sides') t then true
       else every n j sides' t kernel (less 1 c h rows) (own && negb dbl) &&
            every n j sides' t kernel (less (-1) c h rows) false)
  end.

(** The number of pairs (D, eps) that are visited for sets of [t] of [p] hyperplanes. *)
Fixpoint choices (p t : nat) : N :=
  match t with O => 1%N | S t' => (choices p t' * N.of_nat (p - t') / N.of_nat t)%N end.
Definition num_pairs (p e : nat) : N :=
  fold_right (fun j s => (s + choices p (e - 2 * j) * 2 ^ N.of_nat (p - (e - 2 * j)))%N) 0%N
    (seq 0 (S (Nat.div2 e))).
Definition max_pairs : N := 65536.
Definition max_planes : nat := 64.

Definition take (places : list nat) (r : list Z) : list Z :=
  List.map (fun k => nth k r 0%Z) places.

(** The sum of all v_i w_i, and the hyperplanes, at some inputs and outputs. [vs] are columns. *)
Definition slope_of (ws vs : matrix) (ins outs : list nat) : matrix :=
  let all := seq 0 (length ws) in
  List.map (fun o => List.map (fun k =>
    zdot (List.map (fun i => at_ vs i o) all) (List.map (fun i => at_ ws i k) all)) ins) outs.
Definition sides_of (vs : matrix) (ins outs : list nat) (planes : list plane) : list side :=
  List.map (fun pl =>
    Side (take ins (normal pl)) (take outs (jumps_of vs pl)) (is_doubled pl)) planes.

Definition check_orientations (n m : nat) (ws vs : matrix) (planes : list plane) : answer unit :=
  let q := length ws in
  let p := length planes in
  let e := (q - p)%nat in
  let ins := pivot_places q n ws in
  let outs := pivot_places q m vs in
  let sides := sides_of vs ins outs planes in
  let slope := slope_of ws vs ins outs in
  within (Nat.leb p max_planes && (num_pairs p e <=? max_pairs)%N)
    "unique: beyond the limits: pairs (D, eps)"
  (require (forallb (fun k => Nat.ltb k n) ins && forallb (fun o => Nat.ltb o m) outs)
     "unique: an input or output out of range"
  (require (independent p n (List.map normal (filter is_doubled planes)))
     "unique: linear parts of doubled hyperplanes that are dependent"
  (require (forallb (fun j => every (length ins) j sides (e - 2 * j) [] slope true)
              (seq 0 (S (Nat.div2 e))))
     "unique: another assignment of signs" (Good tt)))).

(** [vs] are the columns of W[2], with [m] entries. *)
Definition check_assignments (n m : nat) (rs : list row) (vs : matrix) : answer unit :=
  let planes := planes_from 0 rs [] in
  let q := length rs in
  within (Nat.leb q (2 * max_planes)) "unique: beyond the limits: neurons"
  (require (forallb (plane_fits rs) planes && all_placed q planes) "visible: hyperplanes"
  (require (all_differ (List.map (fun pl => normal pl ++ [offset pl]) planes))
     "visible: rows that are positive multiples"
  (require (Nat.ltb (length planes) q) "unique: no doubled hyperplane"
  (require (forallb (fun pl => is_nonzero (jumps_of vs pl)) planes)
     "visible: a doubled hyperplane that vanishes"
  (check_orientations n m (List.map fst rs) vs planes))))).

(** * Soundness of the orientations *)

Lemma sum_first P f : sum (S P) f = f 0%nat + sum P (fun k => f (S k)).
Proof. unfold sum, sum_over. simpl. rewrite <- seq_shift, map_map. auto. Qed.

Lemma num_true_first P f : num_true (S P) f =
  ((if f 0%nat then 1 else 0) + num_true P (fun k => f (S k)))%nat.
Proof.
  unfold num_true. simpl.
  assert (length (filter f (seq 1 P)) = length (filter (fun k => f (S k)) (seq 0 P))) as E.
  { rewrite <- seq_shift. generalize (seq 0 P) as l. induction l as [|k l IH]; simpl; auto.
    destruct (f (S k)); simpl; auto. }
  destruct (f 0%nat); simpl; auto.
Qed.

Lemma num_true_most P f : (num_true P f <= P)%nat.
Proof. unfold num_true. rewrite <- (seq_length P 0) at 2. apply filter_shorter. Qed.

Lemma less_length s c h : forall rows, length (less s c h rows) = length rows.
Proof. induction c as [|x c IH]; intros [|r rows]; simpl; auto. Qed.

Lemma less_ok s h : forall c rows o k, (o < length rows)%nat ->
  reals (nth o (less s c h rows) []) k =
  reals (nth o rows []) k - IZR s * IZR (nth o c 0%Z) * reals h k.
Proof.
  induction c as [|x c IH]; intros [|r rows] o k O; simpl in O; try lia.
  - change (less s [] h (r :: rows)) with (r :: rows).
    replace (nth o [] 0%Z) with 0%Z by (destruct o; auto). ring.
  - destruct o as [|o]; simpl.
    + rewrite mix_ok, opp_IZR, mult_IZR. ring.
    + apply IH. lia.
Qed.

Definition no_side : side := Side [] [] false.

Lemma every_ok n j m : forall sides t kernel rows own gs (E : nat -> nat -> R)
  (both eps : nat -> bool),
  every n j sides t kernel rows own = true ->
  (num_true (length sides) both <= t <= length sides)%nat -> (length gs <= j)%nat ->
  length rows = m ->
  (forall k o, (k < length sides)%nat -> (o < m)%nat -> both k = false ->
     E k o = (if eps k then 1 else -1) * IZR (nth o (at_outputs (nth k sides no_side)) 0%Z)) ->
  (forall o, (o < m)%nat -> spans n (List.map reals kernel ++ gs) (fun i =>
     reals (nth o rows []) i -
     sum (length sides) (fun k => E k o * reals (at_inputs (nth k sides no_side)) i))) ->
  own = true /\ j = 0%nat /\ forall k, (k < length sides)%nat -> two (nth k sides no_side)
    = false ->
    both k = false /\ eps k = true.
Proof.
  induction sides as [|[h c dbl] sides IH]; intros t kernel rows own gs E both eps H T G Len Single
    S.
  - simpl in *. replace t with 0%nat in H by lia. simpl in H.
    destruct (on_kernel_ok n (length kernel) kernel rows gs (le_n _)) as (gs' & L & F).
    { apply Forall_forall. intros r I. apply (In_nth _ _ []) in I as (o & O & <-).
      assert (o < m)%nat as O' by lia.
      eapply spans_ext; [|exact (S o O')]. intros k _. simpl. unfold sum, sum_over. simpl. ring. }
    rewrite (rank_above_ok n j gs') in H by (auto; lia). rewrite orb_false_r in H.
    apply andb_prop in H as [H1 H2]. apply Nat.eqb_eq in H2. split; [auto|split; [auto|]].
    intros; lia.
  - cbn [length every at_inputs at_outputs two] in *. apply andb_prop in H as [HD HS].
    rewrite num_true_first in T.
    (* The hyperplane belongs to D. *)
    assert (forall t', t = Datatypes.S t' -> (num_true (length sides)
      (fun k => both (Datatypes.S k))
      <= t' <= length sides)%nat -> own && dbl = true /\ j = 0%nat /\
      forall k, (k < length sides)%nat -> two (nth k sides no_side) = false ->
        both (Datatypes.S k) = false /\ eps (Datatypes.S k) = true) as In_D.
    { intros t' -> T'. apply (IH t' (h :: kernel) rows _ gs (fun k => E (Datatypes.S k))
        (fun k => both (Datatypes.S k)) (fun k => eps (Datatypes.S k)) HD T' G Len).
      - intros k o K O B. apply (Single (Datatypes.S k) o); auto. lia.
      - intros o O. exists (E 0%nat o). eapply spans_ext; [|exact (S o O)]. intros k _. simpl.
        rewrite sum_first. simpl. ring. }
    destruct (both 0%nat) eqn:B0.
    + destruct t as [|t']; [lia|]. destruct (In_D t' eq_refl) as (Own & J & Rest); [lia|].
      apply andb_prop in Own as [-> ->]. split; [auto|split; [auto|]].
      intros [|k] K Two; [discriminate|]. apply Rest; auto. lia.
    + destruct (Nat.ltb_spec (length sides) t) as [Full|Room].
      * pose proof (num_true_most (length sides) (fun k => both (Datatypes.S k))).
        destruct t as [|t']; [lia|]. destruct (In_D t' eq_refl) as (Own & J & Rest); [lia|].
        apply andb_prop in Own as [-> ->]. split; [auto|split; [auto|]].
        intros [|k] K Two; [discriminate|]. apply Rest; auto. lia.
      * apply andb_prop in HS as [HP HM].
        set (s := if eps 0%nat then 1%Z else (-1)%Z).
        assert (every n j sides t kernel (less s c h rows) (if eps 0%nat then own && negb dbl else
          false)
          = true) as H by (unfold s; destruct (eps 0%nat); auto).
        destruct (IH t kernel _ _ gs (fun k => E (Datatypes.S k))
          (fun k => both (Datatypes.S k)) (fun k => eps (Datatypes.S k)) H) as (Own & J & Rest);
          auto; try lia.
        { rewrite less_length. auto. }
        { intros k o K O B. apply (Single (Datatypes.S k) o); auto. lia. }
        { intros o O. eapply spans_ext; [|exact (S o O)]. intros k _. simpl.
          rewrite less_ok by lia. rewrite sum_first. cbn [nth at_inputs].
          pose proof (Single 0%nat o ltac:(lia) O B0) as E0. cbn [nth at_outputs] in E0. rewrite E0.
          unfold s. destruct (eps 0%nat); ring. }
        destruct (eps 0%nat) eqn:E0; [|discriminate]. apply andb_prop in Own as [-> Own].
        split; [auto|split; [auto|]]. intros [|k] K Two; [auto|]. apply Rest; auto. lia.
Qed.

(** * Soundness of the whole check *)

Definition no_plane : plane := Plane [] 0 0 0 None.

Lemma placed_sum planes F : sum_over (List.concat (List.map neurons_of planes)) F =
  sum (length planes) (fun k => F (plus_at (nth k planes no_plane)) +
    match minus_at (nth k planes no_plane) with Some (i, _) => F i | None => 0 end).
Proof.
  induction planes as [|pl planes IH]; [reflexivity|]. cbn [length]. rewrite sum_first.
  cbn [List.map List.concat nth]. rewrite <- IH. unfold neurons_of, sum_over.
  destruct (minus_at pl) as [[i c]|]; simpl; ring.
Qed.

Lemma placed_length planes : length (List.concat (List.map neurons_of planes)) =
  (length planes + length (filter is_doubled planes))%nat.
Proof.
  induction planes as [|pl planes IH]; [reflexivity|]. cbn [List.map List.concat length filter].
  rewrite app_length, IH. unfold neurons_of, is_doubled. destruct (minus_at pl) as [[i c]|]; simpl;
    lia.
Qed.

Lemma nth_map_plane {A} (f : plane -> A) planes k d : (k < length planes)%nat ->
  nth k (List.map f planes) d = f (nth k planes no_plane).
Proof.
  intro K. rewrite nth_indep with (d' := f no_plane) by (rewrite map_length; auto). apply map_nth.
Qed.

Lemma num_doubled planes : num_true (length planes) (fun k => is_doubled (nth k planes no_plane)) =
  length (filter is_doubled planes).
Proof.
  induction planes as [|pl planes IH]; [reflexivity|]. cbn [length]. rewrite num_true_first.
  cbn [nth filter]. rewrite IH. destruct (is_doubled pl); auto.
Qed.

Lemma doubled_normals planes : List.map normal (filter is_doubled planes) =
  List.map (fun k => normal (nth k planes no_plane))
    (filter (fun k => is_doubled (nth k planes no_plane)) (seq 0 (length planes))).
Proof.
  induction planes as [|pl planes IH]; [reflexivity|]. cbn [length seq filter].
  rewrite <- seq_shift.
  assert (forall l, filter (fun k => is_doubled (nth k (pl :: planes) no_plane)) (List.map S l) =
    List.map S (filter (fun k => is_doubled (nth k planes no_plane)) l)) as E.
  { induction l as [|k l IHl]; simpl; auto. simpl in IHl. rewrite IHl.
    destruct (is_doubled (nth k planes no_plane)); auto. }
  rewrite E. cbn [nth]. destruct (is_doubled pl); cbn [List.map nth]; rewrite map_map; cbn [nth];
    rewrite <- IH; auto.
Qed.

Lemma take_nth places l k : (k < length places)%nat ->
  nth k (take places l) 0%Z = nth (nth k places 0%nat) l 0%Z.
Proof.
  intro K. apply (nth_mapped (fun i => nth i l 0%Z) places k 0%nat K).
Qed.

Lemma slope_ok ws vs ins outs o k : (o < length outs)%nat -> (k < length ins)%nat ->
  reals (nth o (slope_of ws vs ins outs) []) k = sum (length ws) (fun i =>
    IZR (at_ vs i (nth o outs 0%nat)) * IZR (at_ ws i (nth k ins 0%nat))).
Proof.
  intros O K. unfold slope_of, reals.
  set (entry := fun o k => zdot (List.map (fun i => at_ vs i o) (seq 0 (length ws)))
    (List.map (fun i => at_ ws i k) (seq 0 (length ws)))).
  change (IZR (nth k (nth o (List.map (fun o => List.map (entry o) ins) outs) []) 0%Z) =
    sum (length ws) (fun i => IZR (at_ vs i (nth o outs 0%nat))
      * IZR (at_ ws i (nth k ins 0%nat)))).
  rewrite (nth_indep _ [] (List.map (entry 0%nat) ins)) by (rewrite map_length; auto).
  rewrite (map_nth (fun o => List.map (entry o) ins)), (nth_mapped _ _ _ 0%nat) by auto.
  unfold entry, sum, sum_over. generalize (seq 0 (length ws)) as l.
  induction l as [|i l IH]; simpl; auto. rewrite plus_IZR, mult_IZR, IH. auto.
Qed.

Section Soundness.
Variables (n m : nat) (rs : list row) (vs : matrix) (p r : parameters) (dl du : R).
Notation q := (length rs).
Notation W := (weight_of p 1).
Notation B := (bias_of p 1).
Notation V := (weight_of p 2).
Hypothesis dl_positive : 0 < dl.
Hypothesis du_positive : 0 < du.
Hypothesis weights : forall i k, (i < q)%nat -> W i k = reals (fst (nth i rs no_row)) k / dl.
Hypothesis biases : forall i, (i < q)%nat -> B i = IZR (snd (nth i rs no_row)) / dl.
Hypothesis outgoing : forall o i, (o < m)%nat -> (i < q)%nat -> V o i = IZR (at_ vs i o) / du.
Hypothesis rows_wide : Forall (fun r => length (fst r) = n) rs.
Hypothesis rows_nonzero : forall i, (i < q)%nat -> some_entry n (W i).
Hypothesis columns_nonzero : forall i, (i < q)%nat -> exists o, (o < m)%nat /\ V o i <> 0.
Hypothesis columns_wide : length vs = q /\ Forall (fun v => length v = m) vs.
Hypothesis equal : forall x o, (o < m)%nat -> output n q p o x = output n q r o x.

Theorem check_assignments_ok : check_assignments n m rs vs = Good tt ->
  related_parameters n q m p r.
Proof.
  unfold check_assignments. set (planes := planes_from 0 rs []).
  clearbody planes. intro H. apply within_good in H as [_ H].
  apply require_good in H as [Fit H]. apply andb_prop in Fit as [Fit Placed].
  apply require_good in H as [Differ H]. apply require_good in H as [_ H].
  apply require_good in H as [Visible H]. unfold check_orientations in H.
  cbv zeta in H. rewrite map_length in H.
  set (P := length planes) in *.
  match type of H with context [forallb _ ?places && forallb _ ?others] =>
    set (ins := places) in H; set (outs := others) in H; clearbody ins outs end.
  match type of H with context [every _ _ ?all _ _ ?rows _] =>
    set (slope := rows) in H; set (sides := all) in H end.
  apply within_good in H as [_ H]. apply require_good in H as [Below H].
  apply andb_prop in Below as [Ins Outs]. apply require_good in H as [Indep H].
  apply require_good in H as [Every _].
  set (pl := fun k => nth k planes no_plane).
  set (minus := fun k => match minus_at (pl k) with Some (i, _) => i | None => 0%nat end).
  set (e := fun k => match minus_at (pl k) with Some (_, c) => IZR c / dl | None => 0 end).
  set (G := fun k => reals (normal (pl k))).
  unfold all_placed in Placed. set (found := List.concat (List.map neurons_of planes)) in Placed.
  apply andb_prop in Placed as [Num Placed]. apply Nat.eqb_eq in Num.
  assert (Permutation (seq 0 q) found) as Perm.
  { apply NoDup_Permutation_bis; [apply seq_NoDup|rewrite seq_length; lia|].
    intros i I. rewrite forallb_forall in Placed. specialize (Placed i I).
    apply existsb_exists in Placed as (i' & I' & E). apply Nat.eqb_eq in E. subst. auto. }
  assert (forall i, In i found -> (i < q)%nat) as Found.
  { intros i I. apply (Permutation_in _ (Permutation_sym Perm)), in_seq in I. lia. }
  assert (forall k, (k < P)%nat -> In (pl k) planes) as Pl by (intros k K; apply nth_In; auto).
  assert (forall k i, (k < P)%nat -> In i (neurons_of (pl k)) -> (i < q)%nat) as At.
  { intros k i K I. apply Found, in_concat. exists (neurons_of (pl k)). split; auto.
    apply in_map. auto. }
  assert (forall i c k, (i < q)%nat -> is_multiple (nth i rs no_row) c (pl k) = true ->
    multiple n (IZR c / dl) (G k) (IZR (offset (pl k))) (W i) (B i)) as Multiple.
  { intros i c k I M. apply andb_prop in M as [M1 M2]. apply zs_eqb_ok in M1.
    apply Z.eqb_eq in M2. split.
    - intros j J. rewrite weights, M1 by auto. unfold G, reals. rewrite nth_times, mult_IZR.
      unfold Rdiv. ring.
    - rewrite biases, M2, mult_IZR by auto. unfold Rdiv. ring. }
  assert (forall c, (0 < c)%Z -> 0 < IZR c / dl) as Pos.
  { intros c C. apply IZR_lt in C. apply Rdiv_lt_0_compat; auto. }
  rewrite forallb_forall in Fit.
  assert (forall k, (k < P)%nat -> (plus_at (pl k) < q)%nat /\ 0 < IZR (plus_by (pl k)) / dl /\
    multiple n (IZR (plus_by (pl k)) / dl) (G k) (IZR (offset (pl k))) (W (plus_at (pl k)))
      (B (plus_at (pl k)))) as Plus.
  { intros k K. specialize (Fit _ (Pl k K)). unfold plane_fits in Fit.
    apply andb_prop in Fit as [F _]. apply andb_prop in F as [F1 F2]. apply Z.ltb_lt in F1.
    assert (plus_at (pl k) < q)%nat as I by (apply (At k); simpl; auto).
    split; [auto|split; auto]. }
  assert (forall k, (k < P)%nat -> is_doubled (pl k) = true -> (minus k < q)%nat /\ 0 < e k /\
    multiple n (- e k) (G k) (IZR (offset (pl k))) (W (minus k)) (B (minus k))) as Minus.
  { intros k K D. specialize (Fit _ (Pl k K)). unfold plane_fits in Fit.
    apply andb_prop in Fit as [_ F]. unfold minus, e. unfold is_doubled in D.
    destruct (minus_at (pl k)) as [[i c]|] eqn:M; [|discriminate].
    apply andb_prop in F as [F1 F2]. apply Z.ltb_lt in F1.
    assert (i < q)%nat as I by (apply (At k); [auto|unfold neurons_of; rewrite M; simpl; auto]).
    split; [auto|split; [auto|]].
    replace (- (IZR c / dl)) with (IZR (- c) / dl) by (rewrite opp_IZR; unfold Rdiv; ring).
    apply Multiple; auto. }
  assert (forall k, (k < P)%nat -> some_entry n (G k)) as Nonzero.
  { intros k K. destruct (Plus k K) as (I & D & M & _). destruct (rows_nonzero _ I) as (j & J & N).
    exists j. split; auto. intro Z. apply N. rewrite M, Z by auto. ring. }
  assert (forall k, (k < P)%nat -> length (normal (pl k)) = n) as Wide.
  { intros k K. specialize (Fit _ (Pl k K)). unfold plane_fits in Fit.
    apply andb_prop in Fit as [F _]. apply andb_prop in F as [_ F]. apply andb_prop in F as [F _].
    apply zs_eqb_ok in F. destruct (Plus k K) as (I & _). rewrite Forall_forall in rows_wide.
    specialize (rows_wide _ (nth_In _ no_row I)). rewrite F, map_length in rows_wide. auto. }
  assert (forall k o, (k < P)%nat -> (o < m)%nat ->
    jump p (fun k => plus_at (pl k)) minus (fun k => IZR (plus_by (pl k)) / dl) e
      (fun k => is_doubled (pl k)) k o = IZR (nth o (jumps_of vs (pl k)) 0%Z) / (dl * du)) as Jumps.
  { intros k o K O. unfold jump, jumps_of. destruct (Plus k K) as (I & _).
    rewrite (outgoing o _ O I). unfold at_. destruct (is_doubled (pl k)) eqn:D.
    - destruct (Minus k K D) as (I' & _). rewrite (outgoing o _ O I'). unfold minus, e, at_.
      unfold is_doubled in D. destruct (minus_at (pl k)) as [[i c]|]; [|discriminate].
      fold (reals (mix (plus_by (pl k)) (nth (plus_at (pl k)) vs []) c (nth i vs [])) o).
      rewrite mix_ok. unfold reals. field. lra.
    - unfold is_doubled in D. destruct (minus_at (pl k)) as [[i c]|]; [discriminate|].
      rewrite nth_times, mult_IZR. field. lra. }
  assert (num_true P (fun k => is_doubled (pl k)) = (q - P)%nat) as Count.
  { unfold P, pl. rewrite num_doubled. pose proof (placed_length planes) as L. fold found in L.
    lia. }
  apply (assigned_unique n q m p r P G (fun k => IZR (offset (pl k))) (fun k => plus_at (pl k))
    minus
    (fun k => IZR (plus_by (pl k)) / dl) e (fun k => is_doubled (pl k))); auto.
  - intro F. unfold sum at 1. rewrite (sum_over_permutation _ _ _ Perm). unfold found.
    rewrite placed_sum. apply sum_ext. intros k _. fold (pl k). unfold is_doubled, minus.
    destruct (minus_at (pl k)) as [[i c]|]; auto.
  - intros k k' s K K' Ne M.
    assert (forall k k' s, (k < P)%nat -> (k' < P)%nat ->
      multiple n s (G k) (IZR (offset (pl k))) (G k') (IZR (offset (pl k'))) ->
      differ (normal (pl k) ++ [offset (pl k)]) (normal (pl k') ++ [offset (pl k')]) = false) as
        Same.
    { clear k k' s K K' Ne M. intros k k' s K K' [M1 M2]. apply (differ_ok s). apply Forall2_app.
      - apply forall2_of_nth; [rewrite !Wide; auto|]. intros j J. rewrite Wide in J by auto.
        apply (M1 j J).
      - constructor; auto. }
    assert (forall k k', (k < k')%nat -> (k' < P)%nat ->
      differ (normal (pl k) ++ [offset (pl k)]) (normal (pl k') ++ [offset (pl k')]) = true) as
        Other.
    { intros i j L J. pose proof (all_differ_ok _ i j Differ L) as T. rewrite map_length in T.
      specialize (T J). rewrite !nth_map_plane in T by (fold P; lia). exact T. }
    destruct (Nat.lt_total k k') as [L|[L|L]]; [|tauto|].
    + pose proof (Other k k' L K') as T. rewrite (Same k k' s K K' M) in T. discriminate.
    + destruct (Nonzero k' K') as (j & J & N).
      assert (s <> 0) as Sn. { intros ->. apply N. rewrite (proj1 M) by auto. ring. }
      assert (multiple n (/ s) (G k') (IZR (offset (pl k'))) (G k) (IZR (offset (pl k)))) as M'.
      { destruct M as [M1 M2]. split; [intros i I; rewrite M1 by auto|rewrite M2]; field; auto. }
      pose proof (Other k' k L K) as T. rewrite (Same k' k (/ s) K' K M') in T. discriminate.
  - intros k K. rewrite forallb_forall in Visible. specialize (Visible _ (Pl k K)).
    apply is_nonzero_ok in Visible as (o & O & N).
    assert (length (jumps_of vs (pl k)) = m) as L.
    { destruct (Plus k K) as (I & _). unfold jumps_of.
      assert (forall i, (i < q)%nat -> length (nth i vs []) = m) as Len.
      { intros i Hi. destruct columns_wide as [Lv Fv]. rewrite Forall_forall in Fv.
        apply Fv, nth_In. lia. }
      destruct (minus_at (pl k)) as [[i c]|] eqn:Mk; [|rewrite map_length; auto].
      apply mix_length; apply Len; auto. apply (At k); auto. unfold neurons_of. rewrite Mk. simpl.
      auto. }
    rewrite L in O. exists o. split; auto. rewrite Jumps by auto. unfold Rdiv.
    apply Rmult_integral_contrapositive_currified; [apply not_0_IZR; auto|].
    apply Rinv_neq_0_compat. nra.
  - intros c Z k K D. revert k K D. set (dbl := fun k => is_doubled (pl k)).
    assert (forall k, In k (filter dbl (seq 0 P)) -> c k = 0) as All.
    { apply (independent_ok n P (filter dbl (seq 0 P)) (fun k => normal (pl k)) c).
      - rewrite <- Indep. f_equal. symmetry. apply doubled_normals.
      - intros j J. rewrite <- (Z j J). unfold sum.
        etransitivity; [|apply (sum_over_filter (seq 0 P) dbl)].
        + apply sum_over_ext. intros k I. apply filter_In in I as [_ I]. unfold dbl in I.
          rewrite I. auto.
        + intros k _ Fk. unfold dbl in Fk. rewrite Fk. auto. }
    intros k K D. apply All. apply filter_In. split; [apply in_seq; lia|auto].
  - intros E both eps gs Few Single Span. rewrite Count in Few.
    assert (length sides = P) as Ls by apply map_length.
    assert (Forall (fun k => (k < n)%nat) ins) as Ins'.
    { apply Forall_forall. intros k I. rewrite forallb_forall in Ins. apply Nat.ltb_lt, Ins. auto. }
    assert (forall o', (o' < length outs)%nat -> (nth o' outs 0 < m)%nat) as Outs'.
    { intros o' O'. rewrite forallb_forall in Outs. apply Nat.ltb_lt, Outs, nth_In. auto. }
    rewrite forallb_forall in Every. specialize (Every (length gs)).
    destruct (every_ok (length ins) (length gs) (length outs) sides (q - P - 2 * length gs) [] slope
      true (List.map (fun g k => g (nth k ins 0%nat)) gs)
      (fun k o' => dl * du * E k (nth o' outs 0%nat)) both eps) as (_ & J & Own).
    + apply Every, in_seq. rewrite Nat.div2_div.
      assert (length gs <= (q - P) / 2)%nat by (apply Nat.div_le_lower_bound; lia).
      unfold row in *. lia.
    + rewrite Ls. pose proof (placed_length planes) as L. fold found in L.
      pose proof (filter_shorter is_doubled planes) as L'. fold P in L, L'. unfold row in *. lia.
    + rewrite map_length. lia.
    + apply map_length.
    + intros k o' K O' Bk. rewrite Ls in K. rewrite (Single k _ K (Outs' o' O') Bk).
      rewrite Jumps by auto. unfold sides, sides_of. rewrite nth_map_plane by auto. fold (pl k).
      cbn [at_outputs]. rewrite take_nth by auto. destruct (eps k); field; lra.
    + intros o' O'. cbn [List.map app].
      pose proof (spans_times _ _ (dl * du) _ (spans_select n ins gs Ins' _ (Span _ (Outs' o' O'))))
        as S. eapply spans_ext; [|exact S]. intros k' K'. cbv beta.
      rewrite Rmult_minus_distr_l. f_equal.
      * unfold slope. rewrite slope_ok by auto. rewrite map_length, <- sum_times. apply sum_ext.
        intros i Hi.
        rewrite outgoing, weights by auto. unfold reals.
        replace (at_ (List.map fst rs) i (nth k' ins 0%nat))
          with (nth (nth k' ins 0%nat) (fst (nth i rs no_row)) 0%Z)
          by (unfold at_; change (@nil Z) with (fst no_row); rewrite map_nth; auto). field. lra.
      * rewrite Ls, <- sum_times. apply sum_ext. intros k K. unfold sides, sides_of.
        rewrite nth_map_plane by auto. fold (pl k). cbn [at_inputs]. unfold G, reals.
        rewrite take_nth by auto. ring.
    + split. { destruct gs; [auto|discriminate]. }
      intros k K D. apply Own; [rewrite Ls; auto|]. unfold sides, sides_of.
      rewrite nth_map_plane by auto.
      auto.
Qed.
End Soundness.
