(* Files, packed or not. *)
open Meter

type t = {
  channel : in_channel;
  is_packed : bool;
  take : bytes -> int -> int -> int;  (* as [Stdlib.input], of what is unpacked *)
  buffer : Bytes.t;
  mutable start : int;             (* what of the buffer was not read yet *)
  mutable stop : int;
}

let gzip_start = "\x1f\x8b"

let is_regular path = try (Unix.stat path).st_kind = S_REG with Unix.Unix_error _ -> false

let exists path = try ignore (Unix.lstat path); true with Unix.Unix_error _ -> false

let size_of path = try (Unix.stat path).st_size with Unix.Unix_error _ -> 0

let begins path start =
  let file = open_in_bin path in
  let found = try really_input_string file (String.length start) with End_of_file -> "" in
  close_in file;
  found = start

(* Open a regular file; what is read from it is unpacked. *)
let open_file path =
  well_formed (exists path) "there is no such file";
  well_formed (is_regular path) "not a regular file";
  let is_packed = begins path gzip_start in
  let channel = open_in_bin path in
  let take =
    if is_packed then Inflate.input (Inflate.create (input channel)) else input channel in
  { channel; is_packed; take; buffer = Bytes.create 65_536; start = 0; stop = 0 }

let close source = close_in_noerr source.channel

(* Fill an empty buffer; false at the end of the file. *)
let fill source =
  if source.start < source.stop then true
  else begin
    source.start <- 0;
    source.stop <- source.take source.buffer 0 (Bytes.length source.buffer);
    source.stop > 0
  end

(* Whether a file of which nothing was read begins with a text. *)
let starts_with source text =
  let wanted = String.length text in
  let rec go () =
    if source.stop < wanted then begin
      let more = source.take source.buffer source.stop (wanted - source.stop) in
      source.stop <- source.stop + more;
      if more > 0 then go ()
    end in
  go ();
  source.stop >= wanted && Bytes.sub_string source.buffer 0 wanted = text

(* Bytes that are unpacked before the next ones are paid. *)
let unpacked_part = 1 lsl 20

(* All bytes, at most a number of them. Those of a packed network file are paid part by part, and
   held until the text itself is. *)
let read_all ?(is_network = false) source most =
  let found = Buffer.create 65_536 and paid = ref 0 and cells = ref 0 in
  let pay () =
    let size = Buffer.length found - !paid in
    units (8 * size);
    hold (size / 64);
    cells := !cells + (size / 64);
    paid := !paid + size in
  while fill source do
    well_formed (Buffer.length found + source.stop - source.start <= most)
      (Printf.sprintf "more than %d bytes, the limit of the format" most);
    let size = source.stop - source.start in
    let is_paid_by_part = is_network && source.is_packed in
    let rest = !paid + unpacked_part - Buffer.length found in
    let count = if is_paid_by_part then min size rest else size in
    Buffer.add_subbytes found source.buffer source.start count;
    source.start <- source.start + count;
    if is_paid_by_part && count = rest then pay ()
  done;
  if is_network && source.is_packed then pay ();
  release !cells;
  Buffer.contents found

(* The next line without its newline. *)
let read_line source most =
  let found = Buffer.create 1_024 in
  let rec go () =
    well_formed (fill source) "the file ends early";
    let size = source.stop - source.start in
    match Bytes.index_from_opt source.buffer source.start '\n' with
    | Some i when i < source.stop ->
        Buffer.add_subbytes found source.buffer source.start (i - source.start);
        source.start <- i + 1
    | _ ->
        Buffer.add_subbytes found source.buffer source.start size;
        source.start <- source.stop;
        well_formed (Buffer.length found < most) "the line is too long";
        go () in
  go ();
  well_formed (Buffer.length found < most) "the line is too long";
  Buffer.contents found
