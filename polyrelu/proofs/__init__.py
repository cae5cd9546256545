"""Provers of claims about networks: `identify`, `equivalent`, `simplify` and others.

Each theorem has a module or a folder of its own, whose docstring names the page of docs/theory with
the proof. A prover answers with an outcome (`polyrelu.outcomes`), and a decided outcome carries a
certificate that `polyrelu.checker`, which shares no code with this room, re-derives.
"""

from polyrelu.proofs.deviation.deviation import deviation
from polyrelu.proofs.deviation.lipschitz_bounds import lipschitz_bounds
from polyrelu.proofs.deviation.ranges import output_range
from polyrelu.proofs.equivalence.prover import equivalent
from polyrelu.proofs.functional_dimension import certify_functional_dimension
from polyrelu.proofs.identifiable_networks import identifiable_network
from polyrelu.proofs.identify import identify
from polyrelu.proofs.injectivity.constructions import (
    MadeInjective,
    doubled_layer,
    made_injective,
    opposite_kernels,
)
from polyrelu.proofs.injectivity.convolutions import (
    InjectiveKernels,
    convolution_layer,
    injective_kernels,
)
from polyrelu.proofs.injectivity.exact_constant import ExactConstant, exact_inverse_lipschitz
from polyrelu.proofs.injectivity.left_inverse import left_inverse
from polyrelu.proofs.injectivity.lipschitz import inverse_lipschitz
from polyrelu.proofs.injectivity.prover import injective
from polyrelu.proofs.minimal_network import MinimalNetwork, minimal_network
from polyrelu.proofs.properties.decisions import same_decisions
from polyrelu.proofs.properties.prover import verify
from polyrelu.proofs.region_cover import certify_complex, certify_regions
from polyrelu.proofs.runtime_error import prove_runtime_error
from polyrelu.proofs.shallow.teaching import teaching_set
from polyrelu.proofs.simplification import Simplified, simplify
from polyrelu.proofs.sizes import size_bound

__all__ = [
    "ExactConstant",
    "InjectiveKernels",
    "MadeInjective",
    "MinimalNetwork",
    "Simplified",
    "certify_complex",
    "certify_functional_dimension",
    "certify_regions",
    "convolution_layer",
    "deviation",
    "doubled_layer",
    "equivalent",
    "exact_inverse_lipschitz",
    "identifiable_network",
    "identify",
    "injective",
    "injective_kernels",
    "inverse_lipschitz",
    "left_inverse",
    "lipschitz_bounds",
    "made_injective",
    "minimal_network",
    "opposite_kernels",
    "output_range",
    "prove_runtime_error",
    "same_decisions",
    "simplify",
    "size_bound",
    "teaching_set",
    "verify",
]
