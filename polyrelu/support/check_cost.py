"""What the check of a certificate costs that is in a file (FORMAT.md, section 3.6).

The checker runs on the written file, up to a bound of some seconds, and says what the check has
cost. Beyond the bound the cost of a split tree, or of a list of vertices, is estimated from the
lines that were checked, and the cost of Theorem D from some of its planes; it is no upper bound in
theory, but four times, or twice, what all would cost if they are like these. Where a time limit is
given, the bound is smaller. The command `polyrelu check` that is printed has a budget if it may
need one.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from polyrelu.errors import CertificateError

if TYPE_CHECKING:
    from polyrelu.checker import Meter

__all__ = ["CheckCost", "budget_option", "check_command", "check_cost", "largest_cost"]

#: Units up to which the cost is measured, some seconds, and where there is a time limit.
MEASURED, MEASURED_IN_HASTE = 2**33, 2**28
#: How much more the nodes of a tree, or the planes of a proof of Theorem D, that were not checked
#: may cost than those that were, and the same for vertices, which are more alike.
_MARGIN, _MARGIN_OF_VERTICES = 4, 2
#: The budget where the cost is not known, some days of work.
_AMPLE = 10**15
#: A sample of the planes grows by this factor until it costs so much of the bound.
_GROWTH = 4


@dataclass(frozen=True, slots=True)
class CheckCost:
    """The cost of a check in units.

    Attributes
    ----------
    units
        The cost. If it is `measured`, it is the least budget that the check keeps to.
    kind
        How the cost is known: `measured`, `estimated`, or `at-least` this.
    default
        The default budget of the files.
    """

    units: int
    kind: Literal["measured", "estimated", "at-least"]
    default: int

    @property
    def budget(self) -> int | None:
        """The budget to give to the check, a round number; None if the default one is enough."""
        if self.kind == "at-least":
            return max(_AMPLE, round_number(1000 * self.units))
        return round_number(self.units) if self.units > self.default else None

    def to_json(self) -> dict[str, Any]:
        """Return the cost as `--json` prints it."""
        return {
            "units": self.units,
            "kind": self.kind,
            "default_budget": self.default,
            "budget": self.budget,
        }

    def lines(self) -> list[str]:
        """Return the cost in words, and what to do if the default budget may not be enough."""
        about = {"measured": "", "estimated": "about ", "at-least": "at least "}[self.kind]
        how = ", an estimate and no bound" if self.kind == "estimated" else ""
        lines = [f"check cost: {about}{self.units} units{how} (default budget {self.default})"]
        if self.budget is not None:
            needs = {
                "measured": f"needs --budget {self.budget}",
                "estimated": f"may need --budget {self.budget}",
                "at-least": f"may cost much more, and --budget {self.budget} leaves it days",
            }
            lines.append(f"caution: the check {needs[self.kind]}")
        return lines


def round_number(units: int) -> int:
    """Return the least number 1, 2 or 5 times a power of ten that is not smaller.

    >>> round_number(770), round_number(11), round_number(5)
    (1000, 20, 5)
    """
    power = 1
    while 10 * power <= units:
        power *= 10
    return next(power * first for first in (1, 2, 5, 10) if power * first >= units)


def check_command(names: Iterable[object], cost: CheckCost | None) -> str:
    """Return the command that checks some certificates, with the budget that it needs.

    >>> check_command(["a.json"], CheckCost(9, "measured", 7))
    'polyrelu check a.json --budget 10'
    """
    return f"polyrelu check {shlex.join(map(str, names))}{budget_option(cost)}"


def budget_option(cost: CheckCost | None) -> str:
    """Return the option with the budget that a check needs; nothing if it needs none.

    >>> budget_option(CheckCost(9, "measured", 7)), budget_option(CheckCost(7, "measured", 9))
    (' --budget 10', '')
    """
    return "" if cost is None or cost.budget is None else f" --budget {cost.budget}"


def largest_cost(costs: Iterable[CheckCost | None]) -> CheckCost | None:
    """Return the cost of the certificate that needs the largest budget."""
    known = [cost for cost in costs if cost is not None]
    return max(known, key=lambda cost: (cost.budget or 0, cost.units), default=None)


def check_cost(
    written: Sequence[Path], *, is_in_haste: bool = False, share: int = 1
) -> CheckCost | None:
    """Return what the check of a written certificate costs.

    `written` are the network files beside the certificate, and the certificate last. A measurement
    in haste ends earlier. `share` is the number of certificates that share the time of
    measurements. The answer is None if there is no certificate, or if Ctrl-C has ended the
    measurement.
    """
    if not written:
        return None
    from polyrelu import checker

    default = checker.BUDGET + checker.UNITS_PER_BYTE * sum(path.stat().st_size for path in written)
    bound = (MEASURED_IN_HASTE if is_in_haste else MEASURED) // share
    try:
        report = checker.check_file(written[-1], budget=bound)
        if report.verdict == "accepted":
            return CheckCost(report.cost, "measured", default)
        if report.verdict == "rejected":
            raise CertificateError(
                f"{written[-1]}: the checker rejects this certificate ({report.step}), an error of "
                "polyrelu; please report it"
            )
        estimate = None
        if report.cost > bound:
            estimate = _estimate(written, report.step, report.cost, bound)
    except KeyboardInterrupt:
        return None
    if estimate is None:
        return CheckCost(report.cost, "at-least", default)
    return CheckCost(estimate, "estimated", default)


def _estimate(written: Sequence[Path], step: str, cost: int, bound: int) -> int | None:
    """Return the cost of a check that has ended in a step at the bound; None if it is not known."""
    from polyrelu import checker

    line = re.fullmatch("line ([0-9]+)", step)
    if line is not None and line[1] != "1":  # the first one has the claim
        share = _num_lines(written[-1]) / int(line[1])
        contents = checker.read_contents(written[-1], budget=_AMPLE)
        is_tree = contents.theorem not in ("vertices", "complex")
        return int((_MARGIN if is_tree else _MARGIN_OF_VERTICES) * cost * share)
    if step == "ridges":
        return _estimate_by_planes(written, bound)
    return None


def _num_lines(path: Path) -> int:
    """Return the number of lines of a file, which may be packed."""
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        return sum(1 for _ in file)


# -- Theorem D: most of the work is at the ridges of its planes


def _estimate_by_planes(written: Sequence[Path], bound: int) -> int | None:
    """Return what a proof of Theorem D costs, from planes that are spread over the file.

    With some planes only the checker rejects the certificate, after it has paid for their ridges.
    None is returned if few planes cost more than the bound.
    """
    from polyrelu import checker

    packed = written[-1].suffix == ".gz"
    document = json.loads((gzip.open if packed else open)(written[-1], "rb").read())
    networks = [(path.name, path.read_bytes()) for path in written[:-1]]
    (ridges,) = (own for own in document["proof"]["hypotheses"] if own["id"] == "ridges")
    planes, found = list(checker.with_inputs(ridges["evidence"]["slices"])), None

    def paid(chosen: list[Any]) -> Meter:
        """Return what was paid until the families, with these planes."""
        ridges["evidence"]["slices"] = chosen
        meter = checker.Meter(bound)
        with contextlib.suppress(checker.Stop):
            data = json.dumps(document).encode()
            checker.check_certificate(data, lambda _name: networks, meter)
        return meter

    start, count = paid([]), 1
    while count < len(planes):
        chosen = [planes[i * len(planes) // count] for i in range(count)]
        meter = paid(chosen)
        if meter.step == "ridges" and meter.cost > bound:
            return found
        share = _num_ridges(planes) / _num_ridges(chosen)
        work = start.work + share * (meter.work - start.work)
        cells = start.most_cells + share * (meter.most_cells - start.most_cells)
        found = int(_MARGIN * max(work, cells * checker.UNITS_PER_CELL))
        if _GROWTH * meter.work > bound:
            break
        count *= _GROWTH
    return found


def _num_ridges(planes: Iterable[Any]) -> int:
    """Return the number of ridges of some planes."""
    return sum(len(plane["ridges"]) for plane in planes)
