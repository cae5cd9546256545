"""`report`: all parts within one budget, and the files of the document."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

from polyrelu.errors import DomainError
from polyrelu.exact import Polyhedron, RationalMatrix
from polyrelu.formats import DomainLike, NetworkLike, Slice, as_domain, as_imported
from polyrelu.plot.slices import slice_or_domain
from polyrelu.report.cells import cells_part, topology_part
from polyrelu.report.claims import identifiability_part, injectivity_part
from polyrelu.report.part_tasks import is_final, packed_part, part_from
from polyrelu.report.question import OpenEnd, Part, Question, sentence
from polyrelu.report.reading import reading_part
from polyrelu.report.symmetries import symmetry_part
from polyrelu.support.arguments import expect, expect_count, expect_function, expect_path
from polyrelu.support.budget import ENDINGS, BudgetLike, as_budget
from polyrelu.support.display import bracketed, count_text, html_table
from polyrelu.support.document import Block, Document, Paragraph, Section, Table
from polyrelu.support.html import document_page
from polyrelu.support.interrupts import deferred_interrupt
from polyrelu.support.latex import document_latex
from polyrelu.support.markdown import document_markdown
from polyrelu.support.parallel import Execution, Workers
from polyrelu.support.parallel.wire import packed, unpacked
from polyrelu.support.progress import Progress, ProgressStep, report as report_step
from polyrelu.support.text_files import write_all
from polyrelu.version import __version__

__all__ = ["REPORT_FORMATS", "Report", "report"]

REPORT_FORMATS = (".html", ".md", ".tex")
#: Units of work of a report, by default: about a minute.
BUDGET = 60_000
#: By how much larger the limit of the next report is.
_FACTOR = 10
#: Denominator of the coordinates of random points.
_GRID = 256

#: The parts, in the order of the page; the names are for progress, and for parts that fail.
_PARTS: tuple[tuple[str, str, Callable[[Question], Part]], ...] = (
    ("What was read", "the file", reading_part),
    ("Cells and pictures", "the cells of what is shown", cells_part),
    ("Topology of the decision boundary", "the topology of the decision boundary", topology_part),
    (
        "Identifiability",
        "whether the function determines the parameters",
        identifiability_part,
    ),
    (
        "Symmetries and fiber",
        "which other parameters have the same function",
        symmetry_part,
    ),
    ("Injectivity", "whether different inputs have different outputs", injectivity_part),
)


@dataclass(frozen=True, slots=True, repr=False)
class Report:
    """A report on a network, which is written as a page, as Markdown or as LaTeX.

    Attributes
    ----------
    document
        The sections, as data.
    answers
        The most important answers, as an object of JSON.
    open
        What is undecided, why, and what to try.

    Examples
    --------
    >>> from polyrelu.report import report
    >>> found = report("example:hidden", "box:-4,4", budget=1000)
    >>> found.answers["identifiable"], found.answers["regions"], len(found.open)
    ('refuted', 6, 0)
    """

    document: Document
    answers: dict[str, Any]
    open: tuple[OpenEnd, ...]

    def __repr__(self) -> str:
        count = count_text([(len(self.open), "open question")])
        return bracketed(f"{self.document.title}: {count}")

    def _repr_html_(self) -> str:
        return html_table(tuple(line.split(": ", 1)) for line in self.lines())  # type: ignore[misc]

    def lines(self) -> list[str]:
        """Return the answers in a few words, a line for each question."""
        table = self.document.sections[0].blocks[0]
        assert isinstance(table, Table)
        return [f"{title}: {short}" for title, short in table.rows]

    def html(self) -> str:
        """Return the report as one page in ASCII, with its pictures and certificates inside."""
        return document_page(self.document)

    def markdown(self) -> str:
        """Return the report as Markdown, which names its pictures and certificates."""
        return document_markdown(self.document)

    def latex(self) -> str:
        """Return the report as a document of LaTeX, which names its pictures and certificates."""
        return document_latex(self.document)

    def save(self, name: str | Path) -> list[Path]:
        """Write the report; Markdown and LaTeX with pictures and certificates beside it.

        Parameters
        ----------
        name
            The path of the file; its suffix decides about the format: .html, .md or .tex.

        Returns
        -------
        list of Path
            The files that were written, the report last.

        Raises
        ------
        DomainError
            The suffix is another one.
        PolyreluError
            A file cannot be written.
        """
        path = expect_path(name, "name")
        check_report_format(path)
        if path.suffix == ".html":
            return write_all([(path, self.html())])
        is_tex = path.suffix == ".tex"
        text, picture = (self.latex(), ".pdf") if is_tex else (self.markdown(), ".png")
        beside: list[tuple[Path, list[bytes]]] = [
            (path.with_name(f"{image.name}{picture}"), [image.render(picture)])
            for image in self.document.images
        ]
        beside += [(path.with_name(f.name), [f.content]) for f in self.document.attachments]
        return write_all([*beside, (path, [f"{text}\n".encode()])])


def check_report_format(path: str | Path) -> None:
    """Raise `DomainError` unless reports are written in the format of the file's suffix."""
    if Path(path).suffix not in REPORT_FORMATS:
        raise DomainError(
            f"{path}: a report is written as {', '.join(REPORT_FORMATS)}; choose one of these "
            "endings"
        )


