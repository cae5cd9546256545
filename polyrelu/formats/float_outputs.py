"""Outputs of a network's float runtime at a point.

An answer that rests on one point, such as the point where two networks differ, also shows what a
user would observe there: the outputs of the format's own runtime if it is installed, else the
outputs of numpy. They are for display; nothing is proved about them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyrelu.exact import Rational, as_sparse
from polyrelu.formats.arguments import NetworkLike, as_imported, as_point
from polyrelu.formats.graph.constants import FLOAT_FORMATS
from polyrelu.formats.imported import Imported
from polyrelu.formats.runtimes.inputs import split_sample
from polyrelu.network import Network
from polyrelu.support.display import bracketed

__all__ = ["FloatOutputs", "float_outputs"]


@dataclass(frozen=True, slots=True, repr=False)
class FloatOutputs:
    """Outputs of a float runtime at a point.

    Attributes
    ----------
    runtime
        Name and version of the runtime, and its number type.
    values
        The outputs, after each coordinate of the point is rounded to the number type.

    Examples
    --------
    >>> FloatOutputs("numpy float32, layer by layer", (0.5, float("inf"))).to_json()["values"]
    [0.5, 'inf']
    """

    runtime: str
    values: tuple[float, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the object that ``--json`` prints; values that are not finite become text."""
        return {
            "runtime": self.runtime,
            "values": [v if np.isfinite(v) else str(v) for v in self.values],
        }

    def __repr__(self) -> str:
        return bracketed(f"FloatOutputs, {len(self.values)} outputs of {self.runtime}")


def float_outputs(network: NetworkLike, x: Sequence[Rational]) -> FloatOutputs:
    """Evaluate a network at a point with the format's own runtime, or with numpy if there is none.

    Parameters
    ----------
    network
        A file or what `read` returns, for the runtime of the file; or all else that `polyrelu.load`
        takes.
    x
        Coordinates of the point, one per input of the network.

    Returns
    -------
    FloatOutputs
        The outputs, with the name of the runtime that computed them.

    Raises
    ------
    NetworkError
        The network cannot be read.
    DomainError
        The point has another number of coordinates, or one of them is not a number.
    ArgumentError
        The point is no sequence of numbers.

    Examples
    --------
    >>> outputs = float_outputs([([[1, 1]], ["1/3"])], [1, 2])
    >>> outputs.runtime, round(outputs.values[0], 6)
    ('numpy float32, layer by layer', 3.333333)
    """
    imported = as_imported(network)
    exact = as_point(x, imported.network.num_inputs)
    dtype = imported.arithmetic if imported.arithmetic in ("float32", "float64") else "float64"
    with np.errstate(all="ignore"):
        point = np.array([_nearest(entry, dtype) for entry in exact], dtype=dtype)
        values = _runtime_outputs(imported, point)
        if values is None:
            name = f"numpy {dtype}, layer by layer"
            values = _layer_by_layer(imported.network, point)
        else:
            name = f"{_runtime_name(imported)} ({dtype})"
    return FloatOutputs(name, tuple(values.astype(np.float64).reshape(-1).tolist()))


def _nearest(number: Fraction, dtype: str) -> float:
    """Return the nearest number of a float type, rounded once; beyond its range the largest one."""
    format_ = FLOAT_FORMATS[dtype]
    bounded = max(-format_.largest, min(number, format_.largest))
    return float(format_.nearest(bounded))


def _runtime_name(imported: Imported) -> str:
    """Return the name of the runtime, or the reason why there is none."""
    return imported.runtime if isinstance(imported.runtime, str) else imported.runtime.name


def _runtime_outputs(imported: Imported, point: NDArray[Any]) -> NDArray[Any] | None:
    """Return the outputs of the format's own runtime; None if it is missing or cannot run."""
    runtime, graph = imported.runtime, imported.graph
    if isinstance(runtime, str) or graph is None:
        return None
    names = [name for name, value in graph.names.items() if value.node == graph.output]
    try:
        computed = runtime.run(split_sample(point, imported.input_shapes))
    except Exception:  # runtimes raise exceptions of any type on files they cannot run
        return None
    present = [
        computed[name]
        for name in names
        if name in computed and computed[name].size == imported.network.num_outputs
    ]
    return present[-1] if present else None


def _layer_by_layer(network: Network, point: NDArray[Any]) -> NDArray[Any]:
    """Evaluate a network with numpy in the float type of the point."""
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
        activations.append(np.maximum(z, 0) if number <= network.num_hidden_layers else z)
    return activations[-1]
