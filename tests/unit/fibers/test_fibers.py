"""Fibers: cases computed by hand, hidden hyperplanes, the identifiable fraction, simplification."""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction
from random import Random

import pytest
import sympy

from polyrelu import checker, equivalent, identify
from polyrelu.errors import DomainError, NetworkError
from polyrelu.exact import Polyhedron, RationalMatrix
from polyrelu.fibers import (
    AvailableNeurons,
    LayerFiber,
    LinearPart,
    NeuronAssignment,
    fiber,
    flip_matrix,
    has_identifiable_signs,
    hidden_conditions,
    hidden_hyperplane,
    identifiable_fraction,
    identifiable_fraction_bounds,
    layer_fiber,
    nonnegative_column_rank,
    normalised,
    simplify_layers,
    smallest_layer,
)
from polyrelu.fibers.hidden import HiddenHyperplane
from polyrelu.fibers.report import fiber_latex, fiber_text
from polyrelu.fibers.settings import FiberSettings
from polyrelu.network import Network, from_arrays
from polyrelu.outcomes import Equivalent
from polyrelu.symmetry import LayerDomain, absolute_value_form_on, related
from tests.generators.campaigns import few_and_all
from tests.generators.random_networks import random_network

UNIT = ([[1, 0], [0, 1]], [0, 0])
#: Its second layer hides neuron 0; it is generic.
HIDING = from_arrays([([[1, 2], [1, -1]], [1, 3]), ([[2, -3], [1, -5]], [-2, -7]), ([[1, 1]], [0])])
SINGLE = from_arrays(
    [([[1, 2, 0], [1, -1, 1], [0, 2, 5]], [1, 3, -2]), ([[2, -3, -1]], [-5]), ([[1], [2]], [0, 1])]
)


def proved_by_checker(first: Network, second: Network) -> bool:
    """Whether equality has a certificate that the independent checker accepts."""
    outcome = equivalent(first, second)
    if not isinstance(outcome, Equivalent):
        return False
    return bool(checker.check_bytes(outcome.certificate.to_bytes()).verdict == "accepted")


# --- Linear parts -----


def part(rows: list[list[int]], linear: int, domain: LayerDomain | None = None) -> LinearPart:
    matrix = RationalMatrix.from_rows(rows)
    nothing = RationalMatrix.from_rows([], ncols=matrix.ncols)
    return LinearPart(
        matrix, AvailableNeurons(nothing, 0, linear), domain or LayerDomain.orthant(matrix.ncols)
    )


@pytest.mark.parametrize(
    ("rows", "needed"),
    [
        ([[0, 0]], 0),
        ([[1, 2]], 1),
        ([[1, 0]], 1),  # a zero column does not count
        ([[1, -1]], 2),  # the cone of the columns is a line
        ([[1, -1], [1, 1]], 2),
        ([[1, 0, -1], [0, 1, 0]], 3),
        ([[1, 0, -1], [0, 1, 1]], 2),
        ([[1, -1, 0], [0, 1, -1]], 3),
    ],
)
def test_nonnegative_column_rank(rows: list[list[int]], needed: int) -> None:
    """It is the rank if the nonzero columns lie on one side, else one more (Props. 28 and 29)."""
    assert [part(rows, r).is_realisable for r in range(5)] == [r >= needed for r in range(5)]
    found = part(rows, needed).realisation()
    assert found is not None
    product = found.linear_weights @ found.linear_forms
    assert product == RationalMatrix.from_rows(rows)
    assert all(entry >= 0 for entry in found.linear_forms.entries())


