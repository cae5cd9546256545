"""The only module that makes matplotlib's objects. Exact geometry comes in and becomes floats here.

Matplotlib is imported when something is drawn. Figures are made without pyplot, so that nothing
global changes and no window opens."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from polyrelu.errors import DomainError, PolyreluError
from polyrelu.plot.clip import floats
from polyrelu.plot.view import View, interval_text
from polyrelu.support.text_files import write_all
from polyrelu.support.typing import Point

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "FORMATS",
    "GREY",
    "INK",
    "Canvas",
    "check_format",
    "check_interval",
    "check_view",
    "layer_colour",
    "new_figure",
    "pale_colour",
    "plural",
    "save_figure",
]

FORMATS = (".png", ".svg", ".pdf")


GREY = "#8c8c8c"
INK = "#222222"

#: Okabe and Ito's colours, which colour-blind people can tell apart.
_LAYERS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f3c8d", "#a0522d")
_PALE = ("#f4f6f8", "#e3e9ee", "#fbf7ec", "#eaf2e6", "#f3e9f1", "#e2f0ef", "#efe9df", "#dfe2ee")

#: Larger and smaller numbers than these cannot be drawn: matplotlib multiplies them with each
#: other.
_LARGEST, _SMALLEST = Fraction(10**100), Fraction(1, 10**100)

#: An interval that is smaller, relative to its ends, cannot be drawn: floats would round its points
#: too coarsely.
_NARROWEST = Fraction(1, 2**30)

#: Where the light of pictures in space comes from.
_LIGHT = np.array([0.35, -0.5, 0.79])


def check_format(path: str | Path) -> None:
    """Whether pictures are written in the format of a file's suffix; `DomainError` if not."""
    if Path(path).suffix not in FORMATS:
        raise DomainError(
            f"{path}: a picture is written as {', '.join(FORMATS)}; choose one of these endings"
        )


def check_interval(what: str, low: Fraction, high: Fraction, remedy: str) -> None:
    """Whether matplotlib can draw what lies between two numbers; `DomainError` if not. Equal ones
    are no interval."""
    size, length = max(abs(low), abs(high)), high - low
    if size > _LARGEST:
        raise DomainError(
            f"{what} {interval_text(low, high)} goes beyond 1e100, where nothing can be drawn; "
            f"{remedy}"
        )
    if length and (length < size * _NARROWEST or length < _SMALLEST):
        raise DomainError(
            f"{what} {interval_text(low, high)} is too narrow for the floats that drawing "
            f"needs; {remedy}"
        )


def check_view(view: View) -> None:
    """Whether a frame can be drawn; `DomainError` if not."""
    for name, low, high in zip(view.names, view.lower, view.upper, strict=True):
        remedy = "give another box, or scale and move that input of the network"
        along = f"input {name}" if isinstance(name, int) else str(name)
        check_interval(f"the side of the box along {along},", low, high, remedy)


def layer_colour(layer: int) -> str:
    """The colour of a hidden layer, from 1."""
    return _LAYERS[(layer - 1) % len(_LAYERS)]


def pale_colour(number: int) -> str:
    """One of some light colours for areas."""
    return _PALE[number % len(_PALE)]


