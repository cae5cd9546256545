"""Make ONNX files for the tests, and run them with onnxruntime."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper


def node(operation: str, inputs: Sequence[str], output: str, **attributes: Any) -> Any:
    """Return an ONNX node."""
    return helper.make_node(operation, list(inputs), [output], name=f"n_{output}", **attributes)


def constant(name: str, values: Any, dtype: Any = np.float32) -> Any:
    """Return an initializer."""
    return numpy_helper.from_array(np.asarray(values, dtype=dtype), name)


def model(
    nodes: Sequence[Any],
    constants: Sequence[Any] = (),
    shape: Sequence[int | str] = (1, 2),
    opset: int = 13,
    element: int = TensorProto.FLOAT,
    output: str = "y",
    more_inputs: Sequence[str] = (),
    more_outputs: Sequence[str] = (),
) -> bytes:
    """Return a serialized model with input x and output y; it may be invalid."""
    inputs = [
        helper.make_tensor_value_info(name, element, list(shape)) for name in ["x", *more_inputs]
    ]
    outputs = [
        helper.make_tensor_value_info(name, element, None) for name in [output, *more_outputs]
    ]
    graph = helper.make_graph(list(nodes), "graph", inputs, outputs, list(constants))
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    return bytes(made.SerializeToString())


def write(folder: Path, name: str, content: bytes | str) -> Path:
    """Write a file to the folder and return its path."""
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def session_of(content: bytes) -> Any:
    """Return a session of onnxruntime on one thread."""
    onnxruntime = pytest.importorskip("onnxruntime")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
