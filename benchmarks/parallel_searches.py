"""Walks of a deep search, split trees and campaigns in two processes: parts of `parallel`.

A search has a main process, which decides where to walk and evaluates hypotheses, and workers. On
two cores it takes at least as long as the main process, and at least half of the CPU seconds of
all: the speed-up of a search is bounded by that. A campaign's is the CPU seconds of one process,
divided by those of the busier worker.
"""

from __future__ import annotations

import os
import time
from itertools import pairwise, product
from pathlib import Path
from random import Random
from typing import Any

import polyrelu
from polyrelu.foldsets import clique_instance
from polyrelu.network import Network, from_arrays
from polyrelu.outcomes import Equivalent
from polyrelu.proofs.deep.prover import run_search
from polyrelu.proofs.deep.search import DeepSearch
from polyrelu.support.parallel import Processes, Serial, Workers, campaign

__all__ = ["Measured", "campaign_in_parallel", "deep_searches", "split_tree"]

#: Networks of POLYRELU_SHARED, and units of work of their searches.
_NETWORKS = {"mnist_256x2.onnx": 60_000, "acasxu_1_1.nnet": 30_000}
#: Number of networks of the campaign, and units of work for each.
_NUM_NETWORKS, _BUDGET = 120, 1500
#: Number of vertices of each class of the graph whose network a split tree proves to be 0.
_NUM_VERTICES = 8


class Measured:
    """Workers whose CPU seconds are noted, and the longest task."""

    def __init__(self, workers: Workers) -> None:
        self.workers, self.number = workers, workers.number
        self.seconds, self.longest = dict[str, float](), 0.0

    def results(self, function: Any, context: Any, tasks: Any) -> Any:
        """See `Workers`."""
        for number, data in self.workers.results(_cpu_of_task, (function, context), tasks):
            head, _, result = data.partition(b"\n")
            process, seconds = head.decode("ascii").split()
            self.longest = max(self.longest, float(seconds))
            self.seconds[process] = self.seconds.get(process, 0.0) + float(seconds)
            yield number, result


def _cpu_of_task(context: Any, task: Any) -> bytes:
    """Do a task; return the process and its CPU seconds before the result."""
    function, inner = context
    before = time.process_time()
    result: bytes = function(inner, task)
    return f"{os.getpid()} {time.process_time() - before}\n".encode("ascii") + result


def deep_searches() -> dict[str, Any]:
    """Search in networks of other people with one process and with two workers."""
    folder = Path(os.environ["POLYRELU_SHARED"]) / "nets"
    return {name: _deep(folder / name, budget) for name, budget in _NETWORKS.items()}


def _deep(file: Path, budget: float) -> dict[str, Any]:
    network = polyrelu.load(file)
    one, alone, _ = _searched(network, budget, Serial())
    measured = Measured(Processes(2))
    two, main, workers = _searched(network, budget, measured)
    assert one.ridges == two.ridges
    assert one.planes == two.planes
    least = max(main, (main + sum(workers)) / 2)
    return {
        "network": str(network).split(",")[0],
        "budget": budget,
        "walks": one.walks,
        "ridges": len(one.ridges),
        "cpu seconds of one process": round(alone, 2),
        "cpu seconds of the main process": round(main, 2),
        "cpu seconds of the workers": [round(seconds, 2) for seconds in workers],
        "longest walk in cpu seconds": round(measured.longest, 3),
        "speed-up on two cores by cpu seconds, at most": round(alone / least, 2),
        "speed-up on more cores, at most": round(alone / main, 2),
    }


def _searched(
    network: Network, budget: float, workers: Workers
) -> tuple[DeepSearch, float, list[float]]:
    """Return a search, with the CPU seconds of this process and of each worker."""
    started = time.process_time()
    search = run_search(network, 0, budget, workers=workers)
    used = time.process_time() - started
    return search, used, sorted(getattr(workers, "seconds", {}).values())


def split_tree() -> dict[str, Any]:
    """Prove that a network is 0 on a cube, because a graph has no triangle, in two ways."""
    numbers = range(_NUM_VERTICES)
    edges = product([(0, i) for i in numbers], product([1, 2], numbers))
    pair = clique_instance(3, _NUM_VERTICES, edges).network, from_arrays([([[0] * 3], [0])])
    started = time.process_time()
    one = polyrelu.equivalent(*pair, "box:0,1")
    alone = time.process_time() - started
    measured, started = Measured(Processes(2)), time.process_time()
    two = polyrelu.equivalent(*pair, "box:0,1", workers=measured)
    main = time.process_time() - started
    assert isinstance(one, Equivalent)
    assert isinstance(two, Equivalent)
    assert one.certificate.to_bytes() == two.certificate.to_bytes()
    return {
        "network": str(pair[0]).split(",")[0],
        "nodes": one.search.num_nodes,
        "cpu seconds of one process": round(alone, 2),
        "cpu seconds of the main process": round(main, 2),
        "cpu seconds of the workers": sorted(round(s, 2) for s in measured.seconds.values()),
        "longest task in cpu seconds": round(measured.longest, 2),
        "speed-up by cpu seconds, at least": round(
            alone / (main + max(measured.seconds.values())), 2
        ),
    }


def identified(network: Network, *, budget: float) -> dict[str, Any]:
    """Return a row of the campaign."""
    outcome = polyrelu.identify(network, budget=budget)
    return {"verdict": outcome.status, "widths": list(network.widths)}


def campaign_in_parallel() -> dict[str, Any]:
    """Ask for random networks whether they are identifiable."""
    networks, settings = _networks(Random("campaign")), {"budget": _BUDGET}
    alone = Measured(Serial())
    rows = campaign(identified, networks, settings, workers=alone)
    both, started = Measured(Processes(2)), time.process_time()
    assert campaign(identified, networks, settings, workers=both) == rows
    main = time.process_time() - started
    whole = sum(alone.seconds.values())
    return {
        "networks": len(rows),
        "verdicts": {v: sum(r["verdict"] == v for r in rows) for v in ("proved", "refuted")},
        "cpu seconds of one process": round(whole, 2),
        "cpu seconds of the main process": round(main, 2),
        "cpu seconds of the workers": sorted(round(each, 2) for each in both.seconds.values()),
        "longest task in cpu seconds": round(alone.longest, 2),
        "speed-up by cpu seconds": round(whole / max(both.seconds.values()), 2),
    }


def _networks(rng: Random) -> dict[str, Network]:
    found = dict[str, Network]()
    for number in range(_NUM_NETWORKS):
        widths = (rng.randint(2, 3), *(rng.randint(2, 4) for _ in range(2)), 1)
        found[f"{number}"] = from_arrays(
            [
                (
                    [[rng.randint(-9, 9) or 1 for _ in range(n)] for _ in range(m)],
                    [rng.randint(-9, 9) for _ in range(m)],
                )
                for n, m in pairwise(widths)
            ]
        )
    return found
