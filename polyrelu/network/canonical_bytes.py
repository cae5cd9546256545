"""The canonical bytes of a network, whose SHA-256 identifies it (FORMAT.md §2).

The bytes are lines of ASCII text with the shapes and exact weights. Certificates name a network by
the hash of these bytes, and the checker computes them with code of its own: the text must not
change.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from polyrelu.exact import AnyMatrix, SparseMatrix, format_integer
from polyrelu.network.layers import Last, Layer

__all__ = [
    "FORMAT",
    "VERSION",
    "bias_text",
    "canonical_pieces",
    "common_denominator",
    "row_texts",
]

FORMAT, VERSION = "polyrelu-network", 1
#: Integers of at most this number of bits are written as decimals.
_PLAIN_BITS = 3000
#: Number of characters of the zeros between entries that are kept for rows to come.
_KEPT_CHARACTERS = 1 << 24


def canonical_pieces(inputs: int, layers: Sequence[Layer], last: Last) -> Iterator[bytes]:
    """Yield the canonical bytes, a line and its newline one after the other."""
    for line in _canonical_texts(inputs, layers, last):
        yield line.encode("ascii")
        yield b"\n"


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
        yield from _sparse_row_texts(matrix, [in_text(x * factor) for x in matrix.values.tolist()])
    else:
        for row in matrix.integer_rows():
            scaled = row if factor == 1 else [entry * factor for entry in row]
            yield " ".join(map(in_text, scaled))


def _sparse_row_texts(matrix: SparseMatrix, texts: Sequence[str]) -> Iterator[str]:
    """Yield the rows as text, given the text of each value.

    Rows with entries in the same columns, as convolutions have, have the same zeros between them.
    """
    entries = [f"{text} " for text in texts]
    known, num_kept = dict[bytes, list[str]](), 0
    for start, end in pairwise(matrix.starts.tolist()):
        columns = matrix.columns[start:end]
        parts = known.get(columns.tobytes())
        if parts is None:
            if (num_kept := num_kept + 2 * matrix.ncols) > _KEPT_CHARACTERS:
                known, num_kept = {}, 2 * matrix.ncols
            parts = known[columns.tobytes()] = _zeros_between(columns.tolist(), matrix.ncols)
        parts[1::2] = map(entries.__getitem__, matrix.codes[start:end].tolist())
        yield "".join(parts)[:-1]


def _zeros_between(columns: Sequence[int], width: int) -> list[str]:
    """Return the text of the zeros before, between and after entries, with gaps for these."""
    parts, filled = [], 0
    for column in [*columns, width]:
        parts += ["0 " * (column - filled), ""]
        filled = column + 1
    return parts[:-1]


def bias_text(layer: Layer, denominator: int) -> str:
    """Return the bias of a layer as one row of text, over a multiple of its denominator."""
    return " ".join(row_texts(layer.bias, denominator))
