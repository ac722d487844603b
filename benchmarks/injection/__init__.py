"""Injection: text of tools that would have a program send, pay, open or execute something that nobody asked for."""
