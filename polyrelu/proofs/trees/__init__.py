"""Split trees: joint networks, node polyhedra, bounds of forms, and the search for a tree."""
