"""Resource bombs: small files that would take much time or memory from a careless checker.

Each function returns a file for a size; `BOMBS` has them with the size of a file of at most one
megabyte, and with a smaller one for tests. No file is accepted, unless its claim is true and cheap.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from random import Random
from typing import Any

from tests.generators.certificates import altered, rehash, spelled

__all__ = ["BOMBS", "Bomb"]


@dataclass(frozen=True)
class Bomb:
    """A family of files by size."""

    make: Callable[[int], bytes]
    full: int  # the size for the benchmark
    small: int  # the size for tests


def packed(text: str | bytes) -> bytes:
    return gzip.compress(text.encode() if isinstance(text, str) else text, mtime=0)


def written(document: Any) -> bytes:
    rehash(document)
    return packed(json.dumps(document))


def long(k: int, bits: int = 16_000) -> str:
    """A long odd number, without long runs of binary zeros that make its products cheap."""
    return spelled((2**bits - 1) // 3 + 2 * k)


def row(*entries: object) -> str:
    return " ".join(map(str, entries))


def layer(
    source: int, rows: list[str], bias: str | None = None, denominator: str = "1"
) -> dict[str, Any]:
    zeros = row(*["0"] * len(rows))
    block = {"from": source, "rows": rows}
    return {"denominator": denominator, "bias": bias or zeros, "weights": [block]}


def network(inputs: int, *layers: dict[str, Any], last: str = "affine") -> dict[str, Any]:
    head = {"format": "polyrelu-network", "version": 1, "inputs": inputs}
    return {**head, "layers": list(layers), "last": last}


def unit(size: int, place: int, entry: str = "1") -> str:
    return row(*["0"] * place, entry, *["0"] * (size - place - 1))


def certificate(name: str, net: Any, evidence: dict[str, Any], other: Any = None) -> bytes:
    """A valid certificate of the suite with other networks and evidence."""
    document = altered(name)
    document["claim"]["network"]["inline"] = net
    if "other" in document["claim"]:
        document["claim"]["other"]["inline"] = net if other is None else other
    for hypothesis in document["proof"]["hypotheses"]:
        hypothesis["evidence"] = evidence.get(hypothesis["id"], hypothesis["evidence"])
    return written(document)


# -- text


def lists(size: int) -> bytes:
    return packed(b"[" + b"[]," * size + b"[]]")


def numbers(size: int) -> bytes:
    return packed(b"[" + b"0," * size + b"0]")


def objects(size: int) -> bytes:
    return packed(b"[" + b'{"a":0},' * size + b"{}]")


def strings(size: int) -> bytes:
    return packed(b"[" + b'"ab",' * size + b'""]')


def keys(size: int) -> bytes:
    return packed("{" + ",".join(f'"k{k}":0' for k in range(size)) + "}")


def blanks(size: int) -> bytes:
    return packed(b" " * size)


def zeros(size: int) -> bytes:
    """A network of many weights, all of them 0 but one."""
    rows = [row(*["0"] * 1000)] * (size // 1000 - 1) + [unit(1000, 0)]
    return certificate("affine", network(1000, layer(0, rows)), {})


def common_divisors(size: int) -> bytes:
    """Weights with a long common divisor, which is computed several times."""
    divisor = 2**8000 + 1
    rows = [row(*(spelled(divisor * (k + 1)) for k in range(20)))] * (size // 20)
    bias = row(*["1"] * len(rows))
    net = network(20, layer(0, rows, bias), layer(1, [row(*["1"] * len(rows))]))
    return certificate("shallow-independent", net, {})


# -- identifiability


def masks(size: int) -> bytes:
    """A masked product that begins with an identity matrix of the size of the input."""
    first = layer(
        0, [row("1", "1", *["0"] * (size - 2)), row("1", "-1", *["0"] * (size - 2))], "1 0"
    )
    net = network(size, first, layer(1, ["2 1", "-1 -4"], "-3 -2"), layer(2, ["1 0"]))
    zeros, axes = ["0"] * size, [["1", *["0"] * (size - 1)], ["0", "1", *["0"] * (size - 2)]]
    plane = {"point": zeros, "directions": axes, "ridges": [[0, 2, "2"], [1, 2, "1"]]}
    everything = [list(range(size)), [0, 1], [0]]
    evidence = {
        "ridges": {"slices": [plane]},
        "families": {"chosen": [[0, 0], [1, 1]], "joined": []},
        "membership": {"status": "refuted", "method": "masks", "layer": 0, "masks": everything},
    }
    document = json.loads(gzip.decompress(certificate("deep-part-neurons", net, evidence)))
    document["claim"] |= {"layers": 1, "neurons": []}
    return written(document)


def corners(size: int) -> bytes:
    """A witness with many long coordinates for each of many hyperplanes."""
    first = layer(0, [unit(size, i) for i in range(size)])
    second = layer(1, [row(*["1"] * size), row(*["1"] * (size - 1), "2")], "-1 -1")
    net = network(size, first, second, layer(2, ["1 1"]))
    half, common = size // 2, 2**12_000
    numerators = [common // half + (k - k % 2 + 1) * (-1) ** k for k in range(half)]
    point = [[half + k, f"{hex(p)}/{hex(common)}"] for k, p in enumerate(numerators)]
    evidence = {
        "rank": {"prime": "2147483647", "columns": list(range(size))},
        "unique": {"method": "subset-sums", "multiplier": "3"},
        "hyperplanes": {"witnesses": [{"row": 0, "positive": point}] * size},
    }
    return certificate("bottleneck-corner-minors", net, evidence)


def determinants(size: int) -> bytes:
    """Two determinants of the largest size, of matrices without zeros."""
    rows = [row(*((i * i + 3 * i * k + k**3) % 9973 for k in range(size))) for i in range(size)]
    signed = [
        row(*(f"-{x}" if k % 2 and x != "0" else x for k, x in enumerate(text.split())))
        for text in rows
    ]
    first, second = layer(0, rows), layer(1, signed, row(*["1"] * size))
    net = network(size, first, second, layer(2, [row(*["1"] * size)]))
    evidence = {
        "rank": {"prime": "2305843009213693951", "columns": list(range(size))},
        "unique": {
            "method": "independent",
            "prime": "2305843009213693951",
            "entries": [[0, k] for k in range(size)],
        },
    }
    return certificate("bottleneck-corner-minors", net, evidence)


def assignments(size: int) -> bytes:
    """Ranks of matrices with long entries, for many pairs (D, ε)."""
    rows = [unit(8, i, long(i, size)) for i in range(8)]
    rows.append(rows[0].replace(rows[0].split()[0], "-" + rows[0].split()[0]))
    columns = [row(*(int(i % 8 == o) + (i == 8) for i in range(9))) for o in range(8)]
    first = layer(0, rows, row(*["1"] * 8, "-1"))
    return certificate("shallow-assignments", network(8, first, layer(1, columns)), {})


def minors(size: int) -> bytes:
    """Hundreds of minors of a matrix with long entries; only the largest one is zero."""
    chance = Random(size)
    rows = [[chance.getrandbits(size) + 1 for _ in range(5)] for _ in range(5)]
    for i, entries in enumerate(rows):
        entries.append(-2 * entries[i])
    rows.append(
        [sum((i + 2) * x for i, x in enumerate(column)) for column in zip(*rows, strict=True)]
    )
    second = layer(
        1,
        [row(*map(spelled, entries[:-1])) for entries in rows],
        row(*(spelled(entries[-1]) for entries in rows)),
    )
    first = layer(0, [unit(5, i) for i in range(5)])
    net = network(5, first, second, layer(2, [row(*["1"] * 6)]))
    corners = [{"row": int(j == 0), "positive": [[int(j == 0), "2"]]} for j in range(5)]
    minor = {"prime": "2147483647", "columns": list(range(5))}
    evidence = {
        "rank": minor,
        "unique": {"method": "subset-sums", "multiplier": "3"},
        "hyperplanes": {"witnesses": corners},
        "membership": {"status": "verified", "method": "minors", **minor},
    }
    return certificate("bottleneck-corner-minors", net, evidence)


# -- refutations


def breakpoints(size: int) -> bytes:
    """Breakpoints that differ by multiples of a prime, so that hashes would collide."""
    prime = 2**61 - 1
    rows, bias = ["1"] * size, row(*(prime * k for k in range(1, size + 1)))
    second, third = layer(1, rows, bias), layer(2, [row(*["1"] * size)])
    return certificate("line-equal", network(1, layer(0, ["1"]), second, third), {})


def scales(size: int) -> bytes:
    """Invariants of many layers, with scales that grow."""
    layers = [layer(k, ["1 3", "5 7"], "1 2") for k in range(size)]
    net = network(2, *layers, layer(size, ["1 1"]))
    evidence = {"same-function": {"layer": 1}, "not-related": {"layer": size + 1}}
    return certificate("replacement-orthant", net, evidence)


def steps(size: int) -> bytes:
    """Steps that add up all steps before."""
    width = 60
    first, second, third = (
        layer(k, [row(*["-1"] * width)] * n, row(*["-1"] * n))
        for k, n in enumerate((width, width, 1))
    )
    net = network(width, first, second, third, layer(3, ["1"]))
    known, neuron = 4 * width + 1, width
    multiples = [[[known + k, long(k)] for k in range(i)] for i in range(size)]
    listed = [[neuron, "1", entries, entries] for entries in multiples]
    evidence = {"same-function": {"layer": 3, "source": [], "steps": listed, "signs": []}}
    return certificate("one-sided-dead", net, evidence)


# -- deep


def slices(size: int) -> bytes:
    """Planes with long numbers in a wide network, one ridge on each."""
    width = 200
    rows = [row(*((i * k) % 7 - 3 for k in range(2))) for i in range(width)]
    inner = [row(*((i + k) % 5 - 2 for k in range(width))) for i in range(width)]
    net = network(2, layer(0, rows), layer(1, inner), layer(2, [row(*["1"] * width)]))
    entry = {
        "point": [long(1), long(2)],
        "directions": [[long(3), long(4)], [long(5), "1"]],
        "ridges": [[0, 1, spelled(2**width - 4)]] * 3,
    }
    return certificate("deep-corners", net, {"ridges": {"slices": [entry] * size}})


# -- trees


def tree_of(header: dict[str, Any], node: str, size: int, first: str = "") -> bytes:
    """A tree file whose nodes are one line again and again, perhaps below another one."""
    document = {"format": "polyrelu-tree", "version": 1, **header, "unverified": {}}
    rehash(document)
    return packed(json.dumps(document) + "\n" + first + f"{node}\n" * size)


def pair(one: Any, two: Any, **terms: Any) -> dict[str, Any]:
    domain = {"inequalities": [], "equations": [], **terms}
    claim = {"kind": "equivalent", "network": {"sha256": "", "inline": one}}
    claim |= {"other": {"sha256": "", "inline": two}, "domain": domain}
    point = ["0"] * one["inputs"]
    return {"claim": claim, "lifted": [], "parts": [], "point": point}


def hinges(inputs: int, width: int, shift: int) -> Any:
    rows = [row(*((i * i + k + shift) % 11 - 5 for k in range(inputs))) for i in range(width)]
    bias = row(*(i - shift for i in range(width)))
    return network(inputs, layer(0, rows, bias), layer(1, [row(*["1"] * width)]))


def splits(size: int) -> bytes:
    """A deep chain of splits at one form, whose sign is known after the first one."""
    return tree_of(pair(hinges(400, 4, 0), hinges(400, 4, 1)), '{"signs": [], "split": 0}', size)


def silent_nodes(size: int) -> bytes:
    """Nodes without signs, of a tree with many atoms."""
    header = pair(hinges(3, size, 0), hinges(3, size, 1))
    return tree_of(header, '{"signs": [], "split": 0}', 4_000)


def repeated_signs(size: int) -> bytes:
    """Signs that hold, with long multipliers of long inequalities, again and again."""
    sides = [row(*[long(k)] * 8, long(k)) for k in range(30)]
    box = [f"{unit(8, k, entry)} 1" for k in range(8) for entry in ("1", "-1")]
    header = pair(hinges(8, 4, 0), hinges(8, 4, 1), inequalities=[*sides, *box])
    multiples = ", ".join(f'[{k}, "1/{long(k)}"]' for k in range(4))
    sign = f'[0, "+", "-1000", [{multiples}], []]'
    return tree_of(header, f'{{"signs": [[{", ".join([sign] * 20)}]], "split": 0}}', size)


def solved_signs(size: int) -> bytes:
    """Signs whose multipliers have to be found, from long inequalities, again and again."""
    sides = [row(*(long(k * k + i * i) for i in range(8)), long(k)) for k in range(30)]
    header = pair(hinges(8, 4, 0), hinges(8, 4, 1), inequalities=sides)
    sign = '[0, "+", "-1000", [0, 1, 2, 3, 4, 5, 6, 7], []]'
    return tree_of(header, f'{{"signs": [[{", ".join([sign] * 20)}]], "split": 0}}', size)


def region_points(size: int) -> bytes:
    """A point with long coordinates at a leaf of a domain with many rows."""
    sides = [row(*[k + 1] * 40, 10**6) for k in range(size)]
    claim = {
        "kind": "regions",
        "network": {"sha256": "", "inline": hinges(40, 2, 0)},
        "domain": {"inequalities": sides, "equations": []},
        "count": 1,
    }
    point = ", ".join(f'"1/{long(0)}"' for _ in range(40))
    return tree_of({"claim": claim}, f'{{"signs": [], "region": [{point}]}}', 2)


def skips(size: int) -> bytes:
    """A layer that reads all layers before, each over another long denominator."""
    layers = [layer(0, [long(9)], "1", long(0, 8000))]
    for k in range(1, size):
        layers.append(layer(k, ["1"], "1", long(k, 8000)))
    blocks = [{"from": k, "rows": ["1"]} for k in range(1, size + 1)]
    layers.append({"denominator": "1", "bias": "0", "weights": blocks})
    net, other = network(1, *layers), network(1, *layers[:-1], layer(size, ["1"], "1"))
    return tree_of(pair(net, other), '{"signs": [], "leaf": "equal"}', 1)


def parts(size: int) -> bytes:
    """Parts with many long denominators."""
    header = pair(hinges(3, 40, 0), hinges(3, 40, 1))
    header["parts"] = [[[[s, f"1/{long(s + p)}"] for s in range(30)]] for p in range(size)]
    return tree_of(header, '{"signs": [], "leaf": "equal"}', 1)


def many_sources(size: int) -> bytes:
    """A neuron of many terms that also reads many layers without any."""
    width = 20_000
    dead = [layer(k, [row(*["0"] * (1 if k else width))], "-1") for k in range(size)]
    blocks = [{"from": k, "rows": ["1"]} for k in range(1, size + 1)]
    blocks.insert(0, {"from": 0, "rows": [row(*["1"] * width)]})
    last = {"denominator": "1", "bias": "0", "weights": blocks}
    net, other = network(width, *dead, last), network(width, dead[0], layer(1, ["1"]))
    return tree_of(pair(net, other), '{"signs": [], "leaf": "equal"}', 1)


def orthant_pair(inputs: int, *layers: dict[str, Any]) -> dict[str, Any]:
    """A network on the orthant, whose first neuron is negative there, and another one."""
    sides = [unit(inputs, k, "-1") + " 0" for k in range(inputs)]
    other = network(inputs, layer(0, [row(*["1"] * inputs)], "3"), layer(1, ["1"]))
    return pair(network(inputs, *layers), other, inequalities=sides)


def divided_splits(size: int) -> bytes:
    """Splits at a form with a long common divisor, once the first neuron is off."""
    inputs, factor = 40, spelled(2**15_990 + 1)
    rows = [row(*["-1"] * inputs)]
    rows.append(row(*(spelled(2**15_990 - 1 - 2 * k) for k in range(inputs))))
    rows.append(row(*(spelled(2**15_980 + 1 + 2 * k * k) for k in range(inputs))))
    second = layer(1, [f"1 {factor} -{factor}"])
    header = orthant_pair(inputs, layer(0, rows), second, layer(2, ["1"]))
    known = ", ".join(f'[{k}, "{mark}", "0", [], []]' for k, mark in enumerate("-++"))
    first = f'{{"signs": [[{known}]], "split": 4}}\n'
    return tree_of(header, '{"signs": [], "split": 4}', size, first)


def equal_forms(size: int) -> bytes:
    """Neurons that have one long form once the first neuron is off."""
    inputs, copies = 60, 20
    long_row = row(*(spelled(2**15_990 - 1 - 2 * k) for k in range(inputs)))
    blocks = [
        {"from": 0, "rows": [long_row] * copies},
        {"from": 1, "rows": [str(k + 1) for k in range(copies)]},
    ]
    second = {"denominator": "1", "bias": row(*["0"] * copies), "weights": blocks}
    ones = layer(2, [row(*["1"] * copies)])
    header = orthant_pair(inputs, layer(0, [row(*["-1"] * inputs)]), second, ones)
    first = '{"signs": [[[0, "-", "0", [], []]]], "split": 1}\n'
    return tree_of(header, '{"signs": [], "split": 1}', size, first)


def wide_nodes(size: int) -> bytes:
    """Neurons of two terms that have many once the signs of the first layer are known."""
    inputs = 10_000
    first = layer(0, [row(*(k % 7 - 3 for k in range(inputs))), row(*["1"] * inputs)])
    second = layer(1, [row(k + 1, "-1") for k in range(size)], row(*range(-size, 0)))
    net = network(inputs, first, second, layer(2, [row(*["1"] * size)]))
    header = pair(net, network(inputs, first, layer(1, ["1 1"])))
    lines = '{"signs": [], "split": 0}\n{"signs": [], "split": 1}\n'
    return tree_of(header, '{"signs": [], "leaf": "equal"}', 1, lines)


def equations(size: int) -> bytes:
    """A domain of many equations with many coordinates, which are put into each other."""
    rows = [f"{unit(size, i)} {row(*[i + 2] * size)} 0" for i in range(size)]
    sides = [row(*[1] * (2 * size), 1)] * (size // 4)
    header = pair(
        hinges(2 * size, 2, 0), hinges(2 * size, 2, 1), equations=rows, inequalities=sides
    )
    return tree_of(header, '{"signs": [], "leaf": "equal"}', 1)


def long_equation(size: int) -> bytes:
    """A long equation that is put into many long inequalities."""
    rows = [row("1", *(long(k) for k in range(size - 1)), "0")]
    sides = [row(long(k), *["0"] * size) for k in range(20 * size)]
    return tree_of(
        pair(hinges(size, 2, 0), hinges(size, 2, 1), equations=rows, inequalities=sides),
        '{"signs": [], "leaf": "equal"}',
        1,
    )


# -- vertices


def vertices_of(net: Any, lines: list[str]) -> bytes:
    """A certificate by vertices on the whole space, without its end."""
    claim = {
        "kind": "regions",
        "network": {"sha256": "", "inline": net},
        "domain": {"inequalities": [], "equations": []},
        "count": 1,
    }
    return tree_of({"claim": claim, "vertices": len(lines)}, "\n".join(lines), 1)


def orthants(size: int) -> bytes:
    """A vertex with so many zeros that the regions around it are too many to be listed."""
    rows = [unit(size, k) for k in range(size)]
    return vertices_of(network(size, layer(0, rows), last="relu"), [f'["0",{[*range(size)]}]'])


def moves(size: int) -> bytes:
    """Vertices on a line, in an order in which most neurons of the first layer change."""
    bias = row(*(-k for k in range(size)))
    upper = layer(1, [row(*["1"] * size)] * size, row(*["1"] * size))
    net = network(1, layer(0, ["1"] * size, bias), upper, last="relu")
    above = ((1 << size) - 1) << size
    order = [k // 2 if k % 2 else size - 1 - k // 2 for k in range(size)]
    lines = [f'["{spelled(above | (1 << k) - 1)}",[{k}]]' for k in order]
    return vertices_of(net, lines)


def pencil(size: int) -> bytes:
    """A vertex on many lines, with a list of all rays."""
    rows = [row("1", k) for k in range(size)]
    left, right = [*range(size)], [*range(size - 1, -1, -1)]
    rays = []
    for k in range(size):
        rays.append(f"[{left[k + 1 :]},[{k}]]")  # up to a sign, the direction (-k, 1)
        rays.append(f"[{[*reversed(right[size - k :])]},[{k}]]")
    return vertices_of(
        network(2, layer(0, rows), last="relu"), [f'["0",{left},[{",".join(rays)}]]']
    )


def long_vertices(size: int) -> bytes:
    """A vertex on hyperplanes with long coefficients, which all have to be eliminated."""
    rows = [row(*(long(7 * k * k + i * i * i) for i in range(size))) for k in range(size)]
    return vertices_of(network(size, layer(0, rows), last="relu"), [f'["0",{[*range(size)]}]'])


def silent_layers(size: int) -> bytes:
    """Vertices on a line below many layers of one neuron that is 0, which all have to be found."""
    width = 20
    lower = layer(0, ["1"] * width, row(*(-k for k in range(width))))
    upper = layer(1, [row(*["0"] * width)])
    net = network(1, lower, upper, *(layer(k, ["0"]) for k in range(2, size)), last="relu")
    silent = [*range(width, width + size - 1)]
    sides = "[[{0}],{1}],[[],{1}]"
    lines = [f'["{(1 << k) - 1}",{[k, *silent]},[{sides.format(k, silent)}]]' for k in range(width)]
    return vertices_of(net, lines)


def quotients(size: int) -> bytes:
    """Layers that read many layers of a scale of half the length of their own."""
    long_denominator = spelled(3**10_000)
    layers = [layer(k, ["1"], "0", long_denominator if k < 2 else "1") for k in range(size + 2)]
    layers += [layer(size + k, ["1"], "0", long_denominator) for k in (2, 3)]
    for k in range(size + 4, 2 * size + 4):
        blocks = [{"from": source, "rows": ["1"]} for source in (*range(3, size + 3), k)]
        layers.append({"denominator": "1", "bias": "0", "weights": blocks})
    zeros = [*range(len(layers))]
    return vertices_of(network(1, *layers, last="relu"), [f'["0",{zeros}]'])


# -- injectivity


def choices(size: int) -> bytes:
    """Many dependences of two opposite rows, of which one has to be chosen from each."""
    rows = [[pow(i + 2, k + 3, 10_007) % 19 - 9 for k in range(size)] for i in range(size)]
    both = [row(*entries) for entries in (*rows, *([-x for x in entries] for entries in rows))]
    node = ["pack", [[i, size + i] for i in range(size)]]
    evidence = {
        "interior": {"x": ["0"] * size},
        "trees": {"prime": str(2**61 - 1), "trees": [[node]]},
    }
    return certificate("injective-pack", network(size, layer(0, both), last="relu"), evidence)


def long_forms(size: int) -> bytes:
    """A layer whose rows become long in the coordinates of a domain with long pivots."""
    pivots = [hex(2**16_383 + k) for k in (1, 3, 5, 9)]
    ones = row(*["1"] * size, "0")
    net = network(4 + size, layer(0, [row(*["3"] * (4 + size))] * 10 * size), last="relu")
    document = altered("injective-pack")
    document["claim"]["network"]["inline"] = net
    document["claim"]["domain"]["equations"] = [
        f"{unit(4, k, pivot)} {ones}" for k, pivot in enumerate(pivots)
    ]
    document["proof"]["hypotheses"][0]["evidence"]["x"] = ["0"] * (4 + size)
    return written(document)


def both_signs(size: int) -> list[str]:
    """The rows of the layer [I; -I]."""
    return [*(unit(size, k) for k in range(size)), *(unit(size, k, "-1") for k in range(size))]


def complete_tree(depth: int, leaf: dict[str, Any]) -> list[dict[str, Any]]:
    """A tree that is split at one atom after the other; every leaf has all signs."""
    return _below(0, depth, leaf)


def _below(place: int, depth: int, leaf: dict[str, Any]) -> list[dict[str, Any]]:
    if place == depth:
        return [leaf]
    below = _below(place + 1, depth, leaf)
    return [{"signs": [], "split": place}, *below, *below]


def pairs_of_cells(size: int) -> bytes:
    """All pairs of many cells, on which many outputs show that equal outputs are equal points."""
    depth = size.bit_length()
    back = [f"{unit(depth, k)} {unit(depth, k, '-1')}" for k in range(depth)]
    more = [row(*[pow(i + 2, k + 3, 10_007) for k in range(2 * depth)]) for i in range(size)]
    net = network(depth, layer(0, both_signs(depth)), layer(1, [*back, *more]))
    nodes = complete_tree(depth, {"signs": [], "leaf": "cell"})
    pairs: list[list[list[int]]] = [[]] * (2 ** (depth - 1) * (2**depth - 1) - 1)
    evidence = {
        "cells": {"prime": str(2**61 - 1), "nodes": nodes},
        "pairs": {"pairs": [*pairs, [[0]]]},
    }
    return certificate("injective-cells", net, evidence)


def lipschitz_of(net: Any, size: int, nodes: list[Any], bound: str = "1/2") -> bytes:
    """A certificate of a bound that is larger than the one of its only layer."""
    document = altered("inverse-lipschitz")
    document["claim"]["network"]["inline"] = net
    document["claim"]["at-least"] = "1000000"
    interior, layers, _ = (entry["evidence"] for entry in document["proof"]["hypotheses"])
    interior["x"] = ["0"] * size
    layers["layers"] = [{"at-least": bound, "nodes": nodes}]
    return written(document)


def patterns(size: int) -> bytes:
    """Many patterns of a layer of which many neurons are always on."""
    depth = size.bit_length()
    zeros = [row(*["0"] * depth)] * (20 * size)
    bias = row(*["0"] * (2 * depth), *["1"] * (20 * size))
    net = network(depth, layer(0, [*both_signs(depth), *zeros], bias), last="relu")
    return lipschitz_of(net, depth, complete_tree(depth, {"signs": [], "leaf": "cell"}))


def long_diagonals(size: int) -> bytes:
    """An elimination of long numbers shows that an affine map does not shrink too much."""
    rows = [row(*(long(7 * i + k * k, 3_000) for k in range(size))) for i in range(size)]
    return lipschitz_of(network(size, layer(0, rows)), size, [], f"1/{long(0, 9_000)}")


def joined_layers(size: int) -> bytes:
    """A left inverse whose first layer is multiplied with an affine one."""
    rows = [row(*(pow(i + 2, k + 3, 10_007) for k in range(size))) for i in range(size)]
    evidence = {
        "inverse": {"network": network(size, layer(0, rows))},
        "identity": {"nodes": [{"signs": [], "leaf": "equal"}]},
    }
    return certificate("injective-left-inverse", network(size, layer(0, rows)), evidence)


def size_of(net: Any, theorem: str, points: list[list[str]]) -> bytes:
    """A certificate of a size with another network and other points."""
    return certificate(theorem, net, {"points": {"points": points}})


def deep_maps(size: int) -> bytes:
    """Affine maps through many layers of long numbers at many points."""
    rows = [row(*(long(i + 3 * k, 400) for k in range(4))) for i in range(4)]
    net = network(4, *(layer(k, rows) for k in range(size)))
    points = [[str(i + 1), str(i * i), "-1", "2"] for i in range(size)]
    return size_of(net, "size-affine-maps", points)


def wide_planes(size: int) -> bytes:
    """Jumps of a network with many inputs and neurons, at one point again and again."""
    rows = [unit(size, k) for k in range(size)]
    ones = [row(*["1"] * size)] * size
    net = network(size, layer(0, rows), layer(1, ones), layer(2, [row(*["1"] * size)]))
    points = [["0", *["1"] * (size - 1)]] * 40
    return size_of(net, "size-hyperplanes", points)


def many_inputs(size: int) -> bytes:
    """A neuron with very many inputs, of which no square matrix can be made."""
    net = network(size, layer(0, [row(*["1"] * size)]), layer(1, ["1"]))
    return size_of(net, "size-jumps", [["0"] * size, ["0"] * size])


def equal_rows(size: int) -> bytes:
    """A row of a large Jacobian that is listed again and again."""
    net = network(size, layer(0, [row(*["1"] * size)] * size), layer(1, [row(*["1"] * size)] * 2))
    entry = {"x": ["1"] * size, "outputs": [0, 1] * size}
    evidence = {"rank": {"prime": str(2**61 - 1), "rows": [entry]}}
    return certificate("functional-dimension", net, evidence)


# -- bounds


def bounds_of(
    net: Any, nodes: str, size: int = 1, other: Any = None, first: str = "", **terms: Any
) -> bytes:
    """A claim about values on a cube that holds by far, and its nodes without an end."""
    inputs, outputs = net["inputs"], net["layers"][-1]["bias"].count(" ") + 1
    cube = [unit(inputs, j, sign) + " 1" for j in range(inputs) for sign in ("1", "-1")]
    domain = {"inequalities": terms.get("inequalities", cube), "equations": []}
    domain["equations"] = terms.get("equations", [])
    claim = {"kind": "deviation", "network": {"sha256": "", "inline": net}}
    claim |= {"other": {"sha256": "", "inline": other or net}, "domain": domain}
    claim |= {"outputs": [*range(outputs)], "at-least": "0", "at-most": "1" + "0" * 900}
    claim |= {"except": terms.get("excluded", [])} | terms.get("claim", {})
    for key in terms.get("without", []):
        del claim[key]
    header = {"claim": claim, "grid": terms.get("grid", 44)}
    header |= {"matching": terms.get("matching", []), "points": [terms.get("x", ["0"] * inputs)]}
    return tree_of(header, nodes, size, first)


def stack(*widths: int, weight: str = "1") -> Any:
    """A network whose neurons are open on the cube, and which has no small integers."""
    layers = []
    for number, (width, size) in enumerate(pairwise(widths)):
        rows = [row(*(weight if (i + k) % 3 else "-7" for k in range(width))) for i in range(size)]
        layers.append(layer(number, rows, row(*(i % 5 - 2 for i in range(size))), "3"))
    return network(widths[0], *layers)


def leaves(size: int) -> bytes:
    """Cuts of which each has a leaf below, with the forms of a wide network."""
    return bounds_of(stack(5, size, size, size, 2), "[0]\n[]", 4_000)


def thin_leaves(size: int) -> bytes:
    """Very many cuts and leaves on which a deep network of one neuron a layer is followed."""
    return bounds_of(stack(*[1] * 20), "[0]\n[]", size)


def backward_leaves(size: int) -> bytes:
    """Leaves with open neurons of a wide network that are bounded backwards."""
    return bounds_of(stack(5, size, size, size, 2), '[0]\n["backward"]', 4_000)


def thin_backward_leaves(size: int) -> bytes:
    """Very many leaves on which every layer of a deep network of one neuron is followed back."""
    return bounds_of(stack(*[1] * 20), '[0]\n["backward"]', size)


def deep_backward_leaf(size: int) -> bytes:
    """A leaf of a network with very many layers of one neuron, of which each is followed back."""
    return bounds_of(stack(*[1] * size), '["backward"]')


def joint_leaves(size: int) -> bytes:
    """Leaves with open pairs of two wide networks that are bounded jointly."""
    net, other = stack(5, size, size, size, 2), stack(5, size, size, size, 2, weight="2")
    return bounds_of(net, '[0]\n["joint"]', 4_000, other)


def thin_joint_leaves(size: int) -> bytes:
    """The same for networks with many layers of one neuron."""
    return bounds_of(stack(*[1] * 20), '[0]\n["joint"]', size, stack(*[1] * 20, weight="2"))


def deep_joint_leaf(size: int) -> bytes:
    """A leaf of networks with very many layers of one neuron, of which each is followed back."""
    return bounds_of(stack(*[1] * size), '["joint"]', 1, stack(*[1] * size, weight="2"))


def fine_joint_leaf(size: int) -> bytes:
    """Joint bounds on the finest grid."""
    net, other = stack(20, size, size, 2), stack(20, size, size, 2, weight="2")
    return bounds_of(net, '["joint"]', 1, other, grid=4_096)


#: A row that holds by far.
FAR = "-1" + "0" * 900
#: Cuts, each with a leaf below, and intervals that all nodes below inherit.
INHERITED = '["intervals"]\n[0]\n["inherited"]'


def inherited_leaves(size: int) -> bytes:
    """Nodes that inherit intervals of two wide networks."""
    net, other = stack(5, size, size, size, 2), stack(5, size, size, size, 2, weight="2")
    return bounds_of(net, INHERITED, 4_000, other)


def thin_inherited_leaves(size: int) -> bytes:
    """The same for networks with many layers of one neuron."""
    return bounds_of(stack(*[1] * 20), INHERITED, size, stack(*[1] * 20, weight="2"))


def deep_inherited_leaf(size: int) -> bytes:
    """Intervals of networks with very many layers of one neuron."""
    net, other = stack(*[1] * size), stack(*[1] * size, weight="2")
    return bounds_of(net, '["inherited"]', 1, other)


def fine_inherited_leaf(size: int) -> bytes:
    """Inherited intervals on the finest grid."""
    net, other = stack(20, size, size, 2), stack(20, size, size, 2, weight="2")
    return bounds_of(net, INHERITED, 1, other, grid=4_096)


def wide_intervals(size: int) -> bytes:
    """Intervals of very many neurons that read one, and whose forms are never made."""
    return bounds_of(stack(1, 1, size, 1), INHERITED, 1, stack(1, 1, size, 1, weight="2"))


def kept_intervals(size: int) -> bytes:
    """Intervals of many neurons whose signs are known, kept at very many nodes."""
    wide = layer(1, ["1"] * size), layer(2, [row(*["1"] * size)])
    net = network(1, layer(0, ["1"]), *wide)
    return bounds_of(net, INHERITED, 4_000, inequalities=["1 9", "-1 -1"], x=["2"])


def chain_of_intervals(size: int) -> bytes:
    """Very many records of intervals, one after the other."""
    return bounds_of(stack(1, 1, 1), '["intervals"]', size)


def long_intervals(size: int) -> bytes:
    """Intervals whose ends become longer with every layer."""
    return bounds_of(stack(5, *[5] * size, 1, weight=long(5, 3_000)), INHERITED, 4_000)


def inherited_clauses(size: int) -> bytes:
    """Leaves at which each of very many rows is bounded anew."""
    net = stack(1, 4, 4, 1)
    rows = [[below(FAR + "1" * (i % 9), 0)] for i in range(size)]
    return held(net, rows, INHERITED)


def fine_backward_leaf(size: int) -> bytes:
    """Backward bounds on the finest grid."""
    return bounds_of(stack(20, size, size, 2), '["backward"]', grid=4_096)


def fine_grid(size: int) -> bytes:
    """A leaf on the finest grid."""
    return bounds_of(stack(20, size, size, 2), "[0]\n[]", 4_000, grid=4_096)


def long_centers(size: int) -> bytes:
    """Numbers that become longer with every layer, on a domain that is a point."""
    net = network(1, *(layer(k, [long(k)], "1") for k in range(size)))
    return bounds_of(net, "[]", inequalities=["1 0", "-1 0"])


def long_layers(size: int) -> bytes:
    """Forms of many generators whose numbers become longer with every layer."""
    return bounds_of(stack(20, *[20] * size, 1, weight=long(5, 3_000)), "[]")


def decisions(size: int) -> bytes:
    """Decisions among many classes."""
    return bounds_of(
        stack(1, size), "[]", 9, claim={"kind": "same-decisions", "margin": "0"},
        without=["outputs", "at-least", "at-most"],
    )  # fmt: skip


def many_multiples(size: int) -> bytes:
    """Leaves with multiples of many neurons that were cut by sign, for many clauses."""
    net = stack(2, size, 40)
    first = "".join(f'["f",1,{i}]\n' for i in range(size))
    multiples = [[4 + i, "1/3"] for i in range(size)]
    leaf = json.dumps(["bounded", [[c, 0, multiples] for c in range(80)]])
    return bounds_of(net, leaf, 40, first=first)


def held(
    net: Any, clauses: list[list[dict[str, Any]]], nodes: str, size: int = 4_000, **more: Any
) -> bytes:
    """A claim that clauses hold for one network on a cube."""
    terms: dict[str, Any] = {"claim": {"kind": "holds", "clauses": clauses}, **more}
    terms["without"] = ["outputs", "at-least", "at-most", "other"]
    return bounds_of(net, nodes, size, **terms)


def below(constant: str, *outputs: int) -> dict[str, Any]:
    """A row: the sum of some outputs and a constant is not positive."""
    listed = [[i, "1"] for i in outputs]
    return {"f": listed, "g": [], "x": [], "constant": constant, "is": "<=0"}


def shown_clauses(size: int) -> bytes:
    """Nodes above which each of very many clauses was shown."""
    return held(stack(1, 1), [[below("-1")]] * size, '["shown",[]]')


def long_slopes(size: int) -> bytes:
    """Rows with long slopes of all neurons of a deep network."""
    slopes = [["f", k, i, f"1/{long(i + k, 200)}"] for k in range(1, 7) for i in range(size)]
    node = json.dumps(["shown", [[0, 0, [], slopes]]])
    return held(stack(2, *[size] * 6, 1), [[below("-1" + "0" * 900, 0)]], node)


def deep_slopes(size: int) -> bytes:
    """Rows with slopes of all neurons of a network with very many layers of one neuron."""
    slopes = [["f", k, 0, "0"] for k in range(1, size + 1)]
    node = json.dumps(["shown", [[c, 0, [], slopes] for c in range(20)]])
    return held(stack(*[1] * (size + 2)), [[below("-1" + "0" * 900, 0)]] * 20, node, 40)


def many_slopes(size: int) -> bytes:
    """Rows with slopes of all pairs of neurons of a wide network, with its own copy as partner."""
    net = stack(2, size, 9)
    slopes = [["g", 1, i, "1/2", "-1/3"] for i in range(size)]
    matching = [[[i, "2/3"] for i in range(size)]]
    listed = [[c, 0, [], slopes] for c in range(18)]
    return bounds_of(net, json.dumps(["shown", listed]), 4_000, matching=matching)


def sums_of_ends(size: int) -> bytes:
    """Largest values over boxes of many coordinates, each with long ends of its own."""
    ends = [unit(size, j, s + long(2 * j)) + " 1" for j in range(size) for s in ("", "-")]
    net = network(size, layer(0, [row(*["1"] * size)]))
    return held(net, [[below(FAR, 0)]] * 20, '["exact",[]]', inequalities=ends)


def sums_of_multiples(size: int) -> bytes:
    """Many long multiples of inequalities whose denominators have no common divisor."""
    slanted = [f"{1 + i % 7} {1 + i % 5} 1000" for i in range(size)]
    cube = [unit(2, j, sign) + " 1" for j in range(2) for sign in ("1", "-1")]
    multiples = [[4 + i, f"1/{long(i)}"] for i in range(size)]
    node = json.dumps(["bounded", [[c, 0, multiples] for c in range(20)]])
    net = network(2, layer(0, ["1 1"]))
    return held(net, [[below(FAR, 0)]] * 20, node, 1, inequalities=[*cube, *slanted])


def long_pivots(size: int) -> bytes:
    """Multiples of inequalities where inputs are combinations of others with long denominators."""
    equations = [f"{unit(4, i, long(i))} {row(i + 1, 2)} 0" for i in range(4)]
    cube = [unit(6, j, sign) + " 1" for j in (4, 5) for sign in ("1", "-1")]
    slanted = [f"{row(*[1 + i % (j + 2) for j in range(6)])} 1000" for i in range(size)]
    multiples = [[4 + i, "1/3"] for i in range(size)]
    node = json.dumps(["bounded", [[c, 0, multiples] for c in range(20)]])
    net, terms = network(6, layer(0, [row(*["1"] * 6)])), {"equations": equations}
    return held(net, [[below(FAR, 0)]] * 20, node, 9, inequalities=[*cube, *slanted], **terms)


def wide_multiples(size: int) -> bytes:
    """Multiples of all sides of a cube, one after the other, in many rows."""
    multiples = [[i, "1/3"] for i in range(2 * size)]
    node = json.dumps(["relaxed", [[c, 0, multiples, []] for c in range(40)]])
    return held(network(size, layer(0, [row(*["0"] * size)])), [[below(FAR)]] * 40, node, 9)


def deep_multiples(size: int) -> bytes:
    """Multiples of neurons of many layers, each of which was cut by sign."""
    net = network(1, *(layer(k, ["1"]) for k in range(size)))
    first = "".join(f'["f",{k},0]\n' for k in range(1, size))
    multiples = [[1 + k, "1"] for k in range(1, size)]
    node = json.dumps(["relaxed", [[c, 0, multiples, []] for c in range(40)]])
    return held(net, [[below(FAR, 0)]] * 40, node, 9, first=first)


def dense_inputs(size: int) -> bytes:
    """Inputs that are combinations of many coordinates."""
    equations = [f"{unit(size, i)} {row(*[i + 2] * size)} 0" for i in range(size)]
    cube = [unit(2 * size, j, s) + " 1" for j in range(size, 2 * size) for s in ("1", "-1")]
    net = stack(2 * size, size, 2)
    return bounds_of(net, "[0]\n[]", 4_000, equations=equations, inequalities=cube)


def excluded_boxes(size: int) -> bytes:
    """Many boxes of long numbers that the claim leaves out."""
    box = {"lower": [f"1/{long(0)}"] * 4, "upper": [f"1/{long(2)}"] * 4}
    return bounds_of(stack(4, 3, 1), "[]", excluded=[box] * size)


def long_scales(size: int) -> bytes:
    """Partners with long scales in wide layers."""
    partners = [[i, f"{long(i, 3_000)}/{long(i + 1, 3_000)}"] for i in range(size)]
    return bounds_of(stack(2, size, size, 1), "[]", matching=[partners, partners])


# -- files that ask much of a description


def remarks(size: int) -> bytes:
    """A false certificate with long remarks."""
    document = altered("rounding")
    document["claim"]["at-most"] = ["0", "0"]
    document["unverified"] = {f"key {k} " + "k" * size: "a word " * size for k in range(32)}
    return written(document)


def sides(size: int) -> bytes:
    """A claim about a runtime on a box of many long sides, with many bounds."""
    document = altered("rounding")
    ends = [f"{2 * k + 1}/{long(k)}" for k in range(min(size, 4_000))]
    claim = document["claim"]
    claim["domain"] = {"lower": ends * (size // len(ends)), "upper": ends * (size // len(ends))}
    claim["at-most"] = ends * (size // len(ends))
    return written(document)


def inequalities(size: int) -> bytes:
    """Inequalities in one coordinate that look like a cube, all of them different."""
    document = altered("point")
    document["claim"]["domain"]["inequalities"] = [f"0 {k + 1} {size - k}" for k in range(size)]
    return written(document)


def long_inequalities(size: int) -> bytes:
    """Few inequalities in many coordinates."""
    document = altered("point")
    document["claim"]["domain"]["inequalities"] = [row(*["10"] * size)] * 4
    return written(document)


def coordinates(size: int) -> bytes:
    """A point with many long coordinates."""
    document = altered("point")
    document["proof"]["hypotheses"][0]["evidence"]["x"] = [f"1/{long(0)}"] * size
    return written(document)


def many_layers(size: int) -> bytes:
    return certificate("affine", network(1, *(layer(k, ["1"]) for k in range(size))), {})


BOMBS = {
    "lists": Bomb(lists, 80_000_000, 200_000),
    "numbers": Bomb(numbers, 120_000_000, 200_000),
    "objects": Bomb(objects, 30_000_000, 200_000),
    "strings": Bomb(strings, 50_000_000, 200_000),
    "keys": Bomb(keys, 300_000, 20_000),
    "blanks": Bomb(blanks, 1 << 28, 1 << 22),
    "zeros": Bomb(zeros, 25_000_000, 1_000_000),
    "common divisors": Bomb(common_divisors, 20_000, 200),
    "masks": Bomb(masks, 30_000, 3_000),
    "corners": Bomb(corners, 256, 16),
    "determinants": Bomb(determinants, 450, 40),
    "assignments": Bomb(assignments, 16_000, 500),
    "minors": Bomb(minors, 16_000, 200),
    "breakpoints": Bomb(breakpoints, 20_000, 300),
    "scales": Bomb(scales, 9_990, 200),
    "steps": Bomb(steps, 180, 10),
    "slices": Bomb(slices, 1_000, 5),
    "splits": Bomb(splits, 4_000, 100),
    "silent nodes": Bomb(silent_nodes, 5_000, 20),
    "repeated signs": Bomb(repeated_signs, 1_200, 1),
    "solved signs": Bomb(solved_signs, 1_200, 1),
    "region points": Bomb(region_points, 4_000, 40),
    "skips": Bomb(skips, 1_500, 20),
    "parts": Bomb(parts, 200, 4),
    "many sources": Bomb(many_sources, 9_000, 20),
    "divided splits": Bomb(divided_splits, 4_000, 3),
    "equal forms": Bomb(equal_forms, 30_000, 3),
    "wide nodes": Bomb(wide_nodes, 3_000, 3),
    "equations": Bomb(equations, 600, 20),
    "long equation": Bomb(long_equation, 500, 5),
    "orthants": Bomb(orthants, 500, 30),
    "moves": Bomb(moves, 700, 40),
    "pencil": Bomb(pencil, 350, 30),
    "long vertices": Bomb(long_vertices, 15, 6),
    "silent layers": Bomb(silent_layers, 1_200, 100),
    "quotients": Bomb(quotients, 600, 8),
    "choices": Bomb(choices, 400, 40),
    "long forms": Bomb(long_forms, 160, 4),
    "pairs of cells": Bomb(pairs_of_cells, 511, 7),
    "patterns": Bomb(patterns, 1_000, 20),
    "long diagonals": Bomb(long_diagonals, 60, 4),
    "joined layers": Bomb(joined_layers, 500, 12),
    "deep maps": Bomb(deep_maps, 60, 6),
    "wide planes": Bomb(wide_planes, 300, 10),
    "many inputs": Bomb(many_inputs, 100_000, 2_000),
    "equal rows": Bomb(equal_rows, 300, 20),
    "leaves": Bomb(leaves, 300, 20),
    "thin leaves": Bomb(thin_leaves, 4_000, 200),
    "backward leaves": Bomb(backward_leaves, 300, 20),
    "thin backward leaves": Bomb(thin_backward_leaves, 4_000, 200),
    "deep backward leaf": Bomb(deep_backward_leaf, 4_000, 40),
    "fine backward leaf": Bomb(fine_backward_leaf, 200, 8),
    "joint leaves": Bomb(joint_leaves, 300, 20),
    "thin joint leaves": Bomb(thin_joint_leaves, 4_000, 200),
    "deep joint leaf": Bomb(deep_joint_leaf, 4_000, 40),
    "fine joint leaf": Bomb(fine_joint_leaf, 200, 8),
    "inherited leaves": Bomb(inherited_leaves, 200, 20),
    "thin inherited leaves": Bomb(thin_inherited_leaves, 4_000, 200),
    "deep inherited leaf": Bomb(deep_inherited_leaf, 4_000, 40),
    "fine inherited leaf": Bomb(fine_inherited_leaf, 100, 8),
    "wide intervals": Bomb(wide_intervals, 60_000, 200),
    "kept intervals": Bomb(kept_intervals, 20_000, 40),
    "chain of intervals": Bomb(chain_of_intervals, 400_000, 10_000),
    "long intervals": Bomb(long_intervals, 60, 3),
    "inherited clauses": Bomb(inherited_clauses, 2_000, 200),
    "fine grid": Bomb(fine_grid, 200, 8),
    "long centers": Bomb(long_centers, 200, 10),
    "long layers": Bomb(long_layers, 60, 4),
    "decisions": Bomb(decisions, 2_000, 40),
    "many multiples": Bomb(many_multiples, 300, 8),
    "shown clauses": Bomb(shown_clauses, 100_000, 1_000),
    "long slopes": Bomb(long_slopes, 60, 4),
    "deep slopes": Bomb(deep_slopes, 2_000, 100),
    "many slopes": Bomb(many_slopes, 300, 8),
    "sums of ends": Bomb(sums_of_ends, 200, 40),
    "sums of multiples": Bomb(sums_of_multiples, 100, 30),
    "long pivots": Bomb(long_pivots, 200, 20),
    "wide multiples": Bomb(wide_multiples, 1_200, 60),
    "deep multiples": Bomb(deep_multiples, 3_000, 300),
    "dense inputs": Bomb(dense_inputs, 300, 10),
    "excluded boxes": Bomb(excluded_boxes, 1_500, 20),
    "long scales": Bomb(long_scales, 300, 6),
    "remarks": Bomb(remarks, 1_000_000, 20_000),
    "sides": Bomb(sides, 12_000, 200),
    "inequalities": Bomb(inequalities, 200_000, 2_000),
    "long inequalities": Bomb(long_inequalities, 10_000_000, 20_000),
    "coordinates": Bomb(coordinates, 40_000, 200),
    "many layers": Bomb(many_layers, 300_000, 2_000),
}
