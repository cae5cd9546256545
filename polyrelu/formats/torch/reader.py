"""Modules of PyTorch, traced with torch.fx and translated node by node.

Here is the walk from a module to a `Draft`: the module is checked and traced, and each node of the
trace becomes operations of a graph (`polyrelu.formats.torch.operations`). The function that is read
is the function of the module at inference, whether or not it is in training mode. Whatever could
make the trace a different function must be refused by name; what the walk does not know is never
skipped.

A trace follows the layers of ``torch.nn`` and the functions that a module calls. A module whose
program depends on the numbers in its input cannot be traced. Only nodes on which the output depends
are read.

Nodes that write in place may change other values than their own; `polyrelu.formats.torch.writes`
finds where that matters. The comparison with PyTorch (`polyrelu.formats.runtimes.comparison`) also
runs the module itself, whose function a trace might not be.
"""

from __future__ import annotations

import builtins
import inspect
import operator
import re
from typing import Any

import numpy as np

from polyrelu.errors import NetworkError
from polyrelu.formats.graph.values import Graph, Value
from polyrelu.formats.hints import Hint, hinted
from polyrelu.formats.imported import Draft
from polyrelu.formats.options import ReadOptions
from polyrelu.formats.torch.operations import (
    FUNCTIONS,
    LAYERS,
    METHODS,
    Handler,
    StepError,
    TorchStep,
    TraceReader,
)
from polyrelu.formats.torch.runtime import OUTPUT, TorchRuntime, inference
from polyrelu.formats.torch.writes import Writes, line_of, new_tracer

__all__ = ["draft_of_module"]

_REMEDY = "export it with torch.onnx.export and read the .onnx file"

#: Functions that `strip_tail` removes after the last layer, in small letters.
_TAILS = {
    "softmax",
    "softmin",
    "log_softmax",
    "logsoftmax",
    "sigmoid",
    "logsigmoid",
    "tanh",
    "hardswish",
    "softplus",
}
#: Operations that may stand between such a function and the output, in small letters.
_VIEWS = {
    "identity",
    "flatten",
    "unflatten",
    "reshape",
    "view",
    "squeeze",
    "unsqueeze",
    "dropout",
    "contiguous",
}

#: Classes that wrap a module, and the attribute that contains it.
_WRAPPERS = {
    "DataParallel": "module",
    "DistributedDataParallel": "module",
    "OptimizedModule": "_orig_mod",
}


def draft_of_module(module: Any, options: ReadOptions) -> Draft:
    """Return the operations of a module of PyTorch.

    A `NetworkError` names the first node that cannot be taken exactly.
    """
    import torch

    while (inner := getattr(module, _WRAPPERS.get(type(module).__name__, ""), None)) is not None:
        module = inner
    _check_module(module)
    if torch.fx.Tracer().is_leaf_module(module, ""):  # a trace of a single layer would go into it
        training, module = module.training, torch.nn.Sequential(module)
        module.training = training
    graph = Graph()
    draft = Draft(f"module of PyTorch {torch.__version__}", graph, arithmetic=_arithmetic(module))
    in_training = [part for part in module.modules() if part.training]
    if in_training:
        remark = "the module is in training mode; what is read is what it computes at inference"
        differs = any(re.search("Dropout|Norm", type(part).__name__) for part in in_training)
        (draft.caveats if differs else draft.notes).append(remark)
    with inference(module):
        traced = _traced_module(module)
        _Walk(traced, TraceReader(draft, graph, options)).read_all()
    draft.runtime = _runtime_or_reason(module, traced, graph)
    return draft


# --- The module -----


def _check_module(module: Any) -> None:
    """Refuse modules whose trace would be another function than the module."""
    import torch

    if isinstance(module, torch.jit.ScriptModule):
        raise NetworkError(
            "a TorchScript module cannot be traced: pass the nn.Module it was made from, or "
            f"{_REMEDY}"
        )
    for name, part in module.named_modules():
        place = f"module {name or type(module).__name__!r} ({type(part).__name__})"
        if any(torch.nn.parameter.is_lazy(tensor) for tensor in part.parameters(recurse=False)):
            raise NetworkError(f"{place}: its parameters have no values yet; call the module once")
        if part._forward_hooks or part._forward_pre_hooks:
            raise NetworkError(
                f"{place}: it has forward hooks, which may change what it computes; remove them"
            )
        if "forward" in vars(part):
            raise NetworkError(
                f"{place}: its forward was replaced on the object, which a trace does not see; "
                f"{_REMEDY}"
            )
        if torch.nn.utils.parametrize.is_parametrized(part):
            remedy = "torch.nn.utils.parametrize.remove_parametrizations makes them plain"
            raise NetworkError(f"{place}: its parameters are computed from others; {remedy}")


