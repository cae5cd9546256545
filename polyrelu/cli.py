"""The command line: parse, call one public function, print. No mathematics, and none imported before a command
needs it.

Exit status: provers 0 proved, 1 refuted, 2 error, 3 undecided or interrupted; `check` 0 accepted, 1 rejected, 2
unreadable; `info` and `show` 0 or 2. With ``--json`` exactly one object goes to stdout, errors included; every
error is also one line on stderr.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from polyrelu.cli_common import (
    EXIT,
    EXIT_STATUS,
    NETWORK_HELP,
    ProgressLine,
    UsageError,
    add_command,
    add_reading,
    check_output,
    print_object,
    print_reading,
    read_network,
    reading,
    say_interrupted,
)
from polyrelu.cli_equivalent import add_equivalent
from polyrelu.errors import DomainError, NetworkError, NetworkFileError, PolyreluError
from polyrelu.version import __version__

if TYPE_CHECKING:
    from fractions import Fraction

    from polyrelu.exact import Polyhedron
    from polyrelu.importers import Imported
    from polyrelu.network import Network
    from polyrelu.proofs import Outcome

__all__ = ["entry", "main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal or pipe that cannot show "σ" gets "\\u03c3"
            stream.reconfigure(errors="backslashreplace")
    given = list(sys.argv[1:] if arguments is None else arguments)
    options = argparse.Namespace(command=None, json="--json" in given)
    started = time.perf_counter()
    sys.set_int_max_str_digits(0)  # the file formats have their own limit
    try:
        _parser().parse_args(given, options)
        status = int(options.run(options, started))
        sys.stdout.flush()
        return status
    except PolyreluError as error:
        return _report_error(options, str(error))
    except KeyboardInterrupt:
        return _report_error(options, "interrupted; nothing was written", exit_status=3)
    except OSError as error:  # the reader of our output has left, or the disk is full
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            print(f"polyrelu: cannot print: {error.strerror or error}", file=sys.stderr)
        return 2


def entry() -> NoReturn:
    """The program. After Ctrl-C Python itself may end a process by the signal, whatever status it was given (where the
    interrupt fell into an import); so the process ends here, its output written."""
    status = main()
    if status == EXIT["undecided"]:
        with contextlib.suppress(OSError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)
    sys.exit(status)


class _Parser(argparse.ArgumentParser):
    """Usage errors are one line like all others, and an object with ``--json``."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}; see {self.prog} --help")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="polyrelu",
        description="Exact, certified geometry of ReLU networks: prove statements about a network, check the proof.",
        epilog=EXIT_STATUS,
    )
    parser.add_argument("--version", action="version", version=f"polyrelu {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_info(commands)
    _add_complex(commands)
    _add_identify(commands)
    _add_runtime_error(commands)
    add_equivalent(commands)
    _add_check(commands)
    _add_show(commands)
    return parser


def _add_network(parser: argparse.ArgumentParser) -> None:
    """The network file and how it is read; options that a format does not need do nothing there."""
    parser.add_argument("network", help=NETWORK_HELP)
    add_reading(parser)


def _add_info(commands: Any) -> None:
    parser = add_command(commands, "info", _info, "say what was read from a network file")
    _add_network(parser)
    parser.add_argument("--native", metavar="FILE", help="write the exact network here, in the native .json format")


def _add_complex(commands: Any) -> None:
    parser = add_command(commands, "complex", _complex, "all cells of the canonical polyhedral complex, exactly")
    _add_network(parser)
    parser.add_argument(
        "--domain",
        default="R^n",
        help="R^n (the default), orthant, box:lo,hi, 'box:lo0,hi0;lo1,hi1;…' (in quotes), slice:FILE for the line or "
        'plane through the points of {"points": …}, or FILE.json with {"A": …, "c": …} for A x ≤ c, also "E", "e" for '
        'E x = e, or with {"vertices": …, "rays": …, "lines": …}',
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="write the complex here (.json, .csv or .graphml)")
    parser.add_argument(
        "--regions-only",
        action="store_true",
        help="regions and their neighbours without faces, by linear programs: for many dimensions (.csv or .graphml)",
    )
    parser.add_argument(
        "--self-check",
        action="store_true",
        help="check the finished complex against itself: Euler's relation, faces of faces, values at points inside",
    )


def _add_identify(commands: Any) -> None:
    summary = "prove or refute that the function determines the parameters, up to permutation and positive scaling"
    parser = add_command(commands, "identify", _identify, summary)
    _add_network(parser)
    parser.add_argument("-o", "--output", metavar="CERT", help="write the certificate here")
    parser.add_argument(
        "--among",
        choices=["all", "generic"],
        help="class of competitors; by default the strongest statement found (a proof among all includes generic)",
    )
    parser.add_argument(
        "--domain", default="R^n", help="where the functions agree; only R^n (the default) for this command"
    )
    parser.add_argument("--other", metavar="FILE", help="if refuted, write the other network here (native .json)")
    parser.add_argument(
        "--seed", type=int, default=0, help="seed of the search; the same seed gives the same certificate"
    )


def _add_runtime_error(commands: Any) -> None:
    summary = "bound how far a float runtime can be from the exact function on a box"
    parser = add_command(commands, "runtime-error", _runtime_error, summary)
    _add_network(parser)
    parser.add_argument(
        "--domain", required=True, help="a bounded domain, written as for `complex`; the box around it is what counts"
    )
    parser.add_argument(
        "--arithmetic", choices=["float32", "float64"], help="the runtime's format; by default that of the file"
    )
    parser.add_argument("-o", "--output", metavar="CERT", help="write a certificate of the bound here")


def _add_check(commands: Any) -> None:
    parser = add_command(commands, "check", _check, "re-derive a certificate with the independent checker")
    parser.add_argument("certificate", help="certificate file; a network file it names is looked for beside it")
    parser.add_argument(
        "--network",
        action="append",
        default=[],
        metavar="FILE",
        help="a native network file (.json) the certificate refers to, if it is not beside it under its name",
    )
    parser.add_argument(
        "--about", metavar="NET", help="reject the certificate unless it is about this network (any format)"
    )
    add_reading(parser)


def _add_show(commands: Any) -> None:
    parser = add_command(commands, "show", _show, "print what a certificate states, for people (checks nothing)")
    parser.add_argument("certificate", help="certificate file")
    parser.add_argument("--latex", action="store_true", help="as a LaTeX fragment (needs amsmath, amssymb, amsthm)")


def _info(options: argparse.Namespace, started: float) -> int:
    from polyrelu.importers import save

    imported = read_network(options, options.network)
    network = imported.network
    if options.native:
        save(network, options.native)
    if options.json:
        print_object(options, "ok", started, **_info_object(imported))
        return 0
    lines = [
        ("file", options.network),
        ("format", imported.format),
        ("architecture", _shape(network)),
        ("parameters", str(network.parameters)),
        ("stored", f"{imported.numbers} numbers of the file"),
        ("weights", ", ".join(imported.dtypes) or "none"),
        ("rounding", imported.rounding),
        ("read", " > ".join(imported.steps)),
        *(("note", note) for note in imported.notes),
        *(("caution", caveat) for caveat in imported.caveats),
        ("compared", str(imported.comparison)),
        ("file sha256", imported.source_sha256),
        ("sha256", network.sha256),
    ]
    print("\n".join(f"{key:<13}{value}" for key, value in lines))
    return 0


def _shape(network: Network) -> str:
    if network.is_plain:
        return str(network.architecture)
    return f"{'-'.join(map(str, network.widths))} with connections that skip layers"


def _info_object(imported: Imported) -> dict[str, Any]:
    network = imported.network
    return {
        "architecture": list(network.widths) if network.is_plain else None,
        "last": network.last,
        "parameters": network.parameters,
        "sha256": network.sha256,
        "rounding": imported.rounding,
        "format": imported.format,
        "dtypes": list(imported.dtypes),
        "read": list(imported.steps),
        "notes": list(imported.notes),
        "caveats": list(imported.caveats),
        "widths": list(network.widths),
        "numbers": imported.numbers,
        "compared": _comparison(imported),
        "source_sha256": imported.source_sha256,
    }


def _comparison(imported: Imported) -> dict[str, Any]:
    found = imported.comparison
    if found.reason:
        return {"runtime": None, "reason": found.reason}
    return {"runtime": found.runtime, "points": found.points, "values": found.values, "worst": found.worst}


def _complex(options: argparse.Namespace, started: float) -> int:
    from polyrelu.complex import parse_domain
    from polyrelu.complex.export import FORMATS, REGION_FORMATS
    from polyrelu.interrupts import deferred_interrupt

    if options.output is not None:
        check_output("-o", options.output, [options.network])
        formats = REGION_FORMATS if options.regions_only else FORMATS
        if Path(options.output).suffix not in formats:
            what = "regions are" if options.regions_only else "a complex is"
            raise DomainError(f"-o {options.output}: {what} written as {', '.join(formats)}; choose one of these")
    if options.regions_only and options.self_check:
        raise DomainError("--self-check is for a whole complex; leave out --regions-only")
    imported = read_network(options, options.network)
    network = imported.network
    domain = parse_domain(options.domain, network.inputs)
    with deferred_interrupt(say_interrupted):
        found = (_only_regions if options.regions_only else _all_cells)(options, network, domain)
    complete = bool(found["complete"])
    if options.json:
        print_object(options, "ok" if complete else "undecided", started, **found, **reading(imported))
    else:
        print("\n".join(f"{key:<18}{_shown(value)}" for key, value in found.items() if value is not None))
        print_reading(imported)
        if not complete:
            missing = (
                "some regions are missing" if options.regions_only else "this is the complex of the neurons done so far"
            )
            print(f"interrupted: {missing}")
    return 0 if complete else 3


def _all_cells(options: argparse.Namespace, network: Network, domain: Polyhedron) -> dict[str, object]:
    from polyrelu.complex import canonical_complex, failed_checks
    from polyrelu.complex.export import save_complex

    neurons = sum(network.widths[1 : network.hidden_layers + 1])
    done = 0

    def progress(layer: int, _: int, regions: int) -> None:
        nonlocal done
        done += layer > 0
        line.show(f"neuron {done} of {neurons} (layer {layer}), {regions} regions")

    with ProgressLine() as line:
        cells = canonical_complex(network, domain, progress)
    if options.self_check and (failed := failed_checks(cells)):
        raise PolyreluError(f"a bug in polyrelu, please report it: {'; '.join(failed)}")
    if options.output is not None:
        with ProgressLine() as line:
            save_complex(cells, options.output, lambda done: line.show(f"writing region {done} of {cells.regions}"))
    return {
        "domain": options.domain,
        "dimension": cells.dimension,
        "f_vector": list(cells.f_vector),
        "regions": cells.regions,
        "bounded_regions": cells.bounded_regions,
        "lineality_dim": cells.lineality_dim,
        "complete": cells.complete,
        "neurons": len(cells.neurons),
        "decisions": cells.statistics.decisions,
        "exact_decisions": cells.statistics.exact_decisions,
        "self_check": "passed" if options.self_check else None,
        "output": options.output,
    }


def _only_regions(options: argparse.Namespace, network: Network, domain: Polyhedron) -> dict[str, object]:
    from polyrelu.complex import region_graph
    from polyrelu.complex.export import save_regions

    with ProgressLine() as line:
        regions = region_graph(network, domain, lambda done, seen: line.show(f"{done} regions done of {seen} seen"))
    if options.output is not None:
        save_regions(regions, options.output)
    return {
        "domain": options.domain,
        "dimension": regions.dimension,
        "regions": regions.regions,
        "bounded_regions": regions.bounded_regions,
        "adjacent_pairs": len(regions.adjacency),
        "lineality_dim": regions.lineality_dim,
        "complete": regions.complete,
        "neurons": regions.signs.shape[1],
        "output": options.output,
    }


def _shown(value: object) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)


