(** The checker: what the driver calls, and the theorems about it.

    For a tree file the driver calls [start_tree] with the header, [next_node] with each line, and
    accepts if [finished]. For a certificate of theorem [point] it calls [check_difference]. *)
Require Import ZArith NArith QArith Qreals Reals List Bool String.
From PolyreluVerified Require Import Verdicts Networks Domains Claims Limits Numbers LinearForms.
From PolyreluVerified Require Import Coordinates Trees Equivalence Points.
Import ListNotations.
Open Scope string_scope.

(** * Equal networks *)

Fixpoint same_lists {A} (same : A -> A -> bool) (l m : list A) : bool :=
  match l, m with
  | [], [] => true
  | a :: l', b :: m' => same a b && same_lists same l' m'
  | _, _ => false
  end.

Definition same_row (p q : nat * list Z) : bool :=
  Nat.eqb (fst p) (fst q) && same_lists Z.eqb (snd p) (snd q).
Definition same_neuron (u v : neuron) : bool :=
  (fst u =? fst v)%Z && same_lists same_row (snd u) (snd v).
Definition same_layer (k l : layer) : bool :=
  (den k =? den l)%Z && same_lists same_neuron (neurons k) (neurons l).
Definition same_network (m n : net) : bool :=
  Bool.eqb (relu_last m) (relu_last n) && same_lists same_layer (layers m) (layers n).

(** * The domain of a pair, and a point of it *)

Definition pivots (D : domain) : list Z :=
  List.map (fun r => match firstnz (fst r) 0 with Some (_, z) => z | None => 1%Z end) (eqs D).

Definition with_domain {A} (p : pair) (next : answer A) : answer A :=
  require (Nat.eqb (outputs (one p)) (outputs (two p))) "claim: different numbers of outputs"
  (within (rows_fit p) "claim.domain: rows need a coefficient for each input, and a constant"
  (require (ascending_pivots (place p)) "claim.domain: not in reduced echelon form"
  (within (multiple_fits 1 (pivots (place p))) "claim.domain: beyond the limits: a common multiple"
  (require (match setup (inputs p) (place p) with Some _ => true | None => false end)
     "claim.domain: not in reduced echelon form" next)))).

Definition with_point {A} (p : pair) (x : list Q) (next : answer A) : answer A :=
  require (Nat.eqb (List.length x) (inputs p)) "point: another number of coordinates"
  (within (point_fits x) "point: beyond the limits: a common denominator"
  (require (match scaled_point (inputs p) (place p) x with Some _ => true | None => false end)
     "point: not in the domain" next)).

(** * Claim equivalent *)

(** The state between two lines of a tree file. *)
Inductive progress :=
| Same                                              (* one network twice: no node is looked at *)
| Nodes (c : context) (base : N) (items : list item).  (* [base] inequalities above the root *)

Definition inequalities_of (items : list item) : N :=
  match items with [] => 0%N | it :: _ => nslacks (start it) end.

Definition start_tree (p : pair) (x : list Q) (lifted : list triple)
  (parts : list (list (list (N * Q)))) : answer progress :=
  within (shapes_fit p) "claim: a network of a wrong shape"
  (with_domain p
  (with_point p x
  (if same_network (one p) (two p) then Good Same
   else match initial (inputs p) (one p) (two p) (place p) lifted parts with
        | None => Rejected "tree: the entries lifted and parts do not fit"
        | Some (c, items) => Good (Nodes c (inequalities_of items) items)
        end))).

Definition next_node (s : progress) (r : record) : answer progress :=
  match s with
  | Same => Good Same
  | Nodes c base items =>
      within (inequalities_of items - base <=? max_depth)%N
        "tree: beyond the limits: too many splits one below the other"
        match step (cd c) (cfirst c) (cnatoms c) (catoms c) (clo c) (chi c) (Some items) r with
        | None => Rejected "a sign, the split or the leaf does not follow"
        | Some items' => Good (Nodes c base items')
        end
  end.

Definition finished (s : progress) : bool :=
  match s with Same => true | Nodes _ _ items => match items with [] => true | _ => false end end.

Definition next_nodes (s : progress) (rs : list record) : answer progress :=
  fold_left (fun a r => and_then a (fun s => next_node s r)) rs (Good s).

(** * Claim not-equivalent *)

Definition check_difference (p : pair) (x f g : list Q) : answer unit :=
  within (shapes_fit p) "claim: a network of a wrong shape"
  (with_domain p
  (with_point p x
  (require (check_point (inputs p) (one p) (two p) (place p) x f g)
     "values: other outputs, or equal ones" (Good tt)))).

(** * Soundness *)

Lemma same_lists_eq {A} (same : A -> A -> bool) : (forall a b, same a b = true -> a = b) ->
  forall l m, same_lists same l m = true -> l = m.
Proof.
  intro S. induction l as [|a l IH]; intros [|b m]; simpl; try discriminate; auto.
  intro E. apply andb_prop in E as [E F]. f_equal; auto.
Qed.

