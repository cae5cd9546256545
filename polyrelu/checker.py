# SPDX-License-Identifier: MIT (Copyright 2026 The polyrelu developers; text in LICENSE-checker.txt)
"""Independent checker for polyrelu certificates, version 1 of certificate/FORMAT.md; standard
library only. Run `python -I -S polyrelu/checker.py [--json] [--network FILE]... CERT`; exit status
0 accepted, 1 rejected, 2 unreadable. Notation as in FORMAT.md: z[l] = (rows a[l-1] + bias) /
denominator; for L = 3, A = W[2], a = b[2], V = W[3]. A layer has ONE denominator, so signs, zeros,
ranks, proportionality and vanishing sums of products V_oi A_ik are read off the integers `rows`;
where layers or networks meet, the denominators are carried along. Time bounds count operations on
numbers, of at most 16,384 bits in a file; `bounded` limits what a small file could blow up."""

from __future__ import annotations

import getopt
import gzip
import hashlib
import heapq
import io
import json
import math
import os
import re
import sys
import zlib
from bisect import bisect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from itertools import accumulate, chain, combinations, compress, groupby, pairwise, product
from operator import mul
from typing import IO, Any, NamedTuple

CERTIFICATE_BYTES, LINE_BYTES, NETWORK_BYTES = (
    256 << 20,
    64 << 20,
    1 << 30,
)  # section 1; no shape nests 16 levels
LAYERS, WIDTH, NUMBERS = 10_000, 10**6, 3 * 10**7  # section 2
SUMS, PAIRS, MINORS, DETERMINANT, BITS = (
    40,
    2**16,
    5_000,
    1_024,
    2**16,
)  # section 3; BITS: of numbers computed
DEPTH, TREE_BYTES, TREE_COST = 4_096, 2**36, 2**40  # section 5: levels, bytes and cost of a tree
COST = 2**34  # section 3.6: operations times (64 + bits of the numbers), about a minute at the most
Matrix = Sequence[Sequence[int]]


class Stop(Exception):  # noqa: N818
    """The end of a check that does not accept: (verdict, step, expected, got)."""


def require(condition: bool, step: str, expected: str, got: str = "not so") -> None:
    """Reject the certificate unless the condition holds."""
    if not condition:
        raise Stop("rejected", step, expected, got[:200])


def readable(condition: bool, place: str, message: str) -> None:
    """Call the file unreadable unless the condition holds."""
    if not condition:
        raise Stop("unreadable", place, "a file in the format, within its limits", message[:300])


def bounded(operations: int, bits: int, step: str) -> None:
    """The cost of one computation is within the limits."""
    Meter(COST, step).spend(operations, bits)