def test_certificates_of_nonnegative_rank() -> None:
    """Certificates verify, damaged ones do not, and the value agrees with `is_realisable`."""
    rng = Random("nonnegative rank")
    seen = set()
    for _ in range(60):
        m, n = rng.randint(1, 4), rng.randint(1, 4)
        matrix = RationalMatrix.from_rows(
            [[rng.randint(-2, 2) for _ in range(n)] for _ in range(m)]
        )
        found = nonnegative_column_rank(matrix)
        assert found.verify()
        seen.add(found.value - found.rank)
        nothing = RationalMatrix.zeros(0, n)
        domain = LayerDomain.orthant(n)
        assert [
            LinearPart(matrix, AvailableNeurons(nothing, 0, r), domain).is_realisable
            for r in range(6)
        ] == [r >= found.value for r in range(6)]
        if found.pointing is not None and found.rank:
            assert not replace(found, pointing=tuple(-entry for entry in found.pointing)).verify()
        if found.relation is not None:
            assert not replace(found, relation=(Fraction(),) * n).verify()
            assert not replace(found, relation=tuple(-entry for entry in found.relation)).verify()
        if not matrix.is_zero():
            assert not replace(found, left_factor=found.left_factor.scale(2)).verify()
            assert not replace(
                found,
                left_factor=found.left_factor.scale(-1),
                right_factor=found.right_factor.scale(-1),
            ).verify()
            assert not replace(found, rows=found.rows[1:], columns=found.columns[1:]).verify()
        if m > 1:
            twice = replace(found, rows=(0, 0), columns=(0, 0) if n == 1 else (0, 1))
            assert not twice.verify()
    assert seen == {0, 1}


def test_evidence_of_components() -> None:
    """The nonnegative rank certifies whether a flip is possible."""
    steep = from_arrays(
        [UNIT, ([[1, -4], [2, 1]], [1, 0]), ([[1, 1]], [0])]
    )  # C_S = (2, 1) and (2, 1) + (1, -4)
    for flips, empty in (((), False), ((0,), True)):
        component = layer_fiber(steep, 2).flipped(flips)
        evidence = component.evidence()
        assert evidence.verify()
        assert component.is_empty == empty == (evidence.value > 1)
        assert (evidence.pointing is None) == empty
    with pytest.raises(NetworkError, match="on the orthant"):
        layer_fiber(steep, 1).flipped([]).evidence()


@pytest.mark.parametrize(
    ("m", "n", "r", "dimension"),
    [
        (2, 2, 1, 1),
        (3, 3, 2, 4),
        (3, 2, 2, 4),
        (2, 3, 2, 4),
        (2, 2, 3, 8),
        (1, 1, 2, 3),
        (3, 2, 4, 14),
    ],
)
def test_generic_dimensions(m: int, n: int, r: int, dimension: int) -> None:
    """r² up to min(m, n), then r (m + n) - m n (Theorem 4.2)."""
    rng = Random(f"{m} {n} {r}")
    heads = RationalMatrix.from_rows(
        [[rng.randint(-9, 9) for _ in range(r)] for _ in range(m)], ncols=r
    )
    forms = RationalMatrix.from_rows(
        [[rng.randint(1, 9) for _ in range(n)] for _ in range(r)], ncols=n
    )
    nothing = RationalMatrix.from_rows([], ncols=n)
    assert (
        LinearPart(heads @ forms, AvailableNeurons(nothing, 0, r), LayerDomain.orthant(n)).dimension
        == dimension
    )


def test_domains_allow_other_forms() -> None:
    """A box bounds every form below, a strip only some forms, and R^n only the form 0."""
    box = LayerDomain.of(Polyhedron.box([-1, -1], [1, 1]))
    strip = LayerDomain.of(Polyhedron.from_constraints([[1, 0], [-1, 0]], [1, 1]))
    assert [part([[1, -1]], r, box).is_realisable for r in (0, 1)] == [False, True]
    assert [part([[1, 0]], r, strip).is_realisable for r in (0, 1)] == [False, True]
    assert not part([[0, 1]], 5, strip).is_realisable
    assert not part([[1, 0]], 5, LayerDomain.whole_space(2)).is_realisable


def test_a_domain_without_interior() -> None:
    with pytest.raises(DomainError, match="no interior"):
        LayerDomain.of(Polyhedron.box([0, 1], [0, 2]))


