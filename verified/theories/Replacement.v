(** Theorems replacement and bounded-replacement: the maps of two consecutive layers agree on a box
    (FORMAT.md, section 3.3; docs/theory/box.md).

    Coordinates of the box with equal ends are put in. Over the other ones the difference of the
    maps is a sum of terms [c max(s h, 0)], one for each primitive row [h] and sign [s]. *)
Require Import String ZArith Reals List Bool Lra Lia Psatz Permutation Mergesort.
From PolyreluVerified Require Import Verdicts Networks Domains Numbers Competitors Maps Stacks
  Scaled.
From PolyreluVerified Require Import Invariants Boxes.
Import ListNotations.
Open Scope string_scope.
Open Scope list_scope.
Open Scope R_scope.

(** * Coordinates with equal ends are put in *)

Definition fixed (l h : option Z) : option Z :=
  match l, h with Some e, Some f => if (e =? f)%Z then Some e else None | _, _ => None end.

(** A row over the free coordinates, times the denominator [d]. *)
Fixpoint put_in (d : Z) (w : list Z) (ls hs : list (option Z)) (total : Z) : row :=
  match w, ls, hs with
  | c :: w', l :: ls', h :: hs' =>
      match fixed l h with
      | Some e => put_in d w' ls' hs' (total + c * e)
      | None => let r := put_in d w' ls' hs' total in ((c * d)%Z :: fst r, snd r)
      end
  | _, _, _ => ([], total)
  end.
Definition restricted (B : box) (r : row) : row :=
  put_in (box_unit B) (fst r) (lows B) (highs B) (snd r * box_unit B).

Fixpoint free {A} (ls hs : list (option Z)) (l : list A) : list A :=
  match ls, hs, l with
  | a :: ls', b :: hs', x :: l' =>
      match fixed a b with Some _ => free ls' hs' l' | None => x :: free ls' hs' l' end
  | _, _, _ => []
  end.
Definition free_box (B : box) : box :=
  Box (free (lows B) (highs B) (lows B)) (free (lows B) (highs B) (highs B)) (box_unit B).

(** * Primitive rows *)

Fixpoint first_sign (l : list Z) : Z :=
  match l with [] => 1%Z | x :: l' => if (x =? 0)%Z then first_sign l' else Z.sgn x end.

(** A row as a multiple of a primitive one whose first nonzero entry is positive. *)
Definition plane_of (r : row) : row * Z :=
  let all := fst r ++ [snd r] in
  let s := (first_sign all * divisor all)%Z in
  if (s =? 0)%Z then (r, 0%Z) else ((List.map (fun x => x / s) (fst r), snd r / s)%Z, s).

(** * Terms *)

(** [c max(h, 0)] if [up], else [c max(-h, 0)], for each output. *)
Record term := Term { plane : row; up : bool; coefficients : list Z }.

Definition key (t : term) : list Z := fst (plane t) ++ [snd (plane t); if up t then 1%Z else 0%Z].

Module Terms.
  Definition t := term.
  Definition leb (a b : term) : bool :=
    match compare_keys (key a) (key b) with Gt => false | _ => true end.
  Theorem leb_total a b : leb a b = true \/ leb b a = true.
  Proof.
    unfold leb.
    assert (forall k l, compare_keys l k = CompOpp (compare_keys k l)) as A.
    { induction k as [|x k IH]; intros [|y l]; simpl; auto.
      rewrite (Z.compare_antisym x y). destruct (Z.compare x y); simpl; auto. }
    rewrite (A (key a) (key b)). destruct (compare_keys _ _); auto.
  Qed.
End Terms.
Module TermSorting := Sort Terms.

Fixpoint plus_all (a b : list Z) : list Z :=
  match a, b with
  | x :: a', y :: b' => (x + y)%Z :: plus_all a' b'
  | [], b => b
  | a, [] => a
  end.

Definition same_term (a b : term) : bool :=
  Bool.eqb (up a) (up b) && row_eqb (plane a) (plane b).

(** Neighbours with one row and sign become one term. *)
Fixpoint merge (t : term) (l : list term) : list term :=
  match l with
  | [] => [t]
  | f :: l' =>
      if same_term t f then merge (Term (plane t) (up t) (plus_all (coefficients t) (coefficients
        f))) l'
      else t :: merge f l'
  end.
