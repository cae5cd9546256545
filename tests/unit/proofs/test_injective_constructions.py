"""Convolutions that are injective for every size, and networks that are made injective."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import polyrelu
from polyrelu import ArgumentError, DomainError, NetworkError, checker
from polyrelu.exact import rank
from polyrelu.outcomes import Injective, Undecided
from polyrelu.proofs import (
    InjectiveKernels,
    MadeInjective,
    convolution_layer,
    doubled_layer,
    injective_kernels,
    made_injective,
    opposite_kernels,
)
from polyrelu.proofs.injectivity.convolutions import Border

#: Puthawala et al. (2020), equations (12) and (10), (11).
LINE: list[Any] = [[[1, 0, -1]], [[1, 0, 1]], [[-1, 0, 1]], [[-1, 0, -1]]]


BORDERS: tuple[Border, ...] = ("valid", "zero", "periodic")
SAME: Any = "same"


def square(large: int) -> list[Any]:
    """The four kernels of 2 × 2 with one large entry, and their negatives."""
    kernels = []
    for place in range(4):
        entries = [large if k == place else -1 for k in range(4)]
        kernels.append([[entries[:2], entries[2:]]])
    return opposite_kernels(kernels, [1] * 4)


def is_accepted(outcome: Injective) -> bool:
    """Whether the checker accepts the certificate."""
    document, _ = outcome.certificate.to_document()
    return checker.check_bytes(json.dumps(document).encode()).verdict == "accepted"


def test_a_larger_box() -> None:
    """A box of 3 has too few shifts, one of 4 is enough, as printed."""
    found = injective_kernels(LINE)
    assert isinstance(found, InjectiveKernels)
    assert found.box == (4,)
    assert is_accepted(found.outcome)
    assert found.layer == convolution_layer(LINE, [4])
    for border in BORDERS:
        for size in (4, 5, 6):
            layer = convolution_layer(LINE, [size], border=border)
            assert polyrelu.injective(layer).status == "proved"


def test_the_printed_square_kernels() -> None:
    """Constant images have equal outputs: rank 3, and N² - 1 with valid and periodic borders."""
    kernels = square(3)
    found = injective_kernels(kernels, budget=2_000)
    assert isinstance(found, Undecided)
    assert "2 × 2: not injective" in str(found.attempts[0])
    for size in (2, 3, 4):
        for border in ("valid", "periodic"):
            layer = convolution_layer(kernels, [size, size], border=border)
            ones, zeros = [1] * size**2, [0] * size**2
            assert layer(ones) == layer(zeros)
            assert rank(layer.weight(1)) == size**2 - 1
        assert rank(convolution_layer(kernels, [size, size], border="zero").weight(1)) == size**2


def test_the_corrected_square_kernels() -> None:
    """With 4 in place of 3 the kernels are a basis and its negatives."""
    found = injective_kernels(square(4))
    assert isinstance(found, InjectiveKernels)
    assert found.box == (2, 2)
    layer = convolution_layer(square(4), [3, 3])
    assert polyrelu.injective(layer).status == "proved"


def test_channels_and_biases() -> None:
    """Two channels; a bias on opposite kernels that leaves no gap, and one that does."""
    kernels = opposite_kernels([[[1], [2]], [[1], [-1]]], [1, 2])
    found = injective_kernels(kernels, bias=[1, 0, 0, 0])
    assert isinstance(found, InjectiveKernels)
    assert found.box == (1,)
    assert isinstance(injective_kernels(kernels, bias=[-1, 0, 0, 0], budget=500), Undecided)


def test_the_unrolled_layer_is_the_convolution() -> None:
    """Against numpy, in one and two dimensions, with strides and borders."""
    random = np.random.default_rng(0)
    kernels = random.integers(-3, 4, (2, 2, 3))
    x = random.integers(-3, 4, (2, 7))
    extensions = (x, np.pad(x, ((0, 0), (2, 2))), np.hstack([x, x[:, :2]]))
    for border, extended in zip(BORDERS, extensions, strict=True):
        for stride in (1, 2):
            layer = convolution_layer(kernels, [7], border=border, stride=stride)
            starts = range(0, extended.shape[1] - 2, stride)
            expected = [
                max(int((kernel * extended[:, s : s + 3]).sum()), 0)
                for s in starts
                for kernel in kernels
            ]
            assert list(layer(x.ravel().tolist())) == expected


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: convolution_layer([1, 2], [3]), "kernels: expected the shape"),
        (lambda: convolution_layer(LINE, [2]), "shape: expected 1 sizes"),
        (lambda: convolution_layer(LINE, [4], bias=[1]), "bias: expected 4 numbers"),
        (lambda: convolution_layer(LINE, [4], border=SAME), "border: choose from"),
        (lambda: opposite_kernels(LINE, [1, 0, 1, 1]), "scales: expected 4 numbers"),
        (lambda: doubled_layer([[1, 2], [2, 4]]), "basis: expected n independent rows"),
        (lambda: doubled_layer([[1]], [-1]), "scales: expected 1 positive numbers"),
        (lambda: made_injective([([[1]], [0])], "box:0,1", 0), "distance: expected a positive"),
    ],
)
def test_wrong_arguments(call: Any, text: str) -> None:
    with pytest.raises(ArgumentError, match=text):
        call()


def test_doubled_layers() -> None:
    layer = doubled_layer([[3, 1, 0], [1, "1/2", 2], [0, 1, 1]], [1, "1/3", 2])
    outcome = polyrelu.injective(layer)
    assert isinstance(outcome, Injective)
    assert outcome.search.num_programs == 0  # opposite rows are enough


def test_made_injective() -> None:
    """A network that folds the plane, and its image in R^5 after a small change."""
    fold: Any = [
        ([[1, 0], [-1, 0], [0, 1], [0, -1]], [0] * 4),
        ([[1, 1, 0, 0], [0, 0, 1, 1], [1, 1, 1, 1], [1, 1, 0, 0], [0, 0, 1, 1]], [0] * 5),
    ]
    assert polyrelu.injective(fold, "box:-1,1").status == "refuted"
    made = made_injective(fold, "box:-1,1", "1/10")
    assert isinstance(made, MadeInjective)
    assert is_accepted(made.outcome)
    assert made.distance == Fraction(1, 10)
    net = polyrelu.from_arrays(fold)
    corners = [(a, b) for a in (-1, 1) for b in (-1, 1)]
    changes = [abs(a - b) for x in corners for a, b in zip(net(x), made.network(x), strict=True)]
    assert max(changes) == Fraction(1, 10)
    same = made_injective(fold, "box:-1,1", "1/10")
    assert isinstance(same, MadeInjective)
    assert same.network == made.network


def test_where_no_map_helps() -> None:
    """One output cannot tell the points of a square apart; a ReLU at the end, R^n."""
    found = made_injective([([[1, 1]], [0])], "box:-1,1")
    assert isinstance(found, Undecided)
    with pytest.raises(NetworkError, match="affine output"):
        made_injective(doubled_layer([[1]]), "box:0,1")
    with pytest.raises(DomainError, match="bounded"):
        made_injective([([[1]], [0])], "R^n")
