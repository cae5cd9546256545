"""Draw the animation of docs/how-to/pictures.md. Run from the root, with the extra `plot`:

python docs/figures/moving.py
"""

from __future__ import annotations

from pathlib import Path

from polyrelu.plot import animate_neurons

FOLDER = Path(__file__).parent

if __name__ == "__main__":
    animate_neurons("example:bends", "box:-2,2", seconds=0.8).save(FOLDER / "neurons.gif")
