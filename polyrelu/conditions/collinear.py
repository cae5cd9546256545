"""The condition that no two formal affine pieces of a network are multiples of each other.

For masks I_1, …, I_{l-1}, nonempty sets of neurons of the layers before, unit i of layer l (an
output if l = L) has the affine piece

    w = e_i W_l I_{l-1} W_{l-1} … I_1 W_1,    b = e_i Σ_{k ≤ l} W_l I_{l-1} … W_{k+1} I_k b_k,

whether or not exactly these neurons are on at some point. For (l, i, I) ≠ (k, j, J) the vectors [w
| b] must not be collinear; 0 is collinear with everything. The condition does not depend on the
domain.

Source: Phuong and Lampert (2020), Lemma A.11. Their main text states another condition in its
place (section 3, condition 3), on the linear functions of any two units on any two of their linear
regions. Taken literally, no network satisfies it (take one unit and one region twice). For two
different units it fails on an open set of networks: where a whole layer is off, all units of the
next layer are constants, and constants are multiples of each other. The appendix excludes such
masks, and the proofs use the appendix. Where the proofs conclude that two gradients differ (Lemma
A.13), the lemma gives that the vectors [w | b] differ, which is equivalent for pieces that meet at
a point.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice

from polyrelu.conditions.condition import Condition, UndefinedError, point_text, require_plain
from polyrelu.conditions.masks import masks_of
from polyrelu.exact import RationalMatrix, primitive
from polyrelu.formats.arguments import NetworkLike, as_network
from polyrelu.network import Network, NeuronId
from polyrelu.support.arguments import expect_count
from polyrelu.support.display import bracketed

__all__ = [
    "PIECE_LIMIT",
    "AffinePiece",
    "CollinearPieces",
    "affine_piece",
    "affine_pieces",
    "noncollinear_pieces",
]

#: For each of the layers 1, …, l - 1 the neurons that are kept.
Masks = tuple[tuple[int, ...], ...]

#: Default for the maximum number of affine pieces to check.
PIECE_LIMIT = 20_000


@dataclass(frozen=True, slots=True, repr=False)
class AffinePiece:
    """A formal affine piece: a unit with masks, and its vector.

    Attributes
    ----------
    unit
        A hidden neuron or an output.
    masks
        The neurons kept in layers 1, …, l - 1.
    vector
        The vector [w | b], n_0 + 1 numbers.

    Examples
    --------
    >>> print(AffinePiece(NeuronId(2, 0), ((0, 1),), (Fraction(1), Fraction(3))))
    unit 0 of layer 2 with masks {0, 1} is (1, 3)
    """

    unit: NeuronId
    masks: Masks
    vector: tuple[Fraction, ...]

    def __str__(self) -> str:
        masks = " ".join("{" + ", ".join(map(str, mask)) + "}" for mask in self.masks)
        given = f" with masks {masks}" if masks else ""
        return (
            f"unit {self.unit.index} of layer {self.unit.layer}{given} is {point_text(self.vector)}"
        )

    def __repr__(self) -> str:
        return bracketed(f"AffinePiece, {self}")


@dataclass(frozen=True, slots=True, repr=False)
class CollinearPieces:
    """Two affine pieces of which one is a multiple of the other.

    Attributes
    ----------
    first, second
        The pieces.

    Examples
    --------
    >>> piece = AffinePiece(NeuronId(1, 0), (), (Fraction(1), Fraction(3)))
    >>> other = AffinePiece(NeuronId(1, 1), (), (Fraction(2), Fraction(6)))
    >>> print(CollinearPieces(piece, other))
    collinear: unit 0 of layer 1 is (1, 3), unit 1 of layer 1 is (2, 6)
    """

    first: AffinePiece
    second: AffinePiece

    def __str__(self) -> str:
        return f"collinear: {self.first}, {self.second}"

    def __repr__(self) -> str:
        return bracketed(f"CollinearPieces, {self.first}, {self.second}")


def noncollinear_pieces(
    network: NetworkLike, *, limit: int = PIECE_LIMIT
) -> Condition[CollinearPieces]:
    """Check whether no two formal affine pieces of a network are collinear.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes, without skip connections, that ends in an affine
        layer.
    limit
        Maximum number of pieces to check; there are Σ_l n_l Π_{k<l} (2^{n_k} - 1).

    Returns
    -------
    Condition
        The condition "noncollinear"; its evidence is two collinear pieces, its count is the number
        of pieces.

    Raises
    ------
    DomainError
        The network has skip connections, or ends in a ReLU (the outputs after it would repeat all
        pieces of layer L).

    Notes
    -----
    Source: Phuong and Lampert (2020), Lemma A.11.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> first = ([[1, 0], [0, 1]], [1, 2])
    >>> print(noncollinear_pieces(from_arrays([first, ([[1, 3]], [1])])))
    noncollinear: holds, 5 pieces
    >>> print(noncollinear_pieces(from_arrays([first, ([[1, 3]], [0])])).evidence)
    collinear: unit 0 of layer 1 is (1, 0, 1), unit 0 of layer 2 with masks {0} is (1, 0, 1)
    """
    network, limit = as_network(network), expect_count(limit, "limit")
    require_plain(network, "collinear pieces")
    if network.last == "relu":
        raise UndefinedError(
            "collinear pieces: defined for networks that end in an affine layer only"
        )
    pieces, checked = _pieces(network), 0
    known = _PieceSet(network)
    for piece in islice(pieces, limit):
        other = known.collinear_with(piece)
        if other is not None:
            return Condition(
                "noncollinear", "fails", checked, "pieces", CollinearPieces(other, piece)
            )
        known.add(piece)
        checked += 1
    if next(pieces, None) is None:
        return Condition("noncollinear", "holds", checked, "pieces")
    return Condition(
        "noncollinear",
        "unchecked",
        checked,
        "pieces",
        reason=f"only {checked} pieces were looked at",
    )


class _PieceSet:
    """Affine pieces no two of which are collinear, by the hashes of their lines.

    Only units and masks are stored, because the vectors may be many and long.
    """

    def __init__(self, network: Network) -> None:
        self._network = network
        self._first: AffinePiece | None = None
        self._by_hash: dict[int, list[tuple[NeuronId, Masks]]] = {}

    def add(self, piece: AffinePiece) -> None:
        """Add a piece that is collinear with no piece of the set."""
        if self._first is None:
            self._first = piece
        self._by_hash.setdefault(hash(_line(piece)), []).append((piece.unit, piece.masks))

    def collinear_with(self, piece: AffinePiece) -> AffinePiece | None:
        """Return a piece of the set that is collinear with the given one, or None."""
        line = _line(piece)
        # The vector 0 is collinear with everything, so only the first piece of the set can be 0.
        if self._first is not None and not (line and _line(self._first)):
            return self._first
        same_hash = (affine_piece(self._network, *key) for key in self._by_hash.get(hash(line), ()))
        return next((other for other in same_hash if _line(other) == line), None)


def _line(piece: AffinePiece) -> tuple[int, ...]:
    """The primitive integer vector, up to sign, on the line of a piece; () if the piece is 0."""
    return primitive(piece.vector)[0] if any(piece.vector) else ()


def affine_pieces(network: NetworkLike) -> Iterator[AffinePiece]:
    """Generate all formal affine pieces of a network without skip connections, layer by layer.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes.

    Returns
    -------
    Iterator of AffinePiece
        The Σ_l n_l Π_{k<l} (2^{n_k} - 1) pieces.

    Raises
    ------
    DomainError
        The network has skip connections.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> for piece in affine_pieces(from_arrays([([[1], [2]], [0, 1]), ([[1, 1]], [0])])):
    ...     print(piece)
    unit 0 of layer 1 is (1, 0)
    unit 1 of layer 1 is (2, 1)
    unit 0 of layer 2 with masks {0} is (1, 0)
    unit 0 of layer 2 with masks {1} is (2, 1)
    unit 0 of layer 2 with masks {0, 1} is (3, 1)
    """
    network = as_network(network)
    require_plain(network, "affine pieces")
    return _pieces(network)


def _pieces(network: Network) -> Iterator[AffinePiece]:
    """Generate the formal affine pieces of a plain stack."""
    for layer in range(1, network.depth + 1):
        for masks, forms in _masked_forms(network, layer):
            for index, row in enumerate(forms.rows()):
                yield AffinePiece(NeuronId(layer, index), masks, row)


def affine_piece(network: Network, unit: NeuronId, masks: Masks) -> AffinePiece:
    """Return the piece of one unit for given masks of the layers before it.

    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [1, 2]), ([[1, 3]], [1])])
    >>> print(affine_piece(net, NeuronId(2, 0), ((0, 1),)))
    unit 0 of layer 2 with masks {0, 1} is (1, 3, 8)
    """
    forms = network.layers[0].augmented()
    for layer, mask in enumerate(masks, 2):
        forms = _MaskedSums(network, layer, forms).of(mask)
    return AffinePiece(unit, masks, forms.row(unit.index))


def _masked_forms(network: Network, layer: int) -> Iterator[tuple[Masks, RationalMatrix]]:
    """Generate the pieces [w | b] of all units of a layer, for all masks of the layers before."""
    if layer == 1:
        yield (), network.layers[0].augmented()
        return
    for masks, forms in _masked_forms(network, layer - 1):
        sums = _MaskedSums(network, layer, forms)
        for mask in masks_of(network.widths[layer - 1]):
            yield (*masks, mask), sums.of(mask)


class _MaskedSums:
    """The pieces of a layer, as sums of the contributions of the neurons of the layer before.

    The contribution of a neuron is computed when a mask asks for it, because in wide layers the
    limit is reached before all of them are needed.
    """

    def __init__(self, network: Network, layer: int, forms: RationalMatrix) -> None:
        weight, bias = network.weight(layer), network.bias(layer)
        product = weight.denominator * forms.denominator
        self._denominator = math.lcm(product, bias.denominator)
        factor, bias_factor = self._denominator // product, self._denominator // bias.denominator
        self._constant = [
            [*[0] * network.num_inputs, entry * bias_factor] for (entry,) in bias.integer_rows()
        ]
        self._factor, self._forms, self._weight = factor, forms, weight
        self._known: dict[int, list[list[int]]] = {}

    def of(self, mask: tuple[int, ...]) -> RationalMatrix:
        """Return [w | b] of all units of the layer for a mask of the layer before."""
        added = [self._contribution(j) for j in mask]
        rows = [
            [sum(column) for column in zip(*parts, strict=True)]
            for parts in zip(self._constant, *added, strict=True)
        ]
        return RationalMatrix.from_integers(rows, self._denominator)

    def _contribution(self, j: int) -> list[list[int]]:
        """The contribution of a neuron of the layer before to each unit."""
        if j not in self._known:
            # Entries of both matrices are integers over the common denominator of their matrix.
            scale = self._weight.denominator * self._factor
            column = [entry * scale for entry in self._weight.take(columns=[j]).entries()]
            row = [entry * self._forms.denominator for entry in self._forms.row(j)]
            self._known[j] = [[int(w * entry) for entry in row] for w in column]
        return self._known[j]
