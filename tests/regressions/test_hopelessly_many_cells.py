"""With many inputs the first cells, 3^d on R^d, were listed until all memory was used.

Later they were refused, but only after the coordinates of the domain had been computed, which took
minutes for 784 inputs and ignored Ctrl-C.
"""

from __future__ import annotations

import re
import time

import pytest

from polyrelu.complex import canonical_complex, stream_complex
from polyrelu.errors import DomainError
from polyrelu.exact import Polyhedron
from polyrelu.network import Network, from_arrays
from tests.generators.files import NETS


def network(inputs: int) -> Network:
    unit = [[int(i == j) for j in range(inputs)] for i in range(inputs)]
    return from_arrays([(unit, [0] * inputs), ([[1] * inputs], [0])])


@pytest.mark.parametrize(
    ("domain", "least"),
    [
        (Polyhedron.universe(40), "1e+19"),
        (Polyhedron.orthant(40), "1e+12"),
        (Polyhedron.box([0] * 20 + [None] * 20, [1] * 20 + [None] * 20), "3e+15"),
    ],
)
def test_they_are_refused(domain: Polyhedron, least: str) -> None:
    message = f"the complex has at least {re.escape(least)} cells"
    with pytest.raises(DomainError, match=message):
        canonical_complex(network(40), domain)
    with pytest.raises(DomainError, match=message):
        next(stream_complex(network(40), domain))


def test_a_slice_of_many_dimensions_is_not() -> None:
    line = Polyhedron.from_generators([[0] * 40], [], [[*range(1, 41)]])
    assert canonical_complex(network(40), line).f_vector == (1, 2)


@pytest.mark.parametrize("domain", ["R^n", "box:-1,1", "orthant"])
def test_no_coordinates_are_computed(domain: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def computed(*_: object) -> None:
        raise AssertionError("coordinates take minutes")

    monkeypatch.setattr("polyrelu.complex.polyhedral_complex.frame_of", computed)
    with pytest.raises(DomainError, match="too many to list"):
        canonical_complex(network(200), domain)


def test_flat_boxes_are_not_refused() -> None:
    """Constraints that hold with equality on the whole domain make no cells."""
    flat = Polyhedron.box([0] * 40, [0] * 39 + [1])
    assert canonical_complex(network(40), flat).f_vector == (2, 1)


def test_parallel_neurons_are_not_refused() -> None:
    same = from_arrays([([[1] * 40] * 40, list(range(40))), ([[1] * 40], [0])])
    assert canonical_complex(same).num_regions == 41


@pytest.mark.skipif(not (NETS / "mnist_256x2.onnx").exists(), reason="foreign networks")
def test_a_trained_network_with_784_inputs() -> None:
    """The file named above."""
    started = time.process_time()
    with pytest.raises(DomainError, match=r"at least 3e\+30 cells"):
        canonical_complex(NETS / "mnist_256x2.onnx")
    assert time.process_time() - started < 10
