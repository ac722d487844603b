"""The viewer, which shows runs in a browser (`atc runs view`).

`run_page` builds the pages, `server` serves them, and `admission` decides who may open them.
`resumes` continues runs from the pages. `calls` prepares the calls of a run for display, `source`
its programs. `provenance` finds where the arguments of the calls come from.
"""
