"""Smaller bounds on boxes by cuts at the signs of neurons, in floats.

Where few neurons are open on a box, it is divided at the sign of the one that loses most, again and
again, and its bound is the largest one of a part. Many cuts of boxes would have the same effect,
since neurons vanish across all coordinates. Where no neuron is open on a part, a row is affine
there, and a linear program has its largest value.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from polyrelu.exact import LinearProgram, Optimal, as_float
from polyrelu.proofs.deviation.backward import Boxes
from polyrelu.proofs.deviation.box_bounds import BoxBounds, KnownBounds, bound_boxes
from polyrelu.proofs.deviation.float_pair import FloatPair, Floats
from polyrelu.proofs.deviation.problem import Problem
from polyrelu.proofs.deviation.settings import SETTINGS

__all__ = ["SignPart", "SignParts"]

#: For `SignPart.worst`: no neuron is open, and the bound is the largest value.
_IS_SETTLED = -2


@dataclass(slots=True)
class SignPart:
    """The part of a box where some neurons have given signs.

    Attributes
    ----------
    box
        The index of the box.
    table
        A row of a table of `KnownBounds`.
    signs
        A row of the signs that `bound_boxes` takes.
    worst
        The neuron to cut next, see `BoxBounds.worst`; less if none is open, and the bound is the
        largest value.
    """

    box: int
    table: Floats
    signs: NDArray[np.int8]
    worst: int


class SignParts:
    """Bounds of some boxes by parts.

    Parameters
    ----------
    problem, pair
        What is bounded, and its floats.
    boxes
        The boxes.
    limit
        The bound up to which parts are left alone.
    is_joint
        As in `bound_boxes`.

    Attributes
    ----------
    points
        Points of parts without open neurons where a row is largest, shape (1, n_0) each.
    num_parts
        Number of parts that were bounded.
    """

    def __init__(
        self, problem: Problem, pair: FloatPair, boxes: Boxes, limit: float, is_joint: bool
    ) -> None:
        self._problem, self._pair, self._boxes = problem, pair, boxes
        self._limit, self._is_joint = limit, is_joint
        self.points, self.num_parts = list[Floats](), 0
        self._heaps = list[list[tuple[float, int, SignPart]]]()

    def bounds(self, found: BoxBounds, spend: Callable[[int], None]) -> Floats:
        """Return smaller bounds of the objective, given bounds on the boxes.

        `spend` pays for a number of parts before they are bounded.
        """
        num_signs = _num_signs(self._pair)
        signs = np.zeros((len(self._boxes), num_signs), np.int8)
        self._heaps = [[] for _ in range(len(self._boxes))]
        self._push(list(range(len(self._boxes))), found, signs)
        active = list(range(len(self._boxes)))
        for _ in range(SETTINGS.sign_rounds):
            active = [i for i in active if self._is_worth_it(i)]
            if not active:
                break
            spend(2 * len(active))
            self._cut([heapq.heappop(self._heaps[i])[2] for i in active])
        return np.array([-heap[0][0] for heap in self._heaps])

    def _is_worth_it(self, box: int) -> bool:
        """Whether the part with the largest bound of a box is to be cut."""
        heap = self._heaps[box]
        while self._limit < -heap[0][0] < np.inf and heap[0][2].worst == -1:
            _, number, part = heapq.heappop(heap)
            part.worst = _IS_SETTLED
            heapq.heappush(heap, (-self._largest_value(part), number, part))
        return self._limit < -heap[0][0] < np.inf and heap[0][2].worst >= 0

    def _largest_value(self, part: SignPart) -> float:
        """Return the largest value on a part without open neurons, and note where it is."""
        known = KnownBounds(self._pair, part.table[None])
        wanted = self._problem.open_rows(known.rows, self._limit)[0]
        upper = known.rows[0].copy()
        for row in np.nonzero(wanted)[0].tolist():
            upper[row], point = self._maximum(part, row)
            if point is not None and upper[row] > self._limit:
                self.points.append(point)
        return float(self._problem.objective(upper[None])[0])

    def _cut(self, parts: list[SignPart]) -> None:
        """Cut parts at the signs of their worst neurons, and bound both sides."""
        both = [part.box for part in parts for _ in range(2)]
        signs = np.repeat(np.stack([part.signs for part in parts]), 2, axis=0)
        worst = [part.worst for part in parts]
        signs[0::2][range(len(parts)), worst] = 1
        signs[1::2][range(len(parts)), worst] = -1
        table = np.repeat(np.stack([part.table for part in parts]), 2, axis=0)
        known, boxes = KnownBounds(self._pair, table), self._boxes
        wanted = self._problem.open_rows(known.rows, self._limit)
        wanted[:, 0] |= ~wanted.any(axis=1)
        corners = Boxes(boxes.low[both], boxes.high[both])
        found = bound_boxes(self._pair, corners, known, wanted, self._is_joint, signs)
        self._push(both, found, signs)

    def _push(self, boxes: list[int], found: BoxBounds, signs: NDArray[np.int8]) -> None:
        """Add parts with their bounds to the heaps of their boxes."""
        upper = self._problem.objective(found.upper)
        rows = self._problem.deciding_rows(found.upper)
        worst = found.worst[found.places(rows)]
        for i, box in enumerate(boxes):
            part = SignPart(box, found.known.table[i], signs[i], int(worst[i]))
            heapq.heappush(self._heaps[box], (-float(upper[i]), self.num_parts, part))
            self.num_parts += 1

    def _maximum(self, part: SignPart, row: int) -> tuple[float, Floats | None]:
        """Return the maximum of a row on a part without open neurons, and a point with it."""
        form, sides = self._affine(part, row)
        ends = ([Fraction(x) for x in end[part.box].tolist()] for end in self._corners())
        program = LinearProgram(self._pair.num_inputs, *ends)
        if len(sides):
            entries = [[Fraction(x) for x in line] for line in sides.tolist()]
            program.add_inequalities(
                [[-x for x in line[1:]] for line in entries], [line[0] for line in entries]
            )
        constant, *slopes = [Fraction(x) for x in form.tolist()]
        found = program.maximize(slopes)
        if not isinstance(found, Optimal):
            return -np.inf, None
        return as_float(found.value + constant), np.array([[as_float(x) for x in found.point]])

    def _corners(self) -> tuple[Floats, Floats]:
        return self._boxes.low, self._boxes.high

    def _affine(self, part: SignPart, number: int) -> tuple[Floats, Floats]:
        """Return a row, and the functions that are not negative, with the constant first."""
        pair, known = self._pair, KnownBounds(self._pair, part.table[None])
        size, start, sides = pair.num_inputs, 0, list[Floats]()
        forms = [np.eye(size + 1)[1:] for _ in range(1 if pair.is_single else 2)]
        for m, ranges in enumerate(known.layers):
            tables = [(pair.weights, pair.biases), (pair.other_weights, pair.other_biases)]
            for which, its in enumerate((ranges.z, ranges.y)[: len(forms)]):
                assert its is not None
                weights, biases = tables[which]
                z = weights[m] @ forms[which]
                z[:, 0] += biases[m]
                signs = part.signs[start : start + len(z)]
                sides += [z[i] * signs[i] for i in np.nonzero(signs)[0].tolist()]
                forms[which] = z * (its.high[0] > -its.low[0])[:, None]
                start += len(z)
        rows = pair.rows
        row = rows.on_f[number] @ forms[0]
        if not pair.is_single:
            row += rows.on_g[number] @ forms[1]
        row[0] += rows.constant[number]
        row[1:] += rows.on_x[number]
        return row, np.array(sides).reshape(-1, size + 1)


def _num_signs(pair: FloatPair) -> int:
    """Return the number of hidden neurons of both networks, or of one."""
    others = [] if pair.is_single else pair.other_biases
    return sum(pair.widths) + sum(map(len, others))
