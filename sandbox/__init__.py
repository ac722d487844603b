"""Sandboxes, in which untrusted programs run and call tools."""
