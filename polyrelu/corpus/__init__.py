"""The corpus: small networks with exact answers and certificates, to test other tools with.

`corpus_entries` lists the networks, `find_entry` has one of them, and `export_corpus` writes all of
them to plain files that need no polyrelu. ``corpus:`` and a name can stand wherever the name of a
network file can. `benchmarks/make_corpus.py` makes the answers and checks each one by brute force.
"""

from polyrelu.corpus.entries import (
    KINDS,
    CorpusClaim,
    CorpusEntry,
    corpus_entries,
    corpus_version,
    find_entry,
)
from polyrelu.corpus.export import EXPORT_FORMATS, export_corpus

__all__ = [
    "EXPORT_FORMATS",
    "KINDS",
    "CorpusClaim",
    "CorpusEntry",
    "corpus_entries",
    "corpus_version",
    "export_corpus",
    "find_entry",
]
