"""Files of claims: the three formats say the same, and hostile files are refused in one line."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

from polyrelu import audit, save
from polyrelu.errors import DomainError, PolyreluError
from polyrelu.formats import read_claims
from polyrelu.formats.claims.claims_file import CLAIMS, SETTINGS
from polyrelu.symmetry import permute
from tests.generators.files import ROOT
from tests.generators.planted_faults import BOX, float_answers, small_network

NET = small_network(1)
HEAD = {"format": "polyrelu claims", "version": 1}


@pytest.fixture(scope="module")
def truth() -> audit.GroundTruth:
    return audit.ground_truth(NET, BOX)


def written(folder: Path, document: Any, name: str = "claims.json") -> Path:
    path = folder / name
    text = document if isinstance(document, str) else json.dumps({**HEAD, **document})
    path.write_text(text, "utf-8")
    return path


def everything(truth: audit.GroundTruth, folder: Path) -> dict[str, Any]:
    """All claims that a file can make, right ones."""
    given = float_answers(truth)
    points = given["points"]
    values = [[float(y) for y in row] for row in NET.evaluate(points)]
    save(permute(NET, 1, [1, 0, 2, 3, 4]), folder / "other.json")
    (folder / "query.vnnlib").write_text(
        "(declare-const X_0 Real)(declare-const X_1 Real)(declare-const Y_0 Real)"
        "(declare-const Y_1 Real)(assert (<= X_0 1.0))(assert (>= Y_0 -100.0))"
    )
    (folder / "found.txt").write_text("sat\n((X_0 0.5)\n (X_1 0.25))\n")
    boundary = audit.audit_topology(NET, [], "boundary", BOX)
    betti = [int(f.size or 0) for f in boundary.findings] or [0]
    return {
        "tool": "a perfect tool",
        "domain": BOX,
        "signs": given["signs"].tolist(),
        "activations": (given["signs"] > 0).astype(int).tolist(),
        "interior_points": points.tolist(),
        "matrices": given["matrices"].tolist(),
        "offsets": given["offsets"].tolist(),
        "half_spaces": [{"A": a, "c": c} for a, c in given["spaces"]],
        "vertex_lists": [v.tolist() for v in given["vertices"]],
        "vertices": truth.vertex_floats.tolist(),
        "edges": list(map(list, truth.edges)),
        "counts": {"regions": truth.num_regions},
        "adjacency": truth.cells.adjacency().tolist(),
        "output_points": points.tolist(),
        "output_values": values,
        "gradients": given["matrices"].tolist(),
        "lower": ["-1000", -1e6],
        "upper": [1e6, "10000/3"],
        "lipschitz": {"constant": 1000, "norm": "linf"},
        "deviation": {"other": "other.json", "at_most": "1/1000"},
        "radius_points": [[0.5, 0.25]],
        "radii": [1e-9],
        "radius_norm": "l2",
        "labels": [int(NET([0.5, 0.25])[1] > NET([0.5, 0.25])[0])],
        "counterexamples": {"query": "query.vnnlib", "files": ["found.txt"]},
        "matching": {"other": "other.json", "permutations": [[1, 0, 2, 3, 4], [0, 1, 2, 3]]},
        "function": "other.json",
        "topology": {"kind": "boundary", "betti": betti},
        "persistence": {"intervals": [], "output": 1},
    }


def test_every_claim_in_one_file(truth: audit.GroundTruth, tmp_path: Path) -> None:
    pytest.importorskip("gudhi")
    document = everything(truth, tmp_path)
    schema = json.loads((files("polyrelu") / "schemas" / "claims.schema.json").read_text())
    validator = jsonschema.Draft202012Validator(schema)
    validator.validate({**HEAD, **document})
    reports = audit.audit_claims(NET, written(tmp_path, document))
    differs = [report.subject for report in reports if not report.agrees]
    assert differs == ["persistence diagram"]
    assert len({report.subject for report in reports}) == len(reports) == 20
    for key in ("cat", "persistance"):
        assert not validator.is_valid({**HEAD, **document, key: 1})


def test_the_schema_has_all_names() -> None:
    schema = json.loads((files("polyrelu") / "schemas" / "claims.schema.json").read_text())
    assert set(schema["properties"]) == {*CLAIMS, *SETTINGS, *HEAD}
    page = (ROOT / "docs" / "how-to" / "audit.md").read_text(encoding="utf-8")
    assert not [name for name in (*CLAIMS, *SETTINGS) if f"`{name}`" not in page]


def test_the_page_has_all_causes() -> None:
    page = (ROOT / "docs" / "how-to" / "audit.md").read_text(encoding="utf-8")
    sources = (ROOT / "polyrelu" / "audit").rglob("*.py")
    text = "".join(path.read_text(encoding="utf-8") for path in sources)
    named = set(re.findall(r'Cause\(\s*"([a-z0-9 ]+)"', text))
    assert len(named) > 15
    assert not [name for name in named if f"| {name} |" not in page]


def test_archives_say_the_same(truth: audit.GroundTruth, tmp_path: Path) -> None:
    given = float_answers(truth)
    rows = [np.column_stack(pair) for pair in given["spaces"]]
    np.savez(
        tmp_path / "claims.npz",
        domain=BOX,
        complete=True,
        signs=given["signs"],
        interior_points=given["points"],
        matrices=given["matrices"],
        half_spaces=np.concatenate(rows),
        half_spaces_regions=np.repeat(np.arange(len(rows)), list(map(len, rows))),
        vertices=truth.vertex_floats,
        edges=np.array(list(truth.edges)),
        upper=np.array([1e6, np.inf]),
    )
    reports = audit.audit_claims(NET, tmp_path / "claims.npz")
    assert [report.agrees for report in reports] == [True] * 6


def tables(truth: audit.GroundTruth) -> Iterator[tuple[str, str]]:
    """CSV texts with the subject of the report on each."""
    given = float_answers(truth)

    def csv(header: str, rows: Any) -> str:
        """Return a CSV text."""
        lines = [",".join(map(repr, map(float, row))) for row in rows]
        return "\n".join([f"# domain: {BOX}", "# just a remark", header, *lines, ""])

    width = given["signs"].shape[1]
    yield "regions as sign vectors", csv(",".join(f"s_{k}" for k in range(width)), given["signs"])
    on = ",".join(f"on_{k}" for k in range(width))
    yield "regions as activation patterns", csv(on, given["signs"] > 0)
    yield "vertices", csv("v_0,v_1", truth.vertex_floats)
    yield "regions as interior points", csv("x_0,x_1", given["points"])
    maps = np.column_stack([given["points"], given["matrices"].reshape(-1, 4), given["offsets"]])
    names = "x_0,x_1,m_0_0,m_0_1,m_1_0,m_1_1,b_0,b_1"
    yield "regions as interior points", csv(names, maps)
    spaces = [
        [k, *row, right]
        for k, (a, c) in enumerate(given["spaces"])
        for row, right in zip(a, c, strict=True)
    ]
    yield "regions as half-spaces", csv("region,a_0,a_1,c", spaces)
    lists = [[k, *point] for k, points in enumerate(given["vertices"]) for point in points]
    yield "regions as vertex lists", csv("region,v_0,v_1", lists)
    values = [[float(y) for y in row] for row in NET.evaluate(given["points"])]
    pairs = np.column_stack([given["points"], values])
    yield "outputs at points", csv("x_0,x_1,y_0,y_1", pairs)
    gradients = np.column_stack([given["points"], given["matrices"].reshape(-1, 4)])
    yield "gradients at points", csv("x_0,x_1,g_0_0,g_0_1,g_1_0,g_1_1", gradients)
    yield "output bounds", csv("output,lower,upper", [[0, -1e6, 1e6], [1, -1e6, np.inf]])
    yield "certified radii", csv("x_0,x_1,radius", [[0.5, 0.25, 1e-9]])


def test_tables_say_the_same(truth: audit.GroundTruth, tmp_path: Path) -> None:
    found = list(tables(truth))
    for subject, text in found:
        (report,) = audit.audit_claims(NET, written(tmp_path, text, "claims.csv"))
        assert (report.subject, report.agrees) == (subject, True)
        assert report.counts["right"] > 0
    assert len(found) == 11
    counts = written(tmp_path, "count,value\nregions,7\n", "claims.csv")
    assert not audit.audit_claims(NET, counts, BOX)[0].agrees
    intervals = written(tmp_path, "dimension,birth,death\n0,1/3,inf\n", "claims.csv")
    assert read_claims(intervals).claims["persistence"]["intervals"][0][1] != 1 / 3


def test_settings_are_used(tmp_path: Path) -> None:
    vertices = [[x + 1e-7 for x in row] for row in audit.ground_truth(NET, BOX).vertex_floats]
    claims = {"domain": BOX, "vertices": vertices}
    assert not audit.audit_claims(NET, written(tmp_path, claims))[0].agrees
    loose = written(tmp_path, claims | {"absolute": "1/1000000", "ulps": 0})
    (report,) = audit.audit_claims(NET, loose)
    assert report.agrees
    assert "1/1000000" in report.rule
    some = written(tmp_path, {"domain": BOX, "signs": [], "complete": False})
    assert audit.audit_claims(NET, some)[0].agrees


WRONG_JSON: dict[str, Any] = {
    "claims.json: cannot read": "{",
    "nested too deeply": "[" * 100_000,
    "expected an object": "[1]",
    "a key stands twice": '{"a": 1, "a": 2}',
    "write them first": "{}",
    '"version": 1; write them first': '{"format": "polyrelu claims", "version": true, "signs": []}',
    "an integer of 5000 digits": f'{{"a": {"9" * 5000}}}',
    "it makes no claims": {},
    "'cats', which is no claim": {"cats": 1},
    "domain: a file of claims may name": {"domain": "secret.json", "signs": [[1]]},
    "tool: expected name": {"tool": ["x"], "signs": [[1]]},
    "complete: expected whether": {"complete": "yes", "signs": [[1]]},
    "9 hidden neurons": {"signs": [[1]]},
    "signs: the rows have different lengths": {"signs": [[1], [1, 2]]},
    "signs: expected lists": {"signs": "1,1"},
    "'cat' is not exact text": {"vertices": [["cat", 1]]},
    "counts: expected an object": {"counts": [1]},
    "'cats' is not counted": {"counts": {"cats": 1}},
    "edges: the file has no list of vertices": {"edges": [[0, 1]]},
    "adjacency: the file has no list of regions": {"adjacency": [[0, 1]]},
    "output_values: the file has no output_points": {"output_values": [[1]]},
    "expected the name of a file beside": {"function": "../../etc/passwd"},
    "unknown key 'cat'": {"lipschitz": {"constant": 1, "cat": 2}},
    "the key 'constant' is missing": {"lipschitz": {"norm": "l2"}},
    "the key 'other' is missing": {"deviation": {"at_most": 1}},
    "half_spaces: expected a list of objects": {"half_spaces": [[1, 2]]},
    "number them from 0 without gaps": {"half_spaces": {"rows": [[1, 2, 3]], "regions": [10**12]}},
    "vertex_lists: expected a list": {"vertex_lists": 3},
    "ulps": {"ulps": "many", "signs": [[1] * 9]},
    "radii: expected lists or an array": {"radii": 3},
    "topology: expected an object": {"topology": 3},
    "files: expected a list": {"counterexamples": {"query": "q.vnnlib", "files": "f"}},
}


@pytest.mark.parametrize("words", WRONG_JSON)
def test_wrong_json(words: str, tmp_path: Path) -> None:
    path = written(tmp_path, WRONG_JSON[words])
    with pytest.raises(PolyreluError) as caught:
        audit.audit_claims(NET, path)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 1000


WRONG_CSV = {
    "no header line": "# tool: x\n",
    "line 1: a header": "a,b,c\n1,2,3\n",
    "line 2: 1 entries under 2 columns": "v_0,v_1\n1\n",
    "line 2: 'cat' is not a number": "v_0\ncat\n",
    "line 2: expected a name": "count,value\nregions,many\n",
    "line 1: complete": "# complete: perhaps\nv_0\n1\n",
    "must be 0, 1, 2": "output,lower,upper\n1,0,1\n",
    "do not fit 2 inputs": "x_0,x_1,g_0_0\n1,2,3\n",
    "the columns x_. must stand in the order": "x_1,x_0,y_0\n1,0,5\n",
    "the columns s_. must stand in the order": "s_5,s_5,s_0\n1,1,1\n",
    "the columns m_. must stand in the order": "x_0,x_1,m_0_0,m_1_0,m_0_1,m_1_1\n1,1,1,1,1,1\n",
    "the columns g_. must stand in the order": "x_0,x_1,g_0_0,g_1_1\n1,1,1,1\n",
    "line 3: 'regions' is given twice": "count,value\nregions,7\nregions,6\n",
    "line 2: domain is given twice": "# domain: box:-1,1\n# domain: R^n\ns_0\n1\n",
    "more than 100000 columns": ",".join(["s_0"] * 100_001),
}


@pytest.mark.parametrize("words", WRONG_CSV)
def test_wrong_csv(words: str, tmp_path: Path) -> None:
    with pytest.raises(DomainError, match=words):
        read_claims(written(tmp_path, WRONG_CSV[words], "claims.csv"))


def test_wrong_archives(tmp_path: Path) -> None:
    path = tmp_path / "claims.npz"
    np.savez(path, half_spaces=np.ones((1, 3)))
    with pytest.raises(DomainError, match="half_spaces_regions is missing"):
        read_claims(path)
    np.savez(path, counts=np.ones(1))
    with pytest.raises(DomainError, match="use JSON"):
        read_claims(path)
    np.savez(path, signs=np.array([{}], dtype=object))
    with pytest.raises(DomainError, match="not a readable"):
        read_claims(path)
    # An archive of a few kilobytes that says it holds an array of gigabytes.
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "<f8", "fortran_order": False, "shape": (10**5, 10**4)}
    )
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("signs.npy", header.getvalue() + bytes(10**6))
    with pytest.raises(DomainError, match="numbers, more than"):
        read_claims(path)
    path.write_bytes(b"PK")
    with pytest.raises(DomainError):
        read_claims(path)
    for name in ("claims.txt", "claims"):
        with pytest.raises(DomainError, match="are read from"):
            read_claims(tmp_path / name)
    with pytest.raises(DomainError, match="No such file"):
        read_claims(tmp_path / "none.json")


def test_a_file_and_its_caller_name_the_same_domain(tmp_path: Path) -> None:
    path = written(tmp_path, {"domain": BOX, "counts": {"regions": 1}})
    assert audit.audit_claims(NET, path, BOX) == audit.audit_claims(NET, path)
    with pytest.raises(DomainError, match=r"names the domain box.*, which is another one"):
        audit.audit_claims(NET, path, "R^n")
