"""The answers of the corpus, computed by the package; `truth` checks them by other routes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from benchmarks.corpus.specimen import Specimen
from polyrelu import (
    canonical_complex,
    certify_complex,
    equivalent,
    fiber,
    identify,
    injective,
    related,
)
from polyrelu.breakpoints import breakpoint_complex
from polyrelu.certificate import Certificate
from polyrelu.complex import PolyhedralComplex
from polyrelu.exact import format_rational
from polyrelu.fibers.report import fiber_object
from polyrelu.foldsets import region_counts
from polyrelu.formats import parse_domain
from polyrelu.network import Network
from polyrelu.outcomes import Injective, NotEquivalent, NotInjective, Proved, Refuted, Undecided
from polyrelu.support.text_files import layout
from polyrelu.topology import betti_numbers, level_set, sublevel_set

__all__ = ["Answered", "answered", "text_of"]

#: What certificates say of their origin, so that their bytes change with the corpus only.
TOOL = "polyrelu, corpus version 1"
#: Units of work for each question.
_BUDGET = 20_000
#: Maximum number of inputs for complexes, and for level sets; of regions for certificates of them.
_MAX_COMPLEX_INPUTS, _MAX_TOPOLOGY_INPUTS, _MAX_CERTIFIED_REGIONS = 8, 3, 40
#: Maximum number of members of a fiber that are made.
_MAX_MEMBERS = 3
#: Maximum number of inputs and hidden neurons for the question of injectivity.
_MAX_INJECTIVE = 14


@dataclass
class Answered:
    """The answers about a network as a JSON object, with certificates and outcomes by name.

    The members of the fiber are made for the checks.
    """

    answers: dict[str, Any]
    certificates: dict[str, bytes] = field(default_factory=dict)
    outcomes: dict[str, Any] = field(default_factory=dict)
    members: list[Network] = field(default_factory=list)


def answered(specimen: Specimen, networks: dict[str, Network]) -> Answered:
    """Compute all answers about a network; `networks` has those that it is compared with."""
    network = specimen.network
    found = Answered({"complexes": [], "outputs": [], "level_sets": []})
    if network.num_inputs <= _MAX_COMPLEX_INPUTS:
        _geometry(found, specimen)
    found.answers["identifiability"] = _identifiability(found, network)
    found.answers["fiber"] = None if network.last == "relu" else _fiber(found, network)
    found.answers["injectivity"] = list(_injectivity(found, specimen))
    found.answers["equivalence"] = list(_equivalence(found, specimen, networks))
    return found


def _geometry(found: Answered, specimen: Specimen) -> None:
    """Add the complexes, and what they show."""
    network = specimen.network
    whole = canonical_complex(network)
    box = canonical_complex(network, specimen.domain)
    found.answers["complexes"] = [
        {"domain": "R^n", **_complex(whole)},
        {"domain": specimen.domain, **_complex(box)},
    ]
    found.answers["outputs"] = _outputs(specimen, box)
    found.answers["level_sets"] = list(_level_sets(specimen, found.answers["outputs"]))
    if box.num_regions <= _MAX_CERTIFIED_REGIONS:
        certified = certify_complex(box)
        if not isinstance(certified, Undecided):
            found.answers["complexes"][1]["certificate"] = _keep(found, "complex", certified)


def text_of(values: Iterable[Any]) -> list[str]:
    """Return numbers as "p/q"."""
    return list(map(_text, values))


def _text(value: Any) -> str:
    return format_rational(Fraction(value))


# --- Cells ----------------------------------------------------------------------------------------


def _complex(cells: PolyhedralComplex) -> dict[str, Any]:
    order = sorted(range(cells.num_regions), key=lambda k: str(cells.signs_of_region(k)))
    place = {old: new for new, old in enumerate(order)}
    counts = region_counts(cells)
    vertices = sorted(cells.vertex(k) for k in range(cells.size(0)))
    return {
        "f_vector": list(cells.f_vector),
        "num_regions": cells.num_regions,
        "num_bounded_regions": cells.num_bounded_regions,
        "lineality_dim": cells.lineality_dim,
        "num_linear_regions": counts.num_open_connected,
        "num_affine_maps": counts.num_affine,
        "num_neighbours": len(cells.adjacency()),
        "vertices": [text_of(vertex) for vertex in vertices],
        "regions": [_region(cells, k) for k in order],
        "bends": _bends(cells, place),
    }


def _region(cells: PolyhedralComplex, index: int) -> dict[str, Any]:
    affine = cells.network.affine_map_at(cells.interior_point(index))
    region: dict[str, Any] = {
        "signs": str(cells.signs_of_region(index)),
        "bounded": bool(cells.bounded[index]),
        "point": text_of(cells.interior_point(index)),
        "gradient": [text_of(row) for row in affine.matrix.rows()],
        "constant": text_of(affine.offset.entries()),
    }
    if region["bounded"]:
        region["volume"] = format_rational(cells.volume(index))
    return region


def _bends(cells: PolyhedralComplex, place: dict[int, int]) -> list[dict[str, Any]]:
    """The facets where the gradient jumps; forms are positive on the second region."""
    found = []
    for weight in breakpoint_complex(cells):
        if not weight.visible:
            continue
        first, second, sign = place[weight.minus], place[weight.plus], 1
        if first > second:
            first, second, sign = second, first, -1
        found.append(
            {
                "regions": [first, second],
                "normal": [sign * n for n in weight.normal],
                "offset": format_rational(sign * weight.offset),
                "weight": text_of(weight.weight),
            }
        )
    return sorted(found, key=lambda bend: bend["regions"])


# --- Outputs --------------------------------------------------------------------------------------


def _outputs(specimen: Specimen, box: PolyhedralComplex) -> list[dict[str, Any]]:
    """The ranges and largest gradients on the box, with the first vertices that attain them."""
    vertices = sorted(box.vertex(k) for k in range(box.size(0)))
    values = specimen.network.evaluate(vertices)
    maps = [
        specimen.network.affine_map_at(box.interior_point(k)).matrix for k in range(box.num_regions)
    ]
    found = []
    for output in range(specimen.network.num_outputs):
        column = [value[output] for value in values]
        rows = [list(matrix.rows())[output] for matrix in maps]
        low, high = min(column), max(column)
        found.append(
            {
                "domain": specimen.domain,
                "lower": format_rational(low),
                "argmin": text_of(vertices[column.index(low)]),
                "upper": format_rational(high),
                "argmax": text_of(vertices[column.index(high)]),
                "lipschitz_linf": _text(max(sum(map(abs, row)) for row in rows)),
                "lipschitz_l2_squared": _text(max(sum(x * x for x in row) for row in rows)),
            }
        )
    return found


def _level_sets(specimen: Specimen, outputs: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The Betti numbers of {f ≤ c} and {f = c} for the first output."""
    if specimen.network.num_inputs > _MAX_TOPOLOGY_INPUTS:
        return
    middle = (Fraction(outputs[0]["lower"]) + Fraction(outputs[0]["upper"])) / 2
    for level in specimen.levels or (middle,):
        yield {
            "domain": specimen.domain,
            "output": 0,
            "level": format_rational(level),
            "sublevel": list(betti_numbers(sublevel_set(specimen.network, level, specimen.domain))),
            "level_set": list(betti_numbers(level_set(specimen.network, level, specimen.domain))),
        }


