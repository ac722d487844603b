"""The kill test: hosts that are killed in the middle of writing runs, resumed, and judged by the services' own log."""
