"""Bounds of functional dimensions, claim functional-dimension."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from polyrelu.checking.arithmetic import PLACE, dot, pack, unpack
from polyrelu.checking.meter import Meter, require
from polyrelu.checking.networks import Layer, Network
from polyrelu.checking.pairs import outputs_and_signs, read_domain
from polyrelu.checking.text import RATIONAL, rationals
from polyrelu.checking.theorems import PRIMES, Case, theorem

# ==== 3.12 Functional dimensions: theorem jacobian ====

#: The rows of some outputs at a point.
ROWS_AT_POINT = {"x": [RATIONAL], "outputs": [int]}


@theorem(
    "jacobian",
    kind="functional-dimension",
    page="theory/functional_dimension.md",
    evidence={"rank": {"prime": PRIMES, "rows": [ROWS_AT_POINT]}, "scalings": {}},
    says={
        "rank": "the listed rows of the derivatives by weights and biases have a rank as large as "
        "claimed, modulo a prime",
        "scalings": "no rank exceeds the number of parameters minus the number of hidden neurons "
        "whose row [W|b] is not 0",
    },
)
def jacobian(case: Case) -> None:
    """A rank of the Jacobian at some points, and the directions of positive scalings."""
    network, meter, claim = case.network, case.meter, case.claim
    meter.step = "theorem"
    require(network.last == "affine", "an affine output", str(network))
    domain = read_domain(claim["domain"], network.widths[0], meter)
    evidence = case.hypothesis("rank")
    prime, basis = int(evidence["prime"]), dict[int, int]()
    layers = [layer_modulo(layer, prime, meter) for layer in network.layers]
    for entry in evidence["rows"]:
        x = rationals(entry["x"], meter)
        domain.check_point(x, meter)
        masks = masks_at(network, x, meter)
        for o in entry["outputs"]:
            require(o < network.widths[-1], f"outputs below {network.widths[-1]}", str(o))
            row = derivatives(layers, masks, x, o, prime, meter)
            join(basis, row, prime, meter)
    wanted = claim["at-least"]
    require(len(basis) >= wanted, f"a rank of at least {wanted}", str(len(basis)))
    case.hypothesis("scalings")
    limit = num_parameters(network) - num_scalings(network, meter)
    require(claim["at-most"] >= limit, f"at most {limit} or more", str(claim["at-most"]))


def join(basis: dict[int, int], row: list[int], prime: int, meter: Meter) -> None:
    """Let a long row join a basis modulo a prime; a row in its span leaves it as it is.

    The rows of the basis are packed, named by the column of their first nonzero entry, which is 1,
    and 0 in the columns that name rows before them.
    """
    size, digit = len(row), (1 << 8 * PLACE) - 1
    meter.units(400 * size + len(basis) * (200 + 24 * size))
    rest = pack(row)
    for c, known in basis.items():
        x = (rest >> 8 * PLACE * c & digit) % prime
        if x:
            rest += (prime - x) * known
    entries = unpack(rest, size, prime)
    first = next((c for c, x in enumerate(entries) if x), None)
    if first is not None:
        meter.hold(18 * size // 64 + 2)
        inverse = pow(entries[first], -1, prime)
        basis[first] = pack(x * inverse % prime for x in entries)


def num_parameters(network: Network) -> int:
    """The number of weights and biases."""
    return sum(len(layer.rows) * (len(layer.rows[0]) + 1) for layer in network.layers)


def num_scalings(network: Network, meter: Meter) -> int:
    """The number of hidden neurons whose rows [W|b] are not 0."""
    meter.units(60 * num_parameters(network))
    rows = [row for layer in network.layers[:-1] for row in layer.augmented()]
    return sum(map(any, rows))


def layer_modulo(layer: Layer, prime: int, meter: Meter) -> list[list[int]]:
    """The rows [W|b] of a layer modulo a prime."""
    count = len(layer.rows) * (len(layer.rows[0]) + 1)
    meter.pay(2 * count, layer.bits, 61)
    meter.hold(2 * count)
    fact = "denominators that are not 0 modulo the prime"
    require(layer.denominator % prime != 0, fact, "a layer")
    inverse = pow(layer.denominator, -1, prime)
    return [[x * inverse % prime for x in row] for row in layer.augmented()]


def masks_at(network: Network, x: Sequence[Fraction], meter: Meter) -> list[list[bool]]:
    """The hidden neurons that are on at a point where none vanishes."""
    require(len(x) == network.widths[0], "a point of the inputs", f"{len(x)} coordinates")
    values = outputs_and_signs(network, x, meter)[1][:-1]
    require(all(map(all, values)), "a point at which no neuron vanishes", "a zero")
    return [[z > 0 for z in layer] for layer in values]


def derivatives(
    layers: Sequence[list[list[int]]],
    masks: Sequence[list[bool]],
    x: Sequence[Fraction],
    o: int,
    prime: int,
    meter: Meter,
) -> list[int]:
    """The derivatives of an output by all weights and biases, layer by layer and row by row."""
    meter.pay_divisions(3 * len(x), 61, max((y.denominator.bit_length() for y in x), default=0))
    fact = "denominators that are not 0 modulo the prime"
    require(all(y.denominator % prime for y in x), fact, "a point")
    read = [[y.numerator * pow(y.denominator, -1, prime) % prime for y in x] + [1]]
    meter.pay_modular(3 * sum(len(rows) * len(rows[0]) for rows in layers))
    for rows, mask in zip(layers, masks, strict=False):
        pairs, values = zip(rows, mask, strict=True), read[-1]
        read.append([*(dot(row, values) % prime if on else 0 for row, on in pairs), 1])
    delta, parts = [int(i == o) for i in range(len(layers[-1]))], list[list[int]]()
    for number in reversed(range(len(layers))):
        parts.append([d * a % prime for d in delta for a in read[number]])
        if number:
            columns = list(zip(*layers[number], strict=True))[:-1]
            values = [dot(delta, column) % prime for column in columns]
            delta = [d if m else 0 for d, m in zip(values, masks[number - 1], strict=True)]
    return [entry for part in reversed(parts) for entry in part]
