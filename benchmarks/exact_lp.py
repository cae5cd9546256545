"""Attack the exact linear programs, and measure them beside floating point and other exact solvers.

    python -m benchmarks.exact_lp [--count 10000] [--seed 1] [--part agreement|speed]

Agreement: both questions (the maximum, an interior point) for instances of all families and several
sizes; every certificate is re-verified in plain integers, every answer is compared with PPL and
with cddlib (with Z3 where pycddlib is missing). Speed: a cold program, built, solved and answered
exactly, beside the seconds inside polyrelu's own runs of HiGHS, a plain HiGHS, PPL, cddlib and Z3.
Of the peers only the solving is timed, not the conversion of the numbers. Times are CPU seconds of
the thread, so that a busy machine does not matter; limits are wall-clock seconds.

Everything runs in worker processes, which are killed when they take too long. The part that is not
run keeps its last results.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from importlib import import_module
from importlib.util import find_spec
from itertools import product
from multiprocessing.connection import Connection
from random import Random
from statistics import median
from typing import Any, ClassVar, Literal
from unittest.mock import patch

import numpy as np

from benchmarks.reporting import RESULTS, write_results
from tests.generators.lp_families import (
    ADVERSARIAL,
    FAMILIES,
    ORDINARY,
    Instance,
    Number,
    Row,
    boxed,
    built,
    make,
)
from tests.oracles.lp_certificates import constant_rows

Question = Literal["interior point", "maximum"]

AGREEMENT_SIZES = [(6, 2), (10, 3), (20, 3), (20, 6), (40, 8), (100, 10), (12, 12), (200, 20)]
#: The number of instances of each size among instances in turn.
_WEIGHTS = [25, 25, 25, 15, 13, 4, 13, 1]
SPEED_SIZES = [(20, 3), (100, 10), (200, 20), (200, 50)]
QUESTIONS: list[Question] = ["interior point", "maximum"]
PEERS = ["HiGHS", "PPL", "PPL polyhedron", "cddlib", "Z3"]
#: Seconds after which a worker is killed, and after which a comparison counts as a timeout.
_LIMIT, _PEER_LIMIT, _COMPARISON_LIMIT = 6.0, 3.0, 5.0
#: Time limit in seconds for an answer that other solvers are compared with.
_PATIENCE = 30.0
_INSTANCES, _PEER_INSTANCES = 7, 3


# --- Workers --------------------------------------------------------------------------------------


class Worker:
    """A process that makes one call at a time and is replaced when a call takes too long."""

    def __init__(self) -> None:
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, other = context.Pipe()
        self._process = context.Process(target=_serve, args=(other,), daemon=True)
        self._process.start()
        self.call(60.0, time.perf_counter)  # imports do not count for any call

    def call(self, seconds: float, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return the result of a function.

        Raises
        ------
        TimeoutError
            The function takes too long.
        RuntimeError
            The function fails.
        """
        self._connection.send((function, arguments))
        if self._connection.poll(seconds):
            try:
                kind, answer = self._connection.recv()
            except EOFError:
                kind, answer = "error", "the process died"
                self._start()
            if kind == "answer":
                return answer
            raise RuntimeError(answer)
        self.close()
        self._start()
        raise TimeoutError

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.join()


def _serve(connection: Connection) -> None:
    while True:
        function, arguments = connection.recv()
        try:
            connection.send(("answer", function(*arguments)))
        except Exception as error:
            connection.send(("error", f"{type(error).__name__}: {error}"))


# --- Inside the workers: the product --------------------------------------------------------------


class _Meter:
    """Counts and times inside polyrelu's exact linear programs."""

    pivots: ClassVar[int] = 0
    needed_pivots: ClassVar[int] = 0
    missing_guesses: ClassVar[int] = 0
    float_seconds: ClassVar[float] = 0.0


