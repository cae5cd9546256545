"""The functional dimension of a parameter: exact ranks of Jacobians.

The functional dimension of θ is the largest rank of the Jacobian of θ ↦ (f(x_1), …, f(x_p)) over
all finite sets of points in the interiors of regions on which no neuron is 0 (Grigsby, Lindsey,
Meyerhoff and Wu, 2022, arXiv 2209.04036). On such a region f = A x + c, where A and c are
polynomials in θ, and n_0 + 1 points in general position show the derivatives of all entries of A
and c. So with the list of all regions the functional dimension is one rational rank.

*Lower bound.* A rank modulo a prime, of some rows or of combinations of rows, is never larger than
the rational rank. *Upper bound.* Scaling a hidden neuron changes no value of f, so the direction
of the scaling lies in the kernel: the rank is at most the number of parameters minus the rank of
these directions. The directions are independent if no hidden neuron has only zeros as weights and
bias: a vanishing combination has the coefficient 0 at all neurons of layer 1, then of layer 2, and
so on.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyrelu.complex import canonical_complex
from polyrelu.errors import DomainError, NotCoveredError
from polyrelu.exact import Polyhedron, RationalMatrix, float_prime, rank, rank_mod
from polyrelu.foldsets.construction import simplest_between
from polyrelu.foldsets.echelons import BLOCK, Echelon, Group
from polyrelu.formats import DomainLike, NetworkLike, as_domain, as_network
from polyrelu.network import Network
from polyrelu.network.points import Points, read_batch
from polyrelu.support.arguments import expect_count, expect_function
from polyrelu.support.display import bracketed
from polyrelu.support.parallel import Execution
from polyrelu.support.parallel.wire import packed, unpacked
from polyrelu.support.progress import Progress, report
from polyrelu.support.typing import Mask, Point
from polyrelu.walks import walk_line

__all__ = [
    "FunctionalDimension",
    "expect_stack",
    "functional_dimension",
    "independent_rows",
    "num_nonzero_neurons",
    "points_around",
    "points_in_cells",
]

#: Maximum number of entries of a Jacobian whose rational rank is computed.
_EXACT_ENTRIES = 400_000
#: Maximum number of times a step to another point of a cell is halved or reversed.
_HALVINGS = 80
#: What the computation of a rank is called.
_STAGE = "adding rows of the Jacobian"
#: Largest number of bytes of a block in a checkpoint.
_MAX_KEPT = 1 << 29
#: This process, without a checkpoint.
_ALONE = Execution()


@dataclass(frozen=True, slots=True, repr=False)
class FunctionalDimension:
    """Bounds for the functional dimension of a parameter.

    Attributes
    ----------
    lower, upper
        The bounds.
    num_parameters
        The number of weights and biases.
    num_scalings
        The number of independent directions of positive scalings.
    num_places
        The number of regions or points that were looked at.

    Examples
    --------
    >>> found = FunctionalDimension(6, 6, 7, 1, 2)
    >>> found, found.is_exact, found.is_largest
    (<FunctionalDimension 6 of 7 parameters, 1 scaling direction, 2 places>, True, True)
    """

    lower: int
    upper: int
    num_parameters: int
    num_scalings: int
    num_places: int

    @property
    def is_exact(self) -> bool:
        """Whether the bounds are equal."""
        return self.lower == self.upper

    @property
    def is_largest(self) -> bool:
        """Whether nothing but positive scalings keeps the function to first order."""
        return self.lower == self.num_parameters - self.num_scalings

    def __repr__(self) -> str:
        bounds = str(self.lower) if self.is_exact else f"{self.lower} to {self.upper}"
        ending = "" if self.num_scalings == 1 else "s"
        return bracketed(
            f"FunctionalDimension {bounds} of {self.num_parameters} parameters, "
            f"{self.num_scalings} scaling direction{ending}, {self.num_places} places"
        )


def functional_dimension(
    network: NetworkLike,
    domain: DomainLike = None,
    *,
    points: Points | None = None,
    progress: Progress | None = None,
) -> FunctionalDimension:
    """Compute the functional dimension of the parameter of a network.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes, without skip connections, that ends in an affine
        layer.
    domain
        A polyhedron with interior, or a text such as ``"box:-1,1"``; None for R^n. Only points in
        it count.
    points
        Points of the domain, shape (k, n_0), for a network whose complex is too large. Points on
        which a neuron is 0 are left out. None for all regions of the canonical complex.
    progress
        Called with a `polyrelu.support.ProgressStep` after some rows each, with the rank so far.

    Returns
    -------
    FunctionalDimension
        Bounds. Without `points` they are usually equal.

    Raises
    ------
    NetworkError
        The network has skip connections, or ends in a ReLU.
    DomainError
        The domain is empty, has no interior or lies in another space, or there are too many cells
        to list.

    Notes
    -----
    Source: Grigsby, Lindsey, Meyerhoff and Wu (2022), arXiv 2209.04036.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 2], [3, -1]], [1, 1]), ([[1, 1]], [0])])
    >>> functional_dimension(net)
    <FunctionalDimension 7 of 9 parameters, 2 scaling directions, 4 places>
    >>> dead = from_arrays([([[1, 2], [3, -1]], [1, 1]), ([[-1, -1]], [-1]), ([[5]], [0])])
    >>> functional_dimension(dead).upper
    1
    """
    network = expect_stack(as_network(network))
    expect_function(progress, "progress")
    region = as_domain(domain, network.num_inputs)
    jacobian: _Jacobian
    if points is None:
        cells = canonical_complex(network, region)
        if cells.dimension < network.num_inputs:
            raise DomainError("functional dimension: the domain has no interior; give points of it")
        signs = cells.signs()
        signs = signs[(signs != 0).all(axis=1)]
        jacobian = _Jacobian(network, signs > 0, None)
    else:
        given = RationalMatrix.from_rows(
            read_batch(points, network.num_inputs), ncols=network.num_inputs
        )
        inside = [x for x in given.rows() if region.contains(x)]
        jacobian = _Jacobian.at(network, inside)
    scalings = _num_scalings(network)
    lower = jacobian.rank_modulo(network.num_parameters - scalings, progress)
    upper = network.num_parameters - scalings
    if points is None and lower < upper and jacobian.num_entries <= _EXACT_ENTRIES:
        lower = upper = jacobian.rational_rank()
    return FunctionalDimension(lower, upper, network.num_parameters, scalings, len(jacobian.active))


def points_in_cells(
    network: NetworkLike, count: int, domain: DomainLike = None, *, seed: int = 0
) -> list[Point]:
    """Return points in the interiors of cells that lines of many scales meet.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes.
    count
        The number of points.
    domain
        A polyhedron with interior; points outside are left out. None for R^n.
    seed
        Different seeds give different points.

    Returns
    -------
    list of tuple of Fraction
        Points on which no neuron is 0 unless it is 0 on the whole cell; a point for each cell that
        a line meets. Fewer points than asked for if lines find no more.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 2], [3, -1]], [1, 1]), ([[1, 1]], [0])])
    >>> len(points_in_cells(net, 10))
    10
    """
    network, count = as_network(network), expect_count(count, "count")
    region = as_domain(domain, network.num_inputs)
    rng = Random(expect_count(seed, "seed"))
    centre = region.interior_point() or (Fraction(0),) * network.num_inputs
    found: list[Point] = []
    for line in range(20 * count):
        if len(found) >= count:
            break
        scale = Fraction(2) ** (line % 12 - 7)
        base = [c + scale * Fraction(rng.randint(-64, 64), 64) for c in centre]
        direction = [Fraction(rng.randint(-32, 32), 32) or Fraction(1) for _ in centre]
        for cell in walk_line(network, base, direction, start=-scale, end=scale):
            low = cell.start.t if cell.start else cell.first
            high = cell.end.t if cell.end else scale
            if low >= high:
                continue
            t = simplest_between(low, high)
            point = tuple(b + t * d for b, d in zip(base, direction, strict=True))
            if region.contains(point):
                found.append(point)
    return found[:count]


def expect_stack(network: Network) -> Network:
    """Return a network if functional dimensions are defined for it."""
    network.require_plain()
    if network.last == "relu":
        raise NotCoveredError(
            "functional dimensions are bounded for networks that end in an affine layer, and this "
            "one ends in a ReLU"
        )
    return network


def independent_rows(
    network: Network,
    points: Sequence[Point],
    enough: int,
    progress: Progress | None = None,
    execution: Execution = _ALONE,
) -> list[tuple[Point, int]]:
    """Return points and outputs whose rows of the Jacobian are independent modulo a prime.

    Points on which a neuron is 0 are left out; no more rows are looked at once they are `enough`.
    A checkpoint keeps the echelon form, block by block. Each block needs all blocks before it, so
    that workers are of no use.
    """
    elimination, found = _Elimination(network, points), list[tuple[Point, int]]()
    jacobian, places = elimination.jacobian, len(elimination.jacobian.active)
    at_a_time = max(1, BLOCK // network.num_outputs)
    with execution.stream(_eliminated, elimination, keeps=_is_kept) as stream:
        for start in range(0, places, at_a_time):
            stop = min(start + at_a_time, places)
            if execution.checkpoint is None:
                groups = elimination.groups(start, stop)
            else:
                stream.add(packed([start, stop]))
                groups = elimination.form.unpacked(stream.take(), network.num_parameters)
            for row in elimination.form.join(groups):
                place, output = divmod(row, network.num_outputs)
                found.append((jacobian.place(start + place), output))
            rank_so_far = {"rank": elimination.form.rank}
            report(progress, _STAGE, stop, places, "places", rank_so_far)
            if len(found) >= enough:
                break
    return found[:enough]


class _Elimination:
    """Rows of a Jacobian at points modulo a prime, and their echelon form so far."""

    def __init__(self, network: Network, points: Sequence[Point]) -> None:
        self.jacobian, self.prime = _Jacobian.at(network, points), _prime_for(network)
        self.form = Echelon(self.prime)

    def groups(self, start: int, stop: int) -> list[Group]:
        """Return what the rows at some places add to the form."""
        return self.form.reduced(self.jacobian.block(start, stop, self.prime))


def _eliminated(elimination: _Elimination, task: bytes) -> bytes:
    """Reduce the rows at some places, as a function of a task."""
    start, stop = unpacked(task)
    width = elimination.jacobian.network.num_parameters
    return elimination.form.packed(elimination.groups(start, stop), width)


def _is_kept(data: bytes) -> bool:
    """Whether a block is kept; SQLite takes no larger ones."""
    return len(data) <= _MAX_KEPT


def points_around(network: Network, points: Sequence[Point], domain: Polyhedron) -> list[Point]:
    """Return, for each point, it and n_0 more of its cell and of the domain, not on a plane."""
    found = list[Point]()
    for point in points:
        signs = network.sign_vector(point)
        found.append(point)
        for j in range(network.num_inputs):
            for exponent in range(_HALVINGS):
                step = Fraction((-1) ** exponent, 2 ** (exponent // 2))
                other = (*point[:j], point[j] + step, *point[j + 1 :])
                if domain.contains(other) and network.sign_vector(other) == signs:
                    found.append(other)
                    break
    return found


class _Jacobian:
    """The derivatives of a network by its parameters, for some regions or at some points.

    Attributes
    ----------
    active
        The active neurons at each place, shape (places, hidden neurons).
    points
        The points; None for the entries of the affine maps of regions.
    """

    def __init__(self, network: Network, active: Mask, points: Sequence[Point] | None) -> None:
        self.network, self.active, self.points = network, active, points
        self._layers: dict[int | None, list[NDArray[Any]]] = {}

    @classmethod
    def at(cls, network: Network, points: Sequence[Point]) -> _Jacobian:
        """Return the derivatives at the points where no neuron is 0."""
        # One by one, since a common denominator of many points is very long.
        rows = [sum(network.sign_vector(point).layers, ()) for point in points]
        signs = np.array(rows, dtype=np.int8).reshape(len(points), sum(network.widths[1:-1]))
        kept = np.flatnonzero((signs != 0).all(axis=1)).tolist()
        return cls(network, signs[kept] > 0, [points[k] for k in kept])

    def place(self, index: int) -> Point:
        """Return a point."""
        assert self.points is not None
        return self.points[index]

    @property
    def _rows_per_place(self) -> int:
        columns = 1 if self.points is not None else self.network.num_inputs + 1
        return self.network.num_outputs * columns

    @property
    def num_entries(self) -> int:
        """The number of entries of the Jacobian."""
        return len(self.active) * self._rows_per_place * self.network.num_parameters

    def rank_modulo(self, enough: int, progress: Progress | None = None) -> int:
        """Return the rank modulo a prime.

        No more rows are looked at once the rank is `enough`.
        """
        prime = _prime_for(self.network)
        form, places = Echelon(prime), len(self.active)
        at_a_time = max(1, BLOCK // self._rows_per_place)
        for start in range(0, places, at_a_time):
            stop = min(start + at_a_time, places)
            form.add(self.block(start, stop, prime))
            report(progress, _STAGE, stop, places, "places", {"rank": form.rank})
            if form.rank >= enough:
                break
        return form.rank

    def rational_rank(self) -> int:
        """Return the rational rank of all rows."""
        if not len(self.active):
            return 0
        rows = {tuple(row) for row in self.block(0, len(self.active), None).tolist()}
        return rank(RationalMatrix.from_integers(sorted(rows), ncols=self.network.num_parameters))

    def block(self, start: int, stop: int, prime: int | None) -> NDArray[Any]:
        """Rows of the Jacobian at some places, modulo a prime or as integers."""
        if prime not in self._layers:
            rows = [_modulo(rows, prime) for rows in _integer_layers(self.network)]
            self._layers[prime] = rows
        inputs = self._inputs(start, stop, prime)
        widths = self.network.widths
        masks = np.split(self.active[start:stop], np.cumsum(widths[1:-1])[:-1], axis=1)
        if self.network.num_hidden_layers == 0:
            masks = []
        return _rows(self._layers[prime], inputs, masks, prime)

    def _inputs(self, start: int, stop: int, prime: int | None) -> NDArray[Any]:
        """The columns (x, 1) that layer 1 reads; shape (places, n_0 + 1, columns)."""
        size = self.network.num_inputs + 1
        if self.points is None:
            unit = np.eye(size) if prime else np.array(np.eye(size, dtype=int), dtype=object)
            return np.broadcast_to(unit, (stop - start, size, size))
        columns = [[*point, Fraction(1)] for point in self.points[start:stop]]
        return _modulo(np.array(columns, dtype=object), prime)[:, :, None]


def _prime_for(network: Network) -> int:
    """A prime modulo which all sums of products are exact in floats."""
    return float_prime(max(BLOCK, *network.widths) + 1)


def _rows(
    layers: Sequence[NDArray[Any]],
    inputs: NDArray[Any],
    masks: Sequence[Mask],
    prime: int | None,
) -> NDArray[Any]:
    """The rows of the Jacobian at some places.

    The entry (o, c) of a map has the derivative δ_l[o, i] a_{l-1}[j, c] by W_l[i, j]: layer l reads
    a_{l-1}, with the constant 1 as its last row, and δ_l is the derivative of the outputs by the
    preactivations of layer l.
    """
    read = [inputs]
    for weight, mask in zip(layers, masks, strict=False):
        z = _reduced(weight @ read[-1], prime) * mask[:, :, None].astype(int)
        read.append(np.concatenate([z, inputs[:, -1:, :]], axis=1))
    places, outputs = len(inputs), len(layers[-1])
    delta = np.broadcast_to(np.eye(outputs, dtype=int), (places, outputs, outputs))
    parts = []
    for number in range(len(layers) - 1, -1, -1):
        a = read[number]
        product = delta[:, :, None, :, None] * np.swapaxes(a, 1, 2)[:, None, :, None, :]
        parts.append(_reduced(product, prime).reshape(places * outputs * a.shape[2], -1))
        if number:
            delta = _reduced(delta @ layers[number][:, :-1], prime)
            delta = delta * masks[number - 1][:, None, :].astype(int)
    return np.concatenate(parts[::-1], axis=1)


def _integer_layers(network: Network) -> list[NDArray[Any]]:
    """The rows [W | b] of each layer, scaled to integers.

    If W of layer l is multiplied by d_l, and b by d_1 ⋯ d_l, then so are the preactivations. This
    multiplies rows and columns of the Jacobian by numbers that are not 0.
    """
    scale, found = 1, []
    for layer in network.layers:
        weight, bias = layer.weight, layer.bias
        factor = math.lcm(weight.denominator, bias.denominator)
        scale *= factor
        rows = weight.scale(factor).beside(bias.scale(scale)).integer_rows()
        found.append(np.array(rows, dtype=object))
    return found


def _modulo(entries: NDArray[Any], prime: int | None) -> NDArray[Any]:
    """Integers or fractions modulo a prime as floats."""
    if prime is None:
        return entries
    known = [
        entry.numerator * pow(entry.denominator, -1, prime) % prime for entry in entries.ravel()
    ]
    return np.array(known, dtype=float).reshape(entries.shape)


def _reduced(entries: NDArray[Any], prime: int | None) -> NDArray[Any]:
    return entries if prime is None else np.asarray(np.mod(entries, prime))


def num_nonzero_neurons(network: Network) -> int:
    """Return the number of hidden neurons with a row [W | b] that is not 0."""
    rows = (row for layer in network.layers[:-1] for row in layer.augmented().rows())
    return sum(map(any, rows))


def _num_scalings(network: Network) -> int:
    """The rank of the directions of positive scalings."""
    hidden = network.layers[:-1]
    zero = [
        not any(any(row) for row in [layer.augmented().row(i)])
        for layer in hidden
        for i in range(layer.width)
    ]
    if not any(zero):
        return len(zero)
    return rank_mod(RationalMatrix.from_rows(_scalings(network), ncols=network.num_parameters))


def _scalings(network: Network) -> list[list[Fraction]]:
    """The direction of the scaling of each hidden neuron: its row, minus its outgoing column."""
    tables = [layer.augmented().rows() for layer in network.layers]
    found = []
    for number, table in enumerate(tables[:-1]):
        for i in range(len(table)):
            direction: list[Fraction] = []
            for other, rows in enumerate(tables):
                for k, row in enumerate(rows):
                    if other == number:
                        direction += row if k == i else [Fraction(0)] * len(row)
                    elif other == number + 1:
                        direction += [-w if j == i else Fraction(0) for j, w in enumerate(row)]
                    else:
                        direction += [Fraction(0)] * len(row)
            found.append(direction)
    return found
