"""Observers, which receive the events of a run: the terminal view and OpenTelemetry spans."""
