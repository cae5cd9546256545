"""Where the networks of an answer come from, in its certificate.

A prover that reads a file itself puts the name and hash of the file, the rounding rules and all
cautions into the part of the certificate that the checker does not verify, as the commands do.
"""

from __future__ import annotations

from typing import Any, TypeVar

from polyrelu.formats import Imported
from polyrelu.outcomes import Undecided

__all__ = ["with_sources"]

_Outcome = TypeVar("_Outcome")


def with_sources(outcome: _Outcome, first: Imported, second: Imported | None = None) -> _Outcome:
    """Return an answer with the sources of its networks in its certificate, if it has one.

    A network that was not read, or was given by its numbers, has no source.
    """
    notes = dict(first.provenance) if _has_source(first) else {}
    if second is not None and _has_source(second):
        notes |= {f"other-{key}": text for key, text in second.provenance.items()}
    if not notes or isinstance(outcome, Undecided):
        return outcome
    decided: Any = outcome
    changed: _Outcome = decided.with_provenance(notes)
    return changed


def _has_source(imported: Imported) -> bool:
    """Whether a record says more than the network does."""
    return bool(imported.source or imported.caveats)
