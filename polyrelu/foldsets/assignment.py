"""The greedy assignment of folds to layers, and where it errs.

Phuong and Lampert (2020, section 5, Figure 3) read layers off a fold-set: the largest union of
hyperplanes in it goes to layer 1, the piece-wise hyperplanes with respect to that go to layer 2,
and so on. So a piece goes to the layer of its order. For general networks a piece of order k
belongs to a neuron of some layer ℓ ≥ k (Lemma A.18); the assignment errs where ℓ > k.
"""

from __future__ import annotations

from polyrelu.foldsets.surfaces import FoldPiece, PiecewiseLinearSurface, expect_surface

__all__ = ["misplaced_pieces"]


def misplaced_pieces(surface: PiecewiseLinearSurface) -> tuple[FoldPiece, ...]:
    """Return the pieces that the greedy assignment gives to a wrong layer.

    Parameters
    ----------
    surface
        A surface in canonical form, such as the fold-set of a network.

    Returns
    -------
    tuple of FoldPiece
        The pieces of an order k that lie in the unit fold-set of no neuron of layer k. Their
        `units` tell to which neurons they belong; none, if a piece is made of folds of several
        neurons.

    Notes
    -----
    Source: Phuong and Lampert (2020), section 5 and Figure 3.

    Examples
    --------
    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.foldsets import canonical_surface, unit_fold_sets
    >>> from polyrelu.network import from_arrays
    >>> first = ([[-3, 3], [3, -2]], [2, -1])
    >>> net = from_arrays([first, ([[3, 3], [1, -2]], [-3, 6]), ([[1, 2]], [1])])
    >>> surface = canonical_surface(unit_fold_sets(canonical_complex(net, "box:-1,1")))
    >>> [(piece.order, piece.units) for piece in misplaced_pieces(surface)]
    [(1, (NeuronId(layer=2, index=1),))]
    """
    return tuple(
        piece
        for piece in expect_surface(surface)
        if all(unit.layer != piece.order for unit in piece.units)
    )
