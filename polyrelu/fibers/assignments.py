"""Which neurons of a layer have which role in a component of its fiber: types, and lists of all.

`polyrelu.fibers.layer` defines the roles.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from polyrelu.support.display import bracketed

__all__ = ["NeuronAssignment", "distributions", "is_mixed", "other_roles", "sorted_groups"]

#: Maximum number of hyperplanes that the description of an assignment mentions.
_MAX_LABELLED = 16


@dataclass(frozen=True, slots=True, repr=False)
class NeuronAssignment:
    """The numbers of neurons of a layer in each role.

    Attributes
    ----------
    visible
        For each visible hyperplane the number of neurons with its orientation, whose first nonzero
        entry is positive, and the number of neurons with the opposite orientation.
    groups
        The same two numbers for each further hyperplane, whose neurons cancel. The larger number
        stands first, and large pairs stand first, because these hyperplanes have no preferred
        orientation.
    num_linear
        The number of neurons that are ≥ 0 on the domain.
    num_dead
        The number of neurons that are ≤ 0 on the domain.

    Notes
    -----
    `polyrelu.proofs.shallow.assignments.HyperplaneAssignment` records less, for one theorem: it is
    for networks on R^n without superfluous neurons, where each hyperplane is doubled or has one
    sign, and it has free pairs but neither further neurons on a hyperplane nor linear and dead
    neurons. The class here covers every domain, every width and any number of neurons on a
    hyperplane.

    Examples
    --------
    >>> assignment = NeuronAssignment(visible=((1, 0), (1, 1)), groups=(), num_linear=0, num_dead=1)
    >>> print(assignment)
    neurons on the hyperplanes: 1+0 1+1, 1 dead
    >>> assignment.width, assignment.is_simple
    (4, False)
    """

    visible: tuple[tuple[int, int], ...]
    groups: tuple[tuple[int, int], ...]
    num_linear: int
    num_dead: int

    @property
    def is_simple(self) -> bool:
        """Whether every visible hyperplane has exactly one neuron and there are no groups."""
        return not self.groups and all(sum(pair) == 1 for pair in self.visible)

    @property
    def width(self) -> int:
        """The number of neurons."""
        return sum(map(sum, (*self.visible, *self.groups))) + self.num_linear + self.num_dead

    def __str__(self) -> str:
        pairs = [f"{plus}+{minus}" for plus, minus in self.visible[:_MAX_LABELLED]]
        if len(self.visible) > _MAX_LABELLED:
            pairs.append(f"and {len(self.visible) - _MAX_LABELLED} more")
        on_visible = f"neurons on the hyperplanes: {' '.join(pairs)}"
        return self.described(on_visible if pairs else "no visible hyperplane")

    def __repr__(self) -> str:
        return bracketed(f"NeuronAssignment, {self}")

    def described(self, on_visible: str) -> str:
        """Return the numbers of neurons in words, given words about the visible hyperplanes."""
        parts = [on_visible]
        parts += [
            f"{plus}+{minus} that cancel on one more hyperplane" for plus, minus in self.groups
        ]
        parts += [
            f"{count} {name}"
            for count, name in ((self.num_linear, "linear"), (self.num_dead, "dead"))
            if count
        ]
        return ", ".join(parts)


def is_mixed(pair: tuple[int, int]) -> bool:
    """Whether both orientations occur on a hyperplane."""
    return pair[0] > 0 and pair[1] > 0


def sorted_groups(groups: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Return the canonical order: the larger number of a pair first, the largest pairs first."""
    return tuple(sorted(((max(pair), min(pair)) for pair in groups), reverse=True))


def distributions(total: int, places: int) -> Iterator[tuple[int, ...]]:
    """Yield all ways to write a number as an ordered sum of `places` numbers ≥ 0."""
    for bars in itertools.combinations(range(total + places - 1), places - 1):
        ends = (-1, *bars, total + places - 1)
        yield tuple(after - before - 1 for before, after in itertools.pairwise(ends))


def other_roles(count: int) -> Iterator[tuple[tuple[tuple[int, int], ...], int, int]]:
    """Yield all groups and numbers of linear and dead neurons with `count` neurons in all."""
    for in_groups in range(count + 1):
        for groups in _group_lists(in_groups):
            for dead in range(count - in_groups + 1):
                yield groups, count - in_groups - dead, dead


def _group_lists(count: int) -> Iterator[tuple[tuple[int, int], ...]]:
    """Yield all lists of groups in canonical order with `count` neurons in all."""
    waiting: list[tuple[int, tuple[tuple[int, int], ...]]] = [(count, ())]
    while waiting:
        left, groups = waiting.pop()
        if not left:
            yield groups
            continue
        most = groups[-1] if groups else (left, left)
        sizes = (
            (larger, smaller)
            for larger in range(1, left + 1)
            for smaller in range(min(larger, left - larger) + 1)
        )
        waiting += [(left - sum(pair), (*groups, pair)) for pair in sizes if pair <= most]
