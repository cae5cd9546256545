"""Genericity: evidence for both answers, and no answer beyond the bound."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise, product
from random import Random

import pytest

from polyrelu.complex import canonical_complex, supertransversality_violation
from polyrelu.conditions import Limits, generic, masked_ranks, supertransversality
from polyrelu.conditions.genericity import masked_products
from polyrelu.errors import DomainError
from polyrelu.exact import RationalMatrix
from polyrelu.network import Block, Layer, Network, from_arrays


def random_stack(rng: Random, size: int, *widths: int) -> Network:
    layers = []
    for columns, rows in pairwise(widths):
        entries = [[rng.randint(-size, size) for _ in range(columns + 1)] for _ in range(rows)]
        layers.append(([row[:-1] for row in entries], [row[-1] for row in entries]))
    return from_arrays(layers)


def plain_rank(rows: list[list[Fraction]]) -> int:
    """The rank by Gaussian elimination."""
    rows, rank = [list(row) for row in rows], 0
    for column in range(len(rows[0]) if rows else 0):
        pivot = next((i for i in range(rank, len(rows)) if rows[i][column]), None)
        if pivot is None:
            continue
        rows[rank], rows[pivot] = rows[pivot], rows[rank]
        for i in range(rank + 1, len(rows)):
            factor = rows[i][column] / rows[rank][column]
            rows[i] = [a - factor * b for a, b in zip(rows[i], rows[rank], strict=True)]
        rank += 1
    return rank


Matrix = list[list[Fraction]]


def identity(size: int) -> Matrix:
    return [[Fraction(int(i == j)) for j in range(size)] for i in range(size)]


def times(left: Sequence[Sequence[Fraction]], right: Matrix) -> Matrix:
    columns = list(zip(*right, strict=True))
    return [
        [sum((a * b for a, b in zip(row, column, strict=True)), Fraction()) for column in columns]
        for row in left
    ]


def ranks_by_definition(
    network: Network,
) -> dict[tuple[int, tuple[tuple[int, ...], ...]], tuple[int, int]]:
    """The rank of every masked product and the rank that is allowed.

    The products are multiplied out, with zeros for the neurons that are left out.
    """
    found = {}
    for first in range(1, network.depth + 1):
        for last in range(first, network.depth + 1):
            layers = range(first, last + 1)
            for bits in product(*(range(1, 2 ** network.widths[layer]) for layer in layers)):
                matrix = identity(network.widths[first - 1])
                for layer, mask in zip(layers, bits, strict=True):
                    whole = times(network.weight(layer).rows(), matrix)
                    matrix = [
                        [(mask >> i & 1) * entry for entry in row] for i, row in enumerate(whole)
                    ]
                kept = [
                    [i for i in range(network.widths[k]) if mask >> i & 1]
                    for k, mask in zip(layers, bits, strict=True)
                ]
                masks = tuple(map(tuple, kept))
                found[first, masks] = (
                    plain_rank(matrix),
                    min(network.widths[first - 1], *map(len, masks)),
                )
    return found


@pytest.mark.parametrize("widths", [(2, 3, 1), (2, 2, 3, 1), (3, 2, 2, 2, 1)])
def test_masked_products_are_those_of_the_definition(widths: tuple[int, ...]) -> None:
    for seed in range(3):
        network = random_stack(Random(seed), 2, *widths)
        found = {
            (masked.first, masked.masks): (masked.rank, allowed)
            for masked, allowed in masked_products(network)
        }
        assert found == ranks_by_definition(network)


def test_evidence() -> None:
    statuses = set()
    for seed in range(40):
        network = random_stack(Random(f"evidence {seed}"), 30 if seed % 2 else 2, 2, 3, 2, 1)
        cells = canonical_complex(network)
        ranks, wrong = masked_ranks(network), supertransversality(cells).evidence
        expected = ranks_by_definition(network)
        deficient = {key for key, (rank, allowed) in expected.items() if rank < allowed}
        assert (None if wrong is None else wrong.cell) == supertransversality_violation(cells)
        if ranks.evidence is not None:
            product = ranks.evidence.product
            assert (product.first, product.masks) in deficient
            assert product.rank == expected[product.first, product.masks][0]
        else:
            assert not deficient
            assert ranks.num_checked == len(expected)
        statuses.add(generic(cells).status)
        assert generic(cells).status == ("fails" if deficient or wrong is not None else "holds")
    assert statuses == {"holds", "fails"}


def test_beyond_the_bound_nothing_is_claimed() -> None:
    network = random_stack(Random(2), 10**6, 2, 40, 1)
    assert generic(canonical_complex(network), limits=Limits(products=50)).status == "unchecked"
    small = random_stack(Random(2), 10**6, 2, 2, 1)
    count = masked_ranks(small).num_checked
    assert generic(canonical_complex(small), limits=Limits(products=count)).status == "holds"
    assert (
        generic(canonical_complex(small), limits=Limits(products=count - 1)).status == "unchecked"
    )


def test_a_rank_beyond_the_number_of_inputs() -> None:
    """With one input, the product of the layers 2 and 3 may have rank 2, and must have it."""
    first, third = ([[1], [2]], [1, -1]), ([[1, 0], [0, 1]], [0, 0])
    assert (
        masked_ranks(from_arrays([first, ([[1, 2], [3, 4]], [1, 1]), third])).evidence is not None
    )  # zeros in I
    rows, last = [[1, 2], [3, 4]], ([[1, 2], [3, 5]], [0, 0])
    assert masked_ranks(from_arrays([first, (rows, [1, 1]), last])).status == "holds"
    found = masked_ranks(from_arrays([first, ([[1, 2], [2, 4]], [1, 1]), last])).evidence
    assert found is not None
    assert (found.product.first, found.product.rank, found.allowed) == (2, 1, 2)


def test_skip_connections_are_refused() -> None:
    identity, one = RationalMatrix.identity(2), RationalMatrix.column([1, 1])
    layers = (
        Layer((Block(0, identity),), one),
        Layer((Block(0, identity), Block(1, identity)), one),
    )
    with pytest.raises(DomainError, match="skip connections"):
        generic(canonical_complex(Network(2, (*layers, Layer((Block(2, identity),), one)))))
