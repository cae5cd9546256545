"""Networks: evaluation, patterns, errors, canonical bytes against FORMAT.md, normal forms."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import pickle
import random
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given, strategies as st

from polyrelu.errors import NetworkError
from polyrelu.exact import RationalMatrix
from polyrelu.network import (
    ActivationPattern,
    Block,
    Layer,
    Network,
    NeuronId,
    SignVector,
    affine_map_table,
    canonical_bytes,
    from_arrays,
    from_document,
    output_derivative,
    to_document,
)
from polyrelu.symmetry import canonical_form, permute, related, rescale
from tests.generators.campaigns import case, examples, few_and_all
from tests.generators.strategies import (
    exact_network,
    plain_stacks,
    points,
    rationals,
    shaped_rows,
    small_rationals,
)
from tests.oracles import cells, grid, plain

Last = Literal["affine", "relu"]

# --- Evaluation ----------------------------------------------------------------------------------


@given(plain_stacks(), st.data())
def test_plain_stacks_evaluate_like_plain_loops(layers: plain.Network, data: st.DataObject) -> None:
    batch = data.draw(st.lists(points(plain.input_dimension(layers)), min_size=1, max_size=4))
    network, trailing = exact_network(layers), exact_network(layers, "relu")
    outputs = [tuple(plain.evaluate(layers, x)) for x in batch]
    assert network.evaluate(batch) == outputs
    assert [network(x) for x in batch] == outputs
    assert trailing.evaluate(batch) == [
        tuple(max(y, Fraction(0)) for y in output) for output in outputs
    ]
    found = network.preactivations(batch)
    for position, x in enumerate(batch):
        assert [list(z.transpose().row(position)) for z in found] == plain.preactivations(layers, x)


@given(plain_stacks(), st.data())
def test_sign_vector_and_affine_map(layers: plain.Network, data: st.DataObject) -> None:
    x = data.draw(points(plain.input_dimension(layers)))
    network, trailing = exact_network(layers), exact_network(layers, "relu")
    expected = plain.sign_vector(layers, x)
    signs = network.sign_vector(x)
    assert signs.layers == tuple(plain.split_by_layer(layers, expected))
    for number, row in enumerate(signs.layers, 1):
        assert signs.active(number) == tuple(i for i, sign in enumerate(row) if sign > 0)
    found = network.affine_map_at(x)
    assert [list(row) for row in found.matrix.beside(found.offset).rows()] == cells.affine_map(
        layers, expected
    )
    assert found == network.affine_map(signs)
    assert found(x) == network(x)
    assert trailing.affine_map_at(x)(x) == trailing(x)
    last = tuple((z > 0) - (z < 0) for z in plain.evaluate(layers, x))
    assert trailing.sign_vector(x).layers == (*signs.layers, last)


@given(plain_stacks(), st.data())
def test_three_encodings_of_a_pattern_give_one_map(
    layers: plain.Network, data: st.DataObject
) -> None:
    x = data.draw(points(plain.input_dimension(layers)))
    network = exact_network(layers)
    signs = network.sign_vector(x)
    pattern = signs.activation_pattern
    row = np.array([sign > 0 for layer in signs.layers for sign in layer], dtype=bool)
    assert ActivationPattern.from_row(row, network.widths[1:-1]) == pattern
    for number in range(1, network.num_hidden_layers + 1):
        assert pattern.active(number) == signs.active(number)
    found = network.affine_map(pattern)
    assert found == network.affine_map(signs)
    assert list(network.affine_maps([pattern, signs])) == [found, found]
    denominator, table = affine_map_table(network, row[None, :])
    assert RationalMatrix.from_integers(table[0].tolist(), denominator) == found.matrix.beside(
        found.offset
    )
    for neuron in network.neurons:
        derivative = output_derivative(network, signs, neuron)
        assert output_derivative(network, pattern, neuron) == derivative


def test_pattern_text_and_types() -> None:
    pattern = ActivationPattern.from_row([True, False, False], [1, 0, 2])
    assert str(pattern) == "+||.."
    assert [type(on) for layer in pattern.layers for on in layer] == [bool] * 3
    assert ActivationPattern.from_row([], []).layers == ()


@pytest.mark.parametrize(
    "row", [[True], [True] * 3, [[True, False]], np.array([1, -1], dtype=np.int8)]
)
def test_patterns_are_rows_of_truth_values(row: Any) -> None:
    """Signs are refused: -1 would be true."""
    with pytest.raises(NetworkError, match="2 neurons"):
        ActivationPattern.from_row(row, [2])


def test_tables_of_maps_need_truth_values() -> None:
    signs: Any = np.array([[1, -1]], dtype=np.int8)
    with pytest.raises(NetworkError, match="truth values"):
        affine_map_table(_NET, signs)
    with pytest.raises(NetworkError, match="2 hidden neurons"):
        affine_map_table(_NET, np.array([[True]]))


@pytest.mark.parametrize("layers", [(), ((1,),), ((1, 1, 1),), ((1, 1), (1,))])
def test_patterns_of_another_shape_have_no_map(layers: tuple[tuple[int, ...], ...]) -> None:
    with pytest.raises(NetworkError, match=r"hidden layers of \[2\]"):
        _NET.affine_map(SignVector(layers))


@pytest.mark.parametrize("layer", [-1, 0, 3])
def test_layers_count_from_1(layer: int) -> None:
    """Python's indices would read 0 as the last layer and -1 as the last but one."""
    for read in (_NET.weight, _NET.bias, lambda number: _NET.layer_forms(number, [])):
        with pytest.raises(IndexError, match=f"no layer {layer}: layers count from 1 to 2"):
            read(layer)
    with pytest.raises(IndexError, match="count from 1 to 2"):
        _NET.replace_layers({layer: _NET.layers[0]})


