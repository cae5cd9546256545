"""Watching training: exact quantities of a network after each step, and one picture at the end.

`measure` takes the exact quantities of one network (`Snapshot`); a `TrainingRecorder` does so in a
training loop, by itself or as a hook of an optimiser of PyTorch; a `TrainingHistory` holds what was
measured, as a table and as a picture. Data flow: `snapshot` → `history` (with `picture`) →
`recorder`.
"""

from polyrelu.training.history import TrainingHistory
from polyrelu.training.recorder import TrainingRecorder
from polyrelu.training.snapshot import Snapshot, measure

__all__ = ["Snapshot", "TrainingHistory", "TrainingRecorder", "measure"]
