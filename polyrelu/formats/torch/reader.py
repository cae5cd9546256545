"""Modules of PyTorch: traced with torch.fx, and every node becomes operations of `tensors.py` (`torch_operations.py`).

What is read is the function that the module is at inference, whether or not it is in training mode. A trace follows
the layers of ``torch.nn`` and the functions a module calls; a module whose program depends on the numbers in its input
cannot be traced. Only nodes that the output depends on are looked at. A node that is not known is refused by its name.

A trace can be another function than the module: ``y += x`` becomes a sum, even where y is used under another name. So
the comparison with PyTorch (`compare.py`) also runs the module itself.
"""

from __future__ import annotations

import builtins
import inspect
import operator
from typing import Any

import numpy as np

from polyrelu.errors import NetworkError
from polyrelu.formats.graph.operations import Take
from polyrelu.formats.graph.values import Graph, Value
from polyrelu.formats.imported import Draft
from polyrelu.formats.options import ReadOptions
from polyrelu.formats.torch.operations import (
    FUNCTIONS,
    LAYERS,
    METHODS,
    Handler,
    Reader,
    StepError,
    TorchStep,
)
from polyrelu.formats.torch.runtime import OUTPUT, TorchRuntime, inference

__all__ = ["draft_of_module"]

_REMEDY = "export it with torch.onnx.export and read the .onnx file"

#: What `strip_tail` takes away after the last layer, and what may stand between; names in small letters.
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

#: Wrappers, and where the module itself is.
_WRAPPERS = {
    "DataParallel": "module",
    "DistributedDataParallel": "module",
    "OptimizedModule": "_orig_mod",
}


def draft_of_module(module: Any, options: ReadOptions) -> Draft:
    """The operations of a module of PyTorch; `NetworkError` names the first node that cannot be taken exactly."""
    import torch

    while (inner := getattr(module, _WRAPPERS.get(type(module).__name__, ""), None)) is not None:
        module = inner
    _check(module)
    if torch.fx.Tracer().is_leaf_module(module, ""):  # a layer alone: a trace would go into it
        training, module = module.training, torch.nn.Sequential(module)
        module.training = training
    graph = Graph()
    draft = Draft(f"module of PyTorch {torch.__version__}", graph, arithmetic=_arithmetic(module))
    if any(part.training for part in module.modules()):
        draft.notes.append(
            "the module is in training mode; what is read is what it computes at inference"
        )
    with inference(module):
        traced = _traced(module)
        _Walk(traced, Reader(draft, graph, options)).go()
    draft.runtime = _runtime_or_reason(module, traced, graph)
    return draft


# --- The module -----


def _check(module: Any) -> None:
    """Refuse what would make the trace another function than the module."""
    import torch

    if isinstance(module, torch.jit.ScriptModule):
        raise NetworkError(
            f"a TorchScript module cannot be traced: pass the nn.Module it was made from, or {_REMEDY}"
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
                f"{place}: its forward was replaced on the object, which a trace does not see; {_REMEDY}"
            )
        if torch.nn.utils.parametrize.is_parametrized(part):
            remedy = "torch.nn.utils.parametrize.remove_parametrizations makes them plain"
            raise NetworkError(f"{place}: its parameters are computed from others; {remedy}")


def _tensors(module: Any) -> list[Any]:
    return [*module.parameters(), *module.buffers()]


def _arithmetic(module: Any) -> str:
    """The float type in which the module computes; empty if its parameters have several."""
    import torch

    types = {str(tensor.dtype) for tensor in _tensors(module) if tensor.is_floating_point()}
    found = types or {str(torch.get_default_dtype())}
    return found.pop().removeprefix("torch.") if len(found) == 1 else ""


def _runtime_or_reason(module: Any, traced: Any, graph: Graph) -> TorchRuntime | str:
    devices = {str(tensor.device) for tensor in _tensors(module)} - {"cpu"}
    if devices:
        return f"the module is on {', '.join(sorted(devices))}, whose rounding is not known; move it to the CPU"
    return TorchRuntime(module, traced, graph.names)


