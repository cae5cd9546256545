"""Pictures that move: a training, the cuts of one neuron after the other, a walk along a fiber.

Each frame is a picture of an exact complex; nothing is interpolated between frames. Animations are
written as GIF, as MP4 (by ffmpeg), or as a page that shows the frames without scripts.
"""

from __future__ import annotations

import io
import shutil
import subprocess
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import reduce
from operator import or_
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from polyrelu.complex import PolyhedralComplex, Subcomplex, bent_hyperplane, canonical_complex
from polyrelu.errors import DomainError, PolyreluError
from polyrelu.exact import Rational, format_rational
from polyrelu.fibers import HiddenHyperplane
from polyrelu.formats import DomainLike, NetworkLike, Slice, as_network, as_point
from polyrelu.plot.canvas import Canvas, check_view, layer_colour, new_figure, rendered
from polyrelu.plot.parts import paint_part
from polyrelu.plot.picture import in_frame, picture, require_complete
from polyrelu.plot.slices import slice_or_domain
from polyrelu.plot.view import BoxLike, View
from polyrelu.support.arguments import expect, expect_list, expect_path
from polyrelu.support.display import bracketed, count_text
from polyrelu.support.html import element, page
from polyrelu.support.temporary import temporary_folder
from polyrelu.support.text_files import write_all

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "ANIMATION_FORMATS",
    "Animation",
    "animate_fiber",
    "animate_neurons",
    "animate_training",
    "animation_of",
]

ANIMATION_FORMATS = (".gif", ".mp4", ".html")
#: Seconds that the last frame stays, in frames.
_LAST = 6
#: Seconds that ffmpeg may take.
_FFMPEG_SECONDS = 300


@dataclass(frozen=True, slots=True, repr=False)
class Animation:
    """Pictures that are shown one after the other.

    Attributes
    ----------
    title
        What is shown, for the page.
    frames
        The pictures as PNG, all of one size.
    seconds
        How long each frame is shown; the last one is shown six times as long.

    Examples
    --------
    >>> net = [([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [-1]), ([[1]], [0])]
    >>> animate_neurons(net, "box:-2,2")
    <Animation of 4 frames, neurons, one after the other>
    """

    title: str
    frames: tuple[bytes, ...] = field(repr=False)
    seconds: float = 0.4

    def __len__(self) -> int:
        return len(self.frames)

    def __repr__(self) -> str:
        return bracketed(f"Animation of {count_text([(len(self), 'frame')])}, {self.title}")

    def _repr_html_(self) -> str | None:
        if not self.frames:
            return None
        data = b64encode(self.gif()).decode("ascii")
        return f'<img alt="animation" src="data:image/gif;base64,{data}">'

    def gif(self) -> bytes:
        """Return the animation as GIF; equal animations give equal bytes."""
        from PIL import Image

        shown = [
            Image.open(io.BytesIO(frame)).convert("RGB").quantize(256, dither=Image.Dither.NONE)
            for frame in self.frames
        ]
        content, first = io.BytesIO(), shown[0]
        times = [round(1000 * self.seconds)] * len(shown)
        times[-1] *= _LAST
        first.save(content, "GIF", save_all=True, append_images=shown[1:], duration=times, loop=0)
        return content.getvalue()

    def html(self) -> str:
        """Return a page that shows the frames in turn, without scripts; printed, it shows all.

        The frames stop while the mouse is on them.
        """
        count = len(self.frames) + _LAST - 1
        style = _STYLE.format(
            share=100 / count, last=100 * _LAST / count, time=count * self.seconds
        )
        images = []
        for number, frame in enumerate(self.frames):
            source = f"data:image/png;base64,{b64encode(frame).decode('ascii')}"
            delay = f"animation-delay: {number * self.seconds:g}s"
            given = {"src": source, "alt": f"frame {number + 1}", "style": delay}
            images.append(element("img", attributes=given))
        film = element("div", *images, class_="film")
        return page(self.title, element("style", style), element("h1", self.title), film)

    def mp4(self) -> bytes:
        """Return the animation as MP4.

        Raises
        ------
        PolyreluError
            Neither ffmpeg nor the package imageio-ffmpeg is installed, or it fails.
        """
        program = _ffmpeg()
        with temporary_folder() as folder:
            for number, frame in enumerate([*self.frames, *[self.frames[-1]] * (_LAST - 1)]):
                Path(folder, f"{number:06}.png").write_bytes(frame)
            target = Path(folder, "film.mp4")
            command = [program, "-loglevel", "error", "-framerate", f"{1 / self.seconds:g}"]
            command += ["-i", str(Path(folder, "%06d.png")), "-vf", _EVEN, "-pix_fmt", "yuv420p"]
            command += ["-r", "25", str(target)]
            try:
                subprocess.run(command, check=True, capture_output=True, timeout=_FFMPEG_SECONDS)
            except (OSError, subprocess.SubprocessError) as error:
                raise PolyreluError(f"ffmpeg cannot make the film: {error}") from None
            return target.read_bytes()

    def save(self, name: str | Path) -> Path:
        """Write the animation as .gif, .mp4 or .html.

        Parameters
        ----------
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
        """
        path = expect_path(name, "name")
        if path.suffix not in ANIMATION_FORMATS:
            raise DomainError(
                f"{path}: an animation is written as {', '.join(ANIMATION_FORMATS)}; choose one of "
                "these endings"
            )
        if path.suffix == ".html":
            return write_all([(path, self.html())])[0]
        return write_all([(path, [self.gif() if path.suffix == ".gif" else self.mp4()])])[0]


