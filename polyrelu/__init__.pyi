from . import breakpoints as breakpoints
from . import certificate as certificate
from . import checker as checker
from . import complex as complex
from . import conditions as conditions
from . import dynamics as dynamics
from . import errors as errors
from . import exact as exact
from . import fibers as fibers
from . import formats as formats
from . import network as network
from . import outcomes as outcomes
from . import plot as plot
from . import proofs as proofs
from . import symmetry as symmetry
from . import topology as topology
from . import walks as walks
from .breakpoints import (
    BreakpointComplex as BreakpointComplex,
)
from .breakpoints import (
    breakpoint_complex as breakpoint_complex,
)
from .breakpoints import (
    reconstruct as reconstruct,
)
from .breakpoints import (
    tropical_form as tropical_form,
)
from .certificate import Certificate as Certificate
from .checker import check_file as check_file
from .complex import (
    PolyhedralComplex as PolyhedralComplex,
)
from .complex import (
    bent_hyperplane as bent_hyperplane,
)
from .complex import (
    canonical_complex as canonical_complex,
)
from .complex import (
    parse_domain as parse_domain,
)
from .complex import (
    region_graph as region_graph,
)
from .complex import (
    save_complex as save_complex,
)
from .complex import (
    skeleton as skeleton,
)
from .dynamics import conserved_quantities as conserved_quantities
from .dynamics import linear_neurons as linear_neurons
from .errors import (
    CertificateError as CertificateError,
)
from .errors import (
    DomainError as DomainError,
)
from .errors import (
    NetworkError as NetworkError,
)
from .errors import (
    NetworkFileError as NetworkFileError,
)
from .errors import (
    PolyreluError as PolyreluError,
)
from .exact import Polyhedron as Polyhedron
from .fibers import Fiber as Fiber
from .fibers import fiber as fiber
from .formats import (
    load as load,
)
from .formats import (
    read as read,
)
from .formats import (
    runtime_error as runtime_error,
)
from .formats import (
    save as save,
)
from .network import (
    ActivationPattern as ActivationPattern,
)
from .network import (
    Network as Network,
)
from .network import (
    NeuronId as NeuronId,
)
from .network import (
    SignVector as SignVector,
)
from .network import (
    from_arrays as from_arrays,
)
from .outcomes import (
    Outcome as Outcome,
)
from .outcomes import (
    Proved as Proved,
)
from .outcomes import (
    Refuted as Refuted,
)
from .outcomes import (
    Undecided as Undecided,
)
from .proofs import (
    certify_regions as certify_regions,
)
from .proofs import (
    equivalent as equivalent,
)
from .proofs import (
    identify as identify,
)
from .proofs import (
    simplify as simplify,
)
from .symmetry import related as related
from .topology import (
    decision_boundary as decision_boundary,
)
from .topology import (
    homology as homology,
)
from .topology import (
    level_set as level_set,
)
from .version import __version__ as __version__
from .walks import walk_bent_hyperplane as walk_bent_hyperplane
from .walks import walk_line as walk_line
