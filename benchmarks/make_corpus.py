"""Write the corpus that the package ships: networks, exact answers, and certificates.

    python -m benchmarks.make_corpus                # writes polyrelu/corpus/data
    python -m benchmarks.make_corpus --only sliver  # checks the networks with this word, no files
    python -m benchmarks.make_corpus --jobs 2 --checkpoint FILE

Each answer is computed by the package (`corpus.answers`) and compared with brute force that shares
nothing with it (`corpus.truth`); where they contradict each other, the script ends without files.
Running it again gives the same bytes, on every machine: a test does so for a few networks.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.corpus.answers import Answered, answered
from benchmarks.corpus.degenerate import degenerate
from benchmarks.corpus.examples import example_networks
from benchmarks.corpus.pairs import pairs
from benchmarks.corpus.papers import papers
from benchmarks.corpus.plain import deep, plain, quantised
from benchmarks.corpus.shapes import shapes
from benchmarks.corpus.specimen import Specimen
from benchmarks.corpus.training import trained
from benchmarks.corpus.truth import untrue
from benchmarks.reporting import add_campaign_options, asked
from polyrelu.network import Network, to_document

__all__ = ["FOLDER", "VERSION", "index_entry", "pack_line", "specimens"]

FOLDER = Path(__file__).resolve().parent.parent / "polyrelu" / "corpus" / "data"

#: The version of the corpus, which grows when a network or an answer changes.
VERSION = 1

_FAMILIES: tuple[Callable[[], Iterator[Specimen]], ...] = (
    example_networks,
    plain,
    degenerate,
    quantised,
    deep,
    trained,
    papers,
    pairs,
    shapes,
)


def specimens() -> list[Specimen]:
    """Return all networks, in the order of the index."""
    return [specimen for family in _FAMILIES for specimen in family()]


def index_entry(specimen: Specimen, found: Answered) -> dict[str, Any]:
    """Return what the list says of a network."""
    network, complexes = specimen.network, found.answers["complexes"]
    return {
        "name": specimen.name,
        "kind": specimen.kind,
        "architecture": list(network.widths),
        "last": network.last,
        "domain": specimen.domain,
        "num_regions": complexes[1]["num_regions"] if complexes else None,
        "tags": list(specimen.tags),
        "sentence": specimen.sentence,
        "source": specimen.source,
        "claims": [
            {"text": claim.text, "holds": claim.holds, "why": claim.why}
            for claim in specimen.claims
        ],
        "sha256": network.sha256,
    }


def pack_line(specimen: Specimen, found: Answered) -> str:
    """Return the line of a network in the file of its kind."""
    return _compact(
        {
            "name": specimen.name,
            "network": to_document(specimen.network) if specimen.kind != "example" else None,
            "answers": found.answers,
            "certificates": {
                name: data.decode("ascii") for name, data in found.certificates.items()
            },
        }
    )


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def row_of(item: tuple[Specimen, dict[str, Network], Any]) -> dict[str, Any]:
    """Return what the files say of a network, and what brute force says against it."""
    specimen, networks, _ = item
    found = answered(specimen, networks)
    return {
        "entry": index_entry(specimen, found),
        "line": pack_line(specimen, found),
        "problems": list(untrue(specimen, found, networks)),
    }


def checked(word: str, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Return the rows of networks with a word; contradictions with brute force are an error."""
    chosen = specimens()
    networks = {specimen.name: specimen.network for specimen in chosen}
    items = dict[str, Any]()
    for specimen in chosen:
        if word in specimen.name:
            names = (specimen.name, *(name for name, _ in specimen.twins))
            others = {name: networks[name] for name in names}
            hashes = [network.sha256 for network in others.values()]
            items[specimen.name] = specimen, others, hashes
    rows = asked(row_of, items, {}, options)
    wrong = [f"{name}: {text}" for name, row in rows.items() for text in row["problems"]]
    if wrong:
        sys.exit("\n".join(wrong))
    return list(rows.values())


def write(folder: Path, rows: list[dict[str, Any]]) -> None:
    """Write the index and one file for each kind."""
    packs: dict[str, list[str]] = {}
    for row in rows:
        packs.setdefault(row["entry"]["kind"], []).append(row["line"])
    folder.mkdir(parents=True, exist_ok=True)
    head = f'{{"format": "polyrelu-corpus", "version": {VERSION}, "entries": [\n'
    lines = ",\n".join(_compact(row["entry"]) for row in rows)
    (folder / "index.json").write_text(f"{head}{lines}\n]}}\n", "utf-8", newline="\n")
    for kind, texts in packs.items():
        text = "".join(f"{line}\n" for line in texts)
        (folder / f"{kind}.jsonl").write_text(text, "utf-8", newline="\n")


def main() -> None:
    """Write the corpus, or check some networks."""
    parser = argparse.ArgumentParser(description="Write the corpus that the package ships.")
    parser.add_argument("--output", type=Path, default=FOLDER, help="the folder to write to")
    parser.add_argument("--only", metavar="WORD", help="check networks with this word; no files")
    add_campaign_options(parser)
    options = parser.parse_args()
    rows = checked(options.only or "", options)
    if options.only is None:
        write(options.output, rows)


if __name__ == "__main__":
    main()