def test_normal_forms_on_a_polyhedron() -> None:
    """Normal forms on a domain are equal if and only if the functions agree on the domain."""
    triangle = LayerDomain.of(Polyhedron.from_constraints([[-1, 0], [0, -1], [1, 1]], [0, 0, 1]))
    first = from_arrays(
        [([[1, 1], [1, -1]], [-1, 0]), ([[5, 1]], [0])]
    )  # x + y ≤ 1 there: neuron 0 is dead
    second = from_arrays([([[1, 0], [-1, 1]], [0, 0]), ([[1, 1]], [0])])
    third = from_arrays([([[1, -1]], [0]), ([[1]], [0])])
    forms = [
        absolute_value_form_on(net.layers[0], net.layers[1], triangle)
        for net in (first, second, third)
    ]
    assert set(forms[0].terms) == {(1, -1, 0)}
    assert forms[0] == forms[2]
    assert forms[0] != forms[1]
    assert equivalent(first, third, triangle.polyhedron).status == "proved"
    assert equivalent(first, third).status == "refuted"


# --- Layers -----


def test_flips_of_a_pointed_cone() -> None:
    """r = m < n: flipping is possible iff the columns of C_S lie on one side."""
    net = from_arrays([UNIT, ([[1, -1], [2, 1]], [1, 0]), ([[1, 1]], [0])])
    found = layer_fiber(net, 2)
    assert [found.flipped(flips).is_empty for flips in ([], [0])] == [False, False]
    steep = from_arrays(
        [UNIT, ([[1, -4], [2, 1]], [1, 0]), ([[1, 1]], [0])]
    )  # C_S = (2, 1) + (1, -4)
    assert [layer_fiber(steep, 2).flipped(flips).is_empty for flips in ([], [0])] == [False, True]


def test_the_absolute_value() -> None:
    """|x| with two neurons: one component, a point."""
    found = fiber(from_arrays([([[1], [-1]], [0, 0]), ([[1, 1]], [0])]))
    assert (found.dimension, len(found.components), found.complete) == (0, 1, "all")


def test_twins() -> None:
    """max(x, 0) with two neurons: together on one hyperplane, or one beside anything else."""
    found = fiber(from_arrays([([[1], [1]], [0, 0]), ([[1, 2]], [0])]))
    labels = [component.label for component in found.components]
    assert labels[0] == "neurons on the hyperplanes: 2+0"
    assert {
        "neurons on the hyperplanes: 1+0, 1+0 that cancel on one more hyperplane",
        "neurons on the hyperplanes: 1+0, 1 dead",
    } <= set(labels)
    assert found.dimension == 1


def test_errors() -> None:
    net = from_arrays([UNIT, ([[1, -1], [2, 1]], [1, 0]), ([[1, 1]], [0])])
    with pytest.raises(NetworkError, match="weights after it"):
        layer_fiber(net, 3)
    with pytest.raises(NetworkError, match="1 hyperplanes are visible, more than 0"):
        layer_fiber(net, 2, width=0)
    with pytest.raises(NetworkError, match="for 3 neurons, the layer has 2"):
        layer_fiber(net, 2).component(NeuronAssignment(((1, 0),), (), 1, 1))
    with pytest.raises(NetworkError, match="needs a neuron"):
        layer_fiber(net, 2).component(NeuronAssignment((), (), 1, 1))
    with pytest.raises(NetworkError, match="a hidden layer and weights after it, not 1-1"):
        fiber(from_arrays([([[1]], [0])]))
    with pytest.raises(NetworkError, match="affine output only"):
        fiber(net, Polyhedron.orthant(2))


def test_a_narrow_strip_and_a_tiny_box_have_members() -> None:
    """Hyperplanes of neurons that cancel are distinct and meet the domain, however small it is."""
    steep = from_arrays(
        [([[1, 0], [1, 0]], [0, 0]), ([["1/100000"] * 2, [-1, -1]], [0, -1]), ([[1, 1]], [0])]
    )
    assert identify(steep).status == "refuted"
    box = Polyhedron.box(["-1/100000"], ["1/100000"])
    found = fiber(from_arrays([([[1], [1], [2]], [0, 0, 5]), ([[1, 2, 0]], [0])]), box)
    for component in found.components:
        for seed in (None, 1):
            assert equivalent(found.network, component.member(seed=seed), box).status == "proved"


