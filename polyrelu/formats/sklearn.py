"""Fitted multilayer perceptrons of scikit-learn: MLPClassifier and MLPRegressor.

An estimator becomes a draft by its attributes alone, so scikit-learn is never imported. The output
activation of a classifier is not piecewise linear; it is refused, or stripped if the user asks.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from polyrelu.errors import NetworkError
from polyrelu.formats.dense_stack import Affine, draft_of_stack
from polyrelu.formats.hints import Hint, hinted
from polyrelu.formats.imported import Draft
from polyrelu.formats.options import ReadOptions

__all__ = ["draft_of_mlp", "is_mlp"]

#: The output activations that `--strip-tail` leaves out.
_TAILS = ("logistic", "softmax", "exp")


def is_mlp(source: object) -> bool:
    """Return whether an object looks like an MLP of scikit-learn, fitted or not."""
    return all(
        hasattr(source, name) for name in ("hidden_layer_sizes", "activation", "solver", "fit")
    )


def draft_of_mlp(estimator: Any, options: ReadOptions) -> Draft:
    """Return the draft of a fitted perceptron whose hidden activation is relu or identity."""
    kind = type(estimator).__name__
    if not hasattr(estimator, "coefs_") or not hasattr(estimator, "intercepts_"):
        raise NetworkError(f"this {kind} has no weights yet: call its method fit first")
    if estimator.activation not in ("relu", "identity"):
        raise NetworkError(
            f"the activation {str(estimator.activation)[:40]!r} of this {kind} is not supported; "
            "supported are relu and identity"
        )
    caveats = _output_caveats(kind, str(estimator.out_activation_), options)
    pairs = list(zip(estimator.coefs_, estimator.intercepts_, strict=True))
    layers = []
    for number, (weight, bias) in enumerate(pairs, 1):
        relu = estimator.activation == "relu" and number < len(pairs)
        layers.append(Affine(f"layer {number}", np.asarray(weight), np.asarray(bias), relu))
    draft = draft_of_stack(f"scikit-learn {kind}", layers)
    draft.caveats = caveats
    draft.runtime = "scikit-learn is not used for comparison"
    return draft


def _output_caveats(kind: str, activation: str, options: ReadOptions) -> list[str]:
    """Return the caveats on the output activation, or refuse an activation that is not stripped."""
    if activation == "identity":
        return []
    if activation not in _TAILS:
        raise NetworkError(
            f"the output activation {activation[:40]!r} of this {kind} is not supported"
        )
    if not options.strip_tail:
        error = NetworkError(
            f"the outputs of this {kind} go through {activation}, which is not piecewise linear"
        )
        raise hinted(error, Hint("strip_tail=True leaves it out", {"strip_tail": True}))
    return [f"the {activation} after the last layer was stripped: outputs are its inputs"]
