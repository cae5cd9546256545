"""Certificates that are split trees: one JSON value a line, in prefix order (FORMAT.md §5).

The nodes are written to a log while the search goes on; a log that grows large lives in a temporary
file. Only when the proof is complete a certificate is made of it: header, nodes, footer, under a
temporary name until it is whole."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import IO, Any, cast

from polyrelu.certificate.certificate import (
    Hypothesis,
    PairClaim,
    RegionsClaim,
    references,
    remarks,
)
from polyrelu.errors import CertificateError
from polyrelu.exact import format_rational
from polyrelu.support.limits import LINE_LIMIT
from polyrelu.support.text_files import write_all

__all__ = ["NodeRecord", "RegionsCertificate", "SignRecord", "TreeCertificate", "TreeLog"]

#: A log of more bytes than this goes to a temporary file.
_IN_MEMORY = 1 << 24

#: A neuron: number of the network (0 or 1), layer from 1, index from 0.
NeuronPlace = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class SignRecord:
    """sign · form ≥ value for an atom on the polyhedron of a node; value 0 gives a sign, a smaller
    one a bound.

    Attributes
    ----------
    atom : its number.
    rows : multipliers of the inequalities of the node.
    slopes : of atoms that the form contains, if they are not 0.
    """

    atom: int
    sign: int
    value: Fraction
    rows: Mapping[int, Fraction]
    slopes: Mapping[int, Fraction]

    def to_json(self) -> list[Any]:
        """As it stands in a node record."""
        rows, slopes = (
            [[i, format_rational(entry)] for i, entry in sorted(part.items())]
            for part in (self.rows, self.slopes)
        )
        return [self.atom, "+" if self.sign > 0 else "-", format_rational(self.value), rows, slopes]


@dataclass(frozen=True, slots=True)
class NodeRecord:
    """A node of the tree.

    Attributes
    ----------
    rounds : signs found, in rounds: the forms of a round are those after the round before.
    split : the atom at whose form the node is split, ≥ 0 first and ≤ 0 second; None at a leaf.
    region : at a leaf of a tree of regions, a point strictly inside.
    """

    rounds: Sequence[Sequence[SignRecord]]
    split: int | None
    region: Sequence[Fraction] | None = None

    def to_json(self) -> dict[str, Any]:
        """As it stands on its line."""
        signs = {"signs": [[record.to_json() for record in group] for group in self.rounds]}
        if self.split is not None:
            return signs | {"split": self.split}
        return signs | (
            {"leaf": "equal"}
            if self.region is None
            else {"region": list(map(format_rational, self.region))}
        )


class TreeLog:
    """The node records of a tree, kept as lines.

    >>> log = TreeLog()
    >>> log.add(NodeRecord([], None))
    >>> log.nodes, log.size
    (1, 31)
    """

    def __init__(self) -> None:
        file = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115 - lives as long as the log
        self._file = cast("IO[bytes]", file)
        self.nodes, self.size, self.longest = 0, 0, 0

    def add(self, record: NodeRecord) -> None:
        """Append a node."""
        line = f"{json.dumps(record.to_json())}\n".encode("ascii")
        self._file.seek(0, os.SEEK_END)
        self._file.write(line)
        self.nodes += 1
        self.size += len(line)
        self.longest = max(self.longest, len(line))

    def lines(self) -> Iterator[bytes]:
        """The lines from the first one on."""
        position = 0
        while True:
            self._file.seek(position)
            line = self._file.readline()
            if not line:
                return
            position = self._file.tell()
            yield line


class _TreeFile:
    """A split tree as a file: header, nodes, footer."""

    __slots__ = ()

    claim: PairClaim | RegionsClaim
    log: TreeLog
    unverified: dict[str, str]

    def _terms(self) -> dict[str, Any]:
        """What the header has beside the claim."""
        return {}

    def lines(self, target: Path | None = None) -> Iterator[bytes]:
        """The lines of the file. Without `target`, its path, all networks stand in the header; with
        it large ones are named as files beside it."""
        digest = hashlib.sha256()
        for line in itertools.chain([self._header(target)[0]], self.log.lines()):
            digest.update(line)
            yield line
        yield f"{json.dumps({'nodes': self.log.nodes, 'sha256': digest.hexdigest()})}\n".encode(
            "ascii"
        )

    def _header(self, target: Path | None) -> tuple[bytes, dict[Path, str]]:
        """The first line, and the text of the network files that belong beside the target."""
        beside: dict[Path, str] = {}
        claim = {
            "kind": self.claim.kind,
            **references(self.claim.networks, target, beside),
            **self.claim.terms(),
        }
        header = {"format": "polyrelu-tree", "version": 1, "claim": claim, **self._terms()}
        line = f"{json.dumps({**header, 'unverified': remarks(self.unverified)})}\n".encode("ascii")
        if len(line) > LINE_LIMIT:
            raise CertificateError(
                f"a first line of {len(line)} bytes is more than a certificate may have "
                f"({LINE_LIMIT})"
            )
        return line, beside

    def to_bytes(self) -> bytes:
        """The whole file in memory, all networks in its header."""
        return b"".join(self.lines())

    def save(self, path: str | Path) -> list[Path]:
        """Write the certificate and the large networks it speaks of; return the files, the
        certificate last.

        A name that ends in ``.gz`` is compressed. Raises `PolyreluError` if a file cannot be
        written; then nothing new is left behind."""
        target = Path(path)
        return write_all([*self._header(target)[1].items(), (target, self.lines(target))])


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class TreeCertificate(_TreeFile):
    """A split tree that proves a claim about two networks, ready to be written.

    Attributes ---------- claim : what is proved. point : a point of the domain. log : the nodes.
    lifted : neurons whose positive parts, of their primitive forms, are coordinates of their own in
    the tree. parts : parts of the difference that add up to it, each with a tree of its own; none
    means the whole. A part has a
        row for each row of the difference, by symbols.
    unverified : remarks for people that no verdict depends on.
    """

    claim: PairClaim
    point: tuple[Fraction, ...]
    log: TreeLog
    lifted: tuple[NeuronPlace, ...] = ()
    parts: tuple[tuple[Mapping[int, Fraction], ...], ...] = ()
    unverified: dict[str, str] = field(default_factory=dict)

    @property
    def theorem(self) -> str:
        """The name of the theorem."""
        return "tree"

    @property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """The hypotheses of the theorem."""
        x = {"x": [format_rational(entry) for entry in self.point]}
        return Hypothesis("tree", "point", x), Hypothesis("tree", "tree", {"nodes": self.log.nodes})

    def _terms(self) -> dict[str, Any]:
        return {
            "lifted": [list(neuron) for neuron in self.lifted],
            "parts": [[_sparse_row(row) for row in part] for part in self.parts],
            "point": [format_rational(entry) for entry in self.point],
        }

    def __str__(self) -> str:
        return f"Certificate by 'tree', {self.log.nodes} nodes: {self.claim}"

    def __repr__(self) -> str:
        return f"<{self}>"


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class RegionsCertificate(_TreeFile):
    """A split tree with a leaf for each region of a network, ready to be written.

    Attributes
    ----------
    claim : what is proved.
    log : the nodes.
    unverified : remarks for people that no verdict depends on.
    """

    claim: RegionsClaim
    log: TreeLog
    unverified: dict[str, str] = field(default_factory=dict)

    @property
    def theorem(self) -> str:
        """The name of the theorem."""
        return "regions"

    @property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """The hypotheses of the theorem."""
        leaves = {"regions": self.claim.count}
        return Hypothesis("regions", "cover", {"nodes": self.log.nodes}), Hypothesis(
            "regions", "inside", leaves
        )

    def __str__(self) -> str:
        return f"Certificate by 'regions', {self.log.nodes} nodes: {self.claim}"

    def __repr__(self) -> str:
        return f"<{self}>"


def _sparse_row(row: Mapping[int, Fraction]) -> list[list[Any]]:
    return [[symbol, format_rational(entry)] for symbol, entry in sorted(row.items())]
