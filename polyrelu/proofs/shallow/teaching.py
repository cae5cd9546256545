"""Few points whose values determine a network with one hidden layer, with a certificate.

As many parallel lines as inputs meet every hyperplane, each at another point and with another jump
of the slope. Two values on each piece of the first line, and on each inner piece of the others, and
one on their outer pieces, determine the function among all networks that are not wider. Proof:
docs/theory/teaching.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from random import Random
from typing import Any, NamedTuple

from polyrelu.certificate import Certificate, Hypothesis, TeachingClaim
from polyrelu.errors import NetworkError
from polyrelu.exact import RationalMatrix, dot, format_rational, rank
from polyrelu.exact.vectors import add_multiple
from polyrelu.formats import NetworkLike, as_imported
from polyrelu.network import Network
from polyrelu.outcomes import Attempt, TeachingSet, Undecided
from polyrelu.proofs.provenance import with_sources
from polyrelu.proofs.shallow.vanishing_sums import no_vanishing_sum
from polyrelu.support.arguments import expect_count
from polyrelu.support.typing import Point, Vector
from polyrelu.version import __version__

__all__ = ["teaching_set"]

_THEOREM = "parallel-lines"


@dataclass(frozen=True, slots=True)
class TeachingSettings:
    """What is tried for directions and lines.

    Attributes
    ----------
    sizes
        The largest entries of vectors of integers that are tried, one after the other.
    num_tried
        Number of vectors for each of these sizes, beyond the number of inputs.
    """

    sizes: tuple[int, ...] = (1, 2, 4, 16, 256, 2**16)
    num_tried: int = 8


_SETTINGS = TeachingSettings()


class _Lines(NamedTuple):
    """Lines start + t direction, and the places t on each of them."""

    direction: Vector
    starts: tuple[Point, ...]
    places: tuple[tuple[Fraction, ...], ...]


def teaching_set(network: NetworkLike, *, seed: int = 0) -> TeachingSet | Undecided:
    """Find points whose values determine a network among all with one hidden layer not wider.

    Parameters
    ----------
    network
        A plain network with one hidden layer and an affine output, or what `polyrelu.load` takes.
    seed
        Seed of the directions and lines that are tried; small integers first.

    Returns
    -------
    TeachingSet or Undecided
        2 n N + 2 points for N hidden neurons and n inputs, their values, and a certificate. The
        parameters are determined unless linear parts of some neurons cancel; then the function is.
        Undecided if a neuron is dead or has no output weights, if two have one hyperplane, or if
        parallel hyperplanes have equal jumps.

    Raises
    ------
    NetworkError
        The network has another shape.

    Examples
    --------
    >>> from polyrelu import from_arrays
    >>> taught = teaching_set(from_arrays([([[2]], [3]), ([[4]], [5])]))
    >>> taught.statement.split(" that ")[0]
    'Every network with one hidden layer of at most 1 neurons'
    >>> taught.points
    ((Fraction(-3, 1),), (Fraction(-2, 1),), (Fraction(-1, 1),), (Fraction(0, 1),))
    """
    imported, seed = as_imported(network), expect_count(seed, "seed")
    known = imported.network
    if not known.is_plain or len(known.widths) != 3 or known.architecture.last != "affine":
        raise NetworkError(
            f"network: expected one hidden layer and an affine output, got {known.architecture}; "
            "for more layers it is not known whether finitely many values suffice"
        )
    reason = _why_not_regular(known)
    lines = None if reason else _lines(known, Random(seed))
    if lines is None:
        reason = reason or "no lines were found that meet every hyperplane in another point"
        return Undecided(reason, (Attempt(_THEOREM, reason),))
    unique = no_vanishing_sum(_THEOREM, known, 1)
    signs = None if isinstance(unique, Attempt) else unique
    return with_sources(_taught(known, lines, signs), imported)


def _taught(known: Network, lines: _Lines, signs: dict[str, Any] | None) -> TeachingSet:
    """Return the answer with its certificate."""
    evidence: dict[str, dict[str, Any]] = {
        "lines": {
            "direction": list(map(format_rational, lines.direction)),
            "starts": [list(map(format_rational, start)) for start in lines.starts],
        },
        "jumps": {},
        "pieces": {"places": [list(map(format_rational, places)) for places in lines.places]},
    }
    if signs is not None:
        evidence["signs"] = signs
    count = sum(map(len, lines.places))
    claim = TeachingClaim(known, count, "function" if signs is None else "parameters")
    hypotheses = tuple(Hypothesis(_THEOREM, name, entry) for name, entry in evidence.items())
    certificate = Certificate(claim, _THEOREM, hypotheses, {"tool": f"polyrelu {__version__}"})
    taught = TeachingSet(certificate, *lines, values=())
    return replace(taught, values=tuple(known.evaluate(taught.points)))


def _rows(known: Network) -> list[tuple[Vector, Fraction, Vector]]:
    """Return the weights, the bias and the output weights of each neuron."""
    columns = known.weight(2).transpose().rows()
    biases = known.bias(1).entries()
    return list(zip(known.weight(1).rows(), biases, columns, strict=True))


def _why_not_regular(known: Network) -> str:
    """Return why no lines exist; empty if there are some."""
    rows = _rows(known)
    for i, (w, b, v) in enumerate(rows):
        if not any(w) or not any(v):
            part = "weights" if not any(w) else "output weights"
            return f"neuron {i} has no {part}, so that others compute the function with fewer"
        for k in range(i):
            other, c, u = rows[k]
            if rank(RationalMatrix.from_rows([(*w, b), (*other, c)])) == 1:
                return f"neurons {k} and {i} vanish on the same hyperplane"
            if rank(RationalMatrix.from_rows([w, other])) == 1:
                j = next(j for j, entry in enumerate(w) if entry)
                if _scaled(v, abs(w[j])) == _scaled(u, abs(other[j])):
                    return f"neurons {k} and {i} have parallel hyperplanes with equal jumps"
    return ""


def _lines(known: Network, rng: Random) -> _Lines | None:
    """Return lines as the theorem asks for, with short numbers."""
    size, rows = known.num_inputs, _rows(known)
    direction = next(filter(lambda d: _separates(rows, d), _vectors(size, rng)), None)
    if direction is None:
        return None
    starts, places = list[Point](), list[tuple[Fraction, ...]]()
    spanned = [direction]
    for start in _vectors(size, rng, with_zero=True):
        offsets = [start] if not starts else [add_multiple(start, starts[0], Fraction(-1))]
        if starts and rank(RationalMatrix.from_rows([*spanned, *offsets])) == len(spanned):
            continue
        crossings = sorted(-(dot(w, start) + b) / dot(w, direction) for w, b, _ in rows)
        if any(s == t for s, t in pairwise(crossings)):
            continue
        spanned += offsets if starts else []
        places.append(tuple(_places(crossings, 1 if starts else 2)))
        starts.append(start)
        if len(starts) == size:
            return _Lines(direction, tuple(starts), tuple(places))
    return None


def _vectors(size: int, rng: Random, with_zero: bool = False) -> list[Vector]:
    """Return vectors of integers, small ones first."""
    found = [(Fraction(0),) * size] if with_zero else []
    found += [tuple(Fraction(i == k) for i in range(size)) for k in range(size)]
    for entry in _SETTINGS.sizes:
        for _ in range(_SETTINGS.num_tried + size):
            found.append(tuple(Fraction(rng.randint(-entry, entry)) for _ in range(size)))
    return found if with_zero else [vector for vector in found if any(vector)]


def _separates(rows: Sequence[tuple[Vector, Fraction, Vector]], direction: Vector) -> bool:
    """Whether the jumps along a direction are different, and not 0."""
    jumps = [_scaled(v, abs(dot(w, direction))) for w, _, v in rows]
    return all(map(any, jumps)) and len(set(jumps)) == len(jumps)


def _places(breakpoints: Sequence[Fraction], outer: int) -> list[Fraction]:
    """Return two places between any two breakpoints, and `outer` before and after them."""
    first, last = -(-breakpoints[0] // 1) - 1, breakpoints[-1] // 1 + 1
    places = [Fraction(first - k) for k in reversed(range(outer))]
    for s, t in pairwise(breakpoints):
        one = _simplest(s, t)
        places += sorted((one, min(_simplest(s, one), _simplest(one, t), key=_length)))
    return [*places, *(Fraction(last + k) for k in range(outer))]


def _scaled(vector: Vector, factor: Fraction) -> Vector:
    """Return a multiple of a vector."""
    return tuple(factor * entry for entry in vector)


def _length(x: Fraction) -> int:
    """Return how many bits a fraction has."""
    return x.numerator.bit_length() + x.denominator.bit_length()


def _simplest(low: Fraction, high: Fraction) -> Fraction:
    """Return the fraction with the least denominator strictly between two numbers."""
    floor = Fraction(low // 1)
    if floor + 1 < high:
        return min(max(Fraction(0), floor + 1), Fraction(-(-high // 1) - 1))
    if low == floor:
        return floor + Fraction(1, 1 // (high - floor) + 1)
    return floor + 1 / _simplest(1 / (high - floor), 1 / (low - floor))
