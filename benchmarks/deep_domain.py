"""Theorem D on a domain: the theorem of Phuong and Lampert (2020), attacks, and two networks.

    python -m benchmarks.deep_domain [--parts transparent,constructions,motions,upper,lower,three]
        [--networks 600] [--groups 200] [--seed 1] [--files FILE ...]

* *transparent*: the networks of `benchmarks.deep_attack` that satisfy the assumptions of Phuong and
  Lampert on the box [-2, 2]^n. All must be proved on this box, among regular competitors.
* *constructions*: five shapes of their Lemma A.17 on this box, where the assumptions hold.
* *motions*: where the hypotheses hold at all ridges inside a domain, the local fiber of the
  function there is a point modulo scalings: the rank of the Jacobian on the regions that meet it.
* *upper*, *lower*, *three*: networks with small integer weights (`deep_attack.GRIDS`), on domains.
  Where the hypotheses hold at all ridges inside, no other network of the grid that belongs to the
  class on the domain may have the same function there, unless it is related.
* Files are asked on [0, 1]^n.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

import polyrelu
from benchmarks.deep_attack import (
    GRIDS,
    Grid,
    Layers,
    has_no_vanishing_product,
    key_of,
    tiny,
)
from benchmarks.deep_truth import local_dimension
from benchmarks.reporting import RESULTS, write_results
from polyrelu import checker
from polyrelu.complex import PolyhedralComplex, canonical_complex, point_in
from polyrelu.exact import Polyhedron
from polyrelu.formats import parse_domain
from polyrelu.network import Network
from polyrelu.outcomes import Identifiable
from polyrelu.proofs.deep.families import Families
from polyrelu.proofs.deep.hypotheses import DeepHypotheses, evaluate
from polyrelu.proofs.deep.prover import obstruction
from polyrelu.proofs.deep.ridges import Competitors, DeepNetwork, mask_of
from polyrelu.proofs.interior import is_inside
from tests.generators.transparent import BOX, WIDTHS, has_hypotheses, transparent_network
from tests.oracles.judge import plain

#: The domains of the attacks in the plane: a box, a smaller one, and a triangle.
DOMAINS: dict[str, Polyhedron] = {
    "box [-2, 2]^2": Polyhedron.box([-2, -2], [2, 2]),
    "box [-1, 1]^2": Polyhedron.box([-1, -1], [1, 1]),
    "triangle": Polyhedron.from_constraints([[-1, 0], [0, -1], [1, 1]], [1, 1, 2]),
}

#: Shapes of the construction of Phuong and Lampert, Lemma A.17.
CONSTRUCTIONS = ((2, 2, 2, 1), (3, 3, 2, 1), (3, 2, 2, 2, 1), (4, 3, 3, 2, 1), (2, 2, 2, 2, 2, 1))

PARTS = ("transparent", "constructions", "motions", "upper", "lower", "three")

_CLASSES: tuple[Competitors, ...] = ("transversal", "regular")

#: Maximum number of other networks of a group that are confronted with one of which we know more.
_OTHERS = 24
#: Maximum number of members of a group, many of which may be related, that are looked at.
_MEMBERS = 2000


def main() -> None:
    """Run the chosen parts and write results/deep_domain.json."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--networks", type=int, default=600)
    parser.add_argument("--groups", type=int, default=200)
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--files", nargs="*", default=[])
    options = parser.parse_args()
    path = RESULTS / "deep_domain.json"
    found: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    for part in filter(None, options.parts.split(",")):
        rng = Random(f"{options.seed} {part}")
        if part == "transparent":
            found[part] = transparent(options.networks, rng)
        elif part == "constructions":
            found[part] = constructions(rng)
        elif part == "motions":
            found[part] = motions(10 * options.networks, rng)
        else:
            found[part] = grid(part, options.groups, rng)
    for name in options.files:
        found.setdefault("files", {})[name.rsplit("/", 1)[-1]] = file_on_unit_box(name)
    write_results("deep_domain", found)


# -- their theorem ---------------------------------------------------------------------------------


