"""Certified bounds of differences and ranges of networks: rules that checkers follow, searches."""
