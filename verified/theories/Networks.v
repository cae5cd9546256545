(** Networks and their functions: the semantics of every claim (FORMAT.md, section 2).

    A reviewer has to read this file: no proof stands in it, and every theorem is about [eval]. *)
Require Import ZArith NArith Reals List Bool.
Import ListNotations.
Open Scope R_scope.

(** * Functions *)

Definition relu (x : R) : R := Rmax x 0.

(** A neuron: its bias, and for each block of its layer the source layer and its row. *)
Definition neuron := (Z * list (nat * list Z))%type.

(** A layer: its common denominator, and its neurons. *)
Record layer := Layer { den : Z; neurons : list neuron }.

(** A network: its layers, and whether the last one has a ReLU. *)
Record net := Net { layers : list layer; relu_last : bool }.

Fixpoint dot (w : list Z) (a : list R) : R :=
  match w, a with
  | c :: w', x :: a' => IZR c * x + dot w' a'
  | _, _ => 0
  end.

(** The activations [acts] of all layers before, [x] among them as layer 0, times the rows. *)
Definition sum_rows (acts : list (list R)) (rows : list (nat * list Z)) : R :=
  fold_right (fun p s => dot (snd p) (nth (fst p) acts []) + s) 0 rows.

(** The preactivation of a neuron. *)
Definition pre (acts : list (list R)) (d : Z) (n : neuron) : R :=
  (IZR (fst n) + sum_rows acts (snd n)) / IZR d.

(** The outputs, given the activations of the layers before. *)
Fixpoint run (ls : list layer) (last_relu : bool) (acts : list (list R)) : list R :=
  match ls with
  | [] => last acts []
  | l :: ls' =>
      let z := List.map (pre acts (den l)) (neurons l) in
      match ls' with
      | [] => if last_relu then List.map relu z else z
      | _ => run ls' last_relu (acts ++ [List.map relu z])
      end
  end.

(** The function of a network. *)
Definition eval (n : net) (x : list R) : list R := run (layers n) (relu_last n) [x].

(** * Shapes

    [dot] and [nth] are total, so that a network of a wrong shape has a function as well; rules
    therefore require [well_shaped]. *)

(** The blocks of a layer, as sources in ascending order, the last one the layer before. *)
Fixpoint ascending_to (low last : nat) (sources : list nat) : bool :=
  match sources with
  | [] => false
  | [k] => Nat.eqb k last
  | k :: rest => Nat.leb low k && Nat.ltb k last && ascending_to (S k) last rest
  end.

Fixpoint same_nats (a b : list nat) : bool :=
  match a, b with
  | [], [] => true
  | x :: a', y :: b' => Nat.eqb x y && same_nats a' b'
  | _, _ => false
  end.

(** A neuron has one row for each block, as long as its source layer is wide. *)
Definition neuron_shaped (widths sources : list nat) (n : neuron) : bool :=
  same_nats (List.map fst (snd n)) sources &&
  forallb (fun p => Nat.eqb (length (snd p)) (nth (fst p) widths 0%nat)) (snd n).

Definition sources_of (l : layer) : list nat :=
  match neurons l with [] => [] | n :: _ => List.map fst (snd n) end.

(** A layer after layers of the given widths, the inputs among them as layer 0. *)
Definition layer_shaped (widths : list nat) (l : layer) : bool :=
  (0 <? den l)%Z &&
  ascending_to 0 (pred (length widths)) (sources_of l) &&
  forallb (neuron_shaped widths (sources_of l)) (neurons l).

Fixpoint layers_shaped (widths : list nat) (ls : list layer) : bool :=
  match ls with
  | [] => true
  | l :: ls' => layer_shaped widths l && layers_shaped (widths ++ [length (neurons l)]) ls'
  end.

(** The network has [inputs] inputs and at least one layer, and all blocks fit. *)
Definition well_shaped (inputs : nat) (n : net) : bool :=
  Nat.ltb 0 inputs &&
  match layers n with [] => false | _ => layers_shaped [inputs] (layers n) end.

(** The number of outputs. *)
Definition outputs (n : net) : nat :=
  match rev (layers n) with [] => 0%nat | l :: _ => length (neurons l) end.
