"""Tree files: mutations with a correct hash, hostile files, packed files, and truncated files."""

from __future__ import annotations

import copy
import gzip
import json
import time
import zlib
from collections.abc import Callable
from fractions import Fraction
from itertools import islice, pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest

from polyrelu import checker, equivalent, from_arrays
from polyrelu.complex import canonical_complex
from polyrelu.exact import RationalMatrix
from polyrelu.network import Block, Layer, Network, from_document, to_document
from polyrelu.outcomes import Equivalent, NotEquivalent, RegionsListed
from polyrelu.proofs import certify_regions
from tests.generators.campaigns import case, few_and_all, few_some_and_all, some_and_all
from tests.generators.equivalent_pairs import Stack
from tests.generators.tree_documents import Document, changed, mutants, with_count, written
from tests.generators.tree_pairs import CASES, HINGES, PLANE
from tests.oracles.equal_on_domain import agree_on_domain
from tests.oracles.judge import certificate_bytes
from tests.oracles.mutants import domain_of


def lines_of(name: str) -> Document:
    pair, domain = CASES[name]
    outcome = equivalent(*pair, domain)
    assert isinstance(outcome, Equivalent), outcome
    return [json.loads(line) for line in outcome.certificate.lines()]


@pytest.mark.parametrize("name", CASES)
def test_valid(name: str) -> None:
    document = lines_of(name)
    report = checker.check_bytes(written(document))
    assert report.verdict == "accepted", report
    assert (len(document) - 2) == document[-1]["nodes"]
    features = {"lifted": "lifted", "parts": "parts"}
    assert name not in features or document[0][features[name]]
    packed = gzip.compress(written(document), mtime=0)
    assert checker.check_bytes(packed) == report


# -- mutations -------------------------------------------------------------------------------------


def claim_holds(claim: Any) -> bool:
    """Return whether two networks agree on the claimed domain."""
    first, second = (from_document(claim[key]["inline"]) for key in ("network", "other"))
    return agree_on_domain(first, second, domain_of(claim["domain"], first.num_inputs))


def check_mutants(name: str, every: int) -> None:
    """Check that each accepted mutant is true, for every n-th of the mutants.

    Each leaf is changed, each line dropped, doubled or exchanged. The hash is made correct.
    """
    count = accepted = 0
    for mutant in islice(mutants(lines_of(name)), 0, None, every):
        for fixed in (mutant, with_count(mutant)):
            report = checker.check_bytes(written(fixed))
            count += 1
            if report.verdict == "accepted":
                accepted += 1
                assert claim_holds(fixed[0]["claim"]), fixed
    assert count > 150 / every
    assert accepted < count / 3


@pytest.mark.parametrize("name", CASES)
def test_some_mutants_die_or_are_true(name: str) -> None:
    check_mutants(name, 53)


@pytest.mark.parametrize("every", some_and_all(7, 1))
def test_all_mutants_die_or_are_true(every: int) -> None:
    for name in CASES:
        with case(name):
            check_mutants(name, every)


@pytest.mark.parametrize("name", CASES)
def test_a_changed_network_is_not_proved_by_the_old_tree(name: str) -> None:
    """With a weight changed by 2^-40 the old tree is refused, unless the function is the same."""
    pair, domain = CASES[name]
    document, chance = lines_of(name), Random(name)
    for _ in range(30):
        second = Stack(
            [
                ([list(r) for r in layer.weight.rows()], list(layer.bias.entries()))
                for layer in pair[1].layers
            ]
        )
        rows, bias = chance.choice(second.layers)
        i = chance.randrange(len(bias))
        rows[i][chance.randrange(len(rows[i]))] += Fraction(1, 2**40)
        network = from_arrays(second.layers)
        mutant = copy.deepcopy(document)
        fresh = equivalent(network, network, domain)
        assert isinstance(fresh, Equivalent)
        header = json.loads(next(fresh.certificate.lines()))
        mutant[0]["claim"]["other"] = header["claim"]["other"]
        report = checker.check_bytes(written(mutant))
        assert (
            report.verdict == "rejected" or equivalent(pair[0], network, domain).status == "proved"
        )


# -- a network against itself ----------------------------------------------------------------------


