"""The reader of MATLAB files, versions 5 to 7, with the cell arrays W and b."""
