"""Quantities that training by gradient flow conserves: Theorem 6 of the three-layer paper, for a given network.

For a hidden layer ℓ of a plain stack let V = [W[ℓ] | b[ℓ]] and U = W[ℓ+1], and

    Q = Uᵀ U - V Vᵀ,   a symmetric matrix with a row and a column for each neuron of the layer.

**Theorem.** Along the flow θ' = -∇Loss(θ), for any differentiable loss of the outputs at any finite set of points, and
as long as no preactivation vanishes at them, the entry Q_ij is constant while the neurons i and j are active at the
same points. (Proof in ``conserved.md``.) Three cases:

* i = j: every diagonal entry, linear neuron or not. That is the conserved quantity of rescaling.
* both neurons are linear, active at all points: the matrix of Theorem 6, r (r + 1) / 2 numbers for r linear neurons. A
  proof that they are linear on a domain (`linear_neurons`) covers every set of points in it.
* other groups of neurons with one pattern of activity (`equal_patterns`), which the paper does not mention.

The parameters are all entries of the weights and biases, each by itself: shared weights (convolutions), frozen biases,
weight decay and momentum change the statement. One step of gradient descent with step size η changes these entries by
η² times a matrix that is computed here too (`drift_of_step`), so that over a fixed time they drift by O(η).

Source: three-layer symmetries, Theorem 6, Propositions 35 and 36; the group law for equal patterns and the exact drift
are this project's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from polyrelu.dynamics.linear_neurons import LinearEvidence, check_layer, linear_evidence
from polyrelu.errors import NetworkError
from polyrelu.exact import Polyhedron, Rational, RationalMatrix
from polyrelu.network import Network

__all__ = [
    "ConservedLayer",
    "conserved_matrix",
    "conserved_quantities",
    "derivative_along_flow",
    "drift_of_step",
    "equal_patterns",
    "loss_gradients",
]

#: Points x, shape (p, n_0), or gradients of the loss with respect to the outputs there, shape (p, n_L).
Rows = Sequence[Sequence[Rational]]


@dataclass(frozen=True, slots=True)
class ConservedLayer:
    """What gradient flow conserves in one hidden layer.

    Attributes
    ----------
    evidence : which neurons are linear on the domain, with proofs.
    matrix : Q of the linear neurons, shape (r, r), in the order of `neurons`. It is constant for training points in
        the domain, at which these neurons are positive, as long as that stays so. At a positive margin they are; where
        the margin is 0, points at which the neuron vanishes are excluded.
    diagonal : Q_ii of all neurons of the layer, constant for any training points.
    """

    layer: int
    evidence: LinearEvidence
    matrix: RationalMatrix
    diagonal: tuple[Fraction, ...]

    @property
    def neurons(self) -> tuple[int, ...]:
        """The linear neurons."""
        return self.evidence.neurons


def conserved_matrix(network: Network, layer: int, neurons: Sequence[int]) -> RationalMatrix:
    """Q = Uᵀ U - V Vᵀ of some neurons of a hidden layer: U their outgoing weights, V their rows [w | b].

    Parameters
    ----------
    network : a plain stack.
    layer : from 1; an affine layer with weights must follow.
    neurons : distinct indices. Q exists for all, and is constant for those of the theorem above.

    Returns
    -------
    shape (len(neurons), len(neurons)).

    Raises
    ------
    NetworkError : no such layer, no such neurons, or connections that skip layers.

    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 2], [0, "1/2"]], [1, 0]), ([[1, 3]], [5])])
    >>> print(conserved_matrix(net, 1, [0, 1]))
    [-5 2]
    [2 35/4]
    """
    _check(network, layer, neurons)
    rows = network.layers[layer - 1].augmented().take(rows=neurons)
    columns = network.weight(layer + 1).take(columns=neurons)
    return columns.transpose() @ columns - rows @ rows.transpose()


def conserved_quantities(
    network: Network, domain: Polyhedron | None = None
) -> tuple[ConservedLayer, ...]:
    """What gradient flow conserves in each hidden layer, for training points in a domain.

    Parameters
    ----------
    network : a plain stack.
    domain : where the training points lie; R^{n_0} if it is not given.

    Returns
    -------
    one entry for each hidden layer that another layer of weights follows.

    Raises
    ------
    NetworkError, DomainError : as `linear_neurons`.

    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 2], [1, 0], [1, -1]], [1, 1, 0]), ([[1, 3, 1]], [5])])
    >>> (found,) = conserved_quantities(net, Polyhedron.orthant(2))
    >>> found.neurons, found.diagonal
    ((0, 1), (Fraction(-5, 1), Fraction(7, 1), Fraction(-1, 1)))
    >>> print(found.matrix)
    [-5 1]
    [1 7]
    """
    found = []
    for layer in range(1, min(network.hidden_layers, network.depth - 1) + 1):
        evidence = linear_evidence(network, layer, domain)
        everything = conserved_matrix(network, layer, range(network.widths[layer]))
        matrix = everything.take(rows=evidence.neurons, columns=evidence.neurons)
        diagonal = tuple(everything[i, i] for i in range(everything.nrows))
        found.append(ConservedLayer(layer, evidence, matrix, diagonal))
    return tuple(found)


def equal_patterns(network: Network, layer: int, points: Rows) -> tuple[tuple[int, ...], ...]:
    """The neurons of a hidden layer in groups that are active (z > 0) at the same of the given points.

    Q_ij is constant under gradient flow on these points for i and j in one group, while they stay so.

    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [1], [2], [-1]], [0, -2, -1, 0]), ([[1, 1, 1, 1]], [0])])
    >>> equal_patterns(net, 1, [[1], [-1]])
    ((0, 2), (1,), (3,))
    """
    check_layer(network, layer)
    active = network.preactivations(points)[layer - 1].signs() > 0
    groups: dict[bytes, list[int]] = {}
    for index, row in enumerate(active):
        groups.setdefault(row.tobytes(), []).append(index)
    return tuple(tuple(group) for group in groups.values())


# -- gradients ----------------------------------------------------------------------------------------------------


def loss_gradients(
    network: Network, points: Rows, output_gradients: Rows
) -> tuple[RationalMatrix, ...]:
    """The gradient of a loss with respect to [W[ℓ] | b[ℓ]] for ℓ = 1, …, L, exactly, by backpropagation.

    Parameters
    ----------
    network : a plain stack.
    points : shape (p, n_0).
    output_gradients : shape (p, n_L), the derivatives of the loss with respect to the outputs at each point.

    Returns
    -------
    matrices of shapes (n_ℓ, n_{ℓ-1} + 1).

    Raises
    ------
    NetworkError : shapes that do not fit, connections that skip layers, or a preactivation that is 0 at a point, where
        the loss has no derivative. (Where nothing behind that neuron depends on it to first order, it has one: 0.)

    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 2], [1, -3]], [1, 0]), ([[1, 3]], [5])])
    >>> for gradient in loss_gradients(net, [[1, 1]], [[2]]):
    ...     print(gradient)
    [2 2 2]
    [0 0 0]
    [8 0 2]
    """
    if not network.is_plain:
        raise NetworkError(
            "the network has skip connections; conserved quantities are for plain stacks"
        )
    if len(points) != len(output_gradients) or any(
        len(row) != network.outputs for row in output_gradients
    ):
        raise NetworkError(
            f"a gradient needs one row of {network.outputs} numbers for each of the {len(points)} points"
        )
    activations, preactivations = network.activations(points), network.preactivations(points)
    arriving = RationalMatrix.from_rows(output_gradients, ncols=network.outputs).transpose()
    ones = RationalMatrix.from_integers([[1] * len(points)], ncols=len(points))
    found = []
    for layer in range(network.depth, 0, -1):
        if layer <= network.hidden_layers:
            arriving = _through_relu(arriving, preactivations[layer - 1], layer)
        found.append(arriving @ activations[layer - 1].over(ones).transpose())
        arriving = network.weight(layer).transpose() @ arriving
    return tuple(reversed(found))


def derivative_along_flow(
    network: Network, layer: int, neurons: Sequence[int], points: Rows, output_gradients: Rows
) -> RationalMatrix:
    """dQ/dt of `conserved_matrix` at this network along gradient flow, exactly.

    The parameters are those of `conserved_matrix` and `loss_gradients`. The result has shape (len(neurons),
    len(neurons)); it is 0 for linear neurons, and in general is not for others.

    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 2], [1, 0], [1, -1]], [1, 1, 0]), ([[1, 3, 1]], [5])])
    >>> points, gradients = [[1, 2], [3, 1]], [[1], [-2]]
    >>> derivative_along_flow(net, 1, [0, 1], points, gradients).is_zero()
    True
    >>> print(derivative_along_flow(net, 1, [0, 2], points, gradients))  # neuron 2 is inactive at the first point
    [0 -7]
    [-7 0]
    """
    _check(network, layer, neurons)
    rows, columns, into, out = _parts(network, layer, neurons, points, output_gradients)
    half = rows @ into.transpose() - columns.transpose() @ out
    return half + half.transpose()


def drift_of_step(
    network: Network, layer: int, neurons: Sequence[int], points: Rows, output_gradients: Rows
) -> RationalMatrix:
    """The factor of η² in Q(θ - η ∇Loss) - Q(θ) = η dQ/dt + η² drift, which is exact for every η.

    The parameters are those of `derivative_along_flow`.

    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 2]], [1]), ([[1]], [5])])
    >>> print(drift_of_step(net, 1, [0], [[1, 1]], [[2]]))  # the gradients are (2, 2, 2) and 8
    [52]
    """
    _check(network, layer, neurons)
    _, _, into, out = _parts(network, layer, neurons, points, output_gradients)
    return out.transpose() @ out - into @ into.transpose()


def _parts(
    network: Network, layer: int, neurons: Sequence[int], points: Rows, output_gradients: Rows
) -> tuple[RationalMatrix, RationalMatrix, RationalMatrix, RationalMatrix]:
    """Rows [w | b] and outgoing columns of some neurons, and the gradients with respect to both."""
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
    """Derivatives with respect to preactivations from those with respect to activations, shape (n_ℓ, p)."""
    signs, needed = preactivations.signs(), arriving.signs()
    for index, point in zip(*((signs == 0) & (needed != 0)).nonzero(), strict=True):
        raise NetworkError(
            f"at point {point} the preactivation of neuron {index} of layer {layer} is 0, so the loss has no gradient"
        )
    rows = [
        [entry if on else 0 for entry, on in zip(row, active, strict=True)]
        for row, active in zip(arriving.integer_rows(), (signs > 0).tolist(), strict=True)
    ]
    return RationalMatrix.from_integers(rows, arriving.denominator, ncols=arriving.ncols)


def _check(network: Network, layer: int, neurons: Sequence[int]) -> None:
    check_layer(network, layer)
    if layer == network.depth:
        raise NetworkError(
            f"no weights follow layer {layer}: it ends the network, so there is nothing to conserve"
        )
    width = network.widths[layer]
    if len(set(neurons)) < len(neurons) or not all(0 <= index < width for index in neurons):
        raise NetworkError(
            f"layer {layer} has neurons 0 to {width - 1}; give each at most once, not {list(neurons)}"
        )
