"""Split trees: forms in neurons as atoms, node polyhedra, bounds, and the search for a tree."""
