"""One picture of a training: a panel for each quantity, over the steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from polyrelu.errors import DomainError
from polyrelu.plot.canvas import GREY, INK, layer_colour, new_figure
from polyrelu.training.snapshot import Snapshot

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["draw_history"]

#: Height of a panel, and width of the figure, in inches.
_PANEL, _WIDTH = 1.55, 6.2
#: By which factor losses differ at least where their axis is logarithmic.
_DECADE = 10
#: Where the answers stand, from below, with their markers and colours.
_ANSWERS = {
    "not asked": (0, ".", GREY),
    "undecided": (1, "s", "#e69f00"),
    "refuted": (2, "X", "#d55e00"),
    "proved": (3, "o", "#0072b2"),
}


def draw_history(snapshots: Sequence[Snapshot]) -> Figure:
    """Return the figure of some snapshots, in the order of their steps."""
    if not snapshots:
        raise DomainError("nothing was measured yet, so that there is nothing to draw")
    panels: list[Callable[[Any, Sequence[Snapshot]], None]] = [_regions, _neurons, _answers]
    if snapshots[0].conserved:
        panels.append(_drifts)
    if any(found.loss is not None for found in snapshots):
        panels.insert(0, _loss)
    figure = new_figure(_WIDTH, _PANEL * len(panels) + 0.3)
    axes = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
    for ax, panel in zip(axes, panels, strict=True):
        panel(ax, snapshots)
        ax.grid(alpha=0.3)
        for side in ("top", "right"):
            ax.spines[side].set_visible(False)
    _count_in_integers(axes[-1].xaxis)
    axes[-1].set_xlabel("step")
    return figure


def _steps(snapshots: Sequence[Snapshot]) -> list[int]:
    return [found.step for found in snapshots]


def _count_in_integers(axis: Any) -> None:
    """Put numbers at integers only, also where an axis is shorter than 1."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator("auto", integer=True, min_n_ticks=1))


def _loss(ax: Any, snapshots: Sequence[Snapshot]) -> None:
    known = [found for found in snapshots if found.loss is not None]
    losses = [float(found.loss or 0) for found in known]
    ax.plot(_steps(known), losses, color=INK, marker=".")
    if 0 < _DECADE * min(losses) <= max(losses):
        ax.set_yscale("log")
        ax.tick_params(axis="y", which="minor", labelleft=False)
    ax.set_ylabel("loss")


def _regions(ax: Any, snapshots: Sequence[Snapshot]) -> None:
    counts = [
        float("nan") if found.num_regions is None else found.num_regions for found in snapshots
    ]
    ax.plot(_steps(snapshots), counts, color=INK, marker=".")
    _count_in_integers(ax.yaxis)
    ax.set_ylabel("regions")


def _neurons(ax: Any, snapshots: Sequence[Snapshot]) -> None:
    """Draw how many neurons of each layer are dead or linear; layers without any are left out."""
    lists = [(found, kind) for found in snapshots for kind in ("dead", "linear")]
    layers = {n.layer for found, kind in lists for n in getattr(found, kind) or ()}
    for layer in sorted(layers):
        for kind, style in (("dead", "-"), ("linear", "--")):
            counts = [_count(getattr(found, kind), layer) for found in snapshots]
            if any(counts):
                label = f"{kind}, layer {layer}"
                colour = layer_colour(layer)
                ax.plot(_steps(snapshots), counts, style, color=colour, marker=".", label=label)
    if layers:
        ax.legend(fontsize=7, ncols=2)
    else:
        ax.plot(_steps(snapshots), [0] * len(snapshots), color=GREY)
        ax.set_ylim(-0.05, 1)
    _count_in_integers(ax.yaxis)
    ax.set_ylabel("dead, linear\nneurons")


def _count(neurons: Any, layer: int) -> float:
    if neurons is None:
        return float("nan")
    return float(sum(neuron.layer == layer for neuron in neurons))


def _answers(ax: Any, snapshots: Sequence[Snapshot]) -> None:
    """Draw whether the network is identifiable."""
    for answer, (height, marker, colour) in _ANSWERS.items():
        steps = [found.step for found in snapshots if found.identifiable == answer]
        ax.plot(steps, [height] * len(steps), marker, color=colour, markersize=5)
    asked = [name for name in _ANSWERS if name != "not asked"]
    shown = [*_ANSWERS] if any(f.identifiable == "not asked" for f in snapshots) else asked
    ax.set_yticks([_ANSWERS[name][0] for name in shown], shown)
    ax.set_ylim(_ANSWERS[shown[0]][0] - 0.5, 3.5)
    ax.set_ylabel("identifiable")


def _drifts(ax: Any, snapshots: Sequence[Snapshot]) -> None:
    """Draw how far the conserved quantities of each layer have moved."""
    for layer, start in enumerate(snapshots[0].conserved):
        drifts = [
            float(max(abs(q - q0) for q, q0 in zip(found.conserved[layer], start, strict=True)))
            for found in snapshots
        ]
        label = f"layer {layer + 1}"
        ax.plot(_steps(snapshots), drifts, color=layer_colour(layer + 1), marker=".", label=label)
    ax.legend(fontsize=7)
    ax.set_ylabel("drift of\nconserved $Q_{ii}$")