def _traced(module: Any) -> Any:
    """The module as a `torch.fx.GraphModule`; what the trace leaves on the module's parts is taken away."""
    import torch

    before = [(part, dict(vars(part))) for part in module.modules()]
    try:
        graph = torch.fx.Tracer().trace(module, concrete_args=_defaults(module) or None)
        return torch.fx.GraphModule(module, graph)
    except Exception as error:  # the module's own code runs here
        reason = " ".join(str(error).split())[:160] or type(error).__name__
        raise NetworkError(f"the module cannot be traced ({reason}); {_REMEDY}") from None
    finally:
        for part, attributes in before:
            vars(part).clear()
            vars(part).update(attributes)


def _defaults(module: Any) -> dict[str, Any]:
    """The simple default values of the arguments after the first, at which the module is traced."""
    found = {}
    for name, parameter in list(inspect.signature(module.forward).parameters.items())[1:]:
        default = parameter.default
        if default is not parameter.empty and (
            default is None or isinstance(default, (bool, int, float, str))
        ):
            found[name] = default
    return found


# --- The walk -----


class _Walk:
    """The nodes of a trace, one after the other."""

    def __init__(self, traced: Any, reader: Reader) -> None:
        self.traced, self.reader = traced, reader
        self.nodes = list(traced.graph.nodes)
        self.results = self._results()
        self.stripped = _stripped(self, self.results) if reader.options.strip_tail else set()
        self._altered: set[Any] = set()
        self._overwritten: dict[
            int, str
        ] = {}  # roots of values that a node wrote into, with that node's name
        self._functions = _by_object(FUNCTIONS)
        self._layers = _by_object({f"torch.nn.{name}": handler for name, handler in LAYERS.items()})

    def go(self) -> None:
        """Read everything that the output depends on."""
        needed = _needed(self.results)
        for node in self.nodes:
            if node.op == "placeholder":
                self._placeholder(node)
            elif node.op != "output" and (node in needed or _writes(node, self.part(node))):
                self._take(node)
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
        """The layer that a node calls, or None."""
        return self.traced.get_submodule(node.target) if node.op == "call_module" else None

    def kind(self, node: Any) -> str:
        """What a node does, for people."""
        if node.op == "call_module":
            return type(self.part(node)).__name__
        return str(
            node.target
            if isinstance(node.target, str)
            else getattr(node.target, "__name__", node.target)
        )

    # -- inputs and outputs -----

    def _placeholder(self, node: Any) -> None:
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
        """One row, if the first layer is linear; before it the row may be renamed, but not reordered."""
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
            "the shape of one sample is not known; say it, batch included: input_shape=(1, 3, 32, 32)"
        )

    def _results(self) -> list[Any]:
        import torch

        found = self.nodes[-1].args[0]
        results = [found] if isinstance(found, torch.fx.Node) else found
        if not isinstance(results, (tuple, list)) or not all(
            isinstance(entry, torch.fx.Node) for entry in results
        ):
            kind = type(found).__name__.removeprefix(
                "immutable_"
            )  # torch.fx has containers of its own
            raise NetworkError(f"forward returns {kind}; expected a tensor, or a tuple of tensors")
        if not results:
            raise NetworkError("forward returns nothing")
        return list(results)

    def _output(self, node: Any) -> Value:
        found = self.reader.values[node]
        self._check_read(TorchStep(self.reader, OUTPUT, "output"), found)
        if not isinstance(found, (Value, np.ndarray)):
            raise NetworkError(
                f"forward returns {type(found).__name__}; expected a tensor, or a tuple of tensors"
            )
        return TorchStep(self.reader, node.name, "output").value(found)

    # -- one node -----

    def _take(self, node: Any) -> None:
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
            if _writes(node, self.part(node)) and args and isinstance(args[0], Value):
                self._write(step, args[0], result)
            if node not in self._altered:
                self.reader.graph.names[node.name] = result
            self.reader.draft.steps.append(f"{step.kind} {list(result.shape)}")

    def _arguments(self, step: TorchStep, node: Any) -> tuple[list[Any], dict[str, Any]]:
        import torch

        def known(entry: Any) -> Any:
            self._check_read(step, self.reader.values[entry])
            return self.reader.values[entry]

        args = list(torch.fx.map_arg(tuple(node.args), known))
        kwargs = dict(torch.fx.map_arg(dict(node.kwargs), known))
        if "input" in kwargs:
            args.insert(0, kwargs.pop("input"))
        return args, kwargs

    def _attribute(self, step: TorchStep, target: str) -> Any:
        import torch

        found = operator.attrgetter(target)(self.traced)
        if not isinstance(found, torch.Tensor):
            raise step.fail(f"it is {type(found).__name__}, not a tensor")
        return step.tensor(found)

    def _called(self, step: TorchStep, node: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        is_plain = node.op == "call_function" and _is_plain(node.target, args)
        handler = self._handler(node)
        if handler is None and not is_plain:
            hint = (
                "; strip_tail leaves it out after the last layer"
                if step.kind.lower() in _TAILS
                else ""
            )
            raise step.fail(f"this operation is not supported{hint}")
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
            # arguments that the handler does not know, or of another type
            raise step.fail("it is called with arguments that are not supported") from None

    def _handler(self, node: Any) -> Handler | None:
        if node.op == "call_module":
            return self._layers.get(type(self.part(node)))
        return (
            METHODS.get(node.target)
            if node.op == "call_method"
            else self._functions.get(node.target)
        )

    # -- in-place operations -----

    def _root(self, value: Value) -> int:
        """The value of which this one is a view, as far as can be told: a copy may count as a view."""
        nodes, number = self.reader.graph.nodes, value.node
        while isinstance(nodes[number].operation, Take):
            (number,) = nodes[number].inputs
        return number

    def _check_read(self, step: TorchStep, known: Any) -> None:
        for entry in known if isinstance(known, (tuple, list)) else [known]:
            if isinstance(entry, Value) and self._root(entry) in self._overwritten:
                writer = self._overwritten[self._root(entry)]
                raise step.fail(
                    f"it reads a value into which node {writer!r} wrote in place; leave out inplace=True"
                )

    def _write(self, step: TorchStep, before: Value, after: Value) -> None:
        if self._root(before) != self._root(after):
            self._overwritten[self._root(before)] = step.name


def _is_plain(function: Any, args: list[Any]) -> bool:
    """Whether this is Python's own arithmetic, on sizes: nothing in it is a tensor."""
    flat = [entry for arg in args for entry in (arg if isinstance(arg, (tuple, list)) else [arg])]
    return getattr(operator, getattr(function, "__name__", ""), None) is function and not any(
        isinstance(entry, (Value, np.ndarray)) for entry in flat
    )


def _writes(node: Any, layer: Any) -> bool:
    """Whether a node may write into its input."""
    name = node.target if isinstance(node.target, str) else getattr(node.target, "__name__", "")
    if node.op == "call_module":
        return bool(getattr(layer, "inplace", False))
    if node.op not in ("call_function", "call_method"):
        return False
    is_named_so = name.endswith("_") and not name.endswith("__")
    return is_named_so or bool(node.kwargs.get("inplace")) or "out" in node.kwargs


def _needed(results: list[Any]) -> set[Any]:
    """The nodes on which the outputs depend."""
    needed: set[Any] = set()
    waiting = list(results)
    while waiting:
        node = waiting.pop()
        if node not in needed:
            needed.add(node)
            waiting += node.all_input_nodes
    return needed


def _stripped(walk: _Walk, results: list[Any]) -> set[Any]:
    """The nodes that `strip_tail` leaves out: between them and an output are only views."""
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
    """Handlers by the objects that the dotted names stand for; what this release does not have is left out."""
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
