"""Networks, domains and points as users hand them to functions: in any form that can be read.

Every public function that takes a network, a domain or a point calls these first, so that a file
name, a model of PyTorch or the text of a domain is as good as the exact object, and a wrong
argument is one clear error.
"""

from __future__ import annotations

from typing import TypeAlias

from polyrelu.errors import ArgumentError, DomainError, NetworkError
from polyrelu.exact import Polyhedron, expect_rounding_to_nearest, to_fraction
from polyrelu.formats.domain import parse_domain
from polyrelu.formats.imported import Imported
from polyrelu.formats.source_types import NetworkSource
from polyrelu.network import Network
from polyrelu.network.points import read_points
from polyrelu.support.arguments import expect_list
from polyrelu.support.typing import Point

__all__ = [
    "DomainLike",
    "NetworkLike",
    "as_domain",
    "as_imported",
    "as_network",
    "as_point",
    "as_points",
]

#: An exact network, what `read` returns, or what `load` takes: the name of a file or of a shipped
#: example, a module of PyTorch, a fitted perceptron of scikit-learn, or pairs (W, b).
NetworkLike: TypeAlias = Network | Imported | NetworkSource
#: A polyhedron, the text of a domain as on the command line, or None for the whole space.
DomainLike: TypeAlias = Polyhedron | str | None


def as_network(source: NetworkLike) -> Network:
    """Return the exact network that an argument stands for.

    Parameters
    ----------
    source
        A network, or what `polyrelu.load` takes, or what `polyrelu.read` returns.

    Returns
    -------
    Network
        The network itself, or the one that was read.

    Raises
    ------
    NetworkError
        The argument is not a network that can be taken exactly.
    PolyreluError
        Another library has changed how floats are rounded.

    Examples
    --------
    >>> as_network([([[1, 2]], [3])]).widths
    (2, 1)
    """
    expect_rounding_to_nearest()
    return source if isinstance(source, Network) else as_imported(source).network


def as_imported(source: NetworkLike) -> Imported:
    """Return the network that an argument stands for, with the record of what was read.

    Parameters
    ----------
    source
        A network, or what `polyrelu.load` takes, or what `polyrelu.read` returns.

    Returns
    -------
    Imported
        The record itself, or the one of the reading. A network that was not read computes layer by
        layer, and has no source.

    Raises
    ------
    NetworkError
        The argument is not a network that can be taken exactly.

    Examples
    --------
    >>> as_imported([([[1, 2]], [3])]).format
    'pairs (W, b)'
    """
    if isinstance(source, Imported):
        return source
    if isinstance(source, Network):
        return Imported(source, "network", (), ())
    from polyrelu.formats.load import read

    return read(source)


def as_domain(domain: DomainLike, num_inputs: int) -> Polyhedron:
    """Return the polyhedron that an argument stands for.

    Parameters
    ----------
    domain
        A polyhedron in the input space; the text of a domain, such as ``"box:-1,1"`` or
        ``"property.vnnlib"`` (see `parse_domain`); or None for the whole space.
    num_inputs
        The dimension of the input space.

    Returns
    -------
    Polyhedron
        The polyhedron, of ambient dimension `num_inputs`.

    Raises
    ------
    DomainError
        The text is not understood, or the polyhedron lies in another space.
    ArgumentError
        The argument is neither a polyhedron nor a text nor None.

    Examples
    --------
    >>> as_domain("box:-1,1", 2).bounding_box()[0]
    (Fraction(-1, 1), Fraction(-1, 1))
    """
    if domain is None:
        return Polyhedron.universe(num_inputs)
    if isinstance(domain, str):
        return parse_domain(domain, num_inputs)
    if not isinstance(domain, Polyhedron):
        kind = type(domain).__name__
        raise ArgumentError(
            f"domain: expected a Polyhedron, a text such as 'box:-1,1', or None, got {kind}"
        )
    if domain.ambient_dimension != num_inputs:
        raise DomainError(
            f"domain: a polyhedron in R^{domain.ambient_dimension}, but the network has "
            f"{num_inputs} inputs"
        )
    return domain


def as_point(entries: object, size: int, name: str = "the point") -> Point:
    """Return the vector of exact numbers that an argument stands for.

    Parameters
    ----------
    entries
        The numbers: integers, floats (taken as the dyadic numbers that they are), fractions, or
        texts such as ``"1/3"``, in a sequence or an array.
    size
        The number of entries that is required.
    name
        What the vector is, for the error.

    Returns
    -------
    tuple of Fraction
        The `size` numbers.

    Raises
    ------
    DomainError
        There are more or fewer than `size` entries, or one of them is not an exact number.
    ArgumentError
        The argument is no sequence of numbers.

    Examples
    --------
    >>> as_point([0.5, "1/3"], 2)
    (Fraction(1, 2), Fraction(1, 3))
    """
    numbers = expect_list(entries, name)
    if len(numbers) != size:
        raise DomainError(f"{name} has {len(numbers)} coordinates, not {size}; give one for each")
    try:
        return tuple(map(to_fraction, numbers))
    except NetworkError as error:
        raise DomainError(f"{name}: {error}") from None


def as_points(entries: object, size: int, name: str = "x") -> tuple[list[Point], bool]:
    """Return the exact points that an argument stands for, and whether it is one point.

    Parameters
    ----------
    entries
        A point of shape (size,), or points of shape (k, size): a sequence, an array of numpy or a
        tensor of PyTorch, of numbers as for `as_point`.
    size
        The number of coordinates of each point.
    name
        What the argument is, for the error.

    Returns
    -------
    tuple of list of tuple of Fraction and bool
        The points, and True if the argument had the shape (size,).

    Raises
    ------
    DomainError
        The shape is another one, or an entry is not an exact number.
    ArgumentError
        The argument is neither a sequence nor an array.

    Examples
    --------
    >>> as_points([0.5, "1/3"], 2)
    ([(Fraction(1, 2), Fraction(1, 3))], True)
    >>> len(as_points([[0, 1], [1, 2], [2, 3]], 2)[0])
    3
    """
    try:
        points, is_one = read_points(entries, size, name)
    except NetworkError as error:
        raise DomainError(str(error)) from None
    try:
        return [tuple(map(to_fraction, point)) for point in points], is_one
    except NetworkError as error:
        raise DomainError(f"{name}: {error}") from None
