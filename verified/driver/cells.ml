(* Memory that rules hold, by the table of FORMAT.md, section 3.6. *)
open Meter

(* The cells of so many numbers of some bits. *)
let cells_of count bits = count * (1 + (bits lsr 9))

let longest numbers = List.fold_left (fun bits x -> max bits (Z.numbits x)) 0 numbers

module Symbols = Set.Make (Z)

(* The symbols of an inequality as a form, also those that are cancelled. *)
let num_symbols (forms : Core.form list) row =
  let add found x form =
    if Z.equal x Z.zero then found
    else List.fold_left (fun found (symbol, _) -> Symbols.add symbol found) found form in
  Symbols.cardinal (List.fold_left2 add (Symbols.singleton Z.zero) row forms)

(* A domain, whose rows have the right lengths, and its inequalities as forms. *)
let of_domain inputs (place : Core.domain) =
  let fits (row, _) = List.length row = inputs in
  if List.for_all fits place.ineqs && List.for_all fits place.eqs then
    match paid (fun () -> Core.setup inputs place) with
    | None -> ()
    | Some (((dimension, scale), forms), slacks) ->
        let num_equations = List.length place.eqs in
        let substituted = num_equations * (Z.to_int dimension + 1) in
        let bits = longest (List.concat_map (fun (row, c) -> c :: row) place.eqs) in
        hold (cells_of (2 * (inputs + substituted)) (bits + Z.numbits scale));
        List.iter2 (fun (row, _) (slack, _) ->
          hold (cells_of (2 * num_symbols forms row) (longest (List.map snd slack))))
          place.ineqs slacks

(* The invariants of a network up to a layer. *)
let of_invariants inputs (network : Core.net) depth =
  let rec go number width = function
    | (layer : Core.layer) :: rest when number <= depth ->
        let own = List.length layer.neurons in
        hold (own * (width + 4));
        go (number + 1) own rest
    | _ -> () in
  go 1 inputs network.layers

let of_determinant size = hold (size * size)

(* The sums of a half of so many numbers. *)
let of_sums count = if count <= 40 then hold (4 lsl (count - (count / 2)))

(* The number of neurons of layer 1. *)
let first_width (network : Core.net) =
  match network.layers with layer :: _ -> List.length layer.neurons | [] -> 0

(* The facts that steps of theorem one-sided add; coefficients that are 0 are not counted. *)
let of_steps (pair : Core.pair) layer listed steps =
  let inputs = Z.of_int pair.inputs in
  let learn neurons count known step =
    match known, Core.add_step neurons count inputs known step with
    | Some (_, number), (Some (facts, _) as next) ->
        let form = Option.value (Core.nfind number facts) ~default:[] in
        hold ((4 + (longest (List.map snd form) / 512)) * List.length form);
        next
    | _ -> None in
  match Core.stack_of pair.inputs pair.one with
  | None -> ()
  | Some stack ->
      let below = List.filteri (fun k _ -> k < layer - 1) stack in
      let neurons, ((start, width), count) = Core.enter_layers Z.one inputs Z.zero below Core.E in
      match Core.source_of neurons start width count listed with
      | None -> ()
      | Some (_, on) ->
          let known = Some (Core.first_facts count on pair.place) in
          ignore (List.fold_left (learn neurons count) known steps)

(* ---- The joint network of a tree *)

let longest_of form = longest (List.map snd form)
let of_form count form = cells_of (count * List.length form) (longest_of form)
let total weight = List.fold_left (fun sum x -> sum + weight x) 0

(* The preactivations of a layer while blocks are added, coefficients that are cancelled included;
   [factor] times the forms are the sums of all blocks. *)
let of_sums_of_layer acts (layer : Core.layer) forms factor =
  let before = !cells and common = Core.common_of acts layer in
  let stamps = ref (Array.make 1_024 (-1)) in  (* the neuron that had a symbol last *)
  let sources =
    match layer.neurons with
    | (_, blocks) :: _ -> List.map (fun (source, _) -> fst (List.nth acts source)) blocks
    | [] -> [] in
  let of_neuron number (bias, blocks) form =
    let count = ref 0 in
    let add symbol =
      if symbol >= Array.length !stamps then
        stamps := Array.append !stamps (Array.make (symbol + 1) (-1));
      if !stamps.(symbol) <> number then begin
        !stamps.(symbol) <- number;
        incr count
      end in
    add 0;
    let rec go sum = function
      | [] -> ()
      | (((_, row) as block), forms) :: rest ->
          List.iter2 (fun x form ->
            if Z.sign x <> 0 then List.iter (fun (symbol, _) -> add (Z.to_int symbol)) form)
            row forms;
          let sum =
            if rest = [] then List.map (fun (symbol, x) -> (symbol, Z.mul factor x)) form
            else Option.value (Core.fsum common acts [ block ] sum) ~default:[] in
          hold (cells_of (3 * !count) (longest_of sum));
          go sum rest in
    go [ (Z.zero, Z.mul bias common) ] (List.combine blocks sources) in
  List.iteri (fun i (neuron, form) -> of_neuron i neuron form) (List.combine layer.neurons forms);
  release (!cells - before)

