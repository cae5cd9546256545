"""What the public objects of the room look like in a terminal and in a notebook."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from polyrelu import Polyhedron
from polyrelu.formats import (
    Comparison,
    FloatOutputs,
    Imported,
    Rounding,
    SavedNetwork,
    Slice,
    read,
    runtime_error,
)
from polyrelu.network import from_arrays

NET = from_arrays([([[1, 2]], [3])])
NET_TEXT = "Network 2-1, 3 parameters, sha256 10a8f550a88e…"


def test_an_imported_network() -> None:
    imported = read([([[1, 2]], [3])])
    assert str(imported) == f"pairs (W, b): {NET_TEXT}"
    assert repr(imported) == f"<Imported pairs (W, b): {NET_TEXT}>"


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
        f"<tr><th>sha256 of the file</th><td>{'0' * 64}</td></tr>"
        "<tr><th>rounding</th><td>none</td></tr>"
        "<tr><th>note</th><td>&lt;script&gt;</td></tr>"
        "<tr><th>caveat</th><td>a &amp; b</td></tr>"
        "<tr><th>runtime</th><td>not compared: the &lt;i&gt;runtime&lt;/i&gt; is missing</td></tr>"
        "</table>"
    )


def test_comparisons() -> None:
    assert repr(Comparison(reason="not asked for")) == "<Comparison, not compared: not asked for>"
    assert repr(Comparison("onnxruntime", "", 8, 2, 0.5)) == (
        "<Comparison, 2 values of the file agree with onnxruntime at 8 points, within the proved "
        "bound on i…>"
    )


def test_results_of_functions() -> None:
    outputs = FloatOutputs("numpy float32, layer by layer", (0.5, 1.0))
    assert repr(outputs) == "<FloatOutputs, 2 outputs of numpy float32, layer by layer>"
    exact = SavedNetwork((Path("out/net.onnx"),), "float32", Fraction(0))
    assert repr(exact) == "<SavedNetwork net.onnx, float32, exact>"
    rounded = SavedNetwork((Path("a\nb.onnx"),), "float64", Fraction(1, 3))
    assert repr(rounded) == "<SavedNetwork a b.onnx, float64, rounded by at most 0.333334>"
    line = Slice(Polyhedron.universe(2), (Fraction(0), Fraction(1)), ((Fraction(1), Fraction(0)),))
    assert repr(line) == "<Slice of dimension 1 in R^2>"
    assert repr(Rounding()) == (
        "Rounding(batchnorm='float64', text='exact', attributes='stored', normalisation='exact')"
    )


def test_bounds_on_rounding_errors() -> None:
    found = runtime_error(from_arrays([([[1, 1]], [0])]), "box:0,1")
    assert str(found) == "|float32 runtime - exact function| is at most 4.76838e-7 on the box"
    assert repr(found) == f"<RuntimeErrorBound, {found}>"
    beyond = runtime_error(from_arrays([([[Fraction(2) ** 100]], [0])]), ([0], [2**100]))
    assert repr(beyond) == (
        "<RuntimeErrorBound, nothing is proved for some outputs: a float32 runtime might overflow>"
    )
