(** Linear forms over integers, and forms over a positive denominator.

    Symbol 0 stands for 1. [val v f] is the value of a form if [v] are the values of the symbols;
    [rep v r x] says that the form [r] over a denominator has the value [x]. *)
Require Import ZArith NArith QArith Qreals Reals List Bool Lra Lia Psatz.
From PolyreluVerified Require Import Maps Networks Numbers.
Import ListNotations.
Open Scope R_scope.

(** * Linear forms

    Symbols descend, so that each form has one list; no proof needs that. *)

Definition form := list (N * Z).

Fixpoint val (v : N -> R) (f : form) : R :=
  match f with [] => 0 | (s, c) :: f' => IZR c * v s + val v f' end.

Definition fscale (a : Z) (f : form) : form :=
  if (a =? 1)%Z then f
  else if (a =? 0)%Z then []
  else List.map (fun p => (fst p, (a * snd p)%Z)) f.

(** a f + b g *)
Fixpoint flin (a b : Z) (f : form) {struct f} : form -> form :=
  match f with
  | [] => fscale b
  | (s, c) :: f' =>
      fix aux g :=
        match g with
        | [] => fscale a f
        | (t, d) :: g' =>
            match N.compare s t with
            | Gt => (s, (a * c)%Z) :: flin a b f' g
            | Lt => (t, (b * d)%Z) :: aux g'
            | Eq =>
                let e := (a * c + b * d)%Z in
                if (e =? 0)%Z then flin a b f' g' else (s, e) :: flin a b f' g'
            end
        end
  end.

Lemma val_fscale v a f : val v (fscale a f) = IZR a * val v f.
Proof.
  unfold fscale. destruct (Z.eqb_spec a 1) as [->|]; [lra|].
  destruct (Z.eqb_spec a 0) as [->|]; [simpl; lra|].
  induction f as [|[s c] f IH]; simpl; [lra|]. rewrite IH, mult_IZR; lra.
Qed.

Lemma val_flin v a b f g : val v (flin a b f g) = IZR a * val v f + IZR b * val v g.
Proof.
  revert g; induction f as [|[s c] f IH]; intro g; cbn [flin]. { rewrite val_fscale; simpl; lra. }
  induction g as [|[t d] g IHg]. { rewrite val_fscale; simpl; lra. }
  destruct (N.compare_spec s t) as [->|H|H].
  - destruct (Z.eqb_spec (a * c + b * d) 0) as [e|e]; cbn [val]; rewrite IH.
    + apply (f_equal IZR) in e. rewrite plus_IZR, !mult_IZR in e. cbn [val].
      assert (IZR a * (IZR c * v t) + IZR b * (IZR d * v t) = 0) by (replace 0 with (IZR 0 * v t) by
        (simpl; ring); rewrite <- e; ring). lra.
    + rewrite plus_IZR, !mult_IZR. cbn [val]. lra.
  - cbn [val]. rewrite IHg, mult_IZR. cbn [val]. lra.
  - cbn [val]. rewrite IH, mult_IZR. cbn [val]. lra.
Qed.

Definition fconst (a : Z) : form := if (a =? 0)%Z then [] else [(0%N, a)].

Lemma val_fconst v a : v 0%N = 1 -> val v (fconst a) = IZR a.
Proof.
  unfold fconst. intro H. destruct (Z.eqb_spec a 0) as [->|]; simpl; rewrite ?H; lra.
Qed.

(** The greatest common divisor of the coefficients. *)
Fixpoint content (f : form) : Z :=
  match f with
  | [] => 0%Z
  | (_, c) :: f' => let g := content f' in if (g =? 1)%Z then 1%Z else Z.gcd c g
  end.

Definition fdiv (g : Z) (f : form) : form :=
  if (g =? 1)%Z then f else List.map (fun p => (fst p, (snd p / g)%Z)) f.

Lemma content_div f s c : In (s, c) f -> (content f | c)%Z.
Proof.
  induction f as [|[t d] f IH]; simpl; [tauto|]. destruct (Z.eqb_spec (content f) 1) as [e|e].
  { intros; apply Z.divide_1_l. }
  intros [[= -> ->]|H]. apply Z.gcd_divide_l.
  eapply Z.divide_trans; [apply Z.gcd_divide_r|auto].
Qed.

Lemma val_fdiv v g f : (g <> 0)%Z -> (forall s c, In (s, c) f -> (g | c)%Z) -> IZR g * val v
  (fdiv g f) = val v f.
Proof.
  intros G. unfold fdiv. destruct (Z.eqb_spec g 1) as [->|]. { intros; lra. }
  induction f as [|[s c] f IH]; simpl; intro H; [lra|]. rewrite <- IH by (intros; eapply H; eauto).
  destruct (H s c (or_introl eq_refl)) as [q ->]. rewrite Z.div_mul, mult_IZR by auto. lra.
Qed.

(** The primitive form h and g > 0 with f = g h. *)
Definition prim (f : form) : form * Z :=
  let g := content f in if (g <=? 1)%Z then (f, 1%Z) else (fdiv g f, g).

