"""Units of the exact linear programs: inputs, errors, multipliers, bad guesses, threads, Ctrl-C."""

from __future__ import annotations

import math
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction
from itertools import product
from random import Random
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from polyrelu.errors import DomainError, PolyreluError
from polyrelu.exact import RationalMatrix
from polyrelu.exact.lp import (
    FlatSet,
    Infeasible,
    InteriorPoint,
    LinearProgram,
    Multipliers,
    Optimal,
    Unbounded,
    simplex,
    tableau,
)
from polyrelu.exact.lp.bounds import Side
from polyrelu.exact.lp.float_filter import certain_signs
from polyrelu.exact.lp.highs import FloatSolver, Guess
from polyrelu.exact.lp.model import Model
from polyrelu.exact.lp.simplex import Simplex
from polyrelu.exact.lp.tableau import Tableau
from tests.generators.campaigns import case, few_and_all
from tests.generators.lp_families import FAMILIES, Instance, Number, Row, built, make
from tests.generators.lp_routes import ROUTES, engine
from tests.oracles import lp_ppl
from tests.oracles.lp_certificates import (
    as_maximum,
    as_shape,
    interior_objections,
    maximum_objections,
)


def assert_right(instance: Instance) -> None:
    """Both answers of both engines pass their verification and agree with PPL."""
    for route in ROUTES:
        with engine(route):
            best = built(LinearProgram, instance).maximize(instance.objective)
            inside = built(LinearProgram, instance).interior_point()
        assert maximum_objections(instance, best) == []
        assert interior_objections(instance, inside) == []
        assert (as_maximum(best), as_shape(inside)) == (
            lp_ppl.maximum(instance),
            lp_ppl.shape(instance),
        )


# --- Inputs and errors --------------------------------------------------------------------------


def with_a_row() -> LinearProgram:
    """A program with one row over two variables."""
    program = LinearProgram(2)
    program.add_inequalities([[1, 1]], [1])
    return program


@pytest.mark.parametrize(
    ("act", "text"),
    [
        (
            lambda: LinearProgram(2).add_inequalities([[1, 2]], [1, 2]),
            "1 rows need as many right-hand sides, got 2",
        ),
        (lambda: LinearProgram(2).add_equations([[1, 2], [3]], [1, 2]), "row 1 has 1 entries"),
        (
            lambda: LinearProgram(2).add_inequalities(RationalMatrix.identity(3), [1, 2, 3]),
            "row 0 has 3 entries",
        ),
        (lambda: LinearProgram(2, lower=[1]), "2 variables need as many bounds, got 1"),
        (lambda: LinearProgram(2, upper=[1, 2, 3]), "2 variables need as many bounds, got 3"),
        (lambda: LinearProgram(2).remove_last(), "no row to remove"),
        (lambda: LinearProgram(2).change_right(0, 1), "no row 0, only 0 rows"),
        (lambda: with_a_row().change_right(-1, 1), "no row -1"),
        (lambda: with_a_row().change_right(1, 1), "no row 1, only 1 rows"),
        (lambda: with_a_row().maximize([1]), "2 variables"),
        (lambda: with_a_row().minimize([1, 2, 3]), "2 variables"),
    ],
)
def test_what_does_not_fit_is_a_domain_error_of_one_line(
    act: Callable[[], object], text: str
) -> None:
    with pytest.raises(DomainError) as caught:
        act()
    assert text in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("number", [float("nan"), float("inf"), True, None, "x", "2/4", 1j, [1]])
def test_what_is_not_a_number_is_refused_and_leaves_the_program_as_it_was(number: object) -> None:
    program = with_a_row()
    attempts: list[Callable[[], object]] = [
        lambda: program.add_inequalities([[number, 1]], [1]),
        lambda: program.add_equations([[1, 1]], [number]),
        lambda: program.maximize([number, 1]),
        lambda: program.change_right(0, number),
    ]
    for attempt in attempts:
        with pytest.raises(PolyreluError) as caught:
            attempt()
        assert "\n" not in str(caught.value)
    assert len(program) == 1
    best = program.maximize([1, 1])
    assert isinstance(best, Optimal)
    assert (best.value, best.multipliers) == (Fraction(1), Multipliers({0: Fraction(1)}))


