"""Recordings: runs as files that run again without keys and network, and solved programs as scripts."""
