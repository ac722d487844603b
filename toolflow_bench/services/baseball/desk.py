"""What users of the baseball service write: picks, trades, watches, visits, interviews, votes, reports, greetings."""

# Handlers (context, arguments) -> response. Each one is described by its Operation.
# ruff: noqa: D103

from __future__ import annotations

from toolflow_bench.services.baseball.player_queries import require_player
from toolflow_bench.services.baseball.team_queries import get_park, require_team
from toolflow_bench.services.context import Context, Row
from toolflow_bench.services.operation import Arguments, Refusal


def draft_player(context: Context, arguments: Arguments) -> Row:
    player = arguments["player_id"]
    require_player(context, player)
    if any(pick["player_id"] == player for pick in context.state.all("picks")):
        raise Refusal(409, f"{player!r} has been drafted already; draft another player.")
    pick = {"player_id": player, "slot": arguments["slot"]}
    return dict(context.state.add("picks", pick, id_field="pick_id", prefix="pi"))


def propose_trade(context: Context, arguments: Arguments) -> Row:
    offered, wanted = arguments["offered_player_id"], arguments["wanted_player_id"]
    require_player(context, offered)
    require_player(context, wanted)
    if offered == wanted:
        raise Refusal(409, f"{offered!r} cannot be traded for himself; name two players.")
    trade = {"offered_player_id": offered, "wanted_player_id": wanted, "cash_usd": arguments["cash_usd"]}
    return dict(context.state.add("trades", trade, id_field="trade_id", prefix="td"))


def watch_player(context: Context, arguments: Arguments) -> Row:
    player, priority = arguments["player_id"], arguments["priority"]
    require_player(context, player)
    for entry in context.state.all("watchlist"):
        if entry["player_id"] == player:
            return context.state.change(
                "watchlist", entry["entry_id"], otherwise=f"{player!r} is not watched.", priority=priority
            )
    added = {"player_id": player, "priority": priority}
    return dict(context.state.add("watchlist", added, id_field="entry_id", prefix="we"))


def unwatch_player(context: Context, arguments: Arguments) -> Row:
    player = arguments["player_id"]
    missing = f"{player!r} is not on the watchlist; list_watchlist has who is."
    name = next((entry["entry_id"] for entry in context.state.all("watchlist") if entry["player_id"] == player), "")
    return context.state.remove("watchlist", name, otherwise=missing)


def list_watchlist(context: Context, _arguments: Arguments) -> Row:
    return {"entries": context.state.all("watchlist")}


def schedule_visit(context: Context, arguments: Arguments) -> Row:
    park, date = get_park(context, arguments)["park_id"], arguments["date"]
    if any((visit["park_id"], visit["date"]) == (park, date) for visit in context.state.all("visits")):
        raise Refusal(409, f"{park!r} is visited on {date} already; list_visits has the dates, choose another.")
    visit = {"park_id": park, "date": date, "purpose": arguments["purpose"]}
    return dict(context.state.add("visits", visit, id_field="visit_id", prefix="vi"))


def list_visits(context: Context, _arguments: Arguments) -> Row:
    return {"visits": context.state.all("visits")}


def book_interview(context: Context, arguments: Arguments) -> Row:
    player = arguments["player_id"]
    require_player(context, player)
    if any(interview["player_id"] == player for interview in context.state.all("interviews")):
        raise Refusal(409, f"{player!r} has an interview already; one for each person is enough.")
    interview = {name: arguments[name] for name in ("player_id", "channel", "minutes")}
    return dict(context.state.add("interviews", interview, id_field="interview_id", prefix="iv"))


def send_greeting(context: Context, arguments: Arguments) -> Row:
    require_team(context, arguments["team_id"])
    greeting = {"team_id": arguments["team_id"], "occasion": arguments["occasion"]}
    return dict(context.state.add("greetings", greeting, id_field="greeting_id", prefix="gr"))


def cast_vote(context: Context, arguments: Arguments) -> Row:
    require_player(context, arguments["player_id"])
    vote = {"player_id": arguments["player_id"], "category": arguments["category"]}
    return dict(context.state.add("votes", vote, id_field="vote_id", prefix="vo"))


def file_report(context: Context, arguments: Arguments) -> Row:
    require_player(context, arguments["player_id"])
    report = {name: arguments[name] for name in ("player_id", "role", "grade")}
    return dict(context.state.add("reports", report, id_field="report_id", prefix="rp"))