class Meter:
    """The cost of a computation so far (section 3.6); beyond its limit a file is unreadable."""

    def __init__(self, limit: int, step: str) -> None:
        self.limit, self.step, self.cost = limit, step, 0

    def spend(self, operations: int, bits: int) -> None:
        """Pay for operations on numbers of `bits` bits; long products take quadratic time."""
        self.cost += operations * (64 + bits) * (1 + bits // 2048)
        readable(
            self.cost <= self.limit,
            self.step,
            f"beyond the limits: {operations} operations on {bits} bits",
        )


def longest(rows: Iterable[Sequence[int]]) -> int:
    """The bits of the longest integer."""
    return max((abs(x) for row in rows for x in row), default=0).bit_length()


def quote(value: object) -> str:
    """At most 80 printable ASCII characters; nothing from a file is shown in another way."""
    text = value if isinstance(value, str) else f"{type(value).__name__} {value}"
    return ascii(text[:72])[:76] + ("..." if len(text) > 72 else "")


# ---- Text. Possessive quantifiers: no backtracking. `fullmatch` everywhere, because `$` matches
# before "\n".
NUMBER = r"(?:-?0x[1-9a-f][0-9a-f]{0,4095}+|0|-?[1-9][0-9]{0,999}+)"
NATURAL, ROW = re.compile(f"(?!-){NUMBER}"), re.compile(f"{NUMBER}(?: {NUMBER})*+")
PRIME, LAST = re.compile(f"{2**31 - 1}|{2**61 - 1}"), re.compile("affine|relu")
RATIONAL, INDEX = re.compile(f"{NUMBER}(?:/(?!-){NUMBER})?+"), re.compile("[0-9]{1,9}")
FILE_NAME, SHA256 = re.compile("(?![.])[A-Za-z0-9._-]{1,200}"), re.compile("[0-9a-f]{64}")


class OneOf(tuple[Any, ...]):
    """A shape: one of several shapes."""


def mismatch(value: Any, shape: Any, place: str) -> tuple[str, str] | None:
    """Where and how a value differs from a shape: a dict (exactly these keys), a list (entries
    alike), a tuple (a list this long), a pattern, `int`, `object` (anything), OneOf, a literal.
    Types are exact, since to Python True == 1.
    """
    if isinstance(shape, OneOf):
        tried = [mismatch(value, option, place) for option in shape]
        return (
            None if None in tried else max(filter(None, tried), key=lambda failure: len(failure[0]))
        )
    good, parts = type(value) is type(shape) and value == shape, list[tuple[Any, Any, str]]()
    if isinstance(shape, dict):
        if good := type(value) is dict and value.keys() == shape.keys():
            parts = [(value[key], shape[key], f"{place}.{key}") for key in shape]
    elif isinstance(shape, list | tuple):
        if good := type(value) is list and (isinstance(shape, list) or len(value) == len(shape)):
            entries = shape * len(value) if isinstance(shape, list) else shape
            parts = [(value[i], entry, f"{place}[{i}]") for i, entry in enumerate(entries)]
    elif isinstance(shape, re.Pattern):
        good = type(value) is str and bool(shape.fullmatch(value))
    elif isinstance(shape, type):
        good = shape in (object, type(value))
    if not good:
        wanted, got = (
            ", ".join(x) if isinstance(x, dict) else getattr(x, "pattern", x)
            for x in (shape, value)
        )
        return (
            place,
            f"expected {'the keys ' * isinstance(shape, dict)}{quote(wanted)}, got {quote(got)}",
        )
    return next((found for part in parts if (found := mismatch(*part))), None)


def fit(value: Any, shape: Any, place: str) -> None:
    """A value of another shape is unreadable."""
    if found := mismatch(value, shape, place):
        readable(False, *found)


def parse(data: bytes, place: str, size: int) -> Any:
    """The JSON value of a file. `json` sees no escapes, and refuses deep nesting (RecursionError)
    by itself.
    """

    def number(text: str) -> int:
        """An index."""
        readable(
            bool(INDEX.fullmatch(text)), place, f"not an integer from 0 to 999999999: {quote(text)}"
        )
        return int(text)

    def unique(items: list[tuple[str, Any]]) -> dict[str, Any]:
        """An object without duplicate keys."""
        readable(len(result := dict(items)) == len(items), place, "duplicate key")
        return result

    readable(len(data) <= size, place, f"more than {size} bytes, the limit of the format")
    readable(data.isascii(), place, "a byte that is not ASCII, so the file is not in the format")
    readable(b"\\" not in data, place, "a backslash, so the file is not in the format")
    try:
        text = data.decode("ascii")  # `json` would take bytes with NULs for UTF-16
        return json.loads(
            text,
            parse_int=number,
            parse_float=number,
            parse_constant=number,
            object_pairs_hook=unique,
        )
    except ValueError as error:
        return readable(False, place, f"not JSON: {error}")


def integer(text: str) -> int:
    """An integer that matches NUMBER; one that is spelled in the other way is unreadable."""
    value = int(text, 16) if "x" in text else int(text)
    readable(
        "x" not in text or abs(value) >= 10**1000,
        quote(text),
        "integers below 10^1000 must be decimal",
    )
    return value


def rational(text: str) -> Fraction:
    """A number that matches RATIONAL, in lowest terms."""
    top, slash, bottom = text.partition("/")
    p, q = integer(top), integer(bottom or "1")
    readable(
        not slash or (q > 1 and math.gcd(p, q) == 1),
        quote(text),
        "must be in lowest terms, denominator >= 2",
    )
    return Fraction(p, q)


# ---- Networks
class Layer(NamedTuple):
    denominator: int
    bias: list[int]
    rows: list[list[int]]  # on the layer before
    earlier: list[tuple[int, list[list[int]]]]  # further blocks: source, rows

    def augmented(self) -> list[list[int]]:
        """The rows of [W | b]."""
        return [[*row, b] for row, b in zip(self.rows, self.bias, strict=True)]

    def columns(self) -> list[tuple[int, ...]]:
        """The columns of W."""
        return list(zip(*self.rows, strict=True))

    def primitive(self) -> list[list[int]]:
        """The rows over their greatest common divisor: what is reduced modulo primes."""
        divisor = math.gcd(*(x for row in self.rows for x in row)) or 1
        return [[x // divisor for x in row] for row in self.rows]


class Network(NamedTuple):
    widths: list[int]
    layers: list[Layer]
    last: str
    sha256: str

    def __str__(self) -> str:
        shown = ", ".join(map(str, self.widths[:16])) + ", ..." * (len(self.widths) > 16)
        return f"{'architecture' if self.plain() else 'widths'} ({shown}) with {self.last} output"

    def plain(self) -> bool:
        """Whether every layer reads only the layer before it."""
        return not any(layer.earlier for layer in self.layers)


LAYER = {"denominator": NATURAL, "bias": ROW, "weights": [{"from": int, "rows": [ROW]}]}
NETWORK = {
    "format": "polyrelu-network",
    "version": 1,
    "inputs": int,
    "layers": [LAYER],
    "last": LAST,
}


def read_network(document: Any, place: str) -> Network:
    """A network. Every number has one spelling, so the canonical bytes contain the rows as they
    stand.
    """
    fit(document, NETWORK, place)
    widths, entries, layers, total = [document["inputs"]], document["layers"], list[Layer](), 0
    readable(
        1 <= widths[0] <= WIDTH and 1 <= len(entries) <= LAYERS,
        place,
        "no, or too many, inputs or layers",
    )
    digest = hashlib.sha256(f"polyrelu-network 1\ninputs {widths[0]}\n".encode())
    for number, entry in enumerate(entries):
        where, bias, sources = (
            f"{place}.layers[{number}]",
            entry["bias"],
            [x["from"] for x in entry["weights"]],
        )
        good = sources == sorted({*sources, number}) and sources[-1] == number
        readable(good, where, f"needs blocks in ascending order, the last one from layer {number}")
        width, denominator = bias.count(" ") + 1, entry["denominator"]
        digest.update(f"layer {width} {denominator}\nbias {bias}\n".encode())
        blocks = list[list[list[int]]]()
        for source, rows in ((block["from"], block["rows"]) for block in entry["weights"]):
            digest.update("\n".join((f"from {source}", *rows, "")).encode())
            good = len(rows) == width and {row.count(" ") + 1 for row in rows} == {widths[source]}
            readable(
                good, where, f"needs {width} rows of {widths[source]} integers from layer {source}"
            )
            total += width * widths[source]
            readable(
                width <= WIDTH and total + width <= NUMBERS,
                where,
                f"beyond {WIDTH} neurons, {NUMBERS} numbers",
            )
            blocks.append([[integer(part) for part in row.split(" ")] for row in rows])
            readable(
                source == number or any(map(any, blocks[-1])),
                where,
                f"a block of zeros from layer {source}",
            )
        total += width
        biases, rest = (
            [integer(part) for part in bias.split(" ")],
            list(zip(sources, blocks, strict=True))[:-1],
        )
        layers.append(layer := Layer(integer(denominator), biases, blocks[-1], rest))
        divisor = math.gcd(
            layer.denominator, *layer.bias, *(x for rows in blocks for row in rows for x in row)
        )
        good = layer.denominator > 0 and divisor == 1
        readable(good, where, "denominator 0, or a common divisor of denominator, bias and weights")
        widths.append(width)
    digest.update(f"last {document['last']}\n".encode())
    return Network(widths, layers, document["last"], digest.hexdigest())


# ---- Exact arithmetic
def dot(left: Iterable[int], right: Iterable[int]) -> int:
    """The scalar product."""
    return sum(x * y for x, y in zip(left, right, strict=True))


class Row(tuple[int, ...]):
    """Integers as a key of a dictionary, hashed as text: nobody can make the hashes of many
    collide.
    """

    hashed = 0

    def __hash__(self) -> int:
        self.hashed = self.hashed or hash(" ".join(f"{x:x}" for x in self))
        return self.hashed


def plane(row: Sequence[int]) -> tuple[Row, int]:
    """(h, s), row = s h, h primitive with a positive first nonzero entry: one h per hyperplane. s =
    0 if row = 0.
    """
    scale = math.gcd(*row) * (-1 if next((x for x in row if x), 0) < 0 else 1)
    return Row(x // (scale or 1) for x in row), scale


def check_determinant(step: str, q: int, rows: Iterable[Iterable[int]], p: int) -> None:
    """A q x q matrix has a nonzero determinant modulo p. Gaussian elimination, O(q^3)."""
    readable(
        q <= DETERMINANT, step, f"beyond the limits: a determinant of size above {DETERMINANT}"
    )
    rest = [[x % p for x in row] for row in rows]
    while rest:
        pivot = next((row for row in rest if row[-1]), [])
        require(len(pivot) > 0, step, f"a determinant that is nonzero modulo {p}", "zero")
        rest = [row for row in rest if row is not pivot]
        inverse = pow(-pivot.pop(), -1, p)
        for i, row in enumerate(rest):
            if factor := row.pop() * inverse % p:
                rest[i] = [(x + factor * y) % p for x, y in zip(row, pivot, strict=True)]


def pivots(matrix: Matrix) -> list[int]:
    """Columns that are a basis of the column space. Bareiss, O(m n min(m, n)): numbers are minors,
    divisions exact.
    """
    rest, last, found = [list(row) for row in matrix], 1, list[int]()
    for c in range(len(matrix[0]) if matrix else 0):
        if pivot := next((row for row in rest if row[c]), None):
            rest = [
                [(pivot[c] * x - row[c] * y) // last for x, y in zip(row, pivot, strict=True)]
                for row in rest
                if row is not pivot
            ]
            last, found = pivot[c], [*found, c]
    return found


def nonempty_sums(values: Iterable[int]) -> list[int]:
    """The sums of all nonempty subsets."""
    sums = [0]
    for x in values:
        sums += [s + x for s in sums]
    return sums[1:]


# ---- Methods that several theorems share
WITNESS = OneOf(({"row": int, "positive": [(int, RATIONAL)]}, {"flat": True}))
SUBSETS = OneOf(
    (
        {"method": "independent", "prime": PRIME, "entries": [(int, int)]},
        {"method": "subset-sums", "multiplier": NATURAL},
    )
)
MEMBERSHIP = OneOf(
    (
        {"status": "open"},
        {"status": "verified", "method": "every"},
        {"status": "verified", "method": "minors", "prime": PRIME, "columns": [int]},
        {"status": "refuted", "method": "bias", "row": int},
        {"status": "refuted", "method": "product", "rows": [int], "column": int},
        {"status": "refuted", "method": "masks", "layer": int, "masks": [[int]]},
    )
)
MULTIPLES = [(int, NATURAL)]
STEP = (int, NATURAL, MULTIPLES, MULTIPLES)


def check_depth(network: Network, depth: int, step: str = "theorem") -> list[Layer]:
    """The layers of a network that has `depth` of them and an affine output."""
    require(
        len(network.layers) == depth and network.last == "affine",
        step,
        f"L = {depth}, last affine",
        str(network),
    )
    return network.layers


def check_indices(step: str, indices: Sequence[int], bound: int, count: int | None = None) -> None:
    """Require strictly ascending indices below the bound, and `count` of them if given."""
    good = all(x < y for x, y in pairwise(indices)) and all(x < bound for x in indices[-1:])
    require(
        good and count in (None, len(indices)),
        step,
        f"{count or ''} ascending indices below {bound}",
    )


def check_rank(step: str, evidence: Any, layer: Layer) -> None:
    """W[1] has full row rank: a maximal minor is nonzero modulo p. O(n_1^3)."""
    columns, q = evidence["columns"], len(layer.rows)
    check_indices(step, columns, len(layer.rows[0]), q)
    check_determinant(
        step, q, ([row[c] for c in columns] for row in layer.primitive()), int(evidence["prime"])
    )


def check_subsets(evidence: Any, lower: Layer, upper: Layer) -> None:
    """No nonempty set of the X_i = V_{.i} A_i has the sum 0: if they are independent modulo p, in
    O(q^3), or if no subset of linear images vanishes modulo p, in O(2^(q/2)), hence q <= 40.
    """
    step, q, m, n, p = "unique", len(lower.rows), len(upper.rows), len(lower.rows[0]), 2**61 - 1
    entries = evidence.get("entries", [])
    pairs = list(zip(zip(*upper.primitive(), strict=True), lower.primitive(), strict=True))
    if evidence["method"] == "independent":
        require(all(k < n for _, k in entries), step, f"columns below {n}")
        check_indices(step, [o * n + k for o, k in entries], m * n, q)  # lexicographic order
        return check_determinant(
            step, q, ([v[o] * w[k] for o, k in entries] for v, w in pairs), int(evidence["prime"])
        )
    r = integer(evidence["multiplier"])
    readable(
        r < p and q <= SUMS,
        step,
        f"beyond the limits: more than {SUMS} neurons, or a multiplier above 2^61-2",
    )
    on_outputs, on_columns = [pow(r, o, p) for o in range(m)], [pow(r, m * k, p) for k in range(n)]
    values = [dot(v, on_outputs) % p * (dot(w, on_columns) % p) % p for v, w in pairs]
    first, rest = (
        {s % p for s in nonempty_sums(half)} for half in (values[: q // 2], values[q // 2 :])
    )
    require(
        0 not in first | rest and not any(p - s in first for s in rest),
        step,
        "nonzero subset sums mod 2^61-1",
    )


def check_membership(kind: str, among: str, network: Network, evidence: Any) -> None:
    """Section 3.4: the network's own membership in the class, as far as the evidence goes."""
    step, form, status = "membership", evidence.get("method", "open"), evidence["status"]
    require((form == "every") == (among == "all"), step, f"evidence for the class {among}", form)
    require(kind != "not-identifiable" or status == "verified", step, "verified membership", status)
    allowed = (
        form in ("open", "minors", "product", "masks") if among in DEEP_CLASSES else form != "masks"
    )
    require(allowed, step, f"evidence for the class {among}", form)
    if form in ("every", "open"):
        return
    if form == "masks":
        return check_masks(network, evidence["layer"], evidence["masks"])
    first, lower, upper = check_depth(network, 3, step)
    if form == "minors":
        check_rank(step, evidence, first)
        check_generic(lower, upper)
    elif form == "bias":
        require(
            evidence["row"] in [i for i, a in enumerate(lower.bias) if a == 0],
            step,
            "a row of A with bias zero",
        )
    else:  # a product
        chosen, j = evidence["rows"], evidence["column"]
        check_indices(step, chosen, len(lower.rows))
        require(len(chosen) > 0 and j < len(lower.rows[0]), step, "some rows and a column of A")
        require(
            not any(sum(v[i] * lower.rows[i][j] for i in chosen) for v in upper.rows),
            step,
            "a sum that vanishes",
        )


def check_masks(network: Network, bottom: int, masks: list[list[int]]) -> None:
    """A masked product I_l W[l] ... W[k+1] I_k vanishes, k = `bottom`, nonempty masks; I_0 and I_L
    keep everything.
    """
    step, top, meter = "membership", bottom + len(masks) - 1, Meter(COST, "membership")
    require(
        bottom < top <= len(network.layers),
        step,
        "masks of at least two layers of the network",
        str(len(masks)),
    )
    for k, mask in enumerate(masks, bottom):
        check_indices(
            step,
            mask,
            network.widths[k],
            None if 0 < k < len(network.layers) else network.widths[k],
        )
        require(len(mask) > 0, step, "nonempty masks", f"layer {k}")
    columns = [[int(i == j) for i in masks[0]] for j in masks[0]]
    for layer, mask, kept in zip(network.layers[bottom:top], masks, masks[1:], strict=False):
        rows = [[layer.rows[i][j] for j in mask] for i in kept]
        meter.spend(len(columns) * len(kept) * len(mask), longest(columns) + longest(rows))
        columns = [[dot(row, column) for row in rows] for column in columns]
    require(not any(map(any, columns)), step, "a masked product that vanishes")


def check_generic(lower: Layer, upper: Layer) -> None:
    """At most 5,000 minors of [A|a], all of them nonzero, which implies G2; at most 2^16 sums
    V_{.i} A_ij, all of them nonzero: G3. A vector of sums s_o, all |s_o| < 2^(b-1), vanishes iff
    the integer sum of the s_o 2^(bo) does.
    """
    matrix, step, m, n = lower.augmented(), "membership", len(lower.rows), len(lower.rows[0]) + 1
    bits = 2 + m.bit_length() + longest(lower.rows) + longest(upper.rows)
    few = (
        m < 17
        and math.comb(m + n, m) <= MINORS + 1
        and (n - 1) << m <= PAIRS
        and bits * len(upper.rows) << m < 2**26
    )
    readable(few, step, f"beyond the limits: {MINORS} minors, {PAIRS} sums, 2^26 bits of them")
    bounded(math.comb(m + n, m) * min(m, n) ** 3, min(m, n) * longest(matrix), step)
    for size in range(1, min(m, n) + 1):
        for rows, columns in product(combinations(range(m), size), combinations(range(n), size)):
            minor = [[matrix[i][k] for k in columns] for i in rows]
            require(
                len(pivots(minor)) == size,
                step,
                "nonzero minors of [A|a]",
                f"a zero of size {size}",
            )
    packed = [sum(x << (bits * o) for o, x in enumerate(v)) for v in upper.columns()]
    for j in range(n - 1):
        nonzero = all(nonempty_sums(v * row[j] for v, row in zip(packed, lower.rows, strict=True)))
        require(nonzero, step, "nonzero sums in G3", f"a zero for j = {j}")


# ---- Rules for the claim "identifiable". Each raises Stop, or returns; `check` looks at the
# membership afterwards.
def shallow(network: Network, _: Any, evidence: Any) -> None:
    """L = 2. O(n_1 (n_0 + n_2)), sorting n_1 rows, and the method for `unique`."""
    (lower, upper), step, unique = check_depth(network, 2), "visible", evidence["unique"]
    require(
        all(map(any, lower.rows)) and all(map(any, upper.columns())),
        step,
        "w_i and v_i nonzero",
        "a zero",
    )
    neurons = sorted((*plane(row), i) for i, row in enumerate(lower.augmented()))  # (h, scale, i)
    planes = [list(group) for _, group in groupby(neurons, lambda neuron: neuron[0])]
    require(
        all(len({s > 0 for _, s, _ in group}) == len(group) for group in planes),
        step,
        "no positive multiples",
    )
    bends = [
        [sum(v[i] * abs(scale) for _, scale, i in group) for v in upper.rows] for group in planes
    ]
    require(all(map(any, bends)), step, "v_i + lambda v_k nonzero at doubled hyperplanes", "zero")
    assigned = unique["method"] == "assignments"
    require(
        assigned == (len(planes) < len(neurons)),
        "unique",
        "the method for this network",
        unique["method"],
    )
    if not assigned:
        return check_subsets(unique, lower, upper)
    own = tuple(0 if len(group) == 2 else 1 if group[0][1] > 0 else -1 for group in planes)
    check_assignments(lower, upper, [group[0][0][:-1] for group in planes], bends, own)


def check_assignments(
    lower: Layer, upper: Layer, linear: Matrix, bends: Matrix, own: tuple[int, ...]
) -> None:
    """Times twice both denominators: C_k is bends[k], M is `slope`; `own`: the network's own signs,
    0 for D. Rows of R and h_k are in the row space of W[1], columns of R in the column space of
    W[2], so `inputs` and `outputs` suffice for ranks. Exact ranks, O(p^3), for each of at most 2^16
    pairs.
    """
    p, e, step = len(own), own.count(0), "unique"
    sizes = range(e % 2, e + 1, 2)
    count = sum(math.comb(p, size) << (p - size) for size in sizes) if p <= 64 else PAIRS + 1
    readable(count <= PAIRS, step, f"beyond the limits: {PAIRS} pairs (D, eps)")
    bounded(count * p**3, p * longest([*lower.rows, *upper.rows]), step)
    inputs, outputs = pivots(lower.rows), pivots(upper.columns())
    linear = [[h[k] for k in inputs] for h in linear]
    slope = [
        [sum(v * w[k] for v, w in zip(upper.rows[o], lower.rows, strict=True)) for k in inputs]
        for o in outputs
    ]
    parts = [
        [[bend[o] * x for x in h] for o in outputs] for h, bend in zip(linear, bends, strict=True)
    ]
    doubled = [h for h, sign in zip(linear, own, strict=True) if not sign]
    require(len(pivots(doubled)) == e, step, "doubled hyperplanes with independent linear parts")
    for free in chain.from_iterable(combinations(range(p), size) for size in sizes):
        kernel = [linear[k] for k in free]
        for signs in product(*((0,) if k in free else (1, -1) for k in range(p))):
            rest = [
                [
                    x - sum(s * part[o][k] for s, part in zip(signs, parts, strict=True))
                    for k, x in enumerate(row)
                ]
                for o, row in enumerate(slope)
            ]
            left = len(pivots([*kernel, *rest])) - len(
                pivots(kernel)
            )  # rank of R(D, eps) on the common kernel
            good = signs == own or left > (e - len(free)) // 2
            require(
                good,
                step,
                "only the network's own assignment",
                f"D = {free}, signs {signs}, rank {left}",
            )


def line(network: Network, _: Any, evidence: Any) -> None:
    """L = 3, n_1 = 1. O(n_0 + n_2 log n_2), and the method for `unique`."""
    first, lower, upper = check_depth(network, 3)
    require(len(first.rows) == 1, "theorem", "n_1 = 1", str(network))
    require(any(first.rows[0]), "direction", "W[1] nonzero", "zero")
    bends = [(row[0], a) for row, a in zip(lower.rows, lower.bias, strict=True)]
    require(all(x > 0 > a or x < 0 < a for x, a in bends), "bends", "A_i a_i < 0 for every i")
    require(
        len({plane(bend)[0] for bend in bends}) == len(bends),
        "bends",
        "pairwise different quotients a_i/A_i",
    )
    require(
        min(bends)[0] < 0 < max(bends)[0], "bends", "some A_i > 0 and some A_i < 0", "one sign only"
    )
    check_subsets(evidence["unique"], lower, upper)


def bottleneck(network: Network, _: Any, evidence: Any) -> None:
    """L = 3, n_1 >= 2, among generic: Theorem P. O(n_1^3 + q^3 + n_1 n_2 (n_1 + n_3)), q = n_2."""
    first, lower, upper = check_depth(network, 3)
    rows, witnesses, count = (
        lower.augmented(),
        evidence["hyperplanes"]["witnesses"],
        len(first.rows),
    )
    require(count >= 2, "theorem", "n_1 >= 2", str(network))
    check_rank("rank", evidence["rank"], first)
    require(
        all(min(row) < 0 < max(row) for row in rows), "rows", "both signs in every row [A_i|a_i]"
    )
    require(
        len({plane(row)[0] for row in rows}) == len(rows),
        "rows",
        "no rows [A_i|a_i] that are multiples",
    )
    require(all(map(any, upper.columns())), "rows", "nonzero columns of V", "a zero column")
    check_subsets(evidence["unique"], lower, upper)
    require(len(witnesses) == count, "hyperplanes", f"{count} witnesses", str(len(witnesses)))
    for j, witness in enumerate(witnesses):
        (check_flat if "flat" in witness else check_corner)(lower, upper, j, witness)


def check_corner(lower: Layer, upper: Layer, j: int, witness: Any) -> None:
    """Condition c at a point z with z_j = 0. With Q the common denominator, Q h = A (Q z) + Q a:
    integers.
    """
    i, step, place, q = witness["row"], "hyperplanes", f"j = {j}", 1
    point = {k: rational(x) for k, x in witness["positive"]}
    check_indices(step, [k for k, _ in witness["positive"]], len(lower.rows[0]))
    good = i < len(lower.rows) and j not in point and min(point.values(), default=1) > 0
    require(good, step, "a row of A, z_j = 0 and listed z_k > 0", place)
    for x in point.values():
        q = math.lcm(q, x.denominator)
        readable(
            q.bit_length() <= BITS,
            step,
            f"beyond the limits: a denominator of more than {BITS} bits",
        )
    scaled, row = [(k, x.numerator * (q // x.denominator)) for k, x in point.items()], lower.rows[i]
    h = [
        sum(w[k] * x for k, x in scaled) + a * q
        for w, a in zip(lower.rows, lower.bias, strict=True)
    ]
    require(
        [k for k, x in enumerate(h) if x == 0] == [i], step, f"h_{i} and no other h_k zero", place
    )
    require(
        row[j] != 0 and any(row[k] for k in point), step, "A_ij and some listed A_ik nonzero", place
    )
    active = [k for k, x in enumerate(h) if x > 0]
    jump = [sum(v[k] * lower.rows[k][j] for k in active) for v in upper.rows]
    across = [x + v[i] * row[j] for x, v in zip(jump, upper.rows, strict=True)]
    require(not active or (any(jump) and any(across)), step, "J and J + V_i A_ij nonzero", place)


def check_flat(lower: Layer, upper: Layer, j: int, witness: Any) -> None:
    """Condition c': on z_j = 0 every h_i has one sign, and the slope jumps there."""
    for row, a in zip(lower.rows, lower.bias, strict=True):
        others = [x for k, x in enumerate(row) if k != j]
        one_sign = min(others) >= 0 if a > 0 else a < 0 and max(others) <= 0
        require(one_sign, "hyperplanes", "every h_i of one sign where z_j = 0", f"j = {j}")
    jump = any(
        sum(v[k] * lower.rows[k][j] for k, a in enumerate(lower.bias) if a > 0) for v in upper.rows
    )
    require(jump, "hyperplanes", "a nonzero sum of V_i A_ij over a_i > 0", f"j = {j}: zero")


# ---- Theorem D, section 3.9. Hidden neurons are numbered layer by layer; the bits of a mask say
# which of them are on.
# Signs are exact; everything else only has to be nonzero, or of full rank, and is shown to be so
# modulo P.
P, DEEP_BITS, DEEP_COST, SLOPES, DEEP_CLASSES = (
    2**61 - 1,
    2**28,
    2**44,
    2**21,
    ("regular", "transversal"),
)
ON_OUTPUTS, ON_INPUTS = 1234567890123456789, 987654321
Cell = tuple[int, bytes]  # a piece: the one neuron that vanishes on it, and the mask


class Classes(dict[Cell, Cell]):
    """Disjoint sets, each with a representative."""

    def root(self, cell: Cell) -> Cell:
        """The representative; a new cell is a set of its own. Paths are halved on the way."""
        while (above := self.setdefault(cell, cell)) != cell:
            self[cell] = cell = self[above]
        return cell

    def join(self, one: Cell, other: Cell) -> None:
        """Unite two sets."""
        self[self.root(one)] = self.root(other)


class Ridge(NamedTuple):
    u: int
    v: int
    mask: int
    kind: str  # "" if it is not good
    pieces: tuple[Cell, Cell]  # of u and of v


class Seen:
    """Pieces of one neuron, of families that were joined: where neurons of the layer before are on,
    off, or crossed, that is, both within one family, and which of them are seen, that is, their
    weights are known; crossed ones are.
    """

    def __init__(self, neuron: int) -> None:
        """No pieces yet."""
        self.neuron, self.masks, self.families = neuron, list[int](), list[Seen]()
        self.on = self.off = self.crossed = self.seen = 0

    def join(self, other: Seen) -> Seen:
        """With a family."""
        self.masks.extend(other.masks)
        self.families.append(other)
        self.on, self.off = self.on | other.on, self.off | other.off
        self.crossed, self.seen = self.crossed | other.crossed, self.seen | other.seen
        return self


def bits_of(mask: int) -> list[int]:
    """The places of the ones in a mask, ascending."""
    return [i for i, digit in enumerate(reversed(f"{mask:b}")) if digit == "1"]


def product_sum(left: Iterable[int], right: Iterable[int]) -> int:
    """The scalar product of two sequences that are known to be equally long."""
    return sum(map(mul, left, right))


def pack(row: Iterable[int]) -> int:
    """Numbers from 0 to P-1 in one, 18 bytes for each: a million products of two of them can be
    added there.
    """
    return int.from_bytes(b"".join(x.to_bytes(18, "little") for x in row), "little")


def unpack(packed: int, count: int) -> list[int]:
    """The numbers modulo P."""
    data = packed.to_bytes(18 * count, "little")
    return [int.from_bytes(data[i : i + 18], "little") % P for i in range(0, 18 * count, 18)]


def reduce_into(basis: dict[int, int], row: Sequence[int]) -> None:
    """A row joins an echelon form modulo P, by the column of its first nonzero entry; 0 leaves it
    as it is. Of a row of the form only what comes after this entry, 1, is kept, packed.
    """
    rest = pack(row)
    for c in range(len(row)):
        x, rest = (rest & (1 << 144) - 1) % P, rest >> 144
        if x and c not in basis:
            inverse = pow(x, -1, P)
            basis[c] = pack(y * inverse % P for y in unpack(rest, len(row) - c - 1))
            return
        rest += (P - x) * basis[c] if x else 0


def apart(a: Sequence[int], b: Sequence[int], places: list[int]) -> bool:
    """Whether two rows are independent modulo P at some places."""
    first = next((h for h in places if a[h] or b[h]), 0)
    return any((a[first] * b[h] - a[h] * b[first]) % P for h in places)


class Plane:
    """A plane in R^n_0, and the forms of all hidden neurons on it where the neurons of a mask are
    on, layer by layer: a form is (constant, slope, slope), times a number that the layer has in
    common. It is also packed into one integer, since weights then take one product for all three. A
    layer stays while the mask has the same neurons before it.
    """

    def __init__(self, width: int, scale: int, packed: list[int], depth: int) -> None:
        """`width` is the width of a place in a packed form, in bits; `packed` are the forms of the
        first layer."""
        self.width, self.scales, self.below = width, [scale] * depth, [0] + [-1] * (depth - 1)
        self.digit, self.half = (1 << width) - 1, 1 << width - 1
        self.halves = self.half * (1 + (1 << width) + (1 << 2 * width))
        self.packed, self.forms = [packed] * depth, [self.unpacked(packed)] * depth

    def unpacked(self, packed: list[int]) -> list[tuple[int, int, int]]:
        """The forms; all numbers are shifted by `half` to be positive."""
        width, digit, half = self.width, self.digit, self.half
        return [
            ((x & digit) - half, (x >> width & digit) - half, (x >> 2 * width) - half)
            for x in map(self.halves.__add__, packed)
        ]


class Deep:
    """The network, and what its ridges show. `layers` and `neurons` say how much is to be
    determined: all neurons of the first `layers` hidden layers, and some of the next one.
    """

    def __init__(self, network: Network, claim: Mapping[str, Any]) -> None:
        good = len(network.layers) >= 2 and network.last == "affine" and network.widths[0] >= 2
        require(good, "theorem", "a hidden layer, n_0 >= 2, last affine", str(network))
        self.network, self.meter, self.widths = (
            network,
            Meter(DEEP_COST, "ridges"),
            network.widths[1:-1],
        )
        self.regular = claim.get("among") == "regular"
        self.starts, depth = [0, *accumulate(self.widths)], len(self.widths)
        self.layer = [
            number for number, width in enumerate(self.widths) for _ in range(width)
        ]  # from 0
        self.layers, neurons = claim.get("layers", depth), claim.get("neurons", [])
        good = 1 <= self.layers < depth or claim["kind"] == "identifiable"
        require(
            good, "claim", f"from 1 to {depth - 1} layers, the next one hidden", str(self.layers)
        )
        if neurons:
            check_indices("claim", neurons, self.widths[self.layers])
        self.listed = [
            *range(self.starts[self.layers]),
            *(self.starts[self.layers] + i for i in neurons),
        ]
        self.full = self.layers + (
            neurons != [] and len(neurons) == self.widths[self.layers]
        )  # layers without gaps
        self.rows = [
            [[(x + P // 2) % P - P // 2 for x in row] for row in one.primitive()]
            for one in network.layers
        ]
        self.columns = [list(zip(*rows, strict=True)) for rows in self.rows]
        self.bits = [longest([*one.rows, one.bias]) for one in network.layers]
        norms = [
            max(
                one.denominator,
                *(sum(map(abs, [*row, b])) for row, b in zip(one.rows, one.bias, strict=True)),
            )
            for one in network.layers
        ]
        self.growth = [norm.bit_length() for norm in norms]
        self.links, self.ridges = Classes(), list[Ridge]()
        self.members, self.used = dict[Cell, list[int]](), set[Cell]()
        self.levels, self.up = Classes(), dict[Cell, int]()
        self.digits, self.influences = (-1, list[int]()), [(-1, list[int]())] * depth
        self.slopes, self.stored = dict[tuple[int, int, bytes], list[int]](), 0
        direction = [pow(ON_INPUTS, k, P) for k in range(1, network.widths[0] + 1)]
        self.columns[0].append(
            tuple(product_sum(row, direction) % P for row in self.rows[0])
        )  # one more "input"

    def part(self, mask: int, layer: int) -> int:
        """The bits of one layer."""
        return mask >> self.starts[layer] & (1 << self.widths[layer]) - 1

    def below(self, mask: int, layer: int) -> int:
        """The bits of the layers before."""
        return mask & (1 << self.starts[layer]) - 1

    def text(self, mask: int) -> bytes:
        """A mask as a key of a dictionary: nobody can make the hashes of many collide."""
        return mask.to_bytes(self.starts[-1] // 8 + 1, "little")

    def on(self, mask: int, layer: int | None = None) -> list[int]:
        """For each neuron, of a layer or of all of them, 1 if it is on, otherwise 0."""
        if mask != self.digits[0]:
            self.digits = mask, [*map(int, reversed(f"{mask:0{self.starts[-1]}b}"))]
        return (
            self.digits[1]
            if layer is None
            else self.digits[1][self.starts[layer] : self.starts[layer + 1]]
        )

    def plane(self, entry: Any) -> Plane:
        """The plane point + s B_1 + t B_2. Its coordinates s and t may be scaled."""
        point, *directions = (
            [rational(x) for x in row] for row in (entry["point"], *entry["directions"])
        )
        inputs, first, vectors = self.network.widths[0], self.network.layers[0], list[list[int]]()
        good = all(len(row) == inputs for row in (point, *directions))
        require(good, "ridges", f"a point and two directions of {inputs} coordinates")
        scale = common_denominator(point, "ridges")
        for row in (point, *directions):
            common = common_denominator(row, "ridges")
            vectors.append([x.numerator * (common // x.denominator) for x in row])
        width = max(longest(vectors), scale.bit_length()) + sum(self.growth[:-1]) + 2
        self.meter.spend(len(first.rows) * (inputs + 3), 3 * width + self.bits[0])
        columns = [a + (b << width) + (c << 2 * width) for a, b, c in zip(*vectors, strict=True)]
        packed = [
            product_sum(row, columns) + b * scale
            for row, b in zip(first.rows, first.bias, strict=True)
        ]
        return Plane(width, scale * first.denominator, packed, len(self.widths))

    def ridge(self, place: Plane, u: int, v: int, mask: int) -> None:
        """The point of the plane where u and v vanish lies on a ridge, and the mask has the other
        signs there.
        """
        count, name = self.starts[-1], f"neurons {u}, {v}"
        good = u < v < count and mask >> count == 0 and not mask >> u & 1 and not mask >> v & 1
        require(
            good, "ridges", f"neurons u < v below {count}, not on, and a mask of {count} bits", name
        )
        self.move(place, mask)
        (c, a, b), (z, x, y) = (
            place.forms[self.layer[w]][w - self.starts[self.layer[w]]] for w in (u, v)
        )
        p, q, r = a * y - b * x, b * z - c * y, c * x - a * z  # homogeneous coordinates, p for 1
        require(p != 0, "ridges", "forms with exactly one common zero", name)
        p, q, r = (p, q, r) if p > 0 else (-p, -q, -r)
        self.meter.spend(3 * count, 3 * place.width)
        values = [c * p + a * q + b * r for forms in place.forms for c, a, b in forms]
        good = [x > 0 for x in values] == self.on(mask) and values.count(0) == 2
        require(good, "ridges", "exactly two zeros, and the signs of the mask", name)
        self.add(u, v, mask)

    def move(self, place: Plane, mask: int) -> None:
        """The forms with the neurons of a mask on."""
        for number, layer in enumerate(self.network.layers[1:-1], 1):
            if (below := self.below(mask, number)) != place.below[number]:
                on, scale = self.on(mask, number - 1), place.scales[number - 1]
                active = [*compress(place.packed[number - 1], on)]
                operations = len(layer.rows) * (len(active) + 4 + len(on) // 4)
                self.meter.spend(operations, 3 * place.width + self.bits[number])
                packed = [
                    product_sum(compress(row, on), active) + b * scale
                    for row, b in zip(layer.rows, layer.bias, strict=True)
                ]
                place.below[number], place.packed[number], place.forms[number] = (
                    below,
                    packed,
                    place.unpacked(packed),
                )
                place.scales[number] = scale * layer.denominator

    def add(self, u: int, v: int, mask: int) -> None:
        """The type, from the rays across which the gradient of f jumps. The jump at v is a product
        of `late` with a gradient, that at u one of `off`, or of `off` + c * `late` where v is on.
        """
        late, off, c = self.influence(v, mask), self.influence(u, mask), self.bend(u, v, mask)
        same, kind = self.layer[u] == self.layer[v], "B" if off else "C"
        good = late != 0 and (off + c * late) % P != 0
        if same:
            kind = "A"
        else:
            good = good and c != 0 and (kind == "B" or not self.part(mask, self.layer[v]))
        good = good and (
            not self.regular or (kind != "C" and self.clear(u, v, mask, (c, off, late)))
        )
        off_on = [
            (w, [self.text(m) for m in (mask, mask | 1 << other)]) for w, other in ((u, v), (v, u))
        ]
        own, across = ([(w, text) for text in texts] for w, texts in off_on)
        self.ridges.append(Ridge(u, v, mask, kind if good else "", (own[1], across[1])))
        if good:
            self.links.join(*across)
            self.links.join(own[1], own[1 if kind == "C" else 0])

    def clear(self, u: int, v: int, mask: int, jumps: tuple[int, int, int]) -> bool:
        """Whether the derivative of g along the direction is not 0 on any of the four sectors."""
        (c, off, late), slopes = jumps, self.slope(self.layer[v], mask, self.network.widths[0])
        self.meter.spend(len(slopes), 128)
        base = product_sum(slopes, self.influences_of(self.layer[v], mask))
        at_u, at_v = self.derivative(u, mask), self.derivative(v, mask)
        sectors = 0, off * at_u, late * at_v, off * at_u + late * (at_v + c * at_u)
        return all((base + jump) % P for jump in sectors)

    def derivative(self, w: int, mask: int) -> int:
        """The derivative of z_w along the direction."""
        layer, k, i = self.layer[w], self.network.widths[0], w - self.starts[self.layer[w]]
        if layer == 0:
            return int(self.columns[0][k][i])
        below, on = self.slope(layer - 1, mask, k), self.on(mask, layer - 1)
        self.meter.spend(len(below), 128)
        return product_sum(compress(self.rows[layer][i], on), below)

    def influence(self, w: int, mask: int) -> int:
        """The derivative of a sum of multiples of the outputs by the activation of a neuron; if it
        is not 0, the derivative of some output is not 0 either.
        """
        layer = self.layer[w]
        column = self.columns[layer + 1][w - self.starts[layer]]
        if layer + 1 < len(self.widths):
            column = tuple(compress(column, self.on(mask, layer + 1)))
        return product_sum(column, self.influences_of(layer + 1, mask)) % P

    def influences_of(self, layer: int, mask: int) -> list[int]:
        """The same by the activations of the neurons of a layer that are on; for the outputs, the
        multiples.
        """
        if layer == len(self.widths):
            return [pow(ON_OUTPUTS, o, P) for o in range(1, self.network.widths[-1] + 1)]
        above = mask >> self.starts[layer]
        if self.influences[layer][0] != above:
            behind, own = self.influences_of(layer + 1, mask), self.on(mask, layer)
            columns = [*compress(self.columns[layer + 1], own)]
            if layer + 1 < len(self.widths):
                later = self.on(mask, layer + 1)
                columns = [tuple(compress(column, later)) for column in columns]
            self.meter.spend(
                len(columns) * (len(behind) + 1 + self.network.widths[layer + 2] // 4), 128
            )
            self.influences[layer] = above, [product_sum(column, behind) % P for column in columns]
        return self.influences[layer][1]

    def bend(self, u: int, v: int, mask: int) -> int:
        """The derivative of z_v by the activation of u in an earlier layer; 0 in the same one."""
        first, last = self.layer[u], self.layer[v]
        if first == last:
            return 0

        def kept(layer: int, entries: Sequence[Any]) -> list[Any]:
            """The entries of v, or of the neurons that are on in a layer between."""
            return (
                [entries[v - self.starts[last]]]
                if layer == last
                else [*compress(entries, self.on(mask, layer))]
            )

        column = kept(first + 1, self.columns[first + 1][u - self.starts[first]])
        for layer in range(first + 2, last + 1):
            on, rows = self.on(mask, layer - 1), kept(layer, self.rows[layer])
            self.meter.spend(len(rows) * (len(column) + 1 + len(on) // 4), 128)
            column = [product_sum(compress(row, on), column) % P for row in rows]
        return int(column[0]) % P

    # -- families (D1)
    def families(self, evidence: Any) -> dict[int, Seen]:
        """The pieces of each neuron: of a chosen family, and of others that were joined to it
        by crossing.
        """
        for cell in list(self.links):
            self.members.setdefault(self.links.root(cell), []).append(
                int.from_bytes(cell[1], "little")
            )
        self.chains()
        good = [w for w, _ in evidence["chosen"]] == self.listed
        require(
            good,
            "families",
            f"families of {len(self.listed)} neurons, in order",
            str(len(evidence["chosen"])),
        )
        seen = {
            w: Seen(w).join(self.family("families", w, ridge)) for w, ridge in evidence["chosen"]
        }
        self.join("families", seen, evidence["joined"])
        return seen

    def chains(self) -> None:
        """The longest chain up from each level; families that meet at type A are in one level."""
        ends = [
            (ridge.kind, [self.links.root(cell) for cell in ridge.pieces])
            for ridge in self.ridges
            if ridge.kind
        ]
        for kind, (low, high) in ends:
            if kind == "A":
                self.levels.join(low, high)
        steps = [
            (self.levels.root(low), self.levels.root(high))
            for kind, (low, high) in ends
            if kind != "A"
        ]
        for low, high in sorted(steps, key=lambda step: -self.layer[step[0][0]]):
            self.up[low] = max(self.up.get(low, 0), self.up.get(high, 0) + 1)

    def family(self, step: str, w: int, ridge: int) -> Seen:
        """The family of neuron w at a ridge. It is placed: its chain is as long as it can be."""
        good = w < self.starts[-1] and ridge < len(self.ridges)
        require(good, step, "a neuron and a ridge", f"{w}, {ridge}")
        crossing, layer, new = self.ridges[ridge], self.layer[w], Seen(w)
        good = w in crossing[:2] and crossing.kind != ""
        require(good, step, f"a good ridge of neuron {w}", f"ridge {ridge}")
        root = self.links.root(crossing.pieces[w == crossing.v])
        require(
            root not in self.used,
            step,
            "families that are listed once",
            f"neuron {w}, ridge {ridge}",
        )
        self.used.add(root)
        chain = self.up.get(self.levels.root(root), 0)
        require(
            chain == len(self.widths) - 1 - layer,
            step,
            f"a chain up from neuron {w}",
            f"one of {chain}",
        )
        new.masks, before = (
            self.members[root],
            self.below(-1, layer) ^ self.below(-1, max(layer - 1, 0)),
        )
        self.meter.spend(len(new.masks), self.starts[-1])
        for mask in new.masks:
            new.on, new.off = new.on | mask & before, new.off | ~mask & before
        new.crossed = new.seen = new.on & new.off
        return new

    def join(self, step: str, seen: dict[int, Seen], joined: list[tuple[int, int]]) -> None:
        """Families are joined in their order: by what they cross in the step `families`, else by
        what they see.
        """
        ready = set[int]()
        for w, ridge in joined:
            new, layer = self.family(step, w, ridge), self.layer[w]
            require(
                layer < self.full,
                step,
                "a neuron of a layer that is listed as a whole",
                f"neuron {w}",
            )
            if step == "families" and layer == 0:  # nothing else is required
                seen[w].join(new)
                continue
            peers = [seen[k] for k in range(self.starts[layer], self.starts[layer + 1])]
            if layer not in ready:  # what is joined to these sets keeps them apart
                ready.add(layer)
                good = all(self.apart(step, one, other) for one, other in combinations(peers, 2))
                require(good, step, f"sets of layer {layer + 1} that are told apart", "not so")
            if step != "families":
                self.look(new)
            good = self.common(step, new, seen[w]) != 0
            good = good and all(
                self.apart(step, new, other) for other in peers if other.neuron != w
            )
            require(good, step, "a family that can be joined", f"neuron {w}, ridge {ridge}")
            seen[w].join(new)
            if step != "families":
                self.look(seen[w])

    def common(self, step: str, one: Seen, other: Seen) -> int:
        """What two sets of families both cross, or both see."""
        return one.crossed & other.crossed if step == "families" else one.seen & other.seen

    def apart(self, step: str, one: Seen, other: Seen) -> bool:
        """Whether the rows of two neurons of one layer are independent where both cross or see."""
        layer = self.layer[one.neuron]
        if layer == 0:
            return False
        a, b = (self.rows[layer][own.neuron - self.starts[layer]] for own in (one, other))
        self.meter.spend(self.widths[layer - 1], 128)
        return apart(a, b, bits_of(self.part(self.common(step, one, other), layer - 1)))

    # -- signs (D3)
    def signs(self, layer: int, seen: dict[int, Seen]) -> None:
        """Some neuron of the layer above is crossed by all of this one, or the systems of some of
        them have no solution but 0: for each v first its own unknowns, s_vh and t_vh, then the p_h.
        Any set of neurons above will do.
        """
        above = [own for v, own in seen.items() if self.layer[v] == layer + 1]
        full, total, wanted = (1 << self.widths[layer]) - 1, dict[int, int](), set[int]()
        if not above or any(self.part(own.crossed, layer) == full for own in above):
            return
        below = [seen[h].masks for h in range(self.starts[layer], self.starts[layer + 1])]
        free = sum(
            all(self.part(mask, layer) for mask in masks) << h for h, masks in enumerate(below)
        )  # not oriented
        for own in above:
            crossed, weights = (
                self.part(own.crossed, layer),
                self.rows[layer + 1][own.neuron - self.starts[layer + 1]],
            )
            ons = [(h, (True,), 1) for h in bits_of(~crossed & self.part(own.on, layer))]
            offs = [(h, (False,), 1) for h in bits_of(~crossed & self.part(own.off, layer) & free)]
            signs = [(h, (True, False), weights[h]) for h in bits_of(crossed & free)]
            count, basis = len(ons) + len(offs), self.system(own, [*ons, *offs, *signs])
            if sum(c < count for c in basis) == count:
                if len(basis) == count + len(signs):
                    return
                wanted.update(h for h, _, _ in signs)
                for c, packed in basis.items():
                    if rest := signs[c - count :] if c >= count else []:
                        row = [1, *unpack(packed, len(rest) - 1)]
                        values = dict(zip((h for h, _, _ in rest), row, strict=True))
                        self.meter.spend(self.widths[layer] ** 2, 128)
                        reduce_into(total, [values.get(h, 0) for h in range(self.widths[layer])])
                if len(total) == len(wanted):
                    return
        require(
            False, "signs", f"full rank for layer {layer + 1}", f"{len(total)} of {len(wanted)}"
        )

    def system(
        self, own: Seen, unknowns: list[tuple[int, tuple[bool, ...], int]]
    ) -> dict[int, int]:
        """The equations that the gradients of the layer before, each times its factor and unknown,
        have the sum 0 at the pieces of a neuron, until the rank is full. An unknown (h, states,
        factor) counts where h is on, or off.
        """
        layer, size, basis, seen = (
            self.layer[own.neuron] - 1,
            len(unknowns),
            dict[int, int](),
            set[bytes](),
        )
        which = sum(1 << self.starts[layer] + h for h, states, _ in unknowns if len(states) == 1)
        for mask in own.masks:
            if len(basis) == size:
                break
            if (key := self.text(mask & which | self.below(mask, layer))) in seen:
                continue
            seen.add(key)
            part, on = self.part(mask, layer), self.on(mask, layer - 1) if layer else []
            places = [
                (c, h, f)
                for c, (h, states, f) in enumerate(unknowns)
                if (part >> h & 1 == 1) in states
            ]
            rows = [
                self.rows[layer][h] if layer == 0 else [*compress(self.rows[layer][h], on)]
                for _, h, _ in places
            ]
            for k in range(self.network.widths[0]):
                row, below = [0] * size, self.slope(layer - 1, mask, k) if layer else []
                self.meter.spend(len(rows) * (len(below) + 2) + size * size, 128)
                for (c, _, factor), weights in zip(places, rows, strict=True):
                    row[c] = (product_sum(weights, below) if layer else weights[k]) * factor % P
                reduce_into(basis, row)
                if len(basis) == size:
                    break
        return basis

    def slope(self, layer: int, mask: int, k: int) -> list[int]:
        """The derivatives of those neurons of a layer that are on, by input k, or along the
        direction if k is n_0.
        """
        key = layer, k, self.text(self.below(mask, layer + 1))
        if key not in self.slopes:
            on = self.on(mask, layer)
            value = [*compress(self.columns[0][k], on)]
            if layer > 0:
                below, before = self.slope(layer - 1, mask, k), self.on(mask, layer - 1)
                self.meter.spend(sum(on) * (len(below) + 1 + len(before) // 4), 128)
                value = [
                    product_sum(compress(row, before), below) % P
                    for row in compress(self.rows[layer], on)
                ]
            if (stored := self.stored + len(value)) > SLOPES:
                stored = len(value)
                self.slopes.clear()
            self.slopes[key], self.stored = value, stored
        return self.slopes[key]

    # -- weights (D2)
    def look(self, own: Seen) -> None:
        """What is on at some piece is seen if a system has no solution but 0."""
        layer = self.layer[own.neuron]
        unknowns = bits_of(self.part(own.on & ~own.seen, layer - 1)) if layer else []
        if len(self.system(own, [(h, (True,), 1) for h in unknowns])) == len(unknowns):
            own.seen |= own.on

    def weights(self, seen: dict[int, Seen], evidence: Any) -> None:
        """No weight is 0, and all are seen; weights of the last layer on neurons that are on
        nowhere by (D2')."""
        last, order = (
            len(self.widths) - 1 if self.layers == len(self.widths) else -1,
            evidence["order"],
        )
        for own in seen.values():
            self.look(own)
            if own.on & ~own.seen and len(own.families) > 1:
                for family in own.families:
                    self.look(family)
                    own.seen |= family.seen
        self.join("weights", seen, evidence["joined"])
        unseen = {w: list[int]() for w in range(self.widths[last - 1])} if last > 0 else {}
        for v, own in seen.items():
            if layer := self.layer[v]:
                good = (
                    all(self.network.layers[layer].rows[v - self.starts[layer]])
                    and not own.on & ~own.seen
                )
                off = bits_of(~self.part(own.on, layer - 1) & (1 << self.widths[layer - 1]) - 1)
                good = good and (layer == last or not off)
                require(good, "weights", "no weight 0, and all of them seen", f"neuron {v}")
                for h in off:
                    unseen[h].append(v)
        unseen = {h: neurons for h, neurons in unseen.items() if neurons}
        require(
            sorted(order) == sorted(unseen),
            "weights",
            "an order of the sources",
            f"{len(unseen)} sources",
        )
        if order:
            self.sources(seen, order, unseen)

    def sources(
        self, seen: dict[int, Seen], order: list[int], unseen: dict[int, list[int]]
    ) -> None:
        """(D2'): neurons h of layer L-2 that are on at no piece of some v of layer L-1 are seen at
        their own zeros.
        """
        low, high = len(self.widths) - 2, len(self.widths) - 1
        top, base = range(self.starts[high], self.starts[high + 1]), self.starts[low]
        rows = [[x % P for x in row] for row in self.network.layers[high].augmented()]
        for v, w in combinations(top, 2):
            common = [*bits_of(self.part(seen[v].on & seen[w].on, low)), self.widths[low]]
            self.meter.spend(3 * len(common), 128)
            require(
                apart(rows[v - top[0]], rows[w - top[0]], common),
                "weights",
                f"seen rows {v}, {w} that are apart",
            )
        left = sum(1 << base + h for h in order)
        sectors = (mask for ridge in self.ridges for mask in self.around(ridge) if not mask & left)
        good = any(all(self.part(mask, layer) for layer in range(high)) for mask in sectors)
        require(good, "weights", "a sector where all sources are off")
        for h in order:
            left ^= 1 << base + h
            self.meter.spend(len(self.ridges), 64)
            basis, marks, neurons = dict[int, int](), set[tuple[bool, ...]](), unseen[h]
            for ridge in self.ridges:
                if base + h in ridge[:2]:
                    other = ridge.u + ridge.v - base - h
                    self.meter.spend(2 * len(neurons), 64)
                    rays = (
                        mask for mask in (ridge.mask, ridge.mask | 1 << other) if not mask & left
                    )
                    marks.update(tuple(bool(mask >> v & 1) for v in neurons) for mask in rays)
            for mark in marks:
                for row in self.rows[high + 1]:
                    self.meter.spend(len(neurons) ** 2, 128)
                    reduce_into(
                        basis,
                        [row[v - top[0]] * on % P for v, on in zip(neurons, mark, strict=True)],
                    )
            require(
                len(basis) == len(neurons), "weights", f"full rank for source {h}", str(len(basis))
            )

    def around(self, ridge: Ridge) -> list[int]:
        """The masks of the four sectors."""
        bits = 1 << ridge.u, 1 << ridge.v
        return [ridge.mask | x | y for x in (0, bits[0]) for y in (0, bits[1])]


def deep(network: Network, claim: Any, evidence: Any) -> None:
    """Theorem D, as a whole or in part. A product for each weight and each column of the forms at
    each ridge; ranks in cubic time.
    """
    subject, slices = Deep(network, claim), evidence["ridges"]["slices"]
    count = sum(len(entry["ridges"]) for entry in slices)
    readable(
        count * subject.starts[-1] <= DEEP_BITS,
        "ridges",
        f"beyond the limits: {DEEP_BITS} signs at ridges",
    )
    for entry in slices:
        plane = subject.plane(entry)
        for u, v, mask in entry["ridges"]:
            subject.ridge(plane, u, v, integer(mask))
    seen = subject.families(evidence["families"])
    for layer in range(len(subject.widths) - 1):
        subject.signs(layer, seen)
    subject.weights(seen, evidence["weights"])


# ---- Rules for the claim "not-identifiable": each checks `same-function`; the rest is common to
# them.
def counterexample(
    one: Network, two: Network, evidence: Any, same_function: Callable[..., None]
) -> None:
    """The hypotheses in their order. O(sum of n_l n_(l-1)), and what `same_function` and the
    membership take.
    """
    layer, names = evidence["not-related"]["layer"], dict[Any, int]()
    require(
        one.widths == two.widths and one.last == two.last,
        "architecture",
        "the same ones",
        f"{one}; {two}",
    )
    same_function(one, two, evidence["same-function"])
    require(1 <= layer <= len(one.layers), "not-related", "a layer of the networks", str(layer))
    require(
        invariants(one, layer, names) != invariants(two, layer, names),
        "not-related",
        "different invariants",
    )


def invariants(network: Network, depth: int, names: dict[Any, int]) -> list[int]:
    """Section 3.5, up to layer `depth`; `names` gives equal invariants equal numbers, so nothing
    nests. Vectors (b, e)/N of norm 1 are equal iff their primitive multiples are; the last layer is
    not divided, so its common denominator joins the vector. Scales are integers over a common
    denominator.
    """
    name, scale, common = list(range(network.widths[0])), [1] * network.widths[0], 1
    for number, layer in enumerate(network.layers[:depth], 1):
        inputs, below, common = (
            list(zip(name, scale, strict=True)),
            common,
            common * layer.denominator,
        )
        bits = max(below, *scale).bit_length() + longest(layer.augmented())
        readable(bits <= BITS, "not-related", f"beyond the limits: scales of more than {BITS} bits")
        bounded(len(layer.rows) * len(inputs), bits, "not-related")
        name, scale = [], []
        for row, b in zip(layer.rows, layer.bias, strict=True):
            front = [b * below, common] if number == len(network.layers) else [b * below]
            e = [(n, w * s) for w, (n, s) in zip(row, inputs, strict=True) if w * s]
            divisor = math.gcd(*front, *(x for _, x in e)) or 1
            key = Row(
                (
                    number,
                    *(x // divisor for x in front),
                    *chain(*sorted((n, x // divisor) for n, x in e)),
                )
            )
            name.append(names.setdefault(key, len(names)))
            scale.append(sum(abs(x) for _, x in e) + abs(b * below))
    return name if depth == len(network.layers) else sorted(name)


def changed_layers(
    one: Network, two: Network, evidence: Any, count: int
) -> tuple[int, Layer, Layer]:
    """The evidence's layer l, and layers l and l+1. All but `count` layers from l on are equal (in
    lowest terms).
    """
    number, last = evidence["layer"], len(one.layers)
    require(1 <= number < last, "same-function", f"a layer from 1 to {last - 1}", str(number))
    hidden = "neuron" not in evidence or number + 1 < last or one.last == "relu"
    require(
        hidden and evidence.get("neuron", 0) < one.widths[number],
        "same-function",
        "a neuron below a hidden layer",
    )
    for k, (mine, others) in enumerate(zip(one.layers, two.layers, strict=True), 1):
        require(
            number <= k < number + count or mine == others,
            "same-function",
            f"equal layers {k}",
            "different ones",
        )
    return number, one.layers[number - 1], one.layers[number]


def check_layer(layer: Layer, rows: Matrix, denominator: int) -> None:
    """The layer of `other` is the given [W|b] over the given denominator."""
    mine = [[x * layer.denominator for x in row] for row in rows]
    same = mine == [[x * denominator for x in row] for row in layer.augmented()]
    require(same, "same-function", "the layers of `other` as the theorem says", "another one")


def replacement(one: Network, two: Network, evidence: Any) -> None:
    """The maps of layers l and l+1 agree on R^n or, behind a hidden layer, on the orthant."""
    number = changed_layers(one, two, evidence, 2)[0]
    count = one.widths[number - 1]
    check_maps(
        one, two, number, [*[None if number == 1 else 0] * count, 1], [*[None] * count, 1], 0
    )


def bounded_replacement(one: Network, two: Network, evidence: Any) -> None:
    """They agree on the box that interval arithmetic gives. O(size of layers 1 ... l), and as
    `replacement`.
    """
    number = changed_layers(one, two, evidence, 2)[0]
    low, high = image(one.layers[: number - 1], one.widths[0])
    rows = [row for network in (one, two) for row in network.layers[number - 1].augmented()]
    bits = longest([[x or 0 for x in (*low, *high)], *rows])
    bounded(len(rows) * len(low), 2 * bits, "same-function")
    check_maps(one, two, number, low, high, 2 * bits)


Ends = list[
    int | None
]  # lower or upper ends of a box over a common denominator; that one is the last entry, for 1


def image(layers: Sequence[Layer], inputs: int) -> tuple[Ends, Ends]:
    """A box that holds the activations of the last of some hidden layers at all inputs; None: an
    infinite end.
    """
    low: Ends = [*[None] * inputs, 1]
    high = low
    for layer in layers:
        rows = layer.augmented()
        bits = longest([[x or 0 for x in (*low, *high)]]) + longest([*rows, [layer.denominator]])
        readable(
            bits <= BITS,
            "same-function",
            f"beyond the limits: a box with ends of more than {BITS} bits",
        )
        bounded(2 * len(rows) * len(low), bits, "same-function")
        scale = (low[-1] or 1) * layer.denominator
        ends = [(extreme(row, low, high), extreme(row, high, low)) for row in rows]
        low, high = (
            [*(max(x or 0, 0) for x, _ in ends), scale],
            [*(x and max(x, 0) for _, x in ends), scale],
        )
    return low, high


def extreme(row: Sequence[int], upper: Ends, lower: Ends) -> int | None:
    """The largest value of row.(u,1) on a box; with the ends exchanged, the smallest one. None if
    it is infinite.
    """
    total = 0
    for w, a, b in zip(row, upper, lower, strict=True):
        if w and (end := a if w > 0 else b) is None:
            return None
        total += w * end if w and end else 0
    return total


def check_maps(one: Network, two: Network, number: int, low: Ends, high: Ends, bits: int) -> None:
    """The maps of layers l and l+1 agree on a box. Fixed coordinates of u are put in; the others
    have an interior. `common` times the difference is a sum of terms[h, s] max(s h.(u,1), 0), h as
    in `plane`, s a sign, plus a constant; so it is a sum of |h| and an affine map, both zero.
    O(n_(l-1) n_l n_(l+1)). `bits`: of ends and rows together.
    """
    pairs = [network.layers[number - 1 : number + 1] for network in (one, two)]
    common, zero = (
        math.lcm(*(x.denominator * y.denominator for x, y in pairs)),
        [0] * one.widths[number + 1],
    )
    terms, scale = dict[tuple[Row, int], list[int]](), low[-1] or 1
    free = [k for k, (x, y) in enumerate(zip(low, high, strict=True)) if x is None or x != y]
    fixed = [
        (k, x) for k, (x, y) in enumerate(zip(low, high, strict=True)) if x is not None and x == y
    ]
    lower_ends, upper_ends = ([*(ends[k] for k in free), scale] for ends in (low, high))
    affine_part = [[0] * (len(free) + 1) for _ in zero]
    for side, (lower, upper) in zip((1, -1), pairs, strict=True):
        factor = side * common // (lower.denominator * upper.denominator)
        rows = (
            [*(row[k] * scale for k in free), sum(row[k] * x for k, x in fixed)]
            for row in lower.augmented()
        )
        planes = [plane(row) for row in rows]
        spent = longest([[size] for _, size in planes]) + factor.bit_length() + longest(upper.rows)
        bounded(2 * len(planes) * len(zero), spent, "same-function")
        for v, (h, size) in zip(upper.columns(), planes, strict=True):
            key = h, (-1 if size < 0 else 1)
            terms[key] = [
                x + factor * abs(size) * y for x, y in zip(terms.get(key, zero), v, strict=True)
            ]
        for row, b in zip(affine_part, upper.bias, strict=True):
            row[-1] += 2 * factor * lower.denominator * scale * b
    left = sum(
        map(any, terms.values())
    )  # what does not cancel: the neurons in which the networks differ
    spent = longest([*terms.values(), [common]]) + bits
    bounded(left * one.widths[number - 1] * len(zero), spent, "same-function")
    for (h, sign), coefficient in terms.items():
        if not any(coefficient):
            continue
        # 2 max(t, 0) is |t| + t where t = s h.(u,1) changes its sign, 2t where t >= 0, and 0 where
        # t <= 0.
        least, most = extreme(h, lower_ends, upper_ends), extreme(h, upper_ends, lower_ends)
        below, above = least is None or least < 0, most is None or most > 0
        cancels = not (below and above) or [-x for x in coefficient] == terms.get((h, -sign), zero)
        require(cancels, "same-function", "equal coefficients of |h|", "different ones")
        factor = sign if below and above else 2 * sign if (above if sign > 0 else below) else 0
        for row, c in zip(affine_part, coefficient, strict=True):
            if factor * c:
                row[:] = [x + factor * c * y for x, y in zip(row, h, strict=True)]
    require(not any(map(any, affine_part)), "same-function", "equal affine parts", "different ones")


def translation(one: Network, two: Network, evidence: Any) -> None:
    """The signs, and `other` compared with what the theorem says. O(size of both layers)."""
    number, lower, upper = changed_layers(one, two, evidence, 2)
    j, (p, q) = evidence["neuron"], rational(evidence["shift"]).as_integer_ratio()
    below, above = ([[q * x for x in row] for row in layer.augmented()] for layer in (lower, upper))
    below[j][-1] += p * lower.denominator
    for new, row, b in zip(above, upper.rows, upper.bias, strict=True):
        signs = row[j] >= 0 and all(x <= 0 for k, x in enumerate(row) if k != j) and b <= 0
        require(
            signs and b * q <= p * row[j],
            "same-function",
            "W_ij >= 0 >= W_ik, b_i <= 0 and b_i <= t W_ij",
        )
        new[-1] -= p * row[j]
    check_layer(two.layers[number - 1], below, q * lower.denominator)
    check_layer(two.layers[number], above, q * upper.denominator)


def flip(one: Network, two: Network, evidence: Any) -> None:
    """As for `translation`. Layer l of `other` over d w_j; in |w_k|/w_j the denominator of w
    cancels.
    """
    number, lower, upper = changed_layers(one, two, evidence, 1)
    j, flipped, w, old = evidence["neuron"], evidence["flipped"], upper.rows[0], lower.augmented()
    check_indices("same-function", flipped, len(w))
    signs = w[j] > 0 and all(x <= 0 for k, x in enumerate(w) if k != j) and upper.bias[0] <= 0
    good = len(flipped) > 0 and j not in flipped and len(upper.rows) == 1 and signs
    require(
        good,
        "same-function",
        "neurons k != j to flip, one neuron in layer l+1, w_j > 0 >= w_k and a bias <= 0",
    )
    rows = [[w[j] * x for x in row] for row in old]
    for k in flipped:
        rows[k] = [-x for x in rows[k]]
        rows[j] = [x + w[k] * y for x, y in zip(rows[j], old[k], strict=True)]  # w_k = -|w_k|
    check_layer(two.layers[number - 1], rows, lower.denominator * w[j])


def line_equal(one: Network, two: Network, evidence: Any) -> None:
    """L = 3, n_1 = 1, W[1] parallel: the input t on one axis c decides. Piecewise affine functions
    of t are equal iff they agree at all breakpoints of both and at a point beyond either end. O(n_0
    + n_2^2 n_3).
    """
    r, s = (check_depth(network, 3, "same-function")[0].rows[0] for network in (one, two))
    c, points = next((k for k, x in enumerate(r) if x), 0), set[Fraction]()
    parallel = r[c] != 0 != s[c] and all(x * s[c] == y * r[c] for x, y in zip(r, s, strict=True))
    require(parallel and one.widths[1] == 1, "same-function", "n_1 = 1, nonzero parallel rows W[1]")
    for first, lower, _ in (one.layers, two.layers):
        zeros = [
            Fraction(-a, row[0]) for row, a in zip(lower.rows, lower.bias, strict=True) if row[0]
        ]
        points.update(
            (u * first.denominator - first.bias[0]) / first.rows[0][c]
            for u in (Fraction(0), *zeros)
        )
    rows = [row for network in (one, two) for layer in network.layers for row in layer.augmented()]
    bounded(4 * one.widths[2] ** 2 * one.widths[3], 4 * longest(rows), "same-function")
    for t in (*points, min(points) - 1, max(points) + 1):
        require(
            on_axis(one, c, t) == on_axis(two, c, t), "same-function", "equal values at breakpoints"
        )


def on_axis(network: Network, c: int, t: Fraction) -> list[Fraction]:
    """The outputs where coordinate c of the input is t and the others are 0, if n_1 = 1."""
    first, lower, upper = network.layers
    p, q = max(
        (first.rows[0][c] * t + first.bias[0]) / first.denominator, Fraction(0)
    ).as_integer_ratio()
    active = [max(row[0] * p + a * q, 0) for row, a in zip(lower.rows, lower.bias, strict=True)]
    q *= lower.denominator
    return [Fraction(dot(v, active) + b * q, q * upper.denominator) for *v, b in upper.augmented()]


class Facts:
    """Forms that are >= 0 at every input or, with a source, wherever it is on: facts 2k and 2k+1
    are a and d a - t of neuron k, as a = max(t/d, 0); from 2N on `more`: 1, what the source adds,
    what steps add. The N neurons of layers before layer `number` are numbered from 0, layer by
    layer. Symbols: 0 for 1, then the inputs, then the neurons.
    """

    def __init__(self, network: Network, number: int, source: list[int]) -> None:
        self.layers, self.meter, self.more = network.layers, Meter(COST, "same-function"), [{0: 1}]
        self.starts = list(accumulate(network.widths[:number], initial=1))
        self.count = self.starts[-1] - self.starts[1]
        for j in source:
            own, t = self.neuron(self.count - network.widths[number - 1] + j)
            self.more.append(added(t, own, -1))

    def form(self, number: int, row: Sequence[int]) -> Form:
        """A row of [W | b] of a layer as a form."""
        return {0: row[-1], **dict(enumerate(row[:-1], self.starts[number - 1]))}

    def neuron(self, k: int) -> tuple[Form, Form]:
        """The forms d a and t of neuron k."""
        number = bisect(self.starts, symbol := self.starts[1] + k) - 1
        layer, i = self.layers[number - 1], symbol - self.starts[number]
        return {symbol: layer.denominator}, self.form(number, [*layer.rows[i], layer.bias[i]])

    def fact(self, number: int) -> Form:
        """A fact by its number."""
        k, is_gap = divmod(number, 2)
        require(
            number - 2 * self.count < len(self.more),
            "same-function",
            "a fact that is known",
            str(number),
        )
        if k >= self.count:
            return self.more[number - 2 * self.count]
        return added(*self.neuron(k), -1) if is_gap else {self.starts[1] + k: 1}

    def minus(self, form: Form, entries: Any, sign: int = -1) -> Form:
        """A form minus multiples of facts."""
        rest = dict(form)
        for number, text in entries:
            factor, fact = integer(text), self.fact(number)
            self.meter.spend(len(fact), longest([list(fact.values())]) + factor.bit_length())
            add_to(rest, fact, sign * factor)
        return rest

    def nonnegative(self, form: Form, entries: Any) -> None:
        """The form is a sum of the listed multiples of facts and of some multiples of activations
        and 1.
        """
        rest = self.minus(form, entries)
        good = all(x >= 0 if k == 0 or k >= self.starts[1] else x == 0 for k, x in rest.items())
        require(
            good, "same-function", "facts that leave nonnegative multiples of activations", "others"
        )

    def step(self, k: int, scale: str, above: Any, gap: Any) -> None:
        """q d a <= G for a sum G of multiples of facts, because q t <= G as well."""
        require(
            k < self.count and (q := integer(scale)) > 0,
            "same-function",
            "a neuron of the layers before",
            str(k),
        )
        bound, (own, t) = self.minus({}, above, 1), self.neuron(k)
        self.meter.spend(len(t), longest([list(t.values())]) + q.bit_length())
        self.nonnegative(added(bound, t, -q), gap)
        self.more.append(added(bound, own, -q))


def added(one: Form, other: Form, factor: int) -> Form:
    """one + factor * other."""
    add_to(result := dict(one), other, factor)
    return result


def one_sided(one: Network, two: Network, evidence: Any) -> None:
    """Neurons of layer l have one sign wherever the source (without one: 1) is on, in both
    networks, which differ in their weights on it. O(size of layers 1 ... l) for each step and each
    sign.
    """
    number, lower, upper = changed_layers(one, two, evidence, 2)
    width, source, changed = one.widths[number - 1], evidence["source"], two.layers[number - 1]
    good = len(source) <= (number > 1) and all(h < width for h in source)
    require(good, "same-function", "at most one source, a neuron of the layer before", str(source))
    facts, place, scale = (
        Facts(one, number, source),
        (*source, width)[0],
        lower.denominator * changed.denominator,
    )
    for step in evidence["steps"]:
        facts.step(*step)
    check_indices("same-function", [v for v, *_ in evidence["signs"]], len(lower.rows))
    bits = (
        longest([*lower.augmented(), *changed.augmented(), *upper.augmented(), [scale]])
        + scale.bit_length()
    )
    bounded(
        2 * len(lower.rows) * (width + 1) + 3 * len(upper.rows) * (len(lower.rows) + 1),
        bits,
        "same-function",
    )
    old, new = (
        [[x * other.denominator for x in row] for row in layer.augmented()]
        for layer, other in ((lower, changed), (changed, lower))
    )
    above = [[x * scale for x in row] for row in upper.augmented()]
    for v, sign, text, entries in evidence["signs"]:
        require((factor := integer(text)) > 0, "same-function", "a positive factor", text)
        for row in (old[v], new[v]):
            facts.meter.spend(len(row), bits + factor.bit_length())
            facts.nonnegative(
                facts.form(number, [factor * x if sign == "+" else -factor * x for x in row]),
                entries,
            )
        change, old[v][place] = new[v][place] - old[v][place], new[v][place]
        shift = [w[v] * change if sign == "+" else 0 for w in upper.rows]
        for row, x in zip(above, shift, strict=True):
            row[-1] -= x
    require(
        old == new, "same-function", "equal layers l but for the weights of `signs` on the source"
    )
    shifted = [row[-1] != b * scale for row, b in zip(above, upper.bias, strict=True)]
    require(not source or not any(shifted), "same-function", "changes that cancel in layer l+1")
    check_layer(two.layers[number], above, upper.denominator * scale)


# ---- The rule for the claim "runtime-error", section 3.7. Numbers are integers over 2^GRID,
# rounded outwards.
GRID = 1200
ARITHMETIC = {
    "float32": (24, 126, (2**24 - 1) << 104),
    "float64": (53, 1000, (2**53 - 1) << 971),
}  # p, tiny, largest


def rounding(network: Network, claim: Any, _: Any) -> None:
    """Intervals for the exact activations and bounds on the errors, layer by layer. O(numbers of
    the network).
    """
    corners, limits = (
        [[rational(x) for x in claim["domain"][side]] for side in ("lower", "upper")],
        claim["at-most"],
    )
    good = (
        len(corners[0]) == len(corners[1]) == network.widths[0]
        and len(limits) == network.widths[-1]
    )
    require(
        good,
        "claim",
        "a box in the inputs, and a bound for each output",
        f"{len(corners[0])}, {len(limits)}",
    )
    require(all(a <= b for a, b in zip(*corners, strict=True)), "claim", "lower <= upper")
    low, high = (
        [math.floor(x * 2**GRID) for x in corners[0]],
        [math.ceil(x * 2**GRID) for x in corners[1]],
    )
    tiny = (
        1 << GRID - ARITHMETIC[claim["arithmetic"]][1]
    )  # what may be lost when small numbers are taken for 0
    errors, last = [tiny] * len(low), len(network.layers) - (network.last == "affine")
    for number, layer in enumerate(network.layers):
        bits = (
            GRID
            + longest([low, high, errors])
            + longest([[layer.denominator], layer.bias, *layer.rows])
        )
        bounded(4 * len(layer.rows) * len(low), bits, "bound")
        made = [
            neuron(row, b, layer.denominator, low, high, errors, claim["arithmetic"])
            for row, b in zip(layer.rows, layer.bias, strict=True)
        ]
        low, high, errors = ([entry[i] for entry in made] for i in range(3))
        if (
            number < last
        ):  # where the exact value is at most 0, the float one exceeds it by at most high + error
            errors = [
                tiny + (min(e, max(h + e, 0)) if h <= 0 else e)
                for h, e in zip(high, errors, strict=True)
            ]
            low, high = [max(x, 0) for x in low], [max(x, 0) for x in high]
    for i, (e, limit) in enumerate(zip(errors, limits, strict=True)):
        require(
            e <= rational(limit) * 2**GRID,
            "bound",
            f"an error of at most at-most[{i}]",
            f"above {quote(limit)}",
        )


def neuron(
    row: Sequence[int],
    bias: int,
    denominator: int,
    low: Sequence[int],
    high: Sequence[int],
    errors: Sequence[int],
    name: str,
) -> tuple[int, int, int]:
    """Lower and upper bound of (row a + bias) / denominator, and a bound on what any order of float
    operations adds.
    """
    precision, tiny, largest = ARITHMETIC[name]
    used = [(w, low[j], high[j], errors[j]) for j, w in enumerate(row) if w]
    bottom = sum(w * (a if w > 0 else b) for w, a, b, _ in used) + (bias << GRID)
    top = sum(w * (b if w > 0 else a) for w, a, b, _ in used) + (bias << GRID)
    reach = max((max(-a, b) + e for _, a, b, e in used), default=0)
    size = sum(abs(w) * (max(-a, b) + e) for w, a, b, e in used) + (abs(bias) << GRID)
    k = len(used) + 2
    require(4 * k < 2**precision, "bound", "fewer than 2^(p-2) terms in a sum", str(k))
    biggest = max(size, *(abs(w) << GRID for w, _, _, _ in used), 0)
    fits = (biggest << precision) < largest * denominator * (2**precision - k) << GRID
    require(
        fits,
        "bound",
        "weights and sums below the largest number of the format",
        "a possible overflow",
    )
    error = sum(abs(w) * e for w, _, _, e in used) + -(-size * k // (2**precision - k))
    error += denominator * -(-3 * k * ((1 << GRID) + reach) >> tiny)
    return bottom // denominator, -(-top // denominator), -(-error // denominator)


# ---- Equality of networks on a domain, sections 3.8 and 5. A form is {symbol: integer}: symbol 0
# stands for 1, symbols
# 1 ... d for the coordinates y, the others for atoms max(h, 0), h a primitive form of earlier
# symbols.
Form = dict[int, int]
DOMAIN = {"inequalities": [ROW], "equations": [ROW]}


class Domain(NamedTuple):
    """{x: a x <= c, e x = f} in coordinates y: `inputs` and the inequalities' c - a x are forms
    over `scale`.
    """

    scale: int
    inputs: list[Form]
    slacks: list[Form]
    dimension: int
    sides: dict[
        tuple[int, bool], Fraction
    ]  # of single coordinates: lower ones (True) and upper ones
    rows: list[list[list[int]]]  # inequalities and equations as they stand
    free: list[int]  # y_k is the entry free[k - 1] of x

    def contains(self, x: Sequence[Fraction], meter: Meter) -> bool:
        """Whether a point satisfies all rows."""
        scale = common_denominator(x, "point")
        meter.spend(len(x), scale.bit_length())
        point = [*(int(entry * scale) for entry in x), -scale]
        bits = longest([point]) + longest(chain(*self.rows))
        meter.spend(len(point) * sum(map(len, self.rows)), bits)
        below, zero = ([dot(row, point) for row in rows] for rows in self.rows)
        return max(below, default=0) <= 0 and not any(zero)


def common_denominator(numbers: Iterable[Fraction], step: str) -> int:
    """The least common denominator, of at most 65,536 bits."""
    scale = 1
    for x in numbers:
        scale = math.lcm(scale, x.denominator)
        readable(
            scale.bit_length() <= BITS,
            step,
            f"beyond the limits: a common denominator of more than {BITS} bits",
        )
    return scale


def read_domain(document: Any, inputs: int) -> Domain:
    """The equations are in reduced echelon form, so that each gives its first variable by the free
    ones, y.
    """
    tables = [
        [[*map(integer, row.split(" "))] for row in document[key]]
        for key in ("inequalities", "equations")
    ]
    good = all(len(row) == inputs + 1 for table in tables for row in table)
    readable(good, "claim.domain", f"rows need {inputs} coefficients and a right-hand side")
    first = [next((j for j, x in enumerate(row[:-1]) if x), -1) for row in tables[1]]
    good = all(x < y for x, y in pairwise([-1, *first]))
    good = good and all(row[j] > 0 for row, j in zip(tables[1], first, strict=True))
    columns = zip(*tables[1], strict=True) if tables[1] else ()
    pivots_at = set(first)
    good = good and all(
        sum(map(bool, column)) == 1 for j, column in enumerate(columns) if j in pivots_at
    )
    require(good, "claim.domain", "equations in reduced echelon form, positive pivots")
    free = [j for j in range(inputs) if j not in pivots_at]
    pivots_of = (Fraction(1, row[j]) for row, j in zip(tables[1], first, strict=True))
    scale = common_denominator(pivots_of, "claim.domain")
    bits = longest(chain(*tables)) + scale.bit_length()
    products = sum(
        1 + (len(free) if j in pivots_at else 1)
        for row in tables[0]
        for j, a in enumerate(row[:-1])
        if a
    )
    bounded(inputs + products + len(free) * len(tables[1]), bits, "claim.domain")
    x = {j: {k: scale} for k, j in enumerate(free, 1)}
    for row, j in zip(tables[1], first, strict=True):
        factor = scale // row[j]
        x[j] = tidy({0: factor * row[-1]} | {k: -factor * row[i] for k, i in enumerate(free, 1)})
    slacks = []
    for row in tables[0]:
        slacks.append(slack := {0: scale * row[-1]})
        for j, a in enumerate(row[:-1]):
            add_to(slack, x[j], -a)
    sides, slacks = dict[tuple[int, bool], Fraction](), list(map(tidy, slacks))
    for slack in slacks:
        if len(names := [j for j in slack if j]) == 1:
            key, limit = (
                (names[0], slack[names[0]] > 0),
                Fraction(-slack.get(0, 0), slack[names[0]]),
            )
            sides[key] = (
                max(sides.get(key, limit), limit) if key[1] else min(sides.get(key, limit), limit)
            )
    return Domain(scale, [x[j] for j in range(inputs)], slacks, len(free), sides, tables, free)


def add_to(sums: Form, form: Form, factor: int) -> None:
    """Add a multiple of a form."""
    if factor:
        for symbol, entry in form.items():
            sums[symbol] = sums.get(symbol, 0) + factor * entry


def tidy(sums: Form) -> Form:
    """Without the zeros."""
    return {symbol: entry for symbol, entry in sums.items() if entry}


Neuron = tuple[int, int, int]  # network 0 or 1, layer from 1, index


class Atom(NamedTuple):
    """max(form, 0), the form primitive; level 1 if it is affine, else one more than the highest
    level in it.
    """

    form: Form
    level: int


class Written(NamedTuple):
    """The form of an atom at a node as factor * h, h primitive; what was put in for its symbols,
    and what that cost.
    """

    values: list[Form]
    form: Form
    h: Form
    factor: int
    keys: tuple[Row, Row]  # of h and of its negative
    operations: int
    bits: int


class Term(NamedTuple):
    """max(form, 0) at a node, with the form that an atom has there, up to a positive factor."""

    atom: int
    form: Form
    factor: int
    atoms: list[tuple[int, int]]  # all atoms with this form (1) or its negative (-1)


class State:
    """What is known on the polyhedron of a node; `back` forgets what was learnt since, so that
    nothing is copied.
    """

    def __init__(self, slacks: list[tuple[Form, int]]) -> None:
        self.forms = dict[Row, int]()  # signs of affine forms, 1: >= 0, -1: <= 0
        self.atoms = dict[int, int]()  # signs of atoms whose form was not affine
        self.bounds = dict[tuple[int, int], Fraction]()  # sign * (form of the atom) >= value
        self.slacks, self.trail = (
            slacks,
            list[tuple[Any, Any, Any]](),
        )  # inequalities form / denominator >= 0; changes

    def put(self, table: Any, key: Any, value: Any) -> None:
        """Change an entry, so that `back` can undo it."""
        if (old := table.get(key)) != value:
            self.trail.append((table, key, old))
            table[key] = value

    def put_form(self, h: Form, sign: int) -> None:
        """Record the sign of a primitive affine form and of its negative."""
        self.put(self.forms, key_of(h), sign)
        self.put(self.forms, key_of(h, -1), -sign)

    def back(self, changes: int, slacks: int) -> None:
        """Undo changes and inequalities until the given numbers of them are left."""
        while len(self.trail) > changes:
            table, key, value = self.trail.pop()
            if value is None:
                del table[key]
            else:
                table[key] = value
        del self.slacks[slacks:]


def key_of(form: Form, sign: int = 1) -> Row:
    """A primitive form, or its negative, as a key."""
    return Row(chain.from_iterable((symbol, sign * form[symbol]) for symbol in sorted(form)))


def primitive(form: Form) -> tuple[Form, int]:
    """(h, g): form = g h, g > 0, the entries of h without a common divisor."""
    divisor = math.gcd(*form.values())
    return (
        (form, 1)
        if divisor == 1
        else ({symbol: x // divisor for symbol, x in form.items()}, divisor)
    )


def flipped(form: Form, symbol: int, factor: int) -> Form:
    """max(t, 0) = t + max(-t, 0), for the row t = `form` and the atom of -t / factor."""
    return tidy(form | {symbol: form.get(symbol, 0) + factor})


class Joint:
    """The difference of two networks, or all activations of one, over the atoms that are needed,
    section 5; `spend` accounts for the whole file.
    """

    def __init__(
        self, networks: Sequence[Network], domain: Domain, lifted: Sequence[Neuron]
    ) -> None:
        self.inputs, self.dimension = domain.dimension, domain.dimension + len(lifted)
        self.sides, self.meter = dict(domain.sides), Meter(TREE_COST, "tree")
        self.spend = self.meter.spend
        self.lifted = {neuron: 1 + self.inputs + k for k, neuron in enumerate(lifted)}
        require(len(self.lifted) == len(lifted), "lifted", "different neurons", "one of them twice")
        self.slacks = [(slack, domain.scale) for slack in domain.slacks]
        self.atoms, self.symbols, self.levels = (
            list[Atom](),
            dict[Row, int](),
            [0] * (1 + self.dimension),
        )
        made = [self.activations(which, network, domain) for which, network in enumerate(networks)]
        forms = {symbol: key for key, symbol in self.symbols.items() if symbol <= self.dimension}
        require(
            len(forms) == len(lifted),
            "lifted",
            "neurons that have forms of their own",
            f"{len(forms)} of them",
        )
        for symbol in sorted(forms):  # the activation is at least 0, and at least the form
            above = {
                c: -x for c, x in zip(forms[symbol][::2], forms[symbol][1::2], strict=True)
            } | {symbol: 1}
            self.slacks += [({symbol: 1}, 1), (above, 1)]
            self.sides[symbol, True] = Fraction(0)
        rows = (
            [form for forms, _ in made[0][1:] for form in forms]
            if len(made) == 1
            else differences(*made)
        )
        self.difference = [primitive(form)[0] for form in rows if form]
        self.keep_used()
        self.last = dict[int, Written]()  # the forms of the atoms at the node before

    def activations(
        self, which: int, network: Network, domain: Domain
    ) -> list[tuple[list[Form], int]]:
        """The input, the activations and the outputs of a network as forms, each layer over a
        denominator.
        """
        activations, last = (
            [(domain.inputs, domain.scale)],
            len(network.layers) - (network.last == "affine"),
        )
        for number, layer in enumerate(network.layers, 1):
            z, denominator = self.preactivations(layer, activations)
            if number <= last:
                signs = self.weights_sign(layer, activations)
                z = [
                    self.activation(form, sign, (which, number, i))
                    for i, (form, sign) in enumerate(zip(z, signs, strict=True))
                ]
            activations.append((z, denominator))
        return activations

    def weights_sign(
        self, layer: Layer, activations: Sequence[tuple[list[Form], int]]
    ) -> list[int]:
        """The sign of neurons without inputs whose bias, and weights on activations that are not 0,
        have one sign.
        """
        blocks, found = (*layer.earlier, (len(activations) - 1, layer.rows)), list[int]()
        for i, b in enumerate(layer.bias):
            read = [
                (k, w)
                for k, rows in blocks
                for w, a in zip(rows[i], activations[k][0], strict=True)
                if a and w
            ]
            values = [b, *(w for _, w in read)]
            alike = (min(values) >= 0) - (max(values) <= 0)
            found.append(0 if any(k == 0 for k, _ in read) else alike)
        return found

    def preactivations(
        self, layer: Layer, activations: Sequence[tuple[list[Form], int]]
    ) -> tuple[list[Form], int]:
        """z of a layer as forms over a denominator, from the activations of the input and all
        layers before.
        """
        blocks = [
            (rows, *activations[source])
            for source, rows in (*layer.earlier, (len(activations) - 1, layer.rows))
        ]
        common = math.lcm(*(denominator for _, _, denominator in blocks))
        sums: list[Form] = [{0: b * common} for b in layer.bias]
        for rows, forms, denominator in blocks:
            factor, sizes = common // denominator, [len(form) for form in forms]
            bits = (
                longest([*form.values()] for form in forms)
                + longest(rows)
                + longest([layer.bias, [common]])
            )
            products = sum(
                1 + sum(size for w, size in zip(row, sizes, strict=True) if w) for row in rows
            )
            self.spend(products + sum(sizes), bits + layer.denominator.bit_length())
            for entries, row in zip(sums, rows, strict=True):
                for w, form in zip(row, forms, strict=True):
                    add_to(entries, form, w * factor)
        sums, denominator = list(map(tidy, sums)), common * layer.denominator
        divisor = math.gcd(denominator, *chain.from_iterable(form.values() for form in sums))
        return [{s: x // divisor for s, x in form.items()} for form in sums], denominator // divisor

    def shown(self, form: Form) -> int:
        """The sign of a form without inputs whose coefficients have one sign; 0 if they do not show
        it.
        """
        if not form or any(1 <= symbol <= self.inputs for symbol in form):
            return 0
        return (min(form.values()) > 0) - (max(form.values()) < 0)

    def activation(self, form: Form, sign: int, neuron: Neuron) -> Form:
        """max(form, 0) as a form, with an atom if neither its weights nor its coefficients show its
        sign.
        """
        if (sign := sign or self.shown(form)) or not form:
            return form if sign > 0 else {}
        h, factor = primitive(form)
        key, other = key_of(h), key_of(h, -1)
        own = neuron in self.lifted
        require(
            not own or (max(form) <= self.dimension and not {key, other} & self.symbols.keys()),
            "lifted",
            "the first neuron with its form, which is affine in the coordinates",
            str(neuron),
        )
        if key not in self.symbols and other in self.symbols:
            return flipped(form, self.symbols[other], factor)
        if key not in self.symbols:
            self.symbols[key] = self.lifted[neuron] if own else len(self.levels)
            if not own:
                self.levels.append(1 + max(self.levels[symbol] for symbol in form))
                self.atoms.append(Atom(h, self.levels[-1]))
        return {self.symbols[key]: factor}

    def keep_used(self) -> None:
        """Only the atoms that the difference needs, numbered by level, then by the order of their
        first neurons.
        """
        first, used = 1 + self.dimension, self.used(self.difference)
        order = sorted(used, key=lambda k: self.atoms[k].level)
        new = {first + k: first + number for number, k in enumerate(order)}

        def rename(form: Form) -> Form:
            """The form with the new symbols."""
            return {new.get(symbol, symbol): x for symbol, x in form.items()}

        self.atoms = [Atom(rename(self.atoms[k].form), self.atoms[k].level) for k in order]
        self.difference = list(map(rename, self.difference))

    def used(self, forms: Iterable[Form]) -> list[int]:
        """The atoms in forms, those in their forms, and so on, in order."""
        first, used = 1 + self.dimension, set(chain.from_iterable(forms))
        for k in reversed(range(len(self.atoms))):
            if first + k in used:
                used.update(self.atoms[k].form)
        return [k for k in range(len(self.atoms)) if first + k in used]

    def check_parts(self, parts: Any) -> list[list[Form]]:
        """Parts of the difference, each with one form for each of its rows, that add up to it."""
        found, totals = list[list[Form]](), [Total(self) for _ in self.difference]
        size = 1 + self.dimension + len(self.atoms)
        for part in parts:
            require(
                len(part) == len(totals) and any(part),
                "parts",
                f"{len(totals)} rows, not all 0",
                f"{len(part)}",
            )
            self.spend(1 + len(self.atoms), 64)
            found.append(list[Form]())
            for total, row in zip(totals, part, strict=True):
                check_indices("parts", [symbol for symbol, _ in row], size)
                own = Total(self)
                for symbol, text in row:
                    for target in (total, own):
                        target.add({symbol: 1}, rational(text))
                found[-1].append(tidy(own.form))
        same = all(
            tidy(total.form) == {symbol: x * total.scale for symbol, x in form.items()}
            for total, form in zip(totals, self.difference, strict=True)
        )
        require(same or not parts, "parts", "parts that add up to the difference", "another sum")
        return found or [self.difference]


def differences(one: list[tuple[list[Form], int]], two: list[tuple[list[Form], int]]) -> list[Form]:
    """Multiples of the outputs of one network minus multiples of the outputs of the other."""
    (left, p), (right, q), rows = one[-1], two[-1], list[Form]()
    for mine, other in zip(left, right, strict=True):
        rows.append(sums := dict[int, int]())
        add_to(sums, mine, q)
        add_to(sums, other, -p)
    return list(map(tidy, rows))


class Node:
    """The difference at a node: forms of the atoms with the values of earlier ones put in, and the
    terms left.
    """

    def __init__(self, joint: Joint, used: list[int], state: State) -> None:
        self.joint, self.state, self.first = joint, state, 1 + joint.dimension
        self.values: dict[int, Form] = {symbol: {symbol: 1} for symbol in range(self.first)}
        self.forms, self.terms = dict[int, Form](), dict[Row, Term]()
        joint.spend(1 + len(used), 64)
        self.term_of = dict[
            int, tuple[Term, int]
        ]()  # of atoms; -1 if the term has the negative of the atom's form
        for k in used:
            values = [self.values[symbol] for symbol in joint.atoms[k].form]
            known = joint.last.get(k)
            if known is None or known.values != values:  # else all is as at the node before
                joint.last[k] = known = self.written(joint.atoms[k].form, values)
            joint.spend(known.operations, known.bits)
            self.forms[k] = known.form
            self.values[self.first + k] = self.value(k, known)

    def written(self, form: Form, values: list[Form]) -> Written:
        """A form over the atoms with their values put in."""
        sums = dict[int, int]()
        for x, value in zip(form.values(), values, strict=True):
            add_to(sums, value, x)
        bits, (h, factor) = (
            longest([[*form.values(), *sums.values()]]),
            primitive(found := tidy(sums)),
        )
        return Written(
            values, found, h, factor, (key_of(h), key_of(h, -1)), sum(map(len, values)), bits
        )

    def substituted(self, form: Form) -> Form:
        """A form over the atoms with their values put in."""
        found = self.written(form, [self.values[symbol] for symbol in form])
        self.joint.spend(found.operations, found.bits)
        return found.form

    def value(self, k: int, known: Written) -> Form:
        """max(form, 0): by a known sign, by the signs of the coefficients, or with a term."""
        form, (key, other) = known.form, known.keys
        if not form:
            return form
        sign = self.state.atoms.get(k, 0) or self.joint.shown(form) or self.state.forms.get(key, 0)
        if not sign and key not in self.terms and other in self.terms:
            return flipped(form, self.first + self.join(k, other, -1).atom, known.factor)
        if not sign:
            self.terms.setdefault(key, Term(k, known.h, known.factor, []))
            return {self.first + self.join(k, key, 1).atom: known.factor}
        return form if sign > 0 else {}

    def join(self, k: int, key: Row, orientation: int) -> Term:
        """Atom k has the form of a term (1) or its negative (-1)."""
        term = self.terms[key]
        term.atoms.append((k, orientation))
        self.term_of[k] = term, orientation
        return term

    def form_of(self, k: int) -> Form:
        """The current form of an atom of the tree, which is not 0."""
        require(
            bool(self.forms.get(k)),
            "tree",
            "an atom that the difference needs, not zero",
            f"atom {k}",
        )
        return self.forms[k]

    def learn(self, k: int, sign: int, value: Fraction) -> None:
        """sign * (form of atom k) >= value becomes known."""
        form, state = self.form_of(k), self.state
        state.put(state.bounds, (k, sign), max(value, state.bounds.get((k, sign), value)))
        if value < 0:
            return
        if max(form) < self.first:
            return state.put_form(primitive(form)[0], sign)
        term, own = self.term_of.get(k, (None, 1))
        self.joint.spend(len(term.atoms) if term else 1, 64)
        for other, orientation in term.atoms if term else [(k, 1)]:
            state.put(state.atoms, other, sign * own * orientation)


SIGN = (int, re.compile("[+-]"), RATIONAL, [(int, RATIONAL)], [(int, RATIONAL)])
NODE = {"signs": [[SIGN]], "split": int}
EQUAL, REGION = {"signs": [[SIGN]], "leaf": "equal"}, {"signs": [[SIGN]], "region": [RATIONAL]}


class Total:
    """A sum of multiples of forms: integers over one denominator. Every step is paid for before it
    is done.
    """

    def __init__(self, joint: Joint) -> None:
        self.joint, self.form, self.scale, self.symbols = joint, dict[int, int](), 1, list[int]()

    def add(self, form: Form, factor: Fraction) -> None:
        """Add a multiple of a form."""
        self.joint.spend(1, self.scale.bit_length() + factor.denominator.bit_length())
        common = math.lcm(self.scale, factor.denominator)
        growth, times = common // self.scale, factor.numerator * (common // factor.denominator)
        bits = common.bit_length() + times.bit_length() + longest([[*form.values()]])
        self.joint.spend(len(form) + (growth > 1) * len(self.form), bits)
        if growth > 1:
            self.form, self.scale = {symbol: x * growth for symbol, x in self.form.items()}, common
        for symbol, x in form.items():
            if symbol not in self.form:
                heapq.heappush(self.symbols, -symbol)
            self.form[symbol] = self.form.get(symbol, 0) + times * x

    def latest(self) -> int:
        """The last symbol."""
        return -self.symbols[0] if self.symbols else 0

    def pop(self) -> Fraction:
        """Take out the last symbol; its coefficient."""
        self.joint.spend(1, self.scale.bit_length())
        return Fraction(self.form.pop(-heapq.heappop(self.symbols)), self.scale)


def least(node: Node, k: int, sign: int, rows: Any, slopes: Any) -> Fraction:
    """A lower bound of sign * (form of atom k) on the polyhedron: terms are replaced by affine
    forms below them, or above, then multiples of the inequalities are taken away, then sides that
    bound one coordinate.
    """
    step, slacks, sides, chosen = (
        f"atom {k}",
        node.state.slacks,
        node.joint.sides,
        dict[int, Fraction](),
    )
    check_indices(step, [i for i, _ in rows], len(slacks))
    check_indices(step, [i for i, _ in slopes], len(node.joint.atoms))
    left = Total(node.joint)
    left.add(node.form_of(k), Fraction(sign))
    for i, text in slopes:
        chosen[i] = rational(text)
        require(0 <= chosen[i] <= 1, step, "slopes from 0 to 1", quote(text))
    while left.latest() >= node.first:
        term, factor = node.term_of[left.latest() - node.first][0], left.pop()
        slope = chosen.get(term.atom, Fraction(0))
        if factor < 0:
            left.add({0: 1}, factor * above(node, term, slope, step))
        if slope and factor:
            left.add(term.form, factor * slope)
    for i, text in rows:
        multiplier, (slack, scale) = rational(text), slacks[i]
        require(
            multiplier >= 0, step, "multipliers of inequalities that are not negative", quote(text)
        )
        left.add(slack, -multiplier / scale)
    for j in [j for j, x in left.form.items() if j and x]:
        limit = sides.get((j, left.form[j] > 0))
        require(
            limit is not None,
            step,
            "multipliers that leave no coordinate without a side",
            f"coordinate {j}",
        )
        left.add({0: 1}, Fraction(left.form[j], left.scale) * (limit or 0))
    return Fraction(left.form.get(0, 0), left.scale)


def above(node: Node, term: Term, slope: Fraction, step: str) -> Fraction:
    """How far the affine form above max(h, 0) lies above slope * h, by the known bounds of the
    term's atom.
    """
    upper, lower = (node.state.bounds.get((term.atom, s)) for s in (-1, 1))
    require(
        upper is not None and (lower is not None or not slope),
        step,
        "bounds of terms",
        f"atom {term.atom}",
    )
    return max((slope - 1) * (upper or 0), -slope * (lower or 0), Fraction(0)) / term.factor


class Lines:
    """The lines of a tree file as JSON values, with the hash of all lines before."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file, self.number, self.size = file, 0, 0
        self.digest, self.before = hashlib.sha256(), ""

    def read(self) -> tuple[str, Any]:
        """The next line: its place and its value."""
        self.number, place = self.number + 1, f"line {self.number + 1}"
        line = self.file.readline(LINE_BYTES + 1)
        self.size += len(line)
        good = line.endswith(b"\n") and len(line) <= LINE_BYTES and self.size <= TREE_BYTES
        good = good and (self.number > 1 or line.startswith(TREE_START))
        readable(good, place, "the file ends early, or a line or the file is too long")
        self.before = self.digest.hexdigest()
        self.digest.update(line)
        return place, parse(line[:-1], place, LINE_BYTES)


def tree(
    joint: Joint, used: list[int], lines: Lines, leaf: Any, close: Callable[[Node, Any, str], None]
) -> int:
    """Every node of a tree, in prefix order, `close` for leaves of the shape `leaf`; returns the
    number of nodes. Memory grows with the depth, not with the tree.
    """
    state, nodes = State(list(joint.slacks)), 0
    waiting: list[tuple[int, int, Form, int]] = [
        (0, len(joint.slacks), {}, 0)
    ]  # what to go back to, cut, side
    while waiting:
        changes, slacks, cut, side = waiting.pop()
        place, record = lines.read()
        fit(record, OneOf((NODE, leaf)), place)
        state.back(changes, slacks)
        if side:
            state.slacks.append(({s: side * x for s, x in cut.items()}, 1))
            state.put_form(primitive(cut)[0], side)
        deep = len(state.slacks) - len(joint.slacks) > DEPTH
        readable(
            not deep,
            place,
            f"beyond the limits: a tree of more than {DEPTH} splits one below the other",
        )
        node, nodes = Node(joint, used, state), nodes + 1
        readable(all(record["signs"]), place, "a round without signs")
        for signs in record["signs"]:
            for k, mark, value, rows, slopes in signs:
                sign, wanted = 1 if mark == "+" else -1, rational(value)
                got = least(node, k, sign, rows, slopes)
                require(
                    got >= wanted,
                    place,
                    f"{mark}h >= {quote(value)}, h the form of atom {k}",
                    "a smaller bound",
                )
                node.learn(k, sign, wanted)
            node = Node(joint, used, state)
        if "split" not in record:
            close(node, record, place)
            continue
        form = node.form_of(record["split"])
        require(
            max(form) < node.first, place, "a split at an affine form", f"atom {record['split']}"
        )
        here = len(state.trail), len(state.slacks), form
        waiting += [(*here, -1), (*here, 1)]  # the last one is the next one
    return nodes


def equality(
    networks: Sequence[Network], domain: Domain, header: Any, lines: Lines
) -> tuple[int, str]:
    """A tree for each part of the difference; returns the number of nodes and the sentence that is
    proved.
    """
    one, two = networks
    check_pair(one, two)
    x = [rational(text) for text in header["point"]]
    require(
        len(x) == one.widths[0] and domain.contains(x, Meter(COST, "point")),
        "point",
        "a point of the domain",
    )
    joint, nodes = Joint(networks, domain, [(a, b, c) for a, b, c in header["lifted"]]), 0
    for part in joint.check_parts(header["parts"]):

        def close(node: Node, record: Any, place: str, part: list[Form] = part) -> None:
            """Both networks have one expression."""
            equal = not any(node.substituted(form) for form in part)
            require(equal, place, "equal expressions of both networks", "different ones")

        nodes += tree(joint, joint.used(part), lines, EQUAL, close)
    return nodes, pair_sentence(one, two, header["claim"]["domain"], True)


def regions(
    networks: Sequence[Network], domain: Domain, header: Any, lines: Lines
) -> tuple[int, str]:
    """A tree with one leaf for each region of a network; returns the number of nodes and the
    sentence.
    """
    joint, count, (one,) = Joint(networks, domain, []), 0, networks

    def close(node: Node, record: Any, place: str) -> None:
        """Every neuron is affine here and keeps its sign, and the point is strictly inside."""
        nonlocal count
        require(not node.terms, place, "all signs known", f"{len(node.terms)} of them unknown")
        x, count = [rational(text) for text in record["region"]], count + 1
        require(
            len(x) == one.widths[0] and domain.contains(x, joint.meter),
            place,
            "a point of the domain",
        )
        scale = common_denominator(x, place)
        y = [scale, *(int(x[j] * scale) for j in domain.free)]
        bits = longest([y])
        for form, _ in node.state.slacks:
            joint.spend(1 + len(form), bits + longest([[*form.values()]]))
            inside = not form or sum(a * y[symbol] for symbol, a in form.items()) > 0
            require(inside, place, "a point strictly inside", "a point on the boundary, or outside")

    nodes = tree(joint, list(range(len(joint.atoms))), lines, REGION, close)
    require(
        count == header["claim"]["count"],
        "claim.count",
        f"{count} regions",
        str(header["claim"]["count"]),
    )
    place = domain_words(header["claim"]["domain"])
    return nodes, (
        f"The canonical complex of network {one.sha256[:12]}, {one}, on {place} has exactly "
        f"{count} cells of full dimension; the leaves name a point inside each."
    )


def point(one: Network, subject: tuple[Network, Any], evidence: Any) -> None:
    """The point is in the domain, and the outputs are as stated, and differ."""
    two, claim = subject
    check_pair(one, two)
    x, values = [rational(text) for text in evidence["point"]["x"]], evidence["values"]
    domain = read_domain(claim["domain"], one.widths[0])
    good = len(x) == one.widths[0] and domain.contains(x, Meter(COST, "point"))
    require(good, "point", "a point of the domain", f"{len(x)} coordinates")
    f, g = ([rational(text) for text in values[name]] for name in ("f", "g"))
    require(
        outputs(one, x) == f and outputs(two, x) == g,
        "values",
        "the outputs of both networks",
        "other numbers",
    )
    require(f != g, "values", "different outputs", "equal ones")


def check_pair(one: Network, two: Network) -> None:
    """Two networks can be compared."""
    good = one.widths[0] == two.widths[0] and one.widths[-1] == two.widths[-1]
    require(good, "claim", "networks with equally many inputs and outputs", f"{one}; {two}")


def outputs(network: Network, x: Sequence[Fraction]) -> list[Fraction]:
    """The exact outputs at a point, over common denominators."""
    scale, meter = common_denominator(x, "point"), Meter(COST, "values")
    activations, last = (
        [([int(entry * scale) for entry in x], scale)],
        len(network.layers) - (network.last == "affine"),
    )
    for number, layer in enumerate(network.layers, 1):
        blocks = [
            (rows, *activations[source])
            for source, rows in (*layer.earlier, (number - 1, layer.rows))
        ]
        common = math.lcm(*(scale for _, _, scale in blocks))
        bits = longest(values for _, values, _ in blocks) + longest(
            row for rows, _, _ in blocks for row in rows
        )
        bits += common.bit_length() + layer.denominator.bit_length() + longest([layer.bias])
        meter.spend(sum(len(rows) * (1 + len(values)) for rows, values, _ in blocks), bits)
        z = [b * common for b in layer.bias]
        for rows, values, scale in blocks:
            z = [a + common // scale * dot(row, values) for a, row in zip(z, rows, strict=True)]
        scale, divisor = common * layer.denominator, math.gcd(common * layer.denominator, *z)
        activations.append(
            ([(max(a, 0) if number <= last else a) // divisor for a in z], scale // divisor)
        )
    return [Fraction(a, activations[-1][1]) for a in activations[-1][0]]


# ---- Certificates. A theorem: kind and classes of claims, page of the proof, evidence by
# hypothesis in order, rule.
PAGE, SHALLOW, LINE, HIDING, BOX, ONE_SIDED, EQUIVALENCE, REGIONS = (
    "polyrelu/certificate/FORMAT.md",
    "docs/theory/shallow.md",
    "docs/theory/line.md",
    "docs/theory/hidden_hyperplanes.md",
    "docs/theory/box.md",
    "docs/theory/one_sided.md",
    "docs/theory/equivalence.md",
    "docs/theory/regions.md",
)
ON_MINORS = {
    "generic": "minors imply G2 (docs/theory/bottleneck.md)",
    **dict.fromkeys(
        DEEP_CLASSES,
        "minors imply G2 (docs/theory/bottleneck.md), generic implies "
        "transversal, which implies regular (FORMAT.md)",
    ),
}


def refutation(page: str, evidence: Any, rule: Callable[..., None]) -> tuple[Any, ...]:
    """The entry of a theorem about "not-identifiable", with the evidence and the rule of its
    `same-function`.
    """
    shapes = {
        "architecture": {},
        "same-function": evidence,
        "not-related": {"layer": int},
        "membership": MEMBERSHIP,
    }
    return (
        "not-identifiable",
        ("all", "generic"),
        page,
        shapes,
        partial(counterexample, same_function=rule),
    )


DEEP = {
    "ridges": {
        "slices": [
            {
                "point": [RATIONAL],
                "directions": ([RATIONAL], [RATIONAL]),
                "ridges": [(int, int, NATURAL)],
            }
        ]
    },
    "families": {"chosen": [(int, int)], "joined": [(int, int)]},
    "signs": {},
    "weights": {"joined": [(int, int)], "order": [int]},
    "membership": MEMBERSHIP,
}
THEOREMS: dict[str, tuple[Any, ...]] = {
    "affine": (
        "identifiable",
        ("all",),
        SHALLOW,
        {},
        lambda one, two, evidence: check_depth(one, 1),
    ),
    "shallow": (
        "identifiable",
        ("all",),
        SHALLOW,
        {"visible": {}, "unique": OneOf((*SUBSETS, {"method": "assignments"}))},
        shallow,
    ),
    "line": (
        "identifiable",
        ("all",),
        LINE,
        {"direction": {}, "bends": {}, "unique": SUBSETS},
        line,
    ),
    "bottleneck": (
        "identifiable",
        ("generic",),
        "docs/theory/bottleneck.md",
        {
            "rank": {"prime": PRIME, "columns": [int]},
            "rows": {},
            "unique": SUBSETS,
            "hyperplanes": {"witnesses": [WITNESS]},
            "membership": MEMBERSHIP,
        },
        bottleneck,
    ),
    "deep": ("identifiable", DEEP_CLASSES, "docs/theory/deep.md", DEEP, deep),
    "deep-part": ("determined", DEEP_CLASSES, "docs/theory/deep.md", DEEP, deep),
    "replacement": refutation(SHALLOW, {"layer": int}, replacement),
    "bounded-replacement": refutation(BOX, {"layer": int}, bounded_replacement),
    "one-sided": refutation(
        ONE_SIDED,
        {
            "layer": int,
            "source": [int],
            "steps": [STEP],
            "signs": [(int, re.compile("[+-]"), NATURAL, MULTIPLES)],
        },
        one_sided,
    ),
    "translation": refutation(
        HIDING, {"layer": int, "neuron": int, "shift": RATIONAL}, translation
    ),
    "flip": refutation(HIDING, {"layer": int, "neuron": int, "flipped": [int]}, flip),
    "line-equal": refutation(LINE, {}, line_equal),
    "point": (
        "not-equivalent",
        ("",),
        EQUIVALENCE,
        {"point": {"x": [RATIONAL]}, "values": {"f": [RATIONAL], "g": [RATIONAL]}},
        point,
    ),
    "rounding": ("runtime-error", ("",), "docs/theory/rounding.md", {"bound": {}}, rounding),
}
TEXTS = {
    "point": "the point belongs to the domain",
    "values": "both networks were evaluated there, and differ",
    "tree": "both networks have equal expressions on every leaf of the tree, and its leaves cover "
    "the domain",
    "cover": "no neuron changes its sign inside a leaf of the tree, and the leaves cover "
    "the domain",
    "inside": "every leaf has a point strictly inside",
    "bound": "the bound follows layer by layer from the weights and the box",
    "visible": "rows, columns and doubled hyperplanes do not vanish, and no two rows are positive "
    "multiples",
    "unique": "no other orientations give this function",
    "direction": "the first layer is not constant",
    "bends": "all bends of the second layer are there and different",
    "rank": "W[1] has full row rank",
    "rows": "second-layer hyperplanes are visible and different",
    "ridges": "each listed plane meets its ridges, where exactly two neurons vanish",
    "families": "every hidden neuron of the claim has a placed family, and what is joined to it "
    "can be",
    "signs": "other signs in a hidden layer are excluded by crossings or by linear systems",
    "weights": "every weight between hidden layers of the claim is nonzero and is seen",
    "architecture": "both networks have one architecture",
    "hyperplanes": "every first-layer hyperplane has a witness",
    "same-function": "they compute the same real function",
    "not-related": "they differ in an invariant of permutations and positive scalings",
}
REFERENCE = OneOf(({"sha256": SHA256, "inline": object}, {"sha256": SHA256, "file": FILE_NAME}))
CLAIM = {
    "network": REFERENCE,
    "domain": "R^n",
    "among": re.compile("all|regular|transversal|generic"),
}
CERTIFICATE = {
    "format": "polyrelu-certificate",
    "version": 1,
    "unverified": object,
    "claim": OneOf(
        (
            {"kind": "identifiable", **CLAIM},
            {"kind": "not-identifiable", **CLAIM, "other": REFERENCE},
            {"kind": "determined", **CLAIM, "layers": int, "neurons": [int]},
            {"kind": "not-equivalent", "network": REFERENCE, "other": REFERENCE, "domain": DOMAIN},
            {
                "kind": "runtime-error",
                "network": REFERENCE,
                "arithmetic": re.compile("|".join(ARITHMETIC)),
                "domain": {"lower": [RATIONAL], "upper": [RATIONAL]},
                "at-most": [RATIONAL],
            },
        )
    ),
    "proof": {"theorem": re.compile("|".join(THEOREMS)), "hypotheses": object},
}


class CheckReport(NamedTuple):
    """The answer. What was claimed is stated only when the certificate is accepted."""

    verdict: str
    step: str = ""
    expected: str = ""
    got: str = ""
    statement: str = ""
    theorem: str = ""
    hypotheses: Sequence[Mapping[str, str]] = ()  # id, statement, status
    trusted: Sequence[str] = ()
    networks: Sequence[str] = ()
    assumed: Sequence[str] = ()

    def __repr__(self) -> str:
        if self.verdict != "accepted":
            fact = f"  step: {self.step}\n  expected: {self.expected}\n  got: {self.got}"
            return f"{self.verdict}\n{fact}"
        proved = [f"{h['id']}: {h['statement']}" for h in self.hypotheses]
        lines = [
            f"accepted: {self.statement}",
            f"theorem: {self.theorem}",
            *proved,
            "assumed: none",
        ]
        return "\n  ".join(
            [
                *lines,
                f"trusted: {'; '.join(self.trusted)}",
                *(f"network: {x}" for x in self.networks),
            ]
        )


Search = Callable[
    [str], Iterable[tuple[str, bytes]]
]  # candidates for a network file, the file of this name first


def read_reference(reference: Any, place: str, search: Search) -> Network:
    """The network of a reference. Its hash is recomputed, and decides."""
    wanted, name, wrong = reference["sha256"], reference.get("file", place), ""
    files = ((label, parse(data, label, NETWORK_BYTES)) for label, data in search(name))
    for label, document in files if "file" in reference else [(place, reference["inline"])]:
        network = read_network(document, label)
        if network.sha256 == wanted:
            return network
        wrong = network.sha256 if label == name else wrong
    require(not wrong, "hash", wanted, wrong)
    raise Stop(
        "unreadable",
        place,
        "its network file",
        f"the file {name} is missing, and no given one has its hash",
    )


def check(data: bytes, search: Search) -> CheckReport:
    """Check a certificate that is one JSON value, section 3."""
    document = parse(data, "certificate", CERTIFICATE_BYTES)
    is_network = type(document) is dict and document.get("format") == "polyrelu-network"
    readable(not is_network, "certificate", "a network file, where a certificate is wanted")
    fit(document, CERTIFICATE, "certificate")
    claim, name = document["claim"], document["proof"]["theorem"]
    check_notes(document["unverified"], "certificate.unverified")
    kind, classes, page, hypotheses, rule = THEOREMS[name]
    shapes = tuple(
        {"id": key, "status": "proved", "evidence": shape} for key, shape in hypotheses.items()
    )
    fit(document["proof"]["hypotheses"], shapes, "certificate.proof.hypotheses")
    evidence = {entry["id"]: entry["evidence"] for entry in document["proof"]["hypotheses"]}
    networks = [
        read_reference(claim[key], key, search) for key in ("network", "other") if key in claim
    ]
    among, one, two, status = claim.get("among", ""), networks[0], networks[-1], ""
    good = claim["kind"] == kind and among in classes
    require(good, "claim", f"{kind} among {' or '.join(classes)}", f"{claim['kind']} among {among}")
    good = kind == "not-equivalent" or (one.plain() and two.plain())
    readable(good, "claim", f"only plain stacks have claims of the kind {kind}")
    rule(one, {"not-identifiable": two, "not-equivalent": (two, claim)}.get(kind, claim), evidence)
    if "membership" in evidence:
        check_membership(kind, among, two, evidence["membership"])
        status = evidence["membership"]["status"]
    texts = {
        **TEXTS,
        "membership": f"membership of network {two.sha256[:12]} in the class {among}: {status}",
    }
    proved = [{"id": key, "statement": texts[key], "status": "proved"} for key in hypotheses]
    trusted = [f"theorem {name} as proved in {page}", PAGE, "Python's integers, json and hashlib"]
    trusted += [ON_MINORS.get(among, "")] * (among in ON_MINORS and status == "verified")
    hashes = tuple(network.sha256 for network in networks)
    if kind in ("runtime-error", "not-equivalent"):
        pair = kind == "not-equivalent"
        text = (
            pair_sentence(one, two, claim["domain"], False) if pair else float_sentence(one, claim)
        )
    else:
        text = sentence(kind, claim, one, two, status)
    return CheckReport("accepted", "", "", "", text, name, proved, trusted, hashes)


TREE_START, GZIP_START = b'{"format": "polyrelu-tree", ', b"\x1f\x8b"
TREE = {"format": "polyrelu-tree", "version": 1, "unverified": object}
HEADER = OneOf(
    (
        {
            **TREE,
            "claim": {
                "kind": "equivalent",
                "network": REFERENCE,
                "other": REFERENCE,
                "domain": DOMAIN,
            },
            "point": [RATIONAL],
            "lifted": [(int, int, int)],
            "parts": [[[(int, RATIONAL)]]],
        },
        {
            **TREE,
            "claim": {"kind": "regions", "network": REFERENCE, "domain": DOMAIN, "count": int},
        },
    )
)
#: Of each kind of claim: theorem, page of the proof, hypotheses, rule.
TREES: dict[str, tuple[str, str, Sequence[str], Callable[..., tuple[int, str]]]] = {
    "equivalent": ("tree", EQUIVALENCE, ("point", "tree"), equality),
    "regions": ("regions", REGIONS, ("cover", "inside"), regions),
}


def check_tree(file: IO[bytes], search: Search) -> CheckReport:
    """Section 5: header, nodes in prefix order, footer."""
    lines = Lines(file)
    header = lines.read()[1]
    fit(header, HEADER, "line 1")
    claim = header["claim"]
    check_notes(header["unverified"], "line 1.unverified")
    networks = [
        read_reference(claim[key], key, search) for key in ("network", "other") if key in claim
    ]
    domain = read_domain(claim["domain"], networks[0].widths[0])
    theorem, page, hypotheses, rule = TREES[claim["kind"]]
    nodes, text = rule(networks, domain, header, lines)
    place, footer = lines.read()
    fit(footer, {"nodes": int, "sha256": SHA256}, place)
    require(footer["sha256"] == lines.before, "hash", lines.before, footer["sha256"])
    require(footer["nodes"] == nodes, place, f"{nodes} nodes", str(footer["nodes"]))
    readable(not file.read(1), place, "must be the last line")
    proved = [{"id": key, "statement": TEXTS[key], "status": "proved"} for key in hypotheses]
    trusted = [
        f"theorem {theorem} as proved in {page}",
        PAGE,
        "Python's integers, json, hashlib, gzip",
    ]
    hashes = tuple(network.sha256 for network in networks)
    return CheckReport(
        "accepted",
        "",
        "",
        "",
        f"{text} The tree has {nodes} nodes.",
        theorem,
        proved,
        trusted,
        hashes,
    )


def domain_words(domain: Any) -> str:
    """A domain in English, a long one by its numbers of constraints."""
    signs, counts = (
        {"inequalities": "<=", "equations": "="},
        [f"{len(domain[key])} {key}" for key in domain],
    )
    parts = [(row.rpartition(" "), sign) for key, sign in signs.items() for row in domain[key]]
    rows = ", ".join(f"({a}).x {sign} {c}" for (a, _, c), sign in parts)
    place = f"{{x : {rows}}}" if parts else "R^n"
    return place if len(place) <= 400 else f"the set of the claim's {' and '.join(counts)}"


def pair_sentence(one: Network, two: Network, domain: Any, equal: bool) -> str:
    """The claim about two networks in English."""
    place = domain_words(domain)
    head = f"Network {one.sha256[:12]}, {one}, and network {two.sha256[:12]}, {two}, are "
    end = (
        f": they compute the same real function on {place}."
        if equal
        else f": they differ at a point of {place}."
    )
    return f"{head}{'equivalent' if equal else 'not-equivalent'}{end}"


def check_notes(notes: Any, place: str) -> None:
    """The shape of `unverified`; nothing depends on what it says."""
    good = (
        type(notes) is dict
        and len(notes) <= 32
        and all(type(note) is str for note in notes.values())
    )
    readable(good, place, "must be an object of at most 32 strings")


def float_sentence(network: Network, claim: Any) -> str:
    """The claim about a float runtime in English."""
    worst, name = quote(max(claim["at-most"], key=rational)), claim["arithmetic"]
    return (
        f"Network {network.sha256[:12]}, {network}, computed layer by layer in {name} (FORMAT.md, "
        f"section 3.7) at {name} inputs in the given box, has a runtime-error of at most {worst}: "
        "the distance to its function."
    )


def sentence(kind: str, claim: Any, one: Network, two: Network, status: str) -> str:
    """The claim in English: about exact weights and real arithmetic, as FORMAT.md says."""
    head = f"Network {one.sha256[:12]}, {one}, is {kind} on R^n among {claim['among']} parameters"
    every = "all of them that have this architecture and compute the same real function"
    moving = "permuting and positively scaling hidden neurons"
    if kind == "not-identifiable":
        return (
            f"{head}: network {two.sha256[:12]} is one of them, computes the same real function, "
            f"and is not related to it by {moving}."
        )
    known = {
        "verified": "; it is itself in the class",
        "open": "; whether it is itself in the class is open",
        "refuted": "; it is itself not in the class, so nobody in the class computes its function",
    }.get(status, "")
    if kind == "determined":  # others in the class may share the part, and the function
        if status == "refuted":
            known = (
                "; it is itself not in the class, and whether anybody in the class computes its "
                "function is left open"
            )
        return f"{head} in {part_words(claim)}: {every} agree with it there after {moving}{known}."
    return f"{head}: {every} are related to it by {moving}{known}."


def part_words(claim: Any) -> str:
    """Which hidden layers and neurons are determined; their rows [W|b] are."""
    number, neurons = claim["layers"], claim["neurons"]
    names = ", ".join(map(str, neurons)) if len(neurons) <= 16 else f"{len(neurons)} neurons"
    whole, last = (
        (number, f"{names} of layer {number + 1}") if neurons else (number - 1, f"layer {number}")
    )
    before = ["", "layer 1 and in ", f"layers 1 to {whole} and in "][min(whole, 2)]
    noun = {0: "", 1: "neuron "}.get(len(neurons), "neurons " * (len(neurons) <= 16))
    return f"{before}{noun}{last} up to signs of rows [W|b]"


def guarded(start: Callable[[], IO[bytes]], search: Search) -> CheckReport:
    """Check a file of either form, packed or not: whatever happens becomes a report."""
    try:
        with start() as file:
            first = file.read(len(TREE_START))
            file.seek(0)
            if first.startswith(GZIP_START):
                with gzip.GzipFile(fileobj=file) as unpacked:
                    first = unpacked.read(len(TREE_START))
                    unpacked.seek(0)
                    if first == TREE_START:
                        return check_tree(unpacked, search)  # type: ignore[arg-type]
                    return check(unpacked.read(CERTIFICATE_BYTES + 1), search)
            if first == TREE_START:
                return check_tree(file, search)
            return check(file.read(CERTIFICATE_BYTES + 1), search)
    except Stop as stop:
        return CheckReport(*stop.args)
    except (
        OSError,
        EOFError,
        zlib.error,
        MemoryError,
        RecursionError,
        ArithmeticError,
        ValueError,
    ) as error:
        return CheckReport(
            "unreadable", "reading", "a readable file within the limits", type(error).__name__
        )


def check_bytes(
    certificate: bytes, network_files: Mapping[str, bytes] | None = None
) -> CheckReport:
    """Check a certificate in memory; `network_files` holds the bytes of network files by name."""
    files = (network_files or {}).items()
    return guarded(
        lambda: io.BytesIO(certificate),
        lambda name: sorted(files, key=lambda file: file[0] != name),
    )


def check_file(
    path: str | os.PathLike[str], networks: Iterable[str | os.PathLike[str]] = ()
) -> CheckReport:
    """Check a certificate file. Its network file is looked up by name beside it, then by hash among
    `networks`.
    """
    file, given = os.fspath(path), [os.fspath(network) for network in networks]

    def search(name: str) -> Iterator[tuple[str, bytes]]:
        """The file of that name beside the certificate, then the given ones."""
        beside = os.path.join(os.path.dirname(file), name)
        if os.path.lexists(beside):
            yield name, read_bytes(beside, NETWORK_BYTES)
        yield from ((quote(other), read_bytes(other, NETWORK_BYTES)) for other in given)

    return guarded(lambda: open_file(file, "certificate"), search)


def open_file(path: str, place: str) -> IO[bytes]:
    """A regular file; its kind is looked at before anything is read."""
    readable(os.path.lexists(path), place, "there is no such file")
    readable(os.path.isfile(path), place, "not a regular file")
    return open(path, "rb")


def read_bytes(path: str, size: int) -> bytes:
    """The bytes of a regular file, and at most one too many."""
    with open_file(path, quote(os.path.basename(path))) as file:
        return file.read(min(os.path.getsize(path), size) + 1)


def main(argv: Sequence[str] | None = None) -> int:
    """The command line; returns the exit status."""
    try:
        options, paths = getopt.gnu_getopt(
            list(sys.argv[1:] if argv is None else argv), "", ["json", "network="]
        )
    except getopt.GetoptError:
        options, paths = [], []
    if len(paths) != 1:
        print("usage: checker.py [--json] [--network FILE]... CERT", file=sys.stderr)
        return 2
    sys.set_int_max_str_digits(0)  # the grammar has its own limit
    report = check_file(paths[0], [value for option, value in options if option == "--network"])
    error, as_json = f"{quote(paths[0])}: {report.step}: {report.got}", ("--json", "") in options
    answer = {"command": "check", "status": report.verdict, "error": "", **report._asdict()}
    if report.verdict == "unreadable":
        print(f"polyrelu: {error}", file=sys.stderr)
        answer |= {"status": "error", "error": error}
    try:
        if as_json or report.verdict != "unreadable":
            print(json.dumps(answer) if as_json else report, flush=True)
    except OSError:
        return 2
    return ["accepted", "rejected", "unreadable"].index(report.verdict)


if __name__ == "__main__":
    sys.exit(main())
