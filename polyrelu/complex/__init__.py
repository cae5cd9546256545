"""The canonical polyhedral complex of a network: domain, cells and signs, subdivision."""
