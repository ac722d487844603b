"""Response schemas of the places service: closed, every field described with its unit."""

from __future__ import annotations

from protocols.jsontypes import JsonObject
from toolflow_bench.services.places.shapes import (
    AIRFIELD_ID,
    ALERT_ID,
    CITY_ID,
    CONTINENT_ID,
    COUNTRY_ID,
    CURRENCY_ID,
    DATE,
    INTEGER,
    NOTICE_ID,
    NUMBER,
    OBSERVATION_ID,
    PLACE_ID,
    PLAN_ID,
    REPORT_ID,
    STATE_ID,
    STORM_ID,
    STRING,
    TIME,
    TIME_ZONE_ID,
    closed,
    field,
    list_of,
    page_of,
    ref,
)

STATUSES = (
    "tropical depression",
    "tropical storm",
    "hurricane",
    "subtropical depression",
    "subtropical storm",
    "extratropical",
    "other low",
    "disturbance",
    "tropical wave",
)
LEVELS = ("watch", "warning", "emergency")
REPORTED_FIELDS = ("position", "name", "population", "elevation", "time_zone", "wind")

_storm = field(STORM_ID, "Id of the storm, as get_storm and list_storm_track take it.")
_storm_name = field(STRING, "Name of the storm, or its number where it never got one, such as 'Ten' or 'AL042000'.")
_season = field(INTEGER, "Year in which the storm was first observed.")
_observation = field(OBSERVATION_ID, "Id of the observation, as get_observation takes it.")
_time = field(TIME, "Time of the observation in UTC, YYYY-MM-DDTHH:00.")
_wind = field(INTEGER, "Highest sustained wind (one-minute mean) in knots.")
_latitude = field(NUMBER, "Latitude in degrees, north positive.")
_longitude = field(NUMBER, "Longitude in degrees, east positive.")
_city = field(CITY_ID, "Id of the city, as get_city takes it.")
_city_name = field(STRING, "Name of the city, with its accents.")
_country = field(COUNTRY_ID, "Id of the country, as get_country takes it.")
_country_name = field(STRING, "Name of the country in English, without accents.")
_zone = field(TIME_ZONE_ID, "Id of the time zone, as get_time_zone takes it.")
_state = field(STATE_ID, "Id of the state, as get_us_state takes it.")
_airfield = field(AIRFIELD_ID, "Id of the airfield, as get_airfield takes it.")
_distance = field(NUMBER, "Great-circle distance in kilometres, to one decimal.")
_icao = field(STRING, "ICAO code of the airfield, or the local code that stands in for one.")
_radius = field(INTEGER, "How near to the city a storm must come, in kilometres.")
_least_wind = field(INTEGER, "The least sustained wind that raises the alert, in knots.")

