"""Theorem D on larger networks: random ones of growing size, and trained ones.

Search, selection of few ridges and check are timed separately. A certificate contains the network,
so the size of the proof without the network is given beside the full size. Times are CPU seconds of
one thread.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import partial
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any, TypeVar

import polyrelu
from benchmarks.reporting import draw_lines
from polyrelu import PolyreluError, Proved, checker
from polyrelu.certificate import Certificate, Claim, Hypothesis, PartClaim
from polyrelu.network import Network
from polyrelu.outcomes import NotIdentifiable
from polyrelu.proofs.deep import prover as deep
from polyrelu.proofs.deep.search import DeepSearch
from polyrelu.support.text_files import layout

__all__ = ["FILES", "draw", "files", "growth"]

SHAPES = (
    (4, 8, 8, 2), (4, 16, 16, 2), (4, 32, 32, 2), (8, 32, 32, 4), (16, 32, 32, 4), (16, 64, 64, 4),
    (6, 8, 8, 8, 2), (6, 16, 16, 16, 2), (12, 24, 24, 24, 2),
    (5, 16, 16, 16, 16, 3), (8, 12, 12, 12, 12, 2),
)  # fmt: skip

FILES = (
    "rpd_gcas.onnx",
    "rl_cartpole.onnx",
    "arch_single_pendulum.onnx",
    "rpd_vdp.onnx",
    "arch_double_pendulum_less.onnx",
    "nv_cartpole.nnet",
    "vcas_pra01_20hu.nnet",
    "sdf_bunny_2d_2x50.bin",
    "marabou_mnist2x10.onnx",
    "mnist_256x2.onnx",
    "acasxu_1_1.nnet",
    "mnist_256x4.onnx",
)

#: Maximum number of random networks of one shape that are tried.
_TRIES = 4

_T = TypeVar("_T")


def growth(limit: float) -> dict[str, Any]:
    """Measure random networks of Gaussian weights over the square root of the width.

    The weights are multiples of 2⁻¹⁶. Where the proof is incomplete after the time limit, another
    network of the same shape is tried, up to three in all.
    """
    return {
        "-".join(map(str, widths)): _shown(widths, _first_proved(widths, limit))
        for widths in SHAPES
    }


def _first_proved(widths: tuple[int, ...], limit: float) -> dict[str, Any]:
    tried: list[Any] = []
    for seed in range(_TRIES):
        found = measure(_network(widths, seed), limit)
        if found["proved"] == "all":
            return {**found, "tried before": tried}
        tried.append({key: found[key] for key in ("missing", "proved", "ridges", "walks")})
    return {**found, "tried before": tried[:-1]}


def files(folder: Path, names: Iterable[str], limit: float) -> dict[str, Any]:
    """Measure trained networks; files that do not exist, or cannot be read here, are left out."""
    found: dict[str, Any] = {}
    for name in names:
        try:
            network = polyrelu.load(folder / name, compare=False)
        except (OSError, PolyreluError) as error:
            print(name, "is left out:", str(error)[:100])
            continue
        refuted, seconds = _timed(partial(polyrelu.identify, network, budget=0))
        entry: dict[str, Any] = {
            "widths": "-".join(map(str, network.widths)),
            "seconds at most": limit,
        }
        if isinstance(refuted, NotIdentifiable):
            entry |= {
                "verdict": "refuted",
                "among": refuted.certificate.claim.among,
                "why": refuted.explanation,
                "seconds": round(seconds, 2),
            }
        elif isinstance(refuted, Proved):
            entry["also proved by"] = refuted.theorem
        found[name] = _shown(name, entry | measure(network, limit))
    return found


def measure(network: Network, limit: float) -> dict[str, Any]:
    """Search, select, write and check."""
    search, searching = _timed(lambda: _searched(network, limit))
    hypotheses, selecting = _timed(lambda: deep.prove_search(search))
    result: dict[str, Any] = {
        "parameters": sum(
            layer.width * (n + 1) for layer, n in zip(network.layers, network.widths, strict=False)
        ),
        "ridges": len(search.ridges),
        "walks": search.walks,
        "search seconds": round(searching, 3),
    }
    if isinstance(hypotheses, list):
        claim = Claim("identifiable", network, search.deep_network.among)
        result |= {"proved": "all", "among": search.deep_network.among}
        return result | _checked(claim, deep.THEOREM, hypotheses, selecting)
    missing = search.hypotheses.missing
    wanted = Counter(f"{entry.kind}, layer {entry.layer}" for entry in missing)
    result["missing"] = dict(sorted(wanted.items())) if missing else hypotheses.reason
    return result | _in_part(search)


def _searched(network: Network, limit: float) -> DeepSearch:
    """Search as `identify` does."""
    end = time.process_time() + limit

    def before_walk(_: DeepSearch) -> bool:
        return time.process_time() < end

    search = deep.run_search(network, before_walk=before_walk)
    return deep.extend_to_regular(search, None, before_walk)


def _in_part(search: DeepSearch) -> dict[str, Any]:
    part, selecting = _timed(lambda: deep.prove_part(search))
    if part is None:
        return {"proved": "nothing"}
    claim, hypotheses = part
    proved = f"in part: {claim.num_layers} layers, {len(claim.neurons)} neurons of the next one"
    return {"proved": proved, **_checked(claim, deep.PART, hypotheses, selecting)}


def _checked(
    claim: Claim | PartClaim, theorem: str, hypotheses: list[Hypothesis], selecting: float
) -> dict[str, Any]:
    document = Certificate(claim, theorem, tuple(hypotheses)).to_document()[0]
    data, proof = layout(document).encode(), layout(document["proof"]).encode()
    report, checking = _timed(lambda: checker.check_bytes(data))
    slices = next(entry.evidence["slices"] for entry in hypotheses if entry.id == "ridges")
    return {
        "selection seconds": round(selecting, 3),
        "ridges kept": sum(len(entry["ridges"]) for entry in slices),
        "certificate bytes": len(data),
        "proof bytes": len(proof),
        "check seconds": round(checking, 3),
        "checker": report.verdict,
    }


def draw(results: dict[str, Any]) -> None:
    """Draw seconds and kilobytes against parameters, for complete proofs."""
    ordered = sorted(
        (entry for entry in results.values() if entry["proved"] == "all"),
        key=lambda e: e["parameters"],
    )
    lines = {
        "search, seconds": [entry["search seconds"] for entry in ordered],
        "selection, seconds": [entry["selection seconds"] for entry in ordered],
        "check, seconds": [entry["check seconds"] for entry in ordered],
        "certificate without network, kB": [entry["proof bytes"] / 1000 for entry in ordered],
    }
    parameters = [entry["parameters"] for entry in ordered]
    draw_lines(
        "deep",
        parameters,
        lines,
        ("parameters", "seconds, or kB"),
        "Theorem D on random networks that it proves",
    )


def _network(widths: tuple[int, ...], seed: int) -> Network:
    rng = Random(f"{widths} {seed}")

    def number(size: float) -> Fraction:
        return Fraction(round(rng.gauss(0, size) * 2**16) or 1, 2**16)

    return polyrelu.from_arrays(
        [
            (
                [[number((2 / n) ** 0.5) for _ in range(n)] for _ in range(m)],
                [number(0.5) for _ in range(m)],
            )
            for n, m in pairwise(widths)
        ]
    )


def _shown(name: object, entry: dict[str, Any]) -> dict[str, Any]:
    print(name, entry, flush=True)
    return entry


def _timed(run: Callable[[], _T]) -> tuple[_T, float]:
    started = time.process_time()
    value = run()
    return value, time.process_time() - started
