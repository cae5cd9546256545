"""Leaky ReLU stacks: proofs and refutations of identifiability.

The theory is on the page docs/theory/architectures.md.
"""
