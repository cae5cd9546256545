"""Sessions that follow the sentence of a short docstring are shown as examples on the site."""

from __future__ import annotations

import re
from typing import Any

import griffe


class Examples(griffe.Extension):
    """Put the heading of numpydoc before the first session of a docstring that has none."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is not None and "Examples\n---" not in obj.docstring.value:
            obj.docstring.value = re.sub(
                r"(?m)^>>>", "Examples\n--------\n>>>", obj.docstring.value, count=1
            )
