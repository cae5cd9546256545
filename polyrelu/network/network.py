"""The network type: layers of ReLU neurons with exact rational weights, and an affine output.

In general the preactivation of layer ℓ is affine in the input and in all earlier activations,
z[ℓ] = Σ_{k<ℓ} W[ℓ,k] a[k] + b[ℓ], a[0] = x, a[k] = max(z[k], 0): residual adds, concatenations, leaky ReLUs and
maxima fit without artificial neurons. The *plain stack*, only W[ℓ,ℓ-1], is the common case and what most theorems
ask for; `Network.weight` is its simple face.

A network ends in an affine layer. One that ends in a ReLU (`last="relu"`) has all its layers hidden, followed by a
fixed identity that is no parameter.

Claims about a network are claims about this real-arithmetic function of the exact weights, not about a float runtime.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from polyrelu.errors import NetworkError
from polyrelu.exact import Rational, RationalMatrix, SparseMatrix
from polyrelu.network.canonical_bytes import canonical_lines
from polyrelu.network.layers import Block, Last, Layer
from polyrelu.network.patterns import NeuronId, SignVector
from polyrelu.support.limits import BIT_LIMIT, DEPTH_LIMIT, PARAMETER_LIMIT, WIDTH_LIMIT

__all__ = ["AffineMap", "Architecture", "Network", "from_arrays"]


@dataclass(frozen=True, slots=True)
class AffineMap:
    """x ↦ matrix x + offset, shapes (m, n) and (m, 1)."""

    matrix: RationalMatrix
    offset: RationalMatrix

    def __call__(self, x: Sequence[Rational]) -> tuple[Fraction, ...]:
        return tuple((self.matrix @ RationalMatrix.column(x) + self.offset).entries())


@dataclass(frozen=True, slots=True)
class Architecture:
    """Inputs and layer widths n_0, …, n_L of a plain stack, and how it ends."""

    widths: tuple[int, ...]
    last: Last = "affine"

    def __str__(self) -> str:
        return "-".join(map(str, self.widths)) + (" (trailing ReLU)" if self.last == "relu" else "")


@dataclass(frozen=True, slots=True, repr=False)
class Network:
    """A ReLU network with exact rational weights.

    Attributes
    ----------
    inputs : n_0.
    layers : L layers; with ``last="affine"`` the final one is the affine output.
    last : ``"affine"``, or ``"relu"`` if a ReLU follows the final layer too.

    >>> net = from_arrays([([[1, 0], [0, 1]], [0, "1/2"]), ([[1, -1]], [0])])
    >>> net.architecture.widths, net([1, 2])
    ((2, 2, 1), (Fraction(-3, 2),))
    """

    inputs: int
    layers: tuple[Layer, ...]
    last: Last = "affine"

    def __post_init__(self) -> None:
        if self.inputs < 1 or not self.layers:
            raise NetworkError("a network needs at least one input and one layer")
        if self.last not in ("affine", "relu"):
            raise NetworkError(f"a network ends in 'affine' or 'relu', not {str(self.last)[:40]!r}")
        if self.depth > DEPTH_LIMIT or max(self.widths) > WIDTH_LIMIT:
            raise NetworkError(
                f"more than {DEPTH_LIMIT} layers, or a layer wider than {WIDTH_LIMIT}"
            )
        if (stored := sum(_stored(layer) for layer in self.layers)) > PARAMETER_LIMIT:
            raise NetworkError(
                f"{stored} weights and biases to keep in memory, more than {PARAMETER_LIMIT}"
            )
        widths = self.widths
        for number, layer in enumerate(self.layers, 1):
            _check_layer(number, layer, widths)

    # -- shape ----------------------------------------------------------------------------------------------------

    @property
    def depth(self) -> int:
        """L, the number of affine layers."""
        return len(self.layers)

    @property
    def widths(self) -> tuple[int, ...]:
        """n_0, …, n_L."""
        return (self.inputs, *(layer.width for layer in self.layers))

    @property
    def outputs(self) -> int:
        """n_L."""
        return self.layers[-1].width

    @property
    def hidden_layers(self) -> int:
        """The number of layers followed by a ReLU."""
        return self.depth - (self.last == "affine")

    @property
    def is_plain(self) -> bool:
        """Whether every layer reads only the layer before it."""
        return all(len(layer.blocks) == 1 for layer in self.layers)

    @property
    def architecture(self) -> Architecture:
        """The architecture of a plain stack; other networks raise `NetworkError`."""
        if not self.is_plain:
            raise NetworkError(
                "the network has skip connections, so its architecture is not a list of widths"
            )
        return Architecture(self.widths, self.last)

    @property
    def parameters(self) -> int:
        """The number of weights and biases, zeros of the blocks included."""
        return sum(
            layer.width * (1 + sum(block.shape[1] for block in layer.blocks))
            for layer in self.layers
        )

    def neurons(self) -> Iterator[NeuronId]:
        """All hidden neurons, layer by layer."""
        for number in range(1, self.hidden_layers + 1):
            yield from (NeuronId(number, i) for i in range(self.layers[number - 1].width))

    def weight(self, layer: int) -> RationalMatrix:
        """W[ℓ] on the layer before, ℓ from 1."""
        return self.layers[layer - 1].weight

    def bias(self, layer: int) -> RationalMatrix:
        """b[ℓ] as a column, ℓ from 1."""
        return self.layers[layer - 1].bias

    # -- the function ---------------------------------------------------------------------------------------------

    def __call__(self, x: Sequence[Rational]) -> tuple[Fraction, ...]:
        """The exact outputs at one point."""
        return self.evaluate([x])[0]

    def evaluate(self, points: Sequence[Sequence[Rational]]) -> list[tuple[Fraction, ...]]:
        """The exact outputs at several points, in one product per layer.

        Every point keeps a denominator of its own: a common one of many points is very long. The network of t x with
        biases times t, t > 0, is t times the network of x.
        """
        columns, scales = _homogeneous(
            RationalMatrix.from_rows([x], ncols=self.inputs) for x in points
        )
        outputs = self._forward(
            RationalMatrix.from_integers(columns, ncols=self.inputs).transpose(), scales
        )[0][-1]
        if self.last == "relu":
            outputs = outputs.relu()
        rows = outputs.transpose().rows()
        return [tuple(entry / t for entry in row) for row, t in zip(rows, scales, strict=True)]

    def preactivations(self, points: Sequence[Sequence[Rational]]) -> list[RationalMatrix]:
        """z[1], …, z[L] as matrices of shape (n_ℓ, number of points)."""
        return self._at(points)[0]

    def activations(self, points: Sequence[Sequence[Rational]]) -> list[RationalMatrix]:
        """a[0] (the points), a[1], … of the hidden layers, as matrices of shape (n_ℓ, number of points)."""
        return self._at(points)[1][: self.hidden_layers + 1]

    def _at(
        self, points: Sequence[Sequence[Rational]]
    ) -> tuple[list[RationalMatrix], list[RationalMatrix]]:
        return self._forward(
            RationalMatrix.from_rows(points, ncols=self.inputs).transpose(), [1] * len(points)
        )

    def _forward(
        self, columns: RationalMatrix, scales: Sequence[int]
    ) -> tuple[list[RationalMatrix], list[RationalMatrix]]:
        """z[1], … and a[0], …, at points given as columns; each is multiplied by its scale, and so is what is found."""
        if columns.nrows != self.inputs:
            raise NetworkError(f"a point needs {self.inputs} coordinates, got {columns.nrows}")
        activations, preactivations = [columns], list[RationalMatrix]()
        scale = RationalMatrix.from_integers([list(scales)], ncols=len(scales))
        for layer in self.layers:
            z = layer.bias @ scale
            for block in layer.blocks:
                z = z + block @ activations[block.source]
            preactivations.append(z)
            activations.append(z.relu())
        return preactivations, activations

    def sign_vector(self, x: Sequence[Rational]) -> SignVector:
        """The signs of the hidden neurons at a point."""
        columns = self.preactivations([x])[: self.hidden_layers]
        return SignVector(tuple(tuple(int(s) for s in z.signs()[:, 0]) for z in columns))

    def affine_map(self, signs: SignVector) -> AffineMap:
        """The affine map of an activation pattern: neurons of sign 1 pass, the others give 0.

        Whether any point has that pattern is another question.
        """
        return next(self.affine_maps([signs]))

    def affine_maps(self, patterns: Iterable[SignVector]) -> Iterator[AffineMap]:
        """`affine_map` of many patterns; what patterns with the same first layers have in common is computed once."""
        source = RationalMatrix.identity(self.inputs).beside(RationalMatrix.zeros(self.inputs, 1))
        known: dict[tuple[tuple[int, ...], ...], RationalMatrix] = {}
        for signs in patterns:
            activations, on = (
                [source],
                tuple(tuple(int(s > 0) for s in layer) for layer in signs.layers),
            )
            for number in range(1, self.depth + 1):
                prefix = on[:number]
                found = known.get(prefix) if number < self.hidden_layers else None
                if found is None:
                    found = self.layer_forms(number, activations)
                    if number <= self.hidden_layers:
                        found = found.scale_rows(prefix[-1])
                    if number < self.hidden_layers:
                        known[prefix] = found
                activations.append(found)
            last = activations[-1]
            yield AffineMap(last.take(columns=range(self.inputs)), last.take(columns=[self.inputs]))

    def layer_forms(self, number: int, activations: Sequence[RationalMatrix]) -> RationalMatrix:
        """The preactivations [A | c] of a layer (from 1), given the activations of the input and all layers before."""
        layer = self.layers[number - 1]
        z = RationalMatrix.zeros(layer.width, self.inputs).beside(layer.bias)
        for block in layer.blocks:
            z = z + block @ activations[block.source]
        return z

    def affine_map_at(self, x: Sequence[Rational]) -> AffineMap:
        """The affine map of the cell of x (an inactive neuron and one at 0 both give 0)."""
        return self.affine_map(self.sign_vector(x))

    # -- identity -------------------------------------------------------------------------------------------------

    @property
    def sha256(self) -> str:
        """SHA-256 of the canonical bytes (FORMAT.md §2): shapes and exact weights as given."""
        return _sha256(self)

    def replace_layers(self, changed: dict[int, Layer]) -> Network:
        """The network with the layers at the given positions (from 1) replaced."""
        layers = tuple(changed.get(number, layer) for number, layer in enumerate(self.layers, 1))
        return Network(self.inputs, layers, self.last)

    def __str__(self) -> str:
        shape = str(self.architecture) if self.is_plain else f"{self.widths} with skip connections"
        return f"Network {shape}, {self.parameters} parameters, sha256 {self.sha256[:12]}…"

    def __repr__(self) -> str:
        return f"<{self}>"

    def _repr_html_(self) -> str:
        return f"<code>{self}</code>"


def _named(name: str, values: Any, dimension: int) -> RationalMatrix:
    try:
        return _matrix(values, dimension)
    except (NetworkError, TypeError) as error:
        expected = "rows of equally many numbers" if dimension == 2 else "a list of numbers"
        reason = error if isinstance(error, NetworkError) else f"expected {expected}"
        raise NetworkError(f"{name}: {reason}") from None


def from_arrays(layers: Iterable[tuple[Any, Any]], last: Last = "affine") -> Network:
    """A plain stack from pairs (W, b), W of shape (out, in) and b of shape (out,).

    Numpy arrays of floats are taken as the exact dyadic numbers they hold; lists may mix ints, floats, fractions
    and text like ``"2/3"``.

    >>> from_arrays([([[1.0, 2.0]], [0.5])]).sha256[:8]
    'affa715d'
    """
    built: list[Layer] = []
    for number, (weight, bias) in enumerate(layers, 1):
        block = Block(number - 1, _named(f"layer {number}, W", weight, 2))
        built.append(Layer((block,), _named(f"layer {number}, b", bias, 1)))
    if not built:
        raise NetworkError("a network needs at least one layer")
    return Network(built[0].weight.ncols, tuple(built), last)


def _matrix(values: Any, dimension: int) -> RationalMatrix:
    if isinstance(values, RationalMatrix):
        return values
    if isinstance(values, np.ndarray):
        if values.ndim != dimension:
            raise NetworkError(
                f"expected an array of dimension {dimension}, got shape {values.shape}"
            )
        return RationalMatrix.from_array(values)
    return RationalMatrix.from_rows(values) if dimension == 2 else RationalMatrix.column(values)


def _check_layer(number: int, layer: Layer, widths: tuple[int, ...]) -> None:
    if layer.width < 1 or layer.bias.ncols != 1:
        raise NetworkError(
            f"layer {number}: the bias must be a nonempty column, got shape {layer.bias.shape}"
        )
    sources = [block.source for block in layer.blocks]
    if (
        sources != sorted(set(sources))
        or not sources
        or sources[-1] != number - 1
        or sources[0] < 0
    ):
        raise NetworkError(
            f"layer {number}: its blocks must come from ascending earlier layers up to {number - 1}"
        )
    if (bits := layer.bits) > BIT_LIMIT:
        raise NetworkError(
            f"layer {number}: over a common denominator it has numbers of {bits} bits; network files hold {BIT_LIMIT}"
        )
    if any(block.entries.is_zero() for block in layer.blocks[:-1]):
        raise NetworkError(f"layer {number}: a block of skipping weights is zero; leave it out")
    for block in layer.blocks:
        expected = (layer.width, widths[block.source])
        if block.shape != expected:
            raise NetworkError(
                f"layer {number}: weights on layer {block.source} have shape {block.shape}, "
                f"expected {expected} = (out, in)"
            )


def _stored(layer: Layer) -> int:
    """The numbers of a layer that are kept: all of a dense block, the nonzero ones of a sparse one."""
    blocks = (block.entries for block in layer.blocks)
    return layer.width + sum(
        e.count if isinstance(e, SparseMatrix) else e.nrows * e.ncols for e in blocks
    )


def _homogeneous(points: Iterable[RationalMatrix]) -> tuple[list[list[int]], list[int]]:
    """Integer points and their denominators, from points as rows."""
    rows, scales = list[list[int]](), list[int]()
    for point in points:
        rows += point.integer_rows()
        scales.append(point.denominator)
    return rows, scales


@lru_cache(maxsize=64)
def _sha256(network: Network) -> str:
    digest = hashlib.sha256()
    for line in canonical_lines(network.inputs, network.layers, network.last):
        digest.update(line)
    return digest.hexdigest()
