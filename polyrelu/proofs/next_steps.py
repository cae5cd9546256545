"""What to try after an answer: calls and commands, the most promising first.

Each step is one that can change the answer: a longer search, another class of competitors, a
smaller network or domain. Tests follow them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from polyrelu.certificate import Among
from polyrelu.exact import Polyhedron
from polyrelu.network import Network, NeuronId
from polyrelu.outcomes import Attempt, NextStep
from polyrelu.proofs.deep.prover import obstruction
from polyrelu.proofs.deep.search import DeepSearch
from polyrelu.proofs.membership import has_generic_class
from polyrelu.proofs.simplification import has_visible_redundancy, is_removable

__all__ = [
    "OTHER",
    "OTHER_ON_DOMAIN",
    "REFUTED_AMONG_ALL",
    "Question",
    "after_refutation",
    "after_skipping",
]

#: The end of the reason of an attempt that another network refutes, though not in the class.
REFUTED_AMONG_ALL = "`--among all` refutes"
#: Maximum number of steps.
_MAX_STEPS = 3
#: Factor between a limit that was reached and the next one.
_FACTOR = 10
#: Units of work for a search that was left out, and name of its file.
_WORK, _CHECKPOINT = 60_000, "search.db"
#: Least time limit in seconds that is suggested.
_LEAST_SECONDS = 60
#: Maximum number of inputs of networks whose complex is suggested.
_MAX_INPUTS_OF_COMPLEX = 3

_SIMPLIFY = NextStep(
    "leave out the neurons that the function does not need",
    "polyrelu.simplify(net).network",
    ("simplify", "NET", "-o", "SMALL"),
)
_FIBER = NextStep(
    "see which other networks with this function are known",
    "polyrelu.fiber(net)",
    ("fiber", "NET"),
)

OTHER = NextStep(
    "write the other network into a file",
    "polyrelu.identify(net).other",
    ("identify", "NET", "--other", "other.json"),
)
OTHER_ON_DOMAIN = NextStep(
    "write the other network into a file",
    "polyrelu.identify(net, domain).other",
    ("identify", "NET", "--other", "other.json"),
)
#: Theorems about networks with the same function that are in no known component of a fiber.
_NOT_IN_FIBERS = ("one-sided", "one-sided-cases", "line-equal", "tree-equal")


@dataclass(frozen=True, slots=True)
class Question:
    """A question that `identify` leaves open.

    Attributes
    ----------
    network, among, seed, budget, time_limit, checkpoint, domain
        The arguments of `identify`; the budget in units of work, the domain None for R^n.
    """

    network: Network
    among: Among | None
    seed: int
    budget: float | None
    time_limit: float | None
    checkpoint: str | None
    domain: Polyhedron | None = None

    @property
    def _call(self) -> str:
        """The beginning of a call of `identify`."""
        return "polyrelu.identify(net" if self.domain is None else "polyrelu.identify(net, domain"

    def steps(self, attempts: Sequence[Attempt], search: DeepSearch | None) -> tuple[NextStep, ...]:
        """Return the steps after the given attempts and search."""
        found = self._all_steps(attempts, search)
        return tuple(itertools.islice(found, _MAX_STEPS))

    def _all_steps(
        self, attempts: Sequence[Attempt], search: DeepSearch | None
    ) -> Iterator[NextStep]:
        if any(attempt.reason.endswith(REFUTED_AMONG_ALL) for attempt in attempts):
            yield NextStep(
                "refute the claim among all parameters",
                f'{self._call}, among="all")',
                ("identify", "NET", "--among", "all"),
            )
        if has_visible_redundancy(self.network):
            yield _SIMPLIFY
        if search is not None and obstruction(self.network, search.deep_network.among) is None:
            yield self._longer_search(search)
        yield from self._weaker_class()
        if self.domain is None:
            yield _FIBER

    def _longer_search(self, search: DeepSearch) -> NextStep:
        """Return a search that goes on, or one from another seed if there was nothing new."""
        among = "" if self.among is None else f', among="{self.among}"'
        if search.is_idle:
            seed = str(self.seed + 1)
            return NextStep(
                "walk along other lines",
                f"{self._call}{among}, seed={seed})",
                ("identify", "NET", "--seed", seed),
            )
        budget = f"{_FACTOR * self.budget:.15g}" if self.budget else str(_WORK)
        file = self.checkpoint or _CHECKPOINT
        return NextStep(
            "search longer for ridges, in a file from which the search can go on",
            f"{self._call}{among}, budget={budget}, checkpoint={file!r})",
            ("identify", "NET", "--budget", budget, "--checkpoint", file),
        )

    def steps_after_limit(self, reason: str, search: DeepSearch | None) -> tuple[NextStep, ...]:
        """Return how to go on after a limit of time or memory, or Ctrl-C, in words `reason`."""
        among = "" if self.among is None else f', among="{self.among}"'
        call, options, texts = f"{self._call}{among}", list[str](), list[str]()
        if self.time_limit is not None and reason.startswith("the time limit"):
            seconds = f"{max(_FACTOR * self.time_limit, _LEAST_SECONDS):.15g}"
            texts.append(f"allow {seconds} s")
            call, options = f"{call}, time_limit={seconds}", ["--time-limit", seconds]
        if search is not None:
            file = self.checkpoint or _CHECKPOINT
            texts.append(f"keep the search in a file{' and go on' if self.checkpoint else ''}")
            call, options = f"{call}, checkpoint={file!r}", [*options, "--checkpoint", file]
        if not texts:
            return ()
        return (NextStep(", and ".join(texts), f"{call})", ("identify", "NET", *options)),)

    def _weaker_class(self) -> Iterator[NextStep]:
        """Yield the question among fewer competitors, for which there are more theorems."""
        if self.among is None:
            return
        wanted: Among | None = None
        if has_generic_class(self.network) and self.among != "generic":
            wanted = "generic"
        elif self.network.depth > 3 and self.among in ("all", "regular"):
            wanted = "transversal"
        if wanted is not None:
            yield NextStep(
                f"ask among {wanted} parameters only",
                f'{self._call}, among="{wanted}")',
                ("identify", "NET", "--among", wanted),
            )


def after_refutation(
    network: Network,
    theorem: str,
    one_sided: tuple[NeuronId, int] | None,
    *,
    is_on_domain: bool = False,
) -> tuple[NextStep, ...]:
    """Return the step that removes neurons because of which a network is not identifiable.

    Where nothing is known to be superfluous, the step shows the other parameters, or the one that
    was found.

    Parameters
    ----------
    network
        A plain stack.
    theorem
        The theorem that refutes.
    one_sided
        A hidden neuron that was proved to have one sign on R^n, and its sign; None if the reason is
        another one.
    is_on_domain
        Whether the functions were compared on a domain; then the step shows the other parameters.
    """
    if is_on_domain:
        return (OTHER_ON_DOMAIN,)
    is_promise = (
        has_visible_redundancy(network) if one_sided is None else is_removable(network, *one_sided)
    )
    if is_promise:
        return (_SIMPLIFY,)
    return (OTHER if theorem in _NOT_IN_FIBERS else _FIBER,)


def after_skipping(network: Network) -> tuple[NextStep, ...]:
    """Return the steps for a network with connections that skip layers: what takes it as it is."""
    steps = [
        NextStep(
            "bound how far a float32 runtime is from the function in a box",
            "polyrelu.runtime_error(net, 'box:-1,1')",
            ("runtime-error", "NET", "--domain", "box:-1,1"),
        ),
        NextStep(
            "see which layers read which, and which operations of the file make it so",
            "[[block.source for block in layer.blocks] for layer in net.layers]",
            ("info", "NET"),
        ),
    ]
    if network.num_inputs <= _MAX_INPUTS_OF_COMPLEX:
        steps.insert(
            0,
            NextStep(
                "compute its affine pieces in a box",
                "polyrelu.canonical_complex(net, 'box:-1,1')",
                ("complex", "NET", "--domain", "box:-1,1"),
            ),
        )
    return tuple(steps)