def _parameters_and_buffers(module: Any) -> list[Any]:
    return [*module.parameters(), *module.buffers()]


def _arithmetic(module: Any) -> str:
    """Return the float type in which the module computes; empty if its parameters have several."""
    import torch

    tensors = _parameters_and_buffers(module)
    types = {str(tensor.dtype) for tensor in tensors if tensor.is_floating_point()}
    found = types or {str(torch.get_default_dtype())}
    return found.pop().removeprefix("torch.") if len(found) == 1 else ""


def _runtime_or_reason(module: Any, traced: Any, graph: Graph) -> TorchRuntime | str:
    """Return the runtime for comparison, or why the module cannot be compared with PyTorch."""
    devices = {str(tensor.device) for tensor in _parameters_and_buffers(module)} - {"cpu"}
    if devices:
        return (
            f"the module is on {', '.join(sorted(devices))}, whose rounding is not known; move it "
            "to the CPU"
        )
    return TorchRuntime(module, traced, graph.names)


def _traced_module(module: Any) -> Any:
    """Return the module as a `torch.fx.GraphModule`; attributes that the trace adds are removed."""
    import torch

    before = [(part, dict(vars(part))) for part in module.modules()]
    try:
        graph = new_tracer().trace(module, concrete_args=_defaults(module) or None)
        return torch.fx.GraphModule(module, graph)
    except Exception as error:  # the code of the module runs here and may raise anything
        reason = " ".join(str(error).split())[:160] or type(error).__name__
        raise NetworkError(f"the module cannot be traced ({reason}); {_REMEDY}") from None
    finally:
        for part, attributes in before:
            vars(part).clear()
            vars(part).update(attributes)


def _defaults(module: Any) -> dict[str, Any]:
    """Return the simple default values of the arguments after the first one, for the trace."""
    defaults = {}
    for name, parameter in list(inspect.signature(module.forward).parameters.items())[1:]:
        default = parameter.default
        if default is not parameter.empty and (
            default is None or isinstance(default, (bool, int, float, str))
        ):
            defaults[name] = default
    return defaults


# --- The walk -----


