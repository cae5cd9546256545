"""polyrelu: exact, certified computational geometry for ReLU networks.

>>> import polyrelu
>>> outcome = polyrelu.identify(polyrelu.load("example:digits"))
>>> outcome.status, outcome.certificate.claim.among
('proved', 'generic')

Names are loaded when they are used, so that `import polyrelu.checker` and `polyrelu --help` load no mathematics.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from polyrelu.version import __version__

if TYPE_CHECKING:
    from polyrelu.certificate import Certificate
    from polyrelu.checker import Report
    from polyrelu.checker import check_file as check
    from polyrelu.errors import CertificateError, DomainError, NetworkError, NetworkFileError, PolyreluError
    from polyrelu.exact import LinearProgram, Polyhedron, RationalMatrix
    from polyrelu.importers import Imported, load, read, save
    from polyrelu.network import (
        Architecture,
        Network,
        NeuronId,
        SignVector,
        canonical_form,
        from_arrays,
        permute,
        related,
        rescale,
    )
    from polyrelu.proofs import Outcome, Proved, Refuted, Undecided, identify

_HOME = {
    "Architecture": "polyrelu.network",
    "Certificate": "polyrelu.certificate",
    "CertificateError": "polyrelu.errors",
    "DomainError": "polyrelu.errors",
    "Imported": "polyrelu.importers",
    "LinearProgram": "polyrelu.exact",
    "Network": "polyrelu.network",
    "NetworkError": "polyrelu.errors",
    "NetworkFileError": "polyrelu.errors",
    "NeuronId": "polyrelu.network",
    "Outcome": "polyrelu.proofs",
    "PolyreluError": "polyrelu.errors",
    "Polyhedron": "polyrelu.exact",
    "Proved": "polyrelu.proofs",
    "RationalMatrix": "polyrelu.exact",
    "Refuted": "polyrelu.proofs",
    "Report": "polyrelu.checker",
    "SignVector": "polyrelu.network",
    "Undecided": "polyrelu.proofs",
    "canonical_form": "polyrelu.network",
    "check": "polyrelu.checker",
    "from_arrays": "polyrelu.network",
    "identify": "polyrelu.proofs",
    "load": "polyrelu.importers",
    "permute": "polyrelu.network",
    "read": "polyrelu.importers",
    "related": "polyrelu.network",
    "rescale": "polyrelu.network",
    "save": "polyrelu.importers",
}

__all__ = [
    "Architecture",
    "Certificate",
    "CertificateError",
    "DomainError",
    "Imported",
    "LinearProgram",
    "Network",
    "NetworkError",
    "NetworkFileError",
    "NeuronId",
    "Outcome",
    "Polyhedron",
    "PolyreluError",
    "Proved",
    "RationalMatrix",
    "Refuted",
    "Report",
    "SignVector",
    "Undecided",
    "__version__",
    "canonical_form",
    "check",
    "from_arrays",
    "identify",
    "load",
    "permute",
    "read",
    "related",
    "rescale",
    "save",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'polyrelu' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), "check_file" if name == "check" else name)


def __dir__() -> list[str]:
    return __all__
