"""Attacks on the statement of Theorem D: tiny networks with zeros, ties and symmetries, all their ridges.

    python -m benchmarks.deep_attack [--networks 6000] [--groups 3000] [--seed 1]

* *Motions*: where the hypotheses hold at all ridges, the exact local fiber is a point modulo scalings; where they hold
  in part, no direction in which all affine pieces stay moves the layers and rows that are determined, other than
  scalings do. Half of the networks have a symmetry on purpose: a twin, dead, linear or hidden neuron.
* *Grid*: all 2-2-2-1 networks with W1, b1, b2 in {-1, 0, 1}, W2 in {±1, ±2} and W3 in {±1}, the output up to a
  constant. Networks are drawn from those that share their function with networks that are not related to them. None of
  the class may be among these if the hypotheses hold, and what is determined in part must be there in all of the class.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import chain, combinations, pairwise
from math import gcd
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

import polyrelu
from benchmarks.deep_truth import Truth, combined_jacobian, rank_mod
from benchmarks.reporting import write_results
from polyrelu.complex import supertransversality_violation
from polyrelu.exact import float_prime
from polyrelu.network import Network
from polyrelu.proofs.deep import impossible
from polyrelu.proofs.deep_points import Determined, deep_hypotheses
from tests.judge import plain
from tests.oracles.grid import same_function
from tests.oracles.local_fiber import is_locally_rigid
from tests.oracles.plain import evaluate, integer_form
from tests.ridge_points import ridge_points

#: Of weights and biases.
_RANGES: tuple[Sequence[int], ...] = (
    (-1, 1), (-1, 0, 1), (-2, -1, 1, 2), range(-2, 3), (-3, -2, -1, 1, 2, 3), range(-9, 10)
)  # fmt: skip

Layers = list[tuple[list[list[int]], list[int]]]
Ints = NDArray[np.int64]


def main() -> None:
    """Run both attacks and write results/deep_attack.json."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", type=int, default=6000)
    parser.add_argument("--groups", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    started = time.perf_counter()
    found: dict[str, Any] = {"seed": options.seed}
    found["motions"] = motions(options.networks, Random(f"{options.seed} motions"))
    found["grid"] = grid(options.groups, Random(f"{options.seed} grid"))
    write_results("deep_attack", {**found, "seconds": round(time.perf_counter() - started)})


# -- motions ----------------------------------------------------------------------------------------------------------


def motions(count: int, rng: Random) -> dict[str, Any]:
    """Confront what holds, whole or in part, with the kernel of the Jacobian."""
    counts, wrong = Counter[str](), list[str]()
    for number in range(count):
        kind, layers = tiny(rng)
        network = polyrelu.from_arrays(layers)
        truth = Truth.of(network)
        best = truth.best
        if number % 20 == 0 and str(deep_hypotheses(network, ridge_points(network))) != str(best):
            wrong.append(f"points and signs of ridges differ: {layers}")
        counts["networks"] += 1
        counts[f"{kind}: networks"] += 1
        counts["rigid"] += not truth.dimension
        counts["not regular"] += not truth.regular
        if best.hold:
            counts["hold"] += 1
            counts[f"{kind}: hold"] += 1
            counts["hold, not supertransversal"] += supertransversality_violation(truth.cells) is not None
            if truth.dimension and not is_locally_rigid(plain(network)):
                wrong.append(f"hold, and local fiber of dimension {truth.dimension}: {layers}")
                print(wrong[-1], flush=True)
        elif best.determined.layers:
            counts["determined in part"] += 1
            counts[f"determined in part: {best.determined.layers} layers"] += 1
            counts["determined in part, with neurons of the next layer"] += bool(best.determined.neurons)
            counts["determined in part, not rigid"] += bool(truth.dimension)
            if not stays(truth, best.determined):
                wrong.append(f"{best.determined} moves: {layers}")
                print(wrong[-1], flush=True)
    return {**dict(sorted(counts.items())), "contradictions": wrong}


def tiny(rng: Random) -> tuple[str, Layers]:
    """Widths 1 to 4, small integers, in half of them a symmetry; most networks of which the theorem can say nothing,
    because of a hidden weight that is 0 or a narrow layer, are left out."""
    while True:
        hidden = rng.choice((2, 2, 2, 3, 3, 4))
        inner = [rng.choice((1, 2, 2, 2, 2, 3, 3, 4)) for _ in range(hidden)]
        widths = (rng.choice((2, 2, 3)), *inner, rng.choice((1, 1, 2)))
        numbers = rng.choice(_RANGES)
        biases = rng.choice((*_RANGES, (0, 1), (0,)))
        layers = [
            ([[rng.choice(numbers) for _ in range(n)] for _ in range(m)], [rng.choice(biases) for _ in range(m)])
            for n, m in pairwise(widths)
        ]
        kind = rng.choice(("none", "none", "none", "none", "none", "twin", "dead", "linear", "hidden", "multiple"))
        add_symmetry(layers, kind, rng)
        if rng.random() < 1 / 16 or impossible(polyrelu.from_arrays(layers)) is None:
            return kind, layers


def add_symmetry(layers: Layers, kind: str, rng: Random) -> None:
    """Change a layer after the first: one more neuron (a twin of another, off everywhere, or on everywhere); a neuron
    of the layer before whose zeros no neuron shows; a row that is a multiple of another one."""
    k = rng.randrange(1, len(layers) - 1)
    (weight, bias), (out, _) = layers[k], layers[k + 1]
    if kind in ("twin", "dead", "linear"):
        sign = 1 if kind == "linear" else -1
        weight.append(list(weight[0]) if kind == "twin" else [sign * rng.randint(1, 2) for _ in weight[0]])
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
    """Whether no direction in which all affine pieces stay moves the rows of a part, other than scalings do.

    With the columns C of the part and all others B, the directions, restricted to C, have dimension
    |C| + rank J_B - rank J.
    """
    jacobian = combined_jacobian(truth.network, truth.signs > 0)
    inside = np.array(list(_columns(truth.network, part)))
    scalings = _scalings(truth.network)[:, inside]
    moved = int(inside.sum()) + rank_mod(jacobian[:, ~inside]) - rank_mod(jacobian)
    return moved == rank_mod(scalings)


def _columns(network: Network, part: Determined) -> Iterator[bool]:
    """For each parameter whether it belongs to a row that is determined."""
    for number, layer in enumerate(network.layers):
        for i in range(layer.width):
            inside = number < part.layers or (number == part.layers and i in part.neurons)
            yield from [inside] * (network.widths[number] + 1)


def _scalings(network: Network) -> NDArray[np.float64]:
    """The directions of the scalings, modulo the prime of `combined_jacobian`, a row for each hidden neuron."""
    prime, integers, rows = float_prime(4096), integer_form(plain(network)), list[list[int]]()
    for number, width in enumerate(network.widths[1:-1]):
        for i in range(width):
            row: list[int] = []
            for other, (weight, bias) in enumerate(integers):
                for k, (entries, b) in enumerate(zip(weight, bias, strict=True)):
                    up, down = (other, k) == (number, i), other == number + 1
                    row += [w if up else -w if down and j == i else 0 for j, w in enumerate(entries)]
                    row.append(b if up else 0)
            rows.append([entry % prime for entry in row])
    return np.array(rows, dtype=float)


# -- the grid ---------------------------------------------------------------------------------------------------------

_SMALL, _MIDDLE, _OUTER = (-1, 0, 1), (-2, -1, 1, 2), (-1, 1)
_VALUES = (_SMALL,) * 6 + (_MIDDLE, _MIDDLE, _SMALL) * 2 + (_OUTER,) * 2
#: Parts of the grid that are worked out at a time.
_CHUNK = 1 << 17


def grid(count: int, rng: Random) -> dict[str, Any]:
    """Networks from groups with one function that are not all related."""
    order, starts = _groups()
    counts, wrong = Counter[str](), list[str]()
    counts["parameters"] = len(order)
    counts["functions"] = len(starts) - 1
    while counts["groups that are not all related"] < count:
        g = rng.randrange(len(starts) - 1)
        members = order[starts[g] : starts[g + 1]]
        if len(members) > 300:  # those of dead neurons, that nothing is said of
            counts["groups too large"] += 1
            continue
        others = _unrelated([_layers(int(index)) for index in members.tolist()], rng)
        _confront(others, counts, wrong)
    return {**dict(sorted(counts.items())), "contradictions": wrong}


def _confront(members: list[Layers], counts: Counter[str], wrong: list[str]) -> None:
    """Networks with the same values at some points, none of which is related to another one."""
    best = Truth.of(polyrelu.from_arrays(members[0])).best
    alone = len(members) == 1
    counts["groups all related" if alone else "groups that are not all related"] += 1
    counts["hold, in groups all related"] += best.hold and alone
    if alone or not (best.hold or best.determined.layers):
        return
    what = "hold" if best.hold else "determined in part"
    counts[f"{what}, in groups that are not all related"] += 1
    for other in members[1:]:
        if not is_competitor(other):
            counts[f"{what}: others, not of the class"] += 1
        elif not _is_same(members[0], other):
            counts[f"{what}: others of the class, with another function after all"] += 1
        else:
            counts[f"{what}: others of the class, with the same function"] += 1
            if best.hold or not _agrees(members[0], other, best.determined):
                wrong.append(f"{best.determined if not best.hold else what}: {members[0]} and {other}")
                print(wrong[-1], flush=True)


def _agrees(layers: Layers, other: Layers, part: Determined) -> bool:
    """Whether a competitor has what is determined of two hidden layers: the first up to signs, or rows of the second
    after the first without signs. Rows of the first layer are compared up to positive factors."""
    signed = bool(part.neurons)
    for places in ((0, 1), (1, 0)):
        factors = [_factor(_row(layers[0], i), _row(other[0], j), signed) for i, j in enumerate(places)]
        if all(factors):
            rows = [[*(Fraction(w) * f for w, f in zip((_row(other[1], k)[j] for j in places), factors, strict=True)),
                     _row(other[1], k)[-1]] for k in range(2)]  # fmt: skip
            if all(any(_factor(_row(layers[1], q), row, False) for row in rows) for q in part.neurons):
                return True
    return False


def _row(layer: tuple[list[list[int]], list[int]], i: int) -> list[int]:
    return [*layer[0][i], layer[1][i]]


def _factor(row: Any, other: Any, signed: bool) -> Fraction:
    """The factor that makes one row the other one; 0 if there is none, or a negative one that is not wanted."""
    pivot = next((i for i, entry in enumerate(row) if entry), None)
    if pivot is None:
        return Fraction(0)
    factor = Fraction(other[pivot]) / row[pivot]
    same = all(factor * a == b for a, b in zip(row, other, strict=True))
    return factor if same and (factor > 0 or not signed) else Fraction(0)


def is_competitor(layers: Layers) -> bool:
    """Whether a network with two hidden layers is transversal, exactly."""
    return _has_no_vanishing_product(layers) and supertransversality_violation(
        Truth.of(polyrelu.from_arrays(layers)).cells
    ) is None  # fmt: skip


def _has_no_vanishing_product(layers: Layers) -> bool:
    """Whether all masked products of two hidden layers are nonzero matrices."""
    first, second, third = (np.array(weight) for weight, _ in layers)
    ones, twos = list(_masks(len(first))), list(_masks(len(second)))
    two = all(second[np.ix_(b, a)].any() for a in ones for b in twos)
    lower = all((second[np.ix_(b, a)] @ first[a]).any() for a in ones for b in twos)
    upper = all((third[:, b] @ second[np.ix_(b, a)]).any() for a in ones for b in twos)
    whole = all((third[:, b] @ second[np.ix_(b, a)] @ first[a]).any() for a in ones for b in twos)
    single = all(first[a].any() for a in ones) and all(third[:, b].any() for b in twos)
    return two and lower and upper and whole and single


def _masks(size: int) -> Iterator[list[int]]:
    return (list(some) for some in chain(*(combinations(range(size), k) for k in range(1, size + 1))))


def _unrelated(members: list[Layers], rng: Random) -> list[Layers]:
    """One of each class of related networks, in random order; a few more if rows are 0."""
    rng.shuffle(members)
    return list({_key(layers): layers for layers in members}.values())


def _key(layers: Layers) -> tuple[tuple[int, ...], ...]:
    """One and the same for related networks whose rows are not 0: rows without common factors, in the best order."""
    (first, a), (second, b), (third, _) = layers
    inner = [gcd(*row, bias) or 1 for row, bias in zip(first, a, strict=True)]
    rows = [tuple(w // g for w in (*row, bias)) for row, bias, g in zip(first, a, inner, strict=True)]
    wide = [[*(w * g for w, g in zip(row, inner, strict=True)), bias] for row, bias in zip(second, b, strict=True)]
    outer = [gcd(*row) or 1 for row in wide]
    keys = list[tuple[tuple[int, ...], ...]]()
    for i, j in ((0, 1), (1, 0)):
        upper = sorted(
            (row[i] // g, row[j] // g, row[2] // g, out * g) for row, g, out in zip(wide, outer, third[0], strict=True)
        )
        keys.append((rows[i], rows[j], *upper))
    return min(keys)


def _is_same(one: Layers, other: Layers) -> bool:
    """Whether two networks are one function up to a constant."""
    at_zero = [evaluate(_exact(layers), [Fraction(0)] * 2)[0] for layers in (one, other)]
    moved = [*other[:-1], (other[-1][0], [int(at_zero[0] - at_zero[1])])]
    return same_function(_exact(one), _exact(moved))


def _exact(layers: Layers) -> Any:
    return [([list(map(Fraction, row)) for row in weight], list(map(Fraction, bias))) for weight, bias in layers]


def _groups() -> tuple[Ints, Ints]:
    """The numbers of all parameters, ordered by the values of their functions at points, and where groups start."""
    size = int(np.prod([len(values) for values in _VALUES]))
    hashes = np.concatenate([_hashes(_entries(np.arange(i, min(i + _CHUNK, size)))) for i in range(0, size, _CHUNK)])
    order = np.argsort(hashes, kind="stable")
    starts = np.flatnonzero(np.diff(hashes[order], prepend=~hashes[order[0]]))
    return order, np.append(starts, size)


def _entries(indices: Ints) -> Ints:
    columns = np.unravel_index(indices, [len(values) for values in _VALUES])
    return np.stack([np.array(values)[column] for values, column in zip(_VALUES, columns, strict=True)], axis=1)


def _layers(index: int) -> Layers:
    e: list[int] = _entries(np.array([index]))[0].tolist()
    return [([e[0:2], e[3:5]], [e[2], e[5]]), ([e[6:8], e[9:11]], [e[8], e[11]]), ([e[12:14]], [0])]


def _hashes(entries: Ints) -> NDArray[np.uint64]:
    """Of the values, less that at 0, at points with coordinates in multiples of 1/4."""
    rng = Random(0)
    points = [(rng.randint(-size, size), rng.randint(-size, size)) for size in (6, 12, 24, 90) for _ in range(10)]
    result, zero = np.zeros(len(entries), dtype=np.uint64), _values(entries, (0, 0))
    for point in points:
        value = (_values(entries, point) - zero).astype(np.uint64)
        result = (result * np.uint64(0x9E3779B97F4A7C15)) ^ (value + (result >> np.uint64(29)))
    return result


def _values(entries: Ints, point: tuple[int, int]) -> Ints:
    """Four times the values of the networks at a point that is given times four."""
    e, (x, y) = entries.T, point
    a, b = (np.maximum(e[i] * x + e[i + 1] * y + 4 * e[i + 2], 0) for i in (0, 3))
    c, d = (np.maximum(e[i] * a + e[i + 1] * b + 4 * e[i + 2], 0) for i in (6, 9))
    values: Ints = e[12] * c + e[13] * d
    return values


if __name__ == "__main__":
    main()
