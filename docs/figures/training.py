"""Draw the figure of docs/how-to/training.md: a network learns a disc by gradient descent.

Everything in the picture is exact for the weights of each step. Run from the root of the project,
with the extra `plot`:

    python docs/figures/training.py
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np

from polyrelu.training import TrainingHistory, TrainingRecorder

FIGURE = Path(__file__).with_suffix(".png")
WIDTHS = (2, 12, 8, 1)
NUM_STEPS, EVERY, RATE = 3000, 100, 0.2


def trained() -> TrainingHistory:
    """Train the network on the cross-entropy of the classes inside and outside of a disc."""
    rng = np.random.default_rng(3)
    x = rng.uniform(-1, 1, (256, 2))
    inside = (np.linalg.norm(x, axis=1, keepdims=True) < 0.7).astype(float)
    pairs = list(pairwise(WIDTHS))
    weights = [rng.normal(0, (2 / n) ** 0.5, (m, n)) for n, m in pairs]
    biases = [np.zeros(m) for _, m in pairs]
    recorder = TrainingRecorder(
        lambda: list(zip(weights, biases, strict=True)), "box:-1,1", every=EVERY
    )
    for _ in range(NUM_STEPS):
        recorder(_step(x, inside, weights, biases))
    return recorder.history


def _step(
    x: np.ndarray, wanted: np.ndarray, weights: list[np.ndarray], biases: list[np.ndarray]
) -> float:
    """Make one step of gradient descent in place, and return the loss before it."""
    activations = [x]
    for weight, bias in zip(weights[:-1], biases[:-1], strict=True):
        activations.append(np.maximum(activations[-1] @ weight.T + bias, 0))
    output = activations[-1] @ weights[-1].T + biases[-1]
    loss = np.mean(np.logaddexp(0, output) - wanted * output)
    back = (1 / (1 + np.exp(-output)) - wanted) / len(x)
    for layer in reversed(range(len(weights))):
        change = back.T @ activations[layer]
        before = (back @ weights[layer]) * (activations[layer] > 0)
        weights[layer] -= RATE * change
        biases[layer] -= RATE * back.sum(axis=0)
        back = before
    return float(loss)


if __name__ == "__main__":
    trained().picture().savefig(FIGURE, dpi=110, metadata={"Software": None})
