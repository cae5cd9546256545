"""Services without mathematics: limits, budgets, Ctrl-C, text files, progress, names of types."""
