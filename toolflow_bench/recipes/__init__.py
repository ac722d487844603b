"""Where ToolFlow's tasks come from: a file a recipe, that is a data flow, with cases worded by hand.

`python -m toolflow_bench.recipes build` makes the files of `toolflow_bench/tasks` from them, `try` shows what is wrong.
"""
