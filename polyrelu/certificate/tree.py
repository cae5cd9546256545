"""Certificates that are split trees: one JSON value a line, in prefix order (FORMAT.md, section 5).

A prover that splits polyhedra writes its nodes to a log while it searches; a log that grows large
lives in a temporary file. Only a complete proof becomes a certificate, with header, nodes and
footer in one file. The bytes of the lines are hashed in the footer, so that the log must not be
rewritten.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import tempfile
import weakref
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import IO, Any, ClassVar, cast

from polyrelu.certificate.beside import network_references
from polyrelu.certificate.certificate import Hypothesis, certificate_table, printable_remarks
from polyrelu.certificate.claims import BoundsClaim, ComplexClaim, PairClaim, RegionsClaim
from polyrelu.certificate.text import number_text
from polyrelu.errors import CertificateError
from polyrelu.exact import format_integer, format_rational
from polyrelu.support.arguments import expect, expect_one_of, expect_path
from polyrelu.support.display import bracketed, count_text
from polyrelu.support.limits import LINE_LIMIT
from polyrelu.support.text_files import write_all

__all__ = [
    "NodeRecord",
    "RegionsCertificate",
    "SignRecord",
    "TreeCertificate",
    "TreeFile",
    "TreeLog",
    "TreeRecord",
    "VertexCertificate",
    "VertexRecord",
]

#: Maximum number of bytes of a log in memory; a larger one goes to a temporary file.
_MEMORY_LIMIT = 1 << 24

#: A neuron: number of the network (0 or 1), layer from 1, index from 0.
NeuronPlace = tuple[int, int, int]


class TreeRecord(ABC):
    """What stands on one line of a tree file between header and footer."""

    __slots__ = ()

    @abstractmethod
    def to_json(self) -> Any:
        """Return the value of the line."""


@dataclass(frozen=True, slots=True, repr=False)
class SignRecord:
    """A proved bound of a form on the polyhedron of a node: sign · form ≥ value.

    An atom is the positive part of a form in earlier symbols (FORMAT.md, section 5); the record
    bounds the form of one atom. A value ≥ 0 gives the sign of the form, a negative value only a
    bound.

    Attributes
    ----------
    atom
        The number of the atom.
    sign
        1 or -1.
    value
        The bound.
    rows
        Nonnegative multipliers of the inequalities of the node, by number.
    slopes
        Slopes in [0, 1] of the linear bounds of atoms that the form contains, where they are not 0.
    has_unique_rows
        Whether these inequalities are independent, and their multiples leave no coordinate. Then
        the file has their numbers only: the checker finds the multipliers.

    Examples
    --------
    >>> SignRecord(0, 1, Fraction(0), {2: Fraction(1, 3)}, {}).to_json()
    [0, '+', '0', [[2, '1/3']], []]
    """

    atom: int
    sign: int
    value: Fraction
    rows: Mapping[int, Fraction]
    slopes: Mapping[int, Fraction]
    has_unique_rows: bool = False

    def to_json(self) -> list[Any]:
        """Return the record as it stands in a line of a node."""
        rows, slopes = (
            [[i, format_rational(entry)] for i, entry in sorted(part.items())]
            for part in (self.rows, self.slopes)
        )
        listed: list[Any] = sorted(self.rows) if self.has_unique_rows else rows
        mark = "+" if self.sign > 0 else "-"
        return [self.atom, mark, format_rational(self.value), listed, slopes]

    def __repr__(self) -> str:
        form = f"{'' if self.sign > 0 else '-'}form of atom {self.atom}"
        return bracketed(f"SignRecord, {form} ≥ {number_text(format_rational(self.value))}")


@dataclass(frozen=True, slots=True, repr=False)
class NodeRecord(TreeRecord):
    """A node of a split tree.

    Attributes
    ----------
    rounds
        Signs that were proved, in rounds; each round uses the forms that result from the signs of
        the rounds before it.
    split
        The atom whose form splits the node, first into the part where it is ≥ 0, then ≤ 0; None at
        a leaf.
    region
        At a leaf of a tree of regions a point strictly inside; None in other trees.

    Examples
    --------
    >>> NodeRecord([], split=3).to_json()
    {'signs': [], 'split': 3}
    """

    rounds: Sequence[Sequence[SignRecord]]
    split: int | None
    region: Sequence[Fraction] | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the node as it stands on its line."""
        signs = {"signs": [[record.to_json() for record in group] for group in self.rounds]}
        if self.split is not None:
            return signs | {"split": self.split}
        return signs | (
            {"leaf": "equal"}
            if self.region is None
            else {"region": list(map(format_rational, self.region))}
        )

    def __repr__(self) -> str:
        end = "leaf" if self.split is None else f"split by atom {self.split}"
        signs = count_text([(sum(map(len, self.rounds)), "sign")])
        return bracketed(f"NodeRecord, {signs}, {end}")


