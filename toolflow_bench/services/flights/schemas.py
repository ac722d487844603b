"""Response schemas of the flights service: closed, every field described with its unit."""

from __future__ import annotations

from typing import Any

from protocols.jsontypes import JsonObject
from toolflow_bench.services.shapes import INTEGER, closed, field, list_of, page_of, ref

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
NUMBER: JsonObject = {"type": "number"}
CLOCK: JsonObject = {"type": "string", "pattern": "^([01][0-9]|2[0-3]):[0-5][0-9]$"}


_flight_id = field(FLIGHT_ID, "Id of the flight, as get_flight and get_flight_status take it.")
_airline = field(AIRLINE_CODE, "Code of the airline.")
_flight_number = field(INTEGER, "Flight number, without the airline's code.")
_origin = field(NEW_YORK, "Code of the New York airport that the flight leaves from.")
_destination = field(AIRPORT_CODE, "Code of the airport that the flight goes to.")
_date = field(DATE, "Local date of scheduled departure, YYYY-MM-DD.")
_planned_departure = field(CLOCK, "Scheduled departure, local time HH:MM.")
_planned_arrival = field(CLOCK, "Scheduled arrival, local time HH:MM at the destination.")
_plane = field(TAIL_NUMBER, "Tail number of the plane; null for some cancelled flights.", nullable=True)
_departure_delay = field(
    INTEGER, "Minutes that it left late, negative for early; null if it was cancelled.", nullable=True
)
_temperature = field(NUMBER, "Temperature in degrees Fahrenheit.", nullable=True)
_wind_speed = field(NUMBER, "Wind speed in miles per hour.", nullable=True)
_precipitation = field(NUMBER, "Precipitation of the hour in inches.")
_visibility = field(NUMBER, "Visibility in miles.")
_hour = field(INTEGER, "Hour of the day, local time, 0 to 23.")
_code = field(AIRPORT_CODE, "Code of the airport.")
_airport_name = field(STRING, "Name of the airport.")
_tail_number = field(TAIL_NUMBER, "Tail number of the plane.")
_manufacturer = field(STRING, "Name of the manufacturer, in capitals.")
_model = field(STRING, "Model designation.")

