"""The second checker, `polyrelu-check-verified`, whose rules are proved in Coq.

It is a program of its own (`verified/`), which no wheel contains. `polyrelu check` runs it on each
certificate if it is found on the search path, and reports its verdict beside the first one.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from typing import Any, NamedTuple

__all__ = ["SecondVerdict", "disagreement", "find_second_checker", "second_verdict"]

#: The name of the program.
PROGRAM = "polyrelu-check-verified"
#: Maximum budget that the program reads, which computes with machine integers.
MAX_BUDGET = 2**61
#: What a checker says that stopped at a limit; the limits of the two differ in what work costs.
LIMITS = "beyond the limits"


class SecondVerdict(NamedTuple):
    """What the second checker says about a certificate.

    Attributes
    ----------
    verdict
        One of accepted, rejected, unreadable, and not covered.
    report
        Its JSON object.
    """

    verdict: str
    report: dict[str, Any]

    def __str__(self) -> str:
        if self.verdict == "accepted":
            return f"{PROGRAM}: accepted\n  trusted: {'; '.join(self.report['trusted'])}"
        place = f"{self.report['step']}: " if self.verdict != "not covered" else ""
        return f"{PROGRAM}: {self.verdict} ({place}{self.report['got']})"


def find_second_checker() -> str | None:
    """Return the path of the program, or None if it is not installed."""
    return shutil.which(PROGRAM)


def second_verdict(
    program: str, path: str, networks: Sequence[str], budget: str | None
) -> SecondVerdict:
    """Return what the second checker says about a certificate file."""
    command = [program, "--json"]
    for network in networks:
        command += ["--network", network]
    if budget is not None:
        command += ["--budget", str(min(int(budget), MAX_BUDGET))]
    ended = subprocess.run([*command, "--", path], capture_output=True, check=False)
    try:
        report = json.loads(ended.stdout)
        return SecondVerdict(report["verdict"], report)
    except (ValueError, KeyError, TypeError):
        got = f"{os.path.basename(program)} ended with status {ended.returncode} and no report"
        return SecondVerdict("failed", {"step": "start", "got": got})


def disagreement(first: str, got: str, statement: str, second: SecondVerdict) -> str:
    """Return how the verdicts of both checkers differ, or an empty string.

    Parameters
    ----------
    first
        The verdict of the first checker.
    got
        What it found, if it does not accept.
    statement
        The sentence that it accepts.
    second
        What the second checker says.

    Returns
    -------
    str
        Both verdicts, if one of them must be wrong: only one accepts, or they accept different
        sentences. Claims that are not covered, a check that one of the two stopped at a limit, and
        a file that is rejected by one and unreadable for the other are no disagreement.
    """
    report = second.report
    verdicts = (first, second.verdict)
    if verdicts == ("accepted", "accepted"):
        if statement == report["statement"]:
            return ""
        return f"they accept different sentences, {statement!r} and {report['statement']!r}"
    is_stopped = LIMITS in got or LIMITS in report.get("got", "")
    if "accepted" not in verdicts or second.verdict in ("not covered", "failed") or is_stopped:
        return ""
    return f"checker.py says {first}, {PROGRAM} says {second.verdict}"
