(** Extraction to OCaml. What stands here is trusted: the realisers of the library (the five
    ExtrOcaml files) and those of this file. A reviewer has to read this file. *)
From PolyreluVerified Require Import Verdicts Checker Sentences Limits Claims Refutations
  Identifiable Regions VertexRegions Coordinates.
Require Import ZArith NArith String DecimalString.
Require Import Extraction ExtrOcamlBasic ExtrOcamlZBigInt ExtrOcamlNatInt ExtrOcamlChar.
Require Import ExtrOcamlNativeString.

(** Functions that the library leaves as loops over bits, or that are paid for; they are in
    driver/realisers.ml. *)
Extract Constant Z.mul => "Realisers.mul".
Extract Constant N.mul => "Realisers.mul".
Extract Constant Pos.mul => "Realisers.mul".
Extract Constant Z.gcd => "Realisers.gcd".
Extract Constant Z.lcm => "Realisers.lcm".
Extract Constant Z.ggcd => "Realisers.ggcd".
Extract Constant Z.div => "Realisers.div".
Extract Constant Z.modulo => "Realisers.modulo".
Extract Constant Z.log2 => "Realisers.log2".
Extract Constant N.compare =>
  "(fun a b -> let s = Realisers.compare a b in if s = 0 then Eq else if s < 0 then Lt else Gt)".
Extract Constant Z.leb => "Realisers.leq".
Extract Constant Z.ltb => "Realisers.lt".
Extract Constant N.eqb => "Realisers.equal".
Extract Constant N.leb => "Realisers.leq".
Extract Constant N.ltb => "Realisers.lt".
Extract Constant N.of_nat => "Realisers.of_int".

(** Strings, of sentences only. *)
Extract Constant String.length => "Stdlib.String.length".
Extract Constant String.compare =>
  "(fun a b -> let c = Stdlib.compare a b in if c = 0 then Eq else if c < 0 then Lt else Gt)".
Extract Constant decimal => "Realisers.decimal".

(** OCaml computes arguments first; without this, a limit would be looked at after the work. *)
Extraction Inline Verdicts.require Verdicts.within Checker.with_domain Checker.with_point.

Extraction "core.ml"
  start_tree next_node finished check_difference network_fits sentence tree_words
  check_competitor refutation_sentence
  check_shallow identifiable_sentence
  start_regions next_region_node regions_finished check_count regions_sentence
  start_vertices next_vertex check_vertex_count vertices_sentence
  vertices_words signed_rows num_signs num_bound_signs
  setup.  (* for the memory that a domain takes *)
