"""Answers that say what to do next: the commands that are printed are followed here."""

from __future__ import annotations

import re
import shlex
from argparse import Namespace
from fractions import Fraction
from pathlib import Path
from random import Random

import pytest

import polyrelu
from polyrelu import Polyhedron
from polyrelu.cli.next_steps import with_commands
from polyrelu.exact import RationalMatrix
from polyrelu.formats import read, save
from polyrelu.network import Block, Layer, LeakyStack, Network, from_arrays
from polyrelu.outcomes import NextStep, NotIdentifiable, Undecided
from polyrelu.proofs.simplification import SimplificationSettings
from tests.cli.commands import run, run_json
from tests.generators.redundant_networks import PLANTED, plant, random_stack, trained_like

#: A network for which identify is undecided without a search of ridges.
DEEP = from_arrays(
    [
        ([[1, 2], [-1, 1], [2, -1]], [1, -1, 3]),
        ([[1, 2, -1], [-1, 2, 1], [2, -3, 1]], [-1, 1, 1]),
        ([[1, -2, 1], [1, 1, -1]], [1, -1]),
        ([[1, 1]], [0]),
    ]
)
DOUBLED = from_arrays([([[1], [1]], [0, 0]), ([[1, 1]], [0])])


def written(network: Network, folder: Path, name: str = "net file.json") -> str:
    save(network, folder / name)
    return str(folder / name)


def commands(text: str) -> list[list[str]]:
    """The command lines of the next steps, split as a shell does it."""
    lines = re.findall(r"^next: .*: (polyrelu .*)$", text, re.MULTILINE)
    assert len(lines) == text.count("next: ")
    return [shlex.split(line)[1:] for line in lines]


def flat(text: str) -> str:
    """A text in one line."""
    return " ".join(text.split())


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands write beside the networks."""
    monkeypatch.chdir(tmp_path)


def test_the_search_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without time nothing is met; the first command that is printed searches, and keeps that."""
    status, out, _ = run(
        capsys,
        "identify",
        written(DEEP, tmp_path),
        "--budget",
        "0",
        "--among",
        "transversal",
        "-o",
        "cert.json",
    )
    assert status == 3
    first = commands(out)[0]
    options = "--budget 60000 --checkpoint search.db --among transversal --output cert.json"
    assert first == ["identify", str(tmp_path / "net file.json"), *options.split()]
    first[first.index("60000")] = "500"
    assert run(capsys, *first)[0] in (0, 1, 3)
    assert (tmp_path / "search.db").exists()


def test_another_class_refutes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = written(DOUBLED, tmp_path)
    status, out, _ = run(capsys, "identify", name, "--among", "regular")
    assert status == 3
    refute, simplify, fiber = commands(out)
    assert run(capsys, *refute)[0] == 1
    assert run(capsys, *simplify)[0] == 0
    assert run(capsys, *fiber)[0] == 0
    assert run(capsys, "identify", "small.json")[0] == 0  # identifiable, once it is small


def test_neurons_are_removed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, found = run_json(capsys, "identify", written(DOUBLED, tmp_path))
    assert status == 1
    (text,) = found["next"]
    (command,) = commands(f"next: {text}")
    status, out, _ = run(capsys, *command)
    assert status == 0
    assert "neuron 1 of layer 1: its row is equal to the row of neuron 0" in out


