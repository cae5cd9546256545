"""What a user sees: the outputs of a network's float runtime at a point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyrelu.exact import FLOAT32, FLOAT64, as_sparse
from polyrelu.formats.imported import Imported
from polyrelu.network import Network

__all__ = ["FloatOutputs", "float_outputs"]


@dataclass(frozen=True, slots=True)
class FloatOutputs:
    """Outputs in floats.

    Attributes
    ----------
    runtime : name and version, and the number type.
    values : the outputs at the numbers of that type nearest to the point.
    """

    runtime: str
    values: tuple[float, ...]

    def to_json(self) -> dict[str, Any]:
        """As `--json` prints it; what is not finite, as text."""
        return {
            "runtime": self.runtime,
            "values": [v if np.isfinite(v) else str(v) for v in self.values],
        }


def float_outputs(imported: Imported, x: Sequence[Fraction]) -> FloatOutputs:
    """The outputs of the format's own runtime at a point, if it is there; else those of numpy, layer by layer.

    >>> from polyrelu.formats import read
    >>> found = float_outputs(read([([[1, 1]], ["1/3"])]), [Fraction(1), Fraction(2)])
    >>> found.runtime, round(found.values[0], 6)
    ('numpy float32, layer by layer', 3.333333)
    """
    dtype = imported.arithmetic if imported.arithmetic in ("float32", "float64") else "float64"
    with np.errstate(all="ignore"):
        point = np.array([_nearest(entry, dtype) for entry in x], dtype=dtype)
        values = _of_runtime(imported, point)
        if values is not None:
            return FloatOutputs(
                f"{_name(imported)} ({dtype})",
                tuple(values.astype(np.float64).reshape(-1).tolist()),
            )
        computed = _layer_by_layer(imported.network, point)
    return FloatOutputs(
        f"numpy {dtype}, layer by layer", tuple(computed.astype(np.float64).tolist())
    )


def _nearest(number: Fraction, dtype: str) -> float:
    """The nearest number of a type, in one step; the largest one beyond its range."""
    format_ = FLOAT32 if dtype == "float32" else FLOAT64
    bounded = max(-format_.largest, min(number, format_.largest))
    return float(format_.nearest(bounded))


def _name(imported: Imported) -> str:
    return imported.runtime if isinstance(imported.runtime, str) else imported.runtime.name


def _of_runtime(imported: Imported, point: NDArray[Any]) -> NDArray[Any] | None:
    runtime, graph = imported.runtime, imported.graph
    if isinstance(runtime, str) or graph is None:
        return None
    names = [name for name, value in graph.names.items() if value.node == graph.output]
    arrays, first = [], 0
    for shape in imported.input_shapes:
        size = int(np.prod(shape))
        arrays.append(point[first : first + size].reshape(shape))
        first += size
    try:
        found = runtime.run(arrays)
    except Exception:  # whatever a runtime raises on a file that it cannot run
        return None
    present = [
        found[name]
        for name in names
        if name in found and found[name].size == imported.network.outputs
    ]
    return present[-1] if present else None


def _layer_by_layer(network: Network, point: NDArray[Any]) -> NDArray[Any]:
    activations = [point]
    for number, layer in enumerate(network.layers, 1):
        z = layer.bias.to_floats()[:, 0].astype(point.dtype)
        for block in layer.blocks:
            sparse = as_sparse(block.entries)
            rows, weights = sparse.row_of_entries(), sparse.to_floats().astype(point.dtype)
            products = weights * activations[block.source][sparse.columns]
            sums = np.zeros_like(z)
            np.add.at(sums, rows, products)
            z = z + sums
        activations.append(np.maximum(z, 0) if number <= network.hidden_layers else z)
    return activations[-1]