Definition merged (l : list term) : list term :=
  let all := match TermSorting.sort l with [] => [] | t :: l' => merge t l' end in
  filter (fun t => existsb (fun c => negb (c =? 0)%Z) (coefficients t)) all.

(** The columns of a matrix, of which there are [n]. *)
Fixpoint in_front (w : list Z) (columns : list (list Z)) : list (list Z) :=
  match w, columns with c :: w', k :: columns' => (c :: k) :: in_front w' columns' | _, _ => [] end.
Definition columns (n : nat) (rs : list row) : list (list Z) :=
  fold_right (fun r k => in_front (fst r) k) (repeat [] n) rs.

Definition term_of (factor : Z) (B : box) (r : row) (column : list Z) : term :=
  let (h, s) := plane_of (restricted B r) in
  Term h (0 <=? s)%Z (List.map (Z.mul (factor * Z.abs s)) column).

(** The terms of a map, times a factor. *)
Fixpoint terms_of (factor : Z) (B : box) (rs : list row) (cs : list (list Z)) : list term :=
  match rs, cs with
  | r :: rs', c :: cs' => term_of factor B r c :: terms_of factor B rs' cs'
  | _, _ => []
  end.

(** * The affine rest *)

Fixpoint padded (a : Z) (v : list Z) (b : Z) (w : list Z) : list Z :=
  match v, w with
  | x :: v', y :: w' => (a * x + b * y)%Z :: padded a v' b w'
  | [], w => List.map (Z.mul b) w
  | v, [] => List.map (Z.mul a) v
  end.
Definition add_row (r : row) (c : Z) (h : row) : row :=
  if (c =? 0)%Z then r else (padded 1 (fst r) c (fst h), (snd r + c * snd h)%Z).

(** Add multiples of [h] to the rows of all outputs. *)
Fixpoint add_all (rs : list row) (cs : list Z) (h : row) : list row :=
  match rs, cs with
  | r :: rs', c :: cs' => add_row r c h :: add_all rs' cs' h
  | rs, _ => rs
  end.

(** [max(h, 0)] or [max(-h, 0)] as a multiple of [h], where [h] has one sign on the box. *)
Definition slope (B : box) (t : term) : option Z :=
  let nonpositive e := match e with Some m => (m <=? 0)%Z | None => false end in
  if negb (Nat.eqb (length (fst (plane t))) (length (lows B))) then None
  else if nonpositive (supremum B (negated (plane t))) then Some (if up t then 1 else 0)%Z
  else if nonpositive (supremum B (plane t)) then Some (if up t then 0 else -1)%Z
  else None.

Fixpoint opposite (a b : list Z) : bool :=
  match a, b with
  | [], [] => true
  | x :: a', y :: b' => (x =? - y)%Z && opposite a' b'
  | _, _ => false
  end.

(** The rows of all outputs after one term; [None] if its absolute value is left. *)
Definition unbent (B : box) (t : term) (rs : list row) : option (list row) :=
  match slope B t with
  | Some m => Some (add_all rs (List.map (Z.mul m) (coefficients t)) (plane t))
  | None => None
  end.

Definition cancel (a b : term) : bool :=
  row_eqb (plane a) (plane b) && negb (Bool.eqb (up a) (up b)) &&
  opposite (coefficients a) (coefficients b).

(** The same after all terms. The absolute values of neighbours may cancel. *)
Fixpoint affine_part (B : box) (l : list term) (rs : list row) : option (list row) :=
  match l with
  | [] => Some rs
  | a :: l' =>
      match l' with
      | b :: l'' =>
          if cancel a b
          then affine_part B l'' (add_all rs (coefficients (if up a then a else b)) (plane a))
          else match unbent B a rs with Some rs' => affine_part B l' rs' | None => None end
      | [] => unbent B a rs
      end
  end.

Definition is_zero (r : row) : bool := forallb (fun x => x =? 0)%Z (snd r :: fst r).

Fixpoint differences (a : Z) (rs : list row) (b : Z) (ss : list row) : list row :=
  match rs, ss with
  | r :: rs', s :: ss' => ([], (a * snd r - b * snd s)%Z) :: differences a rs' b ss'
  | _, _ => []
  end.
