"""The command `polyrelu check CERT…`.

The command hands each certificate to the independent checker, which prints the verdict on a single
one itself; several get a line each. Only the option `--about` is answered here, because the checker
does not read networks of other formats. Where the second checker is installed, it checks each
certificate as well; a disagreement of the two is an error.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import re
import sys
from typing import Any

from polyrelu.cli.options import UsageError, add_command, add_reading, read_network
from polyrelu.cli.output import show, show_error
from polyrelu.cli.second_checker import (
    SecondVerdict,
    disagreement,
    find_second_checker,
    second_verdict,
)
from polyrelu.errors import CertificateError, PolyreluError

__all__ = ["add_check"]

#: The verdicts by the status in the JSON object, in the order of their exit statuses.
_VERDICTS = {"accepted": "accepted", "rejected": "rejected", "error": "unreadable"}
#: The ends of the names of network files beside certificates.
_NETWORK_ENDINGS = (".network.json", ".network.json.gz")


def add_check(subparsers: Any) -> None:
    """Add the command to the parser."""
    summary = "re-derive a certificate with the independent checker"
    examples = (
        "check cert.json",
        "check cert.json --about example:digits",
    )
    parser = add_command(subparsers, "check", _run, summary, examples)
    parser.add_argument(
        "certificate",
        metavar="CERT",
        nargs="+",
        help="certificate file; a network file it names is looked for beside it. Several get a "
        "line each, and the exit status is the greatest; network files among them are passed over",
    )
    parser.add_argument(
        "--network",
        action="append",
        default=[],
        metavar="FILE",
        help="a native network file (.json or .json.gz) the certificate refers to, if it is not "
        "beside it under its name",
    )
    parser.add_argument(
        "--budget",
        metavar="UNITS",
        help="what each check may cost, in units of FORMAT.md, section 3.6 (default: 2^35 and 2^14 "
        "for each byte); the command that wrote the certificate says if it needs more",
    )
    parser.add_argument(
        "--about",
        metavar="NET",
        help="reject a certificate unless it is about this network (any format)",
    )
    add_reading(parser)


def _run(options: argparse.Namespace, started: float) -> int:
    if options.budget is not None and not re.fullmatch("[1-9][0-9]{0,29}", options.budget):
        raise UsageError(f"--budget {options.budget[:40]!r}: expected a number of units, from 1")
    wanted = _Wanted(options)
    if len(options.certificate) > 1:
        return _check_several(options, wanted)
    (name,) = options.certificate
    if rejection := wanted.rejection(name):
        _print_rejection(options, rejection)
        return 1
    return _check_one(options, name)


def _check_one(options: argparse.Namespace, name: str) -> int:
    """Check one certificate, print the verdicts, and return the exit status."""
    # The checker prints by itself; in between, colours are added on terminals.
    printed, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(errors):
        status = _check(options, name, ["--json"] if options.json else [])
    text, error = printed.getvalue().removesuffix("\n"), errors.getvalue()
    second = _second(options, name)
    if second is None:
        sys.stderr.write(error)
        if text:
            show(text)
        return status
    first = list(_VERDICTS.values())[status]
    if options.json:
        answer = json.loads(text)
        statement = answer.get("statement", "")
        conflict = disagreement(first, text, statement, second)
        print(json.dumps(_with_second(answer, second, _report_it(name, conflict))))
    else:
        statement = text.partition("\n")[0].removeprefix("accepted: ")
        conflict = disagreement(first, text + error, statement, second)
        show(*([text] if text else []), str(second))
    sys.stderr.write(error)
    if conflict:
        show_error(_report_it(name, conflict))
    return 2 if conflict else status


def _second(options: argparse.Namespace, name: str) -> SecondVerdict | None:
    """Return what the second checker says, if it is installed."""
    program = find_second_checker()
    if program is None:
        return None
    networks = [_as_path(network) for network in options.network]
    return second_verdict(program, _as_path(name), networks, options.budget)


def _report_it(name: str, conflict: str) -> str:
    """Return the error message for a disagreement; empty if there is none."""
    if not conflict:
        return ""
    return (
        f"{name}: the two checkers disagree: {conflict}; one of them has a bug, so trust neither "
        "here, and please report it with this file"
    )


def _with_second(answer: dict[str, Any], second: SecondVerdict, conflict: str) -> dict[str, Any]:
    """Return the answer of the first checker, with the second one in it; a conflict is an error."""
    report = {key: value for key, value in second.report.items() if key != "file"}
    both = {**answer, "second_checker": {**report, "verdict": second.verdict}}
    return {**both, "status": "error", "error": conflict} if conflict else both


def _check(options: argparse.Namespace, name: str, arguments: list[str]) -> int:
    """Run the checker on a certificate, and return its exit status."""
    from polyrelu import checker

    for network in options.network:
        arguments += ["--network", _as_path(network)]
    if options.budget is not None:
        arguments += ["--budget", options.budget]
    return checker.main([*arguments, _as_path(name)])


# -- several certificates --------------------------------------------------------------------------


def _check_several(options: argparse.Namespace, wanted: _Wanted) -> int:
    """Check certificates one by one, a line each; return the greatest exit status."""
    found: list[dict[str, Any]] = []
    for name in options.certificate:
        answer = _answer(options, wanted, name)
        if answer["status"] == "error" and name.endswith(_NETWORK_ENDINGS):
            continue
        found.append(answer)
        if not options.json:
            show(f"{_VERDICTS[answer['status']]}: {name}: {_reason(answer)}{_beside(answer)}")
    if not found:
        raise CertificateError("none of the files is a certificate: all of them are networks")
    counts = {status: sum(answer["status"] == status for answer in found) for status in _VERDICTS}
    worst = max(counts, key=lambda status: (counts[status] > 0, list(_VERDICTS).index(status)))
    if options.json:
        error = {"error": f"{counts['error']} of {len(found)} certificates are unreadable"}
        more = error if worst == "error" else {}
        print(json.dumps({"command": "check", "status": worst, **more, "certificates": found}))
    return list(_VERDICTS).index(worst)


def _answer(options: argparse.Namespace, wanted: _Wanted, name: str) -> dict[str, Any]:
    """Return what the checker says about a certificate with --json, and the name of its file."""
    try:
        if rejection := wanted.rejection(name):
            return {"file": name, "status": "rejected", **rejection}
    except PolyreluError as error:
        return {"file": name, "status": "error", "error": str(error)}
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
        _check(options, name, ["--json"])
    answer: dict[str, Any] = json.loads(printed.getvalue())
    del answer["command"]
    second = _second(options, name)
    if second is not None:
        first, got = answer["verdict"], answer.get("got", "")
        conflict = disagreement(first, got, answer.get("statement", ""), second)
        answer = _with_second(answer, second, _report_it(name, conflict))
    return {"file": name, **answer}


def _beside(answer: dict[str, Any]) -> str:
    """Return the verdict of the second checker for the end of a line; empty if it did not run."""
    second = answer.get("second_checker")
    return f" [second checker: {second['verdict']}]" if second else ""


def _reason(answer: dict[str, Any]) -> str:
    """Return the sentence that was accepted, or why it was not, in a line."""
    if answer["status"] == "accepted":
        return str(answer["statement"])
    if answer["status"] == "error":
        return str(answer["error"])
    return f"{answer['step']}: expected {answer['expected']}, got {answer['got']}"


# -- the option --about ----------------------------------------------------------------------------


class _Wanted:
    """The network that certificates have to be about, if there is one; it is read once."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self._sha256: str | None = None

    def rejection(self, name: str) -> dict[str, str]:
        """Return why a certificate is not about the network; empty if it is."""
        if not self._options.about:
            return {}
        from polyrelu.certificate import read_certificate

        certificate = read_certificate(name)
        if self._sha256 is None:
            self._sha256 = read_network(self._options, self._options.about).network.sha256
        subjects = [certificate.sha256]
        if certificate.kind in ("equivalent", "not-equivalent"):  # both networks of a pair count
            subjects.append(str(certificate.other))
        if self._sha256 in subjects:
            return {}
        return {
            "step": "about",
            "expected": f"a certificate about {self._options.about}, sha256 {self._sha256}",
            "got": f"one about {' and '.join(subjects)}",
        }


def _print_rejection(options: argparse.Namespace, rejection: dict[str, str]) -> None:
    """Print a rejection as the checker does."""
    if options.json:
        print(json.dumps({"command": "check", "status": "rejected", **rejection}))
    else:
        lines = [f"  {key}: {text}" for key, text in rejection.items()]
        show("rejected", *lines)


def _as_path(name: str) -> str:
    """Return a file name that cannot be taken for an option."""
    return f".{os.sep}{name}" if name.startswith("-") else name
