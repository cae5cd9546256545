"""Mutants of certificates: how many are refused, and whether the accepted ones are true.

    python -m benchmarks.certificate_mutations [--mutants 100000] [--seed 1]

The originals are certificates and tree files of small networks, for every theorem of the format:
most are written by the provers, some are hand-made ones of the format's own suite. A mutant has one
to three changes. Four of five mutants keep to the format as
far as single values go: numbers are negated, doubled, moved by one or exchanged, entries of lists
are dropped or swapped, words are replaced, and a change of one network is often made in the other
one too. The rest breaks the format. The hash of a changed network is computed anew, so that the
checker has to look at its content. An accepted mutant with another claim is judged by routes that
share nothing with the checker: brute force on all common cells, fibers, simulated runtimes, and the
prover on the changed network.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from random import Random
from typing import Any

from benchmarks.reporting import write_results
from polyrelu import checker
from tests.generators.certificate_mutants import (
    ORIGINALS,
    Path,
    changed,
    original,
    places,
    replaced,
    value_at,
)
from tests.generators.tree_documents import with_count, written
from tests.oracles.mutants import reason_it_is_true

#: Maximum number of changes of one mutant.
MAX_CHANGES = 3
#: Words of the format that mutants exchange.
WORDS = (
    *("all", "generic", "transversal", "regular", "affine", "relu", "float32", "float64"),
    *("verified", "open", "refuted", "every", "minors", "bias", "product", "+", "-"),
    *checker.THEOREMS,
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mutants", type=int, default=100_000, help="how many, of all originals")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    share, more = divmod(options.mutants, len(ORIGINALS))
    entries, false = dict[str, dict[str, int]](), list[str]()
    for number, name in enumerate(ORIGINALS):
        counts, found = verdicts_of(name, share + (number < more), options.seed)
        entries[name], false = dict(sorted(counts.items())), false + found
        print(name, entries[name], flush=True)
    total = sum((Counter(entry) for entry in entries.values()), Counter[str]())
    settings = {"mutants": options.mutants, "seed": options.seed}
    results = {**settings, "total": dict(sorted(total.items())), "originals": entries}
    write_results("certificate_mutations", {**results, "accepted and false": false})
    sys.exit(bool(false))


def verdicts_of(name: str, count: int, seed: int) -> tuple[Counter[str], list[str]]:
    """Return how often each verdict came, and the mutants that no reason was found for."""
    document, _ = original(name)
    counts, false = Counter[str](), list[str]()
    for mutant in mutants_of(document, count, Random(f"{seed} {name}")):
        is_tree = isinstance(mutant, list)
        data = written(with_count(mutant)) if is_tree else json.dumps(mutant).encode()
        verdict = checker.check_bytes(data).verdict
        if verdict != "accepted":
            counts[verdict] += 1
        elif reason := reason_it_is_true(document, mutant):
            counts[f"accepted: {reason}"] += 1
        else:
            counts["accepted without a reason"] += 1
            false.append(data.decode())
    return counts, false


def mutants_of(document: Any, count: int, rng: Random) -> Iterator[Any]:
    """Yield a number of documents that differ from the original."""
    while count:
        mutant, keeps_format = document, rng.random() < 0.8
        for _ in range(rng.randint(1, MAX_CHANGES)):
            found = places(mutant)
            path = rng.choice([p for p in found if not keeps_format or "unverified" not in p])
            old = value_at(mutant, path)
            values = list(_alike(old, rng) if keeps_format else changed(old, rng))
            if values:
                mutant = _with_value(mutant, path, rng.choice(values), rng)
        if mutant != document:
            count -= 1
            yield mutant


def _with_value(mutant: Any, path: Path, value: Any, rng: Random) -> Any:
    """Return a document with another value, half of the time in both networks."""
    paths = [path]
    if "inline" in path and "network" in path and rng.random() < 0.5:
        paths.append(tuple("other" if key == "network" else key for key in path))
    for place in paths:
        with contextlib.suppress(KeyError, IndexError, TypeError):
            mutant = replaced(mutant, place, value)
    return mutant


def _alike(value: Any, rng: Random) -> Iterator[Any]:
    """Yield values of the same shape."""
    if type(value) is int:
        yield from (value + 1, abs(value - 1), 0)
    elif isinstance(value, list) and value:
        yield from (value[1:], value[:-1], value[::-1])
        i, k = rng.randrange(len(value)), rng.randrange(len(value))
        yield [value[k] if j == i else x for j, x in enumerate(value)]
    elif isinstance(value, str) and value in WORDS:
        yield from WORDS
    elif isinstance(value, str):
        parts = value.split(" ")
        i, k = rng.randrange(len(parts)), rng.randrange(len(parts))
        for new in (*_numbers_near(parts[i]), parts[k]):
            yield " ".join([*parts[:i], new, *parts[i + 1 :]])


def _numbers_near(text: str) -> Iterator[str]:
    """Yield other rational numbers as a certificate spells them."""
    with contextlib.suppress(ValueError):
        x = Fraction(text)
        yield from map(str, (-x, x + 1, x - 1, 2 * x, x / 2, Fraction(0), Fraction(1)))


if __name__ == "__main__":
    main()
