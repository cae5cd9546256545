"""Answers to questions on sizes: of all networks with one function, and of its tangent space."""

from __future__ import annotations

from dataclasses import dataclass

from polyrelu.certificate import Certificate, DimensionClaim, Quantity, SizeClaim, size_text
from polyrelu.network import Network
from polyrelu.outcomes.answers import Proved

__all__ = ["DimensionBound", "SizeBound", "dimension_lines"]


@dataclass(frozen=True, slots=True, repr=False)
class SizeBound(Proved[Certificate]):
    """Every network with the same function has at least some size.

    Attributes
    ----------
    certificate
        The certificate that says why.
    next
        What to try next, the most promising first; empty if there is nothing to suggest.

    Examples
    --------
    >>> import polyrelu
    >>> absolute = polyrelu.from_arrays([([[1], [-1]], [0, 0]), ([[1, 1]], [0])])
    >>> bound = polyrelu.proofs.size_bound(absolute)
    >>> bound.at_least, bound.is_reached
    (1, True)
    """

    @property
    def at_least(self) -> int:
        """The bound."""
        return self._claim.at_least

    @property
    def own_size(self) -> int | None:
        """The size of the network itself; None for the neurons of its layer if it has several."""
        return _size_of(self._claim.network, self._claim.quantity)

    @property
    def is_reached(self) -> bool:
        """Whether the network itself has no more, so that it is as small as possible."""
        return self.own_size == self.at_least

    @property
    def _claim(self) -> SizeClaim:
        claim = self.certificate.claim
        assert isinstance(claim, SizeClaim)
        return claim

    def _remarks(self) -> list[str]:
        if self.own_size is None:
            return []
        own = size_text(self._claim.quantity, self.own_size)
        end = ", so that it is as small as possible" if self.is_reached else ""
        return [f"The network itself has {own}{end}."]


@dataclass(frozen=True, slots=True, repr=False)
class DimensionBound(Proved[Certificate]):
    """The functional dimension of a network lies between two bounds.

    Attributes
    ----------
    certificate
        The certificate that says why.
    next
        What to try next, the most promising first; empty if there is nothing to suggest.

    Examples
    --------
    >>> import polyrelu
    >>> net = polyrelu.from_arrays([([[1, 2], [3, -1]], [1, 1]), ([[1, 1]], [0])])
    >>> bound = polyrelu.proofs.certify_functional_dimension(net)
    >>> bound.at_least, bound.at_most
    (7, 7)
    """

    @property
    def at_least(self) -> int:
        """The lower bound, the rank of the listed rows."""
        return self._claim.at_least

    @property
    def at_most(self) -> int:
        """The upper bound: the number of parameters without the directions of scalings."""
        return self._claim.at_most

    @property
    def _claim(self) -> DimensionClaim:
        claim = self.certificate.claim
        assert isinstance(claim, DimensionClaim)
        return claim


def dimension_lines(bound: DimensionBound | None) -> list[str]:
    """Return what an answer says about the functional dimension, if that was asked for."""
    if bound is None:
        return []
    number = bound.certificate.claim.network.num_parameters
    if bound.at_least == bound.at_most:
        end = "nothing but positive scalings keeps the function to first order"
        return [f"functional dimension: {bound.at_least} of {number} parameters; {end}"]
    bounds = f"between {bound.at_least} and {bound.at_most} of {number} parameters"
    return [f"functional dimension: {bounds}, by a rank at some points and by the scalings"]


def _size_of(network: Network, quantity: Quantity) -> int | None:
    """The size of a network; None for the neurons of one layer if it has several."""
    if quantity == "hidden-layers":
        return network.num_hidden_layers
    if quantity == "neurons-of-one-layer" and network.num_hidden_layers != 1:
        return None
    return len(network.neurons)
