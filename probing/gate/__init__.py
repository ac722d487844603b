"""The gate of every call: what may be called, how fast, how often, and only once."""
