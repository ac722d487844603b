"""Results that outlive a run: recordings, saved programs, and learned schemas."""
