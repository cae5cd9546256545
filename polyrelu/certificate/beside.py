"""Network files beside a certificate: which networks get one, and how it is called.

A small network stands in the certificate itself. A large one is written to a file in the same
folder, which the certificate names with its hash. `cert.json` has `cert.network.json`, and
`cert.other.json` for the network that refutes; a claim about a pair has `cert.f.network.json` and
`cert.g.network.json`. A file spells out the zeros of convolutions, so that one with a long text is
packed, and its name ends in `.json.gz`. The same command, given again, writes the same files.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import re
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, cast

from polyrelu.network import Network, to_document
from polyrelu.support.text_files import layout

__all__ = ["network_references"]

#: Maximum number of parameters of a network that stands in the certificate itself.
INLINE_PARAMETERS = 5_000
#: Number of characters of a network's text from which on its file is packed.
PACKED_CHARACTERS = 1 << 23
#: Ends of names by key, for claims about two different networks with equal rights.
_PAIR = {"network": "f.network.json", "other": "g.network.json"}
#: Maximum number of characters of a name before its end; FORMAT.md allows 200 for all of it.
_STEM_LENGTH = 150
#: Maximum number of bytes of an older certificate that are searched for names of network files.
_SEARCHED_BYTES = 1 << 24


def network_references(
    networks: Mapping[str, Network],
    target: Path | None,
    beside: dict[Path, str],
    *,
    pair: bool = False,
) -> dict[str, Any]:
    """Return references to networks by key (FORMAT.md, section 3); equal networks share one.

    The texts of the files that the references name are added to `beside`. Without `target`, the
    path of the certificate, every network is inline. `pair` says that the claim is about two
    networks with equal rights.
    """
    made: dict[str, dict[str, Any]] = {}
    are_different = len({network.sha256 for network in networks.values()}) > 1
    for key, network in networks.items():
        if network.sha256 not in made:
            end = _PAIR[key] if pair and are_different else f"{key}.json"
            made[network.sha256] = _reference(network, end, target, beside)
    return {key: made[network.sha256] for key, network in networks.items()}


def _reference(
    network: Network, end: str, target: Path | None, beside: dict[Path, str]
) -> dict[str, Any]:
    """Return the reference to one network, inline or as a file beside the certificate."""
    if target is None or network.num_parameters <= INLINE_PARAMETERS:
        return {"sha256": network.sha256, "inline": to_document(network)}
    text = layout(to_document(network))
    if len(text) >= PACKED_CHARACTERS:
        end = f"{end}.gz"
    names = [_name(target, end), _name(target, end, "taken"), _name(target, end, network.sha256)]
    free = (name for name in names[:2] if _may_be_written(target.with_name(name), text, target))
    path = target.with_name(next(free, names[2]))
    beside[path] = text
    return {"sha256": network.sha256, "file": path.name}


def _may_be_written(path: Path, text: str, target: Path) -> bool:
    """Return whether a path is free, has this text already, or belongs to an older certificate.

    A file with other content that the certificate at `target` does not name is somebody else's.
    """
    return not path.exists() or _has_content(path, text) or path.name in _named_files(target)


def _has_content(path: Path, text: str) -> bool:
    """Return whether a file, packed or not, holds a text followed by a newline."""
    try:
        with _opened(path) as file:
            return file.read(len(text) + 2) == f"{text}\n".encode("ascii")
    except (OSError, EOFError, zlib.error):
        return False


def _opened(path: Path) -> IO[bytes]:
    """Open a file, which is packed if its name says so."""
    return cast("IO[bytes]", gzip.open(path)) if path.suffix == ".gz" else path.open("rb")


def _named_files(certificate: Path) -> set[str]:
    """Return the names of network files in an older certificate, none if there is no such file."""
    try:
        with _opened(certificate) as file:
            content = file.read(_SEARCHED_BYTES)
    except (OSError, EOFError, zlib.error):
        return set()
    return {name.decode() for name in re.findall(rb'"file": *"([A-Za-z0-9._-]{1,200})"', content)}


def _name(target: Path, end: str, reason: str = "") -> str:
    """Return the name of a network file: `cert.network.json` for `cert.json`.

    FORMAT.md allows few characters in names. One short hash keeps files apart where characters have
    to be replaced, or where there is another `reason`, such as that the plain name is taken.
    """
    stem = target.name.removesuffix(".json")
    kept = re.sub(r"[^A-Za-z0-9._-]", "-", stem)[:_STEM_LENGTH].lstrip(".") or "certificate"
    if kept == stem and not reason:
        return f"{kept}.{end}"
    short = hashlib.sha256(os.fsencode(target.name) + reason.encode("ascii")).hexdigest()[:8]
    return f"{kept}-{short}.{end}"
