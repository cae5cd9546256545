"""The sentences of accepted certificates: their words, and that no two contradict each other.

A sentence is the product of the checker. Each kind of claim and each status of membership has its
sentence here as a golden text, beside the reason why its last clause follows.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from random import Random
from typing import Any, NamedTuple

import pytest

import polyrelu
from polyrelu import Polyhedron, checker, equivalent, from_arrays, identify
from polyrelu.certificate import Among, Certificate, Claim, Hypothesis, PartClaim
from polyrelu.network import Network, from_document
from polyrelu.outcomes import Equivalent, Identifiable, NotIdentifiable, RegionsListed, Undecided
from tests.generators.campaigns import case, few_some_and_all
from tests.generators.files import CERTIFICATES
from tests.oracles.judge import certificate_bytes

RELATED = "are related to it by permuting and positively scaling hidden neurons"
EVERYBODY = "all of them that have this architecture and compute the same real function"
OTHER = "is one of them, computes the same real function, and is not related to it by permuting"


def accepted(data: bytes) -> str:
    report = checker.check_bytes(data)
    assert report.verdict == "accepted", report
    return report.statement


def sentence_of(name: str) -> str:
    return checker.check_file(CERTIFICATES / "valid" / f"{name}.json").statement


def after_the_hash(sentence: str) -> str:
    return sentence.split(", ", 1)[1]


#: A network whose second neuron of layer 2 is dead, since its weights and its bias are negative: it
#: can be replaced by any other dead neuron, also by one that makes the network generic.
DEAD = from_arrays([([[1, 1], [1, -1]], [1, 0]), ([[2, 1], [-1, -4]], [-3, -2]), ([[1, 0]], [0])])
OTHER_DEAD = from_arrays(
    [([[1, 1], [1, -1]], [1, 0]), ([[2, 1], [-3, -5]], [-3, -4]), ([[1, 1]], [0])]
)


def certificate(claim: Claim | PartClaim, theorem: str, evidence: dict[str, Any]) -> bytes:
    hypotheses = tuple(Hypothesis(theorem, key, entry) for key, entry in evidence.items())
    document, _ = Certificate(claim, theorem, hypotheses).to_document()
    return json.dumps(document).encode()


def first_layer_of_dead(membership: dict[str, Any]) -> bytes:
    """Return a proof that the first layer of DEAD is determined: two ridges show its neurons."""
    plane = {"point": ["0", "0"], "directions": [["1", "0"], ["0", "1"]]}
    evidence = {
        "ridges": {"slices": [{**plane, "ridges": [[0, 2, "2"], [1, 2, "1"]]}]},
        "families": {"chosen": [[0, 0], [1, 1]], "joined": []},
        "signs": {},
        "weights": {"joined": [], "order": []},
        "membership": membership,
    }
    return certificate(PartClaim(DEAD, 1), "deep-part", evidence)


def another_dead_neuron() -> bytes:
    """Return a proof that a generic network computes the function of DEAD."""
    minors = {"method": "minors", "prime": "2147483647", "columns": [0, 1]}
    evidence = {
        "architecture": {},
        "same-function": {"layer": 2},
        "not-related": {"layer": 3},
        "membership": {"status": "verified", **minors},
    }
    claim = Claim("not-identifiable", DEAD, "generic", OTHER_DEAD)
    return certificate(claim, "replacement", evidence)


# ---- Golden texts


@pytest.mark.parametrize(
    ("name", "among", "end"),
    [
        # The class is everything, so that nothing is said about membership.
        ("shallow-independent", "all", "."),
        # Minors and sums of the network itself were computed, and none is zero.
        ("bottleneck-corner-minors", "generic", "; it is itself in the class."),
        # Nothing is known, and nothing is said.
        ("bottleneck-flat-open", "generic", "; whether it is itself in the class is open."),
        # A competitor would be related to a network outside of a class that is closed under ~.
        (
            "bottleneck-refuted-bias",
            "generic",
            "; it is itself not in the class, so nobody in the class computes its function.",
        ),
        (
            "deep-planes",
            "transversal",
            "; it is itself not in the class, so nobody in the class computes its function.",
        ),
        ("deep-regular", "regular", "; whether it is itself in the class is open."),
    ],
)
def test_identifiable(name: str, among: str, end: str) -> None:
    document = json.loads((CERTIFICATES / "valid" / f"{name}.json").read_text())
    statuses = [h["evidence"].get("status") for h in document["proof"]["hypotheses"]][-1:]
    words = {"all": None, "refuted": "not in", "verified": "itself in", "open": "is open"}
    assert words["all" if among == "all" else statuses[0]] is None or (
        str(words[statuses[0]]) in end
    )
    begin, _, rest = after_the_hash(sentence_of(name)).partition("output, ")
    assert begin.startswith("architecture (")
    assert rest == f"is identifiable on R^n among {among} parameters: {EVERYBODY} {RELATED}{end}"


@pytest.mark.parametrize(
    ("membership", "end"),
    [
        # Nothing is known, and nothing is said.
        ({"status": "open"}, "; whether it is itself in the class is open."),
        # Competitors agree with the network on the part only: outside of the class they may have
        # the same function, and here one has it (`test_a_part_outside_of_the_class`).
        (
            {"status": "refuted", "method": "masks", "layer": 2, "masks": [[1], [0]]},
            "; it is itself not in the class, and whether anybody in the class computes its "
            "function is left open.",
        ),
    ],
    ids=["open", "refuted"],
)
def test_determined(membership: dict[str, Any], end: str) -> None:
    assert after_the_hash(accepted(first_layer_of_dead(membership))) == (
        "architecture (2, 2, 2, 1) with affine output, is determined on R^n among transversal "
        f"parameters in layer 1 up to signs of rows [W|b]: {EVERYBODY} agree with it there after "
        f"permuting and positively scaling hidden neurons{end}"
    )


def test_determined_and_verified() -> None:
    """Minors of the network itself are not zero: it is in the class."""
    document = json.loads((CERTIFICATES / "valid" / "deep-corners.json").read_text())
    document["claim"] |= {"kind": "determined", "layers": 1, "neurons": []}
    document["proof"]["theorem"] = "deep-part"
    families = document["proof"]["hypotheses"][1]["evidence"]
    families["chosen"] = families["chosen"][:2]
    assert accepted(json.dumps(document).encode()).endswith("; it is itself in the class.")


def test_a_part_outside_of_the_class() -> None:
    """The network is not in the class, and somebody in the class computes its function."""
    refuted = {"status": "refuted", "method": "masks", "layer": 2, "masks": [[1], [0]]}
    part, other = accepted(first_layer_of_dead(refuted)), accepted(another_dead_neuron())
    assert part.split(",")[0] == other.split(",")[0] == f"Network {DEAD.sha256[:12]}"
    assert "nobody" not in part
    assert f"network {OTHER_DEAD.sha256[:12]} {OTHER}" in other


@pytest.mark.parametrize(
    ("name", "among"),
    [
        ("translation", "all"),  # any parameter is one of all
        ("translation-generic", "generic"),  # minors of the other network are not zero
    ],
)
def test_not_identifiable(name: str, among: str) -> None:
    begin, _, rest = after_the_hash(sentence_of(name)).partition(": ")
    assert begin.endswith(f"is not-identifiable on R^n among {among} parameters")
    assert rest == f"network 0053eb931046 {OTHER} and positively scaling hidden neurons."


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        # The class is that of the domain; competitors may differ elsewhere.
        (
            "deep-domain",
            "architecture (2, 2, 2, 1) with affine output, is identifiable on the interior of {x : "
            "(-1 0).x <= 2, (1 0).x <= 2, (0 -1).x <= 2, (0 1).x <= 2} among parameters that are "
            f"regular there: {EVERYBODY} there {RELATED}; whether it is itself in the class is "
            "open.",
        ),
        # Any parameter is one of all, on any domain.
        (
            "shallow-domain",
            "architecture (2, 2, 1) with affine output, is identifiable on the interior of {x : "
            "(-1 0).x <= 1, (1 0).x <= 1, (0 -1).x <= 1, (0 1).x <= 1} among all parameters: "
            f"{EVERYBODY} there {RELATED}.",
        ),
        (
            "deep-part-domain",
            "architecture (2, 2, 2, 1) with affine output, is determined on the interior of {x : "
            "(-1 0).x <= 2, (1 0).x <= 2, (0 -1).x <= 2, (0 1).x <= 2} among parameters that are "
            f"regular there in layer 1 up to signs of rows [W|b]: {EVERYBODY} there agree with it "
            "in this part after permuting and positively scaling hidden neurons; whether it is "
            "itself in the class is open.",
        ),
        (
            "one-sided-domain",
            "architecture (2, 2, 1) with affine output, is not-identifiable on the interior of {x "
            ": (1 1).x <= 2} among all parameters: network d301aadd418e is one of them, computes "
            "the same real function there, and is not related to it by permuting and positively "
            "scaling hidden neurons.",
        ),
        (
            "blocks-dead",
            "widths (1, 2, 1) with affine output, is not-identifiable on the interior of {x : "
            "(1).x <= 1, (-1).x <= 0} among all parameters of all networks of its widths whose "
            "layers read the same layers, with any weights (FORMAT.md, section 3.14): network "
            "b670523309eb is one of them, computes the same real function there, and is not "
            "related to it by permuting and positively scaling hidden neurons.",
        ),
        # Without inequalities a domain is R^n.
        (
            "deep-domain-without-rows",
            "architecture (2, 2, 2, 1) with affine output, is identifiable on R^n among regular "
            f"parameters: {EVERYBODY} {RELATED}; whether it is itself in the class is open.",
        ),
    ],
)
def test_competitors_on_a_domain(name: str, sentence: str) -> None:
    assert after_the_hash(sentence_of(name)) == sentence


def test_runtime_error() -> None:
    """The bound is the largest one of the claim; the box and the inputs' format are named."""
    assert sentence_of("rounding") == (
        "Network 40084968754f, architecture (2, 2, 2) with affine output, computed layer by layer "
        "in float32 (FORMAT.md, section 3.7) at float32 inputs in the given box, has a "
        "runtime-error of at most 815104912261221/147573952589676412928: the distance to its "
        "function."
    )


