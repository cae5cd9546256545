(* JSON as section 1 of FORMAT.md restricts it: ASCII, no backslash, no duplicate keys, numbers that
   are indices, at most 16 levels. *)
open Meter

type t =
  | Index of int
  | Text of string
  | Word of string  (* true, false or null, which no claim that is covered has *)
  | List of t list
  | Object of (string * t) list

let max_levels = 16

(* No object of the format has more keys; `unverified` has the most of them. *)
let max_keys = 64

let cells_of_text size = size / 64

(* A text is paid for and held before it is parsed; the cells that it takes. *)
let charge text =
  units (8 * String.length text);
  let marks = ref 0 and cells = ref (cells_of_text (String.length text)) in
  let mark weight = incr marks; cells := !cells + weight in
  String.iter (fun c ->
    well_formed (Char.code c < 128) "a byte that is not ASCII";
    well_formed (c <> '\\') "a backslash";
    match c with ',' | '[' -> mark 1 | ':' -> mark 2 | '{' -> mark 3 | _ -> ()) text;
  units (500 * !marks);
  hold !cells

let parse text =
  charge text;
  let size = String.length text and place = ref 0 in
  let peek () = if !place < size then text.[!place] else '\000' in
  let at c = !place < size && text.[!place] = c in
  let eat c =
    well_formed (at c) (Printf.sprintf "not JSON: %C is missing at character %d" c !place);
    incr place in
  let rec skip () =
    match peek () with
    | (' ' | '\t' | '\n' | '\r') when !place < size -> incr place; skip ()
    | _ -> () in
  let string () =
    eat '"';
    let start = !place in
    while !place < size && text.[!place] <> '"' do
      well_formed (text.[!place] >= ' ') "a control character in a string";
      incr place
    done;
    eat '"';
    String.sub text start (!place - 1 - start) in
  let index () =
    let start = !place in
    while peek () >= '0' && peek () <= '9' do incr place done;
    let digits = !place - start in
    well_formed (digits <= 9 && (digits = 1 || text.[start] <> '0')) "not an index";
    Index (int_of_string (String.sub text start digits)) in
  let word wanted =
    let rest = size - !place and length = String.length wanted in
    well_formed (rest >= length && String.sub text !place length = wanted) "not JSON";
    place := !place + length;
    Word wanted in
  let rec value level =
    well_formed (level <= max_levels) "too many levels";
    skip ();
    match peek () with
    | '"' -> Text (string ())
    | '0' .. '9' -> index ()
    | 't' -> word "true"
    | 'f' -> word "false"
    | 'n' -> word "null"
    | '[' ->
        incr place; skip ();
        if at ']' then (incr place; List []) else List (items level [])
    | '{' ->
        incr place; skip ();
        if at '}' then (incr place; Object []) else Object (fields level [])
    | _ -> unreadable (Printf.sprintf "not JSON at character %d" !place)
  and items level found =
    let found = value (level + 1) :: found in
    skip ();
    if at ',' then (incr place; items level found) else (eat ']'; List.rev found)
  and fields level found =
    skip ();
    let key = string () in
    skip ();
    eat ':';
    well_formed (not (List.mem_assoc key found)) "duplicate key";
    well_formed (List.length found < max_keys) "too many keys";
    let found = (key, value (level + 1)) :: found in
    skip ();
    if at ',' then (incr place; fields level found) else (eat '}'; List.rev found) in
  let found = value 1 in
  skip ();
  well_formed (!place = size) "more after the value";
  found

(* ---- Shapes *)

let fields keys = function
  | Object found ->
      let names l = List.sort compare l in
      well_formed (names (List.map fst found) = names keys)
        ("expected the keys " ^ String.concat ", " keys);
      fun key -> List.assoc key found
  | _ -> unreadable ("expected an object with the keys " ^ String.concat ", " keys)

let list = function List found -> found | _ -> unreadable "expected a list"
let text = function Text found -> found | _ -> unreadable "expected a string"
let index = function Index found -> found | _ -> unreadable "expected an index"
let literal wanted found = well_formed (found = Text wanted) ("expected " ^ wanted)
let version found = well_formed (found = Index 1) "expected version 1"
let has_key key = function Object found -> List.mem_assoc key found | _ -> false
