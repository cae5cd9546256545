"""Neurons that are linear on a domain, with proofs that their preactivations are nonnegative there.

The proofs cover every set of training points in the domain (`conserved`). What is listed is proved,
and what is not listed is not refuted: beyond the first layer a bound may fall short of the truth,
while the list of the first layer is complete. `LinearEvidence.verify` repeats the proofs in plain
fractions and shares no code with the search.

Layer by layer every preactivation is bounded from below and above by exact numbers. A neuron whose
layer reads the inputs is an affine form, and a linear program over the domain bounds it. For a
later layer the activations of the layers before it are replaced, the latest first, by

    s·z ≤ max(z, 0)   and   max(z, 0) ≤ s·z + max(-s·l, (1 - s)·u)   for l ≤ z ≤ u, s in [0, 1].

An affine form below the preactivation is left, and a linear program bounds it. A neuron that is
known to be linear (dead) has s = 1 (s = 0) on both sides. Nothing is lost there, and its other end
need not be known. See docs/theory/conserved.md, "Linear neurons, proved".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from polyrelu.errors import DomainError, NetworkError
from polyrelu.exact import (
    Infeasible,
    LinearProgram,
    Optimal,
    Polyhedron,
    RationalMatrix,
    format_rational,
)
from polyrelu.exact.form_bounds import FormBounds, RelaxationSlopes, relaxation_slopes, rounded_down
from polyrelu.formats.arguments import DomainLike, NetworkLike, as_domain, as_network
from polyrelu.network import Network, NeuronId
from polyrelu.support.display import bracketed

__all__ = ["BoundProof", "LinearEvidence", "linear_evidence", "linear_neurons"]

#: The slopes of the activations of all earlier layers, by layer and index.
SlopesByLayer = tuple[tuple[RelaxationSlopes, ...], ...]

#: Number of significant bits of the bounds that later layers use.
_SIGNIFICANT_BITS = 24


def linear_neurons(network: NetworkLike, layer: int, domain: DomainLike = None) -> tuple[int, ...]:
    """Return the neurons of a hidden layer that are proved to be linear on a domain.

    A neuron is linear on the domain if its preactivation is nonnegative at all points of it.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes; a plain stack.
    layer
        Number of the hidden layer, from 1.
    domain
        A nonempty polyhedron in R^{n_0}, or text like "box:-1,1"; R^{n_0} by default.

    Returns
    -------
    tuple of int
        Indices of the neurons. Neurons that are not listed may be linear, too, except in layer 1.
        `linear_evidence` gives the proofs.

    Raises
    ------
    NetworkError
        There is no hidden layer of this number, or connections skip layers.
    DomainError
        The domain is empty or lies in another space.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> first, second = ([[1, 1], [1, -1]], [0, 1]), ([[1, -1], [3, 1]], [2, -2])
    >>> net = from_arrays([first, second, ([[1, 1]], [0])])
    >>> linear_neurons(net, 1), linear_neurons(net, 1, Polyhedron.orthant(2))
    ((), (0,))
    >>> linear_neurons(net, 2, Polyhedron.box([0, 0], [1, 1]))
    (0,)
    """
    return linear_evidence(network, layer, domain).neurons


@dataclass(frozen=True, slots=True, repr=False)
class BoundProof:
    """A proof of sign · z ≥ value on a domain, for the preactivation z of a neuron.

    Attributes
    ----------
    neuron
        The neuron.
    sign
        1 for a lower bound of z, -1 for an upper bound.
    value
        The bound of sign · z.
    slopes
        The slopes of the activations of all earlier layers, by layer and index.
    multipliers
        Multipliers of the domain's inequalities and then of its equations, by number; nonnegative
        for inequalities. They show that the affine form left by the slopes is at least `value`.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 1]], [1]), ([[1]], [0])])
    >>> (proof,) = linear_evidence(net, 1, Polyhedron.orthant(2)).proofs
    >>> proof.value, dict(proof.multipliers)
    (Fraction(1, 1), {0: Fraction(1, 1), 1: Fraction(1, 1)})
    """

    neuron: NeuronId
    sign: int
    value: Fraction
    slopes: SlopesByLayer
    multipliers: Mapping[int, Fraction]

    def __str__(self) -> str:
        sign = "≥" if self.sign > 0 else "≤"
        bound = format_rational(self.sign * self.value)
        return f"z {sign} {bound} for neuron {self.neuron.index} of layer {self.neuron.layer}"

    def __repr__(self) -> str:
        return bracketed(f"BoundProof, {self}")


@dataclass(frozen=True, slots=True, repr=False)
class LinearEvidence:
    """The linear neurons of a layer on a domain, with proofs.

    Attributes
    ----------
    network
        The network, a plain stack.
    layer
        Number of the layer, from 1.
    domain
        The domain.
    margins
        For each linear neuron the lower bound that was proved, z ≥ margin ≥ 0. Where it is 0, z may
        vanish at some points; where it is positive and the domain is bounded, z stays positive
        under every small change of the weights.
    proofs
        Proofs of the bounds, in an order in which each uses earlier ones only.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 1], [1, -1]], [1, 0]), ([[1, 1]], [0])])
    >>> found = linear_evidence(net, 1, Polyhedron.orthant(2))
    >>> found.neurons, dict(found.margins), found.verify()
    ((0,), {0: Fraction(1, 1)}, True)
    """

    network: Network
    layer: int
    domain: Polyhedron
    margins: Mapping[int, Fraction]
    proofs: tuple[BoundProof, ...]

    @property
    def neurons(self) -> tuple[int, ...]:
        """The indices of the linear neurons."""
        return tuple(sorted(self.margins))

    def __repr__(self) -> str:
        names = " ".join(map(str, self.neurons)) or "none"
        of_all = f"{len(self.margins)} of {self.network.widths[self.layer]} neurons of layer"
        return bracketed(f"LinearEvidence, {of_all} {self.layer} are linear: {names}")

    def verify(self) -> bool:
        """Return whether the proofs prove the margins, recomputed in plain fractions.

        >>> from polyrelu.network import from_arrays
        >>> first, second = ([[1, 1], [1, -1]], [0, 1]), ([[1, -1], [3, 1]], [2, -2])
        >>> net = from_arrays([first, second, ([[1, 1]], [0])])
        >>> found = linear_evidence(net, 2, Polyhedron.box([0, 0], [1, 1]))
        >>> dict(found.margins), len(found.proofs), found.verify()
        ({0: Fraction(1, 1)}, 5, True)
        """
        known: dict[tuple[NeuronId, int], Fraction] = {}
        weights = [layer.augmented().rows() for layer in self.network.layers[: self.layer]]
        for proof in self.proofs:
            if not _proves(proof, weights, self.domain, known):
                return False
            known[proof.neuron, proof.sign] = proof.value
        lower = {index: known.get((NeuronId(self.layer, index), 1)) for index in self.margins}
        return all(lower[index] == margin >= 0 for index, margin in self.margins.items())


def linear_evidence(network: NetworkLike, layer: int, domain: DomainLike = None) -> LinearEvidence:
    """Prove which neurons of a hidden layer are linear on a domain.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes; a plain stack.
    layer
        Number of the hidden layer, from 1.
    domain
        A nonempty polyhedron in R^{n_0}, or text like "box:-1,1"; R^{n_0} by default.

    Returns
    -------
    LinearEvidence
        The neurons of `linear_neurons`, their margins, and proofs of the margins and of all bounds
        of earlier neurons that they use.

    Raises
    ------
    NetworkError
        There is no hidden layer of this number, or connections skip layers.
    DomainError
        The domain is empty or lies in another space.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 1], [0, 0]], [1, 3]), ([[1, 1]], [0])])
    >>> dict(linear_evidence(net, 1).margins)
    {1: Fraction(3, 1)}
    >>> dict(linear_evidence(net, 1, Polyhedron.orthant(2)).margins)
    {0: Fraction(1, 1), 1: Fraction(3, 1)}
    """
    network = as_network(network)
    check_layer(network, layer)
    chosen = as_domain(domain, network.num_inputs)
    inside = chosen.relative_interior_point()
    if inside is None:
        raise DomainError("the domain is empty, so there is nothing to prove on it")
    search = _BoundSearch(network, chosen)
    for number in range(1, layer):
        search.bound_both_sides(number)
    margins = {}
    # neurons that are negative at a point of the domain are not linear
    possible = np.flatnonzero(network.preactivations([inside])[layer - 1].signs()[:, 0] >= 0)
    for proof in search.bounds(layer, 1, possible.tolist()):
        if proof.value >= 0:
            margins[proof.neuron.index] = proof.value
            search.proofs.append(proof)
    return LinearEvidence(network, layer, chosen, margins, tuple(search.proofs))


def check_layer(network: Network, layer: int) -> None:
    """Raise `NetworkError` unless a plain stack with such a hidden layer is given."""
    network.require_plain()
    if type(layer) is not int or not 1 <= layer <= network.num_hidden_layers:
        raise NetworkError(
            f"there is no hidden layer {layer}; the network has {network.num_hidden_layers}, from 1"
        )


# -- the search ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _RelaxedLayer:
    """Affine bounds of a layer's activations.

    Attributes
    ----------
    slopes
        The slopes of the lower and upper bounds.
    offsets
        The distances of the upper bounds above slope · z; None if the activation has no upper
        bound.
    """

    slopes: tuple[RelaxationSlopes, ...]
    offsets: tuple[Fraction | None, ...]

    @property
    def is_unbounded(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Whether each activation has no upper bound, shape (n_ℓ,)."""
        return np.array([offset is None for offset in self.offsets], dtype=bool)


