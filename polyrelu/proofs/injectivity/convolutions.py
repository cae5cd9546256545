"""Injective convolutions, whatever the size of the input: Theorem 3 of Puthawala et al. (2020).

Kernels of the shape (q, channels, O_1, …, O_p) slide over an input of the shape (channels, N_1, …,
N_p) with stride 1. All their shifts inside a box P are the rows of a layer on the box. If that
layer is injective, then so is the convolution on every input that contains the box, with any border
(docs/theory/injectivity.md). Otherwise the unrolled layer decides, for one size and border.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod
from typing import Literal, TypeAlias, get_args

import numpy as np

from polyrelu.errors import ArgumentError
from polyrelu.exact import to_fraction
from polyrelu.network import Network, from_arrays
from polyrelu.outcomes import Attempt, Injective, NotInjective, Undecided
from polyrelu.proofs.injectivity.prover import injective
from polyrelu.proofs.injectivity.settings import SETTINGS
from polyrelu.support.arguments import expect_choice, expect_count, expect_list
from polyrelu.support.budget import BudgetLike, LimitReached, as_budget
from polyrelu.support.display import bracketed

__all__ = ["Border", "InjectiveKernels", "convolution_layer", "injective_kernels"]

#: What a convolution reads beyond the input: nothing, since it stays inside; zeros, at every
#: position that meets the input; or the input again.
Border: TypeAlias = Literal["valid", "zero", "periodic"]


@dataclass(frozen=True, slots=True, repr=False)
class InjectiveKernels:
    """Kernels with which every convolution of stride 1, followed by a ReLU, is injective.

    Attributes
    ----------
    box
        The sizes of a box; the input has to contain it. Its border may be any.
    layer
        All shifts of the kernels inside the box, as a layer.
    outcome
        The proof that this layer is injective.

    Examples
    --------
    >>> injective_kernels([[[1]], [[-1]]])
    <InjectiveKernels, on inputs of at least 1>
    """

    box: tuple[int, ...]
    layer: Network
    outcome: Injective

    def __repr__(self) -> str:
        return bracketed(
            f"InjectiveKernels, on inputs of at least {' × '.join(map(str, self.box))}"
        )

    def __str__(self) -> str:
        sizes = " × ".join(map(str, self.box))
        return (
            "proved. A convolution with these kernels, stride 1 and a ReLU is injective on every "
            f"input that contains a box of {sizes}, with any border."
        )


@dataclass(frozen=True, slots=True)
class _Kernels:
    """Kernels as an array of fractions, shape (q, channels, O_1, …, O_p), and their biases."""

    entries: np.ndarray[tuple[int, ...], np.dtype[np.object_]]
    bias: tuple[Fraction, ...]

    @classmethod
    def of(cls, kernels: object, bias: object) -> _Kernels:
        """Return kernels that a user gives as nested lists or as an array."""
        try:
            given = np.array(kernels, dtype=object)
            exact = np.array([to_fraction(entry) for entry in given.ravel()], dtype=object)
        except (TypeError, ValueError) as error:
            raise ArgumentError(f"kernels: {error}") from None
        if given.ndim < 3 or 0 in given.shape:
            raise ArgumentError(
                "kernels: expected the shape (kernels, channels, size, …), as PyTorch has it"
            )
        numbers = [0] * len(given) if bias is None else expect_list(bias, "bias")
        if len(numbers) != len(given):
            raise ArgumentError(f"bias: expected {len(given)} numbers")
        return cls(exact.reshape(given.shape), tuple(map(to_fraction, numbers)))

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes O_1, …, O_p."""
        return self.entries.shape[2:]

    def layer(self, shape: Sequence[int], border: Border, stride: int) -> Network:
        """Return the convolution of an input of the shape (channels, *shape) as a layer."""
        rows, biases = list[list[Fraction]](), list[Fraction]()
        places = list(product(*(range(size) for size in self.sizes)))
        for start in product(*self._starts(shape, border, stride)):
            cells = [self._cell(start, place, shape, border) for place in places]
            for kernel, b in zip(self.entries, self.bias, strict=True):
                row = np.full((len(kernel), *shape), Fraction(), dtype=object)
                for place, cell in zip(places, cells, strict=True):
                    if cell is not None:
                        for channel in range(len(kernel)):
                            row[(channel, *cell)] += kernel[(channel, *place)]
                rows.append(row.ravel().tolist())
                biases.append(b)
        return from_arrays([(rows, biases)], last="relu")

    def _starts(self, shape: Sequence[int], border: Border, stride: int) -> Iterator[range]:
        """Yield the positions of the first entry of a kernel along each axis."""
        for size, length in zip(self.sizes, shape, strict=True):
            if border == "valid":
                yield range(0, length - size + 1, stride)
            elif border == "zero":
                yield range(1 - size, length, stride)
            else:
                yield range(0, length, stride)

    def _cell(
        self, start: Sequence[int], place: Sequence[int], shape: Sequence[int], border: Border
    ) -> tuple[int, ...] | None:
        """Return the entry of the input under an entry of a kernel, or None beyond the border."""
        cell = [a + b for a, b in zip(start, place, strict=True)]
        if border == "periodic":
            return tuple(a % size for a, size in zip(cell, shape, strict=True))
        is_inside = all(0 <= a < size for a, size in zip(cell, shape, strict=True))
        return tuple(cell) if is_inside else None


