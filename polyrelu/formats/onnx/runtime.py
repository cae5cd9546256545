"""onnxruntime as the runtime of ONNX files.

Every named value of the graph becomes an output, so that it can be compared, and all optimisations
are off: the bound on rounding errors holds for a runtime that evaluates the nodes one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["OnnxRuntime", "runtime_or_reason"]


def runtime_or_reason(model: Any, names: list[str]) -> OnnxRuntime | str:
    """Return a runtime for a model, with the named values as outputs, or why there is none."""
    return OnnxRuntime(model, names) if find_spec("onnxruntime") else "onnxruntime is not installed"


class OnnxRuntime:
    """A model in onnxruntime, with named intermediate values as outputs.

    The session is created at the first run, because importing onnxruntime takes longer than reading
    a small file.
    """

    def __init__(self, model: Any, names: list[str]) -> None:
        self._model, self._names = model, names
        self._session: Any = None

    @property
    def name(self) -> str:
        """Name and version of the runtime."""
        import onnxruntime

        return f"onnxruntime {onnxruntime.__version__}"

    def run(self, inputs: Sequence[NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """Compute the values by name, for one sample with one array per input."""
        if self._session is None:
            self._session = self._new_session()
        feed = {entry.name: x for entry, x in zip(self._session.get_inputs(), inputs, strict=True)}
        outputs = [entry.name for entry in self._session.get_outputs()]
        return {
            name: np.asarray(value)
            for name, value in zip(outputs, self._session.run(None, feed), strict=True)
        }

    def _new_session(self) -> Any:
        """Return a session on one thread whose outputs include the named values."""
        import onnx
        import onnxruntime

        model = onnx.ModelProto()
        model.CopyFrom(self._model)
        present = {entry.name for entry in model.graph.output}
        model.graph.output.extend(
            onnx.ValueInfoProto(name=name) for name in self._names if name not in present
        )
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4
        return onnxruntime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