def test_groups_lie_apart() -> None:
    half = layer_fiber(from_arrays([([[1], [-1]], [0, 0]), ([["1/2", "-1/2"]], [0])]), 1, width=4)
    component = half.component(NeuronAssignment((), ((1, 1), (1, 1)), 0, 0))
    for seed in (None, *range(30)):
        member = component.member(seed=seed)
        assert member is not None
        assert LayerFiber(member, half.domain).given_assignment == component.assignment


def test_a_box_with_many_inputs() -> None:
    """A box in 40 dimensions works, because its 2^40 vertices are never listed."""
    domain = LayerDomain.of(Polyhedron.box([-1] * 40, [1] * 40))
    assert (domain.rays, domain.lines, domain.sign([1] * 40 + [40])) == ((), (), 1)
    half = LayerDomain.of(Polyhedron.from_constraints([[1] + [0] * 39], [1]))
    assert (len(half.rays), len(half.lines)) == (1, 39)
    assert LayerDomain.of(Polyhedron.from_constraints([[0, 0]], [1])).kind == "space"


@pytest.mark.parametrize("width", few_and_all(70, 1000))
def test_many_neurons(width: int) -> None:
    """With many neurons, two on one hyperplane, only the first assignments are visited."""
    rows = [[1, k] for k in range(width - 1)] + [[1, 0]]
    found = fiber(from_arrays([(rows, list(range(width))), ([[1] * width], [0])]))
    assert found.complete == "part"
    assert "visited" in found.reason


def test_a_trailing_relu_hides_more() -> None:
    """σ(-y - 1) is 0 for all y ≥ 0: the fiber of the layers before is a part only."""
    net = from_arrays([([[1], [2]], [0, 0]), ([[-1, -1]], [-1])], last="relu")
    assert fiber(net).complete == "part"
    with pytest.raises(NetworkError, match="affine output"):
        fiber(net, Polyhedron.orthant(1))


def test_dimensions_that_are_not_worked_out() -> None:
    """On a half plane, components with pairs or doubled hyperplanes have members, no dimension."""
    half = Polyhedron.from_constraints([[1, 0]], [1])
    found = fiber(from_arrays([([[0, 1], [0, 1]], [0, 0]), ([[1, 2]], [0])]), half)
    assert found.dimension is None
    assert {component.dimension for component in found.components} >= {None, 1}
    for component in found.components:
        assert equivalent(found.network, component.member(seed=2), half).status == "proved"
    assert "dimension not known" in fiber_text(found)


def test_only_pairs_contribute_on_lines_of_the_domain() -> None:
    """In |x| ≤ 1 only a pair can make y; a linear neuron and the pair make x and y."""
    strip = LayerDomain.of(Polyhedron.from_constraints([[1, 0], [-1, 0]], [1, 1]))
    plane = RationalMatrix.identity(2)
    nothing = RationalMatrix.zeros(0, 2)
    for pairs, linear, possible in (
        (0, 4, False),
        (1, 0, False),
        (1, 1, True),
        (1, 2, True),
        (2, 0, True),
    ):
        found = LinearPart(plane, AvailableNeurons(nothing, pairs, linear), strip).realisation(
            seed=0
        )
        assert (found is not None) == possible
        if found is not None:
            made = found.pair_weights @ found.pair_forms + found.linear_weights @ found.linear_forms
            assert made == plane
            assert not any(found.linear_forms[k, 1] for k in range(linear))


@pytest.mark.parametrize(("r", "dimension"), [(2, 4), (3, 16)])
def test_dimensions_of_special_parts(r: int, dimension: int) -> None:
    """(1, …, 10)ᵀ (1, -1): no form in its row space is ≥ 0, so U must leave it."""
    matrix = RationalMatrix.from_rows([[k, -k] for k in range(1, 11)])
    nothing = RationalMatrix.zeros(0, 2)
    assert (
        LinearPart(matrix, AvailableNeurons(nothing, 0, r), LayerDomain.orthant(2)).dimension
        == dimension
    )