@pytest.mark.parametrize("layer", [-1, 0, 2])
def test_hidden_layers_count_from_1(layer: int) -> None:
    signs = _NET.sign_vector([1, 2])
    for pattern in (signs, signs.activation_pattern):
        with pytest.raises(IndexError, match=f"no hidden layer {layer}: they count from 1 to 1"):
            pattern.active(layer)


@pytest.mark.parametrize("neuron", [(0, 0), (2, 0), (1, -1), (1, 2)])
def test_derivatives_are_about_hidden_neurons(neuron: tuple[int, int]) -> None:
    with pytest.raises(IndexError, match="no hidden neuron"):
        output_derivative(_NET, _NET.sign_vector([1, 2]), NeuronId(*neuron))


def test_sign_vector_text() -> None:
    network = from_arrays([([[1], [-1], [0]], [0, 0, 0]), ([[1, 1, 1]], [-1]), ([[1]], [0])])
    assert str(network.sign_vector([2])) == "+-0|+"


def test_points_may_be_arrays_and_text() -> None:
    network = from_arrays([([[1, 2]], [0])])
    array: Any = np.array([[0.5, 0.25], [3, 4]])
    assert network(array[0]) == (Fraction(1),)
    assert network(["1/2", 3]) == (Fraction(13, 2),)
    assert network.evaluate(array) == [(Fraction(1),), (Fraction(11),)]
    assert network.evaluate([]) == []


@st.composite
def _skip_networks(draw: st.DrawFn) -> Network:
    """Networks whose layers read any earlier layers."""
    widths = draw(st.lists(st.integers(1, 3), min_size=2, max_size=5))
    layers: list[Layer] = []
    for number in range(1, len(widths)):
        earlier = draw(st.sets(st.integers(0, number - 1)))
        blocks = []
        for source in sorted({*earlier, number - 1}):
            rows = draw(shaped_rows(widths[number], widths[source]))
            if source == number - 1 or any(any(row) for row in rows):
                blocks.append(Block(source, RationalMatrix.from_rows(rows)))
        bias = draw(shaped_rows(widths[number], 1))
        layers.append(Layer(tuple(blocks), RationalMatrix.from_rows(bias)))
    return Network(widths[0], tuple(layers), draw(st.sampled_from(["affine", "relu"])))


