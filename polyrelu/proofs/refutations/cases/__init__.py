"""Signs of neurons by trees of cases, for theorem `one-sided-cases` (docs/theory/one_sided.md).

`scope` has the neurons that matter, `relaxation` a linear program in floats about them, `cone` the
same program with a measure of what is left to be shown, `leaf` the exact proof of one case, `tree`
the search for a tree, and `moves` the other networks that follow.
"""
