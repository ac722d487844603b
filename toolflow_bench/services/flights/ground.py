"""Operations of the flights service on airports, airlines, routes and the weather."""

from __future__ import annotations

from toolflow_bench.services.flights import places as places
from toolflow_bench.services.flights import queries as queries
from toolflow_bench.services.flights.links import (
    AIRLINE_USES,
    AIRPORT_USES,
    FOUND_AIRLINE_USES,
    FOUND_AIRPORT_USES,
    PLANE_USES,
)
from toolflow_bench.services.flights.parameters import (
    AIRLINE,
    AIRPORT,
    DATE,
    DESTINATION,
    HOUR,
    LIMIT,
    ORIGIN,
    PAGING,
    QUERY,
    RADIUS,
    TIME_ZONE,
    WEATHER_AIRPORT,
)
from toolflow_bench.services.operation import Operation

AIRPORT_OPERATIONS = (
    Operation(
        id="search_airports",
        tag="airports",
        path="/airports",
        description="Find airports by name, city or code, best match first. Gives their codes.",
        parameters=(QUERY, LIMIT),
        returns="AirportNames",
        handler=places.search_airports,
        links=(("/airports/0/code", FOUND_AIRPORT_USES),),
    ),
    Operation(
        id="get_airport",
        tag="airports",
        path="/airports/{airport}",
        description="One airport by its code: name, position, elevation and time zone.",
        parameters=(AIRPORT,),
        returns="Airport",
        handler=places.get_airport,
        missing="There is no record of this airport.",
        links=(("/time_zone", (("list_airports_in_time_zone", "time_zone"),)),),
    ),
    Operation(
        id="list_nearby_airports",
        tag="airports",
        path="/airports/{airport}/nearby",
        description="Codes of the other airports within a distance of an airport, nearest first.",
        parameters=(AIRPORT, RADIUS),
        returns="NearbyAirports",
        handler=places.list_nearby_airports,
        missing="There is no record of this airport.",
        links=(("/airports/0/code", AIRPORT_USES),),
    ),
    Operation(
        id="list_time_zones",
        tag="airports",
        path="/time_zones",
        description="The time zones that airports lie in.",
        returns="TimeZones",
        handler=places.list_time_zones,
        links=(("/time_zones/0", (("list_airports_in_time_zone", "time_zone"),)),),
    ),
    Operation(
        id="list_airports_in_time_zone",
        tag="airports",
        path="/time_zones/airports",
        description="The airports of one time zone by code, in pages.",
        parameters=(TIME_ZONE, *PAGING),
        returns="AirportPage",
        handler=places.list_airports_in_time_zone,
        missing="No airport lies in this time zone.",
        links=(("/airports/0/code", AIRPORT_USES),),
    ),
)

AIRLINE_OPERATIONS = (
    Operation(
        id="list_airlines",
        tag="airlines",
        path="/airlines",
        description="All airlines with their codes and names.",
        returns="Airlines",
        handler=places.list_airlines,
        links=(("/airlines/0/code", FOUND_AIRLINE_USES),),
    ),
    Operation(
        id="search_airlines",
        tag="airlines",
        path="/airlines/search",
        description="Find airlines by name or code, best match first. Gives their codes.",
        parameters=(QUERY,),
        returns="Airlines",
        handler=places.search_airlines,
        links=(("/airlines/0/code", FOUND_AIRLINE_USES),),
    ),
    Operation(
        id="get_airline",
        tag="airlines",
        path="/airlines/{airline}",
        description="The name of one airline by its code.",
        parameters=(AIRLINE,),
        returns="Airline",
        handler=places.get_airline,
        missing="There is no airline of this code.",
    ),
    Operation(
        id="list_airline_planes",
        tag="airlines",
        path="/airlines/{airline}/planes",
        description="The tail numbers of all planes that an airline flew from New York in 2013, in pages.",
        parameters=(AIRLINE, *PAGING),
        returns="FleetPage",
        handler=queries.list_airline_planes,
        missing="There is no airline of this code.",
        links=(("/planes/0/tail_number", PLANE_USES),),
    ),
)

ROUTE_OPERATIONS = (
    Operation(
        id="list_destinations",
        tag="routes",
        path="/routes/{origin}",
        description="Codes of all airports that a New York airport has direct flights to.",
        parameters=(ORIGIN,),
        returns="Destinations",
        handler=places.list_destinations,
        links=(("/destinations/0", AIRPORT_USES),),
    ),
    Operation(
        id="get_route",
        tag="routes",
        path="/routes/{origin}/{destination}",
        description="The distance of the direct route from a New York airport to a destination.",
        parameters=(ORIGIN, DESTINATION),
        returns="Route",
        handler=places.get_route,
        missing="There is no such airport, or no flight from the one to the other.",
    ),
    Operation(
        id="list_route_airlines",
        tag="routes",
        path="/routes/{origin}/{destination}/airlines",
        description="Codes of the airlines that fly a route from a New York airport to a destination.",
        parameters=(ORIGIN, DESTINATION),
        returns="AirlineCodes",
        handler=places.list_route_airlines,
        missing="There is no such airport, or no flight from the one to the other.",
        links=(("/airlines/0", AIRLINE_USES),),
    ),
)

WEATHER_OPERATIONS = (
    Operation(
        id="get_weather",
        tag="weather",
        path="/weather/{airport}/{date}/{hour}",
        description="All weather readings at a New York airport in one hour of a date.",
        parameters=(WEATHER_AIRPORT, DATE, HOUR),
        returns="Weather",
        handler=places.get_weather,
        missing="There is no reading for this hour.",
    ),
    Operation(
        id="list_hourly_weather",
        tag="weather",
        path="/weather/{airport}/{date}",
        description=(
            "Temperature, wind speed, precipitation and visibility at a New York airport for each hour of a date. "
            "A few hours have no reading."
        ),
        parameters=(WEATHER_AIRPORT, DATE),
        returns="HourlyWeatherList",
        handler=places.list_hourly_weather,
        links=(("/hours/0/hour", (("get_weather", "hour"),)),),
    ),
)
