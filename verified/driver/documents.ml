(* Networks, domains and claims of FORMAT.md, sections 2, 3 and 3.8, read from JSON. *)
open Meter

type network = { core : Core.net; inputs : int; sha256 : string }

let most_network_bytes = 1 lsl 30

(* ---- Networks. Their limits are checked by Core.network_fits. *)

(* The canonical bytes of a layer: every number has one spelling, so that texts are hashed. *)
let hash_layer digest width denominator bias blocks =
  Sha256.feed digest (Printf.sprintf "layer %d %s\nbias %s\n" width denominator bias);
  List.iter (fun (source, rows) ->
    Sha256.feed digest (Printf.sprintf "from %d\n" source);
    List.iter (fun row ->
      units (4 * String.length row);
      Sha256.feed digest row;
      Sha256.feed digest "\n") rows) blocks

(* The divisor of a layer is paid for row by row, until it is 1. *)
let pay_for_divisor denominator rows =
  let longest = Array.fold_left (fun bits x -> max bits (Z.numbits x)) 0 in
  let add divisor row =
    if Z.equal divisor Z.one then divisor
    else begin
      let bits = longest row in
      let other = min bits (Z.numbits divisor) in
      units (Array.length row * (100 + ((bits + other) lsr 4) + ((bits * other) lsr 10)));
      Array.fold_left Z.gcd divisor row
    end in
  ignore (List.fold_left add denominator rows)

(* [number] is the number of layers before. *)
let read_layer digest number document : Core.layer =
  let entry = Json.fields [ "denominator"; "bias"; "weights" ] document in
  let denominator = Json.text (entry "denominator") and bias = Json.text (entry "bias") in
  let read_block block =
    let part = Json.fields [ "from"; "rows" ] block in
    (Json.index (part "from"), List.map Json.text (Json.list (part "rows"))) in
  let blocks = List.map read_block (Json.list (entry "weights")) in
  let num_blocks = List.length blocks in
  units (20 * num_blocks * (num_blocks + number));  (* each source is looked for in lists *)
  let biases = Array.of_list (Numbers.row bias) in
  let width = Array.length biases in
  List.iter (fun (_, rows) ->
    well_formed (List.length rows = width) "a block with another number of rows") blocks;
  hash_layer digest width denominator bias blocks;
  let rows = List.map (fun (source, rows) ->
    (source, Array.of_list (List.map Numbers.row rows))) blocks in
  let den = Numbers.natural denominator in
  let all_rows = List.concat_map (fun (_, rows) -> Array.to_list rows) rows in
  pay_for_divisor den (biases :: List.map Array.of_list all_rows);
  { den;
    neurons = List.init width (fun i ->
      (biases.(i), List.map (fun (source, of_block) -> (source, of_block.(i))) rows)) }

let read_network document =
  let entry = Json.fields [ "format"; "version"; "inputs"; "layers"; "last" ] document in
  Json.literal "polyrelu-network" (entry "format");
  Json.version (entry "version");
  let last = Json.text (entry "last") and inputs = Json.index (entry "inputs") in
  well_formed (last = "affine" || last = "relu") "expected affine or relu";
  let digest = Sha256.create () in
  Sha256.feed digest (Printf.sprintf "polyrelu-network 1\ninputs %d\n" inputs);
  let layers = List.mapi (read_layer digest) (Json.list (entry "layers")) in
  Sha256.feed digest (Printf.sprintf "last %s\n" last);
  let core = { Core.layers; relu_last = last = "relu" } in
  well_formed (paid (fun () -> Core.network_fits inputs core)) "a network that is not as in section 2 of FORMAT.md";
  { core; inputs; sha256 = Sha256.hex digest }

let read_network_file path =
  allow (min (Source.size_of path) (most_network_bytes + 1));
  let source = Source.open_file path in
  Fun.protect ~finally:(fun () -> Source.close source) (fun () ->
    read_network (Json.parse (Source.read_all ~is_network:true source most_network_bytes)))

(* ---- References to networks *)

let is_hash found =
  String.length found = 64 && Numbers.all_from 0 Numbers.is_hex_digit found

let is_name found =
  let good = function 'A' .. 'Z' | 'a' .. 'z' | '0' .. '9' | '.' | '_' | '-' -> true | _ -> false in
  found <> "" && String.length found <= 200 && found.[0] <> '.' && Numbers.all_from 0 good found

(* The shape of a reference: its hash, and a network in place or the name of a file. *)
type place = Inline of Json.t | File of string

let reference document =
  let is_inline = Json.has_key "inline" document in
  let entry = Json.fields [ "sha256"; (if is_inline then "inline" else "file") ] document in
  let sha256 = Json.text (entry "sha256") in
  well_formed (is_hash sha256) "not a hash";
  if is_inline then (sha256, Inline (entry "inline"))
  else begin
    let name = Json.text (entry "file") in
    well_formed (is_name name) "not the name of a file";
    (sha256, File name)
  end

(* The network of a reference: in place, in the folder of the certificate, or among `given` files.
   Its hash is recomputed, and decides. *)
let resolve folder given (sha256, place) =
  match place with
  | Inline document ->
      let found = read_network document in
      require (found.sha256 = sha256) "the hash of a network is another one";
      found
  | File name ->
      let beside = Filename.concat folder name in
      let is_beside = Source.exists beside in
      let rec search = function
        | [] ->
            require (not is_beside) "the hash of a network is another one";
            unreadable (Printf.sprintf "the file %s is missing, and no given one has its hash" name)
        | path :: rest ->
            let found = read_network_file path in
            if found.sha256 = sha256 then found else search rest in
      search ((if is_beside then [ beside ] else []) @ given)

(* ---- Domains and pairs *)

(* R^n may be called so, or be a domain without rows. *)
type rows = { inequalities : string list; equations : string list; is_whole_space : bool }

let whole_space = { inequalities = []; equations = []; is_whole_space = true }

(* The texts of a domain's rows. *)
let domain document =
  let entry = Json.fields [ "inequalities"; "equations" ] document in
  let rows key =
    let found = List.map Json.text (Json.list (entry key)) in
    List.iter Numbers.check_spelled_row found;
    found in
  let inequalities = rows "inequalities" in
  { inequalities; equations = rows "equations"; is_whole_space = false }

let read_domain { inequalities; equations; _ } : Core.domain =
  let read_row text =
    match List.rev (Numbers.row text) with
    | constant :: coefficients -> (List.rev coefficients, constant)
    | [] -> unreadable "an empty row" in
  let ineqs = List.map read_row inequalities in
  { ineqs; eqs = List.map read_row equations }

let most_notes = 32

let check_notes = function
  | Json.Object notes ->
      well_formed (List.length notes <= most_notes) "more than 32 notes in unverified";
      List.iter (fun (_, note) -> ignore (Json.text note)) notes
  | _ -> unreadable "unverified must be an object of strings"

(* The texts of a list of rational numbers. *)
let rationals document =
  let found = List.map Json.text (Json.list document) in
  List.iter Numbers.check_spelled_rational found;
  found

(* The kinds of claims of the format that this checker knows nothing about. *)
let other_kinds = [
  "identifiable"; "not-identifiable"; "determined"; "runtime-error"; "injective"; "not-injective";
  "inverse-lipschitz"; "teaching-set"; "size"; "functional-dimension"; "complex";
  "deviation"; "range"; "holds"; "lipschitz"; "same-decisions" ]
