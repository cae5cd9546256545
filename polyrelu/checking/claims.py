"""References to networks, the classes of competitors, and claims with their sentences."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from polyrelu.checking.meter import Meter, Stop, counted, quote, require, well_formed
from polyrelu.checking.networks import Network, read_network
from polyrelu.checking.text import (
    NETWORK_BYTES,
    RATIONAL,
    ROW,
    OneOf,
    parse,
    rational,
    unpacked,
)

# ==== 3. Certificates ====

SHA256 = re.compile("[0-9a-f]{64}")
FILE_NAME = re.compile("(?![.])[A-Za-z0-9._-]{1,200}")
REFERENCE = OneOf(({"sha256": SHA256, "inline": object}, {"sha256": SHA256, "file": FILE_NAME}))
MAX_NOTES = 32

#: Candidates for a network file: name and bytes, the file of the given name first.
Search = Callable[[str], Iterable[tuple[str, bytes]]]


def check_notes(notes: Any, place: str) -> None:
    """The shape of `unverified`; nothing depends on what it says."""
    message = f"must be an object of at most {MAX_NOTES} strings"
    well_formed(type(notes) is dict, message, place)
    well_formed(len(notes) <= MAX_NOTES, message, place)
    well_formed(all(type(note) is str for note in notes.values()), message, place)


def read_reference(reference: Any, place: str, search: Search, meter: Meter) -> Network:
    """The network of a reference. Its hash is recomputed, and decides."""
    wanted, name, wrong = reference["sha256"], reference.get("file", ""), ""
    if not name:
        network = read_network(reference["inline"], place, meter)
        require(network.sha256 == wanted, wanted, network.sha256, "hash")
        return network
    for label, data in search(name):
        meter.allow(len(data))
        text = unpacked(data, label, NETWORK_BYTES, meter)
        network = read_network(parse(text, label, NETWORK_BYTES, meter), label, meter)
        if network.sha256 == wanted:
            return network
        if label == name:
            wrong = network.sha256
    require(not wrong, wanted, wrong, "hash")
    message = f"the file {name} is missing, and no given one has its hash"
    raise Stop("unreadable", "its network file", message, place)


# ==== 3.1 Words ====

#: The classes of competitors; each one contains those before it.
CLASSES = ("generic", "transversal", "regular", "all")
#: The class of transversal parameters that may have zero weights.
SPARSE = "sparse"
#: The classes of Theorem D.
DEEP_CLASSES = ("regular", "transversal")
MINORS_ARE_ENOUGH = "minors imply G2 (docs/theory/bottleneck.md)"
#: What is trusted besides where minors show membership in a class.
TRUSTED_OF_MINORS = {
    "generic": MINORS_ARE_ENOUGH,
    **dict.fromkeys(
        (*DEEP_CLASSES, SPARSE),
        f"{MINORS_ARE_ENOUGH}, generic implies transversal, which implies regular (FORMAT.md)",
    ),
}

# ==== 3.2 Claims ====

DOMAIN = {"inequalities": [ROW], "equations": [ROW]}
#: Where competitors agree: on R^n, or on the interior of a domain.
WHERE = OneOf(("R^n", DOMAIN))
#: The architecture that competitors share, where they are no plain stacks (3.13, 3.14).
ARCHITECTURE = OneOf(({"kind": "leaky", "slope": RATIONAL}, {"kind": "blocks"}))
AMONG = {"network": REFERENCE, "domain": WHERE, "among": re.compile("|".join((*CLASSES, SPARSE)))}
PAIR = {"network": REFERENCE, "other": REFERENCE, "domain": DOMAIN}
#: What a claim size counts.
QUANTITY = re.compile("hidden-layers|neurons|neurons-of-one-layer")
#: The claims of certificates that are one JSON value.
CLAIMS = OneOf(
    (
        {"kind": "identifiable", **AMONG},
        {"kind": "not-identifiable", **AMONG, "other": REFERENCE},
        {"kind": "identifiable", **AMONG, "architecture": ARCHITECTURE},
        {
            "kind": "not-identifiable",
            **AMONG,
            "architecture": ARCHITECTURE,
            "other": REFERENCE,
        },
        {"kind": "determined", **AMONG, "layers": int, "neurons": [int]},
        {"kind": "not-equivalent", **PAIR},
        {
            "kind": "runtime-error",
            "network": REFERENCE,
            "arithmetic": re.compile("float32|float64"),
            "domain": {"lower": [RATIONAL], "upper": [RATIONAL]},
            "at-most": [RATIONAL],
        },
        {
            "kind": re.compile("injective|not-injective"),
            "network": REFERENCE,
            "layers": (int, int),
            "domain": DOMAIN,
        },
        {
            "kind": "inverse-lipschitz",
            "network": REFERENCE,
            "layers": (int, int),
            "domain": DOMAIN,
            "at-least": RATIONAL,
            "at-most": RATIONAL,
        },
        {
            "kind": "teaching-set",
            "network": REFERENCE,
            "count": int,
            "pins": re.compile("function|parameters"),
        },
        {"kind": "size", **AMONG, "quantity": QUANTITY, "at-least": int},
        {
            "kind": "functional-dimension",
            "network": REFERENCE,
            "domain": DOMAIN,
            "at-least": int,
            "at-most": int,
        },
    )
)
#: The kinds of claims, of one JSON value, whose networks may have skip connections.
OF_ANY_NETWORKS = ("not-equivalent", "injective", "not-injective", "inverse-lipschitz")
#: A linear function of outputs and inputs that is not positive, or negative (5.8).
COEFFICIENTS = [(int, RATIONAL)]
LINEAR_ROW = {
    "is": re.compile("<=0|<0"),
    "f": COEFFICIENTS,
    "g": COEFFICIENTS,
    "x": COEFFICIENTS,
    "constant": RATIONAL,
}
EXCEPT = [{"lower": [RATIONAL], "upper": [RATIONAL]}]
PROPERTY = {"kind": "holds", "clauses": [[LINEAR_ROW]], "except": EXCEPT}
DECISIONS = {"kind": "same-decisions", **PAIR, "margin": RATIONAL, "except": EXCEPT}
#: The kinds of claims that are about both of two networks.
OF_PAIRS = ("equivalent", "not-equivalent", "deviation", "holds", "same-decisions")
#: The claims of tree files.
TREE_CLAIMS: dict[str, Any] = {
    "equivalent": {"kind": "equivalent", **PAIR},
    "regions": {"kind": "regions", "network": REFERENCE, "domain": DOMAIN, "count": int},
    "complex": {"kind": "complex", "network": REFERENCE, "domain": DOMAIN, "f-vector": [int]},
    "deviation": {
        "kind": "deviation",
        **PAIR,
        "outputs": [int],
        "at-least": RATIONAL,
        "at-most": RATIONAL,
        "except": EXCEPT,
    },
    "range": {
        "kind": "range",
        "network": REFERENCE,
        "domain": DOMAIN,
        "outputs": [(int, (RATIONAL, RATIONAL), (RATIONAL, RATIONAL))],
    },
    "holds": OneOf(
        ({"network": REFERENCE, "domain": DOMAIN, **PROPERTY}, {**PAIR, **PROPERTY}),
    ),
    "lipschitz": {
        "kind": "lipschitz",
        "network": REFERENCE,
        "domain": DOMAIN,
        "outputs": [int],
        "norm": re.compile("1|2|inf"),
        "at-least": RATIONAL,
        "at-most": RATIONAL,
    },
    "same-decisions": OneOf((DECISIONS, {**DECISIONS, "choose": re.compile("smallest")})),
}
#: Maximum number of neurons that a sentence lists, and of characters of a domain in it.
LISTED_NEURONS, DOMAIN_CHARACTERS = 16, 400
#: Maximum number of dimensions for which a sentence lists the numbers of cells.
LISTED_DIMENSIONS = 16
#: Maximum number of outputs that a sentence lists.
LISTED_OUTPUTS = 8
#: Maximum number of terms of the inequalities that a sentence lists, and of characters of a number.
LISTED_TERMS, LONGEST_NUMBER = 24, 24

MOVES = "permuting and positively scaling hidden neurons"
EVERYBODY = "all of them that have this architecture and compute the same real function"
WHOLE_SPACE = "R^n"
#: What the membership of a network adds to the sentence "identifiable". A class is closed under
#: permuting and scaling, so a competitor in the class would put the network into it.
MEMBERSHIP_OF_IDENTIFIABLE = {
    "": "",
    "verified": "; it is itself in the class",
    "open": "; whether it is itself in the class is open",
    "refuted": "; it is itself not in the class, so nobody in the class computes its function",
}
#: The same for "determined". A competitor agrees with the network in the part only: it may be in
#: the class although the network is not.
MEMBERSHIP_OF_DETERMINED = {
    **MEMBERSHIP_OF_IDENTIFIABLE,
    "refuted": "; it is itself not in the class, and whether anybody in the class computes its "
    "function is left open",
}


def name_of(network: Network) -> str:
    """The beginning of a sentence: hash and widths."""
    return f"Network {network.sha256[:12]}, {network}"


def sentence(
    theorem: str, claim: Any, one: Network, two: Network, status: str, meter: Meter
) -> str:
    """The claim in English: about exact weights and real arithmetic, as FORMAT.md says."""
    kind = claim["kind"]
    if kind == "runtime-error":
        return runtime_sentence(claim, one, meter)
    if kind in ("equivalent", "not-equivalent"):
        return pair_sentence(claim, one, two)
    if kind in ("injective", "not-injective"):
        return injectivity_sentence(claim, one)
    if kind == "inverse-lipschitz":
        return lipschitz_sentence(claim, one)
    if kind == "teaching-set":
        return teaching_sentence(claim, one)
    if kind in ("regions", "complex"):
        return cells_sentence(theorem, claim, one)
    if kind in ("deviation", "range", "holds", "same-decisions", "lipschitz"):
        return bounds_sentence(claim, one, two)
    if kind == "size":
        return size_sentence(claim, one)
    if kind == "functional-dimension":
        return dimension_sentence(claim, one)
    return competitors_sentence(claim, one, two, status)


def competitors_sentence(claim: Any, one: Network, two: Network, status: str) -> str:
    """The claim about all competitors, or about one of them."""
    place, members, there = competitors_words(claim)
    members += members_words(claim)
    name = name_of(one) + architecture_words(claim)
    head = f"{name}, is {claim['kind']} on {place} among {members}"
    if claim["kind"] == "not-identifiable":
        return (
            f"{head}: network {two.sha256[:12]} is one of them, computes the same real "
            f"function{there}, and is not related to it by {MOVES}."
        )
    everybody = f"{EVERYBODY}{there}"
    if claim["kind"] == "determined":
        part, known = part_words(claim), MEMBERSHIP_OF_DETERMINED[status]
        agree = "agree with it in this part" if there else "agree with it there"
        return f"{head} in {part}: {everybody} {agree} after {MOVES}{known}."
    return f"{head}: {everybody} are related to it by {MOVES}{MEMBERSHIP_OF_IDENTIFIABLE[status]}."


def architecture_words(claim: Any) -> str:
    """What the architecture adds to the name, where it is a leaky ReLU stack."""
    if claim.get("architecture", {}).get("kind") != "leaky":
        return ""
    return f", a leaky ReLU stack of slope {bare(claim['architecture']['slope'])}"


def members_words(claim: Any) -> str:
    """The networks whose parameters competitors have, where they are no plain stacks."""
    kind = claim.get("architecture", {}).get("kind")
    if kind == "leaky":
        return " of such stacks (FORMAT.md, section 3.13)"
    if kind == "blocks":
        return (
            " of all networks of its widths whose layers read the same layers, with any weights "
            "(FORMAT.md, section 3.14)"
        )
    return ""


def competitors_words(claim: Any) -> tuple[str, str, str]:
    """Where competitors agree, which class they are of, and `there` if that is not all of R^n.

    Whether a parameter is of a class but `all` depends on the place.
    """
    domain, among = claim["domain"], claim["among"]
    place = domain if isinstance(domain, str) else domain_words(domain)
    if place == WHOLE_SPACE:
        return place, f"{among} parameters", ""
    members = "all parameters" if among == "all" else f"parameters that are {among} there"
    return f"the interior of {place}", members, " there"


def part_words(claim: Any) -> str:
    """Which hidden layers and neurons are determined; their rows [W|b] are."""
    last, neurons = claim["layers"], claim["neurons"]
    if not neurons:
        whole, end = last - 1, f"layer {last}"
    else:
        whole, noun = last, "neuron" if len(neurons) == 1 else "neurons"
        names = f"{noun} {', '.join(map(str, neurons[:LISTED_NEURONS]))}"
        if len(neurons) > LISTED_NEURONS:
            names = f"{len(neurons)} neurons"
        end = f"{names} of layer {last + 1}"
    before = f"layers 1 to {whole} and in " if whole > 1 else "layer 1 and in " if whole else ""
    return f"{before}{end} up to signs of rows [W|b]"


def runtime_sentence(claim: Any, network: Network, meter: Meter) -> str:
    """The claim about a float runtime."""
    name = claim["arithmetic"]
    worst = bare(max(claim["at-most"], key=lambda text: rational(text, meter)))
    return (
        f"{name_of(network)}, computed layer by layer in {name} (FORMAT.md, section 3.7) at {name} "
        f"inputs in the given box, has a runtime-error of at most {worst}: the distance to its "
        "function."
    )


def pair_sentence(claim: Any, one: Network, two: Network) -> str:
    """The claim about two networks."""
    place = domain_words(claim["domain"])
    end = f"they differ at a point of {place}"
    if claim["kind"] == "equivalent":
        end = f"they compute the same real function on {place}"
    head = f"{name_of(one)}, and network {two.sha256[:12]}, {two}, are {claim['kind']}"
    return f"{head}: {end}."


def injectivity_sentence(claim: Any, network: Network) -> str:
    """The claim that no two points, or some two points, have equal outputs."""
    (first, last), is_not = claim["layers"], claim["kind"] == "not-injective"
    place, outputs = domain_words(claim["domain"]), values_of_part(claim, network)
    if first == 1:
        whole = f" in layers 1 to {last}" if last < len(network.layers) else ""
        head = f"{name_of(network)}, is {claim['kind']}{whole} on {place}"
    else:
        part = f"layers {first} to {last}" if first < last else f"layer {first}"
        head = (
            f"The map of {part} of network {network.sha256[:12]}, {network}, is {claim['kind']} on "
            f"{place}, for any inputs of layer {first} there"
        )
    points = "two different points have equal" if is_not else "no two points have equal"
    return f"{head}: {points} {outputs}."


def values_of_part(claim: Any, network: Network) -> str:
    """What the part of a claim computes."""
    last = claim["layers"][1]
    return f"activations of layer {last}" if last < len(network.layers) else "outputs"


def lipschitz_sentence(claim: Any, network: Network) -> str:
    """The claim about the least factor by which distances change."""
    (first, last), place = claim["layers"], domain_words(claim["domain"])
    part = f"layers {first} to {last}" if first < last else f"layer {first}"
    low, high = bare(claim["at-least"]), bare(claim["at-most"])
    return (
        f"The map of {part} of network {network.sha256[:12]}, {network}, has an inverse-lipschitz "
        f"constant on {place} whose square is at least {low} and at most {high}: the least "
        f"quotient of squared distances, of {values_of_part(claim, network)} over inputs."
    )


def teaching_sentence(claim: Any, network: Network) -> str:
    """The claim that the values at some points determine a network."""
    end = f", and is related to it by {MOVES}" if claim["pins"] == "parameters" else ""
    neurons = counted(network.widths[1], "neuron")
    return (
        f"{name_of(network)}, has a teaching-set of {counted(claim['count'], 'point')}, which the "
        f"file lists: every network with one hidden layer of at most {neurons} and the same "
        f"outputs at these points computes the same real function on {WHOLE_SPACE}{end}."
    )


def bounds_sentence(claim: Any, one: Network, two: Network) -> str:
    """The claim about the values of one or of two networks."""
    place, kind, boxes = domain_words(claim["domain"]), claim["kind"], claim.get("except", [])
    noun = "listed box" if len(boxes) == 1 else "listed boxes"
    outside = f", outside of {len(boxes)} {noun}" if boxes else ""
    pair = f"{name_of(one)}, and network {two.sha256[:12]}, {two}"
    if kind == "range":
        return f"{name_of(one)}, has this range on {place}: {range_words(claim)}."
    if kind == "lipschitz":
        return f"{name_of(one)}, has a Lipschitz constant on {place}: {lipschitz_words(claim)}."
    if kind == "deviation":
        return f"{pair}, have a deviation on {place}: {deviation_words(claim, outside)}."
    if kind == "same-decisions":
        margin = bare(claim["margin"])
        more = f" by more than {margin}" if claim["margin"] != "0" else ""
        wins = "is smaller than" if "choose" in claim else "exceeds"
        return (
            f"{pair}, make the same-decisions at every point of {place}{outside}: where one output "
            f"of the first network {wins} all others{more}, the same output of the second one "
            f"{wins} all others."
        )
    subject = pair if "other" in claim else name_of(one)
    return (
        f"{subject}: {property_words(claim['clauses'])} holds at every point of {place}{outside}; "
        "f are the outputs of the network" + (", g of the second one." if "other" in claim else ".")
    )


def property_words(clauses: Any) -> str:
    """A property as inequalities, or how many clauses it has."""
    rows = [row for clause in clauses for row in clause]
    terms = [entry for row in rows for key in ("f", "g", "x") for entry in row[key]]
    numbers = [row["constant"] for row in rows] + [entry[1] for entry in terms]
    if len(terms) > LISTED_TERMS or any(len(number) > LONGEST_NUMBER for number in numbers):
        return f"a property with {counted(len(clauses), 'clause')}, which the file lists,"
    texts = [" or ".join(map(row_words, clause)) for clause in clauses]
    return " and ".join(f"({text})" if len(texts) > 1 else text for text in texts)


def row_words(row: Any) -> str:
    """An inequality."""
    terms = [(number, f" {key}_{i}") for key in ("f", "g", "x") for i, number in row[key]]
    if row["constant"] != "0" or not terms:
        terms.append((row["constant"], ""))
    text = ""
    for number, name in terms:
        size = number.lstrip("-")
        size = name.strip() if name and size == "1" else f"{size}{name}"
        sign = "-" if number[0] == "-" else "+"
        text += f" {sign} {size}" if text else size if sign == "+" else f"-{size}"
    return f"{text} {'< 0' if row['is'] == '<0' else '<= 0'}"


def range_words(claim: Any) -> str:
    """The ranges of all outputs, or their number."""
    entries = claim["outputs"]
    if len(entries) > LISTED_OUTPUTS:
        return f"the least and largest values of {len(entries)} outputs are as claimed"
    return "; ".join(
        f"the least value of output {i} is {between_words(*low)}, its largest value is "
        f"{between_words(*high)}"
        for i, low, high in entries
    )


def between_words(low: str, high: str) -> str:
    """Where a number lies."""
    same = low == high
    return f"exactly {bare(low)}" if same else f"at least {bare(low)} and at most {bare(high)}"


def bare(number: str) -> str:
    """A number that was read, as `quote` has it, without its quotes."""
    return quote(number).replace("'", "")


#: The norm of gradients, and the norm of differences of inputs that belongs to it.
NORMS = {
    "1": ("1-norm", "largest difference of a coordinate"),
    "2": ("squared 2-norm", "squared Euclidean distance"),
    "inf": ("entry", "sum of the differences of all coordinates"),
}


def lipschitz_words(claim: Any) -> str:
    """How fast outputs can change, and by which distance of inputs."""
    size, distance = NORMS[claim["norm"]]
    squared = "squared " if claim["norm"] == "2" else ""
    is_flat = claim["domain"]["equations"]  # gradients point out of the domain there
    gradient = "" if is_flat else f"; it is the largest {size} of a gradient"
    return (
        f"the largest quotient of the {squared}difference of an output among "
        f"{outputs_words(claim['outputs'])} and the {distance} is "
        f"{between_words(claim['at-least'], claim['at-most'])}{gradient}"
    )


def outputs_words(listed: Any) -> str:
    """Which outputs a claim is about."""
    names = ", ".join(map(str, listed[:LISTED_OUTPUTS]))
    if len(listed) > LISTED_OUTPUTS:
        return f"{len(listed)} of the outputs"
    return f"output {names}" if len(listed) == 1 else f"outputs {names}"


def deviation_words(claim: Any, outside: str) -> str:
    """How much two networks differ, and for which outputs."""
    which, low, high = outputs_words(claim["outputs"]), claim["at-least"], claim["at-most"]
    if outside:
        return (
            f"the values of {which} differ by at most {bare(high)} at every point{outside}, and "
            f"by at least {bare(low)} at a point of the domain"
        )
    return f"the largest difference of the values of {which} is {between_words(low, high)}"


def cells_sentence(theorem: str, claim: Any, network: Network) -> str:
    """The claim about the regions of a network, or about all its cells."""
    if claim["kind"] == "regions":
        cells = f"{counted(claim['count'], 'cell')} of full dimension"
    else:
        counts = list(enumerate(claim["f-vector"]))
        numbers = [f"{number} of dimension {k}" for k, number in counts if number]
        cells = f"these cells: {', '.join(numbers[:LISTED_DIMENSIONS])}"
        if len(numbers) > LISTED_DIMENSIONS:
            cells = f"{sum(claim['f-vector'])} cells, by dimension as claimed"
    end = "the leaves name a point inside each"
    if theorem != "regions":
        end = "the file lists the vertices, with the signs of all neurons there"
    head = f"The canonical complex of network {network.sha256[:12]}, {network}, on "
    return f"{head}{domain_words(claim['domain'])} has exactly {cells}; {end}."


def size_sentence(claim: Any, network: Network) -> str:
    """The claim about the size of all networks with one function."""
    place, _, there = competitors_words(claim)
    kind = f"plain stacks with affine output that are {claim['among']}{there}"
    members = "all networks" if claim["among"] == "all" else kind
    noun = "hidden layer" if claim["quantity"] == "hidden-layers" else "hidden neuron"
    bound = f"at least {counted(claim['at-least'], noun)}"
    shapes, condition = "with any widths and any number of layers", ""
    if claim["quantity"] == "neurons-of-one-layer":
        shapes, condition = "with any width", " with one hidden layer"
    return (
        f"{name_of(network)}, computes on {place} a function that needs a size of {bound} among "
        f"{members}{condition}: every one of them, {shapes}, that computes the same real "
        f"function{there} has {bound}."
    )


def dimension_sentence(claim: Any, network: Network) -> str:
    """The claim about the rank of derivatives by parameters."""
    low, high, place = claim["at-least"], claim["at-most"], domain_words(claim["domain"])
    bounds = f"exactly {low}" if low == high else f"at least {low} and at most {high}"
    return (
        f"{name_of(network)}, has a functional-dimension of {bounds} on {place}: the largest rank "
        "of the derivatives of its outputs by weights and biases, at finitely many points at which "
        "no neuron vanishes."
    )


def domain_words(domain: Any) -> str:
    """A domain, a long one by its numbers of constraints."""
    sizes = {key: len(domain[key]) for key in ("inequalities", "equations")}
    if not any(sizes.values()):
        return WHOLE_SPACE
    rows = list[str]()
    for key, sign in (("inequalities", "<="), ("equations", "=")):
        for row in domain[key][:DOMAIN_CHARACTERS]:
            if len(row) > DOMAIN_CHARACTERS:
                row = "0" * DOMAIN_CHARACTERS  # too long to be shown
            coefficients, _, constant = row.rpartition(" ")
            rows.append(f"({coefficients}).x {sign} {constant}")
    place = f"{{x : {', '.join(rows)}}}"
    counts = " and ".join(f"{size} {key}" for key, size in sizes.items())
    is_short = len(place) <= DOMAIN_CHARACTERS
    return place if is_short else cube_words(domain) or f"the set of the claim's {counts}"


def cube_words(domain: Any) -> str:
    """A domain that bounds every coordinate in one and the same way; empty for others."""
    sides, size = dict[int, set[str]](), 0
    for text in domain["inequalities"]:
        row = text.split(" ")
        size, used = len(row) - 1, [j for j, a in enumerate(row[:-1]) if a != "0"]
        if len(used) != 1 or len(text) > 2 * len(row) + DOMAIN_CHARACTERS:
            return ""
        side = sides.setdefault(used[0], set())
        side.add(f"({row[used[0]]}).x_j <= {row[-1]}")
        if len(side) > 2:
            return ""
    first = sides.get(0, set())
    is_cube = len(sides) == size and all(side == first for side in sides.values())
    if not is_cube or domain["equations"]:
        return ""
    return f"{{x : {', '.join(sorted(first))} for every coordinate j}}"
