"""Runs in a browser: `run_page` has the pages, `server` is who may see them, `resumes` what they can do.

`calls` draws a run's calls with the origins that `provenance` finds, `source` its programs.
"""
