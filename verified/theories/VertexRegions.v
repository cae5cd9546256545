(** Theorem [vertices]: lists of regions by lists of vertices (claim regions, FORMAT.md,
  section 5.3)
    where all zeros of a vertex are combinations of some that are coordinates: there are no others,
    or a frame is listed. *)
Require Import String ZArith NArith QArith Qreals Reals List Bool Lra Lia Psatz.
Require Import FunctionalExtensionality.
From PolyreluVerified Require Import Verdicts Maps Networks Domains Claims RegionLists Limits.
From PolyreluVerified Require Import Numbers LinearForms JointNetwork Coordinates Trees.
From PolyreluVerified Require Import Points Checker RegionTrees Regions Pieces VertexLists.
From PolyreluVerified Require Import KeptForms.
Import ListNotations.
Open Scope R_scope.
Open Scope list_scope.

(** * The check *)

Definition is_constant (r : rform) : bool := forallb (fun q => (fst q =? 0)%N) (fst r).
Definition constant_of (f : form) : Z := fold_right (fun q s => (snd q + s)%Z) 0%Z f.

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
    all forms where the form of this zero has the slope 1; and the signs at its end, if it has one.
    *)
Record edge := Edge { its_zero : nat; its_slopes : list Q; its_end : option (list Z) }.

(** A region around a vertex: the signs of all forms, a point inside, and its edges. *)
Record region_hint := RegionHint {
  its_region : list Z; inner_point : list Q; its_edges : list edge }.

(** A vertex: the signs of all forms there; the same with the mark 2 at zeros that are combinations
    of zeros before; its point; and a function that finds what is needed for the regions around it,
    by the signs of the zeros without a mark. *)
Record vertex := Vertex {
  its_signs : list Z; its_marks : list Z; its_point : list Q; its_hint : list Z -> region_hint }.

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

(** Signs where some zeros are marked. *)
Fixpoint marked (s t : list Z) : bool :=
  match s, t with
  | e :: s', m :: t' => ((m =? e)%Z || ((e =? 0)%Z && (m =? 2)%Z)) && marked s' t'
  | [], [] => true
  | _, _ => false
  end.

(** The signs [c] are those of [e] without a mark there. *)
Fixpoint fits (e c : list Z) : bool :=
  match e, c with
  | x :: e', y :: c' => ((x =? 2)%Z || (x =? y)%Z) && fits e' c'
  | [], [] => true
  | _, _ => false
  end.

(** Forms with the sign 0 are constant. *)
Fixpoint constant_zeros (c : list Z) (rs : list rform) : bool :=
  match c, rs with
  | x :: c', r :: rs' => (negb (x =? 0)%Z || is_constant r) && constant_zeros c' rs'
  | _, _ => true
  end.

(** Marked forms, counted from [i] on, come no nearer to 0 where the zero [b] with the sign [e]
    leaves 0, and do not change there if they are before it. *)
Fixpoint follows (i b : nat) (e : Z) (t c : list Z) (qs : list Q) : bool :=
  match t, c, qs with
  | m :: t', x :: c', q :: qs' =>
      (negb (m =? 2)%Z || (x =? 0)%Z ||
       (Nat.ltb b i || (Qnum q =? 0)%Z) && (0 <=? x * Qnum q * e)%Z) &&
      follows (S i) b e t' c' qs'
  | _, _, _ => true
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

(** The end of an edge of the region with the signs [c] around a vertex with the marks [t]. *)
Definition end_of (t c : list Z) (e : edge) : option (list N) :=
  match its_end e with
  | None => if goes_on (nth (its_zero e) c 1%Z) c (its_slopes e) then Some [] else None
  | Some u => if ends_at_signs 0 (its_zero e) t c u then Some [key u] else None
  end.

(** The ends of the edges of a region; all forms are combinations of those of the zeros. *)
Definition ends_of (t e : list Z) (h : region_hint) : option (list (list N)) :=
  let c := its_region h in
  let? rs := rows c in
  if fits e c && constant_zeros c rs && check_signs c rs (inner_point h) &&
     same_places (List.map its_zero (its_edges h)) (places 0 t) &&
     forallb (fun e => Nat.eqb (List.length (its_slopes e)) num_forms) (its_edges h) &&
     forallb is_constant (remainders rs (its_edges h)) &&
     forallb (fun e => follows 0 (its_zero e) (nth (its_zero e) c 1%Z) t c (its_slopes e))
       (its_edges h)
  then mapo (end_of t c) (its_edges h) else None.

Definition add_region (v : vertex) (st : corners) (e : list Z) : option corners :=
  let h := its_hint v e in
  let? us := ends_of (its_marks v) e h in
  Some (Corners (seen st) (fold_right put (ends st) (List.concat us))
          (put (key (skipn num_bounds (its_region h))) (around st))).

Definition add_vertex (st : corners) (v : vertex) : option corners :=
  let k := key (its_signs v) in
  let? rs := rows (its_signs v) in
  if check_signs (its_signs v) rs (its_point v) && marked (its_signs v) (its_marks v) &&
     negb (member k (seen st))
  then
    over_choices (add_region v) num_bounds (its_marks v) []
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

Lemma choices_in a : forall k e, Forall2 fc a e ->
  (forall i, (i < List.length a)%nat -> nth i a 1%Z = 0%Z ->
    nth i e 1%Z = 1%Z \/ nth i e 1%Z = (-1)%Z /\ (k <= i)%nat) ->
  In e (choices k a).
