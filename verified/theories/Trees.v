(** Nodes of a tree: current forms, signs, bounds, splits and leaves (FORMAT.md, section 5).

    [step] closes one node; [tree_ok] says what a tree proves at one point of the domain. *)
Require Import ZArith NArith QArith Qreals Reals List Bool Lra Lia Psatz.
From PolyreluVerified Require Import Maps Networks Numbers LinearForms Multipliers.
Import ListNotations.
Open Scope R_scope.

(** What is known on the polyhedron of a node: the numbered inequalities form / denominator >= 0,
    the signs of affine primitive forms and of other atoms, and numbers below the form h of an atom
    and below -h. *)
Record state := State {
  slacks : nmap rform;
  nslacks : N;
  fsign : Maps.map form bool;
  asign : nmap bool;
  lower : nmap Q;
  upper : nmap Q }.

(** The atoms at a node: the values of max(h, 0), the current forms of h, and the terms: for a
    primitive form p of a term its first atom k and numbers g, e with e h_k = g p. Each atom of a
    term knows k, and whether its form is a positive multiple of h_k or of -h_k; the last table has
    all atoms of a term. *)
Record node := Node {
  values : nmap rform;
  forms : nmap rform;
  terms : Maps.map form (N * (Z * Z));
  owner : nmap (N * bool);
  members : nmap (list (N * bool)) }.

(** Multiples of inequalities: listed, or those that leave no coordinate. *)
Inductive multiples := Listed (l : list (N * Q)) | Solved (l : list N).

Record sign := Sign {
  atom : N;
  mark : bool;
  bound : Q;
  mults : multiples;
  slopes : list (N * Q) }.

Inductive ending := Split (s : N) | Leaf.

(** A line of a tree file: rounds of signs, and how the node ends. *)
Definition record := (list (list sign) * ending)%type.

(** A node that is to come: the atoms of its tree, the rows of its part, and what is known. *)
Record item := Item { used : list N; rows : list form; start : state }.

Section Tree.
(** The number of inputs, the first symbol of an atom, the number of atoms, their forms, and bounds
    of coordinates from below and from above. *)
Variables (d first natoms : N) (atoms : nmap form) (lo hi : nmap Q).

(** A form over coordinates. *)
Definition affine (f : form) : bool := match f with [] => true | (s, _) :: _ => (s <? first)%N end.

(** Form h with the values of atoms put in, added to [q]. *)
Fixpoint put_in (vs : nmap rform) (h : form) (q : rform) : rform :=
  match h with
  | [] => q
  | (s, c) :: h' =>
      if (s <? first)%N then raxpy q 1 1 (h, 1%Z) else
      match nfind s vs with
      | Some r => put_in vs h' (raxpy q c 1 r)
      | None => put_in vs h' (raxpy q c 1 ([(s, 1%Z)], 1%Z))
      end
  end.

(** The next atom: its current form, and its value by a sign that is known or shown, by a term or
    its negative, or as a new term. *)
Definition visit (st : state) (s : N) (nd : node) : option node :=
  let? h := nfind s atoms in
  let t := rnorm (put_in (values nd) h ([], 1%Z)) in
  let put r := Node (nadd s r (values nd)) (nadd s t (forms nd)) in
  let plain r := Some (put r (terms nd) (owner nd) (members nd)) in
  let known (b : bool) := if b then plain t else plain ([], 1%Z) in
  match fst t with [] => plain ([], 1%Z) | _ =>
  match nfind s (asign st) with Some b => known b | None =>
  match shown d (fst t) with Some b => known b | None =>
  let (p, g) := prim (fst t) in
  match ffind p (fsign st) with Some b => known b | None =>
  let others a := match nfind a (members nd) with Some l => l | None => [] end in
  let join a o := (nadd s (a, o) (owner nd), nadd a ((s, o) :: others a) (members nd)) in
  match ffind p (terms nd) with
  | Some (a, (ga, ea)) =>
      let j := join a true in
      Some (put (rnorm ([(a, (g * ea)%Z)], (snd t * ga)%Z)) (terms nd) (fst j) (snd j))
  | None =>
      match ffind (fneg p) (terms nd) with
      | Some (a, (ga, ea)) =>
          let j := join a false in
          let value := rnorm (raxpy t (g * ea) (snd t * ga) ([(a, 1%Z)], 1%Z)) in
          Some (put value (terms nd) (fst j) (snd j))
      | None =>
          let j := join s true in
          Some (put ([(s, 1%Z)], 1%Z) (fput p (s, (g, snd t)) (terms nd)) (fst j) (snd j))
      end
  end end end end end.

(** All atoms of a tree. *)
Fixpoint build (st : state) (l : list N) (nd : node) : option node :=
  match l with
  | [] => Some nd
  | s :: l' => let? nd' := visit st s nd in build st l' nd'
  end.

Definition node0 := Node E E E E E.

Fixpoint slope (l : list (N * Q)) (s : N) : Q :=
  match l with [] => 0%Q | (t, q) :: l' => if (s =? t)%N then q else slope l' s end.

(** A number o with max(h, 0) <= sg h + o, by the known bounds of h. *)
Definition above (st : state) (s : N) (sg : Q) : option Q :=
  let? u := nfind s (upper st) in
  let o := qmax 0 (Qred ((sg - 1) * u)) in
  if (Qnum sg =? 0)%Z then Some o else
  let? l := nfind s (lower st) in
  Some (qmax o (Qred (- (sg * l)))).

