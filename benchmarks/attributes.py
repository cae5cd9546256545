"""Tables 1 and 2 of Sattelberg et al. (2023) for seven small classifiers of digits.

    POLYRELU_SHARED=FOLDER python -m benchmarks.digit_networks NETWORKS
    POLYRELU_SHARED=FOLDER python -m benchmarks.attributes NETWORKS SCRATCH

The script computes the affine maps at 8,000 training and 2,000 test images, clusters them, and fits
maps between the networks; it writes results/attributes.json. SCRATCH is a folder for 5 GB of maps.

A max pooling of a constant part of an image is a tie, so that nearly all images lie on boundaries
of pieces of the convolutional networks. The tables use images to whose pixels, multiples of 1/256,
a multiple of 2^-20 below 1/4096 was added. How many test images are certified is counted both ways.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.digit_networks import NETWORKS, Digits, load_digits, load_network
from benchmarks.reporting import RESULTS, write_results
from polyrelu.attributes import (
    FloatMaps,
    clustering_table,
    dual_map,
    exact_maps,
    float_maps,
    mapping_table,
    shared_patterns,
)
from polyrelu.formats import read

__all__ = ["with_noise"]

#: The maps of each network at training and at test images.
_Maps = dict[str, tuple[FloatMaps, FloatMaps]]

_CLUSTERS = (1, 10, 100)
#: Number of images at which maps are computed exactly, for ranks.
_EXACT = 300
_PARTS = ("certified", "table 2", "ranks", "table 1")


def main() -> None:
    """Measure parts, and write them into results/attributes.json; the other parts stay."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("networks", type=Path)
    parser.add_argument("scratch", type=Path)
    parser.add_argument("--parts", default=",".join(_PARTS))
    options = parser.parse_args()
    torch.set_num_threads(1)
    training, test = load_digits()
    maps = {name: _maps(options, name, (training, test)) for name in NETWORKS}
    path = RESULTS / "attributes.json"
    results: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    for part in options.parts.split(","):
        started = time.process_time()
        if part == "certified":
            results[part] = {name: _certified(options, name, test, maps) for name in maps}
        elif part == "table 2":
            results[part] = _table_2(maps, test)
        elif part == "ranks":
            results[part] = _ranks(options.networks, maps, training)
        else:
            results[part] = _table_1(maps, test)
        results["seconds"] = results.get("seconds", {}) | {part: _seconds_since(started)}
        write_results("attributes", results)


def _seconds_since(started: float) -> int:
    return round(time.process_time() - started)


def with_noise(digits: Digits, seed: int) -> Digits:
    """Return images that are nowhere exactly constant."""
    noise = np.random.default_rng(seed).integers(0, 256, digits.images.shape)
    return Digits((digits.images + noise / 2.0**20).astype(np.float32), digits.labels)


def _maps(
    options: argparse.Namespace, name: str, digits: tuple[Digits, Digits]
) -> tuple[FloatMaps, FloatMaps]:
    """Return the maps at training and test images with noise; files keep them for other parts."""
    found = list[FloatMaps]()
    for kind, part, seed in zip("ab", digits, (1, 2), strict=True):
        path = options.scratch / f"{name.replace(' ', '_')}_{kind}"
        images = with_noise(part, seed).images
        if not path.with_suffix(".npz").exists():
            maps = float_maps(load_network(options.networks, name), images)
            np.save(path.with_suffix(".npy"), maps.duals)
            others: dict[str, Any] = {"certified": maps.certified, "num_bits": maps.num_bits}
            others["patterns"] = maps.patterns
            if maps.basis is not None:
                others["basis"] = maps.basis
            np.savez(path.with_suffix(".npz"), **others)
        saved: dict[str, Any] = dict(np.load(path.with_suffix(".npz")))
        saved["num_bits"] = int(saved["num_bits"])
        duals = np.load(path.with_suffix(".npy"), mmap_mode="r")
        found.append(FloatMaps(images.astype(np.float64), duals, **saved))
    return found[0], found[1]


def _certified(options: argparse.Namespace, name: str, test: Digits, maps: _Maps) -> dict[str, Any]:
    """Count certified test images and shared patterns."""
    given = float_maps(load_network(options.networks, name), test.images)
    training, noisy = (shared_patterns(part) for part in maps[name])
    return {
        "test images as given": int(given.certified.sum()),
        "test images with noise": noisy.num_points,
        "training images with noise": training.num_points,
        "training images that share a pattern": training.num_sharing,
        "neurons and maxima": given.num_bits,
    }


def _table_2(maps: _Maps, test: Digits) -> dict[str, dict[str, int]]:
    first, second = ([pair[k] for pair in maps.values()] for k in (0, 1))
    table = mapping_table(first, second, test.labels)
    return {name: dict(zip(maps, row, strict=True)) for name, row in zip(maps, table, strict=True)}


def _ranks(folder: Path, maps: _Maps, training: Digits) -> dict[str, dict[str, Any]]:
    """Return numerical ranks of C_j of dense networks, and exact ones at some images."""
    found = dict[str, dict[str, Any]]()
    for name, (first, _) in maps.items():
        if name.startswith("dense"):
            network = read(load_network(folder, name)).network
            exact = exact_maps(network, training.images[:_EXACT].astype(np.float64))
            with torch.no_grad():
                active = load_network(folder, name)[0](torch.from_numpy(training.images)) > 0
            found[name] = {
                "neurons active at some image": int(active.any(dim=0).sum()),
                "8,000 images, numerical": dual_map(first, first).ranks[0],
                f"{_EXACT} images, exact": exact.rank(0),
            }
    return found


def _table_1(maps: _Maps, test: Digits) -> dict[str, dict[str, int]]:
    """Return how many test images are right, for each network and number of clusters."""
    table = {}
    for name, (first, second) in maps.items():
        rows = clustering_table(first, second, test.labels, _CLUSTERS)
        table[name] = {str(row.num_clusters or "network"): row.num_right for row in rows}
    return table


if __name__ == "__main__":
    main()
