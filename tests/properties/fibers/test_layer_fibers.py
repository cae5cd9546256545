"""Components of the fibers of random layers: dimensions, members, emptiness, smallest layers."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from random import Random

import pytest
import sympy

from polyrelu.errors import DomainError
from polyrelu.exact import Polyhedron
from polyrelu.fibers import (
    Component,
    Conditions,
    LayerFiber,
    LayerNeurons,
    NeuronAssignment,
    conditions_of,
    smallest_layer,
)
from polyrelu.symmetry import LayerDomain
from tests.generators.campaigns import case, few_and_all, few_some_and_all
from tests.oracles.cells_on_domain import Domain, cells_on_domain
from tests.oracles.local_fiber import jacobian_rank

Vector = tuple[Fraction, ...]


def number(rng: Random) -> Fraction:
    """A short fraction that is not 0."""
    return Fraction(rng.choice((-1, 1)) * rng.randint(1, 12), rng.randint(1, 3))


def generic_layer(
    rng: Random, n: int, m: int, nonlinear: int, linear: int, dead: int = 0
) -> LayerNeurons:
    """Random neurons of each kind on the orthant."""
    rows: list[Vector] = []
    while len(rows) < nonlinear:
        row = tuple(number(rng) for _ in range(n + 1))
        if min(row) < 0 < max(row):
            rows.append(row)
    rows += [tuple(abs(number(rng)) for _ in range(n + 1)) for _ in range(linear)]
    rows += [tuple(-abs(number(rng)) for _ in range(n + 1)) for _ in range(dead)]
    columns = tuple(tuple(number(rng) for _ in range(m)) for _ in rows)
    return LayerNeurons(tuple(rows), columns, tuple(number(rng) for _ in range(m)))


def degenerate_layer(rng: Random, n: int, m: int, width: int) -> LayerNeurons:
    """A layer with small integers and rows that are multiples of each other."""
    rows = [tuple(Fraction(rng.randint(-2, 2)) for _ in range(n + 1)) for _ in range(width)]
    for i in range(1, width):
        if rng.random() < 0.3:
            factor = rng.choice((-1, 1, 2))
            rows[i] = tuple(factor * entry for entry in rows[0])
    columns = tuple(tuple(Fraction(rng.randint(-2, 2)) for _ in range(m)) for _ in range(width))
    return LayerNeurons(tuple(rows), columns, tuple(Fraction(rng.randint(-2, 2)) for _ in range(m)))


def random_domain(rng: Random, n: int) -> LayerDomain:
    """R^n, the orthant, a box, a half space, or the set between two hyperplanes."""
    kind = rng.randint(0, 4)
    if kind == 0:
        return LayerDomain.whole_space(n)
    if kind == 1:
        return LayerDomain.orthant(n)
    if kind == 2:
        return LayerDomain.of(Polyhedron.box([-2] * n, [3] * n))
    rows = [[sign, *(rng.randint(-2, 2) for _ in range(n - 1))] for sign in (1, -1)]
    chosen = rows[: 1 if kind == 3 else 2]
    return LayerDomain.of(Polyhedron.from_constraints(chosen, [2, 3][: len(chosen)], [], [], n))


def local_dimension(neurons: LayerNeurons, domain: LayerDomain) -> int:
    """The number of parameters - the rank of the Jacobian of all affine maps - hidden neurons."""
    n, m, width = domain.dimension, len(neurons.offset), len(neurons.rows)
    weights = [list(row[:-1]) for row in neurons.rows]
    bias = [row[-1] for row in neurons.rows]
    heads = [[column[o] for column in neurons.columns] for o in range(m)]
    found = cells_on_domain([([(0, weights)], bias)], Domain(n, domain.polyhedron.inequalities, ()))
    skipped = len(domain.polyhedron.inequalities)
    patterns = {
        tuple(int(s > 0) for s in key[skipped:])
        for key, cell in found.items()
        if cell.dimension == n
    }
    rank = jacobian_rank([(weights, bias), (heads, list(neurons.offset))], patterns)
    return width * (n + 1) + m * width + m - rank - width


def same_map(first: LayerFiber, second: LayerFiber) -> bool:
    return (first.form.terms, first.form.matrix, first.form.offset) == (
        second.form.terms,
        second.form.matrix,
        second.form.offset,
    )


def values_agree(
    first: LayerNeurons, second: LayerNeurons, domain: LayerDomain, rng: Random
) -> bool:
    """Whether two layers have equal values at random points of the domain, in fractions."""
    for _ in range(12):
        x = [Fraction(rng.randint(-40, 40), 8) for _ in range(domain.dimension)]
        if domain.kind == "orthant":
            x = [abs(entry) for entry in x]
        if domain.polyhedron.contains(x) and value(first, x) != value(second, x):
            return False
    return True


def value(neurons: LayerNeurons, x: list[Fraction]) -> list[Fraction]:
    total = list(neurons.offset)
    for row, column in zip(neurons.rows, neurons.columns, strict=True):
        t = sum((a * b for a, b in zip(row[:-1], x, strict=True)), row[-1])
        total = [a + max(t, Fraction()) * v for a, v in zip(total, column, strict=True)]
    return total


@pytest.mark.parametrize("size", few_some_and_all((1, 10), (2, 60), (4, 250)))
def test_dimensions_agree_with_jacobians(size: tuple[int, int]) -> None:
    """Dimensions equal local dimensions at random members: 1,000 networks with n, m ≤ 4."""
    parts, networks = size
    for part in range(parts):
        with case(part):
            dimensions_agree_with_jacobians(part, networks)


def dimensions_agree_with_jacobians(part: int, networks: int) -> None:
    rng = Random(part)
    compared = empty = more_than_one = 0
    for _ in range(networks):
        n, m, r = rng.randint(1, 4), rng.randint(1, 4), rng.randint(0, 5)
        p, dead = rng.randint(int(r == 0), 3), int(rng.random() < 0.2)
        domain = LayerDomain.orthant(n)
        given = generic_layer(rng, n, m, p, r, dead)
        fiber = LayerFiber(given, domain)
        components = list(itertools.islice(fiber.simple_components(), 64))
        rng.shuffle(components)
        full = [component for component in components if not component.is_empty]
        more_than_one += len(full) > 1
        empty += len(components) - len(full)
        for component in full[:3]:
            member = component.member(seed=rng.getrandbits(32))
            assert member is not None
            assert same_map(LayerFiber(member, domain), fiber)
            assert LayerFiber(member, domain).given_assignment == component.assignment
            assert local_dimension(member, domain) == component.dimension, component.assignment
            compared += 1
    assert compared > 6 * networks // 5
    assert empty > 2 * networks // 5
    assert more_than_one > networks // 5


def general_components(part: int, networks: int) -> None:
    """Components with neurons in all roles, on domains of all kinds, have members with the map.

    The dimension is at most the dimension of the kernel of the Jacobian, and mostly equal to it.
    """
    rng = Random(f"general {part}")
    equal = members = 0
    for _ in range(networks):
        n, m, width = rng.randint(1, 3), rng.randint(1, 2), rng.randint(1, 4)
        domain = random_domain(rng, n)
        given = degenerate_layer(rng, n, m, width)
        fiber = LayerFiber(given, domain)
        assert not fiber.component(fiber.given_assignment).is_empty
        full = [component for component in fiber.components() if not component.is_empty]
        rng.shuffle(full)
        assert fiber.given_assignment in {component.assignment for component in full}
        for component in full[:6]:
            for member in (component.member(), component.member(seed=rng.getrandbits(32))):
                assert member is not None
                assert same_map(LayerFiber(member, domain), fiber)
                assert values_agree(given, member, domain, rng)
                members += 1
            assert member is not None
            assert LayerFiber(member, domain).given_assignment == component.assignment
            dimension = known_dimension(component)
            if dimension is None:
                continue
            found = local_dimension(member, domain)
            assert dimension <= found
            # several neurons on one hyperplane, and neurons that are constant because of a line in
            # the domain, are singular points, where the Jacobian has a larger kernel
            pairs = (*component.assignment.visible, *component.assignment.groups)
            if not domain.lines and all(sum(pair) == 1 for pair in pairs):
                assert dimension == found, component.assignment
                equal += 1
    assert members > 25 * networks // 6
    assert equal > 5 * networks // 12


def known_dimension(component: Component) -> int | None:
    try:
        return component.dimension
    except DomainError:
        return None


def grid(n: int, width: int, bound: int) -> Iterator[LayerNeurons]:
    """All networks with one output, integers up to a bound and offset 0, up to permutation."""
    numbers = range(-bound, bound + 1)
    rows = list(itertools.product(map(Fraction, numbers), repeat=n + 1))
    for chosen in itertools.combinations_with_replacement(rows, width):
        for heads in itertools.product(map(Fraction, numbers), repeat=width):
            yield LayerNeurons(chosen, tuple((head,) for head in heads), (Fraction(),))


#: Inputs, width and largest integer of grids.
GRIDS = [(1, 2, 2), (1, 3, 1), (2, 2, 1)]


@pytest.mark.parametrize("grids", few_and_all([(1, 2, 1)], GRIDS))
def test_no_component_of_a_grid_is_called_empty(grids: list[tuple[int, int, int]]) -> None:
    """The assignment of a network is nonempty in the fiber of any network with its function."""
    for shape, kind in itertools.product(grids, ("orthant", "space")):
        with case(shape, kind):
            no_component_is_called_empty(*shape, kind)


def no_component_is_called_empty(n: int, width: int, bound: int, kind: str) -> None:
    domain = LayerDomain.orthant(n) if kind == "orthant" else LayerDomain.whole_space(n)
    first: dict[object, LayerFiber] = {}
    seen: set[tuple[object, NeuronAssignment]] = set()
    for neurons in grid(n, width, bound):
        fiber = LayerFiber(neurons, domain)
        key: object = (frozenset(fiber.form.terms.items()), fiber.form.matrix)
        base = first.setdefault(key, fiber)
        own = in_order_of(base, fiber)
        if (key, own) not in seen:
            seen.add((key, own))
            assert not base.component(own).is_empty, (neurons, own)
    assert len(seen) > len(first)
    for other, base in list(first.items())[::7]:
        listed = [component.assignment for component in base.components()]
        assert len(set(listed)) == len(listed)
        assert {own for key, own in seen if key == other} <= set(listed)


def in_order_of(base: LayerFiber, fiber: LayerFiber) -> NeuronAssignment:
    """The assignment of a layer, visible hyperplanes in the order of a fiber with the same map."""
    places = [fiber.normals.index(normal) for normal in base.normals]
    return replace(
        fiber.given_assignment, visible=tuple(fiber.given_assignment.visible[k] for k in places)
    )


def the_smallest_layer(part: int, networks: int) -> None:
    """It has the map; if it is called the smallest, all components of narrower layers are empty."""
    rng = Random(f"smallest {part}")
    narrower = certain = 0
    for _ in range(networks):
        n, m, width = rng.randint(1, 3), rng.randint(1, 2), rng.randint(1, 4)
        domain = random_domain(rng, n)
        given = degenerate_layer(rng, n, m, width)
        fiber = LayerFiber(given, domain)
        found = smallest_layer(fiber)
        assert same_map(LayerFiber(found.layer_neurons, domain), fiber)
        assert found.width <= width
        assert found.at_least <= found.width
        narrower += found.width < width
        certain += found.is_smallest is True
        if found.is_smallest:
            for less in range(max(1, len(fiber.normals)), found.width):
                assert all(
                    component.is_empty
                    for component in LayerFiber(given, domain, width=less).components()
                )
    assert narrower > networks // 6
    assert certain > 2 * networks // 3


@pytest.mark.slow
def test_members_satisfy_the_equations() -> None:
    """Members satisfy their equations, and members with one number changed do not."""
    rng = Random("equations")
    broken = tried = 0
    for _ in range(12):
        n, m, width = rng.randint(1, 2), rng.randint(1, 2), rng.randint(1, 3)
        domain = rng.choice(
            (
                LayerDomain.whole_space(n),
                LayerDomain.orthant(n),
                LayerDomain.of(Polyhedron.box([0] * n, [2] * n)),
            )
        )
        fiber = LayerFiber(degenerate_layer(rng, n, m, width), domain)
        for component in itertools.islice((c for c in fiber.components() if not c.is_empty), 4):
            member = component.member(seed=rng.getrandbits(32))
            assert member is not None
            conditions = conditions_of(component)
            assert conditions.hold_for(member)
            for damaged in damaged_copies(member, component.assignment.num_dead):
                broken += not conditions.hold_for(damaged)
                tried += 1
    assert broken == tried > 40


def dimensions_agree_with_the_equations(part: int, networks: int) -> None:
    """Dimensions are the number of unknowns less the rank of the Jacobian of the equations."""
    rng = Random(f"equations {part}")
    compared = 0
    for _ in range(networks):
        n, m, width = rng.randint(1, 2), rng.randint(1, 2), rng.randint(1, 4)
        box = LayerDomain.of(Polyhedron.box([0] * n, [2] * n))
        domain = rng.choice((LayerDomain.whole_space(n), LayerDomain.orthant(n), box))
        fiber = LayerFiber(degenerate_layer(rng, n, m, width), domain)
        full = [component for component in fiber.components() if not component.is_empty]
        for component in rng.sample(full, min(3, len(full))):
            member = component.member(seed=rng.getrandbits(32))
            assert member is not None
            assert component.dimension == solution_dimension(
                conditions_of(component), member.normalised()
            )
            compared += 1
    assert compared > 25 * networks // 14


#: Each takes a part and a number of networks; with it the numbers of parts and of networks.
CAMPAIGNS: list[tuple[Callable[[int, int], None], int, int]] = [
    (general_components, 3, 24),
    (the_smallest_layer, 2, 60),
    (dimensions_agree_with_the_equations, 2, 28),
]


@pytest.mark.parametrize("campaign", [campaign for campaign, *_ in CAMPAIGNS])
def test_few_layers(campaign: Callable[[int, int], None]) -> None:
    campaign(0, 6)


@pytest.mark.slow
def test_many_layers() -> None:
    for campaign, parts, networks in CAMPAIGNS:
        for part in range(parts):
            with case(campaign.__name__, part):
                campaign(part, networks)


def solution_dimension(conditions: Conditions, member: LayerNeurons) -> int:
    """The dimension of the kernel of the Jacobian of the equations at a solution."""
    entries = [entry for table in conditions.tables.values() for row in table for entry in row]
    numbers = [x for row in (*member.rows, *member.columns, member.offset) for x in row]
    values = {
        entry: sympy.Rational(x.numerator, x.denominator)
        for entry, x in zip(entries, numbers, strict=True)
        if entry.is_Symbol
    }
    if not conditions.equations:
        return len(conditions.unknowns)
    differences = sympy.Matrix([equation.lhs - equation.rhs for equation in conditions.equations])
    jacobian = differences.jacobian(list(conditions.unknowns)).subs(values)
    return len(conditions.unknowns) - int(jacobian.rank())


def damaged_copies(member: LayerNeurons, dead: int) -> Iterator[LayerNeurons]:
    """Copies with another offset, another column or a negated row of a neuron that is not dead."""
    yield replace(member, offset=tuple(entry + 1 for entry in member.offset))
    for k in range(len(member.rows) - dead):
        row, column = member.rows[k], member.columns[k]
        if any(row):
            columns = (
                *member.columns[:k],
                tuple(entry + 1 for entry in column),
                *member.columns[k + 1 :],
            )
            yield replace(member, columns=columns)
        if any(row) and any(column):
            rows = (*member.rows[:k], tuple(-entry for entry in row), *member.rows[k + 1 :])
            yield replace(member, rows=rows)
