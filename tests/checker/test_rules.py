"""The checker against hand-made certificates, hostile input, and mutations of valid certificates.

The files in tests/certificates are written by hand, with numbers that can be checked on paper. The
note in `unverified` describes each file, and for invalid files it begins with the step that must
fail.
"""

from __future__ import annotations

import ast
import copy
import hashlib
import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from polyrelu import checker
from tests.generators.campaigns import case
from tests.generators.files import ROOT
from tests.oracles.float_runtime import Runtime, rounded

CERTIFICATES = ROOT / "tests" / "certificates"


def certificates(folder: str) -> list[Path]:
    return [
        p
        for p in sorted((CERTIFICATES / folder).glob("*.json"))
        if not p.name.endswith(".network.json")
    ]


STATUS = {"accepted": 0, "rejected": 1, "unreadable": 2}
VALID, INVALID, MALFORMED = (
    certificates("valid"),
    certificates("invalid"),
    certificates("malformed"),
)


def name(path: Path) -> str:
    return path.stem


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [
        sys.executable,
        "-I",
        "-S",
        str(ROOT / "polyrelu" / "checker.py"),
        *map(str, arguments),
    ]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


# ---- The three folders


def test_every_theorem_has_a_valid_certificate() -> None:
    used = {json.loads(path.read_text())["proof"]["theorem"] for path in VALID}
    assert used == set(checker.THEOREMS)


@pytest.mark.parametrize("path", VALID, ids=name)
def test_valid(path: Path) -> None:
    report = checker.check_file(path)
    assert report.verdict == "accepted", report
    document = json.loads(path.read_text())
    assert report.networks[0] == document["claim"]["network"]["sha256"]
    assert report.theorem == document["proof"]["theorem"]
    assert [h["id"] for h in report.hypotheses] == [
        h["id"] for h in document["proof"]["hypotheses"]
    ]
    assert all(
        set(h) == {"id", "statement", "status"} and h["status"] == "proved"
        for h in report.hypotheses
    )
    assert len(report.assumed) == 0
    assert document["claim"]["kind"] in report.statement
    assert "assumed: none" in str(report)
    assert all(line.isascii() and line.isprintable() for line in str(report).splitlines())


@pytest.mark.parametrize("path", INVALID, ids=name)
def test_invalid(path: Path) -> None:
    step = json.loads(path.read_text())["unverified"]["note"].split(":")[0]
    report = checker.check_file(path)
    assert (report.verdict, report.step) == ("rejected", step), report
    assert report.expected
    assert report.got
    assert report.statement == ""


@pytest.mark.parametrize("path", MALFORMED, ids=name)
def test_malformed(path: Path) -> None:
    report = checker.check_file(path)
    assert report.verdict == "unreadable", report
    assert report.statement == ""
    assert report.step
    assert len(report.got) < 400


@pytest.mark.parametrize("path", [*VALID[:3], *INVALID[:3], *MALFORMED[:3]], ids=name)
def test_command(path: Path) -> None:
    report = checker.check_file(path)
    status = STATUS[report.verdict]
    plain = run(path)
    assert plain.returncode == status
    assert len(plain.stderr.splitlines()) == (status == 2)
    assert plain.stdout.startswith({0: "accepted", 1: "rejected", 2: ""}[status])
    as_json = run("--json", path)
    assert as_json.returncode == status
    document = json.loads(as_json.stdout)
    assert set(document) == {
        "command",
        "status",
        "error",
        "verdict",
        "statement",
        "theorem",
        "hypotheses",
        "assumed",
        "trusted",
        "networks",
        "step",
        "expected",
        "got",
    }
    assert document["command"] == "check"
    assert document["status"] == {0: "accepted", 1: "rejected", 2: "error"}[status]
    assert document["hypotheses"] == list(report.hypotheses)


