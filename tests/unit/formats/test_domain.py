"""Domains as users write them: all forms, exact decimals, and one-line errors."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest

from polyrelu.errors import DomainError
from polyrelu.exact import Polyhedron
from polyrelu.formats import parse_domain, parse_slice


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(text: object) -> str:
    """Write a JSON file with a given text or document."""
    Path("domain.json").write_text(text if isinstance(text, str) else json.dumps(text))
    return "domain.json"


# -- Forms -----------------------------------------------------------------------------------------


def test_names() -> None:
    assert parse_domain("R^n", 3) == Polyhedron.universe(3)
    assert parse_domain("orthant", 2) == Polyhedron.orthant(2)


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("box:-1,1", [-1, -1], [1, 1]),
        ("box:0.1,0.2", [Fraction(1, 10)] * 2, [Fraction(1, 5)] * 2),
        ("box:-2/3,1/7;0,0.125", [Fraction(-2, 3), 0], [Fraction(1, 7), Fraction(1, 8)]),
        ("box: -1 , 1 ; 2,\t2 ", [-1, 2], [1, 2]),
        ("box:-0,00.50", [0, 0], [Fraction(1, 2)] * 2),
        ("box:0,0." + "3" * 400, [0, 0], [Fraction(int("3" * 400), 10**400)] * 2),
    ],
)
def test_boxes(text: str, low: list[Fraction], high: list[Fraction]) -> None:
    assert parse_domain(text, 2) == Polyhedron.box(low, high)


def test_inequalities_and_equations() -> None:
    document = (
        '{"A": [[1, 0.1], ["-1/3", 0]], "c": [0.30, "2"], '
        '"E": [[0, 1]], "e": [-12345678901234567890]}'
    )
    expected = Polyhedron.from_constraints(
        [[1, "1/10"], ["-1/3", 0]], ["3/10", 2], [[0, 1]], [-12345678901234567890]
    )
    assert parse_domain(write(document), 2) == expected
    assert parse_domain(write({"E": [[1, 1]], "e": [0]}), 2) == Polyhedron.from_constraints(
        [], [], [[1, 1]], [0], 2
    )
    assert parse_domain(write({"A": [], "c": []}), 2) == Polyhedron.universe(2)


def test_points_rays_and_lines() -> None:
    triangle = {"vertices": [[0, 0], [0.5, 0], [0, "1/2"]]}
    expected = Polyhedron.from_constraints([[-1, 0], [0, -1], [1, 1]], [0, 0, "1/2"])
    assert parse_domain(write(triangle), 2).generators().points == expected.generators().points
    assert parse_domain(write({"vertices": [[0, 0]], "rays": [[1, 0], [0, 1]]}), 2).equals(
        Polyhedron.orthant(2)
    )
    half = parse_domain(write({"vertices": [[0, 3]], "rays": [[1, 0]], "lines": [[0, 1]]}), 2)
    assert half.equals(Polyhedron.from_constraints([[-1, 0]], [0]))
    assert parse_domain(write({"vertices": []}), 2).is_empty()


def test_slices() -> None:
    assert parse_domain("slice:" + write({"points": [[1, 2, 3]]}), 3).equals(
        Polyhedron.box([1, 2, 3], [1, 2, 3])
    )
    line = parse_domain("slice:" + write({"points": [[0, 0, 1], [0.5, 0.5, 1]]}), 3)
    assert line.equals(Polyhedron.from_constraints([], [], [[1, -1, 0], [0, 0, 1]], [0, 1]))
    cut = parse_domain(
        "slice:" + write({"points": [[0, 0], [1, 1]], "A": [[1, 0], [-1, 0]], "c": [1, 0.25]}), 2
    )
    corners = ((Fraction(-1, 4), Fraction(-1, 4)), (Fraction(1), Fraction(1)))
    assert cut.generators().points == corners
    plane = parse_domain("slice:" + write({"points": [[0, 0, 0], [1, 0, 0], [0, 1, 0]]}), 3)
    assert plane.equals(Polyhedron.from_constraints([], [], [[0, 0, 1]], [0]))


def test_slices_in_a_range_of_their_coordinates() -> None:
    points = [[1, 0, 2, 0], [1, 2, 2, "1/2"], [0, 0, 3, 1]]
    part = parse_slice("slice:" + write({"points": points, "range": [[-1, "3/2"], [0, 0.5]]}), 4)
    origin, directions = part.origin, part.directions
    assert [str(entry) for entry in (*origin, *directions[0])] == [
        "1",
        "0",
        "2",
        "0",
        "0",
        "2",
        "0",
        "1/2",
    ]
    corners = {
        tuple(p + s * a + t * b for p, a, b in zip(origin, *directions, strict=True))
        for s in (Fraction(-1), Fraction(3, 2))
        for t in (Fraction(0), Fraction(1, 2))
    }
    assert set(part.domain.generators().points) == corners
    assert part.domain.dimension == 2
    assert parse_domain(
        "slice:" + write({"points": [[1, 1], [3, 5]], "range": [[0, 1]]}), 2
    ).equals(Polyhedron.from_generators([[1, 1], [3, 5]], (), (), 2))


# -- Errors ----------------------------------------------------------------------------------------


def refused(text: str, inputs: int = 2) -> str:
    """The message of the error, which must be one line."""
    with pytest.raises(DomainError) as caught:
        parse_domain(text, inputs)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 400
    return message


@pytest.mark.parametrize(
    "text",
    ["", "R^2", "r^n", "R^n ", "orthant:2", "Box:0,1", "domain.txt", ".", "box", "x" * 10**5],
)
def test_texts_that_are_not_understood(text: str) -> None:
    message = refused(text)
    assert message.startswith(
        f"domain {text[:60]!r} is not understood; use R^n, orthant, box:lo,hi"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("box:", "every side is two numbers lo,hi"),
        ("box:1", "every side is two numbers lo,hi"),
        ("box:0,1;", "every side is two numbers lo,hi"),
        ("box:0,1,2", "every side is two numbers lo,hi"),
        ("box:0,1;0,1;0,1", "3 sides, but the network has 2 inputs"),
        ("box:2,1", "box: side 0 is empty, 2 > 1"),
        ("box:0,1;1/2,0.4", "box: side 1 is empty, 1/2 > 2/5"),
        ("box:" + ";" * 10**5, "every side is two numbers lo,hi"),
    ],
)
def test_boxes_that_are_none(text: str, message: str) -> None:
    assert message in refused(text)


@pytest.mark.parametrize(
    "number",
    [
        "",
        "1e",
        "1e1000",
        "1/2e3",
        "e5",
        "+1",
        ".5",
        "1.",
        "1/0",
        "1/-2",
        "1/2/3",
        "0x10",
        "1_000",
        "nan",
        "inf",
        "-",
        "--1",
        "١",
        "１",
        "1 000",
        "1/02",
        "9" * 401,
        "1." + "0" * 401,
    ],
)
def test_numbers_that_are_none(number: str) -> None:
    assert f"{number[:40]!r} is not a number" in refused(f"box:{number},{10**400}")
    path = write({"A": [[number, 0]], "c": [0]})
    assert refused(path) == (
        'domain.json: an entry of "A" is not a number: use integers, decimals, or text like "1/3"'
    )


@pytest.mark.parametrize(
    "entry",
    ["1e5000", "NaN", "Infinity", "-Infinity", "null", "true", "[1]", '{"x": 1}', "1" * 401],
)
def test_json_entries_that_are_no_numbers(entry: str) -> None:
    for text, key in (
        ('{"A": [[%s, 0]], "c": [0]}', "A"),
        ('{"A": [[1, 0]], "c": [%s]}', "c"),
        ('{"E": [[1, %s]], "e": [0]}', "E"),
        ('{"vertices": [[0, %s]]}', "vertices"),
        ('{"vertices": [[0, 0]], "rays": [[%s, 1]]}', "rays"),
        ('{"points": [[0, %s]]}', "points"),
    ):
        name = write(text % entry)
        message = refused(f"slice:{name}" if key == "points" else name)
        assert message.startswith(f'domain.json: an entry of "{key}" is not a number')


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ([], "expected an object with the keys of a domain"),
        (None, "expected an object with the keys of a domain"),
        ("text", "not a JSON file of a domain"),
        ({}, "expected the keys"),
        ({"points": [[0, 0], [1, 1]]}, "the points of a slice; write slice:"),
        ({"a": [[1, 0]], "c": [1]}, "expected the keys"),
        ({"A": [[1, 0]], "c": [1], "vertices": []}, "expected the keys"),
        ({"A": [[1, 0]], "c": [1], "comment": "x"}, "expected the keys"),
        ({"rays": [[1, 0]]}, "expected the keys"),
        ({"A": [[1, 0]]}, '"A" has 1 rows, "c" 0 entries'),
        ({"c": [1]}, '"A" has 0 rows, "c" 1 entries'),
        ({"A": [[1, 0]], "c": [1], "E": [[0, 1]], "e": [1, 2]}, '"E" has 1 rows, "e" 2 entries'),
        ({"A": [[1, 0], [1]], "c": [1, 1]}, 'row 1 of "A" has 1 entries, the network 2 inputs'),
        ({"A": [[1, 0, 0]], "c": [1]}, 'row 0 of "A" has 3 entries, the network 2 inputs'),
        ({"A": [1, 0], "c": [1]}, '"A" must be a list of lists of numbers'),
        ({"A": {"0": 1}, "c": [1]}, '"A" must be a list of lists of numbers'),
        ({"A": None, "c": None}, '"A" must be a list of lists of numbers'),
        ({"A": [[1, 0]], "c": 1}, '"c" must be a list of numbers'),
        ({"vertices": [[1]]}, 'row 0 of "vertices" has 1 entries, the network 2 inputs'),
        ({"vertices": [], "rays": [[1, 0]]}, "rays and lines without a point generate nothing"),
    ],
)
def test_json_that_is_no_polyhedron(document: object, message: str) -> None:
    assert message in refused(write("tru" if document == "text" else document))


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"vertices": [[0, 0]]}, "a slice needs"),
        ({"points": []}, "a slice needs"),
        (
            {"points": [[1, 2], [1, 2]]},
            "point 1 (from 0) is equal to the first one; leave it out, or give another",
        ),
        (
            {"points": [[0, 0], [1, 2], [2, 4]]},
            "point 2 (from 0) lies in the space through those before; leave it out",
        ),
        (
            {"points": [[0, 0], [1, 2]], "range": [[0, 1], [0, 1]]},
            "has 2 intervals, not one for each point after",
        ),
        ({"points": [[0, 0], [1, 2]], "range": [[1, 0]]}, "is empty, 1 > 0"),
        (
            {"points": [[0, 0], [1, 2]], "range": [[0, 1, 2]]},
            'row 0 of "range" has 3 entries, an interval has 2',
        ),
        ({"points": [[0, 0], [1, 2]], "range": [0, 1]}, "must be a list of lists"),
        ({"points": [[0, 0]], "E": [[1, 0]], "e": [0]}, "a slice needs"),
        ({"points": [[0]]}, 'row 0 of "points" has 1 entries, the network 2 inputs'),
        ({"points": [[0, 0]], "A": [[1, 0]]}, '"A" has 1 rows, "c" 0 entries'),
        ({"points": 3}, '"points" must be a list of lists of numbers'),
    ],
)
def test_json_that_is_no_slice(document: object, message: str) -> None:
    assert message in refused("slice:" + write(document))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not a JSON file of a domain"),
        ("{", "not a JSON file of a domain"),
        ('{"A": [[1, 0]], "A": [[0, 1]], "c": [1]}', "a key occurs twice"),
        ('{"points": [[1, 0]], "points": [[0, 1]]}', "a key occurs twice"),
        (
            '{"A": ' + "[" * 200_000 + "]" * 200_000 + "}",
            "not a JSON file of a domain: ",
        ),
        (
            '{"a":' * 100_000 + "1" + "}" * 100_000,
            "not a JSON file of a domain: ",
        ),
        ('{"A": [[01, 0]], "c": [1]}', "not a JSON file of a domain"),
        ('{"A": [[+1, 0]], "c": [1]}', "not a JSON file of a domain"),
        ('{"A": [[.5, 0]], "c": [1]}', "not a JSON file of a domain"),
        ('{"vertices": [[0, 0],]}', "not a JSON file of a domain"),
    ],
)
def test_text_that_is_no_json(text: str, message: str) -> None:
    assert message in refused(write(text))
    assert message in refused("slice:" + write(text))


def test_tables_that_are_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("polyrelu.formats.domain._ENTRY_LIMIT", 4)
    parse_domain(write({"A": [[1, 0], [0, 1]], "c": [1, 1]}), 2)
    message = refused(write({"A": [[1, 0], [0, 1], [1, 1]], "c": [1, 1, 1]}))
    assert message == 'domain.json: "A" has more than 4 entries'


def test_files_that_cannot_be_read(folder: Path) -> None:
    assert refused("missing.json") == "missing.json: cannot read: No such file or directory"
    assert refused("slice:missing") == "missing: cannot read: No such file or directory"
    (folder / "folder.json").mkdir()
    assert refused("folder.json") == "folder.json: cannot read: Is a directory"
    assert refused("nul\0.json").startswith("nul\0.json: cannot read: ")
    (folder / "latin.json").write_bytes(b'{"A": [["\xe9", 0]], "c": [1]}')
    assert refused("latin.json").startswith("latin.json: not a JSON file of a domain")
    assert "cannot read: File name too long" in refused("x" * 300 + ".json")


def test_powers_of_ten_are_exact(folder: Path) -> None:
    assert parse_domain("box:-1e-3,2.5E2", 1) == Polyhedron.box([Fraction(-1, 1000)], [250])
    Path("small.json").write_text('{"A": [[1]], "c": [1e-05]}')
    assert parse_domain("small.json", 1).inequalities == ((100000, 1),)
