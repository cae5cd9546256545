"""Pairs of networks that look different and compute the same function by construction.

A pair starts as one random plain stack. *Blocks* are added to both sides in two different ways;
then *moves* change the second side and keep its function. Everything is done on plain lists of
fractions, without the package, so that a mistake there cannot hide one here.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise

from polyrelu.network import Network, from_arrays

__all__ = [
    "BLOCKS",
    "MOVES",
    "Pair",
    "Stack",
    "evaluate",
    "hinges",
    "network",
    "nudged",
    "pair",
    "random_pair",
]

Row = list[Fraction]


@dataclass
class Stack:
    """A plain stack: each layer its rows and biases."""

    layers: list[tuple[list[Row], Row]]

    def copy(self) -> Stack:
        return Stack([([list(row) for row in rows], list(bias)) for rows, bias in self.layers])

    @property
    def inputs(self) -> int:
        return len(self.layers[0][0][0])

    def width(self, layer: int) -> int:
        """n_ℓ."""
        return self.inputs if layer == 0 else len(self.layers[layer - 1][1])

    def columns(self, layer: int) -> list[Row]:
        """The outgoing weights of the neurons of a layer."""
        return [list(column) for column in zip(*self.layers[layer][0], strict=True)]

    def append(self, layer: int, row: Row, bias: Fraction, outgoing: Row) -> int:
        """Add a neuron, its weights on both sides filled up with zeros; its index."""
        self.layers[layer - 1][0].append(
            [*row, *[Fraction(0)] * (self.width(layer - 1) - len(row))]
        )
        self.layers[layer - 1][1].append(bias)
        above = self.layers[layer][0]
        for target, weight in zip(
            above, [*outgoing, *[Fraction(0)] * (len(above) - len(outgoing))], strict=True
        ):
            target.append(weight)
        return self.width(layer) - 1


def evaluate(stack: Stack, x: list[Fraction]) -> list[Fraction]:
    """The outputs in plain fractions."""
    a = x
    for number, (rows, bias) in enumerate(stack.layers, 1):
        z = [
            sum((w * v for w, v in zip(row, a, strict=True)), b)
            for row, b in zip(rows, bias, strict=True)
        ]
        a = z if number == len(stack.layers) else [max(v, Fraction(0)) for v in z]
    return a


@dataclass
class Pair:
    """Two stacks with one function.

    Attributes
    ----------
    first, second
        The stacks. The neurons of the stack that both started from are the first ones of each
        layer.
    base
        The widths of this stack.
    explanation
        What was done.
    """

    first: Stack
    second: Stack
    base: list[int]
    explanation: list[str] = field(default_factory=list)


def number(chance: random.Random) -> Fraction:
    """A weight: small integers and halves, sometimes a float32-like dyadic."""
    if chance.random() < 0.3:
        return Fraction(chance.randint(-(2**24), 2**24), 2**22)
    return Fraction(chance.randint(-8, 8), chance.choice((1, 1, 2)))


def positive(chance: random.Random) -> Fraction:
    return Fraction(chance.randint(1, 16), chance.choice((1, 2, 3, 8)))


def row(chance: random.Random, size: int) -> Row:
    found = [number(chance) for _ in range(size)]
    return found if any(found) else row(chance, size)


def random_stack(chance: random.Random, widths: list[int]) -> Stack:
    return Stack(
        [
            ([row(chance, n) for _ in range(m)], [number(chance) for _ in range(m)])
            for n, m in pairwise(widths)
        ]
    )


# -- blocks: the same function in two ways, on layers ℓ and ℓ+1, both hidden ---------------------


def associative_maximum(pair: Pair, layer: int, chance: random.Random) -> None:
    """Add max(max(a, b), c) - c = (a - c) + max(max(b, c) - a, 0) for affine a, b, c."""
    one, two, size = pair.first, pair.second, pair.base[layer - 1]
    ab, bc = row(chance, size), row(chance, size)
    s, t = number(chance), number(chance)
    ac, r = [x + y for x, y in zip(ab, bc, strict=True)], s + t
    zero = Fraction(0)
    out = row(chance, pair.base[layer + 2])
    below = [
        one.append(layer, [k * x for x in w], k * v, [])
        for w, v, k in ((ab, s, 1), (bc, t, 1), (bc, t, -1))
    ]
    one.append(layer + 1, _at(one.width(layer), below, [1, 1, -1]), zero, out)
    below = [
        two.append(layer, [k * x for x in w], k * v, [])
        for w, v, k in ((bc, t, 1), (ac, r, 1), (ac, r, -1))
    ]
    width = two.width(layer)
    two.append(layer + 1, _at(width, below, [1, -1, 1]), zero, list(out))
    two.append(layer + 1, _at(width, below, [0, 1, 0]), zero, list(out))
    two.append(layer + 1, _at(width, below, [0, 0, 1]), zero, [-x for x in out])


def nested_hinge(pair: Pair, layer: int, chance: random.Random) -> None:
    """max(max(p, 0) - d, 0) = max(max(p - d, 0), 0) for d > 0."""
    one, two, size = pair.first, pair.second, pair.base[layer - 1]
    p, q, d = row(chance, size), number(chance), positive(chance)
    out, zero = row(chance, pair.base[layer + 2]), Fraction(0)
    j = one.append(layer, list(p), q, [])
    one.append(layer + 1, _at(one.width(layer), [j], [1]), -d, out)
    j = two.append(layer, list(p), q - d, [])
    two.append(layer + 1, _at(two.width(layer), [j], [1]), zero, list(out))


def minimum_of_two(pair: Pair, layer: int, chance: random.Random) -> None:
    """Add max(min(a, b), 0) in two ways, where a = max(p, 0) + e and b = max(q, 0) + e.

    The minimum is a - max(a - b, 0) or b - max(b - a, 0). A layer in between writes a, b, a - b and
    b - a with max(p, 0) and max(q, 0).
    """
    one, two, size = pair.first, pair.second, pair.base[layer - 1]
    p, q, s, t, e = (
        row(chance, size),
        row(chance, size),
        number(chance),
        number(chance),
        positive(chance),
    )
    out, zero = row(chance, pair.base[layer + 2]), Fraction(0)
    for stack, order in ((one, [0, 1]), (two, [1, 0])):
        below = [stack.append(layer, list(w), v, []) for w, v in ((p, s), (q, t))]
        a, b = below[order[0]], below[order[1]]
        width = stack.width(layer)
        stack.append(layer + 1, _at(width, [a], [1]), e, list(out))
        stack.append(layer + 1, _at(width, [a, b], [1, -1]), zero, [-x for x in out])


def hidden_translation(pair: Pair, layer: int, chance: random.Random) -> None:
    """A neuron that a further layer of its own hides, moved by t (math: three-layer symmetries)."""
    one, two, size = pair.first, pair.second, pair.base[layer - 1]
    out, zero = [row(chance, pair.base[layer + 2]) for _ in range(2)], Fraction(0)
    rows = [(row(chance, size), number(chance)) for _ in range(3)]
    weights = [[positive(chance), -positive(chance), -positive(chance)] for _ in range(2)]
    biases = [-positive(chance) for _ in range(2)]
    t = max(b / w[0] for w, b in zip(weights, biases, strict=True)) * Fraction(
        chance.randint(1, 4), 4
    )
    for stack, shift in ((one, zero), (two, t)):
        below = [
            stack.append(layer, list(w), v + (shift if k == 0 else 0), [])
            for k, (w, v) in enumerate(rows)
        ]
        for w, b, o in zip(weights, biases, out, strict=True):
            stack.append(layer + 1, _at(stack.width(layer), below, w), b - shift * w[0], list(o))


def _at(width: int, places: list[int], values: Sequence[int | Fraction]) -> Row:
    found = [Fraction(0)] * width
    for place, value in zip(places, values, strict=True):
        found[place] = Fraction(value)
    return found


# -- moves: change a stack, keep its function ----------------------------------------------------


def permutation(stack: Stack, layer: int, chance: random.Random) -> None:
    order = list(range(stack.width(layer)))
    chance.shuffle(order)
    rows, bias = stack.layers[layer - 1]
    stack.layers[layer - 1] = [rows[i] for i in order], [bias[i] for i in order]
    above, other = stack.layers[layer]
    stack.layers[layer] = [[w[i] for i in order] for w in above], other


def scaling(stack: Stack, layer: int, chance: random.Random) -> None:
    rows, bias = stack.layers[layer - 1]
    for i in range(len(rows)):
        factor = positive(chance)
        rows[i] = [factor * x for x in rows[i]]
        bias[i] *= factor
        for w in stack.layers[layer][0]:
            w[i] /= factor


def splitting(stack: Stack, layer: int, chance: random.Random) -> None:
    """One neuron becomes two."""
    i, factor = chance.randrange(stack.width(layer)), positive(chance)
    rows, bias = stack.layers[layer - 1]
    share = [number(chance) for _ in range(stack.width(layer + 1))]
    stack.append(
        layer, [factor * x for x in rows[i]], factor * bias[i], [s / factor for s in share]
    )
    for w, s in zip(stack.layers[layer][0], share, strict=True):
        w[i] -= s


def merging(stack: Stack, layer: int, chance: random.Random) -> None:
    """Neurons with rows that are positive multiples become one."""
    rows, bias = stack.layers[layer - 1]
    seen: dict[tuple[Fraction, ...], tuple[int, Fraction]] = {}
    for i, (w, b) in enumerate(zip(rows, bias, strict=True)):
        size = sum(map(abs, w)) + abs(b)
        key = tuple(x / size for x in [*w, b]) if size else ()
        if key and key in seen:
            k, other = seen[key]
            for above in stack.layers[layer][0]:
                above[k] += above.pop(i) * size / other
            del rows[i], bias[i]
            merging(stack, layer, chance)
            return
        seen[key] = (i, size)


def dead(stack: Stack, layer: int, chance: random.Random) -> None:
    size, out = stack.width(layer - 1), row(chance, stack.width(layer + 1))
    if layer == 1:
        stack.append(layer, [Fraction(0)] * size, -positive(chance), out)
    else:
        stack.append(layer, [-positive(chance) for _ in range(size)], -positive(chance), out)


def cancelling(stack: Stack, layer: int, chance: random.Random) -> None:
    """Two neurons that take each other's contribution away."""
    size, out, factor = (
        stack.width(layer - 1),
        row(chance, stack.width(layer + 1)),
        positive(chance),
    )
    w, b = row(chance, size), number(chance)
    stack.append(layer, w, b, out)
    stack.append(layer, [factor * x for x in w], factor * b, [-x / factor for x in out])


