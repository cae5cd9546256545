"""Pictures of complexes, zero sets, weights and decision boundaries, and meshes of surfaces.

The room draws exact geometry with matplotlib (the extra `plot`) and plotly (`interactive`), makes
animations, and writes surfaces as polygon meshes. Geometry stays rational up to `canvas` and
`interactive`, which turn it into floats and make the objects of these libraries; nothing may be
computed from these floats.

The data flow: `view` (axes and frame) → `clip` (cells inside the frame, exactly) → `parts`,
`weights`, `sets`, `values` (what is drawn) → `canvas`. The module `picture` joins them and computes
what a picture needs; `animation` shows several of them; `mesh` writes surfaces.
"""

from polyrelu.plot.animation import (
    Animation,
    animate_fiber,
    animate_neurons,
    animate_training,
    animation_of,
)
from polyrelu.plot.canvas import save_figure
from polyrelu.plot.duals import draw_dual_clusters, draw_duals, draw_gradients
from polyrelu.plot.fibers import draw_fiber
from polyrelu.plot.folds import draw_dependency_graph, draw_pieces
from polyrelu.plot.interactive import interactive_bends, interactive_cells, interactive_graph
from polyrelu.plot.mesh import Mesh, mesh_of, save_mesh
from polyrelu.plot.parts import draw_cells, draw_layers, draw_subcomplex, draw_zero_sets
from polyrelu.plot.picture import Picture, picture, surface
from polyrelu.plot.sets import draw_boundary, draw_level_set
from polyrelu.plot.values import draw_graph, draw_surface
from polyrelu.plot.view import View, view_of
from polyrelu.plot.weights import draw_weights

__all__ = [
    "Animation",
    "Mesh",
    "Picture",
    "View",
    "animate_fiber",
    "animate_neurons",
    "animate_training",
    "animation_of",
    "draw_boundary",
    "draw_cells",
    "draw_dependency_graph",
    "draw_dual_clusters",
    "draw_duals",
    "draw_fiber",
    "draw_gradients",
    "draw_graph",
    "draw_layers",
    "draw_level_set",
    "draw_pieces",
    "draw_subcomplex",
    "draw_surface",
    "draw_weights",
    "draw_zero_sets",
    "interactive_bends",
    "interactive_cells",
    "interactive_graph",
    "mesh_of",
    "picture",
    "save_figure",
    "save_mesh",
    "surface",
    "view_of",
]
