"""Outputs and gradients at points: exact values, float values, and whether rounding explains them.

A float output is right if its distance from the exact one is at most a bound on the rounding errors
of the runtime at this point, which is proved under the assumptions of docs/theory/rounding.md. For
gradients the bound is γ_N Σ |paths|: an entry is a sum over paths of products of weights, and a
path meets at most N roundings. The proof stands in docs/how-to/audit.md, "Gradients".
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Any, TypeAlias

import numpy as np

from polyrelu.audit.allowance import Allowance
from polyrelu.audit.comparing import Question, report_of
from polyrelu.audit.findings import Cause, Finding, Verdict, number_text
from polyrelu.audit.judging import ALONE, judged
from polyrelu.audit.measures import with_float32_weights
from polyrelu.audit.reports import AuditReport
from polyrelu.audit.tables import as_numbers, entry, is_finite, row_of
from polyrelu.errors import ArgumentError
from polyrelu.exact import RationalMatrix
from polyrelu.formats import Imported, NetworkLike, as_imported, runtime_error, runtime_errors_at
from polyrelu.network import ActivationPattern, Network
from polyrelu.support.arguments import expect_choice
from polyrelu.support.parallel import Execution
from polyrelu.support.progress import Progress
from polyrelu.support.typing import Array, Vector

__all__ = ["audit_gradients", "audit_outputs", "gradient_report", "output_report"]

#: Unit roundoffs of the float formats.
_UNITS = {"float32": Fraction(1, 2**24), "float64": Fraction(1, 2**53)}
#: Number of neurons nearest to 0 whose other side is tried as the cause of a gradient.
_MAX_FLIPPED = 8
#: Number of neurons of unclear sign whose states are tried in all combinations.
_MAX_UNCLEAR = 8
#: The allowed distance of each output at a point, None where no bound is known.
_Bounds: TypeAlias = tuple[Fraction | None, ...]


def audit_outputs(
    network: NetworkLike,
    points: object,
    outputs: object,
    *,
    arithmetic: str = "float64",
    allowance: Allowance | None = None,
    max_findings: int = 100,
) -> AuditReport:
    """Compare outputs at points with the exact outputs.

    Parameters
    ----------
    network
        A file or what `polyrelu.read` returns, for the operations of the file; or a network, for a
        runtime that computes layer by layer.
    points
        The points, numbers of the float format, shape (k, n_0).
    outputs
        The outputs of the tool, shape (k, n_L).
    arithmetic
        The format in which the tool computed, ``float64`` or ``float32``.
    allowance
        When a claimed output stands for the exact one; None for a proved bound on the rounding
        errors at the point.
    max_findings
        Maximum number of differences that are explained; all are counted.

    Returns
    -------
    AuditReport
        A verdict for each point: *right* if all outputs are, *not refuted* where no bound is known.

    Raises
    ------
    NetworkError
        The network cannot be read.
    ArgumentError
        The arguments have another shape.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([["1/3"]], [0]), ([[1]], [0])])
    >>> report = audit_outputs(net, [[1.0], [2.0]], [[1 / 3], [0.667]])
    >>> report.verdicts
    ('right', 'wrong')
    >>> print(report.findings[0])
    wrong output: item 1: output 0 is given as 0.667, it is 2/3; rounding explains at most about
    4.44089e-16
    witness: (2)
    difference: about 0.000333333
    """
    expect_choice(arithmetic, _UNITS, "arithmetic")
    imported = as_imported(network)
    return output_report(imported, points, outputs, arithmetic, allowance, max_findings)


def output_report(
    imported: Imported,
    points: object,
    outputs: object,
    arithmetic: str,
    allowance: Allowance | None,
    max_findings: int,
    execution: Execution = ALONE,
    progress: Progress | None = None,
) -> AuditReport:
    """Return the report on outputs at points; parts of long lists are tasks."""
    question = Question.of(allowance or Allowance(), max_findings=max_findings)
    audit = _Outputs(imported, points, outputs, arithmetic, allowance)
    found = judged(audit, execution, progress)
    verdicts: list[Verdict] = [verdict for verdict, _ in found]
    rule = "" if allowance else f"an output is right if {arithmetic} rounding explains it"
    exactly = sum(is_exact for _, is_exact in found)
    notes = (f"{exactly} of the points have exactly the right outputs",)
    return report_of("outputs at points", verdicts, audit.explain, question, rule, notes)


class _Outputs:
    """Claimed outputs beside the exact ones; a judge of them."""

    subject, items_per_task = "outputs at points", 256

    def __init__(
        self,
        imported: Imported,
        points: object,
        outputs: object,
        arithmetic: str,
        allowance: Allowance | None,
    ) -> None:
        self.imported, self.network = imported, imported.network
        self.arithmetic, self.allowance = arithmetic, allowance
        self.points, self.values = _pair_of_tables(
            points, outputs, self.network.num_inputs, self.network.num_outputs
        )
        self.exact, self._bounds = dict[int, Vector](), dict[int, _Bounds]()

    def __len__(self) -> int:
        return len(self.points)

    def __reduce__(self) -> tuple[type[_Outputs], tuple[Any, ...]]:
        return _Outputs, (self.imported, self.points, self.values, self.arithmetic, self.allowance)

    def judge(self, items: range) -> list[tuple[Verdict, bool]]:
        """Return the verdict on some points, and whether the outputs are exactly right."""
        self._know(items)
        exactly = [self.is_exact(item) for item in items]
        self._know_bounds([k for k, is_exact in zip(items, exactly, strict=True) if not is_exact])
        return list(zip(map(self.verdict, items), exactly, strict=True))

    def _know(self, items: Sequence[int]) -> None:
        """Compute the exact outputs at some points."""
        rows = [row_of(self.points, k) for k in items]
        self.exact |= zip(items, self.network.evaluate(rows) if rows else [], strict=True)

    def _know_bounds(self, items: Sequence[int]) -> None:
        """Compute the allowed distances of the outputs at some points."""
        found: list[_Bounds]
        if self.allowance is not None:
            found = [tuple(map(self.allowance.bound, self.exact[k])) for k in items]
        else:
            rows = [row_of(self.points, k) for k in items]
            found = runtime_errors_at(self.imported, rows, arithmetic=self.arithmetic)
        self._bounds |= zip(items, found, strict=True)

    @cached_property
    def _rounded(self) -> Network | None:
        """The network with its weights rounded to float32; None if nothing changes."""
        return with_float32_weights(self.network)

    def is_exact(self, item: int) -> bool:
        """Return whether all outputs at a point are exactly right."""
        is_number = is_finite(self.values[item]).all()
        return bool(is_number) and row_of(self.values, item) == self.exact[item]

    def verdict(self, item: int) -> Verdict:
        """Return the verdict on a point."""
        if not is_finite(self.values[item]).all():
            return "wrong"
        if self.is_exact(item):
            return "right"
        errors = self._errors(item)
        pairs = list(zip(errors, self._bounds[item], strict=True))
        if any(bound is not None and error > bound for error, bound in pairs):
            return "wrong"
        return "right" if all(bound is not None for _, bound in pairs) else "not refuted"

    def _errors(self, item: int) -> list[Fraction]:
        pairs = zip(self.values[item], self.exact[item], strict=True)
        return [abs(entry(value) - exact) for value, exact in pairs]

    def explain(self, item: int) -> Finding:
        """Return the finding about the output that exceeds its bound most."""
        self._know([item])
        self._know_bounds([item])
        point, verdict = row_of(self.points, item), self.verdict(item)
        finite = is_finite(self.values[item])
        if not finite.all():
            k = int(np.argmin(finite))
            right = number_text(self.exact[item][k])
            message = f"item {item}: output {k} is given as {self.values[item][k]}, it is {right}"
            return Finding("output", verdict, message, item, None, point)
        errors, bounds = self._errors(item), self._bounds[item]
        k = max(range(len(errors)), key=lambda j: errors[j] - (bounds[j] or 0))
        exact, claimed, bound = self.exact[item][k], self.values[item][k], bounds[k]
        given = f"item {item}: output {k} is given as {claimed}, it is {number_text(exact)}"
        known = "no bound on rounding errors is known"
        if bound is not None:
            known = f"rounding explains at most {number_text(bound)}"
        causes = self._causes(item, k, bound or Fraction(0)) if verdict == "wrong" else ()
        message = f"{given}; {known}"
        return Finding(
            "output", verdict, message, item, None, point, errors[k], "difference", causes
        )

    def _causes(self, item: int, k: int, bound: Fraction) -> tuple[Cause, ...]:
        """Return what else a wrong output would be right for."""
        claimed, exact = entry(self.values[item][k]), self.exact[item]
        causes = []
        if exact[k] and abs(claimed + exact[k]) <= bound:
            causes.append(Cause("flipped sign", "minus the number is right"))
        for j, other in enumerate(exact):
            if j != k and abs(claimed - other) <= bound:
                causes.append(Cause("order of outputs", f"it is right for output {j}"))
        rounded = self._rounded
        if rounded is not None:
            value = rounded(row_of(self.points, item))[k]
            if abs(claimed - value) <= bound:
                causes.append(Cause("float32 weights", "it is right for float32 weights"))
        return tuple(causes)


def _pair_of_tables(points: object, values: object, size: int, outputs: int) -> tuple[Array, Array]:
    """Return points and values as tables of the right shapes."""
    x, y = as_numbers(points, 2, "points"), as_numbers(values, 2, "outputs")
    if len(x) and x.shape[1] != size:
        raise ArgumentError(f"points: {x.shape[1]} coordinates, but {size} inputs")
    if not is_finite(x).all():
        raise ArgumentError("points: a coordinate is not a finite number")
    if len(y) != len(x) or (len(y) and y.shape[1] != outputs):
        raise ArgumentError(f"outputs: expected shape ({len(x)}, {outputs}), got {y.shape}")
    return x, y


def audit_gradients(
    network: NetworkLike,
    points: object,
    gradients: object,
    *,
    arithmetic: str = "float64",
    allowance: Allowance | None = None,
    max_findings: int = 100,
) -> AuditReport:
    """Compare gradients at points with the exact gradients.

    Where a float runtime may get the sign of a preactivation wrong by rounding, or a neuron
    vanishes, the gradient on either side is right.

    Parameters
    ----------
    network
        A plain stack of layers, or what `polyrelu.load` takes.
    points
        The points, shape (k, n_0).
    gradients
        The derivatives of all outputs by all inputs, shape (k, n_L, n_0).
    arithmetic
        The format in which the tool computed, ``float64`` or ``float32``.
    allowance
        When a claimed derivative stands for the exact one; None for a proved bound on the rounding
        errors of the products and sums.
    max_findings
        Maximum number of differences that are explained; all are counted.

    Returns
    -------
    AuditReport
        A verdict for each point.

    Raises
    ------
    NetworkError
        The network cannot be read, or has skip connections.
    ArgumentError
        The arguments have another shape.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1]], ["-1/2"]), ([[3]], [0])])
    >>> print(audit_gradients(net, [[1.0], [0.25]], [[[3.0]], [[3.0]]]).findings[0])
    wrong gradient: item 1: the derivative of output 0 by input 0 is given as 3.0, it is 0
    witness: (1/4)
    difference: 3
    cause: fold: it is right if neuron 0 of layer 1 is active, whose preactivation is at distance
    1/4 from 0 here
    """
    expect_choice(arithmetic, _UNITS, "arithmetic")
    exact = as_imported(network).network
    return gradient_report(exact, points, gradients, arithmetic, allowance, max_findings)


def gradient_report(
    network: Network,
    points: object,
    gradients: object,
    arithmetic: str,
    allowance: Allowance | None,
    max_findings: int,
    execution: Execution = ALONE,
    progress: Progress | None = None,
) -> AuditReport:
    """Return the report on gradients at points; parts of long lists are tasks."""
    question = Question.of(allowance or Allowance(), max_findings=max_findings)
    audit = _Gradients(network, points, gradients, arithmetic, allowance)
    found = judged(audit, execution, progress)
    verdicts: list[Verdict] = ["right" if is_explained else "wrong" for is_explained in found]
    rule = "" if allowance else f"a derivative is right if {arithmetic} rounding explains it"
    return report_of("gradients at points", verdicts, audit.explain, question, rule)


class _Gradients:
    """Claimed gradients beside the exact ones; a judge of them."""

    subject, items_per_task = "gradients at points", 64

    def __init__(
        self,
        network: Network,
        points: object,
        gradients: object,
        arithmetic: str,
        allowance: Allowance | None,
    ) -> None:
        self.network, self.allowance, self.arithmetic = network, allowance, arithmetic
        roundings = sum(network.architecture.widths) + 2 * network.depth
        self.factor = (1 + _UNITS[arithmetic]) ** roundings - 1
        table = as_numbers(gradients, 3, "gradients")
        shape = (network.num_outputs, network.num_inputs)
        if len(table) and table.shape[1:] != shape:
            raise ArgumentError(f"gradients: expected shape (k, {shape[0]}, {shape[1]})")
        self.values = table
        flat = np.zeros((len(table), network.num_outputs))
        self.points, _ = _pair_of_tables(points, flat, *shape[::-1])
        self.patterns = dict[int, ActivationPattern]()

    def __len__(self) -> int:
        return len(self.points)

    def __reduce__(self) -> tuple[type[_Gradients], tuple[Any, ...]]:
        return _Gradients, (self.network, self.points, self.values, self.arithmetic, self.allowance)

    def judge(self, items: range) -> list[bool]:
        """Return whether rounding explains the gradients at some points."""
        self._know(items)
        return [self.is_explained(item) for item in items]

    def _know(self, items: Sequence[int]) -> None:
        """Compute the signs at some points."""
        rows = [row_of(self.points, k) for k in items]
        signs = self.network.sign_vector(rows) if rows else []
        self.patterns |= {k: s.activation_pattern for k, s in zip(items, signs, strict=True)}

    def is_explained(self, item: int) -> bool:
        """Return whether a gradient is right for signs that a float runtime may see."""
        if self.worst(item, self.patterns[item]) is None:
            return True
        unclear = self._unclear_neurons(item)[:_MAX_UNCLEAR]
        choices = product((False, True), repeat=len(unclear))
        return any(
            self.worst(item, _with_states(self.patterns[item], unclear, states)) is None
            for states in choices
        )

    def _unclear_neurons(self, item: int) -> list[tuple[int, int]]:
        """Return layer and index of the neurons whose sign rounding may change at a point."""
        point = row_of(self.points, item)
        layers = self.network.preactivations([point])[: self.network.num_hidden_layers]
        found = []
        for number, z in enumerate(layers, 1):
            part = Network(self.network.num_inputs, self.network.layers[:number])
            bounds = runtime_error(part, (point, point), arithmetic=self.arithmetic).bounds
            for i, bound in enumerate(bounds):
                if bound is None or abs(z[i, 0]) <= bound:
                    found.append((number, i))
        return found

    def worst(self, item: int, pattern: ActivationPattern) -> tuple[int, int, Fraction] | None:
        """Return the entry that exceeds its bound most and its error; None if there is none."""
        exact, sizes = self._jacobian(pattern)
        found: tuple[int, int, Fraction] | None = None
        for i, j in np.ndindex(exact.shape):
            value, right = self.values[item, i, j], exact[i, j]
            if not is_finite(self.values[item, i : i + 1, j])[0]:
                return i, j, Fraction(0)
            bound = self.allowance.bound(right) if self.allowance else self.factor * sizes[i, j]
            error = abs(entry(value) - right)
            if error > bound and (found is None or error > found[2]):
                found = (i, j, error)
        return found

    def _jacobian(self, pattern: ActivationPattern) -> tuple[RationalMatrix, RationalMatrix]:
        """Return the derivatives of a pattern, and the sums of the absolute values of the paths."""
        size = self.network.num_inputs
        value = total = RationalMatrix.identity(size)
        for number in range(1, self.network.depth + 1):
            weight = self.network.weight(number)
            value, total = weight @ value, _absolute(weight) @ total
            if number <= self.network.num_hidden_layers:
                on = [int(active) for active in pattern.layers[number - 1]]
                value, total = value.scale_rows(on), total.scale_rows(on)
        return value, total

    def explain(self, item: int) -> Finding:
        """Return the finding about the derivative that is off most."""
        self._know([item])
        found = self.worst(item, self.patterns[item])
        assert found is not None
        i, j, error = found
        exact = self._jacobian(self.patterns[item])[0][i, j]
        message = (
            f"item {item}: the derivative of output {i} by input {j} is given as "
            f"{self.values[item, i, j]}, it is {number_text(exact)}"
        )
        cause = self._fold(item)
        causes = (cause,) if cause else ()
        point, size = row_of(self.points, item), error or None
        name = "difference" if error else ""
        return Finding("gradient", "wrong", message, item, None, point, size, name, causes)

    def _fold(self, item: int) -> Cause | None:
        """Return the cause of a gradient that is right on the other side of a neuron's zero set."""
        point = row_of(self.points, item)
        layers = self.network.preactivations([point])[: self.network.num_hidden_layers]
        values = sorted(
            (abs(z[i, 0]), number, i) for number, z in enumerate(layers, 1) for i in range(z.nrows)
        )
        for size, number, i in values[:_MAX_FLIPPED]:
            is_active = not self.patterns[item].layers[number - 1][i]
            pattern = _with_states(self.patterns[item], [(number, i)], [is_active])
            if self.worst(item, pattern) is None:
                state = "active" if is_active else "inactive"
                return Cause(
                    "fold",
                    f"it is right if neuron {i} of layer {number} is {state}, whose preactivation "
                    f"is {_near_zero(size)} here",
                )
        return None


def _with_states(
    pattern: ActivationPattern, neurons: Sequence[tuple[int, int]], states: Sequence[bool]
) -> ActivationPattern:
    """Return a pattern with other states of some neurons, given by layer and index."""
    rows = [list(layer) for layer in pattern.layers]
    for (layer, index), state in zip(neurons, states, strict=True):
        rows[layer - 1][index] = state
    return ActivationPattern(tuple(map(tuple, rows)))


def _near_zero(size: Fraction) -> str:
    """Return the size of a preactivation for a sentence."""
    return "0" if not size else f"at distance {number_text(size)} from 0"


def _absolute(matrix: RationalMatrix) -> RationalMatrix:
    """Return a matrix of the absolute values of the entries."""
    rows = [[abs(entry) for entry in row] for row in matrix.integer_rows()]
    return RationalMatrix.from_integers(rows, matrix.denominator, ncols=matrix.ncols)
