"""Shared parts of the benchmark scripts: results, plots, CPU seconds of a command, campaigns."""

from __future__ import annotations

import argparse
import json
import platform
import resource
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from polyrelu._core import chosen_engine
from polyrelu.errors import PolyreluError
from polyrelu.support.parallel import CampaignFunction, campaign, workers_for
from polyrelu.support.progress import ProgressStep

__all__ = [
    "RESULTS",
    "add_campaign_options",
    "asked",
    "cpu_seconds",
    "draw_bars",
    "draw_lines",
    "write_results",
]

RESULTS = Path(__file__).parent / "results"


def write_results(name: str, results: dict[str, Any], is_shown: bool = True) -> None:
    """Write `results/name.json`, with the engine of complexes that ran, and print it.

    Parts of an older file may be among the results; what it says about its own run is replaced.
    """
    RESULTS.mkdir(exist_ok=True)
    run = {
        "python": platform.python_version(),
        "machine": platform.machine(),
        "engine": chosen_engine().name,
    }
    text = json.dumps(run | results | run, indent=1)
    (RESULTS / f"{name}.json").write_text(text + "\n")
    if is_shown:
        print(text)


def draw_bars(name: str, groups: Mapping[str, Mapping[str, float]], label: str, title: str) -> None:
    """Write `results/name.png` with a bar for each number of each group, on a logarithmic scale.

    All groups have the same keys.
    """
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    keys = list(next(iter(groups.values())))
    figure, axes = plt.subplots(figsize=(9, 4.2))
    width = 0.8 / len(keys)
    for number, key in enumerate(keys):
        places = [place + (number - (len(keys) - 1) / 2) * width for place in range(len(groups))]
        axes.bar(places, [group[key] for group in groups.values()], width, label=key)
    names = list(groups) if len(groups) < 9 else [name.replace("\n", " ") for name in groups]
    axes.set_xticks(range(len(groups)), names, fontsize=7.5, rotation=25, ha="right")
    axes.set_yscale("log")
    axes.set_ylabel(label)
    axes.set_title(title, fontsize=10)
    axes.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))
    figure.tight_layout()
    figure.savefig(RESULTS / f"{name}.png", dpi=120)
    plt.close(figure)


def draw_lines(
    name: str,
    places: Sequence[float],
    lines: Mapping[str, Sequence[float]],
    labels: tuple[str, str],
    title: str,
    dashed: tuple[str, Sequence[float]] | None = None,
) -> None:
    """Write `results/name.png` with lines over the same places, both axes logarithmic.

    Parameters
    ----------
    labels
        Labels of the horizontal and the vertical axis.
    dashed
        A line to compare with, and its name.
    """
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(8, 4.4))
    for number, (key, values) in enumerate(lines.items()):
        axes.loglog(places, values, marker="osD^v"[number % 5], markersize=4, label=key)
    if dashed is not None:
        axes.loglog(places, dashed[1], "--", color="grey", linewidth=1, label=dashed[0])
    axes.tick_params(axis="x", which="minor", labelsize=6)
    axes.set_xlabel(labels[0])
    axes.set_ylabel(labels[1])
    axes.set_title(title, fontsize=10)
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))
    figure.tight_layout()
    figure.savefig(RESULTS / f"{name}.png", dpi=120)
    plt.close(figure)


def cpu_seconds(arguments: list[str], allowed: tuple[int, ...] = (0,)) -> float:
    """Return user plus system seconds of `python arguments…`.

    An exit status that is not allowed is an error.
    """
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False)
    if done.returncode not in allowed:
        raise RuntimeError(f"{arguments} ended with {done.returncode}: {done.stderr[-300:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def add_campaign_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that `asked` takes."""
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="number of processes")
    parser.add_argument(
        "--checkpoint",
        type=Path,
        metavar="FILE",
        help="keep results here, and go on from them; a change of the code needs a new file",
    )


def asked(
    function: CampaignFunction,
    items: Mapping[str, Any],
    settings: Mapping[str, Any],
    options: argparse.Namespace,
) -> dict[str, dict[str, Any]]:
    """Return what a function says of each item, by the names of the items, in their order.

    A `PolyreluError` of the function, or of the options, ends the script.
    """

    def show(step: ProgressStep) -> None:
        percent, before = (100 * done // len(items) for done in (step.num_done, step.num_done - 1))
        if percent > before:
            print(step, file=sys.stderr, flush=True)

    try:
        workers, kept = workers_for(options.jobs), options.checkpoint
        rows = campaign(function, items, settings, workers=workers, checkpoint=kept, progress=show)
    except PolyreluError as error:
        sys.exit(str(error))
    errors = [f"{row['name']}: {row['error']}" for row in rows if "error" in row]
    if errors:
        sys.exit("\n".join(errors))
    return {row.pop("name"): row for row in rows}
