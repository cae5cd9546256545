"""The compiled core of complexes, walks and three provers, where the installation has it.

The sources in C++ stand beside this file; `setup.py` builds the extension module `compiled` from
them. Without a C++ compiler the package is installed without it, and Python does the same work
(docs/development/compiled-core.md). `polyrelu.complex.engine`, `polyrelu.walks`, the types of
ridges in `polyrelu.proofs.deep`, the search in one layer of `polyrelu.proofs.injectivity` and the
bounds on boxes of `polyrelu.proofs.deviation` use the core.
"""

from __future__ import annotations

import importlib
import os
from dataclasses import dataclass

from polyrelu.errors import DomainError

__all__ = ["THREADS_VARIABLE", "VARIABLE", "EngineChoice", "chosen_engine", "num_threads"]

#: The environment variable that chooses the engine: auto (or nothing), compiled, numpy.
VARIABLE = "POLYRELU_ENGINE"

#: The environment variable with the number of threads of the compiled core; 1 by default.
THREADS_VARIABLE = "POLYRELU_THREADS"

_MOST_THREADS = 256
_MODULE = "polyrelu._core.compiled"
#: What the rest of the package takes from this module; an older build may not have all of it.
_CLASSES = ("BoxBounder", "Core", "Derivatives", "SpanSearch", "Walker", "words_of_cells")
_REMEDY = (
    "install a C++20 compiler (g++ 10 or newer, clang 13 or newer) and the headers of Python, "
    "then install polyrelu again with pip's options --force-reinstall --no-cache-dir"
)


@dataclass(frozen=True, slots=True)
class EngineChoice:
    """The engine that computes complexes, walks and searches in this process.

    Attributes
    ----------
    name
        "compiled" or "numpy".
    reason
        Why the engine is not the compiled one, with a remedy; empty if it is.
    """

    name: str
    reason: str = ""


def chosen_engine() -> EngineChoice:
    """Return the engine that the environment asks for; by default the fastest that is installed.

    Raises
    ------
    DomainError
        The environment variable has another value, or asks for a core that is not installed.
    """
    wanted = os.environ.get(VARIABLE, "") or "auto"
    if wanted not in ("auto", "compiled", "numpy"):
        raise DomainError(
            f"{VARIABLE}={wanted}: no engine has this name; use auto, compiled or numpy"
        )
    if wanted == "numpy":
        return EngineChoice("numpy", f"{VARIABLE}=numpy asks for it")
    problem = _problem()
    if not problem:
        return EngineChoice("compiled")
    if wanted == "compiled":
        raise DomainError(f"{VARIABLE}=compiled: {problem}")
    return EngineChoice("numpy", problem)


def _problem() -> str:
    """Return why the compiled core cannot be used, empty if it can."""
    try:
        module = importlib.import_module(_MODULE)
    except ModuleNotFoundError:
        return f"the compiled core is not installed; {_REMEDY}"
    except ImportError as error:
        return f"the compiled core cannot be loaded ({error}); {_REMEDY}"
    if not all(hasattr(module, name) for name in _CLASSES):
        return "the compiled core was built from older sources; install polyrelu again"
    return ""


def num_threads() -> int:
    """Return the number of threads that the compiled core may use; results are the same with any.

    Raises
    ------
    DomainError
        The environment variable is no number from 1 to 256.
    """
    wanted = os.environ.get(THREADS_VARIABLE, "") or "1"
    if not (wanted.isascii() and wanted.isdigit() and 1 <= int(wanted[:9]) <= _MOST_THREADS):
        raise DomainError(
            f"{THREADS_VARIABLE}={wanted[:40]}: expected a number of threads from 1 to "
            f"{_MOST_THREADS}"
        )
    return int(wanted)
