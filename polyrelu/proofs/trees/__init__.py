"""Split trees: joint networks, node polyhedra, bounds of forms, and the search for a tree.

Words, as in FORMAT.md §5, which all modules of this folder use:

* *Symbols* are the numbers of the variables in forms: 0 is the constant 1, then come the
  coordinates of the domain, then the atoms. A *form* is an integer linear combination of symbols
  (`sparse_forms`); its `columns` are the symbols with nonzero coefficients.
* An *atom* is max(h, 0) with a form h over earlier symbols. It is one variable for all neurons, of
  both networks, whose activations are multiples of max(h, 0). Its form does not change in a tree.
  `JointNetwork.atom_number` turns its symbol into the number that certificates give to atoms.
* A *term* is max(h', 0) with the form h' that remains of an atom's form at a node, where the atoms
  with known signs are replaced by their forms or by 0. Several atoms may have the same term.
* A neuron of one of the two networks is a `Neuron` with its `layer` and its `index_in_layer`.
"""
