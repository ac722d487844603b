"""Recipes over the baseball service."""

from __future__ import annotations

from toolflow_bench.recipes.baseball import absences as absences
from toolflow_bench.recipes.baseball import brief as brief
from toolflow_bench.recipes.baseball import brief_chains as brief_chains
from toolflow_bench.recipes.baseball import careers as careers
from toolflow_bench.recipes.baseball import clubs as clubs
from toolflow_bench.recipes.baseball import crossings as crossings
from toolflow_bench.recipes.baseball import october as october
from toolflow_bench.recipes.baseball import picks as picks
from toolflow_bench.recipes.baseball import press as press
from toolflow_bench.recipes.baseball import visits as visits
from toolflow_bench.recipes.recipe import Recipe

RECIPES: tuple[Recipe, ...] = (
    *careers.RECIPES,
    *clubs.RECIPES,
    *october.RECIPES,
    *crossings.RECIPES,
    *absences.RECIPES,
    *picks.RECIPES,
    *visits.RECIPES,
    *press.RECIPES,
    *brief.RECIPES,
    *brief_chains.RECIPES,
)
