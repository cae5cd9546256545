"""Symbolic proofs about conserved quantities, in SymPy: Theorem 6, and that the translation symmetry gives none.

`symbolic_derivative` expands dQ/dt for weights, data and derivatives of the loss that are all symbols. What comes
before the layer is the matrix of its inputs, what comes after it the matrix of derivatives that arrive: so the identity
covers a layer of these sizes anywhere in a network, with any loss.

`translation_has_no_quantity` is about a hidden hyperplane (`symmetry.hiding`); see ``conserved.md`` for what follows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, TypeAlias

from polyrelu.errors import NetworkError

__all__ = ["NoQuantity", "symbolic_derivative", "translation_has_no_quantity"]

#: A differential form by its nonzero coefficients: ascending numbers of coordinates → SymPy expression.
Form: TypeAlias = dict[tuple[int, ...], Any]
#: A vector field by its nonzero components: number of a coordinate → SymPy expression.
Field: TypeAlias = dict[int, Any]


def symbolic_derivative(
    inputs: int,
    neurons: int,
    outputs: int,
    points: int,
    active: Sequence[Sequence[int]] | None = None,
) -> Any:
    """dQ/dt along gradient flow for Q = Uᵀ U - V Vᵀ, expanded, everything symbolic.

    Parameters
    ----------
    inputs, neurons, outputs, points : n_{ℓ-1}, the neurons of layer ℓ in question, n_{ℓ+1}, and the number of training
        points, each at least 1. The time grows with the product of all; up to 4 of each takes seconds.
    active : shape (neurons, points), entries 0 and 1, which neurons are active where; all, if it is not given.

    Returns
    -------
    a SymPy matrix of shape (neurons, neurons) of polynomials. The zero matrix is a proof for these sizes.

    Raises
    ------
    NetworkError : sizes or a pattern that make no sense.

    >>> symbolic_derivative(2, 2, 1, 2)
    Matrix([
    [0, 0],
    [0, 0]])
    >>> symbolic_derivative(1, 2, 1, 1, [[1], [0]])[0, 1]  # one neuron active, the other inactive
    G00*U00*V10*X00 + G00*U00*V11 - G00*U01*V00*X00 - G00*U01*V01
    """
    import sympy

    pattern = (
        [[1] * points for _ in range(neurons)] if active is None else [list(row) for row in active]
    )
    if min(inputs, neurons, outputs, points) < 1:
        raise NetworkError("the numbers of inputs, neurons, outputs and points must be at least 1")
    if [len(row) for row in pattern] != [points] * neurons or not {
        e for row in pattern for e in row
    } <= {0, 1}:
        raise NetworkError(f"the pattern needs {neurons} rows of {points} entries, each 0 or 1")
    rows, columns = _symbols("V", neurons, inputs + 1), _symbols("U", outputs, neurons)
    data, arriving = _symbols("X", inputs, points), _symbols("G", outputs, points)
    masks = sympy.Matrix(pattern)
    with_ones = data.col_join(sympy.ones(1, points))
    activations = (rows * with_ones).multiply_elementwise(masks)
    out = arriving * activations.T  # gradients of the loss with respect to U and V
    into = (columns.T * arriving).multiply_elementwise(masks) * with_ones.T
    half = rows * into.T - columns.T * out  # half of dQ/dt, as U' and V' are minus the gradients
    return (half + half.T).applyfunc(sympy.expand)


@dataclass(frozen=True, slots=True)
class NoQuantity:
    """Why the translation of a hidden hyperplane gives no conserved quantity; forms and fields over all parameters.

    Attributes
    ----------
    coordinates : the parameters, SymPy symbols.
    form : α = db_j - Σ_i A_ij da_i, which vanishes on every gradient, as its vector is tangent to the fiber.
    derivative, wedge : dα and α ∧ dα. α is not closed if the one is not 0, and no multiple of α by a function is exact,
        either, if the other is not 0.
    rescaling : the conserved quantities Q_h of rescaling, one for each hidden neuron.
    first, second : vector fields X, Y on which α and all dQ_h vanish.
    pairings : α and then all dQ_h on X, on Y and on [X, Y], three rows.
    """

    coordinates: tuple[Any, ...]
    form: Form
    derivative: Form
    wedge: Form
    rescaling: tuple[Any, ...]
    first: Field
    second: Field
    pairings: tuple[tuple[Any, ...], ...]

    @property
    def is_closed(self) -> bool:
        """Whether α is closed, as the gradient of a function would be."""
        return not self.derivative

    @property
    def has_integrating_factor(self) -> bool:
        """Whether α ∧ dα = 0, as it is for every form μ dQ, μ ≠ 0."""
        return not self.wedge

    @property
    def proved(self) -> bool:
        """Whether all of this shows that α takes part in no conserved quantity, alone or together with the Q_h."""
        on_first, on_second, (form, *others) = self.pairings
        zero = not any((*on_first, *on_second, *others))
        return not self.is_closed and not self.has_integrating_factor and zero and bool(form)


def translation_has_no_quantity(
    widths: Sequence[int] = (2, 2, 1, 1), neuron: int = 0
) -> NoQuantity:
    """Show symbolically that the translation of a hidden hyperplane H_j induces no conserved quantity (Prop. 37).

    Parameters
    ----------
    widths : n_0, n_1, n_2, n_3 of two hidden layers and what follows, each at least 1.
    neuron : j, from 0.

    Raises
    ------
    NetworkError : other widths.

    >>> found = translation_has_no_quantity((1, 1, 1, 1))
    >>> found.coordinates
    (W00, b0, A00, a0, V00, c0)
    >>> found.form, found.derivative  # db - A da, and -dA ∧ da
    ({(1,): 1, (3,): -A00}, {(2, 3): -1})
    >>> found.wedge  # -db ∧ dA ∧ da
    {(1, 2, 3): -1}
    >>> found.pairings[2], found.proved
    ((1, 0, 0), True)
    """
    if len(widths) != 4 or min(widths) < 1 or not 0 <= neuron < widths[1]:
        raise NetworkError(
            "the translation needs widths n_0, n_1, n_2, n_3, each at least 1, and a neuron of layer 1"
        )
    space = _Parameters(widths)
    form: Form = {(space.place(space.b[neuron]),): 1}
    form |= {(space.place(space.a[i]),): -space.A[i, neuron] for i in range(widths[2])}
    derivative = space.exterior_derivative(form)
    quantities = space.rescaling()
    first, second = space.fields(neuron)
    fields = (first, second, space.bracket(first, second))
    forms = [form, *(space.exterior_derivative({(): quantity}) for quantity in quantities)]
    pairings = tuple(tuple(_pairing(each, field) for each in forms) for field in fields)
    wedge = _wedge(form, derivative)
    return NoQuantity(space.symbols, form, derivative, wedge, quantities, first, second, pairings)


class _Parameters:
    """The parameters of a network with two hidden layers, as coordinates."""

    def __init__(self, widths: Sequence[int]) -> None:
        n0, n1, n2, n3 = widths
        self.W, self.b = _symbols("W", n1, n0), _symbols("b", n1)
        self.A, self.a = _symbols("A", n2, n1), _symbols("a", n2)
        self.V, self.c = _symbols("V", n3, n2), _symbols("c", n3)
        parts = (self.W, self.b, self.A, self.a, self.V, self.c)
        self.symbols: tuple[Any, ...] = tuple(symbol for part in parts for symbol in part)
        self._places = {symbol: number for number, symbol in enumerate(self.symbols)}

    def place(self, symbol: Any) -> int:
        """The number of a coordinate."""
        return self._places[symbol]

    def rescaling(self) -> tuple[Any, ...]:
        """The squared length of the outgoing column minus that of the row [w | b], for each hidden neuron."""
        found = []
        for rows, bias, columns in ((self.W, self.b, self.A), (self.A, self.a, self.V)):
            for i in range(rows.rows):
                out, into = (
                    columns[:, i].dot(columns[:, i]),
                    rows[i, :].dot(rows[i, :]) + bias[i] ** 2,
                )
                found.append(out - into)
        return tuple(found)

    def fields(self, j: int) -> tuple[Field, Field]:
        """X = ∂/∂A_0j + … and Y = ∂/∂a_0 + A_0j ∂/∂b_j + …, completed so that all Q_h stay constant along them: an
        outgoing weight of neuron 0 of layer 2 makes up for its row, an incoming weight of neuron j for the rest. Both
        weights are not 0 where this is used."""
        A, a, V, w = self.A[0, j], self.a[0], self.V[0, 0], self.W[j, 0]
        place = self.place
        first = {place(A): 1, place(V): A / V, place(w): A / w}
        second = {place(a): 1, place(self.b[j]): A, place(V): a / V, place(w): -self.b[j] * A / w}
        return first, second

    def exterior_derivative(self, form: Form) -> Form:
        """d of a form."""
        found: Form = {}
        for places, coefficient in form.items():
            for symbol in getattr(coefficient, "free_symbols", ()):
                _add(found, (self.place(symbol), *places), coefficient.diff(symbol))
        return _without_zeros(found)

    def bracket(self, first: Field, second: Field) -> Field:
        """[X, Y] = Σ (X(Y_k) - Y(X_k)) ∂_k."""
        import sympy

        found: Field = {}
        for sign, along, field in ((1, first, second), (-1, second, first)):
            for k, component in field.items():
                change = sum(
                    entry * sympy.diff(component, self.symbols[m]) for m, entry in along.items()
                )
                found[k] = found.get(k, 0) + sign * change
        return {
            k: entry for k, component in found.items() if (entry := sympy.simplify(component)) != 0
        }


def _symbols(name: str, rows: int, columns: int | None = None) -> Any:
    """A matrix of real symbols; a column, numbered by one index, if the number of columns is not given."""
    import sympy

    pairs = product(range(rows), range(columns or 1))
    names = (f"{name}{i}{j}" if columns else f"{name}{i}" for i, j in pairs)
    return sympy.Matrix(rows, columns or 1, [sympy.Symbol(text, real=True) for text in names])


def _add(form: Form, places: tuple[int, ...], coefficient: Any) -> None:
    """Add coefficient · dx_places, with the sign of the permutation that sorts the places; 0 if two are equal."""
    if len(set(places)) < len(places):
        return
    inversions = sum(p > q for k, p in enumerate(places) for q in places[k + 1 :])
    ordered = tuple(sorted(places))
    form[ordered] = form.get(ordered, 0) + (-1) ** inversions * coefficient


def _without_zeros(form: Form) -> Form:
    import sympy

    return {
        places: entry
        for places, value in sorted(form.items())
        if (entry := sympy.expand(value)) != 0
    }


def _wedge(first: Form, second: Form) -> Form:
    found: Form = {}
    for (left, a), (right, b) in product(first.items(), second.items()):
        _add(found, left + right, a * b)
    return _without_zeros(found)


def _pairing(form: Form, field: Mapping[int, Any]) -> Any:
    """A 1-form on a vector field."""
    import sympy

    return sympy.simplify(sum(entry * field.get(place, 0) for (place,), entry in form.items()))
