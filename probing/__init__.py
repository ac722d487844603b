"""Probing: learning how tools behave by calling them. `probing.probe` is the entry point."""
