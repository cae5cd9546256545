"""Exact numbers, linear algebra, linear programs and polyhedra.

This is the only room that imports FLINT, PPL or an LP solver. Scalars enter through `to_fraction`
and float arrays through `RationalMatrix.from_array`, both exactly. The other rooms receive
`fractions.Fraction`, Python integers and `RationalMatrix`, never a FLINT object: `fmpq(1, 2) ==
Fraction(1, 2)` is False although the hashes agree, and FLINT matrices are mutable.
"""

from polyrelu.exact.any_matrix import (
    AnyMatrix,
    add,
    as_dense,
    as_sparse,
    canonical,
    multiply,
    num_products,
    num_stored,
    stack,
    take_rows,
)
from polyrelu.exact.floats import (
    UNDECIDED,
    as_float,
    expect_rounding_to_nearest,
    nearest_float,
    nearest_vector,
)
from polyrelu.exact.lattices import binary_solution
from polyrelu.exact.linalg import (
    column_basis,
    determinant,
    kernel,
    left_kernel,
    rank,
    row_basis,
    solve,
    solve_integers,
)
from polyrelu.exact.lp import (
    Dependence,
    ElasticProgram,
    FlatSet,
    Infeasible,
    InteriorPoint,
    LinearProgram,
    Multipliers,
    Optimal,
    SignSystem,
    Unbounded,
)
from polyrelu.exact.matrix import RationalMatrix, integer_product
from polyrelu.exact.modular import (
    PRIMES,
    Minor,
    eliminate_mod,
    float_prime,
    independent_entries,
    nonzero_minor,
    rank_mod,
)
from polyrelu.exact.polyhedron import Generators, Polyhedron
from polyrelu.exact.predicates import dot_sign, meeting_direction
from polyrelu.exact.rational import (
    Rational,
    decimal_above,
    decimal_below,
    format_integer,
    format_rational,
    parse_rational,
    primitive,
    to_fraction,
)
from polyrelu.exact.redundancy import irredundant_rows, positive_primitive
from polyrelu.exact.rounding import FLOAT32, FLOAT64, FloatFormat, exact_root, inverse_root
from polyrelu.exact.sparse import SparseMatrix
from polyrelu.exact.subset_sum import SubsetSumSearch, vanishing_subset
from polyrelu.exact.vectors import dot

__all__ = [
    "FLOAT32",
    "FLOAT64",
    "PRIMES",
    "UNDECIDED",
    "AnyMatrix",
    "Dependence",
    "ElasticProgram",
    "FlatSet",
    "FloatFormat",
    "Generators",
    "Infeasible",
    "InteriorPoint",
    "LinearProgram",
    "Minor",
    "Multipliers",
    "Optimal",
    "Polyhedron",
    "Rational",
    "RationalMatrix",
    "SignSystem",
    "SparseMatrix",
    "SubsetSumSearch",
    "Unbounded",
    "add",
    "as_dense",
    "as_float",
    "as_sparse",
    "binary_solution",
    "canonical",
    "column_basis",
    "decimal_above",
    "decimal_below",
    "determinant",
    "dot",
    "dot_sign",
    "eliminate_mod",
    "exact_root",
    "expect_rounding_to_nearest",
    "float_prime",
    "format_integer",
    "format_rational",
    "independent_entries",
    "integer_product",
    "inverse_root",
    "irredundant_rows",
    "kernel",
    "left_kernel",
    "meeting_direction",
    "multiply",
    "nearest_float",
    "nearest_vector",
    "nonzero_minor",
    "num_products",
    "num_stored",
    "parse_rational",
    "positive_primitive",
    "primitive",
    "rank",
    "rank_mod",
    "row_basis",
    "solve",
    "solve_integers",
    "stack",
    "take_rows",
    "to_fraction",
    "vanishing_subset",
]
