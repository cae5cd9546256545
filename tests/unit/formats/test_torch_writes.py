"""Modules of PyTorch that write into tensors in place: harmless writes are read, others refused."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from polyrelu.errors import NetworkError
from polyrelu.formats import read

torch: Any = pytest.importorskip("torch")
nn: Any = torch.nn
F: Any = torch.nn.functional


def _module(forward: Callable[..., Any]) -> Any:
    """A module with a layer x -> (x1 - x2, -2 x1, x2 + 1, -x2), and some others."""
    module = nn.Module()
    module.fc = nn.Linear(2, 4)
    module.fc.weight = nn.Parameter(torch.tensor([[1.0, -1], [-2, 0], [0, 1], [0, -1]]))
    module.fc.bias = nn.Parameter(torch.tensor([0.0, 0, 1, 0]))
    module.head = nn.Sequential(nn.Linear(4, 3), nn.ReLU(inplace=True), nn.LSTM(3, 2))
    module.act, module.drop = nn.ReLU(inplace=True), nn.Dropout(0.5, inplace=True)
    module.scale = nn.Parameter(torch.tensor([-1.0, 2.0]))
    # torch.fx records the lines of functions of this name
    forward.__code__ = forward.__code__.replace(co_name="forward")
    kind = type("Model", (nn.Module,), {"forward": forward})
    module.__class__ = kind
    return module


def _exactly(*numbers: int) -> tuple[Fraction, ...]:
    return tuple(map(Fraction, numbers))


def _unused_branch(self: Any, x: Any) -> Any:
    h = self.fc(x)
    self.act(self.head[0](h))
    return h


def _auxiliary_head(self: Any, x: Any) -> Any:
    h = self.fc(x)
    self.head(h.relu())
    return h


def _dead_sum(self: Any, x: Any) -> Any:
    h = self.fc(x)
    g = h + 1
    g.relu_()
    return h


def _write_after_the_last_read(self: Any, x: Any) -> Any:
    h = self.fc(x)
    y = h + 0
    h.t().relu_()
    return y


def _write_into_a_clone(self: Any, x: Any) -> Any:
    h = self.fc(x)
    h.clone()[:, :2].mul_(3)
    return h


def _shape_after_a_write(self: Any, x: Any) -> Any:
    h = self.fc(x)
    y = h.clone()
    h.relu_()
    return y.view(h.shape[0], h.size(1), 1)


def _dropout(self: Any, x: Any) -> Any:
    h = self.fc(x)
    self.drop(h)
    F.dropout(h, 0.5, self.training, True)
    return h


def _augmented(self: Any, x: Any) -> Any:
    h = self.fc(x)
    size = h.shape[1]
    size += 1
    h += size
    h -= 5
    h *= 4
    h /= 2
    h = h.mul_(0.5)
    return h.clamp_(-6, 100).add_(0).view(4, size - 4)


_HARMLESS = [
    _augmented,
    _unused_branch,
    _auxiliary_head,
    _dead_sum,
    _write_after_the_last_read,
    _write_into_a_clone,
    _shape_after_a_write,
    _dropout,
]


@pytest.mark.parametrize("forward", _HARMLESS)
def test_harmless_writes_are_read(forward: Callable[..., Any]) -> None:
    """At (3, -2) the layer gives (5, -6, -1, 2); PyTorch agrees at the points of comparison."""
    imported = read(_module(forward), input_shape=(1, 2))
    assert imported.network([3, -2]) == _exactly(5, -6, -1, 2)
    assert imported.comparison.worst < 1
    assert imported.comparison.num_points == 7


def test_the_result_of_a_write_is_read() -> None:
    def forward(self: Any, x: Any) -> Any:
        return self.act(self.fc(x)).view(2, 2).mul(2).relu_()

    assert read(_module(forward), input_shape=(1, 2)).network([3, -2]) == _exactly(10, 0, 0, 4)


def _view(self: Any, x: Any) -> Any:
    h = self.fc(x)
    h.view(4).relu_()
    return h


def _transpose(self: Any, x: Any) -> Any:
    h = self.fc(x)
    h.t().relu_()
    return h


def _slice(self: Any, x: Any) -> Any:
    h = self.fc(x)
    h[:, :2].relu_()
    return h


def _chunk(self: Any, x: Any) -> Any:
    h = self.fc(x)
    first, _ = h.chunk(2, 1)
    first.mul_(3)
    return h


def _positional(self: Any, x: Any) -> Any:
    h = self.fc(x)
    return F.relu(h, True) + h


def _given_out(self: Any, x: Any) -> Any:
    h = self.fc(x)
    torch.abs(x.repeat(1, 2), out=h)
    return h


def _view_before(self: Any, x: Any) -> Any:
    h = self.fc(x)
    view = h.view(2, 2)
    y = h.relu_()
    return view + y.view(2, 2)


def _through_dropout(self: Any, x: Any) -> Any:
    h = self.fc(x)
    self.drop(h).relu_()
    return h


def _the_input(self: Any, x: Any) -> Any:
    x.unsqueeze(0).relu_()
    return self.fc(x)


def _augmented_under_another_name(self: Any, x: Any) -> Any:
    h = self.fc(x)
    g = h
    g += 1
    return h


def _augmented_after_a_view(self: Any, x: Any) -> Any:
    h = self.fc(x)
    view = h[:, 1:]
    h *= 2
    return view


_HARMFUL = [
    _augmented_under_another_name,
    _augmented_after_a_view,
    _view,
    _transpose,
    _slice,
    _chunk,
    _positional,
    _given_out,
    _view_before,
    _through_dropout,
    _the_input,
]


@pytest.mark.parametrize("forward", _HARMFUL)
def test_writes_into_what_is_read_later_are_refused(forward: Callable[..., Any]) -> None:
    first = forward.__code__.co_firstlineno
    with pytest.raises(NetworkError, match=r"in line [0-9]+ of test_torch_writes.py changed") as e:
        read(_module(forward), input_shape=(1, 2))
    line = int(str(e.value).split(" in line ")[1].split(" ")[0])
    assert first < line < first + 5


def test_writes_into_parameters_are_refused() -> None:
    def forward(self: Any, x: Any) -> Any:
        self.scale.relu_()
        return x * self.scale

    with pytest.raises(NetworkError, match="writes into the parameter 'scale' of the module"):
        read(_module(forward), input_shape=(1, 2))


def test_the_remedy_works() -> None:
    """The messages say: write the operation without inplace=True or the final underscore."""

    def forward(self: Any, x: Any) -> Any:
        h = self.fc(x)
        return F.relu(h) + h

    network = read(_module(forward), input_shape=(1, 2)).network
    assert network([3, -2]) == _exactly(10, -6, -1, 4)
    assert network(["1/3", 0])[0] == Fraction(2, 3)
