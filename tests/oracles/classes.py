"""Whether small parameters are in a class of competitors (FORMAT.md 3.1), by brute force."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import reduce
from itertools import chain, combinations, product

from flint import fmpz_mat

from tests.oracles.cells import cells
from tests.oracles.plain import Network, input_dimension, integer_form

__all__ = ["is_in_class"]


def is_in_class(layers: Network, among: str) -> bool:
    """Whether a plain stack with affine output is in a class of competitors."""
    if among == "all":
        return True
    if among == "generic" and (len(layers) != 3 or not _has_independent_rows(layers)):
        return False
    if not _has_right_zeros(layers, among):
        return False
    products = map(any, _masked_products(layers))
    if among != "sparse":
        return all(products)
    ones = [([[Fraction(w != 0) for w in row] for row in rows], b) for rows, b in layers]
    paths = map(any, _masked_products(ones))
    return all(left or not path for left, path in zip(products, paths, strict=True))


def _has_independent_rows(layers: Network) -> bool:
    weights, _ = integer_form(layers)[0]
    return bool(fmpz_mat(weights).rank() == len(weights))


def _has_right_zeros(layers: Network, among: str) -> bool:
    """Whether each cell has as many zeros as its codimension; up to 1 for regular parameters."""
    n = input_dimension(layers)
    found = ((signs.count(0), n - cell.dimension) for signs, cell in cells(layers).items())
    return all(
        zeros == codimension or (among == "regular" and codimension > 1)
        for zeros, codimension in found
    )


def _masked_products(layers: Network) -> Iterator[list[int]]:
    """Yield the entries of every masked product with nonempty masks, in integers.

    With independent rows of W[1] these are different from 0 for L = 3 if and only if G3 holds.
    """
    matrices = [fmpz_mat(weights) for weights, _ in integer_form(layers)]
    widths = [input_dimension(layers), *(len(bias) for _, bias in layers)]
    for k, end in combinations(range(len(widths)), 2):
        own = widths[k : end + 1]
        sets = (_sets(w, layer in (0, len(layers))) for layer, w in enumerate(own, k))
        for kept in product(*sets):
            masks = [
                fmpz_mat([[int(i == j and i in mask) for j in range(w)] for i in range(w)])
                for mask, w in zip(kept, own, strict=True)
            ]
            steps = zip(masks[1:], matrices[k:end], strict=True)
            result = reduce(lambda right, step: step[0] * step[1] * right, steps, masks[0])
            yield [int(entry) for entry in result.entries()]


def _sets(width: int, is_complete: bool) -> Iterator[tuple[int, ...]]:
    """Yield the nonempty sets of neurons, or the complete one only."""
    sizes = range(width if is_complete else 1, width + 1)
    return chain.from_iterable(combinations(range(width), size) for size in sizes)
