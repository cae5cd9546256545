(* Certificates of the claim not-identifiable (FORMAT.md, section 3.3). What is accepted is decided
   by Core.check_competitor; this file reads the evidence. *)
open Meter

let kind = "not-identifiable"

(* What has to be read besides the semantics of networks and domains. *)
let theories among =
  ", Related.v, Competitors.v"
  ^ (if among = "generic" then ", the definitions of Generic.v" else "")
  ^ " and the statement of competitor_holds in Refutations.v"

let is_claim document =
  match document with
  | Json.Object entries -> List.assoc_opt "kind" entries = Some (Json.Text kind)
  | _ -> false

(* ---- The claim *)

let classes = [ "generic"; "transversal"; "regular"; "all" ]

let claim_of document =
  let entry = Json.fields [ "kind"; "network"; "other"; "domain"; "among" ] document in
  let among = Json.text (entry "among") in
  well_formed (List.mem among classes) "not a class of parameters";
  let domain =
    match entry "domain" with
    | Json.Text "R^n" -> Documents.whole_space
    | found -> Documents.domain found in
  ((Documents.reference (entry "network"), Documents.reference (entry "other"), domain), among)

(* ---- The evidence *)

let index entry key = Json.index (entry key)
let no_entries document = let (_ : string -> Json.t) = Json.fields [] document in ()
let indices document = List.map Json.index (Json.list document)

let number document = Z.of_int (Json.index document)

let multiples document =
  List.map (function
    | Json.List [ fact; Json.Text factor ] -> (number fact, Numbers.natural factor)
    | _ -> unreadable "expected a fact and a natural number") (Json.list document)

let step_of : Json.t -> Core.derived = function
  | Json.List [ neuron; Json.Text factor; above; gap ] ->
      { of_neuron = number neuron; factor = Numbers.natural factor; above_by = multiples above;
        gap_by = multiples gap }
  | _ -> unreadable "expected a step"

let sign_of : Json.t -> Core.neuron_sign = function
  | Json.List [ neuron; Json.Text (("+" | "-") as mark); Json.Text factor; facts ] ->
      { at_neuron = number neuron; is_on = mark = "+"; times_by = Numbers.natural factor;
        because = multiples facts }
  | _ -> unreadable "expected a sign"

let case_sign : Json.t -> Core.case_sign = function
  | Json.List [ neuron; Json.Text (("+" | "-") as mark) ] -> (number neuron, mark = "+")
  | _ -> unreadable "expected a sign"

let case_record : Json.t -> Core.case_record = function
  | Json.List [ Json.Text factor; facts; listed ] ->
      { scaled_by = Numbers.natural factor; by_facts = multiples facts;
        with_rows = List.map number (Json.list listed) }
  | _ -> unreadable "expected a factor, multiples and neurons"

let case_node document : Core.case_node =
  if Json.has_key "split" document then
    Split_case (number (Json.fields [ "split" ] document "split"))
  else Close_case (List.map case_record (Json.list (Json.fields [ "leaf" ] document "leaf")))

(* The entries of a tree. Its nodes are read twice: for their shape, and once it is known which
   number the first atom has. *)
let tree_equal document =
  let entry = Json.fields [ "lifted"; "parts"; "nodes" ] document in
  let lifted = List.map Nodes.triple (Json.list (entry "lifted")) in
  let read_row row = List.map Nodes.symbol_and_factor (Json.list row) in
  let read_part part = List.map read_row (Json.list part) in
  let parts = List.map read_part (Json.list (entry "parts")) in
  let nodes = Json.list (entry "nodes") in
  List.iter (fun node -> ignore (Nodes.node_of Z.zero node)) nodes;
  fun (pair : Core.pair) ->
    paid (fun () -> Cells.of_joint pair.inputs pair.place [ pair.one; pair.two ] lifted);
    match Core.initial pair.inputs pair.one pair.two pair.place lifted parts with
    | None -> Core.Tree_equal (lifted, parts, List.map (Nodes.node_of Z.zero) nodes)
    | Some (context, items) ->
        let found = List.map (Nodes.node_of context.cfirst) nodes in
        let path = Cells.path_of context (List.map (fun (item : Core.item) -> item.used) items) in
        List.iter (Nodes.hold_cells path) found;
        Core.Tree_equal (lifted, parts, found)

(* The evidence of same-function by theorem, of which a tree needs the pair of networks. *)
let same_function theorem document =
  let fixed evidence = Some (fun _ -> evidence) in
  match theorem with
  | "translation" ->
      let entry = Json.fields [ "layer"; "neuron"; "shift" ] document in
      let shift = Json.text (entry "shift") in
      fixed (Core.Translation (index entry "layer", index entry "neuron", Numbers.rational shift))
  | "flip" ->
      let entry = Json.fields [ "layer"; "neuron"; "flipped" ] document in
      fixed (Core.Flip (index entry "layer", index entry "neuron", indices (entry "flipped")))
  | "one-sided" ->
      let entry = Json.fields [ "layer"; "source"; "steps"; "signs" ] document in
      fixed (Core.One_sided (index entry "layer", indices (entry "source"),
        List.map step_of (Json.list (entry "steps")),
        List.map sign_of (Json.list (entry "signs"))))
  | "one-sided-cases" ->
      let entry = Json.fields [ "layer"; "source"; "signs"; "nodes" ] document in
      fixed (Core.One_sided_cases (index entry "layer", indices (entry "source"),
        List.map case_sign (Json.list (entry "signs")),
        List.map case_node (Json.list (entry "nodes"))))
  | "replacement" | "bounded-replacement" ->
      let layer = index (Json.fields [ "layer" ] document) "layer" in
      fixed (if theorem = "replacement" then Core.Replacement layer
             else Core.Bounded_replacement layer)
  | "line-equal" ->
      no_entries document;
      fixed Core.Line_equal
  | "tree-equal" -> Some (tree_equal document)
  | _ -> None

