"""Float runtimes: comparison with the exact network, outputs at a point, certified error bounds."""
