"""Networks as exact integers, and their canonical hash."""

from __future__ import annotations

import hashlib
import math
import re
from itertools import chain
from typing import Any, NamedTuple

from polyrelu.checking.meter import Meter, longest, well_formed
from polyrelu.checking.text import NATURAL, ROW, fit, integer, integers

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
