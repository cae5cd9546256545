"""A page for each file in benchmarks/results: what was timed, on what, and its numbers as tables.

The text is the docstring of the script that wrote the file, so that it stands in one place. Entries
of a JSON file become tables by their shape: a list or a dictionary of like records is a table with
a row for each, other dictionaries are tables of names and values.
"""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"

#: More rows than this are not shown.
MOST_ROWS = 60
#: Longer texts in a cell are cut.
LONGEST_TEXT = 80


def campaigns() -> list[str]:
    """The names of all files of results, in alphabetical order."""
    return [path.stem for path in sorted(RESULTS.glob("*.json"))]


def campaign_page(name: str) -> str:
    """The page of a campaign, in Markdown."""
    data = json.loads((RESULTS / f"{name}.json").read_text("utf-8"))
    title, text = _docstring(name)
    machine = ", ".join(str(data.pop(key)) for key in ("machine", "python") if key in data)
    lines = [f"# {title}", "", text, ""]
    lines += [f"Numbers: `benchmarks/results/{name}.json`, measured on {machine} (Python)."]
    lines += ["", *_pictures(name), *_section(data, level=2)]
    return "\n".join(lines) + "\n"


def _docstring(name: str) -> tuple[str, str]:
    """Title and text of the docstring of the script; calls are shown as code."""
    source = ROOT / "benchmarks" / f"{name}.py"
    if not source.exists():
        return name.replace("_", " "), ""
    text = ast.get_docstring(ast.parse(source.read_text("utf-8"))) or name
    title, _, rest = text.partition("\n")
    return title.rstrip("."), rest.strip("\n")


def _pictures(name: str) -> list[str]:
    """The plot of the same name, if there is one."""
    return [f"![{name}](results/{name}.png)", ""] if (RESULTS / f"{name}.png").exists() else []


def _section(entry: Any, level: int) -> list[str]:
    """The lines that show an entry: tables, with headings for parts that are no tables."""
    rows = _records(entry)
    if rows is not None:
        return _table(rows)
    if not isinstance(entry, dict):
        return [_cell(entry), ""]
    plain = {key: value for key, value in entry.items() if not _is_part(value)}
    lines = _table([{"": key, "value": value} for key, value in plain.items()]) if plain else []
    for key, value in entry.items():
        if _is_part(value):
            heading = [f"{'#' * level} {key}", ""] if level <= 4 else [f"**{key}**", ""]
            lines += heading + _section(value, level + 1)
    return lines


def _is_part(entry: Any) -> bool:
    """Whether an entry needs a table or section of its own."""
    if isinstance(entry, list):
        return bool(entry) and isinstance(entry[0], dict)
    return isinstance(entry, dict)


def _records(entry: Any) -> list[dict[str, Any]] | None:
    """The rows of a table, if an entry is a list or dictionary of like flat records."""
    if isinstance(entry, list) and entry and all(isinstance(row, dict) for row in entry):
        return entry
    if isinstance(entry, dict) and len(entry) > 1 and all(map(_is_flat, entry.values())):
        return [{"": key, **value} for key, value in entry.items()]
    return None


def _is_flat(entry: Any) -> bool:
    return isinstance(entry, dict) and not any(_is_part(value) for value in entry.values())


def _table(rows: list[dict[str, Any]]) -> list[str]:
    """A Markdown table with a column for each key of the first rows."""
    columns = list(dict.fromkeys(key for row in rows[:MOST_ROWS] for key in row))
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    for row in rows[:MOST_ROWS]:
        lines.append("| " + " | ".join(_cell(row.get(key, "")) for key in columns) + " |")
    if len(rows) > MOST_ROWS:
        lines += ["", f"({len(rows) - MOST_ROWS} more rows are in the file.)"]
    return [*lines, ""]


def _cell(value: Any) -> str:
    """A value in a table: floats with four digits, no line breaks, no bars, no links."""
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, dict):
        value = ", ".join(f"{key}: {_cell(entry)}" for key, entry in value.items())
    if isinstance(value, list):
        value = ", ".join(map(_cell, value))
    text = " ".join(str(value).split())
    text = text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 1] + "…"
    return text.replace("|", "\\|").replace("[", "\\[")
