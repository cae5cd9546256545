"""What the public objects of the room look like in a terminal and in a notebook."""

from __future__ import annotations

from polyrelu.certificate import Certificate, CertificateText, Claim, Hypothesis, describe_latex
from polyrelu.network import from_arrays

NET = from_arrays([([[1]], [0]), ([[1]], [0])])


def test_notes_are_escaped() -> None:
    claim = Claim("identifiable", NET, "all")
    certificate = Certificate(
        claim, "bottleneck", (Hypothesis("bottleneck", "rank"),), {"source": "<b>&.npz"}
    )
    assert certificate._repr_html_().endswith(
        "<tr><th>unverified: source</th><td>&lt;b&gt;&amp;.npz</td></tr></table>"
    )


def test_the_text_of_a_file() -> None:
    """Names come from files, so they are escaped wherever they are shown."""
    text = CertificateText(
        "identifiable",
        "0" * 64,
        None,
        "network in <b>_\\input{x}.json",
        "all",
        "R^n",
        "affine",
        (("id", "a < b"),),
        {"<i>": "x & y"},
    )
    assert repr(text) == (
        "<CertificateText, identifiable by 'affine': network in <b>_\\input{x}.json>"
    )
    html = text._repr_html_()
    assert html.startswith(
        '<table><tr><th>claim</th><td class="long">the network in &lt;b&gt;_\\input{x}.json with '
        "SHA-256 000"
    )
    assert html.endswith(
        "<tr><th>theorem</th><td>no hidden layer (docs/theory/shallow.md)</td></tr>"
        "<tr><th>hypothesis</th><td>id: a &lt; b</td></tr>"
        "<tr><th>unverified: &lt;i&gt;</th><td>x &amp; y</td></tr></table>"
    )
    assert r"in $<$b$>$\_\textbackslash{}input\{x\}.json" in describe_latex(text)


def test_commands_and_relations_in_latex() -> None:
    """No backticks, and a relation between widths is one formula."""
    from polyrelu.certificate.describe import _escape

    assert _escape("if n_0 >= n_1") == r"if $n_0 \ge n_1$"
    assert (
        _escape("`polyrelu runtime-error` bounds it")
        == r"\texttt{polyrelu runtime-error} bounds it"
    )
