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
    from polyrelu.certificate import Certificate, TreeCertificate
    from polyrelu.checker import Report
    from polyrelu.checker import check_file as check
    from polyrelu.complex import (
        Cell,
        PolyhedralComplex,
        Region,
        RegionGraph,
        Skeleton,
        Visit,
        canonical_complex,
        parse_domain,
        region_graph,
        save_complex,
        skeleton,
        stream_complex,
        walk_regions,
    )
    from polyrelu.errors import CertificateError, DomainError, NetworkError, NetworkFileError, PolyreluError
    from polyrelu.exact import (
        Flat,
        Generators,
        Infeasible,
        Interior,
        LinearProgram,
        Multipliers,
        Optimal,
        Polyhedron,
        RationalMatrix,
        Unbounded,
    )
    from polyrelu.importers import (
        FloatOutputs,
        Imported,
        Rounding,
        RuntimeErrorBound,
        float_outputs,
        load,
        read,
        runtime_error,
        save,
    )
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
    from polyrelu.proofs import (
        Equivalent,
        Identifiable,
        NotEquivalent,
        NotIdentifiable,
        Outcome,
        Proved,
        Refuted,
        Search,
        Undecided,
        Witness,
        equivalent,
        identify,
    )

_HOME = {
    "TreeCertificate": "polyrelu.certificate",
    "Architecture": "polyrelu.network",
    "Cell": "polyrelu.complex",
    "Certificate": "polyrelu.certificate",
    "CertificateError": "polyrelu.errors",
    "DomainError": "polyrelu.errors",
    "Equivalent": "polyrelu.proofs",
    "Flat": "polyrelu.exact",
    "FloatOutputs": "polyrelu.importers",
    "Generators": "polyrelu.exact",
    "Identifiable": "polyrelu.proofs",
    "Imported": "polyrelu.importers",
    "Infeasible": "polyrelu.exact",
    "Interior": "polyrelu.exact",
    "LinearProgram": "polyrelu.exact",
    "Multipliers": "polyrelu.exact",
    "Network": "polyrelu.network",
    "NetworkError": "polyrelu.errors",
    "NetworkFileError": "polyrelu.errors",
    "NeuronId": "polyrelu.network",
    "NotEquivalent": "polyrelu.proofs",
    "NotIdentifiable": "polyrelu.proofs",
    "Optimal": "polyrelu.exact",
    "Outcome": "polyrelu.proofs",
    "PolyhedralComplex": "polyrelu.complex",
    "Polyhedron": "polyrelu.exact",
    "PolyreluError": "polyrelu.errors",
    "Proved": "polyrelu.proofs",
    "RationalMatrix": "polyrelu.exact",
    "Refuted": "polyrelu.proofs",
    "Region": "polyrelu.complex",
    "RegionGraph": "polyrelu.complex",
    "Report": "polyrelu.checker",
    "Rounding": "polyrelu.importers",
    "RuntimeErrorBound": "polyrelu.importers",
    "Search": "polyrelu.proofs",
    "SignVector": "polyrelu.network",
    "Skeleton": "polyrelu.complex",
    "Unbounded": "polyrelu.exact",
    "Undecided": "polyrelu.proofs",
    "Visit": "polyrelu.complex",
    "Witness": "polyrelu.proofs",
    "canonical_complex": "polyrelu.complex",
    "canonical_form": "polyrelu.network",
    "check": "polyrelu.checker",
    "equivalent": "polyrelu.proofs",
    "float_outputs": "polyrelu.importers",
    "from_arrays": "polyrelu.network",
    "identify": "polyrelu.proofs",
    "load": "polyrelu.importers",
    "parse_domain": "polyrelu.complex",
    "permute": "polyrelu.network",
    "read": "polyrelu.importers",
    "region_graph": "polyrelu.complex",
    "related": "polyrelu.network",
    "rescale": "polyrelu.network",
    "runtime_error": "polyrelu.importers",
    "save": "polyrelu.importers",
    "save_complex": "polyrelu.complex",
    "skeleton": "polyrelu.complex",
    "stream_complex": "polyrelu.complex",
    "walk_regions": "polyrelu.complex",
}

__all__ = [
    "Architecture",
    "Cell",
    "Certificate",
    "CertificateError",
    "DomainError",
    "Equivalent",
    "Flat",
    "FloatOutputs",
    "Generators",
    "Identifiable",
    "Imported",
    "Infeasible",
    "Interior",
    "LinearProgram",
    "Multipliers",
    "Network",
    "NetworkError",
    "NetworkFileError",
    "NeuronId",
    "NotEquivalent",
    "NotIdentifiable",
    "Optimal",
    "Outcome",
    "PolyhedralComplex",
    "Polyhedron",
    "PolyreluError",
    "Proved",
    "RationalMatrix",
    "Refuted",
    "Region",
    "RegionGraph",
    "Report",
    "Rounding",
    "RuntimeErrorBound",
    "Search",
    "SignVector",
    "Skeleton",
    "TreeCertificate",
    "Unbounded",
    "Undecided",
    "Visit",
    "Witness",
    "__version__",
    "canonical_complex",
    "canonical_form",
    "check",
    "equivalent",
    "float_outputs",
    "from_arrays",
    "identify",
    "load",
    "parse_domain",
    "permute",
    "read",
    "region_graph",
    "related",
    "rescale",
    "runtime_error",
    "save",
    "save_complex",
    "skeleton",
    "stream_complex",
    "walk_regions",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'polyrelu' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), "check_file" if name == "check" else name)


def __dir__() -> list[str]:
    return __all__
