"""The networks that `polyrelu examples` lists, as a part of the corpus."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from benchmarks.corpus.specimen import Specimen
from polyrelu.formats import examples, load

__all__ = ["EXAMPLES_KIND", "example_networks"]

EXAMPLES_KIND = "example"
#: Domains on which two of the examples are compared.
_TWINS = {"twins-a": (("twins-b", ("R^n",)),)}


def example_networks() -> Iterator[Specimen]:
    """Yield the examples that have files of their own."""
    for example in examples():
        if ":" not in example.file:
            network = load(f"example:{example.name}")
            yield Specimen(
                example.name,
                EXAMPLES_KIND,
                network,
                example.sentence,
                box=(Fraction(0), Fraction(1))
                if network.num_inputs > 4
                else (-Fraction(2), Fraction(2)),
                twins=_TWINS.get(example.name, ()),
            )
