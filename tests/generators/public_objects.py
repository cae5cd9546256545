"""Small objects of every public type, for tests that look at all of them."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from polyrelu import (
    attributes,
    audit,
    breakpoints,
    certificate,
    complex,
    conditions,
    corpus,
    dynamics,
    exact,
    fibers,
    foldsets,
    formats,
    network,
    outcomes,
    plot,
    proofs,
    report,
    symmetry,
    topology,
    training,
    walks,
)
from polyrelu.errors import (
    ArgumentError,
    CertificateError,
    DomainError,
    NetworkError,
    NetworkFileError,
    NotCoveredError,
    PolyreluError,
)

#: The public submodules whose `__all__` lists public names.
ROOMS = (
    "attributes",
    "audit",
    "breakpoints",
    "certificate",
    "complex",
    "conditions",
    "corpus",
    "dynamics",
    "errors",
    "exact",
    "fibers",
    "foldsets",
    "formats",
    "network",
    "outcomes",
    "plot",
    "proofs",
    "report",
    "symmetry",
    "topology",
    "training",
    "walks",
)

F = Fraction
NeuronId = network.NeuronId
ABSOLUTE = network.from_arrays([([[1], [-1]], [0, 0]), ([[1, 1]], [0])])
PLAIN = network.from_arrays([([[1, 2], [0, 1]], [0, 1]), ([[1, -1]], [3])])
DEEP = network.from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [-1]), ([[1]], [0])])
HIDING = network.from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, -1]], [-2]), ([[1]], [0])])
AXES = [[1, 0], [0, 1]]


def public_types() -> dict[type, str]:
    """All classes in the `__all__` of the package and of its public submodules, with names."""
    found: dict[type, str] = {}
    for name in [*(f"polyrelu.{room}" for room in ROOMS), "polyrelu"]:
        module = importlib.import_module(name)
        for member in module.__all__:
            value = getattr(module, member)
            if inspect.isclass(value):
                found.setdefault(value, f"{name}.{member}")
    return found


def of_errors() -> list[object]:
    """An error of each kind."""
    kinds = (
        PolyreluError,
        NetworkError,
        NotCoveredError,
        DomainError,
        CertificateError,
        ArgumentError,
    )
    made: list[object] = [kind("one sentence") for kind in kinds]
    made.append(NetworkFileError("net.onnx", "node 'act'", "only ReLU networks are supported"))
    return [*made, topology.UnfinishedError("interrupted"), walks.StepLimitError("10 steps")]


def of_network() -> list[object]:
    """Networks, their parts and patterns."""
    one = exact.RationalMatrix.identity(1)
    layer = network.Layer((network.Block(0, one),), exact.RationalMatrix.column([0]))
    blocks = (network.Block(0, one), network.Block(1, one))
    skip = network.Network(1, (layer, network.Layer(blocks, exact.RationalMatrix.column([0]))))
    signs = network.SignVector(((1, -1), (0,)))
    affine = network.AffineMap(
        exact.RationalMatrix.from_rows([["-1/2", 3]]), exact.RationalMatrix.column([10**30])
    )
    return [
        PLAIN,
        skip,
        network.from_arrays([([[1]], [0])] * 9),
        PLAIN.layers[0],
        PLAIN.layers[1].blocks[0],
        network.Block(0, exact.SparseMatrix.identity(200)),
        PLAIN.architecture,
        network.Architecture((2, 3), "relu"),
        network.LeakyStack(Fraction(1, 10), PLAIN),
        NeuronId(1, 3),
        signs,
        signs.activation_pattern,
        affine,
    ]


def of_exact() -> list[object]:
    """Matrices, polyhedra, linear programs and their results."""
    box = exact.Polyhedron.box([0, 0], [1, 1])
    program = exact.LinearProgram(2, lower=[0, 0])
    unbounded = program.maximize([0, 1])
    program.add_inequalities([[1, 2]], [3])
    best, inside = program.maximize([0, 1]), program.interior_point()
    assert isinstance(best, exact.Optimal)
    flat = exact.LinearProgram(2, lower=[0, 0])
    flat.add_inequalities([[1, 2], [-1, -2]], [3, -3])
    return [
        exact.RationalMatrix.from_rows([[1, "1/2"], [0, 3]]),
        exact.SparseMatrix.identity(3),
        box,
        exact.Polyhedron.from_constraints([], [], [[1, 1]], [0]),
        box.generators(),
        program,
        unbounded,
        best,
        best.multipliers,
        inside,
        flat.interior_point(),
        exact.ElasticProgram(
            np.zeros((0, 2)), np.zeros((0, 3)), np.ones((1, 3)), np.zeros(2), np.ones(2)
        ),
        exact.LinearProgram(1, lower=[1], upper=[0]).interior_point(),
        exact.SignSystem([[1, 0], [0, 1], [-1, -1]]),
        exact.SignSystem([[1, 0], [0, 1], [-1, -1]]).solve([1, 1, 1]),
        exact.Minor(7, (0, 2)),
        exact.SubsetSumSearch(),
        exact.SubsetSumSearch(subset=(0, 2)),
        exact.SubsetSumSearch(evidence={"method": "subset-sums"}),
        exact.FLOAT32,
    ]


def _queries() -> list[object]:
    """A query of VNN-LIB with its parts, a counterexample and the answer about it."""
    sizes = (1,)
    inputs, outputs = formats.Tensor("X", "Real", sizes), formats.Tensor("Y", "Real", sizes)
    declared = formats.DeclaredNetwork("", (inputs,), (outputs,))
    at_most_3 = formats.Constraint(((0, F(1)),), F(-3), "<=", 1)
    at_least_1 = formats.Constraint(((1, F(-1)),), F(1), "<=", 2)
    query = formats.VnnlibQuery("<i>y</i> >= 1", "1.0", (declared,), (at_most_3, at_least_1))
    given = formats.Counterexample("<i>example</i>", {"X_0": F(1, 2)})
    asked = formats.property_of(query)
    return [
        asked,
        asked.parts[0],
        asked.parts[0].clauses[0],
        asked.parts[0].clauses[0].rows[0],
        inputs,
        declared,
        at_most_3,
        formats.Conjunction((at_most_3, at_least_1)),
        formats.Disjunction((at_most_3,)),
        *query.cases(),
        query,
        given,
        formats.check_counterexample(query, given, [([[3]], [0])]),
    ]


def answers_about_properties(work: outcomes.ProofStatistics) -> list[Any]:
    """The three answers to the question whether a property holds."""
    source, doubts = "<i>y</i> >= 1", ("line 3: <b>",)
    point = formats.Counterexample(source, {"X_0": F(1, 3), "Y_0": F(3)})
    check = formats.CounterexampleCheck(True, F(2), F(0), ((F(3),),), None, "")
    net = network.from_arrays([([[1], [-1]], [0, 1])])
    same = proofs.same_decisions(net, net)
    assert isinstance(same, outcomes.SameDecisions)
    witness = outcomes.Witness((F(1),), (F(1), F(0)), (F(1), F(1)))
    return [
        same,
        outcomes.SameDecisions(same.certificate, F(1, 8), (0, 1), work),
        outcomes.DifferentDecisions(witness, F(0)),
        outcomes.DecisionsUndecided("a limit was reached", F(0)),
        outcomes.PropertyHolds(source, (), doubts, work),
        outcomes.PropertyFails(source, point, check, doubts),
        outcomes.PropertyUndecided(source, "a limit was reached", (F(-1, 3), None), doubts),
    ]


def of_formats() -> list[object]:
    """Records of what was read and written."""
    net = network.from_arrays([([[1, 2]], [3])])
    named = formats.Imported(
        net,
        "npz",
        (),
        (),
        notes=("<script>",),
        caveats=("a & b",),
        source="<b>.npz",
        source_sha256="0" * 64,
        comparison=formats.Comparison(reason="the <i>runtime</i> is missing"),
    )
    beyond = network.from_arrays([([[F(2) ** 100]], [0])])
    return [
        formats.read([([[1, 2]], [3])]),
        named,
        formats.Comparison(reason="not asked for"),
        formats.Comparison("onnxruntime", "", 8, 2, 0.5),
        formats.FloatOutputs("numpy float32, layer by layer", (0.5, 1.0)),
        formats.SavedNetwork((Path("out/net.onnx"),), "float32", F(0)),
        formats.SavedNetwork((Path("a\nb.onnx"),), "float64", F(1, 3)),
        formats.Slice(exact.Polyhedron.universe(2), (F(0), F(1)), ((F(1), F(0)),)),
        formats.Rounding(),
        formats.runtime_error([([[1, 1]], [0])], "box:0,1"),
        formats.runtime_error(beyond, ([0], [2**100])),
        formats.find_example("xor"),
        formats.ClaimsFile("<b>.json", {"counts": {"regions": 7}}),
        formats.Samples(np.zeros((4, 2)), np.zeros((1, 2)), None, np.zeros(1, dtype=np.int64)),
        *_queries(),
    ]


def of_certificate() -> list[object]:
    """Claims, certificates and their records."""
    line, one = exact.Polyhedron.universe(1), (F(1),)
    hypothesis = certificate.Hypothesis("bottleneck", "rank", {"method": "minor", "rows": [0]})
    claim = certificate.Claim("identifiable", ABSOLUTE, "all")
    notes = {"source": "<b>&.npz"}
    sign = certificate.SignRecord(0, 1, F(0), {}, {})
    log = certificate.TreeLog()
    log.add(certificate.NodeRecord([[sign]], 0))
    pair = certificate.PairClaim("equivalent", ABSOLUTE, ABSOLUTE, line)
    regions = certificate.RegionsClaim(ABSOLUTE, line, 2)
    whole, vertices = certificate.ComplexClaim(ABSOLUTE, line, (1, 2)), certificate.TreeLog()
    vertices.add(certificate.VertexRecord(0, [0]))
    segment, third = exact.Polyhedron.box([0], [1]), F(1, 3)
    outputs = certificate.OutputRange(0, (F(0), F(0)), (F(1), F(2)))
    part = certificate.SubBox((F(0),), (third,))
    row = certificate.LinearRow({0: F(1)}, {0: F(-1)}, {}, -third, is_strict=True)
    ranges = certificate.RangeClaim(ABSOLUTE, segment, (outputs,))
    cuts = certificate.TreeLog()
    cuts.add(certificate.BoundsNode("leaf"))
    text = certificate.CertificateText(
        "identifiable",
        "0" * 64,
        None,
        "network in <b>_\\input{x}.json",
        "all",
        "R^n",
        "affine",
        (("id", "a < b"),),
        {"<i>": "x & y"},
    )
    return [
        claim,
        certificate.PartClaim(ABSOLUTE, 1),
        certificate.RuntimeClaim(ABSOLUTE, one, one, "float32", one),
        pair,
        certificate.LipschitzClaim(ABSOLUTE, (1, 1), line, F(1, 2), F(1, 2)),
        certificate.SizeClaim(ABSOLUTE, "neurons-of-one-layer", 2),
        certificate.DimensionClaim(ABSOLUTE, line, 4, 5),
        certificate.InjectivityClaim("not-injective", ABSOLUTE, (1, 1), line),
        certificate.TeachingClaim(ABSOLUTE, 6, "function"),
        regions,
        whole,
        outputs,
        part,
        row,
        ranges,
        certificate.DeviationClaim(ABSOLUTE, ABSOLUTE, segment, (0,), F(0), third, (part,)),
        certificate.HoldsClaim(ABSOLUTE, segment, ((row,),), ABSOLUTE),
        certificate.DecisionsClaim(ABSOLUTE, ABSOLUTE, segment, third),
        certificate.LipschitzBoundClaim(ABSOLUTE, segment, (0,), "1", F(1), F(2)),
        certificate.BoundsCertificate(ranges, 44, ((F(0),), (F(1),)), cuts),
        certificate.BoundsNode("cut", coordinate=3),
        certificate.BoundsNode("sign", neuron=(1, 2, 0)),
        hypothesis,
        certificate.THEOREMS["bottleneck"],
        certificate.Certificate(claim, "bottleneck", (hypothesis,), notes),
        certificate.TreeCertificate(pair, one, log),
        certificate.RegionsCertificate(regions, log),
        certificate.VertexCertificate(whole, vertices),
        certificate.VertexRecord(5, [1, 3]),
        log,
        sign,
        certificate.SignRecord(3, -1, F(-1, 2), {0: F(1)}, {}),
        certificate.SignRecord(0, 1, F(10**60), {}, {}),
        certificate.NodeRecord([[], []], None),
        certificate.NodeRecord([[sign]], 4),
        text,
    ]


def of_complex() -> list[object]:
    """A complex, a region graph, a skeleton, and their parts."""
    cells = complex.canonical_complex(DEEP)
    regions = complex.region_graph(DEEP)
    return [
        cells,
        complex.canonical_complex(ABSOLUTE),
        complex.bent_hyperplane(cells, NeuronId(2, 0)),
        complex.Cell(1, 4),
        cells.frame,
        cells.generators,
        cells.facet_forms(cells.common_facets()),
        regions,
        regions.region(0),
        complex.count_regions(DEEP),
        next(complex.walk_regions(DEEP)),
        complex.skeleton(DEEP),
    ]


def of_breakpoints() -> list[object]:
    """A breakpoint complex, the maps that it gives back, and tropical forms."""
    cells = complex.canonical_complex([([[2, 0], [0, 1]], [-1, 0]), ([["-1/2", 3]], [0])])
    found = breakpoints.breakpoint_complex(cells)
    (form,) = breakpoints.tropical_form(cells)
    (convex,) = breakpoints.tropical_form(complex.canonical_complex(ABSOLUTE))
    return [
        found,
        next(iter(found)),
        breakpoints.reconstruct(found, 0, cells.region(0).affine_map),
        form,
        form.numerator,
        form.denominator,
        form.numerator.dual_subdivision[-1],
        convex,
    ]


def of_walks() -> list[object]:
    """Walks and what they meet."""
    line = walks.walk_line(DEEP, [-1, "1/2"], [1, 0], end=7)
    cells = list(line)
    second = NeuronId(2, 0)
    bent = walks.walk_bent_hyperplane(DEEP, second, [0, 0], AXES, start=["1/2", "1/2"])
    pieces = list(bent)
    tied = network.from_arrays([([[1, 0], [0, 1], [1, 1]], [0, 0, 0]), ([[1, 1, 1]], [0])])
    tie = next(walks.walk_bent_hyperplane(tied, NeuronId(1, 0), [0, -1], AXES)).end
    assert isinstance(tie, walks.Tie)
    assert isinstance(pieces[0].end, walks.CrossingPoint)
    corner = pieces[0].end
    return [
        walks.AffineSlice(DEEP, [0, 0], AXES),
        line,
        cells[0],
        cells[2],
        cells[0].end,
        bent,
        *pieces,
        walks.Corner(corner.plane, corner.cell, corner.at, corner.near),
        corner,
        tie,
        tie.star,
        tie.star.rays[0],
        bent.statistics,
    ]


def of_symmetry() -> list[object]:
    """Normal forms and domains of layers."""
    half_line = exact.Polyhedron.box([0, None], [None, None])
    return [
        symmetry.absolute_value_form(*ABSOLUTE.layers),
        symmetry.Matching((0, -1), (Fraction(2), Fraction(1))),
        symmetry.LayerDomain.whole_space(3),
        symmetry.LayerDomain.orthant(2),
        symmetry.LayerDomain.of(half_line),
    ]


def of_conditions() -> list[object]:
    """Conditions with evidence."""
    first, second = NeuronId(1, 0), NeuronId(2, 1)
    piece = conditions.AffinePiece(second, ((0, 2),), (F(1, 2), F(3)))
    product = conditions.MaskedProduct(1, ((0, 1), (0,)), 1)
    crossing = conditions.TransverseCrossing(first, second, complex.Cell(0, 3))
    holds: conditions.Condition[None] = conditions.Condition("transparent", "holds", 7, "regions")
    unchecked: conditions.Condition[None] = conditions.Condition(
        "generic", "unchecked", 5, "cells", reason="5 < 9 cells"
    )
    return [
        holds,
        unchecked,
        conditions.Parts((holds, unchecked)),
        piece,
        conditions.CollinearPieces(conditions.AffinePiece(first, (), (F(1),)), piece),
        crossing,
        conditions.Crossings((crossing,), ()),
        conditions.Crossings((), ((first, second),)),
        product,
        conditions.DeficientProduct(product, 2),
        conditions.WrongCell(complex.Cell(0, 4), 2, 3, (F(0),)),
        conditions.InvisibleFacet(complex.Cell(0, 0), (0, 1), (F(0),)),
        conditions.OpaqueRegion(2, 1, (F(-1),)),
        conditions.ZeroExtremum(second, complex.Cell(0, 0), "maximum", (F(0),)),
        conditions.Limits(products=5),
    ]


def of_fibers() -> list[object]:
    """Fibers and their parts."""
    found, hiding = fibers.fiber(ABSOLUTE), fibers.fiber(HIDING)
    layer = fibers.layer_fiber(ABSOLUTE, 1)
    component = layer.component(layer.given_assignment)
    remainder = exact.RationalMatrix.from_rows([[1, -1]])
    available = fibers.AvailableNeurons(exact.RationalMatrix.zeros(0, 2), num_pairs=0, num_linear=2)
    part = fibers.LinearPart(remainder, available, symmetry.LayerDomain.orthant(2))
    return [
        found,
        hiding,
        *found.components,
        *hiding.components,
        hiding.components[0].conditions(),
        layer,
        layer.given_assignment,
        fibers.NeuronAssignment((), ((1, 1),), 2, 1),
        component,
        component.member(),
        available,
        part,
        part.realisation(),
        fibers.nonnegative_column_rank(remainder),
        fibers.hidden_hyperplane(HIDING, 1),
        fibers.not_localizable((2, 2, 2, 2, 1)),
        fibers.smallest_layer(layer),
        fibers.simplify_layers(ABSOLUTE),
    ]


def of_foldsets() -> list[object]:
    """Surfaces, pieces, images and paths."""
    cells = complex.canonical_complex(DEEP)
    surface = foldsets.canonical_surface(foldsets.unit_fold_sets(cells))
    made = foldsets.construct_identifiable((2, 2, 1))
    path = foldsets.DependencyPath(
        2, network.SignVector(((1, -1),)), ((1, 0, 0), (1, 1, -1)), ((F(1, 2), F(0)),)
    )
    return [
        surface,
        surface.pieces[0],
        *foldsets.image_parts(cells, 0),
        *foldsets.image_parts(cells, 1),
        made,
        path,
        *_comparisons(),
        foldsets.region_counts(cells),
        foldsets.dual_graph_statistics(cells),
        foldsets.functional_dimension(DEEP),
    ]


def _comparisons() -> list[object]:
    """Comparisons of functions, and what a function shows of its neurons."""
    found = foldsets.compare_breakpoints(ABSOLUTE, [([[1]], [3])])
    first, second = NeuronId(1, 0), NeuronId(2, 1)
    return [
        found,
        found.different_weights,
        foldsets.compare_breakpoints(ABSOLUTE, ABSOLUTE),
        foldsets.Anchor(first, second, (F(1, 2),)),
        foldsets.HiddenFold(complex.Cell(0, 3), (first, second), (F(1, 2),)),
        foldsets.clique_instance(2, 2, [((0, 0), (1, 1))]),
    ]


def of_topology() -> list[object]:
    """Level sets, homology and intervals."""
    three = network.from_arrays([([[1, 0], [0, 1], [0, 0]], [0, 0, 0])])
    return [
        topology.level_set(ABSOLUTE, "1/2"),
        topology.superlevel_set(three, -1, output=1),
        topology.decision_boundary(three),
        topology.decision_region(three, 2),
        topology.Homology((1, 1, 0), ((), (2,), ()), 0, 0),
        topology.Homology((3, 0), ((), (2, 2, 4)), 3, 3),
        topology.Homology((0, 0), ((), ()), 0, 0),
        topology.PersistenceInterval(1, F(-1, 2), F(3)),
        topology.PersistenceInterval(0, F(2), None),
    ]


def of_dynamics() -> list[object]:
    """Linear neurons and what training conserves."""
    net = network.from_arrays([([[1, 2], ["1/2", 0], [1, -1]], [1, 1, 0]), ([[1, 3, 1]], [5])])
    evidence = dynamics.linear_evidence(net, 1, "orthant")
    return [
        evidence,
        evidence.proofs[0],
        *dynamics.conserved_quantities(net, "orthant"),
        *dynamics.conserved_quantities(net),
        dynamics.translation_has_no_quantity((1, 1, 1, 1)),
    ]


def of_corpus() -> list[object]:
    """An entry, and a claim that is wrong."""
    entry = corpus.find_entry("sattelberg-triangle")
    return [entry, *entry.claims]


def of_attributes() -> list[object]:
    """Objects of the room attributes."""
    maps = attributes.float_maps(ABSOLUTE, [[1], [2], [-1]])
    return [
        attributes.exact_maps(ABSOLUTE, [[1], [2], [-1]]),
        maps,
        attributes.cluster_maps(maps, 1),
        attributes.ClusteringRow(10, 7),
        attributes.dual_map(maps, maps),
        attributes.shared_patterns(maps),
    ]


def of_plot() -> list[object]:
    """A picture, a view, an animation and a mesh."""
    square = complex.canonical_complex([([[1, 1]], [0]), ([[1]], [0])], "box:-1,1")
    cube = complex.canonical_complex([([[1, 0, 0]], [0]), ([[1]], [0])], "box:-1,1")
    return [
        plot.picture([([[1, 1]], [0]), ([[1]], [0])], what="complex"),
        plot.view_of(square),
        plot.Animation("a <b>", (), 0.5),
        plot.mesh_of(complex.bent_hyperplane(cube, NeuronId(1, 0))),
    ]


def of_report() -> list[object]:
    """A report with a name of a stranger."""
    return [report.report(ABSOLUTE, "box:-1,1", name="<script>", budget=100)]


def of_training() -> list[object]:
    """A recorder, its history and snapshots."""
    recorder = training.TrainingRecorder(ABSOLUTE, "box:-1,1")
    recorder(loss=0.5)
    return [recorder, recorder.history, *recorder.history]


def of_proofs() -> list[object]:
    """Answers, and what they say."""
    zero = network.from_arrays([([[0]], [0])])
    unused = network.from_arrays([([[1], [2]], [0, 1]), ([[1, 0]], [0])])
    attempt = outcomes.Attempt("shallow", "a weight of <b> is 0", ("neuron 0",))
    work = outcomes.ProofStatistics(num_nodes=2, closed=0.25)
    identified, different = proofs.identify(ABSOLUTE), proofs.equivalent(ABSOLUTE, zero)
    refuted = proofs.identify(unused)
    assert isinstance(identified, outcomes.Identifiable)
    assert isinstance(refuted, outcomes.NotIdentifiable)
    part: Any = certificate.Certificate(certificate.PartClaim(DEEP, 1), "deep-part", ())
    one, other = (network.from_arrays([([[slope]], [0])]) for slope in (1, 3))
    slopes = proofs.lipschitz_bounds(one, "box:0,1", norm="2")
    assert isinstance(slopes, outcomes.LipschitzBounds)
    values = proofs.output_range(one, "box:0,1")
    assert isinstance(values, outcomes.RangeBounds)
    return [
        proofs.deviation(one, other, "box:0,1"),
        proofs.deviation(one, other, "box:0,1", at_most=1),
        values,
        values.ranges[0],
        slopes,
        outcomes.BoundStatistics(num_nodes=3, num_leaves=2, num_points=9, num_boxes=1),
        identified,
        refuted,
        proofs.equivalent(ABSOLUTE, ABSOLUTE),
        different,
        proofs.certify_regions(complex.canonical_complex(ABSOLUTE), method="tree"),
        proofs.certify_complex(complex.canonical_complex(ABSOLUTE)),
        outcomes.PartlyIdentifiable(part),
        outcomes.Proved(identified.certificate),
        outcomes.Refuted(refuted.certificate),
        outcomes.Undecided("no theorem applied", (attempt,), work),
        *answers_about_properties(work),
        attempt,
        refuted.next[0],
        work,
        outcomes.SearchStatistics(route="points", num_points=3),
        outcomes.InjectivityStatistics(num_nodes=6, num_active=4),
        outcomes.Collision((F(1), F(1, 3)), (F(1), F(2)), (F(0),)),
        proofs.injective(ABSOLUTE, layers=1),
        proofs.inverse_lipschitz(ABSOLUTE, layers=1),
        proofs.size_bound(ABSOLUTE),
        proofs.minimal_network(ABSOLUTE),
        proofs.certify_functional_dimension(ABSOLUTE),
        outcomes.NearPair((F(1),), (F(2),), (F(1),), (F(1),)),
        proofs.injective(zero),
        outcomes.Witness((F(1), F(1, 3)), (F(2),), (F(1, 2),)),
        proofs.simplify(unused),
        proofs.injective_kernels([[[1]], [[-1]]]),
        proofs.teaching_set([([[2]], [3]), ([[4]], [5])]),
        proofs.exact_inverse_lipschitz(ABSOLUTE, layer=1),
        proofs.made_injective([([[1]], [0])], "box:-1,1"),
    ]


def of_audit() -> list[object]:
    """Claims, reports and findings."""
    truth = audit.ground_truth(ABSOLUTE, "box:-1,1")
    report = audit.audit_regions(truth, audit.SignVectors([[1, -1], [1, 1]]))
    return [
        truth,
        audit.SignVectors([[1, -1]]),
        audit.ActivationPatterns([[1, 0]]),
        audit.LocalMaps([[0.5]]),
        audit.HalfSpaces.of([([[1]], [1])]),
        audit.VertexLists.of([[[0], [1]]]),
        audit.Allowance(),
        audit.Allowance("4", "1/1000", "float32"),
        audit.EXACT,
        report,
        *report.findings,
        audit.AuditReport("<i>counts</i>", ("right",), 0, (), 0, "equal", ("a & b",)),
        audit.Cause("sliver", "it is thin"),
    ]


#: The objects of each room; building all of them takes about a second.
BUILDERS: tuple[Callable[[], list[object]], ...] = (
    of_errors,
    of_network,
    of_exact,
    of_formats,
    of_certificate,
    of_complex,
    of_breakpoints,
    of_walks,
    of_symmetry,
    of_conditions,
    of_fibers,
    of_foldsets,
    of_topology,
    of_dynamics,
    of_corpus,
    of_attributes,
    of_plot,
    of_report,
    of_training,
    of_proofs,
    of_audit,
)
