"""MATLAB files of version 5 to 7 with the cell arrays W and b."""