Definition constants (d : Z) (p q p' q' : plain) : list row :=
  differences (over p' * over q' * (d * over p)) (rows q) (over p * over q * (d * over p')) (rows
    q').

Definition maps_agree (B : box) (c : change) : bool :=
  let p := lower c in let q := upper c in let p' := lower' c in let q' := upper' c in
  let terms :=
    terms_of (over p' * over q') B (rows p) (columns (length (rows p)) (rows q)) ++
    terms_of (- (over p * over q)) B (rows p') (columns (length (rows p')) (rows q')) in
  match affine_part (free_box B) (merged terms) (constants (box_unit B) p q p' q') with
  | Some rs => Nat.eqb (length (rows q)) (length (rows q')) && forallb is_zero rs
  | None => false
  end.

(** * What this proves *)

Lemma fixed_eq d l h e x : fixed l h = Some e -> above_low d l x -> below_high d h x ->
  IZR d * x = IZR e.
Proof.
  unfold fixed. destruct l as [a|], h as [b|]; try discriminate.
  destruct (Z.eqb_spec a b) as [->|]; [|discriminate].
  intros [= ->]. simpl. lra.
Qed.

Lemma put_in_ok d w : forall ls hs u total, length w = length u ->
  Forall2 (above_low d) ls u -> Forall2 (below_high d) hs u ->
  value (put_in d w ls hs total) (free ls hs u) = IZR d * dot w u + IZR total.
Proof.
  induction w as [|c w IH]; intros ls hs [|x u] total; simpl; try discriminate.
  { intros _ F G. inversion F; inversion G. unfold value. simpl. lra. }
  intros [= L] F G. inversion F as [|l x' ls' u' Hl F']; subst.
  inversion G as [|h x' hs' u' Hh G']; subst. simpl.
  destruct (fixed l h) as [e|] eqn:E.
  - rewrite IH by auto. rewrite plus_IZR, mult_IZR. rewrite <- (fixed_eq _ _ _ _ _ E Hl Hh). ring.
  - specialize (IH ls' hs' u total L F' G'). unfold value in *. simpl. rewrite mult_IZR. lra.
Qed.

Lemma restricted_ok B r u : in_box B u -> length (fst r) = length u ->
  value (restricted B r) (free (lows B) (highs B) u) = IZR (box_unit B) * value r u.
Proof.
  intros (D & L & H) E. unfold restricted. rewrite put_in_ok, mult_IZR by auto. unfold value. ring.
Qed.

Lemma free_box_ok B u : in_box B u -> in_box (free_box B) (free (lows B) (highs B) u).
Proof.
  intros (D & L & H). split; [auto|]. simpl. revert H. generalize (highs B). clear D.
  induction L as [|l x ls u Hl L IH]; intros hs H; inversion H as [|h x' hs' u' Hh H']; subst;
    simpl; auto.
  destruct (fixed l h); simpl; [auto|]. destruct (IH _ H'). split; constructor; auto.
Qed.

Lemma first_sign_unit l : first_sign l = 1%Z \/ first_sign l = (-1)%Z.
Proof.
  induction l as [|x l IH]; simpl; auto. destruct (Z.eqb_spec x 0); auto.
  destruct (Z.sgn_spec x) as [[_ ->]|[[? _]|[_ ->]]]; auto. lia.
Qed.

Lemma dot_divided s w u : (s <> 0)%Z -> Forall (fun x => (s | x)%Z) w ->
  dot w u = IZR s * dot (List.map (fun x => x / s)%Z w) u.
Proof.
  intros N F. revert u. induction F as [|x w [q ->] F IH]; intros [|y u]; simpl; try lra.
  rewrite IH, Z.div_mul, mult_IZR by auto. lra.
Qed.

Lemma dot_zero w u : Forall (fun x => x = 0%Z) w -> dot w u = 0.
Proof. intro F. revert u. induction F as [|x w E F IH]; intros [|y u]; simpl; auto. rewrite IH, E.
lra. Qed.

Lemma plane_of_ok r h s u : plane_of r = (h, s) -> value r u = IZR s * value h u.
Proof.
  unfold plane_of. set (all := fst r ++ [snd r]). set (t := (first_sign all * divisor all)%Z).
  assert (forall x, In x all -> (t | x)%Z) as Div.
  { intros x I. apply divisor_divides in I. unfold t. destruct (first_sign_unit all) as [-> | ->].
    - rewrite Z.mul_1_l. auto.
    - apply Z.divide_opp_l. replace (- (-1 * divisor all))%Z with (divisor all) by ring. auto. }
  destruct (Z.eqb_spec t 0) as [Z|N]; intros [= <- <-]; unfold value.
  - rewrite dot_zero; [rewrite (Z.divide_0_l (snd r)); [lra|]|].
    + rewrite <- Z. apply Div. unfold all. apply in_or_app. simpl. auto.
    + apply Forall_forall. intros x I. apply Z.divide_0_l. rewrite <- Z. apply Div.
      apply in_or_app. auto.
  - simpl. rewrite (dot_divided t) by (auto; apply Forall_forall; intros; apply Div, in_or_app;
      auto).
    destruct (Div (snd r)) as [q E]; [apply in_or_app; simpl; auto|].
    rewrite E, Z.div_mul, mult_IZR by auto. ring.
Qed.

(** ** Sums of terms *)

Definition turned (t : term) (u : list R) : R :=
  if up t then value (plane t) u else - value (plane t) u.
Definition total (o : nat) (u : list R) (l : list term) : R :=
  fold_right (fun t s => IZR (nth o (coefficients t) 0%Z) * relu (turned t u) + s) 0 l.

Lemma total_app o u l m : total o u (l ++ m) = total o u l + total o u m.
Proof. induction l as [|t l IH]; simpl; [lra|]. rewrite IH. lra. Qed.
Lemma total_permutation o u l m : Permutation l m -> total o u l = total o u m.
Proof. induction 1; simpl; lra. Qed.

Lemma nth_times a o l : nth o (List.map (Z.mul a) l) 0%Z = (a * nth o l 0)%Z.
Proof. revert o. induction l as [|x l IH]; intros [|o]; simpl; auto; lia. Qed.
Lemma nth_plus_all o a b : nth o (plus_all a b) 0%Z = (nth o a 0 + nth o b 0)%Z.
Proof.
  revert o b. induction a as [|x a IH]; intros [|o] [|y b]; simpl; auto; lia.
Qed.

Lemma merge_ok o u l : forall t, total o u (merge t l) = total o u (t :: l).
Proof.
  induction l as [|f l IH]; intro t; [reflexivity|]. cbn [merge].
  destruct (same_term t f) eqn:E; [|cbn [total fold_right]; fold (total o u (merge f l));
    rewrite IH; reflexivity].
  rewrite IH. unfold same_term in E. apply andb_prop in E as [E1 E2]. apply Bool.eqb_prop in E1.
  apply row_eqb_ok in E2.
  simpl. unfold turned. simpl. rewrite nth_plus_all, plus_IZR, <- E1, <- E2. lra.
Qed.

Lemma merged_ok o u l : total o u (merged l) = total o u l.
Proof.
  rewrite (total_permutation o u l _ (TermSorting.Permuted_sort l)). unfold merged.
  assert (forall m, total o u (filter (fun t => existsb (fun c => negb (c =? 0)%Z) (coefficients
    t)) m) = total o u m) as K.
  { induction m as [|t m IH]; simpl; auto. destruct (existsb _ _) eqn:E; simpl; rewrite IH; auto.
    assert (nth o (coefficients t) 0%Z = 0%Z) as ->; [|lra]. clear - E. revert o.
    induction (coefficients t) as [|c l IH]; intros [|o]; simpl in *; auto;
      apply orb_false_elim in E as [E1 E2]; auto.
    apply negb_false_iff, Z.eqb_eq in E1. auto. }
  rewrite K. destruct (TermSorting.sort l) as [|t m]; auto. apply merge_ok.
Qed.

Lemma term_of_ok o factor B r column u : in_box B u -> length (fst r) = length u ->
  let t := term_of factor B r column in
  IZR (nth o (coefficients t) 0%Z) * relu (turned t (free (lows B) (highs B) u)) =
  IZR factor * IZR (nth o column 0%Z) * relu (IZR (box_unit B) * value r u).
Proof.
  intros I L. unfold term_of. destruct (plane_of (restricted B r)) as [h s] eqn:E. cbv zeta.
  cbn [coefficients].
  apply (plane_of_ok _ _ _ (free (lows B) (highs B) u)) in E.
  rewrite (restricted_ok _ _ _ I L) in E.
  rewrite nth_times, !mult_IZR, E, abs_IZR. unfold turned. cbn [up plane].
  set (v := value h _). destruct (Z.leb_spec 0 s) as [S|S].
  - apply IZR_le in S. rewrite Rabs_pos_eq, relu_scale by auto. ring.
  - apply IZR_lt in S. rewrite Rabs_left by auto. replace (IZR s * v) with (- IZR s * - v) by ring.
    rewrite relu_scale by lra. ring.
Qed.

Lemma terms_of_ok o factor B p u : in_box B u -> (0 < over p)%Z -> forall cs,
  Forall (fun r => length (fst r) = length u) (rows p) -> length cs = length (rows p) ->
  total o (free (lows B) (highs B) u) (terms_of factor B (rows p) cs) =
  IZR factor * (IZR (box_unit B) * IZR (over p)) * dot (List.map (fun c => nth o c 0%Z) cs) (active
    p u).
Proof.
  intros I P cs F. pose proof I as (D & _). apply IZR_lt in P, D. unfold active, affine. revert cs.
  induction F as [|r rs L F IH]; intros [|c cs];
    cbn [terms_of List.map dot total fold_right length];
    try discriminate; try (intros; lra).
  intros [= E]. fold (total o (free (lows B) (highs B) u) (terms_of factor B rs cs)).
  rewrite IH by auto. pose proof (term_of_ok o factor B r c u I L) as T. cbv zeta in T. rewrite T.
  rewrite relu_scale, relu_over by lra. field. lra.
Qed.

Lemma columns_ok n rs : Forall (fun r => length (fst r) = n) rs ->
  length (columns n rs) = n /\
  forall o, (o < length rs)%nat ->
    List.map (fun c => nth o c 0%Z) (columns n rs) = fst (nth o rs no_row).
Proof.
  induction 1 as [|r rs L F IH]; simpl.
  { split; [apply repeat_length|lia]. }
  destruct IH as [IH1 IH2].
  assert (forall w k, length w = length k -> length (in_front w k) = length w /\
    List.map (fun c => nth 0 c 0%Z) (in_front w k) = w /\
    forall o, List.map (fun c => nth (S o) c 0%Z) (in_front w k) = List.map (fun c => nth o c 0%Z)
      k) as K.
  { clear. induction w as [|c w IH]; intros [|k ks]; simpl; try discriminate; auto. intros [= L].
    destruct (IH _ L) as (A & B & C). repeat split; try congruence. intro o. rewrite C. auto. }
  destruct (K (fst r) (columns n rs)) as (A & B & C); [congruence|]. split; [congruence|].
  intros [|o] O; [exact B|]. rewrite C. apply IH2. lia.
Qed.

(** ** The affine rest *)

Lemma dot_padded a v b w u : dot (padded a v b w) u = IZR a * dot v u + IZR b * dot w u.
Proof.
  revert w u. induction v as [|x v IH]; intros w u.
  - replace (padded a [] b w) with (List.map (Z.mul b) w) by (destruct w; auto).
    rewrite dot_times. simpl. lra.
  - destruct w as [|y w].
    + change (padded a (x :: v) b []) with (List.map (Z.mul a) (x :: v)). rewrite dot_times. simpl.
      lra.
    + destruct u as [|z u]; cbn [padded dot]; [lra|]. rewrite IH, plus_IZR, !mult_IZR. lra.
Qed.

Lemma add_row_ok r c h u : value (add_row r c h) u = value r u + IZR c * value h u.
Proof.
  unfold add_row. destruct (Z.eqb_spec c 0) as [->|]; [lra|].
  rewrite value_pair, dot_padded, plus_IZR, mult_IZR. unfold value. lra.
Qed.

Lemma add_all_ok h u rs : forall cs o, (o < length rs)%nat ->
  value (nth o (add_all rs cs h) no_row) u = value (nth o rs no_row) u + IZR (nth o cs 0%Z) * value
    h u.
Proof.
  induction rs as [|r rs IH]; simpl; [lia|]. intros [|c cs] [|o] L; simpl; try lra.
  - apply add_row_ok.
  - apply IH. lia.
Qed.
Lemma add_all_length h rs cs : length (add_all rs cs h) = length rs.
Proof. revert cs. induction rs as [|r rs IH]; intros [|c cs]; simpl; auto. Qed.

Lemma slope_ok B t u m : in_box B u -> slope B t = Some m ->
  relu (turned t u) = IZR m * value (plane t) u.
Proof.
  intros I. pose proof I as (D & L & _). apply IZR_lt in D. unfold slope.
  destruct (Nat.eqb_spec (length (fst (plane t))) (length (lows B))) as [E|]; [|discriminate].
  cbn [negb].
  assert (length (fst (plane t)) = length u) as Lp.
  { rewrite E. clear - L. induction L; simpl; auto. }
  unfold turned. destruct (supremum B (negated (plane t))) as [e|] eqn:S1.
  - apply (supremum_ok B _ u) in S1; auto; [|simpl; rewrite map_length; auto].
    rewrite value_negated in S1.
    destruct (Z.leb_spec e 0) as [P|P].
    + apply IZR_le in P. assert (0 <= value (plane t) u) by nra. intros [= <-].
      destruct (up t); [rewrite relu_pos|rewrite relu_neg]; lra.
    + destruct (supremum B (plane t)) as [f|] eqn:S2; [|discriminate].
      destruct (Z.leb_spec f 0) as [Q|Q]; [|discriminate]. intros [= <-].
      apply (supremum_ok B _ u) in S2; auto. apply IZR_le in Q.
      assert (value (plane t) u <= 0) by nra.
      destruct (up t); [rewrite relu_neg|rewrite relu_pos]; lra.
  - destruct (supremum B (plane t)) as [f|] eqn:S2; [|discriminate].
    destruct (Z.leb_spec f 0) as [Q|Q]; [|discriminate]. intros [= <-].
    apply (supremum_ok B _ u) in S2; auto. apply IZR_le in Q.
    assert (value (plane t) u <= 0) by nra.
    destruct (up t); [rewrite relu_neg|rewrite relu_pos]; lra.
Qed.

Lemma opposite_nth a b o : opposite a b = true -> nth o a 0%Z = (- nth o b 0)%Z.
Proof.
  revert b o. induction a as [|x a IH]; intros [|y b] [|o]; simpl; try discriminate; auto;
    intro H; apply andb_prop in H as [H1 H2]; auto. apply Z.eqb_eq. auto.
Qed.

Lemma affine_part_ok B u o : in_box B u -> forall n l rs rs', (length l <= n)%nat ->
  affine_part B l rs = Some rs' -> (o < length rs)%nat ->
  value (nth o rs' no_row) u = value (nth o rs no_row) u + total o u l /\ length rs' = length rs.
Proof.
  intro I. induction n as [|n IH]; intros [|a l] rs rs' N; simpl in N; try lia; cbn [affine_part].
  1, 2: intros [= <-] _; simpl; split; [lra|auto].
  assert (match unbent B a rs
    with Some next => affine_part B l next | None => None end = Some rs' ->
    (o < length rs)%nat ->
    value (nth o rs' no_row) u = value (nth o rs no_row) u + total o u (a :: l) /\
      length rs' = length rs) as Alone.
  { unfold unbent. destruct (slope B a) as [m|] eqn:S; [|discriminate]. intros E O.
    destruct (IH l _ _ ltac:(lia) E) as [V L]; [rewrite add_all_length; auto|].
    rewrite add_all_length in L. split; auto. rewrite V, add_all_ok by auto.
    simpl. rewrite (slope_ok _ _ _ _ I S), nth_times, mult_IZR. lra. }
  destruct l as [|b l]; [intro E; apply Alone; rewrite E; reflexivity|].
  destruct (cancel a b) eqn:Pair; [|exact Alone]. clear Alone. unfold cancel in Pair.
  apply andb_prop in Pair as [Pair Opp]. apply andb_prop in Pair as [Same Up].
  apply row_eqb_ok in Same. apply negb_true_iff in Up. intros E O.
  simpl in N. destruct (IH l _ _ ltac:(lia) E) as [V L]; [rewrite add_all_length; auto|].
  rewrite add_all_length in L. split; auto. rewrite V, add_all_ok by auto.
  apply (opposite_nth _ _ o) in Opp. apply (f_equal IZR) in Opp. rewrite opp_IZR in Opp.
  simpl. unfold turned. rewrite <- Same. set (v := value (plane a) u).
  pose proof (relu_flip v) as Flip. destruct (up a), (up b); try discriminate; rewrite Opp; nra.
Qed.

Lemma differences_nth a rs b ss u o : length rs = length ss ->
  value (nth o (differences a rs b ss) no_row) u =
  IZR a * IZR (snd (nth o rs no_row)) - IZR b * IZR (snd (nth o ss no_row)) /\
  length (differences a rs b ss) = length rs.
Proof.
  revert o ss. induction rs as [|r rs IH]; intros o [|s ss]; simpl; try discriminate.
  - intros _. destruct o; unfold value; simpl; split; auto; lra.
  - intros [= L]. split; [|simpl; f_equal; apply (IH 0%nat); auto].
    destruct o as [|o]; simpl; [|apply IH; auto].
    unfold value. simpl. rewrite minus_IZR, !mult_IZR. lra.
Qed.

Lemma is_zero_ok r u : is_zero r = true -> value r u = 0.
Proof.
  unfold is_zero. simpl. intro H. apply andb_prop in H as [H1 H2]. apply Z.eqb_eq in H1.
  unfold value. rewrite H1, dot_zero; [lra|]. apply Forall_forall. intros x I.
  rewrite forallb_forall in H2. apply Z.eqb_eq. auto.
Qed.

Lemma maps_agree_ok B c u : maps_agree B c = true -> in_box B u ->
  fits (length u) [lower c; upper c] -> fits (length u) [lower' c; upper' c] ->
  affine (upper c) (active (lower c) u) = affine (upper' c) (active (lower' c) u).
Proof.
  unfold maps_agree. set (p := lower c). set (q := upper c). set (p' := lower' c).
  set (q' := upper' c).
  intros H I (P1 & F1 & P2 & F2 & _) (P1' & F1' & P2' & F2' & _).
  destruct (affine_part _ _ _) as [rs|] eqn:A; [|discriminate]. apply andb_prop in H as [L H].
  apply Nat.eqb_eq in L. pose proof (free_box_ok B u I) as If.
  set (uf := free (lows B) (highs B) u) in *.
  destruct (columns_ok _ _ F2) as [C1 C2]. destruct (columns_ok _ _ F2') as [C1' C2'].
  pose proof I as (D & _). apply IZR_lt in D.
  pose proof (IZR_lt _ _ P1). pose proof (IZR_lt _ _ P2). pose proof (IZR_lt _ _ P1').
  pose proof (IZR_lt _ _ P2').
  apply (nth_ext _ _ 0 0); [rewrite !affine_length; auto|]. intros o O. rewrite affine_length in O.
  assert (o < length (rows q'))%nat as O' by (rewrite <- L; exact O).
  assert (forall x v, (o < length (rows x))%nat ->
    nth o (affine x v) 0 = value (nth o (rows x) no_row) v / IZR (over x)) as N.
  { intros x v Ox. unfold affine. rewrite nth_indep with (d' := value no_row v / IZR (over x)) by
      (rewrite map_length; auto). apply (map_nth (fun r => value r v / IZR (over x))). }
  rewrite !N by congruence.
  destruct (differences_nth (over p' * over q' * (box_unit B * over p)) (rows q)
    (over p * over q * (box_unit B * over p')) (rows q') uf o L) as [V0 L0].
  destruct (affine_part_ok _ uf o If _ _ _ _ (le_n _) A) as [V L1].
  { unfold constants. rewrite L0. auto. }
  unfold constants in V. rewrite V0, merged_ok, total_app in V.
  unfold uf in V. rewrite !terms_of_ok in V by (auto; rewrite ?C1, ?C1'; auto).
  rewrite (C2 o O), (C2' o O') in V.
  fold uf in V. rewrite (is_zero_ok (nth o rs no_row)) in V.
  2:{ rewrite forallb_forall in H. apply H. apply nth_In. rewrite L1. unfold constants. rewrite L0.
      auto. }
  rewrite opp_IZR, !mult_IZR in V. unfold value.
  set (x := dot _ (active p u)) in *. set (y := dot _ (active p' u)) in *.
  set (b := IZR (snd (nth o (rows q) no_row))) in *.
  set (b' := IZR (snd (nth o (rows q') no_row))) in *.
  apply (Rmult_eq_reg_l (IZR (over q) * IZR (over q') * (IZR (box_unit B) * IZR (over p) * IZR
    (over p')))).
  2:{ apply Rgt_not_eq. repeat apply Rmult_lt_0_compat; auto. }
  replace (IZR (over q) * IZR (over q') * (IZR (box_unit B) * IZR (over p) * IZR (over p')) * ((x +
    b) / IZR (over q)))
    with (IZR (over q') * (IZR (box_unit B) * IZR (over p) * IZR (over p')) * (x + b)) by (field;
      lra).
  replace (IZR (over q) * IZR (over q') * (IZR (box_unit B) * IZR (over p) * IZR (over p')) * ((y +
    b') / IZR (over q')))
    with (IZR (over q) * (IZR (box_unit B) * IZR (over p) * IZR (over p')) * (y + b')) by (field;
      lra).
  lra.
Qed.

(** Theorem bounded-replacement: the box comes from the domain and from the layers below. *)
Definition box_below (m : nat) (D : domain) (c : change) : answer box :=
  match box_of_inputs m D with
  | None => Rejected "same-function: sides of the domain that exclude each other"
  | Some B => image_box B (below c)
  end.

Lemma fits_two m p q s : fits m (p :: q :: s) -> fits m [p; q].
Proof. simpl. tauto. Qed.
Lemma fits_below m s t : fits m (s ++ t) -> fits m s.
Proof. revert m. induction s as [|p s IH]; simpl; auto. intros m (A & B & C). eauto. Qed.

Theorem bounded_replacement_ok m D c B last_relu x :
  box_below m D c = Good B -> maps_agree B c = true -> length x = m ->
  Forall (fun r => length (fst r) = m) (ineqs D) -> interior D x ->
  fits m (below c ++ lower c :: upper c :: above c) ->
  fits m (below c ++ lower' c :: upper' c :: above c) ->
  compute (below c ++ lower' c :: upper' c :: above c) last_relu x =
  compute (below c ++ lower c :: upper c :: above c) last_relu x.
Proof.
  unfold box_below. intros Box H X Rows I F F'.
  destruct (box_of_inputs m D) as [B0|] eqn:B0E; [|discriminate].
  symmetry. apply compute_change. left.
  apply (maps_agree_ok B); auto.
  - apply (image_box_ok _ B0); auto; [eapply box_of_inputs_ok; eauto|]. rewrite X.
    eapply fits_below; eauto.
  - eapply fits_two, reads_length; eauto.
  - eapply fits_two, reads_length; eauto.
Qed.

(** Theorem replacement: the box is R^n, or the orthant behind a hidden layer. *)
Definition is_replacement (m : nat) (c : change) : bool :=
  maps_agree (largest_box (fold_left (fun _ p => length (rows p)) (below c) m) (below c)) c.

Theorem replacement_ok m c last_relu x : is_replacement m c = true -> length x = m ->
  fits m (below c ++ lower c :: upper c :: above c) ->
  fits m (below c ++ lower' c :: upper' c :: above c) ->
  compute (below c ++ lower' c :: upper' c :: above c) last_relu x =
  compute (below c ++ lower c :: upper c :: above c) last_relu x.
Proof.
  unfold is_replacement. intros H X F F'. symmetry. apply compute_change. left.
  pose proof (reads_length _ _ _ x F X) as G. pose proof (reads_length _ _ _ x F' X) as G'.
  apply (maps_agree_ok _ c _ H); try (eapply fits_two; eauto).
  replace (fold_left _ (below c) m) with (length (reads (below c) x)); [apply largest_box_ok|].
  rewrite <- X. clear. revert x. induction (below c) as [|p s IH]; intro x; [reflexivity|].
  simpl. unfold reads in *. simpl. rewrite IH, active_length. reflexivity.
Qed.
