"""Linear programs over the rationals, answered exactly and with certificates.

Small programs are solved on a table of integers (`tableau`). For the others HiGHS guesses in floating point which
constraints are tight, and an exact simplex method (`simplex`) starts there: a right guess is verified in two linear
solves, a wrong one is repaired by exact pivots. So every answer is exact, and none depends on how good a guess was. The
data flow: `reading` → `rows` (integers) → `tableau`, or `highs` (guess) → `active_set` (solves) → `simplex`; then
`answers` → `evidence` → `outcomes`.
"""

from polyrelu.exact.lp.linear_program import LinearProgram
from polyrelu.exact.lp.results import (
    FlatSet,
    Infeasible,
    InteriorPoint,
    Multipliers,
    Optimal,
    Unbounded,
)

__all__ = [
    "FlatSet",
    "Infeasible",
    "InteriorPoint",
    "LinearProgram",
    "Multipliers",
    "Optimal",
    "Unbounded",
]
