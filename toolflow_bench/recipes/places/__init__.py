"""Recipes of the places service."""

from __future__ import annotations

from toolflow_bench.recipes.places import lands, regions, short, short_chains, tracks, waters, writes
from toolflow_bench.recipes.recipe import Recipe

RECIPES: tuple[Recipe, ...] = (
    *tracks.RECIPES,
    *waters.RECIPES,
    *lands.RECIPES,
    *regions.RECIPES,
    *writes.RECIPES,
    *short.RECIPES,
    *short_chains.RECIPES,
)
