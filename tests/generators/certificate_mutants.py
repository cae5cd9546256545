"""Certificates of small networks, for every theorem, and ways to change them.

The hash of a network that a mutant changes is computed anew, so that the checker has to look at its
content.
"""

from __future__ import annotations

import contextlib
import copy
import json
from collections.abc import Iterator
from random import Random
from typing import Any

import polyrelu
from polyrelu import NetworkError, Polyhedron, Proved
from polyrelu.complex import canonical_complex
from polyrelu.formats import runtime_error
from polyrelu.network import from_document
from polyrelu.outcomes import ComplexListed, Equivalent, NotIdentifiable, RegionsListed
from polyrelu.proofs import certify_complex, certify_regions
from polyrelu.proofs.runtime_error import prove_runtime_error
from tests.generators.certificates import leaves
from tests.generators.files import CERTIFICATES

__all__ = [
    "NETWORKS",
    "ORIGINALS",
    "Path",
    "changed",
    "mutants",
    "original",
    "places",
    "replaced",
    "value_at",
]

Path = tuple[str | int, ...]

Layers = list[tuple[list[list[Any]], list[Any]]]

#: Networks that `identify` has an answer for.
NETWORKS: dict[str, Layers] = {
    "affine": [([[1, "1/2"], [2, 0]], [3, 1])],
    "shallow by assignments": [([[1], [-2]], ["1/3", "-2/3"]), ([[1, 5]], [0])],
    "shallow by independence": [([[1, 2], [3, -1]], [1, 0]), ([[1, 1], [2, "-1/2"]], [0, 1])],
    "shallow by subset sums": [([[1], [3], [-5]], [1, 0, 2]), ([[1, 1, 1]], [0])],
    "line": [([[2, 1]], [1]), ([[1], [-1], [2]], [-1, 3, -1]), ([[1, 2, 3]], [0])],
    "bottleneck": [([[1, 0], [1, 1]], [0, 1]), ([[1, -2], [-3, 1]], [1, 1]), ([[1, 1]], [0])],
    "bottleneck, flat": [
        ([[1, 0], [1, 1]], [0, 1]),
        ([[1, -2], [3, -1]], [-1, -1]),
        ([[1, 1], [2, -1]], [0, 1]),
    ],
    "bottleneck, not generic": [
        ([[1, 0], [1, 1]], [0, 1]),
        ([[1, -2], [-3, 1], [2, 0]], [1, 1, -1]),
        ([[1, 1, 3]], [0]),
    ],
    "deep": [
        ([[-2, -1], [3, 2], [1, 1]], [0, -2, 0]),
        ([[-1, 1, 3], [1, 1, -2]], [1, 1]),
        ([[-1, 3]], [-1]),
    ],
    "deep, three hidden layers": [
        ([[-2, -2], [1, -3]], [-3, 0]),
        ([[-3, -1], [-2, 3]], [3, 0]),
        ([[1, -2], [-3, 1]], [2, -2]),
        ([[-2, -2]], [0]),
    ],
    "replacement on space": [([[1], [2]], [1, 2]), ([[1, 3]], [0])],
    "replacement on the orthant": [
        ([[1, 0], [0, 1]], [1, 0]),
        ([[1, 2], [-1, 1]], [3, 1]),
        ([[1, 1]], [0]),
    ],
    "bounded replacement": [([[1]], [0]), ([[-2]], [3]), ([[-1], [2]], [3, -1]), ([[1, 1]], [0])],
    "one-sided, dead": [([[1], [1]], [0, -1]), ([[-1, 1], [3, -1]], [0, -1]), ([[1, 1]], [0])],
    "one-sided, off": [([[1], [-1]], [-1, -1]), ([[2, -1], [-1, 3]], [1, -1]), ([[1, 1]], [0])],
    "dead, generic": [([[1, 0], [0, 1]], [1, 0]), ([[-1, -2], [-1, 3]], [-3, 1]), ([[1, 4]], [0])],
    "translation": [([[1, 0], [0, 1]], [0, 0]), ([[1, -2], [2, -1]], [-3, -1]), ([[1, 1]], [0])],
    "line-equal": [([[1]], [0]), ([[-1], [-2]], [1, 1]), ([[1, 2]], [0])],
    "rounding": [([[1, "-1/3"], [2, 1]], [0, 1]), ([[1, "7/5"]], ["1/2"])],
}


