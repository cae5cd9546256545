"""The statements of the theorems and hypotheses that certificates use, in words and in LaTeX.

The texts are shown to people by `polyrelu show` and by provers; they prove nothing. Names of
theorems and hypotheses are part of the format: the rules by which the checker re-derives each of
them stand in FORMAT.md, section 3.3, the proofs in the documents that the texts name.
"""

from __future__ import annotations

from dataclasses import dataclass

from polyrelu.support.arguments import expect_choice
from polyrelu.support.display import bracketed

__all__ = ["THEOREMS", "TheoremText", "hypothesis_statement"]


@dataclass(frozen=True, slots=True, repr=False)
class TheoremText:
    """A theorem that certificates use.

    Attributes
    ----------
    title
        A name for people.
    proof
        The document or module that contains the proof.
    statement
        The theorem in words.
    latex
        The theorem in LaTeX.
    hypotheses
        The statement of each hypothesis by its name, in the order of the certificate.

    Examples
    --------
    >>> THEOREMS["bottleneck"].proof
    'docs/theory/bottleneck.md'
    """

    title: str
    proof: str
    statement: str
    latex: str
    hypotheses: dict[str, str]

    def __repr__(self) -> str:
        return bracketed(f"TheoremText, {self.title}: {self.proof}")


_UNIQUE_TEMPLATE = "no nonempty set S of {layer} neurons has sum over S of {product} = 0"
_REFUTATION_HYPOTHESES = {
    "architecture": "both networks are plain stacks with the same widths",
    "same-function": "the two networks compute the same function on the domain of the claim",
    "not-related": (
        "they do not come from each other by permuting and positively scaling hidden neurons"
    ),
    "membership": "the other network belongs to the class of competitors",
}
_HYPOTHESES_ON_BLOCKS = {
    **_REFUTATION_HYPOTHESES,
    "architecture": "both networks have the same widths, and layers that read the same layers",
}

_DEEP_HYPOTHESES = {
    "ridges": (
        "each listed plane meets its ridges: exactly two neurons vanish there, with independent "
        "gradients"
    ),
    "families": (
        "(D1) every hidden neuron of the claim has a family of pieces, linked at good ridges, with "
        "a chain of crossings up to the last hidden layer, and the families that are joined to it "
        "by crossing can be"
    ),
    "signs": (
        "(D3) for each hidden layer but the last one some neuron of the next layer has a piece at "
        "which it is crossed by all of the layer that are active, or linear systems of neurons of "
        "the next layer have only the solution 0"
    ),
    "weights": (
        "(D2) every weight between hidden layers is nonzero, and is seen at pieces of its neuron "
        "or, in the last hidden layer, at zeros of the neuron before; the families that are joined "
        "by visible weights can be"
    ),
    "membership": "what is known of the network's own membership in the class of competitors",
}

_SPARSE_HYPOTHESES = {
    **_DEEP_HYPOTHESES,
    "families": (
        "(D1) every hidden neuron of the claim has a family of pieces, linked at good ridges, with "
        "a chain of bends up to the last hidden layer, and the families that are joined to it by "
        "crossing can be"
    ),
    "signs": (
        "(D3) for each neuron of a hidden layer but the last one some neuron of the next layer "
        "that reads it determines its sign, one after the other"
    ),
    "weights": (
        "(D2) every weight between hidden layers, zeros included, is determined at pieces of its "
        "neuron; the families that are joined by visible weights can be"
    ),
}

_VERTICES = (
    "A listed point is a vertex, and the cells around it are known from its zeros. Every edge at "
    "it ends at another listed vertex, or is a ray; since the vertices and edges of a complex "
    "without lines are connected, no vertex is missing."
)
_LATEX_OF_VERTICES = (
    r"Every listed point is a vertex of the canonical complex, and around it the signs of its "
    r"zeros determine the cells. Every edge at a listed vertex ends at another one, or is a ray; "
    r"the graph of vertices and bounded edges of a complex of pointed polyhedra that subdivide a "
    r"convex one is connected, so that no vertex is missing."
)
_HYPOTHESES_OF_VERTICES = {
    "vertices": "every listed point is a vertex, and the cells around it are known",
    "edges": "every edge at a vertex ends at another one of the list, or is a ray",
}

_COVERED = "on every leaf of the tree, and the leaves cover the domain"
_BOUNDS = (
    "On a box, max(z + D, 0) - max(z, 0) differs from p z + q D by a number in the band that it "
    "has at the vertices of the box cut by z = 0 and z + D = 0, whatever p and q are. So the "
    "values of two networks, and their difference, are affine forms up to errors that are rounded "
    "outwards; where all signs are known, they are affine."
)
_LATEX_OF_BOUNDS = (
    r"On a rectangle of points $(z, D)$ the function $\max(z+D,0) - \max(z,0) - pz - qD$ is "
    r"piecewise linear, so that its extreme values are those at the vertices of the rectangle cut "
    r"by $z = 0$ and $z + D = 0$. Layer by layer the activations of two networks, and their "
    r"differences, are therefore affine forms in the inputs and in numbers from $[-1, 1]$, up to "
    r"errors that are rounded outwards; their largest values bound the rows of the claim."
)
_POINT_OF_DOMAIN = "the point belongs to the domain"

