"""The canvas: matplotlib's Axes with the few kinds of shapes that pictures are made of.

This is the only module that makes matplotlib's objects, and the place where exact coordinates
become floats. Matplotlib is imported when something is drawn, so that the package works without it.
Figures are made without pyplot: nothing global changes, and no window opens.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from polyrelu.errors import ArgumentError, DomainError, PolyreluError
from polyrelu.plot.clip import floats
from polyrelu.plot.view import View, interval_text
from polyrelu.support.arguments import expect, expect_path
from polyrelu.support.display import count_text
from polyrelu.support.progress import Progress
from polyrelu.support.text_files import write_all
from polyrelu.support.typing import Point

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "FORMATS",
    "GREY",
    "HERE",
    "INK",
    "Canvas",
    "check_colour",
    "check_format",
    "check_interval",
    "check_view",
    "expect_figure",
    "lay_out",
    "layer_colour",
    "new_figure",
    "pale_colour",
    "plane_axes",
    "rendered",
    "save_figure",
    "svg_text",
]

FORMATS = (".png", ".svg", ".pdf")


#: What remarks in pictures are about: a domain may end inside the frame.
HERE = "in the domain shown"
GREY = "#8c8c8c"
INK = "#222222"

#: Colours of layers: Okabe and Ito's, which colour-blind people can tell apart, and two more.
_LAYERS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f3c8d", "#a0522d")
_PALE = ("#f4f6f8", "#e3e9ee", "#fbf7ec", "#eaf2e6", "#f3e9f1", "#e2f0ef", "#efe9df", "#dfe2ee")

#: The largest and smallest sizes of numbers that are drawn: matplotlib multiplies two of them.
_LARGEST, _SMALLEST = Fraction(10**100), Fraction(1, 10**100)

#: The least length of an interval relative to its ends: floats round points in shorter ones too
#: coarsely.
_NARROWEST = Fraction(1, 2**30)

#: Width of a number below an axis, in points, and how many of them are few.
_NUMBER, _FEW_NUMBERS = 40, 5
#: Distance of a legend from the Axes above it, in points.
_BELOW_AXIS = 34
#: Direction to the light in pictures in space.
_LIGHT = np.array([0.35, -0.5, 0.79])


def check_format(path: str | Path) -> None:
    """Raise `DomainError` unless pictures are written in the format of the file's suffix."""
    if Path(path).suffix not in FORMATS:
        raise DomainError(
            f"{path}: a picture is written as {', '.join(FORMATS)}; choose one of these endings"
        )


def check_interval(what: str, low: Fraction, high: Fraction, remedy: str) -> None:
    """Raise `DomainError` if matplotlib cannot draw what lies between two numbers.

    Equal numbers pass: they are one value and no interval. The error names the interval by `what`
    and ends with `remedy`.
    """
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
    """Raise `DomainError` if a side of the frame cannot be drawn."""
    for name, low, high in zip(view.names, view.lower, view.upper, strict=True):
        remedy = "give another box, or scale and move that input of the network"
        along = f"input {name}" if isinstance(name, int) else str(name)
        check_interval(f"the side of the box along {along},", low, high, remedy)


def check_colour(colour: object) -> None:
    """Raise `ArgumentError` unless matplotlib knows a colour."""
    from matplotlib.colors import is_color_like

    if not is_color_like(colour):
        raise ArgumentError(f"colour: {str(colour)[:40]!r} is no colour of matplotlib")


def layer_colour(layer: int) -> str:
    """Return the colour of a hidden layer; layers are numbered from 1."""
    return _LAYERS[(layer - 1) % len(_LAYERS)]


def pale_colour(number: int) -> str:
    """Return one of eight light colours for areas."""
    return _PALE[number % len(_PALE)]


def new_figure(width: float = 7.0, height: float = 6.2) -> Figure:
    """Return a figure of matplotlib that no window shows, with sides in inches.

    Raises
    ------
    PolyreluError
        Matplotlib is not installed.
    """
    with _matplotlib_needed():
        from matplotlib.figure import Figure
    return Figure(figsize=(width, height), layout="constrained")


def expect_figure(figure: object) -> Figure:
    """Return an argument that is a figure of matplotlib."""
    with _matplotlib_needed():
        from matplotlib.figure import Figure
    return expect(figure, Figure, "figure", "pictures have one, and so have Axes")


def _expect_axes(ax: object) -> Axes:
    """Return an argument that is Axes of matplotlib."""
    with _matplotlib_needed():
        from matplotlib.axes import Axes
    return expect(ax, Axes, "ax", "matplotlib.figure.Figure().add_subplot() makes them")


def plane_axes(ax: object = None) -> Axes:
    """Return Axes in the plane: an argument that is some, or by default Axes of a new figure.

    Raises
    ------
    DomainError
        The Axes are in space.
    """
    found = new_figure().add_subplot() if ax is None else _expect_axes(ax)
    if hasattr(found, "get_zlim"):
        raise DomainError("this picture needs plane Axes")
    return found


