"""Signs of neurons of layer 2 by a zonotope inside another one (docs/theory/one_sided.md).

`program` has the linear program in floats, `rounding` the exact proof that a solution leads to, and
`moves` the other networks that follow. Certificates have theorem `one-sided`.
"""
