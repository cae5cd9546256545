(** Theorem [tree]: two networks agree on a domain (claim equivalent). *)
Require Import ZArith NArith QArith Qreals Reals List Bool Lra Lia Psatz.
From PolyreluVerified Require Import Maps Networks Domains Numbers LinearForms JointNetwork.
From PolyreluVerified Require Import Coordinates Trees.
Import ListNotations.
Open Scope R_scope.

(** * The difference, and the atoms that it needs, with their final numbers *)

(** The difference rows: the multiples of f - g that are not 0, primitive. *)
Fixpoint diffs (D1 D2 : Z) (f1 f2 : list form) : option (list form) :=
  match f1, f2 with
  | [], [] => Some []
  | f :: f1', g :: f2' =>
      let? l := diffs D1 D2 f1' f2' in
      match flin D2 (- D1) f g with [] => Some l | r => Some (fst (prim r) :: l) end
  | _, _ => None
  end.

Lemma diffs_ok v D1 D2 f1 f2 A B l : (0 < D1)%Z -> (0 < D2)%Z -> Forall2 (scaled v D1) f1 A ->
  Forall2 (scaled v D2) f2 B ->
  diffs D1 D2 f1 f2 = Some l -> Forall (fun f => val v f = 0) l -> A = B.
Proof.
  intros P1 P2 F1. revert f2 B l. induction F1 as [|f x f1 A Hf F1 IH]; intros f2 B l F2;
    destruct F2 as [|g y f2 B Hg F2]; simpl; try discriminate; auto.
  destruct (diffs D1 D2 f1 f2) as [m|] eqn:E; [|discriminate].
  pose proof (val_flin v D2 (- D1) f g) as V. rewrite Hf, Hg, opp_IZR in V.
  apply IZR_lt in P1 as Q1. apply IZR_lt in P2 as Q2.
  assert (val v (flin D2 (- D1) f g) = 0 -> x = y) as K. { intro Z. rewrite Z in V.
  assert (IZR D1 * IZR D2 * (x - y) = 0) as W by lra.
    apply Rmult_integral in W as [W|W]; [|lra]. apply Rmult_integral in W as [W|W]; lra. }
  destruct (flin D2 (- D1) f g) as [|p r] eqn:Ef.
  - intros [= <-] Z. f_equal; eauto.
  - intros [= <-] Z. inversion Z as [|? ? Z1 Z2]; subst. f_equal; eauto. apply K.
    destruct (prim (p :: r)) as [h c] eqn:P. apply (prim_ok v) in P as [C ->]. simpl in Z1.
    rewrite Z1. ring.
Qed.

Definition add_syms (f : form) (m : nmap unit) :=
  fold_left (fun m p => nadd (fst p) tt m) f m.

(** The atoms that are needed, out of a table with the newest first; the result has the oldest
    first. *)
Fixpoint closure (T : list (N * form)) (need : nmap unit) (acc : list (N * form)) :
  list (N * form) :=
  match T with
  | [] => acc
  | (s, h) :: T' =>
      match nfind s need with
      | Some _ => closure T' (add_syms h need) ((s, h) :: acc)
      | None => closure T' need acc
      end
  end.

Definition level_of (lv : nmap nat) (h : form) : nat :=
  S (fold_right
       (fun p m => Nat.max m (match nfind (fst p) lv with Some l => l | None => 0%nat end))
       0%nat h).

Fixpoint leveled (T : list (N * form)) (lv : nmap nat) : list (nat * (N * form)) :=
  match T with
  | [] => []
  | (s, h) :: T' => let l := level_of lv h in (l, (s, h)) :: leveled T' (nadd s l lv)
  end.

(** Sorted by level, and in the old order within each level. *)
Definition by_level (T : list (nat * (N * form))) : list (N * form) :=
  flat_map (fun l => List.map snd (filter (fun p => Nat.eqb (fst p) l) T))
    (seq 1 (fold_right (fun p m => Nat.max (fst p) m) 0%nat T)).

(** New symbols from [k] on: the map from old to new ones, and its inverse. *)
Fixpoint enumerate (T : list (N * form)) (k : N) (m : nmap N * nmap N) :=
  match T with
  | [] => m
  | (s, _) :: T' => enumerate T' (k + 1) (nadd s k (fst m), nadd k s (snd m))
  end.

