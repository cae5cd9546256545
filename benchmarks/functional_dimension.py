"""Functional dimensions of trained networks: ranks for more and more points in cells.

    python -m benchmarks.functional_dimension FILE ... [--points 1000] [--domain box:-1,1]
    python -m benchmarks.functional_dimension FILE ... --blocks --points 40 100 200

The rank of the Jacobian modulo a prime, beside the number of parameters minus the number of scaling
directions, which no rank exceeds. Points lie in cells that lines of many scales meet. The first
form adds their rows one after the other, and records the rank on the way; the second one, for two
hidden layers and n_0 ≥ n_1, takes the whole regions of the points and computes the rank by blocks.
Seconds are CPU time of one thread. `--plot FILE.svg` draws the records.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import polyrelu
from benchmarks.reporting import write_results
from polyrelu.foldsets import functional_dimension, points_in_cells, rank_of_two_layers
from polyrelu.network import Network
from polyrelu.support import ProgressStep
from polyrelu.support.typing import Point

#: Number of records of a rank while rows are added.
RECORDS = 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--points", type=int, nargs="+", default=[1000])
    parser.add_argument("--domain")
    parser.add_argument("--blocks", action="store_true")
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--name", default="functional_dimension")
    given = parser.parse_args()
    records = list[dict[str, Any]]()
    for file in given.files:
        network = polyrelu.load(file)
        started = time.process_time()
        points = points_in_cells(network, max(given.points), given.domain)
        spent = time.process_time() - started
        print(f"{file}: {len(points)} points in {spent:.1f} s", flush=True)
        if given.blocks:
            for count in given.points:
                records.append(_by_blocks(file, network, points[:count]))
        else:
            records += _by_rows(file, network, points, given.domain)
    write_results(given.name, {"curve": records})
    if given.plot:
        draw(records, given.plot)


def _record(file: str, network: Network, places: int, rank: int, started: float) -> dict[str, Any]:
    record = {
        "network": Path(file).name,
        "places": places,
        "rank at least": rank,
        "rank at most": network.num_parameters - len(network.neurons),
        "parameters": network.num_parameters,
        "seconds": round(time.process_time() - started, 1),
    }
    print(record, flush=True)
    return record


def _by_rows(
    file: str, network: Network, points: list[Point], domain: str | None
) -> list[dict[str, Any]]:
    """Ranks while the rows of one point after the other are added."""
    found, started, wanted = list[dict[str, Any]](), time.process_time(), 0

    def note(step: ProgressStep) -> None:
        """Record the rank at even distances, and at the end."""
        nonlocal wanted
        if step.num_done >= wanted or step.num_done == step.num_total:
            rank = int(step.details["rank"])
            found.append(_record(file, network, step.num_done, rank, started))
            wanted = step.num_done + len(points) // RECORDS

    functional_dimension(network, domain, points=points, progress=note)
    return found


def _by_blocks(file: str, network: Network, points: list[Point]) -> dict[str, Any]:
    """The rank on the regions of some points."""
    started = time.process_time()
    rank = rank_of_two_layers(network, points)
    return _record(file, network, len(points), rank, started)


def draw(records: list[dict[str, Any]], file: Path) -> None:
    """Draw the share of the upper bound that is reached, over the number of points or regions."""
    import matplotlib
    from matplotlib.figure import Figure

    matplotlib.rcParams.update({"svg.hashsalt": "polyrelu", "svg.fonttype": "path"})
    figure = Figure(figsize=(6, 3.4))
    axes = figure.subplots()
    for name in dict.fromkeys(record["network"] for record in records):
        own = [record for record in records if record["network"] == name]
        shares = [record["rank at least"] / record["rank at most"] for record in own]
        label = f"{name}, {own[0]['parameters']:,} parameters"
        axes.plot([record["places"] for record in own], shares, marker=".", label=label)
    axes.set(xscale="log", xlabel="points, or regions", ylabel="rank / upper bound", ylim=(0, 1.02))
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(file, metadata={"Date": None})


if __name__ == "__main__":
    main()
