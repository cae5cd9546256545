"""Network files to exact networks: one module per format, nothing rounded, guessed or skipped in silence."""

from polyrelu.importers.float_outputs import FloatOutputs, float_outputs
from polyrelu.importers.imported import Comparison, Imported
from polyrelu.importers.load import FORMATS, choices_of, load, read
from polyrelu.importers.native import save
from polyrelu.importers.onnx_export import OnnxExport, save_onnx
from polyrelu.importers.options import Rounding
from polyrelu.importers.runtime_error import RuntimeErrorBound, runtime_error

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
