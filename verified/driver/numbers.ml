(* Numbers in strings, section 1 of FORMAT.md: each has one spelling. *)
open Meter

let first_hexadecimal = Z.pow (Z.of_int 10) 1000

let all_from start is_good text =
  let rec go i = i = String.length text || (is_good text.[i] && go (i + 1)) in
  go start

let is_digit = function '0' .. '9' -> true | _ -> false
let is_hex_digit = function '0' .. '9' | 'a' .. 'f' -> true | _ -> false

(* ---- Spelling: what the patterns of section 1 say *)

let is_spelled_integer text =
  let size = String.length text in
  let start = if size > 0 && text.[0] = '-' then 1 else 0 in
  let is_hexadecimal = size >= start + 2 && text.[start] = '0' && text.[start + 1] = 'x' in
  let first = if is_hexadecimal then start + 2 else start in
  let digits = size - first in
  if is_hexadecimal then
    digits >= 1 && digits <= 4096 && text.[first] <> '0' && all_from first is_hex_digit text
  else
    text = "0"
    || (digits >= 1 && digits <= 1000 && text.[first] <> '0' && all_from first is_digit text)

let is_spelled_natural text = is_spelled_integer text && text.[0] <> '-'

(* The parts of a rational number before and after the bar. *)
let parts text =
  match String.index_opt text '/' with
  | None -> (text, None)
  | Some i -> (String.sub text 0 i, Some (String.sub text (i + 1) (String.length text - i - 1)))

let check_spelled_rational text =
  let top, bottom = parts text in
  let is_good = match bottom with None -> true | Some text -> is_spelled_natural text in
  well_formed (is_spelled_integer top && is_good) "not a rational number"

let check_spelled_row text =
  let parts = String.split_on_char ' ' text in
  well_formed (List.for_all is_spelled_integer parts) "not a row of integers"

(* ---- Numbers *)

let integer text =
  well_formed (is_spelled_integer text) "not an integer";
  let found = Z.of_string text in
  let is_hexadecimal = String.contains text 'x' in
  well_formed (not is_hexadecimal || Z.geq (Z.abs found) first_hexadecimal)
    "integers below 10^1000 must be decimal";
  found

let natural text =
  well_formed (is_spelled_natural text) "not a natural number";
  integer text

let row text =
  let parts = String.split_on_char ' ' text in
  let count = List.length parts in
  let num_zeros = List.length (List.filter (String.equal "0") parts) in
  units ((200 * count) + (8 * String.length text));
  hold (count - (7 * num_zeros / 8));
  List.map integer parts

let rational text : Core.q =
  let size = String.length text in
  units (1_000 + (size * size / 256));
  match parts text with
  | top, None -> { qnum = integer top; qden = Z.one }
  | top, Some bottom ->
      let top = integer top and bottom = natural bottom in
      well_formed (Z.gt bottom Z.one && Z.equal (Z.gcd top bottom) Z.one)
        "must be in lowest terms, denominator >= 2";
      { qnum = top; qden = bottom }
