"""Certificates of all regions and of all cells: by vertices, and by split trees.

    python -m benchmarks.cell_certificates [--part networks|attack] [--quick]

The first part measures both kinds of certificates on networks with fixed seeds, in one process: how
long the proof and its check take, and the bytes of the file. Times are CPU seconds on one thread.
The second part attacks certificates by vertices of small networks with integer weights, on domains
of all kinds: the f-vector that is accepted is compared with the complex, and damaged files, into
whose claims the numbers are put that the checker counts, must be refused or true.
"""

from __future__ import annotations

import argparse
import copy
import gzip
import json
import time
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from random import Random
from typing import Any, TypeVar

import numpy as np

from benchmarks.reporting import RESULTS, draw_bars, write_results
from polyrelu import Polyhedron, canonical_complex, certify_complex, certify_regions, checker
from polyrelu.network import Network, from_arrays
from polyrelu.outcomes import ComplexListed, RegionsListed
from tests.generators.quantised_networks import DOMAINS, KINDS, quantised_network, random_domain
from tests.generators.vertex_documents import DAMAGES, best_report, with_vertices

#: Widths, bits after the binary point (None: float64), whether the domain is [-1, 1]^n_0, and
#: whether a tree is made as well.
Measured = tuple[tuple[int, ...], int | None, bool, bool]
NETWORKS: tuple[Measured, ...] = (
    ((2, 40, 40, 1), None, False, True),
    ((3, 20, 20, 2), None, False, True),
    ((4, 12, 12, 1), None, False, True),
    ((2, 16, 16, 16, 1), None, True, True),
    ((3, 16, 16, 1), 1, True, True),
    ((2, 128, 128, 1), 10, True, False),
    ((2, 256, 256, 1), 10, True, False),
)
PARTS = ("networks", "attack")
#: Seconds below which the best of three runs counts.
BRIEF = 5
#: Numbers of networks whose f-vectors are compared, and of damaged files.
NUM_NETWORKS, NUM_MUTANTS = 1_200, 12_000

_T = TypeVar("_T")


