(** Theorem [regions]: the list of the regions of a network on a domain is complete (claim regions,
    FORMAT.md, section 5.1; docs/theory/regions.md).

    The driver calls [start_regions] with the claim, [next_region_node] with each line, and accepts
    if [regions_finished] and [check_count]. A reviewer has to read the statement of
    [regions_hold], the last one. *)
Require Import String ZArith NArith QArith Qreals Reals List Bool Lra Lia Psatz.
From PolyreluVerified Require Import Verdicts Maps Networks Domains Claims RegionLists Limits.
From PolyreluVerified Require Import Numbers LinearForms JointNetwork Coordinates Trees.
From PolyreluVerified Require Import Equivalence Points Checker RegionTrees.
Import ListNotations.
Open Scope R_scope.
Open Scope list_scope.

(** * Neurons as forms *)

(** Of each neuron with a ReLU the preactivation and the activation, times a common denominator;
    and the table of atoms. *)
Fixpoint neuron_forms (d : N) (ls : list layer) (last_relu : bool) (t : st) (F : acts) :
  option (st * list (form * form)) :=
  match ls with
  | [] => Some (t, [])
  | l :: ls' =>
      match ls', last_relu with
      | [], false => Some (t, [])
      | _, _ =>
          match preforms F l with
          | None => None
          | Some (fs, D) =>
              match relus d (fun _ => None) 0 t (combine (List.map (wsign F) (neurons l)) fs) with
              | None => None
              | Some (t', a) =>
                  match neuron_forms d ls' last_relu t' (F ++ [(a, D)]) with
                  | None => None
                  | Some (t2, rest) => Some (t2, combine fs a ++ rest)
                  end
              end
          end
      end
  end.

(** * Start *)

(** What all nodes share, and the columns of coordinates. *)
Record region_context := RegionContext {
  shared : context;
  all_atoms : list N;
  hidden : list (form * form);
  free : list (option N) }.

Definition rename_pair (rho inv : nmap N) (d : N) (q : form * form) : option (form * form) :=
  match rename rho inv d (fst q), rename rho inv d (snd q) with
  | Some f, Some g => Some (f, g)
  | _, _ => None
  end.

Definition initial_regions (n : nat) (m : net) (D : domain) :
  option (region_context * list region_item) :=
  match setup n D with None => None | Some (d, scale, fs, sl) =>
  match neuron_forms d (layers m) (relu_last m) (St (d + 1) [] E []) [(fs, scale)] with
  | None => None | Some (t, pairs) =>
  let order := by_level (leveled (rev (tab t)) E) in
  let maps := enumerate order (d + 1)%N (E, E) in
  match mapo (rename_atom (fst maps) (snd maps) d) order,
        mapo (rename_pair (fst maps) (snd maps) d) pairs with
  | Some ats, Some pairs' =>
      (* Each atom is that of a neuron. *)
      let named := fold_left (fun m q => fput (fst (prim (fst q))) tt m) pairs' E in
      let is_named (p : N * form) :=
        match ffind (snd p) named with Some _ => true | _ => false end in
      if wf_tab d (tab t) && forallb is_named ats &&
         forallb (fun r => over_coordinates d (fst r)) sl
      then
        let atoms := fold_left (fun m p => nadd (fst p) (snd p) m) ats E in
        let (lo, hi) := fold_left (fun m r => side r m) sl (E, E) in
        let (sm, ns) := with_slacks sl in
        Some (RegionContext
                (Context d (d + 1) (N.of_nat (length ats)) atoms lo hi)
                (List.map fst ats) pairs' (columns n D),
              [(sl, State sm ns E E E E)])
      else None
  | _, _ => None
  end end end.

Record region_progress := RegionProgress {
  region_state : region_context;
  base_inequalities : N;
  region_items : list region_item;
  found : nat }.

Definition num_inequalities (items : list region_item) : N :=
  match items with [] => 0%N | it :: _ => nslacks (snd it) end.

Open Scope string_scope.

Definition start_regions (p : placed) : answer region_progress :=
  within (good_placed p) "claim: a network of a wrong shape, or rows of another length"
  (with_domain (Pair (num_inputs p) (network p) (network p) (area p))
     match initial_regions (num_inputs p) (network p) (area p) with
     | None => Rejected "tree: no atoms"
     | Some (c, items) => Good (RegionProgress c (num_inequalities items) items 0)
     end).

(** * Nodes *)

(** A line of the file: a split, or a point. *)
Inductive region_line_end := Split_at (s : N) | Region_at (x : list Q).

Fixpoint put_coordinates (cols : list (option N)) (z : list Z) (m : nmap Z) : nmap Z :=
  match cols, z with
  | Some k :: cols', c :: z' => put_coordinates cols' z' (nadd k c m)
  | None :: cols', _ :: z' => put_coordinates cols' z' m
  | _, _ => m
  end.

Definition ending_of (p : placed) (c : region_context) (e : region_line_end) :
  answer region_ending :=
  match e with
  | Split_at s => Good (Cut s)
  | Region_at x =>
      require (Nat.eqb (List.length x) (num_inputs p)) "another number of coordinates"
      (within (point_fits x) "beyond the limits: a common denominator"
       match scaled_point (num_inputs p) (area p) x with
       | None => Rejected "a point outside of the domain"
       | Some (b, z) => Good (Region (put_coordinates (free c) z (nadd 0%N b E)))
       end)
  end.

Definition next_region_node (p : placed) (s : region_progress) (gs : list (list sign))
  (e : region_line_end) : answer region_progress :=
  within (num_inequalities (region_items s) - base_inequalities s <=? max_depth)%N
    "tree: beyond the limits: too many splits one below the other"
    (and_then (ending_of p (region_state s) e) (fun e' =>
     let c := shared (region_state s) in
     match region_step (cd c) (cfirst c) (cnatoms c) (catoms c) (clo c) (chi c)
             (all_atoms (region_state s)) (hidden (region_state s)) (region_items s) (gs, e') with
     | None => Rejected "a sign, the split or the region does not follow"
     | Some (items, k) =>
         Good (RegionProgress (region_state s) (base_inequalities s) items (found s + k))
     end)).

Definition regions_finished (s : region_progress) : bool :=
  match region_items s with [] => true | _ => false end.

Definition check_count (s : region_progress) (count : nat) : answer unit :=
  require (Nat.eqb (found s) count) "claim.count: another number of regions" (Good tt).

Definition region_line := (list (list sign) * region_line_end)%type.

Definition next_region_nodes (p : placed) (s : region_progress) (ls : list region_line) :
  answer region_progress :=
  fold_left (fun a l => and_then a (fun s => next_region_node p s (fst l) (snd l))) ls (Good s).

Close Scope string_scope.

(** * Soundness *)

(** ** Forms and signs of neurons *)

Lemma pairs_ok v D fs xs (bs : list (option bool)) a : (0 < D)%Z -> Forall2 (scaled v D) fs xs ->
  Forall2 (fun p a => val v a = relu (val v (snd p))) (combine bs fs) a ->
  List.length bs = List.length fs ->
  Forall (fun q => val v (snd q) = relu (val v (fst q))) (combine fs a) /\
  List.map (fun q => sign_of (val v (fst q))) (combine fs a) = List.map sign_of xs.
Proof.
  intros P F. revert bs a. induction F as [|f x fs xs Hf F IH]; intros [|b bs] a G L;
    try discriminate; simpl in G; inversion G as [|? y ? ys Gy Gt]; subst; simpl; auto.
  destruct (IH bs ys) as [I1 I2]; auto. cbn [snd] in Gy. split; [constructor; auto|].
  f_equal; auto. rewrite Hf. apply sign_of_scale. apply IZR_lt; auto.
Qed.

Lemma Forall2_len {X Y} (P : X -> Y -> Prop) l m : Forall2 P l m -> List.length l = List.length m.
Proof. induction 1; simpl; auto. Qed.

Lemma neuron_forms_ok d lr ls : forall t F t' pairs, inv t ->
  neuron_forms d ls lr t F = Some (t', pairs) -> incl (tab t) (tab t') /\
  forall v A, base d v -> sat v (tab t') -> acts_ok v F A ->
    Forall (fun q => val v (snd q) = relu (val v (fst q))) pairs /\
    List.map (fun q => sign_of (val v (fst q))) pairs = signs_from ls lr A.
Proof.
  induction ls as [|l ls IH]; intros t F t' pairs I.
  { intros [= <- <-]. split; [apply incl_refl|]. intros. split; [constructor|reflexivity]. }
  assert (match ls, lr with [], false => True | _, _ => False end \/
          match ls, lr with [], false => False | _, _ => True end) as [K|K]
    by (destruct ls, lr; auto).
  { destruct ls, lr; try tauto. simpl. intros [= <- <-]. split; [apply incl_refl|].
    intros. split; [constructor|reflexivity]. }
  intro E.
  assert (exists fs D t1 a rest, preforms F l = Some (fs, D) /\
    relus d (fun _ => None) 0 t (combine (List.map (wsign F) (neurons l)) fs) = Some (t1, a) /\
    neuron_forms d ls lr t1 (F ++ [(a, D)]) = Some (t', rest) /\ pairs = combine fs a ++ rest)
    as (fs & D & t1 & a & rest & E1 & E2 & E3 & ->).
  { cbn [neuron_forms] in E.
    assert (forall X (y z : X), match ls, lr with [], false => y | _, _ => z end = z) as M
      by (intros; destruct ls, lr; tauto).
    rewrite M in E. destruct (preforms F l) as [[fs D]|]; [|discriminate].
    destruct (relus _ _ _ _ _) as [[t1 a]|] eqn:R; [|discriminate].
    destruct (neuron_forms d ls lr t1 (F ++ [(a, D)])) as [[t2 rest]|] eqn:J; [|discriminate].
    injection E as <- <-. exists fs, D, t1, a, rest. auto. }
  destruct (relus_ok _ _ _ _ _ _ _ I E2) as (I1 & C1 & P1).
  destruct (IH _ _ _ _ I1 E3) as [C2 P2].
  split. { eapply incl_tran; eauto. }
  intros v A B S O. assert (sat v (tab t1)) as S1 by (intros s h J; apply S, C2; auto).
  destruct (preforms_ok v F A l fs D (proj1 B) (proj1 O) E1) as [HD G].
  pose proof (preforms_den _ _ _ E1) as L.
  assert (Forall2 (fun p a => val v a = relu (val v (snd p)))
    (combine (List.map (wsign F) (neurons l)) fs) a) as Q.
  { apply P1; auto. apply (combine_ok v D F A l fs O HD L G). }
  destruct (pairs_ok v D fs _ (List.map (wsign F) (neurons l)) a HD G Q) as [Q1 Q2].
  { apply Forall2_len in G. rewrite G, !map_length. auto. }
  destruct (P2 v (A ++ [List.map relu (List.map (pre A (den l)) (neurons l))])) as [Q3 Q4]; auto.
  { pose proof (relus_scaled v D F A l fs a HD G Q) as W. destruct O as [O1 O2].
    split. { apply Forall2_app; auto. constructor; auto. split; auto. }
    destruct O1; [simpl; constructor|]. simpl in *. apply Forall_app; split; auto.
    constructor; auto. apply Forall_forall. intros z Z. apply in_map_iff in Z as (z' & <- & _).
    apply relu_ge0. }
  split. { apply Forall_app; auto. }
  rewrite map_app, Q2, Q4. cbn [signs_from]. destruct ls, lr; tauto.
Qed.

(** ** Lines in the plane of the equations *)

Fixpoint on_line (t : R) (x p : list R) : list R :=
  match x, p with a :: x', b :: p' => (a + t * (b - a)) :: on_line t x' p' | _, _ => [] end.

Lemma on_line_length t x : forall p, List.length x = List.length p ->
  List.length (on_line t x p) = List.length x.
Proof. induction x as [|a x IH]; intros [|b p]; simpl; try discriminate; auto. Qed.

Lemma on_line_dot t x : forall p r, List.length x = List.length p ->
  dot r (on_line t x p) = dot r x + t * (dot r p - dot r x).
Proof.
  induction x as [|a x IH]; intros [|b p] [|c r] L; try discriminate; simpl; try ring.
  rewrite IH by (simpl in L; congruence). ring.
Qed.

Lemma on_line_coords t s x : forall p cols, List.length x = List.length p ->
  coords cols (on_line t x p) s = coords cols x s + t * (coords cols p s - coords cols x s).
Proof.
  induction x as [|a x IH]; intros [|b p] [|c cols] L; try discriminate; simpl; try ring.
  all: simpl in L; destruct c as [k|]; simpl; try ring; try (apply IH; congruence).
  destruct (s =? k)%N; [ring|apply IH; congruence].
Qed.

Lemma on_line_near e x : 0 < e -> forall p, List.length x = List.length p ->
  exists t0, 0 < t0 /\ forall t, Rabs t <= t0 -> near e x (on_line t x p).
Proof.
  intro E. induction x as [|a x IH]; intros [|b p] L; try discriminate.
  { exists 1. split; [lra|]. intros; constructor. }
  destruct (IH p) as (t1 & T1 & K). { simpl in L. congruence. }
  pose proof (Rabs_pos (b - a)) as P. set (w := Rabs (b - a) + 1).
  assert (0 < e / w) as W by (apply Rdiv_lt_0_compat; unfold w; lra).
  exists (Rmin t1 (e / w)). split. { apply Rmin_glb_lt; auto. }
  intros t T. pose proof (Rmin_l t1 (e / w)). pose proof (Rmin_r t1 (e / w)). constructor.
  - replace (a + t * (b - a) - a) with (t * (b - a)) by ring. rewrite Rabs_mult.
    assert (e / w * w = e) as Q by (field; unfold w; lra). unfold w in Q at 2. nra.
  - apply K. lra.
Qed.

Lemma near_coords e s x y : 0 < e -> near e x y -> forall cols,
  Rabs (coords cols y s - coords cols x s) < e.
Proof.
  intros E K. induction K as [|a b x y A K IH]; intros [|[k|] cols]; simpl;
    try (rewrite Rminus_0_r, Rabs_R0; auto; fail); auto.
  destruct (s =? k)%N; auto.
Qed.

(** ** The claim *)

Lemma put_coordinates_ok v b cols x z : Forall2 (coord_ok v) cols x ->
  Forall2 (fun c y => IZR c = b * y) z x -> forall m, all (fun s z => IZR z = b * v s) m ->
  all (fun s z => IZR z = b * v s) (put_coordinates cols z m).
Proof.
  intro C. revert z. induction C as [|o y cols x O C IH]; intros z F m M; [exact M|].
  inversion F; subst. destruct o as [k|]; simpl; auto.
  simpl in O. apply IH; auto. apply nall_add; auto. rewrite O. auto.
Qed.

Lemma named_ok (pairs : list (form * form)) : forall m : Maps.map form unit,
  all (fun h _ => exists q g, In q pairs /\ 0 < g /\ forall v, val v (fst q) = g * val v h) m ->
  forall qs, incl qs pairs ->
  all (fun h _ => exists q g, In q pairs /\ 0 < g /\ forall v, val v (fst q) = g * val v h)
    (fold_left (fun m q => fput (fst (prim (fst q))) tt m) qs m).
Proof.
  intros m M qs. revert m M. induction qs as [|q qs IH]; intros m M S; simpl; auto.
  apply IH; [|intros r R; apply S; right; auto]. apply fall_add; auto.
  destruct (prim (fst q)) as [h g] eqn:P. exists q, (IZR g).
  split; [apply S; left; auto|]. destruct (prim_ok (fun _ => 0) _ _ _ P) as [G _].
  split; [apply IZR_lt; auto|]. intro v. destruct (prim_ok v _ _ _ P) as [_ V]. auto.
Qed.

Section Claim.
Variables (p : placed) (c : region_context) (items : list region_item).
Hypothesis start : initial_regions (num_inputs p) (network p) (area p) = Some (c, items).

(** What the steps need to know of the values at the points of the plane. *)
Definition valued (V H : list R -> N -> R) (root : list rform) : Prop :=
  let d := cd (shared c) in
  items = [(root, snd (hd (root, State E 0 E E E E) items))] /\
  (forall x, in_plane p x -> base d (V x)) /\
  (forall x, in_plane p x ->
     forall s h, nfind s (catoms (shared c)) = Some h ->
       H x s = val (V x) h /\ V x s = relu (H x s)) /\
  (forall x, in_plane p x -> inside_of V root x ->
     lo_ok (V x) (clo (shared c)) /\ hi_ok (V x) (chi (shared c))) /\
  (forall x, in_plane p x -> Forall (fun q => val (V x) (snd q) = relu (val (V x) (fst q)))
     (hidden c)) /\
  (forall s h, nfind s (catoms (shared c)) = Some h ->
     exists q g, In q (hidden c) /\ 0 < g /\ forall x, val (V x) (fst q) = g * val (V x) h) /\
  (forall x s, (s <= d)%N -> V x s = coordinates (num_inputs p) (area p) d x s) /\
  (forall x, in_plane p x -> Forall2 (coord_ok (V x)) (free c) x) /\
  (forall x, in_plane p x -> (inside_of V root x <-> in_domain (area p) x)) /\
  (forall x, in_plane p x -> vector (hidden c) V x = signs (network p) x) /\
  Forall (fun r => over_coordinates d (fst r) = true) root /\
  sound (in_plane p) V H (hd (root, State E 0 E E E E) items).

Lemma valued_exists : exists V H root, valued V H root.
Proof.
  revert start. unfold initial_regions. intro I.
  destruct (setup _ _) as [[[[d scale] fs] sl]|] eqn:E0; [|discriminate].
  destruct (setup_at _ _ _ _ _ _ E0) as [Sc S0]. clear E0.
  destruct (neuron_forms _ _ _ _ _) as [[t pairs]|] eqn:J; [|discriminate].
  set (order := by_level _) in I. set (maps := enumerate order _ _) in I.
  destruct (mapo (rename_atom _ _ d) order) as [ats|] eqn:Ra; [|discriminate].
  destruct (mapo (rename_pair _ _ d) pairs) as [pairs'|] eqn:Rp; [|discriminate].
  cbv zeta in I.
  destruct (wf_tab d (tab t)) eqn:W; [|discriminate]. cbn [andb] in I.
  match type of I with (if ?a && ?b then _ else _) = _ =>
    destruct a eqn:Nm; [|discriminate]; destruct b eqn:Ov; [|discriminate] end.
  cbn [andb] in I. rewrite forallb_forall in Nm, Ov.
  set (atoms := fold_left (fun m p => nadd (fst p) (snd p) m) ats E) in I.
  destruct (fold_left (fun m r => side r m) sl (E, E)) as [lo hi] eqn:Sd.
  destruct (with_slacks sl) as [sm ns] eqn:Ws. injection I as Ec Ei.
  set (rho := fst maps) in *. set (iv := snd maps) in *.
  set (old x := fill (tab t) (coordinates (num_inputs p) (area p) d x)).
  set (V x := renamed iv d (old x)).
  set (Hv x s := match nfind s atoms with Some h => val (V x) h | None => 0 end).
  exists V, Hv, sl. unfold valued. rewrite <- Ec, <- Ei.
  cbn [shared cd catoms clo chi hidden free hd snd fst].
  assert (forall x, base d (old x) /\ (forall k, (k <= d)%N -> old x k =
    coordinates (num_inputs p) (area p) d x k) /\ sat (old x) (tab t)) as Old.
  { intro x. apply fill_ok; auto. apply coordinates_base. }
  assert (forall x, base d (V x)) as Base. { intro x. apply renamed_base, Old. }
  assert (forall x s, (s <= d)%N -> V x s = coordinates (num_inputs p) (area p) d x s) as Vc.
  { intros x s L. unfold V, renamed. destruct (N.leb_spec s d); [apply Old; auto|lia]. }
  assert (inv (St (d + 1) [] E [])) as I0 by exact Logic.I.
  destruct (neuron_forms_ok _ _ _ _ _ _ _ I0 J) as [_ Jo].
  apply mapo_ok in Ra. apply mapo_ok in Rp.
  assert (forall x, Forall (fun p => V x (fst p) = relu (val (V x) (snd p))) ats) as Va.
  { intro x. eapply Forall2_left with (Q := fun p => old x (fst p) = relu (val (old x) (snd p)));
      [exact Ra| |].
    - intros [s h] [s' h'] K Q. cbn [fst snd] in *. eapply rename_atom_ok; eauto.
    - set (P := fun p : N * form => old x (fst p) = relu (val (old x) (snd p))).
      unfold order. apply by_level_in with (P := P). apply leveled_in with (P := P).
      apply Forall_forall. intros [s h] K. apply in_rev in K. destruct (Old x) as (_ & _ & S).
      apply S; auto. }
  assert (forall x, in_plane p x -> rep (V x) ([], 1%Z) 0 /\
    Forall2 (fun r row => rep (V x) r (IZR (snd row) - dot (fst row) x)) sl (ineqs (area p))) as Sl.
  { intros x [L Q]. split; [apply rep_0|]. destruct (S0 x L Q (V x)) as (_ & _ & K); auto.
    apply Base. }
  assert (forall x, in_plane p x -> (inside_of V sl x <-> in_domain (area p) x)) as Dom.
  { intros x X. destruct (Sl x X) as [_ F]. destruct X as [L Q]. unfold in_domain.
    assert (inside_of V sl x <->
      Forall (fun r => dot (fst r) x <= IZR (snd r)) (ineqs (area p))) as G.
    { clear - F. unfold inside_of.
      induction F as [|r row sl rows [D R] F IH]; [split; constructor|]. apply IZR_lt in D.
      split; intro K; inversion K as [|? ? K1 K2]; subst; constructor; try (apply IH; auto); nra. }
    rewrite G. tauto. }
  assert (forall x, in_plane p x -> inside_of V sl x ->
    Forall (fun r => exists y, rep (V x) r y /\ 0 <= y) sl) as Pos.
  { intros x X K. destruct (Sl x X) as [_ F]. clear - F K. unfold inside_of in K.
    induction F as [|r row sl rows R F IH]; constructor; inversion K; subst; auto.
    exists (IZR (snd row) - dot (fst row) x). split; auto. destruct R as [D R].
    apply IZR_lt in D. nra. }
  assert (forall x q q', rename_pair rho iv d q = Some q' ->
    val (V x) (fst q') = val (old x) (fst q) /\ val (V x) (snd q') = val (old x) (snd q)) as Rq.
  { intros x q q'. unfold rename_pair. destruct (rename rho iv d (fst q)) eqn:F1; [|discriminate].
    destruct (rename rho iv d (snd q)) eqn:F2; [|discriminate]. intros [= <-].
    split; eapply rename_ok; eauto. }
  assert (forall x, in_plane p x ->
    Forall (fun q => val (old x) (snd q) = relu (val (old x) (fst q))) pairs /\
    List.map (fun q => sign_of (val (old x) (fst q))) pairs = signs (network p) x) as Jx.
  { intros x [L Q]. destruct (Old x) as (Ob & Oc & Os). apply (Jo (old x) [x] Ob Os).
    split; [|simpl; constructor]. constructor; [|constructor]. split; auto. cbn [fst snd].
    destruct (S0 x L Q (old x)) as (_ & K & _); auto. apply Ob. }
  repeat apply conj; auto.
  - intros x X s h F. unfold Hv. rewrite F. split; auto.
    assert (all (fun s h => V x s = relu (val (V x) h)) atoms) as Ma
      by (apply all_fold; simpl; auto).
    apply (nall_find _ _ _ _ Ma F).
  - intros x X K. pose proof (sides_ok (V x) sl (proj1 (Base x)) (Pos x X K) (E, E)) as S.
    rewrite Sd in S. apply S. split; exact Logic.I.
  - intros x X. destruct (Jx x X) as [F _]. clear - F Rp Rq.
    induction Rp as [|q q' qs qs' K Rp IH]; constructor; inversion F; subst; auto.
    destruct (Rq x _ _ K) as [-> ->]. auto.
  - assert (all (fun s h => exists q g, In q pairs' /\ 0 < g /\
      forall v, val v (fst q) = g * val v h) atoms) as M.
    { apply all_fold; [exact Logic.I|]. apply Forall_forall. intros a A. specialize (Nm a A).
      cbv beta in Nm. destruct (ffind (snd a) _) eqn:F; [|discriminate].
      eapply (fall_find (fun h _ => exists q g, In q pairs' /\ 0 < g /\
        forall v, val v (fst q) = g * val v h)); [|exact F].
      apply named_ok; [exact Logic.I|apply incl_refl]. }
    intros s h F. destruct (nall_find _ _ _ _ M F) as (q & g & Q & G & K). exists q, g. auto.
  - intros x [L Q]. destruct (S0 x L Q (V x)) as (K & _ & _); auto. apply Base.
  - intros x X. destruct (Jx x X) as [_ <-]. unfold vector. clear - Rp Rq.
    induction Rp as [|q q' qs qs' K Rp IH]; simpl; auto. f_equal; auto.
    destruct (Rq x _ _ K) as [-> _]. auto.
  - apply Forall_forall. auto.
  - intros x X K. cbn [fst snd] in *. repeat split; try exact Logic.I. cbn [slacks].
    replace sm with (fst (sm, ns)) by reflexivity. rewrite <- Ws.
    apply with_slacks_ok with (P := fun r => exists y, rep (V x) r y /\ 0 <= y). auto.
Qed.

Variables (V H : list R -> N -> R) (root : list rform).
Hypothesis values : valued V H root.

Notation d := (cd (shared c)).
Notation parts := (covers d (hidden c) (in_plane p) V H root).

Lemma bases_here x : in_plane p x -> base d (V x).
Proof. intro X. destruct values as (_ & B & _). auto. Qed.

Lemma near_values_here e x y s : near e x y -> (s <= d)%N -> 0 < e -> Rabs (V y s - V x s) < e.
Proof.
  intros K L E. destruct values as (_ & _ & _ & _ & _ & _ & C & _).
  rewrite !C by auto. unfold coordinates. destruct (s =? 0)%N.
  { rewrite Rminus_eq_0, Rabs_R0. auto. }
  destruct (s <=? d)%N; [apply near_coords; auto|]. rewrite Rminus_eq_0, Rabs_R0. auto.
Qed.

Lemma lines_here x y : in_plane p x -> in_plane p y -> exists w : R -> list R,
  (forall t, in_plane p (w t) /\
     forall s, (s <= d)%N -> V (w t) s = V x s + t * (V y s - V x s)) /\
  forall e, 0 < e -> exists t0, 0 < t0 /\ forall t, Rabs t <= t0 -> near e x (w t).
Proof.
  intros [L X] [M Y]. assert (List.length x = List.length y) as LM by congruence.
  exists (fun t => on_line t x y). split.
  - intro t. split.
    + split. { rewrite on_line_length; auto. }
      apply Forall_forall. intros r R. rewrite Forall_forall in X, Y.
      rewrite on_line_dot, (X r R), (Y r R) by auto. ring.
    + intros s S. destruct values as (_ & _ & _ & _ & _ & _ & C & _).
      rewrite !C by auto. unfold coordinates. destruct (s =? 0)%N; [ring|].
      destruct (s <=? d)%N; [apply on_line_coords; auto|ring].
  - intros e E. apply on_line_near; auto.
Qed.

Lemma ending_ok e r gs : ending_of p c e = Good r -> record_ok (in_plane p) V (gs, r).
Proof.
  unfold ending_of, record_ok. cbn [snd]. destruct e as [s|x]. { intros [= <-]. exact Logic.I. }
  intro E. apply require_good in E as [_ E]. apply within_good in E as [_ E].
  destruct (scaled_point _ _ _) as [[b z]|] eqn:S; [|discriminate]. injection E as <-.
  destruct (scaled_point_ok _ _ _ _ _ S) as (B & L & F & [_ Q]).
  assert (in_plane p (List.map Q2R x)) as X. { split; auto. rewrite map_length; auto. }
  exists (List.map Q2R x). split; auto. exists (IZR b). split. { apply IZR_lt; auto. }
  destruct values as (_ & _ & _ & _ & _ & _ & _ & C & _).
  apply put_coordinates_ok with (x := List.map Q2R x); auto.
  apply nall_add; [exact Logic.I|]. rewrite (proj1 (bases_here _ X)). ring.
Qed.

Lemma nodes_ok ls : forall s s', region_state s = c -> next_region_nodes p s ls = Good s' ->
  regions_finished s' = true -> exists points,
    Forall2 parts (region_items s) points /\
    (List.length (concat points) + found s = found s')%nat.
Proof.
  assert (forall (m : answer region_progress) ls s, (forall a, m <> Good a) ->
    fold_left (fun a l => and_then a (fun s => next_region_node p s (fst l) (snd l))) ls m <>
      Good s) as stays.
  { intros m l. revert m. induction l as [|r l IH]; simpl; intros m s M; auto.
    apply IH. intro a. destruct m; simpl; try discriminate. destruct (M a0 eq_refl). }
  unfold next_region_nodes. induction ls as [|[gs e] ls IH]; intros s s' Ec.
  { simpl. intros [= <-] F. exists []. unfold regions_finished in F.
    destruct (region_items s); [|discriminate]. split; [constructor|reflexivity]. }
  cbn [fold_left and_then fst snd]. destruct (next_region_node p s gs e) as [s1|m|m] eqn:E.
  2, 3: intro F; apply stays in F; [destruct F|intros; discriminate].
  intros F Fin. unfold next_region_node in E. apply within_good in E as [_ E].
  apply and_then_good in E as (r & E1 & E). rewrite Ec in E1, E. cbv zeta in E.
  destruct (region_step _ _ _ _ _ _ _ _ _ _) as [[items' k]|] eqn:St; [|discriminate].
  injection E as <-. destruct (IH (RegionProgress c (base_inequalities s) items' (found s + k)%nat)
    s' eq_refl F Fin) as (ps & C & N). cbn [region_items found] in *.
  destruct values as (_ & V1 & V2 & V3 & V4 & V5 & _).
  destruct (region_step_ok _ _ _ _ _ _ _ _ (in_plane p) V H root V1 V2 V3 V4 V5
    near_values_here lines_here _ _ _ _ St (ending_ok _ _ gs E1) _ C) as (ps' & C' & N').
  exists ps'. split; auto. lia.
Qed.

Lemma claim_holds s ls s' : good_placed p = true -> region_state s = c -> region_items s = items ->
  found s = 0%nat -> next_region_nodes p s ls = Good s' -> regions_finished s' = true ->
  regions_are p (found s').
Proof.
  intros G Ec Ei F0 N F. destruct (nodes_ok _ _ _ Ec N F) as (ps & C & L). rewrite Ei in C.
  destruct values as (V0 & _ & _ & _ & _ & _ & _ & _ & V8 & V9 & V10 & V11).
  rewrite V0 in C, V11. cbn [hd] in V11. inversion C as [|? l ? ? C1 C2]; subst.
  inversion C2; subst.
  simpl in L. rewrite app_nil_r, F0, Nat.add_0_r in L.
  destruct C1 as (A1 & A2 & A3 & A4 & A5); auto. { split; cbn [fst]; auto. }
  cbn [fst] in *.
  assert (forall x e, in_plane p x -> 0 < e ->
    (forall y, in_plane p y -> near e x y -> inside_of V root y) -> in_interior p x) as Interior.
  { intros x e X E K. split; auto. exists e. split; auto. intros y Y M. apply V8; auto. }
  rewrite Forall_forall in A2, A4.
  assert (forall x, In x l -> inner p (has_signs p (signs (network p) x)) x) as Listed.
  { intros x I. destruct (A2 x I) as [X _]. destruct (A4 x I) as (e & E & K). split; auto.
    exists (e / 2). split; [lra|]. intros y Y M. split.
    - apply (Interior y (e / 2)); auto; [lra|]. intros z Z M'. apply (K z Z).
      replace e with (e / 2 + e / 2) by lra. eapply near_trans; eauto.
    - rewrite <- !V9 by auto. apply (K y Y). eapply near_less; [|exact M]. lra. }
  split; auto. split.
  { destruct l as [|x l]; [congruence|]. exists x. destruct (Listed x (or_introl eq_refl)) as [X S].
    destruct S as (e & E & K). apply (K x X). apply near_refl; auto. }
  exists (List.map (vector (hidden c) V) l). split; auto. split. { rewrite map_length; auto. }
  intro v. split.
  - intro I. apply in_map_iff in I as (x & <- & I). exists x. destruct (A2 x I) as [X _].
    rewrite V9; auto.
  - intros (x & X & e & E & K). destruct (A5 x e) as (y & q & Y & M & I & Q); auto.
    { split; auto. exists e. split; auto. intros y Y M. apply V8; auto.
      destruct (K y Y M) as [[_ (e' & E' & K')] _]. apply K'; auto. apply near_refl; auto. }
    destruct (K y Y M) as [_ <-]. rewrite <- V9, Q by auto. apply in_map; auto.
Qed.

End Claim.

(** An accepted tree file proves its claim. *)
Theorem regions_hold p s ls s' count :
  start_regions p = Good s -> next_region_nodes p s ls = Good s' -> regions_finished s' = true ->
  check_count s' count = Good tt -> regions_are p count.
Proof.
  unfold start_regions. intros E N F C. apply within_good in E as [G E].
  apply with_domain_good in E as (_ & _ & E).
  destruct (initial_regions _ _ _) as [[c items]|] eqn:I; [|discriminate]. injection E as <-.
  apply require_good in C as [C _]. apply Nat.eqb_eq in C. subst.
  destruct (valued_exists _ _ _ I) as (V & H & root & K).
  apply (claim_holds p c items V H root K _ ls s') in N; auto.
Qed.