@contextmanager
def _matplotlib_needed() -> Iterator[None]:
    """A block that imports matplotlib; an error with a remedy if it is not installed."""
    try:
        yield
    except ImportError:
        raise PolyreluError(
            "drawing needs the package matplotlib (the extra [plot]): pip install 'polyrelu[plot]'"
        ) from None


def save_figure(figure: Figure, name: str | Path) -> Path:
    """Write a figure as .png, .svg or .pdf.

    The file appears as a whole or not at all, and equal figures give equal bytes.

    Parameters
    ----------
    figure
        A figure of matplotlib, such as `ax.figure` of the Axes that the drawing functions return.
    name
        The path of the file; its suffix decides about the format.

    Returns
    -------
    Path
        The path of the file.

    Raises
    ------
    DomainError
        The suffix is another one.
    PolyreluError
        The file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from matplotlib.figure import Figure
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_figure(Figure(), f"{folder}/empty.png").name
    'empty.png'
    """
    path, figure = expect_path(name, "name"), expect_figure(figure)
    check_format(path)
    return write_all([(path, [rendered(figure, path.suffix)])])[0]


def lay_out(figure: Figure) -> None:
    """Give a figure its layout for good, so that equal pictures can be rendered again and again.

    By itself a layout goes on from the one before whenever the figure is drawn. To pickle the
    figure and to load it for each picture would not do: what matplotlib 3.11 loads keys the parents
    of transforms by their former addresses, which new objects may have, and then, rarely, a part of
    the picture is not updated.
    """
    figure.draw_without_rendering()
    figure.set_layout_engine("none")


def rendered(figure: Figure, suffix: str) -> bytes:
    """Return the contents of a file of a figure; equal figures give equal bytes."""
    import matplotlib

    stamps: dict[str, dict[str, None]] = {
        ".png": {"Software": None},
        ".svg": {"Date": None},
        ".pdf": {"CreationDate": None},
    }
    content = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "polyrelu"}):
        figure.savefig(content, format=suffix[1:], dpi=150, metadata=stamps[suffix])
    return content.getvalue()


def svg_text(figure: Figure) -> str:
    """Return a figure as the element `svg` of a page."""
    text = rendered(figure, ".svg").decode("utf-8")
    return text[text.index("<svg") :]


