"""Certificates of the claim not-identifiable, of the theorems that the second checker covers."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from itertools import chain, islice, pairwise
from random import Random
from typing import Any

from polyrelu import Network, Polyhedron, from_arrays
from polyrelu.certificate import Certificate, Claim, Hypothesis
from polyrelu.proofs.refutations.moves import Move, moves
from polyrelu.proofs.refutations.one_sided import one_sided_moves
from tests.generators.certificate_mutants import NETWORKS, original
from tests.generators.certificates import VALID

__all__ = ["certificate_of", "refutations"]

#: The theorems whose rules are proved in Coq.
COVERED = (
    *("translation", "flip", "one-sided", "one-sided-cases", "replacement"),
    *("bounded-replacement", "line-equal", "tree-equal"),
)
#: Maximum number of certificates of one theorem for one random network.
OF_ONE_THEOREM = 2


def refutations(num_random: int) -> Iterator[tuple[str, bytes]]:
    """Yield certificates of the format's own suite, of proved networks, of random plain stacks.

    Every third network has its claims on a box. In every second one a layer is a single neuron
    whose weights but one are not positive, so that hyperplanes are hidden.
    """
    for path in VALID:
        if json.loads(path.read_text())["proof"]["theorem"] in COVERED:
            yield path.stem, path.read_bytes()
    for name in NETWORKS:
        document, _ = original(name)
        if document["proof"]["theorem"] in COVERED:
            yield f"proved, {name}", json.dumps(document).encode()
    for seed in range(num_random):
        network, domain = _network(Random(seed), seed % 2 == 0), None
        if seed % 3 == 0:
            domain = Polyhedron.box([-1] * network.num_inputs, [2] * network.num_inputs)
        counts = Counter[str]()
        found = (moves(network, seed, domain=domain), one_sided_moves(network, domain=domain))
        for move in islice(chain.from_iterable(found), 20):
            counts[move.theorem] += 1
            if counts[move.theorem] <= OF_ONE_THEOREM:
                name = f"random {seed}, {move.theorem} {counts[move.theorem]}"
                yield name, certificate_of(network, move, domain)


def _network(chance: Random, hides: bool) -> Network:
    """Return a plain stack with small integer weights, many of them zero."""
    depth = chance.choice([2, 3, 3, 4])
    widths = [chance.randint(1, 3) for _ in range(depth)] + [chance.randint(1, 2)]
    if hides and depth > 2:
        widths[2] = 1
    layers = []
    for before, width in pairwise(widths):
        rows = [[chance.choice([-2, -1, 0, 1, 1, 3]) for _ in range(before)] for _ in range(width)]
        bias = [chance.randint(-3, 2) for _ in range(width)]
        layers.append((rows, bias))
    if hides and depth > 2:
        row = [-abs(x) for x in layers[1][0][0]]
        row[0] = 2
        layers[1] = ([row], [-abs(layers[1][1][0])])
    return from_arrays(layers, chance.choice(["affine", "affine", "relu"]))


def certificate_of(
    network: Network, move: Move, domain: Polyhedron | None = None, columns: list[int] | None = None
) -> bytes:
    """Return the certificate of a move among all parameters or, with columns, generic ones."""
    membership: dict[str, Any] = {"status": "verified", "method": "every"}
    if columns is not None:
        membership |= {"method": "minors", "prime": "2147483647", "columns": columns}
    claim = Claim(
        "not-identifiable",
        network,
        "all" if columns is None else "generic",
        other=move.other,
        domain=domain,
    )
    evidence: dict[str, dict[str, Any]] = {
        "architecture": {},
        "same-function": move.evidence,
        "not-related": {"layer": move.difference},
        "membership": membership,
    }
    hypotheses = tuple(Hypothesis(move.theorem, *entry) for entry in evidence.items())
    return json.dumps(Certificate(claim, move.theorem, hypotheses).to_document()[0]).encode()
