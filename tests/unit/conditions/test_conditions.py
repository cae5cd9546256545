"""Conditions of theorems on networks that can be checked by hand."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import pytest

from polyrelu.breakpoints import breakpoint_complex
from polyrelu.complex import Cell, PolyhedralComplex, canonical_complex, point_in, stream_complex
from polyrelu.conditions import (
    AffinePiece,
    CollinearPieces,
    Condition,
    DeficientProduct,
    InvisibleFacet,
    Limits,
    MaskedProduct,
    OpaqueRegion,
    Parts,
    TransverseCrossing,
    WrongCell,
    ZeroExtremum,
    conditions,
    generic,
    linear_regions_property,
    masked_ranks,
    noncollinear_pieces,
    pairwise_crossings,
    pl_general,
    supertransversality,
    transparency,
    zero_extrema,
)
from polyrelu.conditions.collinear import _MaskedSums
from polyrelu.errors import DomainError
from polyrelu.exact import Polyhedron, RationalMatrix
from polyrelu.network import Block, Layer, Network, NeuronId, from_arrays

Layers = list[tuple[Any, Any]]

UNIT = [[1, 0], [0, 1]]

#: Everything holds.
GOOD: Layers = [
    ([[3, 0], [0, 1], [-1, -1]], [1, 0, 0]),
    ([[4, 3, 3], [-2, -3, -1]], [-5, 8]),
    ([[2, 1]], [1]),
]


def cells_of(layers: Layers, domain: Polyhedron | None = None) -> PolyhedralComplex:
    return canonical_complex(from_arrays(layers), domain)


def box(*sides: tuple[object, object]) -> Polyhedron:
    return Polyhedron.box([low for low, _ in sides], [high for _, high in sides])


# --- Single conditions -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("layers", "failing"),
    [
        (GOOD, set()),
        # three lines through one point
        (
            [
                ([[1, 0], [0, 3], [-3, -1]], [0, 0, 1]),
                ([[2, 3, 3], [-1, -2, -1]], [-6, 6]),
                ([[3, 1]], [-1]),
            ],
            {"supertransversal"},
        ),
        # the rows (1, 3) and (-1, -3) of the second layer
        (
            [
                ([[2, 0], [0, 1], [-3, -1]], [1, 0, 0]),
                ([[1, 3, 4], [-1, -3, -1]], [-5, 8]),
                ([[2, 1]], [-1]),
            ],
            {"masked_ranks"},
        ),
        # 2y - 5 in layer 2 and 2 (-4y + 11) - 2 = -8y + 20 in the output
        (
            [
                ([[1, 0], [0, 2], [-1, -1]], [1, 0, 1]),
                ([[3, 1, 1], [-1, -2, -1]], [-5, 11]),
                ([[3, 2]], [-2]),
            ],
            {"noncollinear"},
        ),
        # the output has a local maximum 0
        ([([[1, 0], [0, 1], [-2, -2]], [0, 1, 2]), ([[-1, -2, -2]], [2])], {"no_zero_extrema"}),
        # all of layer 1 is negative in a small triangle
        (
            [
                ([[1, 1], [0, 1], [-2, -1]], [0, 1, 0]),
                ([[2, 3, 4], [-1, -2, -3]], [-2, 7]),
                ([[3, 1]], [-2]),
            ],
            {"transparent"},
        ),
        # the neuron of layer 2 is positive everywhere
        ([([[3, 0], [0, 1], [-1, -1]], [1, 0, 0]), ([[4, 3, 3]], [5]), ([[2]], [1])], {"tpic"}),
        # where layer 2 is off, the lines of layer 1 are invisible
        (
            [([[3, 0], [0, 1], [-1, -1]], [1, 0, 0]), ([[4, 3, 3]], [-5]), ([[2]], [1])],
            {"transparent", "lra"},
        ),
        # both neurons of layer 2 are positive everywhere, and neuron 0 of layer 1 enters the
        # output with the weight 2 · 1 - 1 · 2 = 0
        (
            [GOOD[0], ([[1, 2, 1], [2, 1, 3]], [5, 7]), ([[2, -1]], [1])],
            {"masked_ranks", "noncollinear", "lra", "tpic"},
        ),
    ],
)
def test_networks_that_violate_one_condition(layers: Layers, failing: set[str]) -> None:
    found = conditions(cells_of(layers))
    parts = [condition for condition in found if not isinstance(condition.evidence, Parts)]
    assert {condition.status for condition in found} <= {"holds", "fails"}
    assert {condition.name for condition in parts if condition.status == "fails"} == failing
    together = {condition.name: condition.status for condition in found if condition not in parts}
    general = failing.isdisjoint({"masked_ranks", "noncollinear", "no_zero_extrema"})
    assert together == {
        "generic": "holds" if failing.isdisjoint({"supertransversal", "masked_ranks"}) else "fails",
        "pl_general": "holds" if general else "fails",
    }


def test_the_names_and_their_order() -> None:
    assert [condition.name for condition in conditions(cells_of(GOOD))] == [
        "supertransversal",
        "masked_ranks",
        "generic",
        "noncollinear",
        "no_zero_extrema",
        "pl_general",
        "transparent",
        "lra",
        "tpic",
    ]


# --- Transparency ------------------------------------------------------------------------------

#: max(x, 0) and max(y, 0): off for x, y < 0.
CORNER: Layers = [(UNIT, [0, 0]), ([[1, 1]], [0])]


def test_an_opaque_region() -> None:
    found = transparency(cells_of(CORNER))
    assert (found.status, found.num_checked, found.subject) == ("fails", 3, "regions")
    assert found.evidence is not None
    assert found.evidence == OpaqueRegion(found.evidence.region, 1, (Fraction(-1), Fraction(-1)))


@pytest.mark.parametrize(
    ("domain", "status", "regions"),
    [
        (box((0, 1), (0, 1)), "holds", 1),
        (box((-1, 1), (0, 1)), "holds", 2),  # x < 0 = y on its boundary
        (box((-1, 1), (Fraction(-1, 2**40), 1)), "fails", 3),
        (Polyhedron.orthant(2), "holds", 1),
        (
            Polyhedron.from_constraints([], [], [[1, 1]], [0]),
            "holds",
            2,
        ),  # a line outside the corner
        (Polyhedron.from_constraints([], [], [[1, 1]], [-1]), "fails", 2),
        (box((-1, -1), (-1, -1)), "fails", 0),
        (box((-1, -1), (0, 0)), "holds", 1),
    ],
)
def test_transparency_on_domains(domain: Polyhedron, status: str, regions: int) -> None:
    found = transparency(cells_of(CORNER, domain))
    assert (found.status, found.num_checked) == (status, regions)
    if found.evidence is not None:
        assert domain.contains(found.evidence.point)
        assert max(found.evidence.point) < 0


def test_a_neuron_that_is_zero_lets_light_through() -> None:
    assert transparency(cells_of([([[0, 0]], [0]), ([[1]], [0])])).status == "holds"
    assert transparency(cells_of([([[0, 0]], [-1]), ([[1]], [0])])).status == "fails"
    assert transparency(cells_of([([[1, 2]], [3])])).num_checked == 1, "no hidden layers"


def test_every_layer_counts() -> None:
    found = transparency(cells_of([([[1], [-1]], [0, 0]), ([[-1, -1]], [-1]), ([[1]], [0])]))
    assert found.evidence is not None
    assert (found.evidence.layer, found.num_checked) == (2, 0)
    last = canonical_complex(from_arrays([([[1], [-1]], [0, 0]), ([[-1, -1]], [-1])], "relu"))
    assert transparency(last).status == "fails"


# --- Linear regions ----------------------------------------------------------------------------


def test_an_invisible_facet() -> None:
    """In max(x, 0) - max(2x, 0) / 2 + max(y, 0) the zeros of x are invisible."""
    cells = cells_of([([[1, 0], [2, 0], [0, 1]], [0, 0, 0]), ([[1, Fraction(-1, 2), 1]], [0])])
    found = linear_regions_property(cells)
    assert (found.status, found.num_checked) == ("fails", 2)
    assert isinstance(found.evidence, InvisibleFacet)
    assert found.evidence.point[0] == 0 != found.evidence.point[1]
    assert cells.locate(found.evidence.point) == found.evidence.facet
    one, other = (cells.region(index).affine_map for index in found.evidence.regions)
    assert one == other


def test_the_boundary_of_the_domain_has_no_two_sides() -> None:
    layers: Layers = [([[1], [-1]], [0, 0]), ([[1, -1]], [0])]
    assert linear_regions_property(cells_of(layers)).status == "fails"
    assert linear_regions_property(cells_of(layers, box((0, 1)))).status == "holds"
    assert linear_regions_property(cells_of(layers, box((0, 1)))).num_checked == 0


def test_functions_are_compared_on_the_domain() -> None:
    """The function max(x, 0) + max(y, 0), or with minus in place of plus, on lines.

    On y = -x it is |x|, or x; on y = 1 only the zero of x is visible.
    """
    line = Polyhedron.from_constraints([], [], [[1, 1]], [0])
    assert linear_regions_property(cells_of(CORNER, line)).status == "holds"
    difference: Layers = [(UNIT, [0, 0]), ([[1, -1]], [0])]
    assert linear_regions_property(cells_of(difference)).status == "holds"
    assert linear_regions_property(cells_of(difference, line)).status == "fails"


def test_breakpoints_that_are_known_already() -> None:
    cells, other = cells_of(CORNER), cells_of(CORNER)
    assert linear_regions_property(cells, breakpoints=breakpoint_complex(cells)).num_checked == 4
    with pytest.raises(DomainError, match="another complex"):
        linear_regions_property(cells, breakpoints=breakpoint_complex(other))


# --- Crossings ---------------------------------------------------------------------------------


def test_four_pairs_of_signs_are_not_enough() -> None:
    """The neuron z = |y| - 2|x| of layer 2 and the neuron x do not cross.

    All pairs of signs of (x, z) occur around 0.
    """
    cells = cells_of(
        [([[1, 0], [-1, 0], [0, 1], [0, -1]], [0] * 4), ([[-2, -2, 1, 1]], [0]), ([[1]], [0])]
    )
    signs = cells.signs(2)[:, [0, 4]].tolist()
    assert {tuple(row) for row in signs} == {(1, 1), (1, -1), (-1, 1), (-1, -1)}
    found = pairwise_crossings(cells)
    assert found.evidence is not None
    assert (found.status, found.num_checked, len(found.evidence.missing)) == ("fails", 0, 4)
    assert (
        "4 of 4 pairs do not cross: neuron 0 of layer 1 and neuron 0 of layer 2, " in found.detail
    )
    assert found.detail.endswith(", …")


def test_other_neurons_may_vanish_at_a_crossing() -> None:
    """The neuron z = y of layer 2, made of y and -y of layer 1, crosses x.

    Its zeros lie on the zeros of y and -y.
    """
    cells = cells_of(
        [([[1, 0], [0, 1], [0, -1], [1, 1]], [0] * 4), ([[0, 1, -1, 0]], [0]), ([[1]], [0])]
    )
    found = pairwise_crossings(cells)
    origin = cells.locate([0, 0])
    assert found.evidence is not None
    later = NeuronId(2, 0)
    assert origin is not None
    assert found.evidence.found == tuple(
        TransverseCrossing(NeuronId(1, i), later, origin) for i in (0, 3)
    )
    assert found.evidence.missing == ((NeuronId(1, 1), later), (NeuronId(1, 2), later))


def test_a_neuron_that_is_zero_on_a_region_does_not_cross_there() -> None:
    """max(x, 0) - max(y, 0) is 0 for x, y < 0 and on x = y > 0."""
    found = pairwise_crossings(cells_of([(UNIT, [0, 0]), ([[1, -1]], [0]), ([[1]], [0])]))
    assert (found.status, found.num_checked) == ("fails", 0)


def test_neurons_that_keep_their_sign_do_not_cross() -> None:
    """|y| of a later layer is positive on both sides of y = 0.

    Likewise |x| of an earlier layer on both sides of x = 0.
    """
    later_touches: Layers = [([[1, 0], [0, 1], [0, -1]], [0] * 3), ([[0, 1, 1]], [0]), ([[1]], [0])]
    assert crossing_pairs(later_touches) == set()
    first = ([[1, 0], [-1, 0], [0, 1], [0, -1]], [0] * 4)
    second = ([[1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]], [0] * 3)
    earlier_touches: Layers = [first, second, ([[0, 1, -1]], [0]), ([[1]], [0])]
    assert crossing_pairs(earlier_touches).isdisjoint({((2, i), (3, 0)) for i in range(3)})


@pytest.mark.parametrize(("x", "y"), [(1, 1), (1, -1), (-1, 1), (-1, -1)])
def test_a_bent_hyperplane_with_more_ends_does_not_cross(x: int, y: int) -> None:
    """z = y - |2y - x| / 2 + |2y + x| / 2 is 0 on one ray with x > 0 and on three with x < 0."""
    rows = [[x, 0], [0, y], [0, -y], [-x, 2 * y], [x, -2 * y], [x, 2 * y], [-x, -2 * y]]
    layers: Layers = [(rows, [0] * 7), ([[0, 2, -2, -1, -1, 1, 1]], [0]), ([[1]], [0])]
    cells = cells_of(layers)
    zero = cells.signs(1)[cells.signs(1)[:, 7] == 0]
    assert sorted(zero[:, 0].tolist()) == [-1, -1, -1, 1]
    assert ((1, 0), (2, 0)) not in crossing_pairs(layers)


def test_what_looks_like_a_crossing_on_the_boundary() -> None:
    """The neurons |x| - y and |x + y| - y for y ≥ 0, with both signs.

    Their zeros are rays at 45° and 135°, and at 90° and 153°, in turn.
    """
    first = ([[1, 0], [-1, 0], [1, 1], [-1, -1], [0, 1]], [0] * 5)
    second = ([[1, 1, 0, 0, -1], [0, 0, 1, 1, 0], [0, 0, 0, 0, 1]], [0] * 3)
    layers: Layers = [first, second, ([[0, 1, -1]], [0]), ([[1]], [0])]
    for low in (0, -1):
        domain = Polyhedron.from_constraints([[0, -1]], [-low])
        assert ((2, 0), (3, 0)) not in crossing_pairs(layers, domain)


def crossing_pairs(
    layers: Layers, domain: Polyhedron | None = None
) -> set[tuple[tuple[int, int], tuple[int, int]]]:
    evidence = pairwise_crossings(cells_of(layers, domain)).evidence
    assert evidence is not None
    found = ((crossing.earlier, crossing.later) for crossing in evidence.found)
    return {((one.layer, one.index), (other.layer, other.index)) for one, other in found}


@pytest.mark.parametrize(
    ("domain", "missing"),
    [
        (box((-1, 3), (-1, 3)), set()),
        (box((-1, 3), (-1, 1)), {NeuronId(1, 0)}),  # the crossing at (0, 1) is on the boundary
        (box((-1, 1), (-1, 1)), {NeuronId(1, 0), NeuronId(1, 1)}),
        (
            Polyhedron.from_constraints([], [], [[0, 1]], [0]),
            {NeuronId(1, 0), NeuronId(1, 1)},
        ),  # a line
    ],
)
def test_crossings_are_inside_the_domain(domain: Polyhedron, missing: set[NeuronId]) -> None:
    found = pairwise_crossings(cells_of([(UNIT, [0, 0]), ([[1, 1]], [-1]), ([[1]], [0])], domain))
    assert found.evidence is not None
    assert {earlier for earlier, _ in found.evidence.missing} == missing
    assert found.status == ("fails" if missing else "holds")


def test_crossings_on_a_plane_in_space_and_along_lines() -> None:
    """With three inputs, of which the third has no influence or is fixed."""
    layers: Layers = [([[1, 0, 0], [0, 1, 0]], [0, 0]), ([[1, 1]], [-1]), ([[1]], [0])]
    for domain in (Polyhedron.universe(3), Polyhedron.from_constraints([], [], [[0, 0, 1]], [7])):
        cells = cells_of(layers, domain)
        found = pairwise_crossings(cells)
        assert (found.status, found.num_checked) == ("holds", 2)
        assert found.evidence is not None
        assert {crossing.cell.dimension for crossing in found.evidence.found} == {
            cells.dimension - 2
        }


def test_pairs_without_cells_of_codimension_2() -> None:
    assert pairwise_crossings(cells_of(CORNER)).status == "holds", "no pairs"
    assert (
        pairwise_crossings(cells_of([([[1]], [0]), ([[1]], [-1]), ([[1]], [0])])).status == "fails"
    )
    along_lines: Layers = [([[1, 1]], [0]), ([[1]], [-1]), ([[1]], [0])]
    assert pairwise_crossings(cells_of(along_lines)).status == "fails"


# --- Collinear pieces --------------------------------------------------------------------------


def piece(layer: int, index: int, masks: tuple[tuple[int, ...], ...], *vector: int) -> AffinePiece:
    return AffinePiece(NeuronId(layer, index), masks, tuple(map(Fraction, vector)))


def test_collinear_rows() -> None:
    found = noncollinear_pieces(
        from_arrays([([[1, 2], [3, 1], [-2, -4]], [3, 1, -6]), ([[1, 1, 1]], [5])])
    )
    assert (found.status, found.num_checked) == ("fails", 2)
    assert found.evidence == CollinearPieces(piece(1, 0, (), 1, 2, 3), piece(1, 2, (), -2, -4, -6))


def test_pieces_of_two_layers_and_of_one_unit() -> None:
    """The output is 2x + 4 where only the neuron x + 2 is on.

    One constant piece violates nothing; two do.
    """
    found = noncollinear_pieces(from_arrays([([[1], [-1]], [2, 1]), ([[2, 3]], [0])]))
    assert found.evidence == CollinearPieces(piece(1, 0, (), 1, 2), piece(2, 0, ((0,),), 2, 4))
    constant = [([[1], [-1]], [-1, 2]), ([[1, 1]], [3])]
    assert noncollinear_pieces(from_arrays(constant)).status == "holds"
    twice = from_arrays([([[1], [-1], [1]], [-1, 2, 5]), ([[1, 1, 0]], [3])])
    evidence = noncollinear_pieces(twice).evidence
    assert evidence == CollinearPieces(piece(2, 0, ((2,),), 0, 3), piece(2, 0, ((0, 1),), 0, 4))


def test_zero_is_collinear_with_everything() -> None:
    for first in ([[0], [1]], [0, 1]), ([[1], [0]], [1, 0]):
        found = noncollinear_pieces(from_arrays([first, ([[2, 3]], [7])]))
        assert found.evidence is not None
        vectors = {found.evidence.first.vector, found.evidence.second.vector}
        assert vectors == {(Fraction(0), Fraction(0)), (Fraction(1), Fraction(1))}
    assert noncollinear_pieces(from_arrays([([[0, 0]], [0])])).status == "holds", (
        "there is no second piece"
    )
    assert noncollinear_pieces(from_arrays([([[0, 0], [1, 0]], [0, 0])])).status == "fails", (
        "two outputs"
    )


def test_vectors_with_equal_hashes() -> None:
    assert hash((1, 0, -1)) == hash((1, 0, -2))
    found = noncollinear_pieces(
        from_arrays([([[1, 0], [1, 0], [2, 0]], [-1, -2, -4]), ([[1, 1, 1]], [50])])
    )
    assert found.evidence == CollinearPieces(piece(1, 1, (), 1, 0, -2), piece(1, 2, (), 2, 0, -4))


def test_units_are_constants_where_a_layer_is_off() -> None:
    """The main text of Phuong and Lampert would exclude this network, the appendix does not.

    See their section 3, condition 3.
    """
    layers: Layers = [(UNIT, [1, 2]), ([[1, 3], [2, -1]], [-9, 5]), ([[1, 1]], [7])]
    second = from_arrays(layers[:2])
    here = second.affine_map_at([-5, -5])
    assert here.matrix.is_zero(), "both units of layer 2 are constants near (-5, -5)"
    assert all(here.offset.entries())
    assert noncollinear_pieces(from_arrays(layers)).status == "holds"
    assert pl_general(cells_of(layers)).status == "holds"


def test_bounds_on_the_pieces() -> None:
    network = from_arrays(GOOD)
    count = 3 + 2 * 7 + 7 * 3
    assert noncollinear_pieces(network, limit=count) == Condition(
        "noncollinear", "holds", count, "pieces"
    )
    for limit in (count - 1, 5, 0):
        found = noncollinear_pieces(network, limit=limit)
        assert (found.status, found.num_checked) == ("unchecked", limit)
        assert found.reason == f"only {limit} pieces were looked at"
    wide = from_arrays([([[i, i * i] for i in range(1, 61)], [1] * 60), ([[1] * 60], [10**6])])
    assert noncollinear_pieces(wide, limit=200).status == "unchecked"


# --- Zero extrema ------------------------------------------------------------------------------


#: |x| in layer 2, and its height.
def valley(sign: int, bias: int, domain: Polyhedron | None = None) -> PolyhedralComplex:
    return cells_of([([[1], [-1]], [0, 0]), ([[sign, sign]], [bias]), ([[1]], [9])], domain)


@pytest.mark.parametrize(("sign", "kind"), [(1, "minimum"), (-1, "maximum")])
def test_extrema_of_a_neuron(sign: int, kind: str) -> None:
    found = zero_extrema(valley(sign, 0))
    unit, cell = NeuronId(2, 0), Cell(0, 0)
    expected = ZeroExtremum(unit, cell, kind, (Fraction(0),))  # type: ignore[arg-type]
    assert found.evidence == expected
    assert found.num_checked == 2, "the zeros of layer 1"
    assert zero_extrema(valley(sign, sign)).status == "holds", "never 0"
    assert zero_extrema(valley(sign, -sign)).num_checked == 4, (
        "two crossings and the zeros of layer 1"
    )


def test_extrema_on_the_boundary_of_the_domain_do_not_count() -> None:
    assert zero_extrema(valley(1, 0, box((0, 1)))).status == "holds"
    assert zero_extrema(valley(1, 0, box((-1, 1)))).status == "fails"
    assert zero_extrema(valley(1, 0, box((0, 0)))).status == "fails", "a point is its own interior"


def test_a_neuron_that_is_zero_on_a_region() -> None:
    found = zero_extrema(cells_of([(UNIT, [0, 0]), ([[1, 1]], [0]), ([[1]], [9])]))
    assert found.evidence is not None
    assert (found.evidence.kind, found.evidence.unit, found.evidence.cell.dimension) == (
        "constant",
        NeuronId(2, 0),
        2,
    )
    assert str(found.evidence) == "neuron 0 of layer 2 is 0 around (-1, -1)"


def test_extrema_along_a_slice() -> None:
    """The neuron y - x with y ≥ 0 is 0 on the whole line y = x and changes its sign on y = 2."""
    layers: Layers = [([[-1, 1]], [0]), ([[1]], [5])]
    assert zero_extrema(cells_of(layers)).status == "holds"
    found = zero_extrema(cells_of(layers, Polyhedron.from_constraints([], [], [[1, -1]], [0])))
    assert found.evidence is not None
    assert (found.evidence.kind, found.evidence.cell.dimension) == ("constant", 1)
    assert (
        zero_extrema(cells_of(layers, Polyhedron.from_constraints([], [], [[0, 1]], [2]))).status
        == "holds"
    )


@pytest.mark.parametrize(
    ("layers", "kind"),
    [
        (
            [([[1, 0], [-1, 0], [0, 1]], [0, 0, 0]), ([[1, 1, 0]], [0])],
            "minimum",
        ),  # |x|, which grows along rays
        ([([[1, 0], [-1, 0], [0, 1]], [0, 0, 0]), ([[-1, -1, 0]], [0])], "maximum"),
        ([([[1, 0], [0, 1]], [0, 0]), ([[1, 0]], [0])], "constant"),  # max(x, 0) for x < 0
        ([([[1, 0], [-1, 0], [0, 1]], [0, 0, 0]), ([[1, 1, 0]], [1])], None),
        ([([[1, 0], [-1, 0], [0, 1]], [0, 0, 0]), ([[1, -1, 0]], [0])], None),  # x
        # near 0 each region has points where it is positive and points where it is negative
        ([([[1, 0], [-1, 0], [0, 1], [0, -1]], [0] * 4), ([[1, -1, -1, -1]], [0])], None),
        ([([[1, 0], [-1, 0], [0, 1], [0, -1]], [0] * 4), ([[-1, 1, 1, 1]], [0])], None),
        ([([[1, 0], [-1, 0]], [0, 0]), ([[1, 1]], [-1])], None),  # |x| - 1: lines
        ([([[1, 0], [-1, 0]], [0, 0]), ([[1, 1]], [0])], "minimum"),
        ([([[1, 2]], [0])], None),  # affine: it changes along the lines of the only cell
        ([([[1, 2]], [3])], None),
        ([([[0, 0]], [0])], "constant"),
        ([([[0, 0]], [1])], None),
        ([([[1, 2], [0, 0]], [0, 0])], "constant"),
    ],
)
def test_extrema_of_outputs(layers: Layers, kind: str | None) -> None:
    cells = cells_of(layers)
    assert zero_extrema(cells, outputs=False).status == "holds"
    found = zero_extrema(cells)
    assert (found.evidence.kind if found.evidence is not None else None) == kind
    if found.evidence is not None:
        assert found.evidence.unit.layer == len(layers)
        assert from_arrays(layers)(found.evidence.point)[found.evidence.unit.index] == 0


def test_outputs_of_a_trailing_relu_are_hidden() -> None:
    cells = canonical_complex(from_arrays([([[1], [-1]], [0, 0]), ([[1, 1]], [0])], "relu"))
    for outputs in (True, False):
        found = zero_extrema(cells, outputs=outputs)
        assert found.evidence is not None
        assert (found.evidence.unit, found.evidence.kind) == (NeuronId(2, 0), "minimum")


def test_an_output_that_reads_the_input_along_lines() -> None:
    """max(x, 0) + y + t has no extrema; without y the zeros for x < 0 are an open set."""
    for weights, status in (([0, 1], "holds"), ([0, 0], "fails")):
        blocks = [Block(1, RationalMatrix.from_integers([[1]]))]
        if any(weights):
            blocks.insert(0, Block(0, RationalMatrix.from_integers([weights])))
        first = Layer(
            (Block(0, RationalMatrix.from_integers([[1, 0]])),), RationalMatrix.column([0])
        )
        network = Network(2, (first, Layer(tuple(blocks), RationalMatrix.column([0]))))
        assert zero_extrema(canonical_complex(network)).status == status


def test_only_adjacent_layers_are_asked_to_cross() -> None:
    """With three hidden layers, pairs of the first and the third are not counted."""
    layers: Layers = [(UNIT, [0, 0]), ([[1, 1], [1, -1]], [-1, 0]), ([[1, 2]], [-1]), ([[1]], [0])]
    evidence = pairwise_crossings(cells_of(layers)).evidence
    assert evidence is not None
    pairs = [(crossing.earlier.layer, crossing.later.layer) for crossing in evidence.found]
    pairs += [(earlier.layer, later.layer) for earlier, later in evidence.missing]
    assert sorted(pairs) == [(1, 2)] * 4 + [(2, 3)] * 2


def test_a_trailing_relu_has_no_outputs_besides_its_neurons() -> None:
    """max(x + 2 y - 1, 0) is 0 on a half-plane, but no unit has an extremum.

    The last neuron changes its sign.
    """
    plain = from_arrays([(UNIT, [0, 0]), ([[1, 2]], [-1])])
    cells = canonical_complex(Network(2, plain.layers, "relu"))
    assert zero_extrema(cells).status == "holds"
    assert zero_extrema(cells) == zero_extrema(cells, outputs=False)


def test_wide_layers_do_not_cost_more_than_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pieces for the first mask use only one neuron of the layer before."""
    size, asked = 60, list[int]()
    wide = from_arrays(
        [
            ([[1, j] for j in range(size)], [1] * size),
            ([[1] * size for _ in range(size)], [i + 2 for i in range(size)]),
            ([[1] * size], [0]),
        ]
    )
    original = _MaskedSums._contribution

    def counted(self: _MaskedSums, j: int) -> list[list[int]]:
        asked.append(j)
        return original(self, j)

    monkeypatch.setattr(_MaskedSums, "_contribution", counted)
    found = noncollinear_pieces(wide, limit=2 * size - 1)
    assert (found.status, found.num_checked) == ("unchecked", 2 * size - 1)
    assert set(asked) == {0}


