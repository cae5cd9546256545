"""What all tests share: profiles of hypothesis, and how Python runs them."""

from __future__ import annotations

import gc
import os
import sys

import pytest
from hypothesis import settings

#: The quick part of the tests leaves out what is marked slow, and most examples of properties.
QUICK = "not slow"

# Examples are the same in every run, and slow machines do not fail for being slow.
settings.register_profile("all", derandomize=True, deadline=None)
settings.register_profile("quick", settings.get_profile("all"), max_examples=25)


def pytest_configure(config: pytest.Config) -> None:
    """Choose the number of examples and threads, and where processes keep their byte code."""
    settings.load_profile("quick" if config.option.markexpr == QUICK else "all")
    # With a process for each core, further threads of numpy and torch only wait for each other.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    cache = getattr(config, "cache", None)  # None with `-p no:cacheprovider`
    if sys.dont_write_bytecode and cache is not None:
        # Nothing is written beside the sources, as asked for; without any byte code each of the
        # processes that tests start would compile the package again.
        sys.dont_write_bytecode, sys.pycache_prefix = False, str(cache.mkdir("bytecode"))
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """Give each process tests that stand together, which share imports and what they cache."""
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log)


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> object:
    """Keep the objects that collection makes out of garbage collections.

    They live to the end, and to visit them again and again took a tenth of the time.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()
