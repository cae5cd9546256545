(* Members of gzip files (RFC 1952), and what is packed in them (RFC 1951). *)
open Meter

let damaged () = unreadable "not a packed file, or a damaged one"
let expect fact = if not fact then damaged ()

(* A code: for the bits that come next, [width] of them, the symbol and the length of its code. *)
type code = { width : int; entries : int array }

type block =
  | Between                          (* before the header of a block *)
  | Stored of int                    (* so many bytes are left *)
  | Coded of code * code

type t = {
  read : bytes -> int -> int -> int; (* as [Stdlib.input] *)
  packed : Bytes.t;
  mutable start : int;               (* what of [packed] was not used yet *)
  mutable stop : int;
  mutable held : int;                (* bits that were taken from it, the next one lowest *)
  mutable num_held : int;
  window : Bytes.t;                  (* the last bytes that were unpacked *)
  mutable taken : int;               (* what of them was handed out *)
  mutable place : int;               (* where the next one comes *)
  mutable size : int;                (* of the member so far *)
  mutable sum : int;
  mutable block : block;
  mutable is_last : bool;
  mutable is_open : bool;            (* a member was begun *)
  mutable any : bool;
}

let reach = 32_768
let longest_copy = 258
let window_size = 4 * reach

let create read = {
  read; packed = Bytes.create 65_536; start = 0; stop = 0; held = 0; num_held = 0;
  window = Bytes.create window_size; taken = 0; place = 0; size = 0; sum = 0; block = Between;
  is_last = false; is_open = false; any = false }

(* ---- CRC-32 *)

let table = Array.init 256 (fun n ->
  let rec go c k =
    if k = 0 then c else go (if c land 1 = 1 then 0xedb88320 lxor (c lsr 1) else c lsr 1) (k - 1) in
  go n 8)

let add_to_sum sum byte = table.((sum lxor byte) land 255) lxor (sum lsr 8)
let no_sum = 0xffff_ffff
let of_sum sum = sum lxor 0xffff_ffff

(* ---- Bytes and bits *)

let has_byte s =
  s.start < s.stop || begin
    s.start <- 0;
    s.stop <- s.read s.packed 0 (Bytes.length s.packed);
    s.stop > 0
  end

let byte s =
  expect (has_byte s);
  let found = Char.code (Bytes.unsafe_get s.packed s.start) in
  s.start <- s.start + 1;
  found

let rec need s count =
  if s.num_held < count then begin
    s.held <- s.held lor (byte s lsl s.num_held);
    s.num_held <- s.num_held + 8;
    need s count
  end

let drop s count =
  s.held <- s.held lsr count;
  s.num_held <- s.num_held - count

let bits s count =
  need s count;
  let found = s.held land ((1 lsl count) - 1) in
  drop s count;
  found

(* ---- Codes *)

let longest_code = 15

let reversed code length =
  let rec go found code left =
    if left = 0 then found else go ((found lsl 1) lor (code land 1)) (code lsr 1) (left - 1) in
  go 0 code length

(* The code with these lengths. There must be a symbol for all bits, except if no code is longer
   than one bit and this is allowed. *)
let code_of ?(may_lack = true) lengths =
  let counts = Array.make (longest_code + 1) 0 in
  Array.iter (fun length -> if length > 0 then counts.(length) <- counts.(length) + 1) lengths;
  let width = ref 0 and left = ref 1 in
  for length = 1 to longest_code do
    left := (2 * !left) - counts.(length);
    expect (!left >= 0);
    if counts.(length) > 0 then width := length
  done;
  expect (!left = 0 || !width = 0 || (may_lack && !width = 1));
  let entries = Array.make (1 lsl !width) 0 and next = Array.make (longest_code + 2) 0 in
  for length = 1 to longest_code do
    next.(length + 1) <- 2 * (next.(length) + counts.(length))
  done;
  Array.iteri (fun symbol length ->
    if length > 0 then begin
      let rec fill i =
        if i < 1 lsl !width then begin
          entries.(i) <- (symbol lsl 4) lor length;
          fill (i + (1 lsl length))
        end in
      fill (reversed next.(length) length);
      next.(length) <- next.(length) + 1
    end) lengths;
  { width = !width; entries }

(* The next symbol. At the end of a file there may be fewer bits than the longest code has. *)
let symbol s code =
  while s.num_held < code.width && has_byte s do need s (s.num_held + 1) done;
  let entry = code.entries.(s.held land ((1 lsl code.width) - 1)) in
  let length = entry land 15 in
  expect (length > 0 && length <= s.num_held);
  drop s length;
  entry lsr 4

let fixed =
  let length symbol = if symbol < 144 then 8 else if symbol < 256 then 9
    else if symbol < 280 then 7 else 8 in
  (code_of (Array.init 288 length), code_of (Array.make 32 5))

let order = [| 16; 17; 18; 0; 8; 7; 9; 6; 10; 5; 11; 4; 12; 3; 13; 2; 14; 1; 15 |]

