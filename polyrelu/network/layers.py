"""Layers of a network: blocks of weights by their source, and a bias.

A layer reads the input and any earlier layers, each through one block of weights; in a plain stack
it reads the layer before only. `Network` checks that blocks and layers fit together, these types do
not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

from polyrelu.errors import NetworkError
from polyrelu.exact import AnyMatrix, RationalMatrix, SparseMatrix, as_dense, canonical
from polyrelu.support.arguments import expect, expect_integer, expect_one_of
from polyrelu.support.display import bracketed, count_text

__all__ = ["Block", "Last", "Layer"]

#: How to make a matrix.
_MATRICES = "RationalMatrix.from_rows makes a matrix of numbers"

#: How a network ends: in an affine layer, or in a ReLU that follows its last layer too.
Last: TypeAlias = Literal["affine", "relu"]


@dataclass(frozen=True, slots=True, repr=False)
class Block:
    """The weights of a layer on the activations of one earlier layer.

    Large weight matrices that are mostly zeros, such as a convolution's, are kept by their nonzero
    entries. The entries alone decide on the container (`exact.canonical`), so that equal weights
    are equal blocks however they were made.

    Attributes
    ----------
    source
        Number of the earlier layer; 0 is the input.
    entries
        The weights, shape (n_ℓ, n_source), dense or sparse.

    Examples
    --------
    >>> Block(0, RationalMatrix.from_rows([[1, 2, 3]])).shape
    (1, 3)
    """

    source: int
    entries: AnyMatrix

    def __post_init__(self) -> None:
        expect_one_of(self.entries, (RationalMatrix, SparseMatrix), "entries", _MATRICES)
        object.__setattr__(self, "source", expect_integer(self.source, "source"))
        object.__setattr__(self, "entries", canonical(self.entries))

    @property
    def weight(self) -> RationalMatrix:
        """The weights as a dense matrix, made on first use where they are kept sparse."""
        return as_dense(self.entries)

    @property
    def shape(self) -> tuple[int, int]:
        """The shape (n_ℓ, n_source) of the weights."""
        return self.entries.shape

    def __matmul__(self, other: RationalMatrix) -> RationalMatrix:
        return (
            self.entries.times_dense(other)
            if isinstance(self.entries, SparseMatrix)
            else self.entries @ other
        )

    def __repr__(self) -> str:
        rows, columns = self.shape
        kind = "sparse" if isinstance(self.entries, SparseMatrix) else "dense"
        return bracketed(f"Block, {rows}×{columns} {kind} weights on layer {self.source}")


@dataclass(frozen=True, slots=True, repr=False)
class Layer:
    """The weights and the bias of a layer.

    Attributes
    ----------
    blocks
        Blocks in ascending order of their source; the last one reads the layer before.
    bias
        The bias as a column, shape (n_ℓ, 1).

    Examples
    --------
    >>> block = Block(0, RationalMatrix.from_rows([[1, 2, 3]]))
    >>> Layer((block,), RationalMatrix.column(["1/2"])).width
    1
    """

    blocks: tuple[Block, ...]
    bias: RationalMatrix

    def __post_init__(self) -> None:
        blocks = expect(self.blocks, tuple, "blocks", "a layer has a tuple of Block")
        for block in blocks:
            expect(block, Block, "blocks", "Block(source, matrix) makes one")
        expect(self.bias, RationalMatrix, "bias", "RationalMatrix.column makes one")

    def __repr__(self) -> str:
        sources = ", ".join(str(block.source) for block in self.blocks)
        neurons = count_text([(self.width, "neuron")])
        return bracketed(f"Layer, {neurons}, reads layer {sources or 'none'}")

    @property
    def width(self) -> int:
        """The number of neurons (or outputs)."""
        return self.bias.nrows

    @property
    def weight(self) -> RationalMatrix:
        """The weights on the layer before.

        Raises
        ------
        NetworkError
            The layer has no blocks.
        """
        if not self.blocks:
            raise NetworkError("the layer has no blocks of weights")
        return self.blocks[-1].weight

    @property
    def bits(self) -> int:
        """A bound on the bit lengths of all numerators and the denominator over one denominator."""
        parts = [*(block.entries for block in self.blocks), self.bias]
        common = math.lcm(*(part.denominator for part in parts))
        factors = [common // part.denominator for part in parts]
        longest = (
            part.bits + factor.bit_length() for part, factor in zip(parts, factors, strict=True)
        )
        return max(common.bit_length(), *longest)

    def augmented(self) -> RationalMatrix:
        """Return [W | b], shape (n_ℓ, n + 1), where W are the weights on the layer before."""
        return self.weight.beside(self.bias)
