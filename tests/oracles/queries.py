"""Whether a query about small networks has a solution: all cases in all activation regions.

The truth of a formula is decided as it is written: every case of the query is a system of linear
inequalities on the closure of every activation region, strict ones with a common slack that a
linear program makes as large as it can. Nothing of `polyrelu.proofs` is used.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from polyrelu import Network
from polyrelu.exact import Infeasible, LinearProgram, Optimal, RationalMatrix, Unbounded
from polyrelu.formats import Constraint, VnnlibQuery

Row = list[Fraction]


def has_solution(query: VnnlibQuery, networks: Sequence[Network]) -> bool:
    """Whether some input satisfies a query about networks that share their inputs."""
    return any(
        _is_feasible(rows, _values(query, forms), case)
        for rows, forms in _regions(networks)
        for case in ((*c.inputs, *c.outputs) for c in query.cases(10**6))
    )


def _regions(networks: Sequence[Network]) -> Iterator[tuple[list[Row], list[list[Row]]]]:
    """Yield for each pattern the rows ≥ 0 of its region, and the outputs of all networks."""
    if not networks:
        yield [], []
        return
    for rows, outputs in _patterns(networks[0], 1, [_identity(networks[0].num_inputs)], []):
        if _is_feasible(rows, [], []):
            for more, others in _regions(networks[1:]):
                yield rows + more, [outputs, *others]


def _identity(size: int) -> RationalMatrix:
    return RationalMatrix.identity(size).beside(RationalMatrix.zeros(size, 1))


def _patterns(
    network: Network, layer: int, activations: list[RationalMatrix], rows: list[Row]
) -> Iterator[tuple[list[Row], list[Row]]]:
    """Yield the rows of all patterns that may exist, and the forms of the outputs."""
    if layer > network.depth:
        yield rows, [list(row) for row in activations[-1].rows()]
        return
    forms = network.layer_forms(layer, activations)
    if layer > network.num_hidden_layers:
        yield from _patterns(network, layer + 1, [*activations, forms], rows)
        return
    for on in _signs([list(row) for row in forms.rows()], rows):
        sides = [
            [entry if is_on else -entry for entry in row]
            for row, is_on in zip(forms.rows(), on, strict=True)
        ]
        yield from _patterns(
            network, layer + 1, [*activations, forms.scale_rows(on)], [*rows, *sides]
        )


def _signs(forms: list[Row], rows: list[Row]) -> Iterator[list[int]]:
    """Yield the activations of a layer's neurons that a region has somewhere."""
    if not forms:
        yield []
        return
    for is_on in (0, 1):
        side = [entry if is_on else -entry for entry in forms[0]]
        if _is_feasible([*rows, side], [], []):
            for rest in _signs(forms[1:], [*rows, side]):
                yield [is_on, *rest]


def _values(query: VnnlibQuery, outputs: list[list[Row]]) -> list[Row]:
    """Return all variables of a query as forms in the inputs."""
    values: list[Row] = []
    for number, forms in enumerate(outputs):
        size = len(query.inputs_of(number))
        values += [[Fraction(int(j == k)) for k in range(size + 1)] for j in range(size)]
        values += forms
    return values


def _is_feasible(
    rows: Sequence[Row], values: Sequence[Row], constraints: Sequence[Constraint]
) -> bool:
    """Whether rows ≥ 0 and some constraints hold at one point."""
    size = len((rows or values)[0]) - 1 if rows or values else 0
    program = LinearProgram(size + 1, [None] * size + [0], [None] * size + [1])
    for row in rows:
        program.add_inequalities([[*(-entry for entry in row[:-1]), 0]], [row[-1]])
    has_strict = False
    for constraint in constraints:
        assert constraint.relation != "!="
        total = [Fraction()] * size + [constraint.constant]
        for variable, coefficient in constraint.coefficients:
            total = [a + coefficient * b for a, b in zip(total, values[variable], strict=True)]
        is_strict = constraint.relation == "<"
        has_strict = has_strict or is_strict
        if constraint.relation == "==":
            program.add_equations([[*total[:-1], 0]], [-total[-1]])
        else:
            program.add_inequalities([[*total[:-1], int(is_strict)]], [-total[-1]])
    answer = program.maximize([0] * size + [1])
    if isinstance(answer, Infeasible):
        return False
    assert isinstance(answer, Optimal | Unbounded)
    return not has_strict or isinstance(answer, Unbounded) or answer.value > 0
