"""Linear neurons, conserved matrices, their derivatives and symbolic proofs on small networks."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import Any

import pytest

from polyrelu import DomainError, Network, NetworkError, NeuronId, Polyhedron, from_arrays
from polyrelu.dynamics.conserved import (
    conserved_matrix,
    conserved_quantities,
    derivative_along_flow,
    drift_of_step,
    equal_patterns,
    loss_gradients,
)
from polyrelu.dynamics.linear_neurons import (
    BoundProof,
    LinearEvidence,
    linear_evidence,
    linear_neurons,
)
from polyrelu.dynamics.symbolic import (
    DifferentialForm,
    ParameterSpace,
    symbolic_derivative,
    translation_has_no_quantity,
)
from polyrelu.exact import RationalMatrix, rank
from polyrelu.exact.form_bounds import RelaxationSlopes
from polyrelu.network import Block, Layer
from polyrelu.symmetry.hidden_hyperplanes import hidden_neurons

BOX = Polyhedron.box([0, 0], [1, 1])


def layer_of(rows: list[list[object]], bias: list[object]) -> Network:
    """One hidden layer with all outputs weighted 1."""
    return from_arrays([(rows, bias), ([[1] * len(rows)], [0])])


# -- linear neurons ------------------------------------------------------------------------------


def test_nothing_but_constants_is_linear_on_the_whole_space() -> None:
    net = layer_of([[0, 0], [0, 0], [0, 0], [1, 0]], [0, 2, -1, 5])
    found = linear_evidence(net, 1)
    assert dict(found.margins) == {0: 0, 1: 2}
    assert found.verify()


def test_a_hair_decides() -> None:
    """z = x - y + b on the unit box has the minimum b - 1."""
    hair = Fraction(1, 2**200)
    net = layer_of([[1, -1]] * 3, [1, 1 + hair, 1 - hair])
    assert dict(linear_evidence(net, 1, BOX).margins) == {0: 0, 1: hair}


def test_a_hair_decides_in_a_later_layer() -> None:
    """|x| + |y| in disguise: σ(x) + σ(-x) + …, bounded below by 0 on the whole plane."""
    hair = Fraction(1, 2**80)
    first = ([[1, 0], [-1, 0], [0, 1], [0, -1]], [0] * 4)
    net = from_arrays(
        [first, ([[1] * 4, [1] * 4, [1, 1, 1, -1]], [0, -hair, 0]), ([[1, 1, 1]], [0])]
    )
    assert dict(linear_evidence(net, 2).margins) == {0: 0}
    assert linear_evidence(net, 2).verify()


def test_unbounded_domains_use_one_sided_bounds() -> None:
    """On the orthant neuron 0 is linear and unbounded.

    σ(1 - x) is at most 1, and nothing bounds -σ(x) from below.
    """
    orthant = Polyhedron.orthant(1)
    first = ([[1], [-1]], [0, 1])
    net = from_arrays(
        [first, ([[1, -1], [-1, 0], [0, -1], [1, -2]], [1, 9, 1, 1]), ([[1] * 4], [0])]
    )
    assert dict(linear_evidence(net, 2, orthant).margins) == {0: 0, 2: 0}  # the last one is -1 at 0
    assert linear_evidence(net, 2, orthant).verify()


def test_flat_and_slanted_domains() -> None:
    line = Polyhedron.from_constraints([[-1, 0]], [0], [[1, 1]], [1])  # y = 1 - x, x ≥ 0
    point = Polyhedron.from_constraints([], [], [[1, 0], [0, 1]], ["1/3", 2])
    triangle = Polyhedron.from_constraints([[-1, 0], [0, -1], [1, 1]], [0, 0, 1])
    net = layer_of([[1, 1], [1, 0], [0, 1], [-1, -1]], [-1, 0, 0, 1])
    assert dict(linear_evidence(net, 1, line).margins) == {0: 0, 1: 0, 3: 0}
    assert dict(linear_evidence(net, 1, point).margins) == {
        0: Fraction(4, 3),
        1: Fraction(1, 3),
        2: 2,
    }
    assert dict(linear_evidence(net, 1, triangle).margins) == {1: 0, 2: 0, 3: 0}
    assert all(linear_evidence(net, 1, domain).verify() for domain in (line, point, triangle))


def test_a_dead_layer_leaves_constants() -> None:
    net = from_arrays([([[1]], [-5]), ([[-7], [3]], [0, -1]), ([[1, 1]], [0])])
    box = Polyhedron.box([-1], [1])
    assert dict(linear_evidence(net, 2, box).margins) == {0: 0}
    assert linear_neurons(net, 1, box) == ()


def test_repeated_sides_of_a_box() -> None:
    domain = Polyhedron.from_constraints([[-1], [-2], [3], [1]], [5, 2, 6, 9])  # -1 ≤ x ≤ 2
    net = layer_of([[1], [-1]], [1, 2])
    assert dict(linear_evidence(net, 1, domain).margins) == {0: 0, 1: 0}
    assert linear_evidence(net, 1, domain).verify()
    halves = Polyhedron.from_constraints(
        [[-1], [-2]], [3, 5]
    )  # x ≥ -5/2: the larger number is the tighter side
    assert dict(linear_evidence(layer_of([[2]], [5]), 1, halves).margins) == {0: 0}


def test_what_is_refused() -> None:
    net = layer_of([[1, 1]], [0])
    with pytest.raises(DomainError, match="empty"):
        linear_neurons(net, 1, Polyhedron.box([1, 0], [0, 1]))
    with pytest.raises(DomainError, match=r"R\^3"):
        linear_neurons(net, 1, Polyhedron.orthant(3))
    for layer in (0, 2):
        with pytest.raises(NetworkError, match="no hidden layer"):
            linear_neurons(net, layer)
    skipping = net.replace_layers(
        {
            2: Layer(
                (Block(0, RationalMatrix.from_integers([[1, 1]])), *net.layers[1].blocks),
                net.layers[1].bias,
            )
        }
    )
    with pytest.raises(NetworkError, match="connections that skip layers"):
        conserved_quantities(skipping)


def deep_evidence() -> LinearEvidence:
    net = from_arrays(
        [([[1, 1], [1, -1], [-1, 0]], [0, 1, "1/2"]), ([[1, -1, -1]], [3]), ([[1]], [0])]
    )
    found = linear_evidence(net, 2, BOX)
    assert found.neurons == (0,)
    assert found.verify()
    return found


def test_evidence_that_is_changed_is_rejected() -> None:
    """Every number of every proof, made stronger or moved."""
    found = deep_evidence()
    for number, proof in enumerate(found.proofs):
        changes = [replace(proof, value=proof.value + 1), replace(proof, multipliers={})]
        changes += [
            replace(proof, multipliers={**proof.multipliers, i: entry + step})
            for i, entry in proof.multipliers.items()
            for step in (1, -2 * entry)
        ]
        changes += [
            replace(proof, multipliers={**proof.multipliers, 99: Fraction(1)}),
            replace(proof, sign=2),
        ]
        for changed in changes:
            proofs = (*found.proofs[:number], changed, *found.proofs[number + 1 :])
            assert (
                not replace(found, proofs=proofs).verify()
                or changed.multipliers == proof.multipliers == {}
            )


def test_margins_need_their_proofs() -> None:
    found = deep_evidence()
    assert not replace(found, margins={**found.margins, 0: found.margins[0] + 1}).verify()
    assert not replace(found, proofs=found.proofs[:-1]).verify()
    assert not replace(found, proofs=found.proofs[-1:]).verify()
    assert not replace(found, proofs=tuple(reversed(found.proofs))).verify()


def test_a_proof_of_a_negative_bound_is_no_margin() -> None:
    net = layer_of([[1]], [0])
    box = Polyhedron.box([-1], [1])
    proof = BoundProof(NeuronId(1, 0), 1, Fraction(-1), (), {0: Fraction(1)})
    assert LinearEvidence(net, 1, box, {}, (proof,)).verify()
    assert not LinearEvidence(net, 1, box, {0: Fraction(-1)}, (proof,)).verify()


def test_forged_multipliers_and_slopes_are_rejected() -> None:
    """A negative multiplier of an inequality, or a slope outside [0, 1], would prove anything."""
    net = from_arrays([([[1]], [0]), ([[1], [-1]], [0, 1]), ([[1, 1]], [0])])
    box = Polyhedron.box([-1], [1])  # -x ≤ 1, x ≤ 1
    first = NeuronId(1, 0)
    bounds = (
        BoundProof(first, 1, Fraction(-1), (), {0: Fraction(1)}),
        BoundProof(first, -1, Fraction(-1), (), {1: Fraction(1)}),
    )
    assert LinearEvidence(net, 1, box, {}, bounds).verify()
    forged = BoundProof(first, 1, Fraction(1), (), {1: Fraction(-1)})
    assert not LinearEvidence(net, 1, box, {0: Fraction(1)}, (forged,)).verify()
    for neuron, sign, slope, value, row in (
        (0, 1, -1, -1, 1),
        (0, 1, 2, -2, 0),
        (1, 1, -1, -1, 0),
        (1, 1, 2, -1, 1),
    ):
        slopes = ((RelaxationSlopes(Fraction(slope), Fraction(slope)),),)
        proof = BoundProof(
            NeuronId(2, neuron), sign, Fraction(value), slopes, {row: Fraction(abs(slope))}
        )
        assert not LinearEvidence(net, 2, box, {}, (*bounds, proof)).verify()
    for neuron, slope, value, row in ((0, 0, 0, -1), (0, 1, -1, 0), (1, 1, -1, 1), (1, 0, 0, -1)):
        slopes = ((RelaxationSlopes(Fraction(slope), Fraction(slope)),),)
        multipliers = {row: Fraction(1)} if row >= 0 else {}
        proof = BoundProof(NeuronId(2, neuron), 1, Fraction(value), slopes, multipliers)
        assert LinearEvidence(net, 2, box, {}, (*bounds, proof)).verify()


def test_the_better_of_two_slopes_counts() -> None:
    """σ(x) ≥ 0 needs the slope 0, 1 + σ(x) - x ≥ 1 the slope 1, for x from -1 to 2."""
    net = from_arrays([([[1], [1]], [0, 2]), ([[1, 0], [1, -1]], [0, 3]), ([[1, 1]], [0])])
    assert dict(linear_evidence(net, 2, Polyhedron.box([-1], [2])).margins) == {0: 0, 1: 1}


# -- the matrix and its derivative ---------------------------------------------------------------


def test_the_matrix_is_the_definition() -> None:
    net = from_arrays([([[1, 2], [3, 4]], [5, 6]), ([[7, 8], [9, 10]], [0, 0]), ([[1, 1]], [0])])
    columns, rows = [[7, 9], [8, 10]], [[1, 2, 5], [3, 4, 6]]
    expected = [
        [
            sum(a * b for a, b in zip(columns[i], columns[j], strict=True))
            - sum(a * b for a, b in zip(rows[i], rows[j], strict=True))
            for j in (1, 0)
        ]
        for i in (1, 0)
    ]
    assert conserved_matrix(net, 1, [1, 0]) == RationalMatrix.from_integers(expected)
    assert conserved_matrix(net, 2, []).shape == (0, 0)
    for wrong in ([0, 0], [2], [-1]):
        with pytest.raises(NetworkError, match="neurons 0 to 1"):
            conserved_matrix(net, 1, wrong)


def test_a_trailing_relu_is_followed_by_no_weights() -> None:
    net = from_arrays([([[1]], [1]), ([[1]], [1])], last="relu")
    assert [entry.layer for entry in conserved_quantities(net, Polyhedron.orthant(1))] == [1]
    with pytest.raises(NetworkError, match="nothing to conserve"):
        conserved_matrix(net, 2, [0])
    assert derivative_along_flow(net, 1, [0], [[1], [2]], [[1], [5]]).is_zero()


def test_no_hidden_layer_conserves_nothing() -> None:
    assert conserved_quantities(from_arrays([([[1, 2]], [3])])) == ()


def three_neurons() -> tuple[Network, list[list[int]], list[list[int]]]:
    """Two neurons that are linear on positive data, and one that is not."""
    net = from_arrays([([[1, 2], [1, 0], [1, -1]], [1, 1, 0]), ([[1, 3, 1], [0, -1, 2]], [5, 1])])
    return net, [[1, 2], [3, 1], [5, 4]], [[1, 0], [-2, 1], [3, -1]]


def test_linear_neurons_conserve_and_others_do_not() -> None:
    net, points, gradients = three_neurons()
    assert linear_neurons(net, 1, Polyhedron.orthant(2)) == (0, 1)
    change = derivative_along_flow(net, 1, [0, 1, 2], points, gradients)
    assert change.take([0, 1], [0, 1]).is_zero()
    assert all(change[i, i] == 0 for i in range(3))
    assert change[0, 2] != 0
    assert change[1, 2] == change[2, 1] != 0


def test_neurons_with_one_pattern_conserve_too() -> None:
    """Neither neuron is linear, both are active at the last two points only."""
    net = from_arrays([([[1, 0], [1, 1], [0, 1]], [-2, -4, 0]), ([[1, 3, -1], [2, -1, 2]], [5, 1])])
    points, gradients = [[1, 2], [3, 2], [5, 4]], [[1, 0], [-2, 1], [3, -1]]
    assert equal_patterns(net, 1, points) == ((0, 1), (2,))
    change = derivative_along_flow(net, 1, [0, 1, 2], points, gradients)
    assert change[0, 1] == 0
    assert change[0, 2] != 0


def test_a_neuron_at_zero_counts_as_inactive() -> None:
    net = layer_of([[1], [2], [-1]], [0, 0, 1])
    assert equal_patterns(net, 1, [[0]]) == ((0, 1), (2,))
    assert equal_patterns(net, 1, []) == ((0, 1, 2),)


def test_gradients_that_vanish_and_no_points() -> None:
    net, points, gradients = three_neurons()
    assert derivative_along_flow(net, 1, [0, 1, 2], points, [[0, 0]] * 3).is_zero()
    assert drift_of_step(net, 1, [0, 1, 2], points, [[0, 0]] * 3).is_zero()
    assert derivative_along_flow(net, 1, [0, 2], [], []).is_zero()
    with pytest.raises(NetworkError, match="one row of 2 numbers"):
        derivative_along_flow(net, 1, [0], points, gradients[:2])


def test_no_gradient_where_a_preactivation_vanishes() -> None:
    """Except where nothing depends on it: the outgoing weight is 0, or what follows is inactive."""
    net = from_arrays([([[1], [1]], [0, 1]), ([[1, 1]], [0])])
    with pytest.raises(
        NetworkError, match="at point 1 the preactivation of neuron 0 of layer 1 is 0"
    ):
        loss_gradients(net, [[1], [0]], [[1], [1]])
    unused = from_arrays([([[1], [1]], [0, 1]), ([[0, 1]], [0])])
    assert not any(loss_gradients(unused, [[0]], [[1]])[0].row(0))
    behind = from_arrays([([[1], [1]], [0, 1]), ([[1, 1]], [-3]), ([[1]], [0])])
    assert loss_gradients(behind, [[0]], [[1]])[0].is_zero()


def test_a_step_of_gradient_descent_drifts_by_its_square() -> None:
    """Q after a step, computed from the weights after the step."""
    net, points, gradients = three_neurons()
    eta, neurons = Fraction(1, 7), [0, 1, 2]
    moved = from_arrays(
        [
            (rows.take(columns=range(rows.ncols - 1)), rows.take(columns=[rows.ncols - 1]))
            for layer, gradient in zip(
                net.layers, loss_gradients(net, points, gradients), strict=True
            )
            for rows in [layer.augmented() - gradient.scale(eta)]
        ]
    )
    before, after = (conserved_matrix(each, 1, neurons) for each in (net, moved))
    rate = derivative_along_flow(net, 1, neurons, points, gradients)
    drift = drift_of_step(net, 1, neurons, points, gradients)
    assert after == before + rate.scale(eta) + drift.scale(eta**2)
    assert not drift.is_zero()


# -- symbolic proofs -----------------------------------------------------------------------------


@pytest.mark.parametrize("sizes", [(1, 1, 1, 1), (2, 3, 1, 1), (1, 2, 2, 3)])
def test_symbolic_derivative_vanishes_for_one_pattern(sizes: tuple[int, int, int, int]) -> None:
    _, neurons, _, points = sizes
    assert symbolic_derivative(*sizes).is_zero_matrix
    pattern = [[k % 2 for k in range(points)]] * neurons
    assert symbolic_derivative(*sizes, active=pattern).is_zero_matrix


def test_symbolic_derivative_of_different_patterns() -> None:
    """The derivative is 0 on the diagonal, between equal patterns, and nowhere else.

    Each other entry is Σ (m_i - m_j)(g_i z_j - g_j z_i), which is checked, too.
    """
    import sympy

    pattern = [[1, 0], [1, 1], [1, 0]]
    change = symbolic_derivative(1, 3, 1, 2, active=pattern)
    zeros = {(i, j) for i in range(3) for j in range(3) if change[i, j] == 0}
    assert zeros == {(0, 0), (1, 1), (2, 2), (0, 2), (2, 0)}
    symbol = sympy.Symbol

    def g(i: int, k: int) -> Any:
        return symbol(f"U0{i}", real=True) * symbol(f"G0{k}", real=True)

    def z(i: int, k: int) -> Any:
        return symbol(f"V{i}0", real=True) * symbol(f"X0{k}", real=True) + symbol(
            f"V{i}1", real=True
        )

    for i in range(3):
        for j in range(3):
            closed = sum(
                (pattern[i][k] - pattern[j][k]) * (g(i, k) * z(j, k) - g(j, k) * z(i, k))
                for k in range(2)
            )
            assert sympy.expand(change[i, j] - closed) == 0


def test_symbolic_sizes_that_make_no_sense() -> None:
    with pytest.raises(NetworkError, match="at least 1"):
        symbolic_derivative(1, 0, 1, 1)
    for pattern in ([[1]], [[1], [2]], [[1, 0], [1, 0]]):
        with pytest.raises(NetworkError, match="the pattern needs 2 rows"):
            symbolic_derivative(1, 2, 1, 1, active=pattern)


@pytest.mark.parametrize(
    ("widths", "neuron"), [((1, 1, 1, 1), 0), ((2, 2, 1, 1), 1), ((1, 2, 2, 2), 1)]
)
def test_the_translation_gives_no_quantity(widths: tuple[int, ...], neuron: int) -> None:
    found = translation_has_no_quantity(widths, neuron=neuron)
    assert found.proved
    assert not found.is_closed
    assert not found.has_integrating_factor
    assert len(found.derivative) == widths[2]
    bias, entry, own = (
        next(k for k, symbol in enumerate(found.coordinates) if symbol.name == name)
        for name in (f"b{neuron}", f"A0{neuron}", "a0")
    )
    assert found.wedge[bias, entry, own] == -1


def test_the_derivative_of_a_derivative_vanishes() -> None:
    space = ParameterSpace((1, 1, 2, 1))
    product = space.A[0, 0] * space.a[1] ** 2 * space.V[0, 1] + space.W[0, 0] * space.b[0]
    assert space.exterior_derivative(space.exterior_derivative({(): product})) == {}
    one_form: DifferentialForm = {
        (0,): space.a[0] * space.V[0, 0],
        (2,): space.W[0, 0] * space.a[0],
    }
    once = space.exterior_derivative(one_form)
    assert len(once) == 4
    assert space.exterior_derivative(once) == {}


def test_a_translation_that_had_a_quantity_would_be_noticed() -> None:
    """If A were constant, α would be closed, with the quantity b - A a.

    Without the bracket nothing would be proved.
    """
    found = translation_has_no_quantity((1, 1, 1, 1))
    assert not replace(found, derivative={}).proved
    assert not replace(found, wedge={}).proved
    on_first, on_second, on_bracket = found.pairings
    assert not replace(found, pairings=(on_first, on_second, (0, *on_bracket[1:]))).proved
    assert not replace(found, pairings=((1, *on_first[1:]), on_second, on_bracket)).proved
    for widths, neuron in (((1, 1, 1), 0), ((1, 0, 1, 1), 0), ((1, 1, 1, 1), 1)):
        with pytest.raises(NetworkError, match="the translation needs"):
            translation_has_no_quantity(widths, neuron=neuron)


@pytest.mark.parametrize("rows", [1, 2])
def test_gradients_of_a_hiding_network_miss_rescaling_and_translation_only(rows: int) -> None:
    """The gradients of the output at many points have the rank that the theory page needs.

    The rank is (parameters) - (hidden neurons) - 1, the premise of "What follows" in
    docs/theory/conserved.md. All gradients are orthogonal to the translation.
    """
    first = ([[1, 2], [-1, 3], [2, -3]], [1, 1, -1])
    second = ([[3, -1, -2], [2, "-1/3", "-1/2"]][:rows], [-1, "-1/2"][:rows])
    net = from_arrays([first, second, ([[1, -2][:rows]], [1])])
    assert hidden_neurons(net, 1) == (0,)
    chance = Random(0)
    points = [[Fraction(chance.randint(-9999, 9999), 777) for _ in range(2)] for _ in range(200)]
    gradients = []
    for point in points:
        found = loss_gradients(net, [point], [[1]])
        gradients.append([entry for matrix in found for entry in matrix.entries()])
        tangent = found[0][0, 2] - sum(net.weight(2)[i, 0] * found[1][i, 3] for i in range(rows))
        assert tangent == 0
    assert rank(RationalMatrix.from_rows(gradients)) == net.num_parameters - 3 - rows - 1
