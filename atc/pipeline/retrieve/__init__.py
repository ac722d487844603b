"""Retrieval: finding the few tools that a task needs among many."""