def test_a_hidden_hyperplane_is_shown_by_its_fiber(capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is superfluous: the next step shows the other parameters."""
    status, found = run_json(capsys, "identify", "example:hidden")
    assert status == 1
    (command,) = commands(f"next: {found['next'][0]}")
    assert command[0] == "fiber"
    assert "hyperplane of neuron 0 translated" in run(capsys, *command)[1]


def test_another_network_that_no_fiber_lists(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neuron 1 of layer 2 is linear, which no component of the fiber uses."""
    layers = [
        ([[-2, 2], [0, 1], [3, 1]], [0, 0, 2]),
        ([[3, -2, -2], [2, -2, 3]], [1, 0]),
        ([[1, 1]], [0]),
    ]
    name = written(from_arrays(layers), tmp_path)
    other = str(tmp_path / "other.json")
    status, found = run_json(capsys, "identify", name, "--among", "all")
    assert status == 1
    (command,) = commands(f"next: {found['next'][0]}")
    place = command.index("--other") + 1
    assert command[place] == "other.json"
    command[place] = other
    status, found = run_json(capsys, *command)
    assert (status, found["next"]) == (1, [])
    assert polyrelu.equivalent(name, other).status == "proved"


def _use_little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let this process seem as small as a command; many tests make it large."""
    monkeypatch.setattr("polyrelu.support.budget.resident_memory", lambda: 1 << 28)


def test_more_time_and_a_box(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both commands after a limit end with an answer."""
    # The prover is to notice the limit, also where reading the files takes long.
    monkeypatch.setattr("polyrelu.support.interrupts._TICK", 30.0)
    _use_little_memory(monkeypatch)
    first, second = written(DEEP, tmp_path, "a.json"), written(DEEP, tmp_path, "b.json")
    arguments = ["equivalent", first, second, "--time-limit", "0", "--seed", "7"]
    status, found = run_json(capsys, *arguments)
    assert status == 3
    steps = commands("\n".join(f"next: {text}" for text in found["next"]))
    assert [step[3:] for step in steps] == [
        ["--time-limit", "60", "--seed", "7"],
        ["--domain", "box:-1,1", "--time-limit", "60", "--seed", "7"],
    ]
    assert [run(capsys, *step)[0] for step in steps] == [0, 0]
    status, out, _ = run(capsys, *arguments, "--domain", "box:0,1", "--memory-limit", "0")
    (only,) = commands(out)
    assert only[3:] == (
        ["--time-limit", "60", "--memory-limit", "1024", "--domain", "box:0,1", "--seed", "7"]
    )
    assert run(capsys, *only)[0] == 0


def test_a_complex_that_was_interrupted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Regions alone, which take longer, are proposed in many dimensions only."""
    name = written(DOUBLED, tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr("polyrelu.cli.complex._missing_cells", lambda *_: "interrupted: cells")
        assert run_json(capsys, "complex", name)[1]["next"]
        box = ["complex", name, "--domain", "box:-1,1"]
        assert commands(run(capsys, "complex", name)[1]) == [box]
        assert "next" not in run(capsys, *box)[1]
        patched.setattr("polyrelu.cli.next_steps._MANY_DIMENSIONS", 1)
        status, out, _ = run(capsys, "complex", name)
        steps = commands(out)
    assert status == 3
    assert steps == [["complex", name, "--regions-only"], box]
    assert [run(capsys, *step)[0] for step in steps] == [0, 0]
    assert run_json(capsys, "complex", name)[1]["next"] == []


def test_operations_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Max pooling and absolute values are called so where the reader knows them."""
    onnx = pytest.importorskip("onnx")
    from onnx import TensorProto, helper

    for operation, settings, shape, out_shape, text in (
        ("MaxPool", {"kernel_shape": [2]}, [1, 1, 4], [1, 1, 3], "max pooling"),
        ("Abs", {}, [1, 2], [1, 2], "absolute values"),
    ):
        ends = [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, size)
            for name, size in (("x", shape), ("y", out_shape))
        ]
        node = helper.make_node(operation, ["x"], ["y"], **settings)
        graph = helper.make_graph([node], "g", ends[:1], ends[1:])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
        name = str(tmp_path / f"{operation}.onnx")
        onnx.save(model, name)
        assert read(name).skipping == (text,)
        assert run(capsys, "identify", name)[0] == 1  # there is a neuron that can be negated
        status, out, _ = run(capsys, "identify", name, "--budget", "0")
        assert status == 3
        assert f"undecided: no theorem here proves that networks with {text} are" in out
        steps = commands(out)
        assert [step[0] for step in steps][-2:] == ["runtime-error", "info"]
        assert [run(capsys, *step)[0] for step in steps] == [0] * len(steps)
        assert f"{text}, written as connections that skip layers" in run(capsys, "info", name)[1]
        for command in ("fiber", "simplify", "dimension", "minimal"):
            status, out, _ = run(capsys, command, name)
            assert status == 3
            assert f"skip layers (here they come from {text}), and this question" in flat(out)
            assert commands(out) == steps


