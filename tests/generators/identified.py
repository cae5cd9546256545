"""Certificates of the theorem shallow, with doubled hyperplanes and without."""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from random import Random
from typing import Any

from polyrelu import Network, Polyhedron, from_arrays, identify
from polyrelu.network import to_document
from tests.generators.certificate_mutants import original
from tests.generators.certificates import VALID

__all__ = ["by_assignments", "identified"]


def identified(num_random: int) -> Iterator[tuple[str, bytes]]:
    """Yield certificates of the format's own suite, of proved networks, of random networks.

    Every third random network has its claim on a box, and in every fourth one the matrices v_i w_i
    are linearly dependent, so that sums of subsets are listed.
    """
    for path in VALID:
        if _is_covered(json.loads(path.read_text())):
            yield path.stem, path.read_bytes()
    for name in ("shallow by assignments", "shallow by independence", "shallow by subset sums"):
        yield f"proved, {name}", json.dumps(original(name)[0]).encode()
    for seed in range(num_random):
        network, domain = _network(Random(seed), seed % 4 == 0), None
        if seed % 3 == 0:
            domain = Polyhedron.box([-9] * network.num_inputs, [9] * network.num_inputs)
        certificate = identify(network, domain).certificate
        if certificate is not None:
            document = certificate.to_document()[0]
            if _is_covered(document):
                yield f"random {seed}", json.dumps(document).encode()


def _is_covered(document: Any) -> bool:
    theorem = document["proof"]["theorem"]
    return theorem == "shallow" and "inline" in document["claim"]["network"]


def by_assignments(chance: Random) -> bytes:
    """Return a certificate with the method "assignments", which is right for some networks.

    About half of the hyperplanes of the network are doubled, and its numbers are so small that
    other orientations often give its function.
    """
    size = [chance.randint(1, 4) for _ in range(3)]
    rows = list[list[int | Fraction]]()
    for _ in range(size[1]):
        rows.append([chance.choice((-2, -1, 0, 1, 2)) for _ in range(size[0] + 1)])
    for row in rows[:]:
        if chance.random() < 0.5:
            scale = chance.choice((1, 1, 2, Fraction(2, 3)))
            rows.append([-scale * x for x in row])
    chance.shuffle(rows)
    above = [[chance.choice((-2, -1, 1, 1, 3)) for _ in rows] for _ in range(size[2])]
    first = [row[:-1] for row in rows], [row[-1] for row in rows]
    network = from_arrays([first, (above, [0] * size[2])])
    document = json.loads((VALID[0].parent / "shallow-assignments.json").read_text())
    document["claim"]["network"] = {"sha256": network.sha256, "inline": to_document(network)}
    return json.dumps(document).encode()


def _network(chance: Random, is_dependent: bool) -> Network:
    """Return a network with one hidden layer whose numbers are small, many of them equal."""
    if is_dependent:
        inputs, outputs, width = 1, 1, chance.randint(2, 9)
    else:
        inputs, outputs = chance.randint(1, 3), chance.randint(1, 3)
        width = chance.randint(1, inputs * outputs)
    numbers = [Fraction(n, d) for n in (-7, -3, -2, 1, 3, 5) for d in (1, 1, 2, 3)]
    rows = [[chance.choice(numbers) for _ in range(inputs)] for _ in range(width)]
    bias = [chance.choice(numbers) for _ in range(width)]
    above = [[chance.choice(numbers) for _ in range(width)] for _ in range(outputs)]
    return from_arrays([(rows, bias), (above, [chance.choice(numbers) for _ in range(outputs)])])
