(** Networks as forms: activations of a network as linear forms over a table of atoms max(h, 0)
    (FORMAT.md, section 5, "The joint network").

    [jrun] makes the forms, [jrun_ok] says that they have the values of [run]. [wf_tab_ok] says that
    all atoms of a table have values. *)
Require Import ZArith NArith QArith Qreals Reals List Bool Lra Lia Psatz.
From PolyreluVerified Require Import Maps Networks Numbers LinearForms.
Import ListNotations.
Open Scope R_scope.

(** The form f over the denominator d has the value x. *)
Definition scaled v (d : Z) (f : form) (x : R) := val v f = IZR d * x.

(** The activations of some layers, as forms over one denominator for each layer. *)
Definition acts := list (list form * Z).

Definition act_ok v (p : list form * Z) (a : list R) :=
  (0 < snd p)%Z /\ Forall2 (scaled v (snd p)) (fst p) a.

(** They have the values A, and all but the inputs are not negative. *)
Definition acts_ok v (F : acts) (A : list (list R)) :=
  Forall2 (act_ok v) F A /\ Forall (Forall (Rle 0)) (tl A).

(** acc + k (row . fs) *)
Fixpoint fdot (k : Z) (row : list Z) (fs : list form) (acc : form) : form :=
  match row, fs with
  | c :: row', f :: fs' => fdot k row' fs' (if (c =? 0)%Z then acc else flin 1 (k * c) acc f)
  | _, _ => acc
  end.

Lemma fdot_ok v d k row fs xs : Forall2 (scaled v d) fs xs -> forall acc, val v (fdot k row fs acc)
  = val v acc + IZR k * IZR d * dot row xs.
Proof.
  intro H; revert row; induction H as [|f x fs xs Hf H IH]; intros [|c row] acc; simpl; try lra.
  rewrite IH. destruct (Z.eqb_spec c 0) as [->|]; [lra|]. rewrite val_flin, mult_IZR, Hf. lra.
Qed.

(** acc + all rows times their activations, over the denominator [common]. *)
Fixpoint fsum (common : Z) (F : acts) (rows : list (nat * list Z)) (acc : form) : option form :=
  match rows with
  | [] => Some acc
  | (k, row) :: rows' =>
      match nth_error F k with
      | Some (fs, d) =>
          let q := (common / d)%Z in
          if (q * d =? common)%Z then fsum common F rows' (fdot q row fs acc) else None
      | None => None
      end
  end.

Lemma nth_ok v F A k fs d : Forall2 (act_ok v) F A -> nth_error F k = Some (fs, d) -> (0 < d)%Z /\
  Forall2 (scaled v d) fs (nth k A []).
Proof.
  intro H; revert k; induction H as [|p a F A Hp H IH]; intros [|k]; simpl; try discriminate; auto.
  intros [= ->]; auto.
Qed.

Lemma fsum_ok v F A common rows : Forall2 (act_ok v) F A -> forall acc f, fsum common F rows acc =
  Some f -> val v f = val v acc + IZR common * sum_rows A rows.
Proof.
  intro H; induction rows as [|[k row] rows IH]; simpl; intros acc f. { intros [= <-]; lra. }
  destruct (nth_error F k) as [[fs d]|] eqn:E; [|discriminate].
  destruct (nth_ok _ _ _ _ _ _ H E) as [D Q].
  destruct (Z.eqb_spec (common / d * d) common) as [e|]; [|discriminate]. intro G.
  rewrite (IH _ _ G), (fdot_ok _ d _ _ _ _ Q).
  apply (f_equal IZR) in e. rewrite mult_IZR in e. rewrite <- e. ring.
Qed.

Definition fneuron common F (n : neuron) := fsum common F (snd n) (fconst (fst n * common)).

(** The least common multiple of the denominators of the sources of a layer. *)
Definition common_of (F : acts) (l : layer) : Z :=
  match neurons l with
  | [] => 1%Z
  | n :: _ =>
      fold_right
        (fun p c => match nth_error F (fst p) with Some (_, d) => Z.lcm d c | None => c end)
        1%Z (snd n)
  end.