@pytest.mark.parametrize(
    "rows",
    [
        [[1, 0], [Fraction(1, 2), 1]],
        [[1.0, 0.0], [0.5, 1.0]],
        [["1", "0"], ["1/2", "1"]],
        [(1, 0), ("1/2", np.int8(1))],
        np.array([[1, 0], [0.5, 1]]),
        np.array([[1, 0], [0.5, 1]], dtype=np.float16),
        RationalMatrix.from_rows([[1, 0], ["1/2", 1]]),
    ],
    ids=["fractions", "floats", "text", "mixed", "numpy", "half precision", "matrix"],
)
def test_all_exact_numbers_mean_the_same(rows: Any) -> None:
    program = LinearProgram(2)
    program.add_inequalities(rows, ["1/4", 2.5])
    assert program.maximize([np.int64(1), 1.0]) == Optimal(
        Fraction(21, 8),
        (Fraction(1, 4), Fraction(19, 8)),
        Multipliers({0: Fraction(1, 2), 1: Fraction(1)}),
    )


def test_the_caller_keeps_his_lists() -> None:
    rows, right, lower = [[1, 2], [3, 4]], [5, 6], [0, 0]
    program = LinearProgram(2, lower=lower)
    program.add_inequalities(rows, right)
    program.maximize([1, 1])
    program.change_right(0, "1/3")
    rows[0][0], right[0], lower[0] = 100, 100, 100
    assert (rows, right, lower) == ([[100, 2], [3, 4]], [100, 6], [100, 0])
    best = program.maximize([1, 2])
    assert isinstance(best, Optimal)
    assert (best.value, best.multipliers) == (Fraction(1, 3), Multipliers({0: Fraction(1)}))


# --- Small programs -----------------------------------------------------------------------------


def test_no_columns() -> None:
    program = LinearProgram(0)
    assert program.maximize([]) == Optimal(Fraction(0), (), Multipliers())
    assert program.interior_point() == InteriorPoint(())
    program.add_inequalities([[], []], [0, 1])
    program.add_equations([[]], [0])
    assert program.interior_point() == InteriorPoint(())
    program.add_equations([[]], ["-1/2"])
    instance = Instance(
        0, (Row((), 0), Row((), 1), Row((), 0, True), Row((), Fraction(-1, 2), True)), (), (), ()
    )
    assert interior_objections(instance, program.interior_point()) == []
    assert maximum_objections(instance, program.maximize([])) == []
    program.remove_last()
    assert program.maximize([]) == Optimal(Fraction(0), (), Multipliers())


def test_no_rows() -> None:
    program = LinearProgram(2)
    assert len(program) == 0
    assert program.maximize([0, 0]) == Optimal(
        Fraction(0), (Fraction(0), Fraction(0)), Multipliers()
    )
    assert isinstance(program.maximize([0, -1]), Unbounded)
    assert isinstance(program.interior_point(), InteriorPoint)
    program.add_inequalities([], [])
    assert len(program) == 0


def test_only_bounds() -> None:
    program = LinearProgram(2, lower=[0, None], upper=["1/3", -5])
    found = program.maximize([1, "1/2"])
    assert found == Optimal(
        Fraction(-13, 6),
        (Fraction(1, 3), Fraction(-5)),
        Multipliers({}, {0: Fraction(1), 1: Fraction(1, 2)}),
    )
    assert isinstance(program.maximize([0, -1]), Unbounded)
    inside = program.interior_point()
    assert isinstance(inside, InteriorPoint)
    assert 0 < inside.point[0] < Fraction(1, 3)
    assert inside.point[1] < -5


