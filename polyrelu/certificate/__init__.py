"""Certificates: claims, hypotheses with evidence, the file format (FORMAT.md), and text about them for people."""

from polyrelu.certificate.certificate import Among, Certificate, Claim, Hypothesis, RuntimeClaim
from polyrelu.certificate.describe import CertificateText, describe, describe_latex, read_certificate
from polyrelu.certificate.theorems import MEANING, RUNTIME_MEANING, THEOREMS, TheoremText, hypothesis_statement

__all__ = [
    "MEANING",
    "RUNTIME_MEANING",
    "THEOREMS",
    "Among",
    "Certificate",
    "CertificateText",
    "Claim",
    "Hypothesis",
    "RuntimeClaim",
    "TheoremText",
    "describe",
    "describe_latex",
    "hypothesis_statement",
    "read_certificate",
]
