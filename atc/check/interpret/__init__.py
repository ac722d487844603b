"""Statements and expressions: what each does to what is known."""
