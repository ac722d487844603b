"""Safety checks of a run: a person's consent, the check of argument values, and redaction of
secrets.
"""
