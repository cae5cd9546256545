"""Search for chain points: Newton's method in floats, then an exact solution nearby.

Where the signs of all neurons are known, the neurons of a chain are affine forms of the input, and
their common zeros an affine space. Newton's method goes from a random start to such a common zero,
and takes new signs after each step. Near its end all coordinates but one for each form are rounded,
and the others are solved for exactly. Whether the conditions hold there is decided exactly.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce

import numpy as np

from polyrelu.exact import PRIMES, Polyhedron, RationalMatrix, as_float, solve
from polyrelu.network import LeakyStack
from polyrelu.proofs.interior import Interior, is_inside
from polyrelu.proofs.leaky.chains import ChainConditions, leaky_signs
from polyrelu.proofs.refutations.image_box import box_of_inputs
from polyrelu.support.budget import Budget
from polyrelu.support.prices import price_of_chain, price_of_point
from polyrelu.support.typing import Floats, Point

__all__ = ["ChainSearch"]


@dataclass(frozen=True, slots=True)
class ChainSettings:
    """How chain points are looked for.

    Attributes
    ----------
    radii
        Sizes of random starts in R^n.
    share_of_missing
        Probability with which a layer prefers neurons that have no point yet.
    max_steps
        Maximum number of steps of Newton's method.
    max_tries
        Maximum number of chains that are tried for each neuron.
    nearly
        Share of the way to a side of the domain that a step makes at most.
    digits
        Numbers of binary digits after the point that coordinates are rounded to, one after the
        other: short points make short certificates.
    """

    radii: tuple[float, ...] = (1.0, 4.0, 16.0)
    share_of_missing: float = 0.75
    max_steps: int = 40
    max_tries: int = 40
    nearly: float = 0.9
    digits: tuple[int, ...] = (2, 8, 24)


SETTINGS = ChainSettings()


class ChainSearch:
    """A search for chain points through all hidden neurons.

    Parameters
    ----------
    leaky
        The stack.
    domain
        Where the points lie, strictly inside; None for R^n.
    seed
        The seed of the chains and starts.
    budget
        Pays for the tries.
    """

    def __init__(
        self, leaky: LeakyStack, domain: Polyhedron | None, seed: int, budget: Budget
    ) -> None:
        self.leaky, self._budget = leaky, budget
        self._interior = None if domain is None else Interior(domain)
        box = box_of_inputs(domain, leaky.stack.num_inputs)
        self._low = np.array([-np.inf if side.low is None else as_float(side.low) for side in box])
        self._high = np.array(
            [np.inf if side.high is None else as_float(side.high) for side in box]
        )
        self._rng = np.random.default_rng(seed)
        self.conditions = ChainConditions.of(leaky, PRIMES[0])
        layers = leaky.stack.layers
        self._weights = [layer.weight.to_floats() for layer in layers[:-1]]
        self._biases = [layer.bias.to_floats()[:, 0] for layer in layers[:-1]]
        self._missing = [set(range(layer.width)) for layer in layers[:-1]]
        self._slope = as_float(leaky.slope)

    @property
    def missing(self) -> tuple[int, int] | None:
        """The layer and the index of a neuron without a point, if there is one."""
        return next(((k, min(m)) for k, m in enumerate(self._missing, 1) if m), None)

    def points(self) -> list[Point]:
        """Return chain points through as many neurons as were found."""
        found, tries = list[Point](), 0
        with np.errstate(all="ignore"):
            while any(self._missing) and tries < SETTINGS.max_tries * max(map(len, self._weights)):
                tries += 1
                self._budget.spend(price_of_point(self.leaky.stack.num_parameters))
                zeros = self._chain()
                if zeros is None or not self._is_new(zeros):
                    continue
                point = self._point(zeros)
                if point is not None:
                    found.append(point)
                    for missing, t in zip(self._missing, zeros, strict=True):
                        missing.discard(t)
        return found

    def _is_new(self, zeros: list[int]) -> bool:
        """Whether some neuron of a chain has no point yet."""
        return any(t in missing for missing, t in zip(self._missing, zeros, strict=True))

    def _chain(self) -> list[int] | None:
        """Return a random chain of neurons, in most layers through missing ones where they fit.

        The same few missing neurons need not have a common zero, so that others are mixed in.
        """
        zeros = list[int]()
        for number, missing in enumerate(self._missing, 1):
            others = self._rng.permutation(len(self._weights[number - 1])).tolist()
            prefers = self._rng.random() < SETTINGS.share_of_missing
            wanted = [t for t in others if t in missing] if prefers else []
            fitting = (
                t
                for t in wanted + others
                if not zeros or self.conditions.links(number, zeros[-1], t)
            )
            chosen = next(fitting, None)
            if chosen is None:
                return None
            zeros.append(chosen)
        return zeros

    def _point(self, zeros: list[int]) -> Point | None:
        """Return a point of a chain at which the conditions hold."""
        near = self._newton(zeros)
        if near is None or not np.isfinite(near).all():
            return None
        gradients, slopes = self._gradients(near, zeros)[1:]
        columns = _pivot_columns(gradients)
        forms = self._exact_forms(slopes, zeros)
        for point in self._rounded(near, forms, columns):
            if self._interior is not None and not is_inside(self._interior.domain, point):
                continue
            self._budget.spend(price_of_chain(len(zeros)))
            if self.conditions.hold(exact := leaky_signs(self.leaky, point)) and all(
                layer[t] == 0 for layer, t in zip(exact, zeros, strict=True)
            ):
                return point
        return None

    def _start(self) -> Floats:
        """Return a random point, inside the domain if there is one."""
        if self._interior is not None:
            inside: Floats = self._interior.points(self._rng, 1)[0]
            return inside
        start: Floats = self._rng.standard_normal(self.leaky.stack.num_inputs)
        return start * float(self._rng.choice(SETTINGS.radii))

    def _newton(self, zeros: list[int]) -> Floats | None:
        """Return a point near common zeros of a chain; None if the steps do not end.

        Coordinates near a side of the domain move less, and steps that would leave it are cut.
        """
        point, last = self._start(), None
        for _ in range(SETTINGS.max_steps):
            values, gradients, slopes = self._gradients(point, zeros)
            if last is not None and all(
                (np.delete(a, t) == np.delete(b, t)).all()
                for a, b, t in zip(slopes, last, zeros, strict=True)
            ):
                return point
            step = self._step(point, values, gradients)
            if step is None:
                return None
            point, is_whole = self._moved(point, step)
            last = slopes if is_whole else None
        return None

    def _step(self, point: Floats, values: Floats, gradients: Floats) -> Floats | None:
        """Return the step to the zeros of forms; None if their gradients are dependent.

        There is none beyond the range of floats either.
        """
        if not (np.isfinite(values).all() and np.isfinite(gradients).all()):
            return None
        room = np.minimum(np.minimum(point - self._low, self._high - point), 1.0)
        step, _, rank, _ = np.linalg.lstsq(gradients * room, -values, rcond=None)
        moved: Floats = step * room
        return moved if rank == len(values) else None

    def _moved(self, point: Floats, step: Floats) -> tuple[Floats, bool]:
        """Return the end of a step, and whether it was not cut at a side of the domain."""
        limits = np.where(step > 0, self._high - point, point - self._low)
        share = float(np.min(SETTINGS.nearly * limits / np.abs(step), initial=1.0))
        return point + share * step, share == 1.0

    def _gradients(self, point: Floats, zeros: list[int]) -> tuple[Floats, Floats, list[Floats]]:
        """Return values and gradients of the neurons of a chain, and the slopes of all neurons.

        Their shapes are (hidden layers,), (hidden layers, n_0) and (n_ℓ,) for each hidden layer.
        The neurons of the chain count as off.
        """
        values, gradients, slopes = list[float](), list[Floats](), list[Floats]()
        activation, derivative = point, None
        for weight, bias, t in zip(self._weights, self._biases, zeros, strict=True):
            z = weight @ activation + bias
            derivative = weight if derivative is None else weight @ derivative
            factors = np.where(z > 0, 1.0, self._slope)
            factors[t] = self._slope
            values.append(float(z[t]))
            gradients.append(derivative[t])
            slopes.append(factors)
            activation, derivative = z * factors, derivative * factors[:, None]
        return np.array(values), np.array(gradients), slopes

    def _exact_forms(self, slopes: list[Floats], zeros: list[int]) -> RationalMatrix:
        """Return the forms [w | b] of the neurons of a chain, exactly, where slopes are known."""
        layers, found = self.leaky.stack.layers, list[RationalMatrix]()
        exact = [[1 if x == 1.0 else self.leaky.slope for x in part.tolist()] for part in slopes]
        for number, t in enumerate(zeros):
            row, offset = RationalMatrix.identity(layers[number].width).take(rows=[t]), None
            for layer, factors in zip(
                layers[number::-1], [None, *exact[:number][::-1]], strict=True
            ):
                if factors is not None:
                    row = row.scale_columns(factors)
                constant = row @ layer.bias
                offset = constant if offset is None else offset + constant
                row = row @ layer.weight
            assert offset is not None
            found.append(row.beside(offset))
        return reduce(RationalMatrix.over, found)

    def _rounded(self, near: Floats, forms: RationalMatrix, columns: list[int]) -> Iterator[Point]:
        """Yield exact common zeros near a point, with short coordinates first."""
        free = [j for j in range(len(near)) if j not in set(columns)]
        pivots = forms.take(columns=columns)
        rest = forms.take(columns=[*free, len(near)])
        extra = 0 if self._interior is None else self._interior.point_digits - max(SETTINGS.digits)
        for digits in SETTINGS.digits:
            unit = 1 << digits + max(extra, 0)
            given = [Fraction(round(Fraction(x) * unit), unit) for x in near[free].tolist()]
            right = rest @ RationalMatrix.column([*given, 1])
            solved = solve(pivots, -right)
            if solved is None:
                return
            point = [Fraction(0)] * len(near)
            for j, x in zip(free + columns, [*given, *solved.entries()], strict=True):
                point[j] = x
            yield tuple(point)


def _pivot_columns(gradients: Floats) -> list[int]:
    """Return columns of a matrix with large entries that are independent, one for each row."""
    rest, found = gradients / np.abs(gradients).max(axis=1, keepdims=True), list[int]()
    for row in range(len(rest)):
        column = int(np.argmax(np.abs(rest[row])))
        found.append(column)
        for other in range(row + 1, len(rest)):
            rest[other] = rest[other] - rest[row] * (rest[other, column] / rest[row, column])
    return sorted(found)