def flipping(stack: Stack, layer: int, chance: random.Random) -> None:
    """Add three neurons whose linear parts cancel, and subtract the same neurons negated.

    This uses t = max(t, 0) - max(-t, 0).
    """
    size, out = stack.width(layer - 1), row(chance, stack.width(layer + 1))
    u, v, p, q = row(chance, size), row(chance, size), number(chance), number(chance)
    w, r = [-x - y for x, y in zip(u, v, strict=True)], number(chance)
    rows = [(u, p), (v, q), (w, r)]
    for x, b in rows:  # Σ max(t, 0) - Σ max(-t, 0) - Σ t = 0, and Σ t is the constant p + q + r
        stack.append(layer, list(x), b, list(out))
        stack.append(layer, [-y for y in x], -b, [-y for y in out])
    bias = stack.layers[layer][1]
    for k, o in enumerate(out):
        bias[k] -= o * (p + q + r)


BLOCKS: dict[str, Callable[[Pair, int, random.Random], None]] = {
    "associative maximum": associative_maximum,
    "nested hinge": nested_hinge,
    "minimum": minimum_of_two,
    "hidden translation": hidden_translation,
}
MOVES: dict[str, Callable[[Stack, int, random.Random], None]] = {
    "permutation": permutation,
    "scaling": scaling,
    "splitting": splitting,
    "merging": merging,
    "dead": dead,
    "cancelling": cancelling,
    "flipping": flipping,
}


