"""How objects of all public types show themselves, as the text of one golden file.

`python -m tests.generators.representations` renews the file after a change that is meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from textwrap import indent

from tests.generators.public_objects import BUILDERS, public_types

GOLDEN = Path(__file__).parents[1] / "unit" / "documentation" / "golden" / "representations.txt"
COMMAND = "python -m tests.generators.representations"

#: The methods that notebooks call, by the name of what they return.
RICH = {"html": "_repr_html_", "latex": "_repr_latex_", "svg": "_repr_svg_"}


def forms_of(thing: object) -> Iterator[tuple[str, str]]:
    """What an object shows, by kind; a text that only repeats the `repr` is left out."""
    yield "repr", repr(thing)
    if str(thing) != repr(thing):
        yield "str", str(thing)
    for kind, method in RICH.items():
        if hasattr(thing, method):
            shown = getattr(thing, method)()
            yield kind, str(labels(shown) if kind == "svg" and shown is not None else shown)


def labels(svg: str) -> str:
    """The words of a picture: its bytes and the ticks of its axes are matplotlib's business."""
    assert svg.startswith("<svg ")
    words = re.findall(r"<!-- (.*?) -->", svg)
    return " | ".join(word for word in words if not re.fullmatch(r"[-−]?[\d.]+", word))


def representations() -> str:
    """The text of the golden file."""
    names = public_types()
    parts = []
    for build in BUILDERS:
        for thing in build():
            lines = [names.get(type(thing), type(thing).__name__)]
            for kind, shown in forms_of(thing):
                lines.append(f"{kind}:")
                lines.append(indent(shown, "    "))
            parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def main() -> None:
    """Write the golden file."""
    GOLDEN.parent.mkdir(exist_ok=True)
    GOLDEN.write_text(representations(), encoding="utf-8")


if __name__ == "__main__":
    main()
