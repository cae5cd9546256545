"""The table of theorems, and the method that several of them share."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from polyrelu.checking.arithmetic import check_determinant, check_indices, dot
from polyrelu.checking.meter import Meter, require, well_formed
from polyrelu.checking.networks import Layer, Network
from polyrelu.checking.text import NATURAL, OneOf, integer

# ==== 3.3 Proofs ====


class Case:
    """What a rule is given: one claim, its networks, and the evidence for its hypotheses.

    `other` is the second network, or the only one. `lines` are the nodes of a tree file. `domain`
    is for a rule that needs the claim's domain in several places.
    """

    def __init__(
        self,
        networks: Sequence[Network],
        claim: Any,
        evidence: Mapping[str, Any],
        meter: Meter,
        lines: Any = None,
    ) -> None:
        self.network, self.other = networks[0], networks[-1]
        self.claim, self.evidence, self.meter, self.lines = claim, evidence, meter, lines
        self.domain: Any = None

    def hypothesis(self, name: str) -> Any:
        """The evidence for a hypothesis; from here on, failures belong to it."""
        self.meter.step = name
        return self.evidence[name]


Rule = Callable[[Case], None]


class Theorem(NamedTuple):
    """A theorem of certificates, with everything that belongs to it.

    `evidence` has the shape of the evidence by hypothesis, in order, and `says` what a hypothesis
    says when it is proved. Hypotheses in `optional` may be missing. `architecture` is the kind that
    claims name (3.13); it is empty for plain stacks, and where any networks are taken.
    """

    kind: str
    among: tuple[str, ...]  # empty for kinds of claims without competitors
    page: str
    evidence: Mapping[str, Any]
    says: Mapping[str, str]
    optional: tuple[str, ...]
    architecture: str
    rule: Rule


THEOREMS = dict[str, Theorem]()


def theorem(
    name: str,
    *,
    kind: str,
    page: str,
    evidence: Mapping[str, Any],
    says: Mapping[str, str],
    among: tuple[str, ...] = (),
    optional: tuple[str, ...] = (),
    architecture: str = "",
) -> Callable[[Rule], Rule]:
    """Enter a rule into the table of theorems."""

    def enter(rule: Rule) -> Rule:
        """Enter one rule, and return it unchanged."""
        page_of_docs = f"docs/{page}" if page.startswith("theory/") else page
        THEOREMS[name] = Theorem(
            kind, among, page_of_docs, evidence, says, optional, architecture, rule
        )
        return rule

    return enter


def layers_of(case: Case, depth: int) -> list[Layer]:
    """The layers of a network that has `depth` of them and an affine output."""
    case.meter.step = "theorem"
    network = case.network
    require(len(network.layers) == depth, f"L = {depth}", str(network))
    require(network.last == "affine", "an affine output", str(network))
    return network.layers


# -- Method: no vanishing subset sum

PRIMES = re.compile(f"{2**31 - 1}|{2**61 - 1}")
LARGE_PRIME = 2**61 - 1
MAX_DETERMINANT, MAX_SUMMANDS = 1_024, 40
SUBSETS = OneOf(
    (
        {"method": "independent", "prime": PRIMES, "entries": [(int, int)]},
        {"method": "subset-sums", "multiplier": NATURAL},
    )
)

#: The evidence on membership in a class (3.4).
MEMBERSHIP = OneOf(
    (
        {"status": "open"},
        {"status": "verified", "method": "every"},
        {"status": "verified", "method": "minors", "prime": PRIMES, "columns": [int]},
        {"status": "refuted", "method": "bias", "row": int},
        {"status": "refuted", "method": "product", "rows": [int], "column": int},
        {"status": "refuted", "method": "masks", "layer": int, "masks": [[int]]},
    )
)


def check_subset_sums(evidence: Any, lower: Layer, upper: Layer, meter: Meter) -> None:
    """No nonempty set of the matrices X_i = V_{.i} A_i has the sum 0."""
    meter.pay(2 * len(lower.rows) * len(lower.rows[0]), lower.bits)
    pairs = list(
        zip(zip(*upper.primitive_rows(), strict=True), lower.primitive_rows(), strict=True)
    )
    if evidence["method"] == "independent":
        check_independent(evidence, pairs, meter)
    else:
        check_all_sums(integer(evidence["multiplier"]), pairs, meter)


Pairs = list[tuple[tuple[int, ...], list[int]]]


def check_independent(evidence: Any, pairs: Pairs, meter: Meter) -> None:
    """Some entries of the X_i are a matrix with a determinant that is not 0 modulo a prime."""
    size, outputs, inputs = len(pairs), len(pairs[0][0]), len(pairs[0][1])
    entries, prime = evidence["entries"], int(evidence["prime"])
    require(all(k < inputs for _, k in entries), f"columns below {inputs}")
    in_order = [o * inputs + k for o, k in entries]
    check_indices(in_order, outputs * inputs, "entries", size)
    message = f"beyond the limits: a determinant of size above {MAX_DETERMINANT}"
    well_formed(size <= MAX_DETERMINANT, message)
    meter.pay_modular(2 * size * (size + outputs + inputs))
    reduced = [([x % prime for x in v], [x % prime for x in w]) for v, w in pairs]
    check_determinant([[v[o] * w[k] % prime for o, k in entries] for v, w in reduced], prime, meter)


def check_all_sums(multiplier: int, pairs: Pairs, meter: Meter) -> None:
    """No nonempty set of certain linear images of the X_i has a sum that is 0 modulo P."""
    p, outputs, inputs = LARGE_PRIME, len(pairs[0][0]), len(pairs[0][1])
    well_formed(multiplier < p, "beyond the limits: a multiplier above 2^61-2")
    message = f"beyond the limits: more than {MAX_SUMMANDS} neurons"
    well_formed(len(pairs) <= MAX_SUMMANDS, message)
    meter.pay_modular(60 * (outputs + inputs) + 4 * len(pairs) * (outputs + inputs))
    on_outputs = [pow(multiplier, o, p) for o in range(outputs)]
    on_columns = [pow(multiplier, outputs * k, p) for k in range(inputs)]
    values = [dot(v, on_outputs) % p * (dot(w, on_columns) % p) % p for v, w in pairs]
    half = len(values) // 2
    meter.pay_modular(6 << len(values) - half)
    meter.hold(4 << len(values) - half)
    factor = hash("factor") % (p - 1) + 1  # multiplied by it, nobody can make many hashes collide
    scaled = [factor * x % p for x in values]
    first, rest = ({s % p for s in nonempty_sums(part)} for part in (scaled[:half], scaled[half:]))
    fact = "nonzero subset sums mod 2^61-1"
    require(0 not in first, fact)
    require(0 not in rest, fact)
    require(not any(p - s in first for s in rest), fact)


def nonempty_sums(values: Sequence[int]) -> list[int]:
    """The sums of all nonempty subsets."""
    sums = [0]
    for x in values:
        sums += [s + x for s in sums]
    return sums[1:]
