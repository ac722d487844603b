"""Things that are kept after the end of a run: recordings, saved programs, learned schemas."""
