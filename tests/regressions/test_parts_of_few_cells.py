"""Streaming raised IndexError when the very first cells exceeded the limit.

With the default limit 13 inputs were enough.
"""

from __future__ import annotations

import pytest

from polyrelu.complex import canonical_complex, stream_complex
from polyrelu.errors import DomainError
from polyrelu.network import Network, from_arrays


def network() -> Network:
    return from_arrays(
        [
            ([[1, 0], [0, 1], [1, 1]], [0, -1, -2]),
            ([[1, 1, 1], [1, -1, 2]], [-1, 0]),
            ([[1, 1]], [0]),
        ]
    )


@pytest.mark.parametrize("limit", [1, 2, 3, 5, 100])
def test_regions_of_all_parts(limit: int) -> None:
    whole = canonical_complex(network())
    parts = list(stream_complex(network(), limit=limit))
    found = [
        str(part.signs_of_region(index)) for part in parts for index in range(part.num_regions)
    ]
    assert sorted(found) == sorted(
        str(whole.signs_of_region(index)) for index in range(whole.num_regions)
    )
    assert (len(parts) > 1) == (limit < 8)


@pytest.mark.parametrize("limit", [0, -1])
def test_limits_that_mean_nothing(limit: int) -> None:
    with pytest.raises(DomainError, match="at least 1"):
        next(stream_complex(network(), limit=limit))
