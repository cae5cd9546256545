"""Other tools, asked for their answers about a network, which are then audited.

`callables` takes any function of points and any enumerator of regions, `graphs` takes graphs of
networkx, `runtimes` runs onnxruntime and PyTorch, and `relucent` the package of that name. Each
library is imported when its tool is asked. Tools that cannot be called from here write a file of
claims; docs/how-to/audit.md has recipes.
"""

from polyrelu.audit.tools.ask import TOOLS, audit_tool
from polyrelu.audit.tools.callables import audit_callable, audit_enumerator
from polyrelu.audit.tools.graphs import audit_graph

__all__ = ["TOOLS", "audit_callable", "audit_enumerator", "audit_graph", "audit_tool"]
