"""Level sets, sublevel and superlevel sets, decision boundaries and regions, as subcomplexes.

Let g = T f - c be affine functions of the outputs f of a network. A further hidden layer whose
preactivations are g cuts the canonical complex along g = 0. On every cell of the extended network
each g has one sign, so every set that the signs of g describe is a set of cells. If the network
ends in an affine layer, the new layer replaces it: T W[L,k] in place of each block W[L,k],
including skip connections, and T b[L] - c in place of b[L]. If it ends in a ReLU, f = a[L] is
already a hidden layer, and the new layer reads it.

All sets here are given by g = 0, g ≤ 0 or g ≥ 0, and a face of a cell has the signs of the cell
with some of them replaced by 0. So the sets contain the faces of their cells: they are
subcomplexes. Where g is 0 on an open region, the region belongs to the set.

**Directions that only a later layer reads.** The complex needs vertices of the first cuts modulo
the lineality space. In a residual network the outputs may depend on a direction of the input that
neither the first layer nor the domain's constraints read. Then the first layer gets further
neurons that read these directions and that no layer reads. They cut cells, and the sets of points
stay the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Literal

import numpy as np

from polyrelu.complex import PolyhedralComplex, Subcomplex, canonical_complex
from polyrelu.errors import DomainError, NetworkError
from polyrelu.exact import (
    Polyhedron,
    Rational,
    RationalMatrix,
    format_rational,
    row_basis,
    to_fraction,
)
from polyrelu.formats.arguments import DomainLike, NetworkLike, as_domain, as_network
from polyrelu.network import Block, Layer, Network
from polyrelu.support.display import bracketed
from polyrelu.support.progress import Progress
from polyrelu.support.typing import Mask, Signs

__all__ = [
    "OutputSet",
    "UnfinishedError",
    "decision_boundary",
    "decision_region",
    "extended",
    "level_set",
    "sublevel_set",
    "superlevel_set",
]


class UnfinishedError(DomainError):
    """The complex was interrupted before the set could be cut out."""


OutputSetKind = Literal["level", "sublevel", "superlevel", "boundary", "class"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class OutputSet(Subcomplex):
    """A set of points described by the signs of T f - c, where f are the outputs of a network.

    Attributes
    ----------
    cells
        The canonical complex of the extended network; its last m neurons are T f - c.
    masks
        For each dimension k = 0, 1, … the cells that belong to the set, shape (number of cells,).
    kind
        ``level``, ``sublevel``, ``superlevel``, ``boundary`` (decision boundary) or ``class``
        (the region of a class).
    rows
        The matrix T, shape (m, n_L).
    levels
        The vector c, shape (m,).

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [-1]], [0, 0]), ([[1, 1]], [0])])  # |x|
    >>> half = level_set(net, "1/2")
    >>> half.kind, half.rows, half.levels
    ('level', ((1,),), (Fraction(1, 2),))
    >>> half
    <OutputSet, f_0 = 1/2, cells by dimension (2, 0)>
    """

    kind: OutputSetKind
    rows: tuple[tuple[int, ...], ...]
    levels: tuple[Fraction, ...]

    @property
    def num_outputs(self) -> int:
        """The number n_L of outputs."""
        return len(self.rows[0])

    def __repr__(self) -> str:
        return bracketed(f"OutputSet, {self._description}, cells by dimension {self.f_vector}")

    @property
    def _description(self) -> str:
        """Which points belong to the set, in words or as a formula."""
        if self.kind == "boundary":
            return f"decision boundary of {self.num_outputs} outputs"
        output = self.rows[0].index(1)
        if self.kind == "class":
            return f"f_{output} is the largest of {self.num_outputs} outputs"
        sign = {"level": "=", "sublevel": "≤", "superlevel": "≥"}[self.kind]
        return f"f_{output} {sign} {format_rational(self.levels[0])[:40]}"


def pair_rows(outputs: int) -> list[list[int]]:
    """Return the matrix T of the differences f_i - f_j of all outputs, i < j.

    For a single output it is the matrix of f itself.
    """
    if outputs == 1:
        return [[1]]
    return [
        [int(k == i) - int(k == j) for k in range(outputs)]
        for i, j in combinations(range(outputs), 2)
    ]


def largest_outputs(signs: Signs, outputs: int) -> Mask:
    """Return which outputs are the largest, from the signs of the differences f_i - f_j, i < j.

    For a single output f, whose signs these are, the two columns of the result say whether f ≤ 0
    and whether f ≥ 0.

    Parameters
    ----------
    signs
        The signs of the differences on several cells, shape (number of cells, m).
    outputs
        The number of outputs.

    Returns
    -------
    Array
        A mask of shape (number of cells, outputs), with two columns for a single output.

    Examples
    --------
    >>> signs = np.array([[1, 1, 0], [0, -1, -1]], dtype=np.int8)  # f_0 is the largest; then f_2
    >>> largest_outputs(signs, 3).tolist()
    [[True, False, False], [False, False, True]]
    """
    pairs = list(combinations(range(outputs), 2)) or [(1, 0)]
    largest = np.ones((len(signs), max(outputs, 2)), dtype=bool)
    for column, (i, j) in enumerate(pairs):
        largest[:, i] &= signs[:, column] >= 0
        largest[:, j] &= signs[:, column] <= 0
    return largest


def level_set(
    network: NetworkLike,
    level: Rational,
    domain: DomainLike = None,
    *,
    output: int = 0,
    progress: Progress | None = None,
) -> OutputSet:
    """Cut out the points of a domain where an output has a given value.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes.
    level
        The value, exact: an int, a Fraction, text like "1/3", or a float as the dyadic number it
        is.
    domain
        A polyhedron in R^{n_0}, or text like "box:-1,1"; None for all of R^{n_0}.
    output
        The number of the output, from 0.
    progress
        Called with a `polyrelu.support.ProgressStep` after each cut, as by `canonical_complex`.

    Returns
    -------
    OutputSet
        The closed set {x : f_output(x) = level}, as cells of the canonical complex of an extended
        network. Open regions where the output is constantly `level` belong to it.

    Raises
    ------
    DomainError
        There is no such output, or the domain does not fit the network.
    UnfinishedError
        Ctrl-C interrupted the computation.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> from polyrelu.topology import homology
    >>> first = ([[1, 0], [-1, 0], [0, 1], [0, -1]], [0] * 4)
    >>> net = from_arrays([first, ([[1] * 4], [0])])  # |x| + |y|
    >>> circle, point = level_set(net, 1), level_set(net, 0)
    >>> circle.f_vector, homology(circle).betti, homology(point).betti
    ((4, 4, 0), (1, 1, 0), (1, 0, 0))
    """
    return _by_sign(network, "level", level, output, domain, progress, lambda sign: sign == 0)


def sublevel_set(
    network: NetworkLike,
    level: Rational,
    domain: DomainLike = None,
    *,
    output: int = 0,
    progress: Progress | None = None,
) -> OutputSet:
    """Cut out the points of a domain where an output is at most a given value.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes.
    level
        The value, exact: an int, a Fraction, text like "1/3", or a float as the dyadic number it
        is.
    domain
        A polyhedron in R^{n_0}, or text like "box:-1,1"; None for all of R^{n_0}.
    output
        The number of the output, from 0.
    progress
        Called with a `polyrelu.support.ProgressStep` after each cut, as by `canonical_complex`.

    Returns
    -------
    OutputSet
        The closed set {x : f_output(x) ≤ level}, as in `level_set`.

    Raises
    ------
    DomainError
        There is no such output, or the domain does not fit the network.
    UnfinishedError
        Ctrl-C interrupted the computation.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [-1]], [0, 0]), ([[1, 1]], [0])])  # |x|
    >>> sublevel_set(net, "1/2").f_vector, sublevel_set(net, -1).f_vector
    ((3, 2), (0, 0))
    """
    return _by_sign(network, "sublevel", level, output, domain, progress, lambda sign: sign <= 0)


def superlevel_set(
    network: NetworkLike,
    level: Rational,
    domain: DomainLike = None,
    *,
    output: int = 0,
    progress: Progress | None = None,
) -> OutputSet:
    """Cut out the points of a domain where an output is at least a given value.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes.
    level
        The value, exact: an int, a Fraction, text like "1/3", or a float as the dyadic number it
        is.
    domain
        A polyhedron in R^{n_0}, or text like "box:-1,1"; None for all of R^{n_0}.
    output
        The number of the output, from 0.
    progress
        Called with a `polyrelu.support.ProgressStep` after each cut, as by `canonical_complex`.

    Returns
    -------
    OutputSet
        The closed set {x : f_output(x) ≥ level}, as in `level_set`.

    Raises
    ------
    DomainError
        There is no such output, or the domain does not fit the network.
    UnfinishedError
        Ctrl-C interrupted the computation.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> from polyrelu.topology import homology
    >>> net = from_arrays([([[1], [-1]], [0, 0]), ([[1, 1]], [0])])  # |x|
    >>> homology(superlevel_set(net, "1/2")).betti
    (2, 0)
    """
    return _by_sign(network, "superlevel", level, output, domain, progress, lambda sign: sign >= 0)


def decision_boundary(
    network: NetworkLike, domain: DomainLike = None, *, progress: Progress | None = None
) -> OutputSet:
    """Cut out the points of a domain where at least two outputs are the largest ones.

    For a single output f it is the set f = 0.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes; for m outputs the complex is cut along all
        m (m - 1) / 2 differences.
    domain
        A polyhedron in R^{n_0}, or text like "box:-1,1"; None for all of R^{n_0}.
    progress
        Called with a `polyrelu.support.ProgressStep` after each cut, as by `canonical_complex`.

    Returns
    -------
    OutputSet
        The closed decision boundary.

    Raises
    ------
    DomainError
        The domain does not fit the network.
    UnfinishedError
        Ctrl-C interrupted the computation.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1], [0, 0]], [0, 0, 0])])
    >>> decision_boundary(net).f_vector  # x, y and 0: a tripod
    (1, 3, 0)
    """
    network = as_network(network)
    size = network.num_outputs
    if size == 1:
        return level_set(network, 0, domain, progress=progress)
    rows = pair_rows(size)

    def tied(signs: Signs) -> Mask:
        """Return where at least two outputs are the largest."""
        several: Mask = largest_outputs(signs, size).sum(axis=1) >= 2
        return several

    return _where(network, "boundary", rows, [Fraction(0)] * len(rows), domain, progress, tied)


def decision_region(
    network: NetworkLike,
    label: int,
    domain: DomainLike = None,
    *,
    progress: Progress | None = None,
) -> OutputSet:
    """Cut out the points of a domain where a given output is the largest, alone or among others.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes.
    label
        The number of the output, from 0. For a single output f, the label 0 means f ≤ 0 and the
        label 1 means f ≥ 0.
    domain
        A polyhedron in R^{n_0}, or text like "box:-1,1"; None for all of R^{n_0}.
    progress
        Called with a `polyrelu.support.ProgressStep` after each cut, as by `canonical_complex`.

    Returns
    -------
    OutputSet
        The closed decision region.

    Raises
    ------
    DomainError
        There is no such label, or the domain does not fit the network.
    UnfinishedError
        Ctrl-C interrupted the computation.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1], [0, 0]], [0, 0, 0])])
    >>> decision_region(net, 2).f_vector  # x ≤ 0 and y ≤ 0
    (1, 2, 1)
    """
    network = as_network(network)
    size = network.num_outputs
    labels = max(size, 2)
    if not _is_number_below(label, labels):
        raise DomainError(f"there is no class {str(label)[:40]}, only 0 to {labels - 1}")
    if size == 1:
        return (superlevel_set if label else sublevel_set)(network, 0, domain, progress=progress)
    others = [k for k in range(size) if k != label]
    rows = [[int(k == label) - int(k == other) for k in range(size)] for other in others]

    def largest(signs: Signs) -> Mask:
        """Return where the output of the label is at least as large as all others."""
        all_nonnegative: Mask = np.logical_and.reduce(signs >= 0, axis=1)
        return all_nonnegative

    return _where(network, "class", rows, [Fraction(0)] * len(rows), domain, progress, largest)


def extended(
    network: Network, rows: Sequence[Sequence[int]], levels: Sequence[Fraction]
) -> Network:
    """Append a hidden layer whose preactivations are combinations of the outputs minus levels.

    Parameters
    ----------
    network
        Any network, with outputs f.
    rows
        The matrix T, shape (m, n_L).
    levels
        The vector c, shape (m,).

    Returns
    -------
    Network
        A network that ends in a ReLU, with the outputs max(T f - c, 0).

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [-1]], [0, 0]), ([[1, 1]], [0])])  # |x|
    >>> extended(net, [[1]], [Fraction(1)])([3])
    (Fraction(2, 1),)
    """
    combination, bias = RationalMatrix.from_integers(rows), -RationalMatrix.column(levels)
    if network.last == "relu":
        last = Layer((Block(network.depth, combination),), bias)
        return Network(network.num_inputs, (*network.layers, last), "relu")
    affine = network.layers[-1]
    blocks = [Block(block.source, combination @ block.weight) for block in affine.blocks]
    skipping = [block for block in blocks[:-1] if not block.entries.is_zero()]
    last = Layer((*skipping, blocks[-1]), combination @ affine.bias + bias)
    return Network(network.num_inputs, (*network.layers[:-1], last), "relu")


def _by_sign(
    source: NetworkLike,
    kind: OutputSetKind,
    level: Rational,
    output: int,
    domain: DomainLike,
    progress: Progress | None,
    chosen: Callable[[Signs], Mask],
) -> OutputSet:
    """The set where the sign of an output minus a level is one of the chosen signs."""
    network = as_network(source)
    row = output_row(network, output)
    return _where(
        network,
        kind,
        [row],
        [_exact_level(level)],
        domain,
        progress,
        lambda signs: chosen(signs[:, 0]),
    )


def output_row(network: Network, output: int) -> list[int]:
    """Return the unit vector of an output, or raise an error if there is no such output."""
    if not _is_number_below(output, network.num_outputs):
        raise DomainError(
            f"there is no output {str(output)[:40]}, only 0 to {network.num_outputs - 1}"
        )
    return [int(k == output) for k in range(network.num_outputs)]


def _is_number_below(number: object, count: int) -> bool:
    """Whether an argument is one of the integers 0, …, count - 1, of Python or NumPy."""
    is_integer = isinstance(number, int | np.integer) and not isinstance(number, bool)
    return is_integer and number in range(count)


def _exact_level(level: Rational) -> Fraction:
    """The exact value of a level, or an error that names it."""
    try:
        return to_fraction(level)
    except NetworkError as error:
        raise NetworkError(f"level: {error}") from None


def _where(
    network: Network,
    kind: OutputSetKind,
    rows: Sequence[Sequence[int]],
    levels: Sequence[Fraction],
    domain: DomainLike,
    progress: Progress | None,
    chosen: Callable[[Signs], Mask],
) -> OutputSet:
    """The cells on which the signs of T f - c, shape (number of cells, m), are chosen."""
    polyhedron = as_domain(domain, network.num_inputs)
    cells = canonical_complex(
        _with_all_directions(extended(network, rows, levels), polyhedron),
        polyhedron,
        progress=progress,
    )
    if not cells.complete:
        raise UnfinishedError(
            "the complex is incomplete: the signs of the outputs are not known on its cells"
        )
    masks = tuple(_chosen(cells, k, len(rows), chosen) for k in range(cells.dimension + 1))
    return OutputSet(cells, masks, kind, tuple(map(tuple, rows)), tuple(levels))


def _chosen(
    cells: PolyhedralComplex, dimension: int, count: int, chosen: Callable[[Signs], Mask]
) -> Mask:
    """Which cells of a dimension have chosen signs of the last `count` neurons."""
    if dimension < cells.lineality_dim:
        return np.zeros(0, dtype=bool)
    return chosen(cells.signs(dimension)[:, -count:])


# -- directions that only a later layer reads ----------------------------------------------------


def _with_all_directions(network: Network, domain: Polyhedron) -> Network:
    """The network with more neurons in layer 1, for directions that only skip connections read.

    No layer reads the new neurons.
    """
    skips = [
        block.weight for layer in network.layers[1:] for block in layer.blocks if block.source == 0
    ]
    if not skips:
        return network
    first = network.weight(1)
    sides = [row[:-1] for row in (*domain.inequalities, *domain.equations)]
    known = first if not sides else first.over(RationalMatrix.from_integers(sides))
    stacked = known
    for weight in skips:
        stacked = stacked.over(weight)
    missing = [index for index in row_basis(stacked) if index >= known.nrows]
    return _widened(network, stacked.take(rows=missing)) if missing else network


def _widened(network: Network, rows: RationalMatrix) -> Network:
    """The network with further neurons in layer 1 that no layer reads."""
    first = network.layers[0]
    widened = [
        Layer(
            (Block(0, first.weight.over(rows)),),
            first.bias.over(RationalMatrix.zeros(rows.nrows, 1)),
        )
    ]
    for layer in network.layers[1:]:
        blocks = (
            Block(1, block.weight.beside(RationalMatrix.zeros(layer.width, rows.nrows)))
            if block.source == 1
            else block
            for block in layer.blocks
        )
        widened.append(Layer(tuple(blocks), layer.bias))
    return Network(network.num_inputs, tuple(widened), network.last)
