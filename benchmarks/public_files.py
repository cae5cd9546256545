"""`identify` on network files from elsewhere: what is proved, refuted, or undecided and why.

    python -m benchmarks.public_files FOLDER [--budget 60000] [--memory 6000] [--only NAME,...]
        [--jobs N] [--checkpoint FILE]

Every file below the folder whose ending polyrelu knows is read, in a process of its own, and
`identify` runs on it with the same budget of work. Files that are refused are counted with the
error. Files that hold the same network (in exact numbers) are marked as copies of the first one.
Certificates go through the checker unless `--unchecked` is given. Times are CPU seconds of one
thread, without the imports. The budget counts work and no seconds, so that answers depend neither
on the load of the machine nor on the number of jobs. Results of files that are not run again stay
in results/public_files.json.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import polyrelu
from benchmarks.reporting import RESULTS, add_campaign_options, asked, write_results
from polyrelu import PolyreluError, checker
from polyrelu.network import Network
from polyrelu.outcomes import NotIdentifiable, Outcome, Undecided
from polyrelu.proofs.identify import SETTINGS
from polyrelu.support.text_files import layout

#: Endings of files beside the networks that are no networks.
_OTHERS = {".md", ".vnnlib", ".txt", ".json5", ""}


def main() -> None:
    """Run all files, and write results/public_files.json."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--budget", type=int, default=SETTINGS.budget)
    parser.add_argument("--memory", type=int, default=6000, help="limit in MiB")
    parser.add_argument("--only", default="", help="parts of the names of the files to run")
    parser.add_argument("--unchecked", action="store_true")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    add_campaign_options(parser)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(result_of(options.folder, options.budget, not options.unchecked)))
        return
    names = options.only.split(",")
    files = {str(path.relative_to(options.folder)): path for path in files_below(options.folder)}
    chosen = {name: files[name] for name in files if any(part in name for part in names)}
    settings = {
        "budget": options.budget,
        "memory": options.memory,
        "is_checked": not options.unchecked,
    }
    results = _known_results(options) | asked(in_own_process, chosen, settings, options)
    ordered = {name: results[name] for name in sorted(results)}
    write_results(
        "public_files",
        {"budget": options.budget, "summary": summary(ordered), "files": ordered},
    )


def _known_results(options: argparse.Namespace) -> dict[str, Any]:
    """Return earlier results of files that still exist, if only some files run."""
    path = RESULTS / "public_files.json"
    if not options.only or not path.exists():
        return {}
    files: dict[str, Any] = json.loads(path.read_text())["files"]
    return files


def files_below(folder: Path) -> list[Path]:
    """Return the files below a folder that may be networks, in the order of their names."""
    found = (path for path in folder.rglob("*") if path.is_file())
    return sorted(path for path in found if path.suffix not in _OTHERS)


def in_own_process(path: Path, *, budget: int, memory: int, is_checked: bool) -> dict[str, Any]:
    """Return the result for one file, computed in one thread under the limit of memory."""
    command = [sys.executable, "-m", "benchmarks.public_files", "--one", str(path)]
    command += ["--budget", str(budget)]
    command += [] if is_checked else ["--unchecked"]
    limited = f'ulimit -v {1024 * memory}; exec "$@"'
    done = subprocess.run(
        ["bash", "-c", limited, "bash", *command],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    )
    if done.returncode in (-signal.SIGKILL, -signal.SIGTERM):  # says nothing about the file
        raise RuntimeError(f"{path}: something else ended the process")
    if done.returncode:
        return {"verdict": "failed", "reason": done.stderr.strip().splitlines()[-1:]}
    result: dict[str, Any] = json.loads(done.stdout)
    return result


# -- one file --------------------------------------------------------------------------------------


def result_of(path: Path, budget: int, is_checked: bool) -> dict[str, Any]:
    """Return what `identify` says of a file, with CPU seconds and bytes."""
    try:
        network = polyrelu.load(path)
    except PolyreluError as error:
        return {"verdict": "refused", "reason": str(error).rpartition("/")[2]}
    started = time.process_time()
    outcome = polyrelu.identify(network, budget=budget)
    result = {
        "kind": kind_of(network),
        "widths": list(network.widths),
        "network": network.sha256[:12],
        "verdict": outcome.status,
        **_details(outcome),
        "seconds": round(time.process_time() - started, 2),
    }
    certificate = _certificate_of(outcome)
    if certificate is not None:
        result["proof_bytes"] = len(layout(certificate.to_document()[0]["proof"]))
        if is_checked:
            result |= _checked(certificate)
    return result


def _checked(certificate: polyrelu.Certificate) -> dict[str, Any]:
    """Write a certificate and check the file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cert.json"
        certificate.save(path)
        started = time.process_time()
        verdict = checker.check_file(path).verdict
        return {"check": verdict, "check_seconds": round(time.process_time() - started, 2)}


def kind_of(network: Network) -> str:
    """Return a word for the architecture of a network."""
    if not network.is_plain:
        return "other layers"
    if network.last != "affine":
        return "trailing ReLU"
    if network.depth <= 2:
        return "one hidden layer" if network.depth == 2 else "affine"
    if network.num_inputs == 1:
        return "one input"
    return "plain stack"


def _certificate_of(outcome: Outcome) -> polyrelu.Certificate | None:
    if isinstance(outcome, Undecided):
        return None if outcome.part is None else outcome.part.certificate
    certificate: polyrelu.Certificate = outcome.certificate
    return certificate


def _details(outcome: Outcome) -> dict[str, Any]:
    """Return theorem and class of an answer, or the reasons why there is none."""
    if isinstance(outcome, Undecided):
        reasons = {attempt.theorem: attempt.reason for attempt in outcome.attempts}
        found = {"reason": outcome.reason, "attempts": reasons}
        return found if outcome.part is None else {**found, "part": str(outcome.part)}
    certificate = outcome.certificate
    found = {"theorem": certificate.theorem, "among": certificate.claim.among}
    if isinstance(outcome, NotIdentifiable):
        found["reason"] = outcome.explanation
    return found


# -- the summary -----------------------------------------------------------------------------------


def summary(files: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Return counts of verdicts for each kind of network, of files and of different networks."""
    first: dict[str, str] = {}
    for name, result in files.items():
        first.setdefault(result.get("network", name), name)
    return {
        "files": _counts(list(files.values())),
        "networks": _counts([files[name] for name in first.values()]),
        "seconds": round(sum(result.get("seconds", 0) for result in files.values())),
    }


def _counts(results: list[dict[str, Any]]) -> dict[str, dict[str, int]]:
    kinds: dict[str, Counter[str]] = {}
    for result in results:
        verdict = result["verdict"]
        if verdict == "undecided" and "part" in result:
            verdict = "in part"
        kinds.setdefault(result.get("kind", "no network"), Counter())[verdict] += 1
    return {kind: dict(sorted(counts.items())) for kind, counts in sorted(kinds.items())}


if __name__ == "__main__":
    main()
