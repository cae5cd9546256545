"""Functions that need all regions around a cell refuse the parts of `stream_complex`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from polyrelu.breakpoints import (
    breakpoint_complex,
    is_balanced,
    oriented_sum,
    reconstruct,
    tropical_form,
)
from polyrelu.complex import PolyhedralComplex, canonical_complex, stream_complex
from polyrelu.conditions import conditions, generic, supertransversality
from polyrelu.errors import DomainError
from polyrelu.network import from_arrays
from polyrelu.proofs import certify_regions

NETWORK = from_arrays([([[1, 0], [0, 1], [1, 1]], [0, 0, -1]), ([[1, 1, 1]], [0])])
PART = next(stream_complex(NETWORK, limit=1))
WHOLE = canonical_complex(NETWORK)
#: what somebody may put together by hand
MIXED = replace(breakpoint_complex(WHOLE), cells=PART)


@pytest.mark.parametrize(
    "call",
    [
        breakpoint_complex,
        tropical_form,
        generic,
        supertransversality,
        conditions,
        certify_regions,
        lambda part: is_balanced(MIXED),
        lambda part: oriented_sum(MIXED, 0),
        lambda part: reconstruct(MIXED, 0, part.region(0).affine_map),
    ],
)
def test_a_part_is_refused(call: Callable[[PolyhedralComplex], object]) -> None:
    assert PART.num_regions < WHOLE.num_regions
    with pytest.raises(
        DomainError, match="are a part of a complex; canonical_complex makes the whole one"
    ):
        call(PART)


def test_one_part_that_is_the_whole() -> None:
    (part,) = stream_complex(NETWORK, limit=10**6)
    assert is_balanced(breakpoint_complex(part))
    assert len(tropical_form(part)[0].numerator.terms) == 7
