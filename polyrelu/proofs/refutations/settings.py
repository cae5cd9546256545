"""The constants of the searches for other networks with the same function.

`SETTINGS` is the one instance; sampled candidates and one-sided refutations have settings of their
own. No constant here bears on whether a network has the same function: that is decided afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["SETTINGS", "RefutationSettings"]


@dataclass(frozen=True, slots=True)
class RefutationSettings:
    """Limits of the searches.

    Attributes
    ----------
    num_shifts
        Number of shifts that are tried for each hidden neuron.
    num_variants
        Number of other networks for each neuron that is dead or linear by the signs of its row.
    num_box_variants
        Number of other networks for each neuron that is dead or linear on the box.
    max_mixed_pairs
        Maximum number of pairs of linear neurons of one layer that are mixed.
    max_fiber_width
        Maximum number of neurons of a layer whose fiber is computed.
    max_fiber_components
        Maximum number of components that are tried in the fiber of one layer.
    max_program_entries
        Maximum number of entries of the table of an exact linear program.
    max_basis_entries
        Maximum number of entries of W[1] for which a basis of its columns is computed, so that
        linear programs need not look at the other inputs.
    max_sparse_entries
        Maximum number of entries, without zeros, of a larger program that is first solved in
        floats, to find the unknowns that an exact program needs.
    max_sparse_iterations
        Maximum number of iterations of the simplex method in floats for such a program.
    close
        A bound in floats above minus this share of the form's longest coefficient may be
        nonnegative, and is computed exactly.
    max_pivot_rows
        Maximum number of rows of a linear program times exact pivots: a pivot takes time with the
        rows, and programs whose float basis needs many of them took minutes.
    """

    num_shifts: int = 6
    num_variants: int = 6
    num_box_variants: int = 2
    max_mixed_pairs: int = 8
    max_fiber_width: int = 6
    max_fiber_components: int = 400
    max_program_entries: int = 5_000_000
    max_basis_entries: int = 1_000_000
    max_sparse_entries: int = 1_500_000
    max_sparse_iterations: int = 5_000
    close: float = 1e-7
    max_pivot_rows: int = 100_000


#: The settings of every search.
SETTINGS = RefutationSettings()
