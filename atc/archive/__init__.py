"""What is kept of a run after its end: recordings, saved programs, and learned schemas."""
