"""Where tests find files: of the project, and networks from elsewhere that the project does not
hold.

Tests on networks from elsewhere run if the environment variable POLYRELU_SHARED names a folder with
them (``nets/`` inside it), and are skipped otherwise.
"""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["CERTIFICATES", "NETS", "ROOT"]

ROOT = Path(__file__).resolve().parents[2]
CERTIFICATES = ROOT / "tests" / "certificates"
NETS = Path(os.environ.get("POLYRELU_SHARED", ROOT / "no-networks-from-elsewhere")) / "nets"
