"""Writers of network files, one module for each format; `save` chooses by the ending."""
