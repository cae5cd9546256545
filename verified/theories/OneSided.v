(** Theorem one-sided: neurons that have one sign wherever a source is on (FORMAT.md, section 3.3;
    docs/theory/one_sided.md).

    The activations of the layers below are symbols. A form in them is a linear combination, and a
    fact is a form that is at least 0 in the interior of the domain wherever the source is on. *)
Require Import String ZArith NArith Reals List Bool Lra Lia Psatz.
From PolyreluVerified Require Import Verdicts Networks Domains Maps Numbers LinearForms Competitors.
From PolyreluVerified Require Import Stacks Scaled Flip.
Import ListNotations.
Open Scope string_scope.
Open Scope list_scope.
Open Scope R_scope.

(** * Forms: symbol 0 stands for 1, then come the inputs, then the neurons, layer by layer *)

(** The form of [w u + b], where [u] has the symbols from [start] on. *)
Fixpoint add_entries (start : N) (w : list Z) (f : form) : form :=
  match w with
  | [] => f
  | c :: w' => add_entries (start + 1) w' (if (c =? 0)%Z then f else (start, c) :: f)
  end.
Definition form_of (start : N) (r : row) : form := add_entries start (fst r) (fconst (snd r)).

(** A neuron of a layer below: its symbol, the denominator [d] of its layer, and [d z] as a form. *)
Record below_neuron := Below { symbol : N; denominator : Z; preactivation : form }.

(** The form [d a - d z], which is never negative. *)
Definition gap_of (n : below_neuron) : form :=
  flin 1 (-1) [(symbol n, denominator n)] (preactivation n).

(** The neurons of a layer get numbers from [k] on, and symbols from [own] on. *)
Fixpoint enter_rows (start own k : N) (d : Z) (rs : list row) (m : nmap below_neuron)
  : nmap below_neuron :=
  match rs with
  | [] => m
  | r :: rs' => enter_rows start (own + 1) (k + 1) d rs' (nadd k (Below own d (form_of start r)) m)
  end.

Fixpoint count {A} (l : list A) : N := match l with [] => 0%N | _ :: l' => N.succ (count l') end.

(** All neurons below; then the first symbol and the width of the last layer below, and their
    number. The layer that [s] reads has the symbols from [start] on. *)
Fixpoint enter_layers (start width k : N) (s : list plain) (m : nmap below_neuron)
  : nmap below_neuron * (N * N * N) :=
  match s with
  | [] => (m, (start, width, k))
  | p :: s' =>
      let own := (start + width)%N in
      let n := count (rows p) in
      enter_layers own n (k + n) s' (enter_rows start own k (over p) (rows p) m)
  end.

(** * Facts *)

Definition multiples := list (N * Z).

Section Facts.
Variables (neurons : nmap below_neuron) (num_neurons : N).

(** Facts 2k and 2k + 1 are [a] and [d a - d z] of neuron k; [more] has those from 2N on. *)
Definition fact (more : nmap form) (k : N) : option form :=
  if (k <? 2 * num_neurons)%N then
    match nfind (N.div2 k) neurons with
    | Some n => Some (if N.odd k then gap_of n else [(symbol n, 1%Z)])
    | None => None
    end
  else nfind k more.

(** A form plus multiples of facts, times [sign]. *)
Fixpoint with_facts (more : nmap form) (sign : Z) (ms : multiples) (f : form) : option form :=
  match ms with
  | [] => Some f
  | (k, a) :: ms' =>
      if (0 <=? a)%Z then
        match fact more k with
        | Some g => with_facts more sign ms' (flin 1 (sign * a) f g)
        | None => None
        end
      else None
  end.

(** What is left of a form after multiples of facts is a nonnegative combination of 1 and of
    activations; there are inputs 1 to [inputs]. *)
Definition follows (more : nmap form) (inputs : N) (f : form) (ms : multiples) : bool :=
  match with_facts more (-1) ms f with
  | None => false
  | Some rest =>
      forallb (fun p => if (1 <=? fst p)%N && (fst p <=? inputs)%N then (snd p =? 0)%Z
                        else (0 <=? snd p)%Z) rest
  end.

(** The facts so far, and the number of the next one. *)
Definition known_facts := (nmap form * N)%type.
Definition learn (known : known_facts) (f : form) : known_facts :=
  (nadd (snd known) f (fst known), (snd known + 1)%N).

(** The sum [g] of the multiples [above] is at least [q d z] of a neuron; so [g >= q d a]. *)
Record derived := Derived { of_neuron : N; factor : Z; above_by : multiples; gap_by : multiples }.

