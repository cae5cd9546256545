"""Parts of the difference of two networks with one canonical position: one for each hidden neuron that was moved.

The networks are Σ_h D_h σ(h·(u,1)) + L·(u,1), each h reads at most one hidden neuron, and L none. So the difference is
the sum, over the hidden neurons, of what the h that read it contribute on both sides, and each of these sums vanishes
by itself: it is the difference of two networks that hide a single neuron. (Theorem ``tree`` has parts.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from polyrelu.network import Network
from polyrelu.proofs.equivalence.bottleneck_points import first_layer_rows
from polyrelu.proofs.equivalence.canonical_position import CanonicalPosition
from polyrelu.proofs.equivalence.parts import Part
from polyrelu.proofs.trees.expressions import Atom, JointNetwork
from polyrelu.proofs.trees.sparse_forms import SparseForm

__all__ = ["hidden_parts"]


def hidden_parts(
    joint: JointNetwork,
    networks: Sequence[Network],
    positions: Sequence[CanonicalPosition],
    own: Sequence[int],
) -> list[Part]:
    """A part for each pair of hidden neurons that stand on one place in the canonical positions, if the parts add up to
    the difference; else none.

    `own` are the first-layer atoms, by symbol, that one network has alone.
    """
    groups: dict[SparseForm, set[int]] = {}
    symbols = {atom.form: atom.symbol for atom in joint.atoms if atom.symbol in set(own)}
    for network, position in zip(networks, positions, strict=True):
        before = first_layer_rows(network)
        for row, neuron in zip(first_layer_rows(position.network), position.neurons, strict=True):
            if before[neuron] in symbols:
                groups.setdefault(row, set()).add(symbols[before[neuron]])
    parts = [_part(joint, group) for group in groups.values()]
    for number, row in enumerate(joint.difference):
        left = {column: Fraction(entry) for column, entry in zip(*row, strict=True)}
        for part in parts:
            _add(left, part[number], -1)
        for part, group in zip(
            parts, groups.values(), strict=True
        ):  # an h that reads its hidden neuron only
            _add(part[number], {symbol: left.pop(symbol) for symbol in group & left.keys()}, 1)
        if any(left.values()):
            return []
    return [part for part in parts if any(part)]


def _part(joint: JointNetwork, group: set[int]) -> Part:
    """What the second-layer atoms that read an atom of the group contribute to the difference."""
    readers = {atom.symbol: atom for atom in joint.atoms if not group.isdisjoint(atom.form.columns)}
    part: list[dict[int, Fraction]] = []
    for row in joint.difference:
        sums: dict[int, Fraction] = {}
        for symbol, entry in zip(*row, strict=True):
            if symbol in readers:
                _add(sums, {symbol: Fraction(entry)}, 1)
                if _is_turned(readers[symbol], group):  # σ(-h) = σ(h) - h
                    form = zip(*readers[symbol].form, strict=True)
                    _add(sums, {column: Fraction(x) for column, x in form}, -entry)
        part.append(sums)
    return tuple(part)


def _add(sums: dict[int, Fraction], other: Mapping[int, Fraction], factor: int) -> None:
    """Add a multiple of a row to another one; no zeros are kept."""
    for column, entry in other.items():
        total = sums.pop(column, Fraction()) + factor * entry
        if total:
            sums[column] = total


def _is_turned(atom: Atom, group: set[int]) -> bool:
    """Whether it is the opposite of an atom that could hide a neuron of the group."""
    return any(column in group and entry < 0 for column, entry in zip(*atom.form, strict=True))
