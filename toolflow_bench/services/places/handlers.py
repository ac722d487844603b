"""Handlers of the places service that need more than a query: distances, trip plans and alerts."""

# Handlers (context, arguments) -> response, each described by the operation of its name in
# `openapi.yaml`.
# ruff: noqa: D103

from __future__ import annotations

from toolflow_bench.services.answers import Context, Row, page_of
from toolflow_bench.services.geometry import kilometres, rows_near
from toolflow_bench.services.operation import Arguments, Refusal

MOST_STOPS = 30
_KINDS = {"ci": ("city", "city_id"), "af": ("airfield", "airfield_id")}
# Fields that only one kind of place has.
_ONLY_OF = {"population": "ci", "elevation": "af", "wind": "ob"}
_NEVER_OF = {"name": "ob", "time_zone": "ob"}


def list_cities_near(context: Context, arguments: Arguments) -> Row:
    near = rows_near(context, "city_id", "cities", arguments, also="population >= :min_population")
    return page_of(
        "cities", [_select_fields(row, "city_id", "distance_km") for row in near], arguments
    )


def list_airfields_near(context: Context, arguments: Arguments) -> Row:
    near = rows_near(
        context, "airfield_id", "airfields", arguments, also="(:codes = 'any' OR iata IS NOT NULL)"
    )
    return page_of(
        "airfields", [_select_fields(row, "airfield_id", "distance_km") for row in near], arguments
    )


def list_storms_near(context: Context, arguments: Arguments) -> Row:
    sql = "SELECT storm_id FROM storms WHERE season BETWEEN :first_season AND :last_season"
    wanted = set(context.column(sql, arguments))
    nearest: dict[str, Row] = {}
    for row in rows_near(context, "observation_id, storm_id", "observations", arguments):
        if row["storm_id"] in wanted:
            nearest.setdefault(
                row["storm_id"], _select_fields(row, "storm_id", "observation_id", "distance_km")
            )
    return page_of("storms", list(nearest.values()), arguments)


def _select_fields(row: Row, *names: str) -> Row:
    return {name: row[name] for name in names}


def find_place(context: Context, place_id: str) -> Row:
    """Return the record of a city, an airfield or a storm observation.

    All of these have a position.
    """
    kind, argument = _KINDS.get(place_id.partition("_")[0], ("observation", "observation_id"))
    return context.record(kind, {argument: place_id})


def get_distance(context: Context, arguments: Arguments) -> Row:
    one, other = (find_place(context, arguments[name]) for name in ("from_place_id", "to_place_id"))
    places = (place[name] for place in (one, other) for name in ("latitude", "longitude"))
    return {"distance_km": round(kilometres(*places), 1)}


def create_trip_plan(context: Context, arguments: Arguments) -> Row:
    return dict(
        context.state.add("trip_plans", {**arguments, "stops": []}, id_field="plan_id", prefix="tp")
    )


def add_trip_stop(context: Context, arguments: Arguments) -> Row:
    name = arguments["plan_id"]
    city = arguments["city_id"]
    missing = f"there is no trip plan {name!r}; create_trip_plan gives the id of a new one."
    plan = context.state.get("trip_plans", name, otherwise=missing)
    context.record("city", arguments)
    stops = plan["stops"]
    assert isinstance(stops, list)
    if city == (stops[-1]["city_id"] if stops else plan["start_city_id"]):
        raise Refusal(409, f"the trip is in {city!r} already before this stop; give another city.")
    if len(stops) >= MOST_STOPS:
        raise Refusal(
            409,
            f"the trip has {MOST_STOPS} stops already, and no more are possible; create another "
            "plan.",
        )
    stops = [*stops, {"city_id": city, "nights": arguments["nights"]}]
    return context.state.change("trip_plans", name, otherwise=missing, stops=stops)


def list_storm_alerts(context: Context, _arguments: Arguments) -> Row:
    return {"storm_alerts": list(_alerts(context).values())}


def create_storm_alert(context: Context, arguments: Arguments) -> Row:
    city = arguments["city_id"]
    if city in _alerts(context):
        raise Refusal(
            409, f"there is an alert for {city!r} already; update_storm_alert changes it."
        )
    return dict(
        context.state.add("storm_alerts", dict(arguments), id_field="alert_id", prefix="al")
    )


def update_storm_alert(context: Context, arguments: Arguments) -> Row:
    new = {
        name: arguments[name]
        for name in ("radius_km", "min_wind_kt")
        if arguments[name] is not None
    }
    if not new:
        raise Refusal(422, "nothing to change: give 'radius_km', 'min_wind_kt' or both.")
    name = arguments["alert_id"]
    alert = next((alert for alert in _alerts(context).values() if alert["alert_id"] == name), None)
    if alert is None:
        raise Refusal(
            404, f"there is no storm alert {name!r}; list_storm_alerts has those there are."
        )
    changed = alert | new
    written = _changed_alerts(context).get(alert["city_id"])
    if written is None:
        kept = {key: value for key, value in changed.items() if key != "alert_id"}
        context.state.add("storm_alerts", kept, id_field="alert_id", prefix="al")
    else:
        context.state.change("storm_alerts", written["alert_id"], otherwise="", **new)
    return changed


def _changed_alerts(context: Context) -> dict[str, Row]:
    return {str(alert["city_id"]): alert for alert in context.state.all("storm_alerts")}


def _alerts(context: Context) -> dict[str, Row]:
    """Return all storm alerts, keyed by city. A city has at most one.

    These are the alerts that exist at the start of a task, with their changes, and the alerts that
    were added since.
    """
    standing = context.rows(
        "SELECT alert_id, city_id, radius_km, min_wind_kt FROM standing_alerts ORDER BY rowid"
    )
    alerts = {alert["city_id"]: alert for alert in standing}
    for city, alert in _changed_alerts(context).items():
        # A standing alert keeps its id when it is changed; the state holds the change only.
        alerts[city] = {
            **alert,
            "alert_id": alerts[city]["alert_id"] if city in alerts else alert["alert_id"],
        }
    return alerts


def create_error_report(context: Context, arguments: Arguments) -> Row:
    place = arguments["place_id"]
    field = arguments["field"]
    find_place(context, place)
    kind = place.partition("_")[0]
    if _ONLY_OF.get(field, kind) != kind or _NEVER_OF.get(field) == kind:
        raise Refusal(
            422, f"the record of {place!r} has no field {field!r}; report one that it has."
        )
    return dict(
        context.state.add("error_reports", dict(arguments), id_field="report_id", prefix="er")
    )
