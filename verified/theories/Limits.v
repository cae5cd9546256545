(** Limits of files (FORMAT.md, sections 1, 2, 3.8 and 5.2). They bound work; no theorem needs
    them. *)
Require Import ZArith NArith QArith List Bool.
From PolyreluVerified Require Import Networks.
Import ListNotations.

Definition size {A} (l : list A) : N := fold_left (fun n _ => N.succ n) l 0%N.

Definition max_layers : N := 10000.
Definition max_width : N := 1000000.
Definition max_numbers : N := 30000000.  (* weights and biases of a network *)
Definition max_bits : Z := 16384.        (* of a number *)
Definition max_grown_bits : Z := 65536.  (* of a common multiple *)
Definition max_depth : N := 4096.        (* splits one below the other *)

(** The number has at most so many bits. *)
Definition short (bits z : Z) : bool := (Z.log2 (Z.abs z) <? bits)%Z.

Definition num_numbers (l : layer) : N :=
  let add_neuron n (u : neuron) := fold_left (fun n p => n + size (snd p))%N (snd u) (N.succ n) in
  fold_left add_neuron (neurons l) 0%N.

(** The greatest common divisor of a number and a row. *)
Fixpoint divisor (g : Z) (row : list Z) : Z :=
  if (g =? 1)%Z then 1%Z else match row with [] => g | c :: row' => divisor (Z.gcd g c) row' end.

Definition divisor_of_neuron (g : Z) (u : neuron) : Z :=
  fold_left (fun g p => divisor g (snd p)) (snd u) (divisor g [fst u]).

Definition divisor_of_layer (l : layer) : Z := fold_left divisor_of_neuron (neurons l) (den l).

(** Some row of the block from layer [k] is not 0. *)
Definition block_used (l : layer) (k : nat) : bool :=
  existsb (fun u : neuron =>
    existsb (fun p => Nat.eqb (fst p) k && existsb (fun c => negb (c =? 0)%Z) (snd p)) (snd u))
    (neurons l).

Definition short_layer (l : layer) : bool :=
  short max_bits (den l) &&
  forallb (fun u : neuron => short max_bits (fst u) &&
                             forallb (fun p => forallb (short max_bits) (snd p)) (snd u))
    (neurons l).

Definition layer_fits (l : layer) : bool :=
  (size (neurons l) <=? max_width)%N && short_layer l && (divisor_of_layer l =? 1)%Z &&
  forallb (block_used l) (removelast (sources_of l)).

(** The network keeps to section 2: shapes, sizes, no common divisor, no blocks of zeros. *)
Definition network_fits (inputs : nat) (n : net) : bool :=
  well_shaped inputs n &&
  (N.of_nat inputs <=? max_width)%N &&
  (size (layers n) <=? max_layers)%N &&
  (fold_left (fun m l => m + num_numbers l)%N (layers n) 0%N <=? max_numbers)%N &&
  forallb layer_fits (layers n).

(** The least common multiple has few bits; it is not computed further than the limit. *)
Fixpoint multiple_fits (m : Z) (l : list Z) : bool :=
  short max_grown_bits m &&
  match l with [] => true | z :: l' => multiple_fits (if (z =? m)%Z then m else Z.lcm m z) l' end.

Definition point_fits (x : list Q) : bool :=
  multiple_fits 1 (List.map (fun q => Zpos (Qden q)) x).
