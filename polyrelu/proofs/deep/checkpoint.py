"""Theorem D: a search kept in a file, to be continued later (`save_search`, `load_search`).

A line of JSON says which network and seed it is; each line after it has a plane and the ridges that were met there. A
file is as long as the ridges are many, about 150 bytes each for a network with 300 neurons; a name that ends in .gz
packs it.

Nothing in a file is a proof. What is read is checked for its form, and the types of the ridges are worked out again;
that the planes meet the ridges is checked, exactly, for those that go into a certificate (`DeepSearch.confirms`).
"""

from __future__ import annotations

import gzip
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
from polyrelu.exact import format_rational, parse_rational
from polyrelu.network import Network
from polyrelu.proofs.deep.planes import Plane, Spot
from polyrelu.proofs.deep.ridges import Competitors, Ridge
from polyrelu.proofs.deep.search import DeepSearch
from polyrelu.support.text_files import write_all

__all__ = ["load_search", "save_search"]

_FORMAT = "polyrelu search of ridges 1"

#: A line of a file is not longer than this.
_LINE = 1 << 28


def save_search(search: DeepSearch, path: str | Path) -> None:
    """Write a search; an old file is replaced at the end, or not at all.

    Raises
    ------
    PolyreluError : the file cannot be written.
    """
    write_all([(Path(path), _lines(search))])


def load_search(
    network: Network, path: str | Path, seed: int, among: Competitors = "transversal"
) -> DeepSearch:
    """The search that was kept in a file, or a new one if there is no such file. A file serves all classes.

    Raises
    ------
    DomainError : the file is not a search, or one of another network or seed.
    """
    file, search = Path(path), DeepSearch(network, seed, among)
    if not file.exists():
        return search
    try:
        with gzip.open(file) if file.suffix == ".gz" else file.open("rb") as stream:
            _read(search, seed, iter(lambda: stream.readline(_LINE), b""))
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
        strange = isinstance(
            error, TypeError | LookupError
        )  # Python's words for these mean nothing to a reader
        text = (
            "an entry is missing or of another kind"
            if strange
            else " ".join(str(error).split())[:100]
        )
        raise DomainError(
            f"{file}: not a search of ridges ({text}); delete it or name another file"
        ) from None
    return search


class _ForeignError(Exception):
    """The file belongs to something else."""


def _lines(search: DeepSearch) -> Iterator[bytes]:
    header = {
        "format": _FORMAT,
        "network": search.network.sha256,
        "seed": search.seed,
        "walks": search.walks,
    }
    yield _line(header)
    met: defaultdict[int, list[list[Any]]] = defaultdict(list)
    for ridge, spot in search.ridges.items():
        met[spot.plane].append([ridge.u, ridge.v, f"{ridge.mask:x}", spot.s, spot.t])
    for number, ridges in met.items():
        plane = search.planes[number]
        directions = [list(map(str, direction)) for direction in plane.directions]
        yield _line(
            {
                "point": list(map(format_rational, plane.point)),
                "directions": directions,
                "ridges": ridges,
            }
        )


def _line(entry: Mapping[str, Any]) -> bytes:
    return json.dumps(entry).encode("ascii") + b"\n"


def _read(search: DeepSearch, seed: int, lines: Iterator[bytes]) -> None:
    header = json.loads(next(lines, b""))
    if header["format"] != _FORMAT:
        raise ValueError("another format")
    if header["network"] != search.network.sha256:
        raise _ForeignError("the search of another network; name another file")
    if header["seed"] != seed:
        raise _ForeignError("a search with another seed; give this seed or name another file")
    search.walks = _natural(
        header["walks"], 1 << 60
    )  # first, so that what is read counts as met now (`idle`)
    for line in lines:
        entry = json.loads(line)
        search.planes.append(Plane(*_plane(entry, search.network.inputs)))
        for ridge, spot in _ridges(search, entry["ridges"]):
            search.add(ridge, spot)
    search.random = Random(f"{seed}, {search.walks}")


def _plane(entry: Mapping[str, Any], inputs: int) -> Iterator[tuple[Any, ...]]:
    yield _numbers(entry["point"], inputs)
    first, second = [_numbers(direction, inputs) for direction in entry["directions"]]
    if any(entry.denominator != 1 for direction in (first, second) for entry in direction):
        raise ValueError("a direction that is not of integers")
    yield tuple(map(int, first)), tuple(map(int, second))


def _numbers(entries: Sequence[str], count: int) -> tuple[Fraction, ...]:
    if (
        not isinstance(entries, list)
        or len(entries) != count
        or not all(isinstance(entry, str) for entry in entries)
    ):
        raise ValueError(f"not {count} coordinates")
    return tuple(map(parse_rational, entries))


def _ridges(search: DeepSearch, entries: Iterable[Sequence[Any]]) -> Iterator[tuple[Ridge, Spot]]:
    size = search.space.size
    for u, v, mask, s, t in entries:
        on = int(mask, 16)
        if (
            not _natural(u, size) < _natural(v, size)
            or on < 0
            or on >> size
            or on >> u & 1
            or on >> v & 1
        ):
            raise ValueError("a ridge with impossible neurons")
        if not all(type(place) is float and math.isfinite(place) for place in (s, t)):
            raise ValueError("a place that is no finite number")
        yield search.space.ridge(u, v, on), Spot(len(search.planes) - 1, s, t)


def _natural(number: Any, limit: int) -> int:
    if type(number) is not int or not 0 <= number < limit:
        raise ValueError(f"{str(number)[:20]} is not a natural below {limit}")
    return number
