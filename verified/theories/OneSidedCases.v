(** Theorem one-sided-cases: neurons that have one sign wherever a source is on, in each case of a
    tree (FORMAT.md, section 3.3; docs/theory/one_sided.md). *)
Require Import String ZArith NArith Reals List Bool Lra Lia Psatz.
From PolyreluVerified Require Import Verdicts Networks Domains Limits Maps Numbers LinearForms.
From PolyreluVerified Require Import Competitors Stacks Scaled Flip OneSided.
From PolyreluVerified Require Boxes.
Import ListNotations.
Open Scope string_scope.
Open Scope list_scope.
Open Scope R_scope.

(** * Evidence *)

(** Why a form is not negative in a case: a factor, multiples of facts, and the neurons of unknown
    sign for whose activation the preactivation is put in. *)
Record case_record := Case_record { scaled_by : Z; by_facts : multiples; with_rows : list N }.

(** Nodes in prefix order. *)
Inductive case_node := Split_case (k : N) | Close_case (records : list case_record).

Section Cases.
(** The neurons below, their number, the numbers of inputs and of neurons of layer 1, and the
    inequalities of the domain. *)
Variables (neurons : nmap below_neuron) (num inputs first_width : N) (slacks : nmap form).

(** The neurons of known sign: on (true) or off. *)
Definition known_signs := nmap bool.

(** The terms of [d z] with positive coefficients, of a neuron that reads activations. *)
Definition positive_terms (k : N) (n : below_neuron) : option form :=
  if (first_width <=? k)%N &&
     forallb (fun p => (fst p =? 0)%N || (inputs <? fst p)%N) (preactivation n)
  then Some (filter (fun p => (0 <? snd p)%Z) (preactivation n))
  else None.

Definition fact_of_neuron (known : known_signs) (k : N) (kind : Z) : option form :=
  match nfind k neurons with
  | None => None
  | Some n =>
      if (kind =? 0)%Z then
        match nfind k known with
        | Some true => Some (preactivation n)
        | Some false => Some (fneg (preactivation n))
        | None => None
        end
      else if (kind =? 1)%Z then Some (gap_of n)
      else
        match positive_terms k n with
        | Some u => Some (flin 1 (-1) u [(symbol n, denominator n)])
        | None => None
        end
  end.

(** Three facts for each neuron, then the inequalities of the domain. *)
Definition case_fact (known : known_signs) (i : N) : option form :=
  if (i <? 3 * num)%N
  then fact_of_neuron known (Z.to_N (Z.of_N i / 3)) (Z.of_N i mod 3)%Z
  else nfind (i - 3 * num)%N slacks.

Fixpoint without_facts (known : known_signs) (ms : multiples) (f : form) : option form :=
  match ms with
  | [] => Some f
  | (i, a) :: ms' =>
      if (0 <=? a)%Z then
        match case_fact known i with
        | Some g => without_facts known ms' (flin 1 (- a) f g)
        | None => None
        end
      else None
  end.

(** A form that stands for [d a] of a neuron with the coefficient [c]. *)
Definition bound_of (known : known_signs) (listed : nmap unit) (k : N) (n : below_neuron) (c : Z)
  : option form :=
  match nfind k known with
  | Some true => Some (preactivation n)
  | Some false => Some []
  | None =>
      if (0 <? c)%Z then
        match nfind k listed with Some _ => Some (preactivation n) | None => Some [] end
      else positive_terms k n
  end.

(** The activations are replaced, the last one first. *)
Fixpoint replaced {A} (fuel : list A) (known : known_signs) (listed : nmap unit) (q : rform)
  : option rform :=
  match fst q with
  | [] => Some q
  | (s, c) :: rest =>
      if (s <=? inputs)%N then Some q else
      match fuel with
      | [] => None
      | _ :: fuel' =>
          let k := (s - inputs - 1)%N in
          match nfind k neurons with
          | None => None
          | Some n =>
              if (symbol n =? s)%N && (0 <? denominator n)%Z then
                match bound_of known listed k n c with
                | None => None
                | Some b =>
                    replaced fuel' known listed
                      (raxpy (rest, snd q) c (snd q * denominator n) (b, 1%Z))
                end
              else None
          end
      end
  end.

