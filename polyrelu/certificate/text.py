"""Numbers, parts of parameters and domains in words, from the texts that certificates hold.

The functions serve descriptions of certificates and messages of provers. Short values are exact;
long ones are abbreviated, with a remark that says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from fractions import Fraction

from polyrelu.errors import ArgumentError
from polyrelu.exact import format_rational, parse_rational
from polyrelu.support.arguments import expect, expect_count, expect_one_of

__all__ = ["domain_text", "number_text", "part_text", "vector_text"]

#: Maximum numbers of entries of a vector and of constraints that are listed.
_MAX_ENTRIES, _MAX_CONSTRAINTS = 12, 12
#: Maximum number of characters of numbers that are shown exactly.
_MAX_CHARACTERS = 40
#: The context for decimals of long numbers, whose exponents exceed the range of floats.
_DECIMAL_CONTEXT = Context(prec=12, Emin=MIN_EMIN, Emax=MAX_EMAX)


def number_text(text: str) -> str:
    """Return a rational number in words; a long one is rounded to a decimal.

    Parameters
    ----------
    text
        A number p or p/q, as certificates write it.

    Returns
    -------
    str
        The number, or its decimal after the word about.

    Examples
    --------
    >>> number_text("1/3"), number_text(f"1/{10**600}")
    ('1/3', 'about 1e-600')
    """
    if len(expect(text, str, "text")) <= _MAX_CHARACTERS:
        return text
    number = parse_rational(text)
    decimal = _DECIMAL_CONTEXT.divide(Decimal(number.numerator), Decimal(number.denominator))
    return f"about {decimal.normalize(_DECIMAL_CONTEXT):g}"


def vector_text(texts: Sequence[str]) -> str:
    """Return a vector of rational numbers in words.

    Parameters
    ----------
    texts
        The entries, as certificates write them.

    Returns
    -------
    str
        All entries of a short vector; of a long one the first of those entries that are not 0, with
        their indices.

    Examples
    --------
    >>> vector_text(["1/3", "2"]), vector_text([*["0"] * 40, "7"])
    ('1/3, 2', '[40] = 7 (of 41 numbers, the others are 0)')
    """
    expect_one_of(texts, (Sequence,), "texts")
    if len(texts) <= _MAX_ENTRIES:
        return ", ".join(map(number_text, texts))
    listed = [f"[{i}] = {number_text(text)}" for i, text in enumerate(texts) if text != "0"]
    more = f", and {len(listed) - _MAX_ENTRIES} more" if len(listed) > _MAX_ENTRIES else ""
    shown = ", ".join(listed[:_MAX_ENTRIES]) or "0"
    return f"{shown}{more} (of {len(texts)} numbers, the others are 0)"


def part_text(layers: int, neurons: Sequence[int]) -> str:
    """Return in words the part of the parameters that a claim is about (FORMAT.md, section 3.2).

    Parameters
    ----------
    layers
        M: the rows [W|b] of the hidden layers 1 to M are determined.
    neurons
        Indices of neurons of layer M + 1 whose rows are determined up to signs.

    Returns
    -------
    str
        The part in words.

    Examples
    --------
    >>> part_text(1, [])
    'layer 1 up to signs of rows [W|b]'
    >>> part_text(3, [])
    'layers 1 to 2 and in layer 3 up to signs of rows [W|b]'
    >>> part_text(1, [0])
    'layer 1 and in neuron 0 of layer 2 up to signs of rows [W|b]'
    >>> part_text(2, [1, 4])[:34]
    'layers 1 to 2 and in neurons 1, 4 '
    """
    layers = expect_count(layers, "layers")
    expect_one_of(neurons, (Sequence,), "neurons")
    names = ", ".join(map(str, neurons))
    names = (
        f"{len(neurons)} neurons"
        if len(neurons) > _MAX_ENTRIES
        else f"neuron{'s' * (len(neurons) > 1)} {names}"
    )
    last = f"{names} of layer {layers + 1}" if neurons else f"layer {layers}"
    num_determined = layers if neurons else layers - 1
    before = (
        ""
        if num_determined == 0
        else "layer 1 and in "
        if num_determined == 1
        else f"layers 1 to {num_determined} and in "
    )
    return f"{before}{last} up to signs of rows [W|b]"


def domain_text(domain: Mapping[str, Sequence[str]]) -> str:
    """Return a domain in words (FORMAT.md, section 3.8).

    Parameters
    ----------
    domain
        Rows of integers under the keys `inequalities` and `equations`, as certificates write them.

    Returns
    -------
    str
        R^n, a box with equal sides, the constraints, or only their number if they are many.

    Examples
    --------
    >>> domain_text({"inequalities": ["-1 0 1", "1 0 1", "0 -2 2", "0 1 1"], "equations": []})
    '[-1, 1]^2'
    >>> domain_text({"inequalities": ["21 -1 5"], "equations": ["1 1 0"]})
    '{x : 21 x_0 - x_1 ≤ 5, x_0 + x_1 = 0}'
    """
    inequalities, equations = (
        [row.split(" ") for row in _rows(domain, key)] for key in ("inequalities", "equations")
    )
    if not inequalities and not equations:
        return "R^n"
    if not equations and (cube := _cube_text(inequalities)):
        return cube
    if len(inequalities) + len(equations) > _MAX_CONSTRAINTS:
        return (
            f"the domain of {len(inequalities)} inequalities and {len(equations)} equations in the "
            "certificate"
        )
    parts = [
        f"{_linear_text(row[:-1])} {sign} {row[-1]}"
        for sign, rows in (("≤", inequalities), ("=", equations))
        for row in rows
    ]
    return "{x : " + ", ".join(parts) + "}"


def _rows(domain: Mapping[str, Sequence[str]], key: str) -> Sequence[str]:
    """Return the rows of a domain under a key."""
    rows = domain.get(key) if isinstance(domain, Mapping) else None
    if not isinstance(rows, list | tuple) or not all(isinstance(row, str) for row in rows):
        raise ArgumentError(f"domain: expected a mapping with texts of rows under {key!r}")
    return rows


def _cube_text(inequalities: list[list[str]]) -> str:
    """Return the text of {x : lo ≤ x_j ≤ hi for all j}; empty for other inequalities."""
    size, sides = len(inequalities[0]) - 1, set[tuple[int, int, Fraction]]()
    for row in inequalities:
        places = [j for j, entry in enumerate(row[:-1]) if entry != "0"]
        if len(places) != 1:
            return ""
        factor = parse_rational(row[places[0]])
        sides.add((places[0], 1 if factor > 0 else -1, parse_rational(row[-1]) / factor))
    ends = {(sign, bound) for _, sign, bound in sides}
    if len(sides) != len(ends) * size or len({sign for sign, _ in ends}) != len(ends):
        return ""
    low, high = (next((format_rational(b) for s, b in ends if s == sign), "") for sign in (-1, 1))
    return f"{f'[{low}' if low else '(-∞'}, {f'{high}]' if high else '∞)'}^{size}"


def _linear_text(entries: Sequence[str]) -> str:
    """Return a linear form with integer coefficients in words."""
    text = ""
    for j, entry in enumerate(entries):
        if entry == "0":
            continue
        sign = (
            ("-" if entry.startswith("-") else "")
            if not text
            else (" - " if entry.startswith("-") else " + ")
        )
        size = entry.removeprefix("-")
        text += f"{sign}{'' if size == '1' else f'{size} '}x_{j}"
    return text or "0"
