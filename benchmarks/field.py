"""A table of the field: float tools and the networks of the corpus, with a witness of each fault.

    python -m benchmarks.field [--edge-subdivision FOLDER] [--lirpa FOLDER] [--only WORD]
        [--seconds 60]

Tools that pip has are asked if they are installed: relucent, onnxruntime, torch, scipy, gudhi. The
two folders are checkouts of arturs-berzins/relu_edge_subdivision (with a file COMMIT) and of
Verified-Intelligence/auto_LiRPA. `benchmarks/results/field.json` has for each tool the
networks on which it agrees, and of the others one of: differs, with the first finding of the audit;
refuses, with what the tool says; no answer within the seconds. The picture counts them by kind.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

from benchmarks.field_tools import FalseAlarmError, Tool, tools
from benchmarks.reporting import RESULTS
from polyrelu.audit import AuditReport
from polyrelu.corpus import KINDS, CorpusEntry, corpus_entries, corpus_version

#: The verdicts in the order of the picture, with colours.
VERDICTS = {
    "agrees": "#2a9d8f",
    "differs": "#e76f51",
    "refuses": "#b0b0b0",
    "no answer": "#6c6c6c",
}


class _TooLateError(Exception):
    """The seconds are over."""


def _alarm(number: int, frame: FrameType | None) -> None:
    raise _TooLateError


def asked(tool: Tool, entry: CorpusEntry, seconds: float) -> dict[str, Any]:
    """Ask a tool about a network, and return the verdict on its answers."""
    before = signal.signal(signal.SIGALRM, _alarm)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        reports = tool.ask(entry)
    except _TooLateError:
        return {"verdict": "no answer", "text": f"after {seconds} seconds"}
    except FalseAlarmError as error:
        return {"verdict": "differs", "text": str(error)}
    except Exception as error:  # a tool may refuse in any way
        text = " ".join(str(error).split())[:200]
        return {"verdict": "refuses", "text": f"{type(error).__name__}: {text}"}
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    return _verdict(reports)


def _verdict(reports: list[AuditReport]) -> dict[str, Any]:
    """Return the verdict on all answers, with the first difference."""
    wrong = [report for report in reports if not report.agrees]
    if not wrong:
        return {"verdict": "agrees"}
    finding = wrong[0].findings[0].to_json()
    return {
        "verdict": "differs",
        "subject": wrong[0].subject,
        "counts": dict(wrong[0].counts),
        "finding": finding["message"],
        "witness": finding["witness"],
        "size": finding["size"],
        "measure": finding["measure"],
        "causes": [cause["name"] for cause in finding["causes"]],
        "notes": list(wrong[0].notes),
    }


def table(
    chosen: list[Tool], entries: tuple[CorpusEntry, ...], seconds: float
) -> list[dict[str, Any]]:
    """Ask all tools about all networks that they are asked about."""
    rows = []
    for tool in chosen:
        answers = {e.name: asked(tool, e, seconds) for e in entries if tool.is_asked(e)}
        counts = dict(Counter(answer["verdict"] for answer in answers.values()))
        print(f"{tool.name} {tool.version}: {counts}", file=sys.stderr, flush=True)
        rows.append(
            {
                "tool": tool.name,
                "version": tool.version,
                "question": tool.question,
                "counts": counts,
                "agrees": [name for name, a in answers.items() if a["verdict"] == "agrees"],
                "others": {name: a for name, a in answers.items() if a["verdict"] != "agrees"},
            }
        )
    return rows


def draw(rows: list[dict[str, Any]], path: Path) -> None:
    """Draw a bar for each tool and kind of network."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot
    from matplotlib.patches import Patch

    kind_of = {entry.name: entry.kind for entry in corpus_entries()}
    figure, axes = pyplot.subplots(
        1, len(KINDS), figsize=(11, 0.42 * len(rows) + 1.4), sharey=True, layout="constrained"
    )
    for axis, kind in zip(axes, KINDS, strict=True):
        for place, row in enumerate(rows):
            verdicts = dict.fromkeys(row["agrees"], "agrees")
            verdicts |= {name: answer["verdict"] for name, answer in row["others"].items()}
            found = Counter(v for name, v in verdicts.items() if kind_of[name] == kind)
            left, total = 0.0, sum(found.values())
            for verdict, colour in VERDICTS.items():
                width = found[verdict] / total if total else 0
                axis.barh(place, width, left=left, color=colour)
                if width >= 0.2:
                    label = str(found[verdict])
                    axis.text(left + width / 2, place, label, ha="center", va="center", fontsize=7)
                left += width
        axis.set_title(kind, fontsize=9)
        axis.set_xticks([])
        axis.spines[:].set_visible(False)
        axis.set_yticks(range(len(rows)), [row["tool"] for row in rows], fontsize=8)
        axis.tick_params(left=False)
        axis.margins(y=0.01)
    axes[0].invert_yaxis()
    seen = {verdict for row in rows for verdict in row["counts"]}
    handles = [Patch(color=c, label=verdict) for verdict, c in VERDICTS.items() if verdict in seen]
    figure.legend(handles=handles, ncols=4, fontsize=8, loc="outside lower center", frameon=False)
    figure.savefig(path, dpi=130)


def main() -> None:
    """Ask the tools, write the table, and draw it."""
    parser = argparse.ArgumentParser(description="Float tools against the corpus.")
    parser.add_argument("--edge-subdivision", type=Path, help="a checkout of this tool")
    parser.add_argument("--lirpa", type=Path, help="a checkout of auto_LiRPA")
    parser.add_argument("--only", default="", help="networks with this word in their names")
    parser.add_argument("--tool", default="", help="tools with this word in their names")
    parser.add_argument("--seconds", type=int, default=60, help="time for each answer")
    parser.add_argument("--output", type=Path, default=RESULTS / "field.json")
    options = parser.parse_args()
    chosen = [
        tool for tool in tools(options.edge_subdivision, options.lirpa) if options.tool in tool.name
    ]
    entries = tuple(entry for entry in corpus_entries() if options.only in entry.name)
    rows = table(chosen, entries, options.seconds)
    found = {"corpus": corpus_version(), "networks": len(entries), "tools": rows}
    options.output.write_text(f"{json.dumps(found, indent=1, ensure_ascii=False)}\n", "utf-8")
    if len(rows) > 1:
        draw(rows, options.output.with_suffix(".png"))


if __name__ == "__main__":
    main()
