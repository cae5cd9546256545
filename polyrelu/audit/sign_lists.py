"""Regions as sign vectors or activation patterns, looked up exactly in the complex.

A vector that no region has is compared with the missing regions: one of them may differ in a single
sign, or only in neurons that are identically 0 on it. Otherwise its cell is empty, or flat, or
outside the domain, which a linear program decides.
"""

from __future__ import annotations

import numpy as np

from polyrelu.audit.causes import (
    float32_region,
    held,
    outside_domain,
    sliver,
    zero_neurons,
)
from polyrelu.audit.claims import ActivationPatterns, SignVectors
from polyrelu.audit.comparing import Question
from polyrelu.audit.findings import Cause, Finding
from polyrelu.audit.ground_truth import GroundTruth
from polyrelu.audit.measures import inradius, sign_polyhedron
from polyrelu.audit.region_findings import RegionComparison, signs_text
from polyrelu.audit.tables import as_signs
from polyrelu.support.display import count_text, shortened
from polyrelu.support.typing import Indices, Signs

__all__ = ["PatternComparison", "SignComparison"]

#: Maximum number of missing regions that a sign vector is compared with, one by one.
_MAX_COMPARED = 2000


class SignComparison(RegionComparison):
    """Claimed sign vectors beside the exact ones."""

    rule = "signs are compared exactly"

    def __init__(self, truth: GroundTruth, claims: SignVectors, question: Question) -> None:
        width = len(truth.network.neurons)
        self.rows = as_signs(claims.rows, width, "signs")
        known = truth.region_of_signs
        assigned = [known.get(row.tobytes(), -1) for row in self.rows]
        super().__init__(truth, question, np.array(assigned, dtype=np.int64))

    @property
    def table(self) -> Signs:
        """The rows of the exact items, in the form of the claimed ones."""
        return self.truth.region_signs

    def lookup(self, row: Signs) -> int | None:
        """Return the exact item with a row."""
        return self.truth.region_of_signs.get(row.tobytes())

    def partner(self, item: int, missing: set[int]) -> int | None:
        """Return a missing region that differs in one sign, or only in neurons that are 0 on it."""
        row = self.rows[item].copy()
        for place in range(len(row)):
            kept = row[place]
            for sign in (-1, 0, 1):
                row[place] = sign
                if sign != kept and self.lookup(row) in missing:
                    return self.lookup(row)
            row[place] = kept
        for exact in sorted(missing)[:_MAX_COMPARED]:
            signs = self.truth.region_signs[self.region_of(exact)]
            if (signs == 0).any() and (row == self.table[exact])[signs != 0].all():
                return exact
        return None

    def wrong(self, item: int, exact: int) -> Finding:
        """Return the finding about a vector with wrong signs."""
        region = self.region_of(exact)
        places = np.flatnonzero(self.rows[item] != self.table[exact])
        neuron = self.truth.network.neurons[int(places[0])]
        claimed, right = int(self.rows[item][places[0]]), int(self.table[exact][places[0]])
        message = (
            f"item {item} has the sign {claimed} of neuron {neuron.index} of layer {neuron.layer}, "
            f"which has the sign {right} on the region {signs_text(self.truth, region)}"
        )
        radius = inradius(self.truth.cells.region_polyhedron(region))
        flipped = Cause(
            "flipped sign",
            f"with {count_text([(len(places), 'sign')])} changed the item is a region that is "
            "missing otherwise",
        )
        causes = held(
            zero_neurons(self.truth, region),
            flipped,
            sliver(radius[0] if radius else None, self.question.tolerance),
        )
        point = self.truth.point_in(region)
        return Finding("region", "wrong", message, item, region, point, causes=causes)

    def extra(self, item: int) -> Finding:
        """Return the finding about a vector that no region has."""
        truth, row = self.truth, self.rows[item]
        text = shortened("".join("-0+"[sign + 1] for sign in row.tolist()), 60)
        cell = sign_polyhedron(truth.network, truth.domain, row.tolist()).relative_interior()
        if cell is not None:
            return self._flat(item, text, cell[1])
        message = f"item {item}, {text}: no point of the domain has these signs"
        outside = outside_domain(truth, row)
        causes = held(outside[0] if outside else None, float32_region(truth, row, is_claimed=True))
        witness = outside[1] if outside else None
        return Finding("region", "extra", message, item, None, witness, causes=causes)

    def _flat(self, item: int, text: str, point: tuple[object, ...]) -> Finding:
        """Return the finding about a vector whose cell has an empty interior."""
        truth = self.truth
        where = truth.cells.locate(point)  # type: ignore[arg-type]
        assert where is not None  # the point is in the domain
        dimension, signs = where.dimension, truth.cells.sign_vector(where)
        zeros = sum(layer.count(0) for layer in signs.layers)
        size = truth.cells.dimension
        message = (
            f"item {item}, {text}: no region; the points where no neuron has another sign lie in a "
            f"cell of dimension {dimension}"
        )
        cause = None
        if zeros > size - dimension:
            name = "degenerate vertex" if dimension == 0 else "degenerate cell"
            cause = Cause(
                name,
                f"{zeros} neurons vanish on a cell of dimension {dimension}, more than the "
                f"{size - dimension} of a simple one",
            )
        causes = held(cause, float32_region(truth, self.rows[item], is_claimed=True))
        return Finding("region", "extra", message, item, None, tuple(point), causes=causes)  # type: ignore[arg-type]


class PatternComparison(SignComparison):
    """Claimed activation patterns beside the exact ones."""

    def __init__(self, truth: GroundTruth, claims: ActivationPatterns, question: Question) -> None:
        width = len(truth.network.neurons)
        rows = as_signs(claims.rows, width, "activations", least=0)
        every = (truth.region_signs > 0).astype(np.int8)
        table, regions = _distinct(every)
        known = {row.tobytes(): number for number, row in enumerate(table)}
        assigned = np.array([known.get(row.tobytes(), -1) for row in rows], dtype=np.int64)
        RegionComparison.__init__(self, truth, question, assigned)
        self.rows, self._known, self._table, self._regions = rows, known, table, regions
        self.num_exact = len(table)

    @property
    def table(self) -> Signs:
        """The activation patterns of the regions, each of them once."""
        return self._table

    def lookup(self, row: Signs) -> int | None:
        """Return the number of a pattern."""
        return self._known.get(row.tobytes())

    def region_of(self, exact: int) -> int:
        """Return the first region with a pattern."""
        return int(self._regions[exact])

    def extra(self, item: int) -> Finding:
        """Return the finding about a pattern that no region has."""
        truth, row = self.truth, self.rows[item]
        signs = np.where(row > 0, 1, -1).astype(np.int8)
        text = shortened("".join(".+"[on] for on in row.tolist()), 60)
        cell = sign_polyhedron(truth.network, truth.domain, signs.tolist()).relative_interior()
        if cell is not None:
            return self._flat(item, text, cell[1])
        message = f"item {item}, {text}: no point of the domain has this activation pattern"
        outside = outside_domain(truth, signs)
        causes = held(
            outside[0] if outside else None, float32_region(truth, signs, is_claimed=True)
        )
        witness = outside[1] if outside else None
        return Finding("region", "extra", message, item, None, witness, causes=causes)


def _distinct(rows: Signs) -> tuple[Signs, Indices]:
    """Return the distinct rows, and the first place of each."""
    packed = np.packbits(rows > 0, axis=1)
    _, first = np.unique(packed, axis=0, return_index=True)
    first.sort()
    return rows[first], first
