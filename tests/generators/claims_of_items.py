"""Claims that are judged one by one, in every form, some of them wrong."""

from __future__ import annotations

from typing import Any

from polyrelu import audit
from polyrelu.network import Network
from tests.generators.planted_faults import BOX, float_answers

__all__ = ["claims_of_items"]


def claims_of_items(network: Network) -> dict[str, Any]:
    """A document of claims about a network with two inputs and outputs on the box of `BOX`.

    In each list the first item is wrong or missing.
    """
    truth = audit.ground_truth(network, BOX)
    given = float_answers(truth)
    points = given["points"]
    values = [[float(y) for y in row] for row in network.evaluate(points)]
    values[0][1] += 1
    maps = given["matrices"].tolist()
    maps[0][0][0] += 1
    (rows, right), *spaces = given["spaces"]
    changed = [right[0] / 2 + 1 / 64, *right[1:]]
    vertices = [v.tolist() for v in given["vertices"]]
    return {
        "format": "polyrelu claims",
        "version": 1,
        "domain": BOX,
        "interior_points": points.tolist(),
        "matrices": maps,
        "half_spaces": [{"A": a, "c": c} for a, c in [(rows, changed), *spaces]],
        "vertex_lists": [[[0.125, 0.25], *vertices[0][1:]], *vertices[1:]],
        "vertices": truth.vertex_floats[1:].tolist(),
        "adjacency": truth.cells.adjacency().tolist()[1:],
        "output_points": points.tolist(),
        "output_values": values,
        "gradients": maps,
        "radius_points": [[0.5, 0.25], [0.25, 0.5], [-0.5, 0.125]],
        "radii": [3, 1e-9, 0.25],
    }
