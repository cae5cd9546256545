(** Plain stacks: networks in which each layer reads the layer before only.

    Refutations of identifiability are about them. A layer is seen as rows [w|b] over one
    denominator, and its map is [affine]; [stack_of_ok] says that this is the function of
    Networks.v. *)
Require Import ZArith Reals List Bool Lra Lia.
From PolyreluVerified Require Import Networks.
Import ListNotations.
Open Scope R_scope.

(** A row [w|b], the weights and the bias of a neuron, times the denominator of its layer. *)
Definition row := (list Z * Z)%type.

Record plain := Plain { over : Z; rows : list row }.

(** The number [w u + b]. *)
Definition value (r : row) (u : list R) : R := dot (fst r) u + IZR (snd r).

(** The preactivations of a layer that reads [u]. *)
Definition affine (p : plain) (u : list R) : list R :=
  List.map (fun r => value r u / IZR (over p)) (rows p).

(** The activations of a hidden layer that reads [u]. *)
Definition active (p : plain) (u : list R) : list R := List.map relu (affine p u).

(** The outputs of layers that read [u]; without layers, [u] itself. *)
Fixpoint compute (s : list plain) (last_relu : bool) (u : list R) : list R :=
  match s with
  | [] => u
  | p :: s' =>
      match s' with
      | [] => if last_relu then active p u else affine p u
      | _ => compute s' last_relu (active p u)
      end
  end.

(** * Reading a network as a plain stack *)

(** The row of a neuron that reads layer [k], of width [m], only. *)
Definition row_of (k m : nat) (n : neuron) : option row :=
  match snd n with
  | [(source, w)] => if Nat.eqb source k && Nat.eqb (length w) m then Some (w, fst n) else None
  | _ => None
  end.

Fixpoint rows_of (k m : nat) (ns : list neuron) : option (list row) :=
  match ns with
  | [] => Some []
  | n :: ns' =>
      match row_of k m n, rows_of k m ns' with Some r, Some rs => Some (r :: rs) | _, _ => None end
  end.

(** The layers after layer [k], which has width [m]. *)
Fixpoint plain_layers (k m : nat) (ls : list layer) : option (list plain) :=
  match ls with
  | [] => Some []
  | l :: ls' =>
      match rows_of k m (neurons l), plain_layers (S k) (length (neurons l)) ls' with
      | Some rs, Some s => if (0 <? den l)%Z then Some (Plain (den l) rs :: s) else None
      | _, _ => None
      end
  end.

Definition stack_of (inputs : nat) (n : net) : option (list plain) :=
  match plain_layers 0 inputs (layers n) with Some [] => None | found => found end.

(** All rows read [m] numbers, and the denominator is positive; the layers after have as many. *)
Fixpoint fits (m : nat) (s : list plain) : Prop :=
  match s with
  | [] => True
  | p :: s' =>
      (0 < over p)%Z /\ Forall (fun r => length (fst r) = m) (rows p) /\ fits (length (rows p)) s'
  end.

Lemma rows_of_ok k m ns rs : rows_of k m ns = Some rs ->
  Forall2 (fun n r => snd n = [(k, fst r)] /\ fst n = snd r /\ length (fst r) = m) ns rs.
