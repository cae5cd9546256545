"""The drift, by step size, of gradient descent from quantities that gradient flow conserves.

    python -m benchmarks.conserved_drift

Two small regressions in float64 with fixed seeds are trained for the same time with steps η, η/2,
…, η/64. The first, 3-6-5-1 on positive data, has neurons that are certified to be linear on the box
of the data before and after training, and that are active at all points in every step. The drift of
their matrix (`conserved_matrix`), and of the diagonal of the matrix of the other neurons, must
shrink like η; the drift of the matrix of all neurons must not. In the second, 2-3-2-1, layer 2
hides a hyperplane of layer 1: the gradient is orthogonal to its translation in every step, and yet
b_j - Σ A_ij a_i, which would be conserved if A were constant, is not conserved.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.reporting import draw_lines, write_results
from polyrelu.dynamics.linear_neurons import linear_neurons
from polyrelu.exact import Polyhedron
from polyrelu.network import Network, from_arrays
from polyrelu.symmetry.hidden_hyperplanes import hidden_neurons

Floats = NDArray[np.float64]
#: The matrix [W | b] of each layer.
Weights = list[Floats]

TIME, STEP, HALVINGS = 8.0, 1 / 16, 6
#: The bounds of the data in each coordinate.
LOW, HIGH = 0.25, 1.0
POINTS = 24


@dataclass(frozen=True)
class Problem:
    """A regression problem with a network to start from.

    The points x have shape (p, n_0), the wanted values shape (p,).
    """

    points: Floats
    targets: Floats
    start: Weights


def main() -> None:
    """Train with all steps; write results/conserved_drift.json and .png."""
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    steps = [STEP / 2**k for k in range(HALVINGS + 1)]
    first, second = linear_problem(), hiding_problem()
    runs = [measured(first, step) | hidden_measured(second, step) for step in steps]
    lines = {key: [run[key] for run in runs] for key in runs[0] if not key.startswith("_")}
    exponents = {key: exponent(steps, values) for key, values in lines.items()}
    write_results(
        "conserved_drift",
        {
            "seeds": [2, 1],
            "time": TIME,
            "steps": steps,
            "change of": lines,
            "fitted exponents": {key: round(value, 4) for key, value in exponents.items()},
            "linear neurons, certified": {
                "layer 1": runs[0]["_linear 1"],
                "layer 2": runs[0]["_linear 2"],
            },
            "times that a neuron was switched on or off at a point": [
                run["_pattern changes"] for run in runs
            ],
            "loss before and after": [runs[-1]["_before"], runs[-1]["_after"]],
            "loss before and after, hidden": [
                runs[-1]["_hidden before"],
                runs[-1]["_hidden after"],
            ],
            "largest |cosine| of gradient and translation": max(run["_cosine"] for run in runs),
        },
    )
    first_key = next(iter(lines))
    scale = lines[first_key][0] / steps[0]
    named = {f"{key} (exponent {exponents[key]:.2f})": values for key, values in lines.items()}
    draw_lines(
        "conserved_drift",
        steps,
        named,
        ("step size", f"largest change over time {TIME:g}"),
        "Drift of conserved quantities under gradient descent",
        ("proportional to the step size", [scale * step / 2 for step in steps]),
    )
    if not all(
        abs(exponents[key] - (1 if conserved else 0)) < 0.1
        for key, conserved in zip(lines, CONSERVED, strict=True)
    ):
        sys.exit("an exponent is not what the theorem says")


#: Whether gradient flow conserves each quantity, in the order of the measurements.
CONSERVED = (True, True, True, False, False)


def exponent(steps: list[float], values: list[float]) -> float:
    """Return the slope of log(value) over log(step), by least squares."""
    return float(np.polyfit(np.log(steps), np.log(values), 1)[0])


# -- problems --------------------------------------------------------------------------------------


def linear_problem() -> Problem:
    """Return 3-6-5-1 with 3 and 2 neurons whose weights and biases are positive at the start.

    With this seed, one of 4 such seeds among the first 8, these neurons stay linear during
    training.
    """
    rng = np.random.default_rng(2)
    start = [
        rng.normal(size=(rows, columns + 1)) * 0.6 for columns, rows in ((3, 6), (6, 5), (5, 1))
    ]
    start[0][:3] = np.abs(start[0][:3]) / 2 + 0.1
    start[1][:2] = np.abs(start[1][:2]) / 2 + 0.1
    start[2] /= 2
    # These bend in the middle of the box.
    start[0][3:, -1] = -start[0][3:, :-1] @ np.full(3, (LOW + HIGH) / 2)
    points = rng.uniform(LOW, HIGH, size=(POINTS, 3))
    return Problem(points, np.sin(4 * points[:, 0]) * points[:, 1] - points[:, 2] ** 2, start)


def hiding_problem() -> Problem:
    """Return 2-3-2-1 where layer 2 hides neuron 0 of layer 1."""
    rng = np.random.default_rng(1)
    first = np.array([[1.0, 0.6, 0.2], [0.4, -0.7, 0.1], [-0.6, 0.3, 0.1]])
    second = np.array([[1.2, -0.5, -0.6, -0.3], [0.9, -0.8, -0.4, -0.2]])
    points = rng.uniform(LOW, HIGH, size=(POINTS, 2))
    return Problem(
        points, points[:, 0] * points[:, 1], [first, second, np.array([[0.7, 0.5, 0.0]])]
    )


def exact(weights: Weights) -> Network:
    """Return the network with exactly these floats."""
    return from_arrays([(layer[:, :-1], layer[:, -1]) for layer in weights])


# -- training --------------------------------------------------------------------------------------


def forward(weights: Weights, points: Floats) -> tuple[list[Floats], list[Floats]]:
    """Return activations with a last row of ones, and preactivations, of shape (width, points)."""
    activations, preactivations = [with_ones(points.T)], list[Floats]()
    for layer in weights:
        preactivations.append(layer @ activations[-1])
        activations.append(with_ones(np.maximum(preactivations[-1], 0)))
    return activations, preactivations


def with_ones(values: Floats) -> Floats:
    """Return the values with a row of ones below."""
    return np.vstack([values, np.ones((1, values.shape[1]))])


def gradients(weights: Weights, problem: Problem) -> tuple[Weights, float, list[Floats]]:
    """Return the gradient of half the mean squared error, the loss, and the preactivations."""
    activations, preactivations = forward(weights, problem.points)
    residual = preactivations[-1] - problem.targets
    arriving, found = residual / len(problem.targets), list[Floats]()
    for number in reversed(range(len(weights))):
        found.append(arriving @ activations[number].T)
        arriving = weights[number][:, :-1].T @ arriving
        if number:
            arriving = arriving * (preactivations[number - 1] > 0)
    return found[::-1], float((residual**2).mean() / 2), preactivations


def quantity(weights: Weights, layer: int) -> Floats:
    """Return the matrix Q of all neurons of a layer; layers count from 1."""
    rows, columns = weights[layer - 1], weights[layer][:, :-1]
    return np.asarray(columns.T @ columns - rows @ rows.T)


def measured(problem: Problem, step: float) -> dict[str, Any]:
    """Train the first network, and return the largest change of each quantity."""
    box = Polyhedron.box([LOW] * 3, [HIGH] * 3)
    linear = {layer: linear_neurons(exact(problem.start), layer, box) for layer in (1, 2)}
    weights = [layer.copy() for layer in problem.start]
    losses, switches, before = list[float](), 0, None
    for _ in range(round(TIME / step)):
        slopes, loss, preactivations = gradients(weights, problem)
        active = np.vstack(preactivations[:-1]) > 0
        switches += 0 if before is None else int((active != before).sum())
        before = active
        if any(preactivations[layer - 1][list(linear[layer])].min() <= 0 for layer in (1, 2)):
            raise AssertionError("a linear neuron did not stay active: choose another start")
        losses.append(loss)
        for layer, slope in zip(weights, slopes, strict=True):
            layer -= step * slope
    if any(
        not set(linear[layer]) <= set(linear_neurons(exact(weights), layer, box))
        for layer in (1, 2)
    ):
        raise AssertionError("a neuron is no longer linear on the box: choose another start")
    change = {
        layer: np.abs(quantity(weights, layer) - quantity(problem.start, layer)) for layer in (1, 2)
    }
    part = {layer: change[layer][np.ix_(linear[layer], linear[layer])] for layer in (1, 2)}
    return {
        "linear neurons, layer 1": float(part[1].max()),
        "linear neurons, layer 2": float(part[2].max()),
        "diagonal, other neurons": float(
            max(np.delete(np.diag(change[layer]), linear[layer]).max() for layer in (1, 2))
        ),
        "_pattern changes": switches,
        "matrix of all neurons, layer 1": float(change[1].max()),
        "_linear 1": list(linear[1]),
        "_linear 2": list(linear[2]),
        "_before": losses[0],
        "_after": losses[-1],
    }


def hidden_measured(problem: Problem, step: float) -> dict[str, Any]:
    """Train the second network, and return two measurements.

    They are the change of b_j - Σ A_ij a_i, and the largest cosine between gradient and
    translation.
    """
    weights = [layer.copy() for layer in problem.start]
    losses, cosine = list[float](), 0.0
    for _ in range(round(TIME / step)):
        slopes, loss, _ = gradients(weights, problem)
        losses.append(loss)
        bias, others, own = slopes[0][0, -1], slopes[1][:, -1], weights[1][:, 0]
        lengths = np.sqrt(sum(float((slope**2).sum()) for slope in slopes) * (1 + float(own @ own)))
        cosine = max(cosine, abs(float(bias - own @ others)) / float(lengths))
        for layer, slope in zip(weights, slopes, strict=True):
            layer -= step * slope
        if not ((weights[1][:, 0] > 0).all() and (weights[1][:, 1:] < 0).all()):
            raise AssertionError("the hyperplane is no longer hidden: choose another start")
    if hidden_neurons(exact(weights), 1) != (0,):
        raise AssertionError("the hyperplane is no longer hidden: choose another start")
    return {
        "hidden hyperplane, b - Σ A a": abs(candidate(weights) - candidate(problem.start)),
        "_cosine": cosine,
        "_hidden before": losses[0],
        "_hidden after": losses[-1],
    }


def candidate(weights: Weights) -> float:
    """Return b_j - Σ_i A_ij a_i for j = 0."""
    return float(weights[0][0, -1] - weights[1][:, 0] @ weights[1][:, -1])


if __name__ == "__main__":
    main()
