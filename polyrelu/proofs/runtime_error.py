"""Bounds on the rounding errors of a float runtime, as outcomes with certificates.

The bound itself is computed in `formats` (`runtime_error`), in float64 with directed rounding; this
module only turns it into a claim. There are no hypotheses besides the model of the runtime, which
is part of the claim: the checker computes its own bound in integers, which is never larger, and
compares (FORMAT.md §3.7). The proof is in docs/theory/rounding.md.
"""

from __future__ import annotations

from polyrelu.certificate import Certificate, Hypothesis, RuntimeClaim
from polyrelu.formats import RuntimeErrorBound
from polyrelu.outcomes import Proved, Undecided
from polyrelu.support.arguments import expect
from polyrelu.version import __version__

__all__ = ["prove_runtime_error"]


def prove_runtime_error(found: RuntimeErrorBound) -> Proved[Certificate] | Undecided:
    """Turn a bound into an outcome with a certificate.

    Parameters
    ----------
    found
        A bound on the errors of a runtime.

    Returns
    -------
    Proved or Undecided
        Undecided if there is no bound, or if certificates cannot express the operations.

    Raises
    ------
    ArgumentError
        The argument is not a bound.

    Examples
    --------
    >>> from polyrelu.formats import runtime_error
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, -1], [2, 1]], [0, 1]), ([[1, 1]], [0])])
    >>> prove_runtime_error(runtime_error(net, "box:-1,1")).status
    'proved'
    """
    expect(found, RuntimeErrorBound, "found", "runtime_error(network, domain) makes one")
    if found.worst is None:
        return Undecided(str(found))
    if not found.is_layered:
        return Undecided(
            f"{found}; certificates know only runtimes that compute layer by layer, and the "
            "operations of this file are others (pooling, branches, scaled values, or a network "
            "with skip connections)"
        )
    bounds = tuple(bound for bound in found.bounds if bound is not None)
    claim = RuntimeClaim(found.network, found.lower, found.upper, found.arithmetic, bounds)
    return Proved(
        Certificate(
            claim,
            "rounding",
            (Hypothesis("rounding", "bound"),),
            {"tool": f"polyrelu {__version__}"},
        )
    )
