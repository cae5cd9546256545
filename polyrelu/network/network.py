"""The network type: layers of ReLU neurons with exact rational weights, and an affine output.

Everything the package proves is about this type, so that its methods are exact and its instances
immutable. Claims about a network are claims about this real-arithmetic function of the exact
weights, not about the computations of a float runtime. Layers count from 1: a method that takes the
number of a layer raises IndexError for 0, which Python's indices would silently read as the last
layer.

In general the preactivation of layer ℓ is affine in the input and in all earlier activations,
z[ℓ] = Σ_{k<ℓ} W[ℓ,k] a[k] + b[ℓ], where a[0] = x and a[k] = max(z[k], 0). Residual additions,
concatenations, leaky ReLUs and maxima have this form without artificial neurons. In a *plain stack*
only W[ℓ,ℓ-1] occurs; this is the common case and the hypothesis of most theorems, and
`Network.weight` gives the weights of such a layer.

A network ends in an affine layer. In a network that ends in a ReLU (`last="relu"`) all layers are
hidden, followed by a fixed identity that is no parameter.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any, overload

import numpy as np

from polyrelu.errors import NetworkError, NotCoveredError
from polyrelu.exact import RationalMatrix, SparseMatrix, format_integer
from polyrelu.network.canonical_bytes import canonical_pieces
from polyrelu.network.layers import Block, Last, Layer
from polyrelu.network.patterns import ActivationPattern, NeuronId, SignVector, need_pattern
from polyrelu.network.points import NumberArray, OnePoint, Points, read_batch, read_points
from polyrelu.support.arguments import expect, expect_integer, expect_list
from polyrelu.support.display import bracketed, count_text, shortened, widths_text
from polyrelu.support.limits import BIT_LIMIT, DEPTH_LIMIT, PARAMETER_LIMIT, WIDTH_LIMIT

__all__ = ["READ", "AffineMap", "Architecture", "Network", "from_arrays"]

#: How to make a network, for errors.
READ = "polyrelu.load makes a network of a file, a model or pairs (W, b)"
_NOT_PLAIN = (
    "the network has connections that skip layers, and this question is answered for plain stacks "
    "of ReLUs only"
)
#: Maximum number of rows and columns of an affine map that is shown as a formula.
_SHOWN = 8


@dataclass(frozen=True, slots=True, repr=False)
class AffineMap:
    """The affine map x ↦ matrix x + offset.

    Attributes
    ----------
    matrix
        The linear part, shape (m, n).
    offset
        The value at 0 as a column, shape (m, 1).

    Examples
    --------
    >>> square = AffineMap(RationalMatrix.from_rows([[2, 3]]), RationalMatrix.column([1]))
    >>> square([1, "1/3"])
    (Fraction(4, 1),)
    """

    matrix: RationalMatrix
    offset: RationalMatrix

    def __post_init__(self) -> None:
        expect(self.matrix, RationalMatrix, "matrix", "RationalMatrix.from_rows makes one")
        expect(self.offset, RationalMatrix, "offset", "RationalMatrix.column makes one")
        if self.offset.shape != (self.matrix.nrows, 1):
            raise NetworkError(
                f"an affine map with a matrix of shape {self.matrix.shape} needs an offset of "
                f"shape {(self.matrix.nrows, 1)}, not {self.offset.shape}"
            )

    def __repr__(self) -> str:
        return bracketed(f"AffineMap from R^{self.matrix.ncols} to R^{self.matrix.nrows}")

    def _repr_latex_(self) -> str | None:
        if max(self.matrix.shape) > _SHOWN or not self.matrix.ncols:
            return None
        matrix, offset = _latex(self.matrix), _latex(self.offset)
        return rf"$x \mapsto {matrix} x + {offset}$"

    @overload
    def __call__(self, x: OnePoint) -> tuple[Fraction, ...]: ...  # type: ignore[overload-overlap]

    @overload
    def __call__(self, x: Sequence[OnePoint | NumberArray]) -> list[tuple[Fraction, ...]]: ...

    @overload
    def __call__(self, x: NumberArray) -> tuple[Fraction, ...] | list[tuple[Fraction, ...]]: ...

    def __call__(self, x: OnePoint | Points) -> tuple[Fraction, ...] | list[tuple[Fraction, ...]]:
        """Return the exact value at a point, shape (n,), or a list for points of shape (k, n)."""
        points, is_one = read_points(x, self.matrix.ncols)
        values = [
            tuple((self.matrix @ RationalMatrix.column(point) + self.offset).entries())
            for point in points
        ]
        return values[0] if is_one else values


@dataclass(frozen=True, slots=True, repr=False)
class Architecture:
    """The layer widths of a plain stack, and how it ends.

    Attributes
    ----------
    widths
        The number of inputs and the widths of the layers, n_0, …, n_L.
    last
        Either "affine" or, if a ReLU follows the last layer, "relu".

    Examples
    --------
    >>> print(Architecture((2, 3, 1)))
    2-3-1
    """

    widths: tuple[int, ...]
    last: Last = "affine"

    def __post_init__(self) -> None:
        widths = tuple(expect_integer(n, "widths") for n in expect_list(self.widths, "widths"))
        object.__setattr__(self, "widths", widths)
        _need_last(self.last)

    def __repr__(self) -> str:
        return bracketed(f"Architecture {self}")

    def __str__(self) -> str:
        return widths_text(self.widths) + (" (trailing ReLU)" if self.last == "relu" else "")


@lru_cache(maxsize=16)
def _neurons_of(widths: tuple[int, ...]) -> tuple[NeuronId, ...]:
    """Return all neurons of layers with the given widths, layer by layer."""
    return tuple(NeuronId(k, i) for k, width in enumerate(widths, 1) for i in range(width))


@dataclass(frozen=True, slots=True, repr=False)
class Network:
    """A ReLU network with exact rational weights.

    Attributes
    ----------
    num_inputs
        The number of inputs n_0.
    layers
        The L layers; with ``last="affine"`` the final one is the affine output.
    last
        Either "affine" or, if a ReLU follows the last layer, "relu".

    Raises
    ------
    NetworkError
        The shapes of the layers do not fit together, or a limit of network files is exceeded.

    Examples
    --------
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, "1/2"]), ([[1, -1]], [0])])
    >>> net.architecture.widths, net([1, 2])
    ((2, 2, 1), (Fraction(-3, 2),))
    >>> net([[1, 2], [0.5, "1/3"]])
    [(Fraction(-3, 2),), (Fraction(-1, 3),)]
    """

    num_inputs: int
    layers: tuple[Layer, ...]
    last: Last = "affine"
    _sha256: str = field(default="", init=False, compare=False)  # once it is asked for

    def __post_init__(self) -> None:
        object.__setattr__(self, "num_inputs", expect_integer(self.num_inputs, "num_inputs"))
        for layer in expect(self.layers, tuple, "layers", "from_arrays takes pairs (W, b)"):
            expect(layer, Layer, "layers", "from_arrays takes pairs (W, b)")
        if self.num_inputs < 1 or not self.layers:
            raise NetworkError("a network needs at least one input and one layer")
        _need_last(self.last)
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

    # -- shape ------------------------------------------------------------------------------------

    @property
    def depth(self) -> int:
        """The number L of layers, the affine output included."""
        return len(self.layers)

    @property
    def widths(self) -> tuple[int, ...]:
        """The number of inputs and the widths of the layers, n_0, …, n_L."""
        return (self.num_inputs, *(layer.width for layer in self.layers))

    @property
    def num_outputs(self) -> int:
        """The number of outputs n_L."""
        return self.layers[-1].width

    @property
    def num_hidden_layers(self) -> int:
        """The number of layers followed by a ReLU."""
        return self.depth - (self.last == "affine")

    @property
    def is_plain(self) -> bool:
        """Whether every layer reads only the layer before it."""
        return all(len(layer.blocks) == 1 for layer in self.layers)

    @property
    def architecture(self) -> Architecture:
        """The architecture of a plain stack.

        Raises
        ------
        NotCoveredError
            The network has connections that skip layers.
        """
        self.require_plain()
        return Architecture(self.widths, self.last)

    def require_plain(self) -> None:
        """Raise an error, which commands report as *undecided*, unless this is a plain stack.

        Raises
        ------
        NotCoveredError
            The network has connections that skip layers.

        Examples
        --------
        >>> from_arrays([([[1, 2]], [3])]).require_plain()
        """
        if not self.is_plain:
            raise NotCoveredError(_NOT_PLAIN)

    @property
    def num_parameters(self) -> int:
        """The number of weights and biases, the zeros of the blocks included."""
        return sum(
            layer.width * (1 + sum(block.shape[1] for block in layer.blocks))
            for layer in self.layers
        )

    @property
    def neurons(self) -> tuple[NeuronId, ...]:
        """All hidden neurons, layer by layer: the order of sign and pattern arrays."""
        return _neurons_of(self.widths[1 : self.num_hidden_layers + 1])

    def weight(self, layer: int) -> RationalMatrix:
        """Return the weights W[ℓ] of a layer on the layer before.

        Parameters
        ----------
        layer
            Number of the layer, from 1 to L.

        Returns
        -------
        RationalMatrix
            The weights, shape (n_ℓ, n_{ℓ-1}).

        Raises
        ------
        IndexError
            There is no layer of that number.
        """
        return self._layer(layer).weight

    def bias(self, layer: int) -> RationalMatrix:
        """Return the bias b[ℓ] of a layer.

        Parameters
        ----------
        layer
            Number of the layer, from 1 to L.

        Returns
        -------
        RationalMatrix
            The bias as a column, shape (n_ℓ, 1).

        Raises
        ------
        IndexError
            There is no layer of that number.
        """
        return self._layer(layer).bias

    def _layer(self, number: int) -> Layer:
        """The layer of that number, from 1."""
        number = expect_integer(number, "layer")
        if not 1 <= number <= self.depth:
            raise IndexError(f"there is no layer {number}: layers count from 1 to {self.depth}")
        return self.layers[number - 1]

    # -- the function -----------------------------------------------------------------------------

    @overload
    def __call__(self, x: OnePoint) -> tuple[Fraction, ...]: ...  # type: ignore[overload-overlap]

    @overload
    def __call__(self, x: Sequence[OnePoint | NumberArray]) -> list[tuple[Fraction, ...]]: ...

    @overload
    def __call__(self, x: NumberArray) -> tuple[Fraction, ...] | list[tuple[Fraction, ...]]: ...

    def __call__(self, x: OnePoint | Points) -> tuple[Fraction, ...] | list[tuple[Fraction, ...]]:
        """Return the exact outputs at one point, or at each of several points.

        Parameters
        ----------
        x
            A point, shape (n_0,), or points, shape (k, n_0): a sequence, an array of numpy or a
            tensor of PyTorch. Floats are the dyadic numbers that they are. An empty sequence has no
            points.

        Returns
        -------
        tuple of Fraction or list of tuple of Fraction
            The n_L outputs at the point; for points a list with the outputs at each, as from
            `evaluate`.

        Raises
        ------
        NetworkError
            The argument has another shape, or an entry is not an exact number.
        ArgumentError
            The argument is neither a sequence nor an array.
        """
        points, is_one = read_points(x, self.num_inputs)
        outputs = self._outputs(points)
        return outputs[0] if is_one else outputs

    def evaluate(self, points: Points) -> list[tuple[Fraction, ...]]:
        """Return the exact outputs at several points, computed with one product for each layer.

        Parameters
        ----------
        points
            Points, shape (k, n_0): a sequence, an array of numpy or a tensor of PyTorch.

        Returns
        -------
        list of tuple of Fraction
            The n_L outputs at each point.
        """
        return self._outputs(read_batch(points, self.num_inputs))

    def _outputs(self, points: Sequence[OnePoint]) -> list[tuple[Fraction, ...]]:
        # Every point keeps a denominator t of its own, since a common one of many points is very
        # long: with biases times t the network maps t·x to t times its value at x.
        columns, scales = _homogeneous(
            RationalMatrix.from_rows([x], ncols=self.num_inputs) for x in points
        )
        outputs = self._forward(
            RationalMatrix.from_integers(columns, ncols=self.num_inputs).transpose(), scales
        )[0][-1]
        if self.last == "relu":
            outputs = outputs.relu()
        rows = outputs.transpose().rows()
        return [tuple(entry / t for entry in row) for row, t in zip(rows, scales, strict=True)]

    def preactivations(self, points: Points) -> list[RationalMatrix]:
        """Return the preactivations z[1], …, z[L] at several points.

        Parameters
        ----------
        points
            Points, shape (k, n_0), as for `evaluate`.

        Returns
        -------
        list of RationalMatrix
            A matrix of shape (n_ℓ, number of points) for each layer.
        """
        return self._at(points)[0]

    def activations(self, points: Points) -> list[RationalMatrix]:
        """Return the activations a[0], a[1], … of input and hidden layers at several points.

        Parameters
        ----------
        points
            Points, shape (k, n_0), as for `evaluate`.

        Returns
        -------
        list of RationalMatrix
            First the points themselves, then a matrix of shape (n_ℓ, number of points) for each
            hidden layer.
        """
        return self._at(points)[1][: self.num_hidden_layers + 1]

    def _at(self, points: Points) -> tuple[list[RationalMatrix], list[RationalMatrix]]:
        """Preactivations and activations at points."""
        rows = read_batch(points, self.num_inputs)
        return self._forward(
            RationalMatrix.from_rows(rows, ncols=self.num_inputs).transpose(), [1] * len(rows)
        )

    def _forward(
        self, columns: RationalMatrix, scales: Sequence[int]
    ) -> tuple[list[RationalMatrix], list[RationalMatrix]]:
        """Preactivations z[1], … and activations a[0], … at t·x, with all biases times t.

        The points t·x are the columns, the numbers t > 0 the scales. The result is t times the
        preactivations and activations at x.
        """
        activations, preactivations = [columns], list[RationalMatrix]()
        scale = RationalMatrix.from_integers([list(scales)], ncols=len(scales))
        for layer in self.layers:
            z = layer.bias @ scale
            for block in layer.blocks:
                z = z + block @ activations[block.source]
            preactivations.append(z)
            activations.append(z.relu())
        return preactivations, activations

    @overload
    def sign_vector(self, x: OnePoint) -> SignVector: ...  # type: ignore[overload-overlap]

    @overload
    def sign_vector(self, x: Sequence[OnePoint | NumberArray]) -> list[SignVector]: ...

    @overload
    def sign_vector(self, x: NumberArray) -> SignVector | list[SignVector]: ...

    def sign_vector(self, x: OnePoint | Points) -> SignVector | list[SignVector]:
        """Return the signs of all hidden neurons at a point, or at each of several points.

        Parameters
        ----------
        x
            A point, shape (n_0,), or points, shape (k, n_0), as for a call of the network.

        Returns
        -------
        SignVector or list of SignVector
            The signs of the preactivations at the point, or at each of the points.
        """
        points, is_one = read_points(x, self.num_inputs)
        tables = [z.signs().tolist() for z in self.preactivations(points)[: self.num_hidden_layers]]
        found = [
            SignVector(tuple(tuple(row[k] for row in table) for table in tables))
            for k in range(len(points))
        ]
        return found[0] if is_one else found

    def affine_map(self, signs: ActivationPattern | SignVector) -> AffineMap:
        """Compute the affine map of an activation pattern, realised at a point or not.

        Parameters
        ----------
        signs
            Active neurons (sign 1 in a sign vector) pass their preactivation on, the others give
            0.

        Returns
        -------
        AffineMap
            The outputs as an affine map of the input, shapes (n_L, n_0) and (n_L, 1).

        Raises
        ------
        NetworkError
            The pattern has other layers or widths than the network.
        """
        return next(self.affine_maps([signs]))

    def affine_maps(
        self, patterns: Iterable[ActivationPattern | SignVector]
    ) -> Iterator[AffineMap]:
        """Yield `affine_map` of many patterns.

        Patterns with the same first layers share the computation of these layers. For all regions
        of a complex `affine_map_table` is faster; it takes the patterns as a boolean array.

        Parameters
        ----------
        patterns
            Activation patterns or sign vectors.

        Yields
        ------
        AffineMap
            The map of each pattern, in the given order.

        Raises
        ------
        NetworkError
            A pattern has other layers or widths than the network.
        """
        hidden = self.widths[1 : self.num_hidden_layers + 1]
        source = RationalMatrix.identity(self.num_inputs).beside(
            RationalMatrix.zeros(self.num_inputs, 1)
        )
        known: dict[tuple[tuple[int, ...], ...], RationalMatrix] = {}
        for signs in patterns:
            need_pattern(signs, hidden)
            activations = [source]
            on = tuple(tuple(int(s > 0) for s in layer) for layer in signs.layers)
            for number in range(1, self.depth + 1):
                prefix = on[:number]
                forms = known.get(prefix) if number < self.num_hidden_layers else None
                if forms is None:
                    forms = self.layer_forms(number, activations)
                    if number <= self.num_hidden_layers:
                        forms = forms.scale_rows(prefix[-1])
                    if number < self.num_hidden_layers:
                        known[prefix] = forms
                activations.append(forms)
            last = activations[-1]
            yield AffineMap(
                last.take(columns=range(self.num_inputs)), last.take(columns=[self.num_inputs])
            )

    def layer_forms(self, number: int, activations: Sequence[RationalMatrix]) -> RationalMatrix:
        """Compute the preactivations of a layer as affine forms in the input.

        Parameters
        ----------
        number
            Number of the layer, from 1 to L.
        activations
            The activations of the input and of all layers before as affine forms [A | c], shapes
            (n_k, n_0 + 1) for k = 0, …, ℓ-1.

        Returns
        -------
        RationalMatrix
            The preactivations as affine forms [A | c], shape (n_ℓ, n_0 + 1).

        Raises
        ------
        IndexError
            There is no layer of that number.
        NetworkError
            The activations of a layer before are missing.
        """
        layer = self._layer(number)
        if (given := len(expect_list(activations, "activations"))) < number:
            raise NetworkError(
                f"layer {number} needs the activations of {number} layers, got {given}"
            )
        z = RationalMatrix.zeros(layer.width, self.num_inputs).beside(layer.bias)
        for block in layer.blocks:
            z = z + block @ activations[block.source]
        return z

    @overload
    def affine_map_at(self, x: OnePoint) -> AffineMap: ...  # type: ignore[overload-overlap]

    @overload
    def affine_map_at(self, x: Sequence[OnePoint | NumberArray]) -> list[AffineMap]: ...

    @overload
    def affine_map_at(self, x: NumberArray) -> AffineMap | list[AffineMap]: ...

    def affine_map_at(self, x: OnePoint | Points) -> AffineMap | list[AffineMap]:
        """Compute the affine map of the cell that contains a point, or of several points.

        Neurons whose preactivation is 0 at the point count as inactive.

        Parameters
        ----------
        x
            A point, shape (n_0,), or points, shape (k, n_0), as for a call of the network.

        Returns
        -------
        AffineMap or list of AffineMap
            The affine map, equal to the network on the closure of the cell; for points a list.
        """
        signs = self.sign_vector(x)
        return list(self.affine_maps(signs)) if isinstance(signs, list) else self.affine_map(signs)

    # -- identity ---------------------------------------------------------------------------------

    @property
    def sha256(self) -> str:
        """The SHA-256 of the canonical bytes (FORMAT.md §2), in hexadecimal digits."""
        if not self._sha256:
            digest = hashlib.sha256()
            for piece in canonical_pieces(self.num_inputs, self.layers, self.last):
                digest.update(piece)
            object.__setattr__(self, "_sha256", digest.hexdigest())
        return self._sha256

    def replace_layers(self, changed: dict[int, Layer]) -> Network:
        """Return the network with some layers replaced.

        Parameters
        ----------
        changed
            New layers by their numbers, from 1 to L.

        Returns
        -------
        Network
            The changed network.

        Raises
        ------
        IndexError
            There is no layer of a number.
        """
        for number in expect(changed, dict, "changed", "it maps numbers to layers"):
            self._layer(number)
        layers = tuple(changed.get(number, layer) for number, layer in enumerate(self.layers, 1))
        return Network(self.num_inputs, layers, self.last)

    def __str__(self) -> str:
        shape = (
            str(self.architecture)
            if self.is_plain
            else f"{widths_text(self.widths)} with skip connections"
        )
        return f"Network {shape}, {self.num_parameters} parameters, sha256 {self.sha256[:12]}…"

    def __repr__(self) -> str:
        if self.depth <= _SHOWN:
            return f"<{self}>"
        ends = count_text([(self.num_inputs, "input"), (self.num_outputs, "output")])
        return bracketed(
            f"Network of {self.depth} layers, {ends}, {self.num_parameters} parameters, "
            f"sha256 {self.sha256[:12]}…"
        )

    def _repr_html_(self) -> str:
        return f"<code>{self}</code>"


def _named(name: str, values: Any, dimension: int) -> RationalMatrix:
    """The matrix of the values; errors begin with the name of the array."""
    try:
        return _matrix(values, dimension)
    except (NetworkError, TypeError) as error:
        expected = "rows of equally many numbers" if dimension == 2 else "a list of numbers"
        reason = error if isinstance(error, NetworkError) else f"expected {expected}"
        raise NetworkError(f"{name}: {reason}") from None


def from_arrays(layers: Iterable[tuple[Any, Any]], last: Last = "affine") -> Network:
    """Build a plain stack from the weights and biases of its layers.

    Parameters
    ----------
    layers
        Pairs (W, b) with W of shape (out, in) and b of shape (out,). Numpy arrays of floats are the
        exact dyadic numbers that they hold; lists may mix ints, floats, fractions and text such as
        "2/3".
    last
        Either "affine" or, if a ReLU follows the last layer, "relu".

    Returns
    -------
    Network
        The network.

    Raises
    ------
    NetworkError
        An array cannot be read exactly, or the shapes do not fit together.

    Examples
    --------
    >>> from_arrays([([[1.0, 2.0]], [0.5])]).sha256[:8]
    'affa715d'
    """
    built: list[Layer] = []
    for number, pair in enumerate(expect_list(layers, "layers"), 1):
        weight, bias = _pair(pair, number)
        block = Block(number - 1, _named(f"layer {number}, W", weight, 2))
        built.append(Layer((block,), _named(f"layer {number}, b", bias, 1)))
    if not built:
        raise NetworkError("a network needs at least one layer")
    return Network(built[0].weight.ncols, tuple(built), last)


def _pair(values: object, number: int) -> list[Any]:
    """The members of a pair (W, b); others raise `NetworkError`."""
    pair = expect_list(values, f"layer {number}")
    if len(pair) != 2:
        raise NetworkError(f"layer {number}: expected a pair (W, b), got {len(pair)} members")
    return pair


def _need_last(last: object) -> None:
    """Raise `NetworkError` if a text does not say how a network ends."""
    if not isinstance(last, str) or last not in ("affine", "relu"):
        raise NetworkError(f"a network ends in 'affine' or 'relu', not {str(last)[:40]!r}")


def _latex(matrix: RationalMatrix) -> str:
    """A matrix in LaTeX; long numbers are shortened."""
    rows = [" & ".join(map(_latex_number, row)) for row in matrix.rows()]
    return r"\begin{pmatrix} " + r" \\ ".join(rows) + r" \end{pmatrix}"


def _latex_number(number: Fraction) -> str:
    """A fraction in LaTeX."""
    top = shortened(format_integer(abs(number.numerator)), 12)
    sign = "-" if number < 0 else ""
    if number.denominator == 1:
        return sign + top
    return rf"{sign}\tfrac{{{top}}}{{{shortened(format_integer(number.denominator), 12)}}}"


def _matrix(values: Any, dimension: int) -> RationalMatrix:
    """The exact matrix of values: its rows (dimension 2), or a column of entries (dimension 1)."""
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
    """Raise `NetworkError` if a layer does not fit into a network of these widths."""
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
            f"layer {number}: over a common denominator it has numbers of {bits} bits; "
            f"network files hold {BIT_LIMIT}"
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
    """The count of stored numbers: all entries of dense blocks, nonzero entries of sparse ones."""
    blocks = (block.entries for block in layer.blocks)
    return layer.width + sum(
        e.num_nonzeros if isinstance(e, SparseMatrix) else e.nrows * e.ncols for e in blocks
    )


def _homogeneous(points: Iterable[RationalMatrix]) -> tuple[list[list[int]], list[int]]:
    """The integer vectors t·x and the denominators t of points x given as matrices of one row."""
    rows, scales = list[list[int]](), list[int]()
    for point in points:
        rows += point.integer_rows()
        scales.append(point.denominator)
    return rows, scales
