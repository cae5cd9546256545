"""Components as equations and inequalities, in SymPy.

Unknown are the neurons that are not fixed: outgoing columns v, rows (u, d) of linear neurons, (w, b) of groups and dead
neurons, the output bias e, the shift t. Rows are normalised to absolute sum 1, which takes the scalings away.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from polyrelu.errors import DomainError, NetworkError
from polyrelu.fibers.hidden import HiddenHyperplane
from polyrelu.fibers.layer import Component, LayerNeurons

__all__ = ["Conditions", "conditions_of", "hidden_conditions"]

Table = tuple[tuple[Any, ...], ...]


@dataclass(frozen=True, slots=True)
class Conditions:
    """Which parameters belong to a component.

    Attributes
    ----------
    unknowns : SymPy symbols.
    equations : SymPy equalities. inequalities : SymPy relations, each to hold.
    tables : the parameters in these symbols, by name, what is fixed being a number: ``rows`` [w | b], ``columns`` v and
        the one row ``offset`` for the fiber of a layer; the rows of two layers for a hidden hyperplane.
    """

    unknowns: tuple[Any, ...]
    equations: tuple[Any, ...]
    inequalities: tuple[Any, ...]
    tables: dict[str, Table]

    def hold_for(self, neurons: LayerNeurons) -> bool:
        """Whether a layer, its neurons in the order of ``rows``, satisfies everything exactly, rows normalised first.

        Raises
        ------
        NetworkError : the conditions of a hidden hyperplane, which are about two layers.
        """
        if "rows" not in self.tables:
            raise NetworkError("these are conditions on two layers, not on the neurons of one")
        given = neurons.normalised()
        entries = [entry for table in self.tables.values() for row in table for entry in row]
        numbers = [_rational(x) for row in (*given.rows, *given.columns, given.offset) for x in row]
        if len(entries) != len(numbers):
            return False
        values: dict[Any, Any] = {}
        for entry, number in zip(entries, numbers, strict=True):
            if entry.is_Symbol and values.setdefault(entry, number) != number:
                return False
        if any(
            entry.subs(values) != number for entry, number in zip(entries, numbers, strict=True)
        ):
            return False
        return all(
            bool(relation.subs(values)) for relation in (*self.equations, *self.inequalities)
        )

    def parameters_latex(self) -> str:
        """All tables, one display each."""
        import sympy

        shown = []
        for name, table in self.tables.items():
            if table:
                matrix = sympy.latex(sympy.Matrix(list(map(list, table))))
                shown.append(f"\\[\\text{{{name}: }} {matrix}\\]")
        return "\n".join(shown)

    def to_latex(self) -> str:
        """All relations, one a line (amsmath)."""
        import sympy

        lines = [sympy.latex(relation) for relation in (*self.equations, *self.inequalities)]
        return "\\begin{gather*}\n" + " \\\\\n".join(lines) + "\n\\end{gather*}"


class _Writer:
    """Collects unknowns and relations."""

    def __init__(self, component: Component) -> None:
        import sympy

        self.sympy = sympy
        self.fiber, self.given = component.fiber, component.assignment
        self.size, self.outputs = self.fiber.domain.dimension, self.fiber.outputs
        self.unknowns: list[Any] = []
        self.equations: list[Any] = []
        self.inequalities: list[Any] = []
        self.rows: list[tuple[Any, ...]] = []
        self.columns: list[tuple[Any, ...]] = []

    def symbols(self, name: str, *indices: int, count: int) -> tuple[Any, ...]:
        """name_{indices,0}, …: new unknowns."""
        start = ",".join(map(str, indices))
        found = tuple(
            self.sympy.Symbol(f"{name}_{{{start},{k}}}" if start else f"{name}_{{{k}}}", real=True)
            for k in range(count)
        )
        self.unknowns.extend(found)
        return found

    def equal(self, left: Any, right: Any) -> None:
        """left = right, unless both are the same number."""
        relation = self.sympy.Eq(left, right)
        if relation != True:  # noqa: E712 - SymPy's own true
            self.equations.append(relation)

    def at_least(self, value: Any) -> None:
        """value ≥ 0, unless it is such a number."""
        relation = self.sympy.Ge(value, 0)
        if relation != True:  # noqa: E712 - SymPy's own true
            self.inequalities.append(relation)

    def neuron(self, row: Sequence[Any], column: Sequence[Any]) -> None:
        """One more neuron."""
        self.rows.append(tuple(row))
        self.columns.append(tuple(column))


#: Vertices of a polyhedron are listed up to this dimension; a box has 2^n of them.
_MOST_DIMENSIONS = 10


def conditions_of(component: Component) -> Conditions:
    """The equations and inequalities of a component of a layer's fiber.

    Raises
    ------
    DomainError : linear or dead neurons on a polyhedron of more than ten dimensions.

    >>> from polyrelu.fibers import layer_fiber
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, -1], [2, 1]], [1, 0]), ([[1, 1]], [0])])
    >>> found = conditions_of(layer_fiber(net, 2).flipped([]))
    >>> [str(equation) for equation in found.equations[:2]]
    ['Eq(d_{0,0} + u_{0,0} + u_{0,1}, 1)', 'Eq(u_{0,0}*v_{1,0} + 1/2, 5/2)']
    """
    writer = _Writer(component)
    _visible(writer)
    _groups(writer)
    _linear_and_dead(writer)
    offset = writer.symbols("e", count=writer.outputs)
    _affine_part(writer, offset)
    return Conditions(
        tuple(writer.unknowns),
        tuple(writer.equations),
        tuple(writer.inequalities),
        {"rows": tuple(writer.rows), "columns": tuple(writer.columns), "offset": (offset,)},
    )


def _visible(writer: _Writer) -> None:
    """Rows are fixed; the columns on one hyperplane add up."""
    for normal, pair in zip(writer.fiber.normals, writer.given.visible, strict=True):
        size = sum(map(abs, normal))
        row = [writer.sympy.Rational(entry, size) for entry in normal]
        total = [_rational(2 * size * c) for c in writer.fiber.form.terms[normal]]
        _cancelling(writer, row, pair, total)


def _groups(writer: _Writer) -> None:
    for number, pair in enumerate(writer.given.groups):
        row = writer.symbols("w", number, count=writer.size + 1)
        writer.equal(sum(map(writer.sympy.Abs, row)), 1)
        _crosses(writer, row)
        _cancelling(writer, row, pair, [writer.sympy.Integer(0)] * writer.outputs)


def _cancelling(
    writer: _Writer, row: Sequence[Any], pair: tuple[int, int], total: Sequence[Any]
) -> None:
    """Neurons on one hyperplane: their columns add up to `total`."""
    count = sum(pair)
    columns = []
    for k in range(count):
        number = len(writer.rows)
        column = tuple(total) if count == 1 else writer.symbols("v", number, count=writer.outputs)
        writer.neuron(row if k < pair[0] else [-entry for entry in row], column)
        columns.append(column)
    for entries, wanted in zip(zip(*columns, strict=True), total, strict=True):
        writer.equal(sum(entries), wanted)


def _linear_and_dead(writer: _Writer) -> None:
    for sign, name, bias, count in (
        (1, "u", "d", writer.given.linear),
        (-1, "w", "b", writer.given.dead),
    ):
        for number in range(count):
            index = number if sign > 0 else number + len(writer.given.groups)
            row = (
                *writer.symbols(name, index, count=writer.size),
                *writer.symbols(bias, index, count=1),
            )
            column = writer.symbols("v", len(writer.rows), count=writer.outputs)
            writer.neuron(row, column)
            _keeps_sign(writer, row, sign)


def _keeps_sign(writer: _Writer, row: Sequence[Any], sign: int) -> None:
    """The sign of a neuron on the domain, at its vertices and along its rays and lines, and its scale."""
    values, zeros = _values(writer, row)
    for value in values:
        writer.at_least(sign * value)
    for value in zeros:
        writer.equal(value, 0)
    size = (
        sign * sum(row)
        if writer.fiber.domain.kind == "orthant"
        else sum(map(writer.sympy.Abs, row))
    )
    _scaled(writer, size, sign)


def _crosses(writer: _Writer, row: Sequence[Any]) -> None:
    """The hyperplane of a row meets the interior of the domain: the form takes both signs."""
    values, along = _values(writer, row)
    if along:  # it may also take both signs along a line
        values = [*values, *along, *(-value for value in along)]
    writer.inequalities.append(writer.sympy.Gt(writer.sympy.Max(*values), 0))
    writer.inequalities.append(writer.sympy.Lt(writer.sympy.Min(*values), 0))


def _values(writer: _Writer, row: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """The form of a row at the vertices of the domain and along its rays, and along its lines."""
    domain = writer.fiber.domain
    if domain.kind == "orthant":
        return list(row), []
    if domain.dimension > _MOST_DIMENSIONS:
        raise DomainError(
            f"the sign of a neuron on a polyhedron is written at its vertices, up to dimension {_MOST_DIMENSIONS}"
        )
    found = domain.polyhedron.generators()
    values = [
        sum(a * _rational(x) for a, x in zip(row, point, strict=False)) + row[-1]
        for point in found.points
    ]
    values += [sum(a * x for a, x in zip(row, ray, strict=False)) for ray in found.rays]
    return values, [sum(a * x for a, x in zip(row, line, strict=False)) for line in found.lines]


def _scaled(writer: _Writer, size: Any, sign: int) -> None:
    """The scale of a row: 1; a dead neuron may be 0 altogether."""
    if sign > 0:
        writer.equal(size, 1)
    else:
        writer.equal(size * (size - 1), 0)


def _affine_part(writer: _Writer, offset: Sequence[Any]) -> None:
    """The affine parts of all neurons, half of those that bend, add up to M and m."""
    form, linear = writer.fiber.form, len(writer.rows) - writer.given.dead - writer.given.linear
    half = writer.sympy.Rational(1, 2)
    shares = [half] * linear + [writer.sympy.Integer(1)] * writer.given.linear
    active = list(zip(shares, writer.rows, writer.columns, strict=False))
    for o in range(writer.outputs):
        wanted = [*form.matrix[o], form.offset[o]]
        for k, value in enumerate(wanted):
            made = sum(
                (share * row[k] * column[o] for share, row, column in active),
                writer.sympy.Integer(0),
            )
            writer.equal(made + (offset[o] if k == writer.size else 0), _rational(value))


def hidden_conditions(hidden: HiddenHyperplane, flipped: Sequence[int] = ()) -> Conditions:
    """The translations of a hidden hyperplane, after some flips: rows [w | b] of the two layers in the unknown t.

    The tables are the rows of layer ℓ and of layer ℓ+1, and the outgoing columns of dead neurons in that layer. Dead
    neurons are free: rows w ≤ 0 of sum -1, or 0, and columns v. Nothing else changes.

    >>> from polyrelu.fibers import hidden_hyperplane
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, -1]], [-2]), ([[1]], [0])])
    >>> found = hidden_conditions(hidden_hyperplane(net, 1))
    >>> found.inequalities, found.tables["layer 1"][0], found.tables["layer 2"][0]
    ((t >= -2,), (1, 0, t), (1, -1, -t - 2))
    """
    import sympy

    t = sympy.Symbol("t", real=True)
    base = hidden.member(flipped)
    width, outputs = base.widths[hidden.layer], base.widths[hidden.layer + 2]
    rows = [
        [_rational(entry) for entry in row]
        for layer in (0, 1)
        for row in _rows(base, hidden.layer + layer)
    ]
    rows[hidden.neuron][-1] += t
    unknowns, equations, inequalities, columns = (
        [t],
        [],
        [sympy.Ge(t, _rational(hidden.least_shift))],
        [],
    )
    for i in range(base.widths[hidden.layer + 1]):
        if i not in hidden.dead:
            rows[width + i][-1] -= t * rows[width + i][hidden.neuron]
            continue
        row = [sympy.Symbol(f"w_{{{i},{k}}}", real=True) for k in range(width)] + [
            sympy.Symbol(f"b_{{{i}}}", real=True)
        ]
        column = tuple(sympy.Symbol(f"v_{{{i},{o}}}", real=True) for o in range(outputs))
        rows[width + i] = row
        columns.append(column)
        unknowns += [*row, *column]
        inequalities += [sympy.Le(entry, 0) for entry in row]
        equations.append(sympy.Eq(sum(row) * (sum(row) + 1), 0))
    tables = {
        f"layer {hidden.layer}": tuple(map(tuple, rows[:width])),
        f"layer {hidden.layer + 1}": tuple(map(tuple, rows[width:])),
        "columns of the dead neurons": tuple(columns),
    }
    return Conditions(tuple(unknowns), tuple(equations), tuple(inequalities), tables)


def _rows(network: Any, layer: int) -> list[tuple[Fraction, ...]]:
    found: list[tuple[Fraction, ...]] = network.layers[layer - 1].augmented().rows()
    return found


def _rational(number: Fraction | int) -> Any:
    import sympy

    value = Fraction(number)
    return sympy.Rational(value.numerator, value.denominator)
