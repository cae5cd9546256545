"""Pictures of single objects for notebooks, which ask for them by `_repr_svg_`.

Complexes, subcomplexes and breakpoint complexes stand in rooms below this one and get their
pictures through `polyrelu.support.display.svg_of`.
"""

from __future__ import annotations

from typing import Any

from polyrelu.breakpoints import BreakpointComplex
from polyrelu.complex import PolyhedralComplex, Subcomplex
from polyrelu.errors import DomainError
from polyrelu.plot.canvas import svg_text
from polyrelu.plot.parts import draw_cells, draw_subcomplex, draw_zero_sets
from polyrelu.plot.values import draw_graph
from polyrelu.plot.weights import draw_weights

__all__ = ["svg_of"]

#: Maximum number of regions of a complex that is drawn without being asked for: about a second.
_SHOWN_REGIONS = 1_000


def svg_of(thing: object) -> str:
    """Return the picture of a complex, a subcomplex or a breakpoint complex as SVG.

    Raises
    ------
    DomainError
        The object has no picture: its dimension does not fit, or it has too many regions.
    PolyreluError
        Matplotlib is not installed.

    Examples
    --------
    >>> from polyrelu.complex import canonical_complex
    >>> svg_of(canonical_complex([([[1, 1]], [0]), ([[1]], [0])]))[:4]
    '<svg'
    """
    if isinstance(thing, PolyhedralComplex):
        _check_size(thing)
        axes: Any = _draw_complex(thing)
    elif isinstance(thing, Subcomplex):
        _check_size(thing.cells)
        axes = draw_subcomplex(thing)
    elif isinstance(thing, BreakpointComplex):
        _check_size(thing.cells)
        axes = draw_weights(thing)
    else:
        raise DomainError(f"there is no picture of {type(thing).__name__}")
    return svg_text(axes.figure)


def _check_size(cells: PolyhedralComplex) -> None:
    """Raise an error for a complex that has too many regions."""
    if cells.num_regions > _SHOWN_REGIONS:
        raise DomainError(f"{cells.num_regions} regions are too many for a picture in a notebook")


def _draw_complex(cells: PolyhedralComplex) -> Any:
    """The Axes with the usual picture of a complex of its dimension."""
    if cells.dimension == 1:
        return draw_graph(cells)
    return draw_cells(cells) if cells.dimension == 2 else draw_zero_sets(cells)
