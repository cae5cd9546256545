"""Networks with two hidden layers behind a bottleneck, and pairs whose equality is known.

Everything is done in plain fractions and without the package, so that a mistake there cannot hide
one here.
"""

from __future__ import annotations

import random
from fractions import Fraction

from tests.generators.equivalent_pairs import (
    Stack,
    dead,
    number,
    permutation,
    positive,
    row,
    scaling,
)

__all__ = [
    "different",
    "equal_pair",
    "flip",
    "hiding_stack",
    "least_shift",
    "linear_flip",
    "plain_stack",
    "several_hidden",
    "translate",
]

Row = list[Fraction]


def independent_rows(chance: random.Random, count: int, inputs: int) -> tuple[list[Row], Row]:
    """A first layer whose rows are linearly independent: triangular, then mixed."""
    rows = [[number(chance) if k > i else Fraction(0) for k in range(inputs)] for i in range(count)]
    for i, w in enumerate(rows):
        w[i] = chance.choice((-1, 1)) * positive(chance)
    order = list(range(inputs))
    chance.shuffle(order)
    rows = [[w[k] for k in order] for w in rows]
    for i in range(1, count):
        factor = Fraction(chance.randint(-3, 3), 2)
        rows[i] = [a + factor * b for a, b in zip(rows[i], rows[i - 1], strict=True)]
    chance.shuffle(rows)
    return rows, [number(chance) for _ in range(count)]


def plain_stack(chance: random.Random, inputs: int, width: int, after: int, outputs: int) -> Stack:
    """Return a stack with weights of any sign and some zeros."""
    return Stack(
        [
            independent_rows(chance, width, inputs),
            ([row(chance, width) for _ in range(after)], [number(chance) for _ in range(after)]),
            (
                [row(chance, after) for _ in range(outputs)],
                [number(chance) for _ in range(outputs)],
            ),
        ]
    )


def hiding_stack(
    chance: random.Random, inputs: int, width: int, after: int, outputs: int, zeros: float = 0.0
) -> Stack:
    """Return a stack in which every second-layer neuron hides neuron 0.

    Some of the entries ≤ 0 are 0, with the given probability.
    """

    def below() -> Fraction:
        return Fraction(0) if chance.random() < zeros else -positive(chance)

    found = plain_stack(chance, inputs, width, after, outputs)
    rows = [[positive(chance), *(below() for _ in range(width - 1))] for _ in range(after)]
    found.layers[1] = rows, [below() for _ in range(after)]
    return found


def least_shift(stack: Stack) -> Fraction:
    """Return the least admissible shift of neuron 0 in a hiding stack."""
    return max(b / w[0] for w, b in zip(*stack.layers[1], strict=True))


def translate(stack: Stack, shift: Fraction) -> None:
    """Move neuron 0 by a shift, in place.

    The function stays the same if the stack hides neuron 0 and the shift is at least the least one.
    """
    stack.layers[0][1][0] += shift
    rows, bias = stack.layers[1]
    for i, w in enumerate(rows):
        bias[i] -= shift * w[0]


def flip(stack: Stack, neuron: int) -> None:
    """The same function if the second layer has one neuron and hides neuron 0."""
    rows, bias = stack.layers[0]
    w = stack.layers[1][0][0]
    factor = -w[neuron] / w[0]
    rows[0] = [a - factor * b for a, b in zip(rows[0], rows[neuron], strict=True)]
    bias[0] -= factor * bias[neuron]
    rows[neuron], bias[neuron] = [-x for x in rows[neuron]], -bias[neuron]


def linear_flip(stack: Stack, neuron: int) -> None:
    """Negate a second-layer neuron and add linear neurons for the difference, in place.

    This uses σ(h) = h + σ(-h).
    """
    rows, bias = stack.layers[1]
    w, b = list(rows[neuron]), bias[neuron]
    out = [above[neuron] for above in stack.layers[2][0]]
    rows[neuron], bias[neuron] = [-x for x in w], -b
    for k, entry in enumerate(w):
        if entry:
            unit = [Fraction(int(k == j)) for j in range(len(w))]
            stack.append(2, unit, Fraction(0), [entry * v for v in out])
    for i, v in enumerate(out):
        stack.layers[2][1][i] += b * v


