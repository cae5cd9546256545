"""Results of readers: drafts of networks, imported networks, comparisons with runtimes.

A reader fills a `Draft`; `load.read` lowers the draft's graph to layers, compares it with the
format's own runtime, and returns an `Imported`. Certificates contain `Imported.provenance`, so its
keys are part of their format.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from numpy.typing import NDArray

from polyrelu.formats.graph.operations import Clip, LeakyRelu, Maximum, Minimum
from polyrelu.formats.graph.values import Graph
from polyrelu.network import Network
from polyrelu.support.arguments import expect
from polyrelu.support.display import bracketed, html_table

__all__ = ["Comparison", "Draft", "Imported", "Runtime"]


class Runtime(Protocol):
    """The format's own runtime, which computes the network in floats."""

    @property
    def name(self) -> str:
        """Name and version of the runtime."""
        ...

    def run(self, inputs: Sequence[NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """Compute the values of the graph by name, for one sample with one array per input.

        Exceptions of the runtime pass through; they may have any type.
        """
        ...


@dataclass(slots=True)
class Draft:
    """The content of a file as a reader understands it, before layers are formed.

    Attributes
    ----------
    format
        The file format, such as ``onnx, opset 9``.
    graph, network
        The operations of the file, or the network itself if the file is a list of layers. Exactly
        one of the two is set.
    steps
        The operations as read, with shapes, in order.
    dtypes
        The number types of the stored weights.
    rounding
        The rounding rules that were used, such as ``text: exact``.
    notes
        Remarks on everything that was folded, merged or assumed without changing the function.
    caveats
        Everything that makes the network another function than a user may expect: operations that
        were stripped, assumed or left out.
    num_stored
        Number of stored numbers that enter the function.
    input_shapes
        The shape of each input.
    inputs, outputs
        The name and the size of each input and output, where the format names them.
    arithmetic
        The float type in which a runtime computes; empty if mixed or unknown.
    bounded
        The float types in which the rounding errors of a runtime can be bounded. Readers remove a
        type when a number of the graph (computed from constants, or rounded at import) may differ
        from the runtime's number by more than `float_error.py` allows.
    runtime
        The format's own runtime, or the reason why there is none.
    """

    format: str
    graph: Graph | None = None
    network: Network | None = None
    steps: list[str] = field(default_factory=list)
    dtypes: set[str] = field(default_factory=set)
    rounding: set[str] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)
    caveats: list[str] = field(default_factory=list)
    num_stored: int = 0
    input_shapes: list[tuple[int, ...]] = field(default_factory=list)
    inputs: list[tuple[str, int]] = field(default_factory=list)
    outputs: list[tuple[str, int]] = field(default_factory=list)
    arithmetic: str = "float32"
    bounded: set[str] = field(default_factory=lambda: {"float32", "float64"})
    runtime: Runtime | str = "the format has no runtime of its own"


@dataclass(frozen=True, slots=True, repr=False)
class Comparison:
    """The agreement of an imported network with the format's own runtime.

    Attributes
    ----------
    runtime
        Name and version of the runtime; empty if nothing was compared.
    reason
        The reason why nothing was compared; empty if values were compared.
    num_points
        Number of points.
    num_values
        Number of values of the file that were compared at each point.
    worst
        The largest ratio |runtime - exact| / (proved error bound) over all entries of all values.
    num_overflows
        Number of entries, over all values and points, that were not compared because the runtime
        may overflow there.

    Examples
    --------
    >>> print(Comparison(reason="onnxruntime is not installed"))
    not compared: onnxruntime is not installed
    """

    runtime: str = ""
    reason: str = ""
    num_points: int = 0
    num_values: int = 0
    worst: float = 0.0
    num_overflows: int = 0

    def __str__(self) -> str:
        if self.reason:
            return f"not compared: {self.reason}"
        return (
            f"{self.num_values} values of the file agree with {self.runtime} at "
            f"{self.num_points} points, within the proved bound on its rounding (the "
            f"largest difference is {self.worst:.2g} of the bound)" + self._left_out
        )

    @property
    def _left_out(self) -> str:
        if not self.num_overflows:
            return ""
        entries = "entry was" if self.num_overflows == 1 else "entries were"
        return f"; {self.num_overflows} {entries} left out, where the runtime may overflow"

    def __repr__(self) -> str:
        return bracketed(f"Comparison, {self}")


@dataclass(frozen=True, slots=True, repr=False)
class Imported:
    """An exact network with a record of what was read; `read` returns it.

    Attributes
    ----------
    network
        The exact network.
    format
        The file format, such as ``onnx, opset 9``.
    steps
        The operations as read, with shapes, in order.
    dtypes
        The number types of the stored weights, sorted.
    rounding
        The rounding rules that were used, or ``none``.
    notes
        Remarks on everything that was folded, merged or assumed without changing the function.
    caveats
        Everything that makes the network another function than a user may expect: operations that
        were stripped, assumed or left out.
    source
        Name of the file without its folder; empty for an object.
    source_sha256
        SHA-256 hash of the file in hexadecimal; empty for an object.
    num_stored
        Number of stored numbers that enter the function.
    comparison
        The agreement with the format's own runtime.
    graph
        The operations as read, before layers were formed; None if the file is a list of layers.
    arithmetic
        The float type in which a runtime computes; empty if mixed or unknown.
    bounded
        The float types for which the rounding errors of a runtime can be bounded.
    runtime
        The format's own runtime, or the reason why there is none.
    input_shapes
        The shape of each input of the runtime.
    inputs, outputs
        The name and the size of each input and output, in order; empty where the format has none.

    Examples
    --------
    >>> from polyrelu.formats import read
    >>> imported = read("example:digits")
    >>> imported.format, imported.dtypes, imported.rounding
    ('npz', ('float32',), 'none')
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
    num_stored: int = 0
    comparison: Comparison = field(default_factory=lambda: Comparison(reason="not asked for"))
    graph: Graph | None = field(default=None, repr=False, compare=False)
    arithmetic: str = "float32"
    bounded: frozenset[str] = frozenset({"float32", "float64"})
    runtime: Runtime | str = field(
        default="the format has no runtime of its own", repr=False, compare=False
    )
    input_shapes: tuple[tuple[int, ...], ...] = ()
    inputs: tuple[tuple[str, int], ...] = ()
    outputs: tuple[tuple[str, int], ...] = ()

    @property
    def skipping(self) -> tuple[str, ...]:
        """The operations because of which layers read more than the layer before, in words.

        It is empty for a plain stack, and where the file is a list of layers.
        """
        if self.network.is_plain or self.graph is None:
            return ()
        operations = [node.operation for node in self.graph.nodes]
        pools = any("pool" in step.lower() for step in self.steps)
        found = {
            "leaky ReLU": any(isinstance(o, LeakyRelu) and min(o.slopes) >= 0 for o in operations),
            "absolute values": any(
                isinstance(o, LeakyRelu) and min(o.slopes) == -1 for o in operations
            ),
            "leaky ReLUs of negative slope": any(
                isinstance(o, LeakyRelu) and min(o.slopes) < 0 and min(o.slopes) != -1
                for o in operations
            ),
            "max pooling" if pools else "maxima": any(isinstance(o, Maximum) for o in operations),
            "minima": any(isinstance(o, Minimum) for o in operations),
            "clipping": any(isinstance(o, Clip) for o in operations),
        }
        names = tuple(name for name, occurs in found.items() if occurs)
        return names or ("skip connections",)

    def __post_init__(self) -> None:
        expect(self.network, Network, "network")

    def __str__(self) -> str:
        origin = f"{self.source} ({self.format})" if self.source else self.format
        return f"{origin}: {self.network}"

    def __repr__(self) -> str:
        return bracketed(f"Imported {self}")

    def _repr_html_(self) -> str:
        rows = [
            ("network", str(self.network)),
            ("format", self.format),
            ("source", self.source),
            ("sha256 of the file", self.source_sha256),
            ("rounding", self.rounding),
            *(("note", note) for note in self.notes),
            *(("caveat", caveat) for caveat in self.caveats),
            ("runtime", str(self.comparison)),
        ]
        return html_table((name, text) for name, text in rows if text)

    def with_source(self, name: str, digest: str) -> Imported:
        """Return a copy with the name and the SHA-256 hash of the file."""
        return replace(self, source=name, source_sha256=digest)

    @property
    def provenance(self) -> dict[str, str]:
        """The `unverified` part of a certificate: source, hash, rounding rules and caveats."""
        known = {
            "source": self.source,
            "source-sha256": self.source_sha256,
            "rounding": self.rounding,
        }
        return known | ({"caveats": "; ".join(self.caveats)} if self.caveats else {})
