"""Observers of a run: the terminal view and OpenTelemetry spans."""
