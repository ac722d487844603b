"""Operations of the flights service on flights, planes and watches."""

from __future__ import annotations

from toolflow_bench.services.flights import places as places
from toolflow_bench.services.flights import queries as queries
from toolflow_bench.services.flights.links import AIRLINE_USES, PLANE_USES, flight_links
from toolflow_bench.services.flights.parameters import (
    AIRLINE,
    AIRLINE_FILTER,
    DATE,
    DESTINATION,
    DESTINATION_FILTER,
    END_DATE,
    FLIGHT,
    FLIGHT_NUMBER,
    FROM_HOUR,
    MANUFACTURER,
    MIN_DELAY,
    NOTE,
    ORIGIN,
    ORIGIN_FILTER,
    PAGING,
    PLANE_FILTERS,
    START_DATE,
    TAIL_NUMBER,
    TO_HOUR,
    WATCH,
)
from toolflow_bench.services.operation import Operation

FLIGHT_OPERATIONS = (
    Operation(
        id="list_departures",
        tag="flights",
        path="/departures",
        description=(
            "Flights scheduled to leave a New York airport on a date, in pages by scheduled departure. "
            "Cancelled flights are among them; get_flight_status tells what became of each."
        ),
        parameters=(ORIGIN, DATE, AIRLINE_FILTER, DESTINATION_FILTER, FROM_HOUR, TO_HOUR, *PAGING),
        returns="DeparturePage",
        handler=queries.list_departures,
        missing="There is no airline or airport of this code.",
        links=tuple(flight_links("flight_id", "airline", "destination", "tail_number")),
    ),
    Operation(
        id="list_arrivals",
        tag="flights",
        path="/arrivals",
        description=(
            "Flights from New York to a destination that were scheduled to leave on a date, in pages by scheduled "
            "arrival. Cancelled flights are among them."
        ),
        parameters=(DESTINATION, DATE, ORIGIN_FILTER, AIRLINE_FILTER, *PAGING),
        returns="ArrivalPage",
        handler=queries.list_arrivals,
        missing="There is no airline or airport of this code.",
        links=tuple(flight_links("flight_id", "airline", "tail_number")),
    ),
    Operation(
        id="list_departure_delays",
        tag="flights",
        path="/departure_delays",
        description=(
            "How many minutes late each flight left a New York airport on a date, by flight id, in pages by "
            "scheduled departure. Cancelled flights are among them unless min_delay_minutes is given."
        ),
        parameters=(ORIGIN, DATE, AIRLINE_FILTER, MIN_DELAY, *PAGING),
        returns="DelayPage",
        handler=queries.list_departure_delays,
        missing="There is no airline of this code.",
        links=tuple(flight_links("flight_id")),
    ),
    Operation(
        id="list_cancelled_flights",
        tag="flights",
        path="/cancelled_flights",
        description="Flights of a date that were cancelled, in pages by scheduled departure.",
        parameters=(DATE, ORIGIN_FILTER, AIRLINE_FILTER, *PAGING),
        returns="FlightPage",
        handler=queries.list_cancelled_flights,
        missing="There is no airline of this code.",
        links=tuple(flight_links("flight_id", "airline", "destination")),
    ),
    Operation(
        id="find_flights",
        tag="flights",
        path="/flights",
        description="The flights of an airline with a flight number on a date; usually one, sometimes two.",
        parameters=(AIRLINE, FLIGHT_NUMBER, DATE),
        returns="Flights",
        handler=queries.find_flights,
        missing="There is no airline of this code.",
        links=tuple(flight_links("flight_id", "destination")),
    ),
    Operation(
        id="get_flight",
        tag="flights",
        path="/flights/{flight_id}",
        description="The schedule of one flight: date, airline, number, route, scheduled times, distance and plane.",
        parameters=(FLIGHT,),
        returns="Flight",
        handler=queries.get_flight,
        missing="There is no flight of this id.",
        links=(
            ("/airline", (("get_airline", "airline"),)),
            ("/destination", (("get_airport", "airport"),)),
            ("/tail_number", PLANE_USES),
            ("/date", (("get_weather", "date"),)),
            ("/origin", (("get_weather", "airport"),)),
        ),
    ),
    Operation(
        id="get_flight_status",
        tag="flights",
        path="/flights/{flight_id}/status",
        description="What became of one flight: landed, diverted or cancelled, its actual times, delays and air time.",
        parameters=(FLIGHT,),
        returns="FlightStatus",
        handler=queries.get_flight_status,
        missing="There is no flight of this id.",
    ),
    Operation(
        id="get_available_dates",
        tag="flights",
        path="/dates",
        description="The first and the last date that there are flights for.",
        returns="Dates",
        handler=places.get_available_dates,
    ),
)