Section Rename.
Variables (rho inv : nmap N) (d : N).

(** The new symbol, if the inverse map leads back. *)
Definition rename_sym (s : N) : option N :=
  if (s <=? d)%N then Some s else
  let? s' := nfind s rho in
  let? t := nfind s' inv in
  if (t =? s)%N && (d <? s')%N then Some s' else None.

Fixpoint rename (f : form) : option form :=
  match f with
  | [] => Some []
  | (s, c) :: f' =>
      let? g := rename f' in
      let? s' := rename_sym s in
      Some (flin 1 1 g [(s', c)])
  end.

Definition rename_atom (p : N * form) : option (N * form) :=
  match rename_sym (fst p), rename (snd p) with Some s, Some h => Some (s, h) | _, _ => None end.

Variable v : N -> R.

(** The values of the new symbols. *)
Definition renamed (s : N) : R :=
  if (s <=? d)%N then v s else
  match nfind s inv with Some t => if (d <? t)%N then v t else 0 | None => 0 end.

Lemma renamed_base : base d v -> base d renamed.
Proof.
  intros [V0 V]. unfold renamed. split. { destruct (N.leb_spec 0 d); [auto|lia]. } intros s L.
  destruct (N.leb_spec s d); [lia|].
  destruct (nfind s inv) as [t|]; [|lra]. destruct (N.ltb_spec d t); [auto|lra].
Qed.

Lemma rename_sym_ok s s' : rename_sym s = Some s' -> renamed s' = v s.
Proof.
  unfold rename_sym, renamed. destruct (N.leb_spec s d) as [L|L]. { intros [= <-].
  destruct (N.leb_spec s d); [auto|lia]. }
  destruct (nfind s rho) as [t'|]; [|discriminate].
  destruct (nfind t' inv) as [t|] eqn:F; [|discriminate].
  destruct (N.eqb_spec t s) as [->|]; [|discriminate].
  destruct (N.ltb_spec d t') as [M|]; [|discriminate]. intros [= <-].
  destruct (N.leb_spec t' d); [lia|]. rewrite F. destruct (N.ltb_spec d s); [auto|lia].
Qed.

Lemma rename_ok f : forall f', rename f = Some f' -> val renamed f' = val v f.
Proof.
  induction f as [|[s c] f IH]; simpl; intro f'. { intros [= <-]; auto.
  } destruct (rename f) as [g|]; [|discriminate].
  destruct (rename_sym s) as [s'|] eqn:E; [|discriminate]. intros [= <-].
  rewrite val_flin, (IH g) by auto. simpl. rewrite (rename_sym_ok _ _ E). lra.
Qed.

Lemma rename_atom_ok s h s' h' : v s = relu (val v h) -> rename_atom (s, h) = Some (s', h') ->
  renamed s' = relu (val renamed h').
Proof.
  unfold rename_atom. cbn [fst snd]. destruct (rename_sym s) eqn:E; [|discriminate].
  destruct (rename h) eqn:F; [|discriminate]. intros V [= <- <-].
  rewrite (rename_sym_ok _ _ E), (rename_ok _ _ F). auto.
Qed.

End Rename.

(** * Parts of the difference *)

Definition rowform (l : list (N * Q)) : rform :=
  let add acc p :=
    if (Qnum (snd p) =? 0)%Z then acc
    else raxpy acc (Qnum (snd p)) (Zpos (Qden (snd p))) ([(fst p, 1%Z)], 1%Z) in
  fold_left add l ([], 1%Z).

Fixpoint add2 (a b : list rform) : option (list rform) :=
  match a, b with
  | [], [] => Some []
  | r :: a', s :: b' =>
      if (0 <? snd s)%Z then let? l := add2 a' b' in Some (raxpy r 1 1 s :: l) else None
  | _, _ => None
  end.

(** The sum of all parts, row by row. *)
Fixpoint sums (ps : list (list rform)) (a : list rform) : option (list rform) :=
  match ps with [] => Some a | p :: ps' => let? b := add2 a p in sums ps' b end.

Fixpoint same (a : list rform) (rows : list form) : bool :=
  match a, rows with
  | [], [] => true
  | r :: a', f :: rows' =>
      match fst (raxpy r (-1) 1 (f, 1%Z)) with [] => same a' rows' | _ => false end
  | _, _ => false
  end.

Definition zero v (f : form) := val v f = 0.
Lemma add2_ok v a : Forall (fun r => rep v r 0) a -> forall b c, Forall (fun s => zero v (fst s)) b
  -> add2 a b = Some c -> Forall (fun r => rep v r 0) c.
Proof.
  intro A; induction A as [|r a Hr A IH]; intros [|s b] c B; simpl; try discriminate.
  { intros [= <-]; constructor. }
  inversion B as [|? ? B1 B2]; subst. destruct (Z.ltb_spec 0 (snd s)); [|discriminate].
  destruct (add2 a b) eqn:E; [|discriminate]. intros [= <-]. constructor; eauto.
  replace 0 with (0 + 0) by lra. apply raxpy_ok with (y := 0); auto; try lia; try lra. split; auto.
  unfold zero in B1. rewrite B1. lra.
Qed.

Lemma sums_ok v ps : Forall (Forall (fun s => zero v (fst s))) ps -> forall a b,
  Forall (fun r => rep v r 0) a -> sums ps a = Some b -> Forall (fun r => rep v r 0) b.
Proof.
  intro P; induction P as [|p ps Hp P IH]; simpl; intros a b A. { intros [= <-]; auto.
  } destruct (add2 a p) as [c|] eqn:E; [|discriminate]. apply IH. eapply add2_ok; eauto.
Qed.

Lemma same_ok v a : Forall (fun r => rep v r 0) a -> forall rows, same a rows = true -> Forall
  (zero v) rows.
Proof.
  intro A; induction A as [|r a Hr A IH]; intros [|f rows]; simpl; try discriminate; constructor;
    [|apply IH; destruct (fst (raxpy r (-1) 1 (f, 1%Z))); auto; discriminate].
  assert (rep v (raxpy r (-1) 1 (f, 1%Z)) (0 + - val v f)) as [D X].
  { eapply raxpy_ok; eauto; try lia. split; [reflexivity|]. cbn [fst snd]. rewrite Rmult_1_l; eauto.
  lra. }
  destruct (fst (raxpy r (-1) 1 (f, 1%Z))); [|discriminate]. simpl in X. apply IZR_lt in D.
  unfold zero. nra.
Qed.

(** * Everything before the nodes *)

(** A lifted neuron: network, layer, index. *)
Definition triple := (N * (N * N))%type.

Fixpoint position (l : list triple) (k : N) (a b c : N) : option N :=
  match l with
  | [] => None
  | (x, (y, z)) :: l' =>
      if (a =? x)%N && (b =? y)%N && (c =? z)%N then Some k else position l' (k + 1) a b c
  end.

Fixpoint find_lift (k : N) (l : list (N * N)) : option N :=
  match l with
  | [] => None
  | (j, s) :: l' => if (j =? k)%N then Some s else find_lift k l'
  end.

Fixpoint iota (k : N) {A} (l : list A) : list N :=
  match l with [] => [] | _ :: l' => k :: iota (k + 1) l' end.

(** The inequalities by number, and how many there are. *)
Definition with_slacks (sl : list rform) : nmap rform * N :=
  fold_left (fun m r => (nadd (snd m) r (fst m), (snd m + 1)%N)) sl (E, 0%N).

(** What all nodes share: the number of inputs, the first symbol of an atom, the number of atoms,
    their forms, and sides. *)
Record context := Context {
  cd : N;
  cfirst : N;
  cnatoms : N;
  catoms : nmap form;
  clo : nmap Q;
  chi : nmap Q }.

Fixpoint rows_ascend (low high : N) (l : list (N * Q)) :=
  match l with
  | [] => true
  | (s, _) :: l' => (low <=? s)%N && (s <? high)%N && rows_ascend (s + 1) high l'
  end.

(** The joint network, and the roots of all trees. *)
Definition initial (n : nat) (n1 n2 : net) (D : domain) (lifted : list triple)
  (parts : list (list (list (N * Q)))) : option (context * list item) :=
  match setup n D with None => None | Some (d, scale, fs, sl) =>
  let own := if lifted then fun _ _ _ => None else fun a b c => position lifted 0 a b c in
  (* The outputs of both networks over one table of atoms. *)
  match jrun d (own 0%N) 1 (layers n1) (relu_last n1) (St (d + 1) [] E []) [(fs, scale)] with
  | None => None | Some (t1, (f1, D1)) =>
  match jrun d (own 1%N) 1 (layers n2) (relu_last n2) t1 [(fs, scale)] with
  | None => None | Some (t2, (f2, D2)) =>
  match diffs D1 D2 f1 f2 with None => None | Some rows =>
  (* Lifted neurons become coordinates; the atoms that are needed get numbers by level. *)
  let ks := iota 0 lifted in
  let e := N.of_nat (length lifted) in
  let first := (d + e + 1)%N in
  let is_lift s := existsb (fun q => N.eqb (snd q) s) (lifts t2) in
  let table l := fold_left (fun m p => nadd (fst p) (snd p) m) l E in
  let lift_table := table (filter (fun p => is_lift (fst p)) (tab t2)) in
  match mapo (fun k => let? s := find_lift k (lifts t2) in
                       let? h := nfind s lift_table in Some (s, h)) ks with
  | None => None | Some lift_atoms =>
  let T := filter (fun p => negb (is_lift (fst p))) (tab t2) in
  let needed T rs := closure T (fold_left (fun m f => add_syms f m) rs E) [] in
  let order := by_level (leveled (needed T rows) E) in
  let maps := enumerate order first (enumerate lift_atoms (d + 1) (E, E)) in
  let rename_all := mapo (rename_atom (fst maps) (snd maps) d) in
  match rename_all order, rename_all lift_atoms, mapo (rename (fst maps) (snd maps) d) rows with
  | Some ats, Some las, Some rows' =>
      let over_coordinates h := match h with [] => false | (s, _) :: _ => (s <? first)%N end in
      if wf_tab d (tab t2) && forallb (fun p => over_coordinates (snd p)) las &&
         Nat.eqb (length (lifts t2)) (length lifted)
      then
        (* The inequalities a >= 0 and a - h >= 0 of lifted neurons, and all sides. *)
        let lifted_slacks p :=
          [([(fst p, 1%Z)], 1%Z); (flin 1 (-1) [(fst p, 1%Z)] (snd p), 1%Z)] in
        let sl' := sl ++ flat_map lifted_slacks las in
        let (lo, hi) := fold_left (fun m r => side r m) sl (E, E) in
        let lo := fold_left (fun m p => nadd (fst p) 0%Q m)
                    (filter (fun p => (d <? fst p)%N) las) lo in
        let atoms := table ats in
        let (sm, ns) := with_slacks sl' in
        let st0 := State sm ns E E E E in
        let use rs := List.map fst (needed (rev ats) rs) in
        let high := (first + N.of_nat (length ats))%N in
        let ctx := Context d first (N.of_nat (length ats)) atoms lo hi in
        match parts with
        | [] => Some (ctx, [Item (use rows') rows' st0])
        | _ =>
            let is_part p :=
              Nat.eqb (length p) (length rows') &&
              existsb (fun r => match r with [] => false | _ => true end) p &&
              forallb (rows_ascend 0 high) p in
            if forallb is_part parts then
              let ps := List.map (List.map rowform) parts in
              match sums ps (List.map (fun _ => ([], 1%Z)) rows') with
              | None => None
              | Some total =>
                  let root p := let rs := List.map fst p in Item (use rs) rs st0 in
                  if same total rows' then Some (ctx, List.map root ps) else None
              end
            else None
        end
      else None
  | _, _, _ => None
  end end end end end end.

Definition check_items (c : context) (items : list item) (rs : list record) : bool :=
  match fold_left (step (cd c) (cfirst c) (cnatoms c) (catoms c) (clo c) (chi c)) rs
          (Some items) with
  | Some [] => true
  | _ => false
  end.

Definition check (n : nat) (n1 n2 : net) (D : domain) (lifted : list triple)
  (parts : list (list (list (N * Q)))) (rs : list record) : bool :=
  match initial n n1 n2 D lifted parts with
  | Some (c, items) => check_items c items rs
  | None => false
  end.

Lemma all_fold {V} (P : N -> V -> Prop) l : forall m, all P m -> Forall (fun p => P (fst p) (snd p))
  l -> all P (fold_left (fun m p => nadd (fst p) (snd p) m) l m).
Proof.
  induction l as [|p l IH]; simpl; auto. intros m M L. inversion L; subst. apply IH; auto.
  apply nall_add; auto.
Qed.

Lemma with_slacks_ok (P : rform -> Prop) l : Forall P l -> all (fun _ r => P r)
  (fst (with_slacks l)).
Proof.
  unfold with_slacks. assert (forall m : nmap rform * N, all (fun _ r => P r) (fst m) -> Forall P l
    -> all (fun _ r => P r) (fst (fold_left (fun m r => (nadd (snd m) r (fst m), (snd m + 1)%N)) l
    m))) as K.
  { induction l as [|r l IH]; simpl; auto. intros m M L. inversion L; subst. apply IH; auto.
    cbn [fst]. apply nall_add; auto. }
  intro L. apply K; simpl; auto.
Qed.

Lemma in_filter_rev {X} (f : X -> bool) l : Forall (fun a => In a l) (filter f l).
Proof.
  apply Forall_forall. intros a I. apply filter_In in I. tauto.
Qed.

Lemma closure_in T need acc (P : N * form -> Prop) : Forall P T -> Forall P acc -> Forall P
  (closure T need acc).
Proof.
  revert need acc. induction T as [|[s h] T IH]; simpl; auto. intros need acc F G.
  inversion F; subst. destruct (nfind s need); auto.
Qed.

Lemma leveled_in T (P : N * form -> Prop) : Forall P T -> forall lv, Forall (fun p => P (snd p))
  (leveled T lv).
Proof.
  induction 1 as [|[s h] T H F IH]; simpl; constructor; auto.
Qed.

Lemma by_level_in T (P : N * form -> Prop) : Forall (fun p : nat * (N * form) => P (snd p)) T ->
  Forall P (by_level T).
Proof.
  intro F. unfold by_level. apply Forall_forall. intros p I. apply in_flat_map in I as (l & _ & I).
  apply in_map_iff in I as (q & <- & I). apply filter_In in I as [I _].
  rewrite Forall_forall in F. apply F; auto.
Qed.

Lemma initial_ok n n1 n2 D lifted parts c items x : initial n n1 n2 D lifted parts = Some (c, items)
  -> length x = n -> in_domain D x ->
  exists v H, base (cd c) v /\ (forall s h, nfind s (catoms c) = Some h -> H s = val v h /\ v s =
    relu (H s)) /\
    lo_ok v (clo c) /\ hi_ok v (chi c) /\ (Forall (item_ok v H) items -> eval n1 x = eval n2 x).
Proof.
  unfold initial. intros I Lx Dx. destruct (setup n D) as [[[[d scale] fs] sl]|] eqn:E0;
    [|discriminate].
  destruct (setup_ok _ _ _ _ _ _ x E0 Lx Dx) as (Sc & v0 & B0 & S0). clear E0.
  set (own := if lifted then _ else _) in I. clearbody own.
  destruct (jrun d (own 0%N) 1 (layers n1) _ _ _) as [[t1 [f1 D1]]|] eqn:J1; [|discriminate].
  destruct (jrun d (own 1%N) 1 (layers n2) _ t1 _) as [[t2 [f2 D2]]|] eqn:J2; [|discriminate].
  destruct (diffs D1 D2 f1 f2) as [rows|] eqn:Df; [|discriminate].
  destruct (mapo _ (iota 0 lifted)) as [lift_atoms|] eqn:La; [|discriminate].
  set (order := by_level _) in I. set (maps := enumerate order _ _) in I.
  destruct (mapo (rename_atom _ _ d) order) as [ats|] eqn:Ra; [|discriminate].
  destruct (mapo (rename_atom _ _ d) lift_atoms) as [las|] eqn:Rl; [|discriminate].
  destruct (mapo (rename _ _ d) rows) as [rows'|] eqn:Rr; [|discriminate].
  destruct (wf_tab d (tab t2)) eqn:W; [|discriminate]. cbn [andb] in I.
  match type of I with (if ?b then _ else _) = _ => destruct b; [|discriminate] end.
  (* values of the symbols at x *)
  destruct (wf_tab_ok _ _ W v0 B0) as (v & Bv & Ev & Sv). destruct (S0 v (proj1 Bv) Ev) as [Sf _].
  clear W.
  assert (inv (St (d + 1) [] E [])) as I0 by exact Logic.I.
  destruct (jrun_ok _ _ _ _ _ _ _ _ _ _ I0 J1) as (I1 & C1 & P1).
  destruct (jrun_ok _ _ _ _ _ _ _ _ _ _ I1 J2) as (I2 & C2 & P2).
  assert (acts_ok v [(fs, scale)] [x]) as O. { split; [|simpl; constructor].
  constructor; [split; auto|constructor]. }
  destruct (P1 v [x] Bv) as [Q1 G1]; auto. { intros s h K; apply Sv, C2; auto.
  } destruct (P2 v [x] Bv Sv O) as [Q2 G2]. clear P1 P2 J1 J2 I0 I1 I2 C1 C2.
  pose proof (diffs_ok _ _ _ _ _ _ _ _ Q1 Q2 G1 G2 Df) as Eq. clear Df.
  assert (Forall (fun p => v (fst p) = relu (val v (snd p))) (tab t2)) as St. { apply Forall_forall.
  intros [s h] K. apply Sv; auto. }
  assert (Forall (fun p => v (fst p) = relu (val v (snd p))) order) as So.
  { unfold order. apply by_level_in with (P := fun p => v (fst p) = relu (val v (snd p))).
    apply leveled_in with (P := fun p => v (fst p) = relu (val v (snd p))).
    apply closure_in; [|constructor]. apply Forall_forall. intros p K.
    apply filter_In in K as [K _]. rewrite Forall_forall in St; auto. }
  assert (Forall (fun p => v (fst p) = relu (val v (snd p))) lift_atoms) as Sl.
  { apply mapo_ok in La. eapply Forall2_left with (Q := fun _ => True);
    [exact La| |apply Forall_forall; auto].
    intros k [s h]. destruct (find_lift k (lifts t2)) as [s'|]; [|discriminate].
    destruct (nfind s' _) as [h'|] eqn:F; [|discriminate]. intros [= <- <-] _. cbn [fst snd].
    revert F. apply nall_find with (P := fun s h => v s = relu (val v h)).
    apply all_fold; simpl; auto. apply Forall_forall. intros p K. apply filter_In in K as [K _].
    rewrite Forall_forall in St; auto. }
  clearbody order maps. set (rho := fst maps) in *. set (iv := snd maps) in *.
  set (w := renamed iv d v).
  pose proof (renamed_base iv d v Bv) as Bw. fold w in Bw.
  assert (forall k, (k <= d)%N -> w k = v k) as Ew. { intros k K. unfold w, renamed.
  destruct (N.leb_spec k d); [auto|lia]. }
  assert (Forall (fun p => w (fst p) = relu (val w (snd p))) ats) as Wa.
  { apply mapo_ok in Ra. eapply Forall2_left; [exact Ra| |exact So]. intros [s h] [s' h'] K V.
    cbn [fst snd] in *. eapply rename_atom_ok; eauto. }
  assert (Forall (fun p => w (fst p) = relu (val w (snd p))) las) as Wl.
  { apply mapo_ok in Rl. eapply Forall2_left; [exact Rl| |exact Sl]. intros [s h] [s' h'] K V.
    cbn [fst snd] in *. eapply rename_atom_ok; eauto. }
  assert (Forall (zero w) rows' -> eval n1 x = eval n2 x) as Fin.
  { intro Z. apply Eq. apply mapo_ok in Rr. clear - Rr Z.
    induction Rr as [|f f' rows rows' R Rr IH]; constructor; inversion Z; subst; auto.
    rewrite <- (rename_ok _ _ _ _ _ _ R). auto. }
  clear Ra Rl Rr So Sl St Eq La.
  set (atoms := fold_left (fun m p => nadd (fst p) (snd p) m) ats E) in I.
  assert (all (fun s h => w s = relu (val w h)) atoms) as Ma by (apply all_fold; simpl; auto).
  set (H := fun s => match nfind s atoms with Some h => val w h | None => 0 end).
  assert (forall s h, nfind s atoms = Some h -> H s = val w h /\ w s = relu (H s)) as HA.
  { intros s h F. unfold H. rewrite F. split; auto. apply (nall_find _ _ _ _ Ma F). }
  destruct (S0 w (proj1 Bw)) as [_ Ss]. { intros k K. rewrite Ew; auto. }
  destruct (fold_left (fun m r => side r m) sl (E, E)) as [lo hi] eqn:Sd.
  destruct (sides_ok w sl (proj1 Bw) Ss (E, E)) as [Lo Hi]. { split; exact Logic.I.
  } rewrite Sd in Lo, Hi. cbn [fst snd] in Lo, Hi.
  set (lo2 := fold_left _ _ lo) in I. assert (lo_ok w lo2) as Lo2.
  { unfold lo2. clear - Lo Bw. revert lo Lo. induction las as [|p las IH]; simpl; auto.
    intros lo Lo. destruct (N.ltb_spec d (fst p)); simpl; auto.
    apply IH. apply nall_add; auto. rewrite Q2R_0. apply Bw; auto. }
  clearbody lo2. destruct (with_slacks _) as [sm ns] eqn:Ws.
  assert (all (fun _ r => exists y, rep w r y /\ 0 <= y) sm) as Sm.
  { replace sm with (fst (sm, ns)) by reflexivity. rewrite <- Ws.
    apply with_slacks_ok with (P := fun r => exists y, rep w r y /\ 0 <= y). apply Forall_app.
    split; auto.
    clear - Wl. induction Wl as [|[s h] las V Wl IH]; cbn [flat_map app fst snd] in *; auto.
    constructor; [|constructor; auto].
    - exists (w s). split; [apply rep_sym|rewrite V; apply relu_ge0].
    - exists (w s - val w h). split. { split; [reflexivity|]. cbn [fst snd]. rewrite val_flin.
      cbn [val]. lra. }
      rewrite V. pose proof (Rmax_l (val w h) 0). unfold relu. lra. }
  assert (state_ok w H (State sm ns E E E E)) as S. { repeat split; auto. }
  exists w, H. destruct parts as [|p0 ps0].
  - injection I as <- <-. cbn [cd catoms clo chi]. repeat (split; auto). intro F.
    inversion F as [|? ? F1 F2]; subst. apply Fin. apply F1; auto.
  - remember (p0 :: ps0) as ps eqn:Eps. clear Eps.
    match type of I with (if ?b then _ else _) = _ => destruct b; [|discriminate] end.
    destruct (sums _ _) as [total|] eqn:Su; [|discriminate].
    destruct (same total rows') eqn:Sa; [|discriminate]. injection I as <- <-.
    cbn [cd catoms clo chi]. repeat (split; auto).
    intro F. apply Fin. eapply same_ok; [|exact Sa]. eapply sums_ok; [| |exact Su].
    + rewrite Forall_map in F. eapply Forall_impl; [|exact F]. intros p K. specialize (K S).
      cbn [Trees.rows] in K. rewrite Forall_map in K. exact K.
    + rewrite Forall_map. apply Forall_forall. intros. apply rep_0.
Qed.

Theorem check_ok n n1 n2 D lifted parts rs : check n n1 n2 D lifted parts rs = true ->
  forall x : list R, length x = n -> in_domain D x -> eval n1 x = eval n2 x.
Proof.
  unfold check. destruct (initial n n1 n2 D lifted parts) as [[c items]|] eqn:I; [|discriminate].
  unfold check_items. intros C x L Dx.
  destruct (initial_ok _ _ _ _ _ _ _ _ _ I L Dx) as (v & H & B & A & LO & HI & F). apply F.
  destruct (fold_left _ rs (Some items)) as [[|]|] eqn:K; try discriminate. eapply tree_ok; eauto.
Qed.