(** The greatest common divisor of a number and all coefficients. *)
Definition common_divisor (D : Z) (fs : list form) : Z :=
  if (D =? 1)%Z then 1%Z
  else fold_left (fun g f => if (g =? 1)%Z then 1%Z else Z.gcd g (content f)) fs D.

(** The preactivations of a layer, as forms over their least common denominator. *)
Definition preforms (F : acts) (l : layer) : option (list form * Z) :=
  let c := common_of F l in
  let D := (c * den l)%Z in
  if (0 <? c)%Z && (0 <? den l)%Z then
    let? fs := mapo (fneuron c F) (neurons l) in
    let g := common_divisor D fs in
    if (g <=? 1)%Z then Some (fs, D)
    else if (D mod g =? 0)%Z && forallb (forallb (fun p => (snd p mod g =? 0)%Z)) fs
    then Some (List.map (fdiv g) fs, (D / g)%Z)
    else None
  else None.

Lemma preforms_ok v F A l fs D : v 0%N = 1 -> Forall2 (act_ok v) F A -> preforms F l = Some (fs, D)
  -> (0 < D)%Z /\ Forall2 (scaled v D) fs (List.map (pre A (den l)) (neurons l)).
Proof.
  intros V0 H. unfold preforms. remember (common_of F l) as c eqn:Ec. clear Ec.
  destruct (Z.ltb_spec 0 c) as [C|]; [|discriminate].
  destruct (Z.ltb_spec 0 (den l)) as [L|]; [|discriminate]. cbn [andb].
  destruct (mapo _ _) as [ms|] eqn:M; [|discriminate].
  assert (Forall2 (scaled v (c * den l)) ms (List.map (pre A (den l)) (neurons l))) as G.
  { apply mapo_ok in M. clear - M H L V0.
    induction M as [|n f ns ms Hn M IH]; simpl; constructor; auto. unfold scaled, fneuron in *.
    rewrite (fsum_ok _ _ _ _ _ H _ _ Hn), val_fconst, !mult_IZR by auto. unfold pre. field.
    apply IZR_lt in L. lra. }
  remember (common_divisor (c * den l) ms) as g eqn:Eg. clear Eg. destruct (Z.leb_spec g 1).
  { intros [= <- <-]. split; auto; nia. }
  destruct (Z.eqb_spec ((c * den l) mod g) 0) as [e|]; [|discriminate]. cbn [andb].
  match goal with |- context [forallb ?P ms] => destruct (forallb P ms) eqn:B end; [|discriminate].
  intros [= <- <-].
  apply Z.mod_divide in e; [|lia]. destruct e as [q Hq]. rewrite Hq, Z.div_mul by lia.
  split; [nia|]. rewrite Hq in G.
  clear - G B H0. induction G as [|f x ms xs Hf G IH]; simpl in *; constructor.
  - apply andb_prop in B as [B _]. unfold scaled in *. rewrite <- (val_fdiv v g f) in Hf; [|lia|].
    + rewrite mult_IZR in Hf. assert (0 < IZR g) by (apply IZR_lt; lia). nra.
    + intros s k I. rewrite forallb_forall in B. specialize (B _ I). apply Z.eqb_eq in B.
      simpl in B. apply Z.mod_divide in B; auto; lia.
  - apply andb_prop in B as [_ B]. auto.
Qed.

(** * The sign of a neuron that reads no input, with weights of one sign *)

Definition okc (b : bool) (c : Z) := if b then (0 <=? c)%Z else (c <=? 0)%Z.

Fixpoint wrow (b first : bool) (row : list Z) (fs : list form) :=
  match row, fs with
  | c :: row', f :: fs' =>
      ((c =? 0)%Z || match f with [] => true | _ => negb first && okc b c end) &&
      wrow b first row' fs'
  | _, _ => true
  end.