(* The codes that a block begins with: lengths, which are packed themselves. *)
let dynamic s =
  let num_symbols = bits s 5 + 257 in
  let num_distances = bits s 5 + 1 in
  let num_lengths = bits s 4 + 4 in
  expect (num_symbols <= 286 && num_distances <= 30);
  let lengths = Array.make 19 0 in
  for i = 0 to num_lengths - 1 do lengths.(order.(i)) <- bits s 3 done;
  let code = code_of ~may_lack:false lengths in
  let total = num_symbols + num_distances in
  let found = Array.make total 0 in
  let rec go i =
    if i < total then begin
      let repeat value count =
        expect (i + count <= total);
        Array.fill found i count value;
        go (i + count) in
      match symbol s code with
      | 16 -> expect (i > 0); let count = bits s 2 + 3 in repeat found.(i - 1) count
      | 17 -> let count = bits s 3 + 3 in repeat 0 count
      | 18 -> let count = bits s 7 + 11 in repeat 0 count
      | length -> repeat length 1
    end in
  go 0;
  expect (found.(256) > 0);
  (code_of (Array.sub found 0 num_symbols), code_of (Array.sub found num_symbols num_distances))

(* ---- Blocks *)

let put s value =
  Bytes.unsafe_set s.window s.place (Char.unsafe_chr value);
  s.place <- s.place + 1;
  s.size <- s.size + 1;
  s.sum <- add_to_sum s.sum value

(* The least length or distance of a symbol, and the number of bits that are added. *)
let ranges first extra_of count =
  let bases = Array.make count first in
  for i = 1 to count - 1 do bases.(i) <- bases.(i - 1) + (1 lsl extra_of (i - 1)) done;
  (bases, Array.init count extra_of)

let lengths, length_bits = ranges 3 (fun i -> if i < 8 then 0 else (i / 4) - 1) 28
let distances, distance_bits = ranges 1 (fun i -> if i < 4 then 0 else (i / 2) - 1) 30

let copy s code found =
  expect (found <= 285);
  let length =
    if found = 285 then longest_copy
    else lengths.(found - 257) + bits s length_bits.(found - 257) in
  let far = symbol s code in
  expect (far < 30);
  let distance = distances.(far) + bits s distance_bits.(far) in
  expect (distance <= s.size);
  for _ = 1 to length do
    put s (Char.code (Bytes.unsafe_get s.window (s.place - distance)))
  done

(* Go on with a block, until there is no room for what comes next. *)
let rec unpack s =
  let room = window_size - s.place in
  match s.block with
  | Stored 0 -> s.block <- Between
  | Stored left ->
      let count = min left room in
      for _ = 1 to count do put s (if s.num_held >= 8 then bits s 8 else byte s) done;
      s.block <- Stored (left - count)
  | Coded (symbols, far) ->
      if room >= longest_copy then begin
        match symbol s symbols with
        | 256 -> s.block <- Between
        | found -> (if found < 256 then put s found else copy s far found); unpack s
      end
  | Between ->
      s.is_last <- bits s 1 = 1;
      s.block <-
        (match bits s 2 with
         | 0 ->
             drop s (s.num_held land 7);
             let count = bits s 16 in
             expect (bits s 16 = count lxor 0xffff);
             Stored count
         | 1 -> Coded (fst fixed, snd fixed)
         | 2 -> let symbols, far = dynamic s in Coded (symbols, far)
         | _ -> damaged ())

(* ---- Members *)

let begin_member s =
  let sum = ref no_sum in
  let next () = let found = byte s in sum := add_to_sum !sum found; found in
  let pass count = for _ = 1 to count do ignore (next ()) done in
  let rec pass_text () = if next () <> 0 then pass_text () in
  expect (next () = 0x1f && next () = 0x8b && next () = 8);
  let flags = next () in
  expect (flags land 0xe0 = 0);
  pass 6;
  if flags land 4 <> 0 then begin
    let low = next () in
    let high = next () in
    pass (low + (256 * high))
  end;
  if flags land 8 <> 0 then pass_text ();
  if flags land 16 <> 0 then pass_text ();
  if flags land 2 <> 0 then begin
    let wanted = of_sum !sum land 0xffff in
    let low = byte s in
    expect (low + (256 * byte s) = wanted)
  end;
  s.size <- 0; s.sum <- no_sum; s.block <- Between; s.is_last <- false; s.is_open <- true

let end_member s =
  drop s (s.num_held land 7);
  let low = bits s 16 in
  expect (low lor (bits s 16 lsl 16) = of_sum s.sum);
  let low = bits s 16 in
  expect (low lor (bits s 16 lsl 16) = s.size land 0xffff_ffff);
  s.is_open <- false

(* Begin the next member, if there is one; zeros after a member are passed. *)
let rec find_member s =
  if not (has_byte s) then (expect s.any; false)
  else if s.any && Bytes.get s.packed s.start = '\000' then begin
    s.start <- s.start + 1;
    find_member s
  end
  else (begin_member s; s.any <- true; true)

(* Fill a part of a buffer; 0 at the end. *)
let rec input s buffer start size =
  let found = s.place - s.taken in
  if found > 0 then begin
    let count = min found size in
    Bytes.blit s.window s.taken buffer start count;
    s.taken <- s.taken + count;
    count
  end
  else begin
    if s.place > window_size - (2 * longest_copy) then begin
      Bytes.blit s.window (s.place - reach) s.window 0 reach;
      s.place <- reach; s.taken <- reach
    end;
    if s.is_open then begin
      (match s.block with
       | Between when s.is_last -> end_member s
       | _ -> unpack s);
      input s buffer start size
    end
    else if find_member s then input s buffer start size
    else 0
  end
