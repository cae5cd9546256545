"""Components of fibers as equations and inequalities in SymPy.

Here is the translation of a component into unknowns and relations that a reader, or a computer
algebra system, can work with, and a check whether given neurons satisfy the relations. `fiber`
reports print the relations, and the tests compare them with dimensions and members that are
computed otherwise. Rows are normalised such that their absolute values add up to 1, which removes
the scaling symmetry; permutations of equal roles remain.

The unknowns are the neurons that the component does not fix: outgoing columns v, rows (u, d) of
linear neurons, rows (w, b) of groups and dead neurons, the output bias e, and the shift t of a
hidden hyperplane.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from polyrelu.errors import DomainError, NetworkError
from polyrelu.fibers.hidden import HiddenHyperplane
from polyrelu.fibers.layer import Component
from polyrelu.fibers.layer_neurons import LayerNeurons
from polyrelu.network import Network
from polyrelu.support.arguments import expect
from polyrelu.support.display import count_text
from polyrelu.support.typing import Vector

__all__ = ["Conditions", "conditions_of", "hidden_conditions"]

#: Maximum number of unknowns of the relations that a notebook shows.
_MAX_SHOWN = 60
#: Rows of SymPy expressions.
Table = tuple[tuple[Any, ...], ...]


@dataclass(frozen=True, slots=True, repr=False)
class Conditions:
    """The relations that describe the parameters of a component.

    Attributes
    ----------
    unknowns
        The SymPy symbols.
    equations
        SymPy equalities, all of which hold.
    inequalities
        SymPy relations, all of which hold.
    tables
        The parameters in terms of the symbols, by name; entries that the component fixes are
        numbers. The fiber of a layer has the tables "rows" [w | b], "columns" v and "offset", a
        single row. A hidden hyperplane has a table of rows for each of the two layers.

    Examples
    --------
    >>> from polyrelu.fibers import fiber
    >>> from polyrelu.network import from_arrays
    >>> absolute_value = from_arrays([([[1], [-1]], [0, 0]), ([[1, 1]], [0])])
    >>> found = fiber(absolute_value).components[0].conditions()
    >>> found
    <Conditions, 3 unknowns, 3 equations, 0 inequalities>
    >>> found.tables["rows"]
    ((1, 0), (-1, 0))
    """

    unknowns: tuple[Any, ...]
    equations: tuple[Any, ...]
    inequalities: tuple[Any, ...]
    tables: dict[str, Table]

    def hold_for(self, neurons: LayerNeurons) -> bool:
        """Decide whether the neurons of a layer satisfy all relations exactly.

        Parameters
        ----------
        neurons
            The layer, its neurons in the order of the table "rows"; rows of any scale.

        Returns
        -------
        bool
            True if the normalised neurons satisfy all relations.

        Raises
        ------
        NetworkError
            The conditions are about a hidden hyperplane, that is, about two layers.
        """
        neurons = expect(neurons, LayerNeurons, "neurons", "Component.member returns them")
        if "rows" not in self.tables:
            raise NetworkError("these are conditions on two layers, not on the neurons of one")
        given = neurons.normalised()
        entries = [entry for table in self.tables.values() for row in table for entry in row]
        numbers = [
            _sympy_rational(x) for row in (*given.rows, *given.columns, given.offset) for x in row
        ]
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
        """Return the LaTeX source of all tables, one display for each."""
        import sympy

        displays = []
        for name, table in self.tables.items():
            if table:
                matrix = sympy.latex(sympy.Matrix(list(map(list, table))))
                displays.append(f"\\[\\text{{{name}: }} {matrix}\\]")
        return "\n".join(displays)

    def to_latex(self) -> str:
        """Return the LaTeX source of all relations, one per line; it needs the package amsmath."""
        import sympy

        lines = [sympy.latex(relation) for relation in (*self.equations, *self.inequalities)]
        return "\\begin{gather*}\n" + " \\\\\n".join(lines) + "\n\\end{gather*}"

    def __repr__(self) -> str:
        counts = [
            (len(self.unknowns), "unknown"),
            (len(self.equations), "equation"),
            (len(self.inequalities), "inequality"),
        ]
        return f"<Conditions, {count_text(counts)}>"

    def _repr_latex_(self) -> str | None:
        if len(self.unknowns) > _MAX_SHOWN:
            return None
        relations = self.to_latex() if self.equations or self.inequalities else ""
        return "\n".join(filter(None, [self.parameters_latex(), relations]))


class _Writer:
    """Collects the unknowns, relations and table rows of one component.

    Attributes
    ----------
    sympy
        The module SymPy, which is imported only when it is needed.
    fiber
        The fiber of the component.
    given
        The assignment of the component.
    size
        The dimension n of the domain.
    outputs
        The number m of outputs.
    unknowns, equations, inequalities, rows, columns
        The parts of the `Conditions`, as far as they are written.
    """

    def __init__(self, component: Component) -> None:
        import sympy

        self.sympy = sympy
        self.fiber, self.given = component.fiber, component.assignment
        self.size, self.outputs = self.fiber.domain.dimension, self.fiber.num_outputs
        self.unknowns: list[Any] = []
        self.equations: list[Any] = []
        self.inequalities: list[Any] = []
        self.rows: list[tuple[Any, ...]] = []
        self.columns: list[tuple[Any, ...]] = []

    def symbols(self, name: str, *indices: int, count: int) -> tuple[Any, ...]:
        """Add and return the unknowns name_{indices,0}, …, name_{indices,count-1}."""
        start = ",".join(map(str, indices))
        new = tuple(
            self.sympy.Symbol(f"{name}_{{{start},{k}}}" if start else f"{name}_{{{k}}}", real=True)
            for k in range(count)
        )
        self.unknowns.extend(new)
        return new

    def add_equation(self, left: Any, right: Any) -> None:
        """Add the equation left = right, unless both are the same number."""
        relation = self.sympy.Eq(left, right)
        if relation != True:  # noqa: E712 - SymPy's own true
            self.equations.append(relation)

    def add_nonnegative(self, value: Any) -> None:
        """Add the inequality value ≥ 0, unless the value is a number ≥ 0."""
        relation = self.sympy.Ge(value, 0)
        if relation != True:  # noqa: E712 - SymPy's own true
            self.inequalities.append(relation)

    def add_neuron(self, row: Sequence[Any], column: Sequence[Any]) -> None:
        """Add a neuron to the tables."""
        self.rows.append(tuple(row))
        self.columns.append(tuple(column))


#: Largest dimension in which the vertices of a polyhedron are listed; a box has 2^n vertices.
_MAX_DIMENSION = 10


def conditions_of(component: Component) -> Conditions:
    """Write the equations and inequalities of a component of the fiber of a layer.

    Parameters
    ----------
    component
        The component, of a `LayerFiber`.

    Returns
    -------
    Conditions
        Relations in the unknown rows, columns and offset, with tables of all neurons.

    Raises
    ------
    DomainError
        The component has groups, linear or dead neurons, and the domain has more than ten
        dimensions and is not the orthant.

    Notes
    -----
    Source: the three-layer paper (2026), Definition 22, arXiv 2605.18319, with absolute sums
    in place of Euclidean norms, so that all numbers are rational.

    Examples
    --------
    >>> from polyrelu.fibers import layer_fiber
    >>> from polyrelu.network import from_arrays
    >>> second = ([[1, -1], [2, 1]], [1, 0])
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), second, ([[1, 1]], [0])])
    >>> found = conditions_of(layer_fiber(net, 2).flipped([]))
    >>> [str(equation) for equation in found.equations[:2]]
    ['Eq(d_{0,0} + u_{0,0} + u_{0,1}, 1)', 'Eq(u_{0,0}*v_{1,0} + 1/2, 5/2)']
    """
    writer = _Writer(expect(component, Component, "component", "LayerFiber.component makes one"))
    _write_visible(writer)
    _write_groups(writer)
    _write_linear_and_dead(writer)
    offset = writer.symbols("e", count=writer.outputs)
    _write_affine_part(writer, offset)
    return Conditions(
        tuple(writer.unknowns),
        tuple(writer.equations),
        tuple(writer.inequalities),
        {"rows": tuple(writer.rows), "columns": tuple(writer.columns), "offset": (offset,)},
    )


def _write_visible(writer: _Writer) -> None:
    """Write the neurons on visible hyperplanes: fixed rows, and columns that add up to 2 C_h."""
    for normal, pair in zip(writer.fiber.normals, writer.given.visible, strict=True):
        size = sum(map(abs, normal))
        row = [writer.sympy.Rational(entry, size) for entry in normal]
        total = [_sympy_rational(2 * size * c) for c in writer.fiber.form.terms[normal]]
        _write_hyperplane(writer, row, pair, total)


def _write_groups(writer: _Writer) -> None:
    """Write the groups: unknown rows of hyperplanes, and columns that add up to 0."""
    for number, pair in enumerate(writer.given.groups):
        row = writer.symbols("w", number, count=writer.size + 1)
        writer.add_equation(sum(map(writer.sympy.Abs, row)), 1)
        _require_crossing(writer, row)
        _write_hyperplane(writer, row, pair, [writer.sympy.Integer(0)] * writer.outputs)


def _write_hyperplane(
    writer: _Writer, row: Sequence[Any], pair: tuple[int, int], total: Sequence[Any]
) -> None:
    """Write the neurons on one hyperplane, whose columns add up to `total`."""
    count = sum(pair)
    columns = []
    for k in range(count):
        number = len(writer.rows)
        column = tuple(total) if count == 1 else writer.symbols("v", number, count=writer.outputs)
        writer.add_neuron(row if k < pair[0] else [-entry for entry in row], column)
        columns.append(column)
    for entries, wanted in zip(zip(*columns, strict=True), total, strict=True):
        writer.add_equation(sum(entries), wanted)


def _write_linear_and_dead(writer: _Writer) -> None:
    """Write the linear and the dead neurons: unknown rows and columns."""
    for sign, name, bias, count in (
        (1, "u", "d", writer.given.num_linear),
        (-1, "w", "b", writer.given.num_dead),
    ):
        for number in range(count):
            index = number if sign > 0 else number + len(writer.given.groups)
            row = (
                *writer.symbols(name, index, count=writer.size),
                *writer.symbols(bias, index, count=1),
            )
            column = writer.symbols("v", len(writer.rows), count=writer.outputs)
            writer.add_neuron(row, column)
            _require_sign(writer, row, sign)


def _require_sign(writer: _Writer, row: Sequence[Any], sign: int) -> None:
    """Add the relations for the sign of a neuron on the domain and for the scale of its row."""
    values, zeros = _generator_values(writer, row)
    for value in values:
        writer.add_nonnegative(sign * value)
    for value in zeros:
        writer.add_equation(value, 0)
    size = (
        sign * sum(row)
        if writer.fiber.domain.kind == "orthant"
        else sum(map(writer.sympy.Abs, row))
    )
    _require_scale(writer, size, sign)


def _require_crossing(writer: _Writer, row: Sequence[Any]) -> None:
    """Add the inequalities by which the form of a row takes both signs on the domain."""
    values, along = _generator_values(writer, row)
    if along:  # the form may take both signs along a line
        values = [*values, *along, *(-value for value in along)]
    writer.inequalities.append(writer.sympy.Gt(writer.sympy.Max(*values), 0))
    writer.inequalities.append(writer.sympy.Lt(writer.sympy.Min(*values), 0))


def _generator_values(writer: _Writer, row: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Return the values of a form at the vertices and along the rays, and along the lines."""
    domain = writer.fiber.domain
    if domain.kind == "orthant":
        return list(row), []
    if domain.dimension > _MAX_DIMENSION:
        raise DomainError(
            "the sign of a neuron on a polyhedron is written at its vertices, up to dimension "
            f"{_MAX_DIMENSION}"
        )
    generators = domain.polyhedron.generators()
    values = [
        sum(a * _sympy_rational(x) for a, x in zip(row, point, strict=False)) + row[-1]
        for point in generators.points
    ]
    values += [sum(a * x for a, x in zip(row, ray, strict=False)) for ray in generators.rays]
    along_lines = [sum(a * x for a, x in zip(row, line, strict=False)) for line in generators.lines]
    return values, along_lines