def equal_pair(chance: random.Random) -> tuple[Stack, Stack, str]:
    """Two stacks with one function, in different parameters, and their kind."""
    width = chance.randint(2, 12) if chance.random() < 0.3 else chance.randint(2, 5)
    inputs, outputs = width + chance.choice((0, 0, 1)), chance.choice((1, 1, 2))
    kind = chance.choice(("plain", "translated", "flipped", "degenerate"))
    after = 1 if kind == "flipped" else chance.randint(1, 4)
    zeros = 0.3 if kind == "degenerate" else 0.0
    first = (
        plain_stack(chance, inputs, width, after, outputs)
        if kind == "plain"
        else hiding_stack(chance, inputs, width, after, outputs, zeros)
    )
    second = first.copy()
    if kind != "plain":
        translate(second, shift_of(chance, second))
    if kind == "flipped" or (kind == "degenerate" and after == 1):
        for k in range(1, width):
            if chance.random() < 0.5:
                flip(second, k)
        translate(second, shift_of(chance, second))
    return first, disguised(chance, second), kind


def shift_of(chance: random.Random, stack: Stack) -> Fraction:
    """Return an admissible shift of neuron 0."""
    least = least_shift(stack)
    return chance.choice((least, least / 2, least + positive(chance)))


def disguised(chance: random.Random, stack: Stack) -> Stack:
    """Return the stack with the same function, its neurons permuted, scaled, negated, some dead."""
    if chance.random() < 0.3:
        linear_flip(stack, chance.randrange(stack.width(2)))
    if chance.random() < 0.3:
        dead(stack, 2, chance)
    for layer in (1, 2):
        scaling(stack, layer, chance)
        permutation(stack, layer, chance)
    return stack


def different(chance: random.Random, first: Stack, hides: bool = True) -> tuple[Stack, str]:
    """Return a changed stack and the kind of change; now and then the function stays the same.

    `hides` tells whether the given stack hides neuron 0.
    """
    second = first.copy()
    width, after = second.width(1), second.width(2)
    kind = chance.choice(
        ("too far", "wrong flip", "turned", "weight") if hides else ("turned", "weight")
    )
    if kind == "too far":
        translate(second, least_shift(second) - positive(chance) / 2**20)
    elif kind == "wrong flip":
        flip(second, chance.randrange(1, width))
        if after == 1:
            second.layers[0][0][0][0] += Fraction(1, 2**30)
    elif kind == "turned":
        k = chance.randrange(width)
        rows, bias = second.layers[0]
        rows[k], bias[k] = [-x for x in rows[k]], -bias[k]
    else:
        rows, bias = second.layers[chance.randrange(3)]
        i = chance.randrange(len(rows))
        rows[i][chance.randrange(len(rows[i]))] += Fraction(chance.choice((1, -1)), 2**40)
    return disguised(chance, second), kind


def several_hidden(chance: random.Random, count: int, shared: int) -> tuple[Stack, Stack]:
    """Return two stacks with one function and several hidden neurons.

    Blocks of second-layer neurons hide a neuron each, and read some of the last `shared`
    first-layer neurons with weights ≤ 0. In the second stack each hidden neuron is translated, and
    its own neighbours are flipped where a block has one neuron.
    """
    sizes = [chance.randint(1, 3) for _ in range(count)]
    heights = [chance.randint(1, 2) for _ in range(count)]
    starts = [sum(1 + size for size in sizes[:k]) for k in range(count)]
    width = sum(1 + size for size in sizes) + shared
    rows: list[Row] = []
    for start, size, height in zip(starts, sizes, heights, strict=True):
        for _ in range(height):
            w = [Fraction(0)] * width
            w[start] = positive(chance)
            w[start + 1 : start + 1 + size] = [-positive(chance) for _ in range(size)]
            w[width - shared :] = [
                -positive(chance) if chance.random() < 0.5 else Fraction(0) for _ in range(shared)
            ]
            rows.append(w)
    bias = [-positive(chance) for _ in rows]
    for _ in range(shared):
        rows.append([*[Fraction(0)] * (width - shared), *row(chance, shared)])
        bias.append(number(chance))
    last = [row(chance, len(rows)) for _ in range(2)], [number(chance) for _ in range(2)]
    first = Stack([independent_rows(chance, width, width), (rows, bias), last])
    second = first.copy()
    done = 0
    for start, size, height in zip(starts, sizes, heights, strict=True):
        _move_block(chance, second, start, size, range(done, done + height))
        done += height
    return first, disguised(chance, second)


def _move_block(chance: random.Random, stack: Stack, start: int, size: int, block: range) -> None:
    (rows, bias), (above, constants) = stack.layers[:2]
    for k in range(start + 1, start + 1 + size):
        if len(block) == 1 and chance.random() < 0.5:
            factor = -above[block[0]][k] / above[block[0]][start]
            rows[start] = [a - factor * b for a, b in zip(rows[start], rows[k], strict=True)]
            bias[start] -= factor * bias[k]
            rows[k], bias[k] = [-x for x in rows[k]], -bias[k]
    least = max(constants[i] / above[i][start] for i in block)
    shift = chance.choice((least, least / 2, least + positive(chance)))
    bias[start] += shift
    for i in block:
        constants[i] -= shift * above[i][start]
