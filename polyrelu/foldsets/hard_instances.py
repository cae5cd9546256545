"""Networks for which equality with 0 is as hard as finding a clique.

The three-layer paper (arXiv 2605.18319, appendix G.4) argues with a reduction of Froese et al. that
deciding equality is coNP-hard beyond generic bottlenecks. The construction here is our own, with a
short proof. Let a graph have k classes of n vertices. A vertex v = 0, …, n - 1 of class c is the
value x_c = v, and a pair (u, v) of vertices of the classes c < d is the value x_c + n x_d = u +
n v, which names it. Let hat_T(t) = Σ_{s ∈ T} max(0, 1 - |t - s| / w) with w = 1 / (n + 2): hats
around different integers do not overlap. Then

    f(x) = Σ_c hat_{0, …, n-1}(x_c) + Σ_{c<d} hat_{edges}(x_c + n x_d)

is at most N = k + k (k-1)/2. A clique with one vertex of each class gives f(x) = N. Conversely, let
f(x) > N - 1/2. Each of the N hats is at most 1, so each is above 1/2: each x_c is nearer than w / 2
to some vertex v_c, and each x_c + n x_d is nearer than w / 2 to an edge u + n v. Then u + n v and
v_c + n v_d are integers with a distance below (n + 2) w / 2 < 1, hence equal, and u = v_c, v = v_d:
the v_c are a clique. So max(f - N + 1/2, 0) is 0 everywhere iff there is no such clique, and
otherwise reaches 1/2.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from random import Random

from polyrelu.errors import ArgumentError
from polyrelu.network import Network, from_arrays
from polyrelu.support.arguments import expect_count
from polyrelu.support.display import bracketed

__all__ = ["CliqueInstance", "clique_instance", "random_clique_instance"]

#: A vertex: its class and its number in the class.
Vertex = tuple[int, int]


@dataclass(frozen=True, slots=True, repr=False)
class CliqueInstance:
    """A graph with classes of vertices, and a network that is 0 iff it has no clique.

    Attributes
    ----------
    num_classes, class_size
        The number k of classes and the number n of vertices of each.
    edges
        Pairs of vertices of different classes, the smaller class first.
    network
        The network, with k inputs and widths of 3 (number of hats), 1 and 1.

    Examples
    --------
    >>> instance = clique_instance(2, 2, [((0, 0), (1, 1))])
    >>> instance, instance.clique
    (<CliqueInstance, 2 classes of 2, 1 edges, network 2-15-1-1>, (0, 1))
    >>> instance.network(instance.clique), instance.network([0, 0])
    ((Fraction(1, 2),), (Fraction(0, 1),))
    """

    num_classes: int
    class_size: int
    edges: frozenset[tuple[Vertex, Vertex]]
    network: Network

    @property
    def clique(self) -> tuple[int, ...] | None:
        """The first clique with a vertex of each class, by trying all; None if there is none."""
        pairs = list(combinations(range(self.num_classes), 2))
        for chosen in product(range(self.class_size), repeat=self.num_classes):
            if all(((c, chosen[c]), (d, chosen[d])) in self.edges for c, d in pairs):
                return chosen
        return None

    def in_bottleneck(self) -> Network:
        """Return the network behind a projection from as many inputs as it has neurons in layer 1.

        Its first layer is not wider than its input, so it is a bottleneck network; its first layer
        has not full rank, so it is not generic.

        Examples
        --------
        >>> clique_instance(2, 1, [((0, 0), (1, 0))]).in_bottleneck().widths
        (9, 9, 1, 1)
        """
        first = self.network.layers[0]
        padding = first.width - self.num_classes
        weight = [[*row, *[0] * padding] for row in first.weight.rows()]
        rest = [(layer.weight, layer.bias) for layer in self.network.layers[1:]]
        return from_arrays([(weight, first.bias), *rest])

    def __repr__(self) -> str:
        return bracketed(
            f"CliqueInstance, {self.num_classes} classes of {self.class_size}, "
            f"{len(self.edges)} edges, network {self.network.architecture}"
        )


def clique_instance(
    num_classes: int, class_size: int, edges: Iterable[tuple[Vertex, Vertex]]
) -> CliqueInstance:
    """Make a network that is 0 everywhere iff a graph has no clique with a vertex of each class.

    Parameters
    ----------
    num_classes
        The number k ≥ 2 of classes, which is the number of inputs.
    class_size
        The number n ≥ 1 of vertices of each class.
    edges
        Pairs of vertices, each a class and a number in it.

    Returns
    -------
    CliqueInstance
        The network, whose maximum is 1/2 if there is such a clique and 0 otherwise.

    Raises
    ------
    ArgumentError
        A vertex does not exist, or an edge joins vertices of one class.

    Notes
    -----
    Source: the three-layer paper (arXiv 2605.18319), appendix G.4, with a construction of our own.

    Examples
    --------
    >>> triangle = [((0, 0), (1, 0)), ((0, 0), (2, 0)), ((1, 0), (2, 0))]
    >>> clique_instance(3, 1, triangle).clique, clique_instance(3, 1, triangle[:2]).clique
    ((0, 0, 0), None)
    """
    k, n = expect_count(num_classes, "num_classes", 2), expect_count(class_size, "class_size", 1)
    chosen = frozenset(_edge(edge, k, n) for edge in edges)
    rows: list[tuple[list[int], Fraction]] = []
    weights: list[int] = []
    hats = [([int(c == i) for i in range(k)], list(range(n))) for c in range(k)]
    for c, d in combinations(range(k), 2):
        tops = [u + n * v for (e, u), (f, v) in chosen if (e, f) == (c, d)]
        hats.append(([1 if i == c else n if i == d else 0 for i in range(k)], sorted(tops)))
    scale = n + 2
    for direction, tops in hats:
        for top in tops:
            # max(0, 1 - |t - s| scale) by its three kinks, for t = direction·x and s = top.
            for shift, weight in ((1, 1), (0, -2), (-1, 1)):
                rows.append(([scale * a for a in direction], Fraction(shift - scale * top)))
                weights.append(weight)
    bound = Fraction(1, 2) - len(hats)
    layers = [([row for row, _ in rows], [bias for _, bias in rows]), ([weights], [bound])]
    return CliqueInstance(k, n, chosen, from_arrays([*layers, ([[1]], [0])]))


def random_clique_instance(
    num_classes: int, class_size: int, density: float, *, seed: int = 0
) -> CliqueInstance:
    """Make the network of a random graph.

    Parameters
    ----------
    num_classes, class_size
        The numbers of classes and of vertices of each, as for `clique_instance`.
    density
        The probability of each edge, from 0 to 1.
    seed
        Different seeds give different graphs.

    Returns
    -------
    CliqueInstance
        The network.

    Examples
    --------
    >>> random_clique_instance(3, 2, 0.5, seed=1)
    <CliqueInstance, 3 classes of 2, 7 edges, network 3-39-1-1>
    """
    rng = Random(expect_count(seed, "seed"))
    vertices = product(range(num_classes), range(class_size))
    pairs = [(one, other) for one, other in combinations(vertices, 2) if one[0] < other[0]]
    return clique_instance(
        num_classes, class_size, [pair for pair in pairs if rng.random() < density]
    )


def _edge(edge: tuple[Vertex, Vertex], k: int, n: int) -> tuple[Vertex, Vertex]:
    """An edge with the smaller class first, if its vertices exist."""
    one, other = sorted(tuple(map(int, vertex)) for vertex in edge)
    for vertex in (one, other):
        if len(vertex) != 2 or not (0 <= vertex[0] < k and 0 <= vertex[1] < n):
            raise ArgumentError(f"edges: there is no vertex {vertex} in {k} classes of {n}")
    if one[0] == other[0]:
        raise ArgumentError(f"edges: {one} and {other} are in one class")
    return (one[0], one[1]), (other[0], other[1])
