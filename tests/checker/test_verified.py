"""The second checker, whose rules are proved in Coq, against checker.py and against known hashes.

It has to be built (`make -C verified`); without it these tests are skipped, unless the environment
variable POLYRELU_REQUIRE_VERIFIED is 1.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import resource
import subprocess
import zlib
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from random import Random
from typing import Any

import pytest

from polyrelu import Polyhedron, Undecided, checker, equivalent, from_arrays, region_graph
from polyrelu.cli.second_checker import SecondVerdict, disagreement
from polyrelu.network import to_document
from polyrelu.outcomes import RegionsListed
from polyrelu.proofs import certify_regions
from polyrelu.proofs.refutations.moves import Move
from polyrelu.symmetry import translate
from tests.checker.test_one_sided_cases import CASES
from tests.checker.test_vertices import CORNERS, RAYS, STAR, TRIANGLE, WRONG_RAYS, document
from tests.generators.campaigns import case, few_and_all, few_some_and_all
from tests.generators.certificate_mutants import changed, places, replaced, value_at
from tests.generators.certificates import INVALID, MALFORMED, VALID, altered, put, rehash
from tests.generators.checker_bombs import BOMBS
from tests.generators.damage import damaged
from tests.generators.identified import by_assignments, identified
from tests.generators.quantised_networks import DOMAINS, KINDS
from tests.generators.refutations import certificate_of, refutations
from tests.generators.second_checker import (
    SecondChecker,
    by_vertices,
    covered,
    document_of,
    find_program,
    listed,
)
from tests.generators.tree_documents import with_count, written
from tests.oracles.judge import certificate_bytes

PROGRAM = find_program()
is_required = os.environ.get("POLYRELU_REQUIRE_VERIFIED") == "1"
#: Kinds of networks and domains for the quick part of the tests.
SOME_VERTICES = ("quarters", "dead", "zero rows", "trailing ReLU", "bounded", "slice", "point")
#: The neurons x, y, -y, and above them |y|; and the cells on both sides of x = 0 and of y = 0.
KINK = from_arrays([([[1, 0], [0, 1], [0, -1]], [0] * 3), ([[0, 1, 1]], [0]), ([[1]], [0])])
SIDES: list[Any] = [[[0], [1, 2, 3]], [[], [1, 2, 3]], [[1, 3], [0]], [[2, 3], [0]]]
SOME_KINDS = ("related rows", "trailing ReLU", "skip connections", "implicit equalities", "slice")
pytestmark = pytest.mark.skipif(
    PROGRAM is None and not is_required, reason="polyrelu-check-verified is not built"
)


@pytest.fixture(scope="module")
def originals() -> dict[str, bytes]:
    """Certificates of pairs that were chosen by hand."""
    return dict(covered(0))


@pytest.fixture
def second(tmp_path: Path) -> Iterator[SecondChecker]:
    assert PROGRAM is not None
    found = SecondChecker(PROGRAM, tmp_path)
    yield found
    found.close()


def compare(second: SecondChecker, data: bytes) -> tuple[str, dict[str, Any]]:
    """Both verdicts on a file that do not disagree: that of checker.py, and the other report."""
    first, other = checker.check_bytes(data), second.check(data)
    answer = SecondVerdict(other["verdict"], other)
    assert not disagreement(first.verdict, first.got, first.statement, answer), (first, other)
    return first.verdict, other


def report_on(path: Path, *options: str) -> tuple[int, dict[str, Any]]:
    assert PROGRAM is not None
    done = subprocess.run(
        [PROGRAM, "--json", *options, str(path)], capture_output=True, check=False
    )
    return done.returncode, json.loads(done.stdout)


def test_sentences_about_wide_boxes(second: SecondChecker) -> None:
    """A cube of many inputs is described by the bounds of one of them."""
    for size in (1, 7, 8, 12, 30):
        one, two = (from_arrays([([[entry] * size], [0])]) for entry in (1, 2))
        for low in (-1, 0):
            answer = equivalent(one, two, Polyhedron.box([low] * size, [1] * size))
            assert not isinstance(answer, Undecided)
            assert compare(second, certificate_bytes(answer))[0] == "accepted"


# -- hashes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "sha256"),
    [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
        ),
        ("a" * 10**6, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
    ],
)
def test_known_hashes(text: str, sha256: str, tmp_path: Path) -> None:
    """Vectors of FIPS 180-4."""
    assert _sha256_of(text.encode(), tmp_path) == sha256


def test_hashes_of_all_lengths(tmp_path: Path) -> None:
    """Around the lengths at which the padding takes another block, and the buffer is emptied."""
    chance = Random(1)
    for length in (1, 54, 55, 56, 57, 63, 64, 65, 119, 120, 128, 65_535, 65_536, 65_601):
        data = chance.randbytes(length)
        with case(length):
            assert _sha256_of(data, tmp_path) == hashlib.sha256(data).hexdigest()


def _sha256_of(data: bytes, folder: Path) -> str:
    path = folder / "data"
    path.write_bytes(data)
    assert PROGRAM is not None
    return subprocess.check_output([PROGRAM, "--sha256", str(path)], text=True).strip()


# -- verdicts --------------------------------------------------------------------------------------


def test_the_suite_of_the_format(second: SecondChecker) -> None:
    """Every valid certificate of the claims covered is accepted, every other one is not."""
    verdicts = dict[str, list[str]]()
    for path in (*VALID, *INVALID, *MALFORMED):
        with case(path):
            verdict, other = compare(second, path.read_bytes())
        if other["verdict"] != "not covered":
            verdicts.setdefault(verdict, []).append(path.stem)
            assert path.parent.name == "valid" or other["verdict"] != "accepted"
    names = {path.stem for path in VALID}
    refuted = [name for name, _ in refutations(0) if name in names]
    shallow = [name for name, _ in identified(0) if name in names]
    assert sorted(verdicts["accepted"]) == sorted(["point", "point-skip", *refuted, *shallow])
    assert (len(refuted), len(shallow)) == (26, 5)
    assert len(verdicts["rejected"]) >= 80
    assert "point-domain-row" in verdicts["unreadable"]


@pytest.mark.parametrize("sizes", few_some_and_all((2, 12), (12, 60), (30, 60)))
def test_mutants_and_damaged_files(second: SecondChecker, sizes: tuple[int, int]) -> None:
    """Both accept the same files, with the same sentences."""
    num_random, num_mutants = sizes
    originals = covered(num_random), refutations(num_random), identified(num_random // 2)
    for name, data in chain.from_iterable(originals):
        with case(name, "original"):
            assert compare(second, data)[0] == "accepted"
        chance, document = Random(name), document_of(data)
        for number in range(num_mutants):
            with case(name, number):
                compare(second, _mutant_of(document, chance))
                compare(second, damaged(chance, data))


@pytest.mark.parametrize("num_networks", few_and_all(60, 600))
def test_assignments(second: SecondChecker, num_networks: int) -> None:
    """Networks with doubled hyperplanes, identifiable or not: both verdicts are the same."""
    verdicts = set[str]()
    for seed in range(num_networks):
        with case(seed):
            verdict, other = compare(second, by_assignments(Random(seed)))
            assert other["verdict"] == verdict
            verdicts.add(other["got"] if verdict == "rejected" else verdict)
    assert {"accepted", "another assignment of signs"} <= verdicts


@pytest.mark.parametrize("sizes", few_and_all((SOME_KINDS, 12), ((*KINDS, *DOMAINS), 15)))
def test_lists_of_regions(second: SecondChecker, sizes: tuple[tuple[str, ...], int]) -> None:
    """Both accept the same lists of regions."""
    kinds, num_mutants = sizes
    for name, data in listed(range(1), kinds):
        with case(name, "original"):
            verdict, other = compare(second, data)
            assert (verdict, other["verdict"]) == ("accepted", "accepted")
        chance, document = Random(name), document_of(data)
        for number in range(num_mutants):
            with case(name, number):
                compare(second, _mutant_of(document, chance))
                compare(second, damaged(chance, data))


@pytest.mark.parametrize(
    ("line", "key", "value", "step"),
    [
        (0, "claim", 3, "claim.count"),  # another number of regions
        (2, "region", ["2", "1"], "line 3"),  # on the boundary of the domain
        (2, "region", ["1/2", "1/2"], "line 3"),  # between two regions
        (2, "region", ["1/4", "1/4"], "line 3"),  # in the other region
        (2, "signs", [[[0, "+", "1", [0], []]]], "line 3"),  # what does not follow
        (1, "split", 0, "line 3"),  # at x, so that a half has no interior
    ],
)
def test_wrong_lists_of_regions(
    second: SecondChecker, line: int, key: str, value: Any, step: str
) -> None:
    """The signs of x, y and x + y - 1 on the square [0, 2]²: two regions."""
    network = from_arrays([([[1, 0], [0, 1], [1, 1]], [0, 0, -1]), ([[1, 1, 1]], [0])])
    found = certify_regions(region_graph(network, Polyhedron.box([0, 0], [2, 2])), method="tree")
    assert isinstance(found, RegionsListed)
    document = document_of(found.certificate.to_bytes())
    assert compare(second, written(document))[0] == "accepted"
    document[line][key] = {**document[0]["claim"], "count": value} if key == "claim" else value
    verdict, other = compare(second, written(document))
    assert verdict == "rejected"
    assert (other["verdict"], other["step"]) == ("rejected", step)


@pytest.mark.parametrize("sizes", few_and_all((SOME_VERTICES, 12), ((*KINDS, *DOMAINS), 15)))
def test_lists_of_vertices(second: SecondChecker, sizes: tuple[tuple[str, ...], int]) -> None:
    """Both accept the same lists of vertices, with and without lists of cells."""
    kinds, num_mutants = sizes
    for name, data in by_vertices(range(1), kinds):
        with case(name, "original"):
            verdict, other = compare(second, data)
            assert (verdict, other["verdict"]) == ("accepted", "accepted")
        chance, document = Random(name), document_of(data)
        for number in range(num_mutants):
            with case(name, number):
                compare(second, _mutant_of(document, chance))
                compare(second, damaged(chance, data))


@pytest.mark.parametrize(
    ("vertices", "count", "step"),
    [
        (CORNERS, 6, "claim.count"),
        ([], 7, "vertices"),
        (CORNERS[:2], 7, "edges"),  # edges end at the vertex that is missing
        ([*CORNERS, CORNERS[0]], 7, "line 5"),
        ([["4", [0, 1]], *CORNERS[1:]], 7, "line 2"),  # a wrong sign
        ([["8", [0, 1]], *CORNERS[1:]], 7, "line 2"),  # bits of no form
        ([["0", [1, 0]], *CORNERS[1:]], 7, "line 2"),
        ([["0", [0, 3]], *CORNERS[1:]], 7, "line 2"),  # no form has the number 3
        ([["1", [0, 1]], *CORNERS[1:]], 7, "line 2"),  # both positive and 0
        ([["0", [0]], *CORNERS[1:]], 7, "line 2"),  # zeros that have a line in common
        ([["0", [0, 1], []], *CORNERS[1:]], 7, "line 2"),  # a list where zeros are independent
    ],
)
def test_wrong_lists_of_vertices(
    second: SecondChecker, vertices: list[Any], count: int, step: str
) -> None:
    """The signs of x, y and x + y - 1 on the plane: three vertices and seven regions."""
    verdict, other = compare(second, written(document(TRIANGLE, CORNERS, count=7)))
    assert (verdict, other["verdict"]) == ("accepted", "accepted")
    verdict, other = compare(second, written(document(TRIANGLE, vertices, count=count)))
    assert verdict == "rejected"
    assert (other["verdict"], other["step"]) == ("rejected", step)


@pytest.mark.parametrize(
    "sides",
    [
        None,
        [],
        SIDES[:3],
        [*SIDES, SIDES[0]],
        [[[0, 3], [1, 2]], *SIDES[1:]],  # |y| > 0 where y = 0
        [[[0], [2, 1, 3]], *SIDES[1:]],
        [[[0, 0], [1, 2, 3]], *SIDES[1:]],
        [[[0], [1, 2, 3, 4]], *SIDES[1:]],
        [*SIDES[:3], [[3], [0]]],  # -y < 0 where y < 0
        [*SIDES[:3], [[2], [0, 3]]],  # |y| = 0 where y < 0
    ],
)
def test_frames(second: SecondChecker, sides: list[Any] | None) -> None:
    """At the origin |y| and -y are 0 as well, and a frame lists the sides of x and y."""
    good = document(KINK, [["0", [0, 1, 2, 3], SIDES[::-1]]], count=4)
    verdict, other = compare(second, written(good))
    assert (verdict, other["verdict"]) == ("accepted", "accepted")
    vertex: list[Any] = ["0", [0, 1, 2, 3]] + ([] if sides is None else [sides])
    verdict, other = compare(second, written(document(KINK, [vertex], count=4)))
    assert (verdict, other["verdict"]) == ("rejected", "rejected")


def test_nested_lists(second: SecondChecker) -> None:
    """Lists of cells in a list, of a vertex with six regions: right, and wrong in every way."""
    good = document(STAR, [["0", [0, 1, 2, 3], RAYS]], count=6)
    verdict, other = compare(second, written(good))
    assert (verdict, other["verdict"]) == ("accepted", "accepted")
    for rays, expected in WRONG_RAYS:
        with case(expected):
            wrong = document(STAR, [["0", [0, 1, 2, 3], rays]], count=6)
            verdict, other = compare(second, written(wrong))
            assert (verdict, other["verdict"]) == ("rejected", "rejected")


@pytest.mark.parametrize(
    "vertex",
    [["00", [0, 1]], [0, [0, 1]], ["0", "0"], ["0"], ["0x1", [0, 1]], ["0", [0, 1], [["0", []]]]],
)
def test_vertices_out_of_shape(second: SecondChecker, vertex: Any) -> None:
    verdict, other = compare(second, written(document(TRIANGLE, [vertex], count=7)))
    assert (verdict, other["verdict"], other["step"]) == ("unreadable", "unreadable", "line 2")


@pytest.mark.parametrize("name", CASES)
def test_wrong_trees_of_cases(second: SecondChecker, name: str) -> None:
    """What checker.py rejects in the theorem one-sided-cases."""
    document = altered("one-sided-cases")
    for path, value in CASES[name][0]:
        document = put(document, path, value)
    rehash(document)
    verdict, other = compare(second, json.dumps(document).encode())
    assert (verdict, other["verdict"]) == ("rejected", "rejected")


def _mutant_of(document: Any, chance: Random) -> bytes:
    """One value changed, with correct hashes and numbers of nodes."""
    path = chance.choice(list(places(document)))
    values = list(changed(value_at(document, path), chance))
    mutant = replaced(document, path, chance.choice(values)) if values else document
    if isinstance(mutant, list):
        return written(with_count(mutant))
    return json.dumps(mutant).encode()


def test_rejected_with_its_step(second: SecondChecker, originals: dict[str, bytes]) -> None:
    """A verdict names the line at which it was found."""
    data = originals["splits"]
    document = document_of(data)
    document[1]["split"] = 99
    _, other = compare(second, written(document))
    assert (other["verdict"], other["step"]) == ("rejected", "line 2")


def test_trusted_base(second: SecondChecker, originals: dict[str, bytes]) -> None:
    """Every accepted certificate lists what the verdict rests on."""
    data = originals["splits"]
    report, packed = second.check(data), second.check(gzip.compress(data))
    assert [text.partition(" ")[0].strip(":") for text in report["trusted"]] == [
        "Coq's",
        "verified/theories",
        "extraction",
        "verified/driver",
    ]
    assert packed["trusted"][-1] == f"{report['trusted'][-1]}, and unpacking"
    refuted = second.check(dict(refutations(0))["flip"])
    assert "Related.v, Competitors.v" in refuted["trusted"][1]
    shallow = second.check(dict(identified(0))["shallow-domain"])
    assert "RealParameters.v" in shallow["trusted"][1]
    corners = second.check(written(document(TRIANGLE, CORNERS, count=7)))
    assert "vertices_hold in VertexRegions.v" in corners["trusted"][1]


# -- files -----------------------------------------------------------------------------------------


def test_packed_files(second: SecondChecker, originals: dict[str, bytes]) -> None:
    data = gzip.compress(originals["parts"], mtime=0)
    assert compare(second, data)[0] == "accepted"
    for broken in (data[:-1], data[:-9], data[:20], data + b"x", data[:-5] + b"\0" + data[-4:]):
        first, other = checker.check_bytes(broken), second.check(broken)
        assert (first.verdict, other["verdict"]) == ("unreadable", "unreadable")
    assert compare(second, data + data)[0] != "accepted"


def test_members_of_packed_files(second: SecondChecker, originals: dict[str, bytes]) -> None:
    """All that RFC 1952 and RFC 1951 allow is read, and nothing else is."""
    plain = originals["parts"]
    more = b"\2\0ab", b"name\0", b"note\0"
    for flags in range(256):
        header = b"\x1f\x8b\x08" + bytes([flags]) + bytes(6)
        header += b"".join(more[bit - 2] for bit in (2, 3, 4) if flags >> bit & 1)
        for shift in (0, 1) if flags & 2 else (0,):
            total = (zlib.crc32(header) + shift & 0xFFFF).to_bytes(2, "little")
            first = _member(plain[:99], header + total * (flags >> 1 & 1))
            data = first + bytes(flags % 3) + _member(plain[99:])
            with case(flags, shift):
                verdict, other = compare(second, data)
                wanted = "accepted" if flags < 32 and not shift else "unreadable"
                assert (verdict, other["verdict"]) == (wanted, wanted)
    packings = zlib.Z_DEFAULT_STRATEGY, zlib.Z_HUFFMAN_ONLY, zlib.Z_FIXED
    for level, packing in chain(((0, 0), (1, 0), (9, 0)), ((6, packing) for packing in packings)):
        assert compare(second, _member(plain, level=level, packing=packing))[0] == "accepted"
    for other_format in (b"\x1f\x9d\x90", b"\x1f\xa0", b"\x1f\x1e", b"PK\x03\x04"):
        data = _member(plain) + other_format + bytes(20)
        assert (compare(second, data)[0], second.check(data)["verdict"]) == ("unreadable",) * 2


def _member(data: bytes, header: bytes = b"", level: int = 6, packing: int = 0) -> bytes:
    """A member of a packed file."""
    packer = zlib.compressobj(level, zlib.DEFLATED, -15, 8, packing)
    ending = zlib.crc32(data).to_bytes(4, "little") + len(data).to_bytes(4, "little")
    header = header or b"\x1f\x8b\x08" + bytes(7)
    return header + packer.compress(data) + packer.flush() + ending


def test_network_files(originals: dict[str, bytes], tmp_path: Path) -> None:
    """Networks are found beside the certificate, packed or not, and among the given ones."""
    document = document_of(originals["splits"])
    for key in ("network", "other"):
        reference = document[0]["claim"][key]
        content = json.dumps(reference.pop("inline")).encode()
        reference["file"] = f"{key}.json"
        (tmp_path / f"{key}.json").write_bytes(
            content if key == "network" else gzip.compress(content)
        )
    path = tmp_path / "pair.json"
    path.write_bytes(written(document))
    assert report_on(path)[0] == 0
    renamed = (tmp_path / "other.json").rename(tmp_path / "renamed.json")
    status, report = report_on(path)
    assert (status, report["step"]) == (2, "other")
    assert "missing" in report["got"]
    assert report_on(path, "--network", str(renamed))[0] == 0
    wrong = to_document(from_arrays([([[1]], [5]), ([[1]], [0])]))
    (tmp_path / "other.json").write_text(json.dumps(wrong))
    status, report = report_on(path)
    assert (status, report["got"]) == (1, "the hash of a network is another one")
    assert report_on(path, "--network", str(renamed))[0] == 0


def test_no_file(tmp_path: Path) -> None:
    for path in (tmp_path / "missing.json", tmp_path):
        assert report_on(path)[0] == 2


# -- limits ----------------------------------------------------------------------------------------


def test_budget(originals: dict[str, bytes], tmp_path: Path) -> None:
    path = tmp_path / "pair.json"
    path.write_bytes(originals["splits"])
    _, report = report_on(path)
    assert report_on(path, "--budget", str(report["cost"]))[0] == 0
    status, stopped = report_on(path, "--budget", str(report["cost"] - 1))
    assert status == 2
    assert stopped["got"].startswith("beyond the limits")


def test_costs(second: SecondChecker) -> None:
    """What is read costs the same; so does what rules without trees hold.

    Forms of trees are held as they are at the root, and products are counted where they are made.
    The regions around all vertices are looked at, and their forms are written.
    """
    with_trees = {"tree", "tree-equal", "regions"}
    kinds = refutations(2), identified(6), covered(4), listed(range(1), SOME_KINDS)
    for name, data in chain(*kinds, by_vertices(range(1), SOME_VERTICES)):
        first, other = checker.check_bytes(data), second.check(data)
        theorem = other["theorem"]
        with case(name):
            quotient = other["cost"] / first.cost
            if theorem == "vertices":
                assert 1 / 4 < quotient < 4
            else:
                assert 0.7 < quotient < 1.4 if theorem in with_trees else quotient == 1


def test_verdicts_at_limits(second: SecondChecker, tmp_path: Path) -> None:
    """Both accept from their own cost on, and only between both costs verdicts are different."""
    path = tmp_path / "certificate.json"
    kinds = refutations(0), identified(0), covered(0), listed(range(1), SOME_KINDS[:1])
    for name, data in (next(kind) for kind in (*kinds, by_vertices(range(1), SOME_VERTICES[:1]))):
        path.write_bytes(data)
        costs = checker.check_bytes(data).cost, second.check(data)["cost"]
        for budget in {*costs, costs[0] - 1, costs[1] - 1}:
            with case(name, budget):
                first = checker.check_bytes(data, budget=budget).verdict
                other = report_on(path, "--budget", str(budget))[1]["verdict"]
                wanted = ["accepted" if budget >= cost else "unreadable" for cost in costs]
                assert [first, other] == wanted


@pytest.mark.parametrize(
    "name",
    [
        "lists",
        "splits",
        "silent nodes",
        "solved signs",
        "parts",
        "skips",
        "wide nodes",
        "region points",
        "orthants",
        "moves",
        "long vertices",
        "quotients",
        "silent layers",
    ],
)
def test_bombs(name: str, tmp_path: Path) -> None:
    """Small files that would cost much get their verdict early."""
    path = tmp_path / "bomb.json"
    path.write_bytes(BOMBS[name].make(BOMBS[name].small))
    started = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    status, report = report_on(path, "--budget", str(2**28))
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - started < 2
    assert status in (1, 2)
    assert len(json.dumps(report)) < 1_000


@pytest.mark.parametrize(("num_rows", "wanted"), [(2, "accepted"), (9, "unreadable")])
def test_limit_of_minors(second: SecondChecker, num_rows: int, wanted: str) -> None:
    """With 9 rows of 10 numbers there are 92,377 minors, which are counted and not computed."""
    chance = Random(1)
    first = [[chance.randint(-9, 9) for _ in range(9)] for _ in range(9)]
    rows = [
        [chance.randint(50, 99), *(chance.randint(-99, -1) for _ in range(8))]
        for _ in range(num_rows)
    ]
    bias = [chance.randint(-99, -50) for _ in range(num_rows)]
    last = [[chance.randint(1, 99) for _ in range(num_rows)]]
    network = from_arrays([(first, [1] * 9), (rows, bias), (last, [0])])
    evidence: dict[str, object] = {"layer": 1, "neuron": 0, "shift": "-1/7"}
    move = Move("translation", evidence, translate(network, 1, 0, "-1/7"), 1, "")
    data = certificate_of(network, move, columns=list(range(9)))
    assert compare(second, data)[0] == wanted
    assert second.check(data)["verdict"] == wanted


def test_sums_of_many_neurons(second: SecondChecker) -> None:
    """Sums of subsets of 24 neurons are 4,096 on each side; one that vanishes is found.

    The rows are 3^i, of which no sum with these signs vanishes, or the last one cancels the others.
    """
    for last, wanted in ((-(3**23), "accepted"), (-sum(3**i for i in range(23)), "rejected")):
        rows = [[3**i] for i in range(23)] + [[last]]
        network = from_arrays([(rows, list(range(1, 25))), ([[1] * 24], [0])])
        document = document_of(dict(identified(0))["shallow-subset-sums"])
        reference = document["claim"]["network"]
        reference |= {"sha256": network.sha256, "inline": to_document(network)}
        data = json.dumps(document).encode()
        assert compare(second, data)[0] == wanted
        assert second.check(data)["verdict"] == wanted


def test_neighbours_that_cancel(second: SecondChecker) -> None:
    """Opposite rows with opposite weights are one affine function, in linear time for many pairs.

    The second network has 1 more at each of 100 rows, and no weight on the last neuron.
    """
    networks = []
    for more in (0, 1):
        half = [[i + 1, 2 * i + 3 + more] for i in range(100)]
        rows = [[sign * x for x in row] for row in half for sign in (1, -1)]
        second_layer = [*rows, [0, 1]], [*([1, -1] * 100), 0]
        last = [[*([1, -1] * 100), 100 * (1 - more)]], [0]
        networks.append(from_arrays([([[1, 0], [0, 1]], [0, 0]), second_layer, last]))
    move = Move("replacement", {"layer": 2}, networks[1], 2, "")
    first, other = compare(second, certificate_of(networks[0], move))
    assert (first, other["verdict"]) == ("accepted", "accepted")
