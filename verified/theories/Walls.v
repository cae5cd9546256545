(** Cones that are cut with one form after the other, for all choices of signs: the regions around
    a vertex, and whether they are all; and the edges of a region. *)
Require Import ZArith NArith Reals List Bool Lra Lia FunctionalExtensionality.
From PolyreluVerified Require Import Networks RegionLists Numbers LinearForms VertexLists.
From PolyreluVerified Require Import JointNetwork Regions KeptForms Cones.
Import ListNotations.
Open Scope Z_scope.
Open Scope list_scope.

(** * The check *)

(** A form, its sign, and whether it is an inequality. *)
Record wall := Wall { its_form : form; its_sign : Z; is_bound : bool }.

(** What is found on the way through some forms: the cone; the signs so far, backwards, after each
    form; and the same with the other sign where both are met. *)
Record found := Found { its_cone : cone; nodes : list (list Z); needed : list (list Z) }.

Fixpoint run (ws : list wall) (before : list Z) (r : found) : option found :=
  match ws with
  | [] => Some r
  | w :: ws' =>
      match cut (its_form w) (its_sign w) (its_cone r) with
      | None => None
      | Some (c, two) =>
          if is_bound w && (its_sign w <? 0) then None else
          let own := its_sign w :: before in
          run ws' own
            (Found c (own :: nodes r)
               (if two && negb (is_bound w) then (- its_sign w :: before) :: needed r
                else needed r))
      end
  end.

(** The cone of all directions of [d] coordinates. *)
Definition unit_vector (d k : nat) : list Z :=
  List.map (fun i => if Nat.eqb i k then 1 else 0) (seq 0 d).
Definition whole (d : nat) : cone := Cone (List.map (unit_vector d) (seq 0 d)) [] 0.

(** Rays on which some walls have slopes of one sign, and lines none. *)
Definition on_side (ws : list wall) (c : cone) : bool :=
  forallb (fun w =>
    forallb (fun l => slope (its_form w) l =? 0)%Z (its_lines c) &&
    forallb (fun e => 0 <=? its_sign w * slope (its_form w) (way_of e))%Z (its_rays c)) ws.

(** Each other ray leaves a wall on which [e] lies. *)
Definition leaves (e r : ray) (w : wall) : bool :=
  (slope (its_form w) (way_of e) =? 0)%Z &&
  negb (its_sign w * slope (its_form w) (way_of r) =? 0)%Z.

Definition is_edge (ws : list wall) (c : cone) (e : ray) : bool :=
  forallb (fun r => zs_eqb (way_of e) (way_of r) || existsb (leaves e r) ws) (its_rays c).

Open Scope R_scope.

(** * All forms *)

(** The signs [G] are those of the forms in the direction [u], as long as those before are the signs
    of the walls or 0; inequalities are not negative. *)
Fixpoint right_signs (u : vec) (ws : list wall) (G : list Z) : Prop :=
  match ws, G with
  | w :: ws', g :: G' =>
      g = sign_of (val u (its_form w)) /\ (is_bound w = true -> g <> (-1)%Z) /\
      (fc g (its_sign w) -> right_signs u ws' G')
  | [], [] => True
  | _, _ => False
  end.

Definition path (ws : list wall) : list Z := List.map its_sign ws.
Definition one_sign (w : wall) : Prop :=
  its_sign w = 1%Z \/ its_sign w = 0%Z \/ its_sign w = (-1)%Z.

