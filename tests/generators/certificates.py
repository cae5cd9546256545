"""The format's own suite of certificates, and changes of its files."""

from __future__ import annotations

import copy
import hashlib
import io
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from polyrelu import checker
from tests.generators.files import CERTIFICATES, ROOT

__all__ = [
    "INVALID",
    "MALFORMED",
    "STATUS",
    "VALID",
    "Path_",
    "altered",
    "assert_refused",
    "entry",
    "layer",
    "leaves",
    "name",
    "put",
    "rehash",
    "rejection",
    "run_checker",
    "run_checker_alone",
    "spelled",
    "variants",
    "verdict",
]

STATUS = {"accepted": 0, "rejected": 1, "unreadable": 2}

#: The keys and indices that lead to a part of a document.
Path_ = tuple[str | int, ...]


def certificates(folder: str) -> list[Path]:
    return [
        p
        for p in sorted((CERTIFICATES / folder).glob("*.json"))
        if not p.name.endswith(".network.json")
    ]


VALID, INVALID, MALFORMED = (
    certificates("valid"),
    certificates("invalid"),
    certificates("malformed"),
)


def name(path: Path) -> str:
    return path.stem


def run_checker(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run the command line of the checker file in this process."""
    out, err, digits = io.StringIO(), io.StringIO(), sys.get_int_max_str_digits()
    try:
        with redirect_stdout(out), redirect_stderr(err):
            status = checker.main([str(argument) for argument in arguments])
    finally:
        sys.set_int_max_str_digits(digits)
    return subprocess.CompletedProcess(arguments, status, out.getvalue(), err.getvalue())


def run_checker_alone(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run the checker file in a process of its own, without any package."""
    command = [
        sys.executable,
        "-I",
        "-S",
        str(ROOT / "polyrelu" / "checker.py"),
        *map(str, arguments),
    ]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def altered(name: str) -> Any:
    return json.loads((CERTIFICATES / "valid" / f"{name}.json").read_text())


def verdict(document: Any, budget: int | None = None) -> tuple[str, str, str]:
    """Verdict, step and message of a document, after its hashes are made right."""
    rehash(document)
    report = checker.check_bytes(json.dumps(document).encode(), budget=budget)
    return report.verdict, report.step, report.got


def rejection(name: str, *changes: tuple[Path_, Any]) -> tuple[str, str]:
    """Step and fact by which a valid certificate is rejected once its entries are changed."""
    document = altered(name)
    for path, value in changes:
        document = put(document, path, value)
    rehash(document)
    report = checker.check_bytes(json.dumps(document).encode())
    assert report.verdict == "rejected", report
    return report.step, report.expected


def entry(hypothesis: int, *path: str | int) -> Path_:
    """The path to evidence of a hypothesis, or to an entry of it."""
    return ("proof", "hypotheses", hypothesis, "evidence", *path)


def layer(number: int, *path: str | int, of: str = "network") -> Path_:
    """The path to a layer, counted from 1, of a network that stands in a certificate."""
    return ("claim", of, "inline", "layers", number - 1, *path)


def assert_refused(data: bytes) -> None:
    report = checker.check_bytes(data)
    assert report.verdict == "unreadable", report
    assert len(str(report)) < 1500
    assert str(report).isascii()


def spelled(number: int) -> str:
    return str(number) if abs(number) < 10**1000 else hex(number)


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
