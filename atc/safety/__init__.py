"""Safety checks of a run.

They are a person's consent to calls, the check of argument values, and the redaction of secrets.
"""
