"""The operations of ONNX, from opset 6 to the current one, each as a function of an `OnnxNode`.

An operand of a node is a value of the graph or a constant array; a function takes operands and
attributes from the node and returns what the node computes. Operations that only move entries
compute a table of indices (`_rearranged`), so that they serve values and constants alike;
arithmetic on constants alone is folded exactly. Whoever adds an operation must read all its
attributes, because an attribute that no function has read is refused as unsupported.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias, cast

import numpy as np

from polyrelu.errors import NetworkFileError
from polyrelu.exact import FLOAT32
from polyrelu.formats.folding import folded, folded_product
from polyrelu.formats.graph import tensors
from polyrelu.formats.graph.constants import FLOAT_FORMATS, exact, reciprocals
from polyrelu.formats.graph.tensors import Pads, Window, plain_window
from polyrelu.formats.graph.values import Graph, Value
from polyrelu.formats.imported import Draft
from polyrelu.formats.meter import need
from polyrelu.formats.options import ReadOptions
from polyrelu.support.typing import Array, Indices

__all__ = ["OPERATIONS", "OnnxNode", "Reader", "handler_of"]

#: An operand of a node: a value of the graph, or a constant.
Operand: TypeAlias = Value | Array


@dataclass(slots=True)
class Reader:
    """The state of the walk through one ONNX graph.

    Attributes
    ----------
    path
        The file.
    draft
        The draft that the walk fills.
    graph
        The graph of the draft.
    options
        The choices of the user.
    values
        The operand for each name that is defined so far.
    opset
        The opset version of the file.
    stripped
        Names of the outputs of nodes that are left out.
    counted
        The arrays that entered the function so far, by `id`.
    altered
        Names whose values differ from the runtime's, because a node before them was left out.
    """

    path: Path
    draft: Draft
    graph: Graph
    options: ReadOptions
    values: dict[str, Operand]
    opset: int
    stripped: set[str] = field(default_factory=set)
    counted: dict[int, Array] = field(default_factory=dict)
    altered: set[str] = field(default_factory=set)

    def as_value(self, operand: Operand) -> Value:
        """Return an operand as a value of the graph; a constant is added to the graph."""
        if isinstance(operand, Value):
            return operand
        self.count(operand)
        return self.graph.constant(tensors.column(operand), operand.shape)

    def count(self, array: Array) -> None:
        """Record, once per array, stored numbers that enter the function."""
        if array.dtype != object and id(array) not in self.counted:
            self.counted[id(array)] = array  # the reference keeps the id unique
            self.draft.dtypes.add(array.dtype.name)
            self.draft.num_stored += array.size


class OnnxNode:
    """A node of the file with access to its inputs and attributes."""

    def __init__(self, reader: Reader, proto: Any) -> None:
        self.reader, self.proto = reader, proto
        self.graph, self.opset = reader.graph, reader.opset
        self._attributes = {attribute.name: attribute for attribute in proto.attribute}
        self._used: set[str] = set()

    def fail(self, problem: str) -> NetworkFileError:
        """Return an error that names this node."""
        name = (self.proto.name or next(iter(self.proto.output), ""))[:80]
        return NetworkFileError(
            self.reader.path, f"node {name!r} ({self.proto.op_type[:40]})", problem
        )

    # -- inputs ------------------------------------------------------------------------------------

    def has(self, position: int) -> bool:
        """Return whether an optional input is present; an empty name means that it is not."""
        return len(self.proto.input) > position and bool(self.proto.input[position])

    def input(self, position: int) -> Operand:
        """Return an input as an operand."""
        return self.reader.values[self.proto.input[position]]

    def value(self, position: int) -> Value:
        """Return an input as a value of the graph."""
        return self.reader.as_value(self.input(position))

    def array(self, position: int) -> Array:
        """Return an input that must be a constant."""
        operand = self.input(position)
        if isinstance(operand, Value):
            raise self.fail(f"input {self.proto.input[position]!r} is not a constant of the file")
        return operand

    def weights(self, position: int) -> Array:
        """Return an input that must be a constant of numbers, and count it as such."""
        array = self.array(position)
        if array.dtype.kind not in "fiuVO" and array.dtype.name != "bfloat16":
            name = self.proto.input[position]
            raise self.fail(f"constant {name!r} has type {array.dtype.name}, not numbers")
        self.reader.count(array)
        return array

    def integers(self, position: int) -> list[int]:
        """Return an input that must be a constant of integers."""
        array = self.array(position).ravel()
        if array.dtype.kind not in "iu":
            raise self.fail(f"input {self.proto.input[position]!r} is not a list of integers")
        return [int(entry) for entry in array]

    # -- attributes --------------------------------------------------------------------------------

    def attribute(self, name: str, default: Any = None) -> Any:
        """Return the value of an attribute, or the default if the node does not have it."""
        from onnx import helper

        self._used.add(name)
        if name not in self._attributes:
            return default
        return helper.get_attribute_value(self._attributes[name])

    def ints(self, name: str, default: Sequence[int] | None = None) -> list[int] | None:
        """Return an attribute that must be a list of integers."""
        value = self.attribute(name, default)
        if value is None:
            return None
        if isinstance(value, (str, bytes)) or not all(isinstance(entry, int) for entry in value):
            raise self.fail(f"attribute {name!r} is not a list of integers")
        return list(value)

    def flag(self, name: str, default: int = 0) -> int:
        """Return an attribute that must be an integer, such as a flag."""
        value = self.attribute(name, default)
        if not isinstance(value, int):
            raise self.fail(f"attribute {name!r} is not an integer")
        return value

    def number(self, name: str, default: float) -> Fraction:
        """Return a float attribute as an exact number, under the rounding rule for attributes."""
        value = self.attribute(name)
        if value is not None and not isinstance(value, float):
            raise self.fail(f"attribute {name!r} is not a float")
        return self._exact(float(np.float32(default)) if value is None else value)

    def numbers(self, name: str) -> Array:
        """Return a list of floats, which are numbers of the network, as exact numbers."""
        values = self.attribute(name)
        if not isinstance(values, list) or not all(isinstance(entry, float) for entry in values):
            raise self.fail(f"attribute {name!r} is not a list of floats")
        self.reader.count(np.array(values, dtype=np.float32))
        return np.array([self._exact(entry) for entry in values], dtype=object)

    def _exact(self, stored: float) -> Fraction:
        """Return a float32 attribute under the rounding rule for attributes."""
        rounding = self.reader.options.rounding
        exact = rounding.attribute(stored)
        if rounding.matters(stored):
            self.reader.draft.rounding.add(f"attributes: {rounding.attributes}")
            if rounding.attributes == "decimal":
                self.reader.draft.bounded.discard("float64")
        return exact

    def axes(self, since: int, position: int = 1) -> list[int] | None:
        """Return the axes: an attribute before opset `since`, an input from there on."""
        if self.opset < since:
            return self.ints("axes")
        return self.integers(position) if self.has(position) else None

    def check_attributes(self) -> None:
        """Raise an error if the node has an attribute that was never read."""
        unknown = set(self._attributes) - self._used
        if unknown:
            raise self.fail(f"attribute {min(unknown)!r} is not supported")

    # -- result ------------------------------------------------------------------------------------

    def define(self, *results: Operand) -> None:
        """Give the results the names of the outputs; a name that is defined already is an error.

        An output beyond the results (the mask of Dropout, the indices of MaxPool) stays undefined,
        so that a node that reads it is refused.
        """
        names = list(self.proto.output)
        if not names:
            raise self.fail("it has no output")
        for name in names:
            if name and name in self.reader.values:
                raise self.fail(f"the name {name!r} is defined twice")
        for name, result in zip(names, results, strict=False):
            if not name:
                continue
            self.reader.values[name] = result
            if isinstance(result, Value):
                if self.reader.altered.isdisjoint([name, *self.proto.input]):
                    self.graph.names[name] = result
                else:
                    self.reader.altered.add(name)
                self.reader.draft.steps.append(f"{self.proto.op_type} {list(result.shape)}")


_TRAINING = "training mode is not a function of the input; export the model at inference (eval())"
#: A table of indices takes this part of the time of as many entries, since it is dropped.
_TABLE_SPEED = 16

Handler: TypeAlias = Callable[[OnnxNode], "Operand | list[Operand]"]


# --- Operations that move entries -----------------------------------------------------------------


def _rearranged(node: OnnxNode, table: Indices) -> Operand:
    """Return the entries of input 0 that a table of indices names, in the shape of the table."""
    operand = node.input(0)
    if isinstance(operand, Value):
        return tensors.take_entries(node.graph, operand, table)
    need(entries=table.size)
    # For a table without dimensions numpy gives a scalar, not an array.
    return np.asarray(operand.reshape(-1)[table])


def _input_table(node: OnnxNode) -> Indices:
    """Return the table of indices of input 0."""
    need(entries=math.prod(node.input(0).shape) // _TABLE_SPEED)
    return tensors.indices(node.input(0).shape)


def _flatten(node: OnnxNode) -> Operand:
    shape = node.input(0).shape
    axis = node.flag("axis", 1)
    if not -len(shape) <= axis <= len(shape):
        raise node.fail(f"axis {axis} of a value of shape {list(shape)}")
    axis += len(shape) if axis < 0 else 0
    return _rearranged(
        node, _input_table(node).reshape(math.prod(shape[:axis]), math.prod(shape[axis:]))
    )


def _reshape(node: OnnxNode) -> Operand:
    shape = node.input(0).shape
    wanted = node.integers(1) if node.has(1) else node.ints("shape")
    if not wanted and not (wanted == [] and math.prod(shape) == 1):
        raise node.fail("the new shape is not given, or empty")
    sizes = list(wanted or [])
    if not node.flag("allowzero"):
        sizes = [shape[i] if size == 0 and i < len(shape) else size for i, size in enumerate(sizes)]
    if sizes.count(-1) == 1:
        known = -math.prod(sizes)
        sizes[sizes.index(-1)] = math.prod(shape) // known if known else 0
    if min(sizes, default=1) < 1 or math.prod(sizes) != math.prod(shape):
        raise node.fail(f"cannot reshape one sample of shape {list(shape)} to {wanted}")
    return _rearranged(node, _input_table(node).reshape(sizes))


def _squeeze(node: OnnxNode) -> Operand:
    axes = node.axes(13)
    table = _input_table(node)
    if axes and any(table.shape[axis] != 1 for axis in axes):
        raise node.fail(
            f"axes {axes} of a value of shape {list(table.shape)} are not all of size 1"
        )
    return _rearranged(node, np.squeeze(table, None if axes is None else tuple(axes)))


def _unsqueeze(node: OnnxNode) -> Operand:
    axes = node.axes(13)
    if axes is None:
        raise node.fail("the axes are not given")
    return _rearranged(node, np.expand_dims(_input_table(node), tuple(axes)))


def _transpose(node: OnnxNode) -> Operand:
    return _rearranged(node, np.transpose(_input_table(node), node.ints("perm")))


def _slice(node: OnnxNode) -> Operand:
    """Return a slice; starts, ends, axes and steps are attributes before opset 10, then inputs."""
    table = _input_table(node)
    if node.opset < 10:
        starts, ends, axes, steps = node.ints("starts"), node.ints("ends"), node.ints("axes"), None
    else:
        starts, ends = node.integers(1), node.integers(2)
        axes = node.integers(3) if node.has(3) else None
        steps = node.integers(4) if node.has(4) else None
    if starts is None or ends is None:
        raise node.fail("starts and ends are not given")
    axes = list(range(len(starts))) if axes is None else [range(table.ndim)[axis] for axis in axes]
    steps = [1] * len(starts) if steps is None else steps
    if not len(starts) == len(ends) == len(axes) == len(steps) == len(set(axes)) or 0 in steps:
        raise node.fail("starts, ends, axes and steps do not fit together")
    chosen = [slice(None)] * table.ndim
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        chosen[axis] = _python_slice(table.shape[axis], start, end, step)
    return _rearranged(node, _not_empty(node, table[tuple(chosen)]))


def _python_slice(size: int, start: int, end: int, step: int) -> slice:
    """Return the slice of numpy for a slice of ONNX along an axis of the given size."""
    first, last = (start + size if start < 0 else start), (end + size if end < 0 else end)
    if step > 0:
        return slice(min(max(first, 0), size), min(max(last, 0), size), step)
    last = max(last, -1)
    # numpy writes "down to the first entry" as None, because -1 is its last entry.
    return slice(min(max(first, 0), size - 1), None if last < 0 else last, step)


def _not_empty(node: OnnxNode, table: Indices) -> Indices:
    """Return the table, or raise an error if it leaves no entry of a value."""
    if isinstance(node.input(0), Value) and not table.size:
        raise node.fail("nothing is left of the value")
    return table


def _gather(node: OnnxNode) -> Operand:
    table, axis = _input_table(node), node.flag("axis")
    chosen = node.array(1)
    if chosen.dtype.kind not in "iu":
        raise node.fail("its indices are not integers")
    tensors.checked_shape(
        [*table.shape[:axis], *chosen.shape, *table.shape[axis % table.ndim + 1 :]]
    )
    return _rearranged(node, _not_empty(node, np.take(table, chosen.astype(np.int64), axis=axis)))


def _split(node: OnnxNode) -> list[Operand]:
    table, axis = _input_table(node), node.flag("axis")
    size, parts = table.shape[axis], len(node.proto.output)
    sizes = node.ints("split") if node.opset < 13 else (node.integers(1) if node.has(1) else None)
    if node.flag("num_outputs", parts) != parts:
        raise node.fail("num_outputs is not the number of its outputs")
    if sizes is None:
        share = -(-size // parts)
        sizes = [min(share, size - share * i) for i in range(parts)]
    if len(sizes) != parts or sum(sizes) != size or min(sizes) < 1:
        raise node.fail(f"cannot split {size} entries into {sizes}")
    pieces = np.split(table, np.cumsum(sizes)[:-1], axis=axis)
    return [_rearranged(node, piece) for piece in pieces]


def _expand(node: OnnxNode) -> Operand:
    table = _input_table(node)
    shape = tensors.checked_shape(np.broadcast_shapes(table.shape, tuple(node.integers(1))))
    return _rearranged(node, np.broadcast_to(table, shape))


def _tile(node: OnnxNode) -> Operand:
    repeats = node.integers(1)
    if len(repeats) != len(node.input(0).shape) or min(repeats, default=1) < 1:
        raise node.fail(f"repeats {repeats} of a value of shape {list(node.input(0).shape)}")
    tensors.checked_shape(
        [size * times for size, times in zip(node.input(0).shape, repeats, strict=True)]
    )
    return _rearranged(node, np.tile(_input_table(node), repeats))


def _pad(node: OnnxNode) -> Operand:
    """Return input 0 with padding, which is constant or copies entries of the input."""
    table = _input_table(node)
    mode = node.attribute("mode", b"constant").decode()
    amounts = node.ints("pads", node.ints("paddings")) if node.opset < 11 else node.integers(1)
    axes = node.integers(3) if node.opset >= 18 and node.has(3) else list(range(table.ndim))
    if amounts is None or len(amounts) != 2 * len(axes) or min(amounts) < 0:
        raise node.fail("its pads are missing, negative, or not two for each axis")
    pads = [(0, 0)] * table.ndim
    for i, axis in enumerate(axes):
        pads[axis] = (amounts[i], amounts[i + len(axes)])
    tensors.checked_shape([size + sum(pad) for size, pad in zip(table.shape, pads, strict=True)])
    if mode in ("reflect", "edge", "wrap"):
        return _rearranged(node, np.pad(table, pads, mode=cast(Any, mode)))
    if mode != "constant":
        raise node.fail(f"mode {mode!r} is not supported")
    padded = np.pad(table, pads, constant_values=-1)
    if node.opset < 11:
        fill = node.number("value", 0.0)
    else:
        fill = next(iter(tensors.column(node.weights(2)).entries())) if node.has(2) else Fraction(0)
    result = tensors.take_entries(node.graph, node.value(0), padded)
    if not fill:
        return result
    filling = np.array(
        [fill if place < 0 else Fraction(0) for place in padded.ravel()], dtype=object
    )
    return tensors.add_constant(node.graph, result, filling.reshape(padded.shape))


def _concat(node: OnnxNode) -> Operand:
    axis = node.attribute("axis", 1 if node.opset < 4 else None)
    operands = [node.input(i) for i in range(len(node.proto.input))]
    constants = [operand for operand in operands if not isinstance(operand, Value)]
    if len(constants) == len(operands):
        need(entries=sum(constant.size for constant in constants))
        tensors.checked_shape([sum(constant.size for constant in constants)])
        return np.concatenate(constants, axis=axis)
    values = [node.reader.as_value(operand) for operand in operands]
    return tensors.concat(node.graph, values, axis)


def _shape(node: OnnxNode) -> Operand:
    first, last = node.flag("start"), node.attribute("end")
    return np.array(node.input(0).shape[first:last], dtype=np.int64)


def _constant_of_shape(node: OnnxNode) -> Operand:
    from onnx import numpy_helper

    given = node.attribute("value")
    fill = np.zeros(1, np.float32) if given is None else numpy_helper.to_array(given)
    shape = node.integers(0)
    if min(shape, default=0) < 0:
        raise node.fail(f"shape {shape[:8]} has a negative size")
    need(entries=math.prod(tensors.checked_shape(shape)))
    return np.full(shape, fill.ravel()[0], fill.dtype)


# --- Entry by entry -------------------------------------------------------------------------------


def _arithmetic(
    on_constants: Callable[[Any, Any], Any],
    on_values: Callable[[OnnxNode, Operand, Operand], Operand],
) -> Handler:
    """Return the handler of an arithmetic operation on two operands with broadcasting.

    Two constants are folded with `on_constants`; other operands go to `on_values`.
    """

    def handler(node: OnnxNode) -> Operand:
        if len(node.proto.input) != 2:
            raise node.fail("expected two inputs")
        x, y = _aligned(node, node.input(0)), _aligned(node, node.input(1))
        if isinstance(x, np.ndarray) and isinstance(y, np.ndarray):
            return folded(
                node.reader.draft,
                on_constants,
                _counted_numbers(node, x),
                _counted_numbers(node, y),
            )
        return on_values(node, x, y)

    return handler


def _aligned(node: OnnxNode, operand: Operand) -> Operand:
    """Return an operand in a shape that numpy broadcasts as ONNX does.

    Before opset 7, the attribute `axis` names the axis of the first input at which the axes of the
    second input start; then axes of size 1 are appended to the second input.
    """
    if node.opset >= 7:
        return operand
    node.flag("broadcast")
    axis, rank = node.attribute("axis"), len(node.input(0).shape)
    if axis is None or isinstance(operand, Value) or operand is not node.input(1):
        return operand
    missing = rank - int(axis) % max(rank, 1) - operand.ndim
    return operand.reshape(operand.shape + (1,) * missing)


def _add_values(node: OnnxNode, x: Operand, y: Operand) -> Operand:
    if isinstance(x, Value) and isinstance(y, Value):
        return tensors.add(node.graph, x, y)
    value, constant = (x, y) if isinstance(x, Value) else (cast(Value, y), x)
    return tensors.add_constant(node.graph, value, _counted_numbers(node, cast(Array, constant)))


def _sub_values(node: OnnxNode, x: Operand, y: Operand) -> Operand:
    if isinstance(x, Value) and isinstance(y, Value):
        return tensors.add(node.graph, x, y, -1)
    if isinstance(x, Value):
        return tensors.add_constant(node.graph, x, _negated(node, cast(Array, y)))
    negated = tensors.multiply(node.graph, cast(Value, y), np.array(-1))
    return tensors.add_constant(node.graph, negated, _counted_numbers(node, x))


def _mul_values(node: OnnxNode, x: Operand, y: Operand) -> Operand:
    if isinstance(x, Value) and isinstance(y, Value):
        raise node.fail("a product of two values that depend on the input is not piecewise linear")
    value, constant = (x, y) if isinstance(x, Value) else (cast(Value, y), x)
    return tensors.multiply(node.graph, value, _counted_numbers(node, cast(Array, constant)))


def _div_values(node: OnnxNode, x: Operand, y: Operand) -> Operand:
    if isinstance(y, Value):
        raise node.fail("division by a value that depends on the input is not affine")
    divisors = exact(_counted_numbers(node, y))
    node.reader.draft.bounded &= tensors.arithmetics_dividing_by(divisors)
    return tensors.divide(node.graph, cast(Value, x), divisors)


def _div_constants(x: Any, y: Any) -> Any:
    """Return the quotients of exact numbers; ONNX rounds quotients of integers towards 0."""
    if all(type(entry) is int for entry in (*np.ravel(x), *np.ravel(y))):
        return np.vectorize(lambda a, b: int(a * b), otypes=[object])(x, reciprocals(y))
    return x * reciprocals(y)


def _counted_numbers(node: OnnxNode, array: Array) -> Array:
    """Return a constant, which must hold numbers, after counting them."""
    if array.dtype.kind not in "fiuVO" and array.dtype.name != "bfloat16":
        raise node.fail(f"a constant has type {array.dtype.name}, not numbers")
    node.reader.count(array)
    return array


def _sum(node: OnnxNode) -> Operand:
    total = node.value(0)
    for position in range(1, len(node.proto.input)):
        total = cast(Value, _add_values(node, total, node.input(position)))
    return total


def _mean(node: OnnxNode) -> Operand:
    count = len(node.proto.input)
    share = np.array(Fraction(1, count), dtype=object)
    return tensors.multiply(
        node.graph,
        cast(Value, _sum(node)),
        share,
        extra_roundings=tensors.QUOTIENT_ROUNDINGS,
        stretch=float(count),
    )


def _elementwise_extreme(of_two: Callable[[Any, Value, Value], Value]) -> Handler:
    """Return the handler of Max or Min of any number of inputs."""

    def handler(node: OnnxNode) -> Operand:
        extreme = node.value(0)
        for position in range(1, len(node.proto.input)):
            extreme = of_two(node.graph, extreme, node.value(position))
        return extreme

    return handler


def _neg(node: OnnxNode) -> Operand:
    operand = node.input(0)
    if isinstance(operand, Value):
        return tensors.multiply(node.graph, operand, np.array(-1))
    return _negated(node, operand)


def _negated(node: OnnxNode, array: Array) -> Array:
    """Return the negative of a constant."""
    return folded(node.reader.draft, lambda entries: -entries, _counted_numbers(node, array))


def _relu(node: OnnxNode) -> Operand:
    return tensors.relu(node.graph, node.value(0))


def _leaky_relu(node: OnnxNode) -> Operand:
    return tensors.leaky_relu(
        node.graph, node.value(0), np.array(node.number("alpha", 0.01), dtype=object)
    )


def _abs(node: OnnxNode) -> Operand:
    return tensors.leaky_relu(node.graph, node.value(0), np.array(-1))


def _prelu(node: OnnxNode) -> Operand:
    x, slopes = node.value(0), node.weights(1)
    if node.opset < 7 and slopes.ndim == 1 and slopes.size > 1:  # a slope for each channel
        slopes = slopes.reshape(-1, *(1 for _ in x.shape[2:]))
    return tensors.leaky_relu(node.graph, x, _broadcast_constant(node, slopes, x.shape))


def _clip(node: OnnxNode) -> Operand:
    low, high = (_clip_limit(node, side) for side in (0, 1))
    return tensors.clip(node.graph, node.value(0), *_binding_limits(node, low, high))


def _clip_limit(node: OnnxNode, side: int) -> Fraction | None:
    """Return the lower (side 0) or upper (side 1) limit of a Clip; None if absent or infinite."""
    name, position = ("min", "max")[side], side + 1
    if node.opset < 11:
        given = node.attribute(name)
        array = None if given is None else np.array([given], dtype=np.float64)
    else:
        array = node.weights(position) if node.has(position) else None
    if array is None:
        return None
    if array.size != 1:
        raise node.fail(f"its limit {name!r} has shape {list(array.shape)}; expected one number")
    if array.dtype != object and np.isinf(array.astype(np.float64)).all():
        if float(array.reshape(-1)[0]) * (1 if side else -1) < 0:
            raise node.fail(f"its limit {name!r} is infinite on the wrong side")
        return None
    if node.opset < 11:
        return node.number(name, 0.0)
    return next(iter(tensors.column(array).entries()))


def _binding_limits(
    node: OnnxNode, low: Fraction | None, high: Fraction | None
) -> tuple[Fraction | None, Fraction | None]:
    """Return the limits, with None for limits at the ends of the range of float32.

    Exporters write these where they mean no limit. They never bind in float32, and would cost
    neurons.
    """
    largest = FLOAT32.largest
    if node.reader.draft.arithmetic != "float32":
        return low, high
    ends = [low is not None and low <= -largest, high is not None and high >= largest]
    if any(ends):
        node.reader.draft.notes.append("limits of Clip at the ends of float32 are taken for none")
    return (None if ends[0] else low), (None if ends[1] else high)


def _hard_sigmoid(node: OnnxNode) -> Operand:
    alpha, beta = node.number("alpha", 0.2), node.number("beta", 0.5)
    scaled = tensors.multiply(node.graph, node.value(0), np.array(alpha, dtype=object))
    shifted = tensors.add_constant(node.graph, scaled, np.array(beta, dtype=object))
    return tensors.clip(node.graph, shifted, Fraction(0), Fraction(1))


def _cast(node: OnnxNode) -> Operand:
    """Return input 0 in another number type; only constants may be rounded."""
    from onnx import TensorProto, helper

    wanted = node.attribute("to")
    node.flag("saturate", 1)
    if isinstance(wanted, bytes):  # before opset 6: by name
        wanted = TensorProto.DataType.Value(wanted.decode())
    operand, target = node.input(0), np.dtype(helper.tensor_dtype_to_np_dtype(wanted))
    is_float = target.kind in "fV" or target.name == "bfloat16"
    if isinstance(operand, Value):
        if not is_float:
            raise node.fail(f"to {target.name} rounds a value that depends on the input")
        node.reader.draft.notes.append(f"Cast to {target.name} changes no real number")
        if target.name != node.reader.draft.arithmetic:
            node.reader.draft.arithmetic = ""
        return operand
    if operand.dtype == object:
        return _cast_of_folded(node, operand, target)
    need(entries=operand.size)
    with np.errstate(all="ignore"):
        result = operand.astype(target)
        changed = int((result.astype(np.float64) != operand.astype(np.float64)).sum())
    if changed:
        node.reader.draft.caveats.append(
            f"the file rounds {changed} of {operand.size} constants to {target.name} (Cast)"
        )
    return result


def _cast_of_folded(node: OnnxNode, numbers: Array, target: np.dtype[Any]) -> Array:
    """Return folded constants unchanged if the target type holds them all, else raise an error.

    `folded` has already recorded whether a runtime would round them before the cast.
    """
    format_ = FLOAT_FORMATS.get(target.name)
    if format_ is None or not all(
        format_.holds(Fraction(number)) for number in numbers.reshape(-1)
    ):
        raise node.fail(
            f"a Cast to {target.name} rounds numbers that the file computes; store them instead"
        )
    return numbers


def _no_operation(node: OnnxNode) -> Operand:
    """Return input 0 of an operation that changes nothing at inference."""
    node.reader.draft.notes.append(f"{node.proto.op_type} does nothing at inference")
    return node.input(0)


def _is_inference(node: OnnxNode) -> bool:
    """Return whether the node is in inference mode.

    Before opset 7 the attribute `is_test` tells, and its default is training mode.
    """
    return node.opset >= 7 or node.flag("is_test") == 1


def _dropout(node: OnnxNode) -> Operand:
    for name in ("ratio", "seed", "consumed_inputs"):
        node.attribute(name)
    if (node.has(2) and node.array(2).any()) or not _is_inference(node):
        raise node.fail(_TRAINING)
    return _no_operation(node)


# --- Products and reductions ----------------------------------------------------------------------


def _matmul(node: OnnxNode) -> Operand:
    x, y = node.input(0), node.input(1)
    if isinstance(x, Value) and isinstance(y, Value):
        raise node.fail("a product of two values that depend on the input is not piecewise linear")
    if isinstance(x, Value):
        return tensors.matmul(node.graph, x, node.weights(1))
    if isinstance(y, Value):
        return tensors.matmul_from_left(node.graph, node.weights(0), y)
    return folded_product(node.reader.draft, _counted_numbers(node, x), _counted_numbers(node, y))


def _gemm(node: OnnxNode) -> Operand:
    alpha, beta = node.number("alpha", 1.0), node.number("beta", 1.0)
    node.flag("broadcast")
    x, y = (
        _gemm_operand(node, position, name) for position, name in ((0, "transA"), (1, "transB"))
    )
    bias = node.input(2) if node.has(2) and beta else None
    if not isinstance(bias, Value):
        return _product(node, x, y, bias, (alpha, beta))
    product = _product(node, x, y, None, (alpha, beta))
    return tensors.add_to_product(node.graph, product, _broadcast_value(node, bias, product), beta)


def _product(
    node: OnnxNode, x: Operand, y: Operand, bias: Array | None, factors: tuple[Fraction, Fraction]
) -> Value:
    """Return alpha · x · y + beta · bias for matrices x and y that are not both values.

    `factors` is the pair (alpha, beta).
    """
    if isinstance(x, Value) and isinstance(y, Value):
        raise node.fail("a product of two values that depend on the input is not piecewise linear")
    alpha, beta = factors
    offset = bias if bias is None or beta == 1 else exact(_counted_numbers(node, bias)) * beta
    if isinstance(x, Value):
        return tensors.matmul(
            node.graph,
            x,
            _scaled(cast(Array, y), alpha),
            _broadcast_offset(node, offset, x, y),
            factors,
        )
    if isinstance(y, Value):
        return tensors.matmul_from_left(
            node.graph, _scaled(x, alpha), y, _broadcast_offset(node, offset, x, y), factors
        )
    draft = node.reader.draft
    product = folded(draft, lambda p: p * alpha, folded_product(draft, x, y))
    if offset is not None:
        product = folded(
            draft, lambda p, c: p + c, product, _broadcast_constant(node, offset, product.shape)
        )
    return node.reader.as_value(product)


def _scaled(weight: Array, factor: Fraction) -> Array:
    """Return a constant times a factor."""
    return weight if factor == 1 else exact(weight) * factor


def _broadcast_offset(node: OnnxNode, offset: Array | None, x: Operand, y: Operand) -> Array | None:
    """Return the offset in the shape of the product of matrices x and y."""
    if offset is None:
        return None
    return _broadcast_constant(node, _counted_numbers(node, offset), (x.shape[0], y.shape[1]))


def _broadcast_value(node: OnnxNode, x: Value, product: Value) -> Value:
    """Return a value broadcast to the shape of a product, which must not become larger."""
    try:
        table = np.broadcast_to(tensors.indices(x.shape), product.shape)
    except ValueError:
        raise node.fail(
            f"a value of shape {list(x.shape)} does not fit one of shape {list(product.shape)}"
        ) from None
    return tensors.take_entries(node.graph, x, table)


def _broadcast_constant(node: OnnxNode, constant: Array, shape: tuple[int, ...]) -> Array:
    """Return a constant broadcast to the shape of a value, which must not become larger."""
    try:
        return np.broadcast_to(constant, shape)
    except ValueError:
        raise node.fail(
            f"a constant of shape {list(constant.shape)} does not fit a value of shape "
            f"{list(shape)}"
        ) from None


def _gemm_operand(node: OnnxNode, position: int, name: str) -> Operand:
    """Return a factor of a Gemm, transposed if the attribute `name` is set."""
    operand = node.input(position)
    transposed = node.flag(name)
    shape = operand.shape
    if not isinstance(operand, Value):
        if len(shape) != 2:
            raise node.fail(f"the weights have shape {list(shape)}, expected two dimensions")
        numbers = _counted_numbers(node, operand)
        return numbers.T if transposed else numbers
    if len(shape) != 2 and not transposed and operand.size == shape[-1] > 0:
        node.reader.draft.notes.append(
            f"Gemm of a value of shape {list(shape)}, which ONNX does not define, taken as a row "
            f"of {operand.size}"
        )
        return tensors.reshape(operand, (1, operand.size))
    if len(shape) != 2:
        raise node.fail(f"its input has shape {list(shape)}, expected two dimensions")
    return (
        tensors.take_entries(node.graph, operand, tensors.indices(shape).T)
        if transposed
        else operand
    )


def _reduce(mean: bool, since: int) -> Handler:
    """Return the handler of ReduceSum or ReduceMean, whose axes are an input from opset `since`."""

    def handler(node: OnnxNode) -> Operand:
        x, axes = node.value(0), node.axes(since)
        keep, nothing = node.flag("keepdims", 1), node.flag("noop_with_empty_axes")
        if not axes:
            if nothing:
                return x
            axes = list(range(len(x.shape)))
        count = math.prod(x.shape[axis] for axis in axes)
        return tensors.sum_over(
            node.graph, x, axes, Fraction(1, count) if mean else Fraction(1), bool(keep)
        )

    return handler


def _batch_norm(node: OnnxNode) -> Operand:
    """Return the batch normalisation at inference, with stored mean and variance."""
    for name in ("momentum", "consumed_inputs", "spatial"):
        node.attribute(name)
    if node.flag("training_mode") or not _is_inference(node) or any(list(node.proto.output)[1:]):
        raise node.fail(_TRAINING)
    if node.opset < 9 and node.attribute("spatial", 1) != 1:
        raise node.fail("spatial = 0 is not supported")
    options = node.reader.options.rounding
    scale, bias, mean, variance = (node.weights(position) for position in range(1, 5))
    epsilon = node.number("epsilon", 1e-5)
    result, rounded = tensors.batch_norm(
        node.graph, node.value(0), scale, bias, mean, variance, epsilon, options.roots
    )
    node.reader.draft.bounded &= tensors.arithmetics_normalising_by(variance, epsilon)
    if rounded:
        node.reader.draft.rounding.add(f"batchnorm: {options.batchnorm}")
        if options.batchnorm == "float32":
            node.reader.draft.bounded.discard("float64")
    node.reader.draft.notes.append(
        f"BatchNormalization: {rounded} of {scale.size} factors 1/√(var+ε) are rounded"
    )
    return result


# --- Windows --------------------------------------------------------------------------------------


def _window(node: OnnxNode, sizes: Sequence[int], kernel: Sequence[int] | None = None) -> Window:
    """Return the window that the attributes of a convolution or pooling describe.

    `sizes` are the spatial sizes of the input; `kernel` is the window size of a convolution, which
    the shape of its weights gives.
    """
    given = node.ints("kernel_shape")
    shape = list(kernel or given or [])
    rank = len(sizes)
    strides, dilations = node.ints("strides", [1] * rank), node.ints("dilations", [1] * rank)
    if strides is None or dilations is None or (given is not None and given != shape):
        raise node.fail(f"kernel_shape {given} is not that of the weights, {shape}")
    if (
        not len(shape) == len(strides) == len(dilations) == rank
        or min(*shape, *strides, *dilations) < 1
    ):
        raise node.fail(
            "kernel_shape, strides and dilations are not positive sizes, one for each dimension"
        )
    up = bool(node.flag("ceil_mode"))
    return Window(shape, strides, dilations, _pads(node, sizes, shape, strides, dilations), up)


def _pads(
    node: OnnxNode,
    sizes: Sequence[int],
    kernel: list[int],
    strides: list[int],
    dilations: list[int],
) -> Pads:
    """Return the padding that the attributes `pads` and `auto_pad` describe."""
    rule = node.attribute("auto_pad", b"NOTSET").decode()
    given = node.ints("pads")
    if rule == "NOTSET":
        amounts = given or [0] * (2 * len(sizes))
        if len(amounts) != 2 * len(sizes) or min(amounts) < 0:
            raise node.fail("its pads are negative, or not two for each dimension")
        return [(amounts[i], amounts[i + len(sizes)]) for i in range(len(sizes))]
    if rule == "VALID":
        return [(0, 0)] * len(sizes)
    if rule not in ("SAME_UPPER", "SAME_LOWER"):
        raise node.fail(f"auto_pad {rule[:40]!r} is not supported")
    pads = []
    for size, width, stride, dilation in zip(sizes, kernel, strides, dilations, strict=True):
        missing = max(0, (-(-size // stride) - 1) * stride + dilation * (width - 1) + 1 - size)
        less, more = missing // 2, missing - missing // 2
        pads.append((less, more) if rule == "SAME_UPPER" else (more, less))
    return pads


def _spatial_sizes(node: OnnxNode, x: Value) -> tuple[int, ...]:
    """Return the sizes of the axes after batch and channels; at least one must exist."""
    if len(x.shape) < 3:
        raise node.fail(
            f"its input has shape {list(x.shape)}; expected a batch, channels and at least one "
            "dimension"
        )
    return x.shape[2:]


def _conv(node: OnnxNode) -> Operand:
    x, kernel = node.value(0), node.weights(1)
    bias = node.weights(2) if node.has(2) else None
    window = _window(node, _spatial_sizes(node, x), kernel.shape[2:])
    groups = node.flag("group", 1)
    return tensors.conv(node.graph, x, kernel, bias, window, groups)


def _conv_transpose(node: OnnxNode) -> Operand:
    x, kernel = node.value(0), node.weights(1)
    bias = node.weights(2) if node.has(2) else None
    sizes = _spatial_sizes(node, x)
    extra = node.ints("output_padding", [0] * len(sizes)) or [0] * len(sizes)
    wanted, rule = node.ints("output_shape"), node.attribute("auto_pad", b"NOTSET")
    if wanted is not None or rule not in (b"NOTSET", b"VALID"):
        raise node.fail("output_shape and auto_pad are not supported; give pads and output_padding")
    window = _window(node, sizes, kernel.shape[2:])
    spatial = window.transposed_sizes(sizes, extra)
    return tensors.conv_transpose(
        node.graph, x, kernel, bias, window, node.flag("group", 1), spatial
    )


def _max_pool(node: OnnxNode) -> Operand:
    if node.flag("storage_order"):
        raise node.fail("storage_order = 1 is not supported")
    x = node.value(0)
    window = _window(node, _spatial_sizes(node, x))
    return tensors.max_pool(node.graph, x, window)


def _average_pool(node: OnnxNode) -> Operand:
    x = node.value(0)
    window = _window(node, _spatial_sizes(node, x))
    counts = bool(node.flag("count_include_pad"))
    return tensors.average_pool(node.graph, x, window, counts)


def _global_average_pool(node: OnnxNode) -> Operand:
    x = node.value(0)
    sizes = _spatial_sizes(node, x)
    return tensors.sum_over(
        node.graph, x, range(2, len(x.shape)), Fraction(1, math.prod(sizes)), keep=True
    )


def _global_max_pool(node: OnnxNode) -> Operand:
    x = node.value(0)
    sizes = _spatial_sizes(node, x)
    return tensors.max_pool(node.graph, x, plain_window(sizes, [1] * len(sizes)))


# --- Operations of ai.onnx.ml ---------------------------------------------------------------------


def _scaler(node: OnnxNode) -> Operand:
    """Return (x - offset) · scale, as scalers of scikit-learn are exported."""
    x, offset, scale = node.value(0), node.numbers("offset"), node.numbers("scale")
    if {offset.size, scale.size} - {1, x.shape[-1] if x.shape else 1}:
        problem = f"{offset.size} offsets and {scale.size} scales for {x.shape[-1]} entries"
        raise node.fail(problem)
    shifted = tensors.add_constant(node.graph, x, -offset)
    return tensors.multiply(node.graph, shifted, scale)


def handler_of(proto: Any) -> Handler | None:
    """Return the handler of a node, None if its operation is not read."""
    tables = {"": OPERATIONS, "ai.onnx": OPERATIONS, "ai.onnx.ml": _OF_MACHINE_LEARNING}
    return tables.get(proto.domain, {}).get(proto.op_type)


_OF_MACHINE_LEARNING: dict[str, Handler] = {"Scaler": _scaler}
#: The handler of each operation of ONNX's own domain that is read.
OPERATIONS: dict[str, Handler] = {
    "Abs": _abs,
    "Add": _arithmetic(lambda x, y: x + y, _add_values),
    "AveragePool": _average_pool,
    "BatchNormalization": _batch_norm,
    "Cast": _cast,
    "Clip": _clip,
    "Concat": _concat,
    "ConstantOfShape": _constant_of_shape,
    "Conv": _conv,
    "ConvTranspose": _conv_transpose,
    "Div": _arithmetic(_div_constants, _div_values),
    "Dropout": _dropout,
    "Expand": _expand,
    "Flatten": _flatten,
    "Gather": _gather,
    "Gemm": _gemm,
    "GlobalAveragePool": _global_average_pool,
    "GlobalMaxPool": _global_max_pool,
    "HardSigmoid": _hard_sigmoid,
    "Identity": _no_operation,
    "LeakyRelu": _leaky_relu,
    "MatMul": _matmul,
    "Max": _elementwise_extreme(tensors.maximum),
    "MaxPool": _max_pool,
    "Mean": _mean,
    "Min": _elementwise_extreme(tensors.minimum),
    "Mul": _arithmetic(lambda x, y: x * y, _mul_values),
    "Neg": _neg,
    "PRelu": _prelu,
    "Pad": _pad,
    "ReduceMean": _reduce(True, 18),
    "ReduceSum": _reduce(False, 13),
    "Relu": _relu,
    "Reshape": _reshape,
    "Shape": _shape,
    "Slice": _slice,
    "Split": _split,
    "Squeeze": _squeeze,
    "Sub": _arithmetic(lambda x, y: x - y, _sub_values),
    "Sum": _sum,
    "Tile": _tile,
    "Transpose": _transpose,
    "Unsqueeze": _unsqueeze,
}
