"""Theorem D in numbers: random networks against their whole complex, growing and trained ones.

    python -m benchmarks.deep [--parts random,bottleneck,growth,files] [--networks 2000] [--seed 1]

* *random*: two to four hidden layers, widths up to 6, Gaussian dyadic weights and small integers.
* *bottleneck*: two hidden layers, n_0 ≥ n_1, widths 4 to 8, Gaussian weights.
* *growth*: seconds and bytes against parameters, for random networks.
* *files*: trained networks, `--file-limit` seconds each.

For the first two parts `deep_truth` gives the exact local fiber, and the hypotheses that hold at
all ridges together. Where the fiber is more than a point, the hypotheses must not hold, and no
certificate exists; with very many ridges, only the search must not find one. `identify` may refute
such a network among all parameters. A network that is locally rigid gets a search of `--budget`
units of work and, if it stays undecided, `--longer` units more. A network that is still undecided
then counts for the *search* if all ridges would be enough, and for the *theorem* if they would not.

Parts that are not run keep their last results in results/deep.json. All seconds are CPU seconds of
one thread. The same seeds and budgets give the same answers.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import polyrelu
from benchmarks.deep_growth import FILES, draw, files, growth
from benchmarks.deep_truth import Truth
from benchmarks.reporting import RESULTS, write_results
from polyrelu import Proved
from polyrelu.network import Network
from polyrelu.outcomes import NotIdentifiable
from polyrelu.proofs.deep import prover as deep
from polyrelu.proofs.deep.search import DeepSearch
from tests.generators.files import NETS

PARTS = ("random", "bottleneck", "growth", "files")

Widths = tuple[int, ...]


def main() -> None:
    """Run the chosen parts, and write results/deep.json."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--networks", type=int, default=2000, help="of the first part")
    parser.add_argument("--bottleneck", type=int, default=400, help="networks of the second part")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--budget", type=float, default=1000)
    parser.add_argument("--longer", type=float, default=10_000)
    parser.add_argument("--growth-limit", type=float, default=15.0)
    parser.add_argument("--file-limit", type=float, default=60.0)
    parser.add_argument(
        "--files", default=",".join(FILES), help="names of networks; the results of others stay"
    )
    parser.add_argument("--nets", type=Path, default=NETS)
    options = parser.parse_args()
    run: dict[str, Callable[[], Any]] = {
        "random": lambda: campaign(options, options.networks, random_case),
        "bottleneck": lambda: campaign(options, options.bottleneck, bottleneck_case),
        "growth": lambda: growth(options.growth_limit),
        "files": lambda: files(options.nets, options.files.split(","), options.file_limit),
    }
    for part in options.parts.split(","):
        _write(part, run[part]())


def _write(part: str, found: dict[str, Any]) -> None:
    """Store the results of a part beside the results of other parts, and draw them."""
    path = RESULTS / "deep.json"
    results: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    results[part] = {**results.get(part, {}), **found} if part == "files" else found
    write_results("deep", {name: results[name] for name in PARTS if name in results})
    if "growth" in results:
        draw(results["growth"])


# -- networks --------------------------------------------------------------------------------------


def random_case(rng: Random) -> tuple[str, Network]:
    """Return a network with two to four hidden layers, a third of the time with several outputs."""
    widths = (
        rng.randint(2, 5),
        *(rng.randint(2, 6) for _ in range(rng.randint(2, 4))),
        rng.choice((1, 1, 3)),
    )
    kind = rng.choice(("Gaussian", "Gaussian", "integers"))
    return kind, _network(
        widths, _gaussian(rng) if kind == "Gaussian" else lambda: rng.choice(_INTEGERS)
    )


def bottleneck_case(rng: Random) -> tuple[str, Network]:
    """Return a network with two hidden layers and n_0 ≥ n_1."""
    n1 = rng.randint(4, 8)
    return "Gaussian", _network(
        (rng.randint(n1, 8), n1, rng.randint(4, 8), rng.randint(1, 3)), _gaussian(rng)
    )


#: Maximum number of cells of codimension 2 for evaluating the hypotheses at all ridges.
_MANY = 5000

_INTEGERS = [Fraction(i) for i in (*range(-4, 0), *range(1, 5))]


def _gaussian(rng: Random) -> Callable[[], Fraction]:
    one = 1 << rng.randint(8, 20)
    return lambda: Fraction(round(rng.gauss(0, 1) * one) or 1, one)


def _network(widths: Widths, number: Callable[[], Fraction]) -> Network:
    return polyrelu.from_arrays(
        [
            ([[number() for _ in range(n)] for _ in range(m)], [number() for _ in range(m)])
            for n, m in pairwise(widths)
        ]
    )


# -- a campaign ------------------------------------------------------------------------------------


@dataclass(slots=True)
class Case:
    """The result for one network."""

    kind: str
    widths: Widths
    verdict: str
    seconds: float
    rigid: bool
    vanishing: bool
    among: str = ""
    why: str = ""
    search: str = ""
    everywhere: bool = False
    number: int = -1

    @property
    def depth(self) -> str:
        """The number of hidden layers, as a key."""
        return f"{len(self.widths) - 2} hidden layers"

    @property
    def is_contradiction(self) -> bool:
        """Whether the network is proved, although a curve of parameters has the same function."""
        return self.verdict.startswith("proved") and not self.rigid


