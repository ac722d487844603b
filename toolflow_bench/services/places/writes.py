"""Trip plans, storm alerts, notices and error reports: what a run may write, and the answers."""

# Handlers (context, arguments) -> response. Each one is described by its Operation.
# ruff: noqa: D103

from __future__ import annotations

from toolflow_bench.services.context import Context, Row
from toolflow_bench.services.operation import Arguments, Operation, Refusal
from toolflow_bench.services.places import parameters as p
from toolflow_bench.services.places.airfields import find_place
from toolflow_bench.services.places.cities import get_city
from toolflow_bench.services.places.links import CITY_USES
from toolflow_bench.services.places.storms import get_observation

MOST_STOPS = 30

# Fields that only one kind of place has.
_ONLY_OF = {"population": "ci", "elevation": "af", "wind": "ob"}
_NEVER_OF = {"name": "ob", "time_zone": "ob"}


def create_trip_plan(context: Context, arguments: Arguments) -> Row:
    get_city(context, {"city_id": arguments["start_city_id"]})
    plan = {name: arguments[name] for name in ("start_city_id", "start_date", "travellers")}
    return dict(context.state.add("trip_plans", {**plan, "stops": []}, id_field="plan_id", prefix="tp"))


def add_trip_stop(context: Context, arguments: Arguments) -> Row:
    name, city = arguments["plan_id"], arguments["city_id"]
    missing = f"there is no trip plan {name!r}; create_trip_plan gives the id of a new one."
    plan = context.state.get("trip_plans", name, otherwise=missing)
    get_city(context, arguments)
    stops = plan["stops"]
    assert isinstance(stops, list)
    if city == (stops[-1]["city_id"] if stops else plan["start_city_id"]):
        raise Refusal(409, f"the trip is in {city!r} already before this stop; give another city.")
    if len(stops) >= MOST_STOPS:
        raise Refusal(409, f"the trip has {MOST_STOPS} stops already, and no more are possible; create another plan.")
    stops = [*stops, {"city_id": city, "nights": arguments["nights"]}]
    return context.state.change("trip_plans", name, otherwise=missing, stops=stops)


def list_storm_alerts(context: Context, _arguments: Arguments) -> Row:
    return {"storm_alerts": list(_alerts(context).values())}


def create_storm_alert(context: Context, arguments: Arguments) -> Row:
    city = get_city(context, arguments)["city_id"]
    if city in _alerts(context):
        raise Refusal(409, f"there is an alert for {city!r} already; update_storm_alert changes it.")
    alert = {"city_id": city, "radius_km": arguments["radius_km"], "min_wind_kt": arguments["min_wind_kt"]}
    return dict(context.state.add("storm_alerts", alert, id_field="alert_id", prefix="al"))


def update_storm_alert(context: Context, arguments: Arguments) -> Row:
    new = {name: arguments[name] for name in ("radius_km", "min_wind_kt") if arguments[name] is not None}
    if not new:
        raise Refusal(422, "nothing to change: give 'radius_km', 'min_wind_kt' or both.")
    name = arguments["alert_id"]
    alert = next((alert for alert in _alerts(context).values() if alert["alert_id"] == name), None)
    if alert is None:
        raise Refusal(404, f"there is no storm alert {name!r}; list_storm_alerts has those there are.")
    changed = alert | new
    written = _written(context).get(alert["city_id"])
    kept = {key: value for key, value in changed.items() if key != "alert_id"}
    if written is None:
        context.state.add("storm_alerts", kept, id_field="alert_id", prefix="al")
    else:
        context.state.change("storm_alerts", written["alert_id"], otherwise="", **new)
    return changed


def _written(context: Context) -> dict[str, Row]:
    return {str(alert["city_id"]): alert for alert in context.state.all("storm_alerts")}


def _alerts(context: Context) -> dict[str, Row]:
    """All alerts by city, of which each has one at most: those that stood before, as far as changed, and new ones."""
    standing = context.rows("SELECT alert_id, city_id, radius_km, min_wind_kt FROM standing_alerts ORDER BY rowid")
    alerts = {alert["city_id"]: alert for alert in standing}
    for city, alert in _written(context).items():
        # A standing alert keeps its id when it is changed; the state holds the change only.
        alerts[city] = {**alert, "alert_id": alerts[city]["alert_id"] if city in alerts else alert["alert_id"]}
    return alerts


