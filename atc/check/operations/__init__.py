"""Operators, comparisons, formatting, and what kinds of values they take."""
