"""The difference of two networks in one canonical position, as one part per hidden neuron.

A tree for each part (`bottleneck_tree`) replaces a tree for all parts, whose size would be the
product of their sizes. Only parts that add up exactly to the difference are returned; that each of
them vanishes is proved by its tree (theorem `tree` of docs/theory/equivalence.md has parts).

The networks are Σ_h D_h σ(h·(u,1)) + L·(u,1), as in `canonical_position`, where each row h reads at
most one hidden neuron, and L reads none. So the difference is the sum, over the hidden neurons, of
the contributions of the rows that read this neuron in both networks. Each of these sums vanishes by
itself, because it is the difference of two networks that hide a single neuron.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from polyrelu.network import Network
from polyrelu.proofs.equivalence.bottleneck_points import first_layer_rows
from polyrelu.proofs.equivalence.canonical_position import CanonicalPosition
from polyrelu.proofs.equivalence.parts import DifferencePart
from polyrelu.proofs.trees.atoms import Atom
from polyrelu.proofs.trees.expressions import JointNetwork
from polyrelu.proofs.trees.sparse_forms import SparseForm

__all__ = ["hidden_parts"]


def hidden_parts(
    joint: JointNetwork,
    networks: Sequence[Network],
    positions: Sequence[CanonicalPosition],
    unshared: Sequence[int],
) -> list[DifferencePart]:
    """Return a part for each pair of corresponding hidden neurons if the parts add up, else none.

    Two hidden neurons correspond if they have the same row in the canonical positions.

    Parameters
    ----------
    joint
        The joint network of both networks.
    networks
        The two networks.
    positions
        Their canonical positions.
    unshared
        The first-layer atoms, by symbol, that occur in one network only.
    """
    groups: dict[SparseForm, set[int]] = {}
    symbols = {atom.form: atom.symbol for atom in joint.atoms if atom.symbol in set(unshared)}
    for network, position in zip(networks, positions, strict=True):
        before = first_layer_rows(network)
        for row, neuron in zip(first_layer_rows(position.network), position.neurons, strict=True):
            if before[neuron] in symbols:
                groups.setdefault(row, set()).add(symbols[before[neuron]])
    parts = [_part(joint, group) for group in groups.values()]
    for number, row in enumerate(joint.difference):
        left = {column: Fraction(entry) for column, entry in zip(*row, strict=True)}
        for part in parts:
            _add_multiple(left, part[number], -1)
        for part, group in zip(parts, groups.values(), strict=True):
            # second-layer rows that read a hidden neuron only leave its atom in the difference
            _add_multiple(
                part[number], {symbol: left.pop(symbol) for symbol in group & left.keys()}, 1
            )
        if any(left.values()):
            return []
    return [part for part in parts if any(part)]


def _part(joint: JointNetwork, group: set[int]) -> DifferencePart:
    """Return the contribution to the difference of the atoms that read an atom of the group."""
    readers = {atom.symbol: atom for atom in joint.atoms if not group.isdisjoint(atom.form.columns)}
    part: list[dict[int, Fraction]] = []
    for row in joint.difference:
        sums: dict[int, Fraction] = {}
        for symbol, entry in zip(*row, strict=True):
            if symbol in readers:
                _add_multiple(sums, {symbol: Fraction(entry)}, 1)
                if _is_turned(readers[symbol], group):  # σ(-h) = σ(h) - h
                    form = zip(*readers[symbol].form, strict=True)
                    _add_multiple(sums, {column: Fraction(x) for column, x in form}, -entry)
        part.append(sums)
    return tuple(part)


def _add_multiple(sums: dict[int, Fraction], other: Mapping[int, Fraction], factor: int) -> None:
    """Add a multiple of a row to another row, in place; zeros are removed."""
    for column, entry in other.items():
        total = sums.pop(column, Fraction()) + factor * entry
        if total:
            sums[column] = total


def _is_turned(atom: Atom, group: set[int]) -> bool:
    """Return whether the negative of the atom's form could hide a neuron of the group."""
    return any(column in group and entry < 0 for column, entry in zip(*atom.form, strict=True))