def _require_scale(writer: _Writer, size: Any, sign: int) -> None:
    """Add the equation for the scale of a row: 1, or 0 for the zero row of a dead neuron."""
    if sign > 0:
        writer.add_equation(size, 1)
    else:
        writer.add_equation(size * (size - 1), 0)


def _write_affine_part(writer: _Writer, offset: Sequence[Any]) -> None:
    """Add the equations by which the affine parts of all neurons add up to M and m.

    A linear neuron contributes v (w·u + b), a neuron on a hyperplane half of this, and a dead one
    nothing.
    """
    form = writer.fiber.form
    bending = len(writer.rows) - writer.given.num_dead - writer.given.num_linear
    half = writer.sympy.Rational(1, 2)
    shares = [half] * bending + [writer.sympy.Integer(1)] * writer.given.num_linear
    active = list(zip(shares, writer.rows, writer.columns, strict=False))
    for o in range(writer.outputs):
        wanted = [*form.matrix[o], form.offset[o]]
        for k, value in enumerate(wanted):
            total = sum(
                (share * row[k] * column[o] for share, row, column in active),
                writer.sympy.Integer(0),
            )
            constant = offset[o] if k == writer.size else 0
            writer.add_equation(total + constant, _sympy_rational(value))


def hidden_conditions(hidden: HiddenHyperplane, *, flipped: Sequence[int] = ()) -> Conditions:
    """Write the translations of a hidden hyperplane, after some flips, in the unknown shift t.

    Parameters
    ----------
    hidden
        The hidden hyperplane.
    flipped
        The neurons of layer ℓ that are flipped.

    Returns
    -------
    Conditions
        The tables are the rows [w | b] of layer ℓ and of layer ℓ+1, and the outgoing columns of the
        dead neurons of layer ℓ+1. Dead neurons are free: their rows are ≤ 0 with sum -1 or 0, and
        their columns are arbitrary. All other parameters of the network stay fixed.

    Raises
    ------
    NetworkError
        A neuron cannot be flipped.

    Notes
    -----
    Source: the three-layer paper (2026), section 5, equation (3), arXiv 2605.18319.

    Examples
    --------
    >>> from polyrelu.fibers import hidden_hyperplane
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, -1]], [-2]), ([[1]], [0])])
    >>> found = hidden_conditions(hidden_hyperplane(net, 1))
    >>> found.inequalities, found.tables["layer 1"][0], found.tables["layer 2"][0]
    ((t >= -2,), (1, 0, t), (1, -1, -t - 2))
    """
    import sympy

    hidden = expect(
        hidden, HiddenHyperplane, "hidden", "hidden_hyperplane(network, layer) finds one"
    )
    t = sympy.Symbol("t", real=True)
    base = hidden.member(flipped=flipped)
    width, outputs = base.widths[hidden.layer], base.widths[hidden.layer + 2]
    rows = [
        [_sympy_rational(entry) for entry in row]
        for layer in (hidden.layer, hidden.layer + 1)
        for row in _augmented_rows(base, layer)
    ]
    rows[hidden.neuron][-1] += t
    unknowns, equations, columns = [t], [], []
    inequalities = [sympy.Ge(t, _sympy_rational(hidden.least_shift))]
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


def _augmented_rows(network: Network, layer: int) -> list[Vector]:
    """Return the rows [w | b] of a layer, counted from 1."""
    return network.layers[layer - 1].augmented().rows()


def _sympy_rational(number: Fraction | int) -> Any:
    """Return an exact number as a SymPy rational."""
    import sympy

    value = Fraction(number)
    return sympy.Rational(value.numerator, value.denominator)
