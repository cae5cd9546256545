"""Certificates by vertices as lists of JSON values, damaged in the ways that could fool a checker.

A mutant is given the best chance: where the checker only refuses the claimed numbers of cells, the
numbers that it has counted are put into the claim.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from random import Random
from typing import Any

from polyrelu import checker
from tests.generators.tree_documents import Document, written

__all__ = ["DAMAGES", "best_report", "with_vertices"]

#: The lines of the vertices; the number of forms.
Damage = Callable[[list[Any], int, Random], None]


def with_vertices(document: Document, vertices: list[Any]) -> Document:
    """The document with other vertices, and their number in header and footer."""
    head, foot = {**document[0], "vertices": len(vertices)}, {**document[-1]}
    return [head, *vertices, {**foot, "nodes": len(vertices)}]


def best_report(document: Document) -> tuple[checker.CheckReport, Any]:
    """The report once the numbers that the checker counts are claimed, and the claim."""
    document = [copy.deepcopy(document[0]), *document[1:]]
    claim = document[0]["claim"]
    for _ in range(8):
        report = checker.check_bytes(written(document))
        if report.verdict != "rejected" or " " not in report.expected:
            break
        number, *words = report.expected.split()
        if report.step == "claim.count":
            claim["count"] = int(number)
        elif report.step == "claim.f-vector" and len(words) == 4:
            claim["f-vector"][int(words[-1])] = int(number)
        else:
            break
    return report, claim


def _missing(vertices: list[Any], _: int, rng: Random) -> None:
    del vertices[rng.randrange(len(vertices))]


def _doubled(vertices: list[Any], _: int, rng: Random) -> None:
    vertices.insert(rng.randrange(len(vertices) + 1), copy.deepcopy(rng.choice(vertices)))


def _part(vertices: list[Any], _: int, rng: Random) -> None:
    """Each vertex is kept with the same probability."""
    share = rng.random()
    vertices[:] = [vertex for vertex in vertices if rng.random() < share]


def _mask(vertices: list[Any], size: int, rng: Random) -> None:
    """A form changes between positive and not positive."""
    vertex = rng.choice(vertices)
    vertex[0] = str(int(vertex[0]) ^ 1 << rng.randrange(size))


def _zeros(vertices: list[Any], size: int, rng: Random) -> None:
    """A form changes between 0 and not 0."""
    vertex = rng.choice(vertices)
    vertex[1] = sorted({*vertex[1]} ^ {rng.randrange(size)})


def _moved(vertices: list[Any], size: int, rng: Random) -> None:
    """One form is no zero any more, another one is, as at a neighbour."""
    vertex = rng.choice(vertices)
    if not vertex[1]:
        return
    old, new, positive = rng.choice(vertex[1]), rng.randrange(size), int(vertex[0])
    vertex[1] = sorted({*vertex[1]} - {old} | {new})
    vertex[0] = str(positive & ~(1 << new) | rng.randrange(2) << old)


def _lists(vertices: list[Any], rng: Random) -> list[list[Any]]:
    """The lists of cells at one of the vertices that have lists; empty if there are none."""
    listed = [vertex[2] for vertex in vertices if len(vertex) > 2]
    found = [rng.choice(listed)] if listed else []
    for cells in found:  # the lists in it are appended while it is read
        found += [cell[2] for cell in cells if len(cell) > 2]
    return found


def _listed(vertices: list[Any], _: int, rng: Random) -> None:
    """A cell of a list is left out, doubled or replaced by another one."""
    cells = rng.choice(_lists(vertices, rng) or [[]])
    if cells:
        place, other = rng.randrange(len(cells)), copy.deepcopy(rng.choice(cells))
        rng.choice(
            (
                lambda: cells.pop(place),
                lambda: cells.append(other),
                lambda: cells.__setitem__(place, other),
            )
        )()


def _listed_signs(vertices: list[Any], _: int, rng: Random) -> None:
    """A sign of a listed cell is changed."""
    cells = rng.choice(_lists(vertices, rng) or [[]])
    if cells:
        cell, part = rng.choice(cells), rng.randrange(2)
        pool = sorted({n for entry in cells for n in (*entry[0], *entry[1])}) or [0]
        cell[part] = sorted({*cell[part]} ^ {rng.choice(pool)})


def _no_list(vertices: list[Any], _: int, rng: Random) -> None:
    """A list is left out, or there is one where none belongs."""
    vertex = rng.choice(vertices)
    cells = rng.choice(_lists(vertices, rng) or [[]])
    inner = [cell for cell in cells if len(cell) > 2]
    if inner:
        del rng.choice(inner)[2]
    elif len(vertex) > 2:
        del vertex[2]
    else:
        vertex.append([[[], vertex[1][1:]]])


DAMAGES: dict[str, Damage] = {
    "a vertex left out": _missing,
    "a vertex doubled": _doubled,
    "a part of the vertices": _part,
    "another mask": _mask,
    "other zeros": _zeros,
    "a vertex moved": _moved,
    "other cells in a list": _listed,
    "other signs in a list": _listed_signs,
    "a list left out or added": _no_list,
}
