"""The examples of papers, with what they claim.

False claims are included; docs/theory/corrections.md explains them.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from benchmarks.corpus.specimen import Claim, Specimen, layered
from polyrelu.foldsets import clique_instance

__all__ = ["papers"]

_THREE_LAYERS = "Gegenfurtner, Grillo, Montúfar (2026), arXiv 2605.18319"
_PHUONG = "Phuong, Lampert (2020)"
_SATTELBERG = "Sattelberg et al. (2023)"
_PUTHAWALA = "Puthawala et al. (2020), arXiv 2006.08464"
_ROLNICK = "Rolnick, Kording (2020), arXiv 1910.00744"
_PLANE = ([[1, 0], [0, 1]], [0, 0])
_ONE = ([[1]], [0])


def papers() -> Iterator[Specimen]:
    """Yield the networks of all papers."""
    yield from _three_layers()
    yield from _theorem_5()
    yield from _phuong_lampert()
    yield from _sattelberg()
    yield from _puthawala()
    yield from _others()


def _three_layers() -> Iterator[Specimen]:
    for shift in (10, 20):
        X = 2**shift
        slope, scale = Fraction(1, X), 5 * X + 56
        yield Specimen(
            f"three-layer-lemma-9-{shift}",
            "paper",
            layered(
                ([[1, 1], [1, -1], [slope, 1]], [10, 11, 0]),
                ([[1, -1, -3], [3, -1, 1], [2, 3, -1]], [3, 8, 2]),
                ([[-3 * scale, 5 * scale, -(10 * X + 134)]], [19 * scale]),
                _ONE,
            ),
            f"Three bent lines meet in the point (2^{shift}, -1); for 2^{shift} → ∞ they never do.",
            tags=("false-claim",),
            source=f"{_THREE_LAYERS}, Lemma 9",
            claims=(
                Claim(
                    "Near every parameter that is generic by Definition 8 all are generic.",
                    False,
                    f"(2^{shift}, -1) is a vertex with three zeros",
                ),
            ),
        )
    for name, layer, last, sentence in (
        ("hidden", ([[2, -1]], [-1]), _ONE, "off where neuron 0 of layer 1 bends: hidden."),
        ("visible", ([[2, 1], [1, 3]], [1, -1]), ([[1, 2]], [0]), "on where layer 1 bends."),
    ):
        yield Specimen(
            f"three-layer-{name}",
            "paper",
            layered(_PLANE, layer, last),
            f"Layer 2 is {sentence}",
            source=f"{_THREE_LAYERS}, Definition 3",
        )
    rows, bias = [[2, -1], [-1, -1], [-1, 2]], [1, 2, -3]
    for name, factor, twins in (
        ("three-layer-sum-zero", 1, (("three-layer-sum-zero-flipped", ("R^n",)),)),
        ("three-layer-sum-zero-flipped", -1, ()),
    ):
        yield Specimen(
            name,
            "paper",
            layered(
                _PLANE,
                ([[factor * x for x in row] for row in rows], [factor * b for b in bias]),
                ([[1, 1, 1]], [0]),
            ),
            "The rows of layer 2 add up to 0, so that all its neurons can be flipped at once.",
            source=_THREE_LAYERS,
            twins=twins,
        )


def _theorem_5() -> Iterator[Specimen]:
    claim = Claim(
        "The parameter is identifiable, since it has none of the three sign patterns.",
        False,
        "a network that is not related has the same function",
    )
    for letter, hidden, twins in (
        (
            "a",
            [([[1]], [0]), ([[-1]], [1]), ([[1]], [0])],
            (("three-layer-theorem-5-b", ("R^n",)),),
        ),
        ("b", [([[-1]], [1]), ([[-1]], [1]), ([[-1]], [1])], ()),
    ):
        yield Specimen(
            f"three-layer-theorem-5-{letter}",
            "paper",
            layered(*hidden),
            "σ(1 - σ(x)) = 1 - σ(1 - σ(1 - x)): two networks with n_1 = 1 and one function.",
            tags=("false-claim",),
            source=f"{_THREE_LAYERS}, Theorem 5",
            claims=(claim,),
            twins=twins,
        )


def _phuong_lampert() -> Iterator[Specimen]:
    yield Specimen(
        "phuong-lampert-general",
        "paper",
        layered(_PLANE, ([[1, 2], [3, -1]], [1, 5]), ([[1, 1]], [0])),
        "Both neurons of layer 2 are constant where layer 1 is off.",
        tags=("false-claim",),
        source=f"{_PHUONG}, section 3",
        claims=(
            Claim(
                "Linear functions of two units on any of their regions are not multiples.",
                False,
                "on x, y < 0 both are constant",
            ),
        ),
    )
    yield Specimen(
        "phuong-lampert-lemma-3",
        "paper",
        layered(([[3, -5], [-1, -5]], [3, -4]), ([[1, -2], [5, -5]], [3, 1]), ([[3, -3]], [-5])),
        "A fold of layer 2 that is a whole line cuts another fold of layer 2.",
        tags=("false-claim",),
        source=f"{_PHUONG}, Lemma 3",
        claims=(
            Claim(
                "A directed path of length m from a fold bounds its layer by L - 1 - m.",
                False,
                "the dependency graph has such a path from layer 2",
            ),
        ),
    )
    yield Specimen(
        "phuong-lampert-surface",
        "paper",
        layered(([[-3, 3], [3, -2]], [2, -1]), ([[3, 3], [1, -2]], [-3, 6]), ([[1, 2]], [1])),
        "Folds of two layers as a piece-wise linear surface of order 2.",
        box=(Fraction(-1), Fraction(1)),
        source=f"{_PHUONG}, Definition A.1",
    )
    yield Specimen(
        "phuong-lampert-increasing",
        "paper",
        layered(
            ([[1, 0], [0, 1], [-1, 1]], [0, 0, -2]),
            ([[2, 3, 3], [2, -1, 2]], [-1, 1]),
            ([[1, 1]], [0]),
        ),
        "Widths 2-3-2-1 increase, and the network is identifiable among regular ones all the same.",
        box=(Fraction(-4), Fraction(4)),
        tags=("false-claim",),
        source=f"{_PHUONG}, section 6",
        claims=(
            Claim(
                "No network of an architecture with increasing widths is identifiable.",
                False,
                "the ridges in the box determine this one",
            ),
        ),
    )


def _sattelberg() -> Iterator[Specimen]:
    yield Specimen(
        "sattelberg-triangle",
        "paper",
        layered(_PLANE, ([[-1, -1]], [1]), _ONE),
        "σ(1 - σ(x) - σ(y)) has width two and a bounded region, the triangle x, y ≥ 0, x + y ≤ 1.",
        tags=("false-claim",),
        source=f"{_SATTELBERG}, section 3.1",
        claims=(
            Claim(
                "In width at most two every polytope extends to infinity.", False, "the triangle"
            ),
        ),
        levels=(Fraction(1, 2),),
    )
    yield Specimen(
        "sattelberg-xor",
        "paper",
        layered(([[1, 1], [1, 1]], [1, 0]), ([[2, -4]], [-1])),
        "The XOR network of equation (2): parallel lines, three regions, and an empty pattern.",
        source=f"{_SATTELBERG}, equations (2) and (3)",
        claims=(
            Claim(
                "Of the four activation patterns one has an empty polytope.", True, "three regions"
            ),
        ),
    )


def _puthawala() -> Iterator[Specimen]:
    rows = [[1, 0], [0, 1], [-1, 0], [0, -1]]
    for name, weights, bias, holds in (
        ("puthawala-lemma-1", rows, [1, 1, -1, -1], True),
        ("puthawala-lemma-1-plus", rows[:2], [0, 0], False),
        ("puthawala-doubled", rows, [0, 0, 0, 0], True),
        ("puthawala-three-rows", rows[:3], [0, 0, 0], False),
        ("puthawala-strips", rows, [1, 1, 1, 2], True),
    ):
        is_claim = name.startswith("puthawala-lemma-1")
        yield Specimen(
            name,
            "paper",
            layered((weights, bias), last="relu"),
            f"One layer of ReLUs on the plane that is {'' if holds else 'not '}injective.",
            tags=("injectivity", *(("false-claim",) if is_claim else ())),
            source=f"{_PUTHAWALA}, {'Lemma 1' if is_claim else 'Theorem 1'}",
            claims=(
                Claim(
                    "σ(Wx + b) is injective if and only if the rows with b_i ≥ 0 are.",
                    False,
                    "W = [I; -I], b = (1, 1, -1, -1) is injective, and I is not",
                ),
            )
            if is_claim
            else (),
        )
    yield Specimen(
        "puthawala-deep",
        "paper",
        layered(
            ([[1, 0], [0, 1], [-1, 0], [0, -1]], [0] * 4),
            ([[1, 0, 1, 0], [1, 0, -1, 0], [-1, 0, 1, 0], [0, 1, 0, -1], [0, -1, 0, 1]], [0] * 5),
            last="relu",
        ),
        "Injective, although its second layer alone is not injective on the orthant.",
        tags=("injectivity",),
        source=f"{_PUTHAWALA}, Remark 2",
    )
    for large, holds in ((3, False), (4, True)):
        kernels = [[large if j == k else -1 for j in range(4)] for k in range(4)]
        yield Specimen(
            f"puthawala-kernels-{large}",
            "paper",
            layered((kernels + [[-x for x in row] for row in kernels], [0] * 8), last="relu"),
            "The eight kernels of size 2 × 2 at one place of an image"
            + (", as printed: their rank is 3." if large == 3 else ", with 4 in the place of 3."),
            tags=("injectivity", *(() if holds else ("false-claim",))),
            source=f"{_PUTHAWALA}, Example 1",
            claims=(
                Claim(
                    "The kernels and their negatives give an injective layer.",
                    holds,
                    f"their rank is {4 if holds else 3}",
                ),
            ),
        )


def _others() -> Iterator[Specimen]:
    rows = [[1, 0], [0, 1], [1, 1], [2, -1], [1, 3]]
    for name, weights, holds in (
        ("rolnick-kording-unique", [1, 2, -1, 3, 1], True),
        ("rolnick-kording-ambiguous", [1, 1, -1, 3, 1], False),
    ):
        yield Specimen(
            name,
            "paper",
            layered((rows, [0, 1, -1, 2, -3]), ([weights], [1]), _ONE),
            "A neuron of layer 2 over five of layer 1; a subset of the weighted rows adds up to 0: "
            + ("only the empty one." if holds else "the first three rows."),
            tags=("false-claim",),
            source=f"{_ROLNICK}, Theorem 4",
            claims=(
                Claim(
                    "Linear algebra at five points determines the signs of the neurons.",
                    False,
                    "the system has rank 2 at most",
                ),
                Claim("The solution in ±1 is unique.", holds, "subset sums"),
            ),
        )
    yield Specimen(
        "grigsby-lindsey-cross",
        "paper",
        layered(([[1, 0], [0, 1], [-1, -1]], [0, 0, 5]), ([[2, 2, 1]], [-5]), _ONE),
        "A neuron of layer 2 that is |x| + |y| near 0: it vanishes at one point with two others.",
        box=(Fraction(-3), Fraction(3)),
        tags=("transversality",),
        source="Grigsby, Lindsey (2022), arXiv 2008.09052",
        claims=(Claim("The network is transversal.", False, "at 0 three neurons vanish"),),
    )
    for size, edges in (
        ("with", [((0, 0), (1, 1))]),
        ("without", []),
    ):
        yield Specimen(
            f"clique-{size}",
            "paper",
            clique_instance(2, 2, edges).network,
            f"Two classes of two vertices {size} an edge: σ(f - 5/2) is "
            + ("not 0 everywhere." if edges else "0 everywhere."),
            box=(Fraction(-1), Fraction(2)),
            source="Froese, Grillo, Skutella (2024), arXiv 2405.19805; our construction",
        )
