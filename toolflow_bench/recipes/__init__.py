"""Recipes from which ToolFlow's tasks are built.

Each file is one data flow with hand-written cases.
`python -m toolflow_bench.recipes build` writes the files of `toolflow_bench/tasks` from them.
"""
