"""Layers of a network: blocks of weights by their source, and a bias."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

from polyrelu.exact import AnyMatrix, RationalMatrix, SparseMatrix, as_dense, canonical

__all__ = ["Block", "Last", "Layer"]

#: How a network ends: in an affine layer, or in a ReLU that follows its last layer too.
Last: TypeAlias = Literal["affine", "relu"]


@dataclass(frozen=True, slots=True)
class Block:
    """The weights of a layer on the activations of layer `source` (0: the input), shape (n_ℓ, n_source).

    Large weights that are mostly zeros, as those of a convolution, are kept by their nonzero entries. The entries
    alone decide (`exact.canonical`), so that equal weights are equal blocks however they were made.
    """

    source: int
    entries: AnyMatrix

    def __post_init__(self) -> None:
        object.__setattr__(self, "entries", canonical(self.entries))

    @property
    def weight(self) -> RationalMatrix:
        """The weights with their zeros (made on first use where they are kept sparse)."""
        return as_dense(self.entries)

    @property
    def shape(self) -> tuple[int, int]:
        """``(n_ℓ, n_source)``."""
        return self.entries.shape

    def __matmul__(self, other: RationalMatrix) -> RationalMatrix:
        return (
            self.entries.times_dense(other)
            if isinstance(self.entries, SparseMatrix)
            else self.entries @ other
        )


@dataclass(frozen=True, slots=True)
class Layer:
    """Blocks in ascending order of their source, the last of them from the layer before, and the bias, shape (n_ℓ,
    1)."""

    blocks: tuple[Block, ...]
    bias: RationalMatrix

    @property
    def width(self) -> int:
        """The number of neurons (or outputs)."""
        return self.bias.nrows

    @property
    def weight(self) -> RationalMatrix:
        """The weights on the layer before."""
        return self.blocks[-1].weight

    @property
    def bits(self) -> int:
        """A bound on the bits of the layer's numerators and denominator, brought to one denominator."""
        parts = [*(block.entries for block in self.blocks), self.bias]
        common = math.lcm(*(part.denominator for part in parts))
        factors = [common // part.denominator for part in parts]
        longest = (
            part.bits + factor.bit_length() for part, factor in zip(parts, factors, strict=True)
        )
        return max(common.bit_length(), *longest)

    def augmented(self) -> RationalMatrix:
        """[W | b] for the weights on the layer before."""
        return self.weight.beside(self.bias)
