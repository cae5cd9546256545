"""Equivalence of networks beside z3, and the route that each of 1,000 pairs takes.

    python -m benchmarks.equivalence [--timeout 30] [--instances 6] [--part speed|routes]

Speed: equal pairs with two hidden layers of five families (tests/generators/benchmark_pairs.py) and
five shapes. The same instances, with the same limit, go to `equivalent` (proof and
certificate; then the independent checker) and to z3 with the theory QF_LRA, in which equality reads
"there is no input where an output differs". Both run in this process, one after the other. Seconds
are CPU seconds, also in the limit of z3. Where z3 does not finish, what it took counts, so that the
ratio is a lower bound.

Routes: the pairs of `tests/properties/proofs/test_equivalent_pairs.py`, equal ones and the same
ones with one weight changed by 2^-40.
"""

from __future__ import annotations

import argparse
import json
import threading
import time
from collections import Counter
from fractions import Fraction
from importlib import import_module
from random import Random
from statistics import geometric_mean, median
from typing import Any

from benchmarks.reporting import RESULTS, write_results
from polyrelu import Polyhedron, checker, equivalent, from_arrays
from polyrelu.outcomes import Equivalent, NotEquivalent
from tests.generators.benchmark_pairs import FAMILIES
from tests.generators.equivalent_pairs import Pair, Stack, nudged, pair
from tests.oracles.judge import certificate_bytes

SHAPES = [(2, 8), (2, 16), (4, 16), (5, 20), (8, 16)]
Record = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--timeout", type=float, default=30.0)
    parser.add_argument("--instances", type=int, default=8, help="of each shape")
    parser.add_argument("--part", choices=["speed", "routes", "both"], default="both")
    options = parser.parse_args()
    before = RESULTS / "equivalence.json"  # a part that is not run keeps its results
    found: dict[str, Any] = json.loads(before.read_text()) if before.exists() else {}
    if options.part != "routes":
        # Imports are not measured.
        equivalent(from_arrays([([[1]], [0])]), from_arrays([([[2]], [0])]))
        records = [
            _measured(*shape, k, options.timeout)
            for shape in SHAPES
            for k in range(options.instances)
        ]
        found |= {
            "timeout": options.timeout,
            "instances": records,
            "summary": [_summary(shape, records) for shape in SHAPES],
        }
        _plot(records)
    if options.part != "speed":
        found["routes"] = _routes(1000)
    write_results("equivalence", found)


#: Shapes of the pairs, for the families in turn. z3 finishes most of the first family, and all
#: families in small shapes.
_TURN = [
    "dead weight",
    "pruned",
    "dead weight",
    "dead weight",
    "places",
    "dead weight",
    "hidden",
    "dead weight",
]


def _measured(inputs: int, width: int, number: int, timeout: float) -> Record:
    family = _TURN[number % len(_TURN)]
    made, radius = FAMILIES[family](Random(f"{inputs} {width} {number}"), inputs, width)
    networks = [from_arrays(stack.layers) for stack in (made.first, made.second)]
    domain = None if radius is None else Polyhedron.box([-radius] * inputs, [radius] * inputs)
    started = time.process_time()
    outcome = equivalent(networks[0], networks[1], domain, time_limit=timeout)
    seconds = time.process_time() - started
    record: Record = {
        "shape": f"{inputs}-2x{width}",
        "family": family,
        "status": outcome.status,
        "seconds": seconds,
    }
    if isinstance(outcome, Equivalent):
        data = certificate_bytes(outcome)
        started = time.process_time()
        verdict = checker.check_bytes(data).verdict
        work = outcome.search
        record |= {
            "route": work.route,
            "nodes": work.num_nodes,
            "programs": work.num_programs,
            "certificate_bytes": len(data),
            "check_seconds": time.process_time() - started,
            "verdict": verdict,
        }
    answer, other = _z3(made, radius, timeout)
    record |= {"z3": answer, "z3_seconds": other, "ratio": other / seconds}
    print(record, flush=True)
    return record


def _z3(made: Pair, radius: Fraction | None, timeout: float) -> tuple[str, float]:
    z3: Any = import_module("z3")
    solver = z3.SolverFor("QF_LRA")
    inputs = [z3.Real(f"x{j}") for j in range(made.first.inputs)]
    if radius is not None:
        bound = z3.RealVal(str(radius))
        for x in inputs:
            solver.add(x >= -bound, x <= bound)
    f, g = (
        _encoded(z3, solver, stack, inputs, name)
        for stack, name in ((made.first, "f"), (made.second, "g"))
    )
    solver.add(z3.Or([a != b for a, b in zip(f, g, strict=True)]))
    started, is_done = time.process_time(), threading.Event()

    def stop_in_time() -> None:
        while not is_done.wait(0.05):
            if time.process_time() - started > timeout:
                solver.interrupt()

    watch = threading.Thread(target=stop_in_time)
    watch.start()
    answer = str(solver.check())
    spent = time.process_time() - started
    is_done.set()
    watch.join()
    return answer, spent


