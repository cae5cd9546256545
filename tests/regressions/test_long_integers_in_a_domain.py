"""A JSON domain with an integer of 3 million digits was refused only after minutes.

The command line lifts Python's own limit on digits; without the command line, Python's message
about that limit was shown.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from polyrelu.errors import DomainError
from polyrelu.formats import parse_domain


def test_they_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("long.json").write_text('{"A": [[' + "7" * 1_000_000 + ']], "c": [1]}')
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        started = time.monotonic()
        with pytest.raises(DomainError, match=r'long.json: an entry of "A" is not a number'):
            parse_domain("long.json", 1)
        assert time.monotonic() - started < 5  # it took minutes before
    finally:
        sys.set_int_max_str_digits(before)


def test_the_size_limit_is_named_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with Path("huge.json").open("wb") as file:
        file.truncate(100_000_001)
    with pytest.raises(DomainError, match=r"^huge.json: more than 100000000 bytes$"):
        parse_domain("huge.json", 1)
