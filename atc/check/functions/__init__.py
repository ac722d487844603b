"""The program's own functions and classes."""
