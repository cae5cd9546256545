"""The recipe of VNN-COMP 2026, isomorphic_acasxu: networks against copies with noise.

    POLYRELU_SHARED=… python -m benchmarks.isomorphic [--parts search certificates proofs pruned]

search: five ACAS Xu networks against copies with N(0, 0.001) on every weight (seeds 0 to 8, fixed
before the first run, none drawn again), the claim max |f - g| ≤ 0.05 on the box of the benchmark,
with at most 200 CPU seconds of search in floats (100 seconds on two cores). certificates: the same
claims with a certificate, which is checked, the pairs with the fewest boxes first. proofs: the same
for all other pairs, with at most 200 CPU seconds and without the check, which may take an hour.
pruned: copies without some neurons. Results are written after each pair, and a pair that has a
result is not run again. CPU seconds of one thread; the files are not part of the project.
"""

from __future__ import annotations

import argparse
import json
from fractions import Fraction

import numpy as np

import polyrelu
from benchmarks.deviation import BOX, NETS, Record, arrays, certified, searched, within_time
from benchmarks.reporting import RESULTS, write_results
from polyrelu import Network

NAME = "deviation_isomorphic"
NAMES = ("1_1", "2_1", "5_1", "3_7", "4_6")
NUM_SEEDS = 9
#: CPU seconds of a search in floats.
SECONDS = 200
#: The claim of all pairs.
LIMIT = Fraction(1, 20)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parts = {
        "search": _search,
        "certificates": _certificates,
        "proofs": _proofs,
        "pruned": _pruned,
    }
    parser.add_argument("--parts", nargs="+", choices=list(parts), default=list(parts))
    parser.add_argument("--most", type=int, default=15, help="number of certificates")
    chosen = parser.parse_args()
    results = _results()
    for name in chosen.parts:
        parts[name](results, chosen.most)


def _results() -> Record:
    """Return what an earlier run found."""
    path = RESULTS / f"{NAME}.json"
    found: Record = json.loads(path.read_text()) if path.exists() else {}
    return found


def _pair(name: str, seed: int) -> tuple[Network, Network]:
    """Return a network and its copy with noise."""
    net = polyrelu.load(str(NETS / "pairs" / f"acasxu_{name}.onnx"))
    random = np.random.default_rng(seed)
    layers = [(w + 0.001 * random.standard_normal(w.shape), b) for w, b in arrays(net)]
    return net, polyrelu.from_arrays(layers)


def _write(results: Record, record: Record) -> None:
    pairs = results["pairs"].values()
    results["closed"] = sum(pair["is_closed"] for pair in pairs)
    results["run"] = len(pairs)
    checks = [pair["certificate"]["check"] for pair in pairs if "certificate" in pair]
    results["accepted"] = checks.count("accepted")
    write_results(NAME, results, is_shown=False)
    print(record, flush=True)


def _search(results: Record, _: int) -> None:
    """Search in floats, all pairs."""
    pairs = results.setdefault("pairs", {})
    domain = polyrelu.parse_domain(BOX, 5)
    for name in NAMES:
        for seed in range(NUM_SEEDS):
            key = f"{name}, seed {seed}"
            if key not in pairs:
                pairs[key] = searched(*_pair(name, seed), domain, LIMIT, SECONDS)
                _write(results, {key: pairs[key]})


def _certificates(results: Record, most: int) -> None:
    """Make and check certificates of some pairs."""
    closed = {key: pair for key, pair in results["pairs"].items() if pair["is_closed"]}
    for key in sorted(closed, key=lambda key: closed[key]["boxes"])[:most]:
        name, seed = key.split(", seed ")
        if "certificate" not in closed[key]:
            pair = _pair(name, int(seed))
            closed[key]["certificate"] = certified(*pair, BOX, at_most=LIMIT, budget=None)
            _write(results, {key: closed[key]["certificate"]})


def _proofs(results: Record, _: int) -> None:
    """Make certificates of all other pairs."""
    for key, pair in results["pairs"].items():
        if not pair["is_closed"] or "certificate" in pair or "proof" in pair:
            continue
        name, seed = key.split(", seed ")
        pair["proof"] = within_time(*_pair(name, int(seed)), BOX, SECONDS, at_most=LIMIT)
        results["proved"] = sum(
            entry.get("proof", entry.get("certificate", {})).get("status") == "proved"
            for entry in results["pairs"].values()
        )
        _write(results, {key: pair["proof"]})


def _pruned(results: Record, _: int) -> None:
    """Ask about copies without some neurons."""
    net = polyrelu.load(str(NETS / "pairs" / "acasxu_1_1.onnx"))
    for share in (5, 10):
        copy = polyrelu.load(str(NETS / "pairs" / f"acasxu_1_1_pruned{share}.onnx"))
        results[f"pruned {share} %"] = certified(net, copy, BOX, at_most=LIMIT, budget=None)
        _write(results, {f"{share} %": results[f"pruned {share} %"]})


if __name__ == "__main__":
    main()