def test_not_equivalent() -> None:
    """The point lies in the domain, and both networks were evaluated there."""
    assert sentence_of("point") == (
        "Network 4902099176bd, architecture (1, 2, 1) with affine output, and network "
        "4d3d7c4e4404, architecture (1, 1, 1) with affine output, are not-equivalent: they differ "
        "at a point of {x : (-2).x <= 1}."
    )


def test_injective() -> None:
    """Opposite rows; the same, and an affine map; layer 2 alone, on the orthant."""
    assert sentence_of("injective-translate") == (
        "Network efbf8b21390f, architecture (2, 4) with relu output, is injective on R^n: no two "
        "points have equal outputs."
    )
    assert sentence_of("injective-layers").endswith(
        "with affine output, is injective on R^n: no two points have equal outputs."
    )
    begin, _, end = sentence_of("injective-one-layer").partition(" of network ")
    assert begin == "The map of layer 2"
    assert end.endswith(
        "architecture (2, 4, 4, 4) with affine output, is injective on {x : (-1 0 0 0).x <= 0, "
        "(0 -1 0 0).x <= 0, (0 0 -1 0).x <= 0, (0 0 0 -1).x <= 0}, for any inputs of layer 2 "
        "there: no two points have equal activations of layer 2."
    )


def test_injective_by_cells() -> None:
    """Three pieces of one variable; the sentence is the same as by layers."""
    assert sentence_of("injective-cells-apart").endswith(
        "architecture (1, 3, 1) with affine output, is injective on R^n: no two points have equal "
        "outputs."
    )


