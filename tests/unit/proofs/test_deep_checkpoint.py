"""Deep searches in files.

What is written is read again; any other content is refused in one line; and a file with false
ridges leads to no certificate.
"""

from __future__ import annotations

import copy
import gzip
import json
import os
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest

import polyrelu
from polyrelu.certificate import Claim
from polyrelu.errors import DomainError, PolyreluError
from polyrelu.exact import format_rational
from polyrelu.outcomes import Attempt
from polyrelu.proofs.deep import prover as deep
from polyrelu.proofs.deep.checkpoint import load_search, save_search
from polyrelu.proofs.deep.search import DeepSearch
from tests.generators.deep_searches import accepted, document

SOURCES = polyrelu.from_arrays(
    [
        ([[-2, -1], [3, 2], [1, 1]], [0, -2, 0]),
        ([[-1, 1, 3], [1, 1, -2]], [1, 1]),
        ([[-1, 3]], [-1]),
    ]
)
PLANES = polyrelu.from_arrays(
    [
        ([[1, 0, 1], [0, 1, -1], [1, 1, 2]], [0, 1, -1]),
        ([[1, -2, 1], [-1, 1, 2], [2, 1, -1]], [1, -1, 2]),
        ([[1, 2, -1]], [0]),
    ]
)
OPEN = polyrelu.from_arrays(
    [
        ([[1, -1], [3, -1], [-1, 2]], [2, 1, -3]),
        ([[-3, 2, -3], [1, -3, -2]], [2, -3]),
        ([[-1, 3]], [-2]),
    ]
)

Lines = list[Any]


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """The file of a short search that is not finished."""
    search = DeepSearch(OPEN, 5)
    search.run(rounds=1)
    save_search(search, tmp_path / "search.json")
    return tmp_path / "search.json"


def read(path: Path) -> Lines:
    return [json.loads(line) for line in path.read_text().splitlines()]


def write(path: Path, lines: Lines) -> None:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


# -- there and back --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["search.json", "search", "search.json.gz"])
def test_round_trip(tmp_path: Path, name: str) -> None:
    search, path = DeepSearch(OPEN, 5), tmp_path / name
    search.run(rounds=3)
    save_search(search, path)
    found = load_search(OPEN, path, 5)
    assert set(found.ridges) == set(search.ridges)
    for ridge, location in search.ridges.items():
        assert found.planes[found.ridges[ridge].plane] == search.planes[location.plane]
        assert found.ridges[ridge][1:] == location[1:]
    assert (found.walks, found.seed) == (search.walks, search.seed)
    assert str(found.hypotheses) == str(search.hypotheses)
    assert found.hypotheses.determined == search.hypotheses.determined
    again = tmp_path / f"again-{name}"
    save_search(found, again)
    unpacked = gzip.decompress if name.endswith(".gz") else bytes
    lines = [unpacked(file.read_bytes()).splitlines() for file in (path, again)]
    assert lines[0][0] == lines[1][0]
    assert sorted(lines[0]) == sorted(lines[1])
    if name.endswith(".gz"):
        assert path.read_bytes()[:2] == b"\x1f\x8b"


def test_no_file_is_a_new_search(tmp_path: Path) -> None:
    assert load_search(OPEN, tmp_path / "none", 2).walks == 0
    assert not (tmp_path / "none").exists()


def test_a_search_that_has_met_nothing(tmp_path: Path) -> None:
    save_search(DeepSearch(OPEN), tmp_path / "empty")
    assert len((tmp_path / "empty").read_text().splitlines()) == 1
    assert not load_search(OPEN, tmp_path / "empty", 0).ridges


def test_going_on(tmp_path: Path) -> None:
    """A search in steps gives an accepted certificate, and the same steps give the same file."""
    texts = []
    for name in ("one", "two"):
        path, walks = tmp_path / name, 0
        for _ in range(30):
            search = load_search(SOURCES, path, 0)
            assert search.walks >= walks
            walks = search.walks
            search.run(rounds=1)
            save_search(search, path)
        found = deep.prove_search(load_search(SOURCES, path, 0))
        assert not isinstance(found, Attempt)
        assert accepted(document(Claim("identifiable", SOURCES, "transversal"), "deep", found))
        texts.append(path.read_bytes())
    assert texts[0] == texts[1]


