"""Limits of the searches for injectivity."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["SETTINGS", "InjectivitySettings"]


@dataclass(frozen=True, slots=True)
class InjectivitySettings:
    """Limits that several modules share, or that are the only one of their module.

    Attributes
    ----------
    budget
        Default units of work of a question, about ten minutes.
    later_layer_work
        Units of work for each layer but the first one, if cells may be compared instead.
    max_dimension
        Maximum dimension of a domain whose cells are listed.
    pairs_per_report
        Number of pairs of cells between two reports of progress.
    pairs_per_task, tasks_ahead
        Number of pairs that are compared in a task, and of tasks that wait at a time.
    line_share
        Share of the price of a system of signs that a line of the local search costs.
    rounded_bits
        Bits of the length of rounded rows.
    witness_bits
        Bits after the point of coordinates that are tried in place of a longer point.
    near_bits
        The same for pairs of near points.
    bound_bits
        Bits of a bound of an inverse Lipschitz constant.
    num_halvings
        Maximum number of halvings of a step from a point inside a domain.
    max_box_dimension
        Maximum dimension of a box for kernels of a convolution.
    num_maps
        Maximum number of linear maps that are tried to make a network injective.
    largest_entry
        Largest entry of such a map, before it is scaled.
    """

    budget: float = 600_000
    later_layer_work: float = 20_000
    max_dimension: int = 6
    pairs_per_report: int = 100
    pairs_per_task: int = 64
    tasks_ahead: int = 32
    line_share: float = 0.25
    rounded_bits: int = 20
    witness_bits: tuple[int, ...] = (0, 1, 2, 4, 8, 16, 32)
    near_bits: tuple[int, ...] = (2, 6, 12, 20, 30, 44)
    bound_bits: int = 44
    num_halvings: int = 200
    max_box_dimension: int = 24
    num_maps: int = 5
    largest_entry: int = 1_000


SETTINGS = InjectivitySettings()
