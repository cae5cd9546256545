(** Refutations of identifiability: the claim not-identifiable (FORMAT.md, section 3.3).

    The driver reads the evidence and calls [check_refutation]; [refutation_holds] is what an
    accepted certificate proves. *)
Require Import String ZArith NArith QArith Reals List Bool Lra Lia.
From PolyreluVerified Require Import Verdicts Networks Domains Claims Limits Sentences.
From PolyreluVerified Require Import Coordinates Trees Equivalence Checker.
From PolyreluVerified Require Import Stacks Related.
From PolyreluVerified Require Import Competitors Invariants Translation Flip OneSided OneSidedCases
  Boxes Replacement Line Independence Generic.
Import ListNotations.
Open Scope string_scope.
Open Scope list_scope.
Open Scope R_scope.

(** * What is checked *)

(** Evidence that two networks compute the same function; layers are counted from 1. *)
Inductive evidence :=
| Translation (layer neuron : nat) (shift : Q)
| Flip (layer neuron : nat) (flipped : list nat)
| One_sided (layer : nat) (source : list nat) (steps : list derived) (signs : list neuron_sign)
| One_sided_cases (layer : nat) (source : list nat) (signs : list case_sign)
    (nodes : list case_node)
| Replacement (layer : nat)
| Bounded_replacement (layer : nat)
| Line_equal
| Tree_equal (lifted : list triple) (parts : list (list (list (N * Q)))) (nodes : list record).

Fixpoint same_widths (s t : list plain) : bool :=
  match s, t with
  | [], [] => true
  | p :: s', q :: t' => Nat.eqb (length (rows p)) (length (rows q)) && same_widths s' t'
  | _, _ => false
  end.

(** The layers that may differ. *)
Definition changed {A} (layer : nat) (s t : list plain) (next : change -> answer A) : answer A :=
  match split layer s t with
  | None => Rejected "same-function: the networks differ in other layers"
  | Some c => next c
  end.

Definition same_function (p : pair) (e : evidence) (s t : list plain) : answer unit :=
  let last := relu_last (one p) in
  match e with
  | Translation layer j shift =>
      changed layer s t (fun c =>
        require (is_translation c last j shift) "same-function: not a translation" (Good tt))
  | Flip layer j flipped =>
      changed layer s t (fun c =>
        require (is_flip c last j flipped) "same-function: not a flip" (Good tt))
  | One_sided layer source steps signs =>
      changed layer s t (fun c =>
        require (is_one_sided (N.of_nat (inputs p)) (place p) c source steps signs)
          "same-function: not one-sided" (Good tt))
  | One_sided_cases layer source signs nodes =>
      changed layer s t (fun c =>
        require (is_one_sided_cases (N.of_nat (inputs p)) (place p) c source signs nodes)
          "same-function: not one-sided in each case" (Good tt))
  | Replacement layer =>
      changed layer s t (fun c =>
        require (is_replacement (inputs p) c) "same-function: different maps" (Good tt))
  | Bounded_replacement layer =>
      changed layer s t (fun c =>
        and_then (box_below (inputs p) (place p) c) (fun B =>
        require (maps_agree B c) "same-function: different maps on the box" (Good tt)))
  | Line_equal =>
      require (negb last && is_line_equal (inputs p) s t)
        "same-function: not equal on a line" (Good tt)
  | Tree_equal lifted parts nodes =>
      match initial (inputs p) (one p) (two p) (place p) lifted parts with
      | None => Rejected "same-function: the entries lifted and parts do not fit"
      | Some (c, items) =>
          and_then (next_nodes (Nodes c (inequalities_of items) items) nodes) (fun end_of_tree =>
          require (finished end_of_tree) "same-function: nodes are missing" (Good tt))
      end
  end.

(** [layer] is the one whose invariants differ. *)
Definition check_refutation (p : pair) (e : evidence) (layer : nat) : answer unit :=
  within (well_shaped (inputs p) (one p) && well_shaped (inputs p) (two p)) "a wrong shape"
  match stack_of (inputs p) (one p), stack_of (inputs p) (two p) with
  | Some s, Some t =>
      within (rows_fit p) "claim.domain: rows need a coefficient for each input, and a constant"
      (require (match eqs (place p) with [] => true | _ => false end) "claim.domain: equations"
      (require (same_widths s t && Bool.eqb (relu_last (one p)) (relu_last (two p)))
         "architecture: different ones"
      (and_then (same_function p e s t) (fun _ => not_related (inputs p) layer s t))))
  | _, _ => Unreadable "claim: only plain stacks have claims of this kind"
  end.

