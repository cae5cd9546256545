"""Linear regions by every definition, and dual graphs, of trained and of random networks.

    python -m benchmarks.region_counts

Classifiers of scikit-learn are trained on two interleaving half circles (2 inputs) or on three
classes of the iris data (the first 3 inputs), with fixed seeds; beside each stands a random network
of the same widths. On the box [-3, 3]^n all numbers are exact. Gaines and Bi (2026, arXiv
2606.07728) prove that the mean degree of the dual graph is at most 2 n_0.
"""

from __future__ import annotations

import time
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.datasets import load_iris, make_moons
from sklearn.neural_network import MLPClassifier

import polyrelu
from benchmarks.reporting import write_results
from polyrelu.foldsets import dual_graph_statistics, region_counts

HIDDEN = ((8,), (16, 16), (3, 3, 3), (8, 8, 8))


def main() -> None:
    write_results("region_counts", {"networks": [*_records(2), *_records(3)]})


def _records(inputs: int) -> list[dict[str, Any]]:
    """Numbers of trained and of random networks with some inputs."""
    records = []
    for hidden in HIDDEN:
        for name, net in (
            ("trained", _trained(inputs, hidden)),
            ("random", _random(inputs, hidden)),
        ):
            records.append(_measured(name, net))
            print(records[-1], flush=True)
    return records


def _data(inputs: int) -> tuple[Any, Any]:
    if inputs == 2:
        points, labels = make_moons(400, noise=0.15, random_state=0)
        return points, labels
    points, labels = load_iris(return_X_y=True)
    chosen = points[:, :inputs]
    return (chosen - chosen.mean(axis=0)) / chosen.std(axis=0), labels > 0


def _trained(inputs: int, hidden: tuple[int, ...]) -> polyrelu.Network:
    points, labels = _data(inputs)
    model = MLPClassifier(hidden, max_iter=500, random_state=1).fit(points, labels)
    return polyrelu.from_arrays(
        [(w.T, b) for w, b in zip(model.coefs_, model.intercepts_, strict=True)]
    )


def _random(inputs: int, hidden: tuple[int, ...]) -> polyrelu.Network:
    rng, widths = np.random.default_rng(0), (inputs, *hidden, 1)
    return polyrelu.from_arrays(
        [
            (rng.standard_normal((m, n)) / np.sqrt(n), rng.standard_normal(m))
            for n, m in pairwise(widths)
        ]
    )


def _measured(name: str, network: polyrelu.Network) -> dict[str, Any]:
    started = time.process_time()
    cells = polyrelu.canonical_complex(network, "box:-3,3")
    counts, graph = region_counts(cells), dual_graph_statistics(cells)
    return {
        "network": f"{name} {network.architecture}",
        "activation": counts.num_activation,
        "proper": counts.num_proper,
        "convex": " to ".join(map(str, sorted(set(counts.convex_bounds)))),
        "open connected": counts.num_open_connected,
        "closed connected": counts.num_closed_connected,
        "affine": counts.num_affine,
        "degrees": f"{graph.least_degree} to {graph.greatest_degree}",
        "mean degree": round(float(graph.mean_degree), 3),
        "bound": 2 * network.num_inputs,
        "diameter": graph.diameter,
        "neurons": sum(network.widths[1:-1]),
        "seconds": round(time.process_time() - started, 2),
    }


if __name__ == "__main__":
    main()