class _BoundSearch:
    """Bounds of one layer after the other."""

    def __init__(self, network: Network, domain: Polyhedron) -> None:
        self._network, self._minimum = network, _MinimumOverDomain(domain)
        # for each layer, with chosen slopes and with lower slopes 0
        self._layers: list[tuple[_RelaxedLayer, _RelaxedLayer]] = []
        self.proofs: list[BoundProof] = []

    def bound_both_sides(self, number: int) -> None:
        """Bound the neurons of a layer on both sides and choose the slopes of their activations."""
        neurons = range(self._network.widths[number])
        ends: list[list[Fraction | None]] = [[None, None] for _ in neurons]
        for side, sign in enumerate((1, -1)):
            for proof in self.bounds(number, sign, neurons):
                short = replace(proof, value=rounded_down(proof.value, _SIGNIFICANT_BITS))
                ends[proof.neuron.index][side] = sign * short.value
                self.proofs.append(short)
        bounds = [FormBounds(*pair) for pair in ends]
        self._layers.append((_relaxed_layer(bounds, False), _relaxed_layer(bounds, True)))

    def bounds(self, number: int, sign: int, neurons: Sequence[int]) -> Iterator[BoundProof]:
        """Yield the better of two bounds of sign · z for each of some neurons of a layer.

        One bound uses the chosen slopes of earlier layers, the other one lower slopes 0 where
        possible.
        """
        best: dict[int, BoundProof] = {}
        for flat in (False, True) if number > 1 else (False,):
            below = [pair[flat] for pair in self._layers]
            slopes = tuple(relaxed.slopes for relaxed in below)
            for index, row in self._affine_forms(number, sign, below, neurons):
                found = self._minimum.of_form(row)
                if found is not None and (index not in best or found[0] > best[index].value):
                    best[index] = BoundProof(
                        NeuronId(number, index), sign, found[0], slopes, found[1]
                    )
        yield from (best[index] for index in sorted(best))

    def _affine_forms(
        self, number: int, sign: int, below: Sequence[_RelaxedLayer], neurons: Sequence[int]
    ) -> Iterator[tuple[int, tuple[Fraction, ...]]]:
        """Yield neurons with affine forms (coefficients, then the constant) below sign · z.

        Neurons without such a form are left out.
        """
        layer = self._network.layers[number - 1]
        rows = layer.weight.take(rows=neurons).scale(sign)
        constants = layer.bias.take(rows=neurons).scale(sign)
        lost = np.zeros(len(neurons), dtype=bool)
        for earlier in range(number - 1, 0, -1):
            relaxed = below[earlier - 1]
            positive = rows.relu()
            negative = rows - positive
            lost |= (negative.signs()[:, relaxed.is_unbounded] < 0).any(axis=1)
            constants = constants + negative @ RationalMatrix.column(
                [offset or 0 for offset in relaxed.offsets]
            )
            lower, upper = zip(*relaxed.slopes, strict=True)
            rows = positive.scale_columns(lower) + negative.scale_columns(upper)
            constants = constants + rows @ self._network.bias(earlier)
            rows = rows @ self._network.weight(earlier)
        for index, row, without_bound in zip(
            neurons, rows.beside(constants).rows(), lost, strict=True
        ):
            if not without_bound:
                yield index, row


