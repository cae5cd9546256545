"""Units of cost against time, for each rule of the checker.

    python -m benchmarks.checker_meter [--repeat 3]

Certificates of every theorem, made with fixed seeds: by the provers where they write large ones,
otherwise enlarged by hand. A unit should be the same time within a factor of four on every rule.
The units of a file are deterministic, its time is the best of some runs.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from random import Random
from statistics import median
from typing import Any

import numpy as np

from benchmarks.reporting import RESULTS, write_results
from polyrelu import (
    Network,
    Polyhedron,
    canonical_complex,
    checker,
    equivalent,
    from_arrays,
    identify,
    injective,
    inverse_lipschitz,
    region_graph,
    runtime_error,
)
from polyrelu.outcomes import (
    ComplexListed,
    Equivalent,
    Identifiable,
    Injective,
    InverseLipschitz,
    RegionsListed,
    Undecided,
)
from polyrelu.proofs import certify_complex, certify_regions, prove_runtime_error
from tests.generators.benchmark_pairs import FAMILIES
from tests.generators.checker_bombs import BOMBS
from tests.oracles.judge import certificate_bytes

#: Families of bombs that exercise one rule, with a size that costs 10^8 to 10^10 units.
BY_HAND: dict[str, int | tuple[str, int]] = {
    "minors": 1_000,
    "assignments": 200,
    "determinants": 200,
    "masks": 1_500,
    "slices": 100,
    "region points": 4_000,
    "splits": 1_000,
    "line-equal": ("breakpoints", 1_000),
    "not-related": ("scales", 6_000),
    "corners": 128,
    "one-sided": ("steps", 30),
    "equations": 300,
    "long equation": 30,
    "parts": 3,
    "silent nodes": 100,
    "skips": 40,
    "many sources": 2_000,
    "divided splits": 400,
    "equal forms": 500,
    "quotients": 40,
    "moves": 320,
    "pencil": 240,
    "silent layers": 200,
    "choices": 12,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=3, help="runs of each check")
    options = parser.parse_args()
    checker.UNITS_PER_CELL = 1  # so that the cost is the work alone, without memory
    entries = {name: _measured(name, data, options.repeat) for name, data in certificates()}
    middle = median(entry["nanoseconds per unit"] for entry in entries.values())
    for entry in entries.values():
        entry["times the median"] = round(entry["nanoseconds per unit"] / middle, 2)
    factors = [entry["times the median"] for entry in entries.values()]
    summary = {
        "median": middle,
        "least factor": min(factors),
        "largest factor": max(factors),
        "largest over least": round(max(factors) / min(factors), 2),
    }
    write_results("checker_meter", {"rules": entries, "summary": summary})
    _draw({name: entry["nanoseconds per unit"] for name, entry in entries.items()})


def _draw(times: dict[str, float]) -> None:
    """Write a plot with a bar for each certificate, and a band in which a factor of four fits."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    names = sorted(times, key=lambda name: times[name])
    figure, axes = plt.subplots(figsize=(7, 5))
    axes.barh(names, [times[name] for name in names])
    axes.axvspan(times[names[0]], 4 * times[names[0]], color="gray", alpha=0.2)
    axes.set_xscale("log")
    axes.set_xlabel("nanoseconds for a unit of cost")
    axes.set_title("The checker's units against time; the band is a factor of four", fontsize=10)
    figure.tight_layout()
    figure.savefig(RESULTS / "checker_meter.png", dpi=120)
    plt.close(figure)


def _measured(name: str, data: bytes, repeat: int) -> dict[str, Any]:
    seconds, report = float("inf"), checker.CheckReport("")
    for _ in range(repeat):
        started = time.process_time()
        report = checker.check_bytes(data, budget=2**50)
        seconds = min(seconds, time.process_time() - started)
    entry = {
        "bytes": len(data),
        "verdict": report.verdict,
        "units": report.cost,
        "seconds": round(seconds, 3),
        "nanoseconds per unit": round(seconds * 1e9 / report.cost, 3),
    }
    print(name, entry, flush=True)
    return entry


def certificates() -> Iterator[tuple[str, bytes]]:
    """Yield names and files."""
    for name, widths in (
        ("shallow", (200, 200, 10)),
        ("bottleneck", (128, 128, 128, 10)),
        ("deep", (10, 20, 20, 4)),
    ):
        outcome: Any = identify(_network(widths), time_limit=60)
        if isinstance(outcome, Undecided):
            outcome = outcome.part
        if isinstance(outcome, Identifiable) or outcome is not None:
            yield name, certificate_bytes(outcome)
    listed = certify_regions(region_graph(_network((2, 20, 6, 1)), Polyhedron.universe(2)))
    assert isinstance(listed, RegionsListed)
    yield "regions", listed.certificate.to_bytes()
    cells = canonical_complex(_network((4, 10, 8, 1)))
    for name, certify in (("vertices", certify_regions), ("complex", certify_complex)):
        by_vertices = certify(cells)
        assert isinstance(by_vertices, RegionsListed | ComplexListed)
        yield name, by_vertices.certificate.to_bytes()
    found, half = FAMILIES["hidden"](Random(1), 5, 20)
    domain = None if half is None else Polyhedron.box([-half] * 5, [half] * 5)
    equal = equivalent(from_arrays(found.first.layers), from_arrays(found.second.layers), domain)
    assert isinstance(equal, Equivalent)
    yield "tree", certificate_bytes(equal)
    injective_network, random = _network((1, 7, 10, 5)), np.random.default_rng(1000)
    layer = from_arrays([(random.standard_normal((42, 6)), np.zeros(42))], last="relu")
    small = from_arrays([(random.standard_normal((21, 3)), np.zeros(21))], last="relu")
    for name, answer in (
        ("active-rows", injective(layer)),
        ("cell-pairs", injective(injective_network)),
        ("inverse-lipschitz", inverse_lipschitz(small)),
    ):
        assert isinstance(answer, Injective | InverseLipschitz)
        assert answer.theorem == name
        yield name, certificate_bytes(answer)
    box = [Fraction(-1)] * 60, [Fraction(1)] * 60
    bounded: Any = prove_runtime_error(runtime_error(_network((60, 100, 100, 3)), box))
    yield "rounding", certificate_bytes(bounded)
    for name, entry in BY_HAND.items():
        family, size = (name, entry) if isinstance(entry, int) else entry
        yield name, BOMBS[family].make(size)


def _network(widths: tuple[int, ...]) -> Network:
    """Return a network with Gaussian weights, as multiples of 2⁻¹⁶."""
    rng = Random(str(widths))

    def number(size: float) -> Fraction:
        return Fraction(round(rng.gauss(0, size) * 2**16) or 1, 2**16)

    return from_arrays(
        [
            (
                [[number((2 / n) ** 0.5) for _ in range(n)] for _ in range(m)],
                [number(0.5) for _ in range(m)],
            )
            for n, m in pairwise(widths)
        ]
    )


if __name__ == "__main__":
    main()
