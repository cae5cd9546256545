"""Exact linear programs against PPL, Z3 and cddlib, every answer re-verified in plain integers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from importlib import import_module
from itertools import product
from random import Random
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, strategies as st

from polyrelu.exact.lp import FlatSet, Infeasible, InteriorPoint, LinearProgram, Optimal, Unbounded
from tests.generators.campaigns import case, examples, few_and_all, few_some_and_all
from tests.generators.lp_families import FAMILIES, Instance, Number, Row, built, make
from tests.generators.lp_routes import ROUTES, engine
from tests.generators.strategies import rationals, small_rationals
from tests.oracles import lp_ppl, lp_z3
from tests.oracles.lp_certificates import (
    Maximum,
    Shape,
    as_maximum,
    as_shape,
    interior_objections,
    maximum_objections,
    minimum_objections,
)

SEEDS = 36
SIZES = [(1, 1), (4, 2), (6, 3), (12, 2), (9, 4), (14, 5)]
OPERATIONS = 30


def optional_cdd() -> ModuleType | None:
    """The oracle that calls cddlib, if pycddlib with GMP is installed."""
    try:
        return import_module("tests.oracles.lp_cdd")
    except ImportError:
        return None


CDD = optional_cdd()


def instance_of(family: str, seed: int) -> Instance:
    """The same instance for the same arguments."""
    return make(family, Random(f"{seed} {family}"), *SIZES[seed % len(SIZES)])


def verified(instance: Instance, program: LinearProgram | None = None) -> tuple[Maximum, Shape]:
    """Ask a program both questions and verify the answers against the instance.

    Both engines answer, and agree.
    """
    program = built(LinearProgram, instance) if program is None else program
    answers = []
    for route in ROUTES:
        with engine(route):
            best, inside = program.maximize(instance.objective), program.interior_point()
        assert maximum_objections(instance, best) == []
        assert interior_objections(instance, inside) == []
        answers.append((as_maximum(best), as_shape(inside)))
    assert answers[0] == answers[1]
    return answers[0]


# --- Families against other solvers -------------------------------------------------------------


@pytest.mark.parametrize("seeds", few_some_and_all(range(2, 4), range(SEEDS // 3), range(SEEDS)))
def test_answers_agree_with_other_exact_solvers(seeds: range) -> None:
    for family, seed in product(FAMILIES, seeds):
        with case(family, seed):
            instance = instance_of(family, seed)
            found = verified(instance)
            assert (lp_ppl.maximum(instance), lp_ppl.shape(instance)) == found
            assert lp_ppl.shape_by_dimension(instance) == found[1]
            if CDD is not None:
                assert (CDD.maximum(instance), CDD.shape(instance)) == found
            if seed % 2:
                assert (lp_z3.maximum(instance), lp_z3.shape(instance)) == found


@pytest.mark.slow
def test_the_families_reach_every_answer() -> None:
    """The families above contain programs of every kind of result."""
    instances = [instance_of(family, seed) for family in FAMILIES for seed in range(SEEDS)]
    for status in ("optimal", "unbounded", "infeasible"):
        assert sum(lp_ppl.maximum(instance).status == status for instance in instances) > 50
    for shape, least in (("interior", 50), ("empty", 50), ("flat", 20)):
        assert sum(lp_ppl.shape(instance) == shape for instance in instances) > least


# --- The verification itself --------------------------------------------------------------------


def tampered(answer: Optimal | Unbounded | Infeasible | FlatSet, instance: Instance) -> list[Any]:
    """The same result with one number changed, so that it is wrong."""
    if isinstance(answer, Unbounded):
        return [
            replace(answer, ray=tuple(-step for step in answer.ray)),
            replace(answer, ray=(Fraction(),) * instance.columns),
        ]
    wrong: list[Any] = []
    if isinstance(answer, Optimal):
        wrong += [replace(answer, value=answer.value + 1), replace(answer, point=answer.point[:-1])]
    for part in ("rows", "upper", "lower"):
        multipliers = getattr(answer.multipliers, part)
        for key, value in multipliers.items():
            for changed in ({key: -value}, {key: value + Fraction(1, 3)}, {key: Fraction()}):
                other = replace(answer.multipliers, **{part: {**multipliers, **changed}})
                wrong.append(replace(answer, multipliers=other))
    return wrong


def test_the_verification_refuses_answers_that_were_tampered_with() -> None:
    """In general position: by accident a changed answer can be right."""
    refused = 0
    for family in ("gaussian", "deep network", "empty", "unbounded", "flat"):
        for seed in range(SEEDS):
            instance = instance_of(family, seed)
            best = built(LinearProgram, instance).maximize(instance.objective)
            inside = built(LinearProgram, instance).interior_point()
            for wrong in tampered(best, instance):
                assert maximum_objections(instance, wrong)
                refused += 1
            if not isinstance(inside, InteriorPoint):
                for wrong in tampered(inside, instance):
                    assert interior_objections(instance, wrong)
                    refused += 1
    assert refused > 1000


def test_the_verification_refuses_points_on_a_facet() -> None:
    square = Instance(2, (Row((1, 0), 1), Row((0, 2), 2)), (0, None), (None, None), (1, 1))
    for x, y, right in ((1, 2, False), (2, 1, False), (0, 1, False), (1, 1, True), (2, 2, False)):
        point = InteriorPoint((Fraction(x, 2), Fraction(y, 2)))
        assert (interior_objections(square, point) == []) == right


# --- One program, many questions ----------------------------------------------------------------


class Mirror:
    """A program that is changed many times, and a list of its current rows."""

    def __init__(self, rng: Random, instance: Instance) -> None:
        self.rng, self.instance = rng, instance
        self.program = built(LinearProgram, instance)

    def step(self) -> None:
        """One random change or question."""
        operations: list[Callable[[], None]] = [
            self.add,
            self.add,
            self.remove,
            self.remove,
            self.change,
            self.aim,
            self.ask,
            self.ask_twice,
        ]
        self.rng.choice(operations)()

    def add(self) -> None:
        """One to three rows of a kind; now and then a multiple of one that is there."""
        kind = self.rng.random() < 0.3
        rows = [self._row(kind) for _ in range(1 if kind else self.rng.randint(1, 3))]
        add = self.program.add_equations if kind else self.program.add_inequalities
        add([row.coefficients for row in rows], [row.right for row in rows])
        self.instance = replace(self.instance, rows=(*self.instance.rows, *rows))

    def _row(self, is_equation: bool) -> Row:
        n, rng = self.instance.columns, self.rng
        if self.instance.rows and rng.random() < 0.3:
            row, factor = (
                rng.choice(self.instance.rows),
                Fraction(rng.choice([-2, -1, 1, 3]), rng.randint(1, 3)),
            )
            shift = 0 if is_equation else rng.choice([0, 0, 1])
            return Row(
                tuple(factor * a for a in row.coefficients), factor * row.right + shift, is_equation
            )
        return Row(
            tuple(rng.randint(-2, 2) for _ in range(n)),
            0 if is_equation else rng.randint(-1, 4),
            is_equation,
        )

    def remove(self) -> None:
        """One or more rows."""
        for _ in range(min(self.rng.randint(1, 3), len(self.instance.rows))):
            self.program.remove_last()
            self.instance = replace(self.instance, rows=self.instance.rows[:-1])

    def change(self) -> None:
        """The right-hand side of a row."""
        if not self.instance.rows:
            return
        i, right = (
            self.rng.randrange(len(self.instance.rows)),
            Fraction(self.rng.randint(-2, 6), self.rng.randint(1, 5)),
        )
        self.program.change_right(i, right)
        rows = list(self.instance.rows)
        rows[i] = rows[i]._replace(right=right)
        self.instance = replace(self.instance, rows=tuple(rows))

    def aim(self) -> None:
        """Another objective."""
        objective = tuple(
            Fraction(self.rng.randint(-3, 3), self.rng.randint(1, 2))
            for _ in self.instance.objective
        )
        self.instance = replace(self.instance, objective=objective)

    def ask(self) -> None:
        """Both questions, in either order, and the minimum."""
        assert len(self.program) == len(self.instance.rows)
        if self.rng.random() < 0.5:
            assert interior_objections(self.instance, self.program.interior_point()) == []
        found = verified(self.instance, self.program)
        assert found == (lp_ppl.maximum(self.instance), lp_ppl.shape(self.instance))
        assert found == verified(self.instance)  # a fresh program
        assert (
            minimum_objections(self.instance, self.program.minimize(self.instance.objective)) == []
        )

    def ask_twice(self) -> None:
        """The same question twice, the second time from the basis of the first."""
        first, second = (self.program.maximize(self.instance.objective) for _ in range(2))
        assert as_maximum(first) == as_maximum(second)
        assert maximum_objections(self.instance, second) == []


CHANGED = ("gaussian", "small integers", "odd equations", "odd bounds", "zero rows", "sliver 70")


@pytest.mark.parametrize("seeds", few_and_all(range(4), range(16)))
def test_a_program_that_changes_answers_like_a_fresh_one(seeds: range) -> None:
    for family, seed in product(CHANGED, seeds):
        with case(family, seed):
            rng = Random(f"changes {seed} {family}")
            mirror = Mirror(rng, make(family, rng, rng.randint(1, 6), rng.randint(1, 4)))
            for _ in range(OPERATIONS):
                mirror.step()
            mirror.ask()


def test_many_objectives_from_one_start() -> None:
    rng = Random(5)
    instance = make("odd bounds", rng, 8, 4)
    instance = replace(instance, lower=(-2,) * 4, upper=(Fraction(7, 3),) * 4)
    objectives = [tuple(rng.randint(-5, 5) for _ in range(4)) for _ in range(30)]
    program = built(LinearProgram, instance)
    for objective, answer in zip(objectives, program.maximize_each(objectives), strict=True):
        aimed = replace(instance, objective=objective)
        assert maximum_objections(aimed, answer) == []
        assert as_maximum(answer) == lp_ppl.maximum(aimed)


# --- Invariance ---------------------------------------------------------------------------------


@st.composite
def instances(draw: st.DrawFn, numbers: st.SearchStrategy[Fraction]) -> Instance:
    """Up to three columns and six rows, few of them equations, with or without bounds."""
    n = draw(st.integers(1, 3))
    vector = st.lists(numbers | st.just(Fraction(0)), min_size=n, max_size=n).map(tuple)
    kinds = st.sampled_from([False, False, False, True])
    rows = draw(st.lists(st.builds(Row, vector, numbers, kinds), max_size=6))
    lower: tuple[Number | None, ...] = (None,) * n
    upper = lower
    if draw(st.booleans()):
        bounds = st.none() | numbers
        lower = tuple(draw(bounds) for _ in range(n))
        upper = tuple(draw(bounds) for _ in range(n))
    return Instance(n, tuple(rows), lower, upper, draw(vector))


@given(instances(rationals()))
@examples(80)
def test_numbers_of_any_size(instance: Instance) -> None:
    assert verified(instance) == (lp_ppl.maximum(instance), lp_ppl.shape_by_dimension(instance))


@given(instances(small_rationals()), st.randoms(use_true_random=False))
@examples(100)
def test_scaling_and_order_of_rows_and_columns_change_nothing(
    instance: Instance, rng: Random
) -> None:
    rows = []
    for row in instance.rows:
        factor = Fraction(rng.randint(1, 1000), rng.choice([1, 7, 2**40]))
        rows.append(
            row._replace(
                coefficients=tuple(factor * a for a in row.coefficients), right=factor * row.right
            )
        )
    rng.shuffle(rows)
    order = rng.sample(range(instance.columns), instance.columns)

    def permuted(vector: tuple[Number, ...]) -> tuple[Number, ...]:
        return tuple(vector[j] for j in order)

    other = Instance(
        instance.columns,
        tuple(row._replace(coefficients=permuted(row.coefficients)) for row in rows),
        tuple(instance.lower[j] for j in order),
        tuple(instance.upper[j] for j in order),
        permuted(instance.objective),
    )
    assert verified(other) == verified(instance)


@given(instances(small_rationals()), st.lists(rationals(), min_size=3, max_size=3))
@examples(80)
def test_translation_moves_the_value(instance: Instance, step: list[Fraction]) -> None:
    step = step[: instance.columns]

    def moved(vector: tuple[Number, ...]) -> Fraction:
        return Fraction(sum(a * v for a, v in zip(vector, step, strict=True)))

    rows = tuple(row._replace(right=row.right + moved(row.coefficients)) for row in instance.rows)
    lower, upper = (
        tuple(None if bound is None else bound + v for bound, v in zip(bounds, step, strict=True))
        for bounds in (instance.lower, instance.upper)
    )
    best, shape = verified(instance)
    there, shape_there = verified(replace(instance, rows=rows, lower=lower, upper=upper))
    assert (there.status, shape_there) == (best.status, shape)
    if best.value is not None:
        assert there.value == best.value + moved(instance.objective)


@given(instances(small_rationals()))
@examples(60)
def test_minimum_is_minus_the_maximum_of_the_negative(instance: Instance) -> None:
    program = built(LinearProgram, instance)
    least = program.minimize(instance.objective)
    assert minimum_objections(instance, least) == []
    most = program.maximize([-entry for entry in instance.objective])
    if isinstance(least, Optimal):
        assert isinstance(most, Optimal)
        assert least.value == -most.value
    else:
        assert type(least) is type(most)
