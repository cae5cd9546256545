"""Neurons that may have one sign, as far as the ridges of a deep search tell.

A neuron without a known piece may be dead or linear. A neuron v at no known piece of which h is
active may have one sign wherever h is active. `refutations.one_sided` proves such suspicions or
drops them, so nothing here has to be right. Around the ridges of a search the signs of all neurons
are known; what they contradict is no candidate.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from polyrelu.proofs.deep.hypotheses import Missing
from polyrelu.proofs.deep.ridges import DeepNetwork, Ridge
from polyrelu.proofs.deep.search import DeepSearch
from polyrelu.proofs.deep.settings import SETTINGS
from polyrelu.proofs.refutations.sampled_candidates import OneSidedCandidate

__all__ = ["one_sided_candidates"]


def one_sided_candidates(search: DeepSearch) -> list[OneSidedCandidate]:
    """Return the candidates that no ridge of a search contradicts.

    Early layers come first, and in each layer neurons with one sign everywhere before pairs.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> first, second = ([[1, 0], [0, 1]], [0, 0]), ([[1, 1], [2, 1]], [-3, 1])
    >>> search = DeepSearch(from_arrays([first, second, ([[1, 2]], [0])]))
    >>> _ = search.run(rounds=3)
    >>> for candidate in one_sided_candidates(search):
    ...     print(candidate.neuron, candidate.sign, candidate.guard)
    NeuronId(layer=2, index=1) 1 None
    """
    activity = _activity_around(search.deep_network, search.ridges)
    if not len(activity):
        return []
    missing = sorted(
        search.hypotheses.missing, key=lambda entry: (entry.layer, entry.input_id is not None)
    )
    return [candidate for entry in missing for candidate in _candidates_of(search, activity, entry)]


def _activity_around(deep_network: DeepNetwork, ridges: Iterable[Ridge]) -> NDArray[np.bool_]:
    """Return which neurons are active in two opposite sectors of each ridge, a row per sector.

    If there are many sectors, they are an evenly spread part of them.
    """
    masks = [sector for ridge in ridges for sector in (ridge.sectors[0], ridge.sectors[-1])]
    step = -(-len(masks) // SETTINGS.sampled_sectors) or 1
    return np.array([deep_network.unpack(mask) for mask in masks[::step]], dtype=bool)


def _candidates_of(
    search: DeepSearch, activity: NDArray[np.bool_], missing: Missing
) -> Iterator[OneSidedCandidate]:
    """Yield the candidate behind a missing part, unless a sector contradicts it.

    On R^n no neuron of layer 1 has one sign, unless it is constant.
    """
    deep_network, neuron_id, guard = search.deep_network, missing.neuron_id, missing.input_id
    if neuron_id is None or missing.kind not in ("piece", "active"):
        return
    if neuron_id.layer == 1 and search.domain is None:
        return
    is_active = activity[:, deep_network.number_of(neuron_id)]
    if guard is not None:
        is_active = is_active[activity[:, deep_network.number_of(guard)]]
    if len(is_active) and is_active.all() == is_active.any():
        yield OneSidedCandidate(neuron_id, 1 if is_active[0] else -1, guard)