def test_multipliers_refer_to_the_rows_as_given() -> None:
    program = LinearProgram(2, lower=[None, "1/7"])
    program.add_inequalities([["2/3", 0], [0.25, "1/5"]], ["1/9", 1])
    program.add_equations([["1/2", "-3/4"]], ["-1/8"])
    rows = (
        Row((Fraction(2, 3), 0), Fraction(1, 9)),
        Row((Fraction(1, 4), Fraction(1, 5)), 1),
        Row((Fraction(1, 2), Fraction(-3, 4)), Fraction(-1, 8), True),
    )
    objectives: list[tuple[Number, ...]] = [(Fraction(3, 11), 0), (0, Fraction(-1, 6)), (5, 7)]
    for objective in objectives:
        instance = Instance(2, rows, (None, Fraction(1, 7)), (None, None), objective)
        assert maximum_objections(instance, program.maximize(objective)) == []
    program.change_right(0, "-5/3")
    rows = (rows[0]._replace(right=Fraction(-5, 3)), *rows[1:])
    assert (
        interior_objections(
            Instance(2, rows, (None, Fraction(1, 7)), (None, None), ()), program.interior_point()
        )
        == []
    )


def test_a_multiple_of_the_objective_multiplies_the_multipliers() -> None:
    program = with_a_row()
    found = program.maximize(["5/3", "5/3"])
    assert isinstance(found, Optimal)
    assert (found.value, found.multipliers) == (Fraction(5, 3), Multipliers({0: Fraction(5, 3)}))


def test_feasible_point() -> None:
    program = LinearProgram(1)
    program.add_inequalities([[1], [-1]], [2, -2])
    assert program.feasible_point() == (Fraction(2),)
    assert isinstance(program.interior_point(), FlatSet)
    program.change_right(0, 1)
    assert isinstance(program.feasible_point(), Infeasible)


def pivots_of(route: str, instance: Instance, most: int) -> int:
    """The number of pivots that an interior point takes without a guess; more than `most` fail."""
    method = Simplex if route == "guesses" else Tableau
    exchange, count = method._pivot, 0

    def counted(self: Any, *arguments: Any) -> None:
        nonlocal count
        count += 1
        if count > most:
            raise TimeoutError
        exchange(self, *arguments)

    with (
        engine(route),
        patch.object(method, "_pivot", counted),
        patch.object(FloatSolver, "maximize", no_guess),
    ):
        built(LinearProgram, instance).interior_point()
    return count


