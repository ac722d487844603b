"""Recipes that span several services: a storm's position leads to flights, a player's debut to the weather."""

from __future__ import annotations

from toolflow_bench.recipes.across.cities import CITY_RECIPES
from toolflow_bench.recipes.across.people import PEOPLE_RECIPES
from toolflow_bench.recipes.across.storms import STORM_RECIPES

RECIPES = (*STORM_RECIPES, *PEOPLE_RECIPES, *CITY_RECIPES)
