"""Float runtimes: comparison with the exact network, outputs at a point, proved error bounds."""
