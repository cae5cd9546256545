"""The entries of the corpus, and how they are chosen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from polyrelu.errors import ArgumentError
from polyrelu.formats import load
from polyrelu.formats.corpus_files import CORPUS_PREFIX, corpus_entry, corpus_index, corpus_record
from polyrelu.network import Network
from polyrelu.support.arguments import expect, expect_integer
from polyrelu.support.display import bracketed, widths_text

__all__ = [
    "KINDS",
    "CorpusClaim",
    "CorpusEntry",
    "corpus_entries",
    "corpus_version",
    "find_entry",
]

#: The kinds of networks, with what they are.
KINDS = {
    "example": "the networks of `polyrelu examples` that have files of their own",
    "plain": "random weights in general position",
    "degenerate": "concurrent, parallel and repeated hyperplanes, zero rows, dead neurons, slivers",
    "quantised": "few-bit weights, most of them degenerate",
    "deep": "up to six hidden layers; sawtooths and foldings",
    "trained": "trained on small tasks, some of them pruned or rounded",
    "paper": "examples of papers, with their claims, the false ones included",
    "pair": "pairs that are equal, equal on a domain, or almost equal",
    "topology": "level sets with known Betti numbers",
}


@dataclass(frozen=True, slots=True, repr=False)
class CorpusClaim:
    """A statement about a network of the corpus.

    Attributes
    ----------
    text
        The statement.
    holds
        Whether it is true.
    why
        What shows it.

    Examples
    --------
    >>> find_entry("sattelberg-triangle").claims[0].holds
    False
    """

    text: str
    holds: bool
    why: str

    def __repr__(self) -> str:
        return bracketed(f"CorpusClaim, {'true' if self.holds else 'false'}: {self.text}")


@dataclass(frozen=True, slots=True, repr=False)
class CorpusEntry:
    """A network of the corpus.

    Attributes
    ----------
    name
        The name, which `polyrelu.load` takes after ``corpus:``.
    kind
        A key of `KINDS`.
    architecture
        The widths of all layers, the input first.
    last
        ``affine``, or ``relu`` for a network that ends in a ReLU.
    domain
        The box on which answers are given, beside R^n.
    num_regions
        The number of regions on the box; None for a network whose regions are not listed.
    tags
        Words by which networks can be chosen, such as ``sliver``.
    sentence
        What the network is, in a sentence or two.
    source
        The paper it is from, or nothing.
    claims
        Statements about the network, true and false ones.
    sha256
        The hash of the network.

    Examples
    --------
    >>> entry = find_entry("concurrent-3")
    >>> entry.architecture, entry.domain, entry.num_regions
    ((2, 3, 1), 'box:-2,2', 6)
    >>> entry.network.num_inputs, sorted(entry.certificates)
    (2, ['complex', 'identify'])
    """

    name: str
    kind: str
    architecture: tuple[int, ...]
    last: str
    domain: str
    num_regions: int | None
    tags: tuple[str, ...]
    sentence: str
    source: str
    claims: tuple[CorpusClaim, ...]
    sha256: str

    def __repr__(self) -> str:
        widths = widths_text(self.architecture)
        return bracketed(f"CorpusEntry {self.name}, {self.kind}, {widths}: {self.sentence}")

    @property
    def network(self) -> Network:
        """The network, with exact weights."""
        return load(f"{CORPUS_PREFIX}{self.name}")

    @property
    def answers(self) -> dict[str, Any]:
        """The exact answers as a JSON object (docs/how-to/corpus.md); numbers are texts "p/q"."""
        found: dict[str, Any] = corpus_record(self.name)["answers"]
        return found

    @property
    def certificates(self) -> dict[str, bytes]:
        """The certificates that `polyrelu check` accepts, by the names that `answers` has."""
        texts: dict[str, str] = corpus_record(self.name)["certificates"]
        return {name: text.encode("ascii") for name, text in texts.items()}


def corpus_version() -> int:
    """Return the version of the corpus; it grows when a network or an answer changes.

    Examples
    --------
    >>> corpus_version()
    1
    """
    version: int = corpus_index()["version"]
    return version


def corpus_entries(
    kind: str | None = None,
    *,
    tag: str | None = None,
    max_inputs: int | None = None,
    max_regions: int | None = None,
) -> tuple[CorpusEntry, ...]:
    """Return the networks of the corpus, all of them or those that are asked for.

    Parameters
    ----------
    kind
        A key of `KINDS`.
    tag
        A tag, such as ``sliver`` or ``false-claim``.
    max_inputs
        Maximum number of inputs.
    max_regions
        Maximum number of regions on the box of the entry; networks whose regions are not listed
        are left out.

    Returns
    -------
    tuple of CorpusEntry
        The entries in the order of the corpus.

    Raises
    ------
    ArgumentError
        There is no such kind or tag; the message lists them.

    Examples
    --------
    >>> [entry.name for entry in corpus_entries("degenerate", tag="parallel", max_inputs=2)][:2]
    ['parallel-2', 'parallel-4']
    """
    everything = [_entry(entry) for entry in corpus_index()["entries"].values()]
    tags = {each for entry in everything for each in entry.tags}
    for name, given, known in (("kind", kind, {*KINDS}), ("tag", tag, tags)):
        if given is not None and expect(given, str, name) not in known:
            raise ArgumentError(f"{name} {given[:40]!r}: choose from {', '.join(sorted(known))}")
    most_inputs = _limit(max_inputs, "max_inputs")
    most_regions = _limit(max_regions, "max_regions")
    return tuple(
        entry
        for entry in everything
        if kind in (None, entry.kind)
        and (tag is None or tag in entry.tags)
        and (most_inputs is None or entry.architecture[0] <= most_inputs)
        and (most_regions is None or (entry.num_regions or most_regions + 1) <= most_regions)
    )


def find_entry(name: str) -> CorpusEntry:
    """Return the entry of a name, with or without the prefix ``corpus:``.

    Parameters
    ----------
    name
        The name.

    Returns
    -------
    CorpusEntry
        The entry.

    Raises
    ------
    NetworkFileError
        There is no such network in the corpus.

    Examples
    --------
    >>> find_entry("corpus:topology-torus").answers["level_sets"][0]["level_set"]
    [1, 2, 1, 0]
    """
    short = expect(name, str, "name").removeprefix(CORPUS_PREFIX)
    return _entry(corpus_entry(short))


def _limit(number: int | None, name: str) -> int | None:
    return None if number is None else expect_integer(number, name)


def _entry(entry: dict[str, Any]) -> CorpusEntry:
    claims = tuple(CorpusClaim(**claim) for claim in entry["claims"])
    lists = {key: tuple(entry[key]) for key in ("architecture", "tags")}
    return CorpusEntry(**{**entry, **lists, "claims": claims})
