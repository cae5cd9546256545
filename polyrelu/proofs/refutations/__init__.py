"""Other networks with the same function, found as moves, with the evidence that a checker needs."""
