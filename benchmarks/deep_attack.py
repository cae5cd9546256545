"""Attacks on Theorem D: tiny networks with zeros, ties and symmetries, and all their ridges.

    python -m benchmarks.deep_attack [--parts motions,upper,lower,three,meeting,transparent]
        [--networks 6000] [--groups 3000] [--seed 1]

* *motions*: where the hypotheses hold at all ridges, the exact local fiber is a point modulo
  scalings. Where they hold in part, directions that keep all affine pieces move the layers and rows
  that are determined by scalings only. Half of the networks have a symmetry on purpose: a twin,
  dead, linear or hidden neuron.
* *upper*, *lower*, *three*, *meeting*: all networks with small integer weights (`GRIDS`), with the
  output up to a constant: 2-2-2-1 in two ways, 2-2-2-2-1, and 2-3-2-1 with two or more lines
  through the origin. Networks are drawn from those that share their function with networks that are
  not related to them. If the hypotheses hold for a class of competitors, none of these may belong
  to the class; if they hold in part, all competitors of the class must agree in this part. The
  classes are the transversal and the regular parameters.
* *zeros*: the same as *motions* for networks with zero weights between hidden layers, and sparse
  competitors, who may have other weights than 0 in their places. *pruned*, *pruned-three*: grids
  with zero weights, in the same way.
* *transparent*: networks that satisfy, on a box, the assumptions of Phuong and Lampert (2020): all
  must be proved. There is one of them for ten networks of *motions*.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, islice, pairwise, permutations, product
from math import gcd
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

import polyrelu
from benchmarks.deep_truth import Truth, combined_jacobian, rank_mod
from benchmarks.reporting import RESULTS, write_results
from polyrelu.complex import supertransversality_violation
from polyrelu.exact import float_prime
from polyrelu.network import Network
from polyrelu.proofs.deep.hypotheses import DeepHypotheses, Determined, deep_hypotheses
from polyrelu.proofs.deep.prover import obstruction
from polyrelu.proofs.deep.ridges import Competitors
from tests.generators.ridge_points import ridge_points
from tests.generators.transparent import WIDTHS, has_hypotheses, transparent_network
from tests.oracles.grid import same_function
from tests.oracles.judge import plain
from tests.oracles.local_fiber import is_locally_rigid
from tests.oracles.plain import evaluate, integer_form

#: The ranges from which weights and biases are drawn.
_RANGES: tuple[Sequence[int], ...] = (
    (-1, 1), (-1, 0, 1), (-2, -1, 1, 2), range(-2, 3), (-3, -2, -1, 1, 2, 3), range(-9, 10)
)  # fmt: skip

Layers = list[tuple[list[list[int]], list[int]]]
Ints = NDArray[np.int64]


_SIGNS, _SMALL, _MIDDLE, _NONE = (-1, 1), (-1, 0, 1), (-2, -1, 1, 2), (0,)

#: Numbers for which no sum of two products is 0.
_PAIR = (-1, 2)

_Values = tuple[int, ...]

#: The values of the weights and of the bias, for each neuron of each layer.
GRIDS: dict[str, list[list[tuple[_Values, _Values]]]] = {
    "upper": [[(_SMALL, _SMALL)] * 2, [(_MIDDLE, _SMALL)] * 2, [(_SIGNS, _NONE)]],
    "lower": [[(_MIDDLE, _SMALL)] * 2, [(_SIGNS, _SMALL)] * 2, [(_MIDDLE, _NONE)]],
    "three": [
        [(_PAIR, _SMALL)] * 2,
        [(_PAIR, _SMALL)] * 2,
        [(_PAIR, _SMALL)] * 2,
        [(_SIGNS, _NONE)],
    ],
    "meeting": [
        [(_SMALL, _NONE), (_SMALL, _NONE), (_SMALL, _SMALL)],
        [(_SIGNS, _SMALL)] * 2,
        [(_SIGNS, _NONE)],
    ],
    "pruned": [[(_MIDDLE, _SMALL)] * 2, [(_SMALL, _SMALL)] * 2, [(_SIGNS, _NONE)]],
    "pruned-three": [
        [(_PAIR, _SMALL)] * 2,
        [(_SMALL, _NONE), (_SMALL, _SIGNS)],
        [(_SMALL, _SIGNS)] * 2,
        [(_SIGNS, _NONE)],
    ],
}

#: Maximum number of networks of a group that are examined.
_TRIED = 4

_CLASSES: tuple[Competitors, ...] = ("transversal", "regular")

#: The classes of competitors in grids with zero weights between hidden layers.
_SPARSE: tuple[Competitors, ...] = ("sparse",)

#: Number of parameters that are evaluated at a time.
_CHUNK = 1 << 17

PARTS = ("motions", "zeros", *GRIDS, "transparent")


def main() -> None:
    """Run the chosen attacks and write results/deep_attack.json."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--networks", type=int, default=6000)
    parser.add_argument("--groups", type=int, default=3000)
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    path = RESULTS / "deep_attack.json"
    before: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    found: dict[str, Any] = {part: before[part] for part in PARTS if part in before}
    for part in options.parts.split(","):
        rng = Random(f"{options.seed} {part}")
        if part in ("motions", "zeros"):
            found[part] = motions(options.networks, rng, part == "zeros")
        elif part == "transparent":
            found[part] = transparent(options.networks // 10, rng)
        else:
            found[part] = grid(part, options.groups, rng)
    write_results("deep_attack", {"seed": options.seed, **found})


# -- motions ---------------------------------------------------------------------------------------


def motions(count: int, rng: Random, is_sparse: bool = False) -> dict[str, Any]:
    """Confront what holds, in full or in part, with the kernel of the Jacobian.

    In the sparse case some weights between hidden layers are 0, and may move as all others.
    """
    counts, wrong = Counter[str](), list[str]()
    for number in range(count):
        kind, layers = tiny(rng)
        if is_sparse:
            prune(layers, rng)
        network = polyrelu.from_arrays(layers)
        truth = Truth.of(network)
        best = truth.shown("sparse") if is_sparse else truth.best
        at_points = deep_hypotheses(
            network, ridge_points(network) if number % 20 == 0 else [], truth_class(is_sparse)
        )
        if number % 20 == 0 and str(at_points) != str(best):
            wrong.append(f"points and signs of ridges differ: {layers}")
        counts["networks"] += 1
        counts[f"{kind}: networks"] += 1
        counts["rigid"] += not truth.dimension
        counts["a neuron vanishes on a region"] += truth.vanishing
        if best.hold:
            counts["hold"] += 1
            if not is_sparse:
                counts["hold for regular competitors"] += truth.shown("regular").hold
            counts[f"{kind}: hold"] += 1
            counts["hold, not supertransversal"] += (
                supertransversality_violation(truth.cells) is not None
            )
            if truth.dimension and not is_locally_rigid(plain(network)):
                wrong.append(f"hold, and local fiber of dimension {truth.dimension}: {layers}")
                print(wrong[-1], flush=True)
        elif best.determined.num_layers:
            counts["determined in part"] += 1
            counts[f"determined in part: {best.determined.num_layers} layers"] += 1
            counts["determined in part, with neurons of the next layer"] += bool(
                best.determined.neurons
            )
            counts["determined in part, not rigid"] += bool(truth.dimension)
            if not stays(truth, best.determined):
                wrong.append(f"{best.determined} moves: {layers}")
                print(wrong[-1], flush=True)
    return {**dict(sorted(counts.items())), "contradictions": wrong}


def truth_class(is_sparse: bool) -> Competitors:
    """Return the class of competitors of a part of the attack."""
    return "sparse" if is_sparse else "transversal"


def prune(layers: Layers, rng: Random) -> None:
    """Set at least one weight between hidden layers to 0, and each other one with a chance."""
    share = rng.choice((0.1, 0.3, 0.5))
    inner = [(row, h) for weight, _ in layers[1:-1] for row in weight for h in range(len(row))]
    always = rng.randrange(len(inner))
    for number, (row, h) in enumerate(inner):
        if number == always or rng.random() < share:
            row[h] = 0


def tiny(rng: Random) -> tuple[str, Layers]:
    """Return a network of widths 1 to 4 with small integers, half of the time with a symmetry.

    Most networks on which the theorem says nothing, because of a hidden weight that is 0 or a
    narrow layer, are left out.
    """
    while True:
        hidden = rng.choice((2, 2, 2, 3, 3, 4))
        inner = [rng.choice((1, 2, 2, 2, 2, 3, 3, 4)) for _ in range(hidden)]
        widths = (rng.choice((2, 2, 3)), *inner, rng.choice((1, 1, 2)))
        numbers = rng.choice(_RANGES)
        biases = rng.choice((*_RANGES, (0, 1), (0,)))
        layers = [
            (
                [[rng.choice(numbers) for _ in range(n)] for _ in range(m)],
                [rng.choice(biases) for _ in range(m)],
            )
            for n, m in pairwise(widths)
        ]
        kind = rng.choice(
            ("none", "none", "none", "none", "none", "twin", "dead", "linear", "hidden", "multiple")
        )
        add_symmetry(layers, kind, rng)
        if rng.random() < 1 / 16 or obstruction(polyrelu.from_arrays(layers)) is None:
            return kind, layers


def add_symmetry(layers: Layers, kind: str, rng: Random) -> None:
    """Change a layer after the first one so that the network has a symmetry.

    The change is one more neuron (a twin of another one, always off, or always on), a neuron of the
    layer before whose zeros no neuron shows, or a row that is a multiple of another one.
    """
    k = rng.randrange(1, len(layers) - 1)
    (weight, bias), (out, _) = layers[k], layers[k + 1]
    if kind in ("twin", "dead", "linear"):
        sign = 1 if kind == "linear" else -1
        weight.append(
            list(weight[0]) if kind == "twin" else [sign * rng.randint(1, 2) for _ in weight[0]]
        )
        bias.append(bias[0] if kind == "twin" else sign)
        for row in out:
            row.append(rng.choice((-1, 1, 2)))
    elif kind == "hidden":
        h = rng.randrange(len(weight[0]))
        for row in weight:
            row[:] = [(abs(w) or 1) * (1 if i == h else -1) for i, w in enumerate(row)]
        bias[:] = [-(abs(b) or 1) for b in bias]
    elif kind == "multiple" and len(weight) > 1:
        factor = rng.choice((-1, 2, -2))
        weight[1], bias[1] = [factor * w for w in weight[0]], factor * bias[0]


def stays(truth: Truth, part: Determined) -> bool:
    """Return whether no direction that keeps all affine pieces moves a part, apart from scalings.

    With the columns C of the part and the other columns B, the directions, restricted to C, have
    dimension |C| + rank J_B - rank J.
    """
    jacobian = combined_jacobian(truth.network, truth.signs > 0)
    inside = np.array(list(_columns(truth.network, part)))
    scalings = _scalings(truth.network)[:, inside]
    moved = int(inside.sum()) + rank_mod(jacobian[:, ~inside]) - rank_mod(jacobian)
    return moved == rank_mod(scalings)


def _columns(network: Network, part: Determined) -> Iterator[bool]:
    """Return for each parameter whether it belongs to a row that is determined."""
    for number, layer in enumerate(network.layers):
        for i in range(layer.width):
            inside = number < part.num_layers or (number == part.num_layers and i in part.neurons)
            yield from [inside] * (network.widths[number] + 1)


def _scalings(network: Network) -> NDArray[np.float64]:
    """Return the directions of the scalings modulo the prime of `combined_jacobian`.

    There is a row for each hidden neuron.
    """
    prime, integers, rows = float_prime(4096), integer_form(plain(network)), list[list[int]]()
    for number, width in enumerate(network.widths[1:-1]):
        for i in range(width):
            row: list[int] = []
            for other, (weight, bias) in enumerate(integers):
                for k, (entries, b) in enumerate(zip(weight, bias, strict=True)):
                    up, down = (other, k) == (number, i), other == number + 1
                    row += [
                        w if up else -w if down and j == i else 0 for j, w in enumerate(entries)
                    ]
                    row.append(b if up else 0)
            rows.append([entry % prime for entry in row])
    return np.array(rows, dtype=float)


# -- the theorem of Phuong and Lampert -------------------------------------------------------------


def transparent(count: int, rng: Random) -> dict[str, Any]:
    """Prove networks that satisfy the assumptions of that theorem, among regular competitors."""
    counts, wrong = Counter[str](), list[str]()
    numbers = np.random.default_rng(rng.getrandbits(32))
    for _ in range(count):
        widths = rng.choice(WIDTHS)
        network = transparent_network(widths, numbers)
        counts["networks"] += 1
        if not has_hypotheses(network):
            counts["without the hypotheses"] += 1
        elif polyrelu.identify(network, among="regular").status == "proved":
            counts[f"{'-'.join(map(str, widths))}: proved"] += 1
        else:
            wrong.append(str(plain(network)))
    return {**dict(sorted(counts.items())), "contradictions": wrong}


# -- grids -----------------------------------------------------------------------------------------


class Grid:
    """All networks of two inputs, with weights and biases in some values."""

    def __init__(
        self,
        layers: list[list[tuple[_Values, _Values]]],
        points: Sequence[tuple[int, int]] | None = None,
    ) -> None:
        """Take points, given times four, at which functions are compared; by default far ones."""
        rng = Random(0)
        self.points = points or [
            (rng.randint(-size, size), rng.randint(-size, size))
            for size in (6, 12, 24, 90)
            for _ in range(10)
        ]
        self.widths = [2, *map(len, layers)]
        self.values = [
            values
            for width, layer in zip(self.widths, layers, strict=False)
            for weights, biases in layer
            for values in [weights] * width + [biases]
        ]
        self._sizes = [len(values) for values in self.values]
        self.size = int(np.prod(self._sizes))

    def entries(self, indices: Ints) -> Ints:
        """Return the entries of some parameters, a row for each: weights and biases by neuron."""
        columns = np.unravel_index(indices, self._sizes)
        return np.stack(
            [np.array(v)[column] for v, column in zip(self.values, columns, strict=True)], axis=1
        )

    def layers(self, index: int) -> Layers:
        """Return the layers of a network."""
        entries = iter(self.entries(np.array([index]))[0].tolist())
        rows = [
            [list(islice(entries, width + 1)) for _ in range(m)]
            for width, m in pairwise(self.widths)
        ]
        return [([row[:-1] for row in layer], [row[-1] for row in layer]) for layer in rows]

    def groups(self) -> tuple[Ints, Ints]:
        """Return the numbers of all parameters in groups, and where the groups start.

        The parameters of a group have the same values at some points.
        """
        parts = (np.arange(i, min(i + _CHUNK, self.size)) for i in range(0, self.size, _CHUNK))
        hashes = np.concatenate([self._hashes(self.entries(part)) for part in parts])
        order = np.argsort(hashes, kind="stable")
        starts = np.flatnonzero(np.diff(hashes[order], prepend=~hashes[order[0]]))
        return order, np.append(starts, self.size)

    def _hashes(self, entries: Ints) -> NDArray[np.uint64]:
        """Return hashes of the values, minus the value at 0, at points with coordinates k/4."""
        result, zero = np.zeros(len(entries), dtype=np.uint64), self._values(entries, (0, 0))
        for point in self.points:
            value = (self._values(entries, point) - zero).astype(np.uint64)
            result = (result * np.uint64(0x9E3779B97F4A7C15)) ^ (value + (result >> np.uint64(29)))
        return result

    def _values(self, entries: Ints, point: tuple[int, int]) -> Ints:
        """Return four times the values of the networks at a point that is given times four."""
        columns, values = iter(entries.T), [np.array(x) for x in point]
        for number, (width, m) in enumerate(pairwise(self.widths), 1):
            rows = [[next(columns) for _ in range(width + 1)] for _ in range(m)]
            sums = [
                sum(w * x for w, x in zip(row, values, strict=False)) + 4 * row[-1] for row in rows
            ]
            values = sums if number == len(self.widths) - 1 else [np.maximum(z, 0) for z in sums]
        return np.asarray(values[0], dtype=np.int64)


def grid(name: str, count: int, rng: Random) -> dict[str, Any]:
    """Confront networks from groups with one function that are not all related."""
    table = Grid(GRIDS[name])
    order, starts = table.groups()
    counts, wrong = Counter[str](), list[str]()
    counts["parameters"] = len(order)
    counts["functions"] = len(starts) - 1
    while counts["groups that are not all related"] < count:
        g = rng.randrange(len(starts) - 1)
        members = order[starts[g] : starts[g + 1]]
        if len(members) > 300:  # networks with dead neurons, about which nothing is claimed
            counts["groups too large"] += 1
            continue
        unrelated = _unrelated([table.layers(int(index)) for index in members.tolist()], rng)
        _confront(unrelated, _SPARSE if "pruned" in name else _CLASSES, counts, wrong)
    return {**dict(sorted(counts.items())), "contradictions": wrong}


def _confront(
    members: list[Layers],
    classes: Sequence[Competitors],
    counts: Counter[str],
    wrong: list[str],
) -> None:
    """Confront networks with the same values at some points, no two of which are related."""
    alone = len(members) == 1
    counts["groups all related" if alone else "groups that are not all related"] += 1
    for number, one in enumerate(members[:_TRIED]):
        others, truth = (
            members[:number] + members[number + 1 :],
            Truth.of(polyrelu.from_arrays(one)),
        )
        for among in classes:
            best = truth.shown(among)
            counts[f"{among}: hold, in groups all related"] += best.hold and alone
            if others and (best.hold or best.determined.num_layers):
                _confront_one(one, best, others, among, counts, wrong)


def _confront_one(
    one: Layers,
    best: DeepHypotheses,
    others: list[Layers],
    among: Competitors,
    counts: Counter[str],
    wrong: list[str],
) -> None:
    """Confront a network of which something is proved with others that are not related to it."""
    what = f"{among}: " + (
        "hold" if best.hold else f"{best.determined.num_layers} layers determined"
    )
    counts[f"{what}, in groups that are not all related"] += 1
    for other in others:
        if not is_competitor(other, among):
            counts[f"{what}: others, not of the class"] += 1
        elif not _is_same(one, other):
            counts[f"{what}: others of the class, with another function after all"] += 1
        else:
            counts[f"{what}: others of the class, with the same function"] += 1
            counts[f"{what}: such others, not transversal"] += not is_competitor(
                other, "transversal"
            )
            if best.hold or not _agrees(one, other, best.determined):
                wrong.append(f"{what}: {one} and {other}")
                print(wrong[-1], flush=True)


def _agrees(layers: Layers, other: Layers, part: Determined) -> bool:
    """Return whether a competitor has the part that is determined.

    The part consists of the layers before M and the rows of M up to signs; or of all these rows
    without signs, and of different neurons of the next layer with given rows up to signs.
    """
    orders = product(*_orders(layers[: part.num_layers]))
    return any(_agrees_in(layers, other, part, order) for order in orders)


def _agrees_in(
    layers: Layers, other: Layers, part: Determined, orders: Sequence[Sequence[int]]
) -> bool:
    columns, factors = [0, 1], [Fraction(1)] * 2
    for number, order in enumerate(orders):
        rows = [_row(other[number], k, columns, factors) for k in order]
        factors = [_factor(_row(layers[number], i), row) for i, row in enumerate(rows)]
        may_flip = number == part.num_layers - 1 and not part.neurons
        if not all(factor > 0 or (factor and may_flip) for factor in factors):
            return False
        columns = list(order)
    rows = [
        _row(other[part.num_layers], k, columns, factors)
        for k in range(len(other[part.num_layers][1]))
    ]
    own = [_row(layers[part.num_layers], q) for q in part.neurons]
    return any(all(map(_factor, own, some)) for some in permutations(rows, len(own)))


def _row(
    layer: tuple[list[list[int]], list[int]],
    i: int,
    columns: Sequence[int] | None = None,
    factors: Sequence[Fraction] | None = None,
) -> list[Fraction]:
    """Return a row with its bias, with columns in another order and multiplied by numbers."""
    row = layer[0][i]
    columns, factors = columns or range(len(row)), factors or [Fraction(1)] * len(row)
    weights = [row[k] * factor for k, factor in zip(columns, factors, strict=True)]
    return [*weights, Fraction(layer[1][i])]


def _factor(row: list[Fraction], other: list[Fraction]) -> Fraction:
    """Return the factor between two rows; 0 if there is none."""
    pivot = next((i for i, entry in enumerate(row) if entry), None)
    if pivot is None:
        return Fraction(0)
    factor = other[pivot] / row[pivot]
    return factor if all(factor * a == b for a, b in zip(row, other, strict=True)) else Fraction(0)


def is_competitor(layers: Layers, among: Competitors) -> bool:
    """Return whether a network belongs to a class, exactly."""
    if not has_no_vanishing_product(layers, may_have_zeros=among == "sparse"):
        return False
    cells = Truth.of(polyrelu.from_arrays(layers)).cells
    if among != "regular":
        return supertransversality_violation(cells) is None
    zeros = [(cells.signs(cells.dimension - k) == 0).sum(axis=1) for k in (0, 1)]
    return not zeros[0].any() and bool((zeros[1] == 1).all())


def has_no_vanishing_product(layers: Layers, may_have_zeros: bool = False) -> bool:
    """Return whether all masked products I_l W[l] … W[k+1] I_k are nonzero matrices.

    If there may be zero weights, this is asked of the products whose masks have a path of nonzero
    weights.
    """
    weights = [np.array(weight) for weight, _ in layers]
    inputs, outputs = np.ones(weights[0].shape[1], dtype=int), np.ones(len(weights[-1]), dtype=int)
    masks = [[inputs], *(list(_masks(len(weight))) for weight in weights[:-1]), [outputs]]
    for low, high in combinations(range(len(masks)), 2):
        for some in product(*masks[low : high + 1]):
            result = paths = np.diag(some[0])
            for mask, weight in zip(some[1:], weights[low:high], strict=True):
                result = mask[:, None] * (weight @ result)
                paths = mask[:, None] * ((weight != 0) @ paths)
            if not result.any() and (paths.any() or not may_have_zeros):
                return False
    return True


def _masks(size: int) -> Iterator[NDArray[np.int64]]:
    return (np.array(some) for some in product((0, 1), repeat=size) if any(some))


def _unrelated(members: list[Layers], rng: Random) -> list[Layers]:
    """Return one of each class of related networks, in random order; a few more if rows are 0."""
    rng.shuffle(members)
    return list({key_of(layers): layers for layers in members}.values())


def key_of(layers: Layers) -> tuple[tuple[int, ...], ...]:
    """Return a key that related networks whose rows are not 0 share.

    The key holds the rows without common factors, in the best order.
    """
    return min(_key_in(layers, orders) for orders in product(*_orders(layers[:-1])))


def _orders(layers: Layers) -> list[list[tuple[int, ...]]]:
    """Return for each layer all orders of its neurons."""
    return [list(permutations(range(len(bias)))) for _, bias in layers]


def _key_in(layers: Layers, orders: Sequence[Sequence[int]]) -> tuple[tuple[int, ...], ...]:
    columns, factors, key = [0, 1], [1, 1], list[tuple[int, ...]]()
    for (weight, bias), order in zip(layers, [*orders, [0]], strict=True):
        rows = [
            [*(weight[i][k] * g for k, g in zip(columns, factors, strict=True)), bias[i]]
            for i in order
        ]
        factors = [gcd(*row) or 1 for row in rows] if len(order) > 1 else [1]
        key += [tuple(entry // g for entry in row) for row, g in zip(rows, factors, strict=True)]
        columns = list(order)
    return tuple(key)


def _is_same(one: Layers, other: Layers) -> bool:
    """Return whether two networks are one function up to a constant."""
    at_zero = [evaluate(_exact(layers), [Fraction(0)] * 2)[0] for layers in (one, other)]
    moved = [*other[:-1], (other[-1][0], [int(at_zero[0] - at_zero[1])])]
    return same_function(_exact(one), _exact(moved))


def _exact(layers: Layers) -> Any:
    return [
        ([list(map(Fraction, row)) for row in weight], list(map(Fraction, bias)))
        for weight, bias in layers
    ]


if __name__ == "__main__":
    main()