class _Walk:
    """The translation of the nodes of a trace, one after the other.

    Attributes
    ----------
    traced
        The traced module.
    reader
        The state of the translation, which the operations share.
    nodes
        The nodes of the trace in order.
    results
        The nodes that the module returns.
    writes
        The writes in place.
    stripped
        The nodes that `strip_tail` leaves out.
    """

    def __init__(self, traced: Any, reader: TraceReader) -> None:
        self.traced, self.reader = traced, reader
        self.nodes = list(traced.graph.nodes)
        self.results = self._results()
        self.stripped = _stripped(self, self.results) if reader.options.strip_tail else set()
        #: Stripped nodes and the nodes that depend on them: their values differ from PyTorch's.
        self._altered: set[Any] = set()
        self.writes = Writes(
            self.nodes, [self.kind(node) for node in self.nodes], list(map(self.part, self.nodes))
        )
        self._functions = _by_object(FUNCTIONS)
        self._layers = _by_object({f"torch.nn.{name}": handler for name, handler in LAYERS.items()})

    def read_all(self) -> None:
        """Translate all nodes on which the output depends."""
        needed = _needed(self.results)
        self._check_parameters_unchanged()
        for node in self.nodes:
            if node.op == "placeholder":
                self._read_input(node)
            elif node.op != "output" and node in needed:
                self._read_node(node)
        outputs = [self._output(node) for node in self.results]
        if len(outputs) > 1:
            names = ", ".join(
                f"{n.name!r} ({v.size})" for n, v in zip(self.results, outputs, strict=True)
            )
            self.reader.draft.notes.append(f"outputs one after the other: {names}")
        graph = self.reader.graph
        graph.finish(outputs)
        if not self.stripped:
            graph.names[OUTPUT] = Value(graph.output, (graph.nodes[graph.output].size,))

    def part(self, node: Any) -> Any:
        """Return the layer that a node calls, or None."""
        return self.traced.get_submodule(node.target) if node.op == "call_module" else None

    def kind(self, node: Any) -> str:
        """Return the name of the operation of a node, for messages."""
        if node.op == "call_module":
            return type(self.part(node)).__name__
        return str(
            node.target
            if isinstance(node.target, str)
            else getattr(node.target, "__name__", node.target)
        )

    # -- inputs and outputs -----

    def _read_input(self, node: Any) -> None:
        """Translate an argument of forward: the input, or an argument at its default value."""
        reader, is_first = self.reader, not self.reader.draft.input_shapes
        if not is_first and node.args:
            reader.values[node] = node.args[0]
            if node.users:
                default = f"{str(node.target)[:40]}={str(node.args[0])[:40]}"
                reader.draft.caveats.append(
                    f"the argument {default} of forward was taken at its default"
                )
            return
        if not is_first or str(node.target).startswith("*"):
            raise NetworkError(f"forward takes more than one input ({node.target}); {_REMEDY}")
        shape = reader.options.input_shape or self._guessed_shape(node)
        reader.draft.input_shapes = [shape]
        reader.draft.notes.append(f"input of shape {list(shape)}, one sample")
        (reader.values[node],) = reader.graph.inputs([shape])

    def _guessed_shape(self, node: Any) -> tuple[int, ...]:
        """Return the shape of one row if the first layer is linear.

        Between the input and this layer only operations that keep the row as it is may stand.
        """
        while True:
            linear = next((user for user in node.users if self.kind(user) == "Linear"), None)
            if linear is not None:
                return (1, self.part(linear).in_features)
            if len(node.users) != 1:
                break
            (node,) = node.users
            layer, kind = self.part(node), self.kind(node).lower()
            start = (
                node.kwargs.get("start_dim", (*node.args, 0)[1])
                if layer is None
                else getattr(layer, "start_dim", 1)
            )
            if kind not in ("identity", "dropout", "flatten") or start != 1:
                break
        raise NetworkError(
            "the shape of one sample is not known; say it, batch included: "
            "input_shape=(1, 3, 32, 32)"
        )

    def _results(self) -> list[Any]:
        """Return the nodes that the module returns."""
        import torch

        returned = self.nodes[-1].args[0]
        results = [returned] if isinstance(returned, torch.fx.Node) else returned
        if not isinstance(results, (tuple, list)) or not all(
            isinstance(entry, torch.fx.Node) for entry in results
        ):
            # torch.fx has containers of its own, such as immutable_dict
            kind = type(returned).__name__.removeprefix("immutable_")
            raise NetworkError(f"forward returns {kind}; expected a tensor, or a tuple of tensors")
        if not results:
            raise NetworkError("forward returns nothing")
        return list(results)

    def _output(self, node: Any) -> Value:
        """Return the value of a node that the module returns."""
        known = self.reader.values[node]
        self._check_unchanged(TorchStep(self.reader, OUTPUT, "output"), node, self.nodes[-1])
        if not isinstance(known, (Value, np.ndarray)):
            raise NetworkError(
                f"forward returns {type(known).__name__}; expected a tensor, or a tuple of tensors"
            )
        return TorchStep(self.reader, node.name, "output").value(known)

    # -- one node -----

    def _read_node(self, node: Any) -> None:
        """Translate one node and record its value."""
        step = TorchStep(self.reader, node.name, self.kind(node))
        args, kwargs = self._arguments(step, node)
        if node in self.stripped:
            self.reader.draft.caveats.append(
                f"the {step.kind} after the last layer was stripped: outputs are its inputs"
            )
            result = args[0]
        elif node.op == "get_attr":
            result = self._attribute(step, node.target)
        else:
            result = self._called(step, node, args, kwargs)
        if node in self.stripped or any(entry in self._altered for entry in node.all_input_nodes):
            self._altered.add(node)
        self.reader.values[node] = result
        if isinstance(result, Value):
            if node not in self._altered:
                self.reader.graph.names[node.name] = result
            self.reader.draft.steps.append(f"{step.kind} {list(result.shape)}")

    def _arguments(self, step: TorchStep, node: Any) -> tuple[list[Any], dict[str, Any]]:
        """Return the arguments of a node with values in place of nodes."""
        import torch

        def known(entry: Any) -> Any:
            """Return the value of a node that was computed before."""
            self._check_unchanged(step, entry, node)
            return self.reader.values[entry]

        args = list(torch.fx.map_arg(tuple(node.args), known))
        kwargs = dict(torch.fx.map_arg(dict(node.kwargs), known))
        if "input" in kwargs:
            args.insert(0, kwargs.pop("input"))
        return args, kwargs

    def _attribute(self, step: TorchStep, target: str) -> Any:
        """Return the numbers of a parameter or buffer by its path in the module."""
        import torch

        attribute = operator.attrgetter(target)(self.traced)
        if not isinstance(attribute, torch.Tensor):
            raise step.fail(f"it is {type(attribute).__name__}, not a tensor")
        return step.tensor(attribute)

    def _called(self, step: TorchStep, node: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Return the result of a node that calls a layer, a function or a method."""
        is_plain = node.op == "call_function" and _is_plain(node.target, args)
        handler = self._handler(node)
        if handler is None and not is_plain:
            error = step.fail("this operation is not supported")
            hint = "strip_tail=True leaves it out after the last layer"
            is_tail = step.kind.lower() in _TAILS
            raise hinted(error, Hint(hint, {"strip_tail": True})) if is_tail else error
        leading = [self.part(node)] if node.op == "call_module" else []
        try:
            return (
                node.target(*args)
                if is_plain or handler is None
                else handler(step, *leading, *args, **kwargs)
            )
        except StepError:
            raise
        except NetworkError as error:
            raise step.fail(str(error)) from None
        except (
            IndexError,
            TypeError,
            ValueError,
            OverflowError,
            AttributeError,
            ZeroDivisionError,
        ):
            # arguments that the handler does not know, or arguments of another type
            raise step.fail("it is called with arguments that are not supported") from None

    def _handler(self, node: Any) -> Handler | None:
        """Return the function that translates a node, or None for an unknown operation."""
        if node.op == "call_module":
            return self._layers.get(type(self.part(node)))
        return (
            METHODS.get(node.target)
            if node.op == "call_method"
            else self._functions.get(node.target)
        )

    # -- in-place operations -----

    def _check_unchanged(self, step: TorchStep, known: Any, reader: Any) -> None:
        """Refuse a node that reads a value which another node has changed in place."""
        writer = self.writes.writer_before(known, reader)
        if writer is not None:
            place = line_of(writer)
            raise step.fail(
                f"it reads the value of node {known.name!r}, which node {writer.name!r} "
                f"({self.kind(writer)}){f' in {place}' if place else ''} changed in place; write "
                "the operation without inplace=True or the final underscore"
            )

    def _check_parameters_unchanged(self) -> None:
        """Refuse a program that writes into its own parameters: it is another at the next call."""
        found = self.writes.parameter_writer()
        if found is not None:
            writer, parameter = found
            place = line_of(writer)
            raise NetworkError(
                f"node {writer.name!r} ({self.kind(writer)}){f' in {place}' if place else ''} "
                f"writes into the parameter {parameter[:80]!r} of the module; {_REMEDY}"
            )


def _is_plain(function: Any, args: list[Any]) -> bool:
    """Whether a call is Python's own arithmetic on sizes, without tensors."""
    flat = [entry for arg in args for entry in (arg if isinstance(arg, (tuple, list)) else [arg])]
    return getattr(operator, getattr(function, "__name__", ""), None) is function and not any(
        isinstance(entry, (Value, np.ndarray)) for entry in flat
    )


def _needed(results: list[Any]) -> set[Any]:
    """Return the nodes on which the outputs depend."""
    needed: set[Any] = set()
    waiting = list(results)
    while waiting:
        node = waiting.pop()
        if node not in needed:
            needed.add(node)
            waiting += node.all_input_nodes
    return needed


def _stripped(walk: _Walk, results: list[Any]) -> set[Any]:
    """Return the nodes that `strip_tail` leaves out, with only views between them and an output."""
    found, waiting = set[Any](), list(results)
    while waiting:
        node = waiting.pop()
        kind = walk.kind(node).lower()
        if len(node.users) > 1 or not node.all_input_nodes:
            continue
        if kind in _TAILS:
            found.add(node)
        elif kind in _VIEWS:
            waiting.append(node.all_input_nodes[0])
    return found


def _by_object(handlers: dict[str, Handler]) -> dict[Any, Handler]:
    """Return handlers by the objects that the dotted names denote.

    Names that this release of PyTorch does not have are left out.
    """
    import torch

    roots = {"torch": torch, "operator": operator, "builtins": builtins}
    found = {}
    for name, handler in handlers.items():
        root, _, rest = name.partition(".")
        try:
            found[operator.attrgetter(rest)(roots[root])] = handler
        except AttributeError:
            continue
    return found
