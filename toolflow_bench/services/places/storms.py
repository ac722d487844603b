"""Storms of the Atlantic and their observations: what is asked, and the answers."""

# Handlers (context, arguments) -> response. Each one is described by its Operation; SQL is put together from names in
# this module only, values are always bound.
# ruff: noqa: D103

from __future__ import annotations

from toolflow_bench.services.context import Context, Row, paged
from toolflow_bench.services.operation import Arguments, Operation
from toolflow_bench.services.places import parameters as p
from toolflow_bench.services.places.geometry import page_of_rows, rows_near
from toolflow_bench.services.places.links import OBSERVATION_USES, POSITION_LINKS, STORM_USES
from toolflow_bench.services.places.names import after, fold


def search_storms(context: Context, arguments: Arguments) -> Row:
    query, season = fold(arguments["query"]), arguments["season"]
    sql = """SELECT storm_id, name, season FROM storms WHERE folded >= ? AND folded < ? AND season = coalesce(?, season)
             ORDER BY folded = ? DESC, season, first_time LIMIT ?"""
    return {"storms": context.rows(sql, query, after(query), season, query, arguments["limit"])}


def get_storm(context: Context, arguments: Arguments) -> Row:
    sql = """SELECT storm_id, name, season, first_time, last_time, first_observation_id, last_observation_id
             FROM storms WHERE storm_id = ?"""
    storm = arguments["storm_id"]
    return context.one(sql, storm, otherwise=f"there is no storm {storm!r}; search_storms finds ids.")


def list_season_storms(context: Context, arguments: Arguments) -> Row:
    sql = "SELECT storm_id, name FROM storms WHERE season = ? ORDER BY first_time, storm_id"
    return {"storms": context.rows(sql, arguments["season"])}


def list_active_storms(context: Context, arguments: Arguments) -> Row:
    sql = """SELECT storm_id FROM storms WHERE storm_id IN
             (SELECT storm_id FROM observations WHERE time BETWEEN ? AND ?) ORDER BY first_time, storm_id"""
    day = arguments["date"]
    return {"storm_ids": context.column(sql, f"{day}T00:00", f"{day}T23:59")}


def list_storm_track(context: Context, arguments: Arguments) -> Row:
    get_storm(context, arguments)
    conditions = {"storm_id = ?": arguments["storm_id"]}
    columns, order = "observation_id, time, wind_kt", "time, rowid"
    return paged(context, "observations", columns, "observations", conditions, order=order, arguments=arguments)


def get_observation(context: Context, arguments: Arguments) -> Row:
    observation = arguments["observation_id"]
    missing = f"there is no observation {observation!r}; list_storm_track gives ids."
    return context.one("SELECT * FROM observations WHERE observation_id = ?", observation, otherwise=missing)


def list_storms_near(context: Context, arguments: Arguments) -> Row:
    near = rows_near(context, "observation_id, storm_id", "observations", arguments, arguments["radius_km"])
    first, last = arguments["first_season"], arguments["last_season"]
    wanted = set(context.column("SELECT storm_id FROM storms WHERE season BETWEEN ? AND ?", first, last))
    nearest: dict[str, Row] = {}
    for distance, row in near:
        if row["storm_id"] in wanted and row["storm_id"] not in nearest:
            observation = {"storm_id": row["storm_id"], "observation_id": row["observation_id"]}
            nearest[row["storm_id"]] = {**observation, "distance_km": round(distance, 1)}
    return page_of_rows("storms", list(nearest.values()), arguments)


STORM_OPERATIONS = (
    Operation(
        id="search_storms",
        tag="storms",
        path="/storms",
        description=(
            "Find Atlantic storms since 1975 by name, whole or its beginning. Names come back over the years: storms "
            "of exactly this name come first, by season. Storms without a name have a number such as 'Ten'."
        ),
        parameters=(p.QUERY, p.SEASON_FILTER, p.LIMIT),
        returns="StormNames",
        handler=search_storms,
        links=(("/storms/0/storm_id", STORM_USES),),
    ),
    Operation(
        id="get_storm",
        tag="storms",
        path="/storms/{storm_id}",
        description=(
            "One storm: its name and season, and when it was first and last observed. Winds and positions are in its "
            "observations, which list_storm_track gives."
        ),
        parameters=(p.STORM,),
        returns="Storm",
        handler=get_storm,
        missing="There is no storm of this id.",
        links=(("/first_observation_id", OBSERVATION_USES), ("/last_observation_id", OBSERVATION_USES)),
    ),
    Operation(
        id="list_season_storms",
        tag="storms",
        path="/seasons/{season}/storms",
        description=(
            "All storms of a season, by the time of their first observation. A storm belongs to the year in which it "
            "was first observed, even where it lived on into the next."
        ),
        parameters=(p.SEASON,),
        returns="SeasonStorms",
        handler=list_season_storms,
        links=(("/storms/0/storm_id", STORM_USES),),
    ),
    Operation(
        id="list_active_storms",
        tag="storms",
        path="/active_storms",
        description="Ids of the storms that were observed on a day, by the time of their first observation.",
        parameters=(p.OBSERVED_ON,),
        returns="StormIds",
        handler=list_active_storms,
        links=(("/storm_ids/0", STORM_USES),),
    ),
    Operation(
        id="list_storm_track",
        tag="storms",
        path="/storms/{storm_id}/track",
        description=(
            "The observations of one storm with their winds, in pages by time: every six hours, and some between, such "
            "as at landfall. get_observation has the position and all other readings."
        ),
        parameters=(p.STORM, *p.PAGING),
        returns="TrackPage",
        handler=list_storm_track,
        missing="There is no storm of this id.",
        links=(("/observations/0/observation_id", OBSERVATION_USES),),
    ),
    Operation(
        id="get_observation",
        tag="storms",
        path="/observations/{observation_id}",
        description="All readings of one observation: position, kind of storm, category, wind, pressure and extent.",
        parameters=(p.OBSERVATION,),
        returns="Observation",
        handler=get_observation,
        missing="There is no observation of this id.",
        links=(("/storm_id", STORM_USES), *POSITION_LINKS),
    ),
    Operation(
        id="list_storms_near",
        tag="storms",
        path="/storms_near",
        description=(
            "The storms that were observed within a distance of a point, with the observation in which each was "
            "nearest, in pages, nearest first. Between two observations a storm may have been nearer."
        ),
        parameters=(p.LATITUDE, p.LONGITUDE, p.RADIUS, p.FROM_SEASON, p.TO_SEASON, *p.PAGING),
        returns="PassagePage",
        handler=list_storms_near,
        links=(("/storms/0/storm_id", STORM_USES), ("/storms/0/observation_id", OBSERVATION_USES)),
    ),
)
