from pathlib import Path
def growth(limit: float) -> dict: return {}
def files(nets: Path, limit: float) -> dict: return {}
