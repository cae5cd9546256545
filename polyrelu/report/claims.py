"""Answers of provers in a report: statement, hypotheses, certificate to download, commands."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from polyrelu.outcomes import Undecided
from polyrelu.proofs import identify, injective
from polyrelu.report.question import OpenEnd, Part, Question, sentence
from polyrelu.support.check_cost import CheckCost, budget_option, check_command, check_cost
from polyrelu.support.document import Attachment, Block, Listing, Paragraph, Table
from polyrelu.support.temporary import temporary_folder

__all__ = ["certificate_blocks", "identifiability_part", "injectivity_part"]

#: Shares of the budget.
_IDENTIFY, _INJECTIVE = 0.3, 0.1
#: Number of bytes from which a certificate is packed, and maximum size of the files of one.
_PACKED, _LARGEST = 200_000, 12_000_000

_TONES = {"proved": "good", "refuted": "bad", "undecided": "open"}


def identifiability_part(question: Question) -> Part:
    """Return the part about whether the function determines the parameters."""
    budget = question.share(_IDENTIFY)
    outcome: Any = identify(
        question.imported,
        question.domain,
        seed=question.seed,
        budget=budget,
        progress=question.progress,
    )
    blocks: list[Block] = [
        Paragraph(
            "Does the function determine the parameters, up to the order of hidden neurons and "
            "positive factors that scale them?"
        ),
        *_answer(outcome),
    ]
    if why := getattr(outcome, "explanation", ""):
        blocks.append(Paragraph(f"Why: {why}."))
    if isinstance(outcome, Undecided) and outcome.part is not None:
        blocks.append(Paragraph(str(outcome.part.certificate.claim), "proved in part", "open"))
    command = ["identify", question.name, "-o", f"{question.stem}.identify.cert.json"]
    proved = outcome.part if isinstance(outcome, Undecided) else outcome
    blocks += certificate_blocks(question, proved, "identify", command)
    found = _open(outcome, "whether the function determines the parameters")
    answers = {"identifiable": outcome.status, "identifiability_theorem": outcome.theorem}
    return Part("Identifiability", _short(outcome), tuple(blocks), answers, found)


def injectivity_part(question: Question) -> Part:
    """Return the part about whether different inputs have different outputs."""
    outcome = injective(
        question.imported,
        question.domain,
        seed=question.seed,
        budget=question.share(_INJECTIVE),
        progress=question.progress,
    )
    blocks: list[Block] = [
        Paragraph(f"Do different inputs on {question.domain_text} have different outputs?"),
        *_answer(outcome),
    ]
    command = ["injective", question.name, "-o", f"{question.stem}.injective.cert.json"]
    blocks += certificate_blocks(question, outcome, "injective", command)
    found = _open(outcome, "whether different inputs have different outputs")
    answers = {"injective": outcome.status}
    return Part("Injectivity", _short(outcome), tuple(blocks), answers, found)


def _answer(outcome: Any) -> Iterator[Block]:
    """Yield the statement of an outcome, and its hypotheses or what was tried."""
    yield Paragraph(sentence(outcome.statement), outcome.status, _TONES[outcome.status])
    if isinstance(outcome, Undecided):
        if outcome.attempts:
            tried = tuple((attempt.theorem, attempt.reason) for attempt in outcome.attempts)
            yield Table(("tried", "why it did not decide"), tried)
        return
    hypotheses = getattr(outcome.certificate, "hypotheses", ())
    if hypotheses:
        rows = tuple((h.id, h.statement, h.evidence.get("status", h.status)) for h in hypotheses)
        yield Table(("hypothesis", "statement", "status"), rows)


def _short(outcome: Any) -> str:
    """Return an answer in a few words."""
    if isinstance(outcome, Undecided):
        return f"undecided: {outcome.reason}"
    return f"{outcome.status}: {outcome.certificate.claim.summary}"


def _open(outcome: Any, what: str) -> tuple[OpenEnd, ...]:
    """Return what an outcome leaves open."""
    if not isinstance(outcome, Undecided):
        return ()
    return (OpenEnd(what, outcome.reason, tuple(map(str, outcome.next))),)


def certificate_blocks(
    question: Question, proved: Any, kind: str, command: Sequence[str]
) -> Iterator[Block]:
    """Yield the files of a certificate and the commands that check it; nothing without one."""
    if proved is None or proved.certificate is None:
        return
    certificate = proved.with_provenance(question.imported.provenance).certificate
    save, name = certificate.save, f"{question.stem}.{kind}.cert.json"
    files, cost = _files(save, name, is_in_haste=question.limits.seconds is not None)
    if sum(len(file.content) for file in files) > _LARGEST:
        yield Paragraph("The certificate is too large for this page. This command writes it:")
        yield Listing(f"polyrelu {_shell(command)}")
        return
    yield from files
    name = files[-1].name
    yield Paragraph(
        "Save the files in one folder. Either command checks the certificate; the second one "
        "needs Python and one file of polyrelu, nothing else:"
    )
    alone = f"python -I -S polyrelu/checker.py{budget_option(cost)} {name}"
    yield Listing(f"{check_command([name], cost)}\n{alone}")


def _files(
    save: Callable[[Path], list[Path]], name: str, *, is_in_haste: bool
) -> tuple[list[Attachment], CheckCost | None]:
    """Return the files of a certificate, and what its check costs, measured in haste or not.

    The certificate is the last file; a long one is packed.
    """
    with temporary_folder() as folder:
        written = save(Path(folder, name))
        if written[-1].stat().st_size > _PACKED:
            written = [*written[:-1], _packed(written[-1])]
        about = ["network file, keep it beside the certificate"] * (len(written) - 1)
        files = [
            Attachment(path.name, path.read_bytes(), text)
            for path, text in zip(written, [*about, "certificate"], strict=True)
        ]
        return files, check_cost(written, is_in_haste=is_in_haste)


def _packed(path: Path) -> Path:
    """Pack a file, with the same bytes every time; return its new path."""
    packed = path.with_name(f"{path.name}.gz")
    packed.write_bytes(gzip.compress(path.read_bytes(), 6, mtime=0))
    return packed


def _shell(words: Sequence[str]) -> str:
    import shlex

    return shlex.join(words)
