"""Learns a tool by calling it."""
