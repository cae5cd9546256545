(* Lists of vertices (FORMAT.md, section 5.3): their lines, and the points and slopes for the check
   in VertexRegions.v. What is found here is not trusted: that check rejects what is wrong. *)
open Meter

(* ---- Lines *)

(* The zeros that are positive on a cell, those that are 0 on it, and whether cells are listed. *)
type cell = { positive : int list; below : int list; has_list : bool }
type line = { mask : Z.t; zeros : int list; cells : cell list option }

(* Lists of cells stand in at most so many levels. *)
let most_lists = 7

let indices documents = List.map Json.index documents

let rec cell_of levels = function
  | Json.List (List positive :: List below :: ([] | [ List _ ] as rest))
    when rest = [] || levels > 0 ->
      let listed = match rest with [ Json.List cells ] -> cells | _ -> [] in
      List.iter (fun cell -> ignore (cell_of (levels - 1) cell)) listed;
      { positive = indices positive; below = indices below; has_list = rest <> [] }
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

(* The zeros whose forms are independent of those before. *)
let independent place rows zeros =
  let add (basis, done_) i =
    let reduced = List.fold_left (fun row (column, pivot) ->
      if Q.sign row.(column) = 0 then row else moved row (Q.neg row.(column)) pivot)
      rows.(i) (List.rev done_) in
    let rec first c =
      if c > place.dimension then None
      else if Q.sign reduced.(c) <> 0 then Some c else first (c + 1) in
    units (10 * place.dimension);
    match first 1 with
    | None -> (basis, done_)
    | Some c -> (i :: basis, (c, Array.map (fun x -> over x reduced.(c)) reduced) :: done_) in
  List.rev (fst (List.fold_left add ([], []) zeros))

(* A common zero of independent forms; coordinates without a pivot are 0. *)
let point_of place rows basis =
  let own = Array.of_list (List.map (fun i -> rows.(i)) basis) in
  match units_of place own with
  | None -> raise (Rejected "zeros that are dependent")
  | Some found ->
      let y = ref (Array.make place.dimension Q.zero) in
      Array.iteri (fun k u -> y := moved !y (Q.neg own.(k).(0)) u) found;
      !y

(* ---- Frames: for each form of the basis the listed cells on both sides of it *)

exception No_frame

type frame = (int * int, (int, int) Hashtbl.t) Hashtbl.t

(* The signs of the zeros on a cell. *)
let signs_on zeros cell =
  let signs = Hashtbl.create 16 in
  List.iter (fun i -> Hashtbl.replace signs i (-1)) zeros;
  let set sign i =
    require (Hashtbl.find_opt signs i = Some (-1)) "a cell whose signs are no signs of the zeros";
    Hashtbl.replace signs i sign in
  require (ascending cell.positive && ascending cell.below) "indices that do not ascend";
  List.iter (set 1) cell.positive;
  List.iter (set 0) cell.below;
  require (cell.below <> zeros) "a cell on which all zeros are 0";
  units (300 * List.length zeros);
  signs

let frame_of place zeros basis cells : frame =
  let frame = Hashtbl.create 16 in
  let num_sides = List.fold_left (fun sum b ->
    sum + if b < Core.num_bound_signs place.start then 1 else 2) 0 basis in
  let add cell =
    let signs = signs_on zeros cell in
    match List.filter (fun b -> Hashtbl.find signs b <> 0) basis with
    | [ b ] ->
        let side = (b, Hashtbl.find signs b) in
        if cell.has_list || Hashtbl.mem frame side then raise No_frame;
        Hashtbl.add frame side signs
    | _ -> raise No_frame in
  List.iter add cells;
  if Hashtbl.length frame <> num_sides then raise No_frame;
  frame

(* The sign of a zero in the region that is spanned by sides. *)
let sign_between sides i =
  let signs = List.map (fun side -> Hashtbl.find side i) sides in
  if List.mem 1 signs && List.mem (-1) signs then raise No_frame;
  if List.mem 1 signs then Z.one else if List.mem (-1) signs then Z.minus_one else Z.zero

(* ---- Regions *)

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

type corner = { point : Q.t array; all_zeros : int list; basis : int list; frame : frame option }

(* What is needed for the region with some signs of the basis; the mark 2 is put at other zeros. *)
let region place corner choice : Core.region_hint =
  let choice = Array.of_list choice in
  let side b = (b, Z.sign choice.(b)) in
  let sides = match corner.frame with
    | None -> []
    | Some frame -> List.map (fun b ->
        match Hashtbl.find_opt frame (side b) with Some side -> side | None -> raise No_frame)
        corner.basis in
  units (200 * place.size * (List.length corner.basis + 1));
  let two = Z.of_int 2 in
  let signs = Array.mapi (fun i x -> if Z.equal x two then sign_between sides i else x) choice in
  let rows = rows place signs in
  match units_of place (Array.of_list (List.map (fun i -> rows.(i)) corner.basis)) with
  | None -> raise (Rejected "zeros that are dependent in a region")
  | Some found ->
      let found = Array.to_list found in
      let values = Array.map (fun row -> value row corner.point) rows in
      let slopes = List.map (fun u -> Array.map (fun row -> slope row u) rows) found in
      let agrees b slopes listed =
        List.for_all (fun i -> Z.sign signs.(b) * Q.sign slopes.(i) = Hashtbl.find listed i)
          corner.all_zeros in
      if sides <> [] then
        List.iter2 (fun (b, slopes) listed ->
          require (agrees b slopes listed) "a listed cell with other signs")
          (List.combine corner.basis slopes) sides;
      let way = List.fold_left2 (fun way b u -> moved way (Q.of_bigint signs.(b)) u)
        (Array.make place.dimension Q.zero) corner.basis found in
      let along = Array.map (fun row -> slope row way) rows in
      let time = Q.min Q.one (over (time_of signs values along) two_q) in
      { its_region = Array.to_list signs;
        inner_point = in_inputs place (moved corner.point time way);
        its_edges = List.map2 (fun b slopes -> edge values signs (b, slopes)) corner.basis slopes }

(* A vertex for Core.next_vertex. No_frame: another list of cells than a frame. *)
let vertex place line : Core.vertex =
  let signs = signs_of place.size line in
  let rows = rows place signs in
  let basis = independent place rows line.zeros in
  let point = point_of place rows basis in
  let agrees row sign = Q.sign (value row point) = Z.sign sign in
  require (Array.for_all2 agrees rows signs) "other signs at the point of these zeros";
  let is_simple = basis = line.zeros || basis = [] in
  let frame = match line.cells with
    | None -> require is_simple "no list of cells where zeros are dependent"; None
    | Some cells ->
        require (not is_simple) "a list of cells at a region or where zeros are independent";
        Some (frame_of place line.zeros basis cells) in
  let marks = Array.copy signs in
  if basis <> line.zeros then begin
    List.iter (fun i -> marks.(i) <- Z.of_int 2) line.zeros;
    List.iter (fun i -> marks.(i) <- Z.zero) basis
  end;
  { its_signs = Array.to_list signs; its_marks = Array.to_list marks;
    its_point = in_inputs place point;
    its_hint = region place { point; all_zeros = line.zeros; basis; frame } }
