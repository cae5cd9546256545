"""The second checker in one process for many files, and certificates that it covers."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

from polyrelu import DomainError, Polyhedron, canonical_complex, equivalent, region_graph
from polyrelu.cli.second_checker import PROGRAM
from polyrelu.network import Network
from polyrelu.outcomes import Equivalent, NotEquivalent, RegionsListed
from polyrelu.proofs import certify_regions
from tests.generators.equivalent_pairs import network, nudged, random_pair
from tests.generators.quantised_networks import (
    DOMAINS,
    KINDS,
    quantised_network,
    random_domain,
)
from tests.generators.tree_pairs import CASES
from tests.oracles.judge import certificate_bytes

__all__ = ["SecondChecker", "by_vertices", "covered", "document_of", "find_program", "listed"]

#: Where `make` in the folder `verified` leaves the program.
BUILT = Path(__file__).parents[2] / "verified" / PROGRAM


def find_program() -> str | None:
    """Return the path of the program on the search path or in the sources; None if not built."""
    return shutil.which(PROGRAM) or (str(BUILT) if BUILT.exists() else None)


class SecondChecker:
    """A process that checks one file after the other, which are written into a folder."""

    def __init__(self, program: str, folder: Path) -> None:
        self._file = folder / "mutant.json"
        command = [program, "--json", "--batch"]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)

    def check(self, data: bytes) -> dict[str, Any]:
        """Return the report on a certificate."""
        self._file.write_bytes(data)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{self._file}\n")
        self._process.stdin.flush()
        report: dict[str, Any] = json.loads(self._process.stdout.readline())
        return report

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def covered(num_random: int) -> Iterator[tuple[str, bytes]]:
    """Yield certificates of pairs: of all cases of `tree_pairs`, then of random pairs.

    Every fourth random pair has one weight changed; domains are R^n, boxes, and slices.
    """
    for name, (pair, domain) in CASES.items():
        yield name, _certificate(equivalent(*pair, domain))
    for seed in range(num_random):
        chance = Random(seed)
        num_inputs, depth = chance.choice([1, 2, 3, 4]), chance.choice([1, 2, 2, 3])
        hidden = [chance.randint(1, 5) for _ in range(depth)]
        widths = [num_inputs, *hidden, chance.choice([1, 2])]
        found = random_pair(
            chance, widths, blocks=chance.choice([0, 1, 1, 2]), moves=chance.randint(3, 5)
        )
        second = found.second
        if seed % 4 == 3:
            second = nudged(second, chance, Fraction(1, 2**40))
        domain = _domain(seed % 3, num_inputs)
        outcome = equivalent(network(found.first), network(second), domain)
        if isinstance(outcome, Equivalent | NotEquivalent):
            yield f"random {seed}", _certificate(outcome)


def listed(seeds: range, kinds: Sequence[str] = (*KINDS, *DOMAINS)) -> Iterator[tuple[str, bytes]]:
    """Yield lists of regions: of these kinds of networks on R^n, and on these kinds of domains."""
    for seed in seeds:
        for kind in kinds:
            net, domain = _placed(kind, seed)
            found = certify_regions(region_graph(net, domain), method="tree")
            assert isinstance(found, RegionsListed), found
            yield f"regions {kind} {seed}", found.certificate.to_bytes()


def by_vertices(
    seeds: range, kinds: Sequence[str] = (*KINDS, *DOMAINS)
) -> Iterator[tuple[str, bytes]]:
    """Yield lists of vertices of the same networks, but for those that no complex is made of."""
    for seed in seeds:
        for kind in kinds:
            try:
                cells = canonical_complex(*_placed(kind, seed))
            except DomainError:
                continue
            found = certify_regions(cells, method="vertices")
            assert isinstance(found, RegionsListed), found
            yield f"vertices {kind} {seed}", found.certificate.to_bytes()


def _placed(kind: str, seed: int) -> tuple[Network, Polyhedron | None]:
    chance = Random(f"{kind} {seed}")
    net = quantised_network(kind if kind in KINDS else chance.choice(KINDS), chance)
    return net, random_domain(kind, net.num_inputs, chance) if kind in DOMAINS else None


def document_of(data: bytes) -> Any:
    """Return the lines of a tree file as a list of values, or the value of another certificate."""
    is_tree = data.startswith(b'{"format": "polyrelu-tree"')
    return [json.loads(line) for line in data.splitlines()] if is_tree else json.loads(data)


def _domain(kind: int, num_inputs: int) -> Polyhedron | None:
    if kind == 1:
        return Polyhedron.box([-1] * num_inputs, [Fraction(3, 2)] * num_inputs)
    if kind == 2 and num_inputs > 1:
        equation = [1, -2] + [1] * (num_inputs - 2)
        first = [1] + [0] * (num_inputs - 1)
        return Polyhedron.from_constraints([first], [7], [equation], [1])
    return None


def _certificate(outcome: Any) -> bytes:
    assert isinstance(outcome, Equivalent | NotEquivalent), outcome
    return certificate_bytes(outcome)
