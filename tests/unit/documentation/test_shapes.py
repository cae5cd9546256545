"""One concept has one shape in all public types: docs/development/style.md, "Shapes".

The objects of all public types are asked for everything that they have without arguments.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache, cached_property

import numpy as np
import pytest

from polyrelu.complex import PolyhedralComplex, RegionGraph, Skeleton
from polyrelu.network import NeuronId, SignVector
from tests.generators.public_objects import BUILDERS


@cache
def objects() -> list[object]:
    """An object of every public type."""
    pytest.importorskip("matplotlib")
    found = [thing for build in BUILDERS for thing in build()]
    return [thing for thing in found if not isinstance(thing, BaseException)]


def is_method(thing: object, name: str) -> bool:
    """Whether an attribute is called, and not a value."""
    found = inspect.getattr_static(type(thing), name, None)
    return inspect.isroutine(found) and not isinstance(found, property | cached_property)


def values() -> Iterator[tuple[str, str, object, object]]:
    """The public values of all objects: type, name, object and value."""
    for thing in objects():
        for name in dir(thing):
            if not name.startswith("_") and not is_method(thing, name):
                try:
                    value = getattr(thing, name)
                except (TypeError, ValueError):
                    continue  # an attribute that this object does not have
                yield type(thing).__name__, name, thing, value


def is_tuple_of(*kinds: type) -> Callable[[object], bool]:
    """Whether a value is a tuple of members of some kinds."""
    return lambda value: (
        isinstance(value, tuple) and all(isinstance(member, kinds) for member in value)
    )


def is_point(value: object) -> bool:
    """Whether a value is a tuple of fractions."""
    return is_tuple_of(Fraction)(value)


#: What the value of a name is, in all types that have it.
VALUES: dict[str, Callable[[object], bool]] = {
    "f_vector": is_tuple_of(int),
    "widths": is_tuple_of(int),
    "point": is_point,
    "interior_point": is_point,
    "embedded": is_point,
    "points": lambda value: isinstance(value, tuple) and all(map(is_point, value)),
    "neighbours": is_tuple_of(int),
    "zeros": is_tuple_of(NeuronId),
    "normal": is_tuple_of(int),
    "dimension": lambda value: value is None or type(value) is int,
    "complete": lambda value: isinstance(value, bool | str),
    "is_plain": lambda value: isinstance(value, bool),
}


@pytest.mark.parametrize("name", VALUES)
def test_values(name: str) -> None:
    found = [(kind, value) for kind, other, _, value in values() if other == name]
    assert found
    assert not [(kind, value) for kind, value in found if not VALUES[name](value)]


def test_counts_are_integers() -> None:
    found = [(kind, name, value) for kind, name, _, value in values() if name.startswith("num_")]
    assert len({name for _, name, _ in found}) > 12
    assert not [entry for entry in found if type(entry[2]) is not int]


def test_neurons_are_names_or_indices_in_a_layer() -> None:
    """`NeuronId` by itself; beside the number of their layer or layers, indices in the layer."""
    seen = set()
    for kind, name, thing, value in values():
        if name not in ("neuron", "neurons", "other_neuron"):
            continue
        if kind == "BoundsNode":  # a neuron of one of two networks, as in FORMAT.md
            continue
        seen.add(kind)
        members = value if name == "neurons" else (value,)
        assert isinstance(members, tuple), (kind, value)
        beside = hasattr(thing, "layer") or hasattr(thing, "num_layers")
        wanted = int if beside else NeuronId
        assert all(isinstance(member, wanted) for member in members), (kind, value)
    assert {"Network", "PolyhedralComplex", "LinearEvidence", "CrossingPoint"} <= seen


def test_signs() -> None:
    """Of one place a `SignVector`, or a flat array of walks; of many cells a table."""
    flat = {"Ray"}
    for kind, name, _, value in values():
        if name == "signs":
            assert isinstance(value, np.ndarray if kind in flat else SignVector)
    tables = [thing for thing in objects() if isinstance(thing, PolyhedralComplex | RegionGraph)]
    assert len(tables) >= 3
    for cells in tables:
        signs = cells.signs()
        assert signs.dtype == np.int8
        assert signs.shape == (cells.num_regions, len(cells.neurons))
        assert not signs.flags.writeable
    for skeleton in objects():
        if isinstance(skeleton, Skeleton):
            for k in (0, 1):
                shape = (skeleton.f_vector[k], len(skeleton.neurons))
                assert skeleton.signs(k).shape == shape


def test_adjacency() -> None:
    """Pairs of regions, the smaller number first, in an array that cannot be changed."""
    for cells in objects():
        if isinstance(cells, PolyhedralComplex | RegionGraph):
            pairs = cells.adjacency()
            assert pairs.dtype == np.int64
            assert pairs.shape == (len(pairs), 2)
            assert (pairs[:, 0] < pairs[:, 1]).all()
            assert not pairs.flags.writeable
            by_region = [cells.neighbours(index) for index in range(cells.num_regions)]
            listed = {(i, j) for i, others in enumerate(by_region) for j in others}
            assert listed == {pair for i, j in pairs.tolist() for pair in ((i, j), (j, i))}


def test_a_complex_and_a_graph_of_regions_agree() -> None:
    """What both types have is a value in both, or a method in both."""
    names = ("signs", "adjacency", "neighbours", "region", "bounded", "num_regions", "neurons")
    for name in (*names, "num_bounded_regions", "network", "domain", "dimension", "complete"):
        kinds = {
            is_method(thing, name)
            for thing in objects()
            if isinstance(thing, PolyhedralComplex | RegionGraph)
        }
        assert len(kinds) == 1, name


def test_arrays_cannot_be_changed() -> None:
    """Tables of complexes are shared by several objects, and are read only."""
    own = {"SparseMatrix", "Ray", "LineCell", "LineEvent", "Corner", "CrossingPoint", "Tie"}
    tables = [
        (f"{kind}.{name}", value.flags.writeable)
        for kind, name, _, value in values()
        if isinstance(value, np.ndarray) and kind not in own
    ]
    assert len(tables) > 9
    assert not [name for name, writable in tables if writable]
