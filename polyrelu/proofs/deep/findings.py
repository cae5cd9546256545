"""What a search for ridges has found: ridges, pieces and planes, and where they are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from polyrelu.exact import Polyhedron
from polyrelu.proofs.deep.families import Families
from polyrelu.proofs.deep.planes import Location, Planes
from polyrelu.proofs.deep.ridges import DeepNetwork, Piece, Ridge
from polyrelu.proofs.interior import ExactWalls, Interior
from polyrelu.support.typing import Floats

__all__ = ["Findings"]


class Findings:
    """The ridges that a search has found so far; more can be added at any time.

    Parameters
    ----------
    deep_network
        The network.
    interior
        The domain of the search; None for R^n.

    Attributes
    ----------
    ridges
        The ridges, each with the location where a walk met it.
    planes
        The planes in which there were walks.
    families
        The families of the pieces at the ridges.
    first_piece
        For each neuron number with a piece, the first one that was found.
    walks, walks_at_last_ridge
        Number of walks so far, and when the last new ridge was found.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from polyrelu.network import from_arrays
    >>> from polyrelu.proofs.deep.planes import Plane
    >>> from polyrelu.proofs.deep.ridges import ridge_at
    >>> first, second = ([[1, 0], [0, 1]], [0, 0]), ([[1, -1], [1, 1]], [1, -2])
    >>> net = DeepNetwork.of(from_arrays([first, second, ([[1, 2]], [0])]))
    >>> findings = Findings(net)
    >>> number = findings.planes.add(Plane((Fraction(0), Fraction(1)), ((1, 0), (0, 1))))
    >>> findings.add(ridge_at(net, [0, 1]), Location(number, 0.0, 0.0))
    >>> sorted(findings.first_piece)
    [0, 2]
    """

    def __init__(self, deep_network: DeepNetwork, interior: Interior | None = None) -> None:
        self.deep_network = deep_network
        self.ridges: dict[Ridge, Location] = {}
        self.planes = Planes(deep_network, interior)
        self.families = Families(deep_network)
        self.first_piece: dict[int, Piece] = {}
        self.walks = self.walks_at_last_ridge = 0
        self._locations: dict[Piece, Location] = {}
        self._steps_up: defaultdict[int, list[Ridge]] = defaultdict(list)

    def add(self, ridge: Ridge, location: Location) -> None:
        """Add a ridge with the location where it was met, unless the ridge is known."""
        if ridge in self.ridges:
            return
        self.ridges[ridge] = location
        self.families.add(ridge)
        self.walks_at_last_ridge = self.walks
        for piece in ridge.pieces:
            self._locations.setdefault(piece, location)
            self.first_piece.setdefault(piece.neuron, piece)
        if self.leads_up(ridge):
            self._steps_up[ridge.u].append(ridge)

    def relocate(self, piece: Piece, location: Location) -> None:
        """Replace the location of a piece, known or not, by a better one."""
        self._locations[piece] = location

    def near(self, piece: Piece) -> Floats:
        """Return an approximate point on a known piece."""
        return self.planes.near(self._locations[piece])

    def leads_up(self, ridge: Ridge) -> bool:
        """Return whether a good ridge joins neurons of two successive layers."""
        layer_of = self.deep_network.layer_of
        return ridge.kind in ("B", "C") and layer_of[ridge.v] == layer_of[ridge.u] + 1

    def steps_up(self, neuron: int) -> list[Ridge]:
        """Return the ridges that lead up from a neuron."""
        return self._steps_up[neuron]

    def is_met_by_its_plane(self, ridge: Ridge) -> bool:
        """Return whether the plane stored for a known ridge meets this ridge, exactly."""
        return self.planes.ridge_point(self.ridges[ridge].plane, ridge) is not None

    def outside(self, domain: Polyhedron, ridges: Iterable[Ridge]) -> list[Ridge]:
        """Return the given known ridges whose point is not inside a domain, exactly."""
        walls, found = ExactWalls(domain), list[Ridge]()
        for ridge in ridges:
            number = self.ridges[ridge].plane
            point = self.planes.ridge_point(number, ridge)
            if point is None or not walls.has_inside(self.planes.slice(number).embed(point)):
                found.append(ridge)
        return found
