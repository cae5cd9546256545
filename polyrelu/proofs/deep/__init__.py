"""Theorem D: the identifiability of deep networks, proved from ridges of the function.

The modules build on each other in this order: `settings`, `ridges`, `families`, `neuron_evidence`,
`linear_systems` and `source_weights`, `hypotheses`; then what searches, `search`; then `selection`,
`evidence`, `prover`; `one_sided_candidates` reads a search that did not succeed. Statement and
proof: docs/theory/deep.md.

A search keeps its `findings`. It comes in two parts:

* by walks, for what `goals` says: `planes` and `planes_inside`, `walk_targets`, `newton`,
  `walk_maker`, `walk_tasks`;
* by sight, in wide networks, before any walk: `orthant` has the coordinates, `ascent` moves points,
  towards zeros with `aim` and towards signs with `sign_ascent`; `sight` covers the layers before
  the last hidden one, `both_signs` and `triangles` that one; `planes_of_ridges` lays planes through
  what was found, and `ridges_by_sight` hands it over.

Words. `ridges`, `families` and `neuron_evidence` define the words that all modules and the page
use; the first table of the page gives the other words that FORMAT.md has for the same things. A
hidden neuron has a `NeuronId`, which holds its layer and its `index` in the layer, both named as
everywhere in the package. Masks and certificates need one integer instead: the *neuron number*,
counted from 0 layer by layer. Arguments named `neuron`, `u`, `v` and `h` are neuron numbers, and
arguments named `neuron_id` or `input_id` are `NeuronId`s. `DeepNetwork.number_of`, `neuron_id` and
`index_in_layer` convert between them.
"""
