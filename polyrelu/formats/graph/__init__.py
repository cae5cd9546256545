"""The graph of tensor operations to which all file formats are reduced, and its lowering to layers.

Readers build a `Graph` (`values.py`) with the tensor functions of `tensors.py`, which express the
operations of ONNX, PyTorch and Keras in the few operations of `operations.py`. `lowering.py` turns
the graph into a network of ReLU layers; `float_error.py` bounds the rounding errors of a float
runtime that computes the graph.
"""