def main() -> None:
    """Measure all networks, and attack."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="a small part, nothing is written")
    parser.add_argument("--part", choices=PARTS, help="one part, the other one stays as it is")
    options = parser.parse_args()
    parts = [options.part] if options.part else list(PARTS)
    file = RESULTS / "cell_certificates.json"
    old = json.loads(file.read_text()) if file.exists() else {}
    found = {part: old[part] for part in PARTS if part in old}
    if "networks" in parts:
        found["networks"] = _all_networks(NETWORKS[:1] if options.quick else NETWORKS)
    if "attack" in parts:
        quick = options.quick
        found["attack"] = _attack(30 if quick else NUM_NETWORKS, 200 if quick else NUM_MUTANTS)
        print(json.dumps(found["attack"]))
    if not options.quick:
        write_results("cell_certificates", {part: found[part] for part in PARTS if part in found})
        _draw(found["networks"])


def _all_networks(networks: Sequence[Measured]) -> dict[str, Any]:
    """The figures of all networks."""
    results: dict[str, Any] = {}
    for widths, bits, in_box, has_tree in networks:
        name = "-".join(map(str, widths)) + ("" if bits is None else f", {bits} bits")
        results[name] = _measured(widths, bits, in_box, has_tree)
        print(name, json.dumps(results[name]), flush=True)
    return results


def _draw(results: dict[str, Any]) -> None:
    """Draw the times of proofs and checks."""
    groups = {
        f"{name}\n{found['regions']:,} regions": {
            f"{step}, {kind}": found[kind][step]
            for kind in ("tree", "vertices", "complex")
            for step in ("proof", "check")
        }
        for name, found in results.items()
        if "tree" in found
    }
    title = "Proof and check: regions by a tree, regions by vertices, all cells by vertices"
    draw_bars("cell_certificates", groups, "CPU seconds", title)


def _network(widths: tuple[int, ...], bits: int | None) -> Network:
    rng = np.random.default_rng(list(widths))

    def rounded(values: Any) -> Any:
        return values if bits is None else np.round(values * 2**bits) / 2**bits

    return from_arrays(
        [
            (rounded(rng.normal(size=(m, n))), rounded(rng.normal(size=m)))
            for n, m in pairwise(widths)
        ]
    )


def _measured(
    widths: tuple[int, ...], bits: int | None, in_box: bool, has_tree: bool
) -> dict[str, Any]:
    """The figures of one network."""
    size = widths[0]
    domain = Polyhedron.box([-1] * size, [1] * size) if in_box else None
    cells, seconds = _timed(lambda: canonical_complex(_network(widths, bits), domain))
    found: dict[str, Any] = {
        "domain": "box" if in_box else "R^n",
        "f_vector": list(cells.f_vector),
        "regions": cells.num_regions,
        "vertices": _certified(lambda: certify_regions(cells, method="vertices")),
        "complex": _certified(lambda: certify_complex(cells)),
        "seconds of the complex": seconds,
    }
    if has_tree:
        found["tree"] = _certified(lambda: certify_regions(cells, method="tree"))
    return found


def _certified(prove: Callable[[], Any]) -> dict[str, Any]:
    """Seconds, bytes and units of one certificate."""
    outcome, proving = _timed(prove)
    assert isinstance(outcome, RegionsListed | ComplexListed)
    data = outcome.certificate.to_bytes()
    report, checking = _timed(lambda: checker.check_bytes(data))
    assert report.verdict == "accepted", report
    for _ in range(2 if proving + checking < BRIEF else 0):
        proving = min(proving, _timed(prove)[1])
        checking = min(checking, _timed(lambda: checker.check_bytes(data))[1])
    return {
        "proof": round(proving, 3),
        "check": round(checking, 3),
        "bytes": len(data),
        "gzip": len(gzip.compress(data, mtime=0)),
        "lines": outcome.certificate.log.nodes,
        "units": report.cost,
    }


def _timed(run: Callable[[], _T]) -> tuple[_T, float]:
    started = time.process_time()
    value = run()
    return value, round(time.process_time() - started, 3)


def _attack(num_networks: int, num_mutants: int) -> dict[str, Any]:
    """Accepted f-vectors against the complex, and damaged files."""
    rng, tried = Random(7), Counter[tuple[str, str]]()
    kinds = [kind for kind in KINDS if kind != "skip connections"]
    num_lists = num_false = number = 0
    while number < num_networks or sum(tried.values()) < num_mutants:
        network = quantised_network(rng.choice(kinds), rng)
        cells = canonical_complex(
            network, random_domain(rng.choice(list(DOMAINS)), network.num_inputs, rng)
        )
        outcome = certify_complex(cells)
        document = [json.loads(line) for line in outcome.certificate.lines()]  # type: ignore[union-attr]
        report, claim = best_report(document)
        number += 1
        num_lists += any(len(vertex) > 2 for vertex in document[1:-1])
        num_false += report.verdict != "accepted" or claim["f-vector"] != list(cells.f_vector)
        size = max(len(cells.neurons) + len(cells.domain.inequalities), 1)
        for name, damage in DAMAGES.items() if cells.num_regions <= 60 else ():
            vertices = copy.deepcopy(document[1:-1])
            damage(vertices, size, rng)
            if vertices == document[1:-1]:
                continue
            report, claim = best_report(with_vertices(document, vertices))
            is_true = claim["f-vector"] == list(cells.f_vector)
            verdict = report.verdict
            if verdict == "accepted" and not (is_true and len(vertices) == len(document) - 2):
                verdict = "accepted, false"
            tried[name, verdict] += 1
    table = {
        name: {verdict: count for (other, verdict), count in sorted(tried.items()) if other == name}
        for name in DAMAGES
    }
    return {
        "networks": number,
        "with lists": num_lists,
        "other f-vectors": num_false,
        "mutants": sum(tried.values()),
        "accepted, false": sum(n for (_, verdict), n in tried.items() if "false" in verdict),
        "by damage": table,
    }


if __name__ == "__main__":
    main()
