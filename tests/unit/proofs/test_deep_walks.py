"""Walks of a deep search as tasks: the same search with any workers, and from a checkpoint.

What is kept is read again; files of other searches are refused by name, and a file with walks that
never were leads to no certificate.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest

import polyrelu
from polyrelu.complex import count_regions
from polyrelu.errors import DomainError, PolyreluError
from polyrelu.exact import Polyhedron
from polyrelu.outcomes import Attempt
from polyrelu.proofs.deep import prover as deep, search as deep_search
from polyrelu.proofs.deep.planes import Plane
from polyrelu.proofs.deep.ridges import Piece, Ridge
from polyrelu.proofs.deep.search import DeepSearch
from polyrelu.proofs.deep.settings import SETTINGS
from polyrelu.proofs.deep.walk_tasks import WalkOrder, steps_of
from polyrelu.support.parallel import Processes, Serial, Workers
from tests.generators.campaigns import few_fast

SOURCES = polyrelu.from_arrays(
    [
        ([[-2, -1], [3, 2], [1, 1]], [0, -2, 0]),
        ([[-1, 1, 3], [1, 1, -2]], [1, 1]),
        ([[-1, 3]], [-1]),
    ]
)
OPEN = polyrelu.from_arrays(
    [
        ([[1, -1], [3, -1], [-1, 2]], [2, 1, -3]),
        ([[-3, 2, -3], [1, -3, -2]], [2, -3]),
        ([[-1, 3]], [-2]),
    ]
)
#: Its search climbs from layer to layer.
CLIMBING = polyrelu.from_arrays(
    [
        ([[2, -1], [1, 3], [-3, 1], [1, 1]], [1, -2, 1, 0]),
        ([[1, -2, 1, 3], [-1, 1, 2, -1], [2, 1, -1, 1]], [1, -1, 2]),
        ([[1, -2, 1], [2, 1, -1]], [1, -1]),
        ([[1, 2]], [0]),
    ]
)
BOX = Polyhedron.box([-2, -2], [2, 2])


def met(search: DeepSearch) -> list[Any]:
    """What a search has found, and where, in order."""
    return [
        search.walks,
        search.budget.spent,
        search.planes,
        *[(ridge, tuple(place)) for ridge, place in search.ridges.items()],
    ]


@pytest.fixture
def together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let searches of small networks begin several walks at a time."""
    settings = replace(SETTINGS, together_neurons=1, walks_together=8)
    monkeypatch.setattr(deep_search, "SETTINGS", settings)


# -- orders and results ----------------------------------------------------------------------------


@pytest.mark.parametrize("start", [None, Piece(1, 0b101), Ridge(0, 3, 1 << 70 | 2, None)], ids=str)
def test_orders_there_and_back(start: Piece | Ridge | None) -> None:
    plane = Plane((Fraction(1, 6), Fraction(-3, 2**24)), ((1, 0), (-5, 7)))
    order = WalkOrder(plane, 3, start, (False, True), 40)
    assert WalkOrder.unpacked(order.packed()) == order


#: Results of a walk one way in a network with 5 hidden neurons that no walk gives.
FALSE = (
    b"",
    b"7",
    b"null",
    b"[]",
    b"[[],[]]",
    b"[[[]]]",
    b"[" * 100_000,
    b"\xff",
    b'[[["20",null,[0.0,1.0],null]]]',
    b'[[["-1",null,[0.0,1.0],null]]]',
    b"[[[3,null,[0.0,1.0],null]]]",
    b'[[["1",null,[0,1.0],null]]]',
    b'[[["1",null,[0.0],null]]]',
    b'[[["1",[0.0,"1"],[0.0,1.0],null]]]',
    b'[[["1",null,[0.0,1.0],[1,1,"0","C"]]]]',
    b'[[["1",null,[0.0,1.0],[1,5,"0","C"]]]]',
    b'[[["1",null,[0.0,1.0],[-1,2,"0","C"]]]]',
    b'[[["1",null,[0.0,1.0],[1.0,2,"0","C"]]]]',
    b'[[["1",null,[0.0,1.0],[1,2,"2","C"]]]]',
    b'[[["1",null,[0.0,1.0],[1,2,"0","D"]]]]',
    b'[[["1",null,[0.0,1.0],[1,2,"0"]]]]',
    b'[[["' + b"f" * 10**6 + b'",null,[0.0,1.0],null]]]',
)


