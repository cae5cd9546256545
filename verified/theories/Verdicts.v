(** Answers of a step: a result, or the verdict that ends the check (FORMAT.md, section 4). *)
Require Import String.

Inductive answer (A : Type) : Type :=
| Good (a : A)
| Rejected (got : string)     (* well-formed, but a step fails *)
| Unreadable (got : string).  (* not in the format, or beyond its limits *)
Arguments Good {A} a.
Arguments Rejected {A} got.
Arguments Unreadable {A} got.

Definition and_then {A B} (x : answer A) (f : A -> answer B) : answer B :=
  match x with Good a => f a | Rejected m => Rejected m | Unreadable m => Unreadable m end.

(** Go on only if a fact holds, or only if a limit is kept. *)
Definition require {A} (b : bool) (got : string) (next : answer A) : answer A :=
  if b then next else Rejected got.
Definition within {A} (b : bool) (got : string) (next : answer A) : answer A :=
  if b then next else Unreadable got.

Lemma and_then_good {A B} (x : answer A) (f : A -> answer B) b :
  and_then x f = Good b -> exists a, x = Good a /\ f a = Good b.
Proof.
  destruct x; simpl; try discriminate. intro E. exists a. auto.

Qed.

Lemma require_good {A} b m (next : answer A) a :
  require b m next = Good a -> b = true /\ next = Good a.
Proof.
  unfold require. destruct b; [auto|discriminate].

Qed.

Lemma within_good {A} b m (next : answer A) a :
  within b m next = Good a -> b = true /\ next = Good a.
Proof.
  unfold within. destruct b; [auto|discriminate].

Qed.
