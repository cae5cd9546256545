"""One hidden layer: identifiability among all parameters.

`prover` proves the theorem, from the `assignments` of neurons to hyperplanes; `vanishing_sums` has
the hypothesis that three theorems share. Statement and proof: docs/theory/shallow.md. `teaching`
finds points whose values determine a network (docs/theory/teaching.md).
"""
