"""Refutations of identifiability: other networks with the same function, with their evidence.

Names. A neuron has a `layer` and an `index` in it (`NeuronId`). `valid_inequalities` numbers the
hidden neurons from 0, layer by layer, as certificates do; this is the *neuron number*. Its forms
have coefficients by *symbol*: the constant 1, the inputs, and then the activations of the hidden
neurons in the order of their numbers.
"""
