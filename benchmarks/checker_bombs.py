"""Resource bombs against the checker: time and memory of small files under the default budget.

    python -m benchmarks.checker_bombs [NAME]...

Each family of `tests/generators/checker_bombs.py` gives a file of about a megabyte at most,
compressed. A process of its own checks it. The target is a verdict within 60 seconds and 1 GB.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.reporting import write_results
from tests.generators.checker_bombs import BOMBS
from tests.generators.files import ROOT

#: Checks a file, and prints verdict, units, seconds and the most memory (in kB) that was used.
PROGRAM = """
import json, pathlib, sys, time
sys.path.insert(0, sys.argv[1])
import checker
started = time.process_time()
report = checker.check_file(sys.argv[2])
seconds = time.process_time() - started
status = pathlib.Path("/proc/self/status").read_text()
memory = int(status.split("VmHWM:")[1].split()[0])
print(json.dumps([report.verdict, report.step, report.cost, seconds, memory]))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="families, by default all")
    options = parser.parse_args()
    results = {name: _measured(name) for name in options.names or BOMBS}
    if not options.names:
        write_results("checker_bombs", results)


def _measured(name: str) -> dict[str, Any]:
    data = BOMBS[name].make(BOMBS[name].full)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bomb.json"
        path.write_bytes(data)
        command = [sys.executable, "-I", "-S", "-c", PROGRAM, str(ROOT / "polyrelu"), str(path)]
        found = subprocess.run(command, capture_output=True, text=True, check=True)
    verdict, step, cost, seconds, memory = json.loads(found.stdout)
    entry = {
        "bytes": len(data),
        "verdict": verdict,
        "step": step,
        "units": cost,
        "seconds": round(seconds, 2),
        "megabytes": memory // 1024,
    }
    print(name, entry, flush=True)
    return entry


if __name__ == "__main__":
    main()
