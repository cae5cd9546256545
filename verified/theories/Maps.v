(** Finite maps.

    Red-black insertion without an order invariant: the only facts proved are that an entry which is
    found was put in before ([all_find], [all_add]), and that a map has the keys that were put in,
    in whichever order ([has_add]). Soundness needs no more. *)
Require Import NArith List.

Section Map.
Context {K V : Type} (cmp : K -> K -> comparison).

(** A tree is empty, or a root with its key and value between two trees. *)
Inductive map := E | T (red : bool) (l : map) (k : K) (v : V) (r : map).

Fixpoint find k m :=
  match m with
  | E => None
  | T _ l k' v r => match cmp k k' with Eq => Some v | Lt => find k l | Gt => find k r end
  end.

(** Okasaki's four rotations. *)
Definition balance (c : bool) l k v r :=
  if c then T true l k v r else
  match l with
  | T true (T true a x xv b) y yv c'
  | T true a x xv (T true b y yv c') => T true (T false a x xv b) y yv (T false c' k v r)
  | _ =>
      match r with
      | T true (T true b y yv c') z zv d
      | T true b y yv (T true c' z zv d) => T true (T false l k v b) y yv (T false c' z zv d)
      | _ => T false l k v r
      end
  end.

Fixpoint ins k v m :=
  match m with
  | E => T true E k v E
  | T c l k' v' r =>
      match cmp k k' with
      | Eq => T c l k v r
      | Lt => balance c (ins k v l) k' v' r
      | Gt => balance c l k' v' (ins k v r)
      end
  end.

Definition add k v m := match ins k v m with E => E | T _ l k v r => T false l k v r end.

(** Every entry has a property. *)
Fixpoint all (P : K -> V -> Prop) m :=
  match m with E => True | T _ l k v r => all P l /\ P k v /\ all P r end.

Lemma all_balance P c l k v r : all P l -> P k v -> all P r -> all P (balance c l k v r).
Proof.
  intros. unfold balance. destruct c; simpl; auto.
  repeat match goal with |- context [match ?x with _ => _ end] => destruct x; simpl in * end; tauto.
Qed.
Hypothesis cmp_eq : forall a b, cmp a b = Eq -> a = b.
Lemma all_find P m k v : all P m -> find k m = Some v -> P k v.
Proof.
  induction m as [|c l IHl k' v' r IHr]; simpl; [discriminate|]. intros (A & B & C).
  destruct (cmp k k') eqn:F; auto. apply cmp_eq in F. intros [= <-]. subst; auto.
Qed.

Lemma all_ins (P : K -> V -> Prop) m k v : all P m -> P k v -> all P (ins k v m).
Proof.
  induction m as [|c l IHl k' v' r IHr]; simpl; auto. intros (A & B & C) D.
  destruct (cmp k k') eqn:F; [apply cmp_eq in F; subst; simpl; auto | apply all_balance; auto ..].
Qed.

Lemma all_add (P : K -> V -> Prop) m k v : all P m -> P k v -> all P (add k v m).
Proof.
  intros A B. pose proof (all_ins _ _ _ _ A B) as C. unfold add. destruct (ins k v m); auto.
Qed.

Lemma all_imp (P Q : K -> V -> Prop) m : (forall k v, P k v -> Q k v) -> all P m -> all Q m.
Proof.
  intro I; induction m; simpl; auto. intros (A & B & C); auto.
Qed.

(** A key somewhere in a map, and all keys from left to right, before other ones. *)
Fixpoint has (k : K) m : Prop :=
  match m with E => False | T _ l k' _ r => has k l \/ k = k' \/ has k r end.

Fixpoint keys_onto m (acc : list K) : list K :=
  match m with E => acc | T _ l k _ r => keys_onto l (cons k (keys_onto r acc)) end.
Definition keys m : list K := keys_onto m nil.

Lemma in_keys m k : In k (keys m) <-> has k m.
Proof.
  unfold keys. assert (forall acc, In k (keys_onto m acc) <-> has k m \/ In k acc) as H.
  { induction m as [|c l IHl k' v' r IHr]; intro acc; simpl; [tauto|].
    rewrite IHl. simpl. rewrite IHr. intuition. }
  rewrite H. simpl. tauto.
Qed.

Lemma has_find m k v : find k m = Some v -> has k m.
Proof.
  induction m as [|c l IHl k' v' r IHr]; simpl; [discriminate|].
  destruct (cmp k k') eqn:F; auto.
Qed.

Lemma has_balance k c l k' v r : has k (balance c l k' v r) <-> has k l \/ k = k' \/ has k r.
Proof.
  unfold balance. destruct c; simpl; [tauto|].
  repeat match goal with |- context [match ?x with _ => _ end] => destruct x; simpl in * end; tauto.
Qed.

Lemma has_add m k v k' : has k' (add k v m) <-> k' = k \/ has k' m.
Proof.
  assert (has k' (ins k v m) <-> k' = k \/ has k' m) as H.
  { induction m as [|c l IHl x y r IHr]; simpl; [intuition|].
    destruct (cmp k x) eqn:F; [apply cmp_eq in F; subst; simpl; intuition| |];
      rewrite has_balance; tauto. }
  unfold add. destruct (ins k v m); simpl in *; tauto.
Qed.

End Map.
Arguments map : clear implicits.
Notation nmap := (map N).
Definition nfind {V} (k : N) (m : nmap V) := find N.compare k m.
Definition nadd {V} (k : N) (v : V) m := add N.compare k v m.
Lemma nall_find {V} (P : N -> V -> Prop) m k v : all P m -> nfind k m = Some v -> P k v.
Proof.
  apply all_find. apply N.compare_eq.

Qed.

Lemma nall_add {V} (P : N -> V -> Prop) m k v : all P m -> P k v -> all P (nadd k v m).
Proof.
  apply all_add. apply N.compare_eq.

Qed.

(** * Sets of numbers *)

Notation nset := (nmap unit).
Definition put (k : N) (m : nset) : nset := nadd k tt m.
Definition member (k : N) (m : nset) : bool :=
  match nfind k m with Some _ => true | None => false end.

Lemma has_member k m : member k m = true -> has k m.
Proof.
  unfold member. destruct (nfind k m) eqn:F; [|discriminate]. intros _.
  apply has_find in F; auto. apply N.compare_eq.
Qed.

Lemma has_put k k' m : has k' (put k m) <-> k' = k \/ has k' m.
Proof. apply has_add. apply N.compare_eq. Qed.

Fixpoint rising (l : list N) : bool :=
  match l with cons a ((cons b _) as l') => andb (N.ltb a b) (rising l') | _ => true end.

Lemma rising_nodup l : rising l = true -> NoDup l.
Proof.
  assert (forall m a, rising (cons a m) = true -> forall b, In b m -> (a < b)%N) as H.
  { induction m as [|c m IH]; intros a E b I; [destruct I|]. simpl in E.
    apply andb_prop in E as [E F]. apply N.ltb_lt in E. destruct I as [<-|I]; auto.
    apply N.lt_trans with c; auto. }
  induction l as [|a l IH]; intro E; constructor.
  - intro I. apply (N.lt_irrefl a), (H l a); auto.
  - apply IH. simpl in E. destruct l; auto. apply andb_prop in E. tauto.
Qed.
