"""`simplify`: what is removed and why, what stays, and what it says about smaller networks."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from polyrelu import checker
from polyrelu.errors import DomainError, NetworkError, NotCoveredError, PolyreluError
from polyrelu.exact import Polyhedron, RationalMatrix
from polyrelu.network import Block, Layer, Network, NeuronId, from_arrays
from polyrelu.proofs import Simplified, equivalent, neuron_removal, removal_proof, simplify
from polyrelu.proofs.neuron_removal import Removal
from polyrelu.proofs.simplification import SETTINGS
from polyrelu.proofs.trees.expressions import JointNetwork
from polyrelu.proofs.trees.sign_tree import num_cells
from polyrelu.symmetry import LayerDomain
from tests.generators.redundant_networks import trained_like


def reasons(found: Simplified) -> list[str]:
    return [reason for _, reason in found.removed]


def is_accepted(found: Simplified, folder: Path) -> bool:
    """Whether the checker accepts the certificate that the result holds."""
    name = folder / "equal.cert"
    found.outcome.save(name)
    return checker.main([str(name)]) == 0


def test_each_kind_of_neuron(tmp_path: Path) -> None:
    """One neuron of each kind, each with its reason, in the numbers of the given network."""
    first = [[1, 0], [0, 1], [2, 0], [0, 0], [3, 1]], [0, -1, 0, 2, 5]
    second = [[-1, -1, -1, -1, 0], [1, -2, 0, 1, 0], [1, 1, 0, 0, 0], [0, 2, 1, 0, 0]]
    net = from_arrays([first, (second, [0, 1, 0, 0]), ([[5, 1, 1, 2]], [0])])
    small = simplify(net)
    assert [neuron for neuron, _ in small.removed] == [
        NeuronId(1, 2),
        NeuronId(1, 3),
        NeuronId(1, 4),
        NeuronId(2, 0),
        NeuronId(2, 3),
    ]
    assert reasons(small) == [
        "neuron 2 of layer 1: its row is 2 times the row of neuron 0 of layer 1, which takes over "
        "its outgoing weights",
        "neuron 3 of layer 1: it is constant: its weights are 0, and the next biases take its "
        "value",
        "neuron 4 of layer 1: its outgoing weights are 0, so nothing reads it",
        "neuron 0 of layer 2: it is dead: its preactivation is never positive on R^n",
        "neuron 3 of layer 2: it is linear (never negative on R^n), and is joined with the linear "
        "neuron 2 of layer 2, whose outgoing weights are proportional",
    ]
    assert small.network.widths == (2, 2, 2, 1)
    assert is_accepted(small, tmp_path)
    assert small.is_smallest is None
    assert str(small).splitlines()[-2].startswith("5 neurons removed: Network 2-2-2-1")


def test_nothing_to_remove() -> None:
    net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, -1], [-2, 3]], [1, 1]), ([[1, 1]], [0])])
    small = simplify(net)
    assert small.network == net
    assert small.removed == ()
    assert small.outcome.search.route == "expressions"


def test_everything_is_dead(tmp_path: Path) -> None:
    """A constant function has no neurons, so the network has no hidden layer."""
    net = from_arrays([([[1], [2]], [0, 0]), ([[-1, -1]], [-1]), ([[3], [4]], [5, 6])])
    small = simplify(net)
    assert small.network == from_arrays([([[0], [0]], [5, 6])])
    assert len(small.removed) == 3
    assert small.is_smallest is True
    assert is_accepted(small, tmp_path)


def test_everything_is_dead_before_a_relu() -> None:
    """The last layer of a network that ends in a ReLU has outputs, which stay."""
    net = from_arrays([([[1], [2]], [0, 0]), ([[-1, -1]], [-1]), ([[3], [4]], [5, -6])], "relu")
    small = simplify(net)
    assert small.network == from_arrays([([[0], [0]], [5, -6])], "relu")
    assert len(small.removed) == 3


def test_a_linear_layer_is_multiplied_in(tmp_path: Path) -> None:
    net = from_arrays(
        [([[1], [-1]], [0, 0]), ([[1, 2], [3, 1]], [0, 1]), ([[1, -1]], [2])],
    )
    small = simplify(net)
    assert small.network.widths == (1, 2, 1)
    assert reasons(small)[0] == (
        "neuron 0 of layer 2: its layer is affine on R^n, and is multiplied into the next layer"
    )
    assert is_accepted(small, tmp_path)


def test_pairs_that_cancel() -> None:
    """x as max(x, 0) - max(-x, 0) needs no hidden layer; beside a bend it needs one neuron."""
    affine = simplify(from_arrays([([[1], [-1]], [0, 0]), ([[1, -1]], [0])]))
    assert affine.network == from_arrays([([[1]], [0])])
    assert affine.is_smallest is True
    large = from_arrays([([[1], [-1], [1], [3]], [0, 0, 5, -2]), ([[1, -1, 0, 2]], [0])])
    small = simplify(large)
    assert (small.network.widths, small.is_smallest) == ((1, 2, 1), True)
    assert equivalent(large, small.network).status == "proved"


def test_bounds_of_the_layer_before(tmp_path: Path) -> None:
    """Layer 2 is at most 3, so layer 3 never gets on, though no sign of a weight shows it."""
    first, second = ([[1, 0], [0, 1]], [0, 0]), ([[-1, -2], [1, -1]], [3, 0])
    net = from_arrays([first, second, ([[1, -1], [1, 1]], [-4, 1]), ([[1, 1]], [0])])
    small = simplify(net)
    assert reasons(small) == [
        "neuron 0 of layer 3: it is dead: its preactivation is never positive on R^n",
        "neuron 1 of layer 3: its layer is affine on R^n, and is multiplied into the next layer",
    ]
    assert small.outcome.search.route == "signs"
    assert is_accepted(small, tmp_path)


def test_an_inequality_between_neurons(tmp_path: Path) -> None:
    """max(x - 1, 0) ≤ max(x, 0), so the difference is never positive; that needs a split."""
    first = [[1], [1], [-2]], [0, -1, 3]
    net = from_arrays([first, ([[-1, 1, 0], [1, 1, -1]], [0, 1]), ([[1, 2]], [0])])
    small = simplify(net)
    assert small.network.widths == (1, 3, 1, 1)
    assert small.outcome.search.route == "tree"
    assert is_accepted(small, tmp_path)


@pytest.mark.parametrize(
    "domain",
    [
        Polyhedron.box([-1, -1], [1, 1]),
        Polyhedron.from_constraints([[1, 1], [-1, 0], [0, -1]], [2, 1, 1]),
        Polyhedron.from_constraints([[1, 0], [-1, 0]], [1, 1], [[1, 1]], [0]),
    ],
)
def test_signs_on_a_domain(domain: Polyhedron, tmp_path: Path) -> None:
    """On a box, a triangle and a segment: dead there, and linear there."""
    net = from_arrays([([[1, 0], [0, 1], [1, 1]], [-9, 9, 0]), ([[1, 2, 3]], [0])])
    small = simplify(net, domain)
    assert len(small.removed) >= 1
    assert "neuron 0 of layer 1: it is dead: its preactivation is never positive on the domain" in (
        reasons(small)
    )
    assert is_accepted(small, tmp_path)
    assert simplify(net).network == net
    assert simplify(net, domain).is_smallest in (None, True)


def test_linear_neurons_on_an_unbounded_domain() -> None:
    """On the orthant: the levels of atoms are written again, so no upper bound is needed."""
    first, second = ([[1, 1], [1, 2]], [1, 0]), ([[-1, -1], [1, -1]], [0, 1])
    third = [[2, -1], [-1, -1]], [-2, 0]
    net = from_arrays([first, second, third, ([[1, 1]], [0])])
    small = simplify(net, Polyhedron.orthant(2))
    assert equivalent(net, small.network, Polyhedron.orthant(2)).status == "proved"
    assert small.network.num_hidden_layers < net.num_hidden_layers


def test_smallest_true_false_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """The three answers: proved, known to be too large, and open."""
    bends = from_arrays([([[1], [2]], [0, 1]), ([[1, 1]], [0])])
    assert simplify(bends).is_smallest is True
    assert simplify(bends, Polyhedron.box([-1], [1])).is_smallest is None  # asked on R^n only
    large = from_arrays([([[1], [-1], [3]], [0, 0, -2]), ([[1, -1, 2]], [0])])
    assert simplify(large).is_smallest is True
    with monkeypatch.context() as patched:
        patched.setattr(
            neuron_removal, "SETTINGS", neuron_removal.NeuronRemovalSettings(max_fiber_products=0)
        )
        assert simplify(large).is_smallest is None  # too large to look

    def too_long(*_: object) -> Network:
        raise NetworkError("numbers of more bits than network files hold")

    monkeypatch.setattr(Removal, "_written", too_long)
    assert simplify(large).network == large
    assert simplify(large).is_smallest is False


def test_a_proof_that_fails_gives_up_its_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the inequality cannot be proved within the limit, its neuron stays, and others go."""
    first = [[1], [1], [-2], [-4]], [0, -1, 3, 6]
    net = from_arrays([first, ([[-1, 1, 0, 0], [1, 1, -3, 1]], [0, 1]), ([[1, 2]], [0])])
    assert simplify(net).network.widths == (1, 3, 1, 1)
    monkeypatch.setattr("polyrelu.proofs.simplification.SETTINGS", type(SETTINGS)(max_nodes=0))
    assert simplify(net).network.widths == (1, 3, 1, 1)  # the trees for signs prove it as well
    limited = type(removal_proof.SETTINGS)(max_nodes=0)
    monkeypatch.setattr("polyrelu.proofs.removal_proof.SETTINGS", limited)
    assert simplify(net).network.widths == (1, 3, 2, 1)


