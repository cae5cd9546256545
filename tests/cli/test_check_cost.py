"""Commands that write a certificate say what its check costs."""

from __future__ import annotations

import argparse
import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from polyrelu import checker
from polyrelu.cli.main import main
from polyrelu.cli.output import written_cost
from polyrelu.errors import CertificateError
from polyrelu.support import check_cost as module
from polyrelu.support.check_cost import CheckCost, check_command, check_cost, largest_cost
from tests.generators.files import CERTIFICATES

#: Commands that write the certificate `cert.json`, about a small network.
COMMANDS = {
    "identify": ["identify", "net.json", "-o", "cert.json"],
    "equivalent": ["equivalent", "net.json", "half.json", "-o", "cert.json"],
    "complex": ["complex", "net.json", "--certificate", "cert.json"],
    "simplify": ["simplify", "net.json", "--certificate", "cert.json"],
    "recover": ["recover", "--oracle", "plain.json", "--teach", "cert.json"],
    "runtime-error": ["runtime-error", "net.json", "--domain", "box:-1,1", "-o", "cert.json"],
}


def network(scale: int, last: int = 1) -> str:
    """|x_0| + max(x_1 - 1, 0), the neurons scaled; the second one may be another."""
    rows = [f"{scale} 0", f"-{scale} {1 - last}", f"0 {scale}"]
    layers = [
        {"denominator": "1", "bias": f"0 0 -{scale}", "weights": [{"from": 0, "rows": rows}]},
        {"denominator": str(scale), "bias": "0", "weights": [{"from": 1, "rows": ["1 1 1"]}]},
    ]
    head = {"format": "polyrelu-network", "version": 1, "inputs": 2}
    return json.dumps({**head, "layers": layers, "last": "affine"})


@pytest.fixture
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, scale in (("net", 1), ("half", 2)):
        Path(f"{name}.json").write_text(network(scale))
    Path("plain.json").write_text(network(1, last=0))


