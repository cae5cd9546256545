"""What was read from a network file, how well the runtime agrees, and the sizes."""

from __future__ import annotations

from collections.abc import Iterator

from polyrelu.report.question import Part, Question, sentence
from polyrelu.support.document import Block, Paragraph, Table, facts

__all__ = ["reading_part"]

#: Maximum number of operations, notes and layers that are listed one by one.
_MAX_LISTED = 40


def reading_part(question: Question) -> Part:
    """Return the part about the file and the sizes of the network."""
    imported, network = question.imported, question.network
    compared = imported.comparison
    tone = "open" if compared.reason else "good"
    verdict = "not compared" if compared.reason else "compared"
    blocks: tuple[Block, ...] = (
        facts(_rows(question)),
        Paragraph(sentence(compared.reason or str(compared)), f"Runtime {verdict}", tone),
        _layers(question),
    )
    answers = {
        "sha256": network.sha256,
        "widths": list(network.widths),
        "parameters": network.num_parameters,
        "compared": not compared.reason,
    }
    short = f"{imported.format}: {network}; runtime {verdict}"
    return Part("What was read", short, blocks, answers)


def _rows(question: Question) -> Iterator[tuple[str, str]]:
    """Yield facts about the file and the network."""
    imported, network = question.imported, question.network
    steps = imported.steps[:_MAX_LISTED]
    more = len(imported.steps) - len(steps)
    yield "network", question.name
    yield "format", imported.format
    yield "architecture", str(network)
    yield "parameters", str(network.num_parameters)
    yield "numbers in the file", str(imported.num_stored or "")
    yield "weights", ", ".join(imported.dtypes)
    yield "rounding", imported.rounding
    yield "operations", " > ".join([*steps, *([f"… and {more} more"] if more > 0 else [])])
    yield from (("note", note) for note in imported.notes[:_MAX_LISTED])
    yield from (("caution", caveat) for caveat in imported.caveats)
    yield "sha256 of the file", imported.source_sha256
    yield "sha256 of the network", network.sha256


def _layers(question: Question) -> Table:
    """Return a table of the sizes of the layers, and of the zeros among their weights."""
    rows = []
    for number, layer in enumerate(question.network.layers[:_MAX_LISTED], 1):
        entries = sum(block.weight.nrows * block.weight.ncols for block in layer.blocks)
        sources = [block.source for block in layer.blocks]
        reads = ", ".join("the input" if s == 0 else f"layer {s}" for s in sources)
        rows.append((str(number), str(layer.bias.nrows), reads or "nothing", str(entries)))
    more = len(question.network.layers) - len(rows)
    if more > 0:
        rows.append(("…", "", f"{more} more layers", ""))
    return Table(("layer", "outputs", "reads", "entries of weights"), tuple(rows))
