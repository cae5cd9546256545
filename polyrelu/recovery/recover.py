"""Recovery of networks from values of their functions, with proofs for known networks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from types import FunctionType, MethodType
from typing import Any

from polyrelu.breakpoints import BreakpointComplex, breakpoint_complex, breakpoints_document
from polyrelu.certificate.claims.statement import domain_terms
from polyrelu.certificate.text import domain_text
from polyrelu.complex import PolyhedralComplex
from polyrelu.errors import ArgumentError
from polyrelu.exact import Polyhedron
from polyrelu.formats import DomainLike, NetworkLike, as_domain, as_network
from polyrelu.network import Network
from polyrelu.outcomes import Equivalent, NotEquivalent, Undecided
from polyrelu.proofs import equivalent
from polyrelu.recovery.choices import Choices
from polyrelu.recovery.first_layer import neurons_on
from polyrelu.recovery.jumps import Hyperplane
from polyrelu.recovery.oracle import Oracle, QueriesSpentError, ask
from polyrelu.recovery.search import ROUNDS, Candidate, Search
from polyrelu.recovery.visibility import invisible_neurons, undetermined_weights
from polyrelu.recovery.weights import read_weights
from polyrelu.support.arguments import expect_count, expect_function
from polyrelu.support.parallel import Execution
from polyrelu.support.progress import Progress
from polyrelu.support.typing import Point
from polyrelu.symmetry import related
from polyrelu.version import __version__

__all__ = ["Recovery", "recover", "recover_function", "recover_weights"]

#: The default limit on queries.
MAX_QUERIES = 200_000
#: Work for the proof that the recovered network is the right one.
_PROOF_BUDGET = 20_000
#: The rounds of a search that goes on after a difference was found, and how often it does.
_MORE_ROUNDS, _MAX_REPAIRS = (5, 10), 3
#: A search without a checkpoint.
_ALONE = Execution()


@dataclass(frozen=True)
class Recovery:
    """What was recovered from the values of a function.

    Attributes
    ----------
    network
        A network that has the values of the function at all points that were asked for, or None.
    num_queries
        The number of points that were asked for.
    num_lines
        The number of random lines on which breakpoints were looked for.
    domain
        Where the function was asked; the proof is about this domain.
    hyperplanes
        The hyperplanes of neurons of layer 1 that were found. If no network was recovered, those
        that seem to be of layer 1: values cannot exclude that one of them is of a later layer.
    signs
        The equations for the sides of these hyperplanes on which the neurons are on: their number
        of unknowns, their rank and their solutions. None if there were no surfaces of layer 2.
    has_direct_part
        Whether a part of the function is linear in the outputs of layer 1 and no surface shows it:
        neurons of layer 2 that are on at all inputs. Their weights are not determined.
    outcome
        The proof that the network computes the function, or a point where it does not; None for a
        function of which only values are known.
    has_the_parameters
        Whether the known network has the recovered parameters, up to permutation and positive
        scaling; None if no network is known.
    largest_residual
        The largest difference between the network and the function at the points that were asked
        for; 0 for exact values.
    undetermined
        The weights between layers 1 and 2 of the recovered network that the values do not
        determine, as pairs (neuron of layer 2, neuron of layer 1).
    num_replaced
        How many neurons of layer 1 stand for others whose hyperplanes are not visible.
    invisible
        Neurons of the known network that no values show, in words; empty if the parameters were
        recovered or no network is known.
    first_layer
        For each of the hyperplanes the neurons of layer 1 of the known network that vanish there,
        exactly; None if a network was recovered or no network is known.
    has_right_sides
        Whether these neurons are on at the sides that the equations say; None if these have not
        exactly one solution, a network was recovered, or no network is known.
    unseen
        The neurons of layer 1 of the known network that vanish on none of the hyperplanes, if no
        network was recovered.
    """

    network: Network | None
    num_queries: int
    num_lines: int
    domain: Polyhedron
    hyperplanes: tuple[Hyperplane, ...]
    signs: Choices | None
    has_direct_part: bool
    outcome: Equivalent | NotEquivalent | Undecided | None
    has_the_parameters: bool | None
    largest_residual: Fraction | None
    undetermined: tuple[tuple[int, int], ...] = ()
    num_replaced: int = 0
    invisible: tuple[str, ...] = ()
    first_layer: tuple[tuple[int, ...], ...] | None = None
    has_right_sides: bool | None = None
    unseen: tuple[int, ...] = ()

    @property
    def status(self) -> str:
        """Whether the network is proved to compute the function: "proved" or "undecided"."""
        return "proved" if isinstance(self.outcome, Equivalent) else "undecided"

    @property
    def _place(self) -> str:
        """Where the function was asked, in words."""
        return domain_text(domain_terms(self.domain))

    @property
    def statement(self) -> str:
        """What is known about the recovered network, in a sentence."""
        asked = f"{self.num_queries} values of the function"
        if self.network is None:
            return f"no network was recovered from {asked}{self._layer_1}"
        subject = f"The network {self.network.architecture}, recovered from {asked},"
        if isinstance(self.outcome, Equivalent):
            same = {
                True: ", and has its parameters up to permutation and positive scaling",
                False: ", with other parameters than the network that was asked",
                None: "",
            }[self.has_the_parameters]
            return f"{subject} computes the same function on {self._place}{same}."
        if isinstance(self.outcome, NotEquivalent):
            return f"{subject} has these values, but differs from the function on {self._place}."
        if self.largest_residual:
            return (
                f"{subject} differs from these values by at most {float(self.largest_residual):.1e}"
                "; elsewhere nothing is proved."
            )
        return f"{subject} has all of these values; elsewhere nothing is proved."

    @property
    def _layer_1(self) -> str:
        """How much of layer 1 of the known network was found, in words."""
        if not self.first_layer:
            return ""
        right, total = sum(map(bool, self.first_layer)), len(self.first_layer)
        count = "all" if right == total else f"{right}"
        sides = {True: ", with their right sides", False: ", some with wrong sides", None: ""}[
            self.has_right_sides
        ]
        return (
            f"; {count} of the {total} hyperplanes that seem to be of layer 1 are hyperplanes of "
            f"layer 1 of the network that was asked{sides}"
        )

    @property
    def missing(self) -> tuple[str, ...]:
        """What was not recovered, and why."""
        found = list[str]()
        if self.has_direct_part:
            found.append(
                "a part of the function is linear in the outputs of layer 1: neurons of layer 2 "
                "that are on at all inputs have no surface, so that their weights are not visible"
            )
        if self.undetermined:
            found.append(undetermined_weights(self.undetermined))
        if self.num_replaced:
            found.append(
                "some hyperplanes of layer 1 are not visible: what their neurons add is linear "
                f"wherever it is seen; {self.num_replaced} of another choice stand in the network"
            )
        found += [f"{text} in the network that was asked" for text in self.invisible]
        if self.network is None and self.hyperplanes:
            found.append(
                f"{len(self.hyperplanes)} hyperplanes seem to be of layer 1, but it was not found "
                "how the rest depends on them: neurons of later layers are hidden in places, or "
                "there are more than two hidden layers"
            )
        if self.network is None and not self.hyperplanes:
            found.append(
                "no hyperplane of layer 1 is visible on nearly all lines"
                if self.domain.ambient_dimension > 1
                else "breakpoints of a function of one input do not show of which layer they are"
            )
        if self.network is None and self.hyperplanes and self.signs is not None:
            found += _sides_left_open(self.signs)
        if self.unseen:
            names = ", ".join(map(str, self.unseen))
            found.append(
                f"the hyperplanes of neurons {names} of layer 1 of the network that was asked are "
                "not among those that were found"
            )
        return tuple(found)

    def __str__(self) -> str:
        return "\n".join([self.statement, *(f"not recovered: {text}" for text in self.missing)])


def _sides_left_open(signs: Choices) -> list[str]:
    """Return a sentence on the sides of layer 1, unless the equations have one solution."""
    number = len(signs.solutions)
    if signs.is_complete and number == 1:
        return []
    solutions = f"{number} solutions" if signs.is_complete else "more solutions than were tried"
    return [
        f"the equations for the sides of layer 1 have rank {signs.rank} for {signs.num_unknowns} "
        f"unknowns, and {solutions}"
    ]


def recover(
    network: NetworkLike | PolyhedralComplex | BreakpointComplex,
    domain: DomainLike = None,
    *,
    seed: int = 0,
    max_queries: int = MAX_QUERIES,
    progress: Progress | None = None,
    checkpoint: str | Path | None = None,
) -> Recovery:
    """Recover a network from exact values of its function, and prove that it is the right one.

    The network is asked for its outputs at points, and for nothing else, until a network with these
    values is found. Then both are compared by a proof; where they differ the search goes on there.
    Networks with one hidden layer and with two are recovered; of deeper ones, layer 1.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes; it is only asked for values. Or a canonical
        complex or a breakpoint complex, of which only the breakpoints with their weights are used,
        and one affine piece (`recover_weights`). The proof compares with the network in both cases.
    domain
        Where it may be asked, a polyhedron with interior; R^n by default. A complex has its own.
    seed
        The same seed gives the same answer, on every machine.
    max_queries
        The largest number of points that may be asked for.
    progress
        Called with a `ProgressStep` after each line.
    checkpoint
        A file that keeps the values; none of them is asked for again.

    Returns
    -------
    Recovery
        The recovered network, its proof, and what was not recovered.

    References
    ----------
    Rolnick and Kording, Reverse-engineering deep ReLU networks, ICML 2020 (arXiv:1910.00744).

    Examples
    --------
    >>> from polyrelu import from_arrays
    >>> hidden = from_arrays([([[1, 2], [3, -1]], [0, 2]), ([[1, -2]], [5])])
    >>> found = recover(hidden)
    >>> found.status, found.has_the_parameters
    ('proved', True)
    """
    expect_function(progress, "progress")
    if isinstance(network, PolyhedralComplex | BreakpointComplex):
        if domain is not None:
            raise ArgumentError("domain: a complex has its own domain; leave this argument out")
        if checkpoint is not None:
            raise ArgumentError("checkpoint: a complex is not asked for values; leave it out")
        return _from_complex(network, seed, max_queries, progress)
    if isinstance(network, FunctionType | MethodType | partial):
        raise ArgumentError(
            "network: a function does not say how many inputs it has; "
            "use recover_function(function, num_inputs)"
        )
    known = as_network(network)
    polyhedron = as_domain(domain, known.num_inputs)
    entries = {} if checkpoint is None else _entries(known.sha256, polyhedron, Fraction(0))
    with Execution.opened(None, checkpoint, entries) as execution:
        search = _search(known, polyhedron, Fraction(0), max_queries, seed, progress, execution)
        return _recovered(search, known, polyhedron)


def _recovered(search: Search, known: Network, polyhedron: Polyhedron) -> Recovery:
    """Let a search go on until it has found the network that answers it."""
    candidate, outcome = _within_queries(search, ROUNDS), None
    for _ in range(_MAX_REPAIRS):
        if candidate is None:
            break
        outcome = equivalent(candidate.network, known, polyhedron, budget=_PROOF_BUDGET)
        if not isinstance(outcome, NotEquivalent):
            break
        search.bad_points = [outcome.witness.x] * 4
        search.best = None
        candidate = _within_queries(search, _MORE_ROUNDS)
    same = None if candidate is None else related(candidate.network, known)
    invisible: tuple[str, ...] = ()
    if same is False and isinstance(outcome, Equivalent):
        invisible = invisible_neurons(known, polyhedron)
    found = _recovery(search, candidate, outcome if candidate else None, same)
    if found.network is None:
        found = _compared(found, known)
    return replace(found, invisible=invisible)


def _from_complex(
    cells: PolyhedralComplex | BreakpointComplex,
    seed: int,
    max_queries: int,
    progress: Progress | None,
) -> Recovery:
    """Recover a network from the weights of a complex, and prove that it is the right one."""
    weights = breakpoint_complex(cells) if isinstance(cells, PolyhedralComplex) else cells
    known, domain = weights.cells.network, weights.cells.domain
    document = breakpoints_document(weights)
    found = recover_weights(document, seed=seed, max_queries=max_queries, progress=progress)
    if found.network is None:
        return _compared(found, known)
    outcome = equivalent(found.network, known, domain, budget=_PROOF_BUDGET)
    same = related(found.network, known)
    is_other = isinstance(outcome, Equivalent) and not same
    lost = invisible_neurons(known, domain) if is_other else ()
    return replace(found, outcome=outcome, has_the_parameters=same, invisible=lost)


def _compared(found: Recovery, known: Network) -> Recovery:
    """Add which of the hyperplanes are of layer 1 of the known network, and on which sides."""
    neurons, sides = neurons_on(known, found.hyperplanes), None
    if found.signs is not None and len(found.signs.solutions) == 1 and any(neurons):
        (turned,) = found.signs.solutions
        sides = all(
            not some or any(neuron.is_turned == bool(side) for neuron in some)
            for side, some in zip(turned, neurons, strict=True)
        )
    places = tuple(tuple(neuron.number for neuron in some) for some in neurons)
    unseen = set(range(known.widths[1])).difference(*places) if places else ()
    return replace(found, first_layer=places, has_right_sides=sides, unseen=tuple(sorted(unseen)))


def recover_function(
    function: Callable[[Point], Sequence[Any]],
    num_inputs: int,
    domain: DomainLike = None,
    *,
    relative_error: Fraction | float = 0,
    seed: int = 0,
    max_queries: int = MAX_QUERIES,
    progress: Progress | None = None,
    checkpoint: str | Path | None = None,
) -> Recovery:
    """Guess a network from values of a function; nothing is proved about other points.

    Parameters
    ----------
    function
        Takes a point, a tuple of exact numbers, and returns a row of outputs.
    num_inputs
        The number of inputs.
    domain
        Where the function may be asked; R^n by default.
    relative_error
        The relative error of its values: 0 if they are exact, 2.0**-52 for float64.
    seed, max_queries, progress
        As in `recover`.
    checkpoint
        A file that keeps the values, of which none is asked for again. It cannot know whether the
        function was changed; after that, name a new file.

    Returns
    -------
    Recovery
        A network with the values of the function at the points that were asked for, up to the
        residual that is reported.

    Examples
    --------
    >>> found = recover_function(lambda x: [abs(x[0]) + max(x[1], 0)], 2)
    >>> found.network.widths, found.largest_residual
    ((2, 4, 1), Fraction(0, 1))
    """
    expect_function(function, "function")
    expect_function(progress, "progress")
    size = expect_count(num_inputs, "num_inputs")
    polyhedron = as_domain(domain, size)
    error = Fraction(relative_error)
    with Execution.opened(None, checkpoint, _entries("", polyhedron, error)) as execution:
        search = _search(function, polyhedron, error, max_queries, seed, progress, execution)
        return _recovery(search, _within_queries(search, ROUNDS), None, None)


def _entries(network: str, domain: Polyhedron, relative_error: Fraction) -> dict[str, str]:
    """Return what a checkpoint compares, given the hash of a network if one is asked."""
    return {
        "question": "recover",
        "version": __version__,
        "network": network,
        "domain": domain.sha256,
        "relative error": str(relative_error),
    }


def recover_weights(
    document: Mapping[str, Any],
    *,
    seed: int = 0,
    max_queries: int = MAX_QUERIES,
    progress: Progress | None = None,
) -> Recovery:
    """Recover a network from its weighted breakpoint complex and one affine piece.

    Parameters
    ----------
    document
        What `polyrelu.breakpoints.breakpoints_document` returns and `polyrelu complex` writes.
    seed, max_queries, progress
        As in `recover`; a query evaluates the function that the document describes.

    Returns
    -------
    Recovery
        A network with the values of this function at all points that were looked at.

    Raises
    ------
    DomainError
        The document is damaged, or has no affine piece.

    Examples
    --------
    >>> import polyrelu
    >>> from polyrelu.breakpoints import breakpoints_document
    >>> hidden = polyrelu.from_arrays([([[1, 2], [3, -1]], [0, 2]), ([[1, -2]], [5])])
    >>> weights = polyrelu.breakpoint_complex(polyrelu.canonical_complex(hidden))
    >>> polyrelu.related(recover_weights(breakpoints_document(weights)).network, hidden)
    True
    """
    expect_function(progress, "progress")
    function = read_weights(document)
    search = _search(function, function.domain, Fraction(0), max_queries, seed, progress)
    return _recovery(search, _within_queries(search, ROUNDS), None, None)


def _search(
    function: Callable[[Point], Sequence[Any]],
    domain: Polyhedron,
    relative_error: Fraction,
    max_queries: int,
    seed: int,
    progress: Progress | None,
    execution: Execution = _ALONE,
) -> Search:
    """Return a search that has not begun, which keeps answers in a checkpoint if there is one."""
    is_kept = execution.checkpoint is not None
    oracle = Oracle(
        function,
        domain.ambient_dimension,
        domain=domain if domain.inequalities or domain.equations else None,
        relative_error=relative_error,
        max_queries=expect_count(max_queries, "max_queries"),
        seed=expect_count(seed, "seed"),
        answers=execution.stream(ask, function) if is_kept else None,
    )
    return Search(oracle, progress=progress)


def _within_queries(search: Search, rounds: Sequence[int]) -> Candidate | None:
    """Go on with a search until a network is found, or the queries are spent."""
    try:
        return search.run(rounds)
    except QueriesSpentError:
        return search.best


def _recovery(
    search: Search,
    candidate: Candidate | None,
    outcome: Equivalent | NotEquivalent | Undecided | None,
    same: bool | None,
) -> Recovery:
    """Put together what was found."""
    planes, signs = search.planes, None if candidate is None else candidate.signs
    if candidate is None and search.jumps:
        planes, signs = search.first_layer()
    oracle = search.oracle
    return Recovery(
        network=None if candidate is None else candidate.network,
        num_queries=oracle.num_queries,
        num_lines=search.num_lines,
        domain=oracle.domain or Polyhedron.universe(oracle.num_inputs),
        hyperplanes=tuple(planes),
        signs=signs,
        has_direct_part=candidate is not None and candidate.has_direct_part,
        outcome=outcome,
        has_the_parameters=same,
        largest_residual=None if candidate is None else _residual(oracle, candidate.network),
        undetermined=() if candidate is None else candidate.unknown,
        num_replaced=0 if candidate is None else candidate.num_replaced,
    )


def _residual(oracle: Oracle, network: Network) -> Fraction:
    """Return the largest difference at the points that were asked for."""
    if oracle.is_exact:
        return Fraction(0)
    return max(
        abs(a - b)
        for x in oracle.known_points()
        for a, b in zip(network(x), oracle(x), strict=True)
    )
