"""Commands run without the second checker, also where it is installed."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _no_second_checker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("polyrelu.cli.check.find_second_checker", lambda: None)
