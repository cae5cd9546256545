"""Slow, plain, exact reference computations; nothing in here imports the product."""