def test_usage() -> None:
    for arguments in (
        [],
        ["a", "b"],
        ["--network"],
        ["--network", "x"],
        ["--unknown"],
        ["--unknown", "a"],
        ["a", "-x"],
        ["a", "--json=1"],
        ["a", "--network"],
    ):
        result = run(*arguments)
        assert (result.returncode, result.stdout, len(result.stderr.splitlines())) == (2, "", 1)


# ---- Network files


def by_file(folder: Path, reference: str = "two.network.json") -> Path:
    document = json.loads((CERTIFICATES / "valid" / "shallow-by-file.json").read_text())
    document["claim"]["network"]["file"] = reference
    path = folder / "c.json"
    path.write_text(json.dumps(document))
    return path


def test_network_file_by_hand_or_renamed(tmp_path: Path) -> None:
    path, network = by_file(tmp_path), CERTIFICATES / "valid" / "two.network.json"
    missing = checker.check_file(path)
    assert missing.verdict == "unreadable"
    assert "two.network.json" in missing.got
    assert checker.check_file(path, [network]).verdict == "accepted"
    assert run("--network", network, path).returncode == 0
    (tmp_path / "renamed.network.json").write_bytes(network.read_bytes())
    assert checker.check_file(path).verdict == "unreadable"  # files beside it are not searched
    assert checker.check_file(path, [tmp_path / "renamed.network.json"]).verdict == "accepted"
    (tmp_path / "garbage.network.json").write_text("[")
    assert checker.check_file(path, [tmp_path / "garbage.network.json"]).verdict == "unreadable"
    (tmp_path / "two.network.json").write_text("[")
    assert checker.check_file(path, [network]).verdict == "unreadable"


def test_network_file_with_the_wrong_hash(tmp_path: Path) -> None:
    path = by_file(tmp_path)
    network = json.loads((CERTIFICATES / "valid" / "two.network.json").read_text())
    network["layers"][1]["bias"] = "6"
    (tmp_path / "two.network.json").write_text(json.dumps(network))
    report = checker.check_file(path)
    assert (report.verdict, report.step) == ("rejected", "hash")
    in_memory = {"two.network.json": (CERTIFICATES / "valid" / "two.network.json").read_bytes()}
    assert checker.check_bytes(path.read_bytes(), in_memory).verdict == "accepted"
    assert (
        checker.check_bytes(path.read_bytes(), {"other": in_memory["two.network.json"]}).verdict
        == "accepted"
    )
    assert checker.check_bytes(path.read_bytes()).verdict == "unreadable"


def test_canonical_bytes() -> None:
    """The hash of FORMAT.md is computed step by step for one network."""
    lines = [
        "polyrelu-network 1",
        "inputs 2",
        "layer 2 1",
        "bias 0 -1",
        "from 0",
        "1 0",
        "0 1",
        "layer 1 1",
        "bias 5",
        "from 1",
        "2 3",
        "last affine",
    ]
    expected = hashlib.sha256("".join(line + "\n" for line in lines).encode()).hexdigest()
    assert checker.check_file(CERTIFICATES / "valid" / "shallow-by-file.json").networks == (
        expected,
    )


# ---- Hostile input: a verdict, never an exception, never `accepted`


def assert_refused(data: bytes) -> None:
    report = checker.check_bytes(data)
    assert report.verdict == "unreadable", report
    assert len(str(report)) < 1500
    assert str(report).isascii()


@pytest.mark.parametrize("seed", range(20))
def test_random_bytes(seed: int) -> None:
    assert_refused(random.Random(seed).randbytes(300))
    assert_refused(bytes(random.Random(seed).choices(b'{}[]",:01 truefalsn-.eE', k=300)))


@pytest.mark.parametrize("path", VALID, ids=name)
def test_truncated(path: Path) -> None:
    data = path.read_bytes().rstrip()
    for length in range(0, len(data), 37):
        assert_refused(data[:length])


