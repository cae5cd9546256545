"""Networks whose first hidden layer is one neuron, and whose function can be read from both sides.

Let n_1 = 1, L = 3 and A_i < 0 < a_i for all i, where A = W[2] and a = b[2]. As a function of z =
W[1] x + b[1], the network is constant for z ≤ 0 and for z ≥ y_q, the largest of the breakpoints y_i
= -a_i/A_i. Therefore the first layer may as well make the last breakpoint, read from the other
side: with y' = σ(y_q - z) the second layer makes the breakpoints at y_q - y_i and the one at z = 0.
The smallest case is σ(1 - σ(x)) = 1 - σ(1 - σ(1 - x)). The other network refutes identifiability by
the rule `line-equal` of FORMAT.md §3.3; see docs/theory/line.md.
"""

from __future__ import annotations

from fractions import Fraction

from polyrelu.exact import RationalMatrix
from polyrelu.network import Block, Layer, Network, layer_from_rows, with_output_at_zero_of

__all__ = ["reversed_line"]


def reversed_line(network: Network) -> Network | None:
    """Return the network with its first layer on the last breakpoint, or None if signs forbid it.

    >>> from polyrelu.network import from_arrays
    >>> other = reversed_line(from_arrays([([[1]], [0]), ([[-1]], [1]), ([[1]], [0])]))
    >>> [layer.augmented().row(0) == (-1, 1) for layer in other.layers]
    [True, True, True]
    """
    if network.depth != 3 or network.last != "affine" or network.widths[1] != 1:
        return None
    rows = network.layers[1].augmented().rows()
    if not all(a < 0 < b for a, b in rows):
        return None
    breakpoints = [-b / a for a, b in rows]
    columns = network.weight(3).transpose().rows()
    jumps = [tuple(-a * v for v in column) for (a, _), column in zip(rows, columns, strict=True)]
    last = max(range(len(rows)), key=breakpoints.__getitem__)
    start = tuple(-sum((jump[o] for jump in jumps), Fraction()) for o in range(network.num_outputs))
    places = [breakpoints[i] for i in range(len(rows)) if i != last] + [Fraction(0)]
    heads = [jumps[i] for i in range(len(rows)) if i != last] + [start]
    return _read_from_the_right(network, breakpoints[last], places, heads)


def _read_from_the_right(
    network: Network, end: Fraction, places: list[Fraction], heads: list[tuple[Fraction, ...]]
) -> Network:
    """Return the network with first layer σ(end - z) and second layer σ((end - place) - y').

    Its outgoing columns are `heads`; the output biases are chosen to fit at 0.
    """
    weight, bias = network.weight(1).scale(-1), RationalMatrix.column([end]) - network.bias(1)
    first = Layer((Block(0, weight),), bias)
    second = layer_from_rows([(Fraction(-1), end - place) for place in places], 1)
    outgoing = RationalMatrix.from_rows(heads).transpose()
    raw = network.replace_layers(
        {1: first, 2: second, 3: Layer((Block(2, outgoing),), network.bias(3))}
    )
    return with_output_at_zero_of(raw, network)
