"""Weights and what follows from them, on random networks, degenerate ones included."""

from __future__ import annotations

import dataclasses
import math
from fractions import Fraction
from itertools import pairwise, product
from random import Random

import pytest

from polyrelu.breakpoints import (
    BreakpointComplex,
    breakpoint_complex,
    closed_form_jump,
    is_balanced,
    reconstruct,
    tropical_form,
    unbalanced_ridge,
)
from polyrelu.complex import PolyhedralComplex, Region, canonical_complex
from polyrelu.errors import DomainError
from polyrelu.exact import Polyhedron, RationalMatrix, rank
from polyrelu.network import AffineMap, Network, from_arrays
from tests.generators.campaigns import case, few_some_and_all
from tests.generators.quantised_networks import DOMAINS, KINDS, quantised_network, random_domain
from tests.generators.random_networks import KINDS as GAUSSIAN_KINDS, random_network
from tests.oracles import tropical as brute

#: 2,035 networks in all.
SEEDS = range(55)


def on_domain(cells: PolyhedralComplex, found: AffineMap) -> RationalMatrix:
    """[A | c] modulo the equations of the domain's affine hull."""
    return found.matrix.beside(found.offset) @ cells.frame.on_hull


def check_weights(breakpoints: BreakpointComplex, regions: list[Region]) -> None:
    """ω [n | β] is the difference of the affine maps on both sides.

    The normal is primitive, and the form is positive on the side `plus`.
    """
    cells = breakpoints.cells
    for facet in breakpoints:
        plus, minus = (regions[index] for index in (facet.plus, facet.minus))
        difference = on_domain(cells, plus.affine_map) - on_domain(cells, minus.affine_map)
        form = [*map(Fraction, facet.normal), facet.offset]
        expected = [[weight * entry for entry in form] for weight in facet.weight]
        assert difference == RationalMatrix.from_rows(expected)
        assert math.gcd(*facet.normal) == 1
        side = [
            sum(a * x for a, x in zip(facet.normal, r.interior_point, strict=True))
            for r in (plus, minus)
        ]
        assert side[0] + facet.offset > 0 > side[1] + facet.offset


def check_closed_form(breakpoints: BreakpointComplex) -> int:
    """Compare jumps with the closed form; the number of facets to which it applies."""
    count = 0
    for facet in breakpoints:
        jump = closed_form_jump(breakpoints, facet.facet.index)
        if jump is not None:
            count += 1
            assert jump == facet.jump
    return count


def check_reconstruction(
    breakpoints: BreakpointComplex, regions: list[Region], rng: Random
) -> None:
    cells = breakpoints.cells
    start = rng.randrange(cells.num_regions)
    maps = reconstruct(breakpoints, start, regions[start].affine_map)
    for found, region in zip(maps, regions, strict=True):
        assert on_domain(cells, found) == on_domain(cells, region.affine_map)
        assert found(region.interior_point) == cells.network(region.interior_point)


def check_tropical(cells: PolyhedralComplex, regions: list[Region]) -> None:
    """p - q = f at the vertices of every cell and inside all regions; duality of dimensions."""
    forms = tropical_form(cells)
    points = [cells.vertex(index) for index in range(cells.size(cells.lineality_dim))]
    points += [region.interior_point for region in regions]
    for point, outputs in zip(points, cells.network.evaluate(points), strict=True):
        assert tuple(form(point) for form in forms) == outputs
    for form in forms:
        for polynomial in (form.numerator, form.denominator):
            for cell in polynomial.dual_subdivision:
                slopes = [polynomial.terms[i][:-1] for i in cell.terms]
                differences = [
                    [a - b for a, b in zip(slope, slopes[0], strict=True)] for slope in slopes
                ]
                assert cell.dimension == rank(
                    RationalMatrix.from_rows(differences, ncols=cells.network.num_inputs)
                )
            dual_points = sum(cell.dimension == 0 for cell in polynomial.dual_subdivision)
            assert dual_points == len(polynomial.terms)


