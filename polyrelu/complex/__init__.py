"""The canonical polyhedral complex of a network: domain, cells and signs, bent hyperplanes, graphs.

The data flow: `domain` (a polyhedron) → `frame` (coordinates) → `arrangement` (the first cells) → `subdivision`, which
cuts the cells of the `lattice` along `forms` after deciding signs at `vertices` → `polyhedral_complex` → the rest.
Beside it, for less: `simple_skeleton`, vertices and edges; for many dimensions: `region_walk`, regions and their
neighbours by linear programs.
"""

from polyrelu.complex.bent_hyperplanes import (
    bent_hyperplane,
    fold_set,
    supertransversality_violation,
)
from polyrelu.complex.consistency import failed_checks
from polyrelu.complex.domain import Slice, parse_domain, parse_slice
from polyrelu.complex.export import save_complex, save_regions
from polyrelu.complex.graphs import dual_graph, face_poset, linear_regions
from polyrelu.complex.interior_points import point_in
from polyrelu.complex.polyhedral_complex import (
    Cell,
    PolyhedralComplex,
    canonical_complex,
    stream_complex,
)
from polyrelu.complex.region import Region
from polyrelu.complex.region_graph import RegionGraph, RegionVisit, region_graph, walk_regions
from polyrelu.complex.skeleton import Skeleton, skeleton
from polyrelu.complex.subcomplex import Subcomplex

__all__ = [
    "Cell",
    "PolyhedralComplex",
    "Region",
    "RegionGraph",
    "RegionVisit",
    "Skeleton",
    "Slice",
    "Subcomplex",
    "bent_hyperplane",
    "canonical_complex",
    "dual_graph",
    "face_poset",
    "failed_checks",
    "fold_set",
    "linear_regions",
    "parse_domain",
    "parse_slice",
    "point_in",
    "region_graph",
    "save_complex",
    "save_regions",
    "skeleton",
    "stream_complex",
    "supertransversality_violation",
    "walk_regions",
]
