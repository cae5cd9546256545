"""The answers of the provers: proved, refuted or undecided.

`Proved` and `Refuted` carry a certificate that an independent checker re-derives; `Undecided` says
what was tried. Every answer has the attributes `status`, `statement`, `theorem`, `certificate` and
`next`. Undecided is never the same as False, so no answer may be used as a truth value: `bool` of
one is a TypeError. What an answer prints is read by people and in tests: `__str__` is part of its
interface.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from html import escape
from pathlib import Path
from typing import Any, ClassVar, Generic, NoReturn, Self, TypeAlias, TypeVar

from polyrelu.certificate import (
    COMPLEX_MEANING,
    INJECTIVITY_MEANING,
    LIPSCHITZ_MEANING,
    MEANING,
    PAIR_MEANING,
    REGIONS_MEANING,
    RUNTIME_MEANING,
    THEOREMS,
    Certificate,
    Claim,
    ComplexClaim,
    InjectivityClaim,
    LipschitzClaim,
    PairClaim,
    PartClaim,
    RegionsCertificate,
    RegionsClaim,
    TreeCertificate,
    VertexCertificate,
    number_text,
    vector_text,
)
from polyrelu.errors import ArgumentError
from polyrelu.exact import format_rational
from polyrelu.network import Network
from polyrelu.support.arguments import expect, expect_one_of
from polyrelu.support.display import bracketed, count_text, html_table
from polyrelu.support.text_files import wrapped

__all__ = [
    "Attempt",
    "Collision",
    "ComplexListed",
    "Equivalent",
    "Identifiable",
    "Injective",
    "InjectivityStatistics",
    "InverseLipschitz",
    "NearPair",
    "NextStep",
    "NotEquivalent",
    "NotIdentifiable",
    "NotInjective",
    "Outcome",
    "PartlyIdentifiable",
    "ProofStatistics",
    "Proved",
    "Refuted",
    "RegionsListed",
    "SearchStatistics",
    "Undecided",
    "Witness",
]


_AnyKind: TypeAlias = Certificate | TreeCertificate | RegionsCertificate | VertexCertificate
AnyCertificate = TypeVar("AnyCertificate", bound=_AnyKind)


class _Answer:
    """Base of the three answers, which refuses to be used as a truth value.

    Attributes
    ----------
    status
        ``proved``, ``refuted`` or ``undecided``.
    certificate
        The certificate; None if the answer is undecided.
    next
        What to try next, the most promising first; empty if there is nothing to suggest.
    """

    __slots__ = ()

    status: ClassVar[str]
    next: tuple[NextStep, ...]

    @property
    def statement(self) -> str:
        """The sentence that is proved or refuted; the reason if the answer is undecided."""
        raise NotImplementedError

    @property
    def theorem(self) -> str | None:
        """The name of the theorem that the certificate uses (FORMAT.md §3.3); None without one."""
        return None

    def __bool__(self) -> NoReturn:
        raise TypeError(
            "an outcome is not a truth value: test `outcome.status` or use "
            "isinstance(outcome, Proved)"
        )

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


@dataclass(frozen=True, slots=True, repr=False)
class _Decided(_Answer, Generic[AnyCertificate]):
    """An answer with a certificate.

    Attributes
    ----------
    certificate
        The certificate, which says what is claimed and why it holds.
    next
        What to try next, the most promising first; empty if there is nothing to suggest.
    """

    certificate: AnyCertificate
    next: tuple[NextStep, ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        kinds = (Certificate, TreeCertificate, RegionsCertificate, VertexCertificate)
        expect_one_of(self.certificate, kinds, "certificate")

    def __repr__(self) -> str:
        return bracketed(f"{type(self).__name__}: {self.certificate.claim.summary}")

    def save(self, path: str | Path) -> list[Path]:
        """Write the certificate to a file, and large networks to files beside it.

        Parameters
        ----------
        path
            The file of the certificate.

        Returns
        -------
        list of Path
            All files that were written, the certificate last.
        """
        return self.certificate.save(path)

    @property
    def statement(self) -> str:
        """The sentence that is proved or refuted."""
        return str(self.certificate.claim)

    @property
    def theorem(self) -> str:
        """The name of the theorem that the certificate uses (FORMAT.md §3.3)."""
        return self.certificate.theorem

    def with_provenance(self, provenance: dict[str, str]) -> Self:
        """Return the same answer with notes on where the network came from in its certificate.

        Parameters
        ----------
        provenance
            The notes; the checker does not verify them.

        Raises
        ------
        ArgumentError
            The notes are no texts by key.
        """
        notes = expect(provenance, dict, "provenance")
        if not all(isinstance(text, str) for note in notes.items() for text in note):
            raise ArgumentError("provenance: expected texts by key")
        certificate: Any = self.certificate
        return replace(
            self,
            certificate=replace(certificate, unverified={**certificate.unverified, **provenance}),
        )


@dataclass(frozen=True, slots=True, repr=False)
class Attempt:
    """A theorem that was tried and did not decide.

    Attributes
    ----------
    theorem
        The name of the theorem, or of a kind of refutation.
    reason
        Why it did not decide.
    missing
        Everything that was not found, one entry for each; empty if that is unknown.

    Examples
    --------
    >>> print(Attempt("shallow", "a hidden neuron has outgoing weights 0"))
    shallow: a hidden neuron has outgoing weights 0
    """

    theorem: str
    reason: str
    missing: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.theorem}: {self.reason}"

    def __repr__(self) -> str:
        return bracketed(f"Attempt, {self}")


@dataclass(frozen=True, slots=True, repr=False)
class NextStep:
    """Something to try after an answer: a call, and the same as a command.

    Attributes
    ----------
    purpose
        What it is good for, in words.
    call
        The Python expression; `net` and `other` are the networks of the question, `domain` is its
        domain.
    command
        The words of the command line after ``polyrelu``. NET and OTHER stand for the files, SMALL
        for a new one.
    files
        The files of the networks, where the question came from the command line; else empty.

    Examples
    --------
    >>> step = NextStep("walk on", "polyrelu.identify(net, seed=1)", ("identify", "NET"))
    >>> print(step)
    walk on: polyrelu.identify(net, seed=1)
    >>> print(step.with_files(["my net.onnx"], {"--seed": "1"}))
    walk on: polyrelu identify 'my net.onnx' --seed 1
    """

    purpose: str
    call: str
    command: tuple[str, ...]
    files: tuple[str, ...] = ()

    def with_files(self, files: Sequence[str], options: Mapping[str, str | None]) -> NextStep:
        """Return the step as a command about given files.

        Parameters
        ----------
        files
            The file of the network, and of the other network if there are two.
        options
            Options with their values, None for an option without one. Options that the command has
            itself are left out.

        Returns
        -------
        NextStep
            The step, whose text is the command line.
        """
        ending = Path(files[0]).suffix.lower()
        small = "small.onnx" if ending == ".onnx" else "small.json"
        names = {"SMALL": small, **dict(zip(("NET", "OTHER"), files, strict=False))}
        words = [names.get(word, word) for word in self.command]
        for option, value in options.items():
            if option not in self.command:
                words += [option] if value is None else [option, value]
        return replace(self, command=tuple(words), files=tuple(files))

    def __str__(self) -> str:
        if not self.files:
            return f"{self.purpose}: {self.call}"
        return f"{self.purpose}: polyrelu {shlex.join(self.command)}"

    def __repr__(self) -> str:
        return bracketed(f"NextStep, {self}")


@dataclass(frozen=True, slots=True, repr=False)
class Proved(_Decided[AnyCertificate]):
    """The claim holds.

    Attributes
    ----------
    certificate
        The certificate that says why.
    next
        What to try next, the most promising first; empty if there is nothing to suggest.

    Examples
    --------
    >>> import polyrelu
    >>> outcome = polyrelu.identify(polyrelu.from_arrays([([[1, 2]], [3])]))
    >>> isinstance(outcome, Proved), outcome.status
    (True, 'proved')
    """

    status: ClassVar[str] = "proved"

    def __str__(self) -> str:
        certificate: _AnyKind = self.certificate
        lines = [f"proved. {self.statement}", *self._remarks()]
        text = _wrapped([*lines, *_theorem_lines(certificate), _meaning(certificate)])
        return "\n".join([text, *_next_lines(self.next)])

    def _remarks(self) -> list[str]:
        """Further sentences about the claim, which `__str__` adds to it."""
        return []


@dataclass(frozen=True, slots=True, repr=False)
class Identifiable(Proved[Certificate]):
    """The function determines the parameters, among the competitors that the claim names.

    Attributes
    ----------
    certificate
        The certificate that says why.
    next
        What to try next, the most promising first; empty if there is nothing to suggest.

    Examples
    --------
    >>> import polyrelu
    >>> outcome = polyrelu.identify(polyrelu.from_arrays([([[1], [-1]], [0, 0]), ([[1, 1]], [0])]))
    >>> outcome.status, outcome.theorem, outcome.membership
    ('proved', 'shallow', 'verified')
    """

    @property
    def membership(self) -> str:
        """Whether the network itself is in the class of competitors: verified, refuted or open."""
        found = next(
            (h.evidence["status"] for h in self.certificate.hypotheses if h.id == "membership"),
            "verified",
        )
        return str(found)

    def _remarks(self) -> list[str]:
        among = self.certificate.claim.among
        return [_MEMBERSHIP[self.membership].format(among=among)] if among != "all" else []


@dataclass(frozen=True, slots=True, repr=False)
class Refuted(_Decided[Certificate]):
    """The claim fails.

    Attributes
    ----------
    certificate
        The certificate, which has a counterexample.
    next
        What to try next, the most promising first; empty if there is nothing to suggest.

    Examples
    --------
    >>> import polyrelu
    >>> outcome = polyrelu.identify(polyrelu.from_arrays([([[1], [2]], [0, 1]), ([[1, 0]], [0])]))
    >>> isinstance(outcome, Refuted), outcome.theorem
    (True, 'bounded-replacement')
    """

    status: ClassVar[str] = "refuted"


@dataclass(frozen=True, slots=True, repr=False)
class PartlyIdentifiable(Proved[Certificate]):
    """The function determines a part of the parameters, as the claim says (`PartClaim`).

    Attributes
    ----------
    certificate
        The certificate that says why.
    next
        What to try next, the most promising first; empty if there is nothing to suggest.

    Examples
    --------
    A weight of the second layer is free, so no proof of identifiability exists. What is determined
    is the field `part` of the answer.

    >>> import polyrelu
    >>> first = ([[1, -1], [3, -1], [-1, 2]], [2, 1, -3])
    >>> second = ([[-3, 2, -3], [1, -3, -2]], [2, -3])
    >>> net = polyrelu.from_arrays([first, second, ([[-1, 3]], [-2])])
    >>> outcome = polyrelu.identify(net, among="transversal", budget=None)
    >>> outcome.status, outcome.part.certificate.claim.num_layers
    ('undecided', 1)
    """


@dataclass(frozen=True, slots=True, repr=False)
class NotIdentifiable(Refuted):
    """The function does not determine the parameters.

    Attributes
    ----------
    certificate
        The certificate, which has the other network.
    other
        Another network with the same function, not equal to the given one up to order and scale.
    explanation
        A sentence on how the other network arises.
    next
        What to try next, the most promising first; empty if there is nothing to suggest.

    Examples
    --------
    >>> import polyrelu
    >>> outcome = polyrelu.identify(polyrelu.from_arrays([([[1], [2]], [0, 1]), ([[1, 0]], [0])]))
    >>> outcome.explanation, outcome.other.weight(2).rows() == [(1, 0)]
    ('neuron 1 of layer 1 has outgoing weights 0, so its row is free', True)
    """

    other: Network
    explanation: str

    def __str__(self) -> str:
        lines = [
            f"refuted. {self.statement}",
            f"why: {self.explanation}",
            f"the other network: {self.other}",
        ]
        text = _wrapped([*lines, *_theorem_lines(self.certificate), MEANING])
        return "\n".join([text, *_next_lines(self.next)])


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


@dataclass(frozen=True, slots=True, repr=False)
class Equivalent(Proved[TreeCertificate]):
    """The two networks compute the same function on the domain.

    Attributes
    ----------
    certificate
        The certificate that says why.
    search
        How the answer was found.
    next
        What to try next, the most promising first; empty if there is nothing to suggest.

    Examples
    --------
    >>> import polyrelu
    >>> net = polyrelu.from_arrays([([[2], [3]], [0, 1]), ([[1, 1]], [0])])
    >>> scaled = polyrelu.from_arrays([([[3], [1]], [1, 0]), ([[1, 2]], [0])])
    >>> outcome = polyrelu.equivalent(net, scaled)
    >>> type(outcome).__name__, outcome.search.route
    ('Equivalent', 'expressions')
    """

    search: SearchStatistics

    def _remarks(self) -> list[str]:
        return [str(self.search)]


@dataclass(frozen=True, slots=True, repr=False)
class RegionsListed(Proved[RegionsCertificate | VertexCertificate]):
    """The list of the regions of a network on a domain is complete.

    Attributes
    ----------
    certificate
        The certificate: the vertices, or a split tree with a point inside each region.
    work
        How much the proof took; a proof by vertices has one node for each of them.
    next
        What to try next, the most promising first; empty if there is nothing to suggest.

    Examples
    --------
    >>> import polyrelu
    >>> net = polyrelu.from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [0])])
    >>> listed = polyrelu.certify_regions(polyrelu.canonical_complex(net))
    >>> listed.certificate.claim.num_regions
    4
    """

    work: ProofStatistics

    def _remarks(self) -> list[str]:
        if isinstance(self.certificate, VertexCertificate):
            return [count_text([(self.work.num_nodes, "vertex")])]
        return [f"tree: {self.work}"]


@dataclass(frozen=True, slots=True, repr=False)
class ComplexListed(Proved[VertexCertificate]):
    """The cells of a network on a domain are complete, in every dimension.

    Attributes
    ----------
    certificate
        The certificate, which has all vertices.
    work
        How much the proof took, with one node for each vertex.
    next
        What to try next, the most promising first; empty if there is nothing to suggest.

    Examples
    --------
    >>> import polyrelu
    >>> net = polyrelu.from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [0])])
    >>> listed = polyrelu.certify_complex(polyrelu.canonical_complex(net))
    >>> listed.certificate.claim.f_vector
    (1, 4, 4)
    """

    work: ProofStatistics

    def _remarks(self) -> list[str]:
        return [count_text([(self.work.num_nodes, "vertex")])]


@dataclass(frozen=True, slots=True, repr=False)
class Witness:
    """A point and the exact outputs of two networks there.

    Attributes
    ----------
    x
        The coordinates of the point.
    f, g
        The outputs of the first and of the second network.

    Examples
    --------
    >>> Witness((Fraction(1),), (Fraction(2),), (Fraction(1, 2),)).difference()
    'output 0 differs most: f(x) - g(x) = 3/2'
    """

    x: tuple[Fraction, ...]
    f: tuple[Fraction, ...]
    g: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        for name in ("x", "f", "g"):
            numbers = expect(getattr(self, name), tuple, name)
            if not numbers or not all(isinstance(number, Fraction) for number in numbers):
                raise ArgumentError(f"{name}: expected a tuple of at least one Fraction")
        if len(self.f) != len(self.g):
            raise ArgumentError(f"f and g: {len(self.f)} outputs and {len(self.g)}")

    def __str__(self) -> str:
        return "\n".join(f"{name}: {text}" for name, text in self._rows())

    def __repr__(self) -> str:
        return bracketed(f"Witness: {self.difference()}")

    def _repr_html_(self) -> str:
        return html_table(self._rows())

    def _rows(self) -> list[tuple[str, str]]:
        """The three vectors with their names."""
        numbers = self.to_json()
        names = (("x", "x"), ("f(x)", "f"), ("g(x)", "g"))
        return [(name, vector_text(numbers[key])) for name, key in names]

    def difference(self) -> str:
        """Return a sentence with the output that differs most and the difference."""
        differences = [a - b for a, b in zip(self.f, self.g, strict=True)]
        i = max(range(len(differences)), key=lambda k: abs(differences[k]))
        return (
            f"output {i} differs most: f(x) - g(x) = {number_text(format_rational(differences[i]))}"
        )

    def to_json(self) -> dict[str, list[str]]:
        """Return the numbers as text, as certificates and `--json` have them."""
        return {key: list(map(format_rational, getattr(self, key))) for key in ("x", "f", "g")}


@dataclass(frozen=True, slots=True, repr=False)
class NotEquivalent(Refuted):
    """The two networks compute different functions on the domain.

    Attributes
    ----------
    certificate
        The certificate, which has the point.
    witness
        A point at which the outputs differ.
    search
        How the answer was found.
    next
        What to try next, the most promising first; empty if there is nothing to suggest.

    Examples
    --------
    >>> import polyrelu
    >>> one, other = polyrelu.from_arrays([([[1]], [0])]), polyrelu.from_arrays([([[1]], [2])])
    >>> polyrelu.equivalent(one, other).witness.difference()
    'output 0 differs most: f(x) - g(x) = -2'
    """

    witness: Witness
    search: SearchStatistics

    def __str__(self) -> str:
        lines = [f"refuted. {self.statement}", str(self.search)]
        lines += [*str(self.witness).splitlines(), self.witness.difference()]
        return "\n".join([_wrapped([*lines, PAIR_MEANING]), *_next_lines(self.next)])


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


@dataclass(frozen=True, slots=True, repr=False)
class Injective(Proved[Certificate]):
    """No two points of the domain have equal outputs.

    Attributes
    ----------
    certificate
        The certificate that says why.
    search
        How much work the answer took.
    next
        What to try next, the most promising first; empty if there is nothing to suggest.

    Examples
    --------
    >>> import polyrelu
    >>> layer = polyrelu.from_arrays([([[1], [-1]], [0, 0])], last="relu")
    >>> polyrelu.injective(layer).theorem
    'active-rows'
    """

    search: InjectivityStatistics

    def _remarks(self) -> list[str]:
        return [str(self.search)]


@dataclass(frozen=True, slots=True, repr=False)
class Collision:
    """Two different points with equal outputs.

    Attributes
    ----------
    x, y
        The coordinates of the points.
    value
        The outputs at both of them.

    Examples
    --------
    >>> print(Collision((Fraction(-1),), (Fraction(-2),), (Fraction(0),)))
    x: -1
    y: -2
    f(x) = f(y): 0
    """

    x: tuple[Fraction, ...]
    y: tuple[Fraction, ...]
    value: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        for name in ("x", "y", "value"):
            numbers = expect(getattr(self, name), tuple, name)
            if not numbers or not all(isinstance(number, Fraction) for number in numbers):
                raise ArgumentError(f"{name}: expected a tuple of at least one Fraction")
        if len(self.x) != len(self.y):
            raise ArgumentError(f"x and y: {len(self.x)} coordinates and {len(self.y)}")

    def __str__(self) -> str:
        return "\n".join(f"{name}: {text}" for name, text in self._rows())

    def __repr__(self) -> str:
        return bracketed(f"Collision of {self._rows()[0][1]} with {self._rows()[1][1]}")

    def _repr_html_(self) -> str:
        return html_table(self._rows())

    def _rows(self) -> list[tuple[str, str]]:
        """The three vectors with their names."""
        numbers = self.to_json()
        names = (("x", "x"), ("y", "y"), ("f(x) = f(y)", "f"))
        return [(name, vector_text(numbers[key])) for name, key in names]

    def to_json(self) -> dict[str, list[str]]:
        """Return the numbers as text, as certificates and `--json` have them."""
        vectors = {"x": self.x, "y": self.y, "f": self.value}
        return {key: list(map(format_rational, vector)) for key, vector in vectors.items()}


@dataclass(frozen=True, slots=True, repr=False)
class NotInjective(Refuted):
    """Two points of the domain have equal outputs.

    Attributes
    ----------
    certificate
        The certificate, which has the points.
    witness
        The points.
    search
        How much work the answer took.
    next
        What to try next, the most promising first; empty if there is nothing to suggest.

    Examples
    --------
    >>> import polyrelu
    >>> layer = polyrelu.from_arrays([([[1, 0], [0, 1], [-1, 0]], [0, 0, 0])], last="relu")
    >>> outcome = polyrelu.injective(layer)
    >>> layer(outcome.witness.x) == layer(outcome.witness.y)
    True
    """

    witness: Collision
    search: InjectivityStatistics

    def __str__(self) -> str:
        lines = [f"refuted. {self.statement}", *str(self.witness).splitlines()]
        return "\n".join([_wrapped([*lines, INJECTIVITY_MEANING]), *_next_lines(self.next)])


@dataclass(frozen=True, slots=True, repr=False)
class NearPair:
    """Two points and the exact outputs there, near each other relative to the points.

    Attributes
    ----------
    x, y
        The coordinates of the points.
    f, g
        The outputs at x and at y.

    Examples
    --------
    >>> one, two = (Fraction(1),), (Fraction(2),)
    >>> NearPair(one, two, one, one)
    <NearPair 1 and 2>
    """

    x: tuple[Fraction, ...]
    y: tuple[Fraction, ...]
    f: tuple[Fraction, ...]
    g: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        for name in ("x", "y", "f", "g"):
            numbers = expect(getattr(self, name), tuple, name)
            if not numbers or not all(isinstance(number, Fraction) for number in numbers):
                raise ArgumentError(f"{name}: expected a tuple of at least one Fraction")

    def __str__(self) -> str:
        return "\n".join(f"{name}: {text}" for name, text in self._rows())

    def __repr__(self) -> str:
        return bracketed(f"NearPair {self._rows()[0][1]} and {self._rows()[1][1]}")

    def _repr_html_(self) -> str:
        return html_table(self._rows())

    def _rows(self) -> list[tuple[str, str]]:
        """The four vectors with their names."""
        numbers = self.to_json()
        names = (("x", "x"), ("y", "y"), ("f(x)", "f"), ("f(y)", "g"))
        return [(name, vector_text(numbers[key])) for name, key in names]

    def to_json(self) -> dict[str, list[str]]:
        """Return the numbers as text, as certificates and `--json` have them."""
        return {key: list(map(format_rational, getattr(self, key))) for key in ("x", "y", "f", "g")}


@dataclass(frozen=True, slots=True, repr=False)
class InverseLipschitz(Proved[Certificate]):
    """Bounds of the inverse Lipschitz constant κ, where |f(x) - f(y)| ≥ κ |x - y|.

    Attributes
    ----------
    certificate
        The certificate that says why.
    witness
        Two points with |f(x) - f(y)|² = `at_most` |x - y|².
    search
        How much work the answer took.
    next
        What to try next, the most promising first; empty if there is nothing to suggest.

    Examples
    --------
    >>> import polyrelu
    >>> layer = polyrelu.from_arrays([([[1], [-1]], [0, 0])], last="relu")
    >>> found = polyrelu.inverse_lipschitz(layer)
    >>> found.at_least, found.at_most
    (Fraction(1, 2), Fraction(1, 2))
    """

    witness: NearPair
    search: InjectivityStatistics

    @property
    def at_least(self) -> Fraction:
        """A lower bound of κ²."""
        claim: LipschitzClaim = self._claim()
        return claim.at_least

    @property
    def at_most(self) -> Fraction:
        """An upper bound of κ²."""
        claim: LipschitzClaim = self._claim()
        return claim.at_most

    def _claim(self) -> Any:
        return self.certificate.claim

    def _remarks(self) -> list[str]:
        low, high = (float(number) ** 0.5 for number in (self.at_least, self.at_most))
        return [
            f"in decimals: κ is about {low:.6g} to {high:.6g}",
            *str(self.witness).splitlines(),
        ]


@dataclass(frozen=True, slots=True, repr=False)
class Undecided(_Answer):
    """The question is open: no theorem applied, or a limit was reached.

    Attributes
    ----------
    reason
        Why there is no answer, in one sentence.
    attempts
        The theorems that were tried, each with the hypothesis that failed.
    search
        How much work was done before a limit was reached; None without a limit.
    part
        What could be proved in part; None if that is nothing.
    next
        What to try next, the most promising first.

    Examples
    --------
    >>> import polyrelu
    >>> net = polyrelu.from_arrays([([[1], [1]], [0, 0]), ([[1, 1]], [0])])
    >>> outcome = polyrelu.identify(net, among="regular")
    >>> outcome.status, outcome.attempts[0].theorem
    ('undecided', 'shallow')
    >>> print(outcome.next[0])
    refute the claim among all parameters: polyrelu.identify(net, among="all")
    """

    reason: str
    attempts: tuple[Attempt, ...] = field(default=())
    search: ProofStatistics | None = None
    part: PartlyIdentifiable | None = None
    next: tuple[NextStep, ...] = ()
    status: ClassVar[str] = "undecided"
    certificate: ClassVar[None] = None

    def __repr__(self) -> str:
        return bracketed(f"Undecided: {self.reason}")

    def __str__(self) -> str:
        work = str(self.search).removeprefix("route none: ")
        reached = (
            [f"reached: {work}, {100 * self.search.closed:.3g} % of the tree"]
            if self.search
            else []
        )
        tried = [f"  tried {attempt}" for attempt in self.attempts]
        in_part = [] if self.part is None else ["in part:", str(self.part)]
        text = _wrapped([f"undecided: {self.reason}", *tried, *reached])
        return "\n".join([text, *in_part, *_next_lines(self.next)])

    @property
    def statement(self) -> str:
        """The reason why there is no answer."""
        return self.reason


#: The answers of `identify`.
Outcome: TypeAlias = Identifiable | NotIdentifiable | Undecided

#: What the membership of the network says, by its status.
_MEMBERSHIP = {
    "verified": "The network itself is {among} (verified).",
    "refuted": (
        "The network itself is not {among} (verified): the theorem says that no {among} parameter "
        "computes its function."
    ),
    "open": (
        "Whether the network itself is {among} is left open; if not, no {among} parameter computes "
        "its function."
    ),
}


def _meaning(certificate: _AnyKind) -> str:
    """The sentence that explains the words of a claim."""
    if isinstance(certificate.claim, PairClaim):
        return PAIR_MEANING
    if isinstance(certificate.claim, RegionsClaim):
        return REGIONS_MEANING
    if isinstance(certificate.claim, InjectivityClaim):
        return INJECTIVITY_MEANING
    if isinstance(certificate.claim, LipschitzClaim):
        return LIPSCHITZ_MEANING
    if isinstance(certificate.claim, ComplexClaim):
        return COMPLEX_MEANING
    return MEANING if isinstance(certificate.claim, Claim | PartClaim) else RUNTIME_MEANING


def _theorem_lines(certificate: _AnyKind) -> list[str]:
    """The theorem and its hypotheses, a line each."""
    theorem = THEOREMS[certificate.theorem]
    lines = [f"theorem: {theorem.title} ({theorem.proof})"]
    return lines + [f"  {hypothesis}" for hypothesis in certificate.hypotheses]


def _next_lines(steps: Iterable[NextStep]) -> list[str]:
    """The next steps, a line each; commands are not broken, so that they can be copied."""
    return [f"next: {step}" for step in steps]


def _wrapped(lines: list[str]) -> str:
    return "\n".join(wrapped(line) for line in lines)