Proof.
  revert rs. induction ns as [|n ns IH]; simpl; intro rs. { intros [= <-]. constructor. }
  destruct (row_of k m n) as [r|] eqn:E; [|discriminate].
  destruct (rows_of k m ns) as [rs'|]; [|discriminate]. intros [= <-]. constructor; auto.
  unfold row_of in E. destruct n as [b blocks]. simpl in *.
  destruct blocks as [|[source w] [|? ?]]; try discriminate.
  destruct (Nat.eqb_spec source k) as [->|]; [|discriminate].
  destruct (Nat.eqb_spec (length w) m); [|discriminate]. injection E as <-. auto.
Qed.

Lemma rows_of_length k m ns rs : rows_of k m ns = Some rs -> length ns = length rs.
Proof. intro H. apply rows_of_ok in H. induction H; simpl; auto. Qed.

Lemma plain_layers_fits ls : forall k m s, plain_layers k m ls = Some s -> fits m s.
Proof.
  induction ls as [|l ls IH]; simpl; intros k m s. { intros [= <-]. exact I. }
  destruct (rows_of _ _ _) as [rs|] eqn:E; [|discriminate].
  destruct (plain_layers _ _ _) as [s'|] eqn:F; [|discriminate].
  destruct (Z.ltb_spec 0 (den l)); [|discriminate]. intros [= <-]. simpl. split; [auto|split].
  - apply rows_of_ok in E. clear - E. induction E as [|? ? ? ? (? & ? & ?)]; constructor; auto.
  - rewrite <- (rows_of_length _ _ _ _ E). eauto.
Qed.

Lemma stack_of_fits m n s : stack_of m n = Some s -> fits m s.
Proof.
  unfold stack_of. destruct (plain_layers _ _ _) as [[|p s']|] eqn:E; try discriminate.
  intros [= <-]. eapply plain_layers_fits; eauto.
Qed.

Lemma pre_of_plain acts d k m u ns rs : rows_of k m ns = Some rs -> nth k acts [] = u ->
  List.map (pre acts d) ns = affine (Plain d rs) u.
Proof.
  intros H <-. apply rows_of_ok in H. unfold affine. simpl.
  induction H as [|n r ns rs (E & F & _) H IH]; simpl; [auto|]. f_equal; [|exact IH].
  unfold pre, value. rewrite E, F. simpl. f_equal. ring.
Qed.

Lemma run_of_plain ls : forall k m s acts last_relu, plain_layers k m ls = Some s ->
  length acts = S k -> run ls last_relu acts = compute s last_relu (nth k acts []).
Proof.
  induction ls as [|l ls IH]; simpl; intros k m s acts last_relu.
  { intros [= <-] L. simpl. destruct acts as [|a acts] using rev_ind; [discriminate|].
    rewrite app_length in L. simpl in L.
    rewrite last_last, app_nth2 by lia. replace (k - length acts)%nat with 0%nat by lia. auto. }
  destruct (rows_of _ _ _) as [rs|] eqn:E; [|discriminate].
  destruct (plain_layers _ _ _) as [s'|] eqn:F; [|discriminate].
  destruct (0 <? den l)%Z; [|discriminate]. intros [= <-] L.
  rewrite (pre_of_plain acts (den l) k m _ _ rs E eq_refl).
  destruct ls as [|l2 ls]; destruct s' as [|p2 s']; simpl in F; try discriminate.
  - auto.
  - repeat match type of F with context [match ?x with _ => _ end] => destruct x end; discriminate.
  - rewrite (IH _ _ _ _ last_relu F) by (rewrite app_length; simpl; lia).
    rewrite app_nth2 by lia. rewrite L. replace (S k - S k)%nat with 0%nat by lia. reflexivity.
Qed.

Theorem stack_of_ok m n s x : stack_of m n = Some s -> eval n x = compute s (relu_last n) x.
Proof.
  unfold stack_of, eval. destruct (plain_layers _ _ _) as [[|p s']|] eqn:E; try discriminate.
  intros [= <-]. apply (run_of_plain _ _ _ _ [x] (relu_last n) E eq_refl).
Qed.

(** * Values *)

Lemma affine_length p u : length (affine p u) = length (rows p).
Proof. apply map_length. Qed.
Lemma active_length p u : length (active p u) = length (rows p).
Proof. unfold active. rewrite map_length. apply affine_length. Qed.
Lemma active_nonneg p u : Forall (Rle 0) (active p u).
Proof.
  apply Forall_forall. intros y H. apply in_map_iff in H as (z & <- & _). apply Rmax_r.
Qed.

(** * Equal layers *)

Fixpoint zs_eqb (a b : list Z) : bool :=
  match a, b with
  | [], [] => true
  | x :: a', y :: b' => (x =? y)%Z && zs_eqb a' b'
  | _, _ => false
  end.

Definition row_eqb (r s : row) : bool := zs_eqb (fst r) (fst s) && (snd r =? snd s)%Z.

Fixpoint rows_eqb (a b : list row) : bool :=
  match a, b with
  | [], [] => true
  | r :: a', s :: b' => row_eqb r s && rows_eqb a' b'
  | _, _ => false
  end.

Definition plain_eqb (p q : plain) : bool := (over p =? over q)%Z && rows_eqb (rows p) (rows q).

Fixpoint stack_eqb (s t : list plain) : bool :=
  match s, t with
  | [], [] => true
  | p :: s', q :: t' => plain_eqb p q && stack_eqb s' t'
  | _, _ => false
  end.

Lemma zs_eqb_ok a b : zs_eqb a b = true -> a = b.
Proof.
  revert b. induction a as [|x a IH]; intros [|y b]; simpl; try discriminate; auto.
  intro H. apply andb_prop in H as [H1 H2]. apply Z.eqb_eq in H1. f_equal; auto.
Qed.
Lemma row_eqb_ok r s : row_eqb r s = true -> r = s.
Proof.
  intro H. apply andb_prop in H as [H1 H2]. apply zs_eqb_ok in H1. apply Z.eqb_eq in H2.
  destruct r, s; simpl in *; congruence.
Qed.
Lemma rows_eqb_ok a b : rows_eqb a b = true -> a = b.
Proof.
  revert b. induction a as [|x a IH]; intros [|y b]; simpl; try discriminate; auto.
  intro H. apply andb_prop in H as [H1 H2]. apply row_eqb_ok in H1. f_equal; auto.
Qed.
Lemma plain_eqb_ok p q : plain_eqb p q = true -> p = q.
Proof.
  intro H. apply andb_prop in H as [H1 H2]. apply Z.eqb_eq in H1. apply rows_eqb_ok in H2.
  destruct p, q; simpl in *; congruence.
Qed.
Lemma stack_eqb_ok s t : stack_eqb s t = true -> s = t.
Proof.
  revert t. induction s as [|p s IH]; intros [|q t]; simpl; try discriminate; auto.
  intro H. apply andb_prop in H as [H1 H2]. apply plain_eqb_ok in H1. f_equal; auto.
Qed.

(** * Two networks that differ in two consecutive layers *)

(** Layers [below], then [lower] and [upper] of the one network, [lower'] and [upper'] of the
    other, then [above]. *)
Record change := Change {
  below : list plain;
  lower : plain; upper : plain;
  lower' : plain; upper' : plain;
  above : list plain }.

(** The change of layers [depth] and [depth + 1], [depth >= 1], if all others are equal. *)
Fixpoint split (depth : nat) (s t : list plain) : option change :=
  match depth, s, t with
  | 1%nat, p :: q :: s', p' :: q' :: t' =>
      if stack_eqb s' t' then Some (Change [] p q p' q' s') else None
  | S depth', p :: s', p' :: t' =>
      if plain_eqb p p' then
        match split depth' s' t' with
        | Some c => Some (Change (p :: below c) (lower c) (upper c) (lower' c) (upper' c) (above c))
        | None => None
        end
      else None
  | _, _, _ => None
  end.

Lemma split_ok depth s t c : split depth s t = Some c ->
  s = below c ++ lower c :: upper c :: above c /\
  t = below c ++ lower' c :: upper' c :: above c /\ length (below c) = pred depth.
Proof.
  revert s t c. induction depth as [|[|depth] IH]; [discriminate| |].
  - intros [|p [|q s]] [|p' [|q' t]] c; simpl; try discriminate;
      try (destruct (plain_eqb p p'); discriminate).
    destruct (stack_eqb s t) eqn:E; [|discriminate]. apply stack_eqb_ok in E. subst.
    intros [= <-]. simpl. auto.
  - intros [|p s] [|p' t] c; try discriminate.
    change (split (S (S depth)) (p :: s) (p' :: t)) with (if plain_eqb p p' then
      match split (S depth) s t with
        | Some c => Some (Change (p :: below c) (lower c) (upper c) (lower' c) (upper' c) (above c))
        | None => None
        end else None).
    destruct (plain_eqb p p') eqn:E; [|discriminate]. apply plain_eqb_ok in E. subst p'.
    destruct (split (S depth) s t) as [d|] eqn:F; [|discriminate].
    intros [= <-]. simpl. destruct (IH _ _ _ F) as (-> & -> & L). simpl in *. rewrite L. auto.
Qed.

(** What the layers [below] give to the layer [lower]. *)
Definition reads (s : list plain) (x : list R) : list R := fold_left (fun u p => active p u) s x.

Lemma compute_app s p t last_relu x :
  compute (s ++ p :: t) last_relu x = compute (p :: t) last_relu (reads s x).
Proof.
  revert x. induction s as [|q s IH]; intro x; [reflexivity|].
  change (reads (q :: s) x) with (reads s (active q x)). rewrite <- IH.
  simpl. destruct s; reflexivity.
Qed.

Lemma reads_nonneg s x : s <> [] -> Forall (Rle 0) (reads s x).
Proof.
  induction s as [|p s _] using rev_ind; [tauto|]. intros _. unfold reads.
  rewrite fold_left_app. apply active_nonneg.
Qed.

Lemma reads_length m s t x : fits m (s ++ t) -> length x = m ->
  fits (length (reads s x)) t.
Proof.
  revert m x. induction s as [|p s IH]; simpl; intros m x F L. { rewrite L; auto. }
  destruct F as (_ & _ & F). apply (IH _ _ F). apply active_length.
Qed.

(** The layer [upper] is hidden in networks with these layers above. *)
Definition is_hidden (above : list plain) (last_relu : bool) : bool :=
  match above with [] => last_relu | _ => true end.

(** Equal activations of a hidden layer, or equal preactivations of any layer, are enough. *)
Lemma compute_change c last_relu x : let u := reads (below c) x in
  affine (upper c) (active (lower c) u) = affine (upper' c) (active (lower' c) u) \/
  (is_hidden (above c) last_relu = true /\
   active (upper c) (active (lower c) u) = active (upper' c) (active (lower' c) u)) ->
  compute (below c ++ lower c :: upper c :: above c) last_relu x =
  compute (below c ++ lower' c :: upper' c :: above c) last_relu x.
Proof.
  intros u H. rewrite !compute_app. fold u.
  assert (forall p q, compute (p :: q :: above c) last_relu u =
    match above c with
    | [] => if last_relu then active q (active p u) else affine q (active p u)
    | _ => compute (above c) last_relu (active q (active p u)) end) as K.
  { intros p q. cbn [compute]. destruct (above c); reflexivity. }
  rewrite !K. destruct H as [H | [H1 H2]].
  - assert (active (upper c) (active (lower c) u) = active (upper' c) (active (lower' c) u)) as E.
    { unfold active at 1 3. rewrite H. reflexivity. }
    rewrite E, H. reflexivity.
  - rewrite H2. destruct (above c); [|reflexivity]. simpl in H1. rewrite H1. reflexivity.
Qed.
