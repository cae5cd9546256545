"""VNN-LIB files: queries about networks, versions 1 and 2, and their counterexamples.

A query is a conjunction of assertions about inputs and outputs; a point that satisfies it is a
counterexample to the property that the query was made from. Numbers are taken exactly, and
variables stand for real numbers, whatever element type a file declares. `syntax` reads
parentheses, `reader` makes a `VnnlibQuery` of them, `query` has the types; `normal_form` turns a
query into its property.
"""

from polyrelu.formats.vnnlib.counterexample import (
    Counterexample,
    counterexample_text,
    read_counterexample,
)
from polyrelu.formats.vnnlib.normal_form import (
    Clause,
    ClauseRow,
    Property,
    PropertyPart,
    property_of,
)
from polyrelu.formats.vnnlib.query import (
    Case,
    Conjunction,
    Constraint,
    DeclaredNetwork,
    Disjunction,
    Tensor,
    VnnlibQuery,
)
from polyrelu.formats.vnnlib.reader import read_vnnlib

__all__ = [
    "Case",
    "Clause",
    "ClauseRow",
    "Conjunction",
    "Constraint",
    "Counterexample",
    "DeclaredNetwork",
    "Disjunction",
    "Property",
    "PropertyPart",
    "Tensor",
    "VnnlibQuery",
    "counterexample_text",
    "property_of",
    "read_counterexample",
    "read_vnnlib",
]