_UNTITLED: dict[str, dict[str, Any]] = {
    "AirportName": closed("An airport's code and name.", code=_code, name=_airport_name),
    "Airport": closed(
        "One airport.",
        code=_code,
        name=_airport_name,
        latitude=field(NUMBER, "Latitude in degrees, north positive."),
        longitude=field(NUMBER, "Longitude in degrees, east positive."),
        altitude_ft=field(INTEGER, "Elevation above sea level in feet."),
        time_zone=field(STRING, "IANA time zone; null where unknown.", nullable=True),
        utc_offset_hours=field(INTEGER, "Standard-time offset from UTC in hours."),
    ),
    "NearbyAirport": closed(
        "An airport and how far it is.", code=_code, distance_km=field(NUMBER, "Distance in kilometres.")
    ),
    "Airline": closed("One airline.", code=_airline, name=field(STRING, "Name of the airline.")),
    "Departure": closed(
        "A flight as the departure board has it.",
        flight_id=_flight_id,
        airline=_airline,
        flight_number=_flight_number,
        destination=_destination,
        scheduled_departure=_planned_departure,
        tail_number=_plane,
    ),
    "Arrival": closed(
        "A flight as the arrival board has it.",
        flight_id=_flight_id,
        airline=_airline,
        flight_number=_flight_number,
        origin=_origin,
        scheduled_arrival=_planned_arrival,
        tail_number=_plane,
    ),
    "DepartureDelay": closed("How late a flight left.", flight_id=_flight_id, departure_delay_minutes=_departure_delay),
    "DatedFlight": closed(
        "A flight with its date and route.",
        flight_id=_flight_id,
        date=_date,
        airline=_airline,
        flight_number=_flight_number,
        origin=_origin,
        destination=_destination,
        scheduled_departure=_planned_departure,
    ),
    "Flight": closed(
        "The schedule of one flight.",
        flight_id=_flight_id,
        date=_date,
        airline=_airline,
        flight_number=_flight_number,
        origin=_origin,
        destination=_destination,
        scheduled_departure=_planned_departure,
        scheduled_arrival=_planned_arrival,
        distance_miles=field(INTEGER, "Distance flown in miles."),
        tail_number=_plane,
    ),
    "FlightStatus": closed(
        "What became of one flight.",
        flight_id=_flight_id,
        status={
            "type": "string",
            "enum": ["landed", "diverted", "cancelled"],
            "description": "landed as planned; diverted: left but did not land as planned; cancelled: never left.",
        },
        actual_departure=field(CLOCK, "Actual departure, local time HH:MM; null if cancelled.", nullable=True),
        departure_delay_minutes=_departure_delay,
        actual_arrival=field(CLOCK, "Actual arrival, local time HH:MM; null if unknown.", nullable=True),
        arrival_delay_minutes=field(
            INTEGER, "Minutes that it arrived late, negative for early; null unless landed.", nullable=True
        ),
        air_time_minutes=field(INTEGER, "Minutes in the air; null unless landed.", nullable=True),
    ),
    "Route": closed(
        "A route without stops.",
        origin=_origin,
        destination=_destination,
        distance_miles=field(INTEGER, "Distance in miles."),
    ),
    "PlaneModel": closed("A plane and its model.", tail_number=_tail_number, manufacturer=_manufacturer, model=_model),
    "PlaneNumber": closed("A plane.", tail_number=_tail_number),
    "Plane": closed(
        "The registration of one plane.",
        tail_number=_tail_number,
        manufacturer=_manufacturer,
        model=_model,
        year_built=field(INTEGER, "Year of manufacture; null where unknown.", nullable=True),
        type=field(STRING, "Type of aircraft, such as 'Fixed wing multi engine'."),
        engines=field(INTEGER, "Number of engines."),
        engine_type=field(STRING, "Type of engine, such as 'Turbo-fan'."),
        seats=field(INTEGER, "Number of seats."),
    ),
    "HourlyWeather": closed(
        "The main readings of one hour.",
        hour=_hour,
        temperature_f=_temperature,
        wind_speed_mph=_wind_speed,
        precipitation_inches=_precipitation,
        visibility_miles=_visibility,
    ),
    "Weather": closed(
        "All readings of one hour.",
        airport=field(NEW_YORK, "Code of the airport."),
        date=field(DATE, "Local date, YYYY-MM-DD."),
        hour=_hour,
        temperature_f=_temperature,
        dew_point_f=field(NUMBER, "Dew point in degrees Fahrenheit.", nullable=True),
        humidity_percent=field(NUMBER, "Relative humidity in percent.", nullable=True),
        wind_direction_degrees=field(INTEGER, "Direction the wind comes from, 0 to 360 degrees.", nullable=True),
        wind_speed_mph=_wind_speed,
        wind_gust_mph=field(NUMBER, "Speed of gusts in miles per hour; null without gusts.", nullable=True),
        precipitation_inches=_precipitation,
        pressure_hpa=field(NUMBER, "Sea-level pressure in hectopascals.", nullable=True),
        visibility_miles=_visibility,
    ),
    "Watch": closed(
        "A flight that is being watched.",
        watch_id=field(WATCH_ID, "Id of the watch."),
        flight_id=_flight_id,
        note=field(STRING, "Why it is watched."),
    ),
    "Dates": closed(
        "The dates that there is data for, both included.",
        first_date=field(DATE, "First date, YYYY-MM-DD."),
        last_date=field(DATE, "Last date, YYYY-MM-DD."),
    ),
    "AirportNames": list_of("airports", ref("AirportName"), "Airports, best match first."),
    "NearbyAirports": list_of("airports", ref("NearbyAirport"), "Airports, nearest first."),
    "AirportPage": page_of("airports", "AirportName", "Airports by code."),
    "TimeZones": list_of("time_zones", field(STRING, "IANA time zone."), "Time zones by name."),
    "Airlines": list_of("airlines", ref("Airline"), "Airlines."),
    "AirlineCodes": list_of("airlines", _airline, "Codes of airlines."),
    "Destinations": list_of("destinations", _destination, "Codes of airports."),
    "FlightPage": page_of("flights", "DatedFlight", "Flights by date and scheduled departure."),
    "Flights": list_of("flights", ref("DatedFlight"), "Flights by scheduled departure."),
    "DeparturePage": page_of("flights", "Departure", "Flights by scheduled departure."),
    "ArrivalPage": page_of("flights", "Arrival", "Flights by scheduled arrival."),
    "DelayPage": page_of("flights", "DepartureDelay", "Flights by scheduled departure."),
    "PlanePage": page_of("planes", "PlaneModel", "Planes by tail number."),
    "FleetPage": page_of("planes", "PlaneNumber", "Planes by tail number."),
    "Manufacturers": list_of("manufacturers", _manufacturer, "Names of manufacturers."),
    "Models": list_of("models", _model, "Model designations."),
    "HourlyWeatherList": list_of("hours", ref("HourlyWeather"), "Hours of the day, first to last."),
    "Watches": list_of("watches", ref("Watch"), "Watches, oldest first."),
}
SCHEMAS: dict[str, JsonObject] = {name: {"title": name, **schema} for name, schema in _UNTITLED.items()}
"""By component name, which is their title too."""
