"""The sources of the independent checker, from which `build` makes `polyrelu/checker.py`.

Each module implements some sections of `certificate/FORMAT.md`, with the standard library only and
with imports from its neighbours only. The single file has the same text in the order of FORMAT.md;
people who check certificates run it alone. A change here is followed by

    python -m polyrelu.checking.build
"""
