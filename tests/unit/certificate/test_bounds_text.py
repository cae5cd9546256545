"""Certificates of bounds in words."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyrelu.certificate import describe, describe_latex, read_certificate
from tests.generators.bounds_examples import ACCEPTED
from tests.generators.tree_documents import written

SENTENCES = {
    "exact": "has this range on [-1, 1]^1: output 0 has its least value 0, and its largest value "
    "1.",
    "matched": "have a deviation: the largest difference of 1 output is at most 1/4 on [-1, 1]^1, "
    "and at least 1/4 at a point of the domain.",
    "outside of a box": "the largest difference of 1 output is at most 3/16 on [-1, 1]^1, outside "
    "of 1 listed box, and at least 1/4 at a point of the domain.",
    "two networks": "has this property at every point of [-1, 1]^1: 2 f_0 - g_0 - 1 <= 0; f and g "
    "are their outputs.",
    "decisions": "decide alike: at every point of [-1, 1]^1, where one output of the first exceeds "
    "all others by more than 1/8, the same output of the second exceeds all others.",
    "smallest": "decide alike: at every point of [-1, 1]^1, where one output of the first is "
    "smaller than all others by more than 1/8, the same output of the second is smaller than all "
    "others.",
    "Lipschitz": "has these slopes of outputs: the largest 1-norm of a gradient is between 1 and "
    "1, on [-1, 1]^1.",
}


@pytest.mark.parametrize("name", SENTENCES)
def test_statements(name: str, tmp_path: Path) -> None:
    path = tmp_path / "bounds.json"
    path.write_bytes(written(ACCEPTED[name]))
    certificate = read_certificate(path)
    text = describe(certificate)
    assert SENTENCES[name] in " ".join(text.split("\n\n")[0].split())
    assert max(map(len, text.splitlines())) <= 100
    assert "numbers between the floats included" in " ".join(text.split())
    assert r"\begin{proposition}" in describe_latex(certificate)