def test_searched(tmp_path: Path) -> None:
    path = tmp_path / "kept"
    first = deep.run_search(OPEN, budget=200, checkpoint=path)
    second = deep.run_search(OPEN, budget=200, checkpoint=str(path))
    assert second.walks > first.walks
    assert set(first.ridges) <= set(second.ridges)


def test_what_was_found_is_kept_whatever_ends_the_search(tmp_path: Path) -> None:
    def fail(search: DeepSearch) -> bool:
        if search.walks == 30:
            raise KeyboardInterrupt
        return True

    with pytest.raises(KeyboardInterrupt):
        deep.run_search(OPEN, checkpoint=tmp_path / "kept", before_walk=fail)
    found = load_search(OPEN, tmp_path / "kept", 0)
    assert found.walks == 30
    assert found.ridges


def test_a_search_that_is_impossible_is_not_kept(tmp_path: Path) -> None:
    narrow = polyrelu.from_arrays([([[1, 2]], [0]), ([[1], [-1]], [-1, 2]), ([[1, 1]], [0])])
    assert not deep.run_search(narrow, checkpoint=tmp_path / "kept").walks
    assert not (tmp_path / "kept").exists()


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(PolyreluError, match="cannot write"):
        save_search(DeepSearch(OPEN), tmp_path / "none" / "kept")
    (tmp_path / "folder").mkdir()
    with pytest.raises(PolyreluError, match="folder"):
        save_search(DeepSearch(OPEN), tmp_path / "folder")


# -- what is refused -------------------------------------------------------------------------------


def refusal(path: Path, seed: int = 5) -> str:
    """The one line of an error that names the file."""
    with pytest.raises(DomainError) as caught:
        load_search(OPEN, path, seed)
    text = str(caught.value)
    assert text.startswith(f"{path}: ")
    assert "\n" not in text
    assert len(text) < len(str(path)) + 200
    return text


def test_of_something_else(kept: Path) -> None:
    with pytest.raises(DomainError, match="another network"):
        load_search(SOURCES, kept, 5)
    assert "another seed" in refusal(kept, seed=6)


#: A place in a line of a plane, and what does not belong there.
HUGE = "9" * 300_000
WRONG: dict[str, tuple[list[Any], Any]] = {
    "a neuron that is not there": (["ridges", 0, 1], 5),
    "a negative neuron": (["ridges", 0, 0], -1),
    "a neuron that is a boolean": (["ridges", 0, 0], False),
    "a neuron that is a float": (["ridges", 0, 0], 0.0),
    "a neuron that is a text": (["ridges", 0, 0], "0"),
    "a neuron that is huge": (["ridges", 0, 1], 10**400),
    "a mask that is negative": (["ridges", 0, 2], "-1"),
    "a mask that is too long": (["ridges", 0, 2], "20"),
    "a mask that is huge": (["ridges", 0, 2], "f" * 300_000),
    "a mask that is no number": (["ridges", 0, 2], "xyz"),
    "a mask that is a number": (["ridges", 0, 2], 1),
    "a mask that is null": (["ridges", 0, 2], None),
    "a mask that is empty": (["ridges", 0, 2], ""),
    "a location that is not a number": (["ridges", 0, 3], float("nan")),
    "a location that is infinite": (["ridges", 0, 4], float("inf")),
    "a location that is a text": (["ridges", 0, 3], "1"),
    "a location that is huge": (["ridges", 0, 3], 10**400),
    "a location that is null": (["ridges", 0, 3], None),
    "a ridge that is null": (["ridges", 0], None),
    "a ridge that is a number": (["ridges", 0], 7),
    "a ridge that is short": (["ridges", 0], [0, 1, "0"]),
    "a ridge that is long": (["ridges", 0], [0, 1, "0", 0.0, 0.0, 0.0]),
    "ridges that are a number": (["ridges"], 7),
    "ridges that are null": (["ridges"], None),
    "a point that is a text": (["point"], "00"),
    "a point that is null": (["point"], None),
    "a point that is short": (["point"], ["1"]),
    "a point that is long": (["point"], ["1", "2", "3"]),
    "a coordinate that is a number": (["point", 0], 1),
    "a coordinate that is a float": (["point", 0], 0.5),
    "a coordinate that is no number": (["point", 0], "NaN"),
    "a coordinate that is divided by 0": (["point", 0], "1/0"),
    "a coordinate that is not in lowest terms": (["point", 0], "2/4"),
    "a coordinate that has blanks": (["point", 0], " 1"),
    "a direction that is missing": (["directions"], [["1", "0"]]),
    "a direction too many": (["directions"], [["1", "0"], ["0", "1"], ["1", "1"]]),
    "a direction that is null": (["directions", 0], None),
    "a direction that is short": (["directions", 1], ["1"]),
    "a direction that is a fraction": (["directions", 0, 0], "1/2"),
    "a location that is a boolean": (["ridges", 0, 3], True),
    "directions that are nested": (["directions", 1, 0], ["1"]),
}