def test_lists_that_are_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """A list that reaches a limit is called a part, with the reason."""
    net = from_arrays([UNIT, ([[1, -1], [2, 1], [-1, -2]], [1, 0, 3]), ([[1, 1, 2]], [0])])
    monkeypatch.setattr("polyrelu.fibers.network.SETTINGS", FiberSettings(max_visited=1))
    assert (fiber(net).complete, fiber(SINGLE).complete) == ("part", "part")
    assert "only 1 of 4 sets of flips" in fiber(SINGLE).reason
    monkeypatch.undo()
    assert (fiber(net).complete, fiber(SINGLE).complete) == ("generic", "generic")
    monkeypatch.setattr("polyrelu.fibers.network.SETTINGS", FiberSettings(max_entries=1))
    assert fiber(net).complete == "part"


def test_conditions_of_the_theorem() -> None:
    """Without rank n_1, or with a wide or a single first neuron, the list is a part."""
    second, output = ([[1, -2], [-1, 1]], [1, 2]), ([[1, 1]], [0])
    assert fiber(from_arrays([UNIT, second, output])).complete == "generic"
    assert fiber(from_arrays([([[1, 1], [2, 2]], [0, 1]), second, output])).complete == "part"
    assert fiber(from_arrays([([[1], [2]], [0, 1]), second, output])).complete == "part"
    assert fiber(from_arrays([([[1, 1]], [0]), ([[1], [-1]], [1, 2]), output])).complete == "part"
    relu = from_arrays([UNIT, second, output], last="relu")
    assert fiber(relu).complete == "part"


def test_an_identifiable_layer_has_one_component() -> None:
    wide = from_arrays(
        [([[1, 0], [0, 1], [1, 1], [1, 2], [1, 3]], [0, 1, 2, 3, 4]), ([[1, 2, 4, 8, 16]], [0])]
    )
    found = fiber(wide)
    assert (found.complete, len(found.components), found.dimension) == ("all", 1, 0)


# --- Hidden hyperplanes -----


def hidden_of(network: Network) -> HiddenHyperplane:
    found = hidden_hyperplane(network, 1)
    assert found is not None
    return found


def test_the_half_line_of_translations() -> None:
    """The function stays the same down to the least shift and changes below it."""
    hidden = hidden_of(HIDING)
    assert (hidden.neuron, hidden.least_shift, hidden.flippable, hidden.dimension) == (
        0,
        Fraction(-1),
        (),
        1,
    )
    for shift in (-1, Fraction(-1, 2), 0, 5):
        assert proved_by_checker(HIDING, hidden.member(shift=shift))
    with pytest.raises(NetworkError, match="below the least admissible"):
        hidden.member(shift=Fraction(-9, 8))
    conditions = hidden_conditions(hidden)
    (t,) = conditions.unknowns
    assert conditions.inequalities == (t >= -1,)
    moved = hidden.member(shift=3)
    rows = [row for layer in (0, 1) for row in moved.layers[layer].augmented().rows()]
    tables = [*conditions.tables["layer 1"], *conditions.tables["layer 2"]]
    symbolic = [tuple(entry.subs(t, 3) for entry in row) for row in tables]
    assert symbolic == [
        tuple(sympy.Rational(e.numerator, e.denominator) for e in row) for row in rows
    ]


def test_below_the_least_shift_the_function_changes() -> None:
    """A shift below the least one, applied by the formula, changes the function."""
    low = Fraction(-5, 4)
    rows = HIDING.layers[0].augmented().rows()
    weights = HIDING.weight(2).rows()
    bias = list(HIDING.bias(2).entries())
    first = ([row[:-1] for row in rows], [rows[0][-1] + low, rows[1][-1]])
    second = (weights, [b - low * w[0] for b, w in zip(bias, weights, strict=True)])
    moved = from_arrays([first, second, ([[1, 1]], [0])])
    assert equivalent(HIDING, moved).status == "refuted"


