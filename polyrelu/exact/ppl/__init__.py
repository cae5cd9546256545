"""Conversions between constraints and generators by the Parma Polyhedra Library (PPL)."""
