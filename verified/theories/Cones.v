(** Polyhedral cones by their lines and rays, one half-space after the other (double description).

    A cone is known by generators: it is the set of the sums of multiples of its lines and of
    multiples, not negative ones, of its rays. [cut] takes the part of a cone where a form is not
    negative, or not positive. It leaves out rays that are sums of others; whether they are is
    computed. *)
Require Import ZArith NArith Reals List Bool Lra Lia FunctionalExtensionality.
From PolyreluVerified Require Import Networks RegionLists Numbers LinearForms VertexLists.
From PolyreluVerified Require Import JointNetwork Regions KeptForms.
Import ListNotations.
Open Scope Z_scope.
Open Scope list_scope.

(** * Directions *)

(** A direction has an integer for each coordinate; a form has a slope along it. *)
Definition entry (u : list Z) (s : N) : Z :=
  if (s =? 0)%N then 0 else nth (N.to_nat (s - 1)) u 0.

Definition slope (f : form) (u : list Z) : Z :=
  fold_right (fun q s => snd q * entry u (fst q) + s) 0 f.

(** a u + b w *)
Fixpoint mix (a : Z) (u : list Z) (b : Z) (w : list Z) : list Z :=
  match u, w with
  | [], _ => List.map (Z.mul b) w
  | _, [] => List.map (Z.mul a) u
  | x :: u', y :: w' => a * x + b * y :: mix a u' b w'
  end.

(** A ray, and its slopes along the forms that it was cut with, times their signs; nothing rests on
    these being right. *)
Record ray := Ray { way_of : list Z; passed : list Z }.

Definition divisor (u : list Z) : Z := fold_right Z.gcd 0 u.

Definition primitive (r : ray) : ray :=
  let g := divisor (way_of r) in
  if g <=? 1 then r
  else Ray (List.map (fun x => x / g) (way_of r)) (List.map (fun x => x / g) (passed r)).

Definition mixed (a : Z) (r : ray) (b : Z) (t : ray) : ray :=
  primitive (Ray (mix a (way_of r) b (way_of t)) (mix a (passed r) b (passed t))).

(** * The check *)

(** Lines, rays, and the number of forms that the cone was cut with. *)
Record cone := Cone { its_lines : list (list Z); its_rays : list ray; num_cuts : nat }.

Fixpoint zs_eqb (a b : list Z) : bool :=
  match a, b with
  | [], [] => true
  | x :: a', y :: b' => (x =? y) && zs_eqb a' b'
  | _, _ => false
  end.

Lemma zs_eqb_ok a : forall b, zs_eqb a b = true -> a = b.
Proof.
  induction a as [|x a IH]; intros [|y b]; simpl; try discriminate; auto. intro E.
  apply andb_prop in E as [E F]. apply Z.eqb_eq in E. f_equal; auto.
Qed.

