"""Fibers: all parameters that compute one function, with their dimensions, equations and members."""
