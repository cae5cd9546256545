"""Errors that a user can act on.

Every error of the package is a `PolyreluError`; its text is one line that names the file, the place in it and the
remedy, as far as they are known. The command line prints that line and ends with exit status 2.
"""

from __future__ import annotations

from pathlib import Path

__all__ = [
    "ArgumentError",
    "CertificateError",
    "DomainError",
    "NetworkError",
    "NetworkFileError",
    "PolyreluError",
]


class PolyreluError(Exception):
    """Base of all errors raised on purpose."""


class NetworkError(PolyreluError, ValueError):
    """Weights that are not a network: shapes that do not fit, values that are not finite, no layers."""


class DomainError(PolyreluError, ValueError):
    """A domain that is not understood, or on which the command proves nothing."""


class CertificateError(PolyreluError, ValueError):
    """A certificate that cannot be read or written."""


def _plain(text: str) -> str:
    """One line of printable characters, and not too long: names come from files."""
    line = " ".join(text[:4000].split())
    return "".join(c if c.isprintable() else "?" for c in line)[:1000]


class NetworkFileError(NetworkError):
    """A network file that cannot be read.

    Attributes
    ----------
    path : the file.
    place : the part of the file, such as ``node 3 (Sigmoid)``; empty if the file as a whole is meant.
    problem : what is wrong and, if known, the remedy.

    >>> print(NetworkFileError("net.onnx", "node 'act' (Sigmoid)", "only ReLU networks are supported"))
    net.onnx: node 'act' (Sigmoid): only ReLU networks are supported
    """

    def __init__(self, path: str | Path, place: str, problem: str) -> None:
        self.path, self.place, self.problem = Path(path), place, problem
        parts = [str(path), place, problem] if place else [str(path), problem]
        super().__init__(": ".join(_plain(part) for part in parts))


class ArgumentError(PolyreluError, TypeError):
    """An argument of a public function that has a wrong type or lies outside its range."""
