"""Guards of a run: consent, the check of argument values, and redaction of secrets."""
