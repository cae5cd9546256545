"""At most one hidden layer, and a ReLU at the outputs: identifiability among all parameters.

Where all outputs are positive the last ReLU does nothing, so that the proof for an affine output
(`prover`) holds near such points. Statement and proof: docs/theory/shallow.md.

Floats look for the points; that a point is a zero of its neuron, that it is strictly inside the
domain, and that the outputs are positive there, is decided exactly.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from polyrelu.certificate import Hypothesis
from polyrelu.exact import Optimal, Polyhedron, format_rational
from polyrelu.network import Network
from polyrelu.outcomes import Attempt
from polyrelu.proofs.interior import Interior, is_inside
from polyrelu.proofs.shallow.assignments import has_doubled_hyperplane, why_not_visible
from polyrelu.proofs.shallow.vanishing_sums import no_vanishing_sum
from polyrelu.support.budget import Budget
from polyrelu.support.prices import price_of_point, price_of_samples
from polyrelu.support.typing import Floats, Point, Vector

__all__ = ["AFFINE", "SHALLOW", "prove", "prove_affine"]

#: The names of the theorems in certificates, for no and for one hidden layer.
AFFINE, SHALLOW = "trailing-affine", "trailing-shallow"


@dataclass(frozen=True, slots=True)
class TrailingSettings:
    """How points are looked for.

    Attributes
    ----------
    num_points
        Number of sample points.
    radii
        Sizes of sample points of R^n.
    max_tries
        Maximum number of points for each neuron that are compared exactly.
    point_digits
        Number of binary digits after the point that coordinates are rounded to.
    """

    num_points: int = 4000
    radii: tuple[float, ...] = tuple((10.0 ** np.arange(-2, 5)).tolist())
    max_tries: int = 4
    point_digits: int = 24


SETTINGS = TrailingSettings()


def prove_affine(network: Network, domain: Polyhedron | None = None) -> list[Hypothesis] | Attempt:
    """Return the hypotheses of theorem `trailing-affine`, or why it does not apply.

    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[2, 0], [0, -1]], [-1, 0])], last="relu")
    >>> prove_affine(net)[0].evidence
    {'points': [['1', '0'], ['0', '-1']]}
    """
    points = list[Point]()
    for o, row in enumerate(network.layers[0].augmented().rows()):
        point = _positive_point(row, domain)
        if point is None:
            place = "R^n" if domain is None else "the domain"
            return Attempt(AFFINE, f"output {o} is positive nowhere inside {place}")
        points.append(point)
    return [Hypothesis(AFFINE, "positive", _listed(points))]


def _positive_point(row: Vector, domain: Polyhedron | None) -> Point | None:
    """Return a point in the interior of a domain where a form [w | b] is positive, if any."""
    *weights, bias = row
    if domain is None:
        point = [Fraction(0)] * len(weights)
        if bias <= 0:
            j = next((j for j, w in enumerate(weights) if w), None)
            if j is None:
                return None
            point[j] = (1 - bias) / weights[j]
        return tuple(point)
    middle = domain.interior_point()
    assert middle is not None
    here = _value(row, middle)
    if here > 0:
        return middle
    program = domain.program()
    program.add_inequalities([weights], [1 - bias])  # the form may be unbounded
    answer = program.maximize(weights)
    if not isinstance(answer, Optimal) or (there := _value(row, answer.point)) <= 0:
        return None
    t = (1 - here / (there - here)) / 2  # half of the way from the zero to the maximum
    return tuple(a + t * (b - a) for a, b in zip(middle, answer.point, strict=True))


def prove(
    network: Network, seed: int = 0, budget: Budget | None = None, domain: Polyhedron | None = None
) -> list[Hypothesis] | Attempt:
    """Return the hypotheses of theorem `trailing-shallow`, or why it does not apply.

    A `LimitReached` says that the budget ended the search for points or the comparison of sums.

    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [2]], [0, 2]), ([[1, 1]], [1])], last="relu")
    >>> [hypothesis.id for hypothesis in prove(net)]
    ['positive', 'visible', 'unique']
    """
    limits = Budget() if budget is None else budget
    failure = why_not_visible(network)
    if failure is None and has_doubled_hyperplane(network):
        failure = "two neurons share a hyperplane, which the theorem allows before no ReLU"
    if failure is not None:
        return Attempt(SHALLOW, failure)
    unique = no_vanishing_sum(SHALLOW, network, 1, limits)
    if isinstance(unique, Attempt):
        return unique
    limits.spend(price_of_samples(network.num_parameters))
    interior, points = None if domain is None else Interior(domain), list[Point]()
    samples = _samples(network, seed, interior)
    for i in range(network.widths[1]):
        point = _visible_zero(network, i, samples, interior, limits)
        if point is None:
            return Attempt(
                SHALLOW, f"no zero of neuron {i} of layer 1 was found where outputs are positive"
            )
        points.append(point)
    return [
        Hypothesis(SHALLOW, "positive", _listed(points)),
        Hypothesis(SHALLOW, "visible"),
        Hypothesis(SHALLOW, "unique", unique),
    ]


def _samples(network: Network, seed: int, interior: Interior | None) -> Floats:
    """Return points inside the domain, or of all sizes."""
    rng = np.random.default_rng(seed)
    if interior is not None:
        return interior.points(rng, SETTINGS.num_points)
    points: Floats = rng.standard_normal((SETTINGS.num_points, network.num_inputs))
    points *= rng.choice(SETTINGS.radii, (SETTINGS.num_points, 1))
    return points


def _visible_zero(
    network: Network, i: int, samples: Floats, interior: Interior | None, budget: Budget
) -> Point | None:
    """Return an exact zero of neuron i inside the domain where all outputs are positive."""
    row = network.layers[0].augmented().row(i)
    for guess in _guessed_zeros(network, i, samples, interior):
        budget.spend(price_of_point(network.num_parameters))
        point = _zero_near(row, guess)
        is_in = interior is None or is_inside(interior.domain, point)
        if is_in and all(a > 0 for a in network(point)):
            return point
    return None


def _guessed_zeros(
    network: Network, i: int, samples: Floats, interior: Interior | None
) -> Iterator[Floats]:
    """Yield zeros of neuron i in floats, nearest to samples, the largest outputs first."""
    weights, bias = network.weight(1).to_floats(), network.bias(1).to_floats()[:, 0]
    outgoing, offset = network.weight(2).to_floats(), network.bias(2).to_floats()[:, 0]
    row = weights[i]
    with np.errstate(all="ignore"):
        zeros = samples - np.outer((samples @ row + bias[i]) / (row @ row), row)
        if interior is not None:
            zeros = zeros[(interior.distances(zeros) > 0).all(axis=1)]
        outputs = np.maximum(zeros @ weights.T + bias, 0) @ outgoing.T + offset
        least = np.nan_to_num(outputs.min(axis=1), nan=-np.inf)
    for k in np.argsort(-least, kind="stable")[: SETTINGS.max_tries]:
        if least[k] > 0:
            yield zeros[k]


def _zero_near(row: Vector, guess: Floats) -> Point:
    """Return an exact zero of a form [w | b] near a point; one coordinate is solved for."""
    unit = 1 << SETTINGS.point_digits
    point = [Fraction(round(x * unit), unit) for x in guess.tolist()]
    j = max(range(len(point)), key=lambda k: abs(row[k]))
    point[j] = Fraction(0)
    point[j] = -_value(row, point) / row[j]
    return tuple(point)


def _value(row: Vector, point: Sequence[Fraction]) -> Fraction:
    """Return the value of the form [w | b] at a point."""
    return sum((w * x for w, x in zip(row[:-1], point, strict=True)), row[-1])


def _listed(points: list[Point]) -> dict[str, Any]:
    """Return points as they stand in evidence."""
    return {"points": [list(map(format_rational, point)) for point in points]}