#: Files of the format's own suite, for theorems that no prover uses on networks so small.
SUITE = (
    *("deep-part-neurons", "deep-part-regular", "deep-regular", "deep-signs-sets"),
    *("flip", "one-sided-raised"),
    *("one-sided-cases", "sparse", "sparse-part"),
    *("point", "replacement-line", "tree-equal"),
    *("trailing-affine-domain", "trailing-shallow", "trailing-shallow-domain"),
    *("leaky-chains-domain", "leaky-replacement-domain", "leaky-shallow"),
    *("blocks-dead", "blocks-dead-second", "blocks-flip", "blocks-linear", "blocks-unused"),
    *("blocks-replacement", "blocks-replacement-box", "blocks-replacement-flip"),
    *("blocks-replacement-second", "blocks-one-sided", "blocks-one-sided-raised"),
    "blocks-one-sided-linear",
    *("collision", "injective-one-layer", "injective-cells", "injective-cells-apart"),
    "injective-left-inverse",
    *("inverse-lipschitz", "inverse-lipschitz-always-on", "inverse-lipschitz-monotone"),
    *("size-jumps-box", "size-hyperplanes", "size-affine-maps", "size-bends-regular"),
    "functional-dimension",
    *("teaching-set", "teaching-set-function"),
)

#: Pairs that are equal on a domain, and the domain as rows [a | c] for a·x ≤ c.
PAIRS: dict[str, tuple[Layers, Layers, list[list[Any]]]] = {
    "tree of splits": (
        [([[1]], [0]), ([[1]], [-1]), ([[2]], [0])],
        [([[1]], [-1]), ([[1]], [0]), ([[2]], [0])],
        [],
    ),
    "tree on a box": (
        [([[1, 2], [1, -1]], [0, 3]), ([[1, -1], [-2, -1]], [0, 1]), ([[1, 1]], [0])],
        [([[1, 2], [1, -1]], [0, 3]), ([[1, -1], [0, 0]], [0, 0]), ([[1, 1]], [0])],
        [[1, 0, 1], [-1, 0, 0], [0, 1, "3/2"], [0, -1, 0]],
    ),
    "tree in parts": (
        [([[1], [2]], [0, 3]), ([[1, 0], [0, 1]], [-1, -2]), ([[1, 1]], [0])],
        [([[1], [2]], [-1, 1]), ([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [0])],
        [],
    ),
}

#: Networks whose regions are listed.
REGIONS: dict[str, Layers] = {
    "regions of two layers": [([[1, 0], [0, 1]], [0, 0]), ([[1, 1], [1, -1]], [-1, 0])],
}

#: Networks whose cells are proved by the vertices; on the second one zeros are dependent.
VERTICES: dict[str, Layers] = {
    "regions by vertices": [([[1, 0], [0, 1], [1, 1]], [0, 0, -1]), ([[1, 1, 1]], [0])],
    "cells by vertices": [([[1, 0], [0, 1], [1, 1]], [0, 0, 0]), ([[1, 1, -1]], [0])],
}

#: The names of all originals.
ORIGINALS = (*NETWORKS, *SUITE, *PAIRS, *REGIONS, *VERTICES)


def original(name: str) -> tuple[Any, str]:
    """Return a certificate as a document, a tree file as the list of its lines, and its theorem."""
    if name in SUITE:
        document = json.loads((CERTIFICATES / "valid" / f"{name}.json").read_text())
        return document, document["proof"]["theorem"]
    if name in VERTICES:
        cells = canonical_complex(polyrelu.from_arrays(VERTICES[name], "relu"))
        proved = certify_regions(cells) if name.startswith("regions") else certify_complex(cells)
        assert isinstance(proved, RegionsListed | ComplexListed), proved
        return [json.loads(line) for line in proved.certificate.lines()], proved.theorem or ""
    if name in PAIRS or name in REGIONS:
        return _tree_file(name), "tree" if name in PAIRS else "regions"
    network = polyrelu.from_arrays(NETWORKS[name])
    outcome: object = polyrelu.identify(network)
    if name == "rounding":
        outcome = prove_runtime_error(runtime_error(network, (["-1/3", 0], [1, "1/2"])))
    assert isinstance(outcome, Proved | NotIdentifiable), (name, outcome)
    document, _ = outcome.certificate.to_document()
    return document, outcome.certificate.theorem


def _tree_file(name: str) -> list[Any]:
    """Return the lines of a certificate of equality on a domain, or of a list of regions."""
    if name in REGIONS:
        network = polyrelu.from_arrays(REGIONS[name])
        outcome: object = certify_regions(canonical_complex(network), method="tree")
    else:
        first, second, rows = PAIRS[name]
        sides, limits = [row[:-1] for row in rows], [row[-1] for row in rows]
        domain = Polyhedron.from_constraints(sides, limits) if rows else None
        pair = polyrelu.from_arrays(first), polyrelu.from_arrays(second)
        outcome = polyrelu.equivalent(*pair, domain)
    assert isinstance(outcome, Equivalent | RegionsListed), (name, outcome)
    return [json.loads(line) for line in outcome.certificate.lines()]


def mutants(document: dict[str, Any], rng: Random) -> Iterator[tuple[str, dict[str, Any] | None]]:
    """Yield mutated texts, with the document where the text is one."""
    for path in list(places(document)):
        for value in changed(value_at(document, path), rng):
            yield as_text(replaced(document, path, value))
        if isinstance(path[-1], str):
            yield duplicated_key(document, path), None
        yield as_text(removed(document, path))


def places(value: Any) -> Iterator[Path]:
    """Yield the paths of all values below the top."""
    return (path for path, _ in leaves(value) if path)


def changed(value: Any, rng: Random) -> Iterator[Any]:
    """Yield other values for a value."""
    if isinstance(value, list):
        yield from ([], value[::-1], value + value[-1:], value[1:], {})
        if len(value) > 1:
            yield [value[1], value[0], *value[2:]]
    elif isinstance(value, dict):
        yield from ({}, [], {**value, "extra": 1}, None)
    elif type(value) is int:
        yield from (
            value + 1,
            value - 1,
            -value,
            str(value),
            float(value),
            bool(value),
            None,
            [value],
            10**10,
        )
    elif isinstance(value, str):
        yield from changed_text(value, rng)
    elif type(value) is bool:
        yield from (not value, int(value), str(value), None)


def changed_text(text: str, rng: Random) -> Iterator[Any]:
    yield from ("", text + " ", " " + text, f"+{text}", "NaN", "1e3", None, 1, [text])
    parts = text.split(" ")
    for i, part in enumerate(parts):
        for new in changed_number(part):
            yield " ".join([*parts[:i], new, *parts[i + 1 :]])
    if len(parts) > 1:
        i, k = rng.sample(range(len(parts)), 2)
        parts[i], parts[k] = parts[k], parts[i]
        yield " ".join(parts)
        yield " ".join(parts[1:])


def changed_number(part: str) -> Iterator[str]:
    """Yield the number negated, ±1 in numerator or denominator, zero, and spelled in other ways."""
    numerator, _, denominator = part.partition("/")
    if not numerator.lstrip("-").isdigit() or not (denominator or "1").isdigit():
        yield part[::-1]
        return
    tail = f"/{denominator}" if denominator else ""
    number = int(numerator)
    yield from (
        f"{number + 1}{tail}",
        f"{number - 1}{tail}",
        f"{-number}{tail}",
        "0",
        f"0{part}",
        f"{part}.0",
        "-0",
    )
    yield f"{number}/{int(denominator or 1) + 1}"


def value_at(document: Any, path: Path) -> Any:
    for key in path:
        document = document[key]
    return document


def replaced(document: Any, path: Path, value: Any) -> Any:
    new = copy.deepcopy(document)
    value_at(new, path[:-1])[path[-1]] = value
    return rehashed(new, path)


def removed(document: Any, path: Path) -> Any:
    new = copy.deepcopy(document)
    del value_at(new, path[:-1])[path[-1]]
    return rehashed(new, path)


def rehashed(document: Any, path: Path) -> Any:
    """Return a document with the hash of a changed network recomputed, if it is a network."""
    if "inline" in path:
        reference = value_at(document, path[: path.index("inline")])
        with contextlib.suppress(NetworkError):
            reference["sha256"] = from_document(reference.get("inline")).sha256
    return document


def as_text(document: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    return json.dumps(document), document


def duplicated_key(document: dict[str, Any], path: Path) -> str:
    new = copy.deepcopy(document)
    holder = value_at(new, path[:-1])
    holder["DUPLICATE"] = holder[path[-1]]
    return json.dumps(new).replace('"DUPLICATE"', json.dumps(path[-1]))
