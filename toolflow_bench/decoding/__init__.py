"""What decoding is worth, measured: calls and programs of one model, free and held to its tools.

`frame.py` arms, their files of rows, and the order of asking · `writing.py` one call in each mode · `figures.py` what
rows come to, `tables.py` for people · `gold.py` gold calls that must be accepted · `suites.py` the suites by name:
`funcqa/`, `kamel/`, `restbench/`, `random/`, `programs/`.
"""
