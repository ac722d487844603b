"""Where the places service's ids may be carried to, for the links of its OpenAPI document."""

from __future__ import annotations

from toolflow_bench.services.operation import Uses

# The usual next steps, not all there are: every use of an id at every source would drown a reader.
STORM_USES: Uses = (("get_storm", "storm_id"), ("list_storm_track", "storm_id"))
OBSERVATION_USES: Uses = (
    ("get_observation", "observation_id"),
    ("create_city_notice", "observation_id"),
    ("get_distance", "from_place_id"),
)
CITY_USES: Uses = (
    ("get_city", "city_id"),
    ("create_trip_plan", "start_city_id"),
    ("add_trip_stop", "city_id"),
    ("create_storm_alert", "city_id"),
    ("create_city_notice", "city_id"),
    ("get_distance", "to_place_id"),
    ("create_error_report", "place_id"),
)
COUNTRY_USES: Uses = (
    ("get_country", "country_id"),
    ("list_neighbours", "country_id"),
    ("list_country_cities", "country_id"),
    ("list_country_airfields", "country_id"),
    ("list_country_time_zones", "country_id"),
)
ZONE_USES: Uses = (("get_time_zone", "time_zone_id"), ("list_cities_in_time_zone", "time_zone_id"))
STATE_USES: Uses = (
    ("get_us_state", "state_id"),
    ("list_state_counties", "state_id"),
    ("list_state_cities", "state_id"),
)
AIRFIELD_USES: Uses = (
    ("get_airfield", "airfield_id"),
    ("get_distance", "to_place_id"),
    ("create_error_report", "place_id"),
)
LATITUDE_USES: Uses = (
    ("list_cities_near", "latitude"),
    ("list_airfields_near", "latitude"),
    ("list_storms_near", "latitude"),
)
LONGITUDE_USES: Uses = (
    ("list_cities_near", "longitude"),
    ("list_airfields_near", "longitude"),
    ("list_storms_near", "longitude"),
)
POSITION_LINKS = (("/latitude", LATITUDE_USES), ("/longitude", LONGITUDE_USES))
