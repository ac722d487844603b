"""Sandboxes: run untrusted programs and answer their tool calls."""
