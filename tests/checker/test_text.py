"""Hostile text: a verdict, never an exception, and never `accepted`."""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path

import pytest

from polyrelu import checker
from tests.generators.certificates import (
    VALID,
    assert_refused,
    leaves,
    name,
    put,
    rehash,
)
from tests.generators.files import CERTIFICATES


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


def test_the_limit_of_python_for_decimals_changes_no_verdict() -> None:
    document = json.loads((CERTIFICATES / "valid" / "inverse-lipschitz-always-on.json").read_text())
    long = f"{hex(2**16_000 - 1)}/{hex(2**16_000)}"
    document["claim"]["at-least"] = long
    document["proof"]["hypotheses"][1]["evidence"]["layers"][0]["at-least"] = long
    old = sys.get_int_max_str_digits()
    try:
        for digits in (640, 0):
            sys.set_int_max_str_digits(digits)
            assert checker.check_bytes(json.dumps(document).encode()).verdict == "accepted"
    finally:
        sys.set_int_max_str_digits(old)


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
