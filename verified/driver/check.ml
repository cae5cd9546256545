(* The check of one file: a tree file (section 5 of FORMAT.md, claim equivalent) or a certificate of
   theorem point (3.8, claim not-equivalent). What is accepted is decided by Core. *)
open Meter

(* A claim that the rules proved in Coq do not cover. *)
exception Not_covered of string

type accepted = {
  statement : string;
  theorem : string;
  hypotheses : (string * string) list;
  networks : string list;
  theories : string;  (* what has to be read besides the semantics *)
  is_packed : bool;
}

let tree_start = "{\"format\": \"polyrelu-tree\", "
let most_certificate_bytes = 256 lsl 20
let most_line_bytes = 64 lsl 20
let most_tree_bytes = 1 lsl 36

let of_pairs = " and the statements of Checker.v"

(* The step that is under way, for messages. *)
let step = ref "reading"

(* What Core says, before a colon, is the step. *)
let at_its_step got =
  match String.index_opt got ':' with
  | Some i when i + 2 <= String.length got ->
      step := String.sub got 0 i;
      String.sub got (i + 2) (String.length got - i - 2)
  | _ -> got

let get = function
  | Core.Good found -> found
  | Core.Rejected got -> raise (Rejected (at_its_step got))
  | Core.Unreadable got -> unreadable (at_its_step got)

let digits sha256 = String.sub sha256 0 12

(* ---- Claims *)

let claim_of kind document =
  (match document with
   | Json.Object entries -> (
       match List.assoc_opt "kind" entries with
       | Some (Json.Text found) when found <> kind && List.mem found Documents.other_kinds ->
           raise (Not_covered found)
       | _ -> ())
   | _ -> ());
  let entry = Json.fields [ "kind"; "network"; "other"; "domain" ] document in
  Json.literal kind (entry "kind");
  (Documents.reference (entry "network"), Documents.reference (entry "other"),
   Documents.domain (entry "domain"))

(* The pair of networks of a claim, with hashes. *)
let pair_of folder given (network, other, domain) =
  step := "network";
  let one = Documents.resolve folder given network in
  step := "other";
  let two = Documents.resolve folder given other in
  step := "claim";
  require (one.inputs = two.inputs) "different numbers of inputs";
  let place = Documents.read_domain domain in
  if not domain.is_whole_space then Cells.of_domain one.inputs place;
  ({ Core.inputs = one.inputs; one = one.core; two = two.core; place }, one.sha256, two.sha256)

(* ---- Tree files *)

type lines = { source : Source.t; digest : Sha256.t; mutable number : int; mutable before : string;
               mutable size : int; mutable held : int  (* cells of the line *) }

let next_text lines =
  lines.number <- lines.number + 1;
  step := Printf.sprintf "line %d" lines.number;
  let line = Source.read_line lines.source most_line_bytes in
  lines.size <- lines.size + String.length line + 1;
  well_formed (lines.size <= most_tree_bytes) "the file is too long";
  units ((8 * (String.length line + 1)) + 2_000);
  lines.before <- Sha256.hex lines.digest;
  Sha256.feed lines.digest line;
  Sha256.feed lines.digest "\n";
  line

(* A line as a value; the memory of the line before is given back. *)
let next_line lines =
  release lines.held;
  lines.held <- 0;
  let line = next_text lines and before = !cells in
  let found = Json.parse line in
  lines.held <- !cells - before;
  found

let check_footer lines document nodes =
  let entry = Json.fields [ "nodes"; "sha256" ] document in
  let count = Json.index (entry "nodes") and sha256 = Json.text (entry "sha256") in
  well_formed (Documents.is_hash sha256) "not a hash";
  require (sha256 = lines.before) "the hash of the lines is another one";
  require (count = nodes) "another number of nodes";
  well_formed (not (Source.fill lines.source)) "must be the last line"

(* The nodes of one network twice are not looked at. *)
let skip_nodes lines =
  let is_footer line = String.length line >= 9 && String.sub line 0 9 = "{\"nodes\":" in
  let rec go nodes =
    let line = next_text lines in
    if not (is_footer line) then go (nodes + 1)
    else (check_footer lines (Json.parse line) nodes; nodes) in
  go 0

