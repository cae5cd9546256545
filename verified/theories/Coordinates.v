(** Coordinates of a domain: variables without pivot, inputs and inequalities as forms over them,
    and sides (FORMAT.md, sections 3.8 and 5). *)
Require Import ZArith NArith QArith Qreals Reals List Bool Lra Lia Psatz.
From PolyreluVerified Require Import Maps Networks Domains Numbers LinearForms JointNetwork.
Import ListNotations.
Open Scope R_scope.

(** * Coordinates *)

(** The coordinates of all variables, from number [k] on; variables with a pivot have none. *)
Fixpoint number (piv : list bool) (k : N) : list (option N) :=
  match piv with
  | [] => []
  | true :: p => None :: number p k
  | false :: p => Some k :: number p (k + 1)
  end.

(** How many variables have no pivot. *)
Fixpoint count (piv : list bool) : N :=
  match piv with [] => 0%N | true :: p => count p | false :: p => N.succ (count p) end.

(** The first entry that is not 0, with its column. *)
Fixpoint firstnz (r : list Z) (j : nat) : option (nat * Z) :=
  match r with
  | [] => None
  | c :: r' => if (c =? 0)%Z then firstnz r' (S j) else Some (j, c)
  end.

Fixpoint ascend (l : list nat) : bool :=
  match l with a :: (b :: _) as l' => Nat.ltb a b && ascend l' | _ => true end.

(** A row as f + p x_j: f over the coordinates, and 0 at other variables with a pivot. *)
Fixpoint lin_free (r : list Z) (cols : list (option N)) (i j : nat) (f : form) (p : Z) :
  option (form * Z) :=
  match r, cols with
  | [], _ => Some (f, p)
  | _, [] => None
  | c :: r', o :: cols' =>
      match o with
      | Some k => lin_free r' cols' (S i) j (if (c =? 0)%Z then f else flin 1 1 f [(k, c)]) p
      | None =>
          if Nat.eqb i j then lin_free r' cols' (S i) j f (p + c)
          else if (c =? 0)%Z then lin_free r' cols' (S i) j f p
          else None
      end
  end.

(** The variables from [j] on as forms over [scale]; each one with a pivot takes an equation. *)
Fixpoint inputs_of (scale : Z) (cols rest : list (option N)) (j : nat) (rs : list (list Z * Z)) :
  option (list form) :=
  match rest with
  | [] => Some []
  | Some k :: rest' => let? l := inputs_of scale cols rest' (S j) rs in Some ([(k, scale)] :: l)
  | None :: rest' =>
      match rs with
      | [] => None
      | r :: rs' =>
          match lin_free (fst r) cols 0 j [] 0 with
          | None => None
          | Some (f, p) =>
              let q := (scale / p)%Z in
              if (q * p =? scale)%Z then
                let? l := inputs_of scale cols rest' (S j) rs' in
                Some (flin 1 (- q) (fconst (q * snd r)) f :: l)
              else None
          end
      end
  end.

(** Positive pivots in ascending columns. *)
Definition ascending_pivots (D : domain) : bool :=
  match mapo (fun r => firstnz (fst r) 0) (eqs D) with
  | None => false
  | Some ps => ascend (List.map fst ps) && forallb (fun p => (0 <? snd p)%Z) ps
  end.

(** The number of coordinates, the inputs as forms over a scale, and the inequalities c - a x >= 0.
    The equations are in reduced echelon form. *)
Definition setup (n : nat) (D : domain) : option (N * Z * list form * list rform) :=
  let? ps := mapo (fun r => firstnz (fst r) 0) (eqs D) in
  if ascend (List.map fst ps) && forallb (fun p => (0 <? snd p)%Z) ps &&
     forallb (fun r => Nat.eqb (length (fst r)) n) (ineqs D ++ eqs D)
  then
    let piv := List.map (fun j => existsb (fun p => Nat.eqb (fst p) j) ps) (seq 0 n) in
    let cols := number piv 1 in
    let scale := fold_right (fun p s => Z.lcm (snd p) s) 1%Z ps in
    if (0 <? scale)%Z then
      let? fs := inputs_of scale cols cols 0 (eqs D) in
      let slack r := (fdot (-1) (fst r) fs (fconst (scale * snd r)), scale) in
      Some (count piv, scale, fs, List.map slack (ineqs D))
    else None
  else None.

