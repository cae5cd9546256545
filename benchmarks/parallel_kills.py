"""Commands that `benchmarks.parallel` kills at random moments: `regions`, and those without trees.

Each campaign has a folder with the input files of its command (`benchmarks.kills`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.kills import Campaign
from polyrelu import audit
from polyrelu.formats import save
from polyrelu.network import Network, from_arrays

__all__ = ["DOMAIN", "kills_of_commands", "kills_of_regions", "random_network"]

DOMAIN = "box:-1,1"
#: Number of campaigns of kills at the same time, which makes the machine busy.
_NUM_CAMPAIGNS = 5


def kills_of_regions(number: int) -> dict[str, Any]:
    """Kill `regions` at random moments, several times at once, and look at what is left."""

    def made(folder: Path, seed: int) -> Campaign:
        """Return a campaign."""
        save(random_network((3, 24, 8, 3), 5), folder / "net.json")
        words = ["regions", "net.json", "--domain", DOMAIN]
        return Campaign(folder, words, (".csv", ".parquet"), seed)

    return _counts(number, [made] * _NUM_CAMPAIGNS)


def kills_of_commands(number: int) -> dict[str, Any]:
    """Do the same with `audit`, `report`, `dimension` and `injective`."""
    return _counts(number, [_audit, _report, _dimension, _injective, _injective_by_cells])


def _counts(number: int, makers: Sequence[Callable[[Path, int], Campaign]]) -> dict[str, Any]:
    """Return the counts of campaigns that run at the same time, and kill equally often."""
    with TemporaryDirectory() as name:
        campaigns = []
        for seed, make in enumerate(makers):
            folder = Path(name, str(seed))
            folder.mkdir()
            campaigns.append(make(folder, seed))
        with ThreadPoolExecutor(len(campaigns)) as pool:
            share = -(-number // len(campaigns))
            list(pool.map(lambda campaign: campaign.kill(share), campaigns))
        return Campaign.counts(campaigns)


def _audit(folder: Path, seed: int) -> Campaign:
    network = random_network((3, 12, 8, 2), 3)
    save(network, folder / "net.json")
    cells = audit.ground_truth(network, DOMAIN).cells
    pairs = []
    for region in range(cells.num_regions):
        rows = np.array(cells.region_polyhedron(region).inequalities, dtype=object)
        rows = (rows / np.abs(rows).max(axis=1, keepdims=True)).astype(np.float64)
        pairs.append((rows[:, :-1], rows[:, -1]))
    spaces = audit.HalfSpaces.of(pairs)
    np.savez(
        folder / "claims.npz",
        domain=DOMAIN,
        half_spaces=spaces.rows,
        half_spaces_regions=spaces.owners,
    )
    words = ["audit", "net.json", "--against", "claims.npz"]
    return Campaign(folder, words, (".md",), seed, output="--markdown")


def _report(folder: Path, seed: int) -> Campaign:
    save(random_network((2, 8, 4, 2), 3), folder / "net.json")
    words = ["report", "net.json", "--domain", DOMAIN, "--budget", "1000"]
    return Campaign(folder, words, (".html",), seed)


def _dimension(folder: Path, seed: int) -> Campaign:
    save(random_network((8, 24, 16, 8), 3), folder / "net.json")
    return Campaign(folder, ["dimension", "net.json"], (".json",), seed, has_jobs=False)


def _injective(folder: Path, seed: int) -> Campaign:
    rows = np.random.default_rng(1).standard_normal((70, 9)).tolist()
    save(from_arrays([(rows, [0] * len(rows))], last="relu"), folder / "net.json")
    return Campaign(folder, ["injective", "net.json"], (".json",), seed)


def _injective_by_cells(folder: Path, seed: int) -> Campaign:
    chance, axes = Random(2), [[1, 0], [0, 1], [-1, 0], [0, -1]]
    rows = [[chance.randint(-9, 9) for _ in range(4)] for _ in range(8)]
    bias = [chance.randint(-9, 9) for _ in range(8)]
    save(from_arrays([(axes, [0] * 4), (rows, bias)], last="relu"), folder / "net.json")
    return Campaign(folder, ["injective", "net.json"], (".json",), seed)


def random_network(widths: tuple[int, ...], seed: int = 0) -> Network:
    """Return a network whose weights are Gaussian numbers, rounded to multiples of 1/1024."""
    rng = Random(seed)

    def number() -> float:
        """Return a weight."""
        return round(rng.gauss(0, 1) * 1024) / 1024

    return from_arrays(
        [
            ([[number() for _ in range(n)] for _ in range(m)], [number() for _ in range(m)])
            for n, m in pairwise(widths)
        ]
    )