Fixpoint ascending_below (low : N) (l : list N) (high : N) : bool :=
  match l with
  | [] => true
  | k :: l' => (low <=? k)%N && (k <? high)%N && ascending_below (k + 1) l' high
  end.

(** The numerator of what is left, if it is constant. *)
Definition remainder {A} (fuel : list A) (known : known_signs) (f : form) (r : case_record)
  : option Z :=
  if ascending_below 0 (with_rows r) num then
    let listed := fold_left (fun m k => nadd k tt m) (with_rows r) E in
    match without_facts known (by_facts r) f with
    | None => None
    | Some g =>
        match replaced fuel known listed (g, 1%Z) with
        | Some ([], _) => Some 0%Z
        | Some ([(0%N, c)], _) => Some c
        | _ => None
        end
    end
  else None.

Fixpoint all_follow {A} (fuel : list A) (known : known_signs) (forms : list form)
  (rs : list case_record) : bool :=
  match forms, rs with
  | [], [] => true
  | f :: forms', r :: rs' =>
      (0 <? scaled_by r)%Z &&
      match remainder fuel known (fscale (scaled_by r) f) r with
      | Some c => (0 <=? c)%Z
      | None => false
      end && all_follow fuel known forms' rs'
  | _, _ => false
  end.

(** All forms are at least 0 in a case, or it does not occur. *)
Definition closes {A} (fuel : list A) (known : known_signs) (forms : list form)
  (rs : list case_record) : bool :=
  let usual := all_follow fuel known forms rs in
  match rs with
  | [r] =>
      if (scaled_by r =? 0)%Z then
        match remainder fuel known [] r with Some c => (0 <? c)%Z | None => false end
      else usual
  | _ => usual
  end.

(** The cases that are to come, with their depths. *)
Fixpoint cases {A} (fuel : list A) (forms : list form) (nodes : list case_node)
  (stack : list (N * known_signs)) : bool :=
  match nodes, stack with
  | [], [] => true
  | Split_case k :: nodes', (depth, known) :: rest =>
      (k <? num)%N && (depth <? max_depth)%N &&
      match nfind k known with Some _ => false | None => true end &&
      cases fuel forms nodes'
        ((depth + 1, nadd k true known) :: (depth + 1, nadd k false known) :: rest)%N
  | Close_case rs :: nodes', (_, known) :: rest =>
      closes fuel known forms rs && cases fuel forms nodes' rest
  | _, _ => false
  end.

(** * Soundness *)

Variable v : N -> R.
Hypothesis one_is : v 0%N = 1.
Hypothesis activations : forall k, (inputs < k)%N -> 0 <= v k.
Hypothesis neurons_ok : all (fun _ => neuron_ok v) neurons.
Hypothesis slacks_ok : all (fun _ f => 0 <= val v f) slacks.

(** The preactivation of neuron [k], if there is one, has the sign. *)
Definition has_sign (k : N) (b : bool) : Prop :=
  forall n, nfind k neurons = Some n -> signed b (val v (preactivation n)).

Definition signs_ok (known : known_signs) : Prop := all has_sign known.

Lemma positive_terms_ok k n u : neuron_ok v n -> positive_terms k n = Some u ->
  IZR (denominator n) * v (symbol n) <= val v u.
Proof.
  intros (_ & _ & ->). unfold positive_terms. destruct (_ && forallb _ _) eqn:H; [|discriminate].
  intros [= <-]. apply andb_prop in H as [_ H].
  assert (forall f, forallb (fun p => (fst p =? 0)%N || (inputs <? fst p)%N) f = true ->
    val v f <= val v (filter (fun p => (0 <? snd p)%Z) f) /\
    0 <= val v (filter (fun p => (0 <? snd p)%Z) f)) as K.
  { clear - one_is activations. induction f as [|[s c] f IH]; cbn [forallb filter val fst snd].
    { intros; lra. }
    intro H. apply andb_prop in H as [H1 H2]. destruct (IH H2) as [I1 I2].
    assert (0 <= v s) as S.
    { apply orb_prop in H1 as [H1|H1]; [apply N.eqb_eq in H1; rewrite H1, one_is; lra|].
      apply N.ltb_lt in H1. auto. }
    destruct (Z.ltb_spec 0 c) as [C|C]; cbn [val].
    - apply IZR_lt in C. split; nra.
    - apply IZR_le in C. split; nra. }
  destruct (K _ H) as [K1 K2]. unfold relu. apply Rmax_lub; auto.