(** Bounds of coordinates from below and from above, with that of c y_s + b >= 0. *)
Definition put_side (m : nmap Q * nmap Q) (s : N) (c b : Z) : nmap Q * nmap Q :=
  if (0 <? c)%Z then
    let q := Qred (Qmake (- b) (Z.to_pos c)) in
    (raise s q (fst m), snd m)
  else if (c <? 0)%Z then
    let q := Qred (Qmake b (Z.to_pos (- c))) in
    (fst m, nadd s (match nfind s (snd m) with Some p => qmin p q | None => q end) (snd m))
  else m.

(** The same with an inequality, if it has one coordinate. *)
Definition side (r : rform) (m : nmap Q * nmap Q) : nmap Q * nmap Q :=
  match fst r with
  | [(s, c)] => if (s =? 0)%N then m else put_side m s c 0%Z
  | [(s, c); (0%N, b)] => if (s =? 0)%N then m else put_side m s c b
  | _ => m
  end.

Definition coord_ok (v : N -> R) (c : option N) (y : R) :=
  match c with Some k => v k = y | None => True end.

(** The values of the coordinates at a point. *)
Fixpoint coords (cols : list (option N)) (x : list R) (s : N) : R :=
  match cols, x with
  | Some k :: cols', y :: x' => if (s =? k)%N then y else coords cols' x' s
  | None :: cols', _ :: x' => coords cols' x' s
  | _, _ => 0
  end.

Lemma number_ge piv : forall k s, In (Some s) (number piv k) -> (k <= s < k + count piv)%N.
Proof.
  induction piv as [|[] p IH]; simpl; [tauto| |]; intros k s [H|H]; try discriminate; auto.
  injection H as ->; lia. apply IH in H; lia.
Qed.

Lemma coords_ok piv : forall k x, length x = length piv -> Forall2 (coord_ok (coords (number piv k)
  x)) (number piv k) x.
