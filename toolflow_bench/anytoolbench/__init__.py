"""Construction of AnyToolBench (Du et al., A.8 and B.4), and the filter that A.7 puts queries through.

Reading order: `construct.py` one query from exploring to its verdict; `desk.py` what the model may call meanwhile;
`solution.py` the reference solution, called again; `judge.py` whether it resolves the query; `screening.py` the filter;
`pool.py` and `templates.py` the APIs; `suite.py` a whole file, resumable.
"""
