"""Square integer systems, solved exactly in steps that are short enough for Ctrl-C.

FLINT solves systems of moderate size in one call. That call ignores signals and takes minutes at a thousand unknowns,
so larger systems are lifted here, digit by digit in base p (Dixon's method): x ≡ x_0 + x_1 p + … modulo a growing
power of p, each digit one product modulo p. Now and then a rational vector is read off and believed only if it
satisfies the system. Stopping at the first that does is also faster than going on to the a-priori bound.
"""

from __future__ import annotations

from flint import fmpq_mat, fmpz, fmpz_mat, nmod_mat

__all__ = ["solve_integer"]

#: FLINT's own solver, two to three times as fast, is used where it takes less than about this many seconds.
_PATIENCE = 0.25
_SMALL = 12  # with so few unknowns the estimate would cost as much as the solution
_PRIMES = (2**61 - 1, 2**63 - 25, 2**62 - 57, 2**31 - 1)
_FIRST_DIGITS = 16


def solve_integer(matrix: fmpz_mat, right: fmpz_mat) -> tuple[fmpz_mat, fmpz]:
    """X and d > 0 with matrix · X = d · right.

    Parameters
    ----------
    matrix, right : shapes (k, k) and (k, c), c ≥ 1.

    Raises
    ------
    ZeroDivisionError : the matrix is singular.
    """
    if matrix.nrows() > _SMALL and _estimate(matrix) > _PATIENCE:
        for prime in _PRIMES:
            modular = nmod_mat(matrix, prime)
            if modular.rank() == matrix.nrows():
                return _lift(matrix, right, modular.inv(), prime)
    quotient: fmpq_mat = matrix.solve(right)  # type: ignore[assignment]  # the stubs name the base class
    return quotient.numer_denom()


def _estimate(matrix: fmpz_mat) -> float:
    """The seconds that FLINT takes, roughly: digits × entries × words, fitted on a current machine."""
    size = matrix.nrows()
    bits = max(entry.bit_length() for entry in matrix.entries())
    return 6e-9 * size**2 * (2 * size * bits / 61) * (bits / 64 + 1)


def _lift(
    matrix: fmpz_mat, right: fmpz_mat, inverse: nmod_mat, prime: int
) -> tuple[fmpz_mat, fmpz]:
    size, columns = right.nrows(), right.ncols()
    residue, sum_, power = right, fmpz_mat(size, columns), fmpz(1)
    digits, goal = 0, _FIRST_DIGITS
    while True:
        digit = _lifted(inverse * nmod_mat(residue, prime), prime)
        sum_ = sum_ + digit * power
        residue = fmpz_mat(
            size, columns, [entry // prime for entry in (residue - matrix * digit).entries()]
        )
        power *= prime
        digits += 1
        if digits == goal:
            candidate = _reconstructed(sum_, power)
            if candidate is not None and matrix * candidate[0] == right * candidate[1]:
                return candidate
            goal = goal + goal // 2


def _lifted(matrix: nmod_mat, prime: int) -> fmpz_mat:
    """The representatives between -p/2 and p/2: half a digit less to compute for small solutions."""
    half = prime // 2
    entries = [int(entry) for entry in matrix.entries()]
    return fmpz_mat(matrix.nrows(), matrix.ncols(), [e - prime if e > half else e for e in entries])


def _reconstructed(residues: fmpz_mat, modulus: fmpz) -> tuple[fmpz_mat, fmpz] | None:
    """Numerators over a common denominator with the given residues, all of them small; None if there are none."""
    bound = (modulus // 2).isqrt()
    denominator = fmpz(1)
    entries = residues.entries()
    for entry in entries:
        numerator = _centred(entry * denominator, modulus)
        if abs(numerator) > bound:
            factor = _denominator(numerator % modulus, modulus, bound)
            if factor is None or factor * denominator > bound:
                return None
            denominator *= factor
    numerators = [_centred(entry * denominator, modulus) for entry in entries]
    if any(abs(numerator) > bound for numerator in numerators):
        return None
    return fmpz_mat(residues.nrows(), residues.ncols(), numerators), denominator


def _centred(number: fmpz, modulus: fmpz) -> fmpz:
    rest = number % modulus
    return rest - modulus if 2 * rest > modulus else rest


def _denominator(residue: fmpz, modulus: fmpz, bound: fmpz) -> fmpz | None:
    """The denominator q of the rational p/q ≡ residue with |p|, q ≤ bound, by Euclid's algorithm."""
    previous, current = modulus, residue
    before, factor = fmpz(0), fmpz(1)
    while current > bound:
        quotient, rest = divmod(previous, current)
        previous, current = current, rest
        before, factor = factor, before - quotient * factor
    size = abs(factor)
    return size if size <= bound else None
