"""``.nnet`` text files, the format of the ACAS Xu networks.

A file holds sizes, a normalisation of inputs and outputs, and weights as decimals. Each line holds
numbers separated by commas, and usually ends in a comma:

- any number of comments, which start with ``//``;
- the number of layers, of inputs, of outputs, and the size of the largest layer; some files have
the
  first number only;
- the sizes of the input and of all layers;
- an obsolete flag;
- four lines: minima, maxima, means and ranges of the inputs; the last two contain one more number
for
  all outputs together; a single 0 stands for a line that the file does not have;
- for each layer the rows of its weights, then its biases, one per line.

A ReLU follows every layer but the last. The decimals are taken as exact numbers, or rounded to a
float format (rule ``text``). The weights belong to normalised inputs and outputs; on request the
normalisation is folded into the first and the last layer, exactly or rounded (rule
``normalisation``). No number is rounded twice: weights that are rounded after folding are computed
from the exact decimals.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import TypeAlias

from polyrelu.errors import NetworkError, NetworkFileError
from polyrelu.exact import RationalMatrix
from polyrelu.formats.imported import Draft
from polyrelu.formats.options import ReadOptions, Rounding
from polyrelu.network import from_arrays
from polyrelu.support.limits import DEPTH_LIMIT, PARAMETER_LIMIT, WIDTH_LIMIT

__all__ = ["read_nnet"]

Rows: TypeAlias = list[list[Fraction]]

#: Maximum size of a file in bytes.
_SIZE_LIMIT = 2**30
#: Maximum number of characters of a decimal.
_LENGTH_LIMIT = 1000

_COUNT = re.compile(r"[0-9]{1,9}", re.ASCII)


def read_nnet(path: Path, options: ReadOptions) -> Draft:
    """Read the network of a .nnet file.

    A `NetworkFileError` names the line that cannot be taken exactly.
    """
    text, folded = _Lines.of_file(path), _rounding_before_folding(options.rounding)
    header = _header(text, folded)
    changed = _layers_to_fold(options, len(header.shapes))
    layers = [
        _layer(text, inputs, outputs, folded if number in changed else options.rounding)
        for number, (inputs, outputs) in enumerate(header.shapes)
    ]
    text.check_end()
    draft = Draft(
        "nnet",
        dtypes={"decimal text"},
        rounding={f"text: {options.rounding.text}"},
        notes=header.notes,
    )
    draft.notes.append("a ReLU between consecutive affine maps")
    if options.rounding.text != "exact":
        # A runtime of another float type would have rounded the decimals differently.
        draft.arithmetic, draft.bounded = options.rounding.text, {options.rounding.text}
    draft.steps = [f"affine [{outputs}, {inputs}]" for inputs, outputs in header.shapes]
    draft.num_stored = sum(outputs * (inputs + 1) for inputs, outputs in header.shapes)
    _normalise(text, header, layers, options, draft)
    draft.network = from_arrays(
        (RationalMatrix.from_rows(layer.weights), RationalMatrix.column(layer.biases))
        for layer in layers
    )
    return draft


def _layers_to_fold(options: ReadOptions, depth: int) -> set[int]:
    """Return the numbers, from 0, of the layers into which a normalisation is folded."""
    return {"none": set(), "inputs": {0}, "outputs": {depth - 1}, "both": {0, depth - 1}}[
        options.normalisation
    ]


def _rounding_before_folding(rounding: Rounding) -> Rounding:
    """Return the rules for decimals that enter a normalisation: exact if the result is rounded."""
    return rounding if rounding.normalisation == "exact" else replace(rounding, text="exact")


# --- Lines and numbers ----------------------------------------------------------------------------


@dataclass(slots=True)
class _Lines:
    """The lines of a file, read in order.

    Attributes
    ----------
    path
        The file.
    lines
        All lines of the file.
    position
        Number of lines that were read so far, which is the number of the last of them from 1.
    """

    path: Path
    lines: list[str]
    position: int = 0

    @classmethod
    def of_file(cls, path: Path) -> _Lines:
        """Return the lines of a file, positioned after the comments."""
        if path.stat().st_size > _SIZE_LIMIT:
            raise NetworkFileError(path, "", "larger than 1 GiB")
        # Comments may have any encoding, and in Latin-1 every byte is a character.
        lines = path.read_bytes().decode("latin-1").split("\n")
        while lines and not lines[-1].strip():
            del lines[-1]
        comments = 0
        while comments < len(lines) and lines[comments].startswith("//"):
            comments += 1
        return cls(path, lines, comments)

    def fail(self, problem: str, line: int | None = None) -> NetworkFileError:
        """Return the error that names a line, by default the last line that was read."""
        return NetworkFileError(
            self.path, f"line {self.position if line is None else line}", problem
        )

    def entries(self, what: str, *counts: int) -> list[str]:
        """Return the entries of the next line, whose number must be one of `counts`.

        `what` describes the expected content in error messages.
        """
        if self.position >= len(self.lines):
            raise NetworkFileError(
                self.path, "", f"the file ends after line {len(self.lines)}; expected {what}"
            )
        line = self.lines[self.position].strip()
        self.position += 1
        if not line.isascii():
            raise self.fail("only ASCII is allowed")
        line = line.removesuffix(",")
        num_entries = line.count(",") + 1 if line else 0
        if num_entries not in counts:
            raise self.fail(
                f"{num_entries} entries; expected {what}, "
                f"{' or '.join(str(count) for count in counts)}"
            )
        return [entry.strip() for entry in line.split(",")]

    def numbers(self, what: str, rounding: Rounding, *counts: int) -> list[Fraction]:
        """Return the numbers of the next line, under the rule for text."""
        return [self._decimal(entry, rounding) for entry in self.entries(what, *counts)]

    def _decimal(self, entry: str, rounding: Rounding) -> Fraction:
        if len(entry) > _LENGTH_LIMIT:
            raise self.fail(f"a number of {len(entry)} characters, more than {_LENGTH_LIMIT}")
        try:
            return rounding.number(entry)
        except NetworkError as error:
            raise self.fail(f"{entry[:40]!r}: {error}") from None
        except ValueError:
            problem = (
                f"{entry[:40]!r} is not a decimal number with an exponent of at most three digits"
            )
            raise self.fail(problem) from None

    def sizes(self, what: str, *counts: int) -> list[int]:
        """Return the next line as positive sizes."""
        sizes = []
        for entry in self.entries(what, *counts):
            if not _COUNT.fullmatch(entry) or not 1 <= int(entry) <= WIDTH_LIMIT:
                raise self.fail(
                    f"{entry[:40]!r} is not a size from 1 to {WIDTH_LIMIT}; expected {what}"
                )
            sizes.append(int(entry))
        return sizes

    def check_end(self) -> None:
        """Raise an error if lines follow the last bias."""
        if self.position < len(self.lines):
            self.position += 1
            raise self.fail("more lines than the sizes of the layers say")


# --- Parts of the file ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Normalisation:
    """A line of means or ranges.

    Attributes
    ----------
    line
        Number of the line, from 1.
    values
        The numbers of the inputs, then one of the outputs; None if the line is a single 0.
    """

    line: int
    values: list[Fraction] | None


@dataclass(frozen=True, slots=True)
class _Header:
    """The content of a file before its weights.

    Attributes
    ----------
    shapes
        The pairs (inputs, outputs) of the layers.
    means, ranges
        The normalisation (x - mean) / range.
    notes
        Remarks for the draft.
    """

    shapes: list[tuple[int, int]]
    means: _Normalisation
    ranges: _Normalisation
    notes: list[str] = field(default_factory=list)

    @property
    def num_inputs(self) -> int:
        """The number of inputs."""
        return self.shapes[0][0]


def _header(text: _Lines, rounding: Rounding) -> _Header:
    """Read everything before the weights; `rounding` applies to the normalisation."""
    shapes, notes = _shapes(text)
    _check_flag(text)
    inputs = shapes[0][0]
    # Minima and maxima restrict the inputs; the function of the layers does not depend on them.
    for what in ("the least inputs", "the greatest inputs"):
        _normalisation(text, what, inputs, rounding)
    what = "the means of the inputs and of the outputs"
    means = _normalisation(text, what, inputs + 1, rounding)
    what = "the ranges of the inputs and of the outputs"
    ranges = _normalisation(text, what, inputs + 1, rounding)
    return _Header(shapes, means, ranges, notes)


def _shapes(text: _Lines) -> tuple[list[tuple[int, int]], list[str]]:
    """Read the sizes; return the pairs (inputs, outputs) of the layers, and notes."""
    notes = []
    counts = text.sizes(
        "the numbers of layers, inputs, outputs and of the largest layer (or of layers only)", 4, 1
    )
    if counts[0] > DEPTH_LIMIT:
        raise text.fail(f"{counts[0]} layers, more than {DEPTH_LIMIT}")
    widths = text.sizes("the sizes of the input and of all layers", counts[0] + 1)
    if len(counts) == 1:
        notes.append("the first line gives the number of layers only")
    elif [widths[0], widths[-1]] != counts[1:3]:
        raise text.fail(
            f"{widths[0]} inputs and {widths[-1]} outputs; the line before says {counts[1]} and "
            f"{counts[2]}"
        )
    elif counts[3] not in (max(widths), max(widths[1:])):
        notes.append(
            f"the largest layer is said to have size {counts[3]}; the sizes of the layers are used"
        )
    shapes = list(pairwise(widths))
    if (total := sum(outputs * (inputs + 1) for inputs, outputs in shapes)) > PARAMETER_LIMIT:
        raise text.fail(f"{total} weights and biases, more than {PARAMETER_LIMIT}")
    return shapes, notes


def _check_flag(text: _Lines) -> None:
    """Refuse a file whose obsolete flag is set.

    The flag meant that the network is symmetric: early evaluators reflected some inputs before they
    evaluated the layers, so that the layers alone are not the intended function.
    """
    (flag,) = text.entries("an obsolete flag", 1)
    if flag != "0":
        raise text.fail(
            f"the obsolete flag is {flag[:40]!r}: early evaluators reflect some inputs then, which "
            "is not part of the layers; write 0 to read the layers alone"
        )


def _normalisation(text: _Lines, what: str, count: int, rounding: Rounding) -> _Normalisation:
    """Read a line of `count` numbers, or a single 0 for a line that the file does not have."""
    values = text.numbers(what, rounding, count, 1)
    if len(values) == count:
        return _Normalisation(text.position, values)
    if values != [0]:
        raise text.fail(f"1 entries; expected {what}, {count}, or a single 0 for none")
    return _Normalisation(text.position, None)


@dataclass(slots=True)
class _Layer:
    """Weights of a layer, row by row, and its biases."""

    weights: Rows
    biases: list[Fraction]

    def round(self, rounding: Rounding) -> None:
        """Round the numbers under the rule `normalisation`."""
        self.weights = [[rounding.normalised(w) for w in row] for row in self.weights]
        self.biases = [rounding.normalised(b) for b in self.biases]


def _layer(text: _Lines, inputs: int, outputs: int, rounding: Rounding) -> _Layer:
    """Read the weights and biases of a layer."""
    weights = [text.numbers("a row of weights", rounding, inputs) for _ in range(outputs)]
    return _Layer(weights, [text.numbers("a bias", rounding, 1)[0] for _ in range(outputs)])


# --- Normalisation --------------------------------------------------------------------------------


def _normalise(
    text: _Lines, header: _Header, layers: list[_Layer], options: ReadOptions, draft: Draft
) -> None:
    """Fold the normalisation that the user wants into the layers, and record it in the draft."""
    if options.normalisation == "none":
        _record_unused_normalisation(header, draft)
        return
    means, ranges = (
        _required_values(text, part, options) for part in (header.means, header.ranges)
    )
    _check_ranges(text, header, ranges)
    if options.normalisation in ("inputs", "both"):
        _fold_inputs(layers[0], means[:-1], ranges[:-1])
        draft.steps[0] += " with (x - mean) / range folded in"
        draft.num_stored += 2 * header.num_inputs
        draft.caveats.append(
            "the normalisation of the inputs, (x - mean) / range, is folded into the first layer"
        )
        draft.caveats.append(
            "the format's evaluator first clips inputs to the least and greatest; the network does "
            "not"
        )
    if options.normalisation in ("outputs", "both"):
        _fold_outputs(layers[-1], means[-1], ranges[-1])
        draft.steps[-1] += " with y · range + mean folded in"
        draft.num_stored += 2
        draft.caveats.append(
            "the normalisation of the outputs, y · range + mean, is folded into the last layer"
        )
    for number in _layers_to_fold(options, len(layers)):
        layers[number].round(options.rounding)
    draft.rounding.add(f"normalisation: {options.rounding.normalisation}")
    # Under the rule "exact" no float type remains: a runtime rounds when it folds.
    draft.bounded &= {options.rounding.normalisation}


def _record_unused_normalisation(header: _Header, draft: Draft) -> None:
    """Record in the draft that the normalisation of the file, if any, is not applied."""
    means, ranges = header.means.values, header.ranges.values
    if means is None or ranges is None:
        draft.notes.append("the file has no normalisation")
    elif any(means) or any(size != 1 for size in ranges):
        draft.caveats.append(
            "the normalisation of the header is not applied: the network takes (x - mean) / range "
            "and gives (y - mean) / range; --normalisation inputs, outputs or both makes it part "
            "of the network"
        )


def _required_values(text: _Lines, part: _Normalisation, options: ReadOptions) -> list[Fraction]:
    """Return the numbers of a line of means or ranges, or raise an error if the file has none."""
    if part.values is None:
        raise text.fail(
            f"the file has no normalisation here, but {options.normalisation!r} was asked for",
            part.line,
        )
    return part.values


def _check_ranges(text: _Lines, header: _Header, ranges: list[Fraction]) -> None:
    """Raise an error if a range is 0."""
    if 0 in ranges:
        number = ranges.index(Fraction(0))
        place = f"input {number}" if number < header.num_inputs else "the outputs"
        raise text.fail(
            f"the range of {place} is 0, so nothing can be normalised", header.ranges.line
        )


def _fold_inputs(layer: _Layer, means: Sequence[Fraction], ranges: Sequence[Fraction]) -> None:
    """Replace the layer W x + b by W (x - mean) / range + b."""
    layer.weights = [
        [w / size for w, size in zip(row, ranges, strict=True)] for row in layer.weights
    ]
    shifts = [sum(w * mean for w, mean in zip(row, means, strict=True)) for row in layer.weights]
    layer.biases = [b - shift for b, shift in zip(layer.biases, shifts, strict=True)]


def _fold_outputs(layer: _Layer, mean: Fraction, size: Fraction) -> None:
    """Replace the layer W x + b by (W x + b) · size + mean, where `size` is the range."""
    layer.weights = [[w * size for w in row] for row in layer.weights]
    layer.biases = [b * size + mean for b in layer.biases]
