"""Claimed matchings of the neurons of two networks, and claims that two functions are equal.

A matching pairs neuron i of a layer with neuron π(i) of the other network such that the other one
is s_i > 0 times the first. The layers are compared in order: with the right pairs of the layer
before, the rows of both networks are over the same neurons, and two neurons match exactly if one
row is a positive multiple of the other. Rows of one direction are found by their primitive
integers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from polyrelu.audit.allowance import NEAREST, Allowance
from polyrelu.audit.comparing import Question, report_of
from polyrelu.audit.findings import Cause, Finding, Verdict, number_text
from polyrelu.audit.reports import AuditReport
from polyrelu.audit.tables import as_integers, as_numbers, entry, is_finite
from polyrelu.errors import ArgumentError, NetworkError
from polyrelu.exact import primitive
from polyrelu.formats import DomainLike, NetworkLike, as_network
from polyrelu.network import Network
from polyrelu.outcomes import NotEquivalent, Proved
from polyrelu.proofs import equivalent
from polyrelu.support.arguments import expect_list
from polyrelu.support.typing import Point

__all__ = ["audit_function", "audit_matching"]

#: Default budget of the proof that two functions are equal, in units of about a millisecond.
BUDGET = 30_000.0


def audit_function(
    network: NetworkLike,
    other: NetworkLike,
    domain: DomainLike = None,
    *,
    budget: float | None = BUDGET,
) -> AuditReport:
    """Decide whether a merged, pruned or converted network computes the function of the original.

    Parameters
    ----------
    network
        The original network, or what `polyrelu.load` takes.
    other
        The network of which it is claimed that it computes the same function.
    domain
        A polyhedron, or a text such as ``"box:-1,1"``; None for the whole space.
    budget
        Units of work of the proof, about a millisecond each; None for no limit.

    Returns
    -------
    AuditReport
        One verdict: *right* with a proof, *wrong* with a point of difference, else *not refuted*.

    Raises
    ------
    NetworkError
        A network cannot be read, or the numbers of inputs or outputs differ.
    DomainError
        The domain cannot be read.

    Examples
    --------
    >>> one, two = [([[1]], [0]), ([[2]], [0])], [([[2]], [0]), ([[1.0000001]], [0])]
    >>> audit_function(one, one).agrees, audit_function(one, two).agrees
    (True, False)
    """
    outcome = equivalent(network, other, domain, budget=budget)
    verdict: Verdict = "right" if isinstance(outcome, Proved) else "not refuted"
    if isinstance(outcome, NotEquivalent):
        verdict = "wrong"

    def explain(_: int) -> Finding:
        """Return the finding about an item."""
        if not isinstance(outcome, NotEquivalent):
            message = "neither a proof nor a point of difference was found within the budget"
            return Finding("function", verdict, message, 0)
        found = outcome.witness
        size = max(abs(a - b) for a, b in zip(found.f, found.g, strict=True))
        message = f"the functions differ: {found.difference()}"
        return Finding("function", verdict, message, 0, None, found.x, size, "difference")

    rule = "the claim is right if the functions of the exact weights are equal on the domain"
    return report_of("functions of two networks", [verdict], explain, Question(), rule)


def audit_matching(
    network: NetworkLike,
    other: NetworkLike,
    permutations: Sequence[object],
    scales: Sequence[object] | None = None,
    *,
    allowance: Allowance = NEAREST,
    max_findings: int = 100,
) -> AuditReport:
    """Decide whether a matching of the hidden neurons of two networks is right.

    Parameters
    ----------
    network, other
        Two plain stacks with the same widths, or what `polyrelu.load` takes.
    permutations
        For each hidden layer the index in `other` of the partner of each neuron of `network`.
    scales
        For each hidden layer the positive factors s with (neuron of `other`) = s (neuron of
        `network`); None if the claim is about the partners only.
    allowance
        When a claimed scale stands for the exact one.
    max_findings
        Maximum number of differences that are explained; all are counted.

    Returns
    -------
    AuditReport
        A verdict for each hidden neuron, layer by layer, and last for the outputs: *not refuted*
        where neurons without a partner before leave nothing to compare with.

    Raises
    ------
    NetworkError
        A network cannot be read, or the networks have different shapes or skip connections.
    ArgumentError
        The permutations or scales do not fit the networks.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> from polyrelu.symmetry import permute
    >>> net = from_arrays([([[1, 0], [0, 1], [1, 1]], [0, 1, 2]), ([[1, 2, 3]], [0])])
    >>> other = permute(net, 1, [2, 0, 1])
    >>> audit_matching(net, other, [[1, 2, 0]]).agrees
    True
    >>> print(audit_matching(net, other, [[2, 1, 0]]).findings[0])
    wrong neuron: neuron 0 of layer 1 is paired with neuron 2, its partner is neuron 1
    witness: (0, 0)
    difference: 1
    cause: swapped neurons: with neuron 1 of this layer it would have the right partner
    """
    one, two = as_network(network), as_network(other)
    if one.architecture != two.architecture:
        raise NetworkError("matching: the networks have different shapes, so that nothing matches")
    question = Question.of(allowance, max_findings=max_findings)
    pairs = _read_permutations(one, permutations)
    factors = _read_scales(one, scales)
    audit = _Matching(one, two, pairs, factors, allowance)
    audit.run()
    rule = f"neurons match if one is a positive multiple of the other; scales {allowance}"
    return report_of("matching of neurons", audit.verdicts, audit.explain, question, rule)


def _read_permutations(network: Network, permutations: Sequence[object]) -> list[list[int]]:
    """Return a permutation for each hidden layer."""
    widths = _hidden_widths(network)
    given = expect_list(permutations, "permutations")
    if len(given) != len(widths):
        raise ArgumentError(f"permutations: {len(given)}, but {len(widths)} hidden layers")
    found = [as_integers(row, 1, f"permutation {k}").tolist() for k, row in enumerate(given, 1)]
    for k, (row, width) in enumerate(zip(found, widths, strict=True), 1):
        if len(row) != width or any(index >= width for index in row):
            raise ArgumentError(f"permutation {k}: expected {width} indices below {width}")
    return found


def _read_scales(network: Network, scales: Sequence[object] | None) -> list[list[Fraction]] | None:
    """Return the factors of each hidden layer."""
    if scales is None:
        return None
    widths, given = _hidden_widths(network), expect_list(scales, "scales")
    tables = [as_numbers(row, 1, f"scales {k}") for k, row in enumerate(given, 1)]
    if [len(table) for table in tables] != widths:
        raise ArgumentError(f"scales: expected layers of {widths} numbers")
    if not all(is_finite(table).all() and (table > 0).all() for table in tables):
        raise ArgumentError("scales: expected finite numbers above 0")
    return [[entry(value) for value in table] for table in tables]


def _hidden_widths(network: Network) -> list[int]:
    """Return the widths of the hidden layers that can be permuted."""
    free = network.num_hidden_layers - (network.last == "relu")
    return list(network.widths[1 : free + 1])


@dataclass(frozen=True, slots=True)
class _Fault:
    """A wrong pair: layer, neuron, its partners, and its exact scale."""

    layer: int
    neuron: int
    partner: int | None
    scale: Fraction | None = None


class _Matching:
    """The comparison of two networks, layer by layer."""

    def __init__(
        self,
        one: Network,
        two: Network,
        pairs: list[list[int]],
        scales: list[list[Fraction]] | None,
        allowance: Allowance,
    ) -> None:
        self.one, self.two, self.pairs, self.scales = one, two, pairs, scales
        self.allowance = allowance
        self.verdicts: list[Verdict] = []
        self.faults: dict[int, _Fault] = {}
        #: The right partners and scales of each layer, as far as they are known.
        self.right: list[list[tuple[int, Fraction]]] = []

    def run(self) -> None:
        """Judge all layers."""
        before = [(k, Fraction(1)) for k in range(self.one.num_inputs)]
        for layer in range(1, len(self.pairs) + 1):
            found = self._partners(layer, before)
            self._judge(layer, found)
            if any(pair is None for pair in found):
                rest = sum(map(len, self.pairs[layer:])) + 1
                self.verdicts += ["not refuted"] * rest
                return
            before = [pair for pair in found if pair is not None]
            self.right.append(before)
        self._judge_outputs(before)

    def _rows(self, layer: int, before: Sequence[tuple[int, Fraction]]) -> list[list[Fraction]]:
        """Return the rows [W | b] of the other network over the neurons of the first one."""
        weight, bias = self.two.weight(layer).rows(), list(self.two.bias(layer).entries())
        return [
            [*(row[partner] * scale for partner, scale in before), constant]
            for row, constant in zip(weight, bias, strict=True)
        ]

    def _own_rows(self, layer: int) -> list[list[Fraction]]:
        weight, bias = self.one.weight(layer).rows(), self.one.bias(layer).entries()
        return [[*row, constant] for row, constant in zip(weight, bias, strict=True)]

    def _partners(
        self, layer: int, before: Sequence[tuple[int, Fraction]]
    ) -> list[tuple[int, Fraction] | None]:
        """Return a right partner and scale of each neuron, the claimed partner if it is right."""
        own, others = self._own_rows(layer), self._rows(layer, before)
        known: dict[tuple[int, ...], list[int]] = {}
        for j, row in enumerate(others):
            known.setdefault(_direction(row), []).append(j)
        claimed = self.pairs[layer - 1]
        found: list[tuple[int, Fraction] | None] = [None] * len(own)
        # Claimed pairs first, so that a choice between equal neurons is the claimed one.
        order = sorted(
            range(len(own)), key=lambda i: claimed[i] not in known.get(_direction(own[i]), [])
        )
        for i in order:
            possible = known.get(_direction(own[i]), [])
            if possible:
                j = claimed[i] if claimed[i] in possible else possible[0]
                possible.remove(j)
                found[i] = (j, _ratio(others[j], own[i]))
        return found

    def _judge(self, layer: int, found: Sequence[tuple[int, Fraction] | None]) -> None:
        """Append the verdicts of a layer."""
        for i, pair in enumerate(found):
            fault = None
            if pair is None:
                fault = _Fault(layer, i, None)
            elif pair[0] != self.pairs[layer - 1][i]:
                fault = _Fault(layer, i, pair[0])
            elif self.scales and not self.allowance.allows(self.scales[layer - 1][i], pair[1]):
                fault = _Fault(layer, i, pair[0], pair[1])
            if fault:
                self.faults[len(self.verdicts)] = fault
            self.verdicts.append("wrong" if fault else "right")

    def _judge_outputs(self, before: Sequence[tuple[int, Fraction]]) -> None:
        """Append the verdict on the last layer."""
        layer = len(self.pairs) + 1
        equal = self._rows(layer, before) == self._own_rows(layer)
        self.verdicts.append("right" if equal else "wrong")

    def explain(self, item: int) -> Finding:
        """Return the finding about a neuron, or about the outputs."""
        fault = self.faults.get(item)
        if self.verdicts[item] == "not refuted":
            message = f"item {item}: a neuron of a layer before has no partner"
            return Finding("neuron", "not refuted", message, item)
        if fault is None:
            return self._explain_outputs(item)
        layer, i = fault.layer, fault.neuron
        claimed = self.pairs[layer - 1][i]
        name = f"neuron {i} of layer {layer}"
        if fault.scale is not None and self.scales:
            scale = self.scales[layer - 1][i]
            message = f"the scale of {name} is given as {scale}, it is {number_text(fault.scale)}"
            cause = Cause("scale", "the partner is right, its scale is not")
            off = abs(fault.scale - scale)
            return Finding(
                "neuron", "wrong", message, item, None, None, off, "difference", (cause,)
            )
        witness, size = self._difference(layer, i, claimed)
        measure = "" if size is None else "difference"
        if fault.partner is None:
            message = f"{name} has no partner: no neuron is a positive multiple of it"
            return Finding("neuron", "wrong", message, item, None, witness, size, measure)
        message = f"{name} is paired with neuron {claimed}, its partner is neuron {fault.partner}"
        causes = self._swap(fault, claimed)
        return Finding("neuron", "wrong", message, item, None, witness, size, measure, causes)

    def _swap(self, fault: _Fault, claimed: int) -> tuple[Cause, ...]:
        """Return the cause of a neuron that has the partner of another one, and the other way."""
        row = self.pairs[fault.layer - 1]
        if fault.partner not in row or len(self.right) < fault.layer:
            return ()
        other = row.index(fault.partner)
        right = self.right[fault.layer - 1][other][0]
        if right != claimed:
            return ()
        evidence = f"with neuron {other} of this layer it would have the right partner"
        return (Cause("swapped neurons", evidence),)

    def _difference(self, layer: int, i: int, j: int) -> tuple[Point | None, Fraction | None]:
        """Return a point where the preactivations differ although a claimed scale is applied."""
        points = _points(self.one.num_inputs)
        ours = self.one.preactivations(points)[layer - 1].row(i)
        theirs = self.two.preactivations(points)[layer - 1].row(j)
        scale = self.scales[layer - 1][i] if self.scales else Fraction(1)
        for point, a, b in zip(points, ours, theirs, strict=True):
            if scale * a != b:
                return tuple(map(Fraction, point)), abs(scale * a - b)
        return None, None

    def _explain_outputs(self, item: int) -> Finding:
        """Return the finding about last layers that differ."""
        message = "all hidden neurons have partners, but the last layers differ"
        outcome = equivalent(self.one, self.two, budget=BUDGET)
        if not isinstance(outcome, NotEquivalent):
            return Finding("outputs", "wrong", message, item)
        found = outcome.witness
        size = max(abs(a - b) for a, b in zip(found.f, found.g, strict=True))
        return Finding("outputs", "wrong", message, item, None, found.x, size, "difference")


def _direction(row: Sequence[Fraction]) -> tuple[int, ...]:
    """Return the primitive integers of a row, the same for all positive multiples."""
    if not any(row):
        return ()
    integers, factor = primitive(row)
    return integers if factor > 0 else tuple(-entry for entry in integers)


def _ratio(row: Sequence[Fraction], other: Sequence[Fraction]) -> Fraction:
    """Return the factor between two rows of one direction; 1 for rows of zeros."""
    return next((a / b for a, b in zip(row, other, strict=True) if b), Fraction(1))


def _points(size: int) -> list[list[int]]:
    """Return points at which neurons are compared: 0, unit vectors and some others."""
    units = [[int(i == j) for j in range(size)] for i in range(min(size, 16))]
    far = [[(7 * i * i + 3 * k) % 11 - 5 for i in range(size)] for k in range(8)]
    return [[0] * size, *units, *far]
