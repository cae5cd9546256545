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
    from polyrelu.checker import Report
    from polyrelu.checker import check_file as check
    from polyrelu.errors import CertificateError, DomainError, NetworkError, NetworkFileError, PolyreluError
    from polyrelu.importers import load, save
    from polyrelu.network import Architecture, Network, NeuronId, SignVector, from_arrays
    from polyrelu.proofs import Outcome, Proved, Refuted, Undecided, identify

_HOME = {
    "Architecture": "polyrelu.network",
    "CertificateError": "polyrelu.errors",
    "DomainError": "polyrelu.errors",
    "Network": "polyrelu.network",
    "NetworkError": "polyrelu.errors",
    "NetworkFileError": "polyrelu.errors",
    "NeuronId": "polyrelu.network",
    "Outcome": "polyrelu.proofs",
    "PolyreluError": "polyrelu.errors",
    "Proved": "polyrelu.proofs",
    "Refuted": "polyrelu.proofs",
    "Report": "polyrelu.checker",
    "SignVector": "polyrelu.network",
    "Undecided": "polyrelu.proofs",
    "check": "polyrelu.checker",
    "from_arrays": "polyrelu.network",
    "identify": "polyrelu.proofs",
    "load": "polyrelu.importers",
    "save": "polyrelu.importers",
}

__all__ = [
    "Architecture",
    "CertificateError",
    "DomainError",
    "Network",
    "NetworkError",
    "NetworkFileError",
    "NeuronId",
    "Outcome",
    "PolyreluError",
    "Proved",
    "Refuted",
    "Report",
    "SignVector",
    "Undecided",
    "__version__",
    "check",
    "from_arrays",
    "identify",
    "load",
    "save",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'polyrelu' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), "check_file" if name == "check" else name)


def __dir__() -> list[str]:
    return __all__
