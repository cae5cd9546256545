"""Network files as graphs of tensor operations, and how a graph becomes layers of neurons."""
