"""Partners of the neurons of two networks with nearly the same function.

A copy of a network may have its neurons in another order and scaled, and it may have more or fewer:
neurons that were split, merged, pruned or added. A *matching* gives neurons of the copy g partners
in the same layer of the original f, with scales λ > 0: the neuron divided by λ is close to its
partner. Several neurons of g may have one partner, and some none. Layer after layer, neurons are
compared by their weights on the neurons before, once these are replaced by their partners; ties go
to the neuron with the same index. A matching changes no function, and nothing depends on its being
good except how sharp bounds of f - g are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from polyrelu.errors import NetworkError
from polyrelu.exact import RationalMatrix, as_float
from polyrelu.formats.arguments import NetworkLike, as_network
from polyrelu.network import Network
from polyrelu.support.display import bracketed, count_text, widths_text

__all__ = ["AlignedPair", "ExactLayer", "Matching", "Partners", "Stack", "align", "match"]

#: Weights and biases of a layer.
ExactLayer: TypeAlias = tuple[RationalMatrix, RationalMatrix]
Stack: TypeAlias = tuple[ExactLayer, ...]
#: The partner of each neuron of a layer, -1 without one.
Partners: TypeAlias = tuple[int, ...]

#: Cosine of the angle between rows of weights below which neurons are no partners.
_LEAST_COSINE = 0.5
#: Scales are between 2 to the minus this power, and 2 to this power.
_SCALE_BITS = 64
#: Relative distance of a ratio from a power of two up to which the power is the scale.
_NEAR_POWER = 0.02


@dataclass(frozen=True, slots=True, repr=False)
class Matching:
    """The partners and scales of the neurons of a layer.

    Attributes
    ----------
    partners
        For each neuron of g the index of its partner in f, -1 without one.
    scales
        For each neuron of g the number λ > 0 by which it is divided.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [-2]], [3, 1]), ([[1, 1]], [0])])
    >>> other = from_arrays([([[-4], [1]], [2, 3]), ([["1/2", 1]], [0])])
    >>> match(net, other)
    (<Matching of 2 neurons, 0 without a partner>,)
    """

    partners: Partners
    scales: tuple[Fraction, ...]

    def __repr__(self) -> str:
        neurons = count_text([(len(self.partners), "neuron")])
        return bracketed(f"Matching of {neurons}, {self.partners.count(-1)} without a partner")

    @property
    def pairs(self) -> tuple[tuple[int, Fraction] | None, ...]:
        """Partner and scale of each neuron, None without a partner."""
        both = zip(self.partners, self.scales, strict=True)
        return tuple((i, scale) if i >= 0 else None for i, scale in both)


@dataclass(frozen=True, slots=True)
class AlignedPair:
    """Two stacks of layers, the second one scaled so that neurons are close to their partners.

    Attributes
    ----------
    first, second
        The layers of f, and of g after division of its neurons by their scales; `second` is None
        if there is only one network.
    partners
        For each hidden layer the partners of the neurons of g, or None where each neuron is the
        partner of its own index.
    matching
        The matching, empty if no neuron is moved or scaled.
    """

    first: Stack
    second: Stack | None
    partners: tuple[Partners | None, ...]
    matching: tuple[Matching, ...] = ()


@np.errstate(all="ignore")  # floats only guess: without a partner bounds are wider
def match(first: NetworkLike, second: NetworkLike) -> tuple[Matching, ...]:
    """Find partners in one network for the neurons of another one.

    Parameters
    ----------
    first, second
        Plain stacks with equally many inputs, outputs and layers, or what `polyrelu.load` takes.

    Returns
    -------
    tuple of Matching
        An entry for each hidden layer.

    Raises
    ------
    NetworkError
        A network cannot be read or is no plain stack, or the numbers differ.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 2]], [3]), ([[5]], [0])])
    >>> split = from_arrays([([[1, 2], [2, 4], [7, -7]], [3, 6, 0]), ([[3, 1, 0]], [0])])
    >>> match(net, split)[0].partners
    (0, 0, -1)
    """
    one, two = as_network(first), as_network(second)
    _need_stacks(one, two)
    found = list[Matching]()
    before: NDArray[np.float64] | None = None
    for layer in range(1, one.num_hidden_layers + 1):
        is_fixed = one.last == "relu" and layer == one.depth
        mine = _rows(one, layer)
        theirs = _rows(two, layer)
        if before is not None:
            theirs = np.concatenate([theirs[:, :-1] @ before, theirs[:, -1:]], axis=1)
        if is_fixed:
            break
        partners, scales = _partners(mine, theirs)
        scales = _exact_scales(one, two, layer, partners, scales)
        found.append(Matching(tuple(partners), tuple(scales)))
        before = np.zeros((len(partners), one.widths[layer]))
        for m, (partner, scale) in enumerate(zip(partners, scales, strict=True)):
            if partner >= 0:
                before[m, partner] = as_float(scale)
    return tuple(found)


def align(first: Network, second: Network | None, matching: Sequence[Matching] = ()) -> AlignedPair:
    """Return the layers of two networks, with the neurons of the second one scaled.

    Parameters
    ----------
    first, second
        The networks; the second one may be missing.
    matching
        Partners and scales for each hidden layer; by default each neuron is the partner of its own
        index, so that widths have to be equal.

    Returns
    -------
    AlignedPair
        The layers. A network that ends in a ReLU gets the identity as last layer.

    Raises
    ------
    NetworkError
        A network is no plain stack, or without a matching the widths differ.
    """
    if second is None:
        stack = _stack(first)
        return AlignedPair(stack, None, (None,) * (len(stack) - 1))
    _need_stacks(first, second)
    ours, theirs = _stack(first), _stack(second)
    if not matching or _is_trivial(first, matching):
        if first.widths != second.widths:
            raise NetworkError(
                f"widths {widths_text(first.widths)} and {widths_text(second.widths)}: they need a "
                "matching"
            )
        return AlignedPair(ours, theirs, (None,) * (len(ours) - 1))
    scaled, before = list[ExactLayer](), list[Fraction]()
    for layer, (weight, bias) in enumerate(theirs):
        if before:
            weight = weight.scale_columns(before)
        before = []
        if layer < len(matching):
            before = list(matching[layer].scales)
            inverse = [1 / scale for scale in before]
            weight, bias = weight.scale_rows(inverse), bias.scale_rows(inverse)
        scaled.append((weight, bias))
    partners: list[Partners | None] = [entry.partners for entry in matching]
    partners += [None] * (len(ours) - 1 - len(partners))
    return AlignedPair(ours, tuple(scaled), tuple(partners), tuple(matching))


def _need_stacks(first: Network, second: Network) -> None:
    """Raise an error unless neurons of the networks can be compared layer by layer."""
    for network in (first, second):
        network.architecture  # noqa: B018 - raises for skip connections
    one, two = first.architecture, second.architecture
    for what, place in (("inputs", 0), ("outputs", -1)):
        if one.widths[place] != two.widths[place]:
            raise NetworkError(
                f"the networks have {one.widths[place]} and {two.widths[place]} {what}; give two "
                f"networks with as many {what}"
            )
    ends = [(a.widths[0], a.widths[-1], len(a.widths), a.last) for a in (one, two)]
    if ends[0] != ends[1]:
        raise NetworkError(
            f"the architectures {one} and {two} cannot be compared neuron by neuron: the numbers "
            "of inputs, of outputs and of layers have to be equal; equivalent() and deviation() "
            "ask for equal numbers of inputs and outputs only"
        )


def _stack(network: Network) -> Stack:
    """Return the layers of a plain stack; a network that ends in a ReLU ends in the identity."""
    network.architecture  # noqa: B018 - raises for skip connections
    layers = [(layer.weight, layer.bias) for layer in network.layers]
    if network.last == "relu":
        size = network.num_outputs
        layers.append((RationalMatrix.identity(size), RationalMatrix.zeros(size, 1)))
    return tuple(layers)


def _rows(network: Network, layer: int) -> NDArray[np.float64]:
    """Return weights and biases of a layer in floats, a row for each neuron."""
    found: NDArray[np.float64] = np.concatenate(
        [network.weight(layer).to_floats(), network.bias(layer).to_floats()], axis=1
    )
    return found


def _partners(
    mine: NDArray[np.float64], theirs: NDArray[np.float64]
) -> tuple[list[int], list[Fraction]]:
    """Return the partner of each row of `theirs` in `mine`, and their scales.

    Scales are powers of two where these are close, and otherwise have as many bits as the
    similarity of the rows is worth: exact matrices over many long scales would have very long
    denominators. Pairs are made in the order of their cosines, a
    partner for each at first. Rows that are left over get the most similar partner, although it has
    one already.
    """
    (units, lengths, exponents), (other_units, other_lengths, other_exponents) = map(
        _units, (mine, theirs)
    )
    found = _assigned(np.round(other_units @ units.T, 9))
    scales = []
    for m, partner in enumerate(found):
        has_size = partner >= 0 and lengths[partner] > 0
        ratio = other_lengths[m] / lengths[partner] if has_size else 1.0
        power = other_exponents[m] - exponents[partner] if has_size else 0
        distance = float(np.linalg.norm(other_units[m] - units[partner])) if has_size else 0.0
        scales.append(_scale(float(np.ldexp(ratio, power)), distance))
    return found, scales


def _units(
    rows: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int32]]:
    """Return rows divided by their lengths, and the lengths over and the exponents of 2^k.

    These powers of two are near the entries, so that no square of them overflows.
    """
    _, exponents = np.frexp(np.abs(rows).max(axis=1, initial=0))
    near = np.ldexp(rows, -exponents[:, None])
    lengths = np.asarray(np.linalg.norm(near, axis=1), dtype=np.float64)
    return near / np.where(lengths > 0, lengths, 1)[:, None], lengths, exponents


def _scale(ratio: float, distance: float) -> Fraction:
    """Return a power of two if it is close to a ratio of lengths, otherwise the ratio, rounded.

    What is rounded off is a small part of the distance of both rows, divided by their lengths.
    """
    if not 2.0**-_SCALE_BITS < ratio < 2.0**_SCALE_BITS:
        return Fraction(1)
    power = Fraction(2) ** round(math.log2(ratio))
    if abs(ratio / float(power) - 1) < _NEAR_POWER:
        return power
    bits = min(53, 4 - math.frexp(max(distance, 2.0**-53))[1])
    return power * Fraction(round(ratio / float(power) * 2**bits), 2**bits)


def _assigned(cosines: NDArray[np.float64]) -> list[int]:
    """Return for each row a column with a large entry, each column once where possible."""
    num_rows, num_columns = cosines.shape
    found = [-1] * num_rows
    same = np.arange(num_rows)[:, None] == np.arange(num_columns)
    order = np.lexsort((~same.ravel(), -cosines.ravel()))
    taken = set[int]()
    for place in order.tolist():
        row, column = divmod(place, num_columns)
        if cosines[row, column] < _LEAST_COSINE or len(taken) == min(num_rows, num_columns):
            break
        if found[row] < 0 and column not in taken:
            found[row] = column
            taken.add(column)
    for row, partner in enumerate(found):
        if partner < 0 and num_columns:
            best = int(cosines[row].argmax())
            found[row] = best if cosines[row, best] >= _LEAST_COSINE else -1
    return found


def _exact_scales(
    one: Network, two: Network, layer: int, partners: list[int], scales: list[Fraction]
) -> list[Fraction]:
    """Return scales that make rows of the first layer equal, where some do; others as given."""
    if layer > 1:
        return scales
    found = []
    mine, theirs = (net.weight(1).beside(net.bias(1)) for net in (one, two))
    for m, (partner, scale) in enumerate(zip(partners, scales, strict=True)):
        exact = None
        if partner >= 0:
            exact = _ratio(theirs.row(m), mine.row(partner))
        found.append(scale if exact is None else exact)
    return found


def _ratio(row: Sequence[Fraction], other: Sequence[Fraction]) -> Fraction | None:
    """Return λ > 0 with row = λ · other, if there is a short one."""
    ratio = next((a / b for a, b in zip(row, other, strict=True) if b), None)
    if (
        ratio is None
        or ratio <= 0
        or max(ratio.numerator, ratio.denominator).bit_length() > _SCALE_BITS
    ):
        return None
    return ratio if all(a == ratio * b for a, b in zip(row, other, strict=True)) else None


def _is_trivial(network: Network, matching: Sequence[Matching]) -> bool:
    """Whether every neuron has the partner of its own index and the scale 1."""
    return all(
        entry.partners == tuple(range(width)) and set(entry.scales) <= {1}
        for entry, width in zip(matching, network.widths[1:], strict=False)
    )
