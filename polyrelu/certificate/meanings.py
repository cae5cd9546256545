"""What the words of claims mean, in sentences for people."""

__all__ = [
    "BOUNDS_MEANING",
    "COMPLEX_MEANING",
    "DIMENSION_MEANING",
    "GENERIC",
    "INJECTIVITY_MEANING",
    "LEAKY_REGULAR",
    "LIPSCHITZ_MEANING",
    "MEANING",
    "MEANING_ON_DOMAIN",
    "PAIR_MEANING",
    "REGIONS_MEANING",
    "REGULAR",
    "RUNTIME_MEANING",
    "SIZE_MEANING",
    "SPARSE",
    "TEACHING_MEANING",
    "TRANSVERSAL",
]

#: The meaning of a claim about one network; help and documents refer to it.
MEANING = (
    "The claim is about the real-arithmetic function of the exact weights in the file, on all of "
    "R^n. How far a float runtime is from it, `polyrelu runtime-error` bounds."
)

#: The meaning of a claim about the competitors of one network on a domain.
MEANING_ON_DOMAIN = (
    "The claim is about the real-arithmetic function of the exact weights in the file, on the "
    "interior of the domain. How far a float runtime is from it, `polyrelu runtime-error` bounds."
)

#: The meaning of a claim about two networks.
PAIR_MEANING = (
    "The claim is about the real-arithmetic functions of the exact weights in the files, at every "
    "point of the domain. How far a float runtime is from each of them, `polyrelu runtime-error` "
    "bounds."
)

#: The meaning of a claim about values of networks.
BOUNDS_MEANING = (
    "The claim is about the real-arithmetic functions of the exact weights in the file, at every "
    "point of the domain, numbers between the floats included. How far a float runtime is from "
    "each of them, `polyrelu runtime-error` bounds."
)

#: The meaning of a claim about injectivity.
INJECTIVITY_MEANING = (
    "The claim is about the real-arithmetic function of the exact weights in the file, at every "
    "point of the domain. A float runtime rounds, and may send different inputs to equal outputs."
)

#: The meaning of a claim about an inverse Lipschitz constant.
LIPSCHITZ_MEANING = (
    "The claim is about the real-arithmetic function of the exact weights in the file, and about "
    "Euclidean distances between any two points of the domain."
)

#: The meaning of a claim that some points teach a network.
TEACHING_MEANING = (
    "The claim is about the real-arithmetic functions of exact weights on R^n, and about all "
    "networks with one hidden layer that is not wider, whatever their parameters."
)

#: The meaning of a claim about the least size of networks with one function.
SIZE_MEANING = (
    "The claim is about the real-arithmetic function of the exact weights in the file, and about "
    "networks that compute it exactly; networks that approximate it may be smaller."
)

#: The meaning of a claim about a functional dimension.
DIMENSION_MEANING = (
    "The claim is about derivatives of the real-arithmetic function by the exact weights in the "
    "file: the largest rank at finitely many points of the domain. If it is the number of "
    "parameters minus the number of hidden neurons, then to first order nothing but positive "
    "scalings keeps the function."
)

#: The meaning of a claim about the regions of a network.
REGIONS_MEANING = (
    "The claim is about the cells of full dimension that the signs of all hidden neurons cut out "
    "of the domain, for the exact weights in the file; neighbouring cells may have the same affine "
    "map."
)

#: The meaning of a claim about all cells of a network.
COMPLEX_MEANING = (
    "The claim is about the cells that the signs of all hidden neurons, and of the constraints of "
    "the domain, cut out of it, for the exact weights in the file; neighbouring cells may have the "
    "same affine map."
)

#: The meaning of a claim about a float runtime.
RUNTIME_MEANING = (
    "The claim is about a runtime that computes layer by layer in the named format, to nearest, "
    "sums in any order, with or without fused multiply-adds, on inputs of that format; numbers "
    "below the normal range may be taken for 0. No shorter format, no transformed convolution, "
    "nothing fused across a ReLU."
)

GENERIC = (
    "generic parameters: rank W[1] = n_1, supertransversal (a cell of codimension k has exactly k "
    "zeros), and no masked product with nonempty masks vanishes; all parameters but a set of "
    "measure zero, if n_0 >= n_1"
)

REGULAR = (
    "regular parameters: every cell of codimension 0 has no zero in its sign vector, every cell of "
    "codimension 1 exactly one, and no masked product with nonempty masks vanishes; they include "
    "the transversal ones, and all but a set of measure zero, whatever the widths"
)

LEAKY_REGULAR = (
    "regular stacks of leaky ReLUs of this slope: every cell of codimension 0 has no zero in its "
    "sign vector, every cell of codimension 1 exactly one, and the gradient jumps across it"
)

SPARSE = (
    "sparse parameters: supertransversal (a cell of codimension k has exactly k zeros), and no "
    "masked product vanishes whose masks are joined by a path of nonzero weights; they include the "
    "transversal ones, and, whatever the places of zero weights, all parameters with these zeros "
    "but a set of measure zero among them"
)

TRANSVERSAL = (
    "transversal parameters: supertransversal (a cell of codimension k has exactly k zeros), and "
    "no masked product with nonempty masks vanishes; all parameters but a set of measure zero, "
    "whatever the widths"
)