def _identify(options: argparse.Namespace, started: float) -> int:
    from polyrelu.proofs import identify

    _check_outputs(options)
    if options.domain != "R^n":
        raise DomainError(f"--domain {options.domain}: identify proves on R^n only; leave the option out")
    imported = read_network(options, options.network)
    outcome = identify(imported.network, options.among, options.seed)
    written = _write_outcome(options, outcome, imported.provenance)
    if options.json:
        certificate = str(written[-1]) if written and options.output else None
        names = [str(path) for path in written]
        print_object(
            options, outcome.status, started, certificate=certificate, files=names, **_outcome_object(outcome),
            **reading(imported),
        )  # fmt: skip
    else:
        print(outcome)
        print_reading(imported)
        print("".join(f"{line}\n" for line in _what_was_written(options, outcome, written)), end="")
    return EXIT[outcome.status]


def _check_outputs(options: argparse.Namespace) -> None:
    """Outputs that cannot be written, or would overwrite the input, are found out before any work is done."""
    for option, name in (("-o", options.output), ("--other", options.other)):
        if name is not None:
            check_output(option, name, [options.network])


def _write_outcome(options: argparse.Namespace, outcome: Outcome, provenance: dict[str, str]) -> list[Path]:
    """Write what was asked for, all of it or nothing; the files, the certificate last."""
    from polyrelu.importers import save
    from polyrelu.proofs import NotIdentifiable, Undecided

    also = {Path(options.other): outcome.other} if options.other and isinstance(outcome, NotIdentifiable) else {}
    if options.output and not isinstance(outcome, Undecided):
        return outcome.with_provenance(provenance).certificate.save(options.output, also)
    for path, network in also.items():
        save(network, path)
    return list(also)


