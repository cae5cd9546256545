"""Claims about the values of networks: deviations, ranges, properties, and equal decisions.

All of them say that at every point of a domain, perhaps outside of some boxes, each of some clauses
has a linear row in outputs and inputs that is not positive (FORMAT.md, section 5.8).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, Literal, TypeAlias, get_args

from polyrelu.certificate.claims.statement import (
    Statement,
    domain_terms,
    expect_network,
    name_of,
)
from polyrelu.certificate.text import bounds_text, domain_text, number_text, property_text
from polyrelu.errors import ArgumentError
from polyrelu.exact import Polyhedron, format_rational
from polyrelu.network import Network
from polyrelu.support.arguments import expect, expect_choice, expect_count, expect_one_of
from polyrelu.support.display import bracketed, count_text

__all__ = [
    "BoundsClaim",
    "Choice",
    "DecisionsClaim",
    "DeviationClaim",
    "HoldsClaim",
    "LinearRow",
    "LipschitzBoundClaim",
    "OutputRange",
    "RangeClaim",
    "SubBox",
]

#: Which output is the class that a network chooses.
Choice: TypeAlias = Literal["largest", "smallest"]

#: Maximum number of outputs that a sentence lists.
_LISTED_OUTPUTS = 8


@dataclass(frozen=True, slots=True, repr=False)
class SubBox:
    """A box in the coordinates of a domain, the variables that its equations leave free.

    Attributes
    ----------
    lower, upper
        The ends of its intervals, shape (d,).

    Examples
    --------
    >>> SubBox((Fraction(0),), (Fraction(1, 2),)).to_json()
    {'lower': ['0'], 'upper': ['1/2']}
    """

    lower: tuple[Fraction, ...]
    upper: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        expect(self.lower, tuple, "lower")
        expect(self.upper, tuple, "upper")
        if len(self.lower) != len(self.upper):
            raise ArgumentError("lower, upper: expected equally many numbers")

    def to_json(self) -> dict[str, list[str]]:
        """Return the box as it stands in a claim."""
        return {
            "lower": list(map(format_rational, self.lower)),
            "upper": list(map(format_rational, self.upper)),
        }

    def __repr__(self) -> str:
        return bracketed(f"SubBox, {count_text([(len(self.lower), 'coordinate')])}")


@dataclass(frozen=True, slots=True, repr=False)
class LinearRow:
    """A linear function of outputs and inputs that is at most 0, or negative.

    Attributes
    ----------
    f, g, x
        The coefficients of the outputs of the first network, of the outputs of the second one, and
        of the inputs, by index; those that are not listed are 0.
    constant
        The constant.
    is_strict
        Whether the row holds where the function is negative only.

    Examples
    --------
    >>> LinearRow({0: Fraction(1)}, constant=Fraction(-2)).to_json()
    {'is': '<=0', 'f': [[0, '1']], 'g': [], 'x': [], 'constant': '-2'}
    """

    f: Mapping[int, Fraction] = field(default_factory=dict)
    g: Mapping[int, Fraction] = field(default_factory=dict)
    x: Mapping[int, Fraction] = field(default_factory=dict)
    constant: Fraction = Fraction(0)
    is_strict: bool = False

    def __post_init__(self) -> None:
        for name in ("f", "g", "x"):
            expect_one_of(getattr(self, name), (Mapping,), name)
        expect(self.constant, Fraction, "constant")

    def to_json(self) -> dict[str, Any]:
        """Return the row as it stands in a claim."""
        parts = {
            name: [[i, format_rational(a)] for i, a in sorted(part.items())]
            for name, part in (("f", self.f), ("g", self.g), ("x", self.x))
        }
        mark = "<0" if self.is_strict else "<=0"
        return {"is": mark, **parts, "constant": format_rational(self.constant)}

    def __repr__(self) -> str:
        counts = count_text(
            [(len(self.f), "output"), (len(self.g), "other output"), (len(self.x), "input")]
        )
        return bracketed(f"LinearRow, {counts}, {'< 0' if self.is_strict else '≤ 0'}")


@dataclass(frozen=True, slots=True, repr=False)
class OutputRange:
    """Bounds of the least and of the largest value of an output.

    Attributes
    ----------
    output
        The index of the output.
    minimum, maximum
        Each a bound from below and one from above.

    Examples
    --------
    >>> OutputRange(0, (Fraction(-3), Fraction(-3)), (Fraction(0), Fraction(1, 2))).to_json()
    [0, ['-3', '-3'], ['0', '1/2']]
    """

    output: int
    minimum: tuple[Fraction, Fraction]
    maximum: tuple[Fraction, Fraction]

    def __post_init__(self) -> None:
        expect_count(self.output, "output")
        for name in ("minimum", "maximum"):
            expect(getattr(self, name), tuple, name)

    def to_json(self) -> list[Any]:
        """Return the entry as it stands in a claim."""
        pairs = (self.minimum, self.maximum)
        return [self.output, *([format_rational(x) for x in pair] for pair in pairs)]

    def __str__(self) -> str:
        low, high = _between(self.minimum), _between(self.maximum)
        return f"the least value of output {self.output} {low}, and the largest one {high}"

    def __repr__(self) -> str:
        return bracketed(f"OutputRange, output {self.output}")


def _between(bounds: tuple[Fraction, Fraction]) -> str:
    """Return in words where a number lies."""
    low, high = bounds_text(*bounds)
    return f"is {low}" if bounds[0] == bounds[1] else f"is at least {low} and at most {high}"


class ValuesClaim(Statement):
    """What claims about values of networks have in common."""

    __slots__ = ()

    kind: str
    domain: Polyhedron

    def _place(self) -> str:
        """Return the domain in words."""
        return domain_text(domain_terms(self.domain))

    @abstractmethod
    def terms(self) -> dict[str, Any]:
        """Return the entries of the claim in a certificate, without kind and networks."""


def _outside(boxes: Sequence[SubBox]) -> str:
    """Return the end of a sentence about points outside of some boxes."""
    if not boxes:
        return ""
    return f", outside of {count_text([(len(boxes), 'listed box')])}"


@dataclass(frozen=True, slots=True, repr=False)
class DeviationClaim(ValuesClaim):
    """The claim that the largest difference of two networks on a domain lies between two bounds.

    The difference at a point is the largest |f_i - g_i| over some outputs i.

    Attributes
    ----------
    network, other
        The networks f and g, plain stacks of equal depth.
    domain
        A polyhedron whose equations are in reduced echelon form, bounded in every coordinate.
    outputs
        The indices i, ascending.
    at_least
        A lower bound of the largest difference on the domain.
    at_most
        A bound of all differences on the domain outside of the boxes `excluded`.
    excluded
        Boxes about which the upper bound says nothing.
    kind
        Always `deviation`.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> f, g = from_arrays([([[1]], [0])]), from_arrays([([[1]], [2])])
    >>> two, line = Fraction(2), Polyhedron.box([0], [1])
    >>> DeviationClaim(f, g, line, (0,), two, two).terms()["at-most"]
    '2'
    """

    network: Network
    other: Network
    domain: Polyhedron
    outputs: tuple[int, ...]
    at_least: Fraction
    at_most: Fraction
    excluded: tuple[SubBox, ...] = ()
    kind: Literal["deviation"] = "deviation"
    among: ClassVar[str] = ""  # there are no competitors

    def __post_init__(self) -> None:
        expect_network(self.network, "network")
        expect_network(self.other, "other")
        expect(self.domain, Polyhedron, "domain")
        expect(self.outputs, tuple, "outputs")
        expect(self.at_least, Fraction, "at_least")
        expect(self.at_most, Fraction, "at_most")
        expect(self.excluded, tuple, "excluded")

    @property
    def networks(self) -> dict[str, Network]:
        """The networks by their keys in the certificate."""
        return {"network": self.network, "other": self.other}

    def terms(self) -> dict[str, Any]:
        """Return the entries of the claim in a certificate, without kind and networks."""
        return {
            "domain": domain_terms(self.domain),
            "outputs": list(self.outputs),
            "at-least": format_rational(self.at_least),
            "at-most": format_rational(self.at_most),
            "except": [box.to_json() for box in self.excluded],
        }

    @property
    def summary(self) -> str:
        """The claim in short."""
        names = " and ".join(map(name_of, self.networks.values()))
        return f"deviation of {names} on {self._place()}"

    @property
    def lower_statement(self) -> str:
        """A sentence about the lower bound alone."""
        names = " and ".join(map(name_of, self.networks.values()))
        low = number_text(format_rational(self.at_least))
        return (
            f"The outputs of the networks {names} differ by at least {low} at a point of "
            f"{self._place()}."
        )

    def __str__(self) -> str:
        names = " and ".join(map(name_of, self.networks.values()))
        low, high = bounds_text(self.at_least, self.at_most)
        if self.excluded:
            return (
                f"The outputs of the networks {names} differ by at most {high} on {self._place()}"
                f"{_outside(self.excluded)}, and by at least {low} at a point of the domain."
            )
        return (
            f"The largest difference of the outputs of the networks {names} on {self._place()} "
            f"{_between((self.at_least, self.at_most))}."
        )


@dataclass(frozen=True, slots=True, repr=False)
class RangeClaim(ValuesClaim):
    """The claim that the least and largest values of outputs on a domain lie between bounds.

    Attributes
    ----------
    network
        The network, a plain stack.
    domain
        A polyhedron whose equations are in reduced echelon form, bounded in every coordinate.
    outputs
        The bounds of some outputs, ascending by their indices.
    kind
        Always `range`.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> zero, one, line = Fraction(0), Fraction(1), Polyhedron.box([0], [1])
    >>> bounds = OutputRange(0, (zero, zero), (one, one))
    >>> print(RangeClaim(from_arrays([([[1]], [0])]), line, (bounds,)))  # doctest: +ELLIPSIS
    Of the network ...… on [0, 1]^1, the least value of output 0 is 0, and the largest one is 1.
    """

    network: Network
    domain: Polyhedron
    outputs: tuple[OutputRange, ...]
    kind: Literal["range"] = "range"
    among: ClassVar[str] = ""  # there are no competitors

    def __post_init__(self) -> None:
        expect_network(self.network, "network")
        expect(self.domain, Polyhedron, "domain")
        expect(self.outputs, tuple, "outputs")

    def terms(self) -> dict[str, Any]:
        """Return the entries of the claim in a certificate, without kind and networks."""
        return {
            "domain": domain_terms(self.domain),
            "outputs": [entry.to_json() for entry in self.outputs],
        }

    @property
    def summary(self) -> str:
        """The claim in short."""
        return f"range of {name_of(self.network)} on {self._place()}"

    def __str__(self) -> str:
        head = f"Of the network {name_of(self.network)} on {self._place()}"
        if len(self.outputs) > _LISTED_OUTPUTS:
            return f"{head}, the values of {len(self.outputs)} outputs are in the listed ranges."
        return f"{head}, {'; '.join(map(str, self.outputs))}."


@dataclass(frozen=True, slots=True, repr=False)
class HoldsClaim(ValuesClaim):
    """The claim that a property holds at every point of a domain.

    Attributes
    ----------
    network
        The network f, a plain stack.
    domain
        A polyhedron whose equations are in reduced echelon form, bounded in every coordinate.
    clauses
        The property: at each point every clause has a row that holds.
    other
        The network g, a plain stack of the same depth; None if the property is about f alone.
    excluded
        Boxes about which nothing is said.
    kind
        Always `holds`.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net, line = from_arrays([([[1]], [0])]), Polyhedron.box([0], [1])
    >>> at_most_one = LinearRow({0: Fraction(1)}, constant=Fraction(-1))
    >>> HoldsClaim(net, line, ((at_most_one,),)).terms()["clauses"]
    [[{'is': '<=0', 'f': [[0, '1']], 'g': [], 'x': [], 'constant': '-1'}]]
    """

    network: Network
    domain: Polyhedron
    clauses: tuple[tuple[LinearRow, ...], ...]
    other: Network | None = None
    excluded: tuple[SubBox, ...] = ()
    kind: Literal["holds"] = "holds"
    among: ClassVar[str] = ""  # there are no competitors

    def __post_init__(self) -> None:
        expect_network(self.network, "network")
        expect(self.domain, Polyhedron, "domain")
        expect(self.clauses, tuple, "clauses")
        expect(self.excluded, tuple, "excluded")

    @property
    def networks(self) -> dict[str, Network]:
        """The networks by their keys in the certificate."""
        first = {"network": self.network}
        return first if self.other is None else {**first, "other": self.other}

    def terms(self) -> dict[str, Any]:
        """Return the entries of the claim in a certificate, without kind and networks."""
        return {
            "domain": domain_terms(self.domain),
            "clauses": [[row.to_json() for row in clause] for clause in self.clauses],
            "except": [box.to_json() for box in self.excluded],
        }

    @property
    def summary(self) -> str:
        """The claim in short."""
        names = " and ".join(map(name_of, self.networks.values()))
        return f"{count_text([(len(self.clauses), 'clause')])} of {names} on {self._place()}"

    def __str__(self) -> str:
        clauses = property_text(self.terms()["clauses"])
        second = "" if self.other is None else f", and g those of {name_of(self.other)}"
        return (
            f"At every point of {self._place()}{_outside(self.excluded)}, {clauses} holds; f are "
            f"the outputs of {name_of(self.network)}{second}."
        )


@dataclass(frozen=True, slots=True, repr=False)
class DecisionsClaim(ValuesClaim):
    """The claim that two networks decide alike wherever the first one decides clearly.

    At every point of the domain where one output of f exceeds all others by more than the margin,
    the same output of g exceeds all others; or the same with outputs that are smaller than all
    others.

    Attributes
    ----------
    network, other
        The networks f and g, plain stacks of equal depth with two or more outputs.
    domain
        A polyhedron whose equations are in reduced echelon form, bounded in every coordinate.
    margin
        The margin, not negative.
    excluded
        Boxes about which nothing is said.
    choose
        Whether the claim is about outputs that are larger, or smaller, than all others.
    kind
        Always `same-decisions`.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> f, line = from_arrays([([[1], [0]], [0, 2])]), Polyhedron.box([0], [1])
    >>> DecisionsClaim(f, f, line, Fraction(0)).terms()["margin"]
    '0'
    """

    network: Network
    other: Network
    domain: Polyhedron
    margin: Fraction
    excluded: tuple[SubBox, ...] = ()
    choose: Choice = "largest"
    kind: Literal["same-decisions"] = "same-decisions"
    among: ClassVar[str] = ""  # there are no competitors

    def __post_init__(self) -> None:
        expect_network(self.network, "network")
        expect_network(self.other, "other")
        expect(self.domain, Polyhedron, "domain")
        expect(self.margin, Fraction, "margin")
        expect(self.excluded, tuple, "excluded")
        expect_choice(self.choose, get_args(Choice), "choose")

    @property
    def networks(self) -> dict[str, Network]:
        """The networks by their keys in the certificate."""
        return {"network": self.network, "other": self.other}

    def terms(self) -> dict[str, Any]:
        """Return the entries of the claim in a certificate, without kind and networks."""
        return {
            "domain": domain_terms(self.domain),
            "margin": format_rational(self.margin),
            "except": [box.to_json() for box in self.excluded],
            **({"choose": self.choose} if self.choose == "smallest" else {}),
        }

    @property
    def summary(self) -> str:
        """The claim in short."""
        names = " and ".join(map(name_of, self.networks.values()))
        return f"same decisions of {names} on {self._place()}"

    def __str__(self) -> str:
        names = " and ".join(map(name_of, self.networks.values()))
        margin = number_text(format_rational(self.margin))
        more = f" by more than {margin}" if self.margin else ""
        wins = "is smaller than" if self.choose == "smallest" else "exceeds"
        return (
            f"At every point of {self._place()}{_outside(self.excluded)}, where one output of the "
            f"first of the networks {names} {wins} all others{more}, the same output of the "
            f"second one {wins} all others."
        )


@dataclass(frozen=True, slots=True, repr=False)
class LipschitzBoundClaim(ValuesClaim):
    """The claim that the Lipschitz constant of outputs on a domain lies between two bounds.

    Differences of inputs are measured in the dual norm. If the domain has no equations, the
    constant is the largest norm of a gradient.

    Attributes
    ----------
    network
        The network, a plain stack.
    domain
        A polyhedron whose equations are in reduced echelon form, bounded in every coordinate.
    outputs
        The indices of the outputs, ascending; the constant is the largest one of theirs.
    norm
        The norm of gradients: "1", "2" or "inf". For "2" the bounds are squares.
    at_least, at_most
        The bounds.
    kind
        Always `lipschitz`.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net, line, three = from_arrays([([[3]], [0])]), Polyhedron.box([0], [1]), Fraction(3)
    >>> LipschitzBoundClaim(net, line, (0,), "1", three, three).terms()["at-most"]
    '3'
    """

    network: Network
    domain: Polyhedron
    outputs: tuple[int, ...]
    norm: Literal["1", "2", "inf"]
    at_least: Fraction
    at_most: Fraction
    kind: Literal["lipschitz"] = "lipschitz"
    among: ClassVar[str] = ""  # there are no competitors

    def __post_init__(self) -> None:
        expect_network(self.network, "network")
        expect(self.domain, Polyhedron, "domain")
        expect(self.outputs, tuple, "outputs")
        expect_choice(self.norm, ("1", "2", "inf"), "norm")
        expect(self.at_least, Fraction, "at_least")
        expect(self.at_most, Fraction, "at_most")

    def terms(self) -> dict[str, Any]:
        """Return the entries of the claim in a certificate, without kind and networks."""
        return {
            "domain": domain_terms(self.domain),
            "outputs": list(self.outputs),
            "norm": self.norm,
            "at-least": format_rational(self.at_least),
            "at-most": format_rational(self.at_most),
        }

    @property
    def summary(self) -> str:
        """The claim in short."""
        return f"Lipschitz constant of {name_of(self.network)} on {self._place()}"

    def __str__(self) -> str:
        if self.domain.equations:  # gradients point out of the domain
            constant = "squared Lipschitz constant" if self.norm == "2" else "Lipschitz constant"
            return (
                f"The {constant} of the network {name_of(self.network)} on {self._place()}, for "
                f"the norm dual to the {self.norm}-norm, "
                f"{_between((self.at_least, self.at_most))}."
            )
        norms = {"1": "largest 1-norm", "2": "largest squared 2-norm", "inf": "largest entry"}
        return (
            f"The {norms[self.norm]} of a gradient of the network {name_of(self.network)} on "
            f"{self._place()} {_between((self.at_least, self.at_most))}."
        )


#: A claim about values, of any kind.
BoundsClaim: TypeAlias = (
    DeviationClaim | RangeClaim | HoldsClaim | DecisionsClaim | LipschitzBoundClaim
)
