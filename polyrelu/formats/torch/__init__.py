"""The reader of PyTorch: its files, state dicts and traced modules, and PyTorch as a runtime."""
