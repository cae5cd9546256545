"""What each theorem of the certificates says, in words and in LaTeX; the checking rules are in FORMAT.md §3.3."""

# ruff: noqa: E501 - sentences and formulas, unbroken

from __future__ import annotations

from dataclasses import dataclass

__all__ = [
    "GENERIC",
    "MEANING",
    "PAIR_MEANING",
    "REGIONS_MEANING",
    "REGULAR",
    "RUNTIME_MEANING",
    "THEOREMS",
    "TRANSVERSAL",
    "TheoremText",
    "hypothesis_statement",
]

#: Said once, linked from everywhere.
MEANING = (
    "The claim is about the real-arithmetic function of the exact weights in the file, on all of R^n. "
    "How far a float runtime is from it, `polyrelu runtime-error` bounds."
)

#: What a claim about two networks is about.
PAIR_MEANING = (
    "The claim is about the real-arithmetic functions of the exact weights in the files, at every point of the domain. "
    "How far a float runtime is from each of them, `polyrelu runtime-error` bounds."
)

#: What a claim about the regions of a network is about.
REGIONS_MEANING = (
    "The claim is about the cells of full dimension that the signs of all hidden neurons cut out of the domain, for the exact weights in the file; "
    "neighbouring cells may have the same affine map."
)

#: What a claim about a float runtime rests on.
RUNTIME_MEANING = (
    "The claim is about a runtime that computes layer by layer in the named format, to nearest, sums in any order, with or without fused "
    "multiply-adds, on inputs of that format; numbers below the normal range may be taken for 0. No shorter format, no transformed convolution, nothing fused across a ReLU."
)

GENERIC = (
    "generic parameters: rank W[1] = n_1, supertransversal (a cell of codimension k has exactly k zeros), "
    "and no masked product with nonempty masks vanishes; all parameters but a set of measure zero, if n_0 >= n_1"
)

REGULAR = (
    "regular parameters: every cell of codimension 0 has no zero in its sign vector, every cell of codimension 1 exactly one, and no masked "
    "product with nonempty masks vanishes; they include the transversal ones, and all but a set of measure zero, whatever the widths"
)

TRANSVERSAL = (
    "transversal parameters: supertransversal (a cell of codimension k has exactly k zeros), and no masked product with "
    "nonempty masks vanishes; all parameters but a set of measure zero, whatever the widths"
)


@dataclass(frozen=True, slots=True)
class TheoremText:
    """A theorem of the certificates.

    Attributes
    ----------
    title : a name for people.
    proof : the document or module with the proof.
    statement, latex : what it says.
    hypotheses : statement of each hypothesis by its id, in the certificate's order.
    """

    title: str
    proof: str
    statement: str
    latex: str
    hypotheses: dict[str, str]


_UNIQUE = "no nonempty set S of {layer} neurons has sum over S of {product} = 0"
_OTHER = {
    "architecture": "both networks are plain stacks with the same widths",
    "same-function": "the two networks compute the same function on R^n",
    "not-related": "they do not come from each other by permuting and positively scaling hidden neurons",
    "membership": "the other network belongs to the class of competitors",
}

_DEEP = {
    "ridges": "each listed plane meets its ridges: exactly two neurons vanish there, with independent gradients",
    "families": "(D1) every hidden neuron of the claim has a family of pieces, linked at good ridges, with a chain of crossings up to the last hidden layer, "
    "and the families that are joined to it by crossing can be",
    "signs": "(D3) for each hidden layer but the last one some neuron of the next layer is crossed by all of it, or linear systems of neurons of the next layer "
    "have only the solution 0",
    "weights": "(D2) every weight between hidden layers is nonzero, and is seen at pieces of its neuron or, in the last hidden layer, at zeros of the "
    "neuron before; the families that are joined by sight can be",
    "membership": "what is known of the network's own membership in the class of competitors",
}

