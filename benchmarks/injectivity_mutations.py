"""Every mutant of the certificates about injectivity, and brute force for those it accepts.

    python -m benchmarks.injectivity_mutations [--only inverse-lipschitz] [--every 1]

The originals are the files of the format's own suite for the claims injective, not-injective and
inverse-lipschitz. Each value in them, and each object and list, is replaced in turn by every one of
its variants. The tests take a share of the same mutants (`tests/checker/test_mutations.py`).
Accepted mutants with another claim are judged by pairs of activation patterns, or by quotients on a
grid, each for some seconds at most.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks.reporting import write_results
from polyrelu import checker
from tests.generators.certificates import VALID, leaves, put, rehash, variants
from tests.oracles.mutants import reason_it_is_true

#: The beginnings of the names of the originals.
KINDS = ("collision", "injective", "inverse-lipschitz")
#: CPU seconds after which a mutant is left without a judgement: patterns with long numbers.
JUDGE_SECONDS = 0.05


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="beginning of the names of the originals")
    parser.add_argument("--every", type=int, default=1, help="take every n-th mutant")
    options = parser.parse_args()
    files, false = dict[str, Any](), list[str]()
    for path in VALID:
        if path.stem.startswith(KINDS) and path.stem.startswith(options.only):
            started = time.process_time()
            counts, found, longest = _verdicts(path, options.every)
            seconds = round(time.process_time() - started, 1)
            files[path.stem] = {**sorted_counts(counts), "seconds": seconds, "longest": longest}
            false += found
            print(path.stem, files[path.stem], flush=True)
    total = sum((Counter(_verdicts_only(entry)) for entry in files.values()), Counter[str]())
    results = {"mutants": total.total(), "total": sorted_counts(total), "originals": files}
    write_results("injectivity_mutations", {**results, "accepted and false": false})
    sys.exit(bool(false))


def sorted_counts(counts: Counter[str]) -> dict[str, int]:
    """The counts in the order of their names."""
    return dict(sorted(counts.items()))


def _verdicts_only(entry: dict[str, Any]) -> dict[str, int]:
    return {key: value for key, value in entry.items() if key not in ("seconds", "longest")}


def _verdicts(path: Path, every: int) -> tuple[Counter[str], list[str], float]:
    """How often each verdict came, mutants without a reason, seconds of the longest check."""
    document = json.loads(path.read_text())
    counts, false, longest = Counter[str](), list[str](), 0.0
    for mutant in islice(_mutants(document), 0, None, every):
        data = json.dumps(mutant).encode()
        started = time.process_time()
        verdict = checker.check_bytes(data).verdict
        longest = max(longest, time.process_time() - started)
        if verdict != "accepted":
            counts[verdict] += 1
            continue
        try:
            reason = _judged(document, mutant)
        except TimeoutError:
            counts["accepted, and the judge gave up"] += 1
            continue
        if reason:
            counts[f"accepted: {reason}"] += 1
        else:
            counts["accepted without a reason"] += 1
            false.append(data.decode())
    return counts, false, round(longest, 3)


def _judged(document: Any, mutant: Any) -> str:
    """Why a mutant is true; TimeoutError after some CPU seconds."""

    def stop(_number: int, _frame: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, JUDGE_SECONDS)
    try:
        return reason_it_is_true(document, mutant)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def _mutants(document: Any) -> Iterator[Any]:
    """Yield the documents that differ from the original, with hashes of what they contain."""
    text = json.dumps(document)
    for place, value in leaves(document):
        for new in variants(value):
            changed = put(document, place, new)
            if json.dumps(changed) == text:
                continue
            if place[:1] == ("claim",) and isinstance(changed, dict) and "sha256" not in place:
                rehash(changed)
            yield changed


if __name__ == "__main__":
    main()