# --- Genericity --------------------------------------------------------------------------------


def test_a_wrong_cell() -> None:
    found = supertransversality(
        cells_of([([[1, 0], [0, 1], [1, 1]], [1, -2, -1]), ([[1, 1, 1]], [0])])
    )
    assert found.evidence == WrongCell(Cell(0, 0), 2, 3, (Fraction(-1), Fraction(2)))
    assert found.num_checked == 6 + 6


def test_the_boundary_counts_for_supertransversality() -> None:
    layers: Layers = [([[1]], [0]), ([[1]], [0])]
    assert supertransversality(cells_of(layers, box((-1, 1)))).status == "holds"
    found = supertransversality(cells_of(layers, box((0, 1))))
    assert found.evidence == WrongCell(Cell(0, 0), 1, 2, (Fraction(0),), num_constraints=1)
    assert str(found.evidence).endswith(
        "has codimension 1 and 2 zeros, 1 of which is a constraint of the domain"
    )
    twice = supertransversality(cells_of(layers, Polyhedron.from_constraints([[1], [2]], [1, 2])))
    assert str(twice.evidence).endswith(
        "has codimension 1 and 2 zeros, 2 of which are constraints of the domain"
    )


def test_a_deficient_product() -> None:
    network = from_arrays(
        [([[1, 0], [0, 1]], [0, 0]), ([[1, 2], [1, -2]], [1, 1]), ([[1, -1]], [0])]
    )
    found = masked_ranks(network)
    assert found.evidence == DeficientProduct(MaskedProduct(1, ((0,), (0, 1), (0,)), 0), 1)
    assert (
        str(found.evidence)
        == "the product of layers 1 to 3 with masks {0} {0, 1} {0} has rank 0, not 1"
    )