(* The atoms of the next node, and their terms, are counted once for each tree. *)
let size_of_tree = ref ([], 0, 0)

let pay_for (context : Core.context) (items : Core.item list) (rounds, _) =
  match items with
  | [] -> ()
  | item :: _ ->
      let used, _, _ = !size_of_tree in
      if used != item.used then begin
        let terms_of symbol =
          match Core.nfind symbol context.catoms with Some form -> List.length form | None -> 0 in
        let terms = List.fold_left (fun sum symbol -> sum + terms_of symbol) 0 item.used in
        size_of_tree := (item.used, List.length item.used, terms)
      end;
      let _, atoms, terms = !size_of_tree in
      let coordinates = Z.to_int context.cfirst in
      Meter.visit atoms terms coordinates;
      List.iter (fun signs ->
        Meter.visit atoms terms coordinates;
        List.iter (fun _ -> Meter.sign ()) signs) rounds

let check_nodes lines start =
  let first, path =
    match start with
    | Core.Nodes (context, _, items) ->
        let used (item : Core.item) = item.used in
        (context.cfirst, Some (Cells.path_of context (List.map used items)))
    | Core.Same -> (Z.zero, None) in
  let rec go state nodes =
    if Core.finished state then nodes
    else begin
      let record = Nodes.node_of first (next_line lines) in
      (match state with
       | Core.Nodes (context, _, items) -> pay_for context items record
       | Core.Same -> ());
      Option.iter (fun path -> Nodes.hold_cells path record) path;
      go (get (Core.next_node state record)) (nodes + 1)
    end in
  let nodes = go start 0 in
  check_footer lines (next_line lines) nodes;
  nodes

let check_pair_tree lines folder given header =
  let keys = [ "format"; "version"; "claim"; "lifted"; "parts"; "point"; "unverified" ] in
  let entry = Json.fields keys header in
  Json.literal "polyrelu-tree" (entry "format");
  Json.version (entry "version");
  let claim = claim_of "equivalent" (entry "claim") in
  let lifted = List.map Nodes.triple (Json.list (entry "lifted")) in
  let rows_of part = List.map Json.list (Json.list part) in
  let part_rows = List.map rows_of (Json.list (entry "parts")) in
  List.iter (List.iter (List.iter Nodes.check_symbol_and_factor)) part_rows;
  let point = Documents.rationals (entry "point") in
  Documents.check_notes (entry "unverified");
  let pair, one, two = pair_of folder given claim in
  let parts = List.map (List.map (List.map Nodes.symbol_and_factor)) part_rows in
  let point = List.map Numbers.rational point in
  if one <> two then
    paid (fun () -> Cells.of_joint pair.inputs pair.place [ pair.one; pair.two ] lifted);
  let start = get (Core.start_tree pair point lifted parts) in
  let nodes = match start with Core.Same -> skip_nodes lines | _ -> check_nodes lines start in
  let claim = Core.Equivalent pair in
  let sentence = Core.sentence (digits one) (digits two) claim in
  { statement = sentence ^ " " ^ Core.tree_words (Z.of_int nodes);
    theorem = "tree";
    hypotheses = [
      ("point", "the point belongs to the domain");
      ("tree", "both networks have equal expressions on every leaf of the tree, and its leaves \
                cover the domain") ];
    networks = [ one; two ];
    theories = of_pairs;
    is_packed = lines.source.is_packed }

(* ---- Lists of regions *)

let region_theories = ", RegionLists.v and the statement of regions_hold in Regions.v"

(* A leaf is paid for once more, with the forms of all neurons. *)
let pay_for_region =
  let num_terms = List.fold_left (fun sum form -> sum + List.length form) 0 in
  fun (context : Core.region_context) ->
    let atoms = List.length context.all_atoms and neurons = List.length context.hidden in
    let form_of symbol = Option.value (Core.nfind symbol context.shared.catoms) ~default:[] in
    let terms = num_terms (List.map form_of context.all_atoms) in
    let of_neurons = num_terms (List.concat_map (fun (z, a) -> [ z; a ]) context.hidden) in
    let coordinates = Z.to_int context.shared.cfirst in
    fun (rounds, ending) ->
      Meter.visit atoms terms coordinates;
      List.iter (fun signs ->
        Meter.visit atoms terms coordinates;
        List.iter (fun _ -> Meter.sign ()) signs) rounds;
      match ending with
      | Core.Split_at _ -> ()
      | Core.Region_at _ -> Meter.visit neurons of_neurons coordinates

