"""Commands that write a certificate say what its check costs."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pytest

from polyrelu import checker
from polyrelu.cli import check_cost as module
from polyrelu.cli.check_cost import CheckCost, check_cost
from polyrelu.cli.main import main
from polyrelu.errors import CertificateError
from tests.generators.files import CERTIFICATES

#: Commands that write the certificate `cert.json`, about a small network.
COMMANDS = {
    "identify": ["identify", "net.json", "-o", "cert.json"],
    "equivalent": ["equivalent", "net.json", "half.json", "-o", "cert.json"],
    "complex": ["complex", "net.json", "--certificate", "cert.json"],
    "simplify": ["simplify", "net.json", "--certificate", "cert.json"],
    "runtime-error": ["runtime-error", "net.json", "--domain", "box:-1,1", "-o", "cert.json"],
}


def network(scale: int) -> str:
    """|x_0| + max(x_1 - 1, 0), the neurons scaled."""
    rows = [f"{scale} 0", f"-{scale} 0", f"0 {scale}"]
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
    end = next(i for i, text in enumerate(arguments) if text in ("-o", "--certificate"))
    main([*arguments[:end], *arguments[end + 2 :], "--json"])
    assert json.loads(capsys.readouterr().out)["check_cost"] is None


def test_a_warning_above_the_default_budget() -> None:
    assert CheckCost(7, "measured", 9).lines() == ["check cost: 7 units (default budget 9)"]
    assert CheckCost(9, "measured", 7).lines() == [
        "check cost: 9 units (default budget 7)",
        "caution: the check needs --budget 9",
    ]


def test_what_is_no_bound_says_so() -> None:
    assert CheckCost(9, "estimated", 7).lines() == [
        "check cost: about 9 units, an estimate and no bound (default budget 7)",
        "caution: the check may need --budget 9",
    ]
    assert CheckCost(9, "at-least", 7).lines() == [
        "check cost: at least 9 units (default budget 7)",
        "caution: the check needs more than --budget 9",
    ]


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
    found = check_cost(argparse.Namespace(), [path])
    assert found is not None
    assert found.kind == "estimated"
    assert cost <= found.units <= 10 * cost


def test_a_command_with_a_time_limit_measures_less(monkeypatch: pytest.MonkeyPatch) -> None:
    path = CERTIFICATES / "valid" / "affine.json"
    monkeypatch.setattr(module, "MEASURED_IN_HASTE", 10)
    found = check_cost(argparse.Namespace(time_limit=1.0), [path])
    assert found is not None
    assert found.kind == "at-least"
    assert check_cost(argparse.Namespace(time_limit=None), [path]) == CheckCost(
        checker.check_file(path).cost,
        "measured",
        checker.BUDGET + checker.UNITS_PER_BYTE * path.stat().st_size,
    )


def test_a_certificate_that_is_rejected_is_an_error() -> None:
    path = CERTIFICATES / "invalid" / "point-outside.json"
    with pytest.raises(CertificateError, match="the checker rejects this certificate"):
        check_cost(argparse.Namespace(), [path])


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