Qed.

Lemma case_fact_ok known i f : signs_ok known -> case_fact known i = Some f -> 0 <= val v f.
Proof.
  intro K. unfold case_fact, fact_of_neuron. destruct (i <? 3 * num)%N.
  - set (k := Z.to_N _). destruct (nfind k neurons) as [n|] eqn:F; [|discriminate].
    pose proof (nall_find _ _ _ _ neurons_ok F) as Ok. destruct (_ =? 0)%Z.
    + destruct (nfind k known) as [[|]|] eqn:S; try discriminate; intros [= <-];
        apply (nall_find _ _ _ _ K) in S; specialize (S n F); simpl in S; auto.
      rewrite val_fneg. lra.
    + destruct (_ =? 1)%Z. { intros [= <-]. apply gap_nonneg. auto. }
      destruct (positive_terms k n) as [u|] eqn:P; [|discriminate]. intros [= <-].
      apply positive_terms_ok in P; auto. rewrite val_flin. cbn [val]. lra.
  - intro F. apply (nall_find _ _ _ _ slacks_ok F).
Qed.

Lemma without_facts_ok known ms : signs_ok known -> forall f g,
  without_facts known ms f = Some g -> val v g <= val v f.
Proof.
  intro K. induction ms as [|[i a] ms IH]; simpl; intros f g. { intros [= <-]. lra. }
  destruct (Z.leb_spec 0 a) as [A|]; [|discriminate].
  destruct (case_fact known i) as [h|] eqn:F; [|discriminate]. intro W. apply IH in W.
  apply (case_fact_ok _ _ _ K) in F. rewrite val_flin, opp_IZR in W. apply IZR_le in A. nra.
Qed.

Lemma bound_ok known listed k n c b : signs_ok known -> nfind k neurons = Some n ->
  bound_of known listed k n c = Some b ->
  IZR c * val v b <= IZR c * (IZR (denominator n) * v (symbol n)).
Proof.
  intros K F. pose proof (nall_find _ _ _ _ neurons_ok F) as Ok. unfold bound_of.
  pose proof Ok as (_ & _ & E). destruct (nfind k known) as [[|]|] eqn:S.
  - apply (nall_find _ _ _ _ K) in S. specialize (S n F). simpl in S. intros [= <-].
    rewrite E, relu_pos by auto. lra.
  - apply (nall_find _ _ _ _ K) in S. specialize (S n F). simpl in S. intros [= <-].
    rewrite E, relu_neg by auto. simpl. lra.
  - destruct (Z.ltb_spec 0 c) as [C|C].
    + apply IZR_lt in C. pose proof (Rmax_l (val v (preactivation n)) 0) as M1.
      pose proof (Rmax_r (val v (preactivation n)) 0) as M2.
      fold (relu (val v (preactivation n))) in *.
      destruct (nfind k listed); intros [= <-]; rewrite E; cbn [val]; nra.
    + intro P. apply positive_terms_ok in P; auto. apply IZR_le in C. nra.
Qed.

Lemma replaced_ok {A} (fuel : list A) known listed : signs_ok known -> forall q x q', rep v q x ->
  replaced fuel known listed q = Some q' -> exists x', rep v q' x' /\ x' <= x.
