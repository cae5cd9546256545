"""`TrainingRecorder`: measurements in a training loop."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from inspect import isroutine
from typing import Any

from polyrelu.errors import ArgumentError
from polyrelu.formats import DomainLike, NetworkLike, Slice
from polyrelu.support.arguments import expect_count
from polyrelu.support.budget import as_budget
from polyrelu.support.display import bracketed, count_text
from polyrelu.training.history import TrainingHistory
from polyrelu.training.snapshot import BUDGET, Snapshot, measure

__all__ = ["TrainingRecorder"]


class TrainingRecorder:
    """A callback for training loops, which measures a model at its start and after some steps.

    Parameters
    ----------
    model
        A module of PyTorch, or anything else that `polyrelu.load` takes and that training changes;
        or a function without arguments that returns the network as it is now.
    domain
        Where regions, dead and linear neurons are counted, see `measure`.
    every
        The number of steps between two measurements.
    identifiability
        Whether it is asked if the function determines the parameters.
    budget
        Units of work of one measurement, see `measure`.

    Examples
    --------
    With arrays that a loop changes:

    >>> weights = [[1.0], [1.0]]
    >>> recorder = TrainingRecorder(lambda: [(weights, [0, -1]), ([[1, -1]], [0])], "box:-1,2")
    >>> for step in range(3):
    ...     weights[1][0] += 1
    ...     _ = recorder(loss=1 / (step + 1))
    >>> recorder.history
    <TrainingHistory, 4 snapshots>
    >>> [found.num_regions for found in recorder.history]
    [3, 3, 3, 3]

    As a hook of an optimiser:

    .. code-block:: python

        recorder = TrainingRecorder(model, "slice:points.json", every=50)
        recorder.attach(optimizer)
        train(model, optimizer)
        recorder.history.picture().savefig("training.png")
    """

    def __init__(
        self,
        model: NetworkLike | Callable[[], NetworkLike],
        domain: DomainLike | Slice = None,
        *,
        every: int = 1,
        identifiability: bool = True,
        budget: float | None = BUDGET,
    ) -> None:
        self._every = expect_count(every, "every", 1)
        as_budget(budget)
        self._model, self._domain = model, domain
        self._identifiability, self._budget = identifiability, budget
        self._step = 0
        self._snapshots = [self._measured(None)]

    def __repr__(self) -> str:
        return bracketed(f"TrainingRecorder, {count_text([(self._step, 'step')])}")

    @property
    def history(self) -> TrainingHistory:
        """Everything that was measured so far."""
        return TrainingHistory(tuple(self._snapshots))

    def __call__(self, loss: Any = None) -> Snapshot | None:
        """Note that a step is done, and measure the model if its turn has come.

        Parameters
        ----------
        loss
            The loss, as a number or as a tensor with one entry.

        Returns
        -------
        Snapshot or None
            What was measured; None between two measurements.
        """
        self._step += 1
        if self._step % self._every:
            return None
        found = self._measured(loss)
        self._snapshots.append(found)
        return found

    def attach(self, optimizer: Any) -> Any:
        """Measure after each step of an optimiser of PyTorch.

        Parameters
        ----------
        optimizer
            An optimiser of `torch.optim`.

        Returns
        -------
        object
            The handle of the hook; its method `remove` ends the measurements.

        Raises
        ------
        ArgumentError
            The argument takes no hooks.
        """
        register = getattr(optimizer, "register_step_post_hook", None)
        if register is None:
            raise ArgumentError(
                f"optimizer: expected one of torch.optim, got {type(optimizer).__name__}; call the "
                "recorder in the loop instead"
            )

        def after_step(*_: object) -> None:
            """Call the recorder."""
            self()

        return register(after_step)

    def _measured(self, loss: Any) -> Snapshot:
        """Measure the model as it is now."""
        model: Any = self._model
        network = model() if isroutine(model) or isinstance(model, partial) else model
        return measure(
            network,
            self._domain,
            step=self._step,
            loss=None if loss is None else float(loss),
            identifiability=self._identifiability,
            budget=self._budget,
        )