def _loops(network: Network, x: Sequence[Fraction]) -> list[list[Fraction]]:
    """z[1], …, z[L], entry by entry."""
    activations: list[list[Fraction]] = [list(x)]
    result: list[list[Fraction]] = []
    for layer in network.layers:
        z = []
        for i in range(layer.width):
            value = layer.bias[i, 0]
            for block in layer.blocks:
                for j, a in enumerate(activations[block.source]):
                    value += block.weight[i, j] * a
            z.append(value)
        result.append(z)
        activations.append([max(v, Fraction(0)) for v in z])
    return result


def _plain_output(network: Network, x: Sequence[Fraction]) -> tuple[Fraction, ...]:
    last = _loops(network, x)[-1]
    return tuple(max(v, Fraction(0)) for v in last) if network.last == "relu" else tuple(last)


@given(_skip_networks(), st.data())
def test_networks_with_skip_connections(network: Network, data: st.DataObject) -> None:
    batch = data.draw(st.lists(points(network.num_inputs), min_size=1, max_size=3))
    assert network.evaluate(batch) == [_plain_output(network, x) for x in batch]
    for x in batch:
        hidden = _loops(network, x)[: network.num_hidden_layers]
        assert network.sign_vector(x).layers == tuple(
            tuple((v > 0) - (v < 0) for v in z) for z in hidden
        )
        assert network.affine_map_at(x)(x) == network(x)
    assert network.is_plain == all(len(layer.blocks) == 1 for layer in network.layers)
    assert network.num_parameters == sum(
        layer.width + sum(len(list(block.weight.entries())) for block in layer.blocks)
        for layer in network.layers
    )


@given(_skip_networks(), st.data())
def test_affine_maps_have_the_slope_of_their_cell(network: Network, data: st.DataObject) -> None:
    """Where no preactivation is 0, a small step stays in the cell."""
    x = data.draw(points(network.num_inputs))
    found = network.affine_map_at(x)
    if any(0 in layer for layer in network.sign_vector(x).layers):
        return
    for j in range(network.num_inputs):
        step = Fraction(1, 2**200)
        moved = [v + step * (i == j) for i, v in enumerate(x)]
        assert network.sign_vector(moved) == network.sign_vector(x)
        difference = [(b - a) / step for a, b in zip(network(x), network(moved), strict=True)]
        assert difference == [row[j] for row in found.matrix.rows()]


# --- Shapes, errors, immutability ---------------------------------------------------------------


def test_shape_properties() -> None:
    network = from_arrays([(np.ones((3, 2)), np.ones(3)), (np.ones((1, 3)), np.ones(1))])
    trailing = from_arrays([(np.ones((3, 2)), np.ones(3))], "relu")
    assert (network.num_inputs, network.num_outputs, network.depth, network.num_hidden_layers) == (
        2,
        1,
        2,
        1,
    )
    assert network.widths == (2, 3, 1)
    assert str(network.architecture) == "2-3-1"
    assert network.num_parameters == 13
    assert [(n.layer, n.index) for n in network.neurons] == [(1, 0), (1, 1), (1, 2)]
    assert trailing.num_hidden_layers == 1
    assert str(trailing.architecture) == "2-3 (trailing ReLU)"
    assert network.weight(2).shape == (1, 3)
    assert network.bias(1).shape == (3, 1)


def _matrix(nrows: int, ncols: int) -> RationalMatrix:
    return RationalMatrix.zeros(nrows, ncols)


_NET = from_arrays([([[1, 2], [3, 4]], [0, 1]), ([[1, 1]], [0])])
_SKIP = Network(
    1,
    (
        Layer((Block(0, _matrix(1, 1)),), _matrix(1, 1)),
        Layer((Block(0, RationalMatrix.identity(1)), Block(1, _matrix(1, 1))), _matrix(1, 1)),
    ),
)

