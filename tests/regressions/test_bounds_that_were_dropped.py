"""A certificate used bounds whose records had been dropped, and the checker refused it.

The bounds came from a sign that floats claim and exact bounds do not prove. This takes a tie, which
outward rounding to short numbers loses.
"""

from __future__ import annotations

from fractions import Fraction
from random import Random

from polyrelu import Polyhedron, checker, equivalent, from_arrays
from polyrelu.outcomes import Equivalent


def test_certificates_of_ties_on_a_box() -> None:
    for seed in range(60):
        chance = Random(seed)
        u, low = (
            Fraction(chance.randint(1, 60), chance.choice((3, 7, 11, 13, 17))) for _ in range(2)
        )
        c = Fraction(chance.randint(1, 5), 7)
        one = from_arrays(
            [([[1], [1]], [0, -c]), ([[-1, 0], [-1, 0], [0, 1]], [u, 2 * u, 0]), ([[1, 3, 1]], [0])]
        )
        two = from_arrays([([[1], [1]], [0, 0]), ([[1, 0], [0, 1]], [0, -c]), ([[-4, 1]], [7 * u])])
        outcome = equivalent(one, two, Polyhedron.box([-low], [u]))
        assert isinstance(outcome, Equivalent)
        report = checker.check_bytes(b"".join(outcome.certificate.lines()))
        assert report.verdict == "accepted", (seed, report)
