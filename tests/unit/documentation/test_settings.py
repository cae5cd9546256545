"""Constants of searches stand in settings types, with a sentence each (style.md)."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from importlib import import_module
from pathlib import Path

import pytest

from tests.generators.files import ROOT
from tests.generators.sources import PACKAGE, parsed

#: Rooms that search, and a module of another room that does.
SEARCHING = [
    path
    for path in PACKAGE
    if path.parts[len(ROOT.parts) + 1] in ("proofs", "fibers", "dynamics")
    or path.name == "dixon.py"
]

#: Numbers in these modules that are no constants of a search.
FACTS = {
    "proofs/leaky/prover.py": {"_MAX_CHAIN"},  # FORMAT.md §3.13
    "proofs/leaky/chains.py": {"_ON_OUTPUTS"},
    "proofs/deep/ridges.py": {"_DIRECTION_BASE"},  # FORMAT.md §3.9
    "proofs/deviation/grid_products.py": {"LONGEST", "_EXACT_BITS"},  # of int64 and floats
    "proofs/deviation/grid_layers.py": {"_LOW_BITS"},
    "proofs/deviation/inherited_tree.py": {"_UNBOUNDED"},  # a mark
    "proofs/deviation/half_spaces.py": {"_GAIN", "_SWEEPS"},  # as in the compiled core
    "proofs/deviation/sign_parts.py": {"_IS_SETTLED"},  # a mark
    "proofs/deviation/relu_bands.py": {"SLOPE_BITS", "ONE"},  # FORMAT.md §5.8
    "proofs/injectivity/exact_constant.py": {"_MAX_INPUTS"},  # of the theorem
    "proofs/injectivity/compiled_search.py": {"_LEAST", "_PRIME"},  # of the compiled core
    "proofs/next_steps.py": {"_FACTOR", "_LEAST_SECONDS", "_MAX_INPUTS_OF_COMPLEX", "_MAX_STEPS"},
    "proofs/larger_limits.py": {"_FACTOR"},  # advice
    "proofs/injectivity/next_steps.py": {"_FACTOR"},
    "proofs/properties/decisions.py": {"_MAX_OUTPUTS"},  # of a question
    "proofs/injectivity/independence.py": {"_SHORT"},  # of products in int64
    "fibers/assignments.py": {"_MAX_LABELLED"},  # what is shown
    "fibers/network.py": {"_MAX_LISTED", "_MAX_UNKNOWNS"},
    "fibers/equations.py": {"_MAX_DIMENSION", "_MAX_SHOWN"},
    "dynamics/linear_neurons.py": {"_SIGNIFICANT_BITS"},  # the only one of this search
}


def numbers(path: Path) -> Iterator[str]:
    """The names of the numbers that a module defines at its top level."""
    for node in parsed(path).body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            values = [part for part in ast.walk(node.value) if isinstance(part, ast.Constant)]
            calls = any(isinstance(part, ast.Call) for part in ast.walk(node.value))
            if values and not calls and all(type(part.value) in (int, float) for part in values):
                names = (name for target in targets for name in ast.walk(target))
                yield from (name.id for name in names if isinstance(name, ast.Name))


def test_no_constant_of_a_search_stands_alone() -> None:
    found = {
        str(path.relative_to(ROOT / "polyrelu")): names
        for path in SEARCHING
        if (names := set(numbers(path)))
    }
    assert found == FACTS


def settings_types() -> list[type]:
    """The settings types of the package."""
    found = []
    for path in PACKAGE:
        text = path.read_text(encoding="utf-8")
        names = re.findall(r"^class (\w+Settings)\b", text, re.MULTILINE)
        if names:
            name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            found += [getattr(import_module(name), each) for each in names]
    return found


@pytest.mark.parametrize("kind", settings_types(), ids=lambda kind: kind.__name__)
def test_every_setting_has_a_sentence(kind: type) -> None:
    assert is_dataclass(kind)
    text = inspect.getdoc(kind) or ""
    lines = text.partition("Attributes\n----------\n")[2].splitlines()
    named = {name.strip() for line in lines if not line.startswith(" ") for name in line.split(",")}
    assert {field.name for field in fields(kind)} <= named
