"""What the public objects of the room look like in a terminal and in a notebook."""

from __future__ import annotations

from polyrelu.formats import Comparison, Imported
from polyrelu.network import from_arrays

NET = from_arrays([([[1, 2]], [3])])
NET_TEXT = "Network 2-1, 3 parameters, sha256 10a8f550a88e…"


def test_names_from_files_are_escaped() -> None:
    imported = Imported(
        NET,
        "npz",
        (),
        (),
        notes=("<script>",),
        caveats=("a & b",),
        source="<b>.npz",
        source_sha256="0" * 64,
        comparison=Comparison(reason="the <i>runtime</i> is missing"),
    )
    assert repr(imported) == f"<Imported <b>.npz (npz): {NET_TEXT}>"
    assert imported._repr_html_() == (
        f"<table><tr><th>network</th><td>{NET_TEXT}</td></tr>"
        "<tr><th>format</th><td>npz</td></tr>"
        "<tr><th>source</th><td>&lt;b&gt;.npz</td></tr>"
        f'<tr><th>sha256 of the file</th><td class="long">{"0" * 64}</td></tr>'
        "<tr><th>rounding</th><td>none</td></tr>"
        "<tr><th>note</th><td>&lt;script&gt;</td></tr>"
        "<tr><th>caveat</th><td>a &amp; b</td></tr>"
        "<tr><th>runtime</th><td>not compared: the &lt;i&gt;runtime&lt;/i&gt; is missing</td></tr>"
        "</table>"
    )
