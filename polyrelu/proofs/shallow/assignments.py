"""All parameters of a one-hidden-layer network on R^n, as assignments of neurons to hyperplanes.

`other_assignment` visits all assignments and constructs another network with the same function if
there is one; the theorem `shallow` proves identifiability where there is none. The bounds on the
number of assignments are part of FORMAT.md §3.6, because the checker visits them again. Proof:
docs/theory/shallow.md.

Let θ have rows w_i ≠ 0, columns v_i ≠ 0 and no two neurons with the same ray [w_i | b_i]. Then
every hyperplane h_1 … h_p carries one neuron, or two of opposite orientation; the latter is called
*doubled*. Suppose that C_k ≠ 0 for all k in f = Σ C_k |h_k·(x,1)| + M x + m, and let e = n_1 - p.

Another parameter of the same width with the same function has at least one neuron on every
hyperplane, and e more. A hyperplane with neurons of both orientations contributes d_k h_k to the
linear part, with any d_k ∈ Q^m; a hyperplane with one orientation contributes ε_k C_k h_k; two
neurons v, -v on an arbitrary further hyperplane g contribute v g, a matrix of rank one. So there is
a parameter with doubled set D, signs ε and j free pairs, |D| + 2j ≤ e, iff M - Σ_{k∉D} ε_k C_k h_k
has rank at most j on the common kernel of the linear parts h_k, k ∈ D. A larger D only makes that
rank smaller, so |D| = e - 2j suffices. θ is identifiable iff the linear parts of its doubled
hyperplanes are independent and only its own pair (D, ε) is realised.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from polyrelu.exact import RationalMatrix, kernel, primitive, rank, solve
from polyrelu.exact.vectors import negated
from polyrelu.network import Block, Layer, Network, layer_from_rows, with_output_at_zero_of
from polyrelu.support.budget import Budget
from polyrelu.support.limits import PAIR_LIMIT, is_affordable
from polyrelu.support.prices import price_of_assignment
from polyrelu.support.typing import Vector
from polyrelu.symmetry.absolute_value import AbsoluteValueForm, absolute_value_form

__all__ = [
    "HyperplaneAssignment",
    "Hyperplanes",
    "can_be_visited",
    "has_doubled_hyperplane",
    "hyperplanes",
    "other_assignment",
    "pairs_to_visit",
    "why_not_visible",
]


@dataclass(frozen=True, slots=True)
class HyperplaneAssignment:
    """A distribution of neurons over hyperplanes.

    It describes networks on R^n without superfluous neurons, by sets of hyperplanes. For every
    domain, width and number of neurons on a hyperplane there is
    `polyrelu.fibers.layer.NeuronAssignment`, which counts neurons.

    Attributes
    ----------
    doubled
        The set D, as indices of hyperplanes.
    signs
        The sign ε_k of every other hyperplane k.
    num_pairs
        The number j of free pairs of neurons.
    """

    doubled: tuple[int, ...]
    signs: dict[int, int]
    num_pairs: int


@dataclass(frozen=True, slots=True)
class Hyperplanes:
    """The hyperplanes of a shallow network.

    Attributes
    ----------
    normals
        The primitive integer rows h_k, each n_0 + 1 long.
    form
        The absolute-value normal form of the function.
    given_assignment
        The assignment of the network itself.
    """

    normals: tuple[tuple[int, ...], ...]
    form: AbsoluteValueForm
    given_assignment: HyperplaneAssignment

    @property
    def doubled_are_independent(self) -> bool:
        """Whether the linear parts of the doubled hyperplanes are linearly independent."""
        return rank(self.linear_parts(self.given_assignment.doubled)) == len(
            self.given_assignment.doubled
        )

    def linear_parts(self, chosen: tuple[int, ...]) -> RationalMatrix:
        """Return the linear parts of the chosen hyperplanes, one per row."""
        return RationalMatrix.from_integers(
            [list(self.normals[k][:-1]) for k in chosen], ncols=len(self.normals[0]) - 1
        )

    def remainder(self, assignment: HyperplaneAssignment) -> RationalMatrix:
        """Return M - Σ_{k∉D} ε_k C_k h_k, shape (m, n)."""
        total = [list(row) for row in self.form.matrix]
        for k, sign in assignment.signs.items():
            coefficient = self.form.terms[self.normals[k]]
            for row, c in zip(total, coefficient, strict=True):
                for j, h in enumerate(self.normals[k][:-1]):
                    row[j] -= sign * c * h
        return RationalMatrix.from_rows(total)


def why_not_visible(network: Network) -> str | None:
    """Return which of the conditions on θ in the module's text fails; None if all hold."""
    hidden, outgoing = network.layers
    if not (hidden.weight.signs() != 0).any(axis=1).all():
        return "a hidden neuron has incoming weights 0"
    if not (outgoing.weight.signs() != 0).any(axis=0).all():
        return "a hidden neuron has outgoing weights 0"
    columns = outgoing.weight.transpose().integer_rows()
    for group in _groups(network).values():
        if len({scale > 0 for _, scale in group}) < len(group):
            return "two hidden neurons have the same row up to a positive factor"
        terms = ([abs(scale) * v for v in columns[i]] for i, scale in group)
        if not any(map(sum, zip(*terms, strict=True))):
            return "two hidden neurons on one hyperplane cancel there"
    return None