def create_city_notice(context: Context, arguments: Arguments) -> Row:
    get_city(context, arguments)
    get_observation(context, arguments)
    notice = {name: arguments[name] for name in ("city_id", "observation_id", "level")}
    return dict(context.state.add("city_notices", notice, id_field="notice_id", prefix="no"))


def create_error_report(context: Context, arguments: Arguments) -> Row:
    place, field = arguments["place_id"], arguments["field"]
    find_place(context, place)
    kind = place.partition("_")[0]
    if _ONLY_OF.get(field, kind) != kind or _NEVER_OF.get(field) == kind:
        raise Refusal(422, f"the record of {place!r} has no field {field!r}; report one that it has.")
    report = {"place_id": place, "field": field}
    return dict(context.state.add("error_reports", report, id_field="report_id", prefix="er"))


WRITE_OPERATIONS = (
    Operation(
        id="create_trip_plan",
        tag="trips",
        path="/trip_plans",
        method="POST",
        description="Begin a plan of a trip, without stops yet: where and when it starts and how many travel.",
        parameters=(p.START_CITY, p.START_DATE, p.TRAVELLERS),
        returns="TripPlan",
        handler=create_trip_plan,
        takes_key=True,
        missing="There is no city of this id.",
        links=(("/plan_id", (("add_trip_stop", "plan_id"),)),),
    ),
    Operation(
        id="add_trip_stop",
        tag="trips",
        path="/trip_plans/{plan_id}/stops",
        method="POST",
        description=(
            "Add a stop in a city after the last stop of a plan. Gives the whole plan. The same city cannot follow "
            "itself, and a plan has at most 30 stops."
        ),
        parameters=(p.PLAN, p.CITY, p.NIGHTS),
        returns="TripPlan",
        handler=add_trip_stop,
        takes_key=True,
        missing="There is no trip plan or no city of this id.",
        conflict="The trip is in this city already before this stop, or has as many stops as a plan can have.",
    ),
    Operation(
        id="list_storm_alerts",
        tag="alerts",
        path="/storm_alerts",
        description="All storm alerts that are in force, oldest first. Six cities have had one for long.",
        returns="StormAlerts",
        handler=list_storm_alerts,
        links=(
            ("/storm_alerts/0/alert_id", (("update_storm_alert", "alert_id"),)),
            ("/storm_alerts/0/city_id", CITY_USES),
        ),
    ),
    Operation(
        id="create_storm_alert",
        tag="alerts",
        path="/storm_alerts",
        method="POST",
        description="Ask to be told of storms that come near a city with a certain wind. A city has one alert at most.",
        parameters=(p.CITY, p.ALERT_RADIUS, p.ALERT_WIND),
        returns="StormAlert",
        handler=create_storm_alert,
        verified_by="list_storm_alerts",
        missing="There is no city of this id.",
        conflict="This city has an alert already.",
        links=(("/alert_id", (("update_storm_alert", "alert_id"),)),),
    ),
    Operation(
        id="update_storm_alert",
        tag="alerts",
        path="/storm_alerts/{alert_id}",
        method="PATCH",
        description="Change the radius, the least wind or both of a storm alert. Gives the alert as it is then.",
        parameters=(p.ALERT, p.NEW_RADIUS, p.NEW_WIND),
        returns="StormAlert",
        handler=update_storm_alert,
        verified_by="list_storm_alerts",
        missing="There is no storm alert of this id.",
    ),
    Operation(
        id="create_city_notice",
        tag="notices",
        path="/city_notices",
        method="POST",
        description=(
            "Send a notice about a storm to the office of a city, on the ground of one observation. It goes out at "
            "once and cannot be called back or looked up."
        ),
        parameters=(p.CITY, p.OBSERVATION, p.LEVEL),
        returns="Notice",
        handler=create_city_notice,
        missing="There is no city or no observation of this id.",
    ),
    Operation(
        id="create_error_report",
        tag="notices",
        path="/error_reports",
        method="POST",
        description=(
            "Tell the editors of the data that a field of a city, an airfield or an observation seems wrong. Reports "
            "cannot be looked up."
        ),
        parameters=(p.REPORTED_PLACE, p.REPORTED_FIELD),
        returns="ErrorReport",
        handler=create_error_report,
        missing="There is no place of this id.",
    ),
)
