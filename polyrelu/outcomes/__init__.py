"""The answers of the provers: proved, refuted or undecided.

`Proved` and `Refuted` carry a certificate that an independent checker re-derives; `Undecided` says
what was tried. Every answer has the attributes `status`, `statement`, `theorem`, `certificate` and
`next`. Undecided is never the same as False, so no answer may be used as a truth value: `bool` of
one is a TypeError. What an answer prints is read by people and in tests: `__str__` is part of its
interface.

The modules: `answers` has what all answers have in common; `identifiability`, `equivalence`,
`cell_lists`, `injectivity`, `properties`, `decisions`, `sizes` and `teaching` have the answers to
one question each; `points` and `work` are parts of answers; `undecided` has the answer to an open
question.
"""

from polyrelu.outcomes.answers import Attempt, NextStep, Proved, Refuted
from polyrelu.outcomes.cell_lists import ComplexListed, RegionsListed
from polyrelu.outcomes.decisions import (
    DecisionsOutcome,
    DecisionsUndecided,
    DifferentDecisions,
    SameDecisions,
)
from polyrelu.outcomes.deviation import (
    DeviationBounds,
    DeviationExceeded,
    LipschitzBounds,
    RangeBounds,
    ValueRange,
)
from polyrelu.outcomes.equivalence import Equivalent, NotEquivalent
from polyrelu.outcomes.identifiability import (
    Identifiable,
    NotIdentifiable,
    PartlyIdentifiable,
)
from polyrelu.outcomes.injectivity import Injective, InverseLipschitz, NotInjective
from polyrelu.outcomes.points import Collision, NearPair, Witness
from polyrelu.outcomes.properties import (
    PropertyFails,
    PropertyHolds,
    PropertyOutcome,
    PropertyUndecided,
)
from polyrelu.outcomes.sizes import DimensionBound, SizeBound
from polyrelu.outcomes.teaching import TeachingSet
from polyrelu.outcomes.undecided import Outcome, Undecided
from polyrelu.outcomes.work import (
    BoundStatistics,
    InjectivityStatistics,
    ProofStatistics,
    SearchStatistics,
)

__all__ = [
    "Attempt",
    "BoundStatistics",
    "Collision",
    "ComplexListed",
    "DecisionsOutcome",
    "DecisionsUndecided",
    "DeviationBounds",
    "DeviationExceeded",
    "DifferentDecisions",
    "DimensionBound",
    "Equivalent",
    "Identifiable",
    "Injective",
    "InjectivityStatistics",
    "InverseLipschitz",
    "LipschitzBounds",
    "NearPair",
    "NextStep",
    "NotEquivalent",
    "NotIdentifiable",
    "NotInjective",
    "Outcome",
    "PartlyIdentifiable",
    "ProofStatistics",
    "PropertyFails",
    "PropertyHolds",
    "PropertyOutcome",
    "PropertyUndecided",
    "Proved",
    "RangeBounds",
    "Refuted",
    "RegionsListed",
    "SameDecisions",
    "SearchStatistics",
    "SizeBound",
    "TeachingSet",
    "Undecided",
    "ValueRange",
    "Witness",
]
