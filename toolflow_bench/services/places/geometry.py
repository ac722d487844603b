"""Distances on the globe, and the rows of a table near a point."""

# SQL is put together from names in this module and its callers only, values are always bound.
# ruff: noqa: S608

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from toolflow_bench.services.context import Context, Row
from toolflow_bench.services.operation import Arguments

EARTH_RADIUS_KM = 6371.0
_KM_PER_DEGREE = math.pi * EARTH_RADIUS_KM / 180


def kilometres(one: Mapping[str, Any], other: Mapping[str, Any]) -> float:
    """Great-circle distance of two rows that have `latitude` and `longitude` in degrees."""
    north, south = math.radians(one["latitude"]), math.radians(other["latitude"])
    half_width = math.radians(one["longitude"] - other["longitude"]) / 2
    part = math.sin((north - south) / 2) ** 2 + math.cos(north) * math.cos(south) * math.sin(half_width) ** 2
    return 2 * EARTH_RADIUS_KM * math.asin(math.sqrt(min(1.0, part)))


def rows_near(
    context: Context,
    columns: str,
    table: str,
    centre: Mapping[str, Any],
    radius_km: float,
    *,
    also: str = "TRUE",
    values: tuple[Any, ...] = (),
) -> list[tuple[float, Row]]:
    """Rows of `table` within `radius_km` of `centre` with their distances in km, nearest first.

    `centre` has `latitude` and `longitude`; `also` is a further condition with `values` for its question marks. A box
    around the circle is asked for first, which the index on positions answers.
    """
    reach = radius_km / _KM_PER_DEGREE + 1e-6
    south, north = centre["latitude"] - reach, centre["latitude"] + reach
    box, bounds = "latitude BETWEEN ? AND ?", [south, north]
    if south > -90 and north < 90:
        # The circle is widest, in degrees, a little towards the pole from its centre.
        width = math.degrees(
            math.asin(min(1.0, math.sin(math.radians(reach)) / math.cos(math.radians(centre["latitude"]))))
        )
        west, east = centre["longitude"] - width, centre["longitude"] + width
        if west >= -180 and east <= 180:
            box, bounds = f"{box} AND longitude BETWEEN ? AND ?", [*bounds, west, east]
    sql = f"SELECT latitude, longitude, {columns} FROM {table} WHERE {box} AND {also}"
    found = [(kilometres(centre, row), row) for row in context.rows(sql, *bounds, *values)]
    # By id where two are equally far, so that the order is always the same.
    first = columns.partition(",")[0]
    return sorted((one for one in found if one[0] <= radius_km), key=lambda one: (one[0], one[1][first]))


def page_of_rows(key: str, rows: list[Row], arguments: Arguments) -> Row:
    """One page of rows that are all at hand."""
    size, page = arguments["page_size"], arguments["page"]
    shown = rows[(page - 1) * size : page * size]
    return {key: shown, "page": page, "pages": max(1, -(-len(rows) // size)), "total": len(rows)}