Proof.
  intro K. induction fuel as [|a fuel IH]; intros [f e] x q' Q; cbn [replaced fst snd].
  - destruct f as [|[s c] rest]; [|destruct (s <=? inputs)%N; [|discriminate]]; intros [= <-];
      exists x; split; auto; lra.
  - destruct f as [|[s c] rest]; [intros [= <-]; exists x; split; auto; lra|].
    destruct (s <=? inputs)%N; [intros [= <-]; exists x; split; auto; lra|].
    destruct (nfind _ neurons) as [n|] eqn:F; [|discriminate].
    destruct (N.eqb_spec (symbol n) s) as [Sy|]; [|discriminate].
    destruct (Z.ltb_spec 0 (denominator n)) as [D|]; [|discriminate]. cbn [andb].
    destruct (bound_of _ _ _ _ _) as [b|] eqn:B; [|discriminate]. intro R.
    apply (bound_ok _ _ _ _ _ _ K F) in B. rewrite Sy in B. destruct Q as [E X].
    cbn [fst snd val] in *.
    pose proof (IZR_lt _ _ E) as E'. pose proof (IZR_lt _ _ D) as D'.
    set (ed := IZR e * IZR (denominator n)). assert (0 < ed) as P by (unfold ed; nra).
    assert (rep v (raxpy (rest, e) c (e * denominator n) (b, 1%Z))
      (x - IZR c * v s / IZR e + IZR c * val v b / ed)) as Q.
    { apply raxpy_ok with (y := val v b).
      - split; auto. cbn [fst snd]. replace (val v rest) with (IZR e * x - IZR c * v s) by lra.
        field. lra.
      - split; [reflexivity|]. cbn [fst snd]. lra.
      - nia.
      - rewrite mult_IZR. fold ed. field. lra. }
    destruct (IH _ _ _ Q R) as (x' & R' & L).
    exists x'. split; auto. eapply Rle_trans; [exact L|].
    assert (IZR c * val v b / ed <= IZR c * v s / IZR e); [|lra].
    apply Rmult_le_reg_r with ed; auto.
    replace (IZR c * val v b / ed * ed) with (IZR c * val v b) by (field; lra).
    replace (IZR c * v s / IZR e * ed) with (IZR c * (IZR (denominator n) * v s))
      by (unfold ed; field; lra). lra.
Qed.

Lemma remainder_ok {A} (fuel : list A) known f r c : signs_ok known ->
  remainder fuel known f r = Some c -> exists e, 0 < e /\ IZR c <= e * val v f.
Proof.
  intro K. unfold remainder. destruct (ascending_below _ _ _); [|discriminate].
  destruct (without_facts _ _ _) as [g|] eqn:W; [|discriminate].
  apply (without_facts_ok _ _ K) in W.
  destruct (replaced _ _ _ _) as [[h e]|] eqn:R; [|discriminate].
  eapply replaced_ok in R as (x & [E X] & L); [|exact K|split; [reflexivity|cbn [fst snd];
    rewrite Rmult_1_l; reflexivity]].
  cbn [fst snd] in *. apply IZR_lt in E. intro H. exists (IZR e). split; auto.
  assert (IZR c = val v h) as ->; [|nra].
  destruct h as [|[[|s] d] [|? ?]]; try discriminate; injection H as <-; cbn [val]; auto.
  rewrite one_is. lra.
Qed.

Definition all_hold (forms : list form) : Prop := Forall (fun f => 0 <= val v f) forms.

Lemma all_follow_ok {A} (fuel : list A) known forms : signs_ok known -> forall rs,
  all_follow fuel known forms rs = true -> all_hold forms.
Proof.
  intro K. induction forms as [|f forms IH]; intros [|r rs]; simpl; try discriminate.
  { constructor. }
  intro H. apply andb_prop in H as [H H3]. apply andb_prop in H as [H1 H2].
  apply Z.ltb_lt, IZR_lt in H1. constructor; [|eapply IH; eauto].
  destruct (remainder _ _ _ _) as [c|] eqn:R; [|discriminate]. apply Z.leb_le, IZR_le in H2.
  apply (remainder_ok _ _ _ _ _ K) in R as (e & E & L). rewrite val_fscale in L.
  apply Rnot_lt_le. intro N. assert (e * (IZR (scaled_by r) * val v f) < 0); [|lra].
  assert (IZR (scaled_by r) * val v f < 0) by nra. nra.
Qed.

Lemma closes_ok {A} (fuel : list A) known forms rs : signs_ok known ->
  closes fuel known forms rs = true -> all_hold forms.