def transparent(count: int, rng: Random) -> dict[str, Any]:
    """Prove networks that satisfy their assumptions on a box, on this box."""
    counts, wrong = Counter[str](), list[str]()
    numbers = np.random.default_rng(rng.getrandbits(32))
    for _ in range(count):
        widths = rng.choice(WIDTHS)
        network = transparent_network(widths, numbers)
        counts["networks"] += 1
        if is_proved_on_its_box(network):
            counts[f"{'-'.join(map(str, widths))}: proved"] += 1
        elif has_hypotheses(network):
            wrong.append(str(plain(network)))
        else:
            counts["without the hypotheses, and not proved"] += 1
    return {**dict(sorted(counts.items())), "not proved": wrong}


def constructions(rng: Random) -> dict[str, Any]:
    """Prove their constructions on their box."""
    numbers, found = np.random.default_rng(rng.getrandbits(32)), dict[str, Any]()
    for widths in CONSTRUCTIONS:
        tried = (transparent_network(widths, numbers) for _ in range(20))
        left = [network for network in tried if not is_proved_on_its_box(network)]
        wrong = sum(map(has_hypotheses, left))
        found["-".join(map(str, widths))] = {
            "proved": 20 - len(left),
            "without the hypotheses, and not proved": len(left) - wrong,
            "not proved": wrong,
        }
    return found


def is_proved_on_its_box(network: Network) -> bool:
    """Return whether a network is proved on [-2, 2]^n, and the checker agrees."""
    outcome = polyrelu.identify(network, f"box:-{BOX},{BOX}", among="regular")
    if not isinstance(outcome, Identifiable):
        return False
    data = json.dumps(outcome.certificate.to_document()[0]).encode()
    return checker.check_bytes(data).verdict == "accepted"


# -- all cells of a domain -------------------------------------------------------------------------


class Inside:
    """The cells of a network that meet the interior of a domain."""

    def __init__(self, network: Network, domain: Polyhedron) -> None:
        self.network, self.domain = network, domain
        self.cells: PolyhedralComplex = canonical_complex(network, domain)

    def signs(self, dimension: int) -> NDArray[np.int8]:
        """Return the signs of all neurons on the cells of a dimension that meet the interior."""
        cells = self.cells
        rows = [
            signs
            for cell, signs in zip(cells.cells(dimension), cells.signs(dimension), strict=True)
            if is_inside(self.domain, point_in(cells, cell))
        ]
        return np.array(rows, dtype=np.int8).reshape(len(rows), sum(self.network.widths[1:-1]))

    def shown(self, among: Competitors) -> DeepHypotheses:
        """Return what all ridges inside the domain show."""
        deep_network = DeepNetwork.of(self.network, among)
        signs = self.signs(self.network.num_inputs - 2)
        found = signs[(signs == 0).sum(axis=1) == 2]
        pairs = [np.flatnonzero(row == 0).tolist() for row in found]
        ridges = [
            deep_network.ridge(u, v, mask_of(row)) for (u, v), row in zip(pairs, found, strict=True)
        ]
        return evaluate(deep_network, ridges, Families(deep_network, ridges))

    def is_of_class(self, among: Competitors) -> bool:
        """Return whether the network belongs to a class on the domain, exactly."""
        if not has_no_vanishing_product(plain_integers(self.network)):
            return False
        n = self.network.num_inputs
        codimensions = (0, 1) if among == "regular" else range(n + 1)
        return all(((self.signs(n - k) == 0).sum(axis=1) == k).all() for k in codimensions)


def plain_integers(network: Network) -> Layers:
    """Return the layers of a network with integer weights."""
    return [([list(map(int, row)) for row in w], list(map(int, b))) for w, b in plain(network)]


# -- motions ---------------------------------------------------------------------------------------


def motions(count: int, rng: Random) -> dict[str, Any]:
    """Confront proofs on a domain with the local fiber of the function there."""
    counts, wrong = Counter[str](), list[str]()
    names = list(DOMAINS)
    while counts["networks"] < count:
        _, layers = tiny(rng)
        network = polyrelu.from_arrays(layers)
        if network.num_inputs != 2 or network.depth < 2:
            continue
        counts["networks"] += 1
        if obstruction(network) is not None:
            counts["obstruction"] += 1
            continue
        name = names[counts["networks"] % len(names)]
        inside = Inside(network, DOMAINS[name])
        if not inside.shown("transversal").hold:
            continue
        counts[f"{name}: hold"] += 1
        counts[f"{name}: hold for regular competitors"] += inside.shown("regular").hold
        if local_dimension(network, inside.signs(2) > 0):
            wrong.append(f"{name}: {layers}")
            print(wrong[-1], flush=True)
    return {**dict(sorted(counts.items())), "contradictions": wrong}