@pytest.mark.usefixtures("_files")
@pytest.mark.parametrize("command", COMMANDS)
def test_the_cost_is_that_of_the_check(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    main([*COMMANDS[command], "--json"])
    found = json.loads(capsys.readouterr().out)["check_cost"]
    report = checker.check_file("cert.json")
    assert (report.verdict, found["units"], found["kind"]) == ("accepted", report.cost, "measured")
    assert checker.check_file("cert.json", budget=report.cost).verdict == "accepted"
    assert checker.check_file("cert.json", budget=report.cost - 1).verdict == "unreadable"
    size = Path("cert.json").stat().st_size
    assert found["default_budget"] == checker.BUDGET + checker.UNITS_PER_BYTE * size
    main(COMMANDS[command])
    assert f"check cost: {report.cost} units" in capsys.readouterr().out


@pytest.mark.usefixtures("_files")
@pytest.mark.parametrize("command", COMMANDS)
def test_without_a_certificate_there_is_no_cost(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = COMMANDS[command]
    end = next(i for i, text in enumerate(arguments) if text in ("-o", "--certificate", "--teach"))
    main([*arguments[:end], *arguments[end + 2 :], "--json"])
    assert json.loads(capsys.readouterr().out)["check_cost"] is None


def test_a_warning_above_the_default_budget() -> None:
    assert CheckCost(7, "measured", 9).lines() == ["check cost: 7 units (default budget 9)"]
    assert CheckCost(9, "measured", 7).lines() == [
        "check cost: 9 units (default budget 7)",
        "caution: the check needs --budget 10",
    ]


def test_what_is_no_bound_says_so() -> None:
    assert CheckCost(9, "estimated", 7).lines() == [
        "check cost: about 9 units, an estimate and no bound (default budget 7)",
        "caution: the check may need --budget 10",
    ]
    assert CheckCost(9, "at-least", 17).lines() == [
        "check cost: at least 9 units (default budget 17)",
        f"caution: the check may cost much more, and --budget {10**15} leaves it days",
    ]


@pytest.mark.parametrize(
    ("cost", "budget"),
    [
        (CheckCost(7, "measured", 7), None),
        (CheckCost(771, "measured", 7), 1000),
        (CheckCost(500, "estimated", 499), 500),
        (CheckCost(1001, "estimated", 7), 2000),
        (CheckCost(7, "at-least", 9), 10**15),
        (CheckCost(10**13, "at-least", 10**14), 10**16),
    ],
)
def test_the_budget_is_a_round_number_that_is_enough(cost: CheckCost, budget: int | None) -> None:
    assert cost.budget == budget
    assert cost.to_json()["budget"] == budget
    more = "" if budget is None else f" --budget {budget}"
    assert check_command(["a b.json"], cost) == f"polyrelu check 'a b.json'{more}"


def test_the_command_without_a_cost_has_no_budget() -> None:
    assert check_command(["a.json", "b.json"], None) == "polyrelu check a.json b.json"


def test_of_several_certificates_the_largest_budget_counts() -> None:
    small, large = CheckCost(9, "measured", 99), CheckCost(8, "measured", 7)
    assert largest_cost([small, None, large]) == large
    assert largest_cost([None]) is None


@pytest.mark.usefixtures("_files")
@pytest.mark.parametrize("measured", [2**33, 1], ids=["measured", "unknown"])
@pytest.mark.parametrize("command", COMMANDS)
def test_the_printed_command_checks_the_certificate(
    command: str, measured: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where the default budget is too small, the command has a larger one."""
    monkeypatch.setattr(checker, "BUDGET", 1000)
    monkeypatch.setattr(checker, "UNITS_PER_BYTE", 0)
    monkeypatch.setattr(module, "MEASURED", measured)
    main(COMMANDS[command])
    printed = re.search(r"\(check it: polyrelu (check .*)\)", capsys.readouterr().out)
    assert printed is not None
    words = shlex.split(printed[1])
    assert main(words[:2]) == 2
    assert main(words) == 0
    main([*COMMANDS[command], "--json"])
    found = json.loads(capsys.readouterr().out.splitlines()[-1])["check_cost"]
    assert words[2:] == ["--budget", str(found["budget"])]


#: Certificates of Theorem D, whose planes are some.
DEEP = ("deep-planes", "deep-regular", "deep-by-sight-in-space", "deep-part-in-space")


@pytest.mark.parametrize("name", DEEP)
def test_the_cost_of_theorem_d_is_estimated_from_its_planes(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _with_many_planes(CERTIFICATES / "valid" / f"{name}.json", tmp_path)
    cost = checker.check_file(path).cost
    monkeypatch.setattr(module, "MEASURED", 9 * cost // 10)
    found = check_cost([path])
    assert found is not None
    assert found.kind == "estimated"
    assert cost <= found.units <= 10 * cost


def test_planes_in_the_sample_keep_the_inputs_of_planes_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planes may leave out their inputs; between those of a sample others list them."""
    document = json.loads((CERTIFICATES / "valid" / "deep-planes.json").read_text())
    (ridges,) = (own for own in document["proof"]["hypotheses"] if own["id"] == "ridges")
    rows, copies = list[dict[str, Any]](), list[dict[str, Any]]()
    for plane in ridges["evidence"]["slices"]:
        vectors = [plane["point"], *plane["directions"]]
        inputs = [k for k, entries in enumerate(zip(*vectors, strict=True)) if {*entries} != {"0"}]
        point, *directions = (" ".join(row[k] for k in inputs) for row in vectors)
        ridges_there = {"ridges": plane["ridges"]}
        entry = {"denominator": "1", "point": point, "directions": directions, **ridges_there}
        rows.append({"inputs": " ".join(map(str, inputs)), **entry})
        copies += [rows[-1], *[entry] * 39]
    rows += copies
    path, found = tmp_path / "cert.json", list[CheckCost | None]()
    for listed in (rows, list(checker.with_inputs(rows))):
        ridges["evidence"]["slices"] = listed
        path.write_text(json.dumps(document))
        report = checker.check_file(path)
        assert report.verdict == "accepted"
        monkeypatch.setattr(module, "MEASURED", 9 * report.cost // 10)
        found.append(check_cost([path]))
    short, long = found
    assert short is not None
    assert long is not None
    assert short.kind == long.kind == "estimated"
    assert long.units <= 1.2 * short.units


def _with_many_planes(path: Path, folder: Path) -> Path:
    """Write the certificate with each of its planes 40 times, which changes no family."""
    document = json.loads(path.read_text())
    (ridges,) = (own for own in document["proof"]["hypotheses"] if own["id"] == "ridges")
    planes = ridges["evidence"]["slices"]
    planes += [planes[i % len(planes)] for i in range(39 * len(planes))]
    changed = folder / "cert.json"
    changed.write_text(json.dumps(document))
    assert checker.check_file(changed).verdict == "accepted"
    return changed


@pytest.mark.parametrize("bound", [1, 10**5])
def test_the_cost_of_few_planes_is_not_known(bound: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MEASURED", bound)
    found = check_cost([CERTIFICATES / "valid" / "deep-three-layers.json"])
    assert found is not None
    assert found.kind == "at-least"


@pytest.mark.usefixtures("_files")
@pytest.mark.parametrize("more", [[], ["--regions-only"]], ids=["vertices", "tree"])
def test_the_cost_beyond_the_bound_is_estimated(
    more: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [f"{i * i - 5} {7 - 3 * i}" for i in range(8)]
    layers = [
        {"denominator": "1", "bias": "1 2 3 4 5 6 7 8", "weights": [{"from": 0, "rows": rows}]},
        {"denominator": "1", "bias": "0", "weights": [{"from": 1, "rows": ["1 1 1 1 1 1 1 1"]}]},
    ]
    document = json.loads(Path("net.json").read_text())
    Path("net.json").write_text(json.dumps({**document, "layers": layers}))
    main([*COMMANDS["complex"], *more])
    path = Path("cert.json")
    cost = checker.check_file(path).cost
    monkeypatch.setattr(module, "MEASURED", 3 * cost // 4)
    found = check_cost([path])
    assert found is not None
    assert found.kind == "estimated"
    assert cost <= found.units <= 10 * cost


def test_a_command_with_a_time_limit_measures_less(monkeypatch: pytest.MonkeyPatch) -> None:
    path = CERTIFICATES / "valid" / "affine.json"
    monkeypatch.setattr(module, "MEASURED_IN_HASTE", 10)
    found = written_cost(argparse.Namespace(time_limit=1.0), [path])
    assert found is not None
    assert found.kind == "at-least"
    assert written_cost(argparse.Namespace(time_limit=None), [path]) == CheckCost(
        checker.check_file(path).cost,
        "measured",
        checker.BUDGET + checker.UNITS_PER_BYTE * path.stat().st_size,
    )


def test_a_certificate_that_is_rejected_is_an_error() -> None:
    path = CERTIFICATES / "invalid" / "point-outside.json"
    with pytest.raises(CertificateError, match="the checker rejects this certificate"):
        check_cost([path])


@pytest.mark.usefixtures("_files")
def test_the_budget_of_check(capsys: pytest.CaptureFixture[str]) -> None:
    main(COMMANDS["identify"])
    cost = checker.check_file("cert.json").cost
    assert main(["check", "cert.json", "--budget", str(cost)]) == 0
    assert main(["check", "cert.json", "--budget", str(cost - 1)]) == 2
    assert main(["check", "cert.json", "cert.json", "--budget", str(cost - 1)]) == 2
    capsys.readouterr()
    for wrong in ("0", "-1", "1.5", "x", ""):
        assert main(["check", "cert.json", f"--budget={wrong}"]) == 2
        assert "--budget" in capsys.readouterr().err
