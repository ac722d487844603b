"""Calls of tools: what their schemas take, and what they give."""
