(** Domains of claims (FORMAT.md, section 3.8). A reviewer has to read this file. *)
Require Import ZArith Reals List.
From PolyreluVerified Require Import Networks.
Open Scope R_scope.

(** A row [(a, c)] says [a x <= c], or [a x = c]. R^n has no rows. *)
Record domain := Domain { ineqs : list (list Z * Z); eqs : list (list Z * Z) }.

Definition in_domain (D : domain) (x : list R) : Prop :=
  Forall (fun r => dot (fst r) x <= IZR (snd r)) (ineqs D) /\
  Forall (fun r => dot (fst r) x = IZR (snd r)) (eqs D).