@pytest.mark.parametrize("name", WRONG)
def test_entries_that_do_not_belong_there(kept: Path, name: str) -> None:
    lines, (place, value) = read(kept), WRONG[name]
    target = lines[1]
    for key in place[:-1]:
        target = target[key]
    target[place[-1]] = value
    write(kept, lines)
    assert "not a search of ridges" in refusal(kept)


@pytest.mark.parametrize("key", ["format", "network", "seed", "walks"])
@pytest.mark.parametrize(
    "value", [None, -1, 1.5, True, "x", [], {}, 10**400, float("nan")], ids=lambda v: repr(v)[:9]
)
def test_headers_that_do_not_belong_there(kept: Path, key: str, value: Any) -> None:
    lines = read(kept)
    lines[0][key] = value
    write(kept, lines)
    refusal(kept)


@pytest.mark.parametrize(
    "key", ["format", "network", "seed", "walks", "point", "directions", "ridges"]
)
def test_parts_that_are_missing(kept: Path, key: str) -> None:
    lines = read(kept)
    del lines[0 if key in lines[0] else 1][key]
    write(kept, lines)
    refusal(kept)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n",
        b"{",
        b"{}",
        b"[]",
        b"null",
        b"7",
        b'"text"',
        b"\x00\x01\x02",
        b"\xff\xfe{}",
        b"\x1f\x8b",
        b"[" * 200_000,
        b'{"format": ' * 100_000,
        b"9" * 100_000,
        b"PK\x03\x04",
        b"a,b\n1,2\n",
    ],
    ids=lambda content: repr(content[:12]),
)
@pytest.mark.parametrize("name", ["other.json", "other.gz"])
def test_other_files(tmp_path: Path, content: bytes, name: str) -> None:
    (tmp_path / name).write_bytes(content)
    refusal(tmp_path / name)
    if name.endswith(".gz"):
        (tmp_path / name).write_bytes(gzip.compress(content))
        refusal(tmp_path / name)


@pytest.mark.parametrize(
    "line", [b"[" * 200_000, b"null", b"[]", b"{", b"\xff", b"{}", b"7", b'{"point": []}']
)
def test_other_lines(kept: Path, line: bytes) -> None:
    kept.write_bytes(kept.read_bytes() + line + b"\n")
    refusal(kept)