def report(
    network: NetworkLike,
    domain: DomainLike = None,
    *,
    show: DomainLike | Slice = None,
    name: str | None = None,
    file: str | Path = "report.html",
    seed: int = 0,
    budget: BudgetLike = BUDGET,
    time_limit: float | None = None,
    memory_limit: int | None = None,
    progress: Progress | None = None,
    workers: Workers | None = None,
    checkpoint: str | Path | None = None,
) -> Report:
    """Make a report on a network: what was read, what is proved, pictures and certificates.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes, or what `polyrelu.read` returns.
    domain
        The domain that provers are asked about; R^n by default.
    show
        The domain of dimension 1 to 3 whose cells are counted and drawn, such as
        ``"slice:points.json"``, the plane through given points. By default it is `domain` if that
        has few dimensions, and otherwise the plane through three random points of it.
    name
        What the network is called in the report; by default the name of its file.
    file
        Where the report will be written, for the commands in it.
    seed
        The seed of the random points and of all searches.
    budget
        Units of work of the whole report, of about a millisecond, or a `Budget` with all limits;
        None for no limit. The searches of `identify` other than the one for ridges have their own
        units, in addition to its share.
    time_limit
        Seconds for the whole report; parts that are not finished then are undecided.
    memory_limit
        Limit of the memory of the process in MiB; no limit by default.
    progress
        Called with a `polyrelu.support.ProgressStep` before each part, and after each step of the
        provers and of the computation of cells; with workers, after each part.
    workers
        Who makes the parts (`polyrelu.support.parallel`), each of which is a task; None for this
        process.
    checkpoint
        A file that keeps the parts that are made; if it exists, the report goes on from there.
        Parts that a limit of time or memory has cut short are not kept.

    Returns
    -------
    Report
        The report, which can be saved.

    Raises
    ------
    NetworkError
        The network cannot be read.
    DomainError
        A domain is not understood, is empty, or has too many dimensions to be shown; or the
        checkpoint belongs to another question.
    ArgumentError
        An argument has a wrong type.

    Examples
    --------
    >>> found = report("example:xor", "box:0,1", budget=2000)
    >>> found.answers["injective"], found.answers["boundary_betti"]
    ('refuted', [1, 0, 0])
    >>> [section.title for section in found.document.sections][-2:]
    ['What is undecided, and what to try', 'How this report was made']
    """
    imported = as_imported(network)
    expect_function(progress, "progress")
    limits = as_budget(budget, time_limit, memory_limit)
    size = imported.network.num_inputs
    polyhedron = as_domain(domain, size)
    if polyhedron.is_empty():
        raise DomainError("the domain is empty, so that there is nothing to report")
    seed = expect_count(seed, "seed")
    shown, shown_text = _shown(polyhedron, _words(domain), show, seed, size)
    file = expect_path(file, "file")
    title = imported.source or "network" if name is None else expect(name, str, "name")
    question = Question(
        imported,
        title,
        polyhedron,
        _words(domain),
        shown,
        shown_text,
        show is None and isinstance(shown, Slice),
        seed,
        limits,
        limits.work,
        _command(title, file, domain, show, seed),
        progress,
    )
    entries = {} if checkpoint is None else _entries(question)
    with Execution.opened(workers, checkpoint, entries) as execution:
        parts = [_made(question, 0), *_others(question, execution)]
    return _assembled(question, parts)


