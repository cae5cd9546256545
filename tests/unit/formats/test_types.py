"""What checkers of types accept as a network or a domain, and what they refuse.

The project's own run of mypy judges this file: a line that it should refuse carries an ignored
error, and mypy reports one that is not needed.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from polyrelu.errors import PolyreluError
from polyrelu.formats import DomainLike, NetworkLike, as_domain, as_network, read
from polyrelu.network import from_arrays

if TYPE_CHECKING:
    from polyrelu.formats.source_types import Perceptron, TorchModule

PAIRS = [([[1, 2]], [3])]


class Module:
    """What a checker sees of `torch.nn.Module`."""

    def state_dict(
        self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False
    ) -> dict[str, Any]:
        """The weights by their names."""
        return {}

    def named_modules(self, memo: Any = None, prefix: str = "") -> Any:
        """All modules with their names."""
        return iter(())


class Estimator:
    """What a checker sees of `sklearn.neural_network.MLPRegressor`."""

    def __init__(self) -> None:
        """Leave the weights out."""
        self.hidden_layer_sizes = (3,)
        self.activation, self.solver = "relu", "adam"


def test_what_is_accepted() -> None:
    module: TorchModule = Module()
    perceptron: Perceptron = Estimator()
    networks: list[NetworkLike] = [
        from_arrays(PAIRS),
        read(PAIRS),
        PAIRS,
        [[np.ones((1, 2)), np.zeros(1)]],
        zip([[[1, 2]]], [[3]], strict=True),
        "example:xor",
    ]
    assert [as_network(network).num_outputs for network in networks] == [1] * 6
    others: list[NetworkLike] = [Path("no such file.npz"), module, perceptron]
    for network in others:
        with pytest.raises(PolyreluError):
            as_network(network)
    domains: list[DomainLike] = ["box:0,1", None, as_domain("orthant", 2)]
    assert [as_domain(domain, 2).ambient_dimension for domain in domains] == [2] * 3


def test_what_is_refused() -> None:
    for call in (
        lambda: as_network(3),  # type: ignore[arg-type]
        lambda: as_network(from_arrays),  # type: ignore[arg-type]
        lambda: as_network([1, 2]),  # type: ignore[list-item]
        lambda: as_domain(3, 2),  # type: ignore[arg-type]
        lambda: as_domain([0, 1], 2),  # type: ignore[arg-type]
    ):
        with pytest.raises(PolyreluError):
            call()
