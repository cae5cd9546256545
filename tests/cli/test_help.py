"""Help, its examples, suggestions for typing errors, values with a minus, and completion."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from polyrelu.cli.main import _parser, main
from polyrelu.complex import canonical_complex
from polyrelu.formats import load, save, save_onnx
from polyrelu.network import from_arrays
from tests.cli.commands import help_of, run, run_json
from tests.generators.files import ROOT


def commands() -> dict[str, argparse.ArgumentParser]:
    """The parsers of all commands by name."""
    for action in _parser()._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    raise AssertionError("the program has no commands")


def examples(parser: argparse.ArgumentParser) -> list[str]:
    """The command lines that a help shows as examples."""
    return re.findall(r"^  (polyrelu .*)$", parser.format_help(), re.MULTILINE)


COMMANDS = commands()
EXAMPLES = [line for parser in (_parser(), *COMMANDS.values()) for line in examples(parser)]
#: Commands that read no network with options about the reading.
WITHOUT_READING = {"show", "corpus", "examples"}


# --- Help -----------------------------------------------------------------------------------------


def test_no_arguments_print_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys) == (0, _parser().format_help(), "")
    assert all(f"\n    {name} " in _parser().format_help() for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_options_of_reading_come_last(name: str) -> None:
    shown = COMMANDS[name].format_help()
    own, heading, reading = shown.partition("\nreading the network file:\n")
    assert bool(heading) == (name not in WITHOUT_READING)
    usage = own[: own.index("\n\n")]
    for option in ("--rounding", "--no-compare"):
        assert (option in reading) == (option in usage) == bool(heading)
        assert option not in own.removeprefix(usage)
    declared = [a.option_strings[-1] for a in COMMANDS[name]._actions if a.option_strings]
    if heading:
        assert declared[-8:] == [
            "--rounding",
            "--normalisation",
            "--prefix",
            "--input-shape",
            "--output-name",
            "--strip-tail",
            "--no-compare",
            "--read-limit",
        ]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that examples speak of: networks, a property, regions and a certificate."""
    folder = tmp_path_factory.mktemp("files")
    network = load("example:bends")
    save(network, folder / "net.json")
    save_onnx(network, folder / "net.onnx")
    save_onnx(network, folder / "quantised.onnx")
    signs = canonical_complex(network, "box:-1,1").signs()
    np.savez(folder / "regions.npz", signs=signs)
    np.savez(folder / "data.npz", x=np.eye(2)[[0, 1, 0, 1, 1]], y=[0, 1, 0, 1, 1])
    names = "".join(f"(declare-const {name} Real)" for name in ("X_0", "X_1", "Y_0"))
    sides = "".join(f"(assert (<= X_{j} 1)) (assert (>= X_{j} -1))" for j in range(2))
    (folder / "property.vnnlib").write_text(f"{names}{sides}(assert (>= Y_0 99))")
    assert main(["identify", "example:digits", "-o", str(folder / "cert.json")]) == 0
    return folder


@pytest.mark.parametrize("name", COMMANDS)
def test_each_help_has_two_examples(name: str) -> None:
    lines = examples(COMMANDS[name])
    assert len(lines) == 2
    assert all(line.split()[1] == name for line in lines)


