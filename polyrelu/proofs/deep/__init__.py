"""Theorem D: identifiability of deep networks from ridges of the function (docs/theory/deep.md)."""
