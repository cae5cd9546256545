"""What certificates claim: the values behind the key `claim` (FORMAT.md, section 3.2).

Each kind of claim is one frozen type that knows its networks, its domain and its class of
competitors, and writes its terms for a file. Whether a claim is true is not decided here: provers
find evidence, and the checker re-derives it.

The modules: claims about `parameters` that a function determines, about the `functions` of
networks, `bounds` of their values, about `cells`, about different `inputs`, and about `sizes`.
"""

from polyrelu.certificate.claims.bounds import (
    BoundsClaim,
    Choice,
    DecisionsClaim,
    DeviationClaim,
    HoldsClaim,
    LinearRow,
    LipschitzBoundClaim,
    OutputRange,
    RangeClaim,
    SubBox,
)
from polyrelu.certificate.claims.cells import ComplexClaim, RegionsClaim
from polyrelu.certificate.claims.functions import PairClaim, RuntimeClaim
from polyrelu.certificate.claims.inputs import InjectivityClaim, LipschitzClaim
from polyrelu.certificate.claims.parameters import Among, Claim, PartClaim, TeachingClaim
from polyrelu.certificate.claims.sizes import DimensionClaim, Quantity, SizeClaim

__all__ = [
    "Among",
    "BoundsClaim",
    "Choice",
    "Claim",
    "ComplexClaim",
    "DecisionsClaim",
    "DeviationClaim",
    "DimensionClaim",
    "HoldsClaim",
    "InjectivityClaim",
    "LinearRow",
    "LipschitzBoundClaim",
    "LipschitzClaim",
    "OutputRange",
    "PairClaim",
    "PartClaim",
    "Quantity",
    "RangeClaim",
    "RegionsClaim",
    "RuntimeClaim",
    "SizeClaim",
    "SubBox",
    "TeachingClaim",
]
