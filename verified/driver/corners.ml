(* Lists of vertices (FORMAT.md, section 5.3): their lines, and the points and slopes for the check
   in VertexRegions.v. What is found here is not trusted: that check rejects what is wrong. *)
open Meter

(* ---- Lines *)

(* The zeros that are positive on a cell, those that are 0 on it, and whether cells are listed. *)
type cell = { positive : int list; below : int list; listed : cell list option }
type line = { mask : Z.t; zeros : int list; cells : cell list option }

(* Lists of cells stand in at most so many levels. *)
let most_lists = 7

let indices documents = List.map Json.index documents

let rec cell_of levels = function
  | Json.List (List positive :: List below :: ([] | [ List _ ] as rest))
    when rest = [] || levels > 0 ->
      let listed = match rest with
        | [ Json.List cells ] -> Some (List.map (cell_of (levels - 1)) cells)
        | _ -> None in
      { positive = indices positive; below = indices below; listed }
  | _ -> unreadable "expected a cell"

let read = function
  | Json.List (Text mask :: List zeros :: ([] | [ List _ ] as rest)) ->
      well_formed (Numbers.is_spelled_natural mask) "not a natural number";
      let cells = match rest with
        | [ Json.List cells ] -> Some (List.map (cell_of (most_lists - 1)) cells)
        | _ -> None in
      { mask = Numbers.integer mask; zeros = indices zeros; cells }
  | _ -> unreadable "expected a vertex"

let rec ascending = function
  | i :: (j :: _ as rest) -> i < j && ascending rest
  | _ -> true

(* The signs of all forms; those that are neither positive nor 0 are negative. *)
let signs_of size { mask; zeros; _ } =
  require (Z.numbits mask <= size) "a mask of too many bits";
  require (ascending zeros) "zeros that do not ascend";
  require (List.for_all (fun i -> i < size) zeros) "a zero that is no form";
  units (100 * size);
  let signs = Array.init size (fun i -> if Z.testbit mask i then Z.one else Z.minus_one) in
  List.iter (fun i ->
    require (Z.sign signs.(i) < 0) "a form that is positive and 0";
    signs.(i) <- Z.zero) zeros;
  signs

(* ---- Rational numbers, which are paid for *)

let bits x = Z.numbits (Q.num x) + Z.numbits (Q.den x)

let pay x y =
  let p = bits x and q = bits y in
  product p q;
  quotient (p + q) (min p q)

let times x y =
  if Q.sign x = 0 || Q.sign y = 0 then Q.zero else (pay x y; Q.mul x y)

let plus x y =
  if Q.sign x = 0 then y else if Q.sign y = 0 then x else (pay x y; Q.add x y)

let over x y = if Q.sign x = 0 then Q.zero else (pay x y; Q.div x y)

let two_q = Q.of_int 2

let exact (x : Q.t) : Core.q = { qnum = Q.num x; qden = Q.den x }

(* ---- Keys of cells

   They are paid for before they are made, and held until the next vertex (FORMAT.md, section 3.6). *)
let held = ref 0

let pay_keys size n =
  let n = min n (1 lsl 40) in
  units (4 * n * (100 + (size lsr 3)));
  let cells = 2 * n * (3 + (((size / 4) + 1) / 64)) in
  held := !held + cells;
  hold cells

(* ---- Rows: the constant of a form, then its coefficients *)

type place = { placed : Core.placed; start : Core.corner_progress; size : int; dimension : int }

let place_of placed (start : Core.corner_progress) =
  held := 0;
  { placed; start; size = Core.num_signs placed start;
    dimension = Z.to_int start.num_coordinates }

let dense place (form, denominator) =
  units (20 * (place.dimension + 1));
  let row = Array.make (place.dimension + 1) Q.zero in
  List.iter (fun (symbol, c) ->
    quotient (Z.numbits c) (Z.numbits denominator);
    row.(Z.to_int symbol) <- Q.make c denominator) form;
  row

let rows place signs =
  units (200 * place.size);
  match Core.signed_rows place.placed place.start (Array.to_list signs) with
  | Some rows -> Array.of_list (List.map (dense place) rows)
  | None -> raise (Rejected "a network whose forms cannot be written")

(* The change of a form in a direction, and its value at a point. *)
let slope row u =
  units (20 * Array.length u);
  let sum = ref Q.zero in
  Array.iteri (fun i x -> sum := plus !sum (times row.(i + 1) x)) u;
  !sum