(* New atoms: those of a table of which the other one is the end. *)
let of_new_atoms (before : Core.st) (after : Core.st) =
  let rec go count = function
    | (_, form) :: rest when count > 0 ->
        hold ((8 * List.length form) + 8);
        go (count - 1) rest
    | _ -> () in
  go (Z.to_int (Z.sub after.next before.next)) after.tab

(* The layers of a network over the atoms so far; all atoms. *)
let of_layers dimension own (network : Core.net) start acts =
  let rec go number table acts = function
    | [] -> table
    | (layer : Core.layer) :: rest ->
        match Core.preforms acts layer with
        | None -> table
        | Some (forms, denominator) ->
            let whole = Z.mul (Core.common_of acts layer) layer.den in
            of_sums_of_layer acts layer forms (Z.divexact whole denominator);
            if rest = [] && not network.relu_last then (hold (total (of_form 3) forms); table)
            else
              let signs = List.map (Core.wsign acts) layer.neurons in
              let place = own (Z.of_int number) in
              match Core.relus dimension place Z.zero table (List.combine signs forms) with
              | None -> table
              | Some (found, activations) ->
                  of_new_atoms table found;
                  hold (total (of_form 3) activations);
                  go (number + 1) found (acts @ [ (activations, denominator) ]) rest in
  go 1 start acts network.layers

let of_joint inputs place networks lifted =
  match Core.setup inputs place with
  | None -> ()
  | Some (((dimension, scale), forms), _) ->
      let first = Z.succ dimension in
      let start = { Core.next = first; tab = []; dict = Core.E; lifts = [] } in
      let add table (number, network) =
        let own = Core.position lifted Z.zero (Z.of_int number) in
        of_layers dimension own network table [ (forms, scale) ] in
      ignore (List.fold_left add start (List.mapi (fun i network -> (i, network)) networks))

(* ---- Nodes. Forms are taken as they are at the root: what is known changes them. *)

type frame = { of_node : int; of_cut : int; mutable children : int }

type path = {
  num_coordinates : int;
  form_of : Z.t -> Core.form;
  mutable trees : Z.t list list;     (* the atoms of this tree and of later ones *)
  mutable frames : frame list;
  mutable of_tree : int;
  mutable is_begun : bool }

let path_of (context : Core.context) trees = {
  num_coordinates = Z.to_int context.cfirst - 1;
  form_of = (fun symbol -> Option.value (Core.nfind symbol context.catoms) ~default:[]);
  trees; frames = []; of_tree = 0; is_begun = false }

let begin_tree path =
  let atoms = match path.trees with atoms :: _ -> atoms | [] -> [] in
  path.of_tree <- total (fun symbol -> of_form 4 (path.form_of symbol)) atoms;
  path.is_begun <- true;
  hold path.of_tree

(* A node is done, and perhaps the one above it. *)
let rec close path =
  match path.frames with
  | frame :: above ->
      frame.children <- frame.children - 1;
      if frame.children = 0 then begin
        release (frame.of_node + frame.of_cut);
        path.frames <- above;
        close path
      end
  | [] ->
      release path.of_tree;
      path.is_begun <- false;
      path.trees <- (match path.trees with _ :: rest -> rest | [] -> [])

(* A bound is one entry that changes, the sign of a form two more. *)
let of_sign (sign : Core.sign) = if Z.sign sign.bound.qnum >= 0 then 24 else 8

(* Multipliers are solved for, with all coordinates. *)
let solve path (sign : Core.sign) =
  match sign.mults with
  | Listed _ -> ()
  | Solved rows ->
      let taken = path.num_coordinates * (List.length rows + 1) in
      hold taken;
      release taken

let visit path rounds split =
  if not path.is_begun then begin_tree path;
  List.iter (List.iter (solve path)) rounds;
  let of_node = total (total of_sign) rounds in
  hold of_node;
  match split with
  | Some symbol ->
      let of_cut = of_form 2 (path.form_of symbol) + 16 in
      hold of_cut;
      path.frames <- { of_node; of_cut; children = 2 } :: path.frames
  | None ->
      release of_node;
      close path
