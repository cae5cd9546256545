(* Certificates of the claim identifiable, theorem shallow (FORMAT.md, section 3.3). What is
   accepted is decided by Core.check_shallow; this file reads the evidence. *)
open Meter

exception Not_covered of string

(* What has to be read besides the semantics of networks and domains. *)
let theories =
  ", Related.v, Competitors.v, RealParameters.v, sum in Generic.v and the statement of \
   shallow_holds in Identifiable.v"

let is_claim document =
  match document with
  | Json.Object entries -> List.assoc_opt "kind" entries = Some (Json.Text "identifiable")
  | _ -> false

(* ---- The claim *)

type claim = { reference : string * Documents.place; domain : Documents.rows; among : string }

let claim_of document =
  let entry = Json.fields [ "kind"; "network"; "domain"; "among" ] document in
  let among = Json.text (entry "among") in
  if among = "sparse" then raise (Not_covered "the class sparse");
  well_formed (List.mem among Refutation.classes) "not a class of parameters";
  let domain =
    match entry "domain" with
    | Json.Text "R^n" -> Documents.whole_space
    | found -> Documents.domain found in
  { reference = Documents.reference (entry "network"); domain; among }

(* ---- The evidence *)

let points_of document =
  let entry = Json.fields [ "points" ] document in
  List.map (fun point -> List.map Numbers.rational (Documents.rationals point))
    (Json.list (entry "points"))

let entry_of = function
  | Json.List [ output; input ] -> (Json.index output, Json.index input)
  | _ -> unreadable "expected an output and an input"

(* Nothing for the method assignments, which needs no help. *)
let unique_of document : Core.sums_evidence option =
  let has = Json.has_key in
  if has "prime" document then begin
    let entry = Json.fields [ "method"; "prime"; "entries" ] document in
    Json.literal "independent" (entry "method");
    let prime = Json.text (entry "prime") in
    well_formed (List.mem prime Refutation.primes) "not one of the primes";
    Some (Core.Independent (Z.of_string prime, List.map entry_of (Json.list (entry "entries"))))
  end
  else if has "multiplier" document then begin
    let entry = Json.fields [ "method"; "multiplier" ] document in
    Json.literal "subset-sums" (entry "method");
    Some (Core.Subset_sums (Numbers.natural (Json.text (entry "multiplier"))))
  end
  else begin
    let entry = Json.fields [ "method" ] document in
    Json.literal "assignments" (entry "method");
    None
  end

let says is_whole_space =
  (if is_whole_space then []
   else [ ("inside",
           "the points are strictly inside the domain, and each neuron of layer 1 is 0 at its \
            point") ])
  @ [ ("visible",
       "rows, columns and doubled hyperplanes do not vanish, and no two rows are positive \
        multiples");
      ("unique", "no other orientations give this function") ]

(* ---- The check *)

type found = { claim : claim; points : Core.q list list option; unique : Core.sums_evidence option }

let read claim theorem hypotheses =
  let claim = claim_of claim in
  if theorem <> "shallow" then raise (Not_covered theorem);
  let inside, visible, unique =
    match hypotheses with
    | [ visible; unique ] -> (None, visible, unique)
    | [ inside; visible; unique ] -> (Some inside, visible, unique)
    | _ -> unreadable "expected the hypotheses inside, visible, unique" in
  let points = Option.map (fun found -> points_of (Refutation.evidence "inside" found)) inside in
  Refutation.no_entries (Refutation.evidence "visible" visible);
  let unique = unique_of (Refutation.evidence "unique" unique) in
  { claim; points; unique }

(* The sentence of an accepted certificate. *)
let check found (network : Documents.network) get =
  require (found.claim.among = "all") "claim: among another class";
  require (found.claim.domain.is_whole_space = (found.points = None))
    "inside: points are for domains other than R^n";
  let domain = Documents.read_domain found.claim.domain in
  if not found.claim.domain.is_whole_space then Cells.of_domain network.inputs domain;
  let count = Cells.first_width network.core in
  (match found.unique with
   | Some (Core.Independent _) -> Cells.of_determinant count
   | Some (Core.Subset_sums _) -> Cells.of_sums count
   | None -> ());
  get (Core.check_shallow network.inputs network.core domain found.points found.unique);
  Core.identifiable_sentence (String.sub network.sha256 0 12) network.inputs network.core domain
