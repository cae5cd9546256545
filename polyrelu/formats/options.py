"""The choices of a user who reads a network file, among them the rounding rules.

Reading may round numbers in four situations only, which a file can force. Each situation has a rule
with a default, and every rule that was used is recorded with the network and in certificates. The
names and values of the rules are part of the command line (``--rounding``), so they must not
change.

``batchnorm``: float64 (default) or float32
    An irrational factor 1/√(variance + ε) of a batch normalisation is rounded to this format.
``text``: exact (default), float64 or float32
    A decimal in a text file (``.nnet``, ``.eran``) is taken exactly, or rounded to this format.
``attributes``: stored (default) or decimal
    A float32 attribute of a node (a slope, an ε) is the dyadic number that is stored, or the
    shortest decimal that float32 rounds to it.
``normalisation``: exact (default), float64 or float32
    A weight into which a normalisation of the inputs or outputs was folded is exact, or rounded to
    this format.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields
from fractions import Fraction

import numpy as np

from polyrelu.errors import NetworkError
from polyrelu.exact import FloatFormat
from polyrelu.formats.graph.constants import FLOAT_FORMATS
from polyrelu.support.arguments import expect

__all__ = ["NORMALISATIONS", "ROUNDING_RULES", "ReadOptions", "Rounding"]

#: The values of each rounding rule, the default first.
ROUNDING_RULES = {
    "batchnorm": ("float64", "float32"),
    "text": ("exact", "float64", "float32"),
    "attributes": ("stored", "decimal"),
    "normalisation": ("exact", "float64", "float32"),
}

_DECIMAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?", re.ASCII)

#: Which of a file's own normalisations become part of the network.
NORMALISATIONS = ("none", "inputs", "outputs", "both")


@dataclass(frozen=True, slots=True)
class Rounding:
    """The rounding rules for the steps of reading that cannot be exact.

    Attributes
    ----------
    batchnorm
        ``float64`` or ``float32``: the format to which an irrational factor 1/√(variance + ε) of a
        batch normalisation is rounded.
    text
        ``exact``, ``float64`` or ``float32``: whether a decimal in a text file is taken exactly, or
        rounded to a format.
    attributes
        ``stored`` or ``decimal``: whether a float32 attribute of a node is the dyadic number that
        is stored, or the shortest decimal that float32 rounds to it.
    normalisation
        ``exact``, ``float64`` or ``float32``: whether a weight into which a normalisation was
        folded is exact, or rounded to a format.

    Examples
    --------
    >>> Rounding.parse("text=float32").text, Rounding().batchnorm
    ('float32', 'float64')
    """

    batchnorm: str = "float64"
    text: str = "exact"
    attributes: str = "stored"
    normalisation: str = "exact"

    def __post_init__(self) -> None:
        for rule in fields(self):
            value = getattr(self, rule.name)
            if value not in ROUNDING_RULES[rule.name]:
                known = ", ".join(ROUNDING_RULES[rule.name])
                raise NetworkError(f"rounding {rule.name}={str(value)[:40]}: choose from {known}")

    @classmethod
    def parse(cls, text: str) -> Rounding:
        """Parse rules given as text, ``rule=value`` separated by commas.

        Rules that are not named keep their defaults; a text of another form raises a
        `NetworkError`.
        """
        chosen: dict[str, str] = {}
        for entry in filter(None, (part.strip() for part in expect(text, str, "text").split(","))):
            name, equals, value = (part.strip() for part in entry.partition("="))
            if not equals or name not in ROUNDING_RULES or name in chosen:
                known = "; ".join(
                    f"{rule}={'|'.join(values)}" for rule, values in ROUNDING_RULES.items()
                )
                raise NetworkError(
                    f"rounding {entry[:40]!r}: expected rule=value, each rule once, of {known}"
                )
            chosen[name] = value
        return cls(**chosen)

    def attribute(self, value: float) -> Fraction:
        """Return the exact number for a float32 attribute, under the rule `attributes`.

        >>> Rounding(attributes="decimal").attribute(0.10000000149011612)
        Fraction(1, 10)
        """
        if not np.isfinite(value):
            raise NetworkError(f"an attribute is {value}")
        return Fraction(str(np.float32(value)) if self.attributes == "decimal" else float(value))

    def setting(self, value: float) -> Fraction:
        """Return the exact number for a float64 setting, under the rule `attributes`.

        >>> Rounding(attributes="decimal").setting(0.1)
        Fraction(1, 10)
        """
        return Fraction(repr(value)) if self.attributes == "decimal" else Fraction(value)

    @staticmethod
    def matters(value: float) -> bool:
        """Return whether the values of the rule `attributes` give different numbers here."""
        return Fraction(str(np.float32(value))) != Fraction(value)

    def number(self, text: str) -> Fraction:
        """Return the exact number for decimal text, under the rule `text`.

        A `ValueError` is raised unless the text is a decimal with an exponent of at most three
        digits.
        """
        if not _DECIMAL.fullmatch(expect(text, str, "text")):
            raise ValueError(f"{text[:40]!r} is not a decimal number")
        exact = Fraction(text)
        return exact if self.text == "exact" else FLOAT_FORMATS[self.text].nearest(exact)

    def normalised(self, value: Fraction) -> Fraction:
        """Return a weight with a folded normalisation, under the rule `normalisation`."""
        if self.normalisation == "exact":
            return value
        return FLOAT_FORMATS[self.normalisation].nearest(value)

    @property
    def roots(self) -> FloatFormat:
        """The float format to which irrational inverse square roots are rounded."""
        return FLOAT_FORMATS[self.batchnorm]


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """The choices of a user who reads a network.

    Attributes
    ----------
    rounding
        The rounding rules.
    prefix
        For files with several networks, the prefix of the names of the wanted network.
    normalisation
        Which of the file's own normalisations become part of the network (`NORMALISATIONS`).
    strip_tail
        Whether a Softmax, Sigmoid, … after the last layer is left out.
    input_shape
        The shape of one sample, if the file or object does not give it.
    compare
        Whether values are compared with the format's own runtime, if it is installed.
    output_name
        The name of the value that is the output, for files that name their values.
    read_limit
        How many times the usual amounts of memory and work the reading may take (`meter`).
    """

    rounding: Rounding = field(default_factory=Rounding)
    prefix: str | None = None
    normalisation: str = "none"
    strip_tail: bool = False
    input_shape: tuple[int, ...] | None = None
    compare: bool = True
    output_name: str | None = None
    read_limit: float = 1.0

    def __post_init__(self) -> None:
        if not self.read_limit > 0:
            raise NetworkError(f"read limit {self.read_limit}: expected a number above 0, or inf")
        if self.normalisation not in NORMALISATIONS:
            raise NetworkError(
                f"normalisation {self.normalisation!r}: choose from {', '.join(NORMALISATIONS)}"
            )
        if self.input_shape is not None and (not self.input_shape or min(self.input_shape) < 1):
            raise NetworkError(f"input shape {list(self.input_shape)}: expected positive sizes")
