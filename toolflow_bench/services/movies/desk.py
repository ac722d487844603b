"""Answers on a festival programmer's desk: watchlist, own ratings, screenings, prints, recommendations, reports."""

# Handlers (context, arguments) -> response; each one is described by its Operation. Writes go to
# the state; what was there before them is data.
# ruff: noqa: D103

from __future__ import annotations

from toolflow_bench.services.context import Context, Row
from toolflow_bench.services.movies.queries import require_film, require_review, require_reviewer
from toolflow_bench.services.operation import Arguments, Refusal

HALLS = ("red", "blue", "garden")
STARTS = ("14:00", "17:00", "20:00")
FIRST_DAY, LAST_DAY = "2027-06-04", "2027-06-13"


def list_film_watchlist(context: Context, _arguments: Arguments) -> Row:
    return {"items": context.rows("SELECT * FROM watchlist ORDER BY rowid") + context.state.all("watchlist")}


def add_to_watchlist(context: Context, arguments: Arguments) -> Row:
    film = require_film(context, arguments["film_id"])
    if any(item["film_id"] == film for item in list_film_watchlist(context, {})["items"]):
        raise Refusal(409, f"the film {film!r} is on the watchlist already; list_film_watchlist has what is on it.")
    item = {"film_id": film, "priority": arguments["priority"]}
    return dict(context.state.add("watchlist", item, id_field="item_id", prefix="wl"))


def list_own_ratings(context: Context, _arguments: Arguments) -> Row:
    changed = {rating["film_id"]: rating for rating in context.state.all("ratings")}
    before = context.rows("SELECT * FROM own_ratings ORDER BY rowid")
    return {"ratings": [changed.pop(rating["film_id"], rating) for rating in before] + list(changed.values())}


def rate_film(context: Context, arguments: Arguments) -> Row:
    film, stars = require_film(context, arguments["film_id"]), arguments["stars"]
    for rating in context.state.all("ratings"):
        if rating["film_id"] == film:
            return context.state.change("ratings", str(rating["rating_id"]), otherwise="", stars=stars)
    record = {"film_id": film, "stars": stars}
    return dict(context.state.add("ratings", record, id_field="rating_id", prefix="rt"))


def list_screenings(context: Context, arguments: Arguments) -> Row:
    day = arguments["date"]
    found = [screening for screening in _screenings(context) if day in (None, screening["date"])]
    return {"screenings": sorted(found, key=_slot)}


def _screenings(context: Context) -> list[Row]:
    return context.rows("SELECT * FROM screenings") + context.state.all("screenings")


def _slot(screening: Row) -> tuple[str, str, str]:
    return screening["date"], screening["start_time"], screening["hall"]


def schedule_screening(context: Context, arguments: Arguments) -> Row:
    film = require_film(context, arguments["film_id"])
    screening = {name: arguments[name] for name in ("hall", "date", "start_time")}
    if not FIRST_DAY <= screening["date"] <= LAST_DAY:
        raise Refusal(422, f"argument 'date' must be from {FIRST_DAY} to {LAST_DAY}, got {screening['date']!r}.")
    if any(_slot(other) == _slot(screening) for other in _screenings(context)):
        hall, date, start = screening["hall"], screening["date"], screening["start_time"]
        raise Refusal(409, f"the {hall} hall is taken on {date} at {start}; list_screenings has what is planned.")
    return dict(context.state.add("screenings", {"film_id": film, **screening}, id_field="screening_id", prefix="sc"))


def order_print(context: Context, arguments: Arguments) -> Row:
    film = require_film(context, arguments["film_id"])
    order = {"film_id": film, "format": arguments["format"], "copies": arguments["copies"]}
    return dict(context.state.add("print_orders", order, id_field="order_id", prefix="po"))


def send_recommendation(context: Context, arguments: Arguments) -> Row:
    film = require_film(context, arguments["film_id"])
    reviewer = require_reviewer(context, arguments["reviewer_id"])
    message = {"film_id": film, "reviewer_id": reviewer}
    return dict(context.state.add("recommendations", message, id_field="message_id", prefix="ms"))


def report_review(context: Context, arguments: Arguments) -> Row:
    review = require_review(context, arguments["review_id"])
    report = {"review_id": review, "reason": arguments["reason"]}
    return dict(context.state.add("reports", report, id_field="report_id", prefix="rp"))