@pytest.mark.parametrize(
    ("seed", "widths"),
    [("dead 4", (2, 10, 8, 1)), ("dead 3", (3, 8, 8, 2)), ("dead 5", (2, 5, 6, 6, 1))],
)
def test_dead_neurons_behind_positive_weights(
    seed: str, widths: tuple[int, ...], tmp_path: Path
) -> None:
    """Neurons die although they read activations with positive weights, which needs splits."""
    found = simplify(from_arrays(trained_like(seed, widths)))
    assert found.outcome.search.route == "tree"
    assert found.outcome.search.num_leaves >= 2
    assert is_accepted(found, tmp_path)
    again = simplify(found.network)
    assert again.network == found.network


def test_each_dead_neuron_has_a_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trees of several dead neurons add up, where one for all of them would multiply."""
    found = simplify(from_arrays(trained_like("dead 1")))
    assert len(found.removed) == len(found.outcome.certificate.parts) >= 2
    monkeypatch.setattr("polyrelu.proofs.removal_proof._parts", whole_difference)
    whole = simplify(from_arrays(trained_like("dead 1")))
    assert whole.network == found.network
    assert whole.outcome.search.num_nodes > found.outcome.search.num_nodes


def whole_difference(joint: JointNetwork, _: object) -> list[tuple[dict[int, Fraction], ...]]:
    rows = (zip(*row, strict=True) for row in joint.difference)
    return [tuple({c: Fraction(w) for c, w in row} for row in rows)]


def test_a_wrong_guess_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Points missed where a neuron is active: it stays, and the dead ones still go."""
    net = from_arrays(trained_like("dead 1"))
    dead = {neuron for neuron, _ in simplify(net).removed}
    guess = removal_proof.guessed_signs

    def wrong(network: Network, *arguments: Any) -> dict[NeuronId, int]:
        every = {NeuronId(2, i): -1 for i in range(network.widths[2] if network.depth > 2 else 0)}
        return guess(network, *arguments) | every

    monkeypatch.setattr("polyrelu.proofs.simplification.guessed_signs", wrong)
    found = simplify(net)
    assert {neuron for neuron, _ in found.removed} == dead
    assert is_accepted(found, tmp_path)