# -- grids -----------------------------------------------------------------------------------------


def grid(name: str, count: int, rng: Random) -> dict[str, Any]:
    """Confront networks of a grid that are proved on a domain with all others of the grid."""
    found = dict[str, Any]()
    for place, domain in DOMAINS.items():
        # four times the coordinates of points inside
        size = 8 if "2, 2" in place else 3
        points = [(rng.randint(-size, size), rng.randint(-size, size)) for _ in range(60)]
        points = [(x, y) for x, y in points if domain.contains([Fraction(x, 4), Fraction(y, 4)])]
        table = Grid(GRIDS[name], points)
        found[place] = grid_on(table, domain, count, rng)
    return found


def grid_on(table: Grid, domain: Polyhedron, count: int, rng: Random) -> dict[str, Any]:
    """Confront networks of a grid on one domain."""
    order, starts = table.groups()
    group_of = np.empty(len(order), dtype=np.int64)
    group_of[order] = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    counts, wrong = Counter[str](), list[str]()
    counts["parameters"], counts["functions at the points"] = len(order), len(starts) - 1
    while counts["proved"] < count and counts["networks"] < 40 * count:
        index = rng.randrange(len(order))
        one = table.layers(index)
        counts["networks"] += 1
        network = polyrelu.from_arrays(one)
        if obstruction(network) is not None:
            continue
        inside = Inside(network, domain)
        for among in _CLASSES:
            if not inside.shown(among).hold:
                continue
            counts["proved" if among == "transversal" else "proved among regular"] += 1
            g = group_of[index]
            members = order[starts[g] : starts[g + 1]].tolist()
            rng.shuffle(members)
            found = {key_of(layers): layers for layers in map(table.layers, members[:_MEMBERS])}
            others = [layers for key, layers in found.items() if key != key_of(one)]
            counts[f"{among}: not related, same values at the points"] += len(others)
            for other in others[:_OTHERS]:
                _confront(one, other, domain, among, counts, wrong)
    return {**dict(sorted(counts.items())), "contradictions": wrong}


def _confront(
    one: Layers,
    other: Layers,
    domain: Polyhedron,
    among: Competitors,
    counts: Counter[str],
    wrong: list[str],
) -> None:
    """Record a contradiction: another network of the class with the same function on the domain."""
    if not Inside(polyrelu.from_arrays(other), domain).is_of_class(among):
        counts[f"{among}: others, not of the class on the domain"] += 1
    elif not is_same_on(one, other, domain):
        counts[f"{among}: others of the class, with another function after all"] += 1
    else:
        wrong.append(f"{among}: {one} and {other}")
        print(wrong[-1], flush=True)


def is_same_on(one: Layers, other: Layers, domain: Polyhedron) -> bool:
    """Return whether two networks are one function up to a constant on a domain, exactly."""
    first, second = map(polyrelu.from_arrays, (one, other))
    middle = domain.interior_point()
    assert middle is not None
    constant = second(middle)[0] - first(middle)[0]
    moved = [*one[:-1], (one[-1][0], [one[-1][1][0] + constant])]
    return polyrelu.equivalent(moved, second, domain).status == "proved"


# -- files -----------------------------------------------------------------------------------------


def file_on_unit_box(name: str) -> dict[str, Any]:
    """Ask about a network on [0, 1]^n."""
    network = polyrelu.load(name)
    started = time.process_time()
    outcome = polyrelu.identify(network, parse_domain("box:0,1", network.num_inputs))
    seconds = round(time.process_time() - started, 1)
    answer = {"status": outcome.status, "seconds": seconds}
    if isinstance(outcome, Identifiable):
        data = json.dumps(outcome.certificate.to_document()[0]).encode()
        report = checker.check_bytes(data)
        answer |= {
            "among": outcome.certificate.claim.among,
            "bytes of the certificate": len(data),
            "checker": report.verdict,
        }
    else:
        reasons = [attempt.reason for attempt in getattr(outcome, "attempts", ())]
        answer["why"] = getattr(outcome, "explanation", "") or reasons
    return answer


if __name__ == "__main__":
    main()
