"""Write the small example networks that the package ships, and the list of all examples.

The weights stand here, small rational numbers with powers of two as denominators, so that every
format holds them exactly. What `identify` says of each network is computed, also of `digits`, which
`benchmarks/train_digits.py` makes. Running this again gives the same bytes.
"""

import argparse
import json
from pathlib import Path
from typing import Any

from polyrelu import identify
from polyrelu.formats import load, save
from polyrelu.network import Network, from_arrays
from polyrelu.outcomes import Outcome, Undecided

FOLDER = Path(__file__).resolve().parent.parent / "polyrelu" / "examples"

#: A sentence about each example, in the order of the list.
SENTENCES = {
    "digits": "A classifier of scikit-learn's handwritten digits, trained in float32.",
    "xor": "The XOR network of Sattelberg et al. (2023), equation (2): parallel lines, three "
    "regions.",
    "bends": "Two layers of two neurons whose lines bend each other, for `complex` and `plot`: "
    "eleven regions, three of them bounded.",
    "hidden": "The second layer is off wherever neuron 0 of the first one bends, so that this "
    "neuron's hyperplane can be translated and the other neuron flipped: see `fiber`.",
    "twins-a": "max(x, y) as σ(x - y) + y; the same function as twins-b, see `equivalent`.",
    "twins-b": "max(x, y) as σ(y - x) + x; the same function as twins-a, see `equivalent`.",
    "sliver": "Three lines that bound a triangle with legs of length 2^-60: float tools miss it.",
    "sawtooth": "The tent map composed three times: eight linear pieces on [0, 1].",
    "torus": "||x| + |y| - 2| + |z|, whose level 1 is a torus: see `topology`.",
}

#: The examples that are networks of the corpus, without files of their own.
_OF_CORPUS = {
    "sliver": "corpus:sliver-triangle-60",
    "sawtooth": "corpus:sawtooth-3",
    "torus": "corpus:topology-torus",
}

_WEIGHTS: dict[str, list[tuple[Any, Any]]] = {
    "xor": [([[1, 1], [1, 1]], [1, 0]), ([[2, -4]], [-1])],
    "bends": [
        ([[0, -1], [1, "1/2"]], [0, "1/2"]),
        ([[1, 1], ["1/2", 2]], ["-1/2", "-1/2"]),
        ([[-1, 1]], [0]),
    ],
    "hidden": [([[1, 0], [0, 1]], [0, 0]), ([[2, -1]], [-1]), ([[1]], [0])],
    "twins-a": [([[1, -1], [0, 1], [0, -1]], [0, 0, 0]), ([[1, 1, -1]], [0])],
    "twins-b": [([[-1, 1], [1, 0], [-1, 0]], [0, 0, 0]), ([[1, 1, -1]], [0])],
}


def verdict(outcome: Outcome) -> str:
    """Return in one line what `identify` says."""
    if isinstance(outcome, Undecided):
        return outcome.status
    certificate = outcome.certificate
    return f"{outcome.status} among {certificate.claim.among} parameters ({certificate.theorem})"


def entry(name: str, file: str, network: Network) -> dict[str, object]:
    """Return the entry of a network in the list."""
    return {
        "name": name,
        "file": file,
        "architecture": list(network.widths),
        "sentence": SENTENCES[name],
        "identify": verdict(identify(network)),
    }


def write(folder: Path, digits: Path) -> None:
    """Write the networks and the list into a folder."""
    entries = []
    for name in SENTENCES:
        file = folder / f"{name}.json"
        if name == "digits":
            entries.append(entry(name, digits.name, load(digits)))
        elif name in _OF_CORPUS:
            entries.append(entry(name, _OF_CORPUS[name], load(_OF_CORPUS[name])))
        else:
            save(from_arrays(_WEIGHTS[name]), file)
            entries.append(entry(name, file.name, load(file)))
    text = json.dumps(entries, indent=1, ensure_ascii=False)
    (folder / "index.json").write_text(f"{text}\n", encoding="utf-8")


def main() -> None:
    """Write the files."""
    parser = argparse.ArgumentParser(description="Write the shipped example networks.")
    parser.add_argument("--output", type=Path, default=FOLDER, help="the folder to write to")
    write(parser.parse_args().output, FOLDER / "digits.npz")


if __name__ == "__main__":
    main()