let value row y = plus row.(0) (slope row y)

let moved y t u =
  units (20 * Array.length u);
  Array.mapi (fun i x -> plus x (times t u.(i))) y

(* A vector on which rows vanish and that is 0 in fixed columns, if all such vectors are multiples of
   it; and which rows are independent of those before. *)
let line_of place fixed rows =
  let width = place.dimension in
  let is_fixed = Array.make width false in
  List.iter (fun c -> is_fixed.(c) <- true) fixed;
  let reduce (basis, pivots) (n, row) =
    let row = List.fold_left (fun row (c, pivot) ->
      if Q.sign row.(c) = 0 then row else moved row (Q.neg row.(c)) pivot) row pivots in
    let rec first c =
      if c = width then None
      else if Q.sign row.(c) <> 0 && not is_fixed.(c) then Some c else first (c + 1) in
    units (40 * width);
    match first 0 with
    | None -> (basis, pivots)
    | Some c ->
        let row = Array.map (fun x -> over x row.(c)) row in
        let clear (d, other) =
          (d, if Q.sign other.(c) = 0 then other else moved other (Q.neg other.(c)) row) in
        (n :: basis, (c, row) :: List.map clear pivots) in
  let linear (n, row) = (n, Array.sub row 1 width) in
  let basis, pivots = List.fold_left reduce ([], []) (List.map linear rows) in
  let is_free c = not is_fixed.(c) && not (List.mem_assoc c pivots) in
  match List.filter is_free (List.init width Fun.id) with
  | [ free ] ->
      let u = Array.make width Q.zero in
      u.(free) <- Q.one;
      List.iter (fun (c, row) -> u.(c) <- Q.neg row.(free)) pivots;
      Some (u, List.rev basis)
  | _ -> None

(* ---- Vertices *)

let in_inputs place y =
  List.map (fun form -> exact (value (dense place (form, place.start.input_scale)) y))
    place.start.input_forms

(* The zeros whose forms are independent of those before, with columns for them; and the common zero
   of their forms that is 0 in all other columns. *)
let point_of place rows zeros =
  let add done_ i =
    let clear row (c, _, pivot) =
      if Q.sign row.(c) = 0 then row else moved row (Q.neg row.(c)) pivot in
    let row = List.fold_left clear rows.(i) done_ in
    let rec first c =
      if c > place.dimension then None else if Q.sign row.(c) <> 0 then Some c else first (c + 1) in
    units (40 * place.dimension);
    match first 1 with
    | None -> done_
    | Some c ->
        let row = Array.map (fun x -> over x row.(c)) row in
        (c, i, row) :: List.map (fun (d, j, other) -> (d, j, clear other (c, i, row))) done_ in
  let done_ = List.fold_left add [] zeros in
  let y = Array.make place.dimension Q.zero in
  List.iter (fun (c, _, row) -> y.(c - 1) <- Q.neg row.(0)) done_;
  let columns = List.map (fun (c, _, _) -> c - 1) done_ in
  (y, List.rev_map (fun (_, i, _) -> i) done_, columns)

(* ---- Cells around a vertex, each by its signs *)

(* The zeros of a cell whose forms are independent of those before are its basis; coordinates that
   are fixed are 0 in the directions of cells around it. *)
type face = { signs : Z.t array; zeros : int list; basis : int list; fixed : int list }

module Keys = Map.Make (String)

(* Signs as a text: the name of a cell in tables. *)
let key signs =
  units (10 * Array.length signs);
  String.init (Array.length signs) (fun i -> "-0+".[1 + Z.sign signs.(i)])

let signs_of_key key =
  units (10 * String.length key);
  Array.init (String.length key) (fun i ->
    match key.[i] with '+' -> Z.one | '0' -> Z.zero | _ -> Z.minus_one)

(* The cell that moves along both of two cells around the cell [below]. *)
let joined_key below one two =
  units (10 * String.length below);
  String.mapi (fun i sign -> if sign <> below.[i] then sign else two.[i]) one