@contextmanager
def _metered() -> Iterator[type[_Meter]]:
    """Count exact pivots and missing guesses, and time the runs of HiGHS."""
    from polyrelu.exact.lp import highs, simplex, tableau

    _Meter.pivots = _Meter.missing_guesses = _Meter.needed_pivots = 0
    _Meter.float_seconds = 0.0
    guess, run = highs.FloatSolver.maximize, highs.SilentHighs.run

    def counting(method: Any) -> Any:
        solve = method.solve

        def counted_solve(self: Any) -> Any:
            answer = solve(self)
            _Meter.pivots += self.pivots
            _Meter.needed_pivots += method is simplex.Simplex and self.pivots > 0
            return answer

        return patch.object(method, "solve", counted_solve)

    def counted_guess(self: highs.FloatSolver, objective: Any) -> Any:
        answer = guess(self, objective)
        _Meter.missing_guesses += answer is None
        return answer

    def timed_run(self: Any) -> Any:
        start = time.thread_time()
        status = run(self)
        _Meter.float_seconds += time.thread_time() - start
        return status

    with (
        counting(simplex.Simplex),
        counting(tableau.Tableau),
        patch.object(highs.FloatSolver, "maximize", counted_guess),
        patch.object(highs.SilentHighs, "run", timed_run),
    ):
        yield _Meter


def examine(instance: Instance, question: Question) -> dict[str, Any]:
    """Return the answer to a question in short, with objections to it and its costs."""
    from polyrelu.exact.lp import LinearProgram
    from tests.oracles.lp_certificates import (
        as_maximum,
        as_shape,
        interior_objections,
        maximum_objections,
    )

    answer: tuple[Any, ...]
    with _metered() as meter:
        start = time.thread_time()
        program = built(LinearProgram, instance)
        if question == "interior point":
            inside = program.interior_point()
            seconds = time.thread_time() - start
            objections, answer = interior_objections(instance, inside), (as_shape(inside), None)
        else:
            best = program.maximize(instance.objective)
            seconds = time.thread_time() - start
            objections, answer = maximum_objections(instance, best), tuple(as_maximum(best))
        return {
            "answer": answer,
            "objections": objections,
            "seconds": seconds,
            "float seconds": meter.float_seconds,
            "pivots": meter.pivots,
            "needed pivots": meter.needed_pivots,
            "missing guesses": meter.missing_guesses,
        }


# --- Inside the workers: the peers ----------------------------------------------------------------


_ORACLES = {"PPL": "lp_ppl", "cddlib": "lp_cdd", "Z3": "lp_z3"}


def peer_answer(peer: str, instance: Instance, question: Question) -> tuple[str, Fraction | None]:
    """Return the answer of another solver in the same short form."""
    oracle = import_module(f"tests.oracles.{_ORACLES[peer]}")
    if question == "interior point":
        return oracle.shape(instance), None
    status, value = oracle.maximum(instance)
    return status, value


def with_slack(instance: Instance) -> Instance:
    """Return the program of the interior point: maximise t ≤ 1 with a·x + s t ≤ c.

    The factor s is a power of two of the size of a.
    """
    rows = []
    for row, is_constant in zip(instance.rows, constant_rows(instance), strict=True):
        slack = 0 if is_constant else _size(row.coefficients)
        rows.append(row._replace(coefficients=(*row.coefficients, slack)))
    n = instance.columns
    return Instance(
        n + 1, tuple(rows), (*instance.lower, None), (*instance.upper, 1), (*[0] * n, 1)
    )


def _size(coefficients: Iterable[Number]) -> Fraction:
    """Return a power of two that is larger than all coefficients in size.

    It is at most four times the largest one, and 1 if all coefficients are 0.
    """
    largest = max((abs(Fraction(entry)) for entry in coefficients), default=Fraction())
    bits = largest.numerator.bit_length() - largest.denominator.bit_length() + 1
    return Fraction(2) ** bits if largest else Fraction(1)


def peer_seconds(peer: str, instance: Instance) -> float:
    """Return the seconds to maximise the objective.

    For "PPL polyhedron" they are the seconds to decide whether there is a point at all.
    """
    if peer == "HiGHS":
        return _highs_seconds(instance)
    if peer == "cddlib":
        return _cdd_seconds(instance)
    if peer == "Z3":
        return _z3_seconds(instance)
    from tests.oracles import lp_ppl

    prepared = lp_ppl.polyhedron(instance) if peer == "PPL polyhedron" else lp_ppl.problem(instance)
    start = time.thread_time()
    prepared.is_empty() if peer == "PPL polyhedron" else prepared.solve()
    return time.thread_time() - start


def _cdd_seconds(instance: Instance) -> float:
    from tests.oracles import lp_cdd

    program = lp_cdd.program(instance.without_bounds().rows, instance.objective)
    start = time.thread_time()
    lp_cdd.solve(program)
    return time.thread_time() - start


