"""Runs in a browser: `run_page` builds the pages, `server` serves them, `resumes` continues runs
from them.

`calls` draws a run's calls with the origins that `provenance` finds, `source` its programs.
"""
