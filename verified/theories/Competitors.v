(** Claims about competitors (FORMAT.md, sections 3.1 and 3.2): other parameters of the same
    architecture. A reviewer has to read this file and the definitions of Related.v. *)
Require Import ZArith Reals List Bool.
From PolyreluVerified Require Import Networks Domains Claims Related.
Import ListNotations.
Open Scope R_scope.

(** A plain stack: each neuron reads one layer, which is the one before it if the network has the
    shape of a network. *)
Definition is_plain (n : net) : Prop :=
  Forall (fun l => Forall (fun u => length (snd u) = 1%nat) (neurons l)) (layers n).

(** Where the inequalities are strict, except those that say [0 <= c] with [c >= 0]. A domain
    without rows is R^n, and so is its interior. *)
Definition interior (D : domain) (x : list R) : Prop :=
  Forall (fun r =>
    (Forall (fun c => c = 0%Z) (fst r) /\ (0 <= snd r)%Z) \/ dot (fst r) x < IZR (snd r)) (ineqs D).

(** [two] has the architecture of [one], computes the same function on the interior of the domain,
    and is not related to [one]: so [one] is not identifiable there among all parameters. *)
Definition not_identifiable (p : pair) : Prop :=
  (well_shaped (inputs p) (one p) = true /\ is_plain (one p)) /\
  (well_shaped (inputs p) (two p) = true /\ is_plain (two p)) /\
  (rows_fit p = true /\ eqs (place p) = []) /\
  same_architecture (inputs p) (one p) (two p) /\
  (forall x, length x = inputs p -> interior (place p) x -> eval (two p) x = eval (one p) x) /\
  ~ related (inputs p) (one p) (two p).
