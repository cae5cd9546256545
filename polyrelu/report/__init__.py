"""Reports on a network: one page with what was read, what is proved, pictures and certificates.

`report` asks the provers and the rooms that compute, each within a share of one budget, and makes a
document (`polyrelu.support.document`) of their answers. The data flow: `question` (network, domain,
what is shown, limits) → `reading`, `cells`, `claims`, `symmetries` (a `Part` each) → `open_ends`
(what is undecided) → `assembly` (the document and its files).
"""

from polyrelu.report.assembly import REPORT_FORMATS, Report, report

__all__ = ["REPORT_FORMATS", "Report", "report"]
