(** The check of a vertex and of the regions around it (FORMAT.md, section 5.3), and what it finds
    out: that the state after all vertices has what was found out about each of them. *)
Require Import String ZArith NArith QArith Qreals Reals List Bool Lra Lia Psatz.
Require Import FunctionalExtensionality.
From PolyreluVerified Require Import Verdicts Maps Networks Domains Claims RegionLists Limits.
From PolyreluVerified Require Import Numbers LinearForms JointNetwork Coordinates Trees.
From PolyreluVerified Require Import Points Checker RegionTrees Regions Pieces VertexLists.
From PolyreluVerified Require Import KeptForms Cones Walls VertexRows.
Import ListNotations.
Open Scope R_scope.
Open Scope list_scope.

(** * The check *)

Fixpoint folded {A B} (f : A -> B -> option A) (l : list B) (a : A) : option A :=
  match l with [] => Some a | b :: l' => let? a' := f a b in folded f l' a' end.

(** A number for a list of signs. *)
Fixpoint key (s : list Z) : N :=
  match s with
  | [] => 1
  | e :: s' => 4 * key s' + match e with Z0 => 1 | Zpos _ => 2 | Zneg _ => 0 end
  end%N.

(** A region around a vertex: the signs of all forms, and functions of its rows that find a point
    inside, by the directions of the edges, and the signs where an edge ends, if it does. *)
Record region_hint := RegionHint {
  its_region : list Z; inner_point : list rform -> list (list Z) -> list Q;
  its_end : list rform -> list Z -> option (list Z) }.

(** A vertex: the signs of all forms there, its point, and the regions around it. *)
Record vertex := Vertex {
  its_signs : list Z; its_point : list Q; its_regions : list region_hint }.

(** What the vertices so far have: their signs, the signs of the ends of edges, and the signs of all
    neurons in the regions around them. *)
Record corners := Corners { seen : nset; ends : nset; around : nset }.

(** A point with the signs [s] is in the closure of the region with the signs [c]. *)
Fixpoint closes (s c : list Z) : bool :=
  match s, c with
  | e :: s', x :: c' => ((e =? 0)%Z || (e =? x)%Z) && closes s' c'
  | [], [] => true
  | _, _ => false
  end.

(** Forms with the sign 0 are constant. *)
Fixpoint constant_zeros (c : list Z) (rs : list rform) : bool :=
  match c, rs with
  | x :: c', r :: rs' => (negb (x =? 0)%Z || is_constant r) && constant_zeros c' rs'
  | _, _ => true
  end.

(** The forms that are 0 at a vertex with the signs [s], with the signs [c]; the first [k] forms are
    inequalities. *)
Fixpoint walls (k : nat) (s c : list Z) (rs : list rform) : list wall :=
  match s, c, rs with
  | e :: s', x :: c', r :: rs' =>
      if (e =? 0)%Z then Wall (fst r) x (negb (Nat.eqb k 0)) :: walls (pred k) s' c' rs'
      else walls (pred k) s' c' rs'
  | _, _, _ => []
  end.

(** With signs [c], no form comes nearer to 0 along the edge. *)
Fixpoint goes_on (c : list Z) (rs : list rform) (e : list Z) : bool :=
  match c, rs with
  | x :: c', r :: rs' => (0 <=? x * slope (fst r) e)%Z && goes_on c' rs' e
  | _, _ => true
  end.

(** A point with the signs [u], in the closure of the region, is on the edge. *)
Fixpoint ends_there (s u : list Z) (rs : list rform) (e : list Z) : bool :=
  match s, u, rs with
  | x :: s', y :: u', r :: rs' =>
      (negb (x =? 0)%Z || negb (slope (fst r) e =? 0)%Z || (y =? 0)%Z) && ends_there s' u' rs' e
  | _, _, _ => true
  end.

(** A zero of the vertex is no zero at the end. *)
Fixpoint moves (s u : list Z) : bool :=
  match s, u with
  | x :: s', y :: u' => ((x =? 0)%Z && negb (y =? 0)%Z) || moves s' u'
  | _, _ => false
  end.

Lemma constant_zeros_nth c : forall rs i, constant_zeros c rs = true ->
  List.length rs = List.length c -> (i < List.length c)%nat -> nth i c 1%Z = 0%Z ->
  is_constant (nth i rs ([], 1%Z)) = true.
