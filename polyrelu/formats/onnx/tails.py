"""Which values of an ONNX file are the outputs of its network, and what after them is left out.

A file may end in operations that are not piecewise linear: a Softmax, or the head of a classifier
that makes labels and probabilities of the scores. `chosen_outputs` leaves them out on request, and
takes one output of several by its name.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from polyrelu.errors import NetworkFileError
from polyrelu.formats.hints import Hint
from polyrelu.formats.onnx.operations import handler_of
from polyrelu.formats.options import ReadOptions

__all__ = ["Outputs", "chosen_outputs", "hints_of", "is_supported", "needed_nodes"]

#: The operations that `--strip-tail` leaves out after the last layer, and the operations that may
#: stand between them and the output.
_TAILS = {"Softmax", "LogSoftmax", "Sigmoid", "Tanh", "HardSwish", "Softplus"}
_VIEWS = {"Identity", "Flatten", "Reshape", "Squeeze", "Unsqueeze", "Cast", "Dropout"}

#: The operations of which the head of a classifier is made, after its scores.
_HEADS = (
    _TAILS
    | _VIEWS
    | {
        *(
            "ArgMax",
            "ArrayFeatureExtractor",
            "Concat",
            "Equal",
            "Gather",
            "Greater",
            "LabelEncoder",
        ),
        *("Less", "Normalizer", "Not", "Sub", "TopK", "Where", "ZipMap"),
    }
)

#: Maximum number of outputs that are tried for a hint, and of characters of their names.
_MAX_TRIED, _LONGEST_NAME = 4, 80


@dataclass(frozen=True, slots=True)
class Outputs:
    """The outputs of the network.

    Attributes
    ----------
    names
        The values of the file that are the outputs, in order.
    stripped
        Names of the outputs of nodes that are left out, so that their input takes their place.
    cautions
        Cautions for the draft.
    """

    names: tuple[str, ...]
    stripped: frozenset[str] = frozenset()
    cautions: tuple[str, ...] = ()


def chosen_outputs(path: Path, model: Any, options: ReadOptions) -> Outputs:
    """Return the outputs of a model under the choices of a user."""
    all_names = tuple(entry.name for entry in model.graph.output)
    names, cautions = all_names, list[str]()
    if options.output_name is not None:
        names = (_known_name(path, model, options.output_name),)
        if names != all_names:
            others = ", ".join(repr(name[:40]) for name in all_names if name not in names)
            cautions.append(
                f"the output is the value {names[0][:80]!r} alone; outputs of the file that were "
                f"not read: {others[:200]}"
            )
    if not options.strip_tail:
        return Outputs(names, cautions=tuple(cautions))
    stripped = frozenset(_stripped_tails(model, names))
    if all(map(is_supported, needed_nodes(model, names, stripped))):
        return Outputs(names, stripped, tuple(cautions))
    scores, left_out = _scores_before_head(model, names)
    if scores is None:
        return Outputs(names, stripped, tuple(cautions))
    kinds, made = ", ".join(dict.fromkeys(left_out)), ", ".join(repr(name[:40]) for name in names)
    cautions.append(
        f"the operations after {scores[:80]!r} were stripped ({kinds}): the outputs are these "
        f"values, of which the file makes {made[:200]}"
    )
    return Outputs((scores,), cautions=tuple(cautions))


def _known_name(path: Path, model: Any, wanted: str) -> str:
    """Return the name of a value that the file computes, or raise an error."""
    outputs = [entry.name for entry in model.graph.output]
    if wanted not in outputs and not any(wanted in node.output for node in model.graph.node):
        shown = ", ".join(repr(name[:40]) for name in outputs[:6])
        raise NetworkFileError(
            path, "graph", f"it computes no value {wanted[:80]!r}; its outputs are {shown}"
        )
    return wanted


def is_supported(node: Any) -> bool:
    """Whether an operation is one of those that are read."""
    is_constant = node.domain in ("", "ai.onnx") and node.op_type == "Constant"
    return is_constant or handler_of(node) is not None


def hints_of(path: Path, model: Any, node: Any, options: ReadOptions) -> list[Hint]:
    """Return advice for a node that is not supported: to leave it out, or another output.

    Advice that leaves operations which are not supported is not given, before anything is read.
    """
    strip = "--strip-tail (strip_tail=True)"
    hints = []
    if node.op_type in _HEADS:
        hints.append(Hint(f"{strip} leaves it out after the last layer", {"strip_tail": True}))
    outputs = [entry.name for entry in model.graph.output]
    tried = [name for name in outputs if name.isprintable() and len(name) < _LONGEST_NAME]
    for name in tried[:_MAX_TRIED] if len(outputs) > 1 else ():
        option = f"--output-name {shlex.quote(name)} (output_name={name!r})"
        hints.append(Hint(f"{option} reads this output alone", {"output_name": name}))
        text = f"{option} with {strip} reads this output alone, without the tail"
        hints.append(Hint(text, {"output_name": name, "strip_tail": True}))
    return [hint for hint in hints if _may_work(path, model, replace(options, **hint.choices))]


def _may_work(path: Path, model: Any, options: ReadOptions) -> bool:
    """Whether all operations are supported under the choices of a user."""
    outputs = chosen_outputs(path, model, options)
    return all(map(is_supported, needed_nodes(model, outputs.names, outputs.stripped)))


def needed_nodes(
    model: Any, outputs: Sequence[str], stripped: frozenset[str] = frozenset()
) -> list[Any]:
    """Return the nodes on which the outputs depend, in the file's order; stripped ones left out."""
    nodes = list(model.graph.node)
    makers = {name: place for place, node in enumerate(nodes) for name in node.output}
    found, seen, waiting = set[int](), set[str](), list(outputs)
    while waiting:
        name = waiting.pop()
        if name in seen or name not in makers:
            continue
        seen.add(name)
        place = makers[name]
        if stripped.isdisjoint(nodes[place].output):
            found.add(place)
        waiting += nodes[place].input
    return [nodes[place] for place in sorted(found)]


