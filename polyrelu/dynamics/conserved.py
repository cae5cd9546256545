"""Quantities that training by gradient flow conserves, for a given network.

This is Theorem 6 of the three-layer paper, with exact derivatives along the flow and exact drifts
of gradient descent. Every statement here assumes that the parameters are all entries of the weights
and biases, each by itself: shared weights (convolutions), frozen biases, weight decay and momentum
change it. The proofs are in docs/theory/conserved.md.

For a hidden layer ℓ of a plain stack let V = [W[ℓ] | b[ℓ]], U = W[ℓ+1], and

    Q = Uᵀ U - V Vᵀ,   a symmetric matrix with a row and a column for each neuron of the layer.

**Theorem.** Along the flow θ' = -∇Loss(θ), for any differentiable loss of the outputs at any finite
set of points, and as long as no preactivation vanishes at them, the entry Q_ij is constant while
the neurons i and j are active at the same points. There are three cases:

* i = j: every diagonal entry, whether the neuron is linear or not. This is the conserved quantity
  of rescaling.
* Both neurons are linear, so they are active at all points: the matrix of Theorem 6, with r (r + 1)
  / 2 numbers for r linear neurons. A proof that neurons are linear on a domain (`linear_neurons`)
  covers every set of points in it.
* Other groups of neurons with one activation pattern (`equal_patterns`), which the paper does not
  mention.

One step of gradient descent with step size η changes these entries by η² times a matrix that is
computed here, too (`drift_of_step`), so over a fixed time they drift by O(η).

Source: three-layer paper, Theorem 6 and Propositions 35 and 36, arXiv 2605.18319. The group law for
equal patterns and the exact drift are this project's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from polyrelu.dynamics.linear_neurons import LinearEvidence, check_layer, linear_evidence
from polyrelu.errors import ArgumentError, NetworkError
from polyrelu.exact import Rational, RationalMatrix, format_rational, to_fraction
from polyrelu.formats.arguments import DomainLike, NetworkLike, as_network
from polyrelu.network import Network
from polyrelu.support.arguments import expect_indices
from polyrelu.support.display import bracketed
from polyrelu.support.typing import Vector

__all__ = [
    "ConservedLayer",
    "conserved_matrix",
    "conserved_quantities",
    "derivative_along_flow",
    "drift_of_step",
    "equal_patterns",
    "loss_gradients",
]

#: Points x, shape (p, n_0), or derivatives of the loss in the outputs there, shape (p, n_L).
Vectors = Sequence[Sequence[Rational]]


@dataclass(frozen=True, slots=True, repr=False)
class ConservedLayer:
    """The conserved quantities of gradient flow in one hidden layer.

    Attributes
    ----------
    layer
        Number of the layer, from 1.
    evidence
        The neurons that are linear on the domain, with proofs.
    matrix
        Q of the linear neurons, shape (r, r), in the order of `neurons`. It is constant for
        training points in the domain as long as these neurons are positive at them. They are
        positive where the margin is positive; where the margin is 0, points at which the neuron
        vanishes are excluded.
    diagonal
        The entries Q_ii of all neurons of the layer, constant for any training points.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 2], [1, 0]], [1, 1]), ([[1, 3]], [5])])
    >>> (found,) = conserved_quantities(net, "orthant")
    >>> found
    <ConservedLayer, layer 1 of 2 neurons, of which 2 are linear, 3 quantities>
    >>> found.layer, found.neurons, found.diagonal
    (1, (0, 1), (Fraction(-5, 1), Fraction(7, 1)))
    """

    layer: int
    evidence: LinearEvidence
    matrix: RationalMatrix
    diagonal: tuple[Fraction, ...]

    @property
    def neurons(self) -> tuple[int, ...]:
        """The indices of the linear neurons."""
        return self.evidence.neurons

    def __repr__(self) -> str:
        size, linear = len(self.diagonal), len(self.neurons)
        count = size + linear * (linear - 1) // 2
        layer = f"layer {self.layer} of {size} neurons, of which {linear} are linear"
        return bracketed(f"ConservedLayer, {layer}, {count} quantities")

    def _repr_latex_(self) -> str:
        names = ", ".join(map(str, self.neurons))
        entries = r" \\ ".join(" & ".join(map(_latex, row)) for row in self.matrix.rows())
        diagonal = ", ".join(map(_latex, self.diagonal))
        matrix = rf"Q_{{({names})}} = \begin{{pmatrix}} {entries} \end{{pmatrix}}, \quad "
        return rf"${matrix if names else ''}\operatorname{{diag}} Q = ({diagonal})$"


def conserved_matrix(network: NetworkLike, layer: int, neurons: Sequence[int]) -> RationalMatrix:
    """Return Q = Uᵀ U - V Vᵀ of some neurons of a hidden layer.

    U has their outgoing weights as columns, V their rows [w | b].

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes; a plain stack.
    layer
        Number of the layer, from 1; an affine layer with weights must follow it.
    neurons
        Distinct indices. Q exists for all neurons; it is constant for linear neurons and for
        neurons that are active at the same training points.

    Returns
    -------
    RationalMatrix
        Q, shape (len(neurons), len(neurons)).

    Raises
    ------
    NetworkError
        There is no such layer or neuron, or connections skip layers.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 2], [0, "1/2"]], [1, 0]), ([[1, 3]], [5])])
    >>> print(conserved_matrix(net, 1, [0, 1]))
    [-5 2]
    [2 35/4]
    """
    network = as_network(network)
    neurons = _checked_neurons(network, layer, neurons)
    rows = network.layers[layer - 1].augmented().take(rows=neurons)
    columns = network.weight(layer + 1).take(columns=neurons)
    return columns.transpose() @ columns - rows @ rows.transpose()


def conserved_quantities(
    network: NetworkLike, domain: DomainLike = None
) -> tuple[ConservedLayer, ...]:
    """Compute what gradient flow conserves in each hidden layer, for training points in a domain.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes; a plain stack.
    domain
        A polyhedron that contains the training points, or text like "box:-1,1"; R^{n_0} by
        default.

    Returns
    -------
    tuple of ConservedLayer
        One entry for each hidden layer that another layer of weights follows.

    Raises
    ------
    NetworkError
        Connections skip layers.
    DomainError
        The domain is empty or lies in another space.

    Notes
    -----
    Source: three-layer paper, Theorem 6, arXiv 2605.18319.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 2], [1, 0], [1, -1]], [1, 1, 0]), ([[1, 3, 1]], [5])])
    >>> (found,) = conserved_quantities(net, "orthant")
    >>> found.neurons, found.diagonal
    ((0, 1), (Fraction(-5, 1), Fraction(7, 1), Fraction(-1, 1)))
    >>> print(found.matrix)
    [-5 1]
    [1 7]
    """
    network = as_network(network)
    found = []
    for layer in range(1, min(network.num_hidden_layers, network.depth - 1) + 1):
        evidence = linear_evidence(network, layer, domain)
        full = conserved_matrix(network, layer, range(network.widths[layer]))
        matrix = full.take(rows=evidence.neurons, columns=evidence.neurons)
        diagonal = tuple(full[i, i] for i in range(full.nrows))
        found.append(ConservedLayer(layer, evidence, matrix, diagonal))
    return tuple(found)


def equal_patterns(
    network: NetworkLike, layer: int, points: Vectors
) -> tuple[tuple[int, ...], ...]:
    """Group the neurons of a hidden layer by the points at which they are active (z > 0).

    Q_ij is constant under gradient flow on these points for i and j in one group, as long as the
    groups stay the same.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes; a plain stack.
    layer
        Number of the hidden layer, from 1.
    points
        Training points, shape (p, n_0).

    Returns
    -------
    tuple of tuple of int
        The groups of neuron indices, in the order of their first neurons.

    Raises
    ------
    NetworkError
        There is no such hidden layer, or connections skip layers.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [1], [2], [-1]], [0, -2, -1, 0]), ([[1, 1, 1, 1]], [0])])
    >>> equal_patterns(net, 1, [[1], [-1]])
    ((0, 2), (1,), (3,))
    """
    network = as_network(network)
    check_layer(network, layer)
    inputs = _exact_rows(points, network.num_inputs, "points", "a point needs {} coordinates")
    active = network.preactivations(inputs)[layer - 1].signs() > 0
    groups: dict[bytes, list[int]] = {}
    for index, row in enumerate(active):
        groups.setdefault(row.tobytes(), []).append(index)
    return tuple(tuple(group) for group in groups.values())


# -- gradients -----------------------------------------------------------------------------------


def loss_gradients(
    network: NetworkLike, points: Vectors, output_gradients: Vectors
) -> tuple[RationalMatrix, ...]:
    """Compute the gradient of a loss in all weights and biases, exactly, by backpropagation.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes; a plain stack.
    points
        Training points, shape (p, n_0).
    output_gradients
        The derivatives of the loss with respect to the outputs at each point, shape (p, n_L).

    Returns
    -------
    tuple of RationalMatrix
        The gradients with respect to [W[ℓ] | b[ℓ]] for ℓ = 1, …, L, shapes (n_ℓ, n_{ℓ-1} + 1).

    Raises
    ------
    NetworkError
        Shapes do not fit, connections skip layers, or a preactivation is 0 at a point, where the
        loss has no derivative. (If the loss does not depend on this neuron to first order, it has
        one.)

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 2], [1, -3]], [1, 0]), ([[1, 3]], [5])])
    >>> for gradient in loss_gradients(net, [[1, 1]], [[2]]):
    ...     print(gradient)
    [2 2 2]
    [0 0 0]
    [8 0 2]
    """
    network = as_network(network)
    network.require_plain()
    inputs = _exact_rows(points, network.num_inputs, "points", "a point needs {} coordinates")
    shape = f"a gradient needs one row of {{}} numbers for each of the {len(inputs)} points"
    derivatives = _exact_rows(output_gradients, network.num_outputs, "output_gradients", shape)
    if len(derivatives) != len(inputs):
        raise NetworkError(f"{shape.format(network.num_outputs)}, got {len(derivatives)} rows")
    activations, preactivations = network.activations(inputs), network.preactivations(inputs)
    arriving = RationalMatrix.from_rows(derivatives, ncols=network.num_outputs).transpose()
    ones = RationalMatrix.from_integers([[1] * len(inputs)], ncols=len(inputs))
    found = []
    for layer in range(network.depth, 0, -1):
        if layer <= network.num_hidden_layers:
            arriving = _through_relu(arriving, preactivations[layer - 1], layer)
        found.append(arriving @ activations[layer - 1].over(ones).transpose())
        arriving = network.weight(layer).transpose() @ arriving
    return tuple(reversed(found))


def derivative_along_flow(
    network: NetworkLike,
    layer: int,
    neurons: Sequence[int],
    points: Vectors,
    output_gradients: Vectors,
) -> RationalMatrix:
    """Compute dQ/dt of `conserved_matrix` along gradient flow at this network, exactly.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes; a plain stack.
    layer
        Number of the layer, from 1; an affine layer with weights must follow it.
    neurons
        Distinct indices.
    points
        Training points, shape (p, n_0).
    output_gradients
        The derivatives of the loss with respect to the outputs at each point, shape (p, n_L).

    Returns
    -------
    RationalMatrix
        The derivative, shape (len(neurons), len(neurons)). It is 0 for linear neurons and for
        neurons with one activation pattern, and in general not for others.

    Raises
    ------
    NetworkError
        The arguments do not fit together, or the loss has no gradient (see `loss_gradients`).

    Examples
    --------
    Neuron 2 is inactive at the first point.

    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 2], [1, 0], [1, -1]], [1, 1, 0]), ([[1, 3, 1]], [5])])
    >>> points, gradients = [[1, 2], [3, 1]], [[1], [-2]]
    >>> derivative_along_flow(net, 1, [0, 1], points, gradients).is_zero()
    True
    >>> print(derivative_along_flow(net, 1, [0, 2], points, gradients))
    [0 -7]
    [-7 0]
    """
    network = as_network(network)
    neurons = _checked_neurons(network, layer, neurons)
    rows, columns, into, out = _rows_and_gradients(
        network, layer, neurons, points, output_gradients
    )
    half = rows @ into.transpose() - columns.transpose() @ out
    return half + half.transpose()


def drift_of_step(
    network: NetworkLike,
    layer: int,
    neurons: Sequence[int],
    points: Vectors,
    output_gradients: Vectors,
) -> RationalMatrix:
    """Compute the factor of η² in the change of Q by a step of gradient descent.

    The equation Q(θ - η ∇Loss) - Q(θ) = η dQ/dt + η² drift is exact for every step size η.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes; a plain stack.
    layer
        Number of the layer, from 1; an affine layer with weights must follow it.
    neurons
        Distinct indices.
    points
        Training points, shape (p, n_0).
    output_gradients
        The derivatives of the loss with respect to the outputs at each point, shape (p, n_L).

    Returns
    -------
    RationalMatrix
        The drift, shape (len(neurons), len(neurons)).

    Raises
    ------
    NetworkError
        The arguments do not fit together, or the loss has no gradient (see `loss_gradients`).

    Examples
    --------
    The gradients are (2, 2, 2) with respect to the row and 8 with respect to the outgoing weight.

    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 2]], [1]), ([[1]], [5])])
    >>> print(drift_of_step(net, 1, [0], [[1, 1]], [[2]]))
    [52]
    """
    network = as_network(network)
    neurons = _checked_neurons(network, layer, neurons)
    _, _, into, out = _rows_and_gradients(network, layer, neurons, points, output_gradients)
    return out.transpose() @ out - into @ into.transpose()


def _rows_and_gradients(
    network: Network, layer: int, neurons: Sequence[int], points: Vectors, output_gradients: Vectors
) -> tuple[RationalMatrix, RationalMatrix, RationalMatrix, RationalMatrix]:
    """Return rows [w | b] and outgoing columns of some neurons, and the gradients in both."""
    gradients = loss_gradients(network, points, output_gradients)
    return (
        network.layers[layer - 1].augmented().take(rows=neurons),
        network.weight(layer + 1).take(columns=neurons),
        gradients[layer - 1].take(rows=neurons),
        gradients[layer].take(columns=neurons),
    )


def _through_relu(
    arriving: RationalMatrix, preactivations: RationalMatrix, layer: int
) -> RationalMatrix:
    """Return derivatives in preactivations from derivatives in activations, shape (n_ℓ, p)."""
    signs, needed = preactivations.signs(), arriving.signs()
    for index, point in zip(*((signs == 0) & (needed != 0)).nonzero(), strict=True):
        raise NetworkError(
            f"at point {point} the preactivation of neuron {index} of layer {layer} is 0, so the "
            "loss has no gradient"
        )
    rows = [
        [entry if on else 0 for entry, on in zip(row, active, strict=True)]
        for row, active in zip(arriving.integer_rows(), (signs > 0).tolist(), strict=True)
    ]
    return RationalMatrix.from_integers(rows, arriving.denominator, ncols=arriving.ncols)


def _exact_rows(rows: object, length: int, name: str, needed: str) -> list[Vector]:
    """Return rows of numbers exactly, or raise an error that says what is needed."""
    try:
        found = [tuple(map(to_fraction, row)) for row in rows]  # type: ignore[attr-defined]
    except TypeError:
        kind = type(rows).__name__
        raise ArgumentError(f"{name}: expected rows of {length} numbers, got {kind}") from None
    except NetworkError as error:
        raise NetworkError(f"{name}: {error}") from None
    for row in found:
        if len(row) != length:
            raise NetworkError(f"{needed.format(length)}, got {len(row)}")
    return found


def _latex(number: Fraction) -> str:
    """A number in LaTeX."""
    if number.denominator == 1:
        return format_rational(number)
    sign = "-" if number < 0 else ""
    top, bottom = format_rational(Fraction(abs(number.numerator))), number.denominator
    return rf"{sign}\frac{{{top}}}{{{format_rational(Fraction(bottom))}}}"


def _checked_neurons(network: Network, layer: int, neurons: object) -> tuple[int, ...]:
    """Return neurons of a layer, or raise an error unless weights follow and they are distinct."""
    check_layer(network, layer)
    if layer == network.depth:
        raise NetworkError(
            f"no weights follow layer {layer}: it ends the network, so there is nothing to conserve"
        )
    width = network.widths[layer]
    try:
        return expect_indices(neurons, width, "neurons")
    except ArgumentError as error:
        hint = f"layer {layer} has neurons 0 to {width - 1}; give each at most once"
        raise NetworkError(f"{error}; {hint}") from None
