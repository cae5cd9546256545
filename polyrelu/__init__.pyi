from . import (
    attributes as attributes,
    audit as audit,
    breakpoints as breakpoints,
    certificate as certificate,
    checker as checker,
    complex as complex,
    conditions as conditions,
    corpus as corpus,
    dynamics as dynamics,
    errors as errors,
    exact as exact,
    fibers as fibers,
    foldsets as foldsets,
    formats as formats,
    network as network,
    outcomes as outcomes,
    plot as plot,
    proofs as proofs,
    recovery as recovery,
    report as report,
    support as support,
    symmetry as symmetry,
    testing as testing,
    topology as topology,
    training as training,
    walks as walks,
)
from .breakpoints import (
    BreakpointComplex as BreakpointComplex,
    breakpoint_complex as breakpoint_complex,
    reconstruct as reconstruct,
    tropical_form as tropical_form,
)
from .certificate import Certificate as Certificate
from .checker import check_file as check_file
from .complex import (
    PolyhedralComplex as PolyhedralComplex,
    bent_hyperplane as bent_hyperplane,
    canonical_complex as canonical_complex,
    region_graph as region_graph,
    save_complex as save_complex,
    skeleton as skeleton,
)
from .dynamics import conserved_quantities as conserved_quantities, linear_neurons as linear_neurons
from .errors import (
    ArgumentError as ArgumentError,
    CertificateError as CertificateError,
    DomainError as DomainError,
    NetworkError as NetworkError,
    NetworkFileError as NetworkFileError,
    PolyreluError as PolyreluError,
)
from .exact import Polyhedron as Polyhedron
from .fibers import Fiber as Fiber, fiber as fiber
from .formats import (
    load as load,
    parse_domain as parse_domain,
    read as read,
    runtime_error as runtime_error,
    save as save,
)
from .network import (
    ActivationPattern as ActivationPattern,
    Network as Network,
    NeuronId as NeuronId,
    SignVector as SignVector,
    from_arrays as from_arrays,
)
from .outcomes import (
    Outcome as Outcome,
    Proved as Proved,
    Refuted as Refuted,
    Undecided as Undecided,
)
from .proofs import (
    certify_complex as certify_complex,
    certify_regions as certify_regions,
    deviation as deviation,
    equivalent as equivalent,
    identify as identify,
    injective as injective,
    inverse_lipschitz as inverse_lipschitz,
    lipschitz_bounds as lipschitz_bounds,
    output_range as output_range,
    same_decisions as same_decisions,
    simplify as simplify,
    teaching_set as teaching_set,
    verify as verify,
)
from .recovery import (
    recover as recover,
    recover_function as recover_function,
    recover_taught as recover_taught,
    recover_weights as recover_weights,
)
from .symmetry import related as related
from .topology import (
    decision_boundary as decision_boundary,
    homology as homology,
    level_set as level_set,
)
from .version import __version__ as __version__
from .walks import walk_bent_hyperplane as walk_bent_hyperplane, walk_line as walk_line