Lemma same_network_eq m n : same_network m n = true -> m = n.
Proof.
  assert (forall p q, same_row p q = true -> p = q) as R.
  { intros [k r] [l s] E. apply andb_prop in E as [E F]. simpl in *. f_equal.
    - apply Nat.eqb_eq; auto.
    - revert F. apply same_lists_eq. intros; apply Z.eqb_eq; auto. }
  assert (forall u v, same_neuron u v = true -> u = v) as U.
  { intros [b r] [c s] E. apply andb_prop in E as [E F]. simpl in *. f_equal.
    - apply Z.eqb_eq; auto.
    - revert F. apply same_lists_eq; auto. }
  assert (forall k l, same_layer k l = true -> k = l) as L.
  { intros [d r] [e s] E. apply andb_prop in E as [E F]. simpl in *. f_equal.
    - apply Z.eqb_eq; auto.
    - revert F. apply same_lists_eq; auto. }
  destruct m as [l b], n as [k c]. intro E. apply andb_prop in E as [E F]. simpl in *. f_equal.
  - revert F. apply same_lists_eq; auto.
  - apply Bool.eqb_prop; auto.
Qed.

Lemma good_pair_of (p : pair) : shapes_fit p = true ->
  Nat.eqb (outputs (one p)) (outputs (two p)) = true -> rows_fit p = true -> good_pair p = true.
Proof. unfold good_pair. intros -> -> ->. reflexivity. Qed.

Lemma with_point_good {A} p x (next : answer A) a : with_point p x next = Good a ->
  inside p (List.map Q2R x) /\ next = Good a.
Proof.
  unfold with_point. intro E. apply require_good in E as [_ E]. apply within_good in E as [_ E].
  apply require_good in E as [S E]. split; auto.
  destruct (scaled_point (inputs p) (place p) x) as [[d z]|] eqn:F; [|discriminate].
  apply scaled_point_ok in F as (_ & L & _ & I). split; auto. rewrite map_length; auto.
Qed.

Lemma with_domain_good {A} p (next : answer A) a : with_domain p next = Good a ->
  Nat.eqb (outputs (one p)) (outputs (two p)) = true /\ rows_fit p = true /\ next = Good a.
Proof.
  unfold with_domain. intro E. apply require_good in E as [O E]. apply within_good in E as [R E].
  apply require_good in E as [_ E]. apply within_good in E as [_ E].
  apply require_good in E as [_ E]. auto.
Qed.

Lemma next_nodes_end c base rs : forall items s, next_nodes (Nodes c base items) rs = Good s ->
  finished s = true ->
  fold_left (step (cd c) (cfirst c) (cnatoms c) (catoms c) (clo c) (chi c)) rs (Some items) =
    Some [].
Proof.
  assert (forall (m : answer progress) rs s, (forall a, m <> Good a) ->
    fold_left (fun a r => and_then a (fun s => next_node s r)) rs m <> Good s) as stays.
  { intros m l. revert m. induction l as [|r l IH]; simpl; intros m s M; auto.
    apply IH. intro a. destruct m; simpl; try discriminate. destruct (M a0 eq_refl). }
  unfold next_nodes. induction rs as [|r rs IH]; intros items s.
  - simpl. intros [= <-]. simpl. destruct items; [auto|discriminate].
  - cbn [fold_left and_then]. destruct (next_node (Nodes c base items) r) as [s'|m|m] eqn:E.
    2, 3: intro F; apply stays in F; [destruct F|intros; discriminate].
    cbn [next_node] in E. apply within_good in E as [_ E].
    destruct (step _ _ _ _ _ _ (Some items) r) as [items'|] eqn:S; [|discriminate].
    injection E as <-. apply IH.
Qed.

(** An accepted tree file proves its claim. *)
Theorem tree_holds p x lifted parts s rs s' :
  start_tree p x lifted parts = Good s -> next_nodes s rs = Good s' -> finished s' = true ->
  holds (Equivalent p).
Proof.
  unfold start_tree. intros E N F. apply within_good in E as [W E].
  apply with_domain_good in E as (O & R & E). apply with_point_good in E as [P E].
  split; [apply good_pair_of; auto|]. split; [eauto|]. intros y [L Y].
  destruct (same_network (one p) (two p)) eqn:S. { apply same_network_eq in S. rewrite S. auto. }
  destruct (initial _ _ _ _ _ _) as [[c items]|] eqn:I; [|discriminate]. injection E as <-.
  apply (check_ok (inputs p) _ _ (place p) lifted parts rs); auto.
  unfold check. rewrite I. unfold check_items. rewrite (next_nodes_end _ _ _ _ _ N F). auto.
Qed.

(** An accepted certificate of theorem [point] proves its claim. *)
Theorem difference_holds p x f g : check_difference p x f g = Good tt -> holds (Not_equivalent p).
Proof.
  unfold check_difference. intro E. apply within_good in E as [W E].
  apply with_domain_good in E as (O & R & E). apply with_point_good in E as [P E].
  apply require_good in E as [C _]. split; [apply good_pair_of; auto|].
  exists (List.map Q2R x). split; auto. apply check_point_ok in C. apply C.
Qed.
