"""What a report is about, and the parts that answer it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import PurePath
from typing import Any

from polyrelu.errors import DomainError
from polyrelu.exact import Polyhedron
from polyrelu.formats import Imported, Slice
from polyrelu.network import Network
from polyrelu.support.budget import Budget
from polyrelu.support.document import Block, Section
from polyrelu.support.progress import Progress

__all__ = ["OpenEnd", "Part", "Question", "sentence"]

#: Maximum number of characters of the name of a network in names of files.
_STEM_LENGTH = 40


@dataclass(frozen=True, slots=True)
class Question:
    """A network with everything that a report depends on.

    Attributes
    ----------
    imported
        The network and how it was read.
    name
        What the network is called, such as the name of its file.
    domain
        The domain that provers are asked about.
    domain_text
        The domain in words.
    shown
        The domain of the cells and pictures, of dimension 1 to 3; None where there is none.
    shown_text
        What is shown, in words.
    is_random
        Whether it is a random slice, so that a small part of it is as good as a large one.
    seed
        The seed of all searches.
    limits
        The budget of the whole report.
    work
        The units of work of the whole report; None for no limit.
    command
        The words of the command that makes this report, without limits.
    progress
        Called with the steps of the parts.
    """

    imported: Imported
    name: str
    domain: Polyhedron
    domain_text: str
    shown: Polyhedron | Slice | None
    shown_text: str
    is_random: bool
    seed: int
    limits: Budget
    work: float | None
    command: tuple[str, ...]
    progress: Progress | None = field(repr=False)

    def __reduce__(self) -> tuple[type[Question], tuple[Any, ...]]:
        """Send everything to another process but the progress, which is shown in this one."""
        return Question, (*(getattr(self, each.name) for each in fields(self)[:-1]), None)

    @property
    def network(self) -> Network:
        """The exact network."""
        return self.imported.network

    @property
    def shown_polyhedron(self) -> Polyhedron:
        """The domain of the cells and pictures as a polyhedron."""
        shown = self.shown.domain if isinstance(self.shown, Slice) else self.shown
        if shown is None:
            raise DomainError("nothing is shown")
        return shown

    @property
    def stem(self) -> str:
        """The begin of the names of files that belong to the report.

        It has letters, digits, dots, hyphens and underscores only.
        """
        stem = PurePath(self.name).name.rpartition(":")[2]
        safe = re.sub(r"[^A-Za-z0-9._-]+", "-", stem.split(".")[0]).strip("-.")
        return safe[:_STEM_LENGTH] or "network"

    def share(self, part: float) -> Budget:
        """Return a budget with a part of the work of the whole report."""
        return self.limits.part(None if self.work is None else part * self.work)


@dataclass(frozen=True, slots=True)
class OpenEnd:
    """A question without an answer.

    Attributes
    ----------
    question
        What is undecided.
    reason
        Why.
    next
        What to try, one line for each.
    """

    question: str
    reason: str
    next: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a report.

    Attributes
    ----------
    title
        The heading.
    short
        The answer in a few words.
    blocks
        What stands below it.
    answers
        The entries of the JSON object.
    open
        What this part leaves open.
    """

    title: str
    short: str
    blocks: tuple[Block, ...]
    answers: Mapping[str, Any]
    open: tuple[OpenEnd, ...] = ()

    @property
    def section(self) -> Section:
        """The section of the document."""
        return Section(self.title, self.blocks)


def sentence(text: str) -> str:
    """Return a text with a capital at its begin and a full stop at its end.

    >>> sentence("no theorem applied")
    'No theorem applied.'
    """
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."
