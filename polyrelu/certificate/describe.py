"""A certificate file as text for people: the statement, its hypotheses, and what is trusted.

The text serves `polyrelu show` and papers (as LaTeX); it is made from the file alone. The checker
reads the file, so that the text is about what the checker would check, within the same limits.
Nothing here checks anything: a file that is no certificate is refused, a false certificate is not,
and the text says that the checker has the last word.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polyrelu.certificate.meanings import (
    BOUNDS_MEANING,
    COMPLEX_MEANING,
    DIMENSION_MEANING,
    GENERIC,
    INJECTIVITY_MEANING,
    LEAKY_REGULAR,
    LIPSCHITZ_MEANING,
    MEANING,
    MEANING_ON_DOMAIN,
    PAIR_MEANING,
    REGIONS_MEANING,
    REGULAR,
    RUNTIME_MEANING,
    SIZE_MEANING,
    SPARSE,
    TEACHING_MEANING,
    TRANSVERSAL,
)
from polyrelu.certificate.text import (
    bounds_text,
    cell_counts_text,
    domain_text,
    layers_text,
    number_text,
    part_text,
    property_text,
    size_text,
    vector_text,
)
from polyrelu.certificate.theorems import THEOREMS
from polyrelu.errors import CertificateError, NetworkError
from polyrelu.exact import decimal_above, parse_rational
from polyrelu.support.arguments import expect, expect_choice, expect_path
from polyrelu.support.display import bracketed, count_text, escaped_latex, html_table, widths_text
from polyrelu.support.limits import WIDTH_LIMIT
from polyrelu.support.text_files import wrapped

if TYPE_CHECKING:
    from polyrelu.checker import Contents

__all__ = ["CertificateText", "describe", "describe_latex", "read_certificate"]

#: Maximum numbers of characters of a remark and of its key, of sides of a box that are listed, and
#: of widths of an architecture.
_MAX_REMARK, _MAX_KEY, _MAX_SIDES, _MAX_WIDTHS = 1_000, 100, 8, 64


@dataclass(frozen=True, slots=True, repr=False)
class CertificateText:
    """The contents of a certificate file, unchecked.

    Attributes
    ----------
    kind
        The kind of the claim, as in FORMAT.md, section 3.2.
    sha256
        The hash of the network.
    other
        The hash of the other network, where the claim names two.
    network
        The architecture if the network stands in the certificate, otherwise the file that holds it.
    among
        The class of competitors; empty where there are none.
    domain
        The domain in words. For a claim about a float runtime it is the box with the bound, for one
        about regions or cells their number with the domain, and for one about a part of the
        parameters the domain with this part. For one about injectivity it is the layers with
        the domain, for one about sizes or dimensions the domain with the bounds.
    theorem
        The name of the theorem, a key of `THEOREMS`.
    hypotheses
        Pairs of a name and a statement with a note on the evidence.
    unverified
        Remarks for people, by key.

    Examples
    --------
    >>> from dataclasses import fields
    >>> [field.name for field in fields(CertificateText)][:3]
    ['kind', 'sha256', 'other']
    """

    kind: str
    sha256: str
    other: str | None
    network: str
    among: str
    domain: str
    theorem: str
    hypotheses: tuple[tuple[str, str], ...]
    unverified: dict[str, str]

    def __post_init__(self) -> None:
        expect_choice(self.theorem, THEOREMS, "theorem")

    def __repr__(self) -> str:
        return bracketed(f"CertificateText, {self.kind} by '{self.theorem}': {self.network}")

    def _repr_html_(self) -> str:
        theorem = THEOREMS[self.theorem]
        return html_table(
            [
                ("claim", _statement(self).removeprefix("Claim: ")),
                ("theorem", f"{theorem.title} ({theorem.proof})"),
                *(("hypothesis", f"{name}: {text}") for name, text in self.hypotheses),
                *((f"unverified: {key}", value) for key, value in self.unverified.items()),
            ]
        )


def read_certificate(path: str | Path) -> CertificateText:
    """Read the contents of a certificate file, without checking it.

    Parameters
    ----------
    path
        The path of a certificate or a split tree, compressed or not.

    Returns
    -------
    CertificateText
        The contents in words.

    Raises
    ------
    CertificateError
        The file cannot be read, or is no certificate.

    Examples
    --------
    >>> import tempfile
    >>> from polyrelu.certificate import Certificate, Claim
    >>> from polyrelu.network import from_arrays
    >>> claim = Claim("identifiable", from_arrays([([[1, 2]], [3])]), "all")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     (file,) = Certificate(claim, "affine", ()).save(f"{folder}/affine.json")
    ...     certificate = read_certificate(file)
    >>> certificate.kind, certificate.network, certificate.theorem
    ('identifiable', '2-1 network', 'affine')
    """
    from polyrelu import checker

    path = expect_path(path, "path")
    try:
        return _text_of(checker.read_contents(path))
    except checker.Stop as stop:
        if not os.path.isfile(path):
            raise CertificateError(f"{path}: {stop.got}; expected a certificate") from None
        raise CertificateError(
            f"{path}: not a polyrelu certificate: {stop.place or 'reading'}: {stop.got}"
        ) from None
    except (ValueError, NetworkError):  # such as sides of different numbers
        raise CertificateError(
            f"{path}: not a polyrelu certificate; `polyrelu check` says where it fails"
        ) from None


def describe(certificate: CertificateText) -> str:
    """Return the statement, the hypotheses and what is trusted, as text.

    Parameters
    ----------
    certificate
        The contents of a certificate file.

    Returns
    -------
    str
        Lines of at most 100 columns.

    Examples
    --------
    >>> certificate = CertificateText(
    ...     "identifiable", "0" * 64, None, "2-1 network", "all", "R^n", "affine", (), {}
    ... )
    >>> describe(certificate).splitlines()[4]
    'Theorem: no hidden layer'
    """
    _expect_text(certificate)
    theorem = THEOREMS[certificate.theorem]
    lines = [_statement(certificate), "", f"Theorem: {theorem.title}", f"  {theorem.statement}"]
    lines += [
        f"  Proof: {theorem.proof}",
        "",
        "Hypotheses (each re-derived by `polyrelu check`; this text checks nothing):",
    ]
    lines += [f"  [{name}] {statement}" for name, statement in certificate.hypotheses] or ["  none"]
    lines += [
        "Assumed: none",
        "",
        "Trusted: the theorem as proved there, FORMAT.md, and the checker.",
        _meaning(certificate),
    ]
    lines += [f"Unverified: {key}: {value}" for key, value in certificate.unverified.items()]
    return "\n".join(wrapped(line) for line in lines)


def describe_latex(certificate: CertificateText) -> str:
    r"""Return the same text as a LaTeX fragment.

    Parameters
    ----------
    certificate
        The contents of a certificate file.

    Returns
    -------
    str
        A proposition, a proof and a remark; comments in the first lines name the packages that they
        need.

    Examples
    --------
    >>> certificate = CertificateText(
    ...     "identifiable", "0" * 64, None, "2-1 network", "all", "R^n", "affine", (), {}
    ... )
    >>> print(describe_latex(certificate).splitlines()[3])
    \begin{proposition}[no hidden layer]
    """
    _expect_text(certificate)
    theorem = THEOREMS[certificate.theorem]
    items = [rf"  \item[({name})] {_escape(text)}." for name, text in certificate.hypotheses]
    if items:
        items = [
            "The hypotheses hold by the certificate:",
            r"\begin{description}",
            *items,
            r"\end{description}",
        ]
    lines = [
        r"% needs \usepackage{amsmath,amssymb,amsthm}",
        r"% and \newtheorem{proposition}{Proposition} \newtheorem*{remark}{Remark}",
        f"% network SHA-256 {certificate.sha256}",
        *([f"% other network SHA-256 {certificate.other}"] if certificate.other else []),
        rf"\begin{{proposition}}[{_escape(theorem.title)}]",
        "T" + _escape(_statement(_shortened(certificate)).removeprefix("Claim: t")),
        r"\end{proposition}",
        r"\begin{proof}",
        theorem.latex,
        *items,
        r"\end{proof}",
        r"\begin{remark}",
        f"{_escape(_meaning(certificate))} No hypothesis is assumed.",
        r"\end{remark}",
    ]
    return "\n".join(lines)


def _expect_text(value: object) -> None:
    expect(value, CertificateText, "certificate", "read_certificate makes one from a file")


#: What is added to the class of competitors on a domain.
_ON_DOMAIN = "; on this domain, only cells that meet its interior count"

#: Claims about values of networks.
_BOUNDS = ("deviation", "range", "holds", "same-decisions", "lipschitz")

_CLASS_TEXTS = {
    "all": "all parameters of its architecture",
    "regular": REGULAR,
    "sparse": SPARSE,
    "transversal": TRANSVERSAL,
    "generic": GENERIC,
}


def _meaning(certificate: CertificateText) -> str:
    """Return the sentence about what the claim means."""
    if certificate.kind in ("equivalent", "not-equivalent"):
        return PAIR_MEANING
    if certificate.kind in ("injective", "not-injective"):
        return INJECTIVITY_MEANING
    others = {
        "runtime-error": RUNTIME_MEANING,
        "regions": REGIONS_MEANING,
        "complex": COMPLEX_MEANING,
        "inverse-lipschitz": LIPSCHITZ_MEANING,
        **dict.fromkeys(_BOUNDS, BOUNDS_MEANING),
        "size": SIZE_MEANING,
        "functional-dimension": DIMENSION_MEANING,
        "teaching-set": TEACHING_MEANING,
    }
    meaning = MEANING if certificate.domain.split(" ")[0] == "R^n" else MEANING_ON_DOMAIN
    return others.get(certificate.kind, meaning)


def _shortened(certificate: CertificateText) -> CertificateText:
    """Return the contents with hashes that fit a line of print; comments hold the full ones."""
    other = certificate.other and certificate.other[:16]
    return replace(certificate, sha256=certificate.sha256[:16], other=other)


def _text_of(contents: Contents) -> CertificateText:
    """Return the contents of a file in words."""
    claim, theorem = contents.claim, THEOREMS[contents.theorem]
    if claim["kind"] in ("equivalent", "regions", "complex", *_BOUNDS):  # evidence is in lines
        hypotheses = tuple(theorem.hypotheses.items())
    else:
        hypotheses = tuple(
            (name, theorem.hypotheses[name] + _evidence_note(evidence))
            for name, evidence in contents.evidence.items()
        )
    return CertificateText(
        kind=claim["kind"],
        sha256=claim["network"]["sha256"],
        other=claim["other"]["sha256"] if "other" in claim else None,
        network=_network_text(claim["network"]) + _architecture_text(claim),
        among=claim.get("among", ""),
        domain=_domain_of_claim(claim),
        theorem=contents.theorem,
        hypotheses=hypotheses,
        unverified={
            _cut(key, _MAX_KEY): _cut(value, _MAX_REMARK) for key, value in contents.notes.items()
        },
    )


def _cut(text: str, length: int) -> str:
    """Return the start of a long text."""
    return text if len(text) <= length else f"{text[:length]} …"


def _region_terms(claim: dict[str, Any]) -> str:
    """Return the number of regions and the domain in words."""
    cells = count_text([(int(claim["count"]), "region")])
    return f"exactly {cells} on {domain_text(claim['domain'])}"


def _cell_terms(claim: dict[str, Any]) -> str:
    """Return the numbers of cells and the domain in words."""
    cells = cell_counts_text(list(map(int, claim["f-vector"])))
    return f"exactly {cells} on {domain_text(claim['domain'])}"


def _domain_of_claim(claim: dict[str, Any]) -> str:
    """Return the domain in words, with the other terms of the claim; see `CertificateText`."""
    if claim["kind"] == "runtime-error":
        return _runtime_terms(claim)
    if claim["kind"] == "regions":
        return _region_terms(claim)
    if claim["kind"] == "complex":
        return _cell_terms(claim)
    if claim["kind"] == "teaching-set":
        points = count_text([(int(claim["count"]), "point")])
        return f"{points} on R^n, up to the same {claim['pins']}"
    if claim["kind"] == "determined":
        part = part_text(int(claim["layers"]), list(map(int, claim["neurons"])))
        return f"{_place(claim['domain'])} in {part}"
    if claim["kind"] in ("injective", "not-injective", "inverse-lipschitz"):
        first, last = map(int, claim["layers"])
        part = f"{layers_text(max(first, 1), max(last, 1))}, on {domain_text(claim['domain'])}"
        bounds = [number_text(claim[key]) for key in ("at-least", "at-most") if key in claim]
        return part + (f", between {bounds[0]} and {bounds[1]}" if bounds else "")
    if claim["kind"] in _BOUNDS:
        return _bounds_terms(claim)
    if claim["kind"] == "size":
        size = size_text(claim["quantity"], int(claim["at-least"]))
        condition = ", if it has one hidden layer" if "one-layer" in claim["quantity"] else ""
        return f"{_place(claim['domain'])} has at least {size}{condition}"
    if claim["kind"] == "functional-dimension":
        limits = " and ".join(str(int(claim[key])) for key in ("at-least", "at-most"))
        return f"{domain_text(claim['domain'])}, between {limits}"
    if claim["kind"] in ("identifiable", "not-identifiable"):
        return _place(claim["domain"])
    return domain_text(claim["domain"])


def _bounds_terms(claim: dict[str, Any]) -> str:
    """Return what is claimed of the values of networks, and where."""
    place, boxes = domain_text(claim["domain"]), claim.get("except", [])
    if boxes:
        noun = "listed box" if len(boxes) == 1 else "listed boxes"
        place = f"{place}, outside of {len(boxes)} {noun}"
    if claim["kind"] == "holds":
        outputs = "f and g are their outputs" if "other" in claim else "f are its outputs"
        clauses = property_text(claim["clauses"])
        return f"has this property at every point of {place}: {clauses}; {outputs}"
    if claim["kind"] == "same-decisions":
        more = "" if claim["margin"] == "0" else f" by more than {number_text(claim['margin'])}"
        wins = "is smaller than" if claim.get("choose") == "smallest" else "exceeds"
        return (
            f"at every point of {place}, where one output of the first {wins} all others{more}, "
            f"the same output of the second {wins} all others"
        )
    if claim["kind"] == "lipschitz":
        norms = {"1": "1-norm", "2": "squared 2-norm", "inf": "entry"}
        low, high = _bounds(claim["at-least"], claim["at-most"])
        if claim["domain"]["equations"]:  # gradients point out of the domain
            squared = "squares of slopes" if claim["norm"] == "2" else "slopes"
            dual = "distances measured in the norm that is dual to the norm of gradients"
            return f"the largest of all {squared}, {dual}, is between {low} and {high}, on {place}"
        size = f"{norms[claim['norm']]} of a gradient"
        return f"the largest {size} is between {low} and {high}, on {place}"
    if claim["kind"] == "deviation":
        outputs = count_text([(len(claim["outputs"]), "output")])
        low, high = _bounds(claim["at-least"], claim["at-most"])
        return (
            f"the largest difference of {outputs} is at most {high} on {place}, and at least {low} "
            "at a point of the domain"
        )
    ranges = [
        f"output {i} has its least value {_between(*low)}, and its largest value {_between(*high)}"
        for i, low, high in claim["outputs"][:_MAX_SIDES]
    ]
    more = f"; and {len(claim['outputs']) - _MAX_SIDES} more" * (len(claim["outputs"]) > _MAX_SIDES)
    return f"on {place}: {'; '.join(ranges)}{more}"


def _between(low: str, high: str) -> str:
    """Return where a number is, in words; bounds that are equal are the number."""
    if low == high:
        return number_text(low)
    return "between {} and {}".format(*_bounds(low, high))


def _bounds(low: str, high: str) -> tuple[str, str]:
    """Return bounds in words."""
    return bounds_text(parse_rational(low), parse_rational(high))


def _place(domain: Any) -> str:
    """Return where competitors agree, in words."""
    text = domain if isinstance(domain, str) else domain_text(domain)
    return text if text == "R^n" else f"the interior of {text}"


def _runtime_terms(claim: dict[str, Any]) -> str:
    """Return format, box and bound in words; of a long box the number of its intervals."""
    lower, upper, limits = claim["domain"]["lower"], claim["domain"]["upper"], claim["at-most"]
    if not 1 <= len(lower) == len(upper) <= WIDTH_LIMIT or not 1 <= len(limits) <= WIDTH_LIMIT:
        raise ValueError("numbers of sides or of bounds that no network has")
    sides = [
        f"[{number_text(low)}, {number_text(high)}]"
        for low, high in zip(lower[:_MAX_SIDES], upper, strict=False)
    ]
    if len({*lower}) == len({*upper}) == 1:
        sides = [f"{sides[0]}^{len(lower)}"]
    elif len(lower) > _MAX_SIDES:
        sides = [f"the box of {len(lower)} intervals in the certificate"]
    box = " x ".join(sides)
    worst = max(map(parse_rational, limits))
    return f"by at most {decimal_above(worst)} at any {claim['arithmetic']} input in {box}"


def _network_text(reference: dict[str, Any]) -> str:
    """Return the architecture of a network in words, or the file that holds it."""
    if "file" in reference:
        return f"network in {reference['file']}"
    inline = reference["inline"]
    widths = [inline["inputs"], *(layer["bias"].count(" ") + 1 for layer in inline["layers"])]
    cut = ["…", widths[-1]] if len(widths) > _MAX_WIDTHS else []
    return (
        widths_text([*widths[: _MAX_WIDTHS - len(cut)], *cut])
        + " network"
        + (" with trailing ReLU" if inline["last"] == "relu" else "")
    )


def _architecture_text(claim: dict[str, Any]) -> str:
    """Return the architecture in words, where it is no plain stack."""
    architecture = claim.get("architecture")
    if architecture is None:
        return ""
    if architecture["kind"] == "blocks":
        return ", whose competitors are all networks with layers that read the same layers,"
    return f", a stack of leaky ReLUs of slope {number_text(architecture['slope'])},"


def _statement_on_sizes(certificate: CertificateText) -> str:
    """Return the sentence that states a claim on sizes or on a functional dimension."""
    if certificate.kind == "size":
        members = "network" if certificate.among == "all" else f"{certificate.among} plain stack"
        return (
            f"Claim: every {members} with the function of the {certificate.network} with SHA-256 "
            f"{certificate.sha256} on {certificate.domain}."
        )
    return (
        f"Claim: the {certificate.network} with SHA-256 {certificate.sha256} has a functional "
        f"dimension on {certificate.domain}."
    )


def _statement(certificate: CertificateText) -> str:
    """Return the sentence that states the claim."""
    if certificate.kind == "runtime-error":
        return (
            f"Claim: the {certificate.network} with SHA-256 {certificate.sha256}, computed layer "
            f"by layer by a float runtime, differs from its exact function {certificate.domain}."
        )
    if certificate.kind in ("regions", "complex"):
        return (
            f"Claim: the canonical complex of the {certificate.network} with SHA-256 "
            f"{certificate.sha256} has {certificate.domain}."
        )
    rest = {
        "teaching-set": "is determined, among all networks with one hidden layer that is not "
        f"wider, by its values at {certificate.domain}",
        "inverse-lipschitz": f"has a squared inverse Lipschitz constant in {certificate.domain}",
    }
    if certificate.kind in rest:
        subject = f"Claim: the {certificate.network} with SHA-256 {certificate.sha256}"
        return f"{subject} {rest[certificate.kind]}."
    if certificate.kind in ("size", "functional-dimension"):
        return _statement_on_sizes(certificate)
    if certificate.kind in _BOUNDS:
        return _bounds_statement(certificate)
    if certificate.kind in ("injective", "not-injective"):
        verb = "has no two inputs" if certificate.kind == "injective" else "has two inputs"
        return (
            f"Claim: the {certificate.network} with SHA-256 {certificate.sha256}, in "
            f"{certificate.domain}, {verb} with equal outputs."
        )
    if certificate.kind in ("equivalent", "not-equivalent"):
        verb = (
            "compute the same function"
            if certificate.kind == "equivalent"
            else "do not compute the same function"
        )
        return (
            f"Claim: the {certificate.network} with SHA-256 {certificate.sha256} and the network "
            f"with SHA-256 {certificate.other} {verb} on {certificate.domain}."
        )
    return _competitors_statement(certificate)


def _competitors_statement(certificate: CertificateText) -> str:
    """Return the sentence about the competitors of a network."""
    is_whole = certificate.domain.split(" ")[0] == "R^n"
    cells = "" if is_whole or certificate.among == "all" else _ON_DOMAIN
    if certificate.kind == "determined":
        agrees = "agrees with it there" if is_whole else "there agrees with it in this part"
        return (
            f"Claim: the {certificate.network} with SHA-256 {certificate.sha256} is determined by "
            f"its function on {'all of ' * is_whole}{certificate.domain}: every parameter of the "
            f"class with the same function {agrees} after permutation and positive scaling. Class "
            f"of competitors: {_CLASS_TEXTS.get(certificate.among, TRANSVERSAL)}{cells}."
        )
    domain = "on all of R^n" if certificate.domain == "R^n" else f"on {certificate.domain}"
    among = _CLASS_TEXTS.get(certificate.among, GENERIC)
    if certificate.among == "regular" and certificate.theorem == "leaky-chains":
        among = LEAKY_REGULAR
    if certificate.kind == "identifiable":
        verb = (
            "is identifiable: every parameter of the class with the same function equals it up to "
            "permutation and positive scaling"
        )
    else:
        verb = (
            "is not identifiable: another parameter of the class computes the same function and "
            "does not come from it by permutation and positive scaling (the network with SHA-256 "
            f"{certificate.other})"
        )
    head = f"Claim: the {certificate.network} with SHA-256 {certificate.sha256}"
    return f"{head} {verb}, {domain}. Class of competitors: {among}{cells}."


def _bounds_statement(certificate: CertificateText) -> str:
    """Return the sentence about values of one or of two networks."""
    head = f"Claim: the {certificate.network} with SHA-256 {certificate.sha256}"
    if certificate.kind == "range":
        return f"{head} has this range {certificate.domain}."
    if certificate.kind == "lipschitz":
        return f"{head} has these slopes of outputs: {certificate.domain}."
    if certificate.kind == "holds":
        pair = f", with the network with SHA-256 {certificate.other}," if certificate.other else ""
        return f"{head}{pair} {certificate.domain}."
    verb = "decide alike" if certificate.kind == "same-decisions" else "have a deviation"
    return f"{head} and the network with SHA-256 {certificate.other} {verb}: {certificate.domain}."


def _evidence_note(evidence: Mapping[str, Any]) -> str:
    """Return a remark on the evidence, to be appended to the statement of a hypothesis."""
    if "status" in evidence:
        return f": {evidence['status']}" + (
            f" ({evidence['method']})" if "method" in evidence else ""
        )
    if "x" in evidence or "f" in evidence:
        return ": " + "; ".join(
            f"{name} = {vector_text(evidence[name])}"
            for name in ("x", "y", "f", "g")
            if name in evidence
        )
    if "layers" in evidence:
        return f" ({', '.join(number_text(layer['at-least']) for layer in evidence['layers'])})"
    if "trees" in evidence:
        return f" ({', '.join(str(len(tree)) for tree in evidence['trees'])} nodes)"
    if "witnesses" in evidence:
        flat = sum(1 for witness in evidence["witnesses"] if "flat" in witness)
        return f" ({len(evidence['witnesses']) - flat} by points, {flat} flat)"
    if "slices" in evidence:
        slices = evidence["slices"]
        ridges = count_text([(sum(len(entry["ridges"]) for entry in slices), "ridge")])
        return f" ({ridges} in {count_text([(len(slices), 'plane')])})"
    if "chosen" in evidence:
        return f" ({len(evidence['chosen'])} chosen, {len(evidence['joined'])} joined by crossing)"
    if "order" in evidence:
        return (
            f" ({len(evidence['joined'])} families joined by weights, {len(evidence['order'])} "
            "sources)"
        )
    return f" ({evidence['method']})" if "method" in evidence else ""


_FORMULA = re.compile(
    r"(`[^`]+`|\bR\^n\b|\[A_i\|a_i\]|\b[A-Za-z]\[[0-9]\]"
    r"|\b[A-Za-z]_[a-z0-9]\b(?: (?:(?:>=|<=|=) )?[A-Za-z]_[a-z0-9]\b)*)"
)


def _escape(text: str) -> str:
    """Return text for LaTeX, in which what looks like a formula of this package becomes one."""
    parts = _FORMULA.split(text)
    return "".join(_formula(part) if i % 2 else escaped_latex(part) for i, part in enumerate(parts))


def _formula(text: str) -> str:
    """Return a formula of this package as mathematics, or a command as one."""
    if text.startswith("`"):
        return rf"\texttt{{{escaped_latex(text[1:-1])}}}"
    if text == "R^n":
        return r"$\mathbb{R}^n$"
    subscripted = re.sub(r"^([A-Za-z])\[([0-9])\]$", r"\1_{\2}", text)
    return "$" + subscripted.replace(">=", r"\ge").replace("<=", r"\le") + "$"
