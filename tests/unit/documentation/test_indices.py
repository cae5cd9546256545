"""Numbers of layers, neurons, cells and outputs: one outside its range is an error, never another.

Python reads -1 as the last entry of a list and True as 1, so that a wrong number would be answered
about something else in silence.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import numpy as np
import pytest

from polyrelu import (
    attributes,
    audit,
    breakpoints,
    complex,
    dynamics,
    exact,
    fibers,
    foldsets,
    network,
    plot,
    proofs,
    symmetry,
    topology,
    walks,
)
from polyrelu.complex import Cell
from polyrelu.errors import PolyreluError
from polyrelu.network import NeuronId
from polyrelu.training import TrainingHistory, measure
from tests.generators.public_objects import AXES, DEEP, HIDING, PLAIN, ROOMS, public_types

#: A function of a number or name, and the numbers or names that exist.
Indexed = tuple[Callable[[Any], object], list[Any]]

#: Names of parameters that say which one of several things is meant.
INDICES = {
    "cell",
    "edge",
    "facet",
    "index",
    "label",
    "layer",
    "neuron",
    "number",
    "output",
    "place",
    "region",
    "ridge",
    "row",
}
#: Parameters of that name that are no index: numbers, rows, texts and objects.
OTHER = {
    "breakpoints.vanishing_neuron(facet)",
    "exact.format_integer(number)",
    "exact.positive_primitive(row)",
    "exact.primitive(row)",
    "plot.draw_subcomplex(label)",
    "symmetry.LayerDomain.sign(row)",
    "network.ActivationPattern.from_row(row)",
}


def _shown(draw: Callable[..., object], output: int) -> object:
    """Draw with plotly; None where it is not installed."""
    try:
        return draw(complex.canonical_complex(PLAIN), output=output)
    except PolyreluError as error:
        if "plotly" in str(error):
            return None
        raise


def of_networks() -> dict[str, Indexed]:
    """Functions of layers and neurons of networks."""
    signs = DEEP.sign_vector([1, 2])
    affine = [exact.RationalMatrix.identity(2).beside(exact.RationalMatrix.zeros(2, 1))]
    neurons = list(DEEP.neurons)
    plain = PLAIN
    return {
        "network.Network.weight(layer)": (DEEP.weight, [1, 2, 3]),
        "network.Network.bias(layer)": (DEEP.bias, [1, 2, 3]),
        "network.Network.layer_forms(number)": (lambda k: DEEP.layer_forms(k, affine), [1]),
        "network.Network.replace_layers(changed)": (
            lambda k: plain.replace_layers({(k if k.__hash__ else 0): plain.layers[0]}),
            [1],
        ),
        "network.SignVector.active(layer)": (signs.active, [1, 2]),
        "network.ActivationPattern.active(layer)": (signs.activation_pattern.active, [1, 2]),
        "network.output_derivative(neuron)": (
            lambda neuron: network.output_derivative(DEEP, signs, neuron),
            neurons,
        ),
        "proofs.exact_inverse_lipschitz(layer)": (
            lambda k: proofs.exact_inverse_lipschitz(
                [([[1], [-1]], [0, 0]), ([[1, 1]], [0])], layer=k
            ),
            [1],
        ),
        "plot.interactive_cells(output)": (partial(_shown, plot.interactive_cells), [0]),
        "plot.interactive_graph(output)": (partial(_shown, plot.interactive_graph), [0]),
        "training.TrainingHistory.drift(layer)": (
            TrainingHistory((measure(PLAIN, "box:-1,1"),)).drift,
            [1],
        ),
        "symmetry.permute(layer)": (lambda k: symmetry.permute(PLAIN, k, [1, 0]), [1]),
        "symmetry.rescale(layer)": (lambda k: symmetry.rescale(PLAIN, k, [1, 2]), [1]),
        "symmetry.hidden_neurons(layer)": (partial(symmetry.hidden_neurons, HIDING), [1, 2]),
        "symmetry.translate(layer)": (lambda k: symmetry.translate(HIDING, k, 0, 1), [1]),
        "symmetry.translate(neuron)": (lambda i: symmetry.translate(HIDING, 1, i, 1), [0]),
        "symmetry.flip(layer)": (lambda k: symmetry.flip(HIDING, k, 0, [1]), [1]),
        "symmetry.flip(neuron)": (lambda i: symmetry.flip(HIDING, 1, i, []), [0]),
        "symmetry.flip(flipped)": (lambda i: symmetry.flip(HIDING, 1, 0, [i]), [1]),
        "fibers.layer_fiber(layer)": (partial(fibers.layer_fiber, PLAIN), [1]),
        "fibers.hidden_hyperplane(layer)": (partial(fibers.hidden_hyperplane, HIDING), [1, 2]),
        "fibers.flip_matrix(neuron)": (lambda i: fibers.flip_matrix(2, i, [1, 1], []), [0, 1]),
        "fibers.flip_matrix(flipped)": (lambda i: fibers.flip_matrix(2, 0, [1, 1], [i]), [1]),
        "foldsets.image_parts(layer)": (
            lambda k: next(foldsets.image_parts(complex.canonical_complex(PLAIN), k)),
            [0, 1],
        ),
        "dynamics.conserved_matrix(layer)": (
            lambda k: dynamics.conserved_matrix(PLAIN, k, [0]),
            [1],
        ),
        "dynamics.conserved_matrix(neurons)": (
            lambda i: dynamics.conserved_matrix(PLAIN, 1, [i]),
            [0, 1],
        ),
        "dynamics.derivative_along_flow(layer)": (
            lambda k: dynamics.derivative_along_flow(PLAIN, k, [0], [[1, 2]], [[1]]),
            [1],
        ),
        "dynamics.drift_of_step(layer)": (
            lambda k: dynamics.drift_of_step(PLAIN, k, [0], [[1, 2]], [[1]]),
            [1],
        ),
        "dynamics.equal_patterns(layer)": (
            lambda k: dynamics.equal_patterns(PLAIN, k, [[1, 2]]),
            [1],
        ),
        "dynamics.linear_evidence(layer)": (partial(dynamics.linear_evidence, PLAIN), [1]),
        "dynamics.linear_neurons(layer)": (partial(dynamics.linear_neurons, PLAIN), [1]),
        "dynamics.translation_has_no_quantity(neuron)": (
            lambda i: dynamics.translation_has_no_quantity((1, 1, 1, 1), neuron=i),
            [0],
        ),
    }


def of_matrices() -> dict[str, Indexed]:
    """Functions of rows and columns."""
    matrix = exact.RationalMatrix.from_rows([[1, 2, 3], [4, 5, 6]])
    sparse = exact.SparseMatrix.from_dense(exact.RationalMatrix.identity(1))
    program = exact.LinearProgram(1)
    program.add_inequalities([[1]], [2])
    square = exact.Polyhedron.box([0, 0], [1, 1])
    return {
        "exact.RationalMatrix.row(index)": (matrix.row, [0, 1]),
        "exact.RationalMatrix[row]": (lambda i: matrix[i, 0], [0, 1]),
        "exact.RationalMatrix[column]": (lambda j: matrix[0, j], [0, 1, 2]),
        "exact.RationalMatrix.take(rows)": (lambda i: matrix.take(rows=[i]), [0, 1]),
        "exact.RationalMatrix.take(columns)": (lambda j: matrix.take(columns=[j]), [0, 1, 2]),
        "exact.SparseMatrix.placed(row)": (lambda i: sparse.placed((2, 3), i, 0), [0, 1]),
        "exact.SparseMatrix.placed(column)": (lambda j: sparse.placed((2, 3), 0, j), [0, 1, 2]),
        "exact.LinearProgram.change_right(row)": (lambda i: program.change_right(i, 2), [0]),
        "exact.Polyhedron.project(columns)": (lambda j: square.project([j]), [0, 1]),
    }


def of_complexes() -> dict[str, Indexed]:
    """Functions of cells, regions, facets and their generators."""
    cells = complex.canonical_complex(DEEP, "box:-2,2")
    regions, skeleton = complex.region_graph(DEEP), complex.skeleton(DEEP)
    all_regions, known = list(range(cells.num_regions)), list(cells)
    generators, dimensions = cells.generators, [0, 1, 2]
    neurons = list(DEEP.neurons)
    numbers = list(range(len(generators)))
    unbounded = [k for k, ends in enumerate(skeleton.edges) if (ends < 0).any()]
    return {
        "complex.PolyhedralComplex.signs(dimension)": (cells.signs, [*dimensions, None]),
        "complex.PolyhedralComplex.constraint_signs(dimension)": (
            cells.constraint_signs,
            dimensions,
        ),
        "complex.PolyhedralComplex.inside(dimension)": (cells.inside, dimensions),
        "complex.PolyhedralComplex.facets(dimension)": (cells.facets, dimensions),
        "complex.PolyhedralComplex.facet_forms(indices)": (
            lambda i: cells.facet_forms(np.array([i])),
            list(range(cells.f_vector[1])),
        ),
        "complex.PolyhedralComplex.sign_vector(cell)": (cells.sign_vector, known),
        "complex.PolyhedralComplex.vertices_and_rays(cell)": (cells.vertices_and_rays, known),
        "complex.PolyhedralComplex.signs_of_region(index)": (cells.signs_of_region, all_regions),
        "complex.PolyhedralComplex.neighbours(index)": (cells.neighbours, all_regions),
        "complex.PolyhedralComplex.facets_to_neighbours(index)": (
            cells.facets_to_neighbours,
            all_regions,
        ),
        "complex.RegionGraph.neighbours(index)": (regions.neighbours, list(range(7))),
        "complex.PolyhedralComplex.region(index)": (cells.region, all_regions),
        "complex.PolyhedralComplex.region_polyhedron(index)": (
            cells.region_polyhedron,
            all_regions,
        ),
        "complex.PolyhedralComplex.interior_point(index)": (cells.interior_point, all_regions),
        "complex.PolyhedralComplex.volume(index)": (cells.volume, all_regions),
        "complex.PolyhedralComplex.vertex(index)": (
            cells.vertex,
            list(range(cells.f_vector[0])),
        ),
        "complex.CellGenerators.exact(number)": (generators.exact, numbers),
        "complex.CellGenerators.input_coordinates(number)": (
            generators.input_coordinates,
            numbers,
        ),
        "complex.CellGenerators.approximate(number)": (generators.approximate, numbers),
        "complex.CellGenerators.numbers_of(cell)": (generators.numbers_of, known),
        "complex.CellGenerators.numbers_in_cyclic_order(cell)": (
            generators.numbers_in_cyclic_order,
            [cell for cell in known if cell.dimension == 2],
        ),
        "complex.RegionGraph.signs(dimension)": (regions.signs, [2, None]),
        "complex.RegionGraph.region(index)": (regions.region, list(range(7))),
        "complex.Skeleton.signs(dimension)": (skeleton.signs, [0, 1]),
        "complex.Skeleton.constraint_signs(dimension)": (skeleton.constraint_signs, [0, 1]),
        "complex.Skeleton.vertex(index)": (skeleton.vertex, [0, 1, 2]),
        "complex.Skeleton.ray(edge)": (skeleton.ray, unbounded),
        "complex.bent_hyperplane(neuron)": (partial(complex.bent_hyperplane, cells), neurons),
        "complex.fold_set(neuron)": (partial(complex.fold_set, cells), neurons),
        "complex.point_in(cell)": (partial(complex.point_in, cells), known),
    }


def of_audits() -> dict[str, Indexed]:
    """Functions of regions and outputs of audits."""
    truth = audit.ground_truth(PLAIN, "box:-2,2")
    regions = list(range(truth.num_regions))
    return {
        "audit.GroundTruth.point_in(region)": (truth.point_in, regions),
        "audit.GroundTruth.vertices_of(region)": (truth.vertices_of, regions),
        "audit.GroundTruth.num_zeros(vertex)": (
            truth.num_zeros,
            list(range(len(truth.vertices))),
        ),
        "audit.audit_topology(label)": (
            lambda k: audit.audit_topology(PLAIN, [1], "class", label=k),
            [0, 1],
        ),
        "audit.audit_topology(output)": (
            lambda k: audit.audit_topology(PLAIN, [1], "level", level=1, output=k),
            [0],
        ),
        "audit.audit_persistence(output)": (
            lambda k: audit.audit_persistence(PLAIN, [], "box:-1,1", output=k),
            [0],
        ),
    }


def of_weights_and_sets() -> dict[str, Indexed]:
    """Functions of facets, ridges and outputs."""
    cells = complex.canonical_complex(PLAIN)
    found = breakpoints.breakpoint_complex(cells)
    facets = [facet.facet.index for facet in found]
    first = cells.region(0).affine_map
    two = network.from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 1], [1, -1]], [0, 0])])
    box = "box:-1,1"
    return {
        "breakpoints.BreakpointComplex.weight(facet)": (found.weight, facets),
        "breakpoints.BreakpointComplex.bends_of(output)": (found.bends_of, [0]),
        "breakpoints.closed_form_jump(facet)": (
            partial(breakpoints.closed_form_jump, found),
            facets,
        ),
        "breakpoints.oriented_sum(ridge)": (partial(breakpoints.oriented_sum, found), [0]),
        "breakpoints.reconstruct(region)": (
            lambda i: breakpoints.reconstruct(found, i, first),
            list(range(cells.num_regions)),
        ),
        "breakpoints.output_derivative(neuron)": (
            lambda v: breakpoints.output_derivative(PLAIN, PLAIN.sign_vector([1, 2]), v),
            list(PLAIN.neurons),
        ),
        "topology.level_set(output)": (lambda i: topology.level_set(two, 0, output=i), [0, 1]),
        "topology.sublevel_set(output)": (
            lambda i: topology.sublevel_set(two, 0, output=i),
            [0, 1],
        ),
        "topology.superlevel_set(output)": (
            lambda i: topology.superlevel_set(two, 0, output=i),
            [0, 1],
        ),
        "topology.decision_region(label)": (partial(topology.decision_region, two), [0, 1]),
        "topology.sublevel_persistence(output)": (
            lambda i: topology.sublevel_persistence(two, box, output=i),
            [0, 1],
        ),
        "topology.superlevel_persistence(output)": (
            lambda i: topology.superlevel_persistence(two, box, output=i),
            [0, 1],
        ),
    }


def of_pictures() -> dict[str, Indexed]:
    """Functions of outputs that draw."""
    pytest.importorskip("matplotlib")
    line = network.from_arrays([([[1], [-1]], [0, 0]), ([[1, 1], [1, 2]], [0, 0])])
    two = network.from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 1], [1, -1]], [0, 0])])
    graph, flat = complex.canonical_complex(line), complex.canonical_complex(two)
    weights = breakpoints.breakpoint_complex(flat)
    outputs = [0, 1]
    return {
        "plot.draw_graph(output)": (lambda i: plot.draw_graph(graph, output=i), outputs),
        "plot.draw_surface(output)": (lambda i: plot.draw_surface(flat, output=i), outputs),
        "plot.draw_weights(output)": (lambda i: plot.draw_weights(weights, output=i), outputs),
        "plot.picture(output)": (
            lambda i: plot.picture(two, what="surface", output=i),
            outputs,
        ),
        "plot.surface(output)": (
            lambda i: plot.surface(HIDING, "box:-1,1", what="level", output=i),
            [0],
        ),
    }


def of_walks() -> dict[str, Indexed]:
    """Functions of places in flat arrays, and walks along a neuron's bent hyperplane."""
    plane = walks.AffineSlice(DEEP, [0, 0], AXES)
    tied = network.from_arrays([([[1, 0], [0, 1], [1, 1]], [0, 0, 0]), ([[1, 1, 1]], [0])])
    tie = next(walks.walk_bent_hyperplane(tied, NeuronId(1, 0), [0, -1], AXES)).end
    assert isinstance(tie, walks.Tie)
    shifted = walks.AffineSlice(DEEP, [-1, -1], AXES)
    at = plane.signs_at([1, 1])
    neurons = list(DEEP.neurons)
    return {
        "walks.AffineSlice.layer_slice(layer)": (plane.layer_slice, [1, 2]),
        "walks.AffineSlice.layer_of(place)": (plane.layer_of, [0, 1, 2]),
        "walks.AffineSlice.neuron_at(place)": (plane.neuron_at, [0, 1, 2]),
        "walks.AffineSlice.neurons_at(places)": (lambda p: plane.neurons_at([p]), [0, 1, 2]),
        "walks.AffineSlice.zeros_of_layer(layer)": (
            lambda k: plane.zeros_of_layer(at, k),
            [1, 2],
        ),
        "walks.AffineSlice.forms(layer)": (lambda k: plane.forms(at, k), [1, 2, 3]),
        "walks.AffineSlice.place(neuron)": (plane.place, neurons),
        "walks.AffineSlice.reads_input(place)": (plane.reads_input, [0, 1, 2]),
        "walks.Star.rays_of(place)": (tie.star.rays_of, [0, 1, 2]),
        "walks.walk_bent_hyperplane(neuron)": (
            lambda v: walks.walk_bent_hyperplane(DEEP, v, [0, 0], AXES, start=["1/2", "1/2"]),
            [NeuronId(2, 0)],
        ),
        "walks.bent_walk_from(neuron)": (
            lambda v: walks.bent_walk_from(plane, v, start=["1/2", "1/2"]),
            [NeuronId(2, 0)],
        ),
        "walks.first_zero(neuron)": (
            lambda v: walks.first_zero(shifted, v, heading=(1, 1)),
            neurons,
        ),
        "walks.zero_in_plane(neuron)": (
            lambda v: walks.zero_in_plane(DEEP, v, [-1, -1], AXES, heading=(1, 1)),
            neurons,
        ),
    }


