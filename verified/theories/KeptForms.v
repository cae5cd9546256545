(** The forms of all neurons if chosen neurons are on, as far as the signs of a point allow; and the
    values of the neurons on a segment. *)
Require Import ZArith NArith Reals List Bool Lra Lia FunctionalExtensionality.
From PolyreluVerified Require Import Networks RegionLists Numbers LinearForms JointNetwork.
From PolyreluVerified Require Import Trees Regions Pieces VertexLists.
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

Lemma Forall2_nth {X Y} (P : X -> Y -> Prop) (x : X) (y : Y) l : forall m,
  List.length l = List.length m ->
  (forall j, (j < List.length l)%nat -> P (nth j l x) (nth j m y)) -> Forall2 P l m.
Proof.
  induction l as [|a l IH]; intros [|b m] L H; try discriminate; constructor.
  - apply (H 0%nat). simpl. lia.
  - apply IH; [simpl in L; congruence|]. intros j J. apply (H (S j)). simpl. lia.
Qed.

(** Form i depends on the signs of the forms before it only. *)
Lemma rows_before v ls lr : v 0%N = 1 -> forall s F A rs i, Forall2 (act_ok v) F A ->
  neuron_rows ls lr s F = Some rs -> List.length s = List.length (zs_from ls lr A) ->
  (forall j, (j < i)%nat -> fc (nth j (List.map sign_of (zs_from ls lr A)) 0%Z) (nth j s 0%Z)) ->
  nth i (List.map (ap v) rs) 0 = nth i (zs_from ls lr A) 0.
Proof.
  intro V0. induction ls as [|l ls IH]; intros s F A rs i O E Ls C.
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
  pose proof (ap_scaled v D fs zs HD G) as Q. unfold rform in *. rewrite map_app, Q.
  assert (List.length fs = List.length zs) as L by (apply Forall2_len in G; auto).
  destruct (Nat.lt_ge_cases i (List.length zs)) as [B|B]; [rewrite !app_nth1 by auto; auto|].
  rewrite !app_nth2 by auto. rewrite app_length in Ls.
  assert (List.length (firstn (List.length fs) s) = List.length zs) as L1
    by (rewrite firstn_length; lia).
  assert (forall j, nth (List.length zs + j) s 0%Z = nth j (skipn (List.length fs) s) 0%Z) as Sk.
  { intro j. rewrite <- (firstn_skipn (List.length fs) s) at 1. rewrite app_nth2 by lia.
    f_equal. lia. }
  apply (IH (skipn (List.length fs) s) (F ++ [(keep_forms (firstn (List.length fs) s) fs, D)]));
    auto.
  - apply Forall2_app; auto. constructor; auto. split; auto. cbn [fst snd]. apply keep_scaled; auto.
    apply Forall2_nth with 0%Z 0%Z. { rewrite map_length. congruence. }
    rewrite map_length. intros j Lj. specialize (C j ltac:(lia)).
    rewrite map_app, app_nth1 in C by (rewrite map_length; auto).
    rewrite <- (firstn_skipn (List.length fs) s), app_nth1 in C by lia. auto.
  - rewrite skipn_length. lia.
  - intros j Lj. specialize (C (List.length zs + j)%nat ltac:(lia)). rewrite Sk in C.
    rewrite map_app, app_nth2 in C by (rewrite map_length; lia).
    rewrite map_length in C. replace (List.length zs + j - List.length zs)%nat with j in C by lia.
    auto.
Qed.

Fixpoint num_hidden (ls : list layer) (lr : bool) : nat :=
  match ls with
  | [] => 0
  | l :: ls' =>
      match ls', lr with
      | [], false => 0
      | _, _ => List.length (neurons l) + num_hidden ls' lr
      end
  end.

Lemma zs_length ls lr : forall A, List.length (zs_from ls lr A) = num_hidden ls lr.
Proof.
  induction ls as [|l ls IH]; intro A; auto. simpl.
  destruct ls, lr; auto; rewrite app_length, !map_length, IH; auto.
Qed.

(** * Values on a segment *)

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
