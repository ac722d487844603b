"""Great-circle distances, and a query that finds the rows near a point."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from toolflow_bench.services.answers import Context, Row

EARTH_RADIUS_KM = 6371.0
_KM_PER_DEGREE = math.pi * EARTH_RADIUS_KM / 180


def kilometres(
    latitude: float, longitude: float, other_latitude: float, other_longitude: float
) -> float:
    """Return the great-circle distance in km between two points. Coordinates are in degrees."""
    north = math.radians(latitude)
    south = math.radians(other_latitude)
    half_width = math.radians(longitude - other_longitude) / 2
    part = (
        math.sin((north - south) / 2) ** 2
        + math.cos(north) * math.cos(south) * math.sin(half_width) ** 2
    )
    return 2 * EARTH_RADIUS_KM * math.asin(math.sqrt(min(1.0, part)))


def rows_near(
    context: Context, columns: str, table: str, centre: Mapping[str, Any], *, also: str = "TRUE"
) -> list[Row]:
    """Return the rows of `table` near a point, nearest first, each with its `distance_km`.

    `centre` has `latitude`, `longitude` and `radius_km`. `also` is an additional SQL condition; the
    values of its parameters are in `centre`, too. The query first selects a box around the circle,
    so that it can use the index on positions. Rows at the same distance are sorted by their first
    column.
    """
    reach = centre["radius_km"] / _KM_PER_DEGREE + 1e-6
    south = centre["latitude"] - reach
    north = centre["latitude"] + reach
    west = -540.0
    east = 540.0
    if south > -90 and north < 90:
        # The circle is widest, in degrees, a little towards the pole from its centre.
        wide = math.sin(math.radians(reach)) / math.cos(math.radians(centre["latitude"]))
        width = math.degrees(math.asin(min(1.0, wide)))
        if centre["longitude"] - width >= -180 and centre["longitude"] + width <= 180:
            west = centre["longitude"] - width
            east = centre["longitude"] + width
    sql = f"""
        SELECT latitude, longitude, {columns} FROM {table}
        WHERE latitude BETWEEN :south AND :north
        AND longitude BETWEEN :west AND :east AND {also}"""  # noqa: S608 - our own names
    box = {"south": south, "north": north, "west": west, "east": east}
    at = centre["latitude"], centre["longitude"]
    found = [
        (kilometres(*at, row["latitude"], row["longitude"]), row)
        for row in context.rows(sql, {**centre, **box})
    ]
    first = columns.partition(",")[0]
    near = sorted(
        (one for one in found if one[0] <= centre["radius_km"]),
        key=lambda one: (one[0], one[1][first]),
    )
    return [{**row, "distance_km": round(distance, 1)} for distance, row in near]
