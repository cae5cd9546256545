(** Sentences of claims: what an accepted certificate is reported to say.

    A sentence is made of the claim that was proved, with the first digits of the hashes of its
    networks; it is the one that checker.py prints. *)
Require Import ZArith NArith List Bool String DecimalString.
From PolyreluVerified Require Import Networks Domains Claims RegionLists Limits.
Import ListNotations.
Open Scope string_scope.

Definition decimal (z : Z) : string := NilZero.string_of_int (Z.to_int z).
Definition decimal_N (n : N) : string := decimal (Z.of_N n).
Definition counted (n : N) (noun : string) : string :=
  decimal_N n ++ " " ++ noun ++ (if (n =? 1)%N then "" else "s").

(** * Networks *)

Definition listed_widths : nat := 16.

Definition widths (inputs : nat) (n : net) : list N :=
  N.of_nat inputs :: List.map (fun l => size (neurons l)) (layers n).

Definition plain (n : net) : bool :=
  forallb (fun l => match sources_of l with [_] => true | _ => false end) (layers n).

Definition network_words (inputs : nat) (n : net) : string :=
  let ws := widths inputs n in
  (if plain n then "architecture" else "widths") ++ " (" ++
  String.concat ", " (List.map decimal_N (firstn listed_widths ws)) ++
  (match skipn listed_widths ws with [] => "" | _ => ", ..." end) ++ ") with " ++
  (if relu_last n then "relu" else "affine") ++ " output".

(** * Domains *)

(** Maximum number of characters of a domain in a sentence. *)
Definition domain_characters : nat := 400.

Definition row_words (sign : string) (r : list Z * Z) : string :=
  "(" ++ String.concat " " (List.map decimal (fst r)) ++ ").x " ++ sign ++ " " ++ decimal (snd r).

(** The rows, unless they are long; [room] characters are left. A number takes one character or
    more, so that the words of a long row are not made. *)
Fixpoint rows_words (sign : string) (rows : list (list Z * Z)) (room : nat) :
  option (list string) :=
  match rows with
  | [] => Some []
  | r :: rows' =>
      if Nat.ltb room (List.length (fst r)) then None else
      if forallb (short 1400) (snd r :: fst r) then
        let words := row_words sign r in
        if Nat.ltb room (String.length words) then None else
        match rows_words sign rows' (room - String.length words) with
        | Some l => Some (words :: l)
        | None => None
        end
      else None
  end.

(** All constraints, if they are short. *)
Definition short_place (D : domain) : option string :=
  match rows_words "<=" (ineqs D) domain_characters, rows_words "=" (eqs D) domain_characters with
  | Some l, Some m =>
      let words := "{x : " ++ String.concat ", " (l ++ m) ++ "}" in
      if Nat.leb (String.length words) domain_characters then Some words else None
  | _, _ => None
  end.

(** The only coefficient that is not 0, with its column. *)
Fixpoint only_coefficient (j : N) (row : list Z) : option (N * Z) :=
  match row with
  | [] => None
  | c :: row' =>
      if (c =? 0)%Z then only_coefficient (N.succ j) row'
      else if forallb (fun z => (z =? 0)%Z) row' then Some (j, c) else None
  end.

(** The words of a constraint of one coordinate. *)
Definition side_words (r : list Z * Z) : option (N * string) :=
  match only_coefficient 0 (fst r) with
  | None => None
  | Some (j, c) =>
      if short 1400 c && short 1400 (snd r) then
        let a := decimal c in let b := decimal (snd r) in
        if Nat.leb (String.length a + String.length b) (domain_characters + 3)
        then Some (j, "(" ++ a ++ ").x_j <= " ++ b) else None
      else None
  end.

Definition before (a b : string) : bool :=
  match String.compare a b with Lt => true | _ => false end.

(** A set of at most two strings, in order, with one more. *)
Definition with_word (words : list string) (w : string) : option (list string) :=
  match words with
  | [] => Some [w]
  | [a] => if String.eqb a w then Some [a] else Some (if before w a then [w; a] else [a; w])
  | [a; b] => if String.eqb a w || String.eqb b w then Some [a; b] else None
  | _ => None
  end.

