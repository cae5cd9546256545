"""Both checkers on the same files: mutants of certificates, damaged bytes, and large pairs.

    python -m benchmarks.verified_checker mutants [--mutants 100000] [--damaged 20000] [--seed 1]
    python -m benchmarks.verified_checker refutations [the same options]
    python -m benchmarks.verified_checker regions [the same options]
    python -m benchmarks.verified_checker vertices [the same options]
    python -m benchmarks.verified_checker identified [the same options]
    python -m benchmarks.verified_checker speed

The second checker has to be built (`make -C verified`). The originals are certificates that provers
write for small networks: of the claims equivalent and not-equivalent for `mutants`, of the claim
not-identifiable for `refutations`, of the claim regions for `regions` (trees) and `vertices`, and
of the theorem shallow for `identified`. A mutant has one to three changes, most of which keep to
the format, and correct hashes; a damaged copy has some bits or bytes changed. The run fails if one
checker accepts what the other one does not, or if they accept different sentences. `speed` needs
the networks of the folder that the environment variable `POLYRELU_SHARED` names.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.certificate_mutations import mutants_of
from benchmarks.equivalence_networks import pairs
from benchmarks.reporting import write_results
from polyrelu import checker, equivalent
from polyrelu.cli.second_checker import SecondVerdict, disagreement
from polyrelu.outcomes import Equivalent, NotEquivalent
from tests.generators.damage import damaged
from tests.generators.files import NETS
from tests.generators.identified import identified
from tests.generators.refutations import refutations
from tests.generators.second_checker import (
    SecondChecker,
    by_vertices,
    covered,
    document_of,
    find_program,
    listed,
)
from tests.generators.tree_documents import with_count, written
from tests.oracles.judge import certificate_bytes

#: The number of random pairs, or of random networks, among the originals.
NUM_RANDOM = 60

#: The seeds of lists of regions; of each there is one for every kind of network and of domain.
LISTS = range(8)

Originals = list[tuple[str, bytes]]


#: Certificates that both checkers accept, by part.
MAKERS: dict[str, Callable[[], Iterator[tuple[str, bytes]]]] = {
    "mutants": lambda: covered(NUM_RANDOM),
    "refutations": lambda: refutations(NUM_RANDOM),
    "identified": lambda: identified(NUM_RANDOM),
    "regions": lambda: listed(LISTS),
    "vertices": lambda: by_vertices(LISTS),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=[*MAKERS, "speed"])
    parser.add_argument("--mutants", type=int, default=100_000, help="how many, of all originals")
    parser.add_argument("--damaged", type=int, default=20_000, help="how many damaged copies")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--suffix", default="", help="what is appended to the name of the record")
    options = parser.parse_args()
    program = find_program()
    if program is None:
        sys.exit("polyrelu-check-verified is not built; make -C verified")
    if options.part == "speed":
        write_results("verified_checker_speed", {"seconds": dict(speed(program))})
        return
    originals = list(MAKERS[options.part]())
    with tempfile.TemporaryDirectory() as folder:
        second = SecondChecker(program, Path(folder))
        results = compare(second, originals, options.mutants, options.damaged, options.seed)
        second.close()
    settings = {"mutants": options.mutants, "damaged": options.damaged, "seed": options.seed}
    name = "verified_checker" + ("" if options.part == "mutants" else f"_{options.part}")
    write_results(name + options.suffix, {**settings, **results})
    sys.exit(bool(results["accepted by one only"] or results["different sentences"]))


# -- mutants ---------------------------------------------------------------------------------------


def compare(
    second: SecondChecker, originals: Originals, num_mutants: int, num_damaged: int, seed: int
) -> dict[str, Any]:
    """The verdicts of both checkers on originals, mutants and damaged copies.

    Files on which the verdicts differ are in the results.
    """
    tables = {kind: Counter[str]() for kind in ("originals", "mutants", "damaged")}
    one_only, sentences, others = list[str](), list[str](), list[str]()
    for kind, name, data in files(originals, num_mutants, num_damaged, seed):
        first, other = checker.check_bytes(data), second.check(data)
        verdict = other["verdict"]
        tables[kind][f"{first.verdict}, {verdict}"] += 1
        same = first.verdict == verdict or verdict == "not covered"
        found = f"{name}: {first.step}, {first.got}; {other.get('step')}, {other.get('got')}: "
        if not same and "accepted" in (first.verdict, verdict):
            one_only.append(found + data.decode("latin-1"))
        elif not same:
            others.append(found)
        elif disagreement(first.verdict, first.got, first.statement, SecondVerdict(verdict, other)):
            sentences.append(found + data.decode("latin-1"))
    counts = {kind: dict(sorted(table.items())) for kind, table in tables.items()}
    return {
        "verdicts of checker.py and of the second checker": counts,
        "accepted by one only": one_only,
        "different sentences": sentences,
        "rejected by one, unreadable for the other": others,
    }


def files(
    originals: Originals, num_mutants: int, num_damaged: int, seed: int
) -> Iterator[tuple[str, str, bytes]]:
    """All originals, then an equal share of mutants and of damaged copies of each of them."""
    for name, data in originals:
        yield "originals", name, data
    for number, (name, data) in enumerate(originals):
        print(f"{number} of {len(originals)}: {name}", file=sys.stderr, flush=True)
        share = (num_mutants - number + len(originals) - 1) // len(originals)
        for mutant in mutants_of(document_of(data), share, Random(f"{seed} {name}")):
            yield "mutants", name, bytes_of(mutant)
        share = (num_damaged - number + len(originals) - 1) // len(originals)
        chance = Random(f"{seed} {name} damaged")
        for _ in range(share):
            yield "damaged", name, damaged(chance, data)


def bytes_of(document: Any) -> bytes:
    """The file of a mutant, with correct hashes and numbers of nodes."""
    if isinstance(document, list) and len(document) > 1:
        return written(with_count(document))
    has_claim = isinstance(document, dict) and isinstance(document.get("claim"), dict)
    return json.dumps(with_count([document])[0] if has_claim else document).encode()


# -- speed -----------------------------------------------------------------------------------------


def speed(program: str) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield CPU seconds of both checkers, the start of Python included, for pairs of networks."""
    first = [sys.executable, "-I", "-S", checker.__file__]
    with tempfile.TemporaryDirectory() as folder:
        for name, pair in pairs(NETS):
            path = Path(folder) / "pair.json"
            outcome = equivalent(*pair)
            assert isinstance(outcome, Equivalent | NotEquivalent), outcome
            path.write_bytes(certificate_bytes(outcome))
            entry = {"bytes": path.stat().st_size, "checker.py": best_seconds([*first, str(path)])}
            entry["second checker"] = best_seconds([program, str(path)])
            print(name, entry, flush=True)
            yield name, entry


def best_seconds(command: list[str]) -> float:
    """Return the user and system seconds of an accepted check, the least of three runs."""
    found = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        found.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return round(min(found), 3)


if __name__ == "__main__":
    main()
