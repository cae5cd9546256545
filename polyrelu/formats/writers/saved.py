"""What writing a network gives: the files, their number type, and how far the numbers moved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from polyrelu.errors import NetworkFileError
from polyrelu.exact import decimal_above
from polyrelu.formats.imported import Imported
from polyrelu.support.arguments import expect_path
from polyrelu.support.display import bracketed

__all__ = ["SavedNetwork", "names_left_out", "operations_rewritten", "target"]


@dataclass(frozen=True, slots=True, repr=False)
class SavedNetwork:
    """The result of `save`, and of the function of each format.

    Attributes
    ----------
    files
        The files that were written.
    numbers
        The numbers in the file: ``"exact rationals"``, ``"float32"``, ``"float64"`` or
        ``"decimal text"``.
    largest_difference
        The largest |number in the network - number in the file| over all weights and biases.
    notes
        What the network was read with and the file has no place for, such as names of inputs, and
        which operations are written as others.

    Examples
    --------
    >>> SavedNetwork((Path("net.onnx"),), "float32", Fraction(0)).exact
    True
    """

    files: tuple[Path, ...]
    numbers: str
    largest_difference: Fraction
    notes: tuple[str, ...] = ()

    @property
    def exact(self) -> bool:
        """Whether the file holds exactly the numbers of the network."""
        return not self.largest_difference

    def __str__(self) -> str:
        rounded = f"rounded by at most {decimal_above(self.largest_difference)}"
        return f"{self.numbers}, {'exact' if self.exact else rounded}"

    def __repr__(self) -> str:
        return bracketed(f"SavedNetwork {', '.join(path.name for path in self.files)}, {self}")


def target(path: str | Path, endings: Sequence[str], what: str) -> Path:
    """Return the path of a file to write, whose ending must be one of `endings`.

    `what` names the files and the function, for the error: ``"ONNX files", "save_onnx"``.
    """
    file = expect_path(path, "path", f"the network comes first: {what}(network, path)")
    if file.suffix.lower() not in endings:
        problem = f"{what} writes files that end in {' or '.join(endings)}; `load` goes by it"
        raise NetworkFileError(file, "", problem)
    return file


def names_left_out(
    imported: Imported, ending: str, reason: str = "have no place in"
) -> tuple[str, ...]:
    """Return a note on the names of inputs and outputs that a file of this ending does not get."""
    names = [name for name, _ in (*imported.inputs, *imported.outputs)]
    if not names:
        return ()
    listed = ", ".join(repr(name[:40]) for name in names[:6])
    return (f"names of inputs and outputs ({listed}) {reason} {ending} files",)


def operations_rewritten(imported: Imported) -> tuple[str, ...]:
    """Return a note on the operations that are written as ReLUs and skipping connections."""
    names = [name for name in imported.skipping if name != "skip connections"]
    if not names:
        return ()
    return (f"written as ReLUs and connections that skip layers: {' and '.join(names)}",)