let check_region_nodes lines placed (start : Core.region_progress) =
  let first = start.region_state.shared.cfirst and pay = pay_for_region start.region_state in
  let path = Cells.path_of start.region_state.shared [ start.region_state.all_atoms ] in
  let rec go state nodes =
    if Core.regions_finished state then (state, nodes)
    else begin
      let rounds, ending = Nodes.region_node_of first (next_line lines) in
      pay (rounds, ending);
      Cells.visit path rounds (match ending with Split_at symbol -> Some symbol | _ -> None);
      go (get (Core.next_region_node placed state rounds ending)) (nodes + 1)
    end in
  go start 0

(* Lists of vertices: corners.ml. *)
let vertex_theories = ", RegionLists.v and the statement of vertices_hold in VertexRegions.v"

let check_vertices lines (placed : Core.placed) num_vertices =
  let start = get (Core.start_vertices placed) in
  let place = Corners.place_of placed start in
  let rec go state number =
    if number = num_vertices then state
    else
      let line = Corners.read (next_line lines) in
      go (get (Core.next_vertex placed state (Corners.vertex place line))) (number + 1) in
  go start 0

let check_regions lines folder given header =
  let by_vertices = Json.has_key "vertices" header in
  let keys = [ "format"; "version"; "claim"; "unverified" ] in
  let entry = Json.fields (if by_vertices then "vertices" :: keys else keys) header in
  Json.literal "polyrelu-tree" (entry "format");
  Json.version (entry "version");
  let claim = Json.fields [ "kind"; "network"; "domain"; "count" ] (entry "claim") in
  Json.literal "regions" (claim "kind");
  let reference = Documents.reference (claim "network") in
  let domain = Documents.domain (claim "domain") and count = Json.index (claim "count") in
  Documents.check_notes (entry "unverified");
  step := "network";
  let found = Documents.resolve folder given reference in
  step := "claim";
  let area = Documents.read_domain domain in
  Cells.of_domain found.inputs area;
  let placed = { Core.num_inputs = found.inputs; network = found.core; area } in
  if by_vertices then begin
    let num_vertices = Json.index (entry "vertices") in
    get (Core.check_vertex_count (check_vertices lines placed num_vertices) count);
    check_footer lines (next_line lines) num_vertices;
    { statement =
        Core.vertices_sentence (digits found.sha256) placed count ^ " "
        ^ Core.vertices_words (Z.of_int num_vertices);
      theorem = "vertices";
      hypotheses = [
        ("vertices", "every listed point is a vertex, and the cells around it are known");
        ("edges", "every edge at a vertex ends at another one of the list, or is a ray") ];
      networks = [ found.sha256 ];
      theories = vertex_theories;
      is_packed = lines.source.is_packed }
  end else begin
    paid (fun () -> Cells.of_joint found.inputs area [ found.core ] []);
    let state, nodes = check_region_nodes lines placed (get (Core.start_regions placed)) in
    get (Core.check_count state count);
    check_footer lines (next_line lines) nodes;
    { statement =
        Core.regions_sentence (digits found.sha256) placed count ^ " "
        ^ Core.tree_words (Z.of_int nodes);
      theorem = "regions";
      hypotheses = [
        ("cover", "no neuron changes its sign inside a leaf of the tree, and the leaves cover the \
                   domain");
        ("inside", "every leaf has a point strictly inside") ];
      networks = [ found.sha256 ];
      theories = region_theories;
      is_packed = lines.source.is_packed }
  end

(* ---- Tree files of each claim *)

let kind_of header =
  match header with
  | Json.Object entries ->
      (match List.assoc_opt "claim" entries with
       | Some (Json.Object claim) ->
           (match List.assoc_opt "kind" claim with Some (Json.Text kind) -> kind | _ -> "")
       | _ -> "")
  | _ -> ""

