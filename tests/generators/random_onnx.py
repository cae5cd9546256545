"""Random ONNX graphs of many operations, shapes and branches."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.generators.onnx_files import constant, model, node

__all__ = ["random_graph"]

Shape = tuple[int, ...]


class _Maker:
    """A graph that grows by one random node at a time."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self._generator = np.random.default_rng(seed)
        self.shape: Shape = self._chance.choice(
            [(1, 3), (1, 2, 4, 4), (1, 1, 5, 6), (2, 3), (1, 4, 3)]
        )
        self.values: list[tuple[str, Shape]] = [("x", self.shape)]
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def _new(self, operation: str, inputs: list[str], shape: Shape, **attributes: Any) -> None:
        name = f"v{len(self.values)}"
        self.nodes.append(node(operation, inputs, name, **attributes))
        self.values.append((name, shape))

    def _weights(self, *shape: int) -> str:
        name = f"w{len(self.constants)}"
        values = self._generator.normal(size=shape) * self._chance.choice([1, 1, 0.1, 10])
        if self._chance.random() < 0.2:
            values = values * (self._generator.random(size=shape) < 0.5)
        self.constants.append(constant(name, values))
        return name

    def _list(self, *values: int) -> str:
        name = f"w{len(self.constants)}"
        self.constants.append(constant(name, list(values), np.int64))
        return name

    def grow(self) -> None:
        """Add a node that reads an earlier value, mostly the last."""
        name, shape = (
            self.values[-1] if self._chance.random() < 0.7 else self._chance.choice(self.values)
        )
        image = len(shape) == 4 and min(shape[2:]) >= 2
        choices: list[Callable[[str, Shape], None]] = [
            self._relu,
            self._relu,
            self._leaky,
            self._clip,
            self._abs,
            self._scale,
            self._shift,
            self._transpose,
            self._slice,
            self._flatten,
            self._with_another,
            self._matmul,
            self._reduce,
        ]
        if image:
            choices += [self._conv, self._conv, self._pool, self._average, self._norm, self._deconv]
        self._chance.choice(choices)(name, shape)

    def _relu(self, name: str, shape: Shape) -> None:
        self._new("Relu", [name], shape)

    def _leaky(self, name: str, shape: Shape) -> None:
        self._new("LeakyRelu", [name], shape, alpha=self._chance.choice([0.1, 0.5, -0.3, 2.0]))

    def _clip(self, name: str, shape: Shape) -> None:
        low, high = f"w{len(self.constants)}", f"w{len(self.constants) + 1}"
        self.constants += [
            constant(low, self._chance.choice([-1, 0, 0.3])),
            constant(high, self._chance.choice([0.5, 6])),
        ]
        self._new("Clip", [name, *self._chance.choice([[low, high], [low], ["", high]])], shape)

    def _abs(self, name: str, shape: Shape) -> None:
        self._new(self._chance.choice(["Abs", "Neg"]), [name], shape)

    def _scale(self, name: str, shape: Shape) -> None:
        self._new(self._chance.choice(["Mul", "Div"]), [name, self._weights(*shape)], shape)

    def _shift(self, name: str, shape: Shape) -> None:
        weights = self._weights(*shape)
        self._new(
            self._chance.choice(["Add", "Sub"]),
            self._chance.choice([[name, weights], [weights, name]]),
            shape,
        )

    def _transpose(self, name: str, shape: Shape) -> None:
        order = list(range(len(shape)))
        self._chance.shuffle(order)
        self._new("Transpose", [name], tuple(shape[i] for i in order), perm=order)

    def _slice(self, name: str, shape: Shape) -> None:
        axis = self._chance.randrange(len(shape))
        if shape[axis] > 1:
            first = self._chance.randrange(shape[axis] - 1)
            rest = (*shape[:axis], shape[axis] - 1 - first, *shape[axis + 1 :])
            self._new("Slice", [name, self._list(first), self._list(-1), self._list(axis)], rest)

    def _flatten(self, name: str, shape: Shape) -> None:
        self._new("Flatten", [name], (shape[0], int(np.prod(shape[1:]))))

    def _with_another(self, name: str, shape: Shape) -> None:
        others = [other for other, size in self.values if size == shape]
        inputs = [name, self._chance.choice(others)]
        operation = self._chance.choice(["Add", "Sub", "Max", "Min", "Concat", "Mean"])
        if operation == "Concat":
            axis = self._chance.randrange(len(shape))
            if shape[axis] <= 4:
                self._new(
                    "Concat",
                    inputs,
                    (*shape[:axis], 2 * shape[axis], *shape[axis + 1 :]),
                    axis=axis,
                )
        else:
            self._new(operation, inputs, shape)

    def _matmul(self, name: str, shape: Shape) -> None:
        width = self._chance.randint(1, 4)
        if len(shape) == 2 and self._chance.random() < 0.5:
            inputs = [name, self._weights(width, shape[1]), self._weights(width)]
            self._new("Gemm", inputs, (shape[0], width), transB=1, alpha=0.5, beta=-1.5)
        else:
            self._new("MatMul", [name, self._weights(shape[-1], width)], (*shape[:-1], width))

    def _reduce(self, name: str, shape: Shape) -> None:
        axis = self._chance.randrange(len(shape))
        self._new("ReduceMean", [name], (*shape[:axis], 1, *shape[axis + 1 :]), axes=[axis])

    def _conv(self, name: str, shape: Shape) -> None:
        filters, pad, stride = (
            self._chance.randint(1, 3),
            self._chance.randint(0, 1),
            self._chance.randint(1, 2),
        )
        sizes = tuple((size + 2 * pad - 2) // stride + 1 for size in shape[2:])
        inputs = [name, self._weights(filters, shape[1], 2, 2), self._weights(filters)]
        self._new("Conv", inputs, (shape[0], filters, *sizes), pads=[pad] * 4, strides=[stride] * 2)

    def _deconv(self, name: str, shape: Shape) -> None:
        if max(shape[2:]) <= 6:
            sizes = tuple(size + 1 for size in shape[2:])
            self._new(
                "ConvTranspose", [name, self._weights(shape[1], 2, 2, 2)], (shape[0], 2, *sizes)
            )

    def _pool(self, name: str, shape: Shape) -> None:
        pad, stride = self._chance.randint(0, 1), self._chance.randint(1, 2)
        sizes = tuple((size + 2 * pad - 2) // stride + 1 for size in shape[2:])
        attributes: Any = {"kernel_shape": [2, 2], "pads": [pad] * 4, "strides": [stride] * 2}
        self._new("MaxPool", [name], (*shape[:2], *sizes), **attributes)

    def _average(self, name: str, shape: Shape) -> None:
        pad = self._chance.randint(0, 1)
        sizes = tuple(size + 2 * pad - 1 for size in shape[2:])
        attributes: Any = {
            "kernel_shape": [2, 2],
            "pads": [pad] * 4,
            "count_include_pad": self._chance.randint(0, 1),
        }
        self._new("AveragePool", [name], (*shape[:2], *sizes), **attributes)

    def _norm(self, name: str, shape: Shape) -> None:
        channels = shape[1]
        variance = f"w{len(self.constants)}"
        self.constants.append(constant(variance, self._generator.random(size=channels) + 0.1))
        inputs = [name, *(self._weights(channels) for _ in range(3)), variance]
        self._new("BatchNormalization", inputs, shape, epsilon=1e-3)


def random_graph(seed: int) -> bytes:
    """Return a serialized model of seven random nodes, whose output is the last of them."""
    maker = _Maker(seed)
    while len(maker.nodes) < 7:
        maker.grow()
    return model(maker.nodes, maker.constants, maker.shape, output=maker.values[-1][0])
