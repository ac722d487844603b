"""The measurement of sandboxes: hostile programs contained, ordinary programs unchanged, latency, soak."""
