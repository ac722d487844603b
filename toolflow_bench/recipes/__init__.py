"""Where ToolFlow's tasks come from: a recipe a data flow, filled by hand; `python -m toolflow_bench.recipes` builds."""
