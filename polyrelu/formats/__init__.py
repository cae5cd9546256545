"""Network files to exact networks, one module or folder per file format.

A reader turns a file into a `Draft`: either a list of layers or a graph of tensor operations
(`formats/graph`), which is then lowered to a network of ReLU layers. Nothing is rounded, guessed or
skipped in silence: what a reader cannot take exactly it refuses with a `NetworkFileError`, and
every rounding rule, merge or omission that it applies is recorded in the `Imported` result.
"""

from polyrelu.formats.imported import Comparison, Imported
from polyrelu.formats.load import FORMATS, choices_of, load, read
from polyrelu.formats.native import save
from polyrelu.formats.npz import save_npz
from polyrelu.formats.onnx.writer import OnnxExport, save_onnx
from polyrelu.formats.options import Rounding
from polyrelu.formats.runtimes.float_outputs import FloatOutputs, float_outputs
from polyrelu.formats.runtimes.runtime_error import RuntimeErrorBound, runtime_error

__all__ = [
    "FORMATS",
    "Comparison",
    "FloatOutputs",
    "Imported",
    "OnnxExport",
    "Rounding",
    "RuntimeErrorBound",
    "choices_of",
    "float_outputs",
    "load",
    "read",
    "runtime_error",
    "save",
    "save_npz",
    "save_onnx",
]
