"""Linear programs over the rationals, answered exactly and with certificates.

HiGHS guesses in floating point which constraints are tight; an exact simplex method starts there. A right guess is
verified in two linear solves, a wrong one is repaired by exact pivots, so every answer is exact and none depends on
how good the guess was. The data flow: `reading` → `rows` (integers) → `highs` (guess) → `active_set` (solves) →
`simplex` → `evidence` → `outcomes`.
"""

from polyrelu.exact.lp.linear_program import LinearProgram
from polyrelu.exact.lp.outcomes import Flat, Infeasible, Interior, Multipliers, Optimal, Unbounded

__all__ = ["Flat", "Infeasible", "Interior", "LinearProgram", "Multipliers", "Optimal", "Unbounded"]