def test_the_group_of_flips() -> None:
    """M_I M_J = M_{I Δ J}, and members are products with these matrices, proved equal."""
    hidden = hidden_of(SINGLE)
    assert (hidden.num_components, hidden.flippable) == (4, (1, 2))
    weights = SINGLE.weight(2).row(0)
    factors = [abs(w) / weights[0] for w in weights]
    sets = list(hidden.flips())
    for first, second in itertools.product(sets, repeat=2):
        product = flip_matrix(3, 0, factors, first) @ flip_matrix(3, 0, factors, second)
        assert product == flip_matrix(3, 0, factors, sorted(set(first) ^ set(second)))
    for flipped in sets:
        member = hidden.member(flipped=flipped)
        assert (
            member.layers[0].augmented()
            == flip_matrix(3, 0, factors, flipped) @ SINGLE.layers[0].augmented()
        )
        assert related(member, SINGLE) == (not flipped)
        assert proved_by_checker(SINGLE, member)


def test_a_normalised_network_flips_with_ones() -> None:
    net = normalised(hidden_of(SINGLE))
    assert list(net.weight(2).row(0)) == [1, -1, -1]
    assert related(net, SINGLE)
    flipped = hidden_of(net).member(flipped=[1, 2])
    rows = net.layers[0].augmented().rows()
    total = tuple(a - b - c for a, b, c in zip(*rows, strict=True))
    assert flipped.layers[0].augmented().row(0) == total
    with pytest.raises(NetworkError, match="a single neuron hides"):
        normalised(hidden_of(HIDING))


def test_dead_neurons_beside_hiding_ones() -> None:
    """Dead neurons stay dead in members, but their weights may change."""
    net = from_arrays(
        [
            ([[1, 2], [1, -1]], [1, 3]),
            ([[2, -3], [-1, -5], [0, 0]], [-2, -7, 0]),
            ([[1, 4, 1]], [0]),
        ]
    )
    hidden = hidden_of(net)
    assert (hidden.dead, hidden.dimension, hidden.flippable) == ((1, 2), 1 + 2 * 3, (1,))
    conditions = hidden_conditions(hidden)
    assert (len(conditions.unknowns), len(conditions.equations)) == (1 + 2 * (3 + 1), 2)
    assert len(conditions.tables["columns of the dead neurons"]) == 2
    for seed in range(4):
        member = hidden.sample(seed)
        assert member.widths == net.widths
        assert proved_by_checker(net, member)
    assert hidden.member().layers == net.layers


def test_nothing_is_hidden() -> None:
    assert hidden_hyperplane(from_arrays([UNIT, ([[1, -1]], [1]), ([[1]], [0])]), 1) is None
    assert (
        hidden_hyperplane(from_arrays([UNIT, ([[-1, -1]], [-1]), ([[1]], [0])]), 1) is None
    )  # all dead
    assert hidden_hyperplane(HIDING, 2) is None


# --- Fibers with two hidden layers -----


@pytest.mark.parametrize("kind", ["gaussian", "hiding", "dead", "linear", "n2 = 1"])
def test_members_of_bottleneck_fibers(kind: str) -> None:
    """Members have the same function; the fiber is one point iff the network is identifiable."""
    seen = 0
    for seed in range(12):
        network = from_arrays(random_network(kind, Random(f"fiber {kind} {seed}")))
        if network.depth != 3 or not network.num_inputs >= network.widths[1] >= 2:
            continue
        found = fiber(network)
        if found.complete != "generic":
            continue
        seen += 1
        outcome = identify(network)
        alone = found.dimension == 0 and len(found.components) == 1
        assert (outcome.status == "proved") == alone, (kind, seed, outcome)
        for component in found.components[:3]:
            for member in (component.member(), component.member(seed=seed)):
                assert member.widths == network.widths
                assert proved_by_checker(network, member), (kind, seed, component.label)
    assert seen >= 3


def test_parts_of_deeper_networks() -> None:
    net = from_arrays(
        [UNIT, ([[1, -2], [-1, 1]], [1, 2]), ([[1, 1], [2, 1]], [1, 2]), ([[1, 1]], [0])]
    )
    found = fiber(net)
    assert (found.complete, found.dimension) == ("part", 4)
    for seed, component in enumerate(found.components):
        assert proved_by_checker(net, component.member(seed=seed))


