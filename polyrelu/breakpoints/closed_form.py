"""The gradient jump at a facet from the parameters alone: a second way to the tropical weights.

Let F be a cell of codimension 1 on which z[ℓ]_i vanishes, and no other neuron except neurons that
also vanish on both sides of F. The gradient jumps there by the derivative of the outputs with
respect to the activation of (ℓ, i), times the gradient of z[ℓ]_i:

    J_F = W[L] I[L-1] W[L-1] … I[ℓ+1] W[ℓ+1][:, i] (∇z[ℓ]_i)ᵀ,

from the side where z[ℓ]_i is negative to the other side. Each I is the diagonal matrix of the
neurons that are on at the points of F. With skip connections the product becomes a sum over all
paths from the neuron to the outputs.

Source: the three-layer paper (arXiv 2605.18319), Propositions 11 and 17.
"""

from __future__ import annotations

import numpy as np

from polyrelu.breakpoints.tropical_weights import (
    BreakpointComplex,
    TropicalWeight,
    expect_breakpoints,
)
from polyrelu.complex import PolyhedralComplex
from polyrelu.complex.polyhedral_complex import expect_complex
from polyrelu.exact import RationalMatrix
from polyrelu.network import Network, NeuronId, SignVector, output_derivative
from polyrelu.support.arguments import expect

__all__ = ["closed_form_jump", "output_derivative", "vanishing_neuron"]


def vanishing_neuron(cells: PolyhedralComplex, facet: TropicalWeight) -> NeuronId | None:
    """Find the only neuron that vanishes on a facet and not on both sides of it.

    Parameters
    ----------
    cells
        The canonical complex.
    facet
        The weight of a cell of codimension 1.

    Returns
    -------
    NeuronId or None
        The neuron; None if several neurons vanish there.

    Examples
    --------
    >>> from polyrelu.breakpoints import breakpoint_complex
    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> cells = canonical_complex(from_arrays([([[2]], [1]), ([[3]], [0])]))
    >>> vanishing_neuron(cells, breakpoint_complex(cells).weight(0))
    NeuronId(layer=1, index=0)
    """
    cells = expect_complex(cells)
    facet = expect(facet, TropicalWeight, "facet", "iteration over a breakpoint complex gives them")
    top = cells.signs(cells.dimension)
    zero = cells.signs(facet.facet.dimension)[facet.facet.index] == 0
    changing = np.flatnonzero(zero & ((top[facet.plus] != 0) | (top[facet.minus] != 0)))
    return cells.neurons[changing[0]] if len(changing) == 1 else None


def closed_form_jump(breakpoints: BreakpointComplex, facet: int) -> RationalMatrix | None:
    """Compute the jump of the gradient at a facet from the parameters alone.

    Parameters
    ----------
    breakpoints
        The breakpoint complex; only its cells are used.
    facet
        The number of a cell of codimension 1 between two regions.

    Returns
    -------
    RationalMatrix or None
        The gradient on the side where the vanishing neuron is positive minus the gradient on the
        other side, shape (m, n_0), along the affine hull as in `TropicalWeight.jump`. None if
        several neurons vanish on the facet.

    Raises
    ------
    DomainError
        The cell does not lie between two regions.

    Notes
    -----
    Source: the three-layer paper (arXiv 2605.18319), Propositions 11 and 17.

    Examples
    --------
    >>> from polyrelu.breakpoints import breakpoint_complex
    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> cells = canonical_complex(from_arrays([([[2]], [1]), ([[3]], [0])]))
    >>> breakpoints = breakpoint_complex(cells)
    >>> str(closed_form_jump(breakpoints, 0)), str(breakpoints.weight(0).jump)
    ('[6]', '[6]')
    """
    breakpoints = expect_breakpoints(breakpoints)
    cells, weight = breakpoints.cells, breakpoints.weight(facet)
    neuron = vanishing_neuron(cells, weight)
    if neuron is None:
        return None
    signs = cells.sign_vector(weight.facet)
    gradient = _form(cells.network, signs, neuron).take(columns=range(cells.network.num_inputs))
    jump = output_derivative(cells.network, signs, neuron) @ gradient
    return jump if breakpoints.hull is None else breakpoints.hull.gradients(jump)


def _form(network: Network, signs: SignVector, neuron: NeuronId) -> RationalMatrix:
    """The preactivation of a neuron as a row [A | c] for the signs of the earlier layers."""
    activations = [
        RationalMatrix.identity(network.num_inputs).beside(
            RationalMatrix.zeros(network.num_inputs, 1)
        )
    ]
    for number in range(1, neuron.layer):
        z = network.layer_forms(number, activations)
        activations.append(z.scale_rows([int(sign > 0) for sign in signs.layers[number - 1]]))
    return network.layer_forms(neuron.layer, activations).take(rows=[neuron.index])