(** Sides of the coordinates, in ascending order. *)
Fixpoint with_side (sides : list (N * list string)) (j : N) (w : string) :
  option (list (N * list string)) :=
  match sides with
  | [] => Some [(j, [w])]
  | (k, words) :: sides' =>
      if (k =? j)%N then
        match with_word words w with Some l => Some ((k, l) :: sides') | None => None end
      else match with_side sides' j w with Some l => Some ((k, words) :: l) | None => None end
  end.

Fixpoint sides_of (sides : list (N * list string)) (rows : list (list Z * Z)) :
  option (list (N * list string)) :=
  match rows with
  | [] => Some sides
  | r :: rows' =>
      match side_words r with
      | None => None
      | Some (j, w) =>
          match with_side sides j w with Some l => sides_of l rows' | None => None end
      end
  end.

Fixpoint same_words (l m : list string) : bool :=
  match l, m with
  | [], [] => true
  | a :: l', b :: m' => String.eqb a b && same_words l' m'
  | _, _ => false
  end.

(** A domain that bounds every coordinate in one and the same way. *)
Definition cube_words (inputs : nat) (D : domain) : option string :=
  match eqs D, sides_of [] (ineqs D) with
  | [], Some (((_, first) :: _) as sides) =>
      if (size sides =? N.of_nat inputs)%N && forallb (fun s => same_words (snd s) first) sides
      then Some ("{x : " ++ String.concat ", " first ++ " for every coordinate j}")
      else None
  | _, _ => None
  end.

Definition place_words (inputs : nat) (D : domain) : string :=
  match ineqs D, eqs D with
  | [], [] => "R^n"
  | _, _ =>
      match short_place D with
      | Some words => words
      | None =>
          match cube_words inputs D with
          | Some words => words
          | None =>
              "the set of the claim's " ++ decimal_N (size (ineqs D)) ++ " inequalities and " ++
              decimal_N (size (eqs D)) ++ " equations"
          end
      end
  end.

(** * Claims *)

Definition pair_words (first second : string) (p : pair) (kind : string) : string :=
  "Network " ++ first ++ ", " ++ network_words (inputs p) (one p) ++ ", and network " ++ second ++
  ", " ++ network_words (inputs p) (two p) ++ ", are " ++ kind ++ ": ".

(** The sentence of a claim; [first] and [second] are the first digits of the hashes. *)
Definition sentence (first second : string) (c : claim) : string :=
  match c with
  | Equivalent p =>
      pair_words first second p "equivalent" ++ "they compute the same real function on " ++
      place_words (inputs p) (place p) ++ "."
  | Not_equivalent p =>
      pair_words first second p "not-equivalent" ++ "they differ at a point of " ++
      place_words (inputs p) (place p) ++ "."
  end.

(** The sentence of a list of regions, with what the file shows. *)
Definition regions_words (digits : string) (p : placed) (count : nat) (shown : string) : string :=
  "The canonical complex of network " ++ digits ++ ", " ++
  network_words (num_inputs p) (network p) ++ ", on " ++
  place_words (num_inputs p) (area p) ++ " has exactly " ++
  counted (N.of_nat count) "cell" ++ " of full dimension; " ++ shown ++ ".".

Definition regions_sentence (digits : string) (p : placed) (count : nat) : string :=
  regions_words digits p count "the leaves name a point inside each".

(** The sentence of a list of regions by vertices. *)
Definition vertices_sentence (digits : string) (p : placed) (count : nat) : string :=
  regions_words digits p count "the file lists the vertices, with the signs of all neurons there".

Definition vertices_words (num_vertices : N) : string :=
  "There " ++ (if (num_vertices =? 1)%N then "is " else "are ") ++
  (if (num_vertices =? 1)%N then "1 vertex" else decimal_N num_vertices ++ " vertices") ++ ".".

Definition tree_words (nodes : N) : string := "The tree has " ++ counted nodes "node" ++ ".".
