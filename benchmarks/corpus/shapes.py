"""Functions whose level sets have a known topology."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from benchmarks.corpus.specimen import Pair, Specimen, layered

__all__ = ["shapes"]

_HALF = Fraction(1, 2)


def shapes() -> Iterator[Specimen]:
    """Yield the networks; their levels are the interesting ones."""
    for name, layers, sentence, level, reach in _SHAPES:
        yield Specimen(
            f"topology-{name}",
            "topology",
            layered(*layers),
            sentence,
            box=(Fraction(-reach), Fraction(reach)),
            levels=(Fraction(level),),
        )


def _absolutes(size: int) -> Pair:
    """Return σ(x_i), σ(-x_i) for all inputs."""
    rows = [[sign * int(i == j) for j in range(size)] for i in range(size) for sign in (1, -1)]
    return rows, [0] * (2 * size)


_FOUR, _SIX = [1, 1, 1, 1], [1, 1, 1, 1, 1, 1]

_SHAPES: tuple[tuple[str, list[Pair], str, int | Fraction, int], ...] = (
    (
        "disc",
        [_absolutes(2), ([_FOUR], [0])],
        "|x| + |y|: a disc, bounded by a circle.",
        1,
        2,
    ),
    (
        "annulus",
        [_absolutes(2), ([_FOUR, [-x for x in _FOUR]], [-2, 2]), ([[1, 1]], [0])],
        "||x| + |y| - 2|: an annulus, bounded by two circles.",
        _HALF,
        3,
    ),
    (
        "two-discs",
        [
            _absolutes(2),
            ([[1, 1, 0, 0], [-1, -1, 0, 0], [0, 0, 1, 1]], [-1, 1, 0]),
            ([[1, 1, 1]], [0]),
        ],
        "||x| - 1| + |y|: two discs.",
        _HALF,
        2,
    ),
    (
        "four-discs",
        [
            _absolutes(2),
            (
                [[1, 1, 0, 0], [-1, -1, 0, 0], [0, 0, 1, 1], [0, 0, -1, -1]],
                [-1, 1, -1, 1],
            ),
            ([[1, 1, 1, 1]], [0]),
        ],
        "||x| - 1| + ||y| - 1|: four discs.",
        _HALF,
        2,
    ),
    (
        "touching-discs",
        [
            _absolutes(2),
            ([[1, 1, 0, 0], [-1, -1, 0, 0], [0, 0, 1, 1]], [-1, 1, 0]),
            ([[1, 1, 1]], [0]),
        ],
        "||x| - 1| + |y| at a critical level: two discs that touch in one point.",
        1,
        2,
    ),
    (
        "cross",
        [([[1, 0], [-1, 0], [0, 1], [0, -1]], [0] * 4), ([[1, 1, -1, -1]], [0])],
        "|x| - |y|: the level 0 is two lines that cross.",
        0,
        2,
    ),
    (
        "ball",
        [_absolutes(3), ([_SIX], [0])],
        "|x| + |y| + |z|: a ball, bounded by a sphere.",
        1,
        2,
    ),
    (
        "shell",
        [_absolutes(3), ([_SIX, [-x for x in _SIX]], [-2, 2]), ([[1, 1]], [0])],
        "||x| + |y| + |z| - 2|: a thick sphere, bounded by two spheres.",
        _HALF,
        3,
    ),
    (
        "torus",
        [
            _absolutes(3),
            (
                [[1, 1, 1, 1, 0, 0], [-1, -1, -1, -1, 0, 0], [0, 0, 0, 0, 1, 1]],
                [-2, 2, 0],
            ),
            ([[1, 1, 1]], [0]),
        ],
        "||x| + |y| - 2| + |z|: a solid torus, bounded by a torus.",
        1,
        4,
    ),
    (
        "plateau",
        [_absolutes(2), ([_FOUR], [-1]), ([[1]], [0])],
        "σ(|x| + |y| - 1): the level 0 is a disc, not a curve.",
        0,
        2,
    ),
)
