"""Where ToolFlow's tasks come from: a recipe a data flow, its cases written by hand.

`python -m toolflow_bench.recipes build` makes the files of `toolflow_bench/tasks` from them, `try` shows what is wrong.
"""

from __future__ import annotations

from importlib import import_module

from toolflow_bench.recipes.recipe import Recipe

FOLDERS = ("flights", "baseball", "movies", "places", "across")
"""A package of recipes for each service, and one for those that span several."""


def recipes_of(folder: str) -> tuple[Recipe, ...]:
    """The recipes of one of `FOLDERS`."""
    recipes: tuple[Recipe, ...] = import_module(f"toolflow_bench.recipes.{folder}").RECIPES
    return recipes
