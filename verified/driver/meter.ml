(* The budget of a check: units of work, and cells of memory (FORMAT.md, section 3.6). *)

exception Unreadable of string
exception Rejected of string

let unreadable message = raise (Unreadable message)
let well_formed fact message = if not fact then unreadable message
let require fact message = if not fact then raise (Rejected message)

let default_budget = 1 lsl 35
let units_per_byte = 1 lsl 14
(* One cell of 64 bytes for 2^12 units. *)
let units_per_cell = 1 lsl 12

let work = ref 0
let cells = ref 0
let most_cells = ref 0
let budget = ref default_budget
let is_fixed = ref false

let restart fixed =
  work := 0;
  cells := 0;
  most_cells := 0;
  is_fixed := fixed <> None;
  budget := (match fixed with Some units -> units | None -> default_budget)

(* Raise the default budget for the bytes of a file as it is stored. *)
let allow num_bytes = if not !is_fixed then budget := !budget + units_per_byte * num_bytes

let units n =
  work := !work + n;
  if !work > !budget then
    unreadable (Printf.sprintf
      "beyond the limits: the file costs more than %d units, which --budget raises" !budget)

(* Hold memory for so long as the file is checked, or until it is released. *)
let hold n =
  cells := !cells + n;
  if !cells > !most_cells then begin
    most_cells := !cells;
    let limit = !budget / units_per_cell in
    if !cells > limit then
      unreadable (Printf.sprintf
        "beyond the limits: the file needs more than %d cells of memory, which --budget raises"
        limit)
  end

let release n = cells := !cells - n

(* The least budget that the file keeps to. *)
let cost () = max !work (!most_cells * units_per_cell)

(* What is computed here is paid for in another place; it may cost the whole budget once more. *)
let paid compute =
  let before = !work in
  work := 0;
  Fun.protect ~finally:(fun () -> work := before) compute

(* A comparison of two symbols, in forms and in tables. *)
let comparison = 50
let equality = 20

(* A visit of a node with atoms that have terms together, in some coordinates. *)
let visit atoms terms coordinates =
  units ((2_000 * (atoms + 1)) + (300 * coordinates) + (100 * terms))

(* A sign. *)
let sign () = units 8_000

(* A product of numbers of p and q bits with an addition. Long products cost three of half the
   length, until the shorter factor is short. *)
let product p q =
  let size =
    if p < 2048 || q < 2048 then (p * q) lsr 10
    else
      let rec halved size shorter =
        if shorter <= 2048 then size else halved (size * 3 / 4) ((shorter + 1) / 2) in
      halved (p * q) (min p q) lsr 10 in
  units (100 + ((p + q) lsr 4) + size)

(* A quotient or a greatest common divisor. *)
let quotient p q = units (100 + ((p + q) lsr 4) + ((p * q) lsr 10))

(* Memory is looked at after each cycle of the garbage collector. *)
let watch_memory () =
  let check () =
    let held = (Gc.quick_stat ()).Gc.heap_words * (Sys.word_size / 8) in
    if held > 1 lsl 28 && held / 64 > !budget / units_per_cell then
      unreadable "beyond the limits: the file needs more memory, which --budget raises"
  in
  ignore (Gc.create_alarm check)
