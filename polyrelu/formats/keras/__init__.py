"""Keras models of versions 1 to 3: files, layers; HDF5 is read in a process of its own."""
