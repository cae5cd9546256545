"""Programs that ``torch.export.save`` writes (``.pt2``), read as data, without PyTorch.

``torch.export.load`` evaluates expressions of the file, so it can run code; nothing here does.
"""
