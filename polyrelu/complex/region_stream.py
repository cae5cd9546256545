"""All regions of a complex, part by part, in as little memory as a part needs.

`count_regions` counts them and `save_region_stream` writes them to a file. The parts are tasks
(`polyrelu.support.parallel`), so that several processes or a cluster can do them and a checkpoint
can keep them; numbers, order and file do not depend on who does what.

The first neurons cut the whole domain, until there are more than a few hundred regions. These are
divided into slices, each of which is a task: the rest of the cuts, in parts of bounded size. A task
that has found enough regions leaves the other parts to further tasks, so that the longest task and
the largest result do not grow with the network. The place of a part is a path: the slice, then the
slice of this one, and so on.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, TypeAlias

from polyrelu.complex.engine.cells import CellArrays
from polyrelu.complex.engine.compiled import subdivision_of
from polyrelu.complex.engine.subdivision import Subdivision
from polyrelu.complex.frame import frame_of, need_few_cells
from polyrelu.complex.polyhedral_complex import PolyhedralComplex
from polyrelu.complex.region_columns import COLUMNS, NUMBER, chosen_columns, piece_of
from polyrelu.errors import DomainError
from polyrelu.exact import Polyhedron
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
#: Numbers of regions, and of bytes about them, from which a task leaves its other parts to further
#: tasks; and largest number of bytes in the result of a task.
_ENOUGH, _ENOUGH_BYTES, _MAX_BYTES = 1 << 15, 1 << 26, 1 << 30

_CHANGED = "the checkpoint has the result of another program; delete it or name another file"

#: The place of a part of the domain, and words of neurons whose cuts are left.
_Path: TypeAlias = tuple[int, ...]
_Left: TypeAlias = list[tuple[int, range]]
#: Numbers of regions from which the domain and a part are divided, and that are enough for a task.
_Sizes: TypeAlias = tuple[int, int, int]


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
    sizes: _Sizes

    def entries(self) -> dict[str, str]:
        """What a checkpoint compares."""
        return {
            "question": "regions",
            "version": __version__,
            "network": self.network.sha256,
            "domain": self.domain.sha256,
            "columns": " ".join(self.columns),
            "format": self.suffix,
            "parts": " ".join(map(str, (_NUM_TASKS, _LEAST_SLICE, *self.sizes))),
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
        found = _Found.unpacked(result)
        total, bounded = total + found.num_regions, bounded + found.num_bounded
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
    return _Question(network, polyhedron, columns, suffix, (_DIVIDED_FROM, _PART, _ENOUGH))


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
        _, slices, _ = _divided(question.network, question.domain, question.sizes, ())
        yield from run_tasks(
            _do,
            question,
            [(number,) for number in range(len(slices))],
            workers,
            kept,
            more=lambda result: _Found.unpacked(result).left,
            stage="computing regions",
            unit="parts of the domain",
            progress=progress,
        )


@lru_cache(maxsize=3)
def _divided(
    network: Network, domain: Polyhedron, sizes: _Sizes, path: _Path
) -> tuple[Subdivision, list[Any], _Left]:
    """Return a part that is divided, its slices, and the words left; the whole for no path."""
    divided_from, size, _ = sizes
    if path:
        parent, slices, left = _divided(network, domain, sizes, path[:-1])
        part = parent.part(_slice(slices, path[-1]))
        left = part.cut_while_small(left, size)
        return part, part.slices(size), left
    whole = subdivision_of(network, frame_of(network, domain))
    left = whole.undivided(divided_from)
    count = whole.num_cells(whole.frame.dimension)
    return whole, whole.slices(max(_LEAST_SLICE, count // _NUM_TASKS)), left


def _slice(slices: list[Any], number: int) -> Any:
    """Return a slice of a part; only a changed checkpoint names one that does not exist."""
    if not 0 <= number < len(slices):
        raise DomainError(_CHANGED)
    return slices[number]


def _do(question: _Question, task: _Path) -> bytes:
    """Compute the regions of a task: their numbers, their piece of the file, and what is left."""
    network, domain, (_, size, enough) = question.network, question.domain, question.sizes
    parent, slices, words = _divided(network, domain, question.sizes, task[:-1])
    waiting = [(task, parent, _slice(slices, task[-1]), words)]
    found = _Found()
    while waiting and not found.is_enough(enough):
        path, parent, top, words = waiting.pop()
        part = parent.part(top)
        left = part.cut_while_small(words, size)
        if left:
            parts = [((*path, n), part, top, left) for n, top in enumerate(part.slices(size))]
            waiting += reversed(parts)
        else:
            part.finish()
            cells = CellArrays(part, network.neurons)
            found.add(PolyhedralComplex(network, domain, cells, complete=True), question)
    found.left = [path for path, *_ in reversed(waiting)]
    return found.packed()


@dataclass
class _Found:
    """What a task has found: numbers of regions, pieces of the file, and paths that are left."""

    num_regions: int = 0
    num_bounded: int = 0
    pieces: list[bytes] = field(default_factory=list)
    left: list[_Path] = field(default_factory=list)

    def is_enough(self, num_regions: int) -> bool:
        """Whether the other parts are left to further tasks."""
        return self.num_regions >= num_regions or sum(map(len, self.pieces)) >= _ENOUGH_BYTES

    def add(self, part: PolyhedralComplex, question: _Question) -> None:
        """Add the regions of a part."""
        self.num_regions += part.num_regions
        self.num_bounded += part.num_bounded_regions
        if question.suffix:
            self.pieces.append(piece_of(part, question.columns, question.suffix))

    def packed(self) -> bytes:
        """Return a line of numbers, a line of paths, and the pieces, compressed."""
        numbers = [self.num_regions, self.num_bounded, *map(len, self.pieces)]
        paths = " ".join(".".join(map(str, path)) for path in self.left)
        head = f"{' '.join(map(str, numbers))}\n{paths}\n"
        return head.encode("ascii") + zlib.compress(b"".join(self.pieces), 1)

    @classmethod
    def unpacked(cls, result: bytes) -> _Found:
        """Read what `packed` has written.

        Raises
        ------
        DomainError
            It is something else, which only a checkpoint can hold that somebody has changed.
        """
        try:
            numbers, paths, packed = result.split(b"\n", 2)
            total, bounded, *lengths = map(int, numbers.split())
            left = [tuple(map(int, path.split(b"."))) for path in paths.split()]
            ends = list(accumulate(lengths, initial=0))
            if ends[-1] > _MAX_BYTES:
                raise ValueError("too large")
            unpacker = zlib.decompressobj()
            rest = unpacker.decompress(packed, ends[-1] + 1)
            is_whole = unpacker.eof and not unpacker.unused_data and len(rest) == ends[-1]
            if not is_whole or min(lengths, default=0) < 0:
                raise ValueError("another size")
        except (ValueError, zlib.error):
            raise DomainError(_CHANGED) from None
        pieces = [rest[start:end] for start, end in pairwise(ends)]
        return cls(total, bounded, pieces, left)


class _Writer:
    """Puts the pieces of a file together, and counts the regions in it."""

    def __init__(self, columns: tuple[str, ...]) -> None:
        self.columns, self.num_regions, self.num_bounded = columns, 0, 0

    def _parts(self, results: Iterator[bytes]) -> Iterator[tuple[int, bytes]]:
        """Yield the number of the first region of each piece, and the piece."""
        for result in results:
            found = _Found.unpacked(result)
            first = self.num_regions
            for piece in found.pieces:
                yield first, piece
                first += self._size(piece)
            self.num_regions += found.num_regions
            self.num_bounded += found.num_bounded

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
