"""The jump at a cell of codimension 1 from the weights alone: a second way to the tropical weights.

Let F be a cell of codimension 1 where z[ℓ]_i vanishes, and no other neuron does but those that vanish on both sides as
well. There the gradient jumps by the derivative of the outputs in the activation of (ℓ, i), times the gradient of
z[ℓ]_i:

    J_F = W[L] I[L-1] W[L-1] … I[ℓ+1] W[ℓ+1][:, i] (∇z[ℓ]_i)ᵀ,

I the neurons that are on at the points of F, from the side where z[ℓ]_i is negative to the other. With skip connections
the product becomes a sum over all ways from the neuron to the outputs.

Source: the three-layer paper, Propositions 11 and 17.
"""

from __future__ import annotations

import numpy as np

from polyrelu.breakpoints.jumps import BreakpointComplex, TropicalWeight
from polyrelu.complex import PolyhedralComplex
from polyrelu.exact import RationalMatrix
from polyrelu.network import Network, NeuronId, SignVector, output_derivative

__all__ = ["closed_form_jump", "output_derivative", "vanishing_neuron"]


def vanishing_neuron(cells: PolyhedralComplex, facet: TropicalWeight) -> NeuronId | None:
    """The neuron that vanishes on a cell of codimension 1 and not on both sides of it, if there is only one."""
    top = cells.signs(cells.dimension)
    zero = cells.signs(facet.facet.dimension)[facet.facet.index] == 0
    changing = np.flatnonzero(zero & ((top[facet.plus] != 0) | (top[facet.minus] != 0)))
    return cells.neurons[changing[0]] if len(changing) == 1 else None


def closed_form_jump(breakpoints: BreakpointComplex, facet: int) -> RationalMatrix | None:
    """The gradient on the positive side of a cell of codimension 1 minus that on the other, shape (m, n_0).

    On a domain of lower dimension along its affine hull, as `TropicalWeight.jump`. None if more than one neuron
    vanishes there.

    >>> from polyrelu.breakpoints import breakpoint_complex
    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> breakpoints = breakpoint_complex(canonical_complex(from_arrays([([[2]], [1]), ([[3]], [0])])))
    >>> str(closed_form_jump(breakpoints, 0)), str(breakpoints.weight(0).jump)
    ('[6]', '[6]')
    """
    cells, weight = breakpoints.cells, breakpoints.weight(facet)
    neuron = vanishing_neuron(cells, weight)
    if neuron is None:
        return None
    signs = cells.sign_vector(weight.facet)
    gradient = _form(cells.network, signs, neuron).take(columns=range(cells.network.inputs))
    jump = output_derivative(cells.network, signs, neuron) @ gradient
    return jump if breakpoints.hull is None else breakpoints.hull.gradients(jump)


def _form(network: Network, signs: SignVector, neuron: NeuronId) -> RationalMatrix:
    """The preactivation of a neuron as a row [A | c], earlier neurons passing by their signs."""
    activations = [
        RationalMatrix.identity(network.inputs).beside(RationalMatrix.zeros(network.inputs, 1))
    ]
    for number in range(1, neuron.layer):
        z = network.layer_forms(number, activations)
        activations.append(z.scale_rows([int(sign > 0) for sign in signs.layers[number - 1]]))
    return network.layer_forms(neuron.layer, activations).take(rows=[neuron.index])