def new_figure(width: float = 7.0, height: float = 6.2) -> Figure:
    """A figure that no window shows.

    Raises
    ------
    PolyreluError : matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise PolyreluError(
            "drawing needs the package matplotlib (the extra [plot]): pip install 'polyrelu[plot]'"
        ) from None
    return Figure(figsize=(width, height), layout="constrained")


def save_figure(figure: Figure, name: str | Path) -> Path:
    """Write a figure as .png, .svg or .pdf, all of it or nothing; equal figures give equal bytes.

    Raises
    ------
    DomainError : another suffix.
    PolyreluError : the file cannot be written.
    """
    check_format(name)
    import matplotlib

    path = Path(name)
    stamps: dict[str, dict[str, None]] = {
        ".png": {"Software": None},
        ".svg": {"Date": None},
        ".pdf": {"CreationDate": None},
    }
    content = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "polyrelu"}):
        figure.savefig(content, format=path.suffix[1:], dpi=150, metadata=stamps[path.suffix])
    return write_all([(path, [content.getvalue()])])[0]


class Canvas:
    """Axes with a view, what was drawn on them, and the few kinds of things that pictures are made
    of.

    Attributes
    ----------
    view : what the axes show.
    ax : the Axes; `space` says whether they have three dimensions.
    counts : how many polygons, segments and points were drawn, by what they are.
    """

    def __init__(self, view: View, ax: Axes | None = None, space: bool | None = None) -> None:
        check_view(view)
        self.view, self.counts = view, Counter[str]()
        self.space = view.dimension == 3 if space is None else space
        if ax is None:
            kind = {"projection": "3d"} if self.space else {}
            ax = new_figure().add_subplot(**kind)
        elif hasattr(ax, "get_zlim") != self.space:
            needed = "Axes with projection='3d'" if self.space else "plane Axes"
            raise DomainError(f"this picture needs {needed}")
        self.ax: Any = ax
        self._handles: dict[str, Any] = {}

    # -- what is drawn -----------------------------------------------------------------------------

    def polygons(
        self,
        what: str,
        polygons: Sequence[Sequence[Point]],
        colours: Sequence[Any] | str,
        edge: str = "none",
        width: float = 0.5,
        alpha: float = 1.0,
        label: str = "",
        order: float = 1.0,
        hatch: str = "",
        dashed: bool = False,
        shaded: bool = True,
    ) -> None:
        """Filled polygons; in space they are shaded by the angle to the light, unless their colours
        are on a scale."""
        self.counts[what] += len(polygons)
        if not polygons:
            return
        from matplotlib.collections import PolyCollection

        shapes = [floats(points) for points in polygons]
        faces: Any = [colours] * len(shapes) if isinstance(colours, str) else list(colours)
        style: dict[str, Any] = {
            "linewidths": width,
            "linestyles": "dashed" if dashed else "solid",
            "zorder": order,
        }
        if self.space:
            lit = (
                [_lit(face, shape) for face, shape in zip(faces, shapes, strict=True)]
                if shaded
                else faces
            )
            drawn = _in_space("Poly3DCollection")(
                shapes, facecolors=lit, edgecolors=edge, alpha=alpha, **style
            )
            self.ax.add_collection3d(drawn, autolim=False)
        else:
            drawn = PolyCollection(shapes, facecolors=faces, edgecolors=edge, alpha=alpha, **style)
            if hatch:
                drawn.set_hatch(hatch)
            self.ax.add_collection(drawn, autolim=False)
        self._explain(label, faces[0], patch=True, alpha=alpha)

    def segments(
        self,
        what: str,
        segments: Sequence[Sequence[Point]],
        colours: Sequence[Any] | str,
        width: float = 1.2,
        dashed: bool = False,
        label: str = "",
        order: float = 2.0,
    ) -> None:
        """Straight lines between two points."""
        self.counts[what] += len(segments)
        if not segments:
            return
        from matplotlib.collections import LineCollection

        style: dict[str, Any] = {
            "colors": colours,
            "linewidths": width,
            "linestyles": (0, (4, 3)) if dashed else "solid",
            "capstyle": "butt" if dashed else "round",
            "zorder": order,
        }
        shapes = [floats(points) for points in segments]
        if self.space:
            self.ax.add_collection3d(_in_space("Line3DCollection")(shapes, **style), autolim=False)
        else:
            self.ax.add_collection(LineCollection(shapes, **style), autolim=False)
        self._explain(
            label, colours if isinstance(colours, str) else colours[0], dashed=dashed, width=width
        )

    def points(
        self, what: str, points: Sequence[Point], colour: str, label: str = "", size: float = 5.0
    ) -> None:
        """Dots."""
        self.counts[what] += len(points)
        if not points:
            return
        columns = list(zip(*floats(points), strict=True))
        self.ax.plot(
            *columns, linestyle="none", marker="o", markersize=size, color=colour, zorder=4
        )
        self._explain(label, colour, marker=True)

    def note(self, text: str) -> None:
        """A remark in the middle of the picture, such as that there is nothing to see."""
        write = self.ax.text2D if self.space else self.ax.text
        box = {"boxstyle": "round", "facecolor": "white", "edgecolor": GREY, "alpha": 0.9}
        write(
            0.5,
            0.5,
            text,
            transform=self.ax.transAxes,
            ha="center",
            va="center",
            bbox=box,
            zorder=9,
        )

    def colour_bar(self, colours: Any, label: str, extend: str = "neither") -> None:
        """What the colours mean, as a bar beside the picture."""
        pad = {"pad": 0.1, "shrink": 0.75} if self.space else {}
        self.ax.figure.colorbar(colours, ax=self.ax, label=label, extend=extend, **pad)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of cells that a set of points is counted by, the largest dimension first."""
        return (
            ("solids", "facets", "edges", "points")
            if self.space
            else ("regions", "edges", "points")
        )

    def tally(self) -> str:
        """How many cells of each kind were drawn, if there are any."""
        found = [(self.counts[kind], kind[:-1]) for kind in self.kinds if self.counts[kind]]
        return plural(found) or "empty"

    # -- around it ---------------------------------------------------------------------------------

    def finish(
        self, title: str, heights: tuple[float, float] | None = None, height_label: str = ""
    ) -> Axes:
        """Frame, names of the axes, legend and title; a title or legend that is there already
        stays."""
        low, high = floats([self.view.lower, self.view.upper])
        limits, names = list(zip(low, high, strict=True)), list(self.view.labels)
        if heights is not None:
            limits.append(_with_room(*heights))
            names.append(height_label)
        for letter, limit, name in zip("xyz", limits, names, strict=False):
            getattr(self.ax, f"set_{letter}lim")(*limit)
            getattr(self.ax, f"set_{letter}label")(name, **({"labelpad": 8} if self.space else {}))
        if self.space:
            self._thin_ticks()
        self._proportions(limits)
        if not self.ax.get_title():
            self.ax.set_title(f"{title}\n{self.view.caption}", fontsize=10)
        if self._handles and self.ax.get_legend() is None:
            self._legend()
        drawn: Axes = self.ax
        return drawn

    def _thin_ticks(self) -> None:
        """Few and small numbers along the axes in space, where they come close to each other."""
        from matplotlib.ticker import MaxNLocator

        self.ax.tick_params(labelsize=8)
        for axis in (self.ax.xaxis, self.ax.yaxis, self.ax.zaxis):
            axis.set_major_locator(MaxNLocator(5))

    def _proportions(self, limits: Sequence[tuple[float, float]]) -> None:
        """Equal scales, unless one side is much longer or the axes are not all inputs (of a slice:
        not orthogonal)."""
        lengths = [high - low for low, high in limits[: self.view.dimension]]
        similar = max(lengths) <= 5 * min(lengths) and self.view.inputs == self.view.dimension
        if self.space:
            sides = lengths if similar else [1.0] * len(lengths)
            if len(limits) > len(sides):
                sides = [*sides, 0.75 * max(sides)]
            self.ax.set_box_aspect(sides, zoom=0.86)
        elif len(lengths) == len(limits) == 2:
            self.ax.set_aspect("equal" if similar else "auto", adjustable="box")

    def _legend(self) -> None:
        handles = list(self._handles.values())
        style: dict[str, Any] = {"handles": handles, "fontsize": 8, "frameon": False}
        columns = min(len(handles), 4)
        if self.space:
            self.ax.legend(loc="upper center", bbox_to_anchor=(0.5, 0.02), ncols=columns, **style)
        else:
            self.ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.1), ncols=columns, **style)

    def _explain(
        self,
        label: str,
        colour: Any,
        patch: bool = False,
        marker: bool = False,
        dashed: bool = False,
        width: float = 1.2,
        alpha: float = 1.0,
    ) -> None:
        """An entry of the legend."""
        if not label or label in self._handles:
            return
        from matplotlib.lines import Line2D
        from matplotlib.patches import Patch

        if patch:
            self._handles[label] = Patch(
                facecolor=colour, edgecolor=GREY, linewidth=0.5, alpha=alpha, label=label
            )
        elif marker:
            self._handles[label] = Line2D(
                [], [], linestyle="none", marker="o", color=colour, label=label
            )
        else:
            style = (0, (4, 3)) if dashed else "solid"
            self._handles[label] = Line2D(
                [], [], color=colour, linestyle=style, linewidth=max(width, 1.2), label=label
            )


