"""What operations cost, in the units of `Budget`: about a millisecond each on a processor of 2020.

Prices depend on sizes only. They are estimates of times, and need not be good ones: what matters is
that they are the same everywhere. A change of a price changes the answers that a budget leads to.
The page docs/how-to/budgets.md has the same table.
"""

from __future__ import annotations

__all__ = [
    "price_of_assignment",
    "price_of_boxes",
    "price_of_case",
    "price_of_cell",
    "price_of_chain",
    "price_of_component",
    "price_of_evaluation",
    "price_of_forms",
    "price_of_generators",
    "price_of_gradients",
    "price_of_independence",
    "price_of_layer",
    "price_of_membership",
    "price_of_node",
    "price_of_point",
    "price_of_products",
    "price_of_program",
    "price_of_ray",
    "price_of_regions",
    "price_of_samples",
    "price_of_sign_system",
    "price_of_signs",
    "price_of_sparse_program",
    "price_of_subset_sums",
    "price_of_support",
    "price_of_table",
    "price_of_vertex",
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


def price_of_boxes(num_boxes: int, num_products: int) -> float:
    """Return the price of bounds on boxes, with these many products of floats for each.

    >>> price_of_boxes(128, 10_000_000)
    26.6
    """
    return 1 + num_boxes * num_products / 50_000_000


def price_of_sparse_program(num_entries: int) -> float:
    """Return the price of a sparse linear program in floats with this many entries.

    >>> price_of_sparse_program(50_000)
    501.0
    """
    return 1 + num_entries / 100


def price_of_case(num_entries: int) -> float:
    """Return the price of a look at a case of a tree of cases, with so large a program in floats.

    >>> price_of_case(1000)
    0.75
    """
    return 0.25 + num_entries / 2000


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


def price_of_vertex(num_neurons: int) -> float:
    """Return the price of a vertex in the certificate of a complex.

    >>> price_of_vertex(64)
    0.03
    """
    return 0.01 + num_neurons / 3_200


def price_of_node(num_terms: int, dimension: int) -> float:
    """Return the price of a look at the terms of a node of a split tree.

    >>> price_of_node(50, 8)
    1.4
    """
    return 1 + num_terms * dimension / 1000


def price_of_chain(num_layers: int) -> float:
    """Return the price of all choices of signs of a neuron in each hidden layer (leaky ReLUs).

    >>> price_of_chain(10)
    2.048
    """
    return (1 << num_layers) * num_layers / 5_000


def price_of_point(num_parameters: int) -> float:
    """Return the price of the exact values of networks with these parameters at a point.

    >>> price_of_point(10_000)
    0.4
    """
    return 0.3 + num_parameters / 100_000


def price_of_products(num_products: int) -> float:
    """Return the price of products of rational numbers, in linear relaxations.

    >>> price_of_products(10_000)
    25.0
    """
    return num_products / 400


def price_of_samples(num_parameters: int) -> float:
    """Return the price of the signs of all neurons at thousands of sample points, in floats.

    >>> price_of_samples(10_000)
    60.0
    """
    return 50 + num_parameters / 1_000


def price_of_table(num_entries: int) -> float:
    """Return the price of bounds of all neurons over a box, in floats, from a table of their forms.

    >>> price_of_table(100_000)
    11.0
    """
    return 1 + num_entries / 10_000


def price_of_independence(num_neurons: int) -> float:
    """Return the price of the question whether the matrices v_i w_i are linearly independent.

    >>> price_of_independence(100)
    5.0
    """
    return 1 + num_neurons**3 / 250_000


def price_of_subset_sums(num_neurons: int) -> float:
    """Return the price of a comparison of all subset sums of these neurons.

    >>> price_of_subset_sums(20), price_of_subset_sums(40)
    (2.024, 1049.576)
    """
    return 1 + float(2 ** (num_neurons // 2)) / 1_000


def price_of_support(num_rows: int) -> float:
    """Return the price of a look at a point with a given set of positive coordinates.

    >>> price_of_support(100)
    0.035
    """
    return 0.01 + num_rows / 4_000


def price_of_forms(num_parameters: int, dimension: int) -> float:
    """Return the price of affine forms of all neurons on a box, in integers.

    >>> price_of_forms(540_000, 784)
    484.68
    """
    return 3 + num_parameters * (1_000 + dimension) / 2_000_000


def price_of_signs(num_parameters: int, dimension: int) -> float:
    """Return the price of affine forms of all neurons, with signs of some, in integers.

    >>> price_of_signs(540_000, 784)
    89.4
    """
    return 3 + num_parameters * (16 + dimension) / 5_000_000


def price_of_generators(num_parameters: int, num_generators: int) -> float:
    """Return the price of generators of open neurons in the affine forms of all neurons on a box.

    >>> price_of_generators(26_000, 500)
    130.0
    """
    return num_parameters * num_generators / 100_000


def price_of_gradients(num_outputs: int, num_parameters: int) -> float:
    """Return the price of bounds of the gradients of some outputs on a node, in exact numbers.

    >>> price_of_gradients(2, 4_610)
    4.61
    """
    return num_outputs * num_parameters / 2_000


def price_of_membership(num_conditions: int) -> float:
    """Return the price of these minors and sums, which show that a parameter is generic.

    >>> price_of_membership(5_000)
    251.0
    """
    return 1 + num_conditions / 20


def price_of_layer(num_parameters: int) -> float:
    """Return the price of a look for simple changes of two layers with these parameters.

    >>> price_of_layer(10_000)
    21.0
    """
    return 1 + num_parameters / 500


def price_of_component(num_inputs: int, num_outputs: int) -> float:
    """Return the price of a look at a component of the fiber of a layer.

    >>> price_of_component(30, 10)
    0.5
    """
    return 0.2 + num_inputs * num_outputs / 1_000


def price_of_sign_system(num_rows: int, dimension: int) -> float:
    """Return the price of a search for a point at which rows have prescribed signs.

    >>> price_of_sign_system(56, 8)
    0.412
    """
    return 0.3 + num_rows * dimension / 4000


def price_of_regions(num_regions: int, dimension: int) -> float:
    """Return the price of new regions of a complex, with their faces.

    >>> price_of_regions(1000, 2), price_of_regions(1000, 5)
    (90.0, 2430.0)
    """
    return float(num_regions * 3**dimension / 100)