def test_equal_hashes_are_enough() -> None:
    """Nodes of a network against itself are counted and hashed, and nobody looks at them."""
    outcome = equivalent(PLANE[0], PLANE[0])
    assert isinstance(outcome, Equivalent)
    document: Document = [json.loads(line) for line in outcome.certificate.lines()]
    anything: Document = [document[0], *[{"signs": [], "split": 0}] * 5, document[-1]]
    anything[-1] = {**document[-1], "nodes": 5}
    data = written(anything)
    report = checker.check_bytes(data)
    assert report.verdict == "accepted", report
    assert report.statement.endswith("The tree has 5 nodes.")
    assert verdict(data[:-90]).verdict == "unreadable"
    assert verdict(written([*anything[:-1], {**anything[-1], "nodes": 4}])).verdict == "rejected"
    assert verdict(data.replace(b'"split": 0', b'"split": 1', 1)).step == "hash"
    outside = changed(anything, (0, "claim", "domain", "inequalities"), ["1 0 -1"])
    assert verdict(written(outside)).step == "point"


# -- hostile files ---------------------------------------------------------------------------------


def verdict(data: bytes) -> checker.CheckReport:
    report = checker.check_bytes(data)
    assert report.verdict != "accepted"
    assert len(str(report)) < 1500
    return report


def test_cut_off_and_appended() -> None:
    data = written(lines_of("splits"))
    for length in range(0, len(data), 41):
        verdict(data[:length])
        verdict(gzip.compress(data[:length]))
        verdict(gzip.compress(data)[: -length or -1])
    assert verdict(data + b"\n").verdict == "unreadable"
    assert verdict(data[:-1]).verdict == "unreadable"
    assert verdict(data + data).verdict == "unreadable"
    assert verdict(gzip.compress(data) + b"garbage").verdict == "unreadable"


def test_wrong_hash_and_count() -> None:
    document = lines_of("splits")
    data = written(document)
    footer = data.splitlines()[-1]
    assert verdict(data.replace(footer, footer[:-6] + b'beef"}')).verdict in (
        "rejected",
        "unreadable",
    )
    document[-1]["nodes"] += 1
    assert verdict(written(document)).verdict == "rejected"


@pytest.mark.parametrize("megabytes", few_and_all(8, 256))
def test_a_bomb_is_not_unpacked_into_memory(
    megabytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checker, "CERTIFICATE_BYTES", megabytes << 20)
    monkeypatch.setattr(checker, "MAX_LINE", megabytes << 18)
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    bomb = b"".join(packer.compress(b" " * (1 << 20)) for _ in range(megabytes)) + packer.flush()
    assert verdict(bomb).verdict == "unreadable"
    start = checker.TREE_START
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    bomb = (
        packer.compress(start)
        + b"".join(packer.compress(b" " * (1 << 20)) for _ in range(megabytes))
        + packer.flush()
    )
    assert verdict(bomb).verdict == "unreadable"


def test_a_split_for_ever() -> None:
    document = lines_of("splits")
    split = next(node for node in document[1:-1] if "split" in node)
    endless = [
        document[0],
        *([{"signs": [], "split": split["split"]}] * (checker.MAX_DEPTH + 5)),
        document[-1],
    ]
    report = verdict(written(endless))
    assert report.verdict == "unreadable"
    assert "one below the other" in report.got


def test_lifted_neurons_of_other_networks() -> None:
    document = lines_of("lifted")
    for lifted in (
        [[2, 1, 0]],
        [[0, 1, 9]],
        [[0, 9, 0]],
        document[0]["lifted"] * 2,
        [[1, 1, 0]],
    ):
        mutant = changed(document, (0, "lifted"), lifted)
        assert verdict(written(mutant)).verdict == "rejected", lifted


def test_slopes_and_multipliers_out_of_range() -> None:
    document = lines_of("bounds on a box")
    (node,) = document[1:-1]
    k, sign, value, rows, slopes = node["signs"][0][0]
    for bad in (
        [k, sign, value, [[0, "-1"]], slopes],
        [k, sign, value, [[99, "1"]], slopes],
        [k, sign, value, rows, [[0, "2"]]],
        [k, sign, value, rows, [[0, "-1/2"]]],
        [k, sign, "1000", rows, slopes],
        [99, sign, value, rows, slopes],
    ):
        mutant = changed(document, (1, "signs", 0, 0), bad)
        assert verdict(written(mutant)).verdict == "rejected", bad


