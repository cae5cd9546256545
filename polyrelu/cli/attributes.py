"""The command `polyrelu attributes NET …`: affine maps at points of data, compared."""

from __future__ import annotations

import argparse
import functools
import operator
from typing import TYPE_CHECKING, Any

from polyrelu.cli.options import (
    NETWORK_HELP,
    UsageError,
    add_command,
    add_limits,
    add_reading,
    add_seed,
    read_network,
)
from polyrelu.cli.output import print_object, print_reading, reading, show
from polyrelu.support.progress import ProgressLine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyrelu.attributes import FloatMaps
    from polyrelu.formats import Imported, Samples
    from polyrelu.support.progress import Progress

__all__ = ["add_attributes"]

#: Maximum number of clusters that may be asked for.
_MOST_CLUSTERS = 10**6


def add_attributes(subparsers: Any) -> None:
    """Add the command to the parser."""
    summary = (
        "compute the affine maps of networks at points of data: certified activation patterns, "
        "accuracy by clusters of the maps, and maps between networks"
    )
    examples = (
        "attributes net.onnx --data data.npz --clusters 1,2",
        "attributes net.onnx --data data.npz --map-to quantised.onnx --json",
    )
    parser = add_command(subparsers, "attributes", _run, summary, examples)
    parser.add_argument("networks", metavar="NET", nargs="+", help=NETWORK_HELP)
    parser.add_argument(
        "--data",
        required=True,
        metavar="FILE",
        help=".npz archive with arrays x (points), y (their classes), x_test, y_test, of which x "
        "alone is needed, or an .npy file of points. Without x_test the last fifth of the points "
        "are test points; without classes, the class that the network itself chooses is the right "
        "one",
    )
    parser.add_argument(
        "--divide",
        type=float,
        default=1.0,
        metavar="NUMBER",
        help="divide all coordinates by a number first, such as 255 for bytes of images (1)",
    )
    parser.add_argument(
        "--clusters",
        default="",
        metavar="COUNTS",
        help="numbers of clusters such as 1,10,100: how many test points keep the right class if "
        "the map of each output is replaced by the nearest centre of its cluster (needs "
        "scikit-learn)",
    )
    parser.add_argument(
        "--map-to",
        metavar="NET2",
        help="another network: fit matrices that map the affine maps of each NET to NET2, "
        "and count the test points that get the right class",
    )
    add_seed(parser, "seed of the clusters (0)")
    add_limits(parser)
    add_reading(parser)


def _run(options: argparse.Namespace, started: float) -> int:
    from polyrelu.formats import read_samples

    counts = _counts(options.clusters)
    if options.divide in (0.0, float("inf")) or options.divide != options.divide:
        raise UsageError(f"--divide {options.divide}: expected a number other than 0")
    names = [*options.networks, *([] if options.map_to is None else [options.map_to])]
    imported = [read_network(options, name) for name in names]
    _check_inputs(names, imported)
    samples = read_samples(options.data, imported[0].network.num_inputs)
    with ProgressLine() as line:
        maps = [_maps(one, samples, options.divide, line.show) for one in imported]
        kept = _kept(names, maps)
        maps = [(one.restricted(kept[0]), two.restricted(kept[1])) for one, two in maps]
        labels = [_labels(samples, kept[1], test) for _, test in maps]
        networks = [
            _network(name, *maps[k], labels[k], counts, options.seed, line.show)
            for k, name in enumerate(options.networks)
        ]
        relations = _relations(options, maps, labels)
    if options.json:
        print_object(
            options,
            "ok",
            started,
            data=options.data,
            num_training=len(samples.training),
            num_test=len(samples.test),
            left_out=_num_left_out(kept),
            labels="data" if samples.test_labels is not None else "network",
            networks=networks,
            maps=relations,
            reading=[reading(one) for one in imported],
        )
    else:
        _show(options, samples, _num_left_out(kept), networks, relations)
        for name, one in zip(names, imported, strict=True):
            print_reading(one, f"{name}: ")
    return 0


def _counts(text: str) -> list[int]:
    """Return the numbers of clusters of an option."""
    parts = text.split(",") if text else []
    if not all(part.strip().isdecimal() and len(part) < 9 for part in parts):
        raise UsageError(f"--clusters {text[:40]!r}: expected numbers such as 1,10,100")
    counts = [int(part) for part in parts]
    if not all(1 <= count <= _MOST_CLUSTERS for count in counts):
        raise UsageError(f"--clusters {text[:40]!r}: numbers from 1 to {_MOST_CLUSTERS}")
    return counts


def _check_inputs(names: Sequence[str], imported: Sequence[Imported]) -> None:
    """Raise an error for networks that cannot read the same data."""
    size = imported[0].network.num_inputs
    for name, one in zip(names, imported, strict=True):
        if one.network.num_inputs != size:
            raise UsageError(
                f"{name}: {one.network.num_inputs} inputs, but {names[0]} has {size}; all networks "
                "read the same data"
            )


