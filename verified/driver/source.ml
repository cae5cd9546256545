(* Files, packed or not. A packed one is unpacked by the program gzip, through a pipe. *)
open Meter

type t = {
  channel : in_channel;
  is_packed : bool;
  pid : int;                       (* of gzip *)
  buffer : Bytes.t;
  mutable start : int;             (* what of the buffer was not read yet *)
  mutable stop : int;
  mutable ended : bool;
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
  let file = Unix.openfile path [ O_RDONLY; O_CLOEXEC ] 0 in
  let source_of descriptor pid =
    { channel = Unix.in_channel_of_descr descriptor; is_packed; pid;
      buffer = Bytes.create 65_536; start = 0; stop = 0; ended = false } in
  if not is_packed then source_of file 0
  else begin
    let from, into = Unix.pipe ~cloexec:true () in
    let quiet = Unix.openfile "/dev/null" [ O_WRONLY; O_CLOEXEC ] 0 in
    let pid = Unix.create_process "gzip" [| "gzip"; "-dc" |] file into quiet in
    List.iter Unix.close [ file; into; quiet ];
    source_of from pid
  end

let close source =
  close_in_noerr source.channel;
  if source.is_packed && not source.ended then
    try ignore (Unix.waitpid [] source.pid) with Unix.Unix_error _ -> ()

(* At the end of a packed file, gzip must have found nothing wrong. *)
let finish source =
  if source.is_packed && not source.ended then begin
    source.ended <- true;
    let _, status = Unix.waitpid [] source.pid in
    well_formed (status = WEXITED 0) "not a gzip file, or a damaged one"
  end

(* Fill an empty buffer; false at the end of the file. *)
let fill source =
  if source.start < source.stop then true
  else begin
    source.start <- 0;
    source.stop <- input source.channel source.buffer 0 (Bytes.length source.buffer);
    if source.stop = 0 then finish source;
    source.stop > 0
  end

(* Whether a file of which nothing was read begins with a text. *)
let starts_with source text =
  let wanted = String.length text in
  let rec go () =
    if source.stop < wanted then begin
      let more = input source.channel source.buffer source.stop (wanted - source.stop) in
      source.stop <- source.stop + more;
      if more > 0 then go ()
    end in
  go ();
  source.stop >= wanted && Bytes.sub_string source.buffer 0 wanted = text

(* All bytes, at most a number of them. *)
let read_all source most =
  let found = Buffer.create 65_536 in
  while fill source do
    well_formed (Buffer.length found + source.stop - source.start <= most)
      (Printf.sprintf "more than %d bytes, the limit of the format" most);
    if source.is_packed then units (8 * (source.stop - source.start));
    Buffer.add_subbytes found source.buffer source.start (source.stop - source.start);
    source.start <- source.stop
  done;
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
