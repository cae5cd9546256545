"""Signs of neurons of layer 2 by a zonotope inside another one (docs/theory/one_sided.md).

A sum of m_j max(w_j·x, 0) with m_j > 0 is the largest x·p over the points p of a *zonotope*, the
set of all sums of one point of each segment from 0 to m_j w_j. So it is at least another such sum
for every x if and only if its zonotope contains the other one. Biases add a coordinate.

`program` has the linear program in floats, `rounding` the exact proof that a solution leads to, and
`moves` the other networks that follow. Certificates have theorem `one-sided`.
"""
