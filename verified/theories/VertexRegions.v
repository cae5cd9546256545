(** Theorem [vertices]: lists of regions by lists of vertices whose zeros are independent (claim
    regions, FORMAT.md, section 5.3). *)
Require Import String ZArith NArith QArith Qreals Reals List Bool Lra Lia Psatz.
Require Import FunctionalExtensionality.
From PolyreluVerified Require Import Verdicts Maps Networks Domains Claims RegionLists Limits.
From PolyreluVerified Require Import Numbers LinearForms JointNetwork Coordinates Trees.
From PolyreluVerified Require Import Points Checker RegionTrees Regions Pieces VertexLists.
Import ListNotations.
Open Scope R_scope.
Open Scope list_scope.

(** * Forms for a choice of neurons that are on *)

Fixpoint keep_forms (s : list Z) (fs : list form) : list form :=
  match s, fs with
  | e :: s', f :: fs' => (if (e =? 1)%Z then f else []) :: keep_forms s' fs'
  | _, _ => []
  end.

Fixpoint neuron_rows (ls : list layer) (lr : bool) (s : list Z) (F : acts) :
  option (list rform) :=
  match ls with
  | [] => Some []
  | l :: ls' =>
      match ls', lr with
      | [], false => Some []
      | _, _ =>
          match preforms F l with
          | None => None
          | Some (fs, D) =>
              let n := List.length fs in
              match neuron_rows ls' lr (skipn n s) (F ++ [(keep_forms (firstn n s) fs, D)]) with
              | None => None
              | Some rest => Some (List.map (fun f => (f, D)) fs ++ rest)
              end
          end
      end
  end.

Fixpoint zs_from (ls : list layer) (lr : bool) (A : list (list R)) : list R :=
  match ls with
  | [] => []
  | l :: ls' =>
      let z := List.map (pre A (den l)) (neurons l) in
      match ls', lr with
      | [], false => []
      | _, _ => z ++ zs_from ls' lr (A ++ [List.map relu z])
      end
  end.

Definition ap (v : N -> R) (r : rform) : R := val v (fst r) / IZR (snd r).
Definition fc (e f : Z) : Prop := e = 0%Z \/ e = f.

Lemma zs_signs ls lr : forall A, List.map sign_of (zs_from ls lr A) = signs_from ls lr A.
Proof.
  induction ls as [|l ls IH]; intro A; auto. simpl.
  destruct ls, lr; auto; rewrite map_app, IH; auto.
Qed.

Lemma keep_scaled v D fs zs : (0 < D)%Z -> Forall2 (scaled v D) fs zs -> forall s,
  Forall2 fc (List.map sign_of zs) s ->
  Forall2 (scaled v D) (keep_forms s fs) (List.map relu zs).
