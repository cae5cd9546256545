"""Tasks on several processes, on a cluster and after kills: efficiency, and the same bytes.

    python -m benchmarks.parallel
        [--part tasks|jobs|cluster|simulation|kills|more-kills|deviation|tree|deep|campaign]
        [--kills 200] [--scale 104]

`tasks` does all tasks of a stream of regions (4 inputs, two hidden layers of `--scale` neurons) in
this process and records the CPU seconds of each. `jobs` and `cluster` do the same tasks in two
processes and on a local cluster of two workers; a speed-up is the CPU seconds of one process,
divided by those of the busiest process, so that other programs on the machine hardly matter. For a
cluster all of its processes are counted (`benchmarks.parallel_cluster`), and the wall clock is
recorded with the load of the machine. Starting the processes is left out. `simulation` puts the
recorded tasks on more workers, in the order and with the window of `polyrelu.support.parallel`, and
with the seconds that the main process needs for each result. `kills` ends a command with 1, 2 and 4
jobs at random moments, by SIGKILL, SIGTERM and Ctrl-C to the command or all its processes and by
SIGKILL to one of its workers, and looks at what is left (`benchmarks.kills`); `more-kills` does so
with `audit`, `report`, `dimension` and `injective`. `deviation` bounds
how far a network with 5 inputs and two hidden layers of 24 neurons is from a copy with other
weights nearby, in this process and in two others, and compares the certificates. `tree` does the
same with a split tree that proves that a network is 0 on a cube. `deep` makes the walks of deep
searches in networks of the folder that POLYRELU_SHARED names, and `campaign` decides many networks
(`benchmarks.parallel_searches`). Parts that are not run keep their last results.
"""

from __future__ import annotations

import argparse
import heapq
import json
import os
import time
from fractions import Fraction
from typing import Any

from benchmarks.parallel_cluster import local_cluster
from benchmarks.parallel_kills import (
    DOMAIN,
    kills_of_commands,
    kills_of_regions,
    random_network,
)
from benchmarks.parallel_searches import (
    Measured,
    campaign_in_parallel,
    deep_searches,
    split_tree,
)
from benchmarks.reporting import RESULTS, write_results
from polyrelu.complex.region_stream import RegionTotals, count_regions
from polyrelu.network import Network
from polyrelu.outcomes import DeviationBounds
from polyrelu.proofs import deviation
from polyrelu.support.parallel import Cluster, Processes, Workers
from polyrelu.support.parallel.tasks import AHEAD
from tests.generators.close_networks import close_pair

PARTS = (
    *("tasks", "jobs", "cluster", "simulation", "kills", "more-kills"),
    *("deviation", "tree", "deep", "campaign"),
)
#: Seconds for which the processes of a cluster are looked at before they have work.
_IDLE_SECONDS = 30
DEVIATION_WIDTHS, AT_MOST = (4, 64, 64, 64, 2), Fraction(16, 25)


