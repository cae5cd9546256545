(** The axioms that the theorems of the checker rest on. *)
From PolyreluVerified Require Import Checker Refutations Identifiable Regions
  VertexRegions.
Print Assumptions tree_holds.
Print Assumptions difference_holds.
Print Assumptions competitor_holds.
Print Assumptions shallow_holds.
Print Assumptions regions_hold.
Print Assumptions vertices_hold.
