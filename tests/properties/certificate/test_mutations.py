"""Certificates mutated leaf by leaf: no mutant crashes the checker, and accepted ones are true.

The hash of a network that a mutant changes is recomputed, so that the checker has to look at its
content. An accepted mutant needs a reason: it makes the same claim as the original, with other
evidence or remarks, or the new claim is true by a route that shares nothing with the checker. On
this route the prover decides the mutated network anew, and brute force finds nothing against it.
"""

from __future__ import annotations

import contextlib
import copy
import json
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import islice
from random import Random
from typing import Any

import pytest

import polyrelu
from polyrelu import NetworkError, Proved, checker
from polyrelu.formats import runtime_error
from polyrelu.network import from_document
from polyrelu.outcomes import NotIdentifiable
from polyrelu.proofs.membership import generic_membership
from polyrelu.proofs.runtime_error import prove_runtime_error
from polyrelu.symmetry import related
from tests.generators.campaigns import case
from tests.oracles.float_runtime import Runtime, rounded
from tests.oracles.grid import same_function
from tests.oracles.judge import contradictions, plain

Path = tuple[str | int, ...]

NETWORKS: dict[str, list[tuple[list[list[Any]], list[Any]]]] = {
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


def original(name: str) -> tuple[dict[str, Any], str]:
    """Return the certificate of a network as a document, and its theorem."""
    network = polyrelu.from_arrays(NETWORKS[name])
    outcome: object = polyrelu.identify(network)
    if name == "rounding":
        outcome = prove_runtime_error(runtime_error(network, (["-1/3", 0], [1, "1/2"])))
    assert isinstance(outcome, Proved | NotIdentifiable), (name, outcome)
    document, _ = outcome.certificate.to_document()
    return document, outcome.certificate.theorem


def test_the_originals_use_every_theorem_but_four() -> None:
    """The originals use every theorem but four; no prover uses `flip` and `tree-equal`.

    `point` and `deep-part` are mutated with the hand-made certificates, `tree` with the tree files.
    """
    theorems = {original(name)[1] for name in NETWORKS}
    of_trees = {"tree", "regions"}
    others = {"flip", "point", "deep-part", "tree-equal"}
    assert theorems == set(checker.THEOREMS) - others - of_trees


def check_mutants(name: str, every: int) -> None:
    """Check that every n-th mutant of a certificate is refused or true."""
    document, _ = original(name)
    assert checker.check_bytes(json.dumps(document).encode()).verdict == "accepted"
    verdicts: Counter[str] = Counter()
    for text, mutant in islice(mutants(document, Random(name)), 0, None, every):
        report = checker.check_bytes(text.encode())
        verdicts[report.verdict] += 1
        if report.verdict == "accepted":
            assert mutant is not None, text
            assert reason_it_is_true(document, mutant) != "", text
    assert sum(verdicts.values()) > 300 / every
    assert verdicts["accepted"] < sum(verdicts.values()) / 3


@pytest.mark.parametrize("name", NETWORKS)
def test_some_mutants_die_or_are_true(name: str) -> None:
    check_mutants(name, 29)


@pytest.mark.slow
def test_all_mutants_die_or_are_true() -> None:
    for name in NETWORKS:
        with case(name):
            check_mutants(name, 1)


def reason_it_is_true(document: dict[str, Any], mutant: dict[str, Any]) -> str:
    """Return why an accepted mutant is still true, or nothing."""
    if mutant["claim"] == document["claim"]:
        return "the same claim"
    claim = mutant["claim"]
    network = from_document(claim["network"]["inline"])
    if claim["kind"] == "runtime-error":
        return "no runtime is further away" if _survives_runtimes(claim, network) else ""
    if claim["kind"] == "identifiable":
        if claim["among"] == "all" and network.depth == 1:
            return "an affine map determines its parameters"
        outcome = polyrelu.identify(network, among="all" if claim["among"] == "all" else None)
        if isinstance(outcome, Proved) and contradictions(plain(network), outcome) == []:
            return "the prover proves it and brute force finds nothing against it"
        return ""
    other = from_document(claim["other"]["inline"])
    member = claim["among"] == "all" or generic_membership(other)["status"] == "verified"
    if member and same_function(plain(network), plain(other)) and not related(network, other):
        return "the same function by brute force, not related, in the class"
    return ""


def _survives_runtimes(claim: dict[str, Any], network: polyrelu.Network) -> bool:
    """Return whether a claim holds for the prover's bound and for a hundred simulated runtimes.

    The runtimes use every freedom that the theorem allows.
    """
    low, high, limits = (
        [Fraction(text) for text in entry]
        for entry in (*claim["domain"].values(), claim["at-most"])
    )
    found = runtime_error(network, (low, high), arithmetic=claim["arithmetic"])
    if any(
        own is None or own * (1 - Fraction(1, 2**20)) > limit
        for own, limit in zip(found.bounds, limits, strict=True)
    ):
        return False
    layers, chance = plain(network), Random(0)
    for seed in range(100):
        x = [
            rounded(a + Fraction(chance.randint(0, 8), 8) * (b - a), claim["arithmetic"])
            for a, b in zip(low, high, strict=True)
        ]
        if all(a <= v <= b for a, v, b in zip(low, x, high, strict=True)):
            theirs = Runtime(claim["arithmetic"], seed).run(layers, x)
            if any(
                abs(v - w) > limit for v, w, limit in zip(theirs, network(x), limits, strict=True)
            ):
                return False
    return True


def mutants(document: dict[str, Any], rng: Random) -> Iterator[tuple[str, dict[str, Any] | None]]:
    """Yield mutated texts, with the document where the text is one."""
    for path in list(places(document)):
        for value in changed(value_at(document, path), rng):
            yield as_text(replaced(document, path, value))
        if isinstance(path[-1], str):
            yield duplicated_key(document, path), None
        yield as_text(removed(document, path))


def places(value: Any, path: Path = ()) -> Iterator[Path]:
    """Yield the paths of all values below the top."""
    entries = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, entry in entries:
        yield (*path, key)
        yield from places(entry, (*path, key))


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
    else:
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
    if not numerator.lstrip("-").isdigit():
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


def replaced(document: dict[str, Any], path: Path, value: Any) -> dict[str, Any]:
    new = copy.deepcopy(document)
    value_at(new, path[:-1])[path[-1]] = value
    return rehashed(new, path)


def removed(document: dict[str, Any], path: Path) -> dict[str, Any]:
    new = copy.deepcopy(document)
    del value_at(new, path[:-1])[path[-1]]
    return rehashed(new, path)


def rehashed(document: dict[str, Any], path: Path) -> dict[str, Any]:
    """Return a document with the hash of a changed network recomputed, if it is a network."""
    if len(path) > 2 and path[0] == "claim" and path[2] == "inline":
        reference = document["claim"][path[1]]
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