@pytest.mark.parametrize(
    "question",
    [
        ["range", "--domain", "box:-1,1"],
        ["range", "--domain", "box:-1,1", "--lipschitz", "inf"],
        ["simplify"],
        ["fiber"],
        ["dimension"],
        ["minimal"],
        ["minimal", "--among", "transversal"],
    ],
    ids=" ".join,
)
def test_questions_about_plain_stacks(
    question: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """All commands are undecided in the same words, and say what takes the network."""
    stack = from_arrays([([[1, 2], [3, -1]], [1, 0]), ([[1, 1]], [0])])
    name = written(LeakyStack(Fraction(1, 4), stack).network(), tmp_path)
    status, out, err = run(capsys, question[0], name, *question[1:])
    assert (status, err) == (3, "")
    assert flat(out).startswith(
        "undecided: the network has connections that skip layers, and this question is answered "
        "for plain stacks of ReLUs only"
    )
    assert [step[0] for step in commands(out)] == ["complex", "runtime-error", "info"]
    assert all(step[1] == name for step in commands(out))
    status, found = run_json(capsys, question[0], name, *question[1:])
    assert (status, found["status"]) == (3, "undecided")


@pytest.mark.parametrize("domain", ["box:0,1", "box:0,1;-1/2,2"])
def test_a_difference_of_other_networks(
    domain: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whether it is 0 can be asked, and all steps are about the domain of the question."""
    stack = from_arrays([([[1, 2], [3, -1]], [1, 0]), ([[1, 1]], [0])])
    leaky = written(LeakyStack(Fraction(1, 4), stack).network(), tmp_path)
    plain = str(tmp_path / "plain.json")
    save(stack, plain)
    status, out, _ = run(capsys, "deviation", plain, leaky, "--domain", domain)
    assert status == 3
    steps = commands(out)
    assert [step[0] for step in steps] == ["equivalent", "complex", "runtime-error", "info"]
    assert steps[0][1:3] == [plain, leaky]
    assert all(step[1] == leaky for step in steps[1:])
    assert [step[step.index("--domain") + 1] for step in steps[:3]] == [domain] * 3
    assert [run(capsys, *step)[0] for step in steps] == [1, 0, 0, 0]


def test_networks_with_skip_connections(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What can be done for them, from the command line and from Python."""
    blocks = (
        Block(0, RationalMatrix.from_rows([[1, 0]])),
        Block(1, RationalMatrix.from_rows([[1, -2]])),
    )
    first = from_arrays([([[1, 2], [3, -1]], [0, 1])]).layers[0]
    net = Network(2, (first, Layer(blocks, RationalMatrix.column([0]))), "affine")
    status, out, _ = run(capsys, "identify", written(net, tmp_path), "--budget", "0")
    assert status == 3
    assert "with connections that skip layers are identifiable, except stacks of leaky" in " ".join(
        out.split()
    )
    steps = commands(out)
    assert [step[0] for step in steps] == ["complex", "runtime-error", "info"]
    assert [run(capsys, *step)[0] for step in steps] == [0, 0, 0]
    undecided = polyrelu.identify(net, budget=0)
    assert all(eval(step.call, {"polyrelu": polyrelu, "net": net}) for step in undecided.next)


def test_calls_are_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """From Python the steps are calls, which run."""
    _use_little_memory(monkeypatch)
    limited = polyrelu.equivalent(DEEP, DEEP, time_limit=0)
    undecided = polyrelu.identify(DEEP, among="transversal", budget=0)
    assert isinstance(limited, Undecided)
    assert isinstance(undecided, Undecided)
    domain = Polyhedron.box([0, 0], [1, 1])
    boxed = polyrelu.equivalent(DEEP, DEEP, domain, memory_limit=0)
    assert isinstance(boxed, Undecided)
    names = {"polyrelu": polyrelu, "net": DEEP, "other": DEEP, "domain": domain}
    for step in (*limited.next, *boxed.next):
        assert eval(step.call, names).status == "proved"
    for step in undecided.next:
        assert eval(step.call.replace("60", "0.2"), names) is not None
    assert f"next: {limited.next[0]}" in str(limited)


@pytest.mark.parametrize(
    ("question", "limit", "more"),
    [
        ("range --lipschitz 2 --output-index 0", "--time-limit 0", "--time-limit 60"),
        ("range", "--budget 1", "--budget 60000"),
        ("deviation --output-index 0", "--time-limit 0", "--time-limit 60"),
        ("deviation --at-most 1/8", "--budget 0 --time-limit 50", "--budget 60000"),
    ],
)
def test_the_limit_that_ended_a_search_grows(
    question: str, limit: str, more: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Only that limit is larger in the next step, and nothing of the question is lost."""
    name = written(DEEP, tmp_path)
    command, *own = question.split()
    files = [name, name] if command == "deviation" else [name]
    asked = [command, *files, *own, "--domain", "box:0,1", *limit.split()]
    status, out, _ = run(capsys, *asked)
    assert status == 3
    (step,) = commands(out)
    option, value = more.split()
    assert step[step.index(option) + 1] == value
    assert step.count("--budget") + step.count("--time-limit") == limit.count("--")
    assert step[step.index("--domain") + 1] == "box:0,1"
    assert all(word in step for word in own)
    assert run(capsys, *step)[0] == 0


def test_a_domain_goes_on_to_the_question_of_equality() -> None:
    """Networks that agree on a domain only are not asked about elsewhere."""
    step = NextStep("ask for equality", "call", ("equivalent", "NET", "OTHER"))
    options = Namespace(command="deviation", domain="box:0,1", gap="0")
    found = with_commands(Undecided("", next=(step,)), options, ["A", "B"], ("domain", "gap"))
    assert str(found.next[0]).endswith("polyrelu equivalent A B --domain box:0,1")


def test_reading_options_go_on() -> None:
    """Options of the command line stand in the command; its own options come first."""
    step = NextStep("go", "call", ("identify", "NET", "--seed", "1", "-o", "SMALL"))
    found = step.with_files(["a b.onnx"], {"--seed": "0", "--strip-tail": None, "--prefix": "f."})
    text = "go: polyrelu identify 'a b.onnx' --seed 1 -o small.onnx --strip-tail --prefix f."
    assert str(found) == text


@pytest.mark.parametrize("kind", PLANTED)
def test_a_promise_is_kept(kind: str) -> None:
    """Where an answer says that neurons can be left out, `simplify` leaves some out."""
    promised = 0
    for seed in range(4):
        rng = Random(f"promise {kind} {seed}")
        raw = random_stack(rng, (2, 3, 2, 2, 1))
        plant(rng, raw, {"boxed": 2, "ordered": 1}.get(kind, 2), kind)
        net = from_arrays(raw)
        outcome = polyrelu.identify(net, budget=0)
        if isinstance(outcome, NotIdentifiable | Undecided) and "simplify" in str(outcome):
            promised += 1
            assert polyrelu.simplify(net).removed
    assert promised >= 3


@pytest.mark.parametrize("max_neurons", [0, 64])
def test_a_dead_neuron_is_removed(
    max_neurons: int,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A neuron that inequalities show to be dead goes, in networks of any width."""
    settings = SimplificationSettings(max_neurons=max_neurons)
    monkeypatch.setattr("polyrelu.proofs.simplification.SETTINGS", settings)
    name = written(from_arrays(trained_like("dead 4")), tmp_path)
    status, out, _ = run(capsys, "identify", name, "--budget", "0")
    assert status == 1
    assert "is dead: it is never positive on R^n" in out
    (simplify,) = commands(out)
    status, out, _ = run(capsys, *simplify)
    assert status == 0
    assert "it is dead" in out
    assert read("small.json").network.widths == (2, 10, 7, 1)
