"""What all tests share: the profile of hypothesis."""

from __future__ import annotations

from hypothesis import settings

# Examples are the same in every run, and slow machines do not fail for being slow.
settings.register_profile("polyrelu", derandomize=True, deadline=None)
settings.load_profile("polyrelu")
