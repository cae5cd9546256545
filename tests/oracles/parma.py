"""The names of pplpy that oracles use, imported without traces on the process.

Importing pplpy replaces the handler of Ctrl-C (through cysignals), and from version 0.9 on it sets
the processor to round upwards, against which float filters have no proved bounds.
"""

from __future__ import annotations

import ctypes
import signal

_sigint_handler = signal.getsignal(signal.SIGINT)
from ppl import (  # noqa: E402
    C_Polyhedron,
    Constraint,
    Linear_Expression,
    MIP_Problem,
    NNC_Polyhedron,
    line,
    point,
    ray,
)

signal.signal(signal.SIGINT, _sigint_handler)
ctypes.CDLL(None).fesetround(0)  # 0 is to nearest on x86 and ARM

__all__ = [
    "C_Polyhedron",
    "Constraint",
    "Linear_Expression",
    "MIP_Problem",
    "NNC_Polyhedron",
    "line",
    "point",
    "ray",
]