@pytest.mark.parametrize(
    "data",
    [
        b"[" * 10**6,
        b'{"a":' * 10**6,
        b"[" * 10**6 + b"]" * 10**6,
        b"9" * 10**6,
        b"-" * 10**6,
        b"NaN",
        b"1e400",
        b"-0",
        b"null",
        b"true",
        b'"' + b"a" * 10**6,
        b"\xef\xbb\xbf{}",
        b"",
        b" " * 10**6,
        b'{"a":1,"a":1}',
        b'"\\u0041"',
        b'"a\nb"',
        b'{"format": 1e999}',
    ],
    ids=range(18),
)
def test_hostile_json(data: bytes) -> None:
    assert_refused(data)


def test_utf_16_is_not_ascii_json() -> None:
    """`json` guesses UTF-16 from NUL bytes, which are ASCII; the checker must not."""
    for encoding in ("utf-16-le", "utf-16-be", "utf-32-le"):
        assert_refused((CERTIFICATES / "valid" / "affine.json").read_text().encode(encoding))


@pytest.mark.parametrize(
    "row",
    [
        " " * 10**6,
        "1 " * 10**6,
        "1" * 10**6,
        "0x" + "f" * 10**6,
        "0x" + "f" * 4097,
        "1\n",
        "\u0661",
        "0x1",
        "-0",
        "1\t2",
        "--1",
        "0X" + "F" * 900,
        "0x" + "F" * 900,
        "0x0" + "f" * 900,
        "-",
        "0x",
        "1/2",
        hex(10**1000 - 1),
    ],
    ids=range(18),
)
def test_hostile_rows(row: str) -> None:
    document = json.loads((CERTIFICATES / "valid" / "affine.json").read_text())
    document["claim"]["network"]["inline"]["layers"][0]["bias"] = row
    assert_refused(json.dumps(document, ensure_ascii=False).encode())


def test_long_numbers_are_hexadecimal() -> None:
    document = json.loads((CERTIFICATES / "valid" / "affine.json").read_text())
    for number in (10**1000, 10**1000 + 1, 16**4096 - 1, -(16**4095)):
        layer = document["claim"]["network"]["inline"]["layers"][0]
        layer["bias"] = hex(number)
        rehash(document)
        assert checker.check_bytes(json.dumps(document).encode()).verdict == "accepted"
    layer["bias"] = str(10**1000 - 1)
    rehash(document)
    assert checker.check_bytes(json.dumps(document).encode()).verdict == "accepted"
    layer["bias"] = str(10**1000)
    assert_refused(json.dumps(document).encode())


def altered(name: str) -> Any:
    return json.loads((CERTIFICATES / "valid" / f"{name}.json").read_text())


def verdict(document: Any) -> tuple[str, str, str]:
    rehash(document)
    report = checker.check_bytes(json.dumps(document).encode())
    return report.verdict, report.step, report.got


def test_limit_of_a_point() -> None:
    """A common denominator of many long denominators would be too long."""
    document = altered("bottleneck-corner-minors")
    positive = [[k, f"1/{hex(16**4094 + 2 * k + 1)}"] for k in range(1, 41)]
    network = document["claim"]["network"]["inline"]
    network["layers"][0] = {
        "denominator": "1",
        "bias": " ".join(["0"] * 41),
        "weights": [
            {"from": 0, "rows": [" ".join(str(int(i == k)) for k in range(41)) for i in range(41)]}
        ],
    }
    network["inputs"] = 41
    network["layers"][1]["weights"][0]["rows"] = [
        " ".join(["1"] * 41),
        " ".join(["1"] * 40 + ["2"]),
    ]
    network["layers"][1]["bias"] = "-1 -1"
    hypotheses = {h["id"]: h["evidence"] for h in document["proof"]["hypotheses"]}
    hypotheses["rank"]["columns"] = list(range(41))
    hypotheses["unique"].clear()
    outputs = network["layers"][2]["weights"][0]["rows"]
    network["layers"][2]["weights"][0]["rows"] = ["1 1" for _ in outputs]
    hypotheses["unique"].update(method="subset-sums", multiplier="3")
    hypotheses["hyperplanes"]["witnesses"] = [{"row": 0, "positive": positive}] * 41
    answer = verdict(document)
    assert answer[:2] == ("unreadable", "hyperplanes"), answer
    assert "beyond the limits" in answer[2]