_WRONG: dict[str, tuple[Callable[[], object], str]] = {
    "no layers": (lambda: from_arrays([]), "at least one layer"),
    "no inputs": (
        lambda: Network(0, (Layer((Block(0, _matrix(1, 0)),), _matrix(1, 1)),)),
        "at least one input",
    ),
    "no neurons": (
        lambda: from_arrays([(np.zeros((0, 2)), np.zeros(0))]),
        "layer 1: the bias must be a nonempty",
    ),
    "widths": (
        lambda: from_arrays([([[1]], [0]), ([[1, 2]], [0])]),
        r"layer 2: .*\(1, 2\), expected \(1, 1\)",
    ),
    "bias length": (
        lambda: from_arrays([([[1]], [0, 0])]),
        r"layer 1: .*\(1, 1\), expected \(2, 1\)",
    ),
    "bias matrix": (
        lambda: from_arrays([([[1]], np.zeros((1, 1)))]),
        "layer 1, b: expected an array of dimension 1",
    ),
    "weight vector": (
        lambda: from_arrays([(np.zeros(2), [0])]),
        "layer 1, W: expected an array of dimension 2",
    ),
    "ragged": (
        lambda: from_arrays([([[1, 2], [3]], [0, 0])]),
        "layer 1, W: the rows have different lengths",
    ),
    "not finite": (
        lambda: from_arrays([(np.array([[np.nan]]), [0])]),
        r"layer 1, W: entry \[0, 0\] is nan",
    ),
    "not a number": (lambda: from_arrays([([["a"]], [0])]), "layer 1, W: 'a'"),
    "truth value": (lambda: from_arrays([([[True]], [0])]), "layer 1, W: True is a truth value"),
    "no blocks": (lambda: Network(1, (Layer((), _matrix(1, 1)),)), "layer 1: its blocks"),
    "no block from before": (
        lambda: Network(1, (*_SKIP.layers[:1], Layer((Block(0, _matrix(1, 1)),), _matrix(1, 1)))),
        "layer 2: its blocks must come from ascending earlier layers up to 1",
    ),
    "block from itself": (
        lambda: Network(1, (Layer((Block(1, _matrix(1, 1)),), _matrix(1, 1)),)),
        "its blocks",
    ),
    "negative source": (
        lambda: Network(
            1, (Layer((Block(-1, _matrix(1, 1)), Block(0, _matrix(1, 1))), _matrix(1, 1)),)
        ),
        "layer 1: its blocks",
    ),
    "block twice": (
        lambda: Network(
            1, (Layer((Block(0, _matrix(1, 1)), Block(0, _matrix(1, 1))), _matrix(1, 1)),)
        ),
        "layer 1: its blocks",
    ),
    "point too short": (lambda: _NET([1]), "expected a point of shape .2,."),
    "ragged batch": (lambda: _NET.evaluate([[1, 2], [1]]), "different lengths"),
    "point not finite": (lambda: _NET([1, float("inf")]), "not a finite number"),
    "architecture of a skip network": (lambda: _SKIP.architecture, "connections that skip layers"),
    "permute the output": (lambda: permute(_NET, 2, [0]), "layer 2 is not a hidden layer"),
    "permute the input": (lambda: permute(_NET, 0, [0, 1]), "layer 0 is not a hidden layer"),
    "not a permutation": (lambda: permute(_NET, 1, [0, 0]), "is not a permutation"),
    "too few factors": (lambda: rescale(_NET, 1, [1]), "needs 2 positive factors"),
    "factor zero": (lambda: rescale(_NET, 1, [1, 0]), "needs 2 positive factors"),
    "negative factor": (lambda: rescale(_NET, 1, [1, -1]), "needs 2 positive factors"),
    "trailing ReLU is fixed": (
        lambda: rescale(from_arrays([([[1]], [0])], "relu"), 1, [2]),
        "not a hidden layer",
    ),
}


@pytest.mark.parametrize("name", _WRONG)
def test_errors_name_the_layer_and_the_shapes(name: str) -> None:
    make, message = _WRONG[name]
    with pytest.raises(NetworkError, match=message) as caught:
        make()
    assert "\n" not in str(caught.value)


