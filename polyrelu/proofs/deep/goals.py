"""What the walks for each neuron look for, from what the hypotheses still miss."""

from __future__ import annotations

from dataclasses import dataclass

from polyrelu.proofs.deep.hypotheses import DeepHypotheses, Missing
from polyrelu.proofs.deep.ridges import DeepNetwork
from polyrelu.proofs.deep.settings import SETTINGS

__all__ = ["NeuronGoal", "goals_of"]


@dataclass(slots=True)
class NeuronGoal:
    """What the walks for a neuron look for.

    Attributes
    ----------
    piece
        A first piece of the neuron.
    chain
        A longer chain up.
    crossings
        More neurons that cross its family.
    never_active
        Number of neurons of the layer before that are active at none of its pieces.
    """

    piece: bool = False
    chain: bool = False
    crossings: bool = False
    never_active: int = 0

    def include(self, missing: Missing) -> None:
        """Record that `missing` still has to be found for this neuron."""
        self.piece |= missing.kind == "piece"
        self.chain |= missing.kind == "chain"
        self.crossings |= missing.kind == "independent"
        self.never_active += missing.kind == "active"


def goals_of(network: DeepNetwork, hypotheses: DeepHypotheses) -> dict[int, NeuronGoal]:
    """Return, for each neuron number that misses something, what its walks look for."""
    goals = dict[int, NeuronGoal]()
    for missing in hypotheses.missing:
        if missing.kind == "signs":
            for neuron in _most_crossed(network, hypotheses, missing.layer + 1):
                goals.setdefault(neuron, NeuronGoal(crossings=True))
        # no walk helps against a weight that is 0
        elif missing.neuron_id is not None and missing.kind != "weight":
            neuron = network.number_of(missing.neuron_id)
            goals.setdefault(neuron, NeuronGoal()).include(missing)
            if missing.input_id is not None and len(hypotheses.missing) <= SETTINGS.few_missing:
                # the zeros of this neuron may determine the weight (D2')
                goals.setdefault(network.number_of(missing.input_id), NeuronGoal(crossings=True))
    return goals


def _most_crossed(network: DeepNetwork, hypotheses: DeepHypotheses, layer: int) -> list[int]:
    """Return the neurons of a layer that are crossed by most neurons of the layer before."""
    chosen = hypotheses.chosen
    neurons = [neuron for neuron in network.neurons_in(layer) if neuron in chosen]
    neurons.sort(key=lambda neuron: -chosen[neuron].crossed_by.bit_count())
    return neurons[: SETTINGS.sign_neurons]