def _relaxed_layer(bounds: Sequence[FormBounds], flat: bool) -> _RelaxedLayer:
    """Return bounds of activations from bounds of preactivations.

    With `flat`, lower slopes are 0 where this is possible.
    """
    slopes = [relaxation_slopes(bound, flat) for bound in bounds]
    offsets = [_offset(bound, slope.upper) for bound, slope in zip(bounds, slopes, strict=True)]
    return _RelaxedLayer(tuple(slopes), tuple(offsets))


def _offset(bound: FormBounds, slope: Fraction) -> Fraction | None:
    """Return the least number known to be at least max(z, 0) - slope · z, or None.

    The slope is 0 where z has no lower bound.
    """
    lower, upper = bound
    if slope < 1 and upper is None:
        return None
    return max(-slope * (lower or 0), (1 - slope) * (upper or 0), Fraction(0))


class _MinimumOverDomain:
    """The minimum of affine forms over a nonempty domain, with multipliers that prove it."""

    def __init__(self, domain: Polyhedron) -> None:
        self._domain, self._program = domain, None if _is_box(domain) else domain.program()
        self._sides = _tightest_sides(domain) if self._program is None else {}

    def of_form(self, row: Sequence[Fraction]) -> tuple[Fraction, Mapping[int, Fraction]] | None:
        """Return the minimum of a form and its multipliers, or None if it is unbounded.

        The form is given by its coefficients, then the constant.
        """
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
    """Return whether each constraint of a domain bounds one coordinate."""
    return not domain.equations and all(
        sum(map(bool, row[:-1])) == 1 for row in domain.inequalities
    )


