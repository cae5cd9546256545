"""A check of an installation in a few seconds, without pytest: ``python -m polyrelu.selftest``.

Each check computes something whose answer is known and compares it. The exit status is 0 if all of
them pass and 1 otherwise; a check that fails prints what it found.
"""

from __future__ import annotations

import platform
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from importlib import metadata
from pathlib import Path
from tempfile import TemporaryDirectory

import polyrelu
from polyrelu import corpus

__all__ = ["CHECKS", "main"]

#: How many networks of the corpus are looked at.
_NUM_NETWORKS = 20
#: The packages whose versions matter most in a report of a bug.
_PACKAGES = ("numpy", "python-flint", "highspy", "pplpy", "networkx", "sympy")


def _linear_programs() -> object:
    """A vertex of a polygon with coordinates that no float has."""
    square = polyrelu.Polyhedron.from_constraints([[3, 1], [1, 3], [-1, -1]], [1, 1, 0])
    return square.maximize([1, 1]).value == Fraction(1, 2)  # type: ignore[union-attr]


def _generators() -> object:
    """A polyhedron from its vertices and rays, by the Parma Polyhedra Library."""
    wedge = polyrelu.Polyhedron.from_generators([[0, 0]], [[1, 0], [1, 1]])
    return wedge.contains([3, 2]) and not wedge.contains([2, 3])


def _complexes() -> object:
    """The regions and vertices of networks of the corpus."""
    entries = [entry for entry in corpus.corpus_entries() if entry.num_regions is not None]
    for entry in entries[:: max(1, len(entries) // _NUM_NETWORKS)]:
        for known in entry.answers["complexes"]:
            domain = None if known["domain"] == "R^n" else known["domain"]
            cells = polyrelu.canonical_complex(entry.network, domain)
            if cells.num_regions != len(known["regions"]):
                return f"{entry.name}: {cells.num_regions} regions, and not {len(known['regions'])}"
    return True


def _identifiability() -> object:
    """A proof about a network of 2,400 parameters, whose certificate the checker accepts."""
    outcome = polyrelu.identify("example:digits")
    return outcome.status == "proved" and _checked(outcome)


def _checker() -> object:
    """The checker rejects a certificate whose statement is made larger."""
    outcome = polyrelu.output_range("example:xor", "box:-1,1")
    with TemporaryDirectory() as folder:
        path = Path(folder) / "wrong.cert.json"
        outcome.save(path)  # type: ignore[union-attr]
        text = path.read_text()
        wrong = text.replace('"-3"', '"-5/2"')
        path.write_text(wrong)
        return wrong != text and polyrelu.check_file(path).verdict == "rejected"


def _equivalence() -> object:
    """Two networks with one function, and two that differ where the answer says."""
    same = polyrelu.equivalent("example:twins-a", "example:twins-b")
    first, second = polyrelu.load("example:twins-a"), polyrelu.load("example:hidden")
    different = polyrelu.equivalent(first, second)
    point = different.witness.x  # type: ignore[union-attr]
    return same.status == "proved" and _checked(same) and first(point) != second(point)


def _ranges() -> object:
    """The exact range of the XOR network on a square."""
    outcome = polyrelu.output_range("example:xor", "box:-1,1")
    found = [(known.minimum, known.maximum) for known in outcome.ranges]  # type: ignore[union-attr]
    return found == [((-3, -3), (1, 1))] and _checked(outcome)


def _files() -> object:
    """A network keeps its hash through a file."""
    network = polyrelu.load("example:digits")
    with TemporaryDirectory() as folder:
        polyrelu.save(network, Path(folder) / "digits.npz")
        return polyrelu.load(Path(folder) / "digits.npz").sha256 == network.sha256


def _checked(outcome: object) -> bool:
    """Whether the checker accepts the certificate of an outcome."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "proof.cert.json"
        outcome.save(path)  # type: ignore[attr-defined]
        return polyrelu.check_file(path).verdict == "accepted"


#: The checks by what they look at.
CHECKS: dict[str, Callable[[], object]] = {
    "linear programs": _linear_programs,
    "polyhedra from generators": _generators,
    "network files": _files,
    "cells of networks in the corpus": _complexes,
    "identifiability with a certificate": _identifiability,
    "equality with a certificate": _equivalence,
    "ranges with a certificate": _ranges,
    "a wrong certificate is rejected": _checker,
}


def main() -> int:
    """Run all checks, print a line for each, and return the exit status."""
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in _PACKAGES)
    print(f"polyrelu {polyrelu.__version__}, Python {platform.python_version()}, {versions}")
    started, num_failed = time.perf_counter(), 0
    for name, check in CHECKS.items():
        try:
            found = check()
        except Exception as error:  # a broken installation can raise anything
            found = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
        num_failed += found is not True
        print(f"{'ok' if found is True else 'FAILED'}: {name}", flush=True)
        if found is not True:
            print(f"  found: {found}")
    seconds = time.perf_counter() - started
    total = len(CHECKS)
    print(f"{total - num_failed} of {total} checks passed in {seconds:.1f} seconds")
    return 1 if num_failed else 0


if __name__ == "__main__":
    sys.exit(main())
