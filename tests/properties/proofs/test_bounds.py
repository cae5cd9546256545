"""Relaxations and expressions against values at points."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest

from polyrelu import from_arrays
from polyrelu.exact import RationalMatrix
from polyrelu.exact.form_bounds import FormBounds, RelaxationSlopes
from polyrelu.network import Network
from polyrelu.proofs.trees.bounds import BoxBounds
from polyrelu.proofs.trees.expressions import JointNetwork, KnownSigns
from polyrelu.proofs.trees.relaxation import affine_lower_bound
from tests.generators.equivalent_pairs import evaluate, random_stack


def identity_inputs(size: int) -> RationalMatrix:
    return RationalMatrix.zeros(size, 1).beside(RationalMatrix.identity(size))


def random_networks(chance: Random) -> tuple[Network, Network, int]:
    size = chance.randint(1, 3)
    stacks = [
        random_stack(
            chance, [size, *(chance.randint(1, 5) for _ in range(chance.randint(1, 3))), 1]
        )
        for _ in "ab"
    ]
    return from_arrays(stacks[0].layers), from_arrays(stacks[1].layers), size


@pytest.mark.parametrize("seed", range(60))
def test_the_joint_network_is_the_difference(seed: int) -> None:
    """Up to a positive factor for each row, with any signs that hold at a point put in."""
    chance = Random(seed)
    first, second, size = random_networks(chance)
    joint = JointNetwork(first, second, identity_inputs(size))
    for _ in range(20):
        y = [Fraction(chance.randint(-30, 30), 4) for _ in range(size)]
        point = (4, *(int(4 * t) for t in y))
        forms, differs = joint.values_at(point)
        assert differs == (first(y) != second(y))
        expressions = joint.expressions(KnownSigns())
        assert [term.form for term in expressions.terms] == [atom.form for atom in joint.atoms]
        while affine := [
            term for term in expressions.terms if term.is_affine
        ]:  # as in a tree: the point's own branch
            term = chance.choice(affine)
            value = forms[term.symbol]
            known = KnownSigns().extended([(term, 1 if value >= 0 else -1)])
            narrowed = joint.expressions(known)
            assert len(narrowed.terms) < len(joint.atoms) or not joint.atoms
            break


@pytest.mark.parametrize("seed", range(60))
def test_signs_and_bounds_over_a_box(seed: int) -> None:
    """What is proved over a box holds at its points, and every sign that floats claim is proved."""
    chance = Random(1000 + seed)
    first, second, size = random_networks(chance)
    joint = JointNetwork(first, second, identity_inputs(size))
    centre = [Fraction(chance.randint(-8, 8), 2) for _ in range(size)]
    radius = Fraction(1, chance.choice((1, 2, 8, 32)))
    sides = {(j + 1, s): centre[j] - s * radius for j in range(size) for s in (1, -1)}
    bounds = BoxBounds(joint, sides)
    proved = {}
    for symbol, sign in bounds.signs.items():
        if bounds.prove_sign(symbol, sign) is not None:
            proved[symbol] = sign
    for _ in range(30):
        y = [c + radius * Fraction(chance.randint(-8, 8), 8) for c in centre]
        common = 64 * 32
        forms, _ = joint.values_at((common, *(int(common * t) for t in y)))
        for symbol, sign in proved.items():
            assert forms[symbol] * sign >= 0
        for atom in joint.atoms:
            known = bounds.bounds_of(atom.symbol)
            value = Fraction(forms[atom.symbol], common)
            assert known.lower is None or known.lower <= value
            assert known.upper is None or known.upper >= value
    assert set(proved) == set(bounds.signs)


def test_floats_and_exact_bounds_agree_on_signs() -> None:
    count = 0
    for seed in range(60):
        chance = Random(1000 + seed)
        first, second, size = random_networks(chance)
        joint = JointNetwork(first, second, identity_inputs(size))
        sides = {(j, s): Fraction(2 - s, 8) for j in range(1, size + 1) for s in (1, -1)}
        count += len(BoxBounds(joint, sides).signs)
    assert count > 100


@pytest.mark.parametrize("seed", range(40))
def test_an_affine_form_below(seed: int) -> None:
    chance = Random(seed)
    first, second, size = random_networks(chance)
    joint = JointNetwork(first, second, identity_inputs(size))
    forms = {atom.symbol: atom.form for atom in joint.atoms}
    points = [(8, *(chance.randint(-40, 40) for _ in range(size))) for _ in range(20)]
    values = [joint.values_at(point)[0] for point in points]
    bounds, slopes = {}, {}
    for symbol in forms:  # bounds that hold at these points
        seen = [Fraction(value[symbol], 8) for value in values]
        bounds[symbol] = FormBounds(min(seen), max(seen))
        slopes[symbol] = RelaxationSlopes(
            Fraction(chance.randint(0, 4), 4), Fraction(chance.randint(0, 4), 4)
        )
    for symbol, form in forms.items():
        for sign in (1, -1):
            below = affine_lower_bound(form, sign, forms, joint.dimension, bounds, slopes)
            assert below is not None
            for point, value in zip(points, values, strict=True):
                affine = sum((x * point[c] for c, x in below.coefficients.items()), Fraction())
                assert affine <= sign * value[symbol]


def test_evaluation_of_the_oracle() -> None:
    chance = Random(7)
    stack = random_stack(chance, [2, 3, 2])
    assert tuple(evaluate(stack, [Fraction(1), Fraction(2)])) == from_arrays(stack.layers)([1, 2])
