(** Theorem [vertices]: lists of regions by lists of vertices (claim regions, FORMAT.md,
    section 5.3). *)
Require Import String ZArith NArith QArith Qreals Reals List Bool Lra Lia Psatz.
Require Import FunctionalExtensionality.
From PolyreluVerified Require Import Verdicts Maps Networks Domains Claims RegionLists Limits.
From PolyreluVerified Require Import Numbers LinearForms JointNetwork Coordinates Trees.
From PolyreluVerified Require Import Points Checker RegionTrees Regions Pieces VertexLists.
From PolyreluVerified Require Import KeptForms Cones Walls VertexRows VertexChecks VertexSets.
Import ListNotations.
Open Scope R_scope.
Open Scope list_scope.

Section Rule.
Variables (p : placed) (d : N) (scale : Z) (fs : list form) (sl : list rform).
Notation bounds := (bounds sl).
Notation num_bounds := (num_bounds sl).
Notation num_forms := (num_forms p sl).
Notation rows := (rows p scale fs sl).
Notation check_signs := (check_signs p d sl).
Notation check_region := (check_region p d scale fs sl).
Notation add_vertex := (add_vertex p d scale fs sl).
Notation vertex_known := (vertex_known p d scale fs sl).
Notation vertices_added := (vertices_added p d scale fs sl).

Hypothesis started : setup (num_inputs p) (area p) = Some (d, scale, fs, sl).

Notation V := (V p d).
Notation values := (values p d sl).
Notation plane_point := (plane_point p).
Notation value := (value p d sl).
Notation all_forms := (all_forms p sl).
Notation inequality := (inequality sl).
Notation kept := (kept p d scale fs sl).
Notation sg := (sg nat plane_point value).
Notation face := (face nat).
Notation inside := (inside nat plane_point inequality value).
Notation values_length := (values_length p d sl).
Notation at_plane := (at_plane p d scale fs sl started).
Notation rows_right := (rows_right p d scale fs sl started).
Notation check_signs_ok := (check_signs_ok p d scale fs sl started).
Notation ap_line := (ap_line p d).
Notation V_near := (V_near p d).
Notation value_out := (value_out p d sl).
Notation forms_or_zero := (forms_or_zero p d sl).
Notation sg_nth := (sg_nth p d sl).
Notation face_list := (face_list p d sl).
Notation sf_list := (sf_list p sl).
Notation sf_nth := (sf_nth p sl).
Notation skip_bounds := (skip_bounds sl).

Section Accepted.
Variables (vs : list vertex) (st : corners) (count : nat).
Hypothesis constants : constants_hold sl = true.
Hypothesis added : folded add_vertex vs (Corners E E E) = Some st.
Hypothesis complete : check_complete st count = true.

Notation in_domain_iff := (in_domain_iff p d scale fs sl started constants).
Notation inside_iff := (inside_iff p d scale fs sl started constants).
Notation connected := (connected p d sl).

Lemma some_vertex : vs <> [].
Proof. intro Nil. pose proof added as A. rewrite Nil in A. injection A as <-. discriminate. Qed.

Definition regions_at (v : vertex) : list (list Z) := List.map its_region (its_regions v).

Definition region_signs : list (list Z) :=
  nodup (list_eq_dec Z.eq_dec)
    (List.map (skipn num_bounds) (flat_map regions_at vs)).

(** *** Regions around a vertex *)

Lemma known v : In v vs -> vertex_known (ends st) v.
Proof. apply (vertices_added _ _ _ added). Qed.

Lemma signs_of_vertex v : In v vs -> Forall is_sign (its_signs v) /\
  List.length (its_signs v) = num_forms.
Proof.
  intro I. destruct (known v I) as [(rs & R & C) _].
  destruct (check_signs_ok _ _ _ R C) as (_ & _ & S & L & _). split; auto. rewrite <- S.
  apply Forall_map, Forall_forall. intros. apply sign_is_sign.
Qed.

Lemma end_listed u : Forall is_sign u -> has (key u) (ends st) ->
  exists v, In v vs /\ its_signs v = u.
Proof.
  intros U H. unfold check_complete in complete. apply andb_prop in complete as [C _].
  apply andb_prop in C as [C _]. apply andb_prop in C as [_ C]. rewrite forallb_forall in C.
  apply in_keys in H. apply C, has_member in H.
  apply (vertices_added _ _ _ added) in H as [[]|(v & I & Q)]. exists v. split; auto.
  symmetry. apply key_same; auto. apply signs_of_vertex. auto.
Qed.