THEOREMS: dict[str, TheoremText] = {
    "affine": TheoremText(
        "no hidden layer",
        "docs/theory/shallow.md",
        "An affine map determines its matrix and its offset.",
        r"An affine map $x \mapsto Wx + b$ on an open set determines $W$ and $b$.",
        {"inside": "the point is strictly inside the domain"},
    ),
    "shallow": TheoremText(
        "one hidden layer, all competitors",
        "docs/theory/shallow.md",
        "If every neuron bends the function, the hyperplanes that carry two neurons have "
        "independent linear parts, and no other assignment of neurons to hyperplanes gives the "
        "same linear part, then every parameter of the architecture with this function is the "
        "given one up to permutation and positive scaling.",
        r"Let $f(x) = V\sigma(Wx+b)+c = \sum_k C_k |h_k\cdot(x,1)| + Mx + m$ with $w_i \neq 0$, "
        r"$v_i \neq 0$, no two neurons on one ray $[w_i|b_i]$ and $C_k \neq 0$ on each of the $p$ "
        r"hyperplanes; let $D_\theta$ be the set of those that carry two neurons. If the linear "
        r"parts of $D_\theta$ are independent and $M - \sum_{k\notin D} \varepsilon_k C_k \otimes "
        r"h_k$, restricted to the common kernel of $h_k$ $(k \in D)$, has rank $> j$ for all $|D| "
        r"+ 2j = n_1 - p$ and all signs $\varepsilon$ other than $\theta$'s own, then $f$ is "
        r"identifiable among all parameters. (If $D_\theta$ is empty: $\sum_{i\in S} v_i w_i^{T} "
        r"\neq 0$ for every nonempty $S$.)",
        {
            "inside": "each neuron is 0 at its point, which is strictly inside the domain",
            "visible": (
                "every neuron has nonzero incoming and outgoing weights, no two have the same row "
                "up to positive scale, and where two share a hyperplane its jump does not cancel"
            ),
            "unique": (
                "no other assignment of neurons to the hyperplanes gives the same linear part, and "
                "the linear parts of hyperplanes that carry two neurons are independent"
            ),
        },
    ),
    "trailing-affine": TheoremText(
        "no hidden layer, a ReLU at the outputs",
        "docs/theory/shallow.md",
        "Where an output is positive it is an affine map, which determines its row and its bias.",
        r"Let $f = \sigma(Wx+b)$. If each output is positive at a point of the domain, then $f$ "
        r"determines $W$ and $b$.",
        {"positive": "each output is positive at its point, which is strictly inside the domain"},
    ),
    "trailing-shallow": TheoremText(
        "one hidden layer, a ReLU at the outputs, all competitors",
        "docs/theory/shallow.md",
        "If every neuron bends the function at a place where all outputs are positive, no two "
        "neurons share a hyperplane, and no subset can be flipped, then every parameter of the "
        "architecture with this function is the given one up to permutation and positive scaling.",
        r"Let $f(x) = \sigma(V\sigma(Wx+b)+c)$ with $w_i \neq 0$, $v_i \neq 0$ and $q$ different "
        r"hyperplanes, on each of which all outputs are positive at some point, and $\sum_{i\in S} "
        r"v_i w_i^{T} \neq 0$ for every nonempty $S$. Then $f$ is identifiable among all "
        r"parameters.",
        {
            "positive": "each neuron is 0 and all outputs are positive at its point, which is "
            "strictly inside the domain",
            "visible": (
                "every neuron has nonzero incoming and outgoing weights, and no two share a "
                "hyperplane"
            ),
            "unique": "no subset of neurons can be flipped with the same linear part",
        },
    ),
    "leaky-shallow": TheoremText(
        "one hidden layer of leaky ReLUs, all competitors",
        "docs/theory/architectures.md",
        "With one hidden layer of leaky ReLUs of slope s, neither 1 nor -1, the networks with one "
        "function have the weights and first biases of those with ReLUs.",
        r"Let $\varphi(t) = \max(t,0) + s\min(t,0)$ with $s \neq \pm 1$. $V\varphi(Wx+b)+c$ is "
        r"identifiable among all parameters of its shape iff $V\sigma(Wx+b)+c$ is.",
        {
            "inside": "each neuron is 0 at its point, which is strictly inside the domain",
            "visible": (
                "every neuron has nonzero incoming and outgoing weights, no two have one row up to "
                "a positive factor, and doubled hyperplanes bend the function"
            ),
            "unique": "no other orientations give the same linear part",
        },
    ),
    "leaky-chains": TheoremText(
        "leaky ReLU stacks of full row rank, regular competitors",
        "docs/theory/architectures.md",
        "If the weights of each hidden layer have independent rows, and through each hidden neuron "
        "there is a chain of neurons, one for each hidden layer, that vanish together at a point "
        "and bend each other and the outputs, then every regular stack of leaky ReLUs of this "
        "slope with the same function is this one up to permutation and positive scaling.",
        r"Let $s > 0$, $s \neq 1$, $\operatorname{rank} W_\ell = n_\ell$ for $\ell < L$, and let "
        r"every hidden neuron be one of the neurons $t_1, \dots, t_{L-1}$ of a chain point. Then "
        r"every regular $\eta$ with $f_\eta = f_\theta$ has $\eta \sim \theta$.",
        {
            "rank": "the weights of every hidden layer have full row rank",
            "chains": (
                "at each point one neuron of every hidden layer is 0, each of them bends the next "
                "one, their gradients are independent, and all of them bend the outputs; every "
                "hidden neuron is 0 at one of the points"
            ),
            "membership": "what is known of the network's own membership in the class",
        },
    ),
    "leaky-replacement": TheoremText(
        "two consecutive layers of leaky ReLUs replaced",
        "docs/theory/architectures.md",
        "Two layers with the same map on a box that holds all values of the layer before can be "
        "exchanged for each other.",
        r"If $V\varphi(Wu+b)+c = V'\varphi(W'u+b')+c'$ on a box that contains all values of the "
        r"layer before, then the networks compute one function.",
        {
            **_REFUTATION_HYPOTHESES,
            "architecture": "both networks are stacks of leaky ReLUs of one slope and one shape",
        },
    ),
    "blocks-neuron": TheoremText(
        "one neuron replaced in a network whose layers read several layers",
        "docs/theory/architectures.md",
        "A hidden neuron that no later layer reads, or that is dead on a box of all values that it "
        "reads, can have another row; one that is never negative there can have another bias, for "
        "which later biases make up.",
        r"If no layer reads $\sigma(wx+b)$, or $wx+b \leq 0$ and $w'x+b' \leq 0$, or $wx+b \geq 0$ "
        r"and $wx+b+t \geq 0$, on a box of all values, then $(w,b)$ may become $(w',b')$, in the "
        r"last case $(w,b+t)$ with $c-tv$ in the place of later biases $c$.",
        _HYPOTHESES_ON_BLOCKS,
    ),
    "blocks-replacement": TheoremText(
        "one layer and what reads it replaced in a network whose layers read several layers",
        "docs/theory/architectures.md",
        "Two duplicate neurons can trade outgoing weights: in general a layer, and the layers that "
        "read it, can be replaced by others whose maps agree on the box of all values before the "
        "layer.",
        r"If $w' = \lambda w$, $b' = \lambda b$ for two neurons of one layer, $\lambda > 0$, then "
        r"weights $v, v'$ on them may become $v + \lambda t, v' - t$, for any $t$.",
        _HYPOTHESES_ON_BLOCKS,
    ),
    "blocks-one-sided": TheoremText(
        "weights on a neuron wherever it is off, in a network whose layers read several layers",
        "docs/theory/architectures.md",
        "A neuron that is never positive wherever one that it reads is active can have a smaller "
        "weight on it; one that is never negative there can have a larger one, if what reads the "
        "neuron makes up for it.",
        r"If $z_v \leq 0$ wherever $a_h > 0$, the weight of $v$ on $h$ may be any smaller number; "
        r"if $z_v \geq 0$ there, it may become $w + t$, $t > 0$, if all that read $v$ with a "
        r"weight $c$ have $ct$ less on $h$.",
        _HYPOTHESES_ON_BLOCKS,
    ),
    "line": TheoremText(
        "first hidden layer of width one, all competitors",
        "docs/theory/line.md",
        "If every second-layer neuron bends at its own positive place, in both directions, and no "
        "subset can be flipped, the n_2 + 1 breakpoints fix every parameter up to permutation and "
        "positive scaling.",
        r"Let $n_1 = 1$, $L = 3$, $A_i a_i < 0$ with pairwise different $a_i/A_i$, both signs of "
        r"$A_i$ occurring, and $\sum_{i\in S} V_i A_i \neq 0$ for every nonempty $S$. Then "
        r"$\theta$ is identifiable among all parameters.",
        {
            "direction": "the first layer's row is not zero",
            "bends": (
                "every second-layer neuron has its own breakpoint inside the image, and both "
                "orientations occur"
            ),
            "unique": _UNIQUE_TEMPLATE.format(layer="second-layer", product="V_i A_i"),
        },
    ),
    "bottleneck": TheoremText(
        "Theorem P: two hidden layers, generic competitors",
        "docs/theory/bottleneck.md",
        "If W[1] has rank n_1, the second layer has no dead, linear or proportional rows, and each "
        "first-layer hyperplane is recognised at one point as the "
        "straight one of two crossing bent hyperplanes, then every generic parameter with this "
        "function is the given one up to permutation and positive scaling.",
        r"Let $n_1 \ge 2$, $\operatorname{rank} W_1 = n_1$ and write $A = W_2$, $a = b_2$, $V = "
        r"W_3$. Suppose (a) each row $[A_i|a_i]$ has entries of both signs, no two rows are "
        r"parallel or opposite, each $V_i \neq 0$; (c) for each $j$ a point witnesses that $H_j$ "
        r"is the straight line of a visible crossing, or (c$'$) no row crosses $H_j$ and its jump "
        r"does not vanish. Then "
        r"every generic $\eta$ of the same widths with $f_\eta = f_\theta$ has $\eta \sim \theta$.",
        {
            "rank": "rank W[1] = n_1",
            "rows": (
                "every row [A_i|a_i] of the second layer has entries of both signs, no two rows "
                "are multiples of each other, every outgoing column V_i is nonzero"
            ),
            "unique": "superfluous, and kept for older certificates: "
            + _UNIQUE_TEMPLATE.format(layer="second-layer", product="V_i A_i"),
            "hyperplanes": (
                "every first-layer hyperplane is recognised: by a point (c), or as a flat visible "
                "hyperplane (c')"
            ),
            "membership": "what is known of the network's own membership in the generic class",
        },
    ),
    "deep": TheoremText(
        "Theorem D: any depth, transversal or regular competitors",
        "docs/theory/deep.md",
        "If at listed points, on ridges where two neurons vanish, chains of crossings bound the "
        "layer of every hidden neuron, other signs are excluded by crossings or linear systems, "
        "and every weight between hidden layers is seen, then every transversal parameter with "
        "this function is the given one up to permutation and positive scaling; every regular one "
        "if f is not constant around the ridges.",
        r"Let $L \ge 2$ and $n_0 \ge 2$. Suppose that good ridges, where exactly two neurons "
        r"vanish, show (D1) for every hidden neuron a family of pieces from which a chain of "
        r"crossings leads up to the last hidden layer, (D2) $(W_\ell)_{ih} \ne 0$, and that pieces "
        r"of $(\ell, i)$ see it, for all $\ell \ge 2$, $i$, $h$, and (D3) for each layer $m \le "
        r"L-2$ a piece of a neuron of layer $m+1$ at which all active ones of layer $m$ cross it, "
        r"or neurons of layer $m+1$ whose linear systems in the signs of layer $m$ have only the "
        r"solution $0$. Then "
        r"every transversal $\eta$ of the same widths with $f_\eta = f_\theta$ has $\eta \sim "
        r"\theta$; so has every regular $\eta$ if $f_\theta$ is constant on no sector of a good "
        r"ridge.",
        _DEEP_HYPOTHESES,
    ),
    "deep-part": TheoremText(
        "Theorem D, in part",
        "docs/theory/deep.md",
        "If the hypotheses of Theorem D are shown for the hidden layers up to some layer M, and "
        "for some neurons of the next one, then every transversal parameter (or regular one, if f "
        "is not constant around the ridges) with this function has, up to permutation and positive "
        "scaling, the same rows [W|b] there, those of the last part up to signs.",
        r"Let $L \ge 3$, $n_0 \ge 2$, $1 \le M \le L-2$, and let $Q$ be a set of neurons of layer "
        r"$M+1$. Suppose that good ridges show (D1) for the neurons of the layers $\le M$ and of "
        r"$Q$, (D2) for the layers $2, \dots, M$ and $Q$, and (D3) for $m < M$ and, if $Q \ne "
        r"\emptyset$, with neurons of $Q$ for $m = M$. Then every transversal $\eta$ (every "
        r"regular $\eta$ if $f_\theta$ is constant on no sector of a good ridge) of the same "
        r"widths with $f_\eta = f_\theta$ is equivalent to one whose layers $< M$ are those of "
        r"$\theta$ and whose rows $[W|b]$ of layer $M$ are those of $\theta$ up to signs; if $Q "
        r"\ne \emptyset$, without these signs, and with different neurons in layer $M+1$, one for "
        r"each $q \in Q$, whose rows are those of $q$ up to signs.",
        _DEEP_HYPOTHESES,
    ),
    "deep-sparse": TheoremText(
        "Theorem D for zero weights: any depth, sparse competitors",
        "docs/theory/sparse.md",
        "If at listed points, on ridges where two neurons vanish, chains of bends bound the layer "
        "of every hidden neuron, other signs are excluded by neurons that read them, and every "
        "weight between hidden layers is determined, zeros included, then every sparse parameter "
        "with this function, whatever the places of its zero weights, is the given one up to "
        "permutation and positive scaling.",
        r"Let $L \ge 2$ and $n_0 \ge 2$. Suppose that good ridges, where exactly two neurons "
        r"vanish, show (D1) for every hidden neuron a family of pieces from which a chain of "
        r"bends leads up to the last hidden layer, (D2) that pieces of $(\ell, i)$ determine "
        r"$(W_\ell)_{ih}$ for all $\ell \ge 2$, $i$, $h$, and (D3) for each layer $m \le L-2$, "
        r"one after the other, for each neuron of layer $m$ a neuron of layer $m+1$ that reads it "
        r"and determines its sign. Then every sparse $\eta$ of the same widths with $f_\eta = "
        r"f_\theta$ has $\eta \sim \theta$.",
        _SPARSE_HYPOTHESES,
    ),
    "deep-sparse-part": TheoremText(
        "Theorem D for zero weights, in part",
        "docs/theory/sparse.md",
        "If the hypotheses of Theorem D for zero weights are shown for the hidden layers up to "
        "some layer M, and for some neurons of the next one, then every sparse parameter with this "
        "function has, up to permutation and positive scaling, the same rows [W|b] there, those of "
        "the last part up to signs.",
        r"Let $L \ge 3$, $n_0 \ge 2$, $1 \le M \le L-2$, and let $Q$ be a set of neurons of layer "
        r"$M+1$. Suppose that good ridges show (D1) for the neurons of the layers $\le M$ and of "
        r"$Q$, (D2) for the layers $2, \dots, M$ and $Q$, and (D3) for $m < M$ and, if $Q \ne "
        r"\emptyset$, with neurons of $Q$ for $m = M$. Then every sparse $\eta$ of the same widths "
        r"with $f_\eta = f_\theta$ is equivalent to one whose layers $< M$ are those of $\theta$ "
        r"and whose rows $[W|b]$ of layer $M$ are those of $\theta$ up to signs; if $Q \ne "
        r"\emptyset$, without these signs, and with different neurons in layer $M+1$, one for "
        r"each $q \in Q$, whose rows are those of $q$ up to signs.",
        _SPARSE_HYPOTHESES,
    ),
    "replacement": TheoremText(
        "two consecutive layers replaced",
        "docs/theory/shallow.md",
        (
            "Two maps with one hidden layer agree on R^n (or on the orthant) iff their "
            "absolute-value normal forms are equal."
        ),
        r"Two maps $u \mapsto V\sigma(Wu+b)+c$ agree on a domain with interior iff their forms "
        r"$\sum_h C_h |h\cdot(u,1)| + Mu + m$ are equal.",
        _REFUTATION_HYPOTHESES,
    ),
    "bounded-replacement": TheoremText(
        "two consecutive layers replaced behind a box",
        "docs/theory/box.md",
        "Interval arithmetic over the domain gives a box that holds all activations of the layer "
        "before (for the first layer it is R^n, cut by the sides of the domain). Two maps with one "
        "hidden layer agree on the box iff their absolute-value normal forms there are equal; "
        "hyperplanes that miss its interior do not bend.",
        r"If $\theta$ and $\eta$ are equal in all layers but $\ell$ and $\ell+1$, and $B$ is a box "
        r"that contains the activations $a_{\ell-1}(x)$ of all $x$, then $f_\theta = f_\eta$ as "
        r"soon as the maps $u \mapsto V\sigma(Wu+b)+c$ of the two layers agree on $B$, which they "
        r"do iff their forms $\sum_h C_h |h\cdot(u,1)| + Mu + m$ are equal, $h$ running over the "
        r"hyperplanes that meet the interior of $B$.",
        _REFUTATION_HYPOTHESES,
    ),
    "one-sided": TheoremText(
        "a neuron of one sign wherever another one is on",
        "docs/theory/one_sided.md",
        "If a neuron is off wherever a neuron of the layer before is on, its weight on it can be "
        "lowered. If it is never negative there, its weight can be raised if the changes "
        "cancel in the next layer. The constant 1 counts as a neuron that is always on: then these "
        "are dead and linear neurons.",
        r"Let $a_h$ be an activation of layer $\ell-1$ or the constant 1, and let $z_v \le 0$ ($v "
        r"\in S_-$), $z_v \ge 0$ ($v \in S_+$) wherever $a_h > 0$, for the weights $W_{vh}$ and "
        r"for $W_{vh} + t_v$. If $\sum_{v\in S_+} t_v W^{\ell+1}_{\cdot v}$ is 0, or $a_h = 1$ and "
        r"$b^{\ell+1}$ loses this vector, then both networks have the same function. The signs "
        r"follow by nonnegative multiples of $a \ge 0$, $a - z \ge 0$ and of upper bounds $a \le "
        r"G$ with $G \ge 0$, $G \ge z$.",
        _REFUTATION_HYPOTHESES,
    ),
    "one-sided-cases": TheoremText(
        "a neuron of one sign wherever another one is on, case by case",
        "docs/theory/one_sided.md",
        "The same change of weights as for a neuron of one sign wherever another one is on. The "
        "sign is proved in each case of a tree, in which earlier neurons are on or off; each "
        "weight changes to the side of the sign of its neuron.",
        r"Let $z_v \le 0$ ($v \in S_-$), $z_v \ge 0$ ($v \in S_+$) wherever $a_h > 0$, in each of "
        r"finitely many cases $z_k \ge 0$ or $z_k \le 0$ of earlier neurons $k$; let $t_v \le 0$ "
        r"($v \in S_-$), $t_v \ge 0$ ($v \in S_+$). If $\sum_{v\in S_+} t_v "
        r"W^{\ell+1}_{\cdot v}$ is 0, or $a_h = 1$ and $b^{\ell+1}$ loses this vector, then both "
        r"networks have the same function.",
        _REFUTATION_HYPOTHESES,
    ),
    "translation": TheoremText(
        "a hidden hyperplane translated",
        "docs/theory/hidden_hyperplanes.md",
        (
            "A neuron that alone has positive weights in the next layer, whose biases are not "
            "positive, can move its hyperplane."
        ),
        r"If $W_{ij}\ge 0$, $W_{ik}\le 0$ $(k\ne j)$, $b_i\le 0$ and $b_i \le tW_{ij}$ for all "
        r"$i$, then $b_j + t$, $b_i - tW_{ij}$ give the same function.",
        _REFUTATION_HYPOTHESES,
    ),
    "flip": TheoremText(
        "neurons beside a hidden one flipped",
        "docs/theory/hidden_hyperplanes.md",
        "With a single neuron in the next layer, the neurons beside the hidden one can be negated.",
        (
            r"If $w_j > 0$, $w_k \le 0$ $(k\ne j)$, $\beta\le 0$, then $r_k \to -r_k$, $r_j \to "
            r"r_j - (|w_k|/w_j)\,r_k$ keeps the function."
        ),
        _REFUTATION_HYPOTHESES,
    ),
    "line-equal": TheoremText(
        "two functions of one variable compared",
        "docs/theory/line.md",
        "Two continuous piecewise linear functions of one variable with at least one breakpoint "
        "between them are equal iff they agree at all breakpoints of both and have the same end "
        "slopes.",
        r"Two continuous piecewise linear functions of one variable with at least one breakpoint "
        r"between them are equal iff they agree at all breakpoints of both and have the same end "
        r"slopes.",
        _REFUTATION_HYPOTHESES,
    ),
    "tree-equal": TheoremText(
        "two networks compared by a split tree",
        "docs/theory/equivalence.md",
        "Each split of the tree cuts its polyhedron into z >= 0 and z <= 0, so the leaves cover "
        "the domain; on each of them both networks are the same expression in the inputs, once the "
        "signs proved on the way down are put in.",
        r"Every inner node of a tree cuts its polyhedron into $\{z \ge 0\}$ "
        r"and $\{z \le 0\}$ for one neuron, so the leaves cover the domain; with the recorded "
        r"signs both networks are one and the same expression on every leaf.",
        _REFUTATION_HYPOTHESES,
    ),
    "tree": TheoremText(
        "a split tree",
        "docs/theory/equivalence.md",
        "Each split of the tree cuts its polyhedron into z >= 0 and z <= 0, so the leaves cover "
        "the domain; on each of them both networks are the same expression in the coordinates, "
        "once the signs proved on the way down are put in.",
        r"Every inner node cuts its polyhedron into $\{z \ge 0\}$ and $\{z \le 0\}$ for one "
        r"neuron, so the leaves cover the domain; every recorded sign follows by nonnegative "
        r"multiples of the inequalities; with these signs both networks are one and the same "
        r"expression on every leaf.",
        {
            "point": "the domain is not empty",
            "tree": (
                "both networks have equal expressions on every leaf of the tree, and its leaves "
                "cover the domain"
            ),
        },
    ),
    "regions": TheoremText(
        "a split tree of regions",
        "docs/theory/regions.md",
        "Each split of the tree cuts its polyhedron into z >= 0 and z <= 0 for a neuron, so the "
        "leaves cover the domain; inside a leaf no neuron changes its sign, and different leaves "
        "differ in the sign of a neuron, so leaves with a point strictly inside are the cells of "
        "full dimension, each once.",
        r"Every inner node cuts its polyhedron into $\{z \ge 0\}$ and $\{z \le 0\}$ for one "
        r"neuron, so the leaves cover the domain; inside a leaf no neuron changes its sign, and "
        r"each leaf has a point strictly inside. So the leaves are the full-dimensional cells of "
        r"the canonical complex, each once.",
        {
            "cover": (
                "no neuron changes its sign inside a leaf of the tree, and the leaves cover the "
                "domain"
            ),
            "inside": "every leaf has a point strictly inside",
        },
    ),
    "vertices": TheoremText(
        "the vertices of all regions",
        "docs/theory/vertices.md",
        _VERTICES + " Every region has a vertex, so those around the vertices are all of them.",
        _LATEX_OF_VERTICES + " Every region has a vertex, so those around the vertices are all.",
        _HYPOTHESES_OF_VERTICES,
    ),
    "complex": TheoremText(
        "the vertices of all cells",
        "docs/theory/vertices.md",
        _VERTICES + " Every cell has a vertex, so those around the vertices are all of them.",
        _LATEX_OF_VERTICES + " Every cell has a vertex, so those around the vertices are all.",
        _HYPOTHESES_OF_VERTICES,
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
    "active-rows": TheoremText(
        "active rows that span everywhere",
        "docs/theory/injectivity.md",
        "If at every point inside the domain, off the hyperplanes of the neurons, the rows of the "
        "active neurons span the inputs of the layer, then the layer is injective on the domain; "
        "later layers, if they are injective on the orthant, keep that.",
        r"Let $D$ be convex with an interior. The layer $x \mapsto \sigma(Wx+b)$ is injective on "
        r"$D$ iff for every $x$ in the interior of $D$ with $w_j\cdot x + b_j \neq 0$ for all "
        r"$w_j \neq 0$ the rows $w_j$ with $w_j\cdot x + b_j > 0$ span the space. A composition "
        r"of layers is injective if the first one is injective on $D$ and each later one on the "
        r"orthant.",
        {
            "interior": "the point is strictly inside the domain",
            "trees": (
                "in every layer the active rows span the inputs of the layer at every point off "
                "the hyperplanes: inside the domain in the first layer, inside the orthant in "
                "later ones"
            ),
        },
    ),
    "cell-pairs": TheoremText(
        "all pairs of cells compared",
        "docs/theory/injectivity.md",
        "If a network is affine and injective on each of some polyhedra that cover the domain, and "
        "on each pair of them equal outputs imply equal points, then it is injective.",
        r"Let polyhedra $P_1, \dots, P_K$ cover $D$, let $f$ be affine and injective on each, and "
        r"let $u \in P_i$, $v \in P_j$, $f(u) = f(v)$ imply $u = v$ for all $i < j$. Then $f$ is "
        r"injective on $D$.",
        {
            "cells": (
                "the leaves of the tree cover the domain, and the network is affine and injective "
                "on each of them"
            ),
            "pairs": "on each pair of leaves equal outputs imply equal points",
        },
    ),
    "monotone": TheoremText(
        "inverse Lipschitz constants by cells",
        "docs/theory/inverse_lipschitz.md",
        "If a network followed by a linear map is monotone on all of its cells, then distances "
        "shrink by no more than the map is long. Two points bound the constant from above.",
        r"Let $u \cdot A M u \ge \mu |u|^2$ for the matrices $M$ of $f$ on polyhedra that cover "
        r"$D$. Then $|f(x) - f(y)| \ge \mu / \|A\| \cdot |x - y|$ on $D$.",
        {
            "map": (
                "after the map all cells of a tree that covers the domain stretch every direction "
                "forwards, and the map is as short as the claimed bound asks for"
            ),
            "pair": "two points of the domain were evaluated, and are as near as claimed",
        },
    ),
    "left-inverse": TheoremText(
        "left inverses",
        "docs/theory/injectivity.md",
        "If a network g maps every output of a network f back to its input, on a domain, then f is "
        "injective there.",
        r"If $g(f(x)) = x$ for all $x \in D$, then $f$ is injective on $D$.",
        {
            "inverse": "the network reads the outputs, and has as many outputs as there are inputs",
            "identity": (
                "on every leaf of the tree it maps the outputs back to the inputs, and the leaves "
                "cover the domain"
            ),
        },
    ),
    "parallel-lines": TheoremText(
        "teaching sets on parallel lines",
        "docs/theory/teaching.md",
        "If every hyperplane crosses n parallel lines, each line at another point and with another "
        "jump of the slope, then two values on each piece of the lines determine a network with "
        "one hidden layer among all that are not wider.",
        r"Let $N$ hyperplanes cross $n$ parallel lines that affinely span $\mathbb{R}^n$ in "
        r"different points of each line, with pairwise different jumps $v_i |w_i \cdot d|$. Then "
        r"$2nN + 2$ values determine $f$ among all networks with at most $N$ hidden neurons.",
        {
            "lines": (
                "as many parallel lines as inputs, not in one hyperplane, meet every hyperplane"
            ),
            "jumps": "the jumps of the slopes at the hyperplanes are not 0, and pairwise different",
            "pieces": (
                "on every line the breakpoints are different, and the points lie on the pieces as "
                "the theorem asks: two on each; one on both outer pieces of all lines but the first"
            ),
            "signs": "no nonempty set of neurons has linear parts with the sum 0",
        },
    ),
    "inverse-lipschitz": TheoremText(
        "inverse Lipschitz constants",
        "docs/theory/inverse_lipschitz.md",
        "Half of the least squared singular value of the active rows, over all cells that meet the "
        "inside of the domain, bounds the squared inverse Lipschitz constant of a layer from "
        "below; rows that are active everywhere count twice. Two points bound it from above.",
        r"Let $G_S$ be the Gram matrix of the rows that are active on a cell $S$, and $G_A$ that "
        r"of rows active on all of $D$. Then $\|f(x)-f(y)\|^2 \ge \frac12 \min_S "
        r"\lambda_{\min}(G_S + G_A)\, \|x-y\|^2$ on $D$, the minimum over the open cells that "
        r"meet the interior of $D$; bounds of layers multiply.",
        {
            "interior": "the point is strictly inside the domain",
            "layers": (
                "the squared bounds of the layers hold on all cells, and their product is as large "
                "as claimed"
            ),
            "pair": "two points of the domain and their exact outputs, as near as claimed",
        },
    ),
    "jumps": TheoremText(
        "layers by jumps of the gradient",
        "docs/theory/minimality.md",
        "A function that is not affine needs a hidden layer. A network with one hidden layer bends "
        "on whole hyperplanes, by one amount along each; a function that bends at one point of a "
        "hyperplane by another amount than at another point needs two hidden layers.",
        r"If $f$ has one hidden layer and $H$ is a hyperplane, then $\nabla f$ jumps by one matrix "
        r"$v_H n_H^T$ across $H$ at all points of $H \cap D$ near which $f$ bends on $H$ only.",
        {
            "points": (
                "the gradient jumps across a hyperplane at the first point, and by another amount "
                "at the second one, if there is one, on the same hyperplane"
            ),
        },
    ),
    "hyperplanes": TheoremText(
        "neurons of one layer by hyperplanes",
        "docs/theory/minimality.md",
        "A network with one hidden layer bends on at most one hyperplane for each neuron.",
        r"If $f(x) = V \sigma(W x + b) + M x + c$ bends on $k$ different hyperplanes, then $W$ has "
        r"at least $k$ rows.",
        {
            "points": ("the gradient jumps at each point, across a different hyperplane each time"),
        },
    ),
    "affine-maps": TheoremText(
        "neurons by affine maps",
        "docs/theory/minimality.md",
        "A network with N hidden neurons has at most 2^N activation patterns, so that its function "
        "has at most 2^N affine maps.",
        r"If $f$ has more than $2^{k-1}$ affine maps on open sets, its networks have at least $k$ "
        r"hidden neurons.",
        {
            "points": "the function is affine around each point, by a different affine map",
        },
    ),
    "bends": TheoremText(
        "layers by bends of bends",
        "docs/theory/minimality.md",
        "Where one of two neurons bends at the other one, it is of a later layer, also in every "
        "network of the class with the same function, whatever its widths and the number of its "
        "layers. So a chain of such bends needs a hidden layer for each of its families.",
        r"If $F_1, \dots, F_k$ are families and $F_{i+1}$ bends at a family of the level of $F_i$, "
        r"then every network of the class with the same function on $D$ has at least $k$ hidden "
        r"layers.",
        {
            "ridges": (
                "each listed plane meets its ridges: exactly two neurons vanish there, with "
                "independent gradients"
            ),
            "chain": ("families of linked pieces bend at each other in a chain as long as claimed"),
        },
    ),
    "jacobian": TheoremText(
        "functional dimension by a rank",
        "docs/theory/functional_dimension.md",
        "The rank of the derivatives at some points bounds the functional dimension from below. "
        "Positive scalings of hidden neurons with a row that is not 0 are independent directions "
        "that change nothing, and bound it from above.",
        r"Rows of the Jacobian of $\theta \mapsto (f(x_1), \dots, f(x_p))$ that are independent "
        r"modulo a prime are independent.",
        {
            "rank": (
                "the listed rows of the derivatives by weights and biases have a rank as large as "
                "claimed, modulo a prime"
            ),
            "scalings": (
                "no rank exceeds the number of parameters minus the number of hidden neurons whose "
                "row [W|b] is not 0"
            ),
        },
    ),
    "collision": TheoremText(
        "two points with equal outputs",
        "docs/theory/injectivity.md",
        "A map with equal values at two different points is not injective.",
        r"A map with equal values at two different points is not injective.",
        {
            "points": "two different points belong to the domain",
            "values": "the exact outputs at both of them, which are equal",
        },
    ),
    "rounding": TheoremText(
        "rounding errors of a float runtime on a box",
        "docs/theory/rounding.md",
        "In any order of summation, each layer adds at most gamma_(n+2) times the sum of the sizes "
        "of its terms, and what is below the normal range, to the errors it is given.",
        r"With unit roundoff $u$, $\gamma_k = ku/(1-ku)$ and $t$ the least normal number, an "
        r"affine map with $n$ nonzero weights in a row turns errors $e$ of inputs of size at most "
        r"$m$ into at most $|W|e + \gamma_{n+2}(|W|(m+e)+|b|) + 3(n+2)\,t\,(1+\max(m+e))$, in any "
        r"order of summation; the positive part does not enlarge them.",
        {"bound": "the bound follows layer by layer from the weights and the box"},
    ),
    "deviation": TheoremText(
        "the largest difference of two networks",
        "docs/theory/deviation.md",
        _BOUNDS,
        _LATEX_OF_BOUNDS,
        {
            "points": (
                "the point belongs to the domain, and the difference of the outputs there is as "
                "large as claimed"
            ),
            "cover": f"the differences of the outputs are bounded as claimed {_COVERED}",
        },
    ),
    "range": TheoremText(
        "the least and the largest values of outputs",
        "docs/theory/deviation.md",
        _BOUNDS,
        _LATEX_OF_BOUNDS,
        {
            "points": "the points belong to the domain, and the outputs there are as claimed",
            "cover": f"the outputs are bounded as claimed {_COVERED}",
        },
    ),
    "holds": TheoremText(
        "a property that holds on a domain",
        "docs/theory/deviation.md",
        _BOUNDS,
        _LATEX_OF_BOUNDS,
        {"points": _POINT_OF_DOMAIN, "cover": f"each clause has a row that holds {_COVERED}"},
    ),
    "same-decisions": TheoremText(
        "equal decisions of two networks",
        "docs/theory/deviation.md",
        _BOUNDS,
        _LATEX_OF_BOUNDS,
        {
            "points": _POINT_OF_DOMAIN,
            "cover": f"no two different outputs can be the decisions of the networks {_COVERED}",
        },
    ),
    "lipschitz": TheoremText(
        "the Lipschitz constant of outputs on a domain",
        "docs/theory/deviation.md",
        "On a leaf of a tree of cuts the derivatives of a network lie in intervals, by the known "
        "signs of its neurons; the largest norm of gradients in them bounds the quotient of the "
        "distances of outputs and of inputs. Two points bound it from below.",
        r"Along almost every segment in $D$ the derivative of $f$ is $g\cdot(x-y)$ with $g$ in the "
        r"interval of gradients of the leaf, so that $|f(x)-f(y)| \le \max \|g\|\,\|x-y\|_*$.",
        {
            "points": (
                "a point is inside the domain, and the outputs at two points of it are as far "
                "apart as claimed"
            ),
            "cover": f"the gradients of the outputs are bounded as claimed {_COVERED}",
        },
    ),
}


def hypothesis_statement(theorem: str, identifier: str) -> str:
    """Return the statement of a hypothesis of a theorem.

    Parameters
    ----------
    theorem
        The name of the theorem, a key of `THEOREMS`.
    identifier
        The name of the hypothesis within the theorem.

    Returns
    -------
    str
        The hypothesis in words.

    Examples
    --------
    >>> hypothesis_statement("bottleneck", "rank")
    'rank W[1] = n_1'
    """
    expect_choice(theorem, THEOREMS, "theorem")
    expect_choice(identifier, THEOREMS[theorem].hypotheses, "identifier")
    return THEOREMS[theorem].hypotheses[identifier]