def has_doubled_hyperplane(network: Network) -> bool:
    """Return whether two hidden neurons bend on one hyperplane."""
    return len(_groups(network)) < network.widths[1]


def _groups(network: Network) -> dict[tuple[int, ...], list[tuple[int, Fraction]]]:
    """Return the neurons on each hyperplane, with their factors to its primitive integer row."""
    groups: dict[tuple[int, ...], list[tuple[int, Fraction]]] = {}
    for i, row in enumerate(network.layers[0].augmented().integer_rows()):
        normal, scale = primitive(row)
        groups.setdefault(normal, []).append((i, scale))
    return groups


def hyperplanes(network: Network) -> Hyperplanes:
    """Return the hyperplanes of a network that satisfies the conditions in the module's text."""
    groups = _groups(network)
    normals = tuple(groups)
    doubled = tuple(k for k, group in enumerate(groups.values()) if len(group) == 2)
    signs = {
        k: 1 if group[0][1] > 0 else -1
        for k, group in enumerate(groups.values())
        if len(group) == 1
    }
    hidden, outgoing = network.layers
    form = absolute_value_form(hidden, outgoing)
    return Hyperplanes(normals, form, HyperplaneAssignment(doubled, signs, 0))


def pairs_to_visit(planes: Hyperplanes) -> int:
    """Return the number of pairs (D, ε)."""
    p, e = len(planes.normals), len(planes.given_assignment.doubled)
    return sum(math.comb(p, e - 2 * j) * 2 ** (p - e + 2 * j) for j in range(e // 2 + 1))


def can_be_visited(network: Network, planes: Hyperplanes) -> bool:
    """Return whether visiting every pair (D, ε) is within the limits of FORMAT.md §3.6."""
    p, pairs = len(planes.normals), pairs_to_visit(planes)
    return pairs <= PAIR_LIMIT and is_affordable(
        pairs * p**3, p * max(layer.bits for layer in network.layers)
    )


def other_assignment(
    network: Network, planes: Hyperplanes, budget: Budget | None = None
) -> Network | None:
    """Return another network of the same width with the same function; None if there is none.

    Every pair (D, ε) is visited if need be, and paid from the budget.
    """
    price = price_of_assignment(len(planes.normals))
    if not planes.doubled_are_independent:
        return _moved_along_relation(network, planes)
    for assignment in _assignments(planes):
        if budget is not None:
            budget.spend(price)
        if assignment == planes.given_assignment:
            continue
        residue = planes.remainder(assignment) @ kernel(planes.linear_parts(assignment.doubled))
        if rank(residue) <= assignment.num_pairs:
            return _realised(network, planes, assignment)
    return None


def _assignments(planes: Hyperplanes) -> Iterator[HyperplaneAssignment]:
    """Yield all assignments with |D| = e - 2j."""
    p, e = len(planes.normals), len(planes.given_assignment.doubled)
    for pairs in range(e // 2 + 1):
        for doubled in itertools.combinations(range(p), e - 2 * pairs):
            others = [k for k in range(p) if k not in doubled]
            for signs in itertools.product((1, -1), repeat=len(others)):
                yield HyperplaneAssignment(doubled, dict(zip(others, signs, strict=True)), pairs)


def _realised(network: Network, planes: Hyperplanes, assignment: HyperplaneAssignment) -> Network:
    """Return the network of an assignment: solve for the free pairs, then for the d_k."""
    parts, remainder = planes.linear_parts(assignment.doubled), planes.remainder(assignment)
    heads, tails = _rank_factors(remainder, kernel(parts), assignment.num_pairs)
    differences = solve(parts.transpose(), (remainder - heads @ tails).transpose())
    if differences is None:  # excluded by the rank condition
        raise ArithmeticError("the remainder does not vanish on the common kernel")
    neurons = _neurons(planes, assignment, differences.rows())
    for pair in range(assignment.num_pairs):
        ray = (*tails.row(pair), Fraction(pair + 1))
        head = tuple(heads[o, pair] for o in range(heads.nrows))
        neurons += [(ray, head), (negated(ray), negated(head))]
    return _with_neurons(network, neurons)


def _rank_factors(
    remainder: RationalMatrix, basis: RationalMatrix, pairs: int
) -> tuple[RationalMatrix, RationalMatrix]:
    """Return matrices P (m × pairs) and G (pairs × n) with (remainder - P G) basis = 0."""
    m, n = remainder.shape
    heads: list[Vector] = []
    tails: list[Vector] = []
    current = remainder
    for _ in range(pairs):
        residue = current @ basis
        pivot = next(
            ((o, s) for o in range(m) for s in range(basis.ncols) if residue[o, s] != 0), None
        )
        if pivot is None:  # this pair is not needed, and gets outgoing weights 0
            heads.append((Fraction(),) * m)
            tails.append((Fraction(1),) + (Fraction(),) * (n - 1))
            continue
        o, s = pivot
        heads.append(tuple(residue[i, s] / residue[o, s] for i in range(m)))
        tails.append(current.row(o))
        current = current - RationalMatrix.column(heads[-1]) @ RationalMatrix.from_rows([tails[-1]])
    return RationalMatrix.from_rows(heads, ncols=m).transpose(), RationalMatrix.from_rows(
        tails, ncols=n
    )


def _neurons(
    planes: Hyperplanes, assignment: HyperplaneAssignment, differences: list[Vector]
) -> list[tuple[Vector, Vector]]:
    """Return the neurons (ray, outgoing column); `differences` has the d_k, k ∈ D."""
    neurons: list[tuple[Vector, Vector]] = []
    for k, sign in assignment.signs.items():
        ray = tuple(Fraction(sign * entry) for entry in planes.normals[k])
        neurons.append((ray, tuple(2 * c for c in planes.form.terms[planes.normals[k]])))
    for k, difference in zip(assignment.doubled, differences, strict=True):
        ray = tuple(Fraction(entry) for entry in planes.normals[k])
        coefficient = planes.form.terms[planes.normals[k]]
        neurons.append((ray, tuple(c + d for c, d in zip(coefficient, difference, strict=True))))
        neurons.append(
            (negated(ray), tuple(c - d for c, d in zip(coefficient, difference, strict=True)))
        )
    return neurons


def _moved_along_relation(network: Network, planes: Hyperplanes) -> Network:
    """Return another network if linear parts of doubled hyperplanes satisfy Σ α_k h_k = 0.

    All entries of each d_k are moved by α_k.
    """
    relation = kernel(planes.linear_parts(planes.given_assignment.doubled).transpose())
    remainder = planes.remainder(planes.given_assignment)
    differences = solve(
        planes.linear_parts(planes.given_assignment.doubled).transpose(), remainder.transpose()
    )
    if differences is None:
        raise ArithmeticError("the network does not realise its own assignment")  # pragma: no cover
    moved = [
        tuple(d + relation[position, 0] for d in row)
        for position, row in enumerate(differences.rows())
    ]
    return _with_neurons(network, _neurons(planes, planes.given_assignment, moved))


def _with_neurons(network: Network, neurons: list[tuple[Vector, Vector]]) -> Network:
    """Return a network with other neurons (ray, column), and the output bias fitted at x = 0."""
    hidden = layer_from_rows([ray for ray, _ in neurons], 0)
    weight = RationalMatrix.from_rows([column for _, column in neurons]).transpose()
    outgoing = Layer((Block(1, weight),), network.bias(2))
    return with_output_at_zero_of(network.replace_layers({1: hidden, 2: outgoing}), network)
