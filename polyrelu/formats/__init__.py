"""Network files to exact networks: one module per format, nothing rounded, guessed or skipped in silence."""

from polyrelu.formats.imported import Comparison, Imported
from polyrelu.formats.load import FORMATS, choices_of, load, read
from polyrelu.formats.native import save
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
    "save_onnx",
]
