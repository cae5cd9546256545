"""How much work an answer took."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from polyrelu.support.display import bracketed, count_text

__all__ = ["BoundStatistics", "InjectivityStatistics", "ProofStatistics", "SearchStatistics"]


@dataclass(slots=True, repr=False)
class ProofStatistics:
    """The work that a proof by split trees took, or took so far.

    Attributes
    ----------
    num_nodes, num_leaves
        Number of nodes and of leaves of the trees.
    depth
        Largest depth of a node.
    num_signs
        Number of signs and bounds that were proved in the trees.
    num_programs
        Number of linear programs.
    closed
        Share of the trees that is finished, if every split halves what is left.

    Examples
    --------
    >>> print(ProofStatistics(num_nodes=13, num_leaves=7, depth=3))
    13 nodes, 7 leaves, depth 3, 0 signs, 0 linear programs
    """

    num_nodes: int = 0
    num_leaves: int = 0
    depth: int = 0
    num_signs: int = 0
    num_programs: int = 0
    closed: float = 0.0

    def __str__(self) -> str:
        tree = count_text([(self.num_nodes, "node"), (self.num_leaves, "leaf")])
        found = count_text([(self.num_signs, "sign"), (self.num_programs, "linear program")])
        return f"{tree}, depth {self.depth}, {found}"

    def __repr__(self) -> str:
        return bracketed(f"{type(self).__name__}, {self}")

    def to_json(self) -> dict[str, Any]:
        """Return the entries of the JSON output.

        >>> ProofStatistics(num_nodes=13, num_leaves=7, depth=3).to_json()["nodes"]
        13
        """
        return {
            "nodes": self.num_nodes,
            "leaves": self.num_leaves,
            "depth": self.depth,
            "signs": self.num_signs,
            "programs": self.num_programs,
            "closed": self.closed,
        }


@dataclass(slots=True, repr=False)
class SearchStatistics(ProofStatistics):
    """The work that a question about two networks took.

    Trees are counted for the last attempt, linear programs for all attempts.

    Attributes
    ----------
    num_nodes, num_leaves, depth, num_signs, num_programs, closed
        As in `ProofStatistics`.
    route
        What decided: ``expressions`` (both networks are one expression, once neurons are permuted,
        scaled, flipped, merged, and left out where their signs allow it), ``signs`` (they are,
        after signs were proved by linear programs), ``tree`` (after splits), ``prefix`` (a tree
        over the activations of common first layers), ``bottleneck`` (the canonical positions of two
        networks with two hidden layers), ``points`` (a point that was tried), or ``none``.
    num_points
        Number of points at which both networks were compared.

    Examples
    --------
    >>> print(SearchStatistics(route="points", num_points=3))
    route points: 0 nodes, 0 leaves, depth 0, 0 signs, 0 linear programs, 3 points
    """

    route: str = "none"
    num_points: int = 0

    def __str__(self) -> str:
        points = count_text([(self.num_points, "point")])
        return f"route {self.route}: {ProofStatistics.__str__(self)}, {points}"

    def to_json(self) -> dict[str, Any]:
        """Return the entries of the JSON output, as in `ProofStatistics.to_json`."""
        return ProofStatistics.to_json(self) | {"route": self.route, "points": self.num_points}


@dataclass(slots=True, repr=False)
class InjectivityStatistics(ProofStatistics):
    """The work that a question about injectivity took, or took so far.

    Attributes
    ----------
    num_nodes, num_leaves, depth, num_signs, num_programs, closed
        As in `ProofStatistics`; a linear program asks for a point with prescribed signs.
    num_active
        Least number of neurons that are not negative at a point of the domain, among those that
        the local search tried in the last layer; None if it tried none.

    Examples
    --------
    >>> print(InjectivityStatistics(num_nodes=6, num_leaves=9, depth=1, num_active=7))
    6 nodes, 9 leaves, depth 1, 0 linear programs, at least 7 neurons active where it was tried
    """

    num_active: int | None = None

    def __str__(self) -> str:
        text = (
            f"{self.num_nodes} nodes, {self.num_leaves} leaves, depth {self.depth}, "
            f"{self.num_programs} linear programs"
        )
        if self.num_active is None:
            return text
        return f"{text}, at least {self.num_active} neurons active where it was tried"

    def to_json(self) -> dict[str, Any]:
        """Return the entries of the JSON output, as in `ProofStatistics.to_json`."""
        return ProofStatistics.to_json(self) | {"active": self.num_active}


@dataclass(slots=True, repr=False)
class BoundStatistics(ProofStatistics):
    """The work that bounds of values of networks took, or took so far.

    Attributes
    ----------
    num_nodes, num_leaves, depth, num_signs, num_programs, closed
        As in `ProofStatistics`; for the tree of the certificate.
    num_points
        Number of points at which the networks were evaluated.
    num_boxes
        Number of boxes that were bounded in floats.

    Examples
    --------
    >>> print(BoundStatistics(num_nodes=3, num_leaves=2, num_points=900, num_boxes=3))
    3 boxes bounded in floats, 2 leaves checked in integers, 900 points tried
    >>> print(BoundStatistics(num_nodes=3, num_leaves=2))
    3 nodes, 2 leaves
    """

    num_points: int = 0
    num_boxes: int = 0

    def __str__(self) -> str:
        if not self.num_boxes and not self.num_points:
            return count_text([(self.num_nodes, "node"), (self.num_leaves, "leaf")])
        done = (
            (self.num_boxes, "box", "bounded in floats"),
            (self.num_leaves, "leaf", "checked in integers"),
            (self.num_points, "point", "tried"),
        )
        return ", ".join(f"{count_text([(n, noun)])} {how}" for n, noun, how in done if n)

    def to_json(self) -> dict[str, Any]:
        """Return the entries of the JSON output, as in `ProofStatistics.to_json`."""
        more = {"points": self.num_points, "boxes": self.num_boxes}
        return ProofStatistics.to_json(self) | more
