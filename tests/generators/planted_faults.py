"""Answers of float tools: correct ones, and ones with a planted fault, made from exact complexes.

`correct_answers` and `planted` give audits of a small random network. The answers are what a
perfect float tool would give: exact data, each number rounded to the nearest float64. A fault is
one of the twelve kinds, chosen by seed; `named` is what the audit must say about it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from random import Random
from typing import Any

import numpy as np

from polyrelu import audit
from polyrelu.formats import Constraint, Counterexample, DeclaredNetwork, Tensor, VnnlibQuery
from polyrelu.network import Network, from_arrays
from polyrelu.symmetry import permute, rescale
from polyrelu.topology import betti_numbers, decision_boundary

__all__ = [
    "KINDS",
    "Planted",
    "correct_answers",
    "float_answers",
    "planted",
    "small_network",
    "vnnlib_query",
]

BOX = "box:-1,1"


@dataclass(frozen=True)
class Planted:
    """A report on an answer with a fault, and what it must contain.

    Attributes
    ----------
    report
        The report of the audit.
    verdict
        The verdict of one of its findings.
    named
        Words in the text of that finding.
    count
        How many findings there are; None if it does not matter.
    """

    report: audit.AuditReport
    verdict: str
    named: tuple[str, ...]
    count: int | None = 1


def small_network(seed: int, widths: tuple[int, ...] = (2, 5, 4, 2)) -> Network:
    """A random network with float64 weights."""
    draw = Random(seed)
    layers = []
    for before, width in pairwise(widths):
        rows = [[draw.gauss(0, 1) for _ in range(before)] for _ in range(width)]
        layers.append((rows, [draw.gauss(0, 0.5) for _ in range(width)]))
    return from_arrays(layers)


def _with_sliver(seed: int) -> Network:
    """A network with a strip of regions of width 2^-30 between two parallel lines."""
    draw = Random(seed)
    a, b = draw.randint(1, 9), draw.randint(-9, 9)
    rows = [[a, b], [a, b], [draw.randint(-9, 9), 7], [1, -3]]
    bias = [0, Fraction(-1, 2**30), Fraction(1, 3), Fraction(-1, 5)]
    return from_arrays([(rows, bias), ([[1, -2, 1, 3], [2, 1, 1, -1]], [0, 1])])


def _points(rows: Any) -> np.ndarray[Any, Any]:
    return np.array([[float(x) for x in row] for row in rows], dtype=np.float64)


def float_answers(truth: audit.GroundTruth) -> dict[str, Any]:
    """The five forms of lists of regions that a perfect float tool gives, in its own order."""
    cells, size = truth.cells, truth.network.num_inputs
    regions = [cells.region(k) for k in range(cells.num_regions)]
    spaces = [_rows(r.polyhedron.inequalities) for r in regions]
    vertices = [truth.vertex_floats[truth.vertices_of(k)] for k in range(len(regions))]
    maps = [r.affine_map for r in regions]
    matrices = np.array([m.matrix.to_floats() for m in maps])
    offsets = np.array([m.offset.to_floats()[:, 0] for m in maps])
    points = _points(r.interior_point for r in regions).reshape(-1, size)
    return {
        "signs": truth.region_signs.copy(),
        "spaces": spaces,
        "vertices": vertices,
        "points": points,
        "matrices": matrices,
        "offsets": offsets,
    }


def _rows(inequalities: Any) -> tuple[Any, Any]:
    """Inequalities A x ≤ c in floats, each divided by its largest entry."""
    rows = [[float(Fraction(x, max(map(abs, row)))) for x in row] for row in inequalities]
    return [row[:-1] for row in rows], [row[-1] for row in rows]


def vnnlib_query(bound: Fraction) -> VnnlibQuery:
    """The query whether output 0 can be at least a bound on the box [-1, 1]^2."""
    inputs, outputs = Tensor("X", "Real", (2,)), Tensor("Y", "Real", (2,))
    parts = [
        Constraint(((k, Fraction(sign)),), Fraction(-1), "<=", 1 + 2 * k + (sign > 0))
        for k in range(2)
        for sign in (-1, 1)
    ]
    above = Constraint(((2, Fraction(-1)),), bound, "<=", 5)
    return VnnlibQuery(
        "planted", "1.0", (DeclaredNetwork("", (inputs,), (outputs,)),), (*parts, above)
    )


def _exact_maximum(truth: audit.GroundTruth) -> tuple[Fraction, tuple[Fraction, ...]]:
    values = truth.network.evaluate(truth.vertices)
    k = max(range(len(values)), key=lambda i: values[i][0])
    return values[k][0], truth.vertices[k]


def _float_above(value: Fraction) -> float:
    number = float(value)
    return number if Fraction(number) >= value else math.nextafter(number, math.inf)


def _changed(network: Network) -> tuple[Network, list[list[int]], list[list[Fraction]]]:
    """A network with permuted and scaled neurons, and the matching with it."""
    draw, other = Random(7), network
    pairs, scales = [], []
    for layer in (1, 2):
        width = network.widths[layer]
        order = draw.sample(range(width), width)
        factors = [Fraction(draw.randint(1, 9), 4) for _ in range(width)]
        other = permute(rescale(other, layer, factors), layer, order)
        pairs.append([order.index(i) for i in range(width)])
        scales.append(factors)
    return other, pairs, scales


# -- correct answers -------------------------------------------------------------------------------


def correct_answers(seed: int) -> Iterator[tuple[str, audit.AuditReport]]:
    """Reports on thirty correct answers about a network."""
    network = small_network(seed)
    truth = audit.ground_truth(network, BOX)
    given, draw = float_answers(truth), Random(seed)
    order = draw.sample(range(truth.num_regions), truth.num_regions)
    claims: dict[str, Any] = {
        "signs": audit.SignVectors(given["signs"][order]),
        "patterns": audit.ActivationPatterns(given["signs"][order] > 0),
        "points": audit.LocalMaps(given["points"][order]),
        "maps": audit.LocalMaps(
            given["points"][order], given["matrices"][order], given["offsets"][order]
        ),
        "matrices": audit.LocalMaps(given["points"][order], given["matrices"][order]),
        "half-spaces": audit.HalfSpaces.of([given["spaces"][k] for k in order]),
        "vertex lists": audit.VertexLists.of([given["vertices"][k] for k in order]),
    }
    for name, claim in claims.items():
        yield name, audit.audit_regions(truth, claim)
    half = order[: len(order) // 2]
    some = audit.SignVectors(given["signs"][half])
    yield "some regions", audit.audit_regions(truth, some, is_complete=False)
    exact = [[str(x) for x in vertex] for vertex in truth.vertices]
    yield "exact vertices", audit.audit_vertices(truth, exact, allowance=audit.EXACT)
    yield "vertices", audit.audit_vertices(truth, truth.vertex_floats)
    moved = truth.vertex_floats + 1e-12
    loose = audit.Allowance(absolute="1/100000000000")
    yield "vertices within 1e-11", audit.audit_vertices(truth, moved, allowance=loose)
    yield "edges", audit.audit_edges(truth, truth.vertex_floats, list(truth.edges))
    names = {
        "regions": truth.num_regions,
        "vertices": truth.cells.size(0),
        "cells_1": truth.cells.size(1),
    }
    yield "counts", audit.audit_counts(truth, names)
    pairs = truth.cells.adjacency()
    yield "adjacency", audit.audit_adjacency(truth, audit.SignVectors(given["signs"]), pairs)
    yield from _correct_values(network, truth, given["points"])
    yield from _correct_claims(network, truth)


def _correct_values(
    network: Network, truth: audit.GroundTruth, points: np.ndarray[Any, Any]
) -> Iterator[tuple[str, audit.AuditReport]]:
    """Reports on outputs and gradients, computed with numpy, and on bounds."""
    for kind in (np.float64, np.float32):
        x = points.astype(kind)
        values, gradients = in_floats(network, x)
        name = np.dtype(kind).name
        yield f"outputs {name}", audit.audit_outputs(network, x, values, arithmetic=name)
        if kind is np.float64:
            yield "gradients", audit.audit_gradients(network, x, gradients)
    exact = [[str(v) for v in row] for row in network.evaluate(points)]
    yield "exact outputs", audit.audit_outputs(network, points, exact, allowance=audit.EXACT)
    best, where = _exact_maximum(truth)
    yield "bounds", audit.audit_bounds(truth, None, [_float_above(best), math.inf])
    corners = truth.network.evaluate(truth.vertices)
    least = [min(row[k] for row in corners) for k in range(2)]
    lower = [-_float_above(-value) for value in least]
    yield "lower bounds", audit.audit_bounds(network, lower, None, BOX)
    yield "exact bound", audit.audit_bounds(network, None, [str(best), math.inf], BOX)
    largest = max(
        sum(abs(x) for x in truth.cells.region(k).affine_map.matrix.row(i))
        for k in range(truth.num_regions)
        for i in range(2)
    )
    yield "Lipschitz", audit.audit_lipschitz(truth, largest, norm="linf")
    found = Counterexample("found", {"X_0": where[0], "X_1": where[1]})
    yield "counterexample", audit.audit_counterexamples(network, vnnlib_query(best), [found])


def _correct_claims(
    network: Network, truth: audit.GroundTruth
) -> Iterator[tuple[str, audit.AuditReport]]:
    """Reports on matchings, functions, radii and topology."""
    other, pairs, scales = _changed(network)
    yield "permutation", audit.audit_matching(network, other, pairs)
    yield "matching", audit.audit_matching(network, other, pairs, scales)
    floats = [[float(s) for s in row] for row in scales]
    yield "float scales", audit.audit_matching(network, other, pairs, floats)
    yield "function", audit.audit_function(network, other)
    boundary = decision_boundary(network, BOX)
    yield "Betti", audit.audit_topology(network, betti_numbers(boundary), "boundary", BOX)
    point = truth.cells.interior_point(0)
    yield "radius", audit.audit_radii(network, [point], ["1/1000000000"])
    yield "activation count", audit.audit_counts(truth, {"bounded_regions": truth.num_regions})


def in_floats(
    network: Network, points: np.ndarray[Any, Any]
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Outputs and gradients as numpy computes them in the format of the points."""
    values = points
    size = network.num_inputs
    gradients = np.repeat(np.eye(size, dtype=points.dtype)[None], len(points), axis=0)
    for number in range(1, network.depth + 1):
        weight = network.weight(number).to_floats().astype(points.dtype)
        bias = network.bias(number).to_floats()[:, 0].astype(points.dtype)
        values, gradients = values @ weight.T + bias, weight @ gradients
        if number <= network.num_hidden_layers:
            gradients = gradients * (values > 0)[:, :, None]
            values = np.maximum(values, 0)
    return values, gradients


