"""Networks of any architecture that their function determines, each with a proof by Theorem D.

Layers are drawn one after the other. A hidden neuron has random integers as weights and a bias near
minus the median of its linear part at random points, so that its bent hyperplane passes through the
middle of the points and crosses many neurons of the layer before. A layer is kept if Theorem D
proves the network so far, with a random output; otherwise it is drawn again, and after some draws
the layer before is given up as well.

That such networks exist whenever the inputs and all hidden layers have at least two neurons, and
are an open set of parameters, is a theorem of Grillo and Montúfar (2026, arXiv 2605.03601).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random

from polyrelu.errors import DomainError, NetworkError
from polyrelu.exact import dot
from polyrelu.network import Network, from_arrays
from polyrelu.outcomes import Identifiable
from polyrelu.proofs.deep.prover import obstruction
from polyrelu.proofs.deep.search import DeepSearch
from polyrelu.proofs.identify import identify
from polyrelu.support.arguments import expect_count, expect_list

__all__ = ["identifiable_network"]

#: A layer: rows of weights, and biases.
Layer = tuple[list[list[Fraction]], list[Fraction]]


@dataclass(frozen=True, slots=True)
class DrawingSettings:
    """How networks are drawn.

    Attributes
    ----------
    budget
        Units of work for the ridges of each draw, times the number of its layers.
    num_points
        Number of random points, whose medians give the biases.
    weight
        Weights of hidden neurons are integers from 2 up to this number, with signs.
    shares
        The bias is at a share of the sorted values between these two.
    draws_per_layer
        Number of draws of a layer after which the layer before is given up.
    max_draws
        Maximum number of draws.
    """

    budget: int = 150
    num_points: int = 61
    weight: int = 99
    shares: tuple[float, float] = (0.3, 0.7)
    draws_per_layer: int = 12
    max_draws: int = 2_000


SETTINGS = DrawingSettings()


def identifiable_network(widths: Sequence[int], *, seed: int = 0) -> Identifiable:
    """Construct a network that its function determines among transversal parameters.

    Parameters
    ----------
    widths
        The widths n_0, …, n_L, at least one hidden layer; n_0 and all hidden widths are at least 2.
    seed
        Different seeds give different networks.

    Returns
    -------
    Identifiable
        The proof, whose claim has the network: every transversal parameter of the same widths with
        the same function on R^n is equal to it up to permuting and positively scaling hidden
        neurons. No masked product was found that excludes the network itself from this class;
        `membership` says whether it is verified to be in it.

    Raises
    ------
    NetworkError
        The widths are not of this form.
    DomainError
        No network was found.

    Notes
    -----
    Proof: docs/theory/deep.md.

    Examples
    --------
    >>> made = identifiable_network((2, 3, 2, 1))
    >>> made.certificate.claim.network.widths, made.theorem
    ((2, 3, 2, 1), 'deep')
    """
    found = tuple(expect_count(width, "widths", 1) for width in expect_list(widths, "widths"))
    if len(found) < 3 or min(found[:-1]) < 2:
        raise NetworkError(
            "widths: expected n_0, …, n_L with a hidden layer, all but n_L at least 2, such as "
            "(2, 3, 2, 1)"
        )
    return _Drawing(found, Random(expect_count(seed, "seed"))).network()


class _Drawing:
    """The layers so far, and the activations of some points after each of them."""

    def __init__(self, widths: tuple[int, ...], rng: Random) -> None:
        self.widths, self.rng = widths, rng
        self.layers: list[Layer] = []
        self.values = [
            [
                [Fraction(rng.randint(-64, 64), 16) for _ in range(widths[0])]
                for _ in range(SETTINGS.num_points)
            ]
        ]

    def network(self) -> Identifiable:
        """Draw layers until the network is whole and proved."""
        failures = [0] * len(self.widths)
        for _ in range(SETTINGS.max_draws):
            number = len(self.layers)
            layer = self._layer(self.widths[number + 1])
            is_last = number == len(self.widths) - 3
            network = self._with_output(layer, self.widths[-1] if is_last else 1)
            if not self._is_determined(network):
                failures[number] += 1
                if self.layers and failures[number] % SETTINGS.draws_per_layer == 0:
                    self.layers.pop()
                    self.values.pop()
            elif not is_last:
                self.layers.append(layer)
                self.values.append(_activations(layer, self.values[-1]))
            else:
                outcome = identify(network, among="transversal")
                # Otherwise nobody in the class, the network included, computes its function.
                if isinstance(outcome, Identifiable) and outcome.membership != "refuted":
                    return outcome
        raise DomainError(
            f"no network was found in {SETTINGS.max_draws} draws; choose another seed"
        )

    def _layer(self, width: int) -> Layer:
        """A random layer whose neurons change their signs in the middle of the points."""
        rows = [[self._weight() for _ in self.values[-1][0]] for _ in range(width)]
        biases = list[Fraction]()
        for row in rows:
            values = sorted(dot(row, point) for point in self.values[-1])
            middle = values[int(self.rng.uniform(*SETTINGS.shares) * len(values))]
            biases.append(-Fraction(2 * round(middle) + 1, 2))
        return rows, biases

    def _weight(self) -> Fraction:
        return Fraction(self.rng.choice((-1, 1)) * self.rng.randint(2, SETTINGS.weight))

    def _with_output(self, layer: Layer, num_outputs: int) -> Network:
        """The layers so far, one more, and a random output."""
        rows = [[self._weight() for _ in layer[0]] for _ in range(num_outputs)]
        return from_arrays([*self.layers, layer, (rows, [Fraction(0)] * num_outputs)])

    def _is_determined(self, network: Network) -> bool:
        """Whether a short search for ridges is enough for Theorem D."""
        if obstruction(network) is not None:
            return False
        search = DeepSearch(network, self.rng.randrange(2**16))
        search.run(SETTINGS.budget * network.num_hidden_layers)
        return search.hypotheses.hold


def _activations(layer: Layer, points: list[list[Fraction]]) -> list[list[Fraction]]:
    """The activations of a layer at some points."""
    pairs = list(zip(*layer, strict=True))
    return [[max(dot(row, x) + b, Fraction(0)) for row, b in pairs] for x in points]
