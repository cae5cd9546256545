"""Float runtimes of file formats: their inputs, and the comparison with the exact network."""