def test_inverse_lipschitz() -> None:
    """Each layer has its bound; the pair has the quotient."""
    begin, _, end = sentence_of("inverse-lipschitz-two-layers").partition(" of network ")
    assert begin == "The map of layers 1 to 2"
    assert end.endswith(
        "architecture (1, 2, 2) with affine output, has an inverse-lipschitz constant on R^n whose "
        "square is at least 2 and at most 13/4: the least quotient of squared distances, of "
        "outputs over inputs."
    )


def test_sizes() -> None:
    """All networks, those with one hidden layer, those of a class, and those on a box."""
    ends = {
        "size-jumps": "architecture (2, 2, 1, 1) with affine output, computes on R^n a function "
        "that needs a size of at least 2 hidden layers among all networks: every one of them, with "
        "any widths and any number of layers, that computes the same real function has at least 2 "
        "hidden layers.",
        "size-jumps-box": "computes on the interior of {x : (1 0).x <= 2, (-1 0).x <= 2, (0 1).x "
        "<= 2, (0 -1).x <= 2} a function that needs a size of at least 1 hidden layer among all "
        "networks: every one of them, with any widths and any number of layers, that computes the "
        "same real function there has at least 1 hidden layer.",
        "size-hyperplanes": "a function that needs a size of at least 4 hidden neurons among all "
        "networks with one hidden layer: every one of them, with any width, that computes the same "
        "real function has at least 4 hidden neurons.",
        "size-bends-regular": "a size of at least 2 hidden layers among plain stacks with affine "
        "output that are regular: every one of them, with any widths and any number of layers, "
        "that computes the same real function has at least 2 hidden layers.",
    }
    for name, end in ends.items():
        assert sentence_of(name).endswith(end)