def main() -> None:
    """Run the parts and write results/parallel.json."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--part", choices=PARTS, action="append")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--scale", type=int, default=104)
    options = parser.parse_args()
    path = RESULTS / "parallel.json"
    found: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    parts = options.part or PARTS
    network = random_network((4, options.scale, options.scale, 1))
    if "tasks" in parts:
        found["tasks"] = _tasks(network, options.scale)
    if "jobs" in parts:
        found["jobs"] = _with(network, Processes(2), found["tasks"])
    if "cluster" in parts:
        found["cluster"] = _on_cluster(network, found["tasks"])
    if "simulation" in parts:
        found["simulation"] = [_simulated(found["tasks"], n) for n in (1, 2, 10, 100, 1000)]
    if "kills" in parts:
        found["kills"] = kills_of_regions(options.kills)
    if "more-kills" in parts:
        found["more kills"] = kills_of_commands(options.kills)
    if "deviation" in parts:
        found["deviation"] = _deviation()
    if "tree" in parts:
        found["tree"] = split_tree()
    if "deep" in parts:
        found["deep"] = deep_searches()
    if "campaign" in parts:
        found["campaign"] = campaign_in_parallel()
    write_results("parallel", found)


class _Timed:
    """Does tasks in this process, and notes the CPU seconds of each."""

    number = 1

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.num_bytes: list[int] = []

    def results(self, function: Any, context: Any, tasks: Any) -> Any:
        """See `Workers`."""
        for number, task in tasks:
            started = time.process_time()
            result = function(context, task)
            self.seconds.append(time.process_time() - started)
            self.num_bytes.append(len(result))
            yield number, result


def _tasks(network: Network, scale: int) -> dict[str, Any]:
    timed, started = _Timed(), time.process_time()
    totals = count_regions(network, DOMAIN, workers=timed)
    whole = time.process_time() - started
    return {
        "widths": [4, scale, scale, 1],
        "regions": totals.num_regions,
        "cpu seconds": round(whole, 2),
        "cpu seconds of the main process for each result": round(
            (whole - sum(timed.seconds)) / len(timed.seconds), 6
        ),
        "bytes of each result": round(sum(timed.num_bytes) / len(timed.num_bytes)),
        "task seconds": [round(seconds, 4) for seconds in timed.seconds],
    }


def _with(network: Network, workers: Workers, alone: dict[str, Any]) -> dict[str, Any]:
    measured, started = Measured(workers), time.process_time()
    totals = count_regions(network, DOMAIN, workers=measured)
    main_seconds = time.process_time() - started
    assert totals == RegionTotals(alone["regions"], totals.num_bounded_regions)
    busiest = max(measured.seconds.values())
    return {
        "cpu seconds of the workers": sorted(round(each, 2) for each in measured.seconds.values()),
        "cpu seconds of the main process": round(main_seconds, 2),
        "speed-up by cpu seconds": round(alone["cpu seconds"] / busiest, 2),
    }


def _deviation() -> dict[str, Any]:
    """Bound a deviation in one process and in two."""
    alone, measured = _Timed(), Measured(Processes(2))
    whole, expected = _bounded(alone)
    main_seconds, found = _bounded(measured)
    return {
        "widths": list(DEVIATION_WIDTHS),
        "same bytes": found == expected,
        "cpu seconds": round(whole, 2),
        "cpu seconds in tasks": round(sum(alone.seconds), 2),
        "tasks": len(alone.seconds),
        "longest task": round(max(alone.seconds), 3),
        "bytes of each result": round(sum(alone.num_bytes) / len(alone.num_bytes)),
        "cpu seconds of the workers": sorted(round(s, 2) for s in measured.seconds.values()),
        "cpu seconds of the main process": round(main_seconds, 2),
        "speed-up by cpu seconds": round(
            whole / (whole - sum(alone.seconds) + max(measured.seconds.values())), 2
        ),
    }


def _bounded(workers: Workers) -> tuple[float, bytes]:
    """Return the CPU seconds of this process for a deviation, and its certificate."""
    started = time.process_time()
    question = close_pair(DEVIATION_WIDTHS), "box:-1/2,1/2"
    found = deviation(*question[0], question[1], at_most=AT_MOST, budget=10**7, workers=workers)
    assert isinstance(found, DeviationBounds)
    return time.process_time() - started, found.certificate.to_bytes()


def _on_cluster(network: Network, alone: dict[str, Any]) -> dict[str, Any]:
    """Count on a scheduler and two workers, and account for the CPU seconds of each process."""
    with local_cluster(2) as cluster:
        workers, before = Cluster(cluster.address), cluster.cpu_seconds()
        time.sleep(_IDLE_SECONDS)
        idle = _differences(before, cluster.cpu_seconds())
        before, started = cluster.cpu_seconds(), time.perf_counter()
        totals = count_regions(network, DOMAIN, workers=workers)
        seconds, after = time.perf_counter() - started, cluster.cpu_seconds()
    assert totals == RegionTotals(alone["regions"], totals.num_bounded_regions)
    used = _differences(before, after)
    every = [each for role in used.values() for each in role]
    return {
        "cpu seconds of one process under the same load": alone["cpu seconds"],
        "cpu seconds of the idle processes before, in 30 seconds": idle,
        "cpu seconds": used,
        "seconds": round(seconds, 2),
        "load of the machine": round(os.getloadavg()[0], 1),
        "speed-up by the cpu seconds of the busiest process": round(
            alone["cpu seconds"] / max(every), 2
        ),
        "speed-up on two cores for all of these processes, at most": round(
            2 * alone["cpu seconds"] / sum(every), 2
        ),
    }


def _differences(
    before: dict[str, list[float]], after: dict[str, list[float]]
) -> dict[str, list[float]]:
    """Return the CPU seconds that each process has used in between."""
    return {
        role: [round(end - start, 2) for start, end in zip(before[role], after[role], strict=True)]
        for role in before
    }


def _simulated(tasks: dict[str, Any], num_workers: int) -> dict[str, Any]:
    """Put the recorded tasks on workers: first come first served, within the window."""
    seconds = tasks["task seconds"]
    merge = tasks["cpu seconds of the main process for each result"]
    running: list[tuple[float, int]] = []
    now, merged_until, oldest = 0.0, 0.0, 0
    done = set[int]()
    begun = 0
    while len(done) < len(seconds):
        while (
            begun < len(seconds)
            and len(running) < num_workers
            and begun - oldest < AHEAD * num_workers
        ):
            heapq.heappush(running, (now + seconds[begun], begun))
            begun += 1
        now, number = heapq.heappop(running)
        done.add(number)
        merged_until = max(merged_until, now) + merge
        while oldest in done:
            oldest += 1
    whole = max(now, merged_until)
    return {
        "workers": num_workers,
        "seconds": round(whole, 2),
        "speed-up": round(sum(seconds) / whole, 1),
        "longest task": max(seconds),
        "megabytes per second": round(
            tasks["bytes of each result"] * len(seconds) / whole / 1e6, 4
        ),
    }


if __name__ == "__main__":
    main()
