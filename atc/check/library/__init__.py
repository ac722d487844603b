"""Builtins, methods of built-in types, and the standard library."""
