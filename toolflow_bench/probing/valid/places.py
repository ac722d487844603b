"""Valid arguments of the places service."""

from __future__ import annotations

from toolflow_bench.probing.valid.draw import Kept, Valid

_CITY = "SELECT city_id FROM cities"
_AT_CITY = "SELECT latitude, longitude FROM cities"
_AT_STORM = "SELECT latitude, longitude FROM observations"

VALID = Valid(
    anywhere={
        "storm_id": "SELECT storm_id FROM storms",
        "observation_id": "SELECT observation_id FROM observations",
        "city_id": _CITY,
        "start_city_id": _CITY,
        "country_id": "SELECT country_id FROM countries",
        "continent_id": "SELECT continent_id FROM continents",
        "currency_id": "SELECT currency_id FROM currencies",
        "time_zone_id": "SELECT time_zone_id FROM time_zones",
        "state_id": "SELECT state_id FROM us_states",
        "airfield_id": "SELECT airfield_id FROM airfields",
        "season": "SELECT season FROM storms",
        "min_population": (0, 20_000, 100_000),
        "min_elevation_ft": (-100, 0, 500, 2000),
        "radius_km": (20, 100, 300),
        "from_place_id": "SELECT city_id FROM cities UNION ALL SELECT airfield_id FROM airfields",
        "to_place_id": "SELECT airfield_id FROM airfields UNION ALL SELECT observation_id FROM observations",
        "place_id": _CITY,
    },
    of_tool={
        "search_storms": ("SELECT name AS query FROM storms", "SELECT name AS query, season FROM storms"),
        "list_active_storms": ("SELECT substr(time, 1, 10) AS date FROM observations",),
        "list_storms_near": (_AT_STORM, _AT_CITY),
        "search_cities": ("SELECT name AS query FROM cities", "SELECT name AS query, country_id FROM cities"),
        "list_cities_near": (_AT_CITY,),
        "list_airfields_near": (_AT_CITY, "SELECT latitude, longitude FROM airfields"),
        "list_country_cities": ("SELECT country_id FROM cities",),
        "list_country_airfields": ("SELECT country_id FROM airfields",),
        "list_cities_in_time_zone": ("SELECT time_zone_id FROM cities WHERE time_zone_id IS NOT NULL",),
        "search_countries": ("SELECT name AS query FROM countries",),
        "list_currency_countries": ("SELECT currency_id FROM countries WHERE currency_id IS NOT NULL",),
        "search_airfields": (
            "SELECT name AS query FROM airfields",
            "SELECT iata AS query FROM airfields WHERE iata IS NOT NULL",
        ),
        "add_trip_stop": (Kept(collection="trip_plans", fields={"plan_id": "plan_id"}),),
        "update_storm_alert": (
            "SELECT alert_id FROM standing_alerts",
            Kept(collection="storm_alerts", fields={"alert_id": "alert_id"}),
        ),
    },
)
