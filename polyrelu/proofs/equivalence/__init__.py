"""Equivalence of two networks on a domain: points of difference, routes, and the prover."""
