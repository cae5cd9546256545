"""The page on budgets has a row, with the right default, for each command with a budget."""

from __future__ import annotations

import argparse
import re

import pytest

from polyrelu.cli import main
from tests.generators.files import ROOT

PAGE = (ROOT / "docs" / "how-to" / "budgets.md").read_text("utf-8")
#: The rows of the table of commands: names, what the budget is for, and the default.
ROWS = re.findall(r"^\| (`.+?) \| (.+?) \| (.+?) \|$", PAGE, re.MULTILINE)
DEFAULTS = {name: text for names, _, text in ROWS for name in re.findall("`([a-z-]+)", names)}


def budgets() -> dict[str, argparse.Action]:
    """The option --budget of each command that has one."""
    (commands,) = (
        action
        for action in main._parser()._actions
        if isinstance(action, argparse._SubParsersAction)
    )
    return {
        name: action
        for name, parser in commands.choices.items()
        for action in parser._actions
        if "--budget" in action.option_strings
    }


def test_each_command_with_a_budget_has_a_row() -> None:
    assert set(DEFAULTS) == set(budgets())


@pytest.mark.parametrize("name", sorted(DEFAULTS))
def test_the_default(name: str) -> None:
    """The help of the option, and the page, have the same number."""
    text, stated = budgets()[name].help or "", DEFAULTS[name]
    if stated == "no limit":
        assert "(default: no limit)" in text
    else:
        (number,) = re.findall(r"default:? (\d+(?:\^\d+)?)", text)
        assert stated.replace(",", "").split()[0] == number
