"""Functions that an ONNX file defines itself: their nodes take the place of each call.

A few hundred bytes can define functions that call each other twice each, and so stand for more
nodes than any memory holds; or a function that calls itself. The number of nodes is counted before
anything is put in.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeAlias

from polyrelu.errors import NetworkFileError

__all__ = ["with_inlined_functions"]

#: The domain, the name and the overload of a function.
_Key: TypeAlias = tuple[str, str, str]

#: Maximum number of nodes after the functions were put in.
_MAX_NODES = 10**5


def with_inlined_functions(path: Path, model: Any) -> Any:
    """Return a model without calls of functions of its own; a model without any is returned."""
    if not model.functions:
        return model
    _check_size(path, model)
    from onnx import inliner

    try:
        return inliner.inline_local_functions(model)
    except Exception as error:  # the library raises nearly anything on damaged functions
        reason = " ".join(str(error).split())[:120] or type(error).__name__
        raise NetworkFileError(
            path, "graph", f"a function of the file cannot be put in its place: {reason}"
        ) from None


def _check_size(path: Path, model: Any) -> None:
    """Refuse functions that call themselves, or stand for too many nodes."""
    bodies = {
        (function.domain, function.name, _overload(function)): function.node
        for function in model.functions
    }
    sizes: dict[_Key, int] = {}
    waiting = [(key, False) for key in bodies]
    active = set[_Key]()
    while waiting:
        key, is_ready = waiting.pop()
        called = [_called(node) for node in bodies[key]]
        inner = [other for other in called if other in bodies]
        if is_ready:
            active.discard(key)
            own = sum(sizes[other] for other in inner) + len(called) - len(inner)
            sizes[key] = min(own, _MAX_NODES + 1)
        elif key not in sizes and key not in active:
            active.add(key)
            if any(other in active for other in inner):
                raise NetworkFileError(path, "graph", f"its function {key[1][:60]!r} calls itself")
            waiting.append((key, True))
            waiting += [(other, False) for other in dict.fromkeys(inner) if other not in sizes]
    total = sum(sizes.get(_called(node), 1) for node in model.graph.node)
    if total > _MAX_NODES:
        raise NetworkFileError(
            path, "graph", f"its functions stand for more than {_MAX_NODES} nodes"
        )


def _called(node: Any) -> _Key:
    """Return the function that a node would call."""
    return (node.domain, node.op_type, _overload(node))


def _overload(entry: Any) -> str:
    """Return the overload of a function or of a call; older releases of onnx know none."""
    return str(getattr(entry, "overload", ""))