THEOREMS: dict[str, TheoremText] = {
    "affine": TheoremText(
        "no hidden layer",
        "docs/theory/shallow.md",
        "An affine map determines its matrix and its offset.",
        r"An affine map $x \mapsto Wx + b$ on $\mathbb{R}^{n_0}$ determines $W$ and $b$.",
        {},
    ),
    "shallow": TheoremText(
        "one hidden layer, all competitors",
        "docs/theory/shallow.md",
        "If every neuron bends the function, the hyperplanes that carry two neurons have independent linear parts, and no other "
        "assignment of neurons to hyperplanes gives the same linear part, then every parameter of the architecture with this "
        "function is the given one up to permutation and positive scaling.",
        r"Let $f(x) = V\sigma(Wx+b)+c = \sum_k C_k |h_k\cdot(x,1)| + Mx + m$ with $w_i \neq 0$, $v_i \neq 0$, no two neurons on one "
        r"ray $[w_i|b_i]$ and $C_k \neq 0$ on each of the $p$ hyperplanes; let $D_\theta$ be the set of those that carry two neurons. If the linear parts of "
        r"$D_\theta$ are independent and $M - \sum_{k\notin D} \varepsilon_k C_k \otimes h_k$, restricted to the common kernel of $h_k$ $(k \in D)$, has rank $> j$ for all "
        r"$|D| + 2j = n_1 - p$ and all signs $\varepsilon$ other than $\theta$'s own, then $f$ is identifiable among all parameters. (If $D_\theta$ is empty: "
        r"$\sum_{i\in S} v_i w_i^{T} \neq 0$ for every nonempty $S$.)",
        {
            "visible": "every neuron has nonzero incoming and outgoing weights, no two have the same row up to positive "
            "scale, and where two share a hyperplane its jump does not cancel",
            "unique": "no other assignment of neurons to the hyperplanes gives the same linear part, and the linear parts of "
            "hyperplanes that carry two neurons are independent",
        },
    ),
    "line": TheoremText(
        "first hidden layer of width one, all competitors",
        "docs/theory/line.md",
        "If every second-layer neuron bends at its own positive place, in both directions, and no subset can be flipped, "
        "the n_2 + 1 breakpoints fix every parameter up to permutation and positive scaling.",
        r"Let $n_1 = 1$, $L = 3$, $A_i a_i < 0$ with pairwise different $a_i/A_i$, both signs of $A_i$ occurring, and "
        r"$\sum_{i\in S} V_i A_i \neq 0$ for every nonempty $S$. Then $\theta$ is identifiable among all parameters.",
        {
            "direction": "the first layer's row is not zero",
            "bends": "every second-layer neuron has its own breakpoint inside the image, and both orientations occur",
            "unique": _UNIQUE.format(layer="second-layer", product="V_i A_i"),
        },
    ),
    "bottleneck": TheoremText(
        "Theorem P: two hidden layers, generic competitors",
        "docs/theory/bottleneck.md",
        "If W[1] has rank n_1, the second layer has no dead, linear or proportional rows and cannot be flipped, and each first-layer "
        "hyperplane is recognised at one point as the straight one of two crossing bent hyperplanes, then every generic parameter "
        "with this function is the given one up to permutation and positive scaling.",
        r"Let $n_1 \ge 2$, $\operatorname{rank} W_1 = n_1$ and write $A = W_2$, $a = b_2$, $V = W_3$. Suppose (a) each row "
        r"$[A_i|a_i]$ has entries of both signs, no two rows are parallel or opposite, each $V_i \neq 0$; (b) "
        r"$\sum_{i\in S} V_i A_i \neq 0$ for every nonempty $S$; (c) for each $j$ a point witnesses that $H_j$ is the straight line of "
        r"a visible crossing, or (c$'$) no row crosses $H_j$ and its jump does not vanish. Then every generic $\eta$ of the "
        r"same widths with $f_\eta = f_\theta$ has $\eta \sim \theta$.",
        {
            "rank": "rank W[1] = n_1",
            "rows": "every row [A_i|a_i] of the second layer has entries of both signs, no two rows are multiples of each other, "
            "every outgoing column V_i is nonzero",
            "unique": _UNIQUE.format(layer="second-layer", product="V_i A_i"),
            "hyperplanes": "every first-layer hyperplane is recognised: by a point (c), or as a flat visible hyperplane (c')",
            "membership": "what is known of the network's own membership in the generic class",
        },
    ),
    "deep": TheoremText(
        "Theorem D: any depth, transversal or regular competitors",
        "docs/theory/deep.md",
        "If at listed points, on ridges where two neurons vanish, chains of crossings bound the layer of every hidden neuron, other signs are excluded "
        "by crossings or linear systems, and every weight between hidden layers is seen, then every transversal parameter with this function is the given "
        "one up to permutation and positive scaling; every regular one if f is not constant around the ridges.",
        r"Let $L \ge 2$ and $n_0 \ge 2$. Suppose that good ridges, where exactly two neurons vanish, show (D1) for every hidden neuron a family of pieces from "
        r"which a chain of crossings leads up to the last hidden layer, (D2) $(W_\ell)_{ih} \ne 0$, and that pieces of $(\ell, i)$ see it, for all $\ell \ge 2$, $i$, $h$, and (D3) "
        r"for each layer $m \le L-2$ a neuron of layer $m+1$ that is crossed by all of layer $m$, or neurons of layer $m+1$ whose linear system in the signs of layer $m$ has only "
        r"the solution $0$. Then every transversal $\eta$ of the same widths with $f_\eta = f_\theta$ has $\eta \sim \theta$; so has every regular $\eta$ if $f_\theta$ is constant on no sector of a "
        r"good ridge.",
        _DEEP,
    ),
    "deep-part": TheoremText(
        "Theorem D, in part",
        "docs/theory/deep.md",
        "If the hypotheses of Theorem D are shown for the hidden layers up to some layer M, and for some neurons of the next one, then every transversal parameter "
        "(or regular one, if f is not constant around the ridges) with this function has, up to permutation and positive scaling, the same rows [W|b] there, those of the last part up to signs.",
        r"Let $L \ge 3$, $n_0 \ge 2$, $1 \le M \le L-2$, and let $Q$ be a set of neurons of layer $M+1$. Suppose that good ridges show (D1) for the neurons of the layers $\le M$ and "
        r"of $Q$, (D2) for the layers $2, \dots, M$ and $Q$, and (D3) for $m < M$ and, if $Q \ne \emptyset$, with neurons of $Q$ for $m = M$. Then every transversal $\eta$ (every regular $\eta$ if $f_\theta$ is constant on no sector of a good ridge) of the same widths "
        r"with $f_\eta = f_\theta$ is equivalent to one whose layers $< M$ are those of $\theta$ and whose rows $[W|b]$ of layer $M$ are those of $\theta$ up to signs; if $Q \ne \emptyset$, "
        r"without these signs, and with different neurons in layer $M+1$, one for each $q \in Q$, whose rows are those of $q$ up to signs.",
        _DEEP,
    ),
    "replacement": TheoremText(
        "two consecutive layers replaced",
        "polyrelu/symmetry/absolute_value.py",
        "Two maps with one hidden layer agree on R^n (or on the orthant) iff their absolute-value normal forms are equal.",
        r"Two maps $u \mapsto V\sigma(Wu+b)+c$ agree on a domain with interior iff their forms "
        r"$\sum_h C_h |h\cdot(u,1)| + Mu + m$ are equal.",
        _OTHER,
    ),
    "bounded-replacement": TheoremText(
        "two consecutive layers replaced behind a box",
        "docs/theory/box.md",
        "Interval arithmetic over R^n gives a box that holds all activations of the layer before. Two maps with one hidden layer agree on the box iff "
        "their absolute-value normal forms there are equal; hyperplanes that miss its interior do not bend.",
        r"If $\theta$ and $\eta$ are equal in all layers but $\ell$ and $\ell+1$, and $B$ is a box that contains the activations $a_{\ell-1}(x)$ of all $x$, "
        r"then $f_\theta = f_\eta$ as soon as the maps $u \mapsto V\sigma(Wu+b)+c$ of the two layers agree on $B$, which they do iff their forms "
        r"$\sum_h C_h |h\cdot(u,1)| + Mu + m$ are equal, $h$ running over the hyperplanes that meet the interior of $B$.",
        _OTHER,
    ),
    "one-sided": TheoremText(
        "a neuron of one sign wherever another one is on",
        "docs/theory/one_sided.md",
        "If a neuron is off wherever a neuron of the layer before is on, its weight on it can be lowered. If it is never negative there, its weight can be raised "
        "where the next layer does not see it. The constant 1 counts as a neuron that is always on: then these are dead and linear neurons.",
        r"Let $a_h$ be an activation of layer $\ell-1$ or the constant 1, and let $z_v \le 0$ ($v \in S_-$), $z_v \ge 0$ ($v \in S_+$) wherever $a_h > 0$, for the weights $W_{vh}$ and "
        r"for $W_{vh} + t_v$. If $\sum_{v\in S_+} t_v W^{\ell+1}_{\cdot v}$ is 0, or $a_h = 1$ and $b^{\ell+1}$ loses this vector, then both networks have the same function. The "
        r"signs follow by nonnegative multiples of $a \ge 0$, $a - z \ge 0$ and of upper bounds $a \le G$ with $G \ge 0$, $G \ge z$.",
        _OTHER,
    ),
    "translation": TheoremText(
        "a hidden hyperplane translated",
        "docs/theory/hidden_hyperplanes.md",
        "A neuron that the next layer sees only where no other neuron helps can move its hyperplane.",
        r"If $W_{ij}\ge 0$, $W_{ik}\le 0$ $(k\ne j)$, $b_i\le 0$ and $b_i \le tW_{ij}$ for all $i$, then "
        r"$b_j + t$, $b_i - tW_{ij}$ give the same function.",
        _OTHER,
    ),
    "flip": TheoremText(
        "neurons beside a hidden one flipped",
        "docs/theory/hidden_hyperplanes.md",
        "With a single neuron in the next layer, the neurons beside the hidden one can be negated.",
        r"If $w_j > 0$, $w_k \le 0$ $(k\ne j)$, $\beta\le 0$, then $r_k \to -r_k$, $r_j \to r_j - (|w_k|/w_j)\,r_k$ keeps the function.",
        _OTHER,
    ),
    "line-equal": TheoremText(
        "two functions of one variable compared",
        "polyrelu/proofs/refutations/reversed_line.py",
        "Two continuous piecewise linear functions of one variable with at least one breakpoint between them are equal iff they agree "
        "at all breakpoints of both and have the same end slopes.",
        r"Two continuous piecewise linear functions of one variable with at least one breakpoint between them are equal iff "
        r"they agree at all breakpoints of both and have the same end slopes.",
        _OTHER,
    ),
    "tree": TheoremText(
        "a split tree",
        "docs/theory/equivalence.md",
        "Each split of the tree cuts its polyhedron into z >= 0 and z <= 0, so the leaves cover the domain; on each of them both networks "
        "are the same expression in the coordinates, once the signs proved on the way down are put in.",
        r"Every inner node cuts its polyhedron into $\{z \ge 0\}$ and $\{z \le 0\}$ for one neuron, so the leaves cover the domain; every recorded sign "
        r"follows by nonnegative multiples of the inequalities; with these signs both networks are one and the same expression on every leaf.",
        {
            "point": "the domain is not empty",
            "tree": "both networks have equal expressions on every leaf of the tree, and its leaves cover the domain",
        },
    ),
    "regions": TheoremText(
        "a split tree of regions",
        "docs/theory/regions.md",
        "Each split of the tree cuts its polyhedron into z >= 0 and z <= 0 for a neuron, so the leaves cover the domain; inside a leaf no neuron changes its "
        "sign, and different leaves differ in the sign of a neuron, so leaves with a point strictly inside are the cells of full dimension, each once.",
        r"Every inner node cuts its polyhedron into $\{z \ge 0\}$ and $\{z \le 0\}$ for one neuron, so the leaves cover the domain; inside a leaf no neuron "
        r"changes its sign, and each leaf has a point strictly inside. So the leaves are the full-dimensional cells of the canonical complex, each once.",
        {
            "cover": "no neuron changes its sign inside a leaf of the tree, and the leaves cover the domain",
            "inside": "every leaf has a point strictly inside",
        },
    ),
    "point": TheoremText(
        "a point",
        "docs/theory/equivalence.md",
        "Two networks that differ at one point of the domain are not equivalent on it.",
        r"Two functions that differ at one point are different.",
        {
            "point": "the point belongs to the domain",
            "values": "the exact outputs of both networks at the point, which differ",
        },
    ),
    "rounding": TheoremText(
        "rounding errors of a float runtime on a box",
        "docs/theory/rounding.md",
        "In any order of summation, each layer adds at most gamma_(n+2) times the sum of the sizes of its terms, and what is below the "
        "normal range, to the errors it is given.",
        r"With unit roundoff $u$, $\gamma_k = ku/(1-ku)$ and $t$ the least normal number, an affine map with $n$ nonzero weights in a row turns errors $e$ of inputs "
        r"of size at most $m$ into at most $|W|e + \gamma_{n+2}(|W|(m+e)+|b|) + 3(n+2)\,t\,(1+\max(m+e))$, in any order of summation; the positive part does not enlarge them.",
        {"bound": "the bound follows layer by layer from the weights and the box"},
    ),
}


def hypothesis_statement(theorem: str, identifier: str) -> str:
    """The statement of a hypothesis of a theorem.

    >>> hypothesis_statement("bottleneck", "rank")
    'rank W[1] = n_1'
    """
    return THEOREMS[theorem].hypotheses[identifier]
