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

let rounds_of first signs =
  List.map (fun round ->
    well_formed (round <> Json.List []) "a round without signs";
    List.map (sign_of first) (Json.list round)) (Json.list signs)

(* A node: its rounds of signs, and the atom of its split, or what its leaf says. *)
let node_with first leaf document ~split ~closed =
  if Json.has_key "split" document then begin
    let entry = Json.fields [ "signs"; "split" ] document in
    let atom = Z.add first (Z.of_int (Json.index (entry "split"))) in
    (rounds_of first (entry "signs"), split atom)
  end else begin
    let entry = Json.fields [ "signs"; leaf ] document in
    let ending = closed (entry leaf) in
    (rounds_of first (entry "signs"), ending)
  end

let node_of first document : Core.record =
  node_with first "leaf" document ~split:(fun atom -> Core.Split atom)
    ~closed:(fun leaf -> Json.literal "equal" leaf; Core.Leaf)

let hold_cells path ((rounds, ending) : Core.record) =
  Cells.visit path rounds (match ending with Core.Split symbol -> Some symbol | Core.Leaf -> None)

(* A node of a list of regions. *)
let region_node_of first document =
  node_with first "region" document ~split:(fun atom -> Core.Split_at atom)
    ~closed:(fun point -> Core.Region_at (List.map Numbers.rational (Documents.rationals point)))

let triple = function
  | Json.List [ Index network; Index layer; Index neuron ] ->
      (Z.of_int network, (Z.of_int layer, Z.of_int neuron))
  | _ -> unreadable "expected a neuron"
