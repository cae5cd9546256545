"""Neurons that are linear on a domain: their preactivation is nonnegative at every point of it, with proof.

Layer by layer every preactivation is bounded from below and above, by exact numbers. A neuron whose layer reads the
inputs is an affine form, and a linear program over the domain bounds it. In a later layer the activations of the layers
before are replaced, the latest first, by the sides that `relaxation` explains:

    s·z ≤ max(z, 0)   and   max(z, 0) ≤ s·z + max(-s·l, (1 - s)·u)   for l ≤ z ≤ u and any s in [0, 1];

what is left is an affine form below the preactivation, and a linear program bounds it. A neuron that is known to be
linear (dead) has s = 1 (s = 0) on both sides, so nothing is lost there, and nothing need be known about its other end.

What is listed is proved. What is not listed is not refuted: beyond the first layer the bound may fall short of the
truth. For the first layer it is the exact minimum, so there the list is complete.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from polyrelu.errors import DomainError, NetworkError
from polyrelu.exact import Infeasible, LinearProgram, Optimal, Polyhedron, RationalMatrix
from polyrelu.exact.form_bounds import FormBounds, RelaxationSlopes
from polyrelu.network import Network, NeuronId

__all__ = ["BoundProof", "LinearEvidence", "linear_evidence", "linear_neurons"]

#: The slopes of the layers below a neuron, by layer and index.
Relaxation = tuple[tuple[RelaxationSlopes, ...], ...]

_SHORT = 24  # significant bits of the bounds that later layers use
_STEPS = 16  # slopes are multiples of 1/16


def linear_neurons(
    network: Network, layer: int, domain: Polyhedron | None = None
) -> tuple[int, ...]:
    """The neurons of hidden layer `layer` (from 1) that are proved to be linear on a domain: z ≥ 0 at all its points.

    Parameters
    ----------
    network : a plain stack.
    domain : a polyhedron in R^{n_0} that is not empty; R^{n_0} if it is not given.

    Returns
    -------
    their indices. Neurons that are not listed may be linear all the same, except in layer 1. `linear_evidence` gives
    the proofs.

    Raises
    ------
    NetworkError : connections that skip layers, or no hidden layer of that number.
    DomainError : an empty domain, or one in another space.

    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 1], [1, -1]], [0, 1]), ([[1, -1], [3, 1]], [2, -2]), ([[1, 1]], [0])])
    >>> linear_neurons(net, 1), linear_neurons(net, 1, Polyhedron.orthant(2))
    ((), (0,))
    >>> linear_neurons(net, 2, Polyhedron.box([0, 0], [1, 1]))  # z = x + y - max(x - y + 1, 0) + 2 and another
    (0,)
    """
    return linear_evidence(network, layer, domain).neurons


@dataclass(frozen=True, slots=True)
class BoundProof:
    """sign · z ≥ value on the domain, for the preactivation z of a neuron.

    Attributes
    ----------
    slopes : those of the activations of the layers before; shared by many proofs.
    multipliers : of the domain's inequalities and then equations (≥ 0 on inequalities): added up they show that the
        affine form left by the slopes is at least `value`.
    """

    neuron: NeuronId
    sign: int
    value: Fraction
    slopes: Relaxation
    multipliers: Mapping[int, Fraction]


@dataclass(frozen=True, slots=True)
class LinearEvidence:
    """Which neurons of a layer are linear on a domain, and why.

    Attributes
    ----------
    margins : for each linear neuron the lower bound that was proved, z ≥ margin ≥ 0. Where it is 0, z may vanish at
        some points; where it is positive, z stays positive under every small change of the weights, if the domain is
        bounded.
    proofs : in an order in which each uses earlier ones only.
    """

    network: Network
    layer: int
    domain: Polyhedron
    margins: Mapping[int, Fraction]
    proofs: tuple[BoundProof, ...]

    @property
    def neurons(self) -> tuple[int, ...]:
        """The linear neurons."""
        return tuple(sorted(self.margins))

    def verify(self) -> bool:
        """Whether the proofs prove the margins, recomputed in plain fractions, one weight at a time.

        >>> from polyrelu.network import from_arrays
        >>> net = from_arrays([([[1, 1], [1, -1]], [0, 1]), ([[1, -1], [3, 1]], [2, -2]), ([[1, 1]], [0])])
        >>> found = linear_evidence(net, 2, Polyhedron.box([0, 0], [1, 1]))
        >>> dict(found.margins), len(found.proofs), found.verify()
        ({0: Fraction(1, 1)}, 5, True)
        """
        known: dict[tuple[NeuronId, int], Fraction] = {}
        weights = [layer.augmented().rows() for layer in self.network.layers[: self.layer]]
        for proof in self.proofs:
            if not _holds(proof, weights, self.domain, known):
                return False
            known[proof.neuron, proof.sign] = proof.value
        lower = {index: known.get((NeuronId(self.layer, index), 1)) for index in self.margins}
        return all(lower[index] == margin >= 0 for index, margin in self.margins.items())


def linear_evidence(
    network: Network, layer: int, domain: Polyhedron | None = None
) -> LinearEvidence:
    """The neurons of `linear_neurons`, their margins, and the bounds of all earlier neurons that prove them.

    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 1], [0, 0]], [1, 3]), ([[1, 1]], [0])])
    >>> dict(linear_evidence(net, 1).margins), dict(linear_evidence(net, 1, Polyhedron.orthant(2)).margins)
    ({1: Fraction(3, 1)}, {0: Fraction(1, 1), 1: Fraction(3, 1)})
    """
    check_layer(network, layer)
    chosen = Polyhedron.universe(network.inputs) if domain is None else domain
    if chosen.ambient_dimension != network.inputs:
        raise DomainError(
            f"the domain lies in R^{chosen.ambient_dimension}, the network has {network.inputs} inputs"
        )
    inside = chosen.relative_interior_point()
    if inside is None:
        raise DomainError("the domain is empty, so there is nothing to prove on it")
    search = _Search(network, chosen)
    for number in range(1, layer):
        search.bound_both_sides(number)
    margins = {}
    possible = np.flatnonzero(
        network.preactivations([inside])[layer - 1].signs()[:, 0] >= 0
    )  # others are not linear
    for proof in search.bounds(layer, 1, possible.tolist()):
        if proof.value >= 0:
            margins[proof.neuron.index] = proof.value
            search.proofs.append(proof)
    return LinearEvidence(network, layer, chosen, margins, tuple(search.proofs))


def check_layer(network: Network, layer: int) -> None:
    """Raise `NetworkError` unless the network is a plain stack with a hidden layer of that number."""
    if not network.is_plain:
        raise NetworkError(
            "the network has skip connections; conserved quantities are for plain stacks"
        )
    if type(layer) is not int or not 1 <= layer <= network.hidden_layers:
        raise NetworkError(
            f"there is no hidden layer {layer}; the network has {network.hidden_layers}, from 1"
        )


# -- the search ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Relaxed:
    """The slopes of a layer's activations, and how far their upper sides lie above slope · z."""

    slopes: tuple[RelaxationSlopes, ...]
    offsets: tuple[Fraction | None, ...]  # None: nothing bounds the activation from above

    @property
    def open(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Which activations have no upper side."""
        return np.array([offset is None for offset in self.offsets], dtype=bool)


class _Search:
    """Bounds of one layer after the other."""

    def __init__(self, network: Network, domain: Polyhedron) -> None:
        self._network, self._minimum = network, _Minimum(domain)
        self._layers: list[
            tuple[_Relaxed, _Relaxed]
        ] = []  # with chosen slopes, and with lower slopes that are 0
        self.proofs: list[BoundProof] = []

    def bound_both_sides(self, number: int) -> None:
        """Bound the neurons of a layer and choose the slopes of their activations."""
        ends: list[list[Fraction | None]] = [
            [None, None] for _ in range(self._network.widths[number])
        ]
        for side, sign in enumerate((1, -1)):
            for proof in self.bounds(number, sign, range(self._network.widths[number])):
                short = BoundProof(
                    proof.neuron, sign, _short_below(proof.value), proof.slopes, proof.multipliers
                )
                ends[proof.neuron.index][side] = sign * short.value
                self.proofs.append(short)
        bounds = [FormBounds(*pair) for pair in ends]
        self._layers.append((_relaxed(bounds, False), _relaxed(bounds, True)))

    def bounds(self, number: int, sign: int, neurons: Sequence[int]) -> Iterator[BoundProof]:
        """For each of some neurons of a layer the better bound of sign · z of the two that the kinds of slopes give."""
        best: dict[int, BoundProof] = {}
        for flat in (False, True) if number > 1 else (False,):
            below = [pair[flat] for pair in self._layers]
            slopes = tuple(relaxed.slopes for relaxed in below)
            for index, row in self._affine_forms(number, sign, below, neurons):
                found = self._minimum.of(row)
                if found is not None and (index not in best or found[0] > best[index].value):
                    best[index] = BoundProof(
                        NeuronId(number, index), sign, found[0], slopes, found[1]
                    )
        yield from (best[index] for index in sorted(best))

    def _affine_forms(
        self, number: int, sign: int, below: Sequence[_Relaxed], neurons: Sequence[int]
    ) -> Iterator[tuple[int, tuple[Fraction, ...]]]:
        """Affine forms (coefficients, then the constant) below sign · z, by neuron; none where nothing is below it."""
        layer = self._network.layers[number - 1]
        rows, constants = (
            layer.weight.take(rows=neurons).scale(sign),
            layer.bias.take(rows=neurons).scale(sign),
        )
        lost = np.zeros(len(neurons), dtype=bool)
        for source in range(number - 1, 0, -1):
            relaxed = below[source - 1]
            positive = rows.relu()
            negative = rows - positive
            lost |= (negative.signs()[:, relaxed.open] < 0).any(axis=1)
            constants = constants + negative @ RationalMatrix.column(
                [offset or 0 for offset in relaxed.offsets]
            )
            lower, upper = zip(*relaxed.slopes, strict=True)
            rows = positive.scale_columns(lower) + negative.scale_columns(upper)
            constants = constants + rows @ self._network.bias(source)
            rows = rows @ self._network.weight(source)
        for index, row, without_bound in zip(
            neurons, rows.beside(constants).rows(), lost, strict=True
        ):
            if not without_bound:
                yield index, row


def _relaxed(bounds: Sequence[FormBounds], flat: bool) -> _Relaxed:
    """Slopes for activations with the given bounds; lower slopes are 0 where they may be, if `flat`."""
    slopes = [_slopes(bound, flat) for bound in bounds]
    offsets = [_offset(bound, slope.upper) for bound, slope in zip(bounds, slopes, strict=True)]
    return _Relaxed(tuple(slopes), tuple(offsets))


def _slopes(bound: FormBounds, flat: bool) -> RelaxationSlopes:
    lower, upper = bound
    if lower is not None and lower >= 0:
        return RelaxationSlopes(Fraction(1), Fraction(1))
    if upper is not None and upper <= 0:
        return RelaxationSlopes(Fraction(0), Fraction(0))
    if lower is None:
        return RelaxationSlopes(Fraction(0), Fraction(0))
    if upper is None:
        return RelaxationSlopes(Fraction(not flat), Fraction(1))
    chord = Fraction(round(_STEPS * upper / (upper - lower)), _STEPS)
    return RelaxationSlopes(Fraction(upper > -lower and not flat), chord)


def _offset(bound: FormBounds, slope: Fraction) -> Fraction | None:
    """The least number known to be at least max(z, 0) - slope · z; the slope is 0 where there is no lower bound."""
    lower, upper = bound
    if slope < 1 and upper is None:
        return None
    return max(-slope * (lower or 0), (1 - slope) * (upper or 0), Fraction(0))


def _short_below(value: Fraction) -> Fraction:
    """A number of few bits not above another one, with the same sign."""
    if not value:
        return value
    step = Fraction(2) ** (value.numerator.bit_length() - value.denominator.bit_length() - _SHORT)
    return math.floor(value / step) * step


class _Minimum:
    """The minimum of affine forms over a domain that is not empty, with multipliers that prove it."""

    def __init__(self, domain: Polyhedron) -> None:
        self._domain, self._program = domain, None if _is_box(domain) else domain.program()
        self._sides = _tightest(domain) if self._program is None else {}

    def of(self, row: Sequence[Fraction]) -> tuple[Fraction, Mapping[int, Fraction]] | None:
        """The minimum of a form (coefficients, then the constant), or None if it is unbounded."""
        if self._program is None:
            return self._in_box(row)
        return _by_program(self._program, row)

    def _in_box(self, row: Sequence[Fraction]) -> tuple[Fraction, Mapping[int, Fraction]] | None:
        value, multipliers = row[-1], dict[int, Fraction]()
        for j, entry in enumerate(row[:-1]):
            if not entry:
                continue
            number = self._sides.get((j, entry < 0))
            if number is None:
                return None
            side = self._domain.inequalities[number]
            multipliers[number] = -entry / side[j]
            value -= multipliers[number] * side[-1]
        return value, multipliers


def _by_program(
    program: LinearProgram, row: Sequence[Fraction]
) -> tuple[Fraction, Mapping[int, Fraction]] | None:
    answer = program.minimize(row[:-1])
    if isinstance(answer, Infeasible):
        raise AssertionError("the domain is not empty")
    if not isinstance(answer, Optimal):
        return None
    return answer.value + row[-1], {
        i: entry for i, entry in answer.multipliers.rows.items() if entry
    }


def _is_box(domain: Polyhedron) -> bool:
    """Whether each constraint bounds one coordinate."""
    return not domain.equations and all(
        sum(map(bool, row[:-1])) == 1 for row in domain.inequalities
    )


def _tightest(domain: Polyhedron) -> dict[tuple[int, bool], int]:
    """The inequality of a box that bounds coordinate j from below (j, False) or above (j, True) most tightly."""
    found: dict[tuple[int, bool], int] = {}
    for number, row in enumerate(domain.inequalities):
        j = next(j for j, entry in enumerate(row[:-1]) if entry)
        known = domain.inequalities[found.setdefault((j, row[j] > 0), number)]
        if row[-1] * abs(known[j]) < known[-1] * abs(row[j]):
            found[j, row[j] > 0] = number
    return found


# -- the check ----------------------------------------------------------------------------------------------------


def _holds(
    proof: BoundProof,
    weights: Sequence[Sequence[Sequence[Fraction]]],
    domain: Polyhedron,
    known: Mapping[tuple[NeuronId, int], Fraction],
) -> bool:
    """Whether a proof proves its bound, from bounds that are known."""
    form = _form_below(proof, weights, known)
    if form is None or abs(proof.sign) != 1:
        return False
    rows = (*domain.inequalities, *domain.equations)
    for number, factor in proof.multipliers.items():
        if not 0 <= number < len(rows) or (factor < 0 and number < len(domain.inequalities)):
            return False
        # form + factor · (a·x - c) is at most the form on the domain
        form = [
            entry + factor * a
            for entry, a in zip(form, (*rows[number][:-1], -rows[number][-1]), strict=True)
        ]
    return not any(form[:-1]) and form[-1] >= proof.value


def _form_below(
    proof: BoundProof,
    weights: Sequence[Sequence[Sequence[Fraction]]],
    known: Mapping[tuple[NeuronId, int], Fraction],
) -> list[Fraction] | None:
    """The affine form that a proof's slopes leave; None if they need a bound that is not known."""
    form = [proof.sign * entry for entry in weights[proof.neuron.layer - 1][proof.neuron.index]]
    for source in range(proof.neuron.layer - 1, 0, -1):
        replaced = [Fraction()] * (len(weights[source - 1][0]) - 1) + [form[-1]]
        for index, factor in enumerate(form[:-1]):
            slopes = proof.slopes[source - 1][index]
            slope = slopes.lower if factor > 0 else slopes.upper
            if not 0 <= slope <= 1:
                return None
            if factor < 0:
                offset = _known_offset(NeuronId(source, index), slope, known)
                if offset is None:
                    return None
                replaced[-1] += factor * offset
            for j, weight in enumerate(weights[source - 1][index]):
                replaced[j] += factor * slope * weight
        form = replaced
    return form


def _known_offset(
    neuron: NeuronId, slope: Fraction, known: Mapping[tuple[NeuronId, int], Fraction]
) -> Fraction | None:
    """max(-slope·l, (1 - slope)·u, 0), where what is multiplied with 0 need not be known."""
    offset = Fraction()
    for factor, sign in ((slope, 1), (1 - slope, -1)):
        if factor and (neuron, sign) not in known:
            return None
        if factor:  # known: z ≥ l for sign 1, -z ≥ -u for sign -1
            offset = max(offset, -factor * known[neuron, sign])
    return offset
