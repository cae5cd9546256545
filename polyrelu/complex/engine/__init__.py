"""The engine behind the canonical complex: face lattice, vertices, affine forms. Private to the room."""
