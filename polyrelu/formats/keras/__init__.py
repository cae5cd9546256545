"""The reader of Keras models, versions 1 to 3; a separate process reads HDF5."""
