"""What certificates claim: the values behind the key `claim` (FORMAT.md, section 3.2).

Each kind of claim is one frozen type that knows its networks, its domain and its class of
competitors, and writes its terms for a file. Whether a claim is true is not decided here: provers
find evidence, and the checker re-derives it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal, get_args

from polyrelu.certificate.text import (
    cell_counts_text,
    domain_text,
    layers_text,
    number_text,
    part_text,
)
from polyrelu.errors import ArgumentError
from polyrelu.exact import Polyhedron, decimal_above, format_integer, format_rational
from polyrelu.network import Network
from polyrelu.support.arguments import expect, expect_choice, expect_count
from polyrelu.support.display import bracketed, count_text

__all__ = [
    "Among",
    "Claim",
    "ComplexClaim",
    "InjectivityClaim",
    "LipschitzClaim",
    "PairClaim",
    "PartClaim",
    "RegionsClaim",
    "RuntimeClaim",
]

#: The classes of competitors, from the largest to the smallest.
Among = Literal["all", "regular", "transversal", "generic"]
Kind = Literal["identifiable", "not-identifiable"]


class _Statement(ABC):
    """A claim, which `str` shows as a sentence and `repr` in short."""

    __slots__ = ()

    @property
    @abstractmethod
    def summary(self) -> str:
        """The claim in short."""

    def __repr__(self) -> str:
        return bracketed(f"{type(self).__name__}: {self.summary}")


@dataclass(frozen=True, slots=True, repr=False)
class Claim(_Statement):
    """A claim about the parameters of a network among competitors on a domain.

    Attributes
    ----------
    kind
        `identifiable`: every competitor with the same function equals the network up to permutation
        and positive scaling of neurons; `not-identifiable`: some competitor does not.
    network
        The network that the claim is about.
    among
        The class of competitors.
    other
        The competitor that refutes identifiability; only for `not-identifiable`.
    domain
        The domain on which the functions agree, in words.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> claim = Claim("identifiable", from_arrays([([[1, 2]], [3])]), "all")
    >>> claim.terms()
    {'domain': 'R^n', 'among': 'all'}
    """

    kind: Kind
    network: Network
    among: Among
    other: Network | None = None
    domain: str = "R^n"

    def __post_init__(self) -> None:
        expect_choice(self.kind, get_args(Kind), "kind")
        expect_choice(self.among, get_args(Among), "among")
        _expect_network(self.network, "network")
        if self.other is not None:
            _expect_network(self.other, "other")

    @property
    def networks(self) -> dict[str, Network]:
        """The networks by their keys in the certificate."""
        return {"network": self.network} | ({} if self.other is None else {"other": self.other})

    def terms(self) -> dict[str, Any]:
        """Return the entries of the claim in a certificate, without kind and networks."""
        return {"domain": self.domain, "among": self.among}

    @property
    def summary(self) -> str:
        """The claim in short."""
        verb = "is identifiable" if self.kind == "identifiable" else "is not identifiable"
        return f"{_plain_name(self.network)} {verb} among {self.among} parameters"

    def __str__(self) -> str:
        shape = f"The {_plain_name(self.network)}"
        members = "every parameter" if self.among == "all" else f"every {self.among} parameter"
        if self.kind == "identifiable":
            return (
                f"{shape} is identifiable among {self.among} parameters on {self.domain}: "
                f"{members} of its architecture with the same function is this one up to "
                "permutation and positive scaling of neurons."
            )
        member = "another" if self.among == "all" else f"a {self.among}"
        return (
            f"{shape} is not identifiable among {self.among} parameters on {self.domain}: {member} "
            "parameter of its architecture, not related to it by permutation and positive scaling, "
            "computes the same function."
        )


@dataclass(frozen=True, slots=True, repr=False)
class PartClaim(_Statement):
    """The claim that the function determines a part of the parameters (FORMAT.md, section 3.2).

    Attributes
    ----------
    network
        The network that the claim is about.
    num_layers
        M: the rows [W|b] of the hidden layers 1 to M are determined. The rows of layer M are
        determined up to their signs if `neurons` is empty.
    neurons
        Indices of neurons of layer M + 1, ascending; their rows are determined up to signs.
    kind
        Always `determined`.
    among
        The class of competitors, `transversal` or `regular`.
    domain
        The domain on which the functions agree, in words.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [-1]), ([[1]], [0])])
    >>> PartClaim(net, 1).terms()
    {'domain': 'R^n', 'among': 'transversal', 'layers': 1, 'neurons': []}
    """

    network: Network
    num_layers: int
    neurons: tuple[int, ...] = ()
    kind: Literal["determined"] = "determined"
    among: Among = "transversal"
    domain: str = "R^n"

    def __post_init__(self) -> None:
        _expect_network(self.network, "network")
        expect_count(self.num_layers, "layers", 1)
        expect(self.neurons, tuple, "neurons")
        expect_choice(self.among, get_args(Among), "among")

    @property
    def networks(self) -> dict[str, Network]:
        """The network by its key in the certificate."""
        return {"network": self.network}

    def terms(self) -> dict[str, Any]:
        """Return the entries of the claim in a certificate, without kind and networks."""
        return {
            "domain": self.domain,
            "among": self.among,
            "layers": self.num_layers,
            "neurons": list(self.neurons),
        }

    @property
    def summary(self) -> str:
        """The claim in short."""
        part = part_text(self.num_layers, self.neurons)
        return f"{_plain_name(self.network)} is determined in {part}"

    def __str__(self) -> str:
        return (
            f"The {_plain_name(self.network)} is determined "
            f"among {self.among} parameters on {self.domain} in "
            f"{part_text(self.num_layers, self.neurons)}: every {self.among} parameter of its "
            "architecture with the same function agrees with it there after permutation and "
            "positive scaling of neurons."
        )


@dataclass(frozen=True, slots=True, repr=False)
class RuntimeClaim(_Statement):
    """The claim that a float runtime stays close to the exact function on a box.

    FORMAT.md, section 3.7, has the details.

    Attributes
    ----------
    network
        The network that the claim is about.
    lower
        The lower corner of the box, one number for each input.
    upper
        The upper corner of the box, one number for each input.
    arithmetic
        The format of the runtime, `float32` or `float64`, which computes layer by layer.
    at_most
        A bound of the absolute error of each output.
    kind
        Always `runtime-error`.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net, one = from_arrays([([[1]], [0])]), Fraction(1)
    >>> claim = RuntimeClaim(net, (-one,), (one,), "float32", (Fraction(1, 2**20),))
    >>> claim.terms()["at-most"]
    ['1/1048576']
    """

    network: Network
    lower: tuple[Fraction, ...]
    upper: tuple[Fraction, ...]
    arithmetic: str
    at_most: tuple[Fraction, ...]
    kind: Literal["runtime-error"] = "runtime-error"
    among: ClassVar[str] = ""  # there are no competitors

    def __post_init__(self) -> None:
        _expect_network(self.network, "network")
        expect(self.arithmetic, str, "arithmetic")
        for name in ("lower", "upper", "at_most"):
            numbers = expect(getattr(self, name), tuple, name)
            if not numbers or not all(isinstance(number, Fraction) for number in numbers):
                raise ArgumentError(f"{name}: expected a tuple of at least one Fraction")

    @property
    def networks(self) -> dict[str, Network]:
        """The network by its key in the certificate."""
        return {"network": self.network}

    def terms(self) -> dict[str, Any]:
        """Return the entries of the claim in a certificate, without kind and networks."""
        lower, upper, at_most = (
            list(map(format_rational, part)) for part in (self.lower, self.upper, self.at_most)
        )
        return {
            "domain": {"lower": lower, "upper": upper},
            "arithmetic": self.arithmetic,
            "at-most": at_most,
        }

    @property
    def summary(self) -> str:
        """The claim in short."""
        bound = decimal_above(max(self.at_most))
        return f"{_plain_name(self.network)} in {self.arithmetic}, error at most {bound}"

    def __str__(self) -> str:
        return (
            f"The {_plain_name(self.network)}, computed layer "
            f"by layer in {self.arithmetic}, differs from its exact function by at most "
            f"{decimal_above(max(self.at_most))} on the box."
        )


@dataclass(frozen=True, slots=True, repr=False)
class PairClaim(_Statement):
    """The claim that two networks compute the same function on a domain, or do not.

    FORMAT.md, section 3.8, has the details.

    Attributes
    ----------
    kind
        `equivalent` or `not-equivalent`.
    network
        The first network.
    other
        The second network.
    domain
        A polyhedron whose equations are in reduced echelon form.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net, line = from_arrays([([[1]], [0])]), Polyhedron.universe(1)
    >>> PairClaim("equivalent", net, net, line).terms()
    {'domain': {'inequalities': [], 'equations': []}}
    """

    kind: Literal["equivalent", "not-equivalent"]
    network: Network
    other: Network
    domain: Polyhedron
    among: ClassVar[str] = ""  # there are no competitors

    def __post_init__(self) -> None:
        expect_choice(self.kind, ("equivalent", "not-equivalent"), "kind")
        _expect_network(self.network, "network")
        _expect_network(self.other, "other")
        expect(self.domain, Polyhedron, "domain")

    @property
    def networks(self) -> dict[str, Network]:
        """The networks by their keys in the certificate."""
        return {"network": self.network, "other": self.other}

    def terms(self) -> dict[str, Any]:
        """Return the entries of the claim in a certificate, without kind and networks."""
        return {"domain": _domain_terms(self.domain)}

    @property
    def summary(self) -> str:
        """The claim in short."""
        names = " and ".join(map(_name, self.networks.values()))
        verb = "are" if self.kind == "equivalent" else "are not"
        return f"{names} {verb} equivalent on {domain_text(self.terms()['domain'])}"

    def __str__(self) -> str:
        place = domain_text(self.terms()["domain"])
        names = " and ".join(map(_name, self.networks.values()))
        if self.network == self.other:
            same = _name(self.network)
            return f"Both are one network, {same}, so they compute the same function on {place}."
        if self.kind == "equivalent":
            return f"The networks {names} compute the same function on {place}."
        return f"The networks {names} do not compute the same function on {place}."


@dataclass(frozen=True, slots=True, repr=False)
class RegionsClaim(_Statement):
    """The claim that a canonical complex has a number of cells of full dimension.

    FORMAT.md, section 5.1, has the details.

    Attributes
    ----------
    network
        The network that the claim is about.
    domain
        A polyhedron whose equations, implied ones included, are in reduced echelon form.
    num_regions
        The number of cells of full dimension, called regions.
    kind
        Always `regions`.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1]], [0]), ([[1]], [0])])
    >>> RegionsClaim(net, Polyhedron.universe(1), 2).terms()
    {'domain': {'inequalities': [], 'equations': []}, 'count': 2}
    """

    network: Network
    domain: Polyhedron
    num_regions: int
    kind: Literal["regions"] = "regions"
    among: ClassVar[str] = ""  # there are no competitors

    def __post_init__(self) -> None:
        _expect_network(self.network, "network")
        expect(self.domain, Polyhedron, "domain")
        expect_count(self.num_regions, "count", 1)

    @property
    def networks(self) -> dict[str, Network]:
        """The network by its key in the certificate."""
        return {"network": self.network}

    def terms(self) -> dict[str, Any]:
        """Return the entries of the claim in a certificate, without kind and networks."""
        return {"domain": _domain_terms(self.domain), "count": self.num_regions}

    @property
    def summary(self) -> str:
        """The claim in short."""
        regions = count_text([(self.num_regions, "region")])
        return f"{regions} of {_name(self.network)} on {domain_text(self.terms()['domain'])}"

    def __str__(self) -> str:
        place = domain_text(self.terms()["domain"])
        name = _name(self.network)
        return (
            f"The canonical complex of the network {name} on {place} has exactly "
            f"{count_text([(self.num_regions, 'region')])}."
        )


@dataclass(frozen=True, slots=True, repr=False)
class ComplexClaim(_Statement):
    """The claim that a canonical complex has given numbers of cells, by dimension.

    FORMAT.md, section 5.3, has the details.

    Attributes
    ----------
    network
        The network that the claim is about.
    domain
        A polyhedron whose equations, implied ones included, are in reduced echelon form.
    f_vector
        The number of cells of each dimension, from 0 to the dimension of the domain.
    kind
        Always `complex`.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1]], [0]), ([[1]], [0])])
    >>> ComplexClaim(net, Polyhedron.universe(1), (1, 2)).terms()
    {'domain': {'inequalities': [], 'equations': []}, 'f-vector': [1, 2]}
    """

    network: Network
    domain: Polyhedron
    f_vector: tuple[int, ...]
    kind: Literal["complex"] = "complex"
    among: ClassVar[str] = ""  # there are no competitors

    def __post_init__(self) -> None:
        _expect_network(self.network, "network")
        expect(self.domain, Polyhedron, "domain")
        for count in expect(self.f_vector, tuple, "f_vector"):
            expect_count(count, "f_vector", 0)

    @property
    def networks(self) -> dict[str, Network]:
        """The network by its key in the certificate."""
        return {"network": self.network}

    def terms(self) -> dict[str, Any]:
        """Return the entries of the claim in a certificate, without kind and networks."""
        return {"domain": _domain_terms(self.domain), "f-vector": list(self.f_vector)}

    @property
    def num_regions(self) -> int:
        """The number of cells of full dimension."""
        return self.f_vector[-1]

    @property
    def summary(self) -> str:
        """The claim in short."""
        cells = count_text([(sum(self.f_vector), "cell")])
        return f"{cells} of {_name(self.network)} on {domain_text(self.terms()['domain'])}"

    def __str__(self) -> str:
        place = domain_text(self.terms()["domain"])
        return (
            f"The canonical complex of the network {_name(self.network)} on {place} has exactly "
            f"{cell_counts_text(self.f_vector)}."
        )


@dataclass(frozen=True, slots=True, repr=False)
class InjectivityClaim(_Statement):
    """The claim that layers of a network are injective on a domain, or are not.

    FORMAT.md, section 3.10, has the details.

    Attributes
    ----------
    kind
        `injective` or `not-injective`.
    network
        The network.
    layers
        The first and the last layer of the part that the claim is about, from 1.
    domain
        A polyhedron of inputs of the first of these layers, with equations in reduced echelon form.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [-1]], [0, 0])], last="relu")
    >>> InjectivityClaim("injective", net, (1, 1), Polyhedron.universe(1)).terms()
    {'layers': [1, 1], 'domain': {'inequalities': [], 'equations': []}}
    """

    kind: Literal["injective", "not-injective"]
    network: Network
    layers: tuple[int, int]
    domain: Polyhedron
    among: ClassVar[str] = ""  # there are no competitors

    def __post_init__(self) -> None:
        expect_choice(self.kind, ("injective", "not-injective"), "kind")
        _expect_network(self.network, "network")
        expect(self.layers, tuple, "layers")
        expect(self.domain, Polyhedron, "domain")

    @property
    def networks(self) -> dict[str, Network]:
        """The network by its key in the certificate."""
        return {"network": self.network}

    def terms(self) -> dict[str, Any]:
        """Return the entries of the claim in a certificate, without kind and networks."""
        return {"layers": list(self.layers), "domain": _domain_terms(self.domain)}

    @property
    def summary(self) -> str:
        """The claim in short."""
        verb = "is" if self.kind == "injective" else "is not"
        place = domain_text(self.terms()["domain"])
        return f"{self._part()}{_name(self.network)} {verb} injective on {place}"

    def __str__(self) -> str:
        verb = "is" if self.kind == "injective" else "is not"
        points = "no two points have" if self.kind == "injective" else "two points have"
        what = "activations" if self.layers[1] < self.network.depth else "outputs"
        place = domain_text(self.terms()["domain"])
        subject = f"{self._part()}the network {_name(self.network)}"
        return (
            f"{subject[0].upper()}{subject[1:]} {verb} injective on {place}: {points} equal {what}."
        )

    def _part(self) -> str:
        """The layers, if they are not the whole network."""
        return _part_of(self.network, self.layers)


@dataclass(frozen=True, slots=True, repr=False)
class LipschitzClaim(_Statement):
    """The claim that the inverse Lipschitz constant of some layers lies between two bounds.

    The constant κ is the largest number with |f(x) - f(y)| ≥ κ |x - y| for all x, y of the domain,
    in Euclidean norms. FORMAT.md, section 5.5, has the details.

    Attributes
    ----------
    network
        The network.
    layers
        The first and the last layer of the part that the claim is about, from 1.
    domain
        A polyhedron of inputs of the first of these layers, with equations in reduced echelon form.
    at_least, at_most
        Bounds of κ².
    kind
        Always `inverse-lipschitz`.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [-1]], [0, 0])], last="relu")
    >>> half = Fraction(1, 2)
    >>> LipschitzClaim(net, (1, 1), Polyhedron.universe(1), half, half).terms()["at-least"]
    '1/2'
    """

    network: Network
    layers: tuple[int, int]
    domain: Polyhedron
    at_least: Fraction
    at_most: Fraction
    kind: Literal["inverse-lipschitz"] = "inverse-lipschitz"
    among: ClassVar[str] = ""  # there are no competitors

    def __post_init__(self) -> None:
        _expect_network(self.network, "network")
        expect(self.layers, tuple, "layers")
        expect(self.domain, Polyhedron, "domain")
        expect(self.at_least, Fraction, "at_least")
        expect(self.at_most, Fraction, "at_most")

    @property
    def networks(self) -> dict[str, Network]:
        """The network by its key in the certificate."""
        return {"network": self.network}

    def terms(self) -> dict[str, Any]:
        """Return the entries of the claim in a certificate, without kind and networks."""
        return {
            "layers": list(self.layers),
            "domain": _domain_terms(self.domain),
            "at-least": format_rational(self.at_least),
            "at-most": format_rational(self.at_most),
        }

    @property
    def summary(self) -> str:
        """The claim in short."""
        part = _part_of(self.network, self.layers)
        return f"inverse Lipschitz constant of {part}{_name(self.network)}"

    def __str__(self) -> str:
        terms = self.terms()
        low, high = number_text(terms["at-least"]), number_text(terms["at-most"])
        subject = f"{_part_of(self.network, self.layers)}the network {_name(self.network)}"
        return (
            f"{subject[0].upper()}{subject[1:]} has an inverse Lipschitz constant on "
            f"{domain_text(terms['domain'])} whose square lies between {low} and {high}."
        )


def _part_of(network: Network, layers: tuple[int, int]) -> str:
    """The layers, if they are not the whole network."""
    return "" if layers == (1, network.depth) else f"the map of {layers_text(*layers)} of "


def _name(network: Network) -> str:
    """The widths of any network, and the beginning of its hash."""
    return f"{network.widths} {network.sha256[:12]}…"


def _plain_name(network: Network) -> str:
    """The architecture of a plain stack, and the beginning of its hash."""
    return f"{network.architecture} network {network.sha256[:12]}…"


def _expect_network(value: object, name: str) -> None:
    expect(value, Network, name, "polyrelu.load reads one")


def _domain_terms(domain: Polyhedron) -> dict[str, list[str]]:
    """Return a domain as it stands in claims (FORMAT.md, section 3.8)."""
    parts = {"inequalities": domain.inequalities, "equations": domain.equations}
    return {
        key: [" ".join(map(format_integer, row)) for row in rows] for key, rows in parts.items()
    }
