"""Points at which an objective is large: samples and ascents in floats, values exactly."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from polyrelu.exact import as_float, nearest_vector
from polyrelu.proofs.deviation.float_pair import Floats, in_coordinates
from polyrelu.proofs.deviation.problem import ExactPoint, Problem
from polyrelu.proofs.deviation.settings import SETTINGS
from polyrelu.support.budget import Budget

__all__ = ["BestPoint"]

#: Lengths of steps of an ascent, as shares of the way to the best corner.
_SHARES = 2.0 ** -np.arange(12)


class BestPoint:
    """The best point so far, which is in the domain, with the exact objective there.

    Parameters
    ----------
    problem
        What is maximised.

    Attributes
    ----------
    problem
        As given.
    value, x, y
        The objective and the point, in inputs and in coordinates; None before the first point.
    num_points
        Number of points that were tried, in floats or exactly.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem, self._pair = problem, problem.double
        self._low = nearest_vector(problem.lower)
        self._high = nearest_vector(problem.upper)
        self._sides = problem.float_sides
        self.value: Fraction | None = None
        self.x: ExactPoint = ()
        self.y: ExactPoint = ()
        self._outputs = list[tuple[Fraction, ...]]()
        self.num_points = 0

    def start(self, seed: int, budget: Budget | None = None) -> None:
        """Try two corners of the domain, samples, and ascents from the best of them.

        Limits of the budget end this after the corners.
        """
        limits = Budget() if budget is None else budget
        self.offer_exactly(self._first_points())
        limits.check()
        if not len(self._low):  # the domain is a point
            return
        random = np.random.default_rng(seed)
        shape = (SETTINGS.num_samples, len(self._low))
        points = self._low + (self._high - self._low) * random.random(shape)
        if not self.problem.is_box:
            points = self._towards_inside(points)
        if len(points):
            self._note_extremes(points)
        limits.check()
        values = self._objective(points)
        order = np.argsort(-values, kind="stable")[: SETTINGS.num_starts]
        self.offer(self._ascended(points[order], limits))

    @property
    def known_value(self) -> Fraction:
        """The value, after a point of the domain was tried."""
        assert self.value is not None
        return self.value

    def values_seen(self, output: int) -> tuple[Fraction, Fraction]:
        """Return the least and largest value of an output of f at the points tried exactly."""
        values = [outputs[output] for outputs in self._outputs]
        return min(values), max(values)

    def offer(self, points: Floats) -> None:
        """Try points given in floats: the best of them exactly, if it is better in floats."""
        values = self._objective(points)
        self.num_points += len(points)
        best = int(values.argmax())
        if not np.isfinite(values[best]):
            return
        if self.value is None or values[best] > as_float(self.value):
            self.offer_exactly([self._exactly(points[best])])

    def offer_exactly(self, points: list[ExactPoint]) -> None:
        """Try points in the coordinates; those outside the domain do not count."""
        domain = self.problem.coordinates.domain
        pairs = ((y, self.problem.to_inputs(y)) for y in points)
        chosen = [pair for pair in pairs if self.problem.is_box or domain.contains(pair[1])]
        if not chosen:
            return
        inside = [x for _, x in chosen]
        self._outputs += self.problem.first.evaluate(inside)
        for (y, x), value in zip(chosen, self.problem.values(inside), strict=True):
            if self.value is None or value > self.value:
                self.value, self.x, self.y = value, x, y

    def _note_extremes(self, points: Floats) -> None:
        """Try the points with the least and the largest outputs of f among some."""
        layers = in_coordinates(self.problem.pair.first, self.problem.coordinates.inputs)
        last_weight, last_bias = layers[-1]
        values = self._activations(points) @ last_weight.to_floats().T + last_bias.to_floats()[:, 0]
        is_inside = np.isfinite(self._objective(points))
        low, high = (np.where(is_inside[:, None], values, end) for end in (np.inf, -np.inf))
        chosen = {*low.argmin(axis=0).tolist(), *high.argmax(axis=0).tolist()}
        self.offer_exactly([self._exactly(points[i]) for i in sorted(chosen)])

    def _activations(self, points: Floats) -> Floats:
        """Return the last activations of f at points."""
        for weight, bias in zip(self._pair.weights, self._pair.biases, strict=True):
            points = np.maximum(points @ weight.T + bias, 0)
        return points

    def _first_points(self) -> list[ExactPoint]:
        """Return a point inside the domain, and two opposite corners of the box."""
        point = self.problem.coordinates.to_coordinates(self.problem.coordinates.inside)
        inside = tuple(Fraction(entry, point[0]) for entry in point[1:])
        return [inside, self.problem.lower, self.problem.upper]

    def _towards_inside(self, points: Floats) -> Floats:
        """Move points that are outside the domain to it, on the way to a point inside."""
        inside = nearest_vector(self._first_points()[0])
        matrix, right = self._sides
        there, rest = points @ matrix.T, right - matrix @ inside
        way = there - matrix @ inside
        shares = np.where(way > rest, rest / np.where(way > rest, way, 1), 1)
        factor = 0.999 * shares.min(axis=1, initial=1)
        found: Floats = inside + (points - inside) * factor[:, None]
        return found

    def _exactly(self, point: Floats) -> ExactPoint:
        """Return a point in floats as an exact one in the box."""
        corners = zip(
            np.nan_to_num(point).tolist(), self.problem.lower, self.problem.upper, strict=True
        )
        return tuple(min(max(Fraction(y), low), high) for y, low, high in corners)

    def _ascended(self, points: Floats, budget: Budget) -> Floats:
        """Return the ends of ascents: steps towards the corner that the gradient points at."""
        values = self._objective(points)
        for _ in range(SETTINGS.num_steps):
            budget.check()
            corner = np.where(self._gradients(points) > 0, self._high, self._low)
            steps = points + _SHARES[:, None, None] * (corner - points)
            tried = self._objective(steps.reshape(-1, points.shape[1])).reshape(len(_SHARES), -1)
            self.num_points += tried.size
            best = tried.argmax(axis=0)
            found, place = tried.max(axis=0), np.arange(len(points))
            is_better = found > values
            if not is_better.any():
                break
            points = np.where(is_better[:, None], steps[best, place], points)
            values = np.maximum(found, values)
        return points

    def _objective(self, points: Floats) -> Floats:
        """Return the objective at points, -inf outside of the domain, shape (points,)."""
        values = self.problem.objective(self._rows(points)[0])
        if self.problem.is_box:
            return values
        matrix, right = self._sides
        return np.where((points @ matrix.T <= right).all(axis=1), values, -np.inf)

    def _rows(self, points: Floats) -> tuple[Floats, list[tuple[NDArray[np.bool_], ...]]]:
        """Return the rows at points, and which neurons of both networks are on."""
        pair, a, d = self._pair, points, np.zeros_like(points)
        signs = list[tuple[NDArray[np.bool_], ...]]()
        for m in range(pair.depth):
            z = a @ pair.weights[m].T + pair.biases[m]
            change = a @ pair.weight_changes[m].T + pair.bias_changes[m]
            if m:
                change += d @ pair.other_weights[m].T
            partner = pair.of_partners(m, z)
            y = partner + change
            signs.append((z > 0, y > 0))
            a = np.maximum(z, 0)
            d = np.where(partner >= 0, np.maximum(change, -partner), np.maximum(y, 0))
        rows = pair.rows
        found = points @ rows.on_x.T + rows.constant + a @ rows.joint.T
        if pair.depth and not pair.is_single:
            found = found + d @ rows.on_g.T
        return found, signs

    def _gradients(self, points: Floats) -> Floats:
        """Return the gradients of the rows that decide the objective at points."""
        values, signs = self._rows(points)
        chosen = self.problem.deciding_rows(values)
        pair, rows = self._pair, self._pair.rows
        if not pair.depth:
            return (rows.on_x + rows.joint)[chosen]
        found = rows.on_x[chosen]
        one, two = rows.on_f[chosen], rows.on_g[chosen]
        for m in range(pair.depth - 1, -1, -1):
            one = (one * signs[m][0]) @ pair.weights[m]
            two = (two * signs[m][1]) @ pair.other_weights[m]
        return found + one + two
