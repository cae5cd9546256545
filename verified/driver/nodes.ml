(* Entries of split trees (section 5 of FORMAT.md), read from JSON: of tree files, and of theorem
   tree-equal. *)
open Meter

let check_symbol_and_factor = function
  | Json.List [ Index _; Text factor ] -> Numbers.check_spelled_rational factor
  | _ -> unreadable "expected an index and a rational number"

let symbol_and_factor = function
  | Json.List [ Index symbol; Text factor ] -> (Z.of_int symbol, Numbers.rational factor)
  | _ -> unreadable "expected an index and a rational number"

let sign_of first document : Core.sign =
  match document with
  | Json.List [ Index k; Text (("+" | "-") as mark); Text value; List rows; List slopes ] ->
      let atom i = Z.add first i in
      let mults : Core.multiples =
        match rows with
        | Index _ :: _ -> Solved (List.map (fun row -> Z.of_int (Json.index row)) rows)
        | _ -> Listed (List.map symbol_and_factor rows) in
      let slopes = List.map (fun entry ->
        let k, slope = symbol_and_factor entry in (atom k, slope)) slopes in
      { atom = atom (Z.of_int k); mark = mark = "+"; bound = Numbers.rational value; mults; slopes }
  | _ -> unreadable "expected a sign"

let node_of first document : Core.record =
  let rounds signs = List.map (fun round ->
    well_formed (round <> Json.List []) "a round without signs";
    List.map (sign_of first) (Json.list round)) (Json.list signs) in
  if Json.has_key "split" document then begin
    let entry = Json.fields [ "signs"; "split" ] document in
    let atom = Z.add first (Z.of_int (Json.index (entry "split"))) in
    (rounds (entry "signs"), Core.Split atom)
  end else begin
    let entry = Json.fields [ "signs"; "leaf" ] document in
    Json.literal "equal" (entry "leaf");
    (rounds (entry "signs"), Core.Leaf)
  end

let triple = function
  | Json.List [ Index network; Index layer; Index neuron ] ->
      (Z.of_int network, (Z.of_int layer, Z.of_int neuron))
  | _ -> unreadable "expected a neuron"
