"""A certificate file as text for people: the statement, its hypotheses, what is trusted. Nothing here checks
anything."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from polyrelu.certificate.theorems import GENERIC, MEANING, THEOREMS, TheoremText
from polyrelu.errors import CertificateError

__all__ = ["describe", "describe_latex", "read_certificate"]


def read_certificate(path: str | Path) -> dict[str, Any]:
    """The JSON document of a certificate, without checking it; `CertificateError` if it is not one."""
    try:
        text = Path(path).read_text(encoding="ascii")
        if "\\" in text:
            raise ValueError("a backslash")
        sketch = _sketch(json.loads(text))
    except OSError as error:
        raise CertificateError(f"{path}: cannot read: {error.strerror or error}") from None
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError):
        raise CertificateError(f"{path}: not a polyrelu certificate; `polyrelu check` says where it fails") from None
    if sketch["theorem"] not in THEOREMS:
        raise CertificateError(f"{path}: unknown theorem {str(sketch['theorem'])[:40]!r}")
    return sketch


def describe(sketch: dict[str, Any]) -> str:
    """The statement, the hypotheses and what is trusted, as text."""
    theorem = THEOREMS[sketch["theorem"]]
    lines = [
        _statement(sketch),
        "",
        f"Theorem: {theorem.title}",
        f"  {theorem.statement}",
        f"  Proof: {theorem.proof}",
        "",
    ]
    lines.append("Hypotheses (each re-derived by `polyrelu check`; this text checks nothing):")
    lines += [f"  [{h['id']}] {h['text']}" for h in sketch["hypotheses"]]
    lines += [] if sketch["hypotheses"] else ["  none"]
    lines += ["Assumed: none", "", "Trusted: the theorem as proved there, FORMAT.md, and the checker.", MEANING]
    lines += [f"Unverified: {key}: {value}" for key, value in sketch["unverified"].items()]
    return "\n".join(lines)


def describe_latex(sketch: dict[str, Any]) -> str:
    """The same as a LaTeX fragment (a proposition and a remark)."""
    theorem = THEOREMS[sketch["theorem"]]
    items = "\n".join(rf"  \item[\textnormal{{({h['id']})}}] {_escape(h['text'])}." for h in sketch["hypotheses"])
    enumeration = f"\\begin{{description}}\n{items}\n\\end{{description}}\n" if items else ""
    return (
        f"\\begin{{proposition}}[{_escape(theorem.title)}]\n{_escape(_statement(sketch))}\n\\end{{proposition}}\n"
        f"\\begin{{proof}}\n{theorem.latex}\nThe hypotheses hold by the certificate:\n{enumeration}"
        f"\\end{{proof}}\n\\begin{{remark}}\n{_escape(MEANING)} No hypothesis is assumed.\n\\end{{remark}}"
    )


def _sketch(document: dict[str, Any]) -> dict[str, Any]:
    claim, proof = document["claim"], document["proof"]
    if document["format"] != "polyrelu-certificate":
        raise ValueError("another format")
    theorem = THEOREMS.get(proof["theorem"])
    return {
        "kind": str(claim["kind"]),
        "sha256": str(claim["network"]["sha256"]),
        "other": str(claim["other"]["sha256"]) if "other" in claim else None,
        "widths": _widths(claim["network"]),
        "among": str(claim["among"]),
        "domain": str(claim["domain"]),
        "theorem": proof["theorem"],
        "hypotheses": [] if theorem is None else [_hypothesis(h, theorem) for h in proof["hypotheses"]],
        "unverified": {str(key): str(value) for key, value in document["unverified"].items()},
    }


def _hypothesis(entry: dict[str, Any], theorem: TheoremText) -> dict[str, str]:
    """Its id, its statement and a note on the evidence."""
    return {"id": entry["id"], "text": theorem.hypotheses[entry["id"]] + _evidence_note(dict(entry["evidence"]))}


def _widths(reference: dict[str, Any]) -> str:
    inline = reference.get("inline")
    if inline is None:
        return ""
    return "-".join(str(n) for n in [inline["inputs"], *(len(layer["bias"].split(" ")) for layer in inline["layers"])])


def _statement(sketch: dict[str, Any]) -> str:
    shape = f"the {sketch['widths']} network" if sketch["widths"] else "the network"
    domain = "on all of R^n" if sketch["domain"] == "R^n" else f"on {sketch['domain']}"
    among = "all parameters of its architecture" if sketch["among"] == "all" else GENERIC
    if sketch["kind"] == "identifiable":
        verb = (
            "is identifiable: every parameter of the class with the same function equals it "
            "up to permutation and positive scaling"
        )
    else:
        verb = (
            "is not identifiable: another parameter of the class computes the same function and does not come from it "
            f"by permutation and positive scaling (the network with SHA-256 {sketch['other']})"
        )
    return f"Claim: {shape} with SHA-256 {sketch['sha256']} {verb}, {domain}. Class of competitors: {among}."


def _evidence_note(evidence: dict[str, Any]) -> str:
    if "status" in evidence:
        return f": {evidence['status']}" + (f" ({evidence['method']})" if "method" in evidence else "")
    if "witnesses" in evidence:
        flat = sum(1 for witness in evidence["witnesses"] if "flat" in witness)
        return f" ({len(evidence['witnesses']) - flat} by points, {flat} flat)"
    return f" ({evidence['method']})" if "method" in evidence else ""


def _escape(text: str) -> str:
    table = {"_": r"\_", "^": r"\^{}", "&": r"\&", "%": r"\%", "#": r"\#", "[": "{[}", "]": "{]}"}
    return "".join(table.get(c, c) for c in text)