(** A form below [q] without terms: the term with the largest symbol is replaced by sg h, or by
    sg h + o if its coefficient is negative. *)
Fixpoint elim (fuel : list N) (st : state) (nd : node) (sl : list (N * Q)) (q : rform) :
  option rform :=
  match fst q with
  | [] => Some q
  | (s, c) :: rest =>
      if (s <? first)%N then Some q else
      match fuel with
      | [] => None
      | _ :: fuel' =>
          match nfind s (forms nd), nfind s atoms with
          | Some t, Some _ =>
              let sg := slope sl s in
              if Qle_bool 0 sg && Qle_bool sg 1 then
                let? o := if (c <? 0)%Z then above st s sg else Some 0%Q in
                let q1 :=
                  if (c * Qnum o =? 0)%Z then (rest, snd q)
                  else raxpyr (rest, snd q) (c * Qnum o) (snd q * Zpos (Qden o))
                         ([(0%N, 1%Z)], 1%Z) in
                let q2 :=
                  if (c * Qnum sg =? 0)%Z then q1
                  else raxpyr q1 (c * Qnum sg) (snd q * Zpos (Qden sg)) t in
                elim fuel' st nd sl q2
              else None
          | _, _ => None
          end
      end
  end.

(** [q] without multiples, which are not negative, of inequalities. *)
Fixpoint subtract (st : state) (l : list (N * Q)) (q : rform) : option rform :=
  match l with
  | [] => Some q
  | (i, m) :: l' =>
      let? r := nfind i (slacks st) in
      if Qle_bool 0 m
      then subtract st l' (if (Qnum m =? 0)%Z then q else raxpy q (- Qnum m) (Zpos (Qden m)) r)
      else None
  end.

Fixpoint numbered (st : state) (l : list N) : option (list (N * rform)) :=
  match l with
  | [] => Some []
  | i :: l' =>
      match nfind i (slacks st), numbered st l' with
      | Some r, Some m => Some ((i, r) :: m)
      | _, _ => None
      end
  end.
Definition constant (f : form) : bool :=
  match f with [] => true | (s, _) :: _ => (s =? 0)%N end.
(** What is left after the multiples of inequalities are taken away. *)

