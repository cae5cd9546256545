"""What the function of a known network does not show: neurons that are never seen to bend."""

from __future__ import annotations

from polyrelu.exact import Polyhedron, primitive
from polyrelu.network import Network, from_arrays
from polyrelu.outcomes import Equivalent
from polyrelu.proofs import equivalent

__all__ = ["invisible_neurons", "undetermined_weights"]

#: Work for the proof that a neuron of layer 2 is off, or on, at all inputs.
_BUDGET = 2_000


def invisible_neurons(network: Network, domain: Polyhedron) -> tuple[str, ...]:
    """Return sentences on neurons with one or two hidden layers that no values show.

    These are neurons whose row is 0, several with one hyperplane, and neurons of layer 2 that are
    proved to be off, or on, at all inputs.
    """
    found, planes = list[str](), dict[tuple[int, ...], list[int]]()
    for layer in range(1, len(network.widths) - 1):
        for k, column in enumerate(network.weight(layer + 1).transpose().rows()):
            if not any(column):
                found.append(f"neuron {k} of layer {layer} has no output weights")
    for k, (row, (bias,)) in enumerate(
        zip(network.weight(1).rows(), network.bias(1).rows(), strict=True)
    ):
        if not any(row):
            found.append(f"neuron {k} of layer 1 has no weights, so that it is constant")
            continue
        numbers = primitive([*row, bias])[0]
        sign = 1 if next(n for n in numbers if n) > 0 else -1
        planes.setdefault(tuple(sign * n for n in numbers), []).append(k)
    for some in planes.values():
        if len(some) > 1:
            names = ", ".join(map(str, some))
            found.append(f"neurons {names} of layer 1 vanish on the same hyperplane")
    if len(network.widths) == 4:
        found += _of_layer_2(network, domain)
    return tuple(found)


def _of_layer_2(network: Network, domain: Polyhedron) -> list[str]:
    """Return sentences on the neurons of layer 2 that are off, or on, at all inputs."""
    first, found = (network.weight(1), network.bias(1)), list[str]()
    nothing = from_arrays([([[0] * network.num_inputs], [0]), ([[0]], [0])])
    rows = zip(network.weight(2).rows(), network.bias(2).rows(), strict=True)
    for j, (row, (bias,)) in enumerate(rows):
        for sign, state in ((1, "off"), (-1, "on")):
            second = ([[sign * entry for entry in row]], [sign * bias])
            part = from_arrays([(first[0].rows(), first[1].entries()), second, ([[1]], [0])])
            if isinstance(equivalent(part, nothing, domain, budget=_BUDGET), Equivalent):
                found.append(f"neuron {j} of layer 2 is {state} at all inputs")
                break
    return found


def undetermined_weights(unknown: tuple[tuple[int, int], ...]) -> str:
    """Return a sentence on weights that the values do not determine."""
    names = ", ".join(f"{k} to {j}" for j, k in unknown)
    return (
        f"the weights from neurons of layer 1 to neurons of layer 2 {names} are not determined: "
        "wherever the first is on, the second is off, or always on together with others"
    )
