"""Points with prescribed signs, and dependences that exclude them."""

from __future__ import annotations

import random

import pytest

from polyrelu import ArgumentError
from polyrelu.exact import Dependence, SignSystem, dot


def assert_proved(rows: list[list[int]], signs: list[int], found: object) -> bool:
    """Whether there is a point; in any case what was found is verified."""
    if isinstance(found, Dependence):
        multipliers = found.multipliers
        assert multipliers
        assert all(signs[i] and value > 0 for i, value in multipliers.items())
        for column in range(len(rows[0])):
            assert not sum(value * signs[i] * rows[i][column] for i, value in multipliers.items())
        return False
    assert isinstance(found, tuple)
    assert all(sign * dot(row, found) > 0 for row, sign in zip(rows, signs, strict=True) if sign)
    return True


@pytest.mark.parametrize("size", [1, 10**6, 10**40])
def test_random_systems(size: int) -> None:
    """Both answers occur, and each is proved; rows repeat, are opposite, zero, or very long."""
    chance, answers = random.Random(size), list[bool]()
    for _ in range(40):
        dimension, count = chance.randint(1, 4), chance.randint(1, 9)
        rows = [[chance.randint(-size, size) for _ in range(dimension)] for _ in range(count)]
        rows[-1] = [chance.choice([-2, 0, 1]) * entry for entry in rows[0]]
        system = SignSystem(rows)
        for _ in range(3):
            signs = [chance.choice([-1, 1, 1, 0]) for _ in rows]
            answers.append(assert_proved(rows, signs, system.solve(signs)))
    assert {*answers} == {True, False}


def test_a_dependence_avoids_costly_rows() -> None:
    """x > 0 contradicts -x > 0 as well as y > 0 with -x - y > 0."""
    rows = [[1, 0], [-1, 0], [0, 1], [-1, -1]]
    system = SignSystem(rows)
    cheap = system.solve([1, 1, 1, 1], [False, True, False, False])
    other = system.solve([1, 1, 1, 1], [False, False, True, False])
    assert isinstance(cheap, Dependence)
    assert isinstance(other, Dependence)
    assert (cheap.multipliers, other.multipliers) == ({0: 1, 2: 1, 3: 1}, {0: 1, 1: 1})


def test_a_wrong_guess_is_repaired(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever floats propose, the answer is proved; here they propose nothing, or everything."""
    rows = [[1, 0], [0, 1], [-1, -1], [1, 1], [2, 1]]
    for guess in ([], [[0, 1]], [[0, 1, 2, 3, 4]]):
        monkeypatch.setattr(SignSystem, "_guesses", lambda *_, guess=guess: guess)
        assert not assert_proved(rows, [1] * 5, SignSystem(rows).solve([1] * 5))
        assert assert_proved(rows, [1, 1, 0, 1, 1], SignSystem(rows).solve([1, 1, 0, 1, 1]))


def test_wrong_arguments() -> None:
    with pytest.raises(ArgumentError, match="rows: expected rows of equally many integers"):
        SignSystem([])
    with pytest.raises(ArgumentError, match="signs: expected 1 of them"):
        SignSystem([[1, 2]]).solve([1, 1])