def _tightest_sides(domain: Polyhedron) -> dict[tuple[int, bool], int]:
    """Return the numbers of the inequalities that bound each coordinate of a box most tightly.

    The lower side of coordinate j is at (j, False), the upper side at (j, True).
    """
    found: dict[tuple[int, bool], int] = {}
    for number, row in enumerate(domain.inequalities):
        j = next(j for j, entry in enumerate(row[:-1]) if entry)
        known = domain.inequalities[found.setdefault((j, row[j] > 0), number)]
        if row[-1] * abs(known[j]) < known[-1] * abs(row[j]):
            found[j, row[j] > 0] = number
    return found


# -- the check -----------------------------------------------------------------------------------


def _proves(
    proof: BoundProof,
    weights: Sequence[Sequence[Sequence[Fraction]]],
    domain: Polyhedron,
    known: Mapping[tuple[NeuronId, int], Fraction],
) -> bool:
    """Return whether a proof proves its bound, given bounds that are known."""
    form = _affine_form_below(proof, weights, known)
    if form is None or abs(proof.sign) != 1:
        return False
    rows = (*domain.inequalities, *domain.equations)
    for number, factor in proof.multipliers.items():
        if not 0 <= number < len(rows) or (factor < 0 and number < len(domain.inequalities)):
            return False
        # on the domain, form + factor · (a·x - c) is at most the form
        form = [
            entry + factor * a
            for entry, a in zip(form, (*rows[number][:-1], -rows[number][-1]), strict=True)
        ]
    return not any(form[:-1]) and form[-1] >= proof.value


def _affine_form_below(
    proof: BoundProof,
    weights: Sequence[Sequence[Sequence[Fraction]]],
    known: Mapping[tuple[NeuronId, int], Fraction],
) -> list[Fraction] | None:
    """Return the affine form that a proof's slopes leave, or None if they need an unknown bound."""
    form = [proof.sign * entry for entry in weights[proof.neuron.layer - 1][proof.neuron.index]]
    for layer in range(proof.neuron.layer - 1, 0, -1):
        replaced = [Fraction()] * (len(weights[layer - 1][0]) - 1) + [form[-1]]
        for index, factor in enumerate(form[:-1]):
            slopes = proof.slopes[layer - 1][index]
            slope = slopes.lower if factor > 0 else slopes.upper
            if not 0 <= slope <= 1:
                return None
            if factor < 0:
                offset = _known_offset(NeuronId(layer, index), slope, known)
                if offset is None:
                    return None
                replaced[-1] += factor * offset
            for j, weight in enumerate(weights[layer - 1][index]):
                replaced[j] += factor * slope * weight
        form = replaced
    return form


def _known_offset(
    neuron: NeuronId, slope: Fraction, known: Mapping[tuple[NeuronId, int], Fraction]
) -> Fraction | None:
    """Return max(-slope·l, (1 - slope)·u, 0); a bound that is multiplied by 0 need not be known."""
    offset = Fraction()
    for factor, sign in ((slope, 1), (1 - slope, -1)):
        if factor and (neuron, sign) not in known:
            return None
        if factor:  # known: z ≥ l for sign 1, -z ≥ -u for sign -1
            offset = max(offset, -factor * known[neuron, sign])
    return offset