def test_last_is_affine_or_relu() -> None:
    with pytest.raises(NetworkError):
        from_arrays([([[1]], [0])], "softmax")  # type: ignore[arg-type]


def test_networks_cannot_be_changed() -> None:
    weights = np.array([[1.0, 2.0]])
    network = from_arrays([(weights, [0])])
    digest = network.sha256
    weights[0, 0] = 7
    assert network.weight(1)[0, 0] == 1
    parts: list[object] = [
        network,
        network.layers[0],
        network.layers[0].blocks[0],
        network.sign_vector([1, 2]),
    ]
    for part in parts:
        for name in [field.name for field in dataclasses.fields(part)]:  # type: ignore[arg-type]
            with pytest.raises(dataclasses.FrozenInstanceError):
                setattr(part, name, None)
    with pytest.raises((AttributeError, TypeError)):
        network.extra = 1  # type: ignore[attr-defined]
    assert network.sha256 == digest


@given(_skip_networks())
@examples(40)
def test_networks_are_values(network: Network) -> None:
    again = pickle.loads(pickle.dumps(network))
    assert again == network
    assert hash(again) == hash(network)
    changed = network.replace_layers({1: Layer(network.layers[0].blocks, network.bias(1).scale(2))})
    assert (changed == network) == network.bias(1).is_zero()
    assert (changed.sha256 == network.sha256) == network.bias(1).is_zero()


# --- Documents and canonical bytes --------------------------------------------------------------


def _spelled(number: int) -> str:
    """FORMAT.md §1: decimal below 10^1000, hexadecimal from there on."""
    if abs(number) < 10**1000:
        return str(number)
    return f"-0x{-number:x}" if number < 0 else f"0x{number:x}"


def _bytes_by_the_book(network: Network) -> bytes:
    """The canonical bytes, written from the text of FORMAT.md §2 alone."""
    text = f"polyrelu-network 1\ninputs {network.num_inputs}\n"
    for layer in network.layers:
        bias = [layer.bias[i, 0] for i in range(layer.width)]
        blocks = [
            (block.source, [list(block.weight.row(i)) for i in range(layer.width)])
            for block in layer.blocks
        ]
        everything = [*bias, *(entry for _, rows in blocks for row in rows for entry in row)]
        denominator = 1
        for entry in everything:
            denominator = (
                denominator * entry.denominator // math.gcd(denominator, entry.denominator)
            )
        text += f"layer {layer.width} {_spelled(denominator)}\n"
        text += "bias " + " ".join(_spelled(int(entry * denominator)) for entry in bias) + "\n"
        for source, rows in blocks:
            text += f"from {source}\n"
            for row in rows:
                text += " ".join(_spelled(int(entry * denominator)) for entry in row) + "\n"
    return f"{text}last {network.last}\n".encode("ascii")


def _check_identity(network: Network) -> None:
    assert canonical_bytes(network) == _bytes_by_the_book(network)
    assert network.sha256 == hashlib.sha256(_bytes_by_the_book(network)).hexdigest()
    text = json.dumps(to_document(network))
    assert text.isascii()
    assert "\\" not in text
    again = from_document(json.loads(text))
    assert again == network
    assert again.sha256 == network.sha256


@given(_skip_networks())
def test_canonical_bytes_and_documents(network: Network) -> None:
    _check_identity(network)


@given(plain_stacks(), st.sampled_from(["affine", "relu"]))
def test_canonical_bytes_and_documents_of_plain_stacks(layers: plain.Network, last: Last) -> None:
    _check_identity(exact_network(layers, last))


@given(shaped_rows(1, 2, rationals()), shaped_rows(1, 1, rationals()))
@examples(40)
def test_canonical_bytes_of_huge_and_tiny_numbers(
    weights: plain.Matrix, bias: plain.Matrix
) -> None:
    _check_identity(from_arrays([(weights, bias[0])]))


