"""Decisions of random pairs of classifiers against a look at all regions of both networks."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest

from polyrelu import Network, check_file, from_arrays, same_decisions
from polyrelu.certificate import Choice
from polyrelu.formats import read_vnnlib
from polyrelu.outcomes import DecisionsOutcome, DifferentDecisions, SameDecisions
from tests.generators.campaigns import case, few_and_all, few_some_and_all
from tests.oracles.queries import has_solution


def random_pair(rng: Random, num_outputs: int, num_inputs: int = 1) -> tuple[Network, Network]:
    """A network and a copy with a few other numbers in its last layer."""
    widths = [num_inputs, *(rng.randint(1, 3) for _ in range(rng.randint(0, 2))), num_outputs]
    layers: list[tuple[list[list[int]], list[int]]] = [
        (
            [[rng.randint(-3, 3) for _ in range(n)] for _ in range(m)],
            [rng.randint(-3, 3) for _ in range(m)],
        )
        for n, m in pairwise(widths)
    ]
    rows, bias = layers[-1]
    steps = [Fraction(0), Fraction(1, 3), Fraction(-1), Fraction(-3)]
    moved = [b + rng.choice(steps) for b in bias]
    factor = rng.choice([1, 1, 2])
    changed = [[factor * x for x in row] for row in rows], [factor * b for b in moved]
    return from_arrays(layers), from_arrays([*layers[:-1], changed])


def differs(pair: tuple[Network, Network], margin: int, choose: Choice, folder: Path) -> bool:
    """Whether the decisions differ on the box from -2 to 2, asked as a query."""
    num_inputs, num_outputs, cases = pair[0].num_inputs, pair[0].num_outputs, ""
    ahead, behind = ("- {0} {1}", ">=") if choose == "largest" else ("- {1} {0}", "<=")
    for i in range(num_outputs):
        others = [k for k in range(num_outputs) if k != i]
        leads = [ahead.format(f"P[{i}]", f"P[{k}]") for k in others]
        clear = " ".join(f"(> ({lead}) {margin})" for lead in leads)
        cases += "".join(f"(and {clear} ({behind} Q[{j}] Q[{i}]))" for j in others)
    path = folder / "query.vnnlib"
    path.write_text(
        "(vnnlib-version <2.0>)"
        + "".join(
            f"(declare-network {name} (declare-input {x} real [{num_inputs}])"
            f"(declare-output {y} real [{num_outputs}]))"
            for name, x, y in (("f", "A", "P"), ("g", "B", "Q"))
        )
        + "".join(
            f"(assert (== A[{i}] B[{i}])) (assert (and (>= A[{i}] -2) (<= A[{i}] 2)))"
            for i in range(num_inputs)
        )
        + f"(assert (or {cases}))"
    )
    return has_solution(read_vnnlib(path), pair)


@pytest.mark.parametrize("seeds", few_some_and_all(range(20), range(50), range(100)))
def test_random_classifiers(seeds: range, tmp_path: Path) -> None:
    answers, path = Counter[str](), tmp_path / "proof.cert"
    for seed in seeds:
        with case(seed):
            rng = Random(seed)
            num_outputs, margin = rng.randint(2, 3), rng.choice([0, 0, 1, 3])
            pair = random_pair(rng, num_outputs)
            choose: Choice = "largest" if seed % 2 else "smallest"
            outcome = same_decisions(*pair, "box:-2,2", margin=margin, choose=choose, budget=1_000)
            expected = differs(pair, margin, choose, tmp_path)
            answers[outcome.status] += 1
            check_outcome(outcome, expected, margin, choose, path)
    assert min(answers["proved"], answers["refuted"]) > len(seeds) / 10
    assert answers["undecided"] <= len(seeds) / 5


def check_outcome(
    outcome: DecisionsOutcome, expected: bool, margin: int, choose: Choice, path: Path
) -> None:
    """A proof is of a true claim, and accepted; at a point, the decisions differ."""
    if isinstance(outcome, SameDecisions):
        assert not expected
        outcome.save(path)
        report = check_file(path)
        assert report.verdict == "accepted"
        is_about_classes = report.theorem == "same-decisions"  # and not about one function
        says_smaller = "is smaller than all others" in report.statement
        assert says_smaller == (is_about_classes and choose == "smallest")
    elif isinstance(outcome, DifferentDecisions):
        sign = -1 if choose == "smallest" else 1
        f, g = ([sign * y for y in values] for values in (outcome.witness.f, outcome.witness.g))
        assert expected
        assert outcome.first_best == (f.index(max(f)),)
        assert outcome.second_best != outcome.first_best
        assert outcome.second_best == tuple(i for i, y in enumerate(g) if y == max(g))
        assert outcome.lead == sorted(f)[-1] - sorted(f)[-2] > margin


def multiple(network: Network, factor: Fraction, rng: Random) -> Network:
    """Permuted and scaled, the outputs times a factor and plus one more affine function of them."""
    layers = [(layer.weight.rows(), list(layer.bias.entries())) for layer in network.layers]
    for number in range(len(layers) - 1):
        (rows, bias), (after, last) = layers[number : number + 2]
        order = rng.sample(range(len(bias)), len(bias))
        scales = [Fraction(rng.randint(1, 5), rng.randint(1, 5)) for _ in order]
        moved = [tuple(s * x for x in rows[i]) for i, s in zip(order, scales, strict=True)]
        layers[number] = moved, [s * bias[i] for i, s in zip(order, scales, strict=True)]
        read = [tuple(row[i] / s for i, s in zip(order, scales, strict=True)) for row in after]
        layers[number + 1] = read, last
    rows, bias = layers[-1]
    means = [sum(column, Fraction(0)) / 7 for column in zip(*rows, strict=True)]
    layers[-1] = (
        [tuple(factor * x + m for x, m in zip(row, means, strict=True)) for row in rows],
        [factor * b - 3 for b in bias],
    )
    return from_arrays(layers)


@pytest.mark.parametrize("seeds", few_some_and_all(range(10), range(50), range(100)))
def test_multiples_of_differences(seeds: range, tmp_path: Path) -> None:
    """Outputs may be multiplied by a positive number, and one function be added to all of them."""
    answers, path = Counter[str](), tmp_path / "proof.cert"
    for seed in seeds:
        with case(seed):
            rng = Random(seed)
            first, _ = random_pair(rng, rng.randint(2, 4), rng.randint(1, 4))
            factor = Fraction(rng.randint(1, 9), rng.randint(1, 9))
            domain = rng.choice([None, "box:-2,2"])
            choose: Choice = rng.choice(("largest", "smallest"))
            outcome = same_decisions(first, multiple(first, factor, rng), domain, choose=choose)
            answers[outcome.status] += 1
            assert isinstance(outcome, SameDecisions)
            values = (first([x] * first.num_inputs) for x in (-2, -1, 0, 1, 2))
            seen = {tuple(value - f[0] for value in f) for f in values}
            is_varied = len(seen) > 1
            assert outcome.factor == factor or not is_varied
            text = " ".join(str(outcome).split())
            assert f"by {factor} times as much as" in text or factor == 1 or not is_varied
            outcome.save(path)
            assert check_file(path).verdict == "accepted"
            if not is_varied:
                continue
            # The opposite of all differences, and a multiple that is wrong for one output.
            negative = same_decisions(first, multiple(first, -factor, rng), "box:-2,2", budget=300)
            assert not isinstance(negative, SameDecisions) or negative.factor is None
            last = first.layers[-1].bias.entries()
            moved = [b + Fraction(k == 1, 9) for k, b in enumerate(last)]
            layers = [(layer.weight.rows(), layer.bias.entries()) for layer in first.layers[:-1]]
            other = from_arrays([*layers, (first.layers[-1].weight.rows(), moved)])
            close = same_decisions(first, multiple(other, factor, rng), "box:-2,2", budget=300)
            assert not isinstance(close, SameDecisions) or close.factor is None
    assert answers["proved"] == len(seeds)


@pytest.mark.parametrize("seeds", few_and_all(range(16), range(26)))
def test_four_inputs_without_margin(seeds: range, tmp_path: Path) -> None:
    """Strict inequalities on all regions of both networks; ties are on many of their faces."""
    answers, path = Counter[tuple[str, bool]](), tmp_path / "proof.cert"
    for seed in seeds:
        with case(seed):
            rng = Random(seed)
            pair = random_pair(rng, 2 + seed % 2, 4)
            choose: Choice = rng.choice(("largest", "smallest"))
            outcome = same_decisions(*pair, "box:-2,2", choose=choose, budget=500)
            expected = differs(pair, 0, choose, tmp_path)
            answers[outcome.status, expected] += 1
            check_outcome(outcome, expected, 0, choose, path)
    assert not answers["undecided", True]
    assert sum(n for (_, expected), n in answers.items() if expected) > len(seeds) / 4


#: The first network decides at (c, c, c, c) by 4 c, the least value of its difference, which is the
#: sum of four neurons; the one of the second network is smaller by a number.
CORNER = Fraction(1, 1000)


def pair_at_a_corner(less: Fraction, sign: int) -> tuple[Network, Network]:
    """The difference of outputs is Σ max(x_i, 0), and this minus a number."""
    first = [[int(i == j) for j in range(4)] for i in range(4)], [0] * 4
    rows = [[sign] * 4, [0] * 4]
    return from_arrays([first, (rows, [0, 0])]), from_arrays([first, (rows, [-sign * less, 0])])


@pytest.mark.parametrize("choose", ["largest", "smallest"])
def test_a_tie_at_one_corner_of_the_domain(choose: Choice, tmp_path: Path) -> None:
    sign, tiny, domain = 1 if choose == "largest" else -1, CORNER / 10**6, "box:1/1000,1"
    above = same_decisions(
        *pair_at_a_corner(4 * CORNER - tiny, sign), domain, choose=choose, budget=3_000
    )
    assert above.status == "proved"
    check_outcome(above, False, 0, choose, tmp_path / "above.cert")
    at = same_decisions(*pair_at_a_corner(4 * CORNER, sign), domain, choose=choose)
    assert isinstance(at, DifferentDecisions)
    assert (at.witness.x, at.second_best) == ((CORNER,) * 4, (0, 1))
    assert at.lead == 4 * CORNER
    below = same_decisions(*pair_at_a_corner(4 * CORNER + tiny, sign), domain, choose=choose)
    assert isinstance(below, DifferentDecisions)
    assert (below.witness.x, below.second_best) == ((CORNER,) * 4, (1,))


@pytest.mark.parametrize(("choose", "domain"), [("largest", "box:0,1"), ("smallest", "box:-1,1")])
def test_ties_of_both_networks_at_the_same_points(choose: Choice, domain: str) -> None:
    """The claim is true, no certificate shows it, and a margin makes it provable.

    The difference of outputs is Σ max(x_i, 0), and Σ (i + 1) max(x_i, 0), which is no multiple.
    """
    sign = 1 if choose == "largest" else -1
    first, _ = pair_at_a_corner(Fraction(0), sign)
    hidden = first.layers[0].weight.rows(), first.layers[0].bias.entries()
    pair = first, from_arrays([hidden, ([[sign * (i + 1) for i in range(4)], [0] * 4], [0, 0])])
    outcome = same_decisions(*pair, domain, choose=choose, budget=500)
    assert outcome.status == "undecided"
    assert "activation regions has a counterexample" in outcome.statement
    (step,) = outcome.next
    options = dict(zip(step.command[3::2], step.command[4::2], strict=True))
    assert options.pop("--choose", "largest") == choose
    clear = same_decisions(*pair, domain, choose=choose, margin=options.pop("--margin"), budget=500)
    assert clear.status == "proved"
    assert not options