_UNTITLED: dict[str, JsonObject] = {
    "StormName": closed("A storm and its name.", storm_id=_storm, name=_storm_name, season=_season),
    "SeasonStorm": closed("A storm of a season.", storm_id=_storm, name=_storm_name),
    "Storm": closed(
        "One storm.",
        storm_id=_storm,
        name=_storm_name,
        season=_season,
        first_time=field(TIME, "Time of its first observation in UTC, YYYY-MM-DDTHH:00."),
        last_time=field(TIME, "Time of its last observation in UTC, YYYY-MM-DDTHH:00."),
        first_observation_id=field(OBSERVATION_ID, "Id of its first observation."),
        last_observation_id=field(OBSERVATION_ID, "Id of its last observation."),
    ),
    "TrackPoint": closed("A point of a track.", observation_id=_observation, time=_time, wind_kt=_wind),
    "Observation": closed(
        "All readings of one observation.",
        observation_id=_observation,
        storm_id=_storm,
        time=_time,
        latitude=_latitude,
        longitude=_longitude,
        status={"type": "string", "enum": list(STATUSES), "description": "What the storm was at that time."},
        category=field(INTEGER, "Saffir-Simpson category, 1 to 5; null unless it was a hurricane.", nullable=True),
        wind_kt=_wind,
        pressure_hpa=field(INTEGER, "Air pressure at the centre in hectopascals."),
        storm_wind_diameter_nmi=field(
            INTEGER,
            "Diameter of the area with 34 knots of wind or more, in nautical miles; null if unknown.",
            nullable=True,
        ),
        hurricane_wind_diameter_nmi=field(
            INTEGER,
            "Diameter of the area with 64 knots of wind or more, in nautical miles; null if unknown.",
            nullable=True,
        ),
    ),
    "Passage": closed("How near a storm came.", storm_id=_storm, observation_id=_observation, distance_km=_distance),
    "FoundCity": closed("A city and its country.", city_id=_city, name=_city_name, country_id=_country),
    "CityName": closed("A city and its name.", city_id=_city, name=_city_name),
    "City": closed(
        "One city.",
        city_id=_city,
        name=_city_name,
        latitude=_latitude,
        longitude=_longitude,
        population=field(INTEGER, "Inhabitants."),
        country_id=_country,
        state_id=field(STATE_ID, "Id of its state; null outside the United States.", nullable=True),
        time_zone_id=_zone,
    ),
    "NearCity": closed("A city and how far it is.", city_id=_city, distance_km=_distance),
    "ZoneCity": closed("A city of a time zone.", city_id=_city, country_id=_country),
    "TimeZone": closed("A time zone.", time_zone_id=_zone, name=field(STRING, "IANA name, such as 'America/Denver'.")),
    "Place": closed("A country and its name.", country_id=_country, name=_country_name),
    "Country": closed(
        "One country.",
        country_id=_country,
        name=_country_name,
        iso2=field(STRING, "Code of two letters (ISO 3166-1)."),
        iso3=field(STRING, "Code of three letters (ISO 3166-1)."),
        continent_id=field(CONTINENT_ID, "Id of the continent that it is counted to; list_continents has their names."),
        capital_city_id=field(CITY_ID, "Id of the capital; null where there is no record of one.", nullable=True),
        currency_id=field(CURRENCY_ID, "Id of the currency; null where there is none.", nullable=True),
        area_km2=field(INTEGER, "Area in square kilometres; null where unknown or below one.", nullable=True),
        population=field(INTEGER, "Inhabitants; null where there are none.", nullable=True),
        calling_code=field(
            STRING, "International calling code without plus sign, such as '1-809'; null if none.", nullable=True
        ),
    ),
    "Continent": closed(
        "A continent.",
        continent_id=field(CONTINENT_ID, "Id of the continent."),
        name=field(STRING, "Name in English."),
    ),
    "Currency": closed(
        "A currency.",
        currency_id=field(CURRENCY_ID, "Id of the currency."),
        code=field(STRING, "Code of three letters (ISO 4217)."),
        name=field(STRING, "Name of its unit, such as 'Dollar'; several currencies may share one."),
    ),
    "StateName": closed("A state and its name.", state_id=_state, name=field(STRING, "Name of the state.")),
    "State": closed(
        "A state of the United States.",
        state_id=_state,
        name=field(STRING, "Name of the state."),
        postal_code=field(STRING, "Postal code of two letters."),
        fips_code=field(STRING, "FIPS code of two digits."),
    ),
    "County": closed(
        "A county.",
        name=field(STRING, "Name with its kind, such as 'Orleans Parish'."),
        fips_code=field(STRING, "FIPS code of five digits; the first two are the state's."),
    ),
    "FoundAirfield": closed("An airfield and its name.", airfield_id=_airfield, name=field(STRING, "Name.")),
    "CountryAirfield": closed("An airfield and its code.", airfield_id=_airfield, icao=_icao),
    "NearAirfield": closed("An airfield and how far it is.", airfield_id=_airfield, distance_km=_distance),
    "Airfield": closed(
        "One airfield.",
        airfield_id=_airfield,
        name=field(STRING, "Name."),
        icao=_icao,
        iata=field(STRING, "IATA code of three letters; null where it has none.", nullable=True),
        municipality=field(STRING, "Name of the town that it serves; null where unknown.", nullable=True),
        country_id=_country,
        latitude=_latitude,
        longitude=_longitude,
        elevation_ft=field(INTEGER, "Elevation above sea level in feet, negative below it."),
        time_zone_id=_zone,
    ),
    "Distance": closed("How far two places are apart.", distance_km=_distance),
    "Stop": closed("A stop of a trip.", city_id=_city, nights=field(INTEGER, "Nights that are spent there.")),
    "TripPlan": closed(
        "A plan of a trip with its stops.",
        plan_id=field(PLAN_ID, "Id of the plan."),
        start_city_id=field(CITY_ID, "Id of the city that the trip starts from."),
        start_date=field(DATE, "Date on which it starts, YYYY-MM-DD."),
        travellers=field(INTEGER, "How many people travel."),
        stops={"type": "array", "description": "Stops in the order of the trip.", "items": ref("Stop")},
    ),
    "StormAlert": closed(
        "A standing order to be told of storms.",
        alert_id=field(ALERT_ID, "Id of the alert."),
        city_id=_city,
        radius_km=_radius,
        min_wind_kt=_least_wind,
    ),
    "Notice": closed(
        "A notice that was sent to a city.",
        notice_id=field(NOTICE_ID, "Id of the notice."),
        city_id=_city,
        observation_id=_observation,
        level={"type": "string", "enum": list(LEVELS), "description": "How grave it is."},
    ),
    "ErrorReport": closed(
        "A report of a field that seems wrong.",
        report_id=field(REPORT_ID, "Id of the report."),
        place_id=field(PLACE_ID, "Id of the city, airfield or observation."),
        field={"type": "string", "enum": list(REPORTED_FIELDS), "description": "The field that seems wrong."},
    ),
    "StormNames": list_of("storms", ref("StormName"), "Storms, best match first."),
    "SeasonStorms": list_of("storms", ref("SeasonStorm"), "Storms by time of first observation."),
    "StormIds": list_of("storm_ids", _storm, "Ids of storms by time of their first observation."),
    "TrackPage": page_of("observations", "TrackPoint", "Observations by time."),
    "PassagePage": page_of("storms", "Passage", "Storms by their nearest observation, nearest first."),
    "FoundCities": list_of("cities", ref("FoundCity"), "Cities, best match first."),
    "CityPage": page_of("cities", "CityName", "Cities by name."),
    "NearCityPage": page_of("cities", "NearCity", "Cities, nearest first."),
    "ZoneCityPage": page_of("cities", "ZoneCity", "Cities by name."),
    "TimeZones": list_of("time_zones", ref("TimeZone"), "Time zones by name."),
    "Places": list_of("countries", ref("Place"), "Countries, best match first."),
    "CountryIds": list_of("country_ids", _country, "Ids of countries by the countries' names."),
    "CountryPage": page_of("countries", "Place", "Countries by name."),
    "Continents": list_of("continents", ref("Continent"), "Continents by name."),
    "StateNames": list_of("states", ref("StateName"), "States by name."),
    "CountyPage": page_of("counties", "County", "Counties by name."),
    "FoundAirfields": list_of("airfields", ref("FoundAirfield"), "Airfields, best match first."),
    "AirfieldPage": page_of("airfields", "CountryAirfield", "Airfields by ICAO code."),
    "NearAirfieldPage": page_of("airfields", "NearAirfield", "Airfields, nearest first."),
    "StormAlerts": list_of("storm_alerts", ref("StormAlert"), "Storm alerts, oldest first."),
}
# Titled, as component names of two services may be alike.
SCHEMAS: dict[str, JsonObject] = {name: {"title": name, **schema} for name, schema in _UNTITLED.items()}
"""By component name, which is their title too."""
