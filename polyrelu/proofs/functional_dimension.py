"""Certified bounds of functional dimensions.

The room `foldsets` computes functional dimensions; this module lists points whose rows of the
Jacobian are independent modulo a prime, which a checker derives again. The upper bound counts the
directions of positive scalings. Statement and proof: docs/theory/functional_dimension.md.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from polyrelu.certificate import Certificate, DimensionClaim, Hypothesis
from polyrelu.complex import canonical_complex
from polyrelu.errors import DomainError
from polyrelu.exact import Polyhedron, format_rational
from polyrelu.foldsets import points_in_cells
from polyrelu.foldsets.jacobians import (
    expect_stack,
    independent_rows,
    num_nonzero_neurons,
    points_around,
)
from polyrelu.formats import DomainLike, NetworkLike, as_domain, as_imported
from polyrelu.network import Network
from polyrelu.network.points import Points, read_batch
from polyrelu.outcomes import DimensionBound
from polyrelu.proofs.provenance import with_sources
from polyrelu.support.arguments import expect_count, expect_function
from polyrelu.support.parallel import Execution
from polyrelu.support.parallel.wire import exact_texts, packed
from polyrelu.support.progress import Progress
from polyrelu.support.typing import Point
from polyrelu.version import __version__

__all__ = ["certify_functional_dimension", "has_functional_dimension"]


@dataclass(frozen=True, slots=True)
class DimensionSettings:
    """How points are chosen and rows are checked.

    Attributes
    ----------
    prime
        The prime of certificates. Rows that are independent modulo the small prime of the search
        are, but for a very small probability, independent modulo this one; a checker refuses them
        otherwise.
    max_inputs, max_neurons
        Maximum numbers of inputs and hidden neurons of networks all of whose regions are looked at.
    """

    prime: int = 2**61 - 1
    max_inputs: int = 3
    max_neurons: int = 32


SETTINGS = DimensionSettings()


def certify_functional_dimension(
    network: NetworkLike,
    domain: DomainLike = None,
    *,
    points: Points | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    checkpoint: str | Path | None = None,
) -> DimensionBound:
    """Prove bounds of the functional dimension of the parameter of a network.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes, without skip connections, that ends in an affine
        layer.
    domain
        A polyhedron with interior, or a text such as ``"box:-1,1"``; None for R^n.
    points
        Points of the domain, shape (k, n_0). None for points in all regions of small networks, and
        on lines through others.
    seed
        Different seeds give different lines.
    progress
        Called with a `polyrelu.support.ProgressStep` after some rows each, with the rank so far.
    checkpoint
        A file that keeps the rows that are eliminated, up to four bytes for each entry of a square
        matrix; if it exists, the work goes on from there.

    Returns
    -------
    DimensionBound
        A lower bound, the rank of rows of the Jacobian at listed points, and an upper bound: the
        number of parameters minus the number of hidden neurons whose row [W|b] is not 0. If they
        are equal, nothing but positive scalings keeps the function to first order.

    Raises
    ------
    NetworkError
        The network has skip connections, or ends in a ReLU.
    DomainError
        The domain is empty, has no interior or lies in another space; or the checkpoint belongs to
        another question.

    Notes
    -----
    Proof: docs/theory/functional_dimension.md. `polyrelu.foldsets.functional_dimension` computes
    the dimension of small networks without a certificate, also where it is smaller than the upper
    bound here.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 2], [3, -1]], [1, 1]), ([[1, 1]], [0])])
    >>> print(certify_functional_dimension(net).statement.partition(" on ")[2])
    R^n is 7, of 9 parameters.
    """
    read = as_imported(network)
    net, seed = expect_stack(read.network), expect_count(seed, "seed")
    expect_function(progress, "progress")
    region = as_domain(domain, net.num_inputs)
    if region.equations or region.interior_point() is None:
        raise DomainError("functional dimension: the domain has no interior")
    upper = net.num_parameters - num_nonzero_neurons(net)
    if points is None:
        chosen = _points(net, region, upper, seed)
    else:
        given = read_batch(points, net.num_inputs)
        chosen = [point for point in map(tuple, given) if region.contains(point)]
    asked = {} if checkpoint is None else _entries(net, region, chosen)
    with Execution.opened(None, checkpoint, asked) as execution:
        rows = independent_rows(net, chosen, upper, progress, execution)
    entries = [
        {"x": list(map(format_rational, point)), "outputs": [output for _, output in group]}
        for point, group in groupby(rows, key=lambda row: row[0])
    ]
    hypotheses = (
        Hypothesis("jacobian", "rank", {"prime": str(SETTINGS.prime), "rows": entries}),
        Hypothesis("jacobian", "scalings"),
    )
    claim = DimensionClaim(net, region, len(rows), upper)
    remarks = {"tool": f"polyrelu {__version__}"}
    return with_sources(DimensionBound(Certificate(claim, "jacobian", hypotheses, remarks)), read)


def _entries(network: Network, domain: Polyhedron, points: Sequence[Point]) -> dict[str, str]:
    """Return what a checkpoint compares."""
    coordinates = packed([exact_texts(point) for point in points])
    return {
        "question": "functional dimension",
        "version": __version__,
        "network": network.sha256,
        "domain": domain.sha256,
        "number of points": str(len(points)),
        "list of points": hashlib.sha256(coordinates).hexdigest(),
    }


def has_functional_dimension(network: Network) -> bool:
    """Return whether functional dimensions are defined for a network."""
    return network.is_plain and network.last == "affine"


def _points(network: Network, domain: Polyhedron, wanted: int, seed: int) -> list[Point]:
    """Points that show all regions of a small network, or many regions of another one."""
    is_small = network.num_inputs <= SETTINGS.max_inputs
    if is_small and len(network.neurons) <= SETTINGS.max_neurons:
        cells = canonical_complex(network, domain)
        inner = [cells.interior_point(index) for index in range(cells.num_regions)]
        return points_around(network, inner, domain)
    return points_in_cells(network, 2 * wanted // network.num_outputs + 8, domain, seed=seed)
