"""Draw the figure of docs/development/architecture.md: how data flows through the subpackages.

Run from the root of the project, with the extra `plot`:

    python docs/figures/architecture.py
"""

from __future__ import annotations

from pathlib import Path

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

FOLDER = Path(__file__).resolve().parents[1] / "development" / "figures"

#: The centre of each box; subpackages have square corners, objects and files round ones.
SUBPACKAGES = {
    "formats": (1.1, 2),
    "complex": (3.3, 3),
    "walks": (4.4, 2),
    "symmetry\nfibers": (3.3, 1),
    "breakpoints": (5.8, 3),
    "foldsets\nconditions": (7.1, 4.2),
    "topology\nplot": (5.3, 4.2),
    "proofs": (5.8, 1.5),
    "recovery\naudit": (8.6, 3),
    "checker.py": (9.4, 1.5),
    "attributes": (2.2, 3.6),
}
OBJECTS = {
    "network file": (0, 2),
    "Network": (2.2, 2),
    "Polyhedral-\nComplex": (4.5, 3),
    "Breakpoint-\nComplex": (7.1, 3),
    "Outcome": (7, 1.5),
    "certificate\n(JSON)": (8.2, 1.5),
}
ARROWS = [
    ("network file", "formats"),
    ("formats", "Network"),
    ("Network", "complex"),
    ("complex", "Polyhedral-\nComplex"),
    ("Polyhedral-\nComplex", "breakpoints"),
    ("Polyhedral-\nComplex", "topology\nplot"),
    ("Breakpoint-\nComplex", "foldsets\nconditions"),
    ("Breakpoint-\nComplex", "recovery\naudit"),
    ("breakpoints", "Breakpoint-\nComplex"),
    ("Network", "walks"),
    ("Network", "attributes"),
    ("walks", "proofs"),
    ("Network", "symmetry\nfibers"),
    ("symmetry\nfibers", "proofs"),
    ("Polyhedral-\nComplex", "proofs"),
    ("proofs", "Outcome"),
    ("Outcome", "certificate\n(JSON)"),
    ("certificate\n(JSON)", "checker.py"),
]


def draw(axes: Axes) -> None:
    """Draw the boxes and the arrows between them."""
    boxes = {}
    for places, style, colour in (
        (SUBPACKAGES, "square", "#dbe7f5"),
        (OBJECTS, "round", "#fbe9d9"),
    ):
        for name, (x, y) in places.items():
            frame = {"boxstyle": f"{style},pad=0.4", "facecolor": colour, "edgecolor": "#555555"}
            boxes[name] = axes.text(
                x, y, name, ha="center", va="center", fontsize=9, bbox=frame, zorder=2
            )
    places = SUBPACKAGES | OBJECTS
    for start, end in ARROWS:
        axes.annotate(
            "",
            xy=places[end],
            xytext=places[start],
            arrowprops={
                "arrowstyle": "-|>",
                "color": "#555555",
                "patchA": boxes[start].get_bbox_patch(),
                "patchB": boxes[end].get_bbox_patch(),
                "shrinkA": 0,
                "shrinkB": 2,
            },
            zorder=3,  # boxes get their sizes when they are drawn
        )


def main() -> None:
    """Write architecture.svg."""
    matplotlib.rcParams.update({"svg.hashsalt": "polyrelu", "svg.fonttype": "path"})
    figure = Figure(figsize=(10.5, 4))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(-0.7, 10), ylim=(0.4, 4.75))
    axes.axis("off")
    draw(axes)
    FOLDER.mkdir(exist_ok=True)
    figure.savefig(FOLDER / "architecture.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
