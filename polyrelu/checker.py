# SPDX-License-Identifier: MIT (Copyright 2026 The polyrelu developers; text in LICENSE-checker.txt)
# Generated from polyrelu/checking by `python -m polyrelu.checking.build`; edit it there.
"""Independent checker of polyrelu certificates, version 1 of certificate/FORMAT.md.

The file runs alone, with the standard library only:

    python -I -S checker.py [--json] [--budget UNITS] [--about FILE] [--network FILE]... CERT...

The exit status is 0 if all certificates are accepted, 1 if one is rejected, 2 if one is unreadable.
Sections have the numbers of FORMAT.md, and notation is as there. A theorem is one entry: `@theorem`
names its kind of claim, the page of its proof, the shape of its evidence and what each hypothesis
says; the function below re-derives the hypotheses, each fact in one `require`. Contents, by line:

   127  1. Text
   364  2. Networks
   508    Exact arithmetic
   674  3. Certificates
   713  3.1 Words
   731  3.2 Claims
  1234  3.3 Proofs
  1403    affine, shallow
  1409      theorem affine
  1464      theorem shallow
  1602    line
  1605      theorem line
  1634    bottleneck
  1639      theorem bottleneck
  1746    trailing-affine, trailing-shallow
  1774      theorem trailing-affine
  1790      theorem trailing-shallow
  1818    Refutations: translation, flip, line-equal
  1911      theorem translation
  1937      theorem flip
  1965      theorem line-equal
  2022    Refutations: replacement, bounded-replacement
  2025      theorem replacement
  2035      theorem bounded-replacement
  2208    Refutations: one-sided
  2290      theorem one-sided
  2387    Refutations: one-sided-cases
  2506      theorem one-sided-cases
  2539  3.4 Membership in the classes generic, transversal and regular
  2645  3.5 Invariants under ~
  2694  3.6 Cost
  2824  3.7 Rounding errors: theorem rounding
  2856      theorem rounding
  2956  3.8 Domains of pairs, and theorem point
  3111      theorem point
  3180  3.9 Ridges: theorems deep and deep-part
  4256      theorem deep
  4264      theorem deep-part
  4314    Theorem D, sparse competitors: zero weights, and ridges without a bend
  4444      theorem deep-sparse
  4452      theorem deep-sparse-part
  4465  3.10 Injectivity: theorems active-rows and collision
  4491      theorem collision
  4518      theorem active-rows
  4798  3.11 Sizes: theorems jumps, hyperplanes, affine-maps and bends
  4881      theorem jumps
  4908      theorem hyperplanes
  4931      theorem affine-maps
  4955      theorem bends
  4986  3.12 Functional dimensions: theorem jacobian
  4992      theorem jacobian
  5107  3.13 Leaky ReLU stacks
  5191    leaky-shallow
  5194      theorem leaky-shallow
  5209    leaky-chains
  5212      theorem leaky-chains
  5392    leaky-replacement
  5395      theorem leaky-replacement
  5457  3.14 Networks of blocks
  5489      theorem blocks-neuron
  5831      theorem blocks-replacement
  6013      theorem blocks-one-sided
  6188  4. Verdicts
  6323  5. Split trees: claim equivalent, theorem tree; claim regions, theorem regions
  7136      theorem tree-equal
  7156      theorem tree
  7277  5.1 Lists of regions: claim regions, theorem regions
  7282      theorem regions
  7322  5.2 Limits
  7328  5.3 Vertices: theorems vertices and complex (any networks)
  7893      theorem vertices
  7908      theorem complex
  7926  5.4 Injectivity by cells: theorem cell-pairs
  7938      theorem cell-pairs
  8056  5.5 Inverse Lipschitz constants: theorem inverse-lipschitz
  8061      theorem inverse-lipschitz
  8224  5.6 Injectivity by a left inverse: theorem left-inverse
  8227      theorem left-inverse
  8296  5.7 Inverse Lipschitz constants by cells: theorem monotone
  8299      theorem monotone
  8403  5.8 Bounds: theorems deviation, range, holds, same-decisions
 10739  5.9 Teaching sets: theorem parallel-lines
 10753      theorem parallel-lines
 10859    Files
 10999    The command line
"""

from __future__ import annotations

import sys

if sys.version_info < (3, 11):
    print("checker.py: it needs Python 3.11 or later", file=sys.stderr)
    sys.exit(2)

import contextlib
import getopt
import hashlib
import heapq
import io
import json
import math
import os
import re
import sys
import zlib
from bisect import bisect, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import accumulate, chain, combinations, compress, groupby, pairwise, product
from operator import mul
from typing import IO, Any, NamedTuple, Protocol, TypeVar

# ==== 1. Text ====

CERTIFICATE_BYTES, NETWORK_BYTES = 256 << 20, 1 << 30
GZIP_START = b"\x1f\x8b"
#: Bytes of a network file that are unpacked before the next ones are paid.
UNPACKED_PART = 1 << 20

# Possessive quantifiers: no backtracking. `fullmatch` everywhere, because `$` matches before "\n".
NUMBER = r"(?:-?0x[1-9a-f][0-9a-f]{0,4095}+|0|-?[1-9][0-9]{0,999}+)"
NATURAL, ROW = re.compile(f"(?!-){NUMBER}"), re.compile(f"{NUMBER}(?: {NUMBER})*+")
RATIONAL, INDEX = re.compile(f"{NUMBER}(?:/(?!-){NUMBER})?+"), re.compile("[0-9]{1,9}")
#: Integers from here on are hexadecimal.
FIRST_HEXADECIMAL = 10**1000


class OneOf(tuple[Any, ...]):
    """A shape: one of several shapes."""


class Mismatch:
    """How a value differs from a shape, and where: keys and indices from the inside out."""

    def __init__(self, wanted: Any, value: Any) -> None:
        self.wanted, self.value, self.path = wanted, value, list[str]()

    def within(self, key: str) -> Mismatch:
        """The same as a part of a larger value."""
        self.path.append(key)
        return self

    def text(self) -> str:
        """What was expected and what was found."""
        if isinstance(self.wanted, dict):
            found = ", ".join(self.value) if isinstance(self.value, dict) else self.value
            return f"expected the keys {', '.join(self.wanted)}, got {quote(found)}"
        wanted = getattr(self.wanted, "pattern", self.wanted)
        if isinstance(self.wanted, type):
            wanted = self.wanted.__name__
        if isinstance(self.wanted, tuple):
            wanted = f"a list of {len(self.wanted)} entries"
        return f"expected {quote(wanted)}, got {quote(self.value)}"


def mismatch(value: Any, shape: Any) -> Mismatch | None:
    """How a value differs from a shape; None if it does not.

    A shape is a dict (exactly these keys), a list (entries alike), a tuple (a list this long), a
    pattern, `int`, `object` (anything), OneOf, or a literal. Types are exact: to Python True == 1.
    """
    if isinstance(shape, OneOf):
        return mismatch_of_all(value, shape)
    if isinstance(shape, dict):
        if type(value) is not dict or value.keys() != shape.keys():
            return Mismatch(shape, value)
        return first_mismatch((f".{key}", value[key], entry) for key, entry in shape.items())
    if isinstance(shape, list):
        if type(value) is not list:
            return Mismatch(list, value)
        return first_mismatch((f"[{i}]", entry, shape[0]) for i, entry in enumerate(value))
    if isinstance(shape, tuple):
        if type(value) is not list or len(value) != len(shape):
            return Mismatch(shape, value)
        pairs = enumerate(zip(value, shape, strict=True))
        return first_mismatch((f"[{i}]", entry, part) for i, (entry, part) in pairs)
    if isinstance(shape, re.Pattern):
        fits = type(value) is str and shape.fullmatch(value) is not None
    elif isinstance(shape, type):
        fits = shape is object or type(value) is shape
    else:
        fits = type(value) is type(shape) and value == shape
    return None if fits else Mismatch(shape, value)


def first_mismatch(parts: Any) -> Mismatch | None:
    """The first of the parts (key, value, shape) that differs."""
    for key, value, shape in parts:
        if found := mismatch(value, shape):
            return found.within(key)
    return None


def mismatch_of_all(value: Any, options: OneOf) -> Mismatch | None:
    """The mismatch that lies deepest, if a value has none of several shapes."""
    tried = list[Mismatch]()
    for option in options:
        found = mismatch(value, option)
        if found is None:
            return None
        tried.append(found)
    return max(tried, key=lambda found: len(found.path))


def fit(value: Any, shape: Any, place: str) -> None:
    """A value of another shape is unreadable."""
    if found := mismatch(value, shape):
        well_formed(False, found.text(), place + "".join(reversed(found.path)))


def parse(data: bytes, place: str, size: int, meter: Meter) -> Any:
    """The JSON value of a file, paid for before it is parsed.

    `json` sees no escapes, and refuses deep nesting by itself.
    """
    well_formed(len(data) <= size, f"more than {size} bytes, the limit of the format", place)
    meter.units(8 * len(data))
    well_formed(data.isascii(), "a byte that is not ASCII, so the file is not in the format", place)
    well_formed(b"\\" not in data, "a backslash, so the file is not in the format", place)
    commas, colons, lists, objects = (data.count(mark) for mark in (b",", b":", b"[", b"{"))
    meter.units(500 * (commas + colons + lists + objects))
    meter.hold(cells_of_text(data) + commas + 2 * colons + lists + 3 * objects)
    try:
        text = data.decode("ascii")  # `json` would take bytes with NULs for UTF-16
        return json.loads(
            text,
            parse_int=lambda digits: index(digits, place),
            parse_float=lambda digits: index(digits, place),
            parse_constant=lambda digits: index(digits, place),
            object_pairs_hook=lambda items: without_duplicates(items, place),
        )
    except ValueError as error:
        return well_formed(False, f"not JSON: {error}", place)


def unpacked(data: bytes, place: str, size: int, meter: Meter) -> bytes:
    """The bytes of a file that may be packed, paid for part by part: few bytes may hold many."""
    if not data.startswith(GZIP_START):
        return data
    found, cells = io.BytesIO(), 0
    with io.BufferedReader(Unpacked(io.BytesIO(data))) as file:
        while part := file.read(UNPACKED_PART):
            found.write(part)
            message = f"more than {size} bytes unpacked, the limit of the format"
            well_formed(found.tell() <= size, message, place)
            meter.units(8 * len(part))
            meter.hold(cells_of_text(part))
            cells += cells_of_text(part)
    meter.release(cells)
    return found.getvalue()


class Unpacked(io.RawIOBase):
    """What the members of a packed file hold, one after the other.

    Zeros may follow a member. `zlib` looks at the headers and at the sums of the members.
    """

    #: Bytes that are read at once.
    SIZE = 1 << 16
    #: A window of 2^15 bytes, and a header and sums as RFC 1952 says.
    FORMAT = 31

    def __init__(self, file: IO[bytes]) -> None:
        super().__init__()
        self.file, self.packed, self.member = file, b"", zlib.decompressobj(self.FORMAT)

    def readable(self) -> bool:
        """Files of this kind are only read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a part of a buffer; nothing, at the end of the last member."""
        found = b""
        while not found:
            self.packed = self.packed or self.file.read(self.SIZE)
            if self.member.eof:
                if not self.packed:
                    return 0
                self.packed = self.packed.lstrip(b"\0")
                if self.packed:
                    self.member = zlib.decompressobj(self.FORMAT)
                continue
            is_ended = not self.packed
            try:
                found = self.member.decompress(self.packed, len(buffer))
            except zlib.error as error:
                well_formed(False, f"not a packed file, or a damaged one: {error}")
            self.packed = self.member.unconsumed_tail or self.member.unused_data
            if is_ended and not found:
                raise EOFError
        buffer[: len(found)] = found
        return len(found)


def cells_of_text(data: bytes) -> int:
    """The cells that a text takes."""
    return len(data) // 64


def index(digits: str, place: str) -> int:
    """A JSON number, which is an index or a count."""
    if not INDEX.fullmatch(digits):
        well_formed(False, f"not an integer from 0 to 999999999: {quote(digits)}", place)
    return int(digits)


def without_duplicates(items: list[tuple[str, Any]], place: str) -> dict[str, Any]:
    """A JSON object."""
    found = dict(items)
    well_formed(len(found) == len(items), "duplicate key", place)
    return found


def integer(text: str) -> int:
    """An integer that matches NUMBER; one that is spelled in the other way is unreadable."""
    if "x" not in text:
        return int(text)
    value = int(text, 16)
    if abs(value) < FIRST_HEXADECIMAL:
        well_formed(False, "integers below 10^1000 must be decimal", quote(text))
    return value


def integers(row: str, meter: Meter) -> list[int]:
    """The numbers of a text that matches ROW."""
    parts = row.split(" ")
    meter.units(200 * len(parts) + 8 * len(row))
    meter.hold(len(parts) - 7 * parts.count("0") // 8)
    return list(map(int, parts)) if "x" not in row else list(map(integer, parts))


def rational(text: str, meter: Meter) -> Fraction:
    """A number that matches RATIONAL, in lowest terms."""
    meter.units(1_000 + len(text) ** 2 // 256)
    top, slash, bottom = text.partition("/")
    if not slash:
        return Fraction(integer(top))
    p, q = integer(top), integer(bottom)
    if q < 2 or math.gcd(p, q) != 1:
        well_formed(False, "must be in lowest terms, denominator >= 2", quote(text))
    return Fraction(p, q)


def rationals(texts: list[str], meter: Meter) -> list[Fraction]:
    """The numbers of a list."""
    return [rational(text, meter) for text in texts]


# ==== 2. Networks ====

MAX_LAYERS, MAX_WIDTH, MAX_NUMBERS = 10_000, 10**6, 3 * 10**7
#: Rows that are hashed at once.
HASHED_ROWS = 1_024

LAYER = {"denominator": NATURAL, "bias": ROW, "weights": [{"from": int, "rows": [ROW]}]}
NETWORK = {
    "format": "polyrelu-network",
    "version": 1,
    "inputs": int,
    "layers": [LAYER],
    "last": re.compile("affine|relu"),
}


class Layer(NamedTuple):
    """z = (rows * a + bias) / denominator, a the activations of the layer before.

    A layer has one denominator, so that signs, zeros, ranks, and proportional rows are read off the
    integers.
    """

    denominator: int
    bias: list[int]
    rows: list[list[int]]
    earlier: list[tuple[int, list[list[int]]]]  # further blocks: source, rows
    bits: int  # of the longest number of [W | b] or the denominator

    def augmented(self) -> list[list[int]]:
        """The rows of [W | b]."""
        return [[*row, b] for row, b in zip(self.rows, self.bias, strict=True)]

    def columns(self) -> list[tuple[int, ...]]:
        """The columns of W."""
        return list(zip(*self.rows, strict=True))

    def primitive_rows(self) -> list[list[int]]:
        """The rows over their greatest common divisor, as they are reduced modulo primes."""
        divisor = 0
        for row in self.rows:
            if divisor != 1:
                divisor = math.gcd(divisor, *row)
        return [[x // (divisor or 1) for x in row] for row in self.rows]


class Network(NamedTuple):
    """A network: widths n_0 ... n_L, layers 1 ... L, and its last activation."""

    widths: list[int]
    layers: list[Layer]
    last: str
    sha256: str

    def __str__(self) -> str:
        shown = ", ".join(map(str, self.widths[:16])) + (", ..." if len(self.widths) > 16 else "")
        name = "architecture" if self.is_plain() else "widths"
        return f"{name} ({shown}) with {self.last} output"

    def is_plain(self) -> bool:
        """Whether every layer reads only the layer before it."""
        return not any(layer.earlier for layer in self.layers)

    def num_hidden_layers(self) -> int:
        """The number of layers with a ReLU."""
        return len(self.layers) - (self.last == "affine")


def read_network(document: Any, place: str, meter: Meter) -> Network:
    """A network. Every number has one spelling, so that rows are hashed as they stand."""
    fit(document, NETWORK, place)
    inputs, entries = document["inputs"], document["layers"]
    well_formed(1 <= inputs <= MAX_WIDTH, f"needs 1 to {MAX_WIDTH} inputs", place)
    well_formed(1 <= len(entries) <= MAX_LAYERS, f"needs 1 to {MAX_LAYERS} layers", place)
    digest = hashlib.sha256(f"polyrelu-network 1\ninputs {inputs}\n".encode())
    widths, layers, total = [inputs], list[Layer](), 0
    for number, entry in enumerate(entries):
        where = f"{place}.layers[{number}]"
        width = entry["bias"].count(" ") + 1
        check_sizes(entry, width, widths, where)
        total += width + sum(width * widths[block["from"]] for block in entry["weights"])
        well_formed(width <= MAX_WIDTH, f"beyond {MAX_WIDTH} neurons in a layer", where)
        well_formed(total <= MAX_NUMBERS, f"beyond {MAX_NUMBERS} numbers", where)
        hash_layer(digest, entry, width, meter)
        layers.append(read_layer(entry, where, meter))
        widths.append(width)
    digest.update(f"last {document['last']}\n".encode())
    return Network(widths, layers, document["last"], digest.hexdigest())


def check_sizes(entry: Any, width: int, widths: list[int], where: str) -> None:
    """The blocks of a layer are in order, and their rows are as long as their sources are wide."""
    number = len(widths) - 1
    sources = [block["from"] for block in entry["weights"]]
    good = sources == sorted({*sources, number}) and sources[-1] == number
    well_formed(good, f"needs blocks in ascending order, the last one from layer {number}", where)
    for source, block in zip(sources, entry["weights"], strict=True):
        good = len(block["rows"]) == width and {row.count(" ") + 1 for row in block["rows"]} == {
            widths[source]
        }
        message = f"needs {width} rows of {widths[source]} integers from layer {source}"
        well_formed(good, message, where)


def hash_layer(digest: Any, entry: Any, width: int, meter: Meter) -> None:
    """The canonical bytes of a layer."""
    digest.update(f"layer {width} {entry['denominator']}\nbias {entry['bias']}\n".encode())
    for block in entry["weights"]:
        rows = block["rows"]
        digest.update(f"from {block['from']}\n".encode())
        for start in range(0, width, HASHED_ROWS):
            digest.update("".join(f"{row}\n" for row in rows[start : start + HASHED_ROWS]).encode())
        meter.units(4 * sum(map(len, rows)))


def read_layer(entry: Any, where: str, meter: Meter) -> Layer:
    """The numbers of a layer, which have no common divisor."""
    bias, denominator = integers(entry["bias"], meter), integer(entry["denominator"])
    blocks = list[tuple[int, list[list[int]]]]()
    divisor = divisor_with(denominator, bias, meter)
    for block in entry["weights"]:
        rows = [integers(row, meter) for row in block["rows"]]
        is_last = block["from"] == entry["weights"][-1]["from"]
        message = f"a block of zeros from layer {block['from']}"
        well_formed(is_last or any(map(any, rows)), message, where)
        blocks.append((block["from"], rows))
        for row in rows:
            divisor = divisor_with(divisor, row, meter)
    well_formed(denominator > 0, "denominator 0", where)
    message = "a common divisor of denominator, bias and weights"
    well_formed(divisor == 1, message, where)
    bits = longest([bias, [denominator], *chain.from_iterable(rows for _, rows in blocks)])
    return Layer(denominator, bias, blocks[-1][1], blocks[:-1], bits)


def divisor_with(divisor: int, row: list[int], meter: Meter) -> int:
    """The greatest common divisor of a number and a row; nothing is computed if it is 1."""
    if divisor == 1:
        return 1
    bits = longest([row])
    meter.pay_divisions(len(row), bits, min(bits, divisor.bit_length()))
    return math.gcd(divisor, *row)


# ---- Exact arithmetic

Matrix = Sequence[Sequence[int]]
#: A linear combination of symbols; which symbols there are depends on the rule. Symbol 0 is 1.
Form = dict[int, int]
#: Bytes of a number modulo a prime that is packed into one integer with others: a million products
#: of two such numbers can be added in this place.
PLACE = 18


class Row(tuple[int, ...]):
    """Integers as a key of a dictionary, hashed as text: nobody can make many hashes collide."""

    hashed = 0

    def __hash__(self) -> int:
        self.hashed = self.hashed or hash(" ".join(f"{x:x}" for x in self))
        return self.hashed


def dot(left: Iterable[int], right: Iterable[int]) -> int:
    """The scalar product."""
    return sum(x * y for x, y in zip(left, right, strict=True))


def primitive_plane(row: Sequence[int], meter: Meter) -> tuple[Row, int]:
    """(h, s) with row = s h, h primitive and its first nonzero entry positive; s = 0 if row = 0.

    There is one h for each hyperplane.
    """
    bits = longest([row])
    meter.pay(2 * len(row))
    meter.pay_divisions(2 * len(row), bits, bits)
    scale = math.gcd(*row) * (-1 if next((x for x in row if x), 0) < 0 else 1)
    return Row(x // (scale or 1) for x in row), scale


def check_indices(indices: Sequence[int], bound: int, name: str, count: int | None = None) -> None:
    """Require strictly ascending indices below a bound, and `count` of them if given."""
    require(all(x < y for x, y in pairwise(indices)), f"{name} in strictly ascending order")
    require(not indices or indices[-1] < bound, f"{name} below {bound}")
    require(count in (None, len(indices)), f"{count} {name}", str(len(indices)))


def common_denominator(numbers: Iterable[Fraction], name: str, meter: Meter) -> int:
    """The least common denominator, of at most 65,536 bits."""
    scale = 1
    for x in numbers:
        if x.denominator == scale:
            continue
        meter.pay_divisions(2, scale.bit_length(), x.denominator.bit_length())
        scale = math.lcm(scale, x.denominator)
        if scale.bit_length() > GROWN_BITS:
            message = f"beyond the limits: {name} of more than {GROWN_BITS} bits"
            well_formed(False, message)
    return scale


# -- ranks


def pack(row: Iterable[int]) -> int:
    """Numbers from 0 to a prime below 2^61, in one integer."""
    return int.from_bytes(b"".join(x.to_bytes(PLACE, "little") for x in row), "little")


def unpack(packed: int, count: int, prime: int) -> list[int]:
    """The numbers modulo the prime."""
    data = packed.to_bytes(PLACE * count, "little")
    return [
        int.from_bytes(data[i : i + PLACE], "little") % prime
        for i in range(0, PLACE * count, PLACE)
    ]


def reduce_into(basis: dict[int, int], row: Sequence[int], prime: int, meter: Meter) -> None:
    """Let a row join an echelon form modulo a prime; a row in its span leaves it as it is.

    The rows of the form are named by the column of their first nonzero entry, which is 1. Only what
    comes after this entry is kept, packed.
    """
    size = len(row)
    meter.units(300 * size)
    rest, place = pack(row), 8 * PLACE
    digit = (1 << place) - 1
    for c in range(size):
        x, rest = (rest & digit) % prime, rest >> place
        if x == 0:
            continue
        if c not in basis:
            inverse = pow(x, -1, prime)
            basis[c] = pack(y * inverse % prime for y in unpack(rest, size - c - 1, prime))
            return
        meter.units(200 + 15 * (size - c))
        rest += (prime - x) * basis[c]


def check_determinant(rows: list[list[int]], prime: int, meter: Meter) -> None:
    """Require a determinant that is not 0 modulo a prime."""
    basis = dict[int, int]()
    meter.hold(len(rows) ** 2)
    for row in rows:
        reduce_into(basis, [x % prime for x in row], prime, meter)
    require(len(basis) == len(rows), f"a determinant that is not 0 modulo {prime}", "zero")


def pivot_columns(matrix: Matrix, meter: Meter) -> list[int]:
    """Columns that are a basis of the column space.

    Bareiss: all numbers are minors, and divisions are exact.
    """
    rest, last, found = [list(row) for row in matrix], 1, list[int]()
    bits, width = longest(matrix), len(matrix[0]) if matrix else 0
    for c in range(width):
        pivot = next((row for row in rest if row[c]), None)
        if pivot is None:
            continue
        size = (len(found) + 1) * (bits + 10)
        left = (len(rest) - 1) * (width - c)
        meter.pay(10 * len(rest))
        meter.pay(2 * left, size, size)
        meter.pay_divisions(left, 2 * size, size)
        rest = [
            [(pivot[c] * x - row[c] * y) // last for x, y in zip(row, pivot, strict=True)]
            for row in rest
            if row is not pivot
        ]
        last = pivot[c]
        found.append(c)
    return found


def reduced(row: list[int], pivot: list[int], c: int, p: int, last: int) -> list[int]:
    """A row with 0 at the place c of the pivot p, over the pivot before."""
    q = row[c]
    if last == 1:
        return [p * x - q * y for x, y in zip(row, pivot, strict=True)]
    return [(p * x - q * y) // last for x, y in zip(row, pivot, strict=True)]


# -- forms


def add_to(sums: Form, form: Form, factor: int) -> None:
    """Add a multiple of a form."""
    if factor:
        for symbol, entry in form.items():
            sums[symbol] = sums.get(symbol, 0) + factor * entry


def added(one: Form, other: Form, factor: int) -> Form:
    """one + factor * other."""
    add_to(result := dict(one), other, factor)
    return result


def without_zeros(sums: Form) -> Form:
    """The form without coefficients that are 0."""
    return {symbol: entry for symbol, entry in sums.items() if entry}


def bits_of_form(form: Form) -> int:
    """The bits of the longest coefficient."""
    return max(map(int.bit_length, form.values()), default=0)


# ==== 3. Certificates ====

SHA256 = re.compile("[0-9a-f]{64}")
FILE_NAME = re.compile("(?![.])[A-Za-z0-9._-]{1,200}")
REFERENCE = OneOf(({"sha256": SHA256, "inline": object}, {"sha256": SHA256, "file": FILE_NAME}))
MAX_NOTES = 32

#: Candidates for a network file: name and bytes, the file of the given name first.
Search = Callable[[str], Iterable[tuple[str, bytes]]]


def check_notes(notes: Any, place: str) -> None:
    """The shape of `unverified`; nothing depends on what it says."""
    message = f"must be an object of at most {MAX_NOTES} strings"
    well_formed(type(notes) is dict, message, place)
    well_formed(len(notes) <= MAX_NOTES, message, place)
    well_formed(all(type(note) is str for note in notes.values()), message, place)


def read_reference(reference: Any, place: str, search: Search, meter: Meter) -> Network:
    """The network of a reference. Its hash is recomputed, and decides."""
    wanted, name, wrong = reference["sha256"], reference.get("file", ""), ""
    if not name:
        network = read_network(reference["inline"], place, meter)
        require(network.sha256 == wanted, wanted, network.sha256, "hash")
        return network
    for label, data in search(name):
        meter.allow(len(data))
        text = unpacked(data, label, NETWORK_BYTES, meter)
        network = read_network(parse(text, label, NETWORK_BYTES, meter), label, meter)
        if network.sha256 == wanted:
            return network
        if label == name:
            wrong = network.sha256
    require(not wrong, wanted, wrong, "hash")
    message = f"the file {name} is missing, and no given one has its hash"
    raise Stop("unreadable", "its network file", message, place)


# ==== 3.1 Words ====

#: The classes of competitors; each one contains those before it.
CLASSES = ("generic", "transversal", "regular", "all")
#: The class of transversal parameters that may have zero weights.
SPARSE = "sparse"
#: The classes of Theorem D.
DEEP_CLASSES = ("regular", "transversal")
MINORS_ARE_ENOUGH = "minors imply G2 (docs/theory/bottleneck.md)"
#: What is trusted besides where minors show membership in a class.
TRUSTED_OF_MINORS = {
    "generic": MINORS_ARE_ENOUGH,
    **dict.fromkeys(
        (*DEEP_CLASSES, SPARSE),
        f"{MINORS_ARE_ENOUGH}, generic implies transversal, which implies regular (FORMAT.md)",
    ),
}

# ==== 3.2 Claims ====

DOMAIN = {"inequalities": [ROW], "equations": [ROW]}
#: Where competitors agree: on R^n, or on the interior of a domain.
WHERE = OneOf(("R^n", DOMAIN))
#: The architecture that competitors share, where they are no plain stacks (3.13, 3.14).
ARCHITECTURE = OneOf(({"kind": "leaky", "slope": RATIONAL}, {"kind": "blocks"}))
AMONG = {"network": REFERENCE, "domain": WHERE, "among": re.compile("|".join((*CLASSES, SPARSE)))}
PAIR = {"network": REFERENCE, "other": REFERENCE, "domain": DOMAIN}
#: What a claim size counts.
QUANTITY = re.compile("hidden-layers|neurons|neurons-of-one-layer")
#: The claims of certificates that are one JSON value.
CLAIMS = OneOf(
    (
        {"kind": "identifiable", **AMONG},
        {"kind": "not-identifiable", **AMONG, "other": REFERENCE},
        {"kind": "identifiable", **AMONG, "architecture": ARCHITECTURE},
        {
            "kind": "not-identifiable",
            **AMONG,
            "architecture": ARCHITECTURE,
            "other": REFERENCE,
        },
        {"kind": "determined", **AMONG, "layers": int, "neurons": [int]},
        {"kind": "not-equivalent", **PAIR},
        {
            "kind": "runtime-error",
            "network": REFERENCE,
            "arithmetic": re.compile("float32|float64"),
            "domain": {"lower": [RATIONAL], "upper": [RATIONAL]},
            "at-most": [RATIONAL],
        },
        {
            "kind": re.compile("injective|not-injective"),
            "network": REFERENCE,
            "layers": (int, int),
            "domain": DOMAIN,
        },
        {
            "kind": "inverse-lipschitz",
            "network": REFERENCE,
            "layers": (int, int),
            "domain": DOMAIN,
            "at-least": RATIONAL,
            "at-most": RATIONAL,
        },
        {
            "kind": "teaching-set",
            "network": REFERENCE,
            "count": int,
            "pins": re.compile("function|parameters"),
        },
        {"kind": "size", **AMONG, "quantity": QUANTITY, "at-least": int},
        {
            "kind": "functional-dimension",
            "network": REFERENCE,
            "domain": DOMAIN,
            "at-least": int,
            "at-most": int,
        },
    )
)
#: The kinds of claims, of one JSON value, whose networks may have skip connections.
OF_ANY_NETWORKS = ("not-equivalent", "injective", "not-injective", "inverse-lipschitz")
#: A linear function of outputs and inputs that is not positive, or negative (5.8).
COEFFICIENTS = [(int, RATIONAL)]
LINEAR_ROW = {
    "is": re.compile("<=0|<0"),
    "f": COEFFICIENTS,
    "g": COEFFICIENTS,
    "x": COEFFICIENTS,
    "constant": RATIONAL,
}
EXCEPT = [{"lower": [RATIONAL], "upper": [RATIONAL]}]
PROPERTY = {"kind": "holds", "clauses": [[LINEAR_ROW]], "except": EXCEPT}
DECISIONS = {"kind": "same-decisions", **PAIR, "margin": RATIONAL, "except": EXCEPT}
#: The kinds of claims that are about both of two networks.
OF_PAIRS = ("equivalent", "not-equivalent", "deviation", "holds", "same-decisions")
#: The claims of tree files.
TREE_CLAIMS: dict[str, Any] = {
    "equivalent": {"kind": "equivalent", **PAIR},
    "regions": {"kind": "regions", "network": REFERENCE, "domain": DOMAIN, "count": int},
    "complex": {"kind": "complex", "network": REFERENCE, "domain": DOMAIN, "f-vector": [int]},
    "deviation": {
        "kind": "deviation",
        **PAIR,
        "outputs": [int],
        "at-least": RATIONAL,
        "at-most": RATIONAL,
        "except": EXCEPT,
    },
    "range": {
        "kind": "range",
        "network": REFERENCE,
        "domain": DOMAIN,
        "outputs": [(int, (RATIONAL, RATIONAL), (RATIONAL, RATIONAL))],
    },
    "holds": OneOf(
        ({"network": REFERENCE, "domain": DOMAIN, **PROPERTY}, {**PAIR, **PROPERTY}),
    ),
    "lipschitz": {
        "kind": "lipschitz",
        "network": REFERENCE,
        "domain": DOMAIN,
        "outputs": [int],
        "norm": re.compile("1|2|inf"),
        "at-least": RATIONAL,
        "at-most": RATIONAL,
    },
    "same-decisions": OneOf((DECISIONS, {**DECISIONS, "choose": re.compile("smallest")})),
}
#: Maximum number of neurons that a sentence lists, and of characters of a domain in it.
LISTED_NEURONS, DOMAIN_CHARACTERS = 16, 400
#: Maximum number of dimensions for which a sentence lists the numbers of cells.
LISTED_DIMENSIONS = 16
#: Maximum number of outputs that a sentence lists.
LISTED_OUTPUTS = 8
#: Maximum number of terms of the inequalities that a sentence lists, and of characters of a number.
LISTED_TERMS, LONGEST_NUMBER = 24, 24

MOVES = "permuting and positively scaling hidden neurons"
EVERYBODY = "all of them that have this architecture and compute the same real function"
WHOLE_SPACE = "R^n"
#: What the membership of a network adds to the sentence "identifiable". A class is closed under
#: permuting and scaling, so a competitor in the class would put the network into it.
MEMBERSHIP_OF_IDENTIFIABLE = {
    "": "",
    "verified": "; it is itself in the class",
    "open": "; whether it is itself in the class is open",
    "refuted": "; it is itself not in the class, so nobody in the class computes its function",
}
#: The same for "determined". A competitor agrees with the network in the part only: it may be in
#: the class although the network is not.
MEMBERSHIP_OF_DETERMINED = {
    **MEMBERSHIP_OF_IDENTIFIABLE,
    "refuted": "; it is itself not in the class, and whether anybody in the class computes its "
    "function is left open",
}


def name_of(network: Network) -> str:
    """The beginning of a sentence: hash and widths."""
    return f"Network {network.sha256[:12]}, {network}"


def sentence(
    theorem: str, claim: Any, one: Network, two: Network, status: str, meter: Meter
) -> str:
    """The claim in English: about exact weights and real arithmetic, as FORMAT.md says."""
    kind = claim["kind"]
    if kind == "runtime-error":
        return runtime_sentence(claim, one, meter)
    if kind in ("equivalent", "not-equivalent"):
        return pair_sentence(claim, one, two)
    if kind in ("injective", "not-injective"):
        return injectivity_sentence(claim, one)
    if kind == "inverse-lipschitz":
        return lipschitz_sentence(claim, one)
    if kind == "teaching-set":
        return teaching_sentence(claim, one)
    if kind in ("regions", "complex"):
        return cells_sentence(theorem, claim, one)
    if kind in ("deviation", "range", "holds", "same-decisions", "lipschitz"):
        return bounds_sentence(claim, one, two)
    if kind == "size":
        return size_sentence(claim, one)
    if kind == "functional-dimension":
        return dimension_sentence(claim, one)
    return competitors_sentence(claim, one, two, status)


def competitors_sentence(claim: Any, one: Network, two: Network, status: str) -> str:
    """The claim about all competitors, or about one of them."""
    place, members, there = competitors_words(claim)
    members += members_words(claim)
    name = name_of(one) + architecture_words(claim)
    head = f"{name}, is {claim['kind']} on {place} among {members}"
    if claim["kind"] == "not-identifiable":
        return (
            f"{head}: network {two.sha256[:12]} is one of them, computes the same real "
            f"function{there}, and is not related to it by {MOVES}."
        )
    everybody = f"{EVERYBODY}{there}"
    if claim["kind"] == "determined":
        part, known = part_words(claim), MEMBERSHIP_OF_DETERMINED[status]
        agree = "agree with it in this part" if there else "agree with it there"
        return f"{head} in {part}: {everybody} {agree} after {MOVES}{known}."
    return f"{head}: {everybody} are related to it by {MOVES}{MEMBERSHIP_OF_IDENTIFIABLE[status]}."


def architecture_words(claim: Any) -> str:
    """What the architecture adds to the name, where it is a leaky ReLU stack."""
    if claim.get("architecture", {}).get("kind") != "leaky":
        return ""
    return f", a leaky ReLU stack of slope {bare(claim['architecture']['slope'])}"


def members_words(claim: Any) -> str:
    """The networks whose parameters competitors have, where they are no plain stacks."""
    kind = claim.get("architecture", {}).get("kind")
    if kind == "leaky":
        return " of such stacks (FORMAT.md, section 3.13)"
    if kind == "blocks":
        return (
            " of all networks of its widths whose layers read the same layers, with any weights "
            "(FORMAT.md, section 3.14)"
        )
    return ""


def competitors_words(claim: Any) -> tuple[str, str, str]:
    """Where competitors agree, which class they are of, and `there` if that is not all of R^n.

    Whether a parameter is of a class but `all` depends on the place.
    """
    domain, among = claim["domain"], claim["among"]
    place = domain if isinstance(domain, str) else domain_words(domain)
    if place == WHOLE_SPACE:
        return place, f"{among} parameters", ""
    members = "all parameters" if among == "all" else f"parameters that are {among} there"
    return f"the interior of {place}", members, " there"


def part_words(claim: Any) -> str:
    """Which hidden layers and neurons are determined; their rows [W|b] are."""
    last, neurons = claim["layers"], claim["neurons"]
    if not neurons:
        whole, end = last - 1, f"layer {last}"
    else:
        whole, noun = last, "neuron" if len(neurons) == 1 else "neurons"
        names = f"{noun} {', '.join(map(str, neurons[:LISTED_NEURONS]))}"
        if len(neurons) > LISTED_NEURONS:
            names = f"{len(neurons)} neurons"
        end = f"{names} of layer {last + 1}"
    before = f"layers 1 to {whole} and in " if whole > 1 else "layer 1 and in " if whole else ""
    return f"{before}{end} up to signs of rows [W|b]"


def runtime_sentence(claim: Any, network: Network, meter: Meter) -> str:
    """The claim about a float runtime."""
    name = claim["arithmetic"]
    worst = bare(max(claim["at-most"], key=lambda text: rational(text, meter)))
    return (
        f"{name_of(network)}, computed layer by layer in {name} (FORMAT.md, section 3.7) at {name} "
        f"inputs in the given box, has a runtime-error of at most {worst}: the distance to its "
        "function."
    )


def pair_sentence(claim: Any, one: Network, two: Network) -> str:
    """The claim about two networks."""
    place = domain_words(claim["domain"])
    end = f"they differ at a point of {place}"
    if claim["kind"] == "equivalent":
        end = f"they compute the same real function on {place}"
    head = f"{name_of(one)}, and network {two.sha256[:12]}, {two}, are {claim['kind']}"
    return f"{head}: {end}."


def injectivity_sentence(claim: Any, network: Network) -> str:
    """The claim that no two points, or some two points, have equal outputs."""
    (first, last), is_not = claim["layers"], claim["kind"] == "not-injective"
    place, outputs = domain_words(claim["domain"]), values_of_part(claim, network)
    if first == 1:
        whole = f" in layers 1 to {last}" if last < len(network.layers) else ""
        head = f"{name_of(network)}, is {claim['kind']}{whole} on {place}"
    else:
        part = f"layers {first} to {last}" if first < last else f"layer {first}"
        head = (
            f"The map of {part} of network {network.sha256[:12]}, {network}, is {claim['kind']} on "
            f"{place}, for any inputs of layer {first} there"
        )
    points = "two different points have equal" if is_not else "no two points have equal"
    return f"{head}: {points} {outputs}."


def values_of_part(claim: Any, network: Network) -> str:
    """What the part of a claim computes."""
    last = claim["layers"][1]
    return f"activations of layer {last}" if last < len(network.layers) else "outputs"


def lipschitz_sentence(claim: Any, network: Network) -> str:
    """The claim about the least factor by which distances change."""
    (first, last), place = claim["layers"], domain_words(claim["domain"])
    part = f"layers {first} to {last}" if first < last else f"layer {first}"
    low, high = bare(claim["at-least"]), bare(claim["at-most"])
    return (
        f"The map of {part} of network {network.sha256[:12]}, {network}, has an inverse-lipschitz "
        f"constant on {place} whose square is at least {low} and at most {high}: the least "
        f"quotient of squared distances, of {values_of_part(claim, network)} over inputs."
    )


def teaching_sentence(claim: Any, network: Network) -> str:
    """The claim that the values at some points determine a network."""
    end = f", and is related to it by {MOVES}" if claim["pins"] == "parameters" else ""
    neurons = counted(network.widths[1], "neuron")
    return (
        f"{name_of(network)}, has a teaching-set of {counted(claim['count'], 'point')}, which the "
        f"file lists: every network with one hidden layer of at most {neurons} and the same "
        f"outputs at these points computes the same real function on {WHOLE_SPACE}{end}."
    )


def bounds_sentence(claim: Any, one: Network, two: Network) -> str:
    """The claim about the values of one or of two networks."""
    place, kind, boxes = domain_words(claim["domain"]), claim["kind"], claim.get("except", [])
    noun = "listed box" if len(boxes) == 1 else "listed boxes"
    outside = f", outside of {len(boxes)} {noun}" if boxes else ""
    pair = f"{name_of(one)}, and network {two.sha256[:12]}, {two}"
    if kind == "range":
        return f"{name_of(one)}, has this range on {place}: {range_words(claim)}."
    if kind == "lipschitz":
        return f"{name_of(one)}, has a Lipschitz constant on {place}: {lipschitz_words(claim)}."
    if kind == "deviation":
        return f"{pair}, have a deviation on {place}: {deviation_words(claim, outside)}."
    if kind == "same-decisions":
        margin = bare(claim["margin"])
        more = f" by more than {margin}" if claim["margin"] != "0" else ""
        wins = "is smaller than" if "choose" in claim else "exceeds"
        return (
            f"{pair}, make the same-decisions at every point of {place}{outside}: where one output "
            f"of the first network {wins} all others{more}, the same output of the second one "
            f"{wins} all others."
        )
    subject = pair if "other" in claim else name_of(one)
    return (
        f"{subject}: {property_words(claim['clauses'])} holds at every point of {place}{outside}; "
        "f are the outputs of the network" + (", g of the second one." if "other" in claim else ".")
    )


def property_words(clauses: Any) -> str:
    """A property as inequalities, or how many clauses it has."""
    rows = [row for clause in clauses for row in clause]
    terms = [entry for row in rows for key in ("f", "g", "x") for entry in row[key]]
    numbers = [row["constant"] for row in rows] + [entry[1] for entry in terms]
    if len(terms) > LISTED_TERMS or any(len(number) > LONGEST_NUMBER for number in numbers):
        return f"a property with {counted(len(clauses), 'clause')}, which the file lists,"
    texts = [" or ".join(map(row_words, clause)) for clause in clauses]
    return " and ".join(f"({text})" if len(texts) > 1 else text for text in texts)


def row_words(row: Any) -> str:
    """An inequality."""
    terms = [(number, f" {key}_{i}") for key in ("f", "g", "x") for i, number in row[key]]
    if row["constant"] != "0" or not terms:
        terms.append((row["constant"], ""))
    text = ""
    for number, name in terms:
        size = number.lstrip("-")
        size = name.strip() if name and size == "1" else f"{size}{name}"
        sign = "-" if number[0] == "-" else "+"
        text += f" {sign} {size}" if text else size if sign == "+" else f"-{size}"
    return f"{text} {'< 0' if row['is'] == '<0' else '<= 0'}"


def range_words(claim: Any) -> str:
    """The ranges of all outputs, or their number."""
    entries = claim["outputs"]
    if len(entries) > LISTED_OUTPUTS:
        return f"the least and largest values of {len(entries)} outputs are as claimed"
    return "; ".join(
        f"the least value of output {i} is {between_words(*low)}, its largest value is "
        f"{between_words(*high)}"
        for i, low, high in entries
    )


def between_words(low: str, high: str) -> str:
    """Where a number lies."""
    same = low == high
    return f"exactly {bare(low)}" if same else f"at least {bare(low)} and at most {bare(high)}"


def bare(number: str) -> str:
    """A number that was read, as `quote` has it, without its quotes."""
    return quote(number).replace("'", "")


#: The norm of gradients, and the norm of differences of inputs that belongs to it.
NORMS = {
    "1": ("1-norm", "largest difference of a coordinate"),
    "2": ("squared 2-norm", "squared Euclidean distance"),
    "inf": ("entry", "sum of the differences of all coordinates"),
}


def lipschitz_words(claim: Any) -> str:
    """How fast outputs can change, and by which distance of inputs."""
    size, distance = NORMS[claim["norm"]]
    squared = "squared " if claim["norm"] == "2" else ""
    is_flat = claim["domain"]["equations"]  # gradients point out of the domain there
    gradient = "" if is_flat else f"; it is the largest {size} of a gradient"
    return (
        f"the largest quotient of the {squared}difference of an output among "
        f"{outputs_words(claim['outputs'])} and the {distance} is "
        f"{between_words(claim['at-least'], claim['at-most'])}{gradient}"
    )


def outputs_words(listed: Any) -> str:
    """Which outputs a claim is about."""
    names = ", ".join(map(str, listed[:LISTED_OUTPUTS]))
    if len(listed) > LISTED_OUTPUTS:
        return f"{len(listed)} of the outputs"
    return f"output {names}" if len(listed) == 1 else f"outputs {names}"


def deviation_words(claim: Any, outside: str) -> str:
    """How much two networks differ, and for which outputs."""
    which, low, high = outputs_words(claim["outputs"]), claim["at-least"], claim["at-most"]
    if outside:
        return (
            f"the values of {which} differ by at most {bare(high)} at every point{outside}, and "
            f"by at least {bare(low)} at a point of the domain"
        )
    return f"the largest difference of the values of {which} is {between_words(low, high)}"


def cells_sentence(theorem: str, claim: Any, network: Network) -> str:
    """The claim about the regions of a network, or about all its cells."""
    if claim["kind"] == "regions":
        cells = f"{counted(claim['count'], 'cell')} of full dimension"
    else:
        counts = list(enumerate(claim["f-vector"]))
        numbers = [f"{number} of dimension {k}" for k, number in counts if number]
        cells = f"these cells: {', '.join(numbers[:LISTED_DIMENSIONS])}"
        if len(numbers) > LISTED_DIMENSIONS:
            cells = f"{sum(claim['f-vector'])} cells, by dimension as claimed"
    end = "the leaves name a point inside each"
    if theorem != "regions":
        end = "the file lists the vertices, with the signs of all neurons there"
    head = f"The canonical complex of network {network.sha256[:12]}, {network}, on "
    return f"{head}{domain_words(claim['domain'])} has exactly {cells}; {end}."


def size_sentence(claim: Any, network: Network) -> str:
    """The claim about the size of all networks with one function."""
    place, _, there = competitors_words(claim)
    kind = f"plain stacks with affine output that are {claim['among']}{there}"
    members = "all networks" if claim["among"] == "all" else kind
    noun = "hidden layer" if claim["quantity"] == "hidden-layers" else "hidden neuron"
    bound = f"at least {counted(claim['at-least'], noun)}"
    shapes, condition = "with any widths and any number of layers", ""
    if claim["quantity"] == "neurons-of-one-layer":
        shapes, condition = "with any width", " with one hidden layer"
    return (
        f"{name_of(network)}, computes on {place} a function that needs a size of {bound} among "
        f"{members}{condition}: every one of them, {shapes}, that computes the same real "
        f"function{there} has {bound}."
    )


def dimension_sentence(claim: Any, network: Network) -> str:
    """The claim about the rank of derivatives by parameters."""
    low, high, place = claim["at-least"], claim["at-most"], domain_words(claim["domain"])
    bounds = f"exactly {low}" if low == high else f"at least {low} and at most {high}"
    return (
        f"{name_of(network)}, has a functional-dimension of {bounds} on {place}: the largest rank "
        "of the derivatives of its outputs by weights and biases, at finitely many points at which "
        "no neuron vanishes."
    )


def domain_words(domain: Any) -> str:
    """A domain, a long one by its numbers of constraints."""
    sizes = {key: len(domain[key]) for key in ("inequalities", "equations")}
    if not any(sizes.values()):
        return WHOLE_SPACE
    rows = list[str]()
    for key, sign in (("inequalities", "<="), ("equations", "=")):
        for row in domain[key][:DOMAIN_CHARACTERS]:
            if len(row) > DOMAIN_CHARACTERS:
                row = "0" * DOMAIN_CHARACTERS  # too long to be shown
            coefficients, _, constant = row.rpartition(" ")
            rows.append(f"({coefficients}).x {sign} {constant}")
    place = f"{{x : {', '.join(rows)}}}"
    counts = " and ".join(f"{size} {key}" for key, size in sizes.items())
    is_short = len(place) <= DOMAIN_CHARACTERS
    return place if is_short else cube_words(domain) or f"the set of the claim's {counts}"


def cube_words(domain: Any) -> str:
    """A domain that bounds every coordinate in one and the same way; empty for others."""
    sides, size = dict[int, set[str]](), 0
    for text in domain["inequalities"]:
        row = text.split(" ")
        size, used = len(row) - 1, [j for j, a in enumerate(row[:-1]) if a != "0"]
        if len(used) != 1 or len(text) > 2 * len(row) + DOMAIN_CHARACTERS:
            return ""
        side = sides.setdefault(used[0], set())
        side.add(f"({row[used[0]]}).x_j <= {row[-1]}")
        if len(side) > 2:
            return ""
    first = sides.get(0, set())
    is_cube = len(sides) == size and all(side == first for side in sides.values())
    if not is_cube or domain["equations"]:
        return ""
    return f"{{x : {', '.join(sorted(first))} for every coordinate j}}"


# ==== 3.3 Proofs ====


class Case:
    """What a rule is given: one claim, its networks, and the evidence for its hypotheses.

    `other` is the second network, or the only one. `lines` are the nodes of a tree file. `domain`
    is for a rule that needs the claim's domain in several places.
    """

    def __init__(
        self,
        networks: Sequence[Network],
        claim: Any,
        evidence: Mapping[str, Any],
        meter: Meter,
        lines: Any = None,
    ) -> None:
        self.network, self.other = networks[0], networks[-1]
        self.claim, self.evidence, self.meter, self.lines = claim, evidence, meter, lines
        self.domain: Any = None

    def hypothesis(self, name: str) -> Any:
        """The evidence for a hypothesis; from here on, failures belong to it."""
        self.meter.step = name
        return self.evidence[name]


Rule = Callable[[Case], None]


class Theorem(NamedTuple):
    """A theorem of certificates, with everything that belongs to it.

    `evidence` has the shape of the evidence by hypothesis, in order, and `says` what a hypothesis
    says when it is proved. Hypotheses in `optional` may be missing. `architecture` is the kind that
    claims name (3.13); it is empty for plain stacks, and where any networks are taken.
    """

    kind: str
    among: tuple[str, ...]  # empty for kinds of claims without competitors
    page: str
    evidence: Mapping[str, Any]
    says: Mapping[str, str]
    optional: tuple[str, ...]
    architecture: str
    rule: Rule


THEOREMS = dict[str, Theorem]()


def theorem(
    name: str,
    *,
    kind: str,
    page: str,
    evidence: Mapping[str, Any],
    says: Mapping[str, str],
    among: tuple[str, ...] = (),
    optional: tuple[str, ...] = (),
    architecture: str = "",
) -> Callable[[Rule], Rule]:
    """Enter a rule into the table of theorems."""

    def enter(rule: Rule) -> Rule:
        """Enter one rule, and return it unchanged."""
        page_of_docs = f"docs/{page}" if page.startswith("theory/") else page
        THEOREMS[name] = Theorem(
            kind, among, page_of_docs, evidence, says, optional, architecture, rule
        )
        return rule

    return enter


def layers_of(case: Case, depth: int) -> list[Layer]:
    """The layers of a network that has `depth` of them and an affine output."""
    case.meter.step = "theorem"
    network = case.network
    require(len(network.layers) == depth, f"L = {depth}", str(network))
    require(network.last == "affine", "an affine output", str(network))
    return network.layers


# -- Method: no vanishing subset sum

PRIMES = re.compile(f"{2**31 - 1}|{2**61 - 1}")
LARGE_PRIME = 2**61 - 1
MAX_DETERMINANT, MAX_SUMMANDS = 1_024, 40
SUBSETS = OneOf(
    (
        {"method": "independent", "prime": PRIMES, "entries": [(int, int)]},
        {"method": "subset-sums", "multiplier": NATURAL},
    )
)

#: The evidence on membership in a class (3.4).
MEMBERSHIP = OneOf(
    (
        {"status": "open"},
        {"status": "verified", "method": "every"},
        {"status": "verified", "method": "minors", "prime": PRIMES, "columns": [int]},
        {"status": "refuted", "method": "bias", "row": int},
        {"status": "refuted", "method": "product", "rows": [int], "column": int},
        {"status": "refuted", "method": "masks", "layer": int, "masks": [[int]]},
    )
)


def check_subset_sums(evidence: Any, lower: Layer, upper: Layer, meter: Meter) -> None:
    """No nonempty set of the matrices X_i = V_{.i} A_i has the sum 0."""
    meter.pay(2 * len(lower.rows) * len(lower.rows[0]), lower.bits)
    pairs = list(
        zip(zip(*upper.primitive_rows(), strict=True), lower.primitive_rows(), strict=True)
    )
    if evidence["method"] == "independent":
        check_independent(evidence, pairs, meter)
    else:
        check_all_sums(integer(evidence["multiplier"]), pairs, meter)


Pairs = list[tuple[tuple[int, ...], list[int]]]


def check_independent(evidence: Any, pairs: Pairs, meter: Meter) -> None:
    """Some entries of the X_i are a matrix with a determinant that is not 0 modulo a prime."""
    size, outputs, inputs = len(pairs), len(pairs[0][0]), len(pairs[0][1])
    entries, prime = evidence["entries"], int(evidence["prime"])
    require(all(k < inputs for _, k in entries), f"columns below {inputs}")
    in_order = [o * inputs + k for o, k in entries]
    check_indices(in_order, outputs * inputs, "entries", size)
    message = f"beyond the limits: a determinant of size above {MAX_DETERMINANT}"
    well_formed(size <= MAX_DETERMINANT, message)
    meter.pay_modular(2 * size * (size + outputs + inputs))
    reduced = [([x % prime for x in v], [x % prime for x in w]) for v, w in pairs]
    check_determinant([[v[o] * w[k] % prime for o, k in entries] for v, w in reduced], prime, meter)


def check_all_sums(multiplier: int, pairs: Pairs, meter: Meter) -> None:
    """No nonempty set of certain linear images of the X_i has a sum that is 0 modulo P."""
    p, outputs, inputs = LARGE_PRIME, len(pairs[0][0]), len(pairs[0][1])
    well_formed(multiplier < p, "beyond the limits: a multiplier above 2^61-2")
    message = f"beyond the limits: more than {MAX_SUMMANDS} neurons"
    well_formed(len(pairs) <= MAX_SUMMANDS, message)
    meter.pay_modular(60 * (outputs + inputs) + 4 * len(pairs) * (outputs + inputs))
    on_outputs = [pow(multiplier, o, p) for o in range(outputs)]
    on_columns = [pow(multiplier, outputs * k, p) for k in range(inputs)]
    values = [dot(v, on_outputs) % p * (dot(w, on_columns) % p) % p for v, w in pairs]
    half = len(values) // 2
    meter.pay_modular(6 << len(values) - half)
    meter.hold(4 << len(values) - half)
    factor = hash("factor") % (p - 1) + 1  # multiplied by it, nobody can make many hashes collide
    scaled = [factor * x % p for x in values]
    first, rest = ({s % p for s in nonempty_sums(part)} for part in (scaled[:half], scaled[half:]))
    fact = "nonzero subset sums mod 2^61-1"
    require(0 not in first, fact)
    require(0 not in rest, fact)
    require(not any(p - s in first for s in rest), fact)


def nonempty_sums(values: Sequence[int]) -> list[int]:
    """The sums of all nonempty subsets."""
    sums = [0]
    for x in values:
        sums += [s + x for s in sums]
    return sums[1:]


# ---- affine, shallow


INTERIOR = "the points are strictly inside the domain"


@theorem(
    "affine",
    kind="identifiable",
    among=("all",),
    page="theory/shallow.md",
    evidence={"inside": {"points": [[RATIONAL]]}},
    says={"inside": INTERIOR},
    optional=("inside",),
)
def affine(case: Case) -> None:
    """L = 1: f determines W and b, on any domain with an interior."""
    layers_of(case, 1)
    points_inside(case, 1)


def points_inside(case: Case, count: int) -> list[list[Fraction]]:
    """The listed points, strictly inside the claim's domain; none if this is R^n."""
    domain = domain_of_competitors(case)
    is_listed = "inside" in case.evidence
    is_wanted = case.claim["domain"] != WHOLE_SPACE
    case.meter.step = "inside"
    fact = "points inside the domain" if is_wanted else "no points for R^n"
    require(is_listed == is_wanted, fact, "none" if is_wanted else "some")
    if not is_wanted:
        return []
    texts = case.hypothesis("inside")["points"]
    require(len(texts) == count, f"{count} points", str(len(texts)))
    return [check_inside(domain, point, case.meter) for point in texts]


def check_whole_space(case: Case) -> None:
    """The proof of the theorem needs all of R^n."""
    case.meter.step = "claim"
    require(case.claim["domain"] == WHOLE_SPACE, "the domain R^n", "another one")


#: Maximum number of pairs (D, eps) of an assignment.
MAX_PAIRS = 2**16


class Hyperplane(NamedTuple):
    """A hyperplane h, and the neurons (scale, index) whose rows [w|b] are scale * h."""

    h: Row
    neurons: list[tuple[int, int]]

    def own_sign(self) -> int:
        """The sign of its one neuron against h; 0 if it carries two."""
        return 0 if len(self.neurons) == 2 else 1 if self.neurons[0][0] > 0 else -1

    def bend(self, upper: Layer) -> list[int]:
        """Twice the coefficient of |h|, times both denominators."""
        return [sum(v[i] * abs(scale) for scale, i in self.neurons) for v in upper.rows]


@theorem(
    "shallow",
    kind="identifiable",
    among=("all",),
    page="theory/shallow.md",
    evidence={
        "inside": {"points": [[RATIONAL]]},
        "visible": {},
        "unique": OneOf((*SUBSETS, {"method": "assignments"})),
    },
    says={
        "inside": f"{INTERIOR}, and each neuron of layer 1 is 0 at its point",
        "visible": "rows, columns and doubled hyperplanes do not vanish, and no two rows are "
        "positive multiples",
        "unique": "no other orientations give this function",
    },
    optional=("inside",),
)
def shallow(case: Case) -> None:
    """L = 2: every neuron is visible, and no other orientations give the same linear part.

    On a domain every hyperplane has to meet its interior, and none may be doubled: a neuron to
    spare could bend outside of the domain.
    """
    lower, upper = layers_of(case, 2)
    points = points_inside(case, len(lower.rows))
    for i, x in enumerate(points):
        check_zero(lower, i, x, case.meter)
    case.hypothesis("visible")
    require(all(map(any, lower.rows)), "every w_i nonzero", "a zero row")
    require(all(map(any, upper.columns())), "every v_i nonzero", "a zero column")
    planes = hyperplanes_of(lower, case.meter)
    for plane in planes:
        signs = {scale > 0 for scale, _ in plane.neurons}
        require(len(signs) == len(plane.neurons), "no rows that are positive multiples")
    case.meter.pay(2 * len(lower.rows) * len(upper.rows), upper.bits, lower.bits)
    bends = [plane.bend(upper) for plane in planes]
    require(all(map(any, bends)), "v_i + lambda v_k nonzero at doubled hyperplanes", "zero")

    evidence = case.hypothesis("unique")
    is_doubled = len(planes) < len(lower.rows)
    is_assigned = evidence["method"] == "assignments"
    require(not (points and is_doubled), "no doubled hyperplane on a domain", "one")
    require(is_assigned == is_doubled, "the method for this network", evidence["method"])
    if is_assigned:
        Assignments(lower, upper, planes, bends, case.meter).check()
    else:
        check_subset_sums(evidence, lower, upper, case.meter)


def check_zero(layer: Layer, i: int, x: list[Fraction], meter: Meter) -> None:
    """Neuron i of layer 1 is 0 at a point."""
    scale = common_denominator(x, "a common denominator of a point", meter)
    point = [*scaled_point(x, scale, meter), scale]
    meter.pay(len(point), longest([point]), layer.bits)
    value = dot([*layer.rows[i], layer.bias[i]], point)
    require(value == 0, "a point where its neuron is 0", "another value")


def hyperplanes_of(lower: Layer, meter: Meter) -> list[Hyperplane]:
    """The hyperplanes of the neurons of layer 1, each once."""
    rows = [(*primitive_plane(row, meter), i) for i, row in enumerate(lower.augmented())]
    meter.pay(8 * len(rows) * len(rows).bit_length(), lower.bits)
    rows.sort()
    groups = groupby(rows, lambda entry: entry[0])
    return [Hyperplane(h, [(scale, i) for _, scale, i in group]) for h, group in groups]


class Assignments:
    """The method for networks with doubled hyperplanes.

    M is `slope`, C_k is `bends[k]`, both times twice the denominators of both layers. Rows of R and
    h_k lie in the row space of W[1], columns of R in the column space of W[2], so that some columns
    and rows are enough for ranks.
    """

    def __init__(
        self,
        lower: Layer,
        upper: Layer,
        planes: Sequence[Hyperplane],
        bends: Matrix,
        meter: Meter,
    ) -> None:
        self.own, self.meter = tuple(plane.own_sign() for plane in planes), meter
        self.num_doubled = self.own.count(0)
        self.sizes = range(self.num_doubled % 2, self.num_doubled + 1, 2)
        self.count_pairs()
        inputs = pivot_columns(lower.rows, meter)
        outputs = pivot_columns(upper.columns(), meter)
        self.linear = [[plane.h[k] for k in inputs] for plane in planes]
        self.slope = [
            [sum(v * w[k] for v, w in zip(upper.rows[o], lower.rows, strict=True)) for k in inputs]
            for o in outputs
        ]
        self.parts = [
            [[bend[o] * x for x in h] for o in outputs]
            for h, bend in zip(self.linear, bends, strict=True)
        ]

    def count_pairs(self) -> None:
        """There are few pairs (D, eps); each of them is paid for, and its rank later."""
        p, count = len(self.own), MAX_PAIRS + 1
        if p <= 64:
            count = sum(math.comb(p, size) << (p - size) for size in self.sizes)
        message = f"beyond the limits: more than {MAX_PAIRS} pairs (D, eps)"
        well_formed(count <= MAX_PAIRS, message)
        self.meter.pay(count * p * p)

    def check(self) -> None:
        """The conditions on ranks, for every D and eps."""
        doubled = [h for h, sign in zip(self.linear, self.own, strict=True) if not sign]
        is_independent = len(pivot_columns(doubled, self.meter)) == self.num_doubled
        require(is_independent, "doubled hyperplanes with independent linear parts")
        places = range(len(self.own))
        for free in chain.from_iterable(combinations(places, size) for size in self.sizes):
            kernel = [self.linear[k] for k in free]
            for signs in product(*((0,) if k in free else (1, -1) for k in places)):
                if signs != self.own:
                    left = self.rank_on_kernel(kernel, signs)
                    needed = (self.num_doubled - len(free)) // 2
                    require(left > needed, "only the network's own assignment", f"rank {left}")

    def rank_on_kernel(self, kernel: Matrix, signs: Sequence[int]) -> int:
        """The rank of R(D, eps) restricted to the common kernel of the h_k, k in D."""
        size = len(self.own) * len(self.slope)
        self.meter.pay(size * len(self.slope[0]) if self.slope else 0, longest(self.slope))
        rest = [
            [
                x - sum(s * part[o][k] for s, part in zip(signs, self.parts, strict=True))
                for k, x in enumerate(row)
            ]
            for o, row in enumerate(self.slope)
        ]
        together = pivot_columns([*kernel, *rest], self.meter)
        return len(together) - len(pivot_columns(kernel, self.meter))


# ---- line


@theorem(
    "line",
    kind="identifiable",
    among=("all",),
    page="theory/line.md",
    evidence={"direction": {}, "bends": {}, "unique": SUBSETS},
    says={
        "direction": "the first layer is not constant",
        "bends": "all bends of the second layer are there and different",
        "unique": "no other orientations give this function",
    },
)
def line(case: Case) -> None:
    """L = 3, n_1 = 1: the breakpoints on the line fix everything up to orientations."""
    check_whole_space(case)
    first, lower, upper = layers_of(case, 3)
    require(len(first.rows) == 1, "n_1 = 1", str(case.network))
    case.hypothesis("direction")
    require(any(first.rows[0]), "W[1] nonzero", "zero")
    case.hypothesis("bends")
    bends = [(row[0], a) for row, a in zip(lower.rows, lower.bias, strict=True)]
    require(all(x > 0 > a or x < 0 < a for x, a in bends), "A_i a_i < 0 for every i")
    quotients = {primitive_plane(bend, case.meter)[0] for bend in bends}
    require(len(quotients) == len(bends), "pairwise different quotients a_i/A_i")
    require(any(x > 0 for x, _ in bends), "some A_i > 0", "one sign only")
    require(any(x < 0 for x, _ in bends), "some A_i < 0", "one sign only")
    check_subset_sums(case.hypothesis("unique"), lower, upper, case.meter)


# ---- bottleneck

WITNESS = OneOf(({"row": int, "positive": [(int, RATIONAL)]}, {"flat": True}))


@theorem(
    "bottleneck",
    kind="identifiable",
    among=("generic",),
    page="theory/bottleneck.md",
    evidence={
        "rank": {"prime": PRIMES, "columns": [int]},
        "rows": {},
        "unique": SUBSETS,
        "hyperplanes": {"witnesses": [WITNESS]},
        "membership": MEMBERSHIP,
    },
    optional=("unique",),
    says={
        "rank": "W[1] has full row rank",
        "rows": "second-layer hyperplanes are visible and different",
        "unique": "no other orientations give this function",
        "hyperplanes": "every first-layer hyperplane has a witness",
    },
)
def bottleneck(case: Case) -> None:
    """L = 3, n_1 >= 2, among generic competitors: Theorem P."""
    check_whole_space(case)
    first, lower, upper = layers_of(case, 3)
    require(len(first.rows) >= 2, "n_1 >= 2", str(case.network))
    check_rank(case.hypothesis("rank"), first, case.meter)

    case.hypothesis("rows")
    rows = lower.augmented()
    require(all(min(row) < 0 for row in rows), "a negative entry in every row [A_i|a_i]")
    require(all(max(row) > 0 for row in rows), "a positive entry in every row [A_i|a_i]")
    planes = {primitive_plane(row, case.meter)[0] for row in rows}
    require(len(planes) == len(rows), "no rows [A_i|a_i] that are multiples")
    require(all(map(any, upper.columns())), "nonzero columns of V", "a zero column")

    if "unique" in case.evidence:  # superfluous, and still true in old certificates
        check_subset_sums(case.hypothesis("unique"), lower, upper, case.meter)

    witnesses = case.hypothesis("hyperplanes")["witnesses"]
    require(len(witnesses) == len(first.rows), f"{len(first.rows)} witnesses", str(len(witnesses)))
    for j, witness in enumerate(witnesses):
        if "flat" in witness:
            check_flat(lower, upper, j, case.meter)
        else:
            check_corner(lower, upper, j, witness, case.meter)


def check_rank(evidence: Any, layer: Layer, meter: Meter) -> None:
    """W[1] has full row rank: a maximal minor is nonzero modulo a prime."""
    columns, prime, size = evidence["columns"], int(evidence["prime"]), len(layer.rows)
    check_indices(columns, len(layer.rows[0]), "columns", size)
    message = f"beyond the limits: a determinant of size above {MAX_DETERMINANT}"
    well_formed(size <= MAX_DETERMINANT, message)
    bits = layer.bits
    meter.pay(2 * size * len(layer.rows[0]), bits, bits)
    rows = [[row[c] for c in columns] for row in layer.primitive_rows()]
    check_determinant(rows, prime, meter)


def check_corner(lower: Layer, upper: Layer, j: int, witness: Any, meter: Meter) -> None:
    """Condition (c) at a point z, z_j = 0: all h but h_i are nonzero, and the gradient jumps."""
    i, place = witness["row"], f"j = {j}"
    point = {k: rational(x, meter) for k, x in witness["positive"]}
    check_indices([k for k, _ in witness["positive"]], len(lower.rows[0]), "coordinates")
    require(i < len(lower.rows), "a row of A", place)
    require(j not in point, "z_j = 0", place)
    require(all(x > 0 for x in point.values()), "listed z_k > 0", place)
    h = values_at(lower, point, meter)
    row = lower.rows[i]
    require(h[i] == 0, f"h_{i} = 0", place)
    require(h.count(0) == 1, f"h_k nonzero for every k but {i}", place)
    require(row[j] != 0, "A_ij nonzero", place)
    require(any(row[k] for k in point), "some A_ik nonzero with z_k > 0", place)
    active = [k for k, x in enumerate(h) if x > 0]
    if not active:
        return
    meter.pay((len(active) + 2) * len(upper.rows), upper.bits, lower.bits)
    jump = [sum(v[k] * lower.rows[k][j] for k in active) for v in upper.rows]
    require(any(jump), "J nonzero", place)
    across = [x + v[i] * row[j] for x, v in zip(jump, upper.rows, strict=True)]
    require(any(across), "J + V_i A_ij nonzero", place)


def values_at(lower: Layer, point: dict[int, Any], meter: Meter) -> list[int]:
    """The numbers h at the point z that has some coordinates > 0, all times a positive number."""
    scale = common_denominator(point.values(), "a common denominator", meter)
    scaled = [(k, x.numerator * (scale // x.denominator)) for k, x in point.items()]
    bits = longest([[scale], [x for _, x in scaled]])
    meter.pay(len(scaled) + len(lower.rows) * (len(scaled) + 1), bits, lower.bits)
    return [
        sum(w[k] * x for k, x in scaled) + a * scale
        for w, a in zip(lower.rows, lower.bias, strict=True)
    ]


def check_flat(lower: Layer, upper: Layer, j: int, meter: Meter) -> None:
    """Condition (c'): on z_j = 0 every h_i has one sign, and the gradient jumps there."""
    meter.pay(len(lower.rows) * (len(lower.rows[0]) + len(upper.rows)), lower.bits, upper.bits)
    for row, a in zip(lower.rows, lower.bias, strict=True):
        others = [x for k, x in enumerate(row) if k != j]
        is_positive, is_negative = a > 0 and min(others) >= 0, a < 0 and max(others) <= 0
        require(is_positive or is_negative, "every h_i of one sign where z_j = 0", f"j = {j}")
    active = [k for k, a in enumerate(lower.bias) if a > 0]
    jumps = any(sum(v[k] * lower.rows[k][j] for k in active) for v in upper.rows)
    require(jumps, "a nonzero sum of V_i A_ij over a_i > 0", f"j = {j}")


# ---- trailing-affine, trailing-shallow

POSITIVE = {"points": [[RATIONAL]]}


def layers_before_relu(case: Case, depth: int) -> list[Layer]:
    """The layers of a plain stack that has `depth` of them and ends in a ReLU."""
    case.meter.step = "theorem"
    network = case.network
    require(len(network.layers) == depth, f"L = {depth}", str(network))
    require(network.last == "relu", "a ReLU at the outputs", str(network))
    return network.layers


def positive_points_of(case: Case, count: int) -> list[list[Fraction]]:
    """The listed points of hypothesis `positive`, strictly inside the domain."""
    domain, size = domain_of_competitors(case), case.network.widths[0]
    texts, points = case.hypothesis("positive")["points"], list[list[Fraction]]()
    require(len(texts) == count, f"{count} points", str(len(texts)))
    for text in texts:
        if case.claim["domain"] == WHOLE_SPACE:
            require(len(text) == size, f"{size} coordinates", str(len(text)))
            points.append(rationals(text, case.meter))
        else:
            points.append(check_inside(domain, text, case.meter))
    return points


@theorem(
    "trailing-affine",
    kind="identifiable",
    among=("all",),
    page="theory/shallow.md",
    evidence={"positive": POSITIVE},
    says={"positive": "each output is positive at its point, strictly inside the domain"},
)
def trailing_affine(case: Case) -> None:
    """L = 1, a ReLU at the outputs: each output is positive at its point."""
    (layer,) = layers_before_relu(case, 1)
    for o, x in enumerate(positive_points_of(case, len(layer.rows))):
        value = outputs(case.network, x, case.meter)[o]
        require(value > 0, f"a point where output {o} is positive", "another one")


@theorem(
    "trailing-shallow",
    kind="identifiable",
    among=("all",),
    page="theory/shallow.md",
    evidence={"positive": POSITIVE, "visible": {}, "unique": SUBSETS},
    says={
        "positive": "each neuron of layer 1 is 0, and all outputs are positive, at its point, "
        "strictly inside the domain",
        "visible": "rows and columns do not vanish, and no two neurons share a hyperplane",
        "unique": "no other orientations give this function",
    },
)
def trailing_shallow(case: Case) -> None:
    """L = 2, a ReLU at the outputs: each hyperplane is seen where all outputs are positive."""
    lower, upper = layers_before_relu(case, 2)
    for i, x in enumerate(positive_points_of(case, len(lower.rows))):
        check_zero(lower, i, x, case.meter)
        values = outputs(case.network, x, case.meter)
        require(all(a > 0 for a in values), "a point where all outputs are positive", "a zero")
    case.hypothesis("visible")
    require(all(map(any, lower.rows)), "every w_i nonzero", "a zero row")
    require(all(map(any, upper.columns())), "every v_i nonzero", "a zero column")
    planes = hyperplanes_of(lower, case.meter)
    require(len(planes) == len(lower.rows), "different hyperplanes", "a doubled one")
    check_subset_sums(case.hypothesis("unique"), lower, upper, case.meter)


# ---- Refutations: translation, flip, line-equal


def refutation(name: str, page: str, evidence: Mapping[str, Any]) -> Callable[[Rule], Rule]:
    """Enter a rule that checks `same-function`; the other hypotheses are common to all."""

    def enter(same_function: Rule) -> Rule:
        """Register the whole refutation, and return the given rule unchanged."""

        def check_all(case: Case) -> None:
            """Check all hypotheses of the refutation."""
            check_refutation(case, same_function)

        theorem(
            name,
            kind="not-identifiable",
            among=("all", "generic"),
            page=page,
            evidence={
                "architecture": {},
                "same-function": evidence,
                "not-related": {"layer": int},
                "membership": MEMBERSHIP,
            },
            says={
                "architecture": "both networks have one architecture",
                "same-function": "they compute the same real function on the domain",
                "not-related": "they differ in an invariant of permutations and positive scalings",
            },
        )(check_all)
        return same_function

    return enter


def check_refutation(case: Case, same_function: Rule) -> None:
    """The hypotheses in their order; membership of `other` is checked by the caller."""
    one, two = case.network, case.other
    case.domain = domain_of_competitors(case)
    case.hypothesis("architecture")
    require(one.widths == two.widths, "equal widths", f"{one}; {two}")
    require(one.last == two.last, "equal last activations", f"{one}; {two}")
    case.hypothesis("same-function")
    same_function(case)
    layer, numbers = case.hypothesis("not-related")["layer"], dict[Row, int]()
    require(1 <= layer <= len(one.layers), "a layer of the networks", str(layer))
    mine, others = (invariants(network, layer, numbers, case.meter) for network in (one, two))
    require(mine != others, "different invariants", "equal ones")


class Changed(NamedTuple):
    """The layers l and l+1 in which two networks may differ, l = `number`."""

    number: int
    lower: Layer
    upper: Layer
    others: tuple[Layer, Layer]


def changed_layers(case: Case, count: int = 2) -> Changed:
    """The evidence's layer l; all layers but `count` of them from l on are equal."""
    one, two, number = case.network, case.other, case.evidence["same-function"]["layer"]
    last = len(one.layers)
    require(1 <= number < last, f"a layer from 1 to {last - 1}", str(number))
    for k, (mine, others) in enumerate(zip(one.layers, two.layers, strict=True), 1):
        if not number <= k < number + count:
            require(mine == others, f"equal layers {k}", "different ones")
    changed = two.layers[number - 1], two.layers[number]
    return Changed(number, one.layers[number - 1], one.layers[number], changed)


def changed_neuron(case: Case, changed: Changed) -> int:
    """The evidence's neuron j of layer l; layer l+1 is hidden."""
    j: int = case.evidence["same-function"]["neuron"]
    is_hidden = changed.number + 1 <= case.network.num_hidden_layers()
    require(is_hidden, "a layer below a hidden one", f"layer {changed.number}")
    require(j < len(changed.lower.rows), f"a neuron of layer {changed.number}", str(j))
    return j


def check_layer(layer: Layer, rows: Matrix, denominator: int, meter: Meter) -> None:
    """The layer of `other` is the given [W|b] over the given denominator."""
    size = sum(map(len, rows))
    meter.pay(size, longest(rows), layer.denominator.bit_length())
    meter.pay(size, layer.bits, denominator.bit_length())
    for mine, others in zip(rows, layer.augmented(), strict=True):
        same = [x * layer.denominator for x in mine] == [x * denominator for x in others]
        require(same, "the layers of `other` as the theorem says", "another one")


# -- translation, flip


@refutation(
    "translation",
    "theory/hidden_hyperplanes.md",
    {"layer": int, "neuron": int, "shift": RATIONAL},
)
def translation(case: Case) -> None:
    """A neuron is shifted that alone has positive weights in the next layer."""
    changed, meter = changed_layers(case), case.meter
    j = changed_neuron(case, changed)
    p, q = rational(case.evidence["same-function"]["shift"], meter).as_integer_ratio()
    lower, upper = changed.lower, changed.upper
    sizes = sum(len(layer.rows) * (len(layer.rows[0]) + 1) for layer in (lower, upper))
    bits = max(p.bit_length(), q.bit_length())
    meter.pay(sizes, max(lower.bits, upper.bits), bits)
    below, above = ([[q * x for x in row] for row in layer.augmented()] for layer in (lower, upper))
    below[j][-1] += p * lower.denominator
    for i, (row, b) in enumerate(zip(upper.rows, upper.bias, strict=True)):
        require(row[j] >= 0, "W_ij >= 0", f"i = {i}")
        require(all(x <= 0 for k, x in enumerate(row) if k != j), "W_ik <= 0", f"i = {i}")
        require(b <= 0, "b_i <= 0", f"i = {i}")
        require(b * q <= p * row[j], "b_i <= t W_ij", f"i = {i}")
        above[i][-1] -= p * row[j]
    check_layer(changed.others[0], below, q * lower.denominator, meter)
    check_layer(changed.others[1], above, q * upper.denominator, meter)


@refutation("flip", "theory/hidden_hyperplanes.md", {"layer": int, "neuron": int, "flipped": [int]})
def flip(case: Case) -> None:
    """Neurons beside a hidden one are negated, with a single neuron in the next layer.

    Layer l of `other` is computed over the denominator times w_j; in |w_k|/w_j the denominator of w
    cancels.
    """
    changed, meter = changed_layers(case, count=1), case.meter
    j, flipped = changed_neuron(case, changed), case.evidence["same-function"]["flipped"]
    w, bias, old = changed.upper.rows[0], changed.upper.bias[0], changed.lower.augmented()
    check_indices(flipped, len(w), "neurons to flip")
    require(len(flipped) > 0, "neurons to flip", "none")
    require(j not in flipped, "neurons k != j to flip", f"j = {j}")
    require(len(changed.upper.rows) == 1, "one neuron in layer l+1")
    require(w[j] > 0, "w_j > 0")
    require(all(x <= 0 for k, x in enumerate(w) if k != j), "w_k <= 0 for k != j")
    require(bias <= 0, "a bias <= 0 in layer l+1")
    meter.pay((len(old) + len(flipped)) * len(old[0]), changed.lower.bits, longest([w]))
    rows = [[w[j] * x for x in row] for row in old]
    for k in flipped:
        rows[k] = [-x for x in rows[k]]
        rows[j] = [x + w[k] * y for x, y in zip(rows[j], old[k], strict=True)]  # w_k = -|w_k|
    check_layer(changed.others[0], rows, changed.lower.denominator * w[j], meter)


# -- line-equal


@refutation("line-equal", "theory/line.md", {})
def line_equal(case: Case) -> None:
    """L = 3, n_1 = 1, W[1] parallel: two piecewise affine functions of one variable are equal.

    The input t on one axis c decides. The functions are equal iff they agree at all breakpoints of
    both and at a point beyond either end.
    """
    one, two, meter = case.network, case.other, case.meter
    require(len(one.layers) == 3, "L = 3", str(one))
    require(one.last == "affine", "an affine output", str(one))
    require(one.widths[1] == 1, "n_1 = 1", str(one))
    r, s = one.layers[0].rows[0], two.layers[0].rows[0]
    c = next((k for k, x in enumerate(r) if x), 0)
    require(r[c] != 0, "a nonzero row W[1] of the network", "zero")
    require(s[c] != 0, "a row W[1] of `other` that is parallel to it", "a zero entry")
    bits = longest([r, s])
    meter.pay(2 * len(r), bits, bits)
    require(all(x * s[c] == y * r[c] for x, y in zip(r, s, strict=True)), "parallel rows W[1]")
    points = sorted_breakpoints(case, c)
    for t in (points[0] - 1, *points, points[-1] + 1):
        same = on_axis(one, c, t, meter) == on_axis(two, c, t, meter)
        require(same, "equal values at breakpoints", "different ones")


def sorted_breakpoints(case: Case, c: int) -> list[Fraction]:
    """The inputs on axis c where a neuron vanishes."""
    points = list[Fraction]()
    for network in (case.network, case.other):
        first, lower, _ = network.layers
        zeros = [
            Fraction(-a, row[0]) for row, a in zip(lower.rows, lower.bias, strict=True) if row[0]
        ]
        case.meter.pay(34 * (len(zeros) + 1))
        case.meter.pay_divisions(6 * (len(zeros) + 1), lower.bits + first.bits, first.bits)
        for u in (Fraction(0), *zeros):
            points.append((u * first.denominator - first.bias[0]) / first.rows[0][c])
    bits = max(x.numerator.bit_length() + x.denominator.bit_length() for x in points)
    case.meter.pay(4 * len(points) * len(points).bit_length(), bits, bits)
    points.sort()
    return [x for k, x in enumerate(points) if k == 0 or x != points[k - 1]]


def on_axis(network: Network, c: int, t: Fraction, meter: Meter) -> list[Fraction]:
    """The outputs where coordinate c of the input is t and the others are 0, if n_1 = 1."""
    first, lower, upper = network.layers
    z = (first.rows[0][c] * t + first.bias[0]) / first.denominator
    p, q = max(z, Fraction(0)).as_integer_ratio()
    bits = max(p.bit_length(), q.bit_length())
    meter.pay(4 * len(lower.rows) + 20, lower.bits, bits)
    active = [max(row[0] * p + a * q, 0) for row, a in zip(lower.rows, lower.bias, strict=True)]
    q *= lower.denominator
    meter.pay(len(upper.rows) * (len(active) + 10), longest([active, [q]]), upper.bits)
    scale = q * upper.denominator
    rows = zip(upper.rows, upper.bias, strict=True)
    return [Fraction(dot(v, active) + b * q, scale) for v, b in rows]


# ---- Refutations: replacement, bounded-replacement


@refutation("replacement", "theory/shallow.md", {"layer": int})
def replacement(case: Case) -> None:
    """The maps of layers l and l+1 agree on R^n or, behind a hidden layer, on the orthant.

    This is `bounded-replacement` on a larger box.
    """
    changed = changed_layers(case)
    check_maps(changed, largest_box(changed), case.meter)


@refutation("bounded-replacement", "theory/box.md", {"layer": int})
def bounded_replacement(case: Case) -> None:
    """The maps of layers l and l+1 agree on the box that interval arithmetic gives."""
    changed, inputs = changed_layers(case), box_of_inputs(case)
    box = image_box(case.network, inputs, changed.number - 1, case.meter)
    check_maps(changed, box, case.meter)


#: A lower or an upper end of an interval; None is infinite.
End = int | None


class Box(NamedTuple):
    """Lower and upper ends of coordinates, over one denominator."""

    lower: list[End]
    upper: list[End]
    denominator: int

    def bits(self) -> int:
        """The bits of the longest number."""
        return longest([[x or 0 for x in (*self.lower, *self.upper)], [self.denominator]])

    def supremum(self, row: Sequence[int], sign: int = 1) -> End:
        """The largest value of sign * row.(u, 1) on the box, times the denominator."""
        total = sign * row[-1] * self.denominator
        for w, low, high in zip(row[:-1], self.lower, self.upper, strict=True):
            if w:
                end = high if sign * w > 0 else low
                if end is None:
                    return None
                total += sign * w * end
        return total


def largest_box(changed: Changed) -> Box:
    """What layer l reads: R^n, or the orthant behind a hidden layer."""
    size = len(changed.lower.rows[0])
    return Box([None if changed.number == 1 else 0] * size, [None] * size, 1)


def box_of_inputs(case: Case) -> Box:
    """The box around the domain that its inequalities in one coordinate give."""
    sides, size = case.domain.sides, case.network.widths[0]
    scale = common_denominator([*sides.values()], "a common denominator of sides", case.meter)
    case.meter.pay_divisions(2 * len(sides), scale.bit_length(), scale.bit_length())
    lower, upper = (
        [
            None if (x := sides.get((j, is_lower))) is None else int(x * scale)
            for j in range(1, size + 1)
        ]
        for is_lower in (True, False)
    )
    pairs = zip(lower, upper, strict=True)
    consistent = all(low is None or high is None or low <= high for low, high in pairs)
    require(consistent, "a domain that is not empty", "sides that exclude each other")
    return Box(lower, upper, scale)


def image_box(network: Network, box: Box, depth: int, meter: Meter) -> Box:
    """A box that holds the activations of a hidden layer for all inputs in a box."""
    for layer in network.layers[:depth]:
        bits = box.bits() + layer.bits
        message = f"beyond the limits: a box with ends of more than {GROWN_BITS} bits"
        well_formed(bits <= GROWN_BITS, message)
        meter.pay(4 * len(layer.rows) * (len(box.lower) + 1), box.bits(), layer.bits)
        rows = layer.augmented()
        lowest, highest = ([box.supremum(row, sign) for row in rows] for sign in (-1, 1))
        box = Box(
            [max(-x, 0) if x is not None else 0 for x in lowest],
            [max(x, 0) if x is not None else None for x in highest],
            box.denominator * layer.denominator,
        )
    return box


def check_maps(changed: Changed, box: Box, meter: Meter) -> None:
    """The maps of layers l and l+1 of two networks agree on a box."""
    AbsoluteValueForm(changed, box, meter).check()


class AbsoluteValueForm:
    """The difference of two maps u -> V max(W u + b, 0) + c on a box, as a sum of |h|.

    Coordinates with equal ends are put in; over the others, which have an interior, `common` times
    the difference is a sum of terms[h, s] max(s h.(u, 1), 0), h as in `primitive_plane`, s a sign,
    plus an affine map: its constants, and in `linear` the rows of it that are not constant.
    """

    def __init__(self, changed: Changed, box: Box, meter: Meter) -> None:
        self.meter, self.terms = meter, dict[tuple[Row, int], list[int]]()
        self.linear = dict[int, list[int]]()
        ends = list(enumerate(zip(box.lower, box.upper, strict=True)))
        self.free = [k for k, (x, y) in ends if x is None or x != y]
        self.fixed = [(k, x) for k, (x, y) in ends if x is not None and x == y]
        lower, upper = ([side[k] for k in self.free] for side in (box.lower, box.upper))
        self.box, self.box_bits = Box(lower, upper, box.denominator), box.bits()
        self.constant = [0] * len(changed.upper.rows)
        pairs = ((changed.lower, changed.upper), changed.others)
        self.common = 1
        for first, second in pairs:
            product = first.denominator * second.denominator
            self.common = self.common * product // math.gcd(self.common, product)
        for sign, (first, second) in zip((1, -1), pairs, strict=True):
            self.add(sign * self.common // (first.denominator * second.denominator), first, second)

    def add(self, factor: int, lower: Layer, upper: Layer) -> None:
        """Add a multiple of one of the maps, times both denominators."""
        scale, num_outputs = self.box.denominator, len(upper.rows)
        self.meter.pay(2 * sum(map(len, lower.rows)), lower.bits, self.box_bits)
        columns = upper.columns()
        for row, column in zip(lower.augmented(), columns, strict=True):
            constant = row[-1] * scale + sum(row[k] * x for k, x in self.fixed)
            restricted = [*(row[k] * scale for k in self.free), constant]
            h, size = primitive_plane(restricted, self.meter)
            weight = factor * abs(size)
            self.meter.pay(2 * num_outputs, weight.bit_length(), longest([column]))
            key = h, -1 if size < 0 else 1
            old = self.terms.get(key) or [0] * num_outputs
            self.terms[key] = [x + weight * y for x, y in zip(old, column, strict=True)]
        for o, b in enumerate(upper.bias):
            self.constant[o] += 2 * factor * lower.denominator * scale * b

    def add_linear(self, factor: int, rows: Matrix) -> None:
        """Add a multiple of a linear map of all coordinates, times `common`."""
        scale, size = self.box.denominator, len(rows) * len(rows[0])
        bits = longest(rows) + factor.bit_length()
        self.meter.pay(4 * size, bits, self.box_bits)
        self.meter.hold(cells_of(size, bits + self.box_bits))
        for o, row in enumerate(rows):
            old = self.linear.get(o) or [0] * len(self.free)
            own = [2 * factor * scale * row[k] for k in self.free]
            self.linear[o] = [x + y for x, y in zip(old, own, strict=True)]
            self.constant[o] += 2 * factor * sum(row[k] * x for k, x in self.fixed)

    def check(self) -> None:
        """All coefficients of |h| are zero, and so is the affine rest."""
        left = {key: value for key, value in self.terms.items() if any(value)}
        bits = longest([*left.values(), [self.common]])
        size = len(left) * (len(self.free) + 1)
        self.meter.pay(2 * size, self.box_bits, longest(h for h, _ in left))
        self.meter.pay(size * len(self.constant), bits, longest(h for h, _ in left))
        slopes = {
            (h, sign): self.twice_the_slope(h, sign, coefficient, left)
            for (h, sign), coefficient in left.items()
        }
        for o, constant in enumerate(self.constant):
            affine = [*self.linear.get(o, []), constant]
            for (h, sign), slope in slopes.items():
                if c := slope * left[h, sign][o]:
                    affine = affine if len(affine) == len(h) else [*([0] * (len(h) - 1)), constant]
                    affine = [x + c * y for x, y in zip(affine, h, strict=True)]
            require(not any(affine), "equal affine parts", "different ones")

    def twice_the_slope(
        self, h: Row, sign: int, coefficient: list[int], left: Mapping[tuple[Row, int], list[int]]
    ) -> int:
        """The factor of h in twice the affine part of max(t, 0), t = sign h.(u, 1) on the box.

        2 max(t, 0) is |t| + t where t changes its sign, 2t where t >= 0, and 0 where t <= 0.
        """
        highest, lowest = self.box.supremum(h), self.box.supremum(h, -1)
        is_positive = highest is None or highest > 0
        is_negative = lowest is None or lowest > 0
        if is_positive and is_negative:
            opposite = left.get((h, -sign), [])
            cancels = [-x for x in coefficient] == opposite
            require(cancels, "equal coefficients of |h|", "different ones")
            return sign
        is_active = is_positive if sign > 0 else is_negative
        return 2 * sign if is_active else 0


# ---- Refutations: one-sided

MULTIPLES = [(int, NATURAL)]
SIGN_MARK = re.compile("[+-]")


class Facts:
    """Forms that are >= 0 on the domain or, with a source, wherever the source is on there.

    Facts 2k and 2k+1 are a and d a - t of neuron k, as a = max(t/d, 0); from 2N on come `more`: 1,
    what the source adds, the slacks of the domain, what steps add. The N neurons of layers before
    layer `number` are numbered from 0, layer by layer; `source` has the number of the source, if
    there is one. Symbols: 0 for 1, then the inputs, then the neurons.
    """

    def __init__(self, case: Case, number: int, source: list[int]) -> None:
        network = case.network
        self.layers, self.meter, self.more = network.layers, case.meter, [{0: 1}]
        self.starts = list(accumulate(network.widths[:number], initial=1))
        self.num_neurons = self.starts[-1] - self.starts[1]
        for k in source:
            own, t = self.neuron(k)
            self.more.append(added(t, own, -1))
        self.more.extend(case.domain.slacks)

    def form(self, blocks: Sequence[tuple[int, Sequence[int]]], bias: int) -> Form:
        """Weights on layers, each with its number, and a bias as a form."""
        self.meter.pay(2 * (1 + sum(len(row) for _, row in blocks)))
        form = {0: bias}
        for source, row in blocks:
            form.update(enumerate(row, self.starts[source]))
        return form

    def neuron(self, k: int) -> tuple[Form, Form]:
        """The forms d a and t of neuron k."""
        symbol = self.starts[1] + k
        number = bisect(self.starts, symbol) - 1
        layer, i = self.layers[number - 1], symbol - self.starts[number]
        blocks = [(source, rows[i]) for source, rows in (*layer.earlier, (number - 1, layer.rows))]
        return {symbol: layer.denominator}, self.form(blocks, layer.bias[i])

    def fact(self, number: int) -> Form:
        """A fact by its number."""
        known = 2 * self.num_neurons + len(self.more)
        require(number < known, f"a fact below {known}", str(number))
        if number >= 2 * self.num_neurons:
            return self.more[number - 2 * self.num_neurons]
        k, is_gap = divmod(number, 2)
        return added(*self.neuron(k), -1) if is_gap else {self.starts[1] + k: 1}

    def without(self, form: Form, multiples: Any, sign: int = -1) -> Form:
        """A form minus multiples of facts; plus them if the sign is 1."""
        rest = dict(form)
        self.meter.pay(2 * len(form))
        for number, text in multiples:
            factor, fact = integer(text), self.fact(number)
            self.meter.units(1_000 + 200 * len(fact))
            self.meter.pay(len(fact), bits_of_form(fact), factor.bit_length())
            add_to(rest, fact, sign * factor)
        return rest

    def check_follows(self, form: Form, multiples: Any) -> None:
        """The form is a sum of these multiples of facts, and of multiples of activations and 1."""
        rest = self.without(form, multiples)
        for symbol, x in rest.items():
            is_input = 1 <= symbol < self.starts[1]
            require(not is_input or x == 0, "facts that leave nothing of the inputs", "an input")
            require(x >= 0, "facts that leave nonnegative multiples of activations", "others")

    def add_step(self, k: int, scale: str, above: Any, gap: Any) -> None:
        """The fact G - q d a >= 0, G a sum of multiples of facts, because q t <= G as well."""
        require(k < self.num_neurons, "a neuron of the layers before", str(k))
        q = integer(scale)
        require(q > 0, "a positive factor of a step", "0")
        bound, (own, t) = self.without({}, above, 1), self.neuron(k)
        self.meter.pay(4 * len(t), bits_of_form(t), q.bit_length())
        self.check_follows(added(bound, t, -q), gap)
        self.more.append(added(bound, own, -q))
        size = 4 + bits_of_form(self.more[-1]) // 512
        self.meter.hold(size * len(self.more[-1]))


@refutation(
    "one-sided",
    "theory/one_sided.md",
    {
        "layer": int,
        "source": [int],
        "steps": [(int, NATURAL, MULTIPLES, MULTIPLES)],
        "signs": [(int, SIGN_MARK, NATURAL, MULTIPLES)],
    },
)
def one_sided(case: Case) -> None:
    """Neurons of layer l have one sign wherever the source is on; their weights on it change.

    Without a source, the constant 1 takes its place.
    """
    evidence, changed, meter = case.evidence["same-function"], changed_layers(case), case.meter
    source = evidence["source"]
    check_source(changed, source)
    facts = Facts(case, changed.number, numbers_of(changed, source, case))
    for step in evidence["steps"]:
        facts.add_step(*step)
    proofs = {v: (text, multiples) for v, _, text, multiples in evidence["signs"]}

    def check_sign(v: int, sign: str, rows: Sequence[list[int]], _: int) -> None:
        """Both rows of a neuron have the sign."""
        text, multiples = proofs[v]
        factor = integer(text)
        require(factor > 0, "a positive factor of a sign", "0")
        for row in rows:
            meter.pay(len(row), longest([row]), factor.bit_length())
            own = [factor * x if sign == "+" else -factor * x for x in row]
            facts.check_follows(facts.form([(changed.number - 1, own[:-1])], own[-1]), multiples)

    marks = [(v, sign) for v, sign, *_ in evidence["signs"]]
    check_change(case, changed, source, marks, check_sign)


def check_source(changed: Changed, source: list[int]) -> None:
    """At most one source, a neuron of the layer before."""
    width = len(changed.lower.rows[0])
    require(len(source) <= 1, "at most one source", str(len(source)))
    require(not source or changed.number > 1, "a source in a hidden layer", "an input")
    require(all(h < width for h in source), f"a source below {width}")


def numbers_of(changed: Changed, source: list[int], case: Case) -> list[int]:
    """The number of the source among all neurons before layer l, if there is one."""
    before = sum(case.network.widths[1 : changed.number - 1])
    return [before + h for h in source]


def check_change(
    case: Case,
    changed: Changed,
    source: list[int],
    marks: Sequence[tuple[int, str]],
    check_sign: Callable[[int, str, Sequence[list[int]], int], None],
) -> None:
    """Layer l is equal but for the weights of some neurons on the source; layer l+1 takes it back.

    `check_sign` gets a neuron, its sign, its rows in both networks, and the change of the weight.
    """
    meter, width = case.meter, len(changed.lower.rows[0])
    old, new = over_common_denominator(changed.lower, changed.others[0], meter)
    rows = changed.upper.augmented()
    scale = changed.lower.denominator * changed.others[0].denominator
    meter.pay(2 * len(rows) * len(rows[0]), longest(rows), scale.bit_length())
    above = [[x * scale for x in row] for row in rows]
    place = source[0] if source else width
    check_indices([v for v, _ in marks], len(old), "neurons with signs")
    for v, sign in marks:
        change = new[v][place] - old[v][place]
        check_sign(v, sign, (old[v], new[v]), change)
        old[v][place] = new[v][place]
        if sign == "+":
            meter.pay(2 * len(above), change.bit_length(), longest(rows))
            for row, weights in zip(above, changed.upper.rows, strict=True):
                row[-1] -= weights[v] * change
    require(old == new, "equal layers l but for the weights of `signs` on the source")
    if source:
        kept = all(row[-1] == b * scale for row, b in zip(above, changed.upper.bias, strict=True))
        require(kept, "changes that cancel in layer l+1")
    check_layer(changed.others[1], above, changed.upper.denominator * scale, meter)


def over_common_denominator(
    one: Layer, two: Layer, meter: Meter
) -> tuple[list[list[int]], list[list[int]]]:
    """The rows [W|b] of two layers over the product of their denominators."""
    size = len(one.rows) * (len(one.rows[0]) + 1)
    meter.pay(size, one.bits, two.denominator.bit_length())
    meter.pay(size, two.bits, one.denominator.bit_length())
    left = [[x * two.denominator for x in row] for row in one.augmented()]
    right = [[x * one.denominator for x in row] for row in two.augmented()]
    return left, right


# ---- Refutations: one-sided-cases


class CaseFacts(Facts):
    """Forms that are >= 0 in a case, in which the signs of some neurons are known.

    Facts 3k, 3k+1 and 3k+2 are t or -t of neuron k, whose sign is known, d a - t, and u - d a, u
    the positive terms of t; from 3N on come the slacks of the domain.
    """

    def __init__(self, case: Case, number: int, source: list[int]) -> None:
        super().__init__(case, number, [])
        self.known, self.listed = dict[int, int](), set[int]()
        for j in source:
            self.known[self.num_neurons - case.network.widths[number - 1] + j] = 1

    def positive_terms(self, k: int) -> Form:
        """The form u of a neuron that reads activations, which are >= 0."""
        require(k >= self.starts[2] - self.starts[1], "a neuron of layer 2 or later", str(k))
        return {symbol: x for symbol, x in self.neuron(k)[1].items() if x > 0}

    def fact(self, number: int) -> Form:
        """A fact by its number."""
        k, kind = divmod(number, 3)
        if k >= self.num_neurons:
            i = number - 3 * self.num_neurons + 1
            require(i < len(self.more), f"a fact below {3 * self.num_neurons + len(self.more) - 1}")
            return self.more[i]
        own, t = self.neuron(k)
        if kind == 0:
            require(k in self.known, "a neuron of known sign", str(k))
            return t if self.known[k] > 0 else {symbol: -x for symbol, x in t.items()}
        return added(own, t, -1) if kind == 1 else added(self.positive_terms(k), own, -1)

    def remainder(self, form: Form, multiples: Any, listed: Sequence[int]) -> int:
        """A number that the form is at least, up to a positive factor.

        Multiples of facts are taken away; then the activations are replaced, the last layer first.
        """
        check_indices(listed, self.num_neurons, "neurons of unknown sign that are replaced by z")
        self.listed, rest = set(listed), self.without(form, multiples)
        for layer in range(len(self.starts) - 2, 0, -1):
            self.replace(rest, layer)
        left = any(x for symbol, x in rest.items() if symbol)
        require(not left, "facts that leave nothing of the inputs", "an input")
        return rest.get(0, 0)

    def replace(self, rest: Form, layer: int) -> None:
        """Put values or bounds in for the activations of a layer, in place, times d."""
        first, stop = self.starts[layer : layer + 2]
        self.meter.units(60 * (stop - first))
        found = [(symbol, rest.pop(symbol, 0)) for symbol in range(first, stop)]
        denominator = self.layers[layer - 1].denominator
        self.meter.pay(len(rest), bits_of_form(rest), denominator.bit_length())
        for symbol in rest:
            rest[symbol] *= denominator
        for symbol, x in found:
            bound = self.bound(symbol - self.starts[1], x) if x else {}
            self.meter.pay(len(bound), bits_of_form(bound), x.bit_length())
            add_to(rest, bound, x)

    def bound(self, k: int, x: int) -> Form:
        """What stands for d a of neuron k, whose coefficient is x."""
        sign = self.known.get(k, 0)
        if sign > 0 or (not sign and x > 0 and k in self.listed):
            return self.neuron(k)[1]
        if sign or x > 0:
            return {}
        fact = "facts that leave nonnegative multiples of activations of layer 1"
        require(k >= self.starts[2] - self.starts[1], fact, "others")
        return self.positive_terms(k)


SPLIT_CASE = {"split": int}
CLOSED_CASE = {"leaf": [(NATURAL, MULTIPLES, [int])]}


def check_cases(facts: CaseFacts, rows: Sequence[Form], nodes: Sequence[Any]) -> None:
    """All forms are >= 0 on every leaf of a tree, whose nodes come in prefix order."""
    #: Of the nodes that are to come: the depth, the neuron that is split above, and its sign.
    waiting, path, number = [(0, 0, 0)], list[int](), 0
    while waiting:
        depth, k, sign = waiting.pop()
        while len(path) > depth:
            del facts.known[path.pop()]
        if sign:
            facts.known[k] = sign
            path.append(k)
        require(number < len(nodes), "another node", counted(number, "node"))
        facts.meter.units(2_000)
        node, number = nodes[number], number + 1
        if "leaf" in node:
            close(facts, rows, node["leaf"])
            continue
        k = node["split"]
        require(k < facts.num_neurons, "a neuron of the layers before", str(k))
        require(k not in facts.known, "a neuron of unknown sign", str(k))
        message = f"beyond the limits: more than {MAX_DEPTH} splits one below the other"
        well_formed(len(path) < MAX_DEPTH, message)
        waiting += [(len(path), k, -1), (len(path), k, 1)]
    require(number == len(nodes), counted(number, "node"), str(len(nodes)))


def close(facts: CaseFacts, rows: Sequence[Form], records: Sequence[Any]) -> None:
    """All forms are >= 0 in a case, or the case is impossible."""
    if len(records) == 1 and integer(records[0][0]) == 0:
        left = facts.remainder({}, *records[0][1:])
        require(left > 0, "a positive constant in an impossible case", "another one")
        return
    require(len(records) == len(rows), counted(len(rows), "record"), str(len(records)))
    for form, (text, multiples, listed) in zip(rows, records, strict=True):
        factor = integer(text)
        require(factor > 0, "a positive factor of a sign", "0")
        facts.meter.pay(len(form), bits_of_form(form), factor.bit_length())
        own = {symbol: factor * x for symbol, x in form.items()}
        left = facts.remainder(own, multiples, listed)
        require(left >= 0, "a constant that is not negative", "a negative one")


@refutation(
    "one-sided-cases",
    "theory/one_sided.md",
    {
        "layer": int,
        "source": [int],
        "signs": [(int, SIGN_MARK)],
        "nodes": [OneOf((SPLIT_CASE, CLOSED_CASE))],
    },
)
def one_sided_cases(case: Case) -> None:
    """Neurons of layer l have one sign wherever the source is on; their weights on it change.

    The signs hold in each case of a tree; each weight changes to the side of its neuron's sign.
    """
    evidence, changed = case.evidence["same-function"], changed_layers(case)
    source, rows = evidence["source"], changed.lower.augmented()
    check_source(changed, source)
    facts, forms = CaseFacts(case, changed.number, source), list[Form]()
    check_indices([v for v, _ in evidence["signs"]], len(rows), "neurons with signs")
    for v, mark in evidence["signs"]:
        form = facts.form([(changed.number - 1, rows[v][:-1])], rows[v][-1])
        forms.append(form if mark == "+" else {symbol: -x for symbol, x in form.items()})
    check_cases(facts, forms, evidence["nodes"])

    def check_sign(v: int, mark: str, _: Sequence[list[int]], change: int) -> None:
        """The weight changes to the side of the sign."""
        fact = "larger weights of neurons with +, smaller ones of neurons with -"
        require(change >= 0 if mark == "+" else change <= 0, fact, f"neuron {v}")

    check_change(case, changed, source, evidence["signs"], check_sign)


# ==== 3.4 Membership in the classes generic, transversal and regular ====

MAX_MINORS, MAX_ROWS_OF_SUMS, MAX_SUMS, MAX_SUM_BITS = 5_000, 16, 2**16, 2**26


def check_membership(kind: str, among: str, network: Network, evidence: Any, meter: Meter) -> None:
    """What is known of a network's membership in the class."""
    method, status = evidence.get("method", "open"), evidence["status"]
    require((method == "every") == (among == "all"), f"evidence for the class {among}", method)
    if kind == "not-identifiable":
        require(status == "verified", "verified membership", status)
    if among == SPARSE:  # whose zero weights let products vanish
        require(method in ("open", "minors"), f"evidence for the class {among}", method)
    elif among in DEEP_CLASSES:
        require(method != "bias", f"evidence for the class {among}", method)
    else:
        require(method != "masks", f"evidence for the class {among}", method)
    if method == "masks":
        check_masks(network, evidence["layer"], evidence["masks"], meter)
    elif method in ("minors", "bias", "product"):
        check_with_two_hidden_layers(network, method, evidence, meter)


def check_with_two_hidden_layers(
    network: Network, method: str, evidence: Any, meter: Meter
) -> None:
    """The methods for L = 3."""
    require(len(network.layers) == 3, "L = 3", str(network))
    require(network.last == "affine", "an affine output", str(network))
    first, lower, upper = network.layers
    if method == "minors":
        columns = evidence["columns"]
        check_indices(columns, len(first.rows[0]), "columns", len(first.rows))
        meter.pay(2 * len(first.rows) * len(first.rows[0]), first.bits, first.bits)
        rows = [[row[c] for c in columns] for row in first.primitive_rows()]
        check_determinant(rows, int(evidence["prime"]), meter)
        check_minors(lower, meter)
        check_sums(lower, upper, meter)
    elif method == "bias":
        row = evidence["row"]
        require(row < len(lower.bias), f"a row below {len(lower.bias)}", str(row))
        require(lower.bias[row] == 0, "a row of A with bias zero", str(row))
    else:
        chosen, j = evidence["rows"], evidence["column"]
        check_indices(chosen, len(lower.rows), "rows")
        require(len(chosen) > 0, "at least one row")
        require(j < len(lower.rows[0]), f"a column below {len(lower.rows[0])}", str(j))
        meter.pay(len(chosen) * len(upper.rows), lower.bits, upper.bits)
        sums = [sum(v[i] * lower.rows[i][j] for i in chosen) for v in upper.rows]
        require(not any(sums), "a sum that vanishes", "a nonzero one")


def check_minors(lower: Layer, meter: Meter) -> None:
    """All minors of [A|a] are nonzero, which implies G2."""
    matrix, m, n = lower.augmented(), len(lower.rows), len(lower.rows[0]) + 1
    message = f"beyond the limits: more than {MAX_MINORS} minors"
    well_formed(m <= MAX_ROWS_OF_SUMS, f"beyond the limits: {m} rows of A")
    count = math.comb(m + n, m)
    well_formed(count <= MAX_MINORS + 1, message)
    meter.pay(40 * count)
    for size in range(1, min(m, n) + 1):
        for rows, columns in product(combinations(range(m), size), combinations(range(n), size)):
            minor = [[matrix[i][k] for k in columns] for i in rows]
            rank = len(pivot_columns(minor, meter))
            require(rank == size, "nonzero minors of [A|a]", f"a zero of size {size}")


def check_sums(lower: Layer, upper: Layer, meter: Meter) -> None:
    """All sums of G3 are nonzero vectors.

    A vector of sums s_o, all |s_o| < 2^(bits-1), vanishes iff the integer sum of the s_o 2^(bits o)
    does.
    """
    m, n = len(lower.rows), len(lower.rows[0])
    bits = 2 + m.bit_length() + longest(lower.rows) + longest(upper.rows)
    well_formed(n << m <= MAX_SUMS, f"beyond the limits: more than {MAX_SUMS} sums")
    message = f"beyond the limits: sums of more than {MAX_SUM_BITS} bits together"
    well_formed(bits * len(upper.rows) << m < MAX_SUM_BITS, message)
    meter.pay(n << m, bits * len(upper.rows))
    packed = [sum(x << (bits * o) for o, x in enumerate(v)) for v in upper.columns()]
    for j in range(n):
        sums = nonempty_sums([v * row[j] for v, row in zip(packed, lower.rows, strict=True)])
        require(all(sums), "nonzero sums in G3", f"a zero for j = {j}")


def check_masks(network: Network, bottom: int, masks: list[list[int]], meter: Meter) -> None:
    """A masked product I_l W[l] ... W[k+1] I_k vanishes, k = `bottom`, with nonempty masks."""
    depth, top = len(network.layers), bottom + len(masks) - 1
    require(bottom < top <= depth, "masks of at least two layers", str(len(masks)))
    for k, mask in enumerate(masks, bottom):
        is_inner = 0 < k < depth
        count = None if is_inner else network.widths[k]  # I_0 and I_L keep everything
        check_indices(mask, network.widths[k], f"neurons of layer {k}", count)
        require(len(mask) > 0, "nonempty masks", f"layer {k}")
    size = len(masks[0])
    meter.pay(size * size)
    meter.hold(size * size)
    columns = [[int(i == j) for i in masks[0]] for j in masks[0]]
    for layer, mask, kept in zip(network.layers[bottom:top], masks, masks[1:], strict=False):
        meter.pay(len(kept) * len(mask) * (size + 1), longest(columns), layer.bits)
        meter.hold((size + len(mask)) * len(kept))
        rows = [[layer.rows[i][j] for j in mask] for i in kept]
        columns = [[dot(row, column) for row in rows] for column in columns]
    require(not any(map(any, columns)), "a masked product that vanishes")


# ==== 3.5 Invariants under ~ ====


def invariants(network: Network, depth: int, numbers: dict[Row, int], meter: Meter) -> list[int]:
    """The invariants of the neurons of layer `depth`, sorted if the layer is hidden.

    `numbers` gives equal invariants equal numbers, so that nothing nests. Scales are integers over
    a common denominator.
    """
    names, scales, common = list(range(network.widths[0])), [1] * network.widths[0], 1
    for number, layer in enumerate(network.layers[:depth], 1):
        bits = max(common, *scales).bit_length() + layer.bits
        message = f"beyond the limits: scales of more than {GROWN_BITS} bits"
        well_formed(bits <= GROWN_BITS, message)
        own = longest([scales, [common]])
        meter.pay_divisions(10 * len(layer.rows) * (len(names) + 4), layer.bits, own)
        meter.hold(len(layer.rows) * (len(names) + 4))
        is_last = number == len(network.layers)
        names, scales = names_of_layer(network, number, is_last, (names, scales, common), numbers)
        common *= layer.denominator
    return names if depth == len(network.layers) else sorted(names)


def names_of_layer(
    network: Network,
    number: int,
    is_last: bool,
    inputs: tuple[list[int], list[int], int],
    numbers: dict[Row, int],
) -> tuple[list[int], list[int]]:
    """Numbers of invariants, and scales, of the neurons of a layer.

    Vectors (b, e)/N of norm 1 are equal iff their primitive multiples are. The last layer is not
    divided by N, so that its common denominator joins the vector.
    """
    names, scales, common = inputs
    layer: Layer = network.layers[number - 1]
    found, new_scales = list[int](), list[int]()
    for row, b in zip(layer.rows, layer.bias, strict=True):
        front = [b * common, common * layer.denominator] if is_last else [b * common]
        e = [(n, w * s) for w, n, s in zip(row, names, scales, strict=True) if w * s]
        divisor = math.gcd(*front, *(x for _, x in e)) or 1
        pairs = sorted((n, x // divisor) for n, x in e)
        key = Row((number, *(x // divisor for x in front), *chain.from_iterable(pairs)))
        found.append(numbers.setdefault(key, len(numbers)))
        new_scales.append(sum(abs(x) for _, x in e) + abs(b * common))
    return found, new_scales


# ==== 3.6 Cost ====

#: The default budget of a file in units, without what the bytes of its files add. A unit is about
#: half a nanosecond in plain Python on one core of 2023, so that this is about twenty seconds.
BUDGET = 2**35
#: What each byte of the certificate and of network files, as stored, adds to the budget.
UNITS_PER_BYTE = 2**14
#: One cell of memory, about 64 bytes, may be held for each of these units of the budget.
UNITS_PER_CELL = 2**12
#: Maximum number of bits of a common denominator, and of other numbers that grow in a rule.
GROWN_BITS = 2**16


class Stop(Exception):  # noqa: N818
    """The end of a check that does not accept; an empty place means the current step."""

    def __init__(self, verdict: str, expected: str, got: str, place: str = "") -> None:
        super().__init__(verdict, expected, got, place)
        self.verdict, self.expected, self.got, self.place = verdict, expected, got, place


def require(condition: bool, fact: str, got: str = "not so", place: str = "") -> None:
    """Reject the certificate unless a fact holds."""
    if not condition:
        raise Stop("rejected", fact, got[:200], place)


def well_formed(condition: bool, message: str, place: str = "") -> None:
    """Call the file unreadable unless it keeps to the format and its limits."""
    if not condition:
        expected = "a file in the format, within its limits"
        raise Stop("unreadable", expected, message[:300], place)


class Meter:
    """What a file has cost so far, in units of work and in cells of memory.

    Every rule pays before it computes, and holds cells before it allocates. `step` is the step of
    the check that is under way, for messages.
    """

    def __init__(self, budget: int | None = None) -> None:
        self.budget = BUDGET if budget is None else budget
        self.is_fixed, self.step = budget is not None, "reading"
        self.work = self.cells = self.most_cells = 0

    @property
    def cost(self) -> int:
        """What the file has cost: the least budget that it keeps to."""
        return max(self.work, self.most_cells * UNITS_PER_CELL)

    def allow(self, num_bytes: int) -> None:
        """Raise the default budget for the bytes of a file as it is stored."""
        if not self.is_fixed:
            self.budget += UNITS_PER_BYTE * num_bytes

    def pay(self, operations: int, bits: int = 0, other: int = 0) -> None:
        """Pay for products of numbers of `bits` and of `other` bits, each with an addition.

        Long products cost three of half the length, until the shorter factor is short.
        """
        halvings = (min(bits, other) - 1 >> 11).bit_length() if bits and other else 0
        size = bits * other * 3**halvings >> 2 * halvings
        self.units(operations * (100 + (bits + other >> 4) + (size >> 10)))

    def pay_divisions(self, operations: int, bits: int, other: int) -> None:
        """Pay for quotients or greatest common divisors of numbers of these sizes."""
        self.units(operations * (100 + (bits + other >> 4) + (bits * other >> 10)))

    def pay_modular(self, products: int) -> None:
        """Pay for products modulo a prime, summed up."""
        self.units(80 * products)

    def units(self, units: int) -> None:
        """Pay units that the table of section 3.6 states."""
        self.work += units
        if self.work > self.budget:
            well_formed(
                False,
                f"beyond the limits: the file costs more than {self.budget} units, which "
                "--budget raises",
            )

    def hold(self, cells: int) -> None:
        """Hold memory for so long as the file is checked, or until it is released."""
        self.cells += cells
        if self.cells <= self.most_cells:
            return
        self.most_cells = self.cells
        limit = self.budget // UNITS_PER_CELL
        if self.cells > limit:
            well_formed(
                False,
                f"beyond the limits: the file needs more than {limit} cells of memory, which "
                "--budget raises",
            )

    def release(self, cells: int) -> None:
        """Give memory back."""
        self.cells -= cells


def longest(rows: Iterable[Iterable[int]]) -> int:
    """The number of bits of the longest integer."""
    return max((max(map(int.bit_length, row), default=0) for row in rows), default=0)


def cells_of(count: int, bits: int) -> int:
    """The cells of memory that numbers of some bits take."""
    return count * (1 + (bits >> 9))


def quote(value: object) -> str:
    """At most 80 printable ASCII characters; no text of a file is shown in another way.

    Lists and objects are named, and never formatted.
    """
    if isinstance(value, list | dict):
        kind = "a list" if isinstance(value, list) else "an object"
        return f"{kind} of {len(value)} entries"
    is_long = isinstance(value, int) and value.bit_length() > 64
    text = value if isinstance(value, str) else "a long integer" if is_long else f"{value!r:.80}"
    return ascii(text[:72])[:76] + ("..." if len(text) > 72 else "")


def counted(number: int, noun: str) -> str:
    """A number with its noun."""
    return f"{number} {noun}{'s' * (number != 1)}"


# ==== 3.7 Rounding errors: theorem rounding ====

#: Numbers are integers over 2^GRID, rounded outwards.
GRID = 1_200


class Arithmetic(NamedTuple):
    """A float format: precision p, the exponent of t = 2^-exponent, and the largest number."""

    precision: int
    tiny_exponent: int
    largest: int

    def tiny(self) -> int:
        """What may be lost where a runtime takes small numbers for 0."""
        return 1 << GRID - self.tiny_exponent


ARITHMETICS = {
    "float32": Arithmetic(24, 126, (2**24 - 1) << 104),
    "float64": Arithmetic(53, 1_000, (2**53 - 1) << 971),
}


class Bounds(NamedTuple):
    """Intervals of exact activations, and bounds on the errors of a runtime."""

    low: list[int]
    high: list[int]
    errors: list[int]


@theorem(
    "rounding",
    kind="runtime-error",
    page="theory/rounding.md",
    evidence={"bound": {}},
    says={"bound": "the bound follows layer by layer from the weights and the box"},
)
def rounding(case: Case) -> None:
    """Intervals for the exact activations and bounds on the errors, layer by layer."""
    network, arithmetic = case.network, ARITHMETICS[case.claim["arithmetic"]]
    limits = case.claim["at-most"]
    corners = check_box(case)
    bounds = Bounds(
        [math.floor(x * 2**GRID) for x in corners[0]],
        [math.ceil(x * 2**GRID) for x in corners[1]],
        [arithmetic.tiny()] * network.widths[0],
    )
    case.hypothesis("bound")
    for number, layer in enumerate(network.layers, 1):
        bounds = after_layer(layer, bounds, arithmetic, case.meter)
        if number <= network.num_hidden_layers():
            bounds = after_relu(bounds, arithmetic.tiny())
    for i, (error, text) in enumerate(zip(bounds.errors, limits, strict=True)):
        limit = rational(text, case.meter)
        fits = error * limit.denominator <= limit.numerator << GRID
        require(fits, f"an error of at most at-most[{i}]", f"above {quote(text)}")


def check_box(case: Case) -> list[list[Fraction]]:
    """The corners of the box of the claim."""
    case.meter.step, network = "claim", case.network
    corners = [rationals(case.claim["domain"][side], case.meter) for side in ("lower", "upper")]
    inputs, outputs = network.widths[0], network.widths[-1]
    for corner in corners:
        require(len(corner) == inputs, f"corners of {inputs} numbers", str(len(corner)))
    count = len(case.claim["at-most"])
    require(count == outputs, f"{outputs} bounds", str(count))
    for low, high in zip(*corners, strict=True):
        require(low <= high, "lower <= upper")
    return corners


def after_layer(layer: Layer, bounds: Bounds, arithmetic: Arithmetic, meter: Meter) -> Bounds:
    """Intervals and errors of the preactivations of a layer."""
    own = layer.bits
    meter.pay(5 * len(layer.rows) * (len(bounds.low) + 20), own, GRID + longest(bounds))
    found = Bounds([], [], [])
    for row, b in zip(layer.rows, layer.bias, strict=True):
        sums = Sums(row, b, bounds)
        error = sums.error(layer.denominator, arithmetic)
        found.low.append(sums.bottom // layer.denominator)
        found.high.append(-(-sums.top // layer.denominator))
        found.errors.append(-(-error // layer.denominator))
    return found


class Sums:
    """The sums of one row over its nonzero weights, times 2^GRID and the denominator."""

    def __init__(self, row: Sequence[int], bias: int, bounds: Bounds) -> None:
        used = [
            (w, bounds.low[j], bounds.high[j], bounds.errors[j]) for j, w in enumerate(row) if w
        ]
        offset = bias << GRID
        self.num_terms = len(used)
        self.bottom = sum(w * (low if w > 0 else high) for w, low, high, _ in used) + offset
        self.top = sum(w * (high if w > 0 else low) for w, low, high, _ in used) + offset
        sizes = [max(-low, high) + error for _, low, high, error in used]
        self.reach = max(sizes, default=0)
        weights = [abs(w) for w, _, _, _ in used]
        self.size = sum(w * r for w, r in zip(weights, sizes, strict=True)) + abs(offset)
        self.largest = max(self.size, max(weights, default=0) << GRID)
        self.carried = sum(w * entry[3] for w, entry in zip(weights, used, strict=True))

    def error(self, denominator: int, arithmetic: Arithmetic) -> int:
        """A bound on what any order of float operations adds; nothing overflows."""
        precision, k = arithmetic.precision, self.num_terms + 2
        require(4 * k < 2**precision, "fewer than 2^(p-2) terms in a sum", str(k))
        room = 2**precision - k
        fits = (self.largest << precision) < arithmetic.largest * denominator * room << GRID
        fact = "weights and sums below the largest number of the format"
        require(fits, fact, "a possible overflow")
        rounded: int = -(-self.size * k // room)
        lost = -(-3 * k * ((1 << GRID) + self.reach) >> arithmetic.tiny_exponent)
        added = self.carried + rounded + denominator * lost
        return int(added)


def after_relu(bounds: Bounds, tiny: int) -> Bounds:
    """Intervals and errors after the ReLU.

    Where the exact value is at most 0, the float one exceeds it by at most high + error.
    """
    errors = list[int]()
    for high, error in zip(bounds.high, bounds.errors, strict=True):
        errors.append(tiny + (min(error, max(high + error, 0)) if high <= 0 else error))
    low, high_ends = ([max(x, 0) for x in side] for side in (bounds.low, bounds.high))
    return Bounds(low, high_ends, errors)


# ==== 3.8 Domains of pairs, and theorem point ====

#: Of a single coordinate: a bound from below (True) or from above.
Sides = dict[tuple[int, bool], Fraction]


class Domain(NamedTuple):
    """{x: a x <= c, e x = f} in the coordinates y, the variables without pivot.

    `inputs` and the `slacks` c - a x are forms over `scale`; y_k is the entry free[k - 1] of x.
    """

    scale: int
    inputs: list[Form]
    slacks: list[Form]
    sides: Sides
    inequalities: list[list[int]]
    equations: list[list[int]]
    free: list[int]

    def dimension(self) -> int:
        """The number of coordinates y."""
        return len(self.free)

    def check_point(self, x: Sequence[Fraction], meter: Meter) -> int:
        """The point satisfies all rows; returns the common denominator of its coordinates."""
        require(len(x) == len(self.inputs), "a point of the domain", f"{len(x)} coordinates")
        scale = common_denominator(x, "a common denominator of a point", meter)
        point = scaled_point(x, scale, meter)
        point.append(-scale)
        rows = [*self.inequalities, *self.equations]
        meter.pay(len(point) * len(rows), longest([point]), longest(rows))
        fact = "a point of the domain"
        require(all(dot(row, point) <= 0 for row in self.inequalities), fact, "an inequality fails")
        require(not any(dot(row, point) for row in self.equations), fact, "an equation fails")
        return scale


def scaled_point(x: Sequence[Fraction], scale: int, meter: Meter) -> list[int]:
    """The coordinates times a common denominator."""
    meter.pay_divisions(2 * len(x), scale.bit_length(), longest([[entry.numerator for entry in x]]))
    return [entry.numerator * (scale // entry.denominator) for entry in x]


def read_domain(document: Any, num_inputs: int, meter: Meter) -> Domain:
    """The equations are in reduced echelon form: each gives its first variable by the free ones."""
    inequalities, equations = (
        [integers(row, meter) for row in document[key]] for key in ("inequalities", "equations")
    )
    for row in (*inequalities, *equations):
        message = f"rows need {num_inputs} coefficients and a right-hand side"
        well_formed(len(row) == num_inputs + 1, message, "claim.domain")
    meter.step = "claim.domain"
    pivots = pivots_of_echelon(equations)
    is_pivot = set(pivots)
    free = [j for j in range(num_inputs) if j not in is_pivot]
    reciprocals = [Fraction(1, row[j]) for row, j in zip(equations, pivots, strict=True)]
    scale = common_denominator(reciprocals, "a common multiple of the pivots", meter)
    substituted = len(equations) * (len(free) + 1)
    meter.pay(num_inputs + 4 * substituted, longest(equations), scale.bit_length())
    grown = longest(equations) + scale.bit_length()
    meter.hold(cells_of(2 * (num_inputs + substituted), grown))
    x = {j: {k: scale} for k, j in enumerate(free, 1)}
    for row, j in zip(equations, pivots, strict=True):
        factor = scale // row[j]
        forms = {k: -factor * row[i] for k, i in enumerate(free, 1)}
        x[j] = without_zeros({0: factor * row[-1], **forms})
    inputs = [x[j] for j in range(num_inputs)]
    bits = max(scale.bit_length(), *map(bits_of_form, inputs))
    slacks = [slack_of(row, inputs, scale, bits, meter) for row in inequalities]
    sides = sides_of(slacks, meter)
    return Domain(scale, inputs, slacks, sides, inequalities, equations, free)


#: R^n, in a rule that needs slacks and sides only.
EVERYWHERE = Domain(1, [], [], {}, [], [], [])


def domain_of_competitors(case: Case) -> Domain:
    """The domain of a claim about competitors, which agree where all slacks are positive.

    For R^n nothing is paid.
    """
    document = case.claim["domain"]
    if document == WHOLE_SPACE:
        return EVERYWHERE
    domain = read_domain(document, case.network.widths[0], case.meter)
    require(not domain.equations, "a domain without equations", f"{len(domain.equations)} of them")
    return domain


def check_inside(domain: Domain, texts: list[str], meter: Meter) -> list[Fraction]:
    """A point at which all inequalities that are not constant are strict; its coordinates."""
    x = rationals(texts, meter)
    scale = domain.check_point(x, meter)
    point = scaled_point(x, scale, meter)
    y = [scale, *(point[j] for j in domain.free)]
    bits = longest([y])
    for slack in domain.slacks:
        meter.pay(2 + len(slack), bits, longest([slack.values()]))
        inside = not slack or sum(a * y[symbol] for symbol, a in slack.items()) > 0
        require(inside, "a point strictly inside", "a point on the boundary")
    return x


def pivots_of_echelon(equations: list[list[int]]) -> list[int]:
    """The pivots, if the equations are in reduced echelon form with positive pivots."""
    fact, pivots = "equations in reduced echelon form, positive pivots", list[int]()
    for row in equations:
        pivot = next((j for j, x in enumerate(row[:-1]) if x), -1)
        require(pivot > (pivots[-1] if pivots else -1), fact, "pivots that do not ascend")
        require(row[pivot] > 0, fact, "a negative pivot")
        pivots.append(pivot)
    for j in pivots:
        count = sum(1 for row in equations if row[j])
        require(count == 1, fact, "a column with a pivot and more")
    return pivots


def slack_of(
    row: Sequence[int], inputs: Sequence[Form], scale: int, bits: int, meter: Meter
) -> Form:
    """c - a x >= 0 as a form, times the scale; `bits` bound the inputs and the scale."""
    used = [(a, form) for a, form in zip(row[:-1], inputs, strict=True) if a]
    meter.pay(2 + len(row) + sum(2 + len(form) for _, form in used), longest([row]), bits)
    slack = {0: scale * row[-1]}
    for a, form in used:
        add_to(slack, form, -a)
    meter.hold(cells_of(2 * len(slack), bits_of_form(slack)))
    return without_zeros(slack)


def sides_of(slacks: Sequence[Form], meter: Meter) -> Sides:
    """The best bounds of single coordinates by inequalities with one coordinate."""
    sides: Sides = {}
    for slack in slacks:
        coordinates = [j for j in slack if j]
        if len(coordinates) != 1:
            continue
        (j,), constant = coordinates, slack.get(0, 0)
        bits = longest([[slack[j], constant]])
        meter.pay(37)
        meter.pay_divisions(3, bits, bits)
        limit, is_lower = Fraction(-constant, slack[j]), slack[j] > 0
        old = sides.get((j, is_lower), limit)
        sides[j, is_lower] = max(old, limit) if is_lower else min(old, limit)
    return sides


def check_pair(one: Network, two: Network) -> None:
    """Two networks can be compared."""
    require(one.widths[0] == two.widths[0], "equally many inputs", f"{one}; {two}")
    require(one.widths[-1] == two.widths[-1], "equally many outputs", f"{one}; {two}")


@theorem(
    "point",
    kind="not-equivalent",
    page="theory/equivalence.md",
    evidence={"point": {"x": [RATIONAL]}, "values": {"f": [RATIONAL], "g": [RATIONAL]}},
    says={
        "point": "the point belongs to the domain",
        "values": "both networks were evaluated there, and differ",
    },
)
def point(case: Case) -> None:
    """The point is in the domain, and the outputs are as stated, and differ."""
    meter = case.meter
    meter.step = "claim"
    check_pair(case.network, case.other)
    domain = read_domain(case.claim["domain"], case.network.widths[0], meter)
    x = rationals(case.hypothesis("point")["x"], meter)
    domain.check_point(x, meter)
    values = case.hypothesis("values")
    for key, network in (("f", case.network), ("g", case.other)):
        stated = rationals(values[key], meter)
        require(outputs(network, x, meter) == stated, f"the outputs {key}(x)", "other numbers")
    require(values["f"] != values["g"], "different outputs", "equal ones")


def least_common_multiple(numbers: Sequence[int], meter: Meter) -> int:
    """The least common multiple, paid for step by step."""
    common = 1
    for x in numbers:
        if x != common:
            meter.pay_divisions(2, common.bit_length(), x.bit_length())
            common = math.lcm(common, x)
    return common


def outputs(network: Network, x: Sequence[Fraction], meter: Meter) -> list[Fraction]:
    """The exact outputs at a point, over common denominators."""
    return outputs_and_signs(network, x, meter)[0]


def outputs_and_signs(
    network: Network, x: Sequence[Fraction], meter: Meter
) -> tuple[list[Fraction], list[list[int]]]:
    """The same, and the preactivations of each layer times a positive number."""
    scale = common_denominator(x, "a common denominator of a point", meter)
    activations, preactivations = [(scaled_point(x, scale, meter), scale)], list[list[int]]()
    for number, layer in enumerate(network.layers, 1):
        sources = [*layer.earlier, (number - 1, layer.rows)]
        blocks = [(rows, *activations[source]) for source, rows in sources]
        common = least_common_multiple([denominator for _, _, denominator in blocks], meter)
        bits = longest(values for _, values, _ in blocks) + common.bit_length()
        size = sum(len(rows) * (2 + len(values)) for rows, values, _ in blocks)
        meter.pay(size, bits, layer.bits)
        z = [b * common for b in layer.bias]
        for rows, values, denominator in blocks:
            factor = common // denominator
            z = [a + factor * dot(row, values) for a, row in zip(z, rows, strict=True)]
        scale = common * layer.denominator
        total = max(longest([z]), scale.bit_length())
        meter.pay_divisions(2 * len(z), total, total)
        divisor = math.gcd(scale, *z)
        preactivations.append(z)
        if number <= network.num_hidden_layers():
            z = [max(a, 0) for a in z]
        activations.append(([a // divisor for a in z], scale // divisor))
    values, scale = activations[-1]
    return [Fraction(a, scale) for a in values], preactivations


# ==== 3.9 Ridges: theorems deep and deep-part ====

# Signs are exact; everything else only has to be nonzero, or of full rank, and is shown to be so
# modulo P.
P = 2**61 - 1
#: Bases of the multiples of the outputs, and of the direction in the input space.
ON_OUTPUTS, ON_INPUTS = 1234567890123456789, 987654321

#: A piece: the one neuron that vanishes on it, and the mask, as a key.
Piece = tuple[int, bytes]


def product_sum(left: Iterable[int], right: Iterable[int]) -> int:
    """The scalar product of two sequences that are known to be equally long."""
    return sum(map(mul, left, right))


class Neurons:
    """The hidden neurons, numbered layer by layer, and masks: bit w is 1 if neuron w is on.

    Layers are counted from 0 here. `rows` and `columns` are the weights modulo P.
    """

    def __init__(self, network: Network, meter: Meter) -> None:
        self.network, self.meter = network, meter
        self.widths = network.widths[1:-1]
        self.starts = [0, *accumulate(self.widths)]
        self.count = self.starts[-1]
        self.layer = [k for k, width in enumerate(self.widths) for _ in range(width)]
        self.rows = [residues(layer, meter) for layer in network.layers]
        self.columns = [list(zip(*rows, strict=True)) for rows in self.rows]
        self.bits = [layer.bits for layer in network.layers]
        self.growth = sum(map(growth_of, network.layers[:-1]))
        self.last_states = (-1, list[int]())

    def index(self, w: int) -> int:
        """The index of a neuron in its layer."""
        return w - self.starts[self.layer[w]]

    def neurons_of(self, layer: int) -> range:
        """The neurons of a layer."""
        return range(self.starts[layer], self.starts[layer + 1])

    def part(self, mask: int, layer: int) -> int:
        """The bits of one layer."""
        return mask >> self.starts[layer] & (1 << self.widths[layer]) - 1

    def before(self, mask: int, layer: int) -> int:
        """The bits of the layers before."""
        return mask & (1 << self.starts[layer]) - 1

    def key(self, mask: int) -> bytes:
        """A mask as a key of a dictionary: nobody can make the hashes of many collide."""
        return mask.to_bytes(self.count // 8 + 1, "little")

    def states(self, mask: int) -> list[int]:
        """For each neuron 1 if it is on, otherwise 0."""
        if mask != self.last_states[0]:
            self.meter.units(60 * self.count)
            self.last_states = mask, [*map(int, reversed(f"{mask:0{self.count}b}"))]
        return self.last_states[1]

    def states_of(self, mask: int, layer: int) -> list[int]:
        """For each neuron of a layer 1 if it is on, otherwise 0."""
        return self.states(mask)[self.starts[layer] : self.starts[layer + 1]]


def residues(layer: Layer, meter: Meter) -> list[list[int]]:
    """The weights of a layer modulo P, of the smallest size."""
    bits = layer.bits
    meter.pay(4 * len(layer.rows) * len(layer.rows[0]), bits, 61)
    half = P // 2
    return [[(x + half) % P - half for x in row] for row in layer.primitive_rows()]


def growth_of(layer: Layer) -> int:
    """The bits by which numbers can grow in a layer."""
    sums = [sum(map(abs, row)) + abs(b) for row, b in zip(layer.rows, layer.bias, strict=True)]
    return max(layer.denominator, *sums).bit_length()


def ones(mask: int) -> list[int]:
    """The places of the ones in a mask, ascending."""
    return [i for i, digit in enumerate(reversed(f"{mask:b}")) if digit == "1"]


# -- Exact forms on planes


class PlaneForms:
    """The preactivations on a plane point + s B_1 + t B_2, where the neurons of a mask are on.

    A form is (constant, slope, slope), times a number that its layer has in common; s and t may be
    scaled. A form is also packed into one integer, since weights then take one product for all
    three numbers. A layer stays while the mask has the same neurons before it. The slacks of the
    domain are forms of their own, times the denominator of the point.
    """

    def __init__(self, neurons: Neurons, entry: Any, domain: Domain = EVERYWHERE) -> None:
        self.neurons, self.meter = neurons, neurons.meter
        depth, first = len(neurons.widths), neurons.network.layers[0]
        vectors, scale = self.read(entry)
        self.width = max(longest(vectors), scale.bit_length()) + neurons.growth + 2
        num_inputs = neurons.network.widths[0]
        read = [any(form) for form in zip(*vectors, strict=True)]
        columns = [self.packed_form(form) for form in zip(*vectors, strict=True) if any(form)]
        operations = len(first.rows) * (len(columns) + 3 + (num_inputs - len(columns)) // 4)
        self.meter.pay(operations, 3 * self.width, neurons.bits[0])
        packed = [
            product_sum(compress(row, read), columns) + b * scale
            for row, b in zip(first.rows, first.bias, strict=True)
        ]
        self.scales = [scale * first.denominator] * depth
        self.known_for = [0] + [-1] * (depth - 1)
        self.packed, self.forms = [packed] * depth, [self.unpacked(packed)] * depth
        self.slacks = self.slacks_of(domain, vectors, scale)

    def read(self, entry: Any) -> tuple[list[list[int]], int]:
        """Point and directions as integers, and the denominator of the point."""
        if "inputs" in entry:
            return self.read_some(entry)
        num_inputs, vectors, scales = self.neurons.network.widths[0], list[list[int]](), list[int]()
        for name, texts in (
            ("point", entry["point"]),
            *(("direction", d) for d in entry["directions"]),
        ):
            row = rationals(texts, self.meter)
            require(len(row) == num_inputs, f"a {name} of {num_inputs} coordinates", str(len(row)))
            scales.append(common_denominator(row, "a common denominator", self.meter))
            vectors.append(scaled_point(row, scales[-1], self.meter))
        return vectors, scales[0]

    def read_some(self, entry: Any) -> tuple[list[list[int]], int]:
        """The same from the coordinates of some inputs; all others are 0."""
        num_inputs, scale = self.neurons.network.widths[0], integer(entry["denominator"])
        require(scale > 0, "a positive denominator", "0")
        inputs = integers(entry["inputs"], self.meter)
        require(inputs[0] >= 0, "inputs from 0 on", str(inputs[0]))
        check_indices(inputs, num_inputs, "inputs")
        vectors = list[list[int]]()
        for text in (entry["point"], *entry["directions"]):
            row, vector = integers(text, self.meter), [0] * num_inputs
            self.meter.units(50 * num_inputs)
            require(len(row) == len(inputs), f"{len(inputs)} coordinates", str(len(row)))
            for k, x in zip(inputs, row, strict=True):
                vector[k] = x
            vectors.append(vector)
        return vectors, scale

    def slacks_of(
        self, domain: Domain, vectors: list[list[int]], scale: int
    ) -> list[tuple[int, int, int]]:
        """The slacks c - a x of the domain that are not 0 everywhere, as forms on the plane."""
        slacks, found = [slack for slack in domain.slacks if slack], list[tuple[int, int, int]]()
        self.meter.pay(
            3 * sum(2 + len(slack) for slack in slacks),
            self.width,
            longest(slack.values() for slack in slacks),
        )
        for slack in slacks:
            pairs = [(symbol - 1, a) for symbol, a in slack.items() if symbol]
            c, x, y = (sum(a * vector[j] for j, a in pairs) for vector in vectors)
            found.append((c + scale * slack.get(0, 0), x, y))
        return found

    def packed_form(self, form: Sequence[int]) -> int:
        """The numbers of a form in one integer, with borrows."""
        c, a, b = form
        return c + (a << self.width) + (b << 2 * self.width)

    def unpacked(self, packed: list[int]) -> list[tuple[int, int, int]]:
        """The forms. All numbers are made positive by an offset before they are cut apart."""
        width, digit, half = self.width, (1 << self.width) - 1, 1 << self.width - 1
        self.meter.pay(8 * len(packed), 3 * width)
        offset = self.packed_form((half, half, half))
        shifted = [x + offset for x in packed]
        return [
            ((x & digit) - half, (x >> width & digit) - half, (x >> 2 * width) - half)
            for x in shifted
        ]

    def move(self, mask: int) -> None:
        """Let the neurons of a mask be on."""
        neurons = self.neurons
        for number, layer in enumerate(neurons.network.layers[1:-1], 1):
            before = neurons.before(mask, number)
            if before == self.known_for[number]:
                continue
            states = neurons.states_of(mask, number - 1)
            scale = self.scales[number - 1]
            active = [*compress(self.packed[number - 1], states)]
            operations = len(layer.rows) * (len(active) + 4 + len(states) // 4)
            self.meter.pay(operations, 3 * self.width, neurons.bits[number])
            self.packed[number] = [
                product_sum(compress(row, states), active) + b * scale
                for row, b in zip(layer.rows, layer.bias, strict=True)
            ]
            self.forms[number] = self.unpacked(self.packed[number])
            self.known_for[number], self.scales[number] = before, scale * layer.denominator

    def check_ridge(self, u: int, v: int, mask: int) -> None:
        """The point where u and v vanish lies on a ridge, with the signs of the mask."""
        neurons, name = self.neurons, f"neurons {u}, {v}"
        require(u < v < neurons.count, f"neurons u < v below {neurons.count}", name)
        require(mask >> neurons.count == 0, f"a mask of {neurons.count} bits", name)
        require(mask >> u & 1 == 0, "u not in the mask", name)
        require(mask >> v & 1 == 0, "v not in the mask", name)
        self.move(mask)
        (c, a, b), (z, x, y) = (self.forms[neurons.layer[w]][neurons.index(w)] for w in (u, v))
        p, q, r = a * y - b * x, b * z - c * y, c * x - a * z  # homogeneous coordinates, p for 1
        require(p != 0, "forms with exactly one common zero", name)
        p, q, r = (p, q, r) if p > 0 else (-p, -q, -r)
        self.meter.pay(2 * neurons.count, 2 * self.width, self.width)
        values = [c * p + a * q + b * r for forms in self.forms for c, a, b in forms]
        require(values.count(0) == 2, "exactly two zeros", name)
        signs = [x > 0 for x in values]
        require(signs == neurons.states(mask), "the signs of the mask", name)
        self.meter.pay(3 * len(self.slacks), 2 * self.width, longest(self.slacks))
        inside = all(c * p + a * q + b * r > 0 for c, a, b in self.slacks)
        require(inside, "a point strictly inside the domain", name)


# -- Derivatives modulo P


class Derivatives:
    """Derivatives where the neurons of a mask are on; some are kept from one mask to the next.

    g is a sum of multiples of the outputs: if its derivative is not 0, one of theirs is not.
    """

    #: Maximum number of derivatives by inputs that are kept.
    MAX_KEPT = 2**21

    def __init__(self, neurons: Neurons) -> None:
        self.neurons, self.meter = neurons, neurons.meter
        network = neurons.network
        self.num_inputs, depth = network.widths[0], len(neurons.widths)
        powers = [pow(ON_INPUTS, k, P) for k in range(1, self.num_inputs + 1)]
        along = tuple(product_sum(row, powers) % P for row in neurons.rows[0])
        self.by_input = [*neurons.columns[0], along]  # the direction is one more input
        self.on_outputs = [pow(ON_OUTPUTS, o, P) for o in range(1, network.widths[-1] + 1)]
        self.kept_influences = [(-1, list[int]())] * depth
        self.kept_slopes, self.num_kept = dict[tuple[int, int, bytes], list[int]](), 0

    def influence(self, w: int, mask: int) -> int:
        """The derivative of g by the activation of a neuron."""
        neurons = self.neurons
        layer = neurons.layer[w]
        column: Iterable[int] = neurons.columns[layer + 1][neurons.index(w)]
        if layer + 1 < len(neurons.widths):
            column = compress(column, neurons.states_of(mask, layer + 1))
        return product_sum(column, self.influences(layer + 1, mask)) % P

    def influences(self, layer: int, mask: int) -> list[int]:
        """The derivatives of g by the neurons of a layer that are on, or by the outputs."""
        neurons = self.neurons
        if layer == len(neurons.widths):
            return self.on_outputs
        above = mask >> neurons.starts[layer]
        if self.kept_influences[layer][0] != above:
            later = self.influences(layer + 1, mask)
            columns = compress(neurons.columns[layer + 1], neurons.states_of(mask, layer))
            width = neurons.network.widths[layer + 2]
            num_on = neurons.part(mask, layer).bit_count()
            self.meter.pay_modular(num_on * (len(later) + 2 + width // 4))
            if layer + 1 < len(neurons.widths):
                states = neurons.states_of(mask, layer + 1)
                found = [product_sum(compress(column, states), later) % P for column in columns]
            else:
                found = [product_sum(column, later) % P for column in columns]
            self.kept_influences[layer] = above, found
        return self.kept_influences[layer][1]

    def bend(self, u: int, v: int, mask: int) -> int:
        """The derivative of z_v by the activation of u in an earlier layer; 0 in the same one."""
        neurons = self.neurons
        first, last = neurons.layer[u], neurons.layer[v]
        if first == last:
            return 0
        column = self.kept_entries(first + 1, v, mask, neurons.columns[first + 1][neurons.index(u)])
        for layer in range(first + 2, last + 1):
            states = neurons.states_of(mask, layer - 1)
            rows = self.kept_entries(layer, v, mask, neurons.rows[layer])
            self.meter.pay_modular(len(rows) * (len(column) + 2 + len(states) // 4))
            column = [product_sum(compress(row, states), column) % P for row in rows]
        return int(column[0]) % P

    def kept_entries(self, layer: int, v: int, mask: int, entries: Sequence[Any]) -> list[Any]:
        """The entry of v in its own layer, or the entries of neurons that are on in one before."""
        neurons = self.neurons
        if layer == neurons.layer[v]:
            return [entries[neurons.index(v)]]
        return [*compress(entries, neurons.states_of(mask, layer))]

    def slopes(self, layer: int, mask: int, k: int) -> list[int]:
        """The derivatives of the neurons of a layer that are on, by input k.

        For k = n_0 they are the derivatives along the direction.
        """
        neurons = self.neurons
        self.meter.units(neurons.starts[layer + 1] // 4)
        key = layer, k, neurons.key(neurons.before(mask, layer + 1))
        if key not in self.kept_slopes:
            found = self.new_slopes(layer, mask, k)
            if self.num_kept + len(found) > self.MAX_KEPT:
                self.meter.release(2 * self.num_kept)
                self.kept_slopes.clear()
                self.num_kept = 0
            self.meter.hold(2 * len(found))
            self.kept_slopes[key] = found
            self.num_kept += len(found)
        return self.kept_slopes[key]

    def new_slopes(self, layer: int, mask: int, k: int) -> list[int]:
        """The same, from the layer before."""
        neurons = self.neurons
        states = neurons.states_of(mask, layer)
        self.meter.units(500 + 40 * len(states))
        if layer == 0:
            return [*compress(self.by_input[k], states)]
        below, before = self.slopes(layer - 1, mask, k), neurons.states_of(mask, layer - 1)
        self.meter.pay_modular(sum(states) * (len(below) + 2 + len(before) // 4))
        rows = compress(neurons.rows[layer], states)
        return [product_sum(compress(row, before), below) % P for row in rows]

    def along_direction(self, w: int, mask: int) -> int:
        """The derivative of z_w along the direction."""
        neurons = self.neurons
        layer = neurons.layer[w]
        if layer == 0:
            return int(self.by_input[self.num_inputs][neurons.index(w)])
        below = self.slopes(layer - 1, mask, self.num_inputs)
        states = neurons.states_of(mask, layer - 1)
        self.meter.pay_modular(len(below) + len(states) // 4)
        return product_sum(compress(neurons.rows[layer][neurons.index(w)], states), below)


# -- Types of ridges, and links


class Classes(dict[Piece, Piece]):
    """Disjoint sets, each with a representative."""

    def root(self, piece: Piece) -> Piece:
        """The representative; a new piece is a set of its own. Paths are halved on the way."""
        while (above := self.setdefault(piece, piece)) != piece:
            self[piece] = piece = self[above]
        return piece

    def join(self, one: Piece, other: Piece) -> None:
        """Unite two sets."""
        self[self.root(one)] = self.root(other)


class Ridge(NamedTuple):
    """A listed ridge; its type is A, B or C, or empty if it is not good."""

    u: int
    v: int
    mask: int
    type: str
    pieces: tuple[Piece, Piece]  # of u and of v

    def sectors(self) -> list[int]:
        """The masks of the four sectors around it."""
        bits = 1 << self.u, 1 << self.v
        return [self.mask | x | y for x in (0, bits[0]) for y in (0, bits[1])]


def with_inputs(slices: Any) -> Iterator[dict[str, Any]]:
    """All slices; one with a denominator and no inputs gets the inputs that were listed last."""
    last = None
    for entry in slices:
        if "denominator" in entry and "inputs" not in entry:
            require(last is not None, "inputs of a slice before", "none")
            entry = {**entry, "inputs": last}
        last = entry.get("inputs", last)
        yield entry


class Ridges:
    """The listed ridges, strictly inside a domain, and the links of their pieces."""

    #: The types of ridges that link the pieces of u, of v.
    links_u: tuple[str, ...] = ("A", "B")
    links_v: tuple[str, ...] = ("A", "B", "C")

    def __init__(self, neurons: Neurons, is_regular: bool, domain: Domain = EVERYWHERE) -> None:
        self.neurons, self.domain, self.is_regular = neurons, domain, is_regular
        self.derivatives = Derivatives(neurons)
        self.listed, self.links = list[Ridge](), Classes()

    def read(self, slices: Any) -> None:
        """Check and add the ridges of all slices."""
        for entry in with_inputs(slices):
            plane = PlaneForms(self.neurons, entry, self.domain)
            for u, v, text in entry["ridges"]:
                mask = integer(text)
                plane.check_ridge(u, v, mask)
                self.add(u, v, mask)

    def add(self, u: int, v: int, mask: int) -> None:
        """Add a ridge with its type, and link its pieces."""
        neurons = self.neurons
        neurons.meter.units(20_000 + 4 * neurons.count)
        neurons.meter.hold(24 + neurons.count // 64)
        kind = self.type_of(u, v, mask)
        own = [(u, neurons.key(m)) for m in (mask, mask | 1 << v)]
        across = [(v, neurons.key(m)) for m in (mask, mask | 1 << u)]
        self.listed.append(Ridge(u, v, mask, kind, (own[1], across[1])))
        if kind in self.links_v:
            self.links.join(*across)
        if kind in self.links_u:
            self.links.join(*own)
        elif kind == "C":
            self.links.root(own[1])

    def type_of(self, u: int, v: int, mask: int) -> str:
        """The type, from the rays across which the gradient of f jumps.

        The jump at v is a product of `late` with a gradient, the jump at u one of `off`, or of
        off + c late where v is on.
        """
        neurons, derivatives = self.neurons, self.derivatives
        late, off = derivatives.influence(v, mask), derivatives.influence(u, mask)
        c = derivatives.bend(u, v, mask)
        if late == 0 or (off + c * late) % P == 0:
            return ""
        if neurons.layer[u] == neurons.layer[v]:
            kind = "A"
        elif c == 0:
            return ""
        elif off != 0:
            kind = "B"
        else:
            is_off = neurons.part(mask, neurons.layer[v]) == 0
            kind = "C" if is_off else ""
        if self.is_regular and kind:
            return kind if kind != "C" and self.is_clear(u, v, mask, (c, off, late)) else ""
        return kind

    def is_clear(self, u: int, v: int, mask: int, jumps: tuple[int, int, int]) -> bool:
        """Whether the derivative of g along the direction is not 0 on any of the four sectors."""
        (c, off, late), derivatives = jumps, self.derivatives
        layer = self.neurons.layer[v]
        slopes = derivatives.slopes(layer, mask, derivatives.num_inputs)
        self.neurons.meter.pay_modular(len(slopes))
        base = product_sum(slopes, derivatives.influences(layer, mask))
        at_u, at_v = (derivatives.along_direction(w, mask) for w in (u, v))
        sectors = 0, off * at_u, late * at_v, off * at_u + late * (at_v + c * at_u)
        return all((base + jump) % P for jump in sectors)


# -- Families


class Extent(NamedTuple):
    """How much a claim determines: all neurons of `num_layers` hidden layers, and some of the next.

    `num_full` layers are listed without gaps.
    """

    num_layers: int
    listed: list[int]
    num_full: int

    @classmethod
    def of(cls, neurons: Neurons, claim: Any) -> Extent:
        """The extent of a claim identifiable or determined."""
        depth = len(neurons.widths)
        num_layers, more = claim.get("layers", depth), claim.get("neurons", [])
        if claim["kind"] == "determined":
            fact = f"from 1 to {depth - 1} layers, the next one hidden"
            require(1 <= num_layers < depth, fact, str(num_layers))
        listed, num_full = list(range(neurons.starts[num_layers])), num_layers
        if more:
            check_indices(more, neurons.widths[num_layers], f"neurons of layer {num_layers + 1}")
            listed += [neurons.starts[num_layers] + i for i in more]
            num_full += len(more) == neurons.widths[num_layers]
        return cls(num_layers, listed, num_full)


class PieceSet:
    """Pieces of one neuron, of families that were joined.

    As masks of neurons of the layer before: where they are on, off, or crossed, that is, both
    within one family, and which of them have determined weights; the crossed ones have.
    """

    def __init__(self, neuron: int) -> None:
        self.neuron, self.masks, self.families = neuron, list[int](), list[PieceSet]()
        self.on = self.off = self.crossed = self.determined = 0

    def join(self, other: PieceSet) -> PieceSet:
        """With a family."""
        self.masks.extend(other.masks)
        self.families.append(other)
        self.on, self.off = self.on | other.on, self.off | other.off
        self.crossed |= other.crossed
        self.determined |= other.determined
        return self


class Families:
    """The families of linked pieces, and how long their chains of crossings are."""

    def __init__(self, ridges: Ridges) -> None:
        self.ridges, self.neurons, self.meter = ridges, ridges.neurons, ridges.neurons.meter
        self.used, self.members = set[Piece](), dict[Piece, list[int]]()
        links = ridges.links
        self.meter.units(4_000 * (len(links) + len(ridges.listed)))
        self.meter.hold(4 * len(links))
        for piece in list(links):
            mask = int.from_bytes(piece[1], "little")
            self.members.setdefault(links.root(piece), []).append(mask)
        self.levels, self.chains = Classes(), dict[Piece, int]()
        self.find_chains()

    def find_chains(self) -> None:
        """The longest chain up from each level; families that meet at type A are in one level."""
        links, neurons = self.ridges.links, self.neurons
        good = [ridge for ridge in self.ridges.listed if ridge.type]
        ends = [
            (ridge.type, links.root(ridge.pieces[0]), links.root(ridge.pieces[1])) for ridge in good
        ]
        for kind, low, high in ends:
            if kind == "A":
                self.levels.join(low, high)
        steps = [
            (self.levels.root(low), self.levels.root(high))
            for kind, low, high in ends
            if kind != "A"
        ]
        for low, high in sorted(steps, key=lambda step: -neurons.layer[step[0][0]]):
            self.chains[low] = max(self.chains.get(low, 0), self.chains.get(high, 0) + 1)

    def chain(self, root: Piece) -> int:
        """The length of the longest chain of crossings up from a family."""
        return self.chains.get(self.levels.root(root), 0)

    def family(self, w: int, number: int) -> PieceSet:
        """The family of neuron w at a ridge, placed and named for the first time."""
        neurons, listed = self.neurons, self.ridges.listed
        require(w < neurons.count, f"a neuron below {neurons.count}", str(w))
        require(number < len(listed), f"a ridge below {len(listed)}", str(number))
        ridge, layer, name = listed[number], neurons.layer[w], f"neuron {w}, ridge {number}"
        require(w in (ridge.u, ridge.v), f"a ridge of neuron {w}", f"ridge {number}")
        root = self.named_root(ridge, w, f"ridge {number}")
        require(root not in self.used, "families that are listed once", name)
        self.used.add(root)
        chain = self.chain(root)
        wanted = len(neurons.widths) - 1 - layer
        require(chain == wanted, f"a chain of {wanted} crossings up from neuron {w}", str(chain))
        return self.of_pieces(w, self.members[root])

    def named_root(self, ridge: Ridge, w: int, name: str) -> Piece:
        """The representative of the family of neuron w at a good ridge."""
        require(ridge.type != "", f"a good ridge of neuron {w}", name)
        return self.ridges.links.root(ridge.pieces[w == ridge.v])

    def of_pieces(self, w: int, masks: list[int]) -> PieceSet:
        """What some pieces of one family show."""
        neurons, layer, found = self.neurons, self.neurons.layer[w], PieceSet(w)
        found.masks = masks
        before = neurons.before(-1, layer) ^ neurons.before(-1, max(layer - 1, 0))
        self.meter.pay(6 * len(masks), neurons.count)
        for mask in masks:
            found.on, found.off = found.on | mask & before, found.off | ~mask & before
        found.crossed = found.determined = found.on & found.off
        return found


class FamilySets:
    """For each neuron of the claim the set of its families, as they are joined one by one."""

    def __init__(self, families: Families, extent: Extent) -> None:
        self.families, self.extent = families, extent
        self.neurons, self.meter = families.neurons, families.meter
        self.sets, self.independent = dict[int, PieceSet](), dict[int, bool]()

    def choose(self, chosen: Any) -> None:
        """The families F_w."""
        listed = self.extent.listed
        fact = f"families of {len(listed)} neurons, in order"
        require([w for w, _ in chosen] == listed, fact, str(len(chosen)))
        for w, number in chosen:
            self.sets[w] = PieceSet(w).join(self.families.family(w, number))

    def join_by_crossing(self, joined: Any) -> None:
        """Join families to sets by what both cross."""
        told_apart = set[int]()
        for w, number in joined:
            new = self.next_family(w, number)
            if self.neurons.layer[w] > 0:  # in the first layer nothing else is required
                self.check_peers(w, told_apart, "crossed")
                self.check_joint(new, "crossed", f"neuron {w}, ridge {number}")
            self.sets[w].join(new)

    def next_family(self, w: int, number: int) -> PieceSet:
        """A family that is to be joined, of a neuron in a layer that is listed as a whole."""
        new = self.families.family(w, number)
        is_full = self.neurons.layer[w] < self.extent.num_full
        require(is_full, "a neuron of a layer that is listed as a whole", f"neuron {w}")
        return new

    def peers(self, layer: int) -> list[PieceSet]:
        """The sets of the neurons of a layer."""
        return [self.sets[w] for w in self.neurons.neurons_of(layer)]

    def check_peers(self, w: int, told_apart: set[int], by: str) -> None:
        """The sets of a layer are told apart; what is joined to them later keeps them apart."""
        layer = self.neurons.layer[w]
        if layer in told_apart:
            return
        told_apart.add(layer)
        fact = f"sets of layer {layer + 1} that are told apart"
        for one, other in combinations(self.peers(layer), 2):
            require(self.are_apart(one, other, by), fact)

    def check_joint(self, new: PieceSet, by: str, name: str) -> None:
        """A family belongs to the set of its neuron, which it meets, and to no other set."""
        own = self.sets[new.neuron]
        fact = f"a family that can be joined: something {by} that the set shares"
        require(self.common(new, own, by) != 0, fact, name)
        fact = "a family that can be joined: told apart from the sets of other neurons"
        for other in self.peers(self.neurons.layer[new.neuron]):
            if other is not own:
                require(self.are_apart(new, other, by), fact, name)

    def common(self, new: PieceSet, own: PieceSet, by: str) -> int:
        """What both families share."""
        return int(getattr(new, by) & getattr(own, by))

    def are_apart(self, one: PieceSet, other: PieceSet, by: str) -> bool:
        """Whether the rows of two neurons are independent where both cross, or see, neurons."""
        neurons = self.neurons
        layer = neurons.layer[one.neuron]
        if layer == 0:
            return False
        a, b = (neurons.rows[layer][neurons.index(own.neuron)] for own in (one, other))
        common = neurons.part(getattr(one, by) & getattr(other, by), layer - 1)
        places = neurons.widths[layer - 1] // 4 + 4 * common.bit_count()
        self.meter.pay_modular(16 + places)
        return are_independent(a, b, ones(common))


def are_independent(a: Sequence[int], b: Sequence[int], places: list[int]) -> bool:
    """Whether two rows are independent modulo P at some places."""
    first = next((h for h in places if a[h] or b[h]), 0)
    return any((a[first] * b[h] - a[h] * b[first]) % P for h in places)


# -- Linear systems


class Unknown(NamedTuple):
    """An unknown of a system: it multiplies the gradient of h, times a factor, in some states."""

    h: int  # index in the layer before
    states: tuple[bool, ...]  # where it counts: h is on, off
    factor: int


def rank_form(
    sets: FamilySets, derivatives: Any, own: PieceSet, unknowns: list[Unknown]
) -> dict[int, int]:
    """The echelon form of the equations at the pieces of a neuron, until the rank is full.

    At each piece the gradients of the layer before, each times its factor and its unknown, have the
    sum 0.
    """
    neurons, size, basis = sets.neurons, len(unknowns), dict[int, int]()
    layer, seen, relevant = neurons.layer[own.neuron] - 1, set[bytes](), 0
    for unknown in unknowns:
        if len(unknown.states) == 1:
            relevant |= 1 << neurons.starts[layer] + unknown.h
    for mask in own.masks:
        if len(basis) == size:
            break
        sets.meter.pay(8, neurons.count)
        key = neurons.key(mask & relevant | neurons.before(mask, layer))
        if key in seen:
            continue
        seen.add(key)
        add_equations(neurons, derivatives, layer, mask, unknowns, basis)
    return basis


def add_equations(
    neurons: Neurons,
    derivatives: Any,
    layer: int,
    mask: int,
    unknowns: list[Unknown],
    basis: dict[int, int],
) -> None:
    """The equations of one piece, one for each input, join the echelon form."""
    size, part = len(unknowns), neurons.part(mask, layer)
    places = [
        (c, unknown)
        for c, unknown in enumerate(unknowns)
        if (part >> unknown.h & 1 == 1) in unknown.states
    ]
    rows = [neurons.rows[layer][unknown.h] for _, unknown in places]
    neurons.meter.units(300 * size)
    if layer > 0:
        states = neurons.states_of(mask, layer - 1)
        neurons.meter.units(30 * len(rows) * len(states))
        rows = [[*compress(row, states)] for row in rows]
    for k in range(derivatives.num_inputs):
        equation = [0] * size
        below = derivatives.slopes(layer - 1, mask, k) if layer > 0 else []
        neurons.meter.pay_modular(len(rows) * (len(below) + 2) + size // 4)
        for (c, unknown), weights in zip(places, rows, strict=True):
            slope = product_sum(weights, below) if layer > 0 else weights[k]
            equation[c] = slope * unknown.factor % P
        reduce_into(basis, equation, P, neurons.meter)
        if len(basis) == size:
            return


def by_sight(sets: FamilySets, derivatives: Any, own: PieceSet) -> tuple[int, int]:
    """The neurons of the layer before that are on, off, at pieces that suffice by themselves.

    All earlier layers are on there. If the gradients of the whole layer before are independent,
    then the equations at one piece leave only 0 for all unknowns that count there.
    """
    neurons = sets.neurons
    layer, on, off = neurons.layer[own.neuron] - 1, 0, 0
    full = (1 << neurons.starts[layer]) - 1
    sets.meter.pay(6 * len(own.masks), neurons.count)
    for mask in own.masks:
        if mask & full == full and is_independent(sets, derivatives, layer):
            on, off = on | neurons.part(mask, layer), off | neurons.part(~mask, layer)
    return on, off


def is_independent(sets: FamilySets, derivatives: Any, layer: int) -> bool:
    """Whether the gradients of a layer are independent where all earlier layers are on."""
    neurons, basis = sets.neurons, dict[int, int]()
    width, full = neurons.widths[layer], (1 << neurons.starts[layer]) - 1
    if layer not in sets.independent:
        if width <= min([derivatives.num_inputs, *neurons.widths[:layer]]):
            unknowns = [Unknown(h, (True, False), 1) for h in range(width)]
            add_equations(neurons, derivatives, layer, full, unknowns, basis)
        sets.independent[layer] = len(basis) == width
    return sets.independent[layer]


# -- Signs (D3)


#: Maximum number of neurons of which all sets are tried, one after the other.
MAX_TRIED = 12


class OwnSystem(NamedTuple):
    """The equations at the pieces of a neuron v, in echelon form.

    Their unknowns are s_vh for the neurons `on`, t_vh for `off`, and p_h for `signs`, times W_vh.
    """

    weights: list[int]
    on: list[int]
    off: list[int]
    signs: list[int]
    rows: list[list[int]]


class SignSystem:
    """The system in the signs of one layer, at the pieces of neurons v of the layer above.

    Any set T of these neurons will do. Of each v first its own unknowns, s_vh and t_vh, are
    eliminated; then come the p_h of neurons h that are not oriented. Otherwise each set of these
    neurons, as those with other signs, is excluded by some v.
    """

    def __init__(self, sets: FamilySets, derivatives: Any, layer: int) -> None:
        self.sets, self.derivatives, self.layer = sets, derivatives, layer
        self.neurons = sets.neurons
        self.above = [v for v in sets.sets.values() if self.neurons.layer[v.neuron] == layer + 1]
        self.total, self.wanted, self.free = dict[int, int](), set[int](), 0
        self.systems = list[OwnSystem]()

    def check(self) -> None:
        """The layer's signs are determined, if neurons above belong to the claim."""
        if not self.above or any(self.is_crossed(own) for own in self.above):
            return
        self.free = self.not_oriented()
        if not any(self.is_enough(own) for own in self.above) and not self.all_excluded():
            got = f"{len(self.total)} of {len(self.wanted)}"
            require(False, f"full rank for layer {self.layer + 1}", got)

    def is_crossed(self, own: PieceSet) -> bool:
        """Whether at some piece of v all neurons of the layer that are on cross it."""
        self.sets.meter.pay(2 * len(own.masks), self.neurons.count)
        return any(not self.neurons.part(mask & ~own.crossed, self.layer) for mask in own.masks)

    def all_excluded(self) -> bool:
        """Whether each set of neurons that are not oriented is excluded by the system of some v."""
        free = ones(self.free)
        return len(free) <= MAX_TRIED and all(
            any(self.excludes(system, {*flipped}) for system in self.systems)
            for size in range(1, len(free) + 1)
            for flipped in combinations(free, size)
        )

    def excludes(self, system: OwnSystem, flipped: set[int]) -> bool:
        """Whether only 0 solves the system of v where the signs of these neurons are other ones."""
        num_on, num_own = len(system.on), len(system.on) + len(system.off)
        kept = [c for c, h in enumerate(system.on) if h not in flipped]
        kept += [num_on + c for c, h in enumerate(system.off) if h in flipped]
        known = [(c, system.weights[h]) for c, h in enumerate(system.on) if h in flipped]
        known += [(num_own + c, 1) for c, h in enumerate(system.signs) if h in flipped]
        size, basis = len(kept) + bool(known), dict[int, int]()
        for row in system.rows:
            self.sets.meter.pay_modular(size + len(known) + 4)
            equation = [row[c] for c in kept]
            if known:
                equation.append(sum(row[c] * x for c, x in known) % P)
            reduce_into(basis, equation, P, self.sets.meter)
            if len(basis) == size:
                return True
        return False

    def not_oriented(self) -> int:
        """The neurons of the layer at all of whose pieces some neuron of the layer is on."""
        found = 0
        for h, w in enumerate(self.neurons.neurons_of(self.layer)):
            masks = self.sets.sets[w].masks
            self.sets.meter.pay(2 * len(masks), self.neurons.count)
            if all(self.neurons.part(mask, self.layer) for mask in masks):
                found |= 1 << h
        return found

    def is_enough(self, own: PieceSet) -> bool:
        """Let v join T, if its own unknowns have full rank; whether the rank is full then."""
        neurons, layer = self.neurons, self.layer
        crossed, weights = (
            neurons.part(own.crossed, layer),
            neurons.rows[layer + 1][neurons.index(own.neuron)],
        )
        on, off = (neurons.part(side, layer) & ~crossed for side in (own.on, own.off))
        unknowns = [Unknown(h, (True,), 1) for h in ones(on)]
        unknowns += [Unknown(h, (False,), 1) for h in ones(off & self.free)]
        num_own = len(unknowns)
        signs = ones(crossed & self.free)
        seen_on, seen_off = by_sight(self.sets, self.derivatives, own)
        rest = on & ~seen_on | off & self.free & ~seen_off
        rest |= crossed & self.free & ~(seen_on | seen_off)
        if not rest and all(weights[h] for h in signs):
            return True
        unknowns += [Unknown(h, (True, False), weights[h]) for h in signs]
        basis = rank_form(self.sets, self.derivatives, own, unknowns)
        if len(basis) == len(unknowns):
            return True
        if self.free.bit_count() <= MAX_TRIED:
            self.keep(OwnSystem(weights, ones(on), ones(off & self.free), signs, []), basis)
        if sum(c < num_own for c in basis) < num_own:
            return False
        self.wanted.update(signs)
        for c, packed in basis.items():
            if c >= num_own:
                self.add(signs[c - num_own :], packed)
        return len(self.total) == len(self.wanted)

    def keep(self, system: OwnSystem, basis: dict[int, int]) -> None:
        """Keep the equations of v, without the factor that makes their first coefficient 1."""
        size = len(system.on) + len(system.off) + len(system.signs)
        self.sets.meter.units(60 * size * len(basis))
        self.sets.meter.hold(size * len(basis))
        for c, packed in basis.items():
            system.rows.append([0] * c + [1, *unpack(packed, size - c - 1, P)])
        self.systems.append(system)

    def add(self, signs: list[int], packed: int) -> None:
        """An equation in the p_h alone, its first coefficient 1, joins the ones from all of T."""
        row = [0] * self.neurons.widths[self.layer]
        for h, x in zip(signs, [1, *unpack(packed, len(signs) - 1, P)], strict=True):
            row[h] = x
        reduce_into(self.total, row, P, self.sets.meter)


# -- Weights (D2)


class WeightSystem:
    """Which weights between hidden layers are determined by the pieces of their neurons."""

    #: Whether weights may be 0; then there are no sources.
    may_be_zero = False

    def __init__(self, sets: FamilySets, derivatives: Any) -> None:
        self.sets, self.derivatives, self.neurons = sets, derivatives, sets.neurons

    def check(self, evidence: Any, ridges: Ridges) -> None:
        """No weight is 0, all of them are determined, or they are at sources (D2')."""
        for own in self.sets.sets.values():
            self.look_together(own)
        self.join_by_weights(evidence["joined"])
        undetermined = self.check_determined()
        order = evidence["order"]
        require(
            sorted(order) == sorted(undetermined),
            "an order of the sources",
            f"{len(undetermined)} sources",
        )
        if order:
            Sources(self.sets, ridges, undetermined).check(order)

    def look_together(self, own: PieceSet) -> None:
        """What a set shows together, or else what its members show by their own systems."""
        self.look(own)
        if own.on & ~own.determined and len(own.families) > 1:
            for family in own.families:
                self.look(family)
                own.determined |= family.determined

    def look(self, own: PieceSet) -> None:
        """The weights on what is on at some piece are determined if only 0 solves the system."""
        layer = self.neurons.layer[own.neuron]
        if layer == 0:
            return
        seen, _ = by_sight(self.sets, self.derivatives, own)
        hidden = ones(self.neurons.part(own.on & ~own.determined, layer - 1) & ~seen)
        unknowns = [Unknown(h, (True,), 1) for h in hidden]
        basis = rank_form(self.sets, self.derivatives, own, unknowns)
        if len(basis) == len(unknowns):
            own.determined |= own.on

    def join_by_weights(self, joined: Any) -> None:
        """Join families to sets by weights that both determine."""
        told_apart = set[int]()
        for w, number in joined:
            new = self.sets.next_family(w, number)
            own = self.sets.sets[w]
            self.sets.check_peers(w, told_apart, "determined")
            self.look(new)
            self.sets.check_joint(new, "determined", f"neuron {w}, ridge {number}")
            own.join(new)
            self.look(own)

    def check_determined(self) -> dict[int, list[int]]:
        """No weight is 0, and all are determined; the exceptions, in the last layer, by their h."""
        neurons, extent = self.neurons, self.sets.extent
        depth, undetermined = len(neurons.widths), dict[int, list[int]]()
        has_sources = extent.num_layers == depth and not self.may_be_zero
        last = depth - 1 if has_sources else -1
        for v, own in self.sets.sets.items():
            layer, name = neurons.layer[v], f"neuron {v}"
            if layer == 0:
                continue
            weights = neurons.network.layers[layer].rows[neurons.index(v)]
            require(self.may_be_zero or all(weights), "no weight 0", name)
            require(
                not own.on & ~own.determined, "all weights of neurons that are on determined", name
            )
            full = (1 << neurons.widths[layer - 1]) - 1
            off = ones(full & ~neurons.part(own.on, layer - 1))
            require(layer == last or not off, "all weights determined", name)
            for h in off:
                undetermined.setdefault(h, []).append(v)
        return undetermined


class Sources:
    """(D2'): neurons h of layer L-2 that are on at no piece of some v of layer L-1.

    Their weights are determined at their own zeros.
    """

    def __init__(
        self, sets: FamilySets, ridges: Ridges, undetermined: dict[int, list[int]]
    ) -> None:
        self.sets, self.ridges, self.undetermined = sets, ridges, undetermined
        self.neurons, self.meter = sets.neurons, sets.meter
        self.last = len(self.neurons.widths) - 1
        self.start = self.neurons.starts[self.last - 1]

    def check(self, order: list[int]) -> None:
        """The sources in their order: from each one on, those after it are off."""
        self.check_rows()
        left = sum(1 << self.start + h for h in order)
        self.check_sector(left)
        for h in order:
            left ^= 1 << self.start + h
            self.check_source(h, left)

    def check_rows(self) -> None:
        """Any two neurons of the last layer are independent where both see the layer before."""
        neurons, last, width = self.neurons, self.last, self.neurons.widths[self.last - 1]
        rows = [[x % P for x in row] for row in neurons.network.layers[last].augmented()]
        for v, w in combinations(neurons.neurons_of(last), 2):
            common = neurons.part(self.sets.sets[v].on & self.sets.sets[w].on, last - 1)
            self.meter.pay_modular(4 * (width + 1))
            apart = are_independent(
                rows[neurons.index(v)], rows[neurons.index(w)], [*ones(common), width]
            )
            require(apart, f"determined rows {v}, {w} that are independent")

    def check_sector(self, left: int) -> None:
        """On some sector all sources are off, and no layer before the last one is."""
        listed = self.ridges.listed
        self.meter.pay(8 * len(listed) * (self.last + 1), self.neurons.count)
        masks = (mask for ridge in listed for mask in ridge.sectors() if not mask & left)
        layers = range(self.last)
        found = any(all(self.neurons.part(mask, layer) for layer in layers) for mask in masks)
        require(found, "a sector where all sources are off")

    def check_source(self, h: int, left: int) -> None:
        """The jumps of the gradient at zeros of a source have full rank in the weights on it."""
        neurons, vs, basis = self.neurons, self.undetermined[h], dict[int, int]()
        self.meter.pay(2 * len(self.ridges.listed))
        top = neurons.starts[self.last]
        for mark in sorted(self.marks(self.start + h, vs, left)):
            for row in neurons.rows[self.last + 1]:
                self.meter.pay_modular(len(vs))
                equation = [row[v - top] * on % P for v, on in zip(vs, mark, strict=True)]
                reduce_into(basis, equation, P, self.meter)
        require(len(basis) == len(vs), f"full rank for source {h}", str(len(basis)))

    def marks(self, w: int, vs: list[int], left: int) -> set[tuple[bool, ...]]:
        """Which of some neurons are on, at the rays of listed ridges where w vanishes."""
        found = set[tuple[bool, ...]]()
        for ridge in self.ridges.listed:
            if w in (ridge.u, ridge.v):
                self.meter.pay(6 * len(vs), self.neurons.count)
                found.update(
                    tuple(bool(mask >> v & 1) for v in vs)
                    for mask in self.rays(ridge, w)
                    if not mask & left
                )
        return found

    def rays(self, ridge: Ridge, w: int) -> Iterable[int]:
        """The masks of the two rays of a ridge where w vanishes."""
        other = ridge.u + ridge.v - w
        return ridge.mask, ridge.mask | 1 << other


# -- The theorems

#: Maximum number of signs at all ridges together: ridges times hidden neurons.
MAX_SIGNS = 2**28
LISTED = [(int, int, NATURAL)]
OF_SOME_INPUTS = {
    "denominator": NATURAL,
    "point": ROW,
    "directions": (ROW, ROW),
    "ridges": LISTED,
}
SLICE = OneOf(
    (
        {"point": [RATIONAL], "directions": ([RATIONAL], [RATIONAL]), "ridges": LISTED},
        {"inputs": ROW, **OF_SOME_INPUTS},
        OF_SOME_INPUTS,
    )
)
DEEP_EVIDENCE = {
    "ridges": {"slices": [SLICE]},
    "families": {"chosen": [(int, int)], "joined": [(int, int)]},
    "signs": {},
    "weights": {"joined": [(int, int)], "order": [int]},
    "membership": MEMBERSHIP,
}
DEEP_SAYS = {
    "ridges": "each listed plane meets its ridges, inside the domain, where exactly two neurons "
    "vanish",
    "families": "every hidden neuron of the claim has a placed family, and the other families can "
    "be joined",
    "signs": "other signs in a hidden layer are excluded by crossings or by linear systems",
    "weights": "every weight between hidden layers of the claim is nonzero and determined",
}


@theorem(
    "deep",
    kind="identifiable",
    among=DEEP_CLASSES,
    page="theory/deep.md",
    evidence=DEEP_EVIDENCE,
    says=DEEP_SAYS,
)
@theorem(
    "deep-part",
    kind="determined",
    among=DEEP_CLASSES,
    page="theory/deep.md",
    evidence=DEEP_EVIDENCE,
    says=DEEP_SAYS,
)
def deep(case: Case) -> None:
    """Theorem D, as a whole or in part."""
    check_deep(case, Ridges, Families, FamilySets, SignSystem, WeightSystem)


def check_deep(
    case: Case,
    ridges_of: type[Ridges],
    families_of: type[Families],
    sets_of: type[FamilySets],
    signs_of: type[SignSystem],
    weights_of: type[WeightSystem],
) -> None:
    """Theorem D for a class of competitors, by the rules for its ridges, signs and weights."""
    network, meter = case.network, case.meter
    meter.step = "theorem"
    require(len(network.layers) >= 2, "a hidden layer", str(network))
    require(network.widths[0] >= 2, "n_0 >= 2", str(network))
    require(network.last == "affine", "an affine output", str(network))
    meter.step = "claim"
    domain, neurons = domain_of_competitors(case), Neurons(network, meter)
    meter.step = "claim"
    extent = Extent.of(neurons, case.claim)

    slices = case.hypothesis("ridges")["slices"]
    count = sum(len(entry["ridges"]) for entry in slices)
    message = f"beyond the limits: more than {MAX_SIGNS} signs at ridges"
    well_formed(count * neurons.count <= MAX_SIGNS, message)
    ridges = ridges_of(neurons, case.claim["among"] == "regular", domain)
    ridges.read(slices)

    evidence = case.hypothesis("families")
    sets = sets_of(families_of(ridges), extent)
    sets.choose(evidence["chosen"])
    sets.join_by_crossing(evidence["joined"])

    case.hypothesis("signs")
    for layer in range(len(neurons.widths) - 1):
        signs_of(sets, ridges.derivatives, layer).check()
    weights_of(sets, ridges.derivatives).check(case.hypothesis("weights"), ridges)


# ---- Theorem D, sparse competitors: zero weights, and ridges without a bend


class SparseRidges(Ridges):
    """The listed ridges, with the types B, C, L, U and V."""

    links_u, links_v = ("B", "L", "U"), ("B", "C", "L", "V")

    def type_of(self, u: int, v: int, mask: int) -> str:
        """The type; c is exactly 0 where no path of nonzero weights leads from u to v."""
        neurons, derivatives = self.neurons, self.derivatives
        late, off = derivatives.influence(v, mask), derivatives.influence(u, mask)
        c = derivatives.bend(u, v, mask)
        if c == 0:
            if self.is_path(u, v, mask):
                return ""
            return ("L" if late else "U") if off else ("V" if late else "")
        if (off + c * late) % P == 0:
            return ""
        if late == 0:
            return "U"
        if off != 0:
            return "B"
        return "C" if neurons.part(mask, neurons.layer[v]) == 0 else ""

    def is_path(self, u: int, v: int, mask: int) -> bool:
        """Whether nonzero weights lead from u to v through neurons of the mask."""
        neurons = self.neurons
        first, last = neurons.layer[u], neurons.layer[v]
        if first == last:
            return False
        reached = [neurons.index(u)]
        for layer in range(first + 1, last + 1):
            rows = neurons.network.layers[layer].rows
            states = [1] * len(rows) if layer == last else neurons.states_of(mask, layer)
            neurons.meter.pay(len(rows) * (len(reached) + 1))
            on = compress(range(len(rows)), states)
            reached = [i for i in on if any(rows[i][j] for j in reached)]
        return neurons.index(v) in reached


class SparseFamilies(Families):
    """Families, and chains of ridges of the types B and C only, without levels."""

    def find_chains(self) -> None:
        """The longest chain of bends up from each family."""
        links, neurons = self.ridges.links, self.neurons
        steps = [
            (links.root(ridge.pieces[0]), links.root(ridge.pieces[1]))
            for ridge in self.ridges.listed
            if ridge.type in ("B", "C")
        ]
        for low, high in sorted(steps, key=lambda step: -neurons.layer[step[0][0]]):
            self.chains[low] = max(self.chains.get(low, 0), self.chains.get(high, 0) + 1)

    def named_root(self, ridge: Ridge, w: int, name: str) -> Piece:
        """The family of neuron w at a ridge, all of whose pieces there are visible."""
        is_shown = ridge.type in (
            self.ridges.links_v if w == ridge.v else (*self.ridges.links_u, "C")
        )
        require(is_shown, "a ridge with visible pieces of its neuron", name)
        return super().named_root(ridge, w, name)


class SparseSets(FamilySets):
    """Sets of families that are joined by weights that are not 0."""

    def common(self, new: PieceSet, own: PieceSet, by: str) -> int:
        """What both families share, if the neuron reads it."""
        return super().common(new, own, by) & read_before(self, own.neuron)


def read_before(sets: FamilySets, w: int) -> int:
    """The neurons of the layer before whose weights are not 0, as a mask of all neurons."""
    neurons, layer = sets.neurons, sets.neurons.layer[w]
    row = neurons.network.layers[layer].rows[neurons.index(w)]
    sets.meter.units(60 * len(row))
    return sum(1 << h for h, x in enumerate(row) if x) << neurons.starts[layer - 1]


class SparseSigns(SignSystem):
    """The signs of one layer: the neurons above say, one after the other, what they read."""

    def check(self) -> None:
        """The layer's signs are determined, if neurons above belong to the claim."""
        if not self.above:
            return
        self.free, before = self.not_oriented(), -1
        while self.free and self.free != before:
            before = self.free
            for own in self.above:
                read = read_before(self.sets, own.neuron) >> self.neurons.starts[self.layer]
                if read & self.free:
                    self.free &= ~self.determined_by(own, read & self.free)
        left = f"{self.free.bit_count()} without"
        require(not self.free, f"signs of layer {self.layer + 1} that are determined", left)

    def determined_by(self, own: PieceSet, read: int) -> int:
        """The neurons, of those that v reads and whose signs are unknown, that v determines."""
        neurons, layer = self.neurons, self.layer
        crossed = neurons.part(own.crossed, layer)
        if crossed == (1 << neurons.widths[layer]) - 1:
            return sum(1 << h for h in ones(read) if self.is_moving(own, h))
        on, off = (neurons.part(side, layer) & ~crossed for side in (own.on, own.off))
        weights = neurons.rows[layer + 1][neurons.index(own.neuron)]
        unknowns = [Unknown(h, (True,), 1) for h in ones(on)]
        unknowns += [Unknown(h, (False,), 1) for h in ones(off & self.free)]
        unknowns += [Unknown(h, (True, False), weights[h]) for h in ones(crossed & read)]
        basis = rank_form(self.sets, self.derivatives, own, unknowns)
        return read & (crossed | on) if len(basis) == len(unknowns) else 0

    def is_moving(self, own: PieceSet, h: int) -> bool:
        """Whether z_h is not constant at some piece of v."""
        w = self.neurons.starts[self.layer] + h
        return any(self.derivatives.along_direction(w, mask) % P for mask in own.masks)


class SparseWeights(WeightSystem):
    """Weights that may be 0; all of them are determined by the pieces of their neurons."""

    may_be_zero = True


#: What the hypotheses say; all but the weights is as for other competitors.
SPARSE_SAYS = {
    **DEEP_SAYS,
    "weights": "every weight between hidden layers of the claim is determined",
}


@theorem(
    "deep-sparse",
    kind="identifiable",
    among=("sparse",),
    page="theory/sparse.md",
    evidence=DEEP_EVIDENCE,
    says=SPARSE_SAYS,
)
@theorem(
    "deep-sparse-part",
    kind="determined",
    among=("sparse",),
    page="theory/sparse.md",
    evidence=DEEP_EVIDENCE,
    says=SPARSE_SAYS,
)
def deep_sparse(case: Case) -> None:
    """Theorem D among sparse competitors, as a whole or in part."""
    check_deep(case, SparseRidges, SparseFamilies, SparseSets, SparseSigns, SparseWeights)


# ==== 3.10 Injectivity: theorems active-rows and collision ====

LAYER_NODE = OneOf(
    (
        (re.compile("prune|grow|split"), [int]),
        ("pack", [[int]]),
    )
)


def part_of_claim(case: Case) -> Network:
    """The layers of the claim as a network of their own."""
    case.meter.step = "claim.layers"
    network, (first, last) = case.network, case.claim["layers"]
    fact = f"layers from 1 to {len(network.layers)}, the first one not after the last one"
    require(1 <= first <= last <= len(network.layers), fact, f"{first} to {last}")
    layers = list[Layer]()
    for layer in network.layers[first - 1 : last]:
        earlier = [(source - first + 1, rows) for source, rows in layer.earlier]
        fact = "layers that read no activation from before the part"
        require(all(source >= 0 for source, _ in earlier), fact)
        layers.append(layer._replace(earlier=earlier))
    activation = "relu" if last <= network.num_hidden_layers() else "affine"
    return Network(network.widths[first - 1 : last + 1], layers, activation, network.sha256)


@theorem(
    "collision",
    kind="not-injective",
    page="theory/injectivity.md",
    evidence={
        "points": {"x": [RATIONAL], "y": [RATIONAL]},
        "values": {"f": [RATIONAL]},
    },
    says={
        "points": "two different points belong to the domain",
        "values": "the outputs at both of them were computed, and are equal",
    },
)
def collision(case: Case) -> None:
    """Two points of the domain differ, and both have the outputs that are stated."""
    meter, part = case.meter, part_of_claim(case)
    domain = read_domain(case.claim["domain"], part.widths[0], meter)
    points = case.hypothesis("points")
    x, y = (rationals(points[key], meter) for key in ("x", "y"))
    for one in (x, y):
        domain.check_point(one, meter)
    require(x != y, "two different points", "one point twice")
    stated = rationals(case.hypothesis("values")["f"], meter)
    for key, one in (("x", x), ("y", y)):
        require(outputs(part, one, meter) == stated, f"the outputs f({key})", "other numbers")


@theorem(
    "active-rows",
    kind="injective",
    page="theory/injectivity.md",
    evidence={"interior": {"x": [RATIONAL]}, "trees": {"prime": PRIMES, "trees": [[LAYER_NODE]]}},
    says={
        "interior": "the point is strictly inside the domain",
        "trees": "in every layer the active rows span the inputs of the layer at every point off "
        "the hyperplanes: inside the domain in the first layer, inside the orthant in later ones",
    },
)
def active_rows(case: Case) -> None:
    """Every layer of the part is injective where its inputs are."""
    meter, part = case.meter, part_of_claim(case)
    domain = read_domain(case.claim["domain"], part.widths[0], meter)
    check_inside(domain, case.hypothesis("interior")["x"], meter)
    evidence = case.hypothesis("trees")
    require(part.is_plain(), "layers that read only the layer before")
    prime, trees = int(evidence["prime"]), evidence["trees"]
    require(len(trees) == len(part.layers), f"{len(part.layers)} trees", str(len(trees)))
    for number, (layer, nodes) in enumerate(zip(part.layers, trees, strict=True), 1):
        if number > 1:
            domain = orthant(part.widths[number - 1], meter)
        meter.step = f"trees[{number - 1}]"
        rows = LayerRows(layer, domain, prime, meter)
        if number == len(part.layers) and part.last == "affine":
            check_full_rank(rows, nodes)
        else:
            LayerWalk(rows, nodes).check()


def orthant(size: int, meter: Meter) -> Domain:
    """The points with coordinates >= 0."""
    meter.pay(8 * size)
    meter.hold(12 * size)
    coordinates = [{j: 1} for j in range(1, size + 1)]
    sides = {(j, True): Fraction(0) for j in range(1, size + 1)}
    return Domain(1, coordinates, coordinates, sides, [], [], list(range(size)))


class LayerRows:
    """The neurons of a layer, the inequalities of its domain, and 1, as rows over (y, 1).

    Neurons come first. `residues` are their linear parts modulo the prime.
    """

    def __init__(self, layer: Layer, domain: Domain, prime: int, meter: Meter) -> None:
        self.meter, self.prime, self.size = meter, prime, domain.dimension()
        bits = max(domain.scale.bit_length(), longest(form.values() for form in domain.inputs))
        forms = [
            slack_of([*(-w for w in row), b], domain.inputs, domain.scale, bits, meter)
            for row, b in zip(layer.rows, layer.bias, strict=True)
        ]
        self.num_neurons = len(forms)
        self.rows = [self.dense(form) for form in [*forms, *domain.slacks, {0: 1}]]
        self.bits = longest(self.rows)
        meter.pay(4 * self.num_neurons * self.size, self.bits, 61)
        self.residues = [[x % prime for x in row[:-1]] for row in self.rows[: self.num_neurons]]

    def dense(self, form: Form) -> list[int]:
        """A form as a row without a common divisor, its constant last."""
        bits = longest([form.values()])
        self.meter.pay(2 * (self.size + 1))
        self.meter.pay_divisions(2 * len(form), bits, bits)
        self.meter.hold(cells_of(2 * self.size, bits))
        divisor = math.gcd(*form.values()) or 1
        return [form.get(symbol, 0) // divisor for symbol in (*range(1, self.size + 1), 0)]

    def check_dependence(self, chosen: Sequence[int], signs: dict[int, int]) -> None:
        """The rows with their signs have one dependence, up to a factor, and it is >= 0.

        Neurons without a known sign count as negative. A row that is 0 is positive nowhere.
        """
        require(max(chosen, default=0) < len(self.rows), f"rows below {len(self.rows)}")
        require(len({*chosen}) == len(chosen), "different rows")
        entries = len(chosen) * (self.size + 1)
        self.meter.pay(4 * entries)
        require(all(any(self.rows[i]) for i in chosen), "rows that are not 0", "a row of zeros")
        self.meter.hold(2 * entries)
        columns = list[list[int]]()
        for i in chosen:
            sign = signs.get(i, -1) if i < self.num_neurons else 1
            columns.append([sign * x for x in self.rows[i]])
        multipliers = the_kernel([list(row) for row in zip(*columns, strict=True)], self.meter)
        self.meter.release(2 * entries)
        require(bool(multipliers), "rows with one dependence, up to a factor")
        same_sign = all(x >= 0 for x in multipliers) or all(x <= 0 for x in multipliers)
        require(same_sign, "a dependence with multipliers >= 0")


def the_kernel(matrix: list[list[int]], meter: Meter) -> list[int]:
    """A vector that spans the kernel; empty if the kernel has another dimension.

    Gauss and Jordan without fractions, as Bareiss: all numbers are minors, divisions are exact.
    """
    width, bits = len(matrix[0]) if matrix else 0, longest(matrix)
    rest, last, free = [row for row in matrix if any(row)], 1, list[int]()
    done, pivots = list[list[int]](), list[int]()
    for c in range(width):
        place = next((k for k, row in enumerate(rest) if row[c]), None)
        meter.pay(10 * (len(rest) + len(done)))
        if place is None:
            free.append(c)
            continue
        pivot = rest.pop(place)
        size = (len(pivots) + 1) * (bits + 10)
        left = (len(rest) + len(done)) * (width - c)
        meter.pay(2 * left, size, size)
        meter.pay_divisions(left, 2 * size, size)
        rest, done = (
            [
                [(pivot[c] * x - row[c] * y) // last for x, y in zip(row, pivot, strict=True)]
                for row in rows
            ]
            for rows in (rest, done)
        )
        last = pivot[c]
        done.append(pivot)
        pivots.append(c)
    if len(free) != 1:
        return []
    found = [0] * width
    found[free[0]] = last
    for row, c in zip(done, pivots, strict=True):
        found[c] = -row[free[0]]
    return found


class Span(NamedTuple):
    """The span U of some neurons: an echelon form modulo the prime, and the neurons."""

    echelon: tuple[tuple[int, list[int]], ...] = ()
    neurons: tuple[int, ...] = ()

    def remainder(self, rows: LayerRows, neuron: int) -> list[int]:
        """What is left of a neuron modulo U and the prime, without the pivot columns."""
        vector, prime = rows.residues[neuron], rows.prime
        rows.meter.pay_modular(2 * (len(self.echelon) + 1) * (rows.size + 10))
        for c, row in self.echelon:
            if x := vector[c]:
                vector = [(a - x * b) % prime for a, b in zip(vector, row, strict=True)]
        return vector

    def grown(self, rows: LayerRows, neuron: int) -> Span:
        """The span with a neuron that lies outside of it."""
        vector = self.remainder(rows, neuron)
        c = next((k for k, x in enumerate(vector) if x), -1)
        rows.meter.units(6_000)
        fact = f"rows outside of the span, modulo {rows.prime}"
        require(c >= 0, fact, f"neuron {neuron} in the span")
        inverse = pow(vector[c], -1, rows.prime)
        row = [x * inverse % rows.prime for x in vector]
        return Span((*self.echelon, (c, row)), (*self.neurons, neuron))

    def columns_left(self, size: int) -> list[int]:
        """The columns without a pivot."""
        pivots = {c for c, _ in self.echelon}
        return [c for c in range(size) if c not in pivots]


class LayerWalk:
    """A walk through the nodes of the tree of one layer."""

    def __init__(self, rows: LayerRows, nodes: list[Any]) -> None:
        self.rows, self.nodes, self.meter = rows, nodes, rows.meter
        self.place, self.number = rows.meter.step, 0

    def check(self) -> None:
        """Every node in prefix order is closed, split, or goes on with a larger span."""
        waiting: list[tuple[Span, dict[int, int]]] = [(Span(), {})]
        while waiting:
            span, signs = waiting.pop()
            self.meter.release(4 * len(signs))
            if len(span.neurons) == self.rows.size:
                continue
            self.meter.step = self.place
            require(self.number < len(self.nodes), "another node", f"{len(self.nodes)} of them")
            kind, listed = self.nodes[self.number]
            self.meter.step = f"{self.place}[{self.number}]"
            self.meter.units(3_000)
            self.number += 1
            if kind == "pack":
                self.check_pack(span, signs, listed)
            else:
                waiting += reversed(self.after(kind, listed, span, signs))
        self.meter.step = self.place
        require(self.number == len(self.nodes), f"{self.number} nodes", str(len(self.nodes)))

    def after(
        self, kind: str, listed: list[int], span: Span, signs: dict[int, int]
    ) -> list[tuple[Span, dict[int, int]]]:
        """The nodes that follow below a node of one dependence."""
        new = self.new_neurons(listed, signs)
        if kind == "prune":
            require(not new, "only neurons with known signs", f"{len(new)} others")
            return []
        require(bool(new), "a neuron without a known sign", "none")
        spans = [span.grown(self.rows, neuron) for neuron in new]
        if kind == "grow":
            self.check_line(span, new)
            self.meter.hold(4 * len(signs))
            return [(spans[0], signs)]
        found, known = list[tuple[Span, dict[int, int]]](), dict(signs)
        for neuron, grown in zip(new, spans, strict=True):
            self.meter.units(1_000 + 100 * len(known))
            self.meter.hold(4 * len(known) + 4)
            found.append((grown, {**known, neuron: 1}))
            known[neuron] = -1
        return found

    def new_neurons(self, listed: list[int], signs: dict[int, int]) -> list[int]:
        """The neurons of a dependence, one of which is active where the signs are as known."""
        self.rows.check_dependence(listed, signs)
        return [i for i in listed if i < self.rows.num_neurons and i not in signs]

    def check_line(self, span: Span, new: list[int]) -> None:
        """The span and the new neurons together have one dimension more than the span."""
        if len(span.neurons) == self.rows.size - 1 or self.are_multiples(new):
            return
        matrix = [self.rows.rows[i][:-1] for i in (*span.neurons, *new)]
        rank, wanted = len(pivot_columns(matrix, self.meter)), len(span.neurons) + 1
        require(rank == wanted, f"rank {wanted} with the new rows", str(rank))

    def are_multiples(self, new: list[int]) -> bool:
        """Whether the linear parts of neurons, not 0, are multiples of the first one."""
        first, *rest = (self.rows.rows[i][:-1] for i in new)
        self.meter.pay(2 * len(new) * self.rows.size, self.rows.bits, self.rows.bits)
        c = next(k for k, x in enumerate(first) if x)
        return all(
            x * row[c] == y * first[c] for row in rest for x, y in zip(first, row, strict=True)
        )

    def check_pack(self, span: Span, signs: dict[int, int], listed: list[list[int]]) -> None:
        """Of each dependence a new neuron is active, and any choice of them spans the rest."""
        left = span.columns_left(self.rows.size)
        require(len(listed) == len(left), f"{len(left)} dependences", str(len(listed)))
        sets, held = list[list[list[int]]](), self.meter.cells
        for chosen in listed:
            new = self.new_neurons(chosen, signs)
            self.meter.hold(len(new) * len(left))
            vectors = (span.remainder(self.rows, i) for i in new)
            sets.append([[vector[c] for c in left] for vector in vectors])
        self.check_choices(sets)
        self.meter.release(self.meter.cells - held)

    def check_choices(self, sets: list[list[list[int]]]) -> None:
        """Every choice of one vector from each set is independent modulo the prime."""
        (first, *rest), prime = sets, self.rows.prime
        for vector in first:
            c = next((k for k, x in enumerate(vector) if x), -1)
            require(c >= 0, f"independent choices, modulo {prime}", "dependent ones")
            if not rest:
                continue
            others = sum(map(len, rest))
            self.meter.pay_modular(50 + others * (len(vector) + 10))
            self.meter.hold(others * len(vector))
            inverse = pow(vector[c], -1, prime)
            scaled = [x * inverse % prime for x in vector]
            self.check_choices(
                [
                    [
                        [(a - other[c] * b) % prime for a, b in zip(other, scaled, strict=True)]
                        for other in vectors
                    ]
                    for vectors in rest
                ]
            )
            self.meter.release(others * len(vector))


def check_full_rank(rows: LayerRows, nodes: list[Any]) -> None:
    """An affine map is injective: its rows span; it has no tree."""
    require(not nodes, "no nodes for an affine layer", str(len(nodes)))
    basis, rank = Span(), 0
    for neuron in range(rows.num_neurons):
        if rank < rows.size and any(basis.remainder(rows, neuron)):
            basis, rank = basis.grown(rows, neuron), rank + 1
    require(rank == rows.size, f"rank {rows.size} modulo {rows.prime}", str(rank))


# ==== 3.11 Sizes: theorems jumps, hyperplanes, affine-maps and bends ====

POINTS = {"points": {"points": [[RATIONAL]]}}


def check_size(case: Case, quantity: str) -> Domain:
    """The claim is about this quantity, and says something; its domain."""
    claim, case.meter.step = case.claim, "claim"
    require(claim["quantity"] == quantity, f"a claim on {quantity}", claim["quantity"])
    require(claim["at-least"] >= 1, "a bound of at least 1", "0")
    return domain_of_competitors(case)


def check_bound(case: Case, proved: int) -> None:
    """The evidence is enough for the claim."""
    wanted = case.claim["at-least"]
    require(proved >= wanted, f"evidence for at least {wanted}", f"at least {proved}")


def points_of(case: Case, domain: Domain) -> list[list[int]]:
    """The points as integers with their common denominator last; strictly inside the domain."""
    found, meter = list[list[int]](), case.meter
    num_inputs, is_everywhere = case.network.widths[0], case.claim["domain"] == WHOLE_SPACE
    for texts in case.hypothesis("points")["points"]:
        require(len(texts) == num_inputs, f"points of {num_inputs} coordinates", str(len(texts)))
        x: list[Fraction] = (
            rationals(texts, meter) if is_everywhere else check_inside(domain, texts, meter)
        )
        scale = common_denominator(x, "a common denominator of a point", meter)
        meter.hold(cells_of(len(x) + 1, scale.bit_length()))
        found.append([*scaled_point(x, scale, meter), scale])
    return found


def local_map(
    network: Network, point: Sequence[int], plane: Row | None, side: int, meter: Meter
) -> tuple[Row | None, list[list[int]]]:
    """The affine map near a point on one side of a hyperplane through it, times a number.

    All neurons that vanish at the point, and are not 0 around it, vanish on one hyperplane: the
    given one, or where the first of them vanishes. The number is one for all points.
    """
    size, scale, bits, held, forms = len(point), 1, 0, 0, list[list[int]]()
    for number, layer in enumerate(network.layers, 1):
        count, before = len(layer.rows), len(forms)
        meter.pay(count * (before + 1) * size, bits, layer.bits)
        meter.hold(cells_of(count * size, bits + layer.bits))
        held += cells_of(count * size, bits + layer.bits)
        if number == 1:
            forms = layer.augmented()
        else:
            columns = [*zip(*forms, strict=True)]
            forms = [[dot(row, column) for column in columns] for row in layer.rows]
            for form, b in zip(forms, layer.bias, strict=True):
                form[-1] += b * scale
        scale, bits = scale * layer.denominator, bits + layer.bits + before.bit_length()
        if number <= network.num_hidden_layers():
            meter.pay(2 * count * size, bits, longest([point]))
            for i, form in enumerate(forms):
                sign = dot(form, point)
                if sign == 0 and any(form):
                    own, factor = primitive_plane(form, meter)
                    plane = own if plane is None else plane
                    fact = "neurons that vanish at the point on one hyperplane"
                    require(own == plane, fact, f"neuron {i} of layer {number}")
                    sign = factor * side
                if sign <= 0:
                    forms[i] = [0] * size
    meter.release(held)
    return plane, forms


def jump_at(
    network: Network, point: Sequence[int], plane: Row | None, meter: Meter
) -> tuple[Row | None, list[list[int]]]:
    """The hyperplane, and the map on its positive side minus the one on its negative side."""
    plane, above = local_map(network, point, plane, 1, meter)
    _, below = local_map(network, point, plane, -1, meter)
    meter.pay(sum(map(len, above)))
    pairs = zip(above, below, strict=True)
    return plane, [[a - b for a, b in zip(*rows, strict=True)] for rows in pairs]


@theorem(
    "jumps",
    kind="size",
    among=("all",),
    page="theory/minimality.md",
    evidence=POINTS,
    says={
        "points": "the gradient jumps across a hyperplane at the first point, and by another "
        "amount at the second one, if there is one, on the same hyperplane",
    },
)
def jumps(case: Case) -> None:
    """One jump needs a hidden layer; two different ones on one hyperplane need two."""
    domain, network, meter = check_size(case, "hidden-layers"), case.network, case.meter
    points = points_of(case, domain)
    require(1 <= len(points) <= 2, "one or two points", str(len(points)))
    plane, jump = jump_at(network, points[0], None, meter)
    fact = "a jump of the gradient at the first point"
    require(any(map(any, jump)), fact, "none")
    if len(points) == 2 and plane is not None:
        meter.pay(len(plane), longest([plane]), longest([points[1]]))
        require(dot(plane, points[1]) == 0, "a second point on the hyperplane of the first one")
        _, other = jump_at(network, points[1], plane, meter)
        require(jump != other, "another jump at the second point", "the same jump")
    check_bound(case, len(points))


@theorem(
    "hyperplanes",
    kind="size",
    among=("all",),
    page="theory/minimality.md",
    evidence=POINTS,
    says={"points": "the gradient jumps at each point, across a different hyperplane each time"},
)
def hyperplanes(case: Case) -> None:
    """A network with one hidden layer has a neuron for each hyperplane."""
    domain, meter = check_size(case, "neurons-of-one-layer"), case.meter
    planes, points = set[Row](), points_of(case, domain)
    for number, point in enumerate(points):
        plane, jump = jump_at(case.network, point, None, meter)
        fact = "a jump of the gradient at every point"
        require(any(map(any, jump)), fact, f"none at point {number}")
        require(plane not in planes, "different hyperplanes", f"the one of point {number} twice")
        if plane is not None:
            meter.hold(cells_of(len(plane) + 2, longest([plane])))
            planes.add(plane)
    check_bound(case, len(planes))


@theorem(
    "affine-maps",
    kind="size",
    among=("all",),
    page="theory/minimality.md",
    evidence=POINTS,
    says={"points": "the function is affine around each point, by a different affine map"},
)
def affine_maps(case: Case) -> None:
    """N neurons have at most 2^N activation patterns."""
    domain, meter = check_size(case, "neurons"), case.meter
    known, points = set[Row](), points_of(case, domain)
    for number, point in enumerate(points):
        plane, rows = local_map(case.network, point, None, 1, meter)
        require(plane is None, "no neuron that vanishes at a point", f"point {number}")
        key = Row(entry for row in rows for entry in row)
        meter.hold(cells_of(len(key) + 2, longest(rows)))
        meter.pay(len(key), longest(rows))
        require(key not in known, "different affine maps", f"the one of point {number} twice")
        known.add(key)
    require(len(known) > 0, "a point", "none")
    check_bound(case, (len(known) - 1).bit_length())


@theorem(
    "bends",
    kind="size",
    among=DEEP_CLASSES,
    page="theory/minimality.md",
    evidence={"ridges": {"slices": [SLICE]}, "chain": {}},
    says={
        "ridges": "each listed plane meets its ridges: exactly two neurons vanish there, with "
        "independent gradients",
        "chain": "families of linked pieces bend at each other in a chain as long as claimed",
    },
)
def bends(case: Case) -> None:
    """What bends at a bent hyperplane is of a later layer, for each competitor."""
    network, meter = case.network, case.meter
    meter.step = "theorem"
    require(len(network.layers) >= 2, "a hidden layer", str(network))
    require(network.widths[0] >= 2, "n_0 >= 2", str(network))
    require(network.last == "affine", "an affine output", str(network))
    domain, neurons = check_size(case, "hidden-layers"), Neurons(network, meter)
    slices = case.hypothesis("ridges")["slices"]
    count = sum(len(entry["ridges"]) for entry in slices)
    message = f"beyond the limits: more than {MAX_SIGNS} signs at ridges"
    well_formed(count * neurons.count <= MAX_SIGNS, message)
    ridges = Ridges(neurons, case.claim["among"] == "regular", domain)
    ridges.read(slices)
    case.hypothesis("chain")
    require(any(ridge.type for ridge in ridges.listed), "a good ridge", "none")
    check_bound(case, max(Families(ridges).chains.values(), default=0) + 1)


# ==== 3.12 Functional dimensions: theorem jacobian ====

#: The rows of some outputs at a point.
ROWS_AT_POINT = {"x": [RATIONAL], "outputs": [int]}


@theorem(
    "jacobian",
    kind="functional-dimension",
    page="theory/functional_dimension.md",
    evidence={"rank": {"prime": PRIMES, "rows": [ROWS_AT_POINT]}, "scalings": {}},
    says={
        "rank": "the listed rows of the derivatives by weights and biases have a rank as large as "
        "claimed, modulo a prime",
        "scalings": "no rank exceeds the number of parameters minus the number of hidden neurons "
        "whose row [W|b] is not 0",
    },
)
def jacobian(case: Case) -> None:
    """A rank of the Jacobian at some points, and the directions of positive scalings."""
    network, meter, claim = case.network, case.meter, case.claim
    meter.step = "theorem"
    require(network.last == "affine", "an affine output", str(network))
    domain = read_domain(claim["domain"], network.widths[0], meter)
    evidence = case.hypothesis("rank")
    prime, basis = int(evidence["prime"]), dict[int, int]()
    layers = [layer_modulo(layer, prime, meter) for layer in network.layers]
    for entry in evidence["rows"]:
        x = rationals(entry["x"], meter)
        domain.check_point(x, meter)
        masks = masks_at(network, x, meter)
        for o in entry["outputs"]:
            require(o < network.widths[-1], f"outputs below {network.widths[-1]}", str(o))
            row = derivatives(layers, masks, x, o, prime, meter)
            join(basis, row, prime, meter)
    wanted = claim["at-least"]
    require(len(basis) >= wanted, f"a rank of at least {wanted}", str(len(basis)))
    case.hypothesis("scalings")
    limit = num_parameters(network) - num_scalings(network, meter)
    require(claim["at-most"] >= limit, f"at most {limit} or more", str(claim["at-most"]))


def join(basis: dict[int, int], row: list[int], prime: int, meter: Meter) -> None:
    """Let a long row join a basis modulo a prime; a row in its span leaves it as it is.

    The rows of the basis are packed, named by the column of their first nonzero entry, which is 1,
    and 0 in the columns that name rows before them.
    """
    size, digit = len(row), (1 << 8 * PLACE) - 1
    meter.units(400 * size + len(basis) * (200 + 24 * size))
    rest = pack(row)
    for c, known in basis.items():
        x = (rest >> 8 * PLACE * c & digit) % prime
        if x:
            rest += (prime - x) * known
    entries = unpack(rest, size, prime)
    first = next((c for c, x in enumerate(entries) if x), None)
    if first is not None:
        meter.hold(18 * size // 64 + 2)
        inverse = pow(entries[first], -1, prime)
        basis[first] = pack(x * inverse % prime for x in entries)


def num_parameters(network: Network) -> int:
    """The number of weights and biases."""
    return sum(len(layer.rows) * (len(layer.rows[0]) + 1) for layer in network.layers)


def num_scalings(network: Network, meter: Meter) -> int:
    """The number of hidden neurons whose rows [W|b] are not 0."""
    meter.units(60 * num_parameters(network))
    rows = [row for layer in network.layers[:-1] for row in layer.augmented()]
    return sum(map(any, rows))


def layer_modulo(layer: Layer, prime: int, meter: Meter) -> list[list[int]]:
    """The rows [W|b] of a layer modulo a prime."""
    count = len(layer.rows) * (len(layer.rows[0]) + 1)
    meter.pay(2 * count, layer.bits, 61)
    meter.hold(2 * count)
    fact = "denominators that are not 0 modulo the prime"
    require(layer.denominator % prime != 0, fact, "a layer")
    inverse = pow(layer.denominator, -1, prime)
    return [[x * inverse % prime for x in row] for row in layer.augmented()]


def masks_at(network: Network, x: Sequence[Fraction], meter: Meter) -> list[list[bool]]:
    """The hidden neurons that are on at a point where none vanishes."""
    require(len(x) == network.widths[0], "a point of the inputs", f"{len(x)} coordinates")
    values = outputs_and_signs(network, x, meter)[1][:-1]
    require(all(map(all, values)), "a point at which no neuron vanishes", "a zero")
    return [[z > 0 for z in layer] for layer in values]


def derivatives(
    layers: Sequence[list[list[int]]],
    masks: Sequence[list[bool]],
    x: Sequence[Fraction],
    o: int,
    prime: int,
    meter: Meter,
) -> list[int]:
    """The derivatives of an output by all weights and biases, layer by layer and row by row."""
    meter.pay_divisions(3 * len(x), 61, max((y.denominator.bit_length() for y in x), default=0))
    fact = "denominators that are not 0 modulo the prime"
    require(all(y.denominator % prime for y in x), fact, "a point")
    read = [[y.numerator * pow(y.denominator, -1, prime) % prime for y in x] + [1]]
    meter.pay_modular(3 * sum(len(rows) * len(rows[0]) for rows in layers))
    for rows, mask in zip(layers, masks, strict=False):
        pairs, values = zip(rows, mask, strict=True), read[-1]
        read.append([*(dot(row, values) % prime if on else 0 for row, on in pairs), 1])
    delta, parts = [int(i == o) for i in range(len(layers[-1]))], list[list[int]]()
    for number in reversed(range(len(layers))):
        parts.append([d * a % prime for d in delta for a in read[number]])
        if number:
            columns = list(zip(*layers[number], strict=True))[:-1]
            values = [dot(delta, column) % prime for column in columns]
            delta = [d if m else 0 for d, m in zip(values, masks[number - 1], strict=True)]
    return [entry for part in reversed(parts) for entry in part]


# ==== 3.13 Leaky ReLU stacks ====


class Slope:
    """The slope p/q of a leaky ReLU, as integers p, q > 0 and the size and sign of q - p."""

    def __init__(self, text: str, meter: Meter) -> None:
        value = rational(text, meter)
        require(value > 0, "a slope above 0", "another one", "claim.architecture")
        require(value != 1, "a slope other than 1", "1", "claim.architecture")
        self.p, self.q = value.numerator, value.denominator
        self.gap, self.sign = abs(self.q - self.p), 1 if self.q > self.p else -1
        self.bits = max(self.p.bit_length(), self.q.bit_length())


def stack_of(network: Network, slope: Slope, meter: Meter) -> Network:
    """The plain stack with the weights and biases of a leaky ReLU stack.

    Its layers have integers without a common divisor, as in a file.
    """
    meter.step = "architecture"
    require(network.last == "affine", "an affine output", str(network))
    layers = [network.layers[0]]
    require(not network.layers[0].earlier, "one block in layer 1")
    for number, layer in enumerate(network.layers[1:], 2):
        check_leak(network, number, slope, meter)
        before = network.layers[number - 2]
        scale = slope.gap * before.denominator
        factor = slope.p * slope.sign
        bits = layer.bits + before.bits + 2 * slope.bits
        meter.pay(4 * len(layer.rows) * (len(layer.rows[0]) + 2), layer.bits, bits)
        rows = [[slope.q * slope.sign * before.denominator * x for x in row] for row in layer.rows]
        bias = [
            b * scale - factor * dot(row, before.bias)
            for row, b in zip(layer.rows, layer.bias, strict=True)
        ]
        layers.append(reduced_layer(layer.denominator * scale, bias, rows, meter))
    return network._replace(layers=layers)


def check_leak(network: Network, number: int, slope: Slope, meter: Meter) -> None:
    """The skipping weights of a layer are what the leak of the layer before makes them."""
    layer, before = network.layers[number - 1], network.layers[number - 2]
    given = dict(layer.earlier)
    for source, rows in [*before.earlier, (number - 2, before.rows)]:
        width = len(rows[0])
        meter.pay(len(layer.rows) * (len(rows) + 2) * width, layer.bits, before.bits)
        meter.pay(2 * len(layer.rows) * width, before.bits + slope.bits, layer.bits + slope.bits)
        columns = list(zip(*rows, strict=True))
        skipping = given.pop(source, [[0] * width] * len(layer.rows))
        scale, factor = slope.gap * before.denominator, slope.p * slope.sign
        for mine, row in zip(skipping, layer.rows, strict=True):
            same = all(
                x * scale == factor * dot(row, column)
                for x, column in zip(mine, columns, strict=True)
            )
            require(same, "the leaky ReLU stack of this slope", f"layer {number}")
    require(not given, "the leaky ReLU stack of this slope", f"layer {number} reads more")


def reduced_layer(denominator: int, bias: list[int], rows: list[list[int]], meter: Meter) -> Layer:
    """A layer over its least denominator."""
    bits = max(denominator.bit_length(), longest([bias, *rows]))
    message = f"beyond the limits: numbers of more than {GROWN_BITS} bits"
    well_formed(bits <= GROWN_BITS, message)
    meter.pay_divisions(2 * len(rows) * (len(rows[0]) + 2), bits, bits)
    meter.hold(cells_of(len(rows) * len(rows[0]), bits))
    divisor = denominator
    for row in [bias, *rows]:
        divisor = math.gcd(divisor, *row)
    bias, rows = [x // divisor for x in bias], [[x // divisor for x in row] for row in rows]
    denominator //= divisor
    return Layer(denominator, bias, rows, [], max(denominator.bit_length(), longest([bias, *rows])))


def case_of_stacks(case: Case) -> tuple[Case, Slope]:
    """The same case about the plain stacks with the parameters, and the slope."""
    slope = Slope(case.claim["architecture"]["slope"], case.meter)
    stacks = [stack_of(case.network, slope, case.meter)]
    if "other" in case.claim:
        stacks.append(stack_of(case.other, slope, case.meter))
    return Case(stacks, case.claim, case.evidence, case.meter), slope


# ---- leaky-shallow


@theorem(
    "leaky-shallow",
    kind="identifiable",
    among=("all",),
    architecture="leaky",
    page="theory/architectures.md",
    evidence=THEOREMS["shallow"].evidence,
    says=THEOREMS["shallow"].says,
    optional=("inside",),
)
def leaky_shallow(case: Case) -> None:
    """L = 2: the fiber has the weights and first biases of the fiber of the ReLU network."""
    shallow(case_of_stacks(case)[0])


# ---- leaky-chains


@theorem(
    "leaky-chains",
    kind="identifiable",
    among=("regular",),
    architecture="leaky",
    page="theory/architectures.md",
    evidence={
        "rank": {"prime": PRIMES},
        "chains": {"points": [[RATIONAL]]},
        "membership": {"status": "open"},
    },
    says={
        "rank": "the weights of every hidden layer have full row rank",
        "chains": "at each point one neuron of every hidden layer is 0, each of them bends the "
        "next one, and all of them bend the outputs; every hidden neuron is 0 at one of the points",
    },
)
def leaky_chains(case: Case) -> None:
    """Independent rows, and points at which one neuron of each hidden layer is 0."""
    case, slope = case_of_stacks(case)
    network, meter = case.network, case.meter
    evidence = case.hypothesis("rank")
    require(len(network.layers) >= 2, "a hidden layer", str(network))
    prime = int(evidence["prime"])
    for number, layer in enumerate(network.layers[:-1], 1):
        meter.pay(2 * len(layer.rows) * len(layer.rows[0]), layer.bits, 64)
        rank = rank_modulo(layer.primitive_rows(), prime, meter)
        require(rank == len(layer.rows), f"independent rows of W[{number}]", f"rank {rank}")
    domain = domain_of_competitors(case)
    texts, found = case.hypothesis("chains")["points"], set[tuple[int, int]]()
    message = f"beyond the limits: more than {MAX_CHAIN} hidden layers"
    well_formed(len(network.layers) - 1 <= MAX_CHAIN, message)
    columns = [columns_modulo(layer, prime, meter) for layer in network.layers]
    for text in texts:
        if case.claim["domain"] == WHOLE_SPACE:
            size = network.widths[0]
            require(len(text) == size, f"{size} coordinates", str(len(text)))
            x = rationals(text, meter)
        else:
            x = check_inside(domain, text, meter)
        signs = signs_at(network, slope, x, meter)
        zeros = Chain(network, slope, signs, columns, prime, meter).check()
        found.update(enumerate(zeros, 1))
    wanted = sum(network.widths[1:-1])
    require(len(found) == wanted, "every hidden neuron 0 at a point", f"{len(found)} of {wanted}")


def rank_modulo(rows: Matrix, prime: int, meter: Meter) -> int:
    """The rank of a matrix modulo a prime."""
    basis = dict[int, int]()
    meter.hold(len(rows) * len(rows[0]))
    for row in rows:
        reduce_into(basis, [x % prime for x in row], prime, meter)
    return len(basis)


def columns_modulo(layer: Layer, prime: int, meter: Meter) -> list[list[int]]:
    """The columns of an integer multiple of W[l] modulo a prime."""
    size = len(layer.rows) * len(layer.rows[0])
    meter.pay_divisions(size, layer.bits, prime.bit_length())
    meter.hold(size)
    return [[x % prime for x in column] for column in layer.columns()]


#: Maximum number of hidden layers of a chain, whose cost doubles with each of them.
MAX_CHAIN = 20


class Chain:
    """A point at which one neuron of each hidden layer is 0, with derivatives modulo a prime.

    `columns` has the columns of integer multiples of W[l], and `slopes` the numbers p and q by
    which neurons that are off and on are multiplied, in place of s = p/q and 1.
    """

    def __init__(
        self,
        network: Network,
        slope: Slope,
        signs: list[list[int]],
        columns: list[list[list[int]]],
        prime: int,
        meter: Meter,
    ) -> None:
        self.network, self.signs, self.columns = network, signs, columns
        self.prime, self.meter = prime, meter
        self.slopes = slope.p % prime, slope.q % prime
        for number, layer in enumerate(signs, 1):
            fact = f"one neuron of layer {number} that is 0"
            require(layer.count(0) == 1, fact, f"{layer.count(0)} of them")
        self.zeros = [layer.index(0) for layer in signs]

    def check(self) -> list[int]:
        """Check the conditions of a chain, and return its neurons."""
        self.check_links()
        self.check_gradients()
        self.check_visible()
        return self.zeros

    def check_links(self) -> None:
        """Each neuron of the chain bends the next one, which reads a second neuron."""
        for number, (h, v) in enumerate(zip(self.zeros, self.zeros[1:], strict=False), 2):
            row = self.network.layers[number - 1].rows[v]
            require(row[h] != 0, f"a nonzero weight of neuron {v} of layer {number} on {h}", "0")
            others = any(w for k, w in enumerate(row) if k != h)
            require(others, f"a second nonzero weight of neuron {v} of layer {number}", "none")

    def check_gradients(self) -> None:
        """The gradients of the neurons of the chain are independent, where all of them are off."""
        rows = list[list[int]]()
        for number in range(len(self.zeros), 0, -1):
            if rows:
                rows = [self.behind(number, row) for row in rows]
            rows.append(
                [int(h == self.zeros[number - 1]) for h in range(len(self.signs[number - 1]))]
            )
            rows = self.times(rows, number)
        rank = rank_modulo(rows, self.prime, self.meter)
        require(rank == len(rows), "independent gradients of the neurons of a chain", str(rank))

    def check_visible(self) -> None:
        """The outputs bend at each neuron of the chain, whatever the signs of the later ones.

        One combination of the outputs is enough, with powers of a large number. Its derivative
        by the activations of a layer is a combination of `rows`: of the first one, where all
        neurons of the chain are off, and of one for each later neuron of the chain that is on.
        """
        outputs = [pow(ON_OUTPUTS, o, self.prime) for o in range(self.network.widths[-1])]
        rows, sides = self.times([outputs], len(self.zeros) + 1), [[1]]
        for number in range(len(self.zeros), 0, -1):
            t = self.zeros[number - 1]
            entries = [row[t] for row in rows]
            self.meter.pay_modular(4 * len(sides) * len(rows))
            self.meter.hold(2 * len(sides) * len(rows))
            values = [dot(side, entries) % self.prime for side in sides]
            require(all(values), f"outputs that bend at neuron {t} of layer {number}", "none")
            rows = [self.behind(number, row) for row in rows]
            rows.append(
                [(self.slopes[1] - self.slopes[0]) * int(h == t) for h in range(len(rows[0]))]
            )
            rows = self.times(rows, number)
            pairs = list(zip(sides, values, strict=True))
            sides = [[*side, x] for side, value in pairs for x in (0, value)]

    def behind(self, number: int, row: Sequence[int]) -> list[int]:
        """Derivatives by the preactivations of a layer, from those by its activations."""
        off, on = self.slopes
        signs = self.signs[number - 1]
        return [(on if s > 0 else off) * x % self.prime for s, x in zip(signs, row, strict=True)]

    def times(self, rows: Matrix, number: int) -> list[list[int]]:
        """Rows times the weights of a layer."""
        columns = self.columns[number - 1]
        self.meter.pay_modular(2 * len(rows) * len(columns) * len(columns[0]))
        return [[dot(row, column) % self.prime for column in columns] for row in rows]


def signs_at(
    network: Network, slope: Slope, x: Sequence[Fraction], meter: Meter
) -> list[list[int]]:
    """The signs of the hidden neurons of a leaky ReLU stack at a point, layer by layer."""
    scale = common_denominator(x, "a common denominator of a point", meter)
    values, found = scaled_point(x, scale, meter), list[list[int]]()
    for layer in network.layers[:-1]:
        bits = longest([values, [scale]]) + slope.bits
        well_formed(
            bits <= GROWN_BITS, f"beyond the limits: numbers of more than {GROWN_BITS} bits"
        )
        meter.pay(len(layer.rows) * (len(values) + 4), bits, layer.bits)
        z = [dot(row, values) + b * scale for row, b in zip(layer.rows, layer.bias, strict=True)]
        found.append([(a > 0) - (a < 0) for a in z])
        values = [(slope.q if a > 0 else slope.p) * a for a in z]
        scale *= layer.denominator * slope.q
        total = longest([values, [scale]])
        meter.pay_divisions(2 * len(z), total, total)
        divisor = math.gcd(scale, *values)
        values, scale = [a // divisor for a in values], scale // divisor
    return found


# ---- leaky-replacement


@theorem(
    "leaky-replacement",
    kind="not-identifiable",
    among=("all",),
    architecture="leaky",
    page="theory/architectures.md",
    evidence={
        "architecture": {},
        "same-function": {"layer": int},
        "not-related": {"layer": int},
        "membership": MEMBERSHIP,
    },
    says=THEOREMS["replacement"].says,
)
def leaky_replacement(case: Case) -> None:
    """The maps of layers l and l+1 agree on the box that interval arithmetic gives."""
    stacks, slope = case_of_stacks(case)
    check_refutation(stacks, lambda one: check_leaky_maps(one, slope))


def check_leaky_maps(case: Case, slope: Slope) -> None:
    """As for `bounded-replacement`: q phi(t) = q max(t, 0) - p max(-t, 0)."""
    changed, box = changed_layers(case), box_of_inputs(case)
    for layer in case.network.layers[: changed.number - 1]:
        box = leaky_box(layer, box, slope, case.meter)
    pairs = ((changed.lower, changed.upper), changed.others)
    doubled = [in_two_parts(lower, upper, slope, case.meter) for lower, upper in pairs]
    check_maps(Changed(changed.number, *doubled[0], doubled[1]), box, case.meter)


def in_two_parts(lower: Layer, upper: Layer, slope: Slope, meter: Meter) -> tuple[Layer, Layer]:
    """Layers of ReLUs with the same map, with a second neuron for negative arguments."""
    rows, columns = [*lower.rows, *lower.rows], len(upper.rows[0])
    meter.pay(2 * len(rows) * len(lower.rows[0]))
    meter.pay(2 * len(upper.rows) * (columns + 1), upper.bits, slope.bits)
    meter.hold(2 * len(rows) * len(lower.rows[0]))
    rows = [[-x for x in row] if i >= columns else row for i, row in enumerate(rows)]
    bias = [*lower.bias, *(-b for b in lower.bias)]
    outgoing = [[*(slope.q * x for x in row), *(-slope.p * x for x in row)] for row in upper.rows]
    offset, bits = [slope.q * b for b in upper.bias], upper.bits + slope.bits
    return (
        Layer(lower.denominator, bias, rows, [], lower.bits),
        Layer(upper.denominator * slope.q, offset, outgoing, [], bits),
    )


def leaky_box(layer: Layer, box: Box, slope: Slope, meter: Meter) -> Box:
    """A box that holds the activations of a hidden layer for all inputs in a box."""
    bits = box.bits() + layer.bits + slope.bits
    well_formed(
        bits <= GROWN_BITS,
        f"beyond the limits: a box with ends of more than {GROWN_BITS} bits",
    )
    meter.pay(4 * len(layer.rows) * (len(box.lower) + 2), box.bits(), layer.bits + slope.bits)
    lower, upper = list[Any](), list[Any]()
    for row in layer.augmented():
        low, high = box.supremum(row, -1), box.supremum(row)
        lower.append(None if low is None else -low * (slope.q if low < 0 else slope.p))
        upper.append(None if high is None else high * (slope.q if high > 0 else slope.p))
    return Box(lower, upper, box.denominator * layer.denominator * slope.q)


# ==== 3.14 Networks of blocks ====

UNUSED, DEAD, LINEAR, FLIP = "unused", "dead", "linear", "flip"


#: Weights of one neuron by the layers that it reads.
Weights = list[tuple[int, list[int]]]


class ChangedNeuron(NamedTuple):
    """Neuron i of layer l, l = `number`, in both networks: all its weights by source, and biases.

    The rows are over the denominators of the layers.
    """

    number: int
    i: int
    rows: tuple[Weights, Weights]
    biases: tuple[int, int]
    denominators: tuple[int, int]

    def shift(self, case: str, meter: Meter) -> Fraction:
        """What later biases lose for each unit of weight: 0, b' - b, or -b if it is flipped."""
        (b, c), (d, e) = self.biases, self.denominators
        bits = longest([self.biases, self.denominators])
        meter.pay(8, bits, bits)
        meter.pay_divisions(8, 2 * bits, 2 * bits)
        if case == LINEAR:
            return Fraction(c, e) - Fraction(b, d)
        return Fraction(-b, d) if case == FLIP else Fraction(0)


@theorem(
    "blocks-neuron",
    kind="not-identifiable",
    among=("all",),
    architecture="blocks",
    page="theory/architectures.md",
    evidence={
        "architecture": {},
        "same-function": {
            "layer": int,
            "neuron": int,
            "case": re.compile(f"{UNUSED}|{DEAD}|{LINEAR}|{FLIP}"),
        },
        "not-related": {},
        "membership": MEMBERSHIP,
    },
    says={
        "architecture": "both networks have layers of the same widths, which read the same layers",
        "same-function": "they compute the same real function on the domain: one neuron is "
        "unused, never positive or never negative there, or what reads it also reads what it reads",
        "not-related": "they differ in an invariant of permutations and positive scalings",
    },
)
def blocks_neuron(case: Case) -> None:
    """One hidden neuron has another row [W|b], and later biases make up for it."""
    one, two, meter = case.network, case.other, case.meter
    check_architecture(case)
    evidence = case.hypothesis("same-function")
    number, i = hidden_layer(case), evidence["neuron"]
    require(i < one.widths[number], f"a neuron of layer {number}", str(i))
    neuron = neuron_of(one, two, number, i)
    check_other_layers(one, two, neuron, evidence["case"], meter)
    check_case(case, neuron, evidence["case"])
    case.hypothesis("not-related")
    check_not_related(one, neuron, meter)


def check_architecture(case: Case) -> None:
    """Both networks have the same widths and last activation, and layers that read the same."""
    one, two = case.network, case.other
    case.domain = domain_of_competitors(case)
    case.hypothesis("architecture")
    require(one.widths == two.widths, "equal widths", f"{one}; {two}")
    require(one.last == two.last, "equal last activations", f"{one}; {two}")
    require(sources_of(one) == sources_of(two), "layers that read the same layers")


def hidden_layer(case: Case) -> int:
    """The evidence's layer, which is not the last one."""
    number: int = case.evidence["same-function"]["layer"]
    last = len(case.network.layers)
    require(1 <= number < last, f"a layer from 1 to {last - 1}", str(number))
    return number


def sources_of(network: Network) -> list[list[int]]:
    """The layers that each layer reads besides the one before."""
    return [[source for source, _ in layer.earlier] for layer in network.layers]


def blocks_of(network: Network, number: int) -> list[tuple[int, list[list[int]]]]:
    """All blocks of a layer: source, rows."""
    layer = network.layers[number - 1]
    return [*layer.earlier, (number - 1, layer.rows)]


def row_of(network: Network, number: int, i: int) -> Weights:
    """The weights of a neuron on all that it reads."""
    return [(source, rows[i]) for source, rows in blocks_of(network, number)]


def neuron_of(one: Network, two: Network, number: int, i: int) -> ChangedNeuron:
    """A neuron in both networks."""
    mine, others = (row_of(network, number, i) for network in (one, two))
    first, second = one.layers[number - 1], two.layers[number - 1]
    biases, denominators = (first.bias[i], second.bias[i]), (first.denominator, second.denominator)
    return ChangedNeuron(number, i, (mine, others), biases, denominators)


def check_other_layers(
    one: Network, two: Network, neuron: ChangedNeuron, name: str, meter: Meter
) -> None:
    """All else is equal, but for what makes up for a larger bias, or for a negated row [w|b].

    As max(t, 0) = t + max(-t, 0), a layer that reads a negated neuron with the weight v has v w
    more on what the neuron reads, and the bias v b more.
    """
    shift = neuron.shift(name, meter)
    for number in range(1, len(one.layers) + 1):
        skipped, column = (neuron.i if number == neuron.number else -1), [0] * one.widths[number]
        for source, rows in blocks_of(one, number):
            if source == neuron.number:
                column = [row[neuron.i] for row in rows]
        left = dict(neuron.rows[0]) if name == FLIP and any(column) else {}
        pairs = zip(blocks_of(one, number), blocks_of(two, number), strict=True)
        for (source, rows), (_, others) in pairs:
            added = left.pop(source, [])
            expected = Expected(number, rows, skipped, column, added, neuron.denominators[0])
            check_rows(expected, others, one.layers[number - 1], two.layers[number - 1], meter)
        wanted = f"a layer {number} that reads what the neuron reads"
        require(not any(map(any, left.values())), wanted, "another one")
        check_biases(one.layers[number - 1], two.layers[number - 1], column, shift, skipped, meter)


class Expected(NamedTuple):
    """A block of layer `number` of `other`: rows + column * added / denominator.

    One row may be any other, unless `skipped` is -1; without change `added` is empty.
    """

    number: int
    rows: Matrix
    skipped: int
    column: Sequence[int]
    added: Sequence[int]
    denominator: int


def check_rows(block: Expected, others: Matrix, first: Layer, second: Layer, meter: Meter) -> None:
    """The rows of a block of `other` are the expected ones."""
    d, e, q = first.denominator, second.denominator, block.denominator
    bits, own = max(first.bits, second.bits), longest([block.added, [q]])
    size = len(block.rows) * len(block.rows[0])
    meter.pay(2 * size, bits, bits if d != e else 0)
    is_added = any(block.added)
    if is_added:
        meter.pay(6 * size, bits + own, bits + own)
    for k, (row, other) in enumerate(zip(block.rows, others, strict=True)):
        if k == block.skipped:
            continue
        v = block.column[k]
        if v and is_added:
            row = [x * q + v * w for x, w in zip(row, block.added, strict=True)]
            same = [x * e for x in row] == [y * d * q for y in other]
        else:
            same = row == other if d == e else [x * e for x in row] == [y * d for y in other]
        wanted = f"the weights of neuron {k} of layer {block.number} as the theorem says"
        require(same, wanted, "different ones")


def check_biases(
    first: Layer,
    second: Layer,
    column: Sequence[int],
    shift: Fraction,
    skipped: int,
    meter: Meter,
) -> None:
    """The biases of a layer of `other`, but for one of them, are b - shift * column."""
    p, q = shift.as_integer_ratio()
    bits = max(first.bits, second.bits)
    meter.pay(5 * len(column), 2 * bits, bits + max(p.bit_length(), q.bit_length()))
    for k, (b, c, v) in enumerate(zip(first.bias, second.bias, column, strict=True)):
        if k != skipped:
            same = (b * q - p * v) * second.denominator == c * q * first.denominator
            require(same, "the biases of `other` as the theorem says", f"another one, {k}")


def check_case(case: Case, neuron: ChangedNeuron, name: str) -> None:
    """Nothing reads the neuron, or it has one sign on the box in both networks, or is negated."""
    if name == UNUSED:
        check_unused(case.network, neuron)
    elif name != FLIP:
        check_one_sign(case, neuron, 1 if name == DEAD else -1)
    if name in (LINEAR, FLIP):
        sign, (d, e) = (1 if name == LINEAR else -1), neuron.denominators
        for (_, row), (_, changed) in zip(*neuron.rows, strict=True):
            same = [x * e for x in row] == [sign * y * d for y in changed]
            require(same, f"weights of a {name} neuron", "other ones")
    if name == FLIP:
        (b, c), (d, e) = neuron.biases, neuron.denominators
        require(b * e == -c * d, "the bias of a flip neuron", "another one")


def check_unused(network: Network, neuron: ChangedNeuron) -> None:
    """No later layer reads the neuron."""
    for number in range(neuron.number + 1, len(network.layers) + 1):
        for source, rows in blocks_of(network, number):
            is_read = source == neuron.number and any(row[neuron.i] for row in rows)
            require(not is_read, f"an unused neuron {neuron.i}", f"layer {number} reads it")


def check_one_sign(case: Case, neuron: ChangedNeuron, sign: int) -> None:
    """The neuron, times the sign, is never positive on the box, in both networks."""
    boxes, meter, i = boxes_of(case, neuron.number - 1), case.meter, neuron.number - 1
    layer, other = case.network.layers[i], case.other.layers[i]
    common, bits = common_of(boxes, [source for source, _ in neuron.rows[0]], meter)
    size = sum(len(row) + 2 for _, row in neuron.rows[0])
    meter.pay(4 * size, bits + common.bit_length(), max(layer.bits, other.bits))
    for rows, bias in zip(neuron.rows, neuron.biases, strict=True):
        end = supremum(rows, bias, sign, boxes, common)
        fact = f"a neuron that is never {'positive' if sign > 0 else 'negative'} on the box"
        got = f"neuron {neuron.i} of layer {neuron.number}"
        has_sign = end is not None and end <= 0
        require(has_sign, fact, got)


def boxes_of(case: Case, depth: int) -> list[Box]:
    """Boxes that hold the inputs, and the activations of layers 1 to `depth`, on the domain."""
    boxes, network, meter = [box_of_inputs(case)], case.network, case.meter
    for number in range(1, depth + 1):
        layer, blocks = network.layers[number - 1], blocks_of(network, number)
        common, bits = common_of(boxes, [source for source, _ in blocks], meter)
        grown = bits + common.bit_length() + layer.bits
        message = f"beyond the limits: a box with ends of more than {GROWN_BITS} bits"
        well_formed(grown <= GROWN_BITS, message)
        size = sum(len(rows) * (len(rows[0]) + 2) for _, rows in blocks)
        meter.pay(4 * size, bits + common.bit_length(), layer.bits)
        meter.hold(cells_of(2 * len(layer.rows), grown))
        lower, upper = list[End](), list[End]()
        for k, b in enumerate(layer.bias):
            row = [(source, rows[k]) for source, rows in blocks]
            low, high = (supremum(row, b, sign, boxes, common) for sign in (-1, 1))
            lower.append(0 if low is None else max(-low, 0))
            upper.append(None if high is None else max(high, 0))
        boxes.append(Box(lower, upper, common * layer.denominator))
    return boxes


def common_of(boxes: Sequence[Box], sources: Sequence[int], meter: Meter) -> tuple[int, int]:
    """A common denominator of the boxes that a layer reads, and the bits of their ends."""
    common = least_common_multiple([boxes[source].denominator for source in sources], meter)
    message = f"beyond the limits: a box with ends of more than {GROWN_BITS} bits"
    well_formed(common.bit_length() <= GROWN_BITS, message)
    return common, max(boxes[source].bits() for source in sources)


def supremum(rows: Weights, bias: int, sign: int, boxes: Sequence[Box], common: int) -> End:
    """The largest value of sign * (sum of rows . activations + bias) on boxes, times `common`."""
    total = sign * bias * common
    for source, row in rows:
        end = boxes[source].supremum([*row, 0], sign)
        if end is None:
            return None
        total += end * (common // boxes[source].denominator)
    return total


# -- Invariants of neurons of networks of blocks


class Named(NamedTuple):
    """Numbers of invariants of the neurons of a layer, and their scales over one denominator."""

    names: list[int]
    scales: list[int]
    common: int


def check_not_related(network: Network, neuron: ChangedNeuron, meter: Meter) -> None:
    """The invariant of the neuron differs, and no other one of its layer does."""
    numbers = dict[Row, int]()
    known = names_below(network, neuron.number, numbers, meter), numbers
    (mine,), (other,) = (
        named(neuron.number, [rows], [bias], 1, known, meter).names
        for rows, bias in zip(neuron.rows, neuron.biases, strict=True)
    )
    require(mine != other, "different invariants", "equal ones")


def check_different_invariants(case: Case) -> None:
    """The invariants of the layer that the evidence names differ."""
    layer, numbers = case.hypothesis("not-related")["layer"], dict[Row, int]()
    last = len(case.network.layers)
    require(1 <= layer <= last, "a layer of the networks", str(layer))
    mine, others = (
        names_below(network, layer + 1, numbers, case.meter)[-1].names
        for network in (case.network, case.other)
    )
    if layer < last:
        mine, others = sorted(mine), sorted(others)
    require(mine != others, "different invariants", "equal ones")


def names_below(network: Network, stop: int, numbers: dict[Row, int], meter: Meter) -> list[Named]:
    """The invariants of inputs, and of the neurons of the layers before layer `stop`."""
    inputs = list(range(network.widths[0]))
    layers = [Named([name_of_key(Row((0, j)), numbers) for j in inputs], [1] * len(inputs), 1)]
    for number in range(1, stop):
        layer = network.layers[number - 1]
        rows = [row_of(network, number, k) for k in range(len(layer.rows))]
        is_last = number == len(network.layers)
        known = layers, numbers
        layers.append(named(number, rows, layer.bias, layer.denominator, known, meter, is_last))
    return layers


def name_of_key(key: Row, numbers: dict[Row, int]) -> int:
    """The number of an invariant: equal ones have equal numbers, so that nothing nests."""
    return numbers.setdefault(key, len(numbers))


def name_of_vector(
    number: int, front: list[int], e: list[tuple[int, int]], numbers: dict[Row, int]
) -> int:
    """The number of a neuron's invariant, by the primitive multiple of its vector (b, e)."""
    divisor = math.gcd(*front, *(x for _, x in e)) or 1
    pairs = sorted((name, x // divisor) for name, x in e)
    key = (number, *(x // divisor for x in front), *chain.from_iterable(pairs))
    return name_of_key(Row(key), numbers)


def named(
    number: int,
    rows: Sequence[Weights],
    biases: Sequence[int],
    denominator: int,
    known: tuple[list[Named], dict[Row, int]],
    meter: Meter,
    is_last: bool = False,
) -> Named:
    """The invariants of neurons of a layer: of each one its ray (b, e), as in 3.5.

    The invariant of an output is (b, e) itself, so that the common denominator joins the vector.
    """
    layers, numbers = known
    sources = [source for source, _ in rows[0]]
    common = least_common_multiple([layers[source].common for source in sources], meter)
    factors = [(source, common // layers[source].common) for source in sources]
    bits = longest([*(layers[source].scales for source in sources), [common]])
    bits += max(common.bit_length(), *(longest([row]) for weights in rows for _, row in weights))
    bits += longest([biases, [denominator]])
    well_formed(bits <= GROWN_BITS, f"beyond the limits: scales of more than {GROWN_BITS} bits")
    names, scales = list[int](), list[int]()
    for weights, b in zip(rows, biases, strict=True):
        size = sum(len(row) for _, row in weights)
        terms = sum(len(row) - row.count(0) for _, row in weights)
        meter.pay(2 * size)
        meter.pay_divisions(10 * (terms + 4), bits, bits)
        meter.hold(cells_of(2 * terms + 4, bits))
        e = [
            (name, w * scale * factor)
            for (source, factor), (_, row) in zip(factors, weights, strict=True)
            for w, name, scale in zip(row, *layers[source][:2], strict=True)
            if w * scale
        ]
        front = [b * common, common * denominator] if is_last else [b * common]
        names.append(name_of_vector(number, front, e, numbers))
        scales.append(sum(abs(x) for _, x in e) + abs(front[0]))
    return Named(names, scales, common * denominator)


@theorem(
    "blocks-replacement",
    kind="not-identifiable",
    among=("all",),
    architecture="blocks",
    page="theory/architectures.md",
    evidence={
        "architecture": {},
        "same-function": {"layer": int},
        "not-related": {"layer": int},
        "membership": MEMBERSHIP,
    },
    says={
        "architecture": "both networks have layers of the same widths, which read the same layers",
        "same-function": "they compute the same real function on the domain: one layer, and the "
        "layers that read it, have the same maps",
        "not-related": "they differ in an invariant of permutations and positive scalings",
    },
)
def blocks_replacement(case: Case) -> None:
    """Layer l and each layer that reads it have one map on the box of all values before l."""
    check_architecture(case)
    case.hypothesis("same-function")
    number = hidden_layer(case)
    readers = readers_of(case.network, number)
    check_equal_layers(case, {number, *readers})
    boxes = boxes_of(case, number - 1)
    for reader in readers:
        check_reader(case, Reading(number, reader), boxes)
    check_different_invariants(case)


def readers_of(network: Network, number: int) -> list[int]:
    """The layers that read a layer."""
    later = range(number + 1, len(network.layers) + 1)
    return [k for k in later if any(source == number for source, _ in blocks_of(network, k))]


def check_equal_layers(case: Case, changed: set[int]) -> None:
    """All layers but some are equal."""
    pairs = zip(case.network.layers, case.other.layers, strict=True)
    for k, (mine, others) in enumerate(pairs, 1):
        if k not in changed:
            require(mine == others, f"equal layers {k}", "different ones")


class Reading(NamedTuple):
    """Layer l = `number`, and a layer that reads it."""

    number: int
    reader: int


def check_reader(case: Case, pair: Reading, boxes: Sequence[Box]) -> None:
    """The maps of layer l and of a reader agree on the box; behind l the reader's blocks are equal.

    The coordinates are the neurons of all layers before l that one of the two layers reads.
    """
    one, two, meter = case.network, case.other, case.meter
    first, second = (network.layers[pair.reader - 1] for network in (one, two))
    blocks = zip(blocks_of(one, pair.reader), blocks_of(two, pair.reader), strict=True)
    for (source, rows), (_, others) in blocks:
        if source > pair.number:
            same = Expected(pair.reader, rows, -1, [0] * len(rows), [], 1)
            check_rows(same, others, first, second, meter)
    read = {source for k in pair for source, _ in blocks_of(one, k) if source < pair.number}
    sources = sorted(read)
    common, bits = common_of(boxes, sources, meter)
    meter.pay(sum(4 * len(boxes[k].lower) for k in sources), bits, common.bit_length())
    box = joint_box([boxes[k] for k in sources], common)
    form = AbsoluteValueForm(changed_neurons(case, pair, sources), box, meter)
    for sign, network in ((1, one), (-1, two)):
        layer = network.layers[pair.reader - 1]
        linear = [(k, rows) for k, rows in blocks_of(network, pair.reader) if k < pair.number]
        if linear:
            width = [one.widths[k] for k in sources]
            table = joint_rows(dict(linear), sources, width, len(layer.rows), meter)
            form.add_linear(sign * form.common // layer.denominator, table)
    form.check()


def joint_box(boxes: Sequence[Box], common: int) -> Box:
    """The product of boxes, over a common denominator."""
    lower, upper = (
        [
            None if end is None else end * (common // box.denominator)
            for box in boxes
            for end in (box.lower if is_lower else box.upper)
        ]
        for is_lower in (True, False)
    )
    return Box(lower, upper, common)


def joint_rows(
    blocks: Mapping[int, Matrix],
    sources: Sequence[int],
    widths: Sequence[int],
    size: int,
    meter: Meter,
) -> list[list[int]]:
    """Rows on the neurons of several layers one after the other, 0 where nothing is read."""
    meter.pay(size * sum(widths))
    meter.hold(size * sum(widths))
    return [
        [
            x
            for source, width in zip(sources, widths, strict=True)
            for x in (blocks[source][i] if source in blocks else [0] * width)
        ]
        for i in range(size)
    ]


def changed_neurons(case: Case, pair: Reading, sources: Sequence[int]) -> Changed:
    """The neurons of layer l that differ in their rows, or in the weights of the reader on them.

    Of the reader only its weights on them and its biases are kept.
    """
    one, two, meter = case.network, case.other, case.meter
    sides = [side_of(network, pair, meter) for network in (one, two)]
    (lower, upper), (below, above) = (
        (network.layers[pair.number - 1], network.layers[pair.reader - 1]) for network in (one, two)
    )
    size = one.widths[pair.number] * (1 + len(upper.rows))
    size += sum(len(rows) * len(rows[0]) for _, rows in blocks_of(one, pair.number))
    meter.pay(2 * size, max(lower.bits, upper.bits), max(below.bits, above.bits))
    found = list[int]()
    for i, (mine, others) in enumerate(zip(*(side.neurons for side in sides), strict=True)):
        same = is_same(mine, lower.denominator, others, below.denominator)
        column, other = (side.columns[i] for side in sides)
        if not (same and is_same(column, upper.denominator, other, above.denominator)):
            found.append(i)
    first, second = (
        changed_layers_of(network, side, found, pair, (sources, meter))
        for network, side in zip((one, two), sides, strict=True)
    )
    return Changed(pair.number, *first, second)


class ReadNeurons(NamedTuple):
    """The rows [b|W] of the neurons of layer l, and the weights of a reader on them."""

    neurons: list[list[int]]
    columns: list[tuple[int, ...]]


def side_of(network: Network, pair: Reading, meter: Meter) -> ReadNeurons:
    """The neurons of layer l of a network."""
    layer, blocks = network.layers[pair.number - 1], blocks_of(network, pair.number)
    read = dict(blocks_of(network, pair.reader))[pair.number]
    meter.hold(len(layer.bias) * (1 + len(read) + sum(len(rows[0]) for _, rows in blocks)))
    neurons = [[b, *(x for _, rows in blocks for x in rows[i])] for i, b in enumerate(layer.bias)]
    return ReadNeurons(neurons, list(zip(*read, strict=True)))


def is_same(row: Sequence[int], d: int, other: Sequence[int], e: int) -> bool:
    """Whether row / d and other / e are equal."""
    return all(x * e == y * d for x, y in zip(row, other, strict=True))


def changed_layers_of(
    network: Network,
    side: ReadNeurons,
    found: list[int],
    pair: Reading,
    space: tuple[Sequence[int], Meter],
) -> tuple[Layer, Layer]:
    """Layer l with some of its neurons, on all coordinates, and what reads them."""
    (sources, meter), layer = space, network.layers[pair.number - 1]
    reader = network.layers[pair.reader - 1]
    widths = [network.widths[k] for k in sources]
    blocks = {k: [rows[i] for i in found] for k, rows in blocks_of(network, pair.number)}
    rows = joint_rows(blocks, sources, widths, len(found), meter)
    bias = [layer.bias[i] for i in found]
    weights = [[side.columns[i][o] for i in found] for o in range(len(reader.rows))]
    return (
        Layer(layer.denominator, bias, rows, [], layer.bits),
        Layer(reader.denominator, reader.bias, weights, [], reader.bits),
    )


@theorem(
    "blocks-one-sided",
    kind="not-identifiable",
    among=("all",),
    architecture="blocks",
    page="theory/architectures.md",
    evidence={
        "architecture": {},
        "same-function": {
            "layer": int,
            "source": [int],
            "steps": [(int, NATURAL, MULTIPLES, MULTIPLES)],
            "signs": [(int, SIGN_MARK, NATURAL, MULTIPLES)],
        },
        "not-related": {"layer": int},
        "membership": MEMBERSHIP,
    },
    says={
        "architecture": "both networks have layers of the same widths, which read the same layers",
        "same-function": "they compute the same real function on the domain: neurons of one layer "
        "have one sign wherever one neuron that they read is on",
        "not-related": "they differ in an invariant of permutations and positive scalings",
    },
)
def blocks_one_sided(case: Case) -> None:
    """Neurons of layer l have one sign wherever the source is on; their weights on it change."""
    check_architecture(case)
    evidence = case.hypothesis("same-function")
    number, network = hidden_layer(case), case.network
    place = place_of_source(network, number, evidence["source"])
    neurons = [] if place is None else [sum(network.widths[1 : place.layer]) + place.neuron]
    facts = Facts(case, number, neurons)
    for step in evidence["steps"]:
        facts.add_step(*step)
    check_indices([v for v, *_ in evidence["signs"]], network.widths[number], "neurons with signs")
    for v, sign, factor, multiples in evidence["signs"]:
        check_signs(case, facts, number, SignProof(v, sign, integer(factor), multiples))
    readers = readers_of(network, number)
    check_equal_layers(case, {number, *readers})
    changes = check_layer_with_signs(case, number, place, evidence["signs"])
    for reader in readers:
        check_reader_of_signs(case, (number, reader), place, changes)
    check_different_invariants(case)


class SourceNeuron(NamedTuple):
    """A neuron of a hidden layer."""

    layer: int
    neuron: int


def place_of_source(network: Network, number: int, source: list[int]) -> SourceNeuron | None:
    """The source [k, h], a neuron of a hidden layer that layer l reads; None for the constant 1."""
    require(len(source) in (0, 2), "no source, or its layer and neuron", str(len(source)))
    if not source:
        return None
    read = [k for k, _ in blocks_of(network, number) if k]
    require(source[0] in read, f"a source in a hidden layer that layer {number} reads")
    require(source[1] < network.widths[source[0]], f"a neuron of layer {source[0]}")
    return SourceNeuron(*source)


class SignProof(NamedTuple):
    """A neuron, its sign, and a proof of a multiple of it."""

    neuron: int
    sign: str
    factor: int
    multiples: object


def check_signs(case: Case, facts: Facts, number: int, given: SignProof) -> None:
    """The neuron has the sign in both networks, by the same multiples."""
    require(given.factor > 0, "a positive factor of a sign", "0")
    layers = case.network.layers[number - 1], case.other.layers[number - 1]
    scales = layers[1].denominator, layers[0].denominator
    for network, layer, scale in zip((case.network, case.other), layers, scales, strict=True):
        factor = scale * (given.factor if given.sign == "+" else -given.factor)
        row = row_of(network, number, given.neuron)
        size = 1 + sum(len(weights) for _, weights in row)
        case.meter.pay(size, layer.bits, factor.bit_length())
        own = [(source, [factor * x for x in weights]) for source, weights in row]
        form = facts.form(own, factor * layer.bias[given.neuron])
        facts.check_follows(form, given.multiples)


class Changes(NamedTuple):
    """Numerators, over one scale, of the changes of neurons that are never negative."""

    numerators: dict[int, int]
    scale: int

    def bits(self) -> int:
        """The bits of the longest number."""
        return longest([[*self.numerators.values(), self.scale]])


def check_layer_with_signs(
    case: Case,
    number: int,
    place: SourceNeuron | None,
    signs: Sequence[tuple[int, str, str, object]],
) -> Changes:
    """Layer l is equal but for the weights of `signs` on the source, or their biases."""
    networks, meter = (case.network, case.other), case.meter
    layers = [network.layers[number - 1] for network in networks]
    tables = [table_of(network, number, place, meter) for network in networks]
    (d, e), bits = (layer.denominator for layer in layers), max(layer.bits for layer in layers)
    chosen = {v: sign for v, sign, *_ in signs}
    meter.pay(sum(2 * len(row) for row in tables[0].rows), bits, bits)
    for row, other in zip(*(table.rows for table in tables), strict=True):
        same = is_same(row, d, other, e)
        require(same, f"equal layers {number} but for the weights of `signs` on the source")
    meter.pay(2 * len(tables[0].weights), bits, bits)
    changes = dict[int, int]()
    for v, (x, y) in enumerate(zip(*(table.weights for table in tables), strict=True)):
        change = y * d - x * e
        require(not change or v in chosen, "changed weights of `signs` only", f"neuron {v}")
        if change and chosen[v] == "+":
            changes[v] = change
    return Changes(changes, d * e)


class SplitLayer(NamedTuple):
    """A layer: its weights on the source, or biases without a source, and all other numbers."""

    weights: list[int]
    rows: list[list[int]]


def table_of(network: Network, number: int, place: SourceNeuron | None, meter: Meter) -> SplitLayer:
    """A layer with the weights on the source taken out; they are 0 if it is not read."""
    layer, blocks = network.layers[number - 1], blocks_of(network, number)
    weights, rows = list[int](), list[list[int]]()
    size = len(layer.bias) * (1 + sum(len(table[0]) for _, table in blocks))
    meter.pay(size)
    meter.hold(size)
    for i, b in enumerate(layer.bias):
        row = [b]
        weights.append(b if place is None else 0)
        for source, table in blocks:
            row += table[i]
            if place is not None and source == place.layer:
                weights[-1] = table[i][place.neuron]
                row[place.neuron - len(table[i])] = 0
        if place is None:
            row[0] = 0
        rows.append(row)
    return SplitLayer(weights, rows)


def check_reader_of_signs(
    case: Case, layers: tuple[int, int], place: SourceNeuron | None, changes: Changes
) -> None:
    """A reader has less weight on the source, or a smaller bias, by what the changes add to it."""
    one, two, meter = case.network, case.other, case.meter
    number, reader = layers
    first, second = one.layers[reader - 1], two.layers[reader - 1]
    d, e, read = first.denominator, second.denominator, dict(blocks_of(one, reader))
    bits, own = max(first.bits, second.bits), changes.bits()
    meter.pay(len(first.bias) * (len(changes.numerators) + 6), bits + own, bits)
    totals = [sum(n * row[v] for v, n in changes.numerators.items()) for row in read[number]]
    fact = f"changes that cancel in layer {reader}, which does not read the source"
    require(place is None or place.layer in read or not any(totals), fact, "others")
    tables = [table_of(network, reader, place, meter) for network in (one, two)]
    meter.pay(sum(2 * len(row) for row in tables[0].rows), bits, bits)
    for row, other in zip(*(table.rows for table in tables), strict=True):
        same = is_same(row, d, other, e)
        require(same, f"layer {reader} of `other` as the theorem says", "another one")
    for total, x, y in zip(totals, *(table.weights for table in tables), strict=True):
        same = (x * changes.scale - total) * e == y * d * changes.scale
        require(same, f"layer {reader} of `other` as the theorem says", "another one")


# ==== 4. Verdicts ====

FORMAT_PAGE = "polyrelu/certificate/FORMAT.md"
#: The exit status of the command is the place in this list.
VERDICTS = ("accepted", "rejected", "unreadable")
CERTIFICATE = {
    "format": "polyrelu-certificate",
    "version": 1,
    "unverified": object,
    "claim": CLAIMS,
    "proof": {"theorem": str, "hypotheses": list},
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
    cost: int = 0  # units of section 3.6

    def __repr__(self) -> str:
        if self.verdict != "accepted":
            fact = f"  step: {self.step}\n  expected: {self.expected}\n  got: {self.got}"
            return f"{self.verdict}\n{fact}"
        lines = [
            f"accepted: {self.statement}",
            f"theorem: {self.theorem}",
            *(f"{h['id']}: {h['statement']}" for h in self.hypotheses),
            "assumed: none",
            f"trusted: {'; '.join(self.trusted)}",
            *(f"network: {sha256}" for sha256 in self.networks),
            f"cost: {self.cost} units",
        ]
        return "\n  ".join(lines)


class Contents(NamedTuple):
    """What a file states: it has the shape of the format, and nothing else is known."""

    theorem: str
    claim: Any
    evidence: Mapping[str, Any]  # by hypothesis; of a tree file, what its header has
    notes: Mapping[str, str]


def read_certificate(data: bytes, meter: Meter) -> Contents:
    """What a certificate states that is one JSON value (section 3)."""
    document = parse(data, "certificate", CERTIFICATE_BYTES, meter)
    is_network = type(document) is dict and document.get("format") == "polyrelu-network"
    well_formed(not is_network, "a network file, where a certificate is wanted", "certificate")
    fit(document, CERTIFICATE, "certificate")
    check_notes(document["unverified"], "certificate.unverified")
    claim, name = document["claim"], document["proof"]["theorem"]
    well_formed(name in THEOREMS, f"unknown theorem {quote(name)}", "certificate.proof.theorem")
    evidence = read_evidence(document["proof"]["hypotheses"], THEOREMS[name])
    return Contents(name, claim, evidence, document["unverified"])


def check_certificate(data: bytes, search: Search, meter: Meter) -> CheckReport:
    """Check a certificate that is one JSON value."""
    name, claim, evidence, _ = read_certificate(data, meter)
    del data
    theorem = THEOREMS[name]
    keys = [key for key in ("network", "other") if key in claim]
    networks = [read_reference(claim[key], key, search, meter) for key in keys]
    check_claim(claim, theorem, networks)
    case = Case(networks, claim, evidence, meter)
    theorem.rule(case)
    status = ""
    if "membership" in evidence:
        own = case.hypothesis("membership")
        status = own["status"]
        check_membership(theorem.kind, claim["among"], networks[-1], own, meter)
    return accepted(case, name, list(evidence), status)


def read_evidence(hypotheses: Any, theorem: Theorem) -> dict[str, Any]:
    """The evidence by hypothesis; they are the theorem's, in their order."""
    listed = [entry.get("id") for entry in hypotheses if type(entry) is dict]
    shapes = tuple(
        {"id": key, "status": "proved", "evidence": shape}
        for key, shape in theorem.evidence.items()
        if key not in theorem.optional or key in listed
    )
    fit(hypotheses, shapes, "certificate.proof.hypotheses")
    return {entry["id"]: entry["evidence"] for entry in hypotheses}


def check_claim(claim: Any, theorem: Theorem, networks: Sequence[Network]) -> None:
    """The theorem is about claims of this kind, among this class, and about such networks."""
    kind, among = claim["kind"], claim.get("among", "")
    require(kind == theorem.kind, f"a claim {theorem.kind}", kind, "claim")
    if theorem.among:
        require(among in theorem.among, f"among {' or '.join(theorem.among)}", among, "claim")
    named = claim.get("architecture", {}).get("kind", "")
    fact = theorem.architecture or "plain stacks"
    require(named == theorem.architecture, f"the architecture {fact}", named or "none", "claim")
    if kind not in OF_ANY_NETWORKS and not named:
        plain = all(network.is_plain() for network in networks)
        well_formed(plain, f"only plain stacks have claims of the kind {kind}", "claim")


def accepted(case: Case, name: str, hypotheses: Sequence[str], status: str = "") -> CheckReport:
    """The report on an accepted certificate."""
    theorem, claim, networks = THEOREMS[name], case.claim, [case.network, case.other]
    among = claim.get("among", "")
    says = {
        **theorem.says,
        "membership": f"membership of network {case.other.sha256[:12]} in the class {among}: "
        f"{status}",
    }
    trusted = [f"theorem {name} as proved in {theorem.page}", FORMAT_PAGE]
    trusted.append("Python's integers, json, hashlib" + (", zlib" if case.lines else ""))
    if status == "verified" and among in TRUSTED_OF_MINORS:
        trusted.append(TRUSTED_OF_MINORS[among])
    return CheckReport(
        "accepted",
        statement=sentence(name, claim, networks[0], networks[1], status, case.meter),
        theorem=name,
        hypotheses=[{"id": key, "statement": says[key], "status": "proved"} for key in hypotheses],
        trusted=trusted,
        networks=tuple(network.sha256 for network in networks[: 2 if "other" in claim else 1]),
        cost=case.meter.cost,
    )


# ==== 5. Split trees: claim equivalent, theorem tree; claim regions, theorem regions ====

# Symbol 0 of a form stands for 1, symbols 1 ... d for the coordinates y, the next ones for lifted
# neurons, all others for atoms max(h, 0), h a primitive form of earlier symbols.

Neuron = tuple[int, int, int]  # network 0 or 1, layer from 1, index


class Atom(NamedTuple):
    """max(form, 0), the form primitive; its level, and the bits of the form."""

    form: Form
    level: int
    bits: int


def key_of(form: Form, sign: int = 1) -> Row:
    """A primitive form, or its negative, as a key."""
    return Row(chain.from_iterable((symbol, sign * form[symbol]) for symbol in sorted(form)))


def primitive_form(form: Form) -> tuple[Form, int]:
    """(h, g): form = g h, g > 0, the entries of h without a common divisor."""
    divisor = math.gcd(*form.values())
    if divisor == 1:
        return form, 1
    return {symbol: x // divisor for symbol, x in form.items()}, divisor


def by_the_negative(form: Form, symbol: int, factor: int) -> Form:
    """max(t, 0) = t + max(-t, 0), for t = `form` and the symbol of the atom of -t / factor."""
    return without_zeros(form | {symbol: form.get(symbol, 0) + factor})


def common_divisor(number: int, forms: Iterable[Form], meter: Meter) -> int:
    """The greatest common divisor of a number and all coefficients."""
    divisor = number
    for form in forms:
        if divisor == 1:
            break
        bits = bits_of_form(form)
        meter.pay_divisions(len(form), bits, min(bits, divisor.bit_length()))
        divisor = math.gcd(divisor, *form.values())
    return divisor


#: The activations of a layer as forms over a denominator.
Activations = tuple[list[Form], int]


class JointNetwork:
    """The difference of two networks, or all activations of one, over the atoms that are needed."""

    def __init__(
        self,
        networks: Sequence[Network],
        domain: Domain,
        lifted: Sequence[Neuron],
        meter: Meter,
    ) -> None:
        self.num_inputs, self.meter = domain.dimension(), meter
        self.dimension = self.num_inputs + len(lifted)
        self.sides = dict(domain.sides)
        self.lifted = {neuron: 1 + self.num_inputs + k for k, neuron in enumerate(lifted)}
        require(len(self.lifted) == len(lifted), "different neurons", "one twice", "lifted")
        self.slacks = [(slack, domain.scale) for slack in domain.slacks]
        self.atoms, self.symbols = list[Atom](), dict[Row, int]()
        self.levels = [0] * (1 + self.dimension)
        made = [self.activations(which, network, domain) for which, network in enumerate(networks)]
        self.add_lifted_slacks()
        self.outputs, self.denominator = list[Form](), 1  # of one network
        if len(made) == 1:
            rows = [form for forms, _ in made[0][1:] for form in forms]
            self.outputs, self.denominator = made[0][-1]
        else:
            rows = differences(made[0][-1], made[1][-1], meter)
        self.difference = [primitive_form(form)[0] for form in rows if form]
        self.keep_used()

    def add_lifted_slacks(self) -> None:
        """The activation of a lifted neuron is at least 0, and at least its form."""
        found = {symbol: key for key, symbol in self.symbols.items() if symbol <= self.dimension}
        fact, got = "neurons that have forms of their own", f"{len(found)} of them"
        require(len(found) == len(self.lifted), fact, got, "lifted")
        for symbol in sorted(found):
            pairs = zip(found[symbol][::2], found[symbol][1::2], strict=True)
            above = {c: -x for c, x in pairs}
            self.slacks += [({symbol: 1}, 1), (above | {symbol: 1}, 1)]
            self.sides[symbol, True] = Fraction(0)

    def activations(self, which: int, network: Network, domain: Domain) -> list[Activations]:
        """The input, the activations and the outputs of a network."""
        found = [(domain.inputs, domain.scale)]
        for number, layer in enumerate(network.layers, 1):
            z, denominator = self.preactivations(layer, found)
            if number <= network.num_hidden_layers():
                signs = self.signs_by_weights(layer, found)
                z = [
                    self.activation(form, sign, (which, number, i))
                    for i, (form, sign) in enumerate(zip(z, signs, strict=True))
                ]
            self.meter.hold(sum(cells_of(3 * len(form), bits_of_form(form)) for form in z))
            found.append((z, denominator))
        return found

    def preactivations(self, layer: Layer, activations: Sequence[Activations]) -> Activations:
        """The preactivations of a layer, from the activations of all layers before."""
        sources = (*layer.earlier, (len(activations) - 1, layer.rows))
        blocks = [(rows, *activations[source]) for source, rows in sources]
        common = least_common_multiple([denominator for _, _, denominator in blocks], self.meter)
        own, before = layer.bits, self.meter.cells
        self.meter.pay(len(layer.bias), own, common.bit_length())
        sums: list[Form] = [{0: b * common} for b in layer.bias]
        for rows, forms, denominator in blocks:
            factor, sizes = common // denominator, [len(form) for form in forms]
            bits, factor_bits = max(map(bits_of_form, forms), default=0), factor.bit_length()
            self.meter.pay(len(rows) * (1 + len(forms)), own, factor_bits)
            sizes_of_products = (
                sum(size for w, size in zip(row, sizes, strict=True) if w) for row in rows
            )
            self.meter.pay(2 * sum(sizes_of_products) + sum(sizes), bits, own + factor_bits)
            for entries, row in zip(sums, rows, strict=True):
                for w, form in zip(row, forms, strict=True):
                    add_to(entries, form, w * factor)
                self.meter.units(60 * len(entries))
                self.meter.hold(cells_of(3 * len(entries), bits_of_form(entries)))
        self.meter.release(self.meter.cells - before)  # the activations are held
        sums, denominator = list(map(without_zeros, sums)), common * layer.denominator
        divisor = common_divisor(denominator, sums, self.meter)
        if divisor == 1:
            return sums, denominator
        bits = max(map(bits_of_form, sums), default=0)
        self.meter.pay_divisions(sum(map(len, sums)), bits, divisor.bit_length())
        reduced = [{symbol: x // divisor for symbol, x in form.items()} for form in sums]
        return reduced, denominator // divisor

    def signs_by_weights(self, layer: Layer, activations: Sequence[Activations]) -> list[int]:
        """The signs of neurons that read no input, and whose bias and weights have one sign.

        Weights on activations that are 0 as forms do not count. A sign is 0 if it is not shown.
        """
        blocks, found = (*layer.earlier, (len(activations) - 1, layer.rows)), list[int]()
        for i, b in enumerate(layer.bias):
            values, reads_input = [b], False
            for source, rows in blocks:
                pairs = zip(rows[i], activations[source][0], strict=True)
                used = [w for w, a in pairs if w and a]
                reads_input = reads_input or (source == 0 and used != [])
                values += used
            alike = (min(values) >= 0) - (max(values) <= 0)
            found.append(0 if reads_input else alike)
        return found

    def shown_sign(self, form: Form) -> int:
        """The sign of a form without inputs whose coefficients have one sign; 0 if not shown."""
        if not form or any(1 <= symbol <= self.num_inputs for symbol in form):
            return 0
        return (min(form.values()) > 0) - (max(form.values()) < 0)

    def activation(self, form: Form, sign: int, neuron: Neuron) -> Form:
        """max(form, 0), with an atom if neither weights nor coefficients show the sign."""
        sign = sign or self.shown_sign(form)
        if sign or not form:
            return form if sign > 0 else {}
        bits = bits_of_form(form)
        self.meter.pay(6 * len(form) + 20)
        self.meter.pay_divisions(2 * len(form), bits, bits)
        h, factor = primitive_form(form)
        key, other = key_of(h), key_of(h, -1)
        if neuron in self.lifted:
            self.check_lifted(form, key, other, neuron)
        if key not in self.symbols and other in self.symbols:
            return by_the_negative(form, self.symbols[other], factor)
        if key not in self.symbols:
            self.add_symbol(h, key, neuron)
        return {self.symbols[key]: factor}

    def check_lifted(self, form: Form, key: Row, other: Row, neuron: Neuron) -> None:
        """A lifted neuron is the first one with its form, which is affine in the coordinates."""
        name = str(neuron)
        require(max(form) <= self.dimension, "a form over coordinates", name, "lifted")
        is_first = key not in self.symbols and other not in self.symbols
        require(is_first, "the first neuron with its form", name, "lifted")

    def add_symbol(self, h: Form, key: Row, neuron: Neuron) -> None:
        """A new coordinate for a lifted neuron, or a new atom."""
        self.meter.hold(8 * len(h) + 8)
        if neuron in self.lifted:
            self.symbols[key] = self.lifted[neuron]
            return
        self.symbols[key] = len(self.levels)
        self.levels.append(1 + max(self.levels[symbol] for symbol in h))
        self.atoms.append(Atom(h, self.levels[-1], bits_of_form(h)))

    def keep_used(self) -> None:
        """Keep the atoms that the difference needs, numbered by level, then by first neurons."""
        first, used = 1 + self.dimension, self.used(self.difference)
        order = sorted(used, key=lambda k: self.atoms[k].level)
        new = {first + k: first + number for number, k in enumerate(order)}

        def rename(form: Form) -> Form:
            """The form with the new symbols."""
            return {new.get(symbol, symbol): x for symbol, x in form.items()}

        self.atoms = [self.atoms[k]._replace(form=rename(self.atoms[k].form)) for k in order]
        self.difference = list(map(rename, self.difference))
        self.outputs = list(map(rename, self.outputs))

    def used(self, forms: Iterable[Form]) -> list[int]:
        """The atoms in forms, those in their forms, and so on, in order."""
        first, used = 1 + self.dimension, set(chain.from_iterable(forms))
        for k in reversed(range(len(self.atoms))):
            if first + k in used:
                used.update(self.atoms[k].form)
        return [k for k in range(len(self.atoms)) if first + k in used]

    def check_parts(self, parts: Any) -> list[list[Form]]:
        """Parts of the difference, each with one form for each of its rows, that add up to it."""
        if not parts:
            return [self.difference]
        self.meter.step = "parts"
        found, totals = list[list[Form]](), [Total(self.meter) for _ in self.difference]
        size = 1 + self.dimension + len(self.atoms)
        for part in parts:
            require(len(part) == len(totals), f"{len(totals)} rows", str(len(part)))
            require(any(part), "rows that are not all 0", "all 0")
            self.meter.pay(4 * (1 + len(self.atoms)))
            found.append(
                [self.add_row(total, row, size) for total, row in zip(totals, part, strict=True)]
            )
        for total, form in zip(totals, self.difference, strict=True):
            self.meter.pay(2 * len(form), bits_of_form(form), total.scale.bit_length())
            scaled = {symbol: x * total.scale for symbol, x in form.items()}
            same = without_zeros(total.form) == scaled
            require(same, "parts that add up to the difference", "another sum")
        return found

    def add_row(self, total: Total, row: Any, size: int) -> Form:
        """A row of a part as a form; it is added to the sum of all parts."""
        check_indices([symbol for symbol, _ in row], size, "symbols")
        own = Total(self.meter)
        for symbol, text in row:
            value = rational(text, self.meter)
            total.add({symbol: 1}, value)
            own.add({symbol: 1}, value)
        return without_zeros(own.form)


def differences(one: Activations, two: Activations, meter: Meter) -> list[Form]:
    """Multiples of the outputs of one network minus multiples of the outputs of the other."""
    (left, p), (right, q), rows = one, two, list[Form]()
    for mine, others in zip(left, right, strict=True):
        sums = dict[int, int]()
        for form, factor in ((mine, q), (others, -p)):
            meter.pay(2 * len(form), bits_of_form(form), factor.bit_length())
            add_to(sums, form, factor)
        bits = bits_of_form(sums)
        meter.pay_divisions(2 * len(sums), bits, bits)
        rows.append(without_zeros(sums))
    return rows


class Total:
    """A sum of multiples of forms: integers over one denominator. Each step is paid before it."""

    def __init__(self, meter: Meter) -> None:
        self.meter, self.form, self.scale, self.symbols = meter, dict[int, int](), 1, list[int]()
        self.bits = 0  # a bound for the coefficients

    def add(self, form: Form, factor: Fraction, bits: int = 1) -> None:
        """Add a multiple of a form with coefficients of some bits."""
        p, q = factor.numerator, factor.denominator
        growth = 1
        if q != self.scale:
            self.meter.pay_divisions(4, self.scale.bit_length(), q.bit_length())
            common = math.lcm(self.scale, q)
            growth, p, self.scale = common // self.scale, p * (common // q), common
        if growth > 1:
            self.meter.pay(len(self.form), self.bits, growth.bit_length())
            self.bits += growth.bit_length()
            self.form = {symbol: x * growth for symbol, x in self.form.items()}
        self.meter.pay(8 + 3 * len(form), bits, p.bit_length())
        self.bits = max(self.bits, bits + p.bit_length()) + 1
        for symbol, x in form.items():
            if symbol not in self.form:
                heapq.heappush(self.symbols, -symbol)
            self.form[symbol] = self.form.get(symbol, 0) + p * x

    def latest(self) -> int:
        """The last symbol."""
        return -self.symbols[0] if self.symbols else 0

    def pop(self) -> Fraction:
        """Take out the last symbol; its coefficient."""
        self.meter.pay(17)
        self.meter.pay_divisions(3, self.bits, self.scale.bit_length())
        return Fraction(self.form.pop(-heapq.heappop(self.symbols)), self.scale)


# -- What is known at a node

Pair = tuple[Form, int]  # a form over a denominator


class State:
    """What is known on the polyhedron of a node.

    `back` forgets what was learnt since, so that nothing is copied.
    """

    def __init__(self, slacks: Sequence[Pair], meter: Meter) -> None:
        self.meter = meter
        self.forms = dict[Row, int]()  # signs of affine forms, 1: >= 0, -1: <= 0
        self.atoms = dict[int, int]()  # signs of atoms whose form was not affine
        self.bounds = dict[tuple[int, int], Fraction]()  # sign * (form of the atom) >= value
        self.slacks = list(slacks)  # inequalities form / denominator >= 0
        self.slack_bits = [bits_of_form(form) for form, _ in slacks]
        self.trail = list[tuple[Any, Any, Any]]()  # changes
        self.new = list[tuple[Any, Any]]()  # tables and keys that changed since the last visit

    def put(self, table: Any, key: Any, value: Any) -> None:
        """Change an entry, so that `back` can undo it."""
        old = table.get(key)
        if old != value:
            self.meter.hold(8)
            self.trail.append((table, key, old))
            self.new.append((table, key))
            table[key] = value

    def put_form(self, known: Written, sign: int) -> None:
        """Record the sign of an affine form and of its negative."""
        self.meter.pay(8 * len(known.form) + 20)
        key, other = known.keys
        self.put(self.forms, key, sign)
        self.put(self.forms, other, -sign)

    def cut(self, known: Written, side: int) -> None:
        """Add the inequality side * form >= 0."""
        form = known.form
        self.meter.hold(cells_of(2 * len(form), known.bits))
        self.slacks.append(({symbol: side * x for symbol, x in form.items()}, 1))
        self.slack_bits.append(known.bits)
        self.put_form(known, side)

    def back(self, changes: int, slacks: int) -> None:
        """Undo changes and inequalities until the given numbers of them are left."""
        while len(self.trail) > changes:
            table, key, value = self.trail.pop()
            self.new.append((table, key))
            self.meter.release(8)
            if value is None:
                del table[key]
            else:
                table[key] = value
        later = zip(self.slacks[slacks:], self.slack_bits[slacks:], strict=True)
        self.meter.release(sum(cells_of(2 * len(form), bits) for (form, _), bits in later))
        del self.slacks[slacks:]
        del self.slack_bits[slacks:]


class Written(NamedTuple):
    """The form of an atom at a node as factor * h, h primitive, and what was put in for symbols."""

    values: list[Form]
    form: Form
    h: Form
    factor: int
    keys: tuple[Row, Row]  # of h and of its negative
    bits: int
    num_products: int
    shown_sign: int
    cells: int


def num_bytes(known: Written) -> int:
    """About how long the coefficients of a form are together; to find its sign takes that long."""
    return len(known.form) * (known.bits // 8)


class Term(NamedTuple):
    """max(form, 0) at a node, with the form that an atom has there, up to a positive factor."""

    atom: int  # the first atom with this form or its negative
    key: Row
    form: Form
    factor: int
    bits: int
    atoms: dict[int, int]  # all atoms with this form (1) or its negative (-1)


class Node:
    """The atoms at a node: their forms with the values of earlier ones put in, and their terms.

    `visit` goes to another node, or to the next round of signs. It looks only at atoms whose sign,
    or the value of an atom in whose form, has changed since the last visit, or which had a term in
    common with such an atom; so the charges are bounds of what is done.
    """

    def __init__(self, joint: JointNetwork, used: Sequence[int], state: State) -> None:
        self.joint, self.state, self.first = joint, state, 1 + joint.dimension
        self.meter, self.used = joint.meter, used
        self.values: dict[int, Form] = {symbol: {symbol: 1} for symbol in range(self.first)}
        self.value_bits = dict.fromkeys(range(self.first), 1)
        self.known = dict[int, Written]()
        self.terms = dict[Row, Term]()
        self.term_of = dict[int, tuple[Term, int]]()  # -1: the atom has the negative of its form
        self.holders = dict[Row, set[int]]()  # the atoms by the keys of their forms
        self.readers: dict[int, list[int]] = {self.first + k: [] for k in used}
        for k in used:
            for symbol in joint.atoms[k].form:
                if symbol >= self.first:
                    self.readers[symbol].append(k)
        self.waiting, self.is_waiting = list(used), set(used)  # the first one is the next one
        self.num_read = sum(len(joint.atoms[k].form) for k in used)
        self.num_products = self.num_flipped = self.num_bytes = 0

    def visit(self) -> None:
        """Write all forms as the known signs have them now."""
        self.meter.units(2_000 * (1 + len(self.used)) + 300 * self.first + 100 * self.num_read)
        self.meter.units(60 * self.num_products)
        for table, key in self.state.new:
            if table is self.state.forms:
                self.wait_for(self.holders.get(key, ()))
            elif table is self.state.atoms and key in self.known:
                self.wait_for((key,))
        self.state.new.clear()
        while self.waiting:
            k = heapq.heappop(self.waiting)
            self.is_waiting.remove(k)
            self.meter.hold(self.look_at(k))
        self.meter.units(6_500 * len(self.term_of) + 100 * self.num_flipped + self.num_bytes)

    def wait_for(self, atoms: Iterable[int]) -> None:
        """Look at atoms later in this visit; they come after the one that is looked at."""
        for k in atoms:
            if k not in self.is_waiting:
                self.is_waiting.add(k)
                heapq.heappush(self.waiting, k)

    def look_at(self, k: int) -> int:
        """Write the form of an atom and its value; what reads a new value is looked at later.

        Returns the cells of a form that was written.
        """
        atom, known, symbol = self.joint.atoms[k], self.known.get(k), self.first + k
        self.leave(k)
        values, cells = [self.values[earlier] for earlier in atom.form], 0
        if known is None or known.values != values:
            written = self.written(atom.form, values, atom.bits, known)
            if known is not None:
                self.meter.release(known.cells)
                self.num_products -= known.num_products
                self.num_bytes -= num_bytes(known)
                self.holders[known.keys[0]].remove(k)
                if not self.holders[known.keys[0]]:
                    del self.holders[known.keys[0]]
            cells = written.cells
            self.num_products += written.num_products
            self.num_bytes += num_bytes(written)
            self.known[k] = known = written
            self.holders.setdefault(known.keys[0], set()).add(k)
        value = self.value(k, known)
        if self.values.get(symbol) != value or self.value_bits[symbol] != known.bits + 1:
            self.values[symbol], self.value_bits[symbol] = value, known.bits + 1
            self.wait_for(self.readers[symbol])
        return cells

    def written(
        self, form: Form, values: list[Form], bits: int, old: Written | None = None
    ) -> Written:
        """A form over the atoms with their values put in, perhaps by what differs from before."""
        num_products = sum(map(len, values))
        longest_value = max(map(self.value_bits.__getitem__, form), default=0)
        self.meter.pay(2 * num_products + 20, bits, longest_value)
        sums = dict[int, int]() if old is None else dict(old.form)
        before = old.values if old else [{}] * len(values)
        for x, value, last in zip(form.values(), values, before, strict=True):
            if value is not last:
                add_to(sums, value, x)
                add_to(sums, last, -x)
        found = without_zeros(sums)
        bits = bits_of_form(found)
        self.meter.pay(6 * len(found) + 20)
        self.meter.pay_divisions(2 * len(found), bits, bits)
        h, factor = primitive_form(found)
        keys, sign = (key_of(h), key_of(h, -1)), self.joint.shown_sign(found)
        cells = cells_of(4 * len(found), bits)
        return Written(values, found, h, factor, keys, bits, num_products, sign, cells)

    def substituted(self, form: Form) -> Form:
        """A form over the atoms with their values put in."""
        values = [self.values[symbol] for symbol in form]
        return self.written(form, values, bits_of_form(form)).form

    def value(self, k: int, known: Written) -> Form:
        """max(form, 0): by a known sign, by the signs of the coefficients, or with a term."""
        form, (key, other) = known.form, known.keys
        if not form:
            return form
        sign = self.state.atoms.get(k, 0) or known.shown_sign or self.state.forms.get(key, 0)
        if sign:
            return form if sign > 0 else {}
        term = self.terms.get(key) or self.terms.get(other)
        if term and term.atom > k:
            self.dissolve(term)
            self.wait_for((term.atom,))
            term = None
        if not term:
            term = self.terms[key] = Term(k, key, known.h, known.factor, known.bits, {})
        orientation = 1 if term.key == key else -1
        term.atoms[k] = orientation
        self.term_of[k] = term, orientation
        if orientation > 0:
            return {self.first + term.atom: known.factor}
        self.num_flipped += len(form)
        return by_the_negative(form, self.first + term.atom, known.factor)

    def leave(self, k: int) -> None:
        """An atom has no term for now. If its own term ends, others have to find another one."""
        term, _ = self.term_of.get(k, (None, 0))
        if term and term.atom == k:
            self.dissolve(term)
        elif term:
            self.part(k, term)

    def dissolve(self, term: Term) -> None:
        """A term ends; all of its atoms but the first one are looked at later."""
        del self.terms[term.key]
        for k in list(term.atoms):
            self.part(k, term)
            if k != term.atom:
                self.wait_for((k,))

    def part(self, k: int, term: Term) -> None:
        """An atom and its term part."""
        if term.atoms.pop(k) < 0:
            self.num_flipped -= len(self.known[k].form)
        del self.term_of[k]

    def written_of(self, k: int) -> Written:
        """The current form of an atom of the tree, which is not 0."""
        fact = "an atom that the difference needs, not zero"
        form = self.known[k].form if k in self.known else {}
        require(bool(form), fact, f"atom {k}")
        return self.known[k]

    def learn(self, k: int, sign: int, value: Fraction) -> None:
        """sign * (form of atom k) >= value becomes known."""
        known, state = self.written_of(k), self.state
        state.put(state.bounds, (k, sign), max(value, state.bounds.get((k, sign), value)))
        if value < 0:
            return
        if max(known.form) < self.first:
            state.put_form(known, sign)
            return
        if k not in self.term_of:
            state.put(state.atoms, k, sign)
            return
        term, own = self.term_of[k]
        self.meter.pay(4 * len(term.atoms))
        for other, orientation in term.atoms.items():
            state.put(state.atoms, other, sign * own * orientation)


# -- Signs


class Bound:
    """A lower bound of sign * (form of atom k) on the polyhedron of a node.

    Terms are replaced by affine forms below them, or above, the latest one first; then multiples of
    the inequalities are taken away, then the best sides of single coordinates.
    """

    def __init__(self, node: Node, k: int, sign: int) -> None:
        self.node, self.meter = node, node.meter
        self.left = Total(node.meter)
        known = node.written_of(k)
        self.left.add(known.form, Fraction(sign), known.bits)

    def replace_terms(self, slopes: Any) -> None:
        """No term is left. A slope is from 0 to 1, and 0 if none is listed."""
        check_indices([i for i, _ in slopes], len(self.node.joint.atoms), "atoms with slopes")
        chosen = dict[int, Fraction]()
        for i, text in slopes:
            chosen[i] = rational(text, self.meter)
            require(0 <= chosen[i] <= 1, "slopes from 0 to 1", quote(text))
        left, first = self.left, self.node.first
        while left.latest() >= first:
            term, _ = self.node.term_of[left.latest() - first]
            factor = left.pop()
            slope = chosen.get(term.atom, Fraction(0))
            if factor < 0:
                left.add({0: 1}, self.times(factor, self.gap_above(term, slope)))
            if slope and factor:
                left.add(term.form, self.times(factor, slope), term.bits)

    def times(self, one: Fraction, two: Fraction) -> Fraction:
        """A product, paid for."""
        bits = bits_of(one)
        self.meter.pay(14)
        self.meter.pay_divisions(2, bits, bits_of(two))
        return one * two

    def gap_above(self, term: Term, slope: Fraction) -> Fraction:
        """How far the affine form above max(h, 0) lies above slope * h, by the known bounds."""
        upper, lower = (self.node.state.bounds.get((term.atom, sign)) for sign in (-1, 1))
        name = f"atom {term.atom}"
        require(upper is not None, "an upper bound of a term", name)
        require(lower is not None or not slope, "a lower bound of a term with a slope", name)
        gap = self.times(slope - 1, upper or Fraction(0))
        if slope:
            gap = max(gap, self.times(-slope, lower or Fraction(0)))
        return self.times(max(gap, Fraction(0)), Fraction(1, term.factor))

    def subtract(self, rows: Any) -> None:
        """Take away multiples of the inequalities of the node."""
        state = self.node.state
        check_indices([i for i, _ in rows], len(state.slacks), "inequalities")
        for i, text in rows:
            multiplier, (slack, scale) = rational(text, self.meter), state.slacks[i]
            require(multiplier >= 0, "multipliers that are not negative", quote(text))
            factor = self.times(-multiplier, Fraction(1, scale))
            self.left.add(slack, factor, state.slack_bits[i])

    def subtract_solved(self, rows: Any) -> None:
        """Take away those multiples of inequalities that leave no coordinate."""
        state, left, meter = self.node.state, self.left, self.meter
        check_indices(rows, len(state.slacks), "inequalities")
        slacks = [state.slacks[i][0] for i in rows]
        meter.pay(4 * (len(left.form) + sum(map(len, slacks)) + 2))
        symbols = sorted({j for form in (left.form, *slacks) for j in form if j})
        bits, width = max(left.bits, *(state.slack_bits[i] for i in rows)), len(rows) + 1
        require(len(rows) <= len(symbols), "independent inequalities", "dependent ones")
        meter.pay(len(symbols) * width)
        meter.hold(len(symbols) * width)
        rest = [[*(slack.get(j, 0) for slack in slacks), left.form.get(j, 0)] for j in symbols]
        done, last = list[list[int]](), 1
        for c in range(len(rows)):
            pivot = next((row for row in rest if row[c]), None)
            if pivot is None:
                require(False, "independent inequalities", "dependent ones")
                continue
            size, entries = (c + 1) * (bits + 10), (len(symbols) - 1) * width
            meter.pay(2 * entries + 10, size, size)
            meter.pay_divisions(entries, 2 * size, size)
            done = [reduced(row, pivot, c, pivot[c], last) for row in done]
            rest = [reduced(row, pivot, c, pivot[c], last) for row in rest if row is not pivot]
            done.append(pivot)
            last = pivot[c]
        fact = "multipliers that leave no coordinate"
        require(not any(row[-1] for row in rest), fact, "a coordinate is left")
        meter.release(len(symbols) * width)
        self.take_away([row[-1] for row in done], last, slacks)

    def take_away(self, multipliers: list[int], last: int, slacks: Sequence[Form]) -> None:
        """Only a constant is left, once multiples over a denominator are taken away."""
        left, sign = self.left, 1 if last > 0 else -1
        positive = all(x * sign >= 0 for x in multipliers)
        require(positive, "multipliers that are not negative", "a negative one")
        constants = [slack.get(0, 0) for slack in slacks]
        bits = longest([[last, *multipliers]])
        self.meter.pay(2 * len(slacks) + 2, bits, max(left.bits, longest([constants])))
        pairs = zip(multipliers, constants, strict=True)
        rest = left.form.get(0, 0) * last - sum(x * constant for x, constant in pairs)
        left.form, left.scale = {0: sign * rest}, left.scale * abs(last)
        left.bits = rest.bit_length()

    def constant(self) -> Fraction:
        """What is left, once sides take the places of coordinates."""
        left, sides = self.left, self.node.joint.sides
        self.meter.pay(4 * len(left.form))
        for j in [j for j, x in left.form.items() if j and x]:
            limit = sides.get((j, left.form[j] > 0))
            fact = "multipliers that leave no coordinate without a side"
            if limit is None:
                require(False, fact, f"coordinate {j}")
                continue
            self.meter.pay(14)
            self.meter.pay_divisions(2, left.bits, left.scale.bit_length())
            left.add({0: 1}, self.times(Fraction(left.form[j], left.scale), limit))
        self.meter.pay(14)
        self.meter.pay_divisions(2, left.bits, left.scale.bit_length())
        return Fraction(left.form.get(0, 0), left.scale)


def bits_of(x: Fraction) -> int:
    """The bits of numerator and denominator together."""
    return x.numerator.bit_length() + x.denominator.bit_length()


def check_sign(node: Node, record: Any) -> None:
    """A sign of a round follows, and becomes known."""
    k, mark, text, rows, slopes = record
    node.meter.units(8_000)
    sign, wanted = 1 if mark == "+" else -1, rational(text, node.meter)
    bound = Bound(node, k, sign)
    bound.replace_terms(slopes)
    if rows and type(rows[0]) is int:
        bound.subtract_solved(rows)
    else:
        bound.subtract(rows)
    if bound.constant() < wanted:
        fact = f"{mark}h >= {quote(text)}, h the form of atom {k}"
        require(False, fact, "a smaller bound")
    node.learn(k, sign, wanted)


# -- Trees

LISTED_ROWS = OneOf(([(int, RATIONAL)], [int]))
SIGN = (int, re.compile("[+-]"), RATIONAL, LISTED_ROWS, [(int, RATIONAL)])
SPLIT = {"signs": [[SIGN]], "split": int}
EQUAL_LEAF = {"signs": [[SIGN]], "leaf": "equal"}


class Nodes(Protocol):
    """The nodes of a tree, in prefix order."""

    def read(self) -> Any:
        """The next node; the step of the check becomes its place."""


class ListedNodes:
    """Nodes that stand in a list."""

    def __init__(self, nodes: list[Any], meter: Meter) -> None:
        self.nodes, self.meter, self.number = nodes, meter, 0

    def read(self) -> Any:
        """The next node."""
        require(self.number < len(self.nodes), "another node", f"{len(self.nodes)} of them")
        self.number += 1
        return self.nodes[self.number - 1]

    def check_end(self) -> None:
        """Every node was read."""
        require(self.number == len(self.nodes), f"{self.number} nodes", str(len(self.nodes)))


class Tree:
    """A walk through all nodes of one tree. Memory grows with the depth, not with the tree."""

    def __init__(self, joint: JointNetwork, used: Sequence[int], nodes: Nodes) -> None:
        self.joint, self.nodes, self.num_nodes = joint, nodes, 0
        self.state = State(joint.slacks, joint.meter)
        self.node = Node(joint, used, self.state)

    def check(self, leaf: Any, close: Callable[[Node, Any], None]) -> None:
        """Check every node in prefix order; leaves of the shape `leaf` are closed."""
        shape, state = OneOf((SPLIT, leaf)), self.state
        #: Of the nodes that are to come: what to go back to, the cut and its side.
        waiting: list[tuple[int, int, Written | None, int]] = [(0, len(state.slacks), None, 0)]
        while waiting:
            changes, slacks, cut, side = waiting.pop()
            record = self.nodes.read()
            fit(record, shape, self.joint.meter.step)
            state.back(changes, slacks)
            if cut:
                state.cut(cut, side)
            depth = len(state.slacks) - len(self.joint.slacks)
            message = f"beyond the limits: more than {MAX_DEPTH} splits one below the other"
            well_formed(depth <= MAX_DEPTH, message)
            node = self.node
            self.learn(record["signs"])
            self.num_nodes += 1
            if "split" not in record:
                close(node, record)
                continue
            cut = node.written_of(record["split"])
            is_affine = max(cut.form) < node.first
            require(is_affine, "a split at an affine form", f"atom {record['split']}")
            here = len(state.trail), len(state.slacks), cut
            waiting += [(*here, -1), (*here, 1)]  # the last one is the next one
        self.joint.meter.release(sum(known.cells for known in self.node.known.values()))

    def learn(self, rounds: Any) -> None:
        """Learn the signs of all rounds; forms are written again after each round."""
        well_formed(all(rounds), "a round without signs")
        self.node.visit()
        for signs in rounds:
            for record in signs:
                check_sign(self.node, record)
            self.node.visit()


LIFTED, PARTS = [(int, int, int)], [[[(int, RATIONAL)]]]


def check_equality(case: Case, domain: Any, header: Any, nodes: Nodes) -> int:
    """A tree for each part of the difference; returns the number of nodes."""
    networks, meter = (case.network, case.other), case.meter
    meter.step = "tree"
    lifted = [(which, layer, index) for which, layer, index in header["lifted"]]
    return check_parts(JointNetwork(networks, domain, lifted, meter), header["parts"], nodes)


def check_parts(joint: JointNetwork, parts: Any, nodes: Nodes) -> int:
    """A tree for each part of a difference, which is 0 on its leaves; the number of nodes."""
    num_nodes = 0
    for part in joint.check_parts(parts):

        def close(node: Node, _: Any, part: list[Form] = part) -> None:
            """Both networks have one expression."""
            equal = not any(node.substituted(form) for form in part)
            require(equal, "equal expressions of both networks", "different ones")

        tree = Tree(joint, joint.used(part), nodes)
        tree.check(EQUAL_LEAF, close)
        num_nodes += tree.num_nodes
    return num_nodes


@refutation(
    "tree-equal",
    "theory/equivalence.md",
    {"lifted": LIFTED, "parts": PARTS, "nodes": [OneOf((SPLIT, EQUAL_LEAF))]},
)
def tree_equal(case: Case) -> None:
    """A split tree on the domain shows that both networks compute one function there."""
    evidence, step, document = case.evidence["same-function"], "same-function", case.claim["domain"]
    if document == WHOLE_SPACE:
        document = {"inequalities": [], "equations": []}
    domain = read_domain(document, case.network.widths[0], case.meter)
    case.meter.step = step
    nodes = ListedNodes(evidence["nodes"], case.meter)
    try:
        check_equality(case, domain, evidence, nodes)
    finally:
        case.meter.step = step
    nodes.check_end()


@theorem(
    "tree",
    kind="equivalent",
    page="theory/equivalence.md",
    evidence={"point": [RATIONAL], "lifted": LIFTED, "parts": PARTS},
    says={
        "point": "the point belongs to the domain",
        "tree": "both networks have equal expressions on every leaf of the tree, and its leaves "
        "cover the domain",
    },
)
def tree(case: Case) -> None:
    """Two networks agree on a domain that is not empty. A network agrees with itself."""
    check_pair(case.network, case.other)
    domain = read_domain(case.claim["domain"], case.network.widths[0], case.meter)
    x = rationals(case.hypothesis("point"), case.meter)
    domain.check_point(x, case.meter)
    if case.network.sha256 == case.other.sha256:
        case.lines.skip_nodes()
        return
    case.lines.check_end(check_equality(case, domain, case.evidence, case.lines))


# -- Tree files

TREE_START = b'{"format": "polyrelu-tree", '
HEADER = {"format": "polyrelu-tree", "version": 1, "unverified": object}
FOOTER = {"nodes": int, "sha256": re.compile("[0-9a-f]{64}")}


class Lines:
    """The lines of a tree file as JSON values, with the hash of all lines before."""

    def __init__(self, file: IO[bytes], meter: Meter) -> None:
        self.file, self.meter, self.number, self.size = file, meter, 0, 0
        self.digest, self.before, self.cells = hashlib.sha256(), "", 0

    def read_bytes(self) -> bytes:
        """The next line; the step of the check becomes its place."""
        self.number += 1
        self.meter.step = f"line {self.number}"
        line = self.file.readline(MAX_LINE + 1)
        self.size += len(line)
        well_formed(line.endswith(b"\n"), "the file ends early, or the line is too long")
        well_formed(len(line) <= MAX_LINE, "the line is too long")
        well_formed(self.size <= MAX_TREE, "the file is too long")
        self.meter.units(8 * len(line) + 2_000)
        self.before = self.digest.hexdigest()
        self.digest.update(line)
        return line

    def read(self) -> Any:
        """The next line as a value; the memory of the line before is given back."""
        self.meter.release(self.cells)
        self.cells = 0
        line, held = self.read_bytes(), self.meter.cells
        value = parse(line[:-1], self.meter.step, MAX_LINE, self.meter)
        self.cells = self.meter.cells - held
        return value

    def read_header(self) -> Any:
        """The first line, whose memory stays."""
        header = self.read()
        self.cells = 0
        return header

    def skip_nodes(self) -> None:
        """Hash the nodes without a look at them, up to the footer."""
        last, count = self.read_bytes(), 0
        while not last.startswith(b'{"nodes":'):
            last, count = self.read_bytes(), count + 1
        self.check_footer(parse(last[:-1], self.meter.step, MAX_LINE, self.meter), count)

    def check_end(self, num_nodes: int) -> None:
        """The last line follows."""
        self.check_footer(self.read(), num_nodes)

    def check_footer(self, footer: Any, num_nodes: int) -> None:
        """The number of nodes and the hash of all lines before are right, and nothing follows."""
        fit(footer, FOOTER, self.meter.step)
        require(footer["sha256"] == self.before, self.before, footer["sha256"], "hash")
        require(footer["nodes"] == num_nodes, f"{num_nodes} nodes", str(footer["nodes"]))
        well_formed(not self.file.read(1), "must be the last line")


def check_tree(file: IO[bytes], search: Search, meter: Meter) -> CheckReport:
    """Check a tree file: header, nodes in prefix order, footer."""
    lines = Lines(file, meter)
    name, claim, evidence, _ = read_header(lines.read_header())
    keys = [key for key in ("network", "other") if key in claim]
    networks = [read_reference(claim[key], key, search, meter) for key in keys]
    case = Case(networks, claim, evidence, meter, lines)
    case.meter.step = "claim"
    THEOREMS[name].rule(case)
    report = accepted(case, name, list(THEOREMS[name].says))
    number = lines.number - 2
    what = f"The tree has {counted(number, 'node')}."
    if "vertices" in evidence:
        what = "There is 1 vertex." if number == 1 else f"There are {number} vertices."
    return report._replace(statement=f"{report.statement} {what}")


def read_header(header: Any) -> Contents:
    """What a tree file states in its header, some entries of which are evidence."""
    theorems = {name: THEOREMS[name] for name in THEOREMS if THEOREMS[name].kind in TREE_CLAIMS}
    shapes = {
        name: {**HEADER, "claim": TREE_CLAIMS[entry.kind], **entry.evidence}
        for name, entry in theorems.items()
    }
    fit(header, OneOf(shapes.values()), "line 1")
    check_notes(header["unverified"], "line 1.unverified")
    claim, own = header["claim"], header.keys() - HEADER.keys() - {"claim"}
    name = next(
        name
        for name, entry in theorems.items()
        if entry.kind == claim["kind"] and entry.evidence.keys() == own
    )
    evidence = {key: header[key] for key in theorems[name].evidence}
    return Contents(name, claim, evidence, header["unverified"])


# ==== 5.1 Lists of regions: claim regions, theorem regions ====

REGION_LEAF = {"signs": [[SIGN]], "region": [RATIONAL]}


@theorem(
    "regions",
    kind="regions",
    page="theory/regions.md",
    evidence={},
    says={
        "cover": "no neuron changes its sign inside a leaf of the tree, and the leaves cover the "
        "domain",
        "inside": "every leaf has a point strictly inside",
    },
)
def regions(case: Case) -> None:
    """A tree with one leaf for each region of a network."""
    meter, count = case.meter, 0
    domain = read_domain(case.claim["domain"], case.network.widths[0], meter)
    meter.step = "tree"
    joint = JointNetwork([case.network], domain, [], meter)

    def close(node: Node, record: Any) -> None:
        """Every neuron is affine here and keeps its sign, and the point is strictly inside."""
        nonlocal count
        count += 1
        require(not node.terms, "all signs known", f"{len(node.terms)} of them unknown")
        x = rationals(record["region"], meter)
        scale = domain.check_point(x, meter)
        point = scaled_point(x, scale, meter)
        y = [scale, *(point[j] for j in domain.free)]
        bits = longest([y])
        for form, _ in node.state.slacks:
            meter.pay(2 + len(form), bits, bits_of_form(form))
            inside = not form or sum(a * y[symbol] for symbol, a in form.items()) > 0
            require(inside, "a point strictly inside", "a point on the boundary, or outside")

    tree = Tree(joint, list(range(len(joint.atoms))), case.lines)
    tree.check(REGION_LEAF, close)
    meter.step = "claim.count"
    require(count == case.claim["count"], f"{count} regions", str(case.claim["count"]))
    case.lines.check_end(tree.num_nodes)


# ==== 5.2 Limits ====

#: Maximum number of splits one below the other, and of bytes of a line and of a file, unpacked.
MAX_DEPTH, MAX_LINE, MAX_TREE = 4_096, 64 << 20, 2**36


# ==== 5.3 Vertices: theorems vertices and complex (any networks) ====

# Forms are integer rows over (y, t), t = 1 at points and 0 at directions, up to positive factors.
# They are numbered: the inequalities of the domain that are not constant, then the hidden neurons
# layer by layer. Bit n of a mask belongs to form n.

#: For each coordinate of (y, t), an entry for each of several forms.
Columns = list[list[int]]
#: Maximum depth of lists of cells in a line.
MAX_LISTS = 7


def cell_shape(num_lists: int) -> OneOf:
    """The entry of a cell: zeros below it that are positive, its zeros, perhaps cells above it."""
    bare = ([int], [int])
    return OneOf((bare, (*bare, [cell_shape(num_lists - 1)])) if num_lists else (bare,))


VERTEX = OneOf(((NATURAL, [int]), (NATURAL, [int], [cell_shape(MAX_LISTS - 1)])))


def mask_of(places: Sequence[int], size: int, meter: Meter) -> int:
    """The integer of `size` bits in which these are 1."""
    meter.units(80 * size)
    digits = bytearray(b"0") * (size + 1)
    for n in places:
        digits[size - n] = 49  # the digit 1
    return int(digits, 2)


def combination(columns: Columns, vector: Sequence[int]) -> list[int]:
    """The values of forms at a vector."""
    found = [0] * len(columns[0])
    for column, x in zip(columns, vector, strict=True):
        if x:
            found = [s + x * a for s, a in zip(found, column, strict=True)]
    return found


class LayerForms(NamedTuple):
    """The preactivations of a layer times a positive scale: own + the sum over the blocks.

    `own` is what the input and the biases give; a block has for each neuron of its source the
    weights on it. `bits` bound all forms of the layer, whatever neurons are on.
    """

    start: int
    width: int
    own: Columns
    blocks: list[tuple[int, list[tuple[int, ...]]]]
    own_bits: int
    block_bits: int
    bits: int


class Forms:
    """The forms of a domain and of all neurons, for any set of neurons that are on.

    The forms of layer 2 are kept for one set of neurons of layer 1, and follow it.
    """

    def __init__(self, network: Network, domain: Domain, meter: Meter) -> None:
        self.meter = meter
        slacks = [slack for slack in domain.slacks if any(slack)]
        constants = [slack.get(0, 0) for slack in domain.slacks if not any(slack)]
        require(min(constants, default=0) >= 0, "a domain that is not empty", "it is empty")
        scales, parts = [1], list[list[Form]]()
        hidden = network.layers[: network.num_hidden_layers()]
        for layer in hidden:
            parts.append(self.input_part(layer, scales, domain))
            self.meter.pay(1, scales[-1].bit_length(), layer.bits)
            scales.append(scales[-1] * layer.denominator)
            message = f"beyond the limits: layers over a denominator of more than {GROWN_BITS} bits"
            well_formed(scales[-1].bit_length() <= GROWN_BITS, message)
        kept = self.coordinates([*slacks, *(form for part in parts for form in part)], domain)
        self.lineality, self.dimension = domain.dimension() - len(kept), len(kept)
        self.symbols = [*(k + 1 for k in kept), 0]
        self.slacks = self.columns(slacks)
        self.num_slacks = self.size = len(slacks)
        self.layers = list[LayerForms]()
        for layer, part in zip(hidden, parts, strict=True):
            self.layers.append(self.layer_forms(layer, part, scales))
            self.size += len(part)
        self.starts = [0, *(layer.start for layer in self.layers)]
        self.slack_bits = max(map(bits_of_form, slacks), default=0)
        self.all_bits = max([self.slack_bits, *(layer.bits for layer in self.layers)])
        self.mask = self.pattern = 0  # what is on in `second`: all forms, neurons of layer 1
        self.second: Columns = []
        if len(self.layers) > 1:
            second = self.layers[1]
            meter.hold(cells_of(second.width * (self.dimension + 1), second.bits))
            self.second = [*second.own]

    def input_part(self, layer: Layer, scales: list[int], domain: Domain) -> list[Form]:
        """What the input and the biases give to the preactivations of a layer."""
        number, scale = len(scales), scales[-1]
        blocks = [*layer.earlier, (number - 1, layer.rows)]
        rows = blocks[0][1] if blocks[0][0] == 0 else []
        sizes, bits = [len(form) for form in domain.inputs], scale.bit_length()
        products = sum(len(rows) * (1 + size) for size in sizes) + 2 * len(layer.bias)
        inputs = max(map(bits_of_form, domain.inputs), default=0) + domain.scale.bit_length()
        self.meter.pay(2 * products, layer.bits + bits, inputs)
        found = [{0: b * scale * domain.scale} for b in layer.bias]
        for form, row in zip(found, rows, strict=False):
            for w, x in zip(row, domain.inputs, strict=True):
                add_to(form, x, w * scale)
        longest_form = max(map(bits_of_form, found))
        self.meter.hold(cells_of(2 * sum(map(len, found)), longest_form))
        return found

    def coordinates(self, forms: Sequence[Form], domain: Domain) -> list[int]:
        """Coordinates on which all forms together depend in as many ways as on all of them."""
        rows = [form for form in forms if any(form)]
        cells, free = len(rows) * domain.dimension(), range(1, domain.dimension() + 1)
        self.meter.pay(cells + len(forms))
        self.meter.hold(cells)
        kept = pivot_columns([[form.get(k, 0) for k in free] for form in rows], self.meter)
        self.meter.release(cells)
        return kept

    def columns(self, forms: Sequence[Form]) -> Columns:
        """Forms as columns over the coordinates that are kept, and t."""
        self.meter.pay(len(forms) * len(self.symbols))
        self.meter.hold(len(forms) * len(self.symbols))  # the numbers are held already
        return [[form.get(symbol, 0) for form in forms] for symbol in self.symbols]

    def layer_forms(self, layer: Layer, part: Sequence[Form], scales: Sequence[int]) -> LayerForms:
        """A layer whose blocks are multiplied so that all its terms have one scale."""
        number, own_bits = len(self.layers) + 1, max(map(bits_of_form, part))
        blocks, block_bits, bits = list[tuple[int, list[tuple[int, ...]]]](), 0, own_bits
        for source, rows in [*layer.earlier, (number - 1, layer.rows)]:
            if source == 0:
                continue
            source_bits = scales[source].bit_length()
            growth = scales[number - 1].bit_length() - source_bits + 1
            self.meter.pay_divisions(1, growth, source_bits)
            factor = scales[number - 1] // scales[source]
            self.meter.pay(2 * len(rows) * len(rows[0]), factor.bit_length(), layer.bits)
            self.meter.hold(
                cells_of(2 * len(rows) * len(rows[0]), factor.bit_length() + layer.bits)
            )
            scaled = [[w * factor for w in row] for row in rows]
            blocks.append((source - 1, list(zip(*scaled, strict=True))))
            block_bits = max(block_bits, longest(scaled))
            width = len(rows[0]).bit_length()
            bits = max(bits, longest(scaled) + self.layers[source - 1].bits + width)
        bits += (1 + len(blocks)).bit_length()
        own = self.columns(part)
        return LayerForms(self.size, len(part), own, blocks, own_bits, block_bits, bits)

    def on(self, k: int, mask: int) -> list[int]:
        """The neurons of a layer, counted from 0, that are on."""
        layer = self.layers[k]
        self.meter.units(2_000 + 60 * layer.width + self.size // 16)
        return ones(mask >> layer.start & (1 << layer.width) - 1)

    def move(self, mask: int) -> None:
        """Make the forms of layer 2 those for the neurons of a mask."""
        if len(self.layers) < 2 or mask == self.mask:
            return
        self.mask, (first, second) = mask, self.layers[:2]
        wanted = mask >> first.start & (1 << first.width) - 1
        changed = self.pattern ^ wanted
        if not changed:
            return
        steps = changed.bit_count() * (self.dimension + 1)
        self.meter.pay(steps * (second.width + 10), first.own_bits, second.block_bits)
        weights = second.blocks[-1][1]
        for j in ones(changed):
            sign = 1 if wanted >> j & 1 else -1
            for c, column in enumerate(first.own):
                if x := sign * column[j]:
                    pairs = zip(self.second[c], weights[j], strict=True)
                    self.second[c] = [s + x * w for s, w in pairs]
        self.pattern = wanted

    def values(self, vector: Sequence[int], mask: int) -> list[int]:
        """The values of all forms at (y, t), the neurons of a mask being on and all others off."""
        self.move(mask)
        bits, width = longest([vector]), self.dimension + 1
        held = cells_of(2 * self.size, bits + self.all_bits)
        self.meter.hold(held)
        near = self.num_slacks + sum(layer.width for layer in self.layers[:2])
        self.meter.pay(width * (near + 10), bits, self.all_bits)
        tables = [layer.own for layer in self.layers[:1]] + [self.second][: len(self.layers) - 1]
        found = [combination(table, vector) for table in tables]
        for k in range(2, len(self.layers)):
            layer = self.layers[k]
            self.meter.units(3_000)
            self.meter.pay(width * layer.width, bits, layer.own_bits)
            z = combination(layer.own, vector)
            for source, columns in layer.blocks:
                on = self.on(source, mask)
                size = self.layers[source].bits + bits + width.bit_length()
                self.meter.pay(len(on) * (layer.width + 10), layer.block_bits, size)
                for j in on:
                    if x := found[source][j]:
                        z = [s + x * w for s, w in zip(z, columns[j], strict=True)]
            found.append(z)
        slacks = combination(self.slacks, vector)
        self.meter.release(held)
        return [*slacks, *(z for part in found for z in part)]

    def row(self, n: int, mask: int) -> list[int]:
        """A form over (y, t), the neurons of a mask being on."""
        self.meter.pay(2 * self.dimension + 6)
        k = bisect_right(self.starts, n) - 2 if n >= self.num_slacks else -1
        if k < 0:
            return [column[n] for column in self.slacks]
        i = n - self.layers[k].start
        if k == 0:
            return [column[i] for column in self.layers[0].own]
        self.move(mask)
        if k == 1:
            return [column[i] for column in self.second]
        return self.deep_row(k, i, mask)

    def deep_row(self, k: int, i: int, mask: int) -> list[int]:
        """The form of a neuron of layer 3 or later, by the chain rule from above."""
        factors = [dict[int, int]() for _ in range(k)] + [{i: 1}]
        row, width, bits = [0] * (self.dimension + 1), self.dimension + 1, self.layers[k].bits
        self.meter.hold(held := cells_of(self.layers[k].start, bits))
        self.meter.units(500 * k)
        for m in reversed(range(k + 1)):
            layer, entries = self.layers[m], factors[m]
            if not entries:
                continue
            self.meter.units(2_000)
            self.meter.pay(len(entries) * (width + 10), bits, layer.bits)
            table = self.second if m == 1 else layer.own
            for j, x in entries.items():
                row = [s + x * column[j] for s, column in zip(row, table, strict=True)]
            for source, columns in layer.blocks if m > 1 else ():
                on = self.on(source, mask)
                self.meter.pay(len(on) * (len(entries) + 4), bits, layer.block_bits)
                for h in on:
                    column = columns[h]
                    add = sum(x * column[j] for j, x in entries.items())
                    factors[source][h] = factors[source].get(h, 0) + add
        self.meter.release(held)
        return row

    def line(
        self, rows: Sequence[Sequence[int]], fixed: Sequence[int]
    ) -> tuple[list[int], list[int]] | None:
        """A vector, up to a factor, on which rows vanish and whose coordinates `fixed` are 0.

        Also the places of rows that are independent of those before. None if the vectors are not
        a line. Bareiss: all numbers are minors, and divisions are exact.
        """
        free = [c for c in range(self.dimension + 1) if c not in fixed]
        rest = [(place, [row[c] for c in free]) for place, row in enumerate(rows)][::-1]
        bits, last = longest(row for _, row in rest), 1
        self.meter.hold(held := cells_of(len(rows) * len(free), len(free) * (bits + 10)))
        done, basis, pivots = list[list[int]](), list[int](), list[int]()
        while rest and len(done) < len(free):
            place, pivot = rest.pop()
            self.meter.units(40 * len(free))
            c = next((c for c, x in enumerate(pivot) if x), -1)
            if c < 0:
                continue
            p, size = pivot[c], (len(done) + 1) * (bits + 10)
            others = (len(done) + len(rest)) * len(free)
            self.meter.pay(2 * others + 10, size, size)
            self.meter.pay_divisions(others, 2 * size, size)
            done = [reduced(row, pivot, c, p, last) for row in done]
            rest = [(n, reduced(row, pivot, c, p, last)) for n, row in rest]
            done.append(pivot)
            basis.append(place)
            pivots.append(c)
            last = p
        self.meter.release(held)
        if len(done) != len(free) - 1:
            return None
        (open_column,) = set(range(len(free))) - set(pivots)
        vector = [0] * (self.dimension + 1)
        vector[free[open_column]] = last
        for row, c in zip(done, pivots, strict=True):
            vector[free[c]] = -row[open_column]
        return vector, basis


# -- Cells around a cell


class Cell(NamedTuple):
    """A cell around a vertex: the forms that are positive and those that are not 0, as masks.

    `basis` are zeros whose forms are independent, each of those before; there are as many of them
    as the codimension. `fixed` are coordinates of (y, t), as many as the dimension and 1, such that
    no vector along the cell but 0 vanishes on them.
    """

    positive: int
    nonzero: int
    zeros: list[int]
    basis: list[int]
    fixed: tuple[int, ...]


class Star(NamedTuple):
    """The keys of cells around a cell: all of one dimension more, and the counted ones.

    Counted are all cells, in lists by dimension, the cell itself first, or the regions alone.
    """

    above: list[int]
    counted: list[list[int]]


class Around:
    """The cells around vertices, each by a key: its positive forms, then its nonzero ones."""

    def __init__(self, forms: Forms, meter: Meter, *, is_complex: bool) -> None:
        self.forms, self.meter, self.is_complex = forms, meter, is_complex
        self.bytes_of_key = forms.size // 4 + 1
        self.key_cells = 3 + self.bytes_of_key // 64

    def key(self, cell: Cell) -> int:
        """The key of a cell; the key of a cell around it has the same bits and more."""
        return cell.positive << self.forms.size | cell.nonzero

    def packed(self, key: int) -> bytes:
        """A key for a table, hashed as text: nobody can make many hashes collide."""
        return key.to_bytes(self.bytes_of_key, "big")

    def vertex(self, record: Any) -> tuple[Cell, list[int]]:
        """A vertex as a cell, and its point: the signs of all forms there are as listed."""
        forms, zeros = self.forms, record[1]
        positive = integer(record[0])
        require(positive < 1 << forms.size, f"a mask below 2^{forms.size}", "a larger one")
        check_indices(zeros, forms.size, "zeros")
        found = forms.line([forms.row(n, positive) for n in zeros], ())
        if found is None or found[0][-1] == 0:
            require(False, "zeros with exactly one common point", "none, or more")
            raise AssertionError
        point, places = found
        if point[-1] < 0:
            point = [-x for x in point]
        values = forms.values(point, positive)
        self.meter.units(40_000 + 150 * forms.size)
        signs = "".join(["1" if z > 0 else "0" for z in reversed(values)] or ["0"])
        require(int(signs, 2) == positive, "the positive forms of the point", "other ones")
        found_zeros = [n for n, z in enumerate(values) if not z]
        require(found_zeros == zeros, "the zeros of the point", "other ones")
        inside = min(values[: forms.num_slacks], default=0) >= 0
        require(inside, "a point of the domain", "an inequality fails")
        nonzero = (1 << forms.size) - 1 ^ mask_of(zeros, forms.size, self.meter)
        basis = [zeros[place] for place in places]
        return Cell(positive, nonzero, zeros, basis, (forms.dimension,)), point

    def face(self, cell: Cell, entry: Any) -> Cell:
        """A listed cell of one dimension more around a cell: the signs in a direction."""
        forms, (positive, zeros) = self.forms, entry[:2]
        check_indices(positive, forms.size, "positive forms")
        check_indices(zeros, forms.size, "zeros")
        listed, own = {*positive, *zeros}, set(cell.zeros)
        self.meter.units(400 * (len(cell.zeros) + len(listed)))
        is_new = listed <= own and len(listed) == len(positive) + len(zeros) and zeros != cell.zeros
        require(is_new, "signs of the zeros of the cell below, not all of them 0")
        mask = cell.positive | mask_of(positive, forms.size, self.meter)
        rows = {n: forms.row(n, mask) for n in cell.zeros}
        found = forms.line([rows[n] for n in zeros], cell.fixed)
        if found is None:
            require(False, "zeros with one direction in common", "none, or more")
            raise AssertionError
        (direction, places), wanted = found, dict.fromkeys(cell.zeros, -1)
        wanted |= dict.fromkeys(positive, 1) | dict.fromkeys(zeros, 0)
        size = len(direction) * len(rows)
        self.meter.pay(2 * size, longest([direction]), longest(rows.values()))
        slopes = {n: sum(map(int.__mul__, row, direction)) for n, row in rows.items()}
        first = next(n for n in cell.zeros if wanted[n])
        turn = 1 if slopes[first] * wanted[first] > 0 else -1
        for n, slope in slopes.items():
            sign = turn * ((slope > 0) - (slope < 0))
            require(sign == wanted[n], f"form {n} with the sign {wanted[n]}", str(sign))
            require(sign >= 0 or n >= forms.num_slacks, "a cell in the domain", f"form {n} < 0")
        moved = [n for n in cell.zeros if wanted[n]]
        nonzero = cell.nonzero | mask_of(moved, forms.size, self.meter)
        column = next(c for c, x in enumerate(direction) if x)
        basis = [zeros[place] for place in places]
        return Cell(mask, nonzero, zeros, basis, (*cell.fixed, column))

    def star(self, cell: Cell, listed: Any) -> Star:
        """All cells around a cell: all signs of its zeros, or the listed cells of one dimension
        more, and those around them."""
        key = self.key(cell)
        if not cell.basis:
            require(listed is None, "no list at a region", "one")
            return Star([], [[key]])
        if len(cell.zeros) == len(cell.basis):
            require(listed is None, "no list at a cell with independent zeros", "one")
            return self.spanned(key, self.sides(key, cell))
        require(listed is not None, "a list of cells where zeros are dependent", "none")
        faces = [self.face(cell, entry) for entry in listed]
        if all(len(entry) == 2 for entry in listed):
            groups = self.frame(cell, faces)
            if groups is not None:
                return self.spanned(key, groups)
        return self.joined(cell, faces, [entry[2] if len(entry) > 2 else None for entry in listed])

    def sides(self, key: int, cell: Cell) -> list[list[int]]:
        """For each zero the keys with its signs: both, but 1 alone for inequalities."""
        size, groups = self.forms.size, list[list[int]]()
        for n in cell.zeros:
            bit = 1 << n
            above = key | bit << size | bit
            groups.append([above] if n < self.forms.num_slacks else [above, key | bit])
        return groups

    def frame(self, cell: Cell, faces: Sequence[Cell]) -> list[list[int]] | None:
        """The faces by the form of the basis that is not 0 there, if they are these and no others.

        None also if a zero has opposite signs on two faces of different forms.
        """
        signs, num_slacks = dict[tuple[int, bool], Cell](), self.forms.num_slacks
        self.meter.units(200 * len(faces) * (len(cell.basis) + 1))
        for face in faces:
            moved = [n for n in cell.basis if face.nonzero >> n & 1]
            if len(moved) != 1:
                return None
            signs[moved[0], bool(face.positive >> moved[0] & 1)] = face
        sides = (True, False)
        wanted = [(n, side) for n in cell.basis for side in sides if side or n >= num_slacks]
        if len(faces) != len(wanted) or any(place not in signs for place in wanted):
            return None
        self.meter.pay(len(faces) ** 2, self.forms.size, 0)
        for (n, one), (m, other) in combinations([(n, signs[n, s]) for n, s in wanted], 2):
            against = one.positive ^ other.positive
            if n != m and against & one.nonzero & other.nonzero:
                return None
        return [[self.key(signs[n, s]) for n, s in wanted if n == m] for m in cell.basis]

    def spanned(self, key: int, groups: list[list[int]]) -> Star:
        """The cells of which each moves along at most one side of every group."""
        above = [side for group in groups for side in group]
        if not self.is_complex:
            self.pay_keys(math.prod(map(len, groups)))
            keys = [key]
            for group in groups:
                keys = [old | side for old in keys for side in group]
            return Star(above, [keys])
        self.pay_keys(math.prod(1 + len(group) for group in groups))
        levels: list[list[int]] = [[key]]
        for group in groups:
            moved = [[old | side for old in level for side in group] for level in levels]
            pairs = zip([*levels, []], [[], *moved], strict=True)
            levels = [one + two for one, two in pairs]
        return Star(above, levels)

    def pay_keys(self, count: int) -> None:
        """Pay for keys that are made and put into tables; they are held until the next vertex."""
        self.meter.pay(4 * count, 2 * self.forms.size, 0)
        self.meter.hold(2 * count * self.key_cells)

    def joined(self, cell: Cell, faces: Sequence[Cell], lists: Sequence[Any]) -> Star:
        """The cells around all faces, where each cell of two dimensions more has two of them."""
        above, count = [self.key(face) for face in faces], dict[bytes, int]()
        require(len({*map(self.packed, above)}) == len(above), "different cells", "one twice")
        require(len(above) > 0, "a cell", "none")
        codimension = len(cell.basis)
        require(codimension > 1, "both sides of a cell of codimension 1", "other cells")
        tables = [dict[bytes, int]() for _ in range(codimension + 1 if self.is_complex else 1)]
        tables[0] = {self.packed(key): key for key in [self.key(cell)] if self.is_complex}
        for face, listed in zip(faces, lists, strict=True):
            star = self.star(face, listed)
            self.pay_keys(len(star.above))
            for key in star.above:
                count[self.packed(key)] = count.get(self.packed(key), 0) + 1
            for table, keys in zip(reversed(tables), reversed(star.counted), strict=False):
                self.pay_keys(len(keys))
                table |= {self.packed(key): key for key in keys}
        fact = "two listed cells at each cell of one dimension more"
        require(all(number == 2 for number in count.values()), fact, "another number of them")
        return Star(above, [list(table.values()) for table in tables])


# -- The complex


class Skeleton:
    """The vertices, the edges and the counted cells that were seen."""

    def __init__(self, around: Around, meter: Meter) -> None:
        self.around, self.forms, self.meter = around, around.forms, meter
        self.vertices = set[bytes]()
        #: By edge the nonzero forms of its vertex; None for an edge with two vertices.
        self.edges = dict[bytes, int | None]()
        size = self.forms.dimension + 1 if around.is_complex else 1
        self.cells = [set[bytes]() for _ in range(size)]

    def add(self, record: Any) -> None:
        """Add a vertex with the cells around it."""
        around, cell = self.around, self.around.vertex(record)[0]
        own = around.packed(around.key(cell))
        require(own not in self.vertices, "another vertex", "one twice")
        self.meter.hold(around.key_cells)
        self.vertices.add(own)
        before = self.meter.cells
        star = around.star(cell, record[2] if len(record) > 2 else None)
        around.pay_keys(len(star.above))
        self.meter.release(self.meter.cells - before)
        for key in star.above:
            edge = around.packed(key)
            if edge not in self.edges:
                self.meter.hold(2 * around.key_cells)
                self.edges[edge] = cell.nonzero
                continue
            require(self.edges[edge] is not None, "an edge with two ends", "a third one")
            self.edges[edge] = None
        for table, keys in zip(self.cells, star.counted, strict=True):
            old = len(table)
            table.update(map(around.packed, keys))
            self.meter.hold(around.key_cells * (len(table) - old))

    def check_rays(self) -> None:
        """Every edge that one vertex has is unbounded."""
        for edge, nonzero in self.edges.items():
            if nonzero is not None:
                self.check_ray(int.from_bytes(edge, "big"), nonzero)

    def check_ray(self, key: int, below: int) -> None:
        """Along an edge no form gets the other sign; `below` are the nonzero forms at its end."""
        forms, size = self.forms, self.forms.size
        positive, nonzero = key >> size, key & (1 << size) - 1
        zeros = ones((1 << size) - 1 ^ nonzero)
        self.meter.units(60 * size)
        rows = [forms.row(n, positive) for n in zeros]
        found = forms.line(rows, (forms.dimension,))
        if found is None:
            require(False, "zeros with one direction in common", "none, or more")
            raise AssertionError
        slopes = forms.values(found[0], positive)
        n = ones(nonzero & ~below)[0]
        turn = 1 if (slopes[n] > 0) == bool(positive >> n & 1) else -1
        self.meter.units(200 * size)
        for n, slope in enumerate(slopes):
            wanted = (1 if positive >> n & 1 else -1) * (nonzero >> n & 1)
            fact = "an edge with two vertices, or a ray"
            require(wanted * turn * slope >= 0, fact, f"form {n} changes its sign")


def check_vertices(case: Case, *, is_complex: bool) -> tuple[Forms, list[int]]:
    """Read the vertices; return the forms, and the numbers of cells that were counted."""
    meter, count = case.meter, case.evidence["vertices"]
    domain = read_domain(case.claim["domain"], case.network.widths[0], meter)
    meter.step = "vertices"
    forms = Forms(case.network, domain, meter)
    require(count > 0, "a vertex", "none")
    skeleton = Skeleton(Around(forms, meter, is_complex=is_complex), meter)
    for _ in range(count):
        record = case.lines.read()
        fit(record, VERTEX, meter.step)
        skeleton.add(record)
    meter.step = "edges"
    skeleton.check_rays()
    return forms, list(map(len, skeleton.cells))


SAYS = {
    "vertices": "every listed point is a vertex, and the cells around it are known",
    "edges": "every edge at a vertex ends at another one of the list, or is a ray",
}


@theorem(
    "vertices",
    kind="regions",
    page="theory/vertices.md",
    evidence={"vertices": int},
    says=SAYS,
)
def vertices(case: Case) -> None:
    """All regions of a network, by the vertices."""
    _, counts = check_vertices(case, is_complex=False)
    case.meter.step = "claim.count"
    require(counts == [case.claim["count"]], f"{counts[0]} regions", str(case.claim["count"]))
    case.lines.check_end(case.evidence["vertices"])


@theorem(
    "complex",
    kind="complex",
    page="theory/vertices.md",
    evidence={"vertices": int},
    says=SAYS,
)
def complex_by_vertices(case: Case) -> None:
    """All cells of a network, by the vertices."""
    forms, counts = check_vertices(case, is_complex=True)
    case.meter.step = "claim.f-vector"
    found, claimed = [0] * forms.lineality + counts, case.claim["f-vector"]
    require(len(claimed) == len(found), f"{len(found)} numbers", str(len(claimed)))
    for k, (number, other) in enumerate(zip(found, claimed, strict=True)):
        require(number == other, f"{number} cells of dimension {k}", str(other))
    case.lines.check_end(case.evidence["vertices"])


# ==== 5.4 Injectivity by cells: theorem cell-pairs ====

CELL_LEAF = {"signs": [[SIGN]], "leaf": "cell"}


class CellMap(NamedTuple):
    """The inequalities of a leaf, each row >= 0 at (y, 1), and the outputs there as such rows."""

    slacks: list[list[int]]
    outputs: list[list[int]]


@theorem(
    "cell-pairs",
    kind="injective",
    page="theory/injectivity.md",
    evidence={
        "cells": {"prime": PRIMES, "nodes": [OneOf((SPLIT, CELL_LEAF))]},
        "pairs": {"pairs": [[[int]]]},
    },
    says={
        "cells": "the leaves of the tree cover the domain, and the network is affine and injective "
        "on each of them",
        "pairs": "on each pair of leaves equal outputs imply equal points",
    },
)
def cell_pairs(case: Case) -> None:
    """On each leaf, and on each pair of leaves, different points have different outputs."""
    meter, part = case.meter, part_of_claim(case)
    domain = read_domain(case.claim["domain"], part.widths[0], meter)
    evidence, size = case.hypothesis("cells"), domain.dimension()
    prime, cells = int(evidence["prime"]), list[CellMap]()
    joint = JointNetwork([part], domain, [], meter)

    def close(node: Node, _: Any) -> None:
        """The network is affine on the leaf, and its matrix has full rank."""
        require(not node.terms, "all signs known", f"{len(node.terms)} of them unknown")
        slacks = [dense(form, size, meter) for form, _ in node.state.slacks]
        cell = CellMap(slacks, [dense(node.substituted(f), size, meter) for f in joint.outputs])
        basis = dict[int, int]()
        for row in cell.outputs:
            reduce_into(basis, [x % prime for x in row[:-1]], prime, meter)
        require(len(basis) == size, f"rank {size} modulo {prime}", str(len(basis)))
        cells.append(cell)

    nodes = ListedNodes(evidence["nodes"], meter)
    Tree(joint, list(range(len(joint.atoms))), nodes).check(CELL_LEAF, close)
    nodes.check_end()
    listed, num_pairs = case.hypothesis("pairs")["pairs"], len(cells) * (len(cells) - 1) // 2
    require(len(listed) == num_pairs, f"{num_pairs} pairs", str(len(listed)))
    pairs = ((cells[i], cells[j]) for j in range(len(cells)) for i in range(j))
    for number, (pair, supports) in enumerate(zip(pairs, listed, strict=True)):
        meter.step = f"pairs[{number}]"
        CellPair(*pair, size, meter).check(supports)


def dense(form: Form, size: int, meter: Meter) -> list[int]:
    """A form in the coordinates as a row, its constant last."""
    meter.pay(2 * (size + 1))
    meter.hold(cells_of(2 * size, bits_of_form(form)))
    return [form.get(symbol, 0) for symbol in (*range(1, size + 1), 0)]


class CellPair:
    """Two leaves: the rows over (u, v, 1), u in the first and v in the second one.

    In order: the inequalities at u, those at v, the differences of the outputs, and 1.
    """

    def __init__(self, one: CellMap, two: CellMap, size: int, meter: Meter) -> None:
        self.one, self.two, self.size, self.meter = one, two, size, meter
        self.first_output = len(one.slacks) + len(two.slacks)
        self.last = self.first_output + len(one.outputs)
        meter.pay(20 + 2 * len(one.outputs))
        self.zeros = set(range(self.first_output, self.last))  # rows that are 0 at a collision

    def row(self, i: int) -> list[int]:
        """A row over (u, v, 1)."""
        self.meter.pay(6 * (self.size + 1))
        nothing = [0] * self.size
        if i < len(self.one.slacks):
            row = self.one.slacks[i]
            return [*row[:-1], *nothing, row[-1]]
        if i < self.first_output:
            row = self.two.slacks[i - len(self.one.slacks)]
            return [*nothing, *row]
        if i == self.last:
            return [*nothing, *nothing, 1]
        row, other = (cell.outputs[i - self.first_output] for cell in (self.one, self.two))
        return [*row[:-1], *(-x for x in other[:-1]), row[-1] - other[-1]]

    def check(self, supports: list[list[int]]) -> None:
        """Dependences show a contradiction, or rows that are 0, so that u = v."""
        for number, chosen in enumerate(supports):
            multipliers = self.dependence(chosen)
            used = [i for i, x in zip(chosen, multipliers, strict=True) if x]
            if self.last in used:
                require(number == len(supports) - 1, "nothing after a contradiction", "more")
                return
            self.zeros.update(used)
        self.check_equal()

    def dependence(self, chosen: Sequence[int]) -> list[int]:
        """The multipliers, >= 0 on rows that need not be 0, of one of which the others follow."""
        self.meter.units(1_000)
        self.meter.hold(4 * len(chosen) * (self.size + 1))
        require(max(chosen, default=0) <= self.last, f"rows up to {self.last}")
        require(len({*chosen}) == len(chosen), "different rows")
        rows = [self.row(i) for i in chosen]
        multipliers = the_kernel([list(row) for row in zip(*rows, strict=True)], self.meter)
        self.meter.release(4 * len(chosen) * (self.size + 1))
        require(bool(multipliers), "rows with one dependence, up to a factor")
        signed = [x for i, x in zip(chosen, multipliers, strict=True) if i not in self.zeros]
        same_sign = all(x >= 0 for x in signed) or all(x <= 0 for x in signed)
        require(same_sign, "a dependence with multipliers >= 0")
        return multipliers

    def check_equal(self) -> None:
        """u = v follows from the rows that are 0."""
        size = len(self.zeros) + self.size
        self.meter.pay(8 * size * (self.size + 1))
        equations = [self.row(i) for i in sorted(self.zeros)]
        differences = [[0] * (2 * self.size + 1) for _ in range(self.size)]
        for j, row in enumerate(differences):
            row[j], row[self.size + j] = 1, -1
        rank = len(pivot_columns(equations, self.meter))
        both = len(pivot_columns([*equations, *differences], self.meter))
        require(both == rank, "equal points from equal outputs", "perhaps different ones")


# ==== 5.5 Inverse Lipschitz constants: theorem inverse-lipschitz ====

LAYER_BOUND = {"at-least": RATIONAL, "nodes": [OneOf((SPLIT, CELL_LEAF))]}


@theorem(
    "inverse-lipschitz",
    kind="inverse-lipschitz",
    page="theory/inverse_lipschitz.md",
    evidence={
        "interior": {"x": [RATIONAL]},
        "layers": {"layers": [LAYER_BOUND]},
        "pair": {"x": [RATIONAL], "y": [RATIONAL], "f": [RATIONAL], "g": [RATIONAL]},
    },
    says={
        "interior": "the point is strictly inside the domain",
        "layers": "the squared bounds of the layers hold on all cells, and their product is as "
        "large as claimed",
        "pair": "two points of the domain were evaluated, and are as near as claimed",
    },
)
def inverse_lipschitz(case: Case) -> None:
    """A bound from below for each layer, and one from above by two points."""
    meter, part = case.meter, part_of_claim(case)
    domain = read_domain(case.claim["domain"], part.widths[0], meter)
    check_inside(domain, case.hypothesis("interior")["x"], meter)
    listed, product = case.hypothesis("layers")["layers"], Fraction(1)
    require(part.is_plain(), "layers that read only the layer before")
    require(len(listed) == len(part.layers), f"{len(part.layers)} layers", str(len(listed)))
    here = domain
    for number, (layer, entry) in enumerate(zip(part.layers, listed, strict=True), 1):
        if number > 1:
            here = orthant(part.widths[number - 1], meter)
        meter.step = f"layers[{number - 1}]"
        bound = rational(entry["at-least"], meter)
        require(bound > 0, "bounds that are positive", quote(entry["at-least"]))
        is_affine = number == len(part.layers) and part.last == "affine"
        LayerBound(layer, here, meter).check(bound, entry["nodes"], is_affine=is_affine)
        meter.pay(1, bits_of(product), bits_of(bound))
        product *= bound
    meter.step = "layers"
    wanted = rational(case.claim["at-least"], meter)
    require(wanted > 0, "a bound that is positive", quote(case.claim["at-least"]))
    require(product >= wanted, f"at least {quote(case.claim['at-least'])}", "a smaller product")
    check_quotient(case, part, domain)


def check_quotient(case: Case, part: Network, domain: Domain) -> None:
    """|f(x) - f(y)|^2 <= at-most |x - y|^2 for two different points."""
    meter, pair = case.meter, case.hypothesis("pair")
    x, y, f, g = (rationals(pair[key], meter) for key in ("x", "y", "f", "g"))
    for one, stated, key in ((x, f, "f(x)"), (y, g, "f(y)")):
        domain.check_point(one, meter)
        require(outputs(part, one, meter) == stated, f"the outputs {key}", "other numbers")
    require(x != y, "two different points", "one point twice")
    limit = rational(case.claim["at-most"], meter)
    short, long = squared_distance(f, g, meter), squared_distance(x, y, meter)
    meter.pay(4, bits_of(limit), bits_of(long))
    require(short <= limit * long, f"at most {quote(case.claim['at-most'])}", "a larger quotient")


def squared_distance(x: Sequence[Fraction], y: Sequence[Fraction], meter: Meter) -> Fraction:
    """|x - y|^2."""
    bits = sum(bits_of(a) for a in (*x, *y))
    meter.pay_divisions(8 * len(x), bits, bits)
    total = Fraction(0)
    for a, b in zip(x, y, strict=True):
        total += (a - b) ** 2
    return total


class LayerBound:
    """The rows of a layer in the coordinates of its domain, and the lengths there."""

    def __init__(self, layer: Layer, domain: Domain, meter: Meter) -> None:
        self.layer, self.domain, self.meter, self.size = layer, domain, meter, domain.dimension()
        bits = max(domain.scale.bit_length(), longest(form.values() for form in domain.inputs))
        symbols = range(1, self.size + 1)
        meter.pay(2 * (len(layer.rows) + len(domain.inputs)) * (self.size + 1))
        forms = [
            slack_of([*(-w for w in row), 0], domain.inputs, domain.scale, bits, meter)
            for row in layer.rows
        ]
        self.rows = [[form.get(symbol, 0) for symbol in symbols] for form in forms]
        lengths = [[form.get(symbol, 0) for symbol in symbols] for form in domain.inputs]
        self.lengths = self.gram(lengths)

    def gram(self, rows: Sequence[Sequence[int]]) -> list[list[int]]:
        """The sum of the squares of rows, as a symmetric matrix."""
        bits, size = longest(rows), self.size
        self.meter.pay(size * size * (len(rows) + 1), bits, bits)
        self.meter.hold(2 * size * size)
        columns = list(zip(*rows, strict=True)) or [()] * size
        return [[sum(a * b for a, b in zip(c, e, strict=True)) for e in columns] for c in columns]

    def check(self, bound: Fraction, nodes: list[Any], *, is_affine: bool) -> None:
        """The squared bound holds: everywhere for an affine map, with 1/2 for rows that switch."""
        everything = (1 << len(self.rows)) - 1
        if is_affine:
            require(not nodes, "no nodes for an affine layer", str(len(nodes)))
            self.check_definite([everything], bound)
            return
        patterns, always = self.patterns(nodes), everything
        for pattern in patterns:
            always &= pattern
        for pattern in sorted(patterns):
            self.check_definite([pattern, always], 2 * bound)

    def patterns(self, nodes: list[Any]) -> set[int]:
        """The neurons that are on, for each leaf of a tree that covers the domain."""
        network = Network([len(self.layer.rows[0]), len(self.rows)], [self.layer], "relu", "")
        joint, found = JointNetwork([network], self.domain, [], self.meter), set[int]()
        place = self.meter.step

        def close(node: Node, _: Any) -> None:
            """No neuron changes its sign on the leaf."""
            require(not node.terms, "all signs known", f"{len(node.terms)} of them unknown")
            self.meter.hold(4 + len(self.rows) // 64)
            found.add(sum(1 << j for j, f in enumerate(joint.outputs) if node.substituted(f)))

        listed = ListedNodes(nodes, self.meter)
        Tree(joint, list(range(len(joint.atoms))), listed).check(CELL_LEAF, close)
        self.meter.step = place
        listed.check_end()
        return found

    def check_definite(self, patterns: Sequence[int], bound: Fraction) -> None:
        """The sum of the squares of the rows of all patterns is at least bound times lengths."""
        self.meter.pay(4 * len(self.rows))
        rows = [row for pattern in patterns for j, row in enumerate(self.rows) if pattern >> j & 1]
        total, p, q = self.gram(rows), bound.numerator, bound.denominator
        factor = p * self.layer.denominator**2
        bits = max(longest(total), longest(self.lengths))
        self.meter.pay(2 * self.size**2, bits, factor.bit_length() + q.bit_length())
        matrix = [
            [q * a - factor * b for a, b in zip(one, two, strict=True)]
            for one, two in zip(total, self.lengths, strict=True)
        ]
        fact = "squares of rows that are as large as the bound of the layer asks for"
        require(is_semidefinite(matrix, self.meter), fact, "less in some direction")
        self.meter.release(2 * self.size**2)


def is_semidefinite(matrix: list[list[int]], meter: Meter) -> bool:
    """Whether a symmetric matrix has no negative eigenvalue.

    Bareiss with pivots on the diagonal: all numbers are minors, divisions are exact.
    """
    rest, last, bits, number = matrix, 1, longest(matrix), 0
    while rest:
        size = (number + 1) * (bits + 10)
        meter.pay(10 + 2 * len(rest) ** 2, size, size)
        meter.pay_divisions(len(rest) ** 2, 2 * size, size)
        place = next((k for k, row in enumerate(rest) if row[k]), None)
        if place is None:
            return not any(map(any, rest))
        pivot = rest[place]
        if pivot[place] < 0:
            return False
        kept = [k for k in range(len(rest)) if k != place]
        rest = [
            [(pivot[place] * rest[k][c] - rest[k][place] * pivot[c]) // last for c in kept]
            for k in kept
        ]
        last, number = pivot[place], number + 1
    return True


# ==== 5.6 Injectivity by a left inverse: theorem left-inverse ====


@theorem(
    "left-inverse",
    kind="injective",
    page="theory/injectivity.md",
    evidence={"inverse": {"network": object}, "identity": {"nodes": [OneOf((SPLIT, EQUAL_LEAF))]}},
    says={
        "inverse": "the network reads the outputs, and has as many outputs as there are inputs",
        "identity": "on every leaf of the tree it maps the outputs back to the inputs, and the "
        "leaves cover the domain",
    },
)
def left_inverse(case: Case) -> None:
    """A network g with g(f(x)) = x for all x of the domain."""
    meter, part = case.meter, part_of_claim(case)
    domain = read_domain(case.claim["domain"], part.widths[0], meter)
    document = case.hypothesis("inverse")["network"]
    inverse, widths = read_network(document, "inverse", meter), (part.widths[-1], part.widths[0])
    meter.step = "inverse"
    fact = f"a plain stack with {widths[0]} inputs and {widths[1]} outputs"
    fits = inverse.is_plain() and (inverse.widths[0], inverse.widths[-1]) == widths
    require(fits, fact, str(inverse))
    both = round_trip(part, inverse, meter)
    meter.step = "identity"
    nodes = ListedNodes(case.hypothesis("identity")["nodes"], meter)
    joint = JointNetwork([both, identity(part.widths[0], meter)], domain, [], meter)
    check_parts(joint, [], nodes)
    nodes.check_end()


def identity(size: int, meter: Meter) -> Network:
    """The network x -> x."""
    meter.pay(2 * size**2)
    meter.hold(2 * size**2)
    rows = [[int(i == j) for j in range(size)] for i in range(size)]
    return Network([size, size], [Layer(1, [0] * size, rows, [], 1)], "affine", "")


def round_trip(there: Network, back: Network, meter: Meter) -> Network:
    """The network that applies one after the other; an affine last layer joins the next one."""
    first, *rest = back.layers
    kept = list(there.layers)
    if there.last == "affine":
        first = joined(kept.pop(), first, meter)
    widths = [*there.widths[: len(kept) + 1], *back.widths[1:]]
    return Network(widths, [*kept, first, *rest], back.last, "")


def joined(affine: Layer, layer: Layer, meter: Meter) -> Layer:
    """The layer that reads what an affine layer reads, in place of its values."""
    blocks = [*affine.earlier, (-1, affine.rows), (-1, [[b] for b in affine.bias])]
    num_columns = sum(len(rows[0]) for _, rows in blocks)
    products = len(layer.rows) * len(affine.rows) * num_columns
    meter.pay(2 * products + len(layer.rows), affine.bits, layer.bits)
    bits = affine.bits + layer.bits + len(affine.rows).bit_length() + 1
    meter.hold(cells_of(2 * len(layer.rows) * num_columns, bits))
    made = [(source, matrix_product(layer.rows, rows)) for source, rows in blocks]
    *earlier, (_, rows), (_, column) = made
    bias = [x + b * affine.denominator for (x,), b in zip(column, layer.bias, strict=True)]
    denominator = affine.denominator * layer.denominator
    own = longest([bias, [denominator], *(row for _, entries in made for row in entries)])
    return Layer(denominator, bias, rows, earlier, own)


def matrix_product(left: list[list[int]], right: list[list[int]]) -> list[list[int]]:
    """The product of two matrices."""
    columns = list(zip(*right, strict=True))
    return [[sum(a * b for a, b in zip(row, c, strict=True)) for c in columns] for row in left]


# ==== 5.7 Inverse Lipschitz constants by cells: theorem monotone ====


@theorem(
    "monotone",
    kind="inverse-lipschitz",
    page="theory/inverse_lipschitz.md",
    evidence={
        "map": {
            "rows": [ROW],
            "at-least": RATIONAL,
            "at-most": RATIONAL,
            "nodes": [OneOf((SPLIT, CELL_LEAF))],
        },
        "pair": {"x": [RATIONAL], "y": [RATIONAL], "f": [RATIONAL], "g": [RATIONAL]},
    },
    says={
        "map": "after the map all cells of a tree that covers the domain stretch every direction "
        "forwards, and the map is as short as the claimed bound asks for",
        "pair": "two points of the domain were evaluated, and are as near as claimed",
    },
)
def monotone(case: Case) -> None:
    """A linear map A of the outputs after which the network is monotone, and two points."""
    meter, part = case.meter, part_of_claim(case)
    domain = read_domain(case.claim["domain"], part.widths[0], meter)
    evidence, size = case.hypothesis("map"), domain.dimension()
    rows = [integers(text, meter) for text in evidence["rows"]]
    meter.step = "map"
    fits = len(rows) == size and all(len(row) == part.widths[-1] for row in rows)
    require(fits, f"{size} rows of {part.widths[-1]} numbers", "another shape")
    low, high = (rational(evidence[key], meter) for key in ("at-least", "at-most"))
    require(min(low, high) > 0, "bounds that are positive", "one that is not")
    joint = JointNetwork([part], domain, [], meter)
    meter.step = "map"
    check = MapCheck(rows, domain, joint.denominator, meter)
    check.check_length(high)

    def close(node: Node, _: Any) -> None:
        """The symmetric part of A M is at least as large as the bound, M the map on the leaf."""
        require(not node.terms, "all signs known", f"{len(node.terms)} of them unknown")
        before = meter.cells
        columns = [dense(node.substituted(form), size, meter) for form in joint.outputs]
        check.check_leaf(columns, low)
        meter.release(meter.cells - before)

    nodes = ListedNodes(evidence["nodes"], meter)
    Tree(joint, list(range(len(joint.atoms))), nodes).check(CELL_LEAF, close)
    nodes.check_end()
    meter.step = "map"
    wanted = rational(case.claim["at-least"], meter)
    meter.pay(4, bits_of(low) + bits_of(high), bits_of(wanted) + bits_of(low))
    require(wanted > 0, "a bound that is positive", quote(case.claim["at-least"]))
    require(wanted <= low**2 / high, f"at least {quote(case.claim['at-least'])}", "less")
    check_quotient(case, part, domain)


class MapCheck:
    """The map A of the outputs, in the coordinates of a domain."""

    def __init__(
        self, rows: list[list[int]], domain: Domain, denominator: int, meter: Meter
    ) -> None:
        self.rows, self.denominator, self.meter = rows, denominator, meter
        self.size, self.scale = domain.dimension(), domain.scale
        inputs = [dense(form, self.size, meter)[:-1] for form in domain.inputs]
        self.lengths = self.products(list(zip(*inputs, strict=True)), inputs)

    def products(
        self, left: Sequence[Sequence[int]], right: Sequence[Sequence[int]]
    ) -> list[list[int]]:
        """The product of two matrices, with as many rows and columns as there are coordinates."""
        self.meter.pay(self.size**2 * (len(right) + 1), longest(left), longest(right))
        self.meter.hold(2 * self.size**2)
        columns = list(zip(*right, strict=True)) or [()] * self.size
        return [[sum(a * b for a, b in zip(row, c, strict=True)) for c in columns] for row in left]

    def check_length(self, high: Fraction) -> None:
        """|A' u|^2 <= high |x|^2 for the transpose A' and all directions u."""
        squares = self.products(self.rows, list(zip(*self.rows, strict=True)))
        factor = high.denominator * self.scale**2
        matrix = self.difference(self.lengths, high.numerator, squares, factor)
        require(is_semidefinite(matrix, self.meter), "a map that is as short", "a longer one")

    def check_leaf(self, columns: Sequence[Sequence[int]], low: Fraction) -> None:
        """u A M u >= low |x|^2 for all directions u."""
        product = self.products(self.rows, [row[:-1] for row in columns])
        twice = [
            [a + b for a, b in zip(row, column, strict=True)]
            for row, column in zip(product, zip(*product, strict=True), strict=True)
        ]
        factor = 2 * low.numerator * self.denominator
        matrix = self.difference(twice, low.denominator * self.scale**2, self.lengths, factor)
        require(is_semidefinite(matrix, self.meter), "a monotone map", "less in some direction")

    def difference(
        self, left: list[list[int]], p: int, right: list[list[int]], q: int
    ) -> list[list[int]]:
        """p left - q right."""
        bits = max(longest(left), longest(right))
        self.meter.pay(2 * self.size**2, bits, max(p.bit_length(), q.bit_length()))
        return [
            [p * a - q * b for a, b in zip(one, two, strict=True)]
            for one, two in zip(left, right, strict=True)
        ]


# ==== 5.8 Bounds: theorems deviation, range, holds, same-decisions ====

# -- Packed numbers


class Packing:
    """`count` integers of absolute value below 2^(slot-1) as digits of one integer, base 2^slot.

    Packed lists are added and multiplied like the lists, as long as the digits stay small.
    """

    def __init__(self, slot: int, count: int) -> None:
        self.slot, self.count, self.base = slot, count, (1 << slot) - 1
        self.ones = ((1 << slot * count) - 1) // self.base
        self.half = self.ones << slot - 1  # added, it makes all digits positive
        self.low = self.half - self.ones

    def pack(self, digits: Sequence[int]) -> int:
        """The list as one integer; the slot is a number of bytes. The empty list is 0."""
        size, half = self.slot // 8, 1 << self.slot - 1
        text = b"".join((x + half).to_bytes(size, "little") for x in digits)
        return int.from_bytes(text, "little") - self.half if digits else 0

    def digits(self, packed: int) -> list[int]:
        """The list of a packed integer."""
        size, half = self.slot // 8, 1 << self.slot - 1
        text = (packed + self.half).to_bytes(size * self.count + 1, "little")
        places = range(0, size * self.count, size)
        return [int.from_bytes(text[k : k + size], "little") - half for k in places]

    def is_multiple(self, packed: int, shift: int) -> bool:
        """Whether every digit is a multiple of 2^shift."""
        return not packed + self.half & (self.ones << shift) - self.ones

    def floored(self, packed: int, shift: int) -> int:
        """Every digit over 2^shift, rounded down."""
        kept = (self.ones << self.slot - shift) - self.ones
        return ((packed + self.half >> shift) & kept) - (self.half >> shift)

    def radius(self, packed: int) -> int:
        """The sum of the absolute values of all digits, which is below 2^slot - 1.

        The bits of negative digits are flipped; modulo 2^slot - 1 a number is the sum of its
        digits.
        """
        raised = packed + self.half
        negative = self.ones - (raised >> self.slot - 1 & self.ones)
        flipped = (raised ^ (negative << self.slot - 1) - negative) & self.low
        return (flipped + negative) % self.base


# -- Weights on the grid

MIN_GRID, MAX_GRID = 8, 4_096
#: A partner with its scale, or none.
PARTNER = OneOf(((), (int, RATIONAL)))


class GridRows(NamedTuple):
    """A matrix times 2^S, rounded down; its largest row sum of absolute values; 1 if rounded."""

    rows: list[list[int]]
    norm: int
    rounded: int

    def growth(self, error: int, sizes: int, grid: int) -> int:
        """The error of a product: what comes from the other factor, and from rounded weights."""
        return -(-self.norm * error >> grid) + self.rounded * -(-sizes >> grid)


class GridLayer(NamedTuple):
    """A layer of f, and the layer of the differences; `partners` are -1 for none.

    `own` and `bias` are W and b. The differences are Delta a + V d + delta, with Delta in
    `by_values`, V in `by_differences` and delta in `shift`; `other_bias` is the bias of g over the
    scales. `is_bias_exact` and `is_shift_exact` say whether nothing of the bias and of delta was
    rounded, `is_other_exact` whether nothing of V and of `other_bias` was.
    """

    own: GridRows
    bias: list[int]
    by_values: GridRows
    by_differences: GridRows
    shift: list[int]
    partners: list[int]
    scales: list[Fraction]
    is_hidden: bool
    is_bias_exact: bool
    is_shift_exact: bool
    other_bias: list[int]
    is_other_exact: bool

    @property
    def is_own_exact(self) -> bool:
        """Whether no weight and no bias of f was rounded."""
        return self.is_bias_exact and not self.own.rounded


class Partners(NamedTuple):
    """The partners of the neurons of a layer of g, -1 for none, and their scales."""

    places: list[int]
    scales: list[Fraction]


def same_partners(width: int) -> Partners:
    """Every neuron has the partner with its own index."""
    return Partners(list(range(width)), [Fraction(1)] * width)


def read_matching(matching: Any, f: Network, g: Network, meter: Meter) -> list[Partners]:
    """The partners in every layer, the inputs first; outputs have themselves."""
    depth = len(f.layers)
    if not matching:
        for layer, (one, two) in enumerate(zip(f.widths, g.widths, strict=True)):
            require(one == two, "equal widths where no matching is given", f"layer {layer}")
        return [same_partners(width) for width in f.widths]
    require(len(matching) == depth - 1, f"partners for {depth - 1} layers", str(len(matching)))
    found = [same_partners(f.widths[0])]
    for number, entries in enumerate(matching, 1):
        count = g.widths[number]
        require(len(entries) == count, f"{count} entries of partners", str(len(entries)))
        meter.hold(cells_of(4 * count, 0))
        places, scales = list[int](), list[Fraction]()
        for entry in entries:
            place, scale = (entry[0], rational(entry[1], meter)) if entry else (-1, Fraction(1))
            require(place < f.widths[number], f"neurons below {f.widths[number]}", str(place))
            require(scale > 0, "scales that are positive", quote(entry[1:]))
            places.append(place)
            scales.append(scale)
        found.append(Partners(places, scales))
    return [*found, same_partners(f.widths[-1])]


def rounded_row(numbers: Sequence[int], denominator: int, grid: int) -> tuple[list[int], bool]:
    """Numbers over a denominator times 2^S, rounded down, and whether nothing was rounded."""
    pairs = [divmod(x << grid, denominator) for x in numbers]
    return [x for x, _ in pairs], not any(rest for _, rest in pairs)


def scaled_biases(layer: Layer, scales: Sequence[Fraction]) -> list[tuple[int, int]]:
    """The biases of a layer of g over the scales of its neurons, each with its denominator."""
    return [
        (c * scale.denominator, layer.denominator * scale.numerator)
        for c, scale in zip(layer.bias, scales, strict=True)
    ]


def rounded_numbers(pairs: Sequence[tuple[int, int]], grid: int) -> tuple[list[int], bool]:
    """Numbers, each over its own denominator, in the same way."""
    made = [rounded_row([x], denominator, grid) for x, denominator in pairs]
    return [row[0] for row, _ in made], all(exact for _, exact in made)


def rounded_rows(rows: Sequence[tuple[Sequence[int], int]], grid: int, meter: Meter) -> GridRows:
    """Rows with their denominators on the grid."""
    bits = longest([*(row for row, _ in rows), [d for _, d in rows]]) + grid
    size = sum(len(row) for row, _ in rows)
    meter.pay_divisions(size, bits, bits)
    meter.hold(cells_of(size, bits))
    made = [rounded_row(row, denominator, grid) for row, denominator in rows]
    norm = max(sum(map(abs, row)) for row, _ in made)
    return GridRows([row for row, _ in made], norm, int(not all(exact for _, exact in made)))


NO_ROWS = GridRows([], 0, 0)


def grid_layers(
    f: Network, g: Network | None, matching: Any, grid: int, meter: Meter
) -> list[GridLayer]:
    """All layers on the grid; without g there are no differences."""
    partners = [] if g is None else read_matching(matching, f, g, meter)
    found = list[GridLayer]()
    for number, layer in enumerate(f.layers):
        own = rounded_rows([(row, layer.denominator) for row in layer.rows], grid, meter)
        bias, is_exact = rounded_row(layer.bias, layer.denominator, grid)
        is_hidden = number < f.num_hidden_layers()
        if g is None:
            kept = is_hidden, is_exact, True, list[int](), True
            found.append(GridLayer(own, bias, NO_ROWS, NO_ROWS, [], [], [], *kept))
            continue
        before, after, other = partners[number], partners[number + 1], g.layers[number]
        aligned, delta, shift = layer_differences(layer, other, before, after, meter)
        by_values = rounded_rows(delta, grid, meter)
        by_differences = rounded_rows(aligned, grid, meter)
        moved, is_shift_exact = rounded_numbers(shift, grid)
        others, is_other_exact = rounded_numbers(scaled_biases(other, after.scales), grid)
        found.append(
            GridLayer(
                own,
                bias,
                by_values,
                by_differences,
                moved,
                after.places,
                after.scales,
                is_hidden,
                is_exact,
                is_shift_exact,
                others,
                is_other_exact and not by_differences.rounded,
            )
        )
    return found


RowOver = tuple[list[int], int]


def layer_differences(
    one: Layer, two: Layer, before: Partners, after: Partners, meter: Meter
) -> tuple[list[RowOver], list[RowOver], list[tuple[int, int]]]:
    """V, Delta and delta of a layer, exact, each row over its denominator."""
    common = common_denominator(before.scales, "a common denominator of scales", meter)
    factors = [x.numerator * (common // x.denominator) for x in before.scales]
    size, bits = len(two.rows) * (len(factors) + len(one.rows[0])), longest([factors])
    scale_bits = max(max(x.numerator, x.denominator).bit_length() for x in after.scales)
    total = bits + two.bits + common.bit_length() + scale_bits
    meter.pay(4 * size, one.bits, total)
    meter.hold(cells_of(2 * size, one.bits + total))
    aligned, delta, shift = list[RowOver](), list[RowOver](), list[tuple[int, int]]()
    for m, (row, c) in enumerate(zip(two.rows, two.bias, strict=True)):
        scale, place = after.scales[m], after.places[m]
        over = two.denominator * common * scale.numerator
        numbers = [w * x * scale.denominator for w, x in zip(row, factors, strict=True)]
        aligned.append((numbers, over))
        sums = [0] * len(one.rows[0])
        for k, x in zip(before.places, numbers, strict=True):
            if k >= 0:
                sums[k] += x * one.denominator
        constant = c * common * scale.denominator * one.denominator
        if place >= 0:
            sums = [x - w * over for x, w in zip(sums, one.rows[place], strict=True)]
            constant -= one.bias[place] * over
        delta.append((sums, over * one.denominator))
        shift.append((constant, over * one.denominator))
    return aligned, delta, shift


# -- Forms on a box

#: Slopes are integers over 2^SLOPE.
SLOPE = 16
FULL = 1 << SLOPE
#: Bits of a slot beyond those that were needed when it was made.
SPARE_BITS = 24

Interval = tuple[int, int]
#: The intervals of the partner of a neuron of g, of the difference, and its own.
PairEnds = tuple[Interval, Interval, Interval]
#: Cuts by sign above a node: network, layer from 1, index, and the side.
SignCuts = dict[tuple[int, int, int], int]


class FormList(NamedTuple):
    """Forms with one error: centers and packed coefficients; `sizes` bound what they stand for.

    `largest` bounds all coefficients.
    """

    centers: list[int]
    packed: list[int]
    error: int
    sizes: list[int]
    largest: int


class Relaxed(NamedTuple):
    """A form p Z + q D over 2^SLOPE, what is added to its center, and a new coefficient."""

    p: int
    q: int
    added: int
    new: int


class EmptyNode(Exception):  # noqa: N818
    """No point of the box has the signs of a node."""


def sign_of(ends: Interval) -> int:
    """1 if never negative, -1 if never positive, 0 if open."""
    return 1 if ends[0] >= 0 else -1 if ends[1] <= 0 else 0


def intersection(one: Interval, two: Interval) -> Interval:
    """What two intervals have in common; the first end is the larger one if it is nothing."""
    return max(one[0], two[0]), min(one[1], two[1])


def nonempty(ends: Interval) -> Interval:
    """The interval of a neuron or of a difference; the node is empty if there is none."""
    if ends[0] > ends[1]:
        raise EmptyNode
    return ends


def cut_by_sign(ends: Interval, side: int) -> Interval:
    """The part of an interval with a sign; all of it if the side is 0."""
    low, high = ends
    return (max(low, 0), high) if side > 0 else (low, min(high, 0)) if side < 0 else ends


def slope_of(ends: Interval) -> int:
    """The slope of the chord of max(z, 0)."""
    low, high = ends
    return FULL if low >= 0 else 0 if high <= 0 else FULL * high // (high - low)


def relaxed_neuron(ends: Interval) -> Relaxed:
    """max(z, 0) of an open neuron lies in s z + [0, 2 w]."""
    slope = slope_of(ends)
    gap = max(-slope * ends[0], (FULL - slope) * ends[1])
    half = -(-gap >> SLOPE + 1)
    return Relaxed(slope, 0, half, half)


def nearest(x: int, ends: Interval) -> int:
    """The number in an interval that is next to x."""
    return min(max(x, ends[0]), ends[1])


def corners(z: Interval, d: Interval) -> list[tuple[int, int]]:
    """All vertices of the rectangle of z and D cut by z = 0 and z + D = 0."""
    zero = nearest(0, z)
    on_d = (z[0], z[1], zero, nearest(-d[0], z), nearest(-d[1], z))
    found = [(x, y) for y in d for x in on_d]
    return found + [(x, nearest(-x, d)) for x in (z[0], z[1], zero)]


def differences_at_corners(z: Interval, d: Interval, y: Interval) -> list[tuple[int, int, int]]:
    """The difference of max(z + D, 0) and max(z, 0) times FULL at all corners, with z and D."""
    sign = sign_of(y)
    return [
        (FULL * ((x + t if sign > 0 or (sign == 0 and x + t > 0) else 0) - max(x, 0)), x, t)
        for x, t in corners(z, d)
    ]


def relaxed_pair(z: Interval, d: Interval, y: Interval) -> Relaxed:
    """The difference of max(z + D, 0) and max(z, 0), with the narrowest band of all candidates."""
    upper, points = slope_of(y), differences_at_corners(z, d, y)
    candidates = [(0, FULL // 2), (upper - slope_of(z), upper), (0, upper)]
    if d[0] < 0 < d[1]:
        candidates.insert(1, (0, FULL * d[1] // (d[1] - d[0])))
    best, chosen = -1, Relaxed(0, 0, 0, 0)
    for p, q in candidates:
        values = [value - p * x - q * t for value, x, t in points]
        low, high = min(values), max(values)
        if best < 0 or high - low < best:
            best, middle = high - low, low + high >> SLOPE + 1
            reach = max(-(-high >> SLOPE) - middle, middle - (low >> SLOPE))
            chosen = Relaxed(p, q, middle, reach)
    return chosen


def decided(sign: int) -> Relaxed:
    """max(z, 0) of a neuron with a known sign."""
    return Relaxed(FULL if sign > 0 else 0, 0, 0, 0)


def decided_pair(z: Interval, d: Interval, y: Interval, is_last: bool) -> Relaxed:
    """The difference where both signs are known.

    The slopes are whole numbers times FULL; or the signs differ, and it lies between 0 and D.
    """
    s, t = sign_of(z), sign_of(y)
    if s != t and not is_last and d[1] - d[0] < z[1] - z[0]:
        return Relaxed(0, FULL // 2, 0, -(-max(-d[0], d[1]) // 2))
    return Relaxed(*decided_slopes(z, y), 0, 0)


def decided_slopes(z: Interval, y: Interval) -> tuple[int, int]:
    """The difference is p z + q D over FULL where both signs are known."""
    q = FULL if sign_of(y) > 0 else 0
    return q - FULL if sign_of(z) > 0 else q, q


class InputForms(NamedTuple):
    """The inputs: centers, for each the coefficients of some generators, one error and sizes."""

    centers: list[int]
    terms: list[list[tuple[int, int]]]
    error: int
    sizes: list[int]
    largest: int


class JointForms:
    """The forms of all layers on one node, made layer by layer.

    `values` are the forms of f, `differences` the forms of g minus f, `signs` the signs of the
    neurons of f and of g in each hidden layer, `ends` the intervals of the neurons of f, and
    `pair_ends` for each neuron of g the intervals of its partner, of the difference and its own.
    `kept` are the forms of neurons that were cut by sign: center, coefficients, error.
    """

    def __init__(self, inputs: InputForms, count: int, grid: int, slot: int, meter: Meter) -> None:
        self.inputs, self.grid, self.meter = inputs, grid, meter
        self.packing = Packing(slot, count)
        self.values: InputForms | FormList = inputs
        self.differences = FormList([], [], 0, [], 0)
        self.signs = list[tuple[list[int], list[int]]]()
        self.ends = list[list[Interval]]()
        self.pair_ends = list[list[PairEnds]]()
        self.kept = dict[tuple[int, int, int], tuple[int, list[int], int]]()
        self.new = list[tuple[int, int, int]]()  # which list, index, new coefficient
        self.num_hidden = 0

    def run(self, layers: Sequence[GridLayer], cuts: SignCuts) -> None:
        """Make the forms of all layers."""
        self.num_hidden = sum(layer.is_hidden for layer in layers)
        for number, layer in enumerate(layers, 1):
            z, d = self.forms_of(layer)
            self.values, self.differences = z, d
            self.see(number, layer, z, d)
            if layer.is_hidden:
                self.activate(number, layer, z, d, cuts)

    def forms_of(self, layer: GridLayer) -> tuple[FormList, FormList]:
        """The forms of the preactivations of a layer, and of their differences."""
        self.widen(layer)
        self.charge(layer)
        z = self.preactivations(layer.own, layer.bias, layer.is_bias_exact)
        others = layer.by_differences
        return z, self.preactivations(layer.by_values, layer.shift, layer.is_shift_exact, others)

    def see(self, number: int, layer: GridLayer, z: FormList, d: FormList) -> None:
        """Look at the forms of the preactivations of a layer, and of their differences."""

    def narrowed(self, which: int, number: int, index: int, ends: Interval) -> Interval:
        """The interval of a neuron, whose forms are all that is known about it."""
        return ends

    def narrowed_pair(
        self, number: int, index: int, z: Interval, d: Interval, y: Interval
    ) -> Interval:
        """The interval of a neuron of g, given the intervals of its partner and of the change."""
        return y

    def narrowed_change(
        self, number: int, index: int, z: Interval, d: Interval, y: Interval
    ) -> tuple[Interval, Interval]:
        """The intervals of the change and of a neuron of g, given its partner's interval too."""
        return d, y

    def charge(self, layer: GridLayer) -> None:
        """Pay for a layer, and hold its forms."""
        meter, n, m = self.meter, len(layer.own.rows), len(layer.partners)
        values, differences, slot = self.values, self.differences, self.packing.slot
        bits = max(longest([values.centers, differences.centers]), values.error.bit_length())
        bits = max(bits, differences.error.bit_length(), slot * (self.packing.count + 1))
        norm = max(rows.norm for rows in (layer.own, layer.by_values, layer.by_differences))
        meter.hold(cells_of(4 * (n + m), bits + slot * (n + m)))
        meter.units(8_000 * (n + m + 2))
        if isinstance(values, InputForms):
            size = sum(map(len, values.terms)) + len(values.centers) + 4 * self.packing.count
            own = max(slot, longest([values.centers]), values.error.bit_length())
            meter.pay((n + m) * size, own, norm.bit_length())
        else:
            products = (n + m) * len(values.centers) + m * len(differences.centers)
            meter.pay(products, bits, norm.bit_length())
        meter.pay(16 * (n + 2 * m), bits)

    def widen(self, layer: GridLayer) -> None:
        """Make the slots as long as the numbers of a layer need."""
        values, differences, packing = self.values, self.differences, self.packing
        most = (layer.own.norm + layer.by_values.norm) * values.largest
        most += layer.by_differences.norm * differences.largest
        shift = max(0, SLOPE - self.grid)
        self.make_room(most.bit_length() + shift + packing.count.bit_length() + 4)

    def make_room(self, bits: int) -> None:
        """Make the slots as long as numbers of these bits need."""
        values, differences, packing = self.values, self.differences, self.packing
        if bits <= packing.slot:
            return
        message = f"beyond the limits: numbers of more than {GROWN_BITS} bits"
        well_formed(bits <= GROWN_BITS, message)
        self.meter.pay(4 * packing.count * (len(values.centers) + len(differences.centers)), bits)
        self.packing = Packing(bits + SPARE_BITS + 7 & ~7, packing.count)
        if isinstance(values, FormList):
            self.values, self.differences = (
                forms._replace(packed=[self.packing.pack(packing.digits(x)) for x in forms.packed])
                for forms in (values, differences)
            )

    def products(self, rows: GridRows, forms: InputForms | FormList) -> tuple[list[int], list[int]]:
        """The products of rows with forms: centers and packed coefficients."""
        centers = [sum(map(mul, row, forms.centers)) for row in rows.rows]
        if isinstance(forms, FormList):
            return centers, [sum(map(mul, row, forms.packed)) for row in rows.rows]
        packed = list[int]()
        for row in rows.rows:
            digits = [0] * self.packing.count
            for w, terms in zip(row, forms.terms, strict=True):
                for k, x in terms:
                    digits[k] += w * x
            packed.append(self.packing.pack(digits))
        return centers, packed

    def preactivations(
        self,
        rows: GridRows,
        bias: Sequence[int],
        is_exact: bool,
        others: GridRows | None = None,
    ) -> FormList:
        """Rows times the values, and others times the differences, over 2^S."""
        packing, grid = self.packing, self.grid
        centers, packed = self.products(rows, self.values)
        error = rows.growth(self.values.error, sum(self.values.sizes), grid)
        largest = rows.norm * self.values.largest
        if others is not None and self.differences.centers:
            more = self.products(others, self.differences)
            centers = [x + y for x, y in zip(centers, more[0], strict=True)]
            packed = [x + y for x, y in zip(packed, more[1], strict=True)]
            error += others.growth(self.differences.error, sum(self.differences.sizes), grid)
            largest += others.norm * self.differences.largest
        is_exact = is_exact and not any(x & (1 << grid) - 1 for x in centers)
        is_exact = is_exact and all(packing.is_multiple(x, grid) for x in packed)
        centers = [(x >> grid) + b for x, b in zip(centers, bias, strict=True)]
        packed = [packing.floored(x, grid) for x in packed]
        error += 0 if is_exact else packing.count + 2
        return FormList(centers, packed, error, [], (largest >> grid) + 1)

    def activate(
        self, number: int, layer: GridLayer, z: FormList, d: FormList, cuts: SignCuts
    ) -> None:
        """The activations of a hidden layer, and their differences."""
        radius = self.packing.radius
        radii = [radius(x) for x in z.packed]
        ends = [(c - r - z.error, c + r + z.error) for c, r in zip(z.centers, radii, strict=True)]
        for i in range(len(ends)):
            ends[i] = self.cut(cuts, (0, number, i), ends[i], z.centers[i], z.packed[i], z.error)
            ends[i] = self.narrowed(0, number, i, ends[i])
        largest, self.new = max(radii), []
        self.ends.append(ends)
        self.pair_ends.append([])
        own = [relaxed_neuron(x) if not sign_of(x) else decided(sign_of(x)) for x in ends]
        self.differences, signs = self.pairs(number, layer, z, d, ends, largest, cuts)
        self.values = self.combined(0, own, list(range(len(ends))), z, None, largest)
        self.values = self.values._replace(sizes=[max(high, 0) for _, high in ends])
        self.signs.append((list(map(sign_of, ends)), signs))
        self.add_generators()

    def pairs(
        self,
        number: int,
        layer: GridLayer,
        z: FormList,
        d: FormList,
        ends: Sequence[Interval],
        largest: int,
        cuts: SignCuts,
    ) -> tuple[FormList, list[int]]:
        """The differences of activations, and the signs of the neurons of g.

        `z` and `d` are the forms of the preactivations of f, and of the differences from them;
        `ends` are the intervals of f, and `largest` bounds the coefficients of `z`.
        """
        made, sizes, signs, radius = list[Relaxed](), list[int](), list[int](), self.packing.radius
        error, most = z.error + d.error, 0
        for m, place in enumerate(layer.partners):
            own = ends[place] if place >= 0 else (0, 0)
            center = d.centers[m] + (z.centers[place] if place >= 0 else 0)
            packed = d.packed[m] + (z.packed[place] if place >= 0 else 0)
            reach = radius(packed) + error
            y = center - reach, center + reach
            y = self.cut(cuts, (1, number, m), y, center, packed, error)
            reach = radius(d.packed[m])
            most = max(most, reach)
            low, high = d.centers[m] - reach - d.error, d.centers[m] + reach + d.error
            y = self.narrowed_pair(number, m, own, (low, high), y)
            (low, high), y = self.narrowed_change(number, m, own, (low, high), y)
            low, high = max(low, y[0] - own[1]), min(high, y[1] - own[0])
            if low > high:
                raise EmptyNode
            signs.append(sign_of(y))
            self.pair_ends[-1].append((own, (low, high), y))
            made.append(self.relaxed(own, (low, high), y, number))
            sizes.append(max(-low, high))
        found = self.combined(1, made, layer.partners, z, d, largest + most)
        return found._replace(sizes=sizes), signs

    def relaxed(self, z: Interval, d: Interval, y: Interval, number: int) -> Relaxed:
        """The difference of a neuron from its partner, in a layer."""
        if sign_of(z) and sign_of(y):
            return decided_pair(z, d, y, number == self.num_hidden)
        return relaxed_pair(z, d, y)

    def cut(
        self,
        cuts: SignCuts,
        neuron: tuple[int, int, int],
        ends: Interval,
        center: int,
        packed: int,
        error: int,
    ) -> Interval:
        """The interval of a neuron, cut by a sign above the node; then its form is kept."""
        side = cuts.get(neuron, 0)
        if not side:
            return ends
        self.meter.pay(4 * self.packing.count, self.packing.slot)
        self.meter.hold(cells_of(2 * self.packing.count, self.packing.slot))
        self.kept[neuron] = center, self.packing.digits(packed), error
        return nonempty(cut_by_sign(ends, side))

    def combined(
        self,
        which: int,
        relaxed: Sequence[Relaxed],
        places: Sequence[int],
        z: FormList,
        d: FormList | None,
        largest: int,
    ) -> FormList:
        """The forms (p Z + q D) / FULL with what is added; new generators are noted.

        `which` is 0 for activations of f and 1 for differences, `places` has the neuron of f for
        each of them, -1 for none, and `largest` bounds the coefficients of Z and D.
        """
        centers, packed, most = list[int](), list[int](), largest + 1
        packing, is_exact = self.packing, True
        for i, (p, q, added, new) in enumerate(relaxed):
            place = places[i]
            center = p * z.centers[place] if p and place >= 0 else 0
            coefficients = p * z.packed[place] if p and place >= 0 else 0
            if d is not None and q:
                center += q * d.centers[i]
                coefficients += q * d.packed[i]
            is_exact = is_exact and not center & FULL - 1
            is_exact = is_exact and packing.is_multiple(coefficients, SLOPE)
            centers.append((center >> SLOPE) + added)
            packed.append(packing.floored(coefficients, SLOPE) if coefficients else 0)
            if new:
                self.new.append((which, i, new))
                most = max(most, new)
        error = z.error + (0 if d is None else d.error) + (0 if is_exact else packing.count + 1)
        return FormList(centers, packed, error, [], most)

    def add_generators(self) -> None:
        """Every new coefficient gets a generator of its own, first the ones of f."""
        self.new.sort()
        self.make_room(max((x for _, _, x in self.new), default=0).bit_length() + 2)
        packing, lists = self.packing, (self.values, self.differences)
        for k, (which, i, coefficient) in enumerate(self.new):
            packed: list[int] = lists[which].packed  # type: ignore[union-attr]
            packed[i] += coefficient << packing.slot * (packing.count + k)
        self.packing = Packing(packing.slot, packing.count + len(self.new))


# -- The box of a node

Ends = tuple[Fraction, Fraction]


class KeptIntervals(NamedTuple):
    """What nodes below inherit: intervals of neurons of f and of pairs in each layer of ReLUs.

    Nothing is inherited if `ends` is empty. `cells` is the memory that they take.
    """

    ends: list[list[Interval]]
    pair_ends: list[list[PairEnds]]
    cells: int


class NodeBox:
    """The intervals of the coordinates, on the grid as well, and the cuts by sign.

    `inherited` are the intervals of neurons that hold at the node.
    """

    def __init__(self, domain: Domain, grid: int, meter: Meter) -> None:
        self.grid, self.meter, self.ends = grid, meter, list[Ends]()
        self.signs: SignCuts = {}
        self.inherited = KeptIntervals([], [], 0)
        #: A coordinate, or None for intervals, with what was there before; or a neuron.
        self.trail = list[tuple[Any, Any]]()
        for k in range(1, domain.dimension() + 1):
            sides = domain.sides.get((k, True)), domain.sides.get((k, False))
            fact = "a domain that bounds every coordinate on both sides"
            if sides[0] is None or sides[1] is None:
                require(False, fact, f"coordinate {k - 1}", "claim.domain")
                continue
            require(sides[0] <= sides[1], "a domain that is not empty", "it is empty")
            self.ends.append((sides[0], sides[1]))
        self.rounded = [self.on_grid(ends) for ends in self.ends]

    def on_grid(self, ends: Ends) -> tuple[int, int]:
        """A center and a radius, in integers over 2^S, that hold the interval."""
        bits = sum(map(bits_of, ends))
        self.meter.pay_divisions(8, bits + self.grid, bits)
        low, high = (x * 2**self.grid for x in ends)
        center = (low + high) // 2
        return center, max(-((low - center) // 1), -((center - high) // 1), 0)

    def change(self, k: int, ends: Ends) -> None:
        """Replace an interval."""
        self.meter.hold(cells_of(8, sum(map(bits_of, ends))))
        self.trail.append((k, (self.ends[k], self.rounded[k])))
        self.ends[k], self.rounded[k] = ends, self.on_grid(ends)

    def cut(self, neuron: tuple[int, int, int], side: int) -> None:
        """Cut by a sign."""
        self.meter.hold(8)
        self.trail.append((neuron, None))
        self.signs[neuron] = side

    def inherit(self, found: JointForms | None) -> None:
        """Let intervals hold from here on; on an empty node, None, the inherited ones stay."""
        ends, pair_ends, _ = self.inherited
        cells = 8
        if found is not None:
            ends, pair_ends = found.ends, found.pair_ends
            cells += sum(cells_of(3, longest([x])) for layer in ends for x in layer)
            cells += sum(cells_of(5, longest(x)) for layer in pair_ends for x in layer)
        self.meter.hold(cells)
        self.trail.append((None, self.inherited))
        self.inherited = KeptIntervals(ends, pair_ends, cells)

    def back(self, length: int) -> None:
        """Undo changes until the given number of them is left."""
        while len(self.trail) > length:
            key, before = self.trail.pop()
            if isinstance(key, int):
                self.meter.release(cells_of(8, sum(map(bits_of, self.ends[key]))))
                self.ends[key], self.rounded[key] = before
            elif key is None:
                self.meter.release(self.inherited.cells)
                self.inherited = before
            else:
                self.meter.release(8)
                del self.signs[key]


class NodeInputs:
    """The inputs as forms in the coordinates of a domain, on the grid at a node."""

    def __init__(self, domain: Domain, meter: Meter) -> None:
        self.domain, self.meter = domain, meter
        self.bits = max([domain.scale.bit_length(), *map(bits_of_form, domain.inputs)])
        self.size = sum(map(len, domain.inputs)) + len(domain.inputs)

    def forms(self, box: NodeBox) -> InputForms:
        """Centers and coefficients of all inputs, and their sizes."""
        scale, grid, rounded = self.domain.scale, box.grid, box.rounded
        bits = longest(rounded)
        self.meter.pay_divisions(2 * self.size, bits + self.bits, self.bits)
        self.meter.hold(cells_of(4 * self.size, bits))
        centers, terms, exact = list[int](), list[list[tuple[int, int]]](), True
        for form in self.domain.inputs:
            center, rest = divmod(
                (form.get(0, 0) << grid) + sum(x * rounded[k - 1][0] for k, x in form.items() if k),
                scale,
            )
            listed = list[tuple[int, int]]()
            exact = exact and not rest
            for k, x in form.items():
                if k:
                    coefficient, rest = divmod(x * rounded[k - 1][1], scale)
                    listed.append((k - 1, coefficient))
                    exact = exact and not rest
            centers.append(center)
            terms.append(listed)
        error = 0 if exact else len(rounded) + 1
        reach = [sum(abs(x) for _, x in listed) for listed in terms]
        sizes = [abs(c) + r + error for c, r in zip(centers, reach, strict=True)]
        self.meter.release(cells_of(4 * self.size, bits))
        return InputForms(centers, terms, error, sizes, max(reach))


# -- Exact maps of a node


class ExactMap:
    """A network that is affine on a node, by the signs of all its neurons."""

    def __init__(
        self, network: Network, domain: Domain, signs: list[list[int]], meter: Meter
    ) -> None:
        self.network, self.domain, self.signs, self.meter = network, domain, signs, meter

    def of_outputs(self, weights: Sequence[int]) -> tuple[Form, int]:
        """A combination of outputs as a form in the coordinates, over a denominator."""
        depth = len(self.network.layers)
        if self.network.last == "relu":
            weights = self.masked(weights, depth)
        return self.of_layer(depth, weights)

    def masked(self, weights: Sequence[int], number: int) -> list[int]:
        """Weights of activations as weights of preactivations."""
        return [w if s > 0 else 0 for w, s in zip(weights, self.signs[number - 1], strict=True)]

    def of_layer(self, number: int, weights: Sequence[int]) -> tuple[Form, int]:
        """A combination of preactivations of a layer."""
        constant, scale, row = 0, 1, list(weights)
        for below in range(number, 0, -1):
            layer = self.network.layers[below - 1]
            bits = max(longest([row]), constant.bit_length(), scale.bit_length())
            self.meter.pay(len(layer.rows) * (len(layer.rows[0]) + 2), bits, layer.bits)
            constant = constant * layer.denominator + sum(
                w * b for w, b in zip(row, layer.bias, strict=True)
            )
            scale *= layer.denominator
            sums = [0] * len(layer.rows[0])
            for w, entries in zip(row, layer.rows, strict=True):
                if w:
                    sums = [s + w * x for s, x in zip(sums, entries, strict=True)]
            row = self.masked(sums, below - 1) if below > 1 else sums
        return self.of_inputs(row, constant, scale)

    def of_inputs(self, row: Sequence[int], constant: int, scale: int) -> tuple[Form, int]:
        """A combination of inputs and a constant over a scale."""
        inputs, common = self.domain.inputs, self.domain.scale
        size = sum(map(len, inputs)) + len(inputs)
        self.meter.pay(2 * size, longest([row]), max(common.bit_length(), longest_form(inputs)))
        found: Form = {0: constant * common}
        for w, form in zip(row, inputs, strict=True):
            if w:
                for symbol, x in form.items():
                    found[symbol] = found.get(symbol, 0) + w * x
        return found, scale * common


def longest_form(forms: Sequence[Form]) -> int:
    """The bits of the longest coefficient."""
    return max(map(bits_of_form, forms), default=0)


# -- Rows with slopes

#: The slope of a neuron of f, or the slopes of a neuron of g with its partner.
SLOPES = OneOf((("f", int, int, RATIONAL), ("g", int, int, RATIONAL, RATIONAL)))


#: The network, the layer from 1, the index.
NeuronKey = tuple[int, int, int]


class LayerWeights(NamedTuple):
    """Weights of the neurons of a layer, integers over a common denominator."""

    numbers: list[int]
    scale: int


class RelaxedRow:
    """A row on its way down the layers: weights of neurons of f and of g, and a constant."""

    def __init__(
        self,
        networks: Sequence[Network],
        layers: Sequence[GridLayer],
        forms: JointForms,
        cuts: SignCuts,
        factor: int,
        meter: Meter,
    ) -> None:
        self.networks, self.layers, self.forms, self.meter = networks, layers, forms, meter
        self.cuts, self.factor, self.constant = cuts, factor, Fraction(0)
        self.slopes = dict[NeuronKey, tuple[Fraction, Fraction]]()
        self.multiples = dict[int, list[tuple[NeuronKey, Fraction]]]()
        self.by_layer = dict[int, list[NeuronKey]]()

    def read_slopes(self, entries: Any) -> None:
        """Slopes by network, layer and index, in ascending order."""
        last = (-1, 0, 0)
        for name, number, index, *texts in entries:
            key = ("fg".index(name), number, index)
            require(last < key, "slopes in strictly ascending order")
            require(key[0] < len(self.networks), "a neuron of f", "one of g")
            network = self.networks[key[0]]
            require(1 <= number <= network.num_hidden_layers(), "a layer with a ReLU", str(number))
            width = network.widths[number]
            require(index < width, f"neurons below {width}", str(index))
            first, *rest = (self.factor * rational(text, self.meter) for text in texts)
            self.slopes[key], last = (first, rest[0] if rest else Fraction(0)), key
            self.by_layer.setdefault(number, []).append(key)

    def add_multiple(self, neuron: NeuronKey, multiple: Fraction) -> None:
        """Add a multiple of the preactivation of a neuron that was cut by sign, with the sign."""
        change = self.cuts[neuron] * multiple * self.factor
        self.multiples.setdefault(neuron[1], []).append((neuron, change))

    def to_inputs(self, weights: Sequence[LayerWeights]) -> list[LayerWeights]:
        """Weights of inputs that are above weights of outputs, up to the constant."""
        parts = list(weights)
        for number in range(len(self.layers), 0, -1):
            if self.layers[number - 1].is_hidden:
                parts = self.below_relu(number, parts)
            pairs = zip(self.networks, parts, strict=True)
            parts = [self.below(network.layers[number - 1], part) for network, part in pairs]
        return parts

    def below(self, layer: Layer, part: LayerWeights) -> LayerWeights:
        """Weights of what a layer reads; its biases go into the constant."""
        row, scale = part
        self.meter.units(6_000)
        bits = max(longest([row]), scale.bit_length())
        self.meter.pay(len(layer.rows) * (len(layer.rows[0]) + 2), bits, layer.bits)
        bias = sum(w * b for w, b in zip(row, layer.bias, strict=True))
        self.add(Fraction(bias, scale * layer.denominator))
        sums = [0] * len(layer.rows[0])
        for w, entries in zip(row, layer.rows, strict=True):
            if w:
                sums = [s + w * x for s, x in zip(sums, entries, strict=True)]
        return LayerWeights(sums, scale * layer.denominator)

    def add(self, number: Fraction) -> None:
        """Add to the constant."""
        self.meter.pay_divisions(6, bits_of(number), bits_of(self.constant))
        self.constant += number

    def below_relu(self, number: int, parts: Sequence[LayerWeights]) -> list[LayerWeights]:
        """Weights of preactivations that are above weights of activations."""
        rest = [list(part.numbers) for part in parts]
        above = [dict[int, Fraction]() for _ in parts]
        listed = self.by_layer.get(number, [])
        for key in sorted(listed, key=lambda key: -key[0]):  # g first: its neurons have partners
            self.replace(key, parts, rest, above)
        for (which, _, index), change in self.multiples.get(number, []):
            above[which][index] = above[which].get(index, Fraction(0)) + change
        signs = self.forms.signs[number - 1]
        found = list[LayerWeights]()
        for part, numbers, new, known in zip(parts, rest, above, signs, strict=False):
            for i, sign in enumerate(known):
                fact = "slopes of all open neurons"
                require(sign != 0 or not numbers[i], fact, f"none of neuron {i}")
                numbers[i] = numbers[i] if sign > 0 else 0
            found.append(self.joined(LayerWeights(numbers, part.scale), new))
        return found

    def joined(self, part: LayerWeights, new: dict[int, Fraction]) -> LayerWeights:
        """Weights with fractions added to some of them."""
        meter, (numbers, scale) = self.meter, part
        fractions = [Fraction(1, scale), *new.values()]
        common = common_denominator(fractions, "a common denominator of slopes", meter)
        bits = max(longest([numbers]), *map(bits_of, fractions), common.bit_length())
        meter.pay(len(numbers) + 4 * len(new), bits, common.bit_length())
        row = [x * (common // scale) for x in numbers]
        for i, x in new.items():
            row[i] += x.numerator * (common // x.denominator)
        return LayerWeights(row, common)

    def replace(
        self,
        key: NeuronKey,
        parts: Sequence[LayerWeights],
        rest: list[list[int]],
        above: list[dict[int, Fraction]],
    ) -> None:
        """Replace the activations of a neuron, and of its partner, by slopes and a constant."""
        which, number, index = key
        ends = [self.layers[number - 1].partners[index], index] if which else [index]
        weights = [Fraction(0), Fraction(0)]
        for k, i in enumerate(ends):
            if i >= 0:
                weights[k] = Fraction(rest[k][i], parts[k].scale)
                rest[k][i] = 0
                above[k][i] = above[k].get(i, Fraction(0)) + self.slopes[key][k]
        self.add(self.largest(key, weights))

    def largest(self, key: NeuronKey, weights: Sequence[Fraction]) -> Fraction:
        """The largest s max(z, 0) + t max(z', 0) - P z - Q z' at the corners."""
        which, number, index = key
        (s, t), (p, q) = weights, self.slopes[key]
        if which:
            scale = self.layers[number - 1].scales[index]
            corners = corners_of_pair(*self.forms.pair_ends[number - 1][index])
            t, q = t * scale, q * scale
        else:
            low, high = self.forms.ends[number - 1][index]
            corners = [(x, 0) for x in (low, high, 0) if low <= x <= high]
        numbers = (s, t, p, q)
        common = common_denominator(numbers, "a common denominator of slopes", self.meter)
        bits = sum(map(bits_of, numbers))
        self.meter.pay(8 * len(corners) + 8, bits, longest(corners) + common.bit_length())
        a, b, c, e = (x.numerator * (common // x.denominator) for x in numbers)
        best = max(a * max(x, 0) + b * max(y, 0) - c * x - e * y for x, y in corners)
        return Fraction(best, common << self.forms.grid)


def corners_of_pair(z: Interval, d: Interval, y: Interval) -> list[tuple[int, int]]:
    """All vertices of the polygon of z, y and y - z, cut at z = 0 and at y = 0."""
    found = [(x, t) for x in (*z, 0) for t in (*y, 0, x + d[0], x + d[1])]
    found += [(t - step, t) for t in (*y, 0) for step in d]
    return [
        (x, t)
        for x, t in found
        if z[0] <= x <= z[1] and y[0] <= t <= y[1] and d[0] <= t - x <= d[1]
    ]


# -- Clauses


class ClauseRow(NamedTuple):
    """A row of a claim times `scale`, which makes its coefficients integers."""

    f: tuple[tuple[int, int], ...]
    g: tuple[tuple[int, int], ...]
    x: tuple[tuple[int, int], ...]
    constant: Fraction
    is_strict: bool
    scale: int = 1

    def holds(self, value: Fraction) -> bool:
        """Whether a row with this largest value holds."""
        return value < 0 if self.is_strict else value <= 0


Clauses = list[list[ClauseRow]]


def clauses_of(case: Case, domain: Domain) -> Clauses:
    """What the claim says at every point, and its conditions on numbers."""
    claim, meter = case.claim, case.meter
    meter.step = "claim"
    if claim["kind"] == "deviation":
        return clauses_of_deviation(claim, case.network, meter)
    if claim["kind"] == "range":
        return clauses_of_range(claim, case.network, meter)
    if claim["kind"] == "same-decisions":
        return clauses_of_decisions(claim, case.network, meter)
    other = case.other if "other" in claim else None
    require(bool(claim["clauses"]), "a clause", "none")
    require(all(claim["clauses"]), "clauses that have rows", "one without")
    return [
        [read_row(row, case.network, other, len(domain.inputs), meter) for row in clause]
        for clause in claim["clauses"]
    ]


def clauses_of_deviation(claim: Any, f: Network, meter: Meter) -> Clauses:
    """f_i - g_i and g_i - f_i are at most the bound."""
    listed = claim["outputs"]
    require(bool(listed), "an output", "none")
    check_indices(listed, f.widths[-1], "outputs")
    bound, found = rational(claim["at-most"], meter), Clauses()
    meter.hold(40 * len(listed))
    for i in listed:
        for s in (1, -1):
            found.append([ClauseRow(((i, s),), ((i, -s),), (), -bound, is_strict=False)])
    return found


def clauses_of_range(claim: Any, f: Network, meter: Meter) -> Clauses:
    """p - f_i and f_i - s are at most 0."""
    entries, found = claim["outputs"], Clauses()
    require(bool(entries), "an output", "none")
    check_indices([i for i, _, _ in entries], f.widths[-1], "outputs")
    meter.hold(40 * len(entries))
    for i, low, high in entries:
        least, most = rational(low[0], meter), rational(high[1], meter)
        found.append([ClauseRow(((i, -1),), (), (), least, is_strict=False)])
        found.append([ClauseRow(((i, 1),), (), (), -most, is_strict=False)])
    return found


def clauses_of_decisions(claim: Any, f: Network, meter: Meter) -> Clauses:
    """Where output i of f exceeds all others by more than the margin, g_j < g_i for all j.

    With `choose`, the same is said of the negatives of all outputs: the smallest one is chosen.
    """
    sign = -1 if "choose" in claim else 1
    count, margin = f.widths[-1], rational(claim["margin"], meter)
    require(count > 1, "two outputs or more", str(count))
    require(margin >= 0, "a margin that is not negative", quote(claim["margin"]))
    meter.units(400 * count * count * count)
    meter.hold(20 * count * count + count * count * count)
    clear = {
        (i, k): ClauseRow(((i, sign), (k, -sign)), (), (), -margin, is_strict=False)
        for i in range(count)
        for k in range(count)
        if k != i
    }
    found = Clauses()
    for i in range(count):
        rows = [clear[i, k] for k in range(count) if k != i]
        for j in range(count):
            if j != i:
                less = ClauseRow((), ((j, sign), (i, -sign)), (), Fraction(0), is_strict=True)
                found.append([*rows, less])
    return found


def read_row(row: Any, f: Network, g: Network | None, num_inputs: int, meter: Meter) -> ClauseRow:
    """A row of the claim holds, over a common denominator of its coefficients."""
    sizes = {"f": f.widths[-1], "g": g.widths[-1] if g else 0, "x": num_inputs}
    read = dict[str, list[tuple[int, Fraction]]]()
    for key, size in sizes.items():
        check_indices([i for i, _ in row[key]], size, f"indices of {key}")
        read[key] = [(i, rational(text, meter)) for i, text in row[key]]
    numbers = [x for pairs in read.values() for _, x in pairs]
    scale = common_denominator(numbers, "a common denominator of a row", meter)
    meter.pay(len(numbers) + 1, scale.bit_length(), scale.bit_length())
    meter.hold(40 + 10 * len(numbers))
    f_row, g_row, x_row = (tuple((i, int(x * scale)) for i, x in read[key]) for key in sizes)
    constant = rational(row["constant"], meter) * scale
    return ClauseRow(f_row, g_row, x_row, constant, row["is"] == "<0", scale)


# -- Points


def check_points(case: Case, domain: Domain) -> None:
    """The points belong to the domain, and have the values that the claim needs."""
    claim, meter, kind = case.claim, case.meter, case.claim["kind"]
    points = [rationals(point, meter) for point in case.hypothesis("points")]
    count = 2 * len(claim["outputs"]) if kind == "range" else 1
    require(len(points) == count, f"{count} points", str(len(points)))
    for x in points:
        domain.check_point(x, meter)
    if kind == "deviation":
        bound, listed = rational(claim["at-least"], meter), claim["outputs"]
        f, g = (outputs(network, points[0], meter) for network in (case.network, case.other))
        reached = max(abs(f[i] - g[i]) for i in listed)
        require(reached >= bound, f"a difference of at least {quote(claim['at-least'])}", "less")
    if kind == "range":
        values = [outputs(case.network, x, meter) for x in points]
        for (i, low, high), least, most in zip(
            claim["outputs"], values[::2], values[1::2], strict=True
        ):
            fits = least[i] <= rational(low[1], meter) and most[i] >= rational(high[0], meter)
            require(fits, "values of the outputs at the points as claimed", f"output {i}")


# -- Backward bounds


class BackwardRows:
    """The rows of all layers of f and of g, each with its bias, packed for sums of their multiples.

    They are packed when they are needed; `held` are the cells of memory that they take then. The
    rows of Delta are among them once joint bounds need them.
    """

    def __init__(self, layers: Sequence[GridLayer], meter: Meter) -> None:
        self.layers, self.meter, self.held = layers, meter, 0
        self.bits = self.slot = 0
        self.kinds: tuple[int, ...] = (0, 1)
        self.packed = list[list[list[int]]]()
        self.packings = list[list[Packing]]()

    def width(self, which: int, number: int) -> int:
        """The number of neurons of a layer of f or of g."""
        layer = self.layers[number - 1]
        return len(layer.partners if which else layer.own.rows)

    def add_changes(self) -> None:
        """Pack the rows of Delta too, from the next sum on."""
        if self.kinds == (0, 1):
            self.kinds, self.slot = (0, 1, 2), 0

    def make_room(self, bits: int) -> None:
        """Make the slots long enough for sums of multiples by numbers of these bits."""
        if self.slot and bits + self.bits <= self.slot:
            return
        rows = [[rows_and_biases(layer, which) for layer in self.layers] for which in self.kinds]
        parts = [part for network in rows for part in network if part]
        self.bits = max(longest(part) + len(part).bit_length() for part in parts) + 2
        message = f"beyond the limits: numbers of more than {GROWN_BITS} bits"
        well_formed(bits + self.bits <= GROWN_BITS, message)
        self.slot = bits + self.bits + SPARE_BITS + 7 & ~7
        size = sum(len(part) * len(part[0]) for part in parts)
        self.meter.pay(4 * size, self.slot)
        self.meter.hold(cells_of(size, self.slot) - self.held)
        self.held = cells_of(size, self.slot)
        self.packings = [[Packing(self.slot, len(x[0])) for x in part if x] for part in rows]
        self.packed = [
            [
                list(map(packing.pack, part))
                for packing, part in zip(packings, network, strict=False)
            ]
            for packings, network in zip(self.packings, rows, strict=True)
        ]

    def below(
        self, which: int, number: int, weights: Sequence[int], grid: int
    ) -> tuple[list[int], int]:
        """Weights of the activations below a layer, and what its biases add to the constant."""
        bits, layer = longest([weights]), self.layers[number - 1]
        self.make_room(bits)
        packed, packing = self.packed[which][number - 1], self.packings[which][number - 1]
        used = [(w, row) for w, row in zip(weights, packed, strict=True) if w]
        self.meter.units(8_000)
        self.meter.pay(len(used), self.slot * packing.count, bits)
        self.meter.pay(4 * packing.count + len(weights), self.slot)
        total, slack = -sum([w * row for w, row in used]), 0
        if not (layer.is_other_exact if which else layer.is_own_exact):
            slack = -(-sum([w for w, _ in used if w > 0]) >> grid)
        found = [slack - x for x in packing.digits(packing.floored(total, grid))]
        return found[:-1], found[-1]

    def below_both(
        self, number: int, on_z: Sequence[int], on_d: Sequence[int], sizes: int, grid: int
    ) -> tuple[list[int], list[int], int]:
        """Weights of activations of f and of differences below a layer, and the constant.

        They are made of weights of preactivations of f and of differences; `sizes` is the sum of
        the sizes of the differences below.
        """
        bits = longest([on_z, on_d])
        self.make_room(bits)
        packing, other = self.packings[0][number - 1], self.packings[1][number - 1]
        tables = (on_z, self.packed[0]), (on_d, self.packed[2]), (on_d, self.packed[1])
        parts = [
            [(w, row) for w, row in zip(weights, table[number - 1], strict=True) if w]
            for weights, table in tables
        ]
        self.meter.units(16_000)
        self.meter.pay(len(parts[0]) + len(parts[1]), self.slot * packing.count, bits)
        self.meter.pay(len(parts[2]), self.slot * other.count, bits)
        self.meter.pay(4 * (packing.count + other.count) + len(on_z) + len(on_d), self.slot)
        total = -sum([w * row for part in parts[:2] for w, row in part])
        slack = -(-sum([w for w in (*on_z, *on_d) if w > 0]) >> grid)
        found = [slack - x for x in packing.digits(packing.floored(total, grid))]
        total = -sum([w * row for w, row in parts[2]])
        others = [-x for x in other.digits(other.floored(total, grid))][:-1]
        rest = 1 - (-sum(map(abs, on_d)) >> grid)
        return found[:-1], others, found[-1] - (-rest * sizes >> grid)


def rows_and_biases(layer: GridLayer, which: int) -> list[list[int]]:
    """The rows of a layer of f, of g, or of Delta, each with its bias or its delta."""
    rows, bias = (
        (layer.own, layer.bias),
        (layer.by_differences, layer.other_bias),
        (layer.by_values, layer.shift),
    )[which]
    return [[*row, b] for row, b in zip(rows.rows, bias, strict=True)]


class FirstForms(NamedTuple):
    """The preactivations of layer 1 of f or of g: centers, coefficients, one error, their bits."""

    centers: list[int]
    coefficients: list[list[int]]
    error: int
    bits: int


class OpenNeuron(NamedTuple):
    """An open neuron: its index, its interval, the slope of its chord, the slope below it."""

    place: int
    low: int
    high: int
    slope: int
    lower: int


class ReluLayer(NamedTuple):
    """A layer of ReLUs: 1 for neurons with the sign 1, the open ones, the bits of intervals."""

    on: list[int]
    open: list[OpenNeuron]
    bits: int


def relu_layer(intervals: Sequence[Interval]) -> ReluLayer:
    """The layer of ReLUs with these intervals."""
    found = [
        OpenNeuron(i, *ends, slope_of(ends), int(ends[1] > -ends[0]))
        for i, ends in enumerate(intervals)
        if not sign_of(ends)
    ]
    on = [int(sign_of(ends) > 0) for ends in intervals]
    return ReluLayer(on, found, longest([x.low, x.high] for x in found))


class Backward(NamedTuple):
    """An upper bound over 2^(2S): a constant over 2^S, center and coefficients, and an error."""

    constant: int
    center: int
    coefficients: list[int]
    error: int

    def bound(self, grid: int) -> int:
        """The bound."""
        return (self.constant << grid) + self.center + sum(map(abs, self.coefficients)) + self.error


def sum_of_bounds(parts: Sequence[Backward]) -> Backward:
    """The sum of bounds; a constant has no coefficients."""
    rows = [part.coefficients for part in parts if part.coefficients]
    return Backward(
        sum(part.constant for part in parts),
        sum(part.center for part in parts),
        [sum(column) for column in zip(*rows, strict=True)],
        sum(part.error for part in parts),
    )


class BackwardForms(JointForms):
    """The forms of a leaf `backward`: open neurons get further bounds, layer by layer.

    `firsts` are the forms of layer 1 of f and of g, `relus` the layers of their ReLUs.
    """

    def __init__(
        self, inputs: InputForms, count: int, grid: int, slot: int, rows: BackwardRows
    ) -> None:
        super().__init__(inputs, count, grid, slot, rows.meter)
        self.rows, self.firsts = rows, list[FirstForms]()
        self.relus: tuple[list[ReluLayer], list[ReluLayer]] = ([], [])

    def see(self, number: int, layer: GridLayer, z: FormList, d: FormList) -> None:
        """Keep the forms of the first layer."""
        if number > 1:
            return
        packing, slot = self.packing, self.packing.slot
        size = (packing.count + 1) * (len(z.centers) + len(d.centers))
        self.meter.pay(4 * size, slot)
        self.meter.hold(cells_of(size, slot))
        own, centers = [packing.digits(x) for x in z.packed], list(d.centers)
        others = [packing.digits(x) for x in d.packed]
        for m, place in enumerate(layer.partners):
            if place >= 0:
                centers[m] += z.centers[place]
                others[m] = [x + y for x, y in zip(others[m], own[place], strict=True)]
        for listed, rows, error in (
            (z.centers, own, z.error),
            (centers, others, z.error + d.error),
        ):
            bits = max(longest([listed]), longest(rows), error.bit_length())
            self.firsts.append(FirstForms(listed, rows, error, bits))

    def activate(
        self, number: int, layer: GridLayer, z: FormList, d: FormList, cuts: SignCuts
    ) -> None:
        """The activations of a hidden layer, and their differences."""
        super().activate(number, layer, z, d, cuts)
        self.relus[0].append(relu_layer(self.ends[-1]))
        self.relus[1].append(relu_layer([y for _, _, y in self.pair_ends[-1]]))

    def narrowed(self, which: int, number: int, index: int, ends: Interval) -> Interval:
        """The interval of a neuron; an open one of a later layer is bounded backwards."""
        if number == 1 or sign_of(ends):
            return ends
        return nonempty(intersection(ends, self.bounds(which, number, index)))

    def bounds(self, which: int, number: int, index: int) -> Interval:
        """The backward bounds of a neuron."""
        found = list[int]()
        for side in (1, -1):
            weights = [0] * self.rows.width(which, number)
            weights[index] = side << self.grid
            found.append(-(-self.descended(which, number, weights).bound(self.grid) >> self.grid))
        return -found[1], found[0]

    def narrowed_pair(
        self, number: int, index: int, z: Interval, d: Interval, y: Interval
    ) -> Interval:
        """The interval of a neuron of g, which is the sum of its partner and the change."""
        ends = nonempty(intersection(y, (z[0] + d[0], z[1] + d[1])))
        return self.narrowed(1, number, index, ends)

    def descended(self, which: int, number: int, weights: list[int]) -> Backward:
        """The bound of weights over 2^S of the preactivations of a layer of f or of g."""
        constant = 0
        for above in range(number, 1, -1):
            weights, added = self.rows.below(which, above, weights, self.grid)
            weights, more = self.below_relu(which, above - 1, weights)
            constant += added + more
        first = self.firsts[which]
        used = [(w, i) for i, w in enumerate(weights) if w]
        width = len(first.coefficients[0])
        self.meter.units(8_000)
        self.meter.pay((len(used) + 1) * (width + 4), longest([weights]), first.bits)
        sums, center = [0] * width, 0
        for w, i in used:
            sums = [x + w * y for x, y in zip(sums, first.coefficients[i], strict=True)]
            center += w * first.centers[i]
        return Backward(constant, center, sums, first.error * sum(abs(w) for w, _ in used))

    def below_relu(self, which: int, number: int, weights: Sequence[int]) -> tuple[list[int], int]:
        """Weights of preactivations above weights of activations, and what the constant grows."""
        layer, total = self.relus[which][number - 1], 0
        self.meter.units(6_000)
        self.meter.pay(len(weights) + 8 * len(layer.open), longest([weights]), layer.bits)
        found = [w if on else 0 for w, on in zip(weights, layer.on, strict=True)]
        for i, low, high, slope, lower in layer.open:
            w = weights[i]
            if w <= 0:
                found[i] = w * lower
                continue
            found[i] = w * slope >> SLOPE
            total += max(-found[i] * low, (w - found[i]) * high)
        return found, -(-total >> self.grid)

    def upper_bound(self, row: ClauseRow) -> Fraction:
        """The backward bound of a row."""
        grid, number, parts = self.grid, len(self.rows.layers), [self.of_inputs(row)]
        for which, listed in enumerate((row.f, row.g)):
            if not listed:
                continue
            weights = [0] * self.rows.width(which, number)
            for i, w in listed:
                weights[i] = w << grid
            if len(self.relus[which]) == number:
                weights, more = self.below_relu(which, number, weights)
                parts.append(Backward(more, 0, [], 0))
            parts.append(self.descended(which, number, weights))
        return Fraction(sum_of_bounds(parts).bound(grid), 1 << 2 * grid) + row.constant

    def of_inputs(self, row: ClauseRow) -> Backward:
        """What the inputs of a row add to its bound."""
        grid, inputs = self.grid, self.inputs
        size = len(row.f) + len(row.g) + sum(1 + len(inputs.terms[j]) for j, _ in row.x)
        bits = longest([w for _, w in part] for part in (row.f, row.g, row.x))
        self.meter.pay(4 * size + 30, 2 * grid, bits)
        sums, center, error = [0] * len(self.firsts[0].coefficients[0]), 0, 0
        for j, w in row.x:
            center += w * inputs.centers[j] << grid
            error += abs(w) * inputs.error << grid
            for k, x in inputs.terms[j]:
                sums[k] += w * x << grid
        return Backward(0, center, sums, error)


# -- Joint bounds

#: A line P z + Q D + M over FULL.
Line = tuple[int, int, int]


class PairLines(NamedTuple):
    """Lines above and below the difference of a pair, the partner, and what roundings add."""

    above: Line
    below: Line
    place: int
    spare: int


class PairLayer(NamedTuple):
    """The lines of all pairs of a layer, the sum of the sizes of differences, and the bits."""

    lines: list[PairLines]
    sizes: int
    bits: int


def lower_slope(ends: Interval) -> int:
    """The slope of the better line through 0 below max(z, 0)."""
    sign = sign_of(ends)
    return FULL if sign > 0 or (sign == 0 and ends[1] > -ends[0]) else 0


def nearest_line(
    side: int,
    slopes: Sequence[tuple[int, int]],
    points: Sequence[tuple[int, int, int]],
    z: Interval,
    d: Interval,
) -> Line:
    """The line above (1) or below (-1) all points that is nearest in the middle."""
    found = list[Line]()
    for p, q in slopes:
        rest = [value - p * x - q * t for value, x, t in points]
        found.append((p, q, max(rest) if side > 0 else min(rest)))
    return min(found, key=lambda line: side * (line[0] * sum(z) + line[1] * sum(d) + 2 * line[2]))


def pair_lines(z: Interval, d: Interval, y: Interval, place: int) -> PairLines:
    """The lines of a pair."""
    if sign_of(z) and sign_of(y):
        line = (*decided_slopes(z, y), 0)
        return PairLines(line, line, place, 0)
    points, chord = differences_at_corners(z, d, y), slope_of(d)
    above = [(0, chord), (slope_of(y) - lower_slope(z), slope_of(y))]
    below = [(0, FULL - chord), (lower_slope(y) - slope_of(z), lower_slope(y))]
    lines = nearest_line(1, above, points, z, d), nearest_line(-1, below, points, z, d)
    return PairLines(*lines, place, max(z[1], 0) + max(d[1], 0))


def consistent(z: Interval, d: Interval, y: Interval) -> tuple[Interval, Interval]:
    """The intervals of D = y - z, and then of y = z + D, given all three."""
    d = nonempty(intersection(d, (y[0] - z[1], y[1] - z[0])))
    return d, nonempty(intersection(y, (z[0] + d[0], z[1] + d[1])))


class JointBackwardForms(BackwardForms):
    """The forms of a leaf `joint`: differences of open pairs get further bounds as well.

    `pairs_below` are the layers of ReLUs of both networks, `places` the partners in layer 1.
    """

    def see(self, number: int, layer: GridLayer, z: FormList, d: FormList) -> None:
        """Keep the forms of the first layer, and begin a list of layers."""
        super().see(number, layer, z, d)
        if number == 1:
            self.rows.add_changes()
            self.pairs_below = list[PairLayer]()
            self.places = layer.partners

    def activate(
        self, number: int, layer: GridLayer, z: FormList, d: FormList, cuts: SignCuts
    ) -> None:
        """The activations of a hidden layer, and their differences."""
        super().activate(number, layer, z, d, cuts)
        self.add_lines(layer)

    def add_lines(self, layer: GridLayer) -> None:
        """Find the lines of all pairs of a layer, from their intervals."""
        ends = self.pair_ends[-1]
        self.meter.units(8_000 * len(ends))
        lines = [
            pair_lines(*entry, place) for entry, place in zip(ends, layer.partners, strict=True)
        ]
        sizes = sum(max(-low, high) for _, (low, high), _ in ends)
        bits = longest([*line.above, *line.below, line.spare] for line in lines)
        self.pairs_below.append(PairLayer(lines, sizes, bits))

    def narrowed_change(
        self, number: int, index: int, z: Interval, d: Interval, y: Interval
    ) -> tuple[Interval, Interval]:
        """The intervals of the change, which is bounded backwards, and of a neuron of g."""
        if number > 1 and not (sign_of(z) and sign_of(y)):
            d = intersection(d, self.bounds_of_change(number, index))
        return consistent(z, d, y)

    def bounds_of_change(self, number: int, index: int) -> Interval:
        """The joint bounds of the difference of a neuron of g from its partner."""
        found = list[int]()
        for side in (1, -1):
            on_z = [0] * self.rows.width(0, number)
            on_d = [0] * self.rows.width(1, number)
            on_d[index] = side << self.grid
            bound = self.both_descended(number, on_z, on_d).bound(self.grid)
            found.append(-(-bound >> self.grid))
        return -found[1], found[0]

    def both_descended(self, number: int, on_z: Sequence[int], on_d: Sequence[int]) -> Backward:
        """The bound of weights over 2^S of the preactivations of f and of the differences."""
        constant = 0
        for above in range(number, 1, -1):
            sizes = self.pairs_below[above - 2].sizes
            on_a, on_change, more = self.rows.below_both(above, on_z, on_d, sizes, self.grid)
            constant += more
            on_z, on_d, more = self.below_pairs(above - 1, on_a, on_change)
            constant += more
        # D is Y - Z: a weight of D is a weight of Y, and is taken off the one of the partner.
        moved = list(on_z)
        for w, place in zip(on_d, self.places, strict=True):
            if place >= 0:
                moved[place] -= w
        one, two = self.descended(0, 1, moved), self.descended(1, 1, list(on_d))
        sums = [x + y for x, y in zip(one.coefficients, two.coefficients, strict=True)]
        own = self.firsts[0].error
        error = own * sum(map(abs, on_z)) + (self.firsts[1].error - own) * sum(map(abs, on_d))
        return Backward(constant, one.center + two.center, sums, error)

    def below_pairs(
        self, number: int, on_a: Sequence[int], on_change: Sequence[int]
    ) -> tuple[list[int], list[int], int]:
        """Weights of preactivations and of differences, and what the constant grows."""
        layer, total = self.pairs_below[number - 1], 0
        on_z, constant = self.below_relu(0, number, on_a)
        self.meter.units(6_000)
        self.meter.pay(4 * len(on_change), longest([on_change]), layer.bits)
        on_d = [0] * len(on_change)
        for m, (w, pair) in enumerate(zip(on_change, layer.lines, strict=True)):
            if w:
                p, q, r = pair.above if w > 0 else pair.below
                on_d[m] = w * q >> SLOPE
                total += pair.spare - (-w * r >> SLOPE)
                if pair.place >= 0:
                    on_z[pair.place] += w * p >> SLOPE
        return on_z, on_d, constant - (-total >> self.grid)

    def upper_bound(self, row: ClauseRow) -> Fraction:
        """The better one of the backward and of the joint bound of a row."""
        found, number, grid = super().upper_bound(row), len(self.rows.layers), self.grid
        if not self.places:  # one network has no differences
            return found
        on_d = [0] * self.rows.width(1, number)
        on_z = [0] * self.rows.width(0, number)
        for i, w in row.g:
            on_d[i] = w << grid
        for i, w in (*row.f, *row.g):
            on_z[i] += w << grid
        constant = 0
        if len(self.pairs_below) == number:
            on_z, on_d, constant = self.below_pairs(number, on_z, on_d)
        parts = self.both_descended(number, on_z, on_d), self.of_inputs(row)
        bound = (constant << grid) + sum_of_bounds(parts).bound(grid)
        return min(found, Fraction(bound, 1 << 2 * grid) + row.constant)


# -- Inherited intervals


class InheritedForms(JointBackwardForms):
    """The intervals of a leaf `inherited` or a record `intervals`, with forms of layer 1 only.

    `above` has the intervals that are inherited. A neuron whose sign follows from them, and a pair
    with two such neurons, gets no further bounds.
    """

    def __init__(
        self,
        inputs: InputForms,
        count: int,
        grid: int,
        slot: int,
        rows: BackwardRows,
        above: KeptIntervals,
    ) -> None:
        super().__init__(inputs, count, grid, slot, rows)
        self.above = above

    def run(self, layers: Sequence[GridLayer], cuts: SignCuts) -> None:
        """Find the intervals of all layers, from the forms of the first one."""
        z, d = self.forms_of(layers[0])
        self.see(1, layers[0], z, d)
        for number, layer in enumerate(layers, 1):
            if layer.is_hidden:
                self.bound_layer(number, layer, z, d, cuts)

    def bound_layer(
        self, number: int, layer: GridLayer, z: FormList, d: FormList, cuts: SignCuts
    ) -> None:
        """Find the intervals of a layer; `z` and `d` are the forms of the first one."""
        self.meter.units(4_000 * (len(layer.bias) + len(layer.partners) + 2))
        ends, pairs = list[Interval](), list[PairEnds]()
        for i in range(len(layer.bias)):
            ends.append(self.bounded(0, number, i, self.given(number, i, z), cuts))
            self.meter.hold(cells_of(6, longest(ends[-1:])))
        for m, place in enumerate(layer.partners):
            own = ends[place] if place >= 0 else (0, 0)
            pairs.append((own, *self.pair(number, m, own, self.given_pair(number, m, z, d), cuts)))
            self.meter.hold(cells_of(15, longest(pairs[-1])))
        self.ends.append(ends)
        self.pair_ends.append(pairs)
        self.relus[0].append(relu_layer(ends))
        self.relus[1].append(relu_layer([y for _, _, y in pairs]))
        self.add_lines(layer)

    def given(self, number: int, i: int, z: FormList) -> Interval | None:
        """What is known of a neuron of f without bounds: by its form, and inherited."""
        known = self.above.ends[number - 1][i] if self.above.ends else None
        if number > 1:
            return known
        return narrower(around(z.centers[i], self.packing.radius(z.packed[i]) + z.error), known)

    def given_pair(
        self, number: int, m: int, z: FormList, d: FormList
    ) -> tuple[Interval, Interval] | None:
        """The same for the difference of a neuron of g from its partner, and for the neuron."""
        known = self.above.pair_ends[number - 1][m][1:] if self.above.ends else None
        if number > 1:
            return known
        radius, place, center, packed = self.packing.radius, self.places[m], 0, 0
        if place >= 0:
            center, packed = z.centers[place], z.packed[place]
        change = around(d.centers[m], radius(d.packed[m]) + d.error)
        reach = radius(d.packed[m] + packed) + z.error + d.error
        y = around(d.centers[m] + center, reach)
        if known is None:
            return change, y
        return intersection(change, known[0]), intersection(y, known[1])

    def bounded(
        self, which: int, number: int, index: int, given: Interval | None, cuts: SignCuts
    ) -> Interval:
        """The interval of a neuron, with backward bounds if it is unknown, or open in later layers.

        Unknown are only intervals of later layers.
        """
        side = cuts.get((which, number, index), 0)
        ends = None if given is None else cut_by_sign(given, side)
        if ends is None or (number > 1 and not sign_of(ends)):
            ends = cut_by_sign(narrower(self.bounds(which, number, index), ends), side)
        return nonempty(ends)

    def pair(
        self,
        number: int,
        m: int,
        own: Interval,
        given: tuple[Interval, Interval] | None,
        cuts: SignCuts,
    ) -> tuple[Interval, Interval]:
        """The intervals of the difference and of a neuron of g, given its partner's interval."""
        if given is None:
            y = self.bounded(1, number, m, None, cuts)
            return consistent(own, self.bounds_of_change(number, m), y)
        change, y = given
        y = cut_by_sign(y, cuts.get((1, number, m), 0))
        y = nonempty(narrower(y, (own[0] + change[0], own[1] + change[1])))
        y = self.bounded(1, number, m, y, cuts)
        if number > 1 and not (sign_of(own) and sign_of(y)):
            change = narrower(change, self.bounds_of_change(number, m))
        return consistent(own, change, y)


def around(center: int, reach: int) -> Interval:
    """The interval around a center."""
    return center - reach, center + reach


def narrower(one: Interval, two: Interval | None) -> Interval:
    """What an interval has in common with another one, if there is one."""
    return one if two is None else intersection(one, two)


# -- Leaves

LISTED_MULTIPLES = [(int, int, [(int, RATIONAL)])]
LISTED_SLOPES = [(int, int, [(int, RATIONAL)], [SLOPES])]
MARKED, RELAXED = re.compile("bounded|exact"), re.compile("relaxed|shown")
PLAIN = re.compile("open|backward|joint|inherited|intervals")
CUT_NODES = OneOf(
    (
        (),
        (int,),
        (int, RATIONAL),
        (re.compile("[fg]"), int, int),
        (MARKED, LISTED_MULTIPLES),
        (RELAXED, LISTED_SLOPES),
        (PLAIN,),
    )
)
#: Multiples of inequalities of the domain and of cuts by sign, each with its number.
NumberedMultiples = list[tuple[int, Fraction]]


class WaitingNode(NamedTuple):
    """A node that comes later: how many cuts lead to its parent, and the cut between them.

    `key` is a coordinate, with its new interval as `what`; a neuron, with its sign; or None, where
    a record `shown` or `intervals` has no cut below it. `shown` has the bits of the clauses that
    hold above it.
    """

    length: int
    key: Any
    what: Any
    shown: int


class BoundsTree:
    """A walk through all nodes; memory grows with the depth, not with the tree."""

    def __init__(
        self,
        case: Case,
        domain: Domain,
        layers: list[GridLayer],
        clauses: Clauses,
        leaf: type[Leaf],
    ) -> None:
        self.case, self.domain, self.layers, self.clauses = case, domain, layers, clauses
        self.leaf = leaf
        self.meter, self.grid = case.meter, case.evidence["grid"]
        self.box = NodeBox(domain, self.grid, self.meter)
        self.inputs = NodeInputs(domain, self.meter)
        self.networks = [case.network, case.other] if "other" in case.claim else [case.network]
        self.excluded = self.read_excluded(case.claim.get("except", []))
        self.slot, self.num_open = 2 * self.grid + 31 & ~7, 0
        self.num_rows, self.rows = sum(map(len, clauses)), BackwardRows(layers, self.meter)
        self.meter.hold(cells_of(1, len(clauses)))
        self.all_shown = (1 << len(clauses)) - 1

    def read_excluded(self, boxes: Any) -> list[list[Ends]]:
        """The boxes of the claim about which nothing is said."""
        found, size = list[list[Ends]](), len(self.box.ends)
        for box in boxes:
            ends = [rationals(box[key], self.meter) for key in ("lower", "upper")]
            good = len(ends[0]) == len(ends[1]) == size
            require(good, f"boxes of {size} coordinates", "other numbers")
            num_characters = sum(map(len, (*box["lower"], *box["upper"])))
            self.meter.hold(8 * size + num_characters // 64)
            found.append(list(zip(*ends, strict=True)))
        return found

    def check(self) -> int:
        """Check all nodes in prefix order; their number."""
        waiting, num_nodes = [WaitingNode(0, None, None, 0)], 0
        while waiting:
            length, key, what, shown = waiting.pop()
            self.box.back(length)
            if isinstance(key, int):
                self.box.change(key, what)
            elif key is not None:
                self.box.cut(key, what)
            waiting += self.visit(shown)
            num_nodes += 1
        got = f"{len(self.excluded)} boxes"
        require(self.num_open == len(self.excluded), f"{self.num_open} open nodes", got)
        return num_nodes

    def visit(self, shown: int) -> list[WaitingNode]:
        """Read a node, and close it, or return what is below it, the next node last."""
        depth = len(self.box.trail)
        message = f"beyond the limits: more than {MAX_DEPTH} cuts or intervals below one another"
        well_formed(depth <= MAX_DEPTH, message)
        record = self.case.lines.read()
        fit(record, CUT_NODES, self.meter.step)
        self.meter.units(20_000)
        if record and isinstance(record[0], int):
            return [WaitingNode(depth, record[0], ends, shown) for ends in self.halves(record)]
        if record and record[0] in "fg":
            neuron = self.neuron(record)
            return [WaitingNode(depth, neuron, side, shown) for side in (-1, 1)]
        if record and record[0] == "shown":
            return [WaitingNode(depth, None, None, self.shown(record, shown))]
        if record == ["intervals"]:
            return [WaitingNode(depth + 1, None, None, self.intervals(record, shown))]
        self.close(record, shown)
        return []

    def halves(self, record: Any) -> list[Ends]:
        """The two parts of an interval, the upper one first: the last one is the next one."""
        count = len(self.box.ends)
        require(record[0] < count, f"coordinates below {count}", str(record[0]))
        low, high = self.box.ends[record[0]]
        self.meter.pay_divisions(8, bits_of(low) + 2, bits_of(high))
        place = rational(record[1], self.meter) if len(record) > 1 else (low + high) / 2
        require(low < place < high, "a cut inside the interval", quote(str(place)))
        return [(place, high), (low, place)]

    def neuron(self, record: Any) -> tuple[int, int, int]:
        """The neuron of a cut by sign."""
        which, number, index = "fg".index(record[0]), record[1], record[2]
        require(which < len(self.networks), "a neuron of f", "one of g")
        network = self.networks[which]
        require(1 <= number <= network.num_hidden_layers(), "a layer with a ReLU", str(number))
        width = network.widths[number]
        require(index < width, f"neurons below {width}", str(index))
        fresh = (which, number, index) not in self.box.signs
        require(fresh, "a neuron that was not cut above the node", str(index))
        return which, number, index

    def shown(self, record: Any, before: int) -> int:
        """The clauses that hold on the whole node, or that were shown above it, as bits."""
        self.meter.hold(cells_of(1, len(self.clauses)))
        cells, found = self.meter.cells, self.all_shown  # if the node is empty
        with contextlib.suppress(EmptyNode):
            found = self.leaf(self, record).shown(before)
        self.meter.release(self.meter.cells - cells)
        return found

    def intervals(self, record: Any, shown: int) -> int:
        """Let the intervals of a node hold from here on; the clauses that hold on it, as bits."""
        before = self.meter.cells - self.rows.held
        forms, marks = None, self.all_shown  # if the node is empty
        with contextlib.suppress(EmptyNode):
            leaf = self.leaf(self, record)
            forms, marks = leaf.forms, leaf.shown(shown)
        self.meter.release(self.meter.cells - self.rows.held - before)
        self.box.inherit(forms)
        return marks

    def close(self, record: Any, shown: int) -> None:
        """Check a leaf, given the clauses that were shown above it."""
        if record == ["open"]:
            fits = self.num_open < len(self.excluded)
            fits = fits and self.excluded[self.num_open] == self.box.ends
            require(fits, "an open node that is the next box of `except`", "another one")
            self.num_open += 1
            return
        before = self.meter.cells - self.rows.held
        with contextlib.suppress(EmptyNode):
            self.leaf(self, record).check(shown)
        self.meter.release(self.meter.cells - self.rows.held - before)


class Leaf:
    """The forms of a leaf, and the rows that hold there."""

    def __init__(self, tree: BoundsTree, record: Any) -> None:
        self.tree, self.meter, self.box = tree, tree.meter, tree.box
        listed = record[1] if len(record) > 1 else []
        self.listed: dict[int, Any] = {c: entry for c, *entry in listed}
        check_indices([c for c, *_ in listed], len(tree.clauses), "clauses")
        inputs = tree.inputs.forms(self.box)
        count, grid = len(self.box.ends), tree.grid
        self.meter.hold(cells_of(4, tree.slot * count))
        self.forms = JointForms(inputs, count, grid, tree.slot, self.meter)
        if record == ["backward"]:
            self.forms = BackwardForms(inputs, count, grid, tree.slot, tree.rows)
        if record == ["joint"]:
            self.forms = JointBackwardForms(inputs, count, grid, tree.slot, tree.rows)
        if record in (["inherited"], ["intervals"]):
            kept = tree.box.inherited
            self.forms = InheritedForms(inputs, count, grid, tree.slot, tree.rows, kept)
        self.forms.run(tree.layers, self.box.signs)
        tree.slot = max(tree.slot, self.forms.packing.slot)
        self.known = dict[int, bool]()  # by the identity of a row
        self.cuts = list(self.box.signs.items())
        self.maps = self.exact_maps() if record and record[0] == "exact" else []

    def exact_maps(self) -> list[ExactMap]:
        """The networks as affine maps; no neuron is open."""
        signs = [list(part) for part in zip(*self.forms.signs, strict=True)] or [[], []]
        networks = self.tree.networks
        for part in signs[: len(networks)]:
            require(all(all(row) for row in part), "neurons whose signs are known", "open ones")
        return [
            ExactMap(network, self.tree.domain, part, self.meter)
            for network, part in zip(networks, signs, strict=False)
        ]

    def check(self, shown: int) -> None:
        """Each clause that was not shown above has a row that holds."""
        self.meter.units(100 * self.tree.num_rows)
        for c, mark in enumerate(self.marks(shown)):
            found = mark == "1" or self.clause_holds(c)
            require(found, "a row of each clause that holds on the leaf", f"none of clause {c}")

    def shown(self, before: int) -> int:
        """The clauses that have a row that holds, or had one above, as bits."""
        self.meter.units(100 * self.tree.num_rows)
        marks = list(self.marks(before))
        for c, mark in enumerate(marks):
            if mark == "0" and self.clause_holds(c):
                marks[c] = "1"
            elif mark == "0":
                fact = "a row of each listed clause that holds on the node"
                require(c not in self.listed, fact, f"none of clause {c}")
        return int("".join(reversed(marks)), 2)

    def marks(self, shown: int) -> str:
        """The bits of all clauses from the first on; shifts would take as long for each of them."""
        return format(shown, f"0{len(self.tree.clauses)}b")[::-1]

    def clause_holds(self, c: int) -> bool:
        """Whether the row that is listed for a clause holds, or any row if none is."""
        clause = self.tree.clauses[c]
        if c not in self.listed:
            return any(self.row_holds(row) for row in clause)
        r, entries, *slopes = self.listed[c]
        require(r < len(clause), f"rows below {len(clause)}", str(r))
        row, multiples = clause[int(r)], self.read_multiples(entries)
        if slopes:
            return row.holds(self.relaxed(row, multiples, slopes[0]))
        return row.holds(self.value(row, multiples))

    def row_holds(self, row: ClauseRow) -> bool:
        """Whether a row holds without multiples; a row of several clauses is looked at once."""
        if id(row) not in self.known:
            self.known[id(row)] = self.holds_by_form(row) or self.holds_backward(row)
        return self.known[id(row)]

    def holds_by_form(self, row: ClauseRow) -> bool:
        """Whether a row holds by its form, where all layers have forms."""
        return not isinstance(self.forms, InheritedForms) and row.holds(self.value(row, []))

    def holds_backward(self, row: ClauseRow) -> bool:
        """Whether a row holds by its backward bound, or by its joint bound."""
        forms = self.forms
        return isinstance(forms, BackwardForms) and row.holds(forms.upper_bound(row))

    def read_multiples(self, entries: Any) -> NumberedMultiples:
        """The multiples of inequalities and cuts, with their numbers."""
        size = len(self.tree.domain.slacks) + len(self.cuts)
        check_indices([n for n, _ in entries], size, "numbers of inequalities")
        found = [(n, rational(text, self.meter)) for n, text in entries]
        require(all(x >= 0 for _, x in found), "multiples that are not negative")
        return found

    def value(self, row: ClauseRow, multiples: NumberedMultiples) -> Fraction:
        """An upper bound of a row with multiples, or its largest value."""
        self.meter.units(4_000)
        return self.exact(row, multiples) if self.maps else self.upper(row, multiples)

    def upper(self, row: ClauseRow, multiples: NumberedMultiples) -> Fraction:
        """The upper bound of a row by its form: center, radius and errors."""
        forms, inputs = self.forms, self.forms.inputs
        values, differences = forms.values, forms.differences
        own = combined_weights(row.f, row.g)
        parts = ((own, values), (row.g, differences))
        weights = [w for part in (own, row.g, row.x) for _, w in part]
        bits, count = longest([weights]), forms.packing.count
        size = len(weights) + sum(len(inputs.terms[j]) for j, _ in row.x)
        self.meter.pay(4 * size + 30, forms.packing.slot * count, bits)
        most = sum(map(abs, weights)) * max(x.largest for _, x in (*parts, ((), inputs)))
        forms.make_room((most * (count + 1)).bit_length() + 2)
        center = packed = error = 0
        for listed, form in ((own, forms.values), (row.g, forms.differences)):  # widened by now
            for i, w in listed:
                center += w * form.centers[i]
                packed += w * form.packed[i]  # type: ignore[union-attr]
                error += abs(w) * form.error
        return self.with_inputs(row, multiples, center, packed, error)

    def with_inputs(
        self, row: ClauseRow, multiples: NumberedMultiples, center: int, packed: int, error: int
    ) -> Fraction:
        """The upper bound of a row: what its outputs give, its inputs, and the multiples."""
        forms, grid = self.forms, self.tree.grid
        inputs, packing = forms.inputs, forms.packing
        digits = [0] * packing.count if row.x else []
        for j, w in row.x:
            center += w * inputs.centers[j]
            error += abs(w) * inputs.error
            for k, x in inputs.terms[j]:
                digits[k] += w * x
        packed += packing.pack(digits)
        if not multiples:
            total = center + packing.radius(packed) + error
            return Fraction(total, 1 << grid) + row.constant
        common = least_common_multiple([x.denominator for _, x in multiples], self.meter)
        scale = common * self.tree.domain.scale
        digits = packing.digits(packed)
        self.meter.pay(3 * len(digits) + 3, packing.slot, scale.bit_length())
        rest, coefficients = scale * (center + error), [scale * x for x in digits]
        for n, multiple in multiples:
            self.meter.pay(8, bits_of(multiple) + row.scale.bit_length(), common.bit_length())
            factor = multiple.numerator * (common // multiple.denominator) * row.scale
            middle, entries = self.inequality(n)
            bits = longest([[middle], entries])
            self.meter.pay(3 * len(entries) + 3, bits, factor.bit_length())
            rest += factor * middle
            for k, entry in enumerate(entries):
                coefficients[k] += factor * entry
        total = rest + sum(map(abs, coefficients))
        self.meter.pay_divisions(4, total.bit_length() + bits_of(row.constant), scale.bit_length())
        return Fraction(total, scale << grid) + row.constant

    def inequality(self, n: int) -> tuple[int, list[int]]:
        """An inequality form >= 0, times the scale of the domain.

        The center, with the error, and the coefficients, as far as they are not 0.
        """
        slacks, scale = self.tree.domain.slacks, self.tree.domain.scale
        if n < len(slacks):
            form, rounded = slacks[n], self.box.rounded
            self.meter.pay(2 * len(form) + 2 * len(rounded), bits_of_form(form), longest(rounded))
            middle = (form.get(0, 0) << self.tree.grid) + sum(
                x * rounded[k - 1][0] for k, x in form.items() if k
            )
            return middle, [form.get(k, 0) * r for k, (_, r) in enumerate(rounded, 1)]
        neuron, side = self.cuts[n - len(slacks)]
        center, digits, error = self.forms.kept[neuron]
        slot = self.forms.packing.slot
        self.meter.pay(2 * len(digits) + 2, slot, scale.bit_length())
        return scale * (side * center + error), [scale * side * x for x in digits]

    def exact(self, row: ClauseRow, multiples: NumberedMultiples) -> Fraction:
        """The largest value of an affine row with multiples over the box."""
        total = dict[int, Fraction]()
        self.add(total, self.of_inputs(row), Fraction(1))
        for listed, one in zip((row.f, row.g), self.maps, strict=False):
            if listed:
                weights = all_weights(listed, one.network.widths[-1])
                self.add(total, one.of_outputs(weights), Fraction(1))
        for n, factor in multiples:
            self.add(total, self.affine_inequality(n), factor * row.scale)
        return self.largest(total) + row.constant

    def relaxed(self, row: ClauseRow, multiples: NumberedMultiples, slopes: Any) -> Fraction:
        """The largest value over the box of an affine function above a row."""
        tree = self.tree
        self.meter.units(4_000)
        way = RelaxedRow(
            tree.networks, tree.layers, self.forms, self.box.signs, row.scale, self.meter
        )
        way.read_slopes(slopes)
        count, total = len(tree.domain.slacks), dict[int, Fraction]()
        for n, multiple in multiples:
            if n < count:
                self.add(total, self.affine_inequality(n), multiple * row.scale)
            else:
                way.add_multiple(self.cuts[n - count][0], multiple)
        outputs = [
            LayerWeights(all_weights(part, network.widths[-1]), 1)
            for part, network in zip((row.f, row.g), tree.networks, strict=False)
        ]
        inputs = [
            *way.to_inputs(outputs),
            LayerWeights(all_weights(row.x, len(tree.domain.inputs)), 1),
        ]
        first = ExactMap(tree.networks[0], tree.domain, [], self.meter)
        for numbers, scale in inputs:
            self.add(total, first.of_inputs(numbers, 0, scale), Fraction(1))
        return self.largest(total) + way.constant + row.constant

    def largest(self, total: dict[int, Fraction]) -> Fraction:
        """The largest value of an affine function over the box."""
        found = total.pop(0, Fraction(0))
        for k, x in total.items():
            end = self.box.ends[k - 1][1 if x > 0 else 0]
            bits = bits_of(x) + bits_of(end)
            self.meter.pay_divisions(6, bits, bits + bits_of(found))
            found += x * end
        return found

    def add(self, total: dict[int, Fraction], form: tuple[Form, int], factor: Fraction) -> None:
        """Add a multiple of a form over a denominator."""
        entries, scale = form
        bits = bits_of_form(entries) + scale.bit_length() + bits_of(factor)
        known = max((bits_of(total[k]) for k in entries if k in total), default=0)
        self.meter.pay_divisions(6 * len(entries), bits, bits + known)
        for symbol, x in entries.items():
            total[symbol] = total.get(symbol, Fraction(0)) + factor * Fraction(x, scale)

    def of_inputs(self, row: ClauseRow) -> tuple[Form, int]:
        """The part of a row with the inputs."""
        weights = all_weights(row.x, len(self.tree.domain.inputs))
        return self.maps[0].of_inputs(weights, 0, 1)

    def affine_inequality(self, n: int) -> tuple[Form, int]:
        """An inequality of the domain, or a cut by sign, as a form that is not negative."""
        slacks = self.tree.domain.slacks
        if n < len(slacks):
            return slacks[n], self.tree.domain.scale
        (which, number, index), side = self.cuts[n - len(slacks)]
        weights = [0] * self.tree.networks[which].widths[number]
        weights[index] = side
        return self.maps[which].of_layer(number, weights)


def all_weights(weights: Sequence[tuple[int, int]], width: int) -> list[int]:
    """Weights that are given by their indices, as a list."""
    found = [0] * width
    for i, w in weights:
        found[i] = w
    return found


def combined_weights(
    one: Sequence[tuple[int, int]], two: Sequence[tuple[int, int]]
) -> tuple[tuple[int, int], ...]:
    """The sums of two lists of weights by index, without zeros: g is f plus the difference."""
    sums = dict(one)
    for i, w in two:
        sums[i] = sums.get(i, 0) + w
    return tuple((i, w) for i, w in sums.items() if w)


# -- Theorems


def check_bounds(case: Case) -> None:
    """The points are as claimed, and every leaf of the tree is closed."""
    domain = domain_of_bounds(case)
    clauses = clauses_of(case, domain)
    check_points(case, domain)
    check_cuts(case, domain, clauses, Leaf)


def domain_of_bounds(case: Case) -> Domain:
    """The domain of the claim; the networks are plain stacks that can be compared."""
    f, g, meter = case.network, case.other, case.meter
    meter.step = "claim"
    plain = f.is_plain() and g.is_plain()
    well_formed(plain, f"only plain stacks have claims of the kind {case.claim['kind']}", "claim")
    if "other" in case.claim:
        check_pair(f, g)
        require(len(f.layers) == len(g.layers), "equally many layers", f"{f}; {g}")
        require(f.last == g.last, "equal last activations", f"{f}; {g}")
    return read_domain(case.claim["domain"], f.widths[0], meter)


def check_cuts(case: Case, domain: Domain, clauses: Clauses, leaf: type[Leaf]) -> None:
    """The tree of cuts, its leaves of one kind."""
    is_pair, meter = "other" in case.claim, case.meter
    grid, matching = case.evidence["grid"], case.evidence["matching"]
    fits = MIN_GRID <= grid <= MAX_GRID
    well_formed(fits, f"needs a grid from {MIN_GRID} to {MAX_GRID}", "line 1.grid")
    meter.step = "matching"
    require(is_pair or not matching, "no matching of one network", "some")
    g = case.other if is_pair else None
    layers = grid_layers(case.network, g, matching, grid, meter)
    case.lines.check_end(BoundsTree(case, domain, layers, clauses, leaf).check())


def enter_bounds(kind: str, points: str, cover: str, rule: Rule = check_bounds) -> Rule:
    """Enter the theorem of one kind of claim."""
    return theorem(
        kind,
        kind=kind,
        page="theory/deviation.md",
        evidence={"grid": int, "matching": [[PARTNER]], "points": [[RATIONAL]]},
        says={"points": points, "cover": cover},
    )(rule)


COVERED = "on every leaf of the tree, and the leaves cover the domain"
enter_bounds(
    "deviation",
    "the point belongs to the domain, and the difference of the outputs there is as large as "
    "claimed",
    f"the differences of the outputs are bounded as claimed {COVERED}",
)
enter_bounds(
    "range",
    "the points belong to the domain, and the outputs there are as claimed",
    f"the outputs are bounded as claimed {COVERED}",
)
enter_bounds(
    "holds",
    "the point belongs to the domain",
    f"each clause has a row that holds {COVERED}",
)
enter_bounds(
    "same-decisions",
    "the point belongs to the domain",
    f"no two different outputs can be the decisions of the networks {COVERED}",
)


# -- Lipschitz constants

#: The row 0: with multiples of inequalities it shows that a node has no interior.
NOTHING = ClauseRow((), (), (), Fraction(0), is_strict=False)


class GradientLeaf(Leaf):
    """A leaf on which gradients are bounded, or which has no interior."""

    def __init__(self, tree: BoundsTree, record: Any) -> None:
        kind = record[0] if record else ""
        has_slopes, inherits = kind in ("relaxed", "shown"), kind in ("inherited", "intervals")
        require(not has_slopes, "nodes without slopes in claims about gradients", "others")
        fact = "nodes without inherited intervals in claims about gradients"
        require(not inherits, fact, "others")
        super().__init__(tree, record)
        claim, self.layers = tree.case.claim, tree.case.network.layers
        self.outputs, self.norm = claim["outputs"], claim["norm"]
        self.bound = rational(claim["at-most"], self.meter)

    def check(self, shown: int) -> None:
        """The gradients of all outputs are as short as claimed, or the node has no interior."""
        if 0 in self.listed:
            self.check_flat(self.read_multiples(self.listed[0][1]))
            return
        fact = "gradients on the leaf as short as claimed"
        for i in self.outputs:
            size, scale = self.size(i)
            self.meter.pay(4, longest([[size, scale]]), bits_of(self.bound))
            require(size <= self.bound * scale, fact, f"longer ones of output {i}")

    def check_flat(self, multiples: NumberedMultiples) -> None:
        """Inequalities add up to at most 0, so that they are 0 on the node, or it is empty."""
        largest = self.value(NOTHING, multiples)
        fact = "inequalities that add up to at most 0"
        require(largest <= 0, fact, "a positive number")
        if largest == 0:
            forms = [self.affine_inequality(n)[0] for n, x in multiples if x and self.maps]
            bends = any(x for form in forms for symbol, x in form.items() if symbol)
            require(bends, "an inequality that is not constant", "constants only")

    def size(self, i: int) -> tuple[int, int]:
        """A bound of the norm of gradients of an output, or of its square, over a denominator."""
        scale, signs = 1, [own for own, _ in self.forms.signs]
        low = [int(k == i) for k in range(len(self.layers[-1].rows))]
        high = [*low]
        for number in range(len(self.layers), 0, -1):
            layer = self.layers[number - 1]
            if number <= len(signs):
                low, high = masked_ends(low, high, signs[number - 1])
            low, high = gradient_below(layer, low, high, self.meter)
            scale *= layer.denominator
        reach = [max(-x, y) for x, y in zip(low, high, strict=True)]
        bits = longest([reach, [scale]])
        self.meter.pay(len(reach) + 2, bits, bits)
        if self.norm == "2":
            return sum(map(mul, reach, reach)), scale * scale
        return (sum(reach) if self.norm == "1" else max(reach)), scale


def masked_ends(low: list[int], high: list[int], signs: list[int]) -> tuple[list[int], list[int]]:
    """Intervals of derivatives by activations as those by preactivations."""
    return (
        [x if s > 0 else min(x, 0) if s == 0 else 0 for x, s in zip(low, signs, strict=True)],
        [x if s > 0 else max(x, 0) if s == 0 else 0 for x, s in zip(high, signs, strict=True)],
    )


def gradient_below(
    layer: Layer, low: list[int], high: list[int], meter: Meter
) -> tuple[list[int], list[int]]:
    """Intervals of derivatives by what a layer reads, times its denominator."""
    width = len(layer.rows[0])
    meter.pay(4 * len(layer.rows) * width, longest([low, high]), layer.bits)
    below, above = [0] * width, [0] * width
    for row, x, y in zip(layer.rows, low, high, strict=True):
        if x or y:
            products = [(w * x, w * y) if w > 0 else (w * y, w * x) for w in row]
            below = [s + p for s, (p, _) in zip(below, products, strict=True)]
            above = [s + q for s, (_, q) in zip(above, products, strict=True)]
    return below, above


def check_quotient_of_points(case: Case, domain: Domain) -> None:
    """A point inside, and two points whose outputs are as far from each other as claimed."""
    claim, meter = case.claim, case.meter
    texts = case.hypothesis("points")
    require(len(texts) == 3, "3 points", str(len(texts)))
    check_inside(domain, texts[0], meter)
    x, y = (rationals(point, meter) for point in texts[1:])
    for point in (x, y):
        domain.check_point(point, meter)
    bound = rational(claim["at-least"], meter)
    require(x != y or bound <= 0, "two different points", "one point twice")
    f, g = (outputs(case.network, point, meter) for point in (x, y))
    bits = sum(map(bits_of, (*x, *y, *f, *g)))
    meter.pay_divisions(8 * (len(x) + len(f)), bits, bits)
    steps = [abs(a - b) for a, b in zip(x, y, strict=True)]
    apart = max(abs(f[i] - g[i]) for i in claim["outputs"])
    fact = f"outputs that are as far apart as {quote(claim['at-least'])} says"
    if claim["norm"] == "2":
        far = apart**2 >= bound * sum((s * s for s in steps), Fraction(0))
    else:
        distance = max(steps) if claim["norm"] == "1" else sum(steps, Fraction(0))
        far = apart >= bound * distance
    require(far, fact, "nearer ones")


def check_lipschitz(case: Case) -> None:
    """Points show the lower bound, gradients on the leaves the upper one."""
    domain, claim = domain_of_bounds(case), case.claim
    require(bool(claim["outputs"]), "an output", "none")
    check_indices(claim["outputs"], case.network.widths[-1], "outputs")
    check_quotient_of_points(case, domain)
    check_cuts(case, domain, [[NOTHING]], GradientLeaf)


enter_bounds(
    "lipschitz",
    "a point is inside the domain, and the outputs at two points of it are as far apart as claimed",
    f"the gradients of the outputs are bounded as claimed {COVERED}",
    check_lipschitz,
)


# ==== 5.9 Teaching sets: theorem parallel-lines ====

#: Maximum number of lines times hidden neurons.
MAX_CROSSINGS = 10**6


class ParallelLines(NamedTuple):
    """The lines start + t direction, over one denominator."""

    scale: int
    direction: list[int]
    starts: list[list[int]]


@theorem(
    "parallel-lines",
    kind="teaching-set",
    page="theory/teaching.md",
    evidence={
        "lines": {"direction": [RATIONAL], "starts": [[RATIONAL]]},
        "jumps": {},
        "pieces": {"places": [[RATIONAL]]},
        "signs": SUBSETS,
    },
    says={
        "lines": "as many parallel lines as inputs, not in one hyperplane, meet every hyperplane",
        "jumps": "the jumps of the slopes at the hyperplanes are not 0, and pairwise different",
        "pieces": "on every line the breakpoints are different, and the points lie on the pieces "
        "as the theorem asks: two on each; one on both outer pieces of all lines but the first",
        "signs": "no nonempty set of neurons has linear parts with the sum 0",
    },
    optional=("signs",),
)
def parallel_lines(case: Case) -> None:
    """The values at the points determine the function, and with `signs` the parameters."""
    lower, upper = layers_of(case, 2)
    meter, size = case.meter, case.network.widths[0]
    evidence = case.hypothesis("lines")
    fact = f"{size} lines, all with {size} coordinates"
    rows = [evidence["direction"], *evidence["starts"]]
    require(len(rows) == size + 1, fact, f"{len(rows) - 1} lines")
    require({len(row) for row in rows} == {size}, fact, "another number of coordinates")
    message = f"beyond the limits: more than {MAX_CROSSINGS} points of lines and hyperplanes"
    well_formed(size * len(lower.rows) <= MAX_CROSSINGS, message)
    lines = read_parallel_lines([rationals(row, meter) for row in rows], meter)
    meter.pay(len(lower.rows) * (size + 1), lower.bits, longest([lines.direction]))
    slopes = [dot(row, lines.direction) for row in lower.rows]
    require(all(slopes), "lines that meet every hyperplane in one point", "a parallel one")
    check_jumps(case, slopes, upper)
    texts = case.hypothesis("pieces")["places"]
    require(len(texts) == size, f"places on {size} lines", f"{len(texts)} lines")
    count = 0
    for number, start in enumerate(lines.starts):
        places = rationals(texts[number], meter)
        check_places(places, crossings_of(lines, start, lower, slopes, meter), not number, meter)
        count += len(places)
    meter.step = "claim"
    require(case.claim["count"] == count, f"{count} points", str(case.claim["count"]))
    pins = "parameters" if "signs" in case.evidence else "function"
    require(case.claim["pins"] == pins, f"a claim about the {pins}", case.claim["pins"])
    if pins == "parameters":
        check_subset_sums(case.hypothesis("signs"), lower, upper, meter)


def read_parallel_lines(rows: list[list[Fraction]], meter: Meter) -> ParallelLines:
    """The lines as integers; no hyperplane contains them all."""
    scale = common_denominator((x for row in rows for x in row), "the lines' denominator", meter)
    direction, first, *others = (scaled_point(row, scale, meter) for row in rows)
    differences = [[a - b for a, b in zip(row, first, strict=True)] for row in others]
    meter.pay(len(first) * len(others), longest([first, *others]))
    is_spanning = len(pivot_columns([direction, *differences], meter)) == len(first)
    require(is_spanning, "lines that no hyperplane contains")
    return ParallelLines(scale, direction, [first, *others])


def check_jumps(case: Case, slopes: Sequence[int], upper: Layer) -> None:
    """The jumps v |w.d| are different from 0 and from each other."""
    case.hypothesis("jumps")
    case.meter.pay(2 * len(slopes) * len(upper.rows), longest([slopes]), upper.bits)
    jumps = [
        tuple(v * abs(slope) for v in column)
        for slope, column in zip(slopes, upper.columns(), strict=True)
    ]
    require(all(map(any, jumps)), "jumps that are not 0", "a neuron without outputs")
    require(len(set(jumps)) == len(jumps), "different jumps", "equal ones")


def crossings_of(
    lines: ParallelLines, start: Sequence[int], lower: Layer, slopes: Sequence[int], meter: Meter
) -> list[Fraction]:
    """Where a line meets the hyperplanes, in order."""
    bits = longest([start, [lines.scale]])
    meter.pay((len(start) + 2) * len(slopes), lower.bits, bits)
    total = lower.bits + bits + len(start).bit_length() + 1
    meter.pay_divisions(2 * len(slopes), total, longest([slopes]))
    meter.pay(len(slopes) * len(slopes).bit_length(), total, total)
    return sorted(
        Fraction(-dot(row, start) - b * lines.scale, slope)
        for row, b, slope in zip(lower.rows, lower.bias, slopes, strict=True)
    )


def check_places(
    places: Sequence[Fraction], breakpoints: Sequence[Fraction], is_first: bool, meter: Meter
) -> None:
    """The places on a line lie strictly inside of the pieces, as many as the theorem asks for."""
    bits = longest([[x.numerator, x.denominator] for x in (*places, *breakpoints)])
    meter.pay(2 * (len(places) + len(breakpoints)), bits, bits)
    fact = "different breakpoints on a line"
    require(all(s < t for s, t in pairwise(breakpoints)), fact, "two neurons are 0 at one point")
    outer, inner = 2 if is_first else 1, 2 * (len(breakpoints) - 1)
    fact = f"{2 * outer + inner} places on a line, in ascending order"
    require(len(places) == 2 * outer + inner, fact, f"{len(places)} places")
    require(all(s < t for s, t in pairwise(places)), fact, "another order")
    for k, t in enumerate(breakpoints):
        last = outer + 2 * k - 1
        fact = "two places on each piece, or one on an outer piece"
        require(places[last] < t < places[last + 1], fact, f"a piece beside breakpoint {k} without")


# ---- Files


def check_bytes(
    certificate: bytes,
    network_files: Mapping[str, bytes] | None = None,
    *,
    budget: int | None = None,
) -> CheckReport:
    """Check a certificate in memory; `network_files` holds the bytes of network files by name."""
    files = (network_files or {}).items()

    def search(name: str) -> Iterable[tuple[str, bytes]]:
        """The file of that name, then the other ones."""
        return sorted(files, key=lambda file: file[0] != name)

    return checked(lambda: io.BytesIO(certificate), len(certificate), search, budget)


def check_file(
    path: str | os.PathLike[str],
    networks: Iterable[str | os.PathLike[str]] = (),
    *,
    budget: int | None = None,
) -> CheckReport:
    """Check a certificate file.

    Its network file is looked up by name beside it, then by hash among `networks`.
    """
    file, given = os.fspath(path), [os.fspath(network) for network in networks]

    def search(name: str) -> Iterator[tuple[str, bytes]]:
        """The file of that name beside the certificate, then the given ones."""
        beside = os.path.join(os.path.dirname(file), name)
        if os.path.lexists(beside):
            yield name, read_bytes(beside, NETWORK_BYTES)
        for other in given:
            yield quote(other), read_bytes(other, NETWORK_BYTES)

    return checked(lambda: open_file(file, "certificate"), size_of(file), search, budget)


def read_contents(path: str | os.PathLike[str], *, budget: int | None = None) -> Contents:
    """What a certificate file states, read with the limits of a check; nothing else is checked.

    `Stop` is raised for a file that is unreadable.
    """
    file, meter = os.fspath(path), Meter(budget)

    def read(unpacked: IO[bytes], is_tree: bool) -> Contents:
        """The header of a tree file, or the whole of another one."""
        if is_tree:
            return read_header(Lines(unpacked, meter).read_header())
        return read_certificate(unpacked.read(CERTIFICATE_BYTES + 1), meter)

    contents = guarded(lambda: open_file(file, "certificate"), size_of(file), meter, read)
    for key in ("network", "other"):
        if "inline" in contents.claim.get(key, ""):
            fit(contents.claim[key]["inline"], NETWORK, key)
    return contents


def checked(
    start: Callable[[], IO[bytes]], num_bytes: int, search: Search, budget: int | None
) -> CheckReport:
    """Check a file of either form, packed or not: whatever happens becomes a report."""
    meter = Meter(budget)

    def check(unpacked: IO[bytes], is_tree: bool) -> CheckReport:
        """Check a tree file, or a certificate that is one JSON value."""
        if is_tree:
            return check_tree(unpacked, search, meter)
        return check_certificate(unpacked.read(CERTIFICATE_BYTES + 1), search, meter)

    try:
        return guarded(start, num_bytes, meter, check)
    except Stop as stop:
        answer = stop.verdict, stop.place or meter.step, stop.expected, stop.got
        return CheckReport(*answer, cost=meter.cost)


Found = TypeVar("Found")


def guarded(
    start: Callable[[], IO[bytes]],
    num_bytes: int,
    meter: Meter,
    use: Callable[[IO[bytes], bool], Found],
) -> Found:
    """Use an unpacked file, and whether it is a tree file; whatever happens becomes a `Stop`."""
    meter.allow(num_bytes)
    try:
        with start() as file:
            return use_unpacked(file, use)
    except (
        OSError,
        EOFError,
        zlib.error,
        MemoryError,
        RecursionError,
        ArithmeticError,
        ValueError,
    ) as error:
        expected = "a readable file within the limits"
        raise Stop("unreadable", expected, type(error).__name__, "reading") from None


def use_unpacked(file: IO[bytes], use: Callable[[IO[bytes], bool], Found]) -> Found:
    """Use an open file, which is unpacked if it is packed."""
    first = file.read(len(TREE_START))
    file.seek(0)
    if not first.startswith(GZIP_START):
        return use(file, first == TREE_START)
    first = io.BufferedReader(Unpacked(file)).read(len(TREE_START))
    file.seek(0)
    return use(io.BufferedReader(Unpacked(file)), first == TREE_START)


def size_of(path: str) -> int:
    """The number of bytes of a file; 0 if there is no such file."""
    try:
        return os.path.getsize(path)
    except (OSError, ValueError):
        return 0


def open_file(path: str, place: str) -> IO[bytes]:
    """A regular file; its kind is looked at before anything is read."""
    well_formed(os.path.lexists(path), "there is no such file", place)
    well_formed(os.path.isfile(path), "not a regular file", place)
    return open(path, "rb")


def read_bytes(path: str, size: int) -> bytes:
    """The bytes of a regular file, and at most one too many."""
    with open_file(path, quote(os.path.basename(path))) as file:
        return file.read(min(os.path.getsize(path), size) + 1)


# ---- The command line

USAGE = "usage: checker.py [--json] [--budget UNITS] [--about FILE] [--network FILE]... CERT..."
HELP = f"""{USAGE}

Re-derive certificates of polyrelu with the standard library alone (certificate/FORMAT.md).

  CERT             certificate files; network files that they name are looked for beside them
  --network FILE   a network file that a certificate names, under another name
  --about FILE     reject certificates that are not about the network in this file (native JSON)
  --budget UNITS   what each check may cost (FORMAT.md, section 3.6; default 2^35 and 2^14 a byte)
  --json           one line of JSON for each certificate
  --version        the versions of the format and of this file

Exit status: 0 if all are accepted, 1 if one is rejected, 2 if one is unreadable; the worst counts.
"""
VERSION = "polyrelu checker, certificate format version 1"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status, also where nothing can be printed."""
    sys.set_int_max_str_digits(0)  # the grammar has its own limit
    try:
        status = run(list(sys.argv[1:] if argv is None else argv))
        if sys.stdout is not None:
            sys.stdout.flush()
        return status
    except OSError as error:
        detach(sys.stdout)
        print_error(f"cannot write: {error.strerror}")
        return 2


def detach(stream: Any) -> None:
    """Let a stream that cannot be written end quietly."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    except (OSError, ValueError):
        return


def print_error(message: str) -> None:
    """Print a line on standard error, if there is one."""
    try:
        print(f"polyrelu: {message}", file=sys.stderr, flush=True)
    except OSError:
        detach(sys.stderr)


def run(arguments: list[str]) -> int:
    """Check the certificates that the arguments name."""
    try:
        names = ["json", "help", "version", "network=", "budget=", "about="]
        options, paths = getopt.gnu_getopt(arguments, "h", names)
        budgets = [int(value) for name, value in options if name == "--budget"]
    except (getopt.GetoptError, ValueError):
        options, paths, budgets = [], [], []
    flags = {name for name, _ in options}
    if flags & {"--help", "-h", "--version"}:
        print(VERSION if "--version" in flags else HELP.rstrip())
        return 0
    if not paths or any(budget < 1 for budget in budgets):
        print(USAGE, file=sys.stderr)
        return 2
    budget = budgets[-1] if budgets else None
    networks = [value for name, value in options if name == "--network"]
    try:
        subjects = [hash_of(value, budget) for name, value in options if name == "--about"]
    except Stop as stop:
        print_error(f"--about: {stop.place or 'reading'}: {stop.got}")
        return 2
    worst = 0
    for path in paths:
        report = check_file(path, networks, budget=budget)
        for subject in subjects:
            report = about(report, subject)
        name = quote(path) if len(paths) > 1 else ""
        print_report(report, path, name, as_json="--json" in flags)
        worst = max(worst, VERDICTS.index(report.verdict))
    return worst


def hash_of(path: str, budget: int | None) -> str:
    """The hash of the network in a file."""
    place, meter = quote(path), Meter(budget)

    def read(file: IO[bytes], is_tree: bool) -> str:
        """The hash that is recomputed from the numbers."""
        well_formed(not is_tree, "a tree file, where a network is wanted", place)
        document = parse(file.read(NETWORK_BYTES + 1), place, NETWORK_BYTES, meter)
        return read_network(document, place, meter).sha256

    return guarded(lambda: open_file(path, place), size_of(path), meter, read)


def about(report: CheckReport, subject: str) -> CheckReport:
    """Reject an accepted certificate that is not about the network with this hash."""
    if report.verdict != "accepted":
        return report
    is_pair = THEOREMS[report.theorem].kind in OF_PAIRS
    found = report.networks if is_pair else report.networks[:1]
    if subject in found:
        return report
    return CheckReport("rejected", "about", subject, " and ".join(found), cost=report.cost)


def print_report(report: CheckReport, path: str, name: str, *, as_json: bool) -> None:
    """Print a report; with several certificates, the name of the file stands before it."""
    error = f"{quote(path)}: {report.step}: {report.got}"
    is_unreadable = report.verdict == "unreadable"
    if is_unreadable:
        print_error(error)
    if as_json:
        answer = {"command": "check", "status": report.verdict, "error": "", **report._asdict()}
        if is_unreadable:
            answer |= {"status": "error", "error": error}
        if name:
            answer["file"] = name
        print(json.dumps(answer), flush=True)
    elif not is_unreadable:
        print(f"{name}: {report}" if name else report, flush=True)


if __name__ == "__main__":
    sys.exit(main())