Lemma prim_ok v f h g : prim f = (h, g) -> (0 < g)%Z /\ val v f = IZR g * val v h.
Proof.
  unfold prim. destruct (Z.leb_spec (content f) 1) as [l|l]; intros [= <- <-]; split; try lia;
    try lra.
  rewrite val_fdiv; auto; [lia|]. intros; eapply content_div; eauto.
Qed.

Definition fneg (f : form) : form := List.map (fun p => (fst p, (- snd p)%Z)) f.

Lemma val_fneg v f : val v (fneg f) = - val v f.
Proof.
  induction f as [|[s c] f IH]; simpl; [lra|]. rewrite IH, opp_IZR; lra.
Qed.

Fixpoint fcmp (f g : form) : comparison :=
  match f, g with
  | [], [] => Eq
  | [], _ => Lt
  | _, [] => Gt
  | (s, c) :: f', (t, d) :: g' =>
      match N.compare s t with
      | Eq => match Z.compare c d with Eq => fcmp f' g' | x => x end
      | x => x
      end
  end.

Lemma fcmp_eq f g : fcmp f g = Eq -> f = g.
Proof.
  revert g; induction f as [|[s c] f IH]; intros [|[t d] g]; simpl; try discriminate; auto.
  destruct (N.compare_spec s t); try discriminate. destruct (Z.compare_spec c d); try discriminate.
  intro; f_equal; [congruence|auto].
Qed.

Definition ffind {V} (k : form) (m : map form V) := find fcmp k m.

Definition fput {V} (k : form) (v : V) m := add fcmp k v m.

Lemma fall_find {V} (P : form -> V -> Prop) m k v : all P m -> ffind k m = Some v -> P k v.
Proof.
  apply all_find. apply fcmp_eq.

Qed.

Lemma fall_add {V} (P : form -> V -> Prop) m k v : all P m -> P k v -> all P (fput k v m).
Proof.
  apply all_add. apply fcmp_eq.

Qed.

(** * Forms over a positive denominator *)

Definition rform := (form * Z)%type.

Definition rep (v : N -> R) (r : rform) (x : R) :=
  (0 < snd r)%Z /\ val v (fst r) = IZR (snd r) * x.

(** q + (n / m) r, for m > 0 *)
Definition raxpy (q : rform) (n m : Z) (r : rform) : rform :=
  let d := snd q in
  let p := (m * snd r)%Z in
  if (d =? p)%Z then (flin 1 n (fst q) (fst r), d) else
  let g := Z.gcd d p in
  let p' := (p / g)%Z in
  (flin p' (n * (d / g)) (fst q) (fst r), (d * p')%Z).

Lemma raxpy_ok v q n m r x y z : rep v q x -> rep v r y -> (0 < m)%Z -> IZR m * z = IZR n * y -> rep
  v (raxpy q n m r) (x + z).
