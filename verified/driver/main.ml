(* The command line of the verified checker. *)
open Meter

let usage =
  "usage: polyrelu-check-verified [--json] [--budget UNITS] [--network FILE]... CERT..."

let help = usage ^ "\n\n\
Check certificates of the claims equivalent, not-equivalent, not-identifiable, regions and\n\
identifiable (theorem shallow) by rules that are proved in Coq.\n\n\
\  CERT             certificate files; network files that they name are looked for beside them\n\
\  --network FILE   a network file that a certificate names, under another name\n\
\  --budget UNITS   what each check may cost (default 2^35 and 2^14 a byte)\n\
\  --json           one line of JSON for each certificate\n\
\  --batch          names of certificates are lines of the standard input\n\
\  --sha256 FILE    print the SHA-256 of a file, and nothing else\n\
\  --version        the version of the format\n\n\
Exit status: 0 if all are accepted, 1 if one is rejected, 2 if one is unreadable, 3 if one makes\n\
a claim that is not covered; the largest counts."

let version = "polyrelu verified checker, certificate format version 1"

(* What an accepted certificate rests on. *)
let trusted (found : Check.accepted) =
  [ "Coq's kernel, and the two axioms of its real numbers: sig_forall_dec, \
     functional_extensionality_dep";
    "verified/theories: Networks.v, Domains.v, Claims.v" ^ found.theories;
    "extraction to OCaml with verified/extraction/Extract.v, the OCaml compiler, Zarith and GMP";
    "verified/driver: files, JSON, numbers and SHA-256"
      ^ (if found.is_packed then ", and unpacking" else "") ]

type verdict =
  | Accepted of Check.accepted
  | Failed of string * string * string  (* verdict, step, what was found *)

let name_of = function Accepted _ -> "accepted" | Failed (name, _, _) -> name

let status_of verdict =
  match name_of verdict with "accepted" -> 0 | "rejected" -> 1 | "unreadable" -> 2 | _ -> 3

let check path given budget =
  restart budget;
  let failed name got = Failed (name, !Check.step, got) in
  match Check.check_file path given with
  | found -> Accepted found
  | exception Rejected got -> failed "rejected" got
  | exception Unreadable got -> failed "unreadable" got
  | exception Check.Not_covered kind -> failed "not covered" kind
  | exception (Sys_error got | Failure got | Invalid_argument got) -> failed "unreadable" got
  | exception Unix.Unix_error (code, _, _) -> failed "unreadable" (Unix.error_message code)
  | exception (Stack_overflow | Out_of_memory) -> failed "unreadable" "beyond the limits"

(* ---- Reports *)

let quoted text =
  let buffer = Buffer.create (String.length text + 2) in
  Buffer.add_char buffer '"';
  String.iter (fun c ->
    if c = '"' || c = '\\' || c < ' ' || c > '~' then
      Buffer.add_string buffer (Printf.sprintf "\\u%04x" (Char.code c))
    else Buffer.add_char buffer c) text;
  Buffer.add_char buffer '"';
  Buffer.contents buffer

let entry key value = quoted key ^ ": " ^ value
let of_list make l = "[" ^ String.concat ", " (List.map make l) ^ "]"
let of_object entries = "{" ^ String.concat ", " entries ^ "}"

let as_json path verdict =
  let text key value = entry key (quoted value) in
  let cost = entry "cost" (string_of_int (cost ())) in
  of_object (text "file" path :: text "verdict" (name_of verdict) ::
    match verdict with
    | Failed (_, step, got) -> [ text "step" step; text "got" got; cost ]
    | Accepted found ->
        [ text "statement" found.statement; text "theorem" found.theorem;
          entry "hypotheses" (of_list (fun (id, statement) ->
            of_object [ text "id" id; text "statement" statement ]) found.hypotheses);
          entry "trusted" (of_list quoted (trusted found));
          entry "networks" (of_list quoted found.networks); cost ])

let as_text = function
  | Failed (name, step, got) -> Printf.sprintf "%s\n  step: %s\n  got: %s" name step got
  | Accepted found ->
      String.concat "\n  " (
        ("accepted: " ^ found.statement) :: ("theorem: " ^ found.theorem) ::
        List.map (fun (id, statement) -> id ^ ": " ^ statement) found.hypotheses @
        [ "trusted: " ^ String.concat "; " (trusted found) ] @
        List.map (fun sha256 -> "network: " ^ sha256) found.networks @
        [ Printf.sprintf "cost: %d units" (cost ()) ])

(* ---- The command line *)

type options = {
  mutable json : bool; mutable batch : bool; mutable budget : int option;
  mutable networks : string list; mutable paths : string list }

let fail_usage () = prerr_endline usage; exit 2

let print_sha256 path =
  let digest = Sha256.create () and file = open_in_bin path and buffer = Bytes.create 65_536 in
  let rec go () =
    let size = input file buffer 0 (Bytes.length buffer) in
    if size > 0 then (Sha256.feed digest (Bytes.sub_string buffer 0 size); go ()) in
  go ();
  print_endline (Sha256.hex digest);
  exit 0

let read_options arguments =
  let found = { json = false; batch = false; budget = None; networks = []; paths = [] } in
  let rec go = function
    | [] -> ()
    | ("--help" | "-h") :: _ -> print_endline help; exit 0
    | "--version" :: _ -> print_endline version; exit 0
    | "--sha256" :: path :: _ -> print_sha256 path
    | "--json" :: rest -> found.json <- true; go rest
    | "--batch" :: rest -> found.batch <- true; go rest
    | "--network" :: path :: rest -> found.networks <- found.networks @ [ path ]; go rest
    | "--budget" :: units :: rest ->
        (match int_of_string_opt units with
         | Some n when n >= 1 -> found.budget <- Some n
         | _ -> fail_usage ());
        go rest
    | "--" :: rest -> found.paths <- found.paths @ rest
    | option :: _ when String.length option > 1 && option.[0] = '-' -> fail_usage ()
    | path :: rest -> found.paths <- found.paths @ [ path ]; go rest in
  go arguments;
  found

let report options is_one path =
  let verdict = check path options.networks options.budget in
  if options.json then print_endline (as_json path verdict)
  else print_endline ((if is_one then "" else path ^ ": ") ^ as_text verdict);
  flush stdout;
  status_of verdict

(* Long lists need a large stack: the program starts itself again with one. *)
let with_large_stack () =
  if Sys.getenv_opt "POLYRELU_VERIFIED_STACK" = None then begin
    Unix.putenv "POLYRELU_VERIFIED_STACK" "1";
    let script =
      "ulimit -s 4000000 2> /dev/null || ulimit -s $(ulimit -H -s); exec \"$0\" \"$@\"" in
    let arguments = Array.append [| "sh"; "-c"; script; Sys.executable_name |]
      (Array.sub Sys.argv 1 (Array.length Sys.argv - 1)) in
    try Unix.execv "/bin/sh" arguments with Unix.Unix_error _ -> ()
  end

let () =
  with_large_stack ();
  Sys.set_signal Sys.sigpipe Sys.Signal_ignore;
  watch_memory ();
  let options = read_options (List.tl (Array.to_list Sys.argv)) in
  if options.batch then begin
    let rec go worst =
      match input_line stdin with
      | path -> go (max worst (report options false path))
      | exception End_of_file -> worst in
    exit (go 0)
  end;
  if options.paths = [] then fail_usage ();
  let is_one = List.length options.paths = 1 in
  exit (List.fold_left (fun worst path -> max worst (report options is_one path)) 0 options.paths)
