"""Smaller networks with the same function, and a proof that none has fewer neurons or layers."""

from __future__ import annotations

from dataclasses import dataclass

from polyrelu.certificate import Quantity
from polyrelu.formats import DomainLike, NetworkLike, as_imported
from polyrelu.network import Network
from polyrelu.outcomes import SizeBound, Undecided
from polyrelu.proofs.simplification import Simplified, simplify
from polyrelu.proofs.sizes import SETTINGS, size_bound
from polyrelu.support.arguments import expect_count
from polyrelu.support.display import bracketed

__all__ = ["MinimalNetwork", "minimal_network"]


@dataclass(frozen=True, slots=True, repr=False)
class MinimalNetwork:
    """A simplified network with a lower bound on the size of all networks with its function.

    Attributes
    ----------
    simplified
        The smaller network, with the proof that it is equivalent to the given one.
    bound
        The bound: on the neurons of networks with one hidden layer if it has one, otherwise on the
        number of hidden layers.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [2, 0], [0, 1], [0, 0]], [0, 0, 1, 5]), ([[1, 1, 2, 3]], [0])])
    >>> found = minimal_network(net)
    >>> found, found.network.widths
    (<MinimalNetwork 2-2-1, minimal>, (2, 2, 1))
    """

    simplified: Simplified
    bound: SizeBound | Undecided

    @property
    def network(self) -> Network:
        """The smaller network."""
        return self.simplified.network

    @property
    def is_minimal(self) -> bool:
        """Whether the bound is reached: no network of the kind that it is about is smaller."""
        return isinstance(self.bound, SizeBound) and self.bound.is_reached

    def __repr__(self) -> str:
        end = "minimal" if self.is_minimal else "perhaps not minimal"
        return bracketed(f"MinimalNetwork {self.network.architecture}, {end}")

    def __str__(self) -> str:
        return f"{self.simplified}\n{self.bound}"


def minimal_network(
    network: NetworkLike,
    domain: DomainLike = None,
    *,
    seed: int = 0,
    budget: float | None = None,
) -> MinimalNetwork:
    """Leave out neurons, and prove how small every network with the same function is at least.

    Parameters
    ----------
    network
        A plain stack, or what `polyrelu.load` takes.
    domain
        Where the function stays: R^n by default, or a domain with interior.
    seed
        Seed of both searches.
    budget
        Units of work, of about a millisecond, for each of both; None for their own defaults.

    Returns
    -------
    MinimalNetwork
        The smaller network with both certificates. With one hidden layer it is minimal if each of
        its neurons bends the function on a hyperplane of its own; with several, if the bound on the
        number of hidden layers is reached, whatever the widths.

    Raises
    ------
    NetworkError
        The network has skip connections.
    DomainError
        The domain has no interior, or lies in another space.

    Notes
    -----
    Proofs: docs/theory/equivalence.md and docs/theory/minimality.md. A minimal network need not be
    identifiable.

    Examples
    --------
    >>> import polyrelu
    >>> found = minimal_network(polyrelu.load("example:hidden"))
    >>> found.is_minimal, polyrelu.identify(found.network).status
    (True, 'refuted')
    """
    read = as_imported(network)
    seed = expect_count(seed, "seed")
    simplified = simplify(read, domain, seed=seed, budget=budget)
    small = simplified.network
    quantity: Quantity = "neurons-of-one-layer" if small.num_hidden_layers == 1 else "hidden-layers"
    work = SETTINGS.budget if budget is None else budget
    bound = size_bound(small, quantity, domain, seed=seed, budget=work)
    return MinimalNetwork(simplified, bound)