@dataclass(frozen=True, slots=True, repr=False)
class VertexRecord(TreeRecord):
    """A vertex of a complex, with the cells around it (FORMAT.md, section 5.3).

    Forms are numbered: the inequalities of the domain that are not constant, then the hidden
    neurons.

    Attributes
    ----------
    positive
        The forms that are positive at the vertex, as a mask.
    vanishing
        The forms that are 0 there, ascending.
    around
        The cells of one dimension more around the vertex, as the format lists them; None where the
        zeros are independent.

    Examples
    --------
    >>> VertexRecord(5, [1, 3]).to_json()
    ['5', [1, 3]]
    """

    positive: int
    vanishing: Sequence[int]
    around: Sequence[Any] | None = None

    def to_json(self) -> list[Any]:
        """Return the record as it stands on its line."""
        record: list[Any] = [format_integer(self.positive), self.vanishing]
        return record if self.around is None else [*record, self.around]

    def __repr__(self) -> str:
        return bracketed(f"VertexRecord, {count_text([(len(self.vanishing), 'zero')])}")


class TreeLog:
    """The node records of a tree, or the vertices of a complex, kept as lines.

    Attributes
    ----------
    nodes
        The number of nodes or vertices.
    size
        The number of bytes of all lines.
    longest
        The number of bytes of the longest line.

    Examples
    --------
    >>> log = TreeLog()
    >>> log.add(NodeRecord([], None))
    >>> log.nodes, log.size
    (1, 31)
    """

    def __init__(self) -> None:
        # The file lives as long as the log, for instance in a certificate.
        file = tempfile.SpooledTemporaryFile(max_size=_MEMORY_LIMIT)  # noqa: SIM115
        weakref.finalize(self, file.close)
        self._file = cast("IO[bytes]", file)
        self.nodes, self.size, self.longest = 0, 0, 0

    def __repr__(self) -> str:
        counts = count_text([(self.nodes, "node"), (self.size, "byte")])
        return bracketed(f"TreeLog, {counts}")

    def __len__(self) -> int:
        return self.nodes

    def add(self, record: TreeRecord) -> None:
        """Append a node or a vertex."""
        expect_one_of(record, (TreeRecord,), "record")
        marks = None if isinstance(record, NodeRecord) else (",", ":")
        line = f"{json.dumps(record.to_json(), separators=marks)}\n".encode("ascii")
        self._file.seek(0, os.SEEK_END)
        self._file.write(line)
        self.nodes += 1
        self.size += len(line)
        self.longest = max(self.longest, len(line))

    def lines(self) -> Iterator[bytes]:
        """Yield the lines, the first one first."""
        position = 0
        while True:
            self._file.seek(position)
            line = self._file.readline()
            if not line:
                return
            position = self._file.tell()
            yield line


