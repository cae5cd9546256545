"""relucent (Gaines and Bi 2026): regions, half-spaces and neighbours by local search in floats.

relucent searches the whole space, or a cube around 0. Its half-spaces come with bounds on their
errors, and the largest of these is the allowance with which its rows are compared.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from polyrelu.audit.allowance import Allowance
from polyrelu.audit.claims import HalfSpaces, SignVectors
from polyrelu.audit.counts import audit_adjacency
from polyrelu.audit.ground_truth import GroundTruth, ground_truth
from polyrelu.audit.regions import audit_regions
from polyrelu.audit.reports import AuditReport
from polyrelu.audit.tools.runtimes import float_module
from polyrelu.errors import DomainError, PolyreluError
from polyrelu.exact import Polyhedron
from polyrelu.formats import Imported

__all__ = ["audit_relucent"]


def audit_relucent(
    imported: Imported, domain: Polyhedron, max_findings: int = 100
) -> list[AuditReport]:
    """Return the reports on the regions, half-spaces and neighbours that relucent finds."""
    try:
        import relucent
    except ImportError:
        raise PolyreluError("relucent: it is not installed: pip install relucent") from None
    radius = _radius(domain)
    module, _ = float_module(imported.network, "float64")
    found = relucent.Complex(module)
    where = {} if radius is None else {"cube_radius": float(radius), "cube_mode": "clipped"}
    try:
        found.bfs(nworkers=1, verbose=0, verify=radius is None, **where)
    except Exception as error:  # relucent refuses networks that it cannot certify, in many types
        text = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
        raise PolyreluError(f"relucent refuses: {text}") from None
    return _reports(ground_truth(imported.network, domain), found, radius, max_findings)


def _reports(
    truth: GroundTruth, found: Any, radius: Fraction | None, max_findings: int
) -> list[AuditReport]:
    """Return the reports on what relucent found."""
    cells = [cell for cell in found if cell.dim == truth.network.num_inputs]
    width = len(truth.network.neurons)
    signs = np.array([np.ravel(cell.ss_np)[:width] for cell in cells]).reshape(-1, width)
    claims = SignVectors(signs)
    reports = [audit_regions(truth, claims, max_findings=max_findings)]
    if radius is None:
        # The dual graph changes the lists of facets, so that half-spaces are read before it.
        spaces = HalfSpaces.of([_rows(cell) for cell in cells])
        pairs = list(found.dual_graph(relabel=True).edges)
        reports.append(audit_adjacency(truth, claims, pairs, max_findings=max_findings))
        worst = max((float(np.max(c.halfspaces_err_np)) for c in cells), default=0.0)
        allowance = Allowance(absolute=Fraction(worst))
        reports.append(audit_regions(truth, spaces, allowance=allowance, max_findings=max_findings))
    return reports


def _rows(cell: Any) -> tuple[Any, Any]:
    """Return (A, c) with A x ≤ c; relucent writes a·x + b ≤ 0."""
    rows = np.asarray(cell.halfspaces_np)[list(cell.shis)]
    return rows[:, :-1], -rows[:, -1]


def _radius(domain: Polyhedron) -> Fraction | None:
    """Return r for the cube [-r, r]^n, None for the whole space."""
    if not domain.inequalities and not domain.equations:
        return None
    box = domain.bounding_box()
    radius = None if box is None else box[1][0]
    size = domain.ambient_dimension
    if radius is None or not Polyhedron.box([-radius] * size, [radius] * size).equals(domain):
        raise DomainError("relucent: the domain must be R^n or a cube such as box:-1,1")
    return radius