def check_mutants(breakpoints: BreakpointComplex, rng: Random) -> None:
    """If one weight is changed, no function has these weights.

    The exception is a cell without boundary inside the domain.
    """
    cells = breakpoints.cells
    position = rng.randrange(len(breakpoints))
    weights = breakpoints.weights.copy()
    weights[position, 0] += Fraction(1, 2**50)
    mutant = dataclasses.replace(breakpoints, weights=weights)
    facet, k = int(breakpoints.facets[position]), cells.dimension - 1
    offsets, ridges = cells.facets(k)
    around = ridges[offsets[facet] : offsets[facet + 1]]
    inner = len(around) > 0 and bool(cells.inside(k - 1)[around].any())
    assert is_balanced(mutant) != inner
    assert (unbalanced_ridge(mutant) is None) == is_balanced(mutant)
    start = cells.region(0).affine_map
    if inner:
        with pytest.raises(DomainError, match="no function has these weights"):
            reconstruct(mutant, 0, start)
    else:
        reconstruct(mutant, 0, start)


def check(network: Network, domain: Polyhedron, rng: Random) -> tuple[int, int]:
    """Make all checks above.

    Returns
    -------
    tuple
        The number of facets to which the closed form applies, and the number of facets.
    """
    try:
        cells = canonical_complex(network, domain)
    except DomainError:  # cells that contain lines, which a later layer cuts
        assert not network.is_plain
        cells = canonical_complex(
            network,
            domain.intersect(Polyhedron.box([-7] * network.num_inputs, [7] * network.num_inputs)),
        )
    breakpoints = breakpoint_complex(cells)
    assert len(breakpoints) == len(cells.adjacency())
    regions = [cells.region(index) for index in range(cells.num_regions)]
    check_weights(breakpoints, regions)
    closed = check_closed_form(breakpoints)
    assert is_balanced(breakpoints)
    check_reconstruction(breakpoints, regions, rng)
    check_tropical(cells, regions)
    if len(breakpoints):
        check_mutants(breakpoints, rng)
    return closed, len(breakpoints)


@pytest.mark.parametrize("seeds", few_some_and_all(SEEDS[:2], SEEDS[:16], SEEDS))
def test_degenerate_networks_on_the_whole_space(seeds: range) -> None:
    for kind, seed in product(KINDS, seeds):
        with case(kind, seed):
            rng = Random(f"{kind} {seed}")
            network = quantised_network(kind, rng)
            check(network, Polyhedron.universe(network.num_inputs), rng)


@pytest.mark.parametrize("seeds", few_some_and_all(SEEDS[:2], SEEDS[:20], SEEDS))
def test_degenerate_networks_on_domains(seeds: range) -> None:
    for kind, seed in product(DOMAINS, seeds):
        with case(kind, seed):
            rng = Random(f"domain {kind} {seed}")
            network = quantised_network(rng.choice(KINDS), rng)
            check(network, random_domain(kind, network.num_inputs, rng), rng)


@pytest.mark.parametrize("seeds", few_some_and_all(SEEDS[:2], SEEDS[:10], SEEDS))
def test_networks_of_three_layers_and_several_outputs(seeds: range) -> None:
    for kind in GAUSSIAN_KINDS:
        closed = facets = 0
        for seed in seeds:
            with case(kind, seed):
                rng = Random(f"{kind} {seed}")
                network = from_arrays(random_network(kind, rng))
                counts = check(network, Polyhedron.universe(network.num_inputs), rng)
            closed, facets = closed + counts[0], facets + counts[1]
        with case(kind):
            assert closed == facets if kind == "gaussian" else 0 < closed <= facets


@pytest.mark.parametrize(
    "widths", [(1, 3, 1), (2, 3, 2), (2, 2, 2, 1), (3, 2, 1), (1, 2, 2, 1), (2, 3, 2, 1)]
)
def test_tropical_forms_against_sums_of_terms(widths: tuple[int, ...]) -> None:
    """Compare with all terms that sums and unions of the layers produce.

    They give the same p and q, so our terms are among them.
    """
    for seed in range(12):
        rng = Random(f"{widths} {seed}")
        layers = [
            (
                [[Fraction(rng.randint(-2, 2)) for _ in range(n)] for _ in range(m)],
                [Fraction(rng.randint(-2, 2))] * m,
            )
            for n, m in pairwise(widths)
        ]
        cells = canonical_complex(from_arrays(layers))
        points = [cells.region(index).interior_point for index in range(cells.num_regions)]
        try:
            expected = brute.numerators_and_denominators(layers)
        except brute.TooManyTermsError:
            continue
        for form, (p, q) in zip(tropical_form(cells), expected, strict=True):
            assert set(form.numerator.terms) <= p
            assert set(form.denominator.terms) <= q
            for x in points:
                assert (form.numerator(x), form.denominator(x)) == (
                    brute.value(p, x),
                    brute.value(q, x),
                )