Definition wneuron (b : bool) (F : acts) (n : neuron) :=
  okc b (fst n) &&
  forallb
    (fun p =>
       match nth_error F (fst p) with
       | Some (fs, _) => wrow b (Nat.eqb (fst p) 0) (snd p) fs
       | None => false
       end)
    (snd n).

Definition wsign F n :=
  match wneuron true F n, wneuron false F n with
  | true, false => Some true
  | false, true => Some false
  | _, _ => None
  end.

Lemma okc_ok b c x : okc b c = true -> 0 <= x -> signed b (IZR c * x).
Proof.
  destruct b; simpl; intros H X; apply Z.leb_le, IZR_le in H; simpl in *; nra.
Qed.

Lemma wrow_ok v b first row d fs xs : (0 < d)%Z -> (first = false -> Forall (Rle 0) xs) -> Forall2
  (scaled v d) fs xs -> wrow b first row fs = true -> signed b (dot row xs).
Proof.
  intros D P H; revert row P; induction H as [|f x fs xs Hf H IH]; intros [|c row] P; simpl;
    try (intros; destruct b; simpl; lra).
  intro B; apply andb_prop in B as [B1 B2]. assert (signed b (dot row xs)). { apply IH; auto.
  intro e; specialize (P e). inversion P; auto. }
  apply signed_add; auto. apply orb_prop in B1 as [B1|B1].
  { apply Z.eqb_eq in B1; subst. destruct b; simpl; lra. }
  destruct f as [|p f]. { unfold scaled in Hf; simpl in Hf. apply IZR_lt in D.
  assert (x = 0) as -> by nra. destruct b; simpl; lra. }
  apply andb_prop in B1 as [B0 B1]. apply okc_ok; auto. destruct first; [discriminate|].
  specialize (P eq_refl). inversion P; auto.
Qed.

Lemma wneuron_ok v b F A d n : acts_ok v F A -> (0 < d)%Z -> wneuron b F n = true -> signed b
  (pre A d n).
