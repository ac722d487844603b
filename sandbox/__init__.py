"""Runs programs that nobody trusts, and hosts their tool calls."""
