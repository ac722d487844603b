"""Layers that the operating system puts between a program and the machine.

Standard library alone.
"""
