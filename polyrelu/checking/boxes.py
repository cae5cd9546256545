"""The box of a node of a tree of cuts, and the inputs as forms on it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

from polyrelu.checking.arithmetic import bits_of_form
from polyrelu.checking.forms import InputForms, Interval, JointForms, PairEnds, SignCuts
from polyrelu.checking.meter import Meter, cells_of, longest, require
from polyrelu.checking.pairs import Domain
from polyrelu.checking.trees import bits_of

# -- The box of a node

Ends = tuple[Fraction, Fraction]


class KeptIntervals(NamedTuple):
    """What nodes below inherit: intervals of neurons of f and of pairs in each layer of ReLUs.

    Nothing is inherited if `ends` is empty. `cells` is the memory that they take.
    """

    ends: list[list[Interval]]
    pair_ends: list[list[PairEnds]]
    cells: int


class NodeBox:
    """The intervals of the coordinates, on the grid as well, and the cuts by sign.

    `inherited` are the intervals of neurons that hold at the node.
    """

    def __init__(self, domain: Domain, grid: int, meter: Meter) -> None:
        self.grid, self.meter, self.ends = grid, meter, list[Ends]()
        self.signs: SignCuts = {}
        self.inherited = KeptIntervals([], [], 0)
        #: A coordinate, or None for intervals, with what was there before; or a neuron.
        self.trail = list[tuple[Any, Any]]()
        for k in range(1, domain.dimension() + 1):
            sides = domain.sides.get((k, True)), domain.sides.get((k, False))
            fact = "a domain that bounds every coordinate on both sides"
            if sides[0] is None or sides[1] is None:
                require(False, fact, f"coordinate {k - 1}", "claim.domain")
                continue
            require(sides[0] <= sides[1], "a domain that is not empty", "it is empty")
            self.ends.append((sides[0], sides[1]))
        self.rounded = [self.on_grid(ends) for ends in self.ends]

    def on_grid(self, ends: Ends) -> tuple[int, int]:
        """A center and a radius, in integers over 2^S, that hold the interval."""
        bits = sum(map(bits_of, ends))
        self.meter.pay_divisions(8, bits + self.grid, bits)
        low, high = (x * 2**self.grid for x in ends)
        center = (low + high) // 2
        return center, max(-((low - center) // 1), -((center - high) // 1), 0)

    def change(self, k: int, ends: Ends) -> None:
        """Replace an interval."""
        self.meter.hold(cells_of(8, sum(map(bits_of, ends))))
        self.trail.append((k, (self.ends[k], self.rounded[k])))
        self.ends[k], self.rounded[k] = ends, self.on_grid(ends)

    def cut(self, neuron: tuple[int, int, int], side: int) -> None:
        """Cut by a sign."""
        self.meter.hold(8)
        self.trail.append((neuron, None))
        self.signs[neuron] = side

    def inherit(self, found: JointForms | None) -> None:
        """Let intervals hold from here on; on an empty node, None, the inherited ones stay."""
        ends, pair_ends, _ = self.inherited
        cells = 8
        if found is not None:
            ends, pair_ends = found.ends, found.pair_ends
            cells += sum(cells_of(3, longest([x])) for layer in ends for x in layer)
            cells += sum(cells_of(5, longest(x)) for layer in pair_ends for x in layer)
        self.meter.hold(cells)
        self.trail.append((None, self.inherited))
        self.inherited = KeptIntervals(ends, pair_ends, cells)

    def back(self, length: int) -> None:
        """Undo changes until the given number of them is left."""
        while len(self.trail) > length:
            key, before = self.trail.pop()
            if isinstance(key, int):
                self.meter.release(cells_of(8, sum(map(bits_of, self.ends[key]))))
                self.ends[key], self.rounded[key] = before
            elif key is None:
                self.meter.release(self.inherited.cells)
                self.inherited = before
            else:
                self.meter.release(8)
                del self.signs[key]


class NodeInputs:
    """The inputs as forms in the coordinates of a domain, on the grid at a node."""

    def __init__(self, domain: Domain, meter: Meter) -> None:
        self.domain, self.meter = domain, meter
        self.bits = max([domain.scale.bit_length(), *map(bits_of_form, domain.inputs)])
        self.size = sum(map(len, domain.inputs)) + len(domain.inputs)

    def forms(self, box: NodeBox) -> InputForms:
        """Centers and coefficients of all inputs, and their sizes."""
        scale, grid, rounded = self.domain.scale, box.grid, box.rounded
        bits = longest(rounded)
        self.meter.pay_divisions(2 * self.size, bits + self.bits, self.bits)
        self.meter.hold(cells_of(4 * self.size, bits))
        centers, terms, exact = list[int](), list[list[tuple[int, int]]](), True
        for form in self.domain.inputs:
            center, rest = divmod(
                (form.get(0, 0) << grid) + sum(x * rounded[k - 1][0] for k, x in form.items() if k),
                scale,
            )
            listed = list[tuple[int, int]]()
            exact = exact and not rest
            for k, x in form.items():
                if k:
                    coefficient, rest = divmod(x * rounded[k - 1][1], scale)
                    listed.append((k - 1, coefficient))
                    exact = exact and not rest
            centers.append(center)
            terms.append(listed)
        error = 0 if exact else len(rounded) + 1
        reach = [sum(abs(x) for _, x in listed) for listed in terms]
        sizes = [abs(c) + r + error for c, r in zip(centers, reach, strict=True)]
        self.meter.release(cells_of(4 * self.size, bits))
        return InputForms(centers, terms, error, sizes, max(reach))
