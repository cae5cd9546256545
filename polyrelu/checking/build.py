"""Build `polyrelu/checker.py`, the checker as one file, from the modules of this folder.

    python -m polyrelu.checking.build [--check]

The file has the text of the modules in the order of FORMAT.md, without their docstrings and
imports, below a table of contents. With `--check` nothing is written, and the exit status is 1 if
the file is not what would be written.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

__all__ = ["FILE", "MODULES", "built"]

FOLDER = Path(__file__).parent
FILE = FOLDER.parent / "checker.py"
#: The modules in the order of the sections of FORMAT.md that they implement.
MODULES = (
    "text",
    "networks",
    "arithmetic",
    "claims",
    "theorems",
    "identifiability",
    "trailing",
    "refutations",
    "replacement",
    "one_sided",
    "one_sided_cases",
    "membership",
    "invariants",
    "meter",
    "rounding",
    "pairs",
    "ridges",
    "families",
    "systems",
    "sparse",
    "injectivity",
    "sizes",
    "dimensions",
    "leaky",
    "blocks",
    "blocks_replacement",
    "blocks_one_sided",
    "verdicts",
    "expressions",
    "trees",
    "regions",
    "tree_limits",
    "vertices",
    "cell_pairs",
    "lipschitz",
    "left_inverse",
    "monotone",
    "packing",
    "grid",
    "forms",
    "boxes",
    "affine_maps",
    "relaxed_rows",
    "clauses",
    "backward",
    "joint",
    "inherited",
    "bounds",
    "gradients",
    "teaching",
    "command",
)
LINE_LENGTH = 100
HEAD = '''\
# SPDX-License-Identifier: MIT (Copyright 2026 The polyrelu developers; text in LICENSE-checker.txt)
# Generated from polyrelu/checking by `python -m polyrelu.checking.build`; edit it there.
"""Independent checker of polyrelu certificates, version 1 of certificate/FORMAT.md.

The file runs alone, with the standard library only:

    python -I -S checker.py [--json] [--budget UNITS] [--about FILE] [--network FILE]... CERT...

The exit status is 0 if all certificates are accepted, 1 if one is rejected, 2 if one is unreadable.
Sections have the numbers of FORMAT.md, and notation is as there. A theorem is one entry: `@theorem`
names its kind of claim, the page of its proof, the shape of its evidence and what each hypothesis
says; the function below re-derives the hypotheses, each fact in one `require`. Contents, by line:

'''

#: An older Python would fail with status 1, which means that a certificate is rejected.
GUARD = """\
from __future__ import annotations

import sys

if sys.version_info < (3, 11):
    print("checker.py: it needs Python 3.11 or later", file=sys.stderr)
    sys.exit(2)

"""


def built() -> str:
    """Return the text of the checker as one file.

    Raises
    ------
    ValueError
        Two modules define one name, or a module imports from elsewhere.
    """
    standard, bodies = dict[str, set[str]](), list[str]()
    defined = dict[str, str]()
    for module in MODULES:
        source = (FOLDER / f"{module}.py").read_text(encoding="ascii", errors="strict")
        tree = ast.parse(source)
        for name in _defined_names(tree):
            if defined.setdefault(name, module) != module:
                raise ValueError(f"{name} is defined in {defined[name]} and in {module}")
        for name, parts in _standard_imports(tree):
            standard.setdefault(name, set()).update(parts)
        bodies.append(_body(source, tree))
    body = "\n\n".join(bodies)
    body = GUARD + _import_lines(standard) + "\n" + body
    return _with_contents(body)


def _defined_names(tree: ast.Module) -> Iterator[str]:
    """Yield the names that a module defines at its top level."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        targets = (
            node.targets
            if isinstance(node, ast.Assign)
            else [node.target]
            if isinstance(node, ast.AnnAssign)
            else []
        )
        for target in targets:
            for part in ast.walk(target):
                if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                    yield part.id


def _standard_imports(tree: ast.Module) -> Iterator[tuple[str, set[str]]]:
    """Yield modules of the standard library with the names imported from them, if any."""
    for node in tree.body:
        if isinstance(node, ast.Import):
            for alias in node.names:
                if not alias.name.startswith("polyrelu.checking."):
                    yield _standard(alias.name), set()
        elif isinstance(node, ast.ImportFrom) and node.module != "__future__":
            if any(alias.asname for alias in node.names):
                raise ValueError(f"{node.module}: an import under another name")
            if not str(node.module).startswith("polyrelu.checking."):
                yield _standard(str(node.module)), {alias.name for alias in node.names}


def _standard(name: str) -> str:
    if name.split(".")[0] not in sys.stdlib_module_names:
        raise ValueError(f"{name} is not in the standard library")
    return name


def _body(source: str, tree: ast.Module) -> str:
    """Return a module without its docstring and its imports."""
    lines = source.splitlines()
    heads = [tree.body[0], *(n for n in tree.body if isinstance(n, ast.Import | ast.ImportFrom))]
    last = max(node.end_lineno or 0 for node in heads)
    return "\n".join(lines[last:]).strip("\n") + "\n"


def _import_lines(standard: dict[str, set[str]]) -> str:
    """Return the imports as the formatter lays them out."""
    lines = [f"import {name}" for name in sorted(standard) if not standard[name]]
    for name in sorted(standard):
        if not standard[name]:
            continue
        parts = sorted(standard[name], key=_order_of_name)
        line = f"from {name} import {', '.join(parts)}"
        if len(line) > LINE_LENGTH:
            line = f"from {name} import (\n" + "".join(f"    {part},\n" for part in parts) + ")"
        lines.append(line)
    return "\n".join(lines) + "\n"


def _order_of_name(name: str) -> tuple[int, str]:
    """Return constants first, then classes, then the rest."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2), name


def _with_contents(body: str) -> str:
    """Return the file, with its table of contents, whose length is known before its numbers."""
    pattern = re.compile(
        r"^# ==== (.+) ====$|^# ---- (.+)$|^@(?:theorem|refutation)\(\s*\"([a-z-]+)\"", re.M
    )
    found = list(pattern.finditer(body))
    start = HEAD.count("\n") + len(found) + 3
    entries = list[str]()
    for match in found:
        line = start + body.count("\n", 0, match.start())
        title = match[1] or (f"  {match[2]}" if match[2] else f"    theorem {match[3]}")
        title = title if len(title) <= 84 else f"{title[:81]}..."
        entries.append(f"{line:>6}  {title}\n")
    return HEAD + "".join(entries) + '"""\n\n' + body


def main() -> int:
    """Write the file, or compare it; return the exit status."""
    text = built()
    if sys.argv[1:] == ["--check"]:
        same = FILE.exists() and FILE.read_text(encoding="ascii") == text
        if not same:
            print("checker.py is not what `python -m polyrelu.checking.build` makes")
        return 0 if same else 1
    FILE.write_text(text, encoding="ascii")
    return 0


if __name__ == "__main__":
    sys.exit(main())
