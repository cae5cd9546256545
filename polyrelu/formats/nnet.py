"""``.nnet`` text files, the format of the ACAS Xu networks.

A file holds sizes, a normalisation of inputs and outputs, and weights as decimals. Each line holds
numbers separated by commas, and usually ends in a comma:

- any number of comments, which start with ``//``;
- the number of layers, of inputs, of outputs, and the size of the largest layer; some files have
  the first number only;
- the sizes of the input and of all layers;
- an obsolete flag, or a text that nothing reads;
- four lines: minima, maxima, means and ranges of the inputs; the last two contain one more number
  for all outputs together; a single 0 stands for a line that the file does not have. The first
  files have numbers of inputs that the network does not take, after those that it takes;
- for each layer the rows of its weights, then its biases, one per line.

The four lines do not change the function of the layers: what is wrong with them is an error only if
the normalisation is asked for, else a caution.

A ReLU follows every layer but the last. The decimals are taken as exact numbers, or rounded to a
float format (rule ``text``). The weights belong to normalised inputs and outputs; on request the
normalisation is folded into the first and the last layer, exactly or rounded (rule
``normalisation``). No number is rounded twice: weights that are rounded after folding are computed
from the exact decimals.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import TypeAlias

from polyrelu.errors import NetworkError, NetworkFileError
from polyrelu.exact import RationalMatrix
from polyrelu.formats.imported import Draft
from polyrelu.formats.meter import need
from polyrelu.formats.options import ReadOptions, Rounding
from polyrelu.network import from_arrays
from polyrelu.support.limits import DEPTH_LIMIT, PARAMETER_LIMIT, WIDTH_LIMIT

__all__ = ["read_nnet"]

WeightRows: TypeAlias = list[list[Fraction]]

#: Maximum size of a file in bytes.
_SIZE_LIMIT = 2**30
#: Maximum number of characters of a decimal.
_LENGTH_LIMIT = 1000

_COUNT = re.compile(r"[0-9]{1,9}", re.ASCII)
_DECIMAL = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]{1,3})?", re.ASCII)


def read_nnet(path: Path, options: ReadOptions) -> Draft:
    """Read the network of a .nnet file.

    A `NetworkFileError` names the line that cannot be taken exactly.
    """
    text, folded = _Lines.of_file(path), _rounding_before_folding(options.rounding)
    header = _header(text)
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
        caveats=header.caveats,
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

    def any_entries(self, what: str) -> list[str]:
        """Return the entries of the next line; `what` describes them in error messages."""
        if self.position >= len(self.lines):
            raise NetworkFileError(
                self.path, "", f"the file ends after line {len(self.lines)}; expected {what}"
            )
        line = self.lines[self.position].strip()
        self.position += 1
        if not line.isascii():
            raise self.fail("only ASCII is allowed")
        line = line.removesuffix(",")
        return [entry.strip() for entry in line.split(",")] if line else []

    def entries(self, what: str, *counts: int) -> list[str]:
        """Return the entries of the next line, whose number must be one of `counts`.

        `what` describes the expected content in error messages.
        """
        entries = self.any_entries(what)
        if len(entries) not in counts:
            raise self.fail(
                f"{len(entries)} entries; expected {what}, "
                f"{' or '.join(str(count) for count in counts)}"
            )
        return entries

    def numbers(self, what: str, rounding: Rounding, *counts: int) -> list[Fraction]:
        """Return the numbers of the next line, under the rule for text."""
        return [self.decimal(entry, rounding) for entry in self.entries(what, *counts)]

    def decimal(self, entry: str, rounding: Rounding, line: int | None = None) -> Fraction:
        """Return the number of an entry, under the rule for text."""
        if len(entry) > _LENGTH_LIMIT:
            raise self.fail(f"a number of {len(entry)} characters, more than {_LENGTH_LIMIT}", line)
        try:
            return rounding.number(entry)
        except NetworkError as error:
            raise self.fail(f"{entry[:40]!r}: {error}", line) from None
        except ValueError:
            problem = (
                f"{entry[:40]!r} is not a decimal number with an exponent of at most three digits"
            )
            raise self.fail(problem, line) from None

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
    """A line of means or ranges, as it is written.

    Attributes
    ----------
    line
        Number of the line, from 1.
    entries
        The entries of the inputs, then one of the outputs; a single 0 if there are none.
    num_inputs
        The number of inputs of the network.
    """

    line: int
    entries: list[str]
    num_inputs: int

    @property
    def is_absent(self) -> bool:
        """Whether the line says that there is no normalisation."""
        return len(self.entries) == 1 and _is_zero(self.entries[0])

    @property
    def has_output(self) -> bool:
        """Whether there is an entry for the outputs."""
        return len(self.entries) > self.num_inputs


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
    caveats
        Cautions for the draft: what is there and is not read.
    """

    shapes: list[tuple[int, int]]
    means: _Normalisation
    ranges: _Normalisation
    notes: list[str]
    caveats: list[str]

    @property
    def num_inputs(self) -> int:
        """The number of inputs."""
        return self.shapes[0][0]


