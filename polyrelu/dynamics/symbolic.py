"""Symbolic proofs about conserved quantities, in SymPy.

`symbolic_derivative` proves Theorem 6 of the three-layer paper for layers of given sizes, and
`translation_has_no_quantity` proves that the translation of a hidden hyperplane gives no conserved
quantity. What the results imply is discussed in docs/theory/conserved.md. SymPy is imported inside
the functions, because few users need it and its import takes long.

In `symbolic_derivative` weights, data and derivatives of the loss are all symbols. The layers
before are represented by the matrix of the layer's inputs, the layers after by the matrix of the
derivatives that backpropagation brings. So the identity covers a layer of these sizes anywhere in a
network, with any loss. `translation_has_no_quantity` is about hidden hyperplanes
(`symmetry.hidden_hyperplanes`) of networks with two hidden layers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, TypeAlias

from polyrelu.errors import ArgumentError, NetworkError
from polyrelu.support.arguments import expect_integer
from polyrelu.support.display import bracketed

__all__ = ["NoQuantity", "symbolic_derivative", "translation_has_no_quantity"]

#: A differential form: its nonzero coefficients, SymPy expressions, by ascending coordinates.
DifferentialForm: TypeAlias = dict[tuple[int, ...], Any]
#: A vector field: its nonzero components, SymPy expressions, by the number of the coordinate.
Field: TypeAlias = dict[int, Any]


def symbolic_derivative(
    inputs: int,
    neurons: int,
    outputs: int,
    points: int,
    *,
    active: Sequence[Sequence[int]] | None = None,
) -> Any:
    """Expand dQ/dt along gradient flow for Q = Uᵀ U - V Vᵀ in symbols.

    Parameters
    ----------
    inputs
        Number of inputs of the layer, n_{ℓ-1}, at least 1.
    neurons
        Number of neurons of the layer that are considered, at least 1.
    outputs
        Number of neurons of the next layer, n_{ℓ+1}, at least 1.
    points
        Number of training points, at least 1. The time grows with the product of all four numbers;
        up to 4 of each takes seconds.
    active
        Which neurons are active at which points, shape (neurons, points), entries 0 and 1; all by
        default.

    Returns
    -------
    sympy.Matrix
        A matrix of polynomials, shape (neurons, neurons). The zero matrix is a proof for these
        sizes.

    Raises
    ------
    NetworkError
        A number is less than 1, or the pattern has another shape or other entries.

    Notes
    -----
    Source: three-layer paper, Theorem 6, arXiv 2605.18319.

    Examples
    --------
    >>> symbolic_derivative(2, 2, 1, 2)
    Matrix([
    [0, 0],
    [0, 0]])

    One neuron is active and the other one inactive:

    >>> symbolic_derivative(1, 2, 1, 1, active=[[1], [0]])[0, 1]
    G00*U00*V10*X00 + G00*U00*V11 - G00*U01*V00*X00 - G00*U01*V01
    """
    import sympy

    numbers = {"inputs": inputs, "neurons": neurons, "outputs": outputs, "points": points}
    if min(expect_integer(number, name) for name, number in numbers.items()) < 1:
        raise NetworkError("the numbers of inputs, neurons, outputs and points must be at least 1")
    pattern = _pattern(active, neurons, points)
    rows, columns = _symbols("V", neurons, inputs + 1), _symbols("U", outputs, neurons)
    data, arriving = _symbols("X", inputs, points), _symbols("G", outputs, points)
    masks = sympy.Matrix(pattern)
    with_ones = data.col_join(sympy.ones(1, points))
    activations = (rows * with_ones).multiply_elementwise(masks)
    out = arriving * activations.T  # gradients of the loss with respect to U and V
    into = (columns.T * arriving).multiply_elementwise(masks) * with_ones.T
    half = rows * into.T - columns.T * out  # because U' and V' are minus the gradients
    return (half + half.T).applyfunc(sympy.expand)


def _pattern(active: Sequence[Sequence[int]] | None, neurons: int, points: int) -> list[list[int]]:
    """Return which neurons are active at which points, all for None, or raise an error."""
    if active is None:
        return [[1] * points for _ in range(neurons)]
    needed = f"the pattern needs {neurons} rows of {points} entries, each 0 or 1"
    try:
        pattern = [list(row) for row in active]
        entries = {entry for row in pattern for entry in row}
    except TypeError:
        raise ArgumentError(f"active: {needed}") from None
    if [len(row) for row in pattern] != [points] * neurons or not entries <= {0, 1}:
        raise NetworkError(needed)
    return pattern


@dataclass(frozen=True, slots=True, repr=False)
class NoQuantity:
    """A proof that the translation of a hidden hyperplane gives no conserved quantity.

    Forms and vector fields are over the space of all parameters.

    Attributes
    ----------
    coordinates
        The parameters, as SymPy symbols.
    form
        α = db_j - Σ_i A_ij da_i. It vanishes on every gradient, because its dual vector is tangent
        to the fiber.
    derivative
        dα. If it is not 0, α is not the differential of a function.
    wedge
        α ∧ dα. If it is not 0, no multiple of α by a function is the differential of a function.
    rescaling
        The conserved quantities Q_h of rescaling, one for each hidden neuron.
    first
        A vector field X on which α and all dQ_h vanish.
    second
        Another such vector field Y.
    pairings
        The values of α and then of all dQ_h on X, on Y and on [X, Y], in three rows.

    Examples
    --------
    >>> found = translation_has_no_quantity((1, 1, 1, 1))
    >>> found.is_closed, found.has_integrating_factor, found.proved
    (False, False, True)
    """

    coordinates: tuple[Any, ...]
    form: DifferentialForm
    derivative: DifferentialForm
    wedge: DifferentialForm
    rescaling: tuple[Any, ...]
    first: Field
    second: Field
    pairings: tuple[tuple[Any, ...], ...]

    @property
    def is_closed(self) -> bool:
        """Whether dα = 0, as for the differential of a function."""
        return not self.derivative

    @property
    def has_integrating_factor(self) -> bool:
        """Whether α ∧ dα = 0, as for every form μ dQ with μ ≠ 0."""
        return not self.wedge

    @property
    def proved(self) -> bool:
        """Whether this shows that no conserved quantity involves α, even together with the Q_h."""
        on_first, on_second, (form, *others) = self.pairings
        zero = not any((*on_first, *on_second, *others))
        return not self.is_closed and not self.has_integrating_factor and zero and bool(form)

    def __repr__(self) -> str:
        status = "proved" if self.proved else "not proved"
        return bracketed(f"NoQuantity, {status} for {len(self.coordinates)} parameters")

    def _repr_latex_(self) -> str:
        import sympy

        terms = []
        for (place,), coefficient in self.form.items():
            factor = "" if coefficient == 1 else sympy.latex(coefficient) + r"\,"
            terms.append(rf"{factor}\mathrm{{d}}{sympy.latex(self.coordinates[place])}")
        return rf"$\alpha = {' + '.join(terms)}$".replace("+ - ", "- ")


def translation_has_no_quantity(
    widths: Sequence[int] = (2, 2, 1, 1), *, neuron: int = 0
) -> NoQuantity:
    """Prove in symbols that the translation of a hidden hyperplane induces no conserved quantity.

    Parameters
    ----------
    widths
        The widths n_0, n_1, n_2, n_3 of a network with two hidden layers, each at least 1.
    neuron
        The index j of the hidden neuron in layer 1, from 0.

    Returns
    -------
    NoQuantity
        The forms, vector fields and pairings; `proved` says whether they prove the claim.

    Raises
    ------
    NetworkError
        There are not four widths of at least 1, or there is no such neuron.

    Notes
    -----
    Source: three-layer paper, Proposition 37, arXiv 2605.18319. The statements about α ∧ dα and
    about combinations with the Q_h are this project's own (docs/theory/conserved.md).

    Examples
    --------
    The form is db - A da, its derivative is -dA ∧ da, and their product is -db ∧ dA ∧ da:

    >>> found = translation_has_no_quantity((1, 1, 1, 1))
    >>> found.coordinates
    (W00, b0, A00, a0, V00, c0)
    >>> found.form, found.derivative
    ({(1,): 1, (3,): -A00}, {(2, 3): -1})
    >>> found.wedge
    {(1, 2, 3): -1}
    >>> found.pairings[2], found.proved
    ((1, 0, 0), True)
    """
    neuron = expect_integer(neuron, "neuron")
    is_list = isinstance(widths, Sequence) and len(widths) == 4
    fits = is_list and all(isinstance(n, int) and n >= 1 for n in widths)
    if not fits or not 0 <= neuron < widths[1]:
        raise NetworkError(
            "the translation needs widths n_0, n_1, n_2, n_3, each at least 1, and a neuron of "
            "layer 1"
        )
    space = ParameterSpace(widths)
    form: DifferentialForm = {(space.place(space.b[neuron]),): 1}
    form |= {(space.place(space.a[i]),): -space.A[i, neuron] for i in range(widths[2])}
    derivative = space.exterior_derivative(form)
    quantities = space.rescaling()
    first, second = space.fields(neuron)
    fields = (first, second, space.bracket(first, second))
    forms = [form, *(space.exterior_derivative({(): quantity}) for quantity in quantities)]
    pairings = tuple(tuple(_pairing(each, field) for each in forms) for field in fields)
    wedge = _wedge(form, derivative)
    return NoQuantity(space.symbols, form, derivative, wedge, quantities, first, second, pairings)


class ParameterSpace:
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
        """Return the number of a coordinate."""
        return self._places[symbol]

    def rescaling(self) -> tuple[Any, ...]:
        """Return the conserved quantity of rescaling for each hidden neuron.

        It is the squared length of the outgoing column minus the squared length of the row [w | b].
        """
        found = []
        for rows, bias, columns in ((self.W, self.b, self.A), (self.A, self.a, self.V)):
            for i in range(rows.rows):
                out = columns[:, i].dot(columns[:, i])
                found.append(out - rows[i, :].dot(rows[i, :]) - bias[i] ** 2)
        return tuple(found)

    def fields(self, j: int) -> tuple[Field, Field]:
        """Return vector fields X = ∂/∂A_0j + … and Y = ∂/∂a_0 + A_0j ∂/∂b_j + ….

        They are completed so that all Q_h are constant along them: an outgoing weight of neuron 0
        of layer 2 compensates for its row, an incoming weight of neuron j for the rest. Both
        weights are not 0 where the fields are used.
        """
        A, a, V, w = self.A[0, j], self.a[0], self.V[0, 0], self.W[j, 0]
        place = self.place
        first = {place(A): 1, place(V): A / V, place(w): A / w}
        second = {place(a): 1, place(self.b[j]): A, place(V): a / V, place(w): -self.b[j] * A / w}
        return first, second

    def exterior_derivative(self, form: DifferentialForm) -> DifferentialForm:
        """Return the exterior derivative of a form."""
        found: DifferentialForm = {}
        for places, coefficient in form.items():
            for symbol in getattr(coefficient, "free_symbols", ()):
                _add_term(found, (self.place(symbol), *places), coefficient.diff(symbol))
        return _without_zeros(found)

    def bracket(self, first: Field, second: Field) -> Field:
        """Return [X, Y] = Σ (X(Y_k) - Y(X_k)) ∂_k."""
        import sympy

        found: Field = {}
        for sign, along, field in ((1, first, second), (-1, second, first)):
            for k, component in field.items():
                change = sum(
                    entry * sympy.diff(component, self.symbols[m]) for m, entry in along.items()
                )
                found[k] = found.get(k, 0) + sign * change
        simple = {k: sympy.simplify(component) for k, component in found.items()}
        return {k: component for k, component in simple.items() if component != 0}


def _symbols(name: str, rows: int, columns: int | None = None) -> Any:
    """Return a matrix of real symbols; a column with one index if no number of columns is given."""
    import sympy

    pairs = product(range(rows), range(columns or 1))
    names = (f"{name}{i}{j}" if columns else f"{name}{i}" for i, j in pairs)
    return sympy.Matrix(rows, columns or 1, [sympy.Symbol(text, real=True) for text in names])


def _add_term(form: DifferentialForm, places: tuple[int, ...], coefficient: Any) -> None:
    """Add coefficient · dx_places to a form, in place.

    The sign of the permutation that sorts the places is applied; the term is 0 if two are equal.
    """
    if len(set(places)) < len(places):
        return
    inversions = sum(p > q for k, p in enumerate(places) for q in places[k + 1 :])
    ordered = tuple(sorted(places))
    form[ordered] = form.get(ordered, 0) + (-1) ** inversions * coefficient


def _without_zeros(form: DifferentialForm) -> DifferentialForm:
    """Return the form with expanded coefficients and without zeros, its terms sorted."""
    import sympy

    expanded = {places: sympy.expand(value) for places, value in sorted(form.items())}
    return {places: value for places, value in expanded.items() if value != 0}


def _wedge(first: DifferentialForm, second: DifferentialForm) -> DifferentialForm:
    """Return the exterior product of two forms."""
    found: DifferentialForm = {}
    for (left, a), (right, b) in product(first.items(), second.items()):
        _add_term(found, left + right, a * b)
    return _without_zeros(found)


def _pairing(form: DifferentialForm, field: Mapping[int, Any]) -> Any:
    """Return the value of a 1-form on a vector field."""
    import sympy

    return sympy.simplify(sum(entry * field.get(place, 0) for (place,), entry in form.items()))