#: The filter of ffmpeg that makes width and height even, as MP4 needs.
_EVEN = "pad=ceil(iw/2)*2:ceil(ih/2)*2:color=white"
#: Each frame is visible in its share of the time; the delays of the frames stand in the page.
_STYLE = """
.film {{ display: grid; }}
.film img {{ grid-area: 1 / 1; visibility: hidden; animation: shown {time:g}s step-end infinite; }}
.film img:last-child {{ animation-name: last; }}
.film:hover img {{ animation-play-state: paused; }}
@keyframes shown {{ 0% {{ visibility: visible; }} {share:.4f}% {{ visibility: hidden; }} }}
@keyframes last {{ 0% {{ visibility: visible; }} {last:.4f}% {{ visibility: hidden; }} }}
@media print {{ .film {{ display: block; }} .film img {{ visibility: visible; animation: none; }} }}
"""


def _ffmpeg() -> str:
    """Return the program that makes films."""
    if program := shutil.which("ffmpeg"):
        return program
    try:
        from imageio_ffmpeg import get_ffmpeg_exe

        found: str = get_ffmpeg_exe()
    except (ImportError, RuntimeError):
        raise PolyreluError(
            "MP4 needs ffmpeg: install it, or pip install 'polyrelu[interactive]'; GIF and HTML "
            "need neither"
        ) from None
    return found


def animation_of(figures: Iterable[Figure], title: str, *, seconds: float = 0.4) -> Animation:
    """Make an animation of figures of matplotlib, which are drawn one at a time.

    Parameters
    ----------
    figures
        Figures of one size, such as a generator of them.
    title
        What is shown, for the page.
    seconds
        How long each frame is shown.

    Returns
    -------
    Animation
        The animation.

    Raises
    ------
    DomainError
        There is no figure, or the time is not positive.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> animation_of([Figure(), Figure()], "nothing, twice")
    <Animation of 2 frames, nothing, twice>
    """
    frames = tuple(rendered(figure, ".png") for figure in figures)
    if not frames:
        raise DomainError("an animation needs at least one figure")
    if not 0.01 <= seconds <= 60:
        raise DomainError("seconds: expected a number from 0.01 to 60")
    return Animation(expect(title, str, "title"), frames, float(seconds))


def animate_training(
    networks: Iterable[NetworkLike],
    domain: DomainLike | Slice = None,
    *,
    what: str = "complex",
    box: BoxLike | None = None,
    captions: Sequence[str] | None = None,
    seconds: float = 0.4,
) -> Animation:
    """Show a network at several times of its training, each frame an exact picture.

    Parameters
    ----------
    networks
        The network at these times.
    domain, what, box
        As for `picture`; the same for all frames.
    captions
        A text for each network, such as its step; by default its number.
    seconds
        How long each frame is shown.

    Returns
    -------
    Animation
        The animation.

    Raises
    ------
    DomainError
        As for `picture`; or the captions are too few.

    Examples
    --------
    >>> nets = [[([[1, 0], [0, 1]], [0, bias]), ([[1, 1]], [0])] for bias in (0, 1)]
    >>> animate_training(nets, "box:-2,2")
    <Animation of 2 frames, training>
    """

    def figures() -> Iterator[Figure]:
        """Draw one picture after the other."""
        for number, network in enumerate(networks):
            if captions is not None and number >= len(captions):
                raise DomainError(f"there are only {len(captions)} captions; give one each")
            caption = f"network {number}" if captions is None else captions[number]
            figure = picture(network, domain, what=what, box=box).figure
            figure.supxlabel(str(caption), fontsize=10)
            yield figure

    return animation_of(figures(), "training", seconds=seconds)


def animate_neurons(
    network: NetworkLike,
    domain: DomainLike | Slice = None,
    *,
    box: BoxLike | None = None,
    seconds: float = 0.4,
) -> Animation:
    """Show how the neurons cut the domain, layer by layer, one after the other.

    The title counts the regions after each cut.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes.
    domain, box
        As for `picture`, of dimension 2 or 3.
    seconds
        How long each frame is shown.

    Returns
    -------
    Animation
        A frame before the first cut, and one after each neuron.

    Raises
    ------
    DomainError
        The domain has another dimension.

    Examples
    --------
    >>> net = [([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [-1]), ([[1]], [0])]
    >>> len(animate_neurons(net, "box:-2,2", seconds=0.1))
    4
    """
    cells, view = _framed_complex(network, domain, box)
    none = Subcomplex.closure(cells, {})
    parts = [bent_hyperplane(cells, neuron) for neuron in cells.neurons]

    def figures() -> Iterator[Figure]:
        """Draw the neurons up to each of them."""
        for count in range(len(parts) + 1):
            title = _cut_title(cells, count)
            yield _zero_sets(cells, view, [*parts[:count]], none, title)

    return animation_of(figures(), "neurons, one after the other", seconds=seconds)


