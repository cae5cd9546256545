"""The compiled core and numpy compute the same cells, in the same order, with the same facets.

Without the compiled core these tests are skipped; `.ci/run` installs it, and asks for it by name.
"""

from __future__ import annotations

import time
from fractions import Fraction
from itertools import pairwise
from random import Random
from typing import Any

import numpy as np
import pytest

from polyrelu._core import THREADS_VARIABLE, VARIABLE, chosen_engine
from polyrelu.complex import PolyhedralComplex, canonical_complex, stream_complex
from polyrelu.complex.engine.compiled import CompiledSubdivision
from polyrelu.errors import DomainError
from polyrelu.exact import Polyhedron
from polyrelu.network import Network, from_arrays
from tests.generators import campaigns
from tests.generators.quantised_networks import DOMAINS, KINDS, quantised_network, random_domain
from tests.properties.complex import test_floats

pytestmark = pytest.mark.skipif(
    chosen_engine().name != "compiled", reason="the compiled core is not installed"
)


#: Maximum number of vertices, and of facets, of a complex that are compared exactly.
_MOST_EXACT = 200


def contents(cells: PolyhedralComplex) -> list[Any]:
    """What a complex shows of its cells, in their order, with exact numbers for some of them."""
    dimensions = range(cells.lineality_dim, cells.dimension + 1)
    tables = [(cells.signs(k), cells.constraint_signs(k), *cells.facets(k)) for k in dimensions]
    count = len(cells.generators)
    generators = [cells.generators.exact(i) for i in range(0, count, 1 + count // _MOST_EXACT)]
    numbers = [
        cells.generators.numbers_of(cell) for k in dimensions for cell in list(cells.cells(k))[:50]
    ]
    found = [cells.f_vector, cells.bounded.tolist(), generators, numbers]
    if cells.dimension > cells.lineality_dim:
        facets = np.arange(cells.size(cells.dimension - 1))
        forms = cells.facet_forms(facets[:: 1 + len(facets) // _MOST_EXACT])
        found += [forms.rows, forms.columns.tolist(), forms.which.tolist()]
    found += [table.tolist() for of_dimension in tables for table in of_dimension]
    return [*found, cells.statistics.num_decisions]


def check_engines(
    patch: pytest.MonkeyPatch, network: Network, domain: Polyhedron
) -> PolyhedralComplex:
    """Compute a complex with both engines and compare everything."""
    patch.setenv(VARIABLE, "numpy")
    expected = contents(canonical_complex(network, domain))
    patch.setenv(VARIABLE, "compiled")
    cells = canonical_complex(network, domain)
    assert contents(cells) == expected
    return cells


def random_stack(rng: Random, widths: tuple[int, ...], bits: int | None) -> Network:
    """A network with Gaussian weights, rounded to multiples of 2^-bits or not at all."""

    def number() -> Fraction:
        value = Fraction(rng.gauss(0, 1))
        return value if bits is None else Fraction(round(value * 2**bits), 2**bits)

    return from_arrays(
        [
            ([[number() for _ in range(n)] for _ in range(m)], [number() for _ in range(m)])
            for n, m in pairwise(widths)
        ]
    )


#: Widths with 1 to 5 inputs, words of more than 32 neurons, and up to 5 hidden layers.
SMALL = [(1, 40, 1), (1, 5, 4, 3, 1), (2, 34, 1), (2, 3, 3, 2, 2, 2, 1), (3, 4, 3, 1), (4, 4, 1)]
#: The same with up to 8 inputs.
LARGE = [
    *[(2, 40, 35, 1), (2, 12, 9, 7, 1), (2, 4, 4, 4, 4, 4, 1), (2, 66, 1), (3, 9, 8, 1)],
    *[(3, 5, 4, 4, 1), (4, 6, 6, 1), (5, 6, 4, 1), (6, 7, 1), (8, 3, 2, 1)],
]
#: The same with many cells.
LARGEST = [*LARGE, (7, 8, 1), (8, 8, 1)]


@pytest.mark.parametrize("shapes", campaigns.few_some_and_all(SMALL, LARGE, LARGEST))
def test_generic_networks(shapes: list[tuple[int, ...]], monkeypatch: pytest.MonkeyPatch) -> None:
    for shape in shapes:
        box = Polyhedron.box([-1] * shape[0], [1] * shape[0])
        for bits in (None, 10, 2):
            with campaigns.case(shape, bits):
                network = random_stack(Random(f"engines {shape}"), shape, bits)
                check_engines(monkeypatch, network, box)
                if 3 ** shape[0] * max(shape) < 3000:
                    check_engines(monkeypatch, network, Polyhedron.universe(shape[0]))


@pytest.mark.parametrize("count", campaigns.few_some_and_all(42, 500, 2800))
def test_degenerate_networks(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A skip connection that leaves lines in the first cells is refused by both engines."""
    dimensions, num_refused = set(), 0
    for number in range(count):
        kind, of_domain = KINDS[number % len(KINDS)], DOMAINS[number % len(DOMAINS)]
        with campaigns.case(kind, of_domain, number):
            rng = Random(f"engines {number}")
            network = quantised_network(kind, rng)
            domain = random_domain(of_domain, network.num_inputs, rng)
            try:
                dimensions.add(check_engines(monkeypatch, network, domain).dimension)
            except DomainError:
                num_refused += 1
    assert dimensions >= {0, 1, 2, 3}
    assert num_refused < count / 50


@pytest.mark.parametrize("numbers", campaigns.few_some_and_all(range(1), range(1, 5), range(1, 12)))
def test_ill_conditioned_networks(numbers: range, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nearly concurrent, parallel and cancelling forms, deep networks, weights beyond 53 bits."""
    num_exact = 0
    for family, (make, sizes) in test_floats.FAMILIES.items():
        for size in sizes:
            for number in numbers:
                with campaigns.case(family, size, number):
                    network = make(Random(f"engines {family} {size} {number}"), size)
                    everywhere = Polyhedron.universe(network.num_inputs)
                    cells = check_engines(monkeypatch, network, everywhere)
                    num_exact += cells.statistics.num_exact_decisions
    assert num_exact > 100


def nearly_concurrent(rng: Random, inputs: int, bits: int) -> Network:
    """Hyperplanes with long integers through an integer point, or beside it by one unit."""
    point = [rng.randint(-3, 3) for _ in range(inputs)]
    rows = [[rng.randint(-(2**bits), 2**bits) for _ in point] for _ in range(inputs + 2)]
    bias = [-int(np.dot(row, point)) + rng.choice([-1, 0, 0, 1]) for row in rows]
    return from_arrays([(rows, bias), ([[1] * len(rows)], [0])])


@pytest.mark.parametrize("inputs", campaigns.few_fast([2, 3, 4, 5], 2))
def test_exact_signs_of_integers_of_any_length(
    inputs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The core decides in 128 or 256 bits, and asks Python where numbers are longer."""
    asked: list[int] = []
    original = CompiledSubdivision._exact_signs

    def counted(self: CompiledSubdivision, vertices: Any, *rest: Any) -> Any:
        asked.append(len(vertices))
        return original(self, vertices, *rest)

    monkeypatch.setattr(CompiledSubdivision, "_exact_signs", counted)
    num_exact, box = 0, Polyhedron.box([-9] * inputs, [9] * inputs)
    for bits in (3, 12, 24, 36, 48):
        for number in range(3):
            with campaigns.case(inputs, bits, number):
                network = nearly_concurrent(Random(f"long {inputs} {bits} {number}"), inputs, bits)
                cells = check_engines(monkeypatch, network, box)
                num_exact += cells.statistics.num_exact_decisions
    assert num_exact > 20
    assert sum(asked) < num_exact / 2
    assert (sum(asked) > 0) == (inputs > 3)


def arrays_of(cells: PolyhedralComplex) -> list[bytes]:
    """Everything that the core hands over, byte by byte."""
    arrays = cells._arrays
    parts = [arrays.lattice.edges.rows, arrays.facet_forms, arrays.vertices.coordinates.rows]
    parts += [arrays.vertices.radii.rows, arrays.vertices.forms.rows, arrays.table.rows.rows]
    for lists in arrays.lattice.facets[2:]:
        parts += [lists.heap.rows, lists.counts.rows, lists.starts.rows]
    parts += [signs.words.rows for signs in arrays._sign_words]
    return [part.tobytes() for part in parts]


@pytest.mark.parametrize(("widths", "bits"), [((4, 14, 14, 1), 10), ((3, 40, 32, 1), 1)])
def test_several_threads(
    widths: tuple[int, ...], bits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With weights in {-1, -1/2, 0, 1/2, 1, …}, many forms are 0 at vertices of others."""
    network = random_stack(Random("threads"), widths, bits)
    box = Polyhedron.box([-1] * widths[0], [1] * widths[0])
    monkeypatch.setenv(VARIABLE, "compiled")
    found: list[Any] = []
    for count in (1, 2, 3):
        monkeypatch.setenv(THREADS_VARIABLE, str(count))
        elsewhere = time.thread_time() - time.process_time()
        cells = canonical_complex(network, box)
        elsewhere += time.process_time() - time.thread_time()
        assert (elsewhere > 3e-4) == (count > 1)
        found.append((cells.f_vector, arrays_of(cells)))
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("count", ["0", "257", "-1", "two", "１"])
def test_wrong_numbers_of_threads(count: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "compiled")
    monkeypatch.setenv(THREADS_VARIABLE, count)
    network = from_arrays([([[1]], [0]), ([[1]], [0])])
    with pytest.raises(DomainError, match=f"POLYRELU_THREADS={count}: expected a number of thr"):
        canonical_complex(network)


def test_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    network = random_stack(Random("parts of engines"), (2, 5, 34, 1), 3)
    everywhere = Polyhedron.universe(2)
    found = []
    for engine in ("numpy", "compiled"):
        monkeypatch.setenv(VARIABLE, engine)
        found.append([contents(part)[:-1] for part in stream_complex(network, everywhere, limit=9)])
    assert len(found[0]) > 3
    assert found[0] == found[1]


def test_parts_of_deep_networks(monkeypatch: pytest.MonkeyPatch) -> None:
    network = random_stack(Random("deep parts"), (2, 5, 4, 4, 1), None)
    found = []
    for engine in ("numpy", "compiled"):
        monkeypatch.setenv(VARIABLE, engine)
        parts = stream_complex(network, "box:-2,2", limit=5)
        found.append([contents(part)[:-1] for part in parts])
    assert len(found[0]) > 3
    assert found[0] == found[1]


def test_useless_floats(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where floats overflow, every sign is decided exactly."""
    huge = 10**200
    network = from_arrays(
        [
            ([[huge, 1], [1, huge], [huge, huge]], [0, 1, -huge]),
            ([[1, -1, huge]], [1]),
            ([[1]], [0]),
        ]
    )
    cells = check_engines(monkeypatch, network, Polyhedron.universe(2))
    assert cells.statistics.num_exact_decisions > 0
