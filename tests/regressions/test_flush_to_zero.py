"""A process that takes subnormal numbers for 0 would read other weights, and now gets an error.

Torch can switch this mode on.
"""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from polyrelu.errors import NetworkError
from polyrelu.exact import floats
from polyrelu.network import from_arrays

_PROGRAM = """
import numpy, torch, polyrelu
pairs = [(numpy.array([[2.0**-1060]]), numpy.zeros(1))]
assert polyrelu.load(pairs).weight(1)[0, 0] > 0
if torch.set_flush_denormal(True):
    try:
        polyrelu.load(pairs)
    except polyrelu.NetworkError as error:
        print(error)
else:
    print("flush to zero is not there")
"""


def test_weights_are_not_read_while_subnormals_are_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = [(np.array([[2.0**-1060]]), np.zeros(1))]
    assert from_arrays(pairs).weight(1)[0, 0] > 0
    # In such a process the least number becomes 0.
    monkeypatch.setattr(floats, "_LEAST", np.zeros(1))
    with pytest.raises(NetworkError, match="flush to zero"):
        from_arrays(pairs)


@pytest.mark.slow
def test_torch_that_flushes() -> None:
    pytest.importorskip("torch")
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert "flush to zero" in done.stdout