def _in_space(name: str) -> Any:
    """A class of matplotlib's toolkit for pictures in space, which comes without types."""
    return getattr(import_module("mpl_toolkits.mplot3d.art3d"), name)


def _lit(colour: Any, shape: Sequence[tuple[float, ...]]) -> tuple[float, ...]:
    """A colour in the light that falls on a polygon from outside or inside."""
    from matplotlib.colors import to_rgba

    corners = np.array(shape)
    normal = np.zeros(3)
    for one, other in zip(
        corners - corners[0], np.roll(corners, -1, axis=0) - corners[0], strict=True
    ):
        normal += np.cross(one, other)
    length = float(np.linalg.norm(normal))
    strength = abs(float(normal @ _LIGHT)) / length if length else 1.0
    red, green, blue, alpha = to_rgba(colour)
    return (*(entry * (0.6 + 0.4 * strength) for entry in (red, green, blue)), alpha)


def _with_room(low: float, high: float) -> tuple[float, float]:
    """Limits a little beyond the values, and apart if these are equal."""
    room = 0.05 * (high - low) or max(abs(low) * 0.1, 1.0)
    return low - room, high + room


def plural(counts: Iterable[tuple[int, str]]) -> str:
    """Numbers with their nouns.

    >>> plural([(1, "region"), (2, "edge"), (0, "vertex")])
    '1 region, 2 edges, 0 vertices'
    """
    texts = []
    for count, noun in counts:
        several = noun[:-2] + "ices" if noun.endswith("ex") else f"{noun}s"
        texts.append(f"{count} {noun if count == 1 else several}")
    return ", ".join(texts)
