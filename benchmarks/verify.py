"""Properties of VNN-COMP for small networks, and a pair of ACAS Xu networks.

    python -m benchmarks.verify [--nets DIR] [--budget UNITS]

Each property is a file of the competition, from the folder `vnnlib` beside the networks. The pair
of isomorphic_acasxu is asked what its file means, |f_i - g_i| <= 1/20 for each output, and what it
says, which is a contradiction. Times are CPU seconds of this process on one thread: the search with
its certificate, then the independent checker, up to a number of leaves. The networks are expected
in `--nets`, by default the folder `nets` in the folder that POLYRELU_SHARED names.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.reporting import write_results
from polyrelu import check_file, verify
from polyrelu.formats import NetworkLike
from polyrelu.outcomes import PropertyHolds, PropertyUndecided
from tests.generators.files import NETS

#: Maximum number of leaves of a certificate that is checked.
MAX_CHECKED = 6_000
#: The network and the property of each instance.
INSTANCES = {
    "test_nano": ("vnn_test_nano.onnx", "test_nano"),
    "cartpole unsafe 0": ("rl_cartpole.onnx", "cartpole_case_unsafe_0"),
    "two-level lattice N=16, 0": ("tll_n2_NM16_0.onnx", "property_N=16_0"),
    "van der Pol 0": ("rpd_vdp.onnx", "vdp_0"),
    "acasxu 1-1, property 2": ("acasxu_1_1_vnncomp.onnx", "acasxu_prop_2"),
}


def main() -> None:
    """Answer all instances."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--nets", type=Path, default=NETS, help="folder with the networks")
    parser.add_argument("--budget", type=float, default=300_000, help="units of each instance")
    options = parser.parse_args()
    nets: Path = options.nets
    found = {
        name: _measured(nets / network, nets / "vnnlib" / f"{query}.vnnlib", options.budget)
        for name, (network, query) in INSTANCES.items()
    }
    pair: dict[str, NetworkLike] = {
        "f": nets / "pairs" / "acasxu_1_1.onnx",
        "g": nets / "pairs" / "acasxu_1_1_perturbed.onnx",
    }
    said = nets / "pairs" / "instance_0.vnnlib"
    found["isomorphic acasxu 0, as the file says"] = _measured(pair, said, options.budget)
    with TemporaryDirectory() as folder:
        meant = Path(folder, "meant.vnnlib")
        meant.write_text(_meant(said.read_text()))
        found["isomorphic acasxu 0, as it is meant"] = _measured(pair, meant, options.budget)
    write_results("verify", found)


def _meant(text: str) -> str:
    """Return the query that asks whether some output differs by more than 1/20."""
    inputs = text[: text.index("; Output Constraints")]
    cases = " ".join(
        f"(> Y_g[{i}] (+ Y_f[{i}] 0.05)) (< Y_g[{i}] (- Y_f[{i}] 0.05))" for i in range(5)
    )
    return f"{inputs}(assert (or {cases}))\n"


def _measured(network: NetworkLike | dict[str, NetworkLike], query: Path, budget: float) -> Any:
    started = time.process_time()
    outcome = verify(network, query, budget=budget)
    found: dict[str, Any] = {"status": outcome.status, "cpu": time.process_time() - started}
    if outcome.doubts:
        found["cautions"] = list(outcome.doubts)
    if isinstance(outcome, PropertyUndecided):
        low = outcome.margin[0]
        found["margin_at_least"] = None if low is None else float(low)
    if isinstance(outcome, PropertyHolds) and outcome.certificates:
        found["leaves"] = outcome.search.num_leaves
        if outcome.search.num_leaves <= MAX_CHECKED:
            found |= _checked(outcome)
    print(query.name, found, flush=True)
    return found


def _checked(outcome: PropertyHolds) -> dict[str, Any]:
    with TemporaryDirectory() as folder:
        path = outcome.save(Path(folder, "proof.cert"))[-1]
        started = time.process_time()
        verdict = check_file(path, budget=10**15).verdict
        return {
            "certificate_bytes": path.stat().st_size,
            "verdict": verdict,
            "check_cpu": time.process_time() - started,
        }


if __name__ == "__main__":
    main()