def of_attributes() -> dict[str, Indexed]:
    """Functions of points and outputs."""
    exact_maps = attributes.exact_maps(PLAIN, [[1, 2], [3, 4]])
    maps = exact_maps.to_floats()
    fit = attributes.dual_map(maps, maps)
    return {
        "attributes.ExactMaps.affine_map(point)": (exact_maps.affine_map, [0, 1]),
        "attributes.ExactMaps.dual_point(point)": (lambda i: exact_maps.dual_point(i, 0), [0, 1]),
        "attributes.ExactMaps.dual_point(output)": (partial(exact_maps.dual_point, 0), [0]),
        "attributes.ExactMaps.rank(output)": (exact_maps.rank, [0]),
        "attributes.FloatMaps.coordinates(output)": (maps.coordinates, [0]),
        "attributes.DualMap.matrix(output)": (fit.matrix, [0]),
        "plot.draw_duals(output)": (partial(plot.draw_duals, maps), [0]),
        "plot.draw_dual_clusters(output)": (
            lambda k: plot.draw_dual_clusters(complex.canonical_complex(PLAIN), 1, k),
            [0],
        ),
    }


PARTS = (
    of_attributes,
    of_audits,
    of_networks,
    of_matrices,
    of_complexes,
    of_weights_and_sets,
    of_walks,
    of_pictures,
)


