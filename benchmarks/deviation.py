"""How far copies of networks are from the originals.

    POLYRELU_SHARED=… python -m benchmarks.deviation [--groups certificates copies readings …]

certificates: what `polyrelu deviation --gap … --time-limit …` proves of acasxu_1_1_marabou.onnx and
float16, bfloat16, 8-bit and pruned copies, by a clock of CPU seconds. Results are written after
each pair, and a pair that has a result is not run again. copies: the same pairs by a search in
floats, which cuts at signs as well. readings: the same network from two files with other decimals.
pendulum: exact maxima of arch_single_pendulum.onnx on [-1, 1]^2. mnist: mnist_256x4.onnx and
mnist_256x2.onnx against their float16 copies, around an image. CPU seconds of one thread; the files
are not part of the project. Copies with noise: `benchmarks.isomorphic`.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest import mock

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

import polyrelu
from benchmarks.reporting import RESULTS, draw_bars, write_results
from polyrelu import Network, Polyhedron
from polyrelu.outcomes import DeviationBounds, DeviationExceeded, Undecided
from polyrelu.proofs.deviation.arguments import bounded_coordinates, corners_of
from polyrelu.proofs.deviation.box_search import BoxSearch, Goal
from polyrelu.proofs.deviation.points import BestPoint
from polyrelu.proofs.deviation.problem import Problem, deviation_rows
from polyrelu.support import budget
from polyrelu.support.budget import Budget
from polyrelu.symmetry.matching import align, match

Record = dict[str, Any]
Arrays = list[tuple[NDArray[np.float64], NDArray[np.float64]]]

NETS = Path(os.environ.get("POLYRELU_SHARED", "")) / "nets"
#: The box of the benchmark isomorphic_acasxu.
BOX = "box:0.6,0.679857769;-0.5,0.5;-0.5,0.5;0.45,0.5;-0.5,-0.45"
#: The middle of the boxes for copies of acasxu_1_1_marabou.onnx.
MIDDLE = [Fraction(1, 10), Fraction(1, 10), Fraction(-1, 10), Fraction(1, 5), Fraction(0)]
#: The gaps asked for on boxes of radius 1/64, with 20 seconds, and 1/16, with 60 seconds.
GAPS = {
    "int8": (Fraction(1, 10), Fraction(3, 100)),
    "pruned": (Fraction(1, 10), Fraction(3, 100)),
    "float16": (Fraction(1, 10), Fraction(1)),
    "bfloat16": (Fraction(35, 100), Fraction(1)),
}
#: Ends of the inputs that ACAS Xu networks are trained on.
INPUTS = ([-0.328, -0.5, -0.5, -0.5, -0.5], [0.679, 0.5, 0.5, 0.5, 0.5])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    groups = {
        "certificates": _certificates,
        "copies": _copies,
        "readings": _readings,
        "pendulum": _pendulum,
        "mnist": _mnist,
    }
    parser.add_argument("--groups", nargs="+", choices=list(groups), default=list(groups))
    for name in parser.parse_args().groups:
        write_results(f"deviation_{name}", groups[name]())


def arrays(network: Network) -> Arrays:
    """Return weights and biases in floats."""
    return [(layer.weight.to_floats(), layer.bias.to_floats()[:, 0]) for layer in network.layers]


def searched(
    net: Network, copy: Network, domain: Polyhedron, limit: Fraction | None, seconds: float
) -> Record:
    """Search in floats for some CPU seconds."""
    coordinates = bounded_coordinates(domain)
    rows = deviation_rows(net.num_outputs)
    problem = Problem(
        net,
        copy,
        align(net, copy, match(net, copy)),
        rows,
        tuple((k,) for k in range(len(rows))),
        coordinates,
        *corners_of(coordinates),
    )
    started = time.process_time()
    best = BestPoint(problem)
    best.start(0)
    dtype = np.float64 if limit is None else np.float32
    search = BoxSearch(problem, best, Goal(limit), dtype, by_signs=limit is None)

    def is_over() -> bool:
        is_beyond = limit is not None and best.known_value > limit
        return is_beyond or time.process_time() - started > seconds

    search.run(Budget(), is_over=is_over)
    return {
        "at_least": float(best.known_value),
        "bound_in_floats": search.upper if search.num_boxes else None,
        "is_closed": search.is_finished,
        "is_exceeded": limit is not None and best.known_value > limit,
        "boxes": search.num_boxes,
        "leaves": len(search.leaf_bounds),
        "closed_share": search.closed_share,
        "seconds": round(time.process_time() - started, 2),
    }


def certified(net: Network, copy: Network, domain: object, **options: Any) -> Record:
    """Ask for a proof, and check its certificate."""
    started = time.process_time()
    found = polyrelu.deviation(net, copy, domain, **options)  # type: ignore[arg-type]
    seconds = time.process_time() - started
    bounds = found.bounds if isinstance(found, Undecided) else found
    record: Record = {"status": found.status, "seconds": round(seconds, 2)}
    if isinstance(found, DeviationExceeded):
        record["at_least"] = float(_difference(net, copy, list(found.witness.x)))
    if isinstance(bounds, DeviationBounds):
        record["bounds"] = [float(bounds.at_least), float(bounds.at_most)]
        record["is_exact"] = bounds.is_exact
        record["leaves"] = bounds.search.num_leaves
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "bounds.cert"
            bounds.save(path)
            started = time.process_time()
            record["check"] = str(polyrelu.check_file(path, budget=10**15).verdict)
            record["check_seconds"] = round(time.process_time() - started, 2)
            record["bytes"] = path.stat().st_size
    return record


def _rounded(layers: Arrays, kind: str) -> Network:
    """Return a copy with rounded or pruned weights."""
    formats: dict[str, Any] = {"float16": np.float16, "bfloat16": ml_dtypes.bfloat16}
    found: Arrays = []
    for w, b in layers:
        if kind in formats:
            found.append(
                (w.astype(formats[kind]).astype(float), b.astype(formats[kind]).astype(float))
            )
        elif kind == "int8":
            unit = np.abs(w).max() / 127
            found.append((np.round(w / unit) * unit, b))
        else:
            least = np.sort(np.abs(w).ravel())[w.size // 20]
            found.append((np.where(np.abs(w) < least, 0, w), b))
    return polyrelu.from_arrays(found)


def _certificates() -> Record:
    """Bounds with certificates for copies of one network on small boxes."""
    net = polyrelu.load(str(NETS / "acasxu_1_1_marabou.onnx"))
    path = RESULTS / "deviation_certificates.json"
    records: Record = json.loads(path.read_text()) if path.exists() else {}
    for place, (radius, seconds) in enumerate(((64, 20), (16, 60))):
        for kind, gaps in GAPS.items():
            copy = _rounded(arrays(net), kind)
            middles = {"fixed": MIDDLE, "worst of six points": _worst_point(net, copy)}
            for name, middle in middles.items():
                key = f"{kind}, 1/{radius}, {name}"
                if key not in records:
                    box = _box(radius, middle)
                    gap = gaps[place]
                    found = within_time(net, copy, box, seconds, gap=gap)
                    records[key] = {"gap": float(gap), **found}
                    print(key, records[key], flush=True)
                    write_results("deviation_certificates", records)
    return records


def within_time(
    net: Network, copy: Network, domain: object, seconds: float, **options: Any
) -> Record:
    """Ask for bounds, or a proof of one, with a limit of CPU seconds."""
    started = time.process_time()
    with _clock_of_cpu():
        found = polyrelu.deviation(net, copy, domain, time_limit=seconds, budget=None, **options)  # type: ignore[arg-type]
    spent = round(time.process_time() - started, 1)
    return {"limit": seconds, "seconds": spent, **_record_of(found)}


def _record_of(found: object) -> Record:
    """Return the bounds of an answer, and the cost of its certificate."""
    bounds = found.bounds if isinstance(found, Undecided) else found
    assert isinstance(bounds, DeviationBounds)
    assert isinstance(found, DeviationBounds | Undecided)
    lines = bounds.certificate.to_bytes().splitlines()[1:-1]
    kinds = Counter(json.loads(line)[0] for line in lines if line.startswith(b'["'))
    return {
        "status": found.status,
        "bounds": [float(bounds.at_least), float(bounds.at_most)],
        "excess": round(float(bounds.at_most / bounds.at_least) - 1, 4),
        "leaves": bounds.search.num_leaves,
        "leaves_by_kind": kinds,
        "boxes_in_floats": bounds.search.num_boxes,
    }


@contextmanager
def _clock_of_cpu() -> Iterator[None]:
    """Let limits of time count CPU seconds: others use the machine as well."""

    class Clock:
        monotonic, time = staticmethod(time.process_time), staticmethod(time.time)

    with mock.patch.object(budget, "time", Clock):
        yield


def _copies() -> Record:
    """Copies of one network on small boxes, in floats."""
    net = polyrelu.load(str(NETS / "acasxu_1_1_marabou.onnx"))
    records = list[Record]()
    for radius, seconds in ((64, 20), (16, 60)):
        for kind in ("float16", "bfloat16", "int8", "pruned"):
            copy = _rounded(arrays(net), kind)
            middles = {"fixed": MIDDLE, "worst of six points": _worst_point(net, copy)}
            for name, middle in middles.items():
                found = searched(net, copy, _box(radius, middle), None, seconds)
                place = {"radius": f"1/{radius}", "copy": kind, "middle": name}
                records.append({**place, **found})
                print(records[-1], flush=True)
    draw_bars(
        "deviation_copies",
        {
            f"{r['copy']}, {r['radius']}, {r['middle'].split()[0]}": {
                "at the best point": r["at_least"],
                "bound in floats": r["bound_in_floats"],
            }
            for r in records
        },
        "largest difference",
        "acasxu_1_1_marabou.onnx against copies, boxes of two radii",
    )
    return {"copies": records, "plot": str((RESULTS / "deviation_copies.png").name)}


def _readings() -> Record:
    """The network in two file formats, on small boxes."""
    one, two = (polyrelu.load(str(NETS / f"acasxu_1_1{end}")) for end in (".nnet", "_marabou.onnx"))
    middles = {"fixed": MIDDLE, "worst of six points": _worst_point(one, two)}
    return {
        name: {"radius": "1/64", **searched(one, two, _box(64, middle), None, 120)}
        for name, middle in middles.items()
    }


def _box(radius: int, middle: list[Fraction]) -> Polyhedron:
    """Return a box around a point."""
    ends = ([x + sign * Fraction(1, radius) for x in middle] for sign in (-1, 1))
    return Polyhedron.box(*ends)


def _worst_point(net: Network, copy: Network) -> list[Fraction]:
    """Return the point, of six drawn ones, where the networks differ most."""
    drawn = np.random.default_rng(0).uniform(*INPUTS, size=(6, net.num_inputs))
    points = [[Fraction(round(1024 * x), 1024) for x in point] for point in drawn.tolist()]
    return max(points, key=lambda point: _difference(net, copy, point))


def _difference(net: Network, copy: Network, point: list[Fraction]) -> Fraction:
    """Return the largest difference of outputs at a point."""
    return max(abs(one - two) for one, two in zip(net(point), copy(point), strict=True))


def _pendulum() -> Record:
    """Exact maxima with certificates."""
    net = polyrelu.load(str(NETS / "arch_single_pendulum.onnx"))
    return {
        kind: certified(net, _rounded(arrays(net), kind), "box:-1,1")
        for kind in ("int8", "float16")
    }


def _mnist() -> Record:
    """Bounds at most 1/100 around the first test image: at once, and by signs of neurons."""
    with gzip.open(NETS.parent / "data" / "t10k-images-idx3-ubyte.gz") as file:
        image = [Fraction(value, 255) for value in file.read(16 + 784)[16:]]
    reach = Fraction(1, 100)
    lower = [max(value - reach, Fraction(0)) for value in image]
    upper = [min(value + reach, Fraction(1)) for value in image]
    box, records = Polyhedron.box(lower, upper), Record()
    for name, gap, work in (
        ("mnist_256x4", Fraction(1, 5), 600_000),
        ("mnist_256x2", Fraction(0), 1_000),
        ("mnist_256x2", Fraction(0), 600_000),
    ):
        net = polyrelu.load(str(NETS / f"{name}.onnx"))
        copy = _rounded(arrays(net), "float16")
        key = f"{name}, gap {gap}, budget {work}"
        records[key] = certified(net, copy, box, gap=gap, budget=work)
    return records


if __name__ == "__main__":
    main()
