"""Nodes of a trace that write into their input in place, and what else they change by that.

A node such as ``h[:, :2].relu_()`` changes the memory of h, and so every tensor that shares this
memory; a trace shows only the node. The translation gives each node the value of the tensor when
the node ran, so a node whose tensor was changed later must not be read after the change. Writes
into memory that nothing reads later do no harm, also where their own result is unused.

Which tensors share memory is decided from the operations alone, on the safe side: the result of an
operation that is not known to make a new tensor may be a view of each of its inputs.
"""

from __future__ import annotations

import inspect
import operator
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

__all__ = ["IN_PLACE_OPERATORS", "Writes", "line_of", "new_tracer"]

#: Operations whose result is a new tensor, unless they work in place.
_NEW_TENSORS = frozenset(
    [
        *("abs", "add", "clamp", "clamp_max", "clamp_min", "clip", "clone", "div", "truediv"),
        *("matmul", "linear", "max", "maximum", "mean", "min", "minimum", "mul", "neg", "sub"),
        *("sum", "cat", "concat", "relu", "relu6", "leaky_relu", "hardtanh", "hardsigmoid"),
        *("prelu", "ReLU", "ReLU6", "LeakyReLU", "PReLU", "Hardtanh", "Hardsigmoid", "Linear"),
        *("softmax", "log_softmax", "sigmoid", "tanh", "Softmax", "LogSoftmax", "Sigmoid", "Tanh"),
        *(f"BatchNorm{rank}d" for rank in (1, 2, 3)),
        *(f"Conv{rank}d" for rank in (1, 2, 3)),
        *(f"ConvTranspose{rank}d" for rank in (1, 2, 3)),
        *(f"MaxPool{rank}d" for rank in (1, 2, 3)),
        *(f"AvgPool{rank}d" for rank in (1, 2, 3)),
        *(f"conv{rank}d" for rank in (1, 2, 3)),
        *(f"max_pool{rank}d" for rank in (1, 2, 3)),
        *(f"avg_pool{rank}d" for rank in (1, 2, 3)),
    ]
)
#: Python's operators that write into their first operand: ``y += x``.
IN_PLACE_OPERATORS = ("iadd", "isub", "imul", "itruediv")
#: Operations that read the shape of a tensor, not its numbers.
_READ_SHAPE = frozenset(["size", "dim", "ndimension", "numel"])


class Writes:
    """The writes in place of the nodes of a trace.

    Parameters
    ----------
    nodes
        The nodes in the order in which they run.
    kinds
        The name of the operation of each node, such as ``ReLU`` or ``add``.
    layers
        The layer that each node calls; None for other nodes.
    """

    def __init__(self, nodes: Sequence[Any], kinds: Sequence[str], layers: Sequence[Any]) -> None:
        self._order = {node: number for number, node in enumerate(nodes)}
        self._kinds = dict(zip(nodes, kinds, strict=True))
        #: The tensors, by the nodes that made them, whose memory a node's result may share.
        self._memory: dict[Any, frozenset[Any]] = {}
        #: The nodes that wrote into the memory of a tensor, in order.
        self._writers: dict[Any, list[Any]] = {}
        for node, kind, layer in zip(nodes, kinds, layers, strict=True):
            written = _written(node, kind, layer)
            self._memory[node] = self._memory_of_result(node, kind, written)
            for target in written:
                for tensor in self._memory.get(target, ()):
                    self._writers.setdefault(tensor, []).append(node)

    def _memory_of_result(self, node: Any, kind: str, written: Sequence[Any]) -> frozenset[Any]:
        """Return the tensors whose memory the result of a node may share."""
        is_new = node.op == "placeholder" or self._reads_shape(node)
        if is_new or (kind in _NEW_TENSORS and not written):
            return frozenset([node])
        if node.op == "get_attr":  # two nodes may get one parameter
            return frozenset([("parameter", node.target)])
        sources = written if written and kind != "set_" else node.all_input_nodes
        shared = [self._memory.get(entry, frozenset()) for entry in sources]
        return frozenset().union(*shared) or frozenset([node])

    def writer_before(self, node: Any, reader: Any) -> Any:
        """Return a node that changed the result of `node` before `reader` runs, or None."""
        if self._reads_shape(reader):
            return None
        first, last = self._order[node], self._order[reader]
        for tensor in self._memory[node]:
            for writer in self._writers.get(tensor, ()):
                if first < self._order[writer] < last:
                    return writer
        return None

    def _reads_shape(self, reader: Any) -> bool:
        """Whether a node reads no numbers, but the shape of a tensor."""
        if self._kinds[reader] == "getattr":
            return len(reader.args) > 1 and reader.args[1] in ("shape", "ndim")
        return self._kinds[reader] in _READ_SHAPE

    def parameter_writer(self) -> tuple[Any, str] | None:
        """Return a node that writes into a parameter, and the parameter's path; None if none."""
        for tensor, writers in self._writers.items():
            if isinstance(tensor, tuple):
                return writers[0], str(tensor[1])
        return None