def _header(text: _Lines) -> _Header:
    """Read everything before the weights; the normalisation stays text until it is needed."""
    shapes, notes, caveats = _shapes(text)
    caveats += _cautions_of_flag(text)
    inputs = shapes[0][0]
    # Minima and maxima restrict the inputs; the function of the layers does not depend on them.
    for what in ("the least inputs", "the greatest inputs"):
        caveats += _cautions_of_line(what, _normalisation(text, what, inputs), 0)
    lines = []
    for what in ("the means", "the ranges"):
        what = f"{what} of the inputs and of the outputs"
        lines.append(_normalisation(text, what, inputs))
        caveats += _cautions_of_line(what, lines[-1], 1)
    return _Header(shapes, lines[0], lines[1], notes, caveats)


def _cautions_of_line(what: str, part: _Normalisation, more: int) -> list[str]:
    """Return a caution on a line with more or fewer entries than the format says, or with text."""
    count, expected = len(part.entries), part.num_inputs + more
    if part.is_absent:
        return []
    if not all(map(_is_number, part.entries)):
        return [f"line {part.line} is not the numbers of {what}"]
    if count == expected:
        return []
    return [f"line {part.line} has {count} numbers where {what} are {expected}"]


def _shapes(text: _Lines) -> tuple[list[tuple[int, int]], list[str], list[str]]:
    """Read the sizes; return the pairs (inputs, outputs) of the layers, notes and caveats."""
    notes, caveats = list[str](), list[str]()
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
        caveats.append(
            f"the largest layer is said to have size {counts[3]}; the sizes of the layers are used"
        )
    shapes = list(pairwise(widths))
    if (total := sum(outputs * (inputs + 1) for inputs, outputs in shapes)) > PARAMETER_LIMIT:
        raise text.fail(f"{total} weights and biases, more than {PARAMETER_LIMIT}")
    need(entries=total)
    return shapes, notes, caveats


def _cautions_of_flag(text: _Lines) -> list[str]:
    """Return a caution on a text in place of the obsolete flag; refuse a flag that is set.

    The flag meant that the network is symmetric: early evaluators reflected some inputs before they
    evaluated the layers, so that the layers alone are not the intended function.
    """
    entries = text.any_entries("an obsolete flag")
    flag = ", ".join(entries)
    if len(entries) == 1 and _is_zero(flag):
        return []
    if not any(map(_is_number, entries)) and entries:
        return [f"line {text.position} is the text {flag[:40]!r} in place of an obsolete flag"]
    if len(entries) != 1:
        raise text.fail(f"{len(entries)} entries; expected an obsolete flag, 1")
    raise text.fail(
        f"the obsolete flag is {flag[:40]!r}: early evaluators reflect some inputs then, which "
        "is not part of the layers; write 0 to read the layers alone"
    )


def _is_number(entry: str) -> bool:
    """Whether an entry is a number, or would be one for other readers."""
    try:
        float(entry)
    except ValueError:
        return False
    return True


