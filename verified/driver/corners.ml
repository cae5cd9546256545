(* Lists of vertices (FORMAT.md, section 5.3): their lines, and the points and slopes for the check
   in VertexRegions.v. What is found here is not trusted: that check rejects what is wrong. *)
open Meter

(* ---- Lines *)

type line = { mask : Z.t; zeros : int list; has_cells : bool }

(* Lists of cells stand in at most so many levels. *)
let most_lists = 7

let rec check_cell levels = function
  | Json.List [ List positive; List zeros ] -> List.iter check_index positive; check_indices zeros
  | Json.List [ List positive; List zeros; List cells ] when levels > 0 ->
      check_indices positive;
      check_indices zeros;
      List.iter (check_cell (levels - 1)) cells
  | _ -> unreadable "expected a cell"
and check_index document = ignore (Json.index document)
and check_indices documents = List.iter check_index documents

let read = function
  | Json.List (Text mask :: List zeros :: ([] | [ List _ ] as rest)) ->
      well_formed (Numbers.is_spelled_natural mask) "not a natural number";
      let cells = match rest with [ Json.List cells ] -> cells | _ -> [] in
      List.iter (check_cell (most_lists - 1)) cells;
      { mask = Numbers.integer mask; zeros = List.map Json.index zeros; has_cells = rest <> [] }
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

let exact (x : Q.t) : Core.q = { qnum = Q.num x; qden = Q.den x }

(* ---- Rows: the constant of a form, then its coefficients *)

type place = { placed : Core.placed; start : Core.corner_progress; size : int; dimension : int }

let place_of placed (start : Core.corner_progress) =
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

(* Solutions of the equations row u = e, one for each column e of the identity; coordinates without
   a pivot are 0. None if the rows are dependent. *)
let units_of place rows =
  let size = Array.length rows and width = place.dimension in
  let equations = Array.mapi (fun k row ->
    units (20 * (width + size));
    Array.init (width + size) (fun i ->
      if i < width then row.(i + 1) else if i = width + k then Q.one else Q.zero)) rows in
  let pivots = Array.make size 0 in
  let reduce k =
    let row = equations.(k) in
    let rec first i =
      if i = width then None else if Q.sign row.(i) <> 0 then Some i else first (i + 1) in
    units (10 * width);
    Option.map (fun column ->
      pivots.(k) <- column;
      let pivot = Array.map (fun x -> over x row.(column)) row in
      equations.(k) <- pivot;
      Array.iteri (fun j other ->
        if j <> k && Q.sign other.(column) <> 0 then
          equations.(j) <- moved other (Q.neg other.(column)) pivot) equations) (first 0) in
  let rec all k = k = size || (reduce k <> None && all (k + 1)) in
  if size > width || not (all 0) then None
  else Some (Array.init size (fun e ->
    units (20 * width);
    let u = Array.make width Q.zero in
    Array.iteri (fun k column -> u.(column) <- equations.(k).(width + e)) pivots;
    u))

(* ---- Vertices *)

let in_inputs place y =
  List.map (fun form -> exact (value (dense place (form, place.start.input_scale)) y))
    place.start.input_forms

(* The point of zeros whose forms are the rows: None if the forms of the zeros are dependent. *)
let point_of place rows zeros =
  let own = Array.of_list (List.map (fun i -> rows.(i)) zeros) in
  Option.map (fun found ->
    let y = ref (Array.make place.dimension Q.zero) in
    Array.iteri (fun k u -> y := moved !y (Q.neg own.(k).(0)) u) found;
    !y) (if List.length zeros > place.dimension then None else units_of place own)

(* Along a direction: the first time at which a form with a sign is 0; infinite on a ray. *)
let time_of signs values slopes =
  let first = ref Q.inf in
  Array.iteri (fun i z ->
    if Q.sign z <> 0 && Z.sign signs.(i) * Q.sign slopes.(i) < 0 then
      first := Q.min !first (Q.neg (over z slopes.(i)))) values;
  !first

let edge values signs (b, slopes) : Core.edge =
  let along = if Z.sign signs.(b) > 0 then slopes else Array.map Q.neg slopes in
  let time = time_of signs values along in
  let sign_at i z = Z.of_int (Q.sign (plus z (times time along.(i)))) in
  { its_zero = b; its_slopes = Array.to_list (Array.map exact slopes);
    its_end = if Q.equal time Q.inf then None
              else Some (Array.to_list (Array.mapi sign_at values)) }

(* What is needed for the region with some signs around a point. *)
let region place zeros point signs : Core.region_hint =
  let signs = Array.of_list signs in
  let rows = rows place signs in
  units (100 * place.size * (List.length zeros + 1));
  match units_of place (Array.of_list (List.map (fun i -> rows.(i)) zeros)) with
  | None -> raise (Rejected "zeros that are dependent in a region")
  | Some found ->
      let found = Array.to_list found and values = Array.map (fun row -> value row point) rows in
      let slopes = List.map (fun u -> Array.map (fun row -> slope row u) rows) found in
      let way = List.fold_left2 (fun way b u -> moved way (Q.of_bigint signs.(b)) u)
        (Array.make place.dimension Q.zero) zeros found in
      let along = Array.map (fun row -> slope row way) rows in
      let time = Q.min Q.one (over (time_of signs values along) (Q.of_int 2)) in
      { inner_point = in_inputs place (moved point time way);
        its_edges = List.map2 (fun b slopes -> edge values signs (b, slopes)) zeros slopes }

let is_constant row = Array.for_all (fun x -> Q.sign x = 0) (Array.sub row 1 (Array.length row - 1))

exception Dependent

(* A vertex for Core.next_vertex. Dependent: there are more zeros than independent ones, and cells
   are listed, or no form of a zero changes anywhere. *)
let vertex place line : Core.vertex =
  let signs = signs_of place.size line in
  let rows = rows place signs in
  match point_of place rows line.zeros with
  | None when line.has_cells || List.for_all (fun i -> is_constant rows.(i)) line.zeros ->
      raise Dependent
  | None -> raise (Rejected "zeros that are dependent, without a list of cells")
  | Some point ->
      let agrees row sign = Q.sign (value row point) = Z.sign sign in
      require (Array.for_all2 agrees rows signs) "other signs at the point of these zeros";
      require (not line.has_cells) "a list of cells where zeros are independent";
      { its_signs = Array.to_list signs; its_point = in_inputs place point;
        its_hint = region place line.zeros point }