def _what_was_written(options: argparse.Namespace, outcome: Outcome, written: list[Path]) -> list[str]:
    lines = []
    if options.output and outcome.status != "undecided":
        lines.append(f"certificate: {written[-1]} (check it: polyrelu check {written[-1]})")
        beside = [str(path) for path in written[:-1] if str(path) != options.other]
        lines += [f"network file: {name} (keep it beside the certificate)" for name in beside]
    elif options.output:
        old = "; the file of that name is an older one" if Path(options.output).exists() else ""
        lines.append(f"no certificate was written: the question is undecided{old}")
    if options.other:
        refuted = outcome.status == "refuted"
        lines.append(f"other network: {options.other}" if refuted else "no other network was written: not refuted")
    return lines


def _outcome_object(outcome: Outcome) -> dict[str, Any]:
    from polyrelu.proofs import Identifiable, NotIdentifiable, Undecided

    if isinstance(outcome, Undecided):
        attempts = [{"theorem": attempt.theorem, "reason": attempt.reason} for attempt in outcome.attempts]
        return {
            "theorem": None, "competitors": None, "domain": "R^n", "hypotheses": [], "assumed": [],
            "reason": outcome.reason, "attempts": attempts,
        }  # fmt: skip
    certificate, claim = outcome.certificate, outcome.certificate.claim
    found: dict[str, Any] = {
        "theorem": certificate.theorem,
        "competitors": claim.among,
        "domain": getattr(claim, "domain", "R^n"),
        "hypotheses": [hypothesis.to_json() for hypothesis in certificate.hypotheses],
        "assumed": [],
        "membership": outcome.membership if isinstance(outcome, Identifiable) else "verified",
        "statement": str(certificate.claim),
    }
    if isinstance(outcome, NotIdentifiable):
        found |= {"why": outcome.story, "other_sha256": outcome.other.sha256}
    return found


