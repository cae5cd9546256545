"""Certificates: claims, hypotheses with evidence, the file format (FORMAT.md), and text about them
for people."""

from polyrelu.certificate.certificate import (
    Among,
    Certificate,
    Claim,
    Hypothesis,
    PairClaim,
    PartClaim,
    RegionsClaim,
    RuntimeClaim,
)
from polyrelu.certificate.describe import (
    CertificateText,
    describe,
    describe_latex,
    read_certificate,
)
from polyrelu.certificate.text import domain_text, number_text, part_text, vector_text
from polyrelu.certificate.theorems import (
    MEANING,
    PAIR_MEANING,
    REGIONS_MEANING,
    RUNTIME_MEANING,
    THEOREMS,
    TheoremText,
    hypothesis_statement,
)
from polyrelu.certificate.tree import (
    NodeRecord,
    RegionsCertificate,
    SignRecord,
    TreeCertificate,
    TreeLog,
)

__all__ = [
    "MEANING",
    "PAIR_MEANING",
    "REGIONS_MEANING",
    "RUNTIME_MEANING",
    "THEOREMS",
    "Among",
    "Certificate",
    "CertificateText",
    "Claim",
    "Hypothesis",
    "NodeRecord",
    "PairClaim",
    "PartClaim",
    "RegionsCertificate",
    "RegionsClaim",
    "RuntimeClaim",
    "SignRecord",
    "TheoremText",
    "TreeCertificate",
    "TreeLog",
    "describe",
    "describe_latex",
    "domain_text",
    "hypothesis_statement",
    "number_text",
    "part_text",
    "read_certificate",
    "vector_text",
]