def test_limit_of_assignments() -> None:
    """Exact ranks cost too much: eight hyperplanes, one doubled, give 1024 pairs (D, eps)."""
    for bits, wanted in ((300, "accepted"), (4000, "unreadable")):
        document = altered("shallow-assignments")
        network = document["claim"]["network"]["inline"]
        network["inputs"] = 8
        rows = [" ".join(spelled((2**bits + 1) * (i == k)) for k in range(8)) for i in range(8)]
        rows += [rows[0].replace(rows[0].split()[0], "-" + rows[0].split()[0])]
        network["layers"] = [
            {
                "denominator": "1",
                "bias": " ".join(["1"] * 8 + ["-1"]),
                "weights": [{"from": 0, "rows": rows}],
            },
            {
                "denominator": "1",
                "bias": "0",
                "weights": [{"from": 1, "rows": [" ".join(["1"] * 9)]}],
            },
        ]
        network["layers"][1]["weights"][0]["rows"] = [
            " ".join(str(int(i % 8 == o) + (i == 8)) for i in range(9)) for o in range(8)
        ]
        network["layers"][1]["bias"] = " ".join(["0"] * 8)
        answer = verdict(document)
        assert answer[0] == wanted, answer
        assert wanted == "accepted" or "beyond the limits" in answer[2]


def test_limit_of_scales() -> None:
    """In deep networks the scales of the invariants grow."""
    document = altered("translation")
    for key in ("network", "other"):
        layers = document["claim"][key]["inline"]["layers"]
        last = layers.pop()
        width = len(layers[-1]["bias"].split())
        for _ in range(9):
            rows = [
                " ".join(spelled((16**4094 + 1) * (i == k)) for k in range(width))
                for i in range(width)
            ]
            block = {"from": len(layers), "rows": rows}
            layers.append({"denominator": "1", "bias": " ".join(["0"] * width), "weights": [block]})
        last["weights"][0]["from"] = len(layers)
        layers.append(last)
    depth = len(layers)
    document["proof"]["hypotheses"][2]["evidence"]["layer"] = depth
    answer = verdict(document)
    assert answer[:2] == ("unreadable", "not-related"), answer
    assert "beyond the limits" in answer[2]


@pytest.mark.parametrize("theorem", ["replacement", "bounded-replacement"])
def test_limit_of_coefficients(theorem: str) -> None:
    """A long divisor of a row would be multiplied by every outgoing weight."""
    for outputs, wanted in ((100, "rejected"), (20_000, "unreadable")):
        document, neurons = altered("replacement-line"), 10
        document["proof"]["theorem"] = theorem
        for key, last in (("network", 0), ("other", 16**4094)):
            bias = " ".join(["0"] * (neurons - 1) + [spelled(last)])
            first = {"from": 0, "rows": [spelled(16**4094)] * neurons}
            second = {"from": 1, "rows": [" ".join(["1"] * neurons)] * outputs}
            layers = [
                {"denominator": "1", "bias": bias, "weights": [first]},
                {"denominator": "1", "bias": " ".join(["0"] * outputs), "weights": [second]},
            ]
            document["claim"][key]["inline"] |= {"inputs": 1, "layers": layers}
        answer = verdict(document)
        assert answer[:2] == (wanted, "same-function"), answer


