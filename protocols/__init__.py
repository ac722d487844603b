"""Tool protocols: their format, their sources, and calls."""
