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
from polyrelu.formats.claims import ClaimsFile, read_claims
from polyrelu.formats.domain import Slice, parse_domain, parse_slice
from polyrelu.formats.examples import Example, examples, find_example
from polyrelu.formats.float_outputs import FloatOutputs, float_outputs
from polyrelu.formats.imported import Comparison, Imported
from polyrelu.formats.load import FORMATS, choices_of, load, read
from polyrelu.formats.options import Rounding
from polyrelu.formats.runtime_error import RuntimeErrorBound, runtime_error, runtime_errors_at
from polyrelu.formats.samples import Samples, read_samples
from polyrelu.formats.violation import CounterexampleCheck, check_counterexample
from polyrelu.formats.vnnlib import (
    Case,
    Clause,
    ClauseRow,
    Conjunction,
    Constraint,
    Counterexample,
    DeclaredNetwork,
    Disjunction,
    Property,
    PropertyPart,
    Tensor,
    VnnlibQuery,
    counterexample_text,
    property_of,
    read_counterexample,
    read_vnnlib,
)
from polyrelu.formats.writers.nnet import save_nnet
from polyrelu.formats.writers.npz import save_npz
from polyrelu.formats.writers.onnx import save_onnx
from polyrelu.formats.writers.save import WRITTEN, save
from polyrelu.formats.writers.saved import SavedNetwork
from polyrelu.formats.writers.torch import save_torch

__all__ = [
    "FORMATS",
    "WRITTEN",
    "Case",
    "ClaimsFile",
    "Clause",
    "ClauseRow",
    "Comparison",
    "Conjunction",
    "Constraint",
    "Counterexample",
    "CounterexampleCheck",
    "DeclaredNetwork",
    "Disjunction",
    "DomainLike",
    "Example",
    "FloatOutputs",
    "Imported",
    "NetworkLike",
    "Property",
    "PropertyPart",
    "Rounding",
    "RuntimeErrorBound",
    "Samples",
    "SavedNetwork",
    "Slice",
    "Tensor",
    "VnnlibQuery",
    "as_domain",
    "as_imported",
    "as_network",
    "as_point",
    "as_points",
    "check_counterexample",
    "choices_of",
    "counterexample_text",
    "examples",
    "find_example",
    "float_outputs",
    "load",
    "parse_domain",
    "parse_slice",
    "property_of",
    "read",
    "read_claims",
    "read_counterexample",
    "read_samples",
    "read_vnnlib",
    "runtime_error",
    "runtime_errors_at",
    "save",
    "save_nnet",
    "save_npz",
    "save_onnx",
    "save_torch",
]