def test_limit_of_boxes() -> None:
    """In deep networks with long numbers the ends of the boxes grow; infinite ends do not."""
    for place, wanted in ((1, ("rejected", "not-related")), (2, ("unreadable", "same-function"))):
        document = altered("bounded-replacement-linear")
        for key in ("network", "other"):
            layers = document["claim"][key]["inline"]["layers"]
            for _ in range(5):
                long = {
                    "denominator": "1",
                    "bias": "0",
                    "weights": [{"from": 0, "rows": [spelled(16**4094 + 1)]}],
                }
                layers.insert(place, long)
            for k, layer in enumerate(layers):
                layer["weights"][0]["from"] = k
        document["proof"]["hypotheses"][1]["evidence"]["layer"] = 8
        document["proof"]["hypotheses"][2]["evidence"]["layer"] = 1
        answer = verdict(document)
        assert answer[:2] == wanted, answer
        assert wanted[0] == "rejected" or "beyond the limits: a box" in answer[2]


def test_limit_of_determinants() -> None:
    size = checker.DETERMINANT + 1
    document = altered("shallow-independent")
    network = document["claim"]["network"]["inline"]
    network["inputs"] = 2
    block = {"from": 0, "rows": [f"{i} 1" for i in range(1, size + 1)]}
    network["layers"] = [
        {"denominator": "1", "bias": " ".join(["1"] * size), "weights": [block]},
        {
            "denominator": "1",
            "bias": "0",
            "weights": [{"from": 1, "rows": [" ".join(["1"] * size)]}],
        },
    ]
    entries = [[0, k] for k in range(2)]
    evidence = document["proof"]["hypotheses"][1]["evidence"]
    evidence["entries"] = entries
    assert verdict(document)[:2] == ("rejected", "unique")
    network["layers"][1]["weights"][0]["rows"] = [" ".join(["1"] * size)] * size
    network["layers"][1]["bias"] = " ".join(["0"] * size)
    evidence["entries"] = [[o, 0] for o in range(size)]
    answer = verdict(document)
    assert answer[:2] == ("unreadable", "unique"), answer


def spelled(number: int) -> str:
    return str(number) if abs(number) < 10**1000 else hex(number)


def test_unreadable_paths(tmp_path: Path) -> None:
    loop = tmp_path / "loop.json"
    loop.symlink_to(loop)
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    for path in (
        tmp_path,
        loop,
        fifo,
        tmp_path / "missing.json",
        "/dev/zero",
        "nul\0byte",
        "",
        "x" * 10_000,
    ):
        assert checker.check_file(path).verdict == "unreadable"
    result = run(tmp_path / "a\nb.json")
    assert (result.returncode, len(result.stderr.splitlines())) == (2, 1)
    assert "a\\nb.json" in result.stderr


def test_too_large(tmp_path: Path) -> None:
    path = tmp_path / "sparse.json"
    with path.open("wb") as file:
        file.truncate(checker.CERTIFICATE_BYTES + 1)
    assert checker.check_file(path).verdict == "unreadable"


# ---- Mutations

Path_ = tuple[str | int, ...]


def leaves(value: Any, path: Path_ = ()) -> Iterator[tuple[Path_, Any]]:
    yield path, value
    entries = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, entry in entries:
        yield from leaves(entry, (*path, key))


def variants(value: Any) -> Iterator[Any]:
    """Yield other values for a place in a certificate."""
    yield from (None, True, False, 0, 1, "", "0", "1", [], {}, 1.5)
    if type(value) is int:
        yield from (value + 1, value - 1, -value, str(value))
    elif isinstance(value, str):
        parts = value.split(" ")
        for i, part in enumerate(parts):
            if part.lstrip("-").isdigit():
                for new in (-int(part), int(part) + 1, int(part) - 1, 2 * int(part)):
                    yield " ".join([*parts[:i], str(new), *parts[i + 1 :]])
        yield from (
            " ".join(reversed(parts)),
            value + " ",
            value + "\n",
            value.upper(),
            f"{value}/2",
            f"-{value}",
        )
        yield from (
            "open",
            "all",
            "generic",
            "minors",
            "every",
            "affine",
            "relu",
            "identifiable",
            "translation",
        )
    elif isinstance(value, list):
        yield from (value[::-1], value[1:], value[:-1], value + value[:1], [value])
    elif isinstance(value, dict):
        yield from ({k: v for k, v in value.items() if k != key} for key in value)
        yield {**value, "more": "1"}


