"""How long tests wait for what has to happen: only what hangs takes so long on a busy machine."""

PATIENCE = 600.0
"""Seconds."""
