"""pplpy 0.9 leaves the processor rounding upwards, where bounds of float filters are not proved."""

from __future__ import annotations

import ctypes

import pytest

from polyrelu import canonical_complex, from_arrays
from polyrelu.errors import PolyreluError

NETWORK = from_arrays([([[1]], [0]), ([[1]], [0])])
C = ctypes.CDLL(None)
TO_NEAREST = C.fegetround()


def test_another_rounding_mode_is_an_error() -> None:
    """Upwards, downwards and toward zero, whatever their numbers are on this machine."""
    modes = (0x400, 0x800, 0xC00, 0x400000, 0x800000, 0xC00000)  # of x86 and of ARM
    set_ones = 0
    for mode in modes:
        if C.fesetround(mode) == 0:
            set_ones += 1
            try:
                with pytest.raises(PolyreluError, match="not rounded to nearest"):
                    canonical_complex(NETWORK)
            finally:
                C.fesetround(TO_NEAREST)
    assert set_ones == 3
    assert canonical_complex(NETWORK).f_vector == (1, 2)