def put(document: Any, path: Path_, value: Any) -> Any:
    if not path:
        return value
    changed = copy.deepcopy(document)
    place = changed
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return changed


def rehash(document: Any) -> None:
    """Write the hash of the changed content, so that a mutation passes the first step."""
    for key in ("network", "other"):
        try:
            reference = document["claim"][key]
            network = reference["inline"]
            lines = ["polyrelu-network 1", f"inputs {network['inputs']}"]
            for layer in network["layers"]:
                lines += [
                    f"layer {len(layer['bias'].split(' '))} {layer['denominator']}",
                    f"bias {layer['bias']}",
                ]
                for block in layer["weights"]:
                    lines += [f"from {block['from']}", *block["rows"]]
            lines += [f"last {network['last']}", ""]
            if "sha256" in reference:
                reference["sha256"] = hashlib.sha256("\n".join(lines).encode()).hexdigest()
        except (KeyError, TypeError, AttributeError):
            pass


def evaluate(network: Any, x: list[Fraction]) -> list[Fraction]:
    activations = [x]
    for number, layer in enumerate(network["layers"], 1):
        z = [Fraction(int(b)) for b in layer["bias"].split()]
        for block in layer["weights"]:
            rows = [[int(w) for w in row.split()] for row in block["rows"]]
            products = [
                sum(w * t for w, t in zip(row, activations[block["from"]], strict=True))
                for row in rows
            ]
            z = [t + product for t, product in zip(z, products, strict=True)]
        z = [t / int(layer["denominator"]) for t in z]
        if number < len(network["layers"]) or network["last"] == "relu":
            z = [max(t, Fraction(0)) for t in z]
        activations.append(z)
    return activations[-1]


def a_difference(claim: Any, document: Any) -> bool:
    """Return whether the point of a certificate proves its claim, in plain fractions."""
    evidence = [h["evidence"] for h in document["proof"]["hypotheses"]]
    x = [Fraction(t) for t in evidence[0]["x"]]
    rows = {
        key: [[int(t) for t in row.split()] for row in rows]
        for key, rows in claim["domain"].items()
    }
    point = [*x, Fraction(-1)]
    excess = {
        k: [sum((a * t for a, t in zip(row, point, strict=True)), Fraction()) for row in r]
        for k, r in rows.items()
    }
    inside = max(excess["inequalities"], default=Fraction(0)) <= 0 and not any(excess["equations"])
    f, g = (evaluate(claim[key]["inline"], x) for key in ("network", "other"))
    stated = [[Fraction(t) for t in evidence[1][name]] for name in "fg"]
    return inside and f != g and stated == [f, g]


def survives_runtimes(claim: Any) -> bool:
    """Return whether runtimes that use every freedom stay within a claim about rounding."""
    network, format_ = claim["network"]["inline"], claim["arithmetic"]
    low, high, limits = (
        [Fraction(x) for x in part] for part in (*claim["domain"].values(), claim["at-most"])
    )
    layers = []
    for layer in network["layers"]:
        d = int(layer["denominator"])
        rows = [[Fraction(int(w), d) for w in row.split()] for row in layer["weights"][0]["rows"]]
        layers.append((rows, [Fraction(int(b), d) for b in layer["bias"].split()]))
    for seed in range(40):
        x = [
            rounded(a + Fraction(random.randint(0, 4), 4) * (b - a), format_)
            for a, b in zip(low, high, strict=True)
        ]
        if all(a <= v <= b for a, v, b in zip(low, x, high, strict=True)):
            theirs = Runtime(format_, seed).run(layers, x)
            if network["last"] == "relu":
                theirs = [max(v, Fraction(0)) for v in theirs]
            pairs = zip(theirs, evaluate(network, x), limits, strict=True)
            if any(abs(v - w) > limit for v, w, limit in pairs):
                return False
    return True