Proof.
  intros [H T] D B. unfold wneuron in B. apply andb_prop in B as [B1 B2].
  assert (signed b (IZR (fst n) + sum_rows A (snd n))) as S.
  { apply signed_add. { replace (IZR (fst n)) with (IZR (fst n) * 1) by lra.
    apply okc_ok; auto; lra. }
    clear B1. induction (snd n) as [|[k row] rows IH]; simpl in *; [destruct b; simpl; lra|].
    apply andb_prop in B2 as [B2 B3].
    apply signed_add; auto. destruct (nth_error F k) as [[fs e]|] eqn:E; [|discriminate].
    destruct (nth_ok _ _ _ _ _ _ H E) as [D' Q].
    eapply wrow_ok; eauto. intro N. apply Nat.eqb_neq in N. rewrite nth_tl in * by auto. clear - T.
    set (m := pred k). clearbody m.
    revert m; induction T; intros [|m]; simpl; auto. }
  unfold pre. apply IZR_lt in D. apply Rinv_0_lt_compat in D. unfold Rdiv.
  destruct b; simpl in *; nra.
Qed.

Lemma wsign_ok v b F A d n : acts_ok v F A -> (0 < d)%Z -> wsign F n = Some b -> signed b
  (pre A d n).
Proof.
  intros H D. unfold wsign. destruct (wneuron true F n) eqn:X, (wneuron false F n) eqn:Y;
    try discriminate; intros [= <-]; eapply wneuron_ok; eauto.
Qed.

(** * Atoms and activations *)

(** The table of atoms: the next symbol, the symbols with their forms, the newest first, the symbols
    by their forms, and the symbols of lifted neurons by their place in the list. *)
Record st := St { next : N; tab : list (N * form); dict : Maps.map form N; lifts : list (N * N) }.

Definition inv (t : st) := all (fun h s => In (s, h) (tab t)) (dict t).

Definition sat (v : N -> R) (T : list (N * form)) :=
  forall s h, In (s, h) T -> v s = relu (val v h).

(** max(f, 0): by a sign of the weights or of f itself, by an atom that is known or its negative, or
    by a new atom. A lifted neuron ([own] is its place) needs a new one. *)
Definition activation (d : N) (own : option N) (t : st) (sg : option bool) (f : form) :
  option (st * form) :=
  match f with
  | [] => Some (t, [])
  | _ =>
      match (match sg with Some b => Some b | None => shown d f end) with
      | Some true => Some (t, f)
      | Some false => Some (t, [])
      | None =>
          let (h, g) := prim f in
          match ffind h (dict t) with
          | Some s => match own with None => Some (t, [(s, g)]) | _ => None end
          | None =>
              match ffind (fneg h) (dict t) with
              | Some s => match own with None => Some (t, flin 1 1 f [(s, g)]) | _ => None end
              | None =>
                  let s := next t in
                  let lifted := match own with Some k => (k, s) :: lifts t | None => lifts t end in
                  Some (St (s + 1) ((s, h) :: tab t) (fput h s (dict t)) lifted, [(s, g)])
              end
          end
      end
  end.

Lemma activation_ok d own t sg f t' a : inv t -> activation d own t sg f = Some (t', a) -> inv t' /\
  incl (tab t) (tab t') /\
  forall v, base d v -> sat v (tab t') -> (forall b, sg = Some b -> signed b (val v f)) -> val v a =
    relu (val v f).
Proof.
  intro I. unfold activation. destruct f as [|p f']. { intros [= <- <-].
  repeat split; auto using incl_refl. intros; simpl. rewrite relu_pos; lra. }
  set (f := p :: f'). clearbody f. clear p f'.
  destruct (match sg with Some b => Some b | None => shown d f end) as [b|] eqn:E.
  - assert (forall v, base d v -> (forall b, sg = Some b -> signed b (val v f)) -> signed b
    (val v f)) as S.
    { intros v B S. destruct sg; [injection E as ->; auto|]. eapply shown_ok; eauto. }
    destruct b; intros [= <- <-]; repeat split; auto using incl_refl; intros v B _ Q;
      specialize (S v B Q); simpl in *.
    rewrite relu_pos; auto. rewrite relu_neg; auto.
  - destruct (prim f) as [h g] eqn:P. destruct (ffind h (dict t)) as [s|] eqn:F1.
    + destruct own; [discriminate|]. intros [= <- <-]. repeat split; auto using incl_refl.
      intros v B Q _. destruct (prim_ok v _ _ _ P) as [G ->].
      apply (fall_find _ _ _ _ I) in F1. rewrite relu_scale by (apply IZR_le; lia). simpl.
      rewrite (Q _ _ F1). lra.
    + destruct (ffind (fneg h) (dict t)) as [s|] eqn:F2.
      * destruct own; [discriminate|]. intros [= <- <-]. repeat split; auto using incl_refl.
        intros v B Q _. destruct (prim_ok v _ _ _ P) as [G e].
        apply (fall_find _ _ _ _ I) in F2. rewrite val_flin. cbn [val].
        rewrite (Q _ _ F2), val_fneg. rewrite (relu_flip (val v f)).
        replace (- val v f) with (IZR g * - val v h) by (rewrite e; ring).
        rewrite relu_scale by (apply IZR_le; lia). lra.
      * intros [= <- <-]. split; [|split].
        -- unfold inv; cbn [tab dict]. apply fall_add; [|left; auto]. revert I. apply all_imp.
          intros; right; auto.
        -- cbn [tab]. apply incl_tl, incl_refl.
        -- intros v B Q _. destruct (prim_ok v _ _ _ P) as [G ->].
          rewrite relu_scale by (apply IZR_le; lia). cbn [val].
           rewrite (Q (next t) h) by (left; auto). lra.
Qed.

(** The activations of a layer, neuron by neuron from number [i] on. *)
Fixpoint relus (d : N) (own : N -> option N) (i : N) (t : st) (l : list (option bool * form)) :
  option (st * list form) :=
  match l with
  | [] => Some (t, [])
  | (sg, f) :: l' =>
      match activation d (own i) t sg f with
      | Some (t', a) =>
          match relus d own (i + 1) t' l' with
          | Some (t2, m) => Some (t2, a :: m)
          | None => None
          end
      | None => None
      end
  end.

Lemma relus_ok d own l : forall i t t' m, inv t -> relus d own i t l = Some (t', m) -> inv t' /\
  incl (tab t) (tab t') /\
  forall v, base d v -> sat v (tab t') -> Forall (fun p => forall b, fst p = Some b -> signed b
    (val v (snd p))) l ->
  Forall2 (fun p a => val v a = relu (val v (snd p))) l m.
Proof.
  induction l as [|[sg f] l IH]; simpl; intros i t t' m I. { intros [= <- <-].
  repeat split; auto using incl_refl. }
  destruct (activation _ _ _ _ _) as [[t1 a]|] eqn:E; [|discriminate].
  destruct (relus _ _ _ t1 l) as [[t2 m']|] eqn:F; [|discriminate]. intros [= <- <-].
  destruct (activation_ok _ _ _ _ _ _ _ I E) as (I1 & C1 & P1).
  destruct (IH _ _ _ _ I1 F) as (I2 & C2 & P2). repeat split; auto.
  { eapply incl_tran; eauto. } intros v B Q S. inversion S; subst. constructor; auto.
    apply P1; auto. intros s h H; apply Q, C2; auto.
Qed.

(** The outputs of the layers [ls], the first of which has the number [num], and the table of atoms
    with those that are new. [own] gives the place of a lifted neuron by layer and index. *)
Fixpoint jrun (d : N) (own : N -> N -> option N) (num : N) (ls : list layer) (last_relu : bool)
  (t : st) (F : acts) : option (st * (list form * Z)) :=
  match ls with
  | [] => None
  | l :: ls' =>
      match preforms F l with
      | None => None
      | Some (fs, D) =>
          match ls', last_relu with
          | [], false => Some (t, (fs, D))
          | _, _ =>
              match relus d (own num) 0 t (combine (List.map (wsign F) (neurons l)) fs) with
              | None => None
              | Some (t', a) =>
                  match ls' with
                  | [] => Some (t', (a, D))
                  | _ => jrun d own (num + 1) ls' last_relu t' (F ++ [(a, D)])
                  end
              end
          end
      end
  end.

Lemma combine_ok v D F A l fs : acts_ok v F A -> (0 < D)%Z -> (0 < den l)%Z -> Forall2 (scaled v D)
  fs (List.map (pre A (den l)) (neurons l)) ->
  Forall (fun p => forall b, fst p = Some b -> signed b (val v (snd p)))
    (combine (List.map (wsign F) (neurons l)) fs).
Proof.
  intros H HD L. revert fs. induction (neurons l) as [|n ns IH]; simpl; intros fs G;
    inversion G as [|f x fs' xs Hf Gt]; subst; constructor; auto.
  simpl. intros b E. unfold scaled in *. rewrite Hf. pose proof (wsign_ok _ _ _ _ _ _ H L E) as S.
  apply IZR_lt in HD. destruct b; simpl in *; nra.
Qed.

Lemma preforms_den F l r : preforms F l = Some r -> (0 < den l)%Z.
Proof.
  unfold preforms. destruct (0 <? common_of F l)%Z; [|discriminate].
  destruct (Z.ltb_spec 0 (den l)); [auto|discriminate].
Qed.

Lemma relus_scaled v D F A l fs a : (0 < D)%Z -> Forall2 (scaled v D) fs (List.map (pre A (den l))
  (neurons l)) ->
  Forall2 (fun p a => val v a = relu (val v (snd p))) (combine (List.map (wsign F) (neurons l)) fs)
    a ->
  Forall2 (scaled v D) a (List.map relu (List.map (pre A (den l)) (neurons l))).
Proof.
  intros HD. revert fs a. induction (neurons l) as [|n ns IH]; simpl; intros fs a G H;
    inversion G as [|f x fs' xs Hf Gt]; subst; simpl in H; inversion H as [|p b ps bs Hp Ht]; subst;
    constructor; eauto.
  unfold scaled in *. cbn [snd] in *. rewrite Hp, Hf. apply relu_scale, IZR_le; lia.
Qed.

Lemma jrun_ok d own ls lr : forall num t F t' fs D, inv t -> jrun d own num ls lr t F = Some
  (t', (fs, D)) -> inv t' /\ incl (tab t) (tab t') /\
  forall v A, base d v -> sat v (tab t') -> acts_ok v F A -> (0 < D)%Z /\ Forall2 (scaled v D) fs
    (run ls lr A).
Proof.
  induction ls as [|l ls IH]; [discriminate|]. intros num t F t' fs D I. cbn [jrun run].
  destruct (preforms F l) as [[gs D']|] eqn:E; [|discriminate].
  pose proof (preforms_den _ _ _ E) as L.
  destruct (relus d (own num) 0 t (combine (List.map (wsign F) (neurons l)) gs)) as [[t1 a]|] eqn:R.
  2:{ destruct ls as [|l2 ls], lr; try discriminate. intros [= <- <- <-].
  split; [auto|split; [apply incl_refl|]].
      intros v A B Q [O1 O2]. apply (preforms_ok v F A l gs D' (proj1 B) O1 E). }
  destruct (relus_ok _ _ _ _ _ _ _ I R) as (I1 & C1 & P1).
  assert (forall v A, base d v -> sat v (tab t1) -> acts_ok v F A -> (0 < D')%Z /\ Forall2
    (scaled v D') a (List.map relu (List.map (pre A (den l)) (neurons l)))) as Q.
  { intros v A B S O. destruct (preforms_ok v F A l gs D' (proj1 B) (proj1 O) E) as [P G].
    split; auto.
    eapply relus_scaled; eauto. apply P1; auto. eapply combine_ok; eauto. }
  destruct ls as [|l2 ls].
  - destruct lr; intros [= <- <- <-]; (split; [auto|split; [auto using incl_refl|]]);
    intros v A B S O.
    + apply Q; auto.
    + apply (preforms_ok v F A l gs D' (proj1 B) (proj1 O) E).
  - assert (jrun d own (num + 1) (l2 :: ls) lr t1 (F ++ [(a, D')]) = Some (t', (fs, D)) -> inv t' /\
    incl (tab t) (tab t') /\
      forall v A, base d v -> sat v (tab t') -> acts_ok v F A -> (0 < D)%Z /\ Forall2 (scaled v D)
        fs (run (l2 :: ls) lr (A ++ [List.map relu (List.map (pre A (den l)) (neurons l))]))) as G.
    { intro J. destruct (IH _ _ _ _ _ _ I1 J) as (I2 & C2 & P2).
      split; [auto|split; [eapply incl_tran; eauto|]].
      intros v A B S O. apply P2; auto. assert (sat v (tab t1)) as S1 by (intros s h X; apply S, C2;
        auto). destruct (Q v A B S1 O) as [Q1 Q2].
      destruct O as [O1 O2]. split. { apply Forall2_app; auto. constructor; auto. split; auto. }
      destruct O1; [simpl; constructor|]. simpl in *. apply Forall_app; split; auto.
      constructor; auto.
      apply Forall_forall. intros z Z. apply in_map_iff in Z as (z' & <- & _). apply relu_ge0. }
    destruct lr; exact G.
Qed.

(** * There are values of all symbols *)

(** Each form has symbols before its own one, and none is a coordinate. *)
Fixpoint wf_tab (d : N) (T : list (N * form)) : bool :=
  match T with
  | [] => true
  | (s, h) :: T' =>
      forallb (fun p => (fst p <? s)%N) h &&
      match T' with [] => (d <? s)%N | (s', _) :: _ => (s' <? s)%N end &&
      wf_tab d T'
  end.

Lemma val_ext v w f : (forall p, In p f -> v (fst p) = w (fst p)) -> val v f = val w f.
Proof.
  induction f as [|[s c] f IH]; simpl; auto. intro H.
  pose proof (H (s, c) (or_introl eq_refl)) as E. simpl in E. rewrite E, IH; auto.
Qed.

(** The values of all symbols, from those of the coordinates. *)
Fixpoint fill (T : list (N * form)) (v0 : N -> R) : N -> R :=
  match T with
  | [] => v0
  | (s, h) :: T' => fun k => if (k =? s)%N then relu (val (fill T' v0) h) else fill T' v0 k
  end.

Lemma fill_ok d T : wf_tab d T = true -> forall v0, base d v0 -> base d (fill T v0) /\
  (forall k, (k <= d)%N -> fill T v0 k = v0 k) /\ sat (fill T v0) T.
Proof.
  assert (forall T, wf_tab d T = true -> match T with [] => True | (s, _) :: T' => (d < s)%N /\
    forall t h, In (t, h) T' -> (t < s)%N /\ wf_tab d T' = true end) as K.
  { clear. induction T as [|[s h] T IH]; simpl; auto. intro H. apply andb_prop in H as [H H3].
    apply andb_prop in H as [H1 H2]. specialize (IH H3).
    destruct T as [|[t g] T]. { split; [apply N.ltb_lt; auto|simpl; tauto]. } apply N.ltb_lt in H2.
    destruct IH as [X Y]. split; [lia|].
    intros t' h' [[= <- <-]|J]; [auto|]. destruct (Y _ _ J). split; auto; lia. }
  assert (forall T, wf_tab d T = true -> forall t h p, In (t, h) T -> In p h -> (fst p < t)%N) as W.
  { clear. induction T as [|[s h] T IH]; simpl; [tauto|]. intro H. apply andb_prop in H as [H H3].
    apply andb_prop in H as [H1 H2].
    intros t g p [[= <- <-]|J] Q; [|eauto]. rewrite forallb_forall in H1. apply N.ltb_lt; auto. }
  induction T as [|[s h] T IH]; intros H v0 B.
  { split; [|split]; auto. intros ? ? []. }
  pose proof (K _ H) as [Ks Kt]. pose proof (W _ H s h) as Wh. simpl in H.
  apply andb_prop in H as [_ H3]. destruct (IH H3 v0 B) as (Bv & Ev & Sv).
  set (v := fill T v0) in *.
  set (w := fun k => if (k =? s)%N then relu (val v h) else v k).
  change (fill ((s, h) :: T) v0) with w.
  assert (forall k, (k < s)%N -> w k = v k) as Lt. { intros k L. unfold w.
  destruct (N.eqb_spec k s); [lia|auto]. }
  assert (w s = relu (val v h)) as Ws by (unfold w; rewrite N.eqb_refl; auto).
  split; [|split].
  - split. { rewrite Lt by lia. apply Bv. } intros k L. unfold w.
    destruct (k =? s)%N; [apply relu_ge0|apply Bv; auto].
  - intros k L. rewrite Lt by lia. auto.
  - intros t g [[= <- <-]|J].
    + rewrite Ws. f_equal. apply val_ext. intros p I. symmetry; apply Lt. apply Wh; simpl; auto.
    + destruct (Kt _ _ J) as [L _]. rewrite Lt, (Sv _ _ J) by auto. f_equal. apply val_ext.
      intros p I. symmetry; apply Lt.
      pose proof (W _ H3 _ _ _ J I). lia.
Qed.

Lemma wf_tab_ok d T : wf_tab d T = true -> forall v0, base d v0 -> exists v, base d v /\ (forall k,
  (k <= d)%N -> v k = v0 k) /\ sat v T.
Proof.
  intros W v0 B. exists (fill T v0). apply fill_ok; auto.
Qed.
