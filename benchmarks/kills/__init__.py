"""Hosts that are killed in the middle of writing runs, and what the services' own logs say then."""