(* The evidence of a hypothesis with its status. *)
let evidence id document =
  let entry = Json.fields [ "id"; "status"; "evidence" ] document in
  Json.literal id (entry "id");
  Json.literal "proved" (entry "status");
  entry "evidence"

(* The membership of the second network in the class of the claim. The other shapes of this evidence
   are well-formed, and not enough. *)
let membership_shapes = [
  [ ("status", "open") ]; [ ("status", "verified"); ("method", "every") ];
  [ ("status", "verified"); ("method", "minors"); ("prime", ""); ("columns", "") ];
  [ ("status", "refuted"); ("method", "bias"); ("row", "") ];
  [ ("status", "refuted"); ("method", "product"); ("rows", ""); ("column", "") ];
  [ ("status", "refuted"); ("method", "masks"); ("layer", ""); ("masks", "") ] ]

let primes = [ "2147483647"; "2305843009213693951" ]

(* The method, and what it says if it is enough for some class. *)
let membership document =
  let fits_entry entry (key, wanted) =
    match key with
    | "status" | "method" -> entry key = Json.Text wanted
    | "prime" -> List.mem (Json.text (entry key)) primes
    | "columns" | "rows" -> ignore (indices (entry key)); true
    | "masks" -> ignore (List.map indices (Json.list (entry key))); true
    | _ -> ignore (Json.index (entry key)); true in
  let fits shape =
    match Json.fields (List.map fst shape) document with
    | entry -> List.for_all (fits_entry entry) shape
    | exception Unreadable _ -> false in
  match List.find_opt fits membership_shapes with
  | None -> unreadable "expected evidence of membership"
  | Some shape -> (
      match List.assoc_opt "method" shape with
      | Some "every" -> Some ("all", Core.Every)
      | Some "minors" ->
          let entry = Json.fields (List.map fst shape) document in
          let prime = Z.of_string (Json.text (entry "prime")) in
          Some ("generic", Core.Minors (prime, indices (entry "columns")))
      | _ -> None)

let says second among = [
  ("architecture", "both networks have one architecture");
  ("same-function", "they compute the same real function on the domain");
  ("not-related", "they differ in an invariant of permutations and positive scalings");
  ("membership",
   Printf.sprintf "membership of network %s in the class %s: verified" second among) ]

(* ---- The check *)

exception Not_covered of string

type found = { pair : Core.pair; evidence : Core.evidence; layer : int;
               membership : Core.membership; among : string; hashes : string * string }

(* The certificate, with its networks; `pair_of` finds them. *)
let read claim theorem hypotheses pair_of =
  let networks, among = claim_of claim in
  match hypotheses with
  | [ first; second; third; fourth ] ->
      no_entries (evidence "architecture" first);
      let own = evidence "same-function" second in
      let layer = index (Json.fields [ "layer" ] (evidence "not-related" third)) "layer" in
      let known = membership (evidence "membership" fourth) in
      let evidence =
        match same_function theorem own with
        | Some found -> found
        | None -> raise (Not_covered theorem) in
      let (pair : Core.pair), one, two = pair_of networks in
      if theorem = "tree-equal" then begin
        (* The rule reads the domain once more. *)
        let _, _, domain = networks in
        ignore (Documents.read_domain domain);
        Cells.of_domain pair.inputs pair.place
      end;
      require (among = "all" || among = "generic") "claim: among another class";
      (match known with
       | Some (found, membership) when found = among ->
           { pair; evidence = evidence pair; layer; membership; among; hashes = (one, two) }
       | _ -> raise (Rejected ("membership: not evidence for the class " ^ among)))
  | _ -> unreadable "expected the hypotheses architecture, same-function, not-related, membership"

(* The sentence of an accepted certificate. *)
let check found get =
  (match found.evidence with
   | Core.One_sided (layer, source, steps, _) ->
       paid (fun () -> Cells.of_steps found.pair layer source steps)
   | _ -> ());
  Cells.of_invariants found.pair.inputs found.pair.one found.layer;
  Cells.of_invariants found.pair.inputs found.pair.two found.layer;
  (match found.membership with
   | Core.Minors _ -> Cells.of_determinant (Cells.first_width found.pair.two)
   | Core.Every -> ());
  get (Core.check_competitor found.pair found.evidence found.layer found.membership);
  let one, two = found.hashes in
  Core.refutation_sentence (String.sub one 0 12) (String.sub two 0 12) found.pair
    found.membership