# -- faults ----------------------------------------------------------------------------------------


def planted(kind: str, seed: int) -> Planted:
    """The report on an answer with a fault of a kind."""
    return KINDS[kind](seed)


def _missing_sliver(seed: int) -> Planted:
    truth = audit.ground_truth(_with_sliver(seed), BOX)
    thin = np.flatnonzero((truth.region_signs[:, 0] > 0) & (truth.region_signs[:, 1] < 0))
    lost = int(thin[seed % len(thin)])
    rows = np.delete(truth.region_signs, lost, axis=0)
    report = audit.audit_regions(truth, audit.SignVectors(rows))
    return Planted(report, "missing", ("sliver", "inradius"))


def _duplicated(seed: int) -> Planted:
    truth = audit.ground_truth(small_network(seed), BOX)
    rows = truth.region_signs[[*range(truth.num_regions), seed % truth.num_regions]]
    return Planted(audit.audit_regions(truth, audit.SignVectors(rows)), "duplicated", ("as item",))


def _vertex_off(seed: int) -> Planted:
    truth = audit.ground_truth(small_network(seed), BOX)
    table = truth.vertex_floats.copy()
    table[seed % len(table), seed % 2] += 1e-9
    return Planted(audit.audit_vertices(truth, table), "wrong", ("distance", "about 1e-09"))


