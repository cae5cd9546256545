"""Truncated networks h^{ℓ:k}, and the sets of inputs that they get.

Phuong and Lampert (2020, section 3) write h^{ℓ:k} for the layers ℓ, …, k of a network as a network
of their own, and Z_ℓ for the image of the domain Z under the first ℓ layers, ReLU included. Z_ℓ is
a union of polyhedra, one for each region of the first ℓ layers. Those with interior come from
regions on which all neurons of layer ℓ are active and the affine map has rank n_ℓ; their interiors
are the images of the open regions. `image_parts` lists them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from polyrelu.complex import PolyhedralComplex, canonical_complex
from polyrelu.complex.completeness import require_complete
from polyrelu.complex.polyhedral_complex import expect_complex
from polyrelu.errors import NetworkError
from polyrelu.exact import Polyhedron, rank
from polyrelu.formats import NetworkLike, as_network
from polyrelu.network import Layer, Network, SignVector
from polyrelu.support.arguments import expect_integer
from polyrelu.support.display import bracketed

__all__ = ["ImagePart", "image_parts", "truncated_network"]


@dataclass(frozen=True, slots=True, repr=False)
class ImagePart:
    """A part with interior of the image of a domain under the first layers of a network.

    Attributes
    ----------
    layer
        The number ℓ of layers; for 0 the part is the domain.
    signs
        The signs of the neurons of layers 1, …, ℓ on the region of which it is the image.
    polyhedron
        The closure of the image, in R^{n_ℓ}.
    point
        A point of the region.

    Examples
    --------
    >>> part = ImagePart(0, SignVector(()), Polyhedron.box([-1], [1]), (Fraction(0),))
    >>> part
    <ImagePart of the domain, in R^1>
    """

    layer: int
    signs: SignVector
    polyhedron: Polyhedron
    point: tuple[Fraction, ...]

    def __repr__(self) -> str:
        what = f"of layer {self.layer}, signs {self.signs}" if self.layer else "of the domain"
        return bracketed(f"ImagePart {what}, in R^{self.polyhedron.ambient_dimension}")


def truncated_network(network: NetworkLike, first: int, last: int | None = None) -> Network:
    """Return some consecutive layers of a network as a network.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes, without skip connections.
    first, last
        The numbers ℓ ≤ k of the first and the last layer, from 1; None for the last one.

    Returns
    -------
    Network
        h^{ℓ:k}. Its inputs are the activations of layer ℓ - 1, its outputs the preactivations of
        layer k; if k is the last layer, it ends as the network does.

    Raises
    ------
    NetworkError
        There are no such layers, or the network has skip connections.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 2]], [0]), ([[3], [4]], [0, 1]), ([[1, 1]], [0])])
    >>> truncated_network(net, 2).widths, truncated_network(net, 1, 2)([1, 1])
    ((1, 2, 1), (Fraction(9, 1), Fraction(13, 1)))
    """
    network, first = as_network(network), expect_integer(first, "first")
    last = network.depth if last is None else expect_integer(last, "last")
    network.require_plain()
    if not 1 <= first <= last <= network.depth:
        raise NetworkError(f"there are no layers {first} to {last}, only 1 to {network.depth}")
    layers = tuple(
        Layer((replace(layer.blocks[0], source=number),), layer.bias)
        for number, layer in enumerate(network.layers[first - 1 : last])
    )
    ends = network.last if last == network.depth else "affine"
    return Network(network.widths[first - 1], layers, ends)


def image_parts(cells: PolyhedralComplex, layer: int) -> Iterator[ImagePart]:
    """Generate the parts with interior of the image of a domain under the first layers.

    Parameters
    ----------
    cells
        A complete complex of a network without skip connections, on the domain.
    layer
        The number ℓ of layers, from 0 to the number of hidden layers.

    Yields
    ------
    ImagePart
        One part for each region of the first ℓ layers whose image has interior in R^{n_ℓ}; regions
        with many active neurons first. The interior of Z_ℓ contains the interiors of the parts, and
        they are dense in it.

    Raises
    ------
    DomainError
        The complex is incomplete.
    NetworkError
        There is no such hidden layer, or the network has skip connections.

    Notes
    -----
    Source: Phuong and Lampert (2020), section 6 and Lemma A.17.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [-1]), ([[1]], [0])])
    >>> cells = canonical_complex(net, "box:-2,2")
    >>> [part.polyhedron.bounding_box()[1] for part in image_parts(cells, 1)]
    [(Fraction(2, 1), Fraction(2, 1))]
    """
    cells, layer = expect_complex(cells), expect_integer(layer, "layer")
    require_complete(cells, "image parts")
    network = cells.network
    if not 0 <= layer <= network.num_hidden_layers:
        raise NetworkError(f"there is no hidden layer {layer}")
    if layer == 0:
        if cells.dimension == network.num_inputs:
            yield ImagePart(0, SignVector(()), cells.domain, cells.interior_point(0))
        return
    head = Network(network.num_inputs, truncated_network(network, 1, layer).layers, "relu")
    prefix = canonical_complex(head, cells.domain)
    signs = prefix.signs()
    open_regions = np.flatnonzero((signs[:, -network.widths[layer] :] > 0).all(axis=1))
    active = (signs[open_regions] > 0).sum(axis=1)
    for index in open_regions[np.argsort(-active, kind="stable")].tolist():
        region = prefix.region(index)
        if rank(region.affine_map.matrix) == network.widths[layer]:
            image = region.polyhedron.image(
                region.affine_map.matrix, list(region.affine_map.offset.entries())
            )
            yield ImagePart(layer, region.signs, image, region.interior_point)
