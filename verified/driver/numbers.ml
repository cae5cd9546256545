(* Numbers in strings, section 1 of FORMAT.md: each has one spelling. *)
open Meter

let first_hexadecimal = Z.pow (Z.of_int 10) 1000

let all_from start is_good text =
  let rec go i = i = String.length text || (is_good text.[i] && go (i + 1)) in
  go start

let is_digit = function '0' .. '9' -> true | _ -> false
let is_hex_digit = function '0' .. '9' | 'a' .. 'f' -> true | _ -> false

let hexadecimal text start =
  let digits = String.length text - start in
  well_formed (digits >= 1 && digits <= 4096 && text.[start] <> '0' && all_from start is_hex_digit text)
    "not an integer";
  let found = Z.of_string text in
  well_formed (Z.geq (Z.abs found) first_hexadecimal) "integers below 10^1000 must be decimal";
  found

let integer text =
  let size = String.length text in
  let start = if size > 0 && text.[0] = '-' then 1 else 0 in
  if size >= start + 2 && text.[start] = '0' && text.[start + 1] = 'x' then hexadecimal text (start + 2)
  else begin
    let digits = size - start in
    let is_decimal = digits >= 1 && digits <= 1000 && text.[start] <> '0' && all_from start is_digit text in
    well_formed (text = "0" || is_decimal) "not an integer";
    Z.of_string text
  end

let natural text =
  well_formed (text = "" || text.[0] <> '-') "not a natural number";
  integer text

let row text =
  let parts = String.split_on_char ' ' text in
  units ((200 * List.length parts) + (8 * String.length text));
  List.map integer parts

let rational text : Core.q =
  let size = String.length text in
  units (1_000 + (size * size / 256));
  match String.index_opt text '/' with
  | None -> { qnum = integer text; qden = Z.one }
  | Some i ->
      let top = integer (String.sub text 0 i) in
      let bottom = natural (String.sub text (i + 1) (size - i - 1)) in
      well_formed (Z.gt bottom Z.one && Z.equal (Z.gcd top bottom) Z.one)
        "must be in lowest terms, denominator >= 2";
      { qnum = top; qden = bottom }