(* A listed cell of one dimension more: the signs of the zeros below in a direction. *)
let face_of place below { positive; below = zeros; _ } =
  require (ascending positive && ascending zeros) "indices that do not ascend";
  let is_below i = List.mem i below.zeros in
  units (20 * (List.length positive + List.length zeros + 1) * (List.length below.zeros + 1));
  require
    (List.for_all is_below positive && List.for_all is_below zeros && zeros <> below.zeros
     && not (List.exists (fun i -> List.mem i zeros) positive))
    "a cell whose signs are no signs of the zeros below, or all of them 0";
  let signs = Array.copy below.signs in
  List.iter (fun i -> signs.(i) <- Z.minus_one) below.zeros;
  List.iter (fun i -> signs.(i) <- Z.one) positive;
  List.iter (fun i -> signs.(i) <- Z.zero) zeros;
  let rows = rows place signs in
  match line_of place below.fixed (List.map (fun i -> (i, rows.(i))) zeros) with
  | None -> raise (Rejected "a cell whose zeros have no direction in common, or several")
  | Some (direction, basis) ->
      let slopes = List.map (fun i -> (i, Q.sign (slope rows.(i) direction))) below.zeros in
      let first, _ = List.find (fun (i, _) -> Z.sign signs.(i) <> 0) slopes in
      let turn = List.assoc first slopes * Z.sign signs.(first) in
      List.iter (fun (i, slope) ->
        require (turn * slope = Z.sign signs.(i)) "a listed cell with other signs";
        require (slope = 0 || Z.sign signs.(i) > 0 || i >= Core.num_bound_signs place.start)
          "a listed cell outside of the domain") slopes;
      let rec column c = if Q.sign direction.(c) <> 0 then c else column (c + 1) in
      { signs; zeros; basis; fixed = column 0 :: below.fixed }

(* The cells around a cell: the keys of those of one dimension more, and of the regions. *)
type star = { above : string list; regions : string list }

(* The cells that move along at most one side of every group. *)
let spanned below groups =
  let times n group = min (1 lsl 40) (n * List.length group) in
  pay_keys (String.length below) (List.fold_left times 1 groups);
  let add regions group =
    units (100 * List.length regions * List.length group);
    List.concat_map (fun old -> List.map (joined_key below old) group) regions in
  { above = List.concat groups; regions = List.fold_left add [ below ] groups }

(* For each zero the keys with its signs: both, but 1 alone for inequalities. *)
let sides place cell =
  let turned i sign =
    let signs = Array.copy cell.signs in
    signs.(i) <- sign;
    key signs in
  List.map (fun i ->
    if i < Core.num_bound_signs place.start then [ turned i Z.one ]
    else [ turned i Z.one; turned i Z.minus_one ]) cell.zeros

(* The listed cells by the form of the basis that is not 0 there, if they are a frame. *)
let frame place cell faces =
  units (200 * List.length faces * (List.length cell.basis + 1));
  let side face =
    match List.filter (fun i -> Z.sign face.signs.(i) <> 0) cell.basis with
    | [ i ] -> Some ((i, Z.sign face.signs.(i)), face)
    | _ -> None in
  let wanted = List.concat_map (fun i ->
    if i < Core.num_bound_signs place.start then [ (i, 1) ] else [ (i, 1); (i, -1) ]) cell.basis in
  let found = List.filter_map side faces in
  let opposite ((i, _), one) ((j, _), two) =
    i <> j && List.exists (fun z -> Z.sign one.signs.(z) * Z.sign two.signs.(z) < 0) cell.zeros in
  units (40 * List.length found * List.length found * List.length cell.zeros);
  if List.length found < List.length faces || List.length faces <> List.length wanted
    || not (List.for_all (fun side -> List.mem_assoc side found) wanted)
    || List.exists (fun one -> List.exists (opposite one) found) found
  then None
  else
    let keys i = List.filter_map (fun ((j, _), face) ->
      if i = j then Some (key face.signs) else None) found in
    Some (List.map keys cell.basis)

let rec star place cell listed =
  let own = key cell.signs in
  if cell.basis = [] then begin
    require (listed = None) "a list of cells at a region";
    { above = []; regions = [ own ] }
  end
  else if cell.basis = cell.zeros then begin
    require (listed = None) "a list of cells where zeros are independent";
    spanned own (sides place cell)
  end
  else match listed with
    | None -> raise (Rejected "no list of cells where zeros are dependent")
    | Some cells ->
        let faces = List.map (face_of place cell) cells in
        let is_flat = List.for_all (fun { listed; _ } -> listed = None) cells in
        match if is_flat then frame place cell faces else None with
        | Some groups -> spanned own groups
        | None -> joined place cell faces cells

