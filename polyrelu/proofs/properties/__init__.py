"""Properties of networks: `verify` proves one on its domain, or finds a point where it fails.

`excess` makes one network of the clauses of a property, which is negative where they hold; `points`
looks for points where it is not, `prover` decides. `decisions` asks in the same way whether two
classifiers choose the same class.
"""
