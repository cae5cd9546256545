"""Attacks on Theorem D by fitting: certified networks, fitted again by least squares.

    python -m benchmarks.deep_refits [--seconds 600] [--starts 24] [--seed 1]

A fit starts at random parameters, or at the parameters of the network with some rows flipped and
all of them disturbed. A fit that reaches the function at all points up to rounding, far points and
points around all known ridges included, must be related to the network; otherwise it is printed for
inspection. The networks have two and three hidden layers and the smallest widths, for which most
fits do not get stuck.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

import polyrelu
from benchmarks.reporting import write_results
from polyrelu.network import Network
from polyrelu.proofs.deep import prover as deep
from polyrelu.proofs.deep.search import DeepSearch

Floats = NDArray[np.float64]
Layers = list[tuple[Floats, Floats]]

_WIDTHS = (
    (2, 2, 2, 1), (2, 3, 2, 1), (3, 2, 2, 1), (2, 2, 3, 2), (3, 3, 2, 2),
    (2, 2, 2, 2, 1), (3, 2, 2, 2, 1), (3, 3, 2, 2, 1),
)  # fmt: skip

#: Sizes of the points for the fit, and of other points at which the fit must hold as well.
_NEAR, _FAR = (0.3, 1, 3, 10, 40), (0.1, 0.3, 1, 3, 10, 40, 200, 1000)

#: The largest error of a fit that counts as exact, and the largest distance of equal parameters.
_EXACT, _SAME = 1e-7, 1e-4


def main() -> None:
    """Draw, certify and fit networks until the time is over; write results/deep_refits.json."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--starts", type=int, default=24, help="for each network")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng, started = np.random.default_rng(options.seed), time.monotonic()
    counts, others = Counter[str](), list[Any]()
    while time.monotonic() - started < options.seconds:
        widths = _WIDTHS[int(rng.integers(len(_WIDTHS)))]
        vector = draw(widths, rng)
        search = deep.extend_to_regular(
            deep.run_search(network_of(vector, widths), budget=3000), 3000
        )
        counts["networks"] += 1
        if search.hypotheses.hold:
            counts[f"hypotheses hold among {search.deep_network.among} parameters"] += 1
            others += refits(vector, widths, points_of(search, rng), options.starts, rng, counts)
    write_results(
        "deep_refits",
        {"seed": options.seed, **dict(sorted(counts.items())), "contradictions": others},
    )


def draw(widths: tuple[int, ...], rng: np.random.Generator) -> Floats:
    """Return parameters in sixteenths, none of them 0."""
    sizes = [np.append(np.full(n * m, 1.0), np.full(m, 0.6)) for n, m in pairwise(widths)]
    found = np.round(rng.normal(0, np.concatenate(sizes)) * 16) / 16
    return np.where(found == 0, 1 / 16, found)


def network_of(vector: Floats, widths: tuple[int, ...]) -> Network:
    """Return the network with these parameters."""
    exact = [
        (
            [[Fraction(x) for x in row] for row in weight.tolist()],
            [Fraction(b) for b in bias.tolist()],
        )
        for weight, bias in layers_of(vector, widths)
    ]
    return polyrelu.from_arrays(exact)


def points_of(search: DeepSearch, rng: np.random.Generator) -> Floats:
    """Return points at many sizes, and points around all ridges."""
    inputs, found = search.network.num_inputs, list[Floats]()
    for location in search.ridges.values():
        plane = search.planes[location.plane]
        one, other = (np.array(direction, dtype=float) for direction in plane.directions)
        ridge = np.array(list(map(float, plane.point))) + location.s * one + location.t * other
        size = max(1.0, float(np.abs(ridge).max()))
        found += [ridge + rng.normal(0, size * share, (20, inputs)) for share in (1, 0.1, 0.01)]
    return np.concatenate([*found, *(rng.normal(0, size, (4000, inputs)) for size in _FAR)])


def refits(
    vector: Floats,
    widths: tuple[int, ...],
    far: Floats,
    starts: int,
    rng: np.random.Generator,
    counts: Counter[str],
) -> list[Any]:
    """Fit a network from a number of starts.

    Returns
    -------
    The fits that have the function of the network and are not related to it.
    """
    near = np.concatenate([rng.normal(0, size, (250, widths[0])) for size in _NEAR])
    wanted, factors = (
        outputs(vector, widths, near),
        1 / (1 + np.repeat(np.abs(near).max(1), widths[-1])),
    )
    others = []
    for number in range(starts):
        start = rng.normal(0, 1, len(vector)) if number % 2 else flipped(vector, widths, rng)
        counts["starts"] += 1
        fit = least_squares(
            lambda some: (outputs(some, widths, near) - wanted) * factors,
            start,
            method="lm",
            max_nfev=1500,
        )
        errors = np.abs(outputs(fit.x, widths, far) - outputs(vector, widths, far))
        if not (errors / (1 + np.repeat(np.abs(far).max(1), widths[-1])) < _EXACT).all():
            continue
        counts[f"exact, {len(widths) - 2} hidden layers"] += 1
        if np.abs(normal_form(fit.x, widths) - normal_form(vector, widths)).max() > _SAME:
            others.append([widths, vector.tolist(), fit.x.tolist()])
            print("not related:", others[-1], flush=True)
    return others


def flipped(vector: Floats, widths: tuple[int, ...], rng: np.random.Generator) -> Floats:
    """Return the parameters with some rows of hidden layers negated, and all of them disturbed."""
    layers = layers_of(vector.copy(), widths)
    for weight, bias in layers[:-1]:
        signs = rng.choice([-1.0, 1.0], len(bias))
        weight *= signs[:, None]
        bias *= signs
    return _joined(layers) + rng.normal(0, 0.3, len(vector))


def layers_of(vector: Floats, widths: tuple[int, ...]) -> Layers:
    """Return views of the weights and the biases."""
    found, k = Layers(), 0
    for n, m in pairwise(widths):
        found.append((vector[k : k + n * m].reshape(m, n), vector[k + n * m : k + (n + 1) * m]))
        k += (n + 1) * m
    return found


def outputs(vector: Floats, widths: tuple[int, ...], points: Floats) -> Floats:
    """Return the values at some points, flattened from a row for each point."""
    layers, values = layers_of(vector, widths), points.T
    for number, (weight, bias) in enumerate(layers, 1):
        values = weight @ values + bias[:, None]
        values = np.maximum(values, 0) if number < len(layers) else values
    return np.asarray(values.T.ravel())


def normal_form(vector: Floats, widths: tuple[int, ...]) -> Floats:
    """Return parameters whose hidden rows have length 1 and are sorted.

    Related parameters have nearly the same normal form.
    """
    layers = layers_of(vector.copy(), widths)
    for number in range(len(layers) - 1):
        (weight, bias), (out, last) = layers[number : number + 2]
        sizes: Floats = np.sqrt((weight**2).sum(axis=1) + bias**2)
        sizes[sizes == 0] = 1
        weight, bias, out = (weight.T / sizes).T, bias / sizes, out * sizes
        order = np.lexsort(np.round(np.column_stack([weight, bias]), 6).T[::-1])
        layers[number], layers[number + 1] = (weight[order], bias[order]), (out[:, order], last)
    return _joined(layers)


def _joined(layers: Layers) -> Floats:
    return np.concatenate([np.append(weight.ravel(), bias) for weight, bias in layers])


if __name__ == "__main__":
    main()