def _merged_vertices(seed: int) -> Planted:
    truth = audit.ground_truth(_with_sliver(seed), BOX)
    table = truth.vertex_floats
    gaps = np.abs(table[:, None] - table[None]).max(axis=2) + np.eye(len(table))
    lost = int(np.flatnonzero(gaps.min(axis=1) < 1e-7)[seed % 2])
    report = audit.audit_vertices(truth, np.delete(table, lost, axis=0))
    return Planted(report, "missing", ("merged vertices", "distance"))


def _wrong_sign(seed: int) -> Planted:
    truth = audit.ground_truth(small_network(seed), BOX)
    rows, draw = truth.region_signs.copy(), Random(seed)
    known = truth.region_of_signs
    while True:
        item, place = draw.randrange(len(rows)), draw.randrange(rows.shape[1])
        row = rows[item].copy()
        row[place] *= -1
        if row.tobytes() not in known:
            break
    rows[item] = row
    neuron = truth.network.neurons[place]
    words = ("flipped sign", f"neuron {neuron.index} of layer {neuron.layer}")
    return Planted(audit.audit_regions(truth, audit.SignVectors(rows)), "wrong", words)


def _wrong_map(seed: int) -> Planted:
    truth = audit.ground_truth(small_network(seed), BOX)
    given = float_answers(truth)
    item = seed % truth.num_regions
    given["matrices"][item, 0, 1] = np.nextafter(given["matrices"][item, 0, 1], np.inf)
    claims = audit.LocalMaps(given["points"], given["matrices"], given["offsets"])
    words = (f"item {item} gives the derivative by input 1 of output 0", "largest difference")
    return Planted(audit.audit_regions(truth, claims), "wrong", words)


