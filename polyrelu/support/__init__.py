"""Services without mathematics: limits, budgets, Ctrl-C, text files, progress, names of types."""

from polyrelu.support.budget import Budget
from polyrelu.support.progress import Progress, ProgressStep

__all__ = ["Budget", "Progress", "ProgressStep"]
