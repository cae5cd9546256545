"""Assertions that compare what a float tool says about a network with the exact answer.

Each one asks a function of `polyrelu.audit` and raises an `AssertionError` of at most five lines:
what differs, and the first difference with its point, its size and its cause. The functions import
what they need when they are called, so that tests which use none of them start as fast as before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from polyrelu.audit import Allowance, AuditReport, GroundTruth
    from polyrelu.audit.claims import RegionClaims
    from polyrelu.formats import Counterexample, DomainLike, NetworkLike, VnnlibQuery
    from polyrelu.support.typing import Array

__all__ = [
    "assert_outputs_within_rounding",
    "assert_same_function",
    "assert_same_regions",
    "assert_same_vertices",
    "assert_sound_bounds",
    "assert_valid_counterexample",
]

#: Maximum number of lines of a failure, and of findings among which a difference is looked for.
_MAX_LINES, _MAX_FINDINGS = 5, 8


def assert_same_regions(
    network: NetworkLike | GroundTruth,
    claims: RegionClaims | Sequence[Any] | Array,
    domain: DomainLike = None,
    *,
    allowance: Allowance | None = None,
    is_complete: bool = True,
) -> None:
    """Assert that a list of regions is the list of the exact activation regions.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes, or what the fixture `exact` returns.
    claims
        The regions as `polyrelu.audit.SignVectors`, `ActivationPatterns`, `LocalMaps`, `HalfSpaces`
        or `VertexLists`; or rows of signs -1, 0 and 1.
    domain
        A polyhedron, or a text such as ``"box:-1,1"``; None for the whole space, or for the domain
        of the exact answers.
    allowance
        When a float stands for an exact number; by default if it is the nearest one.
    is_complete
        Whether regions that are not in the list are missing.

    Raises
    ------
    AssertionError
        A region is missing, extra, duplicated or wrong; the message has a point of it.

    Examples
    --------
    >>> net = [([[1], [1]], [0, "-1/1000000000"]), ([[1, 1]], [0])]
    >>> assert_same_regions(net, [[-1, -1], [1, -1], [1, 1]], "box:-1,1")
    >>> assert_same_regions(net, [[-1, -1], [1, 1]], "box:-1,1")
    Traceback (most recent call last):
    AssertionError: regions as sign vectors: differs (2 right, 1 missing)
    missing region: the region +- is not in the list
    witness: (1/2000000000)
    inradius: 1/2000000000
    cause: sliver: its inradius 1/2000000000 is at most 1/1000000, and a tool with that tolerance
    takes the region for empty
    """
    from polyrelu.audit import NEAREST, SignVectors, audit_regions

    __tracebackhide__ = True
    is_table = isinstance(claims, list | tuple) or hasattr(claims, "__array__")
    _require(
        audit_regions(
            network,
            SignVectors(claims) if is_table else claims,  # type: ignore[arg-type]
            domain,
            allowance=allowance or NEAREST,
            is_complete=is_complete,
            max_findings=_MAX_FINDINGS,
        )
    )


def assert_same_vertices(
    network: NetworkLike | GroundTruth,
    vertices: Any,
    domain: DomainLike = None,
    *,
    allowance: Allowance | None = None,
    is_complete: bool = True,
) -> None:
    """Assert that a list of points is the list of the exact vertices of the complex.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes, or what the fixture `exact` returns.
    vertices
        Coordinates, shape (vertices, n_0), in any order, those on the boundary of the domain
        included.
    domain
        A polyhedron, or a text such as ``"box:-1,1"``; None for the whole space, or for the domain
        of the exact answers.
    allowance
        When a float stands for an exact number; by default if it is the nearest one.
    is_complete
        Whether vertices that are not in the list are missing.

    Raises
    ------
    AssertionError
        A vertex is missing, extra, duplicated or wrong; the message has the exact vertex.

    Examples
    --------
    >>> net = [([[3], [1]], [-1, 0]), ([[1, 1]], [0])]
    >>> assert_same_vertices(net, [[-1.0], [0.0], [1 / 3], [1.0]], "box:-1,1")
    >>> assert_same_vertices(net, [[-1.0], [0.0], [0.25], [1.0]], "box:-1,1")
    Traceback (most recent call last):
    AssertionError: vertices: differs (3 right, 1 wrong)
    wrong vertex: item 2 is next to a vertex that no item stands for
    witness: (1/3)
    distance: 1/12
    rule: a claimed number is right if it is within 1/2 unit in the last place (float64) of the
    exact one
    """
    from polyrelu.audit import NEAREST, audit_vertices

    __tracebackhide__ = True
    _require(
        audit_vertices(
            network,
            vertices,
            domain,
            allowance=allowance or NEAREST,
            is_complete=is_complete,
            max_findings=_MAX_FINDINGS,
        )
    )


def assert_outputs_within_rounding(
    network: NetworkLike,
    points: Any,
    outputs: Any | Callable[[Any], Any],
    *,
    arithmetic: str = "float64",
    accept_undecided: bool = False,
) -> None:
    """Assert that rounding explains how far the outputs of a runtime are from the exact ones.

    Parameters
    ----------
    network
        A file or what `polyrelu.read` returns, for the operations of the file; or a network, for a
        runtime that computes layer by layer.
    points
        The points, numbers of the float format, shape (k, n_0).
    outputs
        The outputs, shape (k, n_L); or a function of an array of the points that returns them.
    arithmetic
        The format in which the runtime computes, ``float64`` or ``float32``.
    accept_undecided
        Whether to accept outputs for which no bound on the rounding error is known.

    Raises
    ------
    AssertionError
        An output is further from the exact one than the proved bound on its rounding error.

    Examples
    --------
    >>> net = [([["1/3"]], [0]), ([[1]], [0])]
    >>> assert_outputs_within_rounding(net, [[1.0]], [[1 / 3]])
    >>> assert_outputs_within_rounding(net, [[2.0]], lambda points: points / 4)
    Traceback (most recent call last):
    AssertionError: outputs at points: differs (1 wrong)
    wrong output: item 0: output 0 is given as 0.5, it is 2/3; rounding explains at
    most about 4.44089e-16
    witness: (2)
    difference: 1/6
    rule: an output is right if float64 rounding explains it
    """
    import numpy as np

    from polyrelu.audit import audit_outputs

    __tracebackhide__ = True
    values = outputs
    if callable(outputs):
        values = outputs(np.asarray(points, dtype=arithmetic))
    report = audit_outputs(
        network, points, values, arithmetic=arithmetic, max_findings=_MAX_FINDINGS
    )
    _require(report, accept_undecided)


def assert_valid_counterexample(
    network: NetworkLike,
    query: VnnlibQuery | str | Path,
    counterexample: Counterexample | str | Path,
) -> None:
    """Assert that a counterexample satisfies a query of VNN-LIB exactly.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes.
    query
        What `polyrelu.formats.read_vnnlib` returns, or the name of a VNN-LIB file; one network.
    counterexample
        What `polyrelu.formats.read_counterexample` returns, or the name of such a file.

    Raises
    ------
    AssertionError
        The point is outside of the box, or an assertion fails there, by however little.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> net, folder = [([[1]], [0])], tempfile.TemporaryDirectory()
    >>> query, found = Path(folder.name, "query.vnnlib"), Path(folder.name, "found.counterexample")
    >>> _ = query.write_text('''(declare-const X_0 Real) (declare-const Y_0 Real)
    ... (assert (<= X_0 1)) (assert (>= X_0 0)) (assert (>= Y_0 1))''')
    >>> _ = found.write_text("((X_0 1.0) (Y_0 1.0))")
    >>> assert_valid_counterexample(net, query, found)
    >>> _ = found.write_text("((X_0 0.999999) (Y_0 1.0))")
    >>> assert_valid_counterexample(net, query, found)
    Traceback (most recent call last):
    AssertionError: counterexamples: differs (1 wrong)
    wrong counterexample: item 0: the assertion of line 2 fails
    witness: (999999/1000000)
    missing margin: 1/1000000
    cause: outputs of a float runtime: the file's outputs differ from the exact ones by up to
    1/1000000
    >>> folder.cleanup()
    """
    from polyrelu.audit import audit_counterexamples

    __tracebackhide__ = True
    _require(audit_counterexamples(network, query, [counterexample], max_findings=_MAX_FINDINGS))


def assert_sound_bounds(
    network: NetworkLike | GroundTruth,
    lower: Any = None,
    upper: Any = None,
    domain: DomainLike = None,
    *,
    accept_undecided: bool = False,
) -> None:
    """Assert that bounds of the outputs hold on a domain.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes, or what the fixture `exact` returns.
    lower, upper
        A bound for each output, shape (n_L,), infinite for none; None for no bounds.
    domain
        A polyhedron, or a text such as ``"box:-1,1"``; None for the whole space, or for the domain
        of the exact answers.
    accept_undecided
        Whether to accept bounds that are neither proved nor refuted.

    Raises
    ------
    AssertionError
        An output is beyond its bound at a point, which the message has.

    Examples
    --------
    >>> net = [([[1], [-1]], [0, 0]), ([[0.1, 0.1]], [0])]
    >>> assert_sound_bounds(net, [0], [0.1], "box:-1,1")
    >>> assert_sound_bounds(net, [0], [0.09999999999999999], "box:-1,1")
    Traceback (most recent call last):
    AssertionError: output bounds: differs (1 right, 1 wrong)
    wrong bound: the upper bound 0.09999999999999999 of output 0 is too small
    witness: (1)
    excess: about 1.38778e-17
    cause: last place: the next float64 is a bound
    """
    from polyrelu.audit import audit_bounds

    __tracebackhide__ = True
    _require(
        audit_bounds(network, lower, upper, domain, max_findings=_MAX_FINDINGS), accept_undecided
    )


def assert_same_function(
    network: NetworkLike,
    other: NetworkLike,
    domain: DomainLike = None,
    *,
    budget: float | None = 60_000,
    accept_undecided: bool = False,
) -> None:
    """Assert that two networks compute the same function on a domain.

    Parameters
    ----------
    network, other
        Two networks, or what `polyrelu.load` takes.
    domain
        A polyhedron, or a text such as ``"box:-1,1"``; None for the whole space.
    budget
        Units of work of the proof, about a millisecond each; None for no limit.
    accept_undecided
        Whether to accept networks for which neither a proof nor a difference is found.

    Raises
    ------
    AssertionError
        The functions differ at a point, which the message has.

    Examples
    --------
    >>> one, two = [([[1]], [0]), ([[2]], [0])], [([[2]], [0]), ([["7/6"]], [0])]
    >>> assert_same_function(one, [([[2]], [0]), ([[1]], [0])])
    >>> assert_same_function(one, two)
    Traceback (most recent call last):
    AssertionError: functions of two networks: differs (1 wrong)
    wrong function: the functions differ: output 0 differs most: f(x) - g(x) = -1/3
    witness: (1)
    difference: 1/3
    rule: the claim is right if the functions of the exact weights are equal on the domain
    """
    from polyrelu.audit import audit_function

    __tracebackhide__ = True
    _require(audit_function(network, other, domain, budget=budget), accept_undecided)


def _require(report: AuditReport, accept_undecided: bool = True) -> None:
    """Raise an error for a report with differences, or with undecided items."""
    __tracebackhide__ = True
    if not report.agrees or (report.counts.get("not refuted") and not accept_undecided):
        raise AssertionError(_failure(report))


def _failure(report: AuditReport) -> str:
    """Return the first difference in at most five lines."""
    answer = "differs" if not report.agrees else "undecided"
    counts = ", ".join(f"{number} {name}" for name, number in report.counts.items() if number)
    lines = [f"{report.subject}: {answer} ({counts})"]
    shown = sorted(report.findings, key=lambda finding: finding.verdict == "not refuted")
    if shown:
        lines += str(shown[0]).splitlines()
    return "\n".join([*lines, f"rule: {report.rule}"][:_MAX_LINES])
