"""The engine behind the canonical complex; no other room imports it.

From bottom to top: `arrays` (growing arrays), `face_lattice` (cells and how a form splits them),
`affine_forms` and `vertices` (signs in floats with error bounds, and exactly), `arrangement` (the
first cells), `subdivision` (all cuts), `cells` (the result). A change here must keep the numbering
of cells, which files and tests rely on, and the error bounds of docs/theory/float_signs.md.
"""
