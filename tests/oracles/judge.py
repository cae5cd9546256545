"""Judge a verdict of `identify` by routes that share nothing with the provers.

* The checker accepts the certificate.
* *Proved*: there is no fiber of positive dimension at the network (by the exact Jacobian over all
open
  cells, and by one-sided derivatives on the lower-dimensional cells where it leaves a direction).
* *NotIdentifiable*: the other network computes the same function (brute-force comparison on all
common
  cells) and is not related (all permutations are tried).
* With two hidden layers, n_0 ≥ n_1 ≥ 2 and θ generic, proved iff no row of [A | a] is of one sign
and no
  neuron is hidden (Theorem 5).
"""

from __future__ import annotations

from fractions import Fraction

import polyrelu
from polyrelu import Certificate, Outcome, Proved, Refuted, checker
from polyrelu.certificate import TreeCertificate
from polyrelu.network import Network as ExactNetwork
from polyrelu.outcomes import Equivalent, NotEquivalent, NotIdentifiable
from polyrelu.proofs.membership import generic_membership
from polyrelu.support.text_files import layout
from tests.oracles.grid import grid_table, member_indices_on_grid, related, same_function
from tests.oracles.local_fiber import is_locally_rigid
from tests.oracles.plain import Network

__all__ = [
    "certificate_bytes",
    "contradictions",
    "is_identifiable_by_signs",
    "plain",
    "unrelated_members",
]


def plain(network: ExactNetwork) -> Network:
    """The weights as lists of fractions, for the oracles."""
    return [
        ([list(row) for row in layer.weight.rows()], list(layer.bias.entries()))
        for layer in network.layers
    ]


def certificate_bytes(outcome: Proved[Certificate] | Refuted | Equivalent | NotEquivalent) -> bytes:
    """The certificate as a file has it, with every network inline."""
    if isinstance(outcome.certificate, TreeCertificate):
        return b"".join(outcome.certificate.lines())
    document, _ = outcome.certificate.to_document()
    return layout(document).encode("ascii")


def contradictions(layers: Network, outcome: Outcome) -> list[str]:
    """Arguments against the verdict; empty if there are none."""
    if not isinstance(outcome, Proved | NotIdentifiable):
        return []
    found = []
    report = checker.check_bytes(certificate_bytes(outcome))
    if report.verdict != "accepted":
        found.append(
            f"the checker says {report.verdict}: {report.step}, expected {report.expected}, got "
            f"{report.got}"
        )
    if isinstance(outcome, Proved):
        if is_locally_rigid(layers) is False:
            found.append("proved, but there may be a curve of parameters with the same function")
    else:
        other = plain(outcome.other)
        if not same_function(layers, other):
            found.append("refuted by a network with another function")
        if related(layers, other):
            found.append("refuted by a related network")
    return found


def is_identifiable_by_signs(layers: Network) -> bool:
    """The sign condition of Theorem 5 for a generic parameter with n_0 ≥ n_1 ≥ 2."""
    weight, bias = layers[1]
    rows = [[*row, b] for row, b in zip(weight, bias, strict=True)]
    one_sided = any(min(row) > 0 or max(row) < 0 for row in rows)
    return not one_sided and not any(_hides(rows, j) for j in range(len(weight[0])))


def _hides(rows: list[list[Fraction]], j: int) -> bool:
    return all(
        row[j] > 0 and all(entry < 0 for k, entry in enumerate(row) if k != j) for row in rows
    )


def unrelated_members(
    layers: Network, values: tuple[int, ...], outcome: Proved[Certificate]
) -> list[Network]:
    """Members of the class on the grid with the function of the network, not related to it."""
    table = grid_table((len(layers[0][0][0]), *(len(bias) for _, bias in layers)), tuple(values))
    members = [table.network(int(index)) for index in member_indices_on_grid(layers, values)]
    unrelated = [member for member in members if not related(layers, member)]
    if outcome.certificate.claim.among == "all":
        return unrelated
    return [
        m for m in unrelated if generic_membership(polyrelu.from_arrays(m))["status"] != "refuted"
    ]
