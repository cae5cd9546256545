"""The command `polyrelu corpus`: the shipped networks with exact answers, for testing tools."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from polyrelu.cli.options import add_command
from polyrelu.cli.output import check_output, check_written_ending, entry_lines, print_object, show
from polyrelu.cli.parser import UsageError
from polyrelu.support.display import widths_text

if TYPE_CHECKING:
    from polyrelu.corpus import CorpusEntry

__all__ = ["add_corpus"]

#: The options that choose networks, and the options of each action; others mean nothing there.
_CHOOSING = ("kind", "tag", "max_inputs")
_TAKEN_BY = {
    "list": _CHOOSING,
    "get": ("output", "certificate"),
    "export": (*_CHOOSING, "formats"),
}


def add_corpus(subparsers: Any) -> None:
    """Add the command to the parser."""
    summary = "networks with exact answers and certificates, to test other tools with"
    examples = (
        "corpus list --kind degenerate --max-inputs 2",
        "corpus get sliver-strip-60 -o sliver.json",
    )
    parser = add_command(subparsers, "corpus", _run, summary, examples)
    parser.add_argument(
        "action",
        metavar="list|get|export",
        choices=tuple(_TAKEN_BY),
        help="list networks; get the answers, or a file, of one; export all to a folder",
    )
    parser.add_argument(
        "target", metavar="NAME|FOLDER", nargs="?", help="the network to get, or the new folder"
    )
    choosing = parser.add_argument_group("options of list and export")
    choosing.add_argument("--kind", metavar="KIND", help="networks of a kind, such as degenerate")
    choosing.add_argument("--tag", metavar="TAG", help="networks with a tag, such as sliver")
    choosing.add_argument(
        "--max-inputs", type=int, metavar="N", help="networks with at most so many inputs"
    )
    getting = parser.add_argument_group("options of get")
    getting.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="write the network here, exactly, in the format of the ending (.json, .onnx, "
        ".npz, …), or the certificate",
    )
    getting.add_argument(
        "--certificate", metavar="WHICH", help="write this certificate with -o instead"
    )
    exporting = parser.add_argument_group("options of export")
    exporting.add_argument(
        "--formats", metavar="LIST", help="formats of networks (default json,onnx,npz)"
    )


def _run(options: argparse.Namespace, started: float) -> int:
    _check_options(options)
    return {"list": _list, "get": _get, "export": _export}[options.action](options, started)


def _check_options(options: argparse.Namespace) -> None:
    """Raise an error for an option that means nothing, or a target that is missing."""
    action = options.action
    for name in {name for names in _TAKEN_BY.values() for name in names}:
        if getattr(options, name) is not None and name not in _TAKEN_BY[action]:
            option = "-o" if name == "output" else f"--{name.replace('_', '-')}"
            raise UsageError(f"{option} means nothing for corpus {action}; leave it out")
    if action == "list" and options.target is not None:
        raise UsageError("corpus list takes no name; polyrelu corpus get NAME has one network")
    if action != "list" and options.target is None:
        missing = "the NAME of a network" if action == "get" else "the name of a new FOLDER"
        raise UsageError(f"corpus {action} needs {missing}")
    if options.certificate is not None and options.output is None:
        raise UsageError("--certificate needs -o FILE, where it is written")


def _chosen(options: argparse.Namespace) -> tuple[CorpusEntry, ...]:
    from polyrelu.corpus import corpus_entries

    return corpus_entries(options.kind, tag=options.tag, max_inputs=options.max_inputs)


def _list(options: argparse.Namespace, started: float) -> int:
    from polyrelu.corpus import corpus_version

    chosen = _chosen(options)
    if options.json:
        entries = [_entry(entry) for entry in chosen]
        print_object(options, "ok", started, version=corpus_version(), entries=entries)
        return 0
    for entry in chosen:
        show(_line(entry))
    show(f"{len(chosen)} networks, corpus version {corpus_version()}")
    return 0


def _get(options: argparse.Namespace, started: float) -> int:
    from polyrelu.corpus import corpus_version, find_entry

    entry = find_entry(options.target)
    if options.output is not None:
        _write(options, entry)
    if options.json:
        answer = {"entry": _entry(entry), "answers": entry.answers, "output": options.output}
        certificates = sorted(entry.certificates)
        print_object(
            options, "ok", started, version=corpus_version(), **answer, certificates=certificates
        )
        return 0
    show(_line(entry), *_answer_lines(entry))
    if options.output is not None:
        show(f"written: {options.output}")
    return 0


def _write(options: argparse.Namespace, entry: CorpusEntry) -> None:
    """Write the network, or one of the certificates."""
    from pathlib import Path

    from polyrelu.formats import save
    from polyrelu.support.text_files import write_all

    check_output("-o", options.output, [])
    if options.certificate is None:
        check_written_ending("-o", options.output)
        save(entry.network, options.output)
        return
    certificates = entry.certificates
    if options.certificate not in certificates:
        known = ", ".join(certificates) or "none"
        raise UsageError(
            f"--certificate {options.certificate[:40]}: {entry.name} has the certificates {known}"
        )
    write_all([(Path(options.output), [certificates[options.certificate]])])


def _export(options: argparse.Namespace, started: float) -> int:
    from polyrelu.corpus import EXPORT_FORMATS, corpus_version, export_corpus

    chosen = _chosen(options)
    formats = EXPORT_FORMATS if options.formats is None else options.formats.split(",")
    folder = str(export_corpus(options.target, chosen, formats=formats))
    if options.json:
        print_object(
            options,
            "ok",
            started,
            version=corpus_version(),
            folder=folder,
            num_networks=len(chosen),
        )
    else:
        show(f"written: {folder}, {len(chosen)} networks; its README.md describes the files")
    return 0


def _entry(entry: CorpusEntry) -> dict[str, object]:
    """Return the entry of a network in the JSON object, as the index has it."""
    from polyrelu.formats.corpus_files import corpus_entry

    return corpus_entry(entry.name)


def _line(entry: CorpusEntry) -> str:
    """Return the name, the kind and the widths of a network, and what it is."""
    from polyrelu.support.text_files import wrapped

    widths = widths_text(entry.architecture)
    return f"corpus:{entry.name}  {entry.kind}  {widths}\n{wrapped(f'  {entry.sentence}')}"


def _answer_lines(entry: CorpusEntry) -> list[str]:
    """Return the shortest answers as lines of text; the JSON object has all of them."""
    answers = entry.answers
    lines = [f"claim ({'true' if c.holds else 'false'}): {c.text} {c.why}" for c in entry.claims]
    for cells in answers["complexes"]:
        shown = {
            "domain": cells["domain"],
            "f_vector": cells["f_vector"],
            "regions": cells["num_regions"],
            "bounded_regions": cells["num_bounded_regions"],
            "linear_regions": cells["num_linear_regions"],
        }
        lines += ["", *entry_lines(shown)]
    for number, output in enumerate(answers["outputs"]):
        lines.append(
            f"output {number} on {output['domain']}: [{output['lower']}, {output['upper']}]"
        )
    known = answers["identifiability"]
    among = f" among {known['among']} parameters" if "among" in known else ""
    lines += ["", f"identifiability: {known['status']}{among}"]
    lines += [f"injective on {one['domain']}: {one['status']}" for one in answers["injectivity"]]
    lines += [
        f"equal to {one['other']} on {one['domain']}: {one['status']}"
        for one in answers["equivalence"]
    ]
    return lines
