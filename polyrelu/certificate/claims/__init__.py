"""What certificates claim: the values behind the key `claim` (FORMAT.md, section 3.2).

Each kind of claim is one frozen type that knows its networks, its domain and its class of
competitors, and writes its terms for a file. Whether a claim is true is not decided here: provers
find evidence, and the checker re-derives it.

The modules: claims about `parameters` that a function determines, about the `functions` of
networks, `bounds` of their values, about `cells`, and about different `inputs`.
"""

from polyrelu.certificate.claims.bounds import (
    BoundsClaim,
    DecisionsClaim,
    DeviationClaim,
    HoldsClaim,
    LinearRow,
    OutputRange,
    RangeClaim,
    SubBox,
)
from polyrelu.certificate.claims.cells import ComplexClaim, RegionsClaim
from polyrelu.certificate.claims.functions import PairClaim, RuntimeClaim
from polyrelu.certificate.claims.inputs import InjectivityClaim, LipschitzClaim
from polyrelu.certificate.claims.parameters import Among, Claim, PartClaim

__all__ = [
    "Among",
    "BoundsClaim",
    "Claim",
    "ComplexClaim",
    "DecisionsClaim",
    "DeviationClaim",
    "HoldsClaim",
    "InjectivityClaim",
    "LinearRow",
    "LipschitzClaim",
    "OutputRange",
    "PairClaim",
    "PartClaim",
    "RangeClaim",
    "RegionsClaim",
    "RuntimeClaim",
    "SubBox",
]