Proof.
  induction piv as [|[] p IH]; intros k [|y x] L; try discriminate; simpl; constructor; simpl; auto.
  - rewrite N.eqb_refl; auto.
  - assert (Forall2 (coord_ok (coords (number p (k + 1)) x)) (number p (k + 1)) x) as F by
    (apply IH; auto).
    assert (forall c, In c (number p (k + 1)) -> match c with Some s => s <> k | None => True end)
      as G.
    { intros [s|] I; auto. apply number_ge in I. lia. }
    assert (forall w cs xs, Forall2 (coord_ok w) cs xs -> (forall c, In c cs -> match c with Some
      s => s <> k | None => True end) ->
      Forall2 (coord_ok (fun s => if (s =? k)%N then y else w s)) cs xs) as K.
    { clear. intros w cs xs H; induction H as [|c y' cs xs C H IH]; intro G; constructor; auto.
      - specialize (G c (or_introl eq_refl)). destruct c as [s|]; simpl in *; auto.
        destruct (N.eqb_spec s k); tauto.
      - apply IH. intros; apply G; right; auto. }
    exact (K _ _ _ F G).
Qed.

Lemma coord_imp v w cols x : (forall s, In (Some s) cols -> v s = w s) -> Forall2 (coord_ok v) cols
  x -> Forall2 (coord_ok w) cols x.
Proof.
  intros E H; induction H as [|c y cols x C H IH]; constructor.
  - destruct c as [s|]; simpl in *; auto. rewrite <- E; auto. - apply IH.
    intros; apply E; right; auto.
Qed.

Lemma lin_free_ok v j xj r cols : forall x i f p f' p', Forall2 (coord_ok v) cols x -> (forall m y,
  nth_error x m = Some y -> (i + m)%nat = j -> y = xj) ->
  lin_free r cols i j f p = Some (f', p') -> val v f' + IZR p' * xj = val v f + IZR p * xj + dot r
    x.
Proof.
  revert cols. induction r as [|c r IH]; intros cols x i f p f' p' C X; simpl.
  { intros [= <- <-]; lra. }
  destruct C as [|o y cols x Co C]. { intros [= <- <-]; lra. }
  assert (forall m z, nth_error x m = Some z -> (S i + m)%nat = j -> z = xj) as X'.
  { intros m z Z E. apply (X (S m)); auto. lia. }
  destruct o as [k|].
  - intro L. rewrite (IH _ _ _ _ _ _ _ C X' L). simpl in Co.
    destruct (Z.eqb_spec c 0) as [->|]; [lra|]. rewrite val_flin. simpl. rewrite Co. lra.
  - destruct (Nat.eqb_spec i j) as [e|e].
    + intro L. rewrite (IH _ _ _ _ _ _ _ C X' L), plus_IZR. rewrite (X 0%nat y eq_refl) by lia. lra.
    + destruct (Z.eqb_spec c 0) as [->|]; [|discriminate]. intro L.
      rewrite (IH _ _ _ _ _ _ _ C X' L). lra.
Qed.

Lemma inputs_of_ok v scale cols x : v 0%N = 1 -> Forall2 (coord_ok v) cols x -> forall rest xs j rs
  fs, Forall2 (coord_ok v) rest xs ->
  (forall m y, nth_error xs m = Some y -> nth_error x (j + m) = Some y) -> Forall
    (fun r => dot (fst r) x = IZR (snd r)) rs ->
  inputs_of scale cols rest j rs = Some fs -> Forall2 (scaled v scale) fs xs.
Proof.
  intros V0 C rest xs j rs fs R. revert j rs fs.
  induction R as [|o y rest xs O R IH]; cbn [inputs_of]; intros j rs fs X E.
  { intros [= <-]; constructor. }
  assert (forall m z, nth_error xs m = Some z -> nth_error x (S j + m) = Some z) as X'.
  { intros m z Z. specialize (X (S m) z Z). rewrite <- X. f_equal. lia. }
  destruct o as [k|].
  - destruct (inputs_of _ _ _ _ _) eqn:I; [|discriminate]. intros [= <-]. constructor; eauto.
    unfold scaled. simpl in *. rewrite O. lra.
  - destruct E as [|r rs Er E]; [discriminate|].
    destruct (lin_free _ _ _ _ _ _) as [[f p]|] eqn:L; [|discriminate].
    destruct (Z.eqb_spec (scale / p * p) scale) as [e|]; [|discriminate].
    destruct (inputs_of _ _ _ _ _) eqn:I; [|discriminate]. intros [= <-].
    constructor; eauto. apply (lin_free_ok v j y) with (x := x) in L; auto.
    + rewrite Er in L. cbn [val] in L. unfold scaled. rewrite val_flin, val_fconst by auto.
      rewrite mult_IZR, opp_IZR. apply (f_equal IZR) in e. rewrite mult_IZR in e. rewrite <- e.
      replace (val v f) with (IZR (snd r) - IZR p * y) by lra. ring.
    + intros m z Z M. simpl in M. subst m. specialize (X 0%nat y eq_refl).
      rewrite Nat.add_0_r, Z in X. congruence.
Qed.

(** The coordinates of all variables; a variable with a pivot has none. *)
Definition columns (n : nat) (D : domain) : list (option N) :=
  match mapo (fun r => firstnz (fst r) 0) (eqs D) with
  | Some ps => number (List.map (fun j => existsb (fun p => Nat.eqb (fst p) j) ps) (seq 0 n)) 1
  | None => []
  end.

(** The values of symbol 0 and the coordinates 1 ... d at a point; 0 for others. *)
Definition coordinates (n : nat) (D : domain) (d : N) (x : list R) (s : N) : R :=
  if (s =? 0)%N then 1 else if (s <=? d)%N then coords (columns n D) x s else 0.

Lemma coordinates_base n D d x : base d (coordinates n D d x).
Proof.
  split; [reflexivity|]. intros s K. unfold coordinates. destruct (N.eqb_spec s 0); [lia|].
  destruct (N.leb_spec s d); [lia|lra].
Qed.

Lemma setup_at n D d scale fs sl : setup n D = Some (d, scale, fs, sl) -> (0 < scale)%Z /\
  forall x, length x = n -> Forall (fun r => dot (fst r) x = IZR (snd r)) (eqs D) ->
  forall v, v 0%N = 1 -> (forall k, (k <= d)%N -> v k = coordinates n D d x k) ->
    Forall2 (coord_ok v) (columns n D) x /\ Forall2 (scaled v scale) fs x /\
    Forall2 (fun r row => rep v r (IZR (snd row) - dot (fst row) x)) sl (ineqs D).
Proof.
  unfold setup, coordinates, columns. destruct (mapo _ _) as [ps|]; [|discriminate].
  destruct (_ && forallb _ (ineqs D ++ eqs D)) eqn:W; [|discriminate]. clear W.
  set (piv := List.map (fun j => existsb _ ps) (seq 0 n)). set (sc := fold_right _ 1%Z ps).
  destruct (Z.ltb_spec 0 sc) as [S|]; [|discriminate].
  destruct (inputs_of _ _ _ _ _) as [gs|] eqn:I; [|discriminate]. intros [= <- <- <- <-].
  split; auto. intros x L DE.
  assert (length x = length piv) as Lp by (unfold piv; rewrite map_length, seq_length; auto).
  pose proof (coords_ok piv 1 x Lp) as C.
  intros v V0 E. assert (Forall2 (coord_ok v) (number piv 1) x) as Cv.
  { eapply coord_imp; [|exact C]. intros s K. apply number_ge in K. rewrite E by lia.
    destruct (N.eqb_spec s 0); [lia|]. destruct (N.leb_spec s (count piv)); [auto|lia]. }
  assert (Forall2 (scaled v sc) gs x) as G by (apply (inputs_of_ok v sc (number piv 1) x V0 Cv
    (number piv 1) x 0 (eqs D)); auto). repeat (split; auto). clear - G V0 S.
  induction (ineqs D) as [|r rs IH]; simpl; constructor; auto.
  split; auto; cbn [fst snd].
  rewrite (fdot_ok _ _ _ _ _ _ G), val_fconst, mult_IZR by auto. ring.
Qed.

Lemma setup_ok n D d scale fs sl x : setup n D = Some (d, scale, fs, sl) -> length x = n ->
  in_domain D x ->
  (0 < scale)%Z /\ exists v0, base d v0 /\ forall v, v 0%N = 1 -> (forall k, (k <= d)%N -> v k = v0
    k) -> Forall2 (scaled v scale) fs x /\ Forall (fun r => exists y, rep v r y /\ 0 <= y) sl.
Proof.
  intros S L [DI DE]. destruct (setup_at _ _ _ _ _ _ S) as [P K]. split; auto.
  exists (coordinates n D d x). split; [apply coordinates_base|]. intros v V0 E.
  destruct (K x L DE v V0 E) as (_ & F & G). split; auto. clear - G DI.
  induction G as [|r row sl rows R G IH]; inversion DI; subst; constructor; auto.
  exists (IZR (snd row) - dot (fst row) x). split; auto. lra.
Qed.

Definition lo_ok (v : N -> R) := all (fun (s : N) q => Q2R q <= v s).
Definition hi_ok (v : N -> R) := all (fun (s : N) q => v s <= Q2R q).

Lemma side_ok (v : N -> R) r m : v 0%N = 1 -> (exists y, rep v r y /\ 0 <= y) -> lo_ok v (fst m) /\
  hi_ok v (snd m) -> lo_ok v (fst (side r m)) /\ hi_ok v (snd (side r m)).
Proof.
  intros V0 (y & [D X] & Y) [L U]. unfold side.
  assert (forall s c b, 0 <= IZR c * v s + IZR b -> lo_ok v (fst (put_side m s c b)) /\ hi_ok v
    (snd (put_side m s c b))) as P.
  { intros s c b K. unfold put_side. destruct (Z.ltb_spec 0 c) as [c0|c0];
    [|destruct (Z.ltb_spec c 0) as [c1|c1]]; cbn [fst snd]; split; auto.
    - apply raise_ok; auto. intros; apply qmax_least; auto. rewrite Q2R_red.
      unfold Q2R; cbn [Qnum Qden]. rewrite Z2Pos.id, opp_IZR by auto. apply IZR_lt in c0.
      apply Rmult_le_reg_r with (IZR c); auto. rewrite Rmult_assoc, Rinv_l; lra.
    - assert (v s <= Q2R (Qred (b # Z.to_pos (- c)))) as M. { rewrite Q2R_red.
      unfold Q2R; cbn [Qnum Qden]. rewrite Z2Pos.id, opp_IZR by lia. apply IZR_lt in c1.
        apply Rmult_le_reg_r with (- IZR c); [lra|]. rewrite Rmult_assoc, Rinv_l; lra. }
      apply nall_add; auto. destruct (nfind s (snd m)) eqn:F; auto.
      apply (nall_find _ _ _ _ U) in F. apply qmin_least; auto. }
  assert (0 <= val v (fst r)) as K by (rewrite X; apply IZR_lt in D; nra).
  destruct (fst r) as [|[s c] [|[[|t] b] [|? ?]]]; try (split; auto; fail); cbn [val] in K.
  - destruct (N.eqb_spec s 0); [split; auto|]. apply P. lra.
  - destruct (N.eqb_spec s 0); [split; auto|]. apply P. rewrite V0 in K. lra.
Qed.

Lemma sides_ok v l : v 0%N = 1 -> Forall (fun r => exists y, rep v r y /\ 0 <= y) l -> forall m,
  lo_ok v (fst m) /\ hi_ok v (snd m) ->
  lo_ok v (fst (fold_left (fun m r => side r m) l m)) /\ hi_ok v
    (snd (fold_left (fun m r => side r m) l m)).
Proof.
  intros V0 L; induction L as [|r l R L IH]; simpl; auto. intros m M. apply IH, side_ok; auto.
Qed.

