"""Fibers of small networks: the zero sets of some members of each component, one over the other."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from polyrelu.complex import canonical_complex
from polyrelu.errors import DomainError
from polyrelu.exact import Polyhedron
from polyrelu.fibers import Fiber
from polyrelu.formats import DomainLike, Slice
from polyrelu.network import Network
from polyrelu.plot.canvas import Canvas, expect_figure, layer_colour, new_figure
from polyrelu.plot.parts import paint_part, zero_set
from polyrelu.plot.picture import in_frame, require_complete
from polyrelu.plot.slices import slice_or_domain
from polyrelu.plot.view import BoxLike
from polyrelu.support.arguments import expect, expect_count

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_fiber"]

#: Maximum number of components that get a panel.
_MAX_PANELS = 9


def draw_fiber(
    fiber: Fiber,
    domain: DomainLike | Slice = None,
    *,
    members: int = 5,
    seed: int = 0,
    figure: Figure | None = None,
    box: BoxLike | None = None,
) -> Figure:
    """Draw a panel for each component of a fiber, with the zero sets of some of its networks.

    All networks compute the same function; where their zero sets differ, the bends cancel or are
    hidden. The first network of a component is drawn thick, random ones are thin.

    Parameters
    ----------
    fiber
        A fiber, see `polyrelu.fiber`; its first nine components are drawn.
    domain
        A domain of dimension 2, as for `picture`.
    members
        The number of random networks of each component.
    seed
        Seed of the random networks.
    figure
        An empty figure to draw in; by default a new one.
    box
        The frame, see `view_of`.

    Returns
    -------
    Figure
        The figure of matplotlib, with one Axes for each component.

    Raises
    ------
    DomainError
        The domain has another dimension.
    PolyreluError
        Matplotlib is not installed.

    Examples
    --------
    >>> import polyrelu
    >>> found = polyrelu.fiber([([[1, 0], [0, 1]], [0, 0]), ([[1, -1]], [-2]), ([[1]], [0])])
    >>> [ax.get_title() for ax in draw_fiber(found, "box:-4,4", members=2).axes]
    ['hyperplane of neuron 0 translated\\ndimension 1', 'hyperplane of neuron 0 translated,
    neuron 1 flipped\\ndimension 1']
    """
    fiber = expect(fiber, Fiber, "fiber", "polyrelu.fiber makes them")
    members, rng = expect_count(members, "members", 0), Random(expect_count(seed, "seed"))
    shown = fiber.components[:_MAX_PANELS]
    columns = min(len(shown), 3)
    rows = -(-len(shown) // columns)
    if figure is None:
        figure = new_figure(max(4.1 * columns, 5.0), 4.4 * rows)
    else:
        figure = expect_figure(figure)
    part = slice_or_domain(domain, fiber.network.num_inputs)
    for number, component in enumerate(shown, 1):
        ax = figure.add_subplot(rows, columns, number)
        networks = [component.member()]
        networks += [component.member(seed=rng.getrandbits(32)) for _ in range(members)]
        for place, network in enumerate(networks):
            _paint_member(ax, network, part, box, is_first=place == 0)
        size = "unknown" if component.dimension is None else component.dimension
        ax.set_title(f"{component.label}\ndimension {size}", fontsize=9)
    left = len(fiber.components) - len(shown)
    more = f"; {left} more components" if left else ""
    figure.suptitle(f"zero sets of networks with the same function{more}", fontsize=10)
    return figure


def _paint_member(
    ax: Axes, network: Network, domain: Polyhedron | Slice, box: BoxLike | None, is_first: bool
) -> None:
    """Draw the zero sets of a network, thin unless it is the first one."""
    flat, polyhedron, view = in_frame(network, domain, box)
    if view.dimension != 2:
        raise DomainError(
            f"fibers are drawn in 2 dimensions, the domain has {view.dimension}; give a slice "
            "(slice:FILE)"
        )
    cells, canvas = require_complete(canonical_complex(flat, polyhedron)), Canvas(view, ax)
    for layer in range(1, network.num_hidden_layers + 1):
        label = f"layer {layer}" if is_first else ""
        part = zero_set(cells, layer)
        paint_part(canvas, part, layer_colour(layer), label, faint=not is_first)
    if is_first:
        canvas.finish("")