let check_tree source folder given =
  let lines = { source; digest = Sha256.create (); number = 0; before = ""; size = 0; held = 0 } in
  let header = next_line lines in
  lines.held <- 0;  (* the header stays *)
  match kind_of header with
  | "regions" -> check_regions lines folder given header
  | kind when List.mem kind Documents.other_kinds -> raise (Not_covered kind)
  | _ -> check_pair_tree lines folder given header

(* ---- Certificates of theorem point *)

let evidence id keys document =
  let entry = Json.fields [ "id"; "status"; "evidence" ] document in
  Json.literal id (entry "id");
  Json.literal "proved" (entry "status");
  let found = Json.fields keys (entry "evidence") in
  fun key -> Documents.rationals (found key)

(* Certificates of the claim not-identifiable: refutation.ml. *)
let check_refutation (source : Source.t) folder given claim theorem hypotheses =
  match Refutation.read claim theorem hypotheses (pair_of folder given) with
  | exception Refutation.Not_covered what -> raise (Not_covered what)
  | found ->
      step := "certificate.proof";
      let one, two = found.hashes in
      { statement = Refutation.check found get; theorem;
        hypotheses = Refutation.says (digits two) found.among;
        networks = [ one; two ];
        theories = Refutation.theories found.among;
        is_packed = source.is_packed }

(* Certificates of the claim identifiable: identifiable.ml. *)
let check_identifiable (source : Source.t) folder given claim theorem hypotheses =
  match Identifiable.read claim theorem hypotheses with
  | exception Identifiable.Not_covered what -> raise (Not_covered what)
  | found ->
      step := "network";
      let network = Documents.resolve folder given found.claim.reference in
      step := "certificate.proof";
      { statement = Identifiable.check found network get; theorem;
        hypotheses = Identifiable.says found.claim.domain.is_whole_space;
        networks = [ network.sha256 ];
        theories = Identifiable.theories;
        is_packed = source.is_packed }

let check_certificate (source : Source.t) folder given =
  let document = Json.parse (Source.read_all source most_certificate_bytes) in
  let entry = Json.fields [ "format"; "version"; "claim"; "proof"; "unverified" ] document in
  Json.literal "polyrelu-certificate" (entry "format");
  Json.version (entry "version");
  let proof = Json.fields [ "theorem"; "hypotheses" ] (entry "proof") in
  Documents.check_notes (entry "unverified");
  let theorem = Json.text (proof "theorem") in
  if Json.has_key "architecture" (entry "claim") then
    raise (Not_covered "another architecture than plain stacks of max(x, 0)");
  if Refutation.is_claim (entry "claim") then
    check_refutation source folder given (entry "claim") theorem (Json.list (proof "hypotheses"))
  else if Identifiable.is_claim (entry "claim") then
    check_identifiable source folder given (entry "claim") theorem (Json.list (proof "hypotheses"))
  else
  let claim = claim_of "not-equivalent" (entry "claim") in
  if theorem <> "point" then raise (Not_covered theorem);
  let x, values =
    match Json.list (proof "hypotheses") with
    | [ first; second ] ->
        (evidence "point" [ "x" ] first "x", evidence "values" [ "f"; "g" ] second)
    | _ -> unreadable "expected the hypotheses point and values" in
  let f = values "f" and g = values "g" in
  let pair, one, two = pair_of folder given claim in
  let numbers = List.map Numbers.rational in
  get (Core.check_difference pair (numbers x) (numbers f) (numbers g));
  { statement = Core.sentence (digits one) (digits two) (Core.Not_equivalent pair);
    theorem = "point";
    hypotheses = [
      ("point", "the point belongs to the domain");
      ("values", "both networks were evaluated there, and differ") ];
    networks = [ one; two ];
    theories = of_pairs;
    is_packed = source.is_packed }

(* ---- Files *)

let check_file path given =
  step := "reading";
  allow (Source.size_of path);
  let source = Source.open_file path and folder = Filename.dirname path in
  Fun.protect ~finally:(fun () -> Source.close source) (fun () ->
    if Source.starts_with source tree_start then check_tree source folder given
    else check_certificate source folder given)
