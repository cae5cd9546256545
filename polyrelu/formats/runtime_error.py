"""A proved bound on the distance between a float runtime and the exact function, over a box.

A proof is about the real function of the exact weights; what is deployed computes in floats. The
bound of `graph/float_error.py`, taken over a whole box, connects the two: if the exact function is
at most 1 on the box and the bound is 2^-10, then every output of the runtime is at most 1 + 2^-10.
`proofs/runtime_error.py` turns a bound into a certificate if the runtime computes layer by layer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from polyrelu.errors import DomainError
from polyrelu.exact import as_sparse, decimal_above
from polyrelu.formats.arguments import (
    DomainLike,
    NetworkLike,
    as_domain,
    as_imported,
    as_point,
    as_points,
)
from polyrelu.formats.graph.float_error import float_arithmetic, ranges
from polyrelu.formats.graph.operations import Input, Linear, Operation, Relu, Take
from polyrelu.formats.graph.values import Graph, graph_of
from polyrelu.formats.imported import Imported
from polyrelu.network import Network
from polyrelu.support.arguments import expect
from polyrelu.support.display import bracketed
from polyrelu.support.typing import Floats, Point

__all__ = ["ASSUMPTIONS", "RuntimeErrorBound", "runtime_error", "runtime_errors_at"]

#: Number of points whose bounds are computed at a time.
_POINTS_PER_BLOCK = 1024

#: The assumptions about a runtime under which every bound holds, in words for users.
ASSUMPTIONS = (
    "the runtime does the operations of the file one by one in this format, rounding to nearest; "
    "sums in any order, with or without fused multiply-adds; numbers below the normal range may be "
    "taken for 0",
    "no operations are fused across ReLUs, no batch normalisation is folded, no shorter format "
    "(TF32, bfloat16) and no transformed convolution (Winograd, FFT) is used",
    "inputs are numbers of this format in the box",
)


@dataclass(frozen=True, slots=True, repr=False)
class RuntimeErrorBound:
    """A proved bound on |float runtime - exact function| on a box.

    Attributes
    ----------
    network
        The exact network.
    lower, upper
        The least and the greatest corner of the box.
    arithmetic
        The float type of the runtime, ``float32`` or ``float64``.
    bounds
        The bound for each output; None where the runtime might overflow, so that nothing is proved.
    low, high
        Lower and upper bounds on the exact outputs over the box; None where there is no finite
        bound.
    is_layered
        Whether the runtime computes the network layer by layer. Only then can a certificate state
        the bound.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> print(runtime_error(from_arrays([([[1, 1]], [0])]), "box:0,1"))
    |float32 runtime - exact function| is at most 4.76838e-7 on the box
    """

    network: Network
    lower: tuple[Fraction, ...]
    upper: tuple[Fraction, ...]
    arithmetic: str
    bounds: tuple[Fraction | None, ...]
    low: tuple[Fraction | None, ...]
    high: tuple[Fraction | None, ...]
    is_layered: bool

    @property
    def worst(self) -> Fraction | None:
        """The largest bound over all outputs; None if an output has no bound."""
        known = [bound for bound in self.bounds if bound is not None]
        return max(known) if len(known) == len(self.bounds) else None

    def __str__(self) -> str:
        if self.worst is None:
            return f"nothing is proved for some outputs: a {self.arithmetic} runtime might overflow"
        distance = f"|{self.arithmetic} runtime - exact function|"
        return f"{distance} is at most {decimal_above(self.worst)} on the box"

    def __repr__(self) -> str:
        return bracketed(f"RuntimeErrorBound, {self}")


def runtime_error(
    network: NetworkLike,
    domain: DomainLike | tuple[Sequence[object], Sequence[object]],
    *,
    arithmetic: str | None = None,
) -> RuntimeErrorBound:
    """Bound |float runtime - exact function| over a box.

    Parameters
    ----------
    network
        A file or what `read` returns, for a runtime that computes the operations of the file; or a
        network, for a runtime that computes layer by layer. All that `polyrelu.load` takes.
    domain
        A bounded polyhedron, or the text of one such as ``"box:-1,1"``; the box around it is what
        counts. Or the pair (lower, upper) of the corners of the box, which takes less time and
        memory than a polyhedron if there are thousands of inputs.
    arithmetic
        ``float32`` or ``float64``; by default the float type of the file, or float32 for a network.

    Returns
    -------
    RuntimeErrorBound
        The bound for each output, under the assumptions about runtimes in
        `docs/theory/rounding.md`.

    Raises
    ------
    DomainError
        The domain is unbounded or empty, or has another dimension than the input space.
    NetworkError
        The network cannot be read, no bound is known for the arithmetic, or numbers of the file
        were computed or rounded such that no bound holds for the file's runtime.
    ArgumentError
        An argument has a wrong type.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, -1], [2, 1]], [0, 1]), ([[1, 1]], [0])])
    >>> runtime_error(net, "box:-1,1").worst < Fraction(1, 10**5)
    True
    >>> runtime_error(net, ([-1, -1], [1, "1/2"])).upper
    (Fraction(1, 1), Fraction(1, 2))
    """
    imported = as_imported(network)
    exact, graph = imported.network, _operations(imported)
    low, high = _box(domain, exact.num_inputs)
    name = imported.arithmetic if arithmetic is None else expect(arithmetic, str, "arithmetic")
    output = ranges(graph, [(low, high)], float_arithmetic(name, imported.bounded))[graph.output]
    return RuntimeErrorBound(
        exact,
        low,
        high,
        name,
        _numbers(output.error),
        _numbers(output.low),
        _numbers(output.high),
        _is_layered(graph, exact),
    )


def runtime_errors_at(
    network: NetworkLike, points: Sequence[Sequence[object]], *, arithmetic: str | None = None
) -> list[tuple[Fraction | None, ...]]:
    """Bound |float runtime - exact function| at each of several points.

    Parameters
    ----------
    network
        As for `runtime_error`.
    points
        Points, shape (k, n_0); numbers of the format.
    arithmetic
        ``float32`` or ``float64``; by default the float type of the file, or float32 for a network.

    Returns
    -------
    list of tuple of Fraction or None
        For each point the bound of each output, as in `RuntimeErrorBound.bounds`.

    Raises
    ------
    DomainError
        A point has another number of coordinates.
    NetworkError
        As for `runtime_error`.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 1]], [0])])
    >>> runtime_errors_at(net, [[1, 2], [0, 0]]) == [
    ...     runtime_error(net, (x, x)).bounds for x in ([1, 2], [0, 0])
    ... ]
    True
    """
    imported = as_imported(network)
    graph, size = _operations(imported), imported.network.num_inputs
    name = imported.arithmetic if arithmetic is None else expect(arithmetic, str, "arithmetic")
    format_ = float_arithmetic(name, imported.bounded)
    rows, found = as_points(points, size, "points")[0], list[tuple[Fraction | None, ...]]()
    for start in range(0, len(rows), _POINTS_PER_BLOCK):
        boxes = [(row, row) for row in rows[start : start + _POINTS_PER_BLOCK]]
        errors = ranges(graph, boxes, format_)[graph.output].error
        found += [_numbers(errors[:, [k]]) for k in range(len(boxes))]
    return found


def _box(
    domain: DomainLike | tuple[Sequence[object], Sequence[object]], num_inputs: int
) -> tuple[Point, Point]:
    """Return the corners of the box around a domain."""
    if isinstance(domain, tuple | list) and len(domain) == 2:
        names = ("the lower corner", "the upper corner")
        low, high = (
            as_point(corner, num_inputs, name) for corner, name in zip(domain, names, strict=True)
        )
        if any(a > b for a, b in zip(low, high, strict=True)):
            raise DomainError("the box is empty")
        return low, high
    box = as_domain(domain, num_inputs).bounding_box()
    if box is None:
        raise DomainError(
            "domain: a rounding error is bounded on bounded domains only; use a box: 'box:-1,1'"
        )
    return box


def _operations(imported: Imported) -> Graph:
    """Return the operations of the runtime.

    The graph of the network computes a product and its bias as one sum, with a smaller bound.
    """
    graph = imported.graph
    if graph is None or _is_layered(graph, imported.network):
        return graph_of(imported.network)
    return graph


def _numbers(floats: Floats) -> tuple[Fraction | None, ...]:
    """Return the floats of the first box as exact numbers, None for infinities."""
    return tuple(Fraction(float(entry)) if np.isfinite(entry) else None for entry in floats[:, 0])


def _is_layered(graph: Graph, network: Network) -> bool:
    """Return whether a graph computes each layer of a plain stack as one sum.

    The operations must form a chain. Entries may be permuted between operations, which does not
    round. A product may be followed by the addition of a bias, which belongs to the same sum.
    """
    chain = _chain(graph)
    if chain is None or not network.is_plain:
        return False
    segments: list[list[Linear]] = [[]]
    for operation in chain:
        match operation:
            case Relu():
                segments.append([])
            case Linear():
                segments[-1].append(operation)
            case Take(chosen):
                if len(set(chosen.tolist()) - {-1}) < len(chosen):
                    return False
            case _:
                return False
    return len(segments) - (network.last == "relu") == network.depth and all(
        map(_is_one_sum, segments)
    )


def _chain(graph: Graph) -> list[Operation] | None:
    """Return the operations from the input to the output; None unless they form a chain."""
    node, chain = graph.nodes[graph.output], list[Operation]()
    while len(node.inputs) == 1:
        chain.append(node.operation)
        node = graph.nodes[node.inputs[0]]
    reads_all = isinstance(node.operation, Input) and node.operation.size == node.operation.total
    return chain[::-1] if reads_all else None


def _is_one_sum(maps: list[Linear]) -> bool:
    """Return whether consecutive affine maps are one product and at most one addition of a bias."""
    if any(map_.extra_roundings or map_.spread is not None for map_ in maps):
        return False
    rounding = [map_ for map_ in maps if _adds(map_) or not as_sparse(map_.matrix).is_identity()]
    if len(rounding) < 2:
        return True
    first, *rest = rounding
    return not _adds(first) and len(rest) == 1 and as_sparse(rest[0].matrix).is_identity()


def _adds(map_: Linear) -> bool:
    """Return whether an affine map has a nonzero offset."""
    return map_.offset is not None and not map_.offset.is_zero()
