"""What answers look like in a terminal and in a notebook."""

from __future__ import annotations

from fractions import Fraction
from html import escape

from polyrelu import canonical_complex, certify_regions, equivalent, from_arrays, identify
from polyrelu.outcomes import (
    Attempt,
    Equivalent,
    NotEquivalent,
    NotIdentifiable,
    ProofStatistics,
    Proved,
    SearchStatistics,
    Undecided,
    Witness,
)

ABSOLUTE = from_arrays([([[1], [-1]], [0, 0]), ([[1, 1]], [0])])
ZERO = from_arrays([([[0]], [0])])
UNUSED = from_arrays([([[1], [2]], [0, 1]), ([[1, 0]], [0])])
NAME, OTHER = ABSOLUTE.sha256[:12], ZERO.sha256[:12]


def test_answers_of_identify() -> None:
    proved, refuted = identify(ABSOLUTE), identify(UNUSED)
    assert isinstance(proved, Proved)
    assert isinstance(refuted, NotIdentifiable)
    assert repr(proved) == (
        f"<Identifiable: 1-2-1 network {NAME}… is identifiable among all parameters>"
    )
    assert repr(refuted) == (
        f"<NotIdentifiable: 1-2-1 network {UNUSED.sha256[:12]}… is not identifiable among all "
        "parameters>"
    )
    assert str(proved).startswith(f"proved. The 1-2-1 network {NAME}… is identifiable among all")
    assert proved._repr_html_() == f"<pre>{escape(str(proved))}</pre>"


def test_answers_of_equivalent() -> None:
    same, different = equivalent(ABSOLUTE, ABSOLUTE), equivalent(ABSOLUTE, ZERO)
    assert isinstance(same, Equivalent)
    assert isinstance(different, NotEquivalent)
    assert repr(same) == (
        f"<Equivalent: (1, 2, 1) {NAME}… and (1, 2, 1) {NAME}… are equivalent on R^n>"
    )
    assert repr(different) == (
        f"<NotEquivalent: (1, 2, 1) {NAME}… and (1, 1) {OTHER}… are not equivalent on R^n>"
    )
    assert "\nx: 1\nf(x): 1\ng(x): 0\noutput 0 differs most: f(x) - g(x) = 1\n" in str(different)


def test_a_list_of_regions() -> None:
    listed = certify_regions(canonical_complex(ABSOLUTE))
    assert repr(listed) == (f"<RegionsListed: 2 regions of (1, 2, 1) {NAME}… on R^n>")


def test_undecided() -> None:
    attempt = Attempt("shallow", "a weight of <b> is 0", ("neuron 0",))
    assert str(attempt) == "shallow: a weight of <b> is 0"
    assert repr(attempt) == "<Attempt, shallow: a weight of <b> is 0>"
    outcome = Undecided("no theorem applied", (attempt,), ProofStatistics(num_nodes=2, closed=0.25))
    assert repr(outcome) == "<Undecided: no theorem applied>"
    assert str(outcome) == (
        "undecided: no theorem applied\n"
        "  tried shallow: a weight of <b> is 0\n"
        "reached: 2 nodes, 0 leaves, depth 0, 0 signs, 0 linear programs, 25 % of the tree"
    )
    assert "tried shallow: a weight of &lt;b&gt; is 0" in outcome._repr_html_()


def test_a_witness() -> None:
    witness = Witness((Fraction(1), Fraction(1, 3)), (Fraction(2),), (Fraction(1, 2),))
    assert str(witness) == "x: 1, 1/3\nf(x): 2\ng(x): 1/2"
    assert repr(witness) == "<Witness: output 0 differs most: f(x) - g(x) = 3/2>"
    assert witness._repr_html_() == (
        "<table><tr><th>x</th><td>1, 1/3</td></tr>"
        "<tr><th>f(x)</th><td>2</td></tr>"
        "<tr><th>g(x)</th><td>1/2</td></tr></table>"
    )


def test_statistics() -> None:
    assert repr(ProofStatistics(3, 2, 1)) == (
        "ProofStatistics(num_nodes=3, num_leaves=2, depth=1, num_signs=0, num_programs=0, "
        "closed=0.0)"
    )
    assert str(SearchStatistics(route="points", num_points=3)) == (
        "route points: 0 nodes, 0 leaves, depth 0, 0 signs, 0 linear programs, 3 points"
    )