def _outside_box(seed: int) -> Planted:
    network = small_network(seed)
    truth = audit.ground_truth(network, BOX)
    best, where = _exact_maximum(truth)
    values = dict(zip(("X_0", "X_1"), where, strict=True))
    name = "X_0" if abs(where[0]) == 1 else "X_1"
    values[name] *= 1 + Fraction(1, 10**12)
    bound = min(best, network(list(values.values()))[0]) - Fraction(1, 2**20)
    found = Counterexample("found", values)
    report = audit.audit_counterexamples(network, vnnlib_query(bound), [found])
    return Planted(report, "wrong", ("box edge", "distance from the box"))


def _small_bound(seed: int) -> Planted:
    truth = audit.ground_truth(small_network(seed), BOX)
    best, _ = _exact_maximum(truth)
    bound = math.nextafter(_float_above(best), -math.inf)
    report = audit.audit_bounds(truth, None, [bound, math.inf])
    return Planted(report, "wrong", ("too small", "last place", "excess"))


def _swapped(seed: int) -> Planted:
    network = small_network(seed)
    other, pairs, _ = _changed(network)
    row = pairs[seed % 2]
    row[0], row[seed % 3 + 1] = row[seed % 3 + 1], row[0]
    return Planted(audit.audit_matching(network, other, pairs), "wrong", ("swapped neurons",), 2)


def _wrong_scale(seed: int) -> Planted:
    network = small_network(seed)
    other, pairs, scales = _changed(network)
    scales[seed % 2][seed % 4] *= 1 + Fraction(1, 2**40)
    report = audit.audit_matching(network, other, pairs, scales)
    return Planted(report, "wrong", ("scale: the partner is right",))


def _betti_off(seed: int) -> Planted:
    network = small_network(seed)
    right = list(betti_numbers(decision_boundary(network, BOX)))
    right[seed % len(right)] += 1
    report = audit.audit_topology(network, right, "boundary", BOX)
    return Planted(report, "wrong", (f"b_{seed % len(right)}", "difference: 1"))


def _another_network(seed: int) -> Planted:
    other = audit.ground_truth(small_network(seed + 1000), BOX)
    report = audit.audit_regions(small_network(seed), audit.SignVectors(other.region_signs), BOX)
    return Planted(report, "extra", ("another network",), None)


#: The twelve kinds of faults.
KINDS: dict[str, Callable[[int], Planted]] = {
    "missing sliver": _missing_sliver,
    "duplicated region": _duplicated,
    "vertex off": _vertex_off,
    "merged vertices": _merged_vertices,
    "wrong sign": _wrong_sign,
    "wrong map": _wrong_map,
    "outside the box": _outside_box,
    "small bound": _small_bound,
    "swapped neurons": _swapped,
    "wrong scale": _wrong_scale,
    "Betti number": _betti_off,
    "another network": _another_network,
}