def _is_zero(entry: str) -> bool:
    return _is_number(entry) and float(entry) == 0


def _normalisation(text: _Lines, what: str, inputs: int) -> _Normalisation:
    """Read a line of numbers of the inputs, or a single 0 for a line that the file does not have.

    A row of weights has as many numbers as some lines of the header; so a file in which such a line
    is missing ends early.
    """
    entries = text.any_entries(what)
    return _Normalisation(text.position, entries, inputs)


@dataclass(slots=True)
class _Layer:
    """Weights of a layer, row by row, and its biases."""

    weights: WeightRows
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
    rounding = _rounding_before_folding(options.rounding)
    for part in (header.means, header.ranges):
        _check_asked(text, part, options)
    if options.normalisation in ("inputs", "both"):
        means, ranges = (_input_values(text, p, rounding) for p in (header.means, header.ranges))
        _check_ranges(text, header, ranges)
        _fold_inputs(layers[0], means, ranges)
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
        mean, size = (_output_value(text, p, rounding) for p in (header.means, header.ranges))
        _check_ranges(text, header, [size], "the outputs")
        _fold_outputs(layers[-1], mean, size)
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
    means, ranges = header.means, header.ranges
    if means.is_absent or ranges.is_absent:
        draft.notes.append("the file has no normalisation")
        return
    if all(map(_is_zero, means.entries)) and all(map(_is_one, ranges.entries)):
        return
    choices = [name for name in ("inputs", "outputs", "both") if _can_be_folded(header, name)]
    shown = " or ".join(filter(None, [", ".join(choices[:-1]), *choices[-1:]]))
    remedy = f"; --normalisation {shown} makes it part of the network" if choices else ""
    draft.caveats.append(
        "the normalisation of the header is not applied: the network takes (x - mean) / range and "
        f"gives (y - mean) / range{remedy}"
    )


def _is_one(entry: str) -> bool:
    return _is_number(entry) and float(entry) == 1


def _can_be_folded(header: _Header, choice: str) -> bool:
    """Whether the header has the numbers for a choice of normalisation."""
    inputs = header.num_inputs
    used = []
    for part in (header.means, header.ranges):
        if len(part.entries) < inputs or (choice != "inputs" and not part.has_output):
            return False
        used.append(
            {
                "inputs": part.entries[:inputs],
                "outputs": part.entries[-1:],
                "both": [*part.entries[:inputs], part.entries[-1]],
            }[choice]
        )
    return all(_DECIMAL.fullmatch(entry) for part in used for entry in part) and not any(
        map(_is_zero, used[1])
    )


def _check_asked(text: _Lines, part: _Normalisation, options: ReadOptions) -> None:
    """Raise an error if a line does not have the numbers that the user's choice needs."""
    asked = f"but {options.normalisation!r} was asked for"
    if part.is_absent:
        raise text.fail(f"the file has no normalisation here, {asked}", part.line)
    if len(part.entries) < part.num_inputs:
        raise text.fail(
            f"{len(part.entries)} entries for {part.num_inputs} inputs, {asked}", part.line
        )
    if options.normalisation != "inputs" and not part.has_output:
        raise text.fail(f"no entry for the outputs, {asked}", part.line)


def _input_values(text: _Lines, part: _Normalisation, rounding: Rounding) -> list[Fraction]:
    """Return the numbers of the inputs in a line of means or ranges: the first ones."""
    chosen = part.entries[: part.num_inputs]
    return [text.decimal(entry, rounding, part.line) for entry in chosen]


def _output_value(text: _Lines, part: _Normalisation, rounding: Rounding) -> Fraction:
    """Return the number of the outputs in a line of means or ranges: the last one."""
    return text.decimal(part.entries[-1], rounding, part.line)


def _check_ranges(
    text: _Lines, header: _Header, ranges: Sequence[Fraction], place: str = ""
) -> None:
    """Raise an error if a range is 0."""
    if 0 in ranges:
        place = place or f"input {list(ranges).index(Fraction(0))}"
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
