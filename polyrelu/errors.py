"""Errors that a user can act on.

Every error that the package raises on purpose is a `PolyreluError`; its text is one line that names
the file, the place in it and the remedy, as far as they are known. The command line prints that
line and ends with exit status 2. An index out of range is an IndexError, as everywhere in Python:
it is a mistake of the calling program, which no message to a user could mend.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

__all__ = [
    "ArgumentError",
    "CertificateError",
    "DomainError",
    "NetworkError",
    "NetworkFileError",
    "NotCoveredError",
    "PolyreluError",
]


class PolyreluError(Exception):
    """Base of all errors raised on purpose."""


class NetworkError(PolyreluError, ValueError):
    """Weights that do not form a network, such as shapes that do not fit or numbers not finite."""


class NotCoveredError(NetworkError):
    """A network about which a question has an answer that nothing here finds.

    The networks have another kind than all that the method is about. Commands answer *undecided*.
    """


class DomainError(PolyreluError, ValueError):
    """A domain, point, row or bound that cannot be read, or on which a function is not defined."""


class CertificateError(PolyreluError, ValueError):
    """A certificate that cannot be read or written."""


def _plain(text: str) -> str:
    """The text as one line of at most 1,000 printable characters: names come from files."""
    line = " ".join(text[:4000].split())
    return "".join(c if c.isprintable() else "?" for c in line)[:1000]


class NetworkFileError(NetworkError):
    """A network file that cannot be read.

    Attributes
    ----------
    path
        The file.
    place
        The part of the file, such as ``node 3 (Sigmoid)``; empty if the whole file is meant.
    problem
        What is wrong and, if known, the remedy.

    Examples
    --------
    >>> print(NetworkFileError("net.onnx", "node 'act'", "only ReLU networks are supported"))
    net.onnx: node 'act': only ReLU networks are supported
    """

    def __init__(self, path: str | Path, place: str, problem: str) -> None:
        self.path, self.place, self.problem = Path(path), place, problem
        parts = [str(path), place, problem] if place else [str(path), problem]
        super().__init__(": ".join(_plain(part) for part in parts))

    def __reduce__(self) -> tuple[Any, ...]:
        """Let an error arrive from another process, as one of this type."""
        return NetworkFileError, (self.path, self.place, self.problem)


class ArgumentError(PolyreluError, TypeError):
    """An argument of a public function that has a wrong type or lies outside its range."""
