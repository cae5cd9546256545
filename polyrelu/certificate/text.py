"""Numbers and domains in words, for people: from the text that certificates hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from fractions import Fraction

from polyrelu.exact import format_rational, parse_rational

__all__ = ["domain_text", "number_text", "part_text", "vector_text"]

#: Entries of a vector, and constraints, that are listed.
_ENTRIES, _CONSTRAINTS = 12, 12
_LONG = 40
#: Decimals of long numbers: their exponents are beyond those of floats.
_DECIMALS = Context(prec=12, Emin=MIN_EMIN, Emax=MAX_EMAX)


def number_text(text: str) -> str:
    """A rational number; a long one as a decimal.

    >>> number_text("1/3"), number_text(f"1/{10**600}")
    ('1/3', 'about 1e-600')
    """
    if len(text) <= _LONG:
        return text
    number = parse_rational(text)
    decimal = _DECIMALS.divide(Decimal(number.numerator), Decimal(number.denominator))
    return f"about {decimal.normalize(_DECIMALS):g}"


def vector_text(texts: Sequence[str]) -> str:
    """A vector of rational numbers; of many entries the first of those that are not 0.

    >>> vector_text(["1/3", "2"]), vector_text([*["0"] * 40, "7"])
    ('1/3, 2', '[40] = 7 (of 41 numbers, the others are 0)')
    """
    if len(texts) <= _ENTRIES:
        return ", ".join(map(number_text, texts))
    listed = [f"[{i}] = {number_text(text)}" for i, text in enumerate(texts) if text != "0"]
    more = f", and {len(listed) - _ENTRIES} more" if len(listed) > _ENTRIES else ""
    return (
        f"{', '.join(listed[:_ENTRIES]) or '0'}{more} (of {len(texts)} numbers, the others are 0)"
    )


def part_text(layers: int, neurons: Sequence[int]) -> str:
    """Which part of the parameters a claim *determined* is about (FORMAT.md §3.2).

    >>> part_text(1, []), part_text(3, [])
    ('layer 1 up to signs of rows [W|b]', 'layers 1 to 2 and in layer 3 up to signs of rows [W|b]')
    >>> part_text(1, [0]), part_text(2, [1, 4])[:34]
    ('layer 1 and in neuron 0 of layer 2 up to signs of rows [W|b]', 'layers 1 to 2 and in neurons 1, 4 ')
    """
    names = ", ".join(map(str, neurons))
    names = (
        f"{len(neurons)} neurons"
        if len(neurons) > _ENTRIES
        else f"neuron{'s' * (len(neurons) > 1)} {names}"
    )
    last = f"{names} of layer {layers + 1}" if neurons else f"layer {layers}"
    whole = layers if neurons else layers - 1
    before = (
        "" if whole == 0 else "layer 1 and in " if whole == 1 else f"layers 1 to {whole} and in "
    )
    return f"{before}{last} up to signs of rows [W|b]"


def domain_text(domain: Mapping[str, Sequence[str]]) -> str:
    """A domain of FORMAT.md §3.8: R^n, a box with equal sides, its constraints, or how many there
    are.

    >>> domain_text({"inequalities": ["-1 0 1", "1 0 1", "0 -2 2", "0 1 1"], "equations": []})
    '[-1, 1]^2'
    >>> domain_text({"inequalities": ["21 -1 5"], "equations": ["1 1 0"]})
    '{x : 21 x_0 - x_1 ≤ 5, x_0 + x_1 = 0}'
    """
    inequalities, equations = (
        [row.split(" ") for row in domain[key]] for key in ("inequalities", "equations")
    )
    if not inequalities and not equations:
        return "R^n"
    if not equations and (cube := _cube(inequalities)):
        return cube
    if len(inequalities) + len(equations) > _CONSTRAINTS:
        return (
            f"the domain of {len(inequalities)} inequalities and {len(equations)} equations in the "
            "certificate"
        )
    parts = [
        f"{_linear(row[:-1])} {sign} {row[-1]}"
        for sign, rows in (("≤", inequalities), ("=", equations))
        for row in rows
    ]
    return "{x : " + ", ".join(parts) + "}"


def _cube(inequalities: list[list[str]]) -> str:
    """The text of {x : lo ≤ x_j ≤ hi for all j}; nothing if the inequalities are others."""
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


def _linear(entries: Sequence[str]) -> str:
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