def reason(document: Any, changed: Any, path: Path_) -> str:
    """Return why a certificate may be accepted after a change at `path`, from an explicit list.

    The empty string means that there is no reason.
    """
    if path == ("claim", "network", "file"):
        return "a network file may have another name; its hash decides"
    if path[:1] == ("unverified",):
        return "no verdict depends on `unverified`"
    claim = changed["claim"]
    if claim["kind"] == "runtime-error" and path[:1] == ("claim",):
        return "another claim, which no runtime contradicts" if survives_runtimes(claim) else ""
    if claim["kind"] == "not-equivalent":
        return "a claim that its point shows" if a_difference(claim, changed) else ""
    if path[:3] in (("claim", "network", "inline"), ("claim", "other", "inline")):
        if claim["kind"] in ("identifiable", "determined"):
            return "a claim about another network, for which every hypothesis was derived again"
        points = [[Fraction(random.randint(-60, 60), 7) for _ in range(9)] for _ in range(60)]
        networks = [claim["network"]["inline"], claim["other"]["inline"]]
        values = [[evaluate(n, point[: n["inputs"]]) for point in points] for n in networks]
        return (
            "a claim about another pair, which does agree at random points"
            if values[0] == values[1]
            else ""
        )
    if path[:2] == ("proof", "hypotheses") and claim == document["claim"]:
        old, new = (
            [h["evidence"] for h in d["proof"]["hypotheses"]][-1] for d in (document, changed)
        )
        if old.get("status") == new.get("status"):
            return "the same claim, by other evidence"
        if new == {"status": "open"}:
            return "a weaker claim: nothing is said about membership"
    return ""


def check_mutations(path: Path, every: int) -> None:
    """Check that every n-th mutation of a certificate is refused or has a reason."""
    document = json.loads(path.read_text())
    networks = {p.name: p.read_bytes() for p in path.parent.glob("*.network.json")}
    random.seed(1)
    count = 0
    mutations = ((place, new) for place, value in leaves(document) for new in variants(value))
    for place, new in islice(mutations, 0, None, every):
        changed = put(document, place, new)
        if place[:1] == ("claim",) and isinstance(changed, dict):
            unchanged_hash = copy.deepcopy(changed)
            if "inline" in place and json.dumps(changed) != json.dumps(document):
                report = checker.check_bytes(json.dumps(unchanged_hash).encode())
                assert report.verdict != "accepted", (place, new)
            if "sha256" not in place:
                rehash(changed)
        report = checker.check_bytes(json.dumps(changed).encode(), networks)
        count += 1
        if report.verdict == "accepted" and json.dumps(changed) != json.dumps(document):
            assert reason(document, changed, place), (place, new, str(report))
    assert count > 100 / every


@pytest.mark.parametrize("path", VALID, ids=name)
def test_some_mutations(path: Path) -> None:
    check_mutations(path, 17)


@pytest.mark.slow
@pytest.mark.parametrize("quarter", range(4))
def test_all_mutations(quarter: int) -> None:
    for path in VALID[quarter::4]:
        with case(path.stem):
            check_mutations(path, 1)


@pytest.mark.parametrize("path", VALID, ids=name)
def test_duplicated_keys(path: Path) -> None:
    text = path.read_text()
    document = json.loads(text)
    for place, value in leaves(document):
        if isinstance(value, dict):
            for key in value:
                marker = put(document, (*place, key), "MARKER")
                one = json.dumps(value[key])
                assert_refused(
                    json.dumps(marker).replace('"MARKER"', f'{one}, "{key}": {one}').encode()
                )


def test_the_checker_stands_alone() -> None:
    """One file, standard library only, no assert: `python -O` would leave asserts out."""
    source = (ROOT / "polyrelu" / "checker.py").read_text()
    tree = ast.parse(source)
    modules = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    modules |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {module.split(".")[0] for module in modules} <= sys.stdlib_module_names
    assert not any(isinstance(node, ast.Assert) for node in ast.walk(tree))