def test_index_lists_ascend() -> None:
    """Multipliers, slopes and rows of parts in another order, or twice, are refused."""
    document = lines_of("splits")
    line, node = next((i, node) for i, node in enumerate(document[:-1]) if i and node["signs"])
    record = node["signs"][0][0]
    for place in (3, 4):
        for pairs in ([[0, "0"], [0, "0"]], [[1, "0"], [0, "0"]], [[99, "0"]]):
            mutant = changed(
                document, (line, "signs", 0, 0, place), [*pairs, *record[place]][: len(pairs)]
            )
            assert verdict(written(mutant)).verdict == "rejected"
    document = lines_of("parts")
    row = document[0]["parts"][0][0]
    for bad in (row[::-1], [*row, [row[-1][0], "0"]], [*row, [99, "0"]]):
        assert verdict(written(changed(document, (0, "parts", 0, 0), bad))).verdict == "rejected"


@pytest.mark.parametrize("count", few_some_and_all(30, 80, 300))
def test_small_files_that_would_take_long(count: int) -> None:
    """Many long coprime denominators in one sign or one part are refused early."""
    document = lines_of("splits")
    line, node = next((i, node) for i, node in enumerate(document[:-1]) if i and "split" in node)
    long = [f"1/{hex(16**4000 + 2 * k + 1)}" for k in range(count)]
    many = changed(document, (0, "claim", "domain", "inequalities"), ["1 5"] * count)
    sign = [node["split"], "+", "0", [[k, text] for k, text in enumerate(long)], []]
    many[line]["signs"] = [[sign]]
    started = time.process_time()
    assert verdict(written(many)).verdict in ("rejected", "unreadable")
    assert time.process_time() - started < 60


def test_points_and_equations_with_long_denominators() -> None:
    """Common denominators beyond 65,536 bits are not computed."""
    count = 60
    long = [hex(16**4000 + 2 * k + 1) for k in range(count)]
    network = from_arrays([([[1] * count], [0])])
    other = from_arrays([([[1] * count], [1])])
    outcome = equivalent(network, other)
    assert isinstance(outcome, NotEquivalent)
    document = json.loads(certificate_bytes(outcome))
    document["proof"]["hypotheses"][0]["evidence"]["x"] = [f"1/{text}" for text in long]
    started = time.process_time()
    report = verdict(json.dumps(document).encode())
    assert (report.verdict, report.step) == ("unreadable", "point")
    units = [
        " ".join(text if i == j else "0" for i in range(count)) + " 0"
        for j, text in enumerate(long)
    ]
    document["claim"]["domain"]["equations"] = units
    report = verdict(json.dumps(document).encode())
    assert (report.verdict, report.step) == ("unreadable", "claim.domain")
    assert time.process_time() - started < 20


@pytest.mark.parametrize("layers", few_and_all(100, 400))
def test_values_that_grow_from_layer_to_layer(layers: int) -> None:
    """Long denominators, new in each layer, are cheap layer by layer, but not all together.

    The cost of fewer layers is limited to less.
    """
    budget = checker.BUDGET * layers**2 // 400**2 // 8
    chain = from_arrays([([[f"1/{hex(16**1800 + 2 * k + 1)}"]], ["1"]) for k in range(layers)])
    network = checker.read_network(to_document(chain), "network", checker.Meter())
    started = time.process_time()
    with pytest.raises(checker.Stop, match="which --budget raises"):
        checker.outputs(network, [Fraction(1)], checker.Meter(budget))
    assert time.process_time() - started < 30


def test_forms_that_are_read_with_weight_zero_count() -> None:
    """A long form costs once for each of many layers that read it."""
    size, depth = 500, 50
    wide: list[Any] = [([[1] * size, [-1] * size], [0, 0])]
    one = from_arrays([*wide, *([([[1, 0]], [0])] + [([[1]], [0])] * 2)])
    blocks = [
        Block(1, RationalMatrix.from_rows([[1, 0]])),
        Block(2, RationalMatrix.from_rows([[1]])),
    ]
    layers = list(one.layers[:2])
    for number in range(3, depth):
        layers.append(
            Layer((blocks[0], Block(number - 1, blocks[1].entries)), RationalMatrix.column([0]))
        )
    network = Network(size, tuple(layers))
    meter = checker.Meter()
    one_network = checker.read_network(to_document(network), "network", meter)
    domain = checker.read_domain({"inequalities": [], "equations": []}, size, meter)
    before = meter.work
    checker.JointNetwork([one_network], domain, [], meter)
    assert meter.work - before > depth * size * 100


