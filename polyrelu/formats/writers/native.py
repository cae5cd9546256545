"""Writer of the native format: canonical JSON with exact integers (FORMAT.md §2)."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from polyrelu.formats.imported import Imported
from polyrelu.formats.writers.saved import (
    SavedNetwork,
    names_left_out,
    operations_rewritten,
)
from polyrelu.network import to_document
from polyrelu.support.text_files import layout, write_all

__all__ = ["write_native"]


def write_native(imported: Imported, path: Path) -> SavedNetwork:
    """Write any network as a native file, exactly."""
    files = write_all([(path, layout(to_document(imported.network)))])
    notes = names_left_out(imported, ".json") + operations_rewritten(imported)
    return SavedNetwork(tuple(files), "exact rationals", Fraction(), notes)