def _framed_complex(
    network: NetworkLike, domain: DomainLike | Slice, box: BoxLike | None
) -> tuple[PolyhedralComplex, View]:
    """Return the complex inside the frame of a picture in 2 or 3 dimensions, and the view."""
    network = as_network(network)
    part = slice_or_domain(domain, network.num_inputs)
    flat, polyhedron, view = in_frame(network, part, box)
    if view.dimension not in (2, 3):
        raise DomainError(
            f"this animation needs a domain of dimension 2 or 3, not {view.dimension}; give a "
            "slice (slice:FILE)"
        )
    check_view(view)
    return require_complete(canonical_complex(flat, polyhedron)), view


def _cut_title(cells: PolyhedralComplex, count: int) -> str:
    """Return which neuron has cut, and the number of regions after it."""
    signs = cells.signs(cells.dimension)[:, :count]
    regions = count_text([(len(np.unique(signs, axis=0)) if count else 1, "region")])
    if not count:
        return f"before the first cut: {regions}"
    neuron = cells.neurons[count - 1]
    return f"after neuron {neuron.index} of layer {neuron.layer}: {regions}"


def _zero_sets(
    cells: PolyhedralComplex, view: View, parts: list[Subcomplex], none: Subcomplex, title: str
) -> Any:
    """Draw the zero sets of some neurons."""
    kind: dict[str, Any] = {"projection": "3d"} if view.dimension == 3 else {}
    canvas = Canvas(view, new_figure().add_subplot(**kind))
    for layer in sorted({neuron.layer for neuron in cells.neurons}):
        canvas.announce(f"layer {layer}", layer_colour(layer))
    layers = [neuron.layer for neuron in cells.neurons[: len(parts)]]
    drawn = none
    for layer in sorted(set(layers)):
        members = [part for part, own in zip(parts, layers, strict=True) if own == layer]
        whole = reduce(or_, members, none)
        paint_part(canvas, whole, layer_colour(layer), f"layer {layer}", without=drawn)
        drawn = drawn | whole
    figure: Any = canvas.finish(title).figure
    return figure


def animate_fiber(
    hidden: HiddenHyperplane,
    shifts: Sequence[Rational] | None = None,
    domain: DomainLike | Slice = None,
    *,
    box: BoxLike | None = None,
    seconds: float = 0.4,
) -> Animation:
    """Walk along the translations of a hidden hyperplane: all networks have one function.

    Parameters
    ----------
    hidden
        A hidden hyperplane, see `polyrelu.fibers.hidden_hyperplane`.
    shifts
        The shifts of the bias of the hidden neuron; by default nine numbers from the least
        admissible one to twice its size above it, or to 2 above it.
    domain, box
        As for `picture`, of dimension 2 or 3.
    seconds
        How long each frame is shown.

    Returns
    -------
    Animation
        A frame for each shift, with the zero sets of the neurons.

    Raises
    ------
    DomainError
        The domain has another dimension.
    NetworkError
        A shift is not admissible.

    Examples
    --------
    >>> from polyrelu.fibers import hidden_hyperplane
    >>> net = [([[1, 0], [0, 1]], [0, 0]), ([[1, -1]], [-2]), ([[1]], [0])]
    >>> animate_fiber(hidden_hyperplane(net, 1), [-2, 0, 2], "box:-4,4")
    <Animation of 3 frames, a walk along a fiber>
    """
    hidden = expect(
        hidden, HiddenHyperplane, "hidden", "polyrelu.fibers.hidden_hyperplane finds them"
    )
    if shifts is None:
        least = hidden.least_shift
        length = 2 * abs(least) or Fraction(2)
        wanted = [least + length * Fraction(k, 8) for k in range(9)]
    else:
        entries = expect_list(shifts, "shifts")
        wanted = list(as_point(entries, len(entries), "shifts"))

    def figures() -> Iterator[Figure]:
        """Draw one member of the fiber after the other."""
        for shift in wanted:
            cells, view = _framed_complex(hidden.member(shift=shift), domain, box)
            none = Subcomplex.closure(cells, {})
            parts = [bent_hyperplane(cells, neuron) for neuron in cells.neurons]
            title = f"the same function, hidden hyperplane shifted by {format_rational(shift)}"
            yield _zero_sets(cells, view, parts, none, title)

    return animation_of(figures(), "a walk along a fiber", seconds=seconds)
