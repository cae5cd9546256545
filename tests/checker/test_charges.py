"""The table of charges in FORMAT 3.6 against the sources of the checker, and against costs."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import NamedTuple

import pytest

from polyrelu import checker
from tests.generators.certificates import altered
from tests.generators.files import ROOT

SOURCES = ROOT / "polyrelu" / "checking"
CHARGES = ("pay", "pay_divisions", "pay_modular", "units", "hold")
#: The functions that charge, by the row of the table that says what they charge.
ROWS = {
    "text": "text.parse",
    "unpacking": "text.unpacked",
    "row": "text.integers",
    "rational": "text.rational",
    "hash": "networks.hash_layer",
    "divisor of a layer": "networks.divisor_with",
    "denominators": "arithmetic.common_denominator",
    "denominators of layers": "pairs.least_common_multiple",
    "point": "pairs.scaled_point",
    "plane": "arithmetic.primitive_plane",
    "elimination": "arithmetic.reduce_into",
    "determinant": "arithmetic.check_determinant",
    "rank": "arithmetic.pivot_columns",
    "subset sums": "theorems.check_subset_sums",
    "independent": "theorems.check_independent",
    "all sums": "theorems.check_all_sums",
    "bends": "identifiability.shallow",
    "hyperplanes": "identifiability.hyperplanes_of",
    "pairs": "identifiability.count_pairs",
    "pair": "identifiability.rank_on_kernel",
    "rank of a layer": "identifiability.check_rank",
    "values at a corner": "identifiability.values_at",
    "jump at a corner": "identifiability.check_corner",
    "flat": "identifiability.check_flat",
    "invariants": "invariants.invariants",
    "membership": "membership.check_with_two_hidden_layers",
    "minors": "membership.check_minors",
    "sums of G3": "membership.check_sums",
    "masks": "membership.check_masks",
    "point of a domain": "pairs.check_point",
    "domain": "pairs.read_domain",
    "inequality": "pairs.slack_of",
    "side": "pairs.sides_of",
    "outputs": "pairs.outputs_and_signs",
    "layer of `other`": "refutations.check_layer",
    "ends of the domain": "replacement.box_of_inputs",
    "zero at a point": "identifiability.check_zero",
    "box": "replacement.image_box",
    "parameters of a leaky stack": "leaky.stack_of",
    "leak": "leaky.check_leak",
    "layer of a leaky stack": "leaky.reduced_layer",
    "rank of a leaky layer": "leaky.leaky_chains",
    "rank of rows": "leaky.rank_modulo",
    "layer of chains": "leaky.columns_modulo",
    "signs of a chain": "leaky.check_visible",
    "derivatives of a chain": "leaky.times",
    "point of a chain": "leaky.signs_at",
    "two parts": "leaky.in_two_parts",
    "box of leaky ReLUs": "leaky.leaky_box",
    "shift of a neuron": "blocks.shift",
    "block of two networks": "blocks.check_rows",
    "biases of two networks": "blocks.check_biases",
    "sign of a neuron": "blocks.check_one_sign",
    "box of blocks": "blocks.boxes_of",
    "name of a neuron": "blocks.named",
    "neurons of blocks": "blocks_replacement.changed_neurons",
    "rows of neurons of blocks": "blocks_replacement.side_of",
    "box of a reader": "blocks_replacement.check_reader",
    "rows on several layers": "blocks_replacement.joint_rows",
    "linear part of a reader": "replacement.add_linear",
    "row of a neuron with a sign": "blocks_one_sided.check_signs",
    "layer without a source": "blocks_one_sided.table_of",
    "layer with signs": "blocks_one_sided.check_layer_with_signs",
    "reader of signs": "blocks_one_sided.check_reader_of_signs",
    "maps": "replacement.add",
    "sum of bends": "replacement.check",
    "translation": "refutations.translation",
    "flip": "refutations.flip",
    "parallel rows": "refutations.line_equal",
    "breakpoints": "refutations.sorted_breakpoints",
    "on the axis": "refutations.on_axis",
    "row as a form": "one_sided.form",
    "facts": "one_sided.without",
    "step": "one_sided.add_step",
    "one-sided": "one_sided.check_change",
    "sign of a row": "one_sided.check_sign",
    "node of cases": "one_sided_cases.check_cases",
    "record of cases": "one_sided_cases.close",
    "bounds of activations": "one_sided_cases.replace",
    "two layers": "one_sided.over_common_denominator",
    "residues": "ridges.residues",
    "signs of a mask": "ridges.states",
    "slice": "ridges.__init__",
    "inputs of a slice": "ridges.read_some",
    "slacks on a slice": "ridges.slacks_of",
    "inside of a ridge": "ridges.check_ridge",
    "forms on a slice": "ridges.unpacked",
    "layer on a slice": "ridges.move",
    "ridge": "ridges.add",
    "path": "sparse.is_path",
    "weights that are read": "sparse.read_before",
    "point of a ridge": "ridges.check_ridge",
    "influences": "ridges.influences",
    "bend of a ridge": "ridges.bend",
    "derivatives": "ridges.new_slopes",
    "derivatives looked up": "ridges.slopes",
    "derivatives kept": "ridges.slopes",
    "derivative along": "ridges.along_direction",
    "clear": "ridges.is_clear",
    "families": "families.__init__",
    "pieces": "families.of_pieces",
    "apart": "families.are_apart",
    "piece": "systems.rank_form",
    "equations": "systems.add_equations",
    "pieces that are crossed": "systems.is_crossed",
    "kept system": "systems.keep",
    "set with other signs": "systems.excludes",
    "one rank for all pieces": "systems.by_sight",
    "not oriented": "systems.not_oriented",
    "visible rows": "systems.check_rows",
    "sector": "systems.check_sector",
    "source": "systems.check_source",
    "marks of a source": "systems.marks",
    "rounding": "rounding.after_layer",
    "preactivations": "expressions.preactivations",
    "reduced forms": "expressions.preactivations",
    "divisor of forms": "expressions.common_divisor",
    "activations": "expressions.activations",
    "activation": "expressions.activation",
    "atom": "expressions.add_symbol",
    "part": "expressions.check_parts",
    "differences": "expressions.differences",
    "sum": "expressions.add",
    "last term": "expressions.pop",
    "change": "trees.put",
    "affine form": "trees.put_form",
    "cut": "trees.cut",
    "node": "trees.visit",
    "unchanged": "trees.visit",
    "written": "trees.written",
    "value": "trees.visit",
    "learnt": "trees.learn",
    "sign": "trees.check_sign",
    "solved": "trees.subtract_solved",
    "solved multipliers": "trees.take_away",
    "product of fractions": "trees.times",
    "constant of a bound": "trees.constant",
    "inside": "regions.close",
    "line": "trees.read_bytes",
    "strictly inside": "pairs.check_inside",
    "row of a layer": "injectivity.dense",
    "layer modulo a prime": "injectivity.__init__",
    "orthant": "injectivity.orthant",
    "pair of cells": "cell_pairs.__init__",
    "equal points": "cell_pairs.check_equal",
    "dependence": "injectivity.check_dependence",
    "kernel": "injectivity.the_kernel",
    "remainder": "injectivity.remainder",
    "larger span": "injectivity.grown",
    "node of a layer": "injectivity.check",
    "line of a layer": "injectivity.are_multiples",
    "split of a layer": "injectivity.after",
    "pack": "injectivity.check_pack",
    "choices": "injectivity.check_choices",
    "quotient": "lipschitz.check_quotient",
    "squared distance": "lipschitz.squared_distance",
    "bound of a map": "monotone.monotone",
    "product of a map": "monotone.products",
    "difference of a map": "monotone.difference",
    "joined": "left_inverse.joined",
    "identity": "left_inverse.identity",
    "differences of lines": "teaching.read_parallel_lines",
    "slopes along lines": "teaching.parallel_lines",
    "jumps along lines": "teaching.check_jumps",
    "crossings of lines": "teaching.crossings_of",
    "places on lines": "teaching.check_places",
    "bounds of layers": "lipschitz.inverse_lipschitz",
    "layer of a bound": "lipschitz.__init__",
    "squares": "lipschitz.gram",
    "pattern": "lipschitz.close",
    "definite": "lipschitz.check_definite",
    "diagonal": "lipschitz.is_semidefinite",
    "row of a cell": "cell_pairs.dense",
    "row of a pair": "cell_pairs.row",
    "dependence of a pair": "cell_pairs.dependence",
    "points of a size": "sizes.points_of",
    "local map": "sizes.local_map",
    "jump": "sizes.jump_at",
    "second jump": "sizes.jumps",
    "kept hyperplane": "sizes.hyperplanes",
    "kept map": "sizes.affine_maps",
    "row of a long basis": "dimensions.join",
    "number of scalings": "dimensions.num_scalings",
    "layer of a Jacobian": "dimensions.layer_modulo",
    "row of a Jacobian": "dimensions.derivatives",
    "mask": "vertices.mask_of",
    "scale": "vertices.__init__",
    "input part": "vertices.input_part",
    "kept coordinates": "vertices.coordinates",
    "columns": "vertices.columns",
    "blocks": "vertices.layer_forms",
    "neurons on": "vertices.on",
    "moved": "vertices.move",
    "values of forms": "vertices.values",
    "form": "vertices.row",
    "deep form": "vertices.deep_row",
    "common zeros": "vertices.line",
    "signs of a vertex": "vertices.vertex",
    "listed cell": "vertices.face",
    "frame": "vertices.frame",
    "keys": "vertices.pay_keys",
    "vertex": "vertices.add",
    "ray": "vertices.check_ray",
    "partners": "grid.read_matching",
    "rows on the grid": "grid.rounded_rows",
    "differences of layers": "grid.layer_differences",
    "clauses of a deviation": "clauses.clauses_of_deviation",
    "clauses of a range": "clauses.clauses_of_range",
    "clauses of decisions": "clauses.clauses_of_decisions",
    "row of a clause": "clauses.read_row",
    "box of `except`": "bounds.read_excluded",
    "interval": "boxes.on_grid",
    "cut of a box": "boxes.change",
    "cut by sign": "boxes.cut",
    "node of cuts": "bounds.visit",
    "middle": "bounds.halves",
    "inputs on the grid": "boxes.forms",
    "leaf of cuts": "bounds.__init__",
    "slots": "forms.make_room",
    "layer of forms": "forms.charge",
    "kept form": "forms.cut",
    "forms of the first layer": "backward.see",
    "rows backwards": "backward.make_room",
    "layer backwards": "backward.below",
    "layer jointly": "backward.below_both",
    "ReLUs backwards": "backward.below_relu",
    "lines of pairs": "joint.add_lines",
    "layer of intervals": "inherited.bound_layer",
    "inherited intervals": "boxes.inherit",
    "ReLUs jointly": "joint.below_pairs",
    "first layer backwards": "backward.descended",
    "row backwards": "backward.of_inputs",
    "all clauses": "bounds.__init__",
    "rows of a leaf": "bounds.check",
    "value of a row": "bounds.value",
    "upper bound": "bounds.upper",
    "multiples": "bounds.with_inputs",
    "inequality on a leaf": "bounds.inequality",
    "row of an affine map": "affine_maps.of_layer",
    "row of inputs": "affine_maps.of_inputs",
    "added form": "bounds.add",
    "largest value": "bounds.largest",
    "shown": "bounds.shown",
    "relaxed row": "bounds.relaxed",
    "layer of a relaxed row": "relaxed_rows.below",
    "constant of a relaxed row": "relaxed_rows.add",
    "weights with slopes": "relaxed_rows.joined",
    "corners": "relaxed_rows.largest",
    "distance of points": "gradients.check_quotient_of_points",
    "gradients of a layer": "gradients.gradient_below",
    "norm": "gradients.size",
    "longest gradient": "gradients.check",
}


class Charges(NamedTuple):
    """The numbers in the charges of a function, and all numbers in it."""

    own: set[int]
    all: set[int]


def numbers_in(node: ast.AST) -> set[int]:
    constants = (entry.value for entry in ast.walk(node) if isinstance(entry, ast.Constant))
    return {value for value in constants if type(value) is int and value > 2}


def charges_of(path: Path) -> dict[str, Charges]:
    """Return the charges of the functions of a module that charge anything, by their names."""
    found = dict[str, Charges]()
    for function in ast.walk(ast.parse(path.read_text())):
        if isinstance(function, ast.FunctionDef):
            inner = {
                id(node)
                for part in ast.walk(function)
                if isinstance(part, ast.FunctionDef) and part is not function
                for node in ast.walk(part)
            }
            calls = [
                call
                for call in ast.walk(function)
                if isinstance(call, ast.Call) and id(call) not in inner
                if isinstance(call.func, ast.Attribute) and call.func.attr in CHARGES
            ]
            if calls:
                own = set[int]().union(*(numbers_in(x) for call in calls for x in call.args))
                old = found.get(f"{path.stem}.{function.name}", Charges(set(), set()))
                everything = numbers_in(function) | old.all
                found[f"{path.stem}.{function.name}"] = Charges(own | old.own, everything)
    return found


def table() -> dict[str, str]:
    """Return the last column of the table of charges by the first one."""
    text = (ROOT / "polyrelu" / "certificate" / "FORMAT.md").read_text()
    section = text.split("\n### 3.6 ")[1].split("\n### ")[0]
    lines = section.split("| charge | when |")[1].splitlines()[2:]
    cells = (re.split(r" \| |^\| | \|$", line.replace("W|b", "W b")) for line in lines)
    return {cell[1]: cell[3] for cell in cells if len(cell) > 4}


def test_every_charge_is_in_the_table() -> None:
    found = dict[str, Charges]()
    for path in sorted(SOURCES.glob("*.py")):
        if path.stem != "meter":
            found |= charges_of(path)
    assert set(ROWS.values()) == set(found)
    assert list(dict.fromkeys(table())) == list(table())
    assert set(ROWS) == set(table())
    for function, charges in found.items():
        rows = " ".join(table()[row] for row, name in ROWS.items() if name == function)
        stated = {int(x) for x in re.findall("[0-9]+", re.sub(r"W\[[0-9]\]", "W", rows))}
        assert charges.own <= stated, (function, charges.own, rows)
        named = {0, 1, 2, 8, 64, 1200}  # bits of a byte, bytes of a cell, the grid of bounds
        assert stated <= charges.all | named, (function, charges.all, rows)


def products(count: int, p: int, q: int) -> int:
    """P(n; p, q) as FORMAT says."""
    h = 0
    while min(p, q) > 2048 * 2**h:
        h += 1
    size: int = p * q * 3**h // 4**h
    return count * (100 + (p + q) // 16 + size // 1024)


@pytest.mark.parametrize(
    ("p", "q"), [(0, 0), (1, 5), (2048, 9000), (2049, 2049), (4096, 4097), (70_000, 65_536)]
)
def test_a_product_costs_what_the_format_says(p: int, q: int) -> None:
    meter = checker.Meter(2**60)
    meter.pay(3, p, q)
    assert meter.work == products(3, p, q)
    meter.pay_divisions(2, p, q)
    quotients = 2 * (100 + (p + q) // 16 + p * q // 1024)
    assert meter.work == products(3, p, q) + quotients
    meter.pay_modular(7)
    assert meter.work == products(3, p, q) + quotients + 7 * 80


def test_an_affine_network_costs_what_the_format_says() -> None:
    """The whole cost of a certificate without evidence, by the table: its text and its network."""
    document = altered("affine")
    data = json.dumps(document).encode()
    network = document["claim"]["network"]["inline"]
    expected = 8 * len(data) + 500 * sum(data.count(mark) for mark in (b",", b":", b"[", b"{"))
    for layer in network["layers"]:
        rows = [row for block in layer["weights"] for row in block["rows"]]
        expected += sum(
            200 * len(text.split()) + 8 * len(text) for text in (layer["bias"], *rows)
        ) + 4 * sum(map(len, rows))
        assert layer["denominator"] == "2"  # so that the biases, short numbers, are looked at
        expected += 100 * len(layer["bias"].split())
    meter = checker.Meter(2**60)
    report = checker.check_certificate(data, lambda _: (), meter)
    assert report.verdict == "accepted"
    assert meter.work == expected
