"""Finds the few tools that matter for a task."""
