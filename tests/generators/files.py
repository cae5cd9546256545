"""The files that tests use: files of the project, and networks that the project does not hold.

Tests on networks from elsewhere run if the environment variable POLYRELU_SHARED names a folder with
such networks in its subfolder `nets`; otherwise they are skipped, and benchmarks leave them out.
"""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["CERTIFICATES", "NETS", "ROOT"]

ROOT = Path(__file__).resolve().parents[2]
CERTIFICATES = ROOT / "tests" / "certificates"
NETS = Path(os.environ.get("POLYRELU_SHARED", ROOT / "no-networks-from-elsewhere")) / "nets"
