"""Refutations of identifiability: other networks with the same function, with their evidence."""
