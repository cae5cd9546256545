"""Theorem D for regular competitors: continued searches, stored searches, the command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import polyrelu
from polyrelu import Network, checker
from polyrelu.certificate import Among
from polyrelu.cli.output import EXIT
from polyrelu.network import from_document
from polyrelu.outcomes import NotIdentifiable
from polyrelu.proofs.deep import prover as deep
from polyrelu.proofs.deep.search import DeepSearch
from polyrelu.proofs.membership import generic_membership
from tests.cli.commands import run, run_json
from tests.generators.files import CERTIFICATES

#: A search with seed 0 is enough for transversal competitors after one round, and for regular ones
#: after some more.
LATER = polyrelu.from_arrays(
    [
        ([[-3, -3, -3], [-1, -2, 3], [3, -1, -1]], [1, -2, 1]),
        ([[-3, 2, 3], [-2, 1, 3]], [0, 3]),
        ([[3, 2], [-1, 2]], [0, 1]),
    ]
)

VALID = CERTIFICATES / "valid"


def of_certificate(name: str) -> Network:
    return from_document(json.loads((VALID / name).read_text())["claim"]["network"]["inline"])


@pytest.fixture
def enough() -> DeepSearch:
    """A search that is enough for transversal competitors, but not for regular ones."""
    search = deep.run_search(LATER, budget=20_000)
    assert search.hypotheses.hold
    assert not search.among_regular().hypotheses.hold
    return search


# -- a few more walks ------------------------------------------------------------------------------


def test_a_few_more_walks_are_enough_for_regular_competitors(enough: DeepSearch) -> None:
    before, asked = enough.walks, list[DeepSearch]()

    def before_walk(search: DeepSearch) -> bool:
        asked.append(search)
        return True

    found = deep.extend_to_regular(enough, None, before_walk)
    assert found.deep_network.among == "regular"
    assert found.hypotheses.hold
    assert found.walks > before == enough.walks
    assert len(asked) == found.walks - before
    assert all(search is enough for search in asked)


def test_no_work_for_more_walks(enough: DeepSearch) -> None:
    """If no time is left, the proof among transversal competitors stays."""
    assert deep.extend_to_regular(enough, 0) is enough


def test_interrupted_before_more_walks(enough: DeepSearch) -> None:
    assert deep.extend_to_regular(enough, None, lambda _: False) is enough


def test_searches_that_are_not_widened() -> None:
    """A search for regular competitors, and one that is not enough for transversal ones."""
    for search in (deep.run_search(LATER, budget=20_000, among="regular"), DeepSearch(LATER)):
        assert deep.extend_to_regular(search, None) is search


def test_identify_within_the_budget(enough: DeepSearch) -> None:
    """A budget that is enough for transversal competitors only gives a proof among these."""
    for budget, among in ((enough.budget.spent, "transversal"), (20_000, "regular")):
        outcome = polyrelu.identify(LATER, among="transversal", budget=budget)
        assert isinstance(outcome, polyrelu.Proved)
        assert outcome.certificate.claim.among == among


# -- a file serves both classes --------------------------------------------------------------------


def test_a_search_kept_for_one_class_goes_on_for_the_other(tmp_path: Path) -> None:
    path, found = tmp_path / "kept", []
    for _ in range(2):
        outcome = polyrelu.identify(LATER, among="transversal", budget=20_000, checkpoint=path)
        assert isinstance(outcome, polyrelu.Proved)
        found.append(outcome.certificate.to_document())
    assert found[0] == found[1]
    regular = deep.run_search(LATER, budget=20_000, checkpoint=path, among="regular")
    assert regular.hypotheses.hold


# -- the command -----------------------------------------------------------------------------------


@pytest.mark.parametrize("among", ["regular", "transversal"])
def test_a_proof_among_regular_parameters(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, among: str
) -> None:
    monkeypatch.chdir(tmp_path)
    polyrelu.save(of_certificate("deep-regular.json"), "net.json")
    status, found = run_json(capsys, "identify", "net.json", "--among", among, "-o", "proof.json")
    assert (status, found["status"], found["theorem"], found["competitors"]) == (
        0,
        "proved",
        "deep",
        "regular",
    )
    assert "among regular parameters" in checker.check_file(tmp_path / "proof.json").statement
    status, out, _ = run(capsys, "show", "proof.json")
    assert status == 0
    assert "every cell of codimension 1 exactly one" in " ".join(out.split())


@pytest.mark.parametrize("among", ["regular", "transversal"])
def test_a_part_among_regular_parameters(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, among: str
) -> None:
    """Also if transversal ones are asked for, because nothing is lost among regular ones."""
    monkeypatch.chdir(tmp_path)
    polyrelu.save(of_certificate("deep-part-regular-neurons.json"), "net.json")
    arguments = ("identify", "net.json", "--among", among, "--budget", "2000", "-o", "part.json")
    status, found = run_json(capsys, *arguments)
    assert status == EXIT["undecided"]
    assert (found["part"]["competitors"], found["part"]["layers"], found["part"]["neurons"]) == (
        "regular",
        1,
        [1],
    )
    assert checker.check_file(tmp_path / "part.json").verdict == "accepted"


def test_a_wrong_class() -> None:
    with pytest.raises(
        polyrelu.PolyreluError,
        match="'all', 'regular', 'sparse', 'transversal', 'generic', got str 'general'",
    ):
        polyrelu.identify(LATER, among="general")  # type: ignore[arg-type]


@pytest.mark.parametrize("among", ["generic", "transversal", "regular"])
def test_a_generic_rival_refutes_among_larger_classes(among: Among) -> None:
    """Layer 2 hides neuron 0 of layer 1, and the translated network is generic."""
    hiding = ([[1, -2], [2, -3]], [-1, -5])
    network = polyrelu.from_arrays([([[1, 0], [0, 1]], [1, 2]), hiding, ([[1, 3]], [1])])
    outcome = polyrelu.identify(network, among=among)
    assert isinstance(outcome, NotIdentifiable)
    assert outcome.certificate.claim.among == "generic"
    assert generic_membership(outcome.other)["status"] == "verified"