(** What is found out about a region [h] around a vertex [v]: its rows, and its cone. *)
Definition facts (v : vertex) (h : region_hint) (rs : list rform) (f : found) : Prop :=
  let c := its_region h in let s := its_signs v in
  rows c = Some rs /\ Forall is_sign c /\ List.length c = num_forms /\
  (exists x, check_signs c rs x = true) /\ closes s c = true /\
  (forall i, (i < num_forms)%nat -> nth i c 1%Z = 0%Z ->
    is_constant (nth i rs ([], 1%Z)) = true) /\
  run (walls num_bounds s c rs) [] (Found (whole (N.to_nat d)) [] []) = Some f /\
  (forall r l, In r rs -> In l (its_lines (its_cone f)) -> slope (fst r) l = 0%Z) /\
  on_side (walls num_bounds s c rs) (its_cone f) = true /\
  (forall e, In e (its_rays (its_cone f)) ->
    is_edge (walls num_bounds s c rs) (its_cone f) e = true /\
    (goes_on c rs (way_of e) = true \/
     exists u, closes u c = true /\ ends_there s u rs (way_of e) = true /\ moves s u = true /\
       exists v', In v' vs /\ its_signs v' = u)).

Lemma region_facts v h us f : In v vs -> In h (its_regions v) ->
  check_region (its_signs v) h = Some (us, f) ->
  (forall u, In u (List.concat us) -> has u (ends st)) -> exists rs, facts v h rs f.
Proof.
  intros I J O U. unfold facts. set (c := its_region h). set (s := its_signs v) in *.
  unfold check_region in O. fold c in O. cbv zeta in O.
  destruct (rows c) as [rs|] eqn:R; [|discriminate].
  destruct (closes s c && _) eqn:C; [|discriminate]. apply andb_prop in C as [C1 C2].
  destruct (run _ _ _) as [f'|] eqn:Ru; [|discriminate].
  match type of O with (if ?b then _ else _) = _ => destruct b eqn:C end; [|discriminate].
  apply andb_prop in C as [C C3]. apply andb_prop in C as [C C6].
  apply andb_prop in C as [C4 C5].
  destruct (mapo _ _) as [us'|] eqn:M; [|discriminate]. injection O as -> ->.
  destruct (check_signs_ok _ _ _ R C3) as (_ & _ & Sc & Lc & Lr & _).
  assert (Forall is_sign c) as Fc.
  { rewrite <- Sc. apply Forall_map, Forall_forall. intros. apply sign_is_sign. }
  exists rs. split; auto. split; auto. split; auto. split; [eauto|]. split; auto.
  split. { intros i Li Z. apply (constant_zeros_nth c); auto; lia. }
  split; auto. split; [|split; auto].
  { intros r x Ir Ix. rewrite forallb_forall in C4. specialize (C4 r Ir).
    rewrite forallb_forall in C4. apply Z.eqb_eq. auto. }
  intros e Ie. rewrite forallb_forall in C6. split; auto.
  apply mapo_ok in M. destruct (Forall2_in _ _ _ _ M Ie) as (q & Iq & El).
  unfold end_of in El. destruct (its_end h rs (way_of e)) as [u|].
  - right. exists u. destruct (closes u c && _ && _) eqn:D; [|discriminate].
    injection El as <-. apply andb_prop in D as [D D3]. apply andb_prop in D as [D1 D2].
    split; auto. split; auto. split; auto. apply end_listed.
    + destruct (closes_nth _ _ D1) as [Lu H]. apply Forall_forall. intros y Y.
      apply (In_nth _ _ 1%Z) in Y as (i & Li & <-).
      destruct (H i 1%Z) as [-> | ->]; [unfold is_sign; auto|].
      rewrite Forall_forall in Fc. apply Fc, nth_In. lia.
    + apply U, in_concat. exists [key u]. split; auto. left; auto.
  - left. destruct (goes_on c rs (way_of e)); [auto|discriminate].
Qed.

Lemma vertex_facts v : In v vs -> exists x : plane_point, inside x /\
  List.map sign_of (values (proj1_sig x)) = its_signs v.
Proof.
  intro I. destruct (known v I) as [(rs & R & C) _].
  destruct (check_signs_ok _ _ _ R C) as (X & D & S & _).
  exists (exist _ _ X). rewrite inside_iff. auto.
Qed.

(** A listed vertex with its point. *)
Definition corner : Type := vertex * plane_point.
Definition is_corner (u : corner) : Prop :=
  In (fst u) vs /\ inside (snd u) /\
  List.map sign_of (values (proj1_sig (snd u))) = its_signs (fst u).

Lemma corners_exist : exists us : list corner, Forall is_corner us /\ List.map fst us = vs.
Proof.
  assert (forall l, incl l vs -> exists us : list corner, Forall is_corner us /\
    List.map fst us = l) as K.
  { induction l as [|v l IH]; intro S. { exists []. auto. }
    destruct IH as (us & F & M). { intros u U. apply S. right; auto. }
    assert (In v vs) as I by (apply S; left; auto).
    destruct (vertex_facts v I) as (x & D & S'). exists ((v, x) :: us). split.
    - constructor; auto. split; auto.
    - simpl. f_equal. auto. }
  apply K. apply incl_refl.
Qed.

Definition around_corner (u : corner) : list (nat -> Z) := List.map sf (regions_at (fst u)).

Section Corner.
(** A vertex with its point, and a region around it. *)
Variables (u : corner) (h : region_hint) (rs : list rform) (f : found).
Hypothesis Cu : is_corner u.
Hypothesis Ih : In h (its_regions (fst u)).
Hypothesis Fa : facts (fst u) h rs f.
Notation v := (fst u).
Notation x := (snd u).
Notation c := (its_region h).
Notation s := (its_signs (fst u)).

Lemma sign_at_corner i : sg x i = nth i s 0%Z.
Proof. rewrite sg_nth. destruct Cu as (_ & _ & ->). auto. Qed.

Lemma corner_lengths : List.length s = num_forms /\ List.length c = num_forms.
Proof.
  destruct Cu as (I & _). split; [apply signs_of_vertex; auto|]. apply Fa.
Qed.

Lemma corner_face : face (sg x) (sf c).
Proof.
  intro i. rewrite sign_at_corner. destruct Fa as (_ & _ & _ & _ & C & _).
  apply closes_nth in C as [_ C]. apply C.
Qed.

(** The rows of the region, and what they say about points. *)
Lemma region_rows : List.length rs = num_forms /\
  Forall (fun r => (0 < snd r)%Z /\ over_coordinates d (fst r) = true) rs /\
  (forall i y, kept (sf c) i y = ap (V (proj1_sig y)) (nth i rs ([], 1%Z))) /\
  kept_right nat plane_point value kept (sf c) /\
  (forall i y, sf c i = 0%Z -> kept (sf c) i y = 0) /\
  forall i y, (i < num_forms)%nat ->
    (forall j, (j < i)%nat -> sg y j = 0%Z \/ sg y j = sf c j) -> value i y = kept (sf c) i y.
Proof.
  destruct Cu as (I & _). destruct corner_lengths as (_ & L).
  destruct Fa as (R & _ & _ & (q & C) & _ & Z & _).
  destruct (check_signs_ok _ _ _ R C) as (X & _ & Sc & _ & Lr & Pos & W).
  assert (forall i y, kept (sf c) i y = ap (V (proj1_sig y)) (nth i rs ([], 1%Z))) as Kp.
  { intros i y. unfold kept. rewrite sf_list, R by auto. apply nth_ap. }
  split; auto. split; auto. split; auto. split; [|split].
  - intros y Cy i. rewrite Kp. unfold value.
    rewrite <- (rows_right (proj1_sig y) c rs (proj2_sig y) R), nth_ap; auto.
    left. rewrite <- (sf_list c L). apply face_list. auto.
  - intros i y Q. rewrite Kp. destruct (Nat.lt_ge_cases i num_forms) as [Li|Li].
    2:{ rewrite nth_overflow by lia. unfold ap. simpl. field. }
    assert (is_constant (nth i rs ([], 1%Z)) = true) as K.
    { apply Z; auto. rewrite <- sf_nth by auto. auto. }
    assert (forall z, V z 0%N = 1) as V0 by reflexivity.
    unfold ap. rewrite (constant_val _ _ (V0 _)) by exact K.
    assert (sign_of (ap (V (List.map Q2R q)) (nth i rs ([], 1%Z))) = 0%Z)
      as S0.
    { rewrite <- nth_ap, W. rewrite <- (map_nth sign_of) with (d := 0) in Q at 1 || idtac.
      unfold sf in Q. rewrite <- Sc in Q. rewrite <- (sign_zero 0 eq_refl) in Q at 1.
      rewrite (map_nth sign_of) in Q. auto. }
    unfold ap in S0. rewrite (constant_val _ _ (V0 _)) in S0 by exact K.
    destruct (sign_cases (IZR (constant_of (fst (nth i rs ([], 1%Z)))) /
      IZR (snd (nth i rs ([], 1%Z))))) as [[A B]|[[A B]|[A B]]]; try congruence; auto.
  - intros i y Li H. rewrite Kp, <- nth_ap. unfold value. symmetry. unfold rows in R.
    destruct (neuron_rows _ _ _ _) as [hs|] eqn:N; [|discriminate]. injection R as <-.
    unfold values. rewrite map_app.
    assert (forall j, nth j (List.map sign_of (values (proj1_sig y))) 0%Z = sg y j) as Sg
      by (intro; symmetry; apply sg_nth).
    destruct (Nat.lt_ge_cases i num_bounds) as [B|B].
    + rewrite !app_nth1 by (rewrite map_length; auto). auto.
    + rewrite !app_nth2 by (rewrite map_length; auto). rewrite !map_length.
      fold num_bounds. destruct (at_plane _ (proj2_sig y)) as (Ps & _ & Fi & _).
      eapply (rows_before (V (proj1_sig y))); [reflexivity| |exact N| |].
      * constructor; [|constructor]. split; auto.
      * rewrite skipn_length, zs_length, L. unfold num_forms. lia.
      * intros j Lj. specialize (H (num_bounds + j)%nat ltac:(lia)). rewrite <- Sg in H.
        unfold values in H. rewrite map_app, app_nth2 in H
          by (rewrite !map_length; unfold num_bounds; lia).
        rewrite !map_length in H. fold num_bounds in H.
        replace (num_bounds + j - num_bounds)%nat with j in H by lia.
        unfold sf in H. rewrite <- (firstn_skipn num_bounds c), app_nth2 in H
          by (rewrite firstn_length; lia).
        rewrite firstn_length in H.
        replace (num_bounds + j - Nat.min num_bounds (List.length c))%nat with j in H
          by (rewrite L in *; unfold num_forms; lia).
        exact H.
Qed.

(** From the vertex to another point. *)
Definition delta (y : plane_point) : vec := fun s => V (proj1_sig y) s - V (proj1_sig x) s.

Lemma val_delta y g : val (delta y) g = val (V (proj1_sig y)) g - val (V (proj1_sig x)) g.
Proof.
  induction g as [|[t a] g IH]; simpl; [ring|]. rewrite IH. unfold delta. ring.
Qed.

Lemma delta_whole y : in_cone (whole (N.to_nat d)) (delta y).
Proof.
  apply whole_all.
  - unfold delta, V, coordinates. simpl. ring.
  - intros t T. rewrite N2Nat.id in T. unfold delta, V, coordinates.
    destruct (N.eqb_spec t 0); [lia|]. destruct (N.leb_spec t d); [lia|]. ring.
Qed.

Definition row (i : nat) : rform := nth i rs ([], 1%Z).

Lemma row_positive i : 0 < IZR (snd (row i)).
Proof.
  destruct region_rows as (_ & Pos & _). apply IZR_lt. unfold row.
  destruct (Nat.lt_ge_cases i (List.length rs)) as [H|H].
  - rewrite Forall_forall in Pos. apply Pos, nth_In. auto.
  - rewrite nth_overflow by auto. simpl. lia.
Qed.

Lemma kept_delta i y : kept (sf c) i y - kept (sf c) i x =
  val (delta y) (fst (row i)) / IZR (snd (row i)).
Proof.
  destruct region_rows as (_ & _ & Kp & _). rewrite !Kp, val_delta. unfold ap. fold (row i).
  pose proof (row_positive i). field. lra.
Qed.

(** The value of a zero of the vertex at another point. *)
Lemma zero_value i y : (i < num_forms)%nat -> sg x i = 0%Z ->
  (forall j, (j < i)%nat -> sg y j = 0%Z \/ sg y j = sf c j) ->
  value i y = val (delta y) (fst (row i)) / IZR (snd (row i)).
Proof.
  intros L Z H. destruct region_rows as (_ & _ & _ & Right & _ & Before).
  rewrite (Before i y L H), <- kept_delta, <- (Right x corner_face).
  rewrite (value_zero nat plane_point value i x Z). ring.
Qed.

Lemma same_lengths : List.length c = List.length s /\ List.length rs = List.length s.
Proof.
  destruct corner_lengths as [Ls Lc]. destruct region_rows as (Lr & _).
  split; [congruence|]. rewrite Ls. exact Lr.
Qed.

(** Signs of a point at the zeros of the vertex. *)
Definition zero_signs (y : plane_point) : list Z :=
  at_zeros s (List.map sign_of (values (proj1_sig y))).
Notation ws := (walls num_bounds s c rs).

Lemma sign_quotient a q : 0 < q -> sign_of (a / q) = sign_of a.
Proof.
  intro Q. assert (a / q * q = a) as E by (field; lra). set (r := a / q) in *.
  destruct (sign_cases r) as [[A ->]|[[A ->]|[A ->]]].
  - rewrite sign_pos; auto. nra.
  - rewrite sign_neg; auto. nra.
  - rewrite sign_zero; auto. rewrite <- E, A. ring.
Qed.

Lemma signs_right y : inside y -> (forall i, sg x i <> 0%Z -> sg y i = 0%Z \/ sg y i = sf c i) ->
  right_signs (delta y) ws (zero_signs y) /\ List.length ws = List.length (zero_signs y).
Proof.
  intros D B. destruct same_lengths as [Lc Lr]. destruct corner_lengths as [Ls _].
  assert (forall i, nth i (List.map sign_of (values (proj1_sig y))) 0%Z = sg y i) as Sg
    by (intro; symmetry; apply sg_nth).
  unfold zero_signs. apply right_at_zeros; auto.
  - rewrite map_length, values_length. auto.
  - intros i L H Z. rewrite Sg. unfold VertexLists.sg. rewrite zero_value.
    + unfold row. apply sign_quotient. apply row_positive.
    + congruence.
    + rewrite sign_at_corner. auto.
    + intros j J. rewrite <- Sg. apply H. auto.
  - intros i L Z. rewrite Sg. apply B. rewrite sign_at_corner. auto.
  - intros i L _. rewrite Sg. unfold VertexLists.sg. specialize (D i L).
    destruct (sign_cases (value i y)) as [[A ->]|[[A ->]|[A ->]]]; try discriminate. lra.
Qed.

Lemma wall_signs : Forall one_sign ws.
Proof.
  apply Forall_forall. intros w W. destruct (walls_in _ _ _ _ _ W) as (i & _ & Li & _ & _ & _ & E).
  unfold one_sign. rewrite E. destruct Fa as (_ & F & _). rewrite Forall_forall in F.
  apply F, nth_In. auto.
Qed.

(** Signs that agree with those of the region at the zeros of the vertex. *)
Lemma agrees y : (forall i, sg x i <> 0%Z -> sg y i = 0%Z \/ sg y i = sf c i) ->
  Forall2 fc (zero_signs y) (path ws) -> face (sg y) (sf c).
Proof.
  intros B F i. destruct same_lengths as [Lc Lr]. destruct corner_lengths as [Ls _].
  rewrite path_walls in F by auto. rewrite sg_nth.
  apply (agree_all s); auto. { rewrite map_length, values_length. auto. }
  intros j L Z. rewrite <- sg_nth. apply B. rewrite sign_at_corner. auto.
Qed.

(** The closure of the region lies in its cone. *)
Lemma closure_in_cone y : inside y -> face (sg y) (sf c) -> in_cone (its_cone f) (delta y).
Proof.
  intros D C. destruct (signs_right y D) as [Ri Le]. { intros i _. apply C. }
  destruct same_lengths as [Lc Lr]. destruct corner_lengths as [Ls _].
  destruct Fa as (_ & _ & _ & _ & _ & _ & Ru & _).
  destruct (run_ok _ _ _ _ (delta y) _ Ru wall_signs (delta_whole y) Ri) as
    [[_ K]|(G1 & g & G2 & P1 & a & P2 & EG & EP & B & N & _)]; auto.
  exfalso. apply N. rewrite path_walls in EP by auto.
  assert (forall (ss gs cs : list Z), List.length gs = List.length ss ->
    List.length cs = List.length ss -> (forall i, fc (nth i gs 0%Z) (nth i cs 0%Z)) ->
    Forall2 fc (at_zeros ss gs) (at_zeros ss cs)) as At.
  { induction ss as [|e ss IH]; intros [|g' gs] [|a' cs] L L' H; simpl in *; try discriminate;
      [constructor|].
    assert (Forall2 fc (at_zeros ss gs) (at_zeros ss cs)) as F
      by (apply IH; auto; intro i; apply (H (S i))).
    destruct (e =? 0)%Z; auto. constructor; auto. apply (H 0%nat). }
  specialize (At s (List.map sign_of (values (proj1_sig y))) c
    ltac:(rewrite map_length, values_length; auto) Lc).
  unfold zero_signs in EG. rewrite EG, EP in At.
  assert (Forall2 fc (G1 ++ g :: G2) (P1 ++ a :: P2)) as Q.
  { apply At. intro i. rewrite <- sg_nth. apply C. }
  apply Forall2_app_inv_l in Q as (b1 & b2 & Q1 & Q2 & Eb).
  assert (P1 = b1 /\ a :: P2 = b2) as [-> <-].
  { apply app_same; auto. apply Forall2_len in B. apply Forall2_len in Q1. congruence. }
  inversion Q2. auto.
Qed.

Lemma lines_flat i l : In l (its_lines (its_cone f)) -> slope (fst (row i)) l = 0%Z.
Proof.
  intro I. unfold row. destruct (Nat.lt_ge_cases i (List.length rs)) as [H|H].
  - destruct Fa as (_ & _ & _ & _ & _ & _ & _ & K & _). apply K; auto. apply nth_In. auto.
  - rewrite nth_overflow by auto. reflexivity.
Qed.

(** The changes of the forms along an edge. *)
Definition changes (e : ray) (i : nat) : R :=
  val (dir (way_of e)) (fst (row i)) / IZR (snd (row i)).

Lemma region_point : exists z, inside z /\ forall i, sg z i = sf c i.
Proof.
  destruct Fa as (R & _ & _ & (q & Ck) & _).
  destruct (check_signs_ok _ _ _ R Ck) as (X & Dy & Sy & _). exists (exist _ _ X).
  split. { apply inside_iff. auto. }
  intro i. rewrite sg_nth. cbn [proj1_sig]. rewrite Sy. auto.
Qed.

Lemma face_inside y : face (sg y) (sf c) -> inside y.
Proof.
  intros C i L. destruct region_point as (z & Dz & Ez). specialize (Dz i L). specialize (C i).
  rewrite <- Ez in C. unfold VertexLists.sg in C.
  destruct (sign_cases (value i y)) as [[A E]|[[A E]|[A E]]]; try lra. exfalso. rewrite E in C.
  destruct (sign_cases (value i z)) as [[B Q]|[[B Q]|[B Q]]]; rewrite Q in C;
    destruct C; try discriminate. lra.
Qed.

Lemma edges_lead : leads nat plane_point value kept corner snd u (sf c)
  (List.map changes (its_rays (its_cone f))).
Proof.
  intros w l y C N.
  set (F := fun g : vec =>
    VertexLists.total (fun i => w i * (val g (fst (row i)) / IZR (snd (row i)))) l).
  destruct (linear_line (its_cone f) F (delta y)) as (e & Ie & Ne).
  - intros g g'. unfold F. rewrite <- total_plus. apply total_ext. intros i _.
    rewrite val_plus. unfold Rdiv. ring.
  - intros t g. unfold F. rewrite <- total_times. apply total_ext. intros i _.
    rewrite val_times. unfold Rdiv. ring.
  - intros m Im. unfold F. rewrite (total_ext _ (fun _ => 0 * 0)), total_times; [ring|].
    intros i _. rewrite val_dir, lines_flat by auto. unfold Rdiv. ring.
  - apply closure_in_cone; auto. apply face_inside. auto.
  - unfold F. rewrite (total_ext _ (fun i => w i * (kept (sf c) i y - kept (sf c) i x))); auto.
    intros i _. rewrite kept_delta. auto.
  - exists (changes e). split; [apply in_map; auto|]. exact Ne.
Qed.

Lemma edges_ok us : Forall is_corner us -> List.map fst us = vs ->
  region_ends nat plane_point inequality value kept corner snd us u (sf c).
Proof.
  intros Us Mu. destruct region_rows as (Lr & _ & Kp & Right & _).
  split; [apply corner_face|]. split; [exact Right|]. split; [apply region_point|].
  exists (List.map changes (its_rays (its_cone f))). split; [apply edges_lead|].
  intros e' I. apply in_map_iff in I as (e & <- & Ie).
  destruct same_lengths as [Lc Ls]. destruct corner_lengths as [Ls' Lc'].
  destruct Fa as (_ & Fc & _ & _ & _ & _ & _ & _ & Os & Ed).
  destruct (Ed e Ie) as [Ex [G|(q & C1 & C2 & C3 & v' & Iv' & Eq)]].
  - left. intro i. unfold changes. destruct (Nat.lt_ge_cases i num_forms) as [L|L].
    + rewrite val_dir, sf_nth by (auto; congruence).
      pose proof (goes_on_nth c rs (way_of e) i G ltac:(rewrite Lc; exact Ls) ltac:(lia)) as P.
      apply IZR_le in P. rewrite mult_IZR in P. fold (row i) in P. unfold Rdiv.
      rewrite <- Rmult_assoc. apply Rmult_le_pos; auto.
      apply Rlt_le, Rinv_0_lt_compat, row_positive.
    + unfold row. rewrite nth_overflow.
      { cbn [fst snd val]. unfold Rdiv. rewrite Rmult_0_l. lra. }
      rewrite Ls, Ls'. auto.
  - right. rewrite <- Mu in Iv'. apply in_map_iff in Iv' as (u' & <- & Iu').
    pose proof Us as Us'. rewrite Forall_forall in Us'. destruct (Us' u' Iu') as (Iv' & D' & Su).
    exists u'. split; auto. destruct (closes_nth _ _ C1) as [Lq Cl].
    assert (forall i, sg (snd u') i = nth i q 0%Z) as Sg.
    { intros i. rewrite sg_nth, Su, Eq. auto. }
    assert (face (sg (snd u')) (sf c)) as Cu'. { intro i. rewrite Sg. apply Cl. }
    split; auto.
    pose proof (closure_in_cone (snd u') D' Cu') as Co.
    assert (forall i, (i < num_forms)%nat -> sg x i = 0%Z ->
      val (delta (snd u')) (fst (row i)) / IZR (snd (row i)) = value i (snd u')) as Vz.
    { intros i L Z. symmetry. apply zero_value; auto. }
    destruct (edge_ok ws (its_cone f) e (delta (snd u')) Os Ex Co) as (t & T & K).
    { intros w W Nw Zw. destruct (walls_in _ _ _ _ _ W) as (i & L1 & L2 & L3 & Z & Ef & _).
      rewrite Ef in *. fold (row i) in *.
      assert (nth i q 1%Z = 0%Z) as Qz by (apply (ends_there_nth s q rs (way_of e)); auto; lia).
      assert (value i (snd u') = 0) as Vu.
      { apply (value_zero nat plane_point value). rewrite Sg.
        rewrite (nth_indep q 0%Z 1%Z) by lia. auto. }
      rewrite <- Vz in Vu; [|lia|rewrite sign_at_corner, (nth_indep _ 0%Z 1%Z); auto].
      pose proof (Rinv_0_lt_compat _ (row_positive i)). unfold Rdiv in Vu.
      apply Rmult_integral in Vu as [Vu|Vu]; auto. exfalso. lra. }
    exists t. assert (forall i, kept (sf c) i (snd u') - kept (sf c) i x = t * changes e i) as Ch.
    { intro i. rewrite kept_delta, K by (intros; apply lines_flat; auto). unfold changes, Rdiv.
      ring. }
    split; auto. destruct T as [T|T]; auto. exfalso.
    destruct (moves_nth _ _ C3) as (i & L & Z & N); [lia|].
    assert (sg x i = 0%Z) as Zx by (rewrite sign_at_corner, (nth_indep _ 0%Z 1%Z); auto).
    specialize (Vz i ltac:(lia) Zx). rewrite <- kept_delta, Ch, <- T, Rmult_0_l in Vz.
    apply N. rewrite (nth_indep q 1%Z 0%Z), <- Sg by lia. unfold VertexLists.sg. rewrite <- Vz.
    apply sign_zero. auto.
Qed.
End Corner.

(** The regions around a vertex, with their rows and cones. *)
Definition with_walls (v : vertex) (l : list (list wall * found)) : Prop :=
  (forall ws f, In (ws, f) l -> exists h rs, In h (its_regions v) /\ facts v h rs f /\
    ws = walls num_bounds (its_signs v) (its_region h) rs) /\
  forall q f ws, In (ws, f) l -> In q (needed f) -> exists ws' f', In (ws', f') l /\
    In q (nodes f').

Lemma all_facts v : In v vs -> exists l, l <> [] /\ with_walls v l /\
  forall h, In h (its_regions v) -> exists rs f, facts v h rs f.
Proof.
  intro I. destruct (known v I) as (_ & l & F & Ne & At & U).
  assert (forall h, In h (its_regions v) -> exists us f rs, In (us, f) l /\ facts v h rs f) as Hf.
  { intros h J. destruct (Forall2_in _ _ _ _ F J) as ([us f] & Il & O).
    destruct (region_facts v h us f I J O) as (rs & Fa). { intros u Iu. apply (U _ _ Il Iu). }
    eauto 6. }
  assert (forall hs qs, Forall2 (fun h q => check_region (its_signs v) h = Some q) hs qs ->
    incl hs (its_regions v) -> incl qs l -> exists m,
    (forall ws f, In (ws, f) m -> exists h rs, In h (its_regions v) /\ facts v h rs f /\
      ws = walls num_bounds (its_signs v) (its_region h) rs) /\
    List.map snd m = List.map snd qs) as K.
  { clear F Ne At Hf. intros hs qs G. induction G as [|h [us f] hs qs O G IH]; intros Ih Iq.
    { exists []. split; [intros ws f []|auto]. }
    destruct IH as (m & A & B). { intros z Z. apply Ih. right; auto. }
    { intros z Z. apply Iq. right; auto. }
    assert (In h (its_regions v)) as J by (apply Ih; left; auto).
    destruct (region_facts v h us f I J O) as (rs & Fa).
    { intros u Iu. apply (U (us, f)); auto. apply Iq. left; auto. }
    exists ((walls num_bounds (its_signs v) (its_region h) rs, f) :: m). split.
    - intros ws f' [[= <- <-]|M]; eauto.
    - simpl. congruence. }
  destruct (K _ _ F (incl_refl _) (incl_refl _)) as (m & A & B). exists m. split.
  { intros ->. destruct l; [tauto|discriminate]. }
  split; [|intros h J; destruct (Hf h J) as (us & f & rs & _ & Fa); eauto].
  split; auto. intros q f ws M Nq.
  assert (forall f, In f (List.map snd l) <-> exists ws, In (ws, f) m) as Snd.
  { intro f'. rewrite <- B, in_map_iff. split.
    - intros ([w g] & <- & J). eauto.
    - intros (w & J). exists (w, f'). auto. }
  assert (forall f, In f (List.map snd l) -> forall q, In q (nodes f) \/ In q (needed f) ->
    Forall is_sign q) as Sq.
  { intros f' Jf q' Q. apply Snd in Jf as (w & J). destruct (A _ _ J) as (h & rs & Jh & Fa & ->).
    destruct Fa as (R & Fc & Lc & Ck & Cs & Zc & Ru & _).
    refine (run_signs _ _ _ _ Ru _ (Forall_nil _) _ q' Q); [|intros z [[]|[]]].
    apply Forall_forall. intros z Z.
    destruct (walls_in _ _ _ _ _ Z) as (i & _ & Li & _ & _ & _ & E).
    unfold one_sign. rewrite E. rewrite Forall_forall in Fc. apply Fc, nth_In. auto. }
  unfold all_there in At. rewrite forallb_forall in At.
  assert (In q (flat_map (fun q => needed (snd q)) l)) as Jq.
  { assert (In f (List.map snd l)) as J by (apply Snd; eauto).
    apply in_map_iff in J as (z & <- & J). apply in_flat_map. eauto. }
  specialize (At q Jq). apply has_member, has_puts in At. destruct At as [At|At]; [|destruct At].
  apply in_map_iff in At as (q' & Eq & J'). apply in_flat_map in J' as ([us' f'] & Jl & Jn).
  cbn [snd] in Jn. assert (In f' (List.map snd l)) as Jf.
  { apply in_map_iff. exists (us', f'). auto. }
  apply key_same in Eq.
  - subst q'. apply Snd in Jf as (w & J). eauto.
  - apply (Sq f'); auto.
  - apply (Sq f); auto. apply Snd. eauto.
Qed.

(** Near a vertex, each point is in the closure of a region around it. *)
Lemma complete_ok u : is_corner u ->
  complete_at nat plane_point inequality value corner snd around_corner u.
Proof.
  intros Cu y D F. pose proof Cu as (I & _). destruct (all_facts _ I) as (l & Ne & (A & B) & _).
  assert (forall i, sg (snd u) i <> 0%Z -> sg y i = sg (snd u) i) as Same.
  { intros i N. destruct (F i); [tauto|congruence]. }
  assert (forall h rs f, In h (its_regions (fst u)) -> facts (fst u) h rs f ->
    forall i, sg (snd u) i <> 0%Z -> sg y i = 0%Z \/ sg y i = sf (its_region h) i) as Besides.
  { intros h rs f J Fa i N. right. rewrite (Same i N).
    destruct (corner_face u h rs f Cu Fa i); [tauto|auto]. }
  assert (exists ws f, In (ws, f) l) as (ws0 & f0 & J0).
  { destruct l as [|[ws f] m]; [tauto|]. exists ws, f. left; auto. }
  destruct (A _ _ J0) as (h0 & rs0 & Jh0 & Fa0 & _).
  destruct (all_around (whole (N.to_nat d)) l (delta u y) (zero_signs u y) Ne) as (ws & f & J & G).
  - intros ws f J. destruct (A _ _ J) as (h & rs & Jh & Fa & ->). pose proof Fa as Fa'.
    destruct Fa' as (_ & _ & _ & _ & _ & _ & Ru & _). split; auto.
    split; [apply (wall_signs u h rs f); auto|].
    apply (signs_right u h rs f); auto. apply (Besides h rs f); auto.
  - intros ws f q J Q. apply (B q f ws); auto.
  - apply delta_whole.
  - destruct (A _ _ J) as (h & rs & Jh & Fa & ->). exists (sf (its_region h)). split.
    { unfold around_corner, regions_at. apply in_map, in_map. auto. }
    apply (agrees u h rs f); auto. apply (Besides h rs f); auto.
Qed.

(** Near the inner point of a region all points have its signs. *)
Lemma region_open v h : In v vs -> In h (its_regions v) ->
  exists x, inner p (has_signs p (skipn num_bounds (its_region h))) x /\ in_interior p x.
Proof.
  intros I J. destruct (all_facts v I) as (_ & _ & _ & Hf).
  destruct (Hf h J) as (rs & f & E & _ & _ & (q & Ck) & _ & Zc & _). set (c := its_region h) in *.
  destruct (check_signs_ok _ _ _ E Ck) as (X & D & S & Lc & Lr & Pos & W).
  set (x := List.map Q2R q) in *. exists x.
  assert (exists e, 0 < e /\ forall y, near e x y -> Forall (fun r => (0 < snd r)%Z /\
    sign_of (ap (V y) r) = sign_of (ap (V x) r)) rs) as (e & Pe & N).
  { assert (Forall (fun r => sign_of (ap (V x) r) <> 0%Z \/ is_constant r = true) rs) as Nr.
    { apply Forall_forall. intros r R. apply (In_nth _ _ ([], 1%Z)) in R as (i & Li & <-).
      destruct (Z.eq_dec (nth i c 1%Z) 0) as [Z0|N0]; [right; apply Zc; auto; rewrite <- Lr;
        exact Li|left].
      rewrite <- W, map_map in S. intro Q. apply N0. rewrite <- S.
      rewrite (nth_indep _ 1%Z (sign_of (ap (V x) ([], 1%Z)))) by (rewrite map_length; auto).
      rewrite (map_nth (fun r => sign_of (ap (V x) r))). auto. }
    clear - Pos Nr. induction rs as [|r rs IH].
    { exists 1. split; [lra|]. constructor. }
    inversion Pos as [|? ? [P O] Pos']; subst. inversion Nr as [|? ? Nz Nr']; subst.
    destruct (IH Pos' Nr') as (e & Pe & K).
    assert (exists e, 0 < e /\ forall y, near e x y ->
      sign_of (ap (V y) r) = sign_of (ap (V x) r)) as (e' & Pe' & K').
    { destruct Nz as [Nz|Cn].
      2:{ exists 1. split; [lra|]. intros y _. unfold ap.
          rewrite (constant_val (V y) _ eq_refl Cn), (constant_val (V x) _ eq_refl Cn). auto. }
      pose proof (IZR_lt _ _ P) as P'. pose proof (Rinv_0_lt_compat _ P') as P''.
      unfold ap, Rdiv in *.
      destruct (sign_cases (val (V x) (fst r) * / IZR (snd r))) as [[Z Q]|[[Z Q]|[Z Q]]].
      - destruct (stays_positive d V V_near x (fst r) O) as (e' & Pe' & K'). { nra. }
        exists e'. split; auto. intros y Y. rewrite Q. apply sign_pos. specialize (K' y Y). nra.
      - destruct (stays_positive d V V_near x (fneg (fst r)) (val_fneg_over d _ O))
          as (e' & Pe' & K'). { rewrite val_fneg. nra. }
        exists e'. split; auto. intros y Y. rewrite Q. apply sign_neg. specialize (K' y Y).
        rewrite val_fneg in K'. nra.
      - tauto. }
    exists (Rmin e e'). split. { apply Rmin_glb_lt; auto. }
    intros y Y. constructor.
    - split; auto. apply K'. eapply near_less; [apply Rmin_r|exact Y].
    - apply K. eapply near_less; [apply Rmin_l|exact Y]. }
  assert (forall y, in_plane p y -> near e x y -> in_domain (area p) y /\
    signs (network p) y = skipn num_bounds c) as Near.
  { intros y Y M. specialize (N y M).
    assert (List.map (fun r => sign_of (ap (V y) r)) rs = c) as Sy.
    { rewrite <- S, <- W, map_map. apply map_ext_in. intros r Ir.
      rewrite Forall_forall in N. apply (N r Ir). }
    assert (List.map (ap (V y)) rs = values y) as Wy.
    { apply (rows_right y c rs Y E). right. rewrite Sy. apply fc_refl. }
    assert (List.map sign_of (values y) = c) as Cy by (rewrite <- Wy, map_map; auto).
    split.
    - apply in_domain_iff; auto. apply (in_domain_iff x X) in D.
      assert (List.map sign_of (List.map (ap (V y)) bounds) =
        List.map sign_of (List.map (ap (V x)) bounds)) as Q.
      { pose proof S as S'. rewrite <- Cy in S'. unfold values in S'. rewrite !map_app in S'.
        apply (f_equal (firstn num_bounds)) in S'.
        assert (forall a b : list Z, List.length a = num_bounds -> firstn num_bounds (a ++ b) = a)
          as Fi.
        { intros a b L. rewrite <- L, firstn_app, firstn_all, Nat.sub_diag. simpl.
          apply app_nil_r. }
        rewrite !Fi in S' by (rewrite !map_length; auto). auto. }
      clear - Q D. induction bounds as [|r l IH]; constructor; inversion D; subst;
        simpl in Q; injection Q as Q1 Q2; auto.
      destruct (sign_cases (ap (V y) r)) as [[A B]|[[A B]|[A B]]]; try lra.
      rewrite B in Q1. destruct (sign_cases (ap (V x) r)) as [[A' B']|[[A' B']|[A' B']]];
        rewrite B' in Q1; try discriminate; lra.
    - rewrite <- Cy. unfold values. rewrite map_app, skip_bounds by (rewrite !map_length; auto).
      rewrite zs_signs. reflexivity. }
  assert (forall y e', in_plane p y -> 0 < e' -> (forall z,
    in_plane p z -> near e' y z -> near e x z) ->
    in_interior p y) as Int.
  { intros y e' Y P' K'. split; auto. exists e'. split; auto. intros z Z M. apply Near; auto. }
  split.
  - split; auto. exists (e / 2). split; [lra|]. intros y Y M. split.
    + apply (Int y (e / 2)); auto; [lra|]. intros z Z M'. replace e with (e / 2 + e / 2) by lra.
      eapply near_trans; eauto.
    + apply Near; auto. eapply near_less; [|exact M]. lra.
  - apply (Int x e); auto.
Qed.

(** What the check finds out, for all listed vertices together. *)
Definition all_checked (us : list corner) : Prop :=
  Forall is_corner us /\ us <> [] /\
  forall u, In u us -> inside (snd u) /\
    complete_at nat plane_point inequality value corner snd around_corner u /\
    forall s, In s (around_corner u) ->
      region_ends nat plane_point inequality value kept corner snd us u s.

Lemma corners_checked : exists us, all_checked us.
Proof.
  destruct corners_exist as (us & Us & Mu). exists us. split; auto.
  split. { intros ->. simpl in Mu. apply some_vertex. auto. }
  intros u Iu. pose proof Us as Us'. rewrite Forall_forall in Us'. pose proof (Us' u Iu) as Cu.
  split; [apply Cu|]. split; [apply complete_ok; auto|]. intros s Is.
  apply in_map_iff in Is as (c & <- & Ic). apply in_map_iff in Ic as (h & <- & Ih).
  destruct (all_facts _ (proj1 Cu)) as (_ & _ & _ & Hf). destruct (Hf h Ih) as (rs & f & Fa).
  apply (edges_ok u h rs f Cu Fa us Us Mu).
Qed.

Lemma bounds_place r : In r sl -> is_constant r = true \/
  exists i, (i < num_bounds)%nat /\ r = nth i bounds ([], 1%Z).
Proof.
  intro I. destruct (is_constant r) eqn:C; auto. right.
  assert (In r bounds) as J by (apply filter_In; rewrite C; auto).
  apply (In_nth _ _ ([], 1%Z)) in J as (i & L & E). exists i. auto.
Qed.

Lemma signs_of_rows v w x y l m :
  Forall2 (fun r row => rep v r (IZR (snd row) - dot (fst row) x)) l m ->
  Forall2 (fun r row => rep w r (IZR (snd row) - dot (fst row) y)) l m ->
  (forall r, In r l -> fc (sign_of (ap v r)) (sign_of (ap w r))) ->
  Forall2 fc (List.map (fun r => sign_of (IZR (snd r) - dot (fst r) x)) m)
    (List.map (fun r => sign_of (IZR (snd r) - dot (fst r) y)) m).
Proof.
  assert (forall v r z, rep v r z -> ap v r = z) as Ap.
  { intros u r z [P E]. unfold ap. rewrite E. apply IZR_lt in P. field. lra. }
  intro A. induction A as [|r row l m P A IH]; intros B K; simpl; [constructor|].
  inversion B as [|? ? ? ? P' B']; subst.
  constructor; [|apply IH; auto; intros r' I; apply K; right; auto].
  specialize (K r (or_introl eq_refl)). rewrite (Ap _ _ _ P), (Ap _ _ _ P') in K. exact K.
Qed.

(** The signs of all forms, and those of all inequalities and neurons. *)
Lemma face_below (x y : plane_point) : face (sg x) (sg y) ->
  below p (proj1_sig x) (proj1_sig y).
Proof.
  intro F. unfold below, all_signs. apply Forall2_app.
  - destruct (at_plane _ (proj2_sig x)) as (_ & _ & _ & A).
    destruct (at_plane _ (proj2_sig y)) as (_ & _ & _ & B).
    assert (forall r, In r sl -> fc (sign_of (ap (V (proj1_sig x)) r))
      (sign_of (ap (V (proj1_sig y)) r))) as K.
    { intros r I. destruct (bounds_place r I) as [C|(i & L & ->)].
      - right. unfold ap. rewrite !(constant_val _ _ eq_refl C). auto.
      - specialize (F i). unfold VertexLists.sg in F.
        rewrite (value_bound p d sl i x L), (value_bound p d sl i y L) in F. exact F. }
    apply (signs_of_rows _ _ _ _ _ _ A B K).
  - assert (Forall2 fc (List.map sign_of (values (proj1_sig x)))
      (List.map sign_of (values (proj1_sig y)))) as A.
    { apply Forall2_nth with 0%Z 0%Z. { rewrite !map_length, !values_length. auto. }
      intros i _. rewrite <- !sg_nth. apply F. }
    unfold VertexRows.values in A. rewrite !map_app, !zs_signs in A.
    apply Forall2_app_inv_l in A as (a & b & A1 & A2 & E).
    apply app_same in E as [<- <-]; auto.
    apply Forall2_len in A1. rewrite <- A1, !map_length. auto.
Qed.

Theorem none_missing :
  no_vertex_missing p (List.map (fun v => List.map Q2R (its_point v)) vs).
Proof.
  split.
  - apply Forall_map, Forall_forall. intros v I. destruct (known v I) as [(rs & R & C) _].
    destruct (check_signs_ok _ _ _ R C) as (X & D & _). split; auto.
  - intros x [X D]. destruct corners_checked as (us & Us & Ne & Checked).
    destruct (vertex_below nat plane_point all_forms inequality value kept forms_or_zero connected
      corner snd us around_corner Checked Ne (exist _ x X)) as (u & Iu & F).
    { apply inside_iff. auto. }
    apply face_below in F. cbn [proj1_sig] in F. rewrite Forall_forall in Us.
    destruct (Us u Iu) as (I & _ & S). destruct (known _ I) as [(rs & R & C) _].
    destruct (check_signs_ok _ _ _ R C) as (Y & _ & S' & _).
    set (y := List.map Q2R (its_point (fst u))) in *. exists y. split.
    { apply in_map_iff. exists (fst u). auto. }
    assert (below p y (proj1_sig (snd u))) as B.
    { apply (face_below (exist _ y Y) (snd u)). intro i. right. rewrite !sg_nth.
      cbn [proj1_sig]. congruence. }
    unfold below in *. clear - B F. revert F. generalize (all_signs p x) as b.
    induction B as [|a a' l l' H B IH]; intros b F; inversion F as [|? ? ? ? H' F']; subst;
      constructor; auto. destruct H as [H|H]; auto. rewrite H. auto.
Qed.

(** Points of an open set with the signs [t] lie in a region around a vertex. *)
Lemma open_listed t x : inner p (has_signs p t) x -> In t region_signs.
Proof.
  intros (X & e & Pe & K). destruct corners_checked as (us & Us & Np & Checked).
  destruct (K x X (near_refl e x Pe)) as [[_ (e0 & Pe0 & K0)] _].
  pose proof (K0 x X (near_refl e0 x Pe0)) as D.
  set (xp := exist _ x X : plane_point).
  assert (inside xp) as Dx by (apply inside_iff; auto).
  destruct (all_found nat plane_point all_forms inequality value kept forms_or_zero connected
    corner snd us around_corner Checked Np xp Dx) as (_ & u & s & Iu & Is & Cx).
  apply in_map_iff in Is as (c & <- & Ic). apply in_map_iff in Ic as (h & <- & Ih).
  pose proof Us as Us'. rewrite Forall_forall in Us'. destruct (Us' u Iu) as (Iv & _).
  destruct (all_facts _ Iv) as (_ & _ & _ & Hf).
  destruct (Hf h Ih) as (rs & f & E & _ & Lc0 & (q & Ck) & _ & Zc & _).
  set (c := its_region h) in *.
  assert (Forall2 fc (List.map sign_of (values x)) c) as Fx.
  { rewrite <- (sf_list c Lc0). apply (face_list xp). auto. }
  destruct (check_signs_ok _ _ _ E Ck) as (Y & Dy & Sy & Lc & Lr & Pos & W).
  set (y := List.map Q2R q) in *.
  assert (List.length x = List.length y) as LM by (destruct X, Y; congruence).
  destruct (on_line_near e x Pe y LM) as (t0 & T0 & Kn).
  set (tt := Rmin t0 1). assert (0 < tt <= 1) as Tt.
  { unfold tt. split; [apply Rmin_glb_lt; lra|apply Rmin_r]. }
  set (z := on_line tt x y). assert (in_plane p z) as Z by (apply line_in_plane; auto).
  assert (near e x z) as M. { apply Kn. rewrite Rabs_right by lra. apply Rmin_l. }
  destruct (K z Z M) as [_ Sz].
  assert (List.map (ap (V x)) rs = values x) as Wx.
  { apply (rows_right x c rs X E). left. auto. }
  assert (List.map (fun r => sign_of (ap (V z) r)) rs = c) as Cz.
  { rewrite <- Wx, map_map in Fx. rewrite <- W, map_map in Sy. unfold z.
    assert (Forall (fun r => sign_of (ap (V y) r) <> 0%Z \/ is_constant r = true) rs) as Nr.
    { apply Forall_forall. intros r R. apply (In_nth _ _ ([], 1%Z)) in R as (i & Li & <-).
      destruct (Z.eq_dec (nth i c 1%Z) 0) as [Z0|N0]; [right; apply Zc; auto; rewrite <- Lr;
        exact Li|left].
      intro Q. apply N0. rewrite <- Sy.
      rewrite (nth_indep _ 1%Z (sign_of (ap (V y) ([], 1%Z)))) by (rewrite map_length; auto).
      rewrite (map_nth (fun r => sign_of (ap (V y) r))). auto. }
    clearbody y. clear - Fx Sy X Y Nr Tt. clearbody c. revert c Fx Sy.
    induction rs as [|r rs IH]; intros c Q Sy; simpl in *; auto.
    destruct c as [|e c]; [discriminate|]. injection Sy as S1 S2.
    inversion Q as [|? ? ? ? Q1 Q2]. inversion Nr as [|? ? Nz1 Nr2].
    f_equal; [|apply IH; assumption].
    destruct Nz1 as [Nz1|Cn].
    2:{ rewrite <- S1. unfold ap. rewrite (constant_val (V y) _ eq_refl Cn).
        rewrite (constant_val (V (on_line tt x y)) _ eq_refl Cn). auto. }
    rewrite ap_line by auto.
    set (a := ap (V x) r) in *. set (b := ap (V y) r) in *. clearbody a b.
    clear - Q1 S1 Nz1 Tt.
    destruct (sign_cases b) as [[B Eb]|[[B Eb]|[B Eb]]]; rewrite Eb in S1; rewrite <- S1 in *;
      [| |congruence]; destruct (sign_cases a) as [[A Ea]|[[A Ea]|[A Ea]]]; rewrite Ea in Q1;
      try (exfalso; destruct Q1; discriminate); [apply sign_pos|apply sign_pos|apply sign_neg|
      apply sign_neg]; nra. }
  assert (List.map sign_of (values z) = c) as Vz.
  { rewrite <- (rows_right z c rs Z E), map_map; auto. right. rewrite Cz. apply fc_refl. }
  unfold region_signs. apply nodup_In, in_map_iff. exists c. split.
  - rewrite <- Sz, <- Vz. unfold values. rewrite map_app, skip_bounds by (rewrite !map_length;
      auto).
      rewrite zs_signs. reflexivity.
  - apply in_flat_map. exists (fst u). split; auto. apply in_map_iff. exists h. auto.
Qed.

(** Signs of different regions have different numbers. *)
Lemma region_keys : NoDup (List.map key region_signs) /\
  forall k, In k (List.map key region_signs) <-> has k (around st).
Proof.
  assert (forall t, In t region_signs <-> exists v h, In v vs /\ In h (its_regions v) /\
    t = skipn num_bounds (its_region h)) as Q.
  { intro t. unfold region_signs. rewrite nodup_In, in_map_iff. split.
    - intros (c & <- & J). apply in_flat_map in J as (v & I & J).
      apply in_map_iff in J as (h & <- & J). eauto.
    - intros (v & h & I & J & ->). exists (its_region h). split; auto.
      apply in_flat_map. exists v. split; auto. apply in_map_iff. eauto. }
  assert (forall t, In t region_signs -> Forall is_sign t) as S.
  { intros t T. apply Q in T as (v & h & I & J & ->). destruct (all_facts v I) as (_ & _ & _ & Hf).
    destruct (Hf h J) as (rs & f & _ & F & _).
    rewrite <- (firstn_skipn num_bounds (its_region h)) in F. apply Forall_app in F. tauto. }
  split.
  - assert (NoDup region_signs) as N by apply NoDup_nodup. revert N S. clear.
    induction region_signs as [|t l IH]; intros N S; simpl; constructor; inversion N; subst.
    + intro I. apply in_map_iff in I as (t' & K & I). apply key_same in K; [|apply S; right|apply S;
        left]; auto. congruence.
    + apply IH; auto. intros t' I. apply S. right; auto.
  - intro k. rewrite in_map_iff, (proj2 (proj2 (proj2 (vertices_added _ _ _ added)))). split.
    + intros (t & <- & T). apply Q in T as (v & h & I & J & ->). right. eauto.
    + intros [[]|(v & h & I & J & ->)].
      exists (skipn num_bounds (its_region h)). split; auto. apply Q. eauto.
Qed.

Lemma right_count : List.length region_signs = count.
Proof.
  destruct region_keys as [N H]. unfold check_complete in complete.
  apply andb_prop in complete as [C L]. apply andb_prop in C as [_ R].
  apply Nat.eqb_eq in L. apply rising_nodup in R. rewrite <- L, <- (map_length key region_signs).
  apply Nat.le_antisymm; apply NoDup_incl_length; auto; intros k K.
  - apply in_keys, H. auto.
  - apply H, in_keys. auto.
Qed.

Theorem vertices_regions : good_placed p = true -> regions_are p count.
Proof.
  intro G. pose proof some_vertex as Ne.
  split; auto. split.
  - assert (exists v, In v vs) as [v I].
    { destruct vs as [|v l]; [tauto|]. exists v. left; auto. }
    destruct (all_facts v I) as (l & Nl & (A & _) & _).
    assert (exists h, In h (its_regions v)) as [h J].
    { destruct l as [|[ws f] l']; [tauto|].
      destruct (A ws f (or_introl eq_refl)) as (h & _ & J & _). eauto. }
    destruct (region_open v h I J) as (x & _ & Q). exists x. auto.
  - exists region_signs. split; [apply NoDup_nodup|]. split; [apply right_count|]. intro t. split.
    + intro J. apply nodup_In, in_map_iff in J as (c & <- & J).
      apply in_flat_map in J as (v & I & J). apply in_map_iff in J as (h & <- & J).
      destruct (region_open v h I J) as (x & Q & _). exists x. auto.
    + intros (x & Q). apply (open_listed t x Q).
Qed.
End Accepted.
End Rule.

(** * The calls of the driver *)

Open Scope string_scope.

(** The state between two lines: the coordinates, the forms of the inputs and of the inequalities,
    and what the vertices have. *)
Record corner_progress := CornerProgress {
  num_coordinates : N; input_scale : Z; input_forms : list form; slack_forms : list rform;
  corners_so_far : corners
}.

(** The product of the denominators of all layers with neurons that have a ReLU. *)
Fixpoint denominators_fit (m : Z) (ls : list layer) (last_relu : bool) : bool :=
  match ls with
  | [] => true
  | l :: ls' =>
      match ls', last_relu with
      | [], false => true
      | _, _ => short max_grown_bits (m * den l) && denominators_fit (m * den l) ls' last_relu
      end
  end.

Definition start_vertices (p : placed) : answer corner_progress :=
  within (good_placed p) "claim: a network of a wrong shape, or rows of another length"
  (with_domain (Pair (num_inputs p) (network p) (network p) (area p))
     match setup (num_inputs p) (area p) with
     | None => Rejected "claim.domain: not in reduced echelon form"
     | Some (d, scale, fs, sl) =>
         require (constants_hold sl) "vertices: the domain is empty"
         (within (denominators_fit 1 (layers (network p)) (relu_last (network p)))
            "vertices: beyond the limits: the product of the denominators of the layers"
            (Good (CornerProgress d scale fs sl (Corners E E E))))
     end).

Definition next_vertex (p : placed) (s : corner_progress) (v : vertex) : answer corner_progress :=
  let '(CornerProgress d scale fs sl st) := s in
  match add_vertex p d scale fs sl st v with
  | None => Rejected "a vertex twice, or its signs, a region at it, or an edge do not follow"
  | Some st' => Good (CornerProgress d scale fs sl st')
  end.

Fixpoint next_vertices (p : placed) (s : corner_progress) (vs : list vertex) :
  answer corner_progress :=
  match vs with
  | [] => Good s
  | v :: vs' => and_then (next_vertex p s v) (fun s' => next_vertices p s' vs')
  end.

Definition check_vertex_count (s : corner_progress) (count : nat) : answer unit :=
  let st := corners_so_far s in
  require (match seen st with E => false | _ => true end) "vertices: no vertex"
  (require (forallb (fun k => member k (seen st)) (keys (ends st)))
     "edges: an edge ends at no vertex of the list"
  (require (check_complete st count) "claim.count: another number of regions" (Good tt))).

Close Scope string_scope.

(** An accepted list of vertices proves its claim, and that no vertex is missing. *)
Theorem vertices_hold p s vs s' count :
  start_vertices p = Good s -> next_vertices p s vs = Good s' ->
  check_vertex_count s' count = Good tt -> regions_are p count /\
  no_vertex_missing p (List.map (fun v => List.map Q2R (its_point v)) vs).
Proof.
  unfold start_vertices, check_vertex_count. intros S N C.
  apply within_good in S as [G S]. apply with_domain_good in S as (_ & _ & S).
  destruct (setup _ _) as [[[[d scale] fs] sl]|] eqn:T; [|discriminate].
  apply require_good in S as [K S]. apply within_good in S as [_ S]. injection S as <-.
  apply require_good in C as [_ C]. apply require_good in C as [_ C].
  apply require_good in C as [C _].
  assert (folded (add_vertex p d scale fs sl) vs (Corners E E E) = Some (corners_so_far s')) as A.
  2:{ split; [eapply vertices_regions|eapply none_missing]; eauto. }
  clear - N. revert N. generalize (Corners E E E). induction vs as [|v vs IH]; intros st N.
  { injection N as <-. auto. }
  cbn [next_vertices] in N. apply and_then_good in N as (s1 & N1 & N). cbn [folded].
  unfold next_vertex in N1. destruct (add_vertex p d scale fs sl st v) as [st'|]; [|discriminate].
  injection N1 as <-. apply IH. auto.
Qed.

(** What the driver needs to find points and slopes; nothing is proved about it. *)
Definition signed_rows (p : placed) (s : corner_progress) (signs : list Z) : option (list rform) :=
  rows p (input_scale s) (input_forms s) (slack_forms s) signs.
Definition num_signs (p : placed) (s : corner_progress) : nat := num_forms p (slack_forms s).
Definition num_bound_signs (s : corner_progress) : nat := num_bounds (slack_forms s).
