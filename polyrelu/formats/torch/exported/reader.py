"""Reader of exported programs of PyTorch: a walk through the nodes of their graph.

The graph is data: names of operations of ATen with their arguments. Each is translated by a handler
(`operations`), and an operation without a handler is refused by its name. A symbolic first
dimension of an input is the batch and becomes 1.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from polyrelu.errors import NetworkError, NetworkFileError
from polyrelu.formats.graph.operations import Take
from polyrelu.formats.graph.values import Graph, Value
from polyrelu.formats.hints import Hint, hinted
from polyrelu.formats.imported import Draft
from polyrelu.formats.options import ReadOptions
from polyrelu.formats.torch.exported.files import REMEDY, Archive, part, sizes_of
from polyrelu.formats.torch.exported.operations import TAILS, handler_of, writes
from polyrelu.formats.torch.operations import StepError, TorchStep, TraceReader
from polyrelu.support.limits import WIDTH_LIMIT

__all__ = ["read_exported"]

_PREFIX = "torch.ops.aten."
#: Kinds of arguments that stand for themselves.
_PLAIN = ("as_int", "as_ints", "as_float", "as_floats", "as_bool", "as_bools", "as_string")
#: Kinds of inputs with tensors of the file, and the key of the tensor's name.
_STORED = {
    "parameter": "parameter_name",
    "buffer": "buffer_name",
    "tensor_constant": "tensor_constant_name",
}


def read_exported(path: Path, options: ReadOptions) -> Draft:
    """Read the program of a .pt2 file.

    A `NetworkFileError` names the first node that cannot be taken exactly.
    """
    archive = Archive(path)
    try:
        return _Walk(archive, options).draft_of_program()
    except StepError as error:
        hints = error.__dict__.get("hints", ())
        raise hinted(NetworkFileError(path, "", f"{error}"), *hints) from None
    finally:
        archive.close()


class _Walk:
    """The translation of the nodes of a program.

    Attributes
    ----------
    archive
        The file.
    reader
        The state of the translation, which the operations share.
    nodes
        The nodes in order.
    outputs
        The names of the outputs.
    """

    def __init__(self, archive: Archive, options: ReadOptions) -> None:
        self.archive = archive
        program = archive.program()
        version = str(program.get("torch_version", ""))[:40]
        format_ = f"exported program of PyTorch {version}".strip()
        draft = Draft(format_, Graph(), arithmetic="")
        draft.runtime = "torch.export.load can run code of a file, so it is not called"
        self.reader = TraceReader(draft, draft.graph or Graph(), options)
        self._module = part(archive, program, dict, "graph_module")
        graph = part(archive, self._module, dict, "graph")
        self.nodes: list[Any] = part(archive, graph, list, "nodes")
        self._shapes = part(archive, graph, dict, "tensor_values")
        self._stored: dict[str, str] = {}
        self._overwritten: dict[int, str] = {}
        self.outputs = self._output_names()

    def draft_of_program(self) -> Draft:
        """Translate all nodes on which the outputs depend."""
        self._read_inputs()
        needed = self._needed()
        for number, node in enumerate(self.nodes):
            if number in needed:
                self._read_node(node)
        values = []
        for name in self.outputs:
            step = TorchStep(self.reader, name, "output")
            known = self._known(step, name)
            if not isinstance(known, (Value, np.ndarray)):
                raise self.archive.fail(f"output {name[:60]!r}", "it is not a tensor")
            values.append(step.value(known))
        draft, graph = self.reader.draft, self.reader.graph
        graph.finish(values)
        draft.outputs = [(name, v.size) for name, v in zip(self.outputs, values, strict=True)]
        if len(values) > 1:
            names = ", ".join(f"{name!r} ({size})" for name, size in draft.outputs)
            draft.notes.append(f"outputs one after the other: {names}")
        floats = {kind for kind in draft.dtypes if "float" in kind}
        draft.arithmetic = next(iter(floats)) if len(floats) == 1 else ""
        return draft

    # -- Inputs and outputs ------------------------------------------------------------------------

    def _specs(self, key: str) -> list[tuple[str, dict[str, Any]]]:
        """Return the kind and the entries of each input or output."""
        found = []
        for spec in part(self.archive, self._module, list, "signature", key):
            if not isinstance(spec, dict) or len(spec) != 1:
                raise self.archive.fail("", f"{key} are not as expected; {REMEDY}")
            ((kind, entries),) = spec.items()
            found.append((str(kind), entries))
        return found

    def _output_names(self) -> list[str]:
        names = []
        for kind, entries in self._specs("output_specs"):
            if kind != "user_output":
                problem = f"{kind.replace('_', ' ')}: the program changes what it reads"
                if kind == "buffer_mutation":
                    problem += ", as modules in training mode do; export model.eval()"
                raise self.archive.fail("outputs", problem)
            names.append(str(part(self.archive, entries, str, "arg", "as_tensor", "name")))
        if not names:
            raise self.archive.fail("outputs", "the program has none")
        return names

    def _read_inputs(self) -> None:
        """Define the inputs of the network, and the names of stored tensors."""
        names = []
        for kind, entries in self._specs("input_specs"):
            if kind in _STORED:
                name = part(self.archive, entries, str, "arg", "name")
                self._stored[name] = part(self.archive, entries, str, _STORED[kind])
            elif kind == "user_input":
                names.append(str(part(self.archive, entries, str, "arg", "as_tensor", "name")))
            else:
                problem = f"{kind.replace('_', ' ')[:40]} is not supported; {REMEDY}"
                raise self.archive.fail("inputs", problem)
        if not names:
            raise self.archive.fail("inputs", "the program has none")
        draft = self.reader.draft
        draft.input_shapes = [self._input_shape(name) for name in names]
        for name, value in zip(names, self.reader.graph.inputs(draft.input_shapes), strict=True):
            self.reader.values[name] = value
            draft.inputs.append((name, value.size))
            draft.notes.append(f"input {name!r} of shape {list(value.shape)}, one sample")

    def _input_shape(self, name: str) -> tuple[int, ...]:
        """Return the shape of one sample; a symbolic first dimension is the batch."""
        place = f"input {name[:60]!r}"
        sizes = part(self.archive, self._shapes, list, name, "sizes")
        if sizes and isinstance(sizes[0], dict) and "as_expr" in sizes[0]:
            sizes = [{"as_int": 1}, *sizes[1:]]
        if any(isinstance(size, dict) and "as_expr" in size for size in sizes):
            problem = "only its first dimension, the batch, may be dynamic; export a fixed shape"
            raise self.archive.fail(place, problem)
        shape = sizes_of(self.archive, sizes)
        if not 1 <= math.prod(shape) <= WIDTH_LIMIT:
            problem = f"shape {list(shape)[:8]}; inputs have 1 to {WIDTH_LIMIT} entries"
            raise self.archive.fail(place, problem)
        return shape

    # -- Nodes -------------------------------------------------------------------------------------

    def _needed(self) -> set[int]:
        """Return the numbers of the nodes that an output depends on, or that write in place."""
        makers = {name: number for number, node in enumerate(self.nodes) for name in _results(node)}
        waiting = [makers[name] for name in self.outputs if name in makers]
        waiting += [number for number, node in enumerate(self.nodes) if writes(_operation(node))]
        needed = set[int]()
        while waiting:
            number = waiting.pop()
            if number not in needed:
                needed.add(number)
                names = _names_read(self.nodes[number])
                waiting += [makers[name] for name in names if makers.get(name, number) < number]
        return needed

    def _read_node(self, node: dict[str, Any]) -> None:
        """Translate one node and define its results."""
        operation, names = _operation(node), _results(node)
        kind = operation.partition(".")[0]
        step = TorchStep(self.reader, names[0] if names else "", kind)
        handler = handler_of(operation)
        if kind in TAILS and self.reader.options.strip_tail and self._is_last(names):
            self.reader.draft.caveats.append(
                f"the {kind} after the last layer was stripped: outputs are its inputs"
            )
            handler = _first
        if handler is None:
            text = "--strip-tail (strip_tail=True) leaves it out after the last layer"
            hints = [Hint(text, {"strip_tail": True})] if kind in TAILS else []
            raise hinted(step.fail("this operation is not supported"), *hints)
        args, kwargs = self._arguments(step, node)
        result = self._called(step, handler, args, kwargs)
        if writes(operation) and args:
            self._record_write(step, node, args[0], result)
        results = result if len(names) > 1 and isinstance(result, list) else [result]
        if isinstance(result, list) and len(names) == 1:
            results = result[:1]
        for name, value in zip(names, results, strict=False):
            self.reader.values[name] = value
            if isinstance(value, Value):
                self.reader.draft.steps.append(f"{kind} {list(value.shape)}")

    def _called(
        self, step: TorchStep, handler: Any, args: list[Any], kwargs: dict[str, Any]
    ) -> Any:
        """Return the result of a handler, with every error naming the node."""
        try:
            return handler(step, *args, **kwargs)
        except StepError:
            raise
        except NetworkError as error:
            raise step.fail(str(error)) from None
        except (
            LookupError,
            TypeError,
            ValueError,
            OverflowError,
            AttributeError,
            ArithmeticError,
        ):
            raise step.fail("it is called with arguments that are not supported") from None

    def _record_write(self, step: TorchStep, node: Any, before: Any, after: Any) -> None:
        """Record that a node wrote into a value, unless it returned the value unchanged."""
        written = _names_read(node)[0]
        if isinstance(before, Value):
            if not isinstance(after, Value) or self._root(before) != self._root(after):
                self._overwritten[self._root(before)] = step.name
        elif any(written in _names_read(other) for other in self.nodes if other is not node):
            raise step.fail(f"it writes into {written[:60]!r}, which another node reads")

    def _is_last(self, names: list[str]) -> bool:
        """Whether results are outputs that no other node reads."""
        read = {name for node in self.nodes for name in _names_read(node)}
        return all(name in self.outputs and name not in read for name in names)

    def _arguments(self, step: TorchStep, node: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """Return the arguments of a node by position and by name."""
        args, kwargs = list[Any](), dict[str, Any]()
        for entry in part(self.archive, node, list, "inputs"):
            value = self._argument(step, part(self.archive, entry, dict, "arg"))
            if entry.get("kind") == 1:
                args.append(value)
            else:
                kwargs[str(entry.get("name"))] = value
        return args, kwargs

    def _argument(self, step: TorchStep, arg: dict[str, Any]) -> Any:
        if len(arg) != 1:
            raise step.fail("an argument is not as expected")
        ((kind, entry),) = arg.items()
        if kind in _PLAIN:
            return entry
        if kind == "as_none":
            return None
        if kind == "as_tensor":
            return self._known(step, part(self.archive, entry, str, "name"))
        if kind in ("as_tensors", "as_sym_ints") and isinstance(entry, list):
            return [self._element(step, element) for element in entry]
        if kind == "as_sym_int":
            return self._element(step, entry)
        raise step.fail(f"arguments of kind {str(kind)[:40]} are not supported")

    def _element(self, step: TorchStep, element: Any) -> Any:
        """Return a tensor or a size of a list."""
        if isinstance(element, dict) and isinstance(element.get("as_int"), int):
            return element["as_int"]
        key = "as_name" if isinstance(element, dict) and "as_name" in element else "name"
        return self._known(step, part(self.archive, element, str, key))

    def _known(self, step: TorchStep, name: str) -> Any:
        """Return the value of a name, which no node may have written into."""
        values = self.reader.values
        if name not in values and name in self._stored:
            tensor = self.archive.tensor(self._stored[name])
            values[name] = tensor.numbers()
            self.reader.draft.dtypes.add(tensor.kind)
            self.reader.draft.num_stored += values[name].size
        if name not in values:
            raise step.fail(f"it reads {name[:60]!r}, which is not defined")
        value = values[name]
        writer = self._overwritten.get(self._root(value)) if isinstance(value, Value) else None
        if writer is not None:
            problem = f"it reads a value into which node {writer!r} wrote in place"
            raise step.fail(f"{problem}; leave out inplace=True")
        return value

    def _root(self, value: Value) -> int:
        """Return the node of which a value is a view; a copy may count as a view."""
        nodes, number = self.reader.graph.nodes, value.node
        while isinstance(nodes[number].operation, Take):
            (number,) = nodes[number].inputs
        return number


def _first(step: TorchStep, x: Any, *_: Any, **__: Any) -> Any:
    return x


def _operation(node: Any) -> str:
    """Return the operation of a node without its prefix; the whole name if it is not of ATen."""
    target = node.get("target", "") if isinstance(node, dict) else ""
    return str(target)[:100].removeprefix(_PREFIX)


def _results(node: Any) -> list[str]:
    """Return the names of the results of a node."""
    return _names(node.get("outputs") if isinstance(node, dict) else None)


def _names_read(node: Any) -> list[str]:
    """Return the names that a node reads."""
    entries = node.get("inputs") if isinstance(node, dict) else None
    args = [entry.get("arg") for entry in entries or () if isinstance(entry, dict)]
    return _names(args)


def _names(args: Any) -> list[str]:
    """Return the names of tensors and sizes in arguments."""
    found = []
    for arg in args if isinstance(args, list) else []:
        for entry in arg.values() if isinstance(arg, dict) else []:
            for element in entry if isinstance(entry, list) else [entry]:
                name = (
                    element.get("name", element.get("as_name"))
                    if isinstance(element, dict)
                    else None
                )
                found += [name] if isinstance(name, str) else []
    return found
