"""Network files to exact networks, one module or folder per file format.

A reader turns a file into a `Draft`: either a list of layers or a graph of tensor operations
(`formats/graph`), which is then lowered to a network of ReLU layers. Nothing is rounded, guessed or
skipped in silence: what a reader cannot take exactly it refuses with a `NetworkFileError`, and
every rounding rule, merge or omission that it applies is recorded in the `Imported` result.
"""

from polyrelu.formats.arguments import (
    DomainLike,
    NetworkLike,
    as_domain,
    as_imported,
    as_network,
    as_point,
    as_points,
)
from polyrelu.formats.domain import Slice, parse_domain, parse_slice
from polyrelu.formats.examples import Example, examples, find_example
from polyrelu.formats.float_outputs import FloatOutputs, float_outputs
from polyrelu.formats.imported import Comparison, Imported
from polyrelu.formats.load import FORMATS, choices_of, load, read
from polyrelu.formats.native import save
from polyrelu.formats.npz import save_npz
from polyrelu.formats.onnx.writer import OnnxExport, save_onnx
from polyrelu.formats.options import Rounding
from polyrelu.formats.runtime_error import RuntimeErrorBound, runtime_error

__all__ = [
    "FORMATS",
    "Comparison",
    "DomainLike",
    "Example",
    "FloatOutputs",
    "Imported",
    "NetworkLike",
    "OnnxExport",
    "Rounding",
    "RuntimeErrorBound",
    "Slice",
    "as_domain",
    "as_imported",
    "as_network",
    "as_point",
    "as_points",
    "choices_of",
    "examples",
    "find_example",
    "float_outputs",
    "load",
    "parse_domain",
    "parse_slice",
    "read",
    "runtime_error",
    "save",
    "save_npz",
    "save_onnx",
]
