"""Handlers of the baseball service that need more than a query: trades and the watchlist."""

# Handlers (context, arguments) -> response, each described by the operation of its name in
# `openapi.yaml`.
# ruff: noqa: D103

from __future__ import annotations

from toolflow_bench.services.answers import Context, Row
from toolflow_bench.services.operation import Arguments, Refusal


def propose_trade(context: Context, arguments: Arguments) -> Row:
    offered = arguments["offered_player_id"]
    if offered == arguments["wanted_player_id"]:
        raise Refusal(409, f"{offered!r} cannot be traded for himself; name two players.")
    return dict(context.state.add("trades", dict(arguments), id_field="trade_id", prefix="td"))


def watch_player(context: Context, arguments: Arguments) -> Row:
    if name := _watchlist_entry(context, arguments):
        return context.state.change("watchlist", name, otherwise="", priority=arguments["priority"])
    return dict(context.state.add("watchlist", dict(arguments), id_field="entry_id", prefix="we"))


def unwatch_player(context: Context, arguments: Arguments) -> Row:
    missing = f"{arguments['player_id']!r} is not on the watchlist; list_watchlist has who is."
    return context.state.remove(
        "watchlist", _watchlist_entry(context, arguments), otherwise=missing
    )


def _watchlist_entry(context: Context, arguments: Arguments) -> str:
    """Return the id of the player's watchlist entry, or "" if the player has none."""
    entries = context.state.all("watchlist")
    return next(
        (str(one["entry_id"]) for one in entries if one["player_id"] == arguments["player_id"]), ""
    )