def test_functional_dimension() -> None:
    assert sentence_of("functional-dimension").endswith(
        "architecture (2, 1, 1) with affine output, has a functional-dimension of exactly 4 on "
        "R^n: the largest rank of the derivatives of its outputs by weights and biases, at "
        "finitely many points at which no neuron vanishes."
    )


def test_the_first_layers() -> None:
    document = json.loads((CERTIFICATES / "valid" / "injective-layers.json").read_text())
    document["claim"]["layers"] = [1, 2]
    document["proof"]["hypotheses"][1]["evidence"]["trees"].pop()
    assert accepted(json.dumps(document).encode()).endswith(
        "with affine output, is injective in layers 1 to 2 on R^n: no two points have equal "
        "activations of layer 2."
    )


def test_not_injective() -> None:
    """Both points are in the domain, and were evaluated."""
    assert sentence_of("collision-skip").endswith(
        "widths (1, 1, 1) with affine output, is not-injective on R^n: two different points have "
        "equal outputs."
    )


def test_equivalent() -> None:
    """On each leaf both networks are one expression, and the leaves cover the domain."""
    one = from_arrays([([[1], [-1]], [0, 0]), ([[1, 1]], [0])])
    two = from_arrays([([[2], [-1]], [0, 0]), ([[Fraction(1, 2), 1]], [0])])
    outcome = equivalent(one, two)
    assert isinstance(outcome, Equivalent)
    assert accepted(certificate_bytes(outcome)) == (
        f"Network {one.sha256[:12]}, architecture (1, 2, 1) with affine output, and network "
        f"{two.sha256[:12]}, architecture (1, 2, 1) with affine output, are equivalent: they "
        "compute the same real function on R^n. The tree has 1 node."
    )


def test_regions() -> None:
    """Each leaf has a point strictly inside, and no neuron changes its sign inside a leaf."""
    network = from_arrays([([[1], [1]], [0, -1]), ([[1, 1]], [0])])
    cells = polyrelu.canonical_complex(network, Polyhedron.universe(1))
    listed = polyrelu.certify_regions(cells, method="tree")
    assert isinstance(listed, RegionsListed)
    assert accepted(listed.certificate.to_bytes()) == (
        f"The canonical complex of network {network.sha256[:12]}, architecture (1, 2, 1) with "
        "affine output, on R^n has exactly 3 cells of full dimension; the leaves name a point "
        "inside each. The tree has 5 nodes."
    )


# ---- Contradictions

