"""Networks as JSON documents and canonical bytes: the package's side of FORMAT.md §2.

A document holds each layer as integers over one denominator, a row of integers as one string. The
canonical bytes are the same numbers line by line; their SHA-256 identifies a network. The checker
reads documents with code of its own, so that every change here needs a change of FORMAT.md.
"""

from __future__ import annotations

import math
from typing import Any, cast

from polyrelu.errors import NetworkError
from polyrelu.exact import RationalMatrix, format_integer
from polyrelu.exact.rational import parse_integer
from polyrelu.network.canonical_bytes import (
    FORMAT,
    VERSION,
    bias_text,
    canonical_pieces,
    common_denominator,
    row_texts,
)
from polyrelu.network.layers import Block, Last, Layer
from polyrelu.network.network import READ, Network
from polyrelu.support.arguments import expect
from polyrelu.support.limits import PARAMETER_LIMIT

__all__ = ["FORMAT", "VERSION", "canonical_bytes", "from_document", "to_document"]


def to_document(network: Network) -> dict[str, Any]:
    """Write a network as a JSON document (FORMAT.md §2), zeros included.

    Parameters
    ----------
    network
        Any network.

    Returns
    -------
    dict
        The document, ready for `json.dumps`.

    Raises
    ------
    NetworkError
        With its zeros the network has more weights and biases than a network file may hold.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> to_document(from_arrays([([["1/2", 1]], [0])]))["layers"][0]["weights"]
    [{'from': 0, 'rows': ['1 2']}]
    """
    network = expect(network, Network, "network", READ)
    if network.num_parameters > PARAMETER_LIMIT:
        raise NetworkError(
            f"{network.num_parameters} weights and biases with the zeros of convolutions, "
            f"which a network file spells out; it holds {PARAMETER_LIMIT}"
        )
    return {
        "format": FORMAT,
        "version": VERSION,
        "inputs": network.num_inputs,
        "layers": [_layer_document(layer) for layer in network.layers],
        "last": network.last,
    }


def canonical_bytes(network: Network) -> bytes:
    """Return the bytes whose SHA-256 identifies the network (FORMAT.md §2).

    Parameters
    ----------
    network
        Any network.

    Returns
    -------
    bytes
        ASCII text with a newline at the end of each line.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> canonical_bytes(from_arrays([([["1/2", 1]], [0])])).decode().split("\\n")[1:5]
    ['inputs 2', 'layer 1 2', 'bias 0', 'from 0']
    """
    network = expect(network, Network, "network", READ)
    return b"".join(canonical_pieces(network.num_inputs, network.layers, network.last))


def from_document(document: object) -> Network:
    """Read a network from a JSON document (FORMAT.md §2).

    Parameters
    ----------
    document
        A parsed JSON value.

    Returns
    -------
    Network
        The network.

    Raises
    ------
    NetworkError
        The document does not follow the format; the message names the place.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([["1/2", 1]], [0])])
    >>> from_document(to_document(net)) == net
    True
    """
    if isinstance(document, dict) and document.get("format") == "polyrelu-certificate":
        raise NetworkError(
            "this is a certificate, not a network; use `polyrelu check` or `polyrelu show`"
        )
    top = _object(document, "the document", {"format", "version", "inputs", "layers", "last"})
    if top["format"] != FORMAT or not _is_count(top["version"]) or top["version"] != VERSION:
        got = f"{str(top['format'])[:40]!r}, {str(top['version'])[:40]!r}"
        raise NetworkError(f"expected format {FORMAT!r}, version {VERSION}; got {got}")
    if (
        not _is_count(top["inputs"])
        or not isinstance(top["layers"], list)
        or top["last"] not in ("affine", "relu")
    ):
        raise NetworkError(
            "expected 'inputs' a count, 'layers' a list, and 'last' either 'affine' or 'relu'"
        )
    if not top["inputs"]:
        raise NetworkError("a network needs at least one input and one layer")
    widths, layers = [top["inputs"]], list[Layer]()
    for entry in top["layers"]:
        layers.append(_layer(entry, widths))
        widths.append(layers[-1].width)
    return Network(top["inputs"], tuple(layers), cast(Last, top["last"]))


def _layer_document(layer: Layer) -> dict[str, Any]:
    denominator = common_denominator(layer)
    return {
        "denominator": format_integer(denominator),
        "bias": bias_text(layer, denominator),
        "weights": [
            {"from": b.source, "rows": list(row_texts(b.entries, denominator))}
            for b in layer.blocks
        ],
    }


def _layer(entry: object, widths: list[int]) -> Layer:
    """Read the layer that follows layers of the given widths, the input being the first."""
    place = f"layer {len(widths)}"
    document = _object(entry, place, {"denominator", "bias", "weights"})
    denominator = _integer_text(document["denominator"], f"{place}, denominator")
    bias = _row(document["bias"], f"{place}, bias", None)
    if denominator < 1 or not isinstance(document["weights"], list):
        raise NetworkError(f"{place}: expected a positive denominator and 'weights' a list")
    blocks = [_block(block, widths, len(bias), place) for block in document["weights"]]
    _need_lowest_terms(denominator, bias, blocks, place)
    return Layer(
        tuple(
            Block(source, RationalMatrix.from_integers(rows, denominator))
            for source, rows in blocks
        ),
        RationalMatrix.from_integers([[entry] for entry in bias], denominator),
    )


def _block(
    entry: object, widths: list[int], num_rows: int, place: str
) -> tuple[int, list[list[int]]]:
    """Read the weights on an earlier layer, whose sizes are checked before numbers are read."""
    document = _object(entry, f"{place}, weights", {"from", "rows"})
    source, rows = document["from"], document["rows"]
    if not _is_count(source) or not isinstance(rows, list) or not rows:
        raise NetworkError(f"{place}, weights: expected 'from' a count and 'rows' a nonempty list")
    place = f"{place}, weights from {source}"
    if source >= len(widths):
        raise NetworkError(f"{place}: expected an earlier layer, 0 to {len(widths) - 1}")
    if len(rows) != num_rows:
        raise NetworkError(f"{place}: expected {num_rows} rows, as the bias, got {len(rows)}")
    return source, [_row(row, f"{place}, row {i}", widths[source]) for i, row in enumerate(rows)]


def _need_lowest_terms(
    denominator: int, bias: list[int], blocks: list[tuple[int, list[list[int]]]], place: str
) -> None:
    content = math.gcd(
        denominator, *bias, *(entry for _, rows in blocks for row in rows for entry in row)
    )
    if content != 1:
        raise NetworkError(
            f"{place}: denominator and entries have the common factor {content}; divide it out"
        )


def _object(value: object, place: str, keys: set[str]) -> dict[str, Any]:
    if not isinstance(value, dict) or set(value) != keys:
        raise NetworkError(f"{place}: expected an object with the keys {', '.join(sorted(keys))}")
    return value


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value < 10**9


def _integer_text(value: object, place: str) -> int:
    if not isinstance(value, str):
        raise NetworkError(f"{place}: expected an integer as text")
    try:
        return parse_integer(value)
    except NetworkError as error:
        raise NetworkError(f"{place}: {error}") from None


def _row(value: object, place: str, size: int | None) -> list[int]:
    """Read a row of integers, of the given number unless it is None."""
    if not isinstance(value, str):
        raise NetworkError(f"{place}: expected a row of integers as text")
    if size is not None and (found := value.count(" ") + 1) != size:
        raise NetworkError(f"{place}: expected {size} numbers, got {found}")
    return [_integer_text(entry, place) for entry in value.split(" ")]
