"""The constants of the deep search: how far it walks, how often it evaluates, what it remembers.

`SETTINGS` is the one instance, which all modules of this folder read. No constant here bears on
whether a claim is true: a search with other settings finds other ridges, in another order, and the
hypotheses of Theorem D are evaluated exactly at whatever ridges there are. A change of a value does
change the certificates that a seed leads to.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["SETTINGS", "DeepSearchSettings"]


@dataclass(frozen=True, slots=True)
class DeepSearchSettings:
    """Limits and probabilities of the deep search.

    Attributes
    ----------
    random_walk_cells
        Maximum number of cells per walk in a random plane.
    aimed_walk_cells
        Maximum number of cells per walk towards the zeros of chosen neurons.
    cells_per_target
        Number of further cells, for each of the neurons, of a walk towards the zeros of several
        neurons together.
    climb_cells
        Maximum number of cells per walk from a ridge to a crossing with the next layer.
    global_zero_cells
        Maximum number of cells on the way from a random point to a zero of a neuron.
    local_zero_cells
        Maximum number of cells on the way from a point near a piece to a zero of its neuron.
    walks_per_neuron
        Minimum number of walks per hidden neuron between two evaluations.
    growth
        Minimum number of walks between two evaluations, as a share of all walks so far.
    evaluation_growth
        All hypotheses, with their linear systems, are evaluated when the number of walks has grown
        by this factor since the last time.
    idle_walks, idle_share
        A search is idle when more walks than `idle_walks` plus this share of all walks have been
        made since the last new ridge.
    idle_walks_on_domain
        The same on a domain, where some ridges are met by few planes only.
    together_neurons
        Number of hidden neurons from which on several walks are begun before the first of them is
        finished, so that several processes can make them.
    walks_together
        Number of these walks.
    random_plane_share
        Share of the walks that take place in random planes.
    random_plane_share_on_domain
        The same on a domain, whose walls cut bent hyperplanes into parts that no walk connects.
    elsewhere_share
        Share of the walks in random planes when some neuron h of the layer before is active at no
        known piece of the neuron v that the walk is for.
    any_family_share
        Share of the aimed walks, in the same case, that start from any family of v and not from its
        chosen one.
    from_above_share
        Share of the walks on a domain, for a neuron whose chain is too short, that follow a neuron
        of the next layer towards its zeros.
    climb_share
        Share of the walks for a neuron whose chain is too short that climb from its chosen family.
    together_share
        Share of the aimed walks that head for the zeros of several neurons together.
    overshoot
        A walk towards the zeros of several neurons changes their values, to first order, by minus
        this multiple of the values; 2 changes the signs.
    singular_value_cutoff
        Singular values below this share of the largest one count as 0 in the least-squares problem
        of such a walk.
    aim_noises
        Lengths of the random vector that is added to the unit direction of an aimed walk; one of
        them is chosen at random.
    compared_pieces
        Number of pieces that are compared as starting points of an aimed walk.
    three_points_share
        Share of the walks in random planes on a domain whose plane goes through three random points
        at which the neuron has both signs, if there are such points.
    compared_points
        Number of random points among which these points are looked for.
    approach_chance
        Share of the walks in random planes on a domain whose plane leads towards a point where the
        neuron has the other sign, whatever the distance.
    approach_steps
        Maximum number of steps from a random point of a domain towards one where a neuron has the
        other sign.
    approach_share
        Share of the way to the point of the domain where the neuron's form is extreme that one of
        these steps makes.
    known_ridge_share
        Share of the random points that are points of known pieces.
    scale_exponents
        Least and greatest exponent e at the start of a search; the other random points have
        coordinates of scale 2^e, e chosen at random.
    scale_growth
        Maximum number by which the greatest exponent grows.
    walks_per_scale
        Number of walks after which it grows by 1.
    coordinate_steps, coordinate_unit
        The coordinates of these points are k · `coordinate_unit` · 2^e, with random integers k of
        absolute value at most `coordinate_steps`.
    random_direction_size
        Largest absolute value of an entry in the second direction of a random plane.
    random_plane_noise
        Length of the random vector that is added to the unit vector towards a zero in the first
        direction of a random plane.
    full_chance_tries
        Number of tries for which a neuron without a piece has the full chance to be chosen for a
        walk; afterwards its chance falls from try to try.
    least_chance
        Least chance of a neuron with a piece to be chosen for a walk.
    few_missing
        When no more than this number of parts of the hypotheses are missing, walks also follow the
        bent hyperplanes of the neurons that are never active at a piece (D2').
    sign_neurons
        Number of neurons of layer m+1 that walks are made for when the signs of layer m are
        missing.
    climb_starts
        Maximum number of crossings from which one climb is tried.
    point_digits
        Number of binary digits after the point in the coordinates of points of planes.
    direction_size
        Largest absolute value of an entry in the directions that are rounded from floats.
    direction_size_on_domain
        The same on a domain, where a direction may lead into a corner.
    farthest_coordinate
        Coordinates are cut to this absolute value before a plane is laid through a point.
    remembered_slices
        Number of planes whose affine slices are kept in memory.
    remembered_tables
        Number of gradient matrices, and of matrices of float forms, that are kept in memory.
    remembered_pieces
        Maximum number of pieces of a family of which it is remembered whether they determine
        weights.
    float_growth
        Weights are taken as floats as they are if values grow by at most this power of 2 from
        inputs of size 1; otherwise the network is rescaled.
    spare_equations
        Number of equations beyond the number of unknowns that are generated at a time.
    many_neurons
        With more neurons in a layer than this, the systems of single neurons alone are tried for
        the signs of the layer before.
    best_neurons
        Number of neurons whose systems are tried in this case, those crossed by most neurons first.
    choices
        Maximum number of times that families of neurons are chosen again which are not
        distinguished from others.
    most_tried
        Maximum number of neurons of a layer that are not oriented for which all sets of them are
        tried, one after the other; FORMAT.md allows 12.
    idle_blocks
        Number of successive blocks of equations that add nothing to the rank after which the
        remaining equations are left out.
    selection_ridges
        Total number of ridges that are evaluated in trials while ridges are left out of a
        certificate; fewer in wide networks, where the linear systems are large.
    wide_layer
        Width from which on these trials become more expensive; the cost grows with the square.
    selection_repairs
        Maximum number of times that ridges are added to a selection which is not enough.
    regular_rounds
        Number of rounds of walks for regular competitors that follow a search which was enough for
        transversal ones: often these walks find the few clear ridges that are missing.
    named_missing
        Maximum number of kinds of missing parts of which an attempt names one in its reason.
    sampled_sectors
        Maximum number of sectors in which the signs of neurons are compared to find neurons with
        one sign.
    dry_walks, dry_share, dry_rounds
        When the walks since a piece or an active neuron that was missing was found last are more
        than this number, than this share of all walks, and than these many first rounds have,
        common zeros are looked for.
    newton_share
        Share of the walks that then start at common zeros.
    newton_points
        Number of points from which one search for common zeros starts.
    newton_walks
        Maximum number of walks from its results.
    newton_start
        Distance of the start of such a walk from the zero of the neuron, as a share of the largest
        coordinate.
    sight_neurons, sight_depth
        A search by sight comes first in networks with this many hidden neurons and layers, the
        output layer included.
    last_layer_missing
        The last hidden layer is searched by sight only if no more than this share of the pairs of
        each earlier layer are missing.
    last_layer_share
        Work that the last hidden layer has for itself, as a share of the whole budget.
    """

    random_walk_cells: int = 60
    aimed_walk_cells: int = 40
    cells_per_target: int = 2
    climb_cells: int = 25
    global_zero_cells: int = 300
    local_zero_cells: int = 20
    walks_per_neuron: int = 2
    growth: float = 0.25
    evaluation_growth: int = 2
    idle_walks: int = 200
    idle_walks_on_domain: int = 500
    idle_share: float = 0.5
    together_neurons: int = 128
    walks_together: int = 32
    random_plane_share: float = 0.1
    random_plane_share_on_domain: float = 0.4
    elsewhere_share: float = 0.25
    any_family_share: float = 0.5
    from_above_share: float = 0.4
    climb_share: float = 0.5
    together_share: float = 0.4
    overshoot: int = 2
    singular_value_cutoff: float = 1e-6
    aim_noises: tuple[float, ...] = (0, 0.1, 1)
    compared_pieces: int = 8
    three_points_share: float = 0.25
    compared_points: int = 12
    approach_chance: float = 0.5
    approach_steps: int = 8
    approach_share: float = 0.5
    known_ridge_share: float = 0.3
    scale_exponents: tuple[int, int] = (-6, 4)
    scale_growth: int = 12
    walks_per_scale: int = 40
    coordinate_steps: int = 64
    coordinate_unit: float = 1 / 16
    random_direction_size: int = 9
    random_plane_noise: float = 0.25
    full_chance_tries: int = 4
    least_chance: float = 0.2
    few_missing: int = 32
    sign_neurons: int = 3
    climb_starts: int = 4
    point_digits: int = 24
    direction_size: int = 1000
    direction_size_on_domain: int = 2**16
    farthest_coordinate: float = 2.0**200
    remembered_slices: int = 64
    remembered_tables: int = 64
    remembered_pieces: int = 2
    float_growth: float = 300.0
    spare_equations: int = 8
    many_neurons: int = 64
    best_neurons: int = 8
    choices: int = 8
    most_tried: int = 10
    idle_blocks: int = 3
    selection_ridges: int = 20_000
    wide_layer: int = 32
    selection_repairs: int = 6
    regular_rounds: int = 4
    named_missing: int = 5
    sampled_sectors: int = 20_000
    dry_walks: int = 500
    dry_share: float = 0.25
    dry_rounds: int = 4
    newton_share: float = 0.25
    newton_points: int = 64
    newton_walks: int = 4
    newton_start: float = 2.0**-16
    sight_neurons: int = 256
    sight_depth: int = 5
    last_layer_missing: float = 1 / 32
    last_layer_share: float = 1.0


#: The settings of every search.
SETTINGS = DeepSearchSettings()
