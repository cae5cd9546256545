"""The example networks that the package ships, and where their files are.

The files are made by `benchmarks/train_digits.py` and `benchmarks/make_examples.py`; the second
script also writes the list, `index.json`, with what `identify` says of each network. Some examples
are networks of the corpus and have no files of their own.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.resources import files
from importlib.resources.abc import Traversable

from polyrelu.errors import NetworkFileError
from polyrelu.support.display import bracketed, widths_text

__all__ = ["EXAMPLE_PREFIX", "Example", "example_file", "examples", "find_example"]

#: What stands before the name of an example where a file name is expected.
EXAMPLE_PREFIX = "example:"


@dataclass(frozen=True, slots=True, repr=False)
class Example:
    """A shipped example network.

    Attributes
    ----------
    name
        The name, which `load` takes after ``example:``.
    file
        Name of its file in the folder of examples, or ``corpus:`` and its name there.
    architecture
        The widths of all layers, the input first.
    sentence
        What the network is, in a sentence.
    identify
        What `identify` says of the network: the status, the class of competitors, and the name of
        the theorem.

    Examples
    --------
    >>> examples()[0].name, examples()[0].architecture
    ('digits', (64, 32, 16, 10))
    """

    name: str
    file: str
    architecture: tuple[int, ...]
    sentence: str
    identify: str

    def __repr__(self) -> str:
        widths = widths_text(self.architecture)
        return bracketed(f"Example {self.name}, {widths}: {self.sentence}")


def examples() -> tuple[Example, ...]:
    """Return the shipped example networks.

    Returns
    -------
    tuple of Example
        The examples in the order of their list.

    Examples
    --------
    >>> [example.name for example in examples()]
    ['digits', 'xor', 'bends', 'hidden', 'twins-a', 'twins-b', 'sliver', 'sawtooth', 'torus']
    """
    entries = json.loads((_folder() / "index.json").read_text("utf-8"))
    return tuple(
        Example(**{**entry, "architecture": tuple(entry["architecture"])}) for entry in entries
    )


def find_example(name: str) -> Example:
    """Return the example of a name, without the prefix ``example:``.

    Parameters
    ----------
    name
        The name.

    Returns
    -------
    Example
        The example.

    Raises
    ------
    NetworkFileError
        There is no example of this name; the message lists the names.

    Examples
    --------
    >>> find_example("xor").architecture
    (2, 2, 1)
    """
    known = {example.name: example for example in examples()}
    if name in known:
        return known[name]
    guess = get_close_matches(name, known, 1)
    hint = f"; did you mean {EXAMPLE_PREFIX}{guess[0]}? There are: " if guess else "; there are: "
    listed = ", ".join(EXAMPLE_PREFIX + each for each in known)
    raise NetworkFileError(f"{EXAMPLE_PREFIX}{name[:80]}", "", f"no such example{hint}{listed}")


def example_file(example: Example) -> Traversable:
    """Return the file of an example, which may lie in an archive."""
    return _folder() / example.file


def _folder() -> Traversable:
    return files("polyrelu") / "examples"