def _z3_seconds(instance: Instance) -> float:
    from tests.oracles import lp_z3

    optimizer, _ = lp_z3.problem(instance)
    start = time.thread_time()
    optimizer.check()
    return time.thread_time() - start


def _highs_seconds(instance: Instance) -> float:
    """Return the seconds of one run with the default options and without output."""
    import highspy

    solver = highspy.Highs()  # type: ignore[no-untyped-call]
    solver.setOptionValue("output_flag", False)
    floats = [_float_row(row) for row in instance.rows]
    matrix, right = np.array([row[:-1] for row in floats]), np.array([row[-1] for row in floats])
    program = highspy.HighsLp()
    program.num_col_, program.num_row_ = instance.columns, len(floats)
    program.col_cost_ = -np.array(_float_row(Row(instance.objective, 0))[:-1])
    program.col_lower_ = np.array([-np.inf if b is None else _near(b) for b in instance.lower])
    program.col_upper_ = np.array([np.inf if b is None else _near(b) for b in instance.upper])
    equations = np.array([row.is_equation for row in instance.rows])
    program.row_lower_, program.row_upper_ = np.where(equations, right, -np.inf), right
    program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    program.a_matrix_.start_ = np.concatenate(
        [[0], np.count_nonzero(matrix, axis=1).cumsum()]
    ).astype(np.int32)
    program.a_matrix_.index_ = np.nonzero(matrix)[1].astype(np.int32)
    program.a_matrix_.value_ = matrix[matrix != 0]
    solver.passModel(program)
    start = time.thread_time()
    solver.run()
    return time.thread_time() - start


def _float_row(row: Row) -> list[float]:
    """Return [a | c] divided by a power of two of the size of a; HiGHS takes 1e20 for infinity."""
    size = _size(row.coefficients)
    return [_near(entry / size) for entry in (*row.coefficients, row.right)]


def _near(number: Fraction | int) -> float:
    return float(min(max(Fraction(number), Fraction(-(10**19))), Fraction(10**19)))


# --- Part agreement -------------------------------------------------------------------------------


def agreement(count: int, seed: int) -> dict[str, Any]:
    """Examine all families in turn, and return counts for each."""
    peers = ["PPL", "cddlib" if find_spec("cdd.gmp") else "Z3"]
    sizes = [
        size for size, weight in zip(AGREEMENT_SIZES, _WEIGHTS, strict=True) for _ in range(weight)
    ]
    tallies: dict[str, Counter[str]] = {family: Counter() for family in FAMILIES}
    wrong: list[str] = []
    worker, judge = Worker(), Worker()
    names = list(FAMILIES)
    for index in range(count):
        family, turn = names[index % len(names)], index // len(names)
        m, n = sizes[Random(f"{seed} {turn} size").randrange(len(sizes))]
        instance = make(family, Random(f"{seed} {turn} {family}"), m, n)
        for question in QUESTIONS:
            label = f"make({family!r}, Random({f'{seed} {turn} {family}'!r}), {m}, {n}): {question}"
            wrong += [
                f"{label}: {text}"
                for text in _compared(worker, judge, peers, instance, question, tallies[family])
            ]
        tallies[family]["instances"] += 1
        if index % 500 == 499:
            print(f"{index + 1} instances, {len(wrong)} wrong", file=sys.stderr, flush=True)
    worker.close()
    judge.close()
    total: Counter[str] = Counter()
    for tally in tallies.values():
        total.update(tally)
    total["most pivots"] = max(tally["most pivots"] for tally in tallies.values())
    return {
        "seed": seed,
        "sizes": {
            f"{m}x{n}": weight for (m, n), weight in zip(AGREEMENT_SIZES, _WEIGHTS, strict=True)
        },
        "peers": peers,
        "disagreements and objections": len(wrong),
        "first of them": wrong[:20],
        "all families": dict(sorted(total.items())),
        "families": {family: dict(sorted(tally.items())) for family, tally in tallies.items()},
    }


