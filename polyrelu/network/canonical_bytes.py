"""The canonical bytes of a network, whose SHA-256 identifies it (FORMAT.md §2).

The bytes are lines of ASCII text with the shapes and exact weights. Certificates name a network by
the hash of these bytes, and the checker computes them with code of its own: the text must not
change.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

from polyrelu.exact import AnyMatrix, SparseMatrix, format_integer
from polyrelu.network.layers import Last, Layer

__all__ = ["FORMAT", "VERSION", "bias_text", "canonical_lines", "common_denominator", "row_texts"]

FORMAT, VERSION = "polyrelu-network", 1
#: Integers of at most this number of bits are written as decimals.
_PLAIN_BITS = 3000


def canonical_lines(inputs: int, layers: Sequence[Layer], last: Last) -> Iterator[bytes]:
    """Yield the lines of the canonical bytes, each with its newline."""
    return (f"{line}\n".encode("ascii") for line in _canonical_texts(inputs, layers, last))


def _canonical_texts(inputs: int, layers: Sequence[Layer], last: Last) -> Iterator[str]:
    """The lines as text without newlines."""
    yield f"{FORMAT} {VERSION}"
    yield f"inputs {inputs}"
    for layer in layers:
        denominator = common_denominator(layer)
        yield f"layer {layer.width} {format_integer(denominator)}"
        yield f"bias {bias_text(layer, denominator)}"
        for block in layer.blocks:
            yield f"from {block.source}"
            yield from row_texts(block.entries, denominator)
    yield f"last {last}"


def common_denominator(layer: Layer) -> int:
    """Return the least common denominator of all weights and biases of a layer."""
    return math.lcm(layer.bias.denominator, *(block.entries.denominator for block in layer.blocks))


def row_texts(matrix: AnyMatrix, denominator: int) -> Iterator[str]:
    """Yield the rows as text, over a multiple of the matrix's own denominator.

    A large sparse matrix is text of many zeros, so that only one row exists at a time.
    """
    factor = denominator // matrix.denominator
    # Python's own function is much faster, and the same for integers of this length.
    is_short = matrix.bits + factor.bit_length() <= _PLAIN_BITS
    in_text: Callable[[int], str] = str if is_short else format_integer
    if isinstance(matrix, SparseMatrix):
        for columns, numerators in matrix.rows_of_entries():
            texts = [in_text(numerator * factor) for numerator in numerators]
            yield _sparse_row_text(columns, texts, matrix.ncols)
    else:
        for row in matrix.integer_rows():
            scaled = row if factor == 1 else [entry * factor for entry in row]
            yield " ".join(map(in_text, scaled))


def _sparse_row_text(columns: Sequence[int], texts: Sequence[str], width: int) -> str:
    """The text of a row that is given by its nonzero entries; runs of zeros are repeated text."""
    parts, filled = [], 0
    for column, text in zip(columns, texts, strict=True):
        parts.append(f"{'0 ' * (column - filled)}{text} ")
        filled = column + 1
    return ("".join(parts) + "0 " * (width - filled))[:-1]


def bias_text(layer: Layer, denominator: int) -> str:
    """Return the bias of a layer as one row of text, over a multiple of its denominator."""
    return " ".join(row_texts(layer.bias, denominator))
