"""Writer of plain stacks as ``.nnet`` text files, with exact decimals where these are finite.

A number whose denominator has no other prime factors than 2 and 5 is a finite decimal, and so is
every float. Such a number is written exactly if it has at most `_DIGIT_LIMIT` digits, as all floats
have; others are rounded to `_ROUNDED_DIGITS` digits, which determine a float64. The header shifts
nothing and scales by 1; the bounds of the inputs, which the format requires, are the range of
float32.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import ROUND_HALF_EVEN, Context, Decimal, Inexact
from fractions import Fraction
from pathlib import Path

from polyrelu.errors import NetworkError
from polyrelu.exact import FLOAT32, FLOAT64, RationalMatrix, as_dense
from polyrelu.formats.arguments import NetworkLike, as_imported
from polyrelu.formats.writers.floats import (
    check_plain,
    check_size,
    float_weights,
    weights_by_name,
)
from polyrelu.formats.writers.saved import SavedNetwork, names_left_out, target
from polyrelu.network import Network
from polyrelu.support.text_files import write_all

__all__ = ["save_nnet"]

#: Maximum number of digits of an exact decimal; the smallest float64 has 767.
_DIGIT_LIMIT = 800
#: Number of digits of a rounded decimal.
_ROUNDED_DIGITS = 17
#: The least exponent that readers take.
_LEAST_EXPONENT = -999


def save_nnet(
    network: NetworkLike, path: str | Path, *, numbers: str | None = None
) -> SavedNetwork:
    """Write a plain stack as an .nnet text file.

    Numbers that are finite decimals of at most 800 digits, such as all floats, are written exactly,
    others with 17 digits. There is no normalisation, and the bounds of the inputs are the range of
    float32. The file is written completely or not at all.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes, without connections that skip layers and without
        a ReLU at its end.
    path
        Name of the file, which must end in .nnet.
    numbers
        ``"float32"`` or ``"float64"`` rounds all numbers to this type first; by default they are
        not rounded to floats.

    Returns
    -------
    SavedNetwork
        The file, with the largest rounding difference.

    Raises
    ------
    NetworkError
        The network is no such stack, or a number is beyond the range of float64.
    NetworkFileError
        The name has another ending.
    ArgumentError
        `path` is not the name of a file, or `numbers` no float type.
    PolyreluError
        The file cannot be written.

    Examples
    --------
    >>> import os, tempfile
    >>> from polyrelu.formats import load
    >>> from polyrelu.network import from_arrays
    >>> tenths = from_arrays([([["1/10", "-3/8"]], [0]), ([[2]], [1])])
    >>> thirds = from_arrays([([["1/3", 1]], [0])])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     name = os.path.join(folder, "net.nnet")
    ...     save_nnet(tenths, name).exact, load(name) == tenths
    ...     save_nnet(thirds, name).largest_difference
    (True, True)
    Fraction(1, 300000000000000000)
    """
    file = target(path, (".nnet",), "save_nnet")
    imported = as_imported(network)
    check_plain(imported.network, ".nnet")
    check_size(imported.network)
    weights = dict(_weights(imported.network, numbers))
    decimals, largest = dict[str, list[list[Decimal]]](), Fraction()
    for name, (exact, rounded) in weights.items():
        rows = [[_decimal(name, entry) for entry in row] for row in rounded.rows()]
        differences = (
            abs(Fraction(decimal) - entry)
            for decimals_of_row, row in zip(rows, exact.rows(), strict=True)
            for decimal, entry in zip(decimals_of_row, row, strict=True)
        )
        largest = max(largest, max(differences, default=Fraction()))
        decimals[name] = rows
    content = (f"{line}\n".encode("ascii") for line in _lines(imported.network, decimals))
    files = write_all([(file, content)])
    return SavedNetwork(tuple(files), "decimal text", largest, names_left_out(imported, ".nnet"))


def _weights(
    network: Network, numbers: str | None
) -> Iterator[tuple[str, tuple[RationalMatrix, RationalMatrix]]]:
    """Yield the exact parameters by name, beside the same ones rounded to a float type if asked."""
    floats = {} if numbers is None else float_weights(network, numbers).arrays
    for name, matrix in weights_by_name(network):
        exact = as_dense(matrix)
        if name not in floats:
            yield name, (exact, exact)
        else:
            array = floats[name].reshape(exact.shape)
            yield name, (exact, RationalMatrix.from_array(array))


_EXACT = Context(prec=_DIGIT_LIMIT, rounding=ROUND_HALF_EVEN, traps=[])
_ROUNDED = Context(prec=_ROUNDED_DIGITS, rounding=ROUND_HALF_EVEN, traps=[])


def _decimal(name: str, entry: Fraction) -> Decimal:
    """Return a number as a decimal, exactly if it is a short finite one."""
    if abs(entry) > FLOAT64.largest:
        raise NetworkError(f"{name} has an entry beyond the range of float64")
    numerator, denominator = Decimal(entry.numerator), Decimal(entry.denominator)
    _EXACT.clear_flags()
    found = _EXACT.divide(numerator, denominator)
    if _EXACT.flags[Inexact]:
        found = _ROUNDED.divide(numerator, denominator)
    return found if found.adjusted() >= _LEAST_EXPONENT else Decimal(0)


def _lines(network: Network, decimals: dict[str, list[list[Decimal]]]) -> Iterator[str]:
    """Yield the lines of the file."""
    widths = network.widths
    inputs, bound = widths[0], Decimal(int(FLOAT32.largest))
    yield "// written by polyrelu: a ReLU follows every layer but the last; no normalisation"
    yield _line([network.depth, inputs, widths[-1], max(widths)])
    yield _line(widths)
    yield _line([0])
    yield _line([-bound] * inputs)
    yield _line([bound] * inputs)
    yield _line([0] * (inputs + 1))
    yield _line([1] * (inputs + 1))
    for number in range(1, network.depth + 1):
        yield from map(_line, decimals[f"W{number}"])
        yield from map(_line, decimals[f"b{number}"])


def _line(entries: Iterable[object]) -> str:
    return "".join(f"{entry}," for entry in entries)
