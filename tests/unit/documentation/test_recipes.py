"""The programs in the guide about JAX run, where their libraries are installed."""

from __future__ import annotations

import re
from importlib.util import find_spec

import pytest

from tests.generators.files import ROOT

PAGE = (ROOT / "docs" / "how-to" / "jax.md").read_text(encoding="utf-8")
#: Sessions, which begin with a prompt, are tested with all pages.
PROGRAMS = re.findall(r"```python\n((?!>>>).*?)```", PAGE, re.DOTALL)


def test_there_are_programs() -> None:
    assert len(PROGRAMS) == 3
    assert all("assert np.abs(difference).max() < 1e-5" in program for program in PROGRAMS)


@pytest.mark.parametrize("program", PROGRAMS, ids=["linen", "nnx", "equinox"])
def test_recipes(program: str) -> None:
    for library in re.findall(r"^(?:import|from) (\w+)", program, re.MULTILINE):
        if find_spec(library) is None:
            pytest.skip(f"{library} is not installed")
    exec(compile(program, "docs/how-to/jax.md", "exec"), {"__name__": "recipe"})
