"""Square integer systems, solved exactly in steps that are short enough for Ctrl-C.

FLINT solves systems of moderate size in one call. That call ignores signals and takes minutes at a
thousand unknowns, so that larger systems are solved here by Dixon's (1982) p-adic lifting,
DOI 10.1007/BF01459082. Whatever the lifting proposes is compared with the system before it is
returned.

The solution is computed digit by digit in base p: x ≡ x_0 + x_1 p + … modulo a growing power of p,
where each digit takes one product modulo p. At growing numbers of digits a rational vector is
reconstructed and accepted if it satisfies the system. To stop at the first such vector is also
faster than to continue up to the a-priori bound on the number of digits.
"""

from __future__ import annotations

from dataclasses import dataclass

from flint import fmpq_mat, fmpz, fmpz_mat, nmod_mat

__all__ = ["SETTINGS", "DixonSettings", "solve_integer"]


@dataclass(frozen=True, slots=True)
class DixonSettings:
    """When systems are lifted, and how.

    Attributes
    ----------
    flint_work
        Maximum estimated work of FLINT's own solver, in units of about a second; it is two to three
        times as fast as lifting, but cannot be interrupted. Both give the same solution.
    flint_unknowns
        Maximum number of unknowns for which FLINT is used without an estimate, which would cost as
        much as the solution.
    primes
        Primes to try in turn, since the matrix may be singular modulo one of them.
    first_digits
        Number of digits before the first reconstruction.
    """

    flint_work: float = 0.25
    flint_unknowns: int = 12
    primes: tuple[int, ...] = (2**61 - 1, 2**63 - 25, 2**62 - 57, 2**31 - 1)
    first_digits: int = 16


SETTINGS = DixonSettings()


def solve_integer(matrix: fmpz_mat, right: fmpz_mat) -> tuple[fmpz_mat, fmpz]:
    """Solve matrix · X = d · right for X and d > 0.

    Parameters
    ----------
    matrix
        A square integer matrix, shape (k, k).
    right
        The right-hand sides, shape (k, c) with c ≥ 1.

    Returns
    -------
    tuple of fmpz_mat and fmpz
        X, shape (k, c), and d.

    Raises
    ------
    ZeroDivisionError
        The matrix is singular.
    """
    if matrix.nrows() > SETTINGS.flint_unknowns and _estimate(matrix) > SETTINGS.flint_work:
        for prime in SETTINGS.primes:
            modular = nmod_mat(matrix, prime)
            if modular.rank() == matrix.nrows():
                return _lift(matrix, right, modular.inv(), prime)
    # The stubs declare the base class of what FLINT returns.
    quotient: fmpq_mat = matrix.solve(right)  # type: ignore[assignment]
    return quotient.numer_denom()


def _estimate(matrix: fmpz_mat) -> float:
    """Estimate FLINT's work from sizes: digits × entries × words, fitted to seconds once."""
    size = matrix.nrows()
    bits = max(entry.bit_length() for entry in matrix.entries())
    return 6e-9 * size**2 * (2 * size * bits / 61) * (bits / 64 + 1)


def _lift(
    matrix: fmpz_mat, right: fmpz_mat, inverse: nmod_mat, prime: int
) -> tuple[fmpz_mat, fmpz]:
    """Solve by lifting, given the inverse of the matrix modulo the prime."""
    size, columns = right.nrows(), right.ncols()
    residue, solution, power = right, fmpz_mat(size, columns), fmpz(1)
    digits, goal = 0, SETTINGS.first_digits
    while True:
        digit = _lifted(inverse * nmod_mat(residue, prime), prime)
        solution = solution + digit * power
        residue = fmpz_mat(
            size, columns, [entry // prime for entry in (residue - matrix * digit).entries()]
        )
        power *= prime
        digits += 1
        if digits == goal:
            candidate = _reconstructed(solution, power)
            if candidate is not None and matrix * candidate[0] == right * candidate[1]:
                return candidate
            goal = goal + goal // 2


def _lifted(matrix: nmod_mat, prime: int) -> fmpz_mat:
    """Return the residues between -p/2 and p/2, which save half a digit for small solutions."""
    half = prime // 2
    entries = [int(entry) for entry in matrix.entries()]
    return fmpz_mat(matrix.nrows(), matrix.ncols(), [e - prime if e > half else e for e in entries])


def _reconstructed(residues: fmpz_mat, modulus: fmpz) -> tuple[fmpz_mat, fmpz] | None:
    """Find small numerators over a common denominator with the given residues, or None."""
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
    """Return the representative between -modulus/2 and modulus/2."""
    residue = number % modulus
    return residue - modulus if 2 * residue > modulus else residue


def _denominator(residue: fmpz, modulus: fmpz, bound: fmpz) -> fmpz | None:
    """Find the denominator q of p/q ≡ residue, |p|, q ≤ bound, by Euclid's algorithm; or None."""
    previous, current = modulus, residue
    before, factor = fmpz(0), fmpz(1)
    while current > bound:
        quotient, remainder = divmod(previous, current)
        previous, current = current, remainder
        before, factor = factor, before - quotient * factor
    size = abs(factor)
    return size if size <= bound else None
