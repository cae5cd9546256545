"""Chain points of a leaky ReLU stack: one neuron of each hidden layer is 0 there.

The conditions of theorem `leaky-chains` at such a point (docs/theory/architectures.md): each neuron
of the chain bends the next one, their gradients are independent, and the outputs bend at each of
them whatever the signs of the later ones. Derivatives are taken modulo a prime; what is not 0
modulo a prime is not 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

from polyrelu.exact import RationalMatrix, rank_mod
from polyrelu.network import LeakyStack
from polyrelu.support.typing import Point

__all__ = ["ChainConditions", "leaky_signs"]

#: Signs of the neurons of the hidden layers, layer by layer.
Signs: TypeAlias = list[list[int]]
Rows: TypeAlias = list[list[int]]

#: The outputs are added with powers of this number, as in the certificate format: small numbers
#: hardly ever cancel then.
_ON_OUTPUTS = 1234567890123456789


def leaky_signs(leaky: LeakyStack, point: Point) -> Signs:
    """Return the signs of all hidden neurons at a point.

    >>> from fractions import Fraction
    >>> from polyrelu.network import from_arrays
    >>> stack = from_arrays([([[1], [2]], [0, -2]), ([[2, 1]], [3])])
    >>> leaky_signs(LeakyStack(Fraction(1, 2), stack), (Fraction(0),))
    [[0, -1]]
    """
    values, found = RationalMatrix.column(point), list[list[int]]()
    for layer in leaky.stack.layers[:-1]:
        z = layer.weight @ values + layer.bias
        signs = [int(sign) for sign in z.signs()[:, 0]]
        found.append(signs)
        values = z.scale_rows([1 if sign > 0 else leaky.slope for sign in signs])
    return found


@dataclass(frozen=True, slots=True)
class ChainConditions:
    """The conditions at chain points, for one stack and one prime.

    Attributes
    ----------
    leaky
        The stack.
    prime
        The prime.
    weights
        Integer multiples of the weights of each layer, modulo the prime.
    """

    leaky: LeakyStack
    prime: int
    weights: tuple[RationalMatrix, ...]

    @classmethod
    def of(cls, leaky: LeakyStack, prime: int) -> ChainConditions:
        """Return the conditions for a stack."""
        weights = tuple(
            RationalMatrix.from_integers(
                [[x % prime for x in row] for row in layer.weight.integer_rows()]
            )
            for layer in leaky.stack.layers
        )
        return cls(leaky, prime, weights)

    @property
    def _slopes(self) -> tuple[int, int]:
        """Factors of neurons that are off and on."""
        return self.leaky.slope.numerator % self.prime, self.leaky.slope.denominator % self.prime

    def has_full_rank(self) -> bool:
        """Whether the rows of each hidden layer are independent modulo the prime."""
        layers = self.leaky.stack.layers[:-1]
        return all(rank_mod(layer.weight, self.prime) == layer.width for layer in layers)

    def links(self, layer: int, below: int, neuron: int) -> bool:
        """Whether a neuron of a layer reads one of the layer before it, and a second one."""
        row = self.leaky.stack.weight(layer).row(neuron)
        return row[below] != 0 and any(w for h, w in enumerate(row) if h != below)

    def hold(self, signs: Signs) -> bool:
        """Whether the conditions hold at a point with these signs."""
        if any(layer.count(0) != 1 for layer in signs):
            return False
        zeros = [layer.index(0) for layer in signs]
        linked = all(self.links(number, h, v) for number, (h, v) in enumerate(pairwise(zeros), 2))
        return linked and self._has_gradients(signs, zeros) and self._is_visible(signs, zeros)

    def _has_gradients(self, signs: Signs, zeros: list[int]) -> bool:
        """Whether the gradients of the neurons are independent where all of them are off."""
        rows = list[list[int]]()
        for number in range(len(zeros), 0, -1):
            layer = signs[number - 1]
            rows = [self._behind(layer, row) for row in rows]
            rows.append([int(h == zeros[number - 1]) for h in range(len(layer))])
            rows = self._times(rows, number)
        return rank_mod(RationalMatrix.from_integers(rows), self.prime) == len(rows)

    def _is_visible(self, signs: Signs, zeros: list[int]) -> bool:
        """Whether the outputs bend at each neuron, whatever the signs of the later ones.

        The derivative of one combination of the outputs by the activations of a layer is a
        combination of `rows`, with coefficients `sides` for each choice of signs.
        """
        off, on = self._slopes
        outputs = [pow(_ON_OUTPUTS, o, self.prime) for o in range(self.leaky.stack.num_outputs)]
        rows, sides = self._times([outputs], len(zeros) + 1), [[1]]
        for number in range(len(zeros), 0, -1):
            t = zeros[number - 1]
            values = [
                sum(c * row[t] for c, row in zip(side, rows, strict=True)) % self.prime
                for side in sides
            ]
            if not all(values):
                return False
            rows = [self._behind(signs[number - 1], row) for row in rows]
            rows.append([(on - off) * int(h == t) for h in range(len(rows[0]))])
            rows = self._times(rows, number)
            sides = [
                [*side, x] for side, value in zip(sides, values, strict=True) for x in (0, value)
            ]
        return True

    def _behind(self, signs: Sequence[int], row: Sequence[int]) -> list[int]:
        """Derivatives by preactivations, from those by activations."""
        off, on = self._slopes
        return [(on if s > 0 else off) * x % self.prime for s, x in zip(signs, row, strict=True)]

    def _times(self, rows: Rows, number: int) -> Rows:
        """Rows times the weights of a layer."""
        product = RationalMatrix.from_integers(rows) @ self.weights[number - 1]
        return [[x % self.prime for x in row] for row in product.integer_rows()]
