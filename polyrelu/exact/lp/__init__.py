"""Linear programs over the rationals, solved exactly and with dual certificates.

Small programs are solved on a table of integers (`tableau`). For the others HiGHS guesses an
optimal basis in floating point, and an exact simplex method (`simplex`) starts from it: an optimal
basis is verified by two linear solves, another one is improved by exact pivots. Every result is
therefore exact, whatever the quality of the guess.

Data flow: `parsing` → `rows` (integers) in a `model` → `tableau`, or `highs` (guess) → `basis`
(linear solves) → `simplex`; then the exact results of `pivoting` → `dual_certificates` → `results`.
`linear_program` is the interface to the other rooms, `sign_systems` one for strict inequalities
with changing signs, and `support` one for sparse programs that are too large for exact tables.
`ElasticProgram` guesses multipliers only.
"""

from polyrelu.exact.lp.elastic_program import ElasticProgram
from polyrelu.exact.lp.linear_program import LinearProgram
from polyrelu.exact.lp.results import (
    FlatSet,
    Infeasible,
    InteriorPoint,
    Multipliers,
    Optimal,
    Unbounded,
)
from polyrelu.exact.lp.sign_systems import Dependence, SignSystem

__all__ = [
    "Dependence",
    "ElasticProgram",
    "FlatSet",
    "Infeasible",
    "InteriorPoint",
    "LinearProgram",
    "Multipliers",
    "Optimal",
    "SignSystem",
    "Unbounded",
]
