"""Costs of what rests on the complex, beside the complex itself.

    python -m benchmarks.weights

The script measures weights, balancing, reconstruction, tropical form and the certificate of the
regions, for random float64 networks with fixed seeds on R^n. Times are CPU seconds of this process
on one thread; everything is exact, with numbers of a hundred to a thousand bits. The yardstick is
the complex itself, in the same run.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np

from benchmarks.reporting import draw_bars, write_results
from polyrelu import checker
from polyrelu.breakpoints import breakpoint_complex, is_balanced, reconstruct, tropical_form
from polyrelu.complex import canonical_complex
from polyrelu.network import Network, from_arrays
from polyrelu.outcomes import RegionsListed
from polyrelu.proofs import certify_regions

SHAPES = ((2, 16, 16, 1), (2, 40, 40, 1), (3, 20, 20, 2), (4, 12, 12, 1), (2, 12, 12, 12, 1))

_T = TypeVar("_T")


def main() -> None:
    """Measure all shapes."""
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    results = {"-".join(map(str, widths)): _measured(widths) for widths in SHAPES}
    write_results("weights", results)
    groups = {
        f"{shape}\n{found['f_vector'][-1]:,} regions": found["seconds"]
        for shape, found in results.items()
    }
    draw_bars("weights", groups, "CPU seconds", "What rests on the complex, on R^n, exact")


def _network(widths: tuple[int, ...]) -> Network:
    rng = np.random.default_rng(list(widths))
    return from_arrays([(rng.normal(size=(m, n)), rng.normal(size=m)) for n, m in pairwise(widths)])


def _measured(widths: tuple[int, ...]) -> dict[str, Any]:
    network = _network(widths)
    cells, complex_seconds = _timed(lambda: canonical_complex(network))
    breakpoints, weights = _timed(lambda: breakpoint_complex(cells))
    balanced, balancing = _timed(lambda: is_balanced(breakpoints))
    start = cells.region(0).affine_map
    maps, reconstruction = _timed(lambda: reconstruct(breakpoints, 0, start))
    forms, tropical = _timed(lambda: tropical_form(cells))
    dual, subdivision = _timed(lambda: forms[0].numerator.dual_subdivision)
    listed, proving = _timed(lambda: certify_regions(cells))
    assert isinstance(listed, RegionsListed)
    data = listed.certificate.to_bytes()
    report, checking = _timed(lambda: checker.check_bytes(data))
    found = {
        "f_vector": cells.f_vector,
        "visible": int(breakpoints.visible.sum()),
        "balanced": balanced,
        "reconstructed": all(
            maps[i] == cells.region(i).affine_map for i in range(0, cells.num_regions, 97)
        ),
        "terms": [len(forms[0].numerator.terms), len(forms[0].denominator.terms)],
        "dual_cells": len(dual),
        "verdict": report.verdict,
        "nodes": listed.work.num_nodes,
        "signs": listed.work.num_signs,
        "certificate_bytes": len(data),
        "seconds": {
            "complex": complex_seconds,
            "weights": weights,
            "balancing": balancing,
            "reconstruction": reconstruction,
            "tropical form": tropical,
            "dual subdivision": subdivision,
            "certificate": proving,
            "check": checking,
        },
    }
    print(widths, found, flush=True)
    return found


def _timed(run: Callable[[], _T]) -> tuple[_T, float]:
    started = time.process_time()
    value = run()
    return value, time.process_time() - started


if __name__ == "__main__":
    main()
