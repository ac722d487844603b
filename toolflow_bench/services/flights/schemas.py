"""Response schemas of the flights service: closed, every field described with its unit."""

from __future__ import annotations

from typing import Any

from protocols.jsontypes import JsonObject

AIRPORT_CODE: JsonObject = {
    "type": "string",
    "title": "a three-character airport code",
    "pattern": "^[0-9A-Z]{3}$",
    "examples": ["BOS"],
}
AIRLINE_CODE: JsonObject = {
    "type": "string",
    "title": "a two-character airline code",
    "pattern": "^[0-9A-Z]{2}$",
    "examples": ["DL"],
}
TAIL_NUMBER: JsonObject = {
    "type": "string",
    "title": "a tail number",
    "pattern": "^[A-Z][0-9A-Z]{4,5}$",
    "examples": ["N14228"],
}
FLIGHT_ID: JsonObject = {"type": "string", "title": "an opaque flight id", "pattern": "^[a-z2-7]{5}$"}
WATCH_ID: JsonObject = {"type": "string", "title": "a watch id", "pattern": "^w_[a-z2-7]{5}$"}
DATE: JsonObject = {
    "type": "string",
    "title": "a date of 2013",
    "format": "date",
    "pattern": "^2013-[0-9]{2}-[0-9]{2}$",
    "examples": ["2013-07-04"],
}
NEW_YORK: JsonObject = {"type": "string", "enum": ["EWR", "JFK", "LGA"]}
STRING: JsonObject = {"type": "string"}
INTEGER: JsonObject = {"type": "integer"}
NUMBER: JsonObject = {"type": "number"}
CLOCK: JsonObject = {"type": "string", "pattern": "^([01][0-9]|2[0-3]):[0-5][0-9]$"}


def _field(schema: JsonObject, description: str, *, nullable: bool = False) -> dict[str, Any]:
    kept = {key: value for key, value in schema.items() if key not in {"title", "examples"}}
    if nullable:
        kept["type"] = [kept["type"], "null"]
    return {**kept, "description": description}


def _closed(description: str, **fields: JsonObject) -> dict[str, Any]:
    return {
        "type": "object",
        "description": description,
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }


def _list_of(key: str, item: JsonObject, description: str) -> dict[str, Any]:
    return _closed(description, **{key: {"type": "array", "description": description, "items": item}})


def _page_of(key: str, item: str, description: str) -> dict[str, Any]:
    return _closed(
        f"One page: {description}",
        **{
            key: {"type": "array", "description": f"{description} Those of this page.", "items": _ref(item)},
            "page": _field(INTEGER, "Number of this page, from 1."),
            "pages": _field(INTEGER, "How many pages there are, at least 1."),
            "total": _field(INTEGER, "How many items there are on all pages together."),
        },
    )


def _ref(name: str) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{name}"}


_flight_id = _field(FLIGHT_ID, "Id of the flight, as get_flight and get_flight_status take it.")
_airline = _field(AIRLINE_CODE, "Code of the airline.")
_flight_number = _field(INTEGER, "Flight number, without the airline's code.")
_origin = _field(NEW_YORK, "Code of the New York airport that the flight leaves from.")
_destination = _field(AIRPORT_CODE, "Code of the airport that the flight goes to.")
_date = _field(DATE, "Local date of scheduled departure, YYYY-MM-DD.")
_planned_departure = _field(CLOCK, "Scheduled departure, local time HH:MM.")
_planned_arrival = _field(CLOCK, "Scheduled arrival, local time HH:MM at the destination.")
_plane = _field(TAIL_NUMBER, "Tail number of the plane; null for some cancelled flights.", nullable=True)
_departure_delay = _field(
    INTEGER, "Minutes that it left late, negative for early; null if it was cancelled.", nullable=True
)
_temperature = _field(NUMBER, "Temperature in degrees Fahrenheit.", nullable=True)
_wind_speed = _field(NUMBER, "Wind speed in miles per hour.", nullable=True)
_precipitation = _field(NUMBER, "Precipitation of the hour in inches.")
_visibility = _field(NUMBER, "Visibility in miles.")
_hour = _field(INTEGER, "Hour of the day, local time, 0 to 23.")
_code = _field(AIRPORT_CODE, "Code of the airport.")
_airport_name = _field(STRING, "Name of the airport.")
_tail_number = _field(TAIL_NUMBER, "Tail number of the plane.")
_manufacturer = _field(STRING, "Name of the manufacturer, in capitals.")
_model = _field(STRING, "Model designation.")