def _entries(question: Question) -> dict[str, str]:
    """Return what a checkpoint compares."""
    shown = question.shown
    cells = shown.domain if isinstance(shown, Slice) else shown
    plane = (shown.origin, shown.directions) if isinstance(shown, Slice) else ()
    return {
        "question": "report",
        "version": __version__,
        "network": question.network.sha256,
        "file": question.imported.source_sha256,
        "domain": question.domain.sha256,
        "shown part": hashlib.sha256(
            f"{None if cells is None else cells.sha256} {plane}".encode()
        ).hexdigest(),
        "seed": str(question.seed),
        "budget": str(question.work),
        "command": shlex.join(question.command),
    }


def _words(domain: DomainLike | Slice) -> str:
    """Return a domain in words."""
    if domain is None:
        return "R^n"
    return domain if isinstance(domain, str) else "the given domain"


def _shown(
    domain: Polyhedron, words: str, show: DomainLike | Slice, seed: int, size: int
) -> tuple[Polyhedron | Slice | None, str]:
    """Return the domain of cells and pictures, and a sentence about it."""
    if show is not None:
        shown = slice_or_domain(show, size)
        part = shown.domain if isinstance(shown, Slice) else shown
        if not 1 <= part.dimension <= 3:
            raise DomainError(
                f"show: cells are shown in 1 to 3 dimensions, this domain has {part.dimension}: "
                "give a slice through two to four points, slice:FILE"
            )
        return shown, f"Shown is {_words(show)}"
    if domain.dimension == 0:
        return None, ""
    if domain.dimension <= 3:
        return domain, f"Shown is {words}"
    plane = _random_plane(domain, seed)
    return plane, (
        f"Shown is a plane through three random points p0, p1, p2 of the domain (seed {seed}), "
        "since no slice through points of yours was given"
    )


def _random_plane(domain: Polyhedron, seed: int) -> Slice:
    """Return the plane through three points of a domain, as far as its box has some."""
    rng, size = Random(seed), domain.ambient_dimension
    box = domain.bounding_box()
    lower, upper = box or ((Fraction(0),) * size, (Fraction(1),) * size)
    points = [
        [low + (high - low) * Fraction(rng.randrange(_GRID + 1), _GRID) for low, high in sides]
        for sides in [list(zip(lower, upper, strict=True))] * 3
    ]
    origin, *others = points
    directions = [tuple(a - b for a, b in zip(point, origin, strict=True)) for point in others]
    vectors = RationalMatrix.from_rows(directions).integer_rows()
    plane = Polyhedron.from_generators([origin], (), vectors, size)
    return Slice(plane.intersect(domain), tuple(origin), tuple(directions))


def _others(question: Question, execution: Execution) -> list[Part]:
    """Return all parts but what was read; where there are workers or a checkpoint, by tasks."""
    numbers, parts = range(1, len(_PARTS)), list[Part]()
    if execution.is_plain:
        return [_made(question, number) for number in numbers]
    with execution.stream(_do, question, keeps=is_final) as stream:
        for number in numbers:
            stream.add(packed(number))
        try:
            for number in numbers:
                report_step(question.progress, _PARTS[number][0], number, len(_PARTS), "parts")
                parts.append(part_from(stream.take()))
        except ENDINGS as error:
            if (why := question.limits.reason_of(error)) is None:
                raise
            parts += [_ended(question, number, why) for number in numbers[len(parts) :]]
    return parts


def _do(question: Question, task: bytes) -> bytes:
    """Make a part, as a function of a task."""
    return packed_part(question, _made(question, unpacked(task)))


