"""A proof by parts has a tree over some of the atoms, whose numbers are not their positions.

The price of the signs on a box was looked up by position, and `equivalent` ended with IndexError.
"""

from __future__ import annotations

from polyrelu import equivalent
from tests.generators.equivalent_pairs import network, pair


def test_parts_on_a_box() -> None:
    made, _ = pair(33)
    outcome = equivalent(network(made.first), network(made.second), "box:-2,3")
    assert outcome.status == "proved"
