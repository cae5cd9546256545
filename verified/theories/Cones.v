(** Polyhedral cones by their lines and rays, one half-space after the other (double description).

    A cone is known by generators: it is the set of the sums of multiples of its lines and of
    multiples, not negative ones, of its rays. [cut] takes the part of a cone where a form is not
    negative, or not positive. It leaves out rays that are sums of others; whether they are is
    computed. [run] cuts with a list of forms, and says where both sides of a form are met. *)
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
  unfold mixed in S. apply (proj1 (primitive_sums _ _ _)) in S. cbn [way_of] in S. rewrite dir_mix in S.
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
    destruct Ee as [Ee|[Ee|Ee]]; [apply (Flat Z); auto| |apply (Flat Z); auto; apply on_middle; auto].
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
        assert (forall r, In r kept -> rays_of (Cone (its_lines c) kept (S (num_cuts c))) (dir (way_of r))) as Ka.
        { intros r R. apply among_in, in_map. auto. }
        intros e [(r & Ir & ->)|[(r & Ir & ->)|(p & n & (rp & Ip & ->) & (rn & In_ & ->) & ->)]].
        -- apply sums_one, Ka, in_app_iff. left. apply filter_In in Ir as [Ir Q].
           apply filter_In. split; auto. apply Z.leb_le. apply Z.eqb_eq in Q. lia.
        -- apply sums_one, Ka, in_app_iff. left. apply filter_In in Ir as [Ir Q].
           apply filter_In. split; auto. apply Z.leb_le. apply Z.ltb_lt in Q. lia.
        -- assert (in_cone (Cone (its_lines c) kept (S (num_cuts c)))
             (dir (way_of (between rp rn)))) as B.
           { assert (In (rp, rn) (near_ ++ far)) as J.
             { apply (elements_in_partition _ _ Pa) || idtac.
               apply in_app_iff. apply (elements_in_partition _ _ Pa). apply in_flat_map.
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
    destruct (IH _ _ _ u G R Si' Uc (Ri F)) as [[A B]|(G1 & h & G2 & P1 & x & P2 & -> & Q & A & N & I)].
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
