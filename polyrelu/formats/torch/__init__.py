"""PyTorch: files, state dicts, modules, operations, and PyTorch itself for comparison."""