(** What is known of the membership of the second network. *)
Inductive membership :=
| Every                                          (* of the class all *)
| Minors (prime : Z) (columns : list nat).       (* of the class generic *)

Definition check_membership (p : pair) (m : membership) : answer unit :=
  match m with
  | Every => Good tt
  | Minors prime columns =>
      match stack_of (inputs p) (two p) with
      | Some t => check_minors (inputs p) t (relu_last (two p)) prime columns
      | None => Unreadable "claim: only plain stacks have claims of this kind"
      end
  end.

Definition check_competitor (p : pair) (e : evidence) (layer : nat) (m : membership)
  : answer unit :=
  and_then (check_refutation p e layer) (fun _ => check_membership p m).

(** * Soundness *)

Lemma interior_in_domain D x : interior D x -> eqs D = [] ->
  Forall (fun r => length (fst r) = length x) (ineqs D) -> in_domain D x.
Proof. intros I E R. split; [apply interior_le; auto|]. rewrite E. constructor. Qed.

Lemma same_function_ok p e s t : same_function p e s t = Good tt -> rows_fit p = true ->
  eqs (place p) = [] -> relu_last (one p) = relu_last (two p) ->
  stack_of (inputs p) (one p) = Some s -> stack_of (inputs p) (two p) = Some t ->
  forall x, length x = inputs p -> interior (place p) x -> eval (two p) x = eval (one p) x.
Proof.
  unfold same_function. intros H R Eqs Last S T x X D.
  assert (Forall (fun r => length (fst r) = inputs p) (ineqs (place p))) as Rows.
  { unfold rows_fit in R. rewrite forallb_app in R. apply andb_prop in R as [R _].
    rewrite forallb_forall in R. apply Forall_forall. intros r I. apply Nat.eqb_eq. auto. }
  pose proof (stack_of_fits _ _ _ S) as F. pose proof (stack_of_fits _ _ _ T) as G.
  assert (compute t (relu_last (one p)) x = compute s (relu_last (one p)) x ->
    eval (two p) x = eval (one p) x)
    as Enough by (rewrite (stack_of_ok _ _ _ x S), (stack_of_ok _ _ _ x T), <- Last; auto).
  destruct e as [layer j shift|layer j flipped|layer source steps signs|
    layer source signs nodes|layer|layer| |lifted parts nodes];
    unfold changed in H;
    try (destruct (split layer s t) as [c|] eqn:Sp; [|discriminate];
      apply split_ok in Sp as (-> & -> & _)).
  - apply Enough. apply require_good in H as [H _]. eapply translation_ok; eauto.
  - apply Enough. apply require_good in H as [H _]. eapply flip_ok; eauto.
  - apply Enough. apply require_good in H as [H _]. eapply one_sided_ok; eauto.
  - apply Enough. apply require_good in H as [H _]. eapply one_sided_cases_ok; eauto.
  - apply Enough. apply require_good in H as [H _]. eapply replacement_ok; eauto.
  - apply Enough. apply and_then_good in H as (B & E & H). apply require_good in H as [H _].
    eapply bounded_replacement_ok; eauto.
  - apply Enough. apply require_good in H as [H _]. apply andb_prop in H as [L H].
    apply negb_true_iff in L. rewrite L.
    eapply line_equal_ok; eauto.
  - destruct (initial _ _ _ _ _ _) as [[c items]|] eqn:I; [|discriminate].
    apply and_then_good in H as (last & N & H). apply require_good in H as [H _]. symmetry.
    apply (check_ok (inputs p) _ _ (place p) lifted parts nodes); auto.
    + unfold check. rewrite I. unfold check_items. rewrite (next_nodes_end _ _ _ _ _ N H). auto.
    + apply interior_in_domain; auto. rewrite X. auto.
Qed.

