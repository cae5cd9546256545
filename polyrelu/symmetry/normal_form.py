"""Permutation and positive scaling of hidden neurons, and the canonical form under both.

Two networks are *related* (θ ~ θ') if one comes from the other by permuting the neurons of hidden
layers and scaling hidden neurons: incoming row and bias times λ > 0, outgoing weights divided by λ.
The canonical form is the same for related networks and different for others, degenerate ones
included.

Scaling comes first. From the first layer to the last, every neuron is scaled so that the absolute
values of its incoming weights and bias sum to 1. A neuron whose incoming weights and bias vanish is
constantly 0 and is scaled by its outgoing weights instead. What remains is a graph canonisation
problem: neurons are coloured by their weights, colours are refined by incoming and outgoing weights
until they are stable, and neurons that still share a colour are distinguished by trying each of
them as the first one. Random weights leave no neurons of the same colour.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

from polyrelu.errors import NetworkError
from polyrelu.exact import Rational, RationalMatrix, to_fraction
from polyrelu.formats.arguments import NetworkLike, as_network
from polyrelu.network import Block, Layer, Network
from polyrelu.support.arguments import expect_integer, expect_list

__all__ = ["canonical_form", "permute", "related", "rescale"]

#: Maximum number of orderings of neurons of the same colour that are compared.
_LEAF_LIMIT = 1_000

#: The colour of each neuron, layer by layer, the input first.
_Colours = list[list[int]]
#: A change of a matrix of weights.
_OnMatrix = Callable[[RationalMatrix], RationalMatrix]
#: A block as (target layer, source layer, rows, columns).
_Table = tuple[int, int, list[tuple[Fraction, ...]], list[tuple[Fraction, ...]]]


def permute(network: NetworkLike, layer: int, order: Sequence[int]) -> Network:
    """Permute the neurons of a hidden layer; the function stays the same.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes.
    layer
        Number of the hidden layer, from 1; the last layer of a network that ends in a ReLU cannot
        be permuted.
    order
        The indices of all neurons of the layer, in the order in which they are wanted.

    Returns
    -------
    Network
        The changed network.

    Raises
    ------
    NetworkError
        There is no such layer, or the order is not a permutation.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [2]], [0, 1]), ([[3, 4]], [0])])
    >>> permute(net, 1, [1, 0]).weight(1).rows()
    [(Fraction(2, 1),), (Fraction(1, 1),)]
    """
    network = as_network(network)
    layer = _free_layer(network, layer)
    places = [expect_integer(index, "order") for index in expect_list(order, "order")]
    if sorted(places) != list(range(network.widths[layer])):
        listed = f"{len(places)} indices" if len(places) > 20 else str(places)
        raise NetworkError(
            f"{listed} is not a permutation of the {network.widths[layer]} neurons of layer {layer}"
        )
    return _transformed(
        network, layer, lambda rows: rows.take(rows=places), lambda w: w.take(columns=places)
    )


def rescale(network: NetworkLike, layer: int, factors: Sequence[Rational]) -> Network:
    """Scale the neurons of a hidden layer by positive factors; the function stays the same.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes.
    layer
        Number of the hidden layer, from 1; the last layer of a network that ends in a ReLU cannot
        be scaled.
    factors
        A factor > 0 for each neuron of the layer: its incoming weights and bias are multiplied, its
        outgoing weights are divided by it.

    Returns
    -------
    Network
        The changed network.

    Raises
    ------
    NetworkError
        There is no such layer, or the number or a sign of the factors is wrong.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [2]], [0, 1]), ([[3, 4]], [0])])
    >>> rescale(net, 1, [2, "1/2"]).weight(2).rows()
    [(Fraction(3, 2), Fraction(8, 1))]
    """
    network = as_network(network)
    layer = _free_layer(network, layer)
    scales = [to_fraction(factor) for factor in expect_list(factors, "factors")]
    if len(scales) != network.widths[layer] or min(scales) <= 0:
        raise NetworkError(f"layer {layer} needs {network.widths[layer]} positive factors")
    inverse = [1 / scale for scale in scales]
    return _transformed(
        network, layer, lambda rows: rows.scale_rows(scales), lambda w: w.scale_columns(inverse)
    )


def related(first: NetworkLike, second: NetworkLike) -> bool:
    """Decide whether two networks differ by permuting and positively scaling hidden neurons.

    Parameters
    ----------
    first
        A network, or what `polyrelu.load` takes.
    second
        Another network, in any of these forms.

    Returns
    -------
    bool
        Whether the networks are related.

    Raises
    ------
    NetworkError
        The canonical form of a network cannot be computed, see `canonical_form`.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [2]], [0, 1]), ([[3, 4]], [0])])
    >>> related(net, rescale(net, 1, [5, 7]))
    True
    """
    first, second = as_network(first), as_network(second)
    if first.widths != second.widths or first.last != second.last:
        return False
    return canonical_form(first) == canonical_form(second)


def canonical_form(network: NetworkLike) -> Network:
    """Compute the canonical form under permutation and positive scaling of hidden neurons.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes.

    Returns
    -------
    Network
        The representative of all networks related to this one.

    Raises
    ------
    NetworkError
        More than 1,000 orderings of neurons of the same colour would have to be compared, or
        neurons that are constantly 0 and reach no output have weights on each other.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> a = from_arrays([([[1], [2]], [0, 1]), ([[3, 4]], [0])])
    >>> canonical_form(a) == canonical_form(permute(rescale(a, 1, [5, 7]), 1, [1, 0]))
    True
    """
    scaled = _scaled(as_network(network))
    return min(
        _orderings(scaled, _refined(scaled, _first_colours(scaled)), [_LEAF_LIMIT]), key=_sort_key
    )


def _scaled(network: Network) -> Network:
    """The network with every free neuron in its canonical scale."""
    network, live = _live_scaled(network)
    return _inert_scaled(network, live)


def _live_scaled(network: Network) -> tuple[Network, list[set[int]]]:
    """The network with its live neurons scaled, and the live neurons of each layer.

    A neuron is *live* if it has a bias, or a weight on the input or on a live neuron.
    """
    live = [set(range(network.num_inputs))]
    for layer in range(1, network.depth + 1):
        sizes = [_incoming_size(network, layer, i, live) for i in range(network.widths[layer])]
        live.append({i for i, size in enumerate(sizes) if size})
        if layer <= _free_layers(network):
            network = rescale(network, layer, [1 / size if size else 1 for size in sizes])
    live[-1] = set(range(network.num_outputs))
    return network, live


def _inert_scaled(network: Network, fixed: list[set[int]]) -> Network:
    """The network with the other neurons scaled, which are constantly 0.

    Their scale comes from their weights to and from neurons of a fixed scale. Each sweep fixes the
    scales of the neurons next to those neurons, until nothing changes.
    """
    while True:
        scales = {
            (layer, i): size
            for layer in range(1, _free_layers(network) + 1)
            for i in set(range(network.widths[layer])) - fixed[layer]
            if (size := _size_beside(network, layer, i, fixed))
        }
        if not scales:
            break
        for (layer, i), size in scales.items():
            factors = [size if k == i else Fraction(1) for k in range(network.widths[layer])]
            network = rescale(network, layer, factors)
            fixed[layer].add(i)
    _refuse_loose_weights(network, fixed)
    return network


def _size_beside(network: Network, layer: int, neuron: int, fixed: list[set[int]]) -> Fraction:
    """The factor that scales a neuron by its weights to fixed neurons, or else from them.

    It is 0 if the neuron has no such weights.
    """
    outgoing = _outgoing_size(network, layer, neuron, fixed)
    incoming = _incoming_size(network, layer, neuron, fixed)
    return outgoing or (1 / incoming if incoming else Fraction())


def _refuse_loose_weights(network: Network, fixed: list[set[int]]) -> None:
    """Raise `NetworkError` if a neuron without a fixed scale has weights on others."""
    everything = [set(range(width)) for width in network.widths]
    for layer in range(1, _free_layers(network) + 1):
        for i in everything[layer] - fixed[layer]:
            if _outgoing_size(network, layer, i, everything) or _incoming_size(
                network, layer, i, everything
            ):
                raise NetworkError(
                    "neurons that are 0 and reach no output weigh on each other; "
                    "no canonical form for these"
                )


def _incoming_size(network: Network, layer: int, neuron: int, live: list[set[int]]) -> Fraction:
    """The sum of the absolute bias and the absolute weights of a neuron from live neurons."""
    own = network.layers[layer - 1]
    weights = ((block.source, block.weight.row(neuron)) for block in own.blocks)
    return sum(
        (abs(row[h]) for source, row in weights for h in live[source]), abs(own.bias[neuron, 0])
    )


def _outgoing_size(network: Network, layer: int, neuron: int, fixed: list[set[int]]) -> Fraction:
    """The sum of the absolute weights of a neuron to fixed neurons and outputs."""
    blocks = [
        (target, b)
        for target, later in enumerate(network.layers, 1)
        for b in later.blocks
        if b.source == layer
    ]
    return sum(
        (abs(block.weight[i, neuron]) for target, block in blocks for i in fixed[target]),
        Fraction(),
    )


def _first_colours(network: Network) -> _Colours:
    """Different colours for all inputs and outputs, one colour for the neurons of a free layer."""
    free = _free_layers(network)
    return [
        [0] * width if 1 <= number <= free else list(range(width))
        for number, width in enumerate(network.widths)
    ]


def _refined(network: Network, colours: _Colours) -> _Colours:
    """The stable refinement of colours by bias, incoming and outgoing weights."""
    tables = _weight_tables(network)
    while True:
        finer = [_layer_colours(network, tables, colours, number) for number in range(len(colours))]
        if [len(set(layer)) for layer in finer] == [len(set(layer)) for layer in colours]:
            return finer
        colours = finer


def _weight_tables(network: Network) -> list[_Table]:
    """All blocks of the network."""
    return [
        (number, block.source, block.weight.rows(), block.weight.transpose().rows())
        for number, layer in enumerate(network.layers, 1)
        for block in layer.blocks
    ]


def _layer_colours(
    network: Network, tables: Sequence[_Table], colours: _Colours, number: int
) -> list[int]:
    """The colours of a layer refined once."""
    keys: list[tuple[int, Fraction, tuple[tuple[tuple[int, Fraction], ...], ...]]] = []
    for i, colour in enumerate(colours[number]):
        around: list[tuple[tuple[int, Fraction], ...]] = []
        for target, source, rows, columns in tables:
            if target == number:
                around.append(tuple(sorted(zip(colours[source], rows[i], strict=True))))
            if source == number:
                around.append(tuple(sorted(zip(colours[target], columns[i], strict=True))))
        keys.append((colour, network.bias(number)[i, 0] if number else Fraction(), tuple(around)))
    ranks = {key: rank for rank, key in enumerate(sorted(set(keys)))}
    return [ranks[key] for key in keys]


def _orderings(network: Network, colours: _Colours, budget: list[int]) -> Iterator[Network]:
    """The networks sorted by colour, one for each choice of an order among equal colours.

    Raises `NetworkError` if `budget`, the number of networks that are left, falls below 0.
    """
    tied = next(
        (
            (number, [i for i, c in enumerate(layer) if c == colour])
            for number, layer in enumerate(colours)
            for colour in sorted(set(layer))
            if layer.count(colour) > 1
        ),
        None,
    )
    if tied is None:
        budget[0] -= 1
        if budget[0] < 0:
            raise NetworkError(
                f"more than {_LEAF_LIMIT} orderings of look-alike neurons: "
                "no canonical form within the bound"
            )
        yield _sorted_by(network, colours)
        return
    number, members = tied
    split = list(colours)
    if _are_twins(network, number, members):  # every order gives the same network
        size = len(colours[number])
        places = {neuron: place for place, neuron in enumerate(members)}
        split[number] = [
            size * colour + places.get(i, 0) for i, colour in enumerate(colours[number])
        ]
        yield from _orderings(network, _refined(network, split), budget)
        return
    for chosen in members:
        split[number] = [2 * colour + (i != chosen) for i, colour in enumerate(colours[number])]
        yield from _orderings(network, _refined(network, list(split)), budget)


def _are_twins(network: Network, layer: int, members: Sequence[int]) -> bool:
    """Whether the neurons have the same bias, incoming and outgoing weights."""
    own = network.layers[layer - 1]
    parts = (
        [block.weight for block in own.blocks]
        + [own.bias]
        + [w.transpose() for w in _outgoing(network, layer)]
    )
    return all(part.row(i) == part.row(members[0]) for part in parts for i in members[1:])


def _sorted_by(network: Network, colours: _Colours) -> Network:
    """The network with the neurons of each free layer in the order of their colours."""
    for layer in range(1, _free_layers(network) + 1):
        network = permute(
            network, layer, sorted(range(network.widths[layer]), key=colours[layer].__getitem__)
        )
    return network


def _sort_key(network: Network) -> list[Fraction]:
    """All weights and biases in a fixed order."""
    parts = [
        part
        for layer in network.layers
        for part in (*(block.weight for block in layer.blocks), layer.bias)
    ]
    return [entry for part in parts for entry in part.entries()]


def _free_layers(network: Network) -> int:
    """The number of layers whose neurons may be permuted and scaled.

    The last layer is not free: after a trailing ReLU follows a fixed identity.
    """
    return network.depth - 1


def _free_layer(network: Network, layer: int) -> int:
    """The number of a free layer; others raise `NetworkError`."""
    number = expect_integer(layer, "layer")
    if not 1 <= number <= _free_layers(network):
        raise NetworkError(
            f"layer {number} is not a hidden layer with free neurons (1 to {_free_layers(network)})"
        )
    return number


def _outgoing(network: Network, layer: int) -> list[RationalMatrix]:
    """The weights of all later layers on a layer."""
    return [
        block.weight for later in network.layers for block in later.blocks if block.source == layer
    ]


def _transformed(network: Network, layer: int, incoming: _OnMatrix, outgoing: _OnMatrix) -> Network:
    """The network with changed incoming weights, bias and outgoing weights of a layer."""
    changed: dict[int, Layer] = {}
    for number, own in enumerate(network.layers, 1):
        blocks = tuple(
            Block(b.source, outgoing(b.weight) if b.source == layer else b.weight)
            for b in own.blocks
        )
        changed[number] = Layer(blocks, own.bias)
    own = changed[layer]
    blocks = tuple(Block(b.source, incoming(b.weight)) for b in own.blocks)
    changed[layer] = Layer(blocks, incoming(own.bias))
    return network.replace_layers(changed)