def test_bounds_on_the_products() -> None:
    network = from_arrays(GOOD)
    count = masked_ranks(network).num_checked
    assert count == sum([7, 7 * 3, 7 * 3, 3, 3, 1])
    assert masked_ranks(network, limit=count).status == "holds"
    found = masked_ranks(network, limit=count - 1)
    assert (found.status, found.num_checked, found.reason) == (
        "unchecked",
        count - 1,
        f"only {count - 1} products were looked at",
    )
    cells = cells_of(GOOD)
    assert generic(cells, limits=Limits(products=5)).status == "unchecked"
    assert pl_general(cells, limits=Limits(products=5)).detail == "masked_ranks unchecked"
    assert pl_general(cells, limits=Limits(pieces=5)).detail == "noncollinear unchecked"
    statuses = {
        condition.name: condition.status for condition in conditions(cells, limits=Limits(5, 5))
    }
    assert {name for name, status in statuses.items() if status == "unchecked"} == {
        "masked_ranks",
        "generic",
        "noncollinear",
        "pl_general",
    }
    assert set(statuses.values()) == {"holds", "unchecked"}


def test_a_violation_settles_what_another_bound_leaves_open() -> None:
    concurrent: Layers = [([[1, 0], [0, 1], [1, 1]], [0, 0, 0]), ([[1, 1, 1]], [0])]
    assert generic(cells_of(concurrent), limits=Limits(products=1)).status == "fails"


