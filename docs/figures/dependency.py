"""Draw the figure of docs/theory/foldsets.md: pieces of a fold-set, and their dependency graph.

Run from the root of the project, with the extra `plot`:

    python docs/figures/dependency.py
"""

from __future__ import annotations

from pathlib import Path

import matplotlib
from matplotlib.figure import Figure

from polyrelu.complex import canonical_complex
from polyrelu.foldsets import canonical_surface, unit_fold_sets
from polyrelu.network import from_arrays
from polyrelu.plot import draw_dependency_graph, draw_pieces

FOLDER = Path(__file__).resolve().parents[1] / "theory" / "figures"

#: The network of the example on the page, whose second layer has a fold that is a whole line.
LAYERS = [([[-3, 3], [3, -2]], [2, -1]), ([[3, 3], [1, -2]], [-3, 6]), ([[1, 2]], [1])]


def main() -> None:
    """Write dependency.svg."""
    matplotlib.rcParams.update({"svg.hashsalt": "polyrelu", "svg.fonttype": "path"})
    surface = canonical_surface(unit_fold_sets(canonical_complex(from_arrays(LAYERS), "box:-1,1")))
    figure = Figure(figsize=(9, 4))
    pieces, graph = figure.subplots(1, 2)
    draw_pieces(surface, ax=pieces)
    draw_dependency_graph(surface, edges="bending", ax=graph)
    figure.tight_layout()
    figure.savefig(FOLDER / "dependency.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
