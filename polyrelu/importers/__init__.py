"""Network files to exact networks: one module per format, nothing rounded, guessed or skipped in silence."""

from polyrelu.importers.load import FORMATS, Imported, load, read
from polyrelu.importers.native import save

__all__ = ["FORMATS", "Imported", "load", "read", "save"]