Lemma plain_of_stack m n s : stack_of m n = Some s -> is_plain n.
Proof.
  intro H. apply stack_of_layers in H as [H _]. unfold is_plain.
  remember 0%nat as k eqn:K in H. clear K. revert k m s H.
  induction (layers n) as [|l ls IH]; simpl; intros k m s. { constructor. }
  destruct (rows_of _ _ _) as [rs|] eqn:E; [|discriminate].
  destruct (plain_layers _ _ _) as [s'|] eqn:F; [|discriminate].
  intros _. constructor; [|eapply IH; exact F]. apply rows_of_ok in E. clear - E.
  induction E as [|u r us rs (E & _) H IH]; constructor; auto. rewrite E. auto.
Qed.

Lemma architecture_of_stacks p s t :
  stack_of (inputs p) (one p) = Some s -> stack_of (inputs p) (two p) = Some t ->
  same_widths s t = true -> relu_last (one p) = relu_last (two p) ->
  same_architecture (inputs p) (one p) (two p).
Proof.
  intros S T W L.
  pose proof (plain_layers_length _ _ _ _ (proj1 (stack_of_layers _ _ _ S))) as Ls.
  pose proof (plain_layers_length _ _ _ _ (proj1 (stack_of_layers _ _ _ T))) as Lt.
  assert (length s = length t) as Len.
  { clear - W. revert t W. induction s as [|a s IH]; intros [|b t]; simpl; try discriminate; auto.
    intro H. apply andb_prop in H as [_ H]. f_equal. auto. }
  unfold same_architecture, depth. split; [congruence|]. split; [auto|].
  intros [|l]; [reflexivity|].
  destruct (Nat.ltb_spec l (length s)) as [B|B].
  - destruct (stack_of_weights _ _ _ (Datatypes.S l) 0 S) as (_ & _ & ->); [lia|].
    destruct (stack_of_weights _ _ _ (Datatypes.S l) 0 T) as (_ & _ & ->); [lia|]. simpl.
    clear - W B Len. revert t l W B Len. induction s as [|a s IH]; intros [|b t] [|l]; simpl;
      try discriminate; try lia; intros W B [= Len]; apply andb_prop in W as [W1 W2].
    + apply Nat.eqb_eq. auto.
    + apply IH; auto. lia.
  - unfold width, layer_at. simpl. rewrite !nth_overflow by lia. auto.
Qed.

(** An accepted certificate proves its claim. *)
Theorem refutation_holds p e layer : check_refutation p e layer = Good tt -> not_identifiable p.
Proof.
  unfold check_refutation. intro H. apply within_good in H as [W H].
  apply andb_prop in W as [W1 W2].
  destruct (stack_of (inputs p) (one p)) as [s|] eqn:S; [|discriminate].
  destruct (stack_of (inputs p) (two p)) as [t|] eqn:T; [|discriminate].
  apply within_good in H as [R H]. apply require_good in H as [E H].
  apply require_good in H as [A H]. apply and_then_good in H as ([] & F & H).
  apply andb_prop in A as [A L]. apply Bool.eqb_prop in L.
  split; [|split; [|split; [|split; [|split]]]].
  - split; [auto|]. eapply plain_of_stack; eauto.
  - split; [auto|]. eapply plain_of_stack; eauto.
  - split; [auto|]. destruct (eqs (place p)); [auto|discriminate].
  - eapply architecture_of_stacks; eauto.
  - eapply same_function_ok; eauto. destruct (eqs (place p)); [auto|discriminate].
  - eapply not_related_ok; eauto.
Qed.

(** An accepted certificate proves its claim among all parameters, or among the generic ones. *)
Theorem competitor_holds p e layer m : check_competitor p e layer m = Good tt ->
  not_identifiable p /\
  match m with Every => True | Minors _ _ => generic (inputs p) (place p) (two p) end.
Proof.
  intro H. apply and_then_good in H as ([] & R & H). split; [eapply refutation_holds; eauto|].
  destruct m as [|prime columns]; auto. unfold check_membership in H.
  destruct (stack_of (inputs p) (two p)) as [t|] eqn:T; [|discriminate].
  eapply check_minors_ok; eauto.
Qed.

(** * The sentence of the claim, as checker.py prints it *)

Definition refutation_sentence (first second : string) (p : pair) (m : membership) : string :=
  let whole := place_words (inputs p) (place p) in
  let everywhere := String.eqb whole "R^n" in
  let members :=
    match m with
    | Every => "all parameters"
    | Minors _ _ => if everywhere then "generic parameters" else "parameters that are generic there"
    end in
  ("Network " ++ first ++ ", " ++ network_words (inputs p) (one p) ++ ", is not-identifiable on " ++
  (if everywhere then whole
    else "the interior of " ++ whole) ++ " among " ++ members ++ ": network " ++
  second ++ " is one of them, computes the same real function" ++
  (if everywhere then "" else " there") ++
  ", and is not related to it by permuting and positively scaling hidden neurons.")%string.
