"""A deep search in a file, to be continued later.

The first line of the file is a JSON object that names the network and the seed; each further line
has a plane and the ridges that were met in it. A file has about 150 bytes per ridge for a network
with 300 neurons; a name that ends in .gz compresses it.

Nothing in a file is a proof. What is read is checked for its form, and the types of the ridges are
computed again. That a plane meets a ridge is checked, exactly, for the ridges that go into a
certificate.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import math
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

from polyrelu.errors import DomainError, NetworkError
from polyrelu.exact import Polyhedron, format_integer, format_rational, parse_rational
from polyrelu.network import Network
from polyrelu.proofs.deep.planes import Location, Plane
from polyrelu.proofs.deep.ridges import Competitors, Ridge
from polyrelu.proofs.deep.search import DeepSearch
from polyrelu.support.text_files import write_all

__all__ = ["load_search", "save_search"]

#: What the key `format` of the first line says.
_FORMAT = "polyrelu search of ridges 1"

#: Maximum number of bytes that are read as one line; a longer line is refused as it is not JSON.
_MAX_LINE_LENGTH = 1 << 28

#: Upper bound of the number of walks in a file.
_MAX_WALKS = 1 << 60


def save_search(search: DeepSearch, path: str | Path) -> None:
    """Write a search to a file, completely or not at all.

    Raises
    ------
    PolyreluError
        The file cannot be written; an old file is unchanged.
    """
    write_all([(Path(path), _lines(search))])


def load_search(
    network: Network,
    path: str | Path,
    seed: int,
    among: Competitors = "transversal",
    domain: Polyhedron | None = None,
) -> DeepSearch:
    """Read a search from a file; if there is no such file, return a new search.

    Parameters
    ----------
    network, seed, among, domain
        As for `DeepSearch`. Network, seed and domain must be those in the file, which serves all
        classes.
    path
        The file.

    Returns
    -------
    DeepSearch
        A search that goes on where the one in the file ended.

    Raises
    ------
    DomainError
        The file is not a search, or it is the search of another network, seed or domain.
    """
    file, search = Path(path), DeepSearch(network, seed, among, domain)
    if not file.exists():
        return search
    try:
        with gzip.open(file) if file.suffix == ".gz" else file.open("rb") as stream:
            _read(search, seed, iter(lambda: stream.readline(_MAX_LINE_LENGTH), b""))
    except _ForeignError as error:
        raise DomainError(f"{file}: {error}") from None
    except (
        OSError,
        EOFError,
        zlib.error,
        ValueError,
        TypeError,
        LookupError,
        RecursionError,
        NetworkError,
    ) as error:
        raise DomainError(
            f"{file}: not a search of ridges ({_reason(error)}); delete it or name another file"
        ) from None
    return search


def _reason(error: Exception) -> str:
    """Return the text of an error, or a better one where Python's means nothing to a reader."""
    if isinstance(error, TypeError | LookupError):
        return "an entry is missing or of another kind"
    return " ".join(str(error).split())[:100]


class _ForeignError(Exception):
    """The file belongs to another network, seed or domain."""


def _lines(search: DeepSearch) -> Iterator[bytes]:
    """Yield the lines of the file of a search."""
    header = {
        "format": _FORMAT,
        "network": search.network.sha256,
        "seed": search.seed,
        "walks": search.walks,
        **_name_of(search.domain),
    }
    yield _line(header)
    by_plane: defaultdict[int, list[list[Any]]] = defaultdict(list)
    for ridge, (number, s, t) in search.ridges.items():
        by_plane[number].append([ridge.u, ridge.v, f"{ridge.mask:x}", s, t])
    for number, ridges in by_plane.items():
        plane = search.planes[number]
        directions = [list(map(str, direction)) for direction in plane.directions]
        yield _line(
            {
                "point": list(map(format_rational, plane.point)),
                "directions": directions,
                "ridges": ridges,
            }
        )


def _name_of(domain: Polyhedron | None) -> dict[str, str]:
    """Return the entry of the first line that tells domains apart; there is none for R^n."""
    if domain is None:
        return {}
    rows = "\n".join(" ".join(map(format_integer, row)) for row in domain.inequalities)
    return {"domain": hashlib.sha256(rows.encode("ascii")).hexdigest()}


def _line(entry: Mapping[str, Any]) -> bytes:
    return json.dumps(entry).encode("ascii") + b"\n"


def _read(search: DeepSearch, seed: int, lines: Iterator[bytes]) -> None:
    """Add the planes and ridges of a file to a new search."""
    header = json.loads(next(lines, b""))
    if header["format"] != _FORMAT:
        raise ValueError("another format")
    if header["network"] != search.network.sha256:
        raise _ForeignError("the search of another network; name another file")
    if header["seed"] != seed:
        raise _ForeignError("a search with another seed; give this seed or name another file")
    if {key: header[key] for key in ("domain",) if key in header} != _name_of(search.domain):
        raise _ForeignError("a search on another domain; name another file")
    # first, so that the ridges of the file count as met by the last walk (`DeepSearch.is_idle`)
    search.walks = _natural(header["walks"], _MAX_WALKS)
    for line in lines:
        entry = json.loads(line)
        search.planes.append(Plane(*_plane(entry, search.network.num_inputs)))
        for ridge, location in _ridges(search, entry["ridges"]):
            search.add(ridge, location)
    search.random = Random(f"{seed}, {search.walks}")


def _plane(entry: Mapping[str, Any], inputs: int) -> Iterator[tuple[Any, ...]]:
    """Return the point and the directions of a plane."""
    yield _numbers(entry["point"], inputs)
    first, second = [_numbers(direction, inputs) for direction in entry["directions"]]
    if any(entry.denominator != 1 for direction in (first, second) for entry in direction):
        raise ValueError("a direction that is not of integers")
    yield tuple(map(int, first)), tuple(map(int, second))


def _numbers(entries: Sequence[str], count: int) -> tuple[Fraction, ...]:
    """Return a list of rational numbers of the given length."""
    if (
        not isinstance(entries, list)
        or len(entries) != count
        or not all(isinstance(entry, str) for entry in entries)
    ):
        raise ValueError(f"not {count} coordinates")
    return tuple(map(parse_rational, entries))


def _ridges(
    search: DeepSearch, entries: Iterable[Sequence[Any]]
) -> Iterator[tuple[Ridge, Location]]:
    """Return the ridges of the plane that was read last, with types and locations."""
    size = search.deep_network.size
    for u, v, mask_text, s, t in entries:
        mask = int(mask_text, 16)
        if (
            not _natural(u, size) < _natural(v, size)
            or mask < 0
            or mask >> size
            or mask >> u & 1
            or mask >> v & 1
        ):
            raise ValueError("a ridge with impossible neurons")
        if not all(
            type(coordinate) is float and math.isfinite(coordinate) for coordinate in (s, t)
        ):
            raise ValueError("a place that is no finite number")
        location = Location(len(search.planes) - 1, s, t)
        yield search.deep_network.ridge(u, v, mask), location


def _natural(number: Any, limit: int) -> int:
    """Check that a number is a natural number below a limit, and return it."""
    if type(number) is not int or not 0 <= number < limit:
        raise ValueError(f"{str(number)[:20]} is not a natural below {limit}")
    return number
