"""The hypotheses of the theorem of Phuong and Lampert, each with evidence.

Phuong and Lampert (2020), Theorem A.1: Let Z be bounded, open and not empty, n_0 ≥ n_1 ≥ … ≥
n_{L-1} ≥ 2 and n_L = 1, and let θ be general and transparent on Z. Let the image Z_ℓ have interior
for each hidden layer ℓ, and let, for each ℓ, the dependency graph of the fold-set of h^{ℓ:L} on the
interior of Z_{ℓ-1} have n_ℓ directed paths of length L - 1 - ℓ with different starts. Then every
general η with f_η = f_θ on Z is related to θ by permutations and positive scalings.

Their Lemma A.18, which the proof rests on, is false for the edges that they define, and true for
those where a piece ends at another one (`docs/theory/foldsets.md`, with a counterexample); paths
here consist of the latter.

The proof uses of the paths only that each start lies on a hyperplane of layer ℓ of both networks,
and that there are n_ℓ such hyperplanes. So it suffices to look at open subsets of the interior of
Z_{ℓ-1}, and to count different hyperplanes: `paths` takes the interiors of the parts that
`image_parts` lists, which are convex, and collects the starts of all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from polyrelu.breakpoints import breakpoint_complex
from polyrelu.complex import PolyhedralComplex, canonical_complex
from polyrelu.complex.polyhedral_complex import expect_complex
from polyrelu.conditions import Condition, Limits, Parts, pl_general, transparency
from polyrelu.conditions.condition import combined, point_text
from polyrelu.conditions.general import require_pl
from polyrelu.foldsets.dependency import dependency_graph, path_points, paths_of_length
from polyrelu.foldsets.surfaces import canonical_surface
from polyrelu.foldsets.truncation import ImagePart, image_parts, truncated_network
from polyrelu.network import Network, SignVector
from polyrelu.support.arguments import expect
from polyrelu.support.display import bracketed, count_text
from polyrelu.support.typing import IntegerRow

__all__ = ["DependencyPath", "phuong_lampert"]

_DEFAULT_LIMITS = Limits()


@dataclass(frozen=True, slots=True, repr=False)
class DependencyPath:
    """A directed path in the dependency graph of a truncated network.

    Attributes
    ----------
    layer
        The layer ℓ of the hyperplane at which the path starts.
    signs
        The signs of the layers before on the region whose image is the domain of the truncated
        network; empty for ℓ = 1.
    hyperplanes
        The hyperplanes of the pieces along the path, rows [a | b] over the activations of layer
        ℓ - 1.
    points
        A point for each edge, where the earlier piece meets the closure of the later one.

    Examples
    --------
    >>> points = ((Fraction(0), Fraction(1)),)
    >>> print(DependencyPath(1, SignVector(()), ((1, 0, 0), (1, 1, -1)), points))
    path of layer 1: (1, 0, 0) to (1, 1, -1) at (0, 1)
    """

    layer: int
    signs: SignVector
    hyperplanes: tuple[IntegerRow, ...]
    points: tuple[tuple[Fraction, ...], ...]

    def __str__(self) -> str:
        steps = [
            f" to ({', '.join(map(str, row))}) at {point_text(point)}"
            for row, point in zip(self.hyperplanes[1:], self.points, strict=True)
        ]
        start = f"({', '.join(map(str, self.hyperplanes[0]))})"
        return f"path of layer {self.layer}: {start}{''.join(steps)}"

    def __repr__(self) -> str:
        return bracketed(f"DependencyPath of layer {self.layer}, length {len(self.points)}")


@dataclass(frozen=True, slots=True, repr=False)
class _Found:
    """What was found of something that each layer needs; text for people, fields for JSON."""

    text: str
    items: tuple[Any, ...]

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return bracketed(self.text)


def phuong_lampert(
    cells: PolyhedralComplex, *, limits: Limits = _DEFAULT_LIMITS
) -> Condition[Parts]:
    """Check the hypotheses of the theorem of Phuong and Lampert for a network on a domain.

    Parameters
    ----------
    cells
        A complete complex of a network without skip connections, on a domain of full dimension,
        whose interior is Z.
    limits
        Bounds on the work for "general"; beyond them that condition is "unchecked".

    Returns
    -------
    Condition
        The condition "phuong_lampert". Its parts are "non_increasing", "bounded", "pl_general",
        "transparent", "open_images" and "paths"; the evidence of the last two lists an `ImagePart`
        for each layer, and a `DependencyPath` for each start. If all hold, every general network of
        the same widths with the same function on Z equals the given one up to permuting and
        positively scaling hidden neurons.

    Raises
    ------
    DomainError
        The complex is incomplete, or the definition of "general" does not cover the network or the
        domain.

    Notes
    -----
    Source: Phuong and Lampert (2020), Theorem A.1.

    Examples
    --------
    >>> from polyrelu.foldsets import construct_identifiable
    >>> network = construct_identifiable((2, 2, 2, 1)).network
    >>> report = phuong_lampert(canonical_complex(network, "box:-1,1"))
    >>> print(report)
    phuong_lampert: holds, 6 conditions
    >>> print(report.evidence.conditions[-1].evidence.items[0])
    path of layer 1: (1, -1, 0) to (1, -9, -1) at (-1/8, -1/8)
    """
    cells, limits = expect_complex(cells), expect(limits, Limits, "limits")
    require_pl(cells)
    network = cells.network
    return combined(
        "phuong_lampert",
        [
            _non_increasing(network),
            _bounded(cells),
            pl_general(cells, limits=limits),
            transparency(cells),
            _open_images(cells),
            _paths(cells),
        ],
    )


def _non_increasing(network: Network) -> Condition[Any]:
    """The condition on the widths."""
    widths = network.widths
    pairs = list(pairwise(widths[:-1]))
    wrong = next((k for k, (one, other) in enumerate(pairs, 1) if one < other), None)
    text = ""
    if widths[-1] != 1:
        text = f"{widths[-1]} outputs, not one"
    elif wrong is not None:
        text = f"layer {wrong} is wider than the layer before"
    elif len(widths) < 3 or widths[-2] < 2:
        text = "the last hidden layer has fewer than two neurons"
    status = "fails" if text else "holds"
    return Condition("non_increasing", status, len(widths), "widths", _Found(text, widths))  # type: ignore[arg-type]


def _bounded(cells: PolyhedralComplex) -> Condition[Any]:
    """The condition that the domain is bounded."""
    bounded = int(cells.bounded.sum())
    if bounded == cells.num_regions:
        return Condition("bounded", "holds", bounded, "regions")
    region = int((~cells.bounded).argmax())
    return Condition("bounded", "fails", bounded, "regions", _Found(f"region {region}", (region,)))


def _open_images(cells: PolyhedralComplex) -> Condition[Any]:
    """The condition that the image of the domain under each hidden layer has interior."""
    found: list[ImagePart] = []
    for layer in range(1, cells.network.num_hidden_layers + 1):
        part = next(image_parts(cells, layer), None)
        if part is None:
            text = f"the image of layer {layer} has no interior"
            return Condition("open_images", "fails", len(found), "layers", _Found(text, ()))
        found.append(part)
    evidence = _Found(count_text([(len(found), "part")]), tuple(found))
    return Condition("open_images", "holds", len(found), "layers", evidence)


def _paths(cells: PolyhedralComplex) -> Condition[Any]:
    """The condition that each layer has enough paths with different starts."""
    network, found = cells.network, list[DependencyPath]()
    for layer in range(1, network.num_hidden_layers + 1):
        parts = list(image_parts(cells, layer - 1))
        starts: dict[IntegerRow, DependencyPath] = {}
        for part in parts:
            for path in dependency_paths(network, part):
                starts.setdefault(path.hyperplanes[0], path)
            if len(starts) >= network.widths[layer]:
                break
        found += list(starts.values())[: network.widths[layer]]
        if len(starts) < network.widths[layer]:
            return _too_few(layer, len(starts), network.widths[layer], len(parts), found)
    evidence = _Found(count_text([(len(found), "path")]), tuple(found))
    return Condition("paths", "holds", len(found), "paths", evidence)


def _too_few(
    layer: int, starts: int, wanted: int, num_parts: int, found: list[DependencyPath]
) -> Condition[Any]:
    """The condition on paths where a layer has too few of them.

    On several parts the paths of the whole image, which may be longer, were not looked at.
    """
    text = f"layer {layer}: paths start at {starts} of {wanted} hyperplanes"
    evidence = _Found(text, tuple(found))
    if num_parts > 1:
        reason = f"{text}, on each of {num_parts} parts of the image by itself"
        return Condition("paths", "unchecked", len(found), "paths", evidence, reason)
    return Condition("paths", "fails", len(found), "paths", evidence)


def dependency_paths(network: Network, part: ImagePart) -> Iterator[DependencyPath]:
    """Generate the paths that a layer needs, on one part of the image of the layer before."""
    layer = part.layer + 1
    cells = canonical_complex(truncated_network(network, layer), part.polyhedron)
    surface = canonical_surface(breakpoint_complex(cells).subcomplex)
    graph = dependency_graph(surface, edges="bending")
    for path in paths_of_length(graph, network.num_hidden_layers - layer):
        rows = tuple(surface.pieces[number].hyperplane for number in path)
        yield DependencyPath(layer, part.signs, rows, path_points(graph, path))