def campaign(
    options: argparse.Namespace, count: int, make: Callable[[Random], tuple[str, Network]]
) -> dict[str, Any]:
    """Decide a number of networks, and count the results."""
    started, rng, cases = (
        time.process_time(),
        Random(f"{options.seed} {make.__name__}"),
        list[Case](),
    )
    for number in range(count):
        kind, network = make(rng)
        case = decide(kind, network, options.budget, options.longer)
        case.number = number
        cases.append(case)
        if case.is_contradiction or (case.rigid and case.why):
            print(case, flush=True)
    depths = sorted({case.depth for case in cases})
    return {
        "seed": options.seed,
        "budget for each": options.budget,
        "and where it is locally rigid": options.longer,
        "all": _summary(cases),
        **{depth: _summary([case for case in cases if case.depth == depth]) for depth in depths},
        **{
            kind: _summary([case for case in cases if case.kind == kind])
            for kind in sorted({c.kind for c in cases})
        },
        "contradictions": [str(case) for case in cases if case.is_contradiction],
        "rigid and undecided": [
            str(case) for case in cases if case.rigid and case.verdict == "undecided"
        ],
        "seconds": round(time.process_time() - started),
    }


def decide(kind: str, network: Network, limit: float, longer: float) -> Case:
    """Return the truth about one network, and a verdict on it."""
    truth = Truth.of(network)
    case = Case(kind, network.widths, "undecided", 0.0, truth.rigid, truth.vanishing)
    search: DeepSearch | None = None
    few = truth.cells.size(network.num_inputs - 2) < _MANY
    if truth.rigid or not few:
        started = time.process_time()
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "search"
            outcome: Any = polyrelu.identify(
                network, among="transversal", budget=limit, checkpoint=file
            )
            search = deep.run_search(network, 0, limit, file) if file.exists() else None
        case.verdict, case.seconds = outcome.status, time.process_time() - started
        case.among = outcome.certificate.claim.among if isinstance(outcome, Proved) else ""
    elif truth.best.hold:
        case.verdict = "proved"
    case.everywhere = few and not truth.rigid
    if case.verdict != "proved":
        case.verdict = _refuted(network)
        if not truth.rigid:
            reasons = truth.reasons or truth.others
            case.why = "deficient: " + (" and ".join(reasons) or "for another reason")
        elif not case.verdict.startswith("refuted"):
            _search_longer(case, network, search, truth, longer)
    return case


def _refuted(network: Network) -> str:
    """Return the verdict where Theorem D is not tried."""
    outcome = polyrelu.identify(network, budget=0)
    if isinstance(outcome, NotIdentifiable):
        return f"refuted among {outcome.certificate.claim.among}"
    return "proved among generic" if isinstance(outcome, Proved) else "undecided"


def _search_longer(
    case: Case, network: Network, search: DeepSearch | None, truth: Truth, longer: float
) -> None:
    """Continue a search, and return the cause if it does not help: search or theorem."""
    if search is None:
        case.why = f"rigid, theorem: {deep.obstruction(network)}"
        return
    started = time.process_time()
    holds = search.run(longer).hold
    case.seconds += time.process_time() - started
    if holds:
        case.verdict = "proved after a longer search"
        return
    ended = "ended by itself" if search.is_idle else f"{longer:g} units of work were not enough"
    case.search = f"{len(search.ridges)} ridges, {search.walks} walks, {ended}"
    if truth.best.hold:
        case.why = "rigid, search: " + _wants(search)
    else:
        case.why = f"rigid, theorem: {'; '.join(map(str, truth.best.missing))}"


def _wants(search: DeepSearch) -> str:
    return "; ".join(map(str, search.hypotheses.missing))


def _summary(cases: list[Case]) -> dict[str, Any]:
    verdicts = Counter(case.verdict for case in cases)
    undecided = [case for case in cases if case.verdict == "undecided"]
    rigid = [case for case in cases if case.rigid]
    shown = [case for case in rigid if case.verdict.startswith("proved")]
    return {
        "networks": len(cases),
        "verdicts": dict(sorted(verdicts.items())),
        "locally rigid": len(rigid),
        "proved, of those that are rigid": _share(len(shown), len(rigid)),
        "deficient": len(cases) - len(rigid),
        "deficient, hypotheses evaluated at all ridges": sum(case.everywhere for case in cases),
        "proved although deficient": sum(case.is_contradiction for case in cases),
        "proved by a search, among": dict(Counter(case.among for case in cases if case.among)),
        "a neuron vanishes on a region": sum(case.vanishing for case in cases),
        "decided": _share(len(cases) - len(undecided), len(cases)),
        "undecided because": dict(Counter(_short(case.why) for case in undecided).most_common()),
        "seconds of a proof": _quantiles(
            [case.seconds for case in cases if case.verdict == "proved"]
        ),
    }


def _short(why: str) -> str:
    """Return a cause without names of neurons."""
    return why if why.startswith("deficient") else why.split(":")[0]


def _share(part: int, whole: int) -> str:
    return f"{part} of {whole}, {100 * part / whole:.1f} %" if whole else "none"


def _quantiles(seconds: list[float]) -> dict[str, float]:
    ordered = sorted(seconds)
    return {
        name: round(ordered[int(share * (len(ordered) - 1))], 3)
        for name, share in (("median", 0.5), ("90 %", 0.9), ("largest", 1.0))
        if ordered
    }


if __name__ == "__main__":
    main()