def _compared(
    worker: Worker,
    judge: Worker,
    peers: list[str],
    instance: Instance,
    question: Question,
    tally: Counter[str],
) -> list[str]:
    """Return the objections to the answer to a question, and count along the way."""
    try:
        found = worker.call(_PATIENCE, examine, instance, question)
    except TimeoutError:
        tally[f"{question}: no answer in {_PATIENCE:.0f} s"] += 1
        return []
    except RuntimeError as error:
        return [str(error)]
    tally[f"{question}: {found['answer'][0]}"] += 1
    tally["guesses that needed pivots"] += found["needed pivots"] > 0
    tally["pivots"] += found["pivots"]
    tally["most pivots"] = max(tally["most pivots"], found["pivots"])
    tally["missing guesses"] += found["missing guesses"]
    wrong = list(found["objections"])
    for peer in peers:
        try:
            answer = judge.call(_COMPARISON_LIMIT, peer_answer, peer, instance, question)
        except TimeoutError:
            tally[f"{peer}: no answer in {_COMPARISON_LIMIT:.0f} s"] += 1
            continue
        except RuntimeError as error:
            tally[f"{peer}: {error}"] += 1
            continue
        tally[f"{peer}: compared"] += 1
        if answer != found["answer"]:
            wrong.append(f"{found['answer'][0]}, but {answer[0]} according to {peer}")
    return wrong


# --- Part speed -----------------------------------------------------------------------------------


class _Stopwatch:
    """Timed calls with a limit.

    A call that has reached the limit once (or twice) is not repeated, also not on larger programs.

    Attributes
    ----------
    failures
        Other failures, with their numbers.
    """

    def __init__(self, limit: float, patience: int) -> None:
        self._worker, self._limit, self._patience = Worker(), limit, patience
        self._reached: Counter[tuple[str, ...]] = Counter()
        self.failures: Counter[str] = Counter()

    def call(self, key: tuple[str, ...], function: Callable[..., Any], *arguments: Any) -> Any:
        """Return the result of a function; None if it takes too long or is not tried."""
        if self._reached[key] < self._patience:
            try:
                return self._worker.call(self._limit, function, *arguments)
            except TimeoutError:
                self._reached[key] += 1
            except RuntimeError as error:  # a crash is not a timeout
                self.failures[f"{' '.join(key)}: {error}"] += 1
        return None

    def record(self, tool: str, seconds: float | None) -> dict[str, Any]:
        """Record the seconds of a tool, or the limit if there are none."""
        if seconds is None:
            return {"tool": tool, "seconds": self._limit, "timeout": True}
        return {"tool": tool, "seconds": round(seconds, 7)}

    def close(self) -> None:
        """End the process behind."""
        self._worker.close()


def speed(seed: int) -> list[dict[str, Any]]:
    """Return one record for each size, family, question, instance and tool."""
    ours, floats, peers = _Stopwatch(_LIMIT, 2), _Stopwatch(_LIMIT, 2), _Stopwatch(_PEER_LIMIT, 1)
    records: list[dict[str, Any]] = []
    for (m, n), family, question in product(SPEED_SIZES, FAMILIES, QUESTIONS):
        for index in range(_INSTANCES):
            instance = make(family, Random(f"speed {seed} {index} {family}"), m, n)
            if question == "maximum" and all(b is None for b in instance.lower + instance.upper):
                instance = boxed(instance, 1 << 12)
            asked = with_slack(instance) if question == "interior point" else instance
            base = {"size": f"{m}x{n}", "family": family, "question": question, "index": index}
            found = ours.call((family, question), examine, instance, question)
            records.append(
                base | ours.record("polyrelu", None if found is None else found["seconds"])
            )
            if found is not None:
                records[-1]["wrong"] = found["objections"]
                if found["float seconds"]:  # small programs do without HiGHS
                    records.append(base | ours.record("its HiGHS", found["float seconds"]))
            tools = PEERS if index < _PEER_INSTANCES else PEERS[:1]
            for tool in (
                tools
                if question == "interior point"
                else [tool for tool in tools if "hedron" not in tool]
            ):
                watch = floats if tool == "HiGHS" else peers
                program = instance if tool == "PPL polyhedron" else asked
                seconds = watch.call((tool, family, question), peer_seconds, tool, program)
                records.append(base | watch.record(tool, seconds))
    for watch in (ours, floats, peers):
        watch.close()
        for failure, count in watch.failures.items():
            print(f"failed {count} times: {failure}", file=sys.stderr)
    if ours.failures:
        raise RuntimeError("polyrelu failed, see above")
    return records