def test_linear_neurons_that_need_splits(tmp_path: Path) -> None:
    """max(x, 0) - max(x - 1, 0) is never negative, and half of it is joined with it."""
    first = [[1], [1], [-2]], [0, -1, 3]
    second = [[1, -1, 0], [2, -1, 0], [1, 1, -1]], [0, 0, 1]
    net = from_arrays([first, second, ([[1, 2, 2]], [0])])
    found = simplify(net)
    assert [neuron for neuron, _ in found.removed] == [NeuronId(2, 1)]
    assert "it is linear (never negative on R^n), and is joined" in reasons(found)[0]
    assert is_accepted(found, tmp_path)


def test_signs_on_a_polyhedron_that_need_splits(tmp_path: Path) -> None:
    """The trees start from the inequalities of the domain."""
    net = from_arrays(trained_like("dead 1"))
    found = simplify(net, Polyhedron.orthant(2))
    assert len(found.removed) >= len(simplify(net).removed)
    assert is_accepted(found, tmp_path)


def test_the_number_of_cells() -> None:
    assert [num_cells(n, 2) for n in range(4)] == [1, 2, 4, 7]
    assert num_cells(5, 9) == 32


def test_numbers_of_layers_after_a_merge() -> None:
    """Names are those of the given network, whatever was left out before."""
    net = from_arrays(
        [
            ([[1], [-1]], [0, 0]),
            ([[1, 1]], [0]),
            ([[1], [2]], [-1, -2]),
            ([[1, 1]], [0]),
        ]
    )
    removal = Removal.of(net, LayerDomain.whole_space(1), "R^n")
    removal.remove_visible(True)
    assert dict(removal.reasons()) == {
        NeuronId(2, 0): "neuron 0 of layer 2: its layer is affine on R^n, and is multiplied into "
        "the next layer",
        NeuronId(
            3, 1
        ): "neuron 1 of layer 3: its row is 2 times the row of neuron 0 of layer 3, which "
        "takes over its outgoing weights",
    }
    assert removal.network.widths == (1, 2, 1, 1)