Proof.
  intros P F. induction F as [|f z fs zs H F IH]; intros s G; inversion G as [|? e ? s' Q Qs];
    subst;
    simpl; constructor; auto. unfold scaled in *.
  destruct (sign_cases z) as [[Z E]|[[Z E]|[Z E]]]; rewrite E in Q; destruct Q as [Q|Q];
    try discriminate; subst; simpl.
  - rewrite relu_pos by lra. auto.
  - rewrite relu_neg by lra. lra.
  - rewrite relu_neg by lra. destruct (e =? 1)%Z; simpl; lra.
  - rewrite relu_neg by lra. lra.
Qed.

Lemma ap_scaled v D fs zs : (0 < D)%Z -> Forall2 (scaled v D) fs zs ->
  List.map (ap v) (List.map (fun f => (f, D)) fs) = zs.
Proof.
  intros P F. apply IZR_lt in P. induction F as [|f z fs zs H F IH]; simpl; auto. f_equal; auto.
  unfold ap, scaled in *. cbn [fst snd]. rewrite H. field. lra.
Qed.

Lemma Forall2_split {X Y} (P : X -> Y -> Prop) a b s : Forall2 P (a ++ b) s ->
  Forall2 P a (firstn (List.length a) s) /\ Forall2 P b (skipn (List.length a) s).
Proof.
  revert s. induction a as [|x a IH]; intros s F; simpl in *; [auto|].
  inversion F as [|? y ? s' Q Qs]; subst. destruct (IH s' Qs). simpl. auto.
Qed.

Lemma rows_ok v ls lr : v 0%N = 1 -> forall s F A rs, Forall2 (act_ok v) F A ->
  neuron_rows ls lr s F = Some rs ->
  (Forall2 fc (List.map sign_of (zs_from ls lr A)) s \/
   Forall2 fc (List.map (fun r => sign_of (ap v r)) rs) s) ->
  List.map (ap v) rs = zs_from ls lr A.
Proof.
  intro V0. induction ls as [|l ls IH]; intros s F A rs O E C.
  { injection E as <-. auto. }
  assert (match ls, lr with [], false => True | _, _ => False end \/
          match ls, lr with [], false => False | _, _ => True end) as [K|K]
    by (destruct ls, lr; auto).
  { destruct ls, lr; try tauto. simpl in *. injection E as <-. auto. }
  assert (forall X (y z : X), match ls, lr with [], false => y | _, _ => z end = z) as M
    by (intros; destruct ls, lr; tauto).
  cbn [neuron_rows] in E. rewrite M in E. cbn [zs_from] in *. cbv zeta in *. rewrite M in *.
  destruct (preforms F l) as [[fs D]|] eqn:P; [|discriminate].
  destruct (preforms_ok v F A l fs D V0 O P) as [HD G].
  set (zs := List.map (pre A (den l)) (neurons l)) in *.
  destruct (neuron_rows ls lr _ _) as [rest|] eqn:J; [|discriminate]. injection E as <-.
  pose proof (ap_scaled v D fs zs HD G) as Q.
  enough (List.map (ap v) rest = zs_from ls lr (A ++ [List.map relu zs])) as W
    by (rewrite map_app; unfold rform in *; rewrite Q, W; auto).
  assert (List.length fs = List.length zs) as L by (apply Forall2_len in G; auto).
  assert (Forall2 fc (List.map sign_of zs) (firstn (List.length fs) s) /\
    (Forall2 fc (List.map sign_of (zs_from ls lr (A ++ [List.map relu zs])))
       (skipn (List.length fs) s) \/
     Forall2 fc (List.map (fun r => sign_of (ap v r)) rest) (skipn (List.length fs) s)))
    as [C1 C2].
  { destruct C as [C|C]; rewrite map_app in C; apply Forall2_split in C as [C1 C2].
    - rewrite !map_length, <- L in *. auto.
    - rewrite !map_length in *. split; auto.
      rewrite <- Q, map_map. exact C1. }
  apply (IH (skipn (List.length fs) s) (F ++ [(keep_forms (firstn (List.length fs) s) fs, D)]));
    auto.
  apply Forall2_app; auto. constructor; auto. split; auto. cbn [fst snd]. apply keep_scaled; auto.
Qed.

(** * The check *)

Definition is_constant (r : rform) : bool := forallb (fun q => (fst q =? 0)%N) (fst r).
Definition constant_of (f : form) : Z := fold_right (fun q s => (snd q + s)%Z) 0%Z f.

Fixpoint num_hidden (ls : list layer) (lr : bool) : nat :=
  match ls with
  | [] => 0
  | l :: ls' =>
      match ls', lr with
      | [], false => 0
      | _, _ => List.length (neurons l) + num_hidden ls' lr
      end
  end.

(** The signs of the regions around a vertex with the signs [s], the first [k] of inequalities. *)
Fixpoint choices (k : nat) (s : list Z) : list (list Z) :=
  match s with
  | [] => [[]]
  | e :: s' =>
      let rest := choices (pred k) s' in
      if (e =? 0)%Z then
        match k with
        | O => List.map (cons 1%Z) rest ++ List.map (cons (-1)%Z) rest
        | _ => List.map (cons 1%Z) rest
        end
      else List.map (cons e) rest
  end.

Fixpoint zs_eqb (a b : list Z) : bool :=
  match a, b with
  | [], [] => true
  | x :: a', y :: b' => (x =? y)%Z && zs_eqb a' b'
  | _, _ => false
  end.

(** A function that may fail, on all choices from the left to the right; [before] are the signs that
    are chosen already, backwards. *)
Fixpoint over_choices {A} (f : A -> list Z -> option A) (k : nat) (s before : list Z) (a : A) :
  option A :=
  match s with
  | [] => f a (rev_append before [])
  | e :: s' =>
      if (e =? 0)%Z then
        let? a' := over_choices f (pred k) s' (1%Z :: before) a in
        match k with
        | O => over_choices f O s' ((-1)%Z :: before) a'
        | _ => Some a'
        end
      else over_choices f (pred k) s' (e :: before) a
  end.

Fixpoint folded {A B} (f : A -> B -> option A) (l : list B) (a : A) : option A :=
  match l with [] => Some a | b :: l' => let? a' := f a b in folded f l' a' end.

(** A number for a list of signs. *)
Fixpoint key (s : list Z) : N :=
  match s with
  | [] => 1
  | e :: s' => 4 * key s' + match e with Z0 => 1 | Zpos _ => 2 | Zneg _ => 0 end
  end%N.

(** An edge at a vertex, on which all zeros of the vertex but one are 0: this zero; the slopes of
    all forms where the form of this zero has the slope 1; and the signs at its end, if it has one. *)
Record edge := Edge { its_zero : nat; its_slopes : list Q; its_end : option (list Z) }.

(** Of a region around a vertex a point inside, and its edges, one for each zero of the vertex. *)
Record region_hint := RegionHint { inner_point : list Q; its_edges : list edge }.

(** A vertex, with a function that finds what is needed for the regions around it. *)
Record vertex := Vertex { its_signs : list Z; its_point : list Q;
  its_hint : list Z -> region_hint }.

(** What the vertices so far have: their signs, the signs of the ends of edges, and the signs of all
    neurons in the regions around them. *)
Record corners := Corners { seen : nset; ends : nset; around : nset }.

(** The forms minus these multiples of a form. *)
Fixpoint subtract (z : rform) (rs : list rform) (qs : list Q) : list rform :=
  match rs, qs with
  | r :: rs', q :: qs' =>
      (if (Qnum q =? 0)%Z then r else raxpy r (- Qnum q) (Zpos (Qden q)) z) :: subtract z rs' qs'
  | _, _ => []
  end.

(** With signs [c], no form comes nearer to 0 along the edge where a form with the sign [e] leaves
    0. *)
Fixpoint goes_on (e : Z) (c : list Z) (qs : list Q) : bool :=
  match c, qs with
  | x :: c', q :: qs' => (0 <=? x * Qnum q * e)%Z && goes_on e c' qs'
  | _, _ => true
  end.

(** A point with the signs [u] is in the closure of the region with the signs [c]; and of the zeros
    of the signs [s], counted from [i] on, exactly the one with the number [b] is not 0 there. *)
Fixpoint ends_at_signs (i b : nat) (s c u : list Z) : bool :=
  match s, c, u with
  | e :: s', x :: c', y :: u' =>
      (if (e =? 0)%Z then if Nat.eqb i b then (y =? x)%Z else (y =? 0)%Z
       else (y =? 0)%Z || (y =? x)%Z) && ends_at_signs (S i) b s' c' u'
  | [], [], [] => true
  | _, _, _ => false
  end.

(** The places of the zeros, counted from [i] on. *)
Fixpoint places (i : nat) (s : list Z) : list nat :=
  match s with
  | [] => []
  | e :: s' => if (e =? 0)%Z then i :: places (S i) s' else places (S i) s'
  end.

Fixpoint same_places (a b : list nat) : bool :=
  match a, b with
  | [], [] => true
  | i :: a', j :: b' => Nat.eqb i j && same_places a' b'
  | _, _ => false
  end.

Section Rule.
Variables (p : placed) (d : N) (scale : Z) (fs : list form) (sl : list rform).

Definition bounds : list rform := filter (fun r => negb (is_constant r)) sl.
Definition num_bounds : nat := List.length bounds.
Definition num_forms : nat :=
  (num_bounds + num_hidden (layers (network p)) (relu_last (network p)))%nat.
Definition rows (s : list Z) : option (list rform) :=
  match neuron_rows (layers (network p)) (relu_last (network p)) (skipn num_bounds s)
          [(fs, scale)] with
  | Some hs => Some (bounds ++ hs)
  | None => None
  end.

Definition point_at (x : list Q) : option (nmap Z) :=
  match scaled_point (num_inputs p) (area p) x with
  | Some (b, z) => Some (put_coordinates (columns (num_inputs p) (area p)) z (nadd 0%N b E))
  | None => None
  end.

Definition sign_at (point : nmap Z) (r : rform) : option Z :=
  if (0 <? snd r)%Z && over_coordinates d (fst r) then
    match value_at point (fst r) with Some y => Some (Z.sgn y) | None => None end
  else None.

(** At the point in the domain the forms [rs], those for the signs [s], have these signs. *)
Definition check_signs (s : list Z) (rs : list rform) (x : list Q) : bool :=
  match point_at x with
  | Some point =>
      Nat.eqb (List.length rs) num_forms && Nat.eqb (List.length s) num_forms &&
      match mapo (sign_at point) rs with Some t => zs_eqb t s | None => false end
  | None => false
  end.

Definition remainders (rs : list rform) (es : list edge) : list rform :=
  fold_right (fun e acc => subtract (nth (its_zero e) rs ([], 1%Z)) acc (its_slopes e)) rs es.

(** The end of an edge of the region with the signs [c] around a vertex with the signs [s]. *)
Definition end_of (s c : list Z) (e : edge) : option (list N) :=
  match its_end e with
  | None => if goes_on (nth (its_zero e) c 1%Z) c (its_slopes e) then Some [] else None
  | Some u => if ends_at_signs 0 (its_zero e) s c u then Some [key u] else None
  end.

(** The ends of the edges of a region; all forms are combinations of those of the zeros. *)
Definition ends_of (s c : list Z) (h : region_hint) : option (list (list N)) :=
  let? rs := rows c in
  if forallb (fun e => negb (e =? 0)%Z) c && check_signs c rs (inner_point h) &&
     same_places (List.map its_zero (its_edges h)) (places 0 s) &&
     forallb (fun e => Nat.eqb (List.length (its_slopes e)) num_forms) (its_edges h) &&
     forallb is_constant (remainders rs (its_edges h))
  then mapo (end_of s c) (its_edges h) else None.

Definition add_region (v : vertex) (st : corners) (c : list Z) : option corners :=
  let? us := ends_of (its_signs v) c (its_hint v c) in
  Some (Corners (seen st) (fold_right put (ends st) (List.concat us))
          (put (key (skipn num_bounds c)) (around st))).

Definition add_vertex (st : corners) (v : vertex) : option corners :=
  let k := key (its_signs v) in
  let? rs := rows (its_signs v) in
  if check_signs (its_signs v) rs (its_point v) && negb (member k (seen st)) then
    over_choices (add_region v) num_bounds (its_signs v) []
      (Corners (put k (seen st)) (ends st) (around st))
  else None.

(** All ends of edges are vertices, and the regions are so many. *)
Definition check_complete (st : corners) (count : nat) : bool :=
  negb (match seen st with E => true | _ => false end) &&
  forallb (fun k => member k (seen st)) (keys (ends st)) &&
  rising (keys (around st)) && Nat.eqb (List.length (keys (around st))) count.

(** Inequalities without coordinates hold. *)
Definition constants_hold : bool :=
  forallb (fun r => negb (is_constant r) || (0 <=? constant_of (fst r))%Z) sl &&
  forallb (fun r => (0 <? snd r)%Z) sl.

(** * Soundness *)

Hypothesis started : setup (num_inputs p) (area p) = Some (d, scale, fs, sl).

Definition V (x : list R) : N -> R := coordinates (num_inputs p) (area p) d x.
Definition values (x : list R) : list R :=
  List.map (ap (V x)) bounds ++ zs_from (layers (network p)) (relu_last (network p)) [x].

Lemma zs_length ls lr : forall A, List.length (zs_from ls lr A) = num_hidden ls lr.
Proof.
  induction ls as [|l ls IH]; intro A; auto. simpl.
  destruct ls, lr; auto; rewrite app_length, !map_length, IH; auto.
Qed.

Lemma values_length x : List.length (values x) = num_forms.
Proof. unfold values, num_forms. rewrite app_length, map_length, zs_length. auto. Qed.

Lemma at_plane x : in_plane p x -> (0 < scale)%Z /\
  Forall2 (coord_ok (V x)) (columns (num_inputs p) (area p)) x /\ Forall2 (scaled (V x) scale) fs x
    /\
  Forall2 (fun r row => rep (V x) r (IZR (snd row) - dot (fst row) x)) sl (ineqs (area p)).
Proof.
  intros [L Q]. destruct (setup_at _ _ _ _ _ _ started) as [S K]. split; auto.
Qed.

Lemma rows_right x s rs : in_plane p x -> rows s = Some rs ->
  Forall2 fc (List.map sign_of (values x)) s \/
  Forall2 fc (List.map (fun r => sign_of (ap (V x) r)) rs) s ->
  List.map (ap (V x)) rs = values x.
Proof.
  intros X. destruct (at_plane x X) as (P & _ & I & _). unfold rows, values.
  destruct (neuron_rows _ _ _ _) as [hs|] eqn:E; [|discriminate]. intros [= <-] C.
  rewrite map_app. f_equal. eapply (rows_ok (V x)); [reflexivity| |exact E|].
  - constructor; [|constructor]. split; auto.
  - destruct C as [C|C]; rewrite map_app in C; apply Forall2_split in C as [_ C];
      rewrite !map_length in C; auto.
Qed.

Lemma zs_eqb_ok a : forall b, zs_eqb a b = true -> a = b.
Proof.
  induction a as [|x a IH]; intros [|y b]; simpl; try discriminate; auto. intro E.
  apply andb_prop in E as [E F]. apply Z.eqb_eq in E. f_equal; auto.
Qed.

Lemma sign_pos z : 0 < z -> sign_of z = 1%Z.
Proof. intro. destruct (sign_cases z) as [[? ->]|[[? ->]|[? ->]]]; auto; lra. Qed.
Lemma sign_neg z : z < 0 -> sign_of z = (-1)%Z.
Proof. intro. destruct (sign_cases z) as [[? ->]|[[? ->]|[? ->]]]; auto; lra. Qed.
Lemma sign_zero z : z = 0 -> sign_of z = 0%Z.
Proof. intro. destruct (sign_cases z) as [[? ->]|[[? ->]|[? ->]]]; auto; lra. Qed.

Lemma sign_at_ok point b x r t : 0 < b -> all (fun s z => IZR z = b * V x s) point ->
  sign_at point r = Some t -> (0 < snd r)%Z /\ over_coordinates d (fst r) = true /\
  sign_of (ap (V x) r) = t.
Proof.
  intros B A. unfold sign_at. destruct (Z.ltb_spec 0 (snd r)) as [P|]; [|discriminate].
  destruct (over_coordinates d (fst r)); [|discriminate]. cbn [andb].
  destruct (value_at point (fst r)) as [y|] eqn:E; [|discriminate]. intros [= <-].
  split; auto. split; auto.
  apply (value_at_ok V _ _ _ _ _ A) in E. apply IZR_lt in P. unfold ap.
  assert (IZR y = b * IZR (snd r) * (val (V x) (fst r) / IZR (snd r))) as Q by (rewrite E; field;
    lra).
  set (q := val (V x) (fst r) / IZR (snd r)) in *. assert (0 < b * IZR (snd r)) by nra.
  destruct y as [|y|y]; simpl Z.sgn.
  - apply sign_zero. nra.
  - apply sign_pos. assert (0 < IZR (Z.pos y)) by (apply IZR_lt; lia). nra.
  - apply sign_neg. assert (IZR (Z.neg y) < 0) by (apply IZR_lt; lia). nra.
Qed.

Lemma fc_refl s : Forall2 fc s s.
Proof. induction s; constructor; auto. right; auto. Qed.

Lemma check_signs_ok s rs x : rows s = Some rs -> check_signs s rs x = true ->
  let y := List.map Q2R x in
  in_plane p y /\ in_domain (area p) y /\ List.map sign_of (values y) = s /\
  List.length s = num_forms /\ List.length rs = num_forms /\
  Forall (fun r => (0 < snd r)%Z /\ over_coordinates d (fst r) = true) rs /\
  List.map (ap (V y)) rs = values y.
Proof.
  intros E C y. unfold check_signs, point_at in C.
  destruct (scaled_point _ _ x) as [[b z]|] eqn:S; [|discriminate].
  apply andb_prop in C as [C T]. apply andb_prop in C as [C1 C2].
  apply Nat.eqb_eq in C1. apply Nat.eqb_eq in C2.
  destruct (mapo _ rs) as [t|] eqn:M; [|discriminate]. apply zs_eqb_ok in T. subst t.
  destruct (scaled_point_ok _ _ _ _ _ S) as (B & L & F & I).
  assert (in_plane p y) as X. { split; [unfold y; rewrite map_length; auto|apply I]. }
  destruct (at_plane y X) as (_ & Co & _). apply IZR_lt in B.
  set (point := put_coordinates _ z _) in M.
  assert (all (fun s z => IZR z = IZR b * V y s) point) as A.
  { apply put_coordinates_ok with (x := y); auto. apply nall_add; [exact Logic.I|].
    unfold V, coordinates. simpl. ring. }
  apply mapo_ok in M.
  assert (Forall (fun r => (0 < snd r)%Z /\ over_coordinates d (fst r) = true) rs /\
    List.map (fun r => sign_of (ap (V y) r)) rs = s) as [G1 G2].
  { clear - M A B. induction M as [|r t rs s H M IH]; simpl; [auto|].
    destruct (sign_at_ok _ _ _ _ _ B A H) as (? & ? & ->). destruct IH as [? ->]. auto. }
  assert (List.map (ap (V y)) rs = values y) as W.
  { apply (rows_right y s rs X E). right. rewrite G2. apply fc_refl. }
  repeat (split; auto). rewrite <- W, map_map. auto.
Qed.
(** ** Values on a segment *)

Definition tame_list (u : R -> list R) : Prop :=
  (exists n, forall t, List.length (u t) = n) /\ forall j, tame (fun t => nth j (u t) 0).

Lemma tame_dot w : forall u, tame_list u -> tame (fun t => dot w (u t)).
Proof.
  induction w as [|c w IH]; intros u [[n L] C]; [apply (tame_const 0)|].
  destruct n as [|n].
  { apply (tame_eq (fun _ => 0)); [|apply tame_const]. intro t. specialize (L t).
    destruct (u t); [auto|discriminate]. }
  apply (tame_eq (fun t => IZR c * nth 0 (u t) 0 + dot w (tl (u t)))).
  { intro t. specialize (L t). destruct (u t); [discriminate|auto]. }
  apply tame_plus; [apply tame_scal; auto|]. apply IH. split.
  - exists n. intro t. specialize (L t). destruct (u t); [discriminate|]. simpl in *. congruence.
  - intro j. apply (tame_eq (fun t => nth (S j) (u t) 0)); auto. intro t. specialize (L t).
    destruct (u t); [discriminate|auto].
Qed.

Definition tame_lists (A : R -> list (list R)) : Prop :=
  (exists m, forall t, List.length (A t) = m) /\ forall k, tame_list (fun t => nth k (A t) []).

Lemma tame_pre A e n : tame_lists A -> tame (fun t => pre (A t) e n).
Proof.
  intros [_ C]. unfold pre, Rdiv.
  apply (tame_eq (fun t => / IZR e * (IZR (fst n) + sum_rows (A t) (snd n)))). { intro; ring. }
  apply tame_scal, tame_plus; [apply tame_const|].
  unfold sum_rows. induction (snd n) as [|[k w] rs IH]; simpl; [apply tame_const|].
  apply tame_plus; auto. apply tame_dot, C.
Qed.

Lemma tame_layer A l : tame_lists A ->
  tame_list (fun t => List.map (pre (A t) (den l)) (neurons l)).
Proof.
  intro C. split. { exists (List.length (neurons l)). intro. apply map_length. }
  intro j. revert j. induction (neurons l) as [|n ns IH]; intros [|j]; simpl;
    try apply tame_const; auto. apply tame_pre. auto.
Qed.

Lemma tame_list_relu u : tame_list u -> tame_list (fun t => List.map relu (u t)).
Proof.
  intros [[n L] C]. split. { exists n. intro. rewrite map_length. auto. }
  intro j. apply (tame_eq (fun t => relu (nth j (u t) 0))); [|apply tame_relu; auto].
  intro t. rewrite <- (map_nth relu). f_equal. rewrite relu_pos; lra.
Qed.

Lemma tame_lists_app A u : tame_lists A -> tame_list u -> tame_lists (fun t => A t ++ [u t]).
Proof.
  intros [[m L] C] U. split. { exists (m + 1)%nat. intro. rewrite app_length, L. auto. }
  intro k. destruct (Nat.lt_trichotomy k m) as [H|[H|H]].
  - replace (fun t => nth k (A t ++ [u t]) []) with (fun t => nth k (A t) []); auto.
    apply functional_extensionality. intro t. rewrite app_nth1; auto. rewrite L. auto.
  - replace (fun t => nth k (A t ++ [u t]) []) with u; auto.
    apply functional_extensionality. intro t. rewrite app_nth2, L by (rewrite L; lia).
    rewrite H, Nat.sub_diag. auto.
  - replace (fun t => nth k (A t ++ [u t]) []) with (fun _ : R => @nil R).
    { split; [exists 0%nat; auto|]. intros [|j]; apply tame_const. }
    apply functional_extensionality. intro t. symmetry. apply nth_overflow.
    rewrite app_length, L. simpl. lia.
Qed.

Lemma tame_list_app u w : tame_list u -> tame_list w -> tame_list (fun t => u t ++ w t).
Proof.
  intros [[n L] C] [[m M] D]. split. { exists (n + m)%nat. intro. rewrite app_length, L, M. auto. }
  intro j. destruct (Nat.lt_ge_cases j n) as [H|H].
  - apply (tame_eq (fun t => nth j (u t) 0)); auto. intro t. rewrite app_nth1; auto.
    rewrite L; auto.
  - apply (tame_eq (fun t => nth (j - n) (w t) 0)); auto. intro t.
    rewrite app_nth2; rewrite L; auto.
Qed.

Lemma tame_zs ls lr : forall A, tame_lists A -> tame_list (fun t => zs_from ls lr (A t)).
Proof.
  assert (tame_list (fun _ : R => @nil R)) as Nil.
  { split; [exists 0%nat; auto|]. intros [|j]; apply tame_const. }
  induction ls as [|l ls IH]; intros A C; [exact Nil|].
  assert (tame_list (fun t => List.map (pre (A t) (den l)) (neurons l) ++
    zs_from ls lr (A t ++ [List.map relu (List.map (pre (A t) (den l)) (neurons l))]))) as K.
  { apply tame_list_app; [apply tame_layer; auto|].
    apply (IH (fun t => A t ++ [List.map relu (List.map (pre (A t) (den l)) (neurons l))])).
    apply tame_lists_app; auto. apply tame_list_relu, tame_layer. auto. }
  simpl. destruct ls, lr; auto.
Qed.

(** ** Points of the plane *)

Lemma line_in_plane x y t : in_plane p x -> in_plane p y -> in_plane p (on_line t x y).
Proof.
  intros [L X] [M Y]. assert (List.length x = List.length y) as LM by congruence. split.
  { rewrite on_line_length; auto. }
  apply Forall_forall. intros r R. rewrite Forall_forall in X, Y.
  rewrite on_line_dot, (X r R), (Y r R) by auto. ring.
Qed.

Lemma V_line x y t s : in_plane p x -> in_plane p y ->
  V (on_line t x y) s = V x s + t * (V y s - V x s).
Proof.
  intros [L X] [M Y]. unfold V, coordinates. destruct (s =? 0)%N; [ring|].
  destruct (s <=? d)%N; [apply on_line_coords; congruence|ring].
Qed.

Lemma ap_line x y t r : in_plane p x -> in_plane p y ->
  ap (V (on_line t x y)) r = ap (V x) r + t * (ap (V y) r - ap (V x) r).
Proof.
  intros X Y. unfold ap, Rdiv.
  assert (val (V (on_line t x y)) (fst r) =
    val (V x) (fst r) + t * (val (V y) (fst r) - val (V x) (fst r))) as ->; [|ring].
  induction (fst r) as [|[s c] f IH]; simpl; [ring|]. rewrite IH, V_line by auto. ring.
Qed.

Lemma V_near e x y s : near e x y -> (s <= d)%N -> 0 < e -> Rabs (V y s - V x s) < e.
Proof.
  intros K L E. unfold V, coordinates. destruct (s =? 0)%N. { rewrite Rminus_eq_0, Rabs_R0. auto. }
  destruct (s <=? d)%N; [apply near_coords; auto|]. rewrite Rminus_eq_0, Rabs_R0. auto.
Qed.

Lemma tame_line x y : List.length x = List.length y -> tame_list (fun t => on_line t x y).
Proof.
  intro L. split. { exists (List.length x). intro. apply on_line_length. auto. }
  revert y L. induction x as [|a x IH]; intros [|b y] L j; try discriminate; simpl.
  { destruct j; apply tame_const. }
  destruct j as [|j]; [|apply IH; simpl in L; congruence].
  apply (tame_affine _ a (b - a)). intro; ring.
Qed.

Lemma tame_values x y : in_plane p x -> in_plane p y -> tame_list (fun t => values (on_line t x y)).
Proof.
  intros X Y. unfold values. apply tame_list_app.
  - split. { exists (List.length bounds). intro. apply map_length. }
    intro j. revert j. induction bounds as [|r rs IH]; intros [|j]; simpl; try apply tame_const;
      auto.
    apply (tame_affine _ (ap (V x) r) (ap (V y) r - ap (V x) r)).
    intro t. rewrite ap_line by auto. ring.
  - apply (tame_zs _ _ (fun t => [on_line t x y])). split; [exists 1%nat; auto|].
    intros [|k]. { apply tame_line. destruct X, Y. congruence. }
    assert (forall t, nth (S k) [on_line t x y] [] = []) as N by (intro; destruct k; auto).
    replace (fun t => nth (S k) [on_line t x y] []) with (fun _ : R => @nil R).
    { split; [exists 0%nat; auto|]. intros [|j]; apply tame_const. }
    apply functional_extensionality. intro. auto.
Qed.

(** ** The abstract theorem *)

Definition plane_point := {x : list R | in_plane p x}.
Definition value (i : nat) (x : plane_point) : R := nth i (values (proj1_sig x)) 0.
Definition all_forms : list nat := seq 0 num_forms.
Definition inequality (i : nat) : Prop := (i < num_bounds)%nat.
Definition kept (s : nat -> Z) (i : nat) (y : plane_point) : R :=
  nth i (match rows (List.map s all_forms) with
         | Some rs => List.map (ap (V (proj1_sig y))) rs
         | None => []
         end) 0.

Notation sg := (sg nat plane_point value).
Notation full := (full nat inequality).
Notation face := (face nat).

Lemma value_out i x : (num_forms <= i)%nat -> value i x = 0.
Proof. intro H. apply nth_overflow. rewrite values_length. auto. Qed.

Lemma forms_or_zero i : In i all_forms \/ forall x, value i x = 0.
Proof.
  destruct (Nat.lt_ge_cases i num_forms) as [H|H].
  - left. apply in_seq. lia.
  - right. intro. apply value_out. auto.
Qed.

Lemma sg_nth x i : sg x i = nth i (List.map sign_of (values (proj1_sig x))) 0%Z.
Proof.
  unfold VertexLists.sg, value. rewrite <- (map_nth sign_of). f_equal. apply sign_zero. auto.
Qed.

Lemma from_nth a : forall k s, (forall i, (i < List.length a)%nat -> fc (nth i a 0%Z) (s (k +
  i)%nat)) ->
  Forall2 fc a (List.map s (seq k (List.length a))).
Proof.
  induction a as [|e a IH]; intros k s H; simpl; constructor.
  - specialize (H 0%nat). rewrite Nat.add_0_r in H. apply H. simpl. lia.
  - apply IH. intros i L. specialize (H (S i)). rewrite Nat.add_succ_r in H. apply H. simpl. lia.
Qed.

Lemma face_list x s : face (sg x) s ->
  Forall2 fc (List.map sign_of (values (proj1_sig x))) (List.map s all_forms).
Proof.
  intro F. unfold all_forms. rewrite <- (values_length (proj1_sig x)), <- (map_length sign_of).
  apply from_nth. intros i _. rewrite <- sg_nth. apply F.
Qed.

Lemma choices_in (s : nat -> Z) a : forall j k, Forall2 fc a (List.map s (seq j (List.length a))) ->
  (forall i, (s i = 1 \/ s i = -1)%Z) -> (forall i, (i < k)%nat -> s (j + i)%nat = 1%Z) ->
  In (List.map s (seq j (List.length a))) (choices k a).
Proof.
  induction a as [|e a IH]; intros j k F U K; simpl; [auto|].
  simpl in F. inversion F as [|? ? ? ? F1 F2]; subst.
  assert (In (List.map s (seq (S j) (List.length a))) (choices (pred k) a)) as I.
  { apply IH; auto. intros i L. specialize (K (S i)). rewrite Nat.add_succ_r in K. apply K. lia. }
  destruct (Z.eqb_spec e 0) as [->|N].
  - destruct k as [|k].
    + apply in_app_iff. destruct (U j) as [->| ->]; [left|right]; apply in_map; auto.
    + specialize (K 0%nat). rewrite Nat.add_0_r in K. rewrite K by lia. apply in_map; auto.
  - destruct F1 as [|<-]; [tauto|]. apply in_map; auto.
Qed.

Lemma Forall2_in {X Y} (P : X -> Y -> Prop) l m a : Forall2 P l m -> In a l ->
  exists b, In b m /\ P a b.
Proof.
  induction 1 as [|x y l m H F IH]; simpl; [tauto|]. intros [<-|I]; [exists y; auto|].
  destruct (IH I) as (b & J & K). exists b. auto.
Qed.

Lemma Forall2_in_right {X Y} (P : X -> Y -> Prop) l m b : Forall2 P l m -> In b m ->
  exists a, In a l /\ P a b.
Proof.
  induction 1 as [|x y l m H F IH]; simpl; [tauto|]. intros [<-|I]; [exists x; auto|].
  destruct (IH I) as (a & J & K). exists a. auto.
Qed.

Lemma nth_ap v rs i : nth i (List.map (ap v) rs) 0 = ap v (nth i rs ([], 1%Z)).
Proof.
  rewrite <- (map_nth (ap v)). f_equal. unfold ap. simpl. field.
Qed.

Lemma rep_nth v rs i : Forall (fun r => (0 < snd r)%Z /\ over_coordinates d (fst r) = true) rs ->
  rep v (nth i rs ([], 1%Z)) (ap v (nth i rs ([], 1%Z))).
Proof.
  intro F. assert (0 < snd (nth i rs ([], 1%Z)))%Z as P.
  { destruct (Nat.lt_ge_cases i (List.length rs)) as [H|H].
    - rewrite Forall_forall in F. apply F. apply nth_In. auto.
    - rewrite nth_overflow by auto. simpl. lia. }
  split; auto. apply IZR_lt in P. unfold ap. field. lra.
Qed.

(** The slope of a form along the edge where a zero moves, and the form minus the slopes times the
    zeros. *)
Definition slope_of (h : region_hint) (b i : nat) : Q :=
  match List.find (fun e => Nat.eqb (its_zero e) b) (its_edges h) with
  | Some e => nth i (its_slopes e) 0%Q
  | None => 0%Q
  end.

Definition without (rs : list rform) (h : region_hint) (zs : list nat) (i : nat) : rform :=
  fold_right (fun b acc =>
      let q := slope_of h b i in
      if (Qnum q =? 0)%Z then acc
      else raxpy acc (- Qnum q) (Zpos (Qden q)) (nth b rs ([], 1%Z)))
    (nth i rs ([], 1%Z)) zs.

Lemma without_rep v rs h i : Forall (fun r => (0 < snd r)%Z /\ over_coordinates d (fst r) = true)
  rs ->
  forall zs, rep v (without rs h zs i) (ap v (nth i rs ([], 1%Z)) -
    total (fun b => Q2R (slope_of h b i) * ap v (nth b rs ([], 1%Z))) zs).
Proof.
  intros F. induction zs as [|b zs IH]; simpl.
  { rewrite Rminus_0_r. apply rep_nth. auto. }
  set (q := slope_of h b i) in *. set (a := ap v (nth b rs ([], 1%Z))) in *.
  replace (ap v (nth i rs ([], 1%Z)) - (Q2R q * a + _)) with
    (ap v (nth i rs ([], 1%Z)) - total (fun b => Q2R (slope_of h b i) * ap v (nth b rs ([],
      1%Z))) zs
     + - (Q2R q * a)) by ring.
  destruct (Z.eqb_spec (Qnum q) 0) as [Z0|_].
  { replace (Q2R q) with 0 by (unfold Q2R; rewrite Z0; lra).
    match goal with |- rep _ _ (?x + - (0 * a)) => replace (x + - (0 * a)) with x by ring end.
    exact IH. }
  apply raxpy_ok with (y := a); auto; [apply rep_nth; auto|lia|].
  rewrite opp_IZR, <- Q2R_num. ring.
Qed.

Lemma constant_val v f : v 0%N = 1 -> forallb (fun q => (fst q =? 0)%N) f = true ->
  val v f = IZR (constant_of f).
Proof.
  intro V0. induction f as [|[s c] f IH]; simpl; auto. intro E. apply andb_prop in E as [E F].
  apply N.eqb_eq in E. subst. rewrite plus_IZR, IH, V0 by auto. ring.
Qed.

(** ** What the state says *)

(** Signs are 1, 0, or -1. *)
Definition is_sign (e : Z) : Prop := e = 1%Z \/ e = 0%Z \/ e = (-1)%Z.

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

Lemma sign_is_sign z : is_sign (sign_of z).
Proof. unfold is_sign. destruct (sign_cases z) as [[_ ->]|[[_ ->]|[_ ->]]]; auto. Qed.

Lemma folded_app {A B} (f : A -> B -> option A) l m a :
  folded f (l ++ m) a = match folded f l a with Some b => folded f m b | None => None end.
Proof. revert a. induction l as [|b l IH]; intro a; simpl; auto. destruct (f a b); auto. Qed.

Lemma over_choices_folded {A} (f : A -> list Z -> option A) s : forall k before a,
  over_choices f k s before a = folded f (List.map (rev_append before) (choices k s)) a.
Proof.
  induction s as [|e s IH]; intros k before a; simpl. { destruct (f a _); auto. }
  assert (forall x l, List.map (rev_append before) (List.map (cons x) l) =
    List.map (rev_append (x :: before)) l) as M by (intros; rewrite map_map; auto).
  destruct (Z.eqb_spec e 0); [|rewrite M; apply IH].
  destruct k as [|k]; [rewrite map_app, folded_app|]; rewrite !M, IH; simpl pred.
  - destruct (folded f _ a); auto.
  - destruct (folded f _ a); auto.
Qed.

(** What is found out about a region; [known] are the ends of edges. *)
Definition region_known (known : nset) (s c : list Z) (h : region_hint) : Prop :=
  exists us, ends_of s c h = Some us /\ forall u, In u (List.concat us) -> has u known.

Lemma has_puts u l m : has u (fold_right put m l) <-> In u l \/ has u m.
Proof. induction l as [|k l IH]; simpl; [tauto|]. rewrite has_put, IH. intuition. Qed.

Definition more (st st' : corners) : Prop := forall u, has u (ends st) -> has u (ends st').

Lemma known_more st st' s c h : more st st' -> region_known (ends st) s c h ->
  region_known (ends st') s c h.
Proof. intros M (us & E & K). exists us. auto. Qed.

Lemma regions_added v l : forall st st', folded (add_region v) l st = Some st' ->
  seen st' = seen st /\ more st st' /\
  (forall c, In c l -> region_known (ends st') (its_signs v) c (its_hint v c)) /\
  (forall k, has k (around st') <->
     has k (around st) \/ exists c, In c l /\ k = key (skipn num_bounds c)).
Proof.
  induction l as [|c l IH]; simpl; intros st st' E.
  { injection E as <-. repeat split; auto; [intros u H; auto|tauto|]. intros [H|(c & [] & _)].
    auto. }
  destruct (add_region v st c) as [st1|] eqn:A; [|discriminate].
  destruct (IH st1 st' E) as (S & M & K & R). unfold add_region in A.
  destruct (ends_of _ c _) as [us|] eqn:O; [|discriminate]. injection A as <-.
  cbn [seen ends around] in *. split; auto. split.
  { intros u H. apply M. cbn [ends]. apply has_puts. auto. }
  split.
  - intros c' [<-|I]; auto. exists us. split; auto. intros u I. apply M. cbn [ends].
    apply has_puts. auto.
  - intro k. rewrite R, has_put. split.
    + intros [[->|H]|(c' & I & ->)]; eauto.
    + intros [H|(c' & [<-|I] & ->)]; eauto.
Qed.

(** What is found out about a vertex. *)
Definition vertex_known (known : nset) (v : vertex) : Prop :=
  (exists rs, rows (its_signs v) = Some rs /\
    check_signs (its_signs v) rs (its_point v) = true) /\
  forall c, In c (choices num_bounds (its_signs v)) ->
    region_known known (its_signs v) c (its_hint v c).

Lemma vertices_added l : forall st st', folded add_vertex l st = Some st' ->
  more st st' /\ (forall v, In v l -> vertex_known (ends st') v) /\
  (forall k, has k (seen st') <-> has k (seen st) \/ exists v, In v l /\ k = key (its_signs v)) /\
  (forall k, has k (around st') <-> has k (around st) \/ exists v c, In v l /\
     In c (choices num_bounds (its_signs v)) /\ k = key (skipn num_bounds c)).
Proof.
  induction l as [|v l IH]; simpl; intros st st' E.
  { injection E as <-. split; [intros u H; auto|]. split; [tauto|].
    split; intro k; split; auto; [intros [H|(v & [] & _)]|intros [H|(v & _ & [] & _)]]; auto. }
  destruct (add_vertex st v) as [st1|] eqn:A; [|discriminate].
  destruct (IH st1 st' E) as (M & K & S & R). unfold add_vertex in A.
  destruct (rows (its_signs v)) as [rs|] eqn:Q; [|discriminate].
  destruct (check_signs _ rs _ && _) eqn:C; [|discriminate]. apply andb_prop in C as [C _].
  rewrite over_choices_folded in A. cbn [rev_append] in A. rewrite map_id in A.
  destruct (regions_added _ _ _ _ A) as (S1 & M1 & K1 & R1). cbn [seen ends around] in *.
  split. { intros u H. apply M, M1. auto. }
  split.
  { intros v' [<-|I]; auto. split; [eauto|]. intros c I. apply known_more with st1; auto. }
  split; intro k.
  - rewrite S, S1, has_put. split.
    + intros [[->|H]|(v' & I & ->)]; eauto.
    + intros [H|(v' & [<-|I] & ->)]; eauto.
  - rewrite R, R1. split.
    + intros [[H|(c & I & ->)]|(v' & c & I & J & ->)]; eauto 8.
    + intros [H|(v' & c & [<-|I] & J & ->)]; eauto 8.
Qed.

Section Accepted.
Variables (vs : list vertex) (st : corners) (count : nat).
Hypothesis constants : constants_hold = true.
Hypothesis added : folded add_vertex vs (Corners E E E) = Some st.
Hypothesis complete : check_complete st count = true.

Definition region_signs : list (list Z) :=
  nodup (list_eq_dec Z.eq_dec)
    (List.map (skipn num_bounds) (flat_map (fun v => choices num_bounds (its_signs v)) vs)).

Lemma parts_of_check : vs <> [] /\
  Forall (fun r => is_constant r = true -> (0 <= constant_of (fst r))%Z) sl /\
  Forall (fun r => (0 < snd r)%Z) sl.
Proof.
  unfold constants_hold in constants. apply andb_prop in constants as [C1 C2].
  rewrite forallb_forall in C1, C2. split.
  { intros Nil. pose proof added as A. rewrite Nil in A. injection A as <-. discriminate. }
  split; apply Forall_forall; intros r I.
  - intro Q. specialize (C1 r I). rewrite Q in C1. apply Z.leb_le. auto.
  - apply Z.ltb_lt. auto.
Qed.

Lemma in_domain_iff x : in_plane p x ->
  (in_domain (area p) x <-> Forall (fun r => 0 <= ap (V x) r) bounds).
Proof.
  intro X. destruct (at_plane x X) as (_ & _ & _ & F). destruct X as [_ Q].
  destruct parts_of_check as (_ & P1 & P2). unfold in_domain, bounds.
  assert (Forall (fun r => dot (fst r) x <= IZR (snd r)) (ineqs (area p)) <->
    Forall (fun r => 0 <= ap (V x) r) sl) as G.
  { clear - F. induction F as [|r row sl rows [D R] F IH]; [split; constructor|].
    assert (ap (V x) r = IZR (snd row) - dot (fst row) x) as E.
    { unfold ap. apply IZR_lt in D. rewrite R. field. lra. }
    split; intro K; inversion K; subst; constructor; try (apply IH; auto); lra. }
  rewrite G. split.
  - intros [K _]. apply Forall_forall. intros r I. apply filter_In in I as [I _].
    rewrite Forall_forall in K. auto.
  - intro K. split; auto. apply Forall_forall. intros r I.
    destruct (is_constant r) eqn:C.
    + rewrite Forall_forall in P1, P2. specialize (P1 r I C). specialize (P2 r I).
      unfold ap. rewrite constant_val by (auto; reflexivity).
      apply IZR_le in P1. apply IZR_lt in P2. apply Rmult_le_pos; auto.
      apply Rlt_le, Rinv_0_lt_compat. auto.
    + rewrite Forall_forall in K. apply K. apply filter_In. rewrite C. auto.
Qed.

Lemma value_bound i x : (i < num_bounds)%nat ->
  value i x = ap (V (proj1_sig x)) (nth i bounds ([], 1%Z)).
Proof.
  intro H. unfold value, values. rewrite app_nth1 by (rewrite map_length; auto). apply nth_ap.
Qed.

Notation inside := (inside nat plane_point inequality value).

Lemma inside_iff x : inside x <-> in_domain (area p) (proj1_sig x).
Proof.
  rewrite in_domain_iff by (apply proj2_sig). unfold VertexLists.inside, inequality. split.
  - intro H. apply Forall_forall. intros r I. apply (In_nth _ _ ([], 1%Z)) in I as (i & L & <-).
    rewrite <- value_bound; auto.
  - intros F i L. rewrite value_bound by auto. rewrite Forall_forall in F. apply F, nth_In. auto.
Qed.

Notation way := (way nat plane_point inequality value).

Lemma way_trans x y z : way x y -> way y z -> way x z.
Proof. induction 1 as [x|x m y' z' Dm Dy F G W IH]; intro K; auto. apply go with m y'; auto. Qed.

(** The signs of a point are those of another one, or 0. *)
Lemma face_of_values (x m : plane_point) : (forall i, (i < num_forms)%nat -> value i x = 0 \/
    0 < value i x /\ 0 < value i m \/ value i x < 0 /\ value i m < 0) ->
  face (sg x) (sg m).
Proof.
  intros H i. unfold VertexLists.sg. destruct (Nat.lt_ge_cases i num_forms) as [L|L].
  - destruct (H i L) as [Z|[[A B]|[A B]]].
    + left. apply sign_zero. auto.
    + right. rewrite !sign_pos; auto.
    + right. rewrite !sign_neg; auto.
  - left. apply sign_zero, value_out. auto.
Qed.

Lemma on_line_ends a : forall b, List.length a = List.length b -> on_line 0 a b = a /\
  on_line 1 a b = b.
Proof.
  induction a as [|c a IH]; intros [|e b] L; try discriminate; simpl; auto.
  destruct (IH b) as [-> ->]. { simpl in L. congruence. } split; f_equal; ring.
Qed.

Lemma connected x y : inside x -> inside y -> way x y.
Proof.
  intros Dx Dy. destruct x as [x X], y as [y Y].
  assert (List.length x = List.length y) as L by (destruct X, Y; congruence).
  set (w := fun t => exist (in_plane p) (on_line t x y) (line_in_plane x y t X Y)).
  assert (forall t, 0 <= t <= 1 -> inside (w t)) as Dw.
  { intros t T i I. specialize (Dx i I). specialize (Dy i I).
    rewrite value_bound in * by auto. simpl in *. rewrite ap_line by auto. nra. }
  assert (forall u z, (forall i, value i u = value i z) -> inside z -> way u z) as Same.
  { intros u z E Dz. apply go with z z; auto; [| |apply stay]; apply face_of_values; intros i _;
      rewrite ?E; destruct (Rtotal_order (value i z) 0) as [|[|]]; auto. }
  destruct (on_line_ends x y L) as [L0 L1].
  apply way_trans with (w 0).
  { apply Same; [|apply Dw; lra]. intro i. unfold value, w. cbn [proj1_sig]. rewrite L0. auto. }
  apply way_trans with (w 1).
  2:{ apply Same; auto. intro i. unfold value, w. cbn [proj1_sig]. rewrite L1. auto. }
  destruct (tame_values x y X Y) as [_ T].
  pose proof (all_sides (fun i t => value i (w t)) num_forms T) as P.
  assert (forall a b, pieces (fun a b => forall i, (i < num_forms)%nat ->
    one_sided (fun t => value i (w t)) a b) a b -> 0 <= a -> b <= 1 -> way (w a) (w b)) as K.
  { intros a b Q. induction Q as [a b A Q|a m b F IHF G IHG]; intros A0 B1.
    - apply go with (w ((a + b) / 2)) (w b); [apply Dw; lra|apply Dw; lra| | |apply stay];
        apply face_of_values; intros i I; apply (middle _ a b A (Q i I)).
    - pose proof (pieces_less _ _ _ F). pose proof (pieces_less _ _ _ G).
      apply way_trans with (w m); [apply IHF|apply IHG]; lra. }
  apply K; auto; lra.
Qed.

(** *** Regions around a vertex *)

Definition zero_places (s : list Z) : list nat :=
  filter (fun i => (nth i s 1 =? 0)%Z) (seq 0 num_forms).

Lemma places_filter s : forall k,
  places k s = filter (fun i => (nth (i - k) s 1 =? 0)%Z) (seq k (List.length s)).
Proof.
  induction s as [|e s IH]; intro k; simpl; auto. rewrite Nat.sub_diag, IH.
  rewrite (filter_ext_in (fun i => (nth (i - S k) s 1 =? 0)%Z)
    (fun i => (match (i - k)%nat with O => e | S m => nth m s 1%Z end =? 0)%Z)); auto.
  intros i I. apply in_seq in I. replace (i - k)%nat with (S (i - S k))%nat by lia. auto.
Qed.

Lemma places_zero s : List.length s = num_forms -> places 0 s = zero_places s.
Proof.
  intro L. rewrite places_filter, L. unfold zero_places. apply filter_ext. intro i.
  rewrite Nat.sub_0_r. auto.
Qed.

Lemma same_places_ok a : forall b, same_places a b = true -> a = b.
Proof.
  induction a as [|i a IH]; intros [|j b]; simpl; try discriminate; auto. intro Q.
  apply andb_prop in Q as [Q F]. apply Nat.eqb_eq in Q. f_equal; auto.
Qed.

Lemma find_edge es e : NoDup (List.map its_zero es) -> In e es ->
  List.find (fun e' => Nat.eqb (its_zero e') (its_zero e)) es = Some e.
Proof.
  induction es as [|a es IH]; simpl; [tauto|]. intros N I. inversion N as [|? ? X N']; subst.
  destruct I as [->|I]; [rewrite Nat.eqb_refl; auto|].
  destruct (Nat.eqb_spec (its_zero a) (its_zero e)) as [Q|]; auto.
  destruct X. rewrite Q. apply in_map. auto.
Qed.

Lemma subtract_length z : forall rs qs, List.length rs = List.length qs ->
  List.length (subtract z rs qs) = List.length rs.
Proof. induction rs as [|r rs IH]; intros [|q qs] L; simpl in *; auto. Qed.

Lemma subtract_nth z : forall rs qs i, List.length rs = List.length qs ->
  (i < List.length rs)%nat -> nth i (subtract z rs qs) ([], 1%Z) =
    let q := nth i qs 0%Q in
    if (Qnum q =? 0)%Z then nth i rs ([], 1%Z)
    else raxpy (nth i rs ([], 1%Z)) (- Qnum q) (Zpos (Qden q)) z.
Proof.
  induction rs as [|r rs IH]; intros [|q qs] i L I; simpl in *; try lia.
  destruct i as [|i]; auto. apply IH; lia.
Qed.

Lemma remainders_nth rs h es : List.length rs = num_forms ->
  NoDup (List.map its_zero (its_edges h)) -> incl es (its_edges h) ->
  (forall e, In e (its_edges h) -> List.length (its_slopes e) = num_forms) ->
  List.length (remainders rs es) = num_forms /\
  forall i, (i < num_forms)%nat ->
    nth i (remainders rs es) ([], 1%Z) = without rs h (List.map its_zero es) i.
Proof.
  intros L N. induction es as [|e es IH]; intros I S; simpl; auto.
  destruct IH as [IL IH]; auto. { intros x X. apply I. right; auto. }
  assert (In e (its_edges h)) as Ie by (apply I; left; auto).
  pose proof (S e Ie) as Le. fold (remainders rs es). split.
  - rewrite subtract_length; congruence.
  - intros i J. rewrite subtract_nth by congruence. cbv zeta. unfold slope_of.
    rewrite (find_edge _ _ N Ie). rewrite IH by auto. auto.
Qed.

Lemma goes_on_nth e c : forall qs i, goes_on e c qs = true -> List.length qs = List.length c ->
  (i < List.length c)%nat -> (0 <= nth i c 1 * Qnum (nth i qs 0%Q) * e)%Z.
Proof.
  induction c as [|x c IH]; intros [|q qs] i G L I; simpl in *; try lia.
  apply andb_prop in G as [G G']. apply Z.leb_le in G. destruct i as [|i]; auto.
  apply IH; auto; lia.
Qed.

Lemma ends_at_nth b s : forall k c u, ends_at_signs k b s c u = true ->
  List.length c = List.length s /\ List.length u = List.length s /\
  forall i, (i < List.length s)%nat ->
    (nth i u 1 = 0 \/ nth i u 1 = nth i c 1)%Z /\
    (nth i s 1 = 0 -> if Nat.eqb (k + i) b then nth i u 1 = nth i c 1 else nth i u 1 = 0)%Z.
Proof.
  induction s as [|e s IH]; intros k [|x c] [|y u]; simpl; try discriminate.
  { intros _. repeat split; auto; lia. }
  intro Q. apply andb_prop in Q as [Q F]. destruct (IH _ _ _ F) as (L & M & H).
  split; [congruence|]. split; [congruence|]. intros [|i] I.
  - rewrite Nat.add_0_r. destruct (Z.eqb_spec e 0) as [->|Ne].
    + destruct (Nat.eqb k b); apply Z.eqb_eq in Q; auto.
    + apply orb_prop in Q as [Q|Q]; apply Z.eqb_eq in Q; split; auto; tauto.
  - rewrite Nat.add_succ_r. apply (H i). lia.
Qed.

(** The end of an edge is a vertex with these signs. *)
Definition ends_there (zs : list nat) (c : list Z) (b : nat) (u : list Z) : Prop :=
  (forall i, (i < num_forms)%nat -> nth i u 1 = 0 \/ nth i u 1 = nth i c 1)%Z /\
  nth b u 1%Z = nth b c 1%Z /\ forall i, In i zs -> i <> b -> nth i u 1%Z = 0%Z.

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

Lemma region_facts v c : In v vs -> In c (choices num_bounds (its_signs v)) ->
  let h := its_hint v c in let zs := zero_places (its_signs v) in
  exists rs, rows c = Some rs /\ Forall (fun e => e <> 0%Z) c /\
  check_signs c rs (inner_point h) = true /\
  (forall i, In i all_forms -> is_constant (without rs h zs i) = true) /\
  (forall b, In b zs ->
    (forall i, (i < num_forms)%nat -> (0 <= nth i c 1 * Qnum (slope_of h b i) * nth b c 1)%Z) \/
    exists v', In v' vs /\ ends_there zs c b (its_signs v')).
Proof.
  intros I J h zs. destruct (known v I) as [_ K]. destruct (K c J) as (us & O & U).
  destruct (signs_of_vertex v I) as [_ Ls].
  unfold ends_of in O. fold h in O. destruct (rows c) as [rs|] eqn:R; [|discriminate].
  destruct (forallb _ c && _ && _ && _ && _) eqn:C; [|discriminate].
  apply andb_prop in C as [C C5]. apply andb_prop in C as [C C4]. apply andb_prop in C as [C C3].
  apply andb_prop in C as [C1 C2]. rewrite forallb_forall in C1, C4, C5.
  apply same_places_ok in C3. rewrite places_zero in C3 by auto. fold zs in C3.
  destruct (check_signs_ok _ _ _ R C2) as (_ & _ & Sc & Lc & Lr & _).
  assert (NoDup (List.map its_zero (its_edges h))) as N.
  { rewrite C3. apply NoDup_filter, seq_NoDup. }
  assert (forall e, In e (its_edges h) -> List.length (its_slopes e) = num_forms) as Le.
  { intros e Ie. apply Nat.eqb_eq, C4. auto. }
  exists rs. split; auto. split.
  { apply Forall_forall. intros e Ie. specialize (C1 e Ie). apply negb_true_iff, Z.eqb_neq in C1.
    auto. }
  split; auto. split.
  - intros i Ii. apply in_seq in Ii.
    destruct (remainders_nth rs h (its_edges h) Lr N (incl_refl _) Le) as [L W].
    rewrite <- C3, <- W by lia. apply C5, nth_In. lia.
  - intros b Ib. pose proof Ib as Zb. rewrite <- C3 in Ib. apply in_map_iff in Ib as (e & <- & Ie).
    apply mapo_ok in O. destruct (Forall2_in _ _ _ _ O Ie) as (l & Il & El).
    unfold end_of in El. destruct (its_end e) as [u|].
    + destruct (ends_at_signs _ _ _ _ u) eqn:Q; [|discriminate]. injection El as <-. right.
      destruct (ends_at_nth _ _ _ _ _ Q) as (M1 & M2 & H).
      assert (Forall is_sign u) as Su.
      { apply Forall_forall. intros y Y. apply (In_nth _ _ 1%Z) in Y as (i & Li & <-).
        destruct (proj1 (H i ltac:(lia))) as [->| ->]; [unfold is_sign; auto|].
        assert (Forall is_sign c) as Fc.
        { rewrite <- Sc. apply Forall_map, Forall_forall. intros. apply sign_is_sign. }
        rewrite Forall_forall in Fc. apply Fc, nth_In. lia. }
      destruct (end_listed u Su) as (v' & Iv' & <-).
      { apply U. apply in_concat. exists [key u]. split; auto. left; auto. }
      exists v'. split; auto. split; [|split].
      * intros i Li. apply H. lia.
      * unfold zs, zero_places in Zb. apply filter_In in Zb as [Zb1 Zb2]. apply in_seq in Zb1.
        apply Z.eqb_eq in Zb2. destruct (H (its_zero e) ltac:(lia)) as [_ G].
        specialize (G Zb2). rewrite Nat.add_0_l, Nat.eqb_refl in G. auto.
      * intros i Ii Ne. unfold zs, zero_places in Ii. apply filter_In in Ii as [Ii1 Ii2].
        apply in_seq in Ii1. apply Z.eqb_eq in Ii2. destruct (H i ltac:(lia)) as [_ G].
        specialize (G Ii2). rewrite Nat.add_0_l in G.
        destruct (Nat.eqb_spec i (its_zero e)); [tauto|auto].
    + destruct (goes_on _ c _) eqn:G; [|discriminate]. left. intros i Li. unfold slope_of.
      rewrite (find_edge _ _ N Ie). apply goes_on_nth; auto; [rewrite Le by auto|]; lia.
Qed.

Lemma vertex_facts v : In v vs -> exists x : plane_point, inside x /\
  List.map sign_of (values (proj1_sig x)) = its_signs v.
Proof.
  intro I. destruct (known v I) as [(rs & R & C) _].
  destruct (check_signs_ok _ _ _ R C) as (X & D & S & _).
  exists (exist _ _ X). rewrite inside_iff. auto.
Qed.

Lemma points_exist : exists pts : list plane_point,
  Forall2 (fun v x => In v vs /\ inside x /\ List.map sign_of (values (proj1_sig x)) = its_signs v)
    vs pts.
Proof.
  assert (forall l, incl l vs -> exists pts : list plane_point, Forall2 (fun v x => In v vs /\
    inside x /\ List.map sign_of (values (proj1_sig x)) = its_signs v) l pts) as K.
  { induction l as [|v l IH]; intro S. { exists []. constructor. }
    destruct IH as [pts F]. { intros u U. apply S. right; auto. }
    assert (In v vs) as I by (apply S; left; auto).
    destruct (vertex_facts v I) as (x & D & S'). exists (x :: pts). constructor; auto. }
  apply K. apply incl_refl.
Qed.

Lemma full_unit s : full s -> forall i, (s i = 1 \/ s i = -1)%Z.
Proof. intros F i. apply F. Qed.

Lemma nth_map_seq (s : nat -> Z) i e : (i < num_forms)%nat -> nth i (List.map s all_forms) e = s i.
Proof.
  intro L. unfold all_forms. rewrite (nth_indep _ e (s 0%nat)) by (rewrite map_length, seq_length;
    auto).
  rewrite map_nth, seq_nth by auto. auto.
Qed.

Lemma edges_ok pts v x : Forall2 (fun v x => In v vs /\ inside x /\
    List.map sign_of (values (proj1_sig x)) = its_signs v) vs pts -> In v vs -> inside x ->
  List.map sign_of (values (proj1_sig x)) = its_signs v ->
  edges_end nat plane_point all_forms inequality value kept pts x.
Proof.
  intros Pts I D S s F C. set (c := List.map s all_forms).
  assert (List.length (its_signs v) = num_forms) as Lv
    by (rewrite <- S, map_length; apply values_length).
  assert (In c (choices num_bounds (its_signs v))) as Ic.
  { unfold c, all_forms. rewrite <- Lv. apply choices_in.
    - pose proof (face_list x s C) as Q. rewrite S in Q. rewrite Lv. exact Q.
    - apply full_unit. auto.
    - intros i L. apply F. exact L. }
  destruct (region_facts v c I Ic) as (rs & E & Nz & Ck & Cs & Ed). set (h := its_hint v c) in *.
  destruct (check_signs_ok _ _ _ E Ck) as (_ & _ & _ & Lc & Lr & Pos & _).
  assert (forall i y, kept s i y = ap (V (proj1_sig y)) (nth i rs ([], 1%Z))) as Kp.
  { intros i y. unfold kept. fold c. rewrite E. apply nth_ap. }
  assert (kept_right nat plane_point value kept s) as Right.
  { intros y Cy i. rewrite Kp. unfold value.
    rewrite <- (rows_right (proj1_sig y) c rs (proj2_sig y) E), nth_ap; auto.
    left. apply face_list. auto. }
  split; auto.
  assert (zeros nat plane_point all_forms value x = zero_places (its_signs v)) as Z.
  { unfold zeros, zero_places. apply filter_ext_in. intros i J. apply in_seq in J.
    rewrite sg_nth, S. f_equal. apply nth_indep. rewrite Lv. lia. }
  set (zs := zero_places (its_signs v)) in *.
  exists (fun b i => if (i <? num_forms)%nat then IZR (s b) * Q2R (slope_of h b i) else 0).
  split.
  - intros i y. rewrite Z. destruct (Nat.ltb_spec i num_forms) as [L|L].
    + specialize (Cs i ltac:(apply in_seq; lia)).
      assert (forall y : plane_point, ap (V (proj1_sig y)) (nth i rs ([], 1%Z)) -
        VertexLists.total (fun b => Q2R (slope_of h b i) * ap (V (proj1_sig y)) (nth b rs ([],
          1%Z))) zs
        = IZR (constant_of (fst (without rs h zs i))) / IZR (snd (without rs h zs i))) as W.
      { intro u. destruct (without_rep (V (proj1_sig u)) rs h i Pos zs) as [P Q].
        rewrite (constant_val (V (proj1_sig u)) _ eq_refl) in Q by exact Cs. apply IZR_lt in P.
        rewrite Q. unfold Rdiv. rewrite Rmult_comm, <- Rmult_assoc, Rinv_l, Rmult_1_l by lra. auto.
        }
      pose proof (W x) as Wx. rewrite <- (W y) in Wx.
      rewrite (total_ext (fun b => Q2R (slope_of h b i) * ap (V (proj1_sig x)) (nth b rs ([], 1%Z)))
        (fun _ => 0 * 0)) in Wx.
      2:{ intros b J. rewrite <- Z in J. apply in_zeros in J.
          rewrite <- Kp, (zero_kept nat plane_point value kept s x b Right C J). ring. }
      rewrite total_times in Wx. rewrite !Kp.
      rewrite (total_ext _ (fun b => Q2R (slope_of h b i) *
        ap (V (proj1_sig y)) (nth b rs ([], 1%Z)))). { lra. }
      intros b _. rewrite Kp. destruct (full_unit s F b) as [-> | ->]; ring.
    + rewrite !Kp, !nth_overflow by lia. rewrite (total_ext _ (fun _ => 0 * 0)).
      { rewrite total_times. unfold ap. simpl. field. }
      intros; ring.
  - intros b J. rewrite Z in J. assert (b < num_forms)%nat as Lb.
    { apply filter_In in J as [J _]. apply in_seq in J. lia. }
    destruct (Ed b J) as [Ry|(v' & Iv' & En1 & En2 & En3)].
    + left. intro i. destruct (Nat.ltb_spec i num_forms) as [L|L]; [|lra].
      specialize (Ry i L).
      apply IZR_le in Ry. unfold c in Ry. rewrite !nth_map_seq in Ry by auto.
      rewrite !mult_IZR in Ry. rewrite <- Q2R_num in Ry.
      assert (0 < IZR (Z.pos (Qden (slope_of h b i)))) by (apply IZR_lt; lia).
      set (q := Q2R (slope_of h b i)) in *. set (m := IZR (Z.pos (Qden (slope_of h b i)))) in *.
      assert (0 <= m * (IZR (s i) * (IZR (s b) * q))) as G by lra.
      destruct (Rle_lt_dec 0 (IZR (s i) * (IZR (s b) * q))); auto. nra.
    + right.
      assert (exists x', In x' pts /\ List.map sign_of (values (proj1_sig x')) = its_signs v')
        as (x' & Ix' & Sx').
      { destruct (Forall2_in _ _ _ _ Pts Iv') as (x' & Ix' & _ & _ & Sx'). exists x'. auto. }
      exists x'.
      assert (List.length (its_signs v') = num_forms) as Lv'
        by (rewrite <- Sx', map_length; apply values_length).
      assert (forall i, (i < num_forms)%nat -> sg x' i = nth i (its_signs v') 1%Z) as Sg.
      { intros i L. rewrite sg_nth, Sx'. apply nth_indep. lia. }
      split; auto. split; [|split].
      * intro i. destruct (Nat.lt_ge_cases i num_forms) as [L|L].
        -- specialize (En1 i L). unfold c in En1. rewrite nth_map_seq, <- Sg in En1 by auto. auto.
        -- left. unfold VertexLists.sg. rewrite value_out by auto. apply sign_zero. auto.
      * unfold c in En2. rewrite nth_map_seq, <- Sg in En2 by auto. auto.
      * intros i J' N. rewrite Z in J'. rewrite Sg; [apply En3; auto|].
        apply filter_In in J' as [J' _]. apply in_seq in J'. lia.
Qed.

Lemma choices_signs k : forall s c, In c (choices k s) -> Forall2 fc s c.
Proof.
  revert k. intros k s. revert k. induction s as [|e s IH]; intros k c; simpl.
  { intros [<-|[]]. constructor. }
  destruct (Z.eqb_spec e 0) as [->|N].
  - destruct k; [rewrite in_app_iff; intros [I|I]|intro I]; apply in_map_iff in I as (c' & <- & I);
      constructor; eauto; left; auto.
  - intro I. apply in_map_iff in I as (c' & <- & I). constructor; [right; auto|eauto].
Qed.

Lemma skip_bounds (a b : list Z) : List.length a = num_bounds -> skipn num_bounds (a ++ b) = b.
Proof. intro L. rewrite <- L, skipn_app, skipn_all, Nat.sub_diag. auto. Qed.

(** Near the inner point of a region all points have its signs. *)
Lemma region_open v c : In v vs -> In c (choices num_bounds (its_signs v)) ->
  exists x, inner p (has_signs p (skipn num_bounds c)) x /\ in_interior p x.
Proof.
  intros I J. destruct (region_facts v c I J) as (rs & E & Nz & Ck & _).
  set (h := its_hint v c) in *.
  destruct (check_signs_ok _ _ _ E Ck) as (X & D & S & Lc & Lr & Pos & W).
  set (x := List.map Q2R (inner_point h)) in *. exists x.
  assert (exists e, 0 < e /\ forall y, near e x y -> Forall (fun r => (0 < snd r)%Z /\
    sign_of (ap (V y) r) = sign_of (ap (V x) r)) rs) as (e & Pe & N).
  { rewrite <- W, map_map in S.
    assert (Forall (fun r => sign_of (ap (V x) r) <> 0%Z) rs) as Nr.
    { rewrite <- S in Nz. rewrite Forall_map in Nz. exact Nz. }
    clear - Pos Nr. induction rs as [|r rs IH].
    { exists 1. split; [lra|]. constructor. }
    inversion Pos as [|? ? [P O] Pos']; subst. inversion Nr as [|? ? Nz Nr']; subst.
    destruct (IH Pos' Nr') as (e & Pe & K).
    assert (exists e, 0 < e /\ forall y, near e x y ->
      sign_of (ap (V y) r) = sign_of (ap (V x) r)) as (e' & Pe' & K').
    { pose proof (IZR_lt _ _ P) as P'. pose proof (Rinv_0_lt_compat _ P') as P''.
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

(** Points of an open set with the signs [t] lie in a region around a vertex. *)
Lemma open_listed t x : inner p (has_signs p t) x -> In t region_signs.
Proof.
  intros (X & e & Pe & K). destruct points_exist as [pts Pts].
  destruct parts_of_check as (Ne & _).
  destruct (K x X (near_refl e x Pe)) as [[_ (e0 & Pe0 & K0)] _].
  pose proof (K0 x X (near_refl e0 x Pe0)) as D.
  set (xp := exist _ x X : plane_point).
  assert (forall v, In v pts -> inside v /\
    edges_end nat plane_point all_forms inequality value kept pts v) as Checked.
  { intros u Iu. destruct (Forall2_in_right _ _ _ _ Pts Iu) as (v & Iv & _ & Du & Su).
    split; auto. apply (edges_ok pts v u); auto. }
  assert (pts <> []) as Np. { intros ->. inversion Pts; subst. congruence. }
  assert (inside xp) as Dx by (apply inside_iff; auto).
  destruct (all_found nat plane_point all_forms inequality value kept forms_or_zero
    (seq_NoDup _ _) connected pts Checked Np xp Dx) as (_ & u & Iu & H).
  destruct (Forall2_in_right _ _ _ _ Pts Iu) as (v & Iv & _ & Du & Su).
  destruct (region_of_ok nat plane_point inequality value u xp Du Dx H) as (F & Cu & Cx).
  set (s := region_of nat plane_point value u xp) in *. set (c := List.map s all_forms).
  assert (List.length (its_signs v) = num_forms) as Lv
    by (rewrite <- Su, map_length; apply values_length).
  assert (In c (choices num_bounds (its_signs v))) as Ic.
  { unfold c, all_forms. rewrite <- Lv. apply choices_in.
    - pose proof (face_list u s Cu) as Q. rewrite Su in Q. rewrite Lv. exact Q.
    - apply full_unit. auto.
    - intros i L. apply F. exact L. }
  destruct (region_facts v c Iv Ic) as (rs & E & Nz & Ck & _). set (h := its_hint v c) in *.
  destruct (check_signs_ok _ _ _ E Ck) as (Y & Dy & Sy & Lc & Lr & Pos & W).
  set (y := List.map Q2R (inner_point h)) in *.
  assert (List.length x = List.length y) as LM by (destruct X, Y; congruence).
  destruct (on_line_near e x Pe y LM) as (t0 & T0 & Kn).
  set (tt := Rmin t0 1). assert (0 < tt <= 1) as Tt.
  { unfold tt. split; [apply Rmin_glb_lt; lra|apply Rmin_r]. }
  set (z := on_line tt x y). assert (in_plane p z) as Z by (apply line_in_plane; auto).
  assert (near e x z) as M. { apply Kn. rewrite Rabs_right by lra. apply Rmin_l. }
  destruct (K z Z M) as [_ Sz].
  assert (List.map (ap (V x)) rs = values x) as Wx.
  { apply (rows_right x c rs X E). left. apply (face_list xp). auto. }
  assert (List.map (fun r => sign_of (ap (V z) r)) rs = c) as Cz.
  { pose proof (face_list xp s Cx) as Q. cbn [proj1_sig xp] in Q. fold c in Q.
    rewrite <- Wx, map_map in Q. rewrite <- W, map_map in Sy. unfold z.
    clearbody y. clear - Q Sy X Y Nz Tt. clearbody c. revert c Q Sy Nz.
    induction rs as [|r rs IH]; intros c Q Sy Nz; simpl in *; auto.
    destruct c as [|e c]; [discriminate|]. injection Sy as S1 S2.
    inversion Q as [|? ? ? ? Q1 Q2]. inversion Nz as [|? ? Nz1 Nz2].
    f_equal; [|apply IH; assumption]. rewrite ap_line by auto.
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
  - apply in_flat_map. exists v. auto.
Qed.

(** Signs of different regions have different numbers. *)
Lemma region_keys : NoDup (List.map key region_signs) /\
  forall k, In k (List.map key region_signs) <-> has k (around st).
Proof.
  assert (forall t, In t region_signs <-> exists v c, In v vs /\
    In c (choices num_bounds (its_signs v)) /\ t = skipn num_bounds c) as Q.
  { intro t. unfold region_signs. rewrite nodup_In, in_map_iff. split.
    - intros (c & <- & J). apply in_flat_map in J as (v & I & J). eauto.
    - intros (v & c & I & J & ->). exists c. split; auto. apply in_flat_map. eauto. }
  assert (forall t, In t region_signs -> Forall is_sign t) as S.
  { intros t T. apply Q in T as (v & c & I & J & ->).
    destruct (region_facts v c I J) as (rs & R & _ & C & _).
    destruct (check_signs_ok _ _ _ R C) as (_ & _ & Sc & _).
    assert (Forall is_sign c) as F.
    { rewrite <- Sc. apply Forall_map, Forall_forall. intros. apply sign_is_sign. }
    rewrite <- (firstn_skipn num_bounds c) in F. apply Forall_app in F. tauto. }
  split.
  - assert (NoDup region_signs) as N by apply NoDup_nodup. revert N S. clear.
    induction region_signs as [|t l IH]; intros N S; simpl; constructor; inversion N; subst.
    + intro I. apply in_map_iff in I as (t' & K & I). apply key_same in K; [|apply S; right|apply S;
        left]; auto. congruence.
    + apply IH; auto. intros t' I. apply S. right; auto.
  - intro k. rewrite in_map_iff, (proj2 (proj2 (proj2 (vertices_added _ _ _ added)))). split.
    + intros (t & <- & T). apply Q in T as (v & c & I & J & ->). right. eauto.
    + intros [[]|(v & c & I & J & ->)]. exists (skipn num_bounds c). split; auto. apply Q. eauto.
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
  intro G. destruct parts_of_check as (Ne & _).
  split; auto. split.
  - destruct points_exist as [pts Pts].
    destruct vs as [|v l] eqn:Ev; [tauto|]. rewrite <- Ev in *.
    assert (In v vs) as I by (rewrite Ev; left; auto).
    assert (exists c, In c (choices num_bounds (its_signs v))) as [c J].
    { generalize num_bounds. induction (its_signs v) as [|e s IH]; intro k; simpl.
      { exists []. left; auto. }
      destruct (IH (pred k)) as [c J]. destruct (e =? 0)%Z; [destruct k|].
      - exists (1%Z :: c). apply in_app_iff. left. apply in_map; auto.
      - exists (1%Z :: c). apply in_map; auto.
      - exists (e :: c). apply in_map; auto. }
    destruct (region_open v c I J) as (x & _ & Q). exists x. auto.
  - exists region_signs. split; [apply NoDup_nodup|]. split; [apply right_count|]. intro t. split.
    + intro J. apply nodup_In, in_map_iff in J as (c & <- & J).
      apply in_flat_map in J as (v & I & J). destruct (region_open v c I J) as (x & Q & _).
      exists x. auto.
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

(** An accepted list of vertices proves its claim. *)
Theorem vertices_hold p s vs s' count :
  start_vertices p = Good s -> next_vertices p s vs = Good s' ->
  check_vertex_count s' count = Good tt -> regions_are p count.
Proof.
  unfold start_vertices, check_vertex_count. intros S N C.
  apply within_good in S as [G S]. apply with_domain_good in S as (_ & _ & S).
  destruct (setup _ _) as [[[[d scale] fs] sl]|] eqn:T; [|discriminate].
  apply require_good in S as [K S]. apply within_good in S as [_ S]. injection S as <-.
  apply require_good in C as [_ C]. apply require_good in C as [_ C].
  apply require_good in C as [C _].
  apply (vertices_regions p d scale fs sl T vs (corners_so_far s') count); auto.
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
Definition num_inequalities (s : corner_progress) : nat := num_bounds (slack_forms s).