def _encoded(z3: Any, solver: Any, stack: Stack, inputs: list[Any], name: str) -> list[Any]:
    values = inputs
    for number, (rows, bias) in enumerate(stack.layers, 1):
        z = []
        for row, b in zip(rows, bias, strict=True):
            terms = [z3.RealVal(str(w)) * v for w, v in zip(row, values, strict=True) if w]
            z.append(z3.Sum([*terms, z3.RealVal(str(b))]))
        if number == len(stack.layers):
            return z
        values = [z3.Real(f"{name}{number}_{i}") for i in range(len(z))]
        for v, term in zip(values, z, strict=True):
            solver.add(v == z3.If(term >= 0, term, 0))
    raise AssertionError("a stack without layers")


def _summary(shape: tuple[int, int], records: list[Record]) -> Record:
    name = f"{shape[0]}-2x{shape[1]}"
    own = [record for record in records if record["shape"] == name]
    proved = [record for record in own if record["status"] == "proved"]
    return {
        "shape": name,
        "instances": len(own),
        "proved": len(proved),
        "z3_finished": sum(record["z3"] != "unknown" for record in own),
        "seconds": median(record["seconds"] for record in own),
        "z3_seconds": median(record["z3_seconds"] for record in own),
        "least_ratio": min(record["ratio"] for record in own),
        "mean_ratio": geometric_mean([record["ratio"] for record in own]),
        "ratio_where_z3_finished": geometric_mean(
            [r["ratio"] for r in own if r["z3"] != "unknown"] or [1.0]
        ),
        **{
            key: median(record[key] for record in proved)
            for key in ("nodes", "programs", "certificate_bytes", "check_seconds")
        },
    }


def _routes(count: int) -> Record:
    """Count how the pairs of the tests are decided."""
    equal: Counter[str] = Counter()
    changed: Counter[str] = Counter()
    seconds = {"equal": 0.0, "changed": 0.0}
    for seed in range(count):
        made, chance = pair(seed)
        for name, second in (
            ("equal", made.second),
            ("changed", nudged(made.second, chance, Fraction(1, 2**40))),
        ):
            started = time.process_time()
            outcome = equivalent(from_arrays(made.first.layers), from_arrays(second.layers))
            seconds[name] += time.process_time() - started
            assert isinstance(outcome, Equivalent | NotEquivalent)
            (equal if name == "equal" else changed)[
                f"{outcome.status} by {outcome.search.route}"
            ] += 1
    return {"pairs": count, "equal": dict(equal), "changed": dict(changed), "seconds": seconds}


def _plot(records: list[Record]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6.4, 4.8))
    for k, (inputs, width) in enumerate(SHAPES):
        own = [record for record in records if record["shape"] == f"{inputs}-2x{width}"]
        for finished, marker in ((True, "o"), (False, "^")):
            points = [r for r in own if (r["z3"] != "unknown") == finished]
            label = f"{inputs}-2×{width}" if finished else None
            axes.scatter(
                [r["seconds"] for r in points],
                [r["z3_seconds"] for r in points],
                marker=marker,
                color=f"C{k}",
                label=label,
            )
    low, high = 1e-3, max(record["z3_seconds"] for record in records) * 2
    axes.plot([low, high], [low, high], color="0.7", linewidth=1)
    axes.annotate("equal", (0.02, 0.02), color="0.5")
    axes.plot([low, high / 10], [10 * low, high], color="0.7", linewidth=1, linestyle="--")
    axes.annotate("10 times", (0.0105, 0.13), color="0.5")
    axes.scatter([], [], marker="^", color="0.3", label="z3 stopped at its limit")
    axes.set(
        xscale="log",
        yscale="log",
        xlabel="polyrelu, proof and certificate (s)",
        ylabel="z3, QF_LRA (s)",
    )
    axes.set_title("Equal pairs with two hidden layers: one point each")
    axes.legend(loc="lower right", fontsize="small")
    figure.tight_layout()
    figure.savefig(RESULTS / "equivalence.png", dpi=120)


if __name__ == "__main__":
    main()