# --- What is not defined -----------------------------------------------------------------------

ON_CELLS: list[Callable[[PolyhedralComplex], Condition[Any]]] = [
    supertransversality,
    generic,
    pl_general,
    zero_extrema,
    transparency,
    linear_regions_property,
    pairwise_crossings,
]


@pytest.mark.parametrize("check", [*ON_CELLS, conditions])
def test_incomplete_complexes_are_refused(check: Callable[[PolyhedralComplex], object]) -> None:
    cells = cells_of(GOOD)
    cells.complete = False
    with pytest.raises(DomainError, match="the complex is incomplete"):
        check(cells)


@pytest.mark.parametrize("check", [*ON_CELLS, conditions])
def test_parts_of_complexes_are_refused(check: Callable[[PolyhedralComplex], object]) -> None:
    parts = list(stream_complex(from_arrays(GOOD), limit=1))
    assert len(parts) > 1
    for part in parts:
        with pytest.raises(DomainError, match="a part of a complex"):
            check(part)
    (whole,) = stream_complex(from_arrays(GOOD), limit=10**6)
    check(whole)


def skipping() -> Network:
    unit, one = RationalMatrix.identity(2), RationalMatrix.column([1, 2])
    first, second = Layer((Block(0, unit),), one), Layer((Block(0, unit), Block(1, unit)), one)
    return Network(2, (first, second, Layer((Block(2, unit),), one)))


