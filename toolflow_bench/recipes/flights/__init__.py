"""Recipes on the flights service."""

from __future__ import annotations

from toolflow_bench.recipes.flights.days import RECIPES as DAYS
from toolflow_bench.recipes.flights.passengers import RECIPES as PASSENGERS
from toolflow_bench.recipes.flights.planes import RECIPES as PLANES
from toolflow_bench.recipes.flights.rebookings import RECIPES as REBOOKINGS
from toolflow_bench.recipes.flights.requests import RECIPES as REQUESTS
from toolflow_bench.recipes.flights.routes import RECIPES as ROUTES
from toolflow_bench.recipes.flights.short import RECIPES as SHORT
from toolflow_bench.recipes.flights.short_chains import RECIPES as SHORT_CHAINS
from toolflow_bench.recipes.flights.short_writes import RECIPES as SHORT_WRITES
from toolflow_bench.recipes.flights.weather import RECIPES as WEATHER

RECIPES = (
    *PLANES,
    *ROUTES,
    *DAYS,
    *WEATHER,
    *PASSENGERS,
    *REQUESTS,
    *REBOOKINGS,
    *SHORT,
    *SHORT_CHAINS,
    *SHORT_WRITES,
)