Definition add_step (inputs : N) (known : option known_facts) (st : derived) : option known_facts :=
  match known with
  | None => None
  | Some known =>
      match nfind (of_neuron st) neurons, with_facts (fst known) 1 (above_by st) [] with
      | Some n, Some g =>
          if (0 <? factor st)%Z &&
             follows (fst known) inputs (flin 1 (- factor st) g (preactivation n)) (gap_by st)
          then Some (learn known (flin 1 (- factor st) g [(symbol n, denominator n)]))
          else None
      | _, _ => None
      end
  end.
End Facts.

(** The constant 1, the source if there is one, and the inequalities of the domain. *)
Definition slack (r : list Z * Z) : form := form_of 1 (List.map Z.opp (fst r), snd r).
Definition first_facts (num_neurons : N) (source : option below_neuron) (D : domain)
  : known_facts :=
  let one := learn (E, 2 * num_neurons)%N [(0%N, 1%Z)] in
  let on := match source with Some n => learn one (fneg (gap_of n)) | None => one end in
  fold_left learn (List.map slack (ineqs D)) on.

(** * Signs *)

(** The sign of a neuron of the lower layer, and why. *)
Record neuron_sign := Neuron_sign {
  at_neuron : N; is_on : bool; times_by : Z; because : multiples }.

Section Signs.
Variables (follow : form -> multiples -> bool) (start : N) (source : option nat).

(** The weight on the source, or the bias. *)
Definition weight_at (r : row) : Z :=
  match source with Some h => nth h (fst r) 0%Z | None => snd r end.

