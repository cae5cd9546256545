"""The values of a lowered network at points, enclosed in float64.

Exact values need long integers, and a comparison with a runtime seldom needs them: an enclosure
that is narrow beside the rounding errors of the runtime decides it (`runtimes/comparison.py`).
"""

from __future__ import annotations

from collections.abc import Mapping

from polyrelu.exact import AnyMatrix, RationalMatrix, SparseMatrix
from polyrelu.formats.graph.enclosures import Enclosure, FloatMatrix
from polyrelu.formats.graph.lowering import Lowered
from polyrelu.support.typing import Floats

__all__ = ["LoweredEnclosures"]


class LoweredEnclosures:
    """The enclosed values of a lowered network at several points.

    Attributes
    ----------
    outputs
        The outputs of the network, shape (outputs, points).
    """

    def __init__(self, lowered: Lowered, points: Floats) -> None:
        """Evaluate the network at points, the columns of an array of floats."""
        self._lowered, network = lowered, lowered.network
        self._activations = [Enclosure.of_exact(points)]
        for number, layer in enumerate(network.layers, 1):
            blocks = {block.source: block.entries for block in layer.blocks}
            z = self._sum(blocks, dict(enumerate(self._activations)), layer.bias)
            self._activations.append(z.relu() if number <= network.num_hidden_layers else z)
        self.outputs = self._activations[-1]

    def values(self, node: int) -> Enclosure:
        """Return the value of a node of the graph, computed from the activations of the network."""
        forms, activations = self._lowered.forms[node], dict[int, Enclosure]()
        for group, part in forms.parts.items():
            layer, first = self._lowered.places[group]
            activations[group] = self._activations[layer].rows(first, part.ncols)
        return self._sum(forms.parts, activations, forms.offset)

    def _sum(
        self,
        parts: Mapping[int, AnyMatrix],
        activations: Mapping[int, Enclosure],
        offset: RationalMatrix,
    ) -> Enclosure:
        """Return the sum of an offset and of each matrix times the activations of its number."""
        total = Enclosure.of_column(offset, self._activations[0].middle.shape[1])
        for number, part in parts.items():
            x = activations[number]
            if not (isinstance(part, SparseMatrix) and part.is_identity()):
                x = x.image(FloatMatrix(part))
            total = total.plus(x)
        return total
