"""Limits of the searches for deviations and ranges."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["SETTINGS", "DeviationSettings"]


@dataclass(frozen=True, slots=True)
class DeviationSettings:
    """Limits of the searches for deviations and ranges.

    Attributes
    ----------
    budget
        Units of work of a question.
    boxes_per_step
        Maximum number of boxes that are bounded at a time.
    boxes_per_check
        Maximum number of boxes to which the rule of certificates is applied in one step.
    work_per_step
        Units of work of one step, beyond which it has fewer boxes: limits of time are looked at
        between steps.
    products_per_check
        Number of products of long integers between two looks at the limits.
    boxes_tried
        Number of boxes of such a step to which each kind of leaves is applied; one that closes none
        of them is not applied to the others.
    fallback_work
        Units of work for bounds on few large boxes, where a search was not finished.
    fallback_share
        Share of a limit of time for these bounds, in thousands of units of work per second.
    fallback_growth
        How many times as many nodes each tree of these boxes has as the one before, after a limit.
    fallback_leaves
        Number of boxes for such bounds by the compiled core, and of them for each second of a limit
        of time.
    fallback_time
        Share of a limit of time after which no further ones of these boxes are cut.
    fallback_price
        The work for a box above which there are fewer of them.
    least_inherited
        Number of leaves of a search from which on nodes inherit the intervals of neurons.
    share_of_plain, leaves_tried
        Share of the leaves of a search that other leaves close, without inherited intervals, from
        which on these serve; and the number of leaves of which that is found out.
    inherited_price
        The work for a box with inherited intervals, in products of matrices of both networks.
    stored_integers
        Number of ends of intervals that are stored; further nodes use the ones of nodes above.
    float_share
        The share of a limit of time after which a search in floats ends, where the leaves of
        certificates follow it by the compiled core; and after which leaves without inherited
        intervals are given up.
    quick_share
        The share of a limit of time within which a search must end so that these are tried.
    search_share, proof_share
        The shares of a limit of time after which a first search for bounds ends, and the last proof
        of what was found; the rest is for bounds on fewer boxes, where no proof is done.
    search_growth, least_growth
        Factor by which a search grows at most before there is another proof, and below which it
        ends.
    exact_share
        Share of the remaining work for the search for an exact maximum.
    first_share
        Share of the work for bounds with few inputs, before an exact maximum is searched.
    max_exact_inputs
        Maximum number of inputs with which an exact maximum is searched.
    max_idle_cuts
        Maximum number of cuts of a box in a row, for each input, that leave as many neurons open.
    max_open_neurons
        Maximum number of open neurons of a node that is cut by a sign.
    max_grid
        Bits of the finest grid that the format of certificates allows.
    max_split_inputs
        Maximum number of inputs with which boxes of inputs are cut.
    max_price_at_once
        Maximum work with which a whole domain with more inputs is bounded at once.
    bits_of_multiples
        Bits of the multiples of cuts by sign, and of the slopes, that floats suggest.
    bits_of_roundings
        Bounds that exceed a limit by less than this share, over a power of two, get exact programs.
    least_exponent
        Ranges shorter than this power of 2 are bounded by cuts by sign: floats say little of boxes.
    seconds_of_root
        Seconds for a bound of a whole domain with many inputs after a limit of time.
    max_program_entries
        Maximum number of entries of a linear program for a node of a tree of signs.
    max_sign_nodes
        Maximum number of nodes of a tree of signs for a property; then split trees are tried.
    num_samples
        Number of random points that are tried first.
    num_starts, num_steps
        Number of the best of them from which an ascent starts, and of its steps.
    max_stored
        Number of open boxes beyond which bounds of neurons are not stored for further ones.
    joint_gain
        Factor by which the joint relaxation has to be better than the other one in the middle of
        the boxes of a step, to be worth its price.
    num_poor_steps
        Number of steps without that gain, one after the other, after which the joint relaxation is
        given up.
    steps_between_tries
        Number of steps after which it is tried again.
    max_signs
        Maximum number of open neurons of a network on a box that is cut by signs.
    sign_rounds
        Maximum number of cuts by signs of a box, for a smaller bound of it.
    sign_pause
        Number of cuts of a box after which such cuts are tried again, where they were too few.
    task_work
        Units of work of a task, and of a search in one process before it is divided into tasks.
    task_work_of_leaves
        Units of work of a task that closes leaves, whose prices are higher than their times.
    num_ahead
        Number of tasks that are chosen before the result of the first of them is known.
    boxes_per_task, leaves_per_task
        Maximum number of boxes, or leaves, with which a task begins.
    least_boxes, least_steps
        A task ends after some steps when fewer boxes are open; then they go into other tasks.
    steps_per_task
        Maximum number of steps of a task, and of a search before it is divided.
    """

    budget: float = 600_000
    boxes_per_step: int = 128
    boxes_per_check: int = 32
    work_per_step: float = 1_000
    products_per_check: int = 2_000_000
    boxes_tried: int = 4
    fallback_work: float = 2_000
    fallback_share: float = 0.001
    fallback_growth: int = 8
    fallback_leaves: tuple[int, int] = (2_000, 60)
    fallback_time: float = 0.05
    fallback_price: float = 5
    least_inherited: int = 32
    share_of_plain: float = 0.8
    leaves_tried: int = 64
    inherited_price: int = 16
    stored_integers: int = 50_000_000
    float_share: float = 0.25
    quick_share: float = 0.05
    search_share: float = 0.05
    proof_share: float = 0.9
    search_growth: float = 4.0
    least_growth: float = 0.125
    exact_share: float = 0.5
    first_share: float = 0.002
    max_exact_inputs: int = 3
    max_idle_cuts: int = 6
    max_open_neurons: int = 4
    max_grid: int = 4_096
    max_split_inputs: int = 20
    max_price_at_once: float = 500
    bits_of_multiples: int = 48
    bits_of_roundings: int = 24
    least_exponent: int = -960
    seconds_of_root: float = 2.0
    max_program_entries: int = 50_000_000
    max_sign_nodes: int = 2_000
    num_samples: int = 1_000
    num_starts: int = 8
    num_steps: int = 24
    max_stored: int = 50_000
    joint_gain: float = 1.02
    num_poor_steps: int = 10
    steps_between_tries: int = 16
    max_signs: int = 6
    sign_rounds: int = 12
    sign_pause: int = 3
    task_work: float = 2_000
    task_work_of_leaves: float = 8_000
    num_ahead: int = 32
    boxes_per_task: int = 32
    leaves_per_task: int = 128
    least_boxes: int = 16
    least_steps: int = 4
    steps_per_task: int = 32

    def in_step(self, number: int, price: float) -> int:
        """Return how many boxes of a price a step has, at most a number, and at least one."""
        return max(1, min(number, int(self.work_per_step / price)))


SETTINGS = DeviationSettings()
