"""Networks whose layers read several layers: refutations, and an attack by brute force."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from random import Random
from typing import cast

import pytest

from polyrelu import Network, Polyhedron, checker, identify
from polyrelu.exact import RationalMatrix
from polyrelu.network import Block, Layer, LeakyStack, from_arrays
from polyrelu.network.layers import Last
from polyrelu.outcomes import NotIdentifiable, Undecided
from polyrelu.proofs.blocks.block_move import BlockMove
from polyrelu.proofs.blocks.duplicates import duplicate_moves
from polyrelu.proofs.blocks.identify_blocks import refuted_by
from polyrelu.proofs.blocks.moves import block_moves
from polyrelu.proofs.blocks.one_sided_blocks import one_sided_block_moves
from polyrelu.proofs.next_steps import Question
from polyrelu.support.budget import Budget
from tests.generators.campaigns import few_and_all
from tests.oracles.equal_on_domain import agree_on_domain
from tests.oracles.judge import certificate_bytes
from tests.oracles.related_blocks import related_blocks

Rows = list[list[object]]
#: A layer: rows by source, and the bias.
Given = tuple[dict[int, Rows], list[object]]


def network_of(inputs: int, layers: list[Given], last: Last = "affine") -> Network:
    return Network(
        inputs,
        tuple(
            Layer(
                tuple(Block(k, RationalMatrix.from_rows(rows)) for k, rows in blocks.items()),
                RationalMatrix.column(bias),
            )
            for blocks, bias in layers
        ),
        last,
    )


#: The output reads the inputs, too. For x in [0, 1] one neuron is dead and one is linear.
ONE_LAYER: list[Given] = [({0: [[1, 0], [2, 0]]}, [-2, 1]), ({0: [[3, 1]], 1: [[1, 1]]}, [0])]
#: A hidden neuron behind the first layer is -|x|.
SECOND: list[Given] = [
    ({0: [[1], [-1]]}, [0, 0]),
    ({1: [[-1, -1], [1, 2]]}, [0, -1]),
    ({1: [[1, 1]], 2: [[1, 1]]}, [0]),
]
#: The largest of three numbers, by two maxima.
MAXIMUM: list[Given] = [
    ({0: [[1, -1, 0]]}, [0]),
    ({0: [[0, -1, 1]], 1: [[-1]]}, [0]),
    ({0: [[0, 1, 0]], 1: [[1]], 2: [[1]]}, [0]),
]


@pytest.mark.parametrize(
    ("inputs", "layers", "domain", "reason"),
    [
        (2, ONE_LAYER, "box:0,1", "neuron 0 of layer 1 is dead on the box around the domain"),
        (2, ONE_LAYER, None, "neuron 0 of layer 1 can be negated"),
        (2, ONE_LAYER, "box:3,4", "neuron 0 of layer 1 is never negative"),
        (1, SECOND, None, "neuron 0 of layer 2 is dead on the box of all values"),
        (3, MAXIMUM, None, "neuron 0 of layer 1 can be negated"),
        (
            2,
            [({0: [[1, 0], [2, 0]]}, [1, 3]), ({0: [[1, 1]], 1: [[0, 1]]}, [0])],
            None,
            "is unused",
        ),
        (1, [({0: [[0]]}, [-1]), ({0: [[1]], 1: [[1]]}, [0])], None, "is dead on R^n"),
        (1, [({0: [[0]]}, [2]), ({0: [[1]], 1: [[1]]}, [0])], None, "never negative on R^n"),
    ],
)
@pytest.mark.parametrize("last", ["affine", "relu"])
def test_refutations(
    inputs: int, layers: list[Given], domain: str | None, reason: str, last: Last
) -> None:
    """Each case; the sentences name the class, and the checker accepts."""
    outcome = identify(network_of(inputs, layers, last), domain)
    assert isinstance(outcome, NotIdentifiable)
    assert reason in outcome.explanation
    assert "whose layers read the same layers" in str(outcome.certificate.claim)
    report = checker.check_bytes(certificate_bytes(outcome))
    assert report.verdict == "accepted", report
    assert (
        "among all parameters of all networks of its widths whose layers read the same layers, "
        "with any weights (FORMAT.md, section 3.14): network" in report.statement
    )


def test_what_is_not_refuted() -> None:
    """No neuron has one sign, and the output does not read what layer 2 reads."""
    layers: list[Given] = [
        ({0: [[1], [-1]]}, [1, 1]),
        ({0: [[1]], 1: [[1, -1]]}, [0]),
        ({1: [[1, 2]], 2: [[1]]}, [0]),
    ]
    outcome = identify(network_of(1, layers))
    assert isinstance(outcome, Undecided)
    assert "neurons that nothing reads" in outcome.attempts[0].reason
    other = identify(network_of(2, ONE_LAYER), among="generic")
    assert isinstance(other, Undecided)
    assert "have the class all" in other.reason


def test_an_absolute_value_is_a_network_of_blocks() -> None:
    """Slope -1 has no theorem on leaky ReLUs, but it has a shortcut."""
    stack = from_arrays([([[1], [2]], [1, 3]), ([[1, 1]], [0])])
    outcome = identify(LeakyStack(Fraction(-1), stack).network())
    assert isinstance(outcome, NotIdentifiable)
    assert outcome.certificate.theorem == "blocks-neuron"


def test_a_block_does_not_become_zero() -> None:
    """The only neuron that reads the input is dead; no file has a block of zeros."""
    layers: list[Given] = [
        ({0: [[1], [-1]]}, [0, 0]),
        ({0: [[-1], [0]], 1: [[0, -1], [1, -1]]}, [-2, 0]),
        ({2: [[1, 1]]}, [0]),
    ]
    moves = list(block_moves(network_of(1, layers), Budget(), Polyhedron.box([0], [1])))
    assert all(move.evidence["neuron"] != 0 or move.evidence["layer"] != 2 for move in moves)


def _random_network(rng: Random) -> Network:
    """Return a network with one or two inputs and up to three layers of up to two neurons."""
    widths, layers = [rng.randint(1, 2)], list[Given]()
    for number in range(1, rng.randint(2, 3) + 1):
        width, blocks = rng.randint(1, 2), dict[int, Rows]()
        for source in range(number):
            table: Rows = [
                [rng.choice((0, 0, 1, -1, 2)) for _ in range(widths[source])] for _ in range(width)
            ]
            if source == number - 1 or any(map(any, table)):
                blocks[source] = table
        layers.append((blocks, [rng.choice((0, 1, -1, -3)) for _ in range(width)]))
        widths.append(width)
    return network_of(widths[0], layers, rng.choice(("affine", "relu")))


def _with_duplicate(network: Network, rng: Random) -> Network:
    """Return the network with a neuron that has a multiple of a row of its layer."""
    layers = [
        ({b.source: [list(row) for row in b.weight.rows()] for b in layer.blocks}, layer.bias)
        for layer in network.layers
    ]
    number, factor = rng.randint(1, network.depth - 1), rng.choice((1, 2))
    changed = [(blocks, list(bias.entries())) for blocks, bias in layers]
    for rows in changed[number - 1][0].values():
        rows.append([factor * x for x in rows[0]])
    changed[number - 1][1].append(factor * changed[number - 1][1][0])
    for blocks, _ in changed[number:]:
        for row in blocks.get(number, []):
            row.append(Fraction(rng.choice((0, 1, -1, 3))))
    return network_of(network.num_inputs, cast(list[Given], changed), network.last)


def _all_moves(network: Network, domain: Polyhedron | None) -> Iterator[BlockMove]:
    """Yield all moves; those of one neuron also as replacements of its layer."""
    for move in block_moves(network, Budget(), domain):
        layer = {"layer": move.evidence["layer"]}
        yield move
        yield move._replace(theorem="blocks-replacement", evidence=layer, difference=layer)
    yield from duplicate_moves(network, Budget(), domain)
    yield from one_sided_block_moves(network, Budget(), domain)


@pytest.mark.parametrize("count", few_and_all(4, 20))
def test_moves_keep_the_function_and_are_not_related(count: int) -> None:
    """Brute force over cells and permutations judges every move of random networks."""
    rng, cases = Random(count), set[object]()
    for number in range(count):
        network = _random_network(rng)
        network = _with_duplicate(network, rng) if number % 2 else network
        size = network.num_inputs
        for domain in (None, Polyhedron.box([0] * size, [1] * size)):
            question, found = Question(network, None, 0, None, None, None, domain), Counter[str]()
            for move in _all_moves(network, domain):
                case = str(move.evidence.get("case", move.theorem))
                found[case] += 1
                if found[case] > 2:
                    continue
                whole = Polyhedron.universe(size) if domain is None else domain
                assert agree_on_domain(network, move.other, whole), move
                assert not related_blocks(network, move.other), move
                document = certificate_bytes(refuted_by(question, move))
                assert checker.check_bytes(document).verdict == "accepted", move
                cases.add(case)
    assert cases == {
        *("unused", "dead", "linear", "flip", "blocks-replacement", "blocks-one-sided"),
    }


OFF: list[Given] = [
    ({0: [[1], [-1]]}, [-1, -1]),
    ({0: [[-2]], 1: [[1, 0]]}, [0]),
    ({1: [[1, 1]], 2: [[2]]}, [1]),
]
TWICE: list[Given] = [
    ({0: [[1], [-1]]}, [1, 1]),
    ({1: [[1, -1], [2, -2]]}, [1, 2]),
    ({0: [[1]], 2: [[1, 3]]}, [0]),
]


@pytest.mark.parametrize(
    ("layers", "theorem", "reason"),
    [
        (OFF, "blocks-one-sided", "neuron 0 of layer 2 is off wherever neuron 0 of layer 1 is on"),
        (TWICE, "blocks-replacement", "neurons 0 and 1 of layer 2 have one row up to scale"),
    ],
)
def test_neurons_without_one_sign(layers: list[Given], theorem: str, reason: str) -> None:
    """Neurons that are never active together, and duplicates, where no single neuron may change."""
    network = network_of(1, layers)
    outcome = identify(network)
    assert isinstance(outcome, NotIdentifiable)
    assert outcome.certificate.theorem == theorem
    assert reason in outcome.explanation
    assert next(block_moves(network, Budget()), None) is None
    assert checker.check_bytes(certificate_bytes(outcome)).verdict == "accepted"


def test_the_oracle_knows_related_networks() -> None:
    """Neurons change places and are scaled; a negated neuron is not related."""
    one = network_of(2, ONE_LAYER)
    output: Given = ({0: [[3, 1]], 1: [["1/3", "1/2"]]}, [0])
    assert related_blocks(one, network_of(2, [({0: [[6, 0], [2, 0]]}, [3, -4]), output]))
    negated: Given = ({0: [[1, 0], [-2, 0]]}, [-2, -1])
    assert not related_blocks(one, network_of(2, [negated, ONE_LAYER[1]]))
