"""Networks with fewer neurons and the same function, with a proof that it is the same.

`simplify` makes the steps of `neuron_removal`, with signs of neurons on the domain from
`trees.root_signs` and guesses of further signs, and then proves the result to be equal to the given
network (`removal_proof`). The proof does not rely on the steps. Should it fail within its limits,
the steps are made again without the guess that failed, or with fewer means, down to none. All
limits count work and none is a time, so the same network gives the same result. Each attempt gets a
share of the budget that is left, and the last one, without any means, needs none.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from itertools import product

from polyrelu.certificate import NodeRecord, PairClaim, TreeCertificate, TreeLog
from polyrelu.errors import DomainError
from polyrelu.exact import Polyhedron, RationalMatrix
from polyrelu.fibers import smallest_layer
from polyrelu.formats import DomainLike, NetworkLike, as_domain, as_imported
from polyrelu.network import Network, NeuronId, from_arrays
from polyrelu.outcomes import Equivalent, NotEquivalent, SearchStatistics
from polyrelu.proofs.equivalence.prover import equivalent_within
from polyrelu.proofs.neuron_removal import Removal, layer_fiber_if_affordable
from polyrelu.proofs.provenance import with_sources
from polyrelu.proofs.refutations.one_sided import one_sided_neurons
from polyrelu.proofs.refutations.sampled_candidates import sampled_candidates
from polyrelu.proofs.removal_proof import RemovalProof, guessed_signs, prove_by_signs
from polyrelu.proofs.trees.atoms import Neuron
from polyrelu.proofs.trees.expressions import JointNetwork
from polyrelu.proofs.trees.node_polyhedron import DomainCoordinates
from polyrelu.proofs.trees.root_signs import root_signs
from polyrelu.proofs.trees.sign_tree import SignNotProved
from polyrelu.support.arguments import expect_count, expect_function
from polyrelu.support.budget import Budget, WorkLimit
from polyrelu.support.display import bracketed, count_text
from polyrelu.support.limits import LINE_LIMIT
from polyrelu.support.prices import price_of_samples
from polyrelu.support.progress import Progress
from polyrelu.symmetry import LayerDomain
from polyrelu.version import __version__

__all__ = ["Simplified", "has_visible_redundancy", "is_removable", "simplify"]


@dataclass(frozen=True, slots=True)
class SimplificationSettings:
    """Limits of the proofs.

    Attributes
    ----------
    share
        Share of the work that is left for an attempt, and of the work of an attempt for signs; the
        rest is for the proof, and for later attempts.
    max_products
        Maximum number of products in a proof by signs; the search for signs has fewer, so that what
        it finds can be proved.
    max_nodes
        Maximum number of nodes of a split tree, which is tried where signs are not enough.
    max_table
        Maximum product of coordinates and atoms for which a split tree is tried.
    max_inputs
        Maximum number of inputs with which a domain is used to write layer 1 with other neurons.
    max_neurons
        Maximum number of hidden neurons and outputs up to which valid inequalities are derived.
    max_parameters
        Maximum number of parameters of a network that is searched for neurons only to say so.
    advice
        Units of work of such a search.
    """

    share: float = 0.5
    max_products: int = 16_000_000
    max_nodes: int = 1024
    max_table: int = 2_000
    max_inputs: int = 16
    max_neurons: int = 64
    max_parameters: int = 100_000
    advice: float = 2_000


SETTINGS = SimplificationSettings()


class _Means(Enum):
    """How signs of neurons are found: not at all, by bounds, or by guesses as well.

    Guesses come from sample points or valid inequalities, and the proof by a tree may fail.
    """

    NONE = 0
    SIGNS = 1
    GUESSES = 2


@dataclass(frozen=True, slots=True, repr=False)
class Simplified:
    """A network with the same function on the domain, and no more neurons; `simplify` returns it.

    Attributes
    ----------
    network
        The network.
    removed
        The hidden neurons of the given network that are left out, each with a sentence that says
        why. The number of neurons falls by as many.
    outcome
        The proof that both networks have the same function on the domain, with its certificate.
    is_smallest
        True: no network with one hidden layer and fewer hidden neurons has the function. That is
        asked for R^n and networks with at most one hidden layer and an affine output, and it is
        True for every network without hidden neurons. False: a smaller one exists, but its numbers
        are longer than network files allow, or its proof is. None: it is not known, or not asked.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> small = simplify(from_arrays([([[1], [2]], [0, 0]), ([[3, -1]], [0])]))
    >>> small.network.widths, small.is_smallest
    ((1, 1, 1), True)
    """

    network: Network
    removed: tuple[tuple[NeuronId, str], ...]
    outcome: Equivalent
    is_smallest: bool | None

    def __repr__(self) -> str:
        count = count_text([(len(self.removed), "neuron")])
        return bracketed(f"Simplified: {count} removed, {self.network}")

    def __str__(self) -> str:
        lines = [reason for _, reason in self.removed]
        smallest = {
            True: "no network with one hidden layer and fewer neurons has this function (proved)",
            False: "a smaller network with one hidden layer exists, but it could not be written",
            None: "whether a smaller network has this function is open",
        }[self.is_smallest]
        lines.append(f"{count_text([(len(lines), 'neuron')])} removed: {self.network}")
        return "\n".join([*lines, smallest])


def simplify(
    network: NetworkLike,
    domain: DomainLike = None,
    *,
    seed: int = 0,
    budget: float | None = None,
    progress: Progress | None = None,
) -> Simplified:
    """Leave out neurons of all layers that the function does not need, and prove that it stays.

    Neurons go that are unused, dead, constant, or equal to others up to a positive factor; linear
    neurons go where other linear neurons of the layer can take their part, or where a whole layer
    is linear and can be multiplied into the next one. A layer goes with its last neuron: a network
    whose neurons all go is affine, with no hidden layer. Weights are changed only as far as the
    removed neurons ask for.

    Parameters
    ----------
    network
        A plain stack, or what `polyrelu.load` takes.
    domain
        Where the function stays, any nonempty polyhedron or its text; R^n by default. Neurons that
        are dead or linear there count as such.
    seed
        Seed of the points at which neurons are seen to be dead or linear, and of those that a proof
        by a split tree tries.
    budget
        Units of work, of about a millisecond, for all searches for signs and proofs together;
        no limit by default. With less work fewer neurons may be removed.
    progress
        Called with a `ProgressStep` after each node of a proof by split trees.

    Returns
    -------
    Simplified
        The network, what was removed and why, and the proof. A network that cannot be simplified
        comes back as it is, with a proof.

    Raises
    ------
    NetworkError
        Connections skip layers.
    DomainError
        The domain is empty or has another dimension.

    Notes
    -----
    The size of a network is the number of its hidden neurons. Where a layer is multiplied into the
    next one, the product may have more weights than both layers.

    Examples
    --------
    A dead neuron, one that is twice another, and a linear one in the second layer:

    >>> from polyrelu.network import from_arrays
    >>> first = [[1, 0], [0, 1], [2, 0]], [0, -1, 0]
    >>> second = [[-1, -1, -1], [1, -2, 0], [1, 1, 0], [0, 2, 1]], [0, 1, 0, 0]
    >>> net = from_arrays([first, second, ([[5, 1, 1, 2]], [0])])
    >>> small = simplify(net)
    >>> small.network.widths, small.outcome.status
    ((2, 2, 2, 1), 'proved')
    >>> small.removed[1][1]
    'neuron 0 of layer 2: it is dead: its preactivation is never positive on R^n'
    """
    read, seed = as_imported(network), expect_count(seed, "seed")
    expect_function(progress, "progress")
    found = _smaller(read.network, domain, seed, Budget(budget), progress)
    return replace(found, outcome=with_sources(found.outcome, read))


def _smaller(
    network: Network, domain: DomainLike, seed: int, budget: Budget, progress: Progress | None
) -> Simplified:
    """Leave out what can be left out with one of several means, the first that can be proved."""
    network.require_plain()
    polyhedron = None if domain is None else as_domain(domain, network.num_inputs)
    question = _Simplification(network, polyhedron, seed, budget, progress)
    tried = set[Network]()
    for means, rewrite in product((_Means.GUESSES, _Means.SIGNS, _Means.NONE), (True, False)):
        while (found := question.attempt(means, rewrite)).network not in tried:
            tried.add(found.network)
            if (outcome := question.prove(found.network)) is not None:
                smallest = question.is_smallest(found.network)
                return Simplified(found.network, found.reasons(), outcome, smallest)
    if (outcome := question.prove(network)) is None:
        raise AssertionError("the expression of a network is equal to itself")
    return Simplified(network, (), outcome, question.is_smallest(network))


def has_visible_redundancy(network: Network) -> bool:
    """Return whether `simplify` removes neurons of a plain stack, by bounds on R^n at most.

    Large networks are not looked at.
    """
    if network.num_parameters > SETTINGS.max_parameters:
        return False
    question = _Simplification(network, None, 0, Budget(SETTINGS.advice))
    return bool(question.attempt(_Means.SIGNS, False).removed)


def is_removable(network: Network, neuron: NeuronId, sign: int) -> bool:
    """Return whether `simplify` removes neurons of a plain stack because a neuron has a sign.

    Parameters
    ----------
    network
        The network.
    neuron, sign
        A hidden neuron, and the sign of its preactivation on R^n, which was proved.
    """
    if has_visible_redundancy(network):
        return True
    # the tree of a dead neuron of layer 2 is complete: it fails only by its size
    if neuron.layer == 2 and sign < 0:
        return neuron in guessed_signs(network, network.num_inputs, 0, Budget())
    is_small = sum(network.widths[1:]) <= SETTINGS.max_neurons
    return is_small and bool(simplify(network, budget=SETTINGS.advice).removed)


class _Simplification:
    """A network on a domain."""

    def __init__(
        self,
        network: Network,
        domain: Polyhedron | None,
        seed: int,
        budget: Budget,
        progress: Progress | None = None,
    ) -> None:
        size = network.num_inputs
        polyhedron = Polyhedron.universe(size) if domain is None else domain
        if polyhedron.ambient_dimension != size:
            raise DomainError(
                f"the domain lies in R^{polyhedron.ambient_dimension}, but the network has "
                f"{size} inputs"
            )
        self._network, self._domain, self._seed = network, polyhedron, seed
        self._whole, self._budget = budget, budget
        self._coordinates = DomainCoordinates.of(polyhedron)
        self._progress = progress
        self._guesses = dict[NeuronId, int]()
        self._refused = set[NeuronId]()

    @cached_property
    def _start(self) -> Removal:
        """The network after all steps without proofs of signs and without other neurons."""
        place = "R^n" if self._coordinates.is_whole_space else "the domain"
        found = Removal.of(self._network, self._space(), place)
        found.remove_visible(False)
        return found

    def attempt(self, means: _Means, rewrite: bool) -> Removal:
        """Return the network after all steps with the given means.

        Its budget is a share of the work that is left; a proof of the same attempt pays from it.
        """
        self._budget = self._whole.trial(SETTINGS.share)
        found = self._start.copy()
        found.budget = self._budget
        self._guesses.clear()
        while found.remove_signed(self._signs(found, means)):
            found.remove_visible(False)
        if rewrite:
            found.remove_visible(True)
        return found

    def _space(self) -> LayerDomain | None:
        """Return the inputs of layer 1, if they have an interior and few coordinates."""
        if self._coordinates.is_whole_space:
            return LayerDomain.whole_space(self._network.num_inputs)
        if self._coordinates.domain.equations or self._network.num_inputs > SETTINGS.max_inputs:
            return None
        return LayerDomain.of(self._domain)

    def _signs(self, removal: Removal, means: _Means) -> dict[NeuronId, int]:
        """Return the signs of hidden neurons on the domain that are found by the given means."""
        if means is _Means.NONE:
            return {}
        network, budget = removal.network, self._budget.trial(SETTINGS.share)
        weight = RationalMatrix.zeros(network.num_outputs, network.num_inputs)
        zero = from_arrays([(weight, RationalMatrix.zeros(network.num_outputs, 1))])
        joint = JointNetwork(network, zero, self._coordinates.inputs)
        found = root_signs(joint, self._coordinates, budget=budget).signs
        signs = {
            NeuronId(neuron.layer, neuron.index_in_layer): sign for neuron, sign in found.items()
        }
        if means is _Means.GUESSES:
            with contextlib.suppress(WorkLimit):
                signs |= self._guessed(removal, signs, budget)
        return signs

    def _guessed(
        self, removal: Removal, known: Mapping[NeuronId, int], budget: Budget
    ) -> dict[NeuronId, int]:
        """Return signs of further neurons of the present network that may have a proof.

        They are kept by the names of the neurons, without those that had no proof before.
        """
        network, dimension = removal.network, self._coordinates.dimension
        guesses = guessed_signs(network, dimension, self._seed, budget)
        guesses |= self._signs_by_inequalities(network, budget)
        found = {}
        for neuron, sign in guesses.items():
            name = removal.names[neuron.layer - 1][neuron.index]
            if neuron not in known and name not in self._refused:
                found[neuron] = self._guesses[name] = sign
        return found

    def _signs_by_inequalities(self, network: Network, budget: Budget) -> dict[NeuronId, int]:
        """Return the signs that follow from valid inequalities of the layers before."""
        if network.depth < 3 or sum(network.widths[1:]) > SETTINGS.max_neurons:
            return {}
        budget.spend(price_of_samples(network.num_parameters))
        candidates = [c for c in sampled_candidates(network, self._seed) if c.guard is None]
        proved = one_sided_neurons(network, candidates, budget=budget, seed=self._seed)
        return {candidate.neuron: candidate.sign for candidate in proved}

    def prove(self, other: Network) -> Equivalent | None:
        """Prove that another network is equal to the given one, within the limits."""
        try:
            return self._prove(other)
        except WorkLimit:
            return None

    def _prove(self, other: Network) -> Equivalent | None:
        joint = JointNetwork(self._network, other, self._coordinates.inputs)
        record = NodeRecord([], None)
        if joint.difference:
            most, budget = SETTINGS.max_products, self._budget
            found = root_signs(joint, self._coordinates, most, budget).record
            if found is None:
                proved = self._by_sign_trees(joint, other)
                return self._by_tree(joint, other) if proved is None else proved
            record = found
        log = TreeLog()
        log.add(record)
        if log.longest > LINE_LIMIT:
            return None
        signs = sum(map(len, record.rounds))
        work = SearchStatistics(1, 1, num_signs=signs, closed=1.0, route="expressions")
        if signs:
            work.route = "signs"
        return self._proved(other, RemovalProof(log, (), work))

    def _proved(self, other: Network, proof: RemovalProof) -> Equivalent:
        claim = PairClaim("equivalent", self._network, other, self._coordinates.domain)
        unverified = {"tool": f"polyrelu {__version__}"}
        inside = self._coordinates.inside
        return Equivalent(
            TreeCertificate(claim, inside, proof.log, (), proof.parts, unverified), proof.work
        )

    def _by_sign_trees(self, joint: JointNetwork, other: Network) -> Equivalent | None:
        """Prove the equality by trees for the guessed signs, or refuse the guess that failed."""
        if not self._guesses:
            return None
        signs = {Neuron(0, n.layer, n.index): sign for n, sign in self._guesses.items()}
        if 1 in signs.values():  # neurons of the other network are sums of linear ones
            joined = guessed_signs(other, self._coordinates.dimension, self._seed, self._budget)
            signs |= {Neuron(1, n.layer, n.index): sign for n, sign in joined.items()}
        try:
            proof = prove_by_signs(joint, self._coordinates, signs, self._budget, self._progress)
        except SignNotProved as failure:
            self._refuse(joint, failure.symbol)
            return None
        return self._proved(other, proof)

    def _refuse(self, joint: JointNetwork, symbol: int | None) -> None:
        """Leave out the guess about an atom from now on; without an atom, all guesses."""
        neurons = (atom.neuron for atom in joint.atoms if atom.symbol == symbol)
        wrong = {NeuronId(n.layer, n.index_in_layer) for n in neurons if n.network == 0}
        self._refused |= wrong & self._guesses.keys() or self._guesses.keys()

    def _by_tree(self, joint: JointNetwork, other: Network) -> Equivalent | None:
        if joint.dimension * len(joint.atoms) > SETTINGS.max_table:
            return None
        answer = equivalent_within(
            self._network, other, self._domain, self._seed, SETTINGS.max_nodes, self._budget
        )
        if isinstance(answer, NotEquivalent) and not self._guesses:
            raise AssertionError(f"a step of simplify changed the function: {answer}")
        return answer if isinstance(answer, Equivalent) else None

    def is_smallest(self, network: Network) -> bool | None:
        """Return whether the result is a smallest network, as `Simplified` says."""
        if network.num_hidden_layers == 0:
            return True
        asked = self._network.depth == 2 and self._network.last == "affine"
        if not asked or not self._coordinates.is_whole_space:
            return None
        fiber = layer_fiber_if_affordable(network, 1, self._space())
        if fiber is None:
            return None
        if not fiber.normals:
            return False
        found = smallest_layer(fiber, budget=self._whole)
        return False if found.width < fiber.width else found.is_smallest
