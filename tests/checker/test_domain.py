"""Claims about competitors on a domain: every point is inside, and the domain counts."""

from __future__ import annotations

import copy
import json
from fractions import Fraction
from functools import cache
from typing import Any

import pytest

import polyrelu
from polyrelu import checker
from polyrelu.certificate import describe, read_certificate
from polyrelu.outcomes import Identifiable, NotIdentifiable
from tests.generators.files import CERTIFICATES
from tests.oracles.points_inside import listed_points

NET = polyrelu.from_arrays(
    [
        ([[-1, -2, 3], [2, -2, -1]], [-2, 3]),
        ([[1, 3], [1, -1], [2, -2]], [-2, 2, 3]),
        ([[2, 1, -3]], [-2]),
    ]
)
BOX = "box:-10,10"


@cache
def proved() -> Identifiable:
    outcome = polyrelu.identify(NET, BOX, among="regular")
    assert isinstance(outcome, Identifiable)
    return outcome


def proof() -> Any:
    return copy.deepcopy(proved().certificate.to_document()[0])


def verdict(document: Any) -> tuple[str, str]:
    report = checker.check_bytes(json.dumps(document).encode())
    return report.verdict, report.step


def with_row(document: Any, normal: list[int], limit: Fraction) -> Any:
    """Return the claim on a smaller domain, which ends at normal · x = limit."""
    changed = copy.deepcopy(document)
    p, q = limit.as_integer_ratio()
    changed["claim"]["domain"]["inequalities"].append(
        " ".join(str(q * a) for a in normal) + f" {p}"
    )
    return changed


def test_each_point_has_to_be_strictly_inside() -> None:
    """A wall through any one of the points, and a wall beyond all of them."""
    document = proof()
    assert verdict(document) == ("accepted", "")
    points = list(listed_points(document))
    assert len(points) > 2
    for normal in ([1, -2, 3], [-1, 0, 2]):
        values = [sum((a * t for a, t in zip(normal, x, strict=True)), Fraction()) for x in points]
        for value in values:
            assert verdict(with_row(document, normal, value)) == ("rejected", "ridges")
        beyond = max(values) + Fraction(1, 10**6)
        assert verdict(with_row(document, normal, beyond)) == ("accepted", "")


def test_a_larger_domain_is_a_weaker_claim_for_proofs_and_a_stronger_one_for_refutations() -> None:
    document = proof()
    for domain in ("R^n", {"inequalities": ["1 0 0 11"], "equations": []}):
        changed = copy.deepcopy(document)
        changed["claim"]["domain"] = domain
        assert verdict(changed) == ("accepted", "")
    outcome = polyrelu.identify(NET, "box:1/8,1/4")
    assert isinstance(outcome, NotIdentifiable)
    refuted = outcome.certificate.to_document()[0]
    assert verdict(refuted) == ("accepted", "")
    for domain in ("R^n", {"inequalities": ["-1 0 0 8", "1 0 0 8"], "equations": []}):
        changed = copy.deepcopy(refuted)
        changed["claim"]["domain"] = domain
        assert verdict(changed) == ("rejected", "same-function")


def test_a_point_that_is_moved_out_of_the_domain() -> None:
    """The plane of each ridge, moved: its ridge is elsewhere, or outside."""
    document = proof()
    for number in range(len(document["proof"]["hypotheses"][0]["evidence"]["slices"])):
        changed = copy.deepcopy(document)
        plane = changed["proof"]["hypotheses"][0]["evidence"]["slices"][number]
        plane["point"][0] = str(1000 + Fraction(plane["point"][0]))
        assert verdict(changed) == ("rejected", "ridges")


def test_the_claim_without_domain() -> None:
    changed = proof()
    del changed["claim"]["domain"]
    assert verdict(changed)[0] == "unreadable"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("deep-domain", "on the interior of [-2, 2]^2. Class of competitors: regular parameters"),
        ("shallow-domain", "on the interior of [-1, 1]^2. Class of competitors: all parameters of"),
        ("deep-part-domain", "there agrees with it in this part after permutation"),
        ("one-sided-domain", "on the interior of {x : x_0 + x_1 ≤ 2}"),
    ],
)
def test_descriptions(name: str, words: str) -> None:
    text = " ".join(describe(read_certificate(CERTIFICATES / "valid" / f"{name}.json")).split())
    assert words in text
    assert "on all of R^n" not in text
    assert ("only cells that meet its interior count" in text) == name.startswith("deep")


def test_long_domains_in_words() -> None:
    """A cube in many dimensions is named by its sides, other domains by their numbers."""

    def words(rows: list[list[int]], equations: list[list[int]]) -> str:
        texts = [[" ".join(map(str, row)) for row in some] for some in (rows, equations)]
        return checker.domain_words(dict(zip(("inequalities", "equations"), texts, strict=True)))

    unit = [[int(i == j) for i in range(50)] for j in range(50)]
    low, high = ([[s * a for a in row] + [c] for row in unit] for s, c in ((-1, 0), (1, 1)))
    assert words(low + high, []) == "{x : (-1).x_j <= 0, (1).x_j <= 1 for every coordinate j}"
    assert words(low, []) == "{x : (-1).x_j <= 0 for every coordinate j}"
    counts = "the set of the claim's"
    assert words(low + high[1:], []) == f"{counts} 99 inequalities and 0 equations"
    assert words([*low, high[0]], []) == f"{counts} 51 inequalities and 0 equations"
    assert words(low + high, [high[0]]) == f"{counts} 100 inequalities and 1 equations"
    assert words([], high) == f"{counts} 0 inequalities and 50 equations"
    assert words([*low, [1] * 51], []) == f"{counts} 51 inequalities and 0 equations"