Proof.
  induction a as [|x a IH]; intros k e F U; inversion F as [|? y ? e' F1 F2]; subst;
    [left; auto|].
  assert (In e' (choices (pred k) a)) as I.
  { apply IH; auto. intros i L Z. destruct (U (S i)) as [Q|[Q R]]; auto. { simpl. lia. }
    right. split; auto. lia. }
  specialize (U 0%nat ltac:(simpl; lia)). simpl in U. simpl.
  destruct (Z.eqb_spec x 0) as [->|N].
  - destruct (U eq_refl) as [->|[-> R]]; destruct k as [|k]; try lia;
      try (apply in_app_iff; (left; apply in_map; assumption) || (right; apply in_map; assumption)).
    apply in_map. auto.
  - destruct F1 as [|<-]; [tauto|]. apply in_map; auto.
Qed.

Lemma choices_nth t : forall k e, In e (choices k t) -> List.length e = List.length t /\
  forall i, (i < List.length t)%nat ->
    (nth i t 1 = 0 -> nth i e 1 = 1 \/ nth i e 1 = -1)%Z /\
    (nth i t 1 <> 0 -> nth i e 1 = nth i t 1)%Z.
Proof.
  induction t as [|m t IH]; intros k e I.
  { destruct I as [<-|[]]. split; auto. simpl. lia. }
  assert (exists x e', e = x :: e' /\ In e' (choices (pred k) t) /\
    (m = 0 -> x = 1 \/ x = -1)%Z /\ (m <> 0 -> x = m)%Z) as (x & e' & -> & I' & Z & N).
  { simpl in I. destruct (Z.eqb_spec m 0) as [->|N].
    - destruct k; [apply in_app_iff in I as [I|I]|]; apply in_map_iff in I as (e' & <- & I);
        repeat eexists; eauto; tauto.
    - apply in_map_iff in I as (e' & <- & I). repeat eexists; eauto. tauto. }
  destruct (IH _ _ I') as [L H]. split; [simpl; congruence|]. intros [|i] J; auto.
  apply (H i). simpl in J. lia.
Qed.

Lemma Forall2_in {X Y} (P : X -> Y -> Prop) l m a : Forall2 P l m -> In a l ->
  exists b, In b m /\ P a b.
Proof.
  induction 1 as [|x y l m H F IH]; simpl; [tauto|]. intros [<-|I]; [exists y; auto|].
  destruct (IH I) as (b & J & K). exists b. auto.
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
Definition region_known (known : nset) (t e : list Z) (h : region_hint) : Prop :=
  exists us, ends_of t e h = Some us /\ forall u, In u (List.concat us) -> has u known.

Lemma has_puts u l m : has u (fold_right put m l) <-> In u l \/ has u m.
Proof. induction l as [|k l IH]; simpl; [tauto|]. rewrite has_put, IH. intuition. Qed.

Definition more (st st' : corners) : Prop := forall u, has u (ends st) -> has u (ends st').

Lemma known_more st st' s c h : more st st' -> region_known (ends st) s c h ->
  region_known (ends st') s c h.
Proof. intros M (us & E & K). exists us. auto. Qed.

Lemma regions_added v l : forall st st', folded (add_region v) l st = Some st' ->
  seen st' = seen st /\ more st st' /\
  (forall c, In c l -> region_known (ends st') (its_marks v) c (its_hint v c)) /\
  (forall k, has k (around st') <->
     has k (around st) \/ exists c, In c l /\ k = key (skipn num_bounds (its_region (its_hint v
       c)))).
Proof.
  induction l as [|c l IH]; simpl; intros st st' E.
  { injection E as <-. repeat split; auto; [intros u H; auto|tauto|]. intros [H|(c & [] & _)].
    auto. }
  destruct (add_region v st c) as [st1|] eqn:A; [|discriminate].
  destruct (IH st1 st' E) as (S & M & K & R). unfold add_region in A.
  cbv zeta in A.
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
  marked (its_signs v) (its_marks v) = true /\
  forall e, In e (choices num_bounds (its_marks v)) ->
    region_known known (its_marks v) e (its_hint v e).

Lemma vertices_added l : forall st st', folded add_vertex l st = Some st' ->
  more st st' /\ (forall v, In v l -> vertex_known (ends st') v) /\
  (forall k, has k (seen st') <-> has k (seen st) \/ exists v, In v l /\ k = key (its_signs v)) /\
  (forall k, has k (around st') <-> has k (around st) \/ exists v c, In v l /\
     In c (choices num_bounds (its_marks v)) /\
     k = key (skipn num_bounds (its_region (its_hint v c)))).
Proof.
  induction l as [|v l IH]; simpl; intros st st' E.
  { injection E as <-. split; [intros u H; auto|]. split; [tauto|].
    split; intro k; split; auto; [intros [H|(v & [] & _)]|intros [H|(v & _ & [] & _)]]; auto. }
  destruct (add_vertex st v) as [st1|] eqn:A; [|discriminate].
  destruct (IH st1 st' E) as (M & K & S & R). unfold add_vertex in A.
  destruct (rows (its_signs v)) as [rs|] eqn:Q; [|discriminate].
  destruct (check_signs _ rs _ && _ && _) eqn:C; [|discriminate]. apply andb_prop in C as [C _].
  apply andb_prop in C as [C C'].
  rewrite over_choices_folded in A. cbn [rev_append] in A. rewrite map_id in A.
  destruct (regions_added _ _ _ _ A) as (S1 & M1 & K1 & R1). cbn [seen ends around] in *.
  split. { intros u H. apply M, M1. auto. }
  split.
  { intros v' [<-|I]; auto. split; [eauto|]. split; auto. intros c I.
    apply known_more with st1; auto. }
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

Definition regions_at (v : vertex) : list (list Z) :=
  List.map (fun e => its_region (its_hint v e)) (choices num_bounds (its_marks v)).

Definition region_signs : list (list Z) :=
  nodup (list_eq_dec Z.eq_dec)
    (List.map (skipn num_bounds) (flat_map regions_at vs)).

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

Lemma marked_nth a : forall t, marked a t = true -> List.length t = List.length a /\
  forall i, nth i t 1%Z = nth i a 1%Z \/ nth i a 1%Z = 0%Z /\ nth i t 1%Z = 2%Z.
Proof.
  induction a as [|x a IH]; intros [|m t]; simpl; try discriminate.
  { intros _. split; auto. }
  intro M. apply andb_prop in M as [M M']. destruct (IH t M') as [L H]. split; auto.
  intros [|i]; auto. apply orb_prop in M as [M|M]; [apply Z.eqb_eq in M; auto|].
  apply andb_prop in M as [A B]. apply Z.eqb_eq in A. apply Z.eqb_eq in B. auto.
Qed.

Lemma fits_nth a : forall c, fits a c = true -> List.length c = List.length a /\
  forall i, nth i a 1%Z = 2%Z \/ nth i a 1%Z = nth i c 1%Z.
Proof.
  induction a as [|x a IH]; intros [|y c]; simpl; try discriminate.
  { intros _. split; auto. }
  intro M. apply andb_prop in M as [M M']. destruct (IH c M') as [L H]. split; auto.
  intros [|i]; auto. apply orb_prop in M as [M|M]; apply Z.eqb_eq in M; auto.
Qed.

Lemma constant_zeros_nth c : forall rs i, constant_zeros c rs = true ->
  List.length rs = List.length c -> (i < List.length c)%nat -> nth i c 1%Z = 0%Z ->
  is_constant (nth i rs ([], 1%Z)) = true.
Proof.
  induction c as [|x c IH]; intros [|r rs] i; simpl; try lia; try discriminate.
  intros C L I Z. apply andb_prop in C as [C C']. destruct i as [|i]; [|apply IH; auto; lia].
  subst. auto.
Qed.

Lemma follows_nth b e t : forall k c qs i, follows k b e t c qs = true ->
  List.length c = List.length t -> List.length qs = List.length t -> (i < List.length t)%nat ->
  nth i t 1%Z = 2%Z -> nth i c 1%Z <> 0%Z ->
  ((b < k + i)%nat \/ Qnum (nth i qs 0%Q) = 0%Z) /\
  (0 <= nth i c 1 * Qnum (nth i qs 0%Q) * e)%Z.
Proof.
  induction t as [|m t IH]; intros k [|x c] [|q qs] i; simpl; try lia.
  intros F L L' I M X. apply andb_prop in F as [F F'].
  destruct i as [|i]; [|rewrite Nat.add_succ_r; apply (IH (S k)); auto; lia].
  subst. rewrite Nat.add_0_r. simpl in F.
  apply Z.eqb_neq in X. rewrite X in F. simpl in F.
  apply andb_prop in F as [F G]. apply Z.leb_le in G. split; auto.
  apply orb_prop in F as [F|F]; [left; apply Nat.ltb_lt; auto|right; apply Z.eqb_eq; auto].
Qed.

Lemma marks_of_vertex v : In v vs -> List.length (its_marks v) = num_forms /\
  forall i, nth i (its_marks v) 1%Z = nth i (its_signs v) 1%Z \/
    nth i (its_signs v) 1%Z = 0%Z /\ nth i (its_marks v) 1%Z = 2%Z.
Proof.
  intro I. destruct (known v I) as (_ & M & _). apply marked_nth in M as [L H].
  split; auto. rewrite L. apply signs_of_vertex. auto.
Qed.

Lemma region_facts v e : In v vs -> In e (choices num_bounds (its_marks v)) ->
  let h := its_hint v e in let c := its_region h in let t := its_marks v in
  let zs := zero_places t in
  exists rs, rows c = Some rs /\ Forall is_sign c /\ List.length c = num_forms /\
  check_signs c rs (inner_point h) = true /\
  (forall i, nth i e 1%Z = 2%Z \/ nth i e 1%Z = nth i c 1%Z) /\
  (forall i, (i < num_forms)%nat -> nth i c 1%Z = 0%Z ->
    is_constant (nth i rs ([], 1%Z)) = true) /\
  (forall i, In i all_forms -> is_constant (without rs h zs i) = true) /\
  (forall b i, In b zs -> (i < num_forms)%nat -> nth i t 1%Z = 2%Z -> nth i c 1%Z <> 0%Z ->
    ((b < i)%nat \/ Qnum (slope_of h b i) = 0%Z) /\
    (0 <= nth i c 1 * Qnum (slope_of h b i) * nth b c 1)%Z) /\
  (forall b, In b zs ->
    (forall i, (i < num_forms)%nat -> (0 <= nth i c 1 * Qnum (slope_of h b i) * nth b c 1)%Z) \/
    exists v', In v' vs /\ ends_there zs c b (its_signs v')).
Proof.
  intros I J h c t zs. destruct (known v I) as (_ & _ & K). destruct (K e J) as (us & O & U).
  destruct (marks_of_vertex v I) as [Lt _]. fold t in Lt.
  unfold ends_of in O. fold t h c in O. cbv zeta in O.
  destruct (rows c) as [rs|] eqn:R; [|discriminate].
  destruct (fits e c && _ && _ && _ && _ && _ && _) eqn:C; [|discriminate].
  apply andb_prop in C as [C C7]. apply andb_prop in C as [C C5]. apply andb_prop in C as [C C4].
  apply andb_prop in C as [C C3]. apply andb_prop in C as [C C2]. apply andb_prop in C as [C1 C6].
  rewrite forallb_forall in C4, C5, C7.
  apply same_places_ok in C3. rewrite places_zero in C3 by auto. fold zs in C3.
  destruct (check_signs_ok _ _ _ R C2) as (_ & _ & Sc & Lc & Lr & _).
  assert (Forall is_sign c) as Fc.
  { rewrite <- Sc. apply Forall_map, Forall_forall. intros. apply sign_is_sign. }
  assert (NoDup (List.map its_zero (its_edges h))) as N.
  { rewrite C3. apply NoDup_filter, seq_NoDup. }
  assert (forall e, In e (its_edges h) -> List.length (its_slopes e) = num_forms) as Le.
  { intros x Ie. apply Nat.eqb_eq, C4. auto. }
  exists rs. split; auto. split; auto. split; auto. split; auto. split; [apply fits_nth; auto|].
  split. { intros i Li Z. apply (constant_zeros_nth c); auto; lia. }
  split; [|split].
  - intros i Ii. apply in_seq in Ii.
    destruct (remainders_nth rs h (its_edges h) Lr N (incl_refl _) Le) as [L W].
    rewrite <- C3, <- W by lia. apply C5, nth_In. lia.
  - intros b i Ib Li M X. rewrite <- C3 in Ib. apply in_map_iff in Ib as (x & <- & Ie).
    unfold slope_of. rewrite (find_edge _ _ N Ie).
    apply (follows_nth (its_zero x) _ t 0 c); auto; try (rewrite ?Le by auto; lia).
  - intros b Ib. pose proof Ib as Zb. rewrite <- C3 in Ib. apply in_map_iff in Ib as (x & <- & Ie).
    apply mapo_ok in O. destruct (Forall2_in _ _ _ _ O Ie) as (l & Il & El).
    unfold end_of in El. destruct (its_end x) as [u|].
    + destruct (ends_at_signs _ _ _ _ u) eqn:Q; [|discriminate]. injection El as <-. right.
      destruct (ends_at_nth _ _ _ _ _ Q) as (M1 & M2 & H).
      assert (Forall is_sign u) as Su.
      { apply Forall_forall. intros y Y. apply (In_nth _ _ 1%Z) in Y as (i & Li & <-).
        destruct (proj1 (H i ltac:(lia))) as [->| ->]; [unfold is_sign; auto|].
        rewrite Forall_forall in Fc. apply Fc, nth_In. lia. }
      destruct (end_listed u Su) as (v' & Iv' & <-).
      { apply U. apply in_concat. exists [key u]. split; auto. left; auto. }
      exists v'. split; auto. split; [|split].
      * intros i Li. apply H. lia.
      * unfold zs, zero_places in Zb. apply filter_In in Zb as [Zb1 Zb2]. apply in_seq in Zb1.
        apply Z.eqb_eq in Zb2. destruct (H (its_zero x) ltac:(lia)) as [_ G].
        specialize (G Zb2). rewrite Nat.add_0_l, Nat.eqb_refl in G. auto.
      * intros i Ii Ne. unfold zs, zero_places in Ii. apply filter_In in Ii as [Ii1 Ii2].
        apply in_seq in Ii1. apply Z.eqb_eq in Ii2. destruct (H i ltac:(lia)) as [_ G].
        specialize (G Ii2). rewrite Nat.add_0_l in G.
        destruct (Nat.eqb_spec i (its_zero x)); [tauto|auto].
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

Lemma nth_map_seq (s : nat -> Z) i e : (i < num_forms)%nat -> nth i (List.map s all_forms) e = s i.
Proof.
  intro L. unfold all_forms. rewrite (nth_indep _ e (s 0%nat)) by (rewrite map_length, seq_length;
    auto).
  rewrite map_nth, seq_nth by auto. auto.
Qed.

(** A list of signs as a function. *)
Definition sf (c : list Z) (i : nat) : Z := nth i c 0%Z.

Lemma sf_list c : List.length c = num_forms -> List.map (sf c) all_forms = c.
Proof.
  intro L. apply nth_ext with 0%Z 0%Z.
  { unfold all_forms. rewrite map_length, seq_length. auto. }
  unfold all_forms at 1. rewrite map_length, seq_length. intros i I. rewrite nth_map_seq; auto.
Qed.

Lemma sf_nth c i : List.length c = num_forms -> (i < num_forms)%nat -> sf c i = nth i c 1%Z.
Proof. intros L I. apply nth_indep. lia. Qed.

Definition basis (u : corner) : list nat := zero_places (its_marks (fst u)).
Definition around_corner (u : corner) : list (nat -> Z) := List.map sf (regions_at (fst u)).

Section Corner.
(** A vertex with its point, and the choice of a region. *)
Variables (u : corner) (e : list Z).
Hypothesis Cu : is_corner u.
Hypothesis Ie : In e (choices num_bounds (its_marks (fst u))).
Notation v := (fst u).
Notation x := (snd u).
Notation c := (its_region (its_hint v e)).

Lemma sign_at_corner i : sg x i = nth i (its_signs v) 0%Z.
Proof. rewrite sg_nth. destruct Cu as (_ & _ & ->). auto. Qed.

Lemma corner_lengths : List.length (its_signs v) = num_forms /\
  List.length (its_marks v) = num_forms /\ List.length c = num_forms.
Proof.
  destruct Cu as (I & _). split; [apply signs_of_vertex; auto|].
  split; [apply marks_of_vertex; auto|].
  destruct (region_facts v e I Ie) as (rs & _ & _ & L & _). auto.
Qed.

(** The signs of the region, by those of the vertex and by the marks. *)
Lemma region_sign i : (i < num_forms)%nat ->
  (nth i (its_marks v) 1 = 0 /\ sf c i = nth i e 1 /\ (sf c i = 1 \/ sf c i = -1) /\ sg x i = 0 \/
   nth i (its_marks v) 1 = 2 /\ sg x i = 0 \/
   sg x i <> 0 /\ sf c i = sg x i)%Z.
Proof.
  intro L. destruct Cu as (I & _). destruct corner_lengths as (L1 & L2 & L3).
  destruct (marks_of_vertex v I) as [_ M]. specialize (M i).
  destruct (region_facts v e I Ie) as (rs & _ & _ & _ & _ & F & _). specialize (F i).
  destruct (choices_nth _ _ _ Ie) as [_ H]. destruct (H i ltac:(lia)) as [H0 H1].
  rewrite sf_nth, sign_at_corner by auto.
  rewrite (nth_indep (its_signs v) 0%Z 1%Z) by lia.
  assert (is_sign (nth i (its_signs v) 1%Z)) as S.
  { destruct (signs_of_vertex v I) as [S _]. rewrite Forall_forall in S. apply S, nth_In. lia. }
  destruct M as [M|[M M']].
  - destruct (Z.eq_dec (nth i (its_marks v) 1%Z) 0) as [Z|N].
    + left. rewrite M in Z. specialize (H0 ltac:(congruence)).
      assert (nth i c 1 = nth i e 1)%Z as Q by (destruct F as [F|F]; [lia|auto]).
      rewrite Q. repeat split; auto. congruence.
    + right. right. specialize (H1 N). rewrite M in *. split; auto.
      destruct F as [F|F]; [|congruence]. rewrite H1 in F. unfold is_sign in S. lia.
  - right. left. auto.
Qed.

Lemma corner_face : face (sg x) (sf c).
Proof.
  intro i. destruct (Nat.lt_ge_cases i num_forms) as [L|L].
  - destruct (region_sign i L) as [(_ & _ & _ & Z)|[(_ & Z)|(_ & Z)]]; auto.
  - left. unfold VertexLists.sg. rewrite value_out by auto. apply sign_zero. auto.
Qed.

(** The rows of the region, and what they say about points. *)
Lemma region_rows : exists rs, rows c = Some rs /\ List.length rs = num_forms /\
  Forall (fun r => (0 < snd r)%Z /\ over_coordinates d (fst r) = true) rs /\
  (forall i y, kept (sf c) i y = ap (V (proj1_sig y)) (nth i rs ([], 1%Z))) /\
  kept_right nat plane_point value kept (sf c) /\
  (forall i y, sf c i = 0%Z -> kept (sf c) i y = 0) /\
  forall i y, (i < num_forms)%nat ->
    (forall j, (j < i)%nat -> sg y j = 0%Z \/ sg y j = sf c j) -> value i y = kept (sf c) i y.
Proof.
  destruct Cu as (I & _). destruct corner_lengths as (_ & _ & L).
  destruct (region_facts v e I Ie) as (rs & R & _ & _ & C & _ & Z & _).
  destruct (check_signs_ok _ _ _ R C) as (X & _ & Sc & _ & Lr & Pos & W).
  assert (forall i y, kept (sf c) i y = ap (V (proj1_sig y)) (nth i rs ([], 1%Z))) as Kp.
  { intros i y. unfold kept. rewrite sf_list, R by auto. apply nth_ap. }
  exists rs. split; auto. split; auto. split; auto. split; auto. split; [|split].
  - intros y Cy i. rewrite Kp. unfold value.
    rewrite <- (rows_right (proj1_sig y) c rs (proj2_sig y) R), nth_ap; auto.
    left. rewrite <- (sf_list c L). apply face_list. auto.
  - intros i y Q. rewrite Kp. destruct (Nat.lt_ge_cases i num_forms) as [Li|Li].
    2:{ rewrite nth_overflow by lia. unfold ap. simpl. field. }
    assert (is_constant (nth i rs ([], 1%Z)) = true) as K.
    { apply Z; auto. rewrite <- sf_nth by auto. auto. }
    assert (forall z, V z 0%N = 1) as V0 by reflexivity.
    unfold ap. rewrite (constant_val _ _ (V0 _)) by exact K.
    assert (sign_of (ap (V (List.map Q2R (inner_point (its_hint v e)))) (nth i rs ([], 1%Z))) = 0%Z)
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

(** Along the zeros. *)
Lemma along_zeros i y : (i < num_forms)%nat -> kept (sf c) i y - kept (sf c) i x =
  VertexLists.total (fun b => Q2R (slope_of (its_hint v e) b i) * kept (sf c) b y) (basis u).
Proof.
  intro L. destruct Cu as (I & _). destruct corner_lengths as (L1 & L2 & L3).
  destruct region_rows as (rs & R & Lr & Pos & Kp & Right & _).
  destruct (region_facts v e I Ie) as (rs' & R' & _ & _ & _ & _ & _ & Cs & _).
  rewrite R in R'. injection R' as <-. specialize (Cs i ltac:(apply in_seq; lia)).
  fold (basis u) in Cs. set (h := its_hint v e) in *.
  assert (forall y : plane_point, ap (V (proj1_sig y)) (nth i rs ([], 1%Z)) -
    VertexLists.total (fun b => Q2R (slope_of h b i) *
      ap (V (proj1_sig y)) (nth b rs ([], 1%Z))) (basis u)
    = IZR (constant_of (fst (without rs h (basis u) i))) / IZR (snd (without rs h (basis u) i)))
    as W.
  { intro z. destruct (without_rep (V (proj1_sig z)) rs h i Pos (basis u)) as [P Q].
    rewrite (constant_val (V (proj1_sig z)) _ eq_refl) in Q by exact Cs. apply IZR_lt in P.
    rewrite Q. unfold Rdiv. rewrite Rmult_comm, <- Rmult_assoc, Rinv_l, Rmult_1_l by lra. auto. }
  pose proof (W x) as Wx. rewrite <- (W y) in Wx.
  rewrite (total_ext (fun b => Q2R (slope_of h b i) * ap (V (proj1_sig x)) (nth b rs ([], 1%Z)))
    (fun _ => 0 * 0)) in Wx.
  2:{ intros b J. rewrite <- Kp, <- (Right x corner_face).
      rewrite (value_zero nat plane_point value); [ring|].
      apply filter_In in J as [J1 J2]. apply in_seq in J1. apply Z.eqb_eq in J2.
      destruct (region_sign b ltac:(lia)) as [(_ & _ & _ & Z)|[(Z & _)|(N & _)]]; auto; [lia|].
      destruct (marks_of_vertex v I) as [_ M]. rewrite sign_at_corner in N.
      rewrite (nth_indep _ 0%Z 1%Z) in N by lia. destruct (M b) as [M'|[M' _]]; congruence. }
  rewrite total_times in Wx. rewrite !Kp.
  rewrite (total_ext (fun b => Q2R (slope_of h b i) * kept (sf c) b y) (fun b =>
    Q2R (slope_of h b i) * ap (V (proj1_sig y)) (nth b rs ([], 1%Z)))) by (intros; rewrite Kp;
      auto).
  lra.
Qed.

Lemma basis_sign b : In b (basis u) -> (b < num_forms)%nat /\ sg x b = 0%Z /\
  sf c b = nth b e 1%Z /\ (sf c b = 1%Z \/ sf c b = (-1)%Z).
Proof.
  intro J. apply filter_In in J as [J1 J2]. apply in_seq in J1. apply Z.eqb_eq in J2.
  split; [lia|]. destruct Cu as (I & _). destruct corner_lengths as (L1 & L2 & L3).
  destruct (region_sign b ltac:(lia)) as [(_ & A & B & Z)|[(Z & _)|(N & _)]]; auto; [lia|].
  destruct (marks_of_vertex v I) as [_ M]. rewrite sign_at_corner in N.
  rewrite (nth_indep _ 0%Z 1%Z) in N by lia. destruct (M b) as [M'|[M' _]]; congruence.
Qed.

Lemma edges_ok us : Forall is_corner us -> List.map fst us = vs ->
  region_ends nat plane_point inequality value kept corner snd us basis u (sf c).
Proof.
  intros Us Mu. destruct Cu as (I & D & S). destruct corner_lengths as (L1 & L2 & L3).
  destruct region_rows as (rs & R & Lr & Pos & Kp & Right & _).
  destruct (region_facts v e I Ie) as (rs' & R' & _ & _ & Ck & _ & _ & _ & _ & Ed).
  rewrite R in R'. injection R' as <-. set (h := its_hint v e) in *.
  split; [apply corner_face|]. split; auto. split.
  { destruct (check_signs_ok _ _ _ R Ck) as (X & Dy & Sy & _). exists (exist _ _ X).
    split. { apply inside_iff. auto. }
    intro i. rewrite sg_nth. cbn [proj1_sig]. rewrite Sy. auto. }
  exists (fun b i =>
    if (i <? num_forms)%nat then IZR (sf (its_region h) b) * Q2R (slope_of h b i) else 0).
  split.
  - intros i y. destruct (Nat.ltb_spec i num_forms) as [L|L].
    + rewrite along_zeros by auto. apply total_ext. intros b J. fold h.
      pose proof (basis_sign b J) as Cb. fold h in Cb.
      destruct Cb as (_ & _ & _ & [-> | ->]); ring.
    + rewrite !Kp, !nth_overflow by lia. rewrite (total_ext _ (fun _ => 0 * 0)).
      { rewrite total_times. unfold ap. simpl. field. }
      intros; ring.
  - intros b J. destruct (basis_sign b J) as (Lb & _).
    destruct (Ed b J) as [Ry|(v' & Iv' & En1 & En2 & En3)].
    + left. intro i. destruct (Nat.ltb_spec i num_forms) as [L|L]; [|lra].
      specialize (Ry i L). rewrite <- !sf_nth in Ry by auto.
      apply IZR_le in Ry. rewrite !mult_IZR in Ry. rewrite <- Q2R_num in Ry.
      assert (0 < IZR (Z.pos (Qden (slope_of h b i)))) by (apply IZR_lt; lia).
      fold h in Ry.
      set (q := Q2R (slope_of h b i)) in *. set (m := IZR (Z.pos (Qden (slope_of h b i)))) in *.
      assert (0 <= m * (IZR (sf (its_region h) i) * (IZR (sf (its_region h) b) * q))) as G by lra.
      destruct (Rle_lt_dec 0 (IZR (sf (its_region h) i) * (IZR (sf (its_region h) b) * q))); auto.
      nra.
    + right. rewrite <- Mu in Iv'. apply in_map_iff in Iv' as (u' & <- & Iu').
      pose proof Us as Us'. rewrite Forall_forall in Us'. destruct (Us' u' Iu') as (Iv' & _ & Su).
      exists u'. destruct (signs_of_vertex _ Iv') as [_ Lv].
      assert (forall i, (i < num_forms)%nat -> sg (snd u') i = nth i (its_signs (fst u')) 1%Z)
        as Sg. { intros i L. rewrite sg_nth, Su. apply nth_indep. lia. }
      split; auto. split; [|split].
      * intro i. destruct (Nat.lt_ge_cases i num_forms) as [L|L].
        -- specialize (En1 i L). rewrite <- Sg, <- sf_nth in En1 by auto. auto.
        -- left. unfold VertexLists.sg. rewrite value_out by auto. apply sign_zero. auto.
      * rewrite <- Sg, <- sf_nth in En2 by auto. auto.
      * intros i J' N. rewrite Sg; [apply En3; auto|].
        apply filter_In in J' as [J' _]. apply in_seq in J'. lia.
Qed.
End Corner.

(** Near a vertex, each point is in the closure of the region with its signs at the zeros without a
    mark, or 1 where it is 0: by the order of the forms. *)
Lemma complete_ok u : is_corner u ->
  complete_at nat plane_point inequality value corner snd around_corner u.
Proof.
  intros Cu' y Dy F. pose proof Cu' as (I & D & Su). set (t := its_marks (fst u)).
  destruct (marks_of_vertex _ I) as [Lt M]. fold t in Lt, M.
  destruct (signs_of_vertex _ I) as [Fs Ls].
  set (g := fun i => if (nth i t 1 =? 0)%Z then if (sg y i =? 0)%Z then 1%Z else sg y i
                     else nth i t 1%Z).
  set (e := List.map g all_forms).
  assert (List.length e = num_forms) as Le by (unfold e, all_forms; rewrite map_length, seq_length;
    auto).
  assert (forall i, (i < num_forms)%nat -> nth i e 1%Z = g i) as G
    by (intros; apply nth_map_seq; auto).
  assert (In e (choices num_bounds t)) as Ie.
  { apply choices_in.
    - apply Forall2_nth with 1%Z 1%Z; [congruence|]. intros i L. rewrite G by lia. unfold g, fc.
      destruct (Z.eqb_spec (nth i t 1%Z) 0); auto.
    - intros i L Z. rewrite G by lia. unfold g. rewrite Z. simpl.
      destruct (Z.eqb_spec (sg y i) 0) as [|N]; auto.
      unfold VertexLists.sg in *. destruct (sign_cases (value i y)) as [[A ->]|[[A B]|[A B]]];
        auto; [|congruence]. rewrite B in *. right. split; auto.
      destruct (Nat.lt_ge_cases i num_bounds) as [Lb|]; auto. specialize (Dy i Lb). lra. }
  set (c := its_region (its_hint (fst u) e)).
  exists (sf c). split.
  { apply in_map, in_map_iff. exists e. auto. }
  destruct (region_rows u e Cu' Ie) as (rs & _ & _ & _ & Kp & Right & Zero & Before).
  destruct (region_facts _ e I Ie) as (_ & _ & Fc & Lc & _ & _ & _ & _ & Fo & _).
  fold c in Kp, Right, Zero, Before, Fc, Lc, Fo.
  assert (forall n i, (i < n)%nat -> (i < num_forms)%nat -> sg y i = 0%Z \/ sg y i = sf c i) as K.
  2:{ intro i. destruct (Nat.lt_ge_cases i num_forms) as [L|L].
      - apply (K (S i)); auto.
      - left. unfold VertexLists.sg. rewrite value_out by auto. apply sign_zero. auto. }
  induction n as [|n IH]; intros i Li L; [lia|].
  assert (forall j, (j < i)%nat -> sg y j = 0%Z \/ sg y j = sf c j) as Hj
    by (intros; apply IH; lia).
  pose proof (region_sign u e Cu' Ie i L) as Cases. fold c t in Cases.
  destruct Cases as [(T & E1 & E2 & Z)|[(T & Z)|(N & Z)]].
  - rewrite E1, G by auto. unfold g. rewrite T. simpl.
    destruct (Z.eqb_spec (sg y i) 0); auto.
  - destruct (Z.eq_dec (sf c i) 0) as [C0|C0].
    { left. unfold VertexLists.sg. rewrite (Before i y L Hj), Zero by auto. apply sign_zero. auto. }
    pose proof (along_zeros u e Cu' Ie i y L) as A. fold c in A.
    rewrite <- (Right (snd u) (corner_face u e Cu' Ie)) in A.
    rewrite (value_zero nat plane_point value i (snd u) Z) in A.
    assert (0 <= IZR (sf c i) * value i y) as P.
    { rewrite (Before i y L Hj).
      replace (kept (sf c) i y) with (kept (sf c) i y - 0) by ring. rewrite A, <- total_times.
      apply total_nonneg. intros b J. destruct (basis_sign u e Cu' Ie b J) as (Lb & _ & _ & Cb).
      fold c in Cb. destruct (Fo b i J L T) as [[B|B] Si]; [rewrite <- sf_nth by auto; auto| |].
      - rewrite <- !sf_nth in Si by auto. apply IZR_le in Si. rewrite !mult_IZR in Si.
        rewrite <- Q2R_num in Si. set (h := its_hint (fst u) e) in *.
        assert (0 < IZR (Z.pos (Qden (slope_of h b i)))) by (apply IZR_lt; lia).
        assert (0 <= IZR (sf c i) * Q2R (slope_of h b i) * IZR (sf c b)) as Si'.
        { set (q := Q2R (slope_of h b i)) in *. set (m := IZR (Z.pos (Qden (slope_of h b i)))) in *.
          assert (0 <= m * (IZR (sf c i) * q * IZR (sf c b))) by lra.
          destruct (Rle_lt_dec 0 (IZR (sf c i) * q * IZR (sf c b))); auto. nra. }
        assert (0 <= IZR (sf c b) * kept (sf c) b y) as Sb.
        { rewrite <- (Before b y Lb) by (intros; apply Hj; lia).
          destruct (Hj b B) as [Hb|Hb]; unfold VertexLists.sg in Hb;
            destruct (sign_cases (value b y)) as [[X Y]|[[X Y]|[X Y]]]; rewrite Y in Hb;
            try discriminate; try (rewrite <- Hb); rewrite ?X; lra. }
        destruct Cb as [Cb|Cb]; rewrite Cb in *; nra.
      - replace (Q2R (slope_of (its_hint (fst u) e) b i)) with 0
          by (unfold Q2R; rewrite B; lra). lra. }
    assert (is_sign (sf c i)) as Si.
    { rewrite Forall_forall in Fc. apply Fc, nth_In. lia. }
    unfold VertexLists.sg. destruct (sign_cases (value i y)) as [[X ->]|[[X ->]|[X ->]]]; auto;
      right;
      destruct Si as [Si|[Si|Si]]; rewrite Si in *; auto; try lra; congruence.
  - rewrite Z. destruct (F i) as [H|H]; [congruence|]. right. congruence.
Qed.

Lemma skip_bounds (a b : list Z) : List.length a = num_bounds -> skipn num_bounds (a ++ b) = b.
Proof. intro L. rewrite <- L, skipn_app, skipn_all, Nat.sub_diag. auto. Qed.

(** Near the inner point of a region all points have its signs. *)
Lemma region_open v e0 : In v vs -> In e0 (choices num_bounds (its_marks v)) ->
  exists x, inner p (has_signs p (skipn num_bounds (its_region (its_hint v e0)))) x /\
    in_interior p x.
Proof.
  intros I J. destruct (region_facts v e0 I J) as (rs & E & _ & _ & Ck & _ & Zc & _).
  set (h := its_hint v e0) in *. set (c := its_region h) in *.
  destruct (check_signs_ok _ _ _ E Ck) as (X & D & S & Lc & Lr & Pos & W).
  set (x := List.map Q2R (inner_point h)) in *. exists x.
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

(** Points of an open set with the signs [t] lie in a region around a vertex. *)
Lemma open_listed t x : inner p (has_signs p t) x -> In t region_signs.
Proof.
  intros (X & e & Pe & K). destruct corners_exist as (us & Us & Mu).
  destruct parts_of_check as (Ne & _).
  destruct (K x X (near_refl e x Pe)) as [[_ (e0 & Pe0 & K0)] _].
  pose proof (K0 x X (near_refl e0 x Pe0)) as D.
  set (xp := exist _ x X : plane_point).
  assert (forall u, In u us -> inside (snd u) /\
    complete_at nat plane_point inequality value corner snd around_corner u /\
    forall s, In s (around_corner u) ->
      region_ends nat plane_point inequality value kept corner snd us basis u s) as Checked.
  { intros u Iu. pose proof Us as Us'. rewrite Forall_forall in Us'. pose proof (Us' u Iu) as Cu.
    split; [apply Cu|]. split; [apply complete_ok; auto|]. intros s Is.
    apply in_map_iff in Is as (c & <- & Ic). apply in_map_iff in Ic as (e1 & <- & Ie).
    apply (edges_ok u e1 Cu Ie us Us Mu). }
  assert (us <> []) as Np. { intros ->. simpl in Mu. congruence. }
  assert (inside xp) as Dx by (apply inside_iff; auto).
  assert (forall u, NoDup (basis u)) as Nb by (intro; apply NoDup_filter, seq_NoDup).
  destruct (all_found nat plane_point all_forms inequality value kept forms_or_zero connected
    corner snd us basis around_corner Nb Checked Np xp Dx) as (_ & u & s & Iu & Is & Cx).
  apply in_map_iff in Is as (c & <- & Ic). apply in_map_iff in Ic as (e1 & <- & Ie).
  pose proof Us as Us'. rewrite Forall_forall in Us'. destruct (Us' u Iu) as (Iv & _).
  destruct (region_facts (fst u) e1 Iv Ie) as (rs & E & _ & Lc0 & Ck & _ & Zc & _).
  set (h := its_hint (fst u) e1) in *. set (c := its_region h) in *.
  assert (Forall2 fc (List.map sign_of (values x)) c) as Fx.
  { rewrite <- (sf_list c Lc0). apply (face_list xp). auto. }
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
  - apply in_flat_map. exists (fst u). split; auto. apply in_map_iff. exists e1. auto.
Qed.

(** Signs of different regions have different numbers. *)
Lemma region_keys : NoDup (List.map key region_signs) /\
  forall k, In k (List.map key region_signs) <-> has k (around st).
Proof.
  assert (forall t, In t region_signs <-> exists v c, In v vs /\
    In c (choices num_bounds (its_marks v)) /\
    t = skipn num_bounds (its_region (its_hint v c))) as Q.
  { intro t. unfold region_signs. rewrite nodup_In, in_map_iff. split.
    - intros (c & <- & J). apply in_flat_map in J as (v & I & J).
      apply in_map_iff in J as (e & <- & J). eauto.
    - intros (v & e & I & J & ->). exists (its_region (its_hint v e)). split; auto.
      apply in_flat_map. exists v. split; auto. apply in_map_iff. eauto. }
  assert (forall t, In t region_signs -> Forall is_sign t) as S.
  { intros t T. apply Q in T as (v & c & I & J & ->).
    destruct (region_facts v c I J) as (rs & _ & F & _).
    rewrite <- (firstn_skipn num_bounds (its_region _)) in F. apply Forall_app in F. tauto. }
  split.
  - assert (NoDup region_signs) as N by apply NoDup_nodup. revert N S. clear.
    induction region_signs as [|t l IH]; intros N S; simpl; constructor; inversion N; subst.
    + intro I. apply in_map_iff in I as (t' & K & I). apply key_same in K; [|apply S; right|apply S;
        left]; auto. congruence.
    + apply IH; auto. intros t' I. apply S. right; auto.
  - intro k. rewrite in_map_iff, (proj2 (proj2 (proj2 (vertices_added _ _ _ added)))). split.
    + intros (t & <- & T). apply Q in T as (v & c & I & J & ->). right. eauto.
    + intros [[]|(v & c & I & J & ->)].
      exists (skipn num_bounds (its_region (its_hint v c))). split; auto. apply Q. eauto.
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
  - assert (exists v, In v vs) as [v I].
    { destruct vs as [|v l]; [tauto|]. exists v. left; auto. }
    assert (exists e, In e (choices num_bounds (its_marks v))) as [e J].
    { generalize num_bounds. induction (its_marks v) as [|m t IH]; intro k; simpl.
      { exists []. left; auto. }
      destruct (IH (pred k)) as [e J]. destruct (m =? 0)%Z; [destruct k|].
      - exists (1%Z :: e). apply in_app_iff. left. apply in_map; auto.
      - exists (1%Z :: e). apply in_map; auto.
      - exists (m :: e). apply in_map; auto. }
    destruct (region_open v e I J) as (x & _ & Q). exists x. auto.
  - exists region_signs. split; [apply NoDup_nodup|]. split; [apply right_count|]. intro t. split.
    + intro J. apply nodup_In, in_map_iff in J as (c & <- & J).
      apply in_flat_map in J as (v & I & J). apply in_map_iff in J as (e & <- & J).
      destruct (region_open v e I J) as (x & Q & _). exists x. auto.
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
Definition num_bound_signs (s : corner_progress) : nat := num_bounds (slack_forms s).
