"""`identify` on a domain: searches stay inside, and refutations hold there."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import polyrelu
from polyrelu import ArgumentError, DomainError, checker
from polyrelu.certificate import Claim
from polyrelu.exact import Polyhedron
from polyrelu.outcomes import (
    Attempt,
    Identifiable,
    NotIdentifiable,
    PartlyIdentifiable,
    Undecided,
)
from polyrelu.proofs.deep.prover import prove_search, run_search
from polyrelu.proofs.interior import UNSTRETCHED, Interior, is_inside
from polyrelu.proofs.refutations.valid_inequalities import ValidInequalities
from polyrelu.walks import AffineSlice, first_zero
from tests.cli.commands import run, run_json
from tests.oracles.equal_on_domain import agree_on_domain
from tests.oracles.points_inside import all_points_are_inside

#: Identifiable on R², and on boxes around the points (0, 1/2) and (1, 0).
DEEP = polyrelu.from_arrays(
    [([[1, 0], [0, 1]], [0, 0]), ([[-2, -1], [1, -2]], [2, 1]), ([[1, 1]], [0])]
)
TRIANGLE = Polyhedron.from_constraints([[-3, 0], [0, -3], [2, 2]], [1, 1, 5])
STRIP = Polyhedron.from_constraints([[1, 1], [-1, -1]], [4, 2])


def accepted(outcome: Identifiable | NotIdentifiable | PartlyIdentifiable) -> bool:
    document = outcome.certificate.to_document()[0]
    return checker.check_bytes(json.dumps(document).encode()).verdict == "accepted"


@pytest.mark.parametrize(
    "domain",
    ["box:-2,2", "box:-1/8,9/8", TRIANGLE, STRIP, Polyhedron.from_constraints([[-1, -1]], [1])],
    ids=["box", "small box", "triangle", "strip", "half-plane"],
)
def test_a_proof_inside(domain: str | Polyhedron) -> None:
    outcome = polyrelu.identify(DEEP, domain, among="regular", budget=10_000)
    assert isinstance(outcome, Identifiable)
    assert accepted(outcome)
    assert all_points_are_inside(outcome.certificate.to_document()[0])


@pytest.mark.parametrize(("scale", "shift"), [(1, 10**6), (10**9, 0)], ids=["far", "tiny"])
def test_a_domain_far_from_the_origin_and_a_tiny_one(scale: int, shift: int) -> None:
    """The same network as a function of scale · x - shift, on the box of the same points."""
    first = ([[scale, 0], [0, scale]], [-shift, -shift])
    layers = [first, ([[-2, -1], [1, -2]], [2, 1]), ([[1, 1]], [0])]
    low, high = ([Fraction(end + shift, scale)] * 2 for end in (-2, 2))
    outcome = polyrelu.identify(layers, Polyhedron.box(low, high), among="regular", budget=10_000)
    assert isinstance(outcome, Identifiable)
    assert accepted(outcome)


@pytest.mark.parametrize(
    ("domain", "theorem", "words"),
    [
        ("box:-1/10,1/10", "bounded-replacement", "linear on the box of all values"),
        ("box:1,2", "bounded-replacement", "linear on the box around the domain"),
        (
            Polyhedron.from_constraints([[1, -1], [-1, -1], [0, 1]], [-2, 0, 3]),
            "one-sided",
            "neuron 1 of layer 1 is linear: it is never negative on the domain",
        ),
        (
            Polyhedron.from_constraints([[5, 5], [-10, 0], [0, -10]], [4, 1, 1]),
            "one-sided",
            "neuron 0 of layer 2 is linear: it is never negative on the domain",
        ),
    ],
    ids=["layer 2", "layer 1", "layer 1 of a triangle", "layer 2 of a triangle"],
)
def test_another_network_on_a_small_domain(
    domain: str | Polyhedron, theorem: str, words: str
) -> None:
    """The network is identifiable on R² and on large boxes."""
    outcome = polyrelu.identify(DEEP, domain)
    assert isinstance(outcome, NotIdentifiable)
    assert outcome.certificate.theorem == theorem
    assert words in outcome.explanation
    assert accepted(outcome)
    place = outcome.certificate.claim
    assert isinstance(place, Claim)
    assert place.domain is not None
    assert agree_on_domain(DEEP, outcome.other, place.domain)
    assert not agree_on_domain(DEEP, outcome.other, Polyhedron.universe(2))
    (step,) = outcome.next
    assert "polyrelu.identify(net, domain).other" in str(step)


@pytest.mark.parametrize(
    ("layers", "domain", "status"),
    [
        ([([[1, "1/2"], [2, 0]], [3, 1])], "box:0,1", "proved"),
        ([([[1, 2], [3, -1]], [1, 0]), ([[1, 1], [2, "-1/2"]], [0, 1])], "box:-2,2", "proved"),
        # the first hyperplane misses the box: a linear neuron
        ([([[1, 2], [3, -1]], [9, 0]), ([[1, 1], [2, "-1/2"]], [0, 1])], "box:-2,2", "refuted"),
        # |x| is identifiable on R, and not on (-1, 1)
        ([([[1], [-1]], [0, 0]), ([[1, 1]], [0])], "box:-1,1", "undecided"),
        # Theorem P and the theorem for n_1 = 1 are about R^n
        ([([[2, 1]], [1]), ([[1], [-1]], [-1, 3]), ([[1, 2]], [0])], "box:-9,9", "undecided"),
    ],
    ids=["affine", "shallow", "linear on the box", "doubled", "line"],
)
def test_few_layers(layers: list[object], domain: str, status: str) -> None:
    outcome = polyrelu.identify(layers, domain, budget=1000)  # type: ignore[arg-type]
    assert outcome.status == status
    if isinstance(outcome, Identifiable | NotIdentifiable):
        assert accepted(outcome)


def test_no_domain_is_the_whole_space() -> None:
    for domain in (None, "R^n", Polyhedron.universe(2)):
        outcome = polyrelu.identify(DEEP, domain, among="regular")
        assert isinstance(outcome, Identifiable)
        assert outcome.certificate.to_document()[0]["claim"]["domain"] == "R^n"


def test_the_same_bytes_twice() -> None:
    first, second = (polyrelu.identify(DEEP, TRIANGLE, seed=3) for _ in range(2))
    assert isinstance(first, Identifiable)
    assert isinstance(second, Identifiable)
    assert first.certificate.to_document() == second.certificate.to_document()


def test_domains_that_are_refused() -> None:
    flat = Polyhedron.from_constraints([], [], [[1, 1]], [0])
    for domain in (flat, "box:1,1", Polyhedron.from_constraints([[1, 0], [-1, 0]], [0, -1])):
        with pytest.raises(DomainError, match="no interior in R\\^2; give a domain of full"):
            polyrelu.identify(DEEP, domain)
    with pytest.raises(DomainError, match="not understood"):
        polyrelu.identify(DEEP, "cube")
    with pytest.raises(ArgumentError, match="without equations"):
        Claim("identifiable", DEEP, "regular", domain=flat)


def test_an_undecided_answer_goes_on_with_the_domain() -> None:
    outcome = polyrelu.identify(DEEP, "box:-2,2", among="all", budget=100)
    assert isinstance(outcome, Undecided)
    assert any("polyrelu.identify(net, domain" in str(step) for step in outcome.next)
    assert not any("fiber" in str(step) for step in outcome.next)


def test_a_search_is_kept_with_its_domain(tmp_path: Path) -> None:
    file, box = tmp_path / "search.db", Polyhedron.box([-2, -2], [2, 2])
    search = run_search(DEEP, 0, 200, file, domain=box)
    again = run_search(DEEP, 0, 200, file, domain=box)
    assert set(again.ridges) == set(search.ridges)
    for other in (None, TRIANGLE):
        with pytest.raises(DomainError, match=r"of other work \(another domain"):
            run_search(DEEP, 0, 0, file, domain=other)


def test_ridges_outside_are_dropped() -> None:
    """Floats may be wrong about a wall: exact arithmetic decides before a certificate is made."""
    search = run_search(DEEP, 0, 10_000, among="regular")
    search.domain = Polyhedron.box([-2, -2], ["1/2", 2])
    outside = search.outside_domain(search.ridges)
    assert search.hypotheses.hold
    assert outside
    assert isinstance(prove_search(search), Attempt)
    search.domain = Polyhedron.box([-2, -2], [2, 2])
    assert isinstance(prove_search(search), list)


def test_bounds_by_sides_are_those_of_linear_programs() -> None:
    box = Polyhedron.box([-1, 0, 2], ["1/2", 3, 5])
    net = polyrelu.from_arrays([([[1, -2, 3], [0, 1, "-1/3"]], [1, "1/2"]), ([[1, 1]], [0])])
    inequalities = ValidInequalities(net, domain=box)
    for index in range(2):
        for sign in (1, -1):
            form = inequalities.preactivation(polyrelu.NeuronId(1, index), sign)
            bound = inequalities.lower_bound(form, 1)
            objective = [-form.get(k, 0) for k in (1, 2, 3)]
            best = box.maximize(objective)
            assert bound is not None
            assert bound.value == form.get(0, 0) - best.value  # type: ignore[union-attr]


@pytest.mark.parametrize("domain", [TRIANGLE, STRIP, Polyhedron.orthant(3)], ids=str)
def test_points_of_an_interior(domain: Polyhedron) -> None:
    interior = Interior(domain)
    points = interior.points(np.random.default_rng(1), 200)
    for x in points[:20]:
        assert is_inside(domain, tuple(map(polyrelu.exact.to_fraction, x.tolist())))
        target = interior.farthest(x, np.ones(len(x)))
        assert (interior.distances(target) > 0).all()
        stretch = interior.stretch(x)
        step = stretch.push(np.full(len(x), 0.5 / len(x)))
        assert (interior.distances(x + step) > -1e-9).all()
        assert (interior.distances(x - step) > -1e-9).all()
    assert len(np.unique(points[:, 0])) > 150
    assert UNSTRETCHED.push(points) is points


def test_a_ray_that_ends() -> None:
    """The zero lies at twice the heading, behind another one."""
    net = polyrelu.from_arrays([([[1, 0], [1, 0]], [-2, -1]), ([[1, 1]], [0])])
    plane = AffineSlice(net, [0, "1/3"], [[1, 0], [0, 1]])
    assert first_zero(plane, polyrelu.NeuronId(1, 0), farthest=3) == (Fraction(2), Fraction(0))
    assert first_zero(plane, polyrelu.NeuronId(1, 0), farthest=0.5) is None


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    net, cert = str(tmp_path / "net.json"), str(tmp_path / "cert.json")
    polyrelu.save(DEEP, net)
    status, answer = run_json(capsys, "identify", net, "--domain", "box:-2,2", "-o", cert)
    assert (status, answer["domain"], answer["competitors"]) == (0, "box:-2,2", "regular")
    assert "on the interior of [-2, 2]^2 among parameters that are regular" in answer["statement"]
    status, out, _ = run(capsys, "identify", net, "--domain", "box:-2,2")
    assert "The network itself is regular there (verified)" in " ".join(out.split())
    assert "on all of R^n" not in " ".join(out.split())
    status, out, _ = run(capsys, "check", cert)
    assert status == 0
    assert "among parameters that are regular there" in " ".join(out.split())
    status, out, _ = run(capsys, "identify", net, "--domain", "box:-1/10,1/10")
    assert status == 1
    assert "--domain box:-1/10,1/10" in " ".join(out.split())
    status, _, err = run(capsys, "identify", net, "--domain", "box:1,1")
    assert (status, err.count("\n")) == (2, 1)
    assert "no interior in R^2" in err
