"""Layers and networks that are injective because they are made so, with the proof.

[B; -DB] is the form of all injective layers of 2n rows (Puthawala et al. 2020, Corollary 2). A
network f becomes injective by a small generic linear map of its input that is added to its output:
f + R is a projection of the graph of f, and almost every one is injective if there are more than 2n
outputs (Theorem 5 and Corollary 3 there).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from random import Random

from polyrelu.errors import ArgumentError, DomainError, NetworkError
from polyrelu.exact import RationalMatrix, rank, to_fraction
from polyrelu.formats import DomainLike, NetworkLike, as_domain, as_network
from polyrelu.network import Block, Layer, Network, from_arrays
from polyrelu.outcomes import Injective, Undecided
from polyrelu.proofs.injectivity.prover import injective
from polyrelu.proofs.injectivity.settings import SETTINGS
from polyrelu.support.arguments import expect_count, expect_list
from polyrelu.support.budget import BudgetLike
from polyrelu.support.display import bracketed

__all__ = ["MadeInjective", "doubled_layer", "made_injective", "opposite_kernels"]


def doubled_layer(basis: Sequence[Sequence[object]], scales: Sequence[object] = ()) -> Network:
    """Return the layer [B; -DB] without bias, which is injective on R^n.

    Parameters
    ----------
    basis
        The rows of B, independent, shape (n, n).
    scales
        The diagonal of D, positive; 1 by default.

    Returns
    -------
    Network
        One ReLU layer of 2n neurons.

    Raises
    ------
    ArgumentError
        The rows are dependent, or a scale is not positive.

    Examples
    --------
    >>> doubled_layer([[1, 2], [0, 1]], [1, 3]).weight(1).integer_rows()
    [[1, 2], [0, 1], [-1, -2], [0, -3]]
    """
    matrix = RationalMatrix.from_rows(expect_list(basis, "basis"))
    factors = [to_fraction(entry) for entry in scales] or [Fraction(1)] * matrix.nrows
    if matrix.nrows != matrix.ncols or rank(matrix) < matrix.nrows:
        raise ArgumentError("basis: expected n independent rows of n numbers")
    if len(factors) != matrix.nrows or min(factors) <= 0:
        raise ArgumentError(f"scales: expected {matrix.nrows} positive numbers")
    rows = matrix.over((-matrix).scale_rows(factors)).rows()
    return from_arrays([(rows, [0] * len(rows))], last="relu")


def opposite_kernels(kernels: Sequence[object], scales: Sequence[object]) -> list[object]:
    """Return kernels c and -s² c, which see both signs of what c sees.

    Parameters
    ----------
    kernels
        Nested lists of numbers, one for each kernel.
    scales
        A number s ≠ 0 for each kernel.

    Returns
    -------
    list
        The kernels, then their opposites.

    Raises
    ------
    ArgumentError
        A scale is 0, or there are not as many as kernels.

    Examples
    --------
    >>> opposite_kernels([[[1, 2]]], [3])
    [[[1, 2]], [[Fraction(-9, 1), Fraction(-18, 1)]]]
    """
    factors = [to_fraction(entry) for entry in scales]
    if len(factors) != len(kernels) or not all(factors):
        raise ArgumentError(f"scales: expected {len(kernels)} numbers that are not 0")
    opposite = [_scaled(c, -s * s) for c, s in zip(kernels, factors, strict=True)]
    return [*kernels, *opposite]


def _scaled(kernel: object, factor: Fraction) -> object:
    if isinstance(kernel, list | tuple):
        return [_scaled(part, factor) for part in kernel]
    return to_fraction(kernel) * factor


@dataclass(frozen=True, slots=True, repr=False)
class MadeInjective:
    """An injective network near a given one.

    Attributes
    ----------
    network
        The network f + R.
    outcome
        The proof that it is injective on the domain.
    distance
        The largest |f(x) + R x - f(x)| of any output at a point of the domain, exactly.

    Examples
    --------
    >>> made_injective([([[1, 1], [1, -1], [0, 1], [1, 0], [2, 1]], [0] * 5)], "box:-1,1").distance
    Fraction(1, 100)
    """

    network: Network
    outcome: Injective
    distance: Fraction

    def __repr__(self) -> str:
        return bracketed(f"MadeInjective, {self.network}")

    def __str__(self) -> str:
        return f"{self.outcome}\nno output differs by more than {self.distance} on the domain"


def made_injective(
    network: NetworkLike,
    domain: DomainLike,
    distance: object = Fraction(1, 100),
    *,
    seed: int = 0,
    budget: BudgetLike = SETTINGS.budget,
) -> MadeInjective | Undecided:
    """Change a network a little so that it is injective on a bounded domain, with a proof.

    A linear map of the input is added to the outputs, as a skip connection.

    Parameters
    ----------
    network
        A network with an affine output, or what `polyrelu.load` takes.
    domain
        A bounded polyhedron, or the text of one.
    distance
        How far each output may be from the given one, positive.
    seed
        Seed of the map.
    budget
        Units of work for each map that is tried, or a `Budget`; None for no limit.

    Returns
    -------
    MadeInjective or Undecided
        The network with its proof; `Undecided` if none of some maps was proved to do it. With at
        most 2n outputs there may be none.

    Raises
    ------
    NetworkError
        The network cannot be read, or ends with a ReLU.
    DomainError
        The domain is empty, unbounded or in another space.
    ArgumentError
        The distance is not positive, or an argument has a wrong type.

    Examples
    --------
    The absolute value, three times, on a segment:

    >>> fold = [([[1], [-1]], [0, 0]), ([[1, 1], [1, 1], [1, 1]], [0, 0, 0])]
    >>> made = made_injective(fold, "box:-1,1", "1/8")
    >>> made.outcome.status, made.distance
    ('proved', Fraction(1, 8))
    """
    given, limit = as_network(network), to_fraction(distance)
    seed = expect_count(seed, "seed")
    if limit <= 0:
        raise ArgumentError("distance: expected a positive number")
    if given.num_hidden_layers == given.depth:
        raise NetworkError("made_injective takes networks with an affine output")
    polyhedron = as_domain(domain, given.num_inputs)
    box = polyhedron.bounding_box()
    if box is None:
        raise DomainError("made_injective takes bounded domains")
    low, high = box
    size = [max(abs(a), abs(b)) for a, b in zip(low, high, strict=True)]
    chance, outcome = Random(seed), None
    for _ in range(SETTINGS.num_maps):
        rows = [
            [chance.choice((-1, 1)) * chance.randint(1, SETTINGS.largest_entry) for _ in size]
            for _ in range(given.num_outputs)
        ]
        longest = max(sum(abs(a) * b for a, b in zip(row, size, strict=True)) for row in rows)
        matrix = RationalMatrix.from_integers(rows).scale(limit / (longest or 1))
        changed = _with_skip(given, matrix)
        outcome = injective(changed, polyhedron, budget=budget)
        if isinstance(outcome, Injective):
            return MadeInjective(changed, outcome, limit if longest else Fraction(0))
    return (
        outcome
        if isinstance(outcome, Undecided)
        else Undecided(
            f"none of {SETTINGS.num_maps} maps makes the network injective on the domain"
        )
    )


def _with_skip(network: Network, matrix: RationalMatrix) -> Network:
    """Return the network with a linear map of the input added to its outputs."""
    *before, last = network.layers
    blocks = {block.source: block.weight for block in last.blocks}
    blocks[0] = blocks[0] + matrix if 0 in blocks else matrix
    source = network.depth - 1
    kept = [
        Block(k, weight)
        for k, weight in sorted(blocks.items())
        if not weight.is_zero() or k == source
    ]
    return replace(network, layers=(*before, Layer(tuple(kept), last.bias)))
