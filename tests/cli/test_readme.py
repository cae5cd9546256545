"""The shell commands of the README are the ones that CI runs; the tutorial on PyTorch runs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.generators.files import ROOT


def test_ci_runs_the_commands_of_the_readme() -> None:
    ci = (ROOT / ".ci" / "run").read_text()
    commands = re.findall(r'^ *readme "(.+)"$', ci, re.MULTILINE)
    lines = (ROOT / "README.md").read_text().splitlines()
    assert len(commands) == 2
    assert all(command in lines for command in commands)


@pytest.mark.slow
def test_a_model_of_pytorch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The script runs as it stands; what it prints holds for the model that it has trained."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    (script,) = re.findall(
        r"^```python\n(import torch\n.*?)^```$",
        (ROOT / "docs/tutorials/first-proof.md").read_text("utf-8"),
        re.MULTILINE | re.DOTALL,
    )
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    names: dict[str, Any] = {}
    try:
        exec(script, names)
    finally:
        torch.set_num_threads(threads)
    outcome, small, points = names["outcome"], names["small"], names["points"]
    printed = capsys.readouterr().out
    assert printed.startswith(f"{outcome.status}\n")
    assert outcome.status == "refuted"
    assert "simplify" in printed
    assert small.outcome.status == "proved"
    assert small.removed
    exact = small.network(points[:20])
    with torch.no_grad():
        computed = names["model"](points[:20]).tolist()
    differences = [abs(float(a[0]) - b[0]) for a, b in zip(exact, computed, strict=True)]
    assert max(differences) < 1e-5
    assert (tmp_path / "layers.png").stat().st_size > 1000