_UNTITLED: dict[str, dict[str, Any]] = {
    "AirportName": _closed("An airport's code and name.", code=_code, name=_airport_name),
    "Airport": _closed(
        "One airport.",
        code=_code,
        name=_airport_name,
        latitude=_field(NUMBER, "Latitude in degrees, north positive."),
        longitude=_field(NUMBER, "Longitude in degrees, east positive."),
        altitude_ft=_field(INTEGER, "Elevation above sea level in feet."),
        time_zone=_field(STRING, "IANA time zone; null where unknown.", nullable=True),
        utc_offset_hours=_field(INTEGER, "Standard-time offset from UTC in hours."),
    ),
    "NearbyAirport": _closed(
        "An airport and how far it is.", code=_code, distance_km=_field(NUMBER, "Distance in kilometres.")
    ),
    "Airline": _closed("One airline.", code=_airline, name=_field(STRING, "Name of the airline.")),
    "Departure": _closed(
        "A flight as the departure board has it.",
        flight_id=_flight_id,
        airline=_airline,
        flight_number=_flight_number,
        destination=_destination,
        scheduled_departure=_planned_departure,
        tail_number=_plane,
    ),
    "Arrival": _closed(
        "A flight as the arrival board has it.",
        flight_id=_flight_id,
        airline=_airline,
        flight_number=_flight_number,
        origin=_origin,
        scheduled_arrival=_planned_arrival,
        tail_number=_plane,
    ),
    "DepartureDelay": _closed(
        "How late a flight left.", flight_id=_flight_id, departure_delay_minutes=_departure_delay
    ),
    "DatedFlight": _closed(
        "A flight with its date and route.",
        flight_id=_flight_id,
        date=_date,
        airline=_airline,
        flight_number=_flight_number,
        origin=_origin,
        destination=_destination,
        scheduled_departure=_planned_departure,
    ),
    "Flight": _closed(
        "The schedule of one flight.",
        flight_id=_flight_id,
        date=_date,
        airline=_airline,
        flight_number=_flight_number,
        origin=_origin,
        destination=_destination,
        scheduled_departure=_planned_departure,
        scheduled_arrival=_planned_arrival,
        distance_miles=_field(INTEGER, "Distance flown in miles."),
        tail_number=_plane,
    ),
    "FlightStatus": _closed(
        "What became of one flight.",
        flight_id=_flight_id,
        status={
            "type": "string",
            "enum": ["landed", "diverted", "cancelled"],
            "description": "landed as planned; diverted: left but did not land as planned; cancelled: never left.",
        },
        actual_departure=_field(CLOCK, "Actual departure, local time HH:MM; null if cancelled.", nullable=True),
        departure_delay_minutes=_departure_delay,
        actual_arrival=_field(CLOCK, "Actual arrival, local time HH:MM; null if unknown.", nullable=True),
        arrival_delay_minutes=_field(
            INTEGER, "Minutes that it arrived late, negative for early; null unless landed.", nullable=True
        ),
        air_time_minutes=_field(INTEGER, "Minutes in the air; null unless landed.", nullable=True),
    ),
    "Route": _closed(
        "A route without stops.",
        origin=_origin,
        destination=_destination,
        distance_miles=_field(INTEGER, "Distance in miles."),
    ),
    "PlaneModel": _closed("A plane and its model.", tail_number=_tail_number, manufacturer=_manufacturer, model=_model),
    "PlaneNumber": _closed("A plane.", tail_number=_tail_number),
    "Plane": _closed(
        "The registration of one plane.",
        tail_number=_tail_number,
        manufacturer=_manufacturer,
        model=_model,
        year_built=_field(INTEGER, "Year of manufacture; null where unknown.", nullable=True),
        type=_field(STRING, "Type of aircraft, such as 'Fixed wing multi engine'."),
        engines=_field(INTEGER, "Number of engines."),
        engine_type=_field(STRING, "Type of engine, such as 'Turbo-fan'."),
        seats=_field(INTEGER, "Number of seats."),
    ),
    "HourlyWeather": _closed(
        "The main readings of one hour.",
        hour=_hour,
        temperature_f=_temperature,
        wind_speed_mph=_wind_speed,
        precipitation_inches=_precipitation,
        visibility_miles=_visibility,
    ),
    "Weather": _closed(
        "All readings of one hour.",
        airport=_field(NEW_YORK, "Code of the airport."),
        date=_field(DATE, "Local date, YYYY-MM-DD."),
        hour=_hour,
        temperature_f=_temperature,
        dew_point_f=_field(NUMBER, "Dew point in degrees Fahrenheit.", nullable=True),
        humidity_percent=_field(NUMBER, "Relative humidity in percent.", nullable=True),
        wind_direction_degrees=_field(INTEGER, "Direction the wind comes from, 0 to 360 degrees.", nullable=True),
        wind_speed_mph=_wind_speed,
        wind_gust_mph=_field(NUMBER, "Speed of gusts in miles per hour; null without gusts.", nullable=True),
        precipitation_inches=_precipitation,
        pressure_hpa=_field(NUMBER, "Sea-level pressure in hectopascals.", nullable=True),
        visibility_miles=_visibility,
    ),
    "Watch": _closed(
        "A flight that is being watched.",
        watch_id=_field(WATCH_ID, "Id of the watch."),
        flight_id=_flight_id,
        note=_field(STRING, "Why it is watched."),
    ),
    "Dates": _closed(
        "The dates that there is data for, both included.",
        first_date=_field(DATE, "First date, YYYY-MM-DD."),
        last_date=_field(DATE, "Last date, YYYY-MM-DD."),
    ),
    "AirportNames": _list_of("airports", _ref("AirportName"), "Airports, best match first."),
    "NearbyAirports": _list_of("airports", _ref("NearbyAirport"), "Airports, nearest first."),
    "AirportPage": _page_of("airports", "AirportName", "Airports by code."),
    "TimeZones": _list_of("time_zones", _field(STRING, "IANA time zone."), "Time zones by name."),
    "Airlines": _list_of("airlines", _ref("Airline"), "Airlines."),
    "AirlineCodes": _list_of("airlines", _airline, "Codes of airlines."),
    "Destinations": _list_of("destinations", _destination, "Codes of airports."),
    "FlightPage": _page_of("flights", "DatedFlight", "Flights by date and scheduled departure."),
    "Flights": _list_of("flights", _ref("DatedFlight"), "Flights by scheduled departure."),
    "DeparturePage": _page_of("flights", "Departure", "Flights by scheduled departure."),
    "ArrivalPage": _page_of("flights", "Arrival", "Flights by scheduled arrival."),
    "DelayPage": _page_of("flights", "DepartureDelay", "Flights by scheduled departure."),
    "PlanePage": _page_of("planes", "PlaneModel", "Planes by tail number."),
    "FleetPage": _page_of("planes", "PlaneNumber", "Planes by tail number."),
    "Manufacturers": _list_of("manufacturers", _manufacturer, "Names of manufacturers."),
    "Models": _list_of("models", _model, "Model designations."),
    "HourlyWeatherList": _list_of("hours", _ref("HourlyWeather"), "Hours of the day, first to last."),
    "Watches": _list_of("watches", _ref("Watch"), "Watches, oldest first."),
}
SCHEMAS: dict[str, JsonObject] = {name: {"title": name, **schema} for name, schema in _UNTITLED.items()}
"""By component name, which is their title too."""
