"""Why an accepted mutant is true, by routes that share nothing with the checker."""

from __future__ import annotations

from fractions import Fraction
from random import Random
from typing import Any

import polyrelu
from polyrelu import Proved
from polyrelu.formats import runtime_error
from polyrelu.network import from_document
from polyrelu.proofs.membership import generic_membership
from polyrelu.symmetry import related
from tests.oracles.float_runtime import Runtime, rounded
from tests.oracles.grid import same_function
from tests.oracles.judge import contradictions, plain

__all__ = ["reason_it_is_true"]


def reason_it_is_true(document: dict[str, Any], mutant: dict[str, Any]) -> str:
    """Return why an accepted mutant is still true, or nothing."""
    if mutant["claim"] == document["claim"]:
        return "the same claim"
    claim = mutant["claim"]
    network = from_document(claim["network"]["inline"])
    if claim["kind"] == "runtime-error":
        return "no runtime is further away" if _survives_runtimes(claim, network) else ""
    if claim["kind"] == "identifiable":
        if claim["among"] == "all" and network.depth == 1:
            return "an affine map determines its parameters"
        outcome = polyrelu.identify(network, among="all" if claim["among"] == "all" else None)
        if isinstance(outcome, Proved) and contradictions(plain(network), outcome) == []:
            return "the prover proves it and brute force finds nothing against it"
        return ""
    other = from_document(claim["other"]["inline"])
    member = claim["among"] == "all" or generic_membership(other)["status"] == "verified"
    if member and same_function(plain(network), plain(other)) and not related(network, other):
        return "the same function by brute force, not related, in the class"
    return ""


def _survives_runtimes(claim: dict[str, Any], network: polyrelu.Network) -> bool:
    """Return whether a claim holds for the prover's bound and for a hundred simulated runtimes.

    The runtimes use every freedom that the theorem allows.
    """
    low, high, limits = (
        [Fraction(text) for text in entry]
        for entry in (*claim["domain"].values(), claim["at-most"])
    )
    found = runtime_error(network, (low, high), arithmetic=claim["arithmetic"])
    if any(
        own is None or own * (1 - Fraction(1, 2**20)) > limit
        for own, limit in zip(found.bounds, limits, strict=True)
    ):
        return False
    layers, chance = plain(network), Random(0)
    for seed in range(100):
        x = [
            rounded(a + Fraction(chance.randint(0, 8), 8) * (b - a), claim["arithmetic"])
            for a, b in zip(low, high, strict=True)
        ]
        if all(a <= v <= b for a, v, b in zip(low, x, high, strict=True)):
            theirs = Runtime(claim["arithmetic"], seed).run(layers, x)
            if any(
                abs(v - w) > limit for v, w, limit in zip(theirs, network(x), limits, strict=True)
            ):
                return False
    return True
