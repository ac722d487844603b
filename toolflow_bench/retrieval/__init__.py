"""Measures retrieval: queries with the tools that they need, held against what each method finds."""
