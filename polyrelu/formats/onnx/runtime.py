"""onnxruntime as the runtime of ONNX files, with every intermediate value as an output and no node fused."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["OnnxRuntime", "runtime_or_reason"]


def runtime_or_reason(model: Any, names: list[str]) -> OnnxRuntime | str:
    """The runtime of a model that was read, or why there is none."""
    return OnnxRuntime(model, names) if find_spec("onnxruntime") else "onnxruntime is not installed"


class OnnxRuntime:
    """Sessions are made when they are needed: importing onnxruntime takes longer than reading a small file."""

    def __init__(self, model: Any, names: list[str]) -> None:
        self._model, self._names = model, names
        self._session: Any = None

    @property
    def name(self) -> str:
        """Name and version."""
        import onnxruntime

        return f"onnxruntime {onnxruntime.__version__}"

    def run(self, inputs: Sequence[NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """The values by name, for one sample."""
        if self._session is None:
            self._session = self._started()
        feed = {entry.name: x for entry, x in zip(self._session.get_inputs(), inputs, strict=True)}
        outputs = [entry.name for entry in self._session.get_outputs()]
        return {
            name: np.asarray(value)
            for name, value in zip(outputs, self._session.run(None, feed), strict=True)
        }

    def _started(self) -> Any:
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
