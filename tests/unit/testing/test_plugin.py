"""The plugin of pytest, in processes of their own, where it can be used and where it is not.

The tests inside run in one process each, since they import the package again.
"""

from __future__ import annotations

import tomllib
from importlib.metadata import entry_points
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

#: The option that loads the plugin where no installation of the package has registered it.
_LOAD = (
    []
    if any(entry.value == "polyrelu.testing.plugin" for entry in entry_points(group="pytest11"))
    else ["-p", "polyrelu.testing.plugin"]
)

_TESTS = """
import pytest
from polyrelu.testing import assert_same_regions
from polyrelu import load

SEEN = []

@pytest.mark.polyrelu_corpus("degenerate", max_inputs=2, tag="parallel")
def test_regions(corpus_entry, exact):
    truth = exact(corpus_entry.network, corpus_entry.domain)
    assert truth.num_regions == corpus_entry.num_regions
    assert truth is exact(f"corpus:{corpus_entry.name}", corpus_entry.domain)
    assert truth is not exact(corpus_entry.network)
    SEEN.append(corpus_entry.name)

@pytest.mark.polyrelu_corpus(kind="topology", max_inputs=2, max_regions=4)
@pytest.mark.polyrelu_corpus(tag="false-claim", max_inputs=1)
def test_two_marks(corpus_entry):
    SEEN.append(corpus_entry.name)

def test_seen(exact):
    assert SEEN == [
        *("parallel-2", "parallel-4", "parallel-opposite", "parallel-scaled", "parallel-deep"),
        *("three-layer-theorem-5-a", "three-layer-theorem-5-b"),
        *("topology-disc", "topology-cross"),
    ]

@pytest.fixture
def regions(corpus_entry):
    return corpus_entry.num_regions

@pytest.mark.polyrelu_corpus(kind="topology", max_inputs=2, max_regions=4)
def test_indirect(regions):
    assert regions == 4

def test_unmarked(corpus_entry):
    pass

def test_failure():
    assert_same_regions("corpus:parallel-2", [[1, 1, 1]], "box:-2,2")
"""


def _run(pytester: pytest.Pytester, *options: str) -> pytest.RunResult:
    pytester.makeini("[pytest]\naddopts = --strict-markers -p no:cacheprovider\n")
    return pytester.runpytest_subprocess(*_LOAD, *options)


@pytest.mark.slow
def test_fixture_and_mark(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(_TESTS)
    result = _run(pytester)
    result.assert_outcomes(passed=12, failed=1, errors=1)
    result.stdout.fnmatch_lines(
        [
            "E       AssertionError: regions as sign vectors: differs (1 right, 5 missing)",
            "E       missing region: the region * is not in the list",
            "E       witness: (*)",
            "E       inradius: *",
        ]
    )
    shown = result.stdout.str()
    assert "test_unmarked: corpus_entry needs a mark that chooses networks" in shown
    shown = shown.partition("= FAILURES =")[2]
    assert "polyrelu/testing" not in shown  # the place of the failure is the user's line
    assert "polyrelu/audit" not in shown


@pytest.mark.slow
def test_with_xdist(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(_TESTS.split("def test_seen")[0])
    _run(pytester, "-n", "2").assert_outcomes(passed=9)


_UNUSED = """
import sys

def test_nothing_is_loaded(request):
    assert not {"numpy", "polyrelu.audit", "polyrelu.corpus", "flint"} & {*sys.modules}
"""


def test_it_loads_nothing_where_it_is_not_used(pytester: pytest.Pytester) -> None:
    """Neither the collection nor other tests import the package's mathematics."""
    pytester.makepyfile(_UNUSED)
    _run(pytester, "-p", "no:hypothesispytest", "-p", "no:xdist").assert_outcomes(passed=1)


_NOT_REWRITTEN = """
import polyrelu.errors

def test_it():
    assert "pytest" not in type(polyrelu.errors.__loader__).__module__
"""


@pytest.mark.slow
def test_the_package_is_not_compiled_again(pytester: pytest.Pytester) -> None:
    """Pytest marks packages with a plugin as here, and would rewrite each of their modules."""
    pytester.makeconftest("import pytest\npytest.register_assert_rewrite('polyrelu')\n")
    pytester.makepyfile(_NOT_REWRITTEN)
    _run(pytester).assert_outcomes(passed=1)


#: Marks that cannot be used, and what the error says.
_WRONG = {
    "kind='nice'": "kind 'nice': choose from deep, degenerate",
    "max_outputs=2": "unexpected keyword argument 'max_outputs'",
    "'pair', max_inputs=0": "no network of the corpus is as the mark polyrelu_corpus asks for",
    "": "the mark polyrelu_corpus needs a test with the argument corpus_entry",
}


@pytest.mark.slow
def test_wrong_marks(pytester: pytest.Pytester) -> None:
    files = {
        f"test_{k}": f"import pytest\n@pytest.mark.polyrelu_corpus({mark})\ndef test_it"
        f"({'corpus_entry' if mark else ''}):\n    pass\n"
        for k, mark in enumerate(_WRONG)
    }
    pytester.makepyfile(**files)
    result = _run(pytester)
    result.assert_outcomes(errors=len(_WRONG))
    shown = " ".join(result.stdout.str().split())
    assert all(message in shown for message in _WRONG.values())


def test_installations_register_it() -> None:
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text("utf-8"))
    registered = project["project"]["entry-points"]["pytest11"]
    assert registered == {"polyrelu": "polyrelu.testing.plugin"}