Proof.
  intro K. unfold closes. destruct rs as [|r [|r' rs]]; try (apply all_follow_ok; auto; fail).
  destruct (scaled_by r =? 0)%Z; [|apply all_follow_ok; auto].
  destruct (remainder _ _ _ _) as [c|] eqn:R; [|discriminate]. intro C.
  apply (remainder_ok _ _ _ _ _ K) in R as (e & E & L). apply Z.ltb_lt, IZR_lt in C.
  simpl in L. lra.
Qed.

Lemma cases_ok {A} (fuel : list A) forms nodes : forall stack,
  cases fuel forms nodes stack = true ->
  Forall (fun c => signs_ok (snd c) -> all_hold forms) stack.
Proof.
  induction nodes as [|[k|rs] nodes IH]; intros [|[depth known] rest]; simpl; try discriminate.
  { constructor. }
  - intro H. apply andb_prop in H as [_ H]. apply IH in H.
    inversion H as [|? ? H1 H2]; subst. inversion H2 as [|? ? H3 H4]; subst. constructor; auto.
    cbn [snd] in *. intro K.
    destruct (nfind k neurons) as [n|] eqn:F.
    + destruct (Rle_lt_dec 0 (val v (preactivation n))).
      * apply H1. apply nall_add; auto. intros m M. rewrite F in M. injection M as <-. auto.
      * apply H3. apply nall_add; auto. intros m M. rewrite F in M. injection M as <-. simpl. lra.
    + apply H1. apply nall_add; auto. intros m M. congruence.
  - intro H. apply andb_prop in H as [H1 H2]. constructor; auto. intro K.
    eapply closes_ok; eauto.
Qed.
End Cases.

(** * The changed layers *)

(** The sign of a neuron of the lower layer: on (true) or off. *)
Definition case_sign := (N * bool)%type.

(** The entries of a list with ascending numbers, and their signs. *)
Fixpoint pick {X} (i : N) (l : list X) (signs : list case_sign) : option (list (X * bool)) :=
  match l with
  | [] => match signs with [] => Some [] | _ => None end
  | x :: l' =>
      match signs with
      | [] => Some []
      | (k, b) :: rest =>
          if (k =? i)%N
          then match pick (i + 1) l' rest with Some m => Some ((x, b) :: m) | None => None end
          else pick (i + 1) l' signs
      end
  end.

(** A row of the first network, and the rows of both networks over one denominator. *)
Definition changed_row := (row * (row * row))%type.

Definition signed_form (start : N) (b : bool) (r : row) : form :=
  form_of start (times_row (if b then 1 else -1) r).

(** The form of the first network is not negative if that of [p] is not, and the form of the second
    one is not if besides its weight changes to the side of the sign. *)
Definition add_forms (start : N) (source : option nat) (m : Maps.map form unit)
  (p : changed_row * bool) : Maps.map form unit :=
  let old := fst (snd (fst p)) in
  let new := snd (snd (fst p)) in
  let change := (weight_at source new - weight_at source old)%Z in
  if same_elsewhere source old new &&
     (if snd p then (0 <=? change)%Z else (change <=? 0)%Z)
  then fput (signed_form start (snd p) new) tt (fput (signed_form start (snd p) old) tt m)
  else m.

Definition known_source (start width num : N) (listed : list nat) : nmap bool :=
  match listed with [h] => nadd (num - width + N.of_nat h)%N true E | _ => E end.

Definition numbered_slacks (D : domain) : nmap form :=
  fst (fold_left (fun m r => (nadd (snd m) (slack r) (fst m), (snd m + 1)%N)) (ineqs D) (E, 0%N)).

Definition is_one_sided_cases (inputs : N) (D : domain) (c : change) (listed : list nat)
  (signs : list case_sign) (nodes : list case_node) : bool :=
  let '(neurons, (start, width, num)) := enter_layers 1 inputs 0 (below c) E in
  match source_of neurons start width num listed with
  | None => false
  | Some (source, _) =>
      let first_width := match below c with [] => 0%N | p :: _ => count (rows p) end in
      let old := List.map (fun r => (r, times_row (over (lower' c)) r)) (rows (lower c)) in
      let new := List.map (times_row (over (lower c))) (rows (lower' c)) in
      let triple p := (fst (fst p), (snd (fst p), snd p)) in
      match pick 0 (List.map triple (combine old new)) signs with
      | None => false
      | Some picked =>
          let forms := List.map (fun p => signed_form start (snd p) (fst (fst p))) picked in
          let proven := fold_left (add_forms start source) picked E in
          let follow f (_ : multiples) :=
            match ffind f proven with Some _ => true | None => false end in
          cases neurons num inputs first_width (numbered_slacks D) (flat_map rows (below c)) forms
            nodes [(0%N, known_source start width num listed)] &&
          changes_fit follow start source c
            (List.map (fun s => Neuron_sign (fst s) (snd s) 1 []) signs)
      end
  end.

(** ** Soundness *)

Lemma pick_in {X} (l : list X) : forall i signs m, pick i l signs = Some m ->
  Forall (fun p => In (fst p) l) m.
Proof.
  induction l as [|x l IH]; simpl; intros i signs m.
  { destruct signs; [|discriminate]. intros [= <-]. constructor. }
  destruct signs as [|[k b] rest]. { intros [= <-]. constructor. }
  destruct (k =? i)%N.
  - destruct (pick (i + 1) l rest) as [m'|] eqn:E; [|discriminate]. intros [= <-].
    constructor; [left; auto|]. eapply Forall_impl; [|eapply IH; eauto]. simpl. auto.
  - intro E. eapply Forall_impl; [|eapply IH; eauto]. simpl. auto.
Qed.

Lemma val_signed v start b r u : v 0%N = 1 -> reads_at v start u -> length (fst r) = length u ->
  val v (signed_form start b r) = (if b then value r u else - value r u).
Proof.
  intros V U L. unfold signed_form. rewrite (val_form_of v start _ u) by
    (auto; simpl; rewrite map_length; auto). rewrite value_times. destruct b; lra.
Qed.

Lemma add_forms_ok v start source u e p m : v 0%N = 1 -> reads_at v start u ->
  match source with Some h => (h < length u)%nat | None => True end ->
  0 <= source_value source u -> 0 <= IZR e ->
  fst (snd (fst p)) = times_row e (fst (fst p)) -> length (fst (fst (fst p))) = length u ->
  length (fst (snd (snd (fst p)))) = length u ->
  0 <= val v (signed_form start (snd p) (fst (fst p))) ->
  all (fun f _ => 0 <= val v f) m -> all (fun f _ => 0 <= val v f) (add_forms start source m p).
Proof.
  intros V U B S Ep Eq L L' P M. destruct p as [[r [old new]] b]. cbn [fst snd] in *.
  unfold add_forms. cbn [fst snd]. destruct (same_elsewhere source old new) eqn:Same; auto.
  cbn [andb].
  assert (length (fst old) = length u) as Lo by (rewrite Eq; simpl; rewrite map_length; auto).
  pose proof (same_elsewhere_ok _ _ _ u Same Lo B) as New. rewrite <- minus_IZR in New.
  set (change := (weight_at source new - weight_at source old)%Z) in *.
  rewrite (val_signed v start b r u) in P by auto.
  assert (value old u = IZR e * value r u) as Old by (rewrite Eq; apply value_times).
  destruct b.
  - destruct (Z.leb_spec 0 change) as [C|]; auto. apply IZR_le in C.
    apply fall_add; [apply fall_add; auto|];
      rewrite (val_signed v start _ _ u) by auto; rewrite ?New, Old; nra.
  - destruct (Z.leb_spec change 0) as [C|]; auto. apply IZR_le in C.
    apply fall_add; [apply fall_add; auto|];
      rewrite (val_signed v start _ _ u) by auto; rewrite ?New, Old; nra.
Qed.

Lemma numbered_slacks_ok v D x : v 0%N = 1 -> reads_at v 1 x ->
  Forall (fun r => length (fst r) = length x) (ineqs D) -> interior D x ->
  all (fun _ f => 0 <= val v f) (numbered_slacks D).
Proof.
  intros V X L I. unfold numbered_slacks.
  assert (forall m : nmap form * N, all (fun _ f => 0 <= val v f) (fst m) ->
    all (fun _ f => 0 <= val v f)
      (fst (fold_left (fun m r => (nadd (snd m) (slack r) (fst m), (snd m + 1)%N)) (ineqs D) m)))
    as All; [|apply All; exact Logic.I].
  pose proof (Boxes.interior_le _ _ I L) as Le. clear I. revert L Le.
  induction (ineqs D) as [|r rs IH]; intros L Le m M; [exact M|]. cbn [fold_left].
  inversion L; subst. inversion Le; subst. apply IH; auto. cbn [fst].
  apply nall_add; auto. unfold slack.
  rewrite (val_form_of v 1 _ x) by (auto; simpl; rewrite map_length; auto).
  rewrite value_pair, dot_negated. lra.
Qed.

Theorem one_sided_cases_ok m D c listed signs nodes last_relu x :
  is_one_sided_cases (N.of_nat m) D c listed signs nodes = true -> length x = m ->
  Forall (fun r => length (fst r) = m) (ineqs D) -> interior D x ->
  fits m (below c ++ lower c :: upper c :: above c) ->
  fits m (below c ++ lower' c :: upper' c :: above c) ->
  compute (below c ++ lower' c :: upper' c :: above c) last_relu x =
  compute (below c ++ lower c :: upper c :: above c) last_relu x.
Proof.
  unfold is_one_sided_cases. intros H X Rows In F F'. pose proof (fits_below _ _ _ F) as Fb.
  destruct (valued_exists (below c) x) as (v & V0 & Vpos & V).
  rewrite <- X in H. rewrite <- count_length in H.
  destruct (enter_layers 1 (count x) 0 (below c) E) as [neurons [[start width] num]] eqn:En.
  rewrite <- X in Fb.
  destruct (enter_layers_ok v (below c) 1 x 0 E _ _ _ _ V0 V Fb I En) as (Nok & U & W).
  set (u := reads (below c) x) in *.
  destruct (source_of neurons start width num listed) as [[source on]|] eqn:So; [|discriminate].
  destruct (source_ok _ _ _ _ _ _ _ v _ So U W Nok) as (Sb & Sp & Son).
  cbv zeta in H. destruct (pick _ _ _) as [picked|] eqn:P; [|discriminate].
  apply andb_prop in H as [C H].
  apply (changes_ok m c _ start source _ last_relu v x H); auto. fold u.
  intros On f ms Found.
  pose proof (reads_length _ _ _ x F X) as Fl. pose proof (reads_length _ _ _ x F' X) as Fl'.
  fold u in Fl, Fl'. destruct Fl as (P1 & F1 & P2 & F2 & _), Fl' as (P1' & F1' & _).
  apply cases_ok with (v := v) in C; auto.
  2:{ apply numbered_slacks_ok with (x := x); auto. destruct (below c); simpl in V; tauto.
      rewrite X. auto. }
  apply Forall_inv in C as C1. cbn [snd] in C1.
  assert (signs_ok neurons v (known_source start width num listed)) as K.
  { unfold known_source. unfold source_of in So. destruct listed as [|h [|? ?]]; try exact Logic.I.
    destruct ((0 <? num)%N && (N.of_nat h <? width)%N); [|discriminate].
    destruct (nfind (num - width + N.of_nat h) neurons) as [n|] eqn:Fn; [|discriminate].
    destruct (symbol n =? start + N.of_nat h)%N; [|discriminate]. injection So as <- <-.
    apply nall_add; [exact Logic.I|]. intros k Fk. rewrite Fn in Fk. injection Fk as <-. simpl.
    destruct (Son On) as [(D' & _ & Er) Pos]. apply IZR_lt in D'. apply Rnot_lt_le. intro Neg.
    rewrite relu_neg in Er by lra. nra. }
  specialize (C1 K). unfold all_hold in C1. rewrite Forall_map in C1.
  apply pick_in in P.
  destruct (ffind f _) as [[]|] eqn:Ff; [|discriminate].
  revert Ff. apply (fall_find (fun f (_ : unit) => 0 <= val v f)). clear Found H C.
  assert (forall m, all (fun f (_ : unit) => 0 <= val v f) m ->
    all (fun f _ => 0 <= val v f) (fold_left (add_forms start source) picked m)) as All;
    [|apply All; exact Logic.I].
  induction picked as [|p picked IH]; intros m' M; [exact M|]. simpl.
  inversion C1; subst. inversion P as [|? ? Q1 Q2]; subst.
  apply IH; auto. apply in_map_iff in Q1 as ([[r old] new] & Eq & Q).
  apply in_combine_l in Q as Ql. apply in_combine_r in Q as Qr.
  apply in_map_iff in Ql as (r' & Er & Ir). injection Er as <- <-.
  apply in_map_iff in Qr as (w & Ew & Iw). rewrite Forall_forall in F1, F1'.
  destruct p as [q b]. cbn [fst snd] in *. subst q.
  apply add_forms_ok with (u := u) (e := over (lower' c)); auto; cbn [fst snd]; auto.
  - apply IZR_le. lia.
  - rewrite <- Ew. simpl. rewrite map_length. auto.
Qed.