def test_rounds_parts_and_signs_that_say_nothing() -> None:
    document = lines_of("splits")
    line, node = next((i, node) for i, node in enumerate(document[:-1]) if i and "signs" in node)
    assert (
        verdict(written(changed(document, (line, "signs"), [[], *node["signs"]]))).verdict
        == "unreadable"
    )
    document = lines_of("parts")
    empty: list[Any] = [[] for _ in document[0]["parts"][0]]
    assert (
        verdict(written(changed(document, (0, "parts"), [*document[0]["parts"], empty]))).verdict
        == "rejected"
    )
    # The same sign again and again is true, and costs no memory.
    document = lines_of("bounds on a box")
    many = changed(document, (1, "signs", 0), document[1]["signs"][0] * 500)
    assert checker.check_bytes(written(many)).verdict == "accepted"


def test_network_files_beside_a_tree(tmp_path: Path) -> None:
    """Large networks stand in files of their own, equal ones in one."""
    wide = from_arrays(
        [([[i % 7 - 3, i % 5] for i in range(2000)], [1] * 2000), ([[1] * 2000], [0])]
    )
    outcome = equivalent(wide, wide)
    assert isinstance(outcome, Equivalent)
    written_files = outcome.save(tmp_path / "cert.jsonl")
    assert [path.name for path in written_files] == [
        "cert.jsonl.network.json",
        "cert.jsonl",
    ] or len(written_files) == 2
    assert checker.check_file(written_files[-1]).verdict == "accepted"
    assert not list(tmp_path.glob("*.tmp"))


@pytest.mark.parametrize("make", [lambda p: p.mkdir(), lambda p: p.symlink_to("/dev/null")])
def test_outputs_that_cannot_be_written(make: Callable[[Path], object], tmp_path: Path) -> None:
    target = tmp_path / "cert"
    make(target)
    outcome = equivalent(*HINGES)
    assert isinstance(outcome, Equivalent)
    with pytest.raises(Exception, match="cannot write"):
        outcome.save(target)
    with pytest.raises(Exception, match="cannot write"):
        outcome.save(tmp_path / "missing" / "cert")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cert"]


def degenerate(seed: int) -> Network:
    """A small network in which many neurons are multiples of others, positive and negative."""
    rng = Random(seed)
    widths = [2, *(rng.randint(2, 5) for _ in range(rng.randint(1, 3))), 1]
    pairs = []
    for size, width in pairwise(widths):
        rows = [[rng.randint(-2, 2) for _ in range(size + 1)] for _ in range(width)]
        for row in rows:
            if rng.random() < 0.4:
                row[:] = [rng.choice([1, -1, 2]) * entry for entry in rng.choice(rows)]
        pairs.append(([row[:-1] for row in rows], [row[-1] for row in rows]))
    return from_arrays(pairs)


def state_of(node: checker.Node) -> object:
    """Forms, values and terms at a node, in an order that does not depend on the way there."""
    terms = {k: (term.atom, side) for k, (term, side) in node.term_of.items()}
    forms = {k: known.form for k, known in node.known.items()}
    return forms, node.values, terms, sorted(term.atom for term in node.terms.values())


def test_a_node_does_not_depend_on_the_way_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each visit finds what a node finds that looks at all atoms."""
    visit, compared = checker.Node.visit, []

    def visit_twice(node: checker.Node) -> None:
        visit(node)
        state = checker.State(node.state.slacks, checker.Meter(2**60))
        state.forms, state.atoms = dict(node.state.forms), dict(node.state.atoms)
        fresh = checker.Node(node.joint, node.used, state)
        visit(fresh)
        compared.append(state_of(node) == state_of(fresh))
        flipped = [k for k, (_, side) in node.term_of.items() if side < 0]
        assert node.num_flipped == sum(len(node.known[k].form) for k in flipped)
        assert node.num_products == sum(known.num_products for known in node.known.values())

    monkeypatch.setattr(checker.Node, "visit", visit_twice)
    # In the first four a term passes to an earlier atom, and others have it as well.
    for seed in (147, 263, 264, 365, 1, 2, 3):
        listed = certify_regions(canonical_complex(degenerate(seed)), method="tree", budget=2_000)
        assert isinstance(listed, RegionsListed)
        assert checker.check_bytes(listed.certificate.to_bytes()).verdict == "accepted"
    assert len(compared) > 100
    assert all(compared)
