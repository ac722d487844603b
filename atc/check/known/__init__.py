"""What the checker knows about a value, and where it keeps it."""
