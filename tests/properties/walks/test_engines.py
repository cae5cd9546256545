"""The compiled core and numpy make the same walks, with the same floats bit for bit.

Without the compiled core these tests are skipped; `.ci/run` installs it, and asks for it by name.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import islice, pairwise
from random import Random
from typing import Any

import numpy as np
import pytest

from polyrelu._core import VARIABLE, chosen_engine
from polyrelu.errors import DomainError
from polyrelu.exact import RationalMatrix, rank
from polyrelu.network import Network, NeuronId, from_arrays
from polyrelu.support.typing import Floats, Indices
from polyrelu.walks import (
    AffineSlice,
    Tie,
    bent_walk_from,
    first_zero,
    walk_line,
)
from polyrelu.walks.compiled import CompiledSteps
from polyrelu.walks.float_forms import LocalForms
from polyrelu.walks.float_steps import FloatSteps, LegLimits, LineAhead
from tests.generators.campaigns import case, few_and_all, few_some_and_all
from tests.generators.quantised_networks import KINDS, quantised_network
from tests.generators.random_networks import KINDS as STACKS, random_network
from tests.generators.strategies import exact_network

pytestmark = pytest.mark.skipif(
    chosen_engine().name != "compiled", reason="the compiled core is not installed"
)

#: Maximum number of cells of a walk that is compared.
_MOST_CELLS = 400
_KINDS = [*(("quantised", kind) for kind in KINDS), *(("stack", kind) for kind in STACKS)]


def random_stack(rng: Random, widths: tuple[int, ...], exponents: tuple[int, ...]) -> Network:
    """A network with Gaussian weights times random powers of 2."""

    def number() -> Fraction:
        return Fraction(rng.gauss(0, 1)) * Fraction(2) ** rng.choice(exponents)

    return from_arrays(
        [
            ([[number() for _ in range(n)] for _ in range(m)], [number() for _ in range(m)])
            for n, m in pairwise(widths)
        ]
    )


def random_vectors(count: int, size: int, rng: Random) -> list[list[Fraction]]:
    """Independent vectors with few digits."""
    while True:
        rows = [
            [Fraction(rng.randint(-3, 3), rng.choice([1, 1, 2, 3])) for _ in range(size)]
            for _ in range(count)
        ]
        if rank(RationalMatrix.from_rows(rows)) == count:
            return rows


def line_contents(network: Network, point: list[Fraction], direction: list[Fraction]) -> list[Any]:
    """All that a walk along a line shows."""
    walk = walk_line(network, point, direction, start=-9)
    cells = [
        (cell.flat.tolist(), cell.end and (cell.end.at.tolist(), cell.end.t))
        for cell in islice(walk, _MOST_CELLS)
    ]
    return [*cells, repr(walk.statistics)]


def bent_contents(plane: AffineSlice, neuron: NeuronId) -> list[Any]:
    """All that walks along a bent hyperplane from a zero on an axis show, guesses included."""
    try:
        start = first_zero(plane, neuron, limit=_MOST_CELLS)
    except DomainError as error:
        return [str(error)]
    found: list[Any] = [start]
    for reverse in (False, True) if start is not None else ():
        try:
            walk = bent_walk_from(
                plane, neuron, start=start or (), reverse=reverse, limit=_MOST_CELLS
            )
        except DomainError as error:
            found.append(str(error))
            continue
        for piece in walk:
            end = piece.end
            at = end and (end.at.tolist(), end.near, isinstance(end, Tie))
            found.append((piece.cell.signs.tolist(), piece.ending, at))
        found.append(repr(walk.statistics))
    return found


def compare(patch: pytest.MonkeyPatch, network: Network, rng: Random) -> int:
    """Make walks with both engines and compare them; return the number of pieces and cells."""
    point, *rows = random_vectors(3, network.num_inputs, rng)
    neurons = rng.sample(network.neurons, min(3, len(network.neurons)))
    found = []
    for engine in ("numpy", "compiled"):
        patch.setenv(VARIABLE, engine)
        plane = AffineSlice(network, point, rows[:2])
        found.append(
            [
                line_contents(network, point, rows[0]),
                *(bent_contents(plane, neuron) for neuron in neurons),
            ]
        )
    assert found[0] == found[1]
    return sum(map(len, found[0]))


@pytest.mark.parametrize("count", few_some_and_all(1, 10, 40))
def test_random_and_degenerate_networks(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    cells = 0
    for kind in _KINDS:
        rng = Random(f"walking engines {kind}")
        for number in range(count):
            with case(*kind, number):
                network = (
                    quantised_network(kind[1], rng)
                    if kind[0] == "quantised"
                    else exact_network(random_network(kind[1], rng))
                )
                if network.num_inputs > 2 and network.neurons:
                    cells += compare(monkeypatch, network, rng)
    assert cells > 100 * count


@pytest.mark.parametrize("count", few_and_all(1, 12))
def test_long_walks(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Forms are computed afresh on the way, and rows are added in blocks and one by one."""
    cells = 0
    for widths, exponents in (
        ((6, 37, 29, 18, 1), (0,)),
        ((5, 21, 19, 17, 15, 13, 2), (0, -1, 1)),
        ((4, 23, 16, 9, 1), (0, 0, -30, 20)),
    ):
        for number in range(count):
            rng = Random(f"long walks {widths} {number}")
            with case(widths, number):
                cells += compare(monkeypatch, random_stack(rng, widths, exponents), rng)
    assert cells > 250 * count


