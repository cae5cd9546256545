"""The question whether a network is injective on a domain, answered with a certificate.

One ReLU layer is decided: where its active rows do not span, two points collide; otherwise a tree
proves that they span everywhere (docs/theory/injectivity.md). A network is injective if its first
layer is so on the domain, and each later one on the orthant, which contains what it is given.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from polyrelu.certificate import Certificate
from polyrelu.errors import DomainError
from polyrelu.exact import PRIMES, Polyhedron, format_rational
from polyrelu.formats import DomainLike, NetworkLike, as_domain, as_imported
from polyrelu.network import Network
from polyrelu.outcomes import (
    Attempt,
    Injective,
    InjectivityStatistics,
    NotInjective,
    Undecided,
)
from polyrelu.proofs.injectivity.cell_search import CellSearch
from polyrelu.proofs.injectivity.claims import injectivity_certificate, not_injective
from polyrelu.proofs.injectivity.collisions import PointPair
from polyrelu.proofs.injectivity.layer_decision import LayerSearch, UnluckyPrime
from polyrelu.proofs.injectivity.next_steps import after_limit
from polyrelu.proofs.injectivity.node_search import Record
from polyrelu.proofs.injectivity.parts import layer_range, part_of
from polyrelu.proofs.injectivity.settings import SETTINGS
from polyrelu.proofs.provenance import with_sources
from polyrelu.proofs.trees.node_polyhedron import DomainCoordinates
from polyrelu.support.arguments import expect_count, expect_function
from polyrelu.support.budget import ENDINGS, Budget, BudgetLike, LimitReached, as_budget
from polyrelu.support.interrupts import deferred_interrupt
from polyrelu.support.parallel import Execution, Workers
from polyrelu.support.progress import Progress
from polyrelu.version import __version__

__all__ = ["injective"]


def injective(
    network: NetworkLike,
    domain: DomainLike = None,
    *,
    layers: int | tuple[int, int] | None = None,
    seed: int = 0,
    budget: BudgetLike = SETTINGS.budget,
    time_limit: float | None = None,
    memory_limit: int | None = None,
    progress: Progress | None = None,
    workers: Workers | None = None,
    checkpoint: str | Path | None = None,
) -> Injective | NotInjective | Undecided:
    """Decide whether different points of a domain have different outputs.

    Parameters
    ----------
    network
        A network of any architecture, or what `polyrelu.load` takes.
    domain
        Any nonempty polyhedron of inputs of the first of the layers, or the text of one such as
        ``"orthant"``; R^n by default.
    layers
        The number of a layer, or of the first and the last one of a part, from 1: the question is
        about the map of these layers alone. All layers by default.
    seed
        Seed of the lines on which few active neurons are searched. The same seed and budget give
        the same answer and the same certificate, on every machine.
    budget
        Units of work, or a `Budget` with all limits; None for no limit. A unit is about a
        millisecond.
    time_limit
        Seconds, after which the answer is `Undecided`; no limit by default.
    memory_limit
        Limit of the memory of the process in MiB; no limit by default.
    progress
        Called with a `polyrelu.support.ProgressStep` after some nodes of a tree each.
    workers
        Who compares pairs of cells (`polyrelu.support.parallel`); None for this process. The nodes
        of a tree are visited in this process.
    checkpoint
        A file that keeps what is searched; if it exists, the search goes on from there, also with
        a larger budget.

    Returns
    -------
    Injective or NotInjective or Undecided
        A proof, two points with equal outputs, or the reason why neither was found.

    Raises
    ------
    NetworkError
        The network cannot be read, or the layers need activations from before them.
    DomainError
        The domain is not understood, is empty or has another dimension; or the checkpoint belongs
        to another question.
    ArgumentError
        An argument has a wrong type, or lies outside its range.

    Notes
    -----
    One ReLU layer is always decided, within the budget; to decide it is coNP-complete, and the work
    grows with the number of inputs much more than with the number of neurons.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> both = ([[1, 0], [0, 1], [-1, 0], [0, -1]], [1, 1, -1, -1])
    >>> injective(from_arrays([both], last="relu")).status
    'proved'
    >>> identity = from_arrays([([[1, 0], [0, 1]], [0, 0])], last="relu")
    >>> injective(identity).status, injective(identity, "orthant").status
    ('refuted', 'proved')
    """
    imported = as_imported(network)
    whole = imported.network
    first, last = layer_range(layers, whole.depth)
    part = part_of(whole, first, last)
    seed = expect_count(seed, "seed")
    expect_function(progress, "progress")
    polyhedron = as_domain(domain, part.num_inputs)
    limits = as_budget(budget, time_limit, memory_limit)
    entries = {
        "question": "injective",
        "version": __version__,
        "network": whole.sha256,
        "layers": f"{first}-{last}",
        "domain": polyhedron.sha256,
        "seed": str(seed),
    }
    with (
        Execution.opened(workers, checkpoint, entries) as execution,
        deferred_interrupt() as interrupt,
    ):
        question = _Question(whole, (first, last), part, polyhedron, seed, progress, execution)
        limits = limits.with_interrupt(interrupt)
        try:
            outcome = question.answer(limits)
        except ENDINGS as error:
            if (why := limits.reason_of(error)) is None:
                raise
            outcome = Undecided(why, (), question.work, next=after_limit(limits))
    return with_sources(outcome, imported)


class _NotByLayers(Exception):  # noqa: N818 - a control flow
    """The layers one by one leave the question open; the message says why."""


@dataclass(slots=True)
class _Question:
    """Some layers of a network on a domain, and the work that was done.

    Attributes
    ----------
    network, layers, part
        The network, the first and the last layer, and these layers as a network.
    domain
        The polyhedron of inputs.
    seed, progress
        As in `injective`.
    execution
        Who compares cells, and where the search is kept.
    work
        The work so far.
    """

    network: Network
    layers: tuple[int, int]
    part: Network
    domain: Polyhedron
    seed: int
    progress: Progress | None
    execution: Execution
    work: InjectivityStatistics = field(default_factory=InjectivityStatistics)

    def answer(self, budget: Budget) -> Injective | NotInjective | Undecided:
        """Decide by the layers, and where these leave it open by the cells."""
        budget.check()
        coordinates = DomainCoordinates.of(self.domain)
        for prime in PRIMES:
            try:
                return self._layer_by_layer(coordinates, prime, budget)
            except UnluckyPrime:
                continue
            except _NotByLayers as why:
                return self._cell_by_cell(coordinates, budget, str(why))
        return self._undecided("rows that are independent, but not modulo the primes of the format")

    def _layer_by_layer(
        self, coordinates: DomainCoordinates, prime: int, budget: Budget
    ) -> Injective | NotInjective:
        """Return the answer that the layers give one by one, or raise `_NotByLayers`."""
        if not self.part.is_plain:
            raise _NotByLayers("layers that read activations of several others")
        search = LayerSearch(self.seed, prime, self.work, self.progress, self.execution)
        trees = list[list[Record]]()
        for number, layer in enumerate(self.part.layers, 1):
            is_affine = number > self.part.num_hidden_layers
            if number == 1:
                found = search.decide(number, layer, coordinates, is_affine, budget)
                if isinstance(found, tuple):
                    return self._collided(found, coordinates)
            else:
                found = self._later_layer(search, number, is_affine, budget)
            trees.append(found)
        nodes = [[[kind, rows] for kind, rows in tree] for tree in trees]
        evidence = {"prime": str(prime), "trees": nodes}
        inside = {"x": list(map(format_rational, coordinates.inside))}
        certificate = self._certificate(
            coordinates, "active-rows", {"interior": inside, "trees": evidence}
        )
        return Injective(certificate, self.work)

    def _later_layer(
        self, search: LayerSearch, number: int, is_affine: bool, budget: Budget
    ) -> list[Record]:
        """Return the tree of a layer on the orthant, or raise `_NotByLayers`."""
        layer, name = self.part.layers[number - 1], f"layer {self.layers[0] + number - 1}"
        orthant = DomainCoordinates.of(Polyhedron.orthant(layer.weight.ncols))
        may_use_cells = self.part.num_inputs <= SETTINGS.max_dimension
        share = budget.part(SETTINGS.later_layer_work if may_use_cells else None)
        try:
            found = search.decide(number, layer, orthant, is_affine, share)
        except LimitReached:
            budget.check()
            raise _NotByLayers(
                f"{name} is not decided on the orthant in its share of work"
            ) from None
        if isinstance(found, tuple):
            raise _NotByLayers(
                f"{name} is not injective on the orthant; the layers before it may reach a part of "
                "it only"
            )
        return found

    def _cell_by_cell(
        self, coordinates: DomainCoordinates, budget: Budget, reason: str
    ) -> Injective | NotInjective | Undecided:
        """Compare the values on all pairs of cells."""
        if coordinates.dimension > SETTINGS.max_dimension:
            return self._undecided(
                f"{reason}; cells are compared for at most {SETTINGS.max_dimension} inputs"
            )
        search = CellSearch(self.part, coordinates, self.work, self.progress, self.execution)
        try:
            found = search.run(budget)
        except DomainError as error:  # there are too many cells, or they contain lines
            return self._undecided(f"{reason}; {error}")
        if isinstance(found, tuple):
            return self._collided(found, coordinates)
        if found is None:
            return self._undecided(f"{reason}; ranks modulo the primes of the format are too small")
        return Injective(self._certificate(coordinates, "cell-pairs", found), self.work)

    def _collided(self, points: PointPair, coordinates: DomainCoordinates) -> NotInjective:
        return not_injective(self.network, self.layers, self.part, coordinates, points, self.work)

    def _certificate(
        self, coordinates: DomainCoordinates, theorem: str, evidence: dict[str, dict[str, Any]]
    ) -> Certificate:
        return injectivity_certificate(
            "injective", self.network, self.layers, coordinates, theorem, evidence
        )

    def _undecided(self, reason: str) -> Undecided:
        attempt = Attempt("active-rows", reason)
        return Undecided("neither layers nor cells decide the question", (attempt,), self.work)
