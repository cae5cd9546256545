"""Certificates: claims, hypotheses with evidence, the file format, and text about them for people.

Provers make certificates from here and write them; the checker, which shares no code with what is
written, reads the files and re-derives the claims. The contract between both is FORMAT.md in this
folder: a change of what is written needs a change of that document and of the checker.

The modules: `certificate` and `tree` are the two kinds of files, as values, and `bounds` are trees
of cuts; `beside` names the
files of large networks; `claims` has what they claim, `meanings` what the words of claims mean,
`theorems` the statements of theorems and hypotheses; `describe` and `text` put files into words.
"""

from polyrelu.certificate.bounds import BoundsCertificate, BoundsNode
from polyrelu.certificate.certificate import Certificate, Hypothesis
from polyrelu.certificate.claims import (
    Among,
    BoundsClaim,
    Choice,
    Claim,
    ComplexClaim,
    DecisionsClaim,
    DeviationClaim,
    DimensionClaim,
    HoldsClaim,
    InjectivityClaim,
    LinearRow,
    LipschitzBoundClaim,
    LipschitzClaim,
    OutputRange,
    PairClaim,
    PartClaim,
    Quantity,
    RangeClaim,
    RegionsClaim,
    RuntimeClaim,
    SizeClaim,
    SubBox,
    TeachingClaim,
)
from polyrelu.certificate.describe import (
    CertificateText,
    describe,
    describe_latex,
    read_certificate,
)
from polyrelu.certificate.meanings import (
    BOUNDS_MEANING,
    COMPLEX_MEANING,
    DIMENSION_MEANING,
    INJECTIVITY_MEANING,
    LIPSCHITZ_MEANING,
    MEANING,
    MEANING_ON_DOMAIN,
    PAIR_MEANING,
    REGIONS_MEANING,
    RUNTIME_MEANING,
    SIZE_MEANING,
    TEACHING_MEANING,
)
from polyrelu.certificate.text import (
    domain_text,
    layers_text,
    number_text,
    part_text,
    size_text,
    vector_text,
)
from polyrelu.certificate.theorems import THEOREMS, TheoremText, hypothesis_statement
from polyrelu.certificate.tree import (
    NodeRecord,
    RegionsCertificate,
    SignRecord,
    TreeCertificate,
    TreeLog,
    VertexCertificate,
    VertexRecord,
)

__all__ = [
    "BOUNDS_MEANING",
    "COMPLEX_MEANING",
    "DIMENSION_MEANING",
    "INJECTIVITY_MEANING",
    "LIPSCHITZ_MEANING",
    "MEANING",
    "MEANING_ON_DOMAIN",
    "PAIR_MEANING",
    "REGIONS_MEANING",
    "RUNTIME_MEANING",
    "SIZE_MEANING",
    "TEACHING_MEANING",
    "THEOREMS",
    "Among",
    "BoundsCertificate",
    "BoundsClaim",
    "BoundsNode",
    "Certificate",
    "CertificateText",
    "Choice",
    "Claim",
    "ComplexClaim",
    "DecisionsClaim",
    "DeviationClaim",
    "DimensionClaim",
    "HoldsClaim",
    "Hypothesis",
    "InjectivityClaim",
    "LinearRow",
    "LipschitzBoundClaim",
    "LipschitzClaim",
    "NodeRecord",
    "OutputRange",
    "PairClaim",
    "PartClaim",
    "Quantity",
    "RangeClaim",
    "RegionsCertificate",
    "RegionsClaim",
    "RuntimeClaim",
    "SignRecord",
    "SizeClaim",
    "SubBox",
    "TeachingClaim",
    "TheoremText",
    "TreeCertificate",
    "TreeLog",
    "VertexCertificate",
    "VertexRecord",
    "describe",
    "describe_latex",
    "domain_text",
    "hypothesis_statement",
    "layers_text",
    "number_text",
    "part_text",
    "read_certificate",
    "size_text",
    "vector_text",
]
