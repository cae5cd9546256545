"""Where users wait: CPU seconds of `info`, `identify` and `equivalent` on files from elsewhere.

    python -m benchmarks.where_users_wait [--before FILE] [--output FILE] [--profile]

Each file is read as `polyrelu info` does, with the comparison with its runtime; `identify` gets 200
units of work; `equivalent` gets 500 and compares the network with itself, permuted and rescaled,
and with a copy whose first output has another bias. A case ends after 6 seconds of CPU time, and
is then shown as 6. Numbers are CPU seconds of one process on one thread, the reading of a file not
counted but for `info`. `hash` is the start of the SHA-256 of the answer: of the certificate, if
there is one. The files are those in the folder `nets` of the folder that POLYRELU_SHARED names;
three networks that the script makes come first. The first file of PyTorch in a process also pays
for the import of PyTorch.

`--before` takes the `--output` of an older version and shows both; the tables have the slowest
files, and those whose answer is another one. `--profile` writes in place of the seconds the
functions of the package that take the most time of their own, as percent of the time of a command
on eight files.
"""

from __future__ import annotations

import argparse
import cProfile
import gc
import hashlib
import itertools
import json
import pstats
import signal
import sys
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any

import numpy as np

from benchmarks.reporting import RESULTS, write_results
from polyrelu import Network, equivalent, identify
from polyrelu.errors import PolyreluError
from polyrelu.exact import RationalMatrix
from polyrelu.formats import Imported, read
from polyrelu.network import Layer, from_arrays
from polyrelu.symmetry import permute, rescale
from tests.generators.files import NETS
from tests.oracles.judge import certificate_bytes

#: CPU seconds after which a case ends.
LIMIT = 6.0
#: Units of work of `identify` and of `equivalent`.
WORK_IDENTIFY, WORK_EQUIVALENT = 200, 500
COMMANDS = ("info", "identify", "equivalent, same", "equivalent, changed")
#: Maximum number of parameters, zeros included, of a network whose certificates are hashed, and
#: that is permuted and rescaled; a larger one is compared with itself.
LARGEST = 20_000_000
#: What stands for the hash of an answer that did not come.
OUT_OF_TIME = "out of time"
#: The files of the profile.
PROFILED = (
    "acasxu_1_1_marabou.onnx",
    "marabou_certificate_controller.onnx",
    "marabou_mnist2x10.onnx",
    "marabou_mnist5x20_leaky.onnx",
    "marabou_traffic64.onnx",
    "mnist_256x2.onnx",
    "oval_cifar_deep.onnx",
    "nn4sys_lindex.onnx",
)
#: Number of files with the longest times that are shown for each command.
SLOWEST = 15
#: Number of functions of a profile that are listed.
SHOWN = 8
#: Endings of network files.
ENDINGS = (".onnx", ".nnet", ".h5", ".keras", ".pt", ".pth", ".bin", ".npz", ".zip", ".mat")


class OutOfTime(BaseException):
    """Raised when a case has used its CPU time; nothing catches it but `measured`."""


def main() -> None:
    """Measure all cases."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--before", type=Path, help="results of an older version")
    parser.add_argument("--output", type=Path, help="write results here and not in results/")
    parser.add_argument("--profile", action="store_true", help="profile in place of measuring")
    options = parser.parse_args()
    signal.signal(signal.SIGPROF, _stop)
    found = profiles() if options.profile else cases()
    if options.output:
        options.output.write_text(json.dumps(found, indent=1) + "\n")
        return
    before = json.loads(options.before.read_text("utf-8")) if options.before else {}
    results = RESULTS / "where_users_wait.json"
    known = json.loads(results.read_text("utf-8")) if results.exists() else {}
    if options.profile:
        entry: dict[str, Any] = {"profile": {"before": before, "after": found}}
    else:
        entry = compared(before.get("cases", {}), found["cases"])
    write_results("where_users_wait", {**known, **entry})


def cases() -> dict[str, Any]:
    """Return for each file the seconds of each command and the start of the hash of its answer."""
    found: dict[str, Any] = {}
    for name, source in sources():
        entry: dict[str, Any] = {}
        for command, run in commands(source):
            entry[command], entry[f"{command}: hash"] = measured(run)
        found[name] = entry
        print(name, entry, file=sys.stderr, flush=True)
    return {"cases": found}


def compared(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """Return a table for each command: seconds before and after, and whether the answer is kept."""
    found: dict[str, Any] = {"sums": {}}
    for command in COMMANDS:
        table = {
            name: {
                "before": before.get(name, {}).get(command),
                "after": entry[command],
                "answer": _change(before.get(name, {}), entry, f"{command}: hash"),
            }
            for name, entry in after.items()
            if command in entry
        }
        known = [row for row in table.values() if row["before"] is not None]
        found["sums"][command] = {
            key: round(sum(row[key] for row in known), 2) for key in ("before", "after")
        } | {"same answers": sum(row["answer"] == "same" for row in known), "files": len(known)}
        slow = sorted(
            table, key=lambda name: -max(table[name]["before"] or 0, table[name]["after"])
        )
        found[command] = {name: table[name] for name in slow[:SLOWEST]}
        found[command] |= {name: row for name, row in table.items() if row["answer"] == "other"}
    return found


def _change(before: dict[str, Any], after: dict[str, Any], key: str) -> str:
    """Say whether the answer of a case is the same as before."""
    if OUT_OF_TIME in (before.get(key), after[key]):
        return OUT_OF_TIME
    return "same" if before.get(key) == after[key] else "other"


def profiles() -> dict[str, Any]:
    """Return for each command the functions with the most time of their own in all cases."""
    profilers: dict[str, cProfile.Profile] = {}
    for name, source in sources():
        for command, run in commands(source) if name in PROFILED else ():
            measured(run, profilers.setdefault(command, cProfile.Profile()))
    return {command: _shares(profiler) for command, profiler in profilers.items()}


def sources() -> Iterator[tuple[str, Any]]:
    """Yield names and network files, and before them networks that need no file."""
    for widths in ((4, 6, 6, 1), (64, 32, 16, 10), (784, 64, 64, 10)):
        random = np.random.default_rng(len(widths) + widths[0])
        pairs = [
            (random.normal(size=(m, n)).astype(np.float32), random.normal(size=m))
            for n, m in itertools.pairwise(widths)
        ]
        yield f"made {'-'.join(map(str, widths))}", from_arrays(pairs)
    for folder in (NETS, NETS / "more"):
        for path in sorted(folder.iterdir()) if folder.is_dir() else ():
            if path.suffix in ENDINGS:
                yield path.name, path


def commands(source: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield the commands for a file; files that cannot be read have `info` only."""
    yield "info", lambda: _told(read(source) if isinstance(source, Path) else source)
    try:
        network = read(source, compare=False).network if isinstance(source, Path) else source
    except PolyreluError:
        return
    same, changed = _disguised(network), _changed(network)
    yield "identify", lambda: identify(network, budget=WORK_IDENTIFY)
    yield "equivalent, same", lambda: equivalent(network, same, budget=WORK_EQUIVALENT)
    yield "equivalent, changed", lambda: equivalent(network, changed, budget=WORK_EQUIVALENT)