(** [r'] is [r] but for that weight. *)
Definition same_elsewhere (r r' : row) : bool :=
  match source with
  | Some h => zs_eqb (update h (fun _ => nth h (fst r') 0%Z) (fst r)) (fst r') &&
    (snd r =? snd r')%Z
  | None => zs_eqb (fst r) (fst r')
  end.

Definition sign_holds (sg : neuron_sign) (r : row) : bool :=
  follow (form_of start (times_row (if is_on sg then times_by sg else - times_by sg) r))
         (because sg).

(** For each neuron, by how much its weight on the source grows; 0 for neurons that are off. The
    rows are those of both networks over one denominator. *)
Fixpoint growths (i : N) (old new : list row) (signs : list neuron_sign) : option (list Z) :=
  match old, new with
  | [], [] => match signs with [] => Some [] | _ => None end
  | r :: old', r' :: new' =>
      match match signs with
            | sg :: rest =>
                if (at_neuron sg =? i)%N then
                  if (0 <? times_by sg)%Z && sign_holds sg r && sign_holds sg r' &&
                    same_elsewhere r r'
                  then Some (if is_on sg then (weight_at r' - weight_at r)%Z else 0%Z, rest)
                  else None
                else if row_eqb r r' then Some (0%Z, signs) else None
            | [] => if row_eqb r r' then Some (0%Z, signs) else None
            end with
      | None => None
      | Some (t, rest) =>
          match growths (i + 1) old' new' rest with Some ts => Some (t :: ts) | None => None end
      end
  | _, _ => None
  end.
End Signs.

Fixpoint zdot (v w : list Z) : Z :=
  match v, w with x :: v', y :: w' => (x * y + zdot v' w')%Z | _, _ => 0%Z end.

(** The upper layer takes the growths back, over a denominator [d] times its own. *)
Definition taken_back (d : Z) (ts : list Z) (r : row) : row :=
  (List.map (Z.mul d) (fst r), (d * snd r - zdot (fst r) ts)%Z).

(** The source, which is a neuron of the last layer below. *)
Definition source_of (neurons : nmap below_neuron) (start width num_neurons : N) (listed : list nat)
  : option (option nat * option below_neuron) :=
  match listed with
  | [] => Some (None, None)
  | [h] =>
      if (0 <? num_neurons)%N && (N.of_nat h <? width)%N then
        match nfind (num_neurons - width + N.of_nat h) neurons with
        | Some n => if (symbol n =? start + N.of_nat h)%N then Some (Some h, Some n) else None
        | None => None
        end
      else None
  | _ => None
  end.

(** The layers differ in weights of neurons whose signs follow; the upper one takes this back. *)
Definition changes_fit (follow : form -> multiples -> bool) (start : N) (source : option nat)
  (c : change) (signs : list neuron_sign) : bool :=
  let old := List.map (times_row (over (lower' c))) (rows (lower c)) in
  let new := List.map (times_row (over (lower c))) (rows (lower' c)) in
  let d := (over (lower c) * over (lower' c))%Z in
  match growths follow start source 0 old new signs with
  | None => false
  | Some ts =>
      match source with
      | Some _ => forallb (fun r => (zdot (fst r) ts =? 0)%Z) (rows (upper c))
      | None => true
      end &&
      layer_is (upper' c) (List.map (taken_back d ts) (rows (upper c))) (over (upper c) * d)
  end.

Definition is_one_sided (inputs : N) (D : domain) (c : change) (listed : list nat)
  (steps : list derived) (signs : list neuron_sign) : bool :=
  let '(neurons, (start, width, num)) := enter_layers 1 inputs 0 (below c) E in
  match source_of neurons start width num listed with
  | None => false
  | Some (source, on) =>
      match fold_left (add_step neurons num inputs) steps (Some (first_facts num on D)) with
      | None => false
      | Some known => changes_fit (follows neurons num (fst known) inputs) start source c signs
      end
  end.

(** * Values of symbols *)

(** The symbols from [start] on have the values [u]. *)
Fixpoint reads_at (v : N -> R) (start : N) (u : list R) : Prop :=
  match u with [] => True | x :: u' => v start = x /\ reads_at v (start + 1) u' end.

Fixpoint valued (v : N -> R) (start : N) (u : list R) (s : list plain) : Prop :=
  reads_at v start u /\
  match s with [] => True | p :: s' => valued v (start + count u) (active p u) s' end.

Fixpoint all_values (u : list R) (s : list plain) : list R :=
  u ++ match s with [] => [] | p :: s' => all_values (active p u) s' end.

Lemma count_length {A} (l : list A) : count l = N.of_nat (length l).
Proof. induction l; simpl length; [auto|]. cbn [count]. rewrite IHl. lia. Qed.

Lemma reads_at_nth v l : (forall s, v s = if (s =? 0)%N then 1 else nth (N.to_nat s - 1) l 0) ->
  forall a u b, l = a ++ u ++ b -> reads_at v (N.of_nat (length a) + 1) u.
Proof.
  intros V a u b. revert a. induction u as [|x u IH]; intros a E; simpl; auto. split.
  - rewrite V. destruct (N.eqb_spec (N.of_nat (length a) + 1) 0); [lia|].
    replace (N.to_nat (N.of_nat (length a) + 1) - 1)%nat with (length a) by lia.
    rewrite E, app_nth2, Nat.sub_diag by lia. auto.
  - replace (N.of_nat (length a) + 1 + 1)%N with (N.of_nat (length (a ++ [x])) + 1)%N
      by (rewrite app_length; simpl; lia).
    apply IH. rewrite E, <- app_assoc. auto.
Qed.

Lemma nth_nonneg l j : Forall (Rle 0) l -> 0 <= nth j l 0.
Proof. intro F. revert j. induction F; intros [|j]; simpl; auto; lra. Qed.

Lemma all_values_later u s : exists later, all_values u s = u ++ later /\ Forall (Rle 0) later.
Proof.
  destruct s as [|p s]; simpl. { exists []. auto. }
  exists (all_values (active p u) s). split; auto. revert u p.
  induction s as [|q s IH]; intros u p; simpl.
  - rewrite app_nil_r. apply active_nonneg.
  - apply Forall_app. split; [apply active_nonneg|apply IH].
Qed.

(** There are values for all symbols, and those of activations are not negative. *)
Lemma valued_exists s x : exists v, v 0%N = 1 /\ (forall k, (count x < k)%N -> 0 <= v k) /\
  valued v 1 x s.
Proof.
  set (l := all_values x s).
  exists (fun k => if (k =? 0)%N then 1 else nth (N.to_nat k - 1) l 0). split; [reflexivity|].
  split.
  { intros k L. rewrite count_length in L. destruct (N.eqb_spec k 0); [lia|].
    destruct (all_values_later x s) as (later & E & F). fold l in E. rewrite E, app_nth2 by lia.
    apply nth_nonneg. auto. }
  assert (forall s a u b, l = a ++ all_values u s ++ b ->
    valued (fun k => if (k =? 0)%N then 1
      else nth (N.to_nat k - 1) l 0) (N.of_nat (length a) + 1) u s) as K.
  { intro t. induction t as [|p t IH]; intros a u b E; simpl in E |- *; rewrite <- ?app_assoc in E.
    - split; auto. eapply reads_at_nth; eauto.
    - split; [eapply reads_at_nth; eauto|]. rewrite count_length.
      replace (N.of_nat (length a) + 1 + N.of_nat (length u))%N
        with (N.of_nat (length (a ++ u)) + 1)%N by (rewrite app_length; lia).
      apply (IH _ _ b). rewrite E, <- app_assoc. auto. }
  apply (K s [] x []). simpl. rewrite app_nil_r. reflexivity.
Qed.

Lemma val_add_entries v : forall w start u f, reads_at v start u -> length w = length u ->
  val v (add_entries start w f) = val v f + dot w u.
Proof.
  induction w as [|c w IH]; intros start [|x u] f; simpl; try discriminate; try lra.
  intros [E R] [= L]. rewrite (IH _ u); auto. destruct (Z.eqb_spec c 0) as [->|]; simpl; [lra|].
  rewrite E. lra.
Qed.

Lemma val_form_of v start r u : v 0%N = 1 -> reads_at v start u -> length (fst r) = length u ->
  val v (form_of start r) = value r u.
Proof.
  intros V R L. unfold form_of. rewrite (val_add_entries v _ _ u), val_fconst by auto.
  unfold value. lra.
Qed.

Definition neuron_ok (v : N -> R) (n : below_neuron) : Prop :=
  (0 < denominator n)%Z /\ 0 <= v (symbol n) /\
  IZR (denominator n) * v (symbol n) = relu (val v (preactivation n)).

Lemma enter_rows_ok v start u d rs : forall own k m,
  v 0%N = 1 -> reads_at v start u -> (0 < d)%Z -> Forall (fun r => length (fst r) = length u) rs ->
  reads_at v own (List.map (fun r => relu (value r u / IZR d)) rs) ->
  all (fun _ => neuron_ok v) m -> all (fun _ => neuron_ok v) (enter_rows start own k d rs m).
Proof.
  intros own k m V R D F O M. revert own k m O M. pose proof (IZR_lt _ _ D) as D'.
  induction F as [|r rs L F IH]; intros own k m O M; simpl in *; auto.
  destruct O as [O1 O2]. apply IH; auto. apply nall_add; auto. split; [auto|]. simpl. rewrite O1.
  split; [apply relu_ge0|]. rewrite (val_form_of v start r u V R L), relu_over by auto. field. lra.
Qed.

(** The last layer below, and its neurons' numbers. *)
Lemma enter_layers_ok v : forall s start u k m neurons start' width num,
  v 0%N = 1 -> valued v start u s -> fits (length u) s ->
  all (fun _ => neuron_ok v) m ->
  enter_layers start (count u) k s m = (neurons, (start', width, num)) ->
  all (fun _ => neuron_ok v) neurons /\ reads_at v start' (reads s u) /\
  width = count (reads s u).
Proof.
  induction s as [|p s IH]; intros start u k m neurons start' width num V W F M; simpl in *.
  - intros [= <- <- <- <-]. tauto.
  - destruct W as [W1 W2], F as (P & F & G). intro E.
    assert (count (rows p) = count (active p u)) as C by (rewrite !count_length, active_length;
      auto).
    rewrite C in E. eapply (IH _ _ _ _ _ _ _ _ V W2); [| |exact E].
    + rewrite active_length. auto.
    + apply (enter_rows_ok v start u); auto. unfold active, affine in W2. rewrite map_map in W2.
      destruct s; simpl in W2; tauto.
Qed.

(** * Facts hold *)

Section Sound.
Variables (v : N -> R) (neurons : nmap below_neuron) (num inputs : N).
Hypothesis one_is : v 0%N = 1.
Hypothesis activations : forall k, (inputs < k)%N -> 0 <= v k.
Hypothesis neurons_ok : all (fun _ => neuron_ok v) neurons.

Definition facts_ok (more : nmap form) : Prop := all (fun _ f => 0 <= val v f) more.

Lemma gap_nonneg n : neuron_ok v n -> 0 <= val v (gap_of n).
Proof.
  intros (D & _ & E). unfold gap_of. rewrite val_flin. simpl. rewrite Rplus_0_r, E.
  unfold relu. pose proof (Rmax_l (val v (preactivation n)) 0). lra.
Qed.

Lemma fact_ok more k f : facts_ok more -> fact neurons num more k = Some f -> 0 <= val v f.
Proof.
  intro M. unfold fact. destruct (k <? 2 * num)%N.
  - destruct (nfind (N.div2 k) neurons) as [n|] eqn:F; [|discriminate]. intros [= <-].
    apply (nall_find _ _ _ _ neurons_ok) in F. destruct (N.odd k); [apply gap_nonneg; auto|].
    simpl. destruct F as (_ & F & _). lra.
  - intro F. apply (nall_find _ _ _ _ M) in F. auto.
Qed.

Lemma with_facts_ok more sign ms : facts_ok more -> forall f g,
  with_facts neurons num more sign ms f = Some g ->
  exists s, 0 <= s /\ val v g = val v f + IZR sign * s.
Proof.
  intro M. induction ms as [|[k a] ms IH]; simpl; intros f g.
  { intros [= <-]. exists 0. lra. }
  destruct (Z.leb_spec 0 a) as [A|]; [|discriminate].
  destruct (fact neurons num more k) as [h|] eqn:F; [|discriminate].
  intro W. apply IH in W as (s & S & E). apply (fact_ok _ _ _ M) in F. apply IZR_le in A.
  exists (IZR a * val v h + s). split; [nra|]. rewrite E, val_flin, mult_IZR. ring.
Qed.

Lemma follows_ok more f ms : facts_ok more -> follows neurons num more inputs f ms = true ->
  0 <= val v f.
Proof.
  intros M. unfold follows.
  destruct (with_facts neurons num more (-1) ms f) as [rest|] eqn:W; [|discriminate].
  apply with_facts_ok in W as (s & S & E); auto. intro H.
  assert (0 <= val v rest); [|simpl in E; lra]. clear - H one_is activations.
  induction rest as [|[k c] rest IH]; simpl in *; [lra|]. apply andb_prop in H as [H1 H2].
  specialize (IH H2). assert (0 <= IZR c * v k); [|lra].
  destruct (N.leb_spec 1 k) as [A|A]; simpl in H1.
  - destruct (N.leb_spec k inputs) as [B|B].
    + apply Z.eqb_eq in H1. subst. lra.
    + apply Z.leb_le, IZR_le in H1. apply Rmult_le_pos; auto.
  - apply Z.leb_le, IZR_le in H1. assert (k = 0%N) as -> by lia. rewrite one_is. lra.
Qed.

Lemma learn_ok known f : facts_ok (fst known) -> 0 <= val v f -> facts_ok (fst (learn known f)).
Proof. intros M F. apply nall_add; auto. Qed.

Lemma add_step_ok known st known' : facts_ok (fst known) ->
  add_step neurons num inputs (Some known) st = Some known' -> facts_ok (fst known').
Proof.
  intro M. unfold add_step. destruct (nfind (of_neuron st) neurons) as [n|] eqn:F; [|discriminate].
  destruct (with_facts neurons num (fst known) 1 (above_by st) []) as [g|] eqn:G; [|discriminate].
  destruct (Z.ltb_spec 0 (factor st)) as [Q|]; [|discriminate]. cbn [andb].
  destruct (follows _ _ _ _ _ _) eqn:H; [|discriminate]. intros [= <-].
  apply learn_ok; auto. apply (nall_find _ _ _ _ neurons_ok) in F. destruct F as (_ & _ & F).
  apply with_facts_ok in G as (s & S & G); auto. simpl in G. apply follows_ok in H; auto.
  rewrite val_flin, opp_IZR in H |- *. cbn [val]. rewrite Rplus_0_r, F. apply IZR_lt in Q.
  unfold relu, Rmax. destruct (Rle_dec _ _); nra.
Qed.

Lemma steps_ok steps : forall known known', facts_ok (fst known) ->
  fold_left (add_step neurons num inputs) steps (Some known) = Some known' -> facts_ok (fst known').
Proof.
  induction steps as [|st steps IH]; intros known known' M. { intros [= <-]. auto. }
  cbn [fold_left]. destruct (add_step neurons num inputs (Some known) st) as [next|] eqn:E.
  - apply IH. eapply add_step_ok; eauto.
  - clear. intro H. exfalso. induction steps as [|st' steps IH]; [discriminate|]. auto.
Qed.

Lemma first_facts_ok source D x : reads_at v 1 x ->
  Forall (fun r => length (fst r) = length x) (ineqs D) -> interior D x ->
  match source with Some n => neuron_ok v n /\ 0 < v (symbol n) | None => True end ->
  facts_ok (fst (first_facts num source D)).
Proof.
  intros X L I S. unfold first_facts.
  assert (facts_ok (fst (learn (E, (2 * num)%N) [(0%N, 1%Z)]))) as M0.
  { apply learn_ok; [exact Logic.I|]. simpl. rewrite one_is. lra. }
  assert (facts_ok (fst match source with
    | Some n => learn (learn (E, (2 * num)%N) [(0%N, 1%Z)]) (fneg (gap_of n))
    | None => learn (E, (2 * num)%N) [(0%N, 1%Z)] end)) as M1.
  { destruct source as [n|]; auto. destruct S as [(D' & _ & E') P]. apply learn_ok; auto.
    rewrite val_fneg. unfold gap_of. rewrite val_flin. simpl. rewrite Rplus_0_r, E'.
    apply IZR_lt in D'. assert (0 < relu (val v (preactivation n))) as Q.
    { rewrite <- E'. apply Rmult_lt_0_compat; auto. }
    unfold relu, Rmax in *. destruct (Rle_dec _ _); lra. }
  assert (forall known, facts_ok (fst known) ->
    facts_ok (fst (fold_left learn (List.map slack (ineqs D)) known))) as All; [|apply All;
      exact M1].
  clear M0 M1 S. unfold interior in I. revert L I.
  induction (ineqs D) as [|r rs IH]; intros L I known M; [exact M|]. simpl.
  inversion L; subst. inversion I as [|? ? I1 I2]; subst. apply IH; auto. apply learn_ok; auto.
  unfold slack. rewrite (val_form_of v 1 _ x) by (auto; simpl; rewrite map_length; auto).
  rewrite value_pair, dot_negated. destruct I1 as [[Z C]|C]; [|lra].
  assert (dot (fst r) x = 0) as ->.
  { clear - Z. revert x. induction Z as [|c w E Z IH]; intros [|y x]; simpl; auto.
    rewrite IH, E. lra. }
  apply IZR_le in C. lra.
Qed.
End Sound.

(** * Both networks *)

(** The activation of the source. *)
Definition source_value (source : option nat) (u : list R) : R :=
  match source with Some h => nth h u 0 | None => 1 end.

Lemma update_same {X} h (f : X -> X) l : (length l <= h)%nat -> update h f l = l.
Proof.
  revert h. induction l as [|x l IH]; intros [|h] H; simpl in *; auto; try lia. rewrite IH by lia.
  auto.
Qed.

Lemma dot_weight h y w u : (h < length w)%nat -> length w = length u ->
  dot (update h (fun _ => y) w) u = dot w u + (IZR y - IZR (nth h w 0%Z)) * nth h u 0.
Proof.
  revert h u. induction w as [|c w IH]; intros [|h] [|x u]; simpl; try lia; intros L E;
    try discriminate.
  - lra.
  - rewrite IH by (auto; lia). lra.
Qed.

Lemma same_elsewhere_ok source r r' u : same_elsewhere source r r' = true ->
  length (fst r) = length u ->
  match source with Some h => (h < length u)%nat | None => True end ->
  value r' u = value r u + (IZR (weight_at source r') - IZR (weight_at source r)) * source_value
    source u.
Proof.
  intros H L B. unfold same_elsewhere, weight_at, source_value, value in *. destruct source as [h|].
  - apply andb_prop in H as [H1 H2]. apply zs_eqb_ok in H1. apply Z.eqb_eq in H2.
    rewrite <- H1 at 1. rewrite H2, dot_weight by (rewrite ?L; auto). lra.
  - apply zs_eqb_ok in H. rewrite H. lra.
Qed.

Lemma growths_ok (follow : form -> multiples -> bool) start source v u d :
  v 0%N = 1 -> reads_at v start u -> 0 < d -> 0 <= source_value source u ->
  match source with Some h => (h < length u)%nat | None => True end ->
  (0 < source_value source u -> forall f ms, follow f ms = true -> 0 <= val v f) ->
  forall old new, Forall (fun r => length (fst r) = length u) old ->
  Forall (fun r => length (fst r) = length u) new -> forall i signs ts,
  growths follow start source i old new signs = Some ts ->
  List.map (fun r => relu (value r u / d)) new =
  List.map (fun p => relu (value (fst p) u / d) + IZR (snd p) * source_value source u / d) (combine
    old ts) /\
  length ts = length old.
Proof.
  intros V U D S B Follow old new Fo. revert new.
  induction Fo as [|r old L Fo IH]; intros [|r' new] Fn i signs ts;
    cbn [growths]; try discriminate.
  { destruct signs; [|discriminate]. intros [= <-]. auto. }
  inversion Fn as [|? ? L' Fn']; subst.
  match goal with |- match ?found with _ => _ end = _ -> _ => destruct found as [[t rest]|] eqn:E;
    [|discriminate] end.
  destruct (growths _ _ _ _ old new rest) as [ts'|] eqn:G; [|discriminate]. intros [= <-].
  destruct (IH _ Fn' _ _ _ G) as [IH1 IH2]. split; [|simpl; auto]. simpl. f_equal; auto.
  clear IH1 IH2 G IH.
  assert (forall x y, relu (x / d) + y * source_value source u / d = (relu x + y * source_value
    source u) / d) as K.
  { intros. rewrite relu_over by auto. field. lra. }
  rewrite K, relu_over by auto. f_equal.
  assert (forall sgs, (if row_eqb r r' then Some (0%Z, sgs) else None) = Some (t, rest) ->
    relu (value r' u) = relu (value r u) + IZR t * source_value source u) as Same.
  { intro sgs. destruct (row_eqb r r') eqn:Q; [|discriminate]. apply row_eqb_ok in Q as <-.
    intros [= <- _]. lra. }
  revert E. destruct signs as [|sg signs]; [apply Same|].
  destruct (at_neuron sg =? i)%N; [|apply Same].
  destruct (Z.ltb_spec 0 (times_by sg)) as [P|]; [|discriminate]. cbn [andb].
  destruct (sign_holds follow start sg r) eqn:H1; [|discriminate].
  destruct (sign_holds follow start sg r') eqn:H2; [|discriminate].
  destruct (same_elsewhere source r r') eqn:H3; [|discriminate]. cbn [andb]. intros [= <- _].
  pose proof (same_elsewhere_ok _ _ _ u H3 L B) as E'. apply IZR_lt in P.
  destruct (Rle_lt_or_eq_dec 0 _ S) as [On|Off].
  - specialize (Follow On). apply Follow in H1, H2.
    rewrite (val_form_of v start _ u) in H1 by (auto; simpl; rewrite map_length; auto).
    rewrite (val_form_of v start _ u) in H2 by (auto; simpl; rewrite map_length; auto).
    rewrite value_times in H1. rewrite value_times in H2. destruct (is_on sg).
    + rewrite !relu_pos by nra. rewrite E', minus_IZR. lra.
    + rewrite opp_IZR in H1, H2. rewrite !relu_neg by nra. lra.
  - rewrite <- Off in E' |- *. rewrite E', !Rmult_0_r, Rplus_0_r. lra.
Qed.

Lemma dot_added w ts us a : length ts = length us ->
  dot w (List.map (fun p => fst p + IZR (snd p) * a) (combine us ts)) = dot w us + IZR (zdot w ts)
    * a.
Proof.
  revert w us. induction ts as [|t ts IH]; intros [|c w] [|x us]; simpl; try discriminate; try lra.
  intros [= L]. rewrite IH, plus_IZR, mult_IZR by auto. lra.
Qed.

Lemma over_both d e rs u : (0 < d)%Z -> (0 < e)%Z ->
  List.map (fun r => relu (value r u / IZR (d * e))) (List.map (times_row e) rs) =
  active (Plain d rs) u.
Proof.
  intros D E. unfold active, affine. rewrite !map_map. apply map_ext. intro r. f_equal. simpl.
  apply IZR_lt in D, E. rewrite value_times, mult_IZR. field. lra.
Qed.

Lemma times_row_lengths m a rs : Forall (fun r => length (fst r) = m) rs ->
  Forall (fun r : row => length (fst r) = m) (List.map (times_row a) rs).
Proof. induction 1; simpl; constructor; auto. simpl. rewrite map_length. auto. Qed.

Lemma changes_ok m c follow start source signs last_relu v x :
  changes_fit follow start source c signs = true -> length x = m ->
  fits m (below c ++ lower c :: upper c :: above c) ->
  fits m (below c ++ lower' c :: upper' c :: above c) ->
  let u := reads (below c) x in
  v 0%N = 1 -> reads_at v start u ->
  match source with Some h => (h < length u)%nat | None => True end ->
  0 <= source_value source u ->
  (0 < source_value source u -> forall f ms, follow f ms = true -> 0 <= val v f) ->
  compute (below c ++ lower' c :: upper' c :: above c) last_relu x =
  compute (below c ++ lower c :: upper c :: above c) last_relu x.
Proof.
  intros H X F F' u V0 U Sb Sp Follow. symmetry. apply compute_change. left. fold u.
  apply (reads_length _ _ _ x) in F; auto. apply (reads_length _ _ _ x) in F'; auto.
  fold u in F, F'.
  destruct F as (P1 & F1 & P2 & F2 & _), F' as (P1' & F1' & P2' & _).
  unfold changes_fit in H. set (d := (over (lower c) * over (lower' c))%Z) in *.
  destruct (growths _ _ _ _ _ _ _) as [ts|] eqn:G; [|discriminate].
  apply andb_prop in H as [Cancel Layer].
  assert (0 < d)%Z as Dpos by (unfold d; nia). pose proof (IZR_lt _ _ Dpos) as Dpos'.
  destruct (growths_ok _ start source v u (IZR d) V0 U Dpos' Sp Sb Follow _ _
    (times_row_lengths _ _ _ F1) (times_row_lengths _ _ _ F1') _ _ _ G) as [Same Len].
  assert (active (lower' c) u = List.map (fun p => fst p + IZR (snd p) * (source_value source u /
    IZR d))
    (combine (active (lower c) u) ts)) as Ea.
  { replace (active (lower' c) u) with
      (List.map (fun r => relu (value r u / IZR d)) (List.map (times_row (over (lower c))) (rows
        (lower' c)))).
    - rewrite Same. replace (active (lower c) u) with
        (List.map (fun r => relu (value r u / IZR d)) (List.map (times_row (over (lower' c))) (rows
          (lower c)))).
      + clear. generalize (List.map (times_row (over (lower' c))) (rows (lower c))). intro l.
        revert ts.
        induction l as [|r l IH]; intros [|t ts]; simpl; auto. rewrite IH. f_equal. unfold Rdiv.
        ring.
      + unfold d. rewrite over_both by auto. destruct (lower c); auto.
    - unfold d. rewrite Z.mul_comm, over_both by auto. destruct (lower' c); auto. }
  rewrite (layer_is_ok _ _ _ _ Layer) by nia. unfold affine. rewrite map_map. apply map_ext_in.
  intros r Ir. unfold taken_back. rewrite value_pair, dot_times, Ea, dot_added by
    (rewrite Len, active_length, map_length; auto).
  apply IZR_lt in P2. rewrite minus_IZR, !mult_IZR. unfold value.
  set (z := IZR (zdot (fst r) ts)). set (b := dot (fst r) (active (lower c) u)).
  assert (z * source_value source u = z) as Z1.
  { destruct source as [h|]; simpl; [|lra]. rewrite forallb_forall in Cancel.
    specialize (Cancel r Ir).
    apply Z.eqb_eq in Cancel. unfold z. rewrite Cancel. lra. }
  replace (IZR d * (b + z * (source_value source u / IZR d)))
    with (IZR d * b + z * source_value source u) by (field; lra).
  rewrite Z1. field. split; [|lra]. lra.
Qed.

(** The source is known to be on where its value is positive. *)
Lemma source_ok neurons start width num listed source on v u :
  source_of neurons start width num listed = Some (source, on) -> reads_at v start u ->
  width = count u -> all (fun _ => neuron_ok v) neurons ->
  match source with Some h => (h < length u)%nat | None => True end /\
  0 <= source_value source u /\
  (0 < source_value source u ->
   match on with Some n => neuron_ok v n /\ 0 < v (symbol n) | None => True end).
Proof.
  intros So U W Nok.
  assert (forall h w, reads_at v start w -> (h < length w)%nat ->
    v (start + N.of_nat h)%N = nth h w 0) as At.
  { clear. intros h w. revert start h. induction w as [|y w IH]; intros start [|h]; simpl; try lia.
    - rewrite N.add_0_r. tauto.
    - intros [_ R] L. rewrite <- (IH (start + 1)%N) by (auto; lia). f_equal. lia. }
  unfold source_of in So. destruct listed as [|h [|? ?]]; try discriminate.
  - injection So as <- <-. simpl. split; [auto|split; [lra|auto]].
  - destruct (0 <? num)%N; [|discriminate]. cbn [andb] in So.
    destruct (N.ltb_spec (N.of_nat h) width) as [B|]; [|discriminate].
    destruct (nfind _ neurons) as [n|] eqn:Fn; [|discriminate].
    destruct (N.eqb_spec (symbol n) (start + N.of_nat h)) as [Sy|]; [|discriminate].
    injection So as <- <-. rewrite W, count_length in B. assert (h < length u)%nat as B' by lia.
    apply (nall_find _ _ _ _ Nok) in Fn. simpl. rewrite <- (At h u U B'), <- Sy.
    split; [auto|]. split; [apply Fn|auto].
Qed.

Lemma fits_below m s t : fits m (s ++ t) -> fits m s.
Proof. revert m. induction s as [|p s IH]; simpl; auto. intros m (A & B & C). auto. Qed.

Theorem one_sided_ok m D c listed steps signs last_relu x :
  is_one_sided (N.of_nat m) D c listed steps signs = true -> length x = m ->
  Forall (fun r => length (fst r) = m) (ineqs D) -> interior D x ->
  fits m (below c ++ lower c :: upper c :: above c) ->
  fits m (below c ++ lower' c :: upper' c :: above c) ->
  compute (below c ++ lower' c :: upper' c :: above c) last_relu x =
  compute (below c ++ lower c :: upper c :: above c) last_relu x.
Proof.
  unfold is_one_sided. intros H X Rows In F F'. pose proof (fits_below _ _ _ F) as Fb.
  destruct (valued_exists (below c) x) as (v & V0 & Vpos & V).
  rewrite <- X in H. rewrite <- count_length in H.
  destruct (enter_layers 1 (count x) 0 (below c) E) as [neurons [[start width] num]] eqn:En.
  rewrite <- X in Fb.
  destruct (enter_layers_ok v (below c) 1 x 0 E _ _ _ _ V0 V Fb I En) as (Nok & U & W).
  destruct (source_of neurons start width num listed) as [[source on]|] eqn:So; [|discriminate].
  destruct (source_ok _ _ _ _ _ _ _ v _ So U W Nok) as (Sb & Sp & Son).
  destruct (fold_left _ steps _) as [known|] eqn:St; [|discriminate].
  apply (changes_ok m c _ start source signs last_relu v x H); auto.
  intros On f ms. apply follows_ok; auto.
  apply (steps_ok v neurons num (count x) V0 Vpos Nok steps (first_facts num on D)); auto.
  eapply first_facts_ok; eauto.
  - destruct (below c); simpl in V; tauto.
  - rewrite X. auto.
  - exact (Son On).
Qed.