Definition take_away (st : state) (m : multiples) (q : rform) : option rform :=
  match m with
  | Listed l => subtract st l q
  | Solved [] => None
  | Solved l =>
      let? rows := numbered st l in
      let? l' := solved rows q in
      let? q' := subtract st l' q in
      if constant (fst q') then Some q' else None
  end.

(** A number below a form over coordinates: sides take their places. *)
Fixpoint finish (f : form) : option Q :=
  match f with
  | [] => Some 0%Q
  | (s, c) :: f' =>
      let? r := finish f' in
      if (s =? 0)%N then Some (r + inject_Z c)%Q
      else if (c =? 0)%Z then Some r
      else let? l := nfind s (if (0 <? c)%Z then lo else hi) in
           Some (Qred (r + inject_Z c * l)%Q)
  end.

(** The bound of a sign follows. *)
Definition proved (st : state) (nd : node) (fuel : list N) (g : sign) : bool :=
  match nfind (atom g) (forms nd) with
  | None => false
  | Some t =>
      match elim fuel st nd (slopes g) (fscale (if mark g then 1 else -1) (fst t), snd t) with
      | None => false
      | Some q =>
          match take_away st (mults g) q with
          | None => false
          | Some q' =>
              match finish (fst q') with
              | None => false
              | Some r => Qle_bool (bound g * inject_Z (snd q')) r
              end
          end
      end
  end.

(** The sign of an affine form and of its negative. *)
Definition put_form (f : form) (b : bool) (m : Maps.map form bool) :=
  let p := fst (prim f) in fput (fneg p) (negb b) (fput p b m).

(** The signs of all atoms of a term. *)
Fixpoint put_all (l : list (N * bool)) (ba : bool) (m : nmap bool) :=
  match l with
  | [] => m
  | (s, o) :: l' => put_all l' ba (nadd s (if o then ba else negb ba) m)
  end.

(** A bound becomes known, and a sign if the bound is not negative. *)
Definition learn (st : state) (nd : node) (g : sign) : option state :=
  let s := atom g in
  let b := mark g in
  match nfind s (forms nd) with
  | None | Some ([], _) => None
  | Some (f, _) =>
      let lw := if b then raise s (bound g) (lower st) else lower st in
      let up := if b then upper st else raise s (bound g) (upper st) in
      if negb (Qle_bool 0 (bound g)) then
        Some (State (slacks st) (nslacks st) (fsign st) (asign st) lw up)
      else if affine f then
        Some (State (slacks st) (nslacks st) (put_form f b (fsign st)) (asign st) lw up)
      else
        let l :=
          match nfind s (owner nd) with
          | None => [(s, true)]
          | Some (a, o) => match nfind a (members nd) with Some l => l | None => [] end
          end in
        let ba :=
          match nfind s (owner nd) with
          | None => b
          | Some (a, o) => if o then b else negb b
          end in
        Some (State (slacks st) (nslacks st) (fsign st) (put_all l ba (asign st)) lw up)
  end.

(** The numbers ascend strictly, from [low] on and below [high]. *)
Fixpoint ascending (low : N) (l : list (N * Q)) (high : N) : bool :=
  match l with
  | [] => true
  | (i, _) :: l' => (low <=? i)%N && (i <? high)%N && ascending (i + 1) l' high
  end.

Fixpoint ascending_numbers (low : N) (l : list N) (high : N) : bool :=
  match l with
  | [] => true
  | i :: l' => (low <=? i)%N && (i <? high)%N && ascending_numbers (i + 1) l' high
  end.
Definition good_multiples (m : multiples) (high : N) : bool :=
  match m with
  | Listed l => ascending 0 l high
  | Solved l => ascending_numbers 0 l high
  end.

Fixpoint round (fuel : list N) (nd : node) (gs : list sign) (st : state) : option state :=
  match gs with
  | [] => Some st
  | g :: gs' =>
      if good_multiples (mults g) (nslacks st) &&
         ascending first (slopes g) (first + natoms) &&
         forallb (fun p => Qle_bool 0 (snd p) && Qle_bool (snd p) 1) (slopes g) &&
         proved st nd fuel g
      then let? st' := learn st nd g in round fuel nd gs' st'
      else None
  end.

(** All rounds of a node; the forms are written again after each of them. *)
Fixpoint rounds (us : list N) (rs : list (list sign)) (st : state) (nd : node) :
  option (state * node) :=
  match rs with
  | [] => Some (st, nd)
  | [] :: _ => None
  | gs :: rs' =>
      let? st' := round us nd gs st in
      let? nd' := build st' us node0 in
      rounds us rs' st' nd'
  end.

(** One of the two nodes after a split: f >= 0, or -f >= 0. *)
Definition child (st : state) (f : form) (e : Z) (b : bool) : state :=
  State (nadd (nslacks st) (if b then (f, e) else (fneg f, e)) (slacks st)) (nslacks st + 1)
    (put_form f b (fsign st)) (asign st) (lower st) (upper st).

(** One node: the stack has the nodes that are to come, the next one first. *)
Definition step (stack : option (list item)) (r : record) : option (list item) :=
  match stack with
  | None | Some [] => None
  | Some (it :: rest) =>
      match build (start it) (used it) node0 with
      | None => None
      | Some nd0 =>
          match rounds (used it) (fst r) (start it) nd0 with
          | None => None
          | Some (st, nd) =>
              match snd r with
              | Leaf =>
                  let is_zero f :=
                    match fst (put_in (values nd) f ([], 1%Z)) with [] => true | _ => false end in
                  if forallb is_zero (rows it) then Some rest else None
              | Split s =>
                  match nfind s (forms nd) with
                  | None | Some ([], _) => None
                  | Some (f, e) =>
                      let next b := Item (used it) (rows it) (child st f e b) in
                      if affine f then Some (next true :: next false :: rest) else None
                  end
              end
          end
      end
  end.

(** * Soundness, at one point, whose values of the symbols are v *)
Variables (v H : N -> R).
Hypothesis B : base d v.
Hypothesis A : forall s h, nfind s atoms = Some h -> H s = val v h /\ v s = relu (H s).
Hypothesis LO : all (fun s q => Q2R q <= v s) lo.
Hypothesis HI : all (fun s q => v s <= Q2R q) hi.

(** Everything that is known is true. *)
Definition state_ok st :=
  all (fun _ r => exists y, rep v r y /\ 0 <= y) (slacks st) /\
  all (fun f b => signed b (val v f)) (fsign st) /\
  all (fun s b => signed b (H s)) (asign st) /\
  all (fun s q => Q2R q <= H s) (lower st) /\
  all (fun s q => Q2R q <= - H s) (upper st).

Definition related s a (o : bool) := exists c, 0 < c /\ H s = c * (if o then H a else - H a).

(** All forms, values and terms of a node are right. *)
Definition node_ok nd :=
  all (fun s r => rep v r (v s)) (values nd) /\
  all (fun s r => rep v r (H s)) (forms nd) /\
  all (fun h p => (0 < fst (snd p))%Z /\ (0 < snd (snd p))%Z /\
         IZR (snd (snd p)) * H (fst p) = IZR (fst (snd p)) * val v h /\
         v (fst p) = relu (H (fst p)))
    (terms nd) /\
  all (fun s p => related s (fst p) (snd p)) (owner nd) /\
  all (fun a l => Forall (fun p => related (fst p) a (snd p)) l) (members nd).

Lemma rep_sym s : rep v ([(s, 1%Z)], 1%Z) (v s).
Proof. split; [reflexivity|]. simpl; lra. Qed.

Lemma rep_0 : rep v ([], 1%Z) 0.
Proof. split; [reflexivity|]. simpl; lra. Qed.

Lemma put_in_ok vs h : all (fun s r => rep v r (v s)) vs -> forall q x, rep v q x -> rep v
  (put_in vs h q) (x + val v h).
Proof.
  intro V. induction h as [|[s c] h IH]; intros q x Q. { simpl. rewrite Rplus_0_r; auto. }
  cbn [put_in]. destruct (s <? first)%N. { apply raxpy_ok with (y := val v ((s, c) :: h)); auto;
    try lia; try lra. split; [reflexivity|]. cbn [fst snd]. lra. }
  cbn [val]. rewrite <- Rplus_assoc. destruct (nfind s vs) as [r|] eqn:F; apply IH.
  - eapply raxpy_ok; eauto; [apply (nall_find _ _ _ _ V F)|lia|lra].
  - eapply raxpy_ok; eauto; [apply rep_sym|lia|lra].
Qed.

Lemma visit_ok st s nd nd' : state_ok st -> node_ok nd -> visit st s nd = Some nd' -> node_ok nd'.
Proof.
  intros (S1 & S2 & S3 & S4 & S5) (N1 & N2 & N3 & N4 & N5). unfold visit.
  destruct (nfind s atoms) as [h|] eqn:F; [|discriminate].
  apply A in F as [Hh Vh]. remember (rnorm (put_in (values nd) h ([], 1%Z))) as t eqn:Et.
  assert (rep v t (H s)) as T. { subst t. apply rnorm_ok. rewrite Hh.
  replace (val v h) with (0 + val v h) by lra. apply put_in_ok; auto. apply rep_0. }
  clear Et. assert (forall r, rep v r (v s) -> node_ok (Node (nadd s r (values nd))
    (nadd s t (forms nd)) (terms nd) (owner nd) (members nd))) as plain.
  { intros r Hr. repeat split; cbn [values forms terms owner members]; auto; apply nall_add; auto. }
  assert (signed true (H s) -> rep v t (v s)) as pos. { simpl. intro P. rewrite Vh, relu_pos; auto.
  }
  assert (signed false (H s) -> rep v ([], 1%Z) (v s)) as neg. { simpl. intro P.
  rewrite Vh, relu_neg by auto. apply rep_0. }
  destruct T as [D T]. destruct t as [f e]. cbn [fst snd] in *.
  assert (forall b, signed b (val v f) -> signed b (H s)) as down. { intros b. rewrite T.
  apply IZR_lt in D. destruct b; simpl; nra. }
  destruct f as [|p0 f0]. { intros [= <-]. apply plain. apply neg. apply (down false). simpl. lra. }
  remember (p0 :: f0) as f eqn:Ef. clear p0 f0 Ef.
  destruct (nfind s (asign st)) as [b|] eqn:F1. { apply (nall_find _ _ _ _ S3) in F1.
  destruct b; intros [= <-]; apply plain; auto. }
  destruct (shown d f) as [b|] eqn:F2. { apply (shown_ok d v f b B), down in F2.
  destruct b; intros [= <-]; apply plain; auto. }
  destruct (prim f) as [p g] eqn:P. apply (prim_ok v) in P as [G P].
  assert (forall b, signed b (val v p) -> signed b (H s)) as down2. { intros b K. apply down.
  rewrite P. apply IZR_lt in G. destruct b; simpl in *; nra. }
  destruct (ffind p (fsign st)) as [b|] eqn:F3. { apply (fall_find _ _ _ _ S2), down2 in F3.
  destruct b; intros [= <-]; apply plain; auto. }
  assert (forall a o, related s a o -> all (fun s p => related s (fst p) (snd p)) (nadd s (a, o)
    (owner nd))) as J1. { intros. apply nall_add; auto. }
  assert (forall a o, related s a o -> all (fun a l => Forall (fun p => related (fst p) a (snd p))
    l)
    (nadd a ((s, o) :: match nfind a (members nd) with Some l => l | None => [] end) (members nd)))
      as J2.
  { intros a o R. apply nall_add; auto. constructor; auto.
    destruct (nfind a (members nd)) eqn:M; auto. apply (nall_find _ _ _ _ N5 M). }
  assert (forall a ga ea x, (0 < ga)%Z -> (0 < ea)%Z -> IZR ea * H a = IZR ga * x -> IZR e * H s =
    IZR g * val v p ->
    (0 < e * ga)%Z /\ IZR (e * ga) * (IZR g * IZR ea / (IZR e * IZR ga)) = IZR (g * ea) /\ 0 < IZR g
      * IZR ea / (IZR e * IZR ga) /\
    (x = val v p -> H s = IZR g * IZR ea / (IZR e * IZR ga) * H a) /\ (x = - val v p -> H s = IZR g
      * IZR ea / (IZR e * IZR ga) * - H a)) as K.
  { intros a ga ea x Ga Ea X Y. pose proof (IZR_lt _ _ G). pose proof (IZR_lt _ _ D).
    pose proof (IZR_lt _ _ Ga). pose proof (IZR_lt _ _ Ea).
    split; [nia|]. rewrite !mult_IZR. split; [field; lra|]. split.
    { apply Rmult_lt_0_compat; [nra|]. apply Rinv_0_lt_compat. nra. }
    split; intros ->.
    - apply Rmult_eq_reg_l with (IZR e * IZR ga); [|nra].
      replace (IZR e * IZR ga * (IZR g * IZR ea / (IZR e * IZR ga) * H a)) with
      (IZR g * (IZR ea * H a)) by (field; lra).
      rewrite X. replace (IZR e * IZR ga * H s) with (IZR ga * (IZR e * H s)) by ring. rewrite Y.
      ring.
    - apply Rmult_eq_reg_l with (IZR e * IZR ga); [|nra].
      replace (IZR e * IZR ga * (IZR g * IZR ea / (IZR e * IZR ga) * - H a)) with
      (- IZR g * (IZR ea * H a)) by (field; lra).
      rewrite X. replace (IZR e * IZR ga * H s) with (IZR ga * (IZR e * H s)) by ring. rewrite Y.
      ring. }
  assert (IZR e * H s = IZR g * val v p) as Y by (rewrite <- T; auto).
  destruct (ffind p (terms nd)) as [[a [ga ea]]|] eqn:F4.
  { apply (fall_find _ _ _ _ N3) in F4. cbn [fst snd] in F4. destruct F4 as (Ga & Ea & X & Va).
    destruct (K _ _ _ _ Ga Ea X Y) as (K1 & K2 & K3 & K4 & _).
    specialize (K4 eq_refl). assert (related s a true) as R by
      (exists (IZR g * IZR ea / (IZR e * IZR ga)); auto).
    intros [= <-]. repeat split; cbn [values forms terms owner members fst snd]; auto;
      try (apply J2; auto); apply nall_add; auto; try (split; auto; fail).
    apply rnorm_ok. split; [auto|]. cbn [fst snd val]. rewrite Vh, Va, K4, relu_scale by lra.
    rewrite <- K2. ring. }
  destruct (ffind (fneg p) (terms nd)) as [[a [ga ea]]|] eqn:F5.
  { apply (fall_find _ _ _ _ N3) in F5. cbn [fst snd] in F5. destruct F5 as (Ga & Ea & X & Va).
    rewrite val_fneg in X. destruct (K _ _ _ _ Ga Ea X Y) as (K1 & K2 & K3 & _ & K4).
    specialize (K4 eq_refl). assert (related s a false) as R by
      (exists (IZR g * IZR ea / (IZR e * IZR ga)); auto).
    intros [= <-]. repeat split; cbn [values forms terms owner members fst snd]; auto;
      try (apply J2; auto); apply nall_add; auto; try (split; auto; fail).
    apply rnorm_ok. rewrite Vh, relu_flip. eapply raxpy_ok; [split; eauto|apply rep_sym|auto|].
    rewrite Va. rewrite K4 at 1. replace (- (IZR g * IZR ea / (IZR e * IZR ga) * - H a)) with
      (IZR g * IZR ea / (IZR e * IZR ga) * H a) by ring.
    rewrite relu_scale by lra. rewrite <- K2. ring. }
  assert (related s s true) as R by (exists 1; split; lra).
  intros [= <-]. repeat split; cbn [values forms terms owner members fst snd]; auto; try (apply J2;
    auto); try (apply nall_add; auto; try (split; auto; fail)).
  - apply rep_sym.
  - apply fall_add; auto.
Qed.

Lemma build_ok st l : state_ok st -> forall nd nd', node_ok nd -> build st l nd = Some nd' ->
  node_ok nd'.
Proof.
  intro S. induction l as [|s l IH]; simpl; intros nd nd' O. { intros [= <-]; auto. }
  destruct (visit st s nd) eqn:E; [|discriminate]. apply IH. eapply visit_ok; eauto.
Qed.

Lemma node0_ok : node_ok node0.
Proof. repeat split. Qed.

Lemma above_ok st s sg o : state_ok st -> 0 <= Q2R sg <= 1 -> above st s sg = Some o -> relu (H s)
  <= Q2R sg * H s + Q2R o.
Proof.
  intros (_ & _ & _ & L & U) S. unfold above.
  destruct (nfind s (upper st)) as [u|] eqn:F; [|discriminate]. apply (nall_find _ _ _ _ U) in F.
  pose proof (qmax_l 0 (Qred ((sg - 1) * u))) as M1.
  pose proof (qmax_r 0 (Qred ((sg - 1) * u))) as M2. rewrite Q2R_0 in M1.
  rewrite Q2R_red, Q2R_mult, Q2R_minus, Q2R_1 in M2. set (o1 := qmax 0 _) in *. clearbody o1.
  assert (0 <= H s -> relu (H s) <= Q2R sg * H s + Q2R o1) as P. { intro. rewrite relu_pos by auto.
  nra. }
  destruct (Z.eqb_spec (Qnum sg) 0) as [e|e].
  - intros [= <-]. destruct (Rle_lt_dec 0 (H s)); auto. rewrite relu_neg by lra.
    assert (Q2R sg = 0) as -> by (unfold Q2R; rewrite e; lra). lra.
  - destruct (nfind s (lower st)) as [l|] eqn:G; [|discriminate]. apply (nall_find _ _ _ _ L) in G.
    pose proof (qmax_l o1 (Qred (- (sg * l)))) as M3.
    pose proof (qmax_r o1 (Qred (- (sg * l)))) as M4. rewrite Q2R_red, Q2R_opp, Q2R_mult in M4.
    remember (qmax o1 (Qred (- (sg * l)))) as o2 eqn:E2. clear E2. intros [= <-].
    destruct (Rle_lt_dec 0 (H s)). { specialize (P r). lra. } rewrite relu_neg by lra. nra.
Qed.

Lemma elim_ok st nd sl : state_ok st -> node_ok nd -> forall fuel q x q', rep v q x -> elim fuel st
  nd sl q = Some q' -> exists x', rep v q' x' /\ x' <= x.
Proof.
  intros S ND. pose proof ND as (_ & N2 & _).
  induction fuel as [|i fuel IH]; intros q x q' R; pose proof R as [D X].
  { simpl. destruct (fst q) as [|[s c] rest]; [|destruct (s <? first)%N; [|discriminate]];
    intros [= <-]; exists x; (split; [exact R|lra]). }
  cbn [elim]. destruct (fst q) as [|[s c] rest] eqn:Eq.
  { intros [= <-]; exists x; split; [exact R|lra]. }
  destruct (s <? first)%N. { intros [= <-]; exists x; split; [exact R|lra]. }
  destruct (nfind s (forms nd)) as [t|] eqn:F; [|discriminate].
  destruct (nfind s atoms) as [h|] eqn:Fa; [|discriminate].
  apply (nall_find _ _ _ _ N2) in F. apply A in Fa as [_ Va].
  destruct (Qle_bool 0 (slope sl s) && Qle_bool (slope sl s) 1) eqn:Sg; [|discriminate].
  set (sg := slope sl s) in *. clearbody sg.
  apply andb_prop in Sg as [Sg1 Sg2]. apply qle in Sg1, Sg2. rewrite Q2R_0 in Sg1.
  rewrite Q2R_1 in Sg2.
  destruct (if (c <? 0)%Z then above st s sg else Some 0%Q) as [o|] eqn:O; [|discriminate]. intro Z.
  pose proof (IZR_lt _ _ D) as D'.
  cbn [val] in X.
  assert (rep v (rest, snd q) (x - IZR c * v s / IZR (snd q))) as R0. { split; auto. cbn [fst snd].
  replace (val v rest) with (IZR (snd q) * x - IZR c * v s) by lra. field. lra. }
  match type of Z with elim _ _ _ _ ?q2 = _ => assert (rep v q2 (x - IZR c * v s / IZR (snd q) + IZR
    c * Q2R o / IZR (snd q) + IZR c * (Q2R sg * H s) / IZR (snd q))) as R2 end.
  { match goal with |- rep v (if _ then ?q1 else _) _ => assert (rep v q1 (x - IZR c * v s / IZR
    (snd q) + IZR c * Q2R o / IZR (snd q))) as R1 end.
    { destruct (Z.eqb_spec (c * Qnum o) 0) as [e|e].
      - replace (IZR c * Q2R o) with 0. { replace (x - IZR c * v s / IZR (snd q) + 0 / IZR (snd q))
        with (x - IZR c * v s / IZR (snd q)) by (field; lra). auto. }
        unfold Q2R. apply (f_equal IZR) in e. rewrite mult_IZR in e. rewrite <- Rmult_assoc, e.
        ring.
      - eapply raxpyr_ok; eauto. { split; [reflexivity|]. cbn [fst snd val]. rewrite (proj1 B).
        ring_simplify. instantiate (1 := 1). ring. } { nia. }
        apply scaled_step; auto. field. lra. }
    destruct (Z.eqb_spec (c * Qnum sg) 0) as [e|e].
    - replace (IZR c * (Q2R sg * H s)) with 0.
      { match goal with |- rep v _ (?y + 0 / _) => replace (y + 0 / IZR (snd q)) with y by (field;
      lra) end. auto. }
      unfold Q2R. apply (f_equal IZR) in e. rewrite mult_IZR in e.
      replace (IZR c * (IZR (Qnum sg) * / IZR (Z.pos (Qden sg)) * H s)) with (IZR c * IZR (Qnum sg)
        * (/ IZR (Z.pos (Qden sg)) * H s)) by ring. rewrite e. ring.
    - eapply raxpyr_ok; eauto. { nia. } apply scaled_step; auto. field. lra. }
  destruct (IH _ _ _ R2 Z) as (x' & R' & L). exists x'. split; auto. eapply Rle_trans; [exact L|].
  assert (IZR c * (Q2R o + Q2R sg * H s - v s) <= 0) as C.
  { destruct (Z.ltb_spec c 0) as [c0|c0]; apply IZR_le in c0 || apply IZR_lt in c0.
    - assert (IZR c <= 0) by (apply IZR_lt in c0 || idtac; lra).
      pose proof (above_ok _ _ _ _ S (conj Sg1 Sg2) O). rewrite Va. nra.
    - injection O as <-. rewrite Q2R_0, Va. pose proof (relu_above (H s) _ (conj Sg1 Sg2)). nra. }
  apply Rmult_le_reg_l with (IZR (snd q)); auto.
  replace (IZR (snd q) * (x - IZR c * v s / IZR (snd q) + IZR c * Q2R o / IZR (snd q) + IZR c *
    (Q2R sg * H s) / IZR (snd q)))
    with (IZR (snd q) * x + IZR c * (Q2R o + Q2R sg * H s - v s)) by (field; lra). lra.
Qed.

Lemma subtract_ok st l : state_ok st -> forall q x q', rep v q x -> subtract st l q = Some q' ->
  exists x', rep v q' x' /\ x' <= x.
Proof.
  intros (S & _). induction l as [|[i m] l IH]; simpl; intros q x q' R.
  { intros [= <-]; exists x; split; auto; lra. }
  destruct (nfind i (slacks st)) as [r|] eqn:F; [|discriminate].
  apply (nall_find _ _ _ _ S) in F as (y & Ry & Y).
  destruct (Qle_bool 0 m) eqn:M; [|discriminate]. apply qle in M. rewrite Q2R_0 in M.
  destruct (Z.eqb_spec (Qnum m) 0). { apply IH; auto. }
  intro G. edestruct IH as (x' & R' & L); [|exact G|].
  - apply raxpy_ok with (y := y) (z := - (Q2R m * y)); eauto; [reflexivity|].
    rewrite opp_IZR, <- Q2R_num. ring.
  - exists x'; split; auto. nra.
Qed.

Lemma take_away_ok st m q x q' : state_ok st -> rep v q x -> take_away st m q = Some q' ->
  exists x', rep v q' x' /\ x' <= x.
Proof.
  intros S R. unfold take_away. destruct m as [l|l]. { apply subtract_ok; auto. }
  destruct l as [|i l]; [discriminate|].
  destruct (numbered st (i :: l)) as [rows|]; [|discriminate].
  destruct (solved rows q) as [l'|]; [|discriminate].
  destruct (subtract st l' q) as [q2|] eqn:E; [|discriminate].
  destruct (constant (fst q2)); [|discriminate]. intros [= <-].
  eapply subtract_ok; eauto.
Qed.

Lemma finish_ok f : forall r, finish f = Some r -> Q2R r <= val v f.
Proof.
  induction f as [|[s c] f IH]; cbn [finish val]; intro r. { intros [= <-]. rewrite Q2R_0; lra. }
  destruct (finish f) as [r'|]; [|discriminate]. specialize (IH _ eq_refl).
  destruct (N.eqb_spec s 0) as [->|].
  { match goal with |- Some ?y = _ -> _ => remember y as rr eqn:Er end. intros [= <-].
    rewrite Er, Q2R_plus, Q2R_Z, (proj1 B). lra. }
  destruct (Z.eqb_spec c 0) as [->|]. { intros [= <-]; lra. }
  destruct (nfind s _) as [l|] eqn:F; [|discriminate].
  match goal with |- Some ?y = _ -> _ => remember y as rr eqn:Er end. intros [= <-].
  rewrite Er, Q2R_red, Q2R_plus, Q2R_mult, Q2R_Z.
  destruct (Z.ltb_spec 0 c) as [c0|c0].
  - apply (nall_find _ _ _ _ LO) in F. apply IZR_lt in c0. nra.
  - apply (nall_find _ _ _ _ HI) in F. apply IZR_le in c0. nra.
Qed.

Lemma proved_ok st nd fuel g : state_ok st -> node_ok nd -> proved st nd fuel g = true -> Q2R
  (bound g) <= (if mark g then H (atom g) else - H (atom g)).
Proof.
  intros S ND. unfold proved. pose proof ND as (_ & N2 & _).
  destruct (nfind (atom g) (forms nd)) as [t|] eqn:F; [|discriminate].
  apply (nall_find _ _ _ _ N2) in F as [D T].
  assert (rep v (fscale (if mark g then 1 else -1) (fst t), snd t) (if mark g then H (atom g) else -
    H (atom g))) as R.
  { split; auto. cbn [fst snd]. rewrite val_fscale, T. destruct (mark g); ring. }
  destruct (elim _ _ _ _ _) as [q|] eqn:E1; [|discriminate].
  destruct (elim_ok _ _ _ S ND _ _ _ _ R E1) as (x1 & R1 & L1).
  destruct (take_away _ _ _) as [q'|] eqn:E2; [|discriminate].
  destruct (take_away_ok _ _ _ _ _ S R1 E2) as (x2 & [D2 R2] & L2).
  destruct (finish _) as [r|] eqn:E3; [|discriminate]. apply finish_ok in E3. intro Q.
  apply qle in Q. rewrite Q2R_mult, Q2R_Z in Q.
  apply IZR_lt in D2. assert (Q2R (bound g) <= x2); [|lra].
  apply Rmult_le_reg_r with (IZR (snd q')); auto. lra.
Qed.

Lemma put_form_ok f b m : all (fun f b => signed b (val v f)) m -> signed b (val v f) -> all
  (fun f b => signed b (val v f)) (put_form f b m).
Proof.
  intros M S. unfold put_form. destruct (prim f) as [p g] eqn:P. apply (prim_ok v) in P as [G P].
  rewrite P in S. apply IZR_lt in G. cbn [fst].
  apply fall_add. apply fall_add; auto. all: rewrite ?val_fneg; destruct b; simpl in *; nra.
Qed.

Lemma put_all_ok l a ba m : all (fun s b => signed b (H s)) m -> Forall (fun p => related (fst p) a
  (snd p)) l -> signed ba (H a) -> all (fun s b => signed b (H s)) (put_all l ba m).
Proof.
  intros M L S. revert m M. induction L as [|[s o] l (c & C & E) L IH]; simpl in *; intros m M;
    auto. apply IH. apply nall_add; auto.
  rewrite E. destruct o, ba; simpl in *; nra.
Qed.

Lemma learn_ok st nd g st' : state_ok st -> node_ok nd -> Q2R (bound g) <= (if mark g then H
  (atom g) else - H (atom g)) -> learn st nd g = Some st' -> state_ok st'.
Proof.
  intros (S1 & S2 & S3 & S4 & S5) (N1 & N2 & N3 & N4 & N5) K. unfold learn.
  destruct (nfind (atom g) (forms nd)) as [[f e]|] eqn:F; [|discriminate].
  apply (nall_find _ _ _ _ N2) in F as [D T]. cbn [fst snd] in *.
  destruct f as [|p f]; [discriminate|]. set (ff := p :: f) in *. clearbody ff.
  set (lw := if mark g then _ else lower st). set (up := if mark g then upper st else _).
  assert (all (fun s q => Q2R q <= H s) lw) as L. { unfold lw. destruct (mark g); auto.
  apply raise_ok; auto. intros; apply qmax_least; auto. }
  assert (all (fun s q => Q2R q <= - H s) up) as U. { unfold up. destruct (mark g); auto.
  apply raise_ok; auto. intros; apply qmax_least; auto. }
  clearbody lw up. destruct (Qle_bool 0 (bound g)) eqn:Z; cbn [negb]. 2:{ intros [= <-].
  repeat split; auto. }
  apply qle in Z. rewrite Q2R_0 in Z. assert (signed (mark g) (H (atom g))) as S by
    (destruct (mark g); simpl; lra).
  destruct (affine ff). { intros [= <-]. repeat split; auto. cbn [fsign]. apply put_form_ok; auto.
  rewrite T. apply IZR_lt in D. destruct (mark g); simpl in *; nra. }
  intros [= <-]. repeat split; auto. cbn [asign].
  destruct (nfind (atom g) (owner nd)) as [[a o]|] eqn:O.
  - apply (nall_find _ _ _ _ N4) in O as (c & C & Ec). cbn [fst snd] in *.
    apply put_all_ok with (a := a); auto.
    + destruct (nfind a (members nd)) eqn:M; [|constructor]. apply (nall_find _ _ _ _ N5 M).
    + rewrite Ec in S. destruct o, (mark g); simpl in *; nra.
  - apply put_all_ok with (a := atom g); auto. constructor; [|constructor].
    exists 1; simpl; split; lra.
Qed.

Lemma round_ok fuel nd gs : node_ok nd -> forall st st', state_ok st -> round fuel nd gs st = Some
  st' -> state_ok st'.
Proof.
  intro ND. induction gs as [|g gs IH]; simpl; intros st st' S. { intros [= <-]; auto. }
  destruct (_ && proved st nd fuel g) eqn:E; [|discriminate]. apply andb_prop in E as [_ E].
  destruct (learn st nd g) eqn:L; [|discriminate].
  apply IH. eapply learn_ok; eauto. eapply proved_ok; eauto.
Qed.

Lemma rounds_ok us rs : forall st nd st' nd', state_ok st -> node_ok nd -> rounds us rs st nd = Some
  (st', nd') -> state_ok st' /\ node_ok nd'.
Proof.
  induction rs as [|gs rs IH]; cbn [rounds]; intros st nd st' nd' S ND. { intros [= <- <-]; auto. }
  destruct gs as [|g gs]; [discriminate|].
  destruct (round us nd (g :: gs) st) as [st1|] eqn:E; [|discriminate].
  pose proof (round_ok _ _ _ ND _ _ S E) as S1.
  destruct (build st1 us node0) eqn:F; [|discriminate]. apply IH; auto.
  eapply build_ok; [exact S1|apply node0_ok|exact F].
Qed.

Definition item_ok it := state_ok (start it) -> Forall (fun f => val v f = 0) (rows it).
Lemma child_ok st f e b x : state_ok st -> rep v (f, e) x -> signed b x -> state_ok
  (child st f e b).
Proof.
  intros (S1 & S2 & S3 & S4 & S5) [D X] S. cbn [fst snd] in *.
  repeat split; cbn [child slacks fsign asign lower upper]; auto.
  - apply nall_add; auto. destruct b; [exists x|exists (- x)]; (split; [split; cbn [fst snd];
    auto|simpl in S; lra]). rewrite val_fneg, X. ring.
  - apply put_form_ok; auto. rewrite X. apply IZR_lt in D. destruct b; simpl in *; nra.
Qed.

Lemma step_ok stack r stack' : step (Some stack) r = Some stack' -> Forall item_ok stack' -> Forall
  item_ok stack.
Proof.
  unfold step. destruct stack as [|it rest]; [discriminate|].
  destruct (build _ _ _) as [nd0|] eqn:E1; [|discriminate].
  destruct (rounds _ _ _ _) as [[st nd]|] eqn:E2; [|discriminate].
  assert (state_ok (start it) -> state_ok st /\ node_ok nd) as K.
  { intro S. eapply rounds_ok; [exact S| |exact E2].
  eapply build_ok; [exact S|apply node0_ok|exact E1]. }
  destruct (snd r) as [s|].
  - destruct (nfind s (forms nd)) as [[[|p f] e]|] eqn:F; try discriminate. set (ff := p :: f) in *.
    clearbody ff. destruct (affine ff); [|discriminate]. intros [= <-] G.
    inversion G as [|? ? G1 G2]; subst. inversion G2 as [|? ? G3 G4]; subst. constructor; auto.
    intro S. destruct (K S) as [S' ND].
    pose proof ND as (_ & N2 & _). apply (nall_find _ _ _ _ N2) in F. unfold item_ok in *.
    cbn [start rows] in *.
    destruct (Rle_lt_dec 0 (H s)). { apply G1. eapply child_ok; eauto. } apply G3.
    eapply child_ok; eauto. simpl; lra.
  - destruct (forallb _ _) eqn:F; [|discriminate]. intros [= <-] G. constructor; auto. intro S.
    destruct (K S) as [_ (N1 & _)].
    apply Forall_forall. intros f I. rewrite forallb_forall in F. specialize (F f I).
    destruct (put_in_ok _ f N1 _ _ rep_0) as [D X].
    destruct (fst (put_in (values nd) f ([], 1%Z))); [|discriminate]. cbn [val] in X.
    apply IZR_lt in D. assert (0 + val v f = 0) by nra. lra.
Qed.

Theorem tree_ok rs : forall stack, fold_left step rs (Some stack) = Some [] -> Forall item_ok stack.
Proof.
  assert (forall rs, fold_left step rs None = None) as N. { clear; induction rs; simpl; auto. }
  induction rs as [|r rs IH]; cbn [fold_left]; intros stack E. { injection E as ->; auto. }
  destruct (step (Some stack) r) as [s'|] eqn:F; [|rewrite N in E; discriminate].
  eapply step_ok; eauto.
Qed.

End Tree.