(** The first line with a slope that is not 0, and the lines besides. *)
Fixpoint pick (f : form) (before ls : list (list Z)) : option (list Z * list (list Z)) :=
  match ls with
  | [] => None
  | l :: ls' => if slope f l =? 0 then pick f (l :: before) ls' else Some (l, before ++ ls')
  end.

(** A line or ray along which the form does not change, by a line with the slope [a]. *)
Definition level (a : Z) (f : form) (l u : list Z) : list Z :=
  mix (Z.abs a) u (- Z.sgn a * slope f u) l.

Definition level_ray (a : Z) (f : form) (l : list Z) (r : ray) : ray :=
  primitive (Ray (level a f l (way_of r)) (0 :: List.map (Z.mul (Z.abs a)) (passed r))).

(** A ray with the slope of the form, times its sign. *)
Definition with_slope (f : form) (x : Z) (r : ray) : ray :=
  Ray (way_of r) (x * slope f (way_of r) :: passed r).

Definition last_slope (r : ray) : Z := hd 0 (passed r).

(** Where one list is 0 and the other one is not. *)
Fixpoint apart (a b : list Z) : bool :=
  match a, b with
  | x :: a', y :: b' => ((x =? 0) && negb (y =? 0)) || apart a' b'
  | _, _ => false
  end.

(** Where both lists are 0, the result is 0. *)
Fixpoint both (a b : list Z) : list Z :=
  match a, b with
  | x :: a', y :: b' => (if (x =? 0) && (y =? 0) then 0 else 1) :: both a' b'
  | _, _ => []
  end.

(** No third ray lies in the least face of two rays. *)
Definition adjacent (rs : list ray) (p n : ray) : bool :=
  let face := both (tl (passed p)) (tl (passed n)) in
  (List.length (List.filter (fun r => negb (apart face (tl (passed r)))) rs) <=? 2)%nat.

(** The number of the form at which the multiple of a ray [e] that can be taken away is least: the
    slopes of [w] and of [e] there. *)
Fixpoint tightest (w e : list Z) (best : option (Z * Z)) : option (Z * Z) :=
  match w, e with
  | x :: w', y :: e' =>
      tightest w' e'
        (if y <=? 0 then best
         else match best with
              | Some (p, q) => if x * q <? p * y then Some (x, y) else best
              | None => Some (x, y)
              end)
  | _, _ => best
  end.

(** What is left of a ray if multiples of rays, not negative ones, are taken away. *)
Fixpoint rest_of (w : ray) (rs : list ray) : ray :=
  match rs with
  | [] => w
  | e :: rs' =>
      match tightest (passed w) (passed e) None with
      | Some (x, y) =>
          rest_of (if (0 <? x) && (0 <? y) then mixed y w (- x) e else w) rs'
      | None => rest_of w rs'
      end
  end.

Definition is_sum (rs : list ray) (w : ray) : bool :=
  forallb (fun x => x =? 0) (way_of (rest_of w rs)).

(** The ray between two rays on both sides of a form, where it is 0. *)
Definition between (p n : ray) : ray := mixed (- last_slope n) p (last_slope p) n.

(** The cone where the form times the sign [x] is not negative, and whether it is less than before
    on both sides. The first rays are those with the slopes of the form. *)
Definition cut (f : form) (x : Z) (c : cone) : option (cone * bool) :=
  match pick f [] (its_lines c) with
  | Some (l, others) =>
      let a := slope f l in
      if x =? 0 then None
      else Some (Cone (List.map (level a f l) others)
                   (Ray (List.map (Z.mul (x * Z.sgn a)) l)
                      (Z.abs (x * a) :: List.repeat 0 (num_cuts c)) ::
                    List.map (level_ray a f l) (its_rays c)) (S (num_cuts c)), true)
  | None =>
      let rs := List.map (with_slope f x) (its_rays c) in
      let ns := List.filter (fun r => last_slope r <? 0) rs in
      let ps := List.filter (fun r => 0 <? last_slope r) rs in
      match ns with
      | [] =>
          if negb (x =? 0) || forallb (fun r => slope f (way_of r) =? 0) rs
          then Some (Cone (its_lines c) rs (S (num_cuts c)), false) else None
      | _ =>
          let pairs := flat_map (fun p => List.map (pair p) ns) ps in
          let (near_, far) := List.partition (fun q => adjacent rs (fst q) (snd q)) pairs in
          let kept := List.filter (fun r => 0 <=? last_slope r) rs ++
            List.map (fun q => between (fst q) (snd q)) near_ in
          if forallb (fun q => is_sum kept (between (fst q) (snd q))) far
          then Some (Cone (its_lines c) kept (S (num_cuts c)), true) else None
      end
  end.

(** * Sums of multiples *)

Open Scope R_scope.

Definition vec := N -> R.
Definition plus (u v : vec) : vec := fun s => u s + v s.
Definition times (t : R) (u : vec) : vec := fun s => t * u s.
Definition dir (u : list Z) : vec := fun s => IZR (entry u s).

Inductive sums (L E : vec -> Prop) : vec -> Prop :=
| nothing : sums L E (fun _ => 0)
| a_line u l t : L l -> sums L E u -> sums L E (plus u (times t l))
| a_ray u e t : E e -> 0 <= t -> sums L E u -> sums L E (plus u (times t e)).

Definition among (l : list (list Z)) (u : vec) : Prop := exists w, In w l /\ u = dir w.
Definition lines_of (c : cone) := among (its_lines c).
Definition rays_of (c : cone) := among (List.map way_of (its_rays c)).
Definition in_cone (c : cone) : vec -> Prop := sums (lines_of c) (rays_of c).

Ltac ext := apply functional_extensionality; intro; unfold plus, times; try ring; try lra.

Lemma val_plus u v f : val (plus u v) f = val u f + val v f.
Proof. induction f as [|[s c] f IH]; simpl; [ring|]. rewrite IH. unfold plus. ring. Qed.

Lemma val_times t u f : val (times t u) f = t * val u f.
Proof. induction f as [|[s c] f IH]; simpl; [ring|]. rewrite IH. unfold times. ring. Qed.

Lemma val_none f : val (fun _ => 0) f = 0.
Proof. induction f as [|[s c] f IH]; simpl; [ring|]. rewrite IH. ring. Qed.

Lemma val_dir f u : val (dir u) f = IZR (slope f u).
Proof.
  induction f as [|[s c] f IH]; simpl; auto. rewrite IH, plus_IZR, mult_IZR. auto.
Qed.

Lemma sums_plus L E u v : sums L E u -> sums L E v -> sums L E (plus u v).
Proof.
  intros U V. induction V as [|v l t Ll V IH|v e t Ee T V IH].
  - replace (plus u (fun _ => 0)) with u by ext. auto.
  - replace (plus u (plus v (times t l))) with (plus (plus u v) (times t l)) by ext.
    constructor; auto.
  - replace (plus u (plus v (times t e))) with (plus (plus u v) (times t e)) by ext.
    apply a_ray; auto.
Qed.

Lemma sums_times L E t u : 0 <= t -> sums L E u -> sums L E (times t u).
Proof.
  intros T U. induction U as [|u l r Ll U IH|u e r Ee P U IH].
  - replace (times t (fun _ => 0)) with (fun _ : N => 0) by ext. constructor.
  - replace (times t (plus u (times r l))) with (plus (times t u) (times (t * r) l)) by ext.
    constructor; auto.
  - replace (times t (plus u (times r e))) with (plus (times t u) (times (t * r) e)) by ext.
    apply a_ray; auto. apply Rmult_le_pos; auto.
Qed.

Lemma sums_one (L E : vec -> Prop) e : E e -> sums L E e.
Proof.
  intro H. replace e with (plus (fun _ => 0) (times 1 e)) by ext.
  apply a_ray; auto; [lra|constructor].
Qed.

Lemma sums_line (L E : vec -> Prop) l t : L l -> sums L E (times t l).
Proof.
  intro H. replace (times t l) with (plus (fun _ => 0) (times t l)) by ext. constructor; auto.
  constructor.
Qed.

(** Generators that are sums of others. *)
Lemma sums_of (L E L' E' : vec -> Prop) u : (forall l t, L l -> sums L' E' (times t l)) ->
  (forall e, E e -> sums L' E' e) -> sums L E u -> sums L' E' u.
Proof.
  intros Hl He U. induction U as [|u l t Ll U IH|u e t Ee T U IH]; [constructor| |];
    apply sums_plus; auto. apply sums_times; auto.
Qed.

(** ** Directions as vectors *)

Lemma entry_nth u s : s <> 0%N -> entry u s = nth (N.to_nat (s - 1)) u 0%Z.
Proof. unfold entry. destruct (N.eqb_spec s 0); tauto. Qed.

Lemma mix_nth a b : forall u w n,
  nth n (mix a u b w) 0%Z = (a * nth n u 0 + b * nth n w 0)%Z.
Proof.
  assert (forall c l n, nth n (List.map (Z.mul c) l) 0%Z = (c * nth n l 0)%Z) as M.
  { intros c l n. rewrite <- (map_nth (Z.mul c)). f_equal. lia. }
  induction u as [|x u IH]; intros w n.
  - replace (mix a [] b w) with (List.map (Z.mul b) w) by (destruct w; auto).
    rewrite M. destruct n; simpl; lia.
  - destruct w as [|y w].
    + change (mix a (x :: u) b []) with (List.map (Z.mul a) (x :: u)). rewrite M.
      destruct n; simpl; lia.
    + destruct n; simpl; [lia|apply IH].
Qed.

Lemma dir_mix a u b w : dir (mix a u b w) = plus (times (IZR a) (dir u)) (times (IZR b) (dir w)).
Proof.
  ext. unfold dir, entry. destruct (x =? 0)%N; [ring|].
  rewrite mix_nth, plus_IZR, !mult_IZR. auto.
Qed.

Lemma dir_map a u : dir (List.map (Z.mul a) u) = times (IZR a) (dir u).
Proof.
  ext. unfold dir, entry. destruct (x =? 0)%N; [ring|].
  rewrite <- mult_IZR. f_equal. rewrite <- (map_nth (Z.mul a)). f_equal. lia.
Qed.

Lemma divisor_divides u n : (divisor u | nth n u 0)%Z.
Proof.
  revert n. induction u as [|x u IH]; intro n; simpl. { destruct n; apply Z.divide_0_r. }
  destruct n as [|n]; [apply Z.gcd_divide_l|].
  apply Z.divide_trans with (divisor u); [apply Z.gcd_divide_r|auto].
Qed.

Lemma primitive_ok r : exists g, 0 < g /\ dir (way_of r) = times g (dir (way_of (primitive r))).
Proof.
  unfold primitive. destruct (Z.leb_spec (divisor (way_of r)) 1) as [|G].
  { exists 1. split; [lra|]. ext. }
  set (g := divisor (way_of r)) in *. exists (IZR g). split; [apply IZR_lt; lia|].
  cbn [way_of]. ext. unfold dir, entry. destruct (x =? 0)%N; [ring|]. rewrite <- mult_IZR. f_equal.
  set (n := N.to_nat (x - 1)).
  replace (nth n (List.map (fun y => (y / g)%Z) (way_of r)) 0%Z)
    with ((nth n (way_of r) 0 / g)%Z).
  2:{ rewrite <- (map_nth (fun y => (y / g)%Z)). f_equal. }
  destruct (divisor_divides (way_of r) n) as [q Q]. fold g in Q. rewrite Q, Z.div_mul by lia. lia.
Qed.

(** A positive multiple of a primitive ray. *)
Lemma primitive_sums L E r : sums L E (dir (way_of (primitive r))) <-> sums L E (dir (way_of r)).
Proof.
  destruct (primitive_ok r) as (g & P & ->). split; intro S; [apply sums_times; auto; lra|].
  replace (dir (way_of (primitive r))) with (times (/ g) (times g (dir (way_of (primitive r))))).
  { apply sums_times; auto. apply Rlt_le, Rinv_0_lt_compat. auto. }
  ext. field. lra.
Qed.

(** * Sums of rays *)

Lemma rest_ok L (E : vec -> Prop) rs : (forall r, In r rs -> E (dir (way_of r))) -> forall w,
  sums L E (dir (way_of (rest_of w rs))) -> sums L E (dir (way_of w)).
Proof.
  induction rs as [|e rs IH]; intros A w S; auto. cbn [rest_of] in S.
  assert (forall r, In r rs -> E (dir (way_of r))) as A' by (intros; apply A; right; auto).
  destruct (tightest (passed w) (passed e) None) as [[x y]|]; [|apply IH; auto].
  apply IH in S; auto. destruct (Z.ltb_spec 0 x) as [X|]; [|auto].
  destruct (Z.ltb_spec 0 y) as [Y|]; [|auto]. cbn [andb] in S.
  unfold mixed in S. apply (proj1 (primitive_sums _ _ _)) in S. cbn [way_of] in S.
  rewrite dir_mix in S.
  apply IZR_lt in X, Y.
  replace (dir (way_of w)) with (times (/ IZR y) (plus
    (plus (times (IZR y) (dir (way_of w))) (times (IZR (- x)) (dir (way_of e))))
    (times (IZR x) (dir (way_of e))))).
  2:{ ext. rewrite opp_IZR. field. lra. }
  apply sums_times; [apply Rlt_le, Rinv_0_lt_compat; auto|]. apply sums_plus; auto.
  apply sums_times; [lra|]. apply sums_one, A. left; auto.
Qed.

Lemma is_sum_ok L (E : vec -> Prop) rs w : (forall r, In r rs -> E (dir (way_of r))) ->
  is_sum rs w = true -> sums L E (dir (way_of w)).
Proof.
  intros A S. apply rest_ok with rs; auto. unfold is_sum in S. rewrite forallb_forall in S.
  replace (dir (way_of (rest_of w rs))) with (fun _ : N => 0); [constructor|].
  ext. unfold dir, entry. destruct (x =? 0)%N; auto.
  destruct (nth_in_or_default (N.to_nat (x - 1)) (way_of (rest_of w rs)) 0%Z) as [I|Q];
    [|rewrite Q; auto]. apply S, Z.eqb_eq in I. rewrite I. auto.
Qed.

(** * Cuts *)

Section Cut.
(** A linear function on directions. *)
Variable h : vec -> R.
Hypothesis h_plus : forall u v, h (plus u v) = h u + h v.
Hypothesis h_times : forall t u, h (times t u) = t * h u.

Lemma h_none : h (fun _ => 0) = 0.
Proof.
  replace (fun _ : N => 0) with (times 0 (fun _ => 0)) by ext. rewrite h_times. ring.
Qed.

Section Sides.
(** The function is 0 on lines and [Z], positive on [P], negative on [N']. *)
Variables L Z P N' : vec -> Prop.
Hypothesis on_L : forall l, L l -> h l = 0.
Hypothesis on_Z : forall e, Z e -> h e = 0.
Hypothesis on_P : forall e, P e -> 0 < h e.
Hypothesis on_N : forall e, N' e -> h e < 0.

(** What lies between rays of both sides. *)
Definition middle_ray (w : vec) : Prop := exists p n, P p /\ N' n /\
  w = plus (times (- h n) p) (times (h p) n).

Lemma on_middle w : middle_ray w -> h w = 0.
Proof. intros (p & n & _ & _ & ->). rewrite h_plus, !h_times. ring. Qed.

Notation upper := (sums L (fun e => Z e \/ P e \/ middle_ray e)).
Notation lower := (sums L (fun e => Z e \/ N' e \/ middle_ray e)).

Lemma lower_neg u : lower u -> h u <= 0.
Proof.
  induction 1 as [|u l t Ll U IH|u e t Ee T U IH]; [rewrite h_none; lra| |];
    rewrite h_plus, h_times.
  - rewrite (on_L l Ll). lra.
  - assert (h e <= 0).
    { destruct Ee as [E|[E|E]]; [rewrite (on_Z e E); lra|apply on_N in E; lra|].
      rewrite on_middle by auto. lra. }
    nra.
Qed.

(** A ray of the positive side is added to a sum of the other one. *)
Lemma add_positive p u : P p -> lower u -> forall t, 0 <= t ->
  (0 <= h u + t * h p -> upper (plus u (times t p))) /\
  (h u + t * h p <= 0 -> lower (plus u (times t p))).
Proof.
  intros Pp U. pose proof (on_P p Pp) as Hp.
  induction U as [|u l r Ll U IH|u e r Ee R U IH]; intros t T.
  - rewrite h_none. split; intro S.
    + apply sums_plus; [constructor|]. apply sums_times, sums_one; auto.
    + assert (t = 0) as -> by nra.
      replace (plus (fun _ => 0) (times 0 p)) with (fun _ : N => 0) by ext. constructor.
  - destruct (IH t T) as [A B]. rewrite h_plus, h_times, (on_L l Ll).
    replace (plus (plus u (times r l)) (times t p)) with (plus (plus u (times t p)) (times r l))
      by ext.
    split; intro S; constructor; auto; [apply A|apply B]; lra.
  - assert (forall (X : vec -> Prop), h e = 0 -> (Z e \/ middle_ray e) ->
      (0 <= h (plus u (times r e)) + t * h p -> upper (plus (plus u (times r e)) (times t p))) /\
      (h (plus u (times r e)) + t * h p <= 0 -> lower (plus (plus u (times r e)) (times t p))))
      as Flat.
    { intros _ He K. destruct (IH t T) as [A B]. rewrite h_plus, h_times, He.
      replace (plus (plus u (times r e)) (times t p)) with (plus (plus u (times t p)) (times r e))
        by ext.
      split; intro S; apply a_ray; auto; try tauto; [apply A|apply B]; lra. }
    destruct Ee as [Ee|[Ee|Ee]];
      [apply (Flat Z); auto| |apply (Flat Z); auto; apply on_middle; auto].
    clear Flat. pose proof (on_N e Ee) as He.
    set (w := plus (times (- h e) p) (times (h p) e)).
    assert (middle_ray w) as W by (exists p, e; auto).
    rewrite h_plus, h_times. destruct (Rle_lt_dec (r * - h e) (t * h p)) as [C|C].
    + (* the ray of the other side is used up *)
      set (t' := t - r * - h e / h p).
      assert (t' * h p = t * h p - r * - h e) as Et by (unfold t'; field; lra).
      assert (0 <= t') as T'. { destruct (Rle_lt_dec 0 t'); auto. nra. }
      destruct (IH t' T') as [A B].
      replace (plus (plus u (times r e)) (times t p)) with
        (plus (plus u (times t' p)) (times (r / h p) w)).
      2:{ unfold w, t'. ext. field. lra. }
      assert (0 <= r / h p) by (apply Rmult_le_pos; auto; apply Rlt_le, Rinv_0_lt_compat; auto).
      split; intro S; apply a_ray; auto; [apply A|apply B]; lra.
    + (* the new ray is used up *)
      set (r' := r - t * h p / - h e).
      assert (r' * - h e = r * - h e - t * h p) as Er by (unfold r'; field; lra).
      assert (0 < r') as R'. { destruct (Rlt_le_dec 0 r'); auto. nra. }
      replace (plus (plus u (times r e)) (times t p)) with
        (plus (plus u (times r' e)) (times (t / - h e) w)).
      2:{ unfold w, r'. ext. field. lra. }
      assert (0 <= t / - h e)
        by (apply Rmult_le_pos; auto; apply Rlt_le, Rinv_0_lt_compat; lra).
      pose proof (lower_neg u U) as Nu. split; intro S; [exfalso; nra|].
      apply a_ray; auto. apply a_ray; auto; lra.
Qed.
End Sides.

End Cut.

Section Halves.
(** The function is 0 on lines and [Z], positive on [P], negative on [N']. *)
Variable h : vec -> R.
Hypothesis h_plus : forall u v, h (plus u v) = h u + h v.
Hypothesis h_times : forall t u, h (times t u) = t * h u.
Variables L Z P N' : vec -> Prop.
Hypothesis on_L : forall l, L l -> h l = 0.
Hypothesis on_Z : forall e, Z e -> h e = 0.
Hypothesis on_P : forall e, P e -> 0 < h e.
Hypothesis on_N : forall e, N' e -> h e < 0.

Notation middle := (middle_ray h P N').
Notation upper := (sums L (fun e => Z e \/ P e \/ middle e)).
Notation lower := (sums L (fun e => Z e \/ N' e \/ middle e)).

(** A ray of the negative side is added to a sum of the other one. *)
Lemma add_negative n u : N' n -> upper u -> forall t, 0 <= t ->
  (h u + t * h n <= 0 -> lower (plus u (times t n))) /\
  (0 <= h u + t * h n -> upper (plus u (times t n))).
Proof.
  intros Nn U t T. set (h' := fun v => - h v).
  assert (forall w, middle_ray h' N' P w <-> middle w) as M.
  { intro w. unfold middle_ray, h'. split; intros (a & b & A & B & ->); exists b, a;
      (split; [auto|split; [auto|]]); ext. }
  destruct (add_positive h' ltac:(intros; unfold h'; rewrite h_plus; ring)
    ltac:(intros; unfold h'; rewrite h_times; ring) L Z N' P
    ltac:(intros; unfold h'; rewrite on_L by auto; ring)
    ltac:(intros; unfold h'; rewrite on_Z by auto; ring)
    ltac:(intros e E; unfold h'; apply on_N in E; lra)
    ltac:(intros e E; unfold h'; apply on_P in E; lra) n u Nn) with (t := t) as [A B]; auto.
  { apply (sums_of L _ _ _ u (fun l t Ll => sums_line _ _ l t Ll)) with (2 := U).
    intros e Ee. apply sums_one. rewrite M. auto. }
  split; intro S.
  - apply (sums_of L _ _ _ _ (fun l t Ll => sums_line _ _ l t Ll)) with (2 := A ltac:(unfold h';
      lra)). intros e Ee. apply sums_one. rewrite M in Ee. auto.
  - apply (sums_of L _ _ _ _ (fun l t Ll => sums_line _ _ l t Ll)) with (2 := B ltac:(unfold h';
      lra)). intros e Ee. apply sums_one. rewrite M in Ee. auto.
Qed.

(** The two parts of a cone. *)
Theorem halves (E : vec -> Prop) u : (forall e, E e -> Z e \/ P e \/ N' e) -> sums L E u ->
  (0 <= h u -> upper u) /\ (h u <= 0 -> lower u).
Proof.
  intros C U. induction U as [|u l t Ll U [A B]|u e t Ee T U [A B]].
  - split; intros _; constructor.
  - rewrite h_plus, h_times, (on_L l Ll). split; intro S; apply a_line; auto; [apply A|apply B];
      lra.
  - rewrite h_plus, h_times. destruct (C e Ee) as [K|[K|K]].
    + rewrite (on_Z e K). split; intro S; apply a_ray; auto; [apply A|apply B]; lra.
    + pose proof (on_P e K). destruct (Rle_lt_dec (h u) 0) as [H0|H0].
      * destruct (add_positive h h_plus h_times L Z P N' on_L on_Z on_P on_N e u K (B H0) t T).
        auto.
      * split; intro S; [apply a_ray; auto; apply A; lra|exfalso; nra].
    + pose proof (on_N e K). destruct (Rle_lt_dec 0 (h u)) as [H0|H0].
      * destruct (add_negative e u K (A H0) t T). auto.
      * split; intro S; [exfalso; nra|]. apply a_ray; auto. apply B. lra.
Qed.
End Halves.

(** ** The check is right *)

Section Right.
Variables (f : form) (x : Z) (c c' : cone) (two : bool).
Hypothesis is_cut : cut f x c = Some (c', two).
Notation h := (fun u : vec => IZR x * val u f).

Lemma picked ls : forall before l others, pick f before ls = Some (l, others) ->
  (slope f l <> 0)%Z /\ forall u, In u (before ++ ls) -> u = l \/ In u others.
Proof.
  induction ls as [|a ls IH]; intros before l others; simpl; [discriminate|].
  destruct (Z.eqb_spec (slope f a) 0) as [Q|Q].
  - intro K. destruct (IH _ _ _ K) as [N A]. split; auto. intros u U. apply A. simpl.
    rewrite in_app_iff in *. simpl in *. tauto.
  - intros [= <- <-]. split; auto. intros u U. rewrite in_app_iff in *. simpl in *.
    intuition congruence.
Qed.

Lemma not_picked ls : forall before, pick f before ls = None ->
  forall u, In u ls -> slope f u = 0%Z.
Proof.
  induction ls as [|a ls IH]; intros before; simpl; [tauto|].
  destruct (Z.eqb_spec (slope f a) 0) as [Q|Q]; [|discriminate].
  intros K u [<-|U]; eauto.
Qed.

Lemma among_in l u : In u l -> among l (dir u).
Proof. exists u. auto. Qed.

(** The cut cone has all points of the cone on its side. *)
Theorem cut_ok u : in_cone c u -> 0 <= h u -> in_cone c' u.
Proof.
  intros U Nn. unfold cut in is_cut. destruct (pick f [] (its_lines c)) as [[l others]|] eqn:K.
  - destruct (picked _ _ _ _ K) as [N A]. set (a := slope f l) in *.
    destruct (Z.eqb_spec x 0) as [|X]; [discriminate|]. injection is_cut as <- <-.
    set (c' := Cone _ _ _).
    assert (IZR (Z.abs a) <> 0) as Na by (apply not_0_IZR; lia).
    assert (0 < IZR (Z.abs a)) as Pa by (apply IZR_lt; lia).
    assert (IZR a <> 0) as Na' by (apply not_0_IZR; lia).
    assert (IZR a = IZR (Z.sgn a) * IZR (Z.abs a)) as Sa by (rewrite <- mult_IZR; f_equal; lia).
    assert (forall w, dir w = plus (times (/ IZR (Z.abs a)) (dir (level a f l w)))
      (times (IZR (slope f w) / IZR a) (dir l))) as Lv.
    { intro w. unfold level. rewrite dir_mix, mult_IZR, opp_IZR. ext. rewrite Sa.
      assert (IZR (Z.sgn a) <> 0) by (apply not_0_IZR; lia).
      assert (IZR (Z.sgn a) * IZR (Z.sgn a) = 1) as Q
        by (rewrite <- mult_IZR; apply f_equal with (y := 1%Z); lia).
      replace (IZR (slope f w) / (IZR (Z.sgn a) * IZR (Z.abs a)))
        with (IZR (Z.sgn a) * IZR (slope f w) / IZR (Z.abs a)).
      2:{ apply (Rmult_eq_reg_l (IZR (Z.sgn a) * IZR (Z.abs a))); [|rewrite <- Sa; auto].
          set (q := IZR (Z.sgn a)) in *. set (m := IZR (Z.abs a)) in *.
          replace (q * m * (q * IZR (slope f w) / m)) with (q * q * IZR (slope f w))
            by (field; auto).
          replace (q * m * (IZR (slope f w) / (q * m))) with (IZR (slope f w))
            by (field; split; auto). rewrite Q. ring. }
      field. auto. }
    assert (forall w, val (dir (level a f l w)) f = 0) as Fl.
    { intro w. rewrite val_dir. apply f_equal. unfold level.
      assert (forall n m b q, slope f (mix n b m q) = n * slope f b + m * slope f q)%Z as M.
      { intros n m b q. apply eq_IZR. rewrite <- val_dir, dir_mix, val_plus, !val_times, !val_dir.
        rewrite plus_IZR, !mult_IZR. auto. }
      rewrite M. fold a. lia. }
    assert (exists v t, in_cone c' v /\ val v f = 0 /\ u = plus v (times t (dir l))) as
      (v & t & Cv & Hv & ->).
    { clear Nn. induction U as [|u w t (w' & Iw & ->) U (v & r & Cv & Hv & ->)
        |u w t (w' & Iw & ->) T U (v & r & Cv & Hv & ->)].
      - exists (fun _ => 0), 0. split; [constructor|]. split; [apply val_none|]. ext.
      - destruct (A w' Iw) as [->|J].
        + exists v, (r + t). split; auto. split; auto. ext.
        + exists (plus v (times (t * / IZR (Z.abs a)) (dir (level a f l w')))),
            (r + t * (IZR (slope f w') / IZR a)). split.
          { apply a_line; auto. apply among_in, in_map. auto. }
          split. { rewrite val_plus, val_times, Fl, Hv. ring. }
          rewrite (Lv w') at 1. ext.
      - exists (plus v (times (t * / IZR (Z.abs a)) (dir (level a f l w')))),
          (r + t * (IZR (slope f w') / IZR a)). split.
        { apply sums_plus; auto.
          apply sums_times; [apply Rmult_le_pos; auto; apply Rlt_le, Rinv_0_lt_compat; auto|].
          apply in_map_iff in Iw as (e & <- & Ie).
          pose proof (primitive_sums (lines_of c') (rays_of c') (Ray (level a f l (way_of e))
            (0%Z :: List.map (Z.mul (Z.abs a)) (passed e)))) as Q. cbn [way_of] in Q.
          apply Q, sums_one, among_in, in_map. right. apply in_map_iff. exists e. auto. }
        split. { rewrite val_plus, val_times, Fl, Hv. ring. }
        rewrite (Lv w') at 1. ext. }
    rewrite val_plus, val_times, val_dir, Hv in Nn. fold a in Nn. apply sums_plus; auto.
    set (e := List.map (Z.mul (x * Z.sgn a)) l).
    assert (In e (List.map way_of (its_rays c'))) as Ie by (left; auto).
    assert (dir e = times (IZR (x * Z.sgn a)) (dir l)) as De by apply dir_map.
    assert (IZR (x * Z.sgn a) <> 0) as Nx by (apply not_0_IZR; lia).
    replace (times t (dir l)) with (times (t / IZR (x * Z.sgn a)) (dir e)).
    2:{ rewrite De. ext. field. auto. }
    apply sums_times; [|apply sums_one, among_in; auto].
    assert (0 <= t * IZR (x * Z.sgn a)) as Q.
    { rewrite mult_IZR. assert (0 <= IZR (Z.abs a) * (t * (IZR x * IZR (Z.sgn a)))) as Q
        by (rewrite Sa in Nn; lra).
      destruct (Rle_lt_dec 0 (t * (IZR x * IZR (Z.sgn a)))); auto. nra. }
    set (q := IZR (x * Z.sgn a)) in *. replace (t / q) with (t * q * / (q * q)) by (field; auto).
    apply Rmult_le_pos; auto. apply Rlt_le, Rinv_0_lt_compat. nra.
  - set (rs := List.map (with_slope f x) (its_rays c)) in *.
    assert (List.map way_of rs = List.map way_of (its_rays c)) as Ws
      by (unfold rs; rewrite map_map; auto).
    assert (forall r, In r rs -> h (dir (way_of r)) = IZR (last_slope r)) as Hs.
    { intros r R. apply in_map_iff in R as (e & <- & _). cbv beta. rewrite val_dir, <- mult_IZR.
      auto. }
    set (ns := List.filter (fun r => last_slope r <? 0)%Z rs) in *.
    set (ps := List.filter (fun r => 0 <? last_slope r)%Z rs) in *.
    destruct ns as [|n0 ns'] eqn:En.
    + destruct (negb (x =? 0)%Z || _); [|discriminate]. injection is_cut as <- <-.
      unfold in_cone, rays_of, lines_of in *. cbn [its_rays its_lines]. rewrite Ws. auto.
    + rewrite <- En in *. clear n0 ns' En.
      destruct (List.partition _ _) as [near_ far] eqn:Pa.
      set (kept := List.filter _ rs ++ _) in *.
      destruct (forallb _ far) eqn:F; [|discriminate]. injection is_cut as <- <-.
      set (set_of := fun l (v : vec) => exists r, In r l /\ v = dir (way_of r)).
      set (zs := List.filter (fun r => last_slope r =? 0)%Z rs).
      assert (forall u v, h (plus u v) = h u + h v) as Hp by (intros; rewrite val_plus; ring).
      assert (forall t u, h (times t u) = t * h u) as Ht by (intros; rewrite val_times; ring).
      destruct (halves h Hp Ht (lines_of c) (set_of zs) (set_of ps) (set_of ns)) with
        (E := rays_of c) (u := u) as [Up _]; auto.
      * intros l (w & Iw & ->). cbv beta. rewrite val_dir, (not_picked _ _ K w Iw). ring.
      * intros e (r & Ir & ->). apply filter_In in Ir as [Ir Q]. rewrite Hs by auto.
        apply Z.eqb_eq in Q. rewrite Q. auto.
      * intros e (r & Ir & ->). apply filter_In in Ir as [Ir Q]. rewrite Hs by auto.
        apply Z.ltb_lt in Q. apply IZR_lt. auto.
      * intros e (r & Ir & ->). apply filter_In in Ir as [Ir Q]. rewrite Hs by auto.
        apply Z.ltb_lt in Q. apply IZR_lt. auto.
      * intros e (w & Iw & ->). rewrite <- Ws in Iw. apply in_map_iff in Iw as (r & <- & Ir).
        destruct (Z.lt_trichotomy (last_slope r) 0) as [Q|[Q|Q]].
        -- right. right. exists r. split; auto. apply filter_In. split; auto. apply Z.ltb_lt. auto.
        -- left. exists r. split; auto. apply filter_In. split; auto. apply Z.eqb_eq. auto.
        -- right. left. exists r. split; auto. apply filter_In. split; auto. apply Z.ltb_lt. auto.
      * specialize (Up Nn). revert Up. apply sums_of; [intros l t Ll; apply sums_line; auto|].
        assert (forall r, In r kept ->
          rays_of (Cone (its_lines c) kept (S (num_cuts c))) (dir (way_of r))) as Ka.
        { intros r R. apply among_in, in_map. auto. }
        intros e [(r & Ir & ->)|[(r & Ir & ->)|(p & n & (rp & Ip & ->) & (rn & In_ & ->) & ->)]].
        -- apply sums_one, Ka, in_app_iff. left. apply filter_In in Ir as [Ir Q].
           apply filter_In. split; auto. apply Z.leb_le. apply Z.eqb_eq in Q. lia.
        -- apply sums_one, Ka, in_app_iff. left. apply filter_In in Ir as [Ir Q].
           apply filter_In. split; auto. apply Z.leb_le. apply Z.ltb_lt in Q. lia.
        -- assert (in_cone (Cone (its_lines c) kept (S (num_cuts c)))
             (dir (way_of (between rp rn)))) as B.
           { assert (In (rp, rn) (near_ ++ far)) as J.
             { apply in_app_iff. apply (elements_in_partition _ _ Pa). apply in_flat_map.
               exists rp. split; auto. apply in_map. auto. }
             apply in_app_iff in J as [J|J].
             - apply sums_one, Ka, in_app_iff. right.
               apply (in_map (fun q => between (fst q) (snd q))) in J. auto.
             - rewrite forallb_forall in F. apply F in J. apply is_sum_ok with kept; auto. }
           unfold between, mixed in B. apply (proj1 (primitive_sums _ _ _)) in B.
           cbn [way_of] in B. rewrite dir_mix in B.
           apply filter_In in Ip as [Ip _]. apply filter_In in In_ as [In_ _].
           rewrite (Hs rp Ip), (Hs rn In_), <- opp_IZR. auto.
Qed.

(** If only one side is met, the form has the sign 0 or [x] in the cone. *)
Theorem one_side u : two = false -> in_cone c u -> 0 <= h u /\ (x = 0%Z -> val u f = 0).
Proof.
  intros T U. unfold cut in is_cut. destruct (pick f [] (its_lines c)) as [[l others]|] eqn:K.
  { destruct (x =? 0)%Z; [discriminate|]. injection is_cut as _ <-. discriminate. }
  set (rs := List.map (with_slope f x) (its_rays c)) in *.
  destruct (List.filter (fun r => last_slope r <? 0)%Z rs) as [|n0 ns'] eqn:En.
  2:{ destruct (List.partition _ _). destruct (forallb _ _); [|discriminate].
      injection is_cut as _ <-. discriminate. }
  destruct (negb (x =? 0)%Z || _) eqn:Q; [|discriminate].
  assert (forall w, In w (List.map way_of (its_rays c)) ->
    0 <= IZR x * IZR (slope f w) /\ (x = 0%Z -> slope f w = 0%Z)) as A.
  { intros w W. apply in_map_iff in W as (r & <- & R). split.
    - rewrite <- mult_IZR. apply IZR_le. assert (In (with_slope f x r) rs) as J by (apply in_map;
        auto).
      destruct (Z.ltb_spec (last_slope (with_slope f x r)) 0) as [G|G]; [|exact G].
      exfalso. assert (In (with_slope f x r) []) as []. { rewrite <- En. apply filter_In.
        split; auto. apply Z.ltb_lt. auto. }
    - intros ->. simpl in Q. rewrite forallb_forall in Q.
      apply Z.eqb_eq, (Q (with_slope f 0 r)). apply in_map. auto. }
  induction U as [|u l t (w & Iw & ->) U [IH1 IH2]|u e t (w & Iw & ->) P U [IH1 IH2]].
  - rewrite val_none. split; [lra|auto].
  - rewrite val_plus, val_times, val_dir, (not_picked _ _ K w Iw). split; [lra|].
    intro X. rewrite IH2 by auto. ring.
  - destruct (A w Iw) as [A1 A2]. rewrite val_plus, val_times, val_dir. split.
    + assert (0 <= t * (IZR x * IZR (slope f w))) by (apply Rmult_le_pos; auto). lra.
    + intro X. rewrite IH2, A2 by auto. ring.
Qed.
End Right.

Lemma two_nonzero f x c c' : cut f x c = Some (c', true) -> x <> 0%Z.
Proof.
  unfold cut. intros K ->. destruct (pick _ _ _) as [[l others]|]; [discriminate|].
  destruct (List.filter (fun r => last_slope r <? 0)%Z _) as [|n0 ns'] eqn:En.
  { destruct (_ || _); discriminate. }
  assert (In n0 (n0 :: ns')) as I by (left; auto). rewrite <- En in I.
  apply filter_In in I as [I Q]. apply in_map_iff in I as (e & <- & _). discriminate.
Qed.
