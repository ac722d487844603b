"""Runs in a browser: `run_page` builds the pages, `server` serves them.

`resumes` continues runs from the pages. `calls` draws the calls of a run with the origins that
`provenance` finds, `source` its programs.
"""