def test_a_constant_function() -> None:
    found = fiber(from_arrays([UNIT, ([[-1, -2]], [-1]), ([[1]], [3])]))
    assert (found.complete, "constant" in found.reason) == ("part", True)


def test_wide_inputs_of_a_hidden_hyperplane() -> None:
    """Layers of different widths have separate tables in LaTeX."""
    latex = fiber_latex(
        fiber(from_arrays([([[1, 2, 1], [1, -1, 0]], [1, 3]), ([[2, -3]], [-2]), ([[1]], [0])]))
    )
    assert latex.count(r"\text{layer 1: }") == latex.count(r"\text{layer 2: }") == 2


def test_groups_without_a_linear_part() -> None:
    """Two neurons that cancel have a free row; their columns are 0 if nothing is left over."""
    found = layer_fiber(
        from_arrays([([[1], [1]], [0, 0]), ([[0, 0], [0, 0], [0, 0]], [0, 0, 0])]), 1
    )
    assert found.component(NeuronAssignment((), ((1, 1),), 0, 0)).dimension == 1


def test_reports() -> None:
    found = fiber(SINGLE)
    text = fiber_text(found)
    assert "dimension 1, 4 components" in text
    assert "hyperplane of neuron 0 translated, neurons 1 2 flipped" in text
    latex = fiber_latex(found)
    assert latex.count(r"\subsection*") == 4
    assert latex.count("{") == latex.count("}")
    assert r"t \geq - \frac{5}{2}" in latex


# --- The identifiable fraction -----


@pytest.mark.parametrize(("n1", "n2"), list(itertools.product((2, 3), (1, 2, 3))))
def test_the_fraction_counts_sign_patterns(n1: int, n2: int) -> None:
    rows = list(itertools.product((1, -1), repeat=n1 + 1))
    tables = list(itertools.product(rows, repeat=n2))
    count = sum(has_identifiable_signs(table) for table in tables)
    assert Fraction(count, len(tables)) == identifiable_fraction(n1, n2)
    low, high = identifiable_fraction_bounds(n1, n2)
    assert low <= identifiable_fraction(n1, n2) <= high


@pytest.mark.parametrize("total", few_and_all(250, 600))
def test_the_fraction_among_random_networks(total: int) -> None:
    """The fraction that `identify` proves of Gaussian networks is within four deviations."""
    proved, n1, n2 = 0, 2, 2
    rng = Random(7)

    def number() -> Fraction:
        return Fraction(round(rng.gauss(0, 1) * 2**20) or 1, 2**20)

    for _ in range(total):
        layers = [
            ([[number() for _ in range(n)] for _ in range(m)], [number() for _ in range(m)])
            for n, m in itertools.pairwise((2, n1, n2, 1))
        ]
        outcome = identify(from_arrays(layers))
        assert outcome.status in ("proved", "refuted")
        signs = [
            [1 if entry > 0 else -1 for entry in (*row, bias)]
            for row, bias in zip(*layers[1], strict=True)
        ]
        assert (outcome.status == "proved") == has_identifiable_signs(signs)
        proved += outcome.status == "proved"
    expected = identifiable_fraction(n1, n2)
    assert (proved - total * expected) ** 2 <= 16 * total * expected * (1 - expected)


def test_the_fraction_needs_two_neurons() -> None:
    with pytest.raises(NetworkError, match="at least two"):
        identifiable_fraction(1, 2)


# --- Simplification -----


def test_simplify_on_a_box() -> None:
    """Neurons that do not bend in the box cost at most one neuron for the linear part."""
    net = from_arrays([([[1], [1], [2], [-1]], [5, -5, 9, -8]), ([[1, 7, 3, 2]], [0])])
    small = simplify_layers(net, Polyhedron.box([-1], [1]))
    assert (small.network.widths, small.is_smallest) == ((1, 1, 1), (True,))
    assert equivalent(net, small.network, Polyhedron.box([-1], [1])).status == "proved"
    assert simplify_layers(net).network.widths == (1, 4, 1)