def summary(records: list[dict[str, Any]], families: Iterable[str]) -> dict[str, Any]:
    """Return median and total for each question, size and tool.

    Both are also given relative to polyrelu on the same instances.
    """
    found: dict[str, Any] = {}
    chosen = [record for record in records if record["family"] in set(families)]
    own = {_place(record): record["seconds"] for record in chosen if record["tool"] == "polyrelu"}
    for question, (m, n), tool in product(
        QUESTIONS, SPEED_SIZES, ["polyrelu", "its HiGHS", *PEERS]
    ):
        size = f"{m}x{n}"
        timed = [
            r for r in chosen if (r["question"], r["size"], r["tool"]) == (question, size, tool)
        ]
        if not timed:
            continue
        seconds = [record["seconds"] for record in timed]
        beside = [own[_place(record)] for record in timed]
        found.setdefault(question, {}).setdefault(size, {})[tool] = {
            "instances": len(timed),
            "timeouts": sum("timeout" in record for record in timed),
            "wrong": sum(bool(record.get("wrong")) for record in timed),
            "median ms": round(1e3 * median(seconds), 4),
            "total s": round(sum(seconds), 4),
            "polyrelu / this, medians": round(median(beside) / median(seconds), 3),
            "polyrelu / this, totals": round(sum(beside) / sum(seconds), 3),
        }
    return found


def _medians(found: dict[str, Any]) -> dict[str, Any]:
    """Return only the medians of a summary, one line for each size."""
    return {
        f"{question}, {size}": ", ".join(
            f"{tool} {numbers['median ms']}" for tool, numbers in tools.items()
        )
        for question, sizes in found.items()
        for size, tools in sizes.items()
    }


def _place(record: dict[str, Any]) -> tuple[Any, ...]:
    return record["size"], record["family"], record["question"], record["index"]


def plot(speeds: dict[str, Any]) -> None:
    """Draw median times over the sizes, one panel for each question and kind of family."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(
        2, 2, figsize=(11, 8), sharex=True, sharey=True, layout="constrained"
    )
    sizes = [f"{m}x{n}" for m, n in SPEED_SIZES]
    for (kind, question), panel in zip(
        product(["ordinary", "adversarial"], QUESTIONS), panels.flat, strict=True
    ):
        by_size = speeds[kind][question]
        for colour, tool in enumerate(["polyrelu", "its HiGHS", *PEERS]):
            values = [by_size[size].get(tool, {}).get("median ms") for size in sizes]
            style = {"linewidth": 2.5, "zorder": 3} if tool == "polyrelu" else {"linewidth": 1.2}
            if any(value is not None for value in values):
                panel.plot(
                    sizes, values, marker="osv^dPX"[colour], color=f"C{colour}", label=tool, **style
                )
        panel.axhline(1e3 * _PEER_LIMIT, color="grey", linestyle=":", linewidth=1)
        panel.set(
            title=f"{kind} families: {question if question != 'maximum' else 'maximum in a box'}",
            yscale="log",
        )
        panel.grid(alpha=0.3)
    figure.supxlabel("rows × columns (dotted: the limit of the exact peers)")
    figure.supylabel("median CPU time of one cold program, milliseconds")
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=7)
    figure.savefig(RESULTS / "exact_lp.png", dpi=110)


# --- The script -----------------------------------------------------------------------------------


def main() -> None:
    """Run one part or both and write results/exact_lp.json and results/exact_lp.png."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=10_000, help="instances of the part agreement")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--part", choices=["agreement", "speed"])
    options = parser.parse_args()
    path = RESULTS / "exact_lp.json"
    results: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    started = time.perf_counter()
    if options.part != "speed":
        found = agreement(options.count, options.seed)
        results["agreement"] = found | {"seconds": round(time.perf_counter() - started)}
    started = time.perf_counter()
    if options.part != "agreement":
        records = speed(options.seed)
        results["speed"] = {
            "ordinary": summary(records, ORDINARY),
            "adversarial": summary(records, ADVERSARIAL),
            "median ms of families": {
                family: _medians(summary(records, [family])) for family in FAMILIES
            },
            "seconds": round(time.perf_counter() - started),
        }
        plot(results["speed"])
    write_results("exact_lp", results)


if __name__ == "__main__":
    main()
