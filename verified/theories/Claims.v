(** Claims and what they mean (FORMAT.md, section 3.2). A reviewer has to read this file. *)
Require Import ZArith QArith Qreals Reals List Bool.
From PolyreluVerified Require Import Networks Domains.
Open Scope R_scope.

(** Two networks [one] and [two], and a domain in the space of their inputs. *)
Record pair := Pair { inputs : nat; one : net; two : net; place : domain }.

(** Rows of the domain have one coefficient for each input. *)
Definition rows_fit (p : pair) : bool :=
  forallb (fun r => Nat.eqb (length (fst r)) (inputs p)) (ineqs (place p) ++ eqs (place p)).

(** Both networks have the shape of networks with these inputs. *)
Definition shapes_fit (p : pair) : bool :=
  well_shaped (inputs p) (one p) && well_shaped (inputs p) (two p).

(** And they have equally many outputs. *)
Definition good_pair (p : pair) : bool :=
  shapes_fit p && Nat.eqb (outputs (one p)) (outputs (two p)) && rows_fit p.

(** The point lies in the domain. *)
Definition inside (p : pair) (x : list R) : Prop := length x = inputs p /\ in_domain (place p) x.

Inductive claim :=
| Equivalent (p : pair)
| Not_equivalent (p : pair).

(** What a claim says about real numbers. *)
Definition holds (c : claim) : Prop :=
  match c with
  | Equivalent p =>
      good_pair p = true /\
      (exists x, inside p x) /\
      forall x, inside p x -> eval (one p) x = eval (two p) x
  | Not_equivalent p =>
      good_pair p = true /\
      exists x, inside p x /\ eval (one p) x <> eval (two p) x
  end.
