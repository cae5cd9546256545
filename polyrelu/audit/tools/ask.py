"""Tools by name, as the command line asks them."""

from __future__ import annotations

from polyrelu.audit.reports import AuditReport
from polyrelu.audit.tools.relucent import audit_relucent
from polyrelu.audit.tools.runtimes import audit_onnxruntime, audit_torch
from polyrelu.formats import DomainLike, NetworkLike, as_domain, as_imported
from polyrelu.support.arguments import expect_choice

__all__ = ["TOOLS", "audit_tool"]

_AUDITS = {"relucent": audit_relucent, "onnxruntime": audit_onnxruntime, "torch": audit_torch}
#: The tools that can be asked by name.
TOOLS = tuple(_AUDITS)


def audit_tool(
    network: NetworkLike, tool: str, domain: DomainLike = None, *, max_findings: int = 100
) -> tuple[AuditReport, ...]:
    """Ask an installed tool about a network, and compare its answers with the exact ones.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes.
    tool
        ``relucent`` for regions, ``onnxruntime`` for outputs, ``torch`` for outputs and gradients.
    domain
        A polyhedron, or a text such as ``"box:-1,1"``; bounded for outputs, the whole space or a
        cube around 0 for relucent.
    max_findings
        Maximum number of differences of each report that are explained; all are counted.

    Returns
    -------
    tuple of AuditReport
        A report for each kind of answer.

    Raises
    ------
    PolyreluError
        The tool is not installed, or refuses the network.
    DomainError
        The tool cannot be asked about the domain.

    Examples
    --------
    >>> import pytest
    >>> _ = pytest.importorskip("onnxruntime")
    >>> [report.agrees for report in audit_tool("example:xor", "onnxruntime", "box:0,1")]
    [True]
    """
    expect_choice(tool, TOOLS, "tool")
    imported = as_imported(network)
    polyhedron = as_domain(domain, imported.network.num_inputs)
    return tuple(_AUDITS[tool](imported, polyhedron, max_findings))
