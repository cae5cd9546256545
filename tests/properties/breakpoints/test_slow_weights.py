"""Weights, balancing, maps and terms against slow routes in fractions, entry by entry."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import islice, pairwise, product
from random import Random

import numpy as np
import pytest

from polyrelu.breakpoints import (
    BreakpointComplex,
    breakpoint_complex,
    is_balanced,
    oriented_sum,
    reconstruct,
    tropical_form,
    unbalanced_ridge,
)
from polyrelu.breakpoints.rational_form import denominator_network
from polyrelu.complex import PolyhedralComplex, canonical_complex
from polyrelu.errors import DomainError
from polyrelu.exact import Polyhedron, RationalMatrix
from polyrelu.network import AffineMap, Block, Layer, Network, from_arrays
from tests.generators.campaigns import case, few_some_and_all
from tests.generators.quantised_networks import DOMAINS, KINDS, quantised_network, random_domain
from tests.oracles import slow_weights as slow

Case = tuple[str, Network, Polyhedron]


def check(cells: PolyhedralComplex, rng: Random) -> None:
    """Compare everything that rests on the weights."""
    facets, breakpoints = slow.slow_facets(cells), breakpoint_complex(cells)
    assert breakpoints.facets.tolist() == [facet.cell for facet in facets]
    assert breakpoints.plus.tolist() == [facet.plus for facet in facets]
    assert breakpoints.minus.tolist() == [facet.minus for facet in facets]
    assert list(map(tuple, breakpoints.forms.tolist())) == [facet.form for facet in facets]
    assert breakpoints.divisors.tolist() == [facet.divisor for facet in facets]
    assert list(map(tuple, breakpoints.weights.tolist())) == [facet.weight for facet in facets]
    assert breakpoints.visible.tolist() == [any(facet.weight) for facet in facets]
    assert is_balanced(breakpoints)
    maps = slow.maps_on_hull(cells, cells.network)
    root = rng.randrange(cells.num_regions)
    assert [rows_of(found) for found in reconstruct(breakpoints, root, map_of(maps[root]))] == maps
    check_terms(cells, maps)
    if facets:
        check_wrong_weights(breakpoints, facets, rng)


def check_terms(cells: PolyhedralComplex, maps: list[slow.Rows]) -> None:
    """Compare the terms of p and q with the different maps on the regions."""
    of_q = slow.maps_on_hull(cells, denominator_network(cells.network))
    of_p = [
        [[a + b for a, b in zip(u, v, strict=True)] for u, v in zip(f, q, strict=True)]
        for f, q in zip(maps, of_q, strict=True)
    ]
    for output, form in enumerate(tropical_form(cells)):
        for part, expected in ((form.numerator, of_p), (form.denominator, of_q)):
            terms, term_of = slow.maximal_terms(expected, output)
            assert (list(part.terms), part.term_of.tolist()) == (terms, term_of)
            assert len(part) == len(terms)


def check_wrong_weights(
    breakpoints: BreakpointComplex, facets: list[slow.SlowFacet], rng: Random
) -> None:
    """Change a weight by a little, a lot, or a multiple of many primes; compare what is found."""
    cells = breakpoints.cells
    position = rng.randrange(len(facets))
    change = rng.choice([Fraction(1, 2**60), Fraction(1, 3), Fraction(2**62), Fraction(2**400)])
    weights = breakpoints.weights.copy()
    weights[position, rng.randrange(weights.shape[1])] += rng.choice([-1, 1]) * change
    mutant = dataclasses.replace(breakpoints, weights=weights)
    facet = facets[position]
    right, facet.weight = facet.weight, tuple(weights[position])
    wrong = slow.unbalanced(cells, facets)
    found = unbalanced_ridge(mutant)
    assert (None if found is None else found.index) == (wrong[0] if wrong else None)
    for ridge in wrong[:3]:
        assert any(map(any, oriented_sum(mutant, ridge)))
    start = slow.maps_on_hull(cells, cells.network)[0]
    expected = slow.walked_maps(cells.num_regions, facets, 0, start)
    if isinstance(expected, int):
        with pytest.raises(DomainError, match=f"do not add up around the cell {expected} between"):
            reconstruct(mutant, 0, map_of(start))
    else:
        assert [rows_of(found) for found in reconstruct(mutant, 0, map_of(start))] == expected
    facet.weight = right


def rows_of(affine_map: AffineMap) -> slow.Rows:
    """The rows [A | c]."""
    return [list(row) for row in affine_map.matrix.beside(affine_map.offset).rows()]


def map_of(rows: slow.Rows) -> AffineMap:
    """The map with the rows [A | c]."""
    matrix = RationalMatrix.from_rows(rows)
    inputs = matrix.ncols - 1
    return AffineMap(matrix.take(columns=range(inputs)), matrix.take(columns=[inputs]))


# -- networks --------------------------------------------------------------------------------------


def quantised(seeds: Sequence[int]) -> Iterator[Case]:
    """Degenerate networks on R^n and on domains of all kinds."""
    for kind, seed in product(KINDS, seeds):
        network = quantised_network(kind, Random(f"slow {kind} {seed}"))
        yield kind, network, Polyhedron.universe(network.num_inputs)
    for kind, seed in product(DOMAINS, seeds):
        rng = Random(f"slow {kind} {seed}")
        network = quantised_network(rng.choice(KINDS), rng)
        yield kind, network, random_domain(kind, network.num_inputs, rng)


def stack(rng: Random, widths: Sequence[int], exponent: int = 0) -> Network:
    """A network with float weights, some of them multiplied by powers of two up to an exponent."""

    def number() -> Fraction:
        return Fraction(rng.gauss(0, 1)) * Fraction(2) ** rng.randint(-exponent, exponent)

    return from_arrays(
        [([[number() for _ in range(n)] for _ in range(m)], [number() for _ in range(m)])
         for n, m in pairwise(widths)]
    )  # fmt: skip


def with_skips(rng: Random, widths: Sequence[int]) -> Network:
    """A network each of whose layers reads all layers before it, the input included."""

    def matrix(rows: int, columns: int) -> RationalMatrix:
        return RationalMatrix.from_rows(
            [[Fraction(rng.randint(-99, 99), 16) for _ in range(columns)] for _ in range(rows)]
        )

    return Network(
        widths[0],
        tuple(
            Layer(
                tuple(Block(k, matrix(width, widths[k])) for k in range(number)), matrix(width, 1)
            )
            for number, width in enumerate(widths[1:], 1)
        ),
    )


def deep(seeds: Sequence[int]) -> Iterator[Case]:
    """Deep, skip-connected and many-output networks, and numbers of hundreds of bits."""
    shapes = [
        (2, 3, 3, 3, 3, 3, 3, 1),
        (3, 4, 4, 2),
        (2, 5, 4, 3, 3),
        (1, 3, 3, 3, 2),
        (4, 5, 4, 1),
    ]
    for seed in seeds:
        rng = Random(f"deep {seed}")
        widths = shapes[seed % len(shapes)]
        box = Polyhedron.box([-3] * widths[0], [3] * widths[0])
        yield "deep", stack(rng, widths), Polyhedron.universe(widths[0])
        yield "skips", with_skips(rng, widths), box
        yield "huge", stack(rng, widths[:4], 300), box
        plane = Polyhedron.from_generators(
            [[1] * 4], (), [[rng.randint(-4, 4) for _ in range(4)] for _ in range(2)], 4
        )
        yield "slice", stack(rng, (4, 5, 4, 2)), plane


def run(cases: Iterator[Case]) -> None:
    """Check all cases."""
    for number, (name, network, domain) in enumerate(cases):
        with case(name, number):
            try:
                cells = canonical_complex(network, domain)
            except DomainError:  # cells that contain lines, which a later layer cuts
                assert not network.is_plain
                continue
            check(cells, Random(number))


@pytest.mark.parametrize("seeds", few_some_and_all(range(1), range(1, 11), range(1, 40)))
def test_degenerate_networks(seeds: range) -> None:
    run(quantised(seeds))


@pytest.mark.parametrize("seeds", few_some_and_all(range(1), range(1, 7), range(1, 60)))
def test_deep_and_long_numbers(seeds: range) -> None:
    run(deep(seeds))


@pytest.mark.parametrize("bits", [12, 24, 25, 26, 50, 200])
def test_entries_that_reach_their_bounds(bits: int) -> None:
    """All weights are the largest ones, and all neurons are active at some breakpoints.

    So forms and derivatives are about as large as the bounds that determine the number of primes.
    """
    largest, width = (1 << bits) - 1, 9
    layers = [
        ([[largest]] * width, [-i for i in range(width)]),
        ([[largest] * width] * width, [-100 * largest, *[largest] * (width - 1)]),
        ([[largest] * width, [-largest] * width], [0, 0]),
    ]
    cells = canonical_complex(from_arrays(layers))
    crossings = cells.crossings
    bound = crossings.layered.bounds[-1]
    assert bound * 9 // 10 < crossings.contents.max() == width * largest**2 <= bound
    jumps = sorted({abs(weight) for weight in breakpoint_complex(cells).weights.ravel()})
    # The derivative at layer 1 is at most width * largest**2, and is (width - 1) * largest**2.
    assert jumps == [(width - 1) * largest**3, width * largest**3]
    check(cells, Random(bits))


def test_small_blocks_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Regions, cells and primes in blocks of few."""
    for module in ("complex.crossings", "breakpoints.facet_products", "breakpoints.balancing"):
        monkeypatch.setattr(f"polyrelu.{module}.ENTRIES_AT_A_TIME", 100)
    monkeypatch.setattr("polyrelu.breakpoints.potentials._ENTRIES_AT_A_TIME", 100)
    run(islice(deep(range(1)), 2))


def test_every_wrong_weight_is_found() -> None:
    """One weight is changed after the other, in units far below those of the weights."""
    for exponent in (0, 60):
        cells = canonical_complex(stack(Random("mutants"), (2, 5, 4, 1), exponent))
        breakpoints = breakpoint_complex(cells)
        inner = cells.inside(0)
        offsets, ridges = cells.facets(1)
        for position, facet in enumerate(breakpoints.facets.tolist()):
            weights = breakpoints.weights.copy()
            weights[position] *= 1 + Fraction(1, 2**200)
            mutant = dataclasses.replace(breakpoints, weights=weights)
            around = ridges[offsets[facet] : offsets[facet + 1]]
            expected = around[inner[around]] if weights[position, 0] else np.zeros(0)
            found = unbalanced_ridge(mutant)
            assert (found is not None) == bool(len(expected))
            assert found is None or found.index == expected.min()
