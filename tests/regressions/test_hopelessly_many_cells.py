"""With many inputs the first cells, 3^d on R^d, were listed until all memory was used."""

from __future__ import annotations

import re

import pytest

from polyrelu.complex import canonical_complex, stream_complex
from polyrelu.errors import DomainError
from polyrelu.exact import Polyhedron
from polyrelu.network import Network, from_arrays


def network(inputs: int) -> Network:
    unit = [[int(i == j) for j in range(inputs)] for i in range(inputs)]
    return from_arrays([(unit, [0] * inputs), ([[1] * inputs], [0])])


@pytest.mark.parametrize(
    ("domain", "least"),
    [
        (Polyhedron.universe(40), "1e+19"),
        (Polyhedron.orthant(40), "1e+12"),
        (Polyhedron.box([0] * 20 + [None] * 20, [1] * 20 + [None] * 20), "4e+15"),
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
