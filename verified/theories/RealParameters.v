(** Networks with one hidden layer and real parameters, and the claim identifiable among all of them
    (FORMAT.md, sections 3.1 and 3.2). A reviewer has to read this file, [sum] in Generic.v, and the
    definitions of Related.v and Competitors.v that it uses. *)
Require Import ZArith Reals List Bool.
From Coq Require Import FinFun.
From PolyreluVerified Require Import Networks Domains Related Competitors Generic.
Import ListNotations.
Open Scope R_scope.

(** Weights and biases by layer and neuron, as [weight] and [bias] of Related.v; layers are counted
    from 1. What lies beyond the widths has no meaning. *)
Record parameters := Weights {
  weight_of : nat -> nat -> nat -> R;
  bias_of : nat -> nat -> R }.

Definition of_network (n : net) : parameters := Weights (weight n) (bias n).

(** The number [w x + b]. *)
Definition form (inputs : nat) (w : nat -> R) (b : R) (x : nat -> R) : R :=
  sum inputs (fun k => w k * x k) + b.

(** Neuron [i] of layer 1 before its ReLU, and output [o], at an input. *)
Definition hidden (inputs : nat) (p : parameters) (i : nat) (x : nat -> R) : R :=
  form inputs (weight_of p 1 i) (bias_of p 1 i) x.
Definition output (inputs width : nat) (p : parameters) (o : nat) (x : nat -> R) : R :=
  sum width (fun i => weight_of p 2 o i * relu (hidden inputs p i x)) + bias_of p 2 o.

(** Neuron [i] of [q] is neuron [place i] of [p], its row and bias times [scale i], and its outgoing
    column over [scale i]. *)
Definition related_parameters (inputs width outputs : nat) (p q : parameters) : Prop :=
  exists (place : nat -> nat) (scale : nat -> R),
    bFun width place /\ bInjective width place /\
    (forall i, (i < width)%nat -> 0 < scale i) /\
    (forall i, (i < width)%nat ->
       bias_of q 1 i = scale i * bias_of p 1 (place i) /\
       forall k, (k < inputs)%nat -> weight_of q 1 i k = scale i * weight_of p 1 (place i) k) /\
    (forall o, (o < outputs)%nat ->
       bias_of q 2 o = bias_of p 2 o /\
       forall i, (i < width)%nat -> weight_of q 2 o i = weight_of p 2 o (place i) / scale i).

(** All real parameters of the same widths that compute the same function on the interior of the
    domain are related. R^n is the domain without rows. *)
Definition identifiable (inputs : nat) (n : net) (D : domain) : Prop :=
  (well_shaped inputs n = true /\ is_plain n) /\ depth n = 2%nat /\ relu_last n = false /\
  Forall (fun r => length (fst r) = inputs) (ineqs D) /\ eqs D = [] /\
  forall q : parameters,
    (forall x o, length x = inputs -> interior D x -> (o < width inputs n 2)%nat ->
       output inputs (width inputs n 1) q o (fun k => nth k x 0) = nth o (eval n x) 0) ->
    related_parameters inputs (width inputs n 1) (width inputs n 2) (of_network n) q.
