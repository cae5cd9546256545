"""Counterexample files of verifiers: values of inputs, and usually of outputs.

VNN-COMP's form is a list of pairs in parentheses, ``((X_0 0.5) (Y_0 -1.25))``, usually after a line
``sat``. VNN-LIB 2 has a header for each tensor, ``X float32 [1,2]``, and its entries after it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from fractions import Fraction
from itertools import islice
from pathlib import Path

from polyrelu.errors import DomainError
from polyrelu.formats.vnnlib.query import Tensor, VnnlibQuery, entry_names
from polyrelu.formats.vnnlib.syntax import (
    Index,
    SExpression,
    at_line,
    content,
    number,
    s_expressions,
    shown,
)
from polyrelu.support.arguments import expect_path
from polyrelu.support.display import bracketed
from polyrelu.support.limits import WIDTH_LIMIT

__all__ = ["Counterexample", "counterexample_text", "read_counterexample"]

#: Maximum number of digits of an exact decimal, before and after its point; digits of others.
_MAX_DIGITS, _ROUNDED_DIGITS = 200, 20

#: The first words of files with a counterexample, and of other results.
_FOUND = ("sat", "violated")
_NOT_FOUND = ("unsat", "holds", "unknown", "timeout", "timed-out", "error")
_HEADER = re.compile(
    r"([A-Za-z][A-Za-z0-9_]*)\s+([A-Za-z][A-Za-z0-9_]*)\s+"
    r"\[\s*([0-9]{1,9}(?:\s*,\s*[0-9]{1,9})*)?\s*\]",
    re.ASCII,
)


@dataclass(frozen=True, slots=True, repr=False)
class Counterexample:
    """The values of a counterexample file.

    Attributes
    ----------
    source
        Name of the file, for errors.
    values
        The exact values by the names of the variables, as in `VnnlibQuery.variables`.

    Examples
    --------
    >>> Counterexample("example", {"X_0": Fraction(1, 2)})
    <Counterexample example, 1 value>
    """

    source: str
    values: dict[str, Fraction]

    def __repr__(self) -> str:
        number_text = f"{len(self.values)} value{'s' * (len(self.values) != 1)}"
        return bracketed(f"Counterexample {self.source}, {number_text}")


def read_counterexample(path: str | Path) -> Counterexample:
    """Read a counterexample file of a verifier, in the form of VNN-COMP or of VNN-LIB 2.

    Parameters
    ----------
    path
        Name of the file, which may be packed (.gz).

    Returns
    -------
    Counterexample
        The values, exactly as the decimals that they are.

    Raises
    ------
    DomainError
        The file cannot be read, or holds no counterexample; the message names the line.
    ArgumentError
        `path` is not the name of a file.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "result.txt")
    ...     _ = file.write_text("sat\\n((X_0 0.5)\\n (Y_0 -1.25))\\n")
    ...     read_counterexample(file).values
    {'X_0': Fraction(1, 2), 'Y_0': Fraction(-5, 4)}
    """
    file = expect_path(path, "path")
    name, data = str(file), content(file)
    lines = data.split(b"\n")
    first = next((j for j, line in enumerate(lines) if line.strip()), 0)
    word = lines[first].strip().decode("latin-1")
    if word in _FOUND:
        lines[first] = b""
    elif word in _NOT_FOUND:
        raise DomainError(f"{name}: it holds no counterexample; it says {word!r}")
    rest = b"\n".join(lines)
    pairs = _listed(rest, name) if rest.lstrip()[:1] == b"(" else _by_tensor(lines, name)
    values: dict[str, Fraction] = {}
    for line, variable, value in pairs:
        if variable in values:
            raise at_line(name, line, f"{variable} has two values")
        values[variable] = value
    if not values:
        raise DomainError(f"{name}: it holds no values")
    return Counterexample(name, values)


def counterexample_text(query: VnnlibQuery, values: Mapping[str, Fraction]) -> str:
    """Return the text of a counterexample in the form of VNN-COMP, after a line ``sat``.

    Version 1 has pairs in parentheses, version 2 tensors with headers. Inputs are written exactly
    where they are decimals of at most 200 digits on each side
    of the point; other inputs, and outputs, have 20 significant
    digits, so that a reader should check the point that was written.

    Parameters
    ----------
    query
        The query that the values satisfy.
    values
        A value for each variable of the query, by its name.

    Returns
    -------
    str
        The lines, without a newline at the end.

    Examples
    --------
    >>> from polyrelu.formats.vnnlib.query import DeclaredNetwork
    >>> network = DeclaredNetwork("", (Tensor("X", "Real", (1,)),), (Tensor("Y", "Real", (1,)),))
    >>> query = VnnlibQuery("example", "1.0", (network,), ())
    >>> print(counterexample_text(query, {"X_0": Fraction(1, 8), "Y_0": Fraction(1, 3)}))
    sat
    ((X_0 0.125)
     (Y_0 0.33333333333333333333))
    """
    lines, variables = ["sat"], iter(query.variables)
    inputs = {
        query.variables[j] for number in range(len(query.networks)) for j in query.inputs_of(number)
    }
    is_listed = query.version.startswith("1")
    for network in query.networks:
        for tensor in (*network.inputs, *network.outputs):
            if not is_listed:
                shape = ",".join(map(str, tensor.shape))
                lines.append(f"{tensor.name} {tensor.element_type} [{shape}]")
            for name in islice(variables, tensor.size):
                number = _decimal(values[name], is_exact=name in inputs)
                lines.append(f" ({name} {number})" if is_listed else number)
    if is_listed:
        lines[1] = "(" + lines[1].lstrip()
        lines[-1] += ")"
    return "\n".join(lines)


def _decimal(value: Fraction, *, is_exact: bool) -> str:
    """Return a number as a decimal: exactly if that is wanted and not too long."""
    rest, twos = value.denominator, 0
    while rest % 2 == 0:
        rest, twos = rest // 2, twos + 1
    fives = 0
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    places = max(twos, fives)
    if is_exact and rest == 1 and places <= _MAX_DIGITS and abs(value) < 10**_MAX_DIGITS:
        return _fixed(value.numerator * 10**places // value.denominator, places)
    context = Context(prec=_ROUNDED_DIGITS, Emin=MIN_EMIN, Emax=MAX_EMAX)
    return str(context.divide(Decimal(value.numerator), Decimal(value.denominator)))


def _fixed(scaled: int, places: int) -> str:
    """Return scaled / 10^places in digits."""
    digits = str(abs(scaled)).rjust(places + 1, "0")
    sign = "-" if scaled < 0 else ""
    whole, part = digits[: len(digits) - places], digits[len(digits) - places :].rstrip("0")
    return f"{sign}{whole}.{part or '0'}"


def _listed(data: bytes, name: str) -> Iterator[tuple[int, str, Fraction]]:
    """Yield line, variable and value of each pair in parentheses."""
    for outer in s_expressions(data, name):
        pairs = [outer] if outer.head else outer.items
        for pair in pairs:
            if not isinstance(pair, SExpression):
                raise at_line(name, outer.line, f"{shown(pair)}: expected pairs such as (X_0 1)")
            yield (pair.line, *_pair(pair, name))


def _pair(pair: SExpression, name: str) -> tuple[str, Fraction]:
    """Return the variable and the value of (X_0 0.5) or (X[0,2] 0.5)."""
    variable, *index, value = pair.items if len(pair.items) > 1 else ["", ""]
    is_indexed = len(index) == 1 and isinstance(index[0], Index)
    if not (isinstance(variable, str) and variable and isinstance(value, str)) or (
        index and not is_indexed
    ):
        raise at_line(name, pair.line, f"{shown(pair)}: expected a pair such as (X_0 0.5)")
    place = ""
    if index and isinstance(index[0], Index):
        place = f"[{','.join(map(str, index[0].entries))}]"
    return variable + place, number(name, pair.line, value)


def _by_tensor(lines: list[bytes], name: str) -> Iterator[tuple[int, str, Fraction]]:
    """Yield line, variable and value of tensors with headers."""
    waiting: Iterator[str] = iter(())
    total = 0
    for line, raw in enumerate(lines, 1):
        text = raw.decode("latin-1").strip()
        header = _HEADER.fullmatch(text) if len(text) <= 1000 else None
        if not text:
            continue
        if header is None:
            variable = next(waiting, None)
            if variable is None:
                problem = f"{text[:40]!r}: expected the name, type and shape of a tensor, or 'sat'"
                raise at_line(name, line, problem)
            yield line, variable, number(name, line, text)
            continue
        if (missing := next(waiting, None)) is not None:
            raise at_line(name, line, f"{missing} has no value before the next tensor")
        shape = tuple(int(size) for size in re.findall("[0-9]+", header[3] or ""))
        tensor = Tensor(header[1], header[2], shape)
        total += tensor.size
        if total > WIDTH_LIMIT:
            raise at_line(name, line, f"more than {WIDTH_LIMIT} values")
        waiting = entry_names(tensor)
    if (missing := next(waiting, None)) is not None:
        raise DomainError(f"{name}: the file ends before {missing}")