def test_equal_questions_get_equal_answers() -> None:
    first = [[1], [1], [-2]], [0, -1, 3]
    net = from_arrays([first, ([[-1, 1, 0], [1, 1, -1]], [0, 1]), ([[1, 2]], [0])])
    one, other = simplify(net, seed=3), simplify(net, seed=3)
    assert one.network == other.network
    assert list(one.outcome.certificate.lines()) == list(other.outcome.certificate.lines())


def test_errors() -> None:
    plain = from_arrays([([[1]], [0])])
    with pytest.raises(DomainError, match=r"in R\^2, but the network has 1 inputs"):
        simplify(plain, Polyhedron.universe(2))
    with pytest.raises(DomainError, match="empty"):
        simplify(plain, Polyhedron.from_constraints([[1], [-1]], [0, -1]))
    with pytest.raises(PolyreluError, match="int: expected a file name"):
        simplify(3)  # type: ignore[arg-type]
    one = RationalMatrix.identity(1)
    skipping = Network(
        1, (Layer((Block(0, one),), one), Layer((Block(0, one), Block(1, one)), one))
    )
    with pytest.raises(NotCoveredError, match="connections that skip layers"):
        simplify(skipping)


def test_factors_of_equal_rows() -> None:
    """The outgoing weights of a joined neuron count with the factor of its row."""
    net = from_arrays([([[2], [3]], [2, 3]), ([[1, 1]], [0])])
    small = simplify(net)
    assert small.network.weight(2)[0, 0] == Fraction(5, 2)