def random_pair(chance: random.Random, widths: list[int], blocks: int, moves: int) -> Pair:
    """Return a pair with given numbers of blocks and moves, from a random base."""
    base = random_stack(chance, widths)
    pair = Pair(base, base.copy(), widths)
    hidden = len(widths) - 2
    for _ in range(blocks if hidden >= 2 else 0):
        name, layer = chance.choice(list(BLOCKS)), chance.randint(1, hidden - 1)
        BLOCKS[name](pair, layer, chance)
        pair.explanation.append(f"{name} {layer}")
    for _ in range(moves):
        name, layer = chance.choice(list(MOVES)), chance.randint(1, hidden)
        MOVES[name](pair.second, layer, chance)
        pair.explanation.append(f"{name} {layer}")
    return pair


def nudged(stack: Stack, chance: random.Random, step: Fraction) -> Stack:
    """One weight or bias changed by a step."""
    other = stack.copy()
    rows, bias = other.layers[chance.randrange(len(other.layers))]
    i = chance.randrange(len(bias))
    j = chance.randint(0, len(rows[i]))
    if j == len(rows[i]):
        bias[i] += step
    else:
        rows[i][j] += step
    return other


def pair(seed: int) -> tuple[Pair, random.Random]:
    """A random pair of networks that are equal by construction, and the generator that made it."""
    chance = random.Random(seed)
    inputs, depth = chance.choice([1, 2, 3, 4]), chance.choice([1, 2, 2, 3])
    widths = [inputs, *(chance.randint(1, 5) for _ in range(depth)), chance.choice([1, 2])]
    return random_pair(
        chance, widths, blocks=chance.choice([0, 1, 1, 2]), moves=chance.randint(3, 5)
    ), chance


def network(stack: Stack) -> Network:
    """The exact network of a stack."""
    return from_arrays(stack.layers)


def hinges(count: int) -> tuple[Network, Network]:
    """Return equal networks with two hidden layers that are cut differently in `count` places."""
    rows = [[int(i == j) + (i * j) % 5 for j in range(count)] for i in range(count)]
    unit = [[int(i == j) for j in range(count)] for i in range(count)]
    one = from_arrays([(rows, [0] * count), (unit, [-1] * count), ([[1] * count], [0])])
    return one, from_arrays([(rows, [-1] * count), (unit, [0] * count), ([[1] * count], [0])])
