"""Fitted multilayer perceptrons of scikit-learn, MLPClassifier and MLPRegressor, by their attributes alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from polyrelu.errors import NetworkError
from polyrelu.formats.dense_stack import Affine, draft_of_stack
from polyrelu.formats.imported import Draft
from polyrelu.formats.options import ReadOptions

__all__ = ["draft_of_mlp", "is_mlp"]

#: What `--strip-tail` takes away after the last layer.
_TAILS = ("logistic", "softmax", "exp")


def is_mlp(source: object) -> bool:
    """Whether an object looks like a multilayer perceptron of scikit-learn, fitted or not."""
    return all(
        hasattr(source, name) for name in ("hidden_layer_sizes", "activation", "solver", "fit")
    )


def draft_of_mlp(estimator: Any, options: ReadOptions) -> Draft:
    """The layers of a fitted perceptron; the hidden activation must be relu or identity."""
    kind = type(estimator).__name__
    if not hasattr(estimator, "coefs_") or not hasattr(estimator, "intercepts_"):
        raise NetworkError(f"this {kind} has no weights yet: call its method fit first")
    if estimator.activation not in ("relu", "identity"):
        raise NetworkError(
            f"the activation {str(estimator.activation)[:40]!r} of this {kind} is not supported; supported are relu "
            "and identity"
        )
    caveats = _tail(kind, str(estimator.out_activation_), options)
    pairs = list(zip(estimator.coefs_, estimator.intercepts_, strict=True))
    layers = [
        Affine(
            f"layer {number}",
            np.asarray(weight),
            np.asarray(bias),
            _is_relu(estimator, number < len(pairs)),
        )
        for number, (weight, bias) in enumerate(pairs, 1)
    ]
    draft = draft_of_stack(f"scikit-learn {kind}", layers)
    draft.caveats = caveats
    draft.runtime = "scikit-learn is not used for comparison"
    return draft


def _is_relu(estimator: Any, is_hidden: bool) -> bool:
    return is_hidden and estimator.activation == "relu"


def _tail(kind: str, activation: str, options: ReadOptions) -> list[str]:
    """What to say of the function after the last layer."""
    if activation == "identity":
        return []
    if activation not in _TAILS:
        raise NetworkError(
            f"the output activation {activation[:40]!r} of this {kind} is not supported"
        )
    if not options.strip_tail:
        raise NetworkError(
            f"the outputs of this {kind} go through {activation}, which is not piecewise linear; strip_tail=True "
            "leaves it out"
        )
    return [f"the {activation} after the last layer was stripped: outputs are its inputs"]