Proof.
  intros [D X] [E' Y] M H. unfold raxpy, rep. assert (0 < m * snd r)%Z as P by nia.
  assert (IZR m * IZR (snd r) = IZR (m * snd r)) as B by (rewrite mult_IZR; ring).
  remember (m * snd r)%Z as p eqn:Ep.
  destruct (Z.eqb_spec (snd q) p) as [e|e]; cbn [fst snd].
  - split; auto. rewrite val_flin, X, Y, e, <- B.
    replace (IZR n * (IZR (snd r) * y)) with (IZR (snd r) * (IZR n * y)) by ring. rewrite <- H.
    ring.
  - destruct (Z.gcd_divide_l (snd q) p) as [d' Hd]. destruct (Z.gcd_divide_r (snd q) p) as [p' Hp].
    assert (0 < Z.gcd (snd q) p)%Z as G. { pose proof (Z.gcd_nonneg (snd q) p).
    assert (Z.gcd (snd q) p <> 0)%Z; [|lia].
      intro F. apply Z.gcd_eq_0 in F. lia. }
    remember (Z.gcd (snd q) p) as g eqn:Eg. clear Eg.
    assert (p / g = p')%Z as -> by (rewrite Hp; apply Z.div_mul; lia).
    assert (snd q / g = d')%Z as -> by (rewrite Hd; apply Z.div_mul; lia).
    assert (0 < p')%Z by nia. split; [nia|].
    rewrite val_flin, X, Y, !mult_IZR. rewrite Hp, mult_IZR in B. rewrite Hd, mult_IZR.
    replace (IZR n * IZR d' * (IZR (snd r) * y)) with (IZR d' * IZR (snd r) * (IZR n * y)) by ring.
    rewrite <- H.
    replace (IZR d' * IZR (snd r) * (IZR m * z)) with (IZR d' * (IZR m * IZR (snd r)) * z) by ring.
    rewrite B. ring.
Qed.

(** The same with n / m in lowest terms. *)
Definition raxpyr (q : rform) (n m : Z) (r : rform) : rform :=
  let g := Z.gcd n m in
  if (g <=? 1)%Z then raxpy q n m r else raxpy q (n / g) (m / g) r.

Lemma raxpyr_ok v q n m r x y z : rep v q x -> rep v r y -> (0 < m)%Z -> IZR m * z = IZR n * y ->
  rep v (raxpyr q n m r) (x + z).
Proof.
  intros X Y M H. unfold raxpyr. destruct (Z.leb_spec (Z.gcd n m) 1) as [|G].
  { eapply raxpy_ok; eauto. }
  destruct (Z.gcd_divide_l n m) as [n' Hn]. destruct (Z.gcd_divide_r n m) as [m' Hm].
  remember (Z.gcd n m) as g eqn:Eg. clear Eg.
  assert (n / g = n')%Z as -> by (rewrite Hn; apply Z.div_mul; lia).
  assert (m / g = m')%Z as -> by (rewrite Hm; apply Z.div_mul; lia).
  eapply raxpy_ok; eauto; [nia|]. rewrite Hn, Hm, !mult_IZR in H.
  apply Rmult_eq_reg_l with (IZR g); [lra|]. apply not_0_IZR. lia.
Qed.

(** The same form over the least denominator. *)
Definition rnorm (q : rform) : rform :=
  if (snd q =? 1)%Z then q else
  let g := Z.gcd (snd q) (content (fst q)) in
  if (g <=? 1)%Z then q else (fdiv g (fst q), (snd q / g)%Z).

Lemma rnorm_ok v q x : rep v q x -> rep v (rnorm q) x.
Proof.
  intros [D X]. unfold rnorm. destruct (Z.eqb_spec (snd q) 1); [split; auto|].
  destruct (Z.gcd_divide_l (snd q) (content (fst q))) as [d' Hd].
  pose proof (Z.gcd_divide_r (snd q) (content (fst q))) as Hr.
  remember (Z.gcd (snd q) (content (fst q))) as g eqn:Eg. clear Eg.
  destruct (Z.leb_spec g 1); [split; auto|]. unfold rep; cbn [fst snd].
  assert (snd q / g = d')%Z as -> by (rewrite Hd; apply Z.div_mul; lia). split; [nia|].
  assert (IZR g * val v (fdiv g (fst q)) = val v (fst q)) as B.
  { apply val_fdiv; [lia|]. intros s c I. eapply Z.divide_trans; [apply Hr|].
    eapply content_div; eauto. }
  rewrite X, Hd, mult_IZR in B. assert (0 < IZR g) by (apply IZR_lt; lia). nra.
Qed.

(** * The sign that a form without coordinates 1 ... d shows *)

Definition shown (d : N) (f : form) : option bool :=
  match f with
  | [] => None
  | (_, c) :: _ =>
      if forallb (fun p => (fst p =? 0)%N || (d <? fst p)%N) f then
        if (0 <? c)%Z
        then (if forallb (fun p => (0 <? snd p)%Z) f then Some true else None)
        else (if forallb (fun p => (snd p <? 0)%Z) f then Some false else None)
      else None
  end.

(** Values of symbols: 1 for symbol 0, and nothing negative beyond the coordinates 1 ... d. *)
Definition base (d : N) (v : N -> R) := v 0%N = 1 /\ forall s, (d < s)%N -> 0 <= v s.

Lemma shown_ok d v f b : base d v -> shown d f = Some b -> signed b (val v f).
Proof.
  intros [B0 B]. unfold shown. destruct f as [|[s c] f']; [discriminate|]. set (f := (s, c) :: f').
  clearbody f.
  destruct (forallb (fun p => (fst p =? 0)%N || (d <? fst p)%N) f) eqn:A; [|discriminate].
  assert (forall p, In p f -> 0 <= v (fst p)) as C. { intros p I. rewrite forallb_forall in A.
  specialize (A p I).
    apply orb_prop in A as [A|A]. apply N.eqb_eq in A; rewrite A, B0; lra.
    apply N.ltb_lt in A; auto. }
  destruct (0 <? c)%Z.
  - destruct (forallb (fun p => (0 <? snd p)%Z) f) eqn:D; [intros [= <-]|discriminate]. simpl.
    rewrite forallb_forall in D. clear - C D.
    induction f as [|[t e] f IH]; simpl; [lra|].
    assert (0 <= val v f) by (apply IH; intros; [apply C|apply D]; right; auto).
    pose proof (C _ (or_introl eq_refl)). pose proof (D _ (or_introl eq_refl)) as F.
    apply Z.ltb_lt, IZR_lt in F. simpl in *. nra.
  - destruct (forallb (fun p => (snd p <? 0)%Z) f) eqn:D; [intros [= <-]|discriminate]. simpl.
    rewrite forallb_forall in D. clear - C D.
    induction f as [|[t e] f IH]; simpl; [lra|].
    assert (val v f <= 0) by (apply IH; intros; [apply C|apply D]; right; auto).
    pose proof (C _ (or_introl eq_refl)). pose proof (D _ (or_introl eq_refl)) as F.
    apply Z.ltb_lt, IZR_lt in F. simpl in *. nra.
Qed.

