"""Layers: restrictions by which the operating system isolates a program from the machine.

The modules of this package import only the standard library.
"""
