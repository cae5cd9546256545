"""What a user may choose when a network file is read, and the rounding rules.

Reading never rounds, with four exceptions that a file can force. Each has a rule with a default; every rule that was
used is recorded with the network and in certificates.

=============== ==================================== ===================================================================
rule            values, the default first            what it decides
=============== ==================================== ===================================================================
batchnorm       float64, float32                     1/√(variance + ε), unless rational, is rounded to this format
text            exact, float64, float32              decimal text (``.nnet``) is that number, or the nearest float
attributes      stored, decimal                      a float32 attribute of a node (a slope, an ε) is the dyadic number
                                                     stored, or the shortest decimal that float32 stores like this
normalisation   exact, float64, float32              weights into which an input normalisation was folded: exact, or the
                                                     nearest float
=============== ==================================== ===================================================================
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields
from fractions import Fraction

import numpy as np

from polyrelu.errors import NetworkError
from polyrelu.exact import FLOAT32, FLOAT64, FloatFormat

__all__ = ["NORMALISATIONS", "ReadOptions", "Rounding"]

_CHOICES = {
    "batchnorm": ("float64", "float32"),
    "text": ("exact", "float64", "float32"),
    "attributes": ("stored", "decimal"),
    "normalisation": ("exact", "float64", "float32"),
}

_FORMATS = {"float32": FLOAT32, "float64": FLOAT64}

_DECIMAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?", re.ASCII)

#: What of a file's own normalisation belongs to the network.
NORMALISATIONS = ("none", "inputs", "outputs", "both")


@dataclass(frozen=True, slots=True)
class Rounding:
    """The rounding rules; see the module for what they mean.

    >>> Rounding.parse("text=float32").text, Rounding().batchnorm
    ('float32', 'float64')
    """

    batchnorm: str = "float64"
    text: str = "exact"
    attributes: str = "stored"
    normalisation: str = "exact"

    def __post_init__(self) -> None:
        for rule in fields(self):
            if getattr(self, rule.name) not in _CHOICES[rule.name]:
                known = ", ".join(_CHOICES[rule.name])
                raise NetworkError(
                    f"rounding {rule.name}={str(getattr(self, rule.name))[:40]}: choose from {known}"
                )

    @classmethod
    def parse(cls, text: str) -> Rounding:
        """Rules as text, ``rule=value`` separated by commas."""
        chosen: dict[str, str] = {}
        for entry in filter(None, (part.strip() for part in text.split(","))):
            name, equals, value = (part.strip() for part in entry.partition("="))
            if not equals or name not in _CHOICES or name in chosen:
                known = "; ".join(f"{rule}={'|'.join(values)}" for rule, values in _CHOICES.items())
                raise NetworkError(
                    f"rounding {entry[:40]!r}: expected rule=value, each rule once, of {known}"
                )
            chosen[name] = value
        return cls(**chosen)

    def attribute(self, value: float) -> Fraction:
        """A float32 attribute as a number.

        >>> Rounding(attributes="decimal").attribute(0.10000000149011612)
        Fraction(1, 10)
        """
        if not np.isfinite(value):
            raise NetworkError(f"an attribute is {value}")
        return Fraction(str(np.float32(value)) if self.attributes == "decimal" else float(value))

    @staticmethod
    def matters(value: float) -> bool:
        """Whether the rule for attributes makes a difference for this one."""
        return Fraction(str(np.float32(value))) != Fraction(value)

    def number(self, text: str) -> Fraction:
        """Decimal text as a number; `ValueError` if it is none, or has an exponent of more than three digits."""
        if not _DECIMAL.fullmatch(text):
            raise ValueError(f"{text[:40]!r} is not a decimal number")
        exact = Fraction(text)
        return exact if self.text == "exact" else _FORMATS[self.text].nearest(exact)

    def normalised(self, value: Fraction) -> Fraction:
        """A weight into which a normalisation was folded."""
        return (
            value if self.normalisation == "exact" else _FORMATS[self.normalisation].nearest(value)
        )

    @property
    def roots(self) -> FloatFormat:
        """The format of inverse square roots."""
        return _FORMATS[self.batchnorm]


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """Choices for reading a network.

    Attributes
    ----------
    rounding : the rounding rules.
    prefix : for files with several networks: the start of the names that belong to the one wanted.
    normalisation : whether a file's own normalisation of inputs and outputs is part of the network.
    strip_tail : leave out a Softmax, Sigmoid, … after the last layer.
    input_shape : the shape of one sample, where the file or object does not say it.
    compare : compare with the format's own runtime, if it is installed.
    """

    rounding: Rounding = field(default_factory=Rounding)
    prefix: str | None = None
    normalisation: str = "none"
    strip_tail: bool = False
    input_shape: tuple[int, ...] | None = None
    compare: bool = True

    def __post_init__(self) -> None:
        if self.normalisation not in NORMALISATIONS:
            raise NetworkError(
                f"normalisation {self.normalisation!r}: choose from {', '.join(NORMALISATIONS)}"
            )
        if self.input_shape is not None and (not self.input_shape or min(self.input_shape) < 1):
            raise NetworkError(f"input shape {list(self.input_shape)}: expected positive sizes")