def _runtime_error(options: argparse.Namespace, started: float) -> int:
    from polyrelu.complex import parse_domain
    from polyrelu.exact import decimal_above, decimal_below
    from polyrelu.importers import runtime_error
    from polyrelu.importers.runtime_error import ASSUMPTIONS
    from polyrelu.proofs import Proved
    from polyrelu.proofs.rounding import prove_runtime_error

    if options.output is not None:
        check_output("-o", options.output, [options.network])
    imported = read_network(options, options.network)
    box = parse_domain(options.domain, imported.network.inputs).bounding_box()
    if box is None:
        raise DomainError(f"--domain {options.domain}: a rounding error is bounded on bounded domains only; use a box")
    try:
        found = runtime_error(imported, *box, options.arithmetic)
    except NetworkError as error:
        folded = "; for a folded normalisation: --rounding text=float32,normalisation=float32"
        hint = folded if options.normalisation != "none" else ""
        raise NetworkFileError(options.network, "", f"{error}{hint}") from None
    outcome = prove_runtime_error(found)
    written = None
    if options.output is not None and isinstance(outcome, Proved):
        written = str(outcome.with_provenance(imported.provenance).save(options.output)[-1])
    known = found.worst is not None and (written is not None or options.output is None)
    if options.json:
        shown = {key: [_text(entry) for entry in getattr(found, key)] for key in ("bounds", "low", "high")}
        print_object(
            options, "proved" if known else "undecided", started, domain=options.domain, arithmetic=found.arithmetic,
            worst=_text(found.worst), **shown, assumed=list(ASSUMPTIONS), certificate=written, **reading(imported),
        )  # fmt: skip
    else:
        print(found)
        if len(found.bounds) <= 20:
            for i, (bound, low, high) in enumerate(zip(found.bounds, found.low, found.high, strict=True)):
                inside = f"[{_shown_as(decimal_below, low)}, {_shown_as(decimal_above, high)}]"
                print(f"  output {i}: {_shown_as(decimal_above, bound)}, the exact values lie in {inside}")
        print("".join(f"assumed: {assumption}\n" for assumption in ASSUMPTIONS), end="")
        print_reading(imported)
        if written is not None:
            print(f"certificate: {written} (check it: polyrelu check {written})")
        elif options.output is not None:
            print(f"no certificate was written: {outcome}")
    return 0 if known else 3


