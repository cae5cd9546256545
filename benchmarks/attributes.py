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
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.digit_networks import NETWORKS, Digits, load_digits, load_network
from benchmarks.reporting import write_results
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

_CLUSTERS = (1, 10, 100, 1000)
#: Number of images at which maps are computed exactly, for ranks.
_EXACT = 300


def main() -> None:
    """Measure, and write results/attributes.json."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("networks", type=Path)
    parser.add_argument("scratch", type=Path)
    parser.add_argument("--clusters", default=",".join(map(str, _CLUSTERS)))
    options = parser.parse_args()
    torch.set_num_threads(1)
    started = time.process_time()
    training, test = load_digits()
    noisy = with_noise(training, 1), with_noise(test, 2)
    maps = {
        name: [_maps(options, name, kind, digits) for kind, digits in zip("ab", noisy, strict=True)]
        for name in NETWORKS
    }
    results: dict[str, Any] = {"images": {"training": len(training.labels), "test": 2000}}
    results["certified"] = {name: _certified(options.networks, name, test, maps) for name in maps}
    results["table 2"] = _table_2(maps, test)
    results["ranks"] = _ranks(options.networks, maps, training)
    counts = [int(count) for count in options.clusters.split(",")]
    results["table 1"] = {}
    for name, (first, second) in maps.items():
        rows = clustering_table(first, second, test.labels, counts)
        results["table 1"][name] = {str(row.num_clusters): row.num_right for row in rows}
        results["seconds"] = round(time.process_time() - started)
        write_results("attributes", results)


def with_noise(digits: Digits, seed: int) -> Digits:
    """Return images that are nowhere exactly constant."""
    noise = np.random.default_rng(seed).integers(0, 256, digits.images.shape)
    return Digits((digits.images + noise / 2.0**20).astype(np.float32), digits.labels)


def _maps(options: argparse.Namespace, name: str, kind: str, digits: Digits) -> FloatMaps:
    """Return the maps of a network at images; the large table lies in a file."""
    found = float_maps(load_network(options.networks, name), digits.images)
    path = options.scratch / f"{name.replace(' ', '_')}_{kind}.npy"
    np.save(path, found.duals)
    table = np.load(path, mmap_mode="r")
    return FloatMaps(
        found.samples, table, found.certified, found.patterns, found.num_bits, basis=found.basis
    )


def _certified(
    folder: Path, name: str, test: Digits, maps: dict[str, list[FloatMaps]]
) -> dict[str, Any]:
    """Count certified test images and shared patterns."""
    given = float_maps(load_network(folder, name), test.images)
    training, noisy = (shared_patterns(part) for part in maps[name])
    return {
        "test images as given": int(given.certified.sum()),
        "test images with noise": noisy.num_points,
        "training images with noise": training.num_points,
        "training images that share a pattern": training.num_sharing,
        "neurons and maxima": given.num_bits,
    }


def _table_2(maps: dict[str, list[FloatMaps]], test: Digits) -> dict[str, dict[str, int]]:
    first, second = ([pair[k] for pair in maps.values()] for k in (0, 1))
    table = mapping_table(first, second, test.labels)
    return {name: dict(zip(maps, row, strict=True)) for name, row in zip(maps, table, strict=True)}


def _ranks(
    folder: Path, maps: dict[str, list[FloatMaps]], training: Digits
) -> dict[str, dict[str, Any]]:
    """Return numerical ranks of C_j, and exact ones at some images for dense networks."""
    found = dict[str, dict[str, Any]]()
    for name, (first, _) in maps.items():
        found[name] = {"numerical": dual_map(first, first).ranks}
        if name.startswith("dense"):
            network = read(load_network(folder, name)).network
            exact = exact_maps(network, training.images[:_EXACT].astype(np.float64))
            found[name]["exact, output 0"] = exact.rank(0)
    return found


if __name__ == "__main__":
    main()