def _written(node: Any, kind: str, layer: Any) -> list[Any]:
    """Return the nodes whose results a node writes into."""
    inputs = list(node.all_input_nodes)
    out = node.kwargs.get("out")
    targets = [entry for entry in (out if isinstance(out, (tuple, list)) else [out]) if entry]
    if inputs and not targets and _is_in_place(node, kind, layer):
        first = node.args[0] if node.args else node.kwargs.get("input")
        targets = list(first) if isinstance(first, (tuple, list)) else [first]
    return [entry for entry in targets if entry in inputs]


def _is_in_place(node: Any, kind: str, layer: Any) -> bool:
    """Whether a node writes into its first input; dropout does nothing at inference."""
    if node.op == "call_module":
        return bool(getattr(layer, "inplace", False)) and "Dropout" not in kind
    if node.op not in ("call_function", "call_method"):
        return False
    if kind in IN_PLACE_OPERATORS or (kind.endswith("_") and not kind.endswith("__")):
        return True
    given = _arguments(node)
    return bool(given.get("inplace")) and given.get("training", True) is not False


def _arguments(node: Any) -> dict[str, Any]:
    """Return the arguments of a call by name, as far as the function tells its names."""
    if node.op != "call_function":
        return dict(node.kwargs)
    try:
        bound = inspect.signature(node.target).bind(*node.args, **node.kwargs)
    except (TypeError, ValueError):  # functions written in C have no signature
        return dict(node.kwargs)
    bound.apply_defaults()
    return dict(bound.arguments)


def line_of(node: Any) -> str:
    """Return the line of the model's program that made a node: ``line 12 of net.py``."""
    frames = re.findall(r'File "([^"]+)", line ([0-9]+)', str(node.stack_trace or ""))
    own = [
        (file, line) for file, line in frames if not re.search(r"[/\\](torch|polyrelu)[/\\]", file)
    ]
    return f"line {own[-1][1]} of {Path(own[-1][0]).name[:60]}" if own else ""


def new_tracer() -> Any:
    """Return a tracer that records lines of the program, and ``y += x`` as a write into y.

    The tracer of torch.fx would record a sum there, which is another function if y has a second
    name.
    """
    import torch

    class Proxy(torch.fx.Proxy):  # type: ignore[misc]
        """A value of the trace with Python's in-place operators."""

    def in_place(name: str) -> Any:
        """Return the method of an in-place operator, which the trace records."""
        function = getattr(operator, name)
        return lambda self, other: self.tracer.create_proxy(
            "call_function", function, (self, other), {}
        )

    for name in IN_PLACE_OPERATORS:
        setattr(Proxy, f"__{name}__", in_place(name))

    class Tracer(torch.fx.Tracer):  # type: ignore[misc]
        """A tracer that makes these values."""

        def proxy(self, node: Any) -> Any:
            """Return the value of a node."""
            return Proxy(node, self)

    tracer = Tracer()
    tracer.record_stack_traces = True
    return tracer