@pytest.mark.parametrize("line", EXAMPLES)
def test_examples_work(
    line: str,
    files: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Each is run as it stands; what it writes with -o is there afterwards."""
    for file in files.iterdir():
        shutil.copy(file, tmp_path)
    monkeypatch.chdir(tmp_path)
    words = shlex.split(line)
    status, out, err = run(capsys, *words[1:])
    assert status == (1 if "--other" in words or words[1] == "injective" else 0)
    assert out
    assert err == ""
    for option, value in pairwise(words):
        if option in ("-o", "--weights", "--other"):
            assert Path(value).stat().st_size
    if words[1] == "convert":
        assert Path(words[3]).stat().st_size
    if "--to" in words:
        assert Path("member-1.json").exists()


# --- Typing errors --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("identfy net.json", "unknown command 'identfy'; did you mean identify? (choose from info"),
        ("runtime_error net.json", "did you mean runtime-error?"),
        ("fly", "unknown command 'fly' (choose from info, convert, complex"),
        ("complex net.json --box -1,1", "unknown option --box; write a box as --domain box:-1,1"),
        ("info net.json --roundng text=exact", "unknown option --roundng; did you mean --rounding"),
        ("convert --numb=x --prefx=y a b", "unknown option --prefx; did you mean --prefix?"),
        ("topology net.json --bondary", "unknown option --bondary; did you mean --boundary?"),
        ("topology --levl -1 net.json", "unknown option --levl; did you mean --level?"),
        ("plot net.json --bx -2,2", "unknown option --bx; did you mean --box?"),
        ("info net.json --xyzzy", "unknown option --xyzzy; see polyrelu info --help"),
        ("info net.json -q", "unknown option -q"),
        ("--versoin", "unknown option --versoin; did you mean --version?"),
        ("--json info net.json", "options of a command stand after it: polyrelu COMMAND --json"),
        ("identify x --among generik", "argument --among: invalid choice: 'generik'; did you mean"),
        ("--print-completion bsh", "did you mean bash?"),
        ("info net.json extra", "unrecognized arguments: extra"),
        ("info -- net.json --roundng", "unrecognized arguments: --roundng"),
        ("info", "the following arguments are required: NET"),
        ("info example:digts", "did you mean example:digits? There are: example:digits, "),
    ],
)
def test_suggestions(arguments: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, *arguments.split())
    assert (status, err.count("\n")) == (2, 1)
    assert message in err
    assert bool(out) == ("--json" in arguments)


def test_abbreviations_are_known(capsys: pytest.CaptureFixture[str]) -> None:
    """An option may be shortened, and joined with its value."""
    assert run_json(capsys, "topology", "example:xor", "--sup=0")[1]["set"] == "superlevel"
    assert run(capsys, "topology", "example:xor", "--l")[2].startswith("polyrelu: argument --level")


# --- Values with a minus --------------------------------------------------------------------------


@pytest.mark.parametrize(("value", "level"), [("-1/2", "-1/2"), ("-1", "-1"), ("-0.25", "-1/4")])
@pytest.mark.parametrize("option", ["level", "sublevel", "superlevel"])
def test_negative_levels(
    option: str, value: str, level: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in ([f"--{option}", value], [f"--{option}={value}"]):
        status, found = run_json(capsys, "topology", "example:xor", *words)
        assert (status, found["level"], found["set"]) == (0, level, option)


@pytest.mark.parametrize(
    ("value", "box"),
    [("-2,2", [["-2", "2"]] * 2), ("-2,2;-1/2,1", [["-2", "2"], ["-1/2", "1"]])],
)
def test_negative_boxes(
    value: str, box: list[list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = str(tmp_path / "a.svg")
    for words in (["--box", value], [f"--box={value}"]):
        found = run_json(capsys, "plot", "example:bends", "-o", output, *words)[1]
        assert found["box"] == box


def test_numbers_of_other_types(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_json(capsys, "fiber", "example:xor", "--sample", "1", "--seed", "3")[0] == 0
    status, _, err = run(capsys, "identify", "example:xor", "--time-limit", "-1")
    assert (status, "--time-limit -1.0: must be 0 or more" in err) == (2, True)


def test_seeds(capsys: pytest.CaptureFixture[str]) -> None:
    seeded = [name for name in COMMANDS if "--seed SEED" in COMMANDS[name].format_help()]
    assert len(seeded) > 10
    for name in seeded:
        for seed in ("-1", "1.5", "x"):
            expected = f"polyrelu: --seed {seed}: expected an integer from 0\n"
            assert run(capsys, name, "example:xor", "--seed", seed) == (2, "", expected)


@pytest.mark.parametrize("decimal", ["0.05", "5e-2"])
def test_decimals_are_exact(
    decimal: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save(from_arrays([([[1], [1]], [0, 1])]), net := tmp_path / "net.json")
    found = {}
    for number in (decimal, "1/20"):
        words = [str(net), str(net), "--domain", "box:0,1"]
        same = run_json(capsys, "same-decisions", *words, "--margin", number)[1]
        limited = run_json(capsys, "deviation", *words, "--at-most", number, "--gap", number)[1]
        assert (same["status"], limited["status"]) == ("proved", "proved")
        found[number] = same["margin"], limited["statement"]
    assert found[decimal] == found["1/20"]
    assert found[decimal][0] == "1/20"


@pytest.mark.parametrize("number", ["1/0", "x", "-1/2", "-0.5", "1e9999", "inf", ""])
def test_what_is_no_number_from_0_on(number: str, capsys: pytest.CaptureFixture[str]) -> None:
    pair = ["example:xor", "example:xor", "--domain", "box:0,1"]
    for command, files, option in (
        ("deviation", pair, "--at-most"),
        ("range", pair[1:], "--gap"),
        ("same-decisions", pair, "--margin"),
    ):
        expected = "expected a number from 0 on, such as 1/100 or 0.01"
        answer = (2, "", f"polyrelu: {option} {number!r}: {expected}\n")
        assert run(capsys, command, *files, f"{option}={number}") == answer


# --- Completion -----------------------------------------------------------------------------------

_ASK = """
cd "$1"; source ./script
COMP_WORDS=("${@:2}"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMPREPLY=()
_shtab_polyrelu 2> /dev/null
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash here")
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("id", {"identify"}),
        ("identify --am", {"--among"}),
        ("identify --among ge", {"generic"}),
        ("identify n", {"net.onnx", "nets"}),
        ("identify net.onnx -o n", {"net.onnx", "nets"}),
        ("complex net.onnx --domain net.", {"net.onnx"}),
        ("check net.", {"net.onnx"}),
        ("equivalent a net.", {"net.onnx"}),
        ("fiber net.onnx --to n", {"nets"}),
        ("examples x -o net.", {"net.onnx"}),
        ("convert net.onnx n", {"net.onnx", "nets"}),
        ("convert net.onnx b --numbers f", {"float32", "float64"}),
    ],
)
def test_completion_in_bash(
    words: str, expected: set[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--print-completion", "bash"])
    assert ended.value.code == 0
    (tmp_path / "script").write_text(capsys.readouterr().out)
    (tmp_path / "net.onnx").touch()
    (tmp_path / "nets").mkdir()
    arguments = ["bash", "-c", _ASK, "ask", str(tmp_path), "polyrelu", *words.split()]
    found = subprocess.run(arguments, capture_output=True, text=True, check=True)
    assert set(found.stdout.split()) == expected


@pytest.mark.parametrize(
    ("shell", "text"), [("zsh", "#compdef polyrelu"), ("tcsh", "complete polyrelu")]
)
def test_scripts_of_other_shells(shell: str, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--print-completion", shell])
    out = capsys.readouterr().out
    assert text in out
    assert all(name in out for name in COMMANDS)


def test_what_help_imports() -> None:
    """Help and commands in pipes import neither shtab nor rich nor mathematics."""
    program = (
        "import sys\nfrom polyrelu.cli.main import main\nmain([])\nmain(['fly'])\n"
        "print(*{'shtab', 'rich', 'numpy', 'difflib'} & set(sys.modules), file=sys.stderr)\n"
        "main(['info', 'example:xor', '--no-compare'])\n"
        "print(*{'shtab', 'rich'} & set(sys.modules), file=sys.stderr)\n"
    )
    found = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": str(ROOT), "FORCE_COLOR": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stderr.splitlines()[1:] == ["difflib", ""]


def test_help_is_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    """`polyrelu help` and `polyrelu help COMMAND` print what --help prints."""
    for command in ([], ["fiber"], ["identify"]):
        with pytest.raises(SystemExit) as ended:
            main(["help", *command])
        assert ended.value.code == 0
        assert capsys.readouterr().out == help_of(capsys, *command)
    status, _, error = run(capsys, "help", "fibre")
    assert (status, "did you mean fiber?" in error) == (2, True)


@pytest.mark.parametrize(
    ("command", "promise"),
    [
        ("identify", "the same seed and budget give the same answer and certificate on every"),
        ("equivalent", "the same seed and budget give the same answer and certificate on every"),
        ("simplify", "the same seed gives the same network"),
    ],
)
def test_seeds_promise_what_holds(
    command: str, promise: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Budgets do not depend on the machine; a time limit makes an answer undecided."""
    words = " ".join(help_of(capsys, command).split())
    assert promise in words
    assert "end the whole command after so long, undecided" in words