Proof.
  induction c as [|x c IH]; intros [|r rs] i; simpl; try lia; try discriminate.
  intros C L I Z. apply andb_prop in C as [C C']. destruct i as [|i]; [|apply IH; auto; lia].
  subst. auto.
Qed.

Lemma closes_nth a : forall c, closes a c = true -> List.length a = List.length c /\
  forall i e, nth i a e = 0%Z \/ nth i a e = nth i c e.
Proof.
  induction a as [|x a IH]; intros [|y c]; simpl; try discriminate.
  { intros _. split; auto. }
  intro M. apply andb_prop in M as [M M']. destruct (IH c M') as [L H]. split; auto.
  intros [|i] e; auto. apply orb_prop in M as [M|M]; apply Z.eqb_eq in M; auto.
Qed.

Lemma goes_on_nth c : forall rs e i, goes_on c rs e = true -> List.length rs = List.length c ->
  (i < List.length c)%nat -> (0 <= nth i c 1 * slope (fst (nth i rs ([], 1%Z))) e)%Z.
Proof.
  induction c as [|x c IH]; intros [|r rs] e i G L I; simpl in *; try lia.
  apply andb_prop in G as [G G']. apply Z.leb_le in G. destruct i as [|i]; auto.
  apply IH; auto; lia.
Qed.

Lemma ends_there_nth s : forall u rs e i, ends_there s u rs e = true ->
  List.length u = List.length s -> List.length rs = List.length s -> (i < List.length s)%nat ->
  nth i s 1%Z = 0%Z -> slope (fst (nth i rs ([], 1%Z))) e = 0%Z -> nth i u 1%Z = 0%Z.
Proof.
  induction s as [|x s IH]; intros [|y u] [|r rs] e i G L L' I; simpl in *; try lia.
  apply andb_prop in G as [G G']. destruct i as [|i]; [|apply (IH u rs e i); auto; lia].
  intros X Y. rewrite X, Y in G. simpl in G. apply Z.eqb_eq. auto.
Qed.

Lemma moves_nth s : forall u, moves s u = true -> List.length u = List.length s ->
  exists i, (i < List.length s)%nat /\ nth i s 1%Z = 0%Z /\ nth i u 1%Z <> 0%Z.
Proof.
  induction s as [|x s IH]; intros [|y u] M L; simpl in *; try discriminate.
  apply orb_prop in M as [M|M].
  - apply andb_prop in M as [A B]. apply Z.eqb_eq in A. apply negb_true_iff, Z.eqb_neq in B.
    exists 0%nat. repeat split; auto. lia.
  - destruct (IH u M) as (i & I & X & Y); [lia|]. exists (S i). repeat split; auto. lia.
Qed.

Lemma walls_in s : forall k c rs w, In w (walls k s c rs) -> exists i, (i < List.length s)%nat /\
  (i < List.length c)%nat /\ (i < List.length rs)%nat /\ nth i s 1%Z = 0%Z /\
  its_form w = fst (nth i rs ([], 1%Z)) /\ its_sign w = nth i c 1%Z.
Proof.
  induction s as [|x s IH]; intros k [|y c] [|r rs] w; simpl; try tauto.
  intro I. assert (w = Wall (fst r) y (negb (Nat.eqb k 0)) /\ x = 0%Z \/
    In w (walls (pred k) s c rs)) as [[-> ->]|J].
  { destruct (Z.eqb_spec x 0); [destruct I as [<-|I]|]; auto. }
  - exists 0%nat. simpl. repeat split; auto; lia.
  - destruct (IH _ _ _ _ J) as (i & A & B & C & D). exists (S i). simpl.
    split; [lia|]. split; [lia|]. split; [lia|]. auto.
Qed.

(** The signs at the zeros of [s]. *)
Fixpoint at_zeros (s gs : list Z) : list Z :=
  match s, gs with
  | e :: s', g :: gs' => if (e =? 0)%Z then g :: at_zeros s' gs' else at_zeros s' gs'
  | _, _ => []
  end.

(** Signs that are right form by form. *)
Lemma right_at_zeros u s : forall k c rs gs, List.length c = List.length s ->
  List.length rs = List.length s -> List.length gs = List.length s ->
  (forall i, (i < List.length s)%nat ->
    (forall j, (j < i)%nat -> fc (nth j gs 0%Z) (nth j c 0%Z)) ->
    nth i s 0%Z = 0%Z -> nth i gs 0%Z = sign_of (val u (fst (nth i rs ([], 1%Z))))) ->
  (forall i, (i < List.length s)%nat -> nth i s 0%Z <> 0%Z -> fc (nth i gs 0%Z) (nth i c 0%Z)) ->
  (forall i, (i < k)%nat -> (i < List.length s)%nat -> nth i gs 0%Z <> (-1)%Z) ->
  right_signs u (walls k s c rs) (at_zeros s gs) /\
  List.length (walls k s c rs) = List.length (at_zeros s gs).
Proof.
  induction s as [|e s IH]; intros k [|x c] [|r rs] [|g gs] L1 L2 L3 A B C; simpl in *;
    try discriminate; auto.
  assert (fc g x -> right_signs u (walls (pred k) s c rs) (at_zeros s gs) /\
    List.length (walls (pred k) s c rs) = List.length (at_zeros s gs)) as K.
  { intro F. apply IH; try lia.
    - intros i I H Z. apply (A (S i)); auto; [lia|]. intros [|j] J; auto. apply H. lia.
    - intros i I. apply (B (S i)). lia.
    - intros i I J. apply (C (S i)); lia. }
  assert (List.length (walls (pred k) s c rs) = List.length (at_zeros s gs)) as Len.
  { clear - L1 L2 L3. generalize (pred k). revert c rs gs L1 L2 L3.
    induction s as [|e s IH]; intros [|x c] [|r rs] [|g gs] L1 L2 L3 m; simpl in *;
      try discriminate; auto. destruct (e =? 0)%Z; simpl; rewrite (IH c rs gs); auto. }
  destruct (Z.eqb_spec e 0) as [Z|Z].
  - split; [|simpl; congruence]. simpl. split; [|split].
    + apply (A 0%nat); auto; [lia|]. intros j J. lia.
    + intro Q. apply negb_true_iff, Nat.eqb_neq in Q. apply (C 0%nat); lia.
    + intro F. apply K. auto.
  - apply K. apply (B 0%nat); auto. lia.
Qed.

Lemma path_walls k s : forall c rs, List.length c = List.length s ->
  List.length rs = List.length s -> path (walls k s c rs) = at_zeros s c.
Proof.
  revert k. induction s as [|e s IH]; intros k [|x c] [|r rs] L1 L2; simpl in *;
    try discriminate; auto.
  destruct (e =? 0)%Z; simpl; rewrite IH; auto.
Qed.

(** Signs that agree at the zeros and besides. *)
Lemma agree_all s : forall gs c, List.length c = List.length s -> List.length gs = List.length s ->
  Forall2 fc (at_zeros s gs) (at_zeros s c) ->
  (forall i, (i < List.length s)%nat -> nth i s 0%Z <> 0%Z -> fc (nth i gs 0%Z) (nth i c 0%Z)) ->
  forall i, fc (nth i gs 0%Z) (nth i c 0%Z).
Proof.
  induction s as [|e s IH]; intros [|g gs] [|x c] L1 L2 F B; simpl in *; try discriminate.
  { intros [|i]; left; auto. }
  assert (Forall2 fc (at_zeros s gs) (at_zeros s c) /\ fc g x) as [F' G].
  { destruct (Z.eqb_spec e 0) as [Z|Z]; [inversion F; auto|]. split; auto. apply (B 0%nat); auto.
    lia. }
  intros [|i]; auto. apply IH; auto; try lia. intros j J. apply (B (S j)). lia.
Qed.

Lemma key_same a : forall b, Forall is_sign a -> Forall is_sign b -> key a = key b -> a = b.
Proof.
  assert (forall s, (1 <= key s)%N) as P. { induction s as [|e s IH]; cbn [key]; lia. }
  induction a as [|x a IH]; intros [|y b] A B E; auto.
  - cbn [key] in E. specialize (P b). lia.
  - cbn [key] in E. specialize (P a). lia.
  - inversion A as [|? ? X A']; subst. inversion B as [|? ? Y B']; subst. cbn [key] in E.
    assert (x = y /\ key a = key b) as [-> K].
    { destruct X as [->|[->| ->]], Y as [->|[->| ->]]; split; try reflexivity; lia. }
    f_equal. auto.
Qed.

Lemma has_puts u l m : has u (fold_right put m l) <-> In u l \/ has u m.
Proof. induction l as [|k l IH]; simpl; [tauto|]. rewrite has_put, IH. intuition. Qed.

Section Rule.
Variables (p : placed) (d : N) (scale : Z) (fs : list form) (sl : list rform).
Notation bounds := (bounds sl).
Notation num_bounds := (num_bounds sl).
Notation num_forms := (num_forms p sl).
Notation rows := (rows p scale fs sl).
Notation check_signs := (check_signs p d sl).

(** The end of an edge of the region with the signs [c] around a vertex with the signs [s]. *)
Definition end_of (s c : list Z) (rs : list rform) (h : region_hint) (e : ray) :
  option (list N) :=
  match its_end h rs (way_of e) with
  | None => if goes_on c rs (way_of e) then Some [] else None
  | Some u =>
      if closes u c && ends_there s u rs (way_of e) && moves s u then Some [key u] else None
  end.

(** The ends of the edges of a region around a vertex with the signs [s], and the cone of the
    region. *)
Definition check_region (s : list Z) (h : region_hint) : option (list (list N) * found) :=
  let c := its_region h in
  let? rs := rows c in
  if closes s c && constant_zeros c rs then
    let ws := walls num_bounds s c rs in
    let? f := run ws [] (Found (whole (N.to_nat d)) [] []) in
    let k := its_cone f in
    if forallb (fun r => forallb (fun l => (slope (fst r) l =? 0)%Z) (its_lines k)) rs &&
       on_side ws k && forallb (is_edge ws k) (its_rays k) &&
       check_signs c rs (inner_point h rs (List.map way_of (its_rays k)))
    then let? us := mapo (end_of s c rs h) (its_rays k) in Some (us, f) else None
  else None.

(** The regions that are needed around a vertex are there. *)
Definition all_there (l : list (list (list N) * found)) : bool :=
  let known := fold_right put E (List.map key (flat_map (fun q => nodes (snd q)) l)) in
  forallb (fun q => member (key q) known) (flat_map (fun q => needed (snd q)) l).

Definition add_vertex (st : corners) (v : vertex) : option corners :=
  let k := key (its_signs v) in
  let? rs := rows (its_signs v) in
  if check_signs (its_signs v) rs (its_point v) && negb (member k (seen st)) then
    let? l := mapo (check_region (its_signs v)) (its_regions v) in
    match l with
    | [] => None
    | _ =>
        if all_there l then
          Some (Corners (put k (seen st))
            (fold_right put (ends st) (flat_map (fun q => List.concat (fst q)) l))
            (fold_right put (around st)
              (List.map (fun h => key (skipn num_bounds (its_region h))) (its_regions v))))
        else None
    end
  else None.

(** All ends of edges are vertices, and the regions are so many. *)
Definition check_complete (st : corners) (count : nat) : bool :=
  negb (match seen st with E => true | _ => false end) &&
  forallb (fun k => member k (seen st)) (keys (ends st)) &&
  rising (keys (around st)) && Nat.eqb (List.length (keys (around st))) count.

(** * What the state says *)

(** What is found out about a vertex; [known] are the ends of edges. *)
Definition vertex_known (known : nset) (v : vertex) : Prop :=
  (exists rs, rows (its_signs v) = Some rs /\
    check_signs (its_signs v) rs (its_point v) = true) /\
  exists l, Forall2 (fun h q => check_region (its_signs v) h = Some q) (its_regions v) l /\
    l <> [] /\ all_there l = true /\
    forall q u, In q l -> In u (List.concat (fst q)) -> has u known.

Lemma vertices_added l : forall st st', folded add_vertex l st = Some st' ->
  (forall u, has u (ends st) -> has u (ends st')) /\
  (forall v, In v l -> vertex_known (ends st') v) /\
  (forall k, has k (seen st') <-> has k (seen st) \/ exists v, In v l /\ k = key (its_signs v)) /\
  (forall k, has k (around st') <-> has k (around st) \/ exists v h, In v l /\
     In h (its_regions v) /\ k = key (skipn num_bounds (its_region h))).
Proof.
  induction l as [|v l IH]; simpl; intros st st' E.
  { injection E as <-. split; [auto|]. split; [tauto|].
    split; intro k; split; auto; [intros [H|(v & [] & _)]|intros [H|(v & h & [] & _)]]; auto. }
  destruct (add_vertex st v) as [st1|] eqn:A; [|discriminate].
  destruct (IH st1 st' E) as (M & K & S & R). unfold add_vertex in A.
  destruct (rows (its_signs v)) as [rs|] eqn:Q; [|discriminate].
  destruct (check_signs _ rs _ && _) eqn:C; [|discriminate]. apply andb_prop in C as [C _].
  destruct (mapo _ _) as [qs|] eqn:Mo; [|discriminate]. apply mapo_ok in Mo.
  destruct qs as [|q0 qs']; [discriminate|]. set (qs := q0 :: qs') in *.
  destruct (all_there qs) eqn:At; [|discriminate]. injection A as <-.
  cbn [seen ends around] in *.
  split. { intros u H. apply M. apply has_puts. auto. }
  split.
  { intros v' [<-|I]; auto. split; [eauto|]. exists qs. split; auto. split; [discriminate|].
    split; auto. intros q u Iq Iu. apply M, has_puts. left.
    change (In u (flat_map (fun q => List.concat (fst q)) qs)). apply in_flat_map. eauto. }
  split; intro k.
  - rewrite S, has_put. split.
    + intros [[->|H]|(v' & I & ->)]; eauto.
    + intros [H|(v' & [<-|I] & ->)]; eauto.
  - rewrite R, has_puts, in_map_iff. split.
    + intros [[(h & <- & I)|H]|(v' & h & I & J & ->)]; eauto 8.
    + intros [H|(v' & h & [<-|I] & J & ->)]; eauto 8.
Qed.
End Rule.
