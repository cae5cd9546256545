(** Lists of regions and what they mean (FORMAT.md, section 5.1). A reviewer has to read this
    file. *)
Require Import ZArith Reals List Bool.
From PolyreluVerified Require Import Networks Domains.
Import ListNotations.
Open Scope R_scope.

(** A network with a number of inputs, and a domain in their space. *)
Record placed := Placed { num_inputs : nat; network : net; area : domain }.

(** The network has the shape of a network with these inputs, and rows of the domain have one
    coefficient for each of them. *)
Definition good_placed (p : placed) : bool :=
  well_shaped (num_inputs p) (network p) &&
  forallb (fun r => Nat.eqb (length (fst r)) (num_inputs p))
    (ineqs (area p) ++ eqs (area p)).

(** * Sign vectors *)

Definition sign_of (x : R) : Z :=
  if Rlt_dec 0 x then 1%Z else if Rlt_dec x 0 then (-1)%Z else 0%Z.

(** The signs of the preactivations of all neurons with a ReLU, layer after layer; [acts] are the
    activations of the layers before, as for [run]. *)
Fixpoint signs_from (ls : list layer) (last_relu : bool) (acts : list (list R)) : list Z :=
  match ls with
  | [] => []
  | l :: ls' =>
      let z := List.map (pre acts (den l)) (neurons l) in
      match ls', last_relu with
      | [], false => []
      | _, _ => List.map sign_of z ++ signs_from ls' last_relu (acts ++ [List.map relu z])
      end
  end.

(** The sign vector of a point. *)
Definition signs (n : net) (x : list R) : list Z := signs_from (layers n) (relu_last n) [x].

(** * Interiors *)

(** The points that fulfil the equations of the domain. *)
Definition in_plane (p : placed) (x : list R) : Prop :=
  length x = num_inputs p /\ Forall (fun r => dot (fst r) x = IZR (snd r)) (eqs (area p)).

(** Each coordinate of [y] is closer than [e] to that of [x]. *)
Definition near (e : R) (x y : list R) : Prop := Forall2 (fun a b => Rabs (b - a) < e) x y.

(** The point fulfils the equations, and all points near it that fulfil them belong to [S]. *)
Definition inner (p : placed) (S : list R -> Prop) (x : list R) : Prop :=
  in_plane p x /\ exists e, 0 < e /\ forall y, in_plane p y -> near e x y -> S y.

(** The interior of the domain in the set that its equations describe. If it is not empty, this set
    is the affine hull of the domain, and this interior is the relative one. *)
Definition in_interior (p : placed) : list R -> Prop := inner p (in_domain (area p)).

(** The points of the relative interior that have one sign vector. *)
Definition has_signs (p : placed) (s : list Z) (x : list R) : Prop :=
  in_interior p x /\ signs (network p) x = s.

(** * The claim *)

(** The affine hull of the domain is given by its equations, and there are exactly [count] sign
    vectors whose points have an interior in it. *)
Definition regions_are (p : placed) (count : nat) : Prop :=
  good_placed p = true /\
  (exists x, in_interior p x) /\
  exists vectors, NoDup vectors /\ length vectors = count /\
    forall s, In s vectors <-> exists x, inner p (has_signs p s) x.