def undefined(found: Sequence[Condition[Any]]) -> dict[str, str]:
    return {
        condition.name: condition.reason for condition in found if condition.status == "undefined"
    }


def test_skip_connections() -> None:
    cells = canonical_complex(skipping())
    for check in (generic, pl_general, pairwise_crossings):
        with pytest.raises(DomainError, match="without skip connections"):
            check(cells)
    for on_network in (masked_ranks, noncollinear_pieces):
        with pytest.raises(DomainError, match="without skip connections"):
            on_network(skipping())
    found = undefined(conditions(cells))
    assert set(found) == {"masked_ranks", "generic", "noncollinear", "pl_general", "tpic"}
    assert (
        found["tpic"]
        == "crossings of adjacent layers: defined for networks without skip connections only"
    )
    assert found["generic"] == "supertransversal fails, masked_ranks undefined"


def test_a_trailing_relu() -> None:
    network = from_arrays(GOOD[:2], "relu")
    with pytest.raises(DomainError, match="end in an affine layer"):
        noncollinear_pieces(network)
    with pytest.raises(DomainError, match="end in an affine layer"):
        pl_general(canonical_complex(network))
    assert set(undefined(conditions(canonical_complex(network)))) == {"noncollinear", "pl_general"}


def test_a_domain_of_lower_dimension() -> None:
    plane = Polyhedron.from_constraints([], [], [[1, 1]], [Fraction(1, 3)])
    with pytest.raises(
        DomainError,
        match=r"open sets of R\^2; put the parametrisation of the domain of dimension 1",
    ):
        pl_general(cells_of(GOOD, plane))
    assert set(undefined(conditions(cells_of(GOOD, plane)))) == {"pl_general"}


