"""Membership of a network in the classes of competitors."""

from __future__ import annotations

import math
from itertools import combinations, product
from typing import Any

from polyrelu.checking.arithmetic import check_determinant, check_indices, dot, pivot_columns
from polyrelu.checking.claims import DEEP_CLASSES, SPARSE
from polyrelu.checking.meter import Meter, longest, require, well_formed
from polyrelu.checking.networks import Layer, Network
from polyrelu.checking.theorems import nonempty_sums

# ==== 3.4 Membership in the classes generic, transversal and regular ====

MAX_MINORS, MAX_ROWS_OF_SUMS, MAX_SUMS, MAX_SUM_BITS = 5_000, 16, 2**16, 2**26


def check_membership(kind: str, among: str, network: Network, evidence: Any, meter: Meter) -> None:
    """What is known of a network's membership in the class."""
    method, status = evidence.get("method", "open"), evidence["status"]
    require((method == "every") == (among == "all"), f"evidence for the class {among}", method)
    if kind == "not-identifiable":
        require(status == "verified", "verified membership", status)
    if among == SPARSE:  # whose zero weights let products vanish
        require(method in ("open", "minors"), f"evidence for the class {among}", method)
    elif among in DEEP_CLASSES:
        require(method != "bias", f"evidence for the class {among}", method)
    else:
        require(method != "masks", f"evidence for the class {among}", method)
    if method == "masks":
        check_masks(network, evidence["layer"], evidence["masks"], meter)
    elif method in ("minors", "bias", "product"):
        check_with_two_hidden_layers(network, method, evidence, meter)


def check_with_two_hidden_layers(
    network: Network, method: str, evidence: Any, meter: Meter
) -> None:
    """The methods for L = 3."""
    require(len(network.layers) == 3, "L = 3", str(network))
    require(network.last == "affine", "an affine output", str(network))
    first, lower, upper = network.layers
    if method == "minors":
        columns = evidence["columns"]
        check_indices(columns, len(first.rows[0]), "columns", len(first.rows))
        meter.pay(2 * len(first.rows) * len(first.rows[0]), first.bits, first.bits)
        rows = [[row[c] for c in columns] for row in first.primitive_rows()]
        check_determinant(rows, int(evidence["prime"]), meter)
        check_minors(lower, meter)
        check_sums(lower, upper, meter)
    elif method == "bias":
        row = evidence["row"]
        require(row < len(lower.bias), f"a row below {len(lower.bias)}", str(row))
        require(lower.bias[row] == 0, "a row of A with bias zero", str(row))
    else:
        chosen, j = evidence["rows"], evidence["column"]
        check_indices(chosen, len(lower.rows), "rows")
        require(len(chosen) > 0, "at least one row")
        require(j < len(lower.rows[0]), f"a column below {len(lower.rows[0])}", str(j))
        meter.pay(len(chosen) * len(upper.rows), lower.bits, upper.bits)
        sums = [sum(v[i] * lower.rows[i][j] for i in chosen) for v in upper.rows]
        require(not any(sums), "a sum that vanishes", "a nonzero one")


def check_minors(lower: Layer, meter: Meter) -> None:
    """All minors of [A|a] are nonzero, which implies G2."""
    matrix, m, n = lower.augmented(), len(lower.rows), len(lower.rows[0]) + 1
    message = f"beyond the limits: more than {MAX_MINORS} minors"
    well_formed(m <= MAX_ROWS_OF_SUMS, f"beyond the limits: {m} rows of A")
    count = math.comb(m + n, m)
    well_formed(count <= MAX_MINORS + 1, message)
    meter.pay(40 * count)
    for size in range(1, min(m, n) + 1):
        for rows, columns in product(combinations(range(m), size), combinations(range(n), size)):
            minor = [[matrix[i][k] for k in columns] for i in rows]
            rank = len(pivot_columns(minor, meter))
            require(rank == size, "nonzero minors of [A|a]", f"a zero of size {size}")


def check_sums(lower: Layer, upper: Layer, meter: Meter) -> None:
    """All sums of G3 are nonzero vectors.

    A vector of sums s_o, all |s_o| < 2^(bits-1), vanishes iff the integer sum of the s_o 2^(bits o)
    does.
    """
    m, n = len(lower.rows), len(lower.rows[0])
    bits = 2 + m.bit_length() + longest(lower.rows) + longest(upper.rows)
    well_formed(n << m <= MAX_SUMS, f"beyond the limits: more than {MAX_SUMS} sums")
    message = f"beyond the limits: sums of more than {MAX_SUM_BITS} bits together"
    well_formed(bits * len(upper.rows) << m < MAX_SUM_BITS, message)
    meter.pay(n << m, bits * len(upper.rows))
    packed = [sum(x << (bits * o) for o, x in enumerate(v)) for v in upper.columns()]
    for j in range(n):
        sums = nonempty_sums([v * row[j] for v, row in zip(packed, lower.rows, strict=True)])
        require(all(sums), "nonzero sums in G3", f"a zero for j = {j}")


def check_masks(network: Network, bottom: int, masks: list[list[int]], meter: Meter) -> None:
    """A masked product I_l W[l] ... W[k+1] I_k vanishes, k = `bottom`, with nonempty masks."""
    depth, top = len(network.layers), bottom + len(masks) - 1
    require(bottom < top <= depth, "masks of at least two layers", str(len(masks)))
    for k, mask in enumerate(masks, bottom):
        is_inner = 0 < k < depth
        count = None if is_inner else network.widths[k]  # I_0 and I_L keep everything
        check_indices(mask, network.widths[k], f"neurons of layer {k}", count)
        require(len(mask) > 0, "nonempty masks", f"layer {k}")
    size = len(masks[0])
    meter.pay(size * size)
    meter.hold(size * size)
    columns = [[int(i == j) for i in masks[0]] for j in masks[0]]
    for layer, mask, kept in zip(network.layers[bottom:top], masks, masks[1:], strict=False):
        meter.pay(len(kept) * len(mask) * (size + 1), longest(columns), layer.bits)
        meter.hold((size + len(mask)) * len(kept))
        rows = [[layer.rows[i][j] for j in mask] for i in kept]
        columns = [[dot(row, column) for row in rows] for column in columns]
    require(not any(map(any, columns)), "a masked product that vanishes")