# --- Proofs ---------------------------------------------------------------------------------------


def _identifiability(found: Answered, network: Network) -> dict[str, Any]:
    outcome = identify(network, budget=_BUDGET)
    answer: dict[str, Any] = {"domain": "R^n", "status": outcome.status}
    if isinstance(outcome, Undecided):
        return answer
    certificate = outcome.certificate
    answer |= {"among": certificate.claim.among, "theorem": certificate.theorem}
    return {**answer, "certificate": _keep(found, "identify", outcome)}


def _fiber(found: Answered, network: Network) -> dict[str, Any]:
    described = fiber(network, budget=_BUDGET)
    found.members = [part.member(seed=1) for part in described.components[:_MAX_MEMBERS]]
    known = fiber_object(described)
    return {
        "complete_among": known["complete"],
        "dimension": known["dimension"],
        "component_dimensions": [part["dimension"] for part in known["components"]],
    }


def _injectivity(found: Answered, specimen: Specimen) -> Iterator[dict[str, Any]]:
    network = specimen.network
    if network.num_inputs + len(network.neurons) > _MAX_INJECTIVE:
        return
    for domain in ("R^n", specimen.domain):
        outcome = injective(network, domain, budget=_BUDGET)
        answer: dict[str, Any] = {"domain": domain, "status": outcome.status}
        if isinstance(outcome, NotInjective):
            answer["witness"] = {
                "x": text_of(outcome.witness.x),
                "y": text_of(outcome.witness.y),
                "value": text_of(outcome.witness.value),
            }
        if isinstance(outcome, Injective):
            name = "injective" if domain == "R^n" else "injective-box"
            answer["certificate"] = _keep(found, name, outcome)
        yield answer


def _equivalence(
    found: Answered, specimen: Specimen, networks: dict[str, Network]
) -> Iterator[dict[str, Any]]:
    for name, domains in specimen.twins:
        for domain in domains:
            outcome = equivalent(
                specimen.network,
                networks[name],
                parse_domain(domain, specimen.network.num_inputs),
                budget=_BUDGET,
            )
            answer: dict[str, Any] = {
                "other": name,
                "domain": domain,
                "status": outcome.status,
                "related": networks[name].widths == specimen.network.widths
                and related(specimen.network, networks[name]),
            }
            if isinstance(outcome, NotEquivalent):
                answer["witness"] = {
                    "x": text_of(outcome.witness.x),
                    "f": text_of(outcome.witness.f),
                    "g": text_of(outcome.witness.g),
                }
            name_of_file = "equivalent" if domain == "R^n" else "equivalent-box"
            if not isinstance(outcome, Undecided):
                answer["certificate"] = _keep(found, name_of_file, outcome)
            yield answer


def _keep(found: Answered, name: str, outcome: Proved[Any] | Refuted) -> str:
    """Keep the certificate of an outcome under a name; its remark names the corpus."""
    found.outcomes[name] = outcome
    certificate = replace(outcome.certificate, unverified={"tool": TOOL})
    if isinstance(certificate, Certificate):
        found.certificates[name] = layout(certificate.to_document()[0]).encode("ascii")
    else:
        found.certificates[name] = certificate.to_bytes()
    return name