def _made(question: Question, number: int) -> Part:
    """Return a part; where a limit ends it, it says so."""
    title, _, make = _PARTS[number]
    question = replace(question, progress=_progress_of(question.progress, title, number))
    with deferred_interrupt() as interrupt:
        limits = question.limits.with_interrupt(interrupt)
        try:
            if number:  # what was read is known already
                limits.check_others()
            return make(question)
        except ENDINGS as error:
            if (why := limits.reason_of(error)) is None or why == "interrupted":
                raise KeyboardInterrupt from None
        except DomainError as error:
            why = str(error)
    return _ended(question, number, why)


def _ended(question: Question, number: int, why: str) -> Part:
    """Return a part that has no answer."""
    title, what, _ = _PARTS[number]
    end = OpenEnd(what, why, _more(question, why))
    said = Paragraph(f"{sentence(why)}", "undecided", "open")
    return Part(title, f"undecided: {why}", (said,), {}, (end,))


def _progress_of(progress: Progress | None, title: str, number: int) -> Progress | None:
    """Report that a part begins; return what reports its steps as steps of the whole report."""
    if progress is None:
        return None

    def show(step: ProgressStep) -> None:
        """Report a step of the part."""
        details = {**step.details, step.unit: step.num_done}
        report_step(progress, f"{title}: {step.stage}", number, len(_PARTS), "parts", details)

    report_step(progress, title, number, len(_PARTS), "parts")
    return show


def _command(
    name: str, file: Path, domain: DomainLike, show: DomainLike | Slice, seed: int
) -> tuple[str, ...]:
    """Return the command of a report without limits; what is no text is not in it."""
    options = {"--domain": domain, "--show": show, "--seed": str(seed) if seed else None}
    words = ["polyrelu", "report", name, "-o", str(file)]
    for option, value in options.items():
        if isinstance(value, str):
            words += [option, value]
    return tuple(words)


def _more(question: Question, why: str) -> tuple[str, ...]:
    """Return the command of the same report with more of the limit that ended a part."""
    work, seconds = question.work, question.limits.seconds
    if "budget" in why and work is not None:
        work = max(_FACTOR * work, 1)
    elif "time limit" in why and seconds is not None:
        seconds = max(_FACTOR * seconds, 60)
    else:
        return ()
    words = list(question.command)
    if work != BUDGET:
        words += ["--budget", "inf" if work is None else f"{work:.15g}"]
    if seconds is not None:
        words += ["--time-limit", f"{seconds:.15g}"]
    if question.limits.megabytes is not None:
        words += ["--memory-limit", str(question.limits.megabytes)]
    return (f"allow more: {shlex.join(words)}",)


def _assembled(question: Question, parts: Sequence[Part]) -> Report:
    """Return the report of all parts."""
    open_ends = tuple(end for part in parts for end in part.open)
    answers: dict[str, Any] = {}
    for part in parts:
        answers |= part.answers
    sections = (
        Section("In short", (_summary(parts),)),
        *(part.section for part in parts),
        Section("What is undecided, and what to try", _open_blocks(open_ends)),
        Section("How this report was made", _made_by(question)),
    )
    return Report(Document(f"Report on {question.name}", sections), answers, open_ends)


def _summary(parts: Sequence[Part]) -> Table:
    """Return the answers in a few words as a table."""
    return Table((), tuple((part.title, part.short) for part in parts))


def _open_blocks(ends: Sequence[OpenEnd]) -> tuple[Block, ...]:
    """Return what is undecided as blocks."""
    if not ends:
        return (Paragraph("Nothing: every question above has an answer."),)
    rows = tuple((end.question, end.reason, "; ".join(end.next)) for end in ends)
    return (Table(("question", "why it is undecided", "what to try"), rows),)


def _made_by(question: Question) -> tuple[Block, ...]:
    """Return blocks about version, budget and the command."""
    work = "no limit" if question.work is None else f"{question.work:g} units of work"
    return (
        Paragraph(
            f"polyrelu {__version__}, seed {question.seed}, {work}. Claims are about the function "
            "of the exact weights in the file, in real arithmetic. Certificates rest on the "
            "theorems that they name and on the checker; counts of cells were computed in exact "
            "arithmetic. Only pictures are rounded."
        ),
    )
