"""One hidden layer: all parameters as competitors (docs/theory/shallow.md)."""
