"""What the check of a certificate costs that a command has written (FORMAT.md, section 3.6).

The checker runs on the written file, up to a bound of some seconds, and says what the check has
cost. Beyond the bound the cost of a split tree, or of a list of vertices, is estimated from the
lines that were checked; it is no upper bound in theory, but four times, or twice, what the other
lines cost if they are like these. A command that has a time limit spends less.
"""

from __future__ import annotations

import argparse
import gzip
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from polyrelu.errors import CertificateError

__all__ = ["CheckCost", "check_cost"]

#: Units up to which the cost is measured, some seconds, and where a command has a time limit.
MEASURED, MEASURED_IN_HASTE = 2**33, 2**28
#: How much more the nodes of a tree that were not checked may cost than those that were, and the
#: same for vertices, which are more alike.
_MARGIN, _MARGIN_OF_VERTICES = 4, 2


@dataclass(frozen=True, slots=True)
class CheckCost:
    """The cost of a check in units.

    Attributes
    ----------
    units
        The cost. If it is `measured`, it is the least budget that the check keeps to.
    kind
        How the cost is known: `measured`, `estimated`, or `at-least` this.
    budget
        The default budget of the files.
    """

    units: int
    kind: Literal["measured", "estimated", "at-least"]
    budget: int

    def to_json(self) -> dict[str, Any]:
        """Return the cost as `--json` prints it."""
        return {"units": self.units, "kind": self.kind, "default_budget": self.budget}

    def lines(self) -> list[str]:
        """Return the cost in words, and what to do if it is above the default budget."""
        about = {"measured": "", "estimated": "about ", "at-least": "at least "}[self.kind]
        how = ", an estimate and no bound" if self.kind == "estimated" else ""
        lines = [f"check cost: {about}{self.units} units{how} (default budget {self.budget})"]
        if self.units > self.budget:
            needs = {"measured": "needs", "estimated": "may need", "at-least": "needs more than"}
            lines.append(f"caution: the check {needs[self.kind]} --budget {self.units}")
        return lines


def check_cost(options: argparse.Namespace, written: Sequence[Path]) -> CheckCost | None:
    """Return what the check of a written certificate costs.

    `written` are the network files beside the certificate, and the certificate last. The answer is
    None if there is no certificate, or if Ctrl-C has ended the measurement.
    """
    if not written:
        return None
    from polyrelu import checker

    default = checker.BUDGET + checker.UNITS_PER_BYTE * sum(path.stat().st_size for path in written)
    is_in_haste = getattr(options, "time_limit", None) is not None
    bound = min(default, MEASURED_IN_HASTE if is_in_haste else MEASURED)
    try:
        report = checker.check_file(written[-1], budget=bound)
        if report.verdict == "accepted":
            return CheckCost(report.cost, "measured", default)
        if report.verdict == "rejected":
            raise CertificateError(
                f"{written[-1]}: the checker rejects this certificate ({report.step}), an error of "
                "polyrelu; please report it"
            )
        node = re.fullmatch("line ([0-9]+)", report.step)
        if node is None or report.cost <= bound:
            return CheckCost(report.cost, "at-least", default)
        share = _num_lines(written[-1]) / int(node[1])
        is_tree = checker.read_contents(written[-1]).theorem not in ("vertices", "complex")
    except KeyboardInterrupt:
        return None
    margin = _MARGIN if is_tree else _MARGIN_OF_VERTICES
    return CheckCost(int(margin * report.cost * share), "estimated", default)


def _num_lines(path: Path) -> int:
    """Return the number of lines of a file, which may be packed."""
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        return sum(1 for _ in file)
