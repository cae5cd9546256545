"""The canonical polyhedral complex of a network: domain, cells and signs, bent hyperplanes, graphs.

Data flow of `canonical_complex`: a polyhedron from `domain` gets coordinates in `frame`; the folder
`engine` cuts it with all neurons; `polyhedral_complex` shows the cells. Functions on finished
complexes stand in the other modules. Two smaller computations need no face lattice: `skeleton`
finds vertices and edges only, and `region_graph` finds regions and their neighbours by linear
programs, in any dimension and in little memory, though it takes longer than `canonical_complex`.
"""

from polyrelu.complex.bent_hyperplanes import (
    bent_hyperplane,
    fold_set,
    supertransversality_violation,
)
from polyrelu.complex.cell import Cell
from polyrelu.complex.consistency import failed_checks
from polyrelu.complex.export import save_complex, save_regions
from polyrelu.complex.facet_forms import FacetForms
from polyrelu.complex.frame import Frame
from polyrelu.complex.generators import CellGenerators
from polyrelu.complex.graphs import dual_graph, face_poset, linear_regions
from polyrelu.complex.interior_points import point_in
from polyrelu.complex.polyhedral_complex import (
    PolyhedralComplex,
    canonical_complex,
    stream_complex,
)
from polyrelu.complex.region import Region
from polyrelu.complex.region_graph import RegionGraph, RegionVisit, region_graph, walk_regions
from polyrelu.complex.region_stream import RegionTotals, count_regions, save_region_stream
from polyrelu.complex.skeleton import Skeleton, skeleton
from polyrelu.complex.subcomplex import Subcomplex

__all__ = [
    "Cell",
    "CellGenerators",
    "FacetForms",
    "Frame",
    "PolyhedralComplex",
    "Region",
    "RegionGraph",
    "RegionTotals",
    "RegionVisit",
    "Skeleton",
    "Subcomplex",
    "bent_hyperplane",
    "canonical_complex",
    "count_regions",
    "dual_graph",
    "face_poset",
    "failed_checks",
    "fold_set",
    "linear_regions",
    "point_in",
    "region_graph",
    "save_complex",
    "save_region_stream",
    "save_regions",
    "skeleton",
    "stream_complex",
    "supertransversality_violation",
    "walk_regions",
]