def measured(run: Callable[[], Any], profiler: cProfile.Profile | None = None) -> tuple[float, str]:
    """Return the CPU seconds of a call, at most `LIMIT`, and the start of its answer's hash."""
    gc.collect()
    started = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, LIMIT)
    try:
        if profiler is not None:
            profiler.enable()
        answer = run()
    except PolyreluError as error:
        answer = str(error)
    except OutOfTime:
        return LIMIT, OUT_OF_TIME
    finally:
        if profiler is not None:
            profiler.disable()
        signal.setitimer(signal.ITIMER_PROF, 0)
    return round(time.process_time() - started, 3), _hash(answer)


def _stop(number: int, frame: FrameType | None) -> None:
    raise OutOfTime


def _told(imported: Imported | Network) -> str:
    """What `info` says: the hash of the network, and the comparison with the runtime."""
    if isinstance(imported, Network):
        return imported.sha256
    return f"{imported.network.sha256} {imported.comparison} {imported.steps} {imported.notes}"


def _hash(answer: Any) -> str:
    """Return the start of the hash of an answer: of its certificate, if that is not too large."""
    data = str(getattr(answer, "reason", answer)).encode()
    if getattr(answer, "certificate", None) is not None:
        networks = answer.certificate.claim.networks.values()
        is_large = any(network.num_parameters > LARGEST for network in networks)
        try:
            data = answer.status.encode() if is_large else certificate_bytes(answer)
        except PolyreluError as error:  # beyond a limit of the format
            data = f"{answer.status} {error}".encode()
    return hashlib.sha256(data).hexdigest()[:8]


def _disguised(network: Network) -> Network:
    """Return the network permuted in the first layer and rescaled in the last hidden one."""
    is_large = network.num_parameters > LARGEST
    if is_large or not network.is_plain or network.depth < 2 or network.last != "affine":
        return network
    order = Random(0).sample(range(network.widths[1]), network.widths[1])
    last = network.num_hidden_layers
    factors = [Fraction(k % 5 + 1, 7) for k in range(network.widths[last])]
    return rescale(permute(network, 1, order), last, factors)


def _changed(network: Network) -> Network:
    """Return the network with another bias of its first output."""
    layer = network.layers[-1]
    first, *others = layer.bias.entries()
    bias = RationalMatrix.column([first + Fraction(1, 1024), *others])
    return network.replace_layers({network.depth: Layer(layer.blocks, bias)})


def _shares(profiler: cProfile.Profile) -> list[dict[str, Any]]:
    """Return the functions of the package that take the most time of their own."""
    entries = pstats.Stats(profiler).stats  # type: ignore[attr-defined]
    total = sum(entry[2] for entry in entries.values()) or 1.0
    own = [
        (entry[2], f"{file.split('/polyrelu/')[-1]}:{name}", entry[1])
        for (file, _, name), entry in entries.items()
        if "/polyrelu/" in file
    ]
    return [
        {"function": name, "percent": round(100 * seconds / total, 1), "calls": calls}
        for seconds, name, calls in sorted(own, reverse=True)[:SHOWN]
    ]


if __name__ == "__main__":
    main()
