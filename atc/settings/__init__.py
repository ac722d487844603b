"""The settings of the user: reading them from files, variables and flags, and trust in files."""
