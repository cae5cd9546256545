"""Measurements with fixed seeds; each script writes JSON (and a plot) to benchmarks/results. Run
from the repository's root."""
