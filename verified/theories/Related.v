(** Related networks: equal up to permuting hidden neurons, and scaling them positively.

    A reviewer has to read the definitions of this file up to [related]. FORMAT.md, section 3.1. *)
Require Import ZArith Reals List Bool.
From Coq Require Import FinFun.
From PolyreluVerified Require Import Networks.
Import ListNotations.
Open Scope R_scope.

(** * Weights and biases as real numbers; layers are counted from 1, layer 0 are the inputs *)

Definition no_layer : layer := Layer 1 [].
Definition layer_at (n : net) (l : nat) : layer := nth (pred l) (layers n) no_layer.
Definition neuron_at (n : net) (l i : nat) : neuron := nth i (neurons (layer_at n l)) (0%Z, []).

(** The row of a neuron in the block from layer [k]. *)
Definition row_from (k : nat) (n : neuron) : list Z :=
  match find (fun block => Nat.eqb (fst block) k) (snd n)
    with Some block => snd block | None => [] end.

Definition weight (n : net) (l i j : nat) : R :=
  IZR (nth j (row_from (pred l) (neuron_at n l i)) 0%Z) / IZR (den (layer_at n l)).
Definition bias (n : net) (l i : nat) : R :=
  IZR (fst (neuron_at n l i)) / IZR (den (layer_at n l)).

Definition depth (n : net) : nat := length (layers n).
Definition width (inputs : nat) (n : net) (l : nat) : nat :=
  match l with O => inputs | _ => length (neurons (layer_at n l)) end.

(** * The relation *)

Definition same_architecture (inputs : nat) (one two : net) : Prop :=
  depth one = depth two /\ relu_last one = relu_last two /\
  forall l, width inputs one l = width inputs two l.

(** Neuron [i] of layer [l] of [two] is neuron [place l i] of [one], its row and bias times
    [scale l i], and its outgoing column over [scale l i]. Inputs and outputs stay. *)
Definition related (inputs : nat) (one two : net) : Prop :=
  same_architecture inputs one two /\
  exists (place : nat -> nat -> nat) (scale : nat -> nat -> R),
    (forall l, (l <= depth one)%nat ->
       bFun (width inputs one l) (place l) /\ bInjective (width inputs one l) (place l)) /\
    (forall l i, 0 < scale l i) /\
    (forall l i, l = 0%nat \/ l = depth one -> place l i = i /\ scale l i = 1) /\
    (forall l i, (1 <= l <= depth one)%nat -> (i < width inputs one l)%nat ->
       bias two l i = scale l i * bias one l (place l i) /\
       forall j, (j < width inputs one (pred l))%nat ->
         weight two l i j =
         scale l i * weight one l (place l i) (place (pred l) j) / scale (pred l) j).
