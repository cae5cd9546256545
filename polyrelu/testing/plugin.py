"""The plugin of pytest: the fixture `exact`, and tests over networks of the corpus.

Installations of the package register it under the name ``polyrelu``; ``-p no:polyrelu`` turns it
off. It imports the package's mathematics only for tests that use it.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from polyrelu.audit import GroundTruth
    from polyrelu.corpus import CorpusEntry
    from polyrelu.formats import DomainLike, NetworkLike

__all__ = ["corpus_entry", "exact", "pytest_configure", "pytest_generate_tests"]

#: The mark of tests over the corpus, and the argument that such tests take.
_MARK, _ARGUMENT = "polyrelu_corpus", "corpus_entry"
#: Maximum number of exact answers that are kept.
_MAX_KEPT = 64


def pytest_configure(config: pytest.Config) -> None:
    """Describe the mark to pytest, and keep the package as Python has compiled it.

    pytest rewrites the assertions in all modules of a package that registers a plugin. This takes
    seconds, in every session where it cannot keep the result, and shows nothing here. There is no
    public way to decline; where pytest has another set of names, nothing changes.
    """
    marked = getattr(getattr(config.pluginmanager, "rewrite_hook", None), "_must_rewrite", None)
    if isinstance(marked, set):
        marked.discard("polyrelu")
    config.addinivalue_line(
        "markers",
        f"{_MARK}(kind=None, *, tag=None, max_inputs=None, max_regions=None): run a test for each "
        f"such network of the corpus of polyrelu, as its argument {_ARGUMENT}",
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give each marked test the networks of the corpus that its marks choose."""
    marks = list(metafunc.definition.iter_markers(_MARK))
    if not marks:
        return
    test = metafunc.function.__name__
    if _ARGUMENT not in metafunc.fixturenames:
        raise pytest.UsageError(
            f"{test}: the mark {_MARK} needs a test with the argument {_ARGUMENT}"
        )
    chosen = {entry.name: entry for mark in marks for entry in _chosen(test, mark)}
    if not chosen:
        raise pytest.UsageError(f"{test}: no network of the corpus is as the mark {_MARK} asks for")
    metafunc.parametrize(_ARGUMENT, list(chosen.values()), ids=list(chosen))


def _chosen(test: str, mark: pytest.Mark) -> tuple[CorpusEntry, ...]:
    from polyrelu.corpus import corpus_entries
    from polyrelu.errors import PolyreluError

    try:
        return corpus_entries(*mark.args, **mark.kwargs)
    except (PolyreluError, TypeError) as error:
        raise pytest.UsageError(f"{test}: the mark {_MARK}: {error}") from None


@pytest.fixture(scope="session")
def exact() -> Callable[..., GroundTruth]:
    """Return a function of a network and a domain that returns the exact answers about them.

    The answers are computed once for each network, which its hash names, and each domain.
    """
    kept: OrderedDict[Any, GroundTruth] = OrderedDict()

    def truth(network: NetworkLike, domain: DomainLike = None) -> GroundTruth:
        """Return the exact answers, kept ones if there are."""
        from polyrelu.audit import ground_truth
        from polyrelu.formats import as_domain, as_network

        known = as_network(network)
        polyhedron = as_domain(domain, known.num_inputs)
        key = (known.sha256, polyhedron.inequalities, polyhedron.equations)
        if key not in kept:
            kept[key] = ground_truth(known, polyhedron)
        kept.move_to_end(key)
        while len(kept) > _MAX_KEPT:
            kept.popitem(last=False)
        return kept[key]

    return truth


@pytest.fixture
def corpus_entry(request: pytest.FixtureRequest) -> CorpusEntry:
    """Return the network of the corpus with which a marked test runs."""
    raise pytest.UsageError(
        f"{request.node.name}: {_ARGUMENT} needs a mark that chooses networks of the corpus, such "
        f'as @pytest.mark.{_MARK}("degenerate", max_inputs=2)'
    )
