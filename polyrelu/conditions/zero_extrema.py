"""The condition that no unit of a network has a local extremum with value 0.

Source: Phuong and Lampert (2020), Lemma A.12, for networks on an open set Z: for every unit (l, i)
each point of Z with z = 0 has points with z > 0 and points with z < 0 in every neighbourhood. Here
Z is the relative interior of the domain, and on a domain of lower dimension neighbourhoods in the
domain count. Units are hidden neurons and outputs: the lemma speaks of all of them, although the
proofs use it for hidden neurons only (Lemma A.15), and for the outputs it is a condition on the
function alone. A unit that is 0 on an open set violates it.

On the complex: near a point of a cell F the domain consists of the regions around F. A hidden
neuron has one sign on each of them, so F violates the condition if the neuron is 0 on F and the
regions around F do not include both a positive and a negative one. An output z is affine on F; if
z = 0 at a local extremum in F, z = 0 on all of F. And if z = 0 on F, then on a region R around it
z grows in proportion on the segments from a point of F to the vertices of R and along the rays of
R, and these span R near F: so z > 0 at points of R near F exactly if z > 0 at a vertex of R or z
grows along a ray of R. If all cells contain lines, hidden neurons do not change along them; an
output that does (it reads the input) has no extrema.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from polyrelu.complex.completeness import require_complete
from polyrelu.complex.interior_points import point_in
from polyrelu.complex.polyhedral_complex import Cell, PolyhedralComplex
from polyrelu.complex.subcomplex import faces_of_regions
from polyrelu.conditions.condition import Condition, as_complex, neuron_text, point_text
from polyrelu.exact import RationalMatrix
from polyrelu.network import Network, NeuronId
from polyrelu.support.arguments import expect
from polyrelu.support.display import bracketed
from polyrelu.support.typing import Mask

__all__ = ["ZeroExtremum", "zero_extrema"]

#: The kind of an extremum; "constant" where the unit is 0 on a whole neighbourhood.
ExtremumKind = Literal["minimum", "maximum", "constant"]


@dataclass(frozen=True, slots=True, repr=False)
class ZeroExtremum:
    """A cell inside the domain on which a unit has a local extremum with value 0.

    Attributes
    ----------
    unit
        A hidden neuron, or an output as (L, i).
    cell
        The cell; all of its points are local extrema.
    kind
        "minimum", "maximum", or "constant" where the unit is 0 on a whole neighbourhood.
    point
        A point inside the cell.

    Examples
    --------
    >>> print(ZeroExtremum(NeuronId(2, 0), Cell(0, 0), "maximum", (Fraction(0),)))
    neuron 0 of layer 2 has a local maximum with value 0 at (0)
    """

    unit: NeuronId
    cell: Cell
    kind: ExtremumKind
    point: tuple[Fraction, ...]

    def __str__(self) -> str:
        what = (
            "is 0 around" if self.kind == "constant" else f"has a local {self.kind} with value 0 at"
        )
        return f"{neuron_text(self.unit)} {what} {point_text(self.point)}"

    def __repr__(self) -> str:
        return bracketed(f"ZeroExtremum, {self}")


def zero_extrema(cells: PolyhedralComplex, *, outputs: bool = True) -> Condition[ZeroExtremum]:
    """Check whether no unit has a local extremum with value 0 inside the domain.

    Parameters
    ----------
    cells
        A complete complex, of any network on any domain.
    outputs
        Whether to check the outputs as well. If the network ends in a ReLU, all its layers are
        hidden.

    Returns
    -------
    Condition
        The condition "no_zero_extrema"; its evidence is a cell and a unit that violate it, its
        count is the number of pairs of a unit and a cell inside the domain on which the unit is 0.

    Raises
    ------
    DomainError
        The complex is incomplete, or a part of one.

    Notes
    -----
    Source: Phuong and Lampert (2020), Lemma A.12.

    Examples
    --------
    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [-1]), ([[1]], [3])])
    >>> print(zero_extrema(canonical_complex(net)))
    no_zero_extrema: holds, 15 zeros
    >>> # neuron 0 of layer 2 is -|x|
    >>> net = from_arrays([([[1], [-1]], [0, 0]), ([[-1, -1]], [0]), ([[1]], [3])])
    >>> print(zero_extrema(canonical_complex(net)).evidence)
    neuron 0 of layer 2 has a local maximum with value 0 at (0)
    """
    cells, outputs = as_complex(cells), expect(outputs, bool, "outputs")
    require_complete(cells, "zero extrema")
    inside = {k: cells.inside(k) for k in range(cells.dimension, cells.lineality_dim - 1, -1)}
    checked, evidence = 0, None
    for unit in _units(cells, outputs):
        for k, extreme in unit.extrema(cells, inside):
            checked += int((unit.zero[k] & inside[k]).sum()) - len(extreme)
            if evidence is None and len(extreme):
                evidence = unit.evidence(cells, Cell(k, int(extreme[0])))
    return Condition(
        "no_zero_extrema", "fails" if evidence is not None else "holds", checked, "zeros", evidence
    )


@dataclass(frozen=True, slots=True)
class _Unit:
    """The cells on which a unit is 0, and the regions that show its signs near them.

    Attributes
    ----------
    name
        The unit.
    zero
        For every dimension k = 0, 1, … the cells on which the unit is 0.
    positive, negative
        The regions near whose faces with value 0 the unit is positive, or negative.
    """

    name: NeuronId
    zero: list[Mask]
    positive: Mask
    negative: Mask

    def extrema(
        self, cells: PolyhedralComplex, inside: Mapping[int, Mask]
    ) -> Iterator[tuple[int, NDArray[np.int64]]]:
        """Generate the cells inside the domain with extrema, by descending dimension."""
        positive, negative = (
            faces_of_regions(cells, mask) for mask in (self.positive, self.negative)
        )
        for k, mask in inside.items():
            yield k, np.flatnonzero(self.zero[k] & mask & ~(positive[k] & negative[k]))

    def evidence(self, cells: PolyhedralComplex, cell: Cell) -> ZeroExtremum:
        """Return the extremum on a cell."""
        above, below = (
            bool(faces_of_regions(cells, mask)[cell.dimension][cell.index])
            for mask in (self.positive, self.negative)
        )
        kind: ExtremumKind = "minimum" if above else "maximum" if below else "constant"
        return ZeroExtremum(self.name, cell, kind, point_in(cells, cell))


def _units(cells: PolyhedralComplex, outputs: bool) -> Iterator[_Unit]:
    """Generate the hidden neurons and, if asked for, the outputs that may have extrema."""
    for column, neuron in enumerate(cells.neurons):
        signs = [cells.signs(k)[:, column] for k in range(cells.dimension + 1)]
        yield _Unit(neuron, [part == 0 for part in signs], signs[-1] > 0, signs[-1] < 0)
    if outputs and cells.network.last == "affine":
        rows = [
            cells.generators.input_coordinates(number) for number in range(len(cells.generators))
        ]
        at_vertices = _output_signs(cells.network, rows)
        along_lines = _output_signs(cells.network, [(*line, 0) for line in cells.lineality])
        for index, signs in enumerate(at_vertices):
            if not any(along_lines[index].tolist()):
                yield _output_unit(cells, NeuronId(cells.network.depth, index), signs)


def _output_unit(cells: PolyhedralComplex, name: NeuronId, signs: NDArray[np.int8]) -> _Unit:
    """An output as a unit, from its signs at the generators of the complex."""
    marks = np.where(signs > 0, 1, np.where(signs < 0, 2, 0)).astype(np.uint64)
    met = cells.generators.marks_of_cells(marks)
    return _Unit(
        name, [words == 0 for words in met], np.isin(met[-1], (1, 3)), np.isin(met[-1], (2, 3))
    )


def _output_signs(network: Network, rows: Sequence[Sequence[int]]) -> NDArray[np.int8]:
    """Compute the signs of the outputs at homogeneous points (x, t), shape (n_L, number of rows).

    For t > 0 they are the signs at x / t. For t = 0 a row is a direction r, and the signs are the
    signs of lim f(x + s r) / s for s → ∞, whatever x is: max(z, 0) is positively homogeneous, so
    dividing f by s divides the biases by s.
    """
    columns = RationalMatrix.from_integers(rows, ncols=network.num_inputs + 1).transpose()
    t = columns.take(rows=[network.num_inputs])
    activations = [columns.take(rows=range(network.num_inputs))]
    for layer in network.layers:
        z = layer.bias @ t
        for block in layer.blocks:
            z = z + block @ activations[block.source]
        activations.append(z.relu())
    return z.signs()
