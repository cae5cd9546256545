"""The Parma Polyhedra Library, in a process of its own."""
