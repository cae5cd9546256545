"""All regions of a complex, part by part, in as little memory as a part needs.

`count_regions` counts them and `save_region_stream` writes them to a file. The parts are tasks
(`polyrelu.support.parallel`), so that several processes or a cluster can do them and a checkpoint
can keep them; numbers, order and file do not depend on who does what.

The first neurons cut the whole domain, until there are more than a few hundred regions. These are
divided into slices, each of which is a task: the rest of the cuts, in parts of bounded size.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from polyrelu.complex.engine.cells import CellArrays
from polyrelu.complex.engine.compiled import subdivision_of
from polyrelu.complex.engine.subdivision import Subdivision
from polyrelu.complex.frame import frame_of, need_few_cells
from polyrelu.complex.polyhedral_complex import PolyhedralComplex
from polyrelu.complex.region_columns import COLUMNS, NUMBER, chosen_columns, piece_of
from polyrelu.errors import DomainError
from polyrelu.exact import Polyhedron, format_integer
from polyrelu.formats import DomainLike, NetworkLike, as_domain, as_network
from polyrelu.network import Network
from polyrelu.support.arguments import expect_function, expect_path
from polyrelu.support.parallel import Checkpoint, Workers, run_tasks
from polyrelu.support.parquet import import_arrow, parquet_pieces, unpacked_table
from polyrelu.support.progress import Progress
from polyrelu.support.text_files import write_all
from polyrelu.version import __version__

__all__ = ["STREAM_FORMATS", "RegionTotals", "count_regions", "save_region_stream"]

#: Suffixes of the files that `save_region_stream` writes.
STREAM_FORMATS = (".csv", ".parquet")

#: Number of regions after the first cuts from which the domain is divided into tasks; the number of
#: tasks that are wanted then, and least number of these regions in a task.
_DIVIDED_FROM, _NUM_TASKS, _LEAST_SLICE = 512, 4096, 2
#: Number of regions from which a part of a task is divided further.
_PART = 4096


@dataclass(frozen=True, slots=True)
class RegionTotals:
    """How many regions there are.

    Attributes
    ----------
    num_regions, num_bounded_regions
        All regions, and the bounded ones.

    Examples
    --------
    >>> RegionTotals(7, 1).num_bounded_regions
    1
    """

    num_regions: int
    num_bounded_regions: int


@dataclass(frozen=True)
class _Question:
    """What all tasks share: the network, the domain, and what is said about each region."""

    network: Network
    domain: Polyhedron
    columns: tuple[str, ...]
    suffix: str

    def entries(self) -> dict[str, str]:
        """What a checkpoint compares."""
        parts = (self.domain.inequalities, self.domain.equations)
        text = "\n=\n".join(
            "\n".join(" ".join(map(format_integer, row)) for row in part) for part in parts
        )
        return {
            "question": "regions",
            "version": __version__,
            "network": self.network.sha256,
            "domain": hashlib.sha256(text.encode("ascii")).hexdigest(),
            "columns": " ".join(self.columns),
            "format": self.suffix,
            "parts": f"{_DIVIDED_FROM} {_NUM_TASKS} {_LEAST_SLICE} {_PART}",
        }


def count_regions(
    network: NetworkLike,
    domain: DomainLike = None,
    *,
    workers: Workers | None = None,
    checkpoint: str | Path | None = None,
    progress: Progress | None = None,
) -> RegionTotals:
    """Count the regions of a network without keeping them.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes.
    domain
        A nonempty polyhedron in R^{n_0}, or a text such as ``"box:-1,1"``; None for R^{n_0}.
    workers
        Who does the work (`polyrelu.support.parallel`); None for this process alone.
    checkpoint
        A file that keeps what is done; if it exists, the work goes on from there.
    progress
        Called with a `polyrelu.support.ProgressStep` after each task.

    Returns
    -------
    RegionTotals
        The numbers.

    Raises
    ------
    DomainError
        As for `canonical_complex`; or the checkpoint belongs to another question.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1], [1, 1]], [0, 0, -1]), ([[1, 1, 1]], [0])])
    >>> count_regions(net)
    RegionTotals(num_regions=7, num_bounded_regions=1)
    """
    question = _question(network, domain, (), "")
    total = bounded = 0
    for result in _results(question, workers, checkpoint, progress):
        regions, of_them_bounded, _ = _unpacked(result)
        total, bounded = total + regions, bounded + of_them_bounded
    return RegionTotals(total, bounded)


def save_region_stream(
    network: NetworkLike,
    domain: DomainLike,
    name: str | Path,
    *,
    columns: object = None,
    workers: Workers | None = None,
    checkpoint: str | Path | None = None,
    progress: Progress | None = None,
) -> RegionTotals:
    """Write all regions of a network to a file, without keeping them in memory.

    Parameters
    ----------
    network, domain
        As for `count_regions`.
    name
        The file, .csv or .parquet; it is written completely or not at all.
    columns
        Names of columns besides the number of the region; None for all: signs, bounded, facets,
        interior_point, outputs (at that point), largest (output there), affine_map. Points and maps
        take most of the time.
    workers, checkpoint, progress
        As for `count_regions`.

    Returns
    -------
    RegionTotals
        The numbers of regions.

    Raises
    ------
    DomainError
        As for `count_regions`; or the file has another suffix, or there is no such column.
    PolyreluError
        The file cannot be written, or pyarrow is not installed.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[2]], [-1]), ([["1/3"]], [0])])
    >>> with TemporaryDirectory() as folder:
    ...     totals = save_region_stream(net, None, f"{folder}/regions.csv")
    ...     print(Path(f"{folder}/regions.csv").read_text().rstrip())
    region,signs,bounded,facets,interior_point,outputs,largest,affine_map
    0,+,0,1,2,1,0,2/3 -1/3
    1,-,0,1,0,0,0,0 0
    """
    path, chosen = expect_path(name, "name"), chosen_columns(columns)
    if path.suffix not in STREAM_FORMATS:
        raise DomainError(
            f"{name}: a stream of regions is written as {', '.join(STREAM_FORMATS)}; choose one of "
            "these endings"
        )
    if path.suffix == ".parquet":
        import_arrow()
    question = _question(network, domain, chosen, path.suffix)
    writer = _CsvWriter(chosen) if path.suffix == ".csv" else _ParquetWriter(chosen)
    pieces = writer.pieces(_results(question, workers, checkpoint, progress))
    write_all([(path, pieces)])
    return RegionTotals(writer.num_regions, writer.num_bounded)


def _question(
    network: NetworkLike, domain: DomainLike, columns: tuple[str, ...], suffix: str
) -> _Question:
    network = as_network(network)
    polyhedron = as_domain(domain, network.num_inputs)
    need_few_cells(network, polyhedron)
    return _Question(network, polyhedron, columns, suffix)


def _results(
    question: _Question,
    workers: Workers | None,
    checkpoint: str | Path | None,
    progress: Progress | None,
) -> Iterator[bytes]:
    """Yield the results of the tasks in order."""
    expect_function(progress, "progress")
    with ExitStack() as stack:
        kept = None
        if checkpoint is not None:
            kept = stack.enter_context(Checkpoint(checkpoint, question.entries()))
        tasks = range(len(_begun(question)[1]))
        yield from run_tasks(
            _do,
            question,
            tasks,
            workers,
            kept,
            stage="computing regions",
            unit="parts of the domain",
            progress=progress,
        )


def _begun(question: _Question) -> tuple[Subdivision, list[Any], list[tuple[int, range]]]:
    """Return the subdivision before the first division, the slices, and the words left."""
    return _cached_beginning(question.network, question.domain)


@lru_cache(maxsize=1)
def _cached_beginning(
    network: Network, domain: Polyhedron
) -> tuple[Subdivision, list[Any], list[tuple[int, range]]]:
    subdivision = subdivision_of(network, frame_of(network, domain))
    left = subdivision.undivided(_DIVIDED_FROM)
    count = subdivision.num_cells(subdivision.frame.dimension)
    return subdivision, subdivision.slices(max(_LEAST_SLICE, count // _NUM_TASKS)), left


def _do(question: _Question, task: int) -> bytes:
    """Compute the regions of a task: their numbers, and their piece of the file."""
    subdivision, slices, left = _begun(question)
    neurons, pieces, total, bounded = question.network.neurons, list[bytes](), 0, 0
    for finished in subdivision.part(slices[task]).finished_parts(left, _PART):
        part = PolyhedralComplex(
            question.network, question.domain, CellArrays(finished, neurons), complete=True
        )
        total += part.num_regions
        bounded += part.num_bounded_regions
        if question.suffix:
            pieces.append(piece_of(part, question.columns, question.suffix))
    return _packed(total, bounded, pieces)


def _packed(total: int, bounded: int, pieces: list[bytes]) -> bytes:
    """Return a result: a line of numbers, then the pieces, compressed."""
    head = " ".join(map(str, [total, bounded, *map(len, pieces)]))
    return zlib.compress(b"\n".join([head.encode("ascii"), b"".join(pieces)]), 1)


def _unpacked(result: bytes) -> tuple[int, int, list[bytes]]:
    """Return the number of regions, of bounded ones, and the pieces."""
    head, _, rest = zlib.decompress(result).partition(b"\n")
    total, bounded, *lengths = map(int, head.split())
    pieces = []
    for length in lengths:
        pieces.append(rest[:length])
        rest = rest[length:]
    return total, bounded, pieces


class _Writer:
    """Puts the pieces of a file together, and counts the regions in it."""

    def __init__(self, columns: tuple[str, ...]) -> None:
        self.columns, self.num_regions, self.num_bounded = columns, 0, 0

    def _parts(self, results: Iterator[bytes]) -> Iterator[tuple[int, bytes]]:
        """Yield the number of the first region of each piece, and the piece."""
        for result in results:
            total, bounded, pieces = _unpacked(result)
            first = self.num_regions
            for piece in pieces:
                yield first, piece
                first += self._size(piece)
            self.num_regions += total
            self.num_bounded += bounded

    def _size(self, piece: bytes) -> int:
        raise NotImplementedError


class _CsvWriter(_Writer):
    def pieces(self, results: Iterator[bytes]) -> Iterator[bytes]:
        """Yield the file."""
        yield ",".join([NUMBER, *self.columns]).encode("ascii") + b"\n"
        for first, piece in self._parts(results):
            lines = piece.split(b"\n")[:-1]
            comma = b"," if self.columns else b""
            numbered = (b"%d%s%s\n" % (n, comma, line) for n, line in enumerate(lines, first))
            yield b"".join(numbered)

    def _size(self, piece: bytes) -> int:
        return piece.count(b"\n")


class _ParquetWriter(_Writer):
    def pieces(self, results: Iterator[bytes]) -> Iterator[bytes]:
        """Yield the file, a group of rows after the other."""
        table = {NUMBER: "large"} | {name: COLUMNS[name].kind for name in self.columns}
        return parquet_pieces(table, self._tables(results))

    def _tables(self, results: Iterator[bytes]) -> Iterator[Any]:
        """Yield the tables of the pieces, with the numbers of the regions."""
        arrow = import_arrow()
        for first, piece in self._parts(results):
            table = unpacked_table(piece)
            numbers = arrow.array(range(first, first + table.num_rows), arrow.int64())
            yield table.add_column(0, NUMBER, numbers)

    def _size(self, piece: bytes) -> int:
        return int(unpacked_table(piece).num_rows)
