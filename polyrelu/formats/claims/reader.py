"""The reader of files of claims: it chooses by the ending, and checks names and settings."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from polyrelu.errors import DomainError, NetworkError
from polyrelu.formats.claims.claims_file import CLAIMS, SETTINGS, ClaimsFile
from polyrelu.formats.claims.tables import read_csv
from polyrelu.formats.meter import metered
from polyrelu.formats.npz import npz_arrays
from polyrelu.formats.unpacking import TooLargeError, file_content
from polyrelu.support.arguments import expect_path

__all__ = ["read_claims"]

#: Maximum number of bytes of a JSON or CSV file: parsers take up to 50 bytes for each of them.
_TEXT_LIMIT = 2**28
#: The text that says what a JSON file is, and its version.
_FORMAT, _VERSION = "polyrelu claims", 1
#: Maximum number of digits of an integer.
_DIGIT_LIMIT = 400
#: Maximum number of characters of a setting.
_SETTING_LIMIT = 400


def read_claims(path: str | Path) -> ClaimsFile:
    """Read what a float tool claims about a network.

    Parameters
    ----------
    path
        Name of a file that ends in ``.json``, ``.csv`` or ``.npz``.

    Returns
    -------
    ClaimsFile
        The claims, not yet compared with a network.

    Raises
    ------
    DomainError
        The file cannot be read; the message names the place.
    ArgumentError
        `path` is not the name of a file.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "answer.csv")
    ...     _ = file.write_text("# domain: box:-1,1\\ns_0,s_1\\n1,-1\\n1,1\\n")
    ...     found = read_claims(file)
    >>> found.settings, found.claims["signs"].tolist()
    ({'domain': 'box:-1,1'}, [[1.0, -1.0], [1.0, 1.0]])
    """
    file = expect_path(path, "path")
    name = str(file)
    readers = {".json": _read_json, ".csv": _read_csv, ".npz": _read_npz}
    reader = readers.get(file.suffix.lower())
    if reader is None:
        raise DomainError(f"{name[:200]}: claims are read from .json, .csv and .npz files")
    try:
        claims, settings = reader(file)
    except (NetworkError, DomainError) as error:
        text = str(error)
        raise DomainError(text if name in text else f"{name}: {text}") from None
    except RecursionError:
        raise DomainError(f"{name}: nested too deeply") from None
    except (OSError, ValueError, TooLargeError, MemoryError) as error:
        reason = getattr(error, "strerror", None) or str(error) or "too large"
        raise DomainError(f"{name}: cannot read: {reason[:300]}") from None
    _check(name, claims, settings)
    return ClaimsFile(name, claims, settings)


_Parts = tuple[dict[str, Any], dict[str, Any]]


def _check(name: str, claims: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
    """Refuse unknown names, settings of a wrong type, and files without claims."""
    for key in claims:
        if key not in CLAIMS:
            known = ", ".join((*CLAIMS, *SETTINGS))
            raise DomainError(f"{name}: it has {key[:40]!r}, which is no claim; known are {known}")
    for key, value in settings.items():
        right = isinstance(value, bool if key == "complete" else str | int | float)
        if not right or (isinstance(value, str) and len(value) > _SETTING_LIMIT):
            raise DomainError(f"{name}: {key}: expected {SETTINGS[key]}")
    domain = settings.get("domain", "R^n")
    if not str(domain).startswith(("R^n", "orthant", "box:")):
        raise DomainError(
            f"{name}: domain: a file of claims may name R^n, orthant or box:…; give others with "
            "--domain"
        )
    if not claims:
        raise DomainError(f"{name}: it makes no claims")


def _read_json(path: Path) -> _Parts:
    """Return the claims and settings of a JSON file."""
    data = file_content(path, _TEXT_LIMIT)
    document = json.loads(data, object_pairs_hook=_unique, parse_int=_integer)
    if not isinstance(document, dict):
        raise DomainError("expected an object of JSON")
    kind, version = document.pop("format", None), document.pop("version", None)
    if kind != _FORMAT or type(version) is not int or version != _VERSION:
        raise DomainError(
            f'expected "format": "{_FORMAT}" and "version": {_VERSION}; write them first'
        )
    settings = {key: document.pop(key) for key in SETTINGS if key in document}
    return document, settings


def _integer(text: str) -> int:
    """Return an integer of JSON, if its conversion is fast."""
    if len(text) > _DIGIT_LIMIT:
        raise DomainError(f"an integer of {len(text)} digits, more than {_DIGIT_LIMIT}")
    return int(text)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise DomainError("a key stands twice in an object")
    return found


def _read_csv(path: Path) -> _Parts:
    """Return the claims and settings of a CSV file."""
    return read_csv(file_content(path, _TEXT_LIMIT).decode("utf-8-sig"))


def _read_npz(path: Path) -> _Parts:
    """Return the arrays of an archive; texts without axes are settings."""
    with metered(path.stat().st_size):
        arrays = npz_arrays(path, "named as claims")
    settings = {
        key: arrays.pop(key).item() for key in SETTINGS if key in arrays and not arrays[key].ndim
    }
    claims: dict[str, Any] = dict(arrays)
    for name in ("half_spaces", "vertex_lists"):
        if name in claims:
            owners = claims.pop(f"{name}_regions", None)
            if owners is None:
                raise DomainError(f"{name}: the array {name}_regions is missing")
            claims[name] = {"rows": claims[name], "regions": owners}
    for name in (
        *("counts", "lipschitz", "deviation", "matching", "function", "topology"),
        "counterexamples",
    ):
        if name in claims:
            raise DomainError(f"{name}: an .npz file cannot hold this claim; use JSON")
    return claims, settings
