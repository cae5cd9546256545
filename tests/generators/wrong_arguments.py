"""Arguments that no function takes, and the judgement of what a call with them does."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from polyrelu import PolyreluError

__all__ = ["WRONG", "calls_with", "fails_clearly"]

#: Values that are neither networks nor domains, points, paths or objects of the package.
WRONG: dict[str, Any] = {
    "number": 3,
    "None": None,
    "missing file": "no such file",
    "object": object(),
    "bytes": b"net.npz",
    "numbers": [1, 2],
    "dict": {"a": 1},
    "nan": float("nan"),
    "scalar array": np.array(1.0),
    "ellipsis": ...,
}


def fails_clearly(call: Callable[[], object]) -> str:
    """Return the text of the error; a call that answers gives an empty text.

    The answer must show itself. Errors of other types than `PolyreluError` pass through, and more
    than one line is a failure.
    """
    try:
        answer = call()
        str(answer)
        assert "\n" not in repr(answer)
    except PolyreluError as error:
        text = str(error)
        assert text
        assert "\n" not in text
        return text
    return ""


def calls_with(
    function: Callable[..., object], good: tuple[Any, ...], options: dict[str, Any], wrong: object
) -> list[Callable[[], object]]:
    """Return calls in each of which one argument is replaced by a wrong one."""
    calls: list[Callable[[], object]] = []
    for place in range(len(good)):
        arguments = (*good[:place], wrong, *good[place + 1 :])
        calls.append(partial(function, *arguments, **options))
    for name in options:
        changed = {**options, name: wrong}
        calls.append(partial(function, *good, **changed))
    return calls
