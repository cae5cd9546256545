"""What was measured in the course of a training."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from polyrelu.errors import ArgumentError
from polyrelu.support.arguments import expect_integer
from polyrelu.support.display import bracketed, count_text, html_columns
from polyrelu.training.picture import draw_history
from polyrelu.training.snapshot import Snapshot

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["TrainingHistory"]


@dataclass(frozen=True, slots=True, repr=False)
class TrainingHistory:
    """Snapshots in the order of their steps.

    A history has a length and can be iterated over, snapshot by snapshot.

    Attributes
    ----------
    snapshots
        What was measured.

    Examples
    --------
    >>> from polyrelu.training import measure
    >>> nets = [[([[1], [1]], [0, bias]), ([[1, -1]], [0])] for bias in (-1, 3)]
    >>> history = TrainingHistory(tuple(measure(n, "box:-1,2", step=k) for k, n in enumerate(nets)))
    >>> [found.num_regions for found in history], history.drift(1)
    ([3, 2], (Fraction(0, 1), Fraction(8, 1)))
    """

    snapshots: tuple[Snapshot, ...]

    def __len__(self) -> int:
        return len(self.snapshots)

    def __iter__(self) -> Iterator[Snapshot]:
        return iter(self.snapshots)

    def __repr__(self) -> str:
        return bracketed(f"TrainingHistory, {count_text([(len(self), 'snapshot')])}")

    def _repr_html_(self) -> str:
        titles = ["step", "regions", "dead", "linear", "identifiable", "loss"]
        return html_columns(titles, self.table())

    @property
    def num_layers(self) -> int:
        """The number of hidden layers with conserved quantities."""
        return len(self.snapshots[0].conserved) if self.snapshots else 0

    def drift(self, layer: int) -> tuple[Fraction, ...]:
        """Return by how much the conserved quantities of a layer have moved, for each snapshot.

        Gradient flow conserves them, and a small step of gradient descent changes them little.

        Parameters
        ----------
        layer
            The number of a hidden layer, from 1.

        Returns
        -------
        tuple of Fraction
            The largest |Q_ii - Q_ii at the first snapshot| over the neurons i.

        Raises
        ------
        ArgumentError
            There is no such layer with conserved quantities.
        """
        layer = expect_integer(layer, "layer")
        if not 1 <= layer <= self.num_layers:
            raise ArgumentError(f"layer: expected a number from 1 to {self.num_layers}")
        start = self.snapshots[0].conserved[layer - 1]
        return tuple(
            max(abs(q - q0) for q, q0 in zip(found.conserved[layer - 1], start, strict=True))
            for found in self.snapshots
        )

    def table(self) -> list[list[object]]:
        """Return a row for each snapshot: step, regions, dead, linear, identifiability, loss."""
        return [
            [
                found.step,
                _or_dash(found.num_regions),
                _or_dash(None if found.dead is None else len(found.dead)),
                _or_dash(None if found.linear is None else len(found.linear)),
                found.identifiable,
                _or_dash(found.loss),
            ]
            for found in self.snapshots
        ]

    def to_json(self) -> list[dict[str, Any]]:
        """Return the snapshots as a list of JSON."""
        return [found.to_json() for found in self.snapshots]

    def picture(self) -> Figure:
        """Return one figure of everything that was measured, a panel for each quantity.

        Raises
        ------
        DomainError
            There is no snapshot.
        PolyreluError
            Matplotlib is not installed.
        """
        return draw_history(self.snapshots)


def _or_dash(value: object) -> object:
    return "-" if value is None else value