def test_truncated_files(kept: Path) -> None:
    """A file cut between two lines is a shorter search; one cut within a line is refused."""
    data = kept.read_bytes()
    for length in range(1, len(data) - 1, max(1, len(data) // 40)):
        kept.write_bytes(data[:length])
        if data[length - 1 : length] == b"\n" or data[length : length + 1] == b"\n":
            load_search(OPEN, kept, 5)
        else:
            refusal(kept)


def test_packed_files_that_are_damaged(kept: Path) -> None:
    search, path, rng = load_search(OPEN, kept, 5), kept.with_name("search.gz"), Random(1)
    save_search(search, path)
    data = path.read_bytes()
    for _ in range(60):
        damaged = bytearray(data)
        damaged[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        path.write_bytes(bytes(damaged[: rng.choice((len(data), rng.randrange(1, len(data))))]))
        found, text = load_or_refuse(path)
        if found is None:
            assert text.startswith(f"{path}: ")
            assert "\n" not in text
        else:  # the damage is in the header of gzip
            assert set(found.ridges) == set(search.ridges)


def load_or_refuse(path: Path) -> tuple[DeepSearch | None, str]:
    try:
        return load_search(OPEN, path, 5), ""
    except DomainError as error:
        return None, str(error)


def test_folders_and_files_that_cannot_be_read(kept: Path) -> None:
    refusal(kept.parent)
    if os.geteuid() != 0:
        kept.chmod(0)
        refusal(kept)


# -- files that lie --------------------------------------------------------------------------------


def tampered(lines: Lines, size: int, rng: Random) -> Lines:
    """The lines of a file with some false entries.

    A mask with another bit, a plane that is moved or turned, an invented ridge, or two planes with
    their ridges exchanged.
    """
    lines = copy.deepcopy(lines)
    for _ in range(rng.choice((1, 1, 5))):
        entry = lines[rng.randrange(1, len(lines))]
        ridge = rng.choice(entry["ridges"])
        match rng.randrange(6):
            case 0:
                free = [w for w in range(size) if w not in ridge[:2]]
                ridge[2] = f"{int(ridge[2], 16) ^ (1 << rng.choice(free)):x}"
            case 1:
                entry["point"][rng.randrange(len(entry["point"]))] = str(
                    rng.randint(-(10**6), 10**6)
                )
            case 2:
                entry["directions"] = [
                    [str(rng.randint(-3, 3)) for _ in row] for row in entry["directions"]
                ]
            case 3:
                u, v = sorted(rng.sample(range(size), 2))
                entry["ridges"].append(
                    [u, v, f"{rng.getrandbits(size) & ~(1 << u | 1 << v):x}", 0.0, 0.0]
                )
            case 4:
                other = lines[rng.randrange(1, len(lines))]
                entry["ridges"], other["ridges"] = other["ridges"], entry["ridges"]
            case 5:
                ridge[3:] = [rng.uniform(-1e9, 1e9), 0.0]
    return lines


@pytest.mark.parametrize("network", [SOURCES, PLANES, OPEN], ids=["sources", "planes", "open"])
def test_files_that_lie(tmp_path: Path, network: polyrelu.Network) -> None:
    """No false ridge gets into a certificate.

    The provers find nothing, refuse, or write certificates that are accepted, which then use true
    ridges only.
    """
    path, rng, verdicts = tmp_path / "kept", Random(7), list[str]()
    search = DeepSearch(network)
    search.run(rounds=6, budget=5000)
    save_search(search, path)
    lines = read(path)
    for _ in range(40):
        write(path, tampered(lines, search.deep_network.size, rng))
        verdicts.append(certified(load_search(network, path, 0)))
    assert set(verdicts) <= {"refused", "nothing", "part", "whole"}
    assert verdicts.count("refused") >= 3
    assert network is not OPEN or "whole" not in verdicts


def certified(search: DeepSearch) -> str:
    """The result of the provers: refused, nothing, part or whole; the checker must accept it."""
    try:
        whole = deep.prove_search(search)
        part = deep.prove_part(search) if isinstance(whole, Attempt) else None
    except DomainError as error:
        return "refused" if "a ridge that is not there" in str(error) else str(error)
    if not isinstance(whole, Attempt):
        assert accepted(
            document(Claim("identifiable", search.network, "transversal"), "deep", whole)
        )
        return "whole"
    if part is not None:
        assert accepted(document(part[0], deep.PART, part[1]))
    return "nothing" if part is None else "part"


def test_a_search_goes_on_from_a_file_that_lies(tmp_path: Path) -> None:
    """False ridges and meaningless floats lead to useless walks, but not to errors."""
    path, rng = tmp_path / "kept", Random(8)
    search = DeepSearch(OPEN)
    search.run(rounds=2)
    save_search(search, path)
    lines = read(path)
    for _ in range(20):
        write(path, tampered(lines, search.deep_network.size, rng))
        found = load_search(OPEN, path, 0)
        found.run(rounds=1, budget=1000)
        assert found.walks > search.walks or found.hypotheses.hold


def test_huge_numbers_are_only_slow(kept: Path) -> None:
    """A coordinate of many digits is a coordinate, up to the limit on digits."""
    lines = read(kept)
    lines[1]["point"][0] = format_rational(Fraction(10**3_000 + 1, 7**3_000))
    write(kept, lines)
    found = load_search(OPEN, kept, 5)
    found.run(rounds=1, budget=1000)
    lines[1]["point"][0] = HUGE
    write(kept, lines)
    refusal(kept)


def test_a_long_search_is_not_idle_when_it_goes_on(tmp_path: Path) -> None:
    """The ridges of a file count as met by its last walk."""
    search = DeepSearch(OPEN, 5)
    search.run(rounds=2)
    search.walks = 10_000
    save_search(search, tmp_path / "long")
    assert not load_search(OPEN, tmp_path / "long", 5).is_idle
