"""Write the corpus that the package ships: networks, exact answers, and certificates.

    python -m benchmarks.make_corpus                # writes polyrelu/corpus/data
    python -m benchmarks.make_corpus --only sliver  # checks the networks with this word, no files

Each answer is computed by the package (`corpus.answers`) and compared with brute force that shares
nothing with it (`corpus.truth`); a contradiction ends the script. Running it again gives the same
bytes, on every machine: a test does so for a few networks.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Iterator
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
from polyrelu.network import to_document

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


def checked(
    chosen: Iterable[Specimen], networks: dict[str, Any]
) -> Iterator[tuple[Specimen, Answered]]:
    """Yield the answers of networks; a contradiction with brute force is an error."""
    for specimen in chosen:
        found = answered(specimen, networks)
        problems = list(untrue(specimen, found, networks))
        if problems:
            sys.exit(f"{specimen.name}: " + "; ".join(problems))
        print(specimen.name, file=sys.stderr)
        yield specimen, found


def write(folder: Path) -> None:
    """Write the index and one file for each kind."""
    chosen = specimens()
    networks = {specimen.name: specimen.network for specimen in chosen}
    entries: list[dict[str, Any]] = []
    packs: dict[str, list[str]] = {}
    for specimen, found in checked(chosen, networks):
        entries.append(index_entry(specimen, found))
        packs.setdefault(specimen.kind, []).append(pack_line(specimen, found))
    folder.mkdir(parents=True, exist_ok=True)
    head = f'{{"format": "polyrelu-corpus", "version": {VERSION}, "entries": [\n'
    lines = ",\n".join(map(_compact, entries))
    (folder / "index.json").write_text(f"{head}{lines}\n]}}\n", "utf-8", newline="\n")
    for kind, texts in packs.items():
        text = "".join(f"{line}\n" for line in texts)
        (folder / f"{kind}.jsonl").write_text(text, "utf-8", newline="\n")


def main() -> None:
    """Write the corpus, or check some networks."""
    parser = argparse.ArgumentParser(description="Write the corpus that the package ships.")
    parser.add_argument("--output", type=Path, default=FOLDER, help="the folder to write to")
    parser.add_argument("--only", metavar="WORD", help="check networks with this word; no files")
    options = parser.parse_args()
    if options.only is None:
        write(options.output)
        return
    chosen = specimens()
    networks = {specimen.name: specimen.network for specimen in chosen}
    for _ in checked((s for s in chosen if options.only in s.name), networks):
        pass


if __name__ == "__main__":
    main()
