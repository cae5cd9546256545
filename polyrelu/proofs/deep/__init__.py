"""Theorem D: the identifiability of deep networks, proved from ridges of the function.

The modules build on each other in this order: `settings`, `ridges`, `families`, `neuron_evidence`,
`linear_systems` and `source_weights`, `hypotheses`, `planes`, `search`, `checkpoint` and
`selection`, `evidence`, `prover`; `one_sided_candidates` reads a search that did not succeed. Every
module uses the words that `ridges` and `families` define. Statement and proof: docs/theory/deep.md.
"""
