"""Measurements and attacks with fixed seeds, as scripts.

Each script runs as `python -m benchmarks.NAME` from the root of the repository and writes JSON, and
most a plot, to benchmarks/results; numbers in the README and in docs come from these files.
Networks that the project does not hold are found by options or by the environment variable
POLYRELU_SHARED, see tests/generators/files.py.
"""
