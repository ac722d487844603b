"""Recipes of the movies service's tasks."""

from __future__ import annotations

from toolflow_bench.recipes.movies.awards import AWARDS
from toolflow_bench.recipes.movies.catalogue import CATALOGUE
from toolflow_bench.recipes.movies.desk import DESK
from toolflow_bench.recipes.movies.members import MEMBERS
from toolflow_bench.recipes.movies.nothing_found import NOTHING_FOUND
from toolflow_bench.recipes.movies.reviews import REVIEWS
from toolflow_bench.recipes.movies.short import SHORT
from toolflow_bench.recipes.movies.writing import WRITING
from toolflow_bench.recipes.recipe import Recipe

RECIPES: tuple[Recipe, ...] = (*AWARDS, *REVIEWS, *MEMBERS, *CATALOGUE, *DESK, *NOTHING_FOUND, *WRITING, *SHORT)
