"""Certified bounds of the inverse Lipschitz constant of layers on a domain.

The constant κ is the largest number with |f(x) - f(y)| ≥ κ |x - y|. On the cells of a layer the
least singular values of the active rows bound it from below, up to 1/√2; bounds of layers multiply.
Two points bound it from above (docs/theory/inverse_lipschitz.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from polyrelu.certificate import Certificate, Hypothesis, LipschitzClaim
from polyrelu.complex import PolyhedralComplex, canonical_complex
from polyrelu.errors import DomainError
from polyrelu.exact import Polyhedron, RationalMatrix, format_rational
from polyrelu.formats import DomainLike, NetworkLike, as_domain, as_imported
from polyrelu.network import Block, Layer, Network
from polyrelu.outcomes import (
    Attempt,
    InjectivityStatistics,
    InverseLipschitz,
    NearPair,
    NotInjective,
    Undecided,
)
from polyrelu.proofs.injectivity.cells import CellTree, pair_in_region
from polyrelu.proofs.injectivity.claims import not_injective
from polyrelu.proofs.injectivity.collisions import PointPair
from polyrelu.proofs.injectivity.gram import bound_below, float_gram, least_vector
from polyrelu.proofs.injectivity.monotone import MonotoneMap, monotone_map
from polyrelu.proofs.injectivity.near_pairs import FloatLayers, Vector, near_pairs
from polyrelu.proofs.injectivity.parts import layer_range, part_of
from polyrelu.proofs.injectivity.settings import SETTINGS
from polyrelu.proofs.provenance import with_sources
from polyrelu.proofs.trees.node_polyhedron import DomainCoordinates
from polyrelu.support.arguments import expect_count, expect_function
from polyrelu.support.budget import ENDINGS, Budget, BudgetLike, as_budget
from polyrelu.support.interrupts import deferred_interrupt
from polyrelu.support.progress import Progress, ProgressStep
from polyrelu.version import __version__

__all__ = ["inverse_lipschitz"]


def inverse_lipschitz(
    network: NetworkLike,
    domain: DomainLike = None,
    *,
    layers: int | tuple[int, int] | None = None,
    seed: int = 0,
    budget: BudgetLike = SETTINGS.budget,
    time_limit: float | None = None,
    memory_limit: int | None = None,
    progress: Progress | None = None,
) -> InverseLipschitz | NotInjective | Undecided:
    """Bound the inverse Lipschitz constant of a plain stack on a domain, from both sides.

    Parameters
    ----------
    network
        A plain stack, or what `polyrelu.load` takes.
    domain
        Any nonempty polyhedron of inputs of the first of the layers, or the text of one; R^n by
        default.
    layers
        The number of a layer, or of the first and the last one of a part; all layers by default.
    seed
        Seed of the search for near pairs.
    budget
        Units of work, or a `Budget` with all limits; None for no limit.
    time_limit
        Seconds; no limit by default.
    memory_limit
        MiB of the process; no limit by default.
    progress
        Called with a `polyrelu.support.ProgressStep` after each step.

    Returns
    -------
    InverseLipschitz or NotInjective or Undecided
        Bounds of κ² with a certificate; for one layer the upper one is about twice the lower one at
        most. Two points with equal outputs, if there are some in one cell: κ is 0. Or the reason
        why no positive lower bound was found.

    Raises
    ------
    NetworkError
        The network cannot be read, or the layers need activations from before them.
    DomainError
        The domain is not understood, is empty or has another dimension.
    ArgumentError
        An argument has a wrong type, or lies outside its range.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> both = ([[3, 4], [-8, 6], [-3, -4], [8, -6]], [0, 0, 0, 0])
    >>> found = inverse_lipschitz(from_arrays([both], last="relu"))
    >>> found.at_least
    Fraction(25, 2)
    >>> float(found.at_most) < 12.5001
    True
    """
    imported = as_imported(network)
    whole = imported.network
    first, last = layer_range(layers, whole.depth)
    part = part_of(whole, first, last)
    seed = expect_count(seed, "seed")
    expect_function(progress, "progress")
    question = _Question(
        whole, (first, last), part, as_domain(domain, part.num_inputs), seed, progress
    )
    limits = as_budget(budget, time_limit, memory_limit)
    with deferred_interrupt() as interrupt:
        limits = limits.with_interrupt(interrupt)
        try:
            outcome = question.answer(limits)
        except ENDINGS as error:
            if (why := limits.reason_of(error)) is None:
                raise
            outcome = Undecided(why, (), question.work)
    return with_sources(outcome, imported)


@dataclass(slots=True)
class _LayerBound:
    """A bound of one layer with its tree, and what its cells propose for near pairs."""

    bound: Fraction
    nodes: list[dict[str, Any]]
    centres: list[Vector] = field(default_factory=list)
    directions: list[Vector] = field(default_factory=list)
    collisions: list[PointPair] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """Return the entry of the certificate."""
        return {"at-least": format_rational(self.bound), "nodes": self.nodes}


@dataclass(slots=True)
class _Question:
    """Some layers of a network on a domain."""

    network: Network
    layers: tuple[int, int]
    part: Network
    domain: Polyhedron
    seed: int
    progress: Progress | None
    work: InjectivityStatistics = field(default_factory=InjectivityStatistics)

    def answer(self, budget: Budget) -> InverseLipschitz | NotInjective | Undecided:
        """Bound each layer, then look for near pairs."""
        budget.check()
        if not self.part.is_plain:
            return self._undecided("layers that read activations of several others")
        coordinates = DomainCoordinates.of(self.domain)
        if not 0 < coordinates.dimension <= SETTINGS.max_dimension:
            return self._undecided(
                f"a domain of dimension {coordinates.dimension}, where 1 to "
                f"{SETTINGS.max_dimension} are possible"
            )
        bounds = list[_LayerBound]()
        for number, layer in enumerate(self.part.layers, 1):
            here = coordinates
            if number > 1:
                here = DomainCoordinates.of(Polyhedron.orthant(layer.weight.ncols))
            is_affine = number > self.part.num_hidden_layers
            bounds.append(self._layer(layer, here, is_affine, is_first=number == 1, budget=budget))
        whole = self._whole(coordinates, bounds[0], budget) if len(bounds) > 1 else None
        pair = self._near_pair(coordinates, bounds[0], budget)
        return self._certified(coordinates, bounds, whole, *pair)

    def _whole(
        self, here: DomainCoordinates, first: _LayerBound, budget: Budget
    ) -> tuple[MonotoneMap, list[dict[str, Any]]] | None:
        """Return a bound by the cells of all layers with its tree, if one is found.

        The cells also propose near pairs, beside the proposals of the first layer.
        """
        try:
            cells = canonical_complex(
                self.part, here.domain, progress=lambda step: self._cut(step, budget)
            )
            tree = CellTree.of(cells, budget, budget.check)
        except DomainError:
            return None
        self.work.num_nodes += len(tree.nodes)
        self.work.num_leaves += len(tree.cells)
        linear = here.inputs.take(columns=range(1, here.inputs.ncols))
        lengths = linear.transpose() @ linear
        grams = list[tuple[RationalMatrix, Sequence[Fraction]]]()
        for index in range(cells.num_regions):
            matrix = cells.region(index).affine_map.matrix @ linear
            grams.append((matrix.transpose() @ matrix, cells.interior_point(index)))
        own = _LayerBound(Fraction(0), [])
        self._propose(own, here, grams, lengths)
        self._note_collision(own, cells, here)
        first.centres[:0], first.directions[:0] = own.centres, own.directions
        first.collisions += own.collisions
        found = monotone_map(tree.cells, lengths)
        return None if found is None else (found, tree.nodes)

    def _layer(
        self,
        layer: Layer,
        here: DomainCoordinates,
        is_affine: bool,
        *,
        is_first: bool,
        budget: Budget,
    ) -> _LayerBound:
        """Return a bound of a layer; 0 where none is found."""
        linear = here.inputs.take(columns=range(1, here.inputs.ncols))
        rows, lengths = layer.weight @ linear, linear.transpose() @ linear
        if is_affine:
            gram = rows.transpose() @ rows
            found = _LayerBound(bound_below([gram], lengths), [])
            if is_first:
                self._propose(found, here, [(gram, here.inside)], lengths)
                self._note_collision(found, canonical_complex(self.part, here.domain), here)
            return found
        if here.dimension > SETTINGS.max_dimension:
            return _LayerBound(Fraction(0), [])
        alone = Layer((Block(0, layer.blocks[-1].entries),), layer.bias)
        network = Network(layer.weight.ncols, (alone,), "relu")
        try:
            cells = canonical_complex(
                network, here.domain, progress=lambda step: self._cut(step, budget)
            )
        except DomainError:
            return _LayerBound(Fraction(0), [])
        tree = CellTree.of(cells, budget, budget.check)
        self.work.num_nodes += len(tree.nodes)
        self.work.num_leaves += len(tree.cells)
        grams, always = self._grams(cells, rows)
        bound = bound_below([gram + always for gram, _ in grams], lengths) / 2
        found = _LayerBound(bound, tree.nodes)
        if is_first:
            self._propose(found, here, grams, lengths)
            found.centres += [_floats(here.to_coordinates(x)) for x in _corners(cells)]
            self._note_collision(found, cells, here)
        return found

    def _note_collision(
        self, found: _LayerBound, cells: PolyhedralComplex, here: DomainCoordinates
    ) -> None:
        """Note two points of a cell with equal outputs, if the bound is 0 because of them."""
        if found.bound == 0:
            pairs = (pair_in_region(cells, i, here.inputs) for i in range(cells.num_regions))
            found.collisions += [pair for pair in pairs if pair is not None][:1]

    def _cut(self, step: ProgressStep, budget: Budget) -> None:
        """Look at the limits after a cut of a complex."""
        budget.check_others()
        if self.progress is not None:
            self.progress(step)

    def _grams(
        self, cells: PolyhedralComplex, rows: RationalMatrix
    ) -> tuple[list[tuple[RationalMatrix, Sequence[Fraction]]], RationalMatrix]:
        """Return the Gram matrix and a point of each cell, and the matrix of rows always on."""
        signs = cells.signs()
        on_everywhere = np.flatnonzero((signs > 0).all(axis=0)).tolist()
        found = list[tuple[RationalMatrix, Sequence[Fraction]]]()
        for index in range(cells.num_regions):
            chosen = rows.take(rows=np.flatnonzero(signs[index] > 0).tolist())
            found.append((chosen.transpose() @ chosen, cells.interior_point(index)))
        always = rows.take(rows=on_everywhere)
        return found, always.transpose() @ always

    def _propose(
        self,
        found: _LayerBound,
        here: DomainCoordinates,
        grams: Sequence[tuple[RationalMatrix, Sequence[Fraction]]],
        lengths: RationalMatrix,
    ) -> None:
        """Note a point of each cell, and the direction in which the layer shrinks most there."""
        floats = float_gram(lengths)
        for gram, x in grams:
            found.centres.append(_floats(here.to_coordinates(x)))
            found.directions.append(least_vector(float_gram(gram), floats)[1])

    def _near_pair(
        self, coordinates: DomainCoordinates, first: _LayerBound, budget: Budget
    ) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...], Fraction]:
        """Return two points of the domain with a small quotient, and the quotient of squares."""
        best: tuple[tuple[Fraction, ...], tuple[Fraction, ...], Fraction] | None = None
        floats = self._float_layers(coordinates)
        for x, y in self._candidates(
            coordinates, near_pairs(floats, first.centres, first.directions, self.seed), first
        ):
            budget.check_others()
            quotient = self._quotient(x, y)
            if quotient is not None and (best is None or quotient < best[2]):
                best = x, y, quotient
        if best is None:
            raise AssertionError("two points of a domain of positive dimension")
        return best

    def _candidates(
        self,
        coordinates: DomainCoordinates,
        pairs: Iterator[tuple[Vector, Vector]],
        first: _LayerBound,
    ) -> Iterator[tuple[tuple[Fraction, ...], tuple[Fraction, ...]]]:
        """Yield inputs x and y: rounded pairs, and points of cells with short steps from them."""
        yield from first.collisions
        for one, two in pairs:
            for bits in SETTINGS.near_bits:
                yield _inputs(coordinates, one, bits), _inputs(coordinates, two, bits)
        inside = _floats(coordinates.to_coordinates(coordinates.inside))
        for direction in first.directions[:1]:
            for k in range(SETTINGS.num_halvings):
                there = _inputs(coordinates, inside + 2.0**-k * direction, k + 44)
                yield coordinates.inside, there
                if _is_inside(self.domain, there):
                    break

    def _quotient(self, x: Sequence[Fraction], y: Sequence[Fraction]) -> Fraction | None:
        """Return the quotient of squared distances, or None for points that do not count."""
        if x == y or not (_is_inside(self.domain, x) and _is_inside(self.domain, y)):
            return None
        f, g = self.part.evaluate([x, y])
        return _squared(f, g) / _squared(x, y)

    def _float_layers(self, coordinates: DomainCoordinates) -> FloatLayers:
        inputs = coordinates.inputs
        linear = inputs.take(columns=range(1, inputs.ncols)).to_floats()
        constant = inputs.take(columns=[0]).to_floats()[:, 0]
        weights = [layer.weight.to_floats() for layer in self.part.layers]
        biases = [layer.bias.to_floats()[:, 0] for layer in self.part.layers]
        biases[0] = biases[0] + weights[0] @ constant
        weights[0] = weights[0] @ linear
        size, limits = coordinates.dimension, list[list[float]]()
        for form in coordinates.inequalities:
            if form is not None:
                row = [0.0] * (size + 1)
                for column, entry in zip(*form, strict=True):
                    row[column - 1] = float(entry)
                limits.append(row)
        table = np.array(limits).reshape(len(limits), size + 1)
        is_relu = self.part.num_hidden_layers == self.part.depth
        return FloatLayers(weights, biases, is_relu, linear.T @ linear, table)

    def _certified(
        self,
        coordinates: DomainCoordinates,
        bounds: Sequence[_LayerBound],
        whole: tuple[MonotoneMap, list[dict[str, Any]]] | None,
        x: tuple[Fraction, ...],
        y: tuple[Fraction, ...],
        quotient: Fraction,
    ) -> InverseLipschitz | NotInjective | Undecided:
        """Return both bounds; two points with equal outputs; or the upper bound in a reason."""
        product = Fraction(1)
        for entry in bounds:
            product *= entry.bound
        if quotient == 0:
            return not_injective(
                self.network, self.layers, self.part, coordinates, (x, y), self.work
            )
        pair = NearPair(x, y, *self.part.evaluate([x, y]))
        if whole is not None and whole[0].bound > product:
            found, nodes = whole
            evidence = {"map": {**found.to_json(), "nodes": nodes}, "pair": pair.to_json()}
            return self._proved("monotone", coordinates, found.bound, quotient, evidence, pair)
        if product == 0:
            return self._undecided(
                "no positive lower bound was found; two points show that the square of the "
                f"constant is at most {format_rational(quotient)}"
            )
        evidence = {
            "interior": {"x": list(map(format_rational, coordinates.inside))},
            "layers": {"layers": [entry.to_json() for entry in bounds]},
            "pair": pair.to_json(),
        }
        return self._proved("inverse-lipschitz", coordinates, product, quotient, evidence, pair)

    def _proved(
        self,
        theorem: str,
        coordinates: DomainCoordinates,
        low: Fraction,
        high: Fraction,
        evidence: dict[str, dict[str, Any]],
        pair: NearPair,
    ) -> InverseLipschitz:
        claim = LipschitzClaim(self.network, self.layers, coordinates.domain, low, high)
        hypotheses = tuple(Hypothesis(theorem, key, entry) for key, entry in evidence.items())
        notes = {"tool": f"polyrelu {__version__}"}
        return InverseLipschitz(Certificate(claim, theorem, hypotheses, notes), pair, self.work)

    def _undecided(self, reason: str) -> Undecided:
        return Undecided(reason, (Attempt("inverse-lipschitz", reason),), self.work)


def _corners(cells: PolyhedralComplex) -> list[tuple[Fraction, ...]]:
    """Return the vertices of a complex."""
    return [cells.vertex(index) for index in range(cells.f_vector[0])] if cells.f_vector else []


def _floats(point: Sequence[int]) -> Vector:
    """Return coordinates (s, s y) as floats."""
    return np.array([float(Fraction(entry, point[0])) for entry in point[1:]])


def _inputs(coordinates: DomainCoordinates, y: Vector, bits: int) -> tuple[Fraction, ...]:
    """Return the inputs at coordinates that are rounded to some bits after the point."""
    scale = 1 << bits
    rounded = [Fraction(round(Fraction(float(entry)) * scale), scale) for entry in y]
    return tuple((coordinates.inputs @ RationalMatrix.column([1, *rounded])).entries())


def _is_inside(domain: Polyhedron, x: Sequence[Fraction]) -> bool:
    """Whether a point satisfies all constraints of a domain."""
    return all(
        sum((a * b for a, b in zip(row, x, strict=False)), Fraction()) <= row[-1]
        for row in domain.inequalities
    ) and all(
        sum((a * b for a, b in zip(row, x, strict=False)), Fraction()) == row[-1]
        for row in domain.equations
    )


def _squared(x: Sequence[Fraction], y: Sequence[Fraction]) -> Fraction:
    return sum(((a - b) ** 2 for a, b in zip(x, y, strict=True)), Fraction())
