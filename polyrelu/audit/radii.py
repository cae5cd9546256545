"""Certified radii: whether the class of a point is the class of the whole ball around it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np

from polyrelu.audit.comparing import Question, report_of
from polyrelu.audit.extremes import Extreme, largest
from polyrelu.audit.findings import Finding, Verdict
from polyrelu.audit.judging import ALONE, judged
from polyrelu.audit.reports import AuditReport
from polyrelu.audit.tables import as_integers, as_numbers, entry, is_finite, row_of
from polyrelu.errors import ArgumentError
from polyrelu.exact import Polyhedron, as_float, nearest_vector
from polyrelu.formats import DomainLike, NetworkLike, as_domain, as_network
from polyrelu.network import Network
from polyrelu.support.arguments import expect_choice
from polyrelu.support.parallel import Execution
from polyrelu.support.parallel.wire import exact_numbers, exact_texts, understood
from polyrelu.support.progress import Progress
from polyrelu.support.typing import Point

__all__ = ["audit_radii", "radius_report"]

_NORMS = ("l1", "l2", "linf")
#: Maximum number of inputs for which a ball of l1 is written with all its 2^n constraints.
_MAX_CROSS = 6
#: Number of steps of the float search for a point of another class in a ball of l2.
_STEPS = 40


def audit_radii(
    network: NetworkLike,
    points: object,
    radii: object,
    *,
    norm: str = "linf",
    labels: object = None,
    domain: DomainLike = None,
    max_findings: int = 100,
) -> AuditReport:
    """Decide whether all points of a ball have the class of its centre.

    The class is the index of the largest output; of a single output f it is 1 where f > 0 and 0
    where f < 0. Ties count for both classes.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes.
    points
        Centres, shape (k, n_0).
    radii
        Certified radii, shape (k,).
    norm
        The norm of the balls, ``l1``, ``l2`` or ``linf``.
    labels
        The class of each centre, shape (k,); None for the class that the network gives.
    domain
        A polyhedron of which the balls are taken, or a text such as ``"box:0,1"``; None for none.
    max_findings
        Maximum number of findings that are explained; all are counted.

    Returns
    -------
    AuditReport
        A verdict for each radius.

    Raises
    ------
    DomainError
        The domain cannot be read.
    ArgumentError
        The arguments do not fit each other or the network.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [-1]], [0, 0]), ([[1, -1]], [0])])
    >>> report = audit_radii(net, [[0.5], [0.5]], [0.5, 0.6])
    >>> report.verdicts
    ('right', 'wrong')
    >>> print(report.findings[0])
    wrong radius: item 1: class 0 beats class 1 within 0.6 (linf)
    witness: (-900719925474099/9007199254740992)
    distance: about 0.6
    """
    exact = as_network(network)
    within = None if domain is None else as_domain(domain, exact.num_inputs)
    return radius_report(exact, points, radii, norm, labels, within, max_findings)


def radius_report(
    exact: Network,
    points: object,
    radii: object,
    norm: str,
    labels: object,
    within: Polyhedron | None,
    max_findings: int,
    execution: Execution = ALONE,
    progress: Progress | None = None,
) -> AuditReport:
    """Return the report on radii; parts of long lists are tasks."""
    expect_choice(norm, _NORMS, "norm")
    centres = as_numbers(points, 2, "points")
    sizes = as_numbers(radii, 1, "radii")
    if len(sizes) != len(centres) or (len(centres) and centres.shape[1] != exact.num_inputs):
        raise ArgumentError(f"points and radii: expected shapes (k, {exact.num_inputs}) and (k,)")
    if not (is_finite(centres).all() and is_finite(sizes).all()) or (sizes < 0).any():
        raise ArgumentError("points and radii: expected finite numbers, radii of at least 0")
    rows = [row_of(centres, k) for k in range(len(centres))]
    classes = _classes(exact, rows, labels)
    balls = _Balls(exact, rows, list(map(entry, sizes)), classes, norm, within)
    found = judged(balls, execution, progress)
    verdicts: list[Verdict] = [verdict for verdict, *_ in found]

    def explain(item: int) -> Finding:
        """Return the finding about an item."""
        verdict, other, texts = found[item]
        where = f"within {sizes[item]} ({norm})"
        if verdict == "not refuted":
            message = f"item {item}: neither a point nor interval arithmetic decides {where}"
            return Finding("radius", verdict, message, item)
        message = f"item {item}: class {other} beats class {classes[item]} {where}"
        with understood():
            point = exact_numbers(texts)  # it refutes the radius
            off = max(abs(a - b) for a, b in zip(point, rows[item], strict=True))
        return Finding("radius", verdict, message, item, None, point, off, "distance")

    rule = "a radius is right if no point of the ball has a larger output of another class"
    question = Question.of(max_findings=max_findings)
    return report_of("certified radii", verdicts, explain, question, rule)


def _classes(network: Network, rows: Sequence[Point], labels: object) -> list[int]:
    """Return the class of each centre, given or computed; ties count for the smallest class."""
    count = max(network.num_outputs, 2)
    if labels is not None:
        given: list[int] = as_integers(labels, 1, "labels").tolist()
        if len(given) != len(rows) or any(label >= count for label in given):
            raise ArgumentError(f"labels: expected a class from 0 to {count - 1} for each point")
        return given
    values = network.evaluate(list(rows)) if rows else []
    if network.num_outputs == 1:
        return [int(value > 0) for (value,) in values]
    return [max(range(count), key=lambda k, v=value: v[k]) for value in values]  # type: ignore[misc]


@dataclass(slots=True, eq=False)
class _Balls:
    """Claimed radii, a judge of them."""

    network: Network
    centres: Sequence[Point]
    radii: Sequence[Fraction]
    classes: Sequence[int]
    norm: str
    domain: Polyhedron | None
    subject: str = "certified radii"
    items_per_task: int = 1

    def __len__(self) -> int:
        return len(self.radii)

    def judge(self, items: range) -> list[tuple[Verdict, int, list[str]]]:
        """Return verdicts, and which class has a larger output where."""
        return [self._verdict(item) for item in items]

    def _verdict(self, item: int) -> tuple[Verdict, int, list[str]]:
        ball = _Ball(self.network, self.centres[item], self.radii[item], self.norm, self.domain)
        verdict, other, extreme = ball.beaten(self.classes[item])
        return verdict, other, exact_texts(extreme.point or ())


class _Ball:
    """A ball around a point, in a norm."""

    def __init__(
        self,
        network: Network,
        centre: Point,
        radius: Fraction,
        norm: str,
        domain: Polyhedron | None,
    ) -> None:
        self.network, self.centre, self.radius, self.norm = network, centre, radius, norm
        self.domain = domain

    def polyhedron(self) -> Polyhedron:
        """Return the ball, or the smallest box around it; within the domain."""
        low = [x - self.radius for x in self.centre]
        high = [x + self.radius for x in self.centre]
        ball = Polyhedron.box(low, high)
        if self.norm == "l1" and len(low) <= _MAX_CROSS:
            signs = list(product((-1, 1), repeat=len(low)))
            right = [
                sum((s * x for s, x in zip(row, self.centre, strict=True)), self.radius)
                for row in signs
            ]
            ball = ball.intersect(Polyhedron.from_constraints(signs, right))
        return ball if self.domain is None else ball.intersect(self.domain)

    def holds(self, point: Point) -> bool:
        """Return whether a point lies in the ball, exactly, and in the domain."""
        gaps = [abs(a - b) for a, b in zip(point, self.centre, strict=True)]
        inside = {
            "linf": max(gaps) <= self.radius,
            "l1": sum(gaps) <= self.radius,
            "l2": sum(g * g for g in gaps) <= self.radius**2,
        }[self.norm]
        return inside and (self.domain is None or self.domain.contains(point))

    def beaten(self, label: int) -> tuple[Verdict, int, Extreme]:
        """Return the verdict, and which class has a larger output where."""
        others, rows = _differences(self.network.num_outputs, label)
        found = largest(self.network, rows, self.polyhedron())
        verdict: Verdict = "right"
        best = (verdict, label, Extreme(None, None, None))
        for other, row, extreme in zip(others, rows, found, strict=True):
            point = extreme.point
            if extreme.value is not None and extreme.value > 0:
                if point is None or not self.holds(point):
                    extreme = self._by_ascent(row)
                if extreme.value is not None and extreme.value > 0:
                    return "wrong", other, extreme
            if extreme.upper is None or extreme.upper > 0:
                best = ("not refuted", other, extreme)
        return best

    def _by_ascent(self, row: Sequence[int]) -> Extreme:
        """Return the best point of a float ascent in the ball, evaluated exactly."""
        centre = nearest_vector(self.centre)
        size, x = as_float(self.radius), centre
        best = Extreme(None, None, None)
        for step in range(_STEPS):
            map_ = self.network.affine_map_at(x.tolist())
            slope = np.array(row, dtype=float) @ map_.matrix.to_floats()
            length = float(np.linalg.norm(slope)) or 1.0
            x = np.nan_to_num(x) + slope / length * size * (2.0 if step == 0 else 0.5)
            gap = x - centre
            norms = {"l1": np.abs(gap).sum(), "l2": np.linalg.norm(gap), "linf": np.abs(gap).max()}
            far = float(norms[self.norm])
            x = centre + gap * min(1.0, size / far * (1 - 1e-12)) if far else x
            point = tuple(map(Fraction, np.nan_to_num(x).tolist()))
            if not self.holds(point):
                continue
            pairs = zip(row, self.network(point), strict=True)
            value = sum((a * f for a, f in pairs), Fraction())
            if best.value is None or value > best.value:
                best = Extreme(value, point, None)
        return best


def _differences(outputs: int, label: int) -> tuple[list[int], list[list[int]]]:
    """Return the other classes, and for each the functional that is positive where it is larger."""
    if outputs == 1:
        return [1 - label], [[1 - 2 * label]]
    others = [k for k in range(outputs) if k != label]
    return others, [[(j == k) - (j == label) for j in range(outputs)] for k in others]