class Canvas:
    """Axes with a view, a legend, and counts of the shapes that were drawn on them.

    Attributes
    ----------
    view
        The frame: which coordinates the axes show, and between which numbers.
    ax
        The Axes of matplotlib.
    space
        Whether the Axes have three dimensions.
    counts
        The number of polygons, segments and points that were drawn, by the name of what they are.
    progress
        Called after each cell that is drawn.
    """

    def __init__(
        self,
        view: View,
        ax: Axes | None = None,
        space: bool | None = None,
        progress: Progress | None = None,
    ) -> None:
        check_view(view)
        self.view, self.counts = view, Counter[str]()
        self.progress = progress
        self.space = view.dimension == 3 if space is None else space
        if ax is None:
            kind = {"projection": "3d"} if self.space else {}
            ax = new_figure().add_subplot(**kind)
        elif hasattr(_expect_axes(ax), "get_zlim") != self.space:
            needed = "Axes with projection='3d'" if self.space else "plane Axes"
            raise DomainError(f"this picture needs {needed}")
        self.ax: Any = ax
        self._handles: dict[str, Any] = {}

    # -- shapes ------------------------------------------------------------------------------------

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
        """Draw filled polygons.

        In space they are shaded by their angle to the light; `shaded=False` keeps colours that
        stand for numbers on a scale.
        """
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
        self._add_legend_entry(label, faces[0], patch=True, alpha=alpha)

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
        """Draw straight lines between pairs of points."""
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
        self._add_legend_entry(
            label, colours if isinstance(colours, str) else colours[0], dashed=dashed, width=width
        )

    def points(
        self, what: str, points: Sequence[Point], colour: str, label: str = "", size: float = 5.0
    ) -> None:
        """Draw dots."""
        self.counts[what] += len(points)
        if not points:
            return
        columns = list(zip(*floats(points), strict=True))
        self.ax.plot(
            *columns, linestyle="none", marker="o", markersize=size, color=colour, zorder=4
        )
        self._add_legend_entry(label, colour, marker=True)

    def note(self, text: str) -> None:
        """Write a remark below in the picture, such as that it is empty."""
        write = self.ax.text2D if self.space else self.ax.text
        box = {"boxstyle": "round", "facecolor": "white", "edgecolor": GREY, "alpha": 0.9}
        write(
            0.5,
            0.04,
            text,
            transform=self.ax.transAxes,
            fontsize=9,
            ha="center",
            va="bottom",
            bbox=box,
            zorder=9,
        )

    def colour_bar(self, colours: Any, label: str, extend: str = "neither") -> None:
        """Draw a bar beside the picture that explains a scale of colours."""
        pad = {"pad": 0.1, "shrink": 0.75} if self.space else {}
        self.ax.figure.colorbar(colours, ax=self.ax, label=label, extend=extend, **pad)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of cells by which a set of points is counted, the largest dimension first."""
        return (
            ("solids", "facets", "edges", "points")
            if self.space
            else ("regions", "edges", "points")
        )

    def tally(self) -> str:
        """Return the number of cells of each kind that was drawn, in words."""
        found = [(self.counts[kind], kind[:-1]) for kind in self.kinds if self.counts[kind]]
        return count_text(found) or "empty"

    # -- frame, title and legend -------------------------------------------------------------------

    def finish(
        self, title: str, heights: tuple[float, float] | None = None, height_label: str = ""
    ) -> Axes:
        """Set frame, names of the axes, legend and title, and return the Axes.

        A title or legend that the Axes have already stays.
        """
        low, high = floats([self.view.lower, self.view.upper])
        limits, names = list(zip(low, high, strict=True)), list(self.view.labels)
        if heights is not None:
            limits.append(_with_margin(*heights))
            names.append(height_label)
        for letter, limit, name in zip("xyz", limits, names, strict=False):
            getattr(self.ax, f"set_{letter}lim")(*limit)
            getattr(self.ax, f"set_{letter}label")(name, **({"labelpad": 8} if self.space else {}))
        if self.space:
            self._thin_ticks()
        self._proportions(limits)
        if not self.space:
            self._thin_numbers(limits)
        if not self.ax.get_title():
            self.ax.set_title(f"{title}\n{self.view.caption}", fontsize=10)
        if self._handles and self.ax.get_legend() is None:
            self._legend()
        drawn: Axes = self.ax
        return drawn

    def _thin_ticks(self) -> None:
        """Reduce the numbers along axes in space, which come close to each other."""
        from matplotlib.ticker import MaxNLocator

        self.ax.tick_params(labelsize=8)
        for axis in (self.ax.xaxis, self.ax.yaxis, self.ax.zaxis):
            axis.set_major_locator(MaxNLocator(5))

    def _thin_numbers(self, limits: Sequence[tuple[float, float]]) -> None:
        """Reduce the numbers along a short x axis, which would overlap."""
        from matplotlib.ticker import MaxNLocator

        place = self.ax.get_window_extent()
        width = place.width * 72 / self.ax.figure.dpi
        if self.ax.get_aspect() == 1:
            across, along = (high - low for low, high in limits)
            width = min(width, place.height * 72 / self.ax.figure.dpi * across / along)
        if (count := int(width / _NUMBER)) < _FEW_NUMBERS:
            self.ax.xaxis.set_major_locator(MaxNLocator(max(count, 2), min_n_ticks=1))

    def _proportions(self, limits: Sequence[tuple[float, float]]) -> None:
        """Scale the axes equally where that keeps lengths.

        It does not where one side is more than five times as long as another one, or where the axes
        are not all inputs: the coordinates of a slice need not be orthogonal.
        """
        lengths = [high - low for low, high in limits[: self.view.dimension]]
        similar = max(lengths) <= 5 * min(lengths) and self.view.num_inputs == self.view.dimension
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
            return
        from matplotlib.transforms import ScaledTranslation

        # below the numbers and the name of the axis, whose sizes do not change with the Axes
        inch = self.ax.figure.dpi_scale_trans
        below = self.ax.transAxes + ScaledTranslation(0, -_BELOW_AXIS / 72, inch)
        style |= {"bbox_to_anchor": (0.5, 0), "bbox_transform": below}
        self.ax.legend(loc="upper center", ncols=columns, **style)

    def announce(self, label: str, colour: str) -> None:
        """Add a line to the legend that may be drawn later, so that the legend keeps its size."""
        self._add_legend_entry(label, colour)

    def _add_legend_entry(
        self,
        label: str,
        colour: Any,
        patch: bool = False,
        marker: bool = False,
        dashed: bool = False,
        width: float = 1.2,
        alpha: float = 1.0,
    ) -> None:
        """Add an entry to the legend, once for each label."""
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
    """Return a class of matplotlib's toolkit for pictures in space, which comes without types."""
    return getattr(import_module("mpl_toolkits.mplot3d.art3d"), name)


def _lit(colour: Any, shape: Sequence[tuple[float, ...]]) -> tuple[float, ...]:
    """Return a colour in the light that falls on a polygon, from either side."""
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


def _with_margin(low: float, high: float) -> tuple[float, float]:
    """Return limits a little beyond the values, and apart if these are equal."""
    room = 0.05 * (high - low) or max(abs(low) * 0.1, 1.0)
    return low - room, high + room
