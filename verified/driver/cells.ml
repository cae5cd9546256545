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
