"""Activations of regions, changes of activations between them, and forms at their bounds."""

from __future__ import annotations

from itertools import product
from random import Random

import numpy as np
import pytest

from polyrelu.complex import canonical_complex
from polyrelu.complex.engine.subdivision import unpacked
from polyrelu.errors import DomainError
from polyrelu.exact import RationalMatrix, positive_primitive
from tests.generators.campaigns import case
from tests.generators.quantised_networks import DOMAINS, KINDS, quantised_network, random_domain

SEEDS = range(2)


def test_two_facets_of_each_cell_tell_the_signs() -> None:
    """Signs by two facets of each cell are those by all vertices, on cells of all dimensions."""
    for kind, domain, seed in zip(KINDS * 2, DOMAINS * 3, range(12), strict=False):
        with case(kind, domain, seed):
            rng = Random(f"{kind} {domain} {seed}")
            network = quantised_network(kind, rng)
            arrays = canonical_complex(
                network, random_domain("box", network.num_inputs, rng)
            )._arrays
            for k in range(arrays.dimension + 1):
                parts = [
                    unpacked(
                        arrays.lattice.words_of_cells(signs.words.rows)[k][arrays.finite[k]],
                        len(signs.members),
                    )
                    for signs in arrays._sign_words
                    if signs.layer
                ]
                assert np.array_equal(arrays.signs(k), np.concatenate(parts, axis=1))


@pytest.mark.parametrize("kind", KINDS)
def test_the_first_change_is_the_form_of_the_cell(kind: str) -> None:
    """The engine knows another way which form vanishes on a cell of codimension 1."""
    for seed, domain in product(SEEDS, ("box", "slice")):
        rng = Random(f"{kind} {seed}")
        network = quantised_network(kind, rng)
        if domain not in DOMAINS:
            domain = DOMAINS[seed]
        cells = canonical_complex(network, random_domain(domain, network.num_inputs, rng))
        crossings, active = cells.crossings, cells.activations
        for layer in range(1, network.num_hidden_layers + 1):
            columns = [i for i, neuron in enumerate(cells.neurons) if neuron.layer == layer]
            found = active.active(layer, np.arange(cells.num_regions))
            assert np.array_equal(found == 1, cells.signs()[:, columns] > 0)
        forms = cells.facet_forms(cells.common_facets())
        rows = RationalMatrix.from_integers(forms.rows, ncols=cells.frame.dimension + 1)
        expected = [positive_primitive(x) for x in (rows @ cells.frame.coordinates).integer_rows()]
        firsts = crossings.firsts
        assert [tuple(row) for row in crossings.rows[crossings.forms[firsts]].tolist()] == [
            expected[which] for which in forms.which.tolist()
        ]
        neurons = [cells.neurons[column] for column in forms.columns[forms.which].tolist()]
        assert crossings.layers[firsts].tolist() == [neuron.layer for neuron in neurons]
        assert crossings.neurons[firsts].tolist() == [neuron.index for neuron in neurons]


def test_incomplete_complexes_have_no_activations() -> None:
    cells = canonical_complex([([[1, 0], [0, 1]], [0, 0]), ([[1, 2]], [0])])
    cells.complete = False
    for name in ("activations", "crossings"):
        with pytest.raises(DomainError, match="the complex is incomplete: activations vary"):
            getattr(cells, name)
