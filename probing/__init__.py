"""Probing: learning the protocols of tools by calling them. `probing.probe` is the entry point."""
