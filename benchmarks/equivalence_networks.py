"""Equivalence of trained networks: a classifier permuted and rescaled, and a pruned controller.

    python -m benchmarks.equivalence_networks [--nets DIR]

`mnist_256x2.onnx` (784-256-256-10) is compared with itself with the neurons of layer 1 permuted and
the neurons of layer 2 scaled, and with the same network with one weight changed by 2^-40, on R^n
and on [0, 1]^784. An ACAS Xu network (5-6x50-5) is compared with itself without the neurons that
interval bounds show to be inactive on a small box. Times are wall-clock seconds of this process on
one thread: the proof or refutation with its certificate, then the independent checker. The networks
are expected in `--nets`, by default the folder `nets` in the folder that POLYRELU_SHARED names.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from benchmarks.reporting import write_results
from polyrelu import Network, Polyhedron, checker, equivalent, load
from polyrelu.exact import RationalMatrix
from polyrelu.network import Block, Layer
from polyrelu.outcomes import Equivalent, NotEquivalent
from polyrelu.symmetry import permute, rescale
from tests.generators.files import NETS
from tests.oracles.judge import certificate_bytes

RADIUS = Fraction(1, 64)


def main() -> None:
    """Measure all pairs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--nets", type=Path, default=NETS, help="folder with the networks")
    nets: Path = parser.parse_args().nets
    found = {name: _measured(*pair) for name, pair in pairs(nets)}
    write_results("equivalence_networks", found)


def pairs(nets: Path) -> Iterator[tuple[str, tuple[Network, Network, Polyhedron | None]]]:
    """Yield the pairs of networks with their domains."""
    classifier = load(nets / "mnist_256x2.onnx", compare=False)
    same = _disguised(classifier)
    changed = _changed(same)
    unit = Polyhedron.box([0] * 784, [1] * 784)
    yield "mnist, permuted and rescaled, R^n", (classifier, same, None)
    yield "mnist, permuted and rescaled, box", (classifier, same, unit)
    yield "mnist, one weight changed, R^n", (classifier, changed, None)
    yield "mnist, one weight changed, box", (classifier, changed, unit)
    controller = load(nets / "acasxu_1_1_marabou.onnx", compare=False)
    centre = [Fraction(1, 4)] * controller.widths[0]
    box = Polyhedron.box([x - RADIUS for x in centre], [x + RADIUS for x in centre])
    pruned, removed = _pruned(controller, centre)
    yield f"acas xu, {removed} neurons pruned, box", (controller, pruned, box)


def _measured(first: Network, second: Network, domain: Polyhedron | None) -> dict[str, Any]:
    started = time.perf_counter()
    outcome = equivalent(first, second, domain)
    if not isinstance(outcome, Equivalent | NotEquivalent):
        return {"status": outcome.status, "reason": outcome.reason}
    work = outcome.search
    data = certificate_bytes(outcome)
    seconds = time.perf_counter() - started
    started = time.perf_counter()
    verdict = checker.check_bytes(data).verdict
    found: dict[str, Any] = {
        "status": outcome.status,
        "route": work.route,
        "nodes": work.num_nodes,
        "programs": work.num_programs,
        "seconds": seconds,
        "certificate_bytes": len(data),
        "verdict": verdict,
        "check_seconds": time.perf_counter() - started,
    }
    if isinstance(outcome, NotEquivalent):
        found["nonzero_coordinates"] = sum(x != 0 for x in outcome.witness.x)
    print(found, flush=True)
    return found


def _disguised(network: Network) -> Network:
    order = Random(0).sample(range(network.widths[1]), network.widths[1])
    return rescale(
        permute(network, 1, order), 2, [Fraction(k + 1, 7) for k in range(network.widths[2])]
    )


def _changed(network: Network) -> Network:
    rows = [list(row) for row in network.weight(2).rows()]
    rows[3][5] += Fraction(1, 2**40)
    block = Block(1, RationalMatrix.from_rows(rows))
    return network.replace_layers({2: Layer((block,), network.bias(2))})


def _pruned(network: Network, centre: list[Fraction]) -> tuple[Network, int]:
    """Return a network without the neurons that are inactive on the box, and their number.

    Interval arithmetic in floats finds these neurons and their incoming weights are dropped; a
    wrong guess would be refuted.
    """
    low, high = (np.array([float(x + step) for x in centre]) for step in (-RADIUS, RADIUS))
    layers, removed = {}, 0
    for number, layer in enumerate(network.layers[: network.num_hidden_layers], 1):
        weights, bias = layer.weight.to_floats(), layer.bias.to_floats()[:, 0]
        up, down = np.maximum(weights, 0), np.minimum(weights, 0)
        low, high = np.maximum(up @ low + down @ high + bias, 0), up @ high + down @ low + bias
        dead = np.flatnonzero(high < -1e-6)
        high = np.maximum(high, 0)
        rows, offsets = [list(row) for row in layer.weight.rows()], list(layer.bias.entries())
        for i in dead:
            rows[i], offsets[i] = [Fraction(0)] * len(rows[i]), Fraction(0)
        block = Block(number - 1, RationalMatrix.from_rows(rows))
        layers[number] = Layer((block,), RationalMatrix.column(offsets))
        removed += len(dead)
    return network.replace_layers(layers), removed


if __name__ == "__main__":
    main()