#: The classes that contain a class, which are those of weaker hypotheses.
CLASSES: tuple[Among, ...] = ("generic", "transversal", "regular", "all")


class Said(NamedTuple):
    """What an accepted sentence says of one network."""

    kind: str
    among: str
    other: Network | None  # a parameter of the class with the same function
    is_nobody: bool  # nobody in the class has the function


def said(data: bytes) -> Said:
    sentence, claim = accepted(data), json.loads(data)["claim"]
    assert f"is {claim['kind']} on R^n among {claim['among']} parameters" in sentence
    other = from_document(claim["other"]["inline"]) if "other" in claim else None
    return Said(claim["kind"], claim["among"], other, "so nobody in the class" in sentence)


def contains(larger: Any, smaller: Any) -> bool:
    return CLASSES.index(larger) >= CLASSES.index(smaller)


def first_layer(network: Network) -> set[tuple[Fraction, ...]]:
    """Return the rows [W|b] of layer 1 up to positive and negative multiples."""
    found = set()
    for row, b in zip(network.weight(1).rows(), network.layers[0].bias.entries(), strict=True):
        first = next((x for x in (*row, b) if x), Fraction(1))
        found.add(tuple(x / first for x in (*row, b)))
    return found


def contradiction(network: Network, one: Said, two: Said) -> str:
    """Return why two sentences cannot both be true; empty if they can."""
    if two.other is None or not contains(one.among, two.among):
        return ""
    if one.is_nobody:
        return f"nobody among {one.among} parameters, and somebody among {two.among} ones"
    if one.kind == "identifiable":
        return f"identifiable among {one.among} parameters, and not among {two.among} ones"
    if one.kind == "determined" and first_layer(network) != first_layer(two.other):
        return "layer 1 is determined, and the other network has another one"
    return ""


def sentences(network: Network, budget: float) -> Iterator[bytes]:
    """Yield every certificate that the provers write for a network, whatever class is asked for."""
    for among in CLASSES:
        outcome = identify(network, among=among, budget=budget)
        if isinstance(outcome, Undecided) and outcome.part is not None:
            yield certificate_bytes(outcome.part)
        if isinstance(outcome, Identifiable | NotIdentifiable):
            yield certificate_bytes(outcome)


def small_network(rng: Random) -> Network:
    """Return a network with two hidden layers; neurons are often dead, linear or hidden."""
    sign = rng.choice((-1, 1, 1))
    first = [[rng.randint(-2, 2) for _ in range(2)] for _ in range(2)]
    second = [
        [rng.choice((-3, -2, -1, 1, 2, 3)) for _ in range(2)],
        rng.choice(([sign, 2 * sign], [3, -1])),
    ]
    layers = [(first, [rng.randint(-1, 1) for _ in range(2)])]
    layers.append((second, [rng.choice((-2, -1, 1)), rng.choice((-3, -1, sign))]))
    layers.append(([[1, rng.choice((0, 0, 1, -1))]], [0]))
    return from_arrays(layers)


@pytest.mark.parametrize("count", few_some_and_all(10, 40, 150))
def test_no_two_sentences_contradict_each_other(count: int) -> None:
    rng, kinds = Random(7), set[str]()
    for number in range(count):
        network = small_network(rng)
        with case(number):
            found = [said(data) for data in sentences(network, 50)]
            kinds.update(statement.kind for statement in found)
            for one, two in product(found, repeat=2):
                assert not contradiction(network, one, two)
    assert kinds >= {"identifiable", "not-identifiable"}


def test_a_contradiction_is_seen() -> None:
    """The sentence that version 1 once had for DEAD contradicts its other sentence."""
    refuted = {"status": "refuted", "method": "masks", "layer": 2, "masks": [[1], [0]]}
    part, other = said(first_layer_of_dead(refuted)), said(another_dead_neuron())
    assert not contradiction(DEAD, part, other)
    assert contradiction(DEAD, part._replace(is_nobody=True), other)
    assert contradiction(DEAD, part._replace(kind="identifiable"), other)
    assert contradiction(from_arrays([([[1, 1], [1, 0]], [0, 0])]), part, other)
