"""``.nnet`` files: exact decimals, rounding rules, normalisation, refusals by line, real files."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import pytest

from polyrelu.errors import NetworkError, NetworkFileError
from polyrelu.exact import FLOAT32, FLOAT64
from polyrelu.formats import read
from polyrelu.formats.imported import Draft
from polyrelu.formats.nnet import read_nnet
from polyrelu.formats.options import ReadOptions, Rounding
from polyrelu.network import Network, from_arrays
from tests.generators.files import NETS as _NETS

_GOOD = """\
// a comment, with any characters: ∂
// another one
2,2,1,2,
2,2,1,
0,
-1,-1,
1,1,
0.5,0.1,1,
2,4,3,
1,-2.5,
0.25,1e-1,
0.5,
-1,
1,.3,
0.125,
"""

#: The number of the first line after the comments.
_FIRST = 3

_LAYERS = [([["1", "-2.5"], ["0.25", "1e-1"]], ["0.5", "-1"]), ([["1", "0.3"]], ["0.125"])]

_POINTS = [[Fraction(x), Fraction(y)] for x, y in ((0, 0), (1, 2), (-3, 5), ("1/3", "-7/2"))]


def _write(folder: Path, text: str) -> Path:
    path = folder / "net.nnet"
    path.write_text(text, encoding="utf-8")
    return path


def _draft(
    folder: Path, text: str = _GOOD, rounding: str = "", normalisation: str = "none"
) -> Draft:
    return read_nnet(
        _write(folder, text), ReadOptions(Rounding.parse(rounding), normalisation=normalisation)
    )


def _network(draft: Draft) -> Network:
    assert draft.network is not None
    return draft.network


def _exact() -> Network:
    """Return the network of `_GOOD`, from its decimals."""
    return from_arrays(
        ([[Fraction(w) for w in row] for row in weights], [Fraction(b) for b in biases])
        for weights, biases in _LAYERS
    )


def _edited(**lines: str | None) -> str:
    """Return the good file with lines replaced (l3="…"), or left out if None."""
    parts = _GOOD.split("\n")
    for key, new in lines.items():
        parts[int(key.removeprefix("l")) - 1] = "\0" if new is None else new
    return "\n".join(part for part in parts if part != "\0")


# --- Numbers --------------------------------------------------------------------------------------


def test_decimals_are_read_exactly(tmp_path: Path) -> None:
    draft = _draft(tmp_path)
    assert draft.network == _exact()
    assert draft.rounding == {"text: exact"}
    assert draft.dtypes == {"decimal text"}
    assert draft.num_stored == 9
    assert draft.steps == ["affine [2, 2]", "affine [1, 2]"]


@pytest.mark.parametrize(("rule", "format_"), [("float32", FLOAT32), ("float64", FLOAT64)])
def test_decimals_as_nearest_floats(rule: str, format_: object, tmp_path: Path) -> None:
    nearest = {"float32": FLOAT32, "float64": FLOAT64}[rule].nearest
    draft = _draft(tmp_path, rounding=f"text={rule}")
    expected = [
        (
            [[nearest(Fraction(w)) for w in row] for row in weights],
            [nearest(Fraction(b)) for b in biases],
        )
        for weights, biases in _LAYERS
    ]
    assert draft.network == from_arrays(expected)
    assert draft.rounding == {f"text: {rule}"}


def test_float32_is_reached_in_one_step(tmp_path: Path) -> None:
    """Text is rounded to float32 in one step.

    The decimal is slightly above the middle of 1 and 1 + 2^-23. Rounded to float64 first, it would
    become the middle, which then goes down to 1.
    """
    draft = _draft(tmp_path, _edited(l14="1,1.0000000596046447753906250001,"), "text=float32")
    assert _network(draft).weight(2)[0, 1] == 1 + Fraction(1, 2**23)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("5", 5),
        ("+5", 5),
        ("-5.", -5),
        ("-.5", Fraction(-1, 2)),
        ("1E2", 100),
        ("1e-02", Fraction(1, 100)),
        ("-0", 0),
        ("007", 7),
        (" 2.5\t", Fraction(5, 2)),
        ("1e+999", 10**999),
        ("1e-999", Fraction(1, 10**999)),
    ],
)
def test_grammar_of_numbers(text: str, value: int | Fraction, tmp_path: Path) -> None:
    draft = _draft(tmp_path, _edited(l15=text))
    assert _network(draft).bias(2)[0, 0] == value


@pytest.mark.parametrize(
    "text",
    [
        "nan",
        "inf",
        "-Infinity",
        "1_000",
        "0x10",
        "1/3",
        "1e",
        "1e1234",
        "--1",
        "1 2",
        ".",
        "e5",
        "1d5",
        "1,5.0.0",
    ],
)
def test_other_numbers_are_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(
        NetworkFileError, match=r"line 14: .*(is not a decimal number|entries; expected)"
    ):
        _draft(tmp_path, _edited(l14=f"1,{text},"))


def test_blanks_line_ends_and_commas(tmp_path: Path) -> None:
    """Blanks around numbers, no comma at the end, Windows line ends, empty lines at the end."""
    text = _GOOD.replace(",\n", "\n").replace(",", " , ").replace("\n", "\r\n") + "\r\n\n"
    assert _draft(tmp_path, text).network == _exact()


# --- Header ---------------------------------------------------------------------------------------


def test_a_header_with_the_number_of_layers_only(tmp_path: Path) -> None:
    draft = _draft(tmp_path, _edited(l3="2", l6="0", l7="0", l8="0", l9="0"))
    assert draft.network == _exact()
    assert {
        "the first line gives the number of layers only",
        "the file has no normalisation",
    } <= set(draft.notes)


def test_the_largest_layer_is_not_needed(tmp_path: Path) -> None:
    draft = _draft(tmp_path, _edited(l3="2,2,1,50,"))
    assert draft.network == _exact()
    assert any("largest layer is said to have size 50" in caveat for caveat in draft.caveats)


_BAD = {
    "empty": ("", "the file ends after line 0; expected the numbers of layers"),
    "comments alone": ("// a\n// b\n", "the file ends after line 2"),
    "header of three": (
        _edited(l3="2,2,1,"),
        "line 3: 3 entries; expected the numbers of layers.*, 4 or 1",
    ),
    "no layers": (_edited(l3="0,2,1,2,"), "line 3: '0' is not a size from 1 to 1000000"),
    "negative": (_edited(l3="-2,2,1,2,"), "line 3: '-2' is not a size"),
    "a size that is no number": (_edited(l4="2,x,1,"), "line 4: 'x' is not a size"),
    "a size of 0": (_edited(l4="2,0,1,"), "line 4: '0' is not a size"),
    "a huge size": (_edited(l4="2,123456789123,1,"), "line 4: '123456789123' is not a size"),
    "a size in other digits": (_edited(l4="2,２,1,"), "line 4: only ASCII"),
    "too many layers": (_edited(l3="10001"), "line 3: 10001 layers, more than 10000"),
    "too many weights": (
        _edited(l3="2", l4="10000,10000,1"),
        "line 4: 100020001 weights and biases, more than 3",
    ),
    "sizes do not fit": (
        _edited(l4="2,2,"),
        "line 4: 2 entries; expected the sizes of the input and of all layers, 3",
    ),
    "other inputs": (
        _edited(l3="2,3,1,2,"),
        "line 4: 2 inputs and 1 outputs; the line before says 3 and 1",
    ),
    "symmetric": (_edited(l5="1,"), "line 5: the obsolete flag is '1'.*write 0"),
    "flag missing": (_edited(l5="0,0,"), "line 5: 2 entries; expected an obsolete flag, 1"),
    "means missing": (_edited(l8=None), "line 11: 1 entries; expected a row of weights, 2"),
    "a short row": (_edited(l10="1,"), "line 10: 1 entries; expected a row of weights, 2"),
    "a long row": (_edited(l10="1,2,3,"), "line 10: 3 entries; expected a row of weights, 2"),
    "a very long row": (_edited(l10="1," * 10**6), "line 10: 1000000 entries"),
    "two commas": (_edited(l10="1,,2"), "line 10: 3 entries"),
    "two commas at the end": (_edited(l10="1,2,,"), "line 10: 3 entries"),
    "an empty entry": (_edited(l10=",2,"), "line 10: '' is not a decimal number"),
    "an empty line": (_edited(l10=""), "line 10: 0 entries; expected a row of weights"),
    "a comment later": (_edited(l10="// weights"), "line 10: 1 entries"),
    "a bias too many": (_edited(l12="0.5,0.5,"), "line 12: 2 entries; expected a bias, 1"),
    "a long number": (
        _edited(l12="0" * 1001),
        "line 12: a number of 1001 characters, more than 1000",
    ),
    "not ASCII": (_edited(l12="0.5\N{NO-BREAK SPACE}"), "line 12: only ASCII"),
    "byte order mark": ("\N{ZERO WIDTH NO-BREAK SPACE}" + _GOOD, "line 1: only ASCII"),
    "a line missing": (_edited(l15=None), "the file ends after line 14; expected a bias"),
    "more lines": (_GOOD + "1,\n", "line 16: more lines than the sizes of the layers say"),
    "more lines after an empty one": (_GOOD + "\n1,\n", "line 16: more lines"),
    "too large for float32": (
        _edited(l15="1e39"),
        "line 15: '1e39': a number is too large for float32",
    ),
}


@pytest.mark.parametrize("name", _BAD)
def test_bad_files_are_refused_by_line(name: str, tmp_path: Path) -> None:
    text, says = _BAD[name]
    path = _write(tmp_path, text)
    with pytest.raises(NetworkFileError, match=says) as caught:
        read_nnet(path, ReadOptions(Rounding.parse("text=float32" if "float32" in name else "")))
    assert str(caught.value).startswith(str(path))
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 400 + len(str(path))


# --- Normalisation --------------------------------------------------------------------------------


def _normalised(point: Sequence[Fraction]) -> list[Fraction]:
    means, ranges = [Fraction("0.5"), Fraction("0.1")], [2, 4]
    return [(x - mean) / size for x, mean, size in zip(point, means, ranges, strict=True)]


@pytest.mark.parametrize("normalisation", ["none", "inputs", "outputs", "both"])
def test_normalisation_is_exact(normalisation: str, tmp_path: Path) -> None:
    draft, stored = _draft(tmp_path, normalisation=normalisation), _exact()
    for point in _POINTS:
        expected = stored(_normalised(point) if normalisation in ("inputs", "both") else point)[0]
        if normalisation in ("outputs", "both"):
            expected = expected * 3 + 1
        assert _network(draft)(point) == (expected,)
    assert ("normalisation: exact" in draft.rounding) == (normalisation != "none")
    assert draft.num_stored == {"none": 9, "inputs": 13, "outputs": 11, "both": 15}[normalisation]


def test_notes_on_normalisation(tmp_path: Path) -> None:
    drafts = {kind: _draft(tmp_path, normalisation=kind) for kind in ("none", "inputs", "outputs")}
    (caveat,) = drafts["none"].caveats
    assert "not applied" in caveat
    assert "--normalisation" in caveat
    assert len(drafts["inputs"].caveats) == 2
    assert any("clips" in caveat for caveat in drafts["inputs"].caveats)
    assert any("folded into the first layer" in caveat for caveat in drafts["inputs"].caveats)
    (caveat,) = drafts["outputs"].caveats
    assert "normalisation of the outputs" in caveat
    assert drafts["outputs"].steps[-1].endswith("folded in")
    plain = _draft(tmp_path, _edited(l8="0,0.0,0,", l9="1,1e0,1,"))
    assert plain.caveats == []
    assert not any("normalisation" in note for note in plain.notes)


def test_where_a_rounding_bound_holds(tmp_path: Path) -> None:
    """Exact decimals leave both float types bounded, rounded ones only their own type.

    Weights into which the normalisation was folded are bounded only if they were rounded.
    """
    both = {"float32", "float64"}
    assert _draft(tmp_path).bounded == both
    for rule in both:
        draft = _draft(tmp_path, rounding=f"text={rule}")
        assert (draft.arithmetic, draft.bounded) == (rule, {rule})
    assert _draft(tmp_path, normalisation="both").bounded == set()
    assert _draft(tmp_path, rounding="normalisation=float32", normalisation="both").bounded == {
        "float32"
    }


def test_normalised_weights_are_rounded_once(tmp_path: Path) -> None:
    """Folded weights are computed from the exact decimals and rounded once.

    The other layers follow the rule for text.
    """
    exact = _draft(tmp_path, normalisation="inputs")
    rounded = _draft(
        tmp_path, rounding="text=float64,normalisation=float32", normalisation="inputs"
    )
    assert rounded.rounding == {"text: float64", "normalisation: float32"}
    for part in ("weight", "bias"):
        first = [FLOAT32.nearest(entry) for entry in getattr(_network(exact), part)(1).entries()]
        second = [FLOAT64.nearest(entry) for entry in getattr(_exact(), part)(2).entries()]
        assert list(getattr(_network(rounded), part)(1).entries()) == first
        assert list(getattr(_network(rounded), part)(2).entries()) == second


def test_one_layer_takes_both_normalisations(tmp_path: Path) -> None:
    text = "1\n1,1\n0\n0\n0\n0.3,0.7\n3,7\n1.1\n0.1\n"
    draft = _draft(tmp_path, text, "normalisation=float32", "both")
    weight, bias = (
        Fraction("1.1") / 3 * 7,
        (Fraction("0.1") - Fraction("1.1") / 3 * Fraction("0.3")) * 7,
    )
    expected = FLOAT32.nearest(weight), FLOAT32.nearest(bias + Fraction("0.7"))
    assert (_network(draft).weight(1)[0, 0], _network(draft).bias(1)[0, 0]) == expected


@pytest.mark.parametrize(
    ("text", "normalisation", "says"),
    [
        (
            _edited(l8="0"),
            "inputs",
            "line 8: the file has no normalisation here, but 'inputs' was asked for",
        ),
        (
            _edited(l9="0"),
            "outputs",
            "line 9: the file has no normalisation here, but 'outputs' was asked for",
        ),
        (_edited(l9="2,0.0,3,"), "inputs", "line 9: the range of input 1 is 0"),
        (_edited(l9="2,2,0,"), "both", "line 9: the range of the outputs is 0"),
        (_edited(l9="2,2,"), "both", "line 9: no entry for the outputs, but 'both' was asked for"),
        (_edited(l8="1,1,"), "outputs", "line 8: no entry for the outputs, but 'outputs' was"),
        (_edited(l8="1,"), "inputs", "line 8: 1 entries for 2 inputs, but 'inputs' was asked for"),
        (_edited(l8="1,a,2"), "inputs", "line 8: 'a' is not a decimal number"),
    ],
)
def test_normalisations_that_cannot_be(
    text: str, normalisation: str, says: str, tmp_path: Path
) -> None:
    with pytest.raises(NetworkFileError, match=says):
        _draft(tmp_path, text, normalisation=normalisation)
    assert _draft(tmp_path, text).network == _exact()


@pytest.mark.parametrize(
    ("text", "caution"),
    [
        (_edited(l5="This line, extraneous"), "line 5 is the text 'This line, extraneous'"),
        (_edited(l6="1,"), "line 6 has 1 numbers where the least inputs are 2"),
        (_edited(l6="-1,a,"), "line 6 is not the numbers of the least inputs"),
        (_edited(l7="1,1,1,"), "line 7 has 3 numbers where the greatest inputs are 2"),
        (_edited(l8="1,1,1,1,"), "line 8 has 4 numbers where the means of the inputs and of the"),
        (_edited(l9="1,1,"), "line 9 has 2 numbers where the ranges of the inputs and of the"),
        (_edited(l9=""), "line 9 is empty|line 9 has 0 numbers"),
    ],
)
def test_what_the_layers_do_not_need_is_a_caution(text: str, caution: str, tmp_path: Path) -> None:
    draft = _draft(tmp_path, text)
    assert draft.network == _exact()
    assert re.match(caution, draft.caveats[0])


def test_a_normalisation_with_more_inputs_than_the_network(tmp_path: Path) -> None:
    """The first numbers belong to the inputs, the last one to the outputs."""
    first = _edited(l6="-1,-1,-1,", l7="1,1,1,", l8="0.5,0.1,7,8,1,", l9="2,4,9,9,3,")
    for kind in ("inputs", "outputs", "both"):
        expected = _draft(tmp_path, normalisation=kind)
        assert _draft(tmp_path, first, normalisation=kind).network == expected.network
    no_output = _edited(l8="0.5,0.1,", l9="2,4,")
    expected = _draft(tmp_path, normalisation="inputs")
    assert _draft(tmp_path, no_output, normalisation="inputs").network == expected.network


@pytest.mark.parametrize(
    ("text", "choices"),
    [
        (_GOOD, ["inputs", "outputs", "both"]),
        (_edited(l8="0.5,0.1,", l9="2,4,"), ["inputs"]),
        (_edited(l9="2,0,3,"), ["outputs"]),
        (_edited(l9="2,4,0,"), ["inputs"]),
        (_edited(l9="2,x,3,"), ["outputs"]),
        (_edited(l9="2,"), []),
    ],
)
def test_the_advice_about_the_normalisation_works(
    text: str, choices: list[str], tmp_path: Path
) -> None:
    (caveat,) = [text for text in _draft(tmp_path, text).caveats if "not applied" in text]
    shown = caveat.partition("--normalisation ")[2].partition(" makes")[0]
    assert [name for name in re.split(", | or ", shown) if name] == choices
    for name in ("inputs", "outputs", "both"):
        if name in choices:
            assert _draft(tmp_path, text, normalisation=name).caveats
        else:
            with pytest.raises(NetworkFileError):
                _draft(tmp_path, text, normalisation=name)


# --- Damaged files --------------------------------------------------------------------------------


def test_truncated_files(tmp_path: Path) -> None:
    path = tmp_path / "net.nnet"
    for length in range(len(_GOOD.encode())):
        path.write_bytes(_GOOD.encode()[:length])
        try:
            draft = read_nnet(path, ReadOptions())
        except NetworkFileError as error:
            assert str(error).isprintable()  # noqa: PT017
        else:  # the cut shortened the last line only
            assert _GOOD.encode()[length:].strip(b"0.125,\n") == b""
            assert _network(draft).widths == (2, 2, 1)


def test_damaged_files_give_a_network_or_one_line(tmp_path: Path) -> None:
    chance, path, survived = random.Random(3), tmp_path / "net.nnet", 0
    for _ in range(1500):
        damaged = bytearray(_GOOD.encode())
        for _ in range(chance.choice([1, 1, 2])):
            position = chance.randrange(len(damaged))
            if chance.random() < 0.7:
                damaged[position] = chance.randrange(256)
            else:
                del damaged[position : position + chance.randint(1, 4)]
        path.write_bytes(bytes(damaged))
        try:
            draft = read_nnet(path, ReadOptions(normalisation="both"))
        except NetworkError as error:
            assert "\n" not in str(error)  # noqa: PT017
        else:
            survived += 1
            assert isinstance(draft.network, Network)
    assert 100 < survived < 1400


# --- Files from elsewhere -------------------------------------------------------------------------


def _shared_network(name: str, rounding: str = "", normalisation: str = "none") -> Network:
    path = _NETS / name
    if not path.is_file():
        pytest.skip("the collection of networks is not here")
    return _network(
        read_nnet(path, ReadOptions(Rounding.parse(rounding), normalisation=normalisation))
    )


@pytest.mark.parametrize(
    ("name", "architecture"),
    [
        ("acasxu_1_1.nnet", "5-50-50-50-50-50-50-5"),
        ("coav_0131.nnet", "6-40-40-38-19-1"),
        ("marabou_mnist10x10.nnet", "784-10-10-10-10-10-10-10-10-10-10-10"),
        ("nnet_testnetwork.nnet", "5-50-50-50-50-50-50-5"),
        ("nnet_testnetwork2.nnet", "5-50-50-50-50-50-50-5"),
        ("nv_cartpole.nnet", "4-16-16-16-2"),
        ("nv_small.nnet", "1-2-2-1"),
        ("nv_tiny.nnet", "1-1-1"),
        ("vcas_pra01_20hu.nnet", "3-20-20-20-20-20-9"),
        ("vertcas_v4_pra01_45hu.nnet", "4-45-45-45-45-45-45-9"),
    ],
)
def test_files_from_elsewhere(name: str, architecture: str) -> None:
    assert str(_shared_network(name).architecture) == architecture


def test_acasxu_is_the_onnx_file_in_float32_only() -> None:
    stored = _shared_network("acasxu_1_1.nnet")
    onnx = read(_NETS / "acasxu_1_1_marabou.onnx", compare=False).network
    assert _shared_network("acasxu_1_1.nnet", "text=float32") == onnx
    assert stored != onnx
    assert _shared_network("acasxu_1_1.nnet", "text=float64") not in (stored, onnx)


@pytest.mark.parametrize("name", ["nnet_testnetwork.nnet", "nnet_testnetwork2.nnet"])
def test_the_formats_own_converter_folds_both_normalisations(name: str) -> None:
    """NNet's writer made the .onnx file: folded in float64, then all weights rounded to float32."""
    folded = _shared_network(name, "text=float32,normalisation=float32", "both")
    onnx = read(_NETS / "nnet_testnetwork2.onnx", compare=False).network
    assert folded == onnx
    assert _shared_network(name, "text=float32", "both") != onnx
    assert _shared_network(name, "text=float32,normalisation=float32", "inputs") != onnx


def test_missing_normalisation_is_reported() -> None:
    _shared_network("nv_tiny.nnet")
    with pytest.raises(NetworkFileError, match="line 6: the file has no normalisation here"):
        _shared_network("nv_tiny.nnet", normalisation="both")
    # The means of this file are 0, its ranges 1.
    assert _shared_network("coav_0131.nnet", normalisation="both") == _shared_network(
        "coav_0131.nnet"
    )
