"""Networks whose layers read several layers before them: refutations of identifiability.

The theory is on the page docs/theory/architectures.md.
"""
