"""The corpus as plain files, for tools and languages that do not know polyrelu."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from polyrelu.corpus.entries import CorpusEntry, corpus_entries, corpus_version
from polyrelu.errors import ArgumentError, PolyreluError
from polyrelu.formats import save
from polyrelu.formats.corpus_files import corpus_entry
from polyrelu.support.arguments import expect, expect_list, expect_path
from polyrelu.support.temporary import temporary_folder

__all__ = ["EXPORT_FORMATS", "export_corpus"]

#: The formats of networks in an exported corpus. Files of each hold the exact weights.
EXPORT_FORMATS = ("json", "onnx", "npz")


def export_corpus(
    folder: str | Path,
    entries: Iterable[CorpusEntry] | None = None,
    *,
    formats: Iterable[str] = EXPORT_FORMATS,
) -> Path:
    """Write networks of the corpus with their answers and certificates to plain files.

    The folder appears with all files or not at all. Its `README.md` describes them.

    Parameters
    ----------
    folder
        A folder that does not exist yet, or an empty one.
    entries
        The networks; by default all.
    formats
        Formats of the networks, among `EXPORT_FORMATS`. ONNX files need the extra `onnx`. Networks
        that end in a ReLU get no npz file, which could not say so.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    ArgumentError
        A format is unknown or needs a package that is not installed.
    PolyreluError
        The folder is not empty, or cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from polyrelu.corpus import find_entry
    >>> with tempfile.TemporaryDirectory() as place:
    ...     written = export_corpus(f"{place}/corpus", [find_entry("concurrent-3")])
    ...     print(*sorted(path.name for path in written.glob("degenerate/concurrent-3/*")))
    answers.json complex.cert.json identify.cert.json network.json network.npz network.onnx
    """
    target = expect_path(folder, "folder", "give the name of a new folder")
    chosen = list(dict.fromkeys(corpus_entries() if entries is None else entries))
    for entry in chosen:
        expect(entry, CorpusEntry, "an entry", "find_entry(name) returns one")
    if not chosen:
        raise ArgumentError("entries: no network was chosen; leave them out for all networks")
    endings = _formats(formats)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise PolyreluError(f"{target}: cannot write: it is no empty folder; choose another name")
    if not target.parent.is_dir():
        raise PolyreluError(f"{target}: cannot write: there is no folder {target.parent}")
    try:
        with temporary_folder(target.parent, ".polyrelu-") as place:
            made = Path(place, "corpus")
            _write(made, chosen, endings)
            if target.exists():
                target.rmdir()
            os.replace(made, target)
    except OSError as error:
        raise PolyreluError(f"{target}: cannot write: {error.strerror or error}") from None
    return target


def _formats(formats: Iterable[str]) -> list[str]:
    """Return the formats in order, or raise an error that names the remedy."""
    given = expect_list(list(formats) if not isinstance(formats, str) else formats, "formats")
    for name in given:
        if name not in EXPORT_FORMATS:
            known = ", ".join(EXPORT_FORMATS)
            raise ArgumentError(f"formats: {str(name)[:40]!r} is none of {known}")
    if "onnx" in given and find_spec("onnx") is None:
        raise ArgumentError(
            "formats: ONNX files need the package onnx: pip install 'polyrelu[onnx]', or choose "
            "json and npz only"
        )
    return [name for name in EXPORT_FORMATS if name in given]


def _write(folder: Path, entries: list[CorpusEntry], formats: list[str]) -> None:
    folder.mkdir()
    readme = files("polyrelu") / "corpus" / "data" / "README.md"
    (folder / "README.md").write_bytes(readme.read_bytes())
    index = {
        "format": "polyrelu-corpus",
        "version": corpus_version(),
        "entries": [corpus_entry(entry.name) for entry in entries],
    }
    _write_json(folder / "index.json", index)
    for entry in entries:
        place = folder / entry.kind / entry.name
        place.mkdir(parents=True)
        network = entry.network
        for name in formats:
            if name != "npz" or entry.last == "affine":
                save(network, place / f"network.{name}")
        _write_json(place / "answers.json", entry.answers)
        for name, data in entry.certificates.items():
            (place / f"{name}.cert.json").write_bytes(data)


def _write_json(path: Path, value: Any) -> None:
    path.write_text(f"{json.dumps(value, ensure_ascii=False, indent=1)}\n", "utf-8", newline="\n")