def _stripped_tails(model: Any, outputs: Sequence[str]) -> set[str]:
    """Return the names of the outputs of the tails that `--strip-tail` leaves out.

    These are the tails between which and an output of the graph stand only views, and on which no
    other node depends.
    """
    makers = {name: node for node in model.graph.node for name in node.output}
    needed = needed_nodes(model, outputs)
    uses = [name for node in needed for name in node.input]
    stripped, waiting = set[str](), list(outputs)
    while waiting:
        name = waiting.pop()
        node = makers.get(name)
        if node is None or not node.input or uses.count(name) + list(outputs).count(name) > 1:
            continue  # a value that another node reads is not a tail
        if node.op_type in _TAILS:
            stripped.add(name)
        elif node.op_type in _VIEWS:
            waiting.append(node.input[0])
    return stripped


def _scores_before_head(model: Any, outputs: Sequence[str]) -> tuple[str | None, list[str]]:
    """Return the value of which a classifier's head makes all outputs, and the head's operations.

    Nodes are left out from the end of the graph, until all others are supported and what was left
    out reads one value only. The result is None if an operation that no head has comes first.
    """
    constants = {tensor.name for tensor in model.graph.initializer}
    constants |= {n for node in model.graph.node if node.op_type == "Constant" for n in node.output}
    nodes = [node for node in _in_order(model, outputs) if node.op_type != "Constant"]
    inputs = {entry.name for entry in model.graph.input}
    read, left_out = set(outputs), list[str]()
    while nodes:
        node = nodes[-1]
        if node.op_type not in _HEADS:
            return None, []
        nodes.pop()
        left_out.append(node.op_type)
        read = (read - set(node.output)) | {name for name in node.input if name} - constants
        if len(read) == 1 and not read & inputs and all(map(is_supported, nodes)):
            return next(iter(read)), left_out[::-1]
    return None, []


def _in_order(model: Any, outputs: Sequence[str]) -> list[Any]:
    """Return the needed nodes, each after the nodes that it reads; cycles are left out."""
    nodes = needed_nodes(model, outputs)
    makers = {name: place for place, node in enumerate(nodes) for name in node.output}
    ordered, done = list[Any](), set[int]()
    stack = [(place, False) for place in reversed(range(len(nodes)))]
    while stack:
        place, is_ready = stack.pop()
        if is_ready:
            ordered.append(nodes[place])
        elif place not in done:
            done.add(place)
            stack.append((place, True))
            stack += [(makers[name], False) for name in nodes[place].input if name in makers]
    return ordered