(* The cells around all listed cells, where each cell of two dimensions more has two of them. *)
and joined place cell faces cells =
  let above = List.map (fun face -> key face.signs) faces in
  require (above <> []) "a list of no cells";
  require (List.length (List.sort_uniq compare above) = List.length above) "a listed cell twice";
  require (List.length cell.basis > 1) "other cells than both sides of a cell of codimension 1";
  let add (count, regions) (face, { listed; _ }) =
    let star = star place face listed in
    pay_keys place.size (List.length star.above + List.length star.regions);
    let one_more = function None -> Some 1 | Some n -> Some (n + 1) in
    ( List.fold_left (fun count key -> Keys.update key one_more count) count star.above,
      List.fold_left (fun regions key -> Keys.add key () regions) regions star.regions ) in
  let count, regions =
    List.fold_left add (Keys.empty, Keys.empty) (List.combine faces cells) in
  require (Keys.for_all (fun _ n -> n = 2) count)
    "a cell of two dimensions more that is around another number of listed cells than two";
  { above; regions = List.map fst (Keys.bindings regions) }

(* ---- Regions *)

(* An integer point or direction, after a constant. *)
let sum constant z (form, _) =
  List.fold_left (fun sum (symbol, c) ->
    let x = if Z.equal symbol Z.zero then constant else z.(Z.to_int symbol - 1) in
    if Z.equal x Z.zero then sum
    else (Meter.product (Z.numbits c) (Z.numbits x); Z.add sum (Z.mul c x))) Z.zero form

(* A point over a common denominator. *)
let scaled y =
  let common = Array.fold_left (fun s x ->
    quotient (Z.numbits s) (Z.numbits (Q.den x));
    Z.lcm s (Q.den x)) Z.one y in
  (common, Array.map (fun x -> Z.mul (Q.num x) (Z.divexact common (Q.den x))) y)

(* From a point in a direction: the first time at which a form with a sign is 0; infinite on a ray.
   Values and slopes of a form have a positive factor in common. *)
let time_of signs values slopes =
  let first = ref Q.inf in
  Array.iteri (fun i z ->
    if Z.sign z <> 0 && Z.sign signs.(i) * Z.sign slopes.(i) < 0 then begin
      quotient (Z.numbits z) (Z.numbits slopes.(i));
      first := Q.min !first (Q.make (Z.neg z) slopes.(i))
    end) values;
  !first

(* What is needed for a region with some signs around a vertex at a point. *)
let region place point key : Core.region_hint =
  let signs = signs_of_key key in
  let common, z = scaled point in
  let along rows u =
    units (300 * place.size);
    let u = Array.of_list u in
    let at c u = Array.of_list (List.map (sum c u) rows) in
    let values = at common z and slopes = Array.map (Z.mul common) (at Z.zero u) in
    (values, slopes, time_of signs values slopes) in
  let inner_point rows directions =
    let add way u = List.map2 Z.add way u in
    let way = List.fold_left add (List.init place.dimension (fun _ -> Z.zero)) directions in
    let _, _, time = along rows way in
    let time = Q.min Q.one (over time two_q) in
    in_inputs place (moved point time (Array.of_list (List.map Q.of_bigint way))) in
  let its_end rows direction =
    let values, slopes, time = along rows direction in
    if Q.equal time Q.inf then None
    else
      let p = Q.num time and q = Q.den time in
      let sign_at i z =
        let slope = slopes.(i) in
        Meter.product (Z.numbits z) (Z.numbits q);
        Meter.product (Z.numbits slope) (Z.numbits p);
        Z.of_int (Z.sign (Z.add (Z.mul z q) (Z.mul slope p))) in
      Some (Array.to_list (Array.mapi sign_at values)) in
  { its_region = Array.to_list signs; inner_point; its_end }

(* A vertex for Core.next_vertex. *)
let vertex place line : Core.vertex =
  let signs = signs_of place.size line in
  let rows = rows place signs in
  let point, basis, columns = point_of place rows line.zeros in
  let agrees row sign = Q.sign (value row point) = Z.sign sign in
  require (Array.for_all2 agrees rows signs) "other signs at the point of these zeros";
  let fixed = List.filter (fun c -> not (List.mem c columns)) (List.init place.dimension Fun.id) in
  let star = star place { signs; zeros = line.zeros; basis; fixed } line.cells in
  release !held;
  held := 0;
  { its_signs = Array.to_list signs; its_point = in_inputs place point;
    its_regions = List.map (region place point) star.regions }