def same_forms(one: LocalForms, other: LocalForms) -> bool:
    """Whether all numbers have the same bits; those that are no numbers may differ."""

    def bits(floats: Floats) -> Indices:
        return np.where(np.isnan(floats), np.nan, floats).view(np.int64)

    return all(
        np.array_equal(bits(a), bits(b))
        for a, b in ((one.columns, other.columns), (one.errors, other.errors))
    )


@pytest.mark.parametrize("count", few_and_all(20, 300))
@pytest.mark.parametrize("exponents", [(0,), (0, 500, -1000, 1020, -1070, 1100, -1100)], ids=len)
def test_forms_have_the_same_bits(exponents: tuple[int, ...], count: int) -> None:
    """Flips and computations afresh in any order, with overflow and numbers beyond floats."""
    rng = Random(f"bits {exponents}")
    for number in range(count):
        network = random_stack(rng, (3, rng.randint(1, 19), rng.randint(1, 9), 5, 1), exponents)
        plane = AffineSlice(network, *_plane(rng))
        signs = np.array([rng.choice([-1, 1]) for _ in range(plane.num_neurons)], dtype=np.int8)
        both = FloatSteps(plane), CompiledSteps(plane)
        for forms in both:
            forms.update(signs)
        with case(number):
            assert same_forms(*both)
            for _ in range(12):
                place = rng.randrange(plane.num_neurons)
                for forms in both:
                    forms.flip(place)
                assert same_forms(*both)
                assert np.array_equal(both[0].signs, both[1].signs)
                line = LineAhead(place, None, (1.0, rng.gauss(0, 1)), (0.5, rng.gauss(0, 1)))
                steps = [forms.next_step(line) for forms in both]
                assert repr(steps[0]) == repr(steps[1])


def _plane(rng: Random) -> tuple[list[Fraction], list[list[Fraction]]]:
    point, *rows = random_vectors(3, 3, rng)
    return point, rows


def test_forms_after_flips_are_within_their_bounds() -> None:
    rng, decided = Random("flips"), 0
    for _ in range(12):
        network = random_stack(rng, (3, 7, 6, 5, 1), (0, 0, -20, 300))
        plane = AffineSlice(network, *_plane(rng))
        signs = np.array([rng.choice([-1, 1]) for _ in range(plane.num_neurons)], dtype=np.int8)
        forms = CompiledSteps(plane)
        forms.update(signs)
        for _ in range(20):
            forms.flip(rng.randrange(plane.num_neurons))
        for layer in (1, 2, 3):
            part, exact = plane.layer_slice(layer), plane.forms(forms.signs, layer)
            table = np.stack([forms.columns[:, part].T, forms.errors[:, part].T], axis=2)
            for row, floats in zip(exact.rows(), table.tolist(), strict=True):
                for entry, (near, bound) in zip(row, floats, strict=True):
                    if np.isfinite(near) and np.isfinite(bound):
                        decided += 1
                        assert abs(entry - Fraction(near)) <= Fraction(bound)
    assert decided > 200


def test_limits_of_legs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A leg stops after the target, before a watched neuron, and where it closes."""
    network = random_stack(Random("legs"), (3, 30, 20, 1), (0,))
    plane = AffineSlice(network, *_plane(Random("legs")))
    line = plane.line([1, 0])
    signs = line.signs_beyond(line.signs_at([-99]), (1,))
    for make in (FloatSteps, CompiledSteps):
        forms = make(line)

        def run(limits: LegLimits, forms: FloatSteps = forms) -> list[int]:
            forms.update(signs)
            step = forms.next_step(LineAhead(None, None, (1.0,), (-99.0,)))
            assert step is not None
            forms.flip(step.place)
            ahead = LineAhead(None, step.place, (1.0,), step.near)
            return [*forms.run(ahead, limits).switched.tolist()]

        everything = run(LegLimits(10_000))
        assert len(everything) > 20
        assert run(LegLimits(5)) == everything[:5]
        assert run(LegLimits(99, target=everything[7]))[-1] == everything[7]
        watched = np.zeros(line.num_neurons, dtype=bool)
        watched[everything[9]] = True
        assert everything[9] not in run(LegLimits(99, watched=watched))
        forms.update(signs)
        first = signs.copy()
        run(LegLimits(4))
        first = forms.signs.copy()
        assert run(LegLimits(99, first=first)) == everything[:4]


def test_what_the_core_refuses() -> None:
    from polyrelu._core.compiled import Walker, WalkWeights

    weights = WalkWeights([(2, [])], [1.0])
    forms, signs = np.zeros((3, 2)), np.zeros(2, dtype=np.int8)
    walker = Walker(weights, forms, forms, forms.copy(), forms.copy(), signs)
    with pytest.raises(ValueError, match="no such neuron"):
        walker.flip(2)
    with pytest.raises(ValueError, match="no such neuron"):
        walker.run(0, 7, [0.0, 0.0], [1.0, 1.0], 1, -1, None, None)
    with pytest.raises(ValueError, match="planes need a carrier"):
        walker.next(-1, -1, [1.0, 0.0], [0.0, 0.0], [1.0, 1.0])
    with pytest.raises(ValueError, match="wrong length"):
        walker.next(0, -1, [1.0], [0.0, 0.0], [1.0, 1.0])
    with pytest.raises(ValueError, match="an entry for each neuron"):
        walker.run(0, 1, [0.0, 0.0], [1.0, 1.0], 1, -1, np.zeros(3, dtype=np.uint8), None)
    with pytest.raises(ValueError, match="wrong shape"):
        Walker(weights, forms, forms, np.zeros((3, 1)), forms.copy(), signs)
    with pytest.raises(ValueError, match="wrong shape"):
        WalkWeights([(2, []), (1, [(0, np.zeros((1, 1)), np.zeros(1))])], [1.0, 1.0])
