"""Pages of the site that are made from the package: commands, modules, the format, schemas."""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from typing import Any

from campaign_pages import campaign_page, campaigns
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import event_priority
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parent.parent

#: The public subpackages and what their reference pages are called.
ROOMS = {
    "formats": "Reading and writing networks",
    "network": "Networks, signs and patterns",
    "proofs": "Provers",
    "outcomes": "Answers",
    "certificate": "Certificates",
    "complex": "Cells",
    "breakpoints": "Breakpoints and weights",
    "topology": "Topology",
    "attributes": "Affine maps on data",
    "conditions": "Conditions of theorems",
    "walks": "Walks",
    "fibers": "Fibers",
    "foldsets": "Fold-sets, comparisons, counts",
    "symmetry": "Symmetry and normal forms",
    "corpus": "Networks with exact answers",
    "testing": "Assertions for tests",
    "dynamics": "Conserved quantities",
    "plot": "Pictures",
    "exact": "Linear programs and polyhedra",
    "support": "Progress",
    "errors": "Errors",
}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """List the pages in the order of a reader: tutorials, guides, notebooks, reference, theory."""
    here = ROOT / "docs"
    notebooks = [f"notebooks/{path.name}" for path in sorted((ROOT / "notebooks").glob("*.ipynb"))]
    config.nav = [
        {"Home": "index.md"},
        {"Tutorials": ["tutorials/index.md", *_listed(here / "tutorials/index.md")]},
        {"How-to": ["how-to/index.md", *_listed(here / "how-to/index.md")]},
        {"Notebooks": notebooks},
        {
            "Reference": [
                "reference/index.md",
                "reference/command-line.md",
                {"Python": [{title: f"reference/api/{room}.md"} for room, title in ROOMS.items()]},
                "reference/format.md",
                "reference/verified-checker.md",
                "reference/schemas.md",
                "reference/stability.md",
                "reference/limits.md",
                "reference/changelog.md",
            ]
        },
        {"Theory": ["theory/index.md", *_listed(here / "theory/index.md")]},
        {
            "Benchmarks": [
                "benchmarks/index.md",
                {"All numbers": [f"benchmarks/{name}.md" for name in campaigns()]},
            ]
        },
        {"Development": ["development/index.md", *_listed(here / "development/index.md")]},
    ]
    return config


def _listed(index: Path) -> list[str]:
    """The pages of a section in the order in which its index page links to them."""
    found = re.findall(r"\]\(([\w-]+\.md)(?:#[^)]*)?\)", index.read_text("utf-8"))
    return [f"{index.parent.name}/{name}" for name in dict.fromkeys(found)]


@event_priority(100)  # before the plugin that runs notebooks
def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages."""
    pages = {
        "reference/command-line.md": _command_line(),
        "reference/format.md": (ROOT / "polyrelu/certificate/FORMAT.md").read_text("utf-8"),
        "reference/schemas.md": _schemas(),
        "reference/changelog.md": (ROOT / "CHANGELOG.md").read_text("utf-8"),
    }
    for room, title in ROOMS.items():
        pages[f"reference/api/{room}.md"] = _module_page(room, title)
    for name in campaigns():
        pages[f"benchmarks/{name}.md"] = campaign_page(name)
    for path, text in pages.items():
        files.append(File.generated(config, path, content=text))
    for image in sorted((ROOT / "benchmarks/results").glob("*.png")):
        path = f"benchmarks/results/{image.name}"
        files.append(File.generated(config, path, abs_src_path=str(image)))
    for notebook in sorted((ROOT / "notebooks").glob("*.ipynb")):
        path = f"notebooks/{notebook.name}"
        files.append(File(path, str(ROOT), config.site_dir, config.use_directory_urls))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Turn links to files outside the site into links that work on it."""
    here = Path(page.file.src_uri).parent
    to_format = "/".join([".."] * len(here.parts) + ["reference/format.md"])
    markdown = re.sub(
        r"\]\([./]*polyrelu/certificate/FORMAT\.md(#[^)]*)?\)", f"]({to_format})", markdown
    )
    markdown = markdown.replace("(../benchmarks/results/", "(benchmarks/results/")
    markdown = markdown.replace("(../../benchmarks/results/", "(../benchmarks/results/")
    markdown = markdown.replace("(../../notebooks/", "(../notebooks/")
    return re.sub(r"\[([^\]]+)\]\([./]*(?:polyrelu/|LICENSE)[^)]*\)", r"\1", markdown)


def _module_page(room: str, title: str) -> str:
    """The reference page of a subpackage: every name of its `__all__`."""
    from importlib import import_module
    from importlib.util import find_spec

    package = import_module(f"polyrelu.{room}")
    is_package = hasattr(package, "__path__")
    hidden = {
        name for name in package.__all__ if is_package and find_spec(f"{package.__name__}.{name}")
    }
    members = [name for name in package.__all__ if name not in hidden]
    lines = [f"# {title}", "", f"::: polyrelu.{room}", "    options:", "      members:"]
    lines += [f"        - {name}" for name in members]
    for name in sorted(hidden):  # the module of the same name stands before the function
        full = f"{getattr(package, name).__module__}.{name}"
        lines += ["", f"::: {full}", "    options:", "      heading_level: 3"]
        lines += ["      show_root_full_path: false"]
    return "\n".join(lines) + "\n"


def _command_line() -> str:
    """The help of every command, as the parsers print it."""
    from polyrelu.cli.main import _parser

    top = _parser()
    text = ["# Command line\n", _help_block(top)]
    for action in top._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, command in action.choices.items():
                text += [f"\n## `polyrelu {name}`\n", _help_block(command)]
    return "\n".join(text)


def _help_block(parser: argparse.ArgumentParser) -> str:
    return f"```text\n{parser.format_help().rstrip()}\n```"


def _schemas() -> str:
    """A section for each JSON Schema with its keys."""
    text = [
        "# JSON output\n",
        "`--json` prints one object. Each command's keys are described by a JSON Schema that is "
        'part of the package (`polyrelu/schemas`). Rational numbers are text, such as `"1/3"`.\n',
    ]
    for path in sorted((ROOT / "polyrelu/schemas").glob("*.json")):
        schema = json.loads(path.read_text("utf-8"))
        text.append(f"\n## `{path.name}`\n\n{schema.get('description', schema.get('title', ''))}\n")
        rows = [
            f"| `{key}` | {_type_of(entry)} | {_one_line(entry.get('description', ''))} |"
            for key, entry in schema.get("properties", {}).items()
        ]
        if rows:
            text += ["| key | type | meaning |", "|---|---|---|", *rows]
    return "\n".join(text) + "\n"


def _type_of(entry: dict[str, Any]) -> str:
    kind = entry.get("type", entry.get("$ref", ""))
    return " or ".join(kind) if isinstance(kind, list) else str(kind).rsplit("/", 1)[-1]


def _one_line(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
