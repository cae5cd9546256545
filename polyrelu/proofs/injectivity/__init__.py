"""Whether a network, or some of its layers, send different points to different outputs.

`prover` answers the question. One layer is searched by `node_search`, after a local search for few
active neurons (`least_active`); `collisions` makes two points with equal outputs of one point.
Where layers leave a network open, `cell_search` compares all pairs of cells. Proofs are in
docs/theory/injectivity.md.
"""
