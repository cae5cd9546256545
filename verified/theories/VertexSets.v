(** What a complete list of vertices says about the points of a domain. A reviewer has to read this
    file. *)
Require Import ZArith Reals List.
From PolyreluVerified Require Import Networks Domains RegionLists.
Import ListNotations.
Open Scope R_scope.

(** The signs of all inequalities and of all neurons at a point; its cell are the points of the
    domain with these signs. *)
Definition all_signs (p : placed) (x : list R) : list Z :=
  List.map (fun r => sign_of (IZR (snd r) - dot (fst r) x)) (ineqs (area p)) ++
  signs (network p) x.

(** Each sign of [x] is 0 or that of [y]: [x] lies in the closure of the cell of [y]. *)
Definition below (p : placed) (x y : list R) : Prop :=
  Forall2 (fun a b => a = 0%Z \/ a = b) (all_signs p x) (all_signs p y).

Definition of_domain (p : placed) (x : list R) : Prop := in_plane p x /\ in_domain (area p) x.

(** The points belong to the domain, and the closure of each cell has one of them. So no vertex is
    missing: the closure of the cell of a vertex is this vertex, up to directions in which nothing
    changes. *)
Definition no_vertex_missing (p : placed) (points : list (list R)) : Prop :=
  Forall (of_domain p) points /\
  forall x, of_domain p x -> exists v, In v points /\ below p v x.
