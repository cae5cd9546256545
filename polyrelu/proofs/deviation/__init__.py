"""How far two networks are from each other on a domain, and ranges of outputs."""