def _text(number: Fraction | None) -> str | None:
    from polyrelu.exact import format_rational

    return None if number is None else format_rational(number)


def _shown_as(decimal: Callable[[Fraction], str], number: Fraction | None) -> str:
    return "unknown" if number is None else decimal(number)


def _check(options: argparse.Namespace, started: float) -> int:
    from polyrelu import checker

    if options.about and not _is_about(options):
        return 1
    arguments = ["--json"] if options.json else []
    for name in options.network:
        arguments += ["--network", _as_path(name)]
    return checker.main([*arguments, _as_path(options.certificate)])


def _is_about(options: argparse.Namespace) -> bool:
    """Whether the certificate speaks of the network in --about; if not, say so."""
    from polyrelu.certificate import read_certificate

    certificate, wanted = read_certificate(options.certificate), read_network(options, options.about).network.sha256
    subjects = [certificate.sha256]
    if certificate.kind in ("equivalent", "not-equivalent"):  # both networks of a pair count
        subjects.append(str(certificate.other))
    if wanted in subjects:
        return True
    found = " and ".join(subjects)
    step, expected, got = "about", f"a certificate about {options.about}, sha256 {wanted}", f"one about {found}"
    if options.json:
        print(json.dumps({"command": "check", "status": "rejected", "step": step, "expected": expected, "got": got}))
    else:
        print(f"rejected\n  step: {step}\n  expected: {expected}\n  got: {got}")
    return False


def _as_path(name: str) -> str:
    """A file name that cannot be taken for an option."""
    return f".{os.sep}{name}" if name.startswith("-") else name


def _show(options: argparse.Namespace, started: float) -> int:
    from polyrelu.certificate import describe, describe_latex, read_certificate

    certificate = read_certificate(options.certificate)
    text = describe_latex(certificate) if options.latex else describe(certificate)
    if options.json:
        print_object(options, "ok", started, certificate=options.certificate, text=text)
    else:
        print(text)
    return 0


def _report_error(options: argparse.Namespace, message: str, exit_status: int = 2) -> int:
    line = " ".join(message.split())
    if options.json:
        print(json.dumps({"command": options.command, "status": "error", "error": line}))
    print(f"polyrelu: {line}", file=sys.stderr)
    return exit_status