PLANE_OPERATIONS = (
    Operation(
        id="get_plane",
        tag="planes",
        path="/planes/{tail_number}",
        description="The registration of one plane by tail number: manufacturer, model, year, type, engines and seats.",
        parameters=(TAIL_NUMBER,),
        returns="Plane",
        handler=queries.get_plane,
        missing="There is no registration of this plane; some planes that flew have none.",
        links=(("/manufacturer", (("list_plane_models", "manufacturer"), ("search_planes", "manufacturer"))),),
    ),
    Operation(
        id="search_planes",
        tag="planes",
        path="/planes",
        description="Find planes by manufacturer, model, year of manufacture or seats, in pages by tail number.",
        parameters=(*PLANE_FILTERS, *PAGING),
        returns="PlanePage",
        handler=queries.search_planes,
        links=(("/planes/0/tail_number", PLANE_USES),),
    ),
    Operation(
        id="list_plane_flights",
        tag="planes",
        path="/planes/{tail_number}/flights",
        description=(
            "The flights from New York that one plane was to fly, in pages by date and scheduled departure. "
            "Without dates it is the whole year."
        ),
        parameters=(TAIL_NUMBER, START_DATE, END_DATE, *PAGING),
        returns="FlightPage",
        handler=queries.list_plane_flights,
        missing="No flight was flown by this plane.",
        links=tuple(flight_links("flight_id", "airline", "destination")),
    ),
    Operation(
        id="list_plane_airlines",
        tag="planes",
        path="/planes/{tail_number}/airlines",
        description="Codes of the airlines that flew one plane.",
        parameters=(TAIL_NUMBER,),
        returns="AirlineCodes",
        handler=queries.list_plane_airlines,
        missing="No flight was flown by this plane.",
        links=(("/airlines/0", AIRLINE_USES),),
    ),
    Operation(
        id="list_manufacturers",
        tag="planes",
        path="/manufacturers",
        description="Names of all manufacturers of planes.",
        returns="Manufacturers",
        handler=queries.list_manufacturers,
        links=(("/manufacturers/0", (("list_plane_models", "manufacturer"), ("search_planes", "manufacturer"))),),
    ),
    Operation(
        id="list_plane_models",
        tag="planes",
        path="/manufacturers/models",
        description="The models of planes that one manufacturer built.",
        parameters=(MANUFACTURER,),
        returns="Models",
        handler=queries.list_plane_models,
        missing="There is no manufacturer of this name.",
        links=(("/models/0", (("search_planes", "model"),)),),
    ),
)

WATCH_OPERATIONS = (
    Operation(
        id="create_watch",
        tag="watches",
        path="/watches",
        method="POST",
        description="Start to watch a flight, with a note of why.",
        parameters=(FLIGHT, NOTE),
        returns="Watch",
        verified_by="list_watches",
        handler=places.create_watch,
        missing="There is no flight of this id.",
        links=(("/watch_id", (("delete_watch", "watch_id"),)),),
    ),
    Operation(
        id="list_watches",
        tag="watches",
        path="/watches",
        description="All flights that are being watched, oldest watch first.",
        returns="Watches",
        handler=places.list_watches,
        links=(
            ("/watches/0/watch_id", (("delete_watch", "watch_id"),)),
            ("/watches/0/flight_id", (("get_flight", "flight_id"), ("get_flight_status", "flight_id"))),
        ),
    ),
    Operation(
        id="delete_watch",
        tag="watches",
        path="/watches/{watch_id}",
        method="DELETE",
        description="Stop to watch a flight. Gives the watch that was removed.",
        parameters=(WATCH,),
        returns="Watch",
        verified_by="list_watches",
        handler=places.delete_watch,
        missing="There is no watch of this id.",
    ),
)
