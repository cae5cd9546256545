"""What an importer returns: the exact network, and what it read on the way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from numpy.typing import NDArray

from polyrelu.formats.graph.values import Graph
from polyrelu.network import Network

__all__ = ["Comparison", "Draft", "Imported", "Runtime"]


class Runtime(Protocol):
    """The format's own way to compute the network, in floats."""

    @property
    def name(self) -> str:
        """Name and version."""
        ...

    def run(self, inputs: Sequence[NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """The values by their names in the graph, for one sample (an array for each input); any error is its own."""
        ...


@dataclass(slots=True)
class Draft:
    """What a reader makes of a file.

    Attributes
    ----------
    format : the file format, such as ``onnx, opset 9``.
    graph, network : one of them: the operations, or the network if the file is a list of layers.
    steps : the operations as read, with shapes, in order.
    dtypes : the number types of the stored weights.
    rounding : the rounding rules that were used, such as ``text: exact``.
    notes : anything folded or merged.
    caveats : what makes the network another function than a user may think: stripped, assumed, or left out.
    numbers : how many stored numbers enter the function.
    input_shapes : the shape of each input.
    arithmetic : the float type in which a runtime computes; empty if mixed or unknown.
    bounded : the arithmetics for which `float_error.py` bounds the rounding: those in which no number was computed from
        constants, or rounded at import, further away from the runtime's than the operations allow for.
    runtime : the format's own runtime, or the reason why there is none.
    """

    format: str
    graph: Graph | None = None
    network: Network | None = None
    steps: list[str] = field(default_factory=list)
    dtypes: set[str] = field(default_factory=set)
    rounding: set[str] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)
    caveats: list[str] = field(default_factory=list)
    numbers: int = 0
    input_shapes: list[tuple[int, ...]] = field(default_factory=list)
    arithmetic: str = "float32"
    bounded: set[str] = field(default_factory=lambda: {"float32", "float64"})
    runtime: Runtime | str = "the format has no runtime of its own"


@dataclass(frozen=True, slots=True)
class Comparison:
    """What was compared with the format's own runtime.

    Attributes
    ----------
    runtime : its name and version, or empty.
    reason : why nothing was compared, or empty.
    points, values : the number of points, and of values at each of them.
    worst : the largest share of its proved error bound that a value used.
    """

    runtime: str = ""
    reason: str = ""
    points: int = 0
    values: int = 0
    worst: float = 0.0

    def __str__(self) -> str:
        if self.reason:
            return f"not compared: {self.reason}"
        return (
            f"{self.values} values of the file agree with {self.runtime} at {self.points} points, within the proved "
            f"bound on its rounding (the largest difference is {self.worst:.2g} of the bound)"
        )


@dataclass(frozen=True, slots=True)
class Imported:
    """A network with its provenance.

    Attributes
    ----------
    network : the exact network.
    format : the file format, such as ``onnx, opset 9``.
    steps : the operations as read, with shapes, in order.
    dtypes : the number types of the stored weights.
    rounding : the rounding rules that were used, or ``none``.
    notes : anything folded or merged.
    caveats : what makes the network another function than a user may think: stripped, assumed, or left out.
    source, source_sha256 : the file's name and hash (unverified provenance).
    numbers : how many stored numbers enter the function.
    comparison : the agreement with the format's own runtime.
    graph : the operations as read, before neurons were put into layers; None if the file is a list of layers.
    arithmetic : the float type in which a runtime computes; empty if mixed or unknown.
    bounded : the arithmetics for which the rounding can be bounded.
    runtime : the format's own runtime, or the reason why there is none.
    input_shapes : the shape of each input of the runtime.
    """

    network: Network
    format: str
    steps: tuple[str, ...]
    dtypes: tuple[str, ...]
    rounding: str = "none"
    notes: tuple[str, ...] = field(default=())
    caveats: tuple[str, ...] = field(default=())
    source: str = ""
    source_sha256: str = ""
    numbers: int = 0
    comparison: Comparison = field(default_factory=lambda: Comparison(reason="not asked for"))
    graph: Graph | None = field(default=None, repr=False, compare=False)
    arithmetic: str = "float32"
    bounded: frozenset[str] = frozenset({"float32", "float64"})
    runtime: Runtime | str = field(
        default="the format has no runtime of its own", repr=False, compare=False
    )
    input_shapes: tuple[tuple[int, ...], ...] = ()

    def with_source(self, name: str, digest: str) -> Imported:
        """The same with the file's name and hash."""
        return replace(self, source=name, source_sha256=digest)

    @property
    def provenance(self) -> dict[str, str]:
        """For the `unverified` part of a certificate."""
        known = {
            "source": self.source,
            "source-sha256": self.source_sha256,
            "rounding": self.rounding,
        }
        return known | ({"caveats": "; ".join(self.caveats)} if self.caveats else {})
