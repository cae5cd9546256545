"""Mutations of the valid certificates of the suite, each leaf in turn."""

from __future__ import annotations

import copy
import json
import random
from fractions import Fraction
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from polyrelu import checker
from polyrelu.exact import Polyhedron
from polyrelu.network import from_document
from tests.generators.campaigns import case, some_and_all
from tests.generators.certificates import (
    VALID,
    Path_,
    leaves,
    name,
    put,
    rehash,
    variants,
)
from tests.oracles.equal_on_domain import agree_on_domain
from tests.oracles.float_runtime import Runtime, rounded
from tests.oracles.mutants import a_difference, domain_of, evaluate, reason_it_is_true
from tests.oracles.points_inside import all_points_are_inside

#: Files whose accepted mutations are judged by brute force over pairs of points or patterns.
SLOWLY_JUDGED = ("collision", "injective", "inverse-lipschitz")
#: Kinds of claims that are judged in the same way whatever was changed.
JUDGED = ("injective", "not-injective", "inverse-lipschitz", "size", "functional-dimension")


def survives_runtimes(claim: Any) -> bool:
    """Return whether runtimes that use every freedom stay within a claim about rounding."""
    network, format_ = claim["network"]["inline"], claim["arithmetic"]
    low, high, limits = (
        [Fraction(x) for x in part] for part in (*claim["domain"].values(), claim["at-most"])
    )
    layers = []
    for layer in network["layers"]:
        d = int(layer["denominator"])
        rows = [[Fraction(int(w), d) for w in row.split()] for row in layer["weights"][0]["rows"]]
        layers.append((rows, [Fraction(int(b), d) for b in layer["bias"].split()]))
    for seed in range(40):
        x = [
            rounded(a + Fraction(random.randint(0, 4), 4) * (b - a), format_)
            for a, b in zip(low, high, strict=True)
        ]
        if all(a <= v <= b for a, v, b in zip(low, x, high, strict=True)):
            theirs = Runtime(format_, seed).run(layers, x)
            if network["last"] == "relu":
                theirs = [max(v, Fraction(0)) for v in theirs]
            pairs = zip(theirs, evaluate(network, x), limits, strict=True)
            if any(abs(v - w) > limit for v, w, limit in pairs):
                return False
    return True


def reason(document: Any, changed: Any, path: Path_) -> str:
    """Return why a certificate may be accepted after a change at `path`, from an explicit list.

    The empty string means that there is no reason.
    """
    if path == ("claim", "network", "file"):
        return "a network file may have another name; its hash decides"
    if path[:1] == ("unverified",):
        return "no verdict depends on `unverified`"
    claim = changed["claim"]
    if claim["kind"] == "runtime-error" and path[:1] == ("claim",):
        return "another claim, which no runtime contradicts" if survives_runtimes(claim) else ""
    if claim["kind"] in JUDGED:
        return reason_it_is_true(document, changed)
    if claim["kind"] == "not-equivalent":
        return "a claim that its point shows" if a_difference(claim, changed) else ""
    if path[:2] == ("claim", "domain"):
        return reason_on_domain(claim, changed)
    if path[:3] in (("claim", "network", "inline"), ("claim", "other", "inline")):
        if claim["kind"] in ("identifiable", "determined", "teaching-set"):
            return "a claim about another network, for which every hypothesis was derived again"
        if claim["domain"] != "R^n":
            return reason_on_domain(claim, changed)
        points = [[Fraction(random.randint(-60, 60), 7) for _ in range(9)] for _ in range(60)]
        networks = [claim["network"]["inline"], claim["other"]["inline"]]
        values = [[evaluate(n, point[: n["inputs"]]) for point in points] for n in networks]
        return (
            "a claim about another pair, which does agree at random points"
            if values[0] == values[1]
            else ""
        )
    if path[:2] == ("proof", "hypotheses") and claim == document["claim"]:
        old, new = (
            [h["evidence"] for h in d["proof"]["hypotheses"]][-1] for d in (document, changed)
        )
        if old.get("status") == new.get("status"):
            return "the same claim, by other evidence"
        if new == {"status": "open"}:
            return "a weaker claim: nothing is said about membership"
    return ""


def reason_on_domain(claim: Any, changed: Any) -> str:
    """Return why a claim about competitors on another domain, or other networks on one, is true."""
    if claim["kind"] in ("identifiable", "determined"):
        return "all points are inside" if all_points_are_inside(changed) else ""
    network, other = (from_document(claim[key]["inline"]) for key in ("network", "other"))
    whole = Polyhedron.universe(network.num_inputs)
    is_whole = claim["domain"] == "R^n"
    domain = whole if is_whole else domain_of(claim["domain"], network.num_inputs)
    is_true = agree_on_domain(network, other, domain)
    return "the same function on the domain by brute force" if is_true else ""


def check_mutations(path: Path, every: int) -> None:
    """Check that every n-th mutation of a certificate is refused or has a reason."""
    document = json.loads(path.read_text())
    networks = {p.name: p.read_bytes() for p in path.parent.glob("*.network.json")}
    random.seed(1)
    count = 0
    mutations = ((place, new) for place, value in leaves(document) for new in variants(value))
    for place, new in islice(mutations, random.randrange(every), None, every):
        changed = put(document, place, new)
        if place[:1] == ("claim",) and isinstance(changed, dict):
            unchanged_hash = copy.deepcopy(changed)
            if "inline" in place and json.dumps(changed) != json.dumps(document):
                report = checker.check_bytes(json.dumps(unchanged_hash).encode())
                assert report.verdict != "accepted", (place, new)
            if "sha256" not in place:
                rehash(changed)
        report = checker.check_bytes(json.dumps(changed).encode(), networks)
        count += 1
        if report.verdict == "accepted" and json.dumps(changed) != json.dumps(document):
            assert reason(document, changed, place), (place, new, str(report))
    assert count > 100 / every


@pytest.mark.parametrize("path", VALID[:25], ids=name)
def test_some_mutations(path: Path) -> None:
    check_mutations(path, 37)


@pytest.mark.parametrize("every", some_and_all(11, 1))
@pytest.mark.parametrize("quarter", range(4))
def test_mutations_of_all_certificates(quarter: int, every: int) -> None:
    for path in VALID[quarter::4]:
        with case(path.stem):
            slower = 7 if path.stem.startswith(SLOWLY_JUDGED) else 1
            check_mutations(path, slower * every)
