"""Recovery of networks from the values of their functions.

`recover` asks a network for values, finds a network that has them, and proves that it is the right
one; `recover_function` guesses a network from any function, and `recover_weights` takes a weighted
breakpoint complex. Data flow: `oracle` (values, counted) → `lines` (breakpoints) → `jumps`
(gradients) → `planes` (hyperplanes of layer 1) and `surfaces` (of layer 2) → `inner_layer`,
`outer_layer`, `two_layers` → `search` → `recover`, with `visibility`; of deeper networks
`first_layer` finds the hyperplanes. `from_lines` rebuilds a network from the values of a teaching
set.
"""

from polyrelu.recovery.choices import Choices
from polyrelu.recovery.from_lines import recover_taught
from polyrelu.recovery.jumps import Hyperplane
from polyrelu.recovery.recover import Recovery, recover, recover_function, recover_weights

__all__ = [
    "Choices",
    "Hyperplane",
    "Recovery",
    "recover",
    "recover_function",
    "recover_taught",
    "recover_weights",
]
