"""`measure`: the exact quantities of a network at one time of its training."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from polyrelu.complex import PolyhedralComplex, canonical_complex
from polyrelu.complex.payment import PaidCuts
from polyrelu.dynamics import conserved_matrix
from polyrelu.errors import DomainError
from polyrelu.exact import format_rational
from polyrelu.formats import DomainLike, NetworkLike, Slice, as_network
from polyrelu.network import Network, NeuronId
from polyrelu.plot.slices import on_axes, slice_or_domain
from polyrelu.proofs.identify import identify
from polyrelu.support.arguments import expect_integer
from polyrelu.support.budget import BudgetLike, LimitReached, as_budget
from polyrelu.support.display import bracketed, count_text

__all__ = ["Snapshot", "measure"]

#: Units of work of one measurement, by default: about two seconds at most.
BUDGET = 2_000


@dataclass(frozen=True, slots=True, repr=False)
class Snapshot:
    """Exact quantities of a network at one time of its training.

    Attributes
    ----------
    step
        The number of the step.
    num_regions
        The number of regions in the domain; None if the budget did not suffice.
    dead
        The neurons that are nowhere positive in the domain; None as for the regions.
    linear
        The neurons that are nowhere negative in the domain, and positive somewhere; None as for the
        regions.
    identifiable
        Whether the function determines the parameters: `proved`, `refuted`, `undecided`, or
        `not asked`.
    why
        The theorem or the reason.
    conserved
        For each hidden layer of a plain stack the numbers Q_ii that gradient flow conserves, see
        `polyrelu.dynamics.conserved_quantities`; empty for other networks.
    loss
        The loss, if it was given.

    Examples
    --------
    >>> net = [([[1, 0], [0, 1], [-1, -1]], [0, 0, -9]), ([[1, 2, 3]], [0])]
    >>> found = measure(net, "box:-1,1", step=7)
    >>> found.step, found.num_regions, found.dead, found.conserved[0][0]
    (7, 4, (NeuronId(layer=1, index=2),), Fraction(0, 1))
    """

    step: int
    num_regions: int | None
    dead: tuple[NeuronId, ...] | None
    linear: tuple[NeuronId, ...] | None
    identifiable: str
    why: str
    conserved: tuple[tuple[Fraction, ...], ...]
    loss: float | None = None

    def __repr__(self) -> str:
        if self.num_regions is None:
            return bracketed(f"Snapshot, step {self.step}: too many regions")
        counts = [
            (self.num_regions, "region"),
            (len(self.dead or ()), "dead neuron"),
            (len(self.linear or ()), "linear neuron"),
        ]
        return bracketed(f"Snapshot, step {self.step}: {count_text(counts)}, {self.identifiable}")

    def to_json(self) -> dict[str, Any]:
        """Return the snapshot as an object of JSON, with exact numbers as texts."""
        return {
            "step": self.step,
            "regions": self.num_regions,
            "dead": _pairs(self.dead),
            "linear": _pairs(self.linear),
            "identifiable": self.identifiable,
            "why": self.why,
            "conserved": [list(map(format_rational, layer)) for layer in self.conserved],
            "loss": self.loss,
        }


def measure(
    network: NetworkLike,
    domain: DomainLike | Slice = None,
    *,
    step: int = 0,
    loss: float | None = None,
    identifiability: bool = True,
    seed: int = 0,
    budget: BudgetLike = BUDGET,
) -> Snapshot:
    """Measure a network: regions, dead and linear neurons, identifiability, conserved quantities.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes, such as a module of PyTorch.
    domain
        A polyhedron or slice of dimension 1 to 3, or a text such as ``"slice:points.json"``: where
        regions, dead and linear neurons are counted. None for R^n.
    step
        The number of the step, for the snapshot.
    loss
        The loss, for the snapshot.
    identifiability
        Whether it is asked if the function, on R^n, determines the parameters.
    seed
        The seed of the searches of `polyrelu.identify`.
    budget
        Units of work, of about a millisecond, for the regions, and as many for the identifiability;
        or a `Budget` with all limits; None for no limit.

    Returns
    -------
    Snapshot
        The quantities, all of them exact; what the budget does not suffice for is None or
        undecided.

    Raises
    ------
    DomainError
        The domain is not understood, or has no dimension from 1 to 3.
    NetworkError
        The network cannot be read.
    ArgumentError
        An argument has a wrong type.

    Examples
    --------
    >>> measure([([[1], [1]], [0, -1]), ([[1, -1]], [0])], "box:-1,2")
    <Snapshot, step 0: 3 regions, 0 dead neurons, 0 linear neurons, refuted>
    """
    network, limits = as_network(network), as_budget(budget)
    step = expect_integer(step, "step")
    part = slice_or_domain(domain, network.num_inputs)
    cells = _cells(network, part, limits.part(limits.work))
    dead, linear = (None, None) if cells is None else _one_sided(cells)
    status, why = "not asked", ""
    if identifiability:
        outcome: Any = identify(network, seed=seed, budget=limits.apart(limits.work))
        status, why = outcome.status, outcome.theorem or outcome.statement
    return Snapshot(
        step,
        None if cells is None else cells.num_regions,
        dead,
        linear,
        status,
        why,
        _conserved(network),
        None if loss is None else float(loss),
    )


def _cells(network: Network, domain: Any, budget: Any) -> PolyhedralComplex | None:
    """Return the complex on a domain; None if the budget does not suffice."""
    flat = on_axes(network, domain)
    if not 1 <= len(flat.axes) <= 3:
        raise DomainError(
            f"regions are counted in 1 to 3 dimensions, this domain has {len(flat.axes)}: give a "
            "slice through two to four points, slice:FILE"
        )
    try:
        paid = PaidCuts(budget, len(flat.axes))
        cells = canonical_complex(flat.network, flat.domain, progress=paid)
    except LimitReached:
        return None
    if not cells.complete:
        raise KeyboardInterrupt
    return cells


def _one_sided(
    cells: PolyhedralComplex,
) -> tuple[tuple[NeuronId, ...], tuple[NeuronId, ...]]:
    """Return the neurons that are positive on no region, and the linear ones among the others."""
    signs = cells.signs(cells.dimension)
    dead, linear = (signs <= 0).all(axis=0), (signs >= 0).all(axis=0)
    return _named(cells, dead), _named(cells, linear & ~dead)


def _named(cells: PolyhedralComplex, mask: Any) -> tuple[NeuronId, ...]:
    return tuple(neuron for neuron, chosen in zip(cells.neurons, mask, strict=True) if chosen)


def _conserved(network: Network) -> tuple[tuple[Fraction, ...], ...]:
    """Return the diagonal of Q for each hidden layer that has an affine layer after it."""
    if not network.is_plain:
        return ()
    return tuple(
        tuple(
            next(iter(conserved_matrix(network, layer, [neuron]).entries()))
            for neuron in range(network.widths[layer])
        )
        for layer in range(1, network.depth)
    )


def _pairs(neurons: tuple[NeuronId, ...] | None) -> list[list[int]] | None:
    return None if neurons is None else [[neuron.layer, neuron.index] for neuron in neurons]