Lemma run_nodes ws : forall before r r', run ws before r = Some r' ->
  (forall q, In q (nodes r') -> In q (nodes r) \/
    exists m, (m < List.length ws)%nat /\ q = rev (firstn (S m) (path ws)) ++ before) /\
  incl (needed r) (needed r').
Proof.
  induction ws as [|w ws IH]; intros before r r' R; cbn [run] in R.
  { injection R as <-. split; [auto|apply incl_refl]. }
  destruct (cut _ _ _) as [[c two]|]; [|discriminate].
  destruct (is_bound w && _)%bool; [discriminate|].
  destruct (IH _ _ _ R) as [A B]. cbn [nodes needed] in *. split.
  - intros q Q. destruct (A q Q) as [[<-|I]|(m & L & ->)]; auto.
    + right. exists 0%nat. split; [simpl; lia|]. reflexivity.
    + right. exists (S m). split; [simpl; lia|].
      change (path (w :: ws)) with (its_sign w :: path ws).
      change (firstn (S (S m)) (its_sign w :: path ws)) with (its_sign w :: firstn (S m) (path ws)).
      cbn [rev]. rewrite <- app_assoc. reflexivity.
  - intros q Q. apply B. destruct (two && _)%bool; auto. right; auto.
Qed.

Lemma run_signs ws : forall before r r', run ws before r = Some r' -> Forall one_sign ws ->
  let signs := Forall (fun e => e = 1 \/ e = 0 \/ e = -1)%Z in
  signs before -> (forall q, In q (nodes r) \/ In q (needed r) -> signs q) ->
  forall q, In q (nodes r') \/ In q (needed r') -> signs q.
Proof.
  induction ws as [|w ws IH]; intros before r r' R F signs B Q; cbn [run] in R.
  { injection R as <-. auto. }
  destruct (cut _ _ _) as [[c two]|]; [|discriminate].
  destruct (is_bound w && _)%bool; [discriminate|]. inversion F as [|? ? W F']; subst.
  apply (IH _ _ _ R F').
  - constructor; auto.
  - cbn [nodes needed]. intros q [[<-|I]|I]; [constructor; auto|apply Q; auto|].
    revert I. destruct (two && _)%bool; [intros [<-|I]|intro I]; try (apply Q; auto; fail).
    constructor; auto. unfold one_sign in W. destruct W as [X|[X|X]]; rewrite X; simpl; auto.
Qed.

(** Either all signs are those of the walls or 0, or another region is needed. *)
Lemma run_ok ws : forall before r r' u G, run ws before r = Some r' -> Forall one_sign ws ->
  in_cone (its_cone r) u -> right_signs u ws G ->
  (Forall2 fc G (path ws) /\ in_cone (its_cone r') u) \/
  exists G1 g G2 P1 x P2, G = G1 ++ g :: G2 /\ path ws = P1 ++ x :: P2 /\ Forall2 fc G1 P1 /\
    ~ fc g x /\ In (g :: rev P1 ++ before) (needed r').
Proof.
  induction ws as [|w ws IH]; intros before r r' u G R Si U Ri; cbn [run] in R.
  { injection R as <-. destruct G; [|destruct Ri]. left. split; [constructor|auto]. }
  destruct G as [|g G]; [destruct Ri|]. cbn [right_signs] in Ri. destruct Ri as (Eg & Bg & Ri).
  inversion Si as [|? ? Sw Si']; subst.
  destruct (cut _ _ _) as [[c two]|] eqn:K; [|discriminate].
  destruct (is_bound w && (its_sign w <? 0)%Z)%bool eqn:Bw; [discriminate|].
  set (g := sign_of (val u (its_form w))) in *.
  assert (fc g (its_sign w) \/ ~ fc g (its_sign w)) as [F|F].
  { unfold fc. destruct (Z.eq_dec g 0), (Z.eq_dec g (its_sign w)); tauto. }
  - assert (in_cone c u) as Uc.
    { apply (cut_ok _ _ _ _ _ K u U). unfold fc, g in F.
      destruct (sign_cases (val u (its_form w))) as [[A E]|[[A E]|[A E]]]; rewrite E in F;
        destruct F as [F|F]; try discriminate; try rewrite <- F; try lra. rewrite A. lra. }
    destruct (IH _ _ _ u G R Si' Uc (Ri F)) as
      [[A B]|(G1 & h & G2 & P1 & x & P2 & -> & Q & A & N & I)].
    + left. split; auto. constructor; auto.
    + right. exists (g :: G1), h, G2, (its_sign w :: P1), x, P2. split; auto.
      split. { change (path (w :: ws)) with (its_sign w :: path ws). rewrite Q. auto. }
      split; [constructor; auto|]. split; auto. cbn [rev]. rewrite <- app_assoc. exact I.
  - right. exists [], g, G, [], (its_sign w), (path ws). split; auto. split; auto.
    split; [constructor|]. split; auto. cbn [rev app].
    destruct (run_nodes _ _ _ _ R) as [_ In']. apply In'. cbn [needed].
    destruct two.
    2:{ exfalso. apply F. destruct (one_side _ _ _ _ _ K u eq_refl U) as [A B].
        unfold fc, g. destruct Sw as [X|[X|X]]; rewrite X in *.
        - destruct (sign_cases (val u (its_form w))) as [[V ->]|[[V ->]|[V ->]]]; auto. lra.
        - rewrite B by auto. destruct (sign_cases 0) as [[V _]|[[V _]|[V ->]]]; auto; lra.
        - destruct (sign_cases (val u (its_form w))) as [[V ->]|[[V ->]|[V ->]]]; auto. lra. }
    pose proof (two_nonzero _ _ _ _ K) as Nx.
    assert (g = (- its_sign w)%Z) as ->.
    { unfold fc, g in *. destruct (sign_cases (val u (its_form w))) as [[V E]|[[V E]|[V E]]];
        rewrite E in *; destruct Sw as [X|[X|X]]; rewrite X in *; try lia; exfalso; tauto. }
    destruct (is_bound w) eqn:Ib; [|left; reflexivity].
    exfalso. simpl in Bw. apply Z.ltb_ge in Bw. specialize (Bg eq_refl).
    destruct Sw as [X|[X|X]]; rewrite X in *; simpl in *; try lia.
Qed.

Lemma agree_part {A B} (P : A -> B -> Prop) a b : Forall2 P a b -> forall n,
  Forall2 P (firstn n a) (firstn n b).
Proof. induction 1; intros [|n]; simpl; constructor; auto. Qed.

Lemma app_same {A} (a : list A) : forall b c d, List.length a = List.length c ->
  a ++ b = c ++ d -> a = c /\ b = d.
Proof.
  induction a as [|x a IH]; intros b [|y c] d L E; simpl in *; try discriminate; auto.
  injection E as -> E. destruct (IH b c d) as [-> ->]; auto.
Qed.

(** The regions around a vertex are all, if those that are needed are there. *)
Theorem all_around (c : cone) (l : list (list wall * found)) u G : l <> [] ->
  (forall ws r, In (ws, r) l -> run ws [] (Found c [] []) = Some r /\ Forall one_sign ws /\
    right_signs u ws G /\ List.length ws = List.length G) ->
  (forall ws r q, In (ws, r) l -> In q (needed r) -> exists ws' r', In (ws', r') l /\
    In q (nodes r')) ->
  in_cone c u -> exists ws r, In (ws, r) l /\ Forall2 fc G (path ws).
Proof.
  intros Ne A Sib U.
  assert (forall n, exists ws r, In (ws, r) l /\ Forall2 fc (firstn n G) (firstn n (path ws))) as K.
  2:{ destruct (K (List.length G)) as (ws & r & I & F). exists ws, r. split; auto.
      destruct (A ws r I) as (_ & _ & _ & L). rewrite firstn_all in F.
      rewrite firstn_all2 in F; auto. unfold path. rewrite map_length. lia. }
  induction n as [|n (ws & r & I & F)].
  { destruct l as [|[ws r] l']; [tauto|]. exists ws, r. split; [left; auto|constructor]. }
  destruct (A ws r I) as (R & Si & Ri & _).
  destruct (run_ok ws [] _ r u G R Si U Ri) as
    [[B _]|(G1 & g & G2 & P1 & x & P2 & EG & EP & B & N & J)].
  { exists ws, r. split; auto. apply agree_part. auto. }
  assert (List.length G1 = List.length P1) as L1 by (apply Forall2_len in B; auto).
  destruct (Nat.lt_ge_cases n (List.length G1)) as [Ln|Ln].
  { exists ws, r. split; auto. rewrite EG, EP, !firstn_app.
    replace (S n - List.length G1)%nat with 0%nat by lia.
    replace (S n - List.length P1)%nat with 0%nat by lia. rewrite !app_nil_r.
    apply agree_part. auto. }
  destruct (Nat.lt_ge_cases (List.length G1) n) as [Ln'|Ln'].
  { exfalso. apply N. rewrite EG, EP, !firstn_app in F.
    replace (firstn n G1) with G1 in F by (symmetry; apply firstn_all2; lia).
    replace (firstn n P1) with P1 in F by (symmetry; apply firstn_all2; lia).
    apply Forall2_app_inv_l in F as (a & b & Fa & Fb & E).
    assert (a = P1 /\ b = firstn (n - List.length P1) (x :: P2)) as [-> ->].
    { apply Forall2_len in Fa. apply app_same; [congruence|auto]. }
    destruct (n - List.length G1)%nat eqn:D; [lia|].
    destruct (n - List.length P1)%nat eqn:D'; [lia|]. simpl in Fb. inversion Fb; auto. }
  destruct (Sib ws r _ I J) as (ws' & r' & I' & J'). exists ws', r'. split; auto.
  destruct (A ws' r' I') as (R' & _ & _ & L').
  destruct (run_nodes _ _ _ _ R') as [K _]. destruct (K _ J') as [[]|(m & Lm & Em)].
  rewrite !app_nil_r in Em.
  assert (firstn (S m) (path ws') = P1 ++ [g]) as Ep.
  { apply (f_equal (@rev Z)) in Em. rewrite rev_involutive in Em. simpl in Em.
    rewrite rev_involutive in Em. auto. }
  assert (m = List.length P1) as ->.
  { apply (f_equal (@List.length Z)) in Ep. rewrite app_length, firstn_length in Ep.
    unfold path in Ep. rewrite map_length in Ep. cbn [List.length] in Ep. lia. }
  replace (S n) with (S (List.length P1)) by lia. rewrite Ep, EG.
  replace (S (List.length P1)) with (List.length (G1 ++ [g])) by (rewrite app_length; simpl; lia).
  replace (G1 ++ g :: G2) with ((G1 ++ [g]) ++ G2) by (rewrite <- app_assoc; auto).
  rewrite firstn_app, firstn_all, Nat.sub_diag. simpl. rewrite app_nil_r.
  apply Forall2_app; auto. constructor; [right; auto|constructor].
Qed.

(** * Edges *)

Lemma linear_line c (F : vec -> R) u : (forall u v, F (plus u v) = F u + F v) ->
  (forall t u, F (times t u) = t * F u) ->
  (forall l, In l (its_lines c) -> F (dir l) = 0) -> in_cone c u -> F u < 0 ->
  exists e, In e (its_rays c) /\ F (dir (way_of e)) < 0.
Proof.
  intros Fp Ft Fl U. induction U as [|u l t (w & Iw & ->) U IH|u e t (w & Iw & ->) T U IH].
  - intro Neg. replace (fun _ : N => 0) with (times 0 (fun _ => 0)) in Neg by ext.
    rewrite Ft in Neg. lra.
  - rewrite Fp, Ft, Fl by auto. intro Neg. apply IH. lra.
  - rewrite Fp, Ft. intro Neg. destruct (Rlt_dec (F u) 0) as [|P]; auto.
    apply in_map_iff in Iw as (e & <- & Ie). exists e. split; auto.
    destruct (Rlt_dec (F (dir (way_of e))) 0); auto. exfalso. nra.
Qed.

Lemma on_side_ok ws c u w : on_side ws c = true -> In w ws -> in_cone c u ->
  0 <= IZR (its_sign w) * val u (its_form w).
Proof.
  unfold on_side. rewrite forallb_forall. intros A I U. specialize (A w I).
  apply andb_prop in A as [A B]. rewrite forallb_forall in A, B.
  induction U as [|u l t (v & Iv & ->) U IH|u e t (v & Iv & ->) T U IH].
  - rewrite val_none. lra.
  - rewrite val_plus, val_times, val_dir. apply A, Z.eqb_eq in Iv. rewrite Iv. lra.
  - rewrite val_plus, val_times, val_dir. apply in_map_iff in Iv as (r & <- & Ir).
    apply B, Z.leb_le, IZR_le in Ir. rewrite mult_IZR in Ir.
    assert (0 <= t * (IZR (its_sign w) * IZR (slope (its_form w) (way_of r))))
      by (apply Rmult_le_pos; auto). lra.
Qed.

(** A point of the cone that is on all walls of an edge is on the edge, up to lines. *)
Lemma edge_ok ws c e u : on_side ws c = true -> is_edge ws c e = true -> in_cone c u ->
  (forall w, In w ws -> its_sign w <> 0%Z -> slope (its_form w) (way_of e) = 0%Z ->
    val u (its_form w) = 0) ->
  exists t, 0 <= t /\ forall f, (forall l, In l (its_lines c) -> slope f l = 0%Z) ->
    val u f = t * val (dir (way_of e)) f.
Proof.
  intros S E U. pose proof S as S'. unfold on_side in S'. rewrite forallb_forall in S'.
  unfold is_edge in E. rewrite forallb_forall in E.
  induction U as [|u l t (v & Iv & ->) U IH|u r t (v & Iv & ->) T U IH]; intro H.
  - exists 0. split; [lra|]. intros f _. rewrite val_none. ring.
  - destruct IH as (q & Q & K).
    { intros w Iw Nz Z. specialize (H w Iw Nz Z). rewrite val_plus, val_times, val_dir in H.
      specialize (S' w Iw). apply andb_prop in S' as [A _]. rewrite forallb_forall in A.
      apply A, Z.eqb_eq in Iv. rewrite Iv in H. lra. }
    exists q. split; auto. intros f F. rewrite val_plus, val_times, val_dir, (F v Iv), K by auto.
    ring.
  - apply in_map_iff in Iv as (r & <- & Ir).
    assert (forall w, In w ws -> its_sign w <> 0%Z -> slope (its_form w) (way_of e) = 0%Z ->
      val u (its_form w) = 0 /\ t * IZR (slope (its_form w) (way_of r)) = 0) as Both.
    { intros w Iw Nz Z. specialize (H w Iw Nz Z). rewrite val_plus, val_times, val_dir in H.
      pose proof (on_side_ok ws c u w S Iw U) as P. specialize (S' w Iw).
      apply andb_prop in S' as [_ A]. rewrite forallb_forall in A.
      apply A, Z.leb_le, IZR_le in Ir. rewrite mult_IZR in Ir.
      set (q := IZR (slope (its_form w) (way_of r))) in *.
      assert (0 <= t * (IZR (its_sign w) * q)) as T' by (apply Rmult_le_pos; auto).
      assert (IZR (its_sign w) * val u (its_form w) = 0) as Q.
      { assert (IZR (its_sign w) * (val u (its_form w) + t * q) = 0) as Q by (rewrite H; ring).
        lra. }
      apply Rmult_integral in Q as [Q|Q]; [apply eq_IZR in Q; tauto|]. lra. }
    destruct IH as (q & Q & K). { intros w Iw Nz Z. apply Both; auto. }
    specialize (E r Ir). apply orb_prop in E as [E|E].
    + apply zs_eqb_ok in E. exists (q + t). split; [lra|]. intros f F.
      rewrite val_plus, val_times, K, E by auto. ring.
    + apply existsb_exists in E as (w & Iw & E). unfold leaves in E. apply andb_prop in E as [Z N].
      apply Z.eqb_eq in Z. apply negb_true_iff, Z.eqb_neq in N.
      assert (t = 0) as ->.
      { destruct (Both w Iw ltac:(nia) Z) as [_ B]. apply Rmult_integral in B as [B|B]; auto.
        apply eq_IZR in B. nia. }
      exists q. split; auto. intros f F. rewrite val_plus, val_times, K by auto. ring.
Qed.

(** Differences of points, for all coordinates, are directions of the cone of all. *)
Lemma whole_all d u : u 0%N = 0 -> (forall s, (N.of_nat d < s)%N -> u s = 0) -> in_cone (whole d) u.
Proof.
  intros U0 Ud.
  assert (forall k, (k <= d)%nat -> in_cone (whole d) (fun s =>
    if (s <=? N.of_nat k)%N then u s else 0)) as K.
  { induction k as [|k IH]; intro L.
    - replace (fun s => if (s <=? N.of_nat 0)%N then u s else 0) with (fun _ : N => 0).
      { constructor. }
      ext. destruct (N.leb_spec x (N.of_nat 0)); auto. replace x with 0%N by lia. auto.
    - replace (fun s => if (s <=? N.of_nat (S k))%N then u s else 0) with
        (plus (fun s => if (s <=? N.of_nat k)%N then u s else 0)
          (times (u (N.of_nat (S k))) (dir (unit_vector d k)))).
      { apply a_line; [|apply IH; lia]. exists (unit_vector d k). split; auto. unfold whole.
        apply in_map, in_seq. lia. }
      ext. unfold dir, entry, unit_vector.
      destruct (N.eqb_spec x 0) as [->|Nx].
      { destruct (N.leb_spec 0 (N.of_nat k)), (N.leb_spec 0 (N.of_nat (S k))); try lia. ring. }
      destruct (Nat.lt_ge_cases (N.to_nat (x - 1)) d) as [Lx|Lx].
      + rewrite (nth_indep _ 0%Z ((fun i => if Nat.eqb i k then 1%Z else 0%Z) 0%nat))
          by (rewrite map_length, seq_length; auto).
        rewrite (map_nth (fun i => if Nat.eqb i k then 1%Z else 0%Z)), seq_nth by auto. simpl plus.
        destruct (Nat.eqb_spec (0 + N.to_nat (x - 1)) k) as [E|E].
        * replace x with (N.of_nat (S k)) by lia.
          destruct (N.leb_spec (N.of_nat (S k)) (N.of_nat k)),
            (N.leb_spec (N.of_nat (S k)) (N.of_nat (S k))); try lia. ring.
        * destruct (N.leb_spec x (N.of_nat k)), (N.leb_spec x (N.of_nat (S k))); try lia; ring.
      + rewrite nth_overflow by (rewrite map_length, seq_length; auto).
        destruct (N.leb_spec x (N.of_nat k)), (N.leb_spec x (N.of_nat (S k))); try lia; ring. }
  replace u with (fun s => if (s <=? N.of_nat d)%N then u s else 0); [apply K; lia|].
  ext. destruct (N.leb_spec x (N.of_nat d)); auto. symmetry. auto.
Qed.