@cache
def table() -> dict[str, Indexed]:
    """All functions."""
    return {name: entry for part in PARTS for name, entry in part().items()}


def wrong_ones(good: list[Any]) -> list[Any]:
    """What stands beside the numbers, cells or neurons that exist, and what is none of them."""
    others: list[Any] = [wrong for wrong in ("0", None, [0], 0.5) if wrong not in good]
    numbers = [number for number in good if number is not None]
    if isinstance(good[0], Cell):
        pairs = [(-1, 0), (0, -1), (3, 0), (0, 99), (1, True), (1, 0.0), (True, 0), (1.0, 0)]
        return [*others, 0, (0, 0), *(Cell(*pair) for pair in pairs)]  # type: ignore[arg-type]
    if isinstance(good[0], NeuronId):
        pairs = [(0, 0), (-1, 0), (1, -1), (1, 99), (99, 0), (1, True), (1, 0.0), (True, 0)]
        return [*others, 0, (1, 0), *(NeuronId(*pair) for pair in [*pairs, (1.0, 0)])]  # type: ignore[arg-type]
    beyond = [numbers[0] - 1, -1, -2, numbers[-1] + 1, 10**6, 2**70]
    return [*others, *(n for n in beyond if n not in good), True, False, float(numbers[0])]


@pytest.mark.parametrize("part", PARTS)
def test_no_other_is_taken(part: Callable[[], dict[str, Indexed]]) -> None:
    """A wrong index is an error of polyrelu or an IndexError."""
    silent = []
    for name, (function, good) in part().items():
        for index in good:
            function(index)
        for wrong in wrong_ones(good):
            try:
                function(wrong)
            except (PolyreluError, IndexError):
                continue
            except Exception as error:
                silent.append(f"{name} with {wrong!r}: {type(error).__name__} {error}")
            else:
                silent.append(f"{name} with {wrong!r}")
    assert not silent, "\n".join(silent)


def indexed_parameters() -> Iterator[str]:
    """The parameters of public functions and methods that say which one is meant."""
    functions: dict[str, Any] = {}
    for room in ROOMS:
        module = importlib.import_module(f"polyrelu.{room}")
        for name in module.__all__:
            if inspect.isfunction(value := getattr(module, name)):
                functions[f"{room}.{name}"] = value
    for kind, name in public_types().items():
        for attribute, value in vars(kind).items():
            if inspect.isfunction(value) and not attribute.startswith("_"):
                functions[f"{name.removeprefix('polyrelu.')}.{attribute}"] = value
    for name, function in functions.items():
        for parameter in inspect.signature(function).parameters.values():
            if parameter.name in INDICES:
                yield f"{name}({parameter.name})"


def test_every_index_is_in_the_table() -> None:
    assert set(indexed_parameters()) - set(table()) - OTHER == set()