def _maps(
    imported: Imported, samples: Samples, divisor: float, progress: Progress
) -> tuple[FloatMaps, FloatMaps]:
    """Return the maps at training and at test points."""
    from polyrelu.attributes import float_maps

    training, test = (
        float_maps(imported, points / divisor, progress=progress)
        for points in (samples.training, samples.test)
    )
    return training, test


def _kept(names: Sequence[str], maps: Sequence[tuple[FloatMaps, FloatMaps]]) -> tuple[Any, Any]:
    """Return at which training and test points floats suffice for the maps of all networks."""
    kept = list[Any]()
    for k, which in enumerate(("training", "test")):
        chosen = functools.reduce(operator.and_, [pair[k].in_range for pair in maps])
        if len(chosen) and not chosen.any():
            raise UsageError(
                f"{', '.join(names)}: at every {which} point a map has numbers beyond 2^400, "
                "so that none can be compared in floats"
            )
        kept.append(chosen)
    return kept[0], kept[1]


def _num_left_out(kept: tuple[Any, Any]) -> dict[str, int]:
    """Return the numbers of training and test points that are left out."""
    training, test = (int((~chosen).sum()) for chosen in kept)
    return {"training": training, "test": test}


def _labels(samples: Samples, kept: Any, test: FloatMaps) -> Any:
    """Return the classes of the test points; those that the network chooses if none are given."""
    from polyrelu.attributes.float_maps import classes

    return classes(test.outputs) if samples.test_labels is None else samples.test_labels[kept]


def _network(
    name: str,
    training: FloatMaps,
    test: FloatMaps,
    labels: Any,
    counts: Sequence[int],
    seed: int,
    progress: Progress,
) -> dict[str, Any]:
    """Return what is known about one network."""
    from dataclasses import asdict

    from polyrelu.attributes import clustering_table, shared_patterns

    rows = clustering_table(training, test, labels, counts, seed=seed, progress=progress)
    return {
        "network": name,
        "uncertified": {"training": training.num_uncertified, "test": test.num_uncertified},
        "num_right": rows[0].num_right,
        "clusters": [asdict(row) for row in rows[1:]],
        "shared_patterns": asdict(shared_patterns(training)),
    }


def _relations(
    options: argparse.Namespace,
    maps: Sequence[tuple[FloatMaps, FloatMaps]],
    labels: Sequence[Any],
) -> list[dict[str, Any]]:
    """Return the maps from each network to the one of --map-to."""
    from polyrelu.attributes import dual_map
    from polyrelu.errors import DomainError

    if options.map_to is None:
        return []
    found = list[dict[str, Any]]()
    for name, (training, test) in zip(options.networks, maps[:-1], strict=True):
        try:
            fit = dual_map(training, maps[-1][0])
        except DomainError as error:
            raise UsageError(f"{name} to {options.map_to}: {error}") from None
        found.append(
            {
                "from": name,
                "to": options.map_to,
                "num_right": fit.image(test).num_right(labels[-1]),
                "ranks": list(fit.ranks),
                "residuals": [float(f"{residual:.6g}") for residual in fit.residuals],
            }
        )
    return found


def _show(
    options: argparse.Namespace,
    samples: Samples,
    left_out: dict[str, int],
    networks: Sequence[dict[str, Any]],
    relations: Sequence[dict[str, Any]],
) -> None:
    """Print the answer for people."""
    total = len(samples.test) - left_out["test"]
    num_training, num_test = len(samples.training), len(samples.test)
    show(f"data              {num_training} training points, {num_test} test points")
    if any(left_out.values()):
        show(
            f"left out          {left_out['training']} training points, {left_out['test']} test "
            "points, where maps have numbers beyond 2^400"
        )
    if samples.test_labels is None:
        show("right             the class that the network itself chooses")
    for one in networks:
        shared, unknown = one["shared_patterns"], one["uncertified"]
        show(
            f"network           {one['network']}",
            f"  right           {one['num_right']} of {total}",
            *(f"  {_clusters_text(row)}{row['num_right']} of {total}" for row in one["clusters"]),
            f"  uncertified     {unknown['training']} training points, {unknown['test']} test "
            "points: on a boundary of pieces, or too near to one",
            f"  patterns        {shared['num_patterns']} at {shared['num_points']} certified "
            f"training points; {shared['num_sharing']} points share theirs",
        )
    for one in relations:
        low, high = min(one["ranks"]), max(one["ranks"])
        ranks = f"rank {low}" if low == high else f"ranks {low} to {high}"
        right = f"{one['num_right']} of {total}, {ranks}"
        show(f"map               {one['from']} to {one['to']}: {right}")


def _clusters_text(row: dict[str, Any]) -> str:
    """Return the name of a row of clusters, padded."""
    count = row["num_clusters"]
    return f"{count} cluster{'s' if count > 1 else ''}".ljust(16)
