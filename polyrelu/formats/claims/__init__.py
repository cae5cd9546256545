"""Files with what a float tool claims about a network: JSON, CSV or NPZ, with one vocabulary.

A file becomes a `ClaimsFile`: the claims by name, and how they are meant. JSON can say everything,
NPZ has arrays of the same names, and CSV has one table whose header says what it is. The page
docs/how-to/audit.md describes them, and schemas/claims.schema.json the JSON files. Sizes are asked
from the meter before anything is allocated, and pickles are never read.
"""

from polyrelu.formats.claims.claims_file import ClaimsFile
from polyrelu.formats.claims.reader import read_claims

__all__ = ["ClaimsFile", "read_claims"]
