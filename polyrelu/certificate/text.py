"""Numbers, parts of parameters and domains in words, from the texts that certificates hold.

The functions serve descriptions of certificates and messages of provers. Short values are exact;
long ones are abbreviated, with a remark that says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from fractions import Fraction
from typing import Any

from polyrelu.errors import ArgumentError
from polyrelu.exact import decimal_above, decimal_below, format_rational, parse_rational
from polyrelu.support.arguments import expect, expect_count, expect_one_of
from polyrelu.support.display import count_text
from polyrelu.support.limits import WIDTH_LIMIT

__all__ = [
    "bounds_text",
    "cell_counts_text",
    "domain_text",
    "layers_text",
    "number_text",
    "part_text",
    "property_text",
    "size_text",
    "vector_text",
]

#: Maximum numbers of entries of a vector and of constraints that are listed.
_MAX_ENTRIES, _MAX_CONSTRAINTS = 12, 12
#: Maximum number of terms of the inequalities of a property, and of characters of their numbers.
_MAX_TERMS, _MAX_TERM_CHARACTERS = 24, 24
#: Maximum numbers of characters of a number that is shown exactly, and of rows that are.
_MAX_CHARACTERS, _MAX_DOMAIN = 40, 20_000
#: Maximum number of characters of bounds that are shown exactly, and digits of other ones.
_MAX_SHORT, _DIGITS = 7, 8
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


def bounds_text(low: Fraction, high: Fraction) -> tuple[str, str]:
    """Return bounds of a number in words: both exact if they are short, otherwise both decimals.

    The decimals are rounded outwards.

    Parameters
    ----------
    low, high
        The bounds, each exact.

    Returns
    -------
    tuple of str and str
        Both bounds; the number twice, as `number_text` writes it, where they are equal.

    Examples
    --------
    >>> bounds_text(Fraction(1, 3), Fraction(4458449, 25000))
    ('0.33333333', '178.33796')
    >>> bounds_text(Fraction(1, 3), Fraction(1, 2))
    ('1/3', '1/2')
    """
    texts = format_rational(low), format_rational(high)
    if low == high:
        return number_text(texts[0]), number_text(texts[1])
    if max(map(len, texts)) <= _MAX_SHORT:
        return texts
    return decimal_below(low, digits=_DIGITS), decimal_above(high, digits=_DIGITS)


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
    places = [i for i, text in enumerate(texts) if text != "0"]
    listed = [f"[{i}] = {number_text(texts[i])}" for i in places[:_MAX_ENTRIES]]
    more = f", and {len(places) - _MAX_ENTRIES} more" if len(places) > _MAX_ENTRIES else ""
    shown = ", ".join(listed) or "0"
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
    names = (
        f"{len(neurons)} neurons"
        if len(neurons) > _MAX_ENTRIES
        else f"neuron{'s' * (len(neurons) > 1)} {', '.join(map(str, neurons))}"
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


def layers_text(first: int, last: int) -> str:
    """Return consecutive layers in words.

    Parameters
    ----------
    first, last
        The first and the last layer, from 1.

    Returns
    -------
    str
        The layers in words.

    Examples
    --------
    >>> layers_text(2, 2), layers_text(1, 3)
    ('layer 2', 'layers 1 to 3')
    """
    first, last = expect_count(first, "first", 1), expect_count(last, "last", 1)
    return f"layer {first}" if first == last else f"layers {first} to {last}"


def cell_counts_text(counts: Sequence[int]) -> str:
    """Return in words how many cells of each dimension there are.

    Parameters
    ----------
    counts
        The number of cells of each dimension, from 0.

    Returns
    -------
    str
        Numbers that are not 0, the sum of all where there are many dimensions.

    Examples
    --------
    >>> cell_counts_text([0, 3, 4])
    '3 cells of dimension 1 and 4 of dimension 2'
    """
    named = [(number, k) for k, number in enumerate(counts) if number]
    if len(named) > _MAX_ENTRIES:
        return f"{sum(counts)} cells, of dimensions {named[0][1]} to {named[-1][1]}"
    parts = [f"{number} of dimension {k}" for number, k in named]
    if not parts:
        return "0 cells"
    number, _, rest = parts[0].partition(" ")
    parts[0] = f"{number} {'cell' if number == '1' else 'cells'} {rest}"
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def size_text(quantity: str, count: int) -> str:
    """Return the size of a network in words.

    Parameters
    ----------
    quantity
        What is counted (FORMAT.md, section 3.11).
    count
        How many there are.

    Returns
    -------
    str
        The size in words.

    Examples
    --------
    >>> size_text("hidden-layers", 1), size_text("neurons", 3)
    ('1 hidden layer', '3 hidden neurons')
    """
    expect(quantity, str, "quantity")
    noun = "hidden layer" if quantity == "hidden-layers" else "hidden neuron"
    return count_text([(expect_count(count, "count"), noun)])


def domain_text(domain: Mapping[str, Sequence[str]]) -> str:
    """Return a domain in words (FORMAT.md, section 3.8).

    Parameters
    ----------
    domain
        Rows of integers under the keys `inequalities` and `equations`, as certificates write them.

    Returns
    -------
    str
        R^n, a box with equal sides, the constraints, or only their number if they are many or long.

    Examples
    --------
    >>> domain_text({"inequalities": ["-1 0 1", "1 0 1", "0 -2 2", "0 1 1"], "equations": []})
    '[-1, 1]^2'
    >>> domain_text({"inequalities": ["21 -1 5"], "equations": ["1 1 0"]})
    '{x : 21 x_0 - x_1 ≤ 5, x_0 + x_1 = 0}'
    """
    inequalities, equations = (_rows(domain, key) for key in ("inequalities", "equations"))
    if not inequalities and not equations:
        return "R^n"
    if not equations and (cube := _cube_text(inequalities)):
        return cube
    is_long = sum(map(len, inequalities)) + sum(map(len, equations)) > _MAX_DOMAIN
    if is_long or len(inequalities) + len(equations) > _MAX_CONSTRAINTS:
        return (
            f"the domain of {len(inequalities)} inequalities and {len(equations)} equations in the "
            "certificate"
        )
    parts = [
        f"{_linear_text(entries[:-1])} {sign} {entries[-1]}"
        for sign, rows in (("≤", inequalities), ("=", equations))
        for entries in (row.split(" ") for row in rows)
    ]
    return "{x : " + ", ".join(parts) + "}"


def _rows(domain: Mapping[str, Sequence[str]], key: str) -> Sequence[str]:
    """Return the rows of a domain under a key."""
    rows = domain.get(key) if isinstance(domain, Mapping) else None
    if not isinstance(rows, list | tuple) or not all(isinstance(row, str) for row in rows):
        raise ArgumentError(f"domain: expected a mapping with texts of rows under {key!r}")
    return rows


def _cube_text(inequalities: Sequence[str]) -> str:
    """Return the text of {x : lo ≤ x_j ≤ hi for all j}; empty for other inequalities.

    A row is taken apart only when it has few characters besides zeros and blanks.
    """
    size, sides = inequalities[0].count(" "), set[tuple[int, int, Fraction]]()
    if len(inequalities) > 8 * size or size > WIDTH_LIMIT:
        return ""
    for row in inequalities:
        if row.count(" ") != size or len(row) > 2 * size + _MAX_DOMAIN:
            return ""
        entries = row.split(" ")
        places = [j for j, entry in enumerate(entries[:-1]) if entry != "0"]
        if len(places) != 1:
            return ""
        factor = parse_rational(entries[places[0]])
        sides.add((places[0], 1 if factor > 0 else -1, parse_rational(entries[-1]) / factor))
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


def property_text(clauses: Sequence[Sequence[Mapping[str, Any]]]) -> str:
    """Return a property in words: its inequalities, or how many clauses a long one has.

    Parameters
    ----------
    clauses
        Rows as certificates write them; every clause has a row that holds.

    Returns
    -------
    str
        The inequalities in f and g, the outputs of the first and the second network, and in x.

    Examples
    --------
    >>> low = {"is": "<=0", "f": [[0, "-1"]], "g": [], "x": [], "constant": "1/2"}
    >>> high = {"is": "<0", "f": [[0, "1"], [2, "-3"]], "g": [], "x": [], "constant": "0"}
    >>> property_text([[low, high]])
    '-f_0 + 1/2 <= 0 or f_0 - 3 f_2 < 0'
    """
    rows = [row for clause in clauses for row in clause]
    terms = [entry for row in rows for key in ("f", "g", "x") for entry in row[key]]
    numbers = [str(row["constant"]) for row in rows] + [str(number) for _, number in terms]
    longest = max(map(len, numbers), default=0)
    if len(terms) > _MAX_TERMS or longest > _MAX_TERM_CHARACTERS:
        return f"a property with {count_text([(len(clauses), 'clause')])}, which the file lists,"
    texts = [" or ".join(map(_row_text, clause)) for clause in clauses]
    return " and ".join(f"({text})" if len(texts) > 1 else text for text in texts)


def _row_text(row: Mapping[str, Any]) -> str:
    """Return an inequality in words."""
    terms = [(number, f"{key}_{i}") for key in ("f", "g", "x") for i, number in row[key]]
    if row["constant"] != "0" or not terms:
        terms.append((row["constant"], ""))
    text = ""
    for number, name in terms:
        size = number.lstrip("-")
        shown = name if name and size == "1" else f"{size} {name}".rstrip()
        is_negative = number.startswith("-")
        if text:
            text += f" - {shown}" if is_negative else f" + {shown}"
        else:
            text = f"-{shown}" if is_negative else shown
    return f"{text} {'< 0' if row['is'] == '<0' else '<= 0'}"
