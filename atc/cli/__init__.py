"""The command line `atc`. Each of its verbs, such as `atc run`, has a module.

This package reads the settings and connects the other packages.
"""