def test_canonical_bytes_of_a_known_network() -> None:
    network = Network(
        2,
        (
            Layer(
                (Block(0, RationalMatrix.from_rows([["1/2", 1], [0, "-2/3"]])),),
                RationalMatrix.column([0, "1/6"]),
            ),
            Layer(
                (
                    Block(0, RationalMatrix.from_rows([[1, 0]])),
                    Block(1, RationalMatrix.from_rows([[0, 10**1000]])),
                ),
                RationalMatrix.column([-1]),
            ),
        ),
    )
    expected = (
        "polyrelu-network 1\ninputs 2\nlayer 2 6\nbias 0 1\nfrom 0\n3 6\n0 -4\n"
        f"layer 1 1\nbias -1\nfrom 0\n1 0\nfrom 1\n0 {10**1000:#x}\nlast affine\n"
    )
    assert canonical_bytes(network) == expected.encode()


def test_hashes_tell_apart_what_differs() -> None:
    base = [([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [0])]
    networks = [
        from_arrays(base),
        from_arrays(base, "relu"),
        permute(from_arrays(base), 1, [1, 0]),
        rescale(from_arrays(base), 1, [2, 1]),
        from_arrays(base[:1]),
    ]
    assert len({network.sha256 for network in networks}) == len(networks)
    assert (
        from_arrays([(np.eye(2, dtype=np.float16), [0, 0]), ([["1", 1.0]], [0])]).sha256
        == networks[0].sha256
    )


def test_zero_skip_blocks_are_refused() -> None:
    """They could be written or left out: one function, two hashes."""
    block = Block(0, _matrix(1, 1))
    with pytest.raises(NetworkError, match="leave it out"):
        _SKIP.replace_layers(
            {2: Layer((block, Block(1, RationalMatrix.identity(1))), _matrix(1, 1))}
        )


# --- Permutation, scaling, normal form ----------------------------------------------------------


def _shuffled(random_: random.Random, network: Network) -> Network:
    """Permute and scale all free layers."""
    for number in range(1, network.depth):
        width = network.widths[number]
        factors = [Fraction(random_.randint(1, 9), random_.randint(1, 9)) for _ in range(width)]
        network = permute(
            rescale(network, number, factors), number, random_.sample(range(width), width)
        )
    return network


@given(_skip_networks(), st.integers(0, 10**6), st.data())
@examples(60)
def test_permuting_and_scaling_keep_the_function(
    network: Network, seed: int, data: st.DataObject
) -> None:
    other = _shuffled(random.Random(seed), network)
    batch = data.draw(st.lists(points(network.num_inputs), min_size=1, max_size=3))
    assert other.evaluate(batch) == network.evaluate(batch)
    assert other.widths == network.widths


@given(
    plain_stacks([2, 3, 2]),
    st.permutations(range(3)),
    st.lists(small_rationals().map(lambda x: abs(x) + 1), min_size=3, max_size=3),
)
def test_permute_and_rescale_entry_by_entry(
    layers: plain.Network, order: list[int], factors: list[Fraction]
) -> None:
    (w1, b1), (w2, b2) = layers
    network = exact_network(layers)
    permuted, scaled = permute(network, 1, order), rescale(network, 1, factors)
    assert permuted == exact_network(
        [
            ([w1[i] for i in order], [b1[i] for i in order]),
            ([[row[i] for i in order] for row in w2], b2),
        ]
    )
    assert scaled == exact_network(
        [
            (
                [[x * s for x in row] for row, s in zip(w1, factors, strict=True)],
                [x * s for x, s in zip(b1, factors, strict=True)],
            ),
            ([[x / s for x, s in zip(row, factors, strict=True)] for row in w2], b2),
        ]
    )


def _small_network(random_: random.Random, widths: Sequence[int]) -> plain.Network:
    """Entries in {-1, 0, 1}."""

    def entry() -> Fraction:
        return Fraction(random_.randint(-1, 1))

    return [
        ([[entry() for _ in range(n)] for _ in range(m)], [entry() for _ in range(m)])
        for n, m in pairwise(widths)
    ]


def _has_coupled_zero_neurons(layers: plain.Network) -> bool:
    """Whether neurons that are 0 by their weights have weights on each other.

    Such a neuron has bias 0 and reads only neurons of this kind.
    """
    zero: list[set[int]] = [set()]
    for number, (weights, bias) in enumerate(layers[:-1], 1):
        found = {
            i
            for i, row in enumerate(weights)
            if not bias[i] and not any(w for j, w in enumerate(row) if j not in zero[-1])
        }
        if number > 1 and any(weights[i][j] for i in found for j in zero[-1]):
            return True
        zero.append(found)
    return False


def _oracle_form(network: Network) -> plain.Network:
    return [
        ([list(row) for row in layer.weight.rows()], list(layer.bias.entries()))
        for layer in network.layers
    ]


def _nudged(random_: random.Random, layers: plain.Network) -> plain.Network:
    """One entry changed."""
    copy = [([list(row) for row in weights], list(bias)) for weights, bias in layers]
    weights, bias = copy[random_.randrange(len(copy))]
    row = random_.choice([*weights, bias])
    row[random_.randrange(len(row))] += random_.choice([-1, 1])
    return copy


_SHAPES = [
    (1, 2, 1),
    (2, 2, 1),
    (1, 3, 2),
    (1, 2, 2, 1),
    (2, 3, 2, 1),
    (1, 3, 3, 1),
    (1, 2, 2, 2, 1),
    (1, 1, 1, 1),
]


@pytest.mark.parametrize("count", few_and_all(7, 70))
def test_related_agrees_with_a_search_over_permutations(count: int) -> None:
    for widths in _SHAPES:
        with case(widths):
            _compare_with_a_search_over_permutations(widths, count)


def _compare_with_a_search_over_permutations(widths: tuple[int, ...], count: int) -> None:
    random_ = random.Random(str(widths))
    verdicts = {True: 0, False: 0}
    for _ in range(count):
        layers = _small_network(random_, widths)
        if _has_coupled_zero_neurons(layers):
            continue  # see test_related_when_zero_neurons_weigh_on_each_other
        network = exact_network(layers)
        shuffled = _shuffled(random_, network)
        assert related(network, shuffled)
        assert canonical_form(network) == canonical_form(shuffled)
        nudged = _nudged(random_, _oracle_form(shuffled))
        stranger = _oracle_form(_shuffled(random_, exact_network(_small_network(random_, widths))))
        for candidate in (nudged, stranger):
            if _has_coupled_zero_neurons(candidate):
                continue
            expected = grid.related(layers, candidate)
            assert related(network, exact_network(candidate)) == expected
            verdicts[expected] += 1
        assert canonical_form(canonical_form(network)) == canonical_form(network)
        assert grid.related(layers, _oracle_form(canonical_form(network)))
    assert verdicts[False] > 2 * count // 7


@given(plain_stacks([2, 3, 2, 1]), st.integers(0, 10**6))
def test_canonical_form_is_a_member_of_the_class(layers: plain.Network, seed: int) -> None:
    network = exact_network(layers)
    if _has_coupled_zero_neurons(layers):
        return
    form = canonical_form(network)
    assert canonical_form(_shuffled(random.Random(seed), network)) == form
    assert grid.related(layers, _oracle_form(form))
    assert canonical_form(form) == form


@given(_skip_networks(), st.integers(0, 10**6))
@examples(80)
def test_related_with_skip_connections(network: Network, seed: int) -> None:
    shuffled = _shuffled(random.Random(seed), network)
    if any(not any(layer.bias.entries()) for layer in network.layers[:-1]):
        network = network.replace_layers(
            {
                n: Layer(layer.blocks, _ones(layer.width))
                for n, layer in enumerate(network.layers[:-1], 1)
            }
        )  # no neurons that are 0: they are the subject of other tests
        shuffled = _shuffled(random.Random(seed), network)
    assert related(network, shuffled)
    doubled = network.replace_layers(
        {1: Layer(network.layers[0].blocks, network.bias(1).scale(-1))}
    )
    output = Layer(network.layers[-1].blocks, network.layers[-1].bias + _ones(network.num_outputs))
    assert related(doubled, _shuffled(random.Random(seed), doubled))
    assert not related(network, network.replace_layers({network.depth: output}))


def _ones(size: int) -> RationalMatrix:
    return RationalMatrix.column([1] * size)


def test_related_needs_equal_shapes_and_endings() -> None:
    layers = [([[1], [2]], [0, 1]), ([[3, 4]], [0])]
    network = from_arrays(layers)
    assert not related(network, from_arrays(layers, "relu"))
    assert not related(network, from_arrays([([[1]], [0]), ([[3]], [0])]))
    assert not related(network, from_arrays(layers[:1]))
    # The neurons of a trailing ReLU are outputs: their order and scale count.
    first = from_arrays([([[1], [2]], [0, 1])], "relu")
    assert not related(first, from_arrays([([[2], [1]], [1, 0])], "relu"))
    assert not related(first, from_arrays([([[2], [4]], [0, 2])], "relu"))


def test_related_when_zero_neurons_weigh_on_each_other() -> None:
    layers = [([[0], [1]], [0, 0]), ([[1, 0], [1, 1]], [0, 1]), ([[0, 1]], [0])]
    network = from_arrays(layers)
    scaled = rescale(network, 2, [2, 1])
    assert grid.related(_oracle_form(network), _oracle_form(scaled))
    assert related(network, scaled)


def test_zero_neurons_without_any_fixed_neighbour_are_an_error_not_a_verdict() -> None:
    network = from_arrays([([[0], [1]], [0, 0]), ([[1, 0], [0, 1]], [0, 0]), ([[0, 1]], [0])])
    with pytest.raises(NetworkError, match="no canonical form"):
        canonical_form(network)


def test_look_alikes_beyond_the_bound_are_an_error_not_a_verdict(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Five disjoint copies of one chain: 5! orderings give one network."""
    monkeypatch.setattr("polyrelu.symmetry.normal_form._LEAF_LIMIT", 100)
    network = from_arrays([([[1]] * 5, [1] * 5), (np.eye(5), np.zeros(5)), (np.ones((1, 5)), [0])])
    with pytest.raises(NetworkError, match="orderings of look-alike neurons"):
        canonical_form(network)


def test_many_twins_are_no_trouble() -> None:
    network = from_arrays(
        [([[1]] * 30, [1] * 30), (np.ones((20, 30)), np.zeros(20)), (np.ones((1, 20)), [0])]
    )
    assert related(network, _shuffled(random.Random(0), network))


def test_regular_graphs_that_colours_cannot_tell_apart() -> None:
    """A 6-cycle and two 3-cycles of ones between the layers: equal colours, yet not related."""
    cycle = [[int(j in (i, (i + 1) % 6)) for j in range(6)] for i in range(6)]
    triangles = [[int(j in (i, i - i % 3 + (i + 1) % 3)) for j in range(6)] for i in range(6)]

    def network(middle: list[list[int]]) -> Network:
        return from_arrays([([[1]] * 6, [1] * 6), (middle, [1] * 6), ([[1] * 6], [0])])

    assert not related(network(cycle), network(triangles))
    assert related(network(cycle), _shuffled(random.Random(1), network(cycle)))
    assert related(network(triangles), _shuffled(random.Random(1), network(triangles)))


def test_many_twins() -> None:
    """A thousand equal neurons need no search."""
    rows, heads = [[1, 2]] * 1000 + [[3, 1]], [[1] * 1000 + [5]]
    net = from_arrays([(rows, [1] * 1001), (heads, [0])])
    turned = permute(rescale(net, 1, [3] * 1001), 1, range(1000, -1, -1))
    assert related(net, turned)
    assert not related(net, from_arrays([(rows, [1] * 1000 + [2]), (heads, [0])]))