def convolution_layer(
    kernels: object,
    shape: Sequence[int],
    *,
    bias: object = None,
    border: Border = "valid",
    stride: int = 1,
) -> Network:
    """Return a convolution with a ReLU as one layer, unrolled.

    Parameters
    ----------
    kernels
        Numbers, shape (q, channels, O_1, …, O_p). Kernels are not mirrored, as in PyTorch.
    shape
        The sizes N_1, …, N_p of the input, whose entries are in row-major order, channels first.
    bias
        A number for each kernel; 0 by default.
    border
        ``"valid"``: kernels stay inside. ``"zero"``: they take every position that meets the input,
        and read zeros beyond it. ``"periodic"``: they read the input again.
    stride
        Steps between positions.

    Returns
    -------
    Network
        One ReLU layer.

    Raises
    ------
    ArgumentError
        An argument has a wrong type or shape.

    Examples
    --------
    >>> layer = convolution_layer([[[1, 2]], [[0, -1]]], [3])
    >>> layer.weight(1).integer_rows()
    [[1, 2, 0], [0, -1, 0], [0, 1, 2], [0, 0, -1]]
    >>> convolution_layer([[[1, 2]]], [3], border="periodic").weight(1).integer_rows()[-1]
    [2, 0, 1]
    """
    expect_choice(border, get_args(Border), "border")
    stride, found = expect_count(stride, "stride", 1), _Kernels.of(kernels, bias)
    sizes = [expect_count(size, "shape", 1) for size in expect_list(shape, "shape")]
    if len(sizes) != len(found.sizes) or any(
        size < least for size, least in zip(sizes, found.sizes, strict=False)
    ):
        raise ArgumentError(f"shape: expected {len(found.sizes)} sizes, at least {found.sizes}")
    return found.layer(sizes, border, stride)


def injective_kernels(
    kernels: object, *, bias: object = None, budget: BudgetLike = SETTINGS.budget
) -> InjectiveKernels | Undecided:
    """Search a box on which the shifts of kernels are an injective layer.

    Parameters
    ----------
    kernels
        Numbers, shape (q, channels, O_1, …, O_p), used with stride 1.
    bias
        A number for each kernel; 0 by default.
    budget
        Units of work, or a `Budget` with all limits; None for no limit.

    Returns
    -------
    InjectiveKernels or Undecided
        A box; or the boxes that were tried. The condition is sufficient only: for one size of the
        input and one border, `injective(convolution_layer(…))` decides.

    Raises
    ------
    ArgumentError
        An argument has a wrong type or shape.

    Notes
    -----
    A layer of fewer than 2n rows on R^n is not injective without bias, so boxes with q ∏ (P_j - O_j
    + 1) < 2 channels ∏ P_j are left out there.

    Examples
    --------
    The kernels (12) of Puthawala et al. (2020):

    >>> kernels = [[[1, 0, -1]], [[1, 0, 1]], [[-1, 0, 1]], [[-1, 0, -1]]]
    >>> injective_kernels(kernels).box
    (4,)
    """
    found, limits, attempts = _Kernels.of(kernels, bias), as_budget(budget), list[Attempt]()
    channels = found.entries.shape[1]
    for more in range(SETTINGS.max_box_dimension):
        box = tuple(size + more for size in found.sizes)
        dimension = channels * prod(box)
        if dimension > SETTINGS.max_box_dimension:
            break
        name = " × ".join(map(str, box))
        num_rows = len(found.entries) * (more + 1) ** len(box)
        if num_rows < 2 * dimension and not any(found.bias):
            attempts.append(
                Attempt("box", f"{name}: {num_rows} rows, and {2 * dimension} are needed")
            )
            continue
        layer = found.layer(box, "valid", 1)
        try:
            outcome = injective(layer, budget=limits.part(None))
        except LimitReached as error:
            return Undecided(str(error), tuple(attempts))
        if isinstance(outcome, Injective):
            return InjectiveKernels(box, layer, outcome)
        why = "not injective" if isinstance(outcome, NotInjective) else outcome.reason
        attempts.append(Attempt("box", f"{name}: {why}"))
    return Undecided("no box was found on which the kernels are injective", tuple(attempts))