def test_simplify_deep() -> None:
    """Dead, doubled, merged and linear neurons are removed without changing the function."""
    net = from_arrays(
        [
            ([[1, 0], [0, 1], [2, 0], [1, 1]], [0, 0, 0, -1]),
            ([[1, -1, 2, 0], [-1, -1, -1, -1], [1, 1, 1, 1], [3, -3, 6, 0]], [1, -1, 2, 3]),
            ([[1, 2, 3, 4]], [5]),
        ]
    )
    small = simplify_layers(net).network
    assert small.widths == (2, 3, 2, 1)
    assert proved_by_checker(net, small)


def test_simplify_beyond_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a low limit the layer still has the map, but is called smallest only with a proof."""
    rng = Random("beyond")
    narrower = 0
    for _ in range(24):
        rows = [[rng.randint(1, 3), -rng.randint(1, 3)] for _ in range(4)]
        rows += [
            [-entry for entry in row] for row in rows[:2]
        ]  # opposite neurons: which orientation is cheaper?
        bias = [rng.randint(0, 3) for _ in range(4)]
        heads = [rng.randint(1, 3) for _ in range(6)]
        layers = [(rows, [*bias, -bias[0], -bias[1]]), ([heads], [1])]
        net = from_arrays(layers)
        whole = simplify_layers(net, Polyhedron.orthant(2))
        with monkeypatch.context() as patched:
            settings = FiberSettings(max_assignments=1)
            patched.setattr("polyrelu.fibers.minimal_layer.SETTINGS", settings)
            cut = simplify_layers(net, Polyhedron.orthant(2))
        assert equivalent(net, cut.network, Polyhedron.orthant(2)).status == "proved"
        assert whole.is_smallest == (True,)
        assert whole.network.widths[1] <= cut.network.widths[1] <= 6
        narrower += whole.network.widths[1] < cut.network.widths[1]
        assert not (cut.is_smallest[0] and whole.network.widths[1] < cut.network.widths[1])
    assert narrower > 0


def test_smallest_true_false_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """True: proved; None: not known; False: a narrower layer is known, and cannot be written."""
    net = from_arrays([([[1], [-1], [3]], [0, 0, -2]), ([[1, -1, 2]], [0])])
    small = simplify_layers(net)
    assert (small.network.widths, small.is_smallest) == ((1, 2, 1), (True,))
    # three hyperplanes with dependent matrices: linear algebra alone does not decide
    dependent = from_arrays([([[1], [-1], [1], [2]], [0, 1, 2, 7]), ([[1, -2, 4, 1]], [0])])
    with monkeypatch.context() as patched:
        settings = FiberSettings(max_assignments=0)
        patched.setattr("polyrelu.fibers.minimal_layer.SETTINGS", settings)
        cut = simplify_layers(dependent, Polyhedron.box([-3], [3]))
    assert cut.is_smallest == (None,)
    assert simplify_layers(dependent, Polyhedron.box([-3], [3])).is_smallest == (True,)

    def too_long(*_: object) -> Network:
        raise NetworkError("numbers of more bits than network files hold")

    monkeypatch.setattr(Network, "replace_layers", too_long)
    kept = simplify_layers(net)
    assert (kept.network, kept.is_smallest) == (net, (False,))


def test_lower_bound_on_neurons() -> None:
    """x on R needs two neurons, and the lower bound says so."""
    found = smallest_layer(
        layer_fiber(from_arrays([([[1], [-1], [2]], [0, 0, 7]), ([[1, -1, 0]], [3])]), 1)
    )
    assert (found.width, found.at_least, found.is_smallest) == (2, 2, True)


def test_an_affine_map_needs_two_neurons_on_a_line() -> None:
    small = simplify_layers(from_arrays([([[1], [-1], [2]], [0, 0, 7]), ([[1, -1, 0]], [3])]))
    assert (small.network.widths, small.is_smallest) == ((1, 2, 1), (True,))
    constant = simplify_layers(from_arrays([([[1], [1], [2]], [0, 0, 7]), ([[1, -1, 0]], [3])]))
    assert (constant.network.widths, constant.is_smallest) == ((1, 1, 1), (True,))
