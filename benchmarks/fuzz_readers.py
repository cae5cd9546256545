"""Damaged files: what every reader answers, in forks under limits of memory and time.

    python -m benchmarks.fuzz_readers [--files 2000] [--seed 0] [--kinds .onnx .npz claims …]

Files of every format are truncated, flipped, overwritten, spliced and given absurd sizes; archives
are packed again after their members are damaged; ONNX graphs are wired in circles, or read external
data outside their folder; and there are bombs. ``polyrelu info`` must read each file, or refuse it
in one line with exit status 2, within 30 CPU seconds and 2 GB. The same holds for the documents of
`tests.generators.damaged_documents` and the commands that read them: certificates, checkpoints,
claims, properties, counterexamples, domains, samples and breakpoints. The good files that are
damaged are recorded by their number, bytes and hash.

HDF5 is read in the forks, because a process of its own for each file takes half a second; a file
that the forks do not survive is read again with a process of its own, as users read it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks.reporting import RESULTS, write_results
from polyrelu.formats.keras import files as keras_files
from tests.generators.damaged_documents import DOCUMENTS, damaged_documents, good_documents
from tests.generators.damaged_files import ENDINGS, damaged_files, good_files
from tests.generators.guarded import BYTES, SECONDS, Outcome, read_guarded
from tests.generators.hdf5_in_process import read_in_process

#: Number of files that one fork reads.
_BATCH = 50
#: CPU seconds after which a file is read with a process of its own for HDF5.
_SECONDS_OF_HDF5 = 1.0


def main() -> None:
    """Damage files of every format, read them, and write results/fuzz_readers.json."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kinds", nargs="*", default=[*ENDINGS, *DOCUMENTS])
    parser.add_argument("--keep", type=Path, help="a folder for the files that are not answered")
    options = parser.parse_args()
    _import_libraries()
    for kind in options.kinds:
        found = _fuzz(kind, options.files, options.seed, options.keep)
        print(kind, found, flush=True)
        _write(kind, found, options.seed)


def _write(kind: str, found: dict[str, Any], seed: int) -> None:
    """Store the counts of a format beside those of the others, which stay."""
    path = RESULTS / "fuzz_readers.json"
    before = json.loads(path.read_text())["formats"] if path.exists() else {}
    formats = {**before, kind: found}
    ordered = {name: formats[name] for name in (*ENDINGS, *DOCUMENTS) if name in formats}
    limits = {"CPU seconds": SECONDS, "bytes": BYTES}
    write_results("fuzz_readers", {"seed": seed, "limits": limits, "formats": ordered})


def _import_libraries() -> None:
    """Import what readers import late, so that the forks have it already."""
    import h5py  # noqa: F401
    import onnx  # noqa: F401
    import onnxruntime  # noqa: F401
    import safetensors  # noqa: F401
    import torch  # noqa: F401


def _outcomes(kind: str, paths: list[Path]) -> Iterator[Outcome]:
    """Yield the outcome of each file."""
    if kind in DOCUMENTS:
        yield from read_guarded(paths, command=DOCUMENTS[kind].words)
        return
    if kind not in (".h5", ".keras"):
        yield from read_guarded(paths)
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(keras_files, "read_hdf5", read_in_process)
        outcomes = list(read_guarded(paths, _SECONDS_OF_HDF5))
    for path, outcome in zip(paths, outcomes, strict=True):
        yield from [outcome] if outcome.is_fine else read_guarded([path])


def _written(kind: str, number: int, seed: int, folder: Path) -> list[Path]:
    """Write damaged files, and what stands beside them, and return their paths."""
    if kind in DOCUMENTS:
        ending, contents = DOCUMENTS[kind].ending, damaged_documents(kind, number, seed)
        for name, content in DOCUMENTS[kind].beside.items():
            (folder / name).write_bytes(content)
    else:
        ending, contents = kind, damaged_files(kind, number, seed, bombs=True)
    paths = []
    for place, content in enumerate(contents):
        paths.append(folder / f"damaged{place}{ending}")
        paths[-1].write_bytes(content)
    return paths


def _good(kind: str) -> dict[str, Any]:
    """Return what identifies the good files of a kind."""
    files = good_documents(kind) if kind in DOCUMENTS else good_files(kind)
    digest = hashlib.sha256(b"".join(hashlib.sha256(file).digest() for file in files))
    sizes = sum(map(len, files))
    return {"files": len(files), "bytes": sizes, "sha256": digest.hexdigest()}


def _fuzz(kind: str, number: int, seed: int, keep: Path | None) -> dict[str, Any]:
    """Return the counts of outcomes of damaged files of a kind, and the worst of them."""
    started, outcomes, wrong = time.process_time(), list[Outcome](), list[str]()
    with tempfile.TemporaryDirectory() as folder:
        paths = _written(kind, number, seed, Path(folder))
        for first in range(0, number, _BATCH):
            batch = paths[first : first + _BATCH]
            kept = [path.read_bytes() for path in batch] if keep is not None else []
            for place, outcome in enumerate(_outcomes(kind, batch)):
                outcomes.append(outcome)
                if not outcome.is_fine:
                    name = batch[place].name
                    wrong.append(f"{name}: {outcome.kind}: {outcome.message}")
                    print(wrong[-1], outcome.seconds, flush=True)
                    if keep is not None:
                        (keep / f"{kind.replace(' ', '_')}_{name}").write_bytes(kept[place])
    return {
        "files": len(outcomes),
        "good files": _good(kind),
        **dict(sorted(Counter(outcome.kind for outcome in outcomes).items())),
        "not answered": wrong,
        "most CPU seconds": max(outcome.seconds for outcome in outcomes),
        "most megabytes": max(outcome.megabytes for outcome in outcomes),
        "CPU seconds of making the files": round(time.process_time() - started, 1),
    }


if __name__ == "__main__":
    main()
