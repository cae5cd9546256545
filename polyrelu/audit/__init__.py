"""What float tools say about a network, compared with the exact answers.

Whoever writes a tool that computes activation regions, vertices, bounds, counterexamples, matchings
or topology in floats can compare its answers here. Each function takes a network and claims, and
returns an `AuditReport`: a verdict for each item, and for each difference a point with rational
coordinates, a size, and causes whose checks succeeded. Nothing is compared with a hidden tolerance:
an `Allowance` says when a float stands for an exact number, and the report repeats it.

`ground_truth` computes the exact complex once for several audits. `claims` has the forms of lists
of regions, `claim_files` reads claims, and `tools` asks other packages for theirs.
"""

from polyrelu.audit.allowance import EXACT, NEAREST, Allowance
from polyrelu.audit.bounds import audit_bounds
from polyrelu.audit.claim_files import audit_claims
from polyrelu.audit.claims import (
    ActivationPatterns,
    HalfSpaces,
    LocalMaps,
    SignVectors,
    VertexLists,
)
from polyrelu.audit.counterexamples import audit_counterexamples
from polyrelu.audit.counts import audit_adjacency, audit_counts
from polyrelu.audit.deviations import audit_deviation
from polyrelu.audit.findings import Cause, Finding
from polyrelu.audit.ground_truth import GroundTruth, ground_truth
from polyrelu.audit.lipschitz import audit_lipschitz
from polyrelu.audit.matchings import audit_function, audit_matching
from polyrelu.audit.outputs import audit_gradients, audit_outputs
from polyrelu.audit.radii import audit_radii
from polyrelu.audit.regions import audit_regions
from polyrelu.audit.reports import AuditReport
from polyrelu.audit.texts import html_report, markdown_report
from polyrelu.audit.tools import TOOLS, audit_callable, audit_enumerator, audit_graph, audit_tool
from polyrelu.audit.topology import audit_persistence, audit_topology
from polyrelu.audit.vertices import audit_edges, audit_vertices

__all__ = [
    "EXACT",
    "NEAREST",
    "TOOLS",
    "ActivationPatterns",
    "Allowance",
    "AuditReport",
    "Cause",
    "Finding",
    "GroundTruth",
    "HalfSpaces",
    "LocalMaps",
    "SignVectors",
    "VertexLists",
    "audit_adjacency",
    "audit_bounds",
    "audit_callable",
    "audit_claims",
    "audit_counterexamples",
    "audit_counts",
    "audit_deviation",
    "audit_edges",
    "audit_enumerator",
    "audit_function",
    "audit_gradients",
    "audit_graph",
    "audit_lipschitz",
    "audit_matching",
    "audit_outputs",
    "audit_persistence",
    "audit_radii",
    "audit_regions",
    "audit_tool",
    "audit_topology",
    "audit_vertices",
    "ground_truth",
    "html_report",
    "markdown_report",
]
