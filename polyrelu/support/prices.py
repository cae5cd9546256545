"""What operations cost, in the units of `Budget`: about a millisecond each on a processor of 2020.

Prices depend on sizes only. They are estimates of times, and need not be good ones: what matters is
that they are the same everywhere. A change of a price changes the answers that a budget leads to.
The page docs/how-to/budgets.md has the same table.
"""

from __future__ import annotations

__all__ = [
    "price_of_assignment",
    "price_of_cell",
    "price_of_evaluation",
    "price_of_node",
    "price_of_program",
    "price_of_ray",
]


def price_of_assignment(num_hyperplanes: int) -> float:
    """Return the price of a look at one assignment of neurons to hyperplanes.

    >>> price_of_assignment(10)
    3.0
    """
    return 1 + num_hyperplanes**3 / 500


def price_of_program(num_rows: int, num_columns: int, bits: int = 0) -> float:
    """Return the price of an exact linear program with numbers of these bits.

    Numbers of ordinary floats have less than 256 bits; longer ones cost the square of their length.

    >>> price_of_program(100, 40), price_of_program(100, 40, 2560)
    (4.5, 450.0)
    """
    return (0.5 + num_rows * num_columns / 1000) * max(1.0, (bits / 256) ** 2)


def price_of_cell(num_parameters: int) -> float:
    """Return the price of a cell on a walk along a bent hyperplane.

    >>> price_of_cell(10_000)
    0.4
    """
    return 0.3 + num_parameters / 100_000


def price_of_ray(num_parameters: int) -> float:
    """Return the price of a search for a zero of a neuron, along rays from a point.

    >>> price_of_ray(10_000)
    16.0
    """
    return 40 * price_of_cell(num_parameters)


def price_of_evaluation(num_ridges: int) -> float:
    """Return the price of an evaluation of the hypotheses of Theorem D at some ridges.

    >>> price_of_evaluation(5_000)
    151.0
    """
    return 1 + num_ridges * 0.03


def price_of_node(num_terms: int, dimension: int) -> float:
    """Return the price of a look at the terms of a node of a split tree.

    >>> price_of_node(50, 8)
    1.4
    """
    return 1 + num_terms * dimension / 1000