# --- Text and JSON -----------------------------------------------------------------------------


def test_text() -> None:
    found = {
        condition.name: str(condition)
        for condition in conditions(cells_of(CORNER), limits=Limits(pieces=3))
    }
    assert found == {
        "supertransversal": "supertransversal: holds, 9 cells",
        "masked_ranks": "masked_ranks: holds, 7 products",
        "generic": "generic: holds, 2 conditions",
        "noncollinear": "noncollinear: fails, collinear: unit 0 of layer 1 is (1, 0, 0), "
        "unit 0 of layer 2 with masks {0} is (1, 0, 0)",
        "no_zero_extrema": "no_zero_extrema: fails, neuron 0 of layer 2 is 0 around (-1, -1)",
        "pl_general": "pl_general: fails, noncollinear fails, no_zero_extrema fails",
        "transparent": "transparent: fails, all neurons of layer 1 are negative on region 3, "
        "at (-1, -1)",
        "lra": "lra: holds, 4 cells of codimension 1",
        "tpic": "tpic: holds, 0 pairs",
    }


@pytest.mark.parametrize(
    "layers", [GOOD, CORNER, [([[1], [2]], [0, 0]), ([[1, Fraction(1, 3)]], [0])]]
)
def test_json(layers: Layers) -> None:
    for condition in conditions(cells_of(layers), limits=Limits(50, 50)):
        data = json.loads(json.dumps(condition.to_json()))
        assert list(data) == ["name", "status", "checked", "subject", "evidence", "reason"]
        assert (data["name"], data["status"], data["checked"]) == (
            condition.name,
            condition.status,
            condition.num_checked,
        )
        assert (data["evidence"] is None) == (condition.evidence is None)
    opaque = transparency(cells_of(CORNER)).to_json()["evidence"]
    assert opaque == {"region": 3, "layer": 1, "point": ["-1", "-1"]}
    assert pl_general(cells_of(CORNER)).to_json()["evidence"] == {
        "masked_ranks": "holds",
        "noncollinear": "fails",
        "no_zero_extrema": "fails",
    }


def test_points_in_cells_are_in_their_relative_interior() -> None:
    cells = cells_of(GOOD, box((-4, 4), (-3, 5)))
    for k in range(3):
        for cell in cells.cells(k):
            assert cells.locate(point_in(cells, cell)) == cell
    lines = cells_of([([[1, 1, 0], [1, 0, 0]], [0, 1]), ([[1, 1]], [0])])
    for k in range(1, 4):
        for cell in lines.cells(k):
            assert lines.locate(point_in(lines, cell)) == cell