@pytest.mark.parametrize("data", FALSE, ids=lambda data: repr(data[:40]))
def test_results_that_cannot_be(data: bytes) -> None:
    with pytest.raises(DomainError, match="delete the file and search again"):
        steps_of(data, 1, 5)


# -- workers ---------------------------------------------------------------------------------------


@pytest.mark.usefixtures("together")
@pytest.mark.parametrize(
    "workers",
    [Serial(), Processes(2), pytest.param(Processes(4), marks=pytest.mark.slow)],
    ids=repr,
)
def test_the_same_search_with_any_workers(workers: Workers) -> None:
    """Several walks are open at a time, climbs among them, and the budget ends the search."""
    alone = deep.run_search(CLIMBING, budget=250)
    assert alone.walks > 12
    assert met(deep.run_search(CLIMBING, budget=250, workers=workers)) == met(alone)


@pytest.mark.usefixtures("together")
@pytest.mark.parametrize(
    "case", few_fast([(SOURCES, None), (SOURCES, BOX), (CLIMBING, None)], 2), ids=str
)
def test_walks_together_lead_to_accepted_certificates(
    case: tuple[polyrelu.Network, Polyhedron | None],
) -> None:
    network, domain = case
    outcome = polyrelu.identify(network, domain, among="transversal", budget=20_000)
    proved = outcome.part if isinstance(outcome, polyrelu.Undecided) else outcome
    assert proved is not None
    data = json.dumps(proved.certificate.to_document()[0]).encode()
    assert polyrelu.checker.check_bytes(data).verdict == "accepted"


# -- checkpoints -----------------------------------------------------------------------------------


@pytest.mark.parametrize("num_together", [1, 8])
def test_an_interrupted_search_ends_as_one_without_interruption(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, num_together: int
) -> None:
    settings = replace(SETTINGS, together_neurons=1, walks_together=num_together)
    monkeypatch.setattr(deep_search, "SETTINGS", settings)
    whole, path = deep.run_search(CLIMBING, budget=250, domain=BOX), tmp_path / "kept"
    for last in (4, 9, 10):

        def stop(search: DeepSearch, last: int = last) -> bool:
            if search.walks == last:
                raise KeyboardInterrupt
            return True

        with pytest.raises(KeyboardInterrupt):
            deep.run_search(CLIMBING, 0, 250, path, stop, domain=BOX)
    assert met(deep.run_search(CLIMBING, 0, 250, path, domain=BOX)) == met(whole)


