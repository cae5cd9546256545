"""What answers look like in a terminal and in a notebook."""

from __future__ import annotations

from html import escape

from polyrelu.outcomes import Attempt, Undecided
from polyrelu.support.display import html_table


def test_answers_in_a_notebook() -> None:
    """Reasons may quote names from files, so they are escaped."""
    outcome = Undecided("no <b>", (Attempt("shallow", "a weight of <script> is 0"),))
    shown = outcome._repr_html_()
    assert shown == f"<pre>{escape(str(outcome))}</pre>"
    assert "a weight of &lt;script&gt; is 0" in shown
    (row, *_) = html_table([("<i>", "x & y")]).splitlines()
    assert row == "<table><tr><th>&lt;i&gt;</th><td>x &amp; y</td></tr></table>"