@pytest.mark.parametrize("route", ROUTES)
def test_cycles_end(route: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The usual pivoting rules cycle on these programs; Bland's rule ends the cycles."""
    rng = Random("misled 335 huge")
    instance = make("huge", rng, rng.randint(1, 10), rng.randint(1, 5))
    assert pivots_of(route, instance, 1000) < 200
    for module in (simplex, tableau):
        monkeypatch.setattr(module, "STALL_LIMIT", 10**9)
    with pytest.raises(TimeoutError):
        pivots_of(route, instance, 1000)


@pytest.mark.parametrize("family", list(FAMILIES))
def test_bland_s_rule_from_the_first_step(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (simplex, tableau):
        monkeypatch.setattr(module, "STALL_LIMIT", -1)
    for seed in range(6):
        rng = Random(f"bland {seed} {family}")
        assert_right(make(family, rng, rng.randint(1, 8), rng.randint(1, 4)))


# --- Guesses that are wrong ---------------------------------------------------------------------


Sides = Sequence[list[Side]]  # of each column, those that its bounds allow


def no_guess(*_: object) -> Guess | None:
    """Replace the guess of HiGHS by none."""
    return None


def random_guess(rng: Random, rows: int, sides: Sides) -> Guess | None:
    """A guess of random rows and columns, in any number, and points that are not numbers."""
    tight = [rng.randrange(rows) for _ in range(rng.randint(0, len(sides) + 1))] if rows else []
    fixed = {j: rng.choice(allowed) for j, allowed in enumerate(sides) if rng.random() < 0.3}
    values = [math.nan, math.inf, -math.inf, 1e18, 1e-300, 0.0, 0.5, 1.0]
    return Guess(tight, fixed, [rng.choice(values) for _ in sides], rng.random() < 0.5)


def square_guess(rng: Random, rows: int, sides: Sides) -> Guess | None:
    """A guess of as many rows and columns as a basis has: often a basis, seldom a good one."""
    tight = rng.sample(range(rows), rng.randint(0, min(rows, len(sides))))
    fixed = {
        j: rng.choice(sides[j]) for j in rng.sample(range(len(sides)), len(sides) - len(tight))
    }
    return Guess(tight, fixed, [rng.gauss(0, 1) for _ in sides], rng.random() < 0.8)


def guess_with_any_sides(rng: Random, rows: int, sides: Sides) -> Guess | None:
    """A guess of columns at bounds that they do not have, or fixed though their bounds differ."""
    return square_guess(rng, rows, [list(Side)] * len(sides))


def misled(
    monkeypatch: pytest.MonkeyPatch, guesser: Callable[[Random, int, Sides], Guess | None]
) -> None:
    """Replace the guesses of HiGHS by other guesses within a block."""
    rng = Random(0)

    def maximize(solver: Any, objective: Sequence[float]) -> Guess | None:
        bounds = zip(solver._lower, solver._upper, strict=True)
        return guesser(rng, len(solver._row_lower), [allowed(low, up) for low, up in bounds])

    monkeypatch.setattr(FloatSolver, "maximize", maximize)


def allowed(lower: float, upper: float) -> list[Side]:
    """The sides on which a nonbasic column with these bounds can be."""
    if lower == upper:
        return [Side.FIXED]
    sides = [
        side for side, bound in ((Side.LOWER, lower), (Side.UPPER, upper)) if math.isfinite(bound)
    ]
    return sides or [Side.PINNED]


Guesser = Callable[[Random, int, Sides], Guess | None]
GUESSERS: list[Guesser] = [no_guess, random_guess, square_guess]


@pytest.mark.parametrize("seeds", few_and_all(range(1), range(12)))
def test_wrong_guesses_have_right_answers(seeds: range, monkeypatch: pytest.MonkeyPatch) -> None:
    for guesser, family in product(GUESSERS, FAMILIES):
        misled(monkeypatch, guesser)
        for seed in seeds:
            with case(guesser.__name__, family, seed):
                rng = Random(f"misled {seed} {family}")
                assert_right(make(family, rng, rng.randint(1, 10), rng.randint(1, 5)))


@pytest.mark.parametrize(
    "family", ["gaussian", "bounds", "odd bounds", "tight bounds", "klee-minty"]
)
def test_wrong_sides_have_right_answers(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    misled(monkeypatch, guess_with_any_sides)
    for seed in range(20):
        rng = Random(f"sides {seed} {family}")
        assert_right(make(family, rng, rng.randint(1, 8), rng.randint(1, 4)))


@pytest.mark.parametrize(
    "point",
    [
        [1e308, 0.5],
        [-1.7e308, 1.0],
        [0.0, 5e-324],
        [1e308, 1e-308],
    ],
)
def test_guessed_points_at_the_ends_of_the_float_range(
    point: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    misled(monkeypatch, lambda *_: Guess([0], {0: Side.UPPER}, point, True))
    size = 17 * 10**307
    assert_right(Instance(1, (Row((-1,), size),), (None,), (size,), (1,)))


def test_bounds_that_floats_cannot_tell_apart() -> None:
    narrow = 1 + Fraction(1, 2**60)
    assert LinearProgram(1, lower=[1], upper=[narrow]).maximize([-1]) == Optimal(
        Fraction(-1), (Fraction(1),), Multipliers({}, {}, {0: Fraction(1)})
    )
    huge = 2**400
    assert LinearProgram(1, lower=[huge], upper=[huge + 1]).minimize([1]) == Optimal(
        Fraction(huge), (Fraction(huge),), Multipliers({}, {}, {0: Fraction(1)})
    )


@pytest.mark.parametrize("bits", [1030, 1060])
def test_bounds_with_subnormal_room_between_them(bits: int) -> None:
    assert_right(Instance(1, (), (0,), (Fraction(1, 1 << bits),), (1,)))


@pytest.mark.parametrize("size", [10**19, 10**25, 10**308, 10**400])
def test_bounds_beyond_the_floats(size: int) -> None:
    """Bounds that HiGHS takes for infinite, and bounds beyond the range of floats."""
    for sign in (1, -1):
        low, up = sorted((sign * size, 2 * sign * size))
        assert_right(Instance(1, (Row((1,), 3 * size),), (low,), (up,), (sign,)))
        assert_right(Instance(2, (Row((1, 1), 0),), (low, None), (None, up), (1, 0)))


# --- The float copy follows the rows ------------------------------------------------------------


def test_the_float_twin_follows_a_change_of_the_right_hand_side() -> None:
    program = LinearProgram(2, lower=[0, 0])
    program.add_inequalities([[1, 1]], [1])
    with engine("guesses"):
        program.maximize([2, 1])
    assert program._model._solver is not None
    program.change_right(0, "1/3")
    assert program._model._table[0, -1] == pytest.approx(1 / 6)  # the row was divided by 2
    guess = program._model.guess([2, 1, 0])
    assert guess is not None
    assert guess.point[:2] == pytest.approx([1 / 3, 0])


def test_the_float_table_follows_a_row_that_was_set_aside() -> None:
    """2^60 - 1 rounds up to a power of two; the slack variable's coefficient must follow."""
    program = LinearProgram(1)
    program.add_inequalities([[2**60 - 1]], [0])
    program.add_equations([[1]], [0])
    with engine("guesses"):
        program.interior_point()
    program.remove_last()
    model, (x, t) = program._model, (Fraction(3, 4), Fraction(-1, 2))
    coefficient, slack, _ = model.rows.entries[0]
    exact = coefficient * x + slack * t
    (sign,) = certain_signs(model.table(), [float(x), float(t)])
    assert sign == np.sign(float(exact)) == 1


def test_many_changes_of_a_right_hand_side_do_not_make_the_row_longer() -> None:
    program = with_a_row()
    for k in range(200):
        program.change_right(0, Fraction(k + 1, 2 * k + 3))
    assert program._model.scales[0] < 1000


# --- The process around -------------------------------------------------------------------------


def python(code: str) -> subprocess.CompletedProcess[str]:
    """Run a piece of Python in a process of its own."""
    arguments = [sys.executable, "-c", textwrap.dedent(code)]
    return subprocess.run(arguments, capture_output=True, text=True, check=False, timeout=60)


def test_importing_prints_nothing_and_keeps_the_handler_of_ctrl_c() -> None:
    done = python(
        """
        import signal
        before = signal.getsignal(signal.SIGINT)
        import polyrelu.exact.lp
        assert signal.getsignal(signal.SIGINT) is before
        program = polyrelu.exact.lp.LinearProgram(6, upper=[1] * 6)  # not small: HiGHS is asked
        program.maximize([1] * 6)
        assert signal.getsignal(signal.SIGINT) is before
        """
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("route", ROUTES)
def test_solving_prints_nothing(route: str, capfd: pytest.CaptureFixture[str]) -> None:
    with engine(route):
        for family in FAMILIES:
            instance = make(family, Random(f"quiet {family}"), 8, 3)
            program = built(LinearProgram, instance)
            program.maximize(instance.objective)
            program.interior_point()
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("route", ROUTES)
def test_threads_do_not_disturb_each_other(route: str) -> None:
    instances = [
        make(family, Random(f"threads {seed} {family}"), 8, 3)
        for family in FAMILIES
        for seed in range(2)
    ]

    def answers(instance: Instance) -> tuple[object, object]:
        program = built(LinearProgram, instance)
        return as_maximum(program.maximize(instance.objective)), as_shape(program.interior_point())

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with engine(route), ThreadPoolExecutor(8) as pool:
            expected = [answers(instance) for instance in instances]
            found = list(pool.map(answers, instances * 4))
    finally:
        sys.setswitchinterval(interval)
    assert found == expected * 4


def test_highs_of_the_caller_and_of_the_package_get_along() -> None:
    done = python(
        """
        import highspy
        def solve(threads):
            solver = highspy.Highs()
            solver.setOptionValue("output_flag", False)
            solver.setOptionValue("threads", threads)
            solver.addVariable(lb=0, ub=1)
            assert solver.run() == highspy.HighsStatus.kOk, threads
        solve(0)
        from polyrelu.exact.lp import LinearProgram
        program = LinearProgram(2, lower=[0, 0])
        program.add_inequalities([[1, 2]], [2])
        assert program._model.guess([1, 1, 0]) is not None, "no guess after HiGHS ran elsewhere"
        """
    )
    assert done.returncode == 0, done.stderr


def test_highs_of_the_caller_keeps_its_threads() -> None:
    """HiGHS has one pool of threads for the process; another number of threads needs a reset."""
    done = python(
        """
        from polyrelu.exact.lp import LinearProgram
        LinearProgram(6, lower=[0] * 6, upper=[1] * 6).maximize([1] * 6)
        import highspy
        highspy.Highs.resetGlobalScheduler(True)
        solver = highspy.Highs()
        solver.setOptionValue("output_flag", False)
        solver.setOptionValue("threads", 2)
        solver.addVariable(lb=0, ub=1)
        assert solver.run() == highspy.HighsStatus.kOk
        assert LinearProgram(2, lower=[0, 0], upper=[1, 1]).maximize([1, 1]).value == 2
        """
    )
    assert done.returncode == 0, done.stderr


#: A program in the background would ignore Ctrl-C.
HEED_CTRL_C = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
"""

LONG_VERTEX = """
from random import Random
from polyrelu.exact.lp import LinearProgram
rng = Random(1)
rows = [[rng.getrandbits(62) - 2**61 for _ in range(450)] for _ in range(450)]
program = LinearProgram(450)
program.add_inequalities(rows, [rng.getrandbits(62) for _ in rows])
objective = [sum(column) for column in zip(*rows)]
print("ready", flush=True)
program.maximize(objective)
"""

LONG_FLOAT_RUN = """
import numpy as np
from polyrelu.exact.lp import LinearProgram
rng = np.random.default_rng(0)
rows = (rng.standard_normal((3000, 400)) * 2**30).astype(np.int64).tolist()
program = LinearProgram(400, [-1000] * 400, [1000] * 400)
program.add_inequalities(rows, np.abs(rng.standard_normal(3000) * 2**34).astype(np.int64).tolist())
print("ready", flush=True)
program.maximize(rows[0])
"""


@pytest.mark.parametrize(
    "code",
    [
        pytest.param(LONG_VERTEX, id="exact vertex"),
        pytest.param(LONG_FLOAT_RUN, id="float run", marks=pytest.mark.slow),
    ],
)
def test_ctrl_c_ends_a_long_program(code: str) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HEED_CTRL_C + code], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as child:
        try:
            assert child.stdout is not None
            assert child.stderr is not None
            assert child.stdout.readline() == b"ready\n"
            time.sleep(0.7)
            assert child.poll() is None, "too fast a machine for this test"
            child.send_signal(signal.SIGINT)
            child.wait(2)
            assert b"KeyboardInterrupt" in child.stderr.read()
        finally:
            child.kill()


def test_a_limit_of_pivots() -> None:
    """A program whose float basis is wrong is given up, and solved without the limit."""
    rng, size = Random(0), 8
    rows = [
        [-rng.randint(0, 9) * 10 ** rng.randint(0, 25) - 1 for _ in range(size)] for _ in range(8)
    ]
    program = LinearProgram(size, lower=[0] * size)
    program.add_inequalities(rows, [-(10 ** rng.randint(0, 25)) for _ in range(size)])
    objective = [rng.randint(1, 9) for _ in range(size)]
    assert program.try_minimize(objective, max_pivots=0) is None
    found = program.try_minimize(objective)
    assert isinstance(found, Optimal)
    assert found == program.try_minimize(objective, max_pivots=1000) == program.minimize(objective)


def test_a_trial_ends_where_no_feasible_point_is_seen() -> None:
    """HiGHS may see a feasible point, and none when it is asked again; then nothing is proved."""
    program = LinearProgram(8, lower=[0] * 8)
    program.add_inequalities([[-1 - (i * j) % 5 for j in range(8)] for i in range(8)], [-3] * 8)
    seen: list[Guess | None] = []
    guess = Model.guess

    def second_fails(model: Model, target: list[int]) -> Guess | None:
        found = guess(model, target)
        seen.append(found and replace(found, feasible=not seen))
        return seen[-1]

    with (
        patch("polyrelu.exact.lp.linear_program.is_small", lambda model: False),
        patch.object(LinearProgram, "interior_point", side_effect=AssertionError("a proof")),
    ):
        assert isinstance(program.try_minimize([1] * 8), Optimal)
        with patch.object(Model, "guess", second_fails):
            assert program.try_minimize([1] * 8) is None
            assert len(seen) == 2
            with pytest.raises(AssertionError, match="a proof"):
                program.minimize([1] * 8)