def test_walks_in_a_file_are_not_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also with a larger budget, and for another class of competitors."""
    path = tmp_path / "kept"
    first = deep.run_search(OPEN, budget=200, checkpoint=path)
    longer = deep.run_search(OPEN, budget=400, checkpoint=str(path))
    assert longer.walks > first.walks
    assert met(longer) == met(deep.run_search(OPEN, budget=400))
    regular = deep.run_search(OPEN, budget=100, checkpoint=path, among="regular")
    assert met(regular) == met(deep.run_search(OPEN, budget=100, among="regular"))
    monkeypatch.delattr("polyrelu.proofs.deep.walk_tasks.bent_walk_from")
    assert met(deep.run_search(OPEN, budget=400, checkpoint=path)) == met(longer)


def test_a_search_goes_on_without_its_file(tmp_path: Path) -> None:
    search = deep.run_search(OPEN, budget=100, checkpoint=tmp_path / "kept")
    whole = deep.run_search(OPEN, budget=100)
    for each in (search, whole):
        each.run(budget=100)
    assert met(search) == met(whole)
    assert search.walks > 0


def test_a_search_that_is_impossible_is_not_kept(tmp_path: Path) -> None:
    narrow = polyrelu.from_arrays([([[1, 2]], [0]), ([[1], [-1]], [-1, 2]), ([[1, 1]], [0])])
    assert not deep.run_search(narrow, checkpoint=tmp_path / "kept").walks
    assert not (tmp_path / "kept").exists()


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(PolyreluError, match="cannot use the checkpoint"):
        deep.run_search(OPEN, checkpoint=tmp_path / "none" / "kept")


def test_files_of_other_work_are_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "kept"
    deep.run_search(OPEN, budget=100, checkpoint=path)
    before = path.read_bytes()
    refused: dict[str, Callable[[], object]] = {
        r"\(another network\)": lambda: deep.run_search(SOURCES, checkpoint=path),
        r"\(seed: 0 in place of 1\)": lambda: deep.run_search(OPEN, 1, checkpoint=path),
        r"\(another domain\)": lambda: deep.run_search(OPEN, checkpoint=path, domain=BOX),
        r"\(question: ridges in place of regions\)": lambda: count_regions(OPEN, checkpoint=path),
    }
    for text, call in refused.items():
        with pytest.raises(DomainError, match=f"of other work {text}"):
            call()
    assert path.read_bytes() == before
    path.write_text('{"format": "polyrelu search of ridges 1"}\n')
    with pytest.raises(DomainError, match="not a checkpoint"):
        deep.run_search(OPEN, checkpoint=path)


def forge(path: Path, old: bytes, new: bytes) -> int:
    """Replace some bytes in all results of a file, with the right sums; return how many changed."""
    connection, changed = sqlite3.connect(path), 0
    for task, data in connection.execute("SELECT task, data FROM results").fetchall():
        forged = data[:32] + data[32:].replace(old, new)
        changed += forged != data
        digest = hashlib.sha256(b"%d:%s" % (task, forged)).digest()[:16]
        connection.execute(
            "UPDATE results SET data=?, digest=? WHERE task=?", (forged, digest, task)
        )
    connection.commit()
    connection.close()
    return changed


def outcome_of_file(path: Path) -> str:
    """What a search that goes on from a file leads to, in words."""
    try:
        found = deep.prove_search(deep.run_search(SOURCES, budget=3000, checkpoint=path))
    except DomainError as error:
        return str(error)
    return found.reason if isinstance(found, Attempt) else "proved"


@pytest.mark.parametrize(("old", "new"), [("B", "C"), ("B", "A")])
def test_a_file_with_false_walks_leads_to_no_certificate(
    tmp_path: Path, old: str, new: str
) -> None:
    path = tmp_path / "kept"
    deep.run_search(SOURCES, budget=3000, checkpoint=path)
    assert outcome_of_file(path) == "proved"
    assert forge(path, old.encode(), new.encode())
    text = outcome_of_file(path)
    assert "delete" in text or text.startswith("not found")


# -- kills -----------------------------------------------------------------------------------------

#: Searches with two processes, in a network with 136 hidden neurons, and prints what is proved.
PROGRAM = """
import json, sys
from polyrelu.proofs.deep import prover as deep
from polyrelu.support.parallel import workers_for
from tests.unit.proofs.test_deep_walks import wide
jobs, file = int(sys.argv[1]), sys.argv[2]
search = deep.run_search(wide(), 0, 1500, file, workers=workers_for(jobs))
claim, hypotheses = deep.prove_part(search)
print(claim.terms(), json.dumps([hypothesis.to_json() for hypothesis in hypotheses]))
"""


def wide() -> polyrelu.Network:
    """A network in which many walks are made together."""
    rng = Random(1)
    return polyrelu.from_arrays(
        [
            (
                [[rng.randint(-99, 99) or 1 for _ in range(n)] for _ in range(m)],
                [rng.randint(-99, 99) for _ in range(m)],
            )
            for n, m in pairwise((6, 68, 68, 2))
        ]
    )


def _size(path: Path) -> int:
    """The size of a checkpoint and of what belongs to it."""
    return sum(file.stat().st_size for file in path.parent.glob(f"{path.name}*"))


@pytest.mark.slow
def test_the_same_certificate_after_two_kills(tmp_path: Path) -> None:
    """One process without a kill, and two with two kills as soon as something new is kept."""
    found, environment = [], {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    for number, end in enumerate([None, signal.SIGKILL, signal.SIGTERM, None]):
        file = tmp_path / f"kept {min(number, 1)}"
        before = _size(file)
        command = [sys.executable, "-c", PROGRAM, str(min(number, 1) + 1), str(file)]
        program = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        if end is not None:
            while _size(file) <= before + 20_000 and program.poll() is None:
                time.sleep(0.01)
            assert program.poll() is None
            program.send_signal(end)
        out = program.communicate()[0]
        assert program.returncode == (0 if end is None else -end)
        if end is None:
            found.append(out)
    assert found[0] == found[1]
    assert "ridges" in found[0]