class TreeFile(ABC):
    """A split tree as a file: header, nodes, footer."""

    __slots__ = ()

    claim: PairClaim | RegionsClaim | ComplexClaim | BoundsClaim
    log: TreeLog
    unverified: dict[str, str]
    #: What the lines between header and footer are.
    _unit: ClassVar[str] = "node"

    @property
    @abstractmethod
    def theorem(self) -> str:
        """The name of the theorem."""

    @property
    @abstractmethod
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """The hypotheses of the theorem, with evidence."""

    def _terms(self) -> dict[str, Any]:
        """Return the entries of the header between the claim and the remarks."""
        return {}

    def lines(self, target: Path | None = None) -> Iterator[bytes]:
        """Yield the lines of the file.

        With `target`, the path of the file, the header names large networks as files beside it;
        without `target` all networks stand in the header.
        """
        digest = hashlib.sha256()
        for line in itertools.chain([self._header(target)[0]], self.log.lines()):
            digest.update(line)
            yield line
        yield f"{json.dumps({'nodes': self.log.nodes, 'sha256': digest.hexdigest()})}\n".encode(
            "ascii"
        )

    def _header(self, target: Path | None) -> tuple[bytes, dict[Path, str]]:
        """Return the first line, and the texts of the network files beside the target."""
        beside: dict[Path, str] = {}
        claim = {
            "kind": self.claim.kind,
            **network_references(
                self.claim.networks,
                target,
                beside,
                pair=isinstance(self.claim, PairClaim | BoundsClaim),
            ),
            **self.claim.terms(),
        }
        header = {"format": "polyrelu-tree", "version": 1, "claim": claim, **self._terms()}
        line = (
            f"{json.dumps({**header, 'unverified': printable_remarks(self.unverified)})}\n".encode(
                "ascii"
            )
        )
        if len(line) > LINE_LIMIT:
            raise CertificateError(
                f"a first line of {len(line)} bytes is more than a certificate may have "
                f"({LINE_LIMIT})"
            )
        return line, beside

    def to_bytes(self) -> bytes:
        """Return the whole file, with all networks in its header."""
        return b"".join(self.lines())

    def save(self, path: str | Path) -> list[Path]:
        """Write the certificate and the large networks it names.

        The result lists the files, the certificate last. A name that ends in `.gz` is compressed.
        All files appear, or none and `PolyreluError` is raised.
        """
        target = expect_path(path, "path")
        return write_all([*self._header(target)[1].items(), (target, self.lines(target))])

    def __str__(self) -> str:
        return f"{self._heading()}: {self.claim}"

    def __repr__(self) -> str:
        return bracketed(f"{self._heading()}: {self.claim.summary}")

    def _heading(self) -> str:
        size = count_text([(self.log.nodes, self._unit)])
        return f"Certificate by '{self.theorem}', {size}"

    def _repr_html_(self) -> str:
        return certificate_table(self.claim, self.theorem, self.hypotheses, self.unverified)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class TreeCertificate(TreeFile):
    """A split tree that proves a claim about two networks, ready to be written.

    Attributes
    ----------
    claim
        The statement that is proved.
    point
        A point of the domain.
    log
        The nodes.
    lifted
        Neurons whose activations are coordinates of the tree in addition to the inputs; the
        activation is the positive part of the neuron's primitive form.
    parts
        Parts that add up to the difference of the functions, each with a tree of its own; none if
        one tree proves the whole difference. A part has a row for each row of the difference, and a
        row has coefficients by symbol.
    unverified
        Remarks for people, by key; no verdict depends on them.

    Examples
    --------
    >>> from polyrelu.exact import Polyhedron
    >>> from polyrelu.network import from_arrays
    >>> net, log = from_arrays([([[1]], [0])]), TreeLog()
    >>> log.add(NodeRecord([], None))
    >>> claim = PairClaim("equivalent", net, net, Polyhedron.universe(1))
    >>> certificate = TreeCertificate(claim, (Fraction(0),), log)
    >>> len(certificate.to_bytes().splitlines())
    3
    """

    claim: PairClaim
    point: tuple[Fraction, ...]
    log: TreeLog
    lifted: tuple[NeuronPlace, ...] = ()
    parts: tuple[tuple[Mapping[int, Fraction], ...], ...] = ()
    unverified: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        expect(self.claim, PairClaim, "claim")
        expect(self.point, tuple, "point")
        expect(self.log, TreeLog, "log")

    @property
    def theorem(self) -> str:
        """The name of the theorem."""
        return "tree"

    @property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """The hypotheses of the theorem, with evidence."""
        x = {"x": [format_rational(entry) for entry in self.point]}
        return Hypothesis("tree", "point", x), Hypothesis("tree", "tree", {"nodes": self.log.nodes})

    def _terms(self) -> dict[str, Any]:
        return {
            "lifted": [list(neuron) for neuron in self.lifted],
            "parts": [[_sparse_row(row) for row in part] for part in self.parts],
            "point": [format_rational(entry) for entry in self.point],
        }


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class RegionsCertificate(TreeFile):
    """A split tree with a leaf for each region of a network, ready to be written.

    Attributes
    ----------
    claim
        The statement that is proved.
    log
        The nodes.
    unverified
        Remarks for people, by key; no verdict depends on them.

    Examples
    --------
    >>> from polyrelu.exact import Polyhedron
    >>> from polyrelu.network import from_arrays
    >>> log = TreeLog()
    >>> log.add(NodeRecord([], None, region=(Fraction(0),)))
    >>> claim = RegionsClaim(from_arrays([([[1]], [0])]), Polyhedron.universe(1), 1)
    >>> RegionsCertificate(claim, log).to_bytes().splitlines()[1]
    b'{"signs": [], "region": ["0"]}'
    """

    claim: RegionsClaim
    log: TreeLog
    unverified: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        expect(self.claim, RegionsClaim, "claim")
        expect(self.log, TreeLog, "log")

    @property
    def theorem(self) -> str:
        """The name of the theorem."""
        return "regions"

    @property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """The hypotheses of the theorem, with evidence."""
        leaves = {"regions": self.claim.num_regions}
        return Hypothesis("regions", "cover", {"nodes": self.log.nodes}), Hypothesis(
            "regions", "inside", leaves
        )


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class VertexCertificate(TreeFile):
    """The vertices of a network, which prove how many regions or cells there are.

    Attributes
    ----------
    claim
        The statement that is proved.
    log
        The vertices.
    unverified
        Remarks for people, by key; no verdict depends on them.

    Examples
    --------
    >>> from polyrelu.exact import Polyhedron
    >>> from polyrelu.network import from_arrays
    >>> log = TreeLog()
    >>> log.add(VertexRecord(0, [0]))
    >>> net = from_arrays([([[1]], [0]), ([[1]], [0])])
    >>> claim = RegionsClaim(net, Polyhedron.universe(1), 2)
    >>> VertexCertificate(claim, log).to_bytes().splitlines()[1]
    b'["0",[0]]'
    """

    claim: RegionsClaim | ComplexClaim
    log: TreeLog
    unverified: dict[str, str] = field(default_factory=dict)
    _unit: ClassVar[str] = "vertex"

    def __post_init__(self) -> None:
        expect_one_of(self.claim, (RegionsClaim, ComplexClaim), "claim")
        expect(self.log, TreeLog, "log")

    @property
    def theorem(self) -> str:
        """The name of the theorem."""
        return "vertices" if isinstance(self.claim, RegionsClaim) else "complex"

    @property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """The hypotheses of the theorem, with evidence."""
        vertices = {"vertices": self.log.nodes}
        return tuple(Hypothesis(self.theorem, name, vertices) for name in ("vertices", "edges"))

    def _terms(self) -> dict[str, Any]:
        return {"vertices": self.log.nodes}


def _sparse_row(row: Mapping[int, Fraction]) -> list[list[Any]]:
    """Return the coefficients of a row as pairs of symbol and number."""
    return [[symbol, format_rational(entry)] for symbol, entry in sorted(row.items())]
