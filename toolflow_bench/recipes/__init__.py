"""Recipes from which ToolFlow's tasks are built.

Each recipe file describes one data flow and has hand-written cases. `python -m
toolflow_bench.recipes build` builds the files in `toolflow_bench/tasks` from them.
"""
